"""Random jobs for two engines and the comparison of their results: tests that the model is the RTL's twin.

A job has everything that a device meets: limits, all rates, closed gates that open while traffic flows, bursts, overload, frames of
all lengths, bad ones among them, slow lines, memories with other latencies and with gaps.
"""

import random
from pathlib import Path
from typing import Any

from penstock.designs.access_edge import find, registers
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.config import device as configuration_device
from penstock.testing.differences import differences
from penstock.testing.testjobs import flow_frames, frames, ip_frames

Job = dict[str, Any]
__all__ = ["IMIX", "device", "differences", "in_window", "random_job"]

FULL_CLOCK_HZ = 220_000_000
IMIX = [(60, 7), (590, 4), (1514, 1)]


def device(config: Config, library: Path | None, timing: dict[str, int]) -> Job:
    """Return key `device` of a job: the RTL in `library`, or without one the model."""
    return configuration_device(config, str(library) if library else None, timing)


def in_window(writes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the writes of a queue's or subscriber's settings with the last setting and the command as one write in the window, which
    leaves the index one further."""
    *before, (_, command) = writes
    name = {registers.COMMAND_WRITE: "queue_limit_bytes", registers.COMMAND_HIERARCHY["subscriber"]: "tree_parent"}[command]
    last = registers.address(name)
    return [write for write in before if write[0] != last] + [(registers.executing(name), dict(before)[last])]


def random_job(config: Config, seed: int) -> tuple[Job, dict[str, int]]:
    """Return a job without its device, and the timing of its memories."""
    rng, window = random.Random(seed), random.Random(seed)
    queues = list(range(config.queues)) if config.queues <= 64 else sorted(rng.sample(range(config.queues), rng.choice([3, 40, 400])))
    low_limits = rng.random() < 0.6
    longest = config.max_frame_bytes
    pace = config.clock_hz / FULL_CLOCK_HZ  # a slower device has slower lines, so that a job is the same cycle by cycle

    def aqm() -> registers.Aqm | None:
        if config.aqm == "none":
            return None
        # Short times, so that many rounds of drops fit in a job; a tick is some hundred cycles.
        return registers.Aqm.of_halves(rng.choice([0, 1, 2, 8]), rng.choice([1, 1, 2, 5]), rng.random() < 0.6, rng.random() < 0.95)

    def settings(queue: int) -> list[tuple[int, int]]:
        kind = rng.random()
        rate = (
            0
            if kind < 0.1
            else None
            if kind < 0.25
            else max(registers.least_rate(config.clock_hz, config.max_frame_bytes), int(pace * 10 ** rng.uniform(5, 10.9)))
        )
        if config.aqm != "none" and kind > 0.5:  # so many frames leave that a queue drops again and again
            rate = int(pace * 10 ** rng.uniform(9, 10.3))
        burst = min(rng.choice([0, 0, 2000, 50_000]), registers.MAX_BURST_CYCLES * (rate or 0) // (8 * config.clock_hz))
        limits = (rng.randint(0, 40), rng.randint(0, 60_000)) if low_limits else (65_535, 16_777_215)
        cls = rng.randrange(config.admission.classes) if config.admission else None
        quantum = rng.choice([0, 64, 300, rng.randint(1, 16_383)]) if config.flows else None
        sides = window.randrange(4) if config.flows and config.flows.hosts else 0
        writes = registers.queue_writes(queue, rate, burst, *limits, config.clock_hz, aqm(), share_class=cls, quantum=quantum, sides=sides)
        return in_window(writes) if window.random() < 0.5 else writes

    def share() -> list[tuple[int, int]]:
        assert config.admission
        rank = rng.randrange(len(config.page_sizes))
        pages = list(config.page_sizes.values())[rank]
        reserved = rng.choice([0, 1, rng.randint(0, pages // config.admission.classes), pages])
        return registers.share_writes(rng.randrange(config.admission.classes), rank, rng.choice([0, 3, 4, 5, 7, 15]), reserved)

    writes = [write for queue in queues if rng.random() < 0.8 for write in settings(queue)]
    if config.admission:
        writes += [write for _ in range(rng.choice([0, 2, 10])) for write in share()]
    if config.flows:
        limit = rng.choice([0xFFFF_FFFF, config.descriptors // 2, rng.randint(1, config.descriptors)])
        writes += [(registers.address("flow_limit"), limit), *find.flow_words(seed)]
    duration = rng.choice([20_000, 60_000])
    timed = []
    for _ in range(rng.choice([0, 0, 10, 60])):
        cycle = rng.randrange(duration)
        changed = share() if config.admission and rng.random() < 0.5 else settings(rng.choice(queues))
        timed += [(cycle, *write) for write in changed]
    sources: list[Job] = []
    if config.queues == 16:  # `frames` has queue ids that this device does not have
        sources.append(frames(random.Random(seed), rng.choice([50, 500]), mean_gap=rng.choice([3, 30, 80])))
    if config.aqm != "none":
        sources.append(ip_frames(random.Random(seed), queues[:3], rng.choice([300, 3000]), mean_gap=rng.choice([5, 15, 40])))
    if config.flows:
        for _ in range(rng.randint(1, 2)):
            few, gap = rng.choice([2, 5, 40]), rng.choice([3, 8, 40])
            sources.append(flow_frames(rng, rng.choice([queues[:1], queues[:4], queues]), few, rng.choice([300, 2500]), mean_gap=gap))
    for _ in range(rng.randint(1, 4)):
        some = [(rng.randint(14, longest), 1) for _ in range(20)]
        source: Job = {
            "kind": rng.choice(["constant", "poisson", "onoff"]),
            "queues": rng.choice([queues, queues[:1], queues[:3]]),
            "pick": rng.choice(["each", "round_robin", "random"]),
            "bps": pace * 10 ** rng.uniform(8.5, 11),
            "sizes": rng.choice([IMIX, [(60, 1)], some[:1], some, [(61, 1), (64, 1), (65, 1), (124, 1), (125, 1)]]),
        }
        if source["pick"] == "each":
            source["bps"] /= len(source["queues"])
        if source["kind"] == "onoff":
            source |= {"on_cycles": rng.choice([50, 500, 5000]), "off_cycles": rng.choice([50, 500, 5000])}
        sources.append(source)
    timing = {
        "read_latency": rng.choice([5, 44, 44, 200]),
        "write_latency": rng.choice([2, 22, 22, 120]),
        "gap_permille": rng.choice([0, 0, 0, 100, 400]),
    }
    job = {
        "seed": seed,
        "duration_cycles": duration,
        "drain": rng.random() < 0.6,
        "max_cycles": duration + rng.choice([10_000, 200_000]),
        "quiet_cycles": 50_000,
        "ingress_bps": pace * rng.choice([100e9, 100e9, 0, 10e9]),
        "egress_bps": pace * rng.choice([100e9, 100e9, 0, 5e9, 25e9]),
        "register_writes": writes,
        "timed_register_writes": timed,
        "sources": sources,
        "sample_queues": queues[:16],
        "keep_departures": True,
    }
    return job, timing
