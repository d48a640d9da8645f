"""Counters of all queues, read again and again: what the services, the page and Prometheus show.

The device counts by queue since its reset. A queue's counters here begin where its subscriber came; and what is added up by node, port and
class goes on growing whoever comes, moves and goes. Both survive a restart of the server, and a reset of the device.
"""

import contextlib
import io
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import busiest, memory
from penstock.designs.access_edge.control import found as headers
from penstock.designs.access_edge.control.facts import Facts
from penstock.designs.access_edge.control.history import History
from penstock.designs.access_edge.control.plant import NONE, Plant
from penstock.driver.carrier import READ, TIME, WAIT, WRITE, Carrier, CarrierError

COLUMNS = (
    "in_packets", "in_bytes", "out_packets", "out_bytes", "dropped_packets", "dropped_bytes", "aqm_dropped_packets", "aqm_dropped_bytes",
    "marked_packets",
)  # fmt: skip
IN_P, IN_B, OUT_P, OUT_B, DROP_P, DROP_B, AQM_P, AQM_B, MARK_P = range(len(COLUMNS))
_REGISTERS = (
    "in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes", "aqm_drop_packets", "aqm_drop_bytes",
    "mark_packets",
)  # fmt: skip
LOG = logging.getLogger("penstock.control")
WRAP_SHIFT = 8  # a counter that has fallen has wrapped if it is at most this part (2^-8) of its range further than it was
LEVELS = ("device", "node", "port", "class")
AT_ONCE = 256  # queues of a program; what else wants the registers comes in between two of them
# So long, and as long again as it has read itself, a sweep waits for streams that set many up, which then have processor and device for
# themselves: however many there are, it takes twice its time and that.
PATIENCE_SECONDS = 1.0
SCAN_SECONDS = 0.5  # from one scan for the busiest queues to the next, at least; in a sweep that takes longer about so long
KEEP_SECONDS = 10.0  # from one time that counters are made durable to the next
Counts = NDArray[np.uint64]
_WIDTHS: Counts = np.array([registers.table()[name]["fields"]["value"][1] for name in _REGISTERS], dtype=np.uint64)  # bits
_MASKS: Counts = np.uint64(0xFFFF_FFFF_FFFF_FFFF) >> np.uint64(64) - _WIDTHS


def snapshots(carrier: Carrier, facts: Facts, queues: NDArray[np.int64]) -> tuple[Counts, NDArray[np.int64], NDArray[np.int64]]:
    """Return the counters of some queues, a row of COLUMNS each, the time of each in ns of the device's clock, and how long its first
    packet has been there, in ns (0 without one; `facts.sojourn` says whether the device can tell). What is of a queue is of one moment.
    Raises CarrierError."""
    others = ("head_sojourn",) if facts.sojourn else ()
    found, times, more = _snapshots(carrier, facts, {"queue_index": queues}, registers.COMMAND_SNAPSHOT, others)
    heads = more[:, 0] * np.uint64(1_000_000_000) // np.uint64(facts.clock_hz) if facts.sojourn else np.zeros(len(queues))
    return found, times, heads.astype(np.int64)


def snapshots_of_nodes(
    carrier: Carrier, facts: Facts, nodes: NDArray[np.int64], classes: NDArray[np.int64]
) -> tuple[Counts, NDArray[np.int64]]:
    """Return the counters of classes at nodes, a row of COLUMNS for each pair (`facts.node_counters`), and the time of each in ns of
    the device's clock. Raises CarrierError."""
    return _snapshots(carrier, facts, {"node_index": nodes, "node_class": classes}, registers.COMMAND_SNAPSHOT_NODE, ())[:2]


def _snapshots(
    carrier: Carrier, facts: Facts, of: dict[str, NDArray[np.int64]], command: int, others: tuple[str, ...]
) -> tuple[Counts, NDArray[np.int64], Counts]:
    """Take a snapshot of each of what `of` names; return its counters, its time, and what the registers in `others` show."""
    names, count = _REGISTERS if facts.aqm != "none" else _REGISTERS[:AQM_P], len(next(iter(of.values())))
    addresses = [registers.address(name) + half for name in names for half in (0, 4)] + [registers.address(name) for name in others]
    one = [
        *([WRITE, registers.address(name), 0, 0] for name in of),
        [WRITE, registers.address("queue_command"), command, 0],
        [WAIT, registers.address("status"), 0, registers.STATUS_BUSY],
        [TIME, 0, 0, 0],
        *([READ, address, 0, 0] for address in addresses),
    ]
    program = np.tile(np.array(one, dtype=np.uint32), (count, 1))
    for number, values in enumerate(of.values()):
        program[number :: len(one), 2] = values
    answers = carrier.run(program, len(one)).astype(np.uint64).reshape(count, 2 + len(addresses))
    times, words = (answers[:, 0] | answers[:, 1] << np.uint64(32)).astype(np.int64), answers[:, 2:]
    halves = words[:, : 2 * len(names)].reshape(count, len(names), 2)
    found = np.zeros((count, len(COLUMNS)), dtype=np.uint64)
    found[:, : len(names)] = halves[:, :, 0] | halves[:, :, 1] << np.uint64(32)
    return found, times, words[:, 2 * len(names) :]


def reasons(carrier: Carrier) -> tuple[dict[str, tuple[int, int]], int]:
    """Return packets and bytes that the device has dropped, by reason, and when, in ns of its clock. Raises CarrierError."""
    names = list(registers.contract()["reasons"])
    addresses = [at + half for name in names for at in registers.drop_addresses(name) for half in (0, 4)]
    program = [[TIME, 0, 0, 0], *([READ, address, 0, 0] for address in addresses)]
    words = carrier.run(np.array(program, dtype=np.uint32)).tolist()
    at, *whole = [words[i] | words[i + 1] << 32 for i in range(0, len(words), 2)]
    return {name: (whole[2 * i], whole[2 * i + 1]) for i, name in enumerate(names)}, at


def counted(now: Counts, before: Counts) -> tuple[Counts, NDArray[np.bool_]]:
    """Return what was counted between two readings, rows of COLUMNS, and of each row whether the device was reset between them: any of its
    counters has fallen then. One that has wrapped has fallen, too, but from near its top, and stands little above 0."""
    change = (now - before) & _MASKS
    was_reset: NDArray[np.bool_] = np.asarray(((now < before) & (change > _MASKS >> np.uint64(WRAP_SHIFT))).any(axis=-1))
    return np.where(was_reset[..., None], now, change), was_reset


def _clock() -> float:
    return time.time()


def _sums(places: NDArray[Any], of: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the sum at each of `count` places."""
    return np.asarray(np.bincount(places, weights=of, minlength=count), dtype=np.float64)


def _waiting(raw: Counts, columns: tuple[int, int, int]) -> NDArray[np.int64]:
    """Return what came less what left and what the AQM has dropped; of these three each may have wrapped."""
    came, left, dropped = columns
    above = np.uint64(64) - _WIDTHS[came]
    return ((raw[:, came] - raw[:, left] - raw[:, dropped]) << above).astype(np.int64) >> above.astype(np.int64)


@dataclass(frozen=True)
class Sums:
    """Counters of all queues below something, in the order of COLUMNS, and what is queued there and leaves now."""

    counts: list[int]
    queued_packets: int
    queued_bytes: int
    rate_bps: int


class Sweep:
    """Reads the counters of all queues that have a subscriber, in a thread of its own. Its arrays are of the last look at each queue."""

    def __init__(self, plant: Plant, pause_seconds: float = 0.5) -> None:
        """`pause_seconds`: between two sweeps, at least; and a sweep takes at most half of the time."""
        self._plant, self._pause = plant, pause_seconds
        queues, hierarchy = plant.facts.queues, plant.facts.hierarchy
        self.counts: Counts = np.zeros((queues, len(COLUMNS)), dtype=np.uint64)  # since the subscriber came
        self.queued: NDArray[np.int64] = np.zeros((queues, 2), dtype=np.int64)  # packets and bytes
        self.rates: NDArray[np.float64] = np.zeros(queues)  # bit/s of what left between the last two sweeps
        self.drops: NDArray[np.int64] = np.zeros(queues, dtype=np.int64)  # packets between the last two sweeps
        self.sojourn: NDArray[np.int64] = np.zeros(queues, dtype=np.int64)  # ns that the first packet has been there; 0: there is none
        self.at: NDArray[np.float64] = np.zeros(queues)  # time.monotonic() of the last look; 0: none yet
        self.reasons: dict[str, tuple[int, int]] = {}
        self.reason_rates: dict[str, float] = {}  # packets per second of the device's time, between the last two readings
        self.shares: memory.Shares | None = None  # of the packet memory; of a device whose classes share it
        self._reasons_at, self._drops_at = 0, 0.0  # of the last reading: ns of the device, and time.monotonic()
        self.finished_at = 0.0  # time.monotonic() of the last whole sweep
        self.error = ""
        self.clock: Callable[[], float] = _clock  # of the day, for the history
        self.number = 0  # of sweeps, also of those that failed
        self.whole = 0  # of those that have read all
        self.done = threading.Condition()  # told after each
        self._raw: Counts = np.zeros_like(self.counts)  # as the device has them
        self._of: NDArray[np.int64] = np.full(queues, NONE, dtype=np.int64)  # Plant.since at the last look
        self._swept: Counts = np.zeros_like(self.counts)  # `_raw` of the last sweep, which looks of single queues leave alone
        self._swept_of: NDArray[np.int64] = np.full(queues, NONE, dtype=np.int64)
        self._swept_at: NDArray[np.int64] = np.zeros(queues, dtype=np.int64)  # ns of the device
        self._kept_at = time.monotonic()
        self._began, self._waited = self._kept_at, 0.0  # of this sweep, and how long of that it has let streams go
        self._scanned_at = 0.0
        sizes = {
            "device": 1,
            "node": hierarchy.nodes if hierarchy else 0,
            "port": hierarchy.ports if hierarchy else 0,
            "class": registers.MAX_CLASS + 1,
        }
        self._sums = {level: np.zeros((sizes[level], len(COLUMNS)), dtype=np.uint64) for level in LEVELS}
        self._rates: dict[str, NDArray[np.float64]] = {level: np.zeros(sizes[level]) for level in LEVELS}
        self._queued = {level: np.zeros((sizes[level], 2), dtype=np.int64) for level in LEVELS}
        # Of a device that counts by node and class itself, the sums are its own: as it has them, and when they were read.
        shape = (hierarchy.nodes, hierarchy.classes, len(COLUMNS)) if hierarchy else (0, 0, 0)
        self._by_node: Counts | None = np.zeros(shape, dtype=np.uint64)  # None: what is kept does not tell
        self._by_node_times: NDArray[np.int64] = np.zeros(shape[:2], dtype=np.int64)  # ns of the device; 0: not read yet
        self._by_node_at, self._by_node_took = 0.0, 0.0  # time.monotonic() of the last reading; seconds that it took
        self.headers = headers.Found() if plant.facts.header_profiles else None
        kept = Path(f"{plant.intent.path}-history") if plant.intent.path else None
        self.history = History(plant.facts.subscribers, kept, plant.intent.seed())
        self._load()
        plant.before_kinds = self.look_at_headers  # profiles change what their counters are of
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweep", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and make the counters durable."""
        self._stop.set()
        self._thread.join()
        self._keep()

    def sums(self, level: str) -> list[Sums]:
        """Return the sums of a level (LEVELS), by index, as of the last sweep."""
        rows = zip(self._sums[level].tolist(), self._queued[level].tolist(), self._rates[level].tolist(), strict=True)
        return [Sums(counts, packets, size, int(rate)) for counts, (packets, size), rate in rows]

    @property
    def tells_sojourn(self) -> bool:
        """Return whether the device tells how long the first packet of a queue has been there."""
        return self._plant.facts.sojourn

    def age_ns(self) -> int | None:
        """Return how old the last whole sweep is, in ns; None before the first one."""
        return int((time.monotonic() - self.finished_at) * 1e9) if self.finished_at else None

    def owned(self) -> NDArray[np.int64]:
        """Return the queues that have a subscriber, by index."""
        return np.flatnonzero(self._is_owned())

    def _is_owned(self) -> NDArray[np.bool_]:
        """Return of each queue whether it has a subscriber."""
        return np.repeat(self.taken(), self._plant.facts.queues_per_subscriber)

    def taken(self) -> NDArray[np.bool_]:
        """Return of each place for a subscriber whether there is one."""
        return np.frombuffer(bytes(self._plant.taken), dtype=np.bool_)

    def look(self, queues: NDArray[np.int64], of_sweep: bool = False) -> NDArray[np.int64]:
        """Read the counters of some queues now; `of_sweep`: and their rates and drops since the last sweep. Return the time of each in ns
        of the device's clock. Raises CarrierError."""
        found = [np.zeros(0, dtype=np.int64)]
        for begin in range(0, len(queues), AT_ONCE):
            some = queues[begin : begin + AT_ONCE]
            with self.done:
                counts, times, self.sojourn[some] = snapshots(self._plant.carrier, self._plant.facts, some)
                self._take(some, counts, time.monotonic(), times, of_sweep)
            found.append(times)
        return np.concatenate(found)

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # what this thread is, for those who look at the process; of Linux
            Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("sweep")
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                self._once()
                if self.error:
                    LOG.info("Counters are read again.")
                self.error = ""
            except CarrierError as error:
                if str(error) != self.error:
                    LOG.warning("counters are not read: %s", error)
                self.error = str(error)
                self._plant.doubt()  # who knows what it has when it answers again: it may have been reset meanwhile
            except Exception as error:  # whatever it is: who reads counters must not wait for a thread that has ended
                self._failed(error)
            with self.done:
                self.number += 1
                self.done.notify_all()
            if time.monotonic() - self._kept_at > KEEP_SECONDS:
                self._let_streams_go()
                try:
                    self._keep()
                except Exception as error:
                    self._kept_at = time.monotonic()
                    self._failed(error)
            self._stop.wait(max(self._pause, time.monotonic() - began))

    def _failed(self, error: Exception) -> None:
        """Say once what went wrong, and go on: the next sweep begins anew."""
        words = f"counters are not read: {' '.join(str(error).split()) or 'no words'} ({type(error).__name__})"
        if words != self.error:
            LOG.error("%s", words)
            if os.environ.get("PENSTOCK_TRACEBACK"):
                traceback.print_exception(error)
        self.error = words

    def _once(self) -> None:
        if self._plant.stale:
            self._plant.restore()  # it answers again, or this fails, too
            LOG.info("The device has been set anew.")
        queues, self._began, self._waited = self.owned(), time.monotonic(), 0.0
        for begin in range(0, len(queues), AT_ONCE):
            self._let_streams_go()
            if self._stop.is_set():
                return
            self.look(queues[begin : begin + AT_ONCE], of_sweep=True)
            if time.monotonic() - max(self._began, self._scanned_at) > SCAN_SECONDS:
                self.find_busiest()
            if time.monotonic() - max(self._began, self._by_node_at) > max(SCAN_SECONDS, 4 * self._by_node_took):
                self.look_at_nodes()
            if time.monotonic() - max(self._began, self._drops_at) > SCAN_SECONDS:
                self.look_at_drops()
        self._let_streams_go()
        # Rates are of the time since the last of these: in a much shorter one a slow queue sends nothing, or a packet.
        since = time.monotonic() - max(self._scanned_at, self._by_node_at)
        self._stop.wait(max(0.0, min(SCAN_SECONDS, self._pause) - since))
        self.find_busiest()
        self._let_streams_go()
        self.look_at_nodes()
        self.look_at_headers()
        drops = self._read_drops()
        with self.done:  # sums and their parts are shown together
            self._take_drops(*drops)
            self._add_up(queues)
            self._note_history()
        self.whole += 1
        self.finished_at = time.monotonic()

    def _let_streams_go(self) -> None:
        """Wait while many subscribers are written at once, as long as this sweep has patience."""
        began = time.monotonic()
        self._plant.calm.wait(max(0.0, PATIENCE_SECONDS + began - self._began - 2 * self._waited))
        self._waited += time.monotonic() - began

    def find_busiest(self) -> None:
        """Have the device name its busiest queues, and look at these; no other one keeps a figure that is larger than it can be now. What
        comes from a rate of long ago is so forgotten, and the largest are right however long a sweep takes. Raises CarrierError."""
        facts = self._plant.facts
        if not facts.busiest:
            return
        sent, waiting = (busiest.scan(self._plant.carrier, facts, backlog=backlog) for backlog in (False, True))
        owned = self._is_owned()
        named = np.zeros_like(owned)
        for table in filter(None, (sent, waiting)):
            named[table.queues] = True
        self.look(np.flatnonzero(named & owned))
        with self.done:
            if sent:
                here, per_second = owned[sent.queues], 8.0 * facts.clock_hz / sent.window
                others = _without(owned, sent.queues)
                self.rates[others] = np.minimum(self.rates[others], sent.most_elsewhere * per_second)
                self.rates[sent.queues[here]] = sent.bytes[here] * per_second
            if waiting:  # beside it at most two frames of a queue are in the hierarchy
                others = _without(owned, waiting.queues)
                most = waiting.most_elsewhere + 2 * facts.max_frame_bytes
                self.queued[others, 1] = np.minimum(self.queued[others, 1], most)
        self._scanned_at = time.monotonic()

    def look_at_drops(self) -> None:
        """Read what the device has dropped, by reason, and how its classes share memory. Raises CarrierError."""
        found = self._read_drops()
        with self.done:
            self._take_drops(*found)

    def _read_drops(self) -> tuple[dict[str, tuple[int, int]], int, memory.Shares | None]:
        return *reasons(self._plant.carrier), memory.read(self._plant.carrier, self._plant.facts)

    def _take_drops(self, found: dict[str, tuple[int, int]], at: int, shares: memory.Shares | None) -> None:
        seconds = (at - self._reasons_at) / 1e9
        change = {name: packets - self.reasons.get(name, (0, 0))[0] for name, (packets, _) in found.items()}
        # Else this is the first reading, or the device was reset.
        known = self._reasons_at > 0 and seconds > 0 and min(change.values()) >= 0
        self.reason_rates = {name: count / seconds for name, count in change.items()} if known else {}
        self.reasons, self.shares = found, shares
        self._reasons_at, self._drops_at = at, time.monotonic()

    def packet_memory(self) -> memory.Memory:
        """Return how full the packet memory is, as of the last reading, and what the limits of now would fill."""
        return memory.of(self._plant, self.shares, self.sums("device")[0].queued_packets)

    def look_at_headers(self) -> None:
        """Read the counters of how queues were found in headers, where the device has them. Raises CarrierError."""
        if self.headers:
            with self._plant.lock, self.done:
                self.headers.take(*headers.read(self._plant.carrier), self._plant.keys.kinds)

    def look_at_nodes(self) -> None:
        """Read the counters by node and class, where the device has them: sums and rates of device, nodes, ports and classes. Raises
        CarrierError."""
        facts, hierarchy = self._plant.facts, self._plant.facts.hierarchy
        if not facts.node_counters or not hierarchy:
            return
        began, now = time.monotonic(), np.zeros((hierarchy.nodes, hierarchy.classes, len(COLUMNS)), dtype=np.uint64)
        times = np.zeros(now.shape[:2], dtype=np.int64)
        nodes, classes = (at.ravel().astype(np.int64) for at in np.indices(now.shape[:2]))
        for begin in range(0, len(nodes), AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            at = nodes[some], classes[some]
            now[at], times[at] = snapshots_of_nodes(self._plant.carrier, facts, *at)
        change, resets = counted(now, now if self._by_node is None else self._by_node)
        was_reset = resets.any()
        change = (now if was_reset else change).reshape(-1, len(COLUMNS))
        # Bytes and time are of the same two snapshots, and each node and class has its own.
        took = (times - self._by_node_times).ravel() / 1e9
        timed = not was_reset and self._by_node_times.all() and (took > 0).all()
        with self.done:
            for level, places in self._places(nodes.astype(np.int32), classes.astype(np.uint8)).items():
                np.add.at(self._sums[level], places, change)
                if timed:
                    self._rates[level] = _sums(places, 8.0 * change[:, OUT_B] / took, len(self._rates[level]))
            self._by_node, self._by_node_times = now, times
        self._by_node_at = time.monotonic()
        self._by_node_took = self._by_node_at - began

    def _take(self, queues: NDArray[np.int64], raw: Counts, now: float, device: NDArray[np.int64], of_sweep: bool) -> None:
        plant, each = self._plant, self._plant.facts.queues_per_subscriber
        since = plant.since[queues // each]
        node, classes = plant.node_of[queues // each], plant.codes.classes(plant.queue_code[queues])
        change, was_reset = counted(raw, self._raw[queues])
        self._swept_of[queues[was_reset]] = NONE
        came = since != self._of[queues]
        self.counts[queues] = np.where(came[:, None], 0, self.counts[queues] + change)
        known = since == self._swept_of[queues]
        if of_sweep:
            seconds = np.maximum(device - self._swept_at[queues], 1000) / 1e9
            swept = (raw - self._swept[queues]) & _MASKS
            self.rates[queues] = np.where(known, 8.0 * swept[:, OUT_B] / seconds, 0.0)
            self.drops[queues] = np.where(known, swept[:, DROP_P].astype(np.int64), 0)
            self._swept[queues], self._swept_of[queues], self._swept_at[queues] = raw, since, device
        else:
            self.rates[queues[~known]] = self.drops[queues[~known]] = 0
        self.queued[queues, 0] = _waiting(raw, (IN_P, OUT_P, AQM_P))
        self.queued[queues, 1] = _waiting(raw, (IN_B, OUT_B, AQM_B))
        self._raw[queues], self._of[queues], self.at[queues] = raw, since, now
        for level, at in self._places(node, classes).items():
            if len(self._sums[level]) and not plant.facts.node_counters:
                np.add.at(self._sums[level], at, change)

    def _places(self, node: NDArray[np.int32], classes: NDArray[np.uint8]) -> dict[str, NDArray[np.integer]]:
        return {"device": np.zeros(len(node), dtype=np.int64), "node": node, "port": self._plant.port_of[node], "class": classes}

    def _add_up(self, queues: NDArray[np.int64]) -> None:
        """What waits and how fast it goes, by level: of all queues, as they hang now."""
        plant = self._plant
        node = plant.node_of[queues // plant.facts.queues_per_subscriber]
        for level, at in self._places(node, plant.codes.classes(plant.queue_code[queues])).items():
            count = len(self._rates[level])
            if count and not plant.facts.node_counters:
                self._rates[level] = _sums(at, self.rates[queues], count)
            if count:
                columns = [np.bincount(at, weights=self.queued[queues, which], minlength=count) for which in (0, 1)]
                self._queued[level] = np.stack(columns, axis=1).astype(np.int64)

    def _note_history(self) -> None:
        """Let the history have this sweep: of subscribers of whom all queues were looked at since they came."""
        each = self._plant.facts.queues_per_subscriber
        since = self._plant.since
        looked = (self._of.reshape(-1, each) == since[:, None]).all(axis=1) & self.taken()
        sent, dropped, queued = (
            column.reshape(-1, each).sum(axis=1) for column in (self.counts[:, OUT_B], self.counts[:, DROP_P], self.queued[:, 1])
        )
        counted = sent, dropped, np.maximum(queued, 0)
        self.history.look(self.clock(), time.monotonic(), np.where(looked, since, NONE), counted)

    # ---- durable

    def _keep(self) -> None:
        file = io.BytesIO()
        with self.done:  # all of one moment: what is in a sum is not counted again after a restart
            rows = np.flatnonzero(self._of != NONE)
            values: dict[str, NDArray[Any]] = {"rows": rows, "of": self._of[rows], "raw": self._raw[rows], "counts": self.counts[rows]}
            values |= {f"sums_{level}": some.copy() for level, some in self._sums.items()}
            if self._by_node is not None:
                values["by_node"] = self._by_node
            values |= self.headers.arrays() if self.headers else {}
        np.savez_compressed(file, **values)  # type: ignore[arg-type]
        with self._plant.lock:
            self._plant.intent.keep("sweep", file.getvalue())
            self._plant.flush()
            self._plant.intent.checkpoint()
        self._kept_at = time.monotonic()

    def _load(self) -> None:
        kept = self._plant.intent.kept("sweep")
        if not kept:
            return
        with np.load(io.BytesIO(kept)) as found:
            rows = found["rows"]
            self._raw[rows] = found["raw"]
            if "of" in found:
                self._of[rows], self.counts[rows] = found["of"], found["counts"]
            else:  # of an earlier version
                self._of[rows], self.counts[rows] = 0, found["raw"] - found["base"]
            # A store of an earlier version does not tell for how many ports and classes it is: sums of others begin anew.
            by_node = found.get("by_node")
            fits = by_node is not None and self._by_node is not None and by_node.shape == self._by_node.shape
            self._by_node = by_node if fits else None
            if self.headers:
                self.headers.load(found)
            for level in LEVELS:
                if found[f"sums_{level}"].shape == self._sums[level].shape:
                    self._sums[level][:] = found[f"sums_{level}"]


def _without(owned: NDArray[np.bool_], queues: NDArray[np.int64]) -> NDArray[np.bool_]:
    others = owned.copy()
    others[queues] = False
    return others
