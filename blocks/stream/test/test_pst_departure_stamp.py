"""pst_departure_stamp: nothing is changed but that each frame has the time at which its first beat appeared, at all of its beats."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing.testkit import Stream, parameter, run_module, seed, start, watch_held

TIME, USER = parameter("TimeWidth", 96), parameter("UserWidth", 1)


SIZES = [{"DataBytes": 8}, {"DataBytes": 8, "TimeWidth": 64, "UserWidth": 16, "IdWidth": 8}]


@pytest.mark.parametrize("parameters", SIZES, ids=["96", "64"])
def test_departure_stamp(parameters: dict[str, int]) -> None:
    run_module("stream", "pst_departure_stamp", parameters)


@cocotb.test()
async def time_of_the_first_beat(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    names = ("tdata", "tkeep", "tlast", "tid", "tuser")
    pins = {side: {name: getattr(dut, f"{side}_axis_{name}_{way}") for name in names} for side, way in (("s", "i"), ("m", "o"))}
    dut.s_axis_tvalid_i.value = dut.m_axis_tready_i.value = dut.time_i.value = 0
    await start(dut)
    source = Stream(dut.clk_i, dut.s_axis_tvalid_i, dut.s_axis_tready_o, pins["s"], 0.7, random.Random(rng.random()))
    sink = Stream(dut.clk_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, pins["m"], 0.5, random.Random(rng.random()))
    found: list[dict[str, int]] = []
    appeared: list[int] = []  # time that each frame's first beat appeared with

    async def clock() -> None:
        """A time that jumps as one that is being set does; it is sampled with the edge that brings the beat."""
        within, shown, sampled = False, False, 0
        while True:
            await FallingEdge(dut.clk_i)
            dut.time_i.value = now = rng.getrandbits(TIME)
            await ReadOnly()
            valid = int(dut.m_axis_tvalid_o.value)
            if valid and not within and not shown:
                appeared.append(sampled)
            shown = bool(valid)
            if valid and int(dut.m_axis_tready_i.value):
                within, shown = not int(dut.m_axis_tlast_o.value), False
            sampled = now

    cocotb.start_soon(watch_held(dut.clk_i, dut.rst_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, pins["m"]))
    cocotb.start_soon(sink.receive(found))
    cocotb.start_soon(clock())
    sent, frame = [], 0
    for number in range(2000):
        last = rng.random() < 0.5
        beat = {"tdata": rng.getrandbits(64), "tkeep": rng.getrandbits(8), "tlast": int(last), "tid": frame & 0xFF}
        beat["tuser"] = rng.getrandbits(USER)
        sent.append(beat | {"frame": frame})
        frame += last
        if last and number > 1900:
            break
    await source.send(sent)
    for _ in range(50):
        await FallingEdge(dut.clk_i)
    assert len(found) == len(sent) and len(appeared) == frame
    for beat, was in zip(found, sent, strict=True):
        assert beat == {name: was[name] for name in names} | {"tuser": appeared[was["frame"]] << USER | was["tuser"]}
