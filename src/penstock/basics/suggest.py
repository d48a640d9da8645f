"""The nearest known name, for messages about unknown ones."""

import difflib
from collections.abc import Iterable

MAX_LISTED = 12  # names in a message; of more only the nearest are told


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about the unknown `name`: the nearest known one, or the list of all; nothing where none is known."""
    known = sorted(known)
    if not known:
        return ""
    name = name[:100]  # looking for what is near takes time with the square of the length
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    if len(known) > MAX_LISTED:
        near = difflib.get_close_matches(name, known, n=MAX_LISTED // 2, cutoff=0.0)
        return f"; known: {', '.join(near)} and {len(known) - len(near)} more"
    return f"; known: {', '.join(known)}"
