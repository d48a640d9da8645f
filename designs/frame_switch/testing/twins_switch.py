"""Random jobs for a frame switch on two engines, the comparison of their results, and what must become of each frame.

A job has everything that a switch meets: all inputs at once, outputs that many send to, all classes, groups of destinations, flow numbers
that no output has, error flags, frames from one byte to longer than the longest, lines of other rates and overheads on both sides.
"""

import random
from collections import defaultdict
from typing import Any

import numpy as np

from penstock.designs.frame_switch.config import Config, device
from penstock.scenarios.common import IMIX
from penstock.testing.differences import differences as compared

Job = dict[str, Any]
Group = dict[str, int]

__all__ = ["device"]

NOWHERE = 0xFFFFFFFF
# Random bytes must tell two frames of a flow apart, where the RTL's losses are found by them.
SHORTEST_WITH_LOSSES = 16


def longest(config: Config) -> int:
    """Return the bytes of the longest frame that goes through: it is the number of its beats that counts."""
    return -(-config.max_frame_bytes // config.data_bytes) * config.data_bytes


def random_groups(config: Config, rng: random.Random) -> list[Group]:
    """Return some groups of every source, of one destination up to all."""
    return [
        {"source": source, "class": rng.randrange(config.classes), "destinations": rng.randrange(1, 1 << config.ports)}
        for source in range(config.ports)
        for _ in range(3)
    ]


def lengths(config: Config, rng: random.Random) -> list[int]:
    """Return lengths about every boundary: of beats, of the longest frame and beyond it, and some in between."""
    beat, most = config.data_bytes, longest(config)
    found = [1, 2, beat - 1, beat, beat + 1, 2 * beat, 2 * beat + 1, config.max_frame_bytes, most - 1, most, most + 1, 3 * most]
    found += [rng.randint(1, most) for _ in range(6)]
    return [length for length in found if config.back_pressure or length >= SHORTEST_WITH_LOSSES]


def frames(config: Config, rng: random.Random, groups: list[Group], source: int, count: int, gap: int, hot: list[int]) -> Job:
    """Return a list of `count` frames at input `source`; every other one goes to one of the outputs `hot`."""
    own = [config.flows + number for number, group in enumerate(groups) if group["source"] == source]
    sizes = lengths(config, rng)

    def queue() -> int:
        kind = rng.random()
        if kind < 0.04:
            return rng.choice([NOWHERE, config.flows + len(groups)])
        if kind < 0.2 and own:
            return rng.choice(own)
        output = rng.choice(hot) if rng.random() < 0.5 else rng.randrange(config.ports)
        return config.flow(source, output, rng.randrange(config.classes))

    picked = [rng.choice(sizes) for _ in range(count)]
    stored = [rng.randint(0, length) for length in picked]
    return {
        "kind": "frames",
        "input": source,
        "cycles": np.cumsum([rng.randint(0, 2 * gap) for _ in range(count)]),
        "queues": np.array([queue() for _ in range(count)], dtype=np.uint32),
        "offsets": np.cumsum([0, *stored])[:-1],
        "lengths": picked,
        "stored": stored,
        "data": np.frombuffer(rng.randbytes(sum(stored) + 1), dtype=np.uint8),
        "error": [int(rng.random() < 0.06) for _ in range(count)],
    }


def generated(config: Config, rng: random.Random, groups: list[Group], source: int, hot: list[int]) -> Job:
    """Return a source of random frames at input `source`."""
    own = [config.flows + number for number, group in enumerate(groups) if group["source"] == source]
    all_flows = [config.flow(source, output, each) for output in range(config.ports) for each in range(config.classes)]
    job: Job = {
        "kind": rng.choice(["constant", "poisson", "onoff"]),
        "input": source,
        "queues": rng.choice([all_flows, [*all_flows, *own], [config.flow(source, rng.choice(hot), rng.randrange(config.classes))]]),
        "pick": rng.choice(["round_robin", "random"]),
        "bps": 10 ** rng.uniform(9.5, 11),
        "sizes": rng.choice([list(IMIX), [(60, 1)], [(length, 1) for length in lengths(config, rng)], [(64, 1), (65, 1)]]),
    }
    if job["kind"] == "onoff":
        job |= {"on_cycles": rng.choice([50, 500]), "off_cycles": rng.choice([50, 500])}
    return job


def rates(config: Config, rng: random.Random, choice: list[float]) -> float | list[float]:
    """Return a rate for the lines of all ports, or one for each."""
    return rng.choice(choice) if rng.random() < 0.5 else [rng.choice(choice) for _ in range(config.ports)]


def random_job(config: Config, seed: int, cycles: int = 6000) -> tuple[Job, list[Group]]:
    """Return a job without its device, and the groups of the device."""
    rng = random.Random(seed)
    groups = random_groups(config, rng)
    hot = rng.sample(range(config.ports), rng.choice([1, 2]))
    sources = []
    for source in range(config.ports):
        if rng.random() < 0.7:
            sources.append(frames(config, rng, groups, source, rng.choice([30, 150]), rng.choice([3, 15, 40]), hot))
        if rng.random() < 0.6:
            sources.append(generated(config, rng, groups, source, hot))
    job = {
        "seed": seed,
        "duration_cycles": cycles,
        "drain": rng.random() < 0.7,
        "max_cycles": cycles + rng.choice([500, 100_000]),
        "quiet_cycles": 5000,
        "ingress_bps": rates(config, rng, [100e9, 100e9, 0, 10e9, 40e9]),
        "egress_bps": rates(config, rng, [100e9, 100e9, 0, 5e9, 25e9]),
        "overhead_bytes": rng.choice([24, 20, 0, 8]),
        "sources": sources,
        "interval_cycles": rng.choice([100, 777]),
        "series_queues": rng.sample(range(config.flows), 5),
        "keep_departures": True,
    }
    return job, groups


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return in words where two results differ: what is compared of all jobs, findings, counts at ports, series."""
    found = compared(one, other)
    for key in ("bus", "findings", "conservation_ok", "counter_mismatches", "interrupted"):
        if one[key] != other[key]:
            found.append(f"{key}: {one[key]} and {other[key]}")
    if ("series" in one) != ("series" in other):
        return [*found, "only one has series"]
    a, b = one.get("series", {}), other.get("series", {})
    parts = ("drops", "outputs")
    columns = {key: (a[key], b[key]) for key in a if key not in parts}
    for part in parts:
        columns |= {f"{part} {key}": (a[part][key], b[part][key]) for key in a.get(part, ())}
    for key, (left, right) in columns.items():
        if not np.array_equal(np.asarray(left), np.asarray(right)):
            found.append(f"series {key} differs")
    return found


# ---- what must become of frames


Copies = dict[int, list[tuple[int, str]]]  # by flow, -1 for those that go nowhere: length and fate, in order of arrival at the input


def fate(config: Config, length: int, error: int) -> str:
    """What designs/frame_switch/README.md says of a frame that goes somewhere; "good": it is to come out."""
    if length > longest(config):
        return "oversize"
    return "bad_frame" if error else "good"


def copies(config: Config, groups: list[Group], sources: list[Job]) -> Copies:
    """Return what each flow gets of some lists of frames, of which an input has one at most."""
    found: Copies = defaultdict(list)
    for source in sources:
        errors = source.get("error", [0] * len(source["lengths"]))
        for number, length, error in zip(map(int, source["queues"]), source["lengths"], errors, strict=True):
            if number < config.flows:
                flows = [number]
            elif number - config.flows < len(groups):
                group = groups[number - config.flows]
                to = [output for output in range(config.ports) if group["destinations"] >> output & 1]
                flows = [(group["source"] * config.ports + output) * config.classes + group["class"] for output in to]
            else:
                found[-1].append((length, "bad_queue_id"))
                continue
            for flow in flows:
                found[flow].append((length, fate(config, length, error)))
    return found


def left_by_flow(result: dict[str, Any]) -> dict[int, list[tuple[int, int]]]:
    """Return (cycle, length) of each frame that has left, by flow, in the order in which they left."""
    columns = result["departures"]
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for cycle, flow, length in zip(columns["cycle"], columns["queue"], columns["length"], strict=True):
        found[int(flow)].append((int(cycle), int(length)))
    return found
