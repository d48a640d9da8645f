"""The model of PIE against RFC 8033's pseudo-code in floating point: the same verdict on every arrival."""

import random
from collections import deque
from pathlib import Path

import pytest
from arrivals import Arrival, on_off, poisson, recorded
from rfc8033 import GRID, Pie

from penstock.engine import engine
from penstock.testing.testkit import seed

models = engine.models("aqm/pie")
ALPHA, BETA, MEAN = (models.pie_defaults[name] for name in ("alpha", "beta", "mean_packet_bytes"))
CAPTURES = Path(__file__).resolve().parents[4] / "scenarios" / "captures"
UPDATE, TARGET, BURST = 12_891, 12_891, 128_906  # 15 ms, 15 ms, 150 ms in ticks of 1.16 us


def run(arrivals: list[Arrival], ticks_per_byte: float, ecn: bool) -> dict[str, float]:
    """Both judge every arrival, the packet they agree upon goes into one queue; an update every 15 ms."""
    model, draws = models.Pie(1), models.PieRandom()
    model.set(0, True, ecn, TARGET, BURST)
    reference = Pie(TARGET, BURST, UPDATE, ALPHA * GRID, BETA * GRID, MEAN, ecn)
    model.update(0)  # enabled with the first
    queue: deque[tuple[int, int]] = deque()
    backlog, free, due = 0, 0.0, UPDATE
    count = {"pass": 0, "mark": 0, "drop": 0, "highest": 0.0}
    delays: list[int] = []
    for tick, length, ect in arrivals:
        while True:  # departures and updates up to this arrival, in order of time
            begins = max(free, queue[0][0]) if queue else float("inf")
            if min(begins, due) > tick:
                break
            if begins <= due:
                came, size = queue.popleft()
                backlog -= size
                free = begins + size * ticks_per_byte
                delays.append(int(begins) - came)
                model.depart(0, int(begins) - came, backlog)
                reference.current_qdelay = int(begins) - came if backlog else 0
            else:
                due += UPDATE
                model.update(0)
                reference.calculate_drop_prob()
                assert model.probability(0) * GRID == reference.drop_prob, f"tick {tick}, seed {seed()}"
                count["highest"] = max(count["highest"], reference.drop_prob)
        drawn = draws.next()
        expected = reference.enqueue(backlog, ect, drawn * GRID)
        got = model.arrive(0, backlog, ect, drawn)
        assert got == expected, f"tick {tick}: model {got}, RFC {expected}, seed {seed()}"
        count["pass" if got == 0 else "mark" if got == 1 else "drop"] += 1
        if got != 2:
            queue.append((tick, length))
            backlog += length
    count["late"] = sum(delays[len(delays) // 2 :]) / max(1, len(delays) // 2)
    print(count)
    return count


@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize("load", [0.9, 1.05, 1.5, 4.0])
def test_poisson(load: float, ecn: bool) -> None:
    gap = 860
    count = run(poisson(random.Random(seed()), 60_000, gap), gap * load / 921.5, ecn)
    if load > 1:
        assert count["drop"] + count["mark"] > 100
    if load == 1.5 and not ecn:
        assert 0.5 * TARGET < count["late"] < 2 * TARGET, "an unresponsive load is held at the target delay"
        assert count["drop"] > 0.8 * 60_000 / 3
    assert not ecn or load != 1.05 or count["mark"] > 50


def test_bursts_are_allowed_and_the_probability_decays() -> None:
    count = run(on_off(random.Random(seed()), 100, 3000, 300, 300_000), 0.5, False)
    assert count["highest"] > 0.05
    assert count["drop"] > 100


@pytest.mark.parametrize("gain", [1, 30])
def test_random_delays(gain: int) -> None:
    """Delays drawn anew for every update, so that the probability often returns to 0 and rises again, in all its ranges."""
    rng, draws = random.Random(seed()), models.PieRandom()
    model = models.Pie(1, 100, ALPHA * gain, BETA * gain)
    model.set(0, True, True, 1000, 300)
    reference = Pie(1000, 300, 100, ALPHA * gain * GRID, BETA * gain * GRID, MEAN, True)
    model.update(0)
    high = True
    for update in range(20_000):
        high ^= rng.random() < 0.02
        delay = rng.choice([0, 499, 500, rng.randrange(1000)]) if not high else rng.randrange(900, rng.choice([1500, 200_000]))
        model.depart(0, delay, 1)
        reference.current_qdelay = delay
        model.update(0)
        reference.calculate_drop_prob()
        assert model.probability(0) * GRID == reference.drop_prob, f"update {update}, seed {seed()}"
        for _ in range(4):
            backlog, ect, drawn = rng.choice([2048, 2049]), rng.random() < 0.5, draws.next()
            assert model.arrive(0, backlog, ect, drawn) == reference.enqueue(backlog, ect, drawn * GRID), f"update {update}, seed {seed()}"


@pytest.mark.parametrize("megabits", [10, 20])
def test_recorded(megabits: int) -> None:
    tick_ns = 256 / 0.220
    count = run(recorded(CAPTURES / "first_light.pcap", tick_ns, seed()), 8000 / megabits / tick_ns, True)
    assert count["drop"] + count["mark"] > 20
