"""Figures 10 to 12 and table 1: blocks/fabric through Yosys and nextpnr, and the paper's formulas."""

import statistics
from collections.abc import Callable
from typing import Any

from penstock.designs.frame_switch.papers.fpga_network_switch import stated
from penstock.hardware.fabric import pipeline_cycles
from penstock.papers import Options

STAGES = (1, 2, 4)
AREA_WIDTH = 256  # bits of a cell in figure 10
SLOPE_WIDTHS = (4, 8)  # what is synthesised instead: every further bit of a cell costs the same
SPEED_WIDTH = 32  # bits of a cell in figure 11: what fits the ECP5 at 8 and 16 ports
ULTRASCALE_MHZ = {1: 110, 4: 102}  # the paper's clocks at 16 x 16 and 512 bit, assumed for our figures in bit/s

Line = Callable[[str], None]


def _synthesise(ports: int, width: int, stages: int, target: str, seeds: int, line: Line) -> dict[str, Any]:
    from penstock.hardware import synth

    # FIFOs of one cell in registers and the rotating arbiter, as in the paper (section 5.2).
    settings = {"ports": ports, "width": width, "stages": stages, "fifodepth": 1, "arbiter": 0, "backpressure": 0}
    job, _ = synth.plan("pst_fabric", target, {key: str(value) for key, value in settings.items()}, list(range(1, seeds + 1)))
    return synth.run(job, lambda text: line(f"P {ports}, {width} bit, S {stages}: {text}"))


def area(options: Options, line: Line) -> list[dict[str, Any]]:
    """Figure 10: flip-flops and LUTs of 256-bit switches by P and S, on UltraScale+ (Yosys, no place and route)."""
    found = []
    for ports in (2, 4, 8, 16, 32) if options.full else (2, 4, 8):
        for stages in STAGES:
            narrow, wide = (_synthesise(ports, width, stages, "xcup", 1, line) for width in SLOPE_WIDTHS)
            entry: dict[str, Any] = {"ports": ports, "stages": stages, "width": AREA_WIDTH}
            for key in ("ff", "lut"):
                slope = (wide[key] - narrow[key]) / (SLOPE_WIDTHS[1] - SLOPE_WIDTHS[0])
                entry[key] = round(narrow[key] + slope * (AREA_WIDTH - SLOPE_WIDTHS[0]))
            found.append(entry)
    return found


def speed(options: Options, line: Line) -> list[dict[str, Any]]:
    """Figure 11: clock after place and route on ECP5, line throughput (width x clock) and port-to-port latency ((cycles + 1) / clock)."""
    found = []
    for ports in (2, 4, 8, 16) if options.full else (2, 4):
        for stages in STAGES:
            placed = _synthesise(ports, SPEED_WIDTH, stages, "ecp5", 3 if options.full else 1, line)
            mhz = statistics.median(placed["fmax_mhz"])
            cycles = pipeline_cycles(ports, stages)
            found.append({
                "ports": ports, "stages": stages, "width": SPEED_WIDTH, "fmax_mhz": placed["fmax_mhz"], "median_mhz": mhz,
                "line_gbps": round(SPEED_WIDTH * mhz / 1e3, 3), "port_to_port_ns": round((cycles + 1) / mhz * 1e3, 2),
            })  # fmt: skip
    return found


def rivals() -> list[dict[str, Any]]:
    """Figure 12: the paper's rivals beside this switch at assumed clocks: throughput is 16 x width x clock, one cell per cycle and port."""
    found = [{"name": name, "width": width, "gbps": gbps, "assumed": False} for name, width, gbps in stated.RIVALS]
    for stages, mhz in ULTRASCALE_MHZ.items():
        cycles = pipeline_cycles(16, stages)
        found.append({
            "name": f"blocks/fabric, S = {stages}", "width": 512, "gbps": round(16 * 512 * mhz / 1e3, 1), "assumed": True,
            "assumed_mhz": mhz, "port_to_port_ns": round((cycles + 1) / mhz * 1e3, 1),
        })  # fmt: skip
    return found


def _measured_pipeline(ports: int, stages: int, line: Line) -> int:
    """Return the cycles that a cell takes from the input to its FIFO, in the verilated hardware (`bench fabric` has the same)."""
    from penstock.benches import bench

    line(f"P {ports}, S {stages}")
    settings = {"ports": ports, "stages": stages, "width": 32, "fifo_depth": 4, "cells": 1000}
    found = bench.run(bench.plan("fabric", {key: str(value) for key, value in settings.items()}, 1))
    return int(found["pipeline_cycles"])


def table(options: Options, line: Line) -> list[dict[str, Any]]:
    """Table 1: the pipeline latency by the formula, in the hardware (small ones; with --full up to 32 ports), and port to port."""
    measured = (2, 4, 8, 16, 32) if options.full else (2, 4)
    found = []
    for place, ports in enumerate(stated.TABLE_PORTS):
        cycles = {stages: pipeline_cycles(ports, stages) for stages in STAGES}
        found.append({
            "ports": ports, "compulsory_register": ports.bit_length() - 1, "cycles": cycles,
            "measured": {stages: _measured_pipeline(ports, stages, line) for stages in STAGES} if ports in measured else None,
            "paper": {stages: stated.TABLE[stages][place] for stages in STAGES},
            "port_to_port_ns": round((cycles[4] + 1) / 0.15, 1),  # S = 4 at 150 MHz, as the paper assumes
        })  # fmt: skip
    return found
