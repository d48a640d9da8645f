"""Ports, nodes and plans in files of subscribers (YAML, JSON): what stands there beside the list `subscribers`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.designs.access_edge.control import tables
from penstock.errors import UserError
from penstock.v1 import hierarchy_pb2, plans_pb2

if TYPE_CHECKING:
    from penstock.designs.access_edge.control.client import Client

LISTS = ("ports", "nodes", "plans")
OF_PORT = ("index", "name", "rate", "burst")
OF_NODE = (*OF_PORT, "port")
OF_PLAN = ("name", "rate", "burst", "weight", "guarantee", "queues")
OWN = ("version", "subscribers")  # what the server says of a plan, node or port: no part of what is wanted
_FIELDS = {"rate": "rate_bps", "burst": "burst_bytes", "weight": "weight", "guarantee": "guarantee_bps"}


@dataclass
class Parents:
    """What a file has of ports, nodes and plans, each behind where it stands."""

    ports: list[tuple[str, hierarchy_pb2.Port]] = field(default_factory=list)
    nodes: list[tuple[str, hierarchy_pb2.Node]] = field(default_factory=list)
    plans: list[tuple[str, plans_pb2.Plan]] = field(default_factory=list)

    def take(self, where: str, found: Mapping[str, Any]) -> None:
        """Read them from a file's top level. Raises UserError that begins with `where`."""
        readers: dict[str, Callable[[Mapping[str, Any], str], Any]] = {"ports": _port, "nodes": _node, "plans": _plan}
        for key, reader in readers.items():
            entries = found.get(key) or []
            if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
                raise UserError(f"{where}: {key} must be a list of keys with values")
            places: dict[object, str] = {}
            for number, entry in enumerate(entries):
                place = f"{where}: {key}[{number}]"
                made = reader(entry, place)
                called = made.name if key == "plans" else made.index
                if called in places:
                    raise UserError(f"{place}: {called} stands at {places[called]}, too")
                places[called] = place
                getattr(self, key).append((place, made))

    def bring(self, client: "Client") -> dict[str, int]:
        """Set what is not so already: ports, then nodes, then plans. Return how many of each. Raises UserError, which says where that
        stands which the server refuses; those before it stay set."""
        import grpc

        from penstock.designs.access_edge.control.client import sentence

        there = of(client)
        changed = dict.fromkeys(LISTS, 0)
        for key, call in (("ports", client.ports.Set), ("nodes", client.nodes.Set), ("plans", client.plans.Set)):
            known = {one.name if key == "plans" else one.index: one for _, one in getattr(there, key)}
            for where, wanted in getattr(self, key):
                now = known.get(wanted.name if key == "plans" else wanted.index)
                if key == "nodes" and now is not None and not wanted.HasField("port"):
                    wanted.port = now.port
                if now is not None and bare(now) == bare(wanted):
                    continue
                try:
                    call(wanted)
                except grpc.RpcError as error:
                    raise UserError(f"{where}: {sentence(error)}") from None
                changed[key] += 1
        return changed

    def plain(self) -> dict[str, Any]:
        """Return them as in YAML, without lists that would be empty."""
        lists = {
            "ports": [_plain(port, OF_PORT) for _, port in self.ports],
            "nodes": [_plain(node, OF_NODE) for _, node in self.nodes],
            "plans": [_plain(plan, OF_PLAN) | {"queues": [tables.plain_queue(queue) for queue in plan.queues]} for _, plan in self.plans],
        }
        return {key: entries for key, entries in lists.items() if entries}


def of(client: "Client") -> Parents:
    """Return the ports and nodes that were set, and all plans."""
    ports = client.ports.List(hierarchy_pb2.ListPortsRequest()).ports
    nodes = client.nodes.List(hierarchy_pb2.ListNodesRequest()).nodes
    plans = client.plans.List(plans_pb2.ListPlansRequest()).plans
    return Parents(_located(port for port in ports if port.version), _located(node for node in nodes if node.version), _located(plans))


def _located(found: Iterable[Any]) -> list[tuple[str, Any]]:
    return [("", one) for one in found]


def bare(message: Any) -> Any:
    """Return a plan, node or port without what only the server says of it."""
    made = type(message)()
    made.CopyFrom(message)
    for name in OWN:
        if name in message.DESCRIPTOR.fields_by_name:
            made.ClearField(name)
    return made


def _plain(message: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "index" in keys:
        found["index"] = message.index
    if message.name:
        found["name"] = message.name
    if "port" in keys and message.HasField("port"):
        found["port"] = message.port
    return found | tables.present(message, {key: name for key, name in _FIELDS.items() if key in keys})


def _port(values: Mapping[str, Any], where: str) -> hierarchy_pb2.Port:
    return _parent(hierarchy_pb2.Port(), OF_PORT, values, where)


def _node(values: Mapping[str, Any], where: str) -> hierarchy_pb2.Node:
    return _parent(hierarchy_pb2.Node(), OF_NODE, values, where)


def _parent(made: Any, keys: tuple[str, ...], values: Mapping[str, Any], where: str) -> Any:
    tables.known(values, keys, where)
    if values.get("index") is None:
        raise UserError(f"{where}: has no index")
    tables.fill(made, values, where, [key for key in keys if key in ("index", "name", "port", *_FIELDS)])
    return made


def _plan(values: Mapping[str, Any], where: str) -> plans_pb2.Plan:
    tables.known(values, OF_PLAN, where)
    if values.get("name") is None:
        raise UserError(f"{where}: has no name")
    said = tables.of_dict(dict(values), where)
    made = plans_pb2.Plan(name=said.name, queues=said.queues)
    for name in _FIELDS.values():
        if said.HasField(name):
            setattr(made, name, getattr(said, name))
    return made
