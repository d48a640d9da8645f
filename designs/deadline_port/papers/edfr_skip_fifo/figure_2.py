"""Figure 2: throughput of skip-FIFOs by burst length, packet size and memory, of one channel and of whole devices, on the RTL."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock.benches import bench_skipfifo
from penstock.designs.deadline_port.papers.edfr_skip_fifo import stated
from penstock.papers import Options
from penstock.papers.comparison import entry

PART = "figure 2"
NAMES = {"sram": "BRAM", "ddr4_2400": "DDR4-2400", "hbm2": "HBM2"}
BURSTS = (1024, 2048, 4096)  # bytes, a chunk each
SIZES = (64, 256, 1514)

Found = dict[str, Any]
Card = dict[str, Any]


@dataclass(frozen=True)
class Point:
    """A run of `bench skipfifo`."""

    memory: str
    channels: int
    burst: int  # bytes
    size: int  # of the packets, in bytes

    @property
    def name(self) -> str:
        """Return what a reader calls it."""
        return f"{self.channels} x {NAMES[self.memory]}, bursts of {self.burst:,} byte, packets of {self.size:,} byte"

    def settings(self) -> dict[str, str]:
        """Return what the bench is told. Three classes, as the paper has; its clock."""
        said: dict[str, Any] = {
            "memory": self.memory, "channels": self.channels, "chunk_bytes": self.burst, "packet_bytes": self.size,
            "clock_mhz": stated.CLOCK_MHZ, "classes": stated.CLASSES, "packets": 20_000 if self.size < 1000 else 8_000,
        }  # fmt: skip
        # The places of a class have to hold the longest frame, and cover as much of a memory's latency as they can.
        said["places"] = 8 if self.burst == 4096 else 16
        if self.memory == "ddr4_2400" and self.channels == stated.DDR4_CHANNELS:
            said["columns"] = stated.DDR4_CHANNELS
        return {key: str(value) for key, value in said.items()}


def points(full: bool) -> list[Point]:
    """Return the points of (a), one channel, and of (b), whole devices. Short: fewer bursts and sizes, and HBM only as a whole."""
    bursts, sizes = (BURSTS, SIZES) if full else (BURSTS[::2], SIZES[::2])
    one = [Point(memory, 1, burst, size) for burst in bursts for memory in NAMES for size in sizes]
    device = [Point("hbm2", stated.HBM_CHANNELS, 4096, size) for size in sizes]
    if full:
        device += [Point("hbm2", stated.HBM_CHANNELS, 1024, size) for size in sizes]
        device += [Point("ddr4_2400", stated.DDR4_CHANNELS, 4096, size) for size in sizes]
        device += [replace(point, channels=stated.HBM_WHOLE) for point in device if point.memory == "hbm2" and point.burst == 4096]
    return one + device


def measure(options: Options, show: Callable[[str], None], chosen: list[Point] | None = None) -> Found:
    """Return what the bench says of each point."""
    chosen = chosen if chosen is not None else points(options.full)
    found = []
    for number, point in enumerate(chosen, 1):
        show(f"{number} of {len(chosen)}: {point.name}")
        planned = bench_skipfifo.plan(point.settings(), options.seed)
        run = bench_skipfifo.run(planned, bench_skipfifo.build(planned), None)
        found.append({
            "memory": point.memory, "channels": point.channels, "burst_bytes": point.burst, "packet_bytes": point.size,
            "port_bits": run["port_bits"], "gbps": round(run["buffer_bps"] / 2e9, 3), "goodput_gbps": round(run["goodput_bps"] / 1e9, 3),
            "efficiency": run["efficiency"],
            "theoretical_gbps": round(run["theoretical_bps"] / 1e9, 3), "packets": run["packets"], "cycles": run["cycles"],
        })  # fmt: skip
    return {"clock_mhz": stated.CLOCK_MHZ, "points": found}


def _best(found: Found, memory: str, channels: int) -> Found | None:
    own = [point for point in found["points"] if (point["memory"], point["channels"]) == (memory, channels)]
    return max(own, key=lambda point: point["gbps"]) if own else None


def _gbps(point: dict[str, Any] | None) -> float | None:
    return None if point is None else point["gbps"]


def compare(found: Found) -> list[dict[str, Any]]:
    """Return the stated numbers beside ours."""
    lines = []
    for memory, paper in stated.CHANNEL_GBPS.items():
        best = _best(found, memory, 1)
        what = f"one channel of {NAMES[memory]}, best, metadata counted, each way"
        lines.append(entry(PART, what, "Gbit/s", paper, _gbps(best)))
    device, whole = (_best(found, "hbm2", channels) for channels in (stated.HBM_CHANNELS, stated.HBM_WHOLE))
    lines.append(entry(PART, "16 pseudo channels of HBM, share of the theoretical bandwidth", "%", stated.HBM_SHARE,
                       100 * device["efficiency"] if device else None,
                       note="paper: FIFOs side by side; ours: one logical port"))  # fmt: skip
    lines.append(entry(PART, "HBM, the whole device of 410 GB/s, each way", "Gbit/s", stated.HBM_GBPS, _gbps(whole),
                       note="as one logical port" if whole else "with --full"))  # fmt: skip
    best = _best(found, "ddr4_2400", stated.DDR4_CHANNELS)
    lines.append(entry(PART, "four channels of DDR4, each way", "Gbit/s", stated.DDR4_GBPS, _gbps(best),
                       note="" if best else "with --full"))  # fmt: skip
    for memory in NAMES:
        own = [point for point in found["points"] if (point["memory"], point["channels"], point["burst_bytes"]) == (memory, 1, 4096)]
        small, large = (next((p for p in own if p["packet_bytes"] == size), None) for size in (64, 1514))
        if small and large:
            what = f"{NAMES[memory]}: goodput of 64 byte over that of 1,514 byte"
            lines.append(entry(PART, what, "%", stated.SMALL_SHARE, 100 * small["goodput_gbps"] / large["goodput_gbps"],
                               note="paper: one of three bus cycles of a packet is its data"))  # fmt: skip
    return lines


def cards(found: Found) -> list[Card]:
    """Return the page's cards: plots of (a) and (b), and the table of all points."""
    one = [point for point in found["points"] if point["channels"] == 1]
    plots = []
    for memory, name in NAMES.items():
        own = [point for point in one if point["memory"] == memory]
        traces = []
        for place, size in enumerate(sorted({point["packet_bytes"] for point in own})):
            line = sorted((p for p in own if p["packet_bytes"] == size), key=lambda p: p["burst_bytes"])
            for key, dash, words in (("gbps", "solid", "with headers"), ("goodput_gbps", "dot", "packets alone")):
                traces.append({
                    "type": "scatter", "mode": "lines+markers", "name": f"{size:,} byte, {words}", "colour": place,
                    "line": {"dash": dash}, "x": [p["burst_bytes"] for p in line], "y": [p[key] for p in line],
                })  # fmt: skip
        axes = {"x": {"title": "burst, byte"}, "y": {"title": "Gbit/s each way", "rangemode": "tozero"}}
        plots.append({"title": f"one channel of {name}", "traces": traces, **axes})
    head = ["memory", "port", "burst, byte", "packets, byte", "Gbit/s each way", "packets alone", "share of theoretical"]
    table = [head] + [
        [
            f"{p['channels']} x {NAMES[p['memory']]}",
            f"{p['port_bits']:,} bit",
            f"{p['burst_bytes']:,}",
            f"{p['packet_bytes']:,}",
            f"{p['gbps']:.1f}",
            f"{p['goodput_gbps']:.1f}",
            f"{p['efficiency']:.1%}",
        ]
        for p in found["points"]
    ]
    note = f"Frames in and out at once at {found['clock_mhz']} MHz (assumed, the paper's), three classes, each written and read back."
    return [
        {"title": "Figure 2 (a): one channel", "note": note, "plots": plots, "words": stated.FIGURE_2_WORDS},
        {"title": "Figure 2: all points", "note": "Whole devices are one logical port.", "table": table},
        _resources(),
    ]


def _resources() -> Card:
    """Return the table of section III's resources beside those of this port (docs/measurements.md has the commands)."""
    head = ["", "LUT", "BRAM", "UltraRAM"]
    return {"title": "Resources", "note": stated.RESOURCES_NOTE, "table": [head, *stated.RESOURCES]}
