"""Figure 5: throughput and loss of both groups when users load web pages, by their deadlines."""

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
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_runs import FIFO, FIXED_MS, IN_NS3, PORT, Case, Length, Place, Run, run_all
from penstock.papers import Options
from penstock.papers.comparison import entry

PART = "figure 5"
USERS = 40  # of each of the 18 pairs of hosts
SHORT, FULL = Length(6, 3, 3, users=USERS), Length(600, 100, 5, users=USERS)
LIVE_USERS = 2
LIVE_SHORT, LIVE_FULL = Length(30, 10, 3, users=LIVE_USERS), Length(600, 100, 3, users=LIVE_USERS)
DEADLINES, FULL_DEADLINES = (30, 50, 100, 120), (30, 50, 60, 80, 100, 120)  # ms, of one group; the other has 100
CONSUMED = (80.0, 90.0)  # the paper: of the capacity, %
SAME = 0.1  # two throughputs that differ by so much of the smaller one at most are called the same
KEYS = ("mbps", "dropped_percent")


def cases(full: bool) -> list[Case]:
    """Return what is run."""
    return [*(Case("http", PORT, (ms, FIXED_MS)) for ms in (FULL_DEADLINES if full else DEADLINES)), Case("http", FIFO)]


def measure(options: Options, show: Callable[[str], None]) -> Found:
    """Return throughput and loss of each case and class, and the findings."""
    chosen, length = cases(options.full), FULL if options.full else SHORT
    if options.live:
        length = LIVE_FULL if options.full else LIVE_SHORT
        return summary(chosen, live.run_all(chosen, length, options.seed), length, live.LIVE)
    return summary(chosen, run_all(chosen, length, options.seed, show), length)


def summary(chosen: list[Case], runs: list[list[Run]], length: Length, place: Place = IN_NS3) -> Found:
    """Return what the runs say."""
    found: list[Found] = []
    for case, own in zip(chosen, runs, strict=True):
        sums = [[run.sums(number) for number in range(2)] for run in own]
        classes = []
        for number in range(2):
            pages = [run.pages[number] for run in own]
            classes.append({
                "deadline_ms": case.deadlines[number] if case.scheduler == PORT else None,
                **{key: mean([both[number][key] for both in sums]) for key in KEYS},
                "page_s": mean([seconds / max(1, count) for count, _, seconds in pages]), "pages": sum(count for count, _, _ in pages),
            })  # fmt: skip
        total = mean([100 * sum(both[number]["mbps"] for number in range(2)) * 1e6 / place.rate for both in sums])
        # Within a run: what is common to both classes is not in it.
        less = mean([both[0]["dropped_percent"] - both[1]["dropped_percent"] for both in sums])
        found.append({**identity(case, own), "classes": classes, "consumed_percent": total, "first_less_second": less})
    seconds = {"seconds": length.seconds, "from_s": length.begins, "runs": length.runs, "users": length.users, "place": place.words}
    return {**seconds, "cases": found, "findings": _findings(found)}


def _findings(found: list[Found]) -> list[Found]:
    consumed = [case["consumed_percent"][0] for case in found]
    rates = [own["mbps"][0] for case in found for own in case["classes"]]
    edfr = [case for case in found if case["scheduler"] == PORT]
    unequal = [case for case in edfr if case["deadlines_ms"][0] != case["deadlines_ms"][1]]
    lower = []
    for case in unequal:
        short, long = sorted(range(2), key=lambda own: case["deadlines_ms"][own])
        lower.append(case["classes"][short]["dropped_percent"][0] < case["classes"][long]["dropped_percent"][0])
    any_lost = any(own["dropped_percent"][0] for case in unequal for own in case["classes"])
    drops = ", ".join(f"{case['words']}: {' and '.join(text(own['dropped_percent'], 3) for own in case['classes'])} %" for case in found)
    return [
        finding(
            "80 to 90 % of the capacity is consumed.", min(consumed) >= CONSUMED[0] and max(consumed) <= CONSUMED[1],
            f"{min(consumed):.1f} to {max(consumed):.1f} %; the number of users is chosen here so that one FIFO has about that.",
        ),
        finding(
            "Throughputs do not differ significantly with the deadlines.", max(rates) <= (1 + SAME) * min(rates),
            f"{min(rates):.4g} to {max(rates):.4g} Mbit/s of a group.",
        ),
        finding(
            "Shorter deadlines lose less than longer ones.", all(lower) if any_lost else None,
            f"In {sum(lower)} of {len(lower)} combinations of different deadlines. Dropped: {drops}."
            if any_lost else "Nothing was dropped: at this load no packet waits as long as the shortest deadline.",
        ),
    ]  # fmt: skip


def compare(found: Found) -> list[dict[str, Any]]:
    """Return the stated numbers beside ours."""
    middle = sum(CONSUMED) / 2
    return [
        entry(PART, f"{case['words']}: capacity consumed", "%", middle, *case["consumed_percent"], note="paper: 80 to 90 %")
        for case in found["cases"]
    ]


def cards(found: Found) -> list[Card]:
    """Return the page's cards."""
    names = [case["words"] for case in found["cases"]]
    plots = []
    for key, title in (("mbps", "throughput, Mbit/s"), ("dropped_percent", "packets dropped, %")):
        traces = []
        for own, name in enumerate(("the first deadline", "the second, 100 ms")):
            values = [case["classes"][own][key] for case in found["cases"]]
            traces.append({
                "type": "bar", "name": name, "colour": own, "x": names, "y": [value[0] for value in values],
                "error_y": {"type": "data", "array": [value[1] or 0 for value in values], "thickness": 1, "width": 3},
            })  # fmt: skip
        plots.append({"title": title, "traces": traces, "x": {"type": "category"}, "y": {"title": title, "rangemode": "tozero"}})
    table = [["queue", "class", "deadline, ms", "Mbit/s", "dropped, %", "mean time of a page, s", "pages"]]
    for case in found["cases"]:
        for own, cls in enumerate(case["classes"]):
            deadline = f"{cls['deadline_ms']:g}" if cls["deadline_ms"] else "-"
            table.append([
                case["words"], str(own + 1), deadline, text(cls["mbps"]), text(cls["dropped_percent"], 4), text(cls["page_s"], 3),
                f"{cls['pages']:,}",
            ])  # fmt: skip
    note = (
        f"{found['users']} users of each of 18 pairs of hosts, web pages of the 3GPP2 model; {found['place']}; means of "
        f"{runs_of(found)}, each from {found['from_s']:g} to {found['seconds']:g} s; bars and +-: 95 %."
    )
    judged = [("How it is judged", f"Throughputs are the same when they differ by {100 * SAME:g} % at most; less loss: in the mean.")]
    judged += live.words(found)
    return [
        {"title": "Figure 5: throughput and loss with web pages", "note": note, "plots": plots},
        {"title": "Figure 5 in numbers", "note": "Drops are those of the queue. All bytes of IP count.", "table": table},
        findings_card(5, found, "What the text says of the figure; its bars have no numbers.", judged),
    ]
