"""A device held open: `open` makes one, on the RTL or on its model.

    import penstock

    with penstock.open("demo_64") as device:
        device.queue(3).set(rate="5 Mbit/s")
        device.send(frame, queue=3)
        device.advance("10 ms")
        for frame in device.received():
            ...

Everything that a scenario says of a device can be said here, in the same words and units (docs/scenario.md), and is checked by the same
code. What is wrong raises `penstock.UserError`, a sentence that names the value.
"""

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, SupportsBytes

import numpy as np

from penstock.basics.units import PS_PER_SECOND, format_time_ns, parse_time
from penstock.designs import registers
from penstock.devices.records import Dropped, Received
from penstock.devices.setup import Setup
from penstock.errors import UserError
from penstock.scenarios.traffic import MAX_CYCLES
from penstock.scenarios.traffic import MAX_ENGINE_BYTES as MAX_FRAME_BYTES

SNAPSHOT_READS = 10_000  # of the status, until a snapshot is there


class Fault(RuntimeError):
    """The device did something that it must not do: lost, changed or reordered a frame, miscounted, or broke a protocol."""


class Member:
    """A queue, subscriber, node or port of a device, to be set. What is not named keeps its setting."""

    def __init__(self, device: "Device", level: str, index: int) -> None:
        self._device, self.level, self.index = device, level, index

    def set(self, **settings: Any) -> Self:
        """Set at once what is named, by the keys of a scenario: a queue's `rate`, `burst`, `limit_packets`, `limit_bytes`, `aqm`,
        `traffic_class` and `weight`; `rate`, `burst`, `node` and `weight` of a subscriber; `rate`, `burst` and `port` of a node; `rate` and
        `burst` of a port. Raises UserError."""
        self._device.write_all(self._device.setup.writes(self.level, self.index, settings))
        return self

    def counters(self) -> dict[str, int]:
        """Return a queue's own counters in the device (packets and bytes in, out, dropped, dropped by the AQM; packets marked)."""
        if self.level != "queue":
            raise UserError(f"{self.level}({self.index}) has no counters of its own in the device; queues have")
        return self._device.snapshot(self.index)


class Device:
    """A device held open. Its clock stands until the first frame is sent or time is advanced; what is set before holds from time 0."""

    def __init__(self, setup: Setup, engine: str, assertions: bool = False) -> None:
        """Build the device unless it is there already. `engine` is `rtl` or `model`. Raises UserError, penstock.errors.ToolError."""
        from penstock.command_line.console import spinner
        from penstock.engine import engine as native
        from penstock.hardware import verilate

        self.setup, self.config = setup, setup.config
        with spinner() as report:
            native.build(report)
            library = str(verilate.build_device(setup.config, report, assertions=assertions)) if engine == "rtl" else None
        self._session = self._do(native.module().Session, setup.job(library))
        self._result: dict[str, Any] | None = None
        self.write_all(setup.first_writes())

    # ---- settings and registers

    def queue(self, index: int) -> Member:
        """Return queue `index`, 0 and more. Raises UserError for one that the device does not have."""
        return self._member("queue", index)

    def subscriber(self, index: int) -> Member:
        """Return a subscriber of a device with a hierarchy. Raises UserError."""
        return self._member("subscriber", index)

    def node(self, index: int) -> Member:
        """Return an access node. Raises UserError."""
        return self._member("node", index)

    def port(self, index: int) -> Member:
        """Return a port. Raises UserError."""
        return self._member("port", index)

    def _member(self, level: str, index: int) -> Member:
        self.setup.check_index(level, index)
        return Member(self, level, index)

    def write(self, register: str, value: int) -> None:
        """Write a register by its name in docs/registers.md. Done before the next read. Raises UserError for an unknown one."""
        self.write_all([(self._address(register), value)])

    def read(self, register: str) -> int:
        """Read a register of 4 or 8 bytes by its name. The clock goes on for some cycles meanwhile. Raises UserError."""
        address = self._address(register)
        value: int = self._do(self._session.read, address)
        if registers.table()[register]["bytes"] == 8:
            value |= self._do(self._session.read, address + 4) << 32
        return value

    def write_all(self, writes: Iterable[tuple[int, int]]) -> None:
        """Write registers by (address, value), in order."""
        for address, value in writes:
            self._do(self._session.write, address, value)

    def snapshot(self, queue: int) -> dict[str, int]:
        """Return the counters of one queue, all of one moment."""
        self.write("queue_index", queue)
        self.write("queue_command", registers.COMMAND_SNAPSHOT)
        for _ in range(SNAPSHOT_READS):
            if not self.read("status") & registers.STATUS_BUSY:
                break
        names = ("in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes")
        manages = ("aqm_drop_packets", "aqm_drop_bytes", "mark_packets") if self.config.aqm != "none" else ()
        return {name: self.read(name) for name in (*names, *manages)}

    @staticmethod
    def _address(register: str) -> int:
        if register not in registers.table():
            raise UserError(f"the device has no register {register!r}; docs/registers.md lists them")
        return registers.address(register)

    # ---- frames and time

    @property
    def now_cycles(self) -> int:
        """The time in cycles of the device's clock."""
        return int(self._session.now)

    @property
    def now_ns(self) -> float:
        """The time in nanoseconds."""
        return self.now_cycles * 1e9 / self.config.clock_hz

    def send(self, frame: SupportsBytes | bytes, queue: int, at: str | int | None = None, error: bool = False) -> int:
        """Let a frame arrive at the device for `queue`; return its number, by which it is known when it leaves.

        `frame` is bytes without FCS, or what `bytes()` makes such of (a Scapy packet). It arrives now, or at a later time `at` ("3 ms", or
        cycles of the clock); frames may be sent in any order of their times. `error`: damaged on the way. The device answers for bad frames
        as hardware does: it drops and counts them. Raises UserError.
        """
        data = bytes(frame)
        if len(data) > MAX_FRAME_BYTES:
            raise UserError(f"a frame has at most {MAX_FRAME_BYTES:,} byte, not {len(data):,}")
        self._check_queue(queue)
        self._start()
        return int(self._do(self._session.offer, self._cycle(at), queue, data, error))

    def send_all(self, frames: Iterable[SupportsBytes | bytes], queues: Iterable[int], cycles: Iterable[int] | None = None) -> range:
        """Send many frames at once; return their numbers. `queues` has an element for each, and so has `cycles`, the times of their arrival
        in cycles of the clock (all of them now, one behind the other on the line, unless given). Raises UserError."""
        data = [bytes(frame) for frame in frames]
        to = np.asarray(list(queues), dtype=np.int64)
        if not data:
            return range(0)
        self._start()
        at = np.full(len(data), self.now_cycles) if cycles is None else np.asarray(list(cycles), dtype=np.int64)
        if len(to) != len(data) or len(at) != len(data):
            raise UserError(f"there are {len(data):,} frames, {len(to):,} queues and {len(at):,} times; each frame needs one of each")
        for queue in (int(to.min()), int(to.max())):
            self._check_queue(queue)
        if at.min() < self.now_cycles:
            raise UserError(f"a frame cannot arrive at cycle {at.min():,}: it is cycle {self.now_cycles:,} already")
        if max(map(len, data)) > MAX_FRAME_BYTES:
            raise UserError(f"a frame has at most {MAX_FRAME_BYTES:,} byte, not {max(map(len, data)):,}")
        offsets = np.cumsum([0, *map(len, data)], dtype=np.int64)
        joined = np.frombuffer(b"".join(data) + b"\0", dtype=np.uint8)
        first = self._do(self._session.offer_many, at, to.astype(np.uint32), offsets, joined)
        return range(first, first + len(data))

    def advance(self, time: str | None = None, *, cycles: int | None = None) -> None:
        """Let time pass: "10 ms", or so many cycles of the clock. Raises UserError, Fault; KeyboardInterrupt leaves the device usable."""
        if (time is None) == (cycles is None):
            raise UserError('advance() needs a time such as "10 ms", or cycles=')
        self._start()
        self._do(self._session.advance, self.now_cycles + self._span(cycles if time is None else time))

    def drain(self, at_most: str | int = "1 s") -> bool:
        """Let time pass until the device is empty and all that was sent has arrived, but no longer than `at_most`. Return whether it is."""
        self._start()
        self._do(self._session.advance, self.now_cycles + self._span(at_most), until_empty=True)
        return bool(self.totals()["packets"]["queued"] == 0)

    def received(self) -> Received:
        """Return the frames that have left since the last call."""
        return Received(self._session.take_left(), self.config.clock_hz)

    def dropped(self) -> Dropped:
        """Return the frames that were dropped since the last call."""
        return Dropped(self._session.take_dropped(), self.config.clock_hz)

    def totals(self) -> dict[str, Any]:
        """Return `packets` and `bytes` so far ({in, out, queued, dropped: {reason: n}}), `marked_packets`, and what went wrong (errors,
        `findings` in words: nothing, on a device that works)."""
        return dict(self._session.totals())

    # ---- the end

    def end(self) -> dict[str, Any]:
        """End the session and return its result, with what the device itself has counted compared with what was seen. Raises Fault if
        anything is wrong. Called again it returns the same."""
        if self._result is None:
            self._result = dict(self._do(self._session.end))
            if self._result["findings"] or not self._result["conservation_ok"]:
                raise Fault("; ".join(self._result["findings"]) or "packets or bytes are not conserved")
        return self._result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.end()

    def _start(self) -> None:
        if not self._session.started:
            self._do(self._session.start)

    def _check_queue(self, queue: int) -> None:
        if not 0 <= queue < 1 << 32:
            raise UserError(f"a frame's queue is a number of 32 bits, not {queue:,}")

    def _span(self, time: str | int) -> int:
        """Return a time in cycles, rounded down."""
        cycles = time if isinstance(time, int) else self._parsed(time)
        if not 0 <= cycles <= MAX_CYCLES - self.now_cycles:
            most = format_time_ns((MAX_CYCLES - self.now_cycles) * 1e9 / self.config.clock_hz)
            raise UserError(f"time goes on from here by 0 to {most}, not by {time!r}")
        return cycles

    def _cycle(self, at: str | int | None) -> int:
        """Return the cycle of a time of arrival."""
        if at is None:
            return self.now_cycles
        cycle = at if isinstance(at, int) else self._parsed(at)
        if not self.now_cycles <= cycle < MAX_CYCLES:
            raise UserError(f"a frame cannot arrive at {at!r}: it is {format_time_ns(self.now_ns)} already")
        return cycle

    def _parsed(self, time: str) -> int:
        try:
            return parse_time(time) * self.config.clock_hz // PS_PER_SECOND
        except ValueError as error:
            raise UserError(f"the time {error}") from None

    @staticmethod
    def _do(function: Any, *args: Any, **keys: Any) -> Any:
        """Call the engine; what it refuses is the user's to mend, what it finds is the device's."""
        try:
            return function(*args, **keys)
        except ValueError as error:
            raise UserError(str(error)) from error
        except RuntimeError as error:
            raise Fault(str(error)) from error


def open(config: str | Mapping[str, Any], *, engine: Literal["rtl", "model"] = "model", assertions: bool = False, **setup: Any) -> Device:
    """Open a device and return it; use it in a `with`, which ends it and raises Fault if it did anything wrong.

    `config` is the name of a configuration (`demo_64`; designs/access_edge/configs.yaml has them all), or what a scenario says under
    `device`.
    `engine`: `model`, fast, or `rtl`, the hardware itself, which takes a minute or more to build the first time (`assertions`: with those
    in the sources). `setup` has the keys of a scenario that say what the device is and how it is set: `seed`, `link`, `defaults`, `queues`,
    `subscribers`, `nodes`, `ports`. Raises UserError.
    """
    from penstock.engine.run import check_engine

    check_engine(engine)
    device = {"config": config} if isinstance(config, str) else dict(config)
    return Device(Setup({"device": device} | setup), engine, assertions)
