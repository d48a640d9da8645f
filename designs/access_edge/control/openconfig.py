"""Subscribers from OpenConfig QoS JSON (openconfig-qos): what fits, and a list of what does not (docs/how-to/standards.md).

An interface is a subscriber, by its `interface-id`. The scheduler policy of its output has a scheduler for each queue: strict ones are
classes in the order of their sequence, inputs of one scheduler share its class by their weights.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.designs.access_edge.control.fields import put
from penstock.designs.access_edge.control.tables import Located, once
from penstock.errors import UserError
from penstock.v1 import subscribers_pb2

MAX_WEIGHT = 8
_ROOTS = ("openconfig-qos:qos", "qos")
_OF_SCHEDULER = {"sequence", "config", "inputs", "output", "one-rate-two-color", "state"}
_OF_SHAPER = {"cir", "bc", "max-queue-depth-bytes", "max-queue-depth-packets", "queuing-behavior"}


def read(path: Path) -> tuple[list[Located], list[str]]:
    """Return the subscribers of a file, each behind where it stands, and what of it was left out, a sentence each. Raises UserError."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or 'is no JSON'}") from None
    root = next((found[name] for name in _ROOTS if isinstance(found, dict) and name in found), None)
    if not isinstance(root, dict):
        raise UserError(f"{path}: must have an object {_ROOTS[0]!r}")
    left: list[str] = []
    qos = _plain(root)
    for name in sorted(qos.keys() - {"interfaces", "scheduler-policies"}):
        left.append(f"{name}: is not used: queues are chosen by the frames' queue ids, and settings stand in the schedulers")
    policies = {_name(entry, "name"): entry for entry in _entries(qos, "scheduler-policies", "scheduler-policy")}
    made = [_subscriber(entry, policies, left) for entry in _entries(qos, "interfaces", "interface")]
    if not made:
        raise UserError(f"{path}: has no interfaces, so there are no subscribers")
    located = list(once((f"{path}: interface", subscriber) for subscriber in made))
    return located, list(dict.fromkeys(left))


def _subscriber(interface: Mapping[str, Any], policies: Mapping[str, Any], left: list[str]) -> subscribers_pb2.Subscriber:
    name = _name(interface, "interface-id")
    made = subscribers_pb2.Subscriber()
    put(made, "name", name, "interface-id")
    if "input" in interface:
        left.append(f"interface {name}: input is not used: the device shapes what leaves")
    output = interface.get("output", {})
    for key in sorted(output.keys() - {"scheduler-policy", "config", "state"}):
        left.append(f"interface {name}: output.{key} is not used")
    wanted = output.get("scheduler-policy", {}).get("config", {}).get("name")
    if wanted is None:
        left.append(f"interface {name}: has no scheduler policy, so its queues drop all")
        return made
    if wanted not in policies:
        raise UserError(f"interface {name}: scheduler policy {wanted!r} is not there")
    schedulers = sorted(_entries(policies[wanted], "schedulers", "scheduler"), key=lambda entry: _number(entry, "sequence"))
    for cls, scheduler in enumerate(schedulers):
        _queues(made, scheduler, cls, f"scheduler policy {wanted}, scheduler {_number(scheduler, 'sequence')}", left)
    return made


def _queues(made: subscribers_pb2.Subscriber, scheduler: Mapping[str, Any], cls: int, where: str, left: list[str]) -> None:
    """Add the queues of one scheduler, all of class `cls`."""
    for key in sorted(scheduler.keys() - _OF_SCHEDULER):
        left.append(f"{where}: {key} is not used")
    shaper = scheduler.get("one-rate-two-color", {}).get("config", {})
    for key in sorted(shaper.keys() - _OF_SHAPER):
        left.append(f"{where}: one-rate-two-color.{key} is not used")
    if shaper.get("queuing-behavior") == "POLICE":
        left.append(f"{where}: POLICE becomes a shaper, which holds what a policer drops; a small limit comes near to it")
    inputs = list(_entries(scheduler, "inputs", "input")) or [{}]
    weights = [_number(entry.get("config", {}), "weight", 1) for entry in inputs]
    scaled = _scaled(weights)
    if any(share * weights[0] != weight * scaled[0] for share, weight in zip(scaled, weights, strict=True)):
        left.append(
            f"{where}: weights {', '.join(map(str, weights))} become {', '.join(map(str, scaled))}, for there are 1 to {MAX_WEIGHT}"
        )
    for weight in scaled:
        queue = made.queues.add(traffic_class=cls, weight=weight)
        for key, field in (("cir", "rate_bps"), ("bc", "burst_bytes"), ("max-queue-depth-bytes", "limit_bytes"),
                           ("max-queue-depth-packets", "limit_packets")):  # fmt: skip
            if key in shaper:
                put(queue, field, _number(shaper, key), f"{where}: {key}")


def _scaled(weights: list[int]) -> list[int]:
    """Return weights of 1 to MAX_WEIGHT in about the same proportions."""
    most = max(max(weights), 1)
    return weights if most <= MAX_WEIGHT and min(weights) >= 1 else [max(1, round(weight * MAX_WEIGHT / most)) for weight in weights]


def _plain(value: Any) -> Any:
    """Return JSON without the modules' names in front of its keys (RFC 7951, section 4)."""
    if isinstance(value, dict):
        return {key.rpartition(":")[2]: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _entries(of: Mapping[str, Any], group: str, entry: str) -> Iterator[Mapping[str, Any]]:
    found = of.get(group, {})
    entries = found.get(entry, []) if isinstance(found, dict) else found
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise UserError(f"{group}: must have a list {entry!r} of objects")
    return iter(entries)


def _name(entry: Mapping[str, Any], key: str) -> str:
    name = entry.get(key, entry.get("config", {}).get(key))
    if not isinstance(name, str) or not name:
        raise UserError(f"{key}: must be a name, not {name!r}")
    return name


def _number(of: Mapping[str, Any], key: str, otherwise: int | None = None) -> int:
    """Return a number; those of 64 bits are strings (RFC 7951, section 6.1)."""
    value = of.get(key, of.get("config", {}).get(key, otherwise))
    try:
        number = int(str(value))
    except ValueError:
        number = -1
    if number < 0 or isinstance(value, (bool, float)):
        raise UserError(f"{key}: must be a whole number, not {value!r}")
    return number
