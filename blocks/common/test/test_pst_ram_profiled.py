"""pst_ram_profiled: an address reads the word that it was given last, whichever profile has it."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from penstock.testing import testkit


@cocotb.test()
async def random_reads_and_writes(dut) -> None:
    """Reads and writes in every cycle, of few addresses, whose words are few."""
    width, depth = testkit.parameter("Width", 32), testkit.parameter("Depth", 512)
    profiles = testkit.parameter("Profiles", 0)
    rng = random.Random(testkit.seed())
    dut._log.info("seed %d", testkit.seed())
    for port in (dut.we_i, dut.waddr_i, dut.profile_i, dut.fresh_i, dut.wdata_i, dut.raddr_i):
        port.value = 0
    Clock(dut.clk_i, 10, unit="ns").start()
    await FallingEdge(dut.clk_i)

    addresses = [*range(min(depth, 8)), depth - 1]
    profile_of: dict[int, int] = {}
    word_of: dict[int, int] = {}  # of a profile; without profiles of an address
    profile_now: int | None = None
    words: list[int | None] = [None, None]  # of the reads of the last two cycles
    read = told = shared = 0
    for cycle in range(6000):
        write = cycle < len(addresses) or rng.random() < 0.4
        waddr, raddr = addresses[cycle] if cycle < len(addresses) else rng.choice(addresses), rng.choice(addresses)
        data, profile, fresh = rng.getrandbits(width), 0, True
        if profiles:
            unused = [p for p in range(profiles) if p not in profile_of.values() and p != profile_now]
            fresh = cycle == 0 or (bool(unused) and rng.random() < 0.5)
            profile = rng.choice(unused) if fresh else rng.choice(list(profile_of.values()))
            shared += write and not fresh
        dut.we_i.value, dut.waddr_i.value, dut.profile_i.value = int(write), waddr, profile
        dut.fresh_i.value, dut.wdata_i.value = int(fresh), data if fresh else rng.getrandbits(width)
        dut.raddr_i.value = raddr
        # What is read in this cycle was written in earlier ones.
        known = raddr in profile_of and not (write and waddr == raddr)
        profile_now = profile_of[raddr] if known and profiles else None
        words = [word_of[profile_of[raddr] if profiles else raddr] if known else None, words[0]]
        if write:
            profile_of[waddr] = profile
            if fresh:
                word_of[profile if profiles else waddr] = data
        await FallingEdge(dut.clk_i)
        if profile_now is not None:
            told += 1
            assert int(dut.profile_o.value) == profile_now
        if not profiles:
            assert int(dut.profile_o.value) == 0
        if words[1] is not None:
            read += 1
            assert int(dut.rdata_o.value) == words[1]
    assert read > 2000
    assert not profiles or (told > 2000 and shared > 500)


@pytest.mark.parametrize(
    "parameters",
    [
        {"Width": 32, "Depth": 64, "Profiles": 0},
        {"Width": 50, "Depth": 64, "Profiles": 16},
        {"Width": 3, "Depth": 300, "Profiles": 4},
    ],
    ids=lambda parameters: "-".join(f"{value}" for value in parameters.values()),
)
def test_pst_ram_profiled(parameters: dict[str, object]) -> None:
    testkit.run_module("common", "pst_ram_profiled", parameters)
