"""Writes the tables of the pages on scenarios from the models: `python -m penstock.scenarios.schema_docs`. A test compares.

Each design has its page (Design.page) and its models, `designs/<design>/scenario.py`; what is not of a design is on pages of its own, to
which the others lead.
"""

import importlib
import re
import types
import typing
from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from penstock.basics import models
from penstock.basics.wording import number
from penstock.designs import design as designs
from penstock.live.applications import entries
from penstock.paths import ROOT
from penstock.scenarios import common, headers, network, values

# Pages of models that are not of a design, and their modules.
_PAGES = {"docs/live.md": [network], "docs/live-applications.md": [entries]}

_SECTION = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

# How the types are called in the tables; what is not here is called by its Python type.
_KINDS = {
    "Rate": "rate",
    "RateOrShare": "rate, or share in %",
    "LeastRate": "rate",
    "QueueRate": 'rate, "unshaped" or 0',
    "Guarantee": "rate or 0",
    "Time": "time",
    "Duration": "time",
    "Delay": "time",
    "Slack": "time",
    "Buffer": "size",
    "Interfaces": "addresses and networks",
    "Services": "list of command lines",
    "HostAddress": "address",
    "HostMac": "MAC address",
    "Size": "size",
    "Burst": "size or time",
    "Name": "name",
    "QueueRef": "queue",
    "LimitPackets": "whole number",
    "LimitBytes": "size",
    "MemoryLimit": "size",
    "Dscp": "DSCP",
    "Dscps": "DSCPs",
    "Vlans": "VLAN ids",
    "VlanRanges": "VLAN ids or ranges",
    "SessionRange": "number or range",
    "LabelRange": "number or range",
    "Ipv4First": "IPv4 address",
    "Ipv6Prefix": "IPv6 prefix",
    "Address": "address",
    "Mac": "MAC address",
    "LineRates": "rate, or list of rates",
    "UdpPort": "port",
    "UdpSize": "size in byte",
    "EchoSize": "size in byte",
    "EchoInterval": "time, at least 1 ms",
    "Segment": "time, at least 100 ms",
    "Sizes": "sizes",
    "Rates": "list of rates",
    "Algorithm": "name",
}
_BY_KEY = {
    "from": "name",
    "to": "name",
    "ids": "ids",
    "over": "ids",
    "subscribers": "ids",
    "nodes": "ids",
    "ports": "ids",
    "inputs": "ports",
    "outputs": "ports",
    "queues": "queues",
    "classes": "classes",
    "series": "queues",
    "size": "sizes",
    "drain": "true, false or time",
    "proto": "protocol",
    "src": "network",
    "dst": "network",
    "sport": "port or range",
    "dport": "port or range",
    "unmatched": "ignore, error or queue",
    "overrides": "keys with values",
    "alpha": "number",
    "reserved": "pages, or pages by size",
    "applications": "[applications](live-applications.md)",
}


def table(model: type[BaseModel]) -> str:
    """Return the Markdown table of one model."""
    hints = typing.get_type_hints(model, include_extras=True)
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        key = field.alias or name
        lines.append(f"| `{key}` | {_kind(key, hints[name], field)} | {_default(field)} | {field.description} |")
    for row in getattr(model, "rows_of_parts", tuple)():  # keys that are not fields
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def _kind(key: str, hint: Any, field: FieldInfo) -> str:
    options = [option for option in typing.get_args(hint) if option is not type(None)] if _is_union(hint) else [hint]
    for name, word in _KINDS.items():
        if _named(name) in options:
            return word + _range(field, hint)
    if key in _BY_KEY and _strip(options[0]) is not int and not _models(hint) and typing.get_origin(_strip(hint)) is not typing.Literal:
        return _BY_KEY[key]
    models = _models(hint)
    if models:
        return ("list of " if typing.get_origin(hint) is tuple else "") + " or ".join(
            f"[{m.__name__}]({getattr(m, 'page', '')}#{m.__name__.lower()})" for m in models
        )
    bare = _strip(options[0])
    if typing.get_origin(bare) is typing.Literal:
        return ", ".join(f"`{value}`" for value in typing.get_args(bare))
    if typing.get_origin(bare) is tuple and _strip(typing.get_args(bare)[0]) is int:
        return "whole numbers" + _range(field, hint)
    plain = {int: "whole number", float: "number", str: "text", bool: "true or false", dict[str, Any]: "keys with values"}
    return plain.get(bare, str(bare)) + _range(field, hint)


def _own(design: str) -> list[Any]:
    """Return the modules with a design's own models."""
    return [importlib.import_module(f"penstock.designs.{design}.{module}") for module in designs.load(design).models]


def _found(name: str, places: list[Any]) -> Any:
    return next(getattr(place, name) for place in places if hasattr(place, name))


def _named(name: str) -> Any:
    """Return a type of scenarios, of all designs or of one."""
    return _found(
        name, [common, models, headers, values, network, entries, *(place for design in designs.names() for place in _own(design))]
    )


def _model(name: str, design: str) -> Any:
    """Return a model of a design's scenarios, or of all scenarios. Raises StopIteration for one that is not there."""
    return _found(name, [*_own(design), common, models])


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _strip(hint: Any) -> Any:
    return _strip(typing.get_args(hint)[0]) if typing.get_origin(hint) is typing.Annotated else hint


def _models(hint: Any) -> list[type[BaseModel]]:
    """Return the models in a type, in order."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return [hint]
    return (
        [model for part in typing.get_args(hint) if part is not types.NoneType for model in _models(part)] if typing.get_args(hint) else []
    )


def _range(field: FieldInfo, hint: Any) -> str:
    limits = {}
    nested = [item for part in _metadata(hint) for item in getattr(part, "metadata", [part])]
    for item in [*field.metadata, *nested]:
        for name in ("ge", "gt", "le", "lt"):
            if getattr(item, name, None) is not None:
                limits[name] = getattr(item, name)
    low, high = limits.get("ge", limits.get("gt")), limits.get("le", limits.get("lt"))
    if low is not None and high is not None:
        return f", {'more than ' if 'gt' in limits else ''}{number(low)} to {int(high):,}"
    return f", at least {low:,}" if low else ""


def _metadata(hint: Any) -> list[Any]:
    if typing.get_origin(hint) is typing.Annotated:
        return [*hint.__metadata__, *_metadata(typing.get_args(hint)[0])]
    return [item for part in typing.get_args(hint) for item in _metadata(part)]


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None or value == "" or value == () or field.default_factory is not None:
        return ""
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def updated(text: str, design: str) -> str:
    """Return a design's page with all its tables written anew. Raises StopIteration for a table of a model that is not there."""
    return _with_tables(text, lambda name: _model(name, design))


def _with_tables(text: str, model: Callable[[str], Any]) -> str:
    return _SECTION.sub(lambda match: match[1] + "\n" + table(model(match[2])) + "\n" + match[3], text)


def pages() -> dict[str, str]:
    """Return each page, from the root, as it should be."""
    found = {designs.load(name).page: updated((ROOT / designs.load(name).page).read_text(), name) for name in designs.names()}
    for page, places in _PAGES.items():
        found[page] = _with_tables((ROOT / page).read_text(), partial(_found, places=places))
    return found


if __name__ == "__main__":
    for page, text in pages().items():
        (ROOT / page).write_text(text)
