"""`bench engine`: how fast an engine carries a whole access edge, every queue shaped and random traffic on the whole line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from penstock.command_line.options import take_number
from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.bench import lateness
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.config import device as configuration_device
from penstock.errors import UserError

LINE_BPS = 100 * 10**9
OVERHEAD_BYTES = 24
READ_LATENCY, WRITE_LATENCY = 44, 22  # cycles, the defaults of a scenario (200 and 100 ns)
LIMIT_PACKETS, LIMIT_BYTES = 64, 100_000


def take_levels(settings: dict[str, str], queues: int) -> int:
    """Take `levels` out of `settings`: 1, or 4 with a hierarchy. Raises UserError for what there is not."""
    levels = take_number(settings, "levels", 1, 1, 4)
    if levels not in (1, 4):
        raise UserError(f"--set levels={levels}: give 1 (queues alone) or 4 (queue, subscriber, node, port)")
    if levels > 1 and queues & (queues - 1):
        raise UserError(f"--set queues={queues}: with a hierarchy give a power of two")
    return levels


def configuration(options: dict[str, Any]) -> Config:
    """Return the configuration edge_262144, or with levels=4 tree_262144, with that many queues."""
    name, queues = ("tree_262144" if options["levels"] > 1 else "edge_262144"), options["queues"]
    overrides: dict[str, Any] = {"queues": queues}
    if options["levels"] > 1:
        overrides["hierarchy.nodes"] = max(2, min(1024, queues // 256))
    return configs.with_overrides(configs.load_as(Config, name), overrides)


def hierarchy_writes(config: Config, offered: float, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return the writes that deal subscribers to nodes and nodes to ports in turn, each with twice to four times its mean load."""
    hierarchy = config.hierarchy
    if hierarchy is None:
        return []
    counts = {"subscriber": config.queues // hierarchy.queues_per_subscriber, "node": hierarchy.nodes, "port": hierarchy.ports}
    above = {"subscriber": hierarchy.nodes, "node": hierarchy.ports, "port": 1}
    writes = []
    for level, count in counts.items():
        rates = np.maximum(offered / count * rng.uniform(2, 4, count), lateness.LEAST_RATE_BPS).astype(np.int64)
        for index, rate in enumerate(rates.tolist()):
            writes += registers.hierarchy_writes(level, index, min(rate, LINE_BPS), 0, index % above[level], config.clock_hz)
    return writes


def job(options: dict[str, Any], library: Path | None) -> dict[str, Any]:
    """Return the engine's job: Poisson traffic on all queues, whose rates are between two and four times what is offered to each; so
    are those of subscribers, nodes and ports, where there are any."""
    config = configuration(options)
    rng = np.random.default_rng(options["seed"])
    sizes = [(options["size"], 1)] if options["size"] else lateness.IMIX
    mean = sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)
    offered = LINE_BPS * options["load"] / 100 * mean / (mean + OVERHEAD_BYTES)
    rates = np.maximum(offered / config.queues * rng.uniform(2, 4, config.queues), lateness.LEAST_RATE_BPS).astype(np.int64)
    writes = [
        write
        for queue, rate in enumerate(rates.tolist())
        for write in registers.queue_writes(queue, min(rate, LINE_BPS), 0, LIMIT_PACKETS, LIMIT_BYTES, config.clock_hz)
    ]
    writes += hierarchy_writes(config, offered, rng)
    timing = {"read_latency": READ_LATENCY, "write_latency": WRITE_LATENCY}
    device = configuration_device(config, str(library) if library else None, timing)
    cycles = int(options["packets"] * mean * 8 * config.clock_hz / offered)
    source = {"kind": "poisson", "queues": np.arange(config.queues, dtype=np.uint32), "pick": "random", "bps": offered, "sizes": sizes}
    return {
        "device": device,
        "seed": options["seed"],
        "duration_cycles": cycles,
        "ingress_bps": LINE_BPS,
        "egress_bps": LINE_BPS,
        "register_writes": writes,
        "sources": [source],
        "keep_all": False,
    }


def run(options: dict[str, Any], library: Path | None, progress: Callable[[int, int], None] | None) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when a frame was lost, changed or reordered."""
    from penstock.engine import engine

    def show(now: dict[str, Any]) -> bool:
        if progress:
            progress(now["packets_in"], now["cycles"])
        return True

    raw = engine.run(job(options, library), show)
    if not raw["conservation_ok"] or raw["order_errors"] or raw["payload_errors"]:
        raise RuntimeError("; ".join(raw["findings"][:3]))
    seconds, packets = raw["run_cpu_seconds"], raw["packets"]["in"]
    return {
        "packets": packets,
        "packets_out": raw["packets"]["out"],
        "packets_dropped": sum(raw["packets"]["dropped"].values()),
        "cycles": raw["cycles"],
        "cpu_seconds": round(seconds, 3),
        "packets_per_cpu_second": round(packets / seconds),
        "cycles_per_cpu_second": round(raw["cycles"] / seconds),
    }
