# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Check a control plane as a client of any language meets it: `python tools/control_conformance.py unix:PATH | HOST:PORT`.

Nothing of Penstock is used, nor a .proto file: all that is known of the protocol comes from the server by reflection, as with grpcurl. It
makes a subscriber of its own at a place that is free, `conformance-` with 16 random digits, which nobody has, and takes it away; nothing
else is changed. Needs a device with a hierarchy. A line for each check; exit status 1 where one has failed.
"""

import secrets
import sys
from collections.abc import Callable, Iterator
from typing import Any

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from google.rpc import error_details_pb2, status_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

PACKAGE, NAME = "penstock.v1", f"conformance-{secrets.token_hex(8)}"
DEADLINE = 20.0
# Each noun with its methods; a change of the protocol that takes one away breaks clients.
METHODS = {
    "Audit": {"List"}, "Device": {"Get", "Diff"},
    "Subscribers": {"Create", "Update", "Move", "Delete", "Get", "List", "Batch", "BulkUpdate", "Provision"},
    "Nodes": {"Set", "Get", "List"}, "Ports": {"Set", "Get", "List"}, "Queues": {"Get"}, "Gates": {"Close", "Open"}, "AqmSettings": {"Set"},
    "Counters": {"Totals", "Top", "History", "Watch"}, "Registers": {"Read", "Write"}, "Store": {"Backup"},
    "Plans": {"Set", "Get", "List", "Delete"},
}  # fmt: skip


class Server:
    """A server by its own words."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel, self._database = channel, ProtoReflectionDescriptorDatabase(channel)
        self._pool = descriptor_pool.DescriptorPool(self._database)

    def services(self) -> set[str]:
        """Return the names of all services."""
        return set(self._database.get_services())

    def methods(self, service: str) -> set[str]:
        """Return the names of a service's methods."""
        return {method.name for method in self._pool.FindServiceByName(service).methods}

    def call(self, method_name: str, /, **fields: Any) -> Any:
        """Call Noun.Method with a request made from JSON; of a stream the first answer comes back. Raises grpc.RpcError."""
        noun, _, method = method_name.rpartition(".")
        service = noun if "." in noun else f"{PACKAGE}.{noun}"
        found = self._pool.FindServiceByName(service).FindMethodByName(method)
        request = json_format.ParseDict(fields, message_factory.GetMessageClass(found.input_type)())
        answer = message_factory.GetMessageClass(found.output_type)
        kind = {(False, False): "unary_unary", (False, True): "unary_stream", (True, False): "stream_unary"}[
            found.client_streaming, found.server_streaming
        ]
        call = getattr(self._channel, kind)(
            f"/{service}/{method}", request_serializer=lambda one: one.SerializeToString(), response_deserializer=answer.FromString
        )
        given = call(iter([request]) if found.client_streaming else request, timeout=DEADLINE)
        if not found.server_streaming:
            return given
        first = next(given)
        given.cancel()
        return first


def refused(code: grpc.StatusCode, field: str, call: Callable[[], Any]) -> None:
    """Raise AssertionError unless a call ends with a code, a sentence and, if `field` is given, details that name it."""
    try:
        call()
    except grpc.RpcError as error:
        assert error.code() == code, f"{error.code().name}, not {code.name}"
        assert error.details(), "has no sentence"
        if field:
            packed = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
            status = status_pb2.Status.FromString(packed)
            bad = error_details_pb2.BadRequest()
            assert any(detail.Unpack(bad) for detail in status.details), "has no google.rpc.BadRequest"
            assert bad.field_violations[0].field == field, f"names {bad.field_violations[0].field!r}, not {field!r}"
        return
    raise AssertionError("was not refused")


def checks(server: Server) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what is checked, in order, and how."""
    code, health = grpc.StatusCode, "grpc.health.v1.Health.Check"

    def holds(what: Callable[[], Any]) -> Callable[[], None]:
        def check() -> None:
            assert what(), "does not hold"

        return check

    def one() -> Any:
        return server.call("Subscribers.Get", name=NAME)

    yield "lists its services", holds(lambda: {f"{PACKAGE}.{noun}" for noun in METHODS} <= server.services())
    for noun, methods in METHODS.items():
        yield f"describes {noun}", holds(lambda noun=noun, methods=methods: methods <= server.methods(f"{PACKAGE}.{noun}"))
        yield f"{noun} is healthy", holds(lambda noun=noun: server.call(health, service=f"{PACKAGE}.{noun}").status == 1)
    yield "health of what is not there", lambda: refused_plain(server)
    yield "Health.Watch", holds(lambda: server.call("grpc.health.v1.Health.Watch", service="").status == 1)
    yield "Device.Get", holds(lambda: server.call("Device.Get").queues)
    made = {"name": NAME, "node": 1, "queues": [{"rate_bps": "2000000", "traffic_class": 1}]}
    yield "Subscribers.Create", holds(lambda: server.call("Subscribers.Create", subscriber=made, request_id="").version)
    yield (
        "Create of one that is there",
        lambda: refused(code.ALREADY_EXISTS, "name", lambda: server.call("Subscribers.Create", subscriber=made)),
    )
    yield "Subscribers.Get", holds(lambda: one().queues[0].rate_bps == 2_000_000)
    yield (
        "Get of one that is not there",
        lambda: refused(code.NOT_FOUND, "name", lambda: server.call("Subscribers.Get", name="no such subscriber")),
    )
    slow = made | {"queues": [{"rate_bps": "5"}]}
    yield (
        "a rate that is too small",
        lambda: refused(code.INVALID_ARGUMENT, "queues[0].rate_bps", lambda: server.call("Subscribers.Update", subscriber=slow)),
    )
    yield (
        "Subscribers.Update",
        holds(
            lambda: (
                server.call("Subscribers.Update", subscriber=made | {"rate_bps": "9000000"}, update_mask="rateBps").rate_bps == 9_000_000
            )
        ),
    )
    yield (
        "a stale version",
        lambda: refused(code.ABORTED, "version", lambda: server.call("Subscribers.Move", name=NAME, node=0, version="1")),
    )
    yield "Subscribers.Move", holds(lambda: server.call("Subscribers.Move", name=NAME, node=0).node == 0)
    yield (
        "a node that is not there",
        lambda: refused(code.INVALID_ARGUMENT, "node", lambda: server.call("Subscribers.Move", name=NAME, node=4_000_000_000)),
    )
    yield "Subscribers.List", holds(lambda: NAME in {e.name for e in server.call("Subscribers.List", name_contains=NAME).subscribers})
    yield "Subscribers.Batch", holds(lambda: server.call("Subscribers.Batch", changes=[{"replace": made}]).applied.queues)
    yield (
        "a batch with a wrong item",
        holds(lambda: server.call("Subscribers.Batch", changes=[{"move": {"name": "no such subscriber"}}]).failures[0].code == 5),
    )
    yield "Subscribers.Provision", holds(lambda: server.call("Subscribers.Provision", subscribers=[made]).applied.queues)
    bulk = {"name_contains": NAME, "subscriber": {"gate_closed": True}, "update_mask": "gateClosed"}
    yield (
        "a dry run of Subscribers.BulkUpdate",
        holds(lambda: server.call("Subscribers.BulkUpdate", dry_run=True, **bulk).subscribers == 1 and not one().gate_closed),
    )
    yield "Subscribers.BulkUpdate", holds(lambda: server.call("Subscribers.BulkUpdate", **bulk).subscribers == 1 and one().gate_closed)
    yield (
        "a bulk change of nobody in particular",
        lambda: refused(code.INVALID_ARGUMENT, "", lambda: server.call("Subscribers.BulkUpdate", update_mask="node")),
    )
    yield "Gates.Close", holds(lambda: server.call("Gates.Close", subscribers=[NAME]) and one().gate_closed)
    yield "Gates.Open", holds(lambda: server.call("Gates.Open", subscribers=[NAME]) and not one().gate_closed)
    of = {"of": {"subscriber": NAME, "position": 0}}
    yield "Queues.Get", holds(lambda: server.call("Queues.Get", queue=of).settings.rate_bps == 2_000_000)
    yield (
        "a queue that is not there",
        lambda: refused(code.INVALID_ARGUMENT, "queue.index", lambda: server.call("Queues.Get", queue={"index": 4_000_000_000})),
    )
    yield "AqmSettings.Set", holds(lambda: server.call("AqmSettings.Set", subscribers=[NAME]).applied.queues)
    for noun in ("Nodes", "Ports"):
        yield f"{noun}.List", holds(lambda noun=noun: server.call(f"{noun}.List"))
        yield f"{noun}.Get", holds(lambda noun=noun: server.call(f"{noun}.Get", index=0).index == 0)
        yield (
            f"{noun}.Set out of range",
            lambda noun=noun: refused(code.INVALID_ARGUMENT, "index", lambda: server.call(f"{noun}.Set", index=4_000_000_000)),
        )
    yield "Counters.Totals", holds(lambda: server.call("Counters.Totals").device.name == "device")
    yield "Counters.Top", holds(lambda: len(server.call("Counters.Top", count=3).queues) <= 3)
    yield "Counters.History", holds(lambda: server.call("Counters.History", subscriber=NAME).interval_seconds == 300)
    yield "Counters.Watch", holds(lambda: server.call("Counters.Watch", subscriber=NAME).snapshot)
    yield (
        "a period that is too short",
        lambda: refused(code.INVALID_ARGUMENT, "period_ms", lambda: server.call("Counters.Watch", period_ms=1)),
    )
    yield "Registers.Read", lambda: raw(server)
    yield "Subscribers.Delete", lambda: server.call("Subscribers.Delete", name=NAME)
    yield "Audit.List", holds(lambda: any(NAME in line.what for line in server.call("Audit.List", noun="subscriber").lines))
    yield "Plans.Set", holds(lambda: server.call("Plans.Set", name=NAME, queues=[{"limit_packets": 50}]).plan.version)
    yield "Plans.Get", holds(lambda: server.call("Plans.Get", name=NAME).name == NAME)
    yield "Plans.List", holds(lambda: any(plan.name == NAME for plan in server.call("Plans.List").plans))
    yield "Plans.Delete", lambda: server.call("Plans.Delete", name=NAME)
    yield "Store.Backup", holds(lambda: server.call("Store.Backup").data.startswith(b"SQLite format 3"))
    yield "Device.Diff", holds(lambda: server.call("Device.Diff").count == 0)


def refused_plain(server: Server) -> None:
    """Health of an unknown service is NOT_FOUND, by the protocol of gRPC without words."""
    try:
        server.call("grpc.health.v1.Health.Check", service="no.such.Service")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.NOT_FOUND, error.code()
        return
    raise AssertionError("was not refused")


def raw(server: Server) -> None:
    """A register is read, or refused to this role."""
    try:
        assert server.call("Registers.Read", registers=[{"address": 0}]).values[0], "the type reads 0"
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.PERMISSION_DENIED, error.code()


def main(address: str) -> int:
    """Do all checks of a server; return how many have failed."""
    failed = count = 0
    with grpc.insecure_channel(address) as channel:
        for words, check in checks(Server(channel)):
            try:
                check()
                verdict = ""
            except (AssertionError, grpc.RpcError, KeyError, IndexError) as error:
                verdict = error.details() if isinstance(error, grpc.RpcError) else str(error)
            failed, count = failed + bool(verdict), count + 1
            print(f"{'FAILED' if verdict else 'ok    '} {words}{': ' if verdict else ''}{verdict}")
    print(f"{count - failed} of {count} checks hold")
    return failed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("control_conformance: give one address, unix:PATH or HOST:PORT")
    sys.exit(main(sys.argv[1]) > 0)
