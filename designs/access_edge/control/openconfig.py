"""Subscribers from OpenConfig QoS JSON (openconfig-qos): what fits, and a list of what does not (docs/how-to/standards.md).

An interface is a subscriber, by its `interface-id`. The scheduler policy of its output has a scheduler for each queue: strict ones are
classes in the order of their sequence, inputs of one scheduler share its class by their weights.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.basics.units import describe
from penstock.designs.access_edge.control.fields import put
from penstock.designs.access_edge.control.tables import Located, once
from penstock.errors import UserError
from penstock.v1 import subscribers_pb2

MAX_WEIGHT = 8
_SHAPER = {"cir": "rate_bps", "bc": "burst_bytes", "max-queue-depth-bytes": "limit_bytes", "max-queue-depth-packets": "limit_packets"}
_TWO_RATES = {"cir": "guarantee_bps", "pir": "rate_bps", "be": "burst_bytes"}
_KINDS = {"ONE_RATE_TWO_COLOR": ("one-rate-two-color", _SHAPER), "TWO_RATE_THREE_COLOR": ("two-rate-three-color", _TWO_RATES)}


def read(path: Path) -> tuple[list[Located], list[str]]:
    """Return the subscribers of a file, each behind where it stands, and what of it was left out, a sentence each. Raises UserError."""
    try:
        found = _plain(json.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or 'is no JSON'}") from None
    qos = found.get("qos") if isinstance(found, dict) else None
    if not isinstance(qos, dict):
        raise UserError(f"{path}: must have an object 'openconfig-qos:qos'")
    left: list[str] = []
    try:
        made = _subscribers(qos, left)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    located = list(once((f"{path}: interface", subscriber) for subscriber in made))
    return located, list(dict.fromkeys(left))


def without_guarantees(entries: list[Located]) -> list[str]:
    """Take the guaranteed rates away, for a device that has none; return a sentence for each subscriber that had one."""
    left = []
    for _, subscriber in entries:
        guaranteed = [queue for queue in subscriber.queues if queue.HasField("guarantee_bps")]
        for queue in guaranteed:
            queue.ClearField("guarantee_bps")
        if guaranteed:
            left.append(f"interface {subscriber.name}: two-rate-three-color: cir is not used: the device has no guarantees")
    return left


def _subscribers(qos: Mapping[str, Any], left: list[str]) -> list[subscribers_pb2.Subscriber]:
    for name in sorted(qos.keys() - {"interfaces", "scheduler-policies"}):
        left.append(f"{name}: is not used: queues are chosen by the frames' queue ids, and settings stand in the schedulers")
    policies: dict[str, Mapping[str, Any]] = {}
    for entry in _entries(qos, "scheduler-policies", "scheduler-policy"):
        name = _name(entry, "name")
        if name in policies:
            raise UserError(f"scheduler policy {name} is there twice")
        policies[name] = entry
    made = [_subscriber(entry, policies, left) for entry in _entries(qos, "interfaces", "interface")]
    if not made:
        raise UserError("has no interfaces, so there are no subscribers")
    return made


def _subscriber(interface: Mapping[str, Any], policies: Mapping[str, Any], left: list[str]) -> subscribers_pb2.Subscriber:
    name = _name(interface, "interface-id")
    where = f"interface {name}"
    made = subscribers_pb2.Subscriber()
    put(made, "name", name, "interface-id")
    for key in sorted(interface.keys() - {"interface-id", "interface-ref", "output", "config", "state"}):
        left.append(f"{where}: {key} is not used{': the device shapes what leaves' if key == 'input' else ''}")
    output = _object(interface, "output", where)
    for key in sorted(output.keys() - {"scheduler-policy", "config", "state"}):
        left.append(f"{where}: output.{key} is not used")
    wanted = _values(_object(output, "scheduler-policy", where), {"name"}, f"{where}: scheduler-policy", left).get("name")
    if wanted is None:
        left.append(f"{where}: has no scheduler policy, so its queues drop all")
        return made
    if not isinstance(wanted, str) or wanted not in policies:
        raise UserError(f"{where}: scheduler policy {wanted!r} is not there")
    schedulers = sorted(_entries(policies[wanted], "schedulers", "scheduler"), key=lambda entry: _number(entry, "sequence"))
    for cls, scheduler in enumerate(schedulers):
        _queues(
            made, scheduler, cls, cls == len(schedulers) - 1, f"scheduler policy {wanted}, scheduler {_number(scheduler, 'sequence')}", left
        )
    return made


def _queues(made: subscribers_pb2.Subscriber, scheduler: Mapping[str, Any], cls: int, last: bool, where: str, left: list[str]) -> None:
    """Add the queues of one scheduler, all of class `cls`; `last`: there is no lower one."""
    meant = str({"type": "ONE_RATE_TWO_COLOR", **scheduler, **_object(scheduler, "config", where)}["type"]).rpartition(":")[2]
    container, fields = _KINDS.get(meant, _KINDS["ONE_RATE_TWO_COLOR"])
    own = _values(scheduler, {"sequence", "type", "priority"}, where, left, {"inputs", "output", container})
    if own.get("priority") != "STRICT" and not last:
        left.append(f"{where}: is not STRICT, and goes before the ones behind it all the same")
    if meant not in _KINDS:
        left.append(f"{where}: type {own['type']} is not used")
    output = _values(_object(scheduler, "output", where), {"output-type"}, f"{where}: output", left).get("output-type", "INTERFACE")
    if output != "INTERFACE":
        left.append(f"{where}: output {output} is not used: its queues are the interface's")
    shaper = _values(_object(scheduler, container, where), {*fields, "queuing-behavior"}, f"{where}: {container}", left)
    if shaper.get("queuing-behavior") == "POLICE":
        left.append(f"{where}: POLICE becomes a shaper, which holds what a policer drops; a small limit comes near to it")
    inputs = [
        _values(entry, {"id", "input-type", "queue", "weight"}, f"{where}: input", left) for entry in _entries(scheduler, "inputs", "input")
    ]
    for kind in sorted({str(one["input-type"]) for one in inputs if one.get("input-type", "QUEUE") != "QUEUE"}):
        left.append(f"{where}: input {kind} is a queue of its own")
    given = [key for key in fields if key in shaper]
    if len(inputs) > 1 and given:
        left.append(f"{where}: {', '.join(given)} of its {len(inputs)} inputs together is what each of their queues gets")
    weights = [_number(one, "weight", 1) for one in inputs or [{}]]
    scaled = _scaled(weights)
    if any(share * weights[0] != weight * scaled[0] for share, weight in zip(scaled, weights, strict=True)):
        left.append(
            f"{where}: weights {', '.join(map(str, weights))} become {', '.join(map(str, scaled))}, for there are 1 to {MAX_WEIGHT}"
        )
    for weight in scaled:
        queue = made.queues.add(traffic_class=cls, weight=weight)
        for key in given:
            put(queue, fields[key], _number(shaper, key), f"{where}: {key}")


def _object(of: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    """Return an object within another one; what is not there is empty. Raises UserError for anything else, also null."""
    found = of.get(key, {})
    if not isinstance(found, dict):
        raise UserError(f"{where}: {key} must be an object, not {describe(found)}")
    return found


def _values(of: Mapping[str, Any], known: Collection[str], where: str, left: list[str], containers: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of a container, its keys and those of `config`. What is not `known` is said to be left out, but `containers`, which
    are looked at elsewhere, and `state`, which is what a device tells."""
    found = {**{key: value for key, value in of.items() if key not in ("config", "state")}, **_object(of, "config", where)}
    for key in sorted(found.keys() - {*known, *containers}):
        left.append(f"{where}: {key} is not used")
    return found


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
    name = entry.get(key, _object(entry, "config", key).get(key))
    if not isinstance(name, str) or not name:
        raise UserError(f"{key}: must be a name, not {describe(name)}")
    return name


def _number(of: Mapping[str, Any], key: str, otherwise: int | None = None) -> int:
    """Return a number; those of 64 bits are strings (RFC 7951, section 6.1)."""
    value = of.get(key, _object(of, "config", key).get(key, otherwise))
    try:
        number = int(str(value))
    except ValueError:
        number = -1
    if number < 0 or isinstance(value, (bool, float)):
        raise UserError(f"{key}: must be a whole number, not {describe(value)}")
    return number
