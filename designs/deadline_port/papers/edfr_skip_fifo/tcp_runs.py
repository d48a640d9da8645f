"""TCP in front of the deadline port and of FIFOs, in ns-3 at the paper's 1 Gbit/s: what is run, and what each run says.

What a run has printed is kept, so that a command that was stopped goes on where it was; runs of the same program with the same arguments
print the same.
"""

import hashlib
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from penstock.basics import children
from penstock.designs import configs
from penstock.designs.deadline_port.config import Config
from penstock.engine.run import RunError
from penstock.errors import UserError
from penstock.papers import ns3
from penstock.paths import BUILD, ROOT

HERE = Path(__file__).with_name("ns3")
PROGRAM = "ns3_edfr"
MEMORY = ("memory_model", "stepped_memory", "dram_controller", "dram_port", "hbm_switch")  # of the engine, without which no port is
SOURCES = [HERE / "tcp.cpp", *(ROOT / "engine" / "src" / f"{name}.cpp" for name in MEMORY)]
RUNS = BUILD / PROGRAM / "runs"
CONFIG = "deadline_ddr4_3"  # three classes at the paper's tick

RATE = 1_000_000_000
FIFO_MS = 1208 / 12  # mean round trip of the nine pairs of hosts: 4, 28, 54, 74, 98, 124, 150, 174, 200 ms
FIXED_MS, SECOND_FIXED_MS = 100, 80  # deadline of the other group; of the other flow in figures 6 and 7

SEGMENT, SECOND_SEGMENT = 1448, 8948  # bytes of payload; in figures 6 and 7 of jumbo frames, IP packets of 9,000 byte
BUFFER_BYTES, SECOND_BUFFER_BYTES = 6_291_456, 24_000_000  # of sockets: Linux' default; so that one connection can fill link and queue

PORT, FIFO, FIFOS = "port", "fifo", "fifos"
WORDS = {PORT: "EDFR", FIFO: "one FIFO", FIFOS: "a FIFO for each class"}


@dataclass(frozen=True)
class Case:
    """An experiment with a queue: deadlines of both classes in ms (a FIFO knows none)."""

    experiment: str  # long, http, second
    scheduler: str
    deadlines: tuple[float, float] = (FIXED_MS, FIXED_MS)

    @property
    def words(self) -> str:
        """Return what a reader calls its queue."""
        if self.scheduler != PORT:
            return WORDS[self.scheduler]
        return f"{WORDS[PORT]} {self.deadlines[0]:g}-{self.deadlines[1]:g}"


@dataclass(frozen=True)
class Length:
    """How long a run is: what counts begins at `begins`, and the second flow, where there is one, starts there."""

    seconds: float
    begins: float
    runs: int
    megabytes: float = 0.0  # of the second flow
    users: int = 0  # of each pair of hosts


@dataclass(frozen=True)
class Place:
    """Where runs are made."""

    rate: int  # of the link, bit/s
    words: str


IN_NS3 = Place(RATE, "CUBIC at 1 Gbit/s in ns-3")


@dataclass
class Run:
    """What one run says. Rows are of whole seconds; classes are columns."""

    begins: float
    rtt: dict[int, list[tuple[float, float, float]]] = field(default_factory=dict)  # of a flow: time s, smoothed ms, link ms
    delivered: dict[int, list[tuple[float, int]]] = field(default_factory=dict)  # of a flow: time s, bytes since its start
    port: list[list[tuple[float, int, int, int, int, int, int]]] = field(default_factory=lambda: [[], []])
    waits: list[dict[int, int]] = field(default_factory=lambda: [{}, {}])  # packets by whole ms
    longest_ms: list[float] = field(default_factory=lambda: [0.0, 0.0])
    pages: list[tuple[int, int, float]] = field(default_factory=lambda: [(0, 0, 0.0), (0, 0, 0.0)])
    grown: dict[int, list[tuple[int, float]]] = field(default_factory=dict)  # of a flow: bytes, s since its start
    facts: dict[str, int] = field(default_factory=dict)  # of the port
    clock: dict[str, Any] | None = None  # of a live run: its engine, and how far it was from real time

    def class_of(self, flow: int) -> int:
        """Return the class of a flow: the first half of the flows is of the first class."""
        return int(flow >= len(self.delivered) / 2)

    def buffering_ms(self, own: int) -> list[float]:
        """Return smoothed round trip less the link's, of each flow of the class and each second that counts."""
        return [
            smoothed - link
            for flow, rows in sorted(self.rtt.items()) if self.class_of(flow) == own
            for time, smoothed, link in rows if time > self.begins
        ]  # fmt: skip

    def sums(self, *own: int) -> dict[str, float]:
        """Return what the port has counted of a class, or several, while it counts: rate of what left in Mbit/s, share of packets dropped
        in %."""
        rows = np.array([row for number in own for row in self.port[number] if row[0] > self.begins], dtype=np.float64)
        if not len(rows):
            return {"mbps": 0.0, "dropped_percent": 0.0, "came": 0.0}
        _, came, _, sent, sent_bytes, dropped, _ = map(float, rows.sum(axis=0))
        fates, seconds = sent + dropped, len(np.unique(rows[:, 0]))
        return {"mbps": sent_bytes * 8 / seconds / 1e6, "dropped_percent": 100 * dropped / fates if fates else 0.0, "came": came}


def need() -> None:
    """Raise UserError with what to do when ns-3 is not there."""
    why = ns3.missing()
    if why:
        raise UserError(
            f"figures 4 to 7 are simulated in ns-3, and {why}: `python3 -m venv DIR && DIR/bin/pip install ns3`, then "
            "PENSTOCK_NS3=DIR/lib/python3.X/site-packages/ns3"
        )


def build() -> Path:
    """Return our program on ns-3. Raises RunError."""
    return ns3.build(PROGRAM, SOURCES, ("-O3",))


def arguments(case: Case, length: Length, seed: int) -> list[str]:
    """Return what the program is told."""
    config = configs.load_as(Config, CONFIG)
    second = case.experiment == "second"
    said: dict[str, Any] = {
        "experiment": case.experiment, "scheduler": case.scheduler, "deadlines": ",".join(f"{ms:g}" for ms in case.deadlines),
        "rate": RATE, "seconds": length.seconds, "from": length.begins, "second-start": length.begins, "seed": seed,
        "fifo": SECOND_FIXED_MS if second else round(FIFO_MS, 3), "bytes": round(length.megabytes * 1e6),
        "users": length.users, "buffer": SECOND_BUFFER_BYTES if second else BUFFER_BYTES,
        "segment": SECOND_SEGMENT if second else SEGMENT, "max-frame": config.max_frame_bytes,
        "clock": config.clock_hz, "classes": config.classes, "chunks": config.chunks, "places": config.places,
        "tick-cycles": config.tick_cycles, "stamps": config.stamps,
    }  # fmt: skip
    return [f"--{key}={value}" for key, value in said.items()]


def kept(program: Path, told: Sequence[str]) -> Path:
    """Return the file that has what `program` has printed with these arguments, once it has come to its end."""
    state = program.read_bytes() + "\0".join(told).encode()
    return RUNS / f"{hashlib.sha256(state).hexdigest()[:16]}.txt"


def simulate(case: Case, length: Length, seed: int, show: Callable[[float], None]) -> Run:
    """Run a case, unless that has been done; `show` is called with the simulated seconds now and then. Raises RunError."""
    program, told = build(), arguments(case, length, seed)
    file = kept(program, told)
    if file.exists():
        return read(file.read_text(encoding="utf-8"), length.begins)
    with tempfile.TemporaryDirectory() as folder:
        progress = Path(folder) / "seconds"

        def tick() -> None:
            if progress.exists() and (text := progress.read_text()):
                show(float(text))

        done = children.run([str(program), *told, f"--progress={progress}"], env=ns3.environment(), tick=tick)
    if done.returncode:
        raise RunError(f"ns-3 failed ({case.words}): {done.stderr[-2000:]}")
    found = read(done.stdout, length.begins)
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = file.with_suffix(f".{os.getpid()}")
    whole.write_text(done.stdout, encoding="utf-8")
    whole.rename(file)
    return found


def read(text: str, begins: float) -> Run:
    """Return what the program has printed (ns3/tcp.cpp says how). Raises RunError where the end is missing."""
    found = Run(begins)
    lines = text.splitlines()
    if not lines or not lines[-1].startswith("end"):
        raise RunError("ns-3's program has not come to its end")
    for line in lines:
        word, *values = line.split()
        match word:
            case "rtt":
                found.rtt.setdefault(int(values[1]), []).append((float(values[0]), int(values[2]) / 1e3, int(values[3]) / 1e3))
            case "flow":
                found.delivered.setdefault(int(values[1]), []).append((float(values[0]), int(values[2])))
            case "port":
                came, came_bytes, sent, sent_bytes, dropped, dropped_bytes = map(int, values[2:])
                found.port[int(values[1])].append((float(values[0]), came, came_bytes, sent, sent_bytes, dropped, dropped_bytes))
            case "wait":
                found.waits[int(values[0])][int(values[1])] = int(values[2])
            case "longest":
                found.longest_ms[int(values[0])] = int(values[1]) / 1e6
            case "pages":
                found.pages[int(values[0])] = (int(values[1]), int(values[2]), float(values[3]))
            case "grown":
                found.grown.setdefault(int(values[0]), []).append((int(values[1]), float(values[2])))
            case "end":
                found.facts = dict(zip(values[::2], map(int, values[1::2]), strict=True))
    return found


def run_all(cases: Sequence[Case], length: Length, seed: int, show: Callable[[str], None]) -> list[list[Run]]:
    """Return the runs of each case, on as many cores as there are. Raises RunError, KeyboardInterrupt."""
    from concurrent.futures import ThreadPoolExecutor, wait

    build()
    tasks = [(case, number) for number in range(length.runs) for case in cases]  # one of each, then the next ones
    at = [0.0] * len(tasks)
    lock = threading.Lock()

    def work(place: int) -> Run:
        case, number = tasks[place]

        def tell(seconds: float) -> None:
            with lock:
                at[place] = seconds
                done = sum(at) / (length.seconds * len(tasks))
            show(f"{case.words}: {100 * done:.0f} % of {len(tasks)} runs of {length.seconds:g} simulated seconds")

        found = simulate(case, length, seed + number, tell)
        tell(length.seconds)
        return found

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        futures = [pool.submit(work, place) for place in range(len(tasks))]
        try:
            wait(futures, return_when="FIRST_EXCEPTION")
            runs = [future.result() for future in futures if not future.cancelled()]
        except BaseException:
            for future in futures:
                future.cancel()
            children.end_all()
            pool.shutdown()
            children.begin_again()
            raise
    return [runs[place :: len(cases)] for place in range(len(cases))]
