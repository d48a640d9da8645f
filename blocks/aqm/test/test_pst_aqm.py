"""pst_aqm, the plug: each algorithm and each source of the delay through the same ports, against the models."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import parameter, run_module, seed, start

QUEUES, PASS, DROP = 16, 0, 2
TICK = 4  # cycles
MEAN = 600  # bytes of a packet, as PIE has it


class Bench:
    """A look and an arrival in nearly every cycle; delays around the target; what comes out is compared in its cycle."""

    def __init__(self, dut) -> None:
        from penstock._engine import models

        self.dut, self.rng = dut, random.Random(seed())
        self.algorithm, self.estimate = parameter("Algorithm", 0), parameter("Estimate", 0)
        self.models, self.draws = models, models.PieRandom()
        self.codel = models.Codel(QUEUES, 1514, bool(self.estimate), 20)
        self.pie = models.Pie(QUEUES, 40, 60_000, 60_000, MEAN, 20)
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
            dut.s_cfg_enable_i.value, dut.s_cfg_ecn_i.value = int(enable), int(ecn)
            dut.s_cfg_target_i.value, dut.s_cfg_interval_i.value = target, interval
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
        verdict = self.codel.step(queue, judged, delay if self.estimate else tick - delay, left, ect) if self.algorithm == 0 else PASS
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
            if int(dut.ev_update_valid_o.value):
                self.pie.update(int(dut.ev_update_queue_o.value))
            verdict = self.pie.arrive(arriving, backlog, ect, self.draws.next()) if self.algorithm == 1 else PASS
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
    judged, passed = ("departures", "arrivals") if bench.algorithm == 0 else ("arrivals", "departures")
    assert min(bench.counts[judged]) > 15
    assert bench.counts[passed][1:] == [0, 0]


@pytest.mark.parametrize("algorithm, estimate", [(0, 0), (0, 1), (1, 1)])
def test_verdicts(algorithm: int, estimate: int) -> None:
    gains = {"UpdateTicks": 40, "Alpha": 60_000, "Beta": 60_000, "MeanPacketBytes": MEAN}
    times = {"TimeWidth": 20, "TickShift": 2}
    run_module("aqm", "pst_aqm", {"Queues": QUEUES, "Algorithm": algorithm, "Estimate": estimate, **times, **gains})
