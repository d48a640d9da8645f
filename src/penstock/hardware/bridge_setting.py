# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""How the bridge sets its queues after reset: `setting_t` of pst_bridge_pkg as one number."""

from penstock.designs.access_edge import rates
from penstock.errors import UserError

QUANTUM = 1514  # bytes
MIN_BPS, MAX_BPS = 1_000_000, 1_000_000_000
_WIDTHS = {"burst": 28, "exponent": 6, "mantissa": 16, "aqm_enable": 1, "aqm_ecn": 1, "target": 18, "interval": 18, "quantum": 14}
BITS = sum(_WIDTHS.values())


def tick_shift(clock_hz: int) -> int:
    """Return of what power of two of cycles CoDel's ticks are: between 1 and 2 us."""
    return (clock_hz // 1_000_000).bit_length()


def age_cycles(clock_hz: int, flows: int) -> int:
    """Return the cycles from one flow queue of the releasing walk to the next: a flow queue is free when it was empty for 100 ms."""
    return clock_hz // 10 // flows


def value(bps: int, clock_hz: int, target_us: int = 5_000, interval_us: int = 100_000) -> int:
    """Return the setting of queues at `bps`, in bytes without FCS, with FQ-CoDel. Raises UserError."""
    if not MIN_BPS <= bps <= MAX_BPS:
        raise UserError(f"a rate is {bps / 1e6:g} Mbit/s, allowed: {MIN_BPS / 1e6:g} to {MAX_BPS / 1e6:g}")
    code = rates.encode(bps, clock_hz)
    if code is None:
        raise UserError(f"a rate of {bps / 1e6:g} Mbit/s has no code at a clock of {clock_hz / 1e6:g} MHz")
    tick_us = (1 << tick_shift(clock_hz)) * 1e6 / clock_hz
    values = {"burst": 0, "mantissa": code[0], "exponent": code[1], "aqm_enable": 1, "aqm_ecn": 0,
              "target": round(target_us / tick_us), "interval": round(interval_us / tick_us), "quantum": QUANTUM}  # fmt: skip
    total = 0
    for name, width in _WIDTHS.items():
        assert 0 <= values[name] < 1 << width, (name, values[name])
        total = total << width | values[name]
    return total


def literal(*values: int) -> str:
    """Return a setting, or an array of them, index 0 last, as a Verilog literal."""
    bits = 0
    for one in values:
        bits = bits << BITS | one
    return f"{len(values) * BITS}'h{bits:x}"
