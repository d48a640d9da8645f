"""Units of settings and numbers: from what a user writes to what the hardware has."""

from collections.abc import Callable
from fractions import Fraction
from typing import Literal, NamedTuple

from penstock.basics.units import PS_PER_SECOND, describe, format_time_ns, parse_size, parse_time

Unit = Literal["time", "us", "gain_hz", "fraction", "bytes", "packets", "count"]


class UnitFacts(NamedTuple):
    """How a unit is read and what it is in hardware."""

    read: Callable[[object], int | float]
    words: str  # for the page on parts
    example: str


def _gain(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"must be a gain in Hz, such as 0.125, not {describe(value)}")
    if not 0 < value < float("inf"):
        raise ValueError(f"must be more than 0, not {describe(value)}")
    return value


def _whole(what: str, least: int) -> Callable[[object], int]:
    def read_whole(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"must be {what}, not {describe(value)}")
        if value < least:
            raise ValueError(f"must be at least {least}, not {describe(value)}")
        return value

    return read_whole


def _fraction(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"must be a fraction from 0 to 1, not {describe(value)}")
    return value


def _time(value: object) -> int:
    number = parse_time(value)
    if number == 0:
        raise ValueError(f"must be more than 0, not {describe(value)}")
    return number


UNITS: dict[str, UnitFacts] = {
    "time": UnitFacts(
        _time, "a duration, in hardware in ticks of 2^TickShift cycles (between 1 and 2 us, below 1 MHz one cycle), at least 1", "5 ms"
    ),
    "us": UnitFacts(_whole("a whole number of microseconds", 1), "a whole number of microseconds, in hardware in ticks", "15000"),
    "gain_hz": UnitFacts(_gain, "a gain in Hz, in hardware in 2^-32 per tick", "0.125"),
    "fraction": UnitFacts(_fraction, "0 to 1, in hardware in parts of 2^bits", "0.1"),
    "bytes": UnitFacts(parse_size, "bytes", "3 kB"),
    "packets": UnitFacts(_whole("a number of packets", 0), "packets", "20"),
    "count": UnitFacts(_whole("a whole number", 0), "a plain number", "3"),
}


def read(unit: Unit, value: object) -> int | float:
    """Return a value that a user has given in the unit's base: ps, us, Hz, bytes. Raises ValueError: a sentence without its subject."""
    return UNITS[unit].read(value)


def in_hardware(unit: Unit, number: int | float, bits: int, clock_hz: int, tick_shift: int) -> int:
    """Return a number in the unit's base as the hardware has it, in `bits` bits; a tick is 2^tick_shift cycles.

    Rounded to the nearest; a time and a gain are 1 at least. Raises ValueError, a sentence without its subject, where it does not fit.
    """
    most = (1 << bits) - 1
    tick = Fraction(1 << tick_shift, clock_hz)  # seconds
    if unit in ("time", "us"):
        found = max(1, round(Fraction(number) / (PS_PER_SECOND if unit == "time" else 10**6) / tick))
        if found > most:
            raise ValueError(f"can be at most {format_time_ns(float(most * tick) * 1e9)} at {clock_hz / 1e6:g} MHz")
        return found
    if unit == "gain_hz":
        found = round(number * float((1 << 32) * tick))
        if not 1 <= found <= most:
            raise ValueError(f"is {number:,}: that is {found:,} 2^-32 per tick, allowed: 1 to {most:,}")
        return found
    if unit == "fraction":
        return min(most, round(number * (1 << bits)))
    if number > most:
        raise ValueError(f"can be at most {most:,}, not {number:,}")
    return int(number)
