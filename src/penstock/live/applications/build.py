"""From the entries of a scenario to the applications of a run."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from penstock.basics.where import first_error
from penstock.live.applications import entries as given
from penstock.live.applications.base import Application
from penstock.live.applications.iperf import Iperf
from penstock.live.applications.ours import Http, Ping, Video, Voice
from penstock.scenarios.scenario import Document

_KINDS: dict[str, type[Application]] = {one.kind: one for one in (Iperf, Http, Ping, Voice, Video)}
KEY = "applications"


def from_scenario(scenario: Any, document: Document) -> list[Application]:
    """Return an application for each entry of a scenario's `applications`. Raises UserError."""
    plain = [
        entry.model_dump(by_alias=True, exclude_unset=True) if hasattr(entry, "model_dump") else entry for entry in scenario.applications
    ]
    try:
        entries = TypeAdapter(given.Entries).validate_python(plain)
    except ValidationError as error:
        key, words = first_error(error, plain)
        document.fail((KEY, *key), words)
    ends = [end.name for end in scenario.network.ends] if scenario.network is not None else []
    given.check(entries, ends, scenario.duration, document, (KEY,))
    return applications(entries, scenario.duration, scenario.seed)


def applications(entries: Sequence[given.Entry], duration: int, seed: int = 1) -> list[Application]:
    """Return an application for each entry, in their order; `duration`: of the run, in picoseconds."""
    names = given.names(entries)
    return [
        _KINDS[entry.kind](entry, name, number, duration, seed) for number, (entry, name) in enumerate(zip(entries, names, strict=True))
    ]
