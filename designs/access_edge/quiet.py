# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""How long an access edge may hold frames without one coming or leaving: a drain that sees nothing for so long is over."""

from collections.abc import Iterable
from typing import Any

from penstock.designs.access_edge import registers
from penstock.scenarios.traffic import MAX_CYCLES, MAX_ENGINE_BYTES

PIPELINES = 1 << 26  # cycles: longer than memories, and those that are lost, keep a frame

_PERIOD_SHIFT = registers.MANTISSA_BITS - 1 + 16  # a period is mantissa * 2^(exponent - 15), in 2^-16 cycles a byte


def quiet_cycles(job: dict[str, Any], max_frame_bytes: int) -> int:
    """Return the longest time in cycles between two frames that leave in this job.

    A frame waits for its line, or at a shaper: as long as the frame before it takes at the rate, and as a burst takes that a change takes
    away. Shapers of all levels count at the same time. Every rate goes through a register, whatever it is of and whenever it is set.
    """
    longest = 8 * (MAX_ENGINE_BYTES + job["overhead_bytes"]) * job["device"]["clock_hz"] // min(job["ingress_bps"], job["egress_bps"])
    writes = [*job["register_writes"], *(write[1:] for write in job["timed_register_writes"])]
    shaped = (max_frame_bytes * _slowest(writes) >> _PERIOD_SHIFT) + _most(writes, "queue_burst", "tree_burst")
    return int(min(MAX_CYCLES, PIPELINES + 2 * (longest + shaped)))


def _slowest(writes: Iterable[tuple[int, int]]) -> int:
    """Return mantissa * 2^exponent of the slowest rate that is written."""
    mantissa = (1 << registers.EXPONENT_AT) - 1
    rates = _values(writes, "queue_rate", "tree_rate")
    return max(((rate & mantissa) << (rate >> registers.EXPONENT_AT) for rate in rates), default=0)


def _most(writes: Iterable[tuple[int, int]], *names: str) -> int:
    return max(_values(writes, *names), default=0)


def _values(writes: Iterable[tuple[int, int]], *names: str) -> Iterable[int]:
    addresses = {registers.address(name) for name in names}
    return (value for at, value in writes if at in addresses)
