"""codel.p4, run packet by packet, against RFC 8289's pseudo-code: the same verdict on every packet where the RFC has the table's law.

The RFC drops as often as it takes in one deque(); here a dropped packet is followed by the next one at the same time, as on a target whose
egress drops cost no time on the link (`charged` below is the other kind). What is left between RFC and program is the table.
"""

import random
from pathlib import Path
from typing import Any

import pytest
from arrivals import Arrival, on_off, poisson, recorded
from codel_bottleneck import closed_loop, counts, open_loop
from machine import machine_of, registers
from p4_queue import INTERVAL_US, LEFT, MTU, PORTS, QUEUES, P4Queue, RfcQueue, exact_step, table_step
from rfc8289 import DROP, MARK, Packet

from penstock.testing.testkit import seed

CAPTURES = Path(__file__).resolve().parents[2] / "scenarios" / "captures"
WRAPS = [0, 2**32 - 150_000, 2**47 - 150_000, 2**48 - 150_000]
TARGET = 5_000


@pytest.fixture
def machine() -> Any:
    return machine_of("test/codel_trace")


def same(reference: RfcQueue, under_test: P4Queue) -> dict[str, int]:
    for i, (expected, got) in enumerate(zip(reference.verdicts, under_test.verdicts, strict=False)):
        assert got == expected, f"verdict {i}: program {got}, RFC {expected}, seed {seed()}"
    assert len(reference.verdicts) == len(under_test.verdicts)
    count = counts(reference.verdicts)
    print(count, "entries", reference.entries, "re-entries", reference.reentries, "highest count", reference.count)
    return count


def run_open(
    machine: Any, arrivals: list[Arrival], us_per_byte: float, target: int = TARGET, ecn: bool = True, offset: int = 0
) -> RfcQueue:
    reference, under_test = RfcQueue(target, ecn, table_step), P4Queue(machine, target, ecn, offset)
    begins = [open_loop(queue, arrivals, us_per_byte) for queue in (reference, under_test)]
    same(reference, under_test)
    assert begins[0] == begins[1]
    return reference


@pytest.mark.parametrize("offset", WRAPS)
@pytest.mark.parametrize("ecn", [False, True])
def test_poisson_across_the_wraps_of_the_clock(machine: Any, ecn: bool, offset: int) -> None:
    """More than the link takes, begun just before the clock passes 2^32, the middle of its range, and its end."""
    reference = run_open(machine, poisson(random.Random(seed()), 12_000, 500), 500 * 1.1 / 921.5, ecn=ecn, offset=offset)
    assert reference.entries > 0 and reference.count > 10
    assert not ecn or counts(reference.verdicts)["mark"] > 0


@pytest.mark.parametrize("target", [500, 20_000])
def test_bursts_enter_again(machine: Any, target: int) -> None:
    """Bursts of several intervals with pauses around 16 intervals: entries with the remembered count and without it."""
    arrivals = on_off(random.Random(seed()), 60, 500, 1_000, 16 * INTERVAL_US)
    reference = run_open(machine, arrivals, 1.6 * 1_000 / 1151, target, offset=2**32 - 3_000_000)
    assert reference.reentries > 5
    assert reference.entries - reference.reentries > 5


def test_unresponsive_overload_catches_up(machine: Any) -> None:
    """Ten times the link's rate without a reaction: several drops in one deque()."""
    reference = run_open(machine, poisson(random.Random(seed()), 40_000, 1_000, ect=0.2), 10.0, 5_000, ecn=False)
    assert "ddd" in "".join("d" if verdict == DROP else "." for _, verdict in reference.verdicts)
    assert reference.count > 500


@pytest.mark.parametrize("flows", [1, 4, 16])
def test_closed_loop(machine: Any, flows: int) -> None:
    """Senders that slow down when they lose a packet, as far away as in the paper's testbed and at its link's rate."""
    reference, under_test = RfcQueue(TARGET, True, table_step), P4Queue(machine, TARGET, True, 2**32 - 2_000_000)
    for queue in (reference, under_test):
        closed_loop(queue, flows, 15_000, 4_000, 8 / 24, flows == 4)
    count = same(reference, under_test)
    assert count["mark" if flows == 4 else "drop"] > 5


def test_recorded(machine: Any) -> None:
    arrivals = recorded(CAPTURES / "first_light.pcap", 1_000, seed())
    count = counts(run_open(machine, arrivals, 8 / 20).verdicts)
    assert count["drop"] > 5 and count["mark"] > 5


@pytest.mark.parametrize("ecn", [False, True])
def test_every_boundary(machine: Any, ecn: bool) -> None:
    """Times on a grid of a quarter of an interval, target on it, too: each comparison is met at equality, again and again."""
    rng = random.Random(seed())
    grid = INTERVAL_US // 4
    for port in range(PORTS):
        for index in range(QUEUES):
            target = rng.randrange(1, 4) * grid
            reference, under_test = RfcQueue(target, ecn, table_step), P4Queue(machine, target, ecn, 0, port, index)
            now, number = grid, 0
            for _ in range(1_200):
                now += grid * rng.choice([0, 1, 1, 2, 3, rng.randrange(80) if rng.random() < 0.05 else 0])
                for _ in range(rng.choice([0, 0, 1, 2, 2, 3]) if len(reference.packets) < 60 else 0):
                    packet = Packet(number, now, rng.choice([64, MTU, MTU]), rng.random() < 0.4)
                    number += 1
                    reference.enqueue(packet)
                    under_test.enqueue(packet)
                if rng.random() < 0.8:
                    assert reference.dequeue(now) == under_test.dequeue(now), f"port {port}, queue {index}, us {now}, seed {seed()}"
                if rng.random() < 0.01:
                    while reference.packets:
                        now += grid
                        reference.dequeue(now)
                        under_test.dequeue(now)
            assert counts(same(reference, under_test) and reference.verdicts)["mark" if ecn else "drop"] > 20


def test_idle_for_days(machine: Any) -> None:
    """Pauses of 16 intervals, an hour, a day, a year: short ones remember the count, long ones do not, and none stops the dropping."""
    rng, arrivals, now = random.Random(seed()), [], 1
    day = 86_400 * 10**6
    for pause in [0, 5, 15, 17, 36_000, day // INTERVAL_US, 10, 2**31 // INTERVAL_US, 2**32 // INTERVAL_US, 365 * day // INTERVAL_US] * 2:
        now += pause * INTERVAL_US
        for _ in range(1_200):
            now += rng.randrange(500, 1_500)
            arrivals.append((now, MTU, False))
    reference = run_open(machine, arrivals, 1.0)
    assert reference.reentries > 2 and reference.entries - reference.reentries > 5


def test_held_up_for_days_while_dropping(machine: Any) -> None:
    """A queue that is not served for days goes on as the RFC says: its drops are overdue."""
    reference, under_test = RfcQueue(TARGET, False, table_step), P4Queue(machine, TARGET, False)
    now = 0
    for queue in (reference, under_test):
        now = 0
        for number in range(3_000):
            queue.enqueue(Packet(number, now, MTU))
        for _ in range(400):
            now += 1_000
            queue.dequeue(now)
        assert queue.verdicts[-1][1] in (0, DROP)
        now += 3 * 86_400 * 10**6
        while queue.packets:
            now += 1_000
            queue.dequeue(now)
    assert same(reference, under_test)["drop"] > 2_000


def test_mtu_guard(machine: Any) -> None:
    """Sojourn times far above target, never more than an MTU left behind: nothing is dropped; with a byte more it is."""
    queue = P4Queue(machine, TARGET, False)
    assert [queue.judge(us, 50_000, MTU, False) for us in range(0, 2_000_000, 1_000)] == [0] * 2_000
    assert DROP in [queue.judge(us, 50_000, MTU + 1, False) for us in range(2_000_000, 4_000_000, 1_000)]


def test_ports_and_queues_beyond(machine: Any) -> None:
    """Queues that there is no state for pass everything, and touch no state of others."""
    before = registers(machine)
    rng = random.Random(seed())
    for port, index in [
        (PORTS, 0),
        (0, QUEUES),
        (PORTS - 1, 7),
        (PORTS - 1, QUEUES),
        (511, 7),
        (256, 0),
        *((p, 2) for p in range(PORTS, 512, 50)),
    ]:
        queue = P4Queue(machine, TARGET, True, 0, port, index)
        assert {queue.judge(us, 10**6, 10**6, rng.random() < 0.5) for us in range(0, 400_000, 10_000)} == {0}
    assert registers(machine) == before
    neighbour = P4Queue(machine, TARGET, False, 0, PORTS - 1, QUEUES - 1)  # the last there is
    assert DROP in {neighbour.judge(us, 10**6, 10**6, False) for us in range(0, 400_000, 10_000)}


def test_every_queue_has_its_own_state(machine: Any) -> None:
    """All queues in turn, each with its own load: each as if it were alone."""
    rng = random.Random(seed())
    pairs = [(port, index) for port in range(PORTS) for index in range(QUEUES)]
    references = {pair: RfcQueue(TARGET, True, table_step) for pair in pairs}
    queues = {pair: P4Queue(machine, TARGET, True, 2**48 - 10**6, *pair) for pair in pairs}
    now = 0
    for number in range(25_000):
        now += rng.randrange(100)
        pair = rng.choice(pairs)
        packet = Packet(number, now, MTU, rng.random() < 0.3)
        for queue in (references[pair], queues[pair]):
            queue.enqueue(packet)
        pair = pairs[min(rng.randrange(len(pairs)), rng.randrange(len(pairs)))]
        if references[pair].packets:
            assert references[pair].dequeue(now) == queues[pair].dequeue(now), f"{pair}, us {now}, seed {seed()}"
    assert sum(counts(same(references[pair], queues[pair]) and references[pair].verdicts)["drop"] > 0 for pair in pairs) > 3


def test_the_count_stops_at_65535(machine: Any) -> None:
    """There the rate of drops stays as it is."""
    queue = P4Queue(machine, TARGET, True)
    now, acts = 0, []
    while len(acts) < 66_500:
        now += 5_000 if len(acts) < 2 else 390  # the last step is 390.6 us
        if queue.judge(now, 10**6, 10**6, True) == MARK:
            acts.append(now)
    assert acts[-1] - acts[-1_000] == pytest.approx(999 * table_step(65_535), rel=1e-3)


def test_leaving_is_told(machine: Any) -> None:
    """The verdict on the packet that ends the dropping state is another pass: the variant that drops in ingress calls its drops off."""
    queue = P4Queue(machine, TARGET, False)
    verdicts = [queue.judge(us, 10**6, 10**6, False) for us in range(0, 200_000, 10_000)]
    assert DROP in verdicts
    assert [queue.judge(us, 0, 10**6, False) for us in (200_000, 210_000)] == [LEFT, 0]


@pytest.mark.parametrize("load", [1.1, 2.0])
def test_how_far_the_table_is_from_the_square_root(machine: Any, load: float) -> None:
    """Where the RFC has a real square root: what differs are drops a packet earlier or later, and hardly their number.

    Packets are of one size: of many sizes, a drop of another packet shifts all that the link sends afterwards.
    """
    arrivals = [(us, 1_000, ect) for us, _, ect in poisson(random.Random(seed()), 20_000, 500)]
    reference, under_test = RfcQueue(TARGET, False, exact_step), P4Queue(machine, TARGET, False)
    for queue in (reference, under_test):
        open_loop(queue, arrivals, 500 * load / 1_000)
    drops = [[number for number, verdict in queue.verdicts if verdict == DROP] for queue in (reference, under_test)]
    apart = [abs(mine - other) for mine, other in zip(*drops, strict=True)]
    others = sum(a > 0 for a in apart)
    print(f"load {load}: {len(apart)} drops, {others} of other packets, at most {max(apart)} apart, highest count {reference.count}")
    assert len(apart) > 100 and max(apart) <= 1


@pytest.mark.parametrize("load", [1.1, 1.5, 3.0])
def test_one_decision_per_turn(machine: Any, load: float) -> None:
    """Where a drop costs the link its time, no turn has two drops: the RFC's drops come later, and the link sends less."""
    arrivals = poisson(random.Random(seed()), 12_000, 500)
    reference, under_test = RfcQueue(TARGET, False, table_step), P4Queue(machine, TARGET, False, charged=True)
    for queue in (reference, under_test):
        open_loop(queue, arrivals, 500 * load / 921.5)
    drops, sent = ([counts(queue.verdicts)[what] for queue in (reference, under_test)] for what in ("drop", "pass"))
    print(f"load {load}: drops {drops}, sent {sent}")
    assert drops[0] > 50 and drops[1] > drops[0] / 2


def test_against_the_model(machine: Any) -> None:
    """The project's model of the hardware rounds its steps to ticks, here of 1 us: the same drops but for a packet now and then."""
    from codel_bottleneck import ModelQueue

    from penstock.engine import engine

    model = engine.models("aqm/codel").Codel(1, MTU)
    model.set(0, True, False, TARGET, INTERVAL_US)
    queues = ModelQueue(model), P4Queue(machine, TARGET, False)
    arrivals = [(us, 1_000, ect) for us, _, ect in poisson(random.Random(seed()), 12_000, 500)]
    for queue in queues:
        open_loop(queue, arrivals, 500 * 1.1 / 1_000)
    drops = [[number for number, verdict in queue.verdicts if verdict == DROP] for queue in queues]
    apart = [abs(mine - other) for mine, other in zip(*drops, strict=False)]
    print(f"{len(drops[0])} and {len(drops[1])} drops, {sum(a > 0 for a in apart)} of other packets, at most {max(apart)} apart")
    assert len(drops[0]) > 100 and abs(len(drops[0]) - len(drops[1])) <= 1 and max(apart) <= 1
