"""The control plane for tests: registers that behave as documented without a device behind them, and servers and clients as processes of
their own (`python -m penstock.designs.access_edge.testing.control`)."""

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from google.protobuf.message import Message

from penstock.designs import configs
from penstock.designs.access_edge import find, registers
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.plant import Plant, Subscriber
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.driver.carrier import READ, TIME, WAIT, WRITE, CarrierError
from penstock.driver.remote import listening
from penstock.v1 import (
    common_pb2,
    counters_pb2,
    counters_pb2_grpc,
    device_pb2,
    device_pb2_grpc,
    queues_pb2,
    queues_pb2_grpc,
    subscribers_pb2,
)

CONFIG, GUARANTEED = "tree_64", "tree_guaranteed_64"
ADDRESS_OF = {entry["address"]: name for name, entry in registers.table().items()}
SETTINGS_OF_QUEUE = ("queue_rate", "queue_burst", "queue_limit_packets", "queue_limit_bytes", "tree_class")


READ_BACK = {
    registers.contract()["enums"]["command"]["read_back" if level == "queue" else f"read_back_{level}"]: level
    for level in ("queue", "subscriber", "node", "port")
}


class Mirror:
    """The registers of an access edge by their documentation: settings, commands, refusals. `fails_after`: so many writes, and the bus is
    gone, for ever or for once."""

    name = "mirror"
    losses = 0

    def __init__(self, config: Any) -> None:
        self.config = config
        hierarchy = config.hierarchy
        table = registers.table().values()
        self.registers = {entry["address"] + half: 0 for entry in table for half in range(0, entry["bytes"], 4)}
        at = registers.address
        self.registers |= {
            at("type"): 0x50535401, at("version"): 0x00010006, at("queues"): config.queues, at("descriptors"): config.descriptors,
            at("clock_hz"): config.clock_hz, at("max_frame_bytes"): config.max_frame_bytes,
            at("features"): 1 | 1 << 16 | hierarchy.guarantees << 20,
            at("queues_per_subscriber"): hierarchy.queues_per_subscriber, at("nodes"): hierarchy.nodes, at("ports"): hierarchy.ports,
            at("classes"): hierarchy.classes, at("status"): 1,
        }  # fmt: skip
        self._lock = threading.Lock()
        self.queues: dict[int, tuple[int, ...]] = {}
        self.subscribers: dict[int, tuple[int, ...]] = {}
        self.parents: dict[tuple[str, int], tuple[int, ...]] = {}
        self.guarantees: dict[tuple[str, int], int] = {}  # by level and index
        self.writes = 0
        self.fails_after: int | None = None
        self.refuses: int | None = None  # this command, by its number from now on

    def run(self, program: Any, step: int = 0) -> Any:
        with self._lock:  # nothing of another program is in between
            return self._run(program)

    def _run(self, program: Any) -> Any:
        found = []
        for kind, address, value, mask in program.tolist():
            if kind == WRITE:
                self._write(address, value)
            elif kind == READ:
                found.append(self.registers[address])
            elif kind == TIME:
                now = time.monotonic_ns()
                found += [now & 0xFFFFFFFF, now >> 32]
            else:
                assert kind == WAIT and self.registers[address] & mask == value
        return np.array(found, dtype=np.uint32)

    def cycles(self) -> int:
        return 4 * self.writes

    def close(self) -> None:
        pass

    def _write(self, address: int, value: int) -> None:
        if self.fails_after is not None:
            if self.fails_after == 0:
                raise CarrierError("mirror: the bus is gone")
            self.fails_after -= 1
        self.writes += 1
        executes = 0x800 <= address < 0x880
        name = ADDRESS_OF[address - 0x800 if executes else address]
        self.registers[address & 0x7FF] = value
        if executes:
            of_subscriber = name in ("tree_rate", "tree_burst", "tree_parent")
            self._command(registers.COMMAND_SUBSCRIBER_NEXT if of_subscriber else registers.COMMAND_PROVISION)
        elif name == "queue_command":
            self._command(value)

    def _command(self, command: int) -> None:
        of = {name: self.registers[registers.address(name)] for name in (*SETTINGS_OF_QUEUE, "tree_rate", "tree_burst", "tree_parent")}
        index, parent_index = registers.address("queue_index"), registers.address("tree_index")
        status = registers.address("status")
        if self.refuses is not None:
            self.refuses -= 1
            if self.refuses < 0:
                self.refuses = None
                self.registers[status] |= registers.STATUS_REFUSED
                return
        self.registers[status] &= ~registers.STATUS_REFUSED
        guarantee = self.registers[registers.address("tree_guarantee")]
        parent = (of["tree_rate"], of["tree_burst"], of["tree_parent"])
        if command == registers.COMMAND_PROVISION:
            assert self.registers[index] < self.config.queues
            self.queues[self.registers[index]] = tuple(of[name] for name in SETTINGS_OF_QUEUE)
            self.guarantees["queue", self.registers[index]] = guarantee
            self.registers[index] += 1
        elif command == registers.COMMAND_SUBSCRIBER_NEXT:
            self.subscribers[self.registers[parent_index]] = (*parent, of["tree_class"] >> 8)
            self.guarantees["subscriber", self.registers[parent_index]] = guarantee
            self.registers[parent_index] += 1
        elif command in registers.COMMAND_HIERARCHY.values():
            level = next(level for level, number in registers.COMMAND_HIERARCHY.items() if number == command)
            self.parents[level, self.registers[parent_index]] = parent
        elif command in READ_BACK:
            self._read_back(READ_BACK[command])
        else:
            assert command == registers.COMMAND_SNAPSHOT, command

    def _read_back(self, level: str) -> None:
        index = self.registers[registers.address("queue_index" if level == "queue" else "tree_index")]
        if level == "queue":
            rate, burst, packets, size, share = self.queues[index]
            now = {"rate": rate, "burst": burst, "limit_packets": packets, "limit_bytes": size, "class": share}
        elif level == "subscriber":
            rate, burst, parent, weight = self.subscribers[index]
            now = {"rate": rate, "burst": burst, "parent": parent, "class": weight << 8}
        else:
            rate, burst, parent = self.parents.get((level, index), (0, 0, 0))
            now = {"rate": rate, "burst": burst, "parent": parent if level == "node" else 0}
        if level in ("queue", "subscriber") and self.config.hierarchy.guarantees:
            now["guarantee"] = self.guarantees[level, index]
        for name, value in now.items():
            self.registers[registers.address(f"now_{name}")] = value


def plant_of(carrier: Any, path: Path | None = None) -> Plant:
    plant = Plant(carrier, ask(carrier), Intent(path))
    plant.restore()
    return plant


class HeaderMirror(Mirror):
    """Which finds queues in headers, too: keys and their values, profiles, misses. `crowded`: keys that it finds no place for."""

    def __init__(self, config: Any, profiles: int = 8, entries: int = 256) -> None:
        super().__init__(config)
        at = registers.address
        self.registers[at("features")] |= 1 << 21
        self.registers |= {at("find_profiles"): profiles, at("find_entries"): entries, at("find_prefix_levels"): 0}
        self.entries = entries
        self.keys: dict[int, int] = {}
        self.profiles: dict[int, int] = {}
        self.missing: dict[int, int] = {}
        self.classes: dict[int, int] = {}
        self.seeds: dict[int, int] = {}
        self.crowded: set[int] = set()

    def reset(self) -> None:
        """Forget all that headers are about."""
        for some in (self.keys, self.profiles, self.missing, self.classes, self.seeds):
            some.clear()
        self.registers[registers.address("find_keys")] = 0

    def _command(self, command: int) -> None:
        names = ("insert", "delete", "profile", "class", "miss", "seed")
        name = next((name for name in names if command == registers.command(f"find_{name}")), None)
        keys = name in ("insert", "delete")  # a device refuses others for a wrong index only
        if name is None or keys and self.refuses == 0:
            super()._command(command)
            return
        if keys and self.refuses is not None:
            self.refuses -= 1
        at, status = registers.address, registers.address("status")
        key = sum(self.registers[at(f"find_key{word}")] << 32 * word for word in range(3))
        item, value = self.registers[at("find_item")], self.registers[at("find_value")]
        reason = 0
        if name == "insert":
            assert self.seeds, "a key came before the random words"
            reason = registers.refusal("no_room") if key in self.crowded or len(self.keys) >= self.entries and key not in self.keys else 0
            if not reason:
                self.keys[key] = value
        elif name == "delete":
            reason = 0 if key in self.keys else registers.refusal("bad_key")
            self.keys.pop(key, None)
        elif name == "seed":
            reason = registers.refusal("bad_key") if self.keys else 0
            if not reason:
                self.seeds[item] = key
        else:
            {"profile": self.profiles, "class": self.classes, "miss": self.missing}[name][item] = value
        self.registers[at("find_keys")] = len(self.keys)
        self.registers[status] = self.registers[status] & ~0x74 | (registers.STATUS_REFUSED | reason << 4 if reason else 0)


class RoutedMirror(HeaderMirror):
    """Which has a tree of prefixes, too. What its banks hold stays over a reset."""

    def __init__(self, config: Any, levels: int = 3) -> None:
        super().__init__(config)
        self.levels = self.registers[registers.address("find_prefix_levels")] = levels
        self.nodes: tuple[dict[tuple[int, int], list[int]], ...] = ({}, {})
        self.intervals: tuple[dict[int, int | None], ...] = ({}, {})
        self.separators = [0, 0]
        self.bank, self.in_use = 0, False

    def reset(self) -> None:
        """Forget all that headers are about."""
        super().reset()
        self.bank, self.in_use = 0, False

    def find(self, key: int) -> int | None:
        """Return the value of the longest prefix of a key, by a walk down the tree."""
        if not self.in_use:
            return None
        node = 0
        for level in range(self.levels):
            node = 4 * node + sum(key >= separator for separator in self.nodes[self.bank].get((level, node), [0, 0, 0]))
        return self.intervals[self.bank].get(node)

    def _command(self, command: int) -> None:
        at = registers.address
        key = sum(self.registers.get(at(f"find_key{word}"), 0) << 32 * word for word in range(3))
        item, value = (self.registers.get(at(name), 0) for name in ("find_item", "find_value"))
        if command == registers.command("find_separator"):
            if item & 3 == 2:
                self.nodes[1 - self.bank][item >> 24, item >> 2 & 0x3FFFFF] = [*self.separators, key & (1 << find.PREFIX_BITS) - 1]
            else:
                self.separators[item & 3] = key & (1 << find.PREFIX_BITS) - 1
        elif command == registers.command("find_interval"):
            self.intervals[1 - self.bank][item] = value if key & 1 else None
        elif command == registers.command("find_bank"):
            self.bank, self.in_use = value & 1, True
        else:
            super()._command(command)
            return
        self.registers[at("status")] &= ~0x74


class Held:
    """A carrier to a device that is held open from Python (penstock.open), whose frames the test sends."""

    name, losses = "held", 0

    def __init__(self, device: Any) -> None:
        self.device = device
        self._lock = threading.Lock()

    def run(self, program: Any, step: int = 0) -> Any:
        session, found = self.device._session, []
        with self._lock:
            if not session.started:
                self.device.advance(cycles=1)
            for kind, address, value, mask in program.tolist():
                if kind == WRITE:
                    session.write(address, value)
                elif kind == READ:
                    found.append(session.read(address))
                elif kind == TIME:
                    now = int(self.device.now_ns)
                    found += [now & 0xFFFFFFFF, now >> 32]
                else:
                    while session.read(address) & mask != value:
                        pass
        return np.array(found, dtype=np.uint32)

    def cycles(self) -> int:
        return int(self.device.now_cycles)

    def close(self) -> None:
        pass


class CountingMirror(Mirror):
    """Whose queues have sent a packet more at each snapshot."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.packets: dict[int, int] = {}

    def _command(self, command: int) -> None:
        super()._command(command)
        if command == registers.COMMAND_SNAPSHOT:
            queue = self.registers[registers.address("queue_index")]
            sent = self.packets[queue] = self.packets.get(queue, 0) + 1
            for name, value in (("in_packets", sent), ("out_packets", sent), ("in_bytes", 1000 * sent), ("out_bytes", 1000 * sent)):
                self.registers[registers.address(name)] = value


def home(name: str, node: int = 0, **fields: Any) -> Subscriber:
    queues = [common_pb2.QueueSettings(rate_bps=50_000_000, traffic_class=cls) for cls in range(4)]
    return Subscriber(name=name, node=node, queues=queues, **fields)


def fails(code: grpc.StatusCode, words: str, call: Any, request: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        call(request)
    said = caught.value.details()
    assert caught.value.code() == code and words in (said or ""), said


@contextlib.contextmanager
def processes(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Yield what starts a `penstock serve` and waits until it is ready; all that were started end with the block."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-P", "-m", "penstock", "serve", *arguments]
        with (folder / f"log-{len(running)}").open("w+") as log:
            process = subprocess.Popen(command, stderr=log, stdout=log, text=True)
            running.append(process)
            while "Ctrl-C ends it" not in (text := Path(log.name).read_text()):
                assert process.poll() is None, text
                time.sleep(0.02)
        return process

    try:
        yield start
    finally:
        for process in reversed(running):
            process.terminate()
            process.wait()


def small_device(folder: Path) -> Path:
    """Write the scenario of a small device with little traffic."""
    scenario = folder / "s.yaml"
    scenario.write_text(
        f"device: {{ config: {CONFIG} }}\nduration: 1 s\ndrain: false\n"
        "traffic:\n  - { name: all, poisson: { queues: 0-63, pick: random, rate: 10 Mbit/s, size: 500 } }\n"
    )
    return scenario


@contextlib.contextmanager
def child(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a process of this module (`_COMMANDS`) that has said its first line; it is killed with the block."""
    command = [sys.executable, "-P", "-m", __name__, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout and process.stdout.readline(), "it has ended before it was ready"
            yield process
        finally:
            process.kill()


def memory(process: int, name: str = "VmHWM") -> int:
    """Return bytes of memory of a process, as the kernel counts them: VmRSS now, VmHWM the most so far."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _serve(address: str, config: str, limits: str) -> None:
    plant = plant_of(CountingMirror(configs.load(config)))
    sweep = Sweep(plant, 0.1)
    sweep.start()
    with serving(plant, sweep, [address, "127.0.0.1:0"], limits=Limits(**json.loads(limits))) as places:
        print(*places, flush=True)
        threading.Event().wait()


def _device(path: str) -> None:
    with listening(Path(path), CountingMirror(configs.load(CONFIG))):
        print(path, flush=True)
        threading.Event().wait()


def _watch(address: str) -> None:
    """Watch, and read nothing any more after the first message."""
    # A client's machine takes some in: little, so that the server soon has to wait.
    with grpc.insecure_channel(address, [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 16 << 10)]) as channel:
        stream = counters_pb2_grpc.CountersStub(channel).Watch(counters_pb2.WatchRequest(period_ms=100))
        next(stream)
        print("watching", flush=True)
        threading.Event().wait()


def _flood(address: str) -> None:
    """Call as much as can be, rightly and wrongly, over several connections, until killed."""
    unknown = [Subscriber(name=f"flood-{n}", node=4_000_000_000) for n in range(1_000)]
    calls: list[tuple[str, Any]] = [
        ("/penstock.v1.Subscribers/Batch",
         subscribers_pb2.BatchRequest(changes=[subscribers_pb2.Change(replace=one) for one in unknown])),
        ("/penstock.v1.Subscribers/Get", subscribers_pb2.GetSubscriberRequest(name="x" * 3_900_000)),
        ("/penstock.v1.Counters/Top", counters_pb2.TopRequest(count=1_000)),
        ("/penstock.v1.Device/Diff", device_pb2.DiffRequest()),
        ("/penstock.v1.No/Such", device_pb2.DiffRequest()),
    ]  # fmt: skip

    def go_on(number: int) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(address, options) as channel:
            method, request = calls[number % len(calls)]
            call: grpc.UnaryUnaryMultiCallable[Message, bytes] = channel.unary_unary(
                method, request_serializer=lambda one: one.SerializeToString(), response_deserializer=bytes
            )
            while True:
                waiting = [call.future(request, timeout=30) for _ in range(4)]
                for one in waiting:
                    one.exception()

    for number in range(10):
        threading.Thread(target=go_on, args=(number,), daemon=True).start()
    print("flooding", flush=True)
    signal.pause()


def _flood_alike(address: str, count: str) -> None:
    """Close gates and ask what the device is, as much as can be, over several connections, until killed; the file `count` has how many
    calls were answered."""
    answered: list[None] = []

    def go_on(number: int) -> None:
        with grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)]) as channel:
            close = queues_pb2_grpc.GatesStub(channel).Close
            ask_for = device_pb2_grpc.DeviceStub(channel).Get
            while True:
                waiting = [close.future(queues_pb2.GateRequest(subscribers=[f"h{n % 15}"]), timeout=30) for n in range(number, number + 4)]
                waiting += [ask_for.future(device_pb2.GetDeviceRequest(), timeout=30) for _ in range(4)]
                for one in waiting:
                    if one.exception() is None:
                        answered.append(None)

    for number in range(16):
        threading.Thread(target=go_on, args=(number,), daemon=True).start()
    print("flooding", flush=True)
    while True:
        new = Path(f"{count}.new")  # whole or not at all, also for a reader at this moment
        new.write_text(str(len(answered)))
        new.rename(count)
        time.sleep(0.02)


_COMMANDS: dict[str, Callable[..., None]] = {
    "serve": _serve,
    "device": _device,
    "watch": _watch,
    "flood": _flood,
    "flood_alike": _flood_alike,
}

if __name__ == "__main__":
    _COMMANDS[sys.argv[1]](*sys.argv[2:])
