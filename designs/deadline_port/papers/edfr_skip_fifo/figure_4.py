"""Figure 4: how long packets of long-lived connections are buffered, by their TCP's own round trip, and by the port's clock."""

from collections.abc import Callable
from typing import Any

from penstock.designs.deadline_port.papers.edfr_skip_fifo import live
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_findings import (
    Card,
    Found,
    apart,
    distribution,
    finding,
    findings_card,
    identity,
    mean,
    runs_of,
    text,
)
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_runs import (
    FIFO,
    FIFO_MS,
    FIFOS,
    FIXED_MS,
    IN_NS3,
    PORT,
    Case,
    Length,
    Place,
    Run,
    run_all,
)
from penstock.papers import Options
from penstock.papers.comparison import entry

PART = "figure 4"
SHORT, FULL = Length(7, 3, 3), Length(600, 100, 3)
LIVE_SHORT = Length(25, 10, 3)
DEADLINES, FULL_DEADLINES = (30, 60, 100, 120), (30, 50, 60, 80, 100, 120)  # ms, of one group; the other has 100
WITHIN = 0.99  # of the samples, so that delays are said to be within the deadline
LATE_MS = 0.001  # of a packet that is said to leave in time
ALIKE = 0.5  # the distance to the shared FIFO's distribution is so much of that between the FIFOs' at most
BLOCKED_MS = 200.0  # the paper: with two FIFOs
NOTHING = "There was no sample."


def cases(full: bool) -> list[Case]:
    """Return what is run."""
    edfr = [Case("long", PORT, (ms, FIXED_MS)) for ms in (FULL_DEADLINES if full else DEADLINES)]
    return [*edfr, Case("long", FIFOS), Case("long", FIFO)]


def measure(options: Options, show: Callable[[str], None]) -> Found:
    """Return the distribution of each case and class, and the findings."""
    chosen, length = cases(options.full), FULL if options.full else LIVE_SHORT if options.live else SHORT
    if options.live:
        return summary(chosen, live.run_all(chosen, length, options.seed), length, live.LIVE)
    return summary(chosen, run_all(chosen, length, options.seed, show), length)


def summary(chosen: list[Case], runs: list[list[Run]], length: Length, place: Place = IN_NS3) -> Found:
    """Return what the runs say. Distributions are of the samples of all runs of a case; intervals are of the runs' own quantiles."""
    found: list[Found] = []
    for case, own_runs in zip(chosen, runs, strict=True):
        classes = []
        for own in range(2):
            each, deadline = [run.buffering_ms(own) for run in own_runs], case.deadlines[own]
            delays = [delay for one in each for delay in one]
            sums = [run.sums(own) for run in own_runs]
            quantiles = [distribution(one)["ms"] for one in each if one]
            within = round(sum(delay <= deadline for delay in delays) / len(delays), 4) if delays and case.scheduler == PORT else None
            classes.append({
                "deadline_ms": deadline if case.scheduler == PORT else None, "distribution": distribution(delays), "samples": len(delays),
                "median_ms": mean([one[50] for one in quantiles]), "p99_ms": mean([one[99] for one in quantiles]),
                "most_ms": max(delays, default=None), "within": within,
                "longest_wait_ms": round(max(run.longest_ms[own] for run in own_runs), 6),
                **{key: mean([one[key] for one in sums]) for key in ("mbps", "dropped_percent")},
            })  # fmt: skip
        together = mean([run.sums(0)["mbps"] + run.sums(1)["mbps"] for run in own_runs])
        found.append({**identity(case, own_runs), "classes": classes, "together_mbps": together})
    said = {"seconds": length.seconds, "from_s": length.begins, "runs": length.runs, "place": place.words}
    return {**said, "cases": found, "findings": _findings(chosen, runs, found)}


def _findings(chosen: list[Case], runs: list[list[Run]], found: list[Found]) -> list[Found]:
    made = []
    edfr = [(case["words"], own) for case in found if case["scheduler"] == PORT for own in case["classes"]]
    heard = [one for one in edfr if one[1]["samples"]]  # a live connection may fail
    waits = max(own["longest_wait_ms"] - own["deadline_ms"] for _, own in edfr)
    holds, ours = None, NOTHING
    if heard:
        worst, least = min(heard, key=lambda one: one[1]["within"])
        above = max(own["most_ms"] - own["deadline_ms"] for _, own in heard)
        holds = None if least["within"] >= WITHIN and len(heard) < len(edfr) else least["within"] >= WITHIN
        ours = (
            f"At least {100 * least['within']:.1f} % of the samples of a class ({worst}, {least['deadline_ms']:g} ms); the highest is "
            f"{abs(above):.1f} ms {'above' if above > 0 else 'below'} its deadline. These are round trips as TCP has them, in which the "
            "queue of its host's own link and delayed acknowledgements are, too."
        ) + (f" {len(edfr) - len(heard)} of {len(edfr)} classes have no sample." if len(heard) < len(edfr) else "")
    made.append(finding("On all deadline combinations all buffer delays fall within the requested ranges.", holds, ours))
    made.append(finding(
        "Per-packet deadlines are realised.", waits <= LATE_MS if heard else None,
        NOTHING if not heard else
        f"By the port's clock the longest wait of a packet is {abs(waits) * 1e3:,.1f} us {'past' if waits > 0 else 'below'} its deadline.",
    ))  # fmt: skip
    delays = {}
    for case, own_runs in zip(chosen, runs, strict=True):
        name = case.words if case.scheduler == PORT else case.scheduler
        delays[name] = [delay for run in own_runs for own in range(2) for delay in run.buffering_ms(own)]
    fifos = next(case for case in found if case["scheduler"] == FIFOS)
    most = _most(fifos)
    made.append(finding(
        f"Two FIFOs that block each other: the delay increases to {BLOCKED_MS:g} ms.",
        None if most is None else abs(most / BLOCKED_MS - 1) <= 0.1,
        NOTHING if most is None else
        f"{most:.0f} ms at most, {text(fifos['classes'][0]['p99_ms'], 0)} and {text(fifos['classes'][1]['p99_ms'], 0)} ms at 99 %.",
    ))  # fmt: skip
    same, one, two = delays[Case("long", PORT, (FIXED_MS, FIXED_MS)).words], delays[FIFO], delays[FIFOS]
    holds, ours = None, NOTHING
    if same and one and two:
        near, far = apart(same, one), apart(same, two)
        holds, ours = near <= ALIKE * far, f"Largest difference of the distributions: {near:.2f} to one FIFO, {far:.2f} to two."
    claim = "EDFR 100-100 is similar to one shared FIFO and not to two FIFOs: it works like a single FIFO."
    return [*made, finding(claim, holds, ours)]


def _most(case: Found) -> float | None:
    """Return the longest delay of both classes; None: there was no sample."""
    return max((own["most_ms"] for own in case["classes"] if own["most_ms"] is not None), default=None)


def compare(found: Found) -> list[dict[str, Any]]:
    """Return the stated number beside ours."""
    fifos = next(case for case in found["cases"] if case["scheduler"] == FIFOS)
    most = _most(fifos)
    return [entry(PART, "two FIFOs: longest buffering delay", "ms", BLOCKED_MS, most, note='paper: "the delay increased to 200 ms"')]


def cards(found: Found) -> list[Card]:
    """Return the page's cards."""
    plots = []
    for case in found["cases"]:
        traces = []
        for own, cls in enumerate(case["classes"]):
            name = f"{cls['deadline_ms']:g} ms" if cls["deadline_ms"] else f"class {own + 1}"
            traces.append({
                "type": "scatter", "mode": "lines", "name": name if case["deadlines_ms"] != [FIXED_MS] * 2 else f"{name}, class {own + 1}",
                "colour": own, "x": cls["distribution"]["ms"], "y": cls["distribution"]["share"],
            })  # fmt: skip
            if cls["deadline_ms"]:
                traces.append({
                    "type": "scatter", "mode": "lines", "name": f"deadline, {cls['deadline_ms']:g} ms", "colour": own,
                    "line": {"dash": "dot", "width": 1}, "x": [cls["deadline_ms"]] * 2, "y": [0, 1], "showlegend": False,
                })  # fmt: skip
        axes = {"x": {"title": "buffering delay, ms", "range": [0, 220]}, "y": {"title": "share of the samples", "range": [0, 1]}}
        plots.append({"title": case["words"], "traces": traces, **axes})
    head = ["queue", "class", "deadline, ms", "median, ms", "99 %", "most", "longest wait in the port, ms", "Mbit/s", "dropped, %"]
    table = [head]
    for case in found["cases"]:
        for own, cls in enumerate(case["classes"]):
            deadline = f"{cls['deadline_ms']:g}" if cls["deadline_ms"] else "-"
            most = "-" if cls["most_ms"] is None else f"{cls['most_ms']:.1f}"
            table.append([
                case["words"], str(own + 1), deadline, text(cls["median_ms"]), text(cls["p99_ms"]), most,
                f"{cls['longest_wait_ms']:.3f}", text(cls["mbps"]), text(cls["dropped_percent"], 2),
            ])  # fmt: skip
    note = (
        f"Smoothed round trip of TCP less the links', each second of each of 18 connections from {found['from_s']:g} to "
        f"{found['seconds']:g} s of {runs_of(found)}; {found['place']}; dotted: deadlines. FIFOs hold {FIFO_MS:.0f} ms each."
    )
    waits = (
        f"Means of {runs_of(found)}, +- 95 %; most: of all. The wait is that of packets that were sent, "
        "from their arrival to their first bit on the line, by the device's clock"
        + ("; of whole runs." if any(case["clocks"] for case in found["cases"]) else ".")
    )
    return [
        {"title": "Figure 4: buffering delay", "note": note, "plots": plots},
        {"title": "Figure 4 in numbers", "note": waits, "table": table},
        findings_card(4, found, "What the text says of the figure; the CDFs themselves have no numbers.", _words(found)),
    ]


def _words(found: Found) -> list[tuple[str, str]]:
    total = [case["together_mbps"][0] for case in found["cases"]]
    return [
        ("How it is judged", f"Within the deadline: {100 * WITHIN:g} % of the samples of each class. Similar: the difference to the shared "
         f"FIFO is at most {ALIKE:g} of that to the two FIFOs. 200 ms: to a tenth."),
        ("Throughput", f"{min(total):.1f} to {max(total):.1f} Mbit/s of IP in all: the queue makes no difference to the sum."),
        *live.words(found),
    ]  # fmt: skip
