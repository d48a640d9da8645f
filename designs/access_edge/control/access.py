"""Who may do what: roles by how a client has come, limits, and the audit log."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.problems import Code, Problem

READ, OPERATE, RAW = "read", "operate", "raw"
ROLES = (READ, OPERATE, RAW)  # each may what those before it may
ROLE_PREFIX = "penstock:"  # of the URI in a certificate's subjectAltName that says the role
_RAW_CALLS = {"/penstock.v1.Registers/Read", "/penstock.v1.Registers/Write"}
_READING = ("Get", "List", "Watch", "Totals", "Top", "Diff", "Read", "Check", "ServerReflectionInfo")
MAX_WHAT = 400  # characters of a request in the audit log


@dataclass(frozen=True)
class Limits:
    """What one server does at most."""

    message_bytes: int = 16 << 20
    streams: int = 64  # calls at once of one connection
    watchers: int = 16  # Counters.Watch at once, of all clients
    calls_per_second: float = 20_000.0  # of one peer


@dataclass
class Caller:
    """A client: what it is called in the log, and its role."""

    name: str
    role: str


def caller(context: grpc.ServicerContext) -> Caller:
    """Return who calls. A Unix socket is the user's own (its file lets no other in): raw. Loopback: operate. TLS: what the certificate
    says."""
    peer = context.peer()
    auth = context.auth_context()
    if peer.startswith("unix:"):
        return Caller("local user", RAW)
    if auth.get("transport_security_type") != [b"ssl"]:
        return Caller(peer, OPERATE)
    names = [name.decode() for name in auth.get("x509_common_name", [])]
    uris = [name.decode() for name in auth.get("x509_subject_alternative_name", [])]
    roles = [uri.removeprefix(ROLE_PREFIX) for uri in uris if uri.startswith(ROLE_PREFIX)]
    return Caller((names or [peer])[0], roles[0] if roles and roles[0] in ROLES else READ)


def needed(method: str) -> str:
    """Return the role that a call needs."""
    if method in _RAW_CALLS:
        return RAW
    return READ if method.rpartition("/")[2] in _READING else OPERATE


@dataclass
class _Bucket:
    tokens: float
    at: float = field(default_factory=time.monotonic)


class Guard(grpc.ServerInterceptor):
    """Looks at each call before it is done: role and rate; and writes the log of changes after it."""

    def __init__(self, intent: Intent, lock: Any, limits: Limits) -> None:
        """`lock`: of the store."""
        self._intent, self._store_lock, self._limits = intent, lock, limits
        self._of_thread = threading.local()  # `change`: who does what, until it is in the log
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def intercept_service(self, continuation: Callable[..., Any], details: grpc.HandlerCallDetails) -> Any:
        """Wrap the handler of a call."""
        handler = continuation(details)
        if handler is None:
            return None
        method = details.method
        role = needed(method)
        inner = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream

        def guarded(request: Any, context: grpc.ServicerContext) -> Any:
            who = caller(context)
            if handler.request_streaming:
                request = _sound(request, context)
            elif request is _GARBLED:
                _refuse_garbled(context)
            if ROLES.index(who.role) < ROLES.index(role):
                Problem(Code.PERMISSION_DENIED, f"{method} needs the role {role}, and {who.name} has {who.role}").abort(context)
            self._count(context)
            if role == READ:
                return inner(request, context)
            self._of_thread.change = (who.name, method, _words(request))
            try:
                return inner(request, context)
            finally:
                if self._of_thread.change:
                    code = context.code()
                    with self._store_lock:
                        self.log(code.name if code else "OK")

        kind = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, False): grpc.stream_unary_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[handler.request_streaming, handler.response_streaming]
        return kind(guarded, _reader(handler.request_deserializer), handler.response_serializer)

    def _count(self, context: grpc.ServicerContext) -> None:
        """Raise the status RESOURCE_EXHAUSTED where a peer calls more often than it may."""
        rate, peer, now = self._limits.calls_per_second, context.peer(), time.monotonic()
        with self._lock:
            if len(self._buckets) > 10_000:
                self._buckets.clear()
            bucket = self._buckets.setdefault(peer, _Bucket(rate))
            bucket.tokens = min(rate, bucket.tokens + (now - bucket.at) * rate)
            bucket.at = now
            enough = bucket.tokens >= 1
            bucket.tokens -= enough
        if not enough:
            Problem(Code.RESOURCE_EXHAUSTED, f"at most {rate:,.0f} calls a second are taken from one client").abort(context)

    def log(self, status: str = "OK") -> None:
        """Write the change that this thread does to the log, once. Called inside of the transaction that makes it durable, so that the log
        has what was done and nothing else, and by the guard itself for what was not done."""
        change = getattr(self._of_thread, "change", None)
        if change:
            self._of_thread.change = None
            self._intent.audit(*change, status)


_GARBLED = object()


def _reader(read: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Return a reader of messages that does not raise: gRPC would print a traceback and keep the stream."""

    def checked(data: bytes) -> Any:
        try:
            return read(data)
        except DecodeError:
            return _GARBLED

    return checked


def _sound(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
    for request in requests:
        if request is _GARBLED:
            _refuse_garbled(context)
        yield request


def _refuse_garbled(context: grpc.ServicerContext) -> None:
    Problem(Code.INVALID_ARGUMENT, "what came is no message of this method").abort(context)


def _words(request: Any) -> str:
    return " ".join(str(request).split())[:MAX_WHAT] if hasattr(request, "DESCRIPTOR") else "a stream"
