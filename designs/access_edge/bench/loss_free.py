"""`bench loss-free`: the highest load of the line at which a whole access edge on given memories loses no frame.

The throughput of RFC 2544, section 26.1. The scenario is `line_rate_ddr4.yaml` with other memories, sizes and loads: frames to 2,048
shaped queues, a FIFO of 16 kB at the input. They come at random (`poisson`), or evenly spaced as from a tester (`constant`). Frames that
pile up in the queues are no throughput: a device that is behind at the end counts as one that loses. Loads are steps of half a per cent of
the line, found by halving; every probe is a run of its own, in which all frames are checked.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.command_line.options import nothing_left, take_choice, take_number
from penstock.designs import configs
from penstock.designs.access_edge.config import Config
from penstock.designs.design import Bench
from penstock.engine import memories
from penstock.errors import UserError
from penstock.scenarios.common import IMIX

SCENARIO = "scenarios/line_rate_ddr4.yaml"
KEYS = ("engine", "memory", "channels", "sram", "size", "packets", "fifo", "outstanding", "arrivals")
FIFO_KB = 16  # at the input
BEHIND = 2  # frames for each queue that may wait at the end
OUTSTANDING = 256  # frames, and bursts, under way at the memories
PACKETS = 200_000  # that the line brings in a probe
LINE_BPS, OVERHEAD_BYTES = 100 * 10**9, 24
STEPS = 200  # of the whole line, and the lowest load that is tried is one of them
MOST_PROBES = 1 + math.ceil(math.log2(STEPS))
MOST_CHANNELS = 16
EMPTY_SRAM_PAGES = 1  # a memory has one page at least: as good as full

Progress = Callable[[int, int], None] | None


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    memory = settings.pop("memory", "ddr4_2400")
    try:
        memories.check_kind(memory)
    except ValueError as error:
        raise UserError(f"--set memory: {error}") from None
    options: dict[str, Any] = {
        "engine": take_choice(settings, "engine", ("model", "rtl")),
        "memory": memory,
        "channels": take_number(settings, "channels", 2, 1, MOST_CHANNELS),
        "sram": take_number(settings, "sram", 0, 0, 1),
        "size": "imix" if settings.get("size") == "imix" else take_number(settings, "size", 1474, 60, 9600),
        "packets": take_number(settings, "packets", PACKETS, 1000, 10_000_000),
        "fifo": take_number(settings, "fifo", FIFO_KB, 1, 4096),
        "outstanding": take_number(settings, "outstanding", OUTSTANDING, 2, 512),
        "arrivals": take_choice(settings, "arrivals", ("poisson", "constant")),
        "seed": seed,
    }
    settings.pop("size", None)
    nothing_left(settings, KEYS)
    return options


def mean_bytes(size: int | str) -> float:
    """Return the mean length of a frame."""
    sizes = IMIX if size == "imix" else ((int(size), 1),)
    return sum(length * weight for length, weight in sizes) / sum(weight for _, weight in sizes)


def probe(options: dict[str, Any], steps: int) -> Any:
    """Return the run at so many steps of the line's load, ready to be carried out; at all of them more is offered than the line carries."""
    from penstock.engine.run import Request, prepare
    from penstock.paths import ROOT

    mean = mean_bytes(options["size"])
    rate = LINE_BPS if steps == STEPS else LINE_BPS * mean / (mean + OVERHEAD_BYTES) * steps / STEPS
    settings = [
        f"seed={options['seed']}",
        f"device.overrides.memories.ddr.kind={options['memory']}",
        f"device.overrides.memories.ddr.channels={options['channels']}",
        f"device.overrides.outstanding={options['outstanding']}",
        f"traffic.0={{{options['arrivals']}: {{queues: 0-2047, pick: random, size: {options['size']}, rate: {rate:.0f} bit/s}}}}",
        f"duration={options['packets'] * 8e9 * (mean + OVERHEAD_BYTES) / LINE_BPS:.0f} ns",
        f"link.ingress_fifo={options['fifo']} kB",
        "drain=false",
    ]
    if not options["sram"]:
        settings.append(f"device.overrides.memories.sram.pages={EMPTY_SRAM_PAGES}")
    return prepare(Request(ROOT / SCENARIO, settings, engine=options["engine"]))


def _prepare(options: dict[str, Any], report: Callable[[str], None] | None) -> Path | None:
    from penstock.engine import engine
    from penstock.hardware import verilate

    engine.build(report, "designs/access_edge/model")
    return None if options["engine"] == "model" else verilate.build_device(probe(options, STEPS).config, report)


def _figures(options: dict[str, Any], library: Path | None, steps: int, show: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Carry out a probe. Raises RuntimeError when a frame is lost uncounted, changed or reordered."""
    from penstock.engine import engine

    run = probe(options, steps)
    if library:
        run.plan.job["device"]["library"] = str(library)
    result = run.summary(engine.run(run.plan.job, show))
    if result["findings"] or not result["conservation"]["ok"]:
        raise RuntimeError("; ".join(result["findings"][:3]) or "frames or bytes are not conserved")
    return result


def loss_of(result: dict[str, Any]) -> int:
    """Return the frames that a run lost, at the input or inside."""
    return int(result["ingress_lost"]["packets"]) + sum(result["packets"]["dropped"].values())


def behind(result: dict[str, Any]) -> bool:
    """Return whether more frames wait than shaped queues hold at that load."""
    queues = configs.load_as(Config, result["config"]).queues
    return bool(result["packets"]["queued"] > BEHIND * queues)


def highest(loses: Callable[[int], bool]) -> int:
    """Return the most steps without a loss, of a device that loses from some load on; 0 where it loses at the first step."""
    if not loses(STEPS):
        return STEPS
    good, bad = 0, STEPS
    while bad - good > 1:
        middle = (good + bad) // 2
        if loses(middle):
            bad = middle
        else:
            good = middle
    return good


def run(options: dict[str, Any], library: Path | None, progress: Progress) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when the device does wrong."""
    probes: dict[int, dict[str, Any]] = {}

    def show(now: dict[str, Any]) -> bool:
        if progress:
            progress((options["packets"] * len(probes) + now["packets_in"]) // MOST_PROBES, now["cycles"])
        return True

    def loses(steps: int) -> bool:
        probes[steps] = _figures(options, library, steps, show)
        return loss_of(probes[steps]) > 0 or behind(probes[steps])

    best = highest(loses)
    full = probes[STEPS]
    kind, seconds = memories.dram_kinds().get(options["memory"]), full["cycles"] / full["clock_hz"]
    dram = [memory for memory in full["memories"] if memory["kind"] == options["memory"]]
    beats = sum(memory["write_beats"] + memory["read_beats"] for memory in dram)
    theoretical = kind.bytes_per_second * 8 * options["channels"] if kind else None
    mean = mean_bytes(options["size"])
    return {
        "loss_free_load": best / STEPS,
        "loss_free_bps": round(LINE_BPS * best / STEPS * mean / (mean + OVERHEAD_BYTES)),
        "carried_bps": round(full["bytes"]["out"] * 8 / seconds),
        "offered": full["packets"]["in"] + full["ingress_lost"]["packets"],
        "lost": loss_of(full),
        "waiting": full["packets"]["queued"],
        "moved_bps": round(beats * memories.BEAT_BYTES * 8 / seconds),
        "theoretical_bps": theoretical,
        "efficiency": round(beats * memories.BEAT_BYTES * 8 / seconds / theoretical, 4) if theoretical else None,
        "memories": [{key: memory[key] for key in ("name", "kind", "share_of_frames", "share_of_bytes")} for memory in full["memories"]],
        "probes": len(probes),
        "assumed": {"clock_mhz": full["clock_hz"] // 10**6},
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config = result["config"]
    size = "IMIX" if config["size"] == "imix" else f"frames of {config['size']:,} byte"
    sram = "and SRAM" if config["sram"] else "SRAM full"
    found = [
        f"{config['channels']} x {config['memory']}, {sram}, {size}, {result['assumed']['clock_mhz']} MHz (assumed), seed {result['seed']}",
        f"{config['arrivals']} arrivals: no frame lost up to {result['loss_free_load']:.1%} of 100 Gbit/s, "
        f"{result['loss_free_bps'] / 1e9:.1f} Gbit/s of frames",
        f"at the full line {result['lost']:,} of {result['offered']:,} lost, {result['waiting']:,} wait, "
        f"{result['carried_bps'] / 1e9:.1f} Gbit/s of frames carried",
    ]
    if result["efficiency"] is not None:
        pins = f"{result['efficiency']:.1%} of the pins' {result['theoretical_bps'] / 1e9:.1f}"
        found.append(f"written and read there: {result['moved_bps'] / 1e9:.1f} Gbit/s, {pins}")
    shares = ", ".join(f"{memory['name']} {memory['share_of_bytes']:.1%}" for memory in result["memories"])
    return [*found, f"share of bytes: {shares}"]


LOSS_FREE = Bench("highest load of a line of 100 Gbit/s without a loss, on given memories", PACKETS, plan, _prepare, run, lines)
