"""Parts of what the page is answered: what its requests may say, and figures that are computed for it."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from penstock.designs.access_edge.control.problems import Code, invalid

STATUS = {
    Code.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    Code.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Code.PERMISSION_DENIED: HTTPStatus.FORBIDDEN,
    Code.ABORTED: HTTPStatus.CONFLICT,
    Code.ALREADY_EXISTS: HTTPStatus.CONFLICT,
    Code.FAILED_PRECONDITION: HTTPStatus.CONFLICT,
    Code.RESOURCE_EXHAUSTED: HTTPStatus.TOO_MANY_REQUESTS,
}
Query = dict[str, str]


def settings(queue: Any) -> dict[str, Any]:
    """Return the settings of a queue that were given."""
    names = ("rate_bps", "burst_bytes", "limit_packets", "limit_bytes", "traffic_class", "weight", "guarantee_bps")
    found = {name: getattr(queue, name) for name in names if queue.HasField(name)}
    if queue.HasField("aqm"):
        found["aqm"] = {"ecn": queue.aqm.ecn} | dict(queue.aqm.settings)
    return found


def delay(values: Mapping[str, Any], packets: int | None = None) -> float | None:
    """Return how long packets wait on average, in seconds: what is queued divided by what leaves (Little's law). It needs no time stamps,
    so every device tells it. `packets`: so many wait, where that is known better than by what queues of subscribers hold. None: something
    is queued and nothing leaves."""
    queued = values["queued_bytes"]
    if packets is not None:
        queued = packets * values["out_bytes"] / values["out_packets"] if values["out_packets"] else 0
    if not queued:
        return 0.0
    return 8 * queued / values["rate_bps"] if values["rate_bps"] else None


def known(query: Query, *names: str) -> None:
    """Raise Problem for a parameter that is not one of these."""
    for name in query:
        if name not in names:
            raise invalid(f"there is no parameter {name[:40]!r}; this path has {', '.join(names) or 'none'}")


def wanted(query: Query, name: str) -> str:
    """Return a parameter that must be there. Raises Problem."""
    if not query.get(name):
        raise invalid("must be given", name)
    return query[name]


def as_json(value: Any) -> tuple[str, bytes]:
    """Return kind and bytes of an answer."""
    return "application/json", json.dumps(value, separators=(",", ":")).encode()


def as_error(words: str) -> tuple[str, bytes]:
    """Return the same of an error in one sentence."""
    return as_json({"error": words})
