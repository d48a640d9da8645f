"""The cards of figures 10 to 12 and of table 1."""

from typing import Any

from penstock.designs.frame_switch.papers.fpga_network_switch import stated

Card = dict[str, Any]


def area(found: list[dict[str, Any]]) -> list[Card]:
    """Figure 10."""
    plots = []
    for key, title in (("ff", "flip-flops"), ("lut", "LUTs")):
        traces = []
        for place, stages in enumerate(sorted({line["stages"] for line in found})):
            lines = [line for line in found if line["stages"] == stages]
            traces.append({
                "type": "bar", "name": f"S = {stages}", "colour": place, "x": [f"{line['ports']}" for line in lines],
                "y": [line[key] for line in lines],
            })  # fmt: skip
        if key == "ff":
            traces.append({
                "type": "scatter", "mode": "markers", "name": "the paper's text (S = 1 and 4)", "colour": 7,
                "marker": {"symbol": "x", "size": 9}, "x": ["32"] * len(stated.FLIP_FLOPS), "y": list(stated.FLIP_FLOPS.values()),
            })  # fmt: skip
        plots.append({"title": title, "traces": traces, "x": {"title": "ports", "type": "category"}, "y": {"title": "", "type": "log"}})
    rows = [["ports", "S", "flip-flops", "LUTs"]]
    rows += [[f"{line['ports']}", f"{line['stages']}", f"{line['ff']:,}", f"{line['lut']:,}"] for line in found]
    note = "256-bit cells, FIFOs of one cell, UltraScale+ (Yosys)."
    return [
        {"title": "Figure 10: flip-flops and LUTs by P and S", "note": note, "plots": plots},
        {"title": "", "note": note, "table": rows},
    ]


def speed(found: list[dict[str, Any]]) -> list[Card]:
    """Figure 11."""
    traces = []
    for place, ports in enumerate(sorted({line["ports"] for line in found})):
        lines = [line for line in found if line["ports"] == ports]
        traces.append({
            "type": "scatter", "mode": "lines+markers+text", "name": f"P = {ports}", "colour": place, "textposition": "top center",
            "cliponaxis": False,
            "text": [f"S = {line['stages']}" for line in lines], "x": [line["port_to_port_ns"] for line in lines],
            "y": [line["line_gbps"] for line in lines],
        })  # fmt: skip
    rows = [["ports", "S", "clock, MHz (median)", "line, Gbit/s", "port to port, ns"]]
    rows += [
        [f"{line['ports']}", f"{line['stages']}", f"{line['median_mhz']:g}", f"{line['line_gbps']:g}", f"{line['port_to_port_ns']:g}"]
        for line in found
    ]
    plot = {"traces": traces, "x": {"title": "port-to-port latency, ns"}, "y": {"title": "line throughput, Gbit/s", "rangemode": "tozero"}}
    note = f"ECP5, {found[0]['width']}-bit cells, after place and route."
    title = "Figure 11: throughput and port-to-port latency"
    return [{"title": title, "note": note, "plots": [plot]}, {"title": "", "note": note, "table": rows}]


def rivals(found: list[dict[str, Any]]) -> list[Card]:
    """Figure 12."""
    rows = [["switch", "cell, bits", "aggregate, Gbit/s", "clock"]]
    for line in found:
        clock = f"{line['assumed_mhz']} MHz, assumed" if line["assumed"] else "as the paper states"
        rows.append([line["name"], f"{line['width']}", f"{line['gbps']:g}", clock])
    bars = {
        "type": "bar", "name": "aggregate throughput", "colour": 0, "x": [f"{line['name']}, {line['width']} bit" for line in found],
        "y": [line["gbps"] for line in found],
    }  # fmt: skip
    plot = {"traces": [bars], "x": {"title": "", "type": "category"}, "y": {"title": "Gbit/s"}}
    note = "16 x 16 switches on UltraScale+; the rivals as the paper states them."
    return [
        {"title": "Figure 12: 16 x 16 switches", "note": note, "plots": [plot]},
        {"title": "", "note": "The same in numbers.", "table": rows},
    ]


def table(found: list[dict[str, Any]]) -> list[Card]:
    """Table 1."""
    heads = (f"S = {stages}: formula / hardware / paper" for stages in stated.TABLE)
    rows = [["ports", *heads, "compulsory register", "ns at S = 4, assumed 150 MHz"]]
    for line in found:
        measured = line["measured"] or dict.fromkeys(stated.TABLE, "-")
        pairs = (f"{line['cycles'][stages]} / {measured[stages]} / {line['paper'][stages]}" for stages in stated.TABLE)
        rows.append([f"{line['ports']}", *pairs, f"{line['compulsory_register']}", f"{line['port_to_port_ns']:g}"])
    return [{"title": "Table 1: pipeline latency in cycles", "note": "By P and S; -: not measured here.", "table": rows}]
