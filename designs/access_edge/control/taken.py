"""Calls that the relay takes itself (relay.hpp): the same handlers as behind gRPC's server, with the same guard before them, and without
that server's threads between client and method.
"""

import base64
import contextlib
import logging
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

import grpc

AT_ONCE = 16  # calls; those beyond that, and beyond as many that wait for one of these threads, go to gRPC's server
MAX_WORDS = 1_000  # characters of what an error says
# What may have a long answer: gRPC's server has its own ways to send one.
LONG = {
    "/penstock.v1.Subscribers/List", "/penstock.v1.Nodes/List", "/penstock.v1.Ports/List", "/penstock.v1.Counters/Totals",
    "/penstock.v1.Counters/Top", "/penstock.v1.Device/Diff", "/penstock.v1.Audit/List",
}  # fmt: skip


class Handlers:
    """Stands where the generated code wants a server: what it adds goes to that, and is known here."""

    def __init__(self, server: grpc.Server) -> None:
        self._server = server
        self.by_method: dict[str, Any] = {}

    def add_generic_rpc_handlers(self, handlers: Any) -> None:
        """As of a server."""
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Any]) -> None:
        """As of a server."""
        self._server.add_registered_method_handlers(service, handlers)  # type: ignore[attr-defined]
        self.by_method |= {f"/{service}/{name}": handler for name, handler in handlers.items()}

    def short(self) -> dict[str, Any]:
        """Return the methods that have one request and one answer, both mostly short."""
        return {method: one for method, one in self.by_method.items() if one.unary_unary and method not in LONG}


class _Details:
    """Of a call, as an interceptor of gRPC gets them."""

    def __init__(self, method: str) -> None:
        self.method, self.invocation_metadata = method, ()


class _Aborted(Exception):
    """A call has ended with a status."""


class Context:
    """What a method knows of its call, as far as grpc.ServicerContext is used here."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self.is_active = call.waits
        self.status: Any = None

    def peer(self) -> str:
        """Return who has called, as gRPC says it."""
        return str(self._call.peer)

    def auth_context(self) -> dict[str, list[bytes]]:
        """Return what TLS says of the client: nothing, at a Unix socket."""
        return {}

    def code(self) -> grpc.StatusCode | None:
        """Return how the call has ended."""
        return self.status.code if self.status else None

    def abort_with_status(self, status: Any) -> NoReturn:
        """End the call."""
        self.status = status
        raise _Aborted


def _answer(handler: Any, call: Any) -> None:
    context = Context(call)
    try:
        made = handler.unary_unary(handler.request_deserializer(call.message), context)
        data = handler.response_serializer(made)
    except _Aborted:
        status = context.status
        more = [(key, base64.b64encode(value).decode() if key.endswith("-bin") else value) for key, value in status.trailing_metadata or ()]
        call.answer(status.code.value[0], b"", status.details[:MAX_WORDS], more)
    except Exception as error:
        logging.getLogger(__name__).exception("an error that was not foreseen, in a call")
        call.answer(grpc.StatusCode.UNKNOWN.value[0], b"", f"Exception calling application: {error}"[:MAX_WORDS], [])
    else:
        call.answer(0, data, "", [])


@contextlib.contextmanager
def answering(relay: Any, handlers: list[Any]) -> Iterator[None]:
    """Do the calls that a relay takes, inside of the `with`; `handlers`: of its methods, in their order."""

    def go_on() -> None:
        while (call := relay.take()) is not None:
            _answer(handlers[call.method], call)
            del call

    threads = [threading.Thread(target=go_on, name=f"call-{number}", daemon=True) for number in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        relay.end()
        for thread in threads:
            thread.join(2.0)  # one that waits for a device that does not answer ends with the process


def guarded(guard: grpc.ServerInterceptor, handlers: dict[str, Any]) -> list[Any]:
    """Return handlers behind an interceptor."""
    return [guard.intercept_service(lambda _, one=handler: one, _Details(method)) for method, handler in handlers.items()]  # type: ignore
