"""Values of a key: one, a list, or a range such as `1..8`, `0.1..0.9 step 0.1`, `64..65536 factor 4`, `5..20 Mbit/s step 5`."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from penstock.basics.units import describe

MAX_RUNS = 10_000  # of a sweep; so no list needs more values
MAX_SEED = 2**32 - 1

_NUMBER = r"-?[0-9]{1,18}(?:\.[0-9]{1,12})?"
_RANGE = re.compile(
    rf"({_NUMBER})\s*\.\.\s*({_NUMBER})\s*(?!step\b|factor\b)([A-Za-zµ%][A-Za-z/]*)?(?:\s*\b(step|factor)\s+({_NUMBER}))?\s*"
)
_LOOKS_LIKE_ONE = re.compile(r"\s*-?[0-9]\S*?\s*\.\.")
_FORMS = '"1..8", "0.1..0.9 step 0.1", "64..4096 factor 2" or "5..20 Mbit/s step 5"'


def values(given: Any) -> tuple[Any, ...]:
    """Return the values that a key of `set` takes, in order, once each. Raises ValueError."""
    parts = given if isinstance(given, (list, tuple)) else [given]
    if isinstance(given, dict):
        raise ValueError("must be a value, a list or a range; write the keys of a mapping with dots, as --set takes them")
    found: list[Any] = []
    for part in parts:
        if part is None or (isinstance(part, str) and not part.strip()):
            raise ValueError("has an empty value")
        if isinstance(part, str) and _LOOKS_LIKE_ONE.match(part):
            found += _expanded(part.strip())
        else:
            found.append(part)
        if len(found) > MAX_RUNS:
            raise ValueError(f"has more than {MAX_RUNS:,} values, and a sweep at most {MAX_RUNS:,} runs")
    if not found:
        raise ValueError("must hold at least one value")
    return tuple(_once(found))


def seeds(given: Any) -> tuple[int, ...]:
    """Return the seeds that `3`, `1..8`, `[1, 5, "10..12"]` or `"1, 5"` mean. Raises ValueError."""
    parts = given if isinstance(given, (list, tuple)) else [given]
    parts = [piece for part in parts for piece in (part.split(",") if isinstance(part, str) else [part])]
    found = []
    for seed in values([int(part) if isinstance(part, str) and re.fullmatch(r"\s*[0-9]{1,10}\s*", part) else part for part in parts]):
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
            raise ValueError(f"must be whole numbers from 0 to {MAX_SEED:,}, such as 1..8 or [1, 5], not {describe(seed)}")
        found.append(seed)
    return tuple(found)


def _expanded(text: str) -> list[Any]:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"must be a range such as {_FORMS}, not {describe(text)}")
    first, last = Decimal(match[1]), Decimal(match[2])
    unit, factor, step = match[3], match[4] == "factor", Decimal(match[5] or 1)
    if last < first or (step <= 1 if factor else step <= 0) or (factor and first <= 0):
        raise ValueError(f"must ascend, by a step above 0 or by a factor above 1 from above 0, not {describe(text)}")
    found: list[Any] = []
    for number in _numbers(first, last, step, factor):
        if len(found) == MAX_RUNS:
            raise ValueError(f"has more than {MAX_RUNS:,} values, and a sweep at most {MAX_RUNS:,} runs")
        plain = int(number) if number == int(number) else float(number)
        found.append(f"{plain} {unit}" if unit else plain)
    return found


def _numbers(first: Decimal, last: Decimal, step: Decimal, factor: bool) -> Iterator[Decimal]:
    number = first
    while number <= last:
        yield number
        number = number * step if factor else number + step


def _once(found: list[Any]) -> Iterator[Any]:
    seen = set()
    for value in found:
        key = (type(value), repr(value))  # 1 and 1.0 may mean two things to a key, and lists have no hash
        if key not in seen:
            seen.add(key)
            yield value
