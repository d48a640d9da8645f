"""All runs of figures 5 and 6: each kind of senders in front of each way to manage the queue, with one or more seeds."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from penstock.designs.p4_switch.papers.p4_codel import ns3
from penstock.designs.p4_switch.papers.p4_codel.experiments import (
    SENDERS,
    SYSTEMS,
    Run,
    Senders,
    Setting,
    burst,
    least_throughput,
    measured,
    run,
)
from penstock.designs.p4_switch.papers.p4_codel.stated import PACKETS
from penstock.papers import Options
from penstock.switch_sim.measure import mean_and_ci95

SECONDS, FULL_SECONDS, FULL_RUNS = 30.0, 30.0, 5  # the paper's runs last 10 s
AFTER_S = 10.0  # from then on delays and rates count: the burst of 16 connections is over after 6 s

HOLDS, FAILS = "holds", "does not"
Line = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Group:
    """The runs of some senders in front of one system; `facts` has for each run what was measured."""

    senders: Senders
    system: str
    words: str
    first: Run
    facts: list[dict[str, float | None]]
    clock: dict[str, float] | None = None  # of live runs: how far they were from real time

    def mean(self, key: str) -> list[float | None]:
        """Return the mean over runs and half its 95 % interval (None with one run)."""
        return [None if value is None else round(value, 4) for value in mean_and_ci95([fact[key] for fact in self.facts])]

    def config(self) -> dict[str, Any]:
        """Return who it is and what was measured, for result.json."""
        measured_means = {key: self.mean(key) for key in self.facts[0]}
        return {
            "senders": self.senders.name,
            "system": self.system,
            "words": self.words,
            **measured_means,
            "claims": self.claims(),
            "clock": self.clock,
        }

    def claims(self) -> dict[str, str]:
        """Return in how many runs each of the paper's claims holds."""
        return {name: _verdict(judge(fact) for fact in self.facts) for name, judge in CLAIMS.items()}


def _verdict(held: Iterable[bool]) -> str:
    known = list(held)
    return HOLDS if all(known) else FAILS if not any(known) else f"in {sum(known)} of {len(known)} runs"


def _at_most(value: float | None, most: float) -> bool:
    return value is not None and value <= most


CLAIMS: dict[str, Callable[[dict[str, float | None]], bool]] = {
    "falls": lambda fact: _at_most(fact["longest_above_s"], 1.0),
    "burst": lambda fact: _at_most(fact["burst_over_s"], 1.0),
    "rate": lambda fact: (fact["packets_per_second"] or 0.0) >= 0.99 * PACKETS,
}


def facts_of(found: Run) -> dict[str, float | None]:
    """Return what is measured of a run."""
    drops = {"dropped_percent": 100 * found.dropped / max(1, len(found.time_s) + found.dropped + found.full), "full": float(found.full)}
    return {**measured(found, AFTER_S), **burst(found), "least_per_second": least_throughput(found, AFTER_S), **drops}


def collect(options: Options, line: Line) -> tuple[list[Group], str | None]:
    """Return all groups, and why ns-3 is left out (None: it is not). Raises UserError, RunError, KeyboardInterrupt."""
    count, seconds = (FULL_RUNS, FULL_SECONDS) if options.full else (1, SECONDS)
    seeds = [options.seed + number for number in range(count)]
    groups = []
    without = ns3.missing()
    for senders in SENDERS:
        for system in SYSTEMS:
            words = f"{senders.words}, {system.words}"
            groups.append(_group(senders, system.name, system.words, [
                run(system, senders, seed, seconds, Setting(), f"{words}, run {number + 1} of {count}") for number, seed in enumerate(seeds)
            ]))  # fmt: skip
        if without is None:
            with line(senders.name) as show:
                found = []
                for number, seed in enumerate(seeds):
                    show(f"{senders.words}, {ns3.WORDS}, run {number + 1} of {count}")
                    found.append(ns3.run(senders, seed, seconds, Setting()))
            groups.append(_group(senders, ns3.NAME, ns3.WORDS, found))
    return groups, without


def _group(senders: Senders, name: str, words: str, found: list[Run]) -> Group:
    return Group(senders, name, words, found[0], [facts_of(one) for one in found])
