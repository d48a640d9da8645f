"""The test program `test/programs/lab.p4`: the first bytes of each packet say what the program does with it. And what should come of it,
computed by code that shares nothing with the device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from penstock.designs import configs
from penstock.designs.p4_switch import program
from penstock.designs.p4_switch.config import Config, device
from penstock.engine import engine
from penstock.paths import DESIGNS

PROGRAM = DESIGNS / "p4_switch" / "test" / "programs" / "lab.json"

DROP_INGRESS, DROP_EGRESS, CLONE_INGRESS, MULTICAST = 1, 2, 4, 8
RECIRCULATE, CLONE_EGRESS, STAMP, RESUBMIT = 16, 32, 64, 128
FOR_EVER = 255  # argument of RECIRCULATE
STAMP_FORMAT = "!6s6sIIIIIHH"  # ingress, egress, enqueued, waited, depths, length, ports

CLOCK_HZ = 100_000_000
LINE_BPS = 800_000_000  # a byte a cycle
OVERHEAD = 24


@dataclass(frozen=True)
class Packet:
    """A packet of a test: when its first bit comes, where to, and what the program does with it."""

    cycle: int
    input: int
    output: int
    priority: int = 0
    length: int = 100
    flags: int = 0
    arg: int = 0

    @property
    def bytes(self) -> bytes:
        """Its bytes; what follows the command is the stamp's place, then filling."""
        head = bytes([self.output, self.priority, self.flags, self.arg])
        return (head + bytes(range(256)) * 40)[: self.length]


def state(ports: int) -> dict[str, Any]:
    """Return what the program is told: mirror session n goes to output n, multicast group n to outputs 0 to n - 1."""
    return {
        "mirrors": [{"session": port, "port": port} for port in range(1, ports)],
        "groups": [{"group": group, "nodes": [{"rid": 0, "ports": list(range(group))}]} for group in range(1, ports + 1)],
    }


def job(packets: Sequence[Packet], **changes: Any) -> dict[str, Any]:
    """Return a job: packets on endless fast inputs, outputs of a byte a cycle. `changes`: to the configuration, or keys of the job."""
    numbers = {key: changes.pop(key) for key in list(changes) if key in type(CONFIG).model_fields}
    config = CONFIG.model_copy(update=numbers)
    start = changes.pop("clock_start_us", 0)
    port_numbers = changes.pop("port_numbers", None)
    read = program.load(PROGRAM)
    sources = []
    for port in range(config.ports):
        mine = sorted((packet for packet in packets if packet.input == port), key=lambda packet: packet.cycle)
        if not mine:
            continue
        data = b"".join(packet.bytes for packet in mine)
        lengths = np.array([packet.length for packet in mine], dtype=np.int32)
        sources.append({
            "kind": "frames",
            "input": port,
            "cycles": np.array([packet.cycle for packet in mine], dtype=np.int64),
            "queues": np.full(len(mine), port, dtype=np.uint32),
            "offsets": np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64),
            "lengths": lengths,
            "stored": lengths,
            "data": np.frombuffer(data, dtype=np.uint8),
        })  # fmt: skip
    return {
        "device": device(config, config.ports, read.dictionary, state(config.ports), start, port_numbers),
        "seed": 1,
        "drain": True,
        "max_cycles": 1 << 40,
        "quiet_cycles": 1_000_000,
        "ingress_bps": 0,
        "egress_bps": LINE_BPS,
        "overhead_bytes": OVERHEAD,
        "sources": sources,
        "keep_departures": True,
        **changes,
    }


CONFIG = configs.load_as(Config, "p4_4", "p4_switch").model_copy(update={"clock_hz": CLOCK_HZ})


def run(packets: Sequence[Packet], **changes: Any) -> dict[str, Any]:
    """Run them; what the engine finds wrong is an error, and every packet is accounted for."""
    engine.build()
    raw = engine.run(job(packets, **changes))
    assert raw["findings"] == [] and raw["conservation_ok"], raw["findings"]
    for what in ("packets", "bytes"):
        totals = raw[what]
        if what == "packets":
            assert totals["in"] == totals["out"] + totals["queued"] + sum(totals["dropped"].values())
    return raw


def departures(raw: dict[str, Any]) -> list[tuple[int, int, int]]:
    """Return (cycle, output, length) of what left, in order."""
    left = raw["departures"]
    return list(zip(left["cycle"].tolist(), left["output"].tolist(), left["length"].tolist(), strict=True))


@dataclass
class Expected:
    """What the reference says: (cycle, output, length) of what leaves, drops by reason, packets that came, copies included."""

    left: list[tuple[int, int, int]] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)
    came: int = 0
    waits: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # by output and priority, cycles
    depths: list[tuple[int, int]] = field(default_factory=list)  # of each that is taken from its queue: when it came, when it went

    def drop(self, reason: str) -> None:
        """Count a drop."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1


@dataclass
class _Waiting:
    output: int
    priority: int
    flags: int
    arg: int
    length: int
    since: int = 0
    due: Fraction = Fraction(0)  # not before
    depth: int = 0  # of its queue when it came


def expected(
    packets: Sequence[Packet],
    ports: int,
    priorities: int,
    places: int,
    room: int,
    charged: bool,
    own: Mapping[int, tuple[int, Fraction]] | None = None,
) -> Expected:
    """Return what should happen to packets whose inputs take no time, one at an input and cycle: each cycle, step by step.

    `own`: of single priorities their places, and the cycles from one packet to the next. Written from the pages alone: recirculated packets
    first, then the inputs in order, then the outputs; clones before their packet.
    """
    found = Expected()
    latest: dict[tuple[int, int], Fraction] = {}
    queues: dict[tuple[int, int], list[_Waiting]] = {(port, p): [] for port in range(ports) for p in range(priorities)}
    free = [Fraction(0)] * ports
    byte = Fraction(8 * CLOCK_HZ, LINE_BPS)
    again: list[_Waiting] = []
    to_come = sorted(packets, key=lambda packet: (packet.cycle, packet.input))
    now = 0

    def put(item: _Waiting) -> None:
        if item.output >= ports or item.priority >= priorities:
            return found.drop("no_output")
        queue = queues[item.output, item.priority]
        its_places, between = (own or {}).get(item.priority, (places, Fraction(0)))
        if len(queue) >= its_places:
            return found.drop("tail_drop_packets")
        if room and sum(other.length for other in queue) + item.length > room:
            return found.drop("tail_drop_bytes")
        item.since, item.depth = now, len(queue)
        key = item.output, item.priority
        item.due = latest[key] = max(Fraction(now), latest.get(key, Fraction(-(10**9))) + between)
        queue.append(item)
        return None

    def ingress(item: _Waiting) -> None:
        rounds = 2 if item.flags & RESUBMIT else 1
        for _ in range(rounds):
            if item.flags & CLONE_INGRESS and 0 < item.arg < ports:
                found.came += 1
                put(_Waiting(item.arg, 0, 0, 0, item.length))
        flags = item.flags & ~(CLONE_INGRESS | MULTICAST | RESUBMIT)
        if item.flags & DROP_INGRESS:  # takes back a multicast, too
            found.drop("ingress_program")
        elif item.flags & MULTICAST and item.arg > ports:
            found.drop("no_output")
        elif item.flags & MULTICAST and item.arg > 0:
            for port in range(item.arg):
                found.came += port > 0
                put(_Waiting(port, item.priority, flags, item.arg, item.length))
        else:
            put(_Waiting(item.output, item.priority, flags, item.arg, item.length))

    while to_come or again or any(queues.values()):
        due, again = again, []
        for item in due:
            ingress(item)
        while to_come and to_come[0].cycle == now:
            packet = to_come.pop(0)
            found.came += 1
            ingress(_Waiting(packet.output, packet.priority, packet.flags, packet.arg, packet.length))
        for port in range(ports):
            for _ in range(sum(len(queues[port, p]) for p in range(priorities))):  # a copy that comes meanwhile is one more
                if free[port] >= now + 1:
                    break
                may_go = [p for p in range(priorities) if queues[port, p] and queues[port, p][0].due <= now]
                if not may_go:
                    break
                priority = max(may_go)
                item = queues[port, priority].pop(0)
                found.depths.append((item.depth, len(queues[port, priority])))
                found.waits.setdefault((port, priority), []).append(now - item.since)
                clone = item.flags & CLONE_EGRESS and 0 < item.arg < ports
                sent = not item.flags & (DROP_EGRESS | RECIRCULATE)
                if sent:
                    found.left.append((now, port, item.length))
                if sent or charged:
                    free[port] = max(free[port], Fraction(now)) + (item.length + OVERHEAD) * byte
                if item.flags & DROP_EGRESS:
                    found.drop("egress_program")
                elif item.flags & RECIRCULATE:
                    again.append(_Waiting(item.arg, item.priority, item.flags & ~(RECIRCULATE | CLONE_EGRESS), item.arg, item.length))
                if clone:
                    found.came += 1
                    put(_Waiting(item.arg, 0, 0, 0, item.length))
        now += 1
    return found
