# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Frames as beats of an AXI4-Stream and back, and MAC control frames by IEEE 802.3 annex 31 and 802.1Qbb, for the tests of this block."""

import random
from typing import Any

from cocotb.triggers import FallingEdge

from penstock.testing.testkit import Stream, watch_held

FIELDS = ("tdata", "tkeep", "tlast", "tuser")
GROUP = bytes.fromhex("0180c2000001")
Beats = list[dict[str, int]]
Frame = tuple[bytes, int]  # and tuser at its last beat


def beats(data: bytes, user: int, width: int) -> Beats:
    """Return a frame's beats; at others than the last one tuser is 0."""
    out = []
    for start in range(0, len(data), width):
        part, last = data[start : start + width], start + width >= len(data)
        out.append(
            {"tdata": int.from_bytes(part, "little"), "tkeep": (1 << len(part)) - 1, "tlast": int(last), "tuser": user if last else 0}
        )
    return out


def frames(found: Beats, width: int) -> list[Frame]:
    """Return the frames of some beats, which are full but for last ones; what has not ended yet is left out."""
    out, data = [], b""
    for beat in found:
        count = beat["tkeep"].bit_count()
        assert beat["tkeep"] == (1 << count) - 1 and 0 < count <= width and (beat["tlast"] or count == width)
        data += beat["tdata"].to_bytes(width, "little")[:count]
        if beat["tlast"]:
            out.append((data, beat["tuser"]))
            data = b""
    return out


def drawn(rng: random.Random, user_bits: int = 1, most: int = 700) -> Frame:
    """Return a frame of a random length, one in ten damaged."""
    user = rng.getrandbits(user_bits) & ~1 | (rng.random() < 0.1)
    return rng.randbytes(rng.choice([1, 60, 64, 65, 127, 128, 129, rng.randint(1, most)])), user


def ends(dut: Any, rng: random.Random, send: float, receive: float) -> tuple[Stream, Stream, dict[str, Any]]:
    """Return source and sink of a module with one stream in and one out, and the pins of the latter."""
    pins = {side: {name: getattr(dut, f"{side}_axis_{name}_{way}") for name in FIELDS} for side, way in (("s", "i"), ("m", "o"))}
    source = Stream(dut.clk_i, dut.s_axis_tvalid_i, dut.s_axis_tready_o, pins["s"], send, random.Random(rng.random()))
    sink = Stream(dut.clk_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, pins["m"], receive, random.Random(rng.random()))
    return source, sink, pins["m"]


async def quiet(dut: Any) -> None:
    """Set all inputs to 0 and let the simulator see it."""
    for name in dir(dut):
        if name.endswith("_i") and name not in ("clk_i", "rst_i"):
            getattr(dut, name).value = 0


def watched(dut: Any, pins: dict[str, Any]) -> Any:
    """Return what checks that offers at the output stay."""
    return watch_held(dut.clk_i, dut.rst_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, pins)


async def cycles(dut: Any, count: int) -> None:
    for _ in range(count):
        await FallingEdge(dut.clk_i)


def pause_frame(source: bytes, quanta: int, length: int = 60) -> bytes:
    """Annex 31B.3: opcode 0001, the time in quanta of 512 bit times."""
    return (GROUP + source + b"\x88\x08" + b"\x00\x01" + quanta.to_bytes(2, "big")).ljust(length, b"\0")


def pfc_frame(source: bytes, times: dict[int, int], length: int = 60) -> bytes:
    """802.1Q 36.1.3.2: opcode 0101, a vector of classes, a time for each of the eight."""
    vector = sum(1 << number for number in times)
    body = b"".join(times.get(number, 0).to_bytes(2, "big") for number in range(8))
    return (GROUP + source + b"\x88\x08" + b"\x01\x01" + vector.to_bytes(2, "big") + body).ljust(length, b"\0")
