"""The papers that Penstock builds on, and the commands that make their figures again: one package a paper, of the design that it is about.

A paper is found by being there, `designs/<design>/papers/<paper>/__init__.py`. Its package has `TITLE`, `FIGURES`, `TABLES` (the numbers
that can be made), perhaps `SECTIONS` (those whose claims are tried), `LIVE` (parts that `--live` can make), `LIVE_ONLY` (those that need
it, and are made when they are asked for), `ON_DEMAND` (others that are made only then), `check(parts, live)` (raises UserError where
something that they need is not there), `NOT_MADE` (why others cannot be, by `figure 3`) and `make(parts, options, bar, line) -> Made`.
"""

from dataclasses import dataclass
from typing import Any

from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.paths import DESIGNS

SCHEMA = "penstock.paper/1"


@dataclass(frozen=True)
class Options:
    """How a paper's figures are made."""

    seed: int
    full: bool  # as many points and runs, or runs as long, as the paper's; otherwise what takes a minute or two
    cluster: str | None  # Dask scheduler for simulations
    live: bool = False  # with programs and TCP of this machine, in real time


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


def papers() -> dict[str, str]:
    """Return the packages of all papers by the names that users type, in their order."""
    found = sorted((path.parent for path in DESIGNS.glob("*/papers/*/__init__.py")), key=lambda folder: folder.name)
    return {folder.name.replace("_", "-"): f"penstock.designs.{folder.parents[1].name}.papers.{folder.name}" for folder in found}


def check_live(package: Any, name: str, parts: list[Part]) -> None:
    """Raise UserError where parts of a paper cannot be made with live traffic: LIVE of its package says which can."""
    known = getattr(package, "LIVE", ())
    for part in parts:
        if str(part) not in known:
            said = f"those of {name} are {', '.join(known)}" if known else f"{name} has none"
            raise UserError(f"--live: {part} is not made with live traffic; {said}")


def plan(paper: str, figures: list[int], tables: list[int], sections: list[int] | None = None) -> tuple[Any, list[Part]]:
    """Return the package of a paper and the parts that were asked for, all of them when none was named. Raises UserError."""
    import importlib

    known_papers = papers()
    if paper not in known_papers:
        raise UserError(f"there is no paper {paper!r}{nearest(paper, known_papers)}")
    package = importlib.import_module(known_papers[paper])
    asked = {"figure": figures, "table": tables, "section": sections or []}
    known = {"figure": package.FIGURES, "table": package.TABLES, "section": getattr(package, "SECTIONS", ())}
    for kind, numbers in asked.items():
        for number in numbers:
            if number not in known[kind]:
                why = package.NOT_MADE.get(f"{kind} {number}", "")
                said = f"{paper} has {f'{kind} ' if known[kind] else f'no {kind}'}{', '.join(map(str, known[kind]))} to make again"
                raise UserError(f"--{kind} {number}: {said}{f'; {kind} {number} {why}' if why else ''}")
    if not any(asked.values()):
        only = (*getattr(package, "LIVE_ONLY", ()), *getattr(package, "ON_DEMAND", ()))
        asked = {kind: [number for number in numbers if f"{kind} {number}" not in only] for kind, numbers in known.items()}
    return package, [Part(kind, number) for kind, numbers in asked.items() for number in sorted(set(numbers))]
