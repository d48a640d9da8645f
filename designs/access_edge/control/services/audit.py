"""The audit log."""

from datetime import UTC, datetime
from typing import Any

import grpc

from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.problems import invalid
from penstock.designs.access_edge.control.services import calls
from penstock.v1 import audit_pb2, audit_pb2_grpc

COUNT, MAX_COUNT = 100, 10_000
MAX_NOUN = 40  # letters


@calls
class Audit(audit_pb2_grpc.AuditServicer):
    """The service."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def List(self, request: Any, context: grpc.ServicerContext) -> audit_pb2.ListAuditResponse:
        """Return lines of the log, the newest first."""
        if request.count > MAX_COUNT:
            raise invalid(f"must be at most {MAX_COUNT:,}, not {request.count:,}", "count")
        if request.noun and not (len(request.noun) <= MAX_NOUN and request.noun.isascii() and request.noun.isalpha()):
            raise invalid(f"must be a noun, such as subscriber, not {request.noun[:40]!r}", "noun")
        found = self._plant.audited(request.count or COUNT, _since(request.since), request.who, request.noun)
        lines = [audit_pb2.AuditLine(at=at, who=who, method=method, what=what, status=status) for at, who, method, what, status in found]
        return audit_pb2.ListAuditResponse(lines=lines)


def _since(text: str) -> str:
    """Return a time as the log has it. Raises Problem."""
    if not text:
        return ""
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is None:
            raise ValueError
        return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        raise invalid(f"must be a time with its zone, such as 2026-01-31T12:00:00Z, not {text[:40]!r}", "since") from None
