"""pst_share_write is its model (share_model.py) at every port in every cycle, whatever ports and memory do."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from share_model import ShareWrite

from penstock.testing import testkit

ADDR, DATA = 20, 512


def bits(flags: list) -> int:
    return sum(int(bool(flag)) << p for p, flag in enumerate(flags))


@cocotb.test()
async def mixed(dut) -> None:
    """Bursts of 1 to 5 beats with gaps inside, a memory that waits and answers what it has whole."""
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    ports = testkit.parameter("Ports", 2)
    model = ShareWrite(ports, testkit.parameter("MaxOutstanding", 32))
    for name in ("awvalid", "awaddr", "awlen", "wvalid", "wdata", "wstrb", "wlast", "bready"):
        getattr(dut, f"s_axi_{name}_i").value = 0
    for name in ("awready", "wready", "bvalid", "bresp"):
        getattr(dut, f"m_axi_{name}_i").value = 0
    await testkit.start(dut)
    aw = [None] * ports
    w = [None] * ports
    left: list[deque[int]] = [deque() for _ in range(ports)]  # beats of bursts whose data is to come
    addresses = bursts = answers = 0
    chance = [0.5] * 6
    for cycle in range(4000):
        if cycle % 200 == 0:
            chance = [rng.choice((0.1, 0.5, 1.0)) for _ in range(6)]
        await FallingEdge(dut.clk_i)
        for p in range(ports):
            if aw[p] is None and rng.random() < chance[0]:
                beats = rng.choice((1, 1, 2, 5))
                aw[p] = rng.getrandbits(ADDR), beats - 1
                left[p].append(beats)
            if w[p] is None and left[p] and rng.random() < chance[1]:
                left[p][0] -= 1
                w[p] = (rng.getrandbits(DATA), rng.getrandbits(DATA // 8)), left[p][0] == 0
                if left[p][0] == 0:
                    left[p].popleft()
        awready, wready = rng.random() < chance[2], rng.random() < chance[3]
        b = answers < min(addresses, bursts) and rng.random() < chance[4]
        resp = rng.randrange(4)
        bready = [rng.random() < chance[5] for _ in range(ports)]
        dut.s_axi_awvalid_i.value = bits([word is not None for word in aw])
        dut.s_axi_awaddr_i.value = sum((word or (0, 0))[0] << ADDR * p for p, word in enumerate(aw))
        dut.s_axi_awlen_i.value = sum((word or (0, 0))[1] << 8 * p for p, word in enumerate(aw))
        dut.s_axi_wvalid_i.value = bits([beat is not None for beat in w])
        dut.s_axi_wdata_i.value = sum(beat[0][0] << DATA * p for p, beat in enumerate(w) if beat)
        dut.s_axi_wstrb_i.value = sum(beat[0][1] << DATA // 8 * p for p, beat in enumerate(w) if beat)
        dut.s_axi_wlast_i.value = bits([beat and beat[1] for beat in w])
        dut.s_axi_bready_i.value = bits(bready)
        dut.m_axi_awready_i.value, dut.m_axi_wready_i.value, dut.m_axi_bvalid_i.value = int(awready), int(wready), int(b)
        dut.m_axi_bresp_i.value = resp
        await ReadOnly()
        want = model.step(aw, w, awready, wready, b, bready)
        assert int(dut.s_axi_awready_o.value) == bits(want["awready"]), cycle
        assert int(dut.s_axi_wready_o.value) == bits(want["wready"]), cycle
        assert int(dut.s_axi_bvalid_o.value) == bits(want["bvalid"]), cycle
        assert int(dut.m_axi_awvalid_o.value) == int(want["aw"] is not None), cycle
        assert int(dut.m_axi_wvalid_o.value) == int(want["w"] is not None), cycle
        assert int(dut.m_axi_bready_o.value) == int(want["bready"]), cycle
        if want["aw"]:
            assert (int(dut.m_axi_awaddr_o.value), int(dut.m_axi_awlen_o.value)) == want["aw"], cycle
        if want["w"]:
            found = (int(dut.m_axi_wdata_o.value), int(dut.m_axi_wstrb_o.value)), bool(int(dut.m_axi_wlast_o.value))
            assert found == want["w"], cycle
        if any(want["bvalid"]):
            assert int(dut.s_axi_bresp_o.value) == sum(resp << 2 * p for p in range(ports)), cycle
        addresses += want["aw"] is not None and awready
        bursts += want["w"] is not None and wready and want["w"][1]
        answers += b and want["bready"]
        aw = [None if want["awready"][p] else word for p, word in enumerate(aw)]
        w = [None if want["wready"][p] else beat for p, beat in enumerate(w)]
    assert answers > 200


@pytest.mark.parametrize("ports, outstanding", [(2, 2), (4, 9)])
def test_pst_share_write(ports: int, outstanding: int) -> None:
    testkit.run_module("memory", "pst_share_write", {"Ports": ports, "AddrWidth": ADDR, "MaxOutstanding": outstanding})
