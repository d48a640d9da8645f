"""Figure 7: latency over time of three TCP connections through CoDel, in hardware and elsewhere. TCP is the kernel's, in real time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge.papers.massive_qos_queueing.experiments import SCENARIOS
from penstock.live import bulk, kernel_queue
from penstock.papers import Options, ns3, ns3_codel
from penstock.papers.comparison import entry
from penstock.paths import ROOT

PART = "figure 7"
FLOWS, ALGORITHM = 3, "cubic"
TARGET_MS = 5.0
SECONDS, FULL_SECONDS = 20.0, 60.0
AFTER_S = 5.0  # from then on figures count: the first burst is over
BIN_S = 0.05
PERIOD_S = 1.0  # "periodically": at least so often


@dataclass(frozen=True)
class System:
    """A queue: what it is called, the engine that it runs on, and what is changed in the scenario."""

    name: str
    words: str
    engine: str
    settings: tuple[str, ...] = ()
    scenario: str = "figure_7"


NO_CODEL = ("queues.bottleneck.aqm.target=400 ms", "queues.bottleneck.aqm.interval=400 ms")  # no packet can wait that long
SYSTEMS = (
    System("rtl", "CoDel in hardware: the RTL", "rtl"),
    System("model", "its model", "model"),
    System("p4", "CoDel in P4, drops charged", "model", scenario="figure_7_p4"),
    System("tail_drop", "the same queue without CoDel", "model", NO_CODEL),
)
NS3 = System("ns3", ns3_codel.WORDS, "ns-3")  # not in real time
KERNEL = (  # by the words in which tc is told
    (System("kernel", "CoDel of the Linux kernel", "kernel"), kernel_queue.CODEL),
    (System("kernel_tail_drop", "a queue of the Linux kernel without CoDel", "kernel"), "pfifo limit 400"),
)
WITHOUT_CODEL = ("tail_drop", "kernel_tail_drop")
RATE, FRAME_BYTES, ROUND_TRIP_US = 24_000_000, 1514, 20_000


def measure(options: Options, show: Callable[[str], None]) -> dict[str, Any]:
    """Return what each system did. Raises UserError, ToolError, RunError, KeyboardInterrupt."""
    seconds = FULL_SECONDS if options.full else SECONDS
    systems = []
    for system in SYSTEMS:
        show(system.words)
        settings = [*system.settings, f"duration={round(1e6 * seconds)} us"]
        path = ROOT / SCENARIOS / f"{system.scenario}.yaml"
        found = bulk.run(path, settings, system.engine, options.seed, FLOWS, ALGORITHM, seconds)
        clock = {key: found.result[key] for key in ("behind_real_time_ms", "let_go_late_ms", "stood_still_ms")}
        dropped = sum(found.result["packets"]["dropped"].values())
        systems.append(facts(system, found.time_s, found.sojourn_ms, found.length, dropped, seconds) | clock)
    without = ns3.missing()
    if without is None:
        show(NS3.words)
        simulated = ns3_codel.run(ns3_codel.CUBIC, FLOWS, RATE / 8 / FRAME_BYTES, ROUND_TRIP_US, seconds, options.seed)
        lengths = np.full(len(simulated.time_s), FRAME_BYTES)
        dropped = simulated.dropped + simulated.full
        systems.append(facts(NS3, simulated.time_s, simulated.delay_ms, lengths, dropped, seconds))
    without_kernel = []
    for system, queue in KERNEL:
        if why := kernel_queue.missing(queue):
            without_kernel.append(f"{system.words}: {why}")
            continue
        show(system.words)
        found = kernel_queue.run(queue, RATE, ROUND_TRIP_US, options.seed, FLOWS, ALGORITHM, seconds)
        clock = {key: found.result[key] for key in ("behind_real_time_ms", "let_go_late_ms", "stood_still_ms")}
        dropped = found.result["kernel_dropped"]
        systems.append(facts(system, found.time_s, found.sojourn_ms, found.length, dropped, seconds) | clock)
    times = {"seconds": seconds, "bin_s": BIN_S, "after_s": AFTER_S}
    return {**times, "systems": systems, "without_ns3": without, "without_kernel": without_kernel}


def facts(
    system: System, time_s: NDArray[np.float64], sojourn_ms: NDArray[np.float64], length: NDArray[np.int64], dropped: int, seconds: float
) -> dict[str, Any]:
    """Return what is said of a queue, by the packets that left it."""
    late = (time_s >= AFTER_S) & (time_s <= seconds)
    time, delay = time_s[late], sojourn_ms[late]
    return {
        "system": system.name,
        "words": system.words,
        "engine": system.engine,
        "settings": list(system.settings),
        "mean_ms": round(float(delay.mean()), 3),
        "p50_ms": round(float(np.median(delay)), 3),
        "p99_ms": round(float(np.quantile(delay, 0.99)), 3),
        "below_target_percent": round(100 * float((delay < TARGET_MS).mean()), 2),
        "longest_above_s": round(longest_above(time, delay, AFTER_S, seconds), 3),
        "carried_mbps": round(8e-6 * float(length[late].sum()) / (seconds - AFTER_S), 4),
        "dropped": dropped,
        "over_time": over_time(time_s, sojourn_ms, seconds),
    }


def longest_above(time_s: NDArray[np.float64], delay_ms: NDArray[np.float64], after: float, until: float) -> float:
    """Return the longest time in which no packet left that had waited less than the target."""
    return float(np.diff(np.concatenate([[after], time_s[delay_ms < TARGET_MS], [until]])).max())


def over_time(time_s: NDArray[np.float64], delay_ms: NDArray[np.float64], seconds: float) -> dict[str, list[float | None]]:
    """Return the mean delay of each `BIN_S`."""
    bins = round(seconds / BIN_S)
    at = np.minimum((time_s / BIN_S).astype(np.int64), bins - 1)
    count, total = np.bincount(at, minlength=bins), np.bincount(at, weights=delay_ms, minlength=bins)
    return {
        "time_s": [round((number + 0.5) * BIN_S, 4) for number in range(bins)],
        "delay_ms": [round(float(sum_) / int(n), 3) if n else None for sum_, n in zip(total, count, strict=True)],
    }


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stated number beside ours."""
    note = "paper: the desired value, below which the latency falls periodically"
    return [
        entry(PART, f"{system['words']}: median latency", "ms", TARGET_MS if system["system"] not in WITHOUT_CODEL else None,
              system["p50_ms"], note=note if system["system"] not in WITHOUT_CODEL else "")
        for system in found["systems"]
    ]  # fmt: skip


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's cards."""
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "lines", "name": system["words"], "colour": place,
            "x": system["over_time"]["time_s"], "y": system["over_time"]["delay_ms"],
        }
        for place, system in enumerate(found["systems"])
    ]  # fmt: skip
    traces.append({
        "type": "scatter", "mode": "lines", "name": "target", "colour": len(traces), "line": {"dash": "dot"},
        "x": [0, found["seconds"]], "y": [TARGET_MS, TARGET_MS],
    })  # fmt: skip
    plot = {
        "title": "", "traces": traces, "x": {"title": "time, s"},
        "y": {"title": "latency, ms", "type": "log", "tickformat": "~g"},
    }  # fmt: skip
    head = ["queue", "mean, ms", "median", "99 %", "below 5 ms, %", "longest above, s", "Mbit/s", "dropped"]
    rows = [
        [
            system["words"], f"{system['mean_ms']:.2f}", f"{system['p50_ms']:.2f}", f"{system['p99_ms']:.2f}",
            f"{system['below_target_percent']:.1f}", f"{system['longest_above_s']:.2f}", f"{system['carried_mbps']:.2f}",
            f"{system['dropped']:,}",
        ]
        for system in found["systems"]
    ]  # fmt: skip
    note = f"Three TCP connections (CUBIC of this machine's kernel) through 24 Mbit/s, mean of each {1e3 * found['bin_s']:g} ms."
    return [
        {"title": "Figure 7: latency with CoDel", "note": note, "plots": [plot], "words": words(found)},
        {"title": "Figure 7 in numbers", "note": f"From {found['after_s']:g} s on.", "table": [head, *rows]},
    ]


def words(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the paper states, what came out, and what this machine adds."""
    codel = [system for system in found["systems"] if system["system"] not in WITHOUT_CODEL]
    falls = "; ".join(
        f"{system['words']}: median {system['p50_ms']:.1f} ms, {system['below_target_percent']:.0f} % below, never above for longer than "
        f"{system['longest_above_s']:.1f} s"
        for system in codel
    )
    held = all(system["longest_above_s"] <= PERIOD_S for system in codel)
    live = [system for system in found["systems"] if "stood_still_ms" in system]
    still = {system["words"]: system["stood_still_ms"] / 1e3 / found["seconds"] for system in live}
    clocks = "; ".join(
        f"{system['words']}: at most {system['behind_real_time_ms']['max']:.1f} ms behind real time, frames let go "
        f"{system['let_go_late_ms']['p99']:.1f} ms late at 99 %"
        for system in live
    )
    disturbed = "".join(
        f" {name}: the device stood still for {100 * share:.0f} % of the time, so these figures are this machine's, not the queue's."
        for name, share in still.items()
        if share > bulk.STILL_SHARE
    )
    left_out = [f"ns-3's CoDel: {found['without_ns3']}."] if found.get("without_ns3") else []
    left_out += [f"{why[:1].upper()}{why[1:]}." for why in found.get("without_kernel", [])]
    return [
        ("The paper", "The latency falls below the desired value of 5 ms periodically, as with CoDel of the Linux kernel."),
        ("Here", f"{falls}. It falls below {TARGET_MS:g} ms at least once in {PERIOD_S:g} s: {'yes' if held else 'not always'}."),
        *([("This machine", f"{clocks}.{disturbed}")] if live else []),
        *([("Left out", " ".join(left_out))] if left_out else []),
    ]
