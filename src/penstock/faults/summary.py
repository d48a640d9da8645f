"""What `penstock faults` prints: the list, the counts by place, and every fault that no test saw."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.faults.planting import KILLED, OUTCOMES, Outcome
from penstock.faults.register import Fault

SCHEMA = "penstock.faults/1"


def listing(faults: Iterable[Fault]) -> list[str]:
    """Return the lines of `faults --list`."""
    lines, place = [], ""
    for fault in faults:
        if fault.place != place:
            place = fault.place
            lines.append(place)
        lines.append(f"  {fault.name}: {fault.words}")
        lines += [f"      {test}" for test in fault.tests]
    return lines


def _counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    found = Counter(outcome.outcome for outcome in outcomes)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def summary(faults: Sequence[Fault], outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return the counts, the same by place (`areas`), and what was not killed: `survivors`, `stale_faults`, `broken_faults`,
    `skipped_faults`."""
    places = dict.fromkeys(fault.place for fault in faults)
    found = {**_counts(outcomes.values())}
    areas = {place: _counts(outcomes[fault.id] for fault in faults if fault.place == place) for place in places}

    def those(outcome: str) -> list[dict[str, Any]]:
        return [fault.as_json() | {"reason": outcomes[fault.id].words or None} for fault in faults if outcomes[fault.id].outcome == outcome]

    others = {f"{outcome}_faults": those(outcome) for outcome in ("stale", "broken", "skipped")}
    return found | {"areas": areas, "survivors": those("survived")} | others


def lines(faults: Sequence[Fault], outcomes: Mapping[str, Outcome]) -> list[str]:
    """Return the same for people."""
    result = summary(faults, outcomes)
    width = max(map(len, result["areas"]))

    def words(counts: Mapping[str, int]) -> str:
        return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])

    text = [f"{place:<{width}}  {words(counts)}" for place, counts in result["areas"].items()]
    for fault in faults:
        outcome = outcomes[fault.id]
        if outcome.outcome != KILLED:
            text += ["", f"{outcome.outcome}: {fault.id}: {fault.words}"]
            text += [f"  {outcome.words}"] if outcome.words else [f"  no failure in {test}" for test in fault.tests]
    return [*text, "", f"{len(faults)} faults: {words(result)}"]
