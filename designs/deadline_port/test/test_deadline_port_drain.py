# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The deadline port is drained under load, on both engines alike."""

import random
from typing import Any

import pytest
from test_deadline_port import job, library, some

from penstock.designs import configs
from penstock.designs.deadline_port import registers
from penstock.engine import engine
from penstock.testing.sessions import split
from penstock.testing.testkit import seed

NAMES = ("drain", "drained", "outstanding", "irq_cause", "irq_lost", "free_chunks")


def sessions(config: Any, faults: list[dict[str, Any]], **keys: Any) -> list[Any]:
    made = []
    for on_model in (False, True):
        memory = {"read_latency": 70, "write_latency": 40, "gap_permille": 200, "faults": faults}
        given = job(config, library(config.name)[1], [], some(config, 2000, 20_000, 60_000), any_class=True, memory=memory, seed=seed(),
                    ingress_bps=0, **keys)  # fmt: skip
        if on_model:
            given["device"] = {**{key: value for key, value in given["device"].items() if key != "library"}, "model": True}
        made.append(engine.module().Session(split(given)[0]))
        made[-1].start()
    return made


def compared(both: list[Any], *names: str) -> list[int]:
    found = [[made.read(registers.address(one)) for one in names] for made in both]
    assert found[0] == found[1], (both[0].now, names, found)
    assert both[0].now == both[1].now
    return [int(value) for value in found[0]]


@pytest.mark.parametrize("name", ["tiny_deadline_3", "tiny_fifo_3", pytest.param("tiny_deadline_16", marks=pytest.mark.slow)])
def test_at_rest_nothing_is_under_way_and_nothing_is_lost(name: str) -> None:
    """Stopped at random moments the device comes to rest, and stays, also while frames miss their deadlines; let go, it goes on."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    config = configs.load(name, "deadline_port")
    both = sessions(config, [], egress_bps=rng.choice([3e9, 10e9]))
    waited, busy = [], 0
    for turn in range(10):
        for _ in range(rng.choice([20, 150])):
            frame = both[0].now + rng.randrange(600), rng.randrange(config.classes), bytes(rng.choice([60, 590, 1514, 1523]))
            for made in both:
                made.offer(*frame)
        until = both[0].now + rng.randrange(20, 900)
        for made in both:
            made.advance(until)
            made.write(registers.address("irq_cause"), 31)
            made.write(registers.address("drain"), 1)
        begun = both[0].now
        while not compared(both, "drained")[0]:
            assert both[0].now < begun + 20_000, "it does not come to rest"
            for made in both:
                made.advance(made.now + 10)
        waited.append(both[0].now - begun)
        for made in both:
            made.advance(made.now + 20)
        assert compared(both, "outstanding", "irq_cause") == [0, 8]
        sent = [made.totals()["packets"]["out"] for made in both]
        for _ in range(rng.choice([1, 12])):
            until = both[0].now + rng.randrange(1, 3000)
            for made in both:
                made.advance(until)
            busy += compared(both, *NAMES)[4] > 0
            assert compared(both, "drained", "outstanding") == [1, 0]
        assert sent == [made.totals()["packets"]["out"] for made in both] and sent[0] == sent[1], turn
        until = both[0].now + 200
        for made in both:
            made.write(registers.address("drain"), 0)
            made.advance(until)
        assert compared(both, "drained") == [0]
    print("cycles until it was at rest:", waited)
    for made in both:
        made.advance(made.now + 500_000, until_empty=True)
        ended = made.end()
        assert ended["conservation_ok"] and not ended["findings"] and ended["drained"], ended["findings"]
    assert busy or name != "tiny_deadline_3", "no frame missed its deadline at rest"


def test_a_silent_memory_keeps_it_from_rest() -> None:
    """It is named; the device is at rest when its answers have come."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    config = configs.load("tiny_deadline_3", "deadline_port")
    both = sessions(config, [{"what": "stall", "from": 4000, "until": 12_000}], egress_bps=1e9)
    for _ in range(400):
        frame = both[0].now + rng.randrange(4000), rng.randrange(config.classes), bytes(1514)
        for made in both:
            made.offer(*frame)
    for made in both:
        made.advance(5000)
        made.write(registers.address("drain"), 1)
        made.advance(10_000)
    drained, outstanding = compared(both, "drained", "outstanding")
    assert not drained and outstanding
    for made in both:
        made.advance(20_000)
    assert compared(both, "drained", "outstanding") == [1, 0]
