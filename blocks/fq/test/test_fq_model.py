"""The model of pst_fq, each operation judged by RFC 8290 in plain Python; how flows share flow queues, and how full the pool gets."""

import itertools
import random
from collections.abc import Callable

import pytest
from fq_drive import Drive, Packet
from rfc8290 import FlowQueues

from penstock.engine import engine
from penstock.testing.testkit import seed


@pytest.fixture(scope="module")
def fq():
    return engine.models("fq").Fq


def generator() -> random.Random:
    print(f"PENSTOCK_SEED={seed()}")
    return random.Random(seed())


def flood(rng: random.Random, queues: int) -> Packet:
    """Every packet a flow of its own, beside a few that send much."""
    return rng.randrange(queues), rng.randrange(1024) if rng.random() < 0.8 else rng.randrange(3), rng.choice((1, 64, 64, 64, 200))


def few(rng: random.Random, queues: int) -> Packet:
    return rng.randrange(queues), rng.randrange(3), rng.choice((64, 576, 1514))


def mixed(rng: random.Random, queues: int) -> Packet:
    """Most to one queue, flows of very different sizes."""
    flow = min(int(rng.expovariate(0.3)), 1023)
    return 0 if rng.random() < 0.6 else rng.randrange(queues), flow, rng.choice((40, 64, 300, 1514, 9000 if flow == 0 else 64))


PATTERNS = {"flood": flood, "few": few, "mixed": mixed}


@pytest.mark.parametrize("pattern", list(PATTERNS))
@pytest.mark.parametrize("drops, lanes", [(0.0, 1), (0.3, 1), (0.3, 2)], ids=["no-aqm", "aqm", "aqm-2-lanes"])
def test_every_operation_is_that_of_the_rfc(fq, pattern: str, drops: float, lanes: int) -> None:
    rng = generator()
    queues = 4
    model = fq(queues=queues, flows=1024, descriptors=512, lanes=lanes, age_cycles=2)
    settings = {
        0: (1514, 0xFFFF, 0xFFFFFF),
        1: (300, 40, 0xFFFFFF),
        2: (90, 0xFFFF, 20_000),
        3: (1514, 5, 4000),
    }
    drive = Drive(model, rng, 512, settings)
    for _ in range(12):
        offered, looks, takes, stalls = (
            rng.choice((0.1, 0.5, 1.0)),
            rng.choice((0.05, 0.5, 1.0)),
            rng.choice((0.5, 1.0)),
            rng.choice((0, 0.3)),
        )
        drive.pool = rng.choice((0xFFFFFFFF, 0xFFFFFFFF, 200))
        for _ in range(1500):
            drive.cycle(
                lambda offered=offered: PATTERNS[pattern](rng, queues) if rng.random() < offered else None,
                looks=looks, takes=takes, drops=drops, stalls=stalls,
            )  # fmt: skip
    drive.drain(8000, drops=drops)
    counts = drive.judge.counts
    print(counts, "behind", drive.judge.behind)
    assert model.total == 0 and len(drive.free) == 512
    assert counts["enqueued"] == counts["sent"] + counts["dropped"]
    assert counts["removed"] > 50 and counts["dropped"] > 50 and counts["moved"] > 50
    if pattern != "flood":
        assert counts["rotated"] > 50


@pytest.mark.parametrize("quantum", [90, 300, 1514])
def test_order_of_a_whole_dequeue(fq, quantum: int) -> None:
    """Packets that come while nothing leaves, and leave while none comes, have the order of the RFC's dequeue(), run all at once."""
    rng = generator()
    model = fq(queues=2, flows=1024, descriptors=256, age_cycles=1000)
    drive = Drive(model, rng, 256, dict.fromkeys(range(2), (quantum, 65535, 16777215)))
    judge = FlowQueues(quantum)
    staged: tuple[int, int] | None = None
    compared = 0

    def choose() -> tuple[int, int] | None:
        found = judge.dequeue()
        return found[1] if found else None

    for _ in range(40):
        for _ in range(rng.randrange(1, 40)):
            bucket, length = rng.randrange(10), rng.choice((64, 300, 1514))
            wanted = [(0, bucket, length)]
            desc = drive.free[0]
            for _ in range(40):
                drive.cycle(lambda wanted=wanted: wanted.pop() if wanted else None, looks=0.0)
            judge.enqueue(bucket, (desc, length))
            staged = staged or choose()
        for _ in range(rng.randrange(1, 60)):
            if staged is None:
                break
            drive.left.clear()
            while not drive.left:
                drive.cycle(lambda: None)
            assert drive.left[0][1:] == staged
            staged = choose()
            compared += 1
            drive.drain(10, looks=0.0)
            while staged and not drive.waiting:
                drive.drain(1, looks=0.0)
        drive.drain(400, looks=0.0)
    assert compared > 200


def buckets_that_share(buckets: list[int]) -> int:
    return len(buckets) - len(set(buckets))


@pytest.mark.parametrize("flows", [2, 8, 32, 100, 200])
@pytest.mark.parametrize("others", [0, 100_000])
def test_flows_share_only_where_their_buckets_do(fq, flows: int, others: int) -> None:
    """At full size, with 2 to 200 flows of a subscriber, alone or beside 100,000 flows of others: as 1,024 buckets of a good hash."""
    rng = generator()
    model = fq(queues=32_768, flows=262_144, descriptors=131_072, age_cycles=1 << 20)
    descriptor = itertools.count()
    places: dict[tuple[int, int], int] = {}

    def enqueue(queue: int, bucket: int) -> None:
        while not model.enqueue_ready(queue):
            model.cycle()
        model.cycle(enqueue=(queue, bucket, next(descriptor), 64))

    for _ in range(others):
        enqueue(rng.randrange(32_768), rng.randrange(1024))
    hot = [rng.randrange(32_768) for _ in range(20)]
    wanted = {queue: [rng.randrange(1024) for _ in range(flows)] for queue in hot}
    for queue, buckets in wanted.items():
        for bucket in buckets:
            enqueue(queue, bucket)
    for _ in range(200):
        model.cycle()
    for _, did, queue, bucket, place, _, _ in model.done():
        if did == 0:
            places[queue, bucket] = place
    for queue, buckets in wanted.items():
        used = {places[queue, bucket] for bucket in buckets}
        assert len(buckets) - len(used) == buckets_that_share(buckets)


def test_how_full_the_pool_gets(fq) -> None:
    """Keys at random, and each queue with its seven: places in use when the first flow finds none, and flows without one at 90 %."""
    rng = generator()
    for name in ("random", "few of each queue", "many of a few"):
        model = fq(queues=4096, flows=32_768, descriptors=65_536, age_cycles=1 << 20)
        places = 14 * 2048
        if name == "random":
            keys = list({(rng.randrange(4096), rng.randrange(1024)) for _ in range(places)})
        elif name == "few of each queue":
            keys = [(queue, bucket) for queue in range(4096) for bucket in rng.sample(range(1024), 7)]
        else:
            keys = [(queue, bucket) for queue in rng.sample(range(4096), 29) for bucket in range(1024)]
        rng.shuffle(keys)
        for desc, (queue, bucket) in enumerate(keys):
            while not model.enqueue_ready(queue):
                model.cycle()
            model.cycle(enqueue=(queue, bucket, desc % 65_536, 64))
        for _ in range(40):
            model.cycle()
        done = [operation for operation in model.done() if operation[1] == 0]
        own = [place == model.own(queue) for _, _, queue, _, place, _, _ in done]
        first, at_90 = own.index(True) / places, sum(own[: places * 9 // 10]) / (places * 9 // 10)
        print(f"{name}: the first flow without a place at {first:.3f} of the places; at 0.9 of them {at_90:.5f} have none")
        assert first > 0.6
        assert at_90 < 0.02


def test_flow_queues_come_back(fq) -> None:
    rng = generator()
    model = fq(queues=16, flows=256, descriptors=256, age_cycles=1)
    drive = Drive(model, rng, 256, dict.fromkeys(range(16), (1514, 65535, 16777215)))
    for _ in range(6):
        for _ in range(2500):
            drive.cycle(lambda: (rng.randrange(16), rng.randrange(1024), 64) if rng.random() < 0.7 else None)
        drive.drain(12_000)
        assert model.total == 0 and model.claimed == 0
    assert drive.judge.counts["own"] > 20


def test_a_packet_in_the_middle_of_a_release(fq) -> None:
    """A flow's next packet comes after each pause that there is around its release: its flow queue is never another's meanwhile."""
    rng = generator()
    model = fq(queues=4, flows=32, descriptors=16, age_cycles=1)
    drive = Drive(model, rng, 16, dict.fromkeys(range(4), (1514, 65535, 16777215)))
    kept = 0
    for pause in range(0, 900, 2):
        before = model.claimed
        # The second packet of the flow finds it listed; one of a flow that is new wants a free place in between.
        for key in ((1, 5), (2, rng.randrange(1024)), (1, 5)):
            packets = [(*key, 64)]
            for _ in range(30):
                drive.cycle(lambda packets=packets: packets.pop() if packets else None, looks=0.0)
        kept += before > 0
        drive.drain(40)
        drive.drain(pause)
    assert 50 < kept < 440


def test_the_named_flow_is_near_the_fattest(fq) -> None:
    """How far off it is. The judge sees that no flow is fatter by more than the named ones have lost since its latest operation."""
    rng = generator()
    model = fq(queues=2, flows=1024, descriptors=4096, age_cycles=50)
    drive = Drive(model, rng, 4096, {0: (1514, 300, 0xFFFFFF), 1: (1514, 300, 0xFFFFFF)})
    for _ in range(60_000):
        drive.cycle(
            lambda: (rng.randrange(2), min(int(rng.expovariate(0.1)), 1023), rng.choice((64, 1514))) if rng.random() < 0.1 else None,
            looks=0.05,
        )
    print(f"behind the fattest by up to {drive.judge.behind} bytes", drive.judge.counts)
    assert drive.judge.counts["dropped"] > 1000
    assert drive.judge.behind < 20_000


def test_a_flood_costs_a_polite_flow_nothing(fq) -> None:
    """A flow of one packet in 2,000 cycles beside a flow of 20 times the rate of the queue: none of its packets is lost."""
    rng = generator()
    model = fq(queues=2, flows=1024, descriptors=2048, age_cycles=50)
    drive = Drive(model, rng, 2048, {0: (1514, 100, 0xFFFFFF), 1: (1514, 100, 0xFFFFFF)})
    polite = 0

    def packet() -> Packet | None:
        nonlocal polite
        if model.now % 2000 == 0:
            polite += 1
            return 0, 1000, 200
        return (0, 7, 64) if model.now % 10 == 0 else None

    for _ in range(60_000):
        drive.cycle(packet, looks=1 / 200)
    drive.drain(30_000)
    assert polite > 25
    assert drive.judge.counts["dropped"] > 4000
    assert drive.judge.sent[0, 1000] == 200 * polite


def rate(drive: Drive, packet: Callable[[], Packet | None], cycles: int) -> float:
    """Return packets that leave per cycle."""
    before = len(drive.left)
    for _ in range(cycles):
        drive.cycle(packet)
    return (len(drive.left) - before) / cycles


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_rates(fq, lanes: int) -> None:
    """Enqueue and dequeue at once, as many as go, with packets of 64 bytes."""
    rng = generator()
    queues = 64
    for name, packet, least in (
        ("backlogged flows", lambda: (rng.randrange(queues), rng.randrange(4), 64), 0.42),
        ("every packet a flow", lambda: (rng.randrange(queues), rng.randrange(1024), 64), 0.2),
    ):
        model = fq(queues=queues, flows=4096, descriptors=2048, lanes=lanes, age_cycles=64)
        drive = Drive(model, rng, 2048, dict.fromkeys(range(queues), (1514, 65535, 16777215)))
        rate(drive, packet, 6000)
        found = rate(drive, packet, 6000)
        print(f"{name}: {found:.3f} packets in and out per cycle, {lanes} lanes")
        assert found > min(least * lanes, 0.8)


def test_one_flow_alone(fq) -> None:
    rng = generator()
    model = fq(queues=2, flows=1024, descriptors=64, age_cycles=1000)
    drive = Drive(model, rng, 64, {0: (1514, 0xFFFF, 0xFFFFFF), 1: (1514, 0xFFFF, 0xFFFFFF)})
    found = rate(drive, lambda: (0, 5, 64), 6000)
    print(f"a packet every {1 / found:.1f} cycles")
    assert 1 / found <= 16


def test_latency_of_an_idle_queue(fq) -> None:
    model = fq(queues=2, flows=1024, descriptors=64)
    model.cycle()
    began = model.now
    model.cycle(enqueue=(1, 77, 3, 100))
    while model.active is None:
        model.cycle()
    assert model.active == (1, 100)
    assert model.now - began == 20


def test_credits_of_a_known_sequence() -> None:
    """The credits that ns-3's suite of fq-codel expects, with a quantum of 90 and packets of 120 bytes: -30, 60, -60, 30, -90."""
    judge = FlowQueues(90)
    judge.enqueue(1, (0, 120))
    assert judge.dequeue()
    assert judge.flow(1).credits == -30
    for name, desc in ((1, 1), (1, 2), (2, 3), (2, 4)):
        judge.enqueue(name, (desc, 120))
    # Flow 1 gets a quantum and goes to the old flows, flow 2 is served; then flow 2 goes behind flow 1; and so on.
    for credits in ((60, -30), (-60, 60), (30, -60), (-90, 30)):
        assert judge.dequeue()
        assert (judge.flow(1).credits, judge.flow(2).credits) == credits
