"""`bench flows`: enqueues and dequeues at once through the flow queues of `pst_fq`, on its model, which is the RTL in every cycle.

Packets of one size come for random queues as fast as they are taken, with a fixed number of packets inside; queues that offer a packet are
looked at in random order, and each packet gets its verdict two cycles after it was taken.
"""

import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.command_line.options import nothing_left, take_number
from penstock.designs.design import Bench
from penstock.engine import engine
from penstock.errors import UserError

PACKETS = 40_000
KEYS = ("queues", "flows", "lanes", "active", "each", "length", "inside", "packets")
REPORT_CYCLES = 5000

Progress = Callable[[int, int], None]


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options of the bench from `--set` values (`settings` is used up). Raises UserError."""
    options: dict[str, Any] = {"mode": "flows", "engine": "model", "seed": seed}
    options["queues"] = take_number(settings, "queues", 32_768, 8, 32_768)
    options["flows"] = take_number(settings, "flows", 262_144, 128, 262_144)
    options["lanes"] = take_number(settings, "lanes", 2, 1, 4)
    for key in ("queues", "flows", "lanes"):
        if options[key] & (options[key] - 1):
            raise UserError(f"--set {key}={options[key]}: must be a power of two")
    if options["queues"] * 8 > options["flows"]:
        raise UserError(f"--set queues={options['queues']}: {options['flows']} flow queues are for {options['flows'] // 8} queues at most")
    if options["flows"] // 16 >= options["queues"] << 10:
        raise UserError(f"--set flows={options['flows']}: more than {options['queues']} queues can use")
    options["active"] = take_number(settings, "active", min(512, options["queues"]), 1, options["queues"])
    options["each"] = take_number(settings, "each", 4, 1, 1024)
    options["length"] = take_number(settings, "length", 64, 1, 16_383)
    options["inside"] = take_number(settings, "inside", 8 * options["active"], 16, 65_536)
    options["packets"] = take_number(settings, "packets", PACKETS, 100, 1 << 30)
    nothing_left(settings, KEYS)
    return options


def prepare(options: dict[str, Any], report: Callable[[str], None] | None = None) -> Path | None:
    """Return None: it runs on the model."""
    engine.models("fq")
    return None


def run(options: dict[str, Any], path: Path | None, progress: Progress | None) -> dict[str, Any]:
    """Run the bench and return what it found. Raises RuntimeError when packets are lost."""
    rng = random.Random(options["seed"])
    model = engine.models("fq").Fq(
        queues=options["queues"], flows=options["flows"], descriptors=131_072, lanes=options["lanes"], keep=False
    )
    active, each, length = options["active"], options["each"], options["length"]
    queues = rng.sample(range(options["queues"]), active)
    buckets = [rng.sample(range(1024), each) for _ in range(active)]
    free, verdicts = deque(range(options["inside"])), deque[int]()
    waiting: list[int] = []
    looks: deque[int | None] = deque([None, None])
    offered: tuple[int, int, int, int] | None = None
    taken = left = start_left = start_taken = start_cycle = start_operations = 0
    warm, wanted = 2 * options["inside"], options["packets"]
    while left < start_left + wanted or not start_cycle:
        if (found := model.active) is not None:
            waiting.append(found[0])
        if (gone := model.left) is not None:
            free.append(gone[2])
            verdicts.append(model.now + 1)
            left += 1
        if offered is None and free:
            place = rng.randrange(active)
            offered = (queues[place], buckets[place][rng.randrange(each)], free.popleft(), length)
        ready = offered is not None and model.enqueue_ready(offered[0])
        look = None
        if waiting and model.look_ready:
            place = rng.randrange(len(waiting))
            waiting[place], waiting[-1] = waiting[-1], waiting[place]
            look = waiting.pop()
        take = looks.popleft() is not None
        looks.append(look)
        verdict = False if verdicts and verdicts[0] <= model.now else None
        if verdict is not None:
            verdicts.popleft()
        if model.dropped is not None:
            raise RuntimeError("a packet was dropped though no limit is set")
        model.cycle(enqueue=offered if ready else None, look=look, take=take, verdict=verdict)
        if ready:
            offered = None
            taken += 1
        if not start_cycle and left >= warm:
            start_cycle, start_left, start_taken, start_operations = model.now, left, taken, model.operations
        if progress and model.now % REPORT_CYCLES == 0:
            progress(max(0, left - start_left) if start_cycle else 0, model.now)
    cycles = model.now - start_cycle
    return {
        "enqueues_per_cycle": round((taken - start_taken) / cycles, 6),
        "dequeues_per_cycle": round((left - start_left) / cycles, 6),
        "operations_per_packet": round((model.operations - start_operations) / (left - start_left), 4),
        "cycles": cycles,
        "packets": left - start_left,
        "claimed": model.claimed,
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config = result["config"]
    return [
        f"{config['active']:,} queues of {config['queues']:,} with {config['each']} flows each, packets of {config['length']:,} bytes, "
        f"{config['lanes']} lanes, seed {result['seed']}",
        f"{result['enqueues_per_cycle']:.4f} packets in and {result['dequeues_per_cycle']:.4f} out per cycle; "
        f"{result['operations_per_packet']:.3f} operations a packet",
        f"{result['claimed']:,} of {config['flows']:,} flow queues in use at the end",
    ]


FLOWS = Bench("enqueues and dequeues per cycle through flow queues (FQ-CoDel)", PACKETS, plan, prepare, run, lines)
