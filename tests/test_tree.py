# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The hierarchy of a scenario as register writes: what is set before the clock starts, what changes at its time, and what is refused."""

from pathlib import Path

import pytest

from penstock import configs, job, registers, scenario
from penstock.errors import UserError

HEAD = """name: tree
description: A test.
device: { config: CONFIG }
duration: 1 ms
traffic:
  - constant: { queues: "0-15", rate: 1 Mbit/s, size: 100 }
"""
CLOCK = 10_000_000


def plan(tmp_path: Path, text: str, config: str = "tree_64", engine: str = "rtl") -> job.Plan:
    path = tmp_path / "tree.yaml"
    path.write_text(HEAD.replace("CONFIG", config) + text)
    read, document = scenario.load(path)
    return job.build(read, document, configs.load(config), engine)


def test_parents_are_set_before_the_clock_starts(tmp_path: Path) -> None:
    given = """
subscribers: [{ ids: 1-2, rate: 2 Mbit/s, burst: 1 kB, node: 3 }]
nodes: [{ id: 3, rate: 0, port: 1 }]
ports: [{ id: 1, rate: 1 Mbit/s }]
"""
    writes = plan(tmp_path, given).job["register_writes"]
    expected = [
        *registers.tree_writes("subscriber", 1, 2_000_000, 1000, 3, CLOCK),
        *registers.tree_writes("subscriber", 2, 2_000_000, 1000, 3, CLOCK),
        *registers.tree_writes("node", 3, 0, 0, 1, CLOCK),
        *registers.tree_writes("port", 1, 1_000_000, 0, 0, CLOCK),
    ]
    assert writes == expected
    assert expected[:5] == [(0x68, 1), (0x6C, expected[1][1]), (0x70, 40_000), (0x74, 3), (0x54, 5)]


def test_class_and_weight_go_with_the_queue(tmp_path: Path) -> None:
    writes = plan(tmp_path, "queues: [{ id: 5, traffic_class: 2, weight: 3 }]\n").job["register_writes"]
    assert writes[-3:] == [(0x68, 5), (0x78, 2 << 8 | 2), (0x54, 4)]


def test_changes_keep_what_they_do_not_name(tmp_path: Path) -> None:
    """In the order of their times, whatever their order in the file."""
    given = """
queues: [{ id: 5, name: voice, rate: 1 Mbit/s, limit_packets: 7 }]
subscribers: [{ id: 1, rate: 2 Mbit/s, node: 3 }]
changes:
  - { at: 200 us, subscribers: 1, set: { node: 2 } }
  - { at: 100 us, subscribers: 1, set: { rate: 0 } }
  - { at: 300 us, queues: voice, set: { rate: 3 Mbit/s, traffic_class: 1 } }
"""
    timed = plan(tmp_path, given).job["timed_register_writes"]
    expected = [
        *((1000, *write) for write in registers.tree_writes("subscriber", 1, 0, 0, 3, CLOCK)),
        *((2000, *write) for write in registers.tree_writes("subscriber", 1, 0, 0, 2, CLOCK)),
        *((3000, *write) for write in registers.queue_writes(5, 3_000_000, 0, 7, 16_777_215, CLOCK)),
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


def test_the_model_engine_has_none_yet(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="only the engine rtl"):
        plan(tmp_path, "", engine="model")
