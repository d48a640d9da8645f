"""What comes to the switch: a scenario's sources, as its job has them, made into frames with times, and connections for the kernel's TCP.

Frames have the headers that the P4 device sees, and other random bytes behind them. Times are in nanoseconds from the beginning.
"""

import builtins
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

TCP_BYTES = 20
ADDRESSES = struct.Struct("!HIHI")
COLUMNS = {
    **{"at_ns": np.int64, "input": np.uint32, "flow": np.uint32, "front": np.uint64, "front_bytes": np.uint32, "length": np.uint32},
    **{"sum_from": np.uint32, "sum_at": np.uint32, "random": np.uint8},
}
Column = NDArray[Any]
KERNEL = {"cubic_linux": "cubic"}  # what Linux calls a congestion control that has another name in scenarios


@dataclass
class Connection:
    """A TCP connection of the kernel."""

    flow: int
    input: int
    version: int  # of IP
    source: bytes
    destination: bytes
    source_port: int
    destination_port: int
    traffic_class: int
    front: bytes  # Ethernet and tags
    start_ns: int
    stop_ns: int
    round_trip_ns: int
    mss: int  # without options
    mtu: int
    bytes: int  # 0: without end
    algorithm: str  # as the kernel calls it
    ecn: bool
    initial_segments: int
    window_bytes: int
    min_rto_ns: int

    @property
    def ends(self) -> builtins.bytes:
        """Return addresses and ports as the delay line knows them."""
        ports = struct.pack("!HH", self.source_port, self.destination_port)
        return bytes([self.version]) + self.source.ljust(16, b"\0") + self.destination.ljust(16, b"\0") + ports


@dataclass
class Played:
    """All that comes: frames by time, and connections."""

    plan: dict[str, Column]
    fronts: bytes
    connections: list[Connection] = field(default_factory=list)


def of_job(job: dict[str, Any]) -> Played:
    """Return what a job's sources send."""
    clock, seed = int(job["device"]["clock_hz"]), int(job["seed"])
    fronts = bytearray()
    parts: list[dict[str, Column]] = []
    connections: list[Connection] = []
    for number, source in enumerate(job["sources"]):
        if source["kind"] == "tcp":
            connections += _connections(source, clock)
        elif source["kind"] == "frames":
            parts.append(_capture(source, clock, fronts))
        else:
            parts.append(_generated(source, clock, fronts, np.random.default_rng([seed, 0xB32, number])))
    plan = {key: np.concatenate([part[key] for part in parts] or [np.zeros(0, dtype=kind)]) for key, kind in COLUMNS.items()}
    order = np.argsort(plan["at_ns"], kind="stable")
    return Played({key: column[order] for key, column in plan.items()}, bytes(fronts), connections)


def _ns(cycles: Any, clock: int) -> Any:
    return np.floor(np.asarray(cycles, dtype=np.float64) * 1e9 / clock).astype(np.int64)


def _columns(count: int, **given: Any) -> dict[str, Column]:
    return {key: np.broadcast_to(np.asarray(given.get(key, 0), dtype=kind), count).copy() for key, kind in COLUMNS.items()}


def _capture(source: dict[str, Any], clock: int, fronts: bytearray) -> dict[str, Column]:
    """Return the frames of a capture; what it has not stored of them is zero."""
    first = len(fronts)
    fronts += np.asarray(source["data"]).tobytes()
    lengths, stored = np.asarray(source["lengths"]), np.asarray(source["stored"])
    return _columns(
        len(lengths),
        at_ns=_ns(source["cycles"], clock),
        input=source["input"],
        flow=source["queues"],
        front=np.asarray(source["offsets"]).astype(np.uint64) + first,
        front_bytes=np.minimum(stored, lengths),
        length=lengths,
    )


def times(source: dict[str, Any], sizes: NDArray[np.int64], clock: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return when frames of these sizes come from a source, as far as there are any before its end.

    `constant`: a frame at a time at the source's rate; `poisson`: at exponentially distributed distances; `onoff`: at the rate during
    bursts, lengths of bursts and pauses exponentially distributed, and on at the beginning as often as in the long run.
    """
    begin, end = source["start_cycle"] * 1e9 / clock, source["stop_cycle"] * 1e9 / clock
    own = sizes * 8e9 / source["bps"]
    if source["kind"] == "poisson":
        at = begin + np.cumsum(random.exponential(float(own.mean()) if len(own) else 1.0, len(own)))
    else:
        at = begin + np.concatenate([[0.0], np.cumsum(own)[:-1]]) if len(own) else np.zeros(0)
    if source["kind"] == "onoff" and len(at):
        # Time stands still in pauses: each burst's share of the time that is spent sending, and the pauses before it.
        on, off = source["on_cycles"] * 1e9 / clock, source["off_cycles"] * 1e9 / clock
        at = at + random.random() * own[0]
        bursts = int((at[-1] - begin) / on * 1.5) + 50
        ends = np.cumsum(random.exponential(on, bursts))
        first = random.exponential(off) if random.random() >= on / (on + off) else 0.0
        pauses = first + np.concatenate([[0.0], np.cumsum(random.exponential(off, bursts))])
        at = at + pauses[np.searchsorted(ends, at - begin, side="right")]
    return np.floor(at[at < end]).astype(np.int64)


def _generated(source: dict[str, Any], clock: int, fronts: bytearray, random: np.random.Generator) -> dict[str, Column]:
    choice, weights = np.array(source["sizes"], dtype=np.int64).T
    seconds = (source["stop_cycle"] - source["start_cycle"]) / clock
    mean = float((choice * weights).sum() / weights.sum())
    expected = source["bps"] * seconds / 8 / mean
    kind = random.choice(len(choice), size=int(expected * 1.2 + 6 * expected**0.5 + 100), p=weights / weights.sum())
    at = times(source, choice[kind], clock, random)
    kind = kind[: len(at)]
    queues = np.asarray(source["queues"], dtype=np.int64)
    turn = np.arange(len(at)) % len(queues) if source["pick"] == "round_robin" else random.integers(len(queues), size=len(at))
    first = len(fronts)
    heads = source.get("headers")
    if heads is None:  # addresses alone, as the engine makes them, and a type that means nothing
        each = ADDRESSES.size + 2
        fronts += b"".join(ADDRESSES.pack(0x0200, int(queue), 0x0201, int(queue)) + b"\x88\xb6" for queue in queues)
        which, more = turn, {}
    else:
        each = int(heads["each"])
        fronts += np.asarray(heads["bytes"]).tobytes()
        which = turn * len(choice) + kind
        more = {"sum_from": heads["sum_from"], "sum_at": heads["sum_at"]}
    return _columns(
        len(at),
        at_ns=at,
        input=source["input"],
        flow=queues[turn],
        front=first + which * each,
        front_bytes=np.minimum(each, choice[kind]),
        length=np.maximum(choice[kind], ADDRESSES.size + 2),
        random=1,
        **more,
    )


def _connections(source: dict[str, Any], clock: int) -> list[Connection]:
    heads = source["headers"]
    each, at = int(heads["each"]), int(heads["ip_at"])
    data = np.asarray(heads["bytes"]).tobytes()
    found = []
    for number, (flow, start) in enumerate(zip(source["queues"], source["start_cycles"], strict=True)):
        front = data[number * each : (number + 1) * each]
        ip = front[at:]
        version = ip[0] >> 4
        source_at, size = (12, 4) if version == 4 else (8, 16)
        ports = struct.unpack_from("!HH", front, each - TCP_BYTES)
        found.append(
            Connection(
                flow=int(flow),
                input=int(source["input"]),
                version=version,
                source=ip[source_at : source_at + size],
                destination=ip[source_at + size : source_at + 2 * size],
                source_port=ports[0],
                destination_port=ports[1],
                traffic_class=ip[1] if version == 4 else (ip[0] << 8 | ip[1]) >> 4 & 0xFF,
                front=front[:at],
                start_ns=int(start) * 1_000_000_000 // clock,
                stop_ns=int(source["stop_cycle"]) * 1_000_000_000 // clock,
                round_trip_ns=int(source["round_trip_cycles"]) * 1_000_000_000 // clock,
                mss=int(source["frame_bytes"]) - each,
                mtu=int(source["frame_bytes"]) - at,
                bytes=int(source["bytes"]),
                algorithm=KERNEL.get(source["algorithm"], source["algorithm"]),
                ecn=bool(source["ecn"]),
                initial_segments=int(source["initial_segments"]),
                window_bytes=int(source["window_bytes"]),
                min_rto_ns=int(source["least_timeout_cycles"]) * 1_000_000_000 // clock,
            )
        )
    return found
