"""pst_drop_counters against its model: four events a cycle, of the same reason and of different ones."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.testing.testkit import parameter, run_module, seed, start

COUNTED = parameter("Counted", 0xFFFF)
OVERSIZE, BAD_FRAME = 2, 4
REASONS = [reason for reason in range(1, parameter("Reasons", 7) + 1) if COUNTED >> reason & 1]


@pytest.mark.parametrize(
    "parameters",
    [{"PacketWidth": 50, "ByteWidth": 56}, {"PacketWidth": 4, "ByteWidth": 18, "Reasons": 8}, {"Reasons": 10, "Counted": 0x4FE}],
    ids=["wide", "wraps", "some"],
)
def test_drop_counters(parameters: dict[str, int]) -> None:
    run_module("count", "pst_drop_counters", parameters)


def read(dut, reason: int) -> tuple[int, int]:
    """Return (packets, bytes) of a reason; the ports are packed arrays from reason 1 on."""
    packets, size = parameter("PacketWidth", 50), parameter("ByteWidth", 56)
    all_packets, all_bytes = int(dut.packets_o.value), int(dut.bytes_o.value)
    return all_packets >> packets * (reason - 1) & (1 << packets) - 1, all_bytes >> size * (reason - 1) & (1 << size) - 1


@cocotb.test()
async def four_events_a_cycle(dut) -> None:
    from penstock.engine import engine

    models = engine.models("count")

    rng = random.Random(seed())
    dut._log.info(f"PENSTOCK_SEED={seed()}")
    for port in ("a", "b", "c", "d"):
        getattr(dut, f"ev_{port}_valid_i").value = 0
    await start(dut)
    for _ in range(3):
        model = models.DropCounters(parameter("PacketWidth", 50), parameter("ByteWidth", 56))
        assert all(read(dut, reason) == (0, 0) for reason in REASONS)
        waiting: list[list[tuple[int, int]]] = [[]]
        for _ in range(1000):
            events = []
            same = rng.choice([0, *REASONS])
            for port in ("a", "b", "c", "d"):
                valid = rng.random() < 0.7
                reason = same if rng.random() < 0.5 else rng.choice([0, *REASONS])
                length = rng.choice([0, 1, 65535, rng.randrange(65536)])
                if port == "a" and reason in (OVERSIZE, BAD_FRAME):
                    length = rng.choice([length, 65_536, 2**32 - 1, rng.randrange(2**32)])
                getattr(dut, f"ev_{port}_valid_i").value = valid
                getattr(dut, f"ev_{port}_reason_i").value = reason
                getattr(dut, f"ev_{port}_len_i").value = length
                if valid:
                    events.append((reason, length))
            waiting.append(events)
            await FallingEdge(dut.clk_i)
            for event in waiting.pop(0):
                model.event(*event)
            for reason in REASONS:
                assert read(dut, reason) == model.read(reason)
        dut.rst_i.value = 1  # in mid-traffic: four events are on their way
        await FallingEdge(dut.clk_i)
        dut.rst_i.value = 0
        for port in ("a", "b", "c", "d"):
            getattr(dut, f"ev_{port}_valid_i").value = 0
