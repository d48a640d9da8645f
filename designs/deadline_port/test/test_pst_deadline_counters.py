# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_deadline_counters (and pst_deadline_bank): all events in each cycle, reads at any moment, compared with plain sums."""

import random
from collections import Counter

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.hardware import library
from penstock.testing.testkit import parameter, run_module, seed, start

RUNT, OVERSIZE, BAD, NO_PAGE, READ_ERROR, MISSED = 1, 2, 4, 5, 11, 12
ANSWERS = ("in", "out", "missed", "lost", "no_page")


@pytest.mark.parametrize("parameters", [{"Classes": 3}, {"Classes": 256, "FrameWidth": 32, "ByteWidth": 40}], ids=["3", "256"])
def test_counters(parameters: dict[str, int]) -> None:
    run_module("deadline_port", "pst_deadline_counters", parameters, sources=library.sources_of("pst_deadline_counters"))


@cocotb.test()
async def every_read_is_of_one_moment(dut) -> None:
    """A read holds every event up to its own cycle, and none of a later one."""
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    classes, widths = parameter("Classes", 64), (parameter("FrameWidth", 50), parameter("ByteWidth", 56))
    names = ("in", "fate", "out", "expired", "late", "passed", "read")
    for name in names:
        getattr(dut, f"{name}_valid_i").value = 0
    await start(dut)
    while not int(dut.init_done_o.value):
        await FallingEdge(dut.clk_i)
    frames: dict[str, Counter[int]] = {name: Counter() for name in ANSWERS}
    sizes: dict[str, Counter[int]] = {name: Counter() for name in ANSWERS}
    dropped: Counter[int] = Counter()
    dropped_bytes: Counter[int] = Counter()
    waiting: list[list[tuple[int, int]] | None] = [None] * 3

    def count(name: str, class_id: int, number: int, size: int) -> None:
        frames[name][class_id] += number
        sizes[name][class_id] += size

    def pick(hot: int) -> int:
        return hot if rng.random() < 0.6 else rng.randrange(classes)

    share = 0.9
    for cycle in range(6000):
        quiet = cycle >= 5900
        hot = rng.randrange(classes) if cycle % 50 else 0
        if cycle % 100 == 0:
            share = rng.choice((0.1, 0.9))
        for name in names[:-1]:
            valid = not quiet and rng.random() < share
            getattr(dut, f"{name}_valid_i").value = int(valid)
            class_id, size = pick(hot), rng.randint(8, 65535)
            if name != "in":
                getattr(dut, f"{name}_class_i").value = class_id
            if name == "passed":
                number, size = rng.choice((1, rng.randint(1, 1 << 30))), rng.randint(1, (1 << 38))
                lost = rng.getrandbits(1)
                dut.passed_frames_i.value, dut.passed_lost_i.value = number, lost
                if valid:
                    count("lost" if lost else "missed", class_id, number, size)
                    dropped[READ_ERROR if lost else MISSED] += number
                    dropped_bytes[READ_ERROR if lost else MISSED] += size
            getattr(dut, f"{name}_bytes_i").value = size
            if name == "in":
                reason = rng.choice((RUNT, OVERSIZE, BAD))
                dut.in_reason_i.value = reason
                if valid:
                    dropped[reason] += 1
                    dropped_bytes[reason] += size
            if name == "fate":
                bad = rng.getrandbits(1)
                dut.fate_dropped_i.value = bad
                if valid:
                    count("in", class_id, 1, size)
                    if bad:
                        count("no_page", class_id, 1, size)
                        dropped[NO_PAGE] += 1
                        dropped_bytes[NO_PAGE] += size
            if name == "out" and valid:
                count("out", class_id, 1, size)
            if name in ("expired", "late") and valid:
                count("missed", class_id, 1, size)
                dropped[MISSED] += 1
                dropped_bytes[MISSED] += size
        read, class_id = rng.random() < 0.5, pick(hot)
        dut.read_valid_i.value, dut.read_class_i.value = int(read), class_id
        waiting.append([(frames[name][class_id], sizes[name][class_id]) for name in ANSWERS] if read else None)
        await ReadOnly()
        expected = waiting.pop(0)
        assert int(dut.read_valid_o.value) == int(expected is not None)
        if expected:
            for name, (number, size) in zip(ANSWERS, expected, strict=True):
                found = int(getattr(dut, f"{name}_frames_o").value), int(getattr(dut, f"{name}_bytes_o").value)
                assert found == (number % (1 << widths[0]), size % (1 << widths[1])), f"cycle {cycle}: {name}"
        await FallingEdge(dut.clk_i)
    for which, table, width in (("frames", dropped, widths[0]), ("bytes", dropped_bytes, widths[1])):
        word = int(getattr(dut, f"dropped_{which}_o").value)
        for reason in range(1, 16):
            assert word >> (reason - 1) * width & ((1 << width) - 1) == table[reason] % (1 << width), f"reason {reason}, {which}"
