"""The result of a run in the terminal: one screen, plain words."""

from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

from penstock.basics.units import format_bytes, format_rate, format_time_ns
from penstock.designs.registers import DROP_WORDS

MAX_ROWS = 10
MAX_LINES = 24  # of the whole summary
MAX_NOTES = 2
LEAST_NAME = 8  # characters of a queue's name in the table, however narrow the screen


def sentences(result: dict[str, Any]) -> list[str]:
    """Return what happened, a line each: what came, what became of it, how long it took."""
    packets, size = result["packets"], result["bytes"]
    share = f" ({packets['out'] * 1000 // packets['in'] / 10:.1f} %)" if packets["in"] else ""  # rounded down: 100 % is all
    lines = [
        f"In       {packets['in']:,} packets, {format_bytes(size['in'])}; {format_time_ns(result['device_seconds'] * 1e9)} of device time",
        f"Out      {packets['out']:,} packets{share}, {format_rate(result['throughput_bps'])}",
        f"Dropped  {_drops(packets['dropped'])}",
    ]
    if result.get("marked_packets"):
        lines.append(f"Marked   {result['marked_packets']:,} packets (Congestion Experienced)")
    if packets["queued"]:
        lines.append(f"Queued   {packets['queued']:,} packets were still in the device at the end")
    latency = result["latency_ns"]
    if latency["count"]:
        half, most, worst = (format_time_ns(latency[key]) for key in ("p50", "p99", "max"))
        lines.append(f"Latency  half within {half}, 99 % within {most}, the slowest took {worst}")
    late = result.get("lateness_ns", {"count": 0})
    if late["count"]:
        half, most, worst = (format_time_ns(late[key]) for key in ("p50", "p99_9", "max"))
        lines.append(f"Late     half within {half}, 99.9 % within {most}, at most {worst}")
    lines += observations(result)
    return lines


def _drops(dropped: dict[str, int]) -> str:
    if not dropped:
        return "nothing"
    parts = [f"{count:,} {DROP_WORDS.get(reason, reason)}" for reason, count in sorted(dropped.items(), key=lambda item: -item[1])]
    return f"{sum(dropped.values()):,} packets: {', '.join(parts)}"


def observations(result: dict[str, Any]) -> list[str]:
    """Return what shaping did, a line each: which queues were held to their rate, how the others fared, which gates were closed."""
    backlogged = [q for q in result["queues"] if q["configured_rate_bps"] and q["backlogged_share"] >= 0.5]
    held = [q for q in backlogged if q["out_packets"] >= 10]
    slow = {q["id"] for q in backlogged}
    free = [q for q in result["queues"] if q["id"] not in slow and q["latency_ns"]["count"]]
    closed = [q["name"] for q in result["queues"] if q["configured_rate_bps"] == 0]
    listed = result["queues_listed"]
    of_all = (
        "queues" if listed == result["queues_with_traffic"] else f"of the {listed:,} busiest queues"
    )  # of the others nothing is known here
    found = []
    if 0 < len(held) <= 3:
        found.append("Shaped   " + ", ".join(f"{q['name']} was held to {format_rate(q['measured_rate_bps'])}" for q in held))
    elif held:
        error = max(abs(Fraction(q["measured_rate_bps"]) / q["configured_rate_bps"] - 1) for q in held)
        percent = max(1, ceil(error * 10_000)) / 100  # rounded up: all are within it
        found.append(f"Shaped   {len(held):,} {of_all} were held to their rates, all within {percent:.2f} %")
    if held and free:
        medians = sorted(q["latency_ns"]["p50"] for q in free)
        typical, slowest = format_time_ns(medians[len(medians) // 2]), format_time_ns(medians[-1])
        spread = f"{typical}, at most {slowest}" if typical != slowest else typical
        who = free[0]["name"] if len(free) == 1 else f"{len(free):,} {of_all}"
        found.append(f"Others   {who} passed by: median latency {spread}")
    if closed:
        found.append(f"Closed   the gate of {', '.join(closed[:3])}{' and others' if len(closed) > 3 else ''}")
    return found


def rows(result: dict[str, Any], most: int = MAX_ROWS) -> list[dict[str, Any]]:
    """Return the rows of the table: all queues in order of id where they fit; otherwise the named groups, or without those the busiest."""
    queues = result["queues"]
    if by_group(result, most):
        return [{**group, "subscriber": None, "measured_rate_bps": group["mean_rate_bps"]} for group in result["groups"]]
    if len(queues) > most + 1:  # the line that says "and 1 more" may as well be that one
        queues = sorted(queues, key=lambda q: -q["in_bytes"])[:most]
    return list(queues)


def by_group(result: dict[str, Any], most: int) -> bool:
    """Tell whether the table shows groups of queues: there are some, and too many queues for `most` rows."""
    return bool(result.get("groups")) and result["queues_with_traffic"] > most + 1


def rate_text(bps: float | None, none: str = "-") -> str:
    """Return a rate, or `none`."""
    return none if bps is None else "closed" if bps == 0 else format_rate(bps)


def _notes(result: dict[str, Any]) -> list[str]:
    notes: list[str] = result["notes"]
    if len(notes) <= MAX_NOTES:
        return notes
    return [*notes[: MAX_NOTES - 1], f"There are {len(notes) - MAX_NOTES + 1:,} more remarks in the report."]


def show(result: dict[str, Any], folder: Path) -> None:
    """Print the summary on standard output."""
    import shutil
    import textwrap

    from rich.console import Console
    from rich.text import Text

    width = max(80, min(120, shutil.get_terminal_size().columns))
    screen = Console(highlight=False, width=width)
    state = "interrupted" if result["interrupted"] else "done"
    speed = f", {result['cycles_per_second'] / 1e6:.2f} M cycles/s" if result["cycles_per_second"] else ""
    name, head = f"{result['name']}: {state}", f"  {result['config']}, {result['cycles']:,} cycles in {result['wall_seconds']:.1f} s{speed}"
    if len(name) + len(head) > width:  # the description is shortened, never a number or its unit
        name = f"{result['name'][: max(8, width - len(head) - len(state) - 5)]}...: {state}"
    screen.print(Text(name, style="bold").append(head, style="not bold dim"), no_wrap=True, overflow="ignore", crop=False)
    said = [line for sentence in sentences(result) for line in textwrap.wrap(sentence, width, subsequent_indent=" " * 9)]
    notes = _notes(result)
    for line in said:
        screen.print(line, no_wrap=True, overflow="ignore", crop=False, markup=False)
    around = 6 + len(said) + len(notes)  # title, two blank lines, the table's head, what is not in the table, and the report's path
    most = max(3, min(MAX_ROWS, MAX_LINES - around))
    shown = rows(result, most)
    if shown:
        screen.print()
        for number, line in enumerate(_table(shown, "group of queues" if by_group(result, most) else "queue", width)):
            screen.print(line, no_wrap=True, overflow="ignore", crop=False, markup=False, style="" if number else "dim")
        if result["queues_with_traffic"] > len(shown) and not by_group(result, most):
            screen.print(f"and {result['queues_with_traffic'] - len(shown):,} more queues", style="dim")
    screen.print()
    for note in notes:
        screen.print(note, style="dim", no_wrap=True, overflow="ellipsis", markup=False)
    print(f"Report   {(folder / 'report.html').resolve().as_uri()}")


def _table(shown: list[dict[str, Any]], first: str, width: int) -> list[str]:
    """Return the lines of the table, its head first. Only names are shortened where they do not fit; a number keeps its unit."""
    cells = [[first, "configured", "measured", "out", "dropped", "median", "p99"]]
    for queue in shown:
        latency = queue["latency_ns"]
        cells.append([
            queue["name"],
            rate_text(queue["configured_rate_bps"], "unshaped"),
            rate_text(queue["measured_rate_bps"]) if queue["measured_rate_bps"] else "-",
            f"{queue['out_packets']:,}",
            f"{queue['drop_packets']:,}",
            *(format_time_ns(latency[key]) if latency["count"] else "-" for key in ("p50", "p99")),
        ])  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths[0] = max(LEAST_NAME, min(widths[0], width - sum(widths[1:]) - len(widths) + 1))
    lines = []
    for name, *numbers in cells:
        fitting = name if len(name) <= widths[0] else f"{name[: widths[0] - 3]}..."
        lines.append(" ".join([f"{fitting:<{widths[0]}}", *(f"{text:>{wide}}" for text, wide in zip(numbers, widths[1:], strict=True))]))
    return lines
