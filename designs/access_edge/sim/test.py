# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""cocotb test of an access edge: frames of some queues, damaged ones among them, and what the registers say afterwards."""

import access_edge_registers as regs
import cocotb
from cocotb.triggers import ClockCycles
from pst_cocotb import FRAMES, NUMBERS, Bench, frame, one


@cocotb.test()
async def frames_go_through(dut):
    """Each queue gives its frames away in their order, every byte as it was; the registers have counted all of them."""
    bench = Bench(dut)
    await bench.start()
    queues, where = NUMBERS["queues"], NUMBERS["queue_id"]
    assert await bench.read(regs.TYPE) == regs.TYPE.pack()
    assert await bench.read(regs.QUEUES) == queues

    sent = {queue: [] for queue in sorted({0, 1, queues // 2, queues - 1})}
    if where == "headers":  # frames that no profile fits go to queue 0, and there are no profiles
        sent = {0: []}
        await bench.write(regs.FIND_ITEM, value=NUMBERS["profiles"])
        await bench.write(regs.FIND_VALUE, value=0)
        await bench.write(regs.QUEUE_COMMAND, command=regs.Command.FIND_MISS)
    damaged = 0

    async def take(count):
        for _ in range(count):
            got = await bench.sinks[0].recv()
            queue = one(got.tdest if where == "tdest" else got.tid)
            assert sent[queue], f"a frame of queue {queue} came out, and none was waiting"
            assert bytes(got.tdata) == sent[queue].pop(0), f"another frame of queue {queue} came out"

    totals = {queue: [0, 0] for queue in sent}
    for first in range(0, FRAMES, 8):  # eight at a time, so that they find room
        good = 0
        for number in range(first, min(first + 8, FRAMES)):
            queue, content = bench.random.choice(list(sent)), bench.content(number)
            bad = bench.random.random() < 0.1
            head, more = queue.to_bytes(4, "big") if where == "prefix" else b"", {"tdest": queue} if where == "tdest" else {}
            await bench.sources[0].send(frame(head + content, tuser=int(bad), **more))
            if bad:
                damaged += 1
                continue
            sent[queue].append(content)
            totals[queue][0] += 1
            totals[queue][1] += len(content)
            good += 1
        await take(good)
    await ClockCycles(dut.aclk, 500)
    assert bench.sinks[0].empty(), "more came out than went in"

    assert await bench.read(regs.DROPPED_BAD_FRAME_PACKETS) == damaged
    for queue, (packets, length) in totals.items():
        await bench.write(regs.QUEUE_INDEX, value=queue)
        await bench.write(regs.QUEUE_COMMAND, command=regs.Command.SNAPSHOT)
        while regs.STATUS.unpack(await bench.read(regs.STATUS))["busy"]:
            pass
        assert await bench.read(regs.OUT_PACKETS) == packets
        assert await bench.read(regs.OUT_BYTES) == length
    print(f"{FRAMES} frames, {damaged} of them damaged")
