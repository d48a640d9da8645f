"""Figure 5: ingress-to-egress delay and throughput over time, for each kind of senders and each way to manage the queue."""

from typing import Any

import numpy as np

from penstock.designs.p4_switch.papers.p4_codel import live
from penstock.designs.p4_switch.papers.p4_codel.experiments import SENDERS, Senders, over_time
from penstock.designs.p4_switch.papers.p4_codel.runs import AFTER_S, Group
from penstock.designs.p4_switch.papers.p4_codel.stated import CLAIMS, EXAMPLE, PACKETS, TARGET_MS
from penstock.papers.comparison import entry

PART = "figure 5"
BIN_S, RATE_BIN_S = 0.02, 0.1
FIRST_S, FIRST_POINTS = 0.5, 1500  # the burst of the beginning, packet by packet
COMPARED = {"1 TCP": "paper: the example output, of one flow", "4 TCP": "paper: the same, of one flow, though the text says 4"}


def measure(groups: list[Group], without: str | None) -> dict[str, Any]:
    """Return delay and throughput over time of the first run of each group, and what all its runs say."""
    return {
        "seconds": groups[0].first.seconds,
        "runs": len(groups[0].facts),
        "bin_s": BIN_S,
        "rate_bin_s": RATE_BIN_S,
        "without_ns3": without,
        "groups": [
            group.config()
            | {"over_time": over_time(group.first, BIN_S), "throughput": _throughput(group), "first": _first(group)}
            for group in groups
        ],
    }  # fmt: skip


def _throughput(group: Group) -> dict[str, Any]:
    found = over_time(group.first, RATE_BIN_S)
    return {key: found[key] for key in ("time_s", "packets_per_second")}


def _first(group: Group) -> dict[str, list[float]]:
    """Return the packets of the beginning, thinned out so that of each few the longest delay is left."""
    early = group.first.time_s < FIRST_S
    time, delay = group.first.time_s[early], group.first.delay_ms[early]
    each = max(1, -(-len(time) // FIRST_POINTS))
    kept = [at + int(delay[at : at + each].argmax()) for at in range(0, len(time), each)]
    return {"time_s": np.round(time[kept], 6).tolist(), "delay_ms": np.round(delay[kept], 4).tolist()}


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stated numbers beside ours."""
    lines = []
    for group in found["groups"]:
        who = f"{group['senders']}, {group['words']}"
        if group["system"] != "tail_drop":
            note = "paper: the link's rate; least in 100 ms: " + _number(group["least_per_second"][0], ",.0f")
            lines.append(entry(PART, f"{who}: throughput", "packets/s", PACKETS, *group["packets_per_second"], note=note))
        if group["system"] == "p4_codel" and (note := COMPARED.get(group["senders"], "")):
            lines.append(entry(PART, f"{who}: longest delay of the first second", "ms", EXAMPLE["burst_ms"], *group["burst_ms"], note=note))
            lines.append(
                entry(PART, f"{who}: first below the target after it", "s", EXAMPLE["burst_over_s"], *group["burst_over_s"], note=note)
            )
    return lines


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's cards."""
    made = [_curves(found, senders.name, senders.words) for senders in senders_of(found)]
    made.append(_claims(found))
    made[0]["words"] = words(found)
    return made


def senders_of(found: dict[str, Any]) -> list[Senders]:
    """Return the senders that there are runs of."""
    names = {group["senders"] for group in found["groups"]}
    return [senders for senders in SENDERS if senders.name in names]


def _of(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [group for group in found["groups"] if group["senders"] == name]


def colours(found: dict[str, Any]) -> dict[str, int]:
    """Return a colour for each system, the same in each plot."""
    return {name: place for place, name in enumerate(dict.fromkeys(group["system"] for group in found["groups"]))}


def _curves(found: dict[str, Any], name: str, called: str) -> dict[str, Any]:
    colour = colours(found)
    groups = _of(found, name)
    time = {"title": "time, s", "rangemode": "tozero"}
    delay = {"title": "delay, ms", "type": "log", "tickformat": "~g", "dtick": 1, "range": [0, 4]}
    early = {**delay, "range": [-0.5, 3]}

    def line(group: dict[str, Any], part: str, key: str) -> dict[str, Any]:
        return {
            "type": "scatter", "mode": "lines", "name": group["words"], "colour": colour[group["system"]], "line": {"width": 1.2},
            "x": group[part]["time_s"], "y": group[part][key],
        }  # fmt: skip

    target = {
        "type": "scatter", "mode": "lines", "name": "target", "colour": len(colour), "line": {"dash": "dot", "width": 1},
        "x": [0, found["seconds"]], "y": [TARGET_MS, TARGET_MS],
    }  # fmt: skip
    short = {**target, "x": [0, FIRST_S]}
    plots = [
        {
            "title": f"Delay, mean of each {1000 * found['bin_s']:g} ms",
            "traces": [*(line(group, "over_time", "delay_ms") for group in groups), target], "x": time, "y": delay,
        },
        {
            "title": f"Throughput of each {1000 * found['rate_bin_s']:g} ms",
            "traces": [line(group, "throughput", "packets_per_second") for group in groups], "x": time,
            "y": {"title": "packets/s", "rangemode": "tozero"},
        },
        {
            "title": "Delay of the packets at the beginning",
            "traces": [*(line(group, "first", "delay_ms") for group in groups), short], "x": time, "y": early,
        },
    ]  # fmt: skip
    note = f"Ingress to egress; a link of {PACKETS:,} packets of 1,514 byte a second; a round trip of 4 ms without the queue. One run."
    return {"title": f"Figure 5: delay and throughput, {called}", "note": note, "plots": plots}


def _claims(found: dict[str, Any]) -> dict[str, Any]:
    table = [["senders", "queue", *CLAIMS.values(), "longest time above, s", "burst, ms", "packets/s", "least in 100 ms, packets/s"]]
    for group in found["groups"]:
        numbers = [("longest_above_s", ".2f"), ("burst_ms", ",.1f"), ("packets_per_second", ",.1f"), ("least_per_second", ",.0f")]
        table.append([
            group["senders"], group["words"], *(group["claims"][name] for name in CLAIMS),
            *(_number(group[key][0], form) for key, form in numbers),
        ])  # fmt: skip
    note = (
        f"From {AFTER_S:g} s on. The delay keeps falling when a packet that waited less than the target leaves at least once a second; the "
        "burst is caught when that has happened a second after the beginning; throughput is the link's when it is at least 99 % of it."
    )
    return {"title": "Figure 5: what the paper says of it", "note": note, "table": table}


def words(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the paper states, what came out, and why they differ."""

    def rates(system: str) -> str:
        own = {group["senders"]: group["packets_per_second"][0] for group in found["groups"] if group["system"] == system}
        return ", ".join(f"{own[name]:,.0f}" for name in own)

    systems = {group["system"]: group["words"] for group in found["groups"] if group["system"] != "tail_drop"}
    burst = next(group for group in found["groups"] if (group["senders"], group["system"]) == ("1 TCP", "p4_codel"))
    senders = ", ".join(senders.name for senders in senders_of(found))
    listed = "; ".join(f"{called} {rates(name)}" for name, called in systems.items())
    return [
        (
            "The paper",
            "The delay falls below TARGET periodically, a burst is caught at the beginning, throughput is constantly that of the limiting "
            "link; 2,000 packets/s, 4 flows, 4 ms. Its public program's script starts one flow, and the example outputs beside it have the "
            f"delays of one: {EXAMPLE['burst_ms']:.1f} ms in the burst, over after {EXAMPLE['burst_over_s']:.2f} s.",
        ),
        (
            "Here",
            f"Packets a second with {senders}: {listed}. One connection's burst in P4-CoDel is "
            f"{_number(burst['burst_ms'][0], '.1f')} ms, and over after {_number(burst['burst_over_s'][0], '.2f')} s.",
        ),
        (
            "Why",
            "A packet that egress drops has had its turn on the link, so each drop costs a packet of throughput: little with one flow, "
            "much with 16, which lose more of their packets. An unresponsive sender is not held by such drops at all: the queue is served "
            "no faster for them. Drops that are free, in ingress or in hardware at the head of the queue, cost nothing.",
        ),
        *live.words(found["groups"]),
    ]
