"""Kobayashi: A DRAM-friendly priority queue Internet packet scheduler implementation and its effects on TCP, 2022.

`penstock paper edfr-skip-fifo`: the properties of section II, by simulation of exact EDFR and of skip-FIFOs; figure 2, on the verilated
hardware; figures 4 to 7, TCP in ns-3 through the port's model, or TCP of the kernel through its RTL (`--live`). docs/papers.md.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from penstock.errors import UserError
from penstock.papers import Made, Options, Part

TITLE = "A DRAM-friendly priority queue Internet packet scheduler implementation and its effects on TCP (Kobayashi)"
FIGURES = (2, 4, 5, 6, 7)
TABLES: tuple[int, ...] = ()
SECTIONS = (2,)
ON_DEMAND = ("figure 4", "figure 5", "figure 6", "figure 7")  # in ns-3, and many minutes
LIVE = ON_DEMAND
NOT_MADE: dict[str, str] = {}


def check(parts: list[Part], live: bool = False) -> None:
    """Raise UserError where a part needs ns-3, or live traffic what this machine lacks."""
    from penstock.designs.deadline_port.papers.edfr_skip_fifo import tcp_runs
    from penstock.live import apart

    if live:
        apart.need()
    elif any(str(part) in ON_DEMAND for part in parts):
        tcp_runs.need()


def make(parts: list[Part], options: Options, _bar: Callable[[str], Any], line: Callable[[str], AbstractContextManager[Any]]) -> Made:
    """Make `parts`. `line(name)` yields a function for a text, for the terminal."""
    from penstock.designs.deadline_port.papers.edfr_skip_fifo import cards, experiment, figure_2, findings
    from penstock.designs.deadline_port.papers.edfr_skip_fifo.conventions import CONVENTIONS, LIVE_CONVENTIONS

    if options.cluster is not None:
        raise UserError(f"--cluster {options.cluster}: edfr-skip-fifo simulates on this machine only")
    made = Made({}, [], [], [])
    for part in parts:
        name = str(part)
        if name in ON_DEMAND:
            _add_tcp(made, name, parts, options, line)
        elif part.kind == "figure":
            with line(name) as show:
                found = figure_2.measure(options, show)
            made.parts[name] = found
            made.stated.extend(figure_2.compare(found))
            made.cards.extend(figure_2.cards(found))
        else:
            with line(name) as show:
                found = experiment.measure(options, show)
            made.parts[name] = found
            made.stated.extend(findings.compare(found))
            made.cards.extend(cards.cards(found))
        conventions = (LIVE_CONVENTIONS if options.live else CONVENTIONS)[name]
        made.conventions.extend(text for text in conventions if text not in made.conventions)
    made.cards.append({"title": "Not made again", "note": "Figures 1 and 3 are drawings.", "plots": []})
    return made


def _add_tcp(made: Made, name: str, parts: list[Part], options: Options, line: Callable[[str], AbstractContextManager[Any]]) -> None:
    """Add one of figures 4 to 7. Figure 7 shows two of the runs of figure 6, where that is made."""
    from penstock.designs.deadline_port.papers.edfr_skip_fifo import figure_4, figure_5, figure_6

    if name == figure_6.GROWTH:
        both = any(str(part) == figure_6.PART for part in parts)
        found = made.parts.get(figure_6.PART)
        if found is None:
            with _line(name, options, line) as show:
                found = figure_6.measure(options, show, growth_only=True)
        made.parts[name] = {**found, "cases": figure_6.shown(found["cases"])}
        made.cards.extend(figure_6.growth_cards(found, with_findings=not both))
        return
    figure: Any = {figure_4.PART: figure_4, figure_5.PART: figure_5, figure_6.PART: figure_6}[name]
    with _line(name, options, line) as show:
        found = figure.measure(options, show)
    made.parts[name] = found
    made.stated.extend(figure.compare(found))
    made.cards.extend(figure.cards(found))


def _line(name: str, options: Options, line: Callable[[str], AbstractContextManager[Any]]) -> AbstractContextManager[Any]:
    """Return the terminal's line for a figure; live runs have a view of their own."""
    return nullcontext(lambda _: None) if options.live else line(name)
