"""The result of a run in the terminal: one screen, plain words."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.basics.units import format_bytes, format_cycle_rate, format_rate, format_time_ns
from penstock.designs import configs
from penstock.designs.design import AnyDesign, Table, load
from penstock.live import report as live

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
        f"Dropped  {_drops(packets['dropped'], design_of(result).drop_words())}",
    ]
    if (lost := result.get("ingress_lost", {"packets": 0}))["packets"]:
        lines.append(f"Lost     {lost['packets']:,} packets, {format_bytes(lost['bytes'])} at the input, whose FIFO was full")
    if result.get("marked_packets"):
        lines.append(f"Marked   {result['marked_packets']:,} packets (Congestion Experienced)")
    if packets["queued"]:
        lines.append(f"Queued   {packets['queued']:,} packets were still in the device at the end")
    if "measured_from_s" in result:
        lines.append(f"Measured from {format_time_ns(result['measured_from_s'] * 1e9)} on: rates, latencies, shares and curves")
    latency = result["latency_ns"]
    if latency["count"]:
        half, most, worst = (format_time_ns(latency[key]) for key in ("p50", "p99", "max"))
        lines.append(f"Latency  half within {half}, 99 % within {most}, the slowest took {worst}")
    late = result.get("lateness_ns", {"count": 0})
    if late["count"]:
        half, most, worst = (format_time_ns(late[key]) for key in ("p50", "p99_9", "max"))
        lines.append(f"Late     half within {half}, 99.9 % within {most}, at most {worst}")
    return lines + _connections(result.get("tcp")) + live.sentences(result) + design_of(result).sentences(result)


def _connections(tcp: dict[str, Any] | None) -> list[str]:
    if not tcp:
        return []
    flows = tcp["flows"]
    several = f"{len(flows):,} connections, {format_rate(tcp['goodput_bps'])} of payload" if len(flows) > 1 else ""
    line = several or f"{flows[0]['name']}: {format_rate(tcp['goodput_bps'])} of payload"
    if len(flows) > 1 and tcp["fairness"] is not None:
        line += f", fairness {tcp['fairness']:.3f}"
    return [f"TCP      {line}; {tcp['retransmits']:,} segments sent again, {tcp['timeouts']:,} timeouts"]


def design_of(result: dict[str, Any]) -> AnyDesign:
    """Return the design that a result is of; results of before there were several do not name it. Raises UserError."""
    return load(result["design"] if "design" in result else configs.design_of(result["config"]))


def _drops(dropped: dict[str, int], words: Mapping[str, str]) -> str:
    if not dropped:
        return "nothing"
    parts = [f"{count:,} {words.get(reason, reason)}" for reason, count in sorted(dropped.items(), key=lambda item: -item[1])]
    return f"{sum(dropped.values()):,} packets: {', '.join(parts)}"


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
    speed = f", {format_cycle_rate(result['cycles_per_second'])}" if result["cycles_per_second"] else ""
    name, head = f"{result['name']}: {state}", f"  {result['config']}, {result['cycles']:,} cycles in {result['wall_seconds']:.1f} s{speed}"
    if len(name) + len(head) > width:  # the description is shortened, never a number or its unit
        name = f"{result['name'][: max(8, width - len(head) - len(state) - 5)]}...: {state}"
    screen.print(Text(name, style="bold").append(head, style="not bold dim"), no_wrap=True, overflow="ignore", crop=False)
    wrap = textwrap.TextWrapper(width, subsequent_indent=" " * 9, break_on_hyphens=False)  # names of queues stay whole
    said = [line for sentence in sentences(result) for line in wrap.wrap(sentence)]
    notes = [line for note in _notes(result) for line in textwrap.wrap(note, width, break_on_hyphens=False)]  # a remark is said whole
    for line in said:
        screen.print(line, no_wrap=True, overflow="ignore", crop=False, markup=False)
    around = 6 + len(said) + len(notes)  # title, two blank lines, the table's head, what is not in the table, and the report's path
    most = max(3, min(MAX_ROWS, MAX_LINES - around))
    table = design_of(result).table(result, most, short=True)
    if table.rows:
        screen.print()
        for number, line in enumerate(text_table(table, width)):
            screen.print(line, no_wrap=True, overflow="ignore", crop=False, markup=False, style="" if number else "dim")
        if table.more:
            screen.print(table.more, style="dim")
    screen.print()
    for note in notes:
        screen.print(note, style="dim", no_wrap=True, overflow="ignore", crop=False, markup=False)
    print(f"Report   {(folder / 'report.html').resolve().as_uri()}")


def text_table(table: Table, width: int) -> list[str]:
    """Return the lines of the table, its head first. Only names are shortened where they do not fit; a number keeps its unit."""
    cells = [table.heads, *table.rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths[0] = max(LEAST_NAME, min(widths[0], width - sum(widths[1:]) - len(widths) + 1))
    lines = []
    for name, *numbers in cells:
        fitting = name if len(name) <= widths[0] else f"{name[: widths[0] - 3]}..."
        lines.append(" ".join([f"{fitting:<{widths[0]}}", *(f"{text:>{wide}}" for text, wide in zip(numbers, widths[1:], strict=True))]))
    return lines
