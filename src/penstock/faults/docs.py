"""Writes the tables of docs/verification.md from the register: `python -m penstock.faults.docs`. A test compares."""

import re
from collections.abc import Iterable

from penstock.basics.tables import cell
from penstock.faults import register
from penstock.faults.register import Fault
from penstock.paths import ROOT

PAGE = ROOT / "docs" / "verification.md"
_SECTION = re.compile(r"(<!-- faults -->\n).*?(<!-- end -->)", re.DOTALL)


def tables(faults: Iterable[Fault]) -> str:
    """Return a heading and a table for each place; faults that stand for one property and turn the same tests red are one group of rows."""
    rows: dict[str, dict[tuple[str, tuple[str, ...]], list[str]]] = {}
    for fault in faults:
        rows.setdefault(fault.place, {}).setdefault((fault.guards, fault.tests), []).append(fault.words)
    lines = []
    for place, found in rows.items():
        count = sum(map(len, found.values()))
        lines += [f"### {place}", "", f"{count} fault{'s' if count > 1 else ''}, `./penstock faults {place}`.", ""]
        lines += ["| what holds | planted fault | test that turns red |", "|---|---|---|"]
        for (guards, tests), words in found.items():
            first, *others = (f"`{_short(test, place)}`" for test in tests)
            rows = [
                (guards, words[0], first),
                *(("", "", f"or {other}") for other in others),
                *(("", word, "as above") for word in words[1:]),
            ]
            lines += ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
        lines.append("")
    return "\n".join(lines) + "\n"


def _short(test: str, place: str) -> str:
    """A test's name without the folder of its place."""
    return test.removeprefix(f"{place}/test/")


def updated(text: str) -> str:
    """Return the page with its tables written anew."""
    return _SECTION.sub(lambda match: match[1] + "\n" + tables(register.read()) + match[2], text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text()))
