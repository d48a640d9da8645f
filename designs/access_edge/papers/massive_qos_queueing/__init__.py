"""Kundel et al.: Massive QoS-aware Packet Queueing and Traffic Shaping at the Access Edge using FPGAs, NOMS 2025.

`penstock paper massive-qos-queueing`: experiments are scenarios on the model engine, resources come from synthesis. docs/papers.md.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from penstock.errors import UserError
from penstock.papers import Made, Options, Part

TITLE = "Massive QoS-aware Packet Queueing and Traffic Shaping at the Access Edge using FPGAs (NOMS 2025)"
FIGURES = (4, 5, 6, 7)
TABLES = (1, 3)
NOT_MADE = {"table 2": "(energy) needs a card in a server"}
LIVE = ("figure 7",)
LIVE_ONLY = LIVE  # it is made in no other way, so only when it is asked for


def make(parts: list[Part], options: Options, _bar: Callable[[str], Any], line: Callable[[str], AbstractContextManager[Any]]) -> Made:
    """Make `parts`. `line(name)` yields a function for a text, for the terminal; runs show their own progress."""
    from penstock.designs.access_edge.papers.massive_qos_queueing import figure_4, figure_5, figure_6, figure_7, table_1, table_3
    from penstock.designs.access_edge.papers.massive_qos_queueing.conventions import CONVENTIONS

    if options.cluster is not None:
        raise UserError(f"--cluster {options.cluster}: massive-qos-queueing has nothing to simulate on a cluster")
    made = Made({}, [], [], [])
    for part in parts:
        name = str(part)
        shown = {part.PART: part for part in (table_1, table_3, figure_7)}
        if name in shown:
            module: Any = shown[name]
            with line(name) as show:
                found = module.measure(options, show)
        else:
            module = {figure.PART: figure for figure in (figure_4, figure_5, figure_6)}[name]
            found = module.measure(options)
        made.parts[name] = found
        made.stated.extend(module.compare(found))
        made.cards.extend(module.cards(found))
        made.conventions.extend(text for text in CONVENTIONS[name] if text not in made.conventions)
    made.cards.append({"title": "Not made again", "note": "Figures 1 to 3 are drawings.", "plots": [], "words": list(NOT_MADE.items())})
    return made
