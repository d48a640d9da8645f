"""The intent and the device together: every change is checked whole, made durable, and then written to the device.

The order is what makes a crash harmless. A change that is not durable has not touched the device; one that is durable and has not reached
it is found by `restore` at the next start, which writes all that is intended.

Arrays say what is in force: for each queue the number of its settings, for each subscriber that of its shaper and its node. So what must be
taken back when the device refuses is known, and a restore is one program.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge.control.codes import Codes
from penstock.designs.access_edge.control.facts import Facts
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.problems import Code, Problem, invalid, missing
from penstock.designs.access_edge.control.programs import Program, Programs
from penstock.driver.carrier import Carrier, CarrierError
from penstock.v1 import common_pb2, subscribers_pb2, tree_pb2

Subscriber = subscribers_pb2.Subscriber
MAX_NAME = 128
MAX_BYTES = 16 << 10  # of a subscriber's message
NONE = -1  # a queue or subscriber that is not ours: it has what the device had before
AT_ONCE = 16_384  # subscribers that are written to store and device together


@dataclass
class Failure:
    """What became of an item that was not done."""

    item: int
    problem: Problem


@dataclass
class Done:
    """What became of some changes."""

    failures: list[Failure] = field(default_factory=list)
    subscribers: list[Subscriber] = field(default_factory=list)  # as they are now, in the order asked, without those that failed
    applied: common_pb2.Applied = field(default_factory=common_pb2.Applied)


class _Change(NamedTuple):
    """A subscriber as it shall be. `message` None: not there."""

    index: int
    message: Subscriber | None
    queues: tuple[int, ...]
    parent: int
    node: int


@dataclass
class _Batch:
    """Changes that go to store and device together, and what was before."""

    revision: int
    changes: dict[int, _Change] = field(default_factory=dict)
    before: dict[int, Subscriber | None] = field(default_factory=dict)
    since: dict[int, int] = field(default_factory=dict)  # Plant.since, as it was


_Arranged = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]  # places; codes, parents, nodes in force
Maker = Callable[[], Subscriber | str]
Note = Callable[[Done], None]


class Plant:
    """A device and what is intended for it. Its methods may be called from any thread; changes go one after the other."""

    def __init__(self, carrier: Carrier, facts: Facts, intent: Intent, line_bps: int | None = None) -> None:
        """`line_bps`: of the egress link, if it is known. Raises UserError, CarrierError."""
        self.carrier, self.facts, self.intent = carrier, facts, intent
        self.lock = threading.RLock()  # store, arrays, programs
        self.codes, self.programs = Codes(facts, line_bps), Programs(facts)
        each = facts.queues_per_subscriber
        tree = facts.hierarchy
        intent.bind(f"access edge, {facts.queues:,} queues, {each} a subscriber, {tree.nodes if tree else 0:,} nodes, {facts.aqm}")
        self.queue_code: NDArray[np.int32] = np.full(facts.queues, NONE, dtype=np.int32)
        self.parent_code: NDArray[np.int32] = np.full(facts.subscribers, NONE, dtype=np.int32)
        self.node_of: NDArray[np.int32] = np.zeros(facts.subscribers, dtype=np.int32)
        self.port_of: NDArray[np.int32] = np.zeros(tree.nodes if tree else 1, dtype=np.int32)
        self.index_of: dict[str, int] = {}
        self.name_of: dict[int, str] = {}
        self.version_of: dict[int, int] = {}
        self.since: NDArray[np.int64] = np.full(facts.subscribers, NONE, dtype=np.int64)  # the version that made it; 0: before this start
        self.nodes: dict[int, tree_pb2.Node] = {}
        self.ports: dict[int, tree_pb2.Port] = {}
        self.revision = intent.revision()
        self.log: Callable[[], object] = lambda: None  # called in the transaction of each change
        self.stale = False  # the device may not have what is intended: it did not answer when a change was taken back
        self._batch: _Batch | None = None  # that is being made
        self._retired = set(intent.retired())
        self.taken = bytearray(facts.subscribers)
        self._first_free = 0

    # ---- start

    def restore(self) -> common_pb2.Applied:
        """Read the intent and write all of it to the device. Raises CarrierError."""
        with self.lock:
            changes = {message.index: self._change(message, message.index) for message in self.intent.subscribers()}
            for change in changes.values():
                known = self.taken[change.index]
                self._name(change.index, change.message)
                if not known:
                    self.since[change.index] = 0
            self.nodes = {node.index: node for node in self.intent.nodes()}
            self.ports = {port.index: port for port in self.intent.ports()}
            changes |= {index: self._nothing(index) for index in self._retired - changes.keys()}
            self._arrange(changes)
            applied = common_pb2.Applied()
            for level, parents in (("port", self.ports), ("node", self.nodes)):
                for parent in parents.values():
                    self._write_parent(level, parent, applied)
            self._write(changes, applied)
            self.stale = False
            return applied

    # ---- subscribers

    def find(self, name: str, path: str = "name") -> int:
        """Return a subscriber's index. Raises Problem."""
        index = self.index_of.get(name)
        if index is None:
            raise missing(f"there is no subscriber {name[:MAX_NAME]!r}", path)
        return index

    def get(self, name: str) -> Subscriber:
        """Return a subscriber; in a maker of `change` with what those before it have made. Raises Problem."""
        with self.lock:
            index = self.find(name)
            change = self._batch.changes.get(index) if self._batch else None
            if change and change.message:
                copy = Subscriber()
                copy.CopyFrom(change.message)
                return copy
            return self.intent.get(index)

    def change(self, makers: Sequence[Maker], all_or_nothing: bool = True, note: Note | None = None) -> Done:
        """Do many changes. A maker returns the subscriber as it shall be, or the name of one to be deleted, and raises Problem; it is
        called with the lock held, in its turn, and sees what those before it have made. `note` is called in the last transaction, when all
        is known but what it costs.

        Raises Problem for the first item that is wrong, if it is all or nothing, and when the device does not do it: then nothing of the
        AT_ONCE items is changed that go to it together (all of them, if it is all or nothing).
        """
        done = Done()
        size = max(1, len(makers)) if all_or_nothing else AT_ONCE
        for begin in range(0, max(1, len(makers)), size):
            last = begin + size >= len(makers)
            self._change_some(begin, makers[begin : begin + size], all_or_nothing, done, note if last else None)
        return done

    def _change_some(self, begin: int, makers: Sequence[Maker], all_or_nothing: bool, done: Done, note: Note | None) -> None:
        with self.lock:
            batch = self._batch = _Batch(self.revision)
            made: list[Subscriber] = []
            try:
                with self.intent.transaction():
                    for number, make in enumerate(makers, begin):
                        try:
                            self._take(make, batch, made)
                        except Problem as problem:
                            if all_or_nothing:
                                raise problem.at(f"changes[{number}]" if len(makers) > 1 else "") from None
                            done.failures.append(Failure(number, problem))
                    self._store(batch)
                    done.subscribers.extend(made)
                    if note:
                        note(done)
                    self.log()
            except BaseException:
                self._rename_back(batch)
                raise
            finally:
                self._batch = None
            before = self._arranged(batch.changes)
            self._arrange(batch.changes)
            try:
                self._write(batch.changes, done.applied)
            except CarrierError as error:
                raise self._take_back(batch, before, str(error)) from None

    def _take(self, make: Maker, batch: _Batch, made: list[Subscriber]) -> None:
        """Add one change to a batch, and let its name be known. Raises Problem, and then nothing is changed."""
        wanted = make()
        if isinstance(wanted, str):
            change = self._nothing(self.find(wanted))
        else:
            known = self.index_of.get(wanted.name)
            if known is not None and wanted.HasField("index") and wanted.index != known:
                raise invalid(f"{wanted.name!r} has place {known:,} and keeps it, so it cannot be {wanted.index:,}", "index")
            change = self._change(wanted, self._place(wanted) if known is None else known)
            self.revision += 1
            wanted.index, wanted.version = change.index, self.revision
            made.append(wanted)
        if change.index not in batch.before:
            batch.since[change.index] = int(self.since[change.index])
            batch.before[change.index] = self.intent.get(change.index) if self.taken[change.index] else None
        self._name(change.index, change.message)
        batch.changes[change.index] = change

    def _place(self, wanted: Subscriber) -> int:
        """Return where a new subscriber goes. Raises Problem."""
        if not 1 <= len(wanted.name) <= MAX_NAME or not wanted.name.isprintable():
            raise invalid(f"must be 1 to {MAX_NAME} printable characters, not {wanted.name[:MAX_NAME]!r}", "name")
        if wanted.HasField("index"):
            index = wanted.index
            if index >= self.facts.subscribers:
                raise invalid(f"the device has places 0 to {self.facts.subscribers - 1:,}, not {index:,}", "index")
            if self.taken[index]:
                raise Problem(Code.ALREADY_EXISTS, f"place {index:,} has subscriber {self.name_of[index]!r}", "index")
            return index
        found = self.taken.find(0, self._first_free)
        if found < 0:
            raise Problem(Code.RESOURCE_EXHAUSTED, f"all {self.facts.subscribers:,} places of the device are taken", "name")
        self._first_free = found
        return found

    def _nothing(self, index: int) -> _Change:
        return _Change(index, None, (self.codes.drop_all,) * self.facts.queues_per_subscriber, NONE, 0)

    def check_size(self, message: Subscriber) -> None:
        """Raise Problem for a subscriber of more queues or bytes than one can have."""
        each = self.facts.queues_per_subscriber
        if len(message.queues) > each:
            raise invalid(f"the device has {each} a subscriber, not {len(message.queues)}", "queues")
        size = message.ByteSize()
        if size > MAX_BYTES:
            raise invalid(f"is a message of {size:,} byte, at most {MAX_BYTES:,} are allowed")

    def _change(self, message: Subscriber, index: int) -> _Change:
        """Return a subscriber as the device will have it. Raises Problem."""
        self.check_size(message)
        each, closed = self.facts.queues_per_subscriber, message.gate_closed
        known, numbers = self.codes.known(closed), []
        for queue in message.queues:
            found = known.get(queue.SerializeToString())
            if found is None:
                try:
                    found = self.codes.queue(queue, closed)
                except Problem as problem:
                    raise problem.at(f"queues[{len(numbers)}]") from None
            numbers.append(found)
        numbers += [self.codes.drop_all] * (each - len(numbers))
        parent, node = NONE, message.node
        if self.facts.hierarchy:
            if node >= self.facts.hierarchy.nodes:
                raise invalid(f"the device has nodes 0 to {self.facts.hierarchy.nodes - 1:,}, not {node:,}", "node")
            rate = message.rate_bps if message.HasField("rate_bps") else None
            parent = self.codes.parent(rate, message.burst_bytes, message.weight if message.HasField("weight") else 1)
        elif node or message.HasField("rate_bps") or message.HasField("weight") or message.HasField("burst_bytes"):
            raise invalid(
                "the device has no hierarchy: a subscriber has neither node, rate, burst nor weight; its queue has a rate", "node"
            )
        return _Change(index, message, tuple(numbers), parent, node)

    # ---- names, arrays, store

    def _name(self, index: int, message: Subscriber | None) -> None:
        """Let a place have this subscriber, or none."""
        old = self.name_of.pop(index, None)
        if old is not None:
            del self.index_of[old], self.version_of[index]
        if message is None:
            self.taken[index] = 0
            self._first_free = min(self._first_free, index)
        else:
            self.taken[index] = 1
            self.index_of[message.name], self.name_of[index], self.version_of[index] = index, message.name, message.version
            if old is None:
                self.since[index] = message.version

    def _rename_back(self, batch: _Batch) -> None:
        for index in batch.before:  # first all go: a name may have moved from one place to another
            self._name(index, None)
        for index, message in batch.before.items():
            if message:
                self._name(index, message)
        for index, since in batch.since.items():
            self.since[index] = since
        self.revision = batch.revision

    def _arranged(self, indices: Iterable[int]) -> _Arranged:
        """Return what is in force in some places."""
        ids = np.fromiter(indices, dtype=np.int64)
        return ids, self.queue_code.reshape(-1, self.facts.queues_per_subscriber)[ids], self.parent_code[ids], self.node_of[ids]

    def _arrange(self, changes: dict[int, _Change]) -> None:
        """Take changes for what is in force."""
        if changes:
            ids = np.fromiter(changes, dtype=np.int64)
            self.queue_code.reshape(-1, self.facts.queues_per_subscriber)[ids] = [change.queues for change in changes.values()]
            self.parent_code[ids] = [change.parent for change in changes.values()]
            self.node_of[ids] = [change.node for change in changes.values()]

    def _store(self, batch: _Batch) -> None:
        gone = [index for index, change in batch.changes.items() if change.message is None]
        there = [change.message for change in batch.changes.values() if change.message]
        self.intent.delete(gone)
        # A name that has moved from one place to another is given up before it is taken.
        self.intent.vacate(index for index, message in batch.before.items() if message and index not in gone)
        self.intent.put((m.index, m.name, m.node, m.version, m.SerializeToString()) for m in there)
        if self._retired:
            self.intent.occupy(m.index for m in there if m.index in self._retired)
            self._retired.difference_update(m.index for m in there)
        self._retired.update(gone)
        self.intent.set_revision(self.revision)

    def _take_back(self, batch: _Batch, arranged: _Arranged, reason: str) -> Problem:
        """The device has refused, or is gone: take the intent back, and what it did with it as well; return what to say."""
        began = time.monotonic()
        self._rename_back(batch)
        with self.intent.transaction():
            self.intent.delete(batch.before)
            old = [message for message in batch.before.values() if message]
            self.intent.put((m.index, m.name, m.node, m.version, m.SerializeToString()) for m in old)
            self.intent.occupy(m.index for m in old)
            self._retired.difference_update(m.index for m in old)
            self._retired.update(index for index, message in batch.before.items() if message is None)
            self.intent.set_revision(self.revision)
        # What had never been ours had settings that we do not know: it drops all now.
        rows = zip(*(part.tolist() for part in arranged), strict=True)
        back = {
            index: self._nothing(index) if NONE in codes else _Change(index, None, tuple(codes), parent, node)
            for index, codes, parent, node in rows
        }
        self._arrange(back)
        try:
            self._write(back, common_pb2.Applied())
        except CarrierError:
            self.stale = True
            return Problem(Code.UNAVAILABLE, f"{reason}; nothing of it is intended any more, and a restart sets the device when it answers")
        took = (time.monotonic() - began) * 1e3
        return Problem(
            Code.ABORTED, f"the device refused: {reason}; all was taken back, and a part was in force for at most {took:,.0f} ms"
        )

    # ---- the device

    def _write(self, changes: dict[int, _Change], applied: common_pb2.Applied) -> None:
        """Bring what is in force in some places to the device. Raises CarrierError."""
        if not changes:
            return
        each = self.facts.queues_per_subscriber
        indices = np.sort(np.fromiter(changes, dtype=np.uint32))
        queues = (indices[:, None] * np.uint32(each) + np.arange(each, dtype=np.uint32)).reshape(-1)
        ours = indices[self.parent_code[indices] != NONE]
        rows = self.codes.parent_rows(self.parent_code[ours])
        # Before their queues: a subscriber's limit holds when its queues get theirs.
        program = self.programs.subscribers(ours, rows, self.node_of[ours].astype(np.uint32))
        self._run(program.then(self.programs.queues(queues, self.codes.queue_rows(self.queue_code[queues]))), applied)
        applied.subscribers += len(indices)
        applied.queues += len(queues)

    def _run(self, program: Program, applied: common_pb2.Applied) -> None:
        """Do a program. Raises CarrierError."""
        begin = self.carrier.cycles()
        try:
            found = self.carrier.run(program.accesses)
        except CarrierError:
            self.programs.forget()
            raise
        if program.refused(found):
            self.programs.forget()
            raise CarrierError(f"{self.carrier.name}: the device has refused a command (status {int(found[-1]):#x})")
        applied.bus_writes += program.writes
        applied.device_cycles += max(0, self.carrier.cycles() - begin)

    # ---- nodes and ports

    def set_parent(self, level: str, wanted: Any) -> Any:
        """Set a node or port and return it with its version. Raises Problem."""
        tree = self.facts.hierarchy
        if tree is None:
            raise Problem(Code.FAILED_PRECONDITION, f"the device has no hierarchy, so there is no {level}")
        with self.lock:
            count = tree.nodes if level == "node" else tree.ports
            if wanted.index >= count:
                raise invalid(f"the device has {level}s 0 to {count - 1:,}, not {wanted.index:,}", "index")
            if len(wanted.name) > MAX_NAME or not (wanted.name.isprintable() and wanted.ByteSize() <= MAX_BYTES):
                raise invalid(f"must be at most {MAX_NAME} printable characters", "name")
            if level == "node" and wanted.port >= tree.ports:
                raise invalid(f"the device has ports 0 to {tree.ports - 1:,}, not {wanted.port:,}", "port")
            known = self.nodes if level == "node" else self.ports
            old: Any = known.get(wanted.index)
            check_version(wanted.version, old.version if old else 0, f"{level} {wanted.index}")
            self.codes.parent(wanted.rate_bps if wanted.HasField("rate_bps") else None, wanted.burst_bytes)
            wanted.version = self.revision + 1
            with self.intent.transaction():
                self.intent.put_parent(level, wanted.index, wanted.version, wanted.SerializeToString())
                self.intent.set_revision(wanted.version)
                self.log()
            self.revision = wanted.version
            known[wanted.index] = wanted
            try:
                self._write_parent(level, wanted, common_pb2.Applied())
            except CarrierError as error:
                raise Problem(Code.UNAVAILABLE, f"{error}; it is intended, and the device will be set when it answers again") from None
            return wanted

    def _write_parent(self, level: str, parent: Any, applied: common_pb2.Applied) -> None:
        number = self.codes.parent(parent.rate_bps if parent.HasField("rate_bps") else None, parent.burst_bytes)
        above = 0
        if level == "node":
            above = parent.port
            self.port_of[parent.index] = above
        (row,) = self.codes.parent_rows(np.array([number], dtype=np.int32))
        self._run(self.programs.parent(level, parent.index, row, above), applied)


def check_version(wanted: int, there: int, what: str) -> None:
    """Raise Problem unless the version that a request names is the one in force; 0 means whichever."""
    if wanted and wanted != there:
        raise Problem(Code.ABORTED, f"{what} has version {there}, not {wanted}: it was changed meanwhile", "version")
