"""Subscribers: made, changed, moved, listed; one by one, in batches, as a stream."""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import grpc
from google.protobuf import empty_pb2

from penstock.designs.access_edge.control.access import Budget, Charge, Limits
from penstock.designs.access_edge.control.plant import AT_ONCE, Done, Maker, Plant, Subscriber, check_version
from penstock.designs.access_edge.control.problems import Code, Problem, invalid
from penstock.designs.access_edge.control.services import calls
from penstock.v1 import common_pb2, subscribers_pb2, subscribers_pb2_grpc

FIELDS = ("node", "rate_bps", "burst_bytes", "weight", "queues", "gate_closed")
MAX_PAGE, PAGE = 10_000, 1_000
MAX_BATCH = 100_000
MAX_FAILURES = 1_000
MAX_REQUEST_ID = 128
HELD_BYTES, HELD_OF_QUEUE = 256, 128  # of memory, at least: a subscriber that is held, and each of its queues


@calls
class Subscribers(subscribers_pb2_grpc.SubscribersServicer):
    """The service."""

    def __init__(self, plant: Plant, limits: Limits) -> None:
        self._plant = plant
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
        self._once(request, lambda note: self._plant.change([lambda: self._deleted(request)], True, note), lambda done: empty_pb2.Empty())
        return empty_pb2.Empty()

    def Get(self, request: Any, context: grpc.ServicerContext) -> Subscriber:
        """Return a subscriber."""
        return self._plant.get(request.name)

    def List(self, request: Any, context: grpc.ServicerContext) -> subscribers_pb2.ListSubscribersResponse:
        """Return a page of subscribers, by name."""
        if request.page_size > MAX_PAGE:
            raise invalid(f"must be at most {MAX_PAGE:,}, not {request.page_size:,}", "page_size")
        size = request.page_size or PAGE
        with self._plant.lock:
            node = request.node if request.HasField("node") else None
            found = self._plant.intent.page(request.page_token, size + 1, node, request.name_contains)
        token = found[size - 1].name if len(found) > size else ""
        return subscribers_pb2.ListSubscribersResponse(subscribers=found[:size], next_page_token=token)

    def Batch(self, request: Any, context: grpc.ServicerContext) -> subscribers_pb2.BatchResponse:
        """Do many changes."""
        if len(request.changes) > MAX_BATCH:
            raise invalid(f"has {len(request.changes):,} changes, at most {MAX_BATCH:,} are allowed", "changes")
        makers = [self._maker(change) for change in request.changes]
        answer = subscribers_pb2.BatchResponse.FromString(
            self._once(request, lambda note: self._plant.change(makers, request.all_or_nothing, note), _batch_answer)
        )
        return answer

    def Provision(self, requests: Iterator[Any], context: grpc.ServicerContext) -> subscribers_pb2.ProvisionResponse:
        """Create or replace subscribers as they come."""
        answer = subscribers_pb2.ProvisionResponse()
        waiting: list[Subscriber] = []
        charges: list[Charge] = []
        before, whole = 0, False
        for number, request in enumerate(requests):
            if len(request.subscribers) > MAX_BATCH:
                raise invalid(f"has {len(request.subscribers):,} in a message, at most {MAX_BATCH:,} are allowed", "subscribers")
            whole = request.all_or_nothing if number == 0 else whole
            charges.append(self._charge(request, before + len(waiting)))
            waiting.extend(request.subscribers)
            if len(waiting) >= AT_ONCE and not whole:
                before = self._provision(waiting, before, whole, answer)
                charges.clear()
        self._provision(waiting, before, whole, answer)
        return answer

    def _charge(self, request: Any, before: int) -> Charge:
        """Return a charge for what a message will take as long as it is held. Raises Problem."""
        counts = [len(subscriber.queues) for subscriber in request.subscribers]
        each, queues = self._plant.facts.queues_per_subscriber, sum(counts)
        if max(counts, default=0) > each:
            raise invalid(
                f"the device has {each} a subscriber, not {max(counts)}", f"subscribers[{before + counts.index(max(counts))}].queues"
            )
        size = request.ByteSize() + HELD_BYTES * len(request.subscribers) + HELD_OF_QUEUE * queues
        charge = self._held.take(size)
        if charge is None:
            raise Problem(
                Code.RESOURCE_EXHAUSTED,
                "streams that are all or nothing are held until they end, and the server holds as much as it may; send less, or later",
            )
        return charge

    def _provision(self, waiting: list[Subscriber], before: int, whole: bool, answer: Any) -> int:
        done = self._plant.change([self._put(subscriber) for subscriber in waiting], whole)
        for failure in done.failures:
            answer.failed += 1
            if len(answer.failures) < MAX_FAILURES:
                answer.failures.append(_failure(failure, before))
        add(answer.applied, done.applied)
        before += len(waiting)
        waiting.clear()
        return before

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
        for name in fields or FIELDS:
            there.ClearField(name)
            if name == "queues":
                there.queues.extend(wanted.queues)
            elif name in ("node", "gate_closed") or wanted.HasField(name):
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
        return 0 if index is None else self._plant.version_of[index]

    def _maker(self, change: Any) -> Maker:
        kind = change.WhichOneof("change")
        makers: dict[str | None, Maker] = {
            "create": lambda: self._created(change.create),
            "replace": lambda: self._replaced(change.replace),
            "move": lambda: self._moved(change.move),
            "delete": lambda: self._deleted(change.delete),
            None: lambda: _nothing(),
        }
        return makers[kind]

    # ---- requests that may come twice

    def _one(self, request: Any, maker: Maker) -> Subscriber:
        answer = self._once(request, lambda note: self._plant.change([maker], True, note), lambda done: done.subscribers[0])
        return Subscriber.FromString(answer)

    def _once(self, request: Any, do: Callable[[Any], Done], answer_of: Callable[[Done], Any]) -> bytes:
        """Do a change and return the answer's bytes; for a request id that was done before, the answer of then."""
        ident = request.request_id
        if len(ident) > MAX_REQUEST_ID:
            raise invalid(f"has {len(ident):,} characters, at most {MAX_REQUEST_ID} are allowed", "request_id")
        if not ident:
            return bytes(answer_of(do(None)).SerializeToString())
        intent, digest = self._plant.intent, hashlib.sha256(request.SerializeToString(deterministic=True)).digest()
        with self._plant.lock:
            known = intent.answer(ident)
            if known:
                if known[0] != digest:
                    raise invalid(f"{ident!r} was used for another request", "request_id")
                return bytes(known[1])
            done = do(lambda done: intent.remember(ident, digest, answer_of(done).SerializeToString()))
            return bytes(answer_of(done).SerializeToString())


def _nothing() -> Subscriber:
    raise invalid("says nothing: give create, replace, move or delete", "change")


def _failure(failure: Any, before: int = 0) -> subscribers_pb2.BatchResponse.Failure:
    status = failure.problem.status()
    return subscribers_pb2.BatchResponse.Failure(item=before + failure.item, code=status.code, message=status.message)


def _batch_answer(done: Done) -> subscribers_pb2.BatchResponse:
    return subscribers_pb2.BatchResponse(failures=[_failure(failure) for failure in done.failures], applied=done.applied)


def add(total: common_pb2.Applied, more: common_pb2.Applied) -> None:
    """Add up what changes have cost."""
    for name in ("subscribers", "queues", "bus_writes", "device_cycles"):
        setattr(total, name, getattr(total, name) + getattr(more, name))
