"""A client of the control plane, for programs: the services by their nouns, and errors as sentences.

with Client() as client:                                  # of this user's server on this machine
    client.subscribers.Create(...)                        # penstock.v1 messages, as in the files src/penstock/v1/*.proto
    client.provision(subscribers)                         # many, in one streaming call
"""

import functools
import itertools
import os
import socket
import ssl
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from penstock.designs.access_edge.control import certificates
from penstock.designs.access_edge.control.fields import text
from penstock.designs.access_edge.control.server import is_local
from penstock.driver import places
from penstock.errors import UserError
from penstock.v1 import (
    audit_pb2_grpc,
    counters_pb2_grpc,
    device_pb2_grpc,
    headers_pb2_grpc,
    hierarchy_pb2_grpc,
    plans_pb2_grpc,
    queues_pb2_grpc,
    registers_pb2_grpc,
    store_pb2,
    store_pb2_grpc,
    subscribers_pb2,
    subscribers_pb2_grpc,
)

MESSAGE_BYTES = 64 << 20  # of an answer, at most
A_MESSAGE = 1_000  # subscribers of a message of `provision`
CONNECT_SECONDS = 5.0
_LOST = ("Socket closed", "Connection reset", "recvmsg", "GOAWAY", "Broken pipe", "keepalive", "ping timeout")  # words of gRPC


class Client:
    """A connection to a control plane. Its services raise grpc.RpcError; `sentence` makes words of one."""

    def __init__(
        self, address: str | None = None, certificate: Path | None = None, key: Path | None = None, server: Path | None = None
    ) -> None:
        """`address`: `unix:PATH` or `HOST:PORT`; None: the server of this user on this machine. What is not local needs the client's
        `certificate` and `key`, and the certificate of the authority that signed the `server`'s. Raises UserError where nothing answers."""
        self.address = text(address or places.control(), "--server")
        files = (certificate, key, server)
        if any(files) and not all(files):
            raise UserError("--cert, --key and --server-ca are given together or not at all")
        if not is_local(self.address) and not all(files):
            raise UserError(f"--server {self.address}: is not local, so it needs --cert, --key and --server-ca")
        options = [("grpc.max_receive_message_length", MESSAGE_BYTES)]
        secure: ssl.SSLContext | None = None
        if certificate and key and server:
            secure = certificates.checked(certificate, key, server, ("--cert", "--key", "--server-ca"))
            parts = [path.read_bytes() for path in (server, key, certificate)]
            self.channel = grpc.secure_channel(self.address, grpc.ssl_channel_credentials(*parts), options)
        else:
            self.channel = grpc.insecure_channel(self.address, options)
        try:
            grpc.channel_ready_future(self.channel).result(timeout=CONNECT_SECONDS)
        except grpc.FutureTimeoutError:
            self.channel.close()
            raise UserError(f"{self.address}: {_why_not(self.address, secure)}") from None
        self.device = device_pb2_grpc.DeviceStub(self.channel)
        self.subscribers = subscribers_pb2_grpc.SubscribersStub(self.channel)
        self.nodes = hierarchy_pb2_grpc.NodesStub(self.channel)
        self.ports = hierarchy_pb2_grpc.PortsStub(self.channel)
        self.queues = queues_pb2_grpc.QueuesStub(self.channel)
        self.gates = queues_pb2_grpc.GatesStub(self.channel)
        self.aqm = queues_pb2_grpc.AqmSettingsStub(self.channel)
        self.headers = headers_pb2_grpc.HeadersStub(self.channel)
        self.counters = counters_pb2_grpc.CountersStub(self.channel)
        self.audit = audit_pb2_grpc.AuditStub(self.channel)
        self.registers = registers_pb2_grpc.RegistersStub(self.channel)
        self.plans = plans_pb2_grpc.PlansStub(self.channel)
        self.store = store_pb2_grpc.StoreStub(self.channel)

    def provision(
        self, subscribers: Iterable[subscribers_pb2.Subscriber], all_or_nothing: bool = False
    ) -> subscribers_pb2.ProvisionResponse:
        """Create or replace subscribers in one streaming call."""
        call: grpc.StreamUnaryMultiCallable[bytes, subscribers_pb2.ProvisionResponse] = self.channel.stream_unary(
            "/penstock.v1.Subscribers/Provision",
            request_serializer=None,
            response_deserializer=subscribers_pb2.ProvisionResponse.FromString,
        )
        return call(_messages(subscribers, all_or_nothing))

    def backup(self, path: Path) -> int:
        """Copy the server's store to a file, which is whole or not there, and return the revision that it has."""
        revision, half = 0, path.with_name(f".{path.name}.part")
        try:
            with half.open("wb") as file:
                for part in self.store.Backup(store_pb2.BackupRequest()):
                    file.write(part.data)
                    revision = part.revision
                file.flush()
                os.fsync(file.fileno())
            half.replace(path)
        finally:
            half.unlink(missing_ok=True)
        return revision

    def list(self, node: int | None = None, contains: str = "") -> Iterator[subscribers_pb2.Subscriber]:
        """Yield subscribers by name."""
        return self.listed(subscribers_pb2.ListSubscribersRequest(node=node, name_contains=contains))

    def listed(self, request: subscribers_pb2.ListSubscribersRequest) -> Iterator[subscribers_pb2.Subscriber]:
        """Yield the subscribers of a request, page by page."""
        request.page_size = 10_000
        while True:
            page = self.subscribers.List(request)
            yield from page.subscribers
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def close(self) -> None:
        """Close the connection."""
        self.channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def violation(error: grpc.RpcError) -> tuple[str, str] | None:
    """Return the path of the field that is wrong, and what is wrong with it, where an error tells (google.rpc.BadRequest)."""
    status = rpc_status.from_call(error) if isinstance(error, grpc.Call) else None
    bad = error_details_pb2.BadRequest()
    if status is None or not any(detail.Unpack(bad) for detail in status.details):
        return None
    return bad.field_violations[0].field, bad.field_violations[0].description


def sentence(error: grpc.RpcError) -> str:
    """Return what went wrong, in one sentence."""
    code = error.code()
    words = " ".join((error.details() or "").split())
    if code == grpc.StatusCode.UNAVAILABLE and "to connect" in words:
        return f"the control plane is gone, and was asked for nothing ({words[:120]}); repeat it when it is back"
    if code == grpc.StatusCode.UNAVAILABLE and any(lost in words for lost in _LOST):
        return (
            f"the control plane went away before it answered ({words[:120]}); whether a change was made is not known: look when it "
            "is back, and repeat it if it was not"
        )
    return words


def _why_not(address: str, secure: ssl.SSLContext | None) -> str:
    """Return in words why there is no connection; `secure`: it would be one with these certificates."""
    host, _, port = address.rpartition(":")
    try:
        if not address.startswith("unix:"):
            with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS):
                if secure:
                    return certificates.refused(host.strip("[]"), int(port), secure) or "a server is there, but does not answer"
                return "a server is there, but none without TLS: if it is a control plane, it needs --cert, --key and --server-ca"
    except (OSError, ValueError):
        pass
    return "no control plane answers there; `penstock serve` starts one"


def _messages(subscribers: Iterable[subscribers_pb2.Subscriber], whole: bool) -> Iterator[bytes]:
    """Yield messages of A_MESSAGE subscribers as bytes: a message that holds others would have a copy of each."""
    head = subscribers_pb2.ProvisionRequest(all_or_nothing=whole).SerializeToString()
    some = iter(subscribers)
    while parts := [subscriber.SerializeToString() for subscriber in itertools.islice(some, A_MESSAGE)]:
        yield head + b"".join(b"\x0a" + _varint(len(part)) + part for part in parts)
    yield head


@functools.lru_cache(maxsize=4096)
def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
