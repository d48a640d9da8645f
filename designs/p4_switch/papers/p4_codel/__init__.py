"""Kundel et al.: P4-CoDel: Active Queue Management in Programmable Data Planes, 2018.

`penstock paper p4-codel`: figures 5 and 6, of the P4 device, the access edge and ns-3 side by side; section 4: cases in which the paper's
public program is weak. docs/papers.md.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from penstock.errors import UserError
from penstock.papers import Made, Options, Part

TITLE = "P4-CoDel: Active Queue Management in Programmable Data Planes (Kundel et al., 2018)"
FIGURES = (5, 6)
TABLES: tuple[int, ...] = ()
SECTIONS = (4,)
NOT_MADE: dict[str, str] = {}
LIVE = ("figure 5", "figure 6")


def make(parts: list[Part], options: Options, _bar: Callable[[str], Any], line: Callable[[str], AbstractContextManager[Any]]) -> Made:
    """Make `parts`. `line(name)` yields a function for a text, for the terminal; runs show their own progress."""
    from penstock.designs.p4_switch.papers.p4_codel import figure_5, figure_6, live, runs, weak_cases
    from penstock.designs.p4_switch.papers.p4_codel.conventions import CONVENTIONS, LIVE_CONVENTIONS

    if options.cluster is not None:
        raise UserError(f"--cluster {options.cluster}: p4-codel simulates on this machine only")
    made = Made({}, [], [], [])
    figures = {figure.PART: figure for figure in (figure_5, figure_6)}
    collect = live.collect if options.live else runs.collect
    collected = collect(options, line) if any(str(part) in figures for part in parts) else None
    for part in parts:
        name = str(part)
        module: Any = figures.get(name, weak_cases)
        found = module.measure(*collected) if name in figures and collected else weak_cases.measure(options, line)
        made.parts[name] = found
        made.stated.extend(module.compare(found))
        made.cards.extend(module.cards(found))
        conventions = LIVE_CONVENTIONS if options.live else CONVENTIONS[name]
        made.conventions.extend(text for text in conventions if text not in made.conventions)
    if collected and collected[1]:
        made.conventions.append(f"ns-3 is left out: {collected[1]}.")
    if collected and options.live:
        made.conventions.extend(live.left_out())
    made.cards.append({"title": "Not made again", "note": "Figures 1 to 4 are drawings.", "plots": []})
    return made
