"""Compiled programs with something wrong in them, and packets of any length."""

import copy
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 63, 64, 65, 511, 1 << 16, (1 << 31) - 1, 1 << 32, (1 << 63) - 1, 1 << 64, 1 << 70, 0.5, 1e308),
    *("", "x", "0x", "0x00", "0x01", "-0x01", "0xffffffffffffffffff", "0x" + "f" * 300, "default", "parse_error", "$valid$", "NoAction"),
    *([], {}, [[]], [0], ["scalars", "tmp"], {"type": "bool", "value": True}, {"type": "hexstr", "value": "0x40"}),
    {"type": "field", "value": ["standard_metadata", "$valid$"]},
    {"type": "expression", "value": {"op": "+", "left": None, "right": {"type": "hexstr", "value": "0x01"}}},
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path to everything in a document."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += _places(inner, (*path, key))
    return found


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


class Mutator:
    """Makes wrong programs of one that is right."""

    def __init__(self, document: dict[str, Any], seed: int | str) -> None:
        self.document = document
        self.draw = random.Random(seed)
        self.places = _places(document)
        self.by_key: dict[Any, list[tuple[Any, ...]]] = {}
        for place in self.places:
            self.by_key.setdefault(place[-1] if isinstance(place[-1], str) else (place[-2:-1], "item"), []).append(place)

    def mutated(self) -> tuple[dict[str, Any], list[str]]:
        """Return a program with one to four changes, and what they are."""
        made, told = copy.deepcopy(self.document), []
        for _ in range(self.draw.choice((1, 1, 1, 2, 3, 4))):
            path = self.draw.choice(self.places)
            try:
                parent = _at(made, path[:-1])
                old = parent[path[-1]]
            except (KeyError, IndexError, TypeError):
                continue  # another change has taken it away
            if not isinstance(parent, dict | list):
                continue  # another change has made a text of it
            told.append(f"{'.'.join(map(str, path))}: {self._change(made, parent, path, old)}")
        return made, told

    def _change(self, made: Any, parent: Any, path: tuple[Any, ...], old: Any) -> str:
        key, draw = path[-1], self.draw
        what = draw.choice(("remove", "replace", "near", "near", "another", "another", "another", "twice", "swap"))
        if what == "remove":
            del parent[key]
        elif what == "near" and isinstance(old, int):
            parent[key] = old + draw.choice((-1, 1, 8, -8, 64)) if not isinstance(old, bool) else not old
        elif what == "near" and isinstance(old, str) and old:
            place = draw.randrange(len(old))
            parent[key] = old[:place] + draw.choice("0123456789abcdefx.&") + old[place + 1 :]
        elif what == "another":  # of its kind, from somewhere else
            same = self.by_key[key if isinstance(key, str) else (path[-2:-1], "item")]
            parent[key] = copy.deepcopy(_at(self.document, draw.choice(same)))
        elif what == "twice" and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(old))
        elif what == "swap" and isinstance(parent, list) and len(parent) > 1:
            other = draw.randrange(len(parent))
            parent[key], parent[other] = parent[other], parent[key]
        else:
            what = "replace"
            parent[key] = copy.deepcopy(draw.choice(VALUES))
        return f"{what}, {str(old)[:60]!r}"


def packets(draw: random.Random, likely: list[bytes], count: int) -> list[bytes]:
    """Return packets: likely ones, cut off, with bytes changed, with more behind them; noise; nothing; the longest."""
    found = [b"", draw.randbytes(1), draw.randbytes(9_600)]
    while len(found) < count:
        one = bytearray(draw.choice(likely) if likely and draw.random() < 0.8 else draw.randbytes(draw.randrange(200)))
        for _ in range(draw.choice((0, 0, 1, 4))):
            if one:
                one[draw.randrange(len(one))] = draw.randrange(256)
        if draw.random() < 0.4:
            one = one[: draw.randrange(len(one) + 1)]
        if draw.random() < 0.1:
            one += draw.randbytes(draw.randrange(9_600 - min(len(one), 9_599)))
        found.append(bytes(one))
    return found
