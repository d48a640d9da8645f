"""Papaphilippou, Meng, Luk: High-Performance FPGA Network Switch Architecture, FPGA 2020.

`penstock paper fpga-network-switch`: its simulations on the slot simulator, its hardware figures from blocks/fabric. docs/papers.md.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from penstock.papers import Made, Options, Part

TITLE = "High-Performance FPGA Network Switch Architecture (FPGA 2020)"
FIGURES = (7, 9, 10, 11, 12)
TABLES = (1,)
NOT_MADE: dict[str, str] = {}


def make(parts: list[Part], options: Options, bar: Callable[[str], AbstractContextManager[Any]], line: Callable[[str], Any]) -> Made:
    """Make `parts`. `bar(name)` yields a function for slots done and in all, `line(name)` one for a text, for the terminal."""
    from penstock.designs.frame_switch.papers.fpga_network_switch import cards, compare, hardware, hardware_cards, simulations
    from penstock.designs.frame_switch.papers.fpga_network_switch.conventions import CONVENTIONS

    made = Made({}, [], [], [])
    for part in parts:
        name = str(part)
        if name == "figure 7":
            found: Any = simulations.latency(options, bar)
            made.stated.extend(compare.of_latency(found))
            made.cards.extend(cards.latency(found))
        elif name == "figure 9":
            found = simulations.drops(options, bar)
            made.stated.extend(compare.of_drops(found))
            made.cards.extend(cards.drops(found))
        elif name == "figure 10":
            with line(name) as show:
                found = hardware.area(options, show)
            made.stated.extend(compare.of_area(found))
            made.cards.extend(hardware_cards.area(found))
        elif name == "figure 11":
            with line(name) as show:
                found = hardware.speed(options, show)
            made.stated.extend(compare.of_speed(found))
            made.cards.extend(hardware_cards.speed(found))
        elif name == "figure 12":
            found = hardware.rivals()
            made.stated.extend(compare.of_rivals(found))
            made.cards.extend(hardware_cards.rivals(found))
        else:
            with line(name) as show:
                found = hardware.table(options, show)
            made.stated.extend(compare.of_table(found))
            made.cards.extend(hardware_cards.table(found))
        made.parts[name] = found
        made.conventions.extend(text for text in CONVENTIONS[name] if text not in made.conventions)
    return made
