# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_bridge_pack and pst_bridge_headers: each byte, and length, VLAN and bucket of each frame, with slow and quick ends."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.designs.bridge.testing.bridge_frames import bucket, drawn, words, words_of
from penstock.paths import DESIGNS, read_file_list
from penstock.testing.testkit import Stream, parameter, run_module, seed, start, watch_held

SEED = parameter("Seed", 0)


@pytest.mark.parametrize("of_hash", [1, 0xDEADBEEF])
def test_pack(of_hash: int) -> None:
    run_module("bridge", "pst_bridge_pack", {"Seed": of_hash}, sources=read_file_list(DESIGNS / "bridge" / "rtl" / "bridge.f"))


def expected(frame: bytes, vlan: int, of_flow: int) -> list[int]:
    """Return the words of a frame, and the word about it."""
    data = [int.from_bytes(frame[place : place + 8], "little") for place in range(0, len(frame), 8)]
    return [*data, 1 << 64 | vlan << 24 | of_flow << 14 | len(frame)]


@cocotb.test()
async def frames(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for name in ("s_valid_i", "s_data_i", "s_whole_i", "s_last_i", "m_ready_i"):
        getattr(dut, name).value = 0
    await start(dut)
    table = words(SEED)
    taken = {"data": dut.s_data_i, "whole": dut.s_whole_i, "last": dut.s_last_i}
    word = {"word": dut.m_word_o}
    for turn in range(4):
        quick = turn == 0
        source = Stream(dut.clk_i, dut.s_valid_i, dut.s_ready_o, taken, 1.0 if quick else rng.choice([0.4, 0.9]), rng)
        sink = Stream(dut.clk_i, dut.m_valid_o, dut.m_ready_i, word, 1.0 if quick else rng.choice([0.2, 0.8]), rng)
        found: list[dict[str, int]] = []
        tasks = [cocotb.start_soon(sink.receive(found))]
        tasks += [cocotb.start_soon(watch_held(dut.clk_i, dut.rst_i, dut.m_valid_o, dut.m_ready_i, word))]
        sent = [drawn(rng) for _ in range(120)]
        pairs = (pair for frame, _, _ in sent for pair in words_of(frame, 2, rng))
        await source.send({"data": pair["data"], "whole": pair["count"], "last": pair["last"]} for pair in pairs)
        for _ in range(200):
            await FallingEdge(dut.clk_i)
        got = [item["word"] for item in found]
        wanted = [word for frame, vlan, key in sent for word in expected(frame, vlan, bucket(key, table))]
        for index, (one, other) in enumerate(zip(got, wanted, strict=True)):
            # What the last word of a frame has behind the frame's end means nothing.
            if index + 1 < len(wanted) and wanted[index + 1] >> 64 and (wanted[index + 1] & 7):
                one, other = (value & (1 << 8 * (wanted[index + 1] & 7)) - 1 for value in (one, other))
            assert one == other, (index, hex(one), hex(other))
        for task in tasks:
            task.cancel()


@cocotb.test()
async def flows_share_few_buckets(dut) -> None:
    """2,000 flows of one host: as many buckets as random words would give, within four standard deviations."""
    table = words(SEED)
    rng = random.Random(seed() + 1)
    base = [*enumerate(rng.randbytes(8)), (32, 6)]
    found = {bucket([*base, *enumerate((1024 + n).to_bytes(2, "big"), 33), (35, 1), (36, 187)], table) for n in range(2000)}
    empty = 1024 * (1 - 1 / 1024) ** 2000
    assert abs(1024 - len(found) - empty) < 4 * empty**0.5 + 4, len(found)
