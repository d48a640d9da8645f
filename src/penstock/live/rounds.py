"""A live scenario played in several rounds, and the page that compares them: what each application felt in each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import __version__
from penstock.basics.growing import growing
from penstock.basics.units import format_rate, format_time_ns
from penstock.engine.run import Prepared, Request, write_json
from penstock.live import kernel_hosts
from penstock.live.report import FELT
from penstock.reports import cards
from penstock.scenarios.network import Round, folder_of

if TYPE_CHECKING:
    from penstock.live.stage import Live

SCHEMA = "penstock.live_rounds/1"


def of(live: "Live", one: Round, out: Path) -> "Live":
    """Return what is asked for in a round."""
    request = live.request
    settings = [*request.settings, *(f"{key}={json.dumps(value)}" for key, value in one.set.items())]
    asked = Request(request.scenario, settings, request.seed, out / folder_of(one.name), request.engine)
    return replace(
        live,
        request=asked,
        json_output=False,
        keep_stdout=live.json_output,
        show=(lambda result, folder: None) if live.json_output else live.show,
    )


def compared(run: Prepared, given: Sequence[Round], out: Path, json_output: bool) -> int:
    """Write result.json and report.html of all rounds, whose folders are in `out`, and return the exit status."""
    results = [json.loads((out / folder_of(one.name) / "result.json").read_text()) for one in given]
    found = {
        "schema": SCHEMA,
        "penstock": __version__,
        "name": run.name,
        "description": run.described.description,
        "seed": run.described.seed,
        "config": run.config.name,
        "rounds": [{"name": one.name, "words": one.words, "result": result} for one, result in zip(given, results, strict=True)],
    }
    with growing(out) as grown:
        write_json(grown / "result.json", found)
        (grown / "report.html").write_text(page(found), encoding="utf-8")
    if json_output:
        print(json.dumps(found, allow_nan=False), flush=True)
    else:
        for line in lines(found):
            print(line)
        print(f"Report   {(out / 'report.html').resolve().as_uri()}")
    return 0


def rows(found: Mapping[str, Any]) -> list[list[str]]:
    """Return the comparison as cells, its head first: what each application felt in each round, and the queues' delays."""
    head = ["", "", *(one["name"] for one in found["rounds"])]
    table = [head]
    results = [one["result"] for one in found["rounds"]]
    for name, each in _applications(results).items():
        for key, words, show in FELT:
            cells = [show(one.get(key)) for one in each]
            if any(cells):
                table.append([name, words, *(cell or "-" for cell in cells)])
    for name in dict.fromkeys(name for result in results for name in result["sojourn_ms"]):
        waits = [result["sojourn_ms"].get(name, {"count": 0}) for result in results]
        table.append([f"queue {name}", "wait", *map(_spread, waits)])
    kernels = [kernel_hosts.rows_of(result) for result in results]
    for name in dict.fromkeys(name for one in kernels for name in one):
        table.append([f"kernel's queue of {name}", "wait", *(_spread(one.get(name, {"count": 0})) for one in kernels)])
    table.append(["bottleneck", "carried", *(format_rate(result["carried_bps"]) for result in results)])
    return table


def _spread(wait: Mapping[str, Any]) -> str:
    return f"{format_time_ns(wait['p50'] * 1e6)}, {format_time_ns(wait['p99'] * 1e6)} at 99 %" if wait["count"] else "-"


def _applications(results: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the applications of all rounds by name, each with what it felt in every round: nothing where it was not in it."""
    rounds = [{one["name"]: one for one in result["applications"]} for result in results]
    return {name: [one.get(name, {}) for one in rounds] for name in dict.fromkeys(name for one in rounds for name in one)}


def lines(found: Mapping[str, Any]) -> list[str]:
    """Return the comparison for the terminal."""
    table = rows(found)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    texts, before = [], ""
    for first, *rest in table:
        shown = first if first != before else ""
        before = first
        texts.append("  ".join(f"{cell:<{wide}}" for cell, wide in zip([shown, *rest], widths, strict=True)).rstrip())
    return [f"{found['name']}: {len(found['rounds'])} rounds", "", *texts, ""]


def page(found: Mapping[str, Any]) -> str:
    """Return the page."""
    made: list[dict[str, Any]] = [
        {
            "title": "What each application felt",
            "note": "The same programs, one round after the other.",
            "table": rows(found),
            "words": [(one["name"], one["words"]) for one in found["rounds"] if one["words"]],
        }
    ]
    for key, title, axis in (("delay_ms", "Delay over time", "delay, ms"), ("throughput_bps", "Payload over time", "bit/s")):
        plots = _plots(found, key, axis)
        if plots:
            made.append({"title": title, "note": "As each program saw it.", "plots": plots})
    names = [one["name"] for one in found["rounds"]]
    links = "".join(f'<p><a href="{escape(folder_of(name))}/report.html">{escape(name)}: its own report</a></p>' for name in names)
    footer = f"{links}<p>Configuration {escape(found['config'])}. Seed {found['seed']}. Penstock {escape(__version__)}.</p>"
    return cards.page(found["name"], found["description"], "", made, footer)


def _plots(found: Mapping[str, Any], key: str, axis: str) -> list[dict[str, Any]]:
    """Return a picture for each application that has this over time, with a curve for each round."""
    plots = []
    names = [one["name"] for one in found["rounds"]]
    for application, each in _applications([one["result"] for one in found["rounds"]]).items():
        traces = []
        for colour, (name, felt) in enumerate(zip(names, each, strict=True)):
            series = felt.get("over_time") or {}
            if any(value is not None for value in series.get(key) or ()):
                traces.append({
                    "type": "scatter", "mode": "lines", "name": name, "colour": colour, "x": series["time_s"], "y": series[key],
                })  # fmt: skip
        if traces:
            x, y = {"title": "time, s", "rangemode": "tozero"}, {"title": axis, "rangemode": "tozero"}
            plots.append({"title": application, "traces": traces, "x": x, "y": y})
    return plots
