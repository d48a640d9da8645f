"""Figure 5: latencies at 100 Mbit/s by the packets' size and the memory."""

from typing import Any

from penstock.designs.access_edge.papers.massive_qos_queueing import stated
from penstock.designs.access_edge.papers.massive_qos_queueing.experiments import histogram, memory_words, run, shares
from penstock.papers import Options
from penstock.papers.comparison import entry

PART = "figure 5"
MEMORIES = {"DDR4": "figure_5_ddr4", "SRAM": "figure_5_sram"}  # the scenario of each
SIZES = (250, 500)


def measure(options: Options) -> dict[str, Any]:
    """Return the latencies of each size in each memory."""
    found = []
    for memory, name in MEMORIES.items():
        for size in SIZES:
            measured = run(name, options, f"{PART}, {size} byte in {memory}", (f"traffic.0.poisson.size={size}",))
            latency = measured.left.latency * measured.cycle_ns
            found.append({
                "memory": memory, "size": size, "run": measured.facts, "lost": measured.lost,
                "spread_ns": round(float(latency.max() - latency.min()), 3), "deviation_ns": round(float(latency.std()), 3),
                "latency_ns": histogram(measured.left.latency, measured.cycle_ns),
            })  # fmt: skip
    return {"curves": found}


def _curve(found: dict[str, Any], memory: str, size: int) -> dict[str, Any]:
    return next(curve for curve in found["curves"] if (curve["memory"], curve["size"]) == (memory, size))


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stated numbers beside ours."""
    less = _curve(found, "DDR4", 500)["spread_ns"] - _curve(found, "SRAM", 500)["spread_ns"]
    what = "longest less shortest latency of 500 byte: less in SRAM than in DDR4 by"
    return [entry(PART, what, "ns", stated.LESS_JITTER_NS, round(less, 3))]


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's card."""
    traces = [
        {
            "type": "scatter", "mode": "lines+markers", "name": f"{curve['size']} byte, {curve['memory']}", "colour": place,
            "marker": {"size": 5}, "x": curve["latency_ns"]["values"], "y": shares(curve["latency_ns"]),
        }
        for place, curve in enumerate(found["curves"])
    ]  # fmt: skip
    share = {"title": "share of the packets", "type": "log", "dtick": 1, "tickformat": "~g"}
    axes = {"x": {"title": "latency, ns", "rangemode": "tozero"}, "y": share}
    seconds = found["curves"][0]["run"]["device_seconds"]
    note = f"100 Mbit/s at random distances for {seconds:.3g} s, 2,048 queues, nothing shaped. A point is a clock cycle."
    card = {"title": "Figure 5: latencies by size and memory", "note": note, "plots": [{"traces": traces, **axes}]}
    return [card | {"words": words(found)}]


def words(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the paper states, what came out, and why they differ."""
    ours = "; ".join(
        f"{curve['size']} byte in {curve['memory']}: {curve['run']['latency_ns']['min']:.1f} to {curve['run']['latency_ns']['max']:.1f} "
        f"ns, standard deviation {curve['deviation_ns']:.2f} ns"
        for curve in found["curves"]
    )
    memories = "; ".join(f"{memory} {memory_words(_curve(found, memory, SIZES[0])['run'])}" for memory in MEMORIES)
    return [
        (
            "The paper",
            "Latencies in SRAM are distributed more tightly than in DDR4: 500-byte packets have 0.6 us less jitter there. Those of "
            "250-byte packets are wider than those of 500-byte packets, as there are twice as many packets.",
        ),
        ("Here", f"{ours}."),
        (
            "Why",
            f"{memories}. Packets hardly meet at a thousandth of the line rate, so what spreads latencies in DDR4 is whether a row is "
            "open, how long the write before the read takes, and refresh: 350 ns, in which one packet of some twenty comes. In SRAM "
            "remains the clock cycle that comes with beats that arrive in nearly every cycle; it is gone at half of the line rate. The "
            "paper gives neither the number of queues nor the distances of packets.",
        ),
    ]
