"""Sums by node, port and class of a device that counts by node and class itself: against registers that behave as documented."""

import random
import threading
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import sweep as sweeps
from penstock.designs.access_edge.control.facts import Hierarchy
from penstock.designs.access_edge.control.sweep import COLUMNS, OUT_B, Sweep
from penstock.designs.access_edge.testing.control import CONFIG, CountingMirror, home, plant_of
from penstock.driver.carrier import READ, TIME, WAIT, WRITE
from penstock.testing.testkit import seed

NODES, CLASSES, CLOCK = 8, 3, 200_000_000
PORT_OF = np.array([0, 1, 1, 0, 2, 3, 3, 1])
FACTS = SimpleNamespace(
    queues=64,
    subscribers=16,
    busiest=0,
    clock_hz=CLOCK,
    hierarchy=Hierarchy(4, NODES, 4, CLASSES),
    queues_per_subscriber=4,
    aqm="codel",
    node_counters=True,
    header_profiles=0,
)
SHOWN = (
    "in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes", "aqm_drop_packets", "aqm_drop_bytes",
    "mark_packets",
)  # fmt: skip


class Counter:
    """A device that counts; what a snapshot showed stands until the next one."""

    name = "counter"

    def __init__(self) -> None:
        self.counts = np.zeros((NODES, CLASSES, len(COLUMNS)), dtype=np.uint64)
        self.index = {registers.address(name): 0 for name in ("node_index", "node_class")}
        self.shown: dict[int, int] = {}
        self.now = 0

    def cycles(self) -> int:
        return self.now

    def run(self, program: Any, step: int = 0) -> Any:
        found = []
        for kind, address, value, _ in program.tolist():
            if kind == WRITE and address in self.index:
                self.index[address] = value
            elif kind == WRITE:
                assert (address, value) == (registers.address("queue_command"), registers.COMMAND_SNAPSHOT_NODE)
                counts = self.counts[tuple(self.index.values())].tolist()
                at = [registers.address(name) for name in SHOWN]
                self.shown = {
                    low + 4 * half: count >> 32 * half & 0xFFFF_FFFF for low, count in zip(at, counts, strict=True) for half in (0, 1)
                }
            elif kind == READ:
                found.append(self.shown[address])
            elif kind == TIME:
                now = self.now * 1_000_000_000 // CLOCK
                found += [now & 0xFFFF_FFFF, now >> 32]
            else:
                assert kind == WAIT
        return np.array(found, dtype=np.uint32)


class Flowing(Counter):
    """Whose counters grow at rates of their own while it is read, by a machine that is busy: any time may pass between two accesses."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.rng, self.now = rng, CLOCK
        self.rates = np.array([[rng.choice([0, rng.random()]) for _ in range(CLASSES)] for _ in range(NODES)])  # byte a cycle

    def run(self, program: Any, step: int = 0) -> Any:
        found = []
        for row in range(0, len(program), step):
            self.now += int(self.rng.choice([0, self.rng.random(), self.rng.random()]) * CLOCK * 0.05)
            self.counts[:, :, OUT_B] = (self.rates * self.now).astype(np.uint64)
            found.append(super().run(program[row : row + step]))
        return np.concatenate(found)


def sweep_of(device: Counter, kept: dict[str, bytes], facts: Any = FACTS) -> Sweep:
    """A sweep over the device; what it keeps is in `kept`."""
    intent = SimpleNamespace(kept=kept.get, keep=kept.__setitem__, checkpoint=lambda: None, path=None, seed=lambda: 0)
    plant = SimpleNamespace(facts=facts, carrier=device, port_of=PORT_OF, intent=intent, lock=threading.Lock(), flush=lambda: None)
    return Sweep(cast(Any, plant))


def sums(sweep: Sweep) -> dict[str, list[list[int]]]:
    return {level: [row.counts for row in sweep.sums(level)] for level in ("device", "node", "port", "class")}


def added_up(counts: Any) -> dict[str, list[list[int]]]:
    """The same of counters by node and class, by hand."""
    by_port = [[sum(int(counts[n, :, c].sum()) for n in range(NODES) if PORT_OF[n] == p) for c in range(len(COLUMNS))] for p in range(4)]
    by_class = [counts[:, k].sum(axis=0).tolist() if k < CLASSES else [0] * len(COLUMNS) for k in range(registers.MAX_CLASS + 1)]
    return {"device": [counts.sum(axis=(0, 1)).tolist()], "node": counts.sum(axis=1).tolist(), "port": by_port, "class": by_class}


def test_sums_are_the_devices_own() -> None:
    """At every look; after a restart what came meanwhile is in them; a reset of the device takes nothing away."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = np.random.default_rng(seed())
    device, kept = Counter(), cast(dict[str, bytes], {})
    sweep, before, last = sweep_of(device, kept), np.zeros_like(device.counts), np.zeros_like(device.counts)
    for number in range(12):
        device.counts += rng.integers(0, 1 << 45, device.counts.shape, dtype=np.uint64) + np.uint64(1)
        device.now += CLOCK // 4
        if number == 4:
            sweep._keep()
            sweep = sweep_of(device, kept)
        if number == 8:  # what it had counted stays, and it counts from nothing on
            before += last
            device.counts = rng.integers(0, 1000, device.counts.shape, dtype=np.uint64)
            device.counts[0, 0] += last[0, 0]  # one is beyond where it was already: the others say that it was reset
        sweep.look_at_nodes()
        assert sums(sweep) == added_up(before + device.counts), number
        last = device.counts.copy()


def test_rates_are_of_the_time_between_two_looks() -> None:
    rng, device = random.Random(seed()), Counter()
    sweep = sweep_of(device, {})
    device.now = 1
    sweep.look_at_nodes()
    assert all(row.rate_bps == 0 for row in sweep.sums("node"))
    for seconds in (0.5, 2.0):
        sent = np.zeros((NODES, CLASSES, len(COLUMNS)), dtype=np.uint64)
        sent[rng.randrange(NODES), rng.randrange(CLASSES), OUT_B] = 1_000_000
        sent[3, 1, OUT_B] += np.uint64(500_000)
        device.counts += sent
        device.now += int(seconds * CLOCK)
        sweep.look_at_nodes()
        for level, expected in added_up(sent).items():
            assert [row.rate_bps for row in sweep.sums(level)] == [int(8 * counts[OUT_B] / seconds) for counts in expected], level


def test_rates_are_bytes_and_time_of_the_same_snapshots() -> None:
    """However long the machine takes from one access to the next, what is shown is what flows: none of it is of two moments."""
    print(f"PENSTOCK_SEED={seed()}")
    device = Flowing(random.Random(seed()))
    sweep = sweep_of(device, {})
    sweep.look_at_nodes()
    per_second = device.rates * 8 * CLOCK
    for _ in range(30):
        sweep.look_at_nodes()
        assert [row.rate_bps for row in sweep.sums("node")] == pytest.approx(per_second.sum(axis=1), rel=1e-4, abs=100)
        shown = [row.rate_bps for row in sweep.sums("port")]
        assert shown == pytest.approx([per_second[port == PORT_OF].sum() for port in range(4)], rel=1e-4, abs=100)


@pytest.mark.parametrize(("seconds", "readings"), [(0.001, 1), (0.04, 2), (0.3, 9)])
def test_rates_are_of_half_a_second_at_least(seconds: float, readings: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told of nodes and of the busiest queues is of the end of each sweep, which takes 16 times `seconds`, and of as much time as
    is between two sweeps: of a shorter one the rate of a slow queue would be nothing, or a multiple."""
    plant = plant_of(CountingMirror(configs.load(CONFIG)))
    plant.change([lambda number=number: home(f"h{number}") for number in range(16)])
    now, read = [1000.0], {"busiest": [0.0], "nodes": [0.0]}

    def passes(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(sweeps, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(sweeps, "AT_ONCE", 4)
    sweep = Sweep(plant)
    monkeypatch.setattr(sweep, "_note_history", lambda: None)  # there is no subscriber
    sweep._stop = cast(Any, SimpleNamespace(wait=passes, is_set=lambda: False))
    sweep.look = lambda *_, **__: passes(seconds)  # type: ignore[method-assign]

    def scan() -> None:
        read["busiest"].append(now[0])
        sweep._scanned_at = now[0]

    def look_at_nodes() -> None:
        read["nodes"].append(now[0])
        sweep._by_node_at = now[0]

    sweep.find_busiest, sweep.look_at_nodes = scan, look_at_nodes  # type: ignore[method-assign]
    for _ in range(4):
        began = now[0]
        sweep._once()
        assert read["busiest"][-1] == read["nodes"][-1] == now[0] == sweep.finished_at
        assert now[0] < began + 16 * seconds + sweeps.SCAN_SECONDS
        passes(max(0.5, now[0] - began))
    for times in read.values():
        assert len(times) == 1 + 4 * readings, times
        assert min(np.diff(times)) > sweeps.SCAN_SECONDS - 1e-6, times


def test_sums_that_an_earlier_version_kept_go_on() -> None:
    """It added up by queue. What the device has counted until the first look is in them already."""
    device, kept = Counter(), {}
    sweep = sweep_of(device, kept)
    device.counts += np.uint64(7)
    sweep.look_at_nodes()
    first, sweep._by_node = sums(sweep), None
    sweep._keep()
    sweep = sweep_of(device, kept)
    sweep.look_at_nodes()
    assert sums(sweep) == first
    device.counts += np.uint64(2)
    sweep.look_at_nodes()
    assert sums(sweep) == added_up(device.counts)


def test_sums_of_other_ports_and_classes_begin_anew() -> None:
    """A store of an earlier version may be of a device that has as many nodes and other ports and classes: what it has of nodes goes on."""
    device, kept = Counter(), cast(dict[str, bytes], {})
    sweep = sweep_of(device, kept, SimpleNamespace(**vars(FACTS) | {"hierarchy": Hierarchy(4, NODES, 6, CLASSES + 1)}))
    sweep._by_node = np.full((NODES, CLASSES + 1, len(COLUMNS)), 3, dtype=np.uint64)
    for level in sweep._sums.values():
        level[:] = 7
    sweep._keep()
    sweep = sweep_of(device, kept)
    sweep.look_at_nodes()
    device.counts += np.uint64(2)
    sweep.look_at_nodes()
    expected = added_up(device.counts)
    expected |= {level: (np.array(expected[level]) + 7).tolist() for level in ("device", "node", "class")}
    assert sums(sweep) == expected
