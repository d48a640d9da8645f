"""Subscribers: made, changed, moved, listed; one by one, in batches, as a stream."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf import empty_pb2
from google.protobuf.message import DecodeError

from penstock.designs.access_edge.control import plans
from penstock.designs.access_edge.control.access import Budget, Charge, Limits
from penstock.designs.access_edge.control.behind import Behind
from penstock.designs.access_edge.control.many import Many
from penstock.designs.access_edge.control.plant import Plant, Subscriber, check_version
from penstock.designs.access_edge.control.problems import Code, Problem, invalid
from penstock.designs.access_edge.control.search import searched
from penstock.designs.access_edge.control.services import calls
from penstock.designs.access_edge.control.waiting import Done, Maker, Once
from penstock.v1 import common_pb2, subscribers_pb2, subscribers_pb2_grpc

FIELDS = ("node", "rate_bps", "burst_bytes", "weight", "queues", "gate_closed", "guarantee_bps", "matches", "bypass", "plan")
MAX_PAGE, PAGE = 10_000, 1_000
MAX_BATCH = 100_000
A_PIECE = 4_096  # subscribers of a stream that go to store and device together, at least
MAX_FAILURES = 1_000  # that an answer names
MAX_REQUEST_ID = 128
HELD_BYTES, HELD_OF_QUEUE = 256, 128  # of memory, at least: a subscriber that is held, and each of its queues


@calls
class Subscribers(subscribers_pb2_grpc.SubscribersServicer):
    """The service."""

    def __init__(self, plant: Plant, limits: Limits) -> None:
        self._plant, self._many = plant, Many(plant)
        self._held = Budget(limits.held_bytes)

    def Create(self, request: Any, context: grpc.ServicerContext) -> Subscriber:
        """Make a subscriber that is not there yet."""
        return self._one(request, lambda: self._created(request.subscriber))

    def Update(self, request: Any, context: grpc.ServicerContext) -> Subscriber:
        """Change some fields of a subscriber, or all."""
        return self._one(request, lambda: self._updated(request.subscriber, list(request.update_mask.paths)))

    def Move(self, request: Any, context: grpc.ServicerContext) -> Subscriber:
        """Put a subscriber under another node."""
        return self._one(request, lambda: self._moved(request))

    def Delete(self, request: Any, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Take a subscriber away; its queues drop what comes."""
        self._plant.change([lambda: self._deleted(request)], once=_once(request, lambda done: empty_pb2.Empty()))
        return empty_pb2.Empty()

    def Get(self, request: Any, context: grpc.ServicerContext) -> Subscriber:
        """Return a subscriber."""
        return self._plant.get(request.name)

    def List(self, request: Any, context: grpc.ServicerContext) -> subscribers_pb2.ListSubscribersResponse:
        """Return a page of subscribers, by name."""
        if request.page_size > MAX_PAGE:
            raise invalid(f"must be at most {MAX_PAGE:,}, not {request.page_size:,}", "page_size")
        size = request.page_size or PAGE
        node = request.node if request.HasField("node") else None
        found = self._plant.page(request.page_token, size + 1, node, request.name_contains, searched(request.match))
        token = found[size - 1].name if len(found) > size else ""
        return subscribers_pb2.ListSubscribersResponse(subscribers=found[:size], next_page_token=token)

    def Batch(self, request: Any, context: grpc.ServicerContext) -> subscribers_pb2.BatchResponse:
        """Do many changes."""
        if len(request.changes) > MAX_BATCH:
            raise invalid(f"has {len(request.changes):,} changes, at most {MAX_BATCH:,} are allowed", "changes")
        makers = [self._maker(change) for change in request.changes]
        done = self._plant.change(makers, request.all_or_nothing, _once(request, _batch_answer))
        answer = subscribers_pb2.BatchResponse.FromString(done.answer) if done.answer is not None else _batch_answer(done)
        if answer.failed:
            self._plant.note(f"{answer.failed:,} of {len(makers):,} failed: ")
        return answer

    def BulkUpdate(self, request: Any, context: grpc.ServicerContext) -> subscribers_pb2.BulkUpdateResponse:
        """Change the same fields of all subscribers that fit."""
        fields = list(request.update_mask.paths)
        if not fields or "matches" in fields:
            raise invalid("must name a field at least, and not matches, which no two subscribers have alike", "update_mask")

        def maker(name: str) -> Maker:
            wanted = Subscriber()
            wanted.CopyFrom(request.subscriber)
            wanted.name, wanted.version = name, 0
            return lambda: self._updated(wanted, fields)

        done = self._plant.change_all(lambda: self._chosen(request), maker, request.dry_run, _once(request, _bulk_answer))
        if done.answer is not None:
            return subscribers_pb2.BulkUpdateResponse.FromString(done.answer)
        return _bulk_answer(done)

    def _chosen(self, request: Any) -> list[str]:
        """Return the names of those that a bulk change is for. Raises Problem."""
        node = request.node if request.HasField("node") else None
        if not (request.all or request.plan or node is not None or request.name_contains or request.match):
            raise invalid("says of whom: give plan, node, name_contains, match, or all")
        if request.plan:
            self._plant.plans.find(request.plan, "plan")
        matches = searched(request.match)
        given = ("", None, "", None) if request.all else (request.plan, node, request.name_contains, matches)
        plan, node, contains, matches = given
        found = self._plant.named(node, contains, matches, plan)
        if len(found) > MAX_BATCH:
            raise invalid(f"would change {len(found):,} subscribers, at most {MAX_BATCH:,} are allowed")
        return found

    def Provision(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> subscribers_pb2.ProvisionResponse:
        """Create or replace subscribers as they come."""
        answer = subscribers_pb2.ProvisionResponse()
        piece, before, whole = _Piece(), 0, False
        with self._plant.streaming(), Behind(self._plant.lent(), self._plant.pause) as behind:
            for number, data in enumerate(requests):
                some = _Some(data, self._many)
                if some.count > MAX_BATCH:
                    raise invalid(f"has {some.count:,} in a message, at most {MAX_BATCH:,} are allowed", "subscribers")
                whole = some.all_or_nothing if number == 0 else whole
                if some.count:  # of what says nothing nothing is held: there may be any number of it
                    piece.add(some, self._charge(some, before + piece.count, whole))
                if piece.count >= A_PIECE and not whole:
                    self._give(behind, piece, before, answer)
                    piece, before = _Piece(), before + piece.count
            behind.wait()
            self._provision(piece.messages, before, whole, answer)
        self._plant.note(f"{before + piece.count:,} subscribers, {answer.failed:,} failed: ")
        return answer

    def _give(self, behind: Behind, piece: "_Piece", before: int, answer: Any) -> None:
        """Have a piece of a stream done while more comes. What Python has to read is large in memory: it is done before more is taken."""
        behind.give(lambda: self._provision(piece.messages, before, False, answer))
        if not piece.plain:
            behind.wait()

    def _charge(self, some: "_Some", before: int, whole: bool) -> Charge:
        """Return a charge for what a message will take as long as it is held. Raises Problem, also where all or nothing is asked for and
        one has too many queues: then nothing is held until the end."""
        each = self._plant.facts.queues_per_subscriber
        if whole and some.most_queues > each:
            place = next(n for n, subscriber in enumerate(some.subscribers()) if len(subscriber.queues) > each)
            raise invalid(f"the device has {each} a subscriber, not {some.most_queues}", f"subscribers[{before + place}].queues")
        charge = self._held.take(some.size + HELD_BYTES * some.count + HELD_OF_QUEUE * some.queues)
        if charge is None:
            raise Problem(
                Code.RESOURCE_EXHAUSTED,
                "streams that are all or nothing are held until they end, and the server holds as much as it may; send less, or let each "
                "subscriber stand for itself (`ctl import --no-all-or-nothing`), which takes any number",
            )
        return charge

    def _provision(self, waiting: list["_Some"], before: int, whole: bool, answer: Any) -> None:
        if not waiting:
            return
        columns = [some.columns for some in waiting]
        applied = None if None in columns else self._many.put(columns)
        if applied is None:
            makers = [self._put(subscriber) for some in waiting for subscriber in some.subscribers()]
            done = self._plant.change(makers, whole)
            applied = done.applied
            for failure in done.failures:
                answer.failed += 1
                if len(answer.failures) < MAX_FAILURES:
                    answer.failures.append(_failure(failure, before))
        add(answer.applied, applied)

    # ---- one change

    def _put(self, subscriber: Subscriber) -> Maker:
        return lambda: self._replaced(subscriber) if subscriber.version else subscriber

    def _created(self, subscriber: Subscriber) -> Subscriber:
        if subscriber.name in self._plant.index_of:
            raise Problem(Code.ALREADY_EXISTS, f"there is a subscriber {subscriber.name!r} already", "name")
        return subscriber

    def _replaced(self, subscriber: Subscriber) -> Subscriber:
        check_version(subscriber.version, self._version(subscriber.name), f"subscriber {subscriber.name!r}")
        return subscriber

    def _updated(self, wanted: Subscriber, fields: list[str]) -> Subscriber:
        wrong = next((name for name in fields if name not in FIELDS), None)
        if wrong is not None:
            raise invalid(f"names {wrong[:40]!r}; a subscriber has {', '.join(FIELDS)}", "update_mask")
        there = self._plant.get(wanted.name)
        check_version(wanted.version, there.version, f"subscriber {wanted.name!r}")
        if wanted.plan and fields:  # what came from another plan, or was its own, goes
            fields = [*fields, *(name for name in plans.FIELDS if "plan" in fields and name not in fields)]
        for name in fields or FIELDS:
            there.ClearField(name)
            if name in ("queues", "matches"):
                getattr(there, name).extend(getattr(wanted, name))
            elif name in ("node", "gate_closed", "bypass", "plan") or wanted.HasField(name):
                setattr(there, name, getattr(wanted, name))
        return there

    def _moved(self, request: Any) -> Subscriber:
        there = self._plant.get(request.name)
        check_version(request.version, there.version, f"subscriber {request.name!r}")
        there.node = request.node
        return there

    def _deleted(self, request: Any) -> str:
        self._plant.find(request.name)
        check_version(request.version, self._version(request.name), f"subscriber {request.name!r}")
        return str(request.name)

    def _version(self, name: str) -> int:
        index = self._plant.index_of.get(name)
        return 0 if index is None else int(self._plant.version_of[index])

    def _maker(self, change: Any) -> Maker:
        match change.WhichOneof("change"):
            case "create":
                return lambda: self._created(change.create)
            case "replace":
                return lambda: self._replaced(change.replace)
            case "move":
                return lambda: self._moved(change.move)
            case "delete":
                return lambda: self._deleted(change.delete)
        return _nothing

    def _one(self, request: Any, maker: Maker) -> Subscriber:
        done = self._plant.change([maker], once=_once(request, lambda done: done.subscribers[0]))
        return Subscriber.FromString(done.answer) if done.answer is not None else done.subscribers[0]


@dataclass
class _Piece:
    """Messages of a stream that go to store and device together, and what is charged for them until they are there."""

    messages: list["_Some"] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    count: int = 0  # of subscribers
    plain: bool = True

    def add(self, some: "_Some", charge: Charge) -> None:
        """Add a message."""
        self.messages.append(some)
        self.charges.append(charge)
        self.count += some.count
        self.plain = self.plain and bool(some.columns)


class _Some:
    """A message of a stream: in columns where it is plain, and read by Python where it is not, or where it must be."""

    def __init__(self, data: bytes, many: Many) -> None:
        """Raises Problem for what is no message."""
        self._data, self.columns = data, many.read(data)
        self.size = len(data)
        if self.columns:
            self.count, self.queues, self.most_queues = self.columns.count, self.columns.queues, self.columns.most_queues
            self.all_or_nothing = self.columns.all_or_nothing
        else:
            request = self._read()
            counts = [len(subscriber.queues) for subscriber in request.subscribers]
            self.count, self.queues, self.most_queues = len(counts), sum(counts), max(counts, default=0)
            self.all_or_nothing = request.all_or_nothing

    def _read(self) -> subscribers_pb2.ProvisionRequest:
        try:
            return subscribers_pb2.ProvisionRequest.FromString(self._data)
        except DecodeError:
            raise invalid("what came is no message of this method") from None

    def subscribers(self) -> list[Subscriber]:
        """Return them. Raises Problem."""
        return list(self._read().subscribers)


def _once(request: Any, answer_of: Callable[[Done], Any]) -> Once | None:
    """Return how a request is done once, if it has an id; `answer_of`: the message to answer with. Raises Problem."""
    ident = request.request_id
    if len(ident) > MAX_REQUEST_ID:
        raise invalid(f"has {len(ident):,} characters, at most {MAX_REQUEST_ID} are allowed", "request_id")
    return Once(ident, hashlib.sha256(request.SerializeToString(deterministic=True)).digest(), answer_of) if ident else None


def _nothing() -> Subscriber:
    raise invalid("says nothing: give create, replace, move or delete", "change")


def _failure(failure: Any, before: int = 0) -> subscribers_pb2.BatchResponse.Failure:
    status = failure.problem.status()
    return subscribers_pb2.BatchResponse.Failure(item=before + failure.item, code=status.code, message=status.message)


def _batch_answer(done: Done) -> subscribers_pb2.BatchResponse:
    failures = [_failure(failure) for failure in done.failures[:MAX_FAILURES]]
    return subscribers_pb2.BatchResponse(failures=failures, failed=len(done.failures), applied=done.applied)


def _bulk_answer(done: Done) -> subscribers_pb2.BulkUpdateResponse:
    names = [subscriber.name for subscriber in done.subscribers[:MAX_FAILURES]]
    return subscribers_pb2.BulkUpdateResponse(subscribers=len(done.subscribers), names=names, applied=done.applied)


def add(total: common_pb2.Applied, more: common_pb2.Applied) -> None:
    """Add up what changes have cost."""
    for name in ("subscribers", "queues", "bus_writes", "device_cycles"):
        setattr(total, name, getattr(total, name) + getattr(more, name))
