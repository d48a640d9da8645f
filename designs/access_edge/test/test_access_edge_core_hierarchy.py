# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The core with all four levels: packets that are sent ahead of their predecessor's being through keep their order, whatever gates do.

`TestCore` checks each packet that leaves: the oldest of its queue that the AQM did not drop. The core's assertions are on.
"""

import itertools
import random
from collections.abc import Iterator

import pytest

from penstock.designs.access_edge.registers import Aqm
from penstock.designs.access_edge.testing.testcore import TestCore
from penstock.testing.testkit import seed

QUEUES, DESCRIPTORS = 16, 128
HIERARCHY = {"Hierarchy": 1, "QueuesPerSubscriber": 2, "Nodes": 4, "Ports": 2, "Classes": 4}
CODEL = {"aqm": "codel", "AqmEstimate": 0, "TickShift": 2, "MaxPacketBytes": 100}
OPEN, CLOSED = (1, 0), (0, 0)
SUBSCRIBER, NODE, PORT = 1, 2, 3
PARENTS = {SUBSCRIBER: (QUEUES // 2, 4), NODE: (4, 2), PORT: (2, 1)}  # how many, and how many parents they may have


@pytest.fixture(params=[None, CODEL, pytest.param(CODEL | {"AqmEstimate": 1}, marks=pytest.mark.slow)], ids=["no_aqm", "codel", "estimate"])
def core(request: pytest.FixtureRequest) -> Iterator[TestCore]:
    print(f"PENSTOCK_SEED={seed()}")
    made = TestCore(QUEUES, DESCRIPTORS, aqm=request.param, hierarchy=HIERARCHY)
    yield made
    made.close()


def drain(core: TestCore) -> None:
    core.pins.m_out_ready = 1
    for queue in range(QUEUES):
        core.configure(queue, *OPEN)
    for what, (count, _) in PARENTS.items():
        for number in range(count):
            core.configure_parent(what, number, 0, *OPEN)
    for _ in range(20_000):
        core.cycle()
    assert len(core.free) == DESCRIPTORS, f"{DESCRIPTORS - len(core.free)} packets have not come out"


def test_order_with_gates_rates_and_moves(core: TestCore) -> None:
    """Few hot queues among others; rates, gates and parents change, some gates stay closed for long; then all comes out."""
    rng = random.Random(seed())
    for round_ in range(30):
        hot = rng.sample(range(QUEUES), rng.choice([1, 2, 5, 16]))
        ready, load = rng.choice([1.0, 1.0, 0.3]), rng.choice([0.1, 0.5, 1.0])
        for _ in range(1500):
            core.pins.m_out_ready = rng.random() < ready
            if rng.random() < load:
                core.offer(rng.choice(hot), rng.randrange(60, 1515), ect=rng.random() < 0.5)
            core.cycle()
            if rng.random() < 0.02:
                rate = rng.choice([OPEN, OPEN, CLOSED, (rng.randrange(32768, 65536), rng.randrange(10, 19))])
                what = rng.choice([0, SUBSCRIBER, SUBSCRIBER, NODE, NODE, PORT])
                if what == 0:
                    core.configure(rng.randrange(QUEUES), *rate, aqm=Aqm.of_halves(10, 60, rng.random() < 0.5, rng.random() < 0.5))
                else:
                    count, parents = PARENTS[what]
                    core.configure_parent(what, rng.randrange(count), rng.randrange(parents), *rate)
        if round_ % 3 == 2:
            drain(core)
            for queue in range(QUEUES):
                core.configure(queue, *OPEN, aqm=Aqm.of_halves(10, 60, ecn=bool(queue % 2)))


def test_a_queue_alone_beside_closed_gates(core: TestCore) -> None:
    """12 cycles a packet at most, also while every other queue stands before a closed gate with its first packets.

    With estimated delays the scheduler alone takes 13 (its README, "Verdicts").
    """
    most = 13 if core.estimate else 12
    core.backlog(3, itertools.repeat(60), 50)
    for closed in (False, True):
        if closed:
            for subscriber in range(QUEUES // 2):
                if subscriber != 1:
                    core.configure_parent(SUBSCRIBER, subscriber, 0, *CLOSED)
            for queue in (queue for queue in range(QUEUES) for _ in range(3)):
                while queue // 2 != 1 and not core.offer(queue, 60):
                    core.cycle()
            for _ in range(500):
                core.cycle()
        left = core.backlog(3, itertools.repeat(60), 400)
        cycles = left[-1].cycle - left[0].cycle
        assert cycles <= most * (len(left) - 1), f"{cycles / (len(left) - 1):.1f} cycles a packet, gates closed: {closed}"
    drain(core)


def test_resets_in_mid_traffic(core: TestCore) -> None:
    """Nothing of before comes out, and every descriptor can be used again."""
    rng = random.Random(seed())
    for _ in range(8):
        for _ in range(rng.randrange(20, 400)):
            core.pins.m_out_ready = rng.random() < 0.5
            core.offer(rng.randrange(3), rng.randrange(60, 1515))
            core.cycle()
        core.reset()
        for _ in range(200):
            assert core.cycle() is None, "a packet of before the reset"
        for number in range(DESCRIPTORS):
            while not core.offer(number % 3, 60 + number):
                core.cycle()
        drain(core)
