# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_bridge_control through AXI4-Lite, by the program for boards: counters beside traffic, settings, links, and all that is refused."""

import random
from collections.abc import Callable
from typing import Any

import cocotb
import pytest
from cocotb.task import bridge, resume
from cocotb.triggers import FallingEdge, Timer

from penstock.errors import UserError
from penstock.hardware import bridge_setting as setting
from penstock.hardware.bridge_registers import SPEEDS, Bridge, Count, Link, contract
from penstock.paths import DESIGNS, read_file_list
from penstock.testing.testbus import axi_lite_master
from penstock.testing.testkit import parameter, run_module, seed, start

QUEUES = parameter("Queues", 16)
COUNTERS = contract()["enums"]["counter"]


@pytest.mark.parametrize("queues", [16, 0])
def test_control(queues: int) -> None:
    run_module("bridge", "pst_bridge_control", {"Queues": queues}, sources=read_file_list(DESIGNS / "bridge" / "rtl" / "bridge.f"))


class AxiBus:
    """A bus for a thread of cocotb.bridge."""

    name = "axil"

    def __init__(self, dut) -> None:
        self._axil = axi_lite_master(dut)
        self._read_word: Callable[[int], Any] = resume(self._axil.read_dword)
        self._write_word: Callable[[int, int], Any] = resume(self._axil.write_dword)

    def read(self, address: int, words: int = 1) -> list[int]:
        return [self._read_word(address + 4 * place) for place in range(words)]

    def write(self, address: int, *words: int) -> None:
        for place, word in enumerate(words):
            self._write_word(address + 4 * place, word)


async def traffic(dut, rng: random.Random, taken: dict[tuple[int, int], list[int]], on: list[bool]) -> None:
    """Offer frames for counters in both directions; `taken` gets their bytes by direction and counter."""
    offered: list[tuple[int, int] | None] = [None, None]
    while True:
        await FallingEdge(dut.clk_i)
        for direction in (0, 1):
            if offered[direction] is None and on[0] and rng.random() < 0.3:
                offered[direction] = rng.choice(list(COUNTERS.values())), rng.randrange(1, 1538)
        dut.s_count_valid_i.value = sum((word is not None) << direction for direction, word in enumerate(offered))
        dut.s_count_i.value = sum((word[0] << 14 | word[1]) << 18 * direction for direction, word in enumerate(offered) if word)
        await Timer(1, unit="ps")
        ready = int(dut.s_count_ready_o.value)
        for direction, word in enumerate(offered):
            if word and ready >> direction & 1:
                taken.setdefault((direction, word[0]), []).append(word[1])
                offered[direction] = None


async def settings(dut, now: dict[tuple[int, int], int]) -> None:
    """Take writes and answer reads a cycle later, as pst_bridge_settings does."""
    answer = 0
    while True:
        await FallingEdge(dut.clk_i)
        dut.back_valid_i.value = answer & 3
        dut.back_i.value = answer >> 2
        answer, access = 0, int(dut.access_o.value)
        for direction in (0, 1):
            word = access >> 116 * direction & (1 << 116) - 1
            queue = word >> 102 & 4095
            if word >> 115:
                now[direction, queue] = word & (1 << 102) - 1
            if word >> 114 & 1:
                answer |= (now.get((direction, queue), 0) << 102 * direction) << 2 | 1 << direction


@cocotb.test()
async def through_the_bus(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for name in ("s_count_valid", "s_count", "link", "back_valid", "back"):
        getattr(dut, f"{name}_i").value = 0
    bus = AxiBus(dut)
    await start(dut)
    now: dict[tuple[int, int], int] = {}
    taken: dict[tuple[int, int], list[int]] = {}
    on = [True]
    cocotb.start_soon(traffic(dut, rng, taken, on))
    cocotb.start_soon(settings(dut, now))
    device: Bridge = await bridge(Bridge)(bus)
    assert (device.version, device.queues, device.clock_hz, device.max_frame_bytes) == ("1.0", QUEUES, 62_500_000, 1536)

    for _ in range(60):
        direction, counter = rng.randrange(2), rng.choice(list(COUNTERS))
        key = direction, COUNTERS[counter]
        least = list(taken.get(key, []))
        found = await bridge(device.counter)(direction, counter)
        most = taken.get(key, [])
        # Frames and bytes are of one moment: those of the first `frames` of this counter.
        assert len(least) - 2 <= found.frames <= len(most) and found.bytes == sum(most[: found.frames])

        word = rng.randrange(1024)
        dut.link_i.value = word
        await FallingEdge(dut.clk_i)
        for port in (0, 1):
            bits = word >> 5 * port & 31
            expected = Link(bool(bits >> 4), bool(bits & 1), bool(bits >> 3 & 1), SPEEDS[bits >> 1 & 3])
            assert await bridge(device.link)(port) == expected

        shape = rng.random() < 0.5, rng.random() < 0.5
        await bridge(device.shape)(shape)
        assert int(dut.shape_o.value) == shape[0] + 2 * shape[1]

        queue = rng.choice([0, 15, rng.randrange(16), 16, (1 << 32) - 1])
        wrong = [(2, 0), (32767, 9), (1, 32)]
        code = rng.choice([(1, 0), (0, rng.randrange(64)), (rng.randrange(1 << 15, 1 << 16), rng.randrange(64)), *wrong])
        to = {"mantissa": code[0], "exponent": code[1], "burst": rng.getrandbits(28), "aqm_enable": rng.randrange(2), "aqm_ecn": 0,
              "target": rng.getrandbits(18), "interval": rng.getrandbits(18), "quantum": rng.getrandbits(14)}  # fmt: skip
        before = dict(now)
        if queue >= QUEUES or code in wrong:
            why = "bad_queue" if queue >= QUEUES else "bad_rate"
            with pytest.raises(UserError, match=f"axil: the bridge refused `write`: {why}"):
                await bridge(device.set_queue)(direction, queue, to)
            assert now == before
        else:
            await bridge(device.set_queue)(direction, queue, to)
            assert now == before | {(direction, queue): setting.packed(to)}
            other = rng.choice(list(now))
            assert setting.packed(await bridge(device.queue)(*other)) == now[other]

    on[0] = False
    await Timer(1, unit="us")
    for direction in (0, 1):
        for name, count in (await bridge(device.counters)(direction)).items():
            frames = taken.get((direction, COUNTERS[name]), [])
            assert count == Count(len(frames), sum(frames)), (direction, name)
    address = contract()["registers"]
    for register, value, why in (("counter", 9, 4), ("command", 4, 1), ("command", 0, 1)):
        await bridge(bus.write)(address[register]["address"], value)
        await bridge(bus.write)(address["command"]["address"], 3 if register == "counter" else value)
        assert (await bridge(bus.read)(address["status"]["address"]))[0] == 1 | 1 << 2 | why << 4


@cocotb.test()
async def something_else(dut) -> None:
    """What is no bridge, or one of another version, is one sentence."""

    class Other:
        name = "/dev/ttyS0"

        def __init__(self, *words: int) -> None:
            self.words = list(words)

        def read(self, address: int, words: int = 1) -> list[int]:
            return self.words[:words]

        def write(self, address: int, *words: int) -> None:
            raise AssertionError

    for words, text in (((0xFFFFFFFF, 0), "register 0 is 0xffffffff"), ((0x50535403, 0x20001), "has version 2.1, this program knows 1.x")):
        with pytest.raises(UserError, match=f"/dev/ttyS0: .*{text}"):
            Bridge(Other(*words))
    await Timer(1, unit="ns")
