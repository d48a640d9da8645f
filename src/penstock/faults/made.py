"""Which hand-written changes an operator makes, too: such a fault needs no entry, and an entry marks such a mutant as equivalent."""

import re
from functools import lru_cache

from penstock.faults.operators import Mutant, mutants
from penstock.faults.register import Fault, Stale

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


def _place(fault: Fault, source: bytes) -> tuple[int, int] | None:
    """Return which bytes of `source` the only change of `fault` replaces; None where it is stale."""
    text = source.decode(errors="replace")
    try:
        first, last = fault.changes[0].place_in(text)
    except Stale:
        return None
    return len(text[:first].encode()), len(text[:last].encode())


def writes(fault: Fault, mutant: Mutant, source: bytes) -> bool:
    """Return whether `fault`, written by hand, is `mutant`."""
    if len(fault.changes) > 1 or fault.changes[0].file != mutant.file or not (place := _place(fault, source)):
        return False
    return makes(mutant, source, *place, fault.changes[0].new)


_mutants = lru_cache(maxsize=512)(mutants)


def operator_for(fault: Fault, source: bytes) -> str | None:
    """Return the operator that makes `fault`, which then needs no entry, if there is one; `source` is the file that it changes."""
    if len(fault.changes) > 1 or not (place := _place(fault, source)):
        return None
    made = _mutants(fault.changes[0].file, source)
    return next((mutant.operator for mutant in made if makes(mutant, source, *place, fault.changes[0].new)), None)
