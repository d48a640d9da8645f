"""pst_fq beside its model in every cycle, which test_fq_model.py compares with RFC 8290."""

from pathlib import Path

import pytest

from penstock.hardware import library
from penstock.testing.testkit import run_module, run_soak, seed

BENCH = Path(__file__).parent / "soak_fq.cpp"
FEW, FLOOD, HOT = range(3)


def soak(lanes: int, queues: int, flows: int, descriptors: int, age: int, hosts: int = 0, **arguments: int) -> dict[str, int]:
    parameters = {"Lanes": lanes, "Queues": queues, "Flows": flows, "Descriptors": descriptors, "AgeCycles": age, "HostBits": hosts}
    settings = {"lanes": lanes, "queues": queues, "flows": flows, "descriptors": descriptors, "age": age, "hosts": hosts}
    traffic = {"cycles": 200_000, "seed": seed(), "pattern": FEW, "limits": 0, "resets": 2}
    return run_soak(BENCH, "fq", "pst_fq", parameters, {**settings, **traffic, **arguments}, library.sources_of("pst_fq"))


@pytest.mark.parametrize("limits", [0, 1], ids=["no-limits", "limits"])
@pytest.mark.parametrize("pattern", [FEW, FLOOD, HOT], ids=["few", "flood", "hot"])
@pytest.mark.parametrize(
    "lanes, queues, flows, descriptors, age",
    [(1, 4, 32, 64, 1), (2, 16, 1024, 512, 3), (4, 64, 1024, 1000, 1)],
    ids=["small", "2-lanes", "4-lanes"],
)
def test_every_cycle(lanes: int, queues: int, flows: int, descriptors: int, age: int, pattern: int, limits: int) -> None:
    counts = soak(lanes, queues, flows, descriptors, age, pattern=pattern, limits=limits)
    assert counts["left"] > 2000 and counts["accepted"] > 2000
    if limits:
        assert counts["dropped"] > 500
    if pattern == FLOOD and flows == 32:
        assert counts["own"] > 500


@pytest.mark.parametrize("pattern", [FEW, FLOOD, HOT], ids=["few", "flood", "hot"])
@pytest.mark.parametrize("lanes, queues, flows, hosts", [(1, 4, 64, 4), (2, 16, 1024, 2)], ids=["16-hosts", "4-hosts"])
def test_hosts_share_first(lanes: int, queues: int, flows: int, hosts: int, pattern: int) -> None:
    assert soak(lanes, queues, flows, 512, 3, hosts, pattern=pattern, limits=1)["left"] > 2000


def test_a_host_of_very_many_flows() -> None:
    """More than count: turns of a host with hundreds of flows."""
    assert soak(1, 2, 2048, 2000, 1000, 1, pattern=HOT, cycles=400_000, resets=0)["claimed"] > 500


def test_queues_that_are_no_power_of_two() -> None:
    assert soak(1, 5, 64, 100, 2, pattern=HOT, limits=1)["left"] > 1000


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [FEW, FLOOD, HOT], ids=["few", "flood", "hot"])
def test_millions_of_cycles_at_full_size(pattern: int) -> None:
    counts = soak(2, 32_768, 262_144, 131_072, 1, pattern=pattern, cycles=4_000_000, limits=1, resets=0)
    assert counts["left"] > 500_000


@pytest.mark.parametrize("parameters", [{"Flows": 1000}, {"Queues": 256, "Flows": 1024}, {"AgeCycles": 0}, {"Lanes": 3}, {"Queues": 33}])
def test_sizes_out_of_range_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(RuntimeError, match="return code"):
        run_module("fq", "pst_fq", parameters)
