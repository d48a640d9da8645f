"""`bench provisioning`: what traffic notices while a control plane sets other queues up as fast as the registers take it.

A whole access edge, on the model or the RTL, with a full line to the first half of its queues. The second half is set up meanwhile, again
and again, by the very writes of the control plane (control/programs.py), one right after the other. The same run without them is what it is
compared with. `line` has 2,048 shaped queues without a hierarchy, on two channels of DDR4-2400 and SRAM, so that its lateness can be told
from an ideal server; `tree` has subscribers, nodes and ports above its queues.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.basics import groups
from penstock.command_line.options import nothing_left, take_choice, take_number
from penstock.designs.design import Bench
from penstock.errors import UserError

KEYS = ("engine", "device", "size", "microseconds")
DEVICES = {"line": "line_rate_2048", "tree": "tree_2048"}
QUEUES, EACH, NODES = 2048, 4, 16
LINE_BPS, OVERHEAD_BYTES = 100 * 10**9, 24
START_CYCLES = 2_000  # traffic is under way when the writes begin
SCENARIO = """
name: bench_provisioning
description: a full line to half of the queues while the others are set up
device: { config: %(config)s }
duration: %(microseconds)d us
drain: false
link: { ingress: 100 Gbit/s, egress: 100 Gbit/s, ingress_fifo: 16 kB, egress_buffer: 256 B }
queues:
  - { ids: "0-1023", name: carry, rate: 200 Mbit/s, burst: 10 us }
%(report)s
traffic:
  - poisson: { queues: "0-1023", pick: random, rate: 100 Gbit/s, size: %(size)s }
"""

Progress = Callable[[int, int], None] | None


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    size = settings.pop("size", "imix")
    if size != "imix":
        size = str(take_number({"size": size}, "size", 64, 60, 1522))
    options = {
        "engine": take_choice(settings, "engine", ("model", "rtl")),
        "device": take_choice(settings, "device", tuple(DEVICES)),
        "size": size,
        "microseconds": take_number(settings, "microseconds", 500, 50, 100_000),
        "seed": seed,
        "packets": 0,
    }
    nothing_left(settings, KEYS)
    groups.need("bench provisioning", "control")
    return options


def prepared(options: dict[str, Any], folder: Path) -> Any:
    """Return the run, ready to be carried out. Raises UserError."""
    from penstock.engine.run import Request, prepare

    scenario = folder / "bench_provisioning.yaml"
    report = "report: { lateness: 0 s }" if options["device"] == "line" else ""
    scenario.write_text(SCENARIO % (options | {"config": DEVICES[options["device"]], "report": report}))
    return prepare(Request(scenario, [f"seed={options['seed']}"], engine=options["engine"]))


def writes(config: Any, passes: int) -> tuple[list[tuple[int, int]], int]:
    """Return (address, value) that set up the second half of the queues so many times, and how many queues that are."""
    import numpy as np

    from penstock.designs.access_edge.control.codes import Codes
    from penstock.designs.access_edge.control.facts import Facts, Hierarchy
    from penstock.designs.access_edge.control.programs import Programs
    from penstock.v1 import common_pb2

    hierarchy = Hierarchy(EACH, NODES, 2, 4) if config.hierarchy else None
    facts = Facts(6, QUEUES, config.descriptors, config.max_frame_bytes, config.clock_hz, 8, True, "none", hierarchy, None)
    codes, programs = Codes(facts), Programs(facts)
    queues, found = np.arange(QUEUES // 2, QUEUES, dtype=np.uint32), []
    for number in range(passes):
        # Four plans, which change places in each pass: rate and limit differ from one queue to the next.
        plans = [
            codes.queue(common_pb2.QueueSettings(rate_bps=10**6 * (1 + plan), burst_bytes=3_000, limit_packets=50 + plan))
            for plan in range(4)
        ]
        program = programs.queues(queues, codes.queue_rows(np.array([plans[(n + number) % 4] for n in range(len(queues))], dtype=np.int32)))
        if hierarchy:
            indices = np.unique(queues // EACH).astype(np.uint32)
            numbers = np.array([codes.parent(10**7 * (1 + (int(n) + number) % 3), 20_000) for n in indices], dtype=np.int32)
            program = programs.subscribers(indices, codes.parent_rows(numbers), (indices + number) % NODES).then(program)
        found += [(address, value) for kind, address, value, _ in program.accesses.tolist() if kind == 0]
    return found, passes * len(queues)


def _prepare(options: dict[str, Any], report: Callable[[str], None] | None) -> Path | None:
    import tempfile

    from penstock.engine import engine
    from penstock.hardware import verilate

    engine.build(report, "designs/access_edge/model")
    if options["engine"] == "model":
        return None
    with tempfile.TemporaryDirectory() as folder:
        return verilate.build_device(prepared(options, Path(folder)).config, report)


def run(options: dict[str, Any], library: Path | None, progress: Progress) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when the device does wrong, UserError where the run is too short."""
    import tempfile

    steps = iter(range(1, 3))

    def simulated(job: dict[str, Any]) -> dict[str, Any]:
        from penstock.engine import engine

        found = engine.run(job)
        if progress:
            progress(next(steps), 2)
        return found

    with tempfile.TemporaryDirectory() as folder:
        made = prepared(options, Path(folder))
        job = made.plan.job | ({"device": made.plan.job["device"] | {"library": str(library)}} if library else {})
        one, queues = writes(made.config, 1)
        cycles = _cycles(job, one) / len(one)
        passes = int((job["duration_cycles"] - START_CYCLES) // (cycles * len(one)))
        if passes == 0:
            least = math.ceil((START_CYCLES + cycles * len(one)) / made.config.clock_hz * 1e6)
            raise UserError(f"microseconds must be at least {least} with {options['device']}, in which all queues are set once")
        all_of_them, queues = writes(made.config, passes)
        beside = made.summary(simulated(job | {"timed_register_writes": [(START_CYCLES, *pair) for pair in all_of_them]}))
        alone = made.summary(simulated(job))
    for result in (beside, alone):
        if result["findings"] or not result["conservation"]["ok"]:
            raise RuntimeError("; ".join(result["findings"][:3]) or "frames or bytes are not conserved")
    return {
        "writes": len(all_of_them),
        "queues_set": queues,
        "cycles_per_write": cycles,
        "queues_set_per_second": queues / len(all_of_them) / cycles * made.config.clock_hz,
        "share_of_time": cycles * len(all_of_them) / beside["cycles"],
        "alone": _figures(alone),
        "beside": _figures(beside),
    }


def _cycles(job: dict[str, Any], some: list[tuple[int, int]]) -> int:
    """Return how long these writes take, one right after the other, in a device without traffic."""
    from penstock.designs.access_edge import registers
    from penstock.engine import engine

    session = engine.module().Session({key: job[key] for key in ("device", "ingress_bps", "egress_bps")} | {"sources": []})
    session.start()
    start = session.now
    for address, value in some:
        session.write(address, value)
    session.read(registers.address("queue_index"))  # waits for all of them
    took = session.now - start
    session.end()
    return int(took)


def _figures(result: dict[str, Any]) -> dict[str, Any]:
    packets, cycles = result["packets"], result["cycles"]
    lateness = result.get("lateness_cycles")
    return {
        "cycles": cycles,
        "in_per_cycle": packets["in"] / cycles,
        "out_per_cycle": packets["out"] / cycles,
        "lost": result["ingress_lost"]["packets"] + sum(packets["dropped"].values()),
        "latency_ns": {key: result["latency_ns"][key] for key in ("mean", "p99", "max")},
        "lateness_cycles": {key: lateness[key] for key in ("mean", "p99", "max")} if lateness else None,
    }


def _lines(result: dict[str, Any]) -> list[str]:
    found = [
        f"{result['queues_set']:,} queues set with {result['writes']:,} writes, {result['cycles_per_write']:.2f} cycles each, "
        f"{result['share_of_time']:.0%} of the time"
    ]
    for name in ("alone", "beside"):
        one = result[name]
        late = one["lateness_cycles"]
        words = f", late by {late['mean']:.1f} mean, {late['p99']:,.0f} p99, {late['max']:,.0f} max cycles" if late else ""
        found.append(f"{name:6} {one['in_per_cycle']:.4f} in, {one['out_per_cycle']:.4f} out a cycle, {one['lost']:,} lost{words}")
    return found


WORDS = "what traffic notices while other queues are set up at the full rate of the registers"
BENCH = Bench(WORDS, 0, plan, _prepare, run, _lines)
