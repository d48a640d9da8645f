"""What `penstock figures` says at its end."""

from collections import Counter
from typing import Any

from penstock.figures.work import Work


def as_json(work: Work) -> list[dict[str, Any]]:
    """Return the chosen topics: name, tables, values, and the CPU seconds of each command; None for one without a result."""
    return [
        {
            "name": topic.name,
            "tables": list(topic.tables),
            "values": list(topic.values),
            "commands": {command: _seconds(work, topic.name, command) for command in rows},
        }
        for topic, rows in work.chosen
    ]


def _seconds(work: Work, topic: str, command: str) -> float | None:
    found = work.files[topic].get(command)
    return found.cpu_seconds if found else None


def lines(work: Work) -> list[str]:
    """Return the same in words."""
    found = []
    for topic, rows in work.chosen:
        times = [_seconds(work, topic.name, command) for command in rows]
        known = [time for time in times if time is not None]
        without = f", {len(times) - len(known)} not measured" if len(known) < len(times) else ""
        parts = ", ".join([*topic.tables, *topic.values])
        found.append(f"{topic.name}: {len(times)} commands, {sum(known):,.0f} s of CPU time{without}: {parts}")
    return found or ["there are no figures"]


def of_writing(report: dict[str, Any]) -> list[str]:
    """Return what was measured and written."""
    found = [f"measured: {len(report['measured'])}; known from before with the same sources: {len(report['known'])}"]
    found += [f"failed: {entry['command']}: {entry['words']}" for entry in report["failed"]]
    found += [f"wrote {file}" for file in report["written"]]
    return found


def of_check(report: dict[str, Any]) -> list[str]:
    """Return what a check has found."""
    found = [f"failed: {entry['command']}: {entry['words']}" for entry in report["failed"]]
    found += [f"{entry['command']}: {entry['key']} was {_text(entry['was'])}, is {_text(entry['is'])}" for entry in report["different"]]
    found += report["findings"]
    bad = Counter({"failed": len(report["failed"]), "differ": len({entry["command"] for entry in report["different"]})})
    compared = len(report["measured"]) + len(report["known"])
    words = [f"{compared} of {compared + len(report['left_out'])} commands compared"]
    words += [f"{count} {word}" for word, count in bad.items() if count]
    words += [f"{len(report['findings'])} findings in pages and files"] if report["findings"] else []
    words += [f"{len(report['not_measured'])} without a result yet"] if report["not_measured"] else []
    words += [f"{len(report['left_out'])} left to --slow"] if report["left_out"] else []
    return [*found, f"figures: {'; '.join(words)}"]


def _text(value: Any) -> str:
    return "nothing" if value is None else f"{value:,}" if isinstance(value, int) else f"{value}"
