# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""pst_pause_watch against sums in Python: events of one class in one cycle, thresholds that change, requests with hysteresis."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge
from mac_frames import quiet

from penstock.testing.testkit import parameter, run_module, seed, start

CLASSES, WIDTH = parameter("Classes", 8), parameter("Width", 24)


@pytest.mark.parametrize("parameters", [{}, {"Classes": 3, "Width": 9}, {"Classes": 1, "Width": 16}], ids=["8", "3", "1"])
def test_pause_watch(parameters: dict[str, int]) -> None:
    run_module("mac", "pst_pause_watch", parameters)


@cocotb.test()
async def sums_and_thresholds(dut) -> None:
    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    await quiet(dut)
    await start(dut)
    most = min((1 << WIDTH) - 1, 400)
    waiting: list[tuple[int, int]] = []  # class, amount
    high, low, request = [0] * (CLASSES + 1), [0] * (CLASSES + 1), [0] * (CLASSES + 1)
    begun = ended = 0
    for _ in range(20_000):
        if rng.random() < 0.01:
            one = rng.randrange(CLASSES + 1)
            high[one] = rng.choice([0, rng.randrange(most)])
            low[one] = rng.randrange(high[one] + 1)
        waits = [sum(amount for number, amount in waiting if number == c) for c in range(CLASSES)]
        waits.append(sum(waits))
        come = (rng.randrange(CLASSES), rng.randrange(1, most // 8)) if rng.random() < 0.5 and waits[-1] < most * 7 // 8 else None
        rng.shuffle(waiting)
        goes = [waiting.pop() if waiting and rng.random() < 0.4 else None for _ in range(2)]
        for name, event in (("come", come), ("left", goes[0]), ("gone", goes[1])):
            getattr(dut, f"{name}_valid_i").value = event is not None
            number, amount = event or (rng.randrange(CLASSES), rng.randrange(most))
            getattr(dut, f"{name}_class_i").value = number
            getattr(dut, f"{name}_amount_i").value = amount
        for name, values in (("high", high), ("low", low)):
            getattr(dut, f"{name}_i").value = sum(value << WIDTH * c for c, value in enumerate(values[:-1]))
            getattr(dut, f"all_{name}_i").value = values[-1]
        before = list(request)
        request = [int(h > 0 and (w >= h or (r and w > lower))) for r, w, h, lower in zip(request, waits, high, low, strict=True)]
        begun += sum(new > old for new, old in zip(request, before, strict=True))
        ended += sum(new < old for new, old in zip(request, before, strict=True))
        waiting += [come] if come else []
        await FallingEdge(dut.clk_i)
        shown = int(dut.request_o.value)
        assert [shown >> c & 1 for c in range(CLASSES)] + [shown >> 8] == request
        assert shown >> CLASSES & 0xFF >> CLASSES == 0
        assert int(dut.all_waits_o.value) == sum(amount for _, amount in waiting)
    assert begun > 50 and ended > 50, (begun, ended)
