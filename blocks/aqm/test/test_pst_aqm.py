"""pst_aqm, the plug: each algorithm and each source of the delay through the same ports, against the models."""

import random
from pathlib import Path

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from ruamel.yaml import YAML

from penstock.hardware import plugs
from penstock.parts.manifest import Part
from penstock.parts.registry import find
from penstock.paths import BUILD, block_file_list, read_file_list
from penstock.testing.testkit import BuildError, parameter, run_module, seed, start

QUEUES, PASS, DROP = 16, 0, 2
TICK = 4  # cycles
MEAN = 600  # bytes of a packet, as PIE has it


class Bench:
    """A look and an arrival in nearly every cycle; delays around the target; what comes out is compared in its cycle."""

    def __init__(self, dut) -> None:
        from penstock.engine import engine

        models = engine.models("aqm")

        self.dut, self.rng = dut, random.Random(seed())
        self.judges, self.estimate = parameter("Judges", 1), parameter("Estimate", 0)
        codel, pie = engine.models("aqm/codel"), engine.models("aqm/pie")
        self.models, self.draws = models, pie.PieRandom()
        self.codel = codel.Codel(QUEUES, 1514, bool(self.estimate), 20)
        self.pie = pie.Pie(QUEUES, 40, 60_000, 60_000, MEAN, 20)
        self.cycle = 0
        self.ready_at = [0] * QUEUES
        self.target = [0] * QUEUES
        self.looks: list[tuple[int, int]] = []
        self.departures: list[tuple[int, int, int, int]] = []  # cycle in which it counts for an update, queue, delay, left
        self.departed: list[tuple[int, int, int]] = []  # due, queue, verdict
        self.arrived: list[tuple[int, int, int]] = []
        self.backlogs = [0, 0]  # of the last two arrivals
        self.counts = {"departures": [0, 0, 0], "arrivals": [0, 0, 0]}

    async def configure(self) -> None:
        dut, rng = self.dut, self.rng
        for queue in range(QUEUES):
            enable, ecn, target, interval = rng.random() < 0.9, rng.random() < 0.5, rng.randrange(20, 200), rng.randrange(20, 200)
            self.codel.set(queue, enable, ecn, target, interval)
            self.pie.set(queue, enable, ecn, target, interval)
            self.target[queue] = target
            dut.s_cfg_valid_i.value, dut.s_cfg_queue_i.value = 1, queue
            dut.s_cfg_i.value = int(enable) << 37 | int(ecn) << 36 | target << 18 | interval
            await FallingEdge(dut.clk_i)
        dut.s_cfg_valid_i.value = 0

    def take(self, queue: int) -> None:
        dut, rng, late = self.dut, self.rng, 2 * self.estimate
        tick = self.cycle // TICK
        delay = max(0, self.target[queue] + rng.randrange(-3, 100) if rng.random() < 0.97 else 3)
        left = rng.randrange(1515, 4000) if rng.random() < 0.98 else rng.choice([0, 1514])
        ect, length = rng.random() < 0.5, rng.randrange(64, 1515)
        mantissa = exponent = 0
        if self.estimate:  # a rate at which the backlog has about this delay
            mantissa, exponent = rng.randrange(32768, 65536), 0
            while self.models.delay_estimate(left + length, mantissa, exponent, 2, 20) < delay and exponent < 31:
                exponent += 1
            delay = self.models.delay_estimate(left + length, mantissa, exponent, 2, 20)
        dut.s_take_time_i.value = rng.randrange(1 << 20) if self.estimate else (tick - delay) % (1 << 20)
        dut.s_take_left_i.value, dut.s_take_ect_i.value, dut.s_take_len_i.value = left, int(ect), length
        dut.s_take_mantissa_i.value, dut.s_take_exponent_i.value = mantissa, exponent
        judged = (self.cycle + late) // TICK  # the clock is read when the delay is known
        verdict = self.codel.step(queue, judged, delay if self.estimate else tick - delay, left, ect) if self.judges == 1 else PASS
        self.departures.append((self.cycle + late + 1, queue, delay, left))
        self.departed.append((self.cycle + late + 2, queue, verdict))
        self.counts["departures"][verdict] += 1

    async def run(self, cycles: int) -> None:
        dut, rng = self.dut, self.rng
        for _ in range(cycles):
            dut.now_i.value = (self.cycle // TICK) % (1 << 20)
            ready = [queue for queue in range(QUEUES) if self.ready_at[queue] <= self.cycle]
            dut.s_look_valid_i.value = int(bool(ready))
            if ready:
                queue = rng.choice(ready)
                dut.s_look_queue_i.value = queue
                self.ready_at[queue] = self.cycle + 11
                self.looks.append((self.cycle, queue))
            dut.s_take_valid_i.value = 0
            if self.looks and self.looks[0][0] == self.cycle - 2:
                _, queue = self.looks.pop(0)
                if rng.random() < 0.9:
                    dut.s_take_valid_i.value = 1
                    self.take(queue)
            arriving, backlog, ect = rng.randrange(QUEUES), rng.choice([2 * MEAN, 2 * MEAN + 1, 9999]), rng.random() < 0.5
            dut.s_enq_valid_i.value, dut.s_enq_queue_i.value = 1, arriving
            dut.s_enq_ect_i.value = int(ect)
            self.backlogs.append(backlog)
            dut.s_enq_backlog_i.value = self.backlogs.pop(0)  # that of the arrival two cycles ago
            await ReadOnly()
            while self.departures and self.departures[0][0] + 7 <= self.cycle:
                _, *departure = self.departures.pop(0)
                self.pie.depart(*departure)
            if self.judges == 2 and int(dut.u_algorithm.u_algorithm.ev_update_valid_o.value):
                self.pie.update(int(dut.u_algorithm.u_algorithm.ev_update_queue_o.value))
            verdict = self.pie.arrive(arriving, backlog, ect, self.draws.next()) if self.judges == 2 else PASS
            self.arrived.append((self.cycle + 4, arriving, verdict))
            self.counts["arrivals"][verdict] += 1
            self.check(self.departed, dut.m_deq_verdict_valid_o, dut.m_deq_verdict_queue_o, dut.m_deq_verdict_o)
            self.check(self.arrived, dut.m_enq_verdict_valid_o, dut.m_enq_verdict_queue_o, dut.m_enq_verdict_o)
            self.cycle += 1
            await FallingEdge(dut.clk_i)

    def check(self, due: list[tuple[int, int, int]], valid, queue, verdict) -> None:
        if due and due[0][0] == self.cycle:
            expected = due.pop(0)[1:]
            assert int(valid.value), f"cycle {self.cycle}: no verdict, seed {seed()}"
            assert (int(queue.value), int(verdict.value)) == expected, f"cycle {self.cycle}, seed {seed()}"
        else:
            assert not int(valid.value), f"cycle {self.cycle}: a verdict without a packet, seed {seed()}"


@cocotb.test()
async def verdicts(dut) -> None:
    for name in ("enq", "look", "take", "cfg"):
        getattr(dut, f"s_{name}_valid_i").value = 0
    dut.now_i.value = 0
    await start(dut)
    while not int(dut.init_done_o.value):
        await FallingEdge(dut.clk_i)
    bench = Bench(dut)
    await bench.configure()
    await bench.run(25_000)
    dut._log.info("%s, seed %d", bench.counts, seed())
    judged, passed = ("departures", "arrivals") if bench.judges == 1 else ("arrivals", "departures")
    assert min(bench.counts[judged]) > 15
    assert bench.counts[passed][1:] == [0, 0]


def plugged(part: Part, parameters: dict[str, int]) -> list[Path]:
    """Return the sources of pst_aqm with this AQM in it."""
    return plugs.sources(read_file_list(block_file_list("aqm")), part, plugs.written(part, parameters, BUILD / "plugs"))


@pytest.mark.parametrize("name, estimate", [("codel", 0), ("codel", 1), ("pie", 1)])
def test_verdicts(name: str, estimate: int) -> None:
    gains = {"UpdateTicks": 40, "Alpha": 60_000, "Beta": 60_000, "MeanPacketBytes": MEAN} if name == "pie" else {}
    shape = {"Queues": QUEUES, "Judges": 2 if name == "pie" else 1, "Estimate": estimate, "TimeWidth": 20, "TickShift": 2}
    updates = [f"pst_pie.ev_update_{signal}_o" for signal in ("valid", "queue")]
    run_module("aqm", "pst_aqm", shape, "verdicts", sources=plugged(find("aqm", name), gains), inside=updates)


@cocotb.test()
async def nothing_is_in(dut) -> None:
    """Without an AQM every packet passes, on both sides and in the same time."""
    rng = random.Random(seed())
    for name in ("enq", "look", "take", "cfg"):
        getattr(dut, f"s_{name}_valid_i").value = 0
    dut.now_i.value = 0
    await start(dut)
    assert int(dut.init_done_o.value)
    due: dict[str, dict[int, int]] = {"enq": {}, "deq": {}}
    looks: list[tuple[int, int]] = []
    for cycle in range(2_000):
        enq, look = rng.random() < 0.7, rng.random() < 0.7
        dut.s_enq_valid_i.value, dut.s_look_valid_i.value = int(enq), int(look)
        dut.s_enq_queue_i.value, dut.s_look_queue_i.value = queue, looked = rng.randrange(QUEUES), rng.randrange(QUEUES)
        if enq:
            due["enq"][cycle + 4] = queue
        if look:
            looks.append((cycle + 2, looked))
        taken = looks.pop(0)[1] if looks and looks[0][0] == cycle else None
        dut.s_take_valid_i.value = int(taken is not None)
        if taken is not None:
            due["deq"][cycle + 2] = taken
        await ReadOnly()
        for side, expected in due.items():
            valid, of, verdict = (getattr(dut, f"m_{side}_verdict{end}_o") for end in ("_valid", "_queue", ""))
            assert int(valid.value) == (cycle in expected), f"{side}, cycle {cycle}, seed {seed()}"
            assert not int(valid.value) or (int(of.value), int(verdict.value)) == (expected[cycle], PASS), f"{side}, cycle {cycle}"
        await FallingEdge(dut.clk_i)


@pytest.mark.parametrize("judges", [1, 2])
def test_nothing_is_in(judges: int) -> None:
    run_module("aqm", "pst_aqm", {"Queues": QUEUES, "Judges": judges}, "nothing_is_in")


LATE = """// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
module late_marker import pst_aqm_pkg::*; #(parameter int unsigned Queues = 2) (
    input logic clk_i, input logic s_take_valid_i, input logic [$clog2(Queues)-1:0] s_take_queue_i,
    output logic m_deq_verdict_valid_o, output logic [$clog2(Queues)-1:0] m_deq_verdict_queue_o, output verdict_e m_deq_verdict_o
);
  logic [2:0] valid_q;
  always_ff @(posedge clk_i) valid_q <= {valid_q[1:0], s_take_valid_i};
  assign m_deq_verdict_valid_o = valid_q[2];
  assign m_deq_verdict_queue_o = s_take_queue_i;
  assign m_deq_verdict_o       = VerdictPass;
endmodule
"""


@cocotb.test()
async def one_packet(dut) -> None:
    for name in ("enq", "look", "take", "cfg"):
        getattr(dut, f"s_{name}_valid_i").value = 0
    await start(dut)
    dut.s_look_valid_i.value, dut.s_look_queue_i.value = 1, 1
    for cycle in range(8):
        dut.s_take_valid_i.value = int(cycle == 2)
        await FallingEdge(dut.clk_i)
        dut.s_look_valid_i.value = 0


@pytest.mark.parametrize("late", [True, False])
def test_a_late_verdict_is_seen(late: bool, tmp_path: Path) -> None:
    """An algorithm whose verdict comes a cycle late ends the simulation with a sentence; the same one in time does not."""
    folder = tmp_path / "late_marker"
    (folder / "rtl").mkdir(parents=True)
    (folder / "late.hpp").touch()
    (folder / "rtl" / "late_marker.sv").write_text(
        LATE if late else LATE.replace("valid_q[2]", "valid_q[1]").replace("= s_take_queue_i", "= 1")
    )
    (folder / "part.yaml").write_text(
        "{kind: aqm, words: Late., sees: departures, rtl: {module: late_marker, files: [rtl/late_marker.sv]},"
        " model: {header: late.hpp, class: Late}}"
    )
    sources = plugged(Part.model_validate(YAML(typ="safe").load(folder / "part.yaml")).placed(folder), {})
    if late:
        with pytest.raises((AssertionError, RuntimeError)) as caught:
            run_module("aqm", "pst_aqm", {"Queues": 2}, "one_packet", sources=sources)
        assert not isinstance(caught.value, BuildError), caught.value
    else:
        run_module("aqm", "pst_aqm", {"Queues": 2}, "one_packet", sources=sources)
