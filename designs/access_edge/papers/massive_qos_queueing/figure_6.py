"""Figure 6: times between departures of one queue at 100 Mbit/s, 1,000 byte, in systems of 2,048 and of 262,144 queues."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge.papers.massive_qos_queueing import stated
from penstock.designs.access_edge.papers.massive_qos_queueing.experiments import histogram, run, shares
from penstock.papers import Options
from penstock.papers.comparison import entry

PART = "figure 6"
SYSTEMS = (2048, 262_144)
IDEAL_US = stated.PACKET_BYTES * 8 / stated.RATE_MBPS
FULL_S = 0.01  # from then on the queue has been full: 64 packets are there after 5.1 ms


def measure(options: Options) -> dict[str, Any]:
    """Return the times between departures in both systems."""
    systems = []
    for queues in SYSTEMS:
        found = run(f"figure_6_{queues}", options, f"{PART}, {queues:,} queues")
        systems.append({"queues": queues, "run": found.facts, **between(found.left.cycle, found.cycle_ns, FULL_S)})
    return {"ideal_us": IDEAL_US, "systems": systems}


def between(departures: NDArray[np.int64], cycle_ns: float, start_s: float) -> dict[str, Any]:
    """Return the distribution of the times between departures after `start_s`, and how far they are from the ideal one.

    Departures are clock cycles, in order.
    """
    gaps = np.diff(departures[departures * cycle_ns >= start_s * 1e9])
    times = gaps * cycle_ns / 1e3
    return {
        "mean_us": round(float(times.mean()), 6),
        "least_us": round(float(times.min()), 6),
        "most_us": round(float(times.max()), 6),
        "farthest_us": round(float(np.abs(times - IDEAL_US).max()), 6),
        "between_us": histogram(gaps, cycle_ns / 1e3),
    }


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stated numbers beside ours."""
    lines = []
    for system in found["systems"]:
        queues = f"{system['queues']:,} queues"
        lines.append(entry(PART, f"{queues}: mean time between packets", "us", IDEAL_US, system["mean_us"], note="paper: as configured"))
        note = "paper: one scan of all queues, calculated"
        what = f"{queues}: farthest from {IDEAL_US:g} us"
        lines.append(entry(PART, what, "us", stated.scan_ns(system["queues"]) / 1e3, system["farthest_us"], note=note))
    return lines


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's card."""
    plots = []
    for system in found["systems"]:
        scan = stated.scan_ns(system["queues"]) / 1e3
        window = [found["ideal_us"] - scan, found["ideal_us"] + scan]
        share = shares(system["between_us"])
        traces: list[dict[str, Any]] = [
            {
                "type": "scatter", "mode": "markers", "name": "Penstock", "colour": 0, "marker": {"size": 8},
                "x": system["between_us"]["values"], "y": share,
            },
            *(
                {
                    "type": "scatter", "mode": "lines", "name": "one scan of the paper's design", "colour": 1, "line": {"dash": "dot"},
                    "showlegend": place == 0, "x": [edge, edge], "y": [min(share), 1],
                }
                for place, edge in enumerate(window)
            ),
        ]  # fmt: skip
        shown = [found["ideal_us"] - 1.1 * scan, found["ideal_us"] + 1.1 * scan]
        y = {"title": "share of the packets", "type": "log", "dtick": 1, "tickformat": "~g"}
        axes = {"x": {"title": "time between packets, us", "range": shown}, "y": y}
        plots.append({"title": f"{system['queues']:,} queues", "traces": traces, **axes})
    seconds = found["systems"][0]["run"]["device_seconds"]
    note = (
        f"One queue at 100 Mbit/s, 1,000 byte, always full (200 Mbit/s come), no AQM; {seconds:.3g} s, without the first {1e3 * FULL_S:g} "
        "ms, in which it fills. A point is a clock cycle."
    )
    return [{"title": "Figure 6: time between packets", "note": note, "plots": plots, "words": words(found)}]


def words(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the paper states, what came out, and why they differ."""
    ours = "; ".join(
        f"{system['queues']:,} queues: {system['least_us']:.4f} to {system['most_us']:.4f} us, mean {system['mean_us']:.4f} us, "
        f"{system['between_us']['packets'][0]:,} of {sum(system['between_us']['packets']):,} the least"
        for system in found["systems"]
    )
    return [
        (
            "The paper",
            "Always a single packet is sent at a time; there are no bursts. The time between two packets is not constant, for the "
            "scheduler needs its time to come round: 64 clock cycles with 2,048 queues, by the same count 8,192 with 262,144. Rates that "
            "are no multiple of that cause small bursts.",
        ),
        ("Here", f"{ours}. 1,000 byte at 100 Mbit/s are {IDEAL_US:g} us, 17,600 clock cycles."),
        (
            "Why",
            "A queue waits in a timing wheel until its packet is due, and then stands in a list of those that may send: no number of "
            "queues makes that longer. The wheel's slots are 32 clock cycles, 0.145 us; the rate is a number with 16 bits, here a little "
            "below 100 Mbit/s, so now and then a packet leaves a slot later. In these runs no other queue has traffic, as it seems in "
            "the paper's; what many busy queues do to each other is in docs/measurements.md (lateness).",
        ),
    ]
