# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""cocotb test of a deadline port: frames of all classes, damaged ones among them, and what the registers say afterwards."""

import cocotb
import deadline_port_registers as regs
from cocotb.triggers import ClockCycles
from pst_cocotb import FRAMES, NUMBERS, Bench, frame, one

COLUMNS = NUMBERS["columns"]  # segments of a word
SEGMENT, USER = 64, 28  # bytes and bits of tuser of a segment


async def send(bench, content, of, tag, bad):
    """Send a frame: beat after beat, or, where words have several segments, from any segment on, some of them unused."""
    if COLUMNS == 1:
        await bench.sources[0].send(frame(content, tuser=of << 17 | tag << 1 | int(bad)))
        return
    pieces = [content[at : at + SEGMENT] for at in range(0, len(content), SEGMENT)]
    while pieces:
        data, keep, user = bytearray(SEGMENT * COLUMNS), [0] * SEGMENT * COLUMNS, 0
        for s in range(COLUMNS):
            if not pieces or bench.random.random() < 0.2:
                continue
            piece = pieces.pop(0)
            data[SEGMENT * s : SEGMENT * s + len(piece)] = piece
            keep[SEGMENT * s : SEGMENT * s + len(piece)] = [1] * len(piece)
            last = int(not pieces)
            user |= (of << 18 | tag << 2 | (int(bad) & last) << 1 | last) << USER * s
        if any(keep):
            await bench.sources[0].send(frame(data, tkeep=keep, tuser=user))


async def received(bench, count):
    """Return the next frames that come out: class, bytes and tag of each."""
    if COLUMNS == 1:
        frames = [await bench.sinks[0].recv() for _ in range(count)]
        return [(one(got.tid), bytes(got.tdata), one(got.tuser)) for got in frames]
    found, coming = [], None
    while len(found) < count or coming:
        got = await bench.sinks[0].recv(compact=False)
        user = one(got.tuser)
        for s in range(COLUMNS):
            piece = bytes(byte for byte, kept in zip(got.tdata[SEGMENT * s :][:SEGMENT], got.tkeep[SEGMENT * s :], strict=False) if kept)
            if not piece:
                continue
            said = user >> USER * s
            assert bool(said >> 26 & 1) == (coming is None), "a frame begins where another one goes on, or none does"
            if coming is None:
                coming = said >> 18 & 255, bytearray(), said >> 2 & 0xFFFF
            coming[1].extend(piece)
            if said & 1:
                found.append((coming[0], bytes(coming[1]), coming[2]))
                coming = None
    return found


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
            await send(bench, content, of, tag, bad)
            if bad:
                damaged += 1
                continue
            sent.setdefault(of, []).append((content, tag))
            good += 1
        for of, content, tag in await received(bench, good):
            assert sent.get(of), f"a frame of class {of} came out, and none was waiting"
            assert (content, tag) == sent[of].pop(0), f"another frame of class {of} came out"
    await ClockCycles(dut.aclk, 500)
    assert bench.sinks[0].empty(), "more came out than went in"
    assert await bench.read(regs.DROPPED_BAD_FRAME_PACKETS) == damaged
    assert await bench.read(regs.DROPPED_MISSED_PACKETS) == 0
    print(f"{FRAMES} frames, {damaged} of them damaged")
