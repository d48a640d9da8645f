"""The model of CoDel against RFC 8289's pseudo-code with a real square root: the same verdict on every packet."""

import random
from pathlib import Path

import pytest
from arrivals import on_off, poisson, recorded
from codel_bottleneck import ModelQueue, closed_loop, counts, open_loop
from rfc8289 import CodelQueue, Packet

from penstock.engine import engine
from penstock.testing.testkit import seed

models = engine.models("aqm/codel")
CAPTURES = Path(__file__).resolve().parents[4] / "scenarios" / "captures"

# Ticks of 2^8 cycles at 220 MHz: 1.16 us. Target 5 ms, interval 100 ms; and a datacentre's 100 us and 1 ms.
ACCESS, DATACENTRE = (4297, 85938), (86, 859)


def pair(target: int, interval: int, ecn: bool = True, guard: int = 0) -> tuple[CodelQueue, ModelQueue]:
    model = models.Codel(2, guard_count=guard)
    model.set(0, True, ecn, target, interval)
    return CodelQueue(target, interval, 1514, ecn, guard=guard), ModelQueue(model)


def same(reference: CodelQueue, under_test: ModelQueue) -> dict[str, int]:
    for i, (expected, got) in enumerate(zip(reference.verdicts, under_test.verdicts, strict=False)):
        assert got == expected, f"packet {expected[0]} (verdict {i}): model {got}, RFC {expected}, seed {seed()}"
    assert len(reference.verdicts) == len(under_test.verdicts)
    count = counts(reference.verdicts)
    print(count, "entries", reference.entries, "re-entries", reference.reentries, "highest count", reference.count)
    return count


def run_open(arrivals: list, ticks_per_byte: float, setting: tuple[int, int], ecn: bool = True, guard: int = 0) -> CodelQueue:
    reference, under_test = pair(*setting, ecn, guard)
    begins = [open_loop(queue, arrivals, ticks_per_byte) for queue in (reference, under_test)]
    same(reference, under_test)
    assert begins[0] == begins[1]
    return reference


@pytest.mark.parametrize("setting", [ACCESS, DATACENTRE])
@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize("load", [0.9, 1.02, 1.5])
def test_poisson(load: float, ecn: bool, setting: tuple[int, int]) -> None:
    gap = setting[0] / 5
    reference = run_open(poisson(random.Random(seed()), 40_000, gap), gap * load / 921.5, setting, ecn)
    assert load < 1 or reference.entries > 0
    assert load < 1 or not ecn or counts(reference.verdicts)["mark"] > 0


@pytest.mark.parametrize("setting", [ACCESS, DATACENTRE])
def test_bursts_enter_again(setting: tuple[int, int]) -> None:
    """Bursts of several intervals with pauses around 16 intervals: entries with the old rate and without it."""
    target, interval = setting
    gap = target / 5
    arrivals = on_off(random.Random(seed()), 150, round(5 * interval / gap), gap, 20 * interval)
    reference = run_open(arrivals, 1.6 * gap / 1151, setting)
    assert reference.reentries > 20
    assert reference.entries - reference.reentries > 20


@pytest.mark.parametrize("ecn", [False, True])
def test_unresponsive_overload(ecn: bool) -> None:
    """Ten times the link's rate without a reaction: the loop drops several packets in one round."""
    reference = run_open(poisson(random.Random(seed()), 60_000, 100, ect=0.2), 1.0, (400, 8000), ecn)
    runs = "".join("d" if verdict == 2 else "." for _, verdict in reference.verdicts)
    assert "dddd" in runs
    assert reference.count > 500


@pytest.mark.parametrize("guard", [2, 16, 64])
def test_the_guard_drops_what_ignores_marks(guard: int) -> None:
    """A flow that may be marked and does not react, at 1.5 times the rate: without a guard it is marked for ever, with one dropped."""
    arrivals = poisson(random.Random(seed()), 40_000, 800, ect=1.0)
    without, beside = (run_open(arrivals, 1.3, ACCESS, guard=count) for count in (0, guard))
    plain = run_open(poisson(random.Random(seed()), 40_000, 800, ect=0.0), 1.3, ACCESS)
    assert counts(without.verdicts)["drop"] == 0
    assert counts(beside.verdicts)["mark"] >= guard
    assert counts(beside.verdicts)["drop"] > 0.5 * counts(plain.verdicts)["drop"]


@pytest.mark.parametrize("ect", [False, True])
@pytest.mark.parametrize("flows", [1, 4, 16])
def test_closed_loop(flows: int, ect: bool) -> None:
    reference, under_test = pair(*ACCESS)
    for queue in (reference, under_test):
        closed_loop(queue, flows, 60_000, 17_188, 0.05 * 8, ect)
    count = same(reference, under_test)
    assert count["mark" if ect else "drop"] > 20
    assert reference.entries > 3


def test_long_idle() -> None:
    """After a pause of many intervals the rate starts over, after a short one it does not."""
    rng, arrivals, tick = random.Random(seed()), [], 1
    for pause in [0, 5, 12, 15, 16, 17, 20, 1000, 10**6] * 3:
        tick += pause * 8000
        for _ in range(4000):
            tick += rng.randrange(5, 15)
            arrivals.append((tick, 1514, False))
    reference = run_open(arrivals, 0.01, (400, 8000))
    assert reference.reentries > 3
    assert reference.entries - reference.reentries > 3


@pytest.mark.parametrize("ecn", [False, True])
def test_small_numbers(ecn: bool) -> None:
    """Random arrivals, requests and pauses with intervals of a few ticks: every comparison is met at its boundary, again and again."""
    rng = random.Random(seed())
    for _ in range(60):
        reference, under_test = pair(rng.randrange(1, 4), rng.randrange(3, 20), ecn)
        interval, now, number = reference.interval, 1, 0
        for _ in range(2500):
            now += rng.choice([0, 1, 1, 2, 3, rng.randrange(20 * interval) if rng.random() < 0.05 else 0])
            for _ in range(rng.choice([0, 0, 1, 2, 2, 3]) if len(reference.packets) < 60 else 0):
                packet = Packet(number, now, rng.choice([64, 1514, 1514]), rng.random() < 0.4)
                number += 1
                reference.enqueue(packet)
                under_test.enqueue(packet)
            if rng.random() < 0.8:
                assert reference.dequeue(now) == under_test.dequeue(now), f"tick {now}, seed {seed()}"
            if rng.random() < 0.01:
                while reference.packets:  # runs empty
                    now += 1
                    reference.dequeue(now)
                    under_test.dequeue(now)
        for expected, got in zip(reference.verdicts, under_test.verdicts, strict=True):
            assert got == expected, f"model {got}, RFC {expected}, seed {seed()}"


@pytest.mark.parametrize("capture", ["first_light.pcap"])
@pytest.mark.parametrize("megabits, setting", [(20, ACCESS), (30, ACCESS), (30, (860, 17_188)), (60, DATACENTRE)])
def test_recorded(capture: str, megabits: int, setting: tuple[int, int]) -> None:
    tick_ns = 256 / 0.220
    arrivals = recorded(CAPTURES / capture, tick_ns, seed())
    reference = run_open(arrivals, 8000 / megabits / tick_ns, setting)
    count = counts(reference.verdicts)
    assert count["drop"] > 5 and count["mark"] > 5
    assert reference.entries > 1


@pytest.mark.parametrize("load", [1.02, 1.5])
def test_estimated_delay(load: float) -> None:
    """The cheaper variant: backlog times period in place of the sojourn time, in the RFC's pseudo-code and in the model."""
    target, interval = ACCESS
    per_byte = 0.9 * load

    def delay(now: int, packet: Packet, left: int) -> int:
        return int((left + packet.length) * per_byte)

    model = models.Codel(1, 1514, True)
    model.set(0, True, False, target, interval)
    reference, under_test = CodelQueue(target, interval, 1514, False, delay), ModelQueue(model, 0, delay)
    arrivals = poisson(random.Random(seed()), 40_000, 860)
    for queue in (reference, under_test):
        open_loop(queue, arrivals, per_byte)
    assert same(reference, under_test)["drop"] > 20


def test_disabled_queue_passes_everything() -> None:
    model = models.Codel(1)
    queue = ModelQueue(model)
    open_loop(queue, poisson(random.Random(seed()), 3000, 100), 1.0)
    assert counts(queue.verdicts) == {"pass": 3000, "mark": 0, "drop": 0}


def test_backlog_of_one_packet_is_never_dropped() -> None:
    """Sojourn times far above target, but never more than 1,514 byte left behind (RFC 8289, section 5.5, second term)."""
    model = models.Codel(1)
    model.set(0, True, False, 10, 100)
    for now in range(1000, 100_000, 50):
        assert model.step(0, now, now - 900, 1514, False) == 0
    assert any(model.step(0, now, now - 900, 1515, False) == 2 for now in range(100_000, 110_000, 50))
