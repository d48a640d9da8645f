"""report.html: one self-contained page with the result in words, plots and a table. Nothing is loaded from the network."""

import base64
import gzip
import json
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from penstock.basics.files import open_file, read_text
from penstock.basics.growing import growing
from penstock.basics.units import PS_PER_SECOND, format_time_ns, parse_time
from penstock.designs.design import Curve, Plot, Table
from penstock.engine.result import SCHEMA, failures, rates_over_time
from penstock.errors import UserError
from penstock.live import report as live
from penstock.reports.summary import design_of, sentences

TEMPLATES = Path(__file__).parent / "templates"
MAX_TABLE_ROWS = 300
SEARCHED_ROWS = 9  # a table of more can be searched
LONG = 18  # characters of a cell that may break
MAX_CHANGES = 100  # of settings, that are drawn
MAX_RESULT_BYTES = 200_000_000
MAX_SERIES_BYTES = 1_000_000_000  # unpacked
SMOOTHED_POINTS = 5
MEANS = 40  # use of rates is a mean over so small a part of a run
LATENESS = (
    '<div class="card"><h2>Lateness</h2><p>Share of the packets that left more than so long after an ideal server would have sent them.</p>'
    '<div class="plot" id="lateness"></div></div>'
)
CONGESTED = (
    '<div class="card" id="congested-card"><h2>Congestion of each @CURVE@</h2>'
    "<p>Share of the time in which packets waited for it while it carried its whole rate.</p>"
    '<div class="plot" id="congested"></div></div>'
)
DROPS_OF = (
    '<div class="card"><h2>Drops by @CURVE@</h2><p>Whose packets were dropped in each @INTERVAL@.</p>'
    '<div class="plot" id="drops-of"></div></div>'
)
UNPACK = """const library = (async () => {
  const bytes = Uint8Array.from(atob("PACKED"), c => c.charCodeAt(0));
  const script = document.createElement("script");
  script.textContent = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  document.head.append(script);
})();
library.catch(() => document.querySelectorAll(".plot").forEach(plot => plot.textContent = "This browser is too old to draw the plots."));
"""
LIBRARY = "plotly.js"  # that small pages share
LOAD = """const library = new Promise((there, missing) => {
  const script = document.createElement("script");
  script.src = "../plotly.js", script.onload = there, script.onerror = missing;
  document.head.append(script);
});
library.catch(() => document.querySelectorAll(".plot").forEach(plot => plot.textContent = "plotly.js is not in the folder above."));
"""

Series = dict[str, NDArray[Any]]


def write_series(path: Path, series: Series) -> None:
    """Write the arrays of the plots."""
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=True, **series)


def rebuild(folder: Path, shared: bool = False) -> dict[str, Any]:
    """Write report.html of a result folder anew and return its result; `shared`: with a plot library in the one above. Raises UserError."""
    import os

    result, series = read_result(folder), read_series(folder)
    partial = folder / ".report.html.partial"
    try:
        write_html(partial, result, series, shared)
        if shared:
            write_library(folder.resolve().parent)
        os.replace(partial, folder / "report.html")
    except KeyError as error:
        raise UserError(f"{folder}: result.json and series.npz are not whole, or not of the same run: {error} is missing") from None
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise UserError(f"{folder}: result.json and series.npz are not whole, or not of the same run: {error}") from None
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from None
    return result


def read_series(folder: Path) -> Series:
    """Return `series.npz` of a folder. Raises UserError."""
    try:
        return _read_series(folder / "series.npz")
    except FileNotFoundError:
        raise UserError(f"{folder}: holds no series.npz, which the plots are made from; run the scenario again") from None
    except (OSError, ValueError, EOFError, KeyError, MemoryError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{folder / 'series.npz'}: cannot be read: {error}") from None


def _read_series(path: Path) -> Series:
    with open_file(path, "the series of a result") as file:
        with zipfile.ZipFile(file) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
        if size > MAX_SERIES_BYTES:  # a few kB can be packed that are as many GB
            raise ValueError(f"it holds {size / 1e6:,.0f} MB, allowed: {MAX_SERIES_BYTES // 10**6:,}")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}


def read_result(folder: Path) -> dict[str, Any]:
    """Return `result.json` of a folder. Raises UserError."""
    path = folder / "result.json"
    if not folder.is_dir():
        raise UserError(f"{folder}: {'is a file' if folder.exists() else 'there is no such folder'}; give the folder of a result")
    try:
        result = json.loads(read_text(path, "a result", MAX_RESULT_BYTES))
    except FileNotFoundError:
        raise UserError(f"{folder}: holds no result.json; `penstock run SCENARIO --out {folder}` makes one") from None
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: is not a result: {error}") from None
    if not isinstance(result, dict) or result.get("schema") != SCHEMA:
        found = result.get("schema") if isinstance(result, dict) else None
        raise UserError(f"{path}: has schema {found!r}, this version reads {SCHEMA!r}")
    return result


def write_html(path: Path, result: dict[str, Any], series: Series, shared: bool = False) -> None:
    """Write the page; `shared`: it loads the plot library from the folder above, and is small."""
    design = design_of(result)
    interval_ns = float(series["interval_ns"])
    points = len(series["bytes_out"])
    smooth = SMOOTHED_POINTS if points >= 10 * SMOOTHED_POINTS else 1
    failed = failures(result)
    first, later = _plots(result, series), _lengths_and_use(result, series)
    in_plot = int(series["frames"].sum()) if "frames" in series else 0
    parts = {
        "TITLE": escape(result["name"]),
        "TAG": _tag(result, failed),
        "DESCRIPTION": escape(result["description"]),
        "FAILURES": f'<div class="failures">{"<br>".join(map(escape, failed))}</div>' if failed else "",
        "WORDS": "".join(
            f"<dt>{escape(word)}</dt><dd>{_whole(_signs(rest.strip()))}</dd>"
            for word, _, rest in (s.partition(" ") for s in sentences(result))
        ),
        "SMOOTHED": _signs(f", mean over {format_time_ns(smooth * interval_ns)}"),
        "DASHED": ("; dashed: the configured rate" if _has_rates(result, series) else "")
        + ("; dashed and dotted: the guaranteed rate" if _has_guarantees(result) else ""),
        "SAMPLED": " (evenly chosen, and the slowest)" if in_plot > len(series["cloud"]) else "",
        "DROPS": '<div class="plot" id="drops"></div>'
        if len(series["drop_reasons"])
        else '<div class="nothing">Nothing was dropped.</div>',
        "OWN": "".join(_card(index, plot) for index, plot in enumerate(first)),
        "LATER": "".join(_card(index, plot) for index, plot in enumerate(later, len(first))),
        "LATENESS": LATENESS if "late_ns" in series else "",
        "CHOICE": _choice(result, series),
        "DROPS_OF": DROPS_OF if len(series["drop_reasons"]) and "drops_of" in series else "",
        "CONGESTED": CONGESTED if any(f"{key}_ids" in series for key in design.curve_sets(result)) else "",
        "MARKS": ", and those marked" if "marks_of" in series else "",
        "TABLES": "".join(table_card(table) for table in design.tables(result, MAX_TABLE_ROWS)),
        "CURVE": f'<span class="word">{escape(design.curves(result))}</span>',
        "INTERVAL": _signs(format_time_ns(interval_ns)),
        "FOOTER": _footer(result),
        "DATA": json.dumps(_data(result, series, smooth), allow_nan=False, separators=(",", ":")).replace("</", "<\\/"),
        "PLOTLY": LOAD if shared else library(),
    }
    path.write_text(fill("report.html", parts), encoding="utf-8")


def write_library(folder: Path) -> None:
    """Write the plot library that small pages of the folders below share, if it is not there."""
    from plotly.offline import get_plotlyjs

    path, text = folder / LIBRARY, get_plotlyjs()
    if not path.is_file() or path.stat().st_size != len(text.encode()):
        with growing(folder) as grown:
            (grown / LIBRARY).write_text(text, encoding="utf-8")


@lru_cache(1)
def library() -> str:
    """Return the script of a page that unpacks the plot library: `library`, a promise; a third of the size that it has as text."""
    from plotly.offline import get_plotlyjs

    packed = base64.b64encode(gzip.compress(get_plotlyjs().encode(), 9, mtime=0)).decode()
    return UNPACK.replace("PACKED", packed)


def fill(template: str, parts: dict[str, str]) -> str:
    """Return a page of `templates/` with the house's style and `parts` in it; the last of them may hold anything."""
    page = (TEMPLATES / template).read_text(encoding="utf-8")
    for key, text in {"STYLE": (TEMPLATES / "style.css").read_text(encoding="utf-8"), **parts}.items():
        page = page.replace(f"@{key}@", text)  # the library comes last, so that nothing is looked for in it
    return page


def _tag(result: dict[str, Any], failed: list[str]) -> str:
    if failed:
        return '<span class="tag bad">failed</span>'
    if result["interrupted"]:
        return '<span class="tag warn">interrupted</span>'
    return '<span class="tag good">every packet accounted for, order and bytes intact</span>'


def _plots(result: dict[str, Any], series: Series) -> list[Plot]:
    """Return the pictures that come before those of every run."""
    return live.plots(result) + design_of(result).plots(result) + _connections(series)


def _lengths_and_use(result: dict[str, Any], series: Series) -> list[Plot]:
    """Return the pictures of how many packets of each queue are in the device, and of how much of its configured rate it uses."""
    if "queue_packets" not in series:
        return []
    points, interval = len(series["bytes_out"]), float(series["interval_ns"]) / 1e9
    begin = int(series["from_interval"]) if "from_interval" in series else 0
    smooth = max(SMOOTHED_POINTS, points // MEANS) if points >= 10 * SMOOTHED_POINTS else 1
    times = tuple(round((row + 0.5) * interval, 9) for row in range(begin, points))
    lengths, uses = [], []
    for column, name in enumerate(series["names"].tolist()):
        if not series["bytes_out"][:, column].any():
            continue
        lengths.append(Curve(name, _floats(series["queue_packets"][begin:, column]), "line"))
        if "rates_bps" in series and (rate := float(series["rates_bps"][column])) > 0:
            used = rate_curve(result, series, series["bytes_out"][:, column], smooth)[begin:] / rate
            uses.append(Curve(name, _floats(used), "line"))
    note = "Of the packets that left: the mean number in the device in each interval, waiting or on their way."
    found = [Plot(f"Packets of each {design_of(result).curves(result)} in the device", note, times, "count", lengths)] if lengths else []
    over = f"over {format_time_ns(smooth * interval * 1e9)} " if smooth > 1 else ""
    told = f"What left, mean {over}as a share of the configured rate; of those that have one from the beginning on."
    return [*found, Plot("Use of the configured rates", told, times, "share", uses)] if uses else found


def _floats(values: NDArray[Any]) -> tuple[float | None, ...]:
    return tuple(float(value) if np.isfinite(value) else None for value in values.tolist())


def _connections(series: Series) -> list[Plot]:
    """Return the pictures of TCP connections, where there are any."""
    if "tcp_cwnd" not in series:
        return []
    names, interval = series["tcp_names"].tolist(), float(series["interval_ns"]) / 1e9

    def plot(title: str, note: str, values: Literal["time", "bytes"], array: NDArray[np.float64]) -> Plot:
        times = tuple(round((row + 1) * interval, 9) for row in range(len(array)))
        curves = [
            Curve(name, tuple(float(value) if np.isfinite(value) else None for value in array[:, flow]), "line")
            for flow, name in enumerate(names)
        ]
        return Plot(title, note, times, values, curves)

    srtt = np.where(series["tcp_srtt_ns"] > 0, series["tcp_srtt_ns"] / 1e9, np.nan)
    return [
        plot("Congestion windows", "Of each TCP connection, at the end of each interval.", "bytes", series["tcp_cwnd"].astype(float)),
        plot("Round trips", "Smoothed, as each sender measures them: base round trip and queues.", "time", srtt),
    ]


def _card(index: int, plot: Plot) -> str:
    """Return the place of a picture of the design's own."""
    return f'<div class="card"><h2>{escape(plot.title)}</h2><p>{escape(plot.note)}</p><div class="plot" id="own{index}"></div></div>'


def _signs(text: str) -> str:
    """Return text for the page, with the unit signs of its axes."""
    return re.sub(r"(?<=[0-9] )us\b", "µs", escape(text))


def _whole(text: str) -> str:
    """Return words of the page in which names with hyphens are not broken."""
    return re.sub(r"\w+(-\w+)+", r'<span class="whole">\g<0></span>', text)


def _choice(result: dict[str, Any], series: Series) -> str:
    """Return buttons that choose what has curves; none where there is but one kind."""
    design = design_of(result)
    words = [design.curves(result), *(word for key, word in design.curve_sets(result).items() if f"{key}_ids" in series)]
    if len(words) == 1:
        return ""
    pressed = ["true", *("false" for _ in words[1:])]
    buttons = "".join(
        f'<button type="button" aria-pressed="{state}">{escape(word)}s</button>' for state, word in zip(pressed, words, strict=True)
    )
    return f'<div class="choice" role="group" aria-label="What has curves">Curves of {buttons}</div>'


def _has_guarantees(result: dict[str, Any]) -> bool:
    design = design_of(result)
    return any(design.guarantee_steps(result, of) for of in ("", *design.curve_sets(result)))


def _has_rates(result: dict[str, Any], series: Series) -> bool:
    keys = ["rates_bps", *(f"{key}_rates_bps" for key in design_of(result).curve_sets(result))]
    return any((series[key] > 0).any() for key in keys if key in series)


def table_card(table: Table, still: bool = False) -> str:
    """Return a table with its title; sorted by a click on a head, searched where it is long, unless the page leaves it `still`."""
    field = f'<input type="search" placeholder="Search {len(table.rows):,} rows" aria-label="Search">'
    search = field if len(table.rows) >= SEARCHED_ROWS and not still else ""
    title = f"<h2>{escape(table.title)}{search}</h2><p>{_signs(table.note)}</p>"
    return f'<section class="card wide">{title}<div class="scroll">{_table(table)}</div></section>'


def _table(table: Table) -> str:
    def line(tag: str, cells: Sequence[str]) -> str:
        # The first column is words by style; the others of `left` say so. What is long breaks: `15 Mbit/s, then closed and others`.
        words = [["left"] * (0 < column < table.left) + ["long"] * (column > 0 and len(cell) > LONG) for column, cell in enumerate(cells)]
        kinds = [f' class="{" ".join(names)}"' if names else "" for names in words]
        return "<tr>" + "".join(f"<{tag}{kind}>{_signs(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)) + "</tr>"

    return f"<table><thead>{line('th', table.heads)}</thead><tbody>{''.join(line('td', row) for row in table.rows)}</tbody></table>"


def _footer(result: dict[str, Any]) -> str:
    speed = f" ({result['cycles_per_second'] / 1e6:.2f} million a second)" if result["cycles_per_second"] else ""
    cost = f"{result['cycles']:,} clock cycles simulated in {result['wall_seconds']:.1f} s{speed}."
    hardware = f"Configuration {result['config']}: {design_of(result).hardware(result)} at {result['clock_hz'] / 1e6:g} MHz."
    lines = [*result["notes"], f"{hardware} Seed {result['seed']}. {cost} Penstock {result['penstock']}, engine {result['engine']}."]
    return "".join(f"<p>{_signs(line)}</p>" for line in lines)


def _data(result: dict[str, Any], series: Series, smooth: int) -> dict[str, Any]:
    words = design_of(result).drop_words()
    interval = float(series["interval_ns"]) / 1e9
    points = len(series["bytes_out"])
    return {
        "begin": result.get("measured_from_s", 0),
        "end": result["cycles"] / result["clock_hz"],
        "time": _short((np.arange(points) + 0.5) * interval, 6),
        "sets": [_queues(result, series, smooth), *_levels(result, series, smooth)],
        "dense": len(series["cloud"]) > 2000,
        "decades": _decades(series["cdf_ns"] / 1e9),
        "peak": int(series["drops"].sum(axis=1).max(initial=0)),
        "shares": _short(series["cdf_share"], 7),
        "cdf": _short(series["cdf_ns"][:, -1] / 1e9),
        "lateness": _lateness(series),
        "own": [_picture(plot) for plot in [*_plots(result, series), *_lengths_and_use(result, series)]],
        "changes": _changes(result),
        "marked": series["marks_of"].sum(axis=1).tolist() if "marks_of" in series else [],
        "drops": [
            {"name": words.get(reason, reason), "count": series["drops"][:, column].tolist()}
            for column, reason in enumerate(series["drop_reasons"].tolist())
        ],
    }


def _queues(result: dict[str, Any], series: Series, smooth: int) -> dict[str, Any]:
    """Return the first set of curves: those of queues."""
    cloud = series["cloud"]
    steps, guaranteed = design_of(result).rate_steps(result, ""), design_of(result).guarantee_steps(result, "")
    drops, items = series.get("drops_of"), []
    for column, (ident, name) in enumerate(zip(series["queues"].tolist(), series["names"].tolist(), strict=True)):
        lost = drops is not None and drops[:, column].any()
        if not series["bytes_out"][:, column].any() and not lost:
            continue
        own = cloud[cloud[:, 2] == column]
        items.append({
            "name": name,
            "steps": _steps(int(series["rates_bps"][column]), steps.get(ident, [])),
            **({"guaranteed": guaranteed[ident]} if ident in guaranteed else {}),
            "rate": _short(rate_curve(result, series, series["bytes_out"][:, column], smooth)),
            "points": {"x": _short(own[:, 0] / 1e9, 6), "y": _short(own[:, 1] / 1e9)},
            "cdf": _short(series["cdf_ns"][:, column] / 1e9),
            "drops": drops[:, column].tolist() if drops is not None and lost else [],
        })  # fmt: skip
    others = drops[:, -1] if drops is not None else np.zeros(0)
    return {"word": design_of(result).curves(result), "items": items, "others": others.tolist() if others.any() else []}


def _levels(result: dict[str, Any], series: Series, smooth: int) -> list[dict[str, Any]]:
    """Return the other sets of curves, which a design has of what is above its queues."""
    design = design_of(result)
    found = []
    total = series["drops"].sum(axis=1)
    for key, word in design.curve_sets(result).items():
        if f"{key}_ids" not in series:
            continue
        steps, guaranteed = design.rate_steps(result, key), design.guarantee_steps(result, key)
        names, ids = series[f"{key}_names"].tolist(), series[f"{key}_ids"].tolist()
        items = []
        for column, (ident, name) in enumerate(zip(ids, names, strict=True)):
            bits = {way: _short(rate_curve(result, series, series[f"{key}_bytes_{way}"][:, column], smooth)) for way in ("in", "out")}
            drops, congested = series[f"{key}_drops"][:, column], series[f"{key}_congested"][:, column]
            items.append({
                "name": name,
                "steps": _steps(int(series[f"{key}_rates_bps"][column]), steps.get(ident, [])),
                **({"guaranteed": guaranteed[ident]} if ident in guaranteed else {}),
                "rate": bits["out"],
                "offered": bits["in"],
                "mean": _short(series[f"{key}_latency_mean_ns"][:, column] / 1e9),
                "cdf": _short(series[f"{key}_cdf_ns"][:, column] / 1e9),
                "drops": drops.tolist() if drops.any() else [],
                "congested": _short(congested, 3) if congested.any() else [],
            })  # fmt: skip
        others = np.maximum(0, total - series[f"{key}_drops"].sum(axis=1))
        found.append({"word": word, "items": items, "others": others.tolist() if others.any() else []})
    return found


def _steps(rate: int, changes: Sequence[Sequence[Any]]) -> list[list[float | None]]:
    """Return from when on which rate is configured, None: none."""
    steps = [[0.0, rate if rate >= 0 else None], *([float(at), bps] for at, bps in changes)]
    return steps if any(bps is not None for _, bps in steps) else []


def _changes(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return when settings changed while traffic flowed, and to what, in the words of the scenario; not what a run did not come to."""
    found = []
    for change in result["scenario"].get("changes") or []:
        if not isinstance(change, dict) or "at" not in change:
            continue
        what = ", ".join(f"{key} {_listed(value)}" for key, value in change.items() if key not in ("at", "set"))
        new = ", ".join(f"{key} {value}" for key, value in (change.get("set") or {}).items())
        at = parse_time(change["at"])
        if at * result["clock_hz"] < result["cycles"] * PS_PER_SECOND:
            found.append({"at": at / PS_PER_SECOND, "words": f"{what}: {new}"})
    return found[:MAX_CHANGES]


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _picture(plot: Plot) -> dict[str, Any]:
    curves = [
        {"name": curve.name, "style": curve.style, "y": [None if value is None else float(f"{value:.5g}") for value in curve.values]}
        for curve in plot.curves
    ]
    return {"x": list(plot.places), "y": plot.values, "curves": curves}


def _lateness(series: Series) -> dict[str, list[float | None]]:
    """Return lateness in seconds and the share of packets that were later, without the last point, which nothing is later than."""
    if "late_ns" not in series:
        return {"x": [], "y": []}
    return {"x": _short(series["late_ns"][:-1] / 1e9), "y": _short(1 - series["late_share"][:-1])}


def _decades(seconds: NDArray[np.float64]) -> list[int]:
    """Return the powers of ten between which all latencies lie."""
    positive = seconds[np.isfinite(seconds) & (seconds > 0)]
    if not positive.size:
        return [-6, -3]
    low, high = int(np.floor(np.log10(positive.min()))), int(np.ceil(np.log10(positive.max())))
    return [low, max(high, low + 1)]


def rate_curve(result: Mapping[str, Any], series: Series, sizes: NDArray[Any], width: int) -> NDArray[np.float64]:
    """Return the rate in bit/s of bytes in each interval, the mean over `width` of them; not a number within the warm-up."""
    seconds = float(series["interval_ns"]) / 1e9
    end = round(result["cycles"] / result["clock_hz"] / seconds, 9)
    begin = min(int(series["from_interval"]), len(sizes)) if "from_interval" in series else 0
    found = np.full(len(sizes), np.nan)
    found[begin:] = rates_over_time(sizes[begin:], seconds, max(end - begin, 0), width)
    return found


def _short(values: NDArray[Any], digits: int = 4) -> list[float | None]:
    """Return numbers with some significant digits, so that the page stays small; NaN becomes null."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values.tolist()]
