"""The cards of the page: each claim with its plots, and below what the paper says, what came out, and why."""

from collections.abc import Callable
from typing import Any

from penstock.designs.deadline_port.papers.edfr_skip_fifo import findings, words
from penstock.designs.deadline_port.papers.edfr_skip_fifo.findings import FAILS, HOLDS, OPEN, Found
from penstock.designs.deadline_port.papers.edfr_skip_fifo.points import ARRIVALS, LINK, MIXES, SIZES

Card = dict[str, Any]
LOAD = {"title": "load offered"}
NAMES = {"exact": "exact EDFR", "skip_check": "skip-FIFO with the check", "skip": "skip-FIFO without", "fifo": "FIFO of the mean deadline"}


def cards(found: Found) -> list[Card]:
    """Return the cards of section II."""
    runs = f"Error bars and +- are 95 % intervals over n = {found['seeds']} runs a point."
    three = [point for point in found["points"] if point["classes"] == 3 and point["rate_bps"] == LINK]
    many = [point for point in found["points"] if point["rate_bps"] == LINK and point["sizes"] == "1,000 byte"]
    return [
        {
            "title": "What is dropped",
            "note": f"Exact EDFR, three classes of 30, 60 and 100 ms, 1,000 byte. {runs}",
            "plots": [_shares(three)],
        },
        {
            "title": "Total drop share beside a FIFO of the mean deadline",
            "note": f"Drop share of exact EDFR less that of the FIFO, points; the same packets through both. Three classes. {runs}",
            "plots": [_by_load(three, arrivals, "less_fifo", MIXES[1:]) for arrivals in ARRIVALS],
        },
        _verdicts(found, "Where the total is that of the FIFO", findings.total, "less_fifo", words.total(found)),
        {
            "title": "Drop shares of short and of long deadlines",
            "note": f"Drop share of the third of the classes with the shortest deadlines less that of the longest, points. {runs}",
            "plots": [_by_load(three, arrivals, "shortest_less_longest", MIXES) for arrivals in ARRIVALS],
        },
        _verdicts(found, "Where classes lose alike", findings.equal, "shortest_less_longest", words.equal(found)),
        {
            "title": "2 to 64 classes",
            "note": f"1,000 byte, load 1.1: what the two differences above become with more classes. {runs}",
            "plots": [_by_classes(many, mix, key) for key in ("less_fifo", "shortest_less_longest") for mix in MIXES[1:]],
            "words": words.classes(found),
        },
        _delays(found),
        _links(found),
    ]


def _trace(name: str, x: list[Any], values: list[list[float | None]], colour: int, dash: str = "solid") -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": [value[0] for value in values], "colour": colour,
        "error_y": {"type": "data", "array": [value[1] or 0 for value in values], "thickness": 1, "width": 3},
        "marker": {"size": 5}, "line": {"dash": dash},
    }  # fmt: skip


def _shares(points: list[Found]) -> dict[str, Any]:
    traces = []
    for place, arrivals in enumerate(ARRIVALS):
        own = [p for p in points if (p["arrivals"], p["deadlines"], p["sizes"]) == (arrivals, MIXES[1], "1,000 byte")]
        traces.append(_trace(arrivals, [p["load"] for p in own], [p["exact"]["dropped"] for p in own], place))
    return {"title": "", "traces": traces, "x": LOAD, "y": {"title": "dropped, % of the packets"}}


def _by_load(points: list[Found], arrivals: str, key: str, mixes: tuple[str, ...]) -> dict[str, Any]:
    traces = []
    for sizes, dash in zip(SIZES, ("solid", "dot"), strict=True):
        for mix in mixes:
            own = [p for p in points if (p["arrivals"], p["deadlines"], p["sizes"]) == (arrivals, mix, sizes)]
            values = [p["exact"][key] for p in own]
            traces.append(_trace(f"{mix}, {sizes}", [p["load"] for p in own], values, MIXES.index(mix), dash))
    return {"title": arrivals, "traces": traces, "x": LOAD, "y": {"title": "points"}}


def _by_classes(points: list[Found], mix: str, key: str) -> dict[str, Any]:
    loads = sorted({p["load"] for p in points})
    load = 1.1 if 1.1 in loads else loads[-1]
    traces = []
    for place, arrivals in enumerate(ARRIVALS):
        own = sorted((p for p in points if (p["arrivals"], p["deadlines"], p["load"]) == (arrivals, mix, load)), key=lambda p: p["classes"])
        traces.append(_trace(arrivals, [str(p["classes"]) for p in own], [p["exact"][key] for p in own], place))
    what = "EDFR less FIFO" if key == "less_fifo" else "shortest less longest deadlines"
    return {"title": f"{what}, {mix}", "traces": traces, "x": {"title": "classes", "type": "category"}, "y": {"title": "points"}}


def _verdicts(found: Found, title: str, judge: Callable[[Found], str], key: str, said: list[tuple[str, str]]) -> Card:
    """A table by arrivals and deadlines: of the points at which anything is dropped, at how many the claim holds."""
    table = [["arrivals", "deadlines", "points", HOLDS, FAILS, OPEN, "largest difference, points", "dropped there, %", "at"]]
    points = findings.lossy(found)
    for arrivals in ARRIVALS:
        for mix in MIXES:
            own = [p for p in points if (p["arrivals"], p["deadlines"]) == (arrivals, mix)]
            if not own:
                continue
            counts = findings.count(own, judge)
            worst = max(own, key=lambda p: abs(p["exact"][key][0]))
            dropped = worst["fifo" if key == "less_fifo" else "exact"]["dropped"][0]
            table.append([
                arrivals, mix, str(len(own)), str(counts[HOLDS]), str(counts[FAILS]), str(counts[OPEN]),
                findings.number(worst["exact"][key], ""), f"{dropped:.2f}", findings.shortly(worst),
            ])  # fmt: skip
    note = (
        "Exact EDFR, all points at which anything is dropped. A difference is none (the claim holds) when its whole 95 % interval is "
        f"within {100 * findings.SHARE:g} % of what is dropped, or within {findings.LEAST_POINTS:g} points; when none of the interval "
        "is, it does not hold; otherwise these runs leave it open."
    )
    return {"title": title, "note": note, "table": table, "words": said}


def _delays(found: Found) -> Card:
    table = [["scheduler", "points with late packets", "latest start, us past", "most late packets, %", "at"]]
    for name, called in NAMES.items():
        points = found["points"]
        late = [p for p in points if findings.in_time(p, name) == FAILS]
        most = max((p[name]["most_late_us"] for p in points if p[name]["most_late_us"] is not None), default=0.0)
        worst = max(points, key=lambda p: p[name]["late"][0])
        table.append([
            called, f"{len(late)} of {len(points)}", f"{max(0.0, most):,.2f}", findings.number(worst[name]["late"], "").strip(" +"),
            findings.where(worst) if late else "",
        ])  # fmt: skip
    note = "Delay is from arrival to the start of transmission. The FIFO knows no deadlines: late is what starts after that of its class."
    return {"title": "Delay and deadline", "note": note, "table": table, "words": words.delays(found)}


def _links(found: Found) -> Card:
    table = [[
        "link", "packet times a tick", "load", "late without the check, %", "read in vain with it, %",
        "drop share less exact EDFR's, without", "with the check",
    ]]  # fmt: skip
    mix = (3, MIXES[1], "1,000 byte", "Poisson")
    own = [p for p in found["points"] if (p["classes"], p["deadlines"], p["sizes"], p["arrivals"]) == mix and p["exact"]["dropped"][0] > 0]
    for p in sorted(own, key=lambda p: (p["rate_bps"], p["load"])):
        table.append([
            f"{p['rate_bps'] / 1e6:,.0f} Mbit/s", f"{words.packets_a_tick(p['rate_bps']):.3g}", f"{p['load']:g}",
            findings.number(p["skip"]["late"], "").strip(" +"), findings.number(p["skip_check"]["read_in_vain"], "").strip(" +"),
            findings.number(p["skip"]["less_exact"]), "the same packets" if p["skip_check"]["equal_to_exact"] else
            findings.number(p["skip_check"]["less_exact"]),
        ])  # fmt: skip
    note = (
        "The paper's skip tick, 200 ms / 2^14 = 12.207 us, and 2^14 time stamps a class; 30, 60 and 100 ms, Poisson, packets of 1,000 "
        "byte, on links from 10 Mbit/s to 1 Gbit/s. Loads at which nothing is dropped are left out."
    )
    return {"title": "What the skip tick costs", "note": note, "table": table, "words": words.tick(found)}
