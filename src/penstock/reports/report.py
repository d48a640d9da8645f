"""report.html: one self-contained page with the result in words, plots and a table. Nothing is loaded from the network."""

import json
import zipfile
import zlib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from penstock.basics.files import open_file, read_text
from penstock.basics.units import format_time_ns
from penstock.designs.design import Curve, Plot, Table
from penstock.engine.result import SCHEMA, failures
from penstock.errors import UserError
from penstock.live import report as live
from penstock.reports.summary import design_of, sentences

TEMPLATES = Path(__file__).parent / "templates"
MAX_TABLE_ROWS = 40
MAX_RESULT_BYTES = 200_000_000
MAX_SERIES_BYTES = 1_000_000_000  # unpacked
SMOOTHED_POINTS = 5
LATENESS = (
    '<div class="card"><h2>Lateness</h2><p>Share of the packets that left more than so long after an ideal server would have sent them.</p>'
    '<div class="plot" id="lateness"></div></div>'
)

Series = dict[str, NDArray[Any]]


def write_series(path: Path, series: Series) -> None:
    """Write the arrays of the plots."""
    with path.open("wb") as file:
        np.savez_compressed(file, **series)


def rebuild(folder: Path) -> dict[str, Any]:
    """Write report.html of a result folder anew and return its result. Raises UserError."""
    import os

    result = read_result(folder)
    try:
        series = _read_series(folder / "series.npz")
    except FileNotFoundError:
        raise UserError(f"{folder}: holds no series.npz, which the plots are made from; run the scenario again") from None
    except (OSError, ValueError, EOFError, KeyError, MemoryError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{folder / 'series.npz'}: cannot be read: {error}") from None
    partial = folder / ".report.html.partial"
    try:
        write_html(partial, result, series)
        os.replace(partial, folder / "report.html")
    except KeyError as error:
        raise UserError(f"{folder}: result.json and series.npz are not whole, or not of the same run: {error} is missing") from None
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        raise UserError(f"{folder}: result.json and series.npz are not whole, or not of the same run: {error}") from None
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from None
    return result


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
        raise UserError(f"{folder}: {'is a file' if folder.exists() else 'there is no such folder'}; `report` takes the folder of a result")
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


def write_html(path: Path, result: dict[str, Any], series: Series) -> None:
    """Write the page."""
    from plotly.offline import get_plotlyjs

    design = design_of(result)
    table = design.table(result, MAX_TABLE_ROWS, short=False)
    interval_ns = float(series["interval_ns"])
    points = len(series["bytes_out"])
    smooth = SMOOTHED_POINTS if points >= 10 * SMOOTHED_POINTS else 1
    failed = failures(result)
    in_plot = int(series["frames"].sum()) if "frames" in series else 0
    parts = {
        "TITLE": escape(result["name"]),
        "TAG": _tag(result, failed),
        "DESCRIPTION": escape(result["description"]),
        "FAILURES": f'<div class="failures">{"<br>".join(map(escape, failed))}</div>' if failed else "",
        "WORDS": "".join(
            f"<dt>{escape(word)}</dt><dd>{escape(rest.strip())}</dd>" for word, _, rest in (s.partition(" ") for s in sentences(result))
        ),
        "SMOOTHED": f", mean over {format_time_ns(smooth * interval_ns)}",
        "DASHED": "; dashed: the configured rate" if (series["rates_bps"] > 0).any() else "",
        "SAMPLED": " (evenly chosen, and the slowest)" if in_plot > len(series["cloud"]) else "",
        "INTERVAL": format_time_ns(interval_ns),
        "DROPS": '<div class="plot" id="drops"></div>'
        if len(series["drop_reasons"])
        else '<div class="nothing">Nothing was dropped.</div>',
        "OWN": "".join(_card(index, plot) for index, plot in enumerate(_plots(result, series))),
        "LATENESS": LATENESS if "late_ns" in series else "",
        "CURVE": escape(design.curves(result)),
        "TABLE_TITLE": escape(table.title),
        "TABLE_NOTE": escape(table.note),
        "TABLE": _table(table),
        "FOOTER": _footer(result),
        "DATA": json.dumps(_data(result, series, smooth), allow_nan=False, separators=(",", ":")).replace("</", "<\\/"),
        "PLOTLY": get_plotlyjs().replace("</script", "<\\/script"),
    }
    path.write_text(fill("report.html", parts), encoding="utf-8")


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
    return live.plots(result) + design_of(result).plots(result) + _connections(series)


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


def _table(table: Table) -> str:
    def line(tag: str, cells: Sequence[str]) -> str:
        # The first column is words by style; the others of `left` say so.
        kinds = ["" if not 0 < column < table.left else ' class="left"' for column in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)) + "</tr>"

    return "<table>" + line("th", table.heads) + "".join(line("td", row) for row in table.rows) + "</table>"


def _footer(result: dict[str, Any]) -> str:
    speed = f" ({result['cycles_per_second'] / 1e6:.2f} million a second)" if result["cycles_per_second"] else ""
    cost = f"{result['cycles']:,} clock cycles simulated in {result['wall_seconds']:.1f} s{speed}."
    hardware = f"Configuration {result['config']}: {design_of(result).hardware(result)} at {result['clock_hz'] / 1e6:g} MHz."
    lines = [*result["notes"], f"{hardware} Seed {result['seed']}. {cost} Penstock {result['penstock']}, engine {result['engine']}."]
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _data(result: dict[str, Any], series: Series, smooth: int) -> dict[str, Any]:
    words = design_of(result).drop_words()
    interval = float(series["interval_ns"]) / 1e9
    points = len(series["bytes_out"])
    cloud = series["cloud"]
    queues = []
    for column, name in enumerate(series["names"].tolist()):
        if not series["bytes_out"][:, column].any():
            continue
        own = cloud[cloud[:, 2] == column]
        queues.append({
            "name": name,
            "configured": int(series["rates_bps"][column]),
            "rate": _short(_smooth(series["bytes_out"][:, column] * 8 / interval, smooth)),
            "points": {"x": _short(own[:, 0] / 1e9, 6), "y": _short(own[:, 1] / 1e9)},
            "cdf": _short(series["cdf_ns"][:, column] / 1e9),
        })  # fmt: skip
    return {
        "end": result["cycles"] / result["clock_hz"],
        "time": _short((np.arange(points) + 0.5) * interval, 6),
        "queues": queues,
        "dense": len(cloud) > 2000,
        "decades": _decades(series["cdf_ns"] / 1e9),
        "peak": int(series["drops"].sum(axis=1).max(initial=0)),
        "shares": _short(series["cdf_share"], 7),
        "cdf": _short(series["cdf_ns"][:, -1] / 1e9),
        "lateness": _lateness(series),
        "own": [_picture(plot) for plot in _plots(result, series)],
        "drops": [
            {"name": words.get(reason, reason), "count": series["drops"][:, column].tolist()}
            for column, reason in enumerate(series["drop_reasons"].tolist())
        ],
    }


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


def _smooth(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the centred moving average; at the ends over what there is."""
    window = np.ones(width)
    return np.convolve(values, window, "same") / np.convolve(np.ones(len(values)), window, "same")


def _short(values: NDArray[Any], digits: int = 4) -> list[float | None]:
    """Return numbers with some significant digits, so that the page stays small; NaN becomes null."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values.tolist()]
