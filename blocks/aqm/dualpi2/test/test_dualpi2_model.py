"""The model of DualPI2 against RFC 9332's pseudo-code: the same fate of every packet, in the same order, and the same p' at each update."""

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import pytest
from rfc9332 import CE, DROP, ECT0, ECT1, MARK, NOT_ECT, ONE, DualPi2, Packet, Queue, Taken

from penstock.engine import engine
from penstock.testing.testkit import seed

models = engine.models("aqm/dualpi2")
DEFAULTS = models.dualpi2_defaults
CLASSIC, L4S = 0, 1
UPDATE, TARGET, THRESHOLD = DEFAULTS["update_ticks"], 12_891, 688  # 16 ms, 15 ms, 0.8 ms in ticks of 1.16 us


@dataclass
class Stream:
    """Arrivals of one kind: ECN field, mean gap in ticks, bytes."""

    ecn: int
    gap: float
    sizes: tuple[int, ...] = (64, 594, 1514, 1514)


def arrivals(rng: random.Random, streams: list[Stream], until: int) -> list[Packet]:
    """Each stream is Poisson, in phases in which it sends and rests, or sends all the time."""
    made = []
    for stream in streams:
        tick = 0.0
        while tick < until:
            tick += rng.expovariate(1 / stream.gap)
            made.append(Packet(int(tick), rng.choice(stream.sizes), stream.ecn))
    return sorted(made, key=lambda packet: packet.came)


@dataclass
class Shape:
    """What both are built with."""

    alpha: int = DEFAULTS["alpha"]
    beta: int = DEFAULTS["beta"]
    coupling: int = DEFAULTS["coupling"]
    ramp_log2: int = DEFAULTS["ramp_log2"]
    target: int = TARGET
    threshold: int = THRESHOLD
    update: int = UPDATE
    ecn: bool = True
    weight: int | None = 8
    shift: int = 0
    limit: int = 3_000_000
    l4s: frozenset[int] = frozenset({ECT1, CE})


def judge(shape: Shape, queue: type[Queue]) -> DualPi2:
    return DualPi2(
        queue(),
        queue(),
        shape.target,
        shape.alpha,
        shape.beta,
        shape.threshold,
        1 << shape.ramp_log2 if shape.ramp_log2 else 0,
        shape.coupling,
        shape.limit,
        l4s=shape.l4s,
        ecn=shape.ecn,
        weight=shape.weight,
        shift=shape.shift,
    )


def run(packets: list[Packet], ticks_per_byte: float, shape: Shape, pair: int = 1) -> dict[str, float]:
    """The RFC's queues take and give packets; the model judges each that leaves, and is updated when they are."""
    model: Any = models.DualPi2(2 * pair + 4, shape.alpha, shape.beta, shape.coupling, shape.ramp_log2)
    rfc = judge(shape, Taken)
    for index in (CLASSIC, L4S):
        model.set(2 * pair + index, True, shape.ecn, shape.target, shape.threshold)
    model.update(pair)  # enabled with the first
    counts: defaultdict[str, float] = defaultdict(float)
    free, due = 0.0, shape.update
    waiting = iter(packets)
    coming = next(waiting, None)
    late: list[int] = []
    while coming or rfc.lq.packets or rfc.cq.packets:
        starts = [queue.packets[0].came for queue in (rfc.lq, rfc.cq) if queue.packets]
        begins = max(free, min(starts)) if starts else float("inf")
        if coming and coming.came <= min(begins, due):
            counts["arrived"] += 1
            counts["tail"] += not rfc.enqueue(coming)
            coming = next(waiting, None)
        elif due < begins:
            rfc.update(due)
            model.update(pair)
            want = tuple(int(value * ONE) for value in (rfc.p, rfc.p_CL, rfc.p_C))
            assert model.probabilities(pair) == want, f"tick {due}, seed {seed()}"
            counts["updates"] += 1
            counts["highest"] = max(counts["highest"], want[0])
            first = max(Queue(queue.packets).time(due) for queue in (rfc.lq, rfc.cq))  # what the RFC reads
            counts["apart"] += abs(first - rfc.prevq)
            counts["delay"] += first
            due += shape.update
        else:
            now = int(begins)
            shares = (float(rfc.p_C), float(rfc.p_CL))
            for queue, packet, verdict in rfc.turns(now):
                index = L4S if queue is rfc.lq else CLASSIC
                able = packet.ecn != NOT_ECT
                got = model.depart(2 * pair + index, now - packet.came, queue.byt(), able)
                assert got == verdict, f"tick {now}: model {got}, RFC {verdict}, queue {index}, seed {seed()}"
                name = "lc"[index == CLASSIC]
                counts[f"{name}_{('pass', 'mark', 'drop')[verdict]}"] += 1
                counts[f"{name}_due"] += shares[index]
                if verdict != DROP:
                    free = begins + packet.bytes * ticks_per_byte
                    late.append(now - packet.came) if index == L4S else None
            counts["l_late"] = max(counts["l_late"], sum(late[-50:]) // 50)
    print({name: round(value) for name, value in counts.items()})
    return counts


@pytest.mark.parametrize("scheduler", ["weighted", "time-shifted"])
@pytest.mark.parametrize("load", [0.7, 1.1, 2.0])
def test_random_arrivals(load: float, scheduler: str) -> None:
    """Classic packets with and without ECN, L4S packets, and marks of others; below and above the rate of the line."""
    gap = 1200.0
    streams = [Stream(NOT_ECT, 3 * gap), Stream(ECT0, 3 * gap), Stream(ECT1, 2 * gap, (120, 1514)), Stream(CE, 40 * gap)]
    shape = Shape(weight=8 if scheduler == "weighted" else None, shift=40_000)
    per_byte = load / sum(sum(s.sizes) / len(s.sizes) / s.gap for s in streams)
    counts = run(arrivals(random.Random(seed()), streams, 12_000_000), per_byte, shape)
    assert counts["l_pass"] > (0 if load == 2.0 else 200)
    if load == 1.1:
        assert min(counts["c_mark"], counts["c_drop"], counts["l_mark"]) > 50
    if load == 2.0:
        assert min(counts["c_drop"], counts["l_drop"]) > 1000, "overload: L4S packets are dropped, too"


@pytest.mark.parametrize(("coupling", "ramp_log2"), [(1, 0), (2, 0), (2, 5), (3, 8), (4, 12)])
def test_coupling_and_ramp(coupling: int, ramp_log2: int) -> None:
    """Short intervals and steep gains, so that p' goes through its whole range; a step, and ramps from short to long."""
    shape = Shape(60_000, 65_000, coupling, ramp_log2, target=3000, threshold=900, update=2500)
    rng = random.Random(seed())
    packets = []
    for phase in range(12):
        streams = [Stream(NOT_ECT, 3000), Stream(ECT0, 3000), Stream(ECT1, rng.choice([1500, 4000, 30_000]))]
        packets += [Packet(p.came + phase * 1_000_000, p.bytes, p.ecn) for p in arrivals(rng, streams, rng.choice([300_000, 900_000]))]
    counts = run(sorted(packets, key=lambda packet: packet.came), rng.choice([0.9, 1.2]), shape)
    assert counts["highest"] > ONE // 8 and counts["l_mark"] > 300 and counts["c_drop"] > 30


def test_floods_of_either_kind() -> None:
    """20 times the rate, first of L4S packets, then of Classic ones that say that they may be marked: drops, and the limit."""
    packets = arrivals(random.Random(seed()), [Stream(ECT1, 60, (1514,))], 4_000_000)
    packets += [Packet(p.came + 9_000_000, p.bytes, p.ecn) for p in arrivals(random.Random(seed()), [Stream(ECT0, 60, (1514,))], 4_000_000)]
    packets += [Packet(p.came, p.bytes, p.ecn) for p in arrivals(random.Random(seed() + 1), [Stream(NOT_ECT, 20_000, (300,))], 14_000_000)]
    counts = run(sorted(packets, key=lambda packet: packet.came), 0.8, Shape())
    assert min(counts["l_drop"], counts["c_drop"], counts["tail"], counts["l_mark"]) > 500
    assert counts["c_mark"] > 0


def test_other_identifiers() -> None:
    """2.5.1.1: Not-ECT packets that another identifier puts into the L4S queue are dropped with p'^2; all are where none is marked."""
    streams = [Stream(NOT_ECT, 3000), Stream(ECT0, 3000), Stream(ECT1, 3000)]
    packets = arrivals(random.Random(seed()), streams, 8_000_000)
    counts = run(packets, 1.3, Shape(l4s=frozenset({NOT_ECT, ECT1, CE})))
    assert counts["l_drop"] > 50 and counts["l_mark"] > 50
    counts = run(packets, 1.3, Shape(ecn=False))
    assert counts["l_drop"] > 50 and not counts["l_mark"] and not counts["c_mark"]


def test_time_of_the_last_departure_beside_time_of_the_first_packet() -> None:
    """What the device takes for a queue's time is what the RFC takes, but for the time between two departures or arrivals of it."""
    streams = [Stream(NOT_ECT, 3600), Stream(ECT1, 2400)]
    counts = run(arrivals(random.Random(seed()), streams, 30_000_000), 1.0 / (1 / 3600 + 1 / 2400) / 921.5, Shape())
    apart, mean = counts["apart"] / counts["updates"], counts["delay"] / counts["updates"]
    print(f"the delay is {mean:.0f} ticks on average, and {apart:.0f} apart")
    assert counts["updates"] > 1000 and mean > 3000 and apart < 3600


def test_marks_are_coupled() -> None:
    """As many are dropped, or marked, as likelihoods add up to, p'^2 of the Classic packets and k p' of the L4S ones, to one packet."""
    streams = [Stream(NOT_ECT, 2400, (1000,)), Stream(ECT1, 12_000, (200,))]
    shape = Shape(threshold=(1 << 18) - 1)  # no native marks
    counts = run(arrivals(random.Random(seed()), streams, 40_000_000), 0.95 * 2400 / 1040, shape)
    assert counts["highest"] < ONE / 2, "never overloaded"
    assert counts["c_drop"] > 100 and counts["l_mark"] > 100
    assert abs(counts["c_drop"] - counts["c_due"]) <= 1 and abs(counts["l_mark"] - counts["l_due"]) <= 1


def test_defaults_are_the_rfcs() -> None:
    """A.1: alpha = 0.1 T_UPDATE / RTT_max^2 and beta = 0.3 / RTT_max with RTT_max = 100 ms; in 2^-32 per tick of 2^8 cycles at 220 MHz."""
    tick = 256 / 220e6
    assert DEFAULTS["update_ticks"] == round(0.016 / tick)
    assert abs(DEFAULTS["alpha"] - 0.1 * 0.016 / 0.1**2 * tick * ONE) <= 0.5
    assert abs(DEFAULTS["beta"] - 0.3 / 0.1 * tick * ONE) <= 0.5
    assert DEFAULTS["coupling"] == 2


def test_a_disabled_queue_passes_everything() -> None:
    model = models.DualPi2(4)
    for queue in range(4):
        assert all(model.depart(queue, 200_000, 9000, True) == 0 for _ in range(10))
    model.set(3, True, True, TARGET, THRESHOLD)
    assert [model.depart(3, 200_000, 9000, True) for _ in range(4)] == [0, MARK, MARK, MARK]  # recur() begins at 0
    assert model.probabilities(1) == (0, 0, 0)


@pytest.mark.parametrize(
    ("queues", "coupling", "ramp_log2", "words"),
    [
        (2, 2, 8, "pairs of queues"),
        (5, 2, 8, "pairs of queues"),
        (4, 0, 8, "coupling is 1"),
        (4, 5, 8, "coupling is 1"),
        (4, 2, 19, "ramp_log2 0"),
    ],
)
def test_what_it_is_not_built_with(queues: int, coupling: int, ramp_log2: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        models.DualPi2(queues, coupling=coupling, ramp_log2=ramp_log2)
