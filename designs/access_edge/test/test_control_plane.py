# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The control plane: what is asked for is in the device, durable, and nothing else is; whatever fails in between.

What a device has is judged by a mirror of its registers (`Mirror`), which knows commands and nothing of the code that is tested; the model
device judges the mirror: traffic through it goes as the settings say.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import compare, openconfig, tables
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.http import pages
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.plant import Subscriber
from penstock.designs.access_edge.control.problems import Problem
from penstock.designs.access_edge.control.server import Tls, serving
from penstock.designs.access_edge.control.services.counters import Counters
from penstock.designs.access_edge.control.services.subscribers import Subscribers
from penstock.designs.access_edge.control.sweep import Sweep, snapshots
from penstock.designs.access_edge.settings import plain
from penstock.designs.access_edge.testing.control import (
    CONFIG,
    GUARANTEED,
    SETTINGS_OF_QUEUE,
    CountingMirror,
    Mirror,
    child,
    fails,
    home,
    plant_of,
    processes,
    small_device,
)
from penstock.driver import places, remote
from penstock.driver.carrier import READ, WAIT, WRITE, CarrierError, parts, program, reads
from penstock.driver.mapped import Mapped
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.testing.testkit import seed
from penstock.v1 import audit_pb2, common_pb2, counters_pb2, device_pb2, hierarchy_pb2, queues_pb2, registers_pb2, subscribers_pb2


def drawn(rng: random.Random, name: str, guarantees: bool = False) -> Subscriber:
    """A subscriber that the device can have."""
    made = Subscriber(name=name, node=rng.randrange(4), gate_closed=rng.random() < 0.1)
    if rng.random() < 0.8:
        made.rate_bps = rng.choice([0, 64_000, 1_000_000, rng.randrange(64_000, 10**9)])
    if rng.random() < 0.5:
        made.burst_bytes = rng.randrange(0, 3000)
    if rng.random() < 0.5:
        made.weight = rng.randint(1, 8)
    for _ in range(rng.randint(0, 4)):
        queue = made.queues.add()
        if rng.random() < 0.8:
            queue.rate_bps = rng.choice([0, 2_000_000, 20_000_000, rng.randrange(64_000, 10**9)])
        for field, most in (("burst_bytes", 3000), ("limit_packets", 65_535), ("limit_bytes", 16_777_215), ("traffic_class", 3)):
            if rng.random() < 0.4:
                setattr(queue, field, rng.randint(0, most))
        if rng.random() < 0.4:
            queue.weight = rng.randint(1, 8)
    for one in (made, *made.queues):
        if guarantees and rng.random() < 0.6 and (most := one.rate_bps or 10**9) >= 64_000:
            one.guarantee_bps = rng.choice([0, 64_000, most, rng.randint(64_000, most)])
    return made


def expected(config: Any, subscriber: Subscriber) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The registers of a subscriber and its queues, from the encoders of rates and bursts."""

    def shaper(rate: int | None, burst: int) -> tuple[int, int]:
        mantissa, exponent = registers.rate_code(rate, config.clock_hz)
        return exponent << 16 | mantissa, registers.burst_cycles(burst, rate, config.clock_hz)

    own = shaper(subscriber.rate_bps if subscriber.HasField("rate_bps") else None, subscriber.burst_bytes)
    weight = subscriber.weight if subscriber.HasField("weight") else 1
    queues = []
    for queue in subscriber.queues:
        rate = shaper(queue.rate_bps if queue.HasField("rate_bps") else None, queue.burst_bytes)
        limits = (
            queue.limit_packets if queue.HasField("limit_packets") else registers.MAX_LIMIT_PACKETS,
            queue.limit_bytes if queue.HasField("limit_bytes") else registers.MAX_LIMIT_BYTES,
        )
        share = queue.traffic_class | ((queue.weight if queue.HasField("weight") else 1) - 1) << 8
        queues.append(((0, 0) if subscriber.gate_closed else rate) + limits + (share,))
    queues += [(1, 0, 0, 0, 0)] * (4 - len(queues))
    return (*own, subscriber.node, weight - 1), queues


def guarantees_of(config: Any, subscriber: Subscriber) -> list[int]:
    """The registers of its guarantee and of those of its queues, as the device holds them."""
    rates = [subscriber.guarantee_bps, *(queue.guarantee_bps for queue in subscriber.queues)] + [0] * (4 - len(subscriber.queues))
    codes = [registers.rate_code(rate, config.clock_hz) if rate and config.hierarchy.guarantees else (0, 0) for rate in rates]
    return [exponent << 16 | mantissa for mantissa, exponent in codes]


def judge(mirror: Mirror, wanted: dict[str, Subscriber], places: dict[str, int], empty: set[int]) -> None:
    """The device has what is wanted, at each place that was ever used; what has gone drops all."""
    for name, subscriber in wanted.items():
        parent, queues = expected(mirror.config, subscriber)
        place = places[name]
        assert mirror.subscribers[place] == parent, name
        assert [mirror.queues[4 * place + n] for n in range(4)] == queues, name
        places_of = [("subscriber", place), *(("queue", 4 * place + n) for n in range(4))]
        assert [mirror.guarantees[one] for one in places_of] == guarantees_of(mirror.config, subscriber), name
    for place in empty:
        assert [mirror.queues[4 * place + n] for n in range(4)] == [(1, 0, 0, 0, 0)] * 4


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


# ---- a server in front of the model device


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server with the model of a small device, to which traffic for all queues comes; yields client, plant and sweep."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine
    from penstock.engine.run import Request, prepare

    engine.build()
    folder = tmp_path_factory.mktemp("served")
    scenario = folder / "s.yaml"
    scenario.write_text(
        f"device: {{ config: {CONFIG} }}\nduration: 1 s\ndrain: false\n"
        "traffic:\n  - { name: all, poisson: { queues: 0-63, pick: random, rate: 500 Mbit/s, size: 500 } }\n"
    )
    carrier = InProcess(prepare(Request(scenario, engine="model")).plan.job)
    plant = plant_of(carrier, folder / "intent.sqlite")
    sweep = Sweep(plant, 0.05)
    sweep.start()
    with serving(plant, sweep, [f"unix:{folder / 'c.sock'}", "127.0.0.1:0"]) as places, Client(places[0]) as client:
        yield client, plant, sweep, places
    sweep.stop()
    plant.intent.close()
    result = carrier.device.end()
    assert result["findings"] == [] and result["conservation_ok"]
    carrier.close()


def test_the_life_of_a_subscriber(served: Any) -> None:
    """Made, asked for again with the same request id, changed with the right version and with a stale one, moved, listed, deleted."""
    client, plant, _, _ = served
    request = subscribers_pb2.CreateSubscriberRequest(subscriber=home("life"), request_id="r1")
    made = client.subscribers.Create(request)
    assert client.subscribers.Create(request) == made
    other = subscribers_pb2.CreateSubscriberRequest(subscriber=home("other"), request_id="r1")
    fails(grpc.StatusCode.INVALID_ARGUMENT, "was used for another request", client.subscribers.Create, other)
    request.request_id = ""
    fails(grpc.StatusCode.ALREADY_EXISTS, "there is a subscriber 'life' already", client.subscribers.Create, request)
    update = subscribers_pb2.UpdateSubscriberRequest(subscriber=Subscriber(name="life", rate_bps=10**8, version=made.version))
    update.update_mask.paths.append("rate_bps")
    changed = client.subscribers.Update(update)
    assert changed.rate_bps == 10**8 and len(changed.queues) == 4 and changed.version > made.version
    fails(grpc.StatusCode.ABORTED, "it was changed meanwhile", client.subscribers.Update, update)
    moved = client.subscribers.Move(subscribers_pb2.MoveSubscriberRequest(name="life", node=1))
    assert moved.node == 1 and client.subscribers.Get(subscribers_pb2.GetSubscriberRequest(name="life")) == moved
    assert [entry.name for entry in client.list(node=1)] == ["life"] and not list(client.list(contains="nobody"))
    client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="life"))
    fails(grpc.StatusCode.NOT_FOUND, "no subscriber 'life'", client.subscribers.Get, subscribers_pb2.GetSubscriberRequest(name="life"))
    log = plant.audited(8)
    assert ("local user", "/penstock.v1.Subscribers/Delete") in {(who, method) for _, who, method, _, status in log if status == "OK"}
    assert any(status == "ABORTED" for *_, status in log)


def test_deadlines_and_cancellation(served: Any) -> None:
    """What is asked for with a deadline is not done after it, nor what was cancelled, nor a stream of which the end never came."""
    client, plant, _, _ = served
    stop = threading.Event()

    def endless() -> Iterator[subscribers_pb2.ProvisionRequest]:
        yield subscribers_pb2.ProvisionRequest(subscribers=[home("of a stream")], all_or_nothing=True)
        stop.wait(30)

    requests = [subscribers_pb2.CreateSubscriberRequest(subscriber=home(name)) for name in ("late", "cancelled", "in time")]
    with plant.lock:  # a change that takes long
        stream = client.subscribers.Provision.future(endless())
        late = client.subscribers.Create.future(requests[0], timeout=0.5)
        cancelled, in_time = client.subscribers.Create.future(requests[1]), client.subscribers.Create.future(requests[2], timeout=60)
        assert late.exception().code() == grpc.StatusCode.DEADLINE_EXCEEDED
        # One of them leads and waits for the lock; the others wait for it. Who reads that asks what the server knows of its callers.
        end = time.monotonic() + 60

        def behind() -> list[Any]:
            return [one.entry.waits for some in list(plant._waiting._requests.values()) for one in list(some)]

        while len(behind()) < 2:
            assert time.monotonic() < end, "they do not come"
            time.sleep(0.01)
        assert cancelled.cancel() and stream.cancel()
        while sum(waits() for waits in behind()) > 1:
            assert time.monotonic() < end, "it is not cancelled"
            time.sleep(0.01)
        time.sleep(0.5)  # the deadline of the first one is over for the server as well
    assert in_time.result().name == "in time"
    stop.set()
    assert not {"late", "cancelled", "of a stream"} & set(plant.index_of)
    while "CANCELLED" not in {line[4] for line in plant.audited(3)}:  # their threads may come to an end after the last answer
        assert time.monotonic() < end, "nothing says that they were cancelled"
        time.sleep(0.01)
    client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="in time"))


def test_what_is_wrong_names_its_field(served: Any) -> None:
    client = served[0]

    def create(**fields: Any) -> Any:
        return subscribers_pb2.CreateSubscriberRequest(subscriber=Subscriber(**fields))

    queue = common_pb2.QueueSettings
    for words, request in {
        "name: must be 1 to 128 printable characters": create(name="a\nb"),
        "node: the device has nodes 0 to ": create(name="x", node=5000),
        "index: the device has places 0 to 15, not 16": create(name="x", index=16),
        "queues: the device has 4 a subscriber, not 5": create(name="x", queues=[queue()] * 5),
        "queues[1].rate_bps: must be at least 8 kbit/s": create(name="x", queues=[queue(), queue(rate_bps=5)]),
        "queues[0].weight: must be at most 8": create(name="x", queues=[queue(weight=9)]),
        "queues[0].aqm: is set, but configuration of the device has no AQM": create(name="x", queues=[queue(aqm=common_pb2.Aqm())]),
        "weight: must be 1 to 8, not 12": create(name="x", weight=12),
        "rate_bps: must be 8,000 to 100,000,000,000 bit/s": create(name="x", rate_bps=1),
    }.items():
        fails(grpc.StatusCode.INVALID_ARGUMENT, words, client.subscribers.Create, request)
    # What is echoed is cut, by its bytes: a status that is larger than a client takes in its headers says nothing.
    for letter in ("k", "\U0001f4a9"):
        long = create(name="x", queues=[queue(aqm=common_pb2.Aqm(settings={letter * 3_000: "5 ms"}))])
        fails(grpc.StatusCode.INVALID_ARGUMENT, "queues[0].aqm", client.subscribers.Create, long)
        mask = subscribers_pb2.UpdateSubscriberRequest(subscriber=Subscriber(name="x"), update_mask={"paths": [letter * 3_000]})
        fails(grpc.StatusCode.INVALID_ARGUMENT, "update_mask: names ", client.subscribers.Update, mask)
        problem = Problem(grpc.StatusCode.INVALID_ARGUMENT, letter * 3_000, letter * 3_000).at("queues[0]")
        assert problem.field.startswith(f"queues[0].{letter}") and problem.field.endswith(letter)
        assert problem.status().ByteSize() < 2_000
    name, write = registers_pb2.RegisterName, registers_pb2.WriteRegistersRequest
    for call, words, asked in (
        (client.nodes.Set, "index: the device has nodes", hierarchy_pb2.Node(index=77)),
        (client.registers.Read, "registers[0]: the device has no register 'none'",
         registers_pb2.ReadRegistersRequest(registers=[name(register="none")])),
        (client.registers.Read, "registers[1]: names no register", registers_pb2.ReadRegistersRequest(registers=[name(address=0), name()])),
        (client.registers.Write, "writes[0].register: names no register", write(writes=[write.Write(value=5)])),
        (client.queues.Get, "queue: names no queue", queues_pb2.GetQueueRequest()),
        (client.audit.List, "noun: must be a noun", audit_pb2.ListAuditRequest(noun="a" * 100_000)),
    ):  # fmt: skip
        fails(grpc.StatusCode.INVALID_ARGUMENT, words, call, asked)


def test_a_store_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Is said as such, over gRPC and HTTP, and not as an error that nobody has thought of."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    plant.change([lambda: home("a")])

    def broken(*_: Any) -> Any:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(plant.intent, "message", broken)
    monkeypatch.setattr(plant.intent, "audited", broken)
    sweep = Sweep(plant)
    words = "the store cannot be read (disk I/O error)"
    with serving(plant, sweep, [f"unix:{tmp_path / 'c.sock'}"]) as (place,), Client(place) as client:
        for call, request in (
            (client.subscribers.Get, subscribers_pb2.GetSubscriberRequest(name="a")),
            (client.subscribers.List, subscribers_pb2.ListSubscribersRequest()),
            (client.audit.List, audit_pb2.ListAuditRequest()),
        ):
            fails(grpc.StatusCode.UNAVAILABLE, words, call, request)
    with pages(plant, sweep, "127.0.0.1:0") as url:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{url}/api/subscriber?name=a", timeout=20)
        assert caught.value.code == 503 and json.loads(caught.value.read()) == {"error": words}


def test_an_answer_names_the_first_failures() -> None:
    """A batch of which nothing is right has an answer of a size that a client takes, and the same when it is asked for again."""
    service = Subscribers(plant_of(Mirror(configs.load(CONFIG))), Limits())
    request = subscribers_pb2.BatchRequest(changes=[subscribers_pb2.Change()] * 3_000, request_id="r")
    method: Any = Subscribers.Batch
    answer = method.__wrapped__(service, request, None)
    assert answer.failed == 3_000 and [failure.item for failure in answer.failures] == list(range(1_000))
    assert method.__wrapped__(service, request, None) == answer


def pass_time(carrier: Any, cycles: int) -> None:
    """Wait until the device's clock has gone on by so much: on a busy machine that is much longer than on an idle one."""
    end, until = time.monotonic() + 120, carrier.cycles() + cycles
    while carrier.cycles() < until:
        assert time.monotonic() < end, "the device stands still"
        time.sleep(0.01)


def test_gates_hold_and_release(served: Any) -> None:
    """A closed gate: what comes waits and nothing leaves; opened, it drains. Judged by the device's own counters."""
    client, plant, _, _ = served
    client.provision([home("gated")])
    of = queues_pb2.QueueName(of=queues_pb2.QueueName.OfSubscriber(subscriber="gated", position=2))

    def look() -> Any:
        return client.queues.Get(queues_pb2.GetQueueRequest(queue=of)).counters

    client.gates.Close(queues_pb2.GateRequest(subscribers=["gated"]))
    pass_time(plant.carrier, 220_000)  # what was on its way has left
    first = look()
    pass_time(plant.carrier, 2_200_000)
    second = look()
    assert second.out_packets == first.out_packets and second.in_packets > first.in_packets
    assert second.queued_packets == first.queued_packets + second.in_packets - first.in_packets > 0
    client.gates.Open(queues_pb2.GateRequest(subscribers=["gated"]))
    opened = look()  # on a busy machine the queue may have reached its limit before it was opened
    end = time.monotonic() + 20
    while (third := look()).queued_packets > 2:
        assert time.monotonic() < end, "it does not drain"
        time.sleep(0.05)
    assert third.out_packets >= second.in_packets - third.queued_packets and third.dropped_packets == opened.dropped_packets
    fails(grpc.StatusCode.NOT_FOUND, "no subscriber 'nobody'", client.gates.Close, queues_pb2.GateRequest(subscribers=["gated", "nobody"]))


def test_counters_are_watched(served: Any) -> None:
    """What there is first, then changes; sums by node are those of their queues; counters never go back, also when a subscriber moves."""
    client, plant, sweep, _ = served
    client.provision([home(f"watched-{n}", node=n % 2) for n in range(4)])
    with sweep.done:
        number = sweep.number
        assert sweep.done.wait_for(lambda: sweep.number >= number + 3, timeout=30)
    before = client.counters.Totals(counters_pb2.TotalsRequest())
    assert before.device.in_packets == sum(node.in_packets for node in before.nodes) == sum(cls.in_packets for cls in before.classes) > 0
    stream = client.counters.Watch(counters_pb2.WatchRequest(subscriber="watched-1", period_ms=100))
    first = next(stream)
    assert first.snapshot and first.last_of_snapshot and len(first.queues) == 4
    seen = {queue.queue: queue.in_packets for queue in first.queues}
    end = time.monotonic() + 20
    while not (change := next(stream)).queues:
        assert time.monotonic() < end
    assert not change.snapshot and all(queue.in_packets > seen[queue.queue] for queue in change.queues)
    stream.cancel()
    client.subscribers.Move(subscribers_pb2.MoveSubscriberRequest(name="watched-1", node=3))
    with sweep.done:
        number = sweep.number
        assert sweep.done.wait_for(lambda: sweep.number >= number + 3, timeout=30)
    after = client.counters.Totals(counters_pb2.TotalsRequest())
    for old, new in zip(before.nodes, after.nodes, strict=True):
        assert new.in_packets >= old.in_packets
    assert after.nodes[3].in_packets > before.nodes[3].in_packets
    assert after.device.in_packets <= plant.carrier.device.totals()["packets"]["in"]
    end = time.monotonic() + 30
    while not (top := client.counters.Top(counters_pb2.TopRequest(count=3)).queues):  # a busy machine: nothing left between two looks
        assert time.monotonic() < end
        time.sleep(0.05)
    assert len(top) <= 3 and top[0].counters.rate_bps >= top[-1].counters.rate_bps and top[0].subscriber
    assert after.reasons[0].reason in registers.DROP_WORDS


def test_counters_before_the_first_sweep_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures that are not there have no age."""
    from penstock.command_line.app import main

    plant = plant_of(CountingMirror(configs.load(CONFIG)))
    plant.change([lambda: home("a")])
    sweep = Sweep(plant)
    with serving(plant, sweep, [f"unix:{tmp_path / 'c.sock'}"]) as (place,), Client(place) as client:
        assert not client.counters.Totals(counters_pb2.TotalsRequest()).HasField("age_ns")
        assert main(["ctl", "--server", place, "counters"]) == 0 and capsys.readouterr().out.endswith("; no figures yet\n")
        sweep._once()
        assert client.counters.Totals(counters_pb2.TotalsRequest()).HasField("age_ns")
        assert main(["ctl", "--server", place, "counters"]) == 0 and "; figures are " in capsys.readouterr().out


def test_a_queue_that_falls_silent_is_watched() -> None:
    """While nothing comes or leaves the rate becomes 0, and the first packet waits longer: both are told, and what stays as it is, not."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    plant.change([lambda: home("a")])
    sweep = Sweep(plant)
    sweep.counts[:4], sweep.rates[:2], sweep.sojourn[2] = 5, 38_322.9, 1_000
    context: Any = SimpleNamespace(is_active=lambda: True)
    told = Counters(plant, sweep, Limits())._changes(counters_pb2.WatchRequest(subscriber="a"), context, 0.0)

    def after(do: Callable[[], object]) -> list[int]:
        do()
        sweep.number += 1
        return [queue.queue for queue in next(told).queues]

    assert after(lambda: None) == [0, 1, 2, 3]
    assert after(lambda: None) == []
    assert after(lambda: sweep.rates.__setitem__(1, 0.0)) == [1]
    assert after(lambda: sweep.sojourn.__setitem__(2, 2_000)) == [2]
    assert after(lambda: sweep.counts.__setitem__((3, 0), 6)) == [3]
    assert after(lambda: None) == []


def test_roles(served: Any) -> None:
    """Over loopback a client may operate, and not touch registers."""
    _, _, _, places = served
    with Client(places[1]) as client:
        assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64
        read = registers_pb2.ReadRegistersRequest(registers=[registers_pb2.RegisterName(address=0)])
        fails(grpc.StatusCode.PERMISSION_DENIED, "needs the role raw", client.registers.Read, read)
        refused = client.audit.List(audit_pb2.ListAuditRequest(count=1)).lines[0]
        assert (refused.method, refused.status) == ("/penstock.v1.Registers/Read", "PERMISSION_DENIED")
        assert refused.who.startswith("ip") and refused.what == "registers { address: 0 }"
        client.provision([home("by loopback")])


def test_the_audit_log_is_asked_for(served: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """By time, name and noun, in any mix; and what is asked for is not in the log itself."""
    from penstock.command_line.app import main

    client, plant, _, places = served
    with Client(places[1]) as other:
        for number, one in enumerate((client, other, client)):
            one.subscribers.Create(subscribers_pb2.CreateSubscriberRequest(subscriber=home(f"audited-{number}")))
        other.gates.Close(queues_pb2.GateRequest(subscribers=["audited-1"]))
        fails(grpc.StatusCode.NOT_FOUND, "'nobody'", other.gates.Close, queues_pb2.GateRequest(subscribers=["nobody"]))
        plant.flush()
        everything = client.audit.List(audit_pb2.ListAuditRequest(count=10_000)).lines
        said = [(line.at, line.who, line.method, line.what, line.status) for line in everything]
        assert said == [tuple(one) for one in plant.audited(10_000)]
        name = everything[0].who
        assert name != "local user" and everything[0].status == "NOT_FOUND"
        for who in ("", name, "local user", "nobody"):
            for noun, method in (("", ""), ("subscriber", "Subscribers/"), ("Gates", "Gates/"), ("node", "Nodes/")):
                for since in ("", everything[len(everything) // 2].at, "2099-01-01T00:00:00+02:00"):
                    for count in (0, 2):
                        expected = [line for line in everything if who in ("", line.who) and method in line.method and line.at >= since]
                        found = other.audit.List(audit_pb2.ListAuditRequest(who=who, noun=noun, since=since, count=count)).lines
                        assert list(found) == expected[: count or 100], (who, noun, since, count)
        for field, wrong in (("since", "yesterday"), ("since", "2026-01-31T12:00:00"), ("noun", "%"), ("count", 10_001)):
            fails(grpc.StatusCode.INVALID_ARGUMENT, f"{field}: must be", other.audit.List, audit_pb2.ListAuditRequest(**{field: wrong}))

    def ctl(*arguments: str) -> tuple[int, str, str]:
        status = main(["ctl", "--server", places[0], "audit", *arguments])
        return status, *capsys.readouterr()

    status, out, _ = ctl("--json", "--since", "1h", "--who", name, "--count", "2")
    lines = json.loads(out)["lines"]
    assert status == 0 and [line["method"] for line in lines] == ["/penstock.v1.Gates/Close"] * 2
    assert [line["status"] for line in lines] == ["OK", "NOT_FOUND"]
    status, out, _ = ctl("--noun", "gate", "--who", name)
    assert status == 0 and out.splitlines()[0].split() == ["time", "who", "call", "status", "what"]
    assert [line.split()[2:4] for line in out.splitlines()[1:]] == [["Gates.Close", "OK"], ["Gates.Close", "NOT_FOUND"]]
    assert ctl("--since", "2099-01-01T00:00:00Z")[1].count("\n") == 1
    assert ctl("--noun", "cow")[::2] == (
        2,
        "penstock: --noun cow: must be one of subscriber, plan, node, port, queue, gate, aqm, register\n",
    )
    for number in range(3):
        client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name=f"audited-{number}"))


def test_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of the how-to make certificates; a client has the role of its own, and without one of the authority's nothing is served:
    what may be wrong is said."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not there")
    page = (ROOT / "docs" / "how-to" / "certificates.md").read_text()
    script = "\n".join(line for line in page.split("URI:`")[0].splitlines() if line.startswith("    "))
    for role in ("operate", "read"):
        subprocess.run(["sh", "-ec", script.replace("penstock:operate", f"penstock:{role}")], cwd=tmp_path, check=True, capture_output=True)
        plant = plant_of(Mirror(configs.load(CONFIG)))
        tls = Tls(tmp_path / "server.pem", tmp_path / "server.key", tmp_path / "ca.pem")
        files = (tmp_path / name for name in ("alice.pem", "alice.key", "ca.pem"))
        with serving(plant, Sweep(plant), ["127.0.0.1:0"], tls) as (place,), Client(place, *files) as client:
            assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64
            request = subscribers_pb2.CreateSubscriberRequest(subscriber=home("by alice"))
            if role == "operate":
                client.subscribers.Create(request)
                assert plant.audited(1)[0][1:3] == ("alice", "/penstock.v1.Subscribers/Create")
            else:
                words = "needs the role operate, and alice has read"
                fails(grpc.StatusCode.PERMISSION_DENIED, words, client.subscribers.Create, request)
                fails(grpc.StatusCode.PERMISSION_DENIED, words, client.audit.List, audit_pb2.ListAuditRequest())
                with pytest.raises(grpc.RpcError, match=words):
                    client.provision([home("by alice")])
                long = subscribers_pb2.CreateSubscriberRequest(subscriber=home("long" * 10_000))
                fails(grpc.StatusCode.PERMISSION_DENIED, words, client.subscribers.Create, long)
                call = client.channel.unary_unary("/penstock.v1.Nodes/Set", request_serializer=bytes, response_deserializer=bytes)
                fails(grpc.StatusCode.PERMISSION_DENIED, words, call, b"\xff")
                lines = [(method.rpartition(".")[2], what[:29]) for _, who, method, what, status in plant.audited(9) if who == "alice"]
                assert lines == [
                    ("Nodes/Set", "no message of this method"), ("Subscribers/Create", f"{long.ByteSize():,} byte"),
                    ("Subscribers/Provision", "a stream"), ("Audit/List", ""), ("Subscribers/Create", 'subscriber { name: "by alice"'),
                ]  # fmt: skip
    # A role that there is not is no other role.
    subprocess.run(["sh", "-ec", script.replace("penstock:operate", "penstock:operat")], cwd=tmp_path, check=True, capture_output=True)
    files = (tmp_path / name for name in ("alice.pem", "alice.key", "ca.pem"))
    with serving(plant, Sweep(plant), ["127.0.0.1:0"], tls) as (place,), Client(place, *files) as client:
        words = "certificate of alice has the role 'operat', which there is not: roles are read, operate, raw"
        fails(grpc.StatusCode.PERMISSION_DENIED, words, client.device.Get, device_pb2.GetDeviceRequest())
    monkeypatch.setattr("penstock.designs.access_edge.control.client.CONNECT_SECONDS", 0.5)
    (tmp_path / "other").mkdir()
    subprocess.run(["sh", "-ec", script], cwd=tmp_path / "other", check=True, capture_output=True)
    own, others = ([folder / name for name in ("alice.pem", "alice.key", "ca.pem")] for folder in (tmp_path, tmp_path / "other"))
    plain = "is there, but none without TLS: .* needs --cert, --key"
    (tmp_path / "none.pem").write_text("no certificate")
    mistakes: list[tuple[list[Path], str]] = [
        ([], plain),
        ([*others[:2], own[2]], "the server does not take --cert: it is not signed by the authority of the server's --tls-clients"),
        ([*own[:2], others[2]], "the server's certificate is not signed by the authority of --server-ca"),
        ([own[0], others[1], own[2]], "--key .*: is not the key of --cert"),
        ([tmp_path / "none.pem", own[1], own[2]], "--cert .*none.pem: holds no certificate"),
        ([own[0], tmp_path / "none.pem", own[2]], "--key .*none.pem: holds no private key"),
        ([*own[:2], tmp_path / "none.pem"], "--server-ca .*none.pem: holds no certificate"),
        ([*own[:2], tmp_path / "gone.pem"], "--server-ca .*gone.pem: no such file"),
    ]
    with serving(plant, Sweep(plant), ["127.0.0.1:0"], tls) as (place,):
        for files, words in mistakes:
            with pytest.raises(UserError, match=words):
                Client(place, *files)
    wrong_name = r"the server's certificate is not for the name 127\.0\.0\.2"
    with serving(plant, Sweep(plant), ["127.0.0.2:0"], tls) as (place,), pytest.raises(UserError, match=wrong_name):
        Client(place, *own)
    with serving(plant, Sweep(plant), ["127.0.0.1:0"]) as (place,), pytest.raises(UserError, match="is there, but none with TLS"):
        Client(place, *own)
    for tls_files, words in (((own[0], others[1], own[2]), "--tls-key .*: is not the key of --tls-cert"),):
        with pytest.raises(UserError, match=words), serving(plant, Sweep(plant), ["127.0.0.1:0"], Tls(*tls_files)):
            pass
    with pytest.raises(UserError, match="no control plane answers there"):
        Client(place, *own)


def test_limits(tmp_path: Path) -> None:
    """One client too many that watches, a message too long, calls too often: each a status, and the others go on."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    limits = Limits(message_bytes=2_000, watchers=1, calls_per_second=30)
    with serving(plant, Sweep(plant), [f"unix:{tmp_path / 'c.sock'}"], limits=limits) as (place,), Client(place) as client:
        watching = client.counters.Watch(counters_pb2.WatchRequest())
        assert next(watching).snapshot
        with pytest.raises(grpc.RpcError, match="the server would have 2 calls that watch counters, at most 1 are allowed"):
            next(client.counters.Watch(counters_pb2.WatchRequest()))
        watching.cancel()
        long = subscribers_pb2.GetSubscriberRequest(name="x" * 3_000)
        fails(grpc.StatusCode.RESOURCE_EXHAUSTED, "larger than max", client.subscribers.Get, long)
        assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64
        with pytest.raises(grpc.RpcError, match="at most 30 calls a second"):
            for _ in range(1_000):
                client.device.Get(device_pb2.GetDeviceRequest())


def test_bytes_that_are_no_message(served: Any) -> None:
    """Random bytes for every method end in a status, and the server goes on."""
    client, _, _, _ = served
    rng = random.Random(seed())
    for method in ("Subscribers/Create", "Subscribers/Batch", "Nodes/Set", "Gates/Close", "Registers/Write", "Counters/Top", "No/Such"):
        call = client.channel.unary_unary(f"/penstock.v1.{method}", request_serializer=bytes, response_deserializer=bytes)
        for _ in range(40):
            try:
                call(rng.randbytes(rng.randrange(200)), timeout=20)
            except grpc.RpcError as error:
                assert error.code() != grpc.StatusCode.UNAVAILABLE, error
    assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64


def test_reflection_and_health(served: Any) -> None:
    """What a client of any language asks: which services there are, and whether they serve."""
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

    client = served[0]
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (answer,) = reflection_pb2_grpc.ServerReflectionStub(client.channel).ServerReflectionInfo(iter([request]))
    names = {service.name for service in answer.list_services_response.service}
    nouns = ("Subscribers", "Nodes", "Ports", "Queues", "Gates", "AqmSettings", "Counters", "Registers", "Device")
    assert {f"penstock.v1.{noun}" for noun in nouns} < names
    health = health_pb2_grpc.HealthStub(client.channel).Check(health_pb2.HealthCheckRequest(service="penstock.v1.Subscribers"))
    assert health.status == health_pb2.HealthCheckResponse.SERVING


def test_conformance(served: Any) -> None:
    """The script that knows nothing but what reflection tells, in a process of its own; over loopback, where registers are refused, too.
    Subscribers that are there stay as they are, also one with the name that it once used."""
    client = served[0]
    client.subscribers.Create(subscribers_pb2.CreateSubscriberRequest(subscriber=home("conformance", node=2, rate_bps=10**8)))
    before = list(client.list())
    for place in served[3]:
        script = [sys.executable, str(ROOT / "tools/control_conformance.py"), place]
        done = subprocess.run(script, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0 and "FAILED" not in done.stdout and "ok     Device.Diff" in done.stdout, done.stdout + done.stderr
        assert list(client.list()) == before
    client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="conformance"))


def test_a_foreign_client(served: Any) -> None:
    """grpcurl, which is written in Go and knows what reflection tells: the examples of the page, as they stand there."""
    if not shutil.which("grpcurl"):
        pytest.skip("grpcurl is not on the PATH")
    path = served[3][0].removeprefix("unix:")
    page = (ROOT / "docs" / "control.md").read_text()
    lines = [line.strip() for line in page.replace("\\\n", "").splitlines() if line.startswith("    grpcurl ")]
    assert len(lines) >= 5
    said = []
    for line in lines:
        command = line.replace("$XDG_RUNTIME_DIR/penstock/control.sock", path)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, (command, done.stderr)
        said.append(done.stdout)
    text = "\n".join(said)
    for words in ("penstock.v1.Subscribers", '"queues": 64', "rpc Provision ( stream .penstock.v1.ProvisionRequest )", '"name": "home-17"'):
        assert words in text, text
    command = f'grpcurl -plaintext -unix -d \'{{"name": "nobody"}}\' {path} penstock.v1.Subscribers/Get'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0 and "NotFound" in done.stderr and "there is no subscriber 'nobody'" in done.stderr, done.stderr
    wrong = command.replace('"name": "nobody"', '"subscriber": {"name": "x", "queues": [{"rate_bps": 5}]}').replace("/Get", "/Create")
    done = subprocess.run(["sh", "-c", wrong], capture_output=True, text=True, timeout=60, check=False)
    assert "InvalidArgument" in done.stderr and "queues[0].rate_bps" in done.stderr and "BadRequest" in done.stderr, done.stderr
    served[0].subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="home-17"))


@pytest.mark.slow
def test_the_rtl_behind_the_server(tmp_path: Path) -> None:
    """The hardware itself takes the programs: random subscribers, and all of them read back as they were meant."""
    from penstock.driver.in_process import InProcess
    from penstock.engine.run import Request, prepare
    from penstock.library.device import built

    run = prepare(Request(small_device(tmp_path), engine="rtl"))
    run.plan.job["device"]["library"] = built(run.config, "rtl", assertions=True)
    carrier = InProcess(run.plan.job, real_time=False)
    plant, rng = plant_of(carrier), random.Random(seed())
    for _ in range(20):
        made = [drawn(rng, f"home-{number}") for number in rng.sample(range(16), 6)]
        plant.change([lambda one=one: one for one in made])
        assert differences(plant) == []
    carrier.close()


# ---- a device that runs on by itself


@pytest.mark.parametrize("wrong", [(4, 0, 0, 0), (WRITE, 4_096, 0, 0), (READ, 2, 0, 0)])
def test_a_program_is_looked_at_before_it_is_done(served: Any, wrong: tuple[int, int, int, int]) -> None:
    """What cannot be done is refused with all that is around it."""
    carrier, at = served[1].carrier, registers.address("queue_rate")
    (before,) = carrier.run(reads([at])).tolist()
    with pytest.raises(CarrierError, match="a multiple of 4 below 4,096"):
        carrier.run(program([(WRITE, at, before ^ 1, 0), wrong]))
    assert carrier.run(reads([at])).tolist() == [before]


ENDS = """
device: { config: tree_64 }
duration: 1 s
drain: false
traffic: [{ name: all, stop: 1 ms, poisson: { queues: 0-63, pick: random, rate: 3 Gbit/s, size: imix } }]
queues: [{ ids: 0-63, rate: 20 Mbit/s, burst: 3 kB }]
"""


@pytest.mark.parametrize("engine", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_traffic_is_the_same_whoever_looks(engine: str, tmp_path: Path) -> None:
    """Slices end early for accesses, and traffic does not notice: reads at any time change nothing, and the scenario's own changes come in
    their cycles, as in a run that is not served."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine as simulator
    from penstock.engine.run import Request, prepare
    from penstock.library.device import built

    def outcome(reads: bool, changes: str = "") -> Any:
        scenario = tmp_path / "s.yaml"
        scenario.write_text(ENDS + changes)
        run = prepare(Request(scenario, engine=engine))
        run.plan.job["device"]["library"] = built(run.config, engine, assertions=True)
        carrier = InProcess(run.plan.job, real_time=False)
        end = time.monotonic() + 300
        while carrier.cycles() < 220_000 * 4:  # 4 ms
            assert time.monotonic() < end
            if reads:
                carrier.run(read)
            else:
                time.sleep(0.001)
        found = carrier.device.end()
        assert found["conservation_ok"]
        return whole(found)

    def whole(found: dict[str, Any]) -> Any:
        assert found["packets"]["in"] > 900
        histograms = [{key: np.asarray(value).tolist() for key, value in one.items()} for one in found["latency_histograms"]]
        return found["packets"], found["bytes"], histograms

    read = np.array([[READ, registers.address("status"), 0, 0]] * 3, dtype=np.uint32)
    alone = outcome(reads=False)
    assert outcome(reads=True) == alone
    changes = (
        "changes: [" + ", ".join(f"{{ at: {at} us, queues: {at % 64}, set: {{ rate: 100 Mbit/s }} }}" for at in range(100, 900, 7)) + "]"
    )
    changed = outcome(False, changes)
    (tmp_path / "s.yaml").write_text(ENDS.replace("duration: 1 s", "duration: 4 ms") + changes)
    run = prepare(Request(tmp_path / "s.yaml", engine=engine))
    run.plan.job["device"]["library"] = built(run.config, engine, assertions=True)
    assert changed == whole(simulator.run(run.plan.job)) != alone


def _name_of(task: Path) -> str:
    with contextlib.suppress(OSError):  # it has ended
        return (task / "comm").read_text().strip()
    return ""


def test_an_access_ends_a_slice(tmp_path: Path) -> None:
    """An access may come at any time of a slice: of those that come early the device runs little of it, by its own clock, and not all."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine
    from penstock.engine.run import Request, prepare

    engine.build()
    scenario = tmp_path / "s.yaml"
    traffic = "[{ name: all, poisson: { queues: 0-63, pick: random, rate: 5 Gbit/s, size: 64 } }]"  # nothing is skipped: time is short
    scenario.write_text(f"device: {{ config: {CONFIG} }}\nduration: 1 s\ndrain: false\ntraffic: {traffic}\n")
    carrier = InProcess(prepare(Request(scenario, engine="model")).plan.job, real_time=False)
    read = np.array([[READ, registers.address("status"), 0, 0]], dtype=np.uint32)
    shares, rng = [], random.Random(seed())
    while not (found := [task for task in Path("/proc/self/task").iterdir() if _name_of(task) == "device"]):
        time.sleep(0.01)  # it has not begun yet
    spent = found[-1] / "schedstat"  # ns that it had a processor
    for _ in range(5):
        begin, cycles = int(spent.read_text().split()[0]), carrier.cycles()
        time.sleep(0.1)
        # By its own processor time: others may have the processor for a while, here and below, and the device does not run then.
        speed = (carrier.cycles() - cycles) / (int(spent.read_text().split()[0]) - begin) * 1e9
        seen = []
        for _ in range(150):
            time.sleep(rng.uniform(0.0005, 0.0015))
            begun = carrier.cycles()  # the slice that is under way
            carrier.run(read)
            if (ran := carrier.cycles() - begun) > 100:  # else the device was asleep, and the read alone took these cycles
                seen.append(ran)
        shares.append(statistics.quantiles(seen, n=10)[0] / (speed * 250e-6))
    carrier.close()
    assert min(shares) < 0.45, shares


def test_parts_end_where_others_may_come_in() -> None:
    """A carrier that cannot be interrupted does a long program in parts, each of which is short and ends where others may come in."""
    whole = reads(range(0, 20_000, 4))
    for step in (1, 7, 1024, 3_000):
        found = parts(whole, step)
        assert len(found) > 1 and all(len(part) % step == 0 for part in found[:-1]) and len(found[0]) <= max(step, 1024)
        assert (np.concatenate(found) == whole).all()
    assert len(parts(whole, 0)) == len(parts(whole[:0], 5)) == 1


def test_who_reads_much_lets_others_in(tmp_path: Path) -> None:
    """Of a program that others may come in between, one that comes meanwhile does not wait for the end; in all others nothing comes in
    between."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine
    from penstock.engine.run import Request, prepare

    engine.build()
    carrier = InProcess(prepare(Request(small_device(tmp_path), engine="model")).plan.job)
    index = registers.address("queue_index")

    def accesses(value: int, count: int) -> Any:
        return np.tile(np.array([[WRITE, index, value, 0], [READ, index, 0, 0]], dtype=np.uint32), (count, 1))

    def beside(step: int, count: int) -> tuple[float, Any]:
        """Do a long program, and short ones from its middle on; return what share of it the first of these took, and what was read."""
        found: list[Any] = []
        long, short = accesses(1, count), accesses(2, 1)
        thread = threading.Thread(target=lambda: found.append((carrier.run(long, step), time.monotonic())))
        begin = time.monotonic()
        thread.start()
        time.sleep(0.02)
        asked = time.monotonic()
        carrier.run(short)
        answered = time.monotonic()
        while thread.is_alive():
            assert carrier.run(short).tolist() == [2]
        (values, end) = found[0]
        return (answered - asked) / (end - begin), values

    count = 500_000
    shares = [beside(2, count) for _ in range(3)]
    assert all(set(values.tolist()) == {1} and len(values) == count for _, values in shares)
    assert min(share for share, _ in shares) < 0.2
    share, values = beside(0, count)
    assert set(values.tolist()) == {1} and share > 0.3
    carrier.close()


# ---- files and commands


@pytest.mark.parametrize("ending", ["csv", "yaml"])
def test_files_of_subscribers(ending: str, tmp_path: Path) -> None:
    """What is written is read again, whatever the subscribers are."""
    rng = random.Random(seed())
    made = []
    for number in range(60):
        subscriber = drawn(rng, f'home {number}, "quoted"', guarantees=True)
        subscriber.index = number
        for queue in subscriber.queues:
            if rng.random() < 0.3:
                queue.aqm.settings["target"] = "5ms"
                queue.aqm.ecn = rng.random() < 0.5
        made.append(subscriber)
    path = tmp_path / f"s.{ending}"
    assert tables.write(path, made) == 60
    assert [one for _, one in tables.read(path)] == made


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nme\nx\n", "s.csv:1: must have the column name"),
        ("name,queue_rate\nx,5 Mbit\n", "s.csv:2: rate must be a rate with one of the units"),
        ("name,node\nx,-1\n", "s.csv:2: node must be 0 to 4,294,967,295, not -1"),
        ("name,node\nx,a\n", 's.csv:2: node must be a whole number, not "a"'),
        ("name,node\nx,1\nx,1\n", "s.csv:3: x has its own values in its first row"),
        ("name\nx,1,2\n", "s.csv:2: has more values than there are columns"),
        ("name,node,rate,node\nx,1,,2\n", "s.csv:1: must have each column once, but node is there twice"),
    ],
)
def test_files_that_are_wrong(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        list(tables.read(path))
    assert words in str(caught.value)


def test_openconfig(tmp_path: Path) -> None:
    """A policy of two strict schedulers, the second of two weighted inputs; what does not fit is said, each thing once."""
    policy = {
        "name": "home",
        "schedulers": {
            "openconfig-qos:scheduler": [
                {
                    "sequence": 10,
                    "inputs": {"input": [{"config": {"weight": "30"}}, {"config": {"weight": "10"}}]},
                    "two-rate-three-color": {},
                },
                {
                    "sequence": 2,
                    "config": {"priority": "STRICT"},
                    "one-rate-two-color": {"config": {"cir": "20000000", "bc": 3000, "max-queue-depth-packets": 50}},
                },
            ]
        },
    }
    interface = {"interface-id": "xe-0/0/1", "input": {}, "output": {"scheduler-policy": {"config": {"name": "home"}}}}
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"openconfig-qos:qos": {"interfaces": {"interface": [interface]}, "queues": {},
                                                       "scheduler-policies": {"scheduler-policy": [policy]}}}))  # fmt: skip
    ((where, made),), left = openconfig.read(path)
    assert (where, made.name) == (f"{path}: interface", "xe-0/0/1") and [queue.traffic_class for queue in made.queues] == [0, 1, 1]
    first, second, third = made.queues
    assert (first.rate_bps, first.burst_bytes, first.limit_packets) == (20_000_000, 3000, 50)
    assert (second.weight, third.weight) == (8, 3) and not second.HasField("rate_bps")
    assert [words.split(" is not used")[0] for words in left if "weights" not in words] == [
        "queues:", "interface xe-0/0/1: input", "scheduler policy home, scheduler 10: two-rate-three-color",
    ]  # fmt: skip
    assert any("weights 30, 10 become 8, 3" in words for words in left)
    for text, words in (("[]", "must have an object"), ("{", "is no JSON"), ('{"qos": {}}', "has no interfaces")):
        path.write_text(text)
        with pytest.raises(UserError, match=words):
            openconfig.read(path)


def test_the_command_line(served: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`ctl` as an operator uses it."""
    from penstock.command_line.app import main

    _, _, _, places = served

    def ctl(*arguments: str) -> tuple[int, str, str]:
        status = main(["ctl", "--server", places[0], *arguments])
        out, err = capsys.readouterr()
        return status, out, err

    status, out, err = ctl("subscriber", "add", "cli", "--node", "2", "--rate", "100 Mbit/s", "--queue", "rate=20Mbit/s class=1")
    assert status == 0 and "cli" in out and "100 Mbit/s" in out, err
    status, _, err = ctl("subscriber", "add", "cli")
    assert status == 2 and err == "penstock: name: there is a subscriber 'cli' already\n"
    assert ctl("subscriber", "set", "cli", "--rate", "none")[0] == 0
    status, out, _ = ctl("subscriber", "show", "cli")
    assert status == 0 and "20 Mbit/s" in out
    assert ctl("gate", "close", "cli")[0] == 0 and ctl("gate", "open", "cli")[0] == 0
    file = tmp_path / "all.csv"
    status, out, _ = ctl("export", str(file))
    assert status == 0 and "cli" in file.read_text()
    status, out, err = ctl("import", str(file))
    assert status == 0 and "subscribers" in out, err
    status, out, _ = ctl("counters", "--json")
    assert status == 0 and '"device"' in out
    status, out, _ = ctl("diff")  # of the model device, by its own read-back
    assert (status, out) == (0, "0 settings differ\n")
    assert ctl("top")[0] == 0 and ctl("device")[0] == 0 and ctl("node", "list")[0] == 0
    status, out, err = ctl("queue", "show", "cli", "0")
    assert status == 0 and "20 Mbit/s" in out and "waiting" in out, err
    status, out, err = ctl("queue", "set", "cli", "2", "--rate", "5Mbit/s", "--limit-packets", "100", "--class", "2", "--weight", "3")
    assert status == 0 and "5 Mbit/s" in out and "100" in out, err
    queues = served[0].subscribers.Get(subscribers_pb2.GetSubscriberRequest(name="cli")).queues
    assert len(queues) == 3 and (queues[2].rate_bps, queues[2].limit_packets, queues[2].weight) == (5_000_000, 100, 3)
    assert queues[0].rate_bps == 20_000_000 and (queues[1].limit_packets, queues[1].limit_bytes) == (0, 0)  # still drops all
    assert ctl("queue", "set", "cli", "2", "--rate", "none")[0] == 0
    status, out, _ = ctl("queue", "list", "cli", "--json")
    listed = json.loads(out)["queues"]
    assert [entry["position"] for entry in listed] == [0, 1, 2] and "rate_bps" not in listed[2]["settings"]
    assert listed[2]["settings"]["traffic_class"] == 2 and listed[2]["index"] % 4 == 2
    status, out, _ = ctl("queue", "list", "--node", "2")
    assert status == 0 and out.count("cli") == 3 and ctl("queue", "list", "--node", "1")[1].count("cli") == 0
    status, out, _ = ctl("queue", "show", "cli", "0", "--json")
    assert json.loads(out)["queues"][0]["counters"]["queue"] == listed[0]["index"]
    for wrong, words in (
        (("queue", "set", "cli", "2"), "says nothing to set"),
        (("queue", "set", "cli", "7", "--rate", "1Mbit/s"), "so 0 to 3, not 7"),
        (("queue", "set", "cli", "0", "--rate", "5 bit/s"), "queues[0].rate_bps"),
        (("queue", "set", "cli", "0", "--weight", "heavy"), "queue 0 of cli: weight must be a whole number"),
        (("queue", "set", "cli", "0", "--weight", "2", "--version", "1"), "it was changed meanwhile"),
        (("queue", "show", "cli", "4"), "so 0 to 3, not 4"),
        (("queue", "list", "nobody"), "no subscriber 'nobody'"),
    ):
        status, _, err = ctl(*wrong)
        assert status in (1, 2) and words in err, (wrong, err)
    assert ctl("subscriber", "delete", "cli")[0] == 0
    status, _, err = ctl("subscriber", "show", "cli")
    assert status == 2 and "no subscriber 'cli'" in err


def test_traffic_goes_on_for_ever(tmp_path: Path) -> None:
    """Beyond the duration of the scenario, but for a source that stops before it."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine
    from penstock.engine.run import Request, prepare

    engine.build()
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        f"device: {{ config: {CONFIG} }}\nduration: 10 us\ndrain: false\ntraffic:\n"
        "  - { name: on, constant: { queues: 0, rate: 1 Gbit/s, size: 100 } }\n"
        "  - { name: off, stop: 5 us, constant: { queues: 1, rate: 1 Gbit/s, size: 100 } }\n"
    )
    carrier = InProcess(prepare(Request(scenario, engine="model")).plan.job, real_time=False)
    end = time.monotonic() + 60
    while carrier.cycles() < 220 * 1000:  # 1 ms
        assert time.monotonic() < end
        time.sleep(0.01)
    on, off = snapshots(carrier, ask(carrier), np.array([0, 1]))[0][:, 0].tolist()
    assert on >= 1250 and off == 7, (on, off)  # 0.8 us a frame
    carrier.close()


def test_a_kill_of_the_server(tmp_path: Path) -> None:
    """The device lives on in another process; what was acknowledged before kill -9 is there after the next start, in store and device."""
    device, control, store = tmp_path / "d.sock", f"unix:{tmp_path / 'c.sock'}", tmp_path / "intent.sqlite"
    with processes(tmp_path) as start:
        start(str(small_device(tmp_path)), "--as-device", str(device))
        for turn in range(2):
            server = start("--device", str(device), "--store", str(store), "--listen", control)
            with Client(control) as client:
                assert {entry.name for entry in client.list()} == {f"home-{n}" for n in range(turn)}
                revision = client.device.Get(device_pb2.GetDeviceRequest()).revision
                client.subscribers.Create(subscribers_pb2.CreateSubscriberRequest(subscriber=home(f"home-{turn}", node=turn)))
                client.gates.Close(queues_pb2.GateRequest(subscribers=[f"home-{turn}"]))
                assert client.device.Get(device_pb2.GetDeviceRequest()).revision == revision + 2
            server.kill()
            server.wait()
        start("--device", str(device), "--store", str(store), "--listen", control)
        with Client(control) as client:
            found = list(client.list())
            assert client.device.Diff(device_pb2.DiffRequest()).count == 0
            assert [entry.name for entry in found] == ["home-0", "home-1"] and all(entry.gate_closed for entry in found)
            of = queues_pb2.QueueName(index=4 * found[1].index)
            counters = client.queues.Get(queues_pb2.GetQueueRequest(queue=of)).counters
            time.sleep(0.5)
            assert client.queues.Get(queues_pb2.GetQueueRequest(queue=of)).counters.out_packets == counters.out_packets


def until(what: Callable[[], Any]) -> None:
    """Wait for something."""
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)


def test_a_kill_of_the_device(tmp_path: Path) -> None:
    """The process of the device ends, and begins anew while the server runs: what was asked for meanwhile has failed, and the device has
    what is intended soon, without anybody's doing."""
    device, control, store = tmp_path / "d.sock", f"unix:{tmp_path / 'c.sock'}", tmp_path / "intent.sqlite"
    with processes(tmp_path) as start:
        own = start(str(small_device(tmp_path)), "--as-device", str(device))
        start("--device", str(device), "--store", str(store), "--listen", control)
        with Client(control) as client:
            client.provision(home(f"home-{n}", node=n) for n in range(3))
            client.nodes.Set(hierarchy_pb2.Node(index=1, rate_bps=10**8))
            own.kill()
            own.wait()
            close = queues_pb2.GateRequest(subscribers=["home-1"])
            fails(grpc.StatusCode.UNAVAILABLE, "the device is gone", client.gates.Close, close)
            start(str(small_device(tmp_path)), "--as-device", str(device))

            def as_intended() -> bool:
                try:
                    return client.device.Diff(device_pb2.DiffRequest()).count == 0
                except grpc.RpcError:
                    return False

            until(as_intended)
            assert [one.gate_closed for one in client.list()] == [False] * 3
            client.gates.Close(close)
            assert as_intended() and [one.gate_closed for one in client.list()] == [False, True, False]


def test_a_device_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change ends in time and is taken back; who only reads the store does not wait; and when the device goes on, it does nothing of what
    has failed meanwhile, and is set."""
    monkeypatch.setattr(remote, "SECONDS", 0.5)
    monkeypatch.setattr(remote, "SECONDS_OF_FIRST", 0.5)
    with child("device", str(tmp_path / "d")) as process, contextlib.closing(remote.Remote(tmp_path / "d")) as carrier:
        plant = plant_of(carrier)
        plant.change([lambda: home("a")])
        process.send_signal(signal.SIGSTOP)
        until(lambda: all(") T " in task.read_text() for task in Path(f"/proc/{process.pid}/task").glob("*/stat")))
        begin = time.monotonic()
        with pytest.raises(Problem, match="the device is gone .*timed out") as caught:
            plant.change([lambda: home("b")])
        assert caught.value.code == grpc.StatusCode.UNAVAILABLE and time.monotonic() - begin < 10
        sweep = Sweep(plant, 0.01)
        sweep.start()
        try:
            until(lambda: sweep.error)
            waited = []
            for _ in range(20):
                begin = time.monotonic()
                assert [one.name for one in plant.page("", 10, None, "")] == ["a"]
                waited.append(time.monotonic() - begin)
                time.sleep(0.05)
            assert max(waited) < 0.4 and plant.stale
            process.send_signal(signal.SIGCONT)
            until(lambda: not plant.stale)
            assert differences(plant) == [] and sorted(plant.index_of) == ["a"]
        finally:
            sweep.stop()


def test_a_device_that_is_another_one(tmp_path: Path) -> None:
    """Where one with other sizes has taken the place of a device that was lost, nothing is written to it."""
    path, other = tmp_path / "d", Mirror(configs.load("tree_2048"))
    with remote.listening(path, Mirror(configs.load(CONFIG))):
        carrier = remote.Remote(path)
        plant = plant_of(carrier)
        plant.change([lambda: home("a")])
        carrier._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
    with contextlib.closing(carrier), remote.listening(path, other):
        for words in ("the device is gone", "the device was gone, and is not set anew yet"):
            with pytest.raises(Problem, match=words):
                plant.change([lambda: home("b")])
        with pytest.raises(CarrierError, match="another device is there now"):
            plant.restore()
        assert plant.stale and not other.writes


def test_a_device_that_was_lost_is_set_first(tmp_path: Path) -> None:
    """Whoever notices the loss: nothing is changed before all is as intended, and nothing is taken for written that was so before."""
    path = tmp_path / "d"
    with contextlib.ExitStack() as first:
        first.enter_context(remote.listening(path, Mirror(configs.load(CONFIG))))
        carrier = remote.Remote(path)
        plant = plant_of(carrier)
        plant.change([lambda: home("a")])
    for tried in (False, True):
        carrier._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
        with pytest.raises(CarrierError, match="the device is gone"):
            carrier.cycles()
        anew = Mirror(configs.load(CONFIG))
        with remote.listening(path, anew):
            if tried:
                with pytest.raises(Problem, match="the device was gone, and is not set anew yet"):
                    plant.change([lambda: home("b")])
                with pytest.raises(Problem, match="the device was gone, and is not set anew yet"):
                    plant.set_parent("node", hierarchy_pb2.Node(index=1))
            assert plant.stale and not anew.writes
            plant.restore()
            assert not plant.stale and differences(plant) == []
            judge(anew, {"a": plant.get("a")}, plant.index_of, set())
    carrier.close()


def test_what_a_client_that_has_gone_wanted() -> None:
    """A device that finds a program of a client that waits no longer does nothing of it."""
    mirror = Mirror(configs.load(CONFIG))
    for gone in (False, True):
        client, server = socket.socketpair()
        remote.send(client, remote.RUN, np.array([WRITE, registers.address("queue_rate"), 5 + gone, 0], dtype=np.uint32))
        client.settimeout(30)
        if gone:
            client.close()
            remote._Client(server, "", SimpleNamespace(carrier=mirror))  # type: ignore[arg-type]
        else:
            thread = threading.Thread(target=remote._Client, args=(server, "", SimpleNamespace(carrier=mirror)))
            thread.start()
            assert remote.receive(client)
            client.close()
            thread.join(30)
        server.close()
        assert mirror.registers[registers.address("queue_rate")] == 5


@pytest.mark.slow
@pytest.mark.timeout(7200)  # PENSTOCK_KILLS=1000: half an hour
def test_kills_at_random_moments(tmp_path: Path) -> None:
    """Batches, all or nothing, and three more callers of single changes at once, until a kill -9 somewhere in them; and again. What was
    acknowledged is there, what was under way is there whole or not at all, and the device is as intended, by its own read-back."""
    rng = random.Random(seed())
    device, control, store = tmp_path / "d.sock", f"unix:{tmp_path / 'c.sock'}", tmp_path / "intent.sqlite"
    callers = [_Caller([f"home-{n}" for n in range(9)], 8)] + [_Caller([f"own-{n}-{m}" for m in (0, 1)], 1) for n in range(3)]
    with processes(tmp_path) as start:
        start(str(small_device(tmp_path)), "--as-device", str(device))
        for _ in range(int(os.environ.get("PENSTOCK_KILLS", "40"))):
            server = start("--device", str(device), "--store", str(store), "--listen", control)
            with Client(control) as client:
                assert client.device.Diff(device_pb2.DiffRequest()).count == 0
                found = {entry.name: _bare(entry) for entry in client.list()}
                for caller in callers:
                    caller.judge({name: found.pop(name) for name in list(found) if name in caller.names})
                assert not found
                timer = threading.Timer(rng.uniform(0.0, 0.15), server.kill)
                threads = [threading.Thread(target=caller.call, args=(client, random.Random(rng.random()))) for caller in callers]
                for thread in (timer, *threads):
                    thread.start()
                for thread in (timer, *threads):
                    thread.join()
                server.wait()
    for caller in callers:
        print(f"seed {seed()}: {caller.done} of {caller.most} changes at most, {caller.halves} of those under way at a kill were done")
        assert caller.done > 10


class _Caller:
    """Changes subscribers of its own, so many in a call at most, until the server is gone; and knows what must be there then."""

    def __init__(self, names: list[str], most: int) -> None:
        self.names, self.most = names, most
        self.known: dict[str, Subscriber] = {}
        self.under_way: dict[str, Subscriber] | None = None
        self.done = self.halves = 0

    def call(self, client: Client, rng: random.Random) -> None:
        with contextlib.suppress(grpc.RpcError):
            while True:
                after, changes = dict(self.known), []
                for name in rng.sample(self.names, rng.randint(1, min(self.most, len(self.names)))):
                    if name in after and rng.random() < 0.3:
                        changes.append(subscribers_pb2.Change(delete=subscribers_pb2.DeleteSubscriberRequest(name=name)))
                        del after[name]
                    else:
                        after[name] = drawn(rng, name)
                        changes.append(subscribers_pb2.Change(replace=after[name]))
                self.under_way = after
                client.subscribers.Batch(subscribers_pb2.BatchRequest(changes=changes, all_or_nothing=True))
                self.known, self.under_way, self.done = after, None, self.done + 1

    def judge(self, found: dict[str, Subscriber]) -> None:
        if found != self.known:
            assert self.under_way is not None and found == self.under_way
            self.known, self.halves = self.under_way, self.halves + 1
        self.under_way = None


def _bare(subscriber: Subscriber) -> Subscriber:
    """Without what the server has added."""
    subscriber.ClearField("index")
    subscriber.ClearField("version")
    return subscriber


def test_sockets_are_their_users_alone(served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, _, (place, _) = served
    assert Path(place.removeprefix("unix:")).stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert places.control() == f"unix:{tmp_path}/penstock/control.sock"
    (tmp_path / "penstock").chmod(0o755)
    with pytest.raises(UserError, match="must be this user's alone"):
        places.control()


def test_what_serve_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from penstock.command_line.app import main

    for arguments, words in (
        ([], "serve needs one device, and nothing was given"),
        (["a.yaml", "--pcie", "b"], "SCENARIO and --pcie was given"),
        (["--pcie", str(tmp_path / "none")], "no such file"),
        (["--device", str(tmp_path / "none")], "no device answers there"),
        (["--as-device", "x", "--pcie", "y"], "--as-device runs the device of a SCENARIO"),
        (["--pcie", "x", "--tls-cert", "y"], "are given together or not at all"),
    ):
        assert main(["serve", *arguments]) == 2
        assert words in capsys.readouterr().err
    with pytest.raises(UserError, match=r"--listen 192\.0\.2\.1:5: is not local, so it needs"):
        plant = plant_of(Mirror(configs.load(CONFIG)))
        with serving(plant, Sweep(plant), ["192.0.2.1:5"]):
            pass


def test_each_card_has_its_own_store(tmp_path: Path) -> None:
    """Where none is named: two cards, or the devices of two sockets, are never set to what is intended for the other one. A card has the
    same one by whichever path it is named."""
    from penstock.commands.serve import _called

    cards = [tmp_path / "devices/pci0000:16" / address / "resource0" for address in ("0000:17:00.0", "0000:65:00.0")]
    link = tmp_path / "bus/0000:17:00.0"
    link.parent.mkdir()
    link.symlink_to(cards[0].parent)
    assert [_called(path, None) for path in (*cards, link / "resource0")] == [
        "pcie-0000:17:00.0", "pcie-0000:65:00.0", "pcie-0000:17:00.0"
    ]  # fmt: skip
    sockets = [tmp_path / path for path in ("a/b", "a-b", "a%2Fb", "c/b", "c/../a/b")]
    names = [_called(None, path) for path in sockets]
    assert len(set(names)) == 4 and names[0] == names[4] and all(name.startswith("device-") and "/" not in name for name in names)


MOST_OF_PATH = 107  # characters of a Unix socket's


def test_a_second_server_at_the_same_socket() -> None:
    """It is refused, and the first one goes on; nothing but the socket lies in its folder, and nothing when it has ended. Its path is as
    long as one may be."""
    with tempfile.TemporaryDirectory(prefix="p" * 60, dir="/tmp") as folder:
        name = "c" * (MOST_OF_PATH - len(folder) - 1)
        _check_a_second_server(Path(folder) / name)


def _check_a_second_server(path: Path) -> None:
    place = f"unix:{path}"
    first, second = plant_of(Mirror(configs.load(CONFIG))), plant_of(Mirror(configs.load(CONFIG)))
    with serving(first, Sweep(first), [place]):
        with pytest.raises(UserError, match="another server is there"), serving(second, Sweep(second), [place]):
            pass
        for _ in range(2):
            with Client(place) as client:
                assert client.device.Get(device_pb2.GetDeviceRequest(), timeout=20).queues == 64
        assert list(path.parent.iterdir()) == [path]
    assert not list(path.parent.iterdir())


def test_the_plain_settings_are_those_of_scenarios() -> None:
    """One code for both: a word of a scenario and a field of a message give the same registers."""
    config = configs.load(CONFIG)
    mirror = Mirror(config)
    plant = plant_of(mirror)
    plant.change([lambda: Subscriber(name="x", queues=[common_pb2.QueueSettings(rate_bps=5_000_000, burst_bytes=2000, weight=3)])])
    writes = dict(plain.queue_writes(config, 0, {"rate": "5 Mbit/s", "burst": "2000 B", "weight": 3}))
    assert mirror.queues[0] == tuple(writes[registers.address(name)] for name in SETTINGS_OF_QUEUE)
