# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""How a queue of the bridge is set: its numbers, and `setting_t` of pst_bridge_pkg as one number."""

from penstock.designs.access_edge import rates
from penstock.errors import UserError

QUANTUM = 1514  # bytes
MIN_BPS, MAX_BPS = 1_000_000, 1_000_000_000
UNSHAPED = {"burst": 0, "exponent": 0, "mantissa": 1, "aqm_enable": 0, "aqm_ecn": 0, "target": 0, "interval": 0, "quantum": QUANTUM}
_WIDTHS = {"burst": 28, "exponent": 6, "mantissa": 16, "aqm_enable": 1, "aqm_ecn": 1, "target": 18, "interval": 18, "quantum": 14}
BITS = sum(_WIDTHS.values())


def tick_shift(clock_hz: int) -> int:
    """Return of what power of two of cycles CoDel's ticks are: between 1 and 2 us."""
    return (clock_hz // 1_000_000).bit_length()


def age_cycles(clock_hz: int, flows: int) -> int:
    """Return the cycles from one flow queue of the releasing walk to the next: a flow queue is free when it was empty for 100 ms."""
    return clock_hz // 10 // flows


def numbers(bps: int, clock_hz: int, target_us: int = 5_000, interval_us: int = 100_000) -> dict[str, int]:
    """Return the setting of a queue at `bps`, in bytes without FCS, with FQ-CoDel. Raises UserError."""
    if not MIN_BPS <= bps <= MAX_BPS:
        raise UserError(f"a rate is {bps / 1e6:g} Mbit/s, allowed: {MIN_BPS / 1e6:g} to {MAX_BPS / 1e6:g}")
    code = rates.encode(bps, clock_hz)
    if code is None:
        raise UserError(f"a rate of {bps / 1e6:g} Mbit/s has no code at a clock of {clock_hz / 1e6:g} MHz")
    tick_us = (1 << tick_shift(clock_hz)) * 1e6 / clock_hz
    return {"burst": 0, "mantissa": code[0], "exponent": code[1], "aqm_enable": 1, "aqm_ecn": 0,
            "target": round(target_us / tick_us), "interval": round(interval_us / tick_us), "quantum": QUANTUM}  # fmt: skip


def value(bps: int, clock_hz: int, target_us: int = 5_000, interval_us: int = 100_000) -> int:
    """Return `numbers` as one. Raises UserError."""
    return packed(numbers(bps, clock_hz, target_us, interval_us))


def packed(values: dict[str, int]) -> int:
    """Return the numbers of a setting as one."""
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


def rate_bps(values: dict[str, int], clock_hz: int) -> float | None:
    """Return the rate of a setting, 0 for a closed gate, None for no rate."""
    if values["mantissa"] < 1 << 15:
        return None if values["mantissa"] else 0.0
    return 8 * clock_hz / (values["mantissa"] * 2.0 ** (values["exponent"] - 15) / 65536)
