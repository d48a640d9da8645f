"""The scan for the busiest queues as the control plane uses it: against registers that behave as their documentation says."""

import random
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import busiest
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.driver.carrier import READ, WRITE
from penstock.testing.testkit import seed

QUEUES, PLACES, CLOCK = 64, 8, 200_000_000
FACTS = SimpleNamespace(
    subscribers=64,
    header_profiles=0,
    queues=QUEUES,
    busiest=PLACES,
    clock_hz=CLOCK,
    max_frame_bytes=1500,
    hierarchy=None,
    queues_per_subscriber=1,
    aqm="none",
)


class Scanner:
    """A device that scans: `sent` since the scan before, and `waits`, by queue. A scan takes some reads of its state."""

    name = "scanner"

    def __init__(self) -> None:
        self.sent, self.waits = np.zeros(QUEUES, np.int64), np.zeros(QUEUES, np.int64)
        self.window, self.scans, self.left, self.place, self.backlog = 0, 65_534, 0, 0, 0
        self.table: list[tuple[int, int]] = []
        self.disturbed = False

    def run(self, program: Any, step: int = 0) -> Any:
        found = []
        at = registers.address
        for kind, address, value, _ in program.tolist():
            if kind == WRITE and address == at("busiest_place"):
                self.place = value
            elif kind == WRITE:
                assert address == at("queue_command") and self.left == 0
                self.left, self.backlog = 3, int(value == registers.COMMAND_SCAN_BACKLOG)
                values = self.waits if self.backlog else self.sent
                order = sorted(np.flatnonzero(values).tolist(), key=lambda queue: -values[queue])[:PLACES]
                self.table = [(queue, int(values[queue])) for queue in order] + [(0, 0)] * (PLACES - len(order))
            elif address == at("busiest_status"):
                found.append(self.scans << 16 | self.backlog << 1 | (self.left > 0))
                if self.left:
                    self.left -= 1
                    self.scans = (self.scans + (self.left == 0) * (2 if self.disturbed else 1)) & 0xFFFF
            else:
                assert kind == READ
                queue, value = self.table[self.place]
                low = at("busiest_bytes")
                words = {at("busiest_window"): self.window, at("busiest_queue"): queue, low: value & 0xFFFF_FFFF, low + 4: value >> 32}
                found.append(words[address])
        return np.array(found, dtype=np.uint32)


def test_a_table_is_read_whole() -> None:
    print(f"PENSTOCK_SEED={seed()}")
    rng, device = random.Random(seed()), Scanner()
    for number in range(40):
        device.window = rng.choice([0, 1000, 0xFFFF_FFFF])
        device.sent[:] = 0
        for queue in rng.sample(range(QUEUES), rng.choice([0, 3, PLACES, 30])):
            device.sent[queue] = rng.getrandbits(rng.choice([10, 38])) + 1 & (1 << 38) - 1 or 1
        table = busiest.scan(cast(Any, device), cast(Any, FACTS), backlog=False)
        if device.window != 1000:  # the first one, or one that was too long ago: this is no rate
            assert table is None, number
            continue
        assert table is not None and table.window == 1000
        wanted = sorted(device.sent[device.sent > 0].tolist(), reverse=True)[:PLACES]
        assert table.bytes.tolist() == wanted and device.sent[table.queues].tolist() == wanted
        assert table.most_elsewhere == (wanted[-1] if len(wanted) == PLACES else 0)


def test_old_rates_and_backlogs_do_not_stay() -> None:
    """A queue that was busy when it was looked at last, and is not among the busiest any more, has at most what the last of these has."""
    device, looked = Scanner(), []
    plant = SimpleNamespace(
        facts=FACTS,
        carrier=device,
        taken=bytearray(b"\1" * QUEUES),
        intent=SimpleNamespace(kept=lambda _: None, path=None, seed=lambda: 0),
        since=np.ones(QUEUES),
    )
    sweep = Sweep(cast(Any, plant))
    sweep.look = lambda queues: looked.append(queues.tolist())  # type: ignore[method-assign]
    sweep.rates[:], sweep.queued[:] = 5e9, 1_000_000
    device.sent[:PLACES] = np.arange(PLACES, 0, -1) * 1000
    device.sent[40] = 10
    device.waits[[7, 50]] = 70_000, 60_000
    device.window = CLOCK // 1000  # 1 ms
    sweep.find_busiest()
    assert looked == [[*range(PLACES), 50]]
    assert sweep.rates[:PLACES].tolist() == [
        8e6 * times for times in range(PLACES, 0, -1)
    ]  # a look would have said what it is since long ago
    assert (sweep.rates[PLACES:] == 8e6).all()
    others = [queue for queue in range(QUEUES) if queue not in (7, 50)]
    assert (sweep.queued[others, 1] == 3000).all() and (sweep.queued[[7, 50], 1] == 1_000_000).all()  # theirs is what the look says
