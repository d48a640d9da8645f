"""How often each rule of CONTRIBUTING is broken, and where: `penstock lint --count`. Generated sources do not count.

What may break a rule is listed in a file below lint/, a line each with its reason; it is counted apart.
"""

import fnmatch
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
NAMED = (*SOURCES, ".rdl", ".proto", ".yaml", ".md", ".html")  # files whose words count
RULES = {  # rules with exceptions: the file of reasons, and what breaks the rule
    "axi_lines": ("streams.txt", "lines of flat AXI ports"),
    "raw_memories": ("memories.txt", "memories outside pst_ram_1r1w"),
    "no_assertion": ("assertions.txt", "modules without an assertion"),
    "tree": ("names.txt", "`tree` where the hierarchy is meant"),
    "large": ("large.txt", f"sources above {CEILING} lines"),
}

_AXI = re.compile(r"^\s*(?:input|output)\s+(?!\s|\w+_pkg::).*\b[ms]_axi[ls]?_\w+", re.MULTILINE)  # a bundle's port is none
_CONSTANT = re.compile(r"^(_?[A-Z][A-Z0-9_]+)(?:: [^=\n]+)? = ", re.MULTILINE)  # of a Python module
_WILDCARD = re.compile(r"\bimport\s+(\w+)::\*")
_MEMORY = re.compile(r"^ *(?:\(\*[^)]*\*\) *)?[a-z]\w*(?:::\w+)? *(?:\[[^\]]*\] *)?(\w+_mem) *\[[^\]]+\] *;", re.MULTILINE)
_WORD = re.compile(r"[\w*]*tree[\w*]*", re.IGNORECASE)
_TREE = re.compile(r"(?:(?<![A-Za-z])tree|(?<![A-Z])Tree|(?<![A-Za-z])TREE)[sS]?(?![a-z])")
_OF_HIERARCHY = (
    "README.md", "CONTRIBUTING.md", "blocks/hierarchy/", "blocks/schedule/", "designs/access_edge/", "docs/", "engine/", "scenarios/",
    "src/penstock/commands/", "src/penstock/library/", "src/penstock/v1/",
)  # fmt: skip


@dataclass(frozen=True)
class Count:
    """One number: what it counts, how many there may be (None: no limit is set), and where they are, `file: number`.

    `excused`: how many more have their reason in lint/`reasons`; `unused`: reasons there for what breaks no rule.
    """

    key: str
    words: str
    value: int
    allowed: int | None = None
    places: dict[str, int] = field(default_factory=dict)
    excused: int = 0
    reasons: str = ""
    unused: tuple[str, ...] = ()


def counts(root: Path, files: Iterable[Path]) -> list[Count]:
    """Return all counts of the sources `files`, hand-written ones, below `root`."""
    texts = {os.path.relpath(path, root): path.read_text() for path in sorted(files) if path.suffix in NAMED}
    rtl = {name: text for name, text in texts.items() if name.endswith((".sv", ".svh")) and "/rtl/" in name}
    readme = (root / "README.md").read_text() if (root / "README.md").exists() else ""
    ports_of = {name: ports(root / name) for name in _modules(rtl)}
    largest = max(ports_of, key=lambda name: ports_of[name], default="")
    broken = {key: rule(root, key, texts) for key in RULES}
    return [
        Count("ports", "ports of the largest module", ports_of.get(largest, 0), MOST_PORTS, _above(ports_of, MOST_PORTS)),
        broken["axi_lines"],
        _places("wildcard_imports", "wildcard imports of packages of another folder", _wildcards(root, rtl), 0),
        *(broken[key] for key in RULES if key != "axi_lines"),
        _places("unused_constants", "constants of Python modules that nothing names", _unused(root, texts), 0),
        Count("readme_words", "words of README.md", len(readme.split()), MOST_WORDS),
        Count("readme_lines", "lines of README.md", readme.count("\n"), MOST_LINES),
    ]


def rule(root: Path, key: str, texts: dict[str, str]) -> Count:
    """Return how often the sources `texts` break one of RULES without a reason, and how often with one."""
    file, words = RULES[key]
    reasons, found = excused(root, file), _FOUND[key](texts)
    used: set[str] = set()
    places: Counter[str] = Counter()
    for (name, what), number in found.items():
        listed = next((one for one in reasons if _is_listed(one, name, what)), None)
        if listed is None or not reasons[listed]:
            places[name] += number
        used.update(filter(None, [listed]))
    value = sum(places.values())
    unused = tuple(one for one in reasons if one not in used)
    return Count(key, words, value, 0, dict(places), sum(found.values()) - value, f"lint/{file}", unused)


def excused(root: Path, file: str) -> dict[str, str]:
    """Return what may break a rule, each with its reason: lines `path  # reason` or `path what  # reason` of a file in lint/."""
    path = root / "lint" / file
    found: dict[str, str] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        name, _, reason = line.partition("#")
        if name.strip():
            found[" ".join(name.split())] = reason.strip()
    return found


def _is_listed(one: str, name: str, what: str) -> bool:
    """Whether a line of reasons (a path, `*` for any text; then words, `%` for any letters) is about this source and what is in it."""
    path, *words = one.split()
    return fnmatch.fnmatchcase(name, path) and (
        not words or any(re.fullmatch(r"\w*".join(map(re.escape, word.split("%"))), what) for word in words)
    )


def _modules(texts: dict[str, str]) -> dict[str, str]:
    """Return those of the sources that are modules of hardware."""
    return {name: text for name, text in texts.items() if "/rtl/" in name and name.endswith(".sv") and not name.endswith("_pkg.sv")}


# ---- what breaks a rule: how often, by source and by what it is there


def _flat(texts: dict[str, str]) -> dict[tuple[str, str], int]:
    return {(name, ""): number for name, text in texts.items() if name.endswith((".sv", ".svh")) and (number := len(_AXI.findall(text)))}


def _raw_memories(texts: dict[str, str]) -> dict[tuple[str, str], int]:
    rtl = {name: text for name, text in texts.items() if "/rtl/" in name and not Path(name).name.startswith("pst_ram_")}
    return dict(Counter((name, memory) for name, text in rtl.items() for memory in _MEMORY.findall(text)))


def _no_assertion(texts: dict[str, str]) -> dict[tuple[str, str], int]:
    return {(name, ""): 1 for name, text in _modules(texts).items() if not _asserts(text)}


def _trees(texts: dict[str, str]) -> dict[tuple[str, str], int]:
    own = {name: text for name, text in texts.items() if name.startswith(_OF_HIERARCHY) and "tree" in text.lower()}
    return dict(Counter((name, word) for name, text in own.items() for word in _WORD.findall(text) if _TREE.search(word)))


def _large(texts: dict[str, str]) -> dict[tuple[str, str], int]:
    return {(name, ""): 1 for name, text in texts.items() if name.endswith(SOURCES) and text.count("\n") > CEILING}


_FOUND: dict[str, Callable[[dict[str, str]], dict[tuple[str, str], int]]] = {
    "axi_lines": _flat, "raw_memories": _raw_memories, "no_assertion": _no_assertion, "tree": _trees, "large": _large,
}  # fmt: skip


def _places(key: str, words: str, numbers: dict[str, int], allowed: int | None = None) -> Count:
    places = {name: number for name, number in numbers.items() if number}
    return Count(key, words, sum(places.values()), allowed, places)


def _wildcards(root: Path, rtl: dict[str, str]) -> dict[str, int]:
    """Return how many packages each source takes whole that are not of its own folder: there a reader looks for a name first."""
    return {
        name: sum(not (root / name).with_name(f"{found}.sv").exists() for found in _WILDCARD.findall(text)) for name, text in rtl.items()
    }


def _unused(root: Path, texts: dict[str, str]) -> dict[str, int]:
    """Return how many constants each Python module has whose names occur nowhere else, pages apart."""
    code = [text for name, text in texts.items() if not name.endswith(".md")]
    code += [path.read_text() for path in (root / "penstock", root / "pyproject.toml") if path.exists()]
    words = Counter(word for text in code for word in re.findall(r"\b_?[A-Z][A-Z0-9_]+\b", text))
    return {name: sum(words[constant] == 1 for constant in _CONSTANT.findall(text)) for name, text in texts.items() if name.endswith(".py")}


def _above(numbers: dict[str, int], most: int) -> dict[str, int]:
    return {name: number for name, number in numbers.items() if number > most}


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
