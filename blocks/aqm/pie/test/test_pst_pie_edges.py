"""The constants of PIE to the last bit: the model against the RFC's pseudo-code, and pst_pie against the model, at each edge.

Random traffic does not meet a probability that is exactly 0.1, or an accumulated one that is exactly 0.85: here PIE is driven there.
"""

import sys
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.engine import engine
from penstock.testing.testkit import run_module, start

sys.path.insert(0, str(Path(__file__).parent))

import pie_drive
from pie_drive import ALPHA, BETA
from rfc8033 import GRID, MARK, PASS, Pie

UPDATE, BACKLOG = 40, 5000
ON = 3 << 36  # enabled, with ECN
SCRIPTS = pie_drive.scripts()
models = engine.models("aqm/pie")


@pytest.mark.parametrize("name", SCRIPTS)
def test_model_is_the_rfcs(name: str) -> None:
    model, draws = models.Pie(1, UPDATE, ALPHA, BETA), models.PieRandom()
    reference = Pie(0, 0, UPDATE, ALPHA * GRID, BETA * GRID, 1024, True)
    verdicts = []
    for number, (what, *given) in enumerate(SCRIPTS[name]):
        if what == "update":
            delay, target = given
            model.set(0, True, True, target, 0)
            model.depart(0, delay, BACKLOG)
            model.update(0)
            reference.current_qdelay, reference.qdelay_ref = delay, target
            if number == 0:  # it starts
                reference.qdelay_old = delay
            else:
                reference.calculate_drop_prob()
            assert model.probability(0) * GRID == reference.drop_prob, f"update {number}"
        else:
            (below,) = given
            drawn = next(d for d in iter(draws.next, None) if (d < model.probability(0)) == below)
            verdicts.append(model.arrive(0, BACKLOG, True, drawn))
            assert verdicts[-1] == reference.enqueue(BACKLOG, True, drawn * GRID), f"arrival {len(verdicts)}"
    expected = {
        "mark or drop at 429496729": [PASS] * 8 + [MARK],
        "0.85, just reached": [PASS, 2, PASS],
        "0.85, just missed": [PASS] * 7 + [2],
        "8.5, just reached": [PASS] * 16 + [2, PASS],
        "8.5, just missed": [PASS] * 15 + [2],
        f"guard at {pie_drive.FIFTH - 1}, low True": [PASS] * 6,
    }
    if name in expected:
        assert verdicts[: len(expected[name])] == expected[name]


class Bench:
    """pst_pie and its model; queue 0 is driven, queue 1, which is off, takes the random numbers that nobody wants."""

    def __init__(self, dut) -> None:
        self.dut, self.now = dut, 0
        self.model, self.draws = models.Pie(2, UPDATE, ALPHA, BETA), models.PieRandom()
        self.drawn = self.draws.next()

    async def step(self, ticks: int = 1) -> None:
        """A clock cycle; without a tick no update begins."""
        await FallingEdge(self.dut.clk_i)
        self.now += ticks
        self.dut.now_i.value = self.now
        for name in ("enq", "take", "cfg"):
            getattr(self.dut, f"s_{name}_valid_i").value = 0

    async def reset(self) -> None:
        """Forget everything: what a script begins with is what the last one left otherwise."""
        self.dut.rst_i.value = 1
        for _ in range(3):
            await self.step()
        self.dut.rst_i.value = 0
        while not int(self.dut.init_done_o.value):
            await self.step()

    async def update(self, delay: int, target: int) -> None:
        """Give queue 0 a setting and a departure, and wait until both have been updated; called when an update has just ended."""
        dut = self.dut
        dut.s_cfg_valid_i.value = dut.s_take_valid_i.value = 1
        dut.s_cfg_i.value = ON | target << 18
        dut.s_take_time_i.value, dut.s_take_left_i.value = delay, BACKLOG
        self.model.set(0, True, True, target, 0)
        self.model.depart(0, delay, BACKLOG)
        self.model.update(0)
        await self.step()
        while not (int(dut.ev_update_valid_o.value) and int(dut.ev_update_queue_o.value) == 0):
            await self.step()
        assert int(dut.prob.value) == self.model.probability(0), "probability"
        for _ in range(3):  # queue 1
            await self.step()

    async def offer(self, queue: int) -> int:
        """Let a packet arrive; return the verdict."""
        dut = self.dut
        dut.s_enq_valid_i.value, dut.s_enq_queue_i.value = 1, queue
        self.drawn = self.draws.next()
        for _ in range(4):
            await self.step(ticks=0)
        assert int(dut.m_enq_verdict_valid_o.value) and int(dut.m_enq_verdict_queue_o.value) == queue
        return int(dut.m_enq_verdict_o.value)

    async def arrive(self, below: bool) -> None:
        while (self.drawn < self.model.probability(0)) != below:
            await self.offer(1)
        drawn = self.drawn
        expected = self.model.arrive(0, BACKLOG, True, drawn)
        assert await self.offer(0) == expected, "verdict"


@cocotb.test()
async def edges(dut) -> None:
    for name in ("enq", "take", "cfg"):
        getattr(dut, f"s_{name}_valid_i").value = 0
    dut.now_i.value = 0
    dut.s_cfg_queue_i.value = dut.s_take_queue_i.value = 0
    dut.s_cfg_i.value = ON
    dut.s_enq_ect_i.value = 1
    dut.s_enq_backlog_i.value = BACKLOG
    await start(dut)
    for name, script in SCRIPTS.items():
        bench = Bench(dut)
        await bench.reset()
        try:
            for what, *given in script:
                await (bench.update(*given) if what == "update" else bench.arrive(*given))
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


def test_edges() -> None:
    parameters = {"Queues": 2, "UpdateTicks": UPDATE, "Alpha": ALPHA, "Beta": BETA, "Estimate": 1}
    run_module("aqm/pie", "pst_pie", parameters, inside=["pst_pie.prob"])
