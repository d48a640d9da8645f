"""pst_access_edge_drain: what is under way is counted, and nothing new comes while the device is stopped."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from penstock.hardware import library
from penstock.testing import testkit

MEMORIES, MOST = 3, 4
CHANNELS = ("awvalid", "awready", "wvalid", "bvalid", "bready", "arvalid", "arready", "rvalid", "rready", "rlast")


@cocotb.test()
async def random_stops(dut) -> None:
    """In each cycle the answers are those of a list of frames and bursts; a frame that has begun comes in whole, an offer stays."""
    rng = random.Random(testkit.seed())
    dut._log.info(f"PENSTOCK_SEED={testkit.seed()}")
    signals = ("counting", "stop", "in_valid", "in_last", "in_ready", "refused", "enqueued", "deq_valid", "deq_ready", "left")
    for name in (*signals, *(f"axi_{name}" for name in CHANNELS)):
        getattr(dut, f"{name}_i").value = 0
    await testkit.start(dut)
    half, inside, sending, offered = False, 0, 0, False
    counters = testkit.parameter("CounterMemory", 0)  # the last memory is asked at rest, too
    bursts = [[0, 0] for _ in range(MEMORIES)]  # writes, reads
    pending: deque[tuple[bool, int]] = deque([(False, 0)])  # what the outputs are to show a cycle later
    stop, source, queued, rests, calm = 0, None, False, 0, 0.5
    for _ in range(20_000):
        await FallingEdge(dut.clk_i)
        if rng.random() < 0.01:
            stop, calm = rng.getrandbits(1), rng.choice([0.5, 0.1])
        source = source if source is not None else (rng.getrandbits(1) if rng.random() < 0.5 else None)
        queued = queued or rng.random() < 0.4
        refused = inside - half > 0 and rng.random() < 0.2
        enqueued = inside - half - refused > 0 and rng.random() < 0.4
        left = sending > 0 and rng.random() < 0.5
        in_ready, deq_ready = int(rng.random() < 0.7), int(rng.random() < 0.6 and sending < 9)
        counting = int(rng.random() < 0.2)
        values = {"counting": counting, "stop": stop, "in_valid": int(source is not None), "in_last": source or 0, "in_ready": in_ready,
                  "refused": int(refused), "enqueued": int(enqueued), "deq_valid": int(queued), "deq_ready": deq_ready,
                  "left": int(left)}  # fmt: skip
        bits = dict.fromkeys(CHANNELS, 0)
        busy = 0
        # Bursts are asked for while frames are under way, as in the device.
        for m, (writes, reads) in enumerate(bursts):
            wants = inside + sending > 0 or (counters and m == MEMORIES - 1 and rng.random() < 0.3)
            one = {
                "awvalid": wants and writes < MOST and rng.random() < calm, "awready": rng.random() < 0.5,
                "wvalid": wants and rng.random() < calm,
                "bvalid": writes > 0 and rng.random() < 0.5, "bready": rng.random() < 0.7,
                "arvalid": wants and reads < MOST and rng.random() < calm, "arready": rng.random() < 0.5,
                "rvalid": reads > 0 and rng.random() < 0.6, "rready": rng.random() < 0.7, "rlast": rng.random() < 0.5,
            }  # fmt: skip
            for name, bit in one.items():
                bits[name] |= int(bit) << m
            busy |= int(bool(one["awvalid"] or one["arvalid"] or one["wvalid"] or writes or reads)) << m
            bursts[m][0] += int(one["awvalid"] and one["awready"]) - int(one["bvalid"] and one["bready"])
            bursts[m][1] += int(one["arvalid"] and one["arready"]) - int(one["rvalid"] and one["rready"] and one["rlast"])
        for name, value in {**values, **{f"axi_{name}": bit for name, bit in bits.items()}}.items():
            getattr(dut, f"{name}_i").value = value
        await Timer(1, unit="ns")
        done, outstanding = pending.popleft()
        assert (bool(int(dut.done_o.value)), int(dut.outstanding_o.value)) == (done, outstanding)
        rests += done
        valid, deq_valid = int(dut.in_valid_o.value), int(dut.deq_valid_o.value)
        assert valid == int(source is not None and (not stop or half)), "a frame comes in or not, against the rule"
        assert int(dut.in_ready_o.value) == int(in_ready and (not stop or half))
        assert deq_valid == int(queued and (not stop or offered)) and int(dut.deq_ready_o.value) == int(deq_ready and (not stop or offered))
        at_rest = bool(stop and not half and not inside and not sending and not deq_valid and not busy and not (counters and counting))
        pending.append((at_rest, busy))
        if valid and in_ready:
            inside += not half
            half, source = not source, None
        inside -= refused + enqueued
        taken = deq_valid and deq_ready
        sending += taken - left
        offered, queued = bool(deq_valid and not taken), bool(queued and not taken)
    assert rests > 100, rests


@pytest.mark.parametrize("counters", [0, 1])
def test_pst_access_edge_drain(counters: int) -> None:
    sources = library.sources_of("pst_access_edge_drain")
    sizes = {"Memories": MEMORIES, "MaxOutstanding": MOST, "CounterMemory": counters}
    testkit.run_module("access_edge", "pst_access_edge_drain", sizes, sources=sources)
