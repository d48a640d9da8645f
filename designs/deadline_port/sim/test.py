# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""cocotb test of a deadline port: frames of all classes, damaged ones among them, and what the registers say afterwards."""

import cocotb
import deadline_port_registers as regs
from cocotb.triggers import ClockCycles
from pst_cocotb import FRAMES, NUMBERS, Bench, frame, one


@cocotb.test()
async def frames_go_through(dut):
    """Each class gives its frames away in their order, every byte and tag as it was; the registers have counted all of them."""
    bench = Bench(dut)
    await bench.start()
    assert await bench.read(regs.TYPE) == regs.TYPE.pack()
    assert await bench.read(regs.CLASSES) == NUMBERS["classes"]
    classes = NUMBERS["classes"] if NUMBERS["class_from_user"] else 1  # frames without a DSCP are of class 0

    sent = {}
    damaged = 0
    for first in range(0, FRAMES, 8):  # eight at a time
        good = 0
        for number in range(first, min(first + 8, FRAMES)):
            of, content, tag = bench.random.randrange(classes), bench.content(number), bench.random.randrange(256)
            bad = bench.random.random() < 0.1
            await bench.sources[0].send(frame(content, tuser=of << 17 | tag << 1 | int(bad)))
            if bad:
                damaged += 1
                continue
            sent.setdefault(of, []).append((content, tag))
            good += 1
        for _ in range(good):
            got = await bench.sinks[0].recv()
            of = one(got.tid)
            assert sent.get(of), f"a frame of class {of} came out, and none was waiting"
            assert (bytes(got.tdata), one(got.tuser)) == sent[of].pop(0), f"another frame of class {of} came out"
    await ClockCycles(dut.aclk, 500)
    assert bench.sinks[0].empty(), "more came out than went in"
    assert await bench.read(regs.DROPPED_BAD_FRAME_PACKETS) == damaged
    assert await bench.read(regs.DROPPED_MISSED_PACKETS) == 0
    print(f"{FRAMES} frames, {damaged} of them damaged")
