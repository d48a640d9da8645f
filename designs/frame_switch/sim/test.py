# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""cocotb test of a frame switch: frames from every input to every output, damaged ones among them."""

import cocotb
from cocotb.triggers import ClockCycles
from pst_cocotb import FRAMES, NUMBERS, Bench, frame, one


@cocotb.test()
async def frames_go_through(dut):
    """At each output the frames of an input and a class come in their order, every byte as it was; damaged ones do not."""
    bench = Bench(dut)
    await bench.start()
    ports, classes = NUMBERS["ports"], NUMBERS["classes"]
    sent = {}
    for first in range(0, FRAMES, ports):  # one of each input at a time, so that nothing is lost without back-pressure either
        expected = [0] * ports
        for source in range(ports):
            dest, of, content = bench.random.randrange(ports), bench.random.randrange(classes), bench.content(first + source)
            bad = bench.random.random() < 0.1
            await bench.sources[source].send(frame(content, tdest=1 << dest, tuser=of << 1 | int(bad)))
            if not bad:
                sent.setdefault((source, dest, of), []).append(content)
                expected[dest] += 1
        for dest, count in enumerate(expected):
            for _ in range(count):
                got = await bench.sinks[dest].recv()
                flow = (one(got.tid), dest, one(got.tuser))
                assert sent.get(flow), f"a frame of input {flow[0]} and class {flow[2]} came out of {dest}, and none was waiting"
                assert bytes(got.tdata) == sent[flow].pop(0), f"another frame of input {flow[0]} came out of {dest}"
    await ClockCycles(dut.aclk, 500)
    assert all(sink.empty() for sink in bench.sinks), "more came out than went in"
    print(f"{FRAMES} frames")
