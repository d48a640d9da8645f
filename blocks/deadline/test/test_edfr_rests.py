# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The model of pst_edfr beside the hardware through rests: it leaves cycles out in which nothing happens, and must miss none in which
something does."""

import cocotb
import test_pst_edfr as port
from test_edfr_model import Twin

from penstock.testing import testkit


@cocotb.test()
async def rests(dut) -> None:
    """Bursts with rests between them. In a rest nothing is offered, the sink stands still or takes all, and the memory alone has something
    to say, some of it late: what happens then is its answer and what follows from that."""
    twin = Twin(dut)
    cocotb.start_soon(twin.watch())
    bench = await port.begin(dut)
    rng = bench.rng
    await port.settings(bench, (100_000,))
    for _ in range(60):
        bench.memory.latency = [rng.choice(((10, 30), (150, 150), (400, 900)))]
        bench.sink = rng.choice((0.0, 1.0))
        class_id = rng.randrange(bench.classes)
        for _ in range(rng.randint(1, 6)):
            bench.add(class_id, rng.randint(60, bench.longest))
        await bench.run(rng.choice((100, 1500)))
    bench.sink = 1.0
    await bench.drain(40000)
    left_out = twin.left_out + twin.model.left_out
    dut._log.info("%s; %d cycles compared, %d of them left out", bench.count, twin.compared, left_out)
    assert bench.count["sent"] == bench.count["in"] - bench.count["tail"] > 100 and left_out > twin.compared // 2


def test_edfr_rests() -> None:
    testkit.run_module("deadline", "pst_edfr", port.SMALL)
