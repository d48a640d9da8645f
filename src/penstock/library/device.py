"""A device held open: what holds for every design. Designs add how frames are sent and how the device is set.

What is wrong raises `penstock.UserError`, a sentence that names the value.
"""

from types import TracebackType
from typing import Any, Self, SupportsBytes

from penstock.basics.units import PS_PER_SECOND, format_time_ns, parse_time
from penstock.designs.design import Configuration
from penstock.errors import UserError
from penstock.library import values
from penstock.library.records import Dropped, Received
from penstock.scenarios.traffic import MAX_CYCLES
from penstock.scenarios.traffic import MAX_ENGINE_BYTES as MAX_FRAME_BYTES


class Fault(RuntimeError):
    """The device did something that it must not do: lost, changed or reordered a frame, miscounted, or broke a protocol."""


class Device:
    """A device held open. Its clock stands until the first frame is sent or time is advanced; what is set before holds from time 0."""

    def __init__(self, config: Configuration, job: dict[str, Any]) -> None:
        """`job`: settings of an engine's session. Raises UserError, Fault."""
        from penstock.engine import engine as native

        self.config = config
        self._session = self._do(native.module().Session, job)
        self._result: dict[str, Any] | None = None

    @property
    def now_cycles(self) -> int:
        """The time in cycles of the device's clock."""
        return int(self._session.now)

    @property
    def now_ns(self) -> float:
        """The time in nanoseconds."""
        return self.now_cycles * 1e9 / self.config.clock_hz

    def _offer(self, frame: SupportsBytes | bytes, queue: int, at: str | int | None, error: bool, port: int = 0) -> int:
        """Let a frame arrive at an input; return its number."""
        data = values.data(frame)
        if len(data) > MAX_FRAME_BYTES:
            raise UserError(f"a frame has at most {MAX_FRAME_BYTES:,} byte, not {len(data):,}")
        self._start()
        return int(self._do(self._session.offer, self._cycle(at), queue, data, error, port))

    def advance(self, time: str | None = None, *, cycles: int | None = None) -> None:
        """Let time pass: "10 ms", or so many cycles of the clock. Raises UserError, Fault; KeyboardInterrupt leaves the device usable."""
        span = cycles if time is None else time
        if span is None or (time is not None and cycles is not None):
            raise UserError('advance() needs a time such as "10 ms", or cycles=')
        self._start()
        self._do(self._session.advance, self.now_cycles + self._span(span))

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
        return Dropped(self._session.take_dropped(), self.config.clock_hz, self._session.drop_reasons)

    def totals(self) -> dict[str, Any]:
        """Return `packets` and `bytes` so far ({in, out, queued, dropped: {reason: n}}), `marked_packets` where it may
        mark, `ingress_lost` (`packets` and `bytes` that found `link.ingress_fifo` full: they are in no other count), and what went wrong
        (errors, `findings` in words: nothing, on a device that works)."""
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


def built(config: Configuration, engine: str, assertions: bool) -> str | None:
    """Build the engine and, for `rtl`, the device, unless they are there; return its library, None: the model. Raises ToolError."""
    from penstock.command_line.console import spinner
    from penstock.engine import engine as native
    from penstock.hardware import verilate

    with spinner() as report:
        native.build(report)
        return str(verilate.build_device(config, report, assertions=assertions)) if engine == "rtl" else None
