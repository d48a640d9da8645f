"""Who may do what: roles by how a client has come, limits, and the audit log."""

import contextlib
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError

from penstock.designs.access_edge.control.problems import Code, Problem
from penstock.designs.access_edge.control.revoked import Revoked
from penstock.designs.access_edge.control.turns import Turns
from penstock.designs.access_edge.control.waiting import Entry

READ, OPERATE, RAW = "read", "operate", "raw"
ROLES = (READ, OPERATE, RAW)  # each may what those before it may
ROLE_PREFIX = "penstock:"  # of the URI in a certificate's subjectAltName that says the role
_RAW_CALLS = {"/penstock.v1.Registers/Read", "/penstock.v1.Registers/Write"}
_OPERATE_CALLS = {"/penstock.v1.Audit/List", "/penstock.v1.Store/Backup"}  # read, but not for everybody
_READING = ("Get", "List", "Watch", "Totals", "Top", "History", "Diff", "Read", "Backup", "Check", "ServerReflectionInfo")
MAX_WHAT = 400  # characters of a request in the audit log
WATCH = "/penstock.v1.Counters/Watch"  # has places of its own
UNREAD = {"/penstock.v1.Subscribers/Provision"}  # gets its messages as bytes, and reads them itself
# Bytes above which one request at a time is read and done: in memory it may be fifty times as large; and above which an answer counts for
# how much of these is held.
LARGE = 16 << 10


@dataclass(frozen=True)
class Limits:
    """What one server does at most."""

    message_bytes: int = 4 << 20
    connections: int = 256
    calls: int = 256  # at once, of all clients
    calls_of_one: int = 128  # of one client
    calls_of_a_connection: int = 64
    watchers: int = 16  # Counters.Watch at once, of all clients
    watchers_of_one: int = 8
    streams: int = 32  # other streaming calls at once, of all clients
    stall_seconds: float = 60.0  # so long a stream may wait for its client to send or to read, and any answer to be taken
    held_bytes: int = 64 << 20  # of large requests that are held at once; and of large answers that are not taken yet
    calls_per_second: float = 20_000.0  # of one client


@dataclass
class Caller:
    """A client: what it is called in the log, and its role."""

    name: str
    role: str
    key: str  # whom limits and turns are counted for


def caller(context: grpc.ServicerContext) -> Caller:
    """Return who calls. A Unix socket is the user's own (its file lets no other in): raw, and each process counts for itself. Loopback:
    operate, each connection. TLS: what the certificate says. Raises Problem for a role that there is not."""
    peer = context.peer()
    auth = cast(Mapping[str, Sequence[bytes]], context.auth_context())  # the stubs forget that each has several
    if peer.startswith(("unix:", "unix-abstract:")):
        name, _, connection = peer.rpartition("/")
        return Caller("local user", RAW, name if connection else peer)
    if auth.get("transport_security_type") != [b"ssl"]:
        return Caller(peer, OPERATE, peer)
    names = [name.decode() for name in auth.get("x509_common_name", [])]
    uris = [name.decode() for name in auth.get("x509_subject_alternative_name", [])]
    roles = [uri.removeprefix(ROLE_PREFIX) for uri in uris if uri.startswith(ROLE_PREFIX)]
    name = (names or [peer])[0]
    if wrong := [role for role in roles if role not in ROLES]:
        words = f"the certificate of {name} has the role {wrong[0]!r}, which there is not: roles are {', '.join(ROLES)}"
        raise Problem(Code.PERMISSION_DENIED, words)
    return Caller(name, max(roles, key=ROLES.index, default=READ), name)


def needed(method: str) -> str:
    """Return the role that a call needs."""
    if method in _RAW_CALLS:
        return RAW
    return READ if reads(method) and method not in _OPERATE_CALLS else OPERATE


def reads(method: str) -> bool:
    """Return whether a call changes nothing, so that it is not in the log; raw access is there all the same."""
    return method.rpartition("/")[2] in _READING and method not in _RAW_CALLS


@dataclass
class _Bucket:
    tokens: float
    at: float = field(default_factory=time.monotonic)


class Budget:
    """Bytes of requests that are held at once. What is charged is given back when the charge is gone."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self, size: int) -> "Charge | None":
        """Return a charge; None where that is more than is left."""
        with self._lock:
            if size > self._left:
                return None
            self._left -= size
        return Charge(self, size)

    def give(self, size: int) -> None:
        """Give back what a charge has taken."""
        with self._lock:
            self._left += size


class Charge:
    """A part of a budget, as long as it lives: also where gRPC lets go of a request that its method never sees."""

    def __init__(self, budget: Budget, size: int) -> None:
        self._budget, self._size = budget, size

    def __del__(self) -> None:
        self._budget.give(self._size)


class Places:
    """So many calls at once, or bytes, and so many of one client."""

    def __init__(self, most: int, of_one: int, what: str, fair: bool = False) -> None:
        """`what` there are, for the sentence of one too many. `fair`: one client may have at most as many as are still free, so that some
        are left for others however many clients want all (dynamic thresholds, as among queues that share a memory)."""
        self._most, self._of_one, self._what, self._fair = most, of_one, what, fair
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, name: str, count: int = 1) -> None:
        """Take places for a client. Raises Problem."""
        with self._lock:
            own, of_all = self._taken[name] + count, self._taken.total() + count
            if own > self._of_one:
                raise self._too_many("this client", own, self._of_one)
            if of_all > self._most:
                raise self._too_many("the server", of_all, self._most)
            if self._fair and own > (left := self._most - of_all + count):
                raise self._too_many("this client", own, left)
            self._taken[name] = own

    def _too_many(self, who: str, count: int, most: int) -> Problem:
        return Problem(Code.RESOURCE_EXHAUSTED, f"{who} would have {count:,} {self._what}, at most {most:,} are allowed now")

    def give(self, name: str, count: int = 1) -> None:
        """Give them back."""
        with self._lock:
            self._taken[name] -= count
            if not self._taken[name]:
                del self._taken[name]

    @contextlib.contextmanager
    def one(self, name: str) -> Iterator[None]:
        """Have a place for a client inside of the `with`. Raises Problem."""
        self.take(name)
        try:
            yield
        finally:
            self.give(name)


class Stalls:
    """Ends calls whose clients neither send nor read."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: dict[int, tuple[float, Any]] = {}
        self._numbers = itertools.count()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stalls", daemon=True)

    def begin(self, context: Any) -> int:
        """From now on a client is waited for; returns the number of that."""
        number = next(self._numbers)
        self._waiting[number] = (time.monotonic(), context)
        return number

    def end(self, number: int) -> None:
        """It is not any more."""
        self._waiting.pop(number, None)

    @contextlib.contextmanager
    def waiting(self, context: Any) -> Iterator[None]:
        """Inside of the `with` the client is waited for."""
        number = self.begin(context)
        try:
            yield
        finally:
            self.end(number)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Look after them inside of the `with`."""
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(min(1.0, self._seconds / 4)):
            now = time.monotonic()
            for since, context in list(self._waiting.copy().values()):
                if now - since > self._seconds:
                    context.cancel()


class Guard(grpc.ServerInterceptor):
    """Looks at each call before it is done: role, rate and how many there are; and writes the log of changes after it."""

    def __init__(
        self,
        noting: Callable[..., contextlib.AbstractContextManager[None]],
        limits: Limits,
        stalls: Stalls,
        revoked: Revoked | None = None,
    ) -> None:
        """`noting`: of the plant; `revoked`: certificates that are not taken."""
        self._noting, self._limits, self._stalls, self._revoked = noting, limits, stalls, revoked
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()
        self._calls = Places(limits.calls, limits.calls_of_one, "calls that are under way", fair=True)
        self._streams = Places(limits.streams, limits.streams // 2, "calls that stream")
        self._answers = Places(limits.held_bytes, limits.held_bytes // 2, "bytes of answers that are not taken", fair=True)
        self._large = threading.Lock()
        self.turns = Turns()
        self._held = Budget(limits.held_bytes)
        self._wrapped: dict[str, Any] = {}  # handlers that there are, by method

    def intercept_service(self, continuation: Callable[..., Any], details: grpc.HandlerCallDetails) -> Any:
        """Wrap the handler of a call."""
        method = details.method
        if method not in self._wrapped:
            handler = continuation(details)
            if handler is None:
                return None
            self._wrapped[method] = self._wrap(handler, method)
        return self._wrapped[method]

    def _wrap(self, handler: Any, method: str) -> Any:
        role, read = needed(method), bytes if method in UNREAD else handler.request_deserializer
        inner = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream

        def guarded(request: Any, context: grpc.ServicerContext) -> Any:
            try:
                with self._admitted(request, context, method, role, read, streams=handler.request_streaming) as call:
                    who = call.who
                    if handler.request_streaming:
                        try:
                            found = self._done(inner, self._messages(request, read, context, who.key), context, who, method)
                            return self._charged(call, handler.response_serializer(found))
                        finally:
                            self.turns.leave()
                    with self._one_if_large(request), self.turns.one(who.key):
                        found = self._done(inner, _read(request, read), context, who, method)
                        return self._charged(call, handler.response_serializer(found))
            except Problem as problem:
                problem.abort(context)

        def streamed(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
            try:
                with self._admitted(request, context, method, role, read, streams=method != WATCH):
                    given = self._messages(request, read, context) if handler.request_streaming else _read(request, read)
                    for answer in inner(given, context):
                        with self._stalls.waiting(context):
                            yield answer
            except Problem as problem:
                problem.abort(context)

        kind = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, False): grpc.stream_unary_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[handler.request_streaming, handler.response_streaming]
        if handler.response_streaming:
            return kind(streamed, self._raw, handler.response_serializer)
        return kind(guarded, self._raw, None)  # its answers are bytes: what they are in memory is known so

    @contextlib.contextmanager
    def _admitted(
        self, request: Any, context: grpc.ServicerContext, method: str, role: str, read: Callable[[bytes], Any], streams: bool
    ) -> Iterator["_Call"]:
        """Have a place for a call, inside of the `with` and until the client has the answer or is gone, and say whose it is; `streams`: and
        a place for a stream inside of the `with`. A call for which the role is missing, or whose certificate is revoked, is in the log.
        Raises Problem."""
        who = caller(context)
        words = self._revoked.words(context, who.name) if self._revoked else ""
        if not words and ROLES.index(who.role) < ROLES.index(role):
            words = f"{method} needs the role {role}, and {who.name} has {who.role}"
        if words:
            with self._noting(Entry(who.name, method, _words_of_raw(request, read)), lambda: Code.PERMISSION_DENIED.name):
                pass
            raise Problem(Code.PERMISSION_DENIED, words)
        self._count(who.key)
        self._calls.take(who.key)
        call = _Call(who)
        try:
            with self._streams.one(who.key) if streams else contextlib.nullcontext():
                yield call
        finally:
            number = self._stalls.begin(context)

            def end() -> None:
                self._stalls.end(number)
                self._calls.give(who.key)
                if call.size:
                    self._answers.give(who.key, call.size)

            if not context.add_callback(end):  # the client is gone already
                end()

    def _charged(self, call: "_Call", answer: bytes) -> bytes:
        """Return an answer, for which its call is charged from now on if it is large. Raises Problem."""
        if len(answer) > LARGE:
            self._answers.take(call.who.key, len(answer))
            call.size = len(answer)
        return answer

    def _one_if_large(self, raw: "_Raw") -> contextlib.AbstractContextManager[Any]:
        """Return what to do with a request inside of: large ones are read and done one at a time."""
        return self._large if len(raw.data) > LARGE else contextlib.nullcontext()

    def _raw(self, data: bytes) -> "_Raw":
        """Return what came, unread: gRPC calls this in its one thread, which must not be held up."""
        if len(data) <= LARGE:
            return _Raw(data)
        charge = self._held.take(len(data))
        return _Raw(data, charge) if charge else _Raw(b"", refused=True)

    def _messages(
        self, requests: Iterator[Any], read: Callable[[bytes], Any], context: grpc.ServicerContext, client: str = ""
    ) -> Iterator[Any]:
        """Yield the messages of a stream; each is worked on in a turn of its client, if it is named, and so is what follows the last one.
        It is not where answers are streamed, too: working on a message is to wait there until its answer is taken. So a large one, beside
        which no other one is done, is refused. Raises Problem."""
        while True:
            with self._stalls.waiting(context):
                raw = next(requests, None)
            if raw is None:
                if not context.is_active():  # gRPC ends what was cancelled as if its client had ended it
                    raise Problem(Code.CANCELLED, "the stream was cancelled")
                if client:
                    self.turns.take(client)
                return
            if len(raw.data) > LARGE and not client:
                raise Problem(Code.RESOURCE_EXHAUSTED, f"a message of this method has at most {LARGE:,} bytes, not {len(raw.data):,}")
            with self._one_if_large(raw), self.turns.one(client) if client else contextlib.nullcontext():
                request = _read(raw, read)
                del raw
                yield request
                del request

    def _done(self, inner: Callable[..., Any], request: Any, context: Any, who: Caller, method: str) -> Any:
        """Do a call that is allowed; a change is in the log afterwards."""
        if reads(method):
            return inner(request, context)
        code = context.code
        with self._noting(
            Entry(who.name, method, _words(request), who.key, context.is_active), lambda: found.name if (found := code()) else "OK"
        ):
            return inner(request, context)

    def _count(self, name: str) -> None:
        """Raise Problem where a client calls more often than it may."""
        rate, now = self._limits.calls_per_second, time.monotonic()
        with self._lock:
            if len(self._buckets) > 10_000:
                self._buckets.clear()
            bucket = self._buckets.setdefault(name, _Bucket(rate))
            bucket.tokens = min(rate, bucket.tokens + (now - bucket.at) * rate)
            bucket.at = now
            enough = bucket.tokens >= 1
            bucket.tokens -= enough
        if not enough:
            raise Problem(Code.RESOURCE_EXHAUSTED, f"at most {rate:,.0f} calls a second are taken from one client")


@dataclass
class _Call:
    """A call: whose it is, and bytes of its answer that are charged."""

    who: Caller
    size: int = 0


@dataclass
class _Raw:
    """What came, and what is charged for it."""

    data: bytes
    charge: Charge | None = None
    refused: bool = False


def _read(raw: _Raw, read: Callable[[bytes], Any]) -> Any:
    """Return the message. Raises Problem: if gRPC read it, it would print a traceback and keep the stream."""
    if raw.refused:
        raise Problem(Code.RESOURCE_EXHAUSTED, "the server holds as many large requests as it may; send it again later")
    try:
        return read(raw.data)
    except DecodeError:
        raise Problem(Code.INVALID_ARGUMENT, "what came is no message of this method") from None


def _words_of_raw(raw: Any, read: Callable[[bytes], Any]) -> str:
    """Return a request that was not read for the log. A large one is not read for that."""
    if not isinstance(raw, _Raw):
        return _words(raw)
    try:
        return f"{len(raw.data):,} byte" if raw.refused or len(raw.data) > LARGE else _words(_read(raw, read))
    except Problem:
        return "no message of this method"


def _words(request: Any) -> str:
    """Return a request for the log: whole if it is short, else what fields it has and how much is in them."""
    if not hasattr(request, "DESCRIPTOR"):
        return "a stream"
    if request.ByteSize() <= MAX_WHAT:
        text = str(request)
        some = " ".join(text[: 4 * MAX_WHAT].split())  # mostly enough
        return (some if len(some) > MAX_WHAT else " ".join(text.split()))[:MAX_WHAT]
    words = []
    for field_of, value in request.ListFields():
        if field_of.is_repeated:
            words.append(f"{field_of.name}: {len(value):,} entries")
        elif field_of.message_type is not None:
            name = str(getattr(value, "name", ""))[:MAX_WHAT]
            words.append(f"{field_of.name}: {{ {f'name: {name!r}, ' if name else ''}{value.ByteSize():,} byte }}")
        else:
            words.append(f"{field_of.name}: {str(value)[:MAX_WHAT]!r}")
    return " ".join(words)[:MAX_WHAT]
