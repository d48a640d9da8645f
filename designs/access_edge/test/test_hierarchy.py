# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The hierarchy of a scenario as register writes: what is set before the clock starts, what changes at its time, and what is refused."""

from pathlib import Path

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import job, registers
from penstock.errors import UserError
from penstock.scenarios import scenario

HEAD = """name: hierarchy
description: A test.
device: { config: CONFIG }
duration: 1 ms
traffic:
  - constant: { queues: "0-15", rate: 1 Mbit/s, size: 100 }
"""
CLOCK = 10_000_000


def plan(tmp_path: Path, text: str, config: str = "tree_64", engine: str = "rtl") -> job.Plan:
    path = tmp_path / "hierarchy.yaml"
    path.write_text(HEAD.replace("CONFIG", config) + text)
    read, document = scenario.load(path)
    return job.build(read, document, configs.load(config), engine)


def test_parents_are_set_before_the_clock_starts(tmp_path: Path) -> None:
    given = """
subscribers: [{ ids: 1-2, rate: 2 Mbit/s, burst: 1 kB, node: 3 }, { id: 4, weight: 8 }]
nodes: [{ id: 3, rate: 0, port: 1 }]
ports: [{ id: 1, rate: 1 Mbit/s }]
"""
    writes = plan(tmp_path, given).job["register_writes"]
    expected = [
        *registers.hierarchy_writes("subscriber", 1, 2_000_000, 1000, 3, CLOCK),
        *registers.hierarchy_writes("subscriber", 2, 2_000_000, 1000, 3, CLOCK),
        *registers.hierarchy_writes("subscriber", 4, None, 0, 0, CLOCK, 8),
        *registers.hierarchy_writes("node", 3, 0, 0, 1, CLOCK),
        *registers.hierarchy_writes("port", 1, 1_000_000, 0, 0, CLOCK),
    ]
    assert writes == expected
    assert expected[:6] == [(0x68, 1), (0x6C, expected[1][1]), (0x70, 40_000), (0x74, 3), (0x78, 0), (0x54, 5)]
    assert expected[16:18] == [(0x78, 7 << 8), (0x54, 5)]


def test_class_and_weight_go_with_the_queue(tmp_path: Path) -> None:
    writes = plan(tmp_path, "queues: [{ id: 5, traffic_class: 2, weight: 3 }]\n").job["register_writes"]
    assert writes[-3:] == [(0x68, 5), (0x78, 2 << 8 | 2), (0x54, 4)]


def test_changes_keep_what_they_do_not_name(tmp_path: Path) -> None:
    """In the order of their times, whatever their order in the file."""
    given = """
queues: [{ id: 5, name: voice, rate: 1 Mbit/s, limit_packets: 7 }]
subscribers: [{ id: 1, rate: 2 Mbit/s, node: 3, weight: 2 }]
changes:
  - { at: 200 us, subscribers: 1, set: { node: 2 } }
  - { at: 100 us, subscribers: 1, set: { rate: 0 } }
  - { at: 250 us, subscribers: 1, set: { weight: 4 } }
  - { at: 300 us, queues: voice, set: { rate: 3 Mbit/s, traffic_class: 1 } }
"""
    timed = plan(tmp_path, given).job["timed_register_writes"]
    expected = [
        *((1000, *write) for write in registers.hierarchy_writes("subscriber", 1, 0, 0, 3, CLOCK, 2)),
        *((2000, *write) for write in registers.hierarchy_writes("subscriber", 1, 0, 0, 2, CLOCK, 2)),
        *((2500, *write) for write in registers.hierarchy_writes("subscriber", 1, 0, 0, 2, CLOCK, 4)),
        *((3000, *write) for write in registers.queue_writes(5, 3_000_000, 0, 7, 16_777_215, CLOCK, share_class=1)),
        *((3000, *write) for write in registers.class_writes(5, 1, 1)),
    ]
    assert timed == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nodes: [{ id: 4, rate: 1 Mbit/s }]", "names node 4, but configuration tree_64 has nodes 0 to 3"),
        ("subscribers: [{ id: 0, node: 4 }]", "is 4, but configuration tree_64 has nodes 0 to 3"),
        ("subscribers: [{ id: 16, node: 0 }]", "subscribers 0 to 15"),
        ("ports: [{ id: 0, rate: 1 Mbit/s }, { ids: 0-1, rate: 2 Mbit/s }]", "which another entry of `ports` has already"),
        ("subscribers: [{ id: 0, weight: 9 }]", "subscribers.0.weight. must be at most 8, not 9"),
        ("queues: [{ id: 0, traffic_class: 4 }]", "must be 0 to 3 in configuration tree_64, not 4"),
        ("changes: [{ at: 1 us, nodes: 0, set: { weight: 2 } }]", "is nothing that nodes have; they have burst, port, rate"),
        ("changes: [{ at: 1 us, queues: 0, set: { node: 1 } }]", "is nothing that queues have"),
        ("changes: [{ at: 1 us, nodes: 0, queues: 1, set: { rate: 0 } }]", "needs exactly one of"),
        ("changes: [{ at: 1 us, nodes: 0, set: {} }]", "is empty"),
        ("report: { lateness: 0 s }", "knows neither a hierarchy nor changes"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence.replace("`", ".")):
        plan(tmp_path, text + "\n")


def test_a_configuration_without_a_hierarchy(tmp_path: Path) -> None:
    for text in ("nodes: [{ id: 0, rate: 1 Mbit/s }]\n", "queues: [{ id: 0, weight: 2 }]\n"):
        with pytest.raises(UserError, match="configuration demo_64 has no hierarchy"):
            plan(tmp_path, text, "demo_64")


def test_the_model_engine_is_told_of_it(tmp_path: Path) -> None:
    model = plan(tmp_path, "", engine="model").job["device"]["model"]
    assert model["hierarchy"] == {"queues_per_subscriber": 4, "nodes": 4, "ports": 2, "classes": 4}


def parents(made: job.Plan, command: int) -> dict[int, int]:
    """Return by id the parents that a plan's writes give subscribers (command 5) or nodes (6)."""
    found, held = {}, {}
    for where, value in made.job["register_writes"]:
        held[where] = value
        if (where, value) == (registers.address("queue_command"), command):
            found[held[registers.address("tree_index")]] = held[registers.address("tree_parent")]
    return found


def test_subscribers_are_dealt(tmp_path: Path) -> None:
    """In turns, and in blocks of as equal size as can be; nodes to ports as well."""
    given = """
subscribers:
  - { ids: 0-4, spread: { over: "1-3" } }
  - { ids: "5-15", spread: { over: [0, 2, 3], by: blocks } }
nodes: [{ ids: 0-3, spread: { over: "0-1" } }]
"""
    made = plan(tmp_path, given)
    dealt = parents(made, 5)
    assert [dealt[i] for i in range(5)] == [1, 2, 3, 1, 2]
    assert [dealt[i] for i in range(5, 16)] == [0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 3]
    assert parents(made, 6) == {0: 0, 1: 1, 2: 0, 3: 1}


def test_every_fourth_queue(tmp_path: Path) -> None:
    made = plan(tmp_path, 'queues: [{ ids: "2-15/4", traffic_class: 2 }]\n')
    touched = [value for where, value in made.job["register_writes"] if where == registers.address("tree_index")]
    assert touched == [2, 6, 10, 14]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("subscribers: [{ ids: 0-3, spread: { over: 2-4 } }]", "names node 4, but configuration tree_64 has nodes 0 to 3"),
        ("subscribers: [{ ids: 0-3, node: 1, spread: { over: 2-3 } }]", "has either `node` or `spread`, not both"),
        ("subscribers: [{ ids: 0-1, spread: { over: 0-2, by: blocks } }]", "deals 2 in blocks to 3; there must be at least as many"),
        ("subscribers: [{ ids: 0-3, spread: { over: 0-1, by: chance } }]", "turns.*blocks"),
        ("nodes: [{ ids: 0-3, port: 0, spread: { over: 0-1 } }]", "has either `port` or `spread`, not both"),
        ("nodes: [{ ids: 0-3, spread: { over: 0-2 } }]", "names port 2, but configuration tree_64 has ports 0 to 1"),
        ("ports: [{ id: 0, spread: { over: 0-1 } }]", "spread"),
        ('queues: [{ ids: "0-15/0" }]', "every fourth"),
    ],
)
def test_what_cannot_be_dealt(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence.replace("`", ".")):
        plan(tmp_path, text + "\n")
