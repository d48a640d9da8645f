"""pst_interrupt against its model in every cycle: events, losses, clearings, thresholds and masks, at random and together."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.testing.testkit import parameter, run_module, seed, start

EVENTS, WIDTH = parameter("Events", 4), parameter("LostWidth", 32)
ALL, MOST = (2 << EVENTS) - 1, (1 << WIDTH) - 1


@pytest.mark.parametrize("parameters", [{}, {"Events": 1, "LostWidth": 5}, {"Events": 7, "LostWidth": 1}], ids=["wide", "stops", "bit"])
def test_interrupt(parameters: dict[str, int]) -> None:
    run_module("count", "pst_interrupt", parameters)


@cocotb.test()
async def any_events_and_clearings(dut) -> None:
    from penstock.engine import engine

    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for name in ("event", "lost", "most", "clear", "mask"):
        getattr(dut, f"{name}_i").value = 0
    await start(dut)
    seen = {"level": 0, "drops": 0, "cleared with an event": 0, "cleared with a loss": 0}
    for _ in range(4):
        model = engine.models("count").Interrupt(EVENTS, WIDTH)
        most = mask = level = 0
        lively = rng.choice([0.02, 0.3])
        for _ in range(4000):
            if rng.random() < 0.02:
                mask = rng.choice([0, ALL, rng.getrandbits(EVENTS + 1)])
            if rng.random() < 0.02:
                most = rng.choice([0, 1, 2, 20, MOST, rng.getrandbits(WIDTH)]) & MOST
            events = sum(1 << bit for bit in range(EVENTS) if rng.random() < lively)
            lost = rng.choice([1, 2, 4, MOST, rng.getrandbits(WIDTH)]) & MOST if rng.random() < lively else 0
            clear = rng.choice([ALL, rng.getrandbits(EVENTS + 1), 1 << EVENTS]) if rng.random() < 0.1 else 0
            for name, value in (("event", events), ("lost", lost), ("most", most), ("clear", clear), ("mask", mask)):
                getattr(dut, f"{name}_i").value = value
            model.set_mask(mask)
            model.set_threshold(most)
            level = model.level()
            seen["cleared with an event"] += bool(events & clear)
            seen["cleared with a loss"] += bool(lost and clear >> EVENTS & 1)
            model.step(clear, events, lost)
            await FallingEdge(dut.clk_i)
            assert (int(dut.cause_o.value), int(dut.lost_o.value)) == (model.cause(), model.lost())
            assert int(dut.irq_o.value) == level
            seen["level"] += level
            seen["drops"] += model.cause() >> EVENTS
        dut.rst_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        assert not int(dut.cause_o.value) and not int(dut.lost_o.value) and not int(dut.irq_o.value)
    assert min(seen.values()) > 20, seen
