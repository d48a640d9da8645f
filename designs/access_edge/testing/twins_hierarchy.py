"""Random jobs for two engines with a hierarchy: tests that the model is the RTL's twin.

A job loads queues, subscribers, nodes and ports below or above their rates, with bursts, classes and weights, and changes their settings,
gates and parents among them, while traffic flows.
"""

import random
from typing import Any

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.testing.twins import in_window

Job = dict[str, Any]
Writes = list[tuple[int, int]]

IMIX = [(60, 7), (590, 4), (1514, 1)]
LEVELS = ("none", "subscriber", "node", "port", "all")


class HierarchyJob:
    """One random job; `tight`: the level that is congested at times, one of LEVELS, in turn by the seed.

    It takes 40,000 or 100,000 cycles, `longer` times that.
    """

    def __init__(self, config: Config, seed: int, changes: bool = True, longer: int = 1) -> None:
        if config.hierarchy is None:
            raise ValueError(f"configuration {config.name} has no hierarchy")
        self._config, self._hierarchy, self._rng, self._window = config, config.hierarchy, random.Random(seed), random.Random(seed)
        rng, per = self._rng, config.hierarchy.queues_per_subscriber
        self._of_guarantees = random.Random(seed)  # of their own: other devices are as they were
        self._scale, self._least = config.clock_hz / 220e6, registers.least_rate(config.clock_hz, config.max_frame_bytes)
        count = min(rng.choice([4, 16, 64, 256]), config.queues // 2)
        among = config.queues if rng.random() < 0.5 else 2 * count
        self.queues = sorted(rng.sample(range(among), count))
        self._subscribers = sorted({queue // per for queue in self.queues})
        self._nodes = min(rng.choice([1, 2, 4]), self._hierarchy.nodes)
        self.tight = LEVELS[seed % len(LEVELS)]
        self._offered = rng.choice([20e9, 60e9, 90e9]) * self._scale
        duration = longer * rng.choice([40_000, 100_000])
        writes = [write for queue in self.queues for write in self._queue(queue)]
        for level, count in (("subscriber", 0), ("node", self._nodes), ("port", self._hierarchy.ports)):
            for index in self._subscribers if level == "subscriber" else range(count):
                writes += self._parent(level, index)
        self.job: Job = {
            "seed": seed,
            "duration_cycles": duration,
            "drain": True,
            "max_cycles": 4 * duration,
            "quiet_cycles": 50_000,
            "ingress_bps": 100e9 * self._scale,
            "egress_bps": rng.choice([0, 100e9, 40e9]) * self._scale,
            "register_writes": writes,
            "timed_register_writes": self._changes(duration) if changes else [],
            "sources": [self._source()],
            "sample_queues": self.queues[:16],
            "keep_departures": True,
        }

    def _burst(self, rate: int | None) -> int:
        """Bytes: none, some packets, or so many that a parent holds back for what waits above it."""
        most = registers.MAX_BURST_CYCLES * (rate or 0) // (8 * self._config.clock_hz)
        return min(self._rng.choice([0, 0, 3_000, 30_000, 300_000]), most)

    def _queue(self, queue: int, closed: bool = False) -> Writes:
        rng, config = self._rng, self._config
        rate = None if rng.random() < 0.5 else max(self._least, int(10 ** rng.uniform(7.5, 9.5) * self._scale))
        rate = 0 if closed else rate
        aqm = registers.Aqm.of_halves(rng.choice([1, 4, 20]), rng.choice([5, 40]), rng.random() < 0.5)
        limits = rng.choice([10, 40, 400]), registers.MAX_LIMIT_BYTES
        cls = rng.randrange(config.admission.classes) if config.admission else None
        managed = None if config.aqm == "none" else aqm
        own = registers.queue_writes(queue, rate, self._burst(rate), *limits, config.clock_hz, managed, share_class=cls)
        traffic_class = self._class(queue)
        # Class and weight first, as what the window writes has them, too.
        return [*traffic_class, *in_window(own)] if self._window.random() < 0.5 else own + traffic_class

    def _guarantee(self, mean: float) -> int | None:
        """Return a guaranteed rate, none or up to three times what one of its kind is offered; None: the device has no guarantees."""
        rng = self._of_guarantees
        if not self._hierarchy.guarantees:
            return None
        return 0 if rng.random() < 0.4 else int(min(100e9, max(self._least, mean * 10 ** rng.uniform(-2, 0.5))))

    def _class(self, queue: int) -> Writes:
        rng = self._rng
        return registers.class_writes(
            queue,
            rng.randrange(self._hierarchy.classes) if rng.random() < 0.7 else 0,
            rng.randint(1, 8) if rng.random() < 0.5 else 1,
            self._guarantee(self._offered / len(self.queues)),
            self._config.clock_hz,
        )

    def _parent(self, level: str, index: int) -> Writes:
        share = {"subscriber": len(self._subscribers), "node": self._nodes, "port": self._hierarchy.ports}[level]
        above = {"subscriber": self._nodes, "node": self._hierarchy.ports, "port": 1}[level]
        rate = None
        if self.tight in (level, "all"):
            rate = int(min(100e9, max(self._least, self._offered / share * self._rng.uniform(0.2, 1.2))))
        weight = self._rng.randint(1, 8) if self._rng.random() < 0.5 else 1
        burst = self._burst(rate)
        guarantee = self._guarantee(self._offered / share) if level == "subscriber" else None
        where, clock = self._rng.randrange(above), self._config.clock_hz
        writes = registers.hierarchy_writes(level, index, rate, burst, where, clock, weight, guarantee)
        return in_window(writes) if level == "subscriber" and self._window.random() < 0.5 else writes

    def _changes(self, duration: int) -> list[tuple[int, int, int]]:
        rng = self._rng
        timed = []
        for _ in range(rng.choice([10, 40, 160])):
            level = rng.choice(["class", "queue", "subscriber", "node", "port"])
            if level == "class":
                writes = self._class(rng.choice(self.queues))
            elif level == "queue":
                writes = self._queue(rng.choice(self.queues), closed=rng.random() < 0.2)
            else:
                counts = {"node": self._nodes, "port": self._hierarchy.ports}
                writes = self._parent(level, rng.choice(self._subscribers) if level == "subscriber" else rng.randrange(counts[level]))
                if rng.random() < 0.2:  # a closed gate
                    writes = [(where, 0 if where == writes[1][0] else value) for where, value in writes]
            cycle = rng.randrange(duration)
            timed += [(cycle, *write) for write in writes]
        return timed

    def _source(self) -> Job:
        rng = self._rng
        sizes = rng.choice([IMIX, [(60, 1)], [(1514, 1)], [(64, 1), (200, 1)]])
        kind = rng.choice(["poisson", "constant", "onoff"])
        source = {"kind": kind, "queues": self.queues, "pick": rng.choice(["random", "round_robin"]), "bps": self._offered, "sizes": sizes}
        return source | ({"on_cycles": 2000, "off_cycles": 1000} if kind == "onoff" else {})
