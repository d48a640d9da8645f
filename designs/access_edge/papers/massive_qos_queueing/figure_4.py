"""Figure 4: latency over time without shaping at 99.9 Gbit/s, 1,474 byte, in systems of 2,048 and of 262,144 queues."""

from typing import Any

import numpy as np

from penstock.designs.access_edge.papers.massive_qos_queueing import stated
from penstock.designs.access_edge.papers.massive_qos_queueing.experiments import Measured, memory_words, run
from penstock.papers import Options
from penstock.papers.comparison import entry

PART = "figure 4"
SYSTEMS = (2048, 262_144)
POINTS = 100  # in time
FRAMES = 1500  # of all, evenly chosen, in the plot; and as many of the extremes as EXTREMES says
EXTREMES = 50
SERIES = 32  # queues whose packets are kept one by one in runs of more than 4,000,000: `report.series` of the scenarios
SHORT = "100 ms"  # without --full: 0.8 million packets instead of 83


def measure(options: Options) -> dict[str, Any]:
    """Return the latencies over time of both systems, and what one DDR4 memory carries."""
    settings = () if options.full else (f"duration={SHORT}",)
    systems = []
    for queues in SYSTEMS:
        found = run(f"figure_4_{queues}", options, f"{PART}, {queues:,} queues", settings)
        systems.append({"queues": queues, "run": found.facts, "lost": found.lost, **jitter(found.facts), **over_time(found)})
    one = run("figure_4_one_ddr4", options, f"{PART}, one DDR4")
    return {"systems": systems, "one_ddr4": {"run": one.facts, "lost": one.lost, "line_gbps": on_the_line(one.facts)}}


def jitter(facts: dict[str, Any]) -> dict[str, float]:
    """Return the longest latency less the shortest, of all packets."""
    return {"jitter_ns": round(facts["latency_ns"]["max"] - facts["latency_ns"]["min"], 2)}


def on_the_line(facts: dict[str, Any]) -> float:
    """Return what left, in Gbit/s of a line: with preamble, FCS and gap of each packet."""
    return round(facts["throughput_bps"] * (stated.FRAME_BYTES + stated.OVERHEAD_BYTES) / stated.FRAME_BYTES / 1e9, 3)


def over_time(found: Measured) -> dict[str, Any]:
    """Return latencies by time: the least, the mean and the most of each point in time, and single packets."""
    left, seconds = found.left, 1 / found.clock_hz
    width = found.facts["device_seconds"] / POINTS
    slot = np.minimum((left.cycle * seconds / width).astype(np.int64), POINTS - 1)
    rows: dict[str, list[float | None]] = {"least_ns": [], "mean_ns": [], "most_ns": []}
    for point in range(POINTS):
        own = left.latency[slot == point] * found.cycle_ns
        for key, of in (("least_ns", np.min), ("mean_ns", np.mean), ("most_ns", np.max)):
            rows[key].append(round(float(of(own)), 3) if len(own) else None)
    even = np.arange(0, len(left.latency), max(1, -(-len(left.latency) // FRAMES)))
    order = np.argsort(left.latency, kind="stable")
    chosen = np.unique(np.concatenate([even, order[:EXTREMES], order[-EXTREMES:]]))
    return {
        "time_s": [round((point + 0.5) * width, 9) for point in range(POINTS)],
        **rows,
        "kept": len(left.latency),
        "frames": {
            "time_s": [round(float(value), 9) for value in left.cycle[chosen] * seconds],
            "latency_ns": [round(float(value), 3) for value in left.latency[chosen] * found.cycle_ns],
        },
    }


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stated numbers beside ours."""
    lines = []
    for system in found["systems"]:
        queues = system["queues"]
        paper: float | None = stated.JITTER_NS.get(queues)
        note = "measured"
        if paper is None:
            paper, note = stated.scan_ns(queues), "paper: one scan of all queues, calculated"
        what = f"{queues:,} queues: longest less shortest latency"
        lines.append(entry(PART, what, "ns", paper, system["jitter_ns"], note=note))
        lines.append(entry(PART, f"{queues:,} queues: packets lost", "packets", 0, system["lost"]))
    what = "on the line with one DDR4 memory"
    note = "paper: the most it carries; ours: all that came" if not found["one_ddr4"]["lost"] else ""
    return [*lines, entry(PART, what, "Gbit/s", stated.ONE_DDR4_GBPS, found["one_ddr4"]["line_gbps"], note=note)]


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's card."""
    plots = []
    for system in found["systems"]:
        points = {
            "type": "scatter", "mode": "markers", "name": "packets", "colour": 0, "marker": {"size": 3, "opacity": 0.5},
            "x": system["frames"]["time_s"], "y": [value / 1e3 for value in system["frames"]["latency_ns"]],
        }  # fmt: skip
        mean = {
            "type": "scatter", "mode": "lines", "name": "mean", "colour": 1, "x": system["time_s"],
            "y": [None if value is None else value / 1e3 for value in system["mean_ns"]],
        }  # fmt: skip
        axes = {"x": {"title": "time, s"}, "y": {"title": "latency, us", "rangemode": "tozero"}}
        plots.append({"title": f"{system['queues']:,} queues", "traces": [points, mean], **axes})
    first = found["systems"][0]
    packets = first["run"]["packets"]
    of = f" of {SERIES} queues" if first["kept"] < packets["out"] else ""
    note = (
        f"99.9 Gbit/s, 1,474 byte, nothing shaped; {first['run']['device_seconds']:.3g} s, {packets['in']:,} packets to queues at random. "
        f"Shown are packets{of} at equal steps, and the slowest and fastest of these."
    )
    return [{"title": "Figure 4: latency over time", "note": note, "plots": plots, "words": words(found)}]


def words(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the paper states, what came out, and why they differ."""
    ours = "; ".join(
        f"{system['queues']:,} queues: {system['run']['latency_ns']['min'] / 1e3:.3f} to {system['run']['latency_ns']['max'] / 1e3:.3f} "
        f"us, jitter {system['jitter_ns']:.1f} ns, {system['lost']:,} packets lost"
        for system in found["systems"]
    )
    one = found["one_ddr4"]
    return [
        (
            "The paper",
            "No packet of 1,474 byte is lost. A scan of all queues should take 288 ns with 2,048 of them and 36.864 us with 262,144; "
            "measured is a jitter of around 1.2 us with 2,048 queues, of which DRAM and congestion are suspected to be the rest. More "
            "queues have more jitter. One DDR4 memory carries around 70 Gbit/s.",
        ),
        ("Here", f"{ours}. With one DDR4 memory the line carries {one['line_gbps']:.1f} Gbit/s, {one['lost']:,} packets are lost."),
        (
            "Why",
            "There is no scan: a queue that may send is in a list, so the next one is found in the same time among any number. What is "
            f"between longest and shortest is the memories' ({memory_words(found['systems'][0]['run'])}): rows that must be opened, "
            "refresh, and turns of the bus between writes and reads. The paper suspects them for what its scan does not explain; its "
            "controller is not described. One memory would have to move twice 98 Gbit/s, and its pins carry 153.6. Latency is from the "
            "last bit of a packet at the input to its first at the output.",
        ),
    ]
