"""Kobayashi: A DRAM-friendly priority queue Internet packet scheduler implementation and its effects on TCP, 2022.

`penstock paper edfr-skip-fifo`: the properties of section II, by simulation of exact EDFR and of skip-FIFOs; figure 2, on the verilated
hardware. docs/papers.md.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from penstock.errors import UserError
from penstock.papers import Made, Options, Part

TITLE = "A DRAM-friendly priority queue Internet packet scheduler implementation and its effects on TCP (Kobayashi)"
FIGURES = (2,)
TABLES: tuple[int, ...] = ()
SECTIONS = (2,)
NOT_MADE = {
    "figure 4": "(delays of TCP flows) needs live traffic, which is not there yet",
    "figure 5": "(throughput and losses of TCP flows) needs live traffic, which is not there yet",
    "figure 6": "(flow completion times) needs live traffic, which is not there yet",
    "figure 7": "(flow completion times) needs live traffic, which is not there yet",
}


def make(parts: list[Part], options: Options, _bar: Callable[[str], Any], line: Callable[[str], AbstractContextManager[Any]]) -> Made:
    """Make `parts`. `line(name)` yields a function for a text, for the terminal."""
    from penstock.designs.deadline_port.papers.edfr_skip_fifo import cards, experiment, figure_2, findings
    from penstock.designs.deadline_port.papers.edfr_skip_fifo.conventions import CONVENTIONS

    if options.cluster is not None:
        raise UserError(f"--cluster {options.cluster}: edfr-skip-fifo simulates on this machine only")
    made = Made({}, [], [], [])
    for part in parts:
        name = str(part)
        if part.kind == "figure":
            with line(name) as show:
                found = figure_2.measure(options, show)
            made.parts[name] = found
            made.stated.extend(figure_2.compare(found))
            made.cards.extend(figure_2.cards(found))
            made.conventions.extend(text for text in CONVENTIONS[name] if text not in made.conventions)
            continue
        with line(name) as show:
            found = experiment.measure(options, show)
        made.parts[name] = found
        made.stated.extend(findings.compare(found))
        made.cards.extend(cards.cards(found))
        made.conventions.extend(text for text in CONVENTIONS[name] if text not in made.conventions)
    made.cards.append({"title": "Not made again", "note": "Figures 1 and 3 are drawings.", "plots": [], "words": list(NOT_MADE.items())})
    return made
