"""Figures 6 and 7: how long a second connection takes for its bytes while a first one fills the link, and how both get on."""

from collections.abc import Callable
from typing import Any

from penstock.designs.deadline_port.papers.edfr_skip_fifo import live
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_findings import (
    Card,
    Found,
    finding,
    findings_card,
    identity,
    mean,
    runs_of,
    text,
)
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_runs import (
    FIFO,
    IN_NS3,
    PORT,
    SECOND_FIXED_MS,
    Case,
    Length,
    Place,
    Run,
    run_all,
)
from penstock.papers import Options

PART, GROWTH = "figure 6", "figure 7"
SHORT, FULL = Length(40, 6, 1, megabytes=400), Length(400, 100, 20, megabytes=1500)
LIVE_SHORT, LIVE_FULL = Length(30, 8, 3, megabytes=15), Length(200, 100, 20, megabytes=36)
DEADLINES, FULL_DEADLINES = (30, 60, 120), (30, 40, 60, 100, 120)  # ms, of one connection; the other has 80
SHOWN = (60.0, 80.0)  # of figure 7
EQUAL = 0.25  # completion times whose means are so far apart at most are called almost equal
PAUSE = 0.1  # growth is steady when no step of a sixtieth of the bytes takes that share of the whole time


def cases(full: bool, growth_only: bool = False) -> list[Case]:
    """Return what is run: (deadline of the first connection, of the second one), each pair in both orders."""
    fifo = Case("second", FIFO, (SECOND_FIXED_MS, SECOND_FIXED_MS))
    if growth_only:
        return [Case("second", PORT, SHOWN), fifo]
    others = FULL_DEADLINES if full else DEADLINES
    pairs = [pair for ms in others for pair in ((SECOND_FIXED_MS, ms), (ms, SECOND_FIXED_MS))]
    return [*(Case("second", PORT, pair) for pair in (*pairs, (SECOND_FIXED_MS, SECOND_FIXED_MS))), fifo]


def measure(options: Options, show: Callable[[str], None], growth_only: bool = False) -> Found:
    """Return completion times and growth of each case, and the findings of both figures."""
    chosen, length = cases(options.full, growth_only), FULL if options.full else SHORT
    if options.live:
        length = LIVE_FULL if options.full else LIVE_SHORT
        return summary(chosen, live.run_all(chosen, length, options.seed), length, live.LIVE)
    return summary(chosen, run_all(chosen, length, options.seed, show), length)


def completion_s(run: Run, flow: int, megabytes: float) -> float | None:
    """Return how long the flow took for its bytes; None: they were not all there at the end."""
    grown = run.grown.get(flow, [])
    return grown[-1][1] if grown and grown[-1][0] >= megabytes * 1e6 else None


def longest_pause(run: Run, flow: int) -> float:
    """Return the longest step of a flow's growth as a share of the whole, its first tenth (slow start) left out."""
    grown = run.grown[flow]
    times = [0.0, *(time for _, time in grown)]
    first = len(times) // 10
    steps = [after - before for before, after in zip(times[first:], times[first + 1 :], strict=False)]
    return max(steps) / times[-1]


def summary(chosen: list[Case], runs: list[list[Run]], length: Length, place: Place = IN_NS3) -> Found:
    """Return what the runs say."""
    found: list[Found] = []
    for case, own in zip(chosen, runs, strict=True):
        times = [[completion_s(run, flow, length.megabytes) for run in own] for flow in range(2)]
        done = [[time for time in flow if time is not None] for flow in times]
        first, second = (mean(all_) if all_ else [None, None] for all_ in done)
        found.append({
            **identity(case, own), "first_s": first, "second_s": second,
            "unfinished": sum(time is None for time in times[1]), "grown": [own[0].grown.get(flow, []) for flow in range(2)],
            "longest_pause": round(max((longest_pause(own[0], flow) for flow, grown in own[0].grown.items() if grown), default=1.0), 4),
            "dropped_percent": mean([run.sums(0, 1)["dropped_percent"] for run in own]),
        })  # fmt: skip
    said = {"begins_s": length.begins, "runs": length.runs, "megabytes": length.megabytes, "place": place.words}
    return {**said, "cases": found, "findings": _findings(found)}


def shown(found: list[Found]) -> list[Found]:
    """Return the cases of figure 7."""
    return [case for case in found if case["scheduler"] == FIFO or tuple(case["deadlines_ms"]) == SHOWN]


def _findings(found: list[Found]) -> list[Found]:
    edfr = [case for case in found if case["scheduler"] == PORT]
    fifo = next(case for case in found if case["scheduler"] == FIFO)
    made = []
    known = [case for case in edfr if case["second_s"][0] is not None]
    if len(edfr) > 1 and known:
        least, most = (pick(known, key=lambda case: case["second_s"][0]) for pick in (min, max))
        spread = most["second_s"][0] / least["second_s"][0] - 1
        made.append(finding(
            "Completion times of the second connection are almost equal in all deadline combinations.",
            spread <= EQUAL and len(known) == len(edfr),
            f"{least['second_s'][0]:.2f} s ({least['words']}) to {most['second_s'][0]:.2f} s ({most['words']}); one FIFO: "
            f"{text(fifo['second_s'], 2)} s.",
        ))  # fmt: skip
    pairs = [(case["first_s"][0], case["second_s"][0]) for case in found]
    slower = [first is not None and (second is None or second > first) for first, second in pairs]
    made.append(finding(
        "The second connection takes longer than the first, with EDFR and with a FIFO.", all(slower),
        f"In {sum(slower)} of {len(slower)} cases; "
        + ", ".join(f"{case['words']}: {text(case['first_s'], 2)} and {text(case['second_s'], 2)} s" for case in shown(found)) + ".",
    ))  # fmt: skip
    pauses = max(shown(found), key=lambda case: case["longest_pause"])
    made.append(finding(
        "What both have transferred grows steadily, with EDFR as with a FIFO.", pauses["longest_pause"] <= PAUSE,
        f"The longest sixtieth takes {100 * pauses['longest_pause']:.1f} % of the time ({pauses['words']}).",
    ))  # fmt: skip
    return made


def compare(_found: Found) -> list[dict[str, Any]]:
    """Return nothing: the paper states no number for these figures."""
    return []


def _words(found: Found) -> list[tuple[str, str]]:
    return [
        ("How it is judged", f"Almost equal: means within {100 * EQUAL:g} % of each other. Steady: no sixtieth of the bytes, slow start "
         f"left out, takes more than {100 * PAUSE:g} % of the time."),
        ("Order", f"The first number of a pair is the deadline of the connection that is there, the second that of the one that comes "
         f"{found['begins_s']:g} s later. The FIFO holds {SECOND_FIXED_MS} ms, the round trip is 80 ms."),
        *live.words(found),
    ]  # fmt: skip


def cards(found: Found) -> list[Card]:
    """Return the cards of figure 6."""
    edfr = [case for case in found["cases"] if case["scheduler"] == PORT]
    fifo = next(case for case in found["cases"] if case["scheduler"] == FIFO)
    labels: list[str] = []
    bars: tuple[list[tuple[float, float | None]], list[tuple[float, float | None]]] = ([], [])
    for other in sorted({ms for case in edfr for ms in case["deadlines_ms"]}):
        pair = [case for case in edfr if set(case["deadlines_ms"]) == {other, SECOND_FIXED_MS}]
        if not pair:
            continue
        labels.append(f"{min(other, SECOND_FIXED_MS):g}-{max(other, SECOND_FIXED_MS):g}")
        # By the deadline of the second connection, whose times these are: the shorter one of the pair on the left.
        ordered = sorted(pair, key=lambda case: case["deadlines_ms"][1])
        bars[0].append(ordered[0]["second_s"])
        bars[1].append(ordered[-1]["second_s"])
    labels.append("one FIFO")
    for bar in bars:
        bar.append(fifo["second_s"])
    traces = [
        {
            "type": "bar", "name": f"the second has the {what} deadline", "colour": place, "x": labels, "y": [value[0] for value in bar],
            "error_y": {"type": "data", "array": [value[1] or 0 for value in bar], "thickness": 1, "width": 3},
        }
        for place, (what, bar) in enumerate(zip(("shorter", "longer"), bars, strict=True))
    ]  # fmt: skip
    plot = {"title": "", "traces": traces, "x": {"type": "category", "title": "deadlines, ms"}, "y": {"title": "s", "rangemode": "tozero"}}
    table = [["queue: first-second", "first, s", "second, s", "not complete", "longest sixtieth, % of the time"]]
    for case in found["cases"]:
        table.append([
            case["words"], text(case["first_s"], 2), text(case["second_s"], 2), str(case["unfinished"]),
            f"{100 * case['longest_pause']:.1f}",
        ])  # fmt: skip
    note = (
        f"{found['megabytes']:g} MB by a second connection, {found['begins_s']:g} s after a first one that never ends; {found['place']}; "
        f"{runs_of(found)} each."
    )
    return [
        {"title": "Figure 6: completion time of a second connection", "note": note, "plots": [plot]},
        {"title": "Figure 6 in numbers", "note": "Time from a connection's start to its last byte at the receiver.", "table": table},
        findings_card(6, found, "What the text says of the figures; they have no numbers.", _words(found)),
    ]


def growth_cards(found: Found, with_findings: bool) -> list[Card]:
    """Return the cards of figure 7; the findings where figure 6 does not show them."""
    plots = []
    for case in shown(found["cases"]):
        traces = [
            {
                "type": "scatter", "mode": "lines", "name": name, "colour": flow, "line": {"dash": dash},
                "x": [0, *(time for _, time in case["grown"][flow])], "y": [0, *(grown / 1e6 for grown, _ in case["grown"][flow])],
            }
            for flow, (name, dash) in enumerate((("first", "solid"), ("second", "dot")))
        ]  # fmt: skip
        axes = {"x": {"title": "since the connection's start, s"}, "y": {"title": "MB"}}
        plots.append({"title": case["words"], "traces": traces, **axes})
    note = f"The first run of each. The first connection is alone for its first {found['begins_s']:g} s."
    made: list[Card] = [{"title": "Figure 7: growth of two connections", "note": note, "plots": plots}]
    return (
        [*made, findings_card(7, found, "What the text says of the figure; it has no numbers.", _words(found))] if with_findings else made
    )
