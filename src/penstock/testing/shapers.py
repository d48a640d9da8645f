"""Codes of rates for tests of blocks, which know no design: those that the engine computes."""

from penstock.engine import engine

CLOSED, UNSHAPED = (0, 0), (1, 0)


def rate_code(bps: int | None, clock_hz: int) -> tuple[int, int]:
    """Return (mantissa, exponent) of a rate in bit/s of frame bytes at a clock; None: unshaped, 0: a closed gate."""
    if bps is None:
        return UNSHAPED
    if bps == 0:
        return CLOSED
    module = engine.module()
    mantissa, exponent, _ = module.decode_shaper(module.shaper_code(8 * clock_hz / bps))
    return mantissa, exponent
