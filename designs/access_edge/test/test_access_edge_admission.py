"""Memory shared by class: a greedy queue costs the others nothing, with a hierarchy and without, and a queue alone has three quarters."""

from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.engine import engine, run

PAGES = 4096  # of 2,048 byte; demo_64 has 512 of 512 byte more


@pytest.fixture(scope="session", autouse=True)
def built() -> None:
    """The engine, up to date."""
    engine.build(print)


def result_of(folder: Path, *settings: str) -> dict[str, Any]:
    """Run scenario `greedy_queue` on the model and return its result."""
    path = configs.ROOT / "scenarios/greedy_queue.yaml"
    result = run.carry_out(run.Request(path, settings=list(settings), out=folder / "out", engine="model"))[0]
    assert not result["findings"]
    return result


def lost(result: dict[str, Any]) -> dict[str, int]:
    """Return the packets that each queue lost."""
    return {row["name"]: row["drop_packets"] for row in result["queues"]}


FLAT = ("device.config=demo_64", "device.overrides.admission.classes=4", "subscribers=[]", "queues.backup.rate=50 Mbit/s")


@pytest.mark.parametrize("settings", [(), FLAT], ids=["hierarchy", "flat"])
def test_a_greedy_queue_costs_the_others_nothing(settings: tuple[str, ...], tmp_path: Path) -> None:
    shared = result_of(tmp_path, *settings)
    assert {name for name, packets in lost(shared).items() if packets} == {"backup"}
    assert set(shared["packets"]["dropped"]) == {"no_share"}
    assert shared["packets"]["queued"] >= 0.75 * PAGES, "the backup alone may have three quarters"


def test_without_admission_the_others_lose(tmp_path: Path) -> None:
    alone = result_of(tmp_path, "device.overrides.admission=false")
    assert lost(alone)["call"] > 20 and lost(alone)["neighbour"] > 1000 and set(alone["packets"]["dropped"]) == {"no_page"}


def test_what_a_class_is_given(tmp_path: Path) -> None:
    """Alpha and reserved pages of the backup's class say how much it holds; those of the call hold when nothing else is left."""
    small = result_of(tmp_path / "small", "memory_shares=[{traffic_class: 3, alpha: 0.5, reserved: 0}]")
    shared = PAGES - 3 * (PAGES // 8 // 4)  # less what the other classes have reserved
    assert abs(small["packets"]["queued"] - shared / 3) < 40  # alpha / (1 + alpha); the others have a few pages, too
    given = [(3, 3900, 2048), (0, 20, 8), (1, 0, 8), (2, 0, 8)]
    entries = ", ".join(f"{{traffic_class: {cls}, reserved: {reserved}, alpha: {alpha}}}" for cls, reserved, alpha in given)
    tight = result_of(tmp_path / "tight", f"memory_shares=[{entries}]")
    assert lost(tight)["call"] == 0 and tight["packets"]["queued"] > 4000
