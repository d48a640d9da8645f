"""What has a curve in the report of an access edge: queues, subscribers, nodes and ports that matter; their arrays in `series.npz`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import hierarchy_rows
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.job import EdgePlan
from penstock.designs.access_edge.result import MAX_QUEUES_LISTED
from penstock.engine.result import CDF_POINTS, MAX_CURVES, Curves, Departures, all_kept, cdf_shares, not_exceeded, plot_data


def arrays(raw: dict[str, Any], config: Config, plan: EdgePlan) -> dict[str, NDArray[Any]]:
    """Return the arrays of `series.npz`: those of every design for the queues, and those of the levels above them."""
    ids = queues(raw, plan)
    settings = plan.settings
    rates = [settings.settings(queue).rate_bps for queue in ids]
    found = plot_data(raw, config, plan, Curves(ids, [settings.name(queue) for queue in ids], rates))
    if plan.parents is not None and "hierarchy" in raw:
        for kind in hierarchy_rows.LEVELS:
            if "series" in raw["hierarchy"][kind]:
                found |= _level(raw, kind, config, plan, plan.parents)
    return found | every_queue(raw)


def every_queue(raw: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the counters of every queue with traffic, where there are more than `result.json` lists."""
    table = raw["queue"]
    ids = np.flatnonzero(np.asarray(table["in_packets"]))
    if len(ids) <= MAX_QUEUES_LISTED:
        return {}
    keys = [f"{part}_{what}" for part in ("in", "out", "drop") for what in ("packets", "bytes")]
    return {"every_queue_id": ids, **{f"every_queue_{key}": np.asarray(table[key]).astype(np.int64)[ids] for key in keys}}


def queues(raw: dict[str, Any], plan: EdgePlan) -> list[int]:
    """Return the queues with a curve: those that the scenario names, or those that matter most of those whose frames were kept."""
    given: list[int] = plan.job["series_queues"]
    left = Departures.of(raw)
    if plan.series_given or not all_kept(raw, left):
        return given
    table = {key: np.asarray(raw["queue"][key]).astype(np.int64) for key in ("in_bytes", "drop_packets")}
    slowest = np.zeros(len(table["in_bytes"]), dtype=np.int64)
    np.maximum.at(slowest, left.queue, left.latency)
    return most_important(np.flatnonzero(table["in_bytes"]), [table["in_bytes"], table["drop_packets"], slowest])


def most_important(ids: NDArray[Any], measures: list[NDArray[Any]]) -> list[int]:
    """Return at most as many ids as there are colours: in turn the first by each measure, of those that have any of it; in order of id."""
    if len(ids) <= MAX_CURVES:
        return [int(ident) for ident in ids]
    orders = []
    for measure in measures:
        largest = ids[np.argsort(-measure[ids], kind="stable")[:MAX_CURVES]]
        orders.append([int(ident) for ident in largest if measure[ident] > 0])
    chosen: list[int] = []
    while len(chosen) < MAX_CURVES and any(orders):
        for order in orders:
            while order and order[0] in chosen:
                order.pop(0)
            if order and len(chosen) < MAX_CURVES:
                chosen.append(order.pop(0))
    return sorted(chosen)


def _level(raw: dict[str, Any], kind: str, config: Config, plan: EdgePlan, parents: hierarchy_rows.Parents) -> dict[str, NDArray[Any]]:
    """Return the arrays of a level; docs/result.md describes them."""
    counts = raw["hierarchy"][kind]
    series = counts["series"]
    kept = np.asarray(series["ids"]).astype(np.int64)
    dropped = np.zeros(len(counts["congested"]), dtype=np.int64)
    for of in counts["dropped"].values():
        dropped += np.asarray(of["packets"]).astype(np.int64)
    came = np.asarray(counts["in"]["bytes"]).astype(np.int64)
    chosen = most_important(kept[came[kept] > 0], [np.asarray(counts["congested"]), dropped, came])
    columns = np.searchsorted(kept, chosen)
    interval = int(plan.job["interval_cycles"])
    end = int(raw["cycles"]) or interval
    points = -(-end // interval)
    cycles = np.diff(np.minimum(np.arange(points + 1) * interval, end))  # of each point: of the last one what the run has of it
    scale = 1e9 / config.clock_hz

    def over_time(key: str) -> NDArray[np.int64]:
        cells = np.zeros((points, len(chosen)), dtype=np.int64)
        given = np.asarray(series[key])[columns].T[:points]
        cells[: len(given)] = given
        return cells

    packets = over_time("out_packets")
    mean = np.full(packets.shape, np.nan)
    np.divide(over_time("latency") * scale, packets, out=mean, where=packets > 0)
    rates = [parents.hierarchy.settings(kind, ident).rate_bps for ident in chosen]
    return {
        f"{kind}_ids": np.array(chosen, dtype=np.int64),
        f"{kind}_names": np.array([hierarchy_rows.name(plan, kind, ident) for ident in chosen], dtype=str),
        f"{kind}_rates_bps": np.array([-1 if rate is None else rate for rate in rates], dtype=np.int64),
        f"{kind}_bytes_in": over_time("in_bytes"),
        f"{kind}_bytes_out": over_time("out_bytes"),
        f"{kind}_latency_mean_ns": mean,
        f"{kind}_drops": over_time("dropped_packets"),
        f"{kind}_marks": over_time("marked"),
        f"{kind}_congested": over_time("congested") / cycles[:, None],
        f"{kind}_cdf_ns": _cdf(raw, kind, chosen, plan, scale),
    }


def _cdf(raw: dict[str, Any], kind: str, chosen: list[int], plan: EdgePlan, scale: float) -> NDArray[np.float64]:
    """Return the latencies that the shares of their packets did not exceed: exact where all frames were kept and nothing moved."""
    found = np.full((CDF_POINTS, len(chosen)), np.nan)
    shares = cdf_shares()
    exact = hierarchy_rows.latencies(raw, kind, chosen, plan)
    histograms = raw["hierarchy"][kind]["latency"]
    for column, ident in enumerate(chosen):
        if exact is not None:
            if len(exact[ident]):
                found[:, column] = np.quantile(exact[ident], shares, method="inverted_cdf") * scale
        elif histograms is not None and ident in histograms:
            found[:, column] = not_exceeded(histograms[ident]) * scale
    return found
