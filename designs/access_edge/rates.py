# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Rates and bursts as the hardware takes them: a period in 2^-16 cycles per byte, mantissa * 2^(exponent - 15), and a time in cycles.

    found = encode(50_000_000, clock_hz=220_000_000)  # 50 Mbit/s of frame bytes
    bus.write(regs.QUEUE_RATE.address, regs.QUEUE_RATE.pack(mantissa=found[0], exponent=found[1]))
    bus.write(regs.QUEUE_BURST.address, burst_cycles(3_000, 50_000_000, clock_hz=220_000_000))

Integers only. A package has this file with the numbers of the contract in it, and the same in C.
"""

# begin: of the contract
from penstock.designs.access_edge.contract_numbers import contract

MANTISSA_BITS: int = contract()["settings"]["mantissa"]["width"]
MIN_MANTISSA: int = contract()["settings"]["mantissa"]["least"]
MAX_EXPONENT: int = contract()["settings"]["exponent"]["most"]
MAX_BURST_CYCLES: int = contract()["settings"]["burst"]["most"]
MIN_RATE_BPS: int = contract()["rates"]["least_bps"]
MAX_RATE_BPS: int = contract()["rates"]["most_bps"]
# end

CLOSED = (0, 0)  # a gate through which nothing goes
UNSHAPED = (1, 0)


def encode(bps: int, clock_hz: int) -> tuple[int, int] | None:
    """Return (mantissa, exponent) of a rate in bit/s, whose own rate differs from it by at most 2^-16 of it; 0 is a closed gate.

    None: it is outside of MIN_RATE_BPS to MAX_RATE_BPS, or the clock is so slow or so fast that no code is near.
    """
    if bps == 0:
        return CLOSED
    if not MIN_RATE_BPS <= bps <= MAX_RATE_BPS:
        return None
    # period = above / below in 2^-16 cycles per byte = mantissa * 2^(exponent - 15)
    above, below = 8 * clock_hz << 16, bps
    exponent = max(0, (above // below).bit_length() - 1)
    above, below = (above << MANTISSA_BITS - 1, below << exponent)
    mantissa = above // below
    # The larger neighbour is taken when it is nearer in rate: x/m - 1 > 1 - x/(m+1) with x = above/below.
    if above * (2 * mantissa + 1) > 2 * mantissa * (mantissa + 1) * below:
        mantissa += 1
    if mantissa == 1 << MANTISSA_BITS:
        mantissa, exponent = MIN_MANTISSA, exponent + 1
    return (mantissa, exponent) if MIN_MANTISSA <= mantissa < 1 << MANTISSA_BITS and exponent <= MAX_EXPONENT else None


def decode(mantissa: int, exponent: int, clock_hz: int) -> float | None:
    """Return the rate in bit/s that a code stands for: None when it is unshaped, 0.0 for a closed gate."""
    if mantissa == 0:
        return 0.0
    if (mantissa, exponent) == UNSHAPED:
        return None
    return (8 * clock_hz << 31) / (mantissa << exponent)


def burst_cycles(burst_bytes: int, bps: int, clock_hz: int) -> int | None:
    """Return a burst in cycles, the time that its bytes take at the rate; None: longer than MAX_BURST_CYCLES. 0 for a closed gate."""
    if bps == 0:
        return 0
    cycles = (2 * 8 * burst_bytes * clock_hz + bps) // (2 * bps)
    return cycles if cycles <= MAX_BURST_CYCLES else None
