"""Section 4: what the paper's public program does where the paper has not looked, beside CoDel in our programs, in hardware and in ns-3."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from penstock.designs.p4_switch.papers.p4_codel import bbr, ns3, public
from penstock.designs.p4_switch.papers.p4_codel.experiments import (
    P4_CODEL,
    P4_FREE,
    P4_INGRESS,
    RTL_CODEL,
    TAIL_DROP,
    Run,
    Senders,
    Setting,
    System,
    measured,
    run,
)
from penstock.designs.p4_switch.papers.p4_codel.stated import BMV2, PACKETS, RFC, ROUND_TRIP_BMV2_US
from penstock.papers import Options, ns3_codel
from penstock.papers.comparison import entry

PART = "section 4"
SECONDS, AFTER_S = 30.0, 10.0
WRAP_S = 15.0  # after so long the clock wraps
NAMED = {"last_mean_ms": "mean delay after it", "mean_ms": "mean delay", "p95_ms": "95 % of the delays"}
LAST_S = 5.0  # what "at the end" is
SYSTEMS = (P4_CODEL, P4_INGRESS, P4_FREE, RTL_CODEL)
BBR = "bbr"
Facts = dict[str, float | None]


@dataclass(frozen=True)
class Case:
    """A weak case. `kind`: which figures say what is weak (`usual`, `growing`, `wrap`, `rate`)."""

    name: str
    words: str
    senders: Senders
    kind: str = "usual"
    setting: Setting = field(default_factory=lambda: Setting(round_trip_us=ROUND_TRIP_BMV2_US))
    algorithm: str = "cubic"
    published: str | None = None  # its figures in stated.BMV2, unless its own name
    only: tuple[str, ...] = ()  # systems; all unless given


def _wrap(bits: int) -> Setting:
    return Setting(round_trip_us=ROUND_TRIP_BMV2_US, clock_start_us=2**bits - round(1e6 * WRAP_S))


FOUR = Senders("4 TCP", "4 TCP connections", 4)
CASES = (
    Case("1 TCP", "one TCP connection", Senders("1 TCP", "one TCP connection", 1)),
    Case("4 TCP", "4 TCP connections", FOUR),
    Case("16 TCP", "16 TCP connections", Senders("16 TCP", "16 TCP connections", 16)),
    Case("4 BBR", "4 connections like BBR", Senders("4 BBR", "4 connections like BBR", 4), algorithm=BBR),
    Case("UDP 1.1", "1.1 times the rate, unresponsive", Senders("UDP 1.1", "unresponsive", load=1.1), kind="growing"),
    Case("wrap", "4 TCP, across 2^32 us", FOUR, kind="wrap", setting=_wrap(32), only=(public.NAME, "p4_codel", "p4_ingress", "p4_free")),
    Case(
        "wrap of 48 bits", "4 TCP, across 2^48 us", FOUR, kind="wrap", setting=_wrap(48), published="wrap",
        only=(public.NAME, "p4_codel", "p4_ingress", "p4_free"),
    ),
    Case("100/s", "4 TCP, a link of 100 packets/s", FOUR, kind="rate", setting=Setting(100, ROUND_TRIP_BMV2_US)),
    Case("tail drop", "4 TCP, tail drop", FOUR, only=(TAIL_DROP.name,)),
)  # fmt: skip


def facts_of(found: Run, kind: str) -> Facts:
    """Return what a run shows: all after the beginning, or before and after the clock's wrap, or the end."""
    last = measured(found, found.seconds - LAST_S)
    facts = {**measured(found, AFTER_S), "last_mean_ms": last["mean_ms"], "dropped": float(found.dropped), "full": float(found.full)}
    if kind == "wrap":
        before = measured(found, AFTER_S, WRAP_S)
        facts |= {"before_mean_ms": before["mean_ms"], "before_packets_per_second": before["packets_per_second"]}
    return facts


def text(facts: Facts, kind: str) -> str:
    """Say it in a cell."""

    def ms(key: str) -> str:
        value = facts[key]
        return "-" if value is None else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"

    rate = facts["packets_per_second"] or 0.0
    if kind == "growing":
        return f"{ms('mean_ms')} ms, at the end {ms('last_mean_ms')}; {rate:,.0f}"
    if kind == "wrap":
        return f"{ms('before_mean_ms')} ms, then {ms('last_mean_ms')}; {rate:,.0f}"
    if kind == "rate":
        return f"{ms('mean_ms')} ms; {rate:.1f}"
    return f"{ms('mean_ms')} / {ms('p95_ms')} ms; {rate:,.0f}"


def measure(options: Options, line: Callable[[str], AbstractContextManager[Any]]) -> dict[str, Any]:
    """Run every case in front of every system. Raises UserError, RunError, KeyboardInterrupt."""
    without = {public.NAME: public.missing(), ns3.NAME: ns3.missing()}
    theirs = [] if without[public.NAME] else [public.system()]
    cases = []
    for case in CASES:
        columns: dict[str, Facts] = {}
        for system in [*theirs, *SYSTEMS, TAIL_DROP]:
            if system.name not in case.only if case.only else system is TAIL_DROP:
                continue
            columns[system.name] = facts_of(_run(case, system, options, line), case.kind)
        if not case.only and without[ns3.NAME] is None:
            with line(PART) as show:
                show(f"{case.words}, {ns3.WORDS}")
                found = ns3.run(
                    case.senders, options.seed, SECONDS, case.setting, ns3_codel.BBR if case.algorithm == BBR else ns3_codel.CUBIC
                )
            columns[ns3.NAME] = facts_of(found, case.kind)
        cases.append({"case": case.name, "words": case.words, "kind": case.kind, "columns": columns})
    names = {system.name: system.words for system in (*theirs, *SYSTEMS, TAIL_DROP)} | {ns3.NAME: ns3.WORDS, public.NAME: public.WORDS}
    return {"seconds": SECONDS, "after_s": AFTER_S, "last_s": LAST_S, "without": without, "names": names, "cases": cases}


def _run(case: Case, system: System, options: Options, line: Callable[[str], AbstractContextManager[Any]]) -> Run:
    if case.algorithm == BBR:
        with line(PART) as show:
            return bbr.run(system, case.senders.flows, options.seed, SECONDS, case.setting, show)
    return run(system, case.senders, options.seed, SECONDS, case.setting, f"{case.words}, {system.words}")


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the public program did on bmv2 beside what it does in the P4 device."""
    lines = []
    for case in found["cases"]:
        published = next(one.published or one.name for one in CASES if one.name == case["case"])
        if case["case"] != published:
            continue
        ours = case["columns"].get(public.NAME) or case["columns"].get(TAIL_DROP.name)
        note = "ours: the same program in the P4 device" if case["case"] != "tail drop" else "ours: p4/router.p4 without AQM"
        if ours is None:
            note = f"left out: {found['without'][public.NAME]}"
        keys = ("last_mean_ms" if case["kind"] == "wrap" else "mean_ms", "p95_ms", "packets_per_second")
        for key, unit, paper in zip(keys, ("ms", "ms", "packets/s"), BMV2[published][1], strict=True):
            if paper is not None:
                what = NAMED.get(key, "throughput")
                value = None if ours is None else ours[key]
                lines.append(entry(PART, f"{case['words']}: {what}", unit, paper, None if value is None else round(value, 3), note=note))
    return lines


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's cards: what was measured of the public program, and what the others do."""
    first, second = ["case", "the public program on bmv2", "exact RFC 8289 there"], ["case"]
    named = [name for name in (public.NAME, *(system.name for system in SYSTEMS), ns3.NAME) if not found["without"].get(name)]
    second += [found["names"][name] for name in named]
    theirs, ours = [first], [second]
    for case in found["cases"]:
        if case["case"] in BMV2:
            theirs.append([case["words"], BMV2[case["case"]][0], RFC[case["case"]] or "-"])
        columns = case["columns"]
        if TAIL_DROP.name in columns:
            theirs[-1][2] = f"here: {text(columns[TAIL_DROP.name], case['kind'])}"
        else:
            ours.append([case["words"], *(text(columns[name], case["kind"]) if name in columns else "-" for name in named)])
    left = " ".join(f"{found['names'][name]} left out: {why}." for name, why in found["without"].items() if why)
    return [
        {
            "title": "Section 4: weak cases, as measured on bmv2",
            "note": f"Mean / 95 % of the delays; packets/s of {PACKETS:,}. Senders of a Linux kernel, a round trip of 4.8 ms.",
            "table": theirs,
        },
        {
            "title": "Section 4: weak cases here",
            "note": f"Mean / 95 % of the delays; packets/s. {found['seconds']:g} s, of which the first {found['after_s']:g} do not count; "
            f"at the end: the last {found['last_s']:g} s. {left}",
            "table": ours,
            "words": words(),
        },
    ]


def words() -> list[tuple[str, str]]:
    """Say why."""
    return [
        (
            "Drops that cost turns",
            "With drops charged a link that serves 2,000 packets serves so many less as egress drops. Of a sender that does not slow down "
            "the queue sheds nothing by that, so it grows by what is sent too much, whatever CoDel decides, until it is full.",
        ),
        (
            "The wrap",
            "The public program adds two numbers of 32 bits and keeps the sum in 48; after the wrap the clock is 71.6 minutes behind the "
            "next drop, and a queue that is never below the target waits for it. Ours takes the clock of 48 bits and compares modulo 2^48.",
        ),
        (
            "100 packets/s",
            "A packet takes 10 ms, twice the target, so every packet is late. The RFC does not drop the last one (MTU guard); the public "
            "program has no such guard.",
        ),
        (
            "Like BBR",
            "The engine's TCP has no BBR. These senders are BBRv1 by its Internet draft in Python, around the device held open: pacing, "
            "bandwidth and round-trip filters, its cycle of gains, probing of the round trip, packet conservation after losses; without "
            "delayed acknowledgements. ns-3 has a BBR of its own.",
        ),
    ]
