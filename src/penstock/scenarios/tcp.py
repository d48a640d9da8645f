"""TCP connections of a scenario made into a source of the engine's job. The engine simulates senders and receivers (engine/src/tcp)."""

import struct
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StrictBool, StrictInt

from penstock.basics.models import Duration, Model
from penstock.basics.units import PS_PER_SECOND, format_time_ns
from penstock.designs.design import Configuration, Plan
from penstock.scenarios import headers
from penstock.scenarios.common import MAX_FRAME_BYTES
from penstock.scenarios.headers import Headers
from penstock.scenarios.scenario import Document, KeyPath
from penstock.scenarios.traffic import cycles, reached_cycles
from penstock.scenarios.values import Size, Time

TCP, TCP_BYTES = 6, 20
PORT = 5001
MAX_FLOWS = 1024  # of an entry
SCALABLE = ("prague",)
MIN_RTT = PS_PER_SECOND // 1_000_000
DELAYED_ACK = 40 * PS_PER_SECOND // 1000
MIN_RTO = PS_PER_SECOND
MAX_BYTES = 1 << 60
MAX_WINDOW = 1 << 30  # what window scaling allows (RFC 7323, 2.3)


class Connections(Model):
    """TCP connections; they are open when they begin, and send as fast as congestion and receive window let them."""

    flows: StrictInt | None = Field(None, ge=1, le=MAX_FLOWS, description="How many; one for each queue unless given.")
    algorithm: Literal["cubic", "cubic_linux", "reno", "prague"] = Field(
        "cubic",
        description="CUBIC (RFC 9438), or [as Linux has it](tcp.md#cubic-of-linux), Reno (RFC 5681), [Prague](tcp.md#a-scalable-sender).",
    )
    rtt: Duration = Field(
        description="Round trip without the device: half of it behind the output, half for the acknowledgement, which passes no queue."
    )
    bytes: Size | None = Field(None, ge=1, le=MAX_BYTES, description="What each connection sends; without end unless given.")
    ecn: StrictBool = Field(False, description="Segments are ECN-capable, and marks reduce the window (RFC 3168).")
    rack: StrictBool = Field(
        True, description="Losses are found by time, and the end of a window is probed (RACK-TLP, RFC 8985); or RFC 6675 alone."
    )
    size: Size = Field(
        1514, ge=60, le=MAX_FRAME_BYTES, description="Longest frame in bytes, without FCS; the MSS is what headers leave of it."
    )
    window: Size = Field(4_000_000, ge=1, le=MAX_WINDOW, description="Receive window.")
    initial_window: StrictInt = Field(10, ge=1, le=1000, description="Segments that go out at the beginning (RFC 6928).")
    hystart: StrictBool = Field(False, description="Slow start ends when round trips grow (HyStart++, RFC 9406).")
    spread: Time | None = Field(None, description="Connections begin at random within this time; 0: all at once; one `rtt` unless given.")
    delayed_ack: Time | None = Field(
        None, description="How long an acknowledgement waits for a second segment; 40 ms unless given; 0: each segment has one."
    )
    min_rto: Duration | None = Field(
        None, description="Least retransmission timeout; a second unless given (RFC 6298), many systems have 200 ms."
    )


class Front(NamedTuple):
    """What the frames of a connection begin with: Ethernet to IP."""

    bytes: bytes
    ip_at: int  # where IP begins
    length_at: int = 0  # where a length of all behind it stands (PPPoE: RFC 2516, 4); 0: there is none


def in_job(
    entry: Any,
    key: KeyPath,
    scenario: Any,
    document: Document,
    config: Configuration,
    plan: Plan,
    queues: NDArray[np.uint32],
    line_bps: int,
    of: str = "",
    front: Callable[[int], Front] | None = None,
) -> dict[str, Any]:
    """Return the job's source for an entry `tcp`; Raises UserError.

    `line_bps`: of the output that its queues lead to; `of`: what stands behind the entry's name; `front`: what makes the headers of a
    queue where the device finds queues in them, and the entry has none of its own.
    """
    given: Connections = entry.tcp
    clock, where = config.clock_hz, (*key, "tcp")
    if front and entry.headers is not None:
        document.fail((*key, "headers"), f"is there, but in configuration {config.name} frames have the headers of their subscriber")
    heads = entry.headers or Headers()
    flows = given.flows or len(queues)
    if flows > MAX_FLOWS:
        document.fail(
            (*where, "queues"), f"names {flows:,} queues; an entry has at most {MAX_FLOWS:,} connections, so say how many `flows`"
        )
    if given.rtt < MIN_RTT:
        document.fail((*where, "rtt"), f"must be at least {format_time_ns(MIN_RTT / 1000)}, not {format_time_ns(given.rtt / 1000)}")
    dealt = np.resize(queues, flows).astype(np.uint32)
    fronts = _fronts(heads, dealt, front)
    if len({(len(one.bytes), one.ip_at, one.length_at) for one in fronts}) > 1:
        document.fail((*where, "queues"), "leads to headers of different lengths: each kind of match needs an entry of its own")
    each = len(fronts[0].bytes) + TCP_BYTES
    most = getattr(config, "max_frame_bytes", None)
    if most is not None and given.size > most:
        document.fail((*where, "size"), f"must be at most the {most:,} byte that {config.name} takes, not {given.size:,}")
    if given.size <= each:
        document.fail((*where, "size"), f"must be more than the {each} byte of the headers, not {given.size}")
    if given.window < given.size:
        document.fail((*where, "window"), f"must be at least a frame's {given.size:,} byte, not {given.window:,}")
    if given.algorithm in SCALABLE and "ecn" in given.model_fields_set and not given.ecn:
        document.fail((*where, "ecn"), f"must not be false with `algorithm: {given.algorithm}`, which answers marks")
    ecn = given.ecn or given.algorithm in SCALABLE
    if heads.ecn:
        document.fail((*key, "headers", "ecn"), "is not for TCP, whose connections have `tcp.ecn: true`")
    try:
        headers.check(heads, [given.size], flows)
    except ValueError as error:
        document.fail((*key, "headers"), str(error))
    spread = given.rtt if given.spread is None else given.spread
    times = {"rtt": given.rtt, "spread": spread, "min_rto": given.min_rto or MIN_RTO}
    times["delayed_ack"] = DELAYED_ACK if given.delayed_ack is None else given.delayed_ack
    within = {word: reached_cycles(time, clock, (*where, word), document.fail) for word, time in times.items()}
    random = np.random.default_rng([scenario.seed, 0x7C9, len(plan.flows)])
    starts = np.array([cycles(entry.start + int(random.random() * spread), clock) for _ in range(flows)], dtype=np.int64)
    fields = Headers.model_fields
    first = heads.sport if heads.sport != fields["sport"].default else PORT
    sink = heads.dport if heads.dport != fields["dport"].default else PORT
    made = b"".join(one.bytes + struct.pack("!HH", (first + flow) & 0xFFFF, sink) + bytes(TCP_BYTES - 4) for flow, one in enumerate(fronts))
    name = (entry.name or "tcp") + of
    for flow, queue in enumerate(dealt.tolist()):
        plan.flows.append({
            "name": f"{name} {flow + 1}" if flows > 1 else name,
            "queue": queue,
            "algorithm": given.algorithm,
            "ecn": ecn,
            "rtt_ns": given.rtt / 1000,
        })  # fmt: skip
    stop = min(entry.stop or scenario.duration, scenario.duration)
    if never := int((starts >= cycles(stop, clock)).sum()):
        plan.notes.append(f"{never:,} of {flows:,} connections of {name} never begin: `spread` is longer than the time that they have.")
    return {
        "kind": "tcp",
        "queues": dealt,
        "start_cycles": starts,
        "stop_cycle": cycles(stop, clock),
        "round_trip_cycles": max(2, within["rtt"]),
        "line_bps": line_bps,
        "frame_bytes": given.size,
        "bytes": given.bytes or 0,
        "algorithm": given.algorithm,
        "ecn": ecn,
        "hystart": given.hystart,
        "rack": given.rack,
        "initial_segments": given.initial_window,
        "window_bytes": given.window,
        "least_timeout_cycles": max(1, within["min_rto"]),
        "delay_cycles": within["delayed_ack"],
        "headers": {
            "bytes": np.frombuffer(made, dtype=np.uint8),
            "each": each,
            "ip_at": fronts[0].ip_at,
            "length_at": fronts[0].length_at,
        },
    }


def _fronts(heads: Headers, queues: NDArray[np.uint32], front: Callable[[int], Front] | None) -> list[Front]:
    """Return what the frames of each connection begin with."""

    def own(queue: int) -> Front:
        made = headers.network(heads, heads.dscp or 0, queue, TCP, TCP_BYTES)
        return Front(made, len(made) - (headers.IPV4_BYTES if heads.ip == 4 else headers.IPV6_BYTES))

    of_queue = {queue: (front or own)(queue) for queue in set(queues.tolist())}
    return [of_queue[queue] for queue in queues.tolist()]


def most_frames(sources: list[dict[str, Any]], rate: Callable[[int], int | None], line_bps: int, clock_hz: int) -> float:
    """Return how many frames connections can bring at most: what their queues, or the line, let through; `rate`: of a queue."""
    total = 0.0
    for source in sources:
        if source["kind"] != "tcp":
            continue
        seconds = (source["stop_cycle"] - int(source["start_cycles"].min())) / clock_hz
        through = min(line_bps, sum(rate(queue) or line_bps for queue in np.unique(source["queues"]).tolist()))
        total += max(0.0, seconds) * through / 8 / source["frame_bytes"]
    return total
