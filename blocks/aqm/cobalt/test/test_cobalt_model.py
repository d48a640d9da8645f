"""The model of COBALT against CAKE's code with a real square root: the same verdict on every packet, a step of the control law in each."""

import random
from collections import Counter, deque
from pathlib import Path

import pytest
from arrivals import Arrival, on_off, poisson, recorded
from cobalt import DROP, Cobalt

from penstock.engine import engine
from penstock.testing.testkit import seed

models = engine.models("aqm/cobalt")
CAPTURES = Path(__file__).resolve().parents[4] / "scenarios" / "captures"
ACCESS, DATACENTRE = (4297, 85_938), (86, 859)  # 5 and 100 ms, 0.1 and 1 ms in ticks of 1.16 us


def run(arrivals: list[Arrival], per_byte: float, setting: tuple[int, int], full_log2: int = 17, limit: int = 1 << 18) -> Counter[str]:
    """One queue; the packets that model and judge agree upon leave it. Beside them CAKE's own loop judges a queue of its own."""
    rng = random.Random(seed())
    model = models.Cobalt(3)
    model.set(1, True, True, *setting, full_log2)
    judge = Cobalt(*setting, 1 << full_log2)
    counts = through(arrivals, per_byte, limit, rng, judge, model)
    own = through(arrivals, per_byte, limit, random.Random(seed()), Cobalt(*setting, 1 << full_log2, unrolled=False), None)
    counts["own"] = own["drop"] + own["mark"]
    print(dict(counts))
    return counts


def through(arrivals: list[Arrival], per_byte: float, limit: int, rng: random.Random, judge: Cobalt, model) -> Counter[str]:
    counts: Counter[str] = Counter()
    queue: deque[Arrival] = deque()
    backlog, free, at = 0, 0, 0
    while at < len(arrivals) or queue:
        now = free if queue else max(free, arrivals[at][0])
        while at < len(arrivals) and arrivals[at][0] <= now:
            if backlog + arrivals[at][1] <= limit:
                queue.append(arrivals[at])
                backlog += arrivals[at][1]
            else:
                counts["tail"] += 1
            at += 1
        if not queue:
            continue
        tick, length, ect = queue.popleft()
        backlog -= length
        drawn = rng.getrandbits(32)
        before = judge.count
        verdict = judge.departs(now, now - tick, backlog, ect, drawn)
        if model is not None:
            got = model.step(1, now, now - tick, backlog, ect, drawn)
            assert got == verdict, f"tick {now}: model {got}, judge {verdict}, seed {seed()}"
            dropping, count, drop_next, p_drop = model.state(1)
            assert (count, p_drop, dropping) == (judge.count, judge.p_drop, judge.dropping), f"tick {now}, seed {seed()}"
            assert drop_next == judge.drop_next, f"tick {now}, count {count}, seed {seed()}"
        counts[("pass", "mark", "drop")[verdict]] += 1
        counts["downs"] += judge.count < before
        counts["p_drop"] = max(counts["p_drop"], judge.p_drop)
        counts["count"] = max(counts["count"], judge.count)
        free = now if verdict == DROP else now + max(1, round(length * per_byte))
    return counts


@pytest.mark.parametrize("setting", [ACCESS, DATACENTRE])
@pytest.mark.parametrize("load", [0.9, 1.05, 1.5, 4.0])
def test_poisson(load: float, setting: tuple[int, int]) -> None:
    gap = setting[0] / 5
    counts = run(poisson(random.Random(seed()), 40_000, gap), gap * load / 921.5, setting)
    assert load < 1 or min(counts["drop"], counts["mark"]) > 20
    assert load < 4 or (counts["p_drop"] > 50 and counts["tail"] > 100), "full, so BLUE drops"
    assert load != 1.5 or counts["drop"] + counts["mark"] == pytest.approx(counts["own"], rel=0.05), "as often as with CAKE's loop"


@pytest.mark.parametrize("setting", [ACCESS, DATACENTRE])
def test_bursts(setting: tuple[int, int]) -> None:
    """Bursts with pauses of several intervals: count goes down again, a step a packet, and BLUE's probability falls where it runs empty."""
    target, interval = setting
    gap = target / 5
    arrivals = on_off(random.Random(seed()), 100, round(5 * interval / gap), gap, 3 * interval, ect=0.5)
    counts = run(arrivals, 1.6 * gap / 1151, setting, full_log2=15)
    assert counts["downs"] > 100 and counts["drop"] > 100


def test_small_numbers() -> None:
    """Random packets with intervals of a few ticks: every comparison is met at its boundary, and rests longer than any lag counts."""
    rng = random.Random(seed())
    verdicts: Counter[int] = Counter()
    for _ in range(40):
        target, interval = rng.randrange(0, 4), rng.randrange(1, 20)
        model = models.Cobalt(1, 1514, 18)
        model.set(0, True, True, target, interval, 13)
        judge = Cobalt(target, interval, 1 << 13, max_lag=1 << 14)
        now = 1
        for step in range(3000):
            now += rng.choice([0, 1, 1, 2, 3, rng.randrange(3 * interval), 1 << rng.randrange(18) if rng.random() < 0.02 else 0])
            sojourn = rng.randrange(target + 3)
            left = rng.choice([0, 1, 1514, 1515, 1515, 4000, 8191, 8192]) if step % 500 > 200 else 4000
            ect, drawn = rng.random() < 0.4, rng.getrandbits(32)
            verdict = judge.departs(now, sojourn, left, ect, drawn)
            assert model.step(0, now, sojourn, left, ect, drawn) == verdict, f"packet {step}, seed {seed()}"
            verdicts[verdict] += 1
    assert min(verdicts[value] for value in range(3)) > 1000


@pytest.mark.parametrize("megabits", [10, 20])
def test_recorded(megabits: int) -> None:
    tick_ns = 256 / 0.220
    counts = run(recorded(CAPTURES / "first_light.pcap", tick_ns, seed()), 8000 / megabits / tick_ns, ACCESS)
    assert counts["drop"] + counts["mark"] > 20


def test_a_flow_that_ignores_marks_meets_blue() -> None:
    """It may be marked and is, but the queue stays full: BLUE drops it all the same, until it runs empty."""
    arrivals = poisson(random.Random(seed()), 60_000, 800, ect=1.0)
    counts = run(arrivals, 1.6, ACCESS, full_log2=16)
    assert counts["drop"] > 0.1 * 60_000 and counts["p_drop"] > 500


def test_a_disabled_queue_passes_everything() -> None:
    model = models.Cobalt(1)
    assert all(model.step(0, now, 90_000, 1 << 20, False, 0) == 0 for now in range(0, 10**6, 500))
