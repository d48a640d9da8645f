# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""All registers of an AXI4-Lite block with all sixteen byte strobes: bytes without strobe are not written (AXI4-Lite, B1.1.1)."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, with_timeout

OKAY = 0
NO_COMMAND = 1  # reason of a refusal: there is no such command


def bits_of(strobes: int) -> int:
    """Return the mask of a 32-bit word's bytes that four strobes name."""
    return sum(0xFF << 8 * byte for byte in range(4) if strobes >> byte & 1)


async def write(dut: Any, bus: Any, address: int, data: int, strobes: int, rng: random.Random) -> int:
    """Write a word, its address some cycles before the data, after it or with it; return the response."""
    channels = bus.write_if
    word, where = channels.w_channel._transaction_obj(), channels.aw_channel._transaction_obj()
    where.awaddr, where.awprot, word.wdata, word.wstrb = address, 0, data, strobes
    sends = [lambda: channels.aw_channel.send(where), lambda: channels.w_channel.send(word)]
    rng.shuffle(sends)
    await sends[0]()
    await ClockCycles(dut.clk_i, rng.choice([1, 1, 2, 7]))
    await sends[1]()
    return int((await with_timeout(channels.b_channel.recv(), 100, "us")).bresp)


async def read(bus: Any, address: int) -> int:
    """Read a word."""
    answer = await with_timeout(bus.read(address, 4), 100, "us")
    assert answer.resp == OKAY, f"0x{address:03X}"
    return int.from_bytes(answer.data, "little")


async def check(
    dut: Any,
    bus: Any,
    table: dict[str, dict[str, Any]],
    command: str,
    harmless: int,
    idle: Callable[[], Awaitable[int]],
    rng: random.Random,
) -> None:
    """Write each word of the registers in `table` with each of the sixteen strobes, in random order, with empty beats between them.

    `command`: the register that executes what is written there; `harmless`: a command, below 256, that writes no register of the table;
    `idle()` waits for the command that was sent last and returns the reason of its refusal, 0: none.
    """
    addresses = {name: [entry["address"] + 4 * word for word in range(entry["bytes"] // 4)] for name, entry in table.items()}
    words = [address for name, each in addresses.items() if name != command for address in each]
    cocotb.log.info("%d words", len(words))
    writable = {}
    for address in words:
        seen = []
        for data in (0xFFFFFFFF, 0):
            assert await write(dut, bus, address, data, 15, rng) == OKAY
            seen.append(await read(bus, address))
        writable[address] = seen[0] & ~seen[1]
    assert sum(mask != 0 for mask in writable.values()) > 2
    steps = [(address, strobes) for address in words for strobes in range(16)]
    rng.shuffle(steps)
    (at,) = addresses[command]
    await write(dut, bus, at, harmless, 15, rng)
    reason = await idle()
    assert reason != NO_COMMAND
    for address, strobes in steps:
        before, data = await read(bus, address), rng.getrandbits(32)
        assert await write(dut, bus, address, data, strobes, rng) == OKAY
        if rng.random() < 0.3:  # a width converter's other half
            assert await write(dut, bus, address ^ 4, rng.getrandbits(32), 0, rng) == OKAY
        mask = bits_of(strobes) & writable[address]
        assert await read(bus, address) == before & ~mask | data & mask, f"0x{address:03X}, strobes {strobes:04b}, data 0x{data:08X}"
        if rng.random() < 0.2:
            strobes = rng.randrange(16)
            data = rng.choice([harmless, harmless | rng.getrandbits(24) << 8, 0xEE, 0])
            assert await write(dut, bus, at, data, strobes, rng) == OKAY
            found = await idle()
            if strobes & 1:
                assert (found != NO_COMMAND) == (data & bits_of(strobes) == harmless), f"command 0x{data:08X}, strobes {strobes:04b}"
                reason = found
            assert found == reason, f"command 0x{data:08X}, strobes {strobes:04b}"
