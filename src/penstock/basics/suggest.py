"""The nearest known name, for messages about unknown ones."""

import difflib
from collections.abc import Iterable

MAX_LISTED = 12  # names in a message; of more only the nearest are told
MAX_LENGTH = 100  # looking for what is near takes time with the square of the length


def meant(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that has listed all known names: the nearest one, if any is near."""
    close = difflib.get_close_matches(name[:MAX_LENGTH], sorted(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about the unknown `name`: the nearest known one, or the list of all; nothing where none is known."""
    known = sorted(known)
    if not known:
        return ""
    if hint := meant(name, known):
        return hint
    if len(known) > MAX_LISTED:
        near = difflib.get_close_matches(name[:MAX_LENGTH], known, n=MAX_LISTED // 2, cutoff=0.0)
        return f"; known: {', '.join(near)} and {len(known) - len(near)} more"
    return f"; known: {', '.join(known)}"
