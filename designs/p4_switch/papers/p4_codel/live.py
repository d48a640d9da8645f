"""Figures 5 and 6 with TCP of the kernel (`--live`): the same systems in real time, between network namespaces of this machine."""

from collections.abc import Callable, Sequence
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
from penstock.designs.p4_switch.papers.p4_codel.experiments import SENDERS as ALL_SENDERS
from penstock.designs.p4_switch.papers.p4_codel.runs import Group, facts_of
from penstock.designs.p4_switch.papers.p4_codel.stated import FRAME, PACKETS, ROUND_TRIP_US
from penstock.live import bulk, kernel_queue
from penstock.papers import Options
from penstock.paths import ROOT

SECONDS, FULL_SECONDS, FULL_RUNS = 20.0, 60.0, 3  # by the machine's clock
SENDERS = tuple(senders for senders in ALL_SENDERS if senders.flows)
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

KERNEL, KERNEL_WORDS = "kernel_codel", "CoDel of the Linux kernel"
Line = Callable[[str], AbstractContextManager[Any]]


def collect(options: Options, line: Line) -> tuple[list[Group], str | None]:
    """Return all groups, and why ns-3 is left out (None: it is not). Raises UserError, ToolError, RunError, KeyboardInterrupt."""
    count, seconds = (FULL_RUNS, FULL_SECONDS) if options.full else (1, SECONDS)
    seeds = [options.seed + number for number in range(count)]
    without, kernel = ns3.missing(), kernel_queue.missing() is None
    groups = []
    for senders in SENDERS:
        for system in SYSTEMS:
            runs, results = zip(*(_run(system, senders, seed, seconds) for seed in seeds), strict=True)
            groups.append(Group(senders, system.name, system.words, runs[0], [facts_of(one) for one in runs], clock_of(results, seconds)))
        if kernel:
            runs, results = zip(*(_through_kernel(senders, seed, seconds) for seed in seeds), strict=True)
            groups.append(Group(senders, KERNEL, KERNEL_WORDS, runs[0], [facts_of(one) for one in runs], clock_of(results, seconds)))
        if without is None:
            with line(senders.name) as show:
                show(f"{senders.words}, {ns3.WORDS}")
                found = [ns3.run(senders, seed, seconds, Setting()) for seed in seeds]
            groups.append(Group(senders, ns3.NAME, ns3.WORDS, found[0], [facts_of(one) for one in found]))
    return groups, without


def _run(system: Live, senders: Senders, seed: int, seconds: float) -> tuple[Run, dict[str, Any]]:
    """Return what left, and the result."""
    path = ROOT / SCENARIOS / f"{system.scenario}.yaml"
    settings = [*system.settings, f"duration={round(1e6 * seconds)} us"]
    found = bulk.run(path, settings, system.engine, seed, senders.flows, ALGORITHM, seconds)
    dropped = found.result["packets"]["dropped"]
    full = sum(count for reason, count in dropped.items() if reason.startswith("tail_drop"))
    return Run(found.time_s, found.sojourn_ms, seconds, sum(dropped.values()) - full, full), found.result


def _through_kernel(senders: Senders, seed: int, seconds: float) -> tuple[Run, dict[str, Any]]:
    """Return what left a queue of the kernel, and the result."""
    rate = round(8 * FRAME * PACKETS)
    found = kernel_queue.run(kernel_queue.CODEL, rate, ROUND_TRIP_US, seed, senders.flows, ALGORITHM, seconds)
    return Run(found.time_s, found.sojourn_ms, seconds, found.result["kernel_dropped"], 0), found.result


def left_out() -> list[str]:
    """Say what is not among the systems, and why."""
    why = kernel_queue.missing()
    return [f"{KERNEL_WORDS} is left out: {why}."] if why else []


def clock_of(results: Sequence[dict[str, Any]], seconds: float) -> dict[str, float]:
    """Return how far runs were from real time: the worst of them, and the share of all their time in which the device stood still."""
    return {
        "behind_p99_ms": max(result["behind_real_time_ms"]["p99"] for result in results),
        "late_p99_ms": max(result["let_go_late_ms"]["p99"] for result in results),
        "stood_still": round(sum(result["stood_still_ms"] for result in results) / (1e3 * seconds * len(results)), 4),
    }


def words(groups: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Say what this machine has made of live runs; nothing of others."""
    clocks = [group for group in groups if group["clock"]]
    if not clocks:
        return []
    still = [group for group in clocks if group["clock"]["stood_still"] > bulk.STILL_SHARE]
    late = max(group["clock"]["late_p99_ms"] for group in clocks if group not in still) if len(still) < len(clocks) else None
    said = "" if late is None else f"Frames were let go {late:.1f} ms late at 99 % in the worst of the runs that kept real time. "
    said += " ".join(
        f"{group['senders']}, {group['words']}: the device stood still for {100 * group['clock']['stood_still']:.0f} % of the time, so "
        "these figures are this machine's, not the queue's."
        for group in still
    )
    return [("This machine", said.strip() or "All runs kept real time.")]
