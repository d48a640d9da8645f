"""pst_ecn_detect on frames that scapy built."""

import random

import cocotb
from cocotb.triggers import Timer

from penstock.testing.testkit import run_module, seed


@cocotb.test()
async def fields(dut) -> None:
    from ecn_frames import CE, ECT0, ECT1, beats, frame

    rng, seen = random.Random(seed()), {}
    for i in range(3000):
        data, ecn = frame(rng)
        beat, keep, _ = beats(data)[0]
        if len(data) < 64:  # what is beyond the end must not matter
            beat |= rng.getrandbits(512) >> 8 * len(data) << 8 * len(data)
        dut.data_i.value = beat
        dut.keep_i.value = keep
        await Timer(1, "ns")
        assert int(dut.ect_o.value) == (ecn in (ECT0, ECT1)), f"frame {i}, seed {seed()}: {data.hex()}"
        assert int(dut.ce_o.value) == (ecn == CE), f"frame {i}, seed {seed()}: {data.hex()}"
        seen[ecn] = seen.get(ecn, 0) + 1
    assert min(seen.values()) > 200 and len(seen) == 5


def test_fields() -> None:
    run_module("aqm", "pst_ecn_detect")
