"""pst_schedule: every decision judged by the shaper's model, in a C++ loop."""

from pathlib import Path

import pytest

from penstock.testing.testkit import run_soak, seed

BENCH = Path(__file__).parent / "soak_schedule.cpp"


def soak(parameters: dict[str, object], **arguments: int) -> dict[str, int]:
    shaping, width = int(parameters.get("Shaping", 1)), int(parameters.get("TimeWidth", 32))
    return run_soak(
        BENCH,
        "schedule",
        "pst_schedule",
        parameters,
        {
            "queues": int(parameters["Queues"]),
            "seed": seed(),
            "shaping": shaping,
            "time_width": width,
            "tolerance": int(parameters.get("ToleranceCycles", 1024)),
            "taken": 1000,
            "load": 500,
            "gates": 0,
            "idle": 0,
            "pattern": 0,
            "stages": int(parameters.get("VerdictStages", 0)),
            "drops": 0,
            "slow": 0,
            "length": 0,
            "packets": 300_000,
            **arguments,
        },
    )


SMALL = {"Queues": 16, "Slots": 256}
LARGE = {"Queues": 1000, "Slots": 1024, "SlotCycles": 16, "ToleranceCycles": 200}
WRAPPING = {"Queues": 16, "Slots": 64, "SlotCycles": 32, "ToleranceCycles": 100, "TimeWidth": 18, "WalkCycles": 16}


@pytest.mark.parametrize("parameters", [SMALL, LARGE, WRAPPING], ids=["small", "large", "wrapping"])
@pytest.mark.parametrize("gates", [0, 1])
def test_decisions(parameters: dict[str, object], gates: int) -> None:
    soak(parameters, gates=gates)


def test_lateness_at_light_load() -> None:
    """Alone on the output, a queue leaves within two slots of its earliest departure time, and 64 cycles after its gate opens."""
    counts = soak(SMALL, load=10, gates=1, packets=30_000)
    assert counts["lateness"] <= 64 and counts["gate"] <= 64, counts


def test_many_slow_queues_wait_within_the_horizon() -> None:
    """The wheel grows with the queues: 16,384 of them wait for long, and those that are due do not wait for visits to the others."""
    counts = soak({"Queues": 16_384}, slow=21, load=250, packets=60_000)
    assert counts["lateness"] <= 100, counts


@pytest.mark.parametrize(
    "width, exponent, length",
    [(32, 33, 1), (35, 33, 1), (35, 22, 9_600), (20, 22, 0), (20, 47, 1), (20, 63, 0)],
    ids=["32-slow", "35-slow", "35-jumbo", "20-at-the-limit", "20-beyond-it", "20-far-beyond-it"],
)
def test_slow_queues(width: int, exponent: int, length: int) -> None:
    """Periods beyond 2^16 cycles per byte, and packets that take as long as the range of times allows, or would take longer."""
    parameters = SMALL | {"TimeWidth": width}
    counts = soak(parameters, slow=exponent, length=length, load=10, packets=100)
    assert counts["lateness"] <= 100 and counts["cycles"] > 400_000, counts


def test_idle_longer_than_time_stamps() -> None:
    """Pauses of half to twice the range of the time stamps: the walk over old stamps keeps every comparison right."""
    soak(WRAPPING, load=300, idle=1, packets=100_000)
    # An old stamp that is taken for one in the future does no more than wait: at light load nothing else makes a queue late.
    counts = soak(WRAPPING, load=10, idle=1, packets=3_000)
    assert counts["lateness"] <= 64, counts


@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("parameters", [SMALL, WRAPPING], ids=["small", "wrapping"])
def test_dropped_packets_are_not_charged(parameters: dict[str, object], stages: int) -> None:
    """Packets that an AQM drops after they were taken: no charge, and the queue comes round at once."""
    counts = soak({**parameters, "VerdictStages": stages}, gates=1, drops=300, packets=200_000)
    assert counts["dropped"] > 50_000, counts
    soak({**parameters, "VerdictStages": stages}, load=300, idle=int(parameters is WRAPPING), drops=100, taken=300, packets=50_000)
    counts = soak({**parameters, "VerdictStages": stages}, load=10, gates=1, drops=300, packets=3_000)
    assert counts["lateness"] <= 64 and counts["gate"] <= 64, counts


def test_back_pressure() -> None:
    soak(SMALL, taken=100, packets=100_000)


@pytest.mark.parametrize("queues", [16, 1000])
def test_pass_through(queues: int) -> None:
    soak({"Queues": queues, "Shaping": 0}, load=900, packets=500_000)


@pytest.mark.parametrize("queues", [16, 1000])
def test_pass_through_in_the_place_of_an_own_scheduler(queues: int) -> None:
    """The same decisions at the ports of an own scheduler, whose rules are asserted meanwhile."""
    soak({"Queues": queues, "Shaping": 0, "OwnScheduler": 1}, load=900, packets=200_000)


def test_one_queue() -> None:
    """A queue alone on the device is served at least every 32 cycles when it is unshaped."""
    counts = soak({"Queues": 16, "Shaping": 0}, load=900, pattern=1, packets=50_000)
    assert counts["throughput"] >= 1000 / 32, counts
