"""pst_share_read is its model (share_model.py) at every port in every cycle, whatever ports and memory do."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from share_model import ShareRead

from penstock.testing import testkit

ADDR, DATA = 20, 512


def bits(flags: list) -> int:
    return sum(int(bool(flag)) << p for p, flag in enumerate(flags))


@cocotb.test()
async def mixed(dut) -> None:
    """Bursts of 1 to 5 beats, a memory that waits and has gaps in its data, ports that take it late."""
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    ports = testkit.parameter("Ports", 2)
    model = ShareRead(ports, testkit.parameter("MaxOutstanding", 32))
    for name in ("s_axi_arvalid", "s_axi_araddr", "s_axi_arlen", "s_axi_rready"):
        getattr(dut, f"{name}_i").value = 0
    for name in ("arready", "rvalid", "rdata", "rresp", "rlast"):
        getattr(dut, f"m_axi_{name}_i").value = 0
    await testkit.start(dut)
    ar = [None] * ports
    r = None
    left: deque[int] = deque()  # beats of the bursts that the memory has been asked for
    bursts = 0
    chance = [0.5] * 4
    for cycle in range(4000):
        if cycle % 200 == 0:
            chance = [rng.choice((0.1, 0.5, 1.0)) for _ in range(4)]
        await FallingEdge(dut.clk_i)
        for p in range(ports):
            if ar[p] is None and rng.random() < chance[0]:
                ar[p] = rng.getrandbits(ADDR), rng.choice((1, 1, 2, 5)) - 1
        if r is None and left and rng.random() < chance[1]:
            left[0] -= 1
            r = (rng.getrandbits(DATA), rng.randrange(4)), left[0] == 0
            if left[0] == 0:
                left.popleft()
        arready, rready = rng.random() < chance[2], [rng.random() < chance[3] for _ in range(ports)]
        dut.s_axi_arvalid_i.value = bits([word is not None for word in ar])
        dut.s_axi_araddr_i.value = sum((word or (0, 0))[0] << ADDR * p for p, word in enumerate(ar))
        dut.s_axi_arlen_i.value = sum((word or (0, 0))[1] << 8 * p for p, word in enumerate(ar))
        dut.s_axi_rready_i.value = bits(rready)
        dut.m_axi_arready_i.value, dut.m_axi_rvalid_i.value = int(arready), int(r is not None)
        if r:
            (dut.m_axi_rdata_i.value, dut.m_axi_rresp_i.value), dut.m_axi_rlast_i.value = r[0], int(r[1])
        await ReadOnly()
        want = model.step(ar, arready, r, rready)
        assert int(dut.s_axi_arready_o.value) == bits(want["arready"]), cycle
        assert int(dut.s_axi_rvalid_o.value) == bits(want["rvalid"]), cycle
        assert int(dut.m_axi_arvalid_o.value) == int(want["ar"] is not None), cycle
        assert int(dut.m_axi_rready_o.value) == int(want["rready"]), cycle
        if want["ar"]:
            assert (int(dut.m_axi_araddr_o.value), int(dut.m_axi_arlen_o.value)) == want["ar"], cycle
        if any(want["rvalid"]):
            p = want["rvalid"].index(True)
            word, resp, last = (int(getattr(dut, f"s_axi_{name}_o").value) for name in ("rdata", "rresp", "rlast"))
            found = (word >> DATA * p & (1 << DATA) - 1, resp >> 2 * p & 3), bool(last >> p & 1)
            assert found == want["r"], cycle
            bursts += found[1] and any(a and b for a, b in zip(want["rvalid"], rready, strict=True))
        if want["ar"] and arready:
            left.append(want["ar"][1] + 1)
        ar = [None if want["arready"][p] else word for p, word in enumerate(ar)]
        r = None if want["rready"] else r
    assert bursts > 200


@pytest.mark.parametrize("ports, outstanding", [(2, 2), (4, 9)])
def test_pst_share_read(ports: int, outstanding: int) -> None:
    testkit.run_module("memory", "pst_share_read", {"Ports": ports, "AddrWidth": ADDR, "MaxOutstanding": outstanding})
