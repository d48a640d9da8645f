# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a client does wrong harms no other one: it reads nothing, vanishes, floods, sends what is no message; and clocks that are set.

The server is a process of its own in front of the registers of `testing.control`, so that its memory can be measured.
"""

import contextlib
import itertools
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import numpy as np
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import sweep as sweeps
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.metrics import exposition
from penstock.designs.access_edge.control.plant import Subscriber
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import DROP_P, OUT_B, OUT_P, Sweep
from penstock.designs.access_edge.testing.control import CONFIG, CountingMirror, Mirror, child, home, memory, plant_of
from penstock.driver.carrier import CarrierError
from penstock.engine import engine
from penstock.testing.testkit import seed
from penstock.v1 import common_pb2, counters_pb2, device_pb2, hierarchy_pb2, queues_pb2, registers_pb2, store_pb2, subscribers_pb2

Code = grpc.StatusCode
BOUND = 512 << 20  # bytes more than at rest: docs/control.md
DEADLINE = 20.0  # of a call beside a flood
FAIR = 0.08  # of all calls that are answered, for the client with one at a time of two: a third at best, a hundredth without turns
METHODS = {
    "Subscribers": ("Create", "Update", "Move", "Delete", "Get", "List", "Batch", "Provision"),
    "Nodes": ("Set", "Get", "List"), "Ports": ("Set", "Get", "List"), "Queues": ("Get",), "Gates": ("Close", "Open"),
    "AqmSettings": ("Set",), "Counters": ("Totals", "Watch", "Top"), "Registers": ("Read", "Write"), "Device": ("Get", "Diff"),
    "Store": ("Backup",), "Plans": ("Set", "Get", "List", "Delete"),
}  # fmt: skip


@contextlib.contextmanager
def served(folder: Path, config: str = CONFIG, **limits: Any) -> Iterator[tuple[int, str]]:
    """Yield process id and address of a server."""
    address = f"unix:{folder / 'c.sock'}"
    with child("serve", address, config, json.dumps(limits)) as process:
        yield process.pid, address


def until(what: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Wait for something, and return it."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)
    return found


def code_of(call: Callable[[], Any]) -> grpc.StatusCode:
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return Code.OK


def alive(client: Client) -> None:
    assert client.device.Get(device_pb2.GetDeviceRequest(), timeout=DEADLINE).queues


def can_watch(client: Client) -> bool:
    stream = client.counters.Watch(counters_pb2.WatchRequest(), timeout=DEADLINE)
    return code_of(lambda: (next(stream), stream.cancel())) == Code.OK


def threads(process: int) -> int:
    return len(list(Path(f"/proc/{process}/task").iterdir()))


def test_clients_that_read_nothing_or_vanish(tmp_path: Path) -> None:
    """Watchers that read nothing: another one goes on reading, the memory stays where it is, and after a while they are let go. Watchers
    that are killed, and connections that are half closed or say nothing, leave no thread and no place behind."""
    with served(tmp_path, "tree_2048", watchers=3, watchers_of_one=3, stall_seconds=2.0) as (process, address), Client(address) as client:
        client.provision(home(f"h{n}") for n in range(512))
        until(lambda: client.counters.Totals(counters_pb2.TotalsRequest()).device.out_packets)
        assert can_watch(client)
        rest, before = memory(process, "VmRSS"), threads(process)
        with contextlib.ExitStack() as stack:
            for _ in range(2):
                stack.enter_context(child("watch", address))
            reading = client.counters.Watch(counters_pb2.WatchRequest(period_ms=100))
            assert next(reading).snapshot
            seen = 0
            while seen < 20:  # it goes on
                seen += bool(next(reading).queues)
            # The others are let go. Of three places one is read, so one more watcher beside the next one needs that.
            beside: list[Any] = []

            def opens() -> bool:  # one that is refused is at its end, so each attempt is a call of its own
                beside.append(client.counters.Watch(counters_pb2.WatchRequest(), timeout=DEADLINE))
                return code_of(lambda: next(beside[-1])) == Code.OK

            assert until(opens)
            assert until(lambda: can_watch(client))
            assert memory(process) - rest < 64 << 20
            reading.cancel()
            beside[-1].cancel()
        # Killed in mid-stream: at once, without waiting for a stall.
        assert until(lambda: can_watch(client), seconds=10)
        for _ in range(20):
            half = socket.socket(socket.AF_UNIX)
            half.connect(address.removeprefix("unix:"))
            half.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5))
            half.shutdown(socket.SHUT_WR)
            half.recv(100)
            half.close()
        alive(client)
        descriptors = Path(f"/proc/{process}/fd")
        until(lambda: len(list(descriptors.iterdir())) < 60)
        # Threads of calls stay for the next ones; there are no more of them than there were calls at once.
        assert threads(process) <= before + 6
        assert memory(process) - rest < 64 << 20


class Bare:
    """A connection without a library, whose client takes no byte of an answer: the window of each stream is 0 (RFC 9113, section 6.9).
    `over`: streams at whose end the server is; `ended`: those of them that it has given up."""

    def __init__(self, address: str) -> None:
        self.over: set[int] = set()
        self.ended: set[int] = set()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(address.removeprefix("unix:"))
        self._socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self._frame(4, 0, 0, (4).to_bytes(2) + bytes(4)))
        self._streams = itertools.count(1, 2)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @staticmethod
    def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
        return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload

    def call(self, method: str, request: bytes) -> None:
        said = {":method": "POST", ":scheme": "http", ":path": f"/penstock.v1.{method}", ":authority": "x", "te": "trailers",
                "content-type": "application/grpc"}  # fmt: skip
        words = [(len(word).to_bytes(1) + word.encode()) for pair in said.items() for word in pair]
        headers = b"".join(b"\0" + name + value for name, value in zip(words[::2], words[1::2], strict=True))
        stream, body = next(self._streams), b"\0" + len(request).to_bytes(4) + request
        self._socket.sendall(self._frame(1, 4, stream, headers) + self._frame(0, 1, stream, body))

    def _read(self) -> None:
        found = b""
        while more := self._socket.recv(65_536):
            found += more
            while len(found) >= 9 and len(found) >= (size := 9 + int.from_bytes(found[:3])):
                kind, flags, stream = found[3], found[4], int.from_bytes(found[5:9])
                if kind in (4, 6) and not flags & 1:  # SETTINGS and PING want an answer
                    self._socket.sendall(self._frame(kind, 1, 0, found[9:size] if kind == 6 else b""))
                if kind == 3 or (kind == 1 and flags & 1):
                    self.over.add(stream)
                if kind == 3:
                    self.ended.add(stream)
                assert kind != 0, "the server sends what there is no window for"
                found = found[size:]

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()


@pytest.mark.parametrize("limits", [{"calls_of_one": 20}, {"held_bytes": 1 << 20}], ids=["calls", "bytes"])
def test_answers_that_nobody_takes(limits: dict[str, Any], tmp_path: Path) -> None:
    """Calls whose answers stay in the server: each keeps its place, and large ones count by their bytes, until it is ended; so there are
    only so many at once, and what one process leaves there another one notices nothing of."""
    with served(tmp_path, "tree_2048", stall_seconds=4.0, **limits) as (_, address), Client(address) as client:
        client.provision(home(f"{n:0100d}") for n in range(512))
        request = subscribers_pb2.ListSubscribersRequest(page_size=10_000)
        size = client.subscribers.List(request).ByteSize()
        most = limits.get("calls_of_one", limits.get("held_bytes", 0) // 2 // size)
        assert 20 >= most > 2
        with contextlib.closing(Bare(address)) as bare:
            for count in (40, 80):
                for _ in range(40):
                    bare.call("Subscribers/List", request.SerializeToString())
                # Those that are not refused are ended after a while, and then there is room for as many again.
                until(lambda ended=most * count // 40: len(bare.ended) == ended)
                assert len(bare.over) == count
        until(lambda: code_of(lambda: client.subscribers.List(request, timeout=DEADLINE)) == Code.OK)


def test_watchers_are_counted_by_client(tmp_path: Path) -> None:
    """By process at the Unix socket, as all calls are, though in the log all are the same user."""
    with contextlib.ExitStack() as stack:
        _, address = stack.enter_context(served(tmp_path, watchers=8, watchers_of_one=2))
        for _ in range(2):
            stack.enter_context(child("watch", address))
        client = stack.enter_context(Client(address))
        own = [client.counters.Watch(counters_pb2.WatchRequest(), timeout=DEADLINE) for _ in range(2)]
        assert all(next(one).snapshot for one in own)
        assert code_of(lambda: next(client.counters.Watch(counters_pb2.WatchRequest()))) == Code.RESOURCE_EXHAUSTED
        for one in own:
            one.cancel()


def test_streams_that_send_nothing(tmp_path: Path) -> None:
    """Half of the places at most are one client's, and a stream that is waited for too long is ended."""
    with served(tmp_path, streams=4, stall_seconds=5.0) as (_, address), Client(address) as client:
        end = threading.Event()

        def nothing() -> Iterator[Any]:
            end.wait()
            yield from ()

        # All begin at once, so which two find a place is open, but not how many do.
        streams = [client.subscribers.Provision.future(nothing()) for _ in range(5)]
        until(lambda: sum(one.done() for one in streams) >= 3)
        alive(client)
        codes = sorted(one.exception(timeout=30).code().name for one in streams)
        assert codes == ["CANCELLED"] * 2 + ["RESOURCE_EXHAUSTED"] * 3
        # A client knows of the end before the server's thread has given the place back.
        assert until(lambda: code_of(lambda: client.provision([home("late")])) == Code.OK)
        end.set()


def test_what_comes_with_the_end(tmp_path: Path) -> None:
    """What the server sends right before it ends a connection comes to the client, and so does the end."""
    outer, inner = str(tmp_path / "o.sock"), str(tmp_path / "i.sock")
    sent = (0).to_bytes(3) + bytes([4]) + bytes(5) + (8).to_bytes(3) + bytes([6]) + bytes(5) + bytes(8)  # SETTINGS and PING
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(inner)
        server.listen()
        relay = engine.module("designs/access_edge/control").Relay(outer, inner, "penstock-of-a-test", 10)
        for _ in range(20):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(30)
                client.connect(outer)
                behind, _ = server.accept()
                behind.sendall(sent)
                behind.close()
                found = b""
                while more := client.recv(1000):
                    found += more
                assert found == sent
        del relay


def test_a_flood(tmp_path: Path) -> None:
    """Two processes with ten connections each call as much as they can: batches of nodes that are not there, large messages, all of a
    list, methods that are not there. A client's calls are all answered within their deadline, reads and changes, and its connection is
    not lost; connections above the limit are refused."""
    with served(tmp_path) as (process, address), Client(address) as client:
        client.provision(home(f"h{n}") for n in range(15))
        rest = memory(process, "VmRSS")

        def calls(seconds: float) -> tuple[int, float]:
            done, longest, end = 0, 0.0, time.monotonic() + seconds
            while time.monotonic() < end or done < 10:
                begin = time.monotonic()
                alive(client)
                client.gates.Close(queues_pb2.GateRequest(subscribers=[f"h{done % 15}"]), timeout=DEADLINE)
                done, longest = done + 1, max(longest, time.monotonic() - begin)
            return done, longest

        alone, _ = calls(1.0)
        with child("flood", address), child("flood", address):
            time.sleep(1.0)
            beside, longest = calls(3.0)
            grown = memory(process) - rest
        print(f"{alone} pairs of calls in 1 s alone, {beside / 3:.0f} beside a flood; longest {longest:.2f} s, {grown >> 20} MB more")
        assert longest < DEADLINE and grown < BOUND
        alive(client)
        assert client.device.Diff(device_pb2.DiffRequest(), timeout=DEADLINE).count == 0


def test_a_polite_client_beside_a_flooder(tmp_path: Path) -> None:
    """One process that calls as much as it can over sixteen connections, and one that has one call at a time: the calls of both, reads and
    changes, are of the same kind, so half of all calls that are answered would be the polite one's share."""
    with served(tmp_path) as (_, address), Client(address) as client:
        client.provision(home(f"h{n}") for n in range(15))
        count, done = tmp_path / "count", 0
        with child("flood_alike", address, str(count)):
            until(lambda: count.exists() and int(count.read_text() or 0) > 50)
            before, end = int(count.read_text()), time.monotonic() + 4
            while time.monotonic() < end or done < 20:
                client.gates.Close(queues_pb2.GateRequest(subscribers=[f"h{done % 15}"]), timeout=DEADLINE)
                alive(client)
                done += 2
            others = int(count.read_text()) - before
        print(f"{done} calls beside {others} of the flooder's: {done / (done + others):.2f}")
        assert done / (done + others) > FAIR


def test_connections_are_bounded(tmp_path: Path) -> None:
    with served(tmp_path, connections=20) as (process, address), Client(address) as client:

        def files() -> int:
            return len(list(Path(f"/proc/{process}/fd").iterdir()))

        alive(client)
        rest, opened = files(), []
        for _ in range(60):
            one = socket.socket(socket.AF_UNIX)
            with contextlib.suppress(OSError):
                one.connect(address.removeprefix("unix:"))
            opened.append(one)
        until(lambda: files() >= rest + 20)
        time.sleep(0.5)
        until(lambda: files() <= rest + 3 * 20 + 4)  # a connection, and the two ends behind it; one too many goes at once
        alive(client)
        for one in opened:
            one.close()
        until(lambda: files() <= rest + 2)
        with Client(address) as another:
            alive(another)


def test_connections_over_loopback_are_bounded() -> None:
    """By gRPC itself: those above the limit are closed, and when others have gone there is room again."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    with serving(plant, Sweep(plant), ["127.0.0.1:0"], limits=Limits(connections=20)) as (place,), contextlib.ExitStack() as stack:

        def greeted() -> socket.socket | None:
            one = stack.enter_context(socket.create_connection(("127.0.0.1", int(place.rpartition(":")[2])), timeout=DEADLINE))
            with contextlib.suppress(ConnectionError):
                one.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5))
                return one if one.recv(9) else None
            return None

        found = [one for _ in range(60) if (one := greeted())]
        assert len(found) == 20
        for one in found:
            one.close()
        assert until(greeted)


def test_requests_that_are_large_in_memory(tmp_path: Path) -> None:
    """Two bytes of a message can become a hundred in memory. What comes at the limit of size, from many at once, and streams that are held
    until they end: refused or done, and the server takes no more than is promised."""
    most = 4_000_000
    empty = b"\x0a\0" * (most // 2)  # entries of the first field, with nothing in them
    queues = b"\x32\0" * (most // 2)
    within = b"\x12" + _varint(len(queues)) + queues  # Change.replace, a subscriber of two million queues
    bodies = {
        "Subscribers/Batch": [empty, b"\x0a" + _varint(len(within)) + within],
        "Subscribers/Create": [b"\x0a" + _varint(len(queues)) + queues],
        "Gates/Close": [empty], "Registers/Write": [empty], "AqmSettings/Set": [empty],
        "Counters/Watch": [b"\x0a" + _varint(most) + b"x" * most],
        "Nodes/Set": [b"\x2a" + _varint(most) + b"x" * most],
    }  # fmt: skip
    with served(tmp_path) as (process, address), Client(address) as client:
        alive(client)
        rest = memory(process, "VmRSS")
        waiting = []
        for _ in range(4):
            for method, some in bodies.items():
                call = client.channel.unary_unary(f"/penstock.v1.{method}", request_serializer=bytes, response_deserializer=bytes)
                waiting += [call.future(body, timeout=120) for body in some]
        stream = client.channel.stream_unary("/penstock.v1.Subscribers/Provision", request_serializer=bytes, response_deserializer=bytes)
        many = subscribers_pb2.ProvisionRequest(all_or_nothing=True, subscribers=[Subscriber(name=f"n{n}") for n in range(90_000)])
        held = [stream.future(iter([many.SerializeToString()] * 10), timeout=120) for _ in range(4)]
        # A batch in which each item stands for itself is done, though its only item is wrong.
        codes = {code_of(one.result) for one in waiting}
        assert codes <= {Code.OK, Code.NOT_FOUND, Code.INVALID_ARGUMENT, Code.RESOURCE_EXHAUSTED}, codes
        assert {code_of(one.result) for one in held} <= {Code.INVALID_ARGUMENT, Code.RESOURCE_EXHAUSTED}
        grown = memory(process) - rest
        print(f"{grown >> 20} MB more than at rest")
        assert grown < BOUND
        alive(client)


def test_large_messages_of_who_reads_nothing(tmp_path: Path) -> None:
    """Of large requests one is done at a time, and no client holds that up by not taking its answers: where these are streamed, too, none
    is taken."""
    large = subscribers_pb2.BatchRequest(changes=[subscribers_pb2.Change(replace=Subscriber(name="n" * 100, node=999))] * 200)
    options = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 16 << 10), ("grpc.use_local_subchannel_pool", 1)]
    with served(tmp_path) as (_, address), Client(address) as client, grpc.insecure_channel(address, options) as channel:
        end = threading.Event()

        def questions() -> Iterator[Any]:
            for _ in range(40):
                yield reflection_pb2.ServerReflectionRequest(file_containing_symbol="x" * 30_000)
            end.wait()

        stream = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(questions())
        time.sleep(1.0)
        assert len(client.subscribers.Batch(large, timeout=DEADLINE).failures) == 200
        assert code_of(lambda: list(stream)) == Code.RESOURCE_EXHAUSTED
        end.set()


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def sound(rng: random.Random) -> dict[str, Any]:
    """A message that each method could get."""
    subscriber = home(f"f{rng.randrange(20)}", node=rng.randrange(4))
    gate, parent = queues_pb2.GateRequest(subscribers=["f1", "f2"]), hierarchy_pb2.Node(index=1, rate_bps=10**9, port=1, name="x")
    name = registers_pb2.RegisterName(address=8)
    of = queues_pb2.QueueName(of=queues_pb2.QueueName.OfSubscriber(subscriber="f1", position=1))
    aqm = queues_pb2.SetAqmRequest(subscribers=["f1"], aqm=common_pb2.Aqm(ecn=True, settings={"target": "5 ms"}))
    one, queue, node = (
        subscribers_pb2.GetSubscriberRequest(name="f1"),
        queues_pb2.GetQueueRequest(queue=of),
        hierarchy_pb2.GetNodeRequest(index=1),
    )
    change = [subscribers_pb2.Change(replace=subscriber), subscribers_pb2.Change(delete=subscribers_pb2.DeleteSubscriberRequest(name="f1"))]
    return {
        "Create": subscribers_pb2.CreateSubscriberRequest(subscriber=subscriber, request_id=f"r{rng.randrange(5)}"),
        "Update": subscribers_pb2.UpdateSubscriberRequest(subscriber=subscriber, update_mask={"paths": ["node", "queues"]}),
        "Move": subscribers_pb2.MoveSubscriberRequest(name="f1", node=2),
        "Delete": subscribers_pb2.DeleteSubscriberRequest(name="f1", version=3),
        "List": subscribers_pb2.ListSubscribersRequest(page_size=3, node=1, name_contains="f"),
        "Batch": subscribers_pb2.BatchRequest(changes=change, all_or_nothing=True),
        "Provision": subscribers_pb2.ProvisionRequest(subscribers=[subscriber], all_or_nothing=True),
        "Close": gate, "Open": gate,
        "Set": rng.choice([parent, aqm]),
        "Get": rng.choice([one, queue, node]),
        "Totals": counters_pb2.TotalsRequest(), "Diff": device_pb2.DiffRequest(), "Backup": store_pb2.BackupRequest(),
        "Watch": counters_pb2.WatchRequest(node=1, period_ms=100), "Top": counters_pb2.TopRequest(count=3, node=1),
        "Read": registers_pb2.ReadRegistersRequest(registers=[name]),
        # Of all registers only one that does nothing: what the device has is compared at the end.
        "Write": registers_pb2.WriteRegistersRequest(writes=[{"register": registers_pb2.RegisterName(register="queue_rate"), "value": 1}]),
    }  # fmt: skip


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Some bytes changed, doubled, left out or put in, and numbers written with more bytes than they need."""
    made = bytearray(data)
    for _ in range(rng.randint(0, 4)):
        at = rng.randrange(len(made) + 1)
        kind = rng.randrange(5)
        if kind == 0 and at < len(made):
            made[at] = rng.choice([0, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        elif kind == 1:
            made[at:at] = rng.randbytes(rng.randint(1, 6))
        elif kind == 2:
            del made[at : at + rng.randint(1, 4)]
        elif kind == 3 and at < len(made):
            made[at : at + 1] = bytes([made[at] | 0x80, *[0x80] * rng.randrange(6), made[at] >> 7])
        else:
            made[at:at] = made[at : at + rng.randint(1, 16)] * rng.randint(1, 20)
    return bytes(made)


@pytest.mark.parametrize("count", [40, pytest.param(1_500, marks=pytest.mark.slow)])
def test_fuzzed_messages(count: int, tmp_path: Path) -> None:
    """Random bytes, and messages with some bytes changed, for every method: a status within the deadline, never UNKNOWN or INTERNAL; the
    server goes on, takes no more memory than is promised, and device and intent agree in the end."""
    rng = random.Random(seed())
    with served(tmp_path) as (process, address), Client(address) as client:
        client.provision(home(f"f{n}") for n in range(4))
        rest = memory(process, "VmRSS")
        codes: dict[grpc.StatusCode, int] = {}
        for noun, names in METHODS.items():
            for name in names:
                told = client.channel.unary_stream
                streams = {"Provision": client.channel.stream_unary, "Watch": told, "Backup": told}
                call = streams.get(name, client.channel.unary_unary)(
                    f"/penstock.v1.{noun}/{name}", request_serializer=bytes, response_deserializer=bytes
                )
                for _ in range(count):
                    data = rng.randbytes(rng.randrange(300)) if rng.random() < 0.3 else mutated(rng, sound(rng)[name].SerializeToString())
                    if noun == "Registers" and name == "Write" and code_of(lambda data=data: _harmless(data)) != Code.OK:
                        continue

                    def ask(call: Any = call, name: str = name, data: bytes = data) -> None:
                        if name in ("Watch", "Backup"):
                            stream = call(data, timeout=DEADLINE)
                            next(stream)
                            stream.cancel()
                        else:
                            call(iter([data]) if name == "Provision" else data, timeout=DEADLINE)

                    code = code_of(ask)
                    codes[code] = codes.get(code, 0) + 1
                    assert code not in (Code.UNKNOWN, Code.INTERNAL, Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED), (noun, name, data)
        grown = memory(process) - rest
        print(f"seed {seed()}: {', '.join(f'{code.name} {number}' for code, number in codes.items())}; {grown >> 20} MB more")
        assert codes[Code.OK] > 100 and codes[Code.INVALID_ARGUMENT] > 100 and grown < BOUND
        assert all(one.name for one in client.list())  # whatever was stored can be read
        assert client.device.Diff(device_pb2.DiffRequest(), timeout=DEADLINE).count == 0


def _harmless(data: bytes) -> None:
    """Raise grpc.RpcError for writes of registers that may run a command: then the device would not be as intended, and rightly."""
    with contextlib.suppress(Exception):
        request = registers_pb2.WriteRegistersRequest.FromString(data)
        if any(write.register.register != "queue_rate" for write in request.writes):
            raise AssertionError
        return
    with contextlib.suppress(Exception):
        registers_pb2.WriteRegistersRequest.FromString(data)
        raise _Harmful


class _Harmful(grpc.RpcError):
    def code(self) -> grpc.StatusCode:
        return Code.ABORTED


# ---- clocks, and rates


def test_clocks_that_are_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the wall goes back an hour, forward a day, and back a year: counters grow, rates and ages are as before, requests that
    were done are not done again, and the log goes on."""
    true, shift = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: true() + shift[0])
    mirror = CountingMirror(configs.load(CONFIG))
    plant = plant_of(mirror, tmp_path / "i.sqlite")
    plant.change([lambda: home("a"), lambda: home("b", node=1)])
    sweep = Sweep(plant, 0.01)
    sweep.start()
    try:
        with serving(plant, sweep, [f"unix:{tmp_path / 'c.sock'}"]) as (place,), Client(place) as client:
            create = subscribers_pb2.CreateSubscriberRequest(subscriber=home("c"), request_id="once")
            made = client.subscribers.Create(create)
            last = client.counters.Totals(counters_pb2.TotalsRequest()).device.out_packets
            watching = client.counters.Watch(counters_pb2.WatchRequest(period_ms=100))
            packets: dict[int, int] = {}
            for shift[0] in (0.0, -3_600.0, 86_400.0, -365 * 86_400.0, 0.0):
                number = sweep.number
                until(lambda number=number: sweep.number > number + 3)
                begin = time.monotonic()
                for answer in (next(watching), next(watching)):
                    for queue in answer.queues:
                        assert queue.out_packets >= packets.get(queue.queue, 0) and queue.age_ns < 30e9
                        assert queue.rate_bps < 2e10
                        packets[queue.queue] = queue.out_packets
                assert time.monotonic() - begin < 20
                totals = client.counters.Totals(counters_pb2.TotalsRequest())
                assert totals.device.out_packets > last and 0 < totals.age_ns < 30e9 and 0 < totals.device.rate_bps < 2e10
                last = totals.device.out_packets
                assert client.subscribers.Create(create) == made
            assert plant.audited(1)[0][4] == "OK"
    finally:
        sweep.stop()
        plant.intent.close()


def test_answers_are_kept_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last ones whatever the clock says; those before them for a day."""
    from penstock.designs.access_edge.control import intent as store

    monkeypatch.setattr(store, "KEPT_ANSWERS", 5)
    true, shift = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: true() + shift[0])
    intent = Intent(None)
    for number in range(20):
        intent.remember(f"r{number}", b"", b"")
    assert intent.answer("r0")
    shift[0] = 2 * store.DAY_SECONDS
    intent.remember("late", b"", b"")
    assert [number for number in range(20) if intent.answer(f"r{number}")] == [16, 17, 18, 19] and intent.answer("late")


def test_a_look_at_one_queue_leaves_rates_alone() -> None:
    """`Queues.Get` between two sweeps: counters of that moment, and the rate that is shown is of the time between the sweeps."""
    plant = plant_of(CountingMirror(configs.load(CONFIG)))
    plant.change([lambda: home("a")])
    sweep = Sweep(plant)
    queues = np.arange(4)
    raw = np.zeros((4, 9), dtype=np.uint64)

    def at(now: float, sent: int, of_sweep: bool) -> None:
        raw[:, OUT_B], raw[:, DROP_P] = sent, sent // 100
        sweep._take(queues, raw.copy(), now, np.full(4, round(now * 1e9)), of_sweep)

    at(10.0, 1_000, True)
    at(12.0, 2_000, True)
    assert sweep.rates[0] == 4_000 and sweep.drops[0] == 10
    at(12.9, 2_900, False)
    assert sweep.rates[0] == 4_000 and sweep.drops[0] == 10 and sweep.counts[0, OUT_B] == 1_900
    at(14.0, 4_000, True)
    assert sweep.rates[0] == 8_000 and sweep.drops[0] == 20 and sweep.sums("device")[0].counts[OUT_B] == 4 * 4_000
    at(14.5, 100, False)  # the device was reset
    assert sweep.counts[0, OUT_B] == 3_100
    at(15.0, 200, True)
    assert sweep.rates[0] == 0 and sweep.counts[0, OUT_B] == 3_200


def counting(config: str = CONFIG) -> tuple[Any, Sweep, Callable[..., list[int]]]:
    """A sweep of a device with one subscriber; what it shows of its first queue after a look at these counters."""
    plant = plant_of(CountingMirror(configs.load(config)))
    plant.change([lambda: home("a")])
    sweep = Sweep(plant)

    def look(*counters: int) -> list[int]:
        raw = np.zeros((1, len(sweeps.COLUMNS)), dtype=np.uint64)
        raw[0, : len(counters)] = counters
        sweep._take(np.array([0]), raw, 1.0, 1.0, of_sweep=True)
        return [int(count) for count in sweep.counts[0, : len(counters)]]

    return plant, sweep, look


def test_a_reset_shows_in_any_counter() -> None:
    """As many packets as before, but smaller ones: the counters go on from where they were, by queue and in sums."""
    _, sweep, look = counting()
    look(10, 15_000, 10, 15_000)
    assert look(11, 16_500, 11, 16_500) == [1, 1_500, 1, 1_500]
    assert look(11, 704, 10, 640) == [12, 2_204, 11, 2_140] and sweep.queued[0].tolist() == [1, 64] and sweep.rates[0] == 0
    assert sweep.sums("device")[0].counts[:4] == [22, 17_204, 21, 17_140]
    assert look(12, 768, 12, 768) == [13, 2_268, 13, 2_268] and sweep.queued[0].tolist() == [0, 0]


def test_counters_that_wrap_go_on() -> None:
    """Those of packets have fewer bits than those of bytes, both fewer than 64; what waits is right while one of two has wrapped."""
    widths = [registers.table()[name]["fields"]["value"][1] for name in ("in_packets", "in_bytes")]
    assert all(40 < width < 64 for width in widths)
    for column, width in enumerate(widths):
        _, sweep, look = counting()
        top, begin, wrapped = (1 << width) - 100, [500] * 4, [600] * 4
        begin[column] = begin[column + 2] = top
        wrapped[column], wrapped[column + 2] = 50, top + 90
        look(*begin)
        assert look(*wrapped)[column] == 150 and sweep.queued[0, column] == 60
        wrapped[column + 2] = 50
        assert look(*wrapped)[column] == look(*wrapped)[column + 2] == 150 and sweep.queued[0, column] == 0
        assert sweep.sums("device")[0].counts[column] == top + 150


def test_what_is_kept_is_of_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look while the counters are made durable: after a restart nothing of it is counted twice."""
    plant, sweep, look = counting()
    look(5)
    look(7)
    save = np.savez_compressed

    def beside(*arguments: Any, **values: Any) -> None:
        look(9)
        save(*arguments, **values)

    monkeypatch.setattr(np, "savez_compressed", beside)
    sweep._keep()
    after = Sweep(plant)
    after._take(np.array([0]), sweep._raw[:1], 2.0, 2.0, of_sweep=True)
    assert after.sums("device")[0].counts[0] == 9 and after.counts[0, 0] == 4


def test_counters_are_those_of_their_subscriber(tmp_path: Path) -> None:
    """After a kill of the server, too, since which nothing was made durable: who was there goes on, also if it was changed; who has come
    meanwhile, at a place that another one had, or that nobody had, begins anew."""
    mirror, queues = CountingMirror(configs.load(CONFIG)), np.arange(0, 16, 4)  # the first of each of four subscribers
    mirror.packets = dict.fromkeys(queues.tolist(), 1000)  # from before them

    def begun() -> tuple[Any, Sweep, Callable[[], list[int]]]:
        plant = plant_of(mirror, tmp_path / "i.sqlite")
        sweep = Sweep(plant)

        def look() -> list[int]:
            sweep.look(queues)
            return [int(count) for count in sweep.counts[queues, OUT_P]]

        return plant, sweep, look

    plant, sweep, look = begun()
    plant.change([lambda: home("stays"), lambda: home("is changed"), lambda: home("goes")])
    for packets in range(10):
        assert look()[:3] == [packets] * 3
    sweep._keep()
    plant.change([lambda: home("is changed", node=1), lambda: "goes"])
    plant.change([lambda: home("comes"), lambda: home("comes, too")])
    assert look() == [10, 10, 0, 0] and plant.index_of["comes"] == 2
    plant.intent.close()  # as a kill
    plant, sweep, look = begun()
    assert look() == [11, 11, 0, 0]
    assert look() == [12, 12, 1, 1]
    sweep._keep()
    plant.intent.close()
    plant, sweep, look = begun()
    assert look() == [13, 13, 2, 2]
    plant.intent.close()


@pytest.mark.parametrize("step_ns", [250_000_000, 60 * 10**9])
def test_rates_are_in_the_time_of_the_snapshots(step_ns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long our clock says that it was: a model may be slower than a card."""
    plant = plant_of(CountingMirror(configs.load(CONFIG)))
    plant.change([lambda: home("a")])
    now_ns, seconds, raw = [10**6], [100.0], np.zeros((4, 9), dtype=np.uint64)
    monkeypatch.setattr(sweeps, "snapshots", lambda carrier, facts, some: (raw.copy(), np.full(4, now_ns[0]), np.zeros(4, dtype=np.int64)))
    monkeypatch.setattr(sweeps, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    sweep = Sweep(plant)
    for _ in range(2):
        sweep.look(np.arange(4), of_sweep=True)
        raw[:, OUT_B] += 5_000
        now_ns[0] += step_ns
        seconds[0] += 7
    assert sweep.rates[0] == pytest.approx(8 * 5_000 / (step_ns / 1e9))


# ---- the thread that reads counters


def test_a_device_that_was_reset_while_it_did_not_answer() -> None:
    """When counters are read again all is as intended: nobody else has seen that it was gone."""

    class Card(CountingMirror):
        gone = False

        def _run(self, program: Any) -> Any:
            if self.gone:
                raise CarrierError("card: the bus is gone")
            return super()._run(program)

    card = Card(configs.load(CONFIG))
    plant = plant_of(card)
    plant.change([lambda: home("a", node=1, rate_bps=10**8)])
    plant.set_parent("node", hierarchy_pb2.Node(index=1, rate_bps=10**9, port=1))
    sweep = Sweep(plant, 0.01)
    sweep.start()
    try:
        until(lambda: sweep.finished_at)
        card.gone = True
        until(lambda: sweep.error)
        for settings in (card.queues, card.subscribers, card.parents):
            for place, words in settings.items():
                settings[place] = (0,) * len(words)  # type: ignore[index]
        assert sweep.error == "card: the bus is gone" and plant.stale
        card.gone, before = False, sweep.finished_at
        until(lambda: sweep.finished_at > before and not sweep.error)
        assert not plant.stale and differences(plant) == []
    finally:
        sweep.stop()


def test_a_sweep_that_fails_goes_on(tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    """Whatever goes wrong in a sweep, or where counters are made durable, is said in a sentence, once; and the next sweep is done."""
    plant = plant_of(CountingMirror(configs.load(CONFIG)), tmp_path / "i.sqlite")
    plant.change([lambda: home("a")])
    mirror: Any = plant.carrier
    run, wrong = mirror.run, [True]

    def broken(program: Any, step: int = 0) -> Any:
        if wrong[0]:
            raise ValueError("an answer that\nnobody expects")
        return run(program)

    mirror.run = broken
    sweep = Sweep(plant, 0.01)
    sweep._kept_at = -100.0  # counters are to be made durable, and that fails, too
    keep, sweep._keep = sweep._keep, lambda: 1 / 0  # type: ignore[assignment, method-assign]
    sweep.start()
    try:
        until(lambda: sweep.number > 3)
        assert sweep.error == "counters are not read: an answer that nobody expects (ValueError)" and not sweep.finished_at
        assert b"\npenstock_sweeps_total 0.0\n" in exposition(plant, sweep)  # a rate of sweeps is one of figures that were read
        wrong[0] = False
        until(lambda: sweep.finished_at and not sweep.error)
        assert sweep.sums("device")[0].counts[OUT_B]
        assert b"\npenstock_sweeps_total 0.0\n" not in exposition(plant, sweep)
    finally:
        sweep._keep = keep  # type: ignore[method-assign]
        sweep.stop()
    said = caplog.messages
    assert "Traceback" not in capfd.readouterr().err
    assert 1 <= said.count("counters are not read: an answer that nobody expects (ValueError)") <= 2
    assert any("ZeroDivisionError" in line for line in said)
    plant.intent.close()
