"""What the runs say of the paper's claims: where each holds, where not, and where the runs are too few to tell."""

from collections.abc import Callable, Iterable
from typing import Any

from penstock.designs.deadline_port.papers.edfr_skip_fifo.points import LINK
from penstock.papers.comparison import entry

PART = "section 2"
HOLDS, FAILS, OPEN = "holds", "does not hold", "open"
LEAST_POINTS = 0.1  # a difference in drop shares that is called none, in points (hundredths of the packets),
SHARE = 0.05  # or as a share of what is dropped: the larger of the two

Found = dict[str, Any]


def verdict(difference: list[float | None], dropped: float) -> str:
    """Say whether a difference of drop shares is none: holds when its whole 95 % interval is within the tolerance, does not when all of it
    is outside.
    """
    mean, ci95 = difference
    allowed = max(LEAST_POINTS, SHARE * dropped)
    if mean is None or ci95 is None:
        return OPEN
    if abs(mean) + ci95 <= allowed:
        return HOLDS
    return FAILS if abs(mean) - ci95 > allowed else OPEN


def total(point: Found, scheduler: str = "exact") -> str:
    """Judge the claim that all classes together lose what a FIFO of the mean deadline loses."""
    return verdict(point[scheduler]["less_fifo"], point["fifo"]["dropped"][0])


def equal(point: Found, scheduler: str = "exact") -> str:
    """Judge the claim that classes with short and with long deadlines lose the same share."""
    return verdict(point[scheduler]["shortest_less_longest"], point[scheduler]["dropped"][0])


def in_time(point: Found, scheduler: str = "exact") -> str:
    """Judge the claim that no packet starts after its deadline."""
    most = point[scheduler]["most_late_us"]
    return HOLDS if most is None or most <= 0 else FAILS


def lossy(found: Found) -> list[Found]:
    """Return the points at which the FIFO or EDFR drops anything: at the others there is nothing to compare."""
    return [point for point in found["points"] if max(point["fifo"]["dropped"][0], point["exact"]["dropped"][0]) > 0]


def count(points: Iterable[Found], judge: Callable[[Found], str]) -> dict[str, int]:
    """Return how often each verdict occurs."""
    counts = dict.fromkeys((HOLDS, FAILS, OPEN), 0)
    for point in points:
        counts[judge(point)] += 1
    return counts


def where(point: Found) -> str:
    """Name a point."""
    return f"{point['arrivals']}, {point['deadlines']}, {shortly(point)}"


def shortly(point: Found) -> str:
    """Name a point of those with its arrivals and deadlines."""
    link = "" if point["rate_bps"] == LINK else f", {point['rate_bps'] / 1e6:,.0f} Mbit/s"
    return f"load {point['load']:g}, {point['classes']} classes, {point['sizes']}{link}"


def number(value: list[float | None], unit: str = "points") -> str:
    """Return a mean with its interval in words."""
    mean, ci95 = value
    return "-" if mean is None else f"{mean:+.2f} +- {ci95 or 0:.2f} {unit}"


def compare(found: Found) -> list[dict[str, Any]]:
    """Return the paper's claims as counts of points, beside those at which they hold."""
    points, compared = found["points"], lossy(found)
    lines = []

    def line(what: str, of: list[Found], judge: Callable[[Found], str]) -> None:
        counts = count(of, judge)
        note = f"{counts[FAILS]} do not, {counts[OPEN]} open; n = {found['seeds']} runs a point"
        lines.append(entry(PART, what, "points", len(of), counts[HOLDS], note=note))

    line("drop share of all classes is that of a FIFO of the mean deadline", compared, total)
    line("classes with the shortest and the longest deadlines drop the same share", compared, equal)
    line("no packet starts after its deadline: exact EDFR", points, in_time)
    line("no packet starts after its deadline: skip-FIFO with the encoder's check", points, lambda p: in_time(p, "skip_check"))
    line("no packet starts after its deadline: skip-FIFO without it", points, lambda p: in_time(p, "skip"))
    same = [point for point in points if point["deadlines"] == "equal"]
    line("equal deadlines: the packets of a limited FIFO", same, lambda p: HOLDS if p["exact"]["equal_to_fifo"] else FAILS)
    line(
        "skip-FIFO without the check drops what exact EDFR drops",
        compared,
        lambda p: verdict(p["skip"]["less_exact"], p["exact"]["dropped"][0]),
    )
    return lines
