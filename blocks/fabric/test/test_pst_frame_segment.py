"""pst_frame_segment alone: the cells of every frame, for each destination, with and without credits (cocotbext-axi)."""

import random
from dataclasses import dataclass

import cocotb
import pytest
from axis_pins import axis_bus
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.axi import AxiStreamFrame, AxiStreamSource

from penstock.hardware import library
from penstock.testing.testkit import parameter, run_module, seed, start, watch_held

PORTS, CLASSES, CREDITS, MAX_CELLS, NUMBER_WIDTH = 4, 3, 24, 20, 4


@dataclass
class Cell:
    """What a cell says, and where it is sent."""

    dest: int
    source: int
    cls: int
    number: int
    index: int
    last: bool
    error: bool
    data: bytes


def field_widths(data_bytes: int) -> list[int]:
    """Return the widths of the header's fields from the highest bit down, then the data's."""
    return [2, 2, NUMBER_WIDTH, (MAX_CELLS - 1).bit_length(), 1, 1, data_bytes.bit_length(), 8 * data_bytes]


def parse(word: int, dest: int, data_bytes: int) -> Cell:
    values = []
    for width in reversed(field_widths(data_bytes)):
        values.append(word & (1 << width) - 1)
        word >>= width
    data, count, error, last, index, number, cls, source = values
    return Cell(dest, source, cls, number, index, bool(last), bool(error), data.to_bytes(data_bytes, "little")[:count])


@cocotb.test()
async def cells_of_frames(dut) -> None:
    """Frames become the right cells for each destination; what the outputs do not give back in credits is never overdrawn."""
    width, credited = parameter("DataBytes", 8), parameter("Credits", 0) > 0
    rng = random.Random(seed())
    dut.source_i.value = 2
    dut.m_cell_ready_i.value = 0
    dut.s_credit_valid_i.value = 0
    source = AxiStreamSource(axis_bus(dut, "s_axis"), dut.clk_i, dut.rst_i)
    dut.s_axis_tvalid_i.value = 0
    await start(dut)
    expected: list[Cell] = []
    numbers: dict[tuple[int, int], int] = {}
    refused = 0
    for _ in range(150):
        size = rng.choice(
            [1, width, width + 1, 3 * width, rng.randrange(1, MAX_CELLS * width + 1), MAX_CELLS * width + rng.randrange(1, 50)]
        )
        data = rng.randbytes(size)
        dests, cls, error = rng.choice([1, 2, 8, 5, 15, rng.randrange(16)]), rng.randrange(4), rng.random() < 0.1
        beats = -(-size // width)
        # Class and destinations count at the first beat, the error flag at the last: the other beats carry something else.
        user = [
            (cls if b < width else rng.randrange(4)) << 1 | (int(error) if b // width == beats - 1 else rng.randrange(2))
            for b in range(size)
        ]
        dest = [dests if b < width else rng.randrange(16) for b in range(size)]
        keep = [1] * size
        holes = [b for b in range(size - 1) if b % width != width - 1]
        if holes and rng.random() < 0.1:  # a hole in tkeep damages the frame
            keep[rng.choice(holes)] = 0
            error = True
        await source.send(AxiStreamFrame(data, tkeep=keep, tuser=user, tdest=dest))
        if dests == 0 or cls >= CLASSES:
            refused += 1
            continue
        kept = [data[b * width : (b + 1) * width] for b in range(min(beats, MAX_CELLS))]
        for index, piece in enumerate(kept):
            last = index == len(kept) - 1
            for port in (p for p in range(PORTS) if dests >> p & 1):
                number = numbers.get((port, cls), 0)
                expected.append(Cell(port, 2, cls, number % 2**NUMBER_WIDTH, index, last, last and (error or beats > MAX_CELLS), piece))
                if last:
                    numbers[port, cls] = number + 1
    fields = {"dest": dut.m_cell_dest_o, "class": dut.m_cell_class_o, "data": dut.m_cell_data_o}
    cocotb.start_soon(watch_held(dut.clk_i, dut.rst_i, dut.m_cell_valid_o, dut.m_cell_ready_i, fields))
    owed: dict[tuple[int, int], int] = {}  # cells at an output, credit not given back
    frame: dict[tuple[int, int], int] = {}  # of them, those of the frame under way
    said_refused = idle = taken = 0
    while idle < 300:
        await FallingEdge(dut.clk_i)
        dut.m_cell_ready_i.value = ready = int(rng.random() < 0.8)
        back_valid = back_class = 0
        for port in range(PORTS):
            cls = rng.randrange(CLASSES)
            if owed.get((port, cls), 0) > frame.get((port, cls), 0) and rng.random() < 0.5:
                owed[port, cls] -= 1
                back_valid |= 1 << port
                back_class |= cls << 2 * port
        dut.s_credit_valid_i.value, dut.s_credit_class_i.value = back_valid, back_class
        await ReadOnly()
        said_refused += int(dut.ev_refused_o.value)
        idle += 1
        if not (ready and int(dut.m_cell_valid_o.value)):
            continue
        idle = 0
        cell = parse(int(dut.m_cell_data_o.value), int(dut.m_cell_dest_o.value), width)
        want = expected[taken]
        assert cell == want, f"cell {taken}: {cell}, must be {want}"
        assert int(dut.m_cell_class_o.value) == cell.cls
        taken += 1
        flow = (cell.dest, cell.cls)
        if credited:
            assert owed.get(flow, 0) < CREDITS, f"a cell to {flow} without a credit"
            owed[flow] = owed.get(flow, 0) + 1
            frame[flow] = frame.get(flow, 0) + 1
            if cell.last:
                owed[flow] -= frame[flow] if cell.error else 0
                frame[flow] = 0
    assert taken == len(expected) > 300, f"{taken} of {len(expected)} cells"
    assert said_refused == refused > 5


@pytest.mark.parametrize("data_bytes, credits", [(8, CREDITS), (3, 0)])
def test_pst_frame_segment(data_bytes: int, credits: int) -> None:
    parameters = {
        "Ports": PORTS, "Classes": CLASSES, "DataBytes": data_bytes, "MaxCells": MAX_CELLS, "NumberWidth": NUMBER_WIDTH, "Credits": credits,
    }  # fmt: skip
    run_module("fabric", "pst_frame_segment", parameters, sources=library.sources_of("pst_frame_segment"))
