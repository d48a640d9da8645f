"""The cards of the page, figure by figure."""

from typing import Any

from penstock.designs.frame_switch.papers.fpga_network_switch import stated
from penstock.designs.frame_switch.papers.fpga_network_switch.compare import NAMES

Card = dict[str, Any]

TRAFFIC_NAMES = {
    "uniform": "(a) uniform Bernoulli",
    "bursty": "(b) uniform bursty, mean burst 32",
    "nonuniform": "(c) non-uniform, p = 0.5",
}
LABELS = {"cprra": "this switch", "oq": "output-queued (ideal)"}
RATE = {"title": "input rate", "tickformat": ".2~f"}


def latency(found: dict[str, Any]) -> list[Card]:
    """Figure 7 and the worst cases."""

    def plot(traffic: str, key: str, title: str) -> dict[str, Any]:
        traces = []
        for place, (name, points) in enumerate(found["curves"][traffic].items()):
            dash = "dot" if name.endswith("-1") else "dash" if name == "oq" else "solid"
            traces.append({
                "type": "scatter", "mode": "lines+markers", "name": LABELS.get(name, name.upper().replace("ISLIP", "iSLIP")),
                "marker": {"size": 5}, "line": {"dash": dash}, "colour": place if place < 7 else place - 5,
                "x": [p["rate"] for p in points], "y": [max(p[key], 0.01) if p[key] is not None else None for p in points],
            })  # fmt: skip
        if key == "worst_mean":
            traces.append({
                "type": "scatter", "mode": "markers", "name": "the paper's text", "colour": 7, "marker": {"symbol": "x", "size": 9},
                "x": [1, 1], "y": list(stated.WORST[traffic]),
            })  # fmt: skip
        return {"title": TRAFFIC_NAMES[traffic], "traces": traces, "x": RATE, "y": {"title": title, "type": "log"}}

    seeds = f"Runs a point: {found['seeds']}, at rate 1 {found['seeds_at_full_load']}, of {found['slots']:,} slots; -1: one iteration."
    return [
        {
            "title": "Figure 7: average latency by load",
            "note": f"{found['ports']} x {found['ports']}, FIFOs without limit. {seeds} What is below 0.01 slots is shown at 0.01.",
            "plots": [plot(traffic, "mean", "latency, slots") for traffic in found["curves"]],
        },
        {
            "title": "Worst-case latency by load",
            "note": "The longest wait in a run, averaged over runs (section 5.1).",
            "plots": [plot(traffic, "worst_mean", "longest latency, slots") for traffic in found["curves"]],
        },
    ]


def drops(found: dict[str, Any]) -> list[Card]:
    """Figure 9."""
    plots = [
        {
            "title": f"{TRAFFIC_NAMES[m['traffic']]}: {NAMES[m['algorithm']]}",
            "traces": [{
                "type": "heatmap", "x": [f"{rate:g}" for rate in found["rates"]], "y": [f"{depth}" for depth in found["depths"]],
                "z": [[round(100 * share, 4) for share in row] for row in m["drop_share"]],
                "hovertemplate": "depth %{y}, rate %{x}: %{z} %<extra></extra>", "colorbar": {"title": {"text": "%"}, "thickness": 12},
            }],
            "x": RATE | {"type": "category"}, "y": {"title": "FIFO depth", "type": "category"},
        }
        for m in found["maps"]
    ]  # fmt: skip
    note = f"Share of dropped packets, none is the page's own colour. Runs a point: {found['seeds']}, of {found['slots']:,} slots."
    return [{"title": "Figure 9: dropped packets by FIFO depth and load", "note": note, "plots": plots}]
