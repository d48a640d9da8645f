# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Settings from plain values: the same register writes as from a scenario, and errors that name the path of the value."""

import random
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from penstock.basics.where import fail, path_text
from penstock.designs import configs
from penstock.designs.access_edge import job, registers
from penstock.designs.access_edge.settings import plain
from penstock.designs.access_edge.settings import shares as memory_shares
from penstock.designs.access_edge.settings.given import FRACTION, MemoryShare
from penstock.designs.access_edge.settings.parents import Parents
from penstock.designs.access_edge.settings.queues import Settings
from penstock.errors import UserError
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration
from penstock.testing.testkit import seed

HIERARCHY = configs.load("tree_codel_64")


def drawn(rng: random.Random, hierarchy: bool) -> dict[str, Any]:
    """Return random settings of a queue, each written in one of the ways that there are."""
    rate = rng.choice(["unshaped", 0, "5 Mbit/s", rng.randint(64_000, 5 * 10**9), f"{rng.randint(1, 900)} Mbps"])
    every: dict[str, Any] = {
        "rate": rate,
        "burst": rng.choice([0, "3 kB", rng.randint(0, 1500), "50 us"]),
        "limit_packets": rng.randint(0, 65_535),
        "limit_bytes": rng.choice([0, "64 kB", rng.randint(0, 16_777_215)]),
        "aqm": {"target": f"{rng.randint(1, 20)} ms", "ecn": rng.random() < 0.5},
        **({"traffic_class": rng.randrange(4), "weight": rng.randint(1, 8)} if hierarchy else {}),
    }
    return {key: value for key, value in every.items() if rng.random() < 0.7}


def written(folder: Path, document: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the register writes of a scenario."""
    path = folder / "scenario.yaml"
    with path.open("w") as file:
        YAML().dump(document, file)
    read, found = scenario.load(path)
    return list(job.build(read, found, configuration(read, found)).job["register_writes"])


def test_the_same_writes_as_a_scenario(tmp_path: Path) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(40):
        config = rng.choice([HIERARCHY, configs.load("demo_codel_64")])
        queue, values = rng.randrange(64), drawn(rng, config.hierarchy is not None)
        traffic = [{"constant": {"queues": queue, "rate": "1 Mbit/s", "size": 100}}]
        document = {"device": {"config": config.name}, "duration": "1 ms", "queues": [{"id": queue, **values}], "traffic": traffic}
        writes = written(tmp_path, document)
        assert writes == (plain.queue_writes(config, queue, values) if plain.queue_settings(config, values) != Settings() else []), values


def test_parents_as_in_a_scenario(tmp_path: Path) -> None:
    kinds = {
        "subscribers": {"rate": "100 Mbit/s", "burst": "3 kB", "node": 3, "weight": 5},
        "nodes": {"rate": 0, "port": 1},
        "ports": {"rate": "1 Gbit/s", "burst": "5 us"},
    }
    traffic = [{"constant": {"queues": 0, "rate": "1 Mbit/s", "size": 100}}]
    for kind, values in kinds.items():
        document = {"device": {"config": HIERARCHY.name}, "duration": "1 ms", kind: [{"id": 1, **values}], "traffic": traffic}
        assert written(tmp_path, document) == plain.parent_writes(HIERARCHY, kind, 1, values)


def test_writes_by_hand() -> None:
    """A class and a weight, at 10 MHz: 16 cycles per byte at 5 Mbit/s; 3 kB take 48,000 cycles."""
    writes = plain.queue_writes(HIERARCHY, 3, {"rate": "5 Mbit/s", "burst": "3 kB", "weight": 2, "class": 1})
    values = {name: value for address, value in writes for name in registers.table() if registers.address(name) == address}
    assert values["queue_index"] == values["tree_index"] == 3 and values["queue_rate"] == 20 << 16 | 32_768
    assert (values["queue_burst"], values["tree_class"]) == (48_000, 1 << 8 | 1)
    assert [value for address, value in writes if address == registers.address("queue_command")] == [1, 4]


def test_changes_of_parents_add_up() -> None:
    parents = Parents(HIERARCHY, fail)
    plain.parent_writes(HIERARCHY, "subscribers", 2, {"rate": "2 Mbit/s", "node": 3}, parents)
    writes = dict(plain.parent_writes(HIERARCHY, "subscribers", 2, {"weight": 4}, parents))
    assert writes[registers.address("tree_parent")] == 3 and writes[registers.address("tree_class")] == 3 << 8
    assert writes == dict(plain.parent_writes(HIERARCHY, "subscribers", 2, {"rate": "2 Mbit/s", "node": 3, "weight": 4}))


def test_what_is_not_named_stays() -> None:
    base = plain.queue_settings(HIERARCHY, {"rate": "5 Mbit/s", "limit_packets": 7})
    changed = plain.queue_settings(HIERARCHY, {"weight": 3}, base=base)
    assert (changed.rate_bps, changed.limit_packets, changed.weight) == (5_000_000, 7, 3)


def test_the_lowest_rate_of_a_configuration() -> None:
    """Of a queue, of what is above it, and of a guarantee; where a change lowers it, too."""
    config = configs.load("tree_2048")
    assert plain.queue_writes(config, 3, {"rate": "8 kbit/s"}) and plain.parent_writes(config, "nodes", 1, {"rate": "8 kbit/s"})
    config = config.model_copy(update={"clock_hz": 500_000_000})
    words = r"must be at least 11,340 bit/s in configuration tree_2048 \(a clock of 500 MHz and frames of up to 1,522 byte\), not 11,339"
    with pytest.raises(UserError, match=rf"queues\[3\]\.rate: {words}"):
        plain.queue_writes(config, 3, {"rate": 11_339})
    assert plain.queue_writes(config, 3, {"rate": 11_340})
    for kind in ("subscribers", "nodes", "ports"):
        with pytest.raises(UserError, match=rf"{kind}\[1\]\.rate: {words}"):
            plain.parent_writes(config, kind, 1, {"rate": 11_339})
        assert plain.parent_writes(config, kind, 1, {"rate": 11_340})
    slow = configs.load("tree_guaranteed_64")
    assert plain.queue_writes(slow, 3, {"rate": "8 kbit/s", "guarantee": "8 kbit/s"})
    fast = slow.model_copy(update={"clock_hz": 500_000_000})
    for write in (
        lambda: plain.queue_writes(fast, 1, {"guarantee": 11_339}),
        lambda: plain.parent_writes(fast, "subscribers", 1, {"guarantee": 11_339}),
    ):
        with pytest.raises(UserError, match=r"\[1\]\.guarantee: must be at least 11,340 bit/s"):
            write()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": "5 Mbitt"}, r'queues\[3\]\.rate: must be a rate with one of the units .*, not "5 Mbitt"'),
        ({"rate": 7_999}, r"queues\[3\]\.rate: must be at least 8 kbit/s \(or 0 for a closed gate\), not 7999"),
        ({"rate": "6 Gbit/s"}, r"queues\[3\]\.rate: must be at most the egress link's 5.120 Gbit/s, not 6 Gbit/s"),
        ({"rate": None}, r"queues\[3\]\.rate: is empty; .* \"unshaped\""),
        ({"rat": 5}, r"queues\[3\]\.rat: is not a known key; did you mean 'rate'"),
        ({"rate": 64_000, "burst": "3 MB"}, r"queues\[3\]\.burst: must be at most 214,748 byte at 64 kbit/s, not 3,000,000"),
        ({"class": 4}, r"queues\[3\]\.class: must be 0 to 3 in configuration tree_codel_64, not 4"),
        ({"class": 8}, r"queues\[3\]\.class: must be at most 7, not 8"),
        ({"traffic_class": 4}, r"queues\[3\]\.traffic_class: must be 0 to 3"),
        ({"class": 1, "traffic_class": 1}, r"queues\[3\]\.class: is the same as traffic_class, which is there, too"),
        ({"weight": 9}, r"queues\[3\]\.weight: must be at most 8, not 9"),
        ({"weight": 0}, r"queues\[3\]\.weight: must be at least 1, not 0"),
        ({"weight": True}, r"queues\[3\]\.weight: must be a whole number, not true"),
        ({"limit_packets": 65_536}, r"queues\[3\]\.limit_packets: must be at most 65,535, not 65536"),
        ({"limit_bytes": "17 MB"}, r"queues\[3\]\.limit_bytes: must be at most 16,777,215"),
        ({"aqm": {"target": "5"}}, r"queues\[3\]\.aqm\.target: must be a time"),
        ({"aqm": {"max_burst": "5 ms"}}, r"queues\[3\]\.aqm\.max_burst: is set, but configuration tree_codel_64 has CoDel"),
        ({"aqm": {"target": "10 s"}}, r"queues\[3\]\.aqm\.target: cannot be: a time of the AQM can be at most 419.4 ms"),
        ([1], r"queues\[3\]: must be keys with values, not a list"),
    ],
)  # fmt: skip
def test_bad_values_are_told_by_their_path(values: Any, message: str) -> None:
    with pytest.raises(UserError, match=f"^{message}"):
        plain.queue_writes(HIERARCHY, 3, values)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plain.queue_writes(HIERARCHY, 64, {}), r"queues\[64\]: names queue 64, but .* has queues 0 to 63"),
        (lambda: plain.queue_writes(HIERARCHY, -1, {}), "queues: an id must be a whole number from 0 on, not -1"),
        (lambda: plain.queue_writes(configs.load("demo_64"), 0, {"class": 1}), r"queues\[0\]\.class: is set, but .* has no"),
        (lambda: plain.queue_writes(configs.load("pass_2048"), 0, {"rate": "1 Mbit/s"}), r"queues\[0\]\.rate: is 1 Mbit/s, but .* no"),
        (lambda: plain.queue_writes(HIERARCHY, 3, {"rate": "2 Mbit/s"}, line_bps=10**6), r"queues\[3\]\.rate: must be at most the egress"),
        (lambda: plain.parent_writes(HIERARCHY, "subscribers", 16, {"rate": 0}), r"subscribers\[16\]: names subscriber 16, but .* 0 to 15"),
        (lambda: plain.parent_writes(HIERARCHY, "subscribers", 1, {"node": 4}), r"subscribers\[1\]\.node: is 4, but .* has nodes 0 to 3"),
        (lambda: plain.parent_writes(HIERARCHY, "nodes", 1, {"weight": 2}), r"nodes\[1\]\.weight: is nothing that nodes have; .* rate"),
        (lambda: plain.parent_writes(HIERARCHY, "nodes", 1, {"class": 2}), r"nodes\[1\]\.class: is nothing that nodes have"),
        (lambda: plain.parent_writes(HIERARCHY, "ports", 1, {}), r"ports\[1\]: is empty"),
        (lambda: plain.parent_writes(HIERARCHY, "port", 1, {"rate": 0}), "\"port\" is nothing that a hierarchy has; did you mean 'ports'"),
        (lambda: plain.parent_writes(configs.load("demo_64"), "ports", 1, {"rate": 0}), r"ports\[1\]: is there, but .* has no hierarchy"),
    ],
)  # fmt: skip
def test_what_the_configuration_does_not_have(call: Any, message: str) -> None:
    with pytest.raises(UserError, match=f"^{message}"):
        call()


def test_nothing_is_changed_by_what_is_refused() -> None:
    parents = Parents(HIERARCHY, fail)
    plain.parent_writes(HIERARCHY, "nodes", 1, {"rate": "2 Mbit/s"}, parents)
    for values in ({"rate": "1 Mbit/s", "port": 9}, {"rate": 64_000, "burst": "30 MB"}):
        with pytest.raises(UserError):
            plain.parent_writes(HIERARCHY, "nodes", 1, values, parents)
    assert parents.settings("nodes", 1).rate_bps == 2_000_000


def test_paths() -> None:
    assert [path_text(key) for key in ((), ("queues", 3, "rate"), ("rate",), ("a", "b", 0, 1))] == [
        "",
        "queues[3].rate",
        "rate",
        "a.b[0][1]",
    ]


def shares(config: Any, *given: dict[str, Any]) -> list[tuple[int, int]]:
    return memory_shares.writes([MemoryShare.model_validate(share) for share in given], config, fail)


def test_shares_of_memory() -> None:
    """Alpha and reserved pages of a class in every page size, as the registers have them; and what cannot be."""
    config = configs.load("tiny_share_16")  # 64 pages of 1,536 byte, 48 of 256
    names = ("share_class", "share_size", "share_alpha", "share_reserved", "queue_command")

    def words(*values: int) -> list[tuple[int, int]]:
        return list(zip(map(registers.address, names), values, strict=True))

    assert shares(config) == []
    assert shares(config, {"traffic_class": 2, "alpha": 0.5, "reserved": 6}) == words(2, 0, 3, 6, 8) + words(2, 1, 3, 6, 8)
    assert shares(config, {"traffic_class": 0, "reserved": {1536: 40}}) == words(0, 0, 7, 1, 8) + words(0, 1, 7, 40, 8)
    assert shares(config, {"traffic_class": 1, "alpha": 2048}) == words(1, 0, 15, 1, 8) + words(1, 1, 15, 2, 8)
    every = [{"traffic_class": cls, "reserved": 12} for cls in range(4)]
    assert len(shares(config, *every)) == 4 * 2 * 5
    for given, message in (
        ([{"traffic_class": 4}], r"memory_shares\[0\]\.traffic_class: must be 0 to 3 in configuration tiny_share_16, not 4"),
        ([{"traffic_class": 0}, {"traffic_class": 0}], r"memory_shares\[1\]\.traffic_class: is 0, which another entry has already"),
        ([{"traffic_class": 0, "reserved": {512: 1}}], r"memory_shares\[0\]\.reserved: names pages of 512 byte, .* of 256 and 1,536 byte"),
        (
            [*every[:3], {"traffic_class": 3, "reserved": 13}],
            r"memory_shares: makes 49 reserved pages of all classes, but .* 48 pages of 256",
        ),
    ):
        with pytest.raises(UserError, match=f"^{message}"):
            shares(config, *given)
    with pytest.raises(UserError, match="^memory_shares: is set, but configuration tiny_16 has no admission"):
        shares(configs.load("tiny_16"), {"traffic_class": 0})
    for alpha, code in ((0.0625, 0), ("1/16", 0), ("0.5", 3), ("5e-1", 3), (1, 4), (1.0, 4), (" 2048", 15)):
        assert MemoryShare.model_validate({"traffic_class": 0, "alpha": alpha}).alpha == code
    assert not FRACTION.fullmatch("1e999")  # however fast it is told from a power of two, one of a billion digits is not made
    endless = ("1e999999", "1e-999999999", "1/" + "9" * 1_000_000, float("inf"), float("nan"), 10**10_000)
    for alpha in (3, 0, 4096, "much", True, -1, "-1/2", "1/0", "", ".", "\u0661", *endless):
        with pytest.raises(ValidationError, match="must be a power of two from 1/16 to 2,048"):
            MemoryShare.model_validate({"traffic_class": 0, "alpha": alpha})


def test_class_of_memory() -> None:
    """A queue's class goes to the admission where there is one, with a hierarchy and without."""
    cls = registers.address("queue_class")
    assert dict(plain.queue_writes(configs.load("tiny_share_16"), 3, {"class": 2}))[cls] == 2
    assert dict(plain.queue_writes(HIERARCHY, 3, {"class": 1}))[cls] == 1
    assert cls not in dict(plain.queue_writes(configs.load("tree_262144").model_copy(update={"admission": None}), 3, {"class": 1}))
