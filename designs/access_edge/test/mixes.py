# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Random hierarchies and loads from one number: a scenario for `penstock run`, and the same for the judge (`fair_judge`).

A mix draws levels, rates, weights, classes, bursts, limits, packet sizes and arrivals. Queues are `flooded` (they always have packets),
`steady` (constant, less than their share), `bursty` (Pareto-distributed bursts in a capture that is written here, so that every arrival is
known), or idle. In a `Mix` nothing changes while it runs; an `Unsteady` one has loads of any strength that come and go, and settings
that change.
"""

import copy
import random
import struct
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from fair_judge import Branch, Fluid, Hierarchy, Leaf, max_min
from numpy.typing import NDArray

KINDS = ("backlogged", "siblings", "random")
LARGEST, LARGEST_JUMBO = 1514, 9600
SIZES = (60, 64, 200, 300, 590, 1000, 1514)
IMIX = [[60, 7], [590, 4], [1514, 1]]
FLOOD_PACKETS = 64  # that a flooded queue holds at least
QUANTUM = 2048  # bytes that a subscriber of weight 1 may send in its turn at a congested parent
MOST_QUEUES = 32  # with a curve in series.npz
POINTS = 200  # in time
NS = 10**9
# Configurations, their clocks in Hz, and the slowest and fastest node that is drawn, in bit/s: a queue's next packet is in the hierarchy 25
# cycles after one has left, and a parent that sends a small packet in less goes on with another queue.
DEVICES = {"tree_64": (10_000_000, 5 * 10**6, 40 * 10**6), "tree_2048": (220_000_000, 100 * 10**6, 900 * 10**6)}
TOLERANCE_CYCLES = 1024  # of the shapers: what they make up for (docs/hardware.md, "Rates as the hardware sees them")


@dataclass
class Flow:
    """What comes for a queue."""

    queue: int
    kind: str  # flooded, steady, bursty
    sizes: list[list[int]]
    rate: float = 0.0  # byte per second, on average
    most: int = 0  # bytes of a burst
    phases: list[tuple[float, float]] = field(default_factory=list)  # when a load that comes and goes is there, in parts of the run

    @property
    def mean_size(self) -> float:
        return sum(size * weight for size, weight in self.sizes) / sum(weight for _, weight in self.sizes)


@dataclass
class Arrivals:
    """Frames of a capture, in order of time."""

    ns: NDArray[np.int64]
    queue: NDArray[np.int64]
    length: NDArray[np.int64]

    def write(self, path: Path) -> None:
        """Write them as a capture with the queue ids in front of the frames, of which only the first bytes are stored."""
        records = np.zeros(len(self.ns), dtype=[("s", "<u4"), ("ns", "<u4"), ("stored", "<u4"), ("length", "<u4"), ("data", "u1", 18)])
        records["s"], records["ns"] = self.ns // NS, self.ns % NS
        records["stored"], records["length"] = 18, self.length + 4
        records["data"][:, :4] = self.queue.astype(">u4").view(np.uint8).reshape(-1, 4)
        path.write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1) + records.tobytes())

    def bytes_in(self, queue: int, since: float, until: float) -> int:
        """Return what comes for a queue in a time, in seconds."""
        mine = (self.queue == queue) & (self.ns >= since * NS) & (self.ns < until * NS)
        return int(self.length[mine].sum())


@dataclass
class Mix:
    """A hierarchy with loads. `megabytes`: what its slowest node or port carries in the run."""

    seed: int
    kind: str
    megabytes: float = 50.0
    device: str = ""
    plain: bool = False  # the device as it is, so that its RTL need not be built anew
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(f"{self.kind} {self.seed}")
        self.device = self.device or self.rng.choice(list(DEVICES))
        self.clock_hz, slowest, fastest = DEVICES[self.device]
        self.per_subscriber = 4 if self.plain else self.rng.choice([1, 2, 4, 8] if self.kind == "random" else [2, 4, 8])
        self.jumbo = self.rng.random() < 0.25 and not self.plain
        self.largest = LARGEST_JUMBO if self.jumbo else LARGEST
        self.weighted = self.rng.random() < 0.6
        self.hierarchy = self._hierarchy(fastest / 2 if self.plain else slowest, fastest)
        self.flows = self._flows()
        self._load()
        self.rest = self._rest()
        self.seconds = self.rest + self.megabytes * 1e6 / self._pace()
        self.arrivals = self._bursts(self.seconds - self.rest)
        self.arrivals.ns += int(self.rest * NS)

    def _rest(self) -> float:
        """The time before anything comes."""
        return 0.0

    def _pace(self) -> float:
        """The rate at which `megabytes` are sent."""
        return min(branch.rate for level in self.hierarchy.levels()[1:] for branch in level.values())

    # ---- the hierarchy

    def _weight(self) -> int:
        return self.rng.choice([1, 1, 2] if self.plain else [1, 1, 2, 3, 8]) if self.weighted else 1

    def _hierarchy(self, slowest: float, fastest: float) -> Hierarchy:
        rng = self.rng
        rate = self._round(np.exp(rng.uniform(np.log(slowest), np.log(fastest))) / 8)
        self.slowest = rate / 2
        nodes, ports = {0: Branch(0, rate=rate)}, {0: Branch(), 1: Branch()}
        places = [0]
        if self.kind == "random":
            for ident in range(1, rng.randint(1, 3)):
                nodes[ident] = Branch(rng.randrange(2), rate=rng.choice([inf, self._round(rate * rng.uniform(0.5, 2))]))
                places.append(ident)
            for ident, port in ports.items():
                below = sum(min(node.rate, 2 * rate) for node in nodes.values() if node.parent == ident)
                unbounded = any(node.parent == ident and node.rate == inf for node in nodes.values())
                if below and (unbounded or rng.random() < 0.5):
                    port.rate = self._round(min(1.5 * rate, below * rng.uniform(0.4, 1.2)))
                    for node in nodes.values():
                        if node.parent == ident and node.rate != inf:
                            node.burst = self._burst(node.rate)
        count = rng.randint(2, max(2, min(8, MOST_QUEUES // self.per_subscriber)))
        subscribers = {ident: Branch(rng.choice(places), self._weight()) for ident in range(count)}
        if self.kind == "random":
            for subscriber in subscribers.values():
                if rng.random() < 0.3:
                    subscriber.rate = self._round(rate * rng.uniform(0.05, 0.7))
                    subscriber.burst = self._burst(subscriber.rate)
        queues = {}
        for ident in subscribers:
            queues |= self._queues(ident)
        if self.kind == "random":
            for leaf in queues.values():
                if rng.random() < 0.25:
                    leaf.rate = self._round(rate * rng.uniform(0.03, 0.5))
                    leaf.burst = self._burst(leaf.rate)
        return Hierarchy(queues, subscribers, nodes, ports)

    def judged(self, subscriber: int) -> bool:
        """Tell whether each of a subscriber's queues is judged, or their sum alone."""
        return subscriber in self.hierarchy.subscribers

    def _burst(self, rate: float) -> float:
        """A burst that makes up for what a congested parent holds back (the hierarchy's README): for a round of its children."""
        return float(int(rate / self.slowest * 300_000 + 4 * self.largest))

    def _queues(self, subscriber: int) -> dict[int, Leaf]:
        rng = self.rng
        first, count = subscriber * self.per_subscriber, rng.randint(1, self.per_subscriber)
        chosen = sorted(rng.sample(range(self.per_subscriber), count))
        cls = 0 if self.kind != "random" else None
        return {first + index: Leaf(subscriber, rng.choice([0, 1, 2, 3, 3, 3]) if cls is None else cls, self._weight()) for index in chosen}

    @staticmethod
    def _round(rate: float) -> float:
        """A rate in whole kbit/s, in byte per second."""
        return round(rate * 8 / 1000) * 1000 / 8

    # ---- loads

    def _sizes(self) -> list[list[int]]:
        rng = self.rng
        choice = rng.randrange(4)
        if choice == 0:
            return IMIX
        if choice == 1 and self.jumbo:
            return [[LARGEST_JUMBO, 1]]
        if choice == 2:
            return [[rng.choice(SIZES), rng.randint(1, 5)], [rng.choice(SIZES), 1], [rng.choice(SIZES), 1]]
        return [[rng.choice(SIZES), 1]]

    def _flows(self) -> list[Flow]:
        rng = self.rng
        flows = []
        for subscriber in self.hierarchy.subscribers:
            own = [queue for queue, leaf in self.hierarchy.queues.items() if leaf.subscriber == subscriber]
            kinds = ["flooded"] * len(own)
            if self.kind == "random":
                kinds = rng.choices(["flooded", "steady", "bursty", "idle"], [4, 3, 2, 1], k=len(own))
            if self.kind == "siblings":
                kinds = ["flooded", *(rng.choice(["steady", "bursty", "idle"]) for _ in own[1:])]
                rng.shuffle(kinds)
            flows += [Flow(queue, kind, self._sizes()) for queue, kind in zip(own, kinds, strict=True) if kind != "idle"]
        if flows and all(flow.kind != "flooded" for flow in flows):  # something is to be shared
            rng.choice(flows).kind = "flooded"
        return flows or [Flow(min(self.hierarchy.queues), "flooded", self._sizes())]

    def _load(self) -> None:
        """Give each flow its rate: a part of what it could have if all wanted all, or, to flood it, more than it will have."""
        rng = self.rng
        caps = {flow.queue: self.hierarchy.queues[flow.queue].rate for flow in self.flows}
        least = min(node.rate for node in self.hierarchy.nodes.values()) / 200
        if self.kind == "random":
            for flow in self.flows:  # the higher classes leave something, mostly
                if self.hierarchy.queues[flow.queue].cls < 3 and rng.random() < 0.7:
                    caps[flow.queue] = min(caps[flow.queue], least * rng.choice([1, 4, 20]))
        share = max_min(self.hierarchy, caps)
        for flow in self.flows:
            if flow.kind != "flooded":
                parts = [0.02, 0.1, 0.3, 0.5, 0.7]
                # What a rate lets a lower class miss in a long burst of a higher one it cannot make up for: no share is steady then.
                if flow.kind == "bursty" and any(subscriber.rate != inf for subscriber in self.hierarchy.subscribers.values()):
                    parts = [0.02, 0.1, 0.3]
                flow.rate = max(1000.0, share[flow.queue] * rng.choice(parts))
                # A burst has room for a frame at least, or frames would be left over for the end.
                flow.most = max(rng.choice([5, 10, 20]) * 1514, max(size for size, _ in flow.sizes))
        wants = {flow.queue: caps[flow.queue] if flow.kind == "flooded" else flow.rate for flow in self.flows}
        share = max_min(self.hierarchy, wants)
        # While others pause there is more for it: a queue that is to be backlogged wants that, too.
        pausing = max_min(self.hierarchy, {flow.queue: 0.0 if flow.kind == "bursty" else wants[flow.queue] for flow in self.flows})
        for flow in self.flows:
            if flow.kind == "flooded":
                flow.rate = max(least, share[flow.queue], pausing[flow.queue]) * rng.choice([1.2, 1.5, 2])
        # Nothing else was capped than queues with a rate of their own: now all that comes is known, and so what all have.
        self._settle()

    def _settle(self) -> None:
        """Let each flow be flooded or get all that it wants."""
        for _ in range(20):
            share = max_min(self.hierarchy, {flow.queue: min(flow.rate, self.hierarchy.queues[flow.queue].rate) for flow in self.flows})
            close = [flow for flow in self.flows if 0.8 * flow.rate <= share[flow.queue] < 0.999 * flow.rate]
            for flow in close:  # neither flooded nor free: such a queue's backlog wanders for ever
                flow.rate *= 1.3
            if not close:
                break
        for flow in self.flows:
            if flow.kind != "bursty":
                flow.kind = "steady" if share[flow.queue] >= 0.999 * flow.rate else "flooded"

    def _bursts(self, seconds: float) -> Arrivals:
        """Bursts at the rate of the line, their bytes and the pauses between them Pareto-distributed."""
        draw = np.random.default_rng(self.rng.randrange(1 << 32))
        parts: list[Arrivals] = []
        for flow in (flow for flow in self.flows if flow.kind == "bursty"):
            sizes = np.array([size for size, _ in flow.sizes])
            weights = np.array([weight for _, weight in flow.sizes], dtype=float)
            count = max(1, int(flow.rate * seconds / flow.mean_size))
            length = draw.choice(sizes, size=count, p=weights / weights.sum())
            bursts = np.minimum(max(flow.mean_size, flow.most / 10) * (1 + draw.pareto(1.3, size=count)), flow.most)
            pauses = 1 + np.minimum(draw.pareto(1.5, size=count), 20)
            # A burst's first frame comes after its pause, the others with it; pauses are as long as the rate wants them.
            ends = np.cumsum(bursts)
            which = np.searchsorted(ends, np.cumsum(length) - length, side="right").clip(max=count - 1)
            starts = np.cumsum(pauses * bursts)
            starts *= 0.98 * seconds / starts[which[-1]]
            parts.append(Arrivals((starts[which] * NS).astype(np.int64), np.full(count, flow.queue), length))
        if not parts:
            return Arrivals(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
        ns, queue, lengths = (np.concatenate([getattr(part, name) for part in parts]) for name in ("ns", "queue", "length"))
        order = np.argsort(ns, kind="stable")
        return Arrivals(ns[order], queue[order], lengths[order])

    # ---- the scenario

    def scenario(self, folder: Path) -> dict[str, Any]:
        """Return the scenario; a capture that it names is written into the folder."""
        traffic: list[dict[str, Any]] = []
        for flow in self.flows:
            if flow.kind in ("flooded", "steady") and not flow.phases:
                way = "poisson" if flow.kind == "flooded" and self.rng.random() < 0.5 else "constant"
                traffic.append({way: {"queues": flow.queue, "rate": f"{round(flow.rate * 8)} bit/s", "size": flow.sizes}})
        if len(self.arrivals.ns):
            self.arrivals.write(folder / "arrivals.pcap")
            traffic.append({"pcap": "arrivals.pcap", "prefixed": True, "start": f"{int(self.arrivals.ns[0])} ns"})
        overrides: dict[str, Any] = {}
        if self.per_subscriber != 4:
            overrides["hierarchy"] = {"queues_per_subscriber": self.per_subscriber}
        pages = 1024 + sum(self._limit(flow) for flow in self.flows)
        if not self.plain:
            pages, page = -(-pages // 64) * 64, 9600 if self.jumbo else 2048
            overrides |= {"max_frame_bytes": self.largest, "memories": {"ddr": {"bytes": pages * page, "pages": pages, "page_bytes": page}}}
        return {
            "seed": self.seed,
            "device": {"config": self.device, **({"overrides": overrides} if overrides else {})},
            "duration": f"{round(self.seconds * NS)} ns",
            "drain": False,
            "queues": [self._queue(flow) for flow in self.flows],
            "subscribers": [self._parent(ident, branch, "node") for ident, branch in self.hierarchy.subscribers.items()],
            "nodes": [self._parent(ident, branch, "port") for ident, branch in self.hierarchy.nodes.items()],
            "ports": [self._parent(ident, branch, "") for ident, branch in self.hierarchy.ports.items()],
            "traffic": traffic,
            "report": {"series": [flow.queue for flow in self.flows], "interval": f"{self.interval_ns} ns"},
        }

    @property
    def interval_ns(self) -> int:
        """The width of a point in time: whole clock cycles."""
        cycles = int(self.seconds * self.clock_hz / POINTS)
        return -(-cycles * NS // self.clock_hz)

    def _queue(self, flow: Flow) -> dict[str, Any]:
        leaf = self.hierarchy.queues[flow.queue]
        entry: dict[str, Any] = {"id": flow.queue, "traffic_class": leaf.cls, "weight": int(leaf.weight)}
        entry["limit_packets"] = self._limit(flow)
        return entry | rate_of(leaf)

    def _limit(self, flow: Flow) -> int:
        """Packets that a queue may hold: one that is to be backlogged must not run empty in its subscriber's turn at a parent."""
        if flow.kind != "flooded":
            return 1000
        turn = 2.5 * QUANTUM * self.hierarchy.subscribers[self.hierarchy.queues[flow.queue].subscriber].weight
        return max(FLOOD_PACKETS, int(turn / min(size for size, _ in flow.sizes)))

    def _parent(self, ident: int, branch: Branch, above: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"id": ident, **({above: branch.parent} if above else {})}
        if above == "node" and branch.weight != 1:
            entry["weight"] = int(branch.weight)
        return entry | rate_of(branch)

    # ---- what should come out

    def wants(self, since: float, until: float) -> dict[int, float]:
        """Return what comes for each queue in a time, no more than its own rate carries."""
        coming = {flow.queue: flow.rate * (until - since) for flow in self.flows if flow.kind != "bursty"}
        coming |= {flow.queue: float(self.arrivals.bytes_in(flow.queue, since, until)) for flow in self.flows if flow.kind == "bursty"}
        return {queue: min(amount, self.hierarchy.queues[queue].rate * (until - since)) for queue, amount in coming.items()}


def rate_of(branch: Branch | Leaf) -> dict[str, Any]:
    """Return the keys `rate` and `burst` of what has a rate."""
    if branch.rate == inf:
        return {}
    return {"rate": f"{round(branch.rate * 8)} bit/s", **({"burst": int(branch.burst)} if branch.burst else {})}


@dataclass
class Rated(Mix):
    """Subscribers with rates of their own that are about used up, below congested nodes and ports; queues of all classes and weights."""

    kind: str = "random"

    def _hierarchy(self, slowest: float, fastest: float) -> Hierarchy:
        rng, hierarchy = self.rng, super()._hierarchy(slowest, fastest)
        fair = hierarchy.nodes[0].rate / len(hierarchy.subscribers)
        for subscriber in hierarchy.subscribers.values():
            subscriber.rate = self._round(fair * rng.uniform(0.45, 2.25))
            subscriber.burst = self._burst(subscriber.rate)
        for leaf in hierarchy.queues.values():
            leaf.rate, leaf.burst, leaf.cls = inf, 0.0, rng.choice([0, 1, 1, 2, 2, 3])
        return hierarchy

    def _flows(self) -> list[Flow]:
        return [Flow(queue, self.rng.choice(["flooded", "flooded", "steady"]), self._sizes()) for queue in self.hierarchy.queues]

    def _load(self) -> None:
        """A flooded queue could use up its subscriber's rate alone, a steady one a part of it."""
        for flow in self.flows:
            own = self.hierarchy.subscribers[self.hierarchy.queues[flow.queue].subscriber].rate
            flow.rate = max(1000.0, own * self.rng.choice([1.5, 2, 3] if flow.kind == "flooded" else [0.02, 0.1, 0.3]))
        self._settle()


@dataclass
class Change:
    """A setting that changes in mid-run: of the judge's hierarchy, and in the scenario."""

    at: float  # s
    of: str  # queues, subscribers, nodes, ports
    ident: int
    settings: dict[str, float]  # rate in byte per second, weight, cls, parent

    def entry(self) -> dict[str, Any]:
        """Return the scenario's words for it."""
        words = {"cls": "traffic_class", "parent": {"subscribers": "node", "nodes": "port"}.get(self.of, "")}
        given = {words.get(key, key): int(value) for key, value in self.settings.items() if key != "rate"}
        if (rate := self.settings.get("rate")) is not None:
            given["rate"] = "unshaped" if rate == inf else f"{round(rate * 8)} bit/s" if rate else 0  # type: ignore[assignment]
        return {"at": f"{round(self.at * NS)} ns", self.of: self.ident, "set": given}

    def make(self, judge: Fluid, sizes: dict[int, float]) -> None:
        """Change the judge's hierarchy; `sizes`: of a packet of each queue."""
        for key, value in self.settings.items():
            if key == "parent":
                judge.move(self.of, self.ident, int(value), sizes)
            else:
                setattr(getattr(judge.hierarchy, self.of)[self.ident], key, int(value) if key == "cls" else value)


@dataclass
class Unsteady(Mix):
    """Loads that come and go, of any strength, and settings that change: queues run empty, fill up and drop what is over their limits."""

    kind: str = "random"
    megabytes: float = 10.0
    one_queue: bool = False  # of each subscriber

    def __post_init__(self) -> None:
        super().__post_init__()
        self.changes = self._changes()

    def _hierarchy(self, slowest: float, fastest: float) -> Hierarchy:
        hierarchy = super()._hierarchy(slowest, fastest)
        # A node with a rate below a port with one, and a subscriber with a rate below either, holds back for as long as its burst makes up
        # for it: what it is sent is right over such a time, not at every moment.
        for queue, leaf in hierarchy.queues.items():
            if hierarchy.subscribers[leaf.subscriber].rate != inf:
                hierarchy.queues[queue] = replace(leaf, cls=3)
        for node in hierarchy.nodes.values():
            if hierarchy.ports[node.parent].rate != inf:
                node.rate, node.burst = inf, 0.0
        return hierarchy

    def judged(self, subscriber: int) -> bool:
        """Tell whether each of a subscriber's queues is judged: nodes and ports get rates in mid-run."""
        return self.hierarchy.subscribers[subscriber].rate == inf

    def _rest(self) -> float:
        """As long as all bursts take to be there: how long the device has been at rest when a run begins is not known."""
        parents = [branch for level in self.hierarchy.levels() for branch in level.values()]
        return max([0.0, *(of.burst / of.rate for of in (*parents, *self.hierarchy.queues.values()) if of.rate not in (0, inf))])

    def _pace(self) -> float:
        return 2 * self.slowest

    def _queues(self, subscriber: int) -> dict[int, Leaf]:
        queues = super()._queues(subscriber)
        return dict(list(queues.items())[:1]) if self.one_queue else queues

    def _flows(self) -> list[Flow]:
        kinds = ["bursty", "phases", "phases", "flooded"]
        return [Flow(queue, self.rng.choice(kinds), self._sizes()) for queue in self.hierarchy.queues]

    def _load(self) -> None:
        rng = self.rng
        share = max_min(self.hierarchy, {flow.queue: self.hierarchy.queues[flow.queue].rate for flow in self.flows})
        fastest = min(branch.rate for level in self.hierarchy.levels()[1:] for branch in level.values())
        for flow in self.flows:
            leaf = self.hierarchy.queues[flow.queue]
            leaf.limit = float(rng.choice([50_000, 100_000, 200_000]))
            fair = max(share[flow.queue], fastest / len(self.flows))
            flow.rate = min(fair * rng.choice([0.1, 0.5, 0.9, 1.3, 2.5, 4]) * (1 if leaf.cls == 3 else 0.4), 2 * self.slowest)
            flow.most = rng.choice([10_000, 20_000, 50_000])
            if flow.kind != "bursty":
                flow.phases = [(0.0, 1.0)] if flow.kind == "flooded" else self._phases()

    def _at(self, part: float) -> float:
        return self.rest + part * (self.seconds - self.rest)

    def _phases(self) -> list[tuple[float, float]]:
        """When a load is there, in parts of the run."""
        edges = sorted(self.rng.uniform(0, 0.95) for _ in range(2 * self.rng.randint(1, 3)))
        return [(since, until) for since, until in zip(edges[::2], edges[1::2], strict=True) if until - since > 0.01]

    def _changes(self) -> list[Change]:
        rng = self.rng
        found = []
        for at in sorted(rng.uniform(0.1, 0.9) for _ in range(rng.choice([0, 2, 5]))):
            of = rng.choice(["queues", "subscribers", "nodes", "ports"])
            ident = rng.choice(sorted(getattr(self.hierarchy, of)))
            old = getattr(self.hierarchy, of)[ident]
            rates = [0.0] if of in ("queues", "subscribers") else []
            choices: list[dict[str, float]] = [{"rate": rng.choice([*rates, self._round(self.slowest * rng.uniform(0.3, 3))])}]
            if of == "subscribers" and old.rate == inf:  # its gate closes, but it gets no rate of its own (`judged`)
                choices = [{"rate": 0.0}]
            if of == "queues":
                unshaped = self.hierarchy.subscribers[self.hierarchy.queues[ident].subscriber].rate == inf
                choices += [{"weight": self._weight()}, *([{"cls": rng.randrange(4)}] if unshaped else [])]
            if of == "subscribers":
                choices += [{"parent": rng.choice(sorted(self.hierarchy.nodes))}, {"weight": self._weight()}]
            if of in ("nodes", "ports") and old.rate == inf:  # either nodes have rates or their port, from the first to the last moment
                choices = []
            if of == "nodes":
                choices += [{"parent": port} for port, branch in self.hierarchy.ports.items() if inf in (old.rate, branch.rate)]
            if not choices:
                continue
            settings = rng.choice(choices)
            if old.rate == inf and of == "queues" and settings.get("rate"):
                settings["burst"] = self._burst(self.slowest)
            found.append(Change(self._at(at), of, ident, settings))
            if settings.get("rate") == 0:  # it opens again
                found.append(Change(self._at(at + rng.uniform(0.02, 0.3) * (0.95 - at)), of, ident, {"rate": old.rate}))
        return sorted(found, key=lambda change: change.at)

    def scenario(self, folder: Path) -> dict[str, Any]:
        """Return the scenario; a capture that it names is written into the folder."""
        made = super().scenario(folder)
        for flow in self.flows:
            for since, until in flow.phases:
                load = {"queues": flow.queue, "rate": f"{round(flow.rate * 8)} bit/s", "size": flow.sizes}
                times = {"start": f"{round(self._at(since) * NS)} ns", "stop": f"{round(self._at(until) * NS)} ns"}
                made["traffic"].append({"constant": load, **times})
        return made | {"changes": [change.entry() for change in self.changes]}

    def _limit(self, flow: Flow) -> int:
        return int(self.hierarchy.queues[flow.queue].limit / min(size for size, _ in flow.sizes))

    def _queue(self, flow: Flow) -> dict[str, Any]:
        return super()._queue(flow) | {"limit_packets": 65_535, "limit_bytes": int(self.hierarchy.queues[flow.queue].limit)}

    def fluid(self) -> tuple[NDArray[np.float64], Fluid]:
        """Return what the judge carries, bytes up to the end of each point in time, [point][flow], and the judge.

        Steps end where a burst comes, a load begins or ends, a setting changes, or after some six packets.
        """
        width = self.interval_ns / NS
        points = int(self.seconds / width)
        ends = np.arange(1, points + 1) * width
        grid = np.arange(0, ends[-1], 6 * LARGEST / (2 * self.slowest))
        phases = [self._at(edge) for flow in self.flows for phase in flow.phases for edge in phase]
        changes = [change.at for change in self.changes]
        edges = np.unique(np.concatenate([[0.0], grid, ends, self.arrivals.ns / NS, phases, changes]))
        edges = edges[edges <= ends[-1]]
        bursts, coming = np.zeros((2, len(edges), len(self.flows)))
        for column, flow in enumerate(self.flows):
            mine = (self.arrivals.queue == flow.queue) & (self.arrivals.ns / NS < ends[-1])
            at = np.searchsorted(edges, self.arrivals.ns[mine] / NS)
            bursts[:, column] = np.bincount(at, weights=self.arrivals.length[mine], minlength=len(edges))
            for since, until in flow.phases:
                overlap = np.minimum(edges[1:], self._at(until)) - np.maximum(edges[:-1], self._at(since))
                coming[:-1, column] += flow.rate * overlap.clip(min=0)
        sizes = {flow.queue: flow.mean_size for flow in self.flows}
        judge, todo = Fluid(copy.deepcopy(self.hierarchy), TOLERANCE_CYCLES / self.clock_hz), list(self.changes)
        for flow in self.flows:  # one packet of a full queue is in the hierarchy
            judge.hierarchy.queues[flow.queue].limit += flow.mean_size
        carried, point = np.zeros((points, len(self.flows))), 0
        for step in range(len(edges) - 1):
            while todo and todo[0].at <= edges[step]:
                todo.pop(0).make(judge, sizes)
            amounts = (dict(zip(judge.carried, row, strict=True)) for row in (coming[step], bursts[step]))
            judge.step(edges[step + 1] - edges[step], *amounts)
            if edges[step + 1] == ends[point]:
                carried[point] = list(judge.carried.values())
                point += 1
        return carried, judge
