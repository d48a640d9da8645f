"""The paper's stated numbers beside ours."""

from typing import Any

from penstock.designs.frame_switch.papers.fpga_network_switch import stated
from penstock.papers.comparison import entry
from penstock.switch_sim.measure import mean_and_ci95

NAMES = {"cprra": "this switch", "pim": "PIM", "edrrm": "EDRRM"}


def of_latency(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Worst-case latencies, and the ratio of mean latencies, at full load."""
    lines = []
    for traffic, curves in found["curves"].items():
        full = {name: curves[name][-1] for name in ("cprra", stated.BEST[traffic])}
        for (name, measured), paper in zip(full.items(), stated.WORST[traffic], strict=True):
            what = f"worst-case latency at full load, {traffic}, {NAMES[name]}"
            lines.append(entry("figure 7", what, "slots", paper, measured["worst_mean"], measured["worst_ci95"]))
        ours, best = full.values()
        what = f"mean latency at full load, {traffic}: {NAMES[stated.BEST[traffic]]} over this switch"
        lines.append(entry("figure 7", what, "times", stated.MEAN_RATIO[traffic], round(best["mean"] / ours["mean"], 3)))
    return lines


def of_drops(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Drops at depth 1, and the depth without drops, uniform traffic at full load."""
    lines = []
    for place, name in enumerate(("cprra", stated.BEST["uniform"])):
        share = next(m for m in found["maps"] if (m["traffic"], m["algorithm"]) == ("uniform", name))["drop_share"][0][-1]
        what = f"dropped at depth 1, uniform, full load, {NAMES[name]}"
        lines.append(entry("figure 9", what, "%", 100 * stated.DROP_SHARE[place], round(100 * share, 3)))
        depths = found["depth_without_drops"][name]
        mean, ci95 = mean_and_ci95(depths)
        what = f"FIFO depth without drops, uniform, full load, {NAMES[name]}"
        note = f"{depths[0]} to {depths[-1]} in {len(depths)} runs"
        lines.append(entry("figure 9", what, "packets", stated.DEPTH[place], round(mean or 0, 2), round(ci95 or 0, 2), note=note))
    return lines


def of_area(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Flip-flops at P = 32; nothing where that size was left out."""
    ours = {(line["ports"], line["stages"]): line["ff"] for line in found}
    lines = []
    for stages, paper in stated.FLIP_FLOPS.items():
        note = "" if (32, stages) in ours else "with --full"
        lines.append(entry("figure 10", f"flip-flops, P = 32, 256 bit, S = {stages}", "FF", paper, ours.get((32, stages)), note=note))
    return lines


def of_speed(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Clocks at S = 1 relative to that of two ports: devices and widths differ."""
    ours = {line["ports"]: line["median_mhz"] for line in found if line["stages"] == 1}
    lines = []
    for ports in (4, 8, 16):
        paper = stated.CLOCK_MHZ[256, ports, 1] / stated.CLOCK_MHZ[256, 2, 1]
        relative = round(ours[ports] / ours[2], 3) if ports in ours else None
        note = "paper: 256 bit, UltraScale+; ours: 32 bit, ECP5" if ports in ours else "with --full"
        lines.append(entry("figure 11", f"clock at P = {ports} over that at P = 2, S = 1", "times", round(paper, 3), relative, note=note))
    return lines


def of_rivals(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Aggregate throughput at the paper's clock."""
    ours = next(line for line in found if line["assumed"])
    what = f"16 x 16, 512 bit, S = 1, at an assumed {ours['assumed_mhz']} MHz"
    return [entry("figure 12", what, "Gbit/s", stated.RIVALS[0][2], ours["gbps"], note="the paper's clock, rounded")]


def of_table(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cells of the table that differ."""
    cells = [(line["cycles"][stages], line["paper"][stages]) for line in found for stages in line["cycles"]]
    measured = [(line["measured"][stages], line["paper"][stages]) for line in found if line["measured"] for stages in line["cycles"]]
    return [
        entry("table 1", f"cells of the table with the paper's cycles, {how}", "cells", len(pairs), sum(a == b for a, b in pairs))
        for how, pairs in (("by the formula", cells), ("measured in the hardware", measured))
    ]
