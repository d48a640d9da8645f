"""Settings from plain values, without a scenario: checked as there, and returned as register writes.

    config = configs.load("tree_2048")
    plain.queue_writes(config, 3, {"rate": "5 Mbit/s", "weight": 2, "class": 1})
    plain.queue_writes(config, 3, {"rate": "5 Mbit"})         # UserError: queues[3].rate: must be a rate with one of the units ...
    plain.parent_writes(config, "subscribers", 7, {"rate": "100 Mbit/s", "node": 2})

Keys, units and ranges are those of scenarios (docs/scenario-access-edge.md); `class` stands for `traffic_class`, too.
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import ValidationError

from penstock.basics.suggest import nearest
from penstock.basics.units import describe
from penstock.basics.where import KeyPath, first_error
from penstock.basics.where import fail as fail_plainly
from penstock.designs.access_edge.settings.device import Device
from penstock.designs.access_edge.settings.given import ChangedSettings, QueueSettings
from penstock.designs.access_edge.settings.parents import LEVELS, Parents, Writes, check_names
from penstock.designs.access_edge.settings.queues import RESET, Settings, check_id, default_line, fastest, resolved
from penstock.errors import UserError

_SHORT = {"class": "traffic_class"}


def queue_writes(config: Device, queue: int, values: Mapping[str, Any], base: Settings = RESET, line_bps: int | None = None) -> Writes:
    """Return the register writes, (address, value) in their order, that give `queue` of a configuration `base` with these values.

    `line_bps`: the egress link, above whose rate none can be; by default as in a scenario. Raises UserError that names the path of the
    value, `queues[3].rate`.
    """
    key: KeyPath = ("queues", _ident("queues", queue))
    check_id(queue, config, key, fail_plainly)
    return queue_settings(config, values, key, base, line_bps).writes(queue, config)


def queue_settings(
    config: Device, values: Mapping[str, Any], path: KeyPath = (), base: Settings = RESET, line_bps: int | None = None
) -> Settings:
    """Return `base` with these values, checked against the configuration. Raises UserError that begins with the value's path."""
    given = _validated(QueueSettings, values, path)
    return resolved(given, base, config, fastest(line_bps or default_line(config)), path, _fail_as_given(values))


def parent_writes(config: Device, kind: str, ident: int, values: Mapping[str, Any], parents: Parents | None = None) -> Writes:
    """Return the register writes that give one of the `subscribers`, `nodes` or `ports` these values.

    What is not named is as after reset, or as `parents` has it, which is changed. Raises UserError that names the path of the value.
    """
    if kind not in LEVELS:
        raise UserError(f"{describe(kind)} is nothing that a hierarchy has{nearest(str(kind), LEVELS)}")
    key: KeyPath = (kind, _ident(kind, ident))
    hierarchy = parents or Parents(config, fail_plainly)
    hierarchy.idents(kind, ((ident, ident),), key)
    given = _validated(ChangedSettings, values, key)
    check_names(kind, given, key, _fail_as_given(values))
    return hierarchy.change(kind, ident, given, key)


def _ident(kind: str, ident: object) -> int:
    if isinstance(ident, bool) or not isinstance(ident, int) or ident < 0:
        raise UserError(f"{kind}: an id must be a whole number from 0 on, not {describe(ident)}")
    return ident


def _validated(model: type[QueueSettings], values: Mapping[str, Any], path: KeyPath) -> Any:
    if not isinstance(values, Mapping):
        fail_plainly(path, f"must be keys with values, not {describe(values)}")
    for short, name in _SHORT.items():
        if short in values and name in values:
            fail_plainly((*path, short), f"is the same as {name}, which is there, too")
    data = {_SHORT.get(str(key), str(key)): value for key, value in values.items()}
    try:
        return model.model_validate(data)
    except ValidationError as error:
        key, message = first_error(error, data)
        _fail_as_given(values)((*path, *key), message)


def _fail_as_given(values: Mapping[str, Any]) -> Any:
    """Return a `fail` that calls a value as the caller has called it."""
    names = {name: short for short, name in _SHORT.items() if short in values}

    def fail(key: KeyPath, message: str) -> NoReturn:
        fail_plainly(tuple(names.get(part, part) if isinstance(part, str) else part for part in key), message)

    return fail
