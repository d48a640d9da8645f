# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The experiment's arrivals, link and schedulers against queueing theory: M/M/1 and M/D/1 with limited wait until the start of service.

Barrer (1957), also Boxma and de Waal (1994): with Poisson arrivals and one deadline D, the wait below D is distributed as in the queue
without a deadline, P(W <= w) = c U(w) with U(w) = sum of rho^n times the n-fold convolution of the equilibrium size, and work is conserved.
So the loss is 1 - U(D) / (1 + rho U(D)).
"""

import math
from typing import Any

import pytest

from penstock.engine import engine
from penstock.switch_sim.measure import mean_and_ci95
from penstock.testing.testkit import seed

RATE = 10**9
SECOND = 10**12
RUNS = 16
TOLERANCE = 2  # times the 95 % interval: with 16 runs, fewer than one of a thousand right programs is outside


def run(**other: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "schedulers": ["exact", "fifo"], "arrivals": "poisson", "rate_bps": RATE, "load": 1.0, "deadlines": [1], "shares": [1.0],
        "warm_up": SECOND // 10, "end": SECOND // 2, "fifo_wait": 1, "tick": 12_207_031, "seed": seed(),
    }  # fmt: skip
    return engine.models("deadline").edfr_experiment(**settings | other)


def loss(result: dict[str, Any]) -> float:
    lost = sum(c["packets"]["offered"] - c["packets"]["sent"] for c in result["classes"])
    return lost / sum(c["packets"]["offered"] for c in result["classes"])


def mean_delay_ps(result: dict[str, Any]) -> float:
    return sum(c["delay_sum_ps"] for c in result["classes"]) / sum(c["packets"]["sent"] for c in result["classes"])


def exponential(rho: float, wait: float) -> tuple[float, float]:
    """Loss, and mean wait of what is sent, of M/M/1; times in mean service times."""
    tilt = 1 - rho
    if abs(tilt) < 1e-9:
        up_to, weighted = 1 + wait, wait**2 / 2
    else:
        decay = math.exp(-tilt * wait)
        up_to = 1 + rho * (1 - decay) / tilt
        weighted = rho * (1 - decay * (1 + tilt * wait)) / tilt**2
    return 1 - up_to / (1 + rho * up_to), weighted / up_to


def constant(rho: float, wait: float) -> float:
    """Loss of M/D/1."""
    terms = [math.exp(rho * (wait - k)) * (-rho * (wait - k)) ** k / math.factorial(k) for k in range(math.floor(wait) + 1)]
    up_to = math.fsum(terms)
    return 1 - up_to / (1 + rho * up_to)


def test_the_formula_is_barrers() -> None:
    """The form that is printed: (1 - rho) rho e^-(mu - lambda)D / (1 - rho^2 e^-(mu - lambda)D)."""
    for rho in (0.5, 0.8, 1.2, 2):
        for wait in (0.5, 3, 10):
            decay = math.exp(-(1 - rho) * wait)
            assert exponential(rho, wait)[0] == pytest.approx((1 - rho) * rho * decay / (1 - rho**2 * decay))
    assert constant(0.7, 0) == pytest.approx(0.7 / 1.7)  # Erlang's formula for one server


@pytest.mark.parametrize(("rho", "wait"), [(0.8, 3), (0.9, 10), (1.0, 5), (1.2, 8), (1.5, 0.5)])
def test_exponential_sizes(rho: float, wait: float) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    mean = 5000  # bytes: rounding to whole ones changes nothing that is seen
    service = mean * 8 * SECOND // RATE
    deadline = round(wait * service)
    runs = [
        run(load=rho, deadlines=[deadline], fifo_wait=deadline, exponential_bytes=mean, end=3 * SECOND, seed=seed() * 1000 + n)
        for n in range(RUNS)
    ]
    wanted_loss, wanted_wait = exponential(rho, wait)
    for name in ("exact", "fifo"):
        mean_loss, ci95 = mean_and_ci95([loss(r[name]) for r in runs])
        assert abs(mean_loss - wanted_loss) <= TOLERANCE * ci95, (name, mean_loss, wanted_loss, ci95)
        assert ci95 < 0.05 * wanted_loss
        waits, ci95 = mean_and_ci95([mean_delay_ps(r[name]) / service for r in runs])
        assert abs(waits - wanted_wait) <= TOLERANCE * ci95, (name, waits, wanted_wait, ci95)


@pytest.mark.parametrize(("rho", "wait"), [(0.8, 2), (0.95, 6.5), (1.0, 4), (1.3, 3.25)])
def test_constant_sizes(rho: float, wait: float) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    deadline = round(wait * 8000 * 1000)
    runs = [
        run(load=rho, deadlines=[deadline] * 3, shares=[1, 2, 3], fifo_wait=deadline, sizes=[(1000, 1)], end=SECOND, seed=seed() * 1000 + n)
        for n in range(RUNS)
    ]
    assert all(r["exact"]["fingerprint"] == r["fifo"]["fingerprint"] for r in runs)
    mean_loss, ci95 = mean_and_ci95([loss(r["exact"]) for r in runs])
    assert abs(mean_loss - constant(rho, wait)) <= TOLERANCE * ci95 and ci95 < 0.05 * mean_loss


def test_overload_fills_the_link() -> None:
    """Whatever arrives: at twice the link's rate, half of the bytes are sent. IMIX, four arrivals, all schedulers."""
    print(f"PENSTOCK_SEED={seed()}")
    schedulers = ["exact", "fifo", "skip_check", "skip"]
    for arrivals in ("poisson", "constant", "on_off", "pareto"):
        found = run(
            schedulers=schedulers, arrivals=arrivals, load=2.0, deadlines=[10**10, 3 * 10**10], shares=[1, 3], fifo_wait=25 * 10**9,
            sizes=[(60, 7), (590, 4), (1514, 1)], burst=10**9, pause=10**8, end=2 * SECOND,
        )  # fmt: skip
        for name in schedulers:
            offered, sent = (sum(c["bytes"][key] for c in found[name]["classes"]) for key in ("offered", "sent"))
            assert offered * 8 / RATE / 1.9 == pytest.approx(2, rel=0.03)
            assert sent * 8 / RATE / 1.9 == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("arrivals", ["poisson", "constant", "on_off", "pareto"])
def test_what_comes(arrivals: str, shared: bool) -> None:
    """Loads and shares are those asked for; every byte has a fate; delays are within the deadline but for the two that may be late."""
    print(f"PENSTOCK_SEED={seed()}")
    deadlines, tick = [10**9, 3 * 10**9, 10**10], 12_207_031
    found = run(
        schedulers=["exact", "fifo", "skip_check", "skip"], arrivals=arrivals, shared=shared, load=1.1, deadlines=deadlines,
        shares=[1, 1, 2], fifo_wait=6 * 10**9, sizes=[(500, 1), (1000, 1)], burst=10**9, pause=3 * 10**9, shape=3.0, end=4 * SECOND,
    )  # fmt: skip
    for name, result in found.items():
        for unit in ("packets", "bytes"):
            amounts = result["all"][unit]
            assert amounts["offered"] == sum(amounts[fate] for fate in ("sent", "expired", "expired_at_head", "tail_dropped"))
            for own in result["classes"]:
                assert own[unit]["offered"] == sum(own[unit][f] for f in ("sent", "expired", "expired_at_head", "tail_dropped"))
        offered = [c["packets"]["offered"] for c in result["classes"]]
        assert sum(offered) * 750 * 8 / RATE / 3.9 == pytest.approx(1.1, rel=0.1)
        assert [n / sum(offered) for n in offered] == pytest.approx([0.25, 0.25, 0.5], rel=0.15)
        for own, deadline in zip(result["classes"], deadlines, strict=True):
            late = {"exact": 0, "skip_check": 0, "skip": tick, "fifo": 6 * 10**9}[name]
            assert own["longest_ps"] <= deadline + late and own["most_late_ps"] <= late
            assert (own["late"] > 0) == (own["most_late_ps"] > 0)
    assert found["exact"]["fingerprint"] != found["fifo"]["fingerprint"]
    if not (shared and arrivals == "constant"):  # equal distances: equal deadlines, of which the encoder takes the lowest class
        assert found["exact"]["fingerprint"] == found["skip_check"]["fingerprint"]


def test_only_the_middle_counts() -> None:
    """A long deadline, a short window: neither the filling of the queue before it nor an idle link behind it is in the loss."""
    deadlines, start = [10**10, 10**11], 3 * SECOND // 10
    for name in ("exact", "skip"):
        found = run(schedulers=[name], load=1.5, deadlines=deadlines, shares=[1, 1], sizes=[(1000, 1)], warm_up=start, end=start + 10**11)
        lost = [1 - c["packets"]["sent"] / c["packets"]["offered"] for c in found[name]["classes"]]
        assert lost == pytest.approx([1 / 3, 1 / 3], abs=0.03)


def test_bursts_are_bursts() -> None:
    """With no wait allowed at load 0.5, what is lost tells how packets bunch."""
    common = {"load": 0.5, "sizes": [(1000, 1)], "fifo_wait": 0, "deadlines": [0], "burst": 10**9, "pause": 3 * 10**9, "end": 2 * SECOND}
    lost = {name: loss(run(arrivals=name, **common)["fifo"]) for name in ("constant", "poisson", "on_off", "pareto")}
    assert lost["constant"] == 0  # equal distances
    assert lost["poisson"] == pytest.approx(1 / 3, rel=0.02)  # Erlang: 0.5 / 1.5
    assert lost["on_off"] == pytest.approx(2 / 3, rel=0.02)
    assert lost["pareto"] == pytest.approx(2 / 3, rel=0.02)  # at twice the link's rate: 2 / 3


def test_a_seed_is_a_run() -> None:
    common = {"sizes": [(1000, 1)], "deadlines": [10**8], "fifo_wait": 10**8}
    one, again, other = (run(seed=number, **common)["exact"]["fingerprint"] for number in (5, 5, 6))
    assert one == again != other


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"load": 0.0}, "a load is above 0"),
        ({"arrivals": "rain"}, "arrivals are poisson, constant, on_off or pareto, not rain"),
        ({"sizes": []}, "traffic has sizes, or a mean"),
        ({"shares": [1, 2]}, "a share for each"),
        ({"shares": [0]}, "the share of a class is above 0"),
        ({"arrivals": "on_off", "burst": 0.0}, "bursts are longer than 0"),
        ({"arrivals": "pareto", "burst": 1e9, "shape": 1.0}, "its shape is above 1"),
        ({"schedulers": ["lifo"]}, "there is no scheduler lifo"),
        ({"warm_up": SECOND}, "a run counts from its warm-up to its end"),
    ],
)
def test_settings_without_sense_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        run(**{"sizes": [(1000, 1)], **settings})
