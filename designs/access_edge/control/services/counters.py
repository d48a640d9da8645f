"""Counters: sums, changes as a stream, the largest."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
import numpy as np
from google.protobuf.json_format import ParseDict
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.access import Limits, Places, caller
from penstock.designs.access_edge.control.history import INTERVAL_SECONDS
from penstock.designs.access_edge.control.memory import Memory
from penstock.designs.access_edge.control.plant import MAX_NAME, Plant
from penstock.designs.access_edge.control.problems import invalid, missing
from penstock.designs.access_edge.control.services import calls, streams
from penstock.designs.access_edge.control.sweep import COLUMNS, DROP_B, DROP_P, IN_B, IN_P, MARK_P, OUT_B, OUT_P, Sweep
from penstock.v1 import counters_pb2 as pb
from penstock.v1 import counters_pb2_grpc

LEAST_MS, MOST_MS, USUAL_MS = 100, 60_000, 1_000
QUEUES_A_MESSAGE = 1_000
MAX_TOP, USUAL_TOP = 1_000, 20


@calls
class Counters(counters_pb2_grpc.CountersServicer):
    """The service."""

    def __init__(self, plant: Plant, sweep: Sweep, limits: Limits) -> None:
        self._plant, self._sweep = plant, sweep
        self._watchers = Places(limits.watchers, limits.watchers_of_one, "calls that watch counters")

    def Totals(self, request: Any, context: grpc.ServicerContext) -> pb.TotalsResponse:
        """Return the sums of the last sweep."""
        sweep = self._sweep
        totals = {level: [_total(level, index, sums, self._plant) for index, sums in enumerate(sweep.sums(level))] for level in
                  ("device", "node", "port", "class")}  # fmt: skip
        used = self._plant.facts.hierarchy.classes if self._plant.facts.hierarchy else registers.MAX_CLASS + 1
        return pb.TotalsResponse(
            device=totals["device"][0],
            nodes=totals["node"],
            ports=totals["port"],
            classes=totals["class"][:used],
            reasons=_reasons(sweep.reasons, rates=sweep.reason_rates),
            age_ns=sweep.age_ns(),
            headers=_headers(sweep),
            memory=_memory(sweep.packet_memory()),
        )

    def Top(self, request: Any, context: grpc.ServicerContext) -> pb.TopResponse:
        """Return the queues with the largest rates, backlogs or drops."""
        count = request.count or USUAL_TOP
        if count > MAX_TOP:
            raise invalid(f"must be at most {MAX_TOP:,}, not {count:,}", "count")
        sweep, each = self._sweep, self._plant.facts.queues_per_subscriber
        by = {pb.TOP_BY_BACKLOG: sweep.queued[:, 1], pb.TOP_BY_DROPS: sweep.drops}.get(request.by, sweep.rates)
        queues = sweep.owned()
        if request.HasField("node"):
            queues = queues[self._plant.node_of[queues // each] == request.node]
        order = queues[np.argsort(-by[queues].astype(np.float64), kind="stable")[:count]]
        order = order[by[order] > 0]
        entries = [
            pb.TopResponse.Entry(
                counters=counters, subscriber=self._plant.name_of.get(counters.queue // each, ""), position=counters.queue % each
            )
            for counters in queue_counters(sweep, order)
        ]
        return pb.TopResponse(queues=entries)

    def History(self, request: Any, context: grpc.ServicerContext) -> pb.HistoryResponse:
        """Return the last day of a subscriber."""
        place = self._plant.find(request.subscriber[:MAX_NAME], "subscriber")
        with self._sweep.done:
            found = self._sweep.history.of(place)
        return pb.HistoryResponse(interval_seconds=INTERVAL_SECONDS, points=[pb.HistoryResponse.Point(**vars(point)) for point in found])

    @streams
    def Watch(self, request: Any, context: grpc.ServicerContext) -> Iterator[pb.WatchResponse]:
        """Yield what there is, then what has changed."""
        period = request.period_ms or USUAL_MS
        if not LEAST_MS <= period <= MOST_MS:
            raise invalid(f"must be {LEAST_MS} to {MOST_MS:,} ms, not {period:,}", "period_ms")
        if request.reason and request.reason not in registers.contract()["reasons"]:
            raise invalid(f"is {request.reason[:40]!r}; the device has {', '.join(registers.contract()['reasons'])}", "reason")
        self._chosen(request)
        with self._watchers.one(caller(context).key):
            yield from self._changes(request, context, period / 1e3)

    def _changes(self, request: Any, context: grpc.ServicerContext, period: float) -> Iterator[pb.WatchResponse]:
        sweep = self._sweep
        seen: NDArray[np.uint64] = np.zeros((len(sweep.counts), 0), dtype=np.uint64)
        first, told = True, -1
        while context.is_active():
            begin = time.monotonic()
            with sweep.done:
                if sweep.number == told:
                    sweep.done.wait(timeout=1.0)
                told = sweep.number
            queues = self._chosen(request)
            shown = _shown(sweep, queues)
            if first:
                seen = np.zeros((len(sweep.counts), shown.shape[1]), dtype=np.uint64)
            different = (shown != seen[queues]).any(axis=1) | first
            new = queues[different]
            seen[new] = shown[different]
            reasons = _reasons(sweep.reasons, request.reason)
            for at in range(0, max(1, len(new)), QUEUES_A_MESSAGE):
                part = new[at : at + QUEUES_A_MESSAGE]
                last = at + QUEUES_A_MESSAGE >= len(new)
                yield pb.WatchResponse(
                    snapshot=first, last_of_snapshot=first and last, queues=queue_counters(sweep, part), reasons=reasons if last else []
                )
            first = False
            # In short steps: a client that has gone is let go soon.
            while context.is_active() and (left := begin + period - time.monotonic()) > 0:
                time.sleep(min(left, 0.2))

    def _chosen(self, request: Any) -> NDArray[np.int64]:
        plant, each = self._plant, self._plant.facts.queues_per_subscriber
        if request.subscriber:
            index = plant.index_of.get(request.subscriber)
            if index is None:
                raise missing(f"there is no subscriber {request.subscriber[:MAX_NAME]!r}", "subscriber")
            return np.arange(index * each, (index + 1) * each)
        queues = self._sweep.owned()
        if request.HasField("node"):
            if plant.facts.hierarchy is None or request.node >= plant.facts.hierarchy.nodes:
                raise invalid(f"the device has no node {request.node:,}", "node")
            return queues[plant.node_of[queues // each] == request.node]
        return queues[:0] if request.reason else queues


def _shown(sweep: Sweep, queues: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return what makes the counters of a queue others than they were: while nothing comes or leaves the rate falls to 0, and the first
    packet waits longer. What is queued follows from the counts."""
    figures = (sweep.rates[queues], sweep.sojourn[queues])
    return np.column_stack([sweep.counts[queues], *(figure.astype(np.uint64) for figure in figures)])


def queue_counters(sweep: Sweep, queues: Sequence[int] | NDArray[np.int64]) -> list[pb.QueueCounters]:
    """Return the counters of some queues, as of the last look at each."""
    ids = np.asarray(queues, dtype=np.int64)
    now = time.monotonic()
    ages = np.where(sweep.at[ids] > 0, (now - sweep.at[ids]) * 1e9, 0)
    # A device that keeps no time stamps has no such time: absent, which is not 0.
    heads: list[int | None] = sweep.sojourn[ids].tolist() if sweep.tells_sojourn else [None] * len(ids)
    columns = (sweep.counts, sweep.queued, sweep.rates)
    rows = zip(ids.tolist(), *(column[ids].tolist() for column in columns), ages.tolist(), heads, strict=True)
    return [
        pb.QueueCounters(
            queue=queue, **dict(zip(COLUMNS, counts, strict=True)), queued_packets=max(0, packets), queued_bytes=max(0, size),
            rate_bps=int(rate), age_ns=int(age), head_sojourn_ns=head,
        )
        for queue, counts, (packets, size), rate, age, head in rows
    ]  # fmt: skip


def _headers(sweep: Sweep) -> pb.HeaderCounters | None:
    with sweep.done:
        if (found := sweep.headers) is None:
            return None
        return ParseDict(found.as_dict(), pb.HeaderCounters())


def _total(level: str, index: int, sums: Any, plant: Plant) -> pb.Total:
    counts = sums.counts
    known: Any = plant.nodes.get(index) if level == "node" else plant.ports.get(index) if level == "port" else None
    return pb.Total(
        name=(known.name if known else "") or (level if level == "device" else f"{level} {index}"),
        index=index,
        in_packets=counts[IN_P],
        in_bytes=counts[IN_B],
        out_packets=counts[OUT_P],
        out_bytes=counts[OUT_B],
        dropped_packets=counts[DROP_P],
        dropped_bytes=counts[DROP_B],
        marked_packets=counts[MARK_P],
        queued_packets=max(0, sums.queued_packets),
        queued_bytes=max(0, sums.queued_bytes),
        rate_bps=sums.rate_bps,
        limit_bps=_limit(plant, level, index),
    )


def _limit(plant: Plant, level: str, index: int) -> int | None:
    limits = plant.limits_of.get(level)
    return None if limits is None or np.isinf(limits[index]) else round(float(limits[index]))


def _memory(found: Memory) -> pb.Memory:
    classes = [
        pb.Memory.Class(index=number, used_pages=each.used, reserved_pages=each.reserved, limit_packets=each.limits)
        for number, each in enumerate(found.classes)
    ]
    return pb.Memory(pages=found.pages, used_pages=found.used, limit_packets=found.limits, classes=classes, warning=found.warning)


def _reasons(found: dict[str, tuple[int, int]], only: str = "", rates: dict[str, float] | None = None) -> list[pb.Reason]:
    return [
        pb.Reason(reason=name, packets=packets, bytes=size, packets_per_second=(rates or {}).get(name))
        for name, (packets, size) in found.items()
        if not only or name == only
    ]
