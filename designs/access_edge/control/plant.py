"""The intent and the device together: every change is checked whole, made durable, and then written to the device.

The order is what makes a crash harmless. A change that is not durable has not touched the device; one that is durable and has not reached
it is found by `restore` at the next start, which writes all that is intended.

Arrays say what is in force: for each queue the number of its settings, for each subscriber that of its shaper and its node. So what must be
taken back when the device refuses is known, and a restore is one program.
"""

import bisect
import contextlib
import itertools
import logging
import re
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.codes import Codes
from penstock.designs.access_edge.control.facts import Facts, ask
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.keys import KeyProgram, Keys, Pairs
from penstock.designs.access_edge.control.plans import Plan, Plans, fill
from penstock.designs.access_edge.control.problems import Code, Problem, invalid, missing
from penstock.designs.access_edge.control.programs import Program, Programs, read_back
from penstock.designs.access_edge.control.waiting import Done, Entry, Failure, Maker, Once, Request, Waiting
from penstock.designs.access_edge.settings import flows
from penstock.driver.carrier import Carrier, CarrierError, reads
from penstock.v1 import common_pb2, headers_pb2, hierarchy_pb2, subscribers_pb2

LOG = logging.getLogger("penstock.control")
Subscriber = subscribers_pb2.Subscriber
MAX_NAME = 128
MAX_BYTES = 16 << 10  # of a subscriber's message, without the fields OF_SERVER
OF_SERVER = ("index", "version", "gate_closed")  # what is put into a message that was checked: at most 19 bytes
NONE = -1  # a queue or subscriber that is not ours: it has what the device had before
FEW = 16  # changes of a call that is done together with others; what is larger goes by itself
MOST_REMARKS = 1_000  # lines on what was not done that wait to be logged


class _Refused(CarrierError):
    """The device is there and has refused a command."""


class _Change(NamedTuple):
    """A subscriber as it shall be. `message` None: not there."""

    place: int
    message: Subscriber | None
    queues: tuple[int, ...]
    parent: int
    node: int
    keys: Pairs = ()


@dataclass
class Batch:
    """Changes of one request, and what was before."""

    revision: int
    changes: dict[int, _Change] = field(default_factory=dict)
    before: dict[int, Subscriber | None] = field(default_factory=dict)
    since: Any = field(default_factory=dict)  # Plant.since, as it was: by place, or an array in the order of `before`
    ident: str = ""  # of a request that is done once
    asked: list[tuple[Subscriber, int | None, int]] = field(default_factory=list)  # messages, and index and version as they were asked for
    keys: set[int] = field(default_factory=set)  # that a place had before, or has now

    def touched(self) -> set[int | str]:
        """Return places, names and request ids that it has to do with. What touches none of them does not depend on it."""
        found: set[int | str] = set(self.before)
        found.update(message.name for message in self.before.values() if message)
        found.update(change.message.name for change in self.changes.values() if change.message)
        found.update(f"\nkey {key}" for key in self.keys)
        return found | {f"\n{self.ident}"} if self.ident else found


class Plant:
    """A device and what is intended for it. Its methods may be called from any thread; changes go one after the other."""

    def __init__(
        self,
        carrier: Carrier,
        facts: Facts,
        intent: Intent,
        line_bps: int | None = None,
        headers: headers_pb2.HeaderSettings | None = None,
    ) -> None:
        """`line_bps`: of the egress link, if it is known; `headers`: how queues are found as long as nobody has said. Raises UserError,
        CarrierError."""
        self.carrier, self.facts, self.intent = carrier, facts, intent
        self.lock = threading.RLock()  # store, arrays, programs
        self.codes, self.programs = Codes(facts, line_bps), Programs(facts)
        each = facts.queues_per_subscriber
        hierarchy = facts.hierarchy
        nodes, ports, classes = (hierarchy.nodes, hierarchy.ports, hierarchy.classes) if hierarchy else (0, 0, 0)
        sizes = f"access edge, {facts.queues:,} queues, {each} a subscriber, {nodes:,} nodes, {facts.aqm}"
        intent.bind(f"{sizes}, {ports:,} ports, {classes:,} classes")
        self.queue_code: NDArray[np.int32] = np.full(facts.queues, NONE, dtype=np.int32)
        self.parent_code: NDArray[np.int32] = np.full(facts.subscribers, NONE, dtype=np.int32)
        self.node_of: NDArray[np.int32] = np.zeros(facts.subscribers, dtype=np.int32)
        self.port_of: NDArray[np.int32] = np.zeros(hierarchy.nodes if hierarchy else 1, dtype=np.int32)
        self.line_bps = line_bps
        # Rates of nodes and ports in bit/s as the device has them, whoever has set them; infinite: unlimited.
        self.limits_of = {"node": np.full(nodes, np.inf), "port": np.full(ports, np.inf)}
        self.index_of: dict[str, int] = {}
        self.name_of: dict[int, str] = {}
        self.version_of: NDArray[np.int64] = np.zeros(facts.subscribers, dtype=np.int64)  # 0: there is none
        self.since: NDArray[np.int64] = np.full(facts.subscribers, NONE, dtype=np.int64)  # the version that made it
        self.nodes: dict[int, hierarchy_pb2.Node] = {}
        self.ports: dict[int, hierarchy_pb2.Port] = {}
        self.plans = Plans()
        self.revision = intent.revision()
        self.keys = Keys(facts, headers)
        self.before_kinds: Callable[[], object] = lambda: None  # called before other kinds of matches are looked for
        self.pause: Callable[[], object] = lambda: None  # called where the calling thread is going to wait
        self.turn: Callable[[str], contextlib.AbstractContextManager[None]] = lambda client: contextlib.nullcontext()  # of a client
        self.calm = threading.Event()  # no stream sets many up now
        self.calm.set()
        self._streams, self._of_streams = 0, threading.Lock()  # that do
        self._of_thread = threading.local()  # `entry`: what it does, for the log
        self._remarks: deque[tuple[Entry, str]] = deque(maxlen=MOST_REMARKS)  # on what was not done, until the next transaction
        self.passed_over: list[str] = []  # what the last restore has not set, in words
        self._stale, self._losses = False, carrier.losses  # as in `stale`; and how often the device was lost before it was set
        self._batch: Batch | None = None  # that is being made
        self._retired = set(intent.retired())
        self.taken = bytearray(facts.subscribers)
        self._first_free = 0
        self._by_name: list[str] | None = None  # all names in order; None: to be sorted
        self._waiting = Waiting(self._do)

    @property
    def stale(self) -> bool:
        """Whether the device may not have what is intended: it did not do a change, or was lost and may have begun anew."""
        return self._stale or self._losses != self.carrier.losses

    def doubt(self) -> None:
        """The device may not have what is intended."""
        self._stale = True

    # ---- start

    def restore(self) -> common_pb2.Applied:
        """Read the intent and write all of it to the device. What was acknowledged is not refused here: a subscriber (a node, a port) that
        it cannot have stays in the store, drops all (is not set), and is named in `passed_over`. Raises CarrierError."""
        losses = self.carrier.losses
        if ask(self.carrier) != self.facts:  # asked before the lock: one that does not answer keeps nobody else waiting
            raise CarrierError(f"{self.carrier.name}: another device is there now, so the server must be started anew")
        with self.lock:
            self._stale, self._losses = True, losses
            self.programs.forget()
            self.passed_over = []
            self.plans.load(self.intent.plans())
            changes = dict(self._intended())
            there = {index: change.message.name for index, change in changes.items() if change.message}
            for index in [index for index, name in self.name_of.items() if there.get(index) != name]:
                self._name(index, None)
            for change in changes.values():
                self._name(change.place, change.message)
            for index, version in self.intent.came().items():
                if self.taken[index]:
                    self.since[index] = version
            self.nodes = {node.index: node for node in self.intent.nodes()}
            self.ports = {port.index: port for port in self.intent.ports()}
            kept: list[Any] = [*self.nodes.values(), *self.ports.values(), *self.plans.by_name.values()]
            parents = [one.version for one in kept]
            self.revision = max(itertools.chain([self.revision, int(self.version_of.max())], parents))
            self._retired = set(self.intent.retired())
            changes |= {index: self._nothing(index) for index in self._retired - changes.keys()}
            self._arrange(changes.values())
            self._restore_keys(changes)
            if self.facts.hierarchy:  # a node or port that nobody has set here is as the device has it
                found = self.read_back("node", range(self.facts.hierarchy.nodes), ["parent", "rate"])
                self.port_of[:] = found[:, 0]
                self.limits_of["node"][:] = self._rates(found[:, 1])
                self.limits_of["port"][:] = self._rates(self.read_back("port", range(self.facts.hierarchy.ports), ["rate"])[:, 0])
            applied = common_pb2.Applied()
            listed: list[tuple[str, hierarchy_pb2.Node | hierarchy_pb2.Port]] = [("port", port) for port in self.ports.values()]
            listed += [("node", node) for node in self.nodes.values()]
            for level, parent in listed:
                try:
                    self._write_parent(level, parent, applied)
                except Problem as problem:
                    words = f"{level} {parent.index:,} cannot be as it is intended ({problem.status().message})"
                    self.passed_over.append(f"{words}; set it anew. It has no limit, or the one that the device has")
            if self.facts.flows:  # the store's seed, so a device that is set again keeps its flows where they are
                self._run(KeyProgram([], flows.start(self.facts.descriptors, self.intent.seed())), applied)
            self.write(np.fromiter(changes, dtype=np.int64), applied)
            self._tell_keys(applied)
            self._stale = False
            return applied

    def _restore_keys(self, changes: dict[int, _Change]) -> None:
        """Intend the keys of these subscribers, and that those are gone which the store has as gone."""
        self.keys.gone = set(self.intent.gone_keys())
        self.keys.forget()
        given = self.intent.headers()
        try:
            self.keys.give(given)
        except Problem as problem:
            self.keys.give(None)
            self.passed_over.append(f"headers cannot be as they are intended ({problem.status().message}); set them anew")
        for change in changes.values():
            if not change.keys or change.message is None:
                continue
            try:
                self.keys.check(change.place, change.keys, change.message.name, self.name_of)
            except Problem as problem:
                words = f"subscriber {change.message.name!r} is not found in headers ({problem.status().message})"
                self.passed_over.append(f"{words}; replace or delete it. Its frames are nobody's")
            else:
                self.keys.claim(change.place, change.keys)

    def _intended(self) -> Iterator[tuple[int, _Change]]:
        """Yield what the store has of subscribers, by place."""
        for index, data in self.intent.messages():
            try:
                message = Subscriber.FromString(data)
            except DecodeError:
                self._pass_over(f"the subscriber at place {index:,} of the store cannot be read; the next one may take the place")
                yield index, self._nothing(index)
            else:
                yield index, self._as_it_can_be(message, index, self._pass_over)

    def _pass_over(self, words: str) -> None:
        self.passed_over.append(f"{words}. Its queues drop all")

    def _as_it_can_be(self, message: Subscriber, index: int, amiss: Callable[[str], object] = lambda words: None) -> _Change:
        """Return a subscriber that was acknowledged as the device will have it: one that it cannot have drops all."""
        try:
            return self._change(message, index)
        except Problem as problem:
            amiss(f"subscriber {message.name!r} cannot be as it is intended ({problem.status().message}); replace or delete it")
            drops = self._nothing(index)
            parent = self.codes.parent(None, 0) if self.facts.hierarchy else NONE
            return drops._replace(message=message, parent=parent)

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

    def page(
        self, after: str, count: int, node: int | None, contains: str, matches: Callable[[int], bool] | None = None
    ) -> list[Subscriber]:
        """Return at most `count` subscribers behind a name, by name; `matches`: only at places that have a key like this."""
        with self.lock:
            found = itertools.islice(self._fitting(after, node, contains, matches), count)
            return [self.intent.get(self.index_of[name]) for name in found]

    def named(self, node: int | None, contains: str, matches: Callable[[int], bool] | None, plan: str) -> list[str]:
        """Return the names of all subscribers that fit, as in `page`; `plan`: only those who have it, unless empty."""
        with self.lock:
            found = self._fitting("", node, contains, matches)
            return [name for name in found if not plan or self.plans.of.get(self.index_of[name]) == plan]

    def _fitting(self, after: str, node: int | None, contains: str, matches: Callable[[int], bool] | None) -> Iterator[str]:
        """Yield names, in their order, with the lock held."""
        places = None if matches is None else {place for place, keys in self.keys.of.items() if any(map(matches, keys))}
        if self._by_name is None:
            self._by_name = sorted(self.index_of)
        for name in itertools.islice(self._by_name, bisect.bisect_right(self._by_name, after), None):
            index = self.index_of[name]
            if contains in name and (node is None or self.node_of[index] == node) and (places is None or index in places):
                yield name

    def change(self, makers: Sequence[Maker], all_or_nothing: bool = True, once: Once | None = None) -> Done:
        """Do many changes. A maker returns the subscriber as it shall be, or the name of one to be deleted, and raises Problem; it is
        called with the lock held, in its turn, by whichever thread, and sees what those before it have made. `once`: where it was done
        before, the answer of then.

        Raises Problem for the first item that is wrong, if it is all or nothing, and when the device does not do it. Then nothing is
        changed: all of it is one transaction, and its answer is in it.
        """
        request = Request(makers, all_or_nothing, Done(), once, self._entry())
        if len(makers) <= FEW:
            self.pause()
            self._waiting.join(request)
        else:
            self._do([request])
        request.check()
        return request.done

    def change_all(
        self, chosen: Callable[[], Sequence[str]], maker: Callable[[str], Maker], dry_run: bool = False, once: Once | None = None
    ) -> Done:
        """Change all subscribers whose names `chosen` returns, called with the lock held: in one transaction, or none of them. `dry_run`:
        make all of it, and undo it before store and device have heard of it. Raises Problem, which names the subscriber."""
        with self.lock:
            names = list(chosen())
            request = Request([maker(name) for name in names], True, Done(), once, self._entry())
            if not dry_run:
                self._do([request])
            elif self._make(request):
                self._undo(request.batch)
            if isinstance(request.problem, Problem):
                request.problem = _of_whom(request.problem, names)
            request.check()
            return request.done

    @contextlib.contextmanager
    def noting(self, entry: Entry, status: Callable[[], str]) -> Iterator[None]:
        """What this thread does is in the log: in the transaction of the change, or, where nothing was changed, with its `status` soon
        after it (with the next change, or when the counters are made durable)."""
        self._of_thread.entry = entry
        try:
            yield
        finally:
            self._of_thread.entry = entry.waits = None
            if entry.more or not entry.logged:
                self._remarks.append((entry, status()))

    def note(self, words: str) -> None:
        """Have the log say how what this thread does went. It is in the line soon after that itself, as in `noting`."""
        if entry := self._entry():
            entry.more = words

    @contextlib.contextmanager
    def streaming(self) -> Iterator[None]:
        """Inside of the `with` many are set up, and who only reads waits for a while."""
        with self._of_streams:
            self._streams += 1
            self.calm.clear()
        try:
            yield
        finally:
            with self._of_streams:
                self._streams -= 1
                if not self._streams:
                    self.calm.set()

    def lent(self) -> Callable[[], contextlib.AbstractContextManager[None]]:
        """Return what lets another thread do something for this one: inside of that `with` it has a turn of the same client, and what it
        does is in the same line of the log."""
        own = self._entry()

        @contextlib.contextmanager
        def one() -> Iterator[None]:
            with self.turn(own.client) if own else contextlib.nullcontext():
                self._of_thread.entry = own
                try:
                    yield
                finally:
                    self._of_thread.entry = None

        return one

    def flush(self) -> None:
        """Make the log durable. Raises Problem."""
        with self.lock, self._transaction():
            pass

    def audited(self, count: int, since: str = "", who: str = "", noun: str = "") -> Sequence[tuple[str, str, str, str, str]]:
        """Return the last lines of the log, the newest first: time, who, method, what, status; filters: Intent.audited. Raises Problem."""
        with self.lock:
            if self._remarks:
                self.flush()
            return self.intent.audited(count, since, who, noun)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """A transaction of the store, with the remarks that wait. Raises Problem, and then nothing is done."""
        try:
            with self.intent.transaction():
                while self._remarks:
                    entry, status = self._remarks.popleft()
                    if entry.logged:
                        self.intent.audit_more(entry.line, entry.more + entry.what)
                    else:
                        self._log(entry, status)
                yield
        except sqlite3.Error as error:
            raise Problem(Code.UNAVAILABLE, f"the store cannot be written, so nothing is changed ({error})") from None

    def _entry(self) -> Entry | None:
        return getattr(self._of_thread, "entry", None)

    def _log(self, entry: Entry | None, status: str = "OK") -> None:
        """Write a line of the log, once, in the transaction that makes the change durable: the log has what was done and nothing else."""
        if entry and not entry.logged:
            entry.logged = True
            LOG.debug("%s: %s %s: %s", entry.who, entry.method, status, entry.what)
            entry.line = self.intent.audit(entry.who, entry.method, entry.more + entry.what, status)

    def _do(self, group: list[Request]) -> int:
        """Do some requests, each by itself all or nothing or item by item, in one transaction and one program. A request that has to do
        with what another one of them changes waits: so what the device refuses is taken back without asking what came after it. So does
        one that is wrong beside others: it may be so by what they have made, which is not durable yet. Returns how many were done, from
        the first on; of each `problem` says what went wrong."""
        with self.lock:
            began, made, count = self.revision, list[Request](), len(group)
            try:
                with self._transaction():
                    touched: set[int | str] = set()
                    for place, request in enumerate(group):
                        stored = self._make(request)
                        own = request.batch.touched() if len(group) > 1 else set()
                        if made and (request.problem or request.done.failures or not touched.isdisjoint(own)):
                            self._put_off(request)
                            count = place
                            break
                        if not stored:
                            continue
                        touched |= own
                        made.append(request)
                        self._store(request.batch)
                        if request.once:
                            answer = request.once.answer_of(request.done).SerializeToString()
                            self.intent.remember(request.once.ident, request.once.digest, answer)
                        self._log(request.entry)
            except BaseException as error:
                self.keys.gone = None  # to be asked for again
                for request in reversed(made):
                    self._undo(request.batch)
                    if request.entry:
                        request.entry.logged = False
                self.revision = began
                for request in group:
                    request.problem = error
                if isinstance(error, Problem):
                    return len(group)
                raise
            try:
                for request in made:
                    self._arrange(request.batch.changes.values())
                self._bring(made)
            except BaseException:
                self._stale = True  # what is durable may not be there
                raise
            return count

    def _put_off(self, request: Request) -> None:
        """Let a request be as it was before it was made."""
        self._undo(request.batch)
        request.problem = None
        request.done.subscribers.clear()
        request.done.failures.clear()

    def _make(self, request: Request) -> bool:
        """Make what a request wants, in memory; return whether there is something to store. What is wrong becomes its problem."""
        batch = request.batch = self._batch = Batch(self.revision, ident=request.once.ident if request.once else "")
        made: list[Subscriber] = []
        try:
            self._check_that_it_waits(request.entry)
            if request.once and self._answered(request.once, request.done):
                return False
            for number, make in enumerate(request.makers):
                try:
                    self._take(make, batch, made)
                except Problem as problem:
                    if request.all_or_nothing:
                        raise problem.at(f"changes[{number}]" if len(request.makers) > 1 else "") from None
                    request.done.failures.append(Failure(number, problem))
        except BaseException as error:
            self._undo(batch)
            if not isinstance(error, Problem):
                raise
            request.problem = error
            return False
        finally:
            self._batch = None
        request.done.subscribers.extend(made)
        return True

    @staticmethod
    def _check_that_it_waits(entry: Entry | None) -> None:
        """Raise Problem where whoever has asked is gone."""
        if entry and entry.waits and not entry.waits():
            raise Problem(Code.CANCELLED, "whoever has asked for it waits no longer, so nothing of it was done")

    def _answered(self, once: Once, done: Done) -> bool:
        """Return whether a request was done before; then `done` has the answer. Raises Problem where it was another one."""
        known = self.intent.answer(once.ident)
        if known and known[0] != once.digest:
            raise invalid(f"{once.ident!r} was used for another request", "request_id")
        done.answer = bytes(known[1]) if known else None
        return known is not None

    def _bring(self, requests: list[Request]) -> None:
        """Bring what is durable to the device: all at once, and one by one where that fails, for whatever reason."""
        if len(requests) > 1:
            applied = common_pb2.Applied()
            try:
                self.write(np.fromiter((index for request in requests for index in request.batch.changes), dtype=np.int64), applied)
            except Exception:
                pass
            else:
                _share(applied, requests, self.facts.queues_per_subscriber)
                return
        for request in requests:
            try:
                self.write(np.fromiter(request.batch.changes, dtype=np.int64), request.done.applied)
            except Exception as error:
                request.problem = self.take_back(request.batch, error)

    def _take(self, make: Maker, batch: Batch, made: list[Subscriber]) -> None:
        """Add one change to a batch, and let its name be known. Raises Problem, and then nothing is changed."""
        wanted = make()
        if isinstance(wanted, str):
            change = self._nothing(self.find(wanted))
        else:
            wanted = self.plans.filled(wanted)
            known = self.index_of.get(wanted.name)
            if known is not None and wanted.HasField("index") and wanted.index != known:
                raise invalid(f"{wanted.name!r} has place {known:,} and keeps it, so it cannot be {wanted.index:,}", "index")
            change = self._change(wanted, self._place(wanted) if known is None else known)
            self.keys.check(change.place, change.keys, wanted.name, self.name_of)
            self.revision += 1
            batch.asked.append((wanted, wanted.index if wanted.HasField("index") else None, wanted.version))
            wanted.index, wanted.version = change.place, self.revision
            made.append(wanted)
        if change.place not in batch.before:
            batch.since[change.place] = int(self.since[change.place])
            batch.before[change.place] = self.intent.get(change.place) if self.taken[change.place] else None
        self._name(change.place, change.message)
        batch.keys.update(self.keys.of.get(change.place, ()), (key for key, _ in change.keys))
        self.keys.claim(change.place, change.keys)
        batch.changes[change.place] = change

    def _place(self, wanted: Subscriber) -> int:
        """Return where a new subscriber goes. Raises Problem."""
        check_name(wanted.name)
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
        if message.ByteSize() > MAX_BYTES:
            asked = Subscriber()
            asked.CopyFrom(message)
            for name in OF_SERVER:
                asked.ClearField(name)
            if (size := asked.ByteSize()) > MAX_BYTES:
                raise invalid(f"is a message of {size:,} byte, at most {MAX_BYTES:,} are allowed")

    def _change(self, message: Subscriber, index: int) -> _Change:
        """Return a subscriber as the device will have it. Raises Problem."""
        self.check_size(message)
        keys, original = self.keys.pairs(message, index), message
        if message.bypass:
            message = _bypassed(message)
        each, closed = self.facts.queues_per_subscriber, message.gate_closed
        known = self.codes.known(closed)
        numbers: list[int] = []
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
            weight = message.weight if message.HasField("weight") else 1
            parent = self.codes.parent(rate, message.burst_bytes, weight, message.guarantee_bps)
        elif node or any(map(message.HasField, ("rate_bps", "weight", "burst_bytes", "guarantee_bps"))):
            raise invalid(
                "the device has no hierarchy: a subscriber has neither node, rate, burst, weight nor guarantee; its queue has a rate",
                "node",
            )
        return _Change(index, original, tuple(numbers), parent, node, keys)

    # ---- names, arrays, store

    def _name(self, index: int, message: Subscriber | None) -> None:
        """Let a place have this subscriber, or none."""
        if message and message.plan:
            self.plans.of[index] = message.plan
        else:
            self.plans.of.pop(index, None)
        old = self.name_of.pop(index, None)
        if old != (message.name if message else None):
            self._by_name = None
        if old is not None:
            del self.index_of[old]
        if message is None:
            self.taken[index] = self.version_of[index] = 0
            self._first_free = min(self._first_free, index)
        else:
            self.taken[index] = 1
            self.index_of[message.name], self.name_of[index], self.version_of[index] = index, message.name, message.version
            if old is None:
                self.since[index] = message.version

    def _undo(self, batch: Batch) -> None:
        """Let all be as before a batch that is not durable."""
        self._rename_back(batch)
        self.revision = batch.revision
        for message, index, version in batch.asked:
            message.version = version
            if index is None:
                message.ClearField("index")
            else:
                message.index = index

    def _rename_back(self, batch: Batch) -> None:
        for index in batch.before:  # first all go: a name may have moved from one place to another
            self._name(index, None)
            self.keys.claim(index, ())
        for index, message in batch.before.items():
            if message:
                self._name(index, message)
                self.keys.claim(index, self._as_it_can_be(message, index).keys)
        self.since[list(batch.before)] = self._since_of(batch)

    def name(self, names: list[str], places: NDArray[np.int64], version: int) -> None:
        """Let places have subscribers of these names, whose versions count up from `version`; what has a name already keeps it."""
        if self.plans.of:
            for index in places.tolist():  # what comes so has no plan
                self.plans.of.pop(index, None)
        taken = np.frombuffer(self.taken, dtype=np.uint8)
        new, versions = taken[places] == 0, np.arange(version, version + len(names))
        self.version_of[places] = versions
        self.since[places[new]] = versions[new]
        if new.any():
            indices = places.tolist()
            self.index_of.update(zip(names, indices, strict=True))
            self.name_of.update(zip(indices, names, strict=True))
            taken[places] = 1
            self._by_name = None

    def arrange(self, indices: NDArray[np.int64], codes: NDArray[np.int32], parents: NDArray[np.int32], nodes: NDArray[np.int32]) -> None:
        """Take this for what is in force in some places."""
        self.queue_code.reshape(-1, self.facts.queues_per_subscriber)[indices] = codes
        self.parent_code[indices] = parents
        self.node_of[indices] = nodes

    def _arrange(self, changes: Collection[_Change]) -> None:
        if len(changes) <= FEW:
            each = self.facts.queues_per_subscriber
            for index, _, queues, parent, node, _ in changes:
                self.queue_code[index * each : (index + 1) * each] = queues
                self.parent_code[index], self.node_of[index] = parent, node
        else:
            columns = zip(*((change.place, change.queues, change.parent, change.node) for change in changes), strict=True)
            self.arrange(*(np.array(column) for column in columns))

    def store(self, indices: list[int], messages: list[bytes], revision: int) -> None:
        """Make subscribers durable, the last of which has this version. Raises Problem."""
        self._check_that_it_waits(self._entry())
        places, versions = np.array(indices), np.arange(revision + 1 - len(indices), revision + 1)
        came = np.where(np.frombuffer(self.taken, dtype=np.bool_)[places], self.since[places], versions).tolist()
        with self._transaction():
            self.intent.put(indices, messages, came)
            again = self._retired.intersection(indices) if self._retired else ()
            self.intent.occupy(again)
            self._log(self._entry())
        self._retired.difference_update(again)
        self.revision = revision

    def _store(self, batch: Batch) -> None:
        gone = [index for index, change in batch.changes.items() if change.message is None]
        there = [change.message for change in batch.changes.values() if change.message]
        if gone:
            self.intent.delete(gone)
            self.intent.set_revision(self.revision)
        self._put(there)
        self._store_keys()
        if self._retired:
            self.intent.occupy(m.index for m in there if m.index in self._retired)
            self._retired.difference_update(m.index for m in there)
        self._retired.update(gone)

    def _put(self, messages: list[Subscriber]) -> None:
        places = [message.index for message in messages]
        self.intent.put(places, [message.SerializeToString() for message in messages], [int(self.since[index]) for index in places])

    @staticmethod
    def _since_of(batch: Batch) -> list[int]:
        """Return what `since` was before a batch, in the order of its places."""
        return list(batch.since.values()) if isinstance(batch.since, dict) else batch.since.tolist()

    def take_back(self, batch: Batch, error: Exception) -> Problem:
        """The device has not done it, for whatever reason: take the intent back, and what it did with it as well; return what to say."""
        began, reason = time.monotonic(), str(error) or type(error).__name__
        old = [message for message in batch.before.values() if message]
        since = dict(zip(batch.before, self._since_of(batch), strict=True))
        try:
            with self._transaction():
                self.intent.delete(batch.before)
                self.intent.put([m.index for m in old], [m.SerializeToString() for m in old], [since[m.index] for m in old])
                self.intent.occupy(m.index for m in old)
                self.intent.keys_go(batch.keys)  # a part may be in the device; those that it had are intended again
                if batch.ident:
                    self.intent.forget(batch.ident)
        except Problem:
            self._stale = True
            return Problem(
                Code.UNAVAILABLE, f"{reason}; the store cannot take it back, so it is intended, and the device will be set to it"
            )
        self._rename_back(batch)
        self._retired.difference_update(m.index for m in old)
        self._retired.update(index for index, message in batch.before.items() if message is None)
        # What had never been ours had settings that we do not know: it drops all now.
        self._arrange([self._as_it_can_be(message, index) if message else self._nothing(index) for index, message in batch.before.items()])
        try:
            self.write(np.fromiter(batch.before, dtype=np.int64), common_pb2.Applied())
        except Exception:
            self._stale = True
            return Problem(Code.UNAVAILABLE, f"{reason}; nothing of it is intended any more, and the device is set when it answers again")
        took = (time.monotonic() - began) * 1e3
        return Problem(
            Code.ABORTED, f"the device refused: {reason}; all was taken back, and a part was in force for at most {took:,.0f} ms"
        )

    def backup(self, path: Path) -> int:
        """Copy the store to a new file, and return the revision that it has. Raises Problem."""
        with self.lock:
            self.flush()
            self.intent.backup(path)
            return self.revision

    # ---- plans

    def set_plan(self, wanted: Plan) -> tuple[Plan, common_pb2.Applied]:
        """Make or change a plan and all who have it: in one transaction, or not at all. Return it, and what it has cost. Raises Problem."""
        with self.lock:
            plans, old = self.plans, self.plans.by_name.get(wanted.name)
            if old is None:
                check_name(wanted.name)
            check_version(wanted.version, old.version if old else 0, f"plan {wanted.name!r}")
            probe = Subscriber(name=wanted.name)
            fill(probe, wanted)
            self._change(probe, 0)
            new = Plan()
            new.CopyFrom(wanted)
            new.ClearField("subscribers")
            place = plans.places.get(new.name, plans.free_place())
            names = [self.name_of[index] for index in plans.subscribers(new.name)]
            plans.by_name[new.name], plans.places[new.name] = new, place
            try:
                applied = self._change_all(names, new, place)
            except BaseException:
                self._take_plan_back(new.name, place, old)
                raise
            return plans.shown(new), applied

    def _change_all(self, names: list[str], plan: Plan, place: int) -> common_pb2.Applied:
        """Store a plan, and let these have it, in one transaction. Raises Problem."""

        def store() -> None:
            self.revision += 1
            plan.version = self.revision
            self.intent.put_parent("plan", place, plan.version, plan.SerializeToString())

        def maker(name: str, last: bool) -> Maker:
            def make() -> Subscriber:
                there = self.get(name)
                fill(there, plan)
                if last:  # all before it were right, so the transaction will be one
                    store()
                return there

            return make

        if not names:
            with self._transaction():
                store()
                self._log(self._entry())
            return common_pb2.Applied()
        request = Request([maker(name, name == names[-1]) for name in names], True, Done(), None, self._entry())
        self._do([request])
        request.check()
        return request.done.applied

    def _take_plan_back(self, name: str, place: int, old: Plan | None) -> None:
        """Let a plan be as it was before a change that was not done. Raises Problem."""
        if old:
            self.plans.by_name[name] = old
        else:
            del self.plans.by_name[name], self.plans.places[name]
        with self._transaction():
            if old:
                self.intent.put_parent("plan", place, old.version, old.SerializeToString())
            else:
                self.intent.delete_parent("plan", place)

    def delete_plan(self, name: str, version: int) -> None:
        """Take a plan away that nobody has. Raises Problem."""
        with self.lock:
            plan = self.plans.find(name)
            check_version(version, plan.version, f"plan {name!r}")
            if count := len(self.plans.subscribers(name)):
                raise Problem(Code.FAILED_PRECONDITION, f"{count:,} subscribers have plan {name!r}; give them another one first", "name")
            with self._transaction():
                self.intent.delete_parent("plan", self.plans.places[name])
                self.intent.set_revision(self.revision)
                self._log(self._entry())
            del self.plans.by_name[name], self.plans.places[name]

    # ---- the device

    def write(self, places: NDArray[np.int64], applied: common_pb2.Applied) -> None:
        """Bring what is in force in some places to the device. Raises CarrierError."""
        if not len(places):
            return
        indices = places.astype(np.uint32)
        indices.sort()
        self._tell(self.keys.prefixes_going(), applied)
        self._tell(self.keys.going(), applied)
        self._run(self.programs.change(indices, self.queue_code, self.parent_code, self.node_of, self.codes.rows()), applied)
        self._tell_keys(applied)
        applied.subscribers += len(indices)
        applied.queues += len(indices) * self.facts.queues_per_subscriber

    def read_back(self, level: str, indices: Sequence[int], fields: Sequence[str]) -> NDArray[np.uint32]:
        """Return what the device has of each index of a level (programs.read_back), a row each. Called with the lock held. Raises
        CarrierError."""
        self.programs.forget()  # of the parents: `tree_index` has moved
        return self.carrier.run(read_back(level, indices, fields)).reshape(len(indices), len(fields))

    def _tell_keys(self, applied: common_pb2.Applied) -> None:
        """Bring the keys that are intended to the device. A key comes behind the queues that it leads to, and in front of the profile that
        looks for it; one that is not intended goes in front of them. Raises CarrierError."""
        if self.keys.must_be_set_up:
            (there,) = self.carrier.run(reads([registers.address("find_keys")])).tolist()
            self._tell(self.keys.set_up(there, self.intent.seed()), applied)
            self.before_kinds()
            self._tell(self.keys.all_profiles(), applied)
            self.keys.is_set_up()
        self._tell(self.keys.going(), applied)
        self._tell(self.keys.coming(), applied)
        self._tell(self.keys.prefixes_coming(), applied)
        if (program := self.keys.other_kinds()) is not None:
            self.before_kinds()
            self._tell(program, applied)
            self.keys.is_set_up()

    def _tell(self, program: KeyProgram | None, applied: common_pb2.Applied) -> None:
        if program is not None:
            self.keys.doubt(program)
            self._run(program, applied)
            self.keys.done(program)

    def _store_keys(self) -> None:
        """Have the store know which keys may be in the device and are not intended."""
        if self.keys.gone is None:
            self.keys.gone = set(self.intent.gone_keys())
        more, less = self.keys.to_be_stored()
        if more or less:
            self.intent.keys_go(more)
            self.intent.keys_are_gone(less)
            self.keys.gone.update(more)
            self.keys.gone.difference_update(less)

    def _run(self, program: Program | KeyProgram, applied: common_pb2.Applied) -> None:
        """Do a program. Raises CarrierError, also where the device was lost and is not set anew yet: a program is of what it had."""
        begin = self.carrier.cycles()
        try:
            found = self.carrier.run(program.accesses) if self._losses == self.carrier.losses else None
        except BaseException:
            self.programs.forget()
            raise
        if found is None or self._losses != self.carrier.losses:
            self.programs.forget()
            raise CarrierError(f"{self.carrier.name}: the device was gone, and is not set anew yet")
        if program.refused(found):
            self.programs.forget()
            raise _Refused(f"{self.carrier.name}: {program.words(found)}")
        applied.bus_writes += program.writes
        applied.device_cycles += max(0, self.carrier.cycles() - begin)

    # ---- headers

    def set_headers(self, wanted: headers_pb2.HeaderSettings) -> headers_pb2.HeaderSettings:
        """Say how queues are found in headers, and return it with its version. Raises Problem."""
        if not self.facts.header_profiles:
            raise Problem(Code.FAILED_PRECONDITION, "the device does not find queues in headers")
        with self.lock:
            old, revision = self.keys.given, self.revision
            check_version(wanted.version, old.version if old else 0, "headers")
            wanted.version = revision + 1
            self.keys.give(wanted)
            try:
                with self._transaction():
                    self.intent.put_parent("headers", 0, wanted.version, wanted.SerializeToString())
                    self._log(self._entry())
            except BaseException:
                self.keys.give(old)
                raise
            self.revision = wanted.version
            try:
                self._tell_keys(common_pb2.Applied())
            except BaseException as error:
                self._stale = True
                if not isinstance(error, Exception):
                    raise
                raise Problem(Code.UNAVAILABLE, f"{error}; it is intended, and the device will be set when it answers again") from None
            return wanted

    # ---- nodes and ports

    def set_parent(self, level: str, wanted: Any) -> Any:
        """Set a node or port and return it with its version. Raises Problem."""
        hierarchy = self.facts.hierarchy
        if hierarchy is None:
            raise Problem(Code.FAILED_PRECONDITION, f"the device has no hierarchy, so there is no {level}")
        with self.lock:
            count = hierarchy.nodes if level == "node" else hierarchy.ports
            if wanted.index >= count:
                raise invalid(f"the device has {level}s 0 to {count - 1:,}, not {wanted.index:,}", "index")
            if len(wanted.name) > MAX_NAME or not (wanted.name.isprintable() and wanted.ByteSize() <= MAX_BYTES):
                raise invalid(f"must be at most {MAX_NAME} printable characters", "name")
            if level == "node" and wanted.port >= hierarchy.ports:
                raise invalid(f"the device has ports 0 to {hierarchy.ports - 1:,}, not {wanted.port:,}", "port")
            if level == "node" and not wanted.HasField("port"):
                wanted.port = int(self.port_of[wanted.index])
            known = self.nodes if level == "node" else self.ports
            old: Any = known.get(wanted.index)
            check_version(wanted.version, old.version if old else 0, f"{level} {wanted.index}")
            self.codes.parent(wanted.rate_bps if wanted.HasField("rate_bps") else None, wanted.burst_bytes)
            wanted.version = self.revision + 1
            with self._transaction():
                self.intent.put_parent(level, wanted.index, wanted.version, wanted.SerializeToString())
                self._log(self._entry())
            self.revision = wanted.version
            known[wanted.index] = wanted
            try:
                self._write_parent(level, wanted, common_pb2.Applied())
            except _Refused as error:
                self._take_parent_back(level, wanted.index, old)
                raise Problem(Code.ABORTED, f"{error}; it was taken back") from None
            except BaseException as error:
                self._stale = True
                if not isinstance(error, Exception):
                    raise
                raise Problem(Code.UNAVAILABLE, f"{error}; it is intended, and the device will be set when it answers again") from None
            return wanted

    def _take_parent_back(self, level: str, index: int, old: Any) -> None:
        """The device has what it had: intend that, too. Raises Problem."""
        known = self.nodes if level == "node" else self.ports
        try:
            with self._transaction():
                if old:
                    self.intent.put_parent(level, index, old.version, old.SerializeToString())
                else:
                    self.intent.delete_parent(level, index)
                self.intent.set_revision(self.revision)
        except BaseException:
            self._stale = True  # it stays intended
            raise
        if old:
            known[index] = old
        else:
            del known[index]

    def _write_parent(self, level: str, parent: Any, applied: common_pb2.Applied) -> None:
        number = self.codes.parent(parent.rate_bps if parent.HasField("rate_bps") else None, parent.burst_bytes)
        (row,) = self.codes.parent_rows(np.array([number], dtype=np.int32))
        self._run(self.programs.parent(level, parent.index, row, parent.port if level == "node" else 0), applied)
        self.limits_of[level][parent.index] = parent.rate_bps if parent.HasField("rate_bps") else np.inf
        if level == "node":
            self.port_of[parent.index] = parent.port

    def _rates(self, words: NDArray[np.uint32]) -> list[float]:
        """Return the rates in bit/s that words of a rate stand for; infinite: unlimited."""
        fields = registers.table()["now_rate"]["fields"]

        def part(word: int, name: str) -> int:
            low, width, _ = fields[name]
            return int(word >> low & (1 << width) - 1)

        found = [registers.code_rate(part(word, "mantissa"), part(word, "exponent"), self.facts.clock_hz) for word in words.tolist()]
        return [np.inf if rate is None else rate for rate in found]


def _of_whom(problem: Problem, names: Sequence[str]) -> Problem:
    """Return a problem of an item with the subscriber's name in place of the item's number."""
    found = re.match(r"changes\[(\d+)\]\.?", problem.field)
    if not found and len(names) != 1:
        return problem
    name, field_of = (names[int(found[1])], problem.field[found.end() :]) if found else (names[0], problem.field)
    return Problem(problem.code, f"{problem.message} (subscriber {name!r})", field_of)


def _share(applied: common_pb2.Applied, requests: list[Request], each: int) -> None:
    """Give each request its share of what all of them have cost together, by its subscribers."""
    left, writes, cycles = applied.subscribers, applied.bus_writes, applied.device_cycles
    for request in requests:
        own, count = request.done.applied, len(request.batch.changes)
        if not count:
            continue
        own.subscribers, own.queues = count, count * each
        own.bus_writes, own.device_cycles = -(-writes * count // left), cycles * count // left
        left, writes, cycles = left - count, writes - own.bus_writes, cycles - own.device_cycles


def _bypassed(message: Subscriber) -> Subscriber:
    """Return a subscriber whose queues hold nothing back: of its settings class, weight and gate stay."""
    made = Subscriber(name=message.name, node=message.node, gate_closed=message.gate_closed)
    if message.HasField("weight"):
        made.weight = message.weight
    for queue in message.queues:
        one = made.queues.add()
        for name in ("traffic_class", "weight"):
            if queue.HasField(name):
                setattr(one, name, getattr(queue, name))
    return made


def check_name(name: str) -> None:
    """Raise Problem for what is no name."""
    if not 1 <= len(name) <= MAX_NAME or not name.isprintable() or name != name.strip():
        words = f"must be 1 to {MAX_NAME} printable characters, the first and the last no blanks"
        raise invalid(f"{words}, not {name[:MAX_NAME]!r}", "name")


def check_version(wanted: int, there: int, what: str) -> None:
    """Raise Problem unless the version that a request names is the one in force; 0 means whichever."""
    if wanted and wanted != there:
        raise Problem(Code.ABORTED, f"{what} has version {there}, not {wanted}: it was changed meanwhile", "version")
