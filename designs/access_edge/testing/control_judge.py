# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Random subscribers, and whether a device has what is wanted: judged by a mirror of its registers."""

import random
import time
from collections.abc import Callable
from typing import Any

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.plant import Subscriber
from penstock.designs.access_edge.testing.control import (
    Mirror,
)


def drawn(rng: random.Random, name: str, guarantees: bool = False) -> Subscriber:
    """A subscriber that the device can have."""
    made = Subscriber(name=name, node=rng.randrange(4), gate_closed=rng.random() < 0.1)
    if rng.random() < 0.8:
        made.rate_bps = rng.choice([0, 64_000, 1_000_000, rng.randrange(64_000, 10**9)])
    if rng.random() < 0.5:
        made.burst_bytes = rng.randrange(0, 3000)
    if rng.random() < 0.5:
        made.weight = rng.randint(1, 8)
    for _ in range(rng.randint(0, 4)):
        queue = made.queues.add()
        if rng.random() < 0.8:
            queue.rate_bps = rng.choice([0, 2_000_000, 20_000_000, rng.randrange(64_000, 10**9)])
        for field, most in (("burst_bytes", 3000), ("limit_packets", 65_535), ("limit_bytes", 16_777_215), ("traffic_class", 3)):
            if rng.random() < 0.4:
                setattr(queue, field, rng.randint(0, most))
        if rng.random() < 0.4:
            queue.weight = rng.randint(1, 8)
    settings: list[Any] = [made, *made.queues]
    for one in settings:
        if guarantees and rng.random() < 0.6 and (most := one.rate_bps or 10**9) >= 64_000:
            one.guarantee_bps = rng.choice([0, 64_000, most, rng.randint(64_000, most)])
    return made


def expected(config: Any, subscriber: Subscriber) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The registers of a subscriber and its queues, from the encoders of rates and bursts."""

    def shaper(rate: int | None, burst: int) -> tuple[int, int]:
        mantissa, exponent = registers.rate_code(rate, config.clock_hz)
        return exponent << 16 | mantissa, registers.burst_cycles(burst, rate, config.clock_hz)

    own = shaper(subscriber.rate_bps if subscriber.HasField("rate_bps") else None, subscriber.burst_bytes)
    weight = subscriber.weight if subscriber.HasField("weight") else 1
    queues: list[tuple[int, ...]] = []
    for queue in subscriber.queues:
        rate = shaper(queue.rate_bps if queue.HasField("rate_bps") else None, queue.burst_bytes)
        limits = (
            queue.limit_packets if queue.HasField("limit_packets") else registers.MAX_LIMIT_PACKETS,
            queue.limit_bytes if queue.HasField("limit_bytes") else registers.MAX_LIMIT_BYTES,
        )
        share = queue.traffic_class | ((queue.weight if queue.HasField("weight") else 1) - 1) << 8
        queues.append(((0, 0) if subscriber.gate_closed else rate) + limits + (share,))
    queues += [(1, 0, 0, 0, 0)] * (4 - len(queues))
    return (*own, subscriber.node, weight - 1), queues


def guarantees_of(config: Any, subscriber: Subscriber) -> list[int]:
    """The registers of its guarantee and of those of its queues, as the device holds them."""
    rates = [subscriber.guarantee_bps, *(queue.guarantee_bps for queue in subscriber.queues)] + [0] * (4 - len(subscriber.queues))
    codes = [registers.rate_code(rate, config.clock_hz) if rate and config.hierarchy.guarantees else (0, 0) for rate in rates]
    return [exponent << 16 | mantissa for mantissa, exponent in codes]


def judge(mirror: Mirror, wanted: dict[str, Subscriber], places: dict[str, int], empty: set[int]) -> None:
    """The device has what is wanted, at each place that was ever used; what has gone drops all."""
    for name, subscriber in wanted.items():
        parent, queues = expected(mirror.config, subscriber)
        place = places[name]
        assert mirror.subscribers[place] == parent, name
        assert [mirror.queues[4 * place + n] for n in range(4)] == queues, name
        places_of = [("subscriber", place), *(("queue", 4 * place + n) for n in range(4))]
        assert [mirror.guarantees[one] for one in places_of] == guarantees_of(mirror.config, subscriber), name
    for place in empty:
        assert [mirror.queues[4 * place + n] for n in range(4)] == [(1, 0, 0, 0, 0)] * 4


def until(what: Callable[[], Any]) -> None:
    """Wait for something."""
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)
