"""Memory shared by class: a greedy queue costs the others nothing, with a hierarchy and without, and a queue alone has three quarters."""

from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine, run
from penstock.hardware import verilate

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


# Configurations with a hierarchy: what the scenario needs there, so that the backup would soon hold all pages: of small frames
# where there are many, as a queue has 65,535 packets and 16 MB at most.
FAST = ("traffic.3.constant.rate=4 Gbit/s", "traffic.3.constant.size=600", "duration=200 ms")
HIERARCHIES = {
    "tree_64": (),
    "tree_codel_64": (),
    "tree_2048": FAST,
    "tree_codel_2048": FAST,
    "tree_262144": (
        "device.overrides.memories.ddr.pages=65536",
        "traffic.3.constant.rate=2 Gbit/s",
        "traffic.3.constant.size=100",
        "duration=200 ms",
    ),
    "tree_guaranteed_64": (),
    "live_tree_16": ("device.overrides.admission.classes=4", "traffic.3.constant.rate=100 Mbit/s"),
}
WITHOUT = {"live_tree_16"}  # README.md, "Which have an admission"


def test_hierarchies_have_an_admission() -> None:
    """All of them but one that says why not, with as many classes as the hierarchy."""
    hierarchies = {name: configs.load(name) for name in configs.names() if getattr(configs.load(name), "hierarchy", None)}
    assert {name for name, config in hierarchies.items() if config.admission is None} == WITHOUT and set(HIERARCHIES) <= set(hierarchies)
    assert all(config.admission.classes == config.hierarchy.classes for config in hierarchies.values() if config.admission)


@pytest.mark.slow
def test_400_customers_fill_the_memory_of_an_access_node(tmp_path: Path) -> None:
    """As scenarios/full_memory.yaml describes: by default the classes 0 to 2 lose nothing at 91 Gbit/s; without sharing all lose, also at
    nodes that are not congested, and less leaves."""
    path = configs.ROOT / "scenarios/full_memory.yaml"
    found = {}
    for name, settings in (("shared", []), ("alone", ["device.overrides.admission=false"])):
        result = run.carry_out(run.Request(path, settings=settings, out=tmp_path / name, engine="model"))[0]
        assert not result["findings"]
        late = [point["value"] for point in result["series"]["total"]][-10:] if "total" in result.get("series", {}) else []
        found[name] = result
        drops = {group["name"]: group["drop_packets"] for group in result["groups"] if group["drop_packets"]}
        print(f"{name}: {result['throughput_bps'] / 1e9:.1f} Gbit/s, lost {drops}, {result['packets']['dropped']}, {late}")
    shared, alone = found["shared"], found["alone"]
    assert {group["name"] for group in shared["groups"] if group["drop_packets"]} == {"the 400"}
    assert set(shared["packets"]["dropped"]) == {"no_share"} and shared["packets"]["queued"] > 0.75 * 131_072
    assert shared["throughput_bps"] > 90.5e9
    assert {"calls", "calls beside them", "films", "pages"} <= {group["name"] for group in alone["groups"] if group["drop_packets"]}
    assert alone["packets"]["dropped"]["no_page"] > 0 and alone["throughput_bps"] < shared["throughput_bps"]


@pytest.mark.parametrize("name", HIERARCHIES)
def test_the_call_of_a_home_loses_nothing(name: str, tmp_path: Path) -> None:
    """The backup has all that it may have, and goes on; the call of the highest class loses nothing, nor do the others."""
    result = result_of(tmp_path, f"device.config={name}", *HIERARCHIES[name])
    pages = 65536 if name == "tree_262144" else sum(memory.pages for memory in configs.load(name).memories)
    packets = {row["name"]: row["in_packets"] for row in result["queues"]}
    assert lost(result)["backup"] > 500 and packets["call"] >= 20
    assert {queue for queue, count in lost(result).items() if count} == {"backup"} and set(result["packets"]["dropped"]) == {"no_share"}
    assert result["packets"]["queued"] >= 0.75 * pages, "the backup alone may have three quarters"


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


@pytest.mark.parametrize(
    ("cls", "size", "reserved", "reason", "in_force"), [(0, 0, 7, 0, 7), (3, 1, 63, 0, 58), (4, 0, 1, 4, 0), (0, 2, 1, 2, 0)]
)
def test_shares_in_registers(cls: int, size: int, reserved: int, reason: int, in_force: int) -> None:
    """On both engines the same: what is refused, and what is reserved, of no more pages than the other classes have left."""
    config = configs.load("tiny_share_16")  # 48 pages of 256 byte, of which each class has 1 reserved; 64 of 1,536, and 2
    names = ("status", "share_classes", "share_sizes", "share_free", "share_used", "share_in_force")
    job, timing = twins.random_job(config, 1)
    job |= {"register_writes": registers.share_writes(cls, size, 5, reserved), "timed_register_writes": [], "sources": []}
    where = [*[registers.address(name) for name in names], *[registers.address("status")] * 300, registers.address("share_in_force")]
    libraries = (verilate.build_device(config, print), None)
    found = [engine.module().read_registers(job | {"device": twins.device(config, path, timing)}, where) for path in libraries]
    assert found[0][:-1] == found[1][:-1] or reason == 0
    assert found[0][-1] == found[1][-1] == in_force
    status, classes, sizes, free, used = found[0][:5]
    assert (status >> 4 & 7, classes, sizes, used) == (reason, 4, 2, 0)
    assert free == (0 if reason else list(config.page_sizes.values())[size])
