"""Which hand-written changes an operator makes, too: such a fault needs no entry, and an entry marks such a mutant as equivalent."""

import re

from penstock.faults.operators import Mutant

_TOKEN = re.compile(r"\w+|[^\w\s]")
# What layout, an empty statement or a condition that always holds adds.
_NOTHING = (re.compile(r"if (true|' 1|True) "), re.compile(r"(?<=[;{}:] ); |^; | (; )?pass(?= |$)|^pass$|^;$"))


def _words(text: str) -> str:
    found = " ".join(token for token in _TOKEN.findall(text) if token not in "()")
    found = re.sub(r"\b1 ' b([01])\b", r"' \1", found)
    for nothing in _NOTHING:
        found = nothing.sub("", found)
    return found.strip(" ;")


def makes(mutant: Mutant, source: bytes, start: int, end: int, new: str) -> bool:
    """Return whether `mutant` changes `source` as the replacement of the bytes from `start` to `end` by `new` does, but for parentheses."""
    if mutant.start > end or mutant.end < start:
        return False
    first, last = min(start, mutant.start), max(end, mutant.end)
    by_hand = source[first:start] + new.encode() + source[end:last]
    by_operator = source[first : mutant.start] + mutant.new.encode() + source[mutant.end : last]
    return _words(by_hand.decode(errors="replace")) == _words(by_operator.decode(errors="replace"))
