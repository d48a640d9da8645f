"""Remarks on scenarios that do not do what they seem to: limits that are none or that cost a share, marks that nothing can carry,
guarantees beyond a rate."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.basics.units import format_rate

if TYPE_CHECKING:
    from penstock.designs.access_edge.config import Config
    from penstock.designs.access_edge.job import EdgePlan
    from penstock.designs.access_edge.scenario import Scenario

NAMED = 3  # queues that a remark names
TURN_BYTES = 2048  # of weight 1, in a round of subscribers (blocks/hierarchy/README.md, "Fair order")
PATIENCE_CYCLES = 64  # that a round waits for a packet of a subscriber that may send
ROUNDS, SETTLED_ROUNDS = 12, 4  # that are gone through, and the first that count for nothing
LESS = 0.98  # of its share: who gets less loses by its limits
MOST_PARENTS = 8  # that are looked at: those whose limits are smallest beside a turn


def notes(plan: "EdgePlan", scenario: "Scenario", config: "Config") -> list[str]:
    """Return the remarks, a sentence or two each."""
    return _memory(plan, config) + _marks(plan, scenario, config) + _guarantees(plan, config) + _turns(plan, config)


def _guarantees(plan: "EdgePlan", config: "Config") -> list[str]:
    """Return a remark for each level at which more is guaranteed than parents may carry when the run begins; it names one of them."""
    if plan.parents is None or not (config.hierarchy and config.hierarchy.guarantees):
        return []
    per, hierarchy, places = config.hierarchy.queues_per_subscriber, plan.parents.hierarchy, plan.parents.places
    sums: dict[str, dict[int, int]] = {"subscribers": {}, "nodes": {}, "ports": {}}
    for subscriber in range(config.queues // per):
        queues = sum(plan.settings.settings(queue).guarantee_bps for queue in range(subscriber * per, (subscriber + 1) * per))
        node = int(places["node_of"][subscriber])
        own = hierarchy.settings("subscribers", subscriber).guarantee_bps
        for kind, ident, amount in (
            ("subscribers", subscriber, queues),
            ("nodes", node, own),
            ("ports", int(places["port_of"][node]), own),
        ):
            sums[kind][ident] = sums[kind].get(ident, 0) + amount
    found = []
    for kind, children in (("subscribers", "queues"), ("nodes", "subscribers"), ("ports", "subscribers")):
        rates = {ident: hierarchy.settings(kind, ident).rate_bps for ident, amount in sums[kind].items() if amount}
        over = [ident for ident, rate in rates.items() if rate and sums[kind][ident] > rate]
        if over:
            more = f", and so for {len(over) - 1:,} other {kind}" if len(over) > 1 else ""
            found.append(
                f"The {children} below {kind[:-1]} {over[0]} are guaranteed {format_rate(sums[kind][over[0]])} together, but it carries "
                f"{format_rate(rates[over[0]] or 0)}{more}: they take turns then, packet by packet, and nothing is left for others."
            )
    return found


@dataclass
class _Wants:
    """What generated traffic wants of a subscriber in one class."""

    bps: float = 0.0
    holds: float = 0.0  # bytes that its queues may hold
    size: float = 0.0  # of a packet, the smallest mean


@dataclass(frozen=True)
class Short:
    """A subscriber whose queues hold so much less than its turn that it does not get its share."""

    subscriber: int
    parent: str
    weight: int
    traffic_class: int
    holds: float  # bytes
    packets: int  # that its turn is
    share_bps: float  # what it would get
    gets_bps: float  # what it gets about


def shorts(plan: "EdgePlan", config: "Config") -> list[Short]:
    """Return subscribers that get less than their share of a congested node or port as their queues hold less than their turn."""
    if plan.parents is None or config.hierarchy is None:
        return []
    wants: dict[int, dict[int, _Wants]] = {}  # by class and subscriber
    for queue, (bps, _, size) in _offered(plan, config).items():
        settings, subscriber = plan.settings.settings(queue), queue // config.hierarchy.queues_per_subscriber
        one = wants.setdefault(settings.traffic_class, {}).setdefault(subscriber, _Wants(size=size))
        one.bps += bps if settings.rate_bps is None else min(bps, settings.rate_bps)
        one.holds += min(settings.limit_packets * size, settings.limit_bytes)
        one.size = min(one.size, size)
    found = []
    for kind in ("nodes", "ports"):
        found += _below(plan, config, kind, wants)
    return list({one.subscriber: one for one in reversed(found)}.values())


def _below(plan: "EdgePlan", config: "Config", kind: str, wants: Mapping[int, Mapping[int, _Wants]]) -> list[Short]:
    """Return those below nodes, or below ports, of the congested parents that matter most."""
    assert plan.parents is not None
    hierarchy, above = plan.parents.hierarchy, Above(plan, kind)
    left: dict[int, float] = {}  # of a parent's rate, by classes that go before
    asked = []
    for cls in sorted(wants):
        below: dict[int, dict[int, float]] = {}
        for subscriber, one in wants[cls].items():
            own = hierarchy.settings("subscribers", subscriber).rate_bps
            below.setdefault(above.of(subscriber), {})[subscriber] = one.bps if own is None else min(one.bps, own)
        for parent, demands in below.items():
            rate = left.get(parent, float(hierarchy.settings(kind, parent).rate_bps or 0))
            left[parent] = max(0.0, rate - sum(demands.values()))
            settings = {subscriber: hierarchy.settings("subscribers", subscriber) for subscriber in demands}
            least = min(wants[cls][one].holds / (settings[one].weight * TURN_BYTES) for one in demands)
            if least < 1 and len(demands) > 1 and 0 < rate < sum(demands.values()) and not any(s.guarantee_bps for s in settings.values()):
                asked.append((least, cls, parent, demands, rate))
    found = []
    for _, cls, parent, demands, rate in sorted(asked, key=lambda one: one[:3])[:MOST_PARENTS]:
        weights = {one: hierarchy.settings("subscribers", one).weight for one in demands}
        shares, of = fair(demands, weights, rate), [(one, weights[one], wants[cls][one]) for one in demands]
        gets = turns([(demands[one], weight, own.size, own.holds) for one, weight, own in of], rate, config.clock_hz)
        for (subscriber, weight, its), bps in zip(of, gets, strict=True):
            share = shares[subscriber]
            if its.holds < weight * TURN_BYTES and bps < LESS * share:
                found.append(
                    Short(subscriber, f"{kind[:-1]} {parent}", weight, cls, its.holds, ceil(weight * TURN_BYTES / its.size), share, bps)
                )
    return found


class Above:
    """The node or the port of a subscriber when the run begins."""

    def __init__(self, plan: "EdgePlan", kind: str) -> None:
        assert plan.parents is not None
        self._places, self._kind = plan.parents.places, kind

    def of(self, subscriber: int) -> int:
        """Return its number."""
        node = int(self._places["node_of"][subscriber])
        return node if self._kind == "nodes" else int(self._places["port_of"][node])


def fair(demands: Mapping[int, float], weights: Mapping[int, int], rate: float) -> dict[int, float]:
    """Return what each gets of a rate by weight, where none gets more than it wants and what it leaves is for the others."""
    found, hungry = {}, dict(demands)
    while sated := [one for one in hungry if hungry[one] * sum(weights[other] for other in hungry) <= rate * weights[one]]:
        for one in sated:
            found[one] = hungry.pop(one)
        rate -= sum(found[one] for one in sated)
    return found | {one: rate * weights[one] / sum(weights[other] for other in hungry) for one in hungry}


def turns(wants: list[tuple[float, int, float, float]], rate: float, clock_hz: int) -> list[float]:
    """Return what subscribers get of a congested parent, in bit/s; of each is known: bit/s that come, weight, bytes of a packet, and how
    many bytes its queues hold.

    This is the order of blocks/hierarchy/README.md ("Fair order") where packets come evenly: in a round everyone gets weight * 2,048 byte
    of credit, and keeps four times as much less a byte; those with credit and a packet send one in turn. A round ends when there are none,
    nor any whose next packet comes within 64 cycles.
    """
    come, weight, size, holds = (np.array(column, dtype=np.float64) for column in zip(*wants, strict=True))
    quantum, come = weight * TURN_BYTES, come / 8
    holds = np.maximum(holds, size)
    credit, queued, sent = np.zeros(len(wants)), holds.copy(), np.zeros(len(wants))
    seconds, patience = 0.0, PATIENCE_CYCLES / clock_hz
    for number in range(ROUNDS):
        if number == SETTLED_ROUNDS:
            sent[:], seconds = 0.0, 0.0
        credit = np.minimum(credit + quantum, 4 * quantum - 1)
        while True:
            goes = (credit > 0) & (queued >= size)
            took = 8 * float(size[goes].sum()) / rate
            if not goes.any():
                soon = (credit > 0) & (queued + come * patience >= size)
                if not soon.any():
                    break
                took = patience
            sent += size * goes
            credit -= size * goes
            queued = np.minimum(holds, queued - size * goes + come * took)
            seconds += took
    return list(8 * sent / seconds) if seconds else [0.0] * len(wants)


def _turns(plan: "EdgePlan", config: "Config") -> list[str]:
    """Return a remark where queues hold so much less than the turn of their subscriber that it loses by it; it names the worst."""
    found = shorts(plan, config)
    if not found:
        return []
    worst = min(found, key=lambda one: one.gets_bps / one.share_bps)
    more = f" (and {len(found) - 1:,} more lose as well)" if len(found) > 1 else ""
    gets = f"gets about {format_rate(worst.gets_bps)} of its {format_rate(worst.share_bps)} at {worst.parent}{more}"
    return [
        f"Subscriber {worst.subscriber} {gets}: its queues of class {worst.traffic_class} may hold {worst.holds:,.0f} byte, and its turn "
        f"(weight {worst.weight}) is {worst.weight * TURN_BYTES:,} byte, {worst.packets:,} packets; give it limits that hold a turn."
    ]


def _memory(plan: "EdgePlan", config: "Config") -> list[str]:
    """Return a remark where what queues may hold, and come to hold by what they are offered, is more than the memory has pages."""
    if config.admission is not None:
        return []
    held = {}
    for queue, (rate, seconds, size) in _offered(plan, config).items():
        settings = plan.settings.settings(queue)
        left = (rate - _rate(plan, queue, rate)) * seconds / 8  # bytes that come and do not leave
        packets = min(left / size, settings.limit_packets, settings.limit_bytes / size)
        if packets > 1:
            held[queue] = packets
    if sum(held.values()) <= config.descriptors:
        return []
    worst = sorted(held, key=lambda queue: -held[queue])
    several = f"{len(held):,} queues" if len(held) > 1 else f"queue {plan.settings.name(worst[0])}"
    endless = [queue for queue in worst if plan.settings.settings(queue).limit_packets >= config.descriptors]
    why = "their limits together are more"
    if endless:
        names = ", ".join(plan.settings.name(queue) for queue in endless[:NAMED])
        names += " and others" if len(endless) > NAMED else ""
        limit = plan.settings.settings(endless[0]).limit_packets
        why = f"the limit of {names}, {limit:,} packets, is none here"
    elif len(held) == 1:
        why = "its limit is more"
    more = "are" if len(held) > 1 else "is"
    return [
        f"{several[0].upper()}{several[1:]} {more} offered more than can leave and may fill the memory of {config.descriptors:,} packets: "
        f"{why}. "
        "Then packets of all queues are dropped, those of the highest class too; `limit_packets` or an `admission` prevents it."
    ]


def _rate(plan: "EdgePlan", queue: int, offered: float) -> float:
    """Return the most that may leave a queue, in bit/s: by its own rate and those of subscriber, node and port, when the run begins."""
    rates = [plan.settings.settings(queue).rate_bps]
    if plan.parents is not None:
        ident = queue // plan.parents.places["queues_per_subscriber"]
        for kind, above in (("subscribers", "node_of"), ("nodes", "port_of"), ("ports", None)):
            rates.append(plan.parents.hierarchy.settings(kind, ident).rate_bps)
            ident = int(plan.parents.places[above][ident]) if above else ident
    return min([offered, *(rate for rate in rates if rate is not None)])


def _offered(plan: "EdgePlan", config: "Config") -> dict[int, tuple[float, float, float]]:
    """Return of each queue that generated traffic comes for: bit/s, for how many seconds, mean bytes of a frame."""
    found: dict[int, tuple[float, float, float]] = {}
    for source in plan.job["sources"]:
        if "sizes" not in source or not ("bps" in source or "bps_each" in source):
            continue
        queues = source["queues"].tolist()
        weights = [weight for _, weight in source["sizes"]]
        size = float(np.average([length for length, _ in source["sizes"]], weights=weights))
        seconds = (source["stop_cycle"] - source["start_cycle"]) / config.clock_hz
        share = source["on_cycles"] / (source["on_cycles"] + source["off_cycles"]) if "on_cycles" in source else 1.0
        each = source.get("bps_each")
        one = 0.0 if each is not None else source["bps"] / (1 if source["pick"] == "each" else len(queues))
        for place, queue in enumerate(queues):
            rate = share * float(one if each is None else each[place])
            before, longest, mean = found.get(queue, (0.0, 0.0, size))
            found[queue] = (before + rate, max(longest, seconds), min(mean, size))
    return found


def _marks(plan: "EdgePlan", scenario: "Scenario", config: "Config") -> list[str]:
    """Return a remark where queues are to mark, and no source that comes for them can carry marks."""
    if config.aqm == "none":
        return []
    able: set[int] = set()
    for entry, source in zip(scenario.traffic, plan.job["sources"], strict=False):
        if _may_carry(entry, source):
            able |= set(np.unique(source["queues"]).tolist())
    deaf = [queue for queue in plan.touched.tolist() if plan.settings.settings(queue).aqm.ecn and queue not in able]
    if not deaf:
        return []
    names = ", ".join(plan.settings.name(queue) for queue in deaf[:NAMED]) + (
        f" and {len(deaf) - NAMED:,} more" if len(deaf) > NAMED else ""
    )
    return [
        f"{names}: `ecn: true` marks nothing here, for no packet that comes is ECN-capable, so all are dropped instead; give the traffic "
        "`headers` with `ecn: 1`, or `tcp` its `ecn: true`."
    ]


def _may_carry(entry: Any, source: dict[str, Any]) -> bool:
    """Tell whether frames of a source may be ECN-capable; what a capture holds is not looked at."""
    if source["kind"] == "tcp":
        return bool(np.any(source.get("ecn", False)))
    if "sizes" not in source:
        return True
    return entry.headers is not None and entry.headers.ecn in (1, 2)
