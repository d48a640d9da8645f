"""Below each claim: what the paper says, what came out, and why. Numbers are those of the runs; the reasons are ours."""

from collections.abc import Callable

from penstock.designs.deadline_port.papers.edfr_skip_fifo import findings, stated
from penstock.designs.deadline_port.papers.edfr_skip_fifo.findings import FAILS, HOLDS, OPEN, Found
from penstock.designs.deadline_port.papers.edfr_skip_fifo.points import LINK, SCHEDULERS

Words = list[tuple[str, str]]


def packets_a_tick(rate_bps: int) -> float:
    """Return how many packets of 1,000 byte a link sends in a skip tick."""
    return stated.TICK_PS / 1e12 * rate_bps / 8000


def _counted(points: list[Found], judge: Callable[[Found], str]) -> str:
    counts = findings.count(points, judge)
    return f"at {counts[HOLDS]} of {len(points)} points it holds, at {counts[FAILS]} it does not, {counts[OPEN]} are open"


def _by(found: Found, *arrivals: str, mix: str | None = None) -> list[Found]:
    points = findings.lossy(found)
    return [p for p in points if p["arrivals"] in arrivals and (p["deadlines"] == mix if mix else p["deadlines"] != "equal")]


def _range(points: list[Found], key: str) -> str:
    values = [p["exact"][key][0] for p in points]
    return f"{min(values):+.1f} to {max(values):+.1f} points" if values else "nothing dropped"


def total(found: Found) -> Words:
    """Of the total drop share."""
    smooth, own, shared = _by(found, "Poisson", "constant"), _by(found, "on-off", "Pareto"), _by(found, "on-off, shared", "Pareto, shared")
    same = [p for p in found["points"] if p["deadlines"] == "equal"]
    equal = sum(p["exact"]["equal_to_fifo"] for p in same)
    return [
        ("The paper", f"{stated.TOTAL} {stated.SPECIAL}"),
        (
            "Here",
            f"Deadlines that differ. Poisson and constant: {_counted(smooth, findings.total)}. Bursts of a class's own: "
            f"{_counted(own, findings.total)}; differences of {_range(own, 'less_fifo')}. Bursts that all classes share: "
            f"{_counted(shared, findings.total)}; {_range(shared, 'less_fifo')}. Equal deadlines: at {equal} of {len(same)} points, in "
            "every run, EDFR sends the same packets at the same times as the FIFO.",
        ),
        (
            "Why",
            "Where what comes is steady, the link is idle, or it is overloaded for many deadlines on end. An overloaded link never "
            "idles, so any scheduler loses what comes above its rate, and deadlines do not matter at all. They do at the edges of an "
            "overload: what is sent after a burst is what still waits then. If all classes share the burst, EDFR sends short deadlines "
            "first and has the long ones left for the pause, more than a FIFO of the mean keeps: it drops less, and the more so the "
            "farther deadlines are spread. If the burst is of one class, its own deadline says how much of it is kept. What is lost "
            "falls ever more slowly with a longer deadline, so classes with spread deadlines lose more together than the FIFO of the "
            "mean. Where bursts of many classes overlap, that drowns.",
        ),
    ]


def equal(found: Found) -> Words:
    """Of the classes' drop shares."""
    poisson, constant = _by(found, "Poisson"), _by(found, "constant")
    own, shared = _by(found, "on-off", "Pareto"), _by(found, "on-off, shared", "Pareto, shared")
    mixed = [p for p in shared if p["deadlines"] != "geometric"]
    control = max((p["fifo"]["spread"][0] for p in constant), default=0.0)
    return [
        ("The paper", f"{stated.EQUAL} Its own measurement with TCP (figure 5b) had lower loss rates for shorter deadlines."),
        (
            "Here",
            f"Poisson: {_counted(poisson, findings.equal)}. Constant: {_counted(constant, findings.equal)}. Bursts of a class's own: "
            f"{_counted(own, findings.equal)}; shortest less longest deadlines {_range(own, 'shortest_less_longest')}. Shared bursts: "
            f"{_counted(shared, findings.equal)}; with 30 to 100 ms {_range(mixed, 'shortest_less_longest')}.",
        ),
        (
            "Why",
            "In a lasting overload packets start just before their deadline, and whether one starts depends only on how many others "
            "have the same deadline: so classes are alike as long as each brings its packets at a steady rate. A burst of a class's own "
            "that is longer than its deadline can hold is lost there, while a long deadline carries it into the pause: short deadlines "
            "lose more. In a burst of all classes short deadlines are served first at its start and are spared while long ones wait "
            "into its end: short ones lose less, as in the paper's figure 5b, unless they are too short for the burst altogether "
            "(geometric, 10 ms). Who pays depends on the length of bursts beside the deadlines, and on each class's share in them.",
        ),
        (
            "Constant arrivals",
            "Packets at equal distances meet the deadlines of others in the same order for ever, so in each run the phases decide which "
            f"class loses: within a run the classes' shares lie up to {control:.0f} points apart, in the FIFO as well. Over random "
            "phases these runs show no deadline that is better off, but their intervals are wide.",
        ),
    ]


def classes(found: Found) -> Words:
    """Of the number of classes."""
    by_count = [
        (number, [p for p in findings.lossy(found) if p["classes"] == number and p["deadlines"] != "equal" and p["rate_bps"] == LINK])
        for number in (2, 3, 8, 64)
    ]
    return [
        (
            "Here",
            "; ".join(
                f"{number} classes: total as the FIFO's at {findings.count(points, findings.total)[HOLDS]} of {len(points)} points, "
                f"shares alike at {findings.count(points, findings.equal)[HOLDS]}"
                for number, points in by_count
            )
            + ".",
        ),
        (
            "Why",
            "Many classes with a source each smooth each other's bursts: with 64 the sum is nearly Poisson and both claims come back. A "
            "shared source stays as bursty as it is, however many classes its packets are given to.",
        ),
    ]


def delays(found: Found) -> Words:
    """Of delays and deadlines."""
    worst = max((p["skip"]["most_late_us"] or 0 for p in found["points"]), default=0)
    late = {name: sum(findings.in_time(p, name) == FAILS for p in found["points"]) for name in SCHEDULERS}
    return [
        ("The paper", f"{stated.DELAY} {stated.INACCURACY}"),
        (
            "Here",
            f"Exact EDFR and the skip-FIFO with the check send a late packet at {late['exact']} and {late['skip_check']} points. Without "
            f"the check a packet is late by {worst:.2f} us at the most, at {late['skip']} of {len(found['points'])} points; a tick is "
            f"{stated.TICK_PS / 1e6:.3f} us.",
        ),
        (
            "Why",
            "A stamp covers what came in the tick before it, and speaks at the deadline of the youngest of these: the oldest may have "
            "expired a tick ago. The encoder's check sees the deadline of the packet itself.",
        ),
    ]


def tick(found: Found) -> Words:
    """Of what the skip tick costs."""
    exact = [p for p in found["points"] if not p["skip_check"]["equal_to_exact"]]
    most: Found = max(found["points"], key=lambda p: abs(p["skip"]["less_exact"][0]))
    worst: Found = max(found["points"], key=lambda p: p["skip"]["late"][0])
    random = [p for p in found["points"] if p["arrivals"] != "constant"]
    gap = max(abs(p["skip"]["shortest_less_longest"][0] - p["exact"]["shortest_less_longest"][0]) for p in random)
    return [
        ("The paper", stated.INACCURACY),
        (
            "Here",
            "With the check a skip-FIFO sends the same packets at the same times as exact EDFR in every run of "
            f"{len(found['points']) - len(exact)} of {len(found['points'])} points; at the others two classes had heads with equal "
            "deadlines, of which the encoder takes the lower class and exact EDFR the older packet. Without it the drop share differs "
            f"by {findings.number(most['skip']['less_exact'])} at the most ({findings.where(most)}), and the difference between classes "
            f"by up to {gap:.1f} points (constant arrivals, where phases decide, apart).",
        ),
        (
            "Why",
            "The drop share does not suffer: a packet that is sent late takes the place of one that is dropped for it. But the heads of "
            "an overloaded scheduler are always at the brink of their deadlines, so what is sent late, or read only to be dropped, is "
            "not the share of a tick in a deadline, one in thousands, as a comparison with AQM suggests. It grows with the load and "
            f"with the packets that a tick holds: at {worst['rate_bps'] / 1e6:,.0f} Mbit/s and load {worst['load']:g} "
            f"{worst['skip']['late'][0]:.0f} % of all packets are sent late, or {worst['skip_check']['read_in_vain'][0]:.0f} % are read "
            "in vain. With the check deadlines are kept, and the price is read bandwidth; a shorter tick lowers it.",
        ),
    ]
