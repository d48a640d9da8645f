"""The nearest known name, for messages about unknown ones."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about the unknown `name`: the nearest known one, or the list of all; nothing where none is known."""
    known = sorted(known)
    if not known:
        return ""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(known)}"
