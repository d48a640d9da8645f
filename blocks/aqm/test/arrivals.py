"""Arrivals at one queue, for tests of AQMs: Poisson, in bursts, and as a capture has them."""

import math
import random
from pathlib import Path

Arrival = tuple[int, int, bool]  # tick, bytes, ECN-capable


def poisson(rng: random.Random, packets: int, gap: float, ect: float = 0.5) -> list[Arrival]:
    """Arrivals with exponential gaps of `gap` ticks on average."""
    tick, arrivals = 1.0, []
    for _ in range(packets):
        tick += rng.expovariate(1 / gap)
        arrivals.append((int(tick), rng.choice([64, 594, 1514, 1514]), rng.random() < ect))
    return arrivals


def on_off(rng: random.Random, bursts: int, burst: int, gap: float, pause: float, ect: float = 0.0) -> list[Arrival]:
    """Bursts of `burst` packets `gap` ticks apart on average, with exponential pauses."""
    tick, arrivals = 1.0, []
    for _ in range(bursts):
        for _ in range(rng.randrange(1, 2 * burst)):
            tick += rng.expovariate(1 / gap)
            arrivals.append((int(tick), rng.choice([64, 1514, 1514, 1514]), rng.random() < ect))
        tick += rng.expovariate(1 / pause)
    return arrivals


def recorded(path: Path, tick_ns: float, seed: int, ect: float = 0.3) -> list[Arrival]:
    """The frames of a capture, at their times; whether each is ECN-capable is drawn."""
    from penstock.scenarios.pcap import read

    rng, frames = random.Random(seed), read(path)
    return [
        (1 + math.floor(time / tick_ns), int(length), rng.random() < ect)
        for time, length in zip(frames.times_ns, frames.lengths, strict=True)
    ]
