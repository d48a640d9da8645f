"""`penstock bench switch`: throughput and latency of the frame switch, all inputs loaded. Every frame is checked, on the RTL each byte."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from penstock.command_line.options import nothing_left, take_choice, take_number
from penstock.designs import configs
from penstock.designs.design import Bench
from penstock.designs.frame_switch.config import Config, device
from penstock.errors import UserError
from penstock.scenarios.common import IMIX

ENGINES = ("rtl", "model")
PATTERNS = ("uniform", "permutation", "hotspot")
KEYS = ("config", "pattern", "load", "size", "packets", "engine")
PACKETS = 50_000
LINE_BPS = 100_000_000_000
OVERHEAD_BYTES = 24
WARM_UP = 0.2  # share of the run that is not measured


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options. Raises UserError."""
    names = configs.names("frame_switch")
    options: dict[str, Any] = {
        "engine": take_choice(settings, "engine", ENGINES),
        "config": take_choice(settings, "config", tuple(names)),
        "pattern": take_choice(settings, "pattern", PATTERNS),
        "load": take_number(settings, "load", 100, 1, 100),
        "size": "imix" if settings.get("size", "imix") == "imix" else take_number(settings, "size", 590, 1, 9600),
        "packets": take_number(settings, "packets", PACKETS, 1000, 2_000_000),
        "seed": seed,
    }
    settings.pop("size", None)
    nothing_left(settings, KEYS)
    config = configs.load_as(Config, options["config"], "frame_switch")
    if options["size"] != "imix" and options["size"] > config.max_frame_bytes:
        raise UserError(f"--set size={options['size']}: {config.name} takes frames of {config.max_frame_bytes:,} byte at most")
    return options


def prepare(options: dict[str, Any], report: Callable[[str], None] | None) -> Path | None:
    """Build the device and return its library; None: the model."""
    from penstock.engine import engine
    from penstock.hardware import verilate

    engine.build(report, "designs/frame_switch/model")
    if options["engine"] == "model":
        return None
    return verilate.build_device(configs.load_as(Config, options["config"], "frame_switch"), report)


def job(options: dict[str, Any], library: Path | None) -> dict[str, Any]:
    """Return the engine's job: Poisson traffic at every input."""
    config = configs.load_as(Config, options["config"], "frame_switch")
    sizes = list(IMIX) if options["size"] == "imix" else [(options["size"], 1)]
    mean = sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)
    line = min(LINE_BPS, 8 * config.data_bytes * config.clock_hz)
    offered = line * options["load"] / 100 * mean / (mean + OVERHEAD_BYTES)
    cycles = int(options["packets"] * mean * 8 * config.clock_hz / (offered * config.ports))
    sources = [
        {
            "kind": "poisson",
            "pick": "random",
            "bps": offered,
            "sizes": sizes,
            "input": port,
            "queues": _flows(config, port, options["pattern"]),
        }
        for port in range(config.ports)
    ]
    return {
        "device": device(config, str(library) if library else None, []),
        "seed": options["seed"],
        "duration_cycles": cycles,
        "ingress_bps": line,
        "egress_bps": line,
        "overhead_bytes": OVERHEAD_BYTES,
        "sources": sources,
        "keep_departures": True,
    }


def _flows(config: Config, source: int, pattern: str) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Return the flows of an input, as often as they are to be picked: hotspot sends half of the frames to output 0."""
    outputs = {
        "uniform": list(range(config.ports)),
        "permutation": [(source + 1) % config.ports],
        "hotspot": [0] * (config.ports - 1) + list(range(1, config.ports)),
    }[pattern]
    return np.array([config.flow(source, output, 0) for output in outputs], dtype=np.uint32)


def run(options: dict[str, Any], library: Path | None, progress: Callable[[int, int], None] | None) -> dict[str, Any]:
    """Return throughput and latency. Raises RuntimeError when a frame is lost, changed or out of order and should not be."""
    from penstock.engine import engine
    from penstock.engine.result import Departures, distribution

    config = configs.load_as(Config, options["config"], "frame_switch")
    given = job(options, library)

    def show(now: dict[str, Any]) -> bool:
        if progress:
            progress(now["packets_out"], now["cycles"])
        return True

    raw = engine.run(given, show)
    wrong = [key for key in ("order_errors", "payload_errors", "event_errors", "lost", "counter_mismatches") if raw[key]]
    if wrong or not raw["conservation_ok"]:
        raise RuntimeError("; ".join(raw["findings"][:3]) or ", ".join(wrong))
    left = Departures.of(raw)
    start = int(WARM_UP * given["duration_cycles"])
    left = left.only(np.flatnonzero((left.cycle >= start) & (left.cycle < given["duration_cycles"])))
    cycles = given["duration_cycles"] - start
    output = left.queue // config.classes % config.ports
    on_line = np.bincount(output, weights=left.length + OVERHEAD_BYTES, minlength=config.ports)
    shares = on_line * 8 * config.clock_hz / cycles / given["egress_bps"]
    return {
        "packets": raw["packets"]["out"],
        "cycles": int(raw["cycles"]),
        "dropped": sum(raw["packets"]["dropped"].values()),
        "line_share": {"mean": round(float(shares.mean()), 4), "min": round(float(shares.min()), 4), "max": round(float(shares.max()), 4)},
        "beats_per_cycle_per_port": round(raw["bus"]["output_taken"] / raw["cycles"] / config.ports, 4),
        "latency_cycles": distribution(left.latency),
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config, share = result["config"], result["line_share"]
    return [
        f"{config['config']} on the {result['engine']}, {config['pattern']}, {config['size']} at {config['load']} % of each line, "
        f"seed {result['seed']}",
        f"outputs' lines {100 * share['mean']:.1f} % full ({100 * share['min']:.1f} to {100 * share['max']:.1f} %), "
        f"{result['beats_per_cycle_per_port']:.3f} beats per cycle and port",
        "latency in cycles: " + ", ".join(f"{key} {value:g}" for key, value in result["latency_cycles"].items()),
        f"{result['packets']:,} frames out in {result['cycles']:,} cycles, {result['dropped']:,} dropped; none changed or reordered",
    ]


SWITCH = Bench(
    "how full the outputs' lines are and how long frames take, all inputs loaded",
    PACKETS,
    plan,
    prepare,
    run,
    lines,
)
