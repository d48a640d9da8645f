"""Remarks on scenarios that do not do what they seem to: limits that are none, marks that nothing can carry, guarantees beyond a rate."""

from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.basics.units import format_rate

if TYPE_CHECKING:
    from penstock.designs.access_edge.config import Config
    from penstock.designs.access_edge.job import EdgePlan
    from penstock.designs.access_edge.scenario import Scenario

NAMED = 3  # queues that a remark names


def notes(plan: "EdgePlan", scenario: "Scenario", config: "Config") -> list[str]:
    """Return the remarks, a sentence or two each."""
    return _memory(plan, config) + _marks(plan, scenario, config) + _guarantees(plan, config)


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
