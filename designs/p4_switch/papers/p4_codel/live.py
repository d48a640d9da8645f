"""Figures 5 and 6 with TCP of the kernel (`--live`): the same systems in real time, between network namespaces of this machine."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from penstock.designs.p4_switch.papers.p4_codel import ns3
from penstock.designs.p4_switch.papers.p4_codel.experiments import (
    P4_CODEL,
    RTL_CODEL,
    SCENARIOS,
    TAIL_DROP,
    Run,
    Senders,
    Setting,
)
from penstock.designs.p4_switch.papers.p4_codel.runs import Group, facts_of
from penstock.live import bulk
from penstock.papers import Options
from penstock.paths import ROOT

SECONDS, FULL_SECONDS, FULL_RUNS = 20.0, 60.0, 3  # by the machine's clock
SENDERS = (Senders("1 TCP", "one TCP connection", 1), Senders("4 TCP", "4 TCP connections", 4))
FULL_SENDERS = (*SENDERS, Senders("16 TCP", "16 TCP connections", 16))
ALGORITHM = "cubic"


@dataclass(frozen=True)
class Live:
    """A way to manage the queue: a live scenario, the engine that it runs on, and what is changed in it."""

    name: str
    words: str
    scenario: str
    engine: str
    settings: tuple[str, ...] = ()


SYSTEMS = (
    Live(TAIL_DROP.name, TAIL_DROP.words, "live_router", "model", TAIL_DROP.settings),
    Live(P4_CODEL.name, P4_CODEL.words, "live_router", "model", P4_CODEL.settings),
    Live(RTL_CODEL.name, f"{RTL_CODEL.words}, the RTL itself", "live_edge", "rtl"),
    Live("edge_model", "its model", "live_edge", "model"),
)

Line = Callable[[str], AbstractContextManager[Any]]


def collect(options: Options, line: Line) -> tuple[list[Group], str | None]:
    """Return all groups, and why ns-3 is left out (None: it is not). Raises UserError, ToolError, RunError, KeyboardInterrupt."""
    count, seconds = (FULL_RUNS, FULL_SECONDS) if options.full else (1, SECONDS)
    seeds = [options.seed + number for number in range(count)]
    without = ns3.missing()
    groups = []
    for senders in FULL_SENDERS if options.full else SENDERS:
        for system in SYSTEMS:
            found = [_run(system, senders, seed, seconds) for seed in seeds]
            groups.append(Group(senders, system.name, system.words, found[0], [facts_of(one) for one in found]))
        if without is None:
            with line(senders.name) as show:
                show(f"{senders.words}, {ns3.WORDS}")
                found = [ns3.run(senders, seed, seconds, Setting()) for seed in seeds]
            groups.append(Group(senders, ns3.NAME, ns3.WORDS, found[0], [facts_of(one) for one in found]))
    return groups, without


def _run(system: Live, senders: Senders, seed: int, seconds: float) -> Run:
    path = ROOT / SCENARIOS / f"{system.scenario}.yaml"
    settings = [*system.settings, f"duration={round(1e6 * seconds)} us"]
    found = bulk.run(path, settings, system.engine, seed, senders.flows, ALGORITHM, seconds)
    dropped = found.result["packets"]["dropped"]
    full = sum(count for reason, count in dropped.items() if reason.startswith("tail_drop"))
    return Run(found.time_s, found.sojourn_ms, seconds, sum(dropped.values()) - full, full)
