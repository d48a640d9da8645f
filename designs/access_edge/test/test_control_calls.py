# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Calls that are taken before they come to gRPC's server: whatever a client does on its connection, it sees one server.

A client here is a socket and frames of HTTP/2 (RFC 9113) made by hand: fields are literals, so that what was answered can be told apart.
"""

import base64
import contextlib
import random
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, Mirror, home, plant_of
from penstock.engine import engine
from penstock.testing.testkit import seed
from penstock.v1 import device_pb2, subscribers_pb2

DATA, HEADERS, RESET, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
ACK = 1
TAKEN = b"\x88\x0f\x10\x10application/grpc"  # how an answer begins that is none of gRPC's server
SECONDS = 30.0
GET, CREATE, HEALTH = "/penstock.v1.Device/Get", "/penstock.v1.Subscribers/Create", "/grpc.health.v1.Health/Check"
# The code of RFC 7541, appendix B, of the bytes 0 to 255 in turn.
ALL_BYTES = (
    "/8f//Y///+L///4////k///+X///5v///n///+j//+r////z///6f///q////9///+v///7P///t///+7///7////w////H///8v////v///z////T///9f///2////f///+P/"
    "//5////r///+1P4/n/r/yr8f6/r+/n/f0suwAImWm3HXn7n3//IP+/8/9Q3b1/BhxY8mXNn0adWvZt3b+HHl+c/3/3//w/+f/kX/9HGSQss05unWimo9faxCbe/jz69//7/n/7/"
    "9////z//m//9L//n//6P//T//9T//1f//s//+t//9r//7f//3P//u///e///r//+////Z///b//6///4P//7v//w///i///H//+T//uf/+x//+X//2f//zf//n///v//9r//u//9P"
    "//t//+5//+j//9P//e///V//7v//vf//4f/9///3///1///s//8H//h//+D//xf//t//+H//93//7//+r//4v//j//+T//+H//y///N///H///g///4f/+v//j//8///8v//o///2f"
    "//8X///H///yf//97///v///8v//+P//+3//l//4///+b///wf//+H///n///8X//+X//k//8v///R///0////7///4////J///5f/+z///P//t//83//0//+f//0f//z//+r//6///9"
    "3//+////T///X///q///p///1///+b///s///7f///P///6P///T///6v///X////3///s///9v///u///9////w///7vw=="
)


def test_fields_are_those_of_the_standard() -> None:
    """The examples of RFC 7541, appendix C: with the code of strings, with a table that must let go of entries; all bytes in that code."""
    table = engine.module().access_edge_control.HeaderTable()
    first = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", b"/"), (b":authority", b"www.example.com")]
    assert table.read(bytes.fromhex("828684418cf1e3c2e5f23a6ba0ab90f4ff"), 1000) == first
    assert table.read(bytes.fromhex("828684be5886a8eb10649cbf"), 1000) == [*first, (b"cache-control", b"no-cache")]
    found = table.read(bytes.fromhex("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf"), 1000)
    assert found[1:] == [(b":scheme", b"https"), (b":path", b"/index.html"), first[3], (b"custom-key", b"custom-value")]
    table = engine.module().access_edge_control.HeaderTable()
    blocks = [
        "3fe101488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
        "4883640effc1c0bf",
        "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587"
        "316065c003ed4ee5b1063d5007",
    ]
    found = [dict(table.read(bytes.fromhex(block), 1000)) for block in blocks]
    assert [one[b":status"] for one in found] == [b"302", b"307", b"200"]
    assert found[0].keys() == found[1].keys() and found[0][b"date"] == found[1][b"date"] == b"Mon, 21 Oct 2013 20:13:21 GMT"
    assert found[2][b"date"] == b"Mon, 21 Oct 2013 20:13:22 GMT" and found[2][b"location"] == b"https://www.example.com"
    assert found[2][b"set-cookie"] == b"foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
    coded = base64.b64decode(ALL_BYTES)
    block = b"\x00\x01a\xff" + bytes([len(coded) - 127 & 127 | 128, len(coded) - 127 >> 7]) + coded
    assert table.read(block, 1000) == [(b"a", bytes(range(256)))]


@pytest.mark.parametrize(
    "block",
    ["80", "c0", "ff80808080808001", "00", "0001", "000161", "00016105aa", "0001618100", "000161847fffffff", "3fe21f", "8220"],
    ids=["index 0", "no entry", "long number", "no name", "short name", "no value", "short value", "padding of zeros", "end in a string",
         "table too large", "size behind a field"],
)  # fmt: skip
def test_fields_that_are_broken(block: str) -> None:
    assert engine.module().access_edge_control.HeaderTable().read(bytes.fromhex(block), 1000) is None


def test_fields_are_bounded() -> None:
    """An entry of the table, named again and again, is a byte each and much more when it is read; and random bytes do no harm."""
    table, rng = engine.module().access_edge_control.HeaderTable(), random.Random(seed())
    assert len(table.read(b"\x40\x01a\x7f\xd1\x0e" + b"x" * 2000 + b"\xbe" * 10, 1 << 16)) == 11
    assert table.read(b"\xbe" * 1000, 1 << 16) is None
    for _ in range(3000):
        table.read(rng.randbytes(rng.randrange(60)), 1 << 12)


class Wire:
    """A connection, by frames."""

    def __init__(self, path: str, settings: bytes = b"") -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS)
        self.socket.connect(path)
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self.frame(SETTINGS, 0, 0, settings))
        self.got: list[tuple[int, int, int, bytes]] = []

    @staticmethod
    def frame(kind: int, flags: int, stream: int, what: bytes = b"") -> bytes:
        return len(what).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + what

    def opens(self, stream: int, path: str, **more: str) -> bytes:
        fields = {
            ":method": "POST",
            ":scheme": "http",
            ":path": path,
            ":authority": "x",
            "te": "trailers",
            "content-type": "application/grpc",
        }
        fields |= {name.replace("_", "-"): value for name, value in more.items()}
        block = b"".join(
            b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode() for name, value in fields.items()
        )
        return self.frame(HEADERS, END_HEADERS, stream, block)

    def says(self, stream: int, message: bytes, flags: int = END_STREAM, compressed: int = 0) -> bytes:
        return self.frame(DATA, flags, stream, bytes([compressed]) + struct.pack(">I", len(message)) + message)

    def read(self) -> tuple[int, int, int, bytes]:
        """Return the next frame: kind, flags, stream, what."""
        head = self._some(9)
        frame = (head[3], head[4], int.from_bytes(head[5:]), self._some(int.from_bytes(head[:3])))
        self.got.append(frame)
        if frame[0] == SETTINGS and not frame[1] & ACK:
            self.socket.sendall(self.frame(SETTINGS, ACK, 0))
        return frame

    def _some(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            if not (more := self.socket.recv(count - len(found))):
                raise EOFError
            found += more
        return found

    def answer(self, stream: int) -> tuple[bytes, list[bytes], bytes]:
        """Return how the answer of a stream begins, its pieces, and what is behind them."""
        while not any(frame[2] == stream and frame[1] & END_STREAM and frame[0] in (HEADERS, DATA) for frame in self.got):
            self.read()
        own = [(kind, what) for kind, _, of, what in self.got if of == stream and kind in (HEADERS, DATA)]
        heads = [what for kind, what in own if kind == HEADERS]
        return heads[0], [what for kind, what in own if kind == DATA], heads[-1]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yield the path of a server's socket, its plant, and a client."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    path = str(tmp_path_factory.mktemp("calls") / "c.sock")
    with serving(plant, Sweep(plant), [f"unix:{path}"]) as (address,), Client(address) as client:
        yield path, plant, client


def device_of(pieces: list[bytes]) -> Any:
    return device_pb2.DeviceInfo.FromString(b"".join(pieces)[5:])


def test_a_call_is_taken_or_given_on(served: Any) -> None:
    """Which server answers, by what the call is: the answer is the same, and on one connection both answer in turn."""
    wire = Wire(served[0])
    ask = [
        (wire.opens(1, GET) + wire.says(1, b""), True),
        (wire.opens(3, HEALTH) + wire.says(3, b""), False),
        (wire.opens(5, GET) + wire.says(5, b"")[:-5], None),  # in two pieces, below
        (wire.opens(7, GET, grpc_encoding="gzip") + wire.says(7, b""), False),
        (wire.opens(9, GET, grpc_timeout="20S") + wire.says(9, b""), True),
        (wire.opens(11, "/penstock.v1.Device/Diff") + wire.says(11, b""), False),  # its answer may be long
    ]
    for stream, (frames, taken) in zip(range(1, 13, 2), ask, strict=True):
        wire.socket.sendall(frames)
        if taken is None:
            time.sleep(0.05)
            wire.socket.sendall(bytes(5))
        head, pieces, behind = wire.answer(stream)
        assert (head == TAKEN) == (taken is not False), stream
        assert pieces and (b"grpc-status\x010" in behind or taken is False)
        if stream in (1, 5, 7, 9):
            assert device_of(pieces).queues == 64


def test_calls_whose_frames_are_mixed(served: Any) -> None:
    """A call that is not whole when the next one begins is the server's, which wants streams in the order of their numbers."""
    wire = Wire(served[0])
    wire.socket.sendall(wire.opens(1, GET) + wire.opens(3, GET) + wire.opens(5, HEALTH) + wire.says(5, b""))
    wire.answer(5)
    wire.socket.sendall(wire.says(3, b"") + wire.says(1, b""))
    assert device_of(wire.answer(1)[1]).queues == device_of(wire.answer(3)[1]).queues == 64
    wire.socket.sendall(wire.opens(7, GET) + wire.says(7, b""))
    assert wire.answer(7)[0] == TAKEN


def test_messages_that_are_none(served: Any) -> None:
    """Compressed without saying how, shorter or longer than it says, nothing at all: each a status, and the connection goes on."""
    wire = Wire(served[0])
    wrong = [
        wire.says(1, b"", compressed=1),
        wire.frame(DATA, END_STREAM, 3, bytes(4)),
        wire.frame(DATA, END_STREAM, 5, bytes(4) + b"\x09ab"),
        wire.frame(DATA, END_STREAM, 7),
    ]
    for stream, frames in zip(range(1, 9, 2), wrong, strict=True):
        wire.socket.sendall(wire.opens(stream, GET) + frames)
        while not any(frame[2] == stream and (frame[0] == RESET or (frame[0] == HEADERS and frame[1] & END_STREAM)) for frame in wire.got):
            wire.read()
        assert TAKEN not in [frame[3] for frame in wire.got if frame[2] == stream]
    wire.socket.sendall(wire.opens(9, CREATE) + wire.says(9, b"\xff\xff"))
    head, pieces, behind = wire.answer(9)
    assert head.startswith(TAKEN) and not pieces and b"grpc-status\x013" in behind and b"is no message of this method" in behind


def test_windows_are_kept_to(served: Any) -> None:
    """A client that takes few bytes at a time is sent as many; and when it has given more, the server knows how much is left of that."""
    path, _, client = served
    names = [f"w{n}" for n in range(3)]
    wire = Wire(path, struct.pack(">HI", 4, 20))  # a stream takes 20 bytes
    wire.socket.sendall(wire.opens(1, GET) + wire.says(1, b""))
    while sum(len(frame[3]) for frame in wire.got if frame[0] == DATA) < 20:
        wire.read()
    wire.socket.sendall(wire.frame(PING, 0, 0, b"12345678"))
    while not any(frame[0] == PING and frame[1] & ACK for frame in wire.got):
        wire.read()
    assert sum(len(frame[3]) for frame in wire.got if frame[0] == DATA) == 20
    wire.socket.sendall(wire.frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 7)))
    while sum(len(frame[3]) for frame in wire.got if frame[0] == DATA) < 27:
        wire.read()
    wire.socket.sendall(wire.frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 10_000)))
    assert device_of(wire.answer(1)[1]).queues == 64

    # Of the connection: it takes 65,535 bytes in all, whoever sends them. What is more waits, from either server.
    wire = Wire(path, struct.pack(">HI", 4, 1 << 20))
    client.provision(map(home, names))
    stream = 1
    ask = subscribers_pb2.GetSubscriberRequest(name=names[0]).SerializeToString()

    def data() -> int:
        return sum(len(frame[3]) for frame in wire.got if frame[0] == DATA)

    while data() < 65_000:
        wire.socket.sendall(wire.opens(stream, "/penstock.v1.Subscribers/Get") + wire.says(stream, ask))
        assert wire.answer(stream)[1]
        stream += 2
    asked = [stream + 2 * n for n in range(20)]
    for one in asked:
        path_of = "/penstock.v1.Subscribers/Get" if one % 4 == 1 else "/penstock.v1.Subscribers/List"
        wire.socket.sendall(wire.opens(one, path_of) + wire.says(one, ask if one % 4 == 1 else b""))
    wire.socket.settimeout(1.0)
    with contextlib.suppress(TimeoutError):
        while True:
            wire.read()
    assert 65_000 <= data() <= 65_535
    wire.socket.settimeout(SECONDS)
    wire.socket.sendall(wire.frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 20)))
    for one in asked:
        assert wire.answer(one)[1]
    wire.socket.close()


def test_what_is_cancelled_is_not_done(served: Any) -> None:
    """A stream that is reset, or whose connection is gone, while its change waits: it is not made."""
    path, plant, _ = served
    wire, other = Wire(path), Wire(path)
    asked = [subscribers_pb2.CreateSubscriberRequest(subscriber=home(f"cancelled-{n}")).SerializeToString() for n in range(2)]
    with plant.lock:
        wire.socket.sendall(wire.opens(1, CREATE) + wire.says(1, asked[0]))
        other.socket.sendall(other.opens(1, CREATE) + other.says(1, asked[1]))
        time.sleep(0.3)
        wire.socket.sendall(wire.frame(RESET, 0, 1, struct.pack(">I", 8)) + wire.frame(PING, 0, 0, bytes(8)))
        other.socket.close()
        while wire.read()[0] != PING:
            pass
        time.sleep(0.3)
    wire.socket.sendall(
        wire.opens(3, CREATE) + wire.says(3, subscribers_pb2.CreateSubscriberRequest(subscriber=home("made")).SerializeToString())
    )
    assert wire.answer(3)[1]
    assert "made" in plant.index_of and not {"cancelled-0", "cancelled-1"} & set(plant.index_of)
    assert not any(frame[2] == 1 for frame in wire.got)


def test_what_is_late_is_not_done(served: Any) -> None:
    """A change whose deadline is over before its turn comes, and whose client says nothing of that."""
    path, plant, _ = served
    wire = Wire(path)
    asked = [subscribers_pb2.CreateSubscriberRequest(subscriber=home(name)).SerializeToString() for name in ("late", "in time")]
    with plant.lock:
        wire.socket.sendall(wire.opens(1, CREATE, grpc_timeout="200m") + wire.says(1, asked[0]))
        wire.socket.sendall(wire.opens(3, CREATE, grpc_timeout="1M") + wire.says(3, asked[1]))
        time.sleep(0.6)
    assert wire.answer(3)[1] and b"grpc-status\x011" in wire.answer(1)[2]  # CANCELLED
    assert "in time" in plant.index_of and "late" not in plant.index_of


def test_more_calls_than_threads(served: Any) -> None:
    """As many at once as one connection may have, all of them waiting: all are answered, and so is a call beside them."""
    path, plant, client = served
    wires = [Wire(path) for _ in range(2)]
    with plant.lock:
        for number, wire in enumerate(wires):
            for stream in range(1, 81, 2):
                wanted = subscribers_pb2.CreateSubscriberRequest(subscriber=home(f"many-{number}-{stream}")).SerializeToString()
                wire.socket.sendall(wire.opens(stream, "/penstock.v1.Subscribers/Get") + wire.says(stream, wanted[:0]))
        beside = threading.Thread(target=lambda: client.device.Get(device_pb2.GetDeviceRequest(), timeout=SECONDS))
        beside.start()
        time.sleep(0.3)
    beside.join()
    for wire in wires:
        for stream in range(1, 81, 2):
            assert b"there is no subscriber" in wire.answer(stream)[2]
        wire.socket.close()


def test_a_connection_that_makes_no_sense_is_closed(served: Any) -> None:
    """Fields that are none, a header block that does not go on: that connection ends, at once, and no other one."""
    path, _, client = served
    for wrong in (Wire.frame(HEADERS, END_HEADERS, 1, b"\x80"), Wire.frame(HEADERS, 0, 1, b"\x82") + Wire.frame(DATA, 0, 1, b"x"),
                  Wire.frame(CONTINUATION, END_HEADERS, 1, b"\x82"), Wire.frame(HEADERS, PADDED, 1, b"\x09")):  # fmt: skip
        wire = Wire(path)
        wire.socket.sendall(wrong)
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                wire.read()
        wire.socket.close()
    rng = random.Random(seed())
    for _ in range(60):
        wire = Wire(path)
        with contextlib.suppress(OSError):
            sent = b"".join(wire.opens(n, GET) + wire.says(n, b"") for n in (1, 3, 5))
            at = rng.randrange(len(sent))
            wire.socket.sendall(sent[:at] + rng.randbytes(rng.randint(1, 20)) + sent[at + rng.randrange(20) :])
            wire.socket.shutdown(socket.SHUT_WR)
            while wire.socket.recv(1 << 16):
                pass
        wire.socket.close()
    assert client.device.Get(device_pb2.GetDeviceRequest(), timeout=SECONDS).queues == 64


def test_who_is_gone_is_read_to_its_end(tmp_path: Path) -> None:
    """What comes together with the end of a connection goes on, and so does the end."""
    outer, inner = str(tmp_path / "o.sock"), str(tmp_path / "i.sock")
    sent = Wire.frame(SETTINGS, 0, 0) + Wire.frame(PING, 0, 0, bytes(8))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(inner)
        server.listen()
        relay = engine.module().access_edge_control.Relay(outer, inner, "penstock-of-a-test", 10, [], 1000)
        for _ in range(20):
            wire = Wire(outer)
            behind, _ = server.accept()
            assert len(behind.recv(33, socket.MSG_WAITALL)) == 33  # all that the client has said
            behind.sendall(sent)
            behind.close()
            found = b""
            while more := wire.socket.recv(1000):
                found += more
            assert found == sent
            wire.socket.close()
        relay.close()


def test_threads_of_calls_come_before_who_always_runs(served: Any) -> None:
    """Linux from 6.12 on tells how long the slice of each thread is."""
    slices: dict[str, set[int]] = {}
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            lines = (task / "sched").read_text().splitlines()
            found = [int(line.split(":")[1]) for line in lines if line.startswith("se.slice")]
            slices.setdefault((task / "comm").read_text().strip(), set()).update(found)
    if not any(slices.values()):
        pytest.skip("this kernel has no slices of threads, or does not tell them")
    assert 100_000 in set().union(*slices.values())
