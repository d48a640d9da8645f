"""Counters as Prometheus reads them: device, ports, nodes, classes and drop reasons always, queues on demand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.found import Found
from penstock.designs.access_edge.control.memory import Memory
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.problems import invalid
from penstock.designs.access_edge.control.services.counters import queue_counters
from penstock.designs.access_edge.control.sweep import COLUMNS, LEVELS, Sums, Sweep

MAX_QUEUES = 10_000  # of one answer
_COUNTERS = {
    "in": "that came and were taken in",
    "out": "that left",
    "dropped": "that were dropped",
    "marked": "that were marked (ECN)",
}
_GAUGES = {
    "queued_packets": "Packets that are queued",
    "queued_bytes": "Bytes that are queued",
    "rate_bits_per_second": "Rate of what left between the last two looks, in bit/s",
}
Row = tuple[Sequence[str], dict[str, int]]  # values of the labels; values by name


def values_of(sums: Sums) -> dict[str, int]:
    """Return the figures of a sum by name."""
    found = dict(zip(COLUMNS, sums.counts, strict=True))
    found |= {"queued_packets": max(0, sums.queued_packets), "queued_bytes": max(0, sums.queued_bytes), "rate_bps": sums.rate_bps}
    return found


def is_up(sweep: Sweep) -> bool:
    """Return whether the last sweep has read the device."""
    return bool(sweep.finished_at) and not sweep.error


def has_traffic(values: dict[str, int]) -> bool:
    """Return whether something has ever come here."""
    return bool(values["in_packets"] or values["dropped_packets"] or values["queued_packets"])


def levels(plant: Plant, sweep: Sweep) -> dict[str, list[tuple[int, dict[str, int]]]]:
    """Return what is shown of each level, by index: all ports and classes that the device has, and the nodes that have had traffic."""
    hierarchy = plant.facts.hierarchy
    classes = hierarchy.classes if hierarchy else registers.MAX_CLASS + 1
    with sweep.done:
        found = {level: [(index, values_of(sums)) for index, sums in enumerate(sweep.sums(level))] for level in LEVELS}
    found["class"] = found["class"][:classes]
    found["node"] = [(index, values) for index, values in found["node"] if has_traffic(values)]
    return found


def name_of(plant: Plant, level: str, index: int) -> str:
    """Return what people call a node or port; empty where it has no name."""
    parents: Mapping[str, Mapping[int, Any]] = {"node": plant.nodes, "port": plant.ports}
    known = parents.get(level, {}).get(index)
    return known.name if known else ""


def limit_of(plant: Plant, level: str, index: int) -> float | None:
    """Return the rate in bit/s that a node or port has at most; None: it has no limit."""
    limits = plant.limits_of.get(level)
    return None if limits is None or np.isinf(limits[index]) else float(limits[index])


def exposition(plant: Plant, sweep: Sweep) -> bytes:
    """Return all but the queues, in the text format."""
    return _text(_always(plant, sweep))


def exposition_of_queues(plant: Plant, sweep: Sweep, queues: NDArray[np.int64]) -> bytes:
    """Return the metrics of some queues that have a subscriber. Raises Problem for too many."""
    if len(queues) > MAX_QUEUES:
        raise invalid(f"these are {len(queues):,} queues, and one answer has at most {MAX_QUEUES:,}")
    return _text(_queues(plant, sweep, queues))


class _Of(Collector):
    """A collector of metrics that are there already."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _text(metrics: Iterable[Metric]) -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Of(metrics))
    return generate_latest(registry)


def _always(plant: Plant, sweep: Sweep) -> Iterator[Metric]:
    yield GaugeMetricFamily("penstock_up", "1 while the device answers, 0 while the figures are old ones", value=is_up(sweep))
    if (age := sweep.age_ns()) is not None:
        yield GaugeMetricFamily("penstock_figures_age_seconds", "Age of the last whole sweep of counters", value=age / 1e9)
    yield CounterMetricFamily("penstock_sweeps", "Whole sweeps of counters since the server's start", value=sweep.whole)
    yield GaugeMetricFamily("penstock_subscribers", "Subscribers that the device has", value=len(plant.index_of))
    yield GaugeMetricFamily("penstock_subscribers_max", "Subscribers that the device has room for", value=plant.facts.subscribers)
    for level, found in levels(plant, sweep).items():
        if level == "device":
            yield from _families(level, [], [((), values) for _, values in found])
        elif level == "class":
            yield from _families(level, ["class"], [([str(index)], values) for index, values in found])
        else:
            yield from _families(level, [level, "name"], [([str(index), name_of(plant, level, index)], values) for index, values in found])
            words = f"Rate that a {level} has at most; absent: it has no limit"
            limits = GaugeMetricFamily(f"penstock_{level}_limit_bits_per_second", words, labels=[level, "name"])
            for index, _ in found:
                if (limit := limit_of(plant, level, index)) is not None:
                    limits.add_metric([str(index), name_of(plant, level, index)], limit)
            yield limits
    yield from _memory(sweep.packet_memory())
    reasons = sorted(sweep.reasons.items())
    for which, unit in enumerate(("packets", "bytes")):
        family = CounterMetricFamily(
            f"penstock_reason_dropped_{unit}", f"{unit.capitalize()} that were dropped, by reason", labels=["reason"]
        )
        for reason, counts in reasons:
            family.add_metric([reason], counts[which])
        yield family
    if sweep.headers:
        yield from _headers(sweep.headers)


def _memory(found: Memory) -> Iterator[Metric]:
    yield GaugeMetricFamily("penstock_memory_pages", "Pages of the packet memory, one for each packet", value=found.pages)
    yield GaugeMetricFamily("penstock_memory_used_pages", "Pages that packets have", value=found.used)
    yield GaugeMetricFamily("penstock_memory_limit_packets", "Packets that the limits of all queues add up to", value=found.limits)
    used = GaugeMetricFamily("penstock_memory_class_used_pages", "Pages that packets of the class have", labels=["class"])
    reserved = GaugeMetricFamily("penstock_memory_class_reserved_pages", "Pages that are reserved for the class", labels=["class"])
    for cls, each in enumerate(found.classes):
        used.add_metric([str(cls)], each.used)
        reserved.add_metric([str(cls)], each.reserved)
    if found.classes:
        yield used
        yield reserved


def _headers(found: Found) -> Iterator[Metric]:
    hits = CounterMetricFamily("penstock_headers_hits", "Frames whose subscriber was found in headers, by kind of match", labels=["match"])
    misses = CounterMetricFamily(
        "penstock_headers_misses", "Frames with such headers and of no subscriber, by kind of match", labels=["match"]
    )
    for kind, hit, missed in found.profiles():
        hits.add_metric([kind], hit)
        misses.add_metric([kind], missed)
    yield hits
    yield misses
    yield CounterMetricFamily("penstock_headers_without_profile", "Frames with none of the headers looked for", value=found.without_profile)
    endings = CounterMetricFamily("penstock_headers_ended", "Frames by why reading of their headers ended", labels=["ending", "malformed"])
    for name, frames, malformed in found.ended():
        endings.add_metric([name, str(malformed).lower()], frames)
    yield endings
    yield GaugeMetricFamily("penstock_headers_keys", "Matches of subscribers that the device has", value=found.keys)


def _queues(plant: Plant, sweep: Sweep, queues: NDArray[np.int64]) -> Iterator[Metric]:
    each, rows, ages, heads = plant.facts.queues_per_subscriber, [], [], []
    with sweep.done:
        found = queue_counters(sweep, queues)
    for queue in found:
        values = {name: getattr(queue, name) for name in (*COLUMNS, "queued_packets", "queued_bytes", "rate_bps")}
        labels = [plant.name_of.get(queue.queue // each, ""), str(queue.queue % each), str(queue.queue)]
        rows.append((labels, values))
        ages.append(queue.age_ns / 1e9)
        heads.append(queue.head_sojourn_ns / 1e9)
    names = ["subscriber", "position", "queue"]
    yield from _families("queue", names, rows)
    age = GaugeMetricFamily("penstock_queue_figures_age_seconds", "Age of the last look at the queue", labels=names)
    head = GaugeMetricFamily("penstock_queue_head_sojourn_seconds", "Sojourn time of the first packet, 0 without one", labels=names)
    for (labels, _), seconds, waits in zip(rows, ages, heads, strict=True):
        age.add_metric(labels, seconds)
        head.add_metric(labels, waits)
    yield age
    if plant.facts.sojourn:
        yield head


def _families(level: str, labels: Sequence[str], rows: Sequence[Row]) -> Iterator[Metric]:
    """Yield the metrics of a level."""
    for kind, words in _COUNTERS.items():
        for unit in ("packets", "bytes"):
            column = f"{kind}_{unit}"
            if column not in COLUMNS:
                continue
            counter = CounterMetricFamily(f"penstock_{level}_{column}", f"{unit.capitalize()} {words}, by {level}", labels=labels)
            for values, figures in rows:
                counter.add_metric(values, figures[column])
            yield counter
    for name, words in _GAUGES.items():
        gauge = GaugeMetricFamily(f"penstock_{level}_{name}", f"{words}, by {level}", labels=labels)
        for values, figures in rows:
            gauge.add_metric(values, figures["rate_bps" if name.startswith("rate") else name])
        yield gauge
