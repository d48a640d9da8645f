# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_pause_receive: control frames are taken out, all others go through, and the times are those that were said, a quantum more."""

import random
from fractions import Fraction

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from mac_frames import GROUP, beats, cycles, drawn, ends, frames, pause_frame, pfc_frame, quiet, watched

from penstock.testing.testkit import parameter, run_module, seed, start

QUANTUM = Fraction(parameter("Quantum256", 423), 256)


@pytest.mark.parametrize("quantum", [423, pytest.param(256, marks=pytest.mark.slow), 5632])
def test_pause_receive(quantum: int) -> None:
    run_module("mac", "pst_pause_receive", {"Quantum256": quantum})


@cocotb.test()
async def taken_out_and_kept(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    await quiet(dut)
    await start(dut)
    source, sink, pins = ends(dut, rng, 0.8, 0.8)
    found: list[dict[str, int]] = []
    cocotb.start_soon(watched(dut, pins))
    cocotb.start_soon(sink.receive(found))
    now = 0
    until: list[tuple[int, Fraction]] = [(0, Fraction(0))] * 9  # cycle in which it was loaded, quanta

    async def look() -> None:
        """Count the cycles, and compare what is paused in each of them."""
        nonlocal now
        while True:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
            now += 1
            shown = int(dut.pause_o.value)
            for c, (since, quanta) in enumerate(until):
                if since == now:
                    continue  # loaded in this cycle
                age = now - since
                if quanta and age <= quanta * QUANTUM:
                    assert shown >> c & 1, (c, now, since, quanta)
                if age > (quanta + 1) * QUANTUM + 1 or not quanta:
                    assert not shown >> c & 1, (c, now, since, quanta)

    cocotb.start_soon(look())
    wanted, paused = [], 0
    for _ in range(500):
        kind = rng.random()
        if kind < 0.4:
            frame = drawn(rng)
            near = GROUP + rng.randbytes(6) + b"\x88\x09" + rng.randbytes(46)
            frame = rng.choice([frame, (near, 0), (near[:5] + b"\x02" + near[6:12] + b"\x88\x08" + near[14:], 0)])
            wanted.append(frame)
            await source.send(beats(*frame, 64))
        else:
            length, bad = rng.choice([60, 60, 64, 65, 128, 200]), rng.random() < 0.1
            times = {c: rng.choice([0, 1, 2, rng.randrange(200), 0xFFFF]) for c in range(8) if rng.getrandbits(1)}
            quanta = rng.choice([0, 1, rng.randrange(300), 0xFFFF])
            pfc, unknown = rng.random() < 0.6, rng.random() < 0.1
            data = pfc_frame(rng.randbytes(6), times, length) if pfc else pause_frame(rng.randbytes(6), quanta, length)
            if unknown:  # another opcode: taken out, and nothing is paused
                data = data[:14] + b"\x00\x02" + data[16:]
            made = beats(data, int(bad), 64)
            if bad:  # it goes on as a damaged frame, its first beats are gone
                wanted.append((data[64 * (len(made) - 1) :], 1))
            await source.send(made)
            if not bad and not unknown:
                for c, time in times.items() if pfc else {8: quanta}.items():
                    until[c] = now, Fraction(time)
                    paused += 1
        await cycles(dut, rng.choice([0, 0, 10, 400]))
    await cycles(dut, 200)
    assert frames(found, 64) == wanted
    assert paused > 200
