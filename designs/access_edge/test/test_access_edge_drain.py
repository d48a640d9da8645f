# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The device is drained under load, in every kind of design; `test_access_edge.py` resets it beside memories that are not."""

import random
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.testing.testkit import seed


def session(config: Any, library: str | None, faults: list[list[dict[str, Any]]] | None = None) -> Any:
    timing = {"read_latency": 60, "write_latency": 30, "gap_permille": 300}
    device = twins.device(config, library, timing)
    memories = [memory | {"faults": own} for memory, own in zip(device["memories"], faults or [[]] * len(device["memories"]), strict=True)]
    job = {"device": device | {"memories": memories}, "sources": [], "seed": seed(), "ingress_bps": 0, "egress_bps": 50e9}
    return engine.module().Session(job)


def offer(made: Any, config: Any, rng: random.Random, count: int) -> None:
    for _ in range(count):
        made.offer(made.now + rng.randrange(400), rng.randrange(config.queues), bytes(rng.choice([60, 590, 1514])))


def drained(made: Any, most: int = 3000) -> int:
    """Wait until the device is at rest; return the cycles."""
    begun = made.now
    while not made.read(registers.address("drained")):
        assert made.now < begun + most, "it does not come to rest"
        made.advance(made.now + 10)
    return int(made.now - begun)


@pytest.mark.parametrize("name", ["tiny_16", *(pytest.param(one, marks=pytest.mark.slow) for one in
                                  ("tiny_share_16", "tiny_codel_16", "tiny_pie_16", "tree_64"))])  # fmt: skip
def test_at_rest_nothing_is_under_way_and_nothing_is_lost(name: str) -> None:
    """Stopped at random moments the device comes to rest, and stays; let go, it sends every frame."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    config = configs.load(name)
    made = session(config, str(verilate.build_device(config, print, assertions=True)))
    made.write(registers.address("memory_timeout"), 0)
    made.start()
    for queue in range(min(config.queues, 4)):
        for address, value in registers.queue_writes(queue, None, 0, 65_535, 16_777_215, config.clock_hz):
            made.write(address, value)
    waited = []
    for _ in range(8):
        offer(made, config, rng, 60)
        made.advance(made.now + rng.randrange(20, 400))
        made.write(registers.address("drain"), 1)
        waited.append(drained(made))
        assert made.read(registers.address("outstanding")) == 0
        sent = made.totals()["packets"]["out"]
        made.advance(made.now + rng.randrange(1, 500))
        assert made.totals()["packets"]["out"] == sent and made.read(registers.address("drained")) == 1
        made.write(registers.address("drain"), 0)
        made.advance(made.now + rng.randrange(100, 1000))
        assert made.read(registers.address("drained")) == 0
    made.advance(made.now + 500_000, until_empty=True)
    print("cycles until it was at rest:", waited)
    ended = made.end()
    assert ended["conservation_ok"] and not ended["findings"] and ended["drained"], ended["findings"]


def test_a_silent_memory_keeps_it_from_rest() -> None:
    """A memory that owes answers is named, also when the device has given it up; it is at rest when they have come."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    config = configs.load("tiny_16")
    which, until = rng.randrange(2), 30_000
    faults: list[list[dict[str, Any]]] = [[], []]
    faults[which] = [{"what": "silent", "from": 300, "until": until}]
    made = session(config, str(verilate.build_device(config, print, assertions=True)), faults)
    made.write(registers.address("memory_timeout"), rng.choice([0, 2000]))
    made.start()
    offer(made, config, rng, 120)
    made.advance(1000)
    made.write(registers.address("drain"), 1)
    made.advance(rng.randrange(6000, 20_000))
    assert made.read(registers.address("drained")) == 0
    assert made.read(registers.address("outstanding")) >> which & 1
    made.advance(until)
    drained(made)
    assert made.read(registers.address("outstanding")) == 0


def test_the_model_refuses_to_be_drained() -> None:
    config = configs.load("tiny_16")
    made = session(config, None)
    made.start()
    made.write(registers.address("drain"), 1)
    with pytest.raises(Exception, match="the model cannot be drained"):
        made.read(registers.address("drained"))
