"""What `penstock faults` prints: the list, the counts by place, and every fault that no test saw."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.faults.planting import BROKEN, KILLED, OUTCOMES, STALE, SURVIVED, Outcome
from penstock.faults.register import Fault
from penstock.graph.changes import Changes

if TYPE_CHECKING:
    from penstock.faults.changed import Campaign

SCHEMA = "penstock.faults/1"


def listing(faults: Sequence[Fault]) -> list[str]:
    """Return the lines of `faults --list`."""
    lines, place = [], ""
    for fault in faults:
        if fault.place != place:
            place = fault.place
            lines.append(place)
        lines.append(f"  {fault.name}: {fault.words}")
        lines += [f"      {test}" for test in fault.tests]
    areas = Counter(fault.place.removeprefix("src/").split("/")[0] for fault in faults)
    return [*lines, "", ", ".join(f"{area} {count}" for area, count in areas.items()) + f": {sum(areas.values())} faults"]


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


def changed_summary(changes: Changes, plan: "Campaign", outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return what `faults --changed` shows: what was generated and tried, and all that no test has seen."""
    survivors = [fault for fault in plan.faults if fault.id in outcomes and outcomes[fault.id].outcome in (SURVIVED, STALE)]
    return {
        "since": changes.since,
        "changed": {file: len(lines) for file, lines in changes.lines.items()},
        "mutants": {"generated": plan.generated, "equivalent": plan.equivalent, **_of(plan, outcomes, True)},
        "by_hand": {"generated": plan.by_hand, **_of(plan, outcomes, False)},
        "untested": plan.untested,
        "survivors": [_survivor(fault, outcomes[fault.id]) for fault in survivors],
    }


def _of(plan: "Campaign", outcomes: Mapping[str, Outcome], mutants: bool) -> dict[str, int]:
    found = [outcomes[fault.id] for fault in plan.faults if fault.is_mutant == mutants and fault.id in outcomes]
    counts = _counts(found)
    uncounted = counts.pop(BROKEN)
    return {"tried": len(found) - uncounted, **counts, "not_compiled" if mutants else BROKEN: uncounted}


def _survivor(fault: Fault, outcome: Outcome) -> dict[str, Any]:
    change, *_ = fault.changes
    file, _, line = fault.place.partition(":")
    where = {"file": file, "line": int(line)} if fault.is_mutant else {"file": change.file, "name": fault.id}
    return where | {"words": fault.words, "before": change.old, "after": change.new, "tests": list(fault.tests), "outcome": outcome.outcome}


def changed_lines(changes: Changes, plan: "Campaign", outcomes: Mapping[str, Outcome], seed: int) -> list[str]:
    """Return the same for people."""
    result = changed_summary(changes, plan, outcomes)
    lines = sum(result["changed"].values())
    text = [f"{lines} lines of {len(changes.lines)} files differ from {changes.since}."]
    if changes.alike:
        text.append(f"{len(changes.alike)} files differ in comments and layout alone: nothing is tried for them.")
    for survivor in result["survivors"]:
        where = f"{survivor['file']}:{survivor['line']}" if "line" in survivor else survivor["name"]
        text += ["", f"{survivor['outcome']}: {where}: {survivor['words']}"]
        shown = ", ".join(survivor["tests"][:3]) + (", ..." if survivor["tests"][3:] else "")
        text.append(f"  none of {len(survivor['tests'])} tests sees it: {shown}")
    text += [f"No test is about {file}: its mutants are not tried." for file in plan.untested]
    mutants, by_hand = result["mutants"], result["by_hand"]
    planned = sum(fault.is_mutant for fault in plan.faults)
    marked = f" ({mutants['equivalent']} of them are marked as equivalent)" if mutants["equivalent"] else ""
    text += [
        "",
        f"Mutants: {mutants['generated']} generated{marked}, {planned} drawn with seed {seed}, {mutants['tried']} tried: "
        f"{mutants['killed']} killed, {mutants['survived']} survived; "
        f"{mutants['not_compiled']} did not compile, or their tests fail anyway, and do not count.",
        f"By hand, in these files: {by_hand['generated']} faults, {by_hand['tried']} tried: "
        f"{by_hand['killed']} killed, {by_hand['survived']} survived.",
    ]
    if plan.faults and len(outcomes) < len(plan.faults):
        text.append(f"{len(plan.faults) - len(outcomes)} were not tried in the time; the next call goes on with them.")
    return text
