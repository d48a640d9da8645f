"""All services behind a socket."""

import contextlib
import ctypes
import ipaddress
import logging
import os
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from penstock.designs.access_edge.control import certificates
from penstock.designs.access_edge.control.access import Guard, Limits, Stalls
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.revoked import Revoked
from penstock.designs.access_edge.control.services import (
    audit,
    counters,
    device,
    headers,
    hierarchy,
    plans,
    queues,
    registers,
    store,
    subscribers,
)
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.control.workers import Workers
from penstock.errors import UserError
from penstock.v1 import (
    audit_pb2,
    audit_pb2_grpc,
    counters_pb2,
    counters_pb2_grpc,
    device_pb2,
    device_pb2_grpc,
    headers_pb2,
    headers_pb2_grpc,
    hierarchy_pb2,
    hierarchy_pb2_grpc,
    plans_pb2,
    plans_pb2_grpc,
    queues_pb2,
    queues_pb2_grpc,
    registers_pb2,
    registers_pb2_grpc,
    store_pb2,
    store_pb2_grpc,
    subscribers_pb2,
    subscribers_pb2_grpc,
)

LOG = logging.getLogger("penstock.control")
STOP_SECONDS = 2.0
SWITCH_SECONDS = 0.0005  # after so long a thread of Python lets others go on: a call has several
M_ARENA_MAX = -8  # of mallopt(3)
HANDSHAKE_MS = 10_000  # for a connection to become one of HTTP/2
ALIVE_MS = 30_000  # a connection that says nothing is asked whether it is there: a machine that has gone says no good-bye


@dataclass(frozen=True)
class Tls:
    """Files of a server that is reached from other machines: its certificate and key, that of who signs its clients', and their list of
    those that are revoked."""

    certificate: Path
    key: Path
    clients: Path
    revoked: Path | None = None

    def credentials(self) -> grpc.ServerCredentials:
        """Return what gRPC wants. Files that change hold for the connections from then on; wrong ones are logged, and those before them
        go on to hold. Raises UserError."""
        latest, words, lock = self._read(), "", threading.Lock()

        def changed() -> Any:
            """Return what is new, asked before each handshake, several at once; None: nothing is."""
            with lock:
                return look()

        def look() -> Any:
            nonlocal latest, words
            try:
                found = self._read()
            except UserError as error:
                if str(error) != words:
                    words = str(error)
                    LOG.error("%s; the certificates until now go on to hold", words)
                return None
            if found == latest:
                return None
            latest, words = found, ""
            LOG.info("The certificates were changed: %s", self.certificate)
            return _configuration(found)

        return grpc.dynamic_ssl_server_credentials(_configuration(latest), changed, require_client_authentication=True)

    def _read(self) -> tuple[bytes, bytes, bytes]:
        """Return key, certificate, and the authority of clients. Raises UserError."""
        certificates.checked(self.certificate, self.key, self.clients, ("--tls-cert", "--tls-key", "--tls-clients"))
        return self.key.read_bytes(), self.certificate.read_bytes(), self.clients.read_bytes()


def _configuration(parts: tuple[bytes, bytes, bytes]) -> Any:
    return grpc.ssl_server_certificate_configuration([parts[:2]], root_certificates=parts[2])


def is_local(address: str) -> bool:
    """Return whether an address is a Unix socket or of the loopback interface."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@contextlib.contextmanager
def serving(plant: Plant, sweep: Sweep, listen: list[str], tls: Tls | None = None, limits: Limits | None = None) -> Iterator[list[str]]:
    """Serve at some addresses (`unix:PATH`, `HOST:PORT`; port 0: any that is free) inside of the `with`; yields them with their ports.

    What is not local needs TLS. Raises UserError.
    """
    limits = limits or Limits()
    _bound_arenas()
    sys.setswitchinterval(SWITCH_SECONDS)
    stalls = Stalls(limits.stall_seconds)
    guard = Guard(plant.noting, limits, stalls, Revoked(tls.revoked, tls.clients) if tls and tls.revoked else None)
    plant.pause, plant.turn = guard.turns.leave, guard.turns.one
    options = [
        ("grpc.max_receive_message_length", limits.message_bytes),
        ("grpc.max_concurrent_streams", limits.calls_of_a_connection),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
        ("grpc.keepalive_time_ms", ALIVE_MS),
        ("grpc.keepalive_timeout_ms", HANDSHAKE_MS),
        ("grpc.so_reuseport", 0),
    ]
    # A thread for each call that is taken, so that none waits for another one that holds its thread.
    pool = Workers("grpc")
    # grpc takes any Executor; its stubs name one kind.
    server = grpc.server(pool, interceptors=[guard], options=options, maximum_concurrent_rpcs=limits.calls)  # type: ignore[arg-type]
    health_service = _add(server, plant, sweep, limits)
    try:
        with contextlib.ExitStack() as stack:
            inner = {address: stack.enter_context(_inner(server, address)) for address in listen if address.startswith("unix:")}
            places = [address if address in inner else _listen(server, address, tls) for address in listen]
            server.start()
            for place, behind in inner.items():
                stack.enter_context(_relayed(place.removeprefix("unix:"), behind, limits.connections))
            stack.enter_context(stalls.watched())
            yield places
    finally:
        health_service.enter_graceful_shutdown()
        server.stop(STOP_SECONDS).wait()
        pool.shutdown()
        plant.pause, plant.turn = lambda: None, lambda client: contextlib.nullcontext()


@contextlib.contextmanager
def _inner(server: grpc.Server, address: str) -> Iterator[str]:
    """Have gRPC listen behind the Unix socket at `address`; yields where. Raises UserError.

    gRPC takes whatever socket is at the path away, binds its own, and takes that path away again at its end, so no other server may ever
    have the same one: it has a name that is drawn, and none any more as soon as it is bound. An open file leads to it from then on."""
    folder = os.path.dirname(address.removeprefix("unix:")) or "."
    with contextlib.ExitStack() as stack:
        mask = os.umask(0o177)  # from its first moment the socket is this user's alone
        try:
            stack.callback(os.close, place := os.open(folder, os.O_PATH | os.O_DIRECTORY))
            path = f"/proc/self/fd/{place}/.{os.getpid()}-{os.urandom(4).hex()}"  # short: a socket's path has 107 characters at most
            server.add_insecure_port(f"unix:{path}")
            stack.callback(os.close, file := os.open(path, os.O_PATH))
            os.unlink(path)
        except (RuntimeError, OSError) as error:
            raise _no_listening(address, error) from None
        finally:
            os.umask(mask)
        yield f"/proc/self/fd/{file}"


def _no_listening(address: str, error: Exception) -> UserError:
    return UserError(f"--listen {address}: cannot be listened at ({' '.join(str(error).split())[:120]})")


@contextlib.contextmanager
def _relayed(path: str, inner: str, connections: int) -> Iterator[None]:
    """Let clients in at the socket `path` inside of the `with`: gRPC listens at `inner`, and learns from whom each connection is
    (relay.hpp). Raises UserError."""
    from penstock.engine import engine

    relay = engine.module("designs/access_edge/control").Relay
    with contextlib.suppress(OSError):
        with socket.socket(socket.AF_UNIX) as there:
            if there.connect_ex(path) == 0:
                raise UserError(f"--listen unix:{path}: another server is there")
        os.unlink(path)
    mask = os.umask(0o177)  # from its first moment the socket is this user's alone
    try:
        made = relay(path, inner, f"penstock-{os.getpid()}-{os.urandom(4).hex()}", connections)
    except (RuntimeError, OSError) as error:
        raise _no_listening(f"unix:{path}", error) from None
    finally:
        os.umask(mask)
    try:
        yield
    finally:
        del made
        with contextlib.suppress(OSError):
            os.unlink(path)


def _bound_arenas() -> None:
    """Let the threads of glibc's malloc share two arenas: each would keep for itself what its largest request took."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def _listen(server: grpc.Server, address: str, tls: Tls | None) -> str:
    if not is_local(address) and tls is None:
        raise UserError(
            f"--listen {address}: is not local, so it needs --tls-cert, --tls-key and --tls-clients (docs/how-to/certificates.md)"
        )
    host, _, port = address.rpartition(":")
    if not (host and port.isdigit() and int(port) < 1 << 16):
        raise UserError(f"--listen {address}: must be unix:PATH or HOST:PORT")
    try:
        bound = server.add_secure_port(address, tls.credentials()) if tls else server.add_insecure_port(address)
    except (RuntimeError, OSError) as error:
        raise _no_listening(address, error) from None
    return f"{host}:{bound}"


def _add(server: grpc.Server, plant: Plant, sweep: Sweep, limits: Limits) -> Any:
    """Add all services; return the one that tells of health."""
    subscribers_pb2_grpc.add_SubscribersServicer_to_server(subscribers.Subscribers(plant, limits), server)
    hierarchy_pb2_grpc.add_NodesServicer_to_server(hierarchy.Nodes(plant), server)
    hierarchy_pb2_grpc.add_PortsServicer_to_server(hierarchy.Ports(plant), server)
    queues_pb2_grpc.add_QueuesServicer_to_server(queues.Queues(plant, sweep), server)
    queues_pb2_grpc.add_GatesServicer_to_server(queues.Gates(plant), server)
    queues_pb2_grpc.add_AqmSettingsServicer_to_server(queues.AqmSettings(plant), server)
    counters_pb2_grpc.add_CountersServicer_to_server(counters.Counters(plant, sweep, limits), server)
    registers_pb2_grpc.add_RegistersServicer_to_server(registers.Registers(plant), server)
    device_pb2_grpc.add_DeviceServicer_to_server(device.Device(plant), server)
    headers_pb2_grpc.add_HeadersServicer_to_server(headers.Headers(plant), server)
    audit_pb2_grpc.add_AuditServicer_to_server(audit.Audit(plant), server)
    store_pb2_grpc.add_StoreServicer_to_server(store.Store(plant), server)
    plans_pb2_grpc.add_PlansServicer_to_server(plans.Plans(plant), server)
    files = (
        audit_pb2,
        store_pb2,
        plans_pb2,
        subscribers_pb2,
        hierarchy_pb2,
        queues_pb2,
        counters_pb2,
        registers_pb2,
        device_pb2,
        headers_pb2,
    )
    names = [service.full_name for file in files for service in file.DESCRIPTOR.services_by_name.values()]
    found = health.HealthServicer()
    for name in ("", *names):
        found.set(name, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(found, server)
    reflection.enable_server_reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME], server)
    return found
