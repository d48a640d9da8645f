"""How often each rule of CONTRIBUTING is broken, and where: `penstock lint --count`. Generated sources do not count."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from penstock.basics import groups
from penstock.hardware import assertions, library

CEILING = 500  # lines of a source; a longer one has its reason in lint/large.txt
SOURCES = (".sv", ".svh", ".py", ".cpp", ".hpp", ".h", ".p4")
MOST_PORTS, MOST_WORDS, MOST_LINES = 40, 900, 80  # of a module written by hand; of README.md

_AXI = re.compile(r"^\s*(?:input|output)\s+(?!\s|\w+_pkg::).*\b[ms]_axi[ls]?_\w+", re.MULTILINE)  # a bundle's port is none
_WILDCARD = re.compile(r"\bimport\s+(\w+)::\*")
_MEMORY = re.compile(r"^ *(?:\(\*[^)]*\*\) *)?[a-z]\w*(?:::\w+)? *(?:\[[^\]]*\] *)?(\w+_mem) *\[[^\]]+\] *;", re.MULTILINE)
_TREE = re.compile(r"(?<![a-z])tree(?![a-z])", re.IGNORECASE)
_OF_HIERARCHY = ("designs/access_edge/", "blocks/hierarchy/", "src/penstock/v1/", "src/penstock/commands/")
NAMED = (*SOURCES, ".rdl", ".proto", ".yaml")


@dataclass(frozen=True)
class Count:
    """One number: what it counts, how many there may be (None: no limit is set), and where they are, `file: number`."""

    key: str
    words: str
    value: int
    allowed: int | None = None
    places: dict[str, int] = field(default_factory=dict)


def counts(root: Path, files: Iterable[Path]) -> list[Count]:
    """Return all counts of the sources `files`, hand-written ones, below `root`."""
    texts = {os.path.relpath(path, root): path.read_text() for path in sorted(files) if path.suffix in NAMED}
    hardware = {name: text for name, text in texts.items() if name.endswith((".sv", ".svh"))}
    rtl = {name: text for name, text in hardware.items() if "/rtl/" in name}
    own = {name: text for name, text in rtl.items() if not Path(name).stem.endswith("_pkg")}
    reasons = excused(root)
    above = large(texts)
    unexcused = {name: number for name, number in above.items() if not reasons.get(name)}
    readme = (root / "README.md").read_text() if (root / "README.md").exists() else ""
    ports_of = {name: ports(root / name) for name in own}
    largest = max(ports_of, key=lambda name: ports_of[name], default="")
    of_hierarchy = {name: text for name, text in texts.items() if name.startswith(_OF_HIERARCHY)}
    return [
        Count("ports", "ports of the largest module", ports_of.get(largest, 0), MOST_PORTS, _above(ports_of, MOST_PORTS)),
        _lines("axi_lines", "lines of flat AXI ports", hardware, lambda text: len(_AXI.findall(text))),
        _places("wildcard_imports", "wildcard imports of packages of another folder", _wildcards(root, rtl), 0),
        _places("raw_memories", "memories outside pst_ram_1r1w without a reason in lint/memories.txt", _unexcused(root, rtl), 0),
        _lines("no_assertion", "modules without an assertion", own, lambda text: not _asserts(text), 0),
        _lines("tree", "`tree` where the hierarchy is meant", of_hierarchy, lambda text: len(_TREE.findall(text)), 0),
        Count("large", f"sources above {CEILING} lines", len(above), None, above),
        Count("large_without_reason", "of these without a reason in lint/large.txt", len(unexcused), 0, unexcused),
        Count("readme_words", "words of README.md", len(readme.split()), MOST_WORDS),
        Count("readme_lines", "lines of README.md", readme.count("\n"), MOST_LINES),
    ]  # fmt: skip


def large(texts: dict[str, str]) -> dict[str, int]:
    """Return the sources above the ceiling, each with its lines."""
    return {name: lines for name, text in texts.items() if name.endswith(SOURCES) and (lines := text.count("\n")) > CEILING}


def excused(root: Path, file: str = "large.txt") -> dict[str, str]:
    """Return what may break a rule, each with its reason: lines `path  # reason` of lint/large.txt, or of another file there."""
    path = root / "lint" / file
    found: dict[str, str] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        name, _, reason = line.partition("#")
        if name.strip():
            found[" ".join(name.split())] = reason.strip()
    return found


def raw_memories(rtl: dict[str, str]) -> list[str]:
    """Return the memories of these sources that are not in a wrapper, `path memory` each."""
    return [f"{name} {memory}" for name, text in _no_wrapper(rtl).items() for memory in _MEMORY.findall(text)]


def _unexcused(root: Path, rtl: dict[str, str]) -> dict[str, int]:
    reasons = excused(root, "memories.txt")
    return dict(Counter(memory.split()[0] for memory in raw_memories(rtl) if not reasons.get(memory)))


def _lines(key: str, words: str, texts: dict[str, str], of: Callable[[str], int], allowed: int | None = None) -> Count:
    return _places(key, words, {name: int(of(text)) for name, text in texts.items()}, allowed)


def _places(key: str, words: str, numbers: dict[str, int], allowed: int | None = None) -> Count:
    places = {name: number for name, number in numbers.items() if number}
    return Count(key, words, sum(places.values()), allowed, places)


def _wildcards(root: Path, rtl: dict[str, str]) -> dict[str, int]:
    """Return how many packages each source takes whole that are not of its own folder: there a reader looks for a name first."""
    return {
        name: sum(not (root / name).with_name(f"{found}.sv").exists() for found in _WILDCARD.findall(text)) for name, text in rtl.items()
    }


def _above(numbers: dict[str, int], most: int) -> dict[str, int]:
    return {name: number for name, number in numbers.items() if number > most}


def _no_wrapper(rtl: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in rtl.items() if not Path(name).name.startswith("pst_ram_")}


def _asserts(text: str) -> bool:
    return any(found.kind == "assert" for found in assertions.assertions(text))


def ports(path: Path) -> int:
    """Return how many ports a module has."""
    groups.need("reading SystemVerilog", "generate")
    from pyslang import syntax

    tree = syntax.SyntaxTree.fromText(path.read_text())  # must outlive everything that is taken from it
    numbers = [0]
    for header in library.headers(tree):
        if isinstance(header.ports, syntax.AnsiPortListSyntax):
            numbers.append(sum(hasattr(port, "declarator") for port in header.ports.ports))
    return max(numbers)
