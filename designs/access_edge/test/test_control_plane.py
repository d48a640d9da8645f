# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The control plane: what is asked for is in the device, durable, and nothing else is; whatever fails in between.

What a device has is judged by a mirror of its registers (`Mirror`), which knows commands and nothing of the code that is tested; the model
device judges the mirror: traffic through it goes as the settings say.
"""

import contextlib
import random
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import compare
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.plant import Subscriber
from penstock.designs.access_edge.control.problems import Problem
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.settings import plain
from penstock.designs.access_edge.testing.control import (
    CONFIG,
    GUARANTEED,
    SETTINGS_OF_QUEUE,
    Mirror,
    home,
    plant_of,
)
from penstock.designs.access_edge.testing.control_judge import drawn, judge
from penstock.driver.carrier import READ, WAIT, WRITE, CarrierError
from penstock.driver.mapped import Mapped
from penstock.errors import UserError
from penstock.testing.testkit import seed
from penstock.v1 import common_pb2, hierarchy_pb2


@pytest.mark.parametrize("number", range(6))
def test_random_changes_and_crashes(number: int, tmp_path: Path) -> None:
    """Changes of every kind in batches, of which some are wrong, some fail at a random write, and some meet a device that refuses; the
    server is begun anew now and then. What was acknowledged is in store and device, what was not is in neither."""
    rng = random.Random(seed() + number)
    config = configs.load(GUARANTEED if number % 2 else CONFIG)
    mirror, store = Mirror(config), tmp_path / "intent.sqlite"
    plant = plant_of(mirror, store)
    wanted: dict[str, Subscriber] = {}
    used: set[int] = set()
    names = [f"home-{n}" for n in range(12)]
    for _ in range(60):
        makers, after = [], dict(wanted)
        wrong = rng.random() < 0.1
        for name in rng.sample(names, rng.randint(1, 5)):
            if name in after and rng.random() < 0.3:
                makers.append(lambda name=name: name)
                del after[name]
            else:
                made = drawn(rng, name, config.hierarchy.guarantees)
                makers.append(lambda made=made: made)
                after[name] = made
        if wrong:
            makers.insert(rng.randrange(len(makers) + 1), lambda: Subscriber(name="bad", node=99))
        mirror.fails_after = rng.randrange(40) if rng.random() < 0.25 else None
        mirror.refuses = rng.randrange(10) if mirror.fails_after is None and rng.random() < 0.2 else None
        try:
            plant.change(makers)
        except Problem:
            pass
        else:
            assert not wrong
            wanted = after
        mirror.fails_after = mirror.refuses = None
        if rng.random() < 0.3:  # as a kill and a new start
            plant.intent.close()
            plant = plant_of(mirror, store)
        elif plant.stale:
            plant.restore()
        used |= set(plant.index_of.values())
        assert set(plant.index_of) == set(wanted)
        stored = {message.name: message for message in plant.intent.subscribers()}
        assert stored.keys() == wanted.keys()
        empty = {place for place in used if place not in plant.name_of}
        judge(mirror, {name: stored[name] for name in wanted}, plant.index_of, empty)
        assert differences(plant) == []
        for name, subscriber in wanted.items():
            subscriber.index, subscriber.version = stored[name].index, stored[name].version
            assert stored[name] == subscriber
    plant.intent.close()


def test_a_batch_item_by_item() -> None:
    """What is wrong is told by its number, and the others are done."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    makers = [lambda n=n: Subscriber(name=f"h{n}", node=99 if n == 1 else 0) for n in range(3)]
    done = plant.change(makers, all_or_nothing=False)
    assert [failure.item for failure in done.failures] == [1] and set(plant.index_of) == {"h0", "h2"}
    with pytest.raises(Problem, match=r"nodes 0 to \d+, not 99"):
        plant.change(makers[1:])
    assert set(plant.index_of) == {"h0", "h2"}


def test_a_queue_costs_what_differs() -> None:
    """A write for each setting in which it differs from the one before, and one at least; counted by hand."""
    mirror = Mirror(configs.load(CONFIG))
    plant = plant_of(mirror)
    queues = [common_pb2.QueueSettings(rate_bps=10**6 * (cls + 1), traffic_class=cls) for cls in range(4)]
    before = mirror.writes
    done = plant.change([lambda n=n: Subscriber(name=f"h{n}", rate_bps=10**7, queues=queues) for n in range(8)])
    # Subscribers: index, weight, rate, burst and node at first, then each costs one. Queues: index once; rate and class of each; at first
    # burst and both limits as well, and no class, for it is 0 as the subscribers' weights less one were.
    assert done.applied.bus_writes == mirror.writes - before == (5 + 7) + (1 + 3 + 8 * 4 * 2 - 1)


class FlowMirror(Mirror):
    """Which has 1,024 flow queues, and no word of the hash of flows after reset."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        low, _, _ = registers.table()["features"]["fields"]["flows"]
        self.registers[registers.address("features")] |= 1 << low
        self.registers[registers.address("flows")] = 1024
        self.words: dict[int, int] = {}

    def _command(self, command: int) -> None:
        if command == registers.command("flow_word"):
            self.words[self.registers[registers.address("find_item")]] = self.registers[registers.address("find_value")]
        else:
            super()._command(command)


def test_flows_are_told_apart(tmp_path: Path) -> None:
    """A device has all words of the hash of flows before its first subscriber; others from one store to another, the same from the same."""
    found = []
    for store in ("a", "a", "b"):
        mirror = FlowMirror(configs.load(CONFIG))
        with contextlib.closing(plant_of(mirror, tmp_path / store).intent):
            assert sorted(mirror.words) == list(range(3200)) and len(set(mirror.words.values())) > 900
            pages = mirror.config.descriptors
            assert mirror.registers[registers.address("flow_limit")] == pages - pages // 8
        found.append(mirror.words)
    assert found[0] == found[1] != found[2]


def test_what_another_has_changed_is_found() -> None:
    """A queue, one of a subscriber that was deleted, a subscriber, a node and a port whose registers were written behind the server's
    back."""
    mirror = Mirror(configs.load(CONFIG))
    plant = plant_of(mirror)
    plant.change([lambda: home("a", node=1, rate_bps=10**8), lambda: home("b")])
    plant.change([lambda: "b"])
    plant.set_parent("node", hierarchy_pb2.Node(index=1, rate_bps=10**9, port=1))
    plant.set_parent("port", hierarchy_pb2.Port(index=1, rate_bps=10**9))
    assert differences(plant) == []
    rate = mirror.queues[2][0]
    mirror.queues[5] = (*mirror.queues[5][:2], 100, *mirror.queues[5][3:])  # dropped all, as nobody has it
    mirror.queues[2] = (7, *mirror.queues[2][1:])
    mirror.subscribers[0] = (*mirror.subscribers[0][:2], 3, 0)
    mirror.parents["node", 1] = (*mirror.parents["node", 1][:2], 0)
    mirror.parents["port", 1] = (0, *mirror.parents["port", 1][1:])
    found = differences(plant)
    assert [(one.name, one.field) for one in found] == [
        ("queue 2 (a, 2)", "rate"), ("queue 5 (no subscriber, 1)", "limit_packets"), ("subscriber 0 (a)", "parent"), ("node 1", "parent"),
        ("port 1", "rate"),
    ]  # fmt: skip
    assert [(one.intended, one.found) for one in found[:3]] == [(rate, 7), (0, 100), (1, 3)]


def test_nodes_hang_where_the_device_has_them(tmp_path: Path) -> None:
    """What a scenario has spread over ports is told so, and stays there when something else of a node is set. After a restart what was set
    wins, and of the others the device is asked again."""
    from penstock.command_line.app import main

    mirror, store = Mirror(configs.load(CONFIG)), tmp_path / "i.sqlite"
    mirror.parents = {("node", index): (1, 0, index % 2) for index in range(4)}
    plant = plant_of(mirror, store)
    with serving(plant, Sweep(plant), [f"unix:{tmp_path / 'c.sock'}"]) as (place,), Client(place) as client:

        def told(port: int | None = None) -> list[tuple[int, int]]:
            return [(node.index, node.port) for node in client.nodes.List(hierarchy_pb2.ListNodesRequest(port=port)).nodes]

        assert told() == [(0, 0), (1, 1), (2, 0), (3, 1)] and told(1) == [(1, 1), (3, 1)] and plant.port_of.tolist() == [0, 1, 0, 1]
        assert client.nodes.Set(hierarchy_pb2.Node(index=1, rate_bps=10**8)).port == 1 == mirror.parents["node", 1][2]
        assert main(["ctl", "--server", place, "node", "set", "3", "--rate", "1Mbit/s"]) == 0 and mirror.parents["node", 3][2] == 1
        assert main(["ctl", "--server", place, "node", "set", "3", "--port", "0"]) == 0 and mirror.parents["node", 3][2] == 0
        assert told() == [(0, 0), (1, 1), (2, 0), (3, 0)]
    plant.intent.put_parent("node", 0, 0, hierarchy_pb2.Node(index=0).SerializeToString())  # as an earlier version has noted port 0
    plant.intent.close()
    mirror.parents = {("node", index): (1, 0, 1) for index in range(4)}
    plant = plant_of(mirror, store)
    assert plant.port_of.tolist() == [0, 1, 1, 0] == [mirror.parents["node", index][2] for index in range(4)]
    assert [(node.index, node.port, node.HasField("port")) for node in plant.nodes.values()] == [(0, 0, True), (1, 1, True), (3, 0, True)]
    plant.intent.close()


def test_changes_go_on_beside_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one that takes long: the lock is let go between two parts, and what is changed meanwhile, whatever it is, differs nowhere."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    plant.change([lambda number=number: home(f"h{number}") for number in range(16)])
    for index in range(4):
        plant.set_parent("node", hierarchy_pb2.Node(index=index, rate_bps=10**9))
    lock, parts = plant.lock, list[int]()

    class Watched:
        def __enter__(self) -> None:
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()
            plant.lock, number = lock, len(parts)  # nobody has it now
            parts.append(number)
            if number < 16:  # what comes next goes, what was there changes, and what had gone comes
                others = [f"h{place}" for place in (number + 1, number - 1) if f"h{place}" in plant.index_of]
                plant.change([*(lambda name=name: name for name in others), lambda: home(f"new {number}", node=number % 4)])
            plant.set_parent("node", hierarchy_pb2.Node(index=number % 4, rate_bps=10**8 + number, port=number % 2))
            plant.lock = self

    monkeypatch.setattr(compare, "AT_ONCE", 4)
    plant.lock = Watched()  # type: ignore[assignment]
    assert compare.differences(plant) == []
    assert len(parts) == 16 + 1 + 3  # each place, all nodes, and where each level has no more


def test_a_node_that_the_device_does_not_take(tmp_path: Path) -> None:
    """Refused, it is as it was before, or not there, in memory, store and device; where the device is gone, it is set when it answers."""
    mirror, path = Mirror(configs.load(CONFIG)), tmp_path / "s"
    plant = plant_of(mirror, path)
    for known in (False, True):
        before = dict(plant.nodes), plant.port_of.tolist(), dict(mirror.parents)
        mirror.refuses = 0
        with pytest.raises(Problem, match="refused .*taken back") as caught:
            plant.set_parent("node", hierarchy_pb2.Node(index=1, rate_bps=10**8))
        assert caught.value.code == grpc.StatusCode.ABORTED and not plant.stale and differences(plant) == []
        assert before == (plant.nodes, plant.port_of.tolist(), mirror.parents) and plant.intent.nodes() == list(plant.nodes.values())
        if not known:
            plant.set_parent("node", hierarchy_pb2.Node(index=1, rate_bps=10**9, port=1))
    made = plant.revision
    mirror.fails_after = 0
    with pytest.raises(Problem, match="the bus is gone; it is intended") as caught:
        plant.set_parent("node", hierarchy_pb2.Node(index=1, rate_bps=10**7))
    assert caught.value.code == grpc.StatusCode.UNAVAILABLE and plant.stale
    mirror.fails_after = None
    plant.restore()
    assert differences(plant) == [] and plant.nodes[1].rate_bps == 10**7 and plant.nodes[1].version == made + 1
    mirror.refuses = 0
    with pytest.raises(Problem, match="refused"):
        plant.set_parent("port", hierarchy_pb2.Port(index=1))
    plant.intent.close()
    assert plant_of(mirror, path).revision == made + 2  # no version comes twice


def test_a_store_of_another_device_or_version(tmp_path: Path) -> None:
    small, large = Mirror(configs.load("tree_64")), Mirror(configs.load("tree_2048"))
    plant = plant_of(small, tmp_path / "a")
    with pytest.raises(UserError, match="another server has it"):
        Intent(tmp_path / "a")
    plant.intent.close()
    with pytest.raises(UserError, match="is the store of another device"):
        plant_of(large, tmp_path / "a")
    (tmp_path / "b").write_bytes(b"no database at all, but long enough to be one" * 40)
    with pytest.raises(UserError, match="is no store of a control plane"):
        Intent(tmp_path / "b")


@pytest.mark.parametrize(
    ("register", "value", "words"),
    [
        ("type", 0xFFFFFFFF, "no Penstock device is there: the type reads 0xffffffff"),
        ("type", 0x50535402, r"has no access edge \(kind 1\); it has kinds 2"),
        ("version", 0x00020000, r"register map 2\.0, and this software needs 1\.5 or a later 1\.x"),
        ("version", 0x00010004, r"register map 1\.4"),
    ],
)
def test_a_device_that_is_not_understood(register: str, value: int, words: str) -> None:
    mirror = Mirror(configs.load(CONFIG))
    mirror.registers[registers.address(register)] = value
    with pytest.raises(CarrierError, match=words):
        ask(mirror)


def test_a_mapped_file(tmp_path: Path) -> None:
    """The programs of a mapped BAR do what those of every carrier do; a file of another shape is refused."""
    path = tmp_path / "resource0"
    path.write_bytes(bytes(4096))
    mapped = Mapped(path)
    program = np.array([[WRITE, 8, 7, 0], [READ, 8, 0, 0], [WAIT, 8, 7, 0xFF], [WRITE, 8, 9, 0], [READ, 8, 0, 0]], dtype=np.uint32)
    assert mapped.run(program).tolist() == [7, 9]
    mapped.close()
    assert path.read_bytes()[8:12] == b"\x09\0\0\0"
    path.write_bytes(bytes(100))
    with pytest.raises(CarrierError, match="has 100 byte, and a register block has 4,096"):
        Mapped(path)
    with pytest.raises(CarrierError, match="no such file"):
        Mapped(tmp_path / "none")


def test_the_plain_settings_are_those_of_scenarios() -> None:
    """One code for both: a word of a scenario and a field of a message give the same registers."""
    config = configs.load(CONFIG)
    mirror = Mirror(config)
    plant = plant_of(mirror)
    plant.change([lambda: Subscriber(name="x", queues=[common_pb2.QueueSettings(rate_bps=5_000_000, burst_bytes=2000, weight=3)])])
    writes = dict(plain.queue_writes(config, 0, {"rate": "5 Mbit/s", "burst": "2000 B", "weight": 3}))
    assert mirror.queues[0] == tuple(writes[registers.address(name)] for name in SETTINGS_OF_QUEUE)
