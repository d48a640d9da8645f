"""What is simulated: a switch and its traffic, every value checked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.switch_sim import trace

SCHEDULERS = ("pim", "rrm", "islip", "drrm", "edrrm")  # those of an input-queued switch, which iterate
ALGORITHMS = ("cprra", "oq", *SCHEDULERS)
TRAFFICS = ("uniform", "bursty", "nonuniform", "diagonal", "hotspot", "trace")
PORTS = (2, 4, 8, 16, 32, 64)
DEFAULT_SLOTS = 25_000  # the length that gives the figures of the paper
MAX_SLOTS = 10**12
MAX_DEPTH = 10**8
MAX_ITERATIONS = 64


@dataclass(frozen=True)
class Setting:
    """One switch under one traffic. Raises UserError when a value makes no sense."""

    algorithm: str
    iterations: int | None = None  # of a scheduler; log2(ports) unless given; cprra and oq have none
    ports: int = 16
    traffic: str = "uniform"
    rate: float = 1.0  # packets a slot at each input
    burst: float = 32.0  # mean packets of a burst (bursty)
    hot: float = 0.5  # share of an input's packets for its favoured output (nonuniform, hotspot)
    slots: int = DEFAULT_SLOTS
    depth: int | None = None  # packets in each of the P x P FIFOs; None: without limit
    trace: Path | None = None  # file with the packets (trace)

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise UserError(f"--algorithm {self.algorithm}: there is no such algorithm{nearest(self.algorithm, ALGORITHMS)}")
        if self.traffic not in TRAFFICS:
            raise UserError(f"--traffic {self.traffic}: there is no such traffic{nearest(self.traffic, TRAFFICS)}")
        if self.ports not in PORTS:
            raise UserError(f"--ports {self.ports}: give a power of two from {PORTS[0]} to {PORTS[-1]}")
        if self.traffic != "trace" and not 0 < self.rate <= 1:  # also refuses what is no number
            raise UserError(f"--rate {self.rate:g}: give more than 0 and at most 1 packet a slot")
        if self.traffic == "bursty" and not 1 <= self.burst <= 1e6:
            raise UserError(f"--burst {self.burst:g}: give a mean of 1 to 1,000,000 packets")
        if self.traffic in ("nonuniform", "hotspot") and not 0 <= self.hot <= 1:
            raise UserError(f"--hot {self.hot:g}: give a share from 0 to 1")
        for name, value, most in (
            ("iterations", self.iterations, MAX_ITERATIONS), ("slots", self.slots, MAX_SLOTS), ("depth", self.depth, MAX_DEPTH),
        ):  # fmt: skip
            if value is not None and not 1 <= value <= most:
                raise UserError(f"--{name} {value}: give 1 to {most:,}")
        if self.traffic == "trace" and self.trace is None:
            raise UserError("--traffic trace: needs --trace FILE, the packets to play")
        if self.traffic != "trace" and self.trace is not None:
            raise UserError(f"--trace {self.trace}: needs --traffic trace")

    @property
    def iterations_run(self) -> int | None:
        """Iterations of the scheduler; None where there is none."""
        return (self.iterations or self.ports.bit_length() - 1) if self.algorithm in SCHEDULERS else None

    def config(self) -> dict[str, Any]:
        """Return the part `config` of a result: what has an influence on it."""
        config: dict[str, Any] = {"algorithm": self.algorithm}
        if self.iterations_run:
            config["iterations"] = self.iterations_run
        config |= {"ports": self.ports, "depth": self.depth, "traffic": self.traffic}
        if self.traffic == "trace":
            config["trace"] = str(self.trace)
        else:
            config["rate"] = self.rate
        if self.traffic == "bursty":
            config["burst"] = self.burst
        if self.traffic in ("nonuniform", "hotspot"):
            config["hot"] = self.hot
        return config | {"slots": self.slots}

    def engine_arguments(self, seed: int) -> dict[str, Any]:
        """Return the arguments of `SwitchSimulation`."""
        return {
            "algorithm": self.algorithm, "iterations": self.iterations_run or 1, "ports": self.ports, "depth": self.depth or 0,
            "traffic": self.traffic, "rate": self.rate if self.traffic != "trace" else 0.0, "burst": max(1.0, self.burst),
            "hot": min(1.0, max(0.0, self.hot)), "seed": seed, "trace": trace.read(self.trace, self.ports) if self.trace else None,
        }  # fmt: skip
