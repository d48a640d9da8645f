"""Texts with numbers in them: `{latency_cycles.mean:.1f}`, filled in from a result.

A place is `{key}` or `{key:FORMAT}`. `key` is a path into a JSON object, with a number for an entry of a list. FORMAT is what Python takes,
after any of the words below.
"""

import re
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from penstock.errors import UserError

_PLACE = re.compile(r"\{([A-Za-z_][\w.-]*)(?::([^{}]*))?\}")

WORDS: dict[str, Callable[[Any], Any]] = {
    "k": lambda value: value / 1e3,
    "M": lambda value: value / 1e6,
    "G": lambda value: value / 1e9,
    "inverse": lambda value: 1 / value,
    "median": statistics.median,
    "least": min,
    "most": max,
    "of-list": list,  # every entry in the format, with commas
}


def keys(text: str) -> list[str]:
    """Return the paths that `text` has places for, in order."""
    return [place[1] for place in _PLACE.finditer(text)]


def find(values: Mapping[str, Any], path: str) -> Any:
    """Return what is at `path` in a JSON object. Raises KeyError with the path."""
    found: Any = values
    for part in path.split("."):
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (KeyError, IndexError, ValueError, TypeError):
            raise KeyError(path) from None
    return found


def formatted(value: Any, wanted: str) -> str:
    """Return a value as the page shows it."""
    *words, last = wanted.split(" ") if wanted else [""]
    if last in WORDS:
        words, last = [*words, last], ""
    for word in words:
        if word not in WORDS:
            raise UserError(f"{wanted!r}: {word!r} is no way to show a number; there are {', '.join(WORDS)}")
        value = WORDS[word](value)
    if isinstance(value, list):
        return ", ".join(formatted(entry, last) for entry in value)
    try:
        return format(value, last).replace("%", " %")
    except (TypeError, ValueError):
        raise UserError(f"{wanted!r}: does not fit {value!r}") from None


def filled(text: str, values: Callable[[str], Any], only_known: bool = False) -> str:
    """Return `text` with every place filled in by `values`, which raises KeyError for what it does not know.

    `only_known`: those places stay as they are.
    """

    def value(place: re.Match[str]) -> str:
        try:
            found = values(place[1])
        except KeyError:
            if only_known:
                return place[0]
            raise
        return formatted(found, place[2] or "")

    return _PLACE.sub(value, text)
