"""The busiest queues, as the device's own scan finds them: of 262,144 queues those few that count, without a look at the others."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.facts import Facts
from penstock.driver.carrier import READ, WRITE, Carrier, CarrierError

_STATUS, _PLACE = registers.address("busiest_status"), registers.address("busiest_place")
_BUSY = registers.word("busiest_status", busy=1)
_WHOLE = registers.word("busiest_window", cycles=0xFFFF_FFFF)  # a window that long, or longer: values may have wrapped around
_MOST_SECONDS = 10.0  # of a scan; 262,144 queues take some 2 million cycles


@dataclass(frozen=True)
class Table:
    """What a scan has found: queues, the busiest first, and the bytes of each."""

    queues: NDArray[np.int64]
    bytes: NDArray[np.int64]
    window: int  # cycles in which these were sent; 0: this is not known
    full: bool  # there may be others, with at most as much as the last one

    @property
    def most_elsewhere(self) -> int:
        """The most bytes that a queue can have which is not in the table."""
        return int(self.bytes[-1]) if self.full else 0


def scan(carrier: Carrier, facts: Facts, *, backlog: bool) -> Table | None:
    """Have the device look for its busiest queues: by what waits in them, or by what they have sent since the last call. Returns None where
    it cannot tell, or another program scans, too. Raises CarrierError."""
    command = registers.COMMAND_SCAN_BACKLOG if backlog else registers.COMMAND_SCAN
    begin = [[READ, _STATUS, 0, 0], [WRITE, registers.address("queue_command"), command, 0]]
    (status,) = carrier.run(np.array(begin, dtype=np.uint32)).tolist()
    until = time.monotonic() + _MOST_SECONDS
    number = (_scans(status) + 1) & 0xFFFF
    while _scans(status) != number or status & _BUSY:
        (status,) = carrier.run(np.array([[READ, _STATUS, 0, 0]], dtype=np.uint32)).tolist()
        if time.monotonic() > until:
            raise CarrierError(f"{carrier.name}: a scan for the busiest queues does not end")
    low = registers.address("busiest_bytes")
    places = [[[WRITE, _PLACE, place, 0], *([READ, at, 0, 0] for at in (registers.address("busiest_queue"), low, low + 4))]
              for place in range(facts.busiest)]  # fmt: skip
    program = [[READ, registers.address("busiest_window"), 0, 0], *(row for rows in places for row in rows), [READ, _STATUS, 0, 0]]
    window, *words, status = carrier.run(np.array(program, dtype=np.uint32)).tolist()
    if _scans(status) != number or status & _BUSY or bool(status & registers.word("busiest_status", backlog=1)) != backlog:
        return None
    found = np.array(words, dtype=np.int64).reshape(-1, 3)
    values = found[:, 1] | found[:, 2] << 32
    known = backlog or 0 < window < _WHOLE
    there = values > 0
    return Table(found[there, 0], values[there], 0 if backlog else window, bool(there.all())) if known else None


def _scans(status: int) -> int:
    low, width, _ = registers.table()["busiest_status"]["fields"]["scans"]
    return status >> low & (1 << width) - 1
