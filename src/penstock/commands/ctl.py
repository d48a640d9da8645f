"""`ctl`: the control plane from the command line. Tables for people, `--json` for programs."""

import contextlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from penstock.basics import groups
from penstock.commands import app
from penstock.errors import ToolError, UserError

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from penstock.designs.access_edge.control.client import Client
    from penstock.designs.access_edge.control.tables import Located
    from penstock.v1.queues_pb2 import GetQueueRequest
    from penstock.v1.subscribers_pb2 import GetSubscriberRequest, Subscriber

group = typer.Typer(
    help="Set and watch a device through its control plane (`penstock serve`).", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(group, name="ctl")
subscriber = typer.Typer(help="Subscribers.", no_args_is_help=True)
node = typer.Typer(help="Access nodes.", no_args_is_help=True)
queue = typer.Typer(help="Queues of subscribers.", no_args_is_help=True)
gate = typer.Typer(help="Gates: closed queues hold what they have.", no_args_is_help=True)
headers = typer.Typer(help="How queues are found in the headers of frames.", no_args_is_help=True)
plan = typer.Typer(help="Plans: settings that many subscribers have.", no_args_is_help=True)
for name, commands in (("subscriber", subscriber), ("plan", plan), ("queue", queue), ("node", node), ("gate", gate), ("headers", headers)):
    group.add_typer(commands, name=name)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Name = Annotated[str, typer.Argument(help="Name of the subscriber.", show_default=False)]
Queues = Annotated[
    list[str] | None,
    typer.Option(
        "--queue",
        metavar="SETTINGS",
        help="""A queue, in order: "rate=20Mbit/s class=1 aqm='target=5ms interval=100ms'"; once for each.""",
        show_default=False,
    ),
]
Matches = Annotated[
    list[str] | None,
    typer.Option(
        "--match",
        metavar="MATCH",
        help="""What its frames have in their headers: vlan=100.7, "pppoe=9 mac=02:5e:00:00:00:01", ipv4=, ipv6=, mpls=; once for each.""",
        show_default=False,
    ),
]
PlanName = Annotated[
    str | None, typer.Option("--plan", metavar="NAME", help='Its settings come from this plan; "none": are its own.', show_default=False)
]
Bypass = Annotated[bool | None, typer.Option(help="Let its settings not hold: nothing holds its frames back.", show_default=False)]
_SERVER: dict[str, Any] = {}
M = TypeVar("M", bound="Message")


@group.callback()
def _options(
    server: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="unix:PATH or HOST:PORT; unless given this user's server here.", show_default=False),
    ] = None,
    cert: Annotated[Path | None, typer.Option(metavar="FILE", help="Certificate of this client.", show_default=False)] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.", show_default=False)] = None,
    server_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate of the authority that signed the server's.", show_default=False)
    ] = None,
) -> None:
    if not {"--help"} & set(sys.argv):
        groups.need("ctl", "control")
    _SERVER.update(address=server, certificate=cert, key=key, server=server_ca)


@contextlib.contextmanager
def _client(entries: "Sequence[Located]" = ()) -> "Iterator[Client]":
    """Yield the connection; what the server says of an error is the command's sentence. `entries`: what is sent, of which one may be it."""
    import grpc

    from penstock.designs.access_edge.control.client import Client, sentence, violation

    bad = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND, grpc.StatusCode.ALREADY_EXISTS, grpc.StatusCode.PERMISSION_DENIED)
    with Client(**_SERVER) as client:
        try:
            yield client
        except grpc.RpcError as error:
            kind = UserError if error.code() in bad else ToolError
            raise kind(_of_entry(entries, *(violation(error) or ("", ""))) or sentence(error)) from None


def _of_entry(entries: "Sequence[Located]", field: str, words: str) -> str:
    """Return what is wrong with which entry of a file, by the path of the field that the server names; "" where it names none."""
    found = re.match(r"(?:changes|subscribers)\[(\d+)\]\.?", field)
    if not entries or not (found or field and len(entries) == 1):  # of one the server gives no number
        return ""
    where, one = entries[int(found[1]) if found else 0]
    return ": ".join(filter(None, (where, one.name, field[found.end() if found else 0 :], words)))


# ---- subscribers


@subscriber.command("add")
def add(
    name: Name,
    node: Annotated[int, typer.Option(help="Access node.")] = 0,
    rate: Annotated[
        str | None, typer.Option(help="Of all queues together, such as 100Mbit/s; no limit unless given.", show_default=False)
    ] = None,
    burst: Annotated[str | None, typer.Option(help="Bytes, such as 20kB.", show_default=False)] = None,
    weight: Annotated[int | None, typer.Option(help="1 to 8.", show_default=False)] = None,
    guarantee: Annotated[
        str | None, typer.Option(help="Rate that it gets first where its node or port is congested, such as 20Mbit/s.", show_default=False)
    ] = None,
    queue: Queues = None,
    match: Matches = None,
    bypass: Bypass = None,
    plan: PlanName = None,
    as_json: Json = False,
) -> None:
    """Make a subscriber."""
    from penstock.v1 import subscribers_pb2 as pb

    own = {"rate": rate, "burst": burst, "weight": weight, "guarantee": guarantee, "match": _matches(match), "bypass": bypass}
    wanted = _wanted(name, node, own | {"plan": None if plan == "none" else plan}, queue)
    with _client() as client:
        _show([client.subscribers.Create(pb.CreateSubscriberRequest(subscriber=wanted))], as_json)


@subscriber.command("set")
def set_subscriber(
    name: Name,
    node: Annotated[int | None, typer.Option(help="Move it to this access node.", show_default=False)] = None,
    rate: Annotated[str | None, typer.Option(help='Such as 100Mbit/s, or "none".', show_default=False)] = None,
    burst: Annotated[str | None, typer.Option(help="Bytes.", show_default=False)] = None,
    weight: Annotated[int | None, typer.Option(help="1 to 8.", show_default=False)] = None,
    guarantee: Annotated[str | None, typer.Option(help='Such as 20Mbit/s, or "none".', show_default=False)] = None,
    queue: Queues = None,
    match: Matches = None,
    bypass: Bypass = None,
    plan: PlanName = None,
    version: Annotated[int, typer.Option(help="Only if this version is in force; 0: whichever.")] = 0,
    as_json: Json = False,
) -> None:
    """Change what is named of a subscriber; --queue gives all its queues anew, --match all its matches ("none": it has none)."""
    from penstock.v1 import subscribers_pb2 as pb

    given = {"node": node, "rate_bps": rate, "burst_bytes": burst, "weight": weight, "guarantee_bps": guarantee, "queues": queue}
    given |= {"matches": match, "bypass": bypass, "plan": plan}
    fields = [field for field, value in given.items() if value is not None]
    if not fields:
        raise UserError(
            "subscriber set: says nothing to set; give --node, --rate, --burst, --weight, --guarantee, --queue, --match, --bypass or --plan"
        )
    own: dict[str, Any] = {"rate": rate, "burst": burst, "weight": weight, "guarantee": guarantee}
    own |= {"match": _matches(match), "bypass": bypass, "plan": plan}
    wanted = _wanted(name, node or 0, {key: None if value == "none" else value for key, value in own.items()}, queue)
    _put(wanted, ("--version", "version", version))
    request = pb.UpdateSubscriberRequest(subscriber=wanted)
    request.update_mask.paths.extend(fields)
    with _client() as client:
        _show([client.subscribers.Update(request)], as_json)


@subscriber.command("change")
def change_many(
    of_plan: Annotated[str, typer.Option(metavar="NAME", help="Those who have this plan.", show_default=False)] = "",
    of_node: Annotated[int | None, typer.Option(help="Those of this access node.", show_default=False)] = None,
    contains: Annotated[str, typer.Option(help="Those with this in their names.", show_default=False)] = "",
    of_match: Annotated[str, typer.Option(help='Those of such headers: "vlan 100", an address, a network.', show_default=False)] = "",
    everyone: Annotated[bool, typer.Option("--all", help="All there are.")] = False,
    node: Annotated[int | None, typer.Option(help="Move them to this access node.", show_default=False)] = None,
    rate: Annotated[str | None, typer.Option(help='Such as 100Mbit/s, or "none".', show_default=False)] = None,
    burst: Annotated[str | None, typer.Option(help="Bytes.", show_default=False)] = None,
    weight: Annotated[int | None, typer.Option(help="1 to 8.", show_default=False)] = None,
    guarantee: Annotated[str | None, typer.Option(help='Such as 20Mbit/s, or "none".', show_default=False)] = None,
    queue: Queues = None,
    bypass: Bypass = None,
    gate: Annotated[str | None, typer.Option(help="open or closed.", show_default=False)] = None,
    plan: PlanName = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing; say who would be changed, or what is wrong.")] = False,
    as_json: Json = False,
) -> None:
    """Change what is named of all subscribers that fit --of-plan, --of-node, --contains and --of-match: all of them, or none."""
    from penstock.v1 import subscribers_pb2 as pb

    given = {"node": node, "rate_bps": rate, "burst_bytes": burst, "weight": weight, "guarantee_bps": guarantee, "queues": queue}
    given |= {"bypass": bypass, "gate_closed": gate, "plan": plan}
    fields = [field for field, value in given.items() if value is not None]
    options = "--node, --rate, --burst, --weight, --guarantee, --queue, --bypass, --gate or --plan"
    if not fields:
        raise UserError(f"subscriber change: says nothing to change; give {options}")
    own: dict[str, Any] = {"rate": rate, "burst": burst, "weight": weight, "guarantee": guarantee}
    own |= {"bypass": bypass, "gate": gate, "plan": plan}
    wanted = _wanted("all", node or 0, {key: None if value == "none" else value for key, value in own.items()}, queue)
    request = pb.BulkUpdateRequest(subscriber=wanted, all=everyone, dry_run=dry_run)
    request.update_mask.paths.extend(fields)
    _put(request, ("--of-plan", "plan", of_plan or None), ("--of-node", "node", of_node), ("--of-match", "match", of_match or None))
    _put(request, ("--contains", "name_contains", contains or None))
    with _client() as client:
        done = client.subscribers.BulkUpdate(request)
    if as_json:
        print(json.dumps(_plain(done)))
        return
    for name in done.names if dry_run else ():
        print(name)
    if dry_run and len(done.names) < done.subscribers:
        print(f"... and {done.subscribers - len(done.names):,} more")
    cost = "" if dry_run else f" with {done.applied.bus_writes:,} register writes"
    print(f"{done.subscribers:,} subscribers {'would be changed' if dry_run else 'changed'}{cost}")


@subscriber.command("history")
def history(name: Name, as_json: Json = False) -> None:
    """Show the last day of a subscriber, by intervals of five minutes: rate, drops, most that was queued."""
    from datetime import datetime

    from penstock.v1 import counters_pb2

    request = _put(counters_pb2.HistoryRequest(), ("NAME", "subscriber", name))
    with _client() as client:
        found = client.counters.History(request)
    if as_json:
        print(json.dumps(_plain(found)))
        return
    rows = [
        (f"{datetime.fromtimestamp(point.at):%Y-%m-%d %H:%M}", _bps(point.rate_bps), f"{point.dropped_packets:,}",
         f"{point.most_queued_bytes:,}") for point in found.points
    ]  # fmt: skip
    _table(("from", "rate", "dropped", "most queued (byte)"), rows)


@subscriber.command("show")
def show(name: Name, as_json: Json = False) -> None:
    """Show a subscriber, its queues and their counters of this moment."""
    wanted = _subscriber(name)
    with _client() as client:
        found = client.subscribers.Get(wanted)
        queues = [client.queues.Get(_queue(name, position)) for position in range(len(found.queues))]
        _show([found], as_json, [queue.counters for queue in queues])


@subscriber.command("list")
def list_subscribers(
    node: Annotated[int | None, typer.Option(help="Only of this access node.", show_default=False)] = None,
    contains: Annotated[str, typer.Option(help="Only names with this in them.", show_default=False)] = "",
    match: Annotated[
        str, typer.Option(help='Only of such headers: "vlan 100", "vlan 100, 7", "pppoe 9", an address, a network.', show_default=False)
    ] = "",
    as_json: Json = False,
) -> None:
    """List subscribers by name."""
    from penstock.v1 import subscribers_pb2 as pb

    request = _put(pb.ListSubscribersRequest(), ("--node", "node", node), ("--contains", "name_contains", contains))
    _put(request, ("--match", "match", match))
    with _client() as client:
        _show(list(client.listed(request)), as_json)


@subscriber.command("delete")
def delete(name: Name, version: Annotated[int, typer.Option(help="Only if this version is in force; 0: whichever.")] = 0) -> None:
    """Take a subscriber away: its queues drop what comes."""
    from penstock.v1 import subscribers_pb2 as pb

    request = _put(pb.DeleteSubscriberRequest(), ("NAME", "name", name), ("--version", "version", version))
    with _client() as client:
        client.subscribers.Delete(request)


# ---- plans


@plan.command("set")
def set_plan(
    name: Annotated[str, typer.Argument(help="Name of the plan.", show_default=False)],
    rate: Annotated[str | None, typer.Option(help="Of all queues of a subscriber together, such as 100Mbit/s.", show_default=False)] = None,
    burst: Annotated[str | None, typer.Option(help="Bytes, such as 20kB.", show_default=False)] = None,
    weight: Annotated[int | None, typer.Option(help="1 to 8.", show_default=False)] = None,
    guarantee: Annotated[str | None, typer.Option(help="Rate that a subscriber gets first, such as 20Mbit/s.", show_default=False)] = None,
    queue: Queues = None,
    version: Annotated[int, typer.Option(help="Only if this version is in force; 0: whichever.")] = 0,
    as_json: Json = False,
) -> None:
    """Make a plan, or change it whole, and all its subscribers with it."""
    from penstock.v1 import plans_pb2

    own = {"rate": rate, "burst": burst, "weight": weight, "guarantee": guarantee}
    said = _wanted(name, 0, own, queue)
    wanted = plans_pb2.Plan(name=name, queues=said.queues)
    for field in ("rate_bps", "burst_bytes", "weight", "guarantee_bps"):
        if said.HasField(field):
            setattr(wanted, field, getattr(said, field))
    _put(wanted, ("--version", "version", version))
    with _client() as client:
        done = client.plans.Set(wanted)
    _plans([done.plan], as_json)
    if not as_json and done.applied.subscribers:
        print(f"{done.applied.subscribers:,} subscribers changed with {done.applied.bus_writes:,} register writes")


@plan.command("list")
def list_plans(as_json: Json = False) -> None:
    """List plans, and how many subscribers have each."""
    from penstock.v1 import plans_pb2

    with _client() as client:
        _plans(list(client.plans.List(plans_pb2.ListPlansRequest()).plans), as_json)


@plan.command("show")
def show_plan(name: Annotated[str, typer.Argument(help="Name of the plan.", show_default=False)], as_json: Json = False) -> None:
    """Show a plan and the settings of its queues."""
    from penstock.v1 import plans_pb2

    request = _put(plans_pb2.GetPlanRequest(), ("NAME", "name", name))
    with _client() as client:
        found = client.plans.Get(request)
    _plans([found], as_json)
    if not as_json and found.queues:
        _settings([(name, number, number, queue) for number, queue in enumerate(found.queues)])


@plan.command("delete")
def delete_plan(name: Annotated[str, typer.Argument(help="Name of the plan.", show_default=False)]) -> None:
    """Take a plan away that nobody has."""
    from penstock.v1 import plans_pb2

    request = _put(plans_pb2.DeletePlanRequest(), ("NAME", "name", name))
    with _client() as client:
        client.plans.Delete(request)


def _plans(found: Sequence[Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"plans": [_plain(one) for one in found]}))
        return
    rows = [
        (one.name, _bps(one.rate_bps) if one.HasField("rate_bps") else "-", _guaranteed(one),
         str(one.weight) if one.HasField("weight") else "1", str(len(one.queues)), f"{one.subscribers:,}", str(one.version))
        for one in found
    ]  # fmt: skip
    _table(("plan", "rate", "guarantee", "weight", "queues", "subscribers", "version"), rows)


# ---- queues

Position = Annotated[int, typer.Argument(min=0, help="Which of its queues, from 0 on.", show_default=False)]


@queue.command("show")
def show_queue(name: Name, position: Position, as_json: Json = False) -> None:
    """Show a queue of a subscriber: its settings, and its counters of this moment."""
    wanted = _queue(name, position)
    with _client() as client:
        found = client.queues.Get(wanted)
    if as_json:
        print(json.dumps({"queues": [_plain(found)]}))
        return
    _settings([(name, position, found.index, found.settings if found.HasField("settings") else None)])
    _counted([(position, found.settings, found.counters)])


@queue.command("set")
def set_queue(
    name: Name,
    position: Position,
    rate: Annotated[str | None, typer.Option(help='Such as 20Mbit/s, or "none".', show_default=False)] = None,
    burst: Annotated[str | None, typer.Option(help="Bytes, such as 3kB.", show_default=False)] = None,
    limit_packets: Annotated[str | None, typer.Option(help="Most packets in the queue.", show_default=False)] = None,
    limit_bytes: Annotated[str | None, typer.Option(help="Most bytes in the queue.", show_default=False)] = None,
    traffic_class: Annotated[str | None, typer.Option("--class", help="0 goes first.", show_default=False)] = None,
    weight: Annotated[str | None, typer.Option(help="1 to 8.", show_default=False)] = None,
    guarantee: Annotated[str | None, typer.Option(help='Such as 2Mbit/s, or "none".', show_default=False)] = None,
    aqm: Annotated[str | None, typer.Option(help='on, off, or settings: "target=5ms interval=100ms".', show_default=False)] = None,
    ecn: Annotated[bool | None, typer.Option(help="Mark packets that may be marked.", show_default=False)] = None,
    version: Annotated[int, typer.Option(help="Only if this version of the subscriber is in force; 0: whichever.")] = 0,
    as_json: Json = False,
) -> None:
    """Change what is named of a queue; "none" takes a limit or rate away. Other queues of the subscriber stay as they are."""
    from penstock.designs.access_edge.control import tables
    from penstock.v1 import device_pb2
    from penstock.v1 import subscribers_pb2 as pb

    given = {"rate": rate, "burst": burst, "limit_packets": limit_packets, "limit_bytes": limit_bytes, "class": traffic_class,
             "weight": weight, "guarantee": guarantee, "aqm": aqm, "ecn": None if ecn is None else str(ecn).lower()}  # fmt: skip
    given = {key: value for key, value in given.items() if value is not None}
    if not given:
        options = "--rate, --burst, --limit-packets, --limit-bytes, --class, --weight, --guarantee, --aqm"
        raise UserError(f"queue set: says nothing to set; give {options}")
    request = pb.UpdateSubscriberRequest(update_mask={"paths": ["queues"]})
    _put(request.subscriber, ("NAME", "name", name), ("--version", "version", version))
    with _client() as client:
        each = client.device.Get(device_pb2.GetDeviceRequest()).queues_per_subscriber
        if position >= each:
            raise UserError(f"queue set: the device has {each} queues a subscriber, so 0 to {each - 1}, not {position}")
        there = client.subscribers.Get(_subscriber(name))
        queues = tables.as_dict(there)["queues"]
        while len(queues) <= position:  # a queue that is not named drops all
            queues.append({"limit_packets": 0, "limit_bytes": 0})
        wanted = queues[position] | given
        gone = {key for key, value in given.items() if value in ("none", "off")}
        where = f"queue {position} of {name}"
        if aqm and ecn is None and ("aqm" in gone or "ecn" in (tables.aqm_settings(aqm, f"{where}: aqm") or {})):
            gone.add("ecn")  # what it had of an AQM that goes, or that says its own
        queues[position] = {key: value for key, value in wanted.items() if key not in gone}
        request.subscriber.version = version or there.version
        request.subscriber.queues.extend(tables.queue_of(settings, where) for settings in queues)
        made = client.subscribers.Update(request)
    if as_json:
        print(json.dumps({"subscribers": [_plain(made)]}))
        return
    _settings([(name, position, made.index * each + position, made.queues[position])])


@queue.command("list")
def list_queues(
    name: Annotated[str | None, typer.Argument(help="Only of this subscriber.", show_default=False)] = None,
    node: Annotated[int | None, typer.Option(help="Only of this access node.", show_default=False)] = None,
    as_json: Json = False,
) -> None:
    """List queues with their settings, by subscriber."""
    from penstock.v1 import device_pb2, queues_pb2, subscribers_pb2

    request = _put(subscribers_pb2.ListSubscribersRequest(), ("--node", "node", node))
    with _client() as client:
        each = client.device.Get(device_pb2.GetDeviceRequest()).queues_per_subscriber
        if name is None:
            found = list(client.listed(request))
        else:
            found = [client.subscribers.Get(_subscriber(name))]
            found = [one for one in found if node is None or one.node == node]
    rows = [(one.name, n, one.index * each + n, settings) for one in found for n, settings in enumerate(one.queues)]
    if as_json:
        made = [queues_pb2.Queue(subscriber=of, position=n, index=index, settings=settings) for of, n, index, settings in rows]
        print(json.dumps({"queues": [_plain(one) for one in made]}))
        return
    _settings(rows)


# ---- nodes, gates


@node.command("set")
def set_node(
    index: Annotated[int, typer.Argument(min=0, show_default=False, help="Number of the node.")],
    rate: Annotated[str | None, typer.Option(help="Such as 1Gbit/s; no limit unless given.", show_default=False)] = None,
    burst: Annotated[str | None, typer.Option(help="Bytes.", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(min=0, help="Hang it from this port.", show_default=False)] = None,
    name: Annotated[str, typer.Option(help="For people.", show_default=False)] = "",
    as_json: Json = False,
) -> None:
    """Set a node: what is not named has its default; it stays at its port unless that is named."""
    from penstock.v1 import hierarchy_pb2

    wanted = _put(
        hierarchy_pb2.Node(), ("INDEX", "index", index), ("--port", "port", port), ("--name", "name", name),
        ("--rate", "rate_bps", _rate("--rate", rate)), ("--burst", "burst_bytes", _size("--burst", burst)),
    )  # fmt: skip
    with _client() as client:
        _nodes([client.nodes.Set(wanted)], as_json)


@node.command("list")
def list_nodes(
    port: Annotated[int | None, typer.Option(help="Only of this port.", show_default=False)] = None, as_json: Json = False
) -> None:
    """List the nodes that are set, with --json all."""
    from penstock.v1 import hierarchy_pb2

    request = _put(hierarchy_pb2.ListNodesRequest(), ("--port", "port", port))
    with _client() as client:
        found = list(client.nodes.List(request).nodes)
        _nodes(found if as_json else [entry for entry in found if entry.version], as_json)


@gate.command("close")
def close(names: Annotated[list[str], typer.Argument(help="Subscribers.", show_default=False)]) -> None:
    """Close the gates of subscribers: their queues hold what they have."""
    from penstock.v1 import queues_pb2

    request = _put(queues_pb2.GateRequest(), ("NAMES", "subscribers", names))
    with _client() as client:
        client.gates.Close(request)


@gate.command("open")
def open_gate(names: Annotated[list[str], typer.Argument(help="Subscribers.", show_default=False)]) -> None:
    """Open them again."""
    from penstock.v1 import queues_pb2

    request = _put(queues_pb2.GateRequest(), ("NAMES", "subscribers", names))
    with _client() as client:
        client.gates.Open(request)


# ---- headers


@headers.command("set")
def set_headers(
    direction: Annotated[
        str | None, typer.Option(help="to or from: frames go to subscribers, or come from them.", show_default=False)
    ] = None,
    class_of: Annotated[str | None, typer.Option(help="What gives the class: none, dscp, pcp, mpls or ecn.", show_default=False)] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="VALUES", help='Values of a class, class 0 first: "40-63"; once for each.', show_default=False),
    ] = None,
    unknown: Annotated[str | None, typer.Option(help='Queue of frames of no subscriber, or "drop".', show_default=False)] = None,
    kinds: Annotated[
        str | None,
        typer.Option(
            help="Kinds of matches to look for, the first one first: pppoe,two_tags,outer_tag,mpls,ipv4,ipv6,mac; "
            '"used": those that subscribers have.',
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Change what is named of how queues are found in headers; --class gives all classes anew."""
    from penstock.v1 import headers_pb2 as pb

    if all(value is None for value in (direction, class_of, classes, unknown, kinds)):
        raise UserError("headers set: says nothing to set; give --direction, --class-of, --class, --unknown or --kinds")
    if unknown is not None and unknown != "drop" and not (unknown.isascii() and unknown.isdigit()):
        raise UserError(f'--unknown {unknown}: must be the number of a queue, or "drop"')
    with _client() as client:
        there = client.headers.Get(pb.GetHeadersRequest())
        _put(there, ("--direction", "direction", direction), ("--class-of", "class_of", class_of))
        if classes is not None or class_of == "none":
            there.ClearField("classes")
            _put(there, ("--class", "classes", classes or []))
        if unknown is not None:
            there.ClearField("unknown_queue")
            _put(there, ("--unknown", "unknown_queue", None if unknown == "drop" else int(unknown)))
        if kinds is not None:
            there.ClearField("kinds")
            _put(there, ("--kinds", "kinds", [] if kinds == "used" else [kind.strip() for kind in kinds.split(",")]))
        _headers(client.headers.Set(there), as_json)


@headers.command("show")
def show_headers(as_json: Json = False) -> None:
    """Show how queues are found in headers."""
    from penstock.v1 import headers_pb2 as pb

    with _client() as client:
        _headers(client.headers.Get(pb.GetHeadersRequest()), as_json)


def _headers(found: Any, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_plain(found)))
        return
    rows = [
        ("direction", found.direction or "to"),
        ("class of", found.class_of or "none"),
        *((f"class {number}", values) for number, values in enumerate(found.classes)),
        ("unknown", f"queue {found.unknown_queue:,}" if found.HasField("unknown_queue") else "drop"),
        ("kinds", ", ".join(found.kinds) or "those of subscribers"),
    ]
    _table(("", ""), rows, right=False)


# ---- counters, files, the device


@group.command()
def counters(
    watch: Annotated[bool, typer.Option("--watch", help="Once a second, until Ctrl-C.")] = False,
    nodes: Annotated[bool, typer.Option("--nodes", help="A row for each node with traffic, too.")] = False,
    as_json: Json = False,
) -> None:
    """Show sums of the whole device, its ports and classes, how full its memory is, and drops by reason."""
    from penstock.v1 import counters_pb2

    with _client() as client:
        while True:
            found = client.counters.Totals(counters_pb2.TotalsRequest())
            if as_json:
                print(json.dumps(_plain(found)), flush=True)
            else:
                rows = [found.device, *found.ports, *(found.nodes if nodes else []), *found.classes]
                _totals([row for row in rows if row.in_packets or row.dropped_packets or row.name == "device"])
                lost = [_lost(reason) for reason in found.reasons if reason.packets]
                _counted_headers(found)
                _memory(found.memory)
                age = f"figures are {found.age_ns / 1e9:.1f} s old" if found.HasField("age_ns") else "no figures yet"
                print(f"dropped: {', '.join(lost) or 'nothing'}; {age}", flush=True)
            if not watch:
                return
            time.sleep(1)


@group.command()
def top(
    by: Annotated[str, typer.Option(help="rate, backlog or drops.")] = "rate",
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20,
    as_json: Json = False,
) -> None:
    """Show the queues with the largest rates, backlogs or drops."""
    from penstock.v1 import counters_pb2 as pb

    kinds = {"rate": pb.TOP_BY_RATE, "backlog": pb.TOP_BY_BACKLOG, "drops": pb.TOP_BY_DROPS}
    if by not in kinds:
        raise UserError(f"--by {by}: must be {', '.join(kinds)}")
    request = _put(pb.TopRequest(by=kinds[by]), ("--count", "count", count))
    with _client() as client:
        found = client.counters.Top(request)
    if as_json:
        print(json.dumps(_plain(found)))
        return
    rows = [
        (entry.subscriber, str(entry.position), _bps(entry.counters.rate_bps), f"{entry.counters.queued_bytes:,}",
         f"{entry.counters.dropped_packets:,}") for entry in found.queues
    ]  # fmt: skip
    _table(("subscriber", "queue", "rate", "backlog (byte)", "dropped"), rows)


@group.command("import")
def import_file(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV, YAML or JSON (docs/control.md), or OpenConfig QoS as JSON (docs/how-to/standards.md).", show_default=False
        ),
    ],
    all_or_nothing: Annotated[bool, typer.Option(help="Change nothing where one entry is wrong.")] = True,
    as_json: Json = False,
) -> None:
    """Create or replace the subscribers of a file."""
    from penstock.command_line.console import working
    from penstock.designs.access_edge.control import openconfig, parents, tables
    from penstock.v1 import device_pb2

    with contextlib.ExitStack() as stack:
        say = stack.enter_context(working(f"{file}: reading"))
        standard = file.suffix == ".json" and not tables.is_own(file)
        others = parents.Parents()
        entries, left = openconfig.read(file) if standard else (list(_read(tables.read(file, others.take), f"{file}: reading", say)), [])
        client = stack.enter_context(_client(entries))
        if standard and not client.device.Get(device_pb2.GetDeviceRequest()).guarantees:
            left += openconfig.without_guarantees(entries)
        for words in left:
            typer.echo(f"penstock: {file}: {words}", err=True)
        changed = others.bring(client)
        done = client.provision(_sent(entries, f"{file}: sending", say), all_or_nothing)
        _warn_of_memory(client)
    if as_json:
        print(json.dumps(_plain(done)))
    for failure in done.failures:
        where, one = entries[failure.item]
        typer.echo(f"penstock: {where}: {one.name}: {failure.message}", err=True)
    if not as_json:
        applied = done.applied
        more = "".join(f", {count:,} {key}" for key, count in changed.items() if count)
        print(f"{applied.subscribers:,} subscribers, {applied.queues:,} queues set with {applied.bus_writes:,} register writes{more}")
    if done.failed:
        raise typer.Exit(1)


SAY_EACH = 1_000  # subscribers, from one word on the progress to the next


def _read(entries: "Iterator[Located]", doing: str, say: Callable[[str], None]) -> "Iterator[Located]":
    """Yield entries, and say how many there were."""
    for number, entry in enumerate(entries):
        if number and number % SAY_EACH == 0:
            say(f"{doing}: {number:,} subscribers")
        yield entry


def _sent(entries: "Sequence[Located]", doing: str, say: Callable[[str], None]) -> "Iterator[Subscriber]":
    """Yield the subscribers of entries, and say how many of them are with the server."""
    for number, (_, one) in enumerate(entries):
        if number and number % SAY_EACH == 0:
            say(f"{doing}: {number:,} of {len(entries):,} subscribers")
        yield one
    say(f"{doing}: all {len(entries):,} subscribers; the server sets the device")


def _warn_of_memory(client: "Client") -> None:
    """Say on standard error where the limits of all queues are more than memory holds."""
    from penstock.v1 import counters_pb2

    if words := client.counters.Totals(counters_pb2.TotalsRequest()).memory.warning:
        typer.echo(f"penstock: warning: {words}.", err=True)


@group.command()
def export(file: Annotated[Path, typer.Argument(help="CSV, YAML or JSON to write.", show_default=False)]) -> None:
    """Write all subscribers to a file, which `import` takes; YAML and JSON with ports, nodes and plans."""
    from penstock.designs.access_edge.control import parents, tables

    with _client() as client:
        count = tables.write(file, client.list(), parents.of(client).plain())
    print(f"{count:,} subscribers in {file}")


@group.command()
def backup(file: Annotated[Path, typer.Argument(help="File to write.", show_default=False)]) -> None:
    """Copy the store of the server, while it goes on, to a file that `serve --restore` begins with."""
    if not file.parent.is_dir():
        raise UserError(f"{file}: there is no folder {file.parent}")
    with _client() as client:
        try:
            revision = client.backup(file)
        except OSError as error:
            raise UserError(f"{file}: cannot be written ({(error.strerror or str(error)).lower()})") from None
    print(f"{file}: the intent at revision {revision:,}, {file.stat().st_size:,} byte")


@group.command()
def device(as_json: Json = False) -> None:
    """Show what the device says of itself."""
    from penstock.v1 import device_pb2

    with _client() as client:
        found = client.device.Get(device_pb2.GetDeviceRequest())
    if as_json:
        print(json.dumps(_plain(found)))
        return
    _table(("", ""), [(field.name.replace("_", " "), str(getattr(found, field.name))) for field in found.DESCRIPTOR.fields])


NOUNS = ("subscriber", "plan", "node", "port", "queue", "gate", "aqm", "register")


@group.command()
def audit(
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Not before: 2h, 3d, or 2026-01-31T12:00:00Z.", show_default=False)
    ] = None,
    who: Annotated[str, typer.Option(metavar="NAME", help="Only what this one has done.", show_default=False)] = "",
    noun: Annotated[
        str,
        typer.Option(help=f"Only changes of one of: {', '.join(NOUNS)}.", show_default=False, autocompletion=lambda: list(NOUNS)),
    ] = "",
    count: Annotated[int, typer.Option(min=1, max=10_000, help="The last so many.")] = 100,
    as_json: Json = False,
) -> None:
    """Show who has changed what, and what was refused, the newest last."""
    from penstock.v1 import audit_pb2

    if noun and noun not in NOUNS:
        raise UserError(f"--noun {noun}: must be one of {', '.join(NOUNS)}")
    request = _put(
        audit_pb2.ListAuditRequest(),
        ("--since", "since", _ago(since) if since else ""), ("--who", "who", who), ("--noun", "noun", noun), ("--count", "count", count),
    )  # fmt: skip
    with _client() as client:
        lines = list(reversed(client.audit.List(request).lines))
    if as_json:
        print(json.dumps({"lines": [{key: getattr(line, key) for key in ("at", "who", "method", "what", "status")} for line in lines]}))
        return
    rows = [
        (line.at, line.who, line.method.removeprefix("/penstock.v1.").replace("/", ".", 1), line.status, _cut(line.what)) for line in lines
    ]
    _table(("time", "who", "call", "status", "what"), rows, right=False)


def _ago(text: str) -> str:
    """Return a time that is given as such, or as how long ago it was."""
    from datetime import UTC, datetime, timedelta

    found = re.fullmatch(r"(\d{1,6}) ?(s|min|m|h|d)", text)
    if not found:
        return text
    unit = {"s": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days"}[found[2]]
    try:
        return (datetime.now(UTC) - timedelta(**{unit: int(found[1])})).isoformat(timespec="seconds")
    except OverflowError:
        raise UserError(f"--since {text}: is before the year 1") from None


def _cut(words: str, most: int = 80) -> str:
    return words if len(words) <= most else words[: most - 3] + "..."


@group.command()
def diff(as_json: Json = False) -> None:
    """Compare the device with the intent, by its read-back. Exit status 1 where they differ."""
    from penstock.v1 import device_pb2

    with _client() as client:
        found = client.device.Diff(device_pb2.DiffRequest())
    if as_json:
        print(json.dumps(_plain(found)))
    elif found.count:
        _table(("what", "field", "intended", "found"), [(one.name, one.field, one.intended, one.found) for one in found.differences])
    if not as_json:
        print(f"{found.count:,} settings differ")
    if found.count:
        raise typer.Exit(1)


# ---- requests: what options and arguments say goes into fields by `_put` and nothing else


def _put(message: "M", *values: tuple[str, str, Any]) -> "M":
    """Return a message with values: what an option is called, the field, the value; None is left out. Raises UserError."""
    from penstock.designs.access_edge.control import fields

    for where, field, value in values:
        if value is not None:
            fields.put(message, field, value, where)
    return message


def _subscriber(name: str) -> "GetSubscriberRequest":
    from penstock.v1 import subscribers_pb2 as pb

    return _put(pb.GetSubscriberRequest(), ("NAME", "name", name))


def _queue(name: str, position: int) -> "GetQueueRequest":
    from penstock.v1 import queues_pb2 as pb

    request = pb.GetQueueRequest()
    _put(request.queue.of, ("NAME", "subscriber", name), ("POSITION", "position", position))
    return request


def _wanted(name: str, node: int, own: dict[str, Any], queues: Sequence[str] | None) -> Any:
    """Return a subscriber; `own`: its own settings by the words of files, None: not said. Raises UserError."""
    from penstock.designs.access_edge.control import tables

    _subscriber(name)  # a name that can be said
    settings = [_settings_of(text) for text in queues or []]
    values = {"name": name, "node": node, **own, "queues": settings}
    return tables.of_dict({key: value for key, value in values.items() if value is not None}, f"subscriber {name}")


def _matches(given: Sequence[str] | None) -> list[dict[str, Any]] | None:
    """Return what --match says, each in words KEY=VALUE; "none": an empty list. Raises UserError."""
    from penstock.designs.access_edge.control import tables

    if given is None:
        return None
    if list(given) == ["none"]:
        return []
    words = 'must be words KEY=VALUE, such as vlan=100.7 or "pppoe=9 mac=02:5e:00:00:00:01"'
    return [tables.pairs(text.split(), f"--match {text}: {words}") for text in given]


def _settings_of(text: str) -> dict[str, Any]:
    """Return what --queue says, in words as a shell has them: a value with blanks stands in quotes."""
    import shlex

    from penstock.designs.access_edge.control import tables

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"--queue {text}: {str(error).lower()}") from None
    return tables.pairs(words, f"--queue {text}: must be words KEY=VALUE, such as rate=20Mbit/s aqm='target=5ms interval=100ms'")


def _rate(option: str, text: str | None) -> int | None:
    from penstock.basics.units import parse_rate

    return _parsed(option, text, parse_rate)


def _size(option: str, text: str | None) -> int | None:
    from penstock.basics.units import parse_size

    return _parsed(option, text, parse_size)


def _parsed(option: str, text: str | None, parse: Any) -> int | None:
    try:
        return None if text is None else int(parse(text))
    except ValueError as error:
        raise UserError(f"{option} {error}") from None


def _plain(message: Any) -> dict[str, Any]:
    """Return a message as JSON has it: numbers as numbers, and what is 0 as well."""
    from google.protobuf import json_format

    found: dict[str, Any] = json_format.MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return _numbers(found)


def _numbers(value: Any) -> Any:
    """64-bit numbers are strings in protobuf's JSON; Python's holds them."""
    if isinstance(value, dict):
        return {key: item if key in ("name", "subscriber", "reason", "message", "plan") else _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return int(value) if isinstance(value, str) and value.isdigit() else value


def _show(found: Sequence[Any], as_json: bool, counted: Sequence[Any] = ()) -> None:
    if as_json:
        print(
            json.dumps(
                {"subscribers": [_plain(entry) for entry in found], **({"counters": [_plain(c) for c in counted]} if counted else {})}
            )
        )
        return
    _table(
        ("name", "place", "node", "rate", "guarantee", "weight", "queues", "gate", "version"),
        [
            (entry.name, f"{entry.index:,}", f"{entry.node:,}", _bps(entry.rate_bps) if entry.HasField("rate_bps") else "-",
             _guaranteed(entry), str(entry.weight) if entry.HasField("weight") else "1", str(len(entry.queues)),
             "closed" if entry.gate_closed else "open", str(entry.version)) for entry in found
        ],
    )  # fmt: skip
    for entry in found:
        more = [f"plan {entry.plan}"] if entry.plan else []
        more += [" ".join(f"{key}={_cell(value)}" for key, value in match.items()) for match in _plain_matches(entry)]
        more += ["bypass: its settings do not hold"] if entry.bypass else []
        if more:
            print(f"{entry.name}: {'; '.join(more)}")
    if counted:
        _counted([(number, queue, c) for number, (queue, c) in enumerate(zip(found[0].queues, counted, strict=False))])


def _plain_matches(entry: Any) -> list[dict[str, Any]]:
    from penstock.designs.access_edge.control import keys

    return [keys.plain(match) for match in entry.matches]


def _cell(value: Any) -> str:
    return ".".join(map(str, value)) if isinstance(value, list) else str(value)


def _counted_headers(found: Any) -> None:
    """Print how many frames were found in headers, by kind."""
    if not found.HasField("headers"):
        return
    of = found.headers
    rows = [(one.match, f"{one.hits:,}", f"{one.misses:,}") for one in of.profiles]
    _table(("headers", "found", "of nobody"), [*rows, ("none of these", "-", f"{of.without_profile:,}")])
    bad = [f"{one.name} {one.frames:,}" for one in of.endings if one.malformed and one.frames]
    print(f"malformed headers: {', '.join(bad).replace('_', ' ') or 'none'}; {of.keys:,} matches")


def _lost(reason: Any) -> str:
    """Return how many packets were dropped for a reason, and how fast."""
    fast = f" ({reason.packets_per_second:,.0f}/s)" if reason.packets_per_second else ""
    return f"{reason.reason} {reason.packets:,}{fast}"


def _memory(found: Any) -> None:
    """Print how much of the packet memory is used, by class where classes share it."""
    if not found.pages:
        return  # of an older server
    classes = [f"class {one.index} {one.used_pages:,} ({one.reserved_pages:,} reserved)" for one in found.classes]
    full = f"memory: {found.used_pages:,} of {found.pages:,} pages used, {found.used_pages / found.pages:.0%}"
    print("; ".join([full, ", ".join(classes)] if classes else [full, "one queue may take all of it"]))


def _counted(found: Sequence[tuple[int, Any, Any]]) -> None:
    """Print position, settings and counters of queues."""
    rows = [
        (str(number), _bps(queue.rate_bps) if queue.HasField("rate_bps") else "unshaped", str(queue.traffic_class),
         f"{c.out_packets:,}", f"{c.dropped_packets:,}", f"{c.marked_packets:,}", f"{c.queued_packets:,}", f"{c.queued_bytes:,}",
         f"{c.head_sojourn_ns / 1e6:,.3f} ms" if c.HasField("head_sojourn_ns") else "-", f"{c.age_ns / 1e6:,.1f} ms")
        for number, queue, c in found
    ]  # fmt: skip
    _table(("queue", "rate", "class", "sent", "dropped", "marked", "waiting", "byte", "head waits", "age"), rows)


def _settings(found: Sequence[tuple[str, int, int, Any]]) -> None:
    """Print subscriber, position, place in the device and settings of queues; no settings: it is not named, and drops all."""

    def said(queue: Any, field: str, words: str) -> str:
        return "0" if queue is None else f"{getattr(queue, field):,}" if queue.HasField(field) else words

    rows = [
        (name, str(position), f"{index:,}", "-" if queue is None else _bps(queue.rate_bps) if queue.HasField("rate_bps") else "unshaped",
         said(queue, "burst_bytes", "0"), said(queue, "limit_packets", "most"), said(queue, "limit_bytes", "most"),
         said(queue, "traffic_class", "0"), said(queue, "weight", "1"), _guaranteed(queue), _aqm(queue))
        for name, position, index, queue in found
    ]  # fmt: skip
    _table(("subscriber", "queue", "place", "rate", "burst", "packets", "byte", "class", "weight", "guarantee", "AQM"), rows)


def _guaranteed(entry: Any) -> str:
    """Return the guaranteed rate of a queue or subscriber; of one that is not named there is none."""
    return _bps(entry.guarantee_bps) if entry is not None and entry.guarantee_bps else "-"


def _aqm(queue: Any) -> str:
    if queue is None or not queue.HasField("aqm"):
        return "-"
    words = [f"{key}={value.replace(' ', '')}" for key, value in sorted(queue.aqm.settings.items())]
    return " ".join(words + (["ecn"] if queue.aqm.ecn else [])) or "on"


def _nodes(found: Sequence[Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"nodes": [_plain(entry) for entry in found]}))
        return
    rows = [(str(n.index), n.name, _bps(n.rate_bps) if n.HasField("rate_bps") else "-", str(n.port), str(n.version)) for n in found]
    _table(("node", "name", "rate", "port", "version"), rows)


def _totals(found: Sequence[Any]) -> None:
    rows = [
        (t.name, _bps(t.rate_bps), *_of_limit(t), f"{t.in_packets:,}", f"{t.out_packets:,}", f"{t.dropped_packets:,}",
         f"{t.marked_packets:,}", f"{t.queued_packets:,}") for t in found
    ]  # fmt: skip
    _table(("", "rate", "of", "", "in", "sent", "dropped", "marked", "waiting"), rows)


def _of_limit(total: Any) -> tuple[str, str]:
    """Return the limit of a node or port, and which part of it is used."""
    if not total.HasField("limit_bps"):
        return "-", ""
    return _bps(total.limit_bps), f"{total.rate_bps / total.limit_bps:.0%}" if total.limit_bps else "closed"


def _bps(rate: int) -> str:
    from penstock.basics.units import format_rate

    return format_rate(rate)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: bool = True) -> None:
    """Print a table; `right`: all columns but the first one are of numbers."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = [
            cell.ljust(width) if number == 0 or not right else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
