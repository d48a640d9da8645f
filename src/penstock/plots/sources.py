"""Which figures a result folder has: of a run, of several runs, of a sweep, of a paper."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.basics.units import format_time_ns
from penstock.errors import UserError
from penstock.plots import figure
from penstock.plots.figure import Figure, Kind, Line
from penstock.reports.report import MEANS, SMOOTHED_POINTS, Series, rate_curve, read_result, read_series
from penstock.reports.summary import design_of

# Units by how large the largest value is: what a value is divided by, and the unit.
TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (0.0, "ns"))
RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (0.0, "bit/s"))
SIZES = ((1e6, "MB"), (1e3, "kB"), (0.0, "byte"))
MOST_CURVES = 12


def of_folders(folders: Sequence[Path]) -> list[Figure]:
    """Return the figures of one result, or of several beside each other. Raises UserError."""
    if len(folders) == 1:
        if (folders[0] / figure.FILE).is_file():
            return figure.read(folders[0])
        result, series = _run(folders[0])
        return _whole(folders[0], lambda: of_run(result, series))
    runs = [(folder.name, *_run(folder)) for folder in folders]
    if len({name for name, _, _ in runs}) < len(runs):
        runs = [(str(folder), result, series) for folder, (_, result, series) in zip(folders, runs, strict=True)]
    return _whole(folders[0], lambda: of_runs(runs))


def _run(folder: Path) -> tuple[dict[str, Any], Series]:
    return read_result(folder), read_series(folder)


def _whole(folder: Path, make: Any) -> list[Figure]:
    try:
        found: list[Figure] = make()
        return found
    except (KeyError, IndexError, TypeError) as error:
        raise UserError(f"{folder}: result.json and series.npz are not whole, or not of the same run: {error}") from None


def of_run(result: dict[str, Any], series: Series) -> list[Figure]:
    """Return the figures of a run: rates, delays, queue lengths, use and drops over time, and the distribution of delays."""
    time, points = _time(result, series), len(series["bytes_out"])
    smooth = max(SMOOTHED_POINTS, points // MEANS) if points >= 10 * SMOOTHED_POINTS else 1
    over = f", mean over {format_time_ns(smooth * float(series['interval_ns']))}" if smooth > 1 else ""
    shown = [column for column in range(len(series["names"])) if series["bytes_out"][:, column].any()]
    order = sorted(shown, key=lambda column: -int(series["bytes_out"][:, column].sum()))[:MOST_CURVES]
    columns = sorted(order)
    names = [str(series["names"][column]) for column in columns]
    legend = design_of(result).curves(result) if len(columns) > 1 else ""
    rates = [rate_curve(result, series, series["bytes_out"][:, column], smooth) for column in columns]
    found = [_over_time("throughput", f"Throughput over time{over}", "Throughput", time, names, rates, RATES, legend)]
    delays = [series["latency_mean_ns"][:, column] for column in columns]
    found.append(_over_time("delay", "Mean delay over time", "Delay", time, names, delays, TIMES, legend))
    found.append(
        _cdf([*names, "all packets"], [*(series["cdf_ns"][:, column] for column in columns), series["cdf_ns"][:, -1]], series, legend)
    )
    if "queue_packets" in series:
        lengths = [series["queue_packets"][:, column] for column in columns]
        found.append(
            _over_time("queue_length", "Packets in the device over time", "Queue length", time, names, lengths, ((0.0, "packets"),), legend)
        )
    use = utilisation(result, series, columns, rates)
    if any(curve is not None for curve in use):
        kept = [(name, curve) for name, curve in zip(names, use, strict=True) if curve is not None]
        title, percent = f"Use of the configured rates over time{over}", ((0.01, "%"),)
        whose, curves = [name for name, _ in kept], [curve for _, curve in kept]
        found.append(_over_time("utilisation", title, "Utilisation", time, whose, curves, percent, legend))
    if len(series["drop_reasons"]):
        words = design_of(result).drop_words()
        reasons = [words.get(str(reason), str(reason)) for reason in series["drop_reasons"]]
        counts = [series["drops"][:, column].astype(float) for column in range(len(reasons))]
        found.append(
            _over_time("drops", "Drops over time", "Dropped in an interval", time, reasons, counts, ((0.0, "packets"),), "reason", "steps")
        )
    if "tcp_cwnd" in series:
        flows = [str(name) for name in series["tcp_names"]][:MOST_CURVES]
        own = time[: len(series["tcp_cwnd"])]
        for name, key, title, units in (
            ("window", "tcp_cwnd", "Congestion window", SIZES),
            ("round_trip", "tcp_srtt_ns", "Round trip", TIMES),
        ):
            values = [np.where(series[key][:, flow] > 0, series[key][:, flow], np.nan) for flow in range(len(flows))]
            found.append(_over_time(f"tcp_{name}", f"{title} over time", title, own, flows, values, units, "connection"))
    return figure.numbered([*found, *_own(result)])


def utilisation(result: dict[str, Any], series: Series, columns: Sequence[int], rates: Sequence[Any]) -> list[Any]:
    """Return what each curve carries as a share of its configured rate; None: it has none."""
    if "rates_bps" not in series:
        return [None for _ in columns]
    return [
        rate / float(series["rates_bps"][column]) if series["rates_bps"][column] > 0 else None
        for column, rate in zip(columns, rates, strict=True)
    ]


def of_runs(runs: Sequence[tuple[str, dict[str, Any], Series]]) -> list[Figure]:
    """Return the figures of several runs: what left over time, delays over time, their distributions, all queues together."""
    names = [name for name, _, _ in runs]
    rates = [rate_curve(result, series, series["bytes_out"].sum(axis=1), SMOOTHED_POINTS) for _, result, series in runs]
    lines = [Line(name, _time(result, series).tolist(), _plain(rate)) for (name, result, series), rate in zip(runs, rates, strict=True)]
    divisor, unit = _unit(rates, RATES)
    scaled = [Line(line.name, line.x, [None if value is None else value / divisor for value in line.y]) for line in lines]
    throughput = Figure("throughput", "Throughput over time", "Time (s)", f"Throughput ({unit})", scaled, legend="run", zero=True)
    first = runs[0][2]
    return [throughput, _cdf(names, [series["cdf_ns"][:, -1] for _, _, series in runs], first, "run")]


def _own(result: dict[str, Any]) -> list[Figure]:
    """Return the pictures that a design adds to its report."""
    units = {"time": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns")), "rate": RATES, "bytes": SIZES, "share": ((0.01, "%"),)}
    kinds: dict[str, Kind] = {"points": "points", "line": "line", "limit": "points", "bars": "bars", "stack": "bars"}
    found = []
    for plot in design_of(result).plots(result):
        arrays = [np.array([np.nan if value is None else value for value in curve.values], dtype=float) for curve in plot.curves]
        divisor, unit = _unit(arrays, units.get(plot.values, ((0.0, "packets"),)))
        lines = [
            Line(curve.name, list(plot.places), _plain(array / divisor), kinds[curve.style])
            for curve, array in zip(plot.curves, arrays, strict=True)
        ]
        x = "" if plot.places and isinstance(plot.places[0], str) else "Time (s)"
        what = {"time": "Time", "rate": "Rate", "bytes": "Bytes", "share": "Share"}.get(plot.values, "Count")
        found.append(Figure(figure.file_name(plot.title), plot.title, x, f"{what} ({unit})", lines))
    return found


def _time(result: dict[str, Any], series: Series) -> NDArray[np.float64]:
    """Return the middles of intervals in seconds; not a number within the warm-up."""
    places = np.arange(len(series["bytes_out"]))
    begin = int(series["from_interval"]) if "from_interval" in series else 0
    return np.where(places >= begin, (places + 0.5) * float(series["interval_ns"]) / 1e9, np.nan)


Units = Sequence[tuple[float, str]]


def _unit(curves: Sequence[Any], units: Units) -> tuple[float, str]:
    """Return what values are divided by, and the unit, by the largest of them."""
    finite = [float(np.nanmax(curve)) for curve in curves if np.isfinite(curve).any()]
    most = max(finite, default=0.0)
    least, unit = next(((least, unit) for least, unit in units if most >= least), units[-1])
    if len(units) == 1:
        return (least or 1.0), unit
    return (least or (1.0 if unit in ("ns", "bit/s", "byte") and units[0][0] >= 1e3 else 1e-9)), unit


def _over_time(
    name: str, title: str, what: str, time: Any, names: Sequence[str], curves: Sequence[Any], units: Units, legend: str, kind: Kind = "line"
) -> Figure:
    divisor, unit = _unit(curves, units)
    lines = [Line(of, _plain(time), _plain(curve / divisor), kind) for of, curve in zip(names, curves, strict=True)]
    return Figure(name, title, "Time (s)", f"{what} ({unit})", lines, legend=legend, zero=True)


def _cdf(names: Sequence[str], curves: Sequence[Any], series: Series, legend: str) -> Figure:
    divisor, unit = _unit([np.array([np.nanmedian(curve)]) if np.isfinite(curve).any() else np.array([np.nan]) for curve in curves], TIMES)
    shares = series["cdf_share"]
    lines = []
    for name, curve in zip(names, curves, strict=True):
        kept = np.isfinite(curve)
        lines.append(Line(name, _plain(curve[kept] / divisor), _plain(shares[kept])))
    return Figure("delay_cdf", "Distribution of delays", f"Delay ({unit})", "Share of packets", lines, "x", legend, zero=True)


def _plain(values: Any) -> list[float | None]:
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in np.asarray(values, dtype=float).tolist()]
