"""Quantities with units: text to numbers and back.

Rates are integers in bit/s, times integers in picoseconds, sizes integers in bytes. Prefixes are decimal (1 kB = 1,000 byte, 1 kbit/s =
1,000 bit/s), as on the line. Parsing is exact: decimals are scaled, never rounded through floating point, and what does not come
out as a whole number of the base unit is refused.
"""

import re
from decimal import Decimal, InvalidOperation

PS_PER_SECOND = 10**12

_RATE_UNITS = {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9, "Tbit/s": 10**12}
_RATE_ALIASES = {"bps": "bit/s", "kbps": "kbit/s", "Mbps": "Mbit/s", "Gbps": "Gbit/s", "Tbps": "Tbit/s"}
_TIME_UNITS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12, "min": 60 * 10**12}
_SIZE_UNITS = {"byte": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE_ALIASES = {"B": "byte", "bytes": "byte", "kbyte": "kB", "Mbyte": "MB", "Gbyte": "GB"}

_QUANTITY = re.compile(
    r"([+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9][0-9_]*)(?:\.[0-9]+)?|[+-]?\.[0-9]+)(?:[eE]([+-]?[0-9]{1,2}))?\s*([^\s0-9].*)?"
)


def parse_rate(value: object) -> int:
    """Return bit/s for "20 Mbit/s" (also "20 Mbps"); a bare number is bit/s. Raises ValueError with a readable message."""
    return _parse(value, "a rate", "20 Mbit/s", _RATE_UNITS, _RATE_ALIASES, bare=1)


def parse_time(value: object) -> int:
    """Return picoseconds for "20 ms"; a bare number other than 0 is refused. Raises ValueError with a readable message."""
    return _parse(value, "a time", "20 ms", _TIME_UNITS, {"µs": "us", "μs": "us", "sec": "s"}, bare=None)


def parse_size(value: object) -> int:
    """Return bytes for "3 kB"; a bare number is bytes. Raises ValueError with a readable message."""
    return _parse(value, "a size", "3 kB", _SIZE_UNITS, _SIZE_ALIASES, bare=1)


def _parse(value: object, what: str, example: str, units: dict[str, int], aliases: dict[str, str], bare: int | None) -> int:
    allowed = f'{what} with one of the units {", ".join(units)}, such as "{example}"'
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"must be {allowed}, not {describe(value)}")
    match = _QUANTITY.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(f"must be {allowed}, not {describe(value)}")
    digits, exponent, unit = match.groups()
    try:
        number = Decimal(digits.replace("_", "").replace(",", "")).scaleb(int(exponent or 0))
    except InvalidOperation:
        raise ValueError(f"must be {allowed}, not {describe(value)}") from None
    scale = _scale(unit.strip(), units, aliases) if unit else (bare or (0 if number == 0 else None))
    if scale is None:
        raise ValueError(f"must be {allowed}, not {describe(value)}")
    if number < 0:
        raise ValueError(f"must not be negative, but is {describe(value)}")
    scaled = number * scale
    if scaled > 10**24:
        raise ValueError(f"is too large: {describe(value)}")
    if scaled != int(scaled):
        raise ValueError(f"must be a whole number of {next(iter(units))}, but is {describe(value)}")
    return int(scaled)


def _scale(unit: str, units: dict[str, int], aliases: dict[str, str]) -> int | None:
    for name, scale in units.items():
        if unit == name:
            return scale
    for name, same in aliases.items():
        if unit == name:
            return units[same]
    # "mbit/s" and "MBIT/S" can only mean one thing; "mB" or "Ms" might mean two, so the case counts there.
    folded = [scale for name, scale in units.items() if name.lower() == unit.lower() and "bit" in name]
    return folded[0] if folded else None


def describe(value: object) -> str:
    """Return how a value from a file is shown in a message: one line, and short."""
    if isinstance(value, str):
        return f'"{_shorten(value)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "empty"
    if isinstance(value, int) and value.bit_length() > 1000:
        return "a number of some hundred digits or more"  # Python does not print very long ones
    return _shorten(str(value)) if isinstance(value, (int, float)) else "a mapping" if isinstance(value, dict) else "a list"


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def format_rate(bps: float) -> str:
    """Return a rate with three significant digits or more: "20 Mbit/s", "1.544 Mbit/s"."""
    return _format(bps, _RATE_UNITS)


def format_time_ns(ns: float) -> str:
    """Return a time given in nanoseconds: "850 ns", "12.3 us", "1.25 s"."""
    return _format(ns * 1000, {k: v for k, v in _TIME_UNITS.items() if k in ("ns", "us", "ms", "s")} if ns else {"ns": 1})


def format_cycle_rate(per_second: float) -> str:
    """Return simulated cycles per second: "3.41 M cycles/s", "2.5 k cycles/s"."""
    unit, scale = ("M", 1e6) if per_second >= 1e5 else ("k", 1e3)
    return f"{per_second / scale:.{2 if unit == 'M' else 1}f} {unit} cycles/s"


def format_bytes(size: float) -> str:
    """Return a size: "64 byte", "1.2 MB"."""
    return _format(size, _SIZE_UNITS)


def _format(value: float, units: dict[str, int]) -> str:
    unit, scale = next(iter(units.items()))
    for name, candidate in units.items():
        if abs(value) >= candidate * 0.9995:
            unit, scale = name, candidate
    return f"{_digits(value / scale)} {unit}"


def _digits(number: float) -> str:
    if abs(number - round(number)) < 1e-9 * max(1.0, abs(number)):
        return f"{round(number):,}"
    decimals = 0 if abs(number) >= 999.5 else 1 if abs(number) >= 99.95 else 2 if abs(number) >= 9.995 else 3
    return f"{number:,.{decimals}f}"
