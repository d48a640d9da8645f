"""What a run of a deadline port says beyond what every run says: classes, their delays against their deadlines, what was missed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.deadline_port.config import Config
from penstock.designs.deadline_port.job import DeadlinePlan
from penstock.engine.result import Departures, distribution, measured_of

REASONS = ("missed", "no_page", "read_error")  # drops that are counted by class
NO_SLACK = np.iinfo(np.int64).max  # the engine's: no frame of the class has left


def own(raw: dict[str, Any], config: Config, plan: DeadlinePlan) -> dict[str, Any]:
    """Return the keys of a deadline port; docs/scenario-deadline-port.md describes them."""
    left = Departures.of(raw)
    measured: dict[str, Any] = raw.get("deadline", {})
    rows = [_row(raw, measured, left, config, plan, row.number) for row in plan.settings.classes]
    exact, numbers = measured.get("exact"), [row.number for row in plan.settings.classes]
    came = sum(_came(raw, measured, number) for number in numbers)
    total: dict[str, Any] = {"missed_share": _share(sum(_missed(raw, measured, number) for number in numbers), came)}
    if exact is not None:
        total["exact_missed_share"] = _share(sum(_missed_by(exact, number) for number in numbers), came)
    return {
        "discipline": config.discipline,
        "default_class": plan.settings.classes[plan.settings.default].name,
        **total,
        "classes": rows,
        **({"missed": _over_time(measured["missed"], plan, config)} if "missed" in measured else {}),
    }


def _row(
    raw: dict[str, Any], measured: dict[str, Any], left: Departures, config: Config, plan: DeadlinePlan, number: int
) -> dict[str, Any]:
    row, queue, clock = plan.settings.classes[number], raw["queue"], config.clock_hz
    mine = left.only(left.queue == number).if_all(int(measured_of(raw)[number]))
    counts = {f"{part}_{what}": int(queue[f"{part}_{what}"][number]) for part in ("in", "out", "drop") for what in ("packets", "bytes")}
    dropped = {f"{reason}_packets": _count(queue, f"{reason}_drop_packets", number) for reason in REASONS}
    found: dict[str, Any] = {
        "class": number,
        "name": row.name,
        "dscp": [code for code, of in enumerate(plan.settings.table[:-1]) if of == number] if not config.class_from_user else [],
        "deadline_ns": round(row.deadline_ps / 1000, 3),
        **({"deadline_changes": _steps(plan, number, clock)} if len(plan.deadlines[number]) > 1 else {}),
        **counts,
        **dropped,
        "missed_share": _share(_missed(raw, measured, number), _came(raw, measured, number)),
        "late_packets": _late(measured, mine, plan, number),
        "latency_ns": distribution(mine.latency, 1e9 / clock),
    }
    if (slack := measured.get("slack_min")) is not None:
        found["least_slack_ns"] = None if int(slack[number]) == NO_SLACK else round(int(slack[number]) * 1e9 / clock, 3)
    if (exact := measured.get("exact")) is not None:
        keys = ("sent_packets", "sent_bytes", "missed_packets", "missed_bytes")
        ideal: dict[str, Any] = {key: int(exact[key][number]) for key in keys}
        found["exact"] = ideal | {"missed_share": _share(_missed_by(exact, number), _came(raw, measured, number))}
    return found


def _came(raw: dict[str, Any], measured: dict[str, Any], number: int) -> int:
    """Return how many frames of a class have come behind the warm-up."""
    return int(measured["came"][number] if "came" in measured else raw["queue"]["in_packets"][number])


def _missed_by(exact: dict[str, Any], number: int) -> int:
    """Return how many of them the exact port has dropped."""
    return int(exact.get("measured_missed", exact["missed_packets"])[number])


def _missed(raw: dict[str, Any], measured: dict[str, Any], number: int) -> int:
    """Return how many of them the device has dropped for their deadline."""
    return int(measured["missed_here"][number]) if "missed_here" in measured else _count(raw["queue"], "missed_drop_packets", number)


def _count(queue: dict[str, Any], key: str, number: int) -> int:
    return int(queue[key][number]) if key in queue else 0


def _share(count: int, of: int) -> float | None:
    return float(f"{count / of:.6g}") if of else None  # one of millions is a share, too


def _steps(plan: DeadlinePlan, number: int, clock: int) -> list[dict[str, float]]:
    """Return the deadlines that a class got in mid-run."""
    scale = 1e9 / clock
    return [{"at_ns": round(at * scale, 3), "deadline_ns": round(found * scale, 3)} for at, found in plan.deadlines[number][1:]]


def _late(measured: dict[str, Any], mine: Departures, plan: DeadlinePlan, number: int) -> int:
    """Return how many frames of a class left behind their deadline; unless the engine has counted, from their last bit in."""
    if "late_packets" in measured:
        return int(measured["late_packets"][number])
    at, deadlines = (np.array(column) for column in zip(*plan.deadlines[number], strict=True))
    own_deadline = deadlines[np.searchsorted(at, mine.cycle - mine.latency, side="right") - 1]
    return int((mine.latency > own_deadline).sum())


def _over_time(missed: NDArray[Any], plan: DeadlinePlan, config: Config) -> dict[str, Any]:
    """Return how many frames of each class missed their deadlines in each interval."""
    classes = len(plan.settings.classes)
    counts = np.asarray(missed, dtype=np.int64).reshape(len(missed), -1)[:, :classes]
    return {"interval_ns": round(plan.job["interval_cycles"] * 1e9 / config.clock_hz, 3), "packets": counts.T.tolist()}
