# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_deadline_wide_counters (and pst_deadline_sum): all events of all columns in each cycle, reads at any moment, beside plain sums."""

import random
from collections import Counter

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.hardware import library
from penstock.testing.testkit import parameter, run_module, seed, start

RUNT, OVERSIZE, BAD, NO_PAGE, READ_ERROR, MISSED = 1, 2, 4, 5, 11, 12
ANSWERS = ("in", "out", "missed", "lost", "no_page")
# Which counters of a class an event adds to, and which reason it is.
EVENTS = {"dropped": (("in", "no_page"), NO_PAGE), "out": (("out",), 0), "overdue": (("missed",), MISSED), "taken": (("in",), 0),
          "expired": (("missed",), MISSED), "late": (("missed",), MISSED)}  # fmt: skip


@pytest.mark.parametrize(
    "parameters", [{"Classes": 3, "Columns": 2}, {"Classes": 256, "Columns": 4, "FrameWidth": 32, "ByteWidth": 41}], ids=["2-3", "4-256"]
)
def test_counters(parameters: dict[str, int]) -> None:
    run_module("deadline_port", "pst_deadline_wide_counters", parameters, sources=library.sources_of("pst_deadline_wide_counters"))


@cocotb.test()
async def every_read_is_of_one_moment(dut) -> None:
    """A read holds every event of every column up to its own cycle, and none of a later one."""
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    classes, columns = parameter("Classes", 64), parameter("Columns", 8)
    widths = parameter("FrameWidth", 50), parameter("ByteWidth", 56)
    levels = columns.bit_length() - 1
    for name in (*EVENTS, "refused", "passed", "read"):
        getattr(dut, f"{name}_valid_i").value = 0
    await start(dut)
    while not int(dut.init_done_o.value):
        await FallingEdge(dut.clk_i)
    frames: dict[str, Counter[int]] = {name: Counter() for name in ANSWERS}
    sizes: dict[str, Counter[int]] = {name: Counter() for name in ANSWERS}
    dropped, dropped_bytes = Counter(), Counter()
    waiting: list[list[tuple[int, int]] | None] = [None] * (3 + levels)
    lost: list[int] = [0] * (1 + levels)
    share, hot = 0.9, 0

    def count(names: tuple[str, ...], reason: int, class_id: int, number: int, size: int) -> None:
        for name in names:
            frames[name][class_id] += number
            sizes[name][class_id] += size
        if reason:
            dropped[reason] += number
            dropped_bytes[reason] += size

    def drive(port: str, fields: dict[str, tuple[list[int], int]]) -> None:
        for field, (values, width) in fields.items():
            getattr(dut, f"{port}_{field}_i").value = sum(value << width * i for i, value in enumerate(values))

    for cycle in range(2500):
        quiet = cycle >= 2450
        if cycle % 50 == 0:
            share = rng.choice((0.1, 0.9))
        hot, gone = rng.randrange(classes) if cycle % 50 else hot, 0
        for name, (names, reason) in EVENTS.items():
            valid = [int(not quiet and rng.random() < share) for _ in range(columns)]
            of_class = [hot if rng.random() < 0.6 else rng.randrange(classes) for _ in valid]
            length = [rng.randint(8, 65535) for _ in valid]
            drive(name, {"valid": (valid, 1), "class": (of_class, 8), "len": (length, 16)})
            for here, class_id, size in zip(valid, of_class, length, strict=True):
                if here:
                    count(names, reason, class_id, 1, size)
                    gone += bool(reason)
        valid = [int(not quiet and rng.random() < share) for _ in range(columns)]
        length, reasons = [rng.randint(8, 65535) for _ in valid], [rng.choice((RUNT, OVERSIZE, BAD)) for _ in valid]
        drive("refused", {"valid": (valid, 1), "reason": (reasons, 4), "len": (length, 16)})
        for here, reason, size in zip(valid, reasons, length, strict=True):
            if here:
                count((), reason, 0, 1, size)
                gone += 1
        valid = [int(not quiet and rng.random() < share) for _ in range(columns)]
        of_class, losses = [rng.randrange(classes) for _ in valid], [rng.getrandbits(1) for _ in valid]
        numbers, length = [rng.choice((1, rng.randint(1, 1 << 27))) for _ in valid], [rng.randint(1, 1 << 38) for _ in valid]
        drive("passed", {"valid": (valid, 1), "lost": (losses, 1), "class": (of_class, 8), "frames": (numbers, 32), "bytes": (length, 40)})
        for here, loss, class_id, number, size in zip(valid, losses, of_class, numbers, length, strict=True):
            if here:
                count(("lost" if loss else "missed",), READ_ERROR if loss else MISSED, class_id, number, size)
                gone += number
        lost.append(gone)
        read, class_id = rng.random() < 0.5, hot if rng.random() < 0.6 else rng.randrange(classes)
        dut.read_valid_i.value, dut.read_class_i.value = int(read), class_id
        waiting.append([(frames[name][class_id], sizes[name][class_id]) for name in ANSWERS] if read else None)
        await ReadOnly()
        assert int(dut.lost_now_o.value) == lost.pop(0)
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
