"""An access edge held open, for notebooks and tests of one's own: queues and parents that are set, frames for queues.

Everything that a scenario says of a device can be said here, in the same words and units (docs/scenario-access-edge.md), and is checked
by the same code.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self, SupportsBytes

import numpy as np

from penstock.designs.access_edge import find, registers
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.matches import key_of, match_of
from penstock.designs.access_edge.setup import Setup
from penstock.designs.access_edge.subscribers import ANY_QUEUE
from penstock.errors import UserError
from penstock.library import values
from penstock.library.device import MAX_FRAME_BYTES, Device, built

STATUS_READS = 10_000  # of the status, until a command is done


class Member:
    """A queue, subscriber, node or port of a device, to be set. What is not named keeps its setting."""

    def __init__(self, device: "AccessEdgeDevice", level: str, index: int) -> None:
        self._device, self.level, self.index = device, level, index

    def set(self, **settings: Any) -> Self:
        """Set at once what is named, by the keys of a scenario: a queue's `rate`, `burst`, `limit_packets`, `limit_bytes`, `aqm`,
        `traffic_class`, `weight` and `guarantee`; `rate`, `burst`, `node`, `weight` and `guarantee` of a subscriber; `rate`, `burst` and
        `port` of a node; `rate` and `burst` of a port. Of a device that finds queues in headers a subscriber has a `match`, or a list of
        them, and without a hierarchy `queues`: one that has others moves. Raises UserError."""
        self._device.change(self.level, self.index, settings)
        return self

    def remove(self) -> None:
        """Let a subscriber's frames be those of nobody: its matches lead to no queue any more. Its queues keep what they hold and their
        settings. Raises UserError."""
        if self.level != "subscriber":
            raise UserError(f"{self.level}({self.index}) cannot be removed; subscribers that are found in headers can")
        self._device.write_all(self._device.setup.removal(self.index))

    def counters(self) -> dict[str, int]:
        """Return a queue's own counters in the device (packets and bytes in, out, dropped, dropped by the AQM; packets marked)."""
        if self.level != "queue":
            raise UserError(f"{self.level}({self.index}) has no counters of its own in the device; queues have")
        return self._device.snapshot(self.index)


class AccessEdgeDevice(Device):
    """An access edge held open."""

    config: Config

    def __init__(self, setup: Setup, engine: str, assertions: bool = False) -> None:
        """Build the device unless it is there already. `engine` is `rtl` or `model`. Raises UserError, penstock.errors.ToolError."""
        super().__init__(setup.config, setup.job(built(setup.config, engine, assertions)))
        self.setup = setup
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
        number = values.whole(index, f"{level}()")
        self.setup.check_index(level, number)
        return Member(self, level, number)

    def write(self, register: str, value: int) -> None:
        """Write a register by its name in docs/registers.md. Done before the next read. Raises UserError for an unknown one."""
        self.write_all([(self._address(register), values.word(value, f"register {register}"))])

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

    def change(self, level: str, index: int, settings: Mapping[str, Any]) -> None:
        """Set a member. Raises UserError."""
        before = self.setup.matches(index) if level == "subscriber" else ()
        self.write_all(self.setup.writes(level, index, settings))
        if level != "subscriber" or "match" not in settings or not self._session.started:
            return
        self._await_command()
        if self.read("find_keys") < self.setup.keys:
            self.write_all(self.setup.put_back(index, before))
            raise UserError(f"subscriber({index}).match: the device finds no place for this key among the others, so nothing is changed")

    def snapshot(self, queue: int) -> dict[str, int]:
        """Return the counters of one queue, all of one moment."""
        self.write("queue_index", queue)
        self.write("queue_command", registers.COMMAND_SNAPSHOT)
        self._await_command()
        names = ("in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes")
        manages = ("aqm_drop_packets", "aqm_drop_bytes", "mark_packets") if self.config.aqm != "none" else ()
        return {name: self.read(name) for name in (*names, *manages)}

    def _await_command(self) -> None:
        for _ in range(STATUS_READS):
            if not self.read("status") & registers.STATUS_BUSY:
                break

    def headers(self) -> dict[str, Any]:
        """Return what the device has counted of headers, as a result's `headers`: `hits` and `misses` by profile, frames that no profile
        fits, and why reading ended. Raises UserError where it does not find queues in headers."""
        kinds = self.setup.kinds
        if kinds is None:
            raise UserError(f"configuration {self.config.name} does not find queues in headers")

        def count(of: str, index: int) -> int:
            self.write("find_item", find.counter(of, index))
            return self.read("find_count")

        return {
            "profiles": [{"match": kind, "hits": count("hit", i), "misses": count("miss", i)} for i, kind in enumerate(kinds)],
            "without_profile": count("none", 0),
            "reading_ended": {name: count("ending", i) for i, name in enumerate(find.ENDINGS)},
        }

    def found_by(self, match: Mapping[str, Any]) -> tuple[int, int] | None:
        """Return what a match leads to in the device's own table: the queue of class 0 and the last class; None if its key is not there.
        Prefixes cannot be read. Raises UserError."""
        if self.setup.kinds is None:
            raise UserError(f"configuration {self.config.name} does not find queues in headers")
        self._await_command()
        self.write_all(find.read(key_of(match_of(match, ("match",)))))
        self._await_command()
        if self.read("status") & registers.STATUS_REFUSED:  # there is no such key
            return None
        value = self.read("find_read")
        return value & (1 << 28) - 1, value >> 28

    @staticmethod
    def _address(register: str) -> int:
        if register not in registers.table():
            raise UserError(f"the device has no register {register!r}; docs/registers.md lists them")
        return registers.address(register)

    # ---- frames

    def send(self, frame: SupportsBytes | bytes, queue: int | None = None, at: str | int | None = None, error: bool = False) -> int:
        """Let a frame arrive at the device for `queue`; return its number, by which it is known when it leaves. Where queues are found in
        headers the device says for which, and a `queue` that is given is the one that it must find.

        `frame` is bytes without FCS, or what `bytes()` makes such of (a Scapy packet). It arrives now, or at a later time `at` ("3 ms", or
        cycles of the clock); frames may be sent in any order of their times. `error`: damaged on the way. The device answers for bad frames
        as hardware does: it drops and counts them. Raises UserError.
        """
        return self._offer(frame, self._any_queue() if queue is None else values.word(queue, "a frame's queue"), at, error)

    def _any_queue(self) -> int:
        if self.config.headers is None:
            raise UserError(f"a frame needs its queue: configuration {self.config.name} does not find it in headers")
        return ANY_QUEUE

    def send_all(
        self, frames: Iterable[SupportsBytes | bytes], queues: Iterable[int] | None = None, cycles: Iterable[int] | None = None
    ) -> range:
        """Send many frames at once; return their numbers. `queues` has an element for each, as with `send`, and none are needed where the
        device finds them in headers. `cycles` has the times of their arrival in cycles of the clock (all of them now, one behind the other
        on the line, unless given). Raises UserError."""
        data = [values.data(frame) for frame in frames]
        to = np.full(len(data), self._any_queue()) if queues is None else values.wholes(queues, "queues")
        if not data:
            return range(0)
        self._start()
        at = np.full(len(data), self.now_cycles) if cycles is None else values.wholes(cycles, "cycles")
        if len(to) != len(data) or len(at) != len(data):
            raise UserError(f"there are {len(data):,} frames, {len(to):,} queues and {len(at):,} times; each frame needs one of each")
        for queue in (int(to.min()), int(to.max())):
            values.word(queue, "a frame's queue")
        if at.min() < self.now_cycles:
            raise UserError(f"a frame cannot arrive at cycle {at.min():,}: it is cycle {self.now_cycles:,} already")
        if max(map(len, data)) > MAX_FRAME_BYTES:
            raise UserError(f"a frame has at most {MAX_FRAME_BYTES:,} byte, not {max(map(len, data)):,}")
        offsets = np.cumsum([0, *map(len, data)], dtype=np.int64)
        joined = np.frombuffer(b"".join(data) + b"\0", dtype=np.uint8)
        first = self._do(self._session.offer_many, at, to.astype(np.uint32), offsets, joined)
        return range(first, first + len(data))
