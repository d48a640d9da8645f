# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_bridge_send: frames without a gap in them, each stream in its order, control frames before all others that wait."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.designs.bridge.testing.bridge_frames import framed, words_of
from penstock.paths import DESIGNS, read_file_list
from penstock.testing.testkit import Stream, parameter, run_module, seed, start, watch_held

BYTES = parameter("Bytes", 1)


@pytest.mark.parametrize(("depth", "width"), [(64, 1), (256, 1), (64, 4), (256, 4)])
def test_send(depth: int, width: int) -> None:
    run_module(
        "bridge", "pst_bridge_send", {"Depth": depth, "Bytes": width}, sources=read_file_list(DESIGNS / "bridge" / "rtl" / "bridge.f")
    )


@cocotb.test()
async def frames(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    names = ("control", "frame")
    for name in names:
        for key in ("valid", "data", "count", "last"):
            getattr(dut, f"s_{name}_{key}_i").value = 0
    dut.m_ready_i.value = 0
    await start(dut)
    overtaken = 0
    for turn in range(4):
        sent = {name: [bytes([k << 7 | rng.randrange(128) for _ in range(rng.randint(1, 60))]) for _ in range(60)]
                for k, name in enumerate(names)}  # fmt: skip
        events: list[tuple[str, int]] = []  # frames as they are whole at the input, and as they begin at the output, in time
        out = {name: [] for name in names}

        async def watch(events: list[tuple[str, int]] = events, out: dict[str, list[bytes]] = out) -> None:
            """Note what happens at each edge: the output before the input, which is later seen at the output."""
            part: list[dict[str, int]] = []
            begun = False
            while True:
                await FallingEdge(dut.clk_i)
                await ReadOnly()
                valid, ready = int(dut.m_valid_o.value), int(dut.m_ready_i.value)
                assert valid or not part, "a gap in a frame"
                if valid and not begun:
                    begun = True
                    events.append(("begins", int(dut.m_data_o.value) >> 7 & 1))
                if valid and ready:
                    part.append({key: int(getattr(dut, f"m_{key}_o").value) for key in ("data", "count", "last")})
                    if part[-1]["last"]:
                        out[names[part[0]["data"] >> 7 & 1]] += framed(part, BYTES)
                        part.clear()
                        begun = False
                for k, name in enumerate(names):
                    if all(int(getattr(dut, f"s_{name}_{key}").value) for key in ("valid_i", "ready_o", "last_i")):
                        events.append(("whole", k))
                events.append(("edge", 0))

        sources = {}
        for name in names:
            fields = {key: getattr(dut, f"s_{name}_{key}_i") for key in ("data", "count", "last")}
            share = rng.choice([0.3, 1.0])
            sources[name] = Stream(dut.clk_i, getattr(dut, f"s_{name}_valid_i"), getattr(dut, f"s_{name}_ready_o"), fields, share, rng)
        sink = Stream(dut.clk_i, dut.m_valid_o, dut.m_ready_i, {"data": dut.m_data_o, "last": dut.m_last_o}, rng.choice([0.5, 1.0]), rng)
        tasks = [cocotb.start_soon(watch()), cocotb.start_soon(sink.receive([]))]
        tasks += [cocotb.start_soon(watch_held(dut.clk_i, dut.rst_i, dut.m_valid_o, dut.m_ready_i, {"data": dut.m_data_o}))]
        jobs = []
        for name in names:
            items = [word for frame in sent[name] for word in words_of(frame, BYTES, rng)]
            jobs.append(cocotb.start_soon(sources[name].send(items)))
        for job in jobs:
            await job
        for _ in range(2000):
            await FallingEdge(dut.clk_i)
        assert out == sent, turn
        # No frame of the second stream begins while one of the first has been whole for 3 edges or more.
        edge, whole, begun = 0, [], 0
        waiting = 0
        for what, stream in events:
            if what == "edge":
                edge += 1
            elif what == "whole":
                whole += [edge] if stream == 0 else []
                waiting += stream
            elif stream == 0:
                begun += 1
                overtaken += int(waiting > 0)
            else:
                waiting -= 1
                assert len(whole) <= begun or whole[begun] > edge - 4, "a control frame waited while another one began"
        for task in tasks:
            task.cancel()
    assert overtaken > 20
