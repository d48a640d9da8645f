# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Servers, devices and clients of the control plane that are killed, hang, or come back as others."""

import contextlib
import os
import random
import signal
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import grpc
import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.plant import Subscriber
from penstock.designs.access_edge.control.problems import Problem
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import (
    CONFIG,
    Mirror,
    child,
    fails,
    home,
    plant_of,
    processes,
    small_device,
)
from penstock.designs.access_edge.testing.control_judge import drawn, judge, until
from penstock.driver import remote
from penstock.driver.carrier import WRITE, CarrierError
from penstock.testing.testkit import seed
from penstock.v1 import device_pb2, hierarchy_pb2, queues_pb2, subscribers_pb2


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
