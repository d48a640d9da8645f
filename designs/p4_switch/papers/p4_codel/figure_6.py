"""Figure 6: how long packets wait in the queue, as a distribution. (The paper draws it over time, as figure 5 does the whole delay.)"""

from typing import Any

from penstock.designs.p4_switch.papers.p4_codel import beside_ns3, live
from penstock.designs.p4_switch.papers.p4_codel.experiments import distribution
from penstock.designs.p4_switch.papers.p4_codel.figure_5 import COMPARED, colours, senders_of
from penstock.designs.p4_switch.papers.p4_codel.runs import AFTER_S, Group
from penstock.designs.p4_switch.papers.p4_codel.stated import EXAMPLE, TARGET_MS
from penstock.papers.comparison import entry

PART = "figure 6"
KEYS = {
    "mean_ms": ("mean", "ms"),
    "p50_ms": ("median", "ms"),
    "p95_ms": ("95 % of the packets", "ms"),
    "p99_ms": ("99 % of the packets", "ms"),
    "below_target_percent": ("packets below the target", "%"),
    "longest_above_s": ("longest time above the target", "s"),
}


def measure(groups: list[Group], without: str | None) -> dict[str, Any]:
    """Return the distribution of delays in the first run of each group, and what all its runs say."""
    return {
        "seconds": groups[0].first.seconds,
        "runs": len(groups[0].facts),
        "from_s": AFTER_S,
        "without_ns3": without,
        "groups": [group.config() | {"distribution": distribution(group.first, AFTER_S)} for group in groups],
        "beside_ns3": beside_ns3.rows([group.config() for group in groups]),
    }


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the example output shows beside ours."""
    lines = []
    for group in found["groups"]:
        if group["system"] != "p4_codel" or group["senders"] not in COMPARED:
            continue
        for key, (what, unit) in KEYS.items():
            who = f"{group['senders']}, {group['words']}: {what}"
            lines.append(entry(PART, who, unit, EXAMPLE[key], *group[key], note=COMPARED[group["senders"]]))
    return lines


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's cards."""
    colour, plots = colours(found), []
    for senders in senders_of(found):
        traces = [
            {
                "type": "scatter", "mode": "lines", "name": group["words"], "colour": colour[group["system"]],
                "x": group["distribution"]["delay_ms"], "y": group["distribution"]["share"],
            }
            for group in found["groups"] if group["senders"] == senders.name
        ]  # fmt: skip
        traces.append({
            "type": "scatter", "mode": "lines", "name": "target", "colour": len(colour), "line": {"dash": "dot", "width": 1},
            "x": [TARGET_MS, TARGET_MS], "y": [0, 1],
        })  # fmt: skip
        x = {"title": "delay, ms", "type": "log", "tickformat": "~g", "dtick": 1}
        plots.append({"title": senders.words, "traces": traces, "x": x, "y": {"title": "share of the packets", "range": [0, 1]}})
    head = ["senders", "queue", "mean, ms", "median", "95 %", "99 %", "longest", "below target, %", "packets/s", "dropped, %"]
    keys = ("mean_ms", "p50_ms", "p95_ms", "p99_ms", "longest_ms", "below_target_percent", "packets_per_second", "dropped_percent")
    table = [head]
    for group in found["groups"]:
        table.append([group["senders"], group["words"], *(_cell(group[key]) for key in keys)])
    note = f"Packets that left from {AFTER_S:g} s on, the first of {found['runs']} run{'s' if found['runs'] > 1 else ''}."
    runs = "Means of all runs, +- 95 %." if found["runs"] > 1 else "One run."
    return [
        {"title": "Figure 6: queueing delay", "note": note, "plots": plots, "words": words(found)},
        {"title": "Figure 6: delays in numbers", "note": f"{runs} Dropped: by the AQM, of all packets that came.", "table": table},
    ]


def _cell(value: list[float | None]) -> str:
    mean, ci95 = value
    if mean is None:
        return "-"
    digits = 2 if abs(mean) < 100 else 0
    return f"{mean:,.{digits}f}" + (f" +- {ci95:,.{digits}f}" if ci95 else "")


def words(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the paper states, what came out, and why they differ."""

    def means(system: str) -> str:
        own = {group["senders"]: group["mean_ms"][0] for group in found["groups"] if group["system"] == system}
        return ", ".join("-" if value is None else f"{value:,.1f}" for value in own.values())

    systems = {group["system"]: group["words"] for group in found["groups"]}
    listed = "; ".join(f"{called} {means(name)}" for name, called in systems.items())
    return [
        (
            "The paper",
            "The queue delay falls below TARGET periodically. The example output behind the figure has a mean of "
            f"{EXAMPLE['mean_ms']:.2f} ms, 95 % of the packets within {EXAMPLE['p95_ms']:.1f} ms, {EXAMPLE['below_target_percent']:.0f} % "
            "below the target.",
        ),
        ("Here", f"Mean delays in ms with {', '.join(senders.name for senders in senders_of(found))}: {listed}."),
        (
            "Why",
            "CoDel's one signal is a drop; the more connections share the link, the less each of them slows down by one, so the queue "
            "stands at several times the target before drops come fast enough. That is so in all of these, and it is CoDel's own: "
            "they differ by how the senders recover, and by drops that cost turns of the link.",
        ),
        *beside_ns3.words(found["beside_ns3"]),
        *live.words(found["groups"]),
    ]
