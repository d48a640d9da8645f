# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Queue manager and scheduler together: fair shares, exact rates, bursts after idle times, resets.

docs/verification.md says against which faults.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import pytest

from penstock.designs.access_edge.registers import rate_code
from penstock.designs.access_edge.testing.testcore import TestCore
from penstock.engine import engine
from penstock.testing.testkit import seed

CLOCK_HZ = 220_000_000
QUEUES, DESCRIPTORS = 16, 64


@pytest.fixture
def core() -> Iterator[TestCore]:
    print(f"PENSTOCK_SEED={seed()}")
    made = TestCore(QUEUES, DESCRIPTORS)
    yield made
    made.close()


@pytest.mark.parametrize("shaping", [True, False])
@pytest.mark.parametrize("ready", [1.0, 0.3])
def test_equal_queues_send_equally_often(shaping: bool, ready: float) -> None:
    """Unshaped, always backlogged: at every moment the packets that any two queues have sent differ by one at most."""
    core, rng = TestCore(QUEUES, DESCRIPTORS, shaping), random.Random(seed())
    core.pins.m_out_ready = 0
    missing = Counter(dict.fromkeys(range(QUEUES), 4))
    sent: Counter[int] = Counter(dict.fromkeys(range(QUEUES), 0))
    for step in range(30_000):
        queue = max(missing, key=lambda queue: missing[queue])
        if missing[queue] and core.offer(queue, rng.randrange(60, 1515)):
            missing[queue] -= 1
        # What waits in the output FIFO was decided before all queues were backlogged.
        core.pins.m_out_ready = step > 1000 and rng.random() < ready
        if step == 2000:
            sent.update({queue: -count for queue, count in sent.items()})
        left = core.cycle()
        if left:
            missing[left.queue] += 1
            sent[left.queue] += 1
            # The first turn is cut somewhere, so one more is allowed.
            assert step < 2000 or max(sent.values()) - min(sent.values()) <= 1, sent
    assert min(sent.values()) > 50
    core.close()


@pytest.mark.parametrize("rate", [10**9, 25 * 10**9, 100 * 10**9])
def test_rate_over_1000_packets(core: TestCore, rate: int) -> None:
    """Any 1,000 consecutive packets of a backlogged queue leave at its rate within 0.1 %. Slower ones: test_shaper_model.py."""
    core.configure(5, *rate_code(rate, CLOCK_HZ))
    rng = random.Random(seed())
    lengths = iter(lambda: rng.choice([1514, 9600]) if rate > 10**9 else rng.choice([60, 590, 1514]), None)
    core.backlog(5, lengths, 100)  # the first packets make use of the tolerance of 1,024 cycles
    left = core.backlog(5, lengths, 1001 + 200)
    for first in range(0, 200, 20):
        window = left[first : first + 1001]
        sent = sum(departure.length for departure in window[:-1]) * 8
        measured = Fraction(sent * CLOCK_HZ, window[-1].cycle - window[0].cycle)
        assert abs(measured / rate - 1) < Fraction(1, 1000), f"{float(measured):.0f} bit/s"


def test_oversize_packets_are_paid_for_to_the_byte(core: TestCore) -> None:
    """Sizes from 60 to 9,600 byte, far more than a burst: each packet leaves when the arithmetic says, at most 64 cycles late."""
    models = engine.models("timing")
    mantissa, exponent = rate_code(3 * 10**9, CLOCK_HZ)
    core.configure(2, mantissa, exponent)
    rng = random.Random(seed())
    lengths = iter(lambda: rng.choice([60, 1514, 9600]), None)
    core.backlog(2, lengths, 30)  # the first packets make use of the tolerance of 1,024 cycles
    left = core.backlog(2, lengths, 300)
    time = left[0].cycle << 16
    offsets = []
    for departure in left:
        offsets.append(departure.cycle - (time >> 16))
        time += models.shaper_increment(mantissa, exponent, departure.length)
    assert max(offsets) - min(offsets) <= 64, f"{min(offsets)} to {max(offsets)} cycles"


@pytest.mark.parametrize("idle", [3_000, 40_000, 200_000])
def test_credit_after_an_idle_time(core: TestCore, idle: int) -> None:
    """After an idle time a queue sends its burst at once, and not a packet more: GCRA's number, whatever the length of the pause."""
    length, burst = 1000, 30_000
    mantissa, exponent = rate_code(10**9, CLOCK_HZ)
    core.configure(7, mantissa, exponent, burst)
    core.backlog(7, itertools.repeat(length), 200)
    while any(core.held.values()) or core.pins.s_enq_valid:
        core.cycle()
    for _ in range(idle):
        core.cycle()
    period = length * 8 * CLOCK_HZ / 10**9
    start = core.pins.now
    times: list[int] = []
    offered = 0
    while len(times) < 40:
        offered += offered < 40 and core.offer(7, length)
        departure = core.cycle()
        if departure:
            times.append(departure.cycle - start)
    # GCRA: the credit of the pause, at most the burst (the queue's stamp was at most one period ahead when the pause began).
    least, most = int((min(burst, idle - period)) / period) + 1, int(min(burst, idle + 1000) / period) + 1
    at_once = sum(time < period for time in times)
    assert least <= at_once <= most + 1, (at_once, least, most)
    assert times[-1] - times[at_once] >= (40 - at_once - 1) * period - 64, "more than the rate after the burst"


def test_resets_in_mid_traffic(core: TestCore) -> None:
    """After a reset nothing of before comes out, every descriptor can be used again, and shapers are open."""
    rng = random.Random(seed())
    for _ in range(12):
        for queue in range(QUEUES):  # some unshaped, some slow, some closed
            core.configure(queue, *rng.choice([(1, 0), (40_000, 20), (0, 0)]))
        for _ in range(rng.randrange(20, 600)):
            core.pins.m_out_ready = rng.random() < 0.5
            if rng.random() < 0.8:
                core.offer(rng.randrange(QUEUES), rng.randrange(14, 9601))
            core.cycle()
        core.reset()
        for _ in range(200):
            assert core.cycle() is None, "a packet of before the reset"
        for number in range(DESCRIPTORS):
            while not core.offer(number % QUEUES, 60 + number):
                core.cycle()
        for _ in range(DESCRIPTORS * 40):
            core.cycle()
        assert core.accepted == DESCRIPTORS == len(core.free), "open queues keep packets"


def test_every_packet_is_accounted_for(core: TestCore) -> None:
    """Accepted, dropped with a reason, sent or still there: at any moment, with limits that drop most."""
    rng = random.Random(seed())
    for queue in range(QUEUES):
        core.pins.s_cfg_valid, core.pins.s_cfg_queue, core.pins.s_cfg_shaper = 1, queue, 1
        core.pins.s_cfg_limit_packets, core.pins.s_cfg_limit_bytes = 1 + queue % 3, 3000
        core.cycle()
        while not core.pins.s_cfg_ready:
            core.cycle()
    core.pins.s_cfg_valid = 0
    offered = sent = 0
    for _ in range(20_000):
        core.pins.m_out_ready = rng.random() < 0.2
        offered += core.offer(rng.randrange(QUEUES), rng.randrange(14, 2000))
        sent += core.cycle() is not None
    while core.pins.s_enq_valid:
        sent += core.cycle() is not None
    for _ in range(8):
        sent += core.cycle() is not None
    assert offered == core.accepted + core.dropped
    assert core.accepted == sent + sum(map(len, core.held.values()))
    assert core.dropped > 1000
