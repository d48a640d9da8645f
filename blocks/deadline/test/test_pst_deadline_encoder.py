"""pst_deadline_encoder against its model in every cycle, and against plain arithmetic: what it takes is the minimum of the heads there."""

import random
from dataclasses import dataclass, field

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from penstock.testing.testkit import BLOCKS, parameter, reset, run_module, seed, start

MASK = (1 << 32) - 1
REGIMES = ("random", "hot", "two", "alone", "late", "stalled", "sparse")


def sign(difference: int) -> int:
    """Return a difference modulo 2^32 as a signed number."""
    return (difference + 2**31) % 2**32 - 2**31


@dataclass
class Classes:
    """What stands behind the heads: how many frames each class has at hand, and how often a class with none gets some."""

    rng: random.Random
    count: int
    hand: dict[int, int] = field(default_factory=dict)
    regime: str = "random"

    def refill(self) -> int:
        """Return how many frames come at hand when a class's head appears, that one included."""
        return {"alone": 1, "hot": self.rng.choice((1, 500)), "two": 50}.get(self.regime, self.rng.randint(1, 8))

    def chosen(self) -> int:
        rng = self.rng
        if self.regime == "hot" and rng.random() < 0.7:
            return 0
        if self.regime == "two":
            return rng.randrange(2)
        return rng.randrange(self.count)

    def deadline(self, now: int) -> int:
        rng = self.rng
        spread = rng.choice((4, 100, 10_000, 2**31 - 2**22))
        if self.regime == "late" or rng.random() < 0.1:
            return (now - rng.randrange(1, 2**20)) & MASK
        return (now + rng.choice((0, 1, rng.randrange(spread)))) & MASK


class Bench:
    """One cycle after the other: drives, answers `next` in the same cycle, and compares."""

    def __init__(self, dut, rng: random.Random) -> None:
        from penstock.engine import engine

        models = engine.models("deadline")

        self.dut, self.rng = dut, rng
        self.count, self.patience = parameter("Classes", 64), parameter("Patience", 4)
        self.model = models.EdfrEncoder(self.patience)
        self.bounds = False
        self.restart(0)
        self.counts = dict.fromkeys(("taken", "dropped", "followed", "waited", "stalled", "bounded", "within"), 0)

    def restart(self, now: int) -> None:
        self.model.reset()
        self.standing: dict[int, tuple[int, int]] = {}  # class: deadline, when it came
        self.classes = Classes(self.rng, self.count)
        self.offered: tuple[int, int] | None = None
        self.now, self.age, self.waited = now, 0, 0

    def idle(self) -> None:
        for name in (
            "s_head_valid",
            "s_head_class",
            "s_head_deadline",
            "take_ready",
            "bound_valid",
            "bound",
            "next_valid",
            "next_deadline",
            "now",
        ):
            getattr(self.dut, f"{name}_i").value = 0

    def bound(self) -> int | None:
        """The earliest deadline of others: near that of some head that stands here, or of none."""
        if not parameter("Bounded", 0):
            return None
        if not self.bounds or not self.standing or self.rng.random() < 0.5:
            return None
        return (self.rng.choice(list(self.standing.values()))[0] + self.rng.choice((-1, 0, 0, 1))) & MASK

    async def cycle(self, appears: float, ready: float) -> None:
        """`appears`: chance that the head of a class appears; `ready`: that the output takes a frame."""
        dut, rng = self.dut, self.rng
        await FallingEdge(dut.clk_i)
        if self.offered is None and len(self.standing) < self.count and rng.random() < appears:
            class_ = self.classes.chosen()
            if class_ not in self.standing:
                self.offered = (class_, self.classes.deadline(self.now))
        take_ready, bound = rng.random() < ready, self.bound()
        dut.now_i.value, dut.take_ready_i.value = self.now, take_ready
        ignored = not parameter("Bounded", 0) and rng.random() < 0.5
        dut.bound_valid_i.value, dut.bound_i.value = bound is not None or ignored, rng.getrandbits(32) if bound is None else bound
        dut.s_head_valid_i.value = self.offered is not None
        if self.offered:
            dut.s_head_class_i.value, dut.s_head_deadline_i.value = self.offered
        await Timer(1, unit="ns")

        # The decision, in plain arithmetic: the earliest of all that stand, of equal ones the oldest.
        where = f"cycle {self.age}, now {self.now:#x}"
        valid, class_ = bool(int(dut.take_valid_o.value)), int(dut.take_class_o.value)
        expected = self.model.decide(self.now, take_ready, bound)
        assert valid == (expected is not None), f"{where}: taken {valid}, model {expected is not None}"
        first = min(self.standing, key=lambda c: (sign(self.standing[c][0] - self.now), self.standing[c][1]), default=None)
        held = self.waited == self.patience
        if first is None or held:
            assert not valid, f"{where}: taken of nothing, or while a head must be let in"
        else:
            over = sign(self.now - self.standing[first][0]) > 0
            later = bound is not None and sign(self.standing[first][0] - bound) > 0
            may = take_ready and not later
            assert valid == (may or over), f"{where}: the earliest, class {first}, is over: {over}, ready: {take_ready}, later: {later}"
            assert int(dut.take_deadline_o.value) == self.standing[first][0], f"{where}: the earliest is class {first}"
            self.counts["stalled"] += not valid
            self.counts["bounded"] += take_ready and not valid
            self.counts["within"] += bound is not None and valid and not over
        assert bool(int(dut.front_valid_o.value)) == (first is not None and sign(self.now - self.standing[first][0]) <= 0), where
        following = None
        if valid:
            drop, deadline = bool(int(dut.take_drop_o.value)), int(dut.take_deadline_o.value)
            assert (class_, deadline, drop) == (first, self.standing[first][0], over), f"{where}: the earliest is class {first}"
            assert (class_, deadline, drop) == (expected.id, expected.deadline, expected.drop), f"{where}: the model takes {expected.id}"
            assert bool(int(dut.take_pending_o.value)) == expected.from_pending, where
            lookup = dut.pending_class_o if expected.from_pending else dut.first_class_o
            assert int(lookup.value) == class_, f"{where}: the early class is {int(lookup.value)}, taken is {class_}"
            self.counts["taken"] += 1
            self.counts["dropped"] += drop
            if self.classes.hand[class_] > 1:
                following = self.classes.deadline(self.now)
        # What is at hand behind it; without a decision these wires mean nothing.
        dut.next_valid_i.value = following is not None if valid else rng.getrandbits(1)
        dut.next_deadline_i.value = rng.getrandbits(32) if following is None else following
        await Timer(1, unit="ns")
        accepted = bool(int(dut.s_head_ready_o.value))
        assert accepted == self.model.clock(expected, following, self.offered), f"{where}: head accepted: {accepted}"

        self.waited = self.waited + 1 if self.offered and not accepted else 0
        assert self.waited <= self.patience, f"{where}: a head waits for {self.waited} cycles"
        self.counts["waited"] += self.waited == self.patience
        if valid:
            del self.standing[class_]
            self.classes.hand[class_] -= 1
            if following is not None:
                self.standing[class_] = (following, self.age)
                self.counts["followed"] += 1
        if self.offered and accepted:
            self.standing[self.offered[0]] = (self.offered[1], self.age)
            self.classes.hand[self.offered[0]] = self.classes.refill()
            self.offered = None
        assert len(self.model) == len(self.standing)
        self.age += 1
        self.now = (self.now + 1) & MASK

    async def drain(self) -> None:
        """Nothing new comes: all that stands leaves."""
        self.classes.regime = "alone"
        self.classes.hand = dict.fromkeys(range(self.count), 1)
        for _ in range(self.count + self.patience + 4):
            await self.cycle(0, 1)
        assert not self.standing, f"{len(self.standing)} heads never left"


@cocotb.test()
async def always_the_earliest(dut) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    bench = Bench(dut, rng)
    bench.idle()
    await start(dut)
    for number, regime in enumerate(REGIMES * 2):
        # Times wrap in some of the runs. A reset in mid-traffic forgets all heads.
        bench.idle()
        await reset(dut)
        bench.restart(rng.choice((0, 2**32 - 100, 2**31 - 100, rng.getrandbits(32))))
        bench.classes.regime = regime
        bench.bounds = number % 2 == 0
        appears = {"sparse": 0.05, "late": 1.0, "alone": 1.0}.get(regime, rng.choice((0.3, 1.0)))
        for _ in range(max(250, 2 * bench.count)):
            await bench.cycle(appears, {"stalled": 0.1}.get(regime, rng.choice((1.0, 1.0, 0.7))))
        if number % 2:
            await bench.drain()
    print(bench.counts)
    tried = {name: count for name, count in bench.counts.items() if parameter("Bounded", 0) or name not in ("bounded", "within")}
    assert min(tried.values()) > 20, f"the run did not try everything: {bench.counts}"


@cocotb.test()
async def all_classes_at_once(dut) -> None:
    """Every class has a head and nothing is taken; then all leave, a decision per cycle, in order; and once more, all of them over."""
    rng = random.Random(seed())
    bench = Bench(dut, rng)
    bench.idle()
    await start(dut)
    for late in (False, True):
        bench.restart(2**32 - 3)
        ids = list(range(bench.count))
        rng.shuffle(ids)
        for class_ in ids:
            bench.offered = (class_, (bench.now + 2**20 + rng.randrange(bench.count)) & MASK)
            await bench.cycle(0, 0)
        await bench.cycle(0, 0)
        assert len(bench.standing) == bench.count
        for class_ in ids:
            bench.classes.hand[class_] = 1
        if late:
            bench.now = (bench.now + 2**20 + 2 * bench.count) & MASK
        before = dict(bench.counts)
        for _ in ids:
            await bench.cycle(0, 0 if late else 1)
        assert bench.counts["taken"] - before["taken"] == bench.count, "not a decision in each cycle"
        assert bench.counts["dropped"] - before["dropped"] == (bench.count if late else 0)


@cocotb.test()
async def a_head_gets_in(dut) -> None:
    """One class has frames without end: the head of another is in after Patience cycles, and a decision is lost for each."""
    bench = Bench(dut, random.Random(seed()))
    bench.idle()
    await start(dut)
    bench.restart(1000)
    bench.classes.regime = "alone"
    bench.offered = (0, bench.now)
    await bench.cycle(0, 1)
    bench.classes.hand[0] = 10**9
    taken = bench.counts["taken"]
    for _ in range(100):
        if bench.offered is None and 1 not in bench.standing:
            bench.offered = (1, (bench.now - 1) & MASK)
        await bench.cycle(0, 1)
    assert 100 - (bench.counts["taken"] - taken) <= 100 // (bench.patience + 1) + 1


SLOW = pytest.mark.slow
CASES = [(3, 4, 1), (16, 1, 0), pytest.param(64, 4, 0, marks=SLOW), pytest.param(256, 4, 1, marks=SLOW)]


@pytest.mark.parametrize("classes, patience, bounded", CASES, ids=["3-4", "16-1", "64-4", "256-4"])
def test_pst_deadline_encoder(classes: int, patience: int, bounded: int) -> None:
    from penstock.engine import engine

    engine.build()
    parameters = {"Classes": classes, "Patience": patience, "Bounded": bounded}
    run_module("deadline", "pst_deadline_encoder", parameters, sources=[BLOCKS / "deadline" / "rtl" / "pst_deadline_encoder.sv"])
