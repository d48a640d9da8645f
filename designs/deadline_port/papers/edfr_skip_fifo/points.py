"""The points of the experiment: what arrives, how much, in how many classes, with which deadlines and sizes."""

from dataclasses import dataclass
from typing import Any

from penstock.designs.deadline_port.papers.edfr_skip_fifo import stated
from penstock.scenarios.common import IMIX

MS = 10**9  # in ps
LOADS = (0.8, 0.9, 1.0, 1.1, 1.2, 1.5)
ARRIVALS = {  # name: (arrivals of the model, one source for all classes)
    "Poisson": ("poisson", False),
    "constant": ("constant", False),
    "on-off": ("on_off", False),
    "on-off, shared": ("on_off", True),
    "Pareto": ("pareto", False),
    "Pareto, shared": ("pareto", True),
}
MIXES = ("equal", "30/60/100 ms", "geometric")
SIZES: dict[str, tuple[tuple[int, int], ...]] = {"1,000 byte": ((1000, 1),), "IMIX": IMIX}
SCHEDULERS = ("exact", "fifo", "skip_check", "skip")
LINK = 100_000_000  # bit/s, unless the point says another
BURST_MS, PAUSE_MS = 25, 75  # mean lengths; in a burst a source sends at four times its mean rate
WARM_UP_S = 2  # an overload of a tenth fills 160 ms in 1.6 s
SHAPE = 1.5  # of Pareto lengths: a mean, no variance


@dataclass(frozen=True)
class Point:
    """One setting of the experiment, run with several seeds."""

    arrivals: str
    load: float
    classes: int
    mix: str
    sizes: str
    rate_bps: int
    seconds: float  # that count, after the warm-up

    def deadlines(self) -> list[int]:
        """Return the deadline of each class in ps."""
        if self.mix == "equal":
            return [60 * MS] * self.classes
        if self.mix == "geometric":  # 10 to 160 ms
            return [round(10 * MS * 16 ** (number / (self.classes - 1))) for number in range(self.classes)]
        return [30 * MS, 100 * MS] if self.classes == 2 else [(30, 60, 100)[number % 3] * MS for number in range(self.classes)]

    def mean_deadline(self) -> int:
        """Return the mean deadline of all packets: each class has the same share of them."""
        return round(sum(self.deadlines()) / self.classes)

    def packets(self) -> float:
        """Return how many packets a run has, about."""
        sizes = SIZES[self.sizes]
        mean = sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)
        return (WARM_UP_S + self.seconds) * self.load * self.rate_bps / 8 / mean

    def arguments(self, seed: int) -> dict[str, Any]:
        """Return the arguments of the engine's `edfr_experiment`."""
        arrivals, shared = ARRIVALS[self.arrivals]
        warm_up = round(WARM_UP_S * 1000 * MS)
        return {
            "schedulers": list(SCHEDULERS), "arrivals": arrivals, "shared": shared, "rate_bps": self.rate_bps, "load": self.load,
            "deadlines": self.deadlines(), "shares": [1.0] * self.classes, "sizes": [(size, float(w)) for size, w in SIZES[self.sizes]],
            "burst": float(BURST_MS * MS), "pause": float(PAUSE_MS * MS), "shape": SHAPE,
            "warm_up": warm_up, "end": warm_up + round(self.seconds * 1000 * MS),
            "fifo_wait": self.mean_deadline(), "tick": stated.TICK_PS, "depth": stated.DEPTH, "seed": seed,
        }  # fmt: skip

    def config(self) -> dict[str, Any]:
        """Return what tells this point from the others."""
        return {
            "arrivals": self.arrivals, "load": self.load, "classes": self.classes, "deadlines": self.mix, "sizes": self.sizes,
            "rate_bps": self.rate_bps, "seconds": self.seconds, "mean_deadline_ms": self.mean_deadline() / MS,
        }  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """How much of the experiment is made."""

    loads: tuple[float, ...]
    some_loads: tuple[float, ...]  # of them, with IMIX and with 2, 8 and 64 classes
    seconds: float
    seeds: int


SHORT = Grid(LOADS, (0.9, 1.1, 1.5), 8.0, 10)
FULL = Grid(LOADS, LOADS, 60.0, 30)


def points(grid: Grid) -> list[Point]:
    """Return all points: every load, mix and size with three classes; 2 to 64 classes; slower and faster links."""
    three = [
        Point(arrivals, load, 3, mix, sizes, LINK, grid.seconds) for arrivals in ARRIVALS for mix in MIXES for sizes in SIZES
        for load in (grid.some_loads if sizes == "IMIX" else grid.loads)
    ]  # fmt: skip
    more = [
        Point(arrivals, load, classes, mix, "1,000 byte", LINK, grid.seconds) for arrivals in ARRIVALS for load in grid.some_loads
        for classes in (2, 8, 64) for mix in MIXES[1:]
    ]  # fmt: skip
    links = [  # on the fast one a fifth of the time, on the slow one five times as long
        Point("Poisson", load, 3, MIXES[1], "1,000 byte", rate, grid.seconds * factor)
        for load in grid.loads for rate, factor in ((LINK // 10, 5), (LINK * 10, 0.2))
    ]  # fmt: skip
    return three + more + links
