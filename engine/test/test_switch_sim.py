# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The slot simulator packet by packet: against plain transcriptions of the papers (switch_reference.py), and what must always hold."""

import random
from typing import Any

import numpy as np
import pytest
import switch_reference as reference

from penstock.engine import engine
from penstock.testing.testkit import seed as run_seed

Setting = dict[str, Any]
DETERMINISTIC = ("oq", "cprra", "rrm", "islip", "drrm", "edrrm")
DEFAULTS: Setting = {
    "algorithm": "oq", "iterations": 4, "ports": 16, "depth": 0, "traffic": "uniform", "rate": 0.9, "burst": 32.0, "hot": 0.5, "seed": 1,
}  # fmt: skip


def simulate(slots: int, **setting: Any) -> Any:
    simulation = engine.module("engine/src/switch_sim").SwitchSimulation(**DEFAULTS | setting)
    simulation.advance(slots)
    return simulation


def random_slots(ports: int, slots: int, rng: random.Random) -> list[reference.Arrivals]:
    """Random traffic that comes and goes: loads from 0 to 1, now spread, now towards few outputs, so that queues fill and empty."""
    made = []
    load, favourites = 0.0, list(range(ports))
    for slot in range(slots):
        if slot % 40 == 0:
            load = rng.choice((0.2, 0.6, 0.9, 1.0))
            favourites = rng.sample(range(ports), rng.randint(1, ports))
        made.append([(i, rng.choice(favourites)) for i in range(ports) if rng.random() < load])
    return made


def play(algorithm: str, ports: int, iterations: int, slots: list[reference.Arrivals], depth: int | None, seed: int = 1) -> list[tuple]:
    """Return the fates of all packets from the C++ simulator."""
    packets = [(now, i, j) for now, arrivals in enumerate(slots) for i, j in arrivals]
    trace = np.array(packets, dtype=np.int64).reshape(-1, 3)
    simulation = simulate(
        len(slots),
        algorithm=algorithm,
        ports=ports,
        iterations=iterations,
        depth=depth or 0,
        traffic="trace",
        trace=trace,
        keep=True,
        seed=seed,
    )
    return [tuple(row) for row in simulation.fates().tolist()]


@pytest.mark.parametrize("ports", [2, 4, 8, 16, 64])
@pytest.mark.parametrize("algorithm", DETERMINISTIC)
def test_every_packet_fares_as_in_the_published_algorithm(algorithm: str, ports: int) -> None:
    rng = random.Random(run_seed())
    length = 1200 if ports < 16 else 400 if ports == 16 else 60
    for iterations in (1, 2, 4) if algorithm in reference.SCHEDULERS else (1,):
        for depth in (None, 1, 3):
            slots = random_slots(ports, length, rng)
            expected = reference.run(algorithm, ports, iterations, slots, depth)
            assert play(algorithm, ports, iterations, slots, depth) == expected, f"iterations {iterations}, depth {depth}"


class _RrmAsIslip(reference.Rrm):
    def grant(self, j: int, requests: list[int]) -> int:
        return reference.next_in_turn(requests, self.g[j], self.ports)


class _IslipAlwaysMoves(reference.Islip):
    def accept(self, i: int, grants: list[int], iteration: int) -> int:
        return super().accept(i, grants, 0)


class _DrrmAlwaysMoves(reference.Drrm):
    def update(self, length: Any, request: dict[int, int], pairs: list[reference.Pair], iteration: int) -> None:
        super().update(length, request, pairs, 0)


class _EdrrmLeaves(reference.Edrrm):
    def update(self, length: Any, request: dict[int, int], pairs: list[reference.Pair], iteration: int) -> None:
        for i, j in request.items():
            self.a[i] = (j + 1) % self.ports
            if (i, j) in pairs:
                self.g[j] = i


@pytest.mark.parametrize(
    ("algorithm", "fault"), [("rrm", _RrmAsIslip), ("islip", _IslipAlwaysMoves), ("drrm", _DrrmAlwaysMoves), ("edrrm", _EdrrmLeaves)]
)
def test_a_pointer_that_moves_otherwise_is_seen(algorithm: str, fault: type[reference.Scheduler]) -> None:
    slots = random_slots(8, 400, random.Random(run_seed()))
    assert reference.crossbar(fault(8, 4), slots, None) != play(algorithm, 8, 4, slots, None)


def check_what_always_holds(setting: Setting, slots: int) -> None:
    simulation = simulate(slots, **setting, keep=True)
    result, fates = simulation.result(), simulation.fates()
    sent, dropped = fates[fates[:, 4] == 0], fates[fates[:, 4] == 1]
    assert result["slots"] == slots
    assert (len(sent), len(dropped)) == (result["sent"], result["dropped"])
    assert result["arrived"] == result["sent"] + result["dropped"] + result["queued"]  # queued is counted in the FIFOs
    assert (sent[:, 0] >= sent[:, 1]).all() and (dropped[:, 0] == dropped[:, 1]).all()
    assert result["latency_sum"] == (sent[:, 0] - sent[:, 1]).sum()
    for column in (3,) if setting["algorithm"] in ("oq", "cprra") else (2, 3):  # an output, and an input of a crossbar, sends one a slot
        assert len(np.unique(sent[:, [0, column]], axis=0)) == len(sent)
    assert len(np.unique(fates[:, [1, 2]], axis=0)) == len(fates)  # an input gets one a slot; none has two fates
    if setting["algorithm"] != "cprra" or not setting["depth"]:  # after drops the rotating arbiter may change the order (section 4.4)
        pairs = sent[:, 2] * 64 + sent[:, 3]
        for pair in np.unique(pairs):
            assert (np.diff(sent[pairs == pair, 1].astype(np.int64)) > 0).all()


@pytest.mark.parametrize("algorithm", [*DETERMINISTIC, "pim"])
@pytest.mark.parametrize("traffic", ["uniform", "bursty", "nonuniform", "diagonal", "hotspot"])
def test_no_packet_is_lost_doubled_or_overtaken(algorithm: str, traffic: str) -> None:
    rng = random.Random(run_seed())
    for depth in (0, 2):
        setting = {"algorithm": algorithm, "traffic": traffic, "depth": depth, "ports": rng.choice((2, 8, 32)), "seed": rng.getrandbits(32)}
        check_what_always_holds(setting | {"iterations": rng.randint(1, 4), "rate": rng.choice((0.5, 1.0)), "burst": 5.0}, 1500)


def test_pim_is_pim() -> None:
    """Its choices are its own; its latencies are those of the transcription."""
    rng = random.Random(run_seed())
    means: dict[str, list[float]] = {"reference": [], "engine": []}
    for run in range(12):
        slots = [[(i, rng.randrange(4)) for i in range(4) if rng.random() < 0.75] for _ in range(1500)]
        for name, fates in (("reference", reference.run("pim", 4, 1, slots, None, run)), ("engine", play("pim", 4, 1, slots, None, run))):
            means[name].append(float(np.mean([slot - arrival for slot, arrival, *_ in fates])))
    difference = np.array(means["engine"]) - np.array(means["reference"])  # of the same traffic
    assert abs(difference.mean()) < 4.5 * difference.std(ddof=1) / np.sqrt(len(difference)) + 0.01


def test_with_enough_iterations_no_pair_is_left_unmatched() -> None:
    """A matching of P iterations is maximal: a free input has nothing for a free output."""
    slots = random_slots(8, 300, random.Random(run_seed()))
    for algorithm in reference.SCHEDULERS:
        waiting = np.zeros((8, 8), dtype=int)
        left: dict[int, list[tuple[int, int]]] = {}
        for slot, _, i, j, _ in play(algorithm, 8, 8, slots, None):
            left.setdefault(slot, []).append((i, j))
        for now, arrivals in enumerate(slots):
            for i, j in arrivals:
                waiting[i, j] += 1
            pairs = left.get(now, [])
            free = np.ix_(sorted(set(range(8)) - {i for i, _ in pairs}), sorted(set(range(8)) - {j for _, j in pairs}))
            assert not waiting[free].any(), algorithm
            for i, j in pairs:
                waiting[i, j] -= 1


@pytest.mark.parametrize(("ports", "rate"), [(2, 0.5), (4, 0.8), (16, 0.5), (16, 0.9), (64, 0.8)])
@pytest.mark.parametrize("algorithm", ["oq", "cprra"])
def test_output_queues_wait_as_long_as_theory_says(algorithm: str, ports: int, rate: float) -> None:
    """Karol, Hluchyj, Morgan 1987, equation 14: Binomial arrivals, one departure a slot: (P - 1) / P * rate / (2 (1 - rate)) slots."""
    means = []
    for run in range(20):
        result = simulate(20_000, algorithm=algorithm, ports=ports, rate=rate, seed=run).result()
        means.append(result["latency_sum"] / result["sent"])
    theory = (ports - 1) / ports * rate / (2 * (1 - rate))
    assert abs(np.mean(means) - theory) < 4.5 * np.std(means, ddof=1) / np.sqrt(len(means)) + 0.002 * theory


def throughput(algorithm: str, iterations: int, rate: float = 1.0, slots: int = 1_000_000) -> float:
    return simulate(slots, algorithm=algorithm, iterations=iterations, rate=rate).result()["sent"] / (16 * slots)


@pytest.mark.parametrize(("algorithm", "iterations"), [("cprra", 1), ("oq", 1), ("islip", 1), ("islip", 4), ("drrm", 1)])
def test_full_uniform_load_is_carried(algorithm: str, iterations: int) -> None:
    assert throughput(algorithm, iterations) > 0.995  # what is missing is the backlog, which grows as the square root of the slots


def test_one_iteration_of_pim_saturates_where_theory_says() -> None:
    """McKeown 1999, II-A: each input gets a grant with probability 1 - (1 - 1 / P)^P: 64.4 % at P = 16, 63 % for many ports."""
    assert throughput("pim", 1) == pytest.approx(1 - (1 - 1 / 16) ** 16, abs=0.002)
    assert throughput("pim", 4) > 0.99


def test_one_iteration_of_rrm_saturates_at_63_percent() -> None:
    """McKeown 1999, II-B and figure 7. Beyond it queues never empty, pointers fall into step, and less is carried than at 63 %."""
    assert throughput("rrm", 1, rate=0.62) == pytest.approx(0.62, abs=0.001)
    assert throughput("rrm", 1, rate=0.66) < 0.62


def test_long_latencies_are_counted() -> None:
    """Both inputs send to output 0 in each of 10,000 slots: packet n comes in slot n / 2 and leaves in slot n. Bins are right to 1/256."""
    packets = np.array([(slot, source, 0) for slot in range(10_000) for source in range(2)], dtype=np.int64)
    found = simulate(20_000, algorithm="oq", ports=2, traffic="trace", trace=packets).result()
    waits = sorted(n - n // 2 for n in range(20_000))
    assert found["sent"] == 20_000 and found["latency_sum"] == sum(waits)
    values, counts = (np.asarray(found[key]) for key in ("latency_values", "latency_packets"))
    assert counts.sum() == 20_000 and values[-1] == waits[-1] == 10_000
    told = np.repeat(values, counts.astype(int))
    assert np.all(told >= waits) and np.all(told <= np.array(waits) * (1 + 1 / 256))
    assert np.array_equal(told[told < 4096], [wait for wait in waits if wait < 4096])


def test_the_paths_with_and_without_sorting_measure_the_same() -> None:
    """Kept packets go through the sorting network; the figures are those of the fast path."""
    for depth in (0, 1, 4):
        fast, exact = (simulate(5000, algorithm="cprra", depth=depth, rate=1.0, keep=keep).result() for keep in (False, True))
        assert fast.pop("cpu_seconds") >= 0 and exact.pop("cpu_seconds") >= 0
        for key in fast:
            assert np.array_equal(fast[key], exact[key]), key


def test_groups_fill_evenly_without_drops_and_fall_out_of_step_with_them() -> None:
    """The rotating arbiter at depth 1 wastes slots: more is dropped than at an output with the same memory in one queue."""
    cprra, oq = (simulate(25_000, algorithm=name, depth=1, rate=1.0).result() for name in ("cprra", "oq"))
    assert 0.045 < cprra["dropped"] / cprra["arrived"] < 0.058  # the paper: 5.2 %
    assert 0.025 < oq["dropped"] / oq["arrived"] < 0.032


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"ports": 12}, "ports"), ({"ports": 128}, "ports"), ({"rate": 1.5}, "rate"), ({"rate": float("nan")}, "rate"),
        ({"burst": 0.5}, "burst"),
        ({"hot": 2.0}, "hot"), ({"iterations": 0}, "iterations"), ({"algorithm": "slip"}, "slip"), ({"traffic": "rush"}, "rush"),
        ({"traffic": "trace", "trace": np.array([[0, 16, 0]])}, "ports"),
        ({"traffic": "trace", "trace": np.array([[1, 0, 0], [0, 0, 0]])}, "ascend"),
    ],
)  # fmt: skip
def test_the_engine_refuses_what_makes_no_sense(wrong: Setting, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        simulate(1, **wrong)
