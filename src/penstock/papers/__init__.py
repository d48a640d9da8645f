"""The papers that Penstock builds on, and the commands that make their figures again: one package a paper, listed in `PAPERS`.

A paper's package has `TITLE`, `FIGURES`, `TABLES` (the numbers that can be made), perhaps `SECTIONS` (those whose claims are tried),
`NOT_MADE` (why others cannot be, by `figure 7`) and `make(parts, options, report) -> Made`.
"""

from dataclasses import dataclass
from typing import Any

from penstock.basics.suggest import nearest
from penstock.errors import UserError

SCHEMA = "penstock.paper/1"
PAPERS = ("fpga-network-switch", "massive-qos-queueing", "edfr-skip-fifo")


@dataclass(frozen=True)
class Options:
    """How a paper's figures are made."""

    seed: int
    full: bool  # as many points and runs, or runs as long, as the paper's; otherwise what takes a minute or two
    cluster: str | None  # Dask scheduler for simulations


@dataclass(frozen=True)
class Part:
    """A figure, a table, or what a section claims, by its number in the paper."""

    kind: str  # figure, table, section
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


@dataclass(frozen=True)
class Made:
    """What came out: the data of each part, the paper's stated numbers beside ours, conventions in words, cards of the page."""

    parts: dict[str, Any]
    stated: list[dict[str, Any]]
    conventions: list[str]
    cards: list[dict[str, Any]]


def plan(paper: str, figures: list[int], tables: list[int], sections: list[int] | None = None) -> tuple[Any, list[Part]]:
    """Return the package of a paper and the parts that were asked for, all of them when none was named. Raises UserError."""
    import importlib

    if paper not in PAPERS:
        raise UserError(f"there is no paper {paper!r}{nearest(paper, PAPERS)}")
    package = importlib.import_module(f"{__name__}.{paper.replace('-', '_')}")
    asked = {"figure": figures, "table": tables, "section": sections or []}
    known = {"figure": package.FIGURES, "table": package.TABLES, "section": getattr(package, "SECTIONS", ())}
    for kind, numbers in asked.items():
        for number in numbers:
            if number not in known[kind]:
                why = package.NOT_MADE.get(f"{kind} {number}", "")
                said = f"{paper} has {f'{kind} ' if known[kind] else f'no {kind}'}{', '.join(map(str, known[kind]))} to make again"
                raise UserError(f"--{kind} {number}: {said}{f'; {kind} {number} {why}' if why else ''}")
    if not any(asked.values()):
        asked = {kind: list(numbers) for kind, numbers in known.items()}
    return package, [Part(kind, number) for kind, numbers in asked.items() for number in sorted(set(numbers))]
