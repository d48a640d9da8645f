"""From the engine's raw result to `result.json` and the data of the plots: what all designs share. docs/result.md describes every key.

Distributions are {count, min, mean, p50, p99, p99_9, max}; percentiles are values that occurred (nearest rank).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock import __version__
from penstock.designs.design import Configuration, Plan
from penstock.engine import tcp
from penstock.scenarios.common import CommonScenario
from penstock.scenarios.scenario import Document

SCHEMA = "penstock.run/1"
CLOUD_POINTS = 6000  # single packets shown in the report
CDF_POINTS = 400
MAX_CURVES = 8  # in a plot unless more are asked for: as many as there are colours


@dataclass(frozen=True)
class Curves:
    """What has a curve of its own in the report."""

    ids: Sequence[int]
    names: Sequence[str]
    rates_bps: Sequence[int | None]
    of: NDArray[np.int64] | None = None  # by queue: the id of its curve; None: queues are their own
    outputs: bool = False  # they are the device's outputs, of which the engine has a series


def measured_from(raw: dict[str, Any]) -> int:
    """Return the cycle from which times and rates are measured: the end of the warm-up, at most that of the run."""
    return min(int(raw.get("measured", {}).get("from_cycle", 0)), int(raw["cycles"]))


def measured_out(raw: dict[str, Any], what: str) -> int:
    """Return what left from then on, `packets` or `bytes`."""
    return int(raw["measured"][f"out_{what}"] if "measured" in raw else raw[what]["out"])


def measured_of(raw: dict[str, Any], what: str = "packets") -> NDArray[np.int64]:
    """Return the same of each queue; without a warm-up all that left."""
    return np.asarray(raw["queue"].get(f"measured_{what}", raw["queue"][f"out_{what}"])).astype(np.int64)


@dataclass(frozen=True)
class Departures:
    """All frames that left behind the warm-up, in order; arrays have one element a frame."""

    cycle: NDArray[np.int64]
    queue: NDArray[np.int64]
    length: NDArray[np.int64]
    latency: NDArray[np.int64]  # cycles

    @classmethod
    def of(cls, raw: dict[str, Any]) -> "Departures":
        """Take them out of the engine's result."""
        left = raw["departures"]
        arrays = (left["cycle"], left["queue"], left["length"], raw["latency_cycles"])
        return cls(*(np.asarray(array).astype(np.int64) for array in arrays))

    def only(self, chosen: NDArray[Any]) -> "Departures":
        """Return some of them, by index or mask."""
        return Departures(self.cycle[chosen], self.queue[chosen], self.length[chosen], self.latency[chosen])

    def if_all(self, frames: int) -> "Departures":
        """Return these if they are so many, else none: not of all frames may be kept, and a part does not stand for all."""
        return self if len(self.cycle) == frames else self.only(np.zeros(0, dtype=np.int64))


def rates_over_time(sizes: NDArray[Any], seconds: float, end: float, width: int = 1) -> NDArray[np.float64]:
    """Return the rate in bit/s of bytes in each interval of `seconds`: the mean over `width` intervals around it, at the ends over what
    there is. `end`: of the run, in intervals.

    A run ends within its last interval, mostly. What there is of it is seen with what was before, as of one whole interval at least: by
    itself it may be an instant with a frame in it, which says nothing of a rate.
    """
    end = end or 1
    edges = np.minimum(np.arange(len(sizes) + 1), end)
    bits = np.concatenate(([0], np.cumsum(sizes * 8.0)))
    middle = np.arange(len(sizes)) + 0.5
    until = np.minimum(middle + width / 2, end)
    since = np.maximum(np.minimum(middle - width / 2, until - 1), 0)
    return (np.interp(until, edges, bits) - np.interp(since, edges, bits)) / ((until - since) * seconds)


def distribution(values: NDArray[Any], scale: float = 1.0) -> dict[str, Any]:
    """Return the distribution of `values * scale`; without values all but `count` is None."""
    if not len(values):
        return {"count": 0, **dict.fromkeys(("min", "mean", "p50", "p99", "p99_9", "max"))}
    ranks = [-(-len(values) * per_mille // 1000) - 1 for per_mille in (500, 990, 999)]
    p50, p99, p99_9 = np.partition(values, ranks)[ranks]
    numbers = {"min": values.min(), "mean": values.mean(dtype=np.float64), "p50": p50, "p99": p99, "p99_9": p99_9, "max": values.max()}
    return {"count": len(values), **{key: round(float(value) * scale, 3) for key, value in numbers.items()}}


def mean_rate(size: int, cycles: int, clock_hz: int) -> float | None:
    """Return so many bytes in so many cycles in bit/s, None where no time has passed."""
    return round(8 * clock_hz * size / cycles, 3) if cycles > 0 else None


def binned(histogram: dict[str, Any], scale: float = 1.0) -> dict[str, Any]:
    """Return the distribution of a histogram (values ascending): percentiles to the width of its bins, the rest exact."""
    count = int(histogram["count"])
    if not count:
        return distribution(np.zeros(0))
    values, up_to = np.asarray(histogram["values"]), np.cumsum(np.asarray(histogram["frames"]))
    ranks = [-(-count * per_mille // 1000) for per_mille in (500, 990, 999)]
    p50, p99, p99_9 = values[np.searchsorted(up_to, ranks)]
    numbers = {"min": histogram["min"], "mean": histogram["sum"] / count, "p50": p50, "p99": p99, "p99_9": p99_9, "max": values[-1]}
    return {"count": count, **{key: round(float(value) * scale, 3) for key, value in numbers.items()}}


def summary(
    raw: dict[str, Any],
    scenario: CommonScenario,
    document: Document,
    config: Configuration,
    plan: Plan,
    name: str,
    own: dict[str, Any],
) -> dict[str, Any]:
    """Return what `result.json` holds: the keys of every design, and those of one (`own`)."""
    clock = config.clock_hz
    left = Departures.of(raw)
    packets, size = _totals(raw["packets"]), _totals(raw["bytes"])
    packets_lost = _lost(packets)
    bytes_lost = _lost(size) + int(raw.get("grown_bytes", 0))  # what left may be longer or shorter than what came
    wall, begun = float(raw["wall_seconds"]), measured_from(raw)
    measured_cycles = int(raw["cycles"]) - begun
    return {
        "schema": SCHEMA,
        "penstock": __version__,
        "name": name,
        "description": scenario.description,
        "engine": plan.engine,
        "design": config.design,
        "config": config.name,
        "seed": scenario.seed,
        "interrupted": bool(raw["interrupted"]),
        "cycles": int(raw["cycles"]),
        "clock_hz": clock,
        "device_seconds": int(raw["cycles"]) / clock,
        **({"measured_from_s": round(begun / clock, 12)} if begun else {}),
        "wall_seconds": round(wall, 3),
        "cycles_per_second": round(int(raw["cycles"]) / wall) if wall > 0 else None,
        "packets": packets,
        "bytes": size,
        "throughput_bps": round(8 * measured_out(raw, "bytes") * clock / measured_cycles, 3) if measured_cycles else 0.0,
        "latency_ns": _latency(raw, left, 1e9 / clock),
        **_lateness(raw, clock),
        "order_errors": int(raw["order_errors"]),
        "payload_errors": int(raw["payload_errors"]),
        "event_errors": int(raw["event_errors"]),
        "lost": int(raw["lost"]),
        **({"ingress_lost": dict(raw["ingress_lost"])} if plan.job.get("ingress_fifo_bytes") else {}),
        "counter_mismatches": int(raw["counter_mismatches"]),
        "drained": bool(raw["drained"]),
        "conservation": {
            "ok": bool(raw["conservation_ok"]) and packets_lost == 0 and bytes_lost == 0,
            "packets_missing": packets_lost,
            "bytes_missing": bytes_lost,
        },
        "findings": list(raw["findings"]),
        "notes": plan.notes,
        **tcp.own(raw, plan, clock),
        **own,
        "device": config.model_dump(mode="json"),
        "scenario": document.data,
    }


def all_kept(raw: dict[str, Any], left: Departures) -> bool:
    """Return whether each frame that left was kept by itself; else a histogram has them all."""
    return bool(len(left.latency) == measured_out(raw, "packets")) or "latency_histograms" not in raw


def _latency(raw: dict[str, Any], left: Departures, scale: float) -> dict[str, Any]:
    return distribution(left.latency, scale) if all_kept(raw, left) else binned(raw["latency_histograms"][0], scale)


def failures(result: dict[str, Any]) -> list[str]:
    """Return what went wrong inside the device or the engine, a sentence each; a good run has none."""
    found = []
    if not result["conservation"]["ok"]:
        missing = f"{result['conservation']['packets_missing']:,} packets and {result['conservation']['bytes_missing']:,} byte"
        found.append(f"Conservation is broken: in - (out + dropped + queued) is {missing}.")
    for key, words in (
        ("order_errors", "packets left their queue out of order"),
        ("payload_errors", "packets left with other bytes than they came with"),
        ("lost", "packets never came out while younger ones of their queue did"),
        ("event_errors", "events of the device fit no packet"),
        ("counter_mismatches", "counters of the device differ from what the engine saw"),
        ("early", "packets left before their earliest departure time"),
    ):
        if result.get(key):
            found.append(f"{result[key]:,} {words}.")
    return found + [f"First findings: {'; '.join(result['findings'][:3])}."] if result["findings"] else found


def _lateness(raw: dict[str, Any], clock: int) -> dict[str, Any]:
    """Return the keys of a run that measured lateness, none of another."""
    if "lateness" not in raw:
        return {}
    values, frames = (np.asarray(raw["lateness"][key], dtype=np.int64) for key in ("cycles", "frames"))
    least = values[0] if len(values) else 0
    histogram = {"values": values, "frames": frames, "count": frames.sum(), "min": least, "sum": (values * frames).sum()}
    return {
        "early": int(raw["early"]),
        "lateness_ns": binned(histogram, 1e9 / clock),
        "lateness_cycles": binned(histogram),
        "late_and_queued": int(raw["lateness"]["left"]),
    }


def _totals(raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "in": int(raw["in"]),
        "out": int(raw["out"]),
        "queued": int(raw["queued"]),
        "dropped": {reason: int(count) for reason, count in raw["dropped"].items() if count},
    }


def _lost(totals: dict[str, Any]) -> int:
    return int(totals["in"] - totals["out"] - totals["queued"] - sum(totals["dropped"].values()))


def plot_data(raw: dict[str, Any], config: Configuration, plan: Plan, curves: Curves) -> dict[str, NDArray[Any]]:
    """Return the arrays of `series.npz`; docs/result.md describes them."""
    left = Departures.of(raw)
    if curves.of is not None:
        left = replace(left, queue=curves.of[left.queue])
    scale = 1e9 / config.clock_hz
    interval = int(plan.job["interval_cycles"])
    points = max(1, -(-int(raw["cycles"]) // interval))
    ids = curves.ids
    bytes_out = np.zeros((points, len(ids)), dtype=np.int64)
    mean = np.full((points, len(ids)), np.nan)
    highest = np.full((points, len(ids)), np.nan)
    waiting = np.full((points, len(ids)), np.nan)
    cdf = np.full((CDF_POINTS, len(ids) + 1), np.nan)
    shares = cdf_shares()
    everything = all_kept(raw, left)
    series = _Series.of(raw, curves)
    if not everything:
        cdf[:, -1] = not_exceeded(raw["latency_histograms"][0]) * scale
    elif len(left.latency):
        cdf[:, -1] = np.quantile(left.latency, shares, method="inverted_cdf") * scale
    clouds = []
    frames = np.zeros(len(ids), dtype=np.int64)
    for column, queue in enumerate(ids):
        own = left.only(left.queue == queue)
        frames[column] = len(own.cycle)
        known = None if everything else series.column(queue, points)
        if known is not None:
            bytes_out[:, column], mean[:, column], highest[:, column] = known[0], known[1] * scale, known[2] * scale
            frames[column] = series.frames(queue)
        if not len(own.cycle):
            continue
        clouds.append(_cloud(own, column, max(50, CLOUD_POINTS // len(ids)), scale))
        if len(own.cycle) < frames[column]:
            continue
        waiting[:, column] = in_device(own, interval, int(raw["cycles"]), points)
        cdf[:, column] = np.quantile(own.latency, shares, method="inverted_cdf") * scale
        if known is not None:
            continue
        slot = np.minimum(own.cycle // interval, points - 1)
        bytes_out[:, column] = np.bincount(slot, weights=own.length, minlength=points).astype(np.int64)
        count = np.bincount(slot, minlength=points)
        some = count > 0
        mean[some, column] = np.bincount(slot, weights=own.latency, minlength=points)[some] / count[some] * scale
        peaks = np.zeros(points)
        np.maximum.at(peaks, slot, own.latency * scale)
        highest[some, column] = peaks[some]
    cloud = np.concatenate(clouds) if clouds else np.zeros((0, 3))
    reasons, drops = _drops(raw, points)
    of_curves = _events_of_curves(raw, points, interval, curves, len(ids)) if _events_kept(raw, plan) else {}
    return {
        "interval_ns": np.array(interval * scale),
        "from_interval": np.array(measured_from(raw) // interval, dtype=np.int64),
        "queues": np.array(ids, dtype=np.int64),
        "names": np.array(curves.names, dtype=str),
        "rates_bps": np.array([_or_minus(rate) for rate in curves.rates_bps], dtype=np.int64),
        "bytes_out": bytes_out,
        "latency_mean_ns": mean,
        "latency_max_ns": highest,
        "queue_packets": waiting,
        "cdf_share": shares,
        "cdf_ns": cdf,
        "cloud": cloud,
        "frames": frames,
        "drop_reasons": np.array(reasons, dtype=str),
        "drops": drops,
        **of_curves,
        **_late(raw, scale),
        **tcp.series(raw, plan, config.clock_hz),
    }


def in_device(left: Departures, interval: int, cycles: int, points: int) -> NDArray[np.float64]:
    """Return how many of the frames that left were in the device, the mean of each interval: from their last bit in to their first out."""
    edges = np.minimum(np.arange(points + 1, dtype=np.int64) * interval, cycles)

    def since(times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of the cycles that have passed since each of these times, at each edge."""
        ordered = np.sort(times)
        sums = np.concatenate(([0], np.cumsum(ordered)))
        count = np.searchsorted(ordered, edges, side="right")
        return count * edges - sums[count]

    held = np.diff(since(left.cycle - left.latency) - since(left.cycle))
    width = np.diff(edges)
    return np.divide(held, width, out=np.full(points, np.nan), where=width > 0)


@dataclass(frozen=True)
class _Series:
    """The engine's series of queues or outputs: of all their frames, also where not all are kept one by one."""

    of_id: dict[int, int]  # columns
    bytes: NDArray[np.int64]  # all [interval][column]
    packets: NDArray[np.int64]
    latency_mean: NDArray[np.float64]
    latency_max: NDArray[np.float64]

    @classmethod
    def of(cls, raw: dict[str, Any], curves: Curves) -> "_Series":
        found = raw.get("series", {})
        ids = np.asarray(found.get("queues", ())).tolist() if curves.of is None else []
        if curves.outputs:
            found = found.get("outputs", {})
            ids = range(np.asarray(found["bytes"]).shape[1]) if found else []
        size, packets, mean, most = (
            np.asarray(found.get(key, np.zeros((0, len(ids))))) for key in ("bytes", "packets", "latency_mean", "latency_max")
        )
        return cls(
            dict(zip(ids, range(len(ids)), strict=True)),
            size.astype(np.int64),
            packets.astype(np.int64),
            mean.astype(np.float64),
            most.astype(np.float64),
        )

    def column(self, ident: int, points: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]] | None:
        """Return bytes, mean and highest latency in cycles (NaN where no frame left) over time; None of what has no series."""
        column = self.of_id.get(ident)
        if column is None:
            return None
        size = np.zeros(points, dtype=np.int64)
        latencies = np.full((2, points), np.nan)
        some = np.flatnonzero(self.packets[:points, column])
        size[some] = self.bytes[some, column]
        latencies[:, some] = self.latency_mean[some, column], self.latency_max[some, column]
        return size, latencies[0], latencies[1]

    def frames(self, ident: int) -> int:
        return int(self.packets[:, self.of_id[ident]].sum())


def _events_kept(raw: dict[str, Any], plan: Plan) -> bool:
    """Return whether drops and marks were kept one by one to the end."""
    events = [*raw.get("drop_events", {}).values(), raw.get("mark_events", {"cycle": ()})]
    return sum(len(event["cycle"]) for event in events) < plan.job.get("keep_most", float("inf"))


def _events_of_curves(raw: dict[str, Any], points: int, interval: int, curves: Curves, count: int) -> dict[str, NDArray[np.int64]]:
    """Return packets dropped and marked in each interval by whose they were; the last column: of what has no curve."""
    if "drop_events" not in raw:
        return {}
    largest = max((int(of) for of in curves.ids), default=0)
    column = np.full(largest + 1, count, dtype=np.int64)
    column[np.asarray(curves.ids, dtype=np.int64)] = np.arange(count)

    def cells(events: Iterable[dict[str, Any]], total: NDArray[np.int64]) -> NDArray[np.int64]:
        found = np.zeros((points, count + 1), dtype=np.int64)
        for event in events:
            whose = np.asarray(event["queue"]).astype(np.int64)
            whose = whose if curves.of is None else curves.of[whose]
            slot = np.minimum(np.asarray(event["cycle"]).astype(np.int64) // interval, points - 1)
            np.add.at(found, (slot, np.where(whose <= largest, column[np.minimum(whose, largest)], count)), 1)
        found[:, count] = np.maximum(0, total - found[:, :count].sum(axis=1))  # events of queues without a curve need not be kept
        return found

    series = raw.get("series", {})
    result = {"drops_of": cells(raw["drop_events"].values(), _drops(raw, points)[1].sum(axis=1))}
    if "mark_events" in raw and int(raw["marked_packets"]):
        marked = np.zeros(points, dtype=np.int64)
        given = np.asarray(series.get("marked", []), dtype=np.int64)[:points]
        marked[: len(given)] = given
        result["marks_of"] = cells([raw["mark_events"]], marked)
    return result


def _late(raw: dict[str, Any], scale: float) -> dict[str, NDArray[Any]]:
    """Return how late how large a share of the frames was at most, where lateness was measured."""
    if "lateness" not in raw or not len(raw["lateness"]["cycles"]):
        return {}
    up_to = np.cumsum(raw["lateness"]["frames"])
    return {"late_ns": np.asarray(raw["lateness"]["cycles"]) * scale, "late_share": up_to / up_to[-1]}


def _or_minus(rate: int | None) -> int:
    return -1 if rate is None else rate


def cdf_shares() -> NDArray[np.float64]:
    """Shares 0..1, half of the points in the upper hundredth, where the tail is."""
    return np.concatenate([np.linspace(0, 0.99, CDF_POINTS // 2, endpoint=False), 1 - np.logspace(-2, -6, CDF_POINTS // 2)])


def not_exceeded(histogram: dict[str, Any]) -> NDArray[np.float64]:
    """Return the values of a histogram (ascending) that `cdf_shares` did not exceed, to the width of its bins; nan of none."""
    up_to = np.cumsum(histogram["frames"])
    if not len(up_to):
        return np.full(CDF_POINTS, np.nan)
    ranks = np.maximum(1, np.ceil(cdf_shares() * up_to[-1]).astype(np.int64))
    return np.asarray(histogram["values"])[np.searchsorted(up_to, ranks)].astype(np.float64)


def _cloud(own: Departures, column: int, most: int, scale: float) -> NDArray[np.float64]:
    """Return rows (time in ns, latency in ns, column) of evenly chosen frames and of the slowest one."""
    chosen = np.unique(np.append(np.linspace(0, len(own.cycle) - 1, min(most, len(own.cycle))).astype(np.int64), np.argmax(own.latency)))
    return np.stack([own.cycle[chosen] * scale, own.latency[chosen] * scale, np.full(len(chosen), float(column))], axis=1)


def _drops(raw: dict[str, Any], points: int) -> tuple[list[str], NDArray[np.int64]]:
    """Return the reasons that occurred and their counts, [point][reason]."""
    series = raw.get("series", {}).get("drops", {})
    reasons = [reason for reason, count in raw["packets"]["dropped"].items() if count]
    drops = np.zeros((points, len(reasons)), dtype=np.int64)
    for column, reason in enumerate(reasons):
        counts = np.asarray(series.get(reason, []), dtype=np.int64)[:points]
        drops[: len(counts), column] = counts
    return reasons, drops
