"""Assertions of SystemVerilog as text: which there are and what they are called."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_KIND = re.compile(r"\b(assert|assume|cover)\b(?=\s*(?:\(|property\b|final\b|#0))")
_LABEL = re.compile(r"\b(\w+)\s*:\s*$")
_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_LOOP = re.compile(r"\bfor\s*\((?!\s*genvar\b)")
_STEP = re.compile(r"\bbegin\b|\bend\b|[();]")
PREFIXES = {"assert": "a_", "assume": "m_", "cover": "c_"}


@dataclass(frozen=True)
class Assertion:
    """An assertion, assumption or cover: where its keyword and its label stand in the text, and the label, empty where it has none."""

    kind: str
    at: int
    label_at: int
    label: str

    @property
    def named(self) -> bool:
        """It has a name of its kind."""
        return self.label.startswith(PREFIXES[self.kind])


def assertions(text: str) -> Iterator[Assertion]:
    """Yield the assertions of a source in their order, all branches of `ifdef among them. What a macro holds is named where it is used."""
    code = _code(text)
    for found in _KIND.finditer(code):
        before = code[: found.start()]
        if "`define" in before[before.rfind("\n") + 1 :]:
            continue
        label = _LABEL.search(before)
        yield Assertion(found[1], found.start(), label.start() if label else found.start(), label[1] if label else "")


def unnamed_in_loops(text: str) -> str:
    """Return a source without the names of assertions in procedural loops; all else stays at its line and column.

    Yosys makes a cell of each turn of such a loop, and would call all of them by that name.
    """
    code = _code(text)
    loops = [(loop.start(), _end(code, loop.end() - 1)) for loop in _LOOP.finditer(code)]
    for found in assertions(text):
        if found.label and any(start < found.at < end for start, end in loops):
            text = text[: found.label_at] + " " * (found.at - found.label_at) + text[found.at :]
    return text


def _code(text: str) -> str:
    """The text with blanks for comments and strings."""
    return _NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _end(code: str, at: int) -> int:
    """Where the statement ends whose first parenthesis is at `at`."""
    brackets = blocks = 0
    for step in _STEP.finditer(code, at):
        brackets += {"(": 1, ")": -1}.get(step[0], 0)
        blocks += {"begin": 1, "end": -1}.get(step[0], 0)
        if brackets == blocks == 0 and step[0] in (";", "end") and not re.match(r"\s*else\b", code[step.end() :]):
            return step.end()
    return len(code)
