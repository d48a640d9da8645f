"""pst_frame_reassemble alone: mixed cells of several sources and classes, cells missing anywhere, too little room; the fate of all."""

import itertools
import random
from collections import defaultdict, deque

import cocotb
import pytest
from axis_pins import axis_bus
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.axi import AxiStreamSink

from penstock.hardware import library
from penstock.testing.testkit import parameter, run_module, seed, start

CLASSES, MAX_CELLS, NUMBER_WIDTH = 3, 20, 4


def cell_word(width: int, port_bits: int, source: int, cls: int, number: int, index: int, last: bool, error: bool, data: bytes) -> int:
    word = 0
    fields = [
        (source, port_bits), (cls, 2), (number % 2**NUMBER_WIDTH, NUMBER_WIDTH), (index, (MAX_CELLS - 1).bit_length()),
        (last, 1), (error, 1), (len(data), width.bit_length()), (int.from_bytes(data, "little"), 8 * width),
    ]  # fmt: skip
    for value, bits in fields:
        word = word << bits | int(value)
    return word


class Flow:
    """What one source sends in one class: the frame under way, and which cell of it is next."""

    def __init__(self) -> None:
        self.number, self.pieces, self.index, self.error = -1, [], 0, False

    def next_frame(self, pieces: list[bytes], error: bool) -> None:
        self.number, self.pieces, self.index, self.error = self.number + 1, pieces, 0, error


@cocotb.test()
async def whole_frames_only(dut) -> None:
    width, room, ports = parameter("DataBytes", 4), parameter("RoomCells", 32), parameter("Ports", 2)
    port_bits = (ports - 1).bit_length()
    rng = random.Random(seed())
    dut.s_cell_valid_i.value = 0
    sink = AxiStreamSink(axis_bus(dut, "m_axis"), dut.clk_i, dut.rst_i)
    await start(dut)
    flows = {(s, c): Flow() for s in range(ports) for c in range(CLASSES)}
    stored = defaultdict(int)  # cells in the room of a flow by our own count
    frame_cells = defaultdict(int)
    complete: dict[tuple[int, int], deque[bytes]] = defaultdict(deque)  # frames that must come out, in order
    building: dict[tuple[int, int], list[bytes] | None] = {}
    last_seen: dict[tuple[int, int], int] = defaultdict(lambda: -1)
    fates = {"lost": 0, "no_room": 0, "bad": 0}
    counted = {"lost": 0, "no_room": 0, "bad": 0}
    delivered = 0
    looked_at = None  # the cell that came in the cycle before
    cells = 6000
    for cycle in range(cells + 3000):
        await FallingEdge(dut.clk_i)
        if cycle % 200 == 0:
            sink.pause = cycle < cells and rng.random() < 0.4
            loss = rng.choice([0, 0, 0.02, 0.3])
        dut.s_cell_valid_i.value = 0
        arriving = None
        if cycle < cells and rng.random() < 0.9:
            key = rng.choice(list(flows))
            flow = flows[key]
            if flow.index == len(flow.pieces):
                count = rng.choice([1, 2, rng.randrange(1, MAX_CELLS + 1)])
                flow.next_frame([rng.randbytes(width)] * (count - 1) + [rng.randbytes(rng.randrange(1, width + 1))], rng.random() < 0.05)
            last = flow.index == len(flow.pieces) - 1
            in_a_row = flow.number - last_seen[key]
            if rng.random() >= loss or in_a_row >= 2**NUMBER_WIDTH - 1:
                arriving = (key, flow.number, flow.index, last, last and flow.error, flow.pieces[flow.index])
                word = cell_word(width, port_bits, *key, *arriving[1:])
                dut.s_cell_valid_i.value, dut.s_cell_data_i.value = 1, word
            flow.index += 1
        await ReadOnly()
        counted["lost"] += int(dut.ev_lost_o.value)
        counted["no_room"] += int(dut.ev_no_room_o.value)
        counted["bad"] += int(dut.ev_bad_o.value)
        # Room is given back when a cell is read, which the module says a cycle later; a cell is looked at a cycle after it came.
        if int(dut.m_credit_valid_o.value):
            stored[int(dut.m_credit_source_o.value), int(dut.m_credit_class_o.value)] -= 1
        if looked_at:
            key, number, index, last, error, piece = looked_at
            if number != last_seen[key]:
                fates["lost"] += number - last_seen[key] - 1 + (building.get(key) is not None)
                stored[key] -= frame_cells[key]
                frame_cells[key] = 0
                building[key] = [] if index == 0 else None
                fates["lost"] += index != 0
                last_seen[key] = number
            elif building.get(key) is not None and index != frame_cells[key]:
                fates["lost"] += 1
                stored[key] -= frame_cells[key]
                frame_cells[key] = 0
                building[key] = None
            if building.get(key) is not None:
                if error or stored[key] == room:
                    fates["bad" if error else "no_room"] += 1
                    stored[key] -= frame_cells[key]
                    frame_cells[key] = 0
                    building[key] = None
                else:
                    building[key].append(piece)
                    stored[key] += 1
                    frame_cells[key] += 1
                    if last:
                        complete[key].append(b"".join(building[key]))
                        frame_cells[key] = 0
                        building[key] = None
        looked_at = arriving
        while not sink.empty():
            frame = sink.recv_nowait(compact=False)
            key = (int(frame.tid[0]), int(frame.tuser[0]))
            data = bytes(b for b, keep in zip(frame.tdata, frame.tkeep, strict=True) if keep)
            assert complete[key], f"{key}: a frame comes out that is not complete"
            assert data == complete[key].popleft(), f"{key}: wrong frame"
            delivered += 1
    assert not any(complete.values()), "frames stay inside"
    assert counted == fates, f"the module counts {counted}, must be {fates}"
    assert delivered > 100 and fates["lost"] > 20 and fates["bad"] > 5
    assert fates["no_room"] > 5 or room > 2 * MAX_CELLS


@cocotb.test()
async def turns_of_single_cells(dut) -> None:
    """Frames of one cell leave one a cycle; the sources of a class take turns all the same, whatever higher classes send meanwhile."""
    width, ports = parameter("DataBytes", 4), parameter("Ports", 2)
    rng, port_bits, frames = random.Random(seed()), (ports - 1).bit_length(), 12
    numbers: dict[tuple[int, int], int] = defaultdict(lambda: -1)

    def offer(source: int, cls: int) -> None:
        numbers[source, cls] += 1
        word = cell_word(width, port_bits, source, cls, numbers[source, cls], 0, True, False, rng.randbytes(width))
        dut.s_cell_valid_i.value, dut.s_cell_data_i.value = 1, word

    for name in ("s_cell_valid_i", "s_cell_data_i", "m_axis_tready_i"):
        getattr(dut, name).value = 0
    await start(dut)
    for classes, interrupted in (([0], 0.0), ([2], 0.0), ([0, 1, 2], 0.0), ([1], 0.4), ([2], 0.4)):
        for cls in classes:
            for _ in range(frames):
                for source in rng.sample(range(ports), ports):
                    offer(source, cls)
                    await FallingEdge(dut.clk_i)
        dut.s_cell_valid_i.value = 0
        for _ in range(5):
            await FallingEdge(dut.clk_i)
        dut.m_axis_tready_i.value = 1
        order, expected = [], len(classes) * frames * ports
        while len(order) < expected:
            dut.s_cell_valid_i.value = 0
            if rng.random() < interrupted and len(order) < expected - 10:
                offer(rng.randrange(ports), 0)
                expected += 1
            await ReadOnly()
            assert int(dut.m_axis_tvalid_o.value), "a cycle without a beat"
            order.append((int(dut.m_axis_tuser_o.value), int(dut.m_axis_tid_o.value)))
            await FallingEdge(dut.clk_i)
        dut.s_cell_valid_i.value = dut.m_axis_tready_i.value = 0
        await ReadOnly()
        assert not int(dut.m_axis_tvalid_o.value)
        await FallingEdge(dut.clk_i)
        # The first frames were chosen while others were still to come.
        chosen, settled = order[:3], order[3:]
        assert interrupted or settled == sorted(settled, key=lambda frame: frame[0]), "a lower class goes first"
        for cls in classes:
            turns = [source for which, source in settled if which == cls]
            left = [frames - sum((cls, source) == first for first in chosen) for source in range(ports)]
            # One after the other, as long as all have a frame left.
            whole = turns[: ports * min(left) - ports]
            assert all(then == (now + 1) % ports for now, then in itertools.pairwise(whole)), f"class {cls}: {turns}"
            assert len(whole) > 2 * ports


@pytest.mark.parametrize("ports, data_bytes, room", [(2, 4, 16), (4, 2, 64)])
def test_pst_frame_reassemble(ports: int, data_bytes: int, room: int) -> None:
    parameters = {
        "Ports": ports, "Classes": CLASSES, "DataBytes": data_bytes, "MaxCells": MAX_CELLS, "NumberWidth": NUMBER_WIDTH, "RoomCells": room,
    }  # fmt: skip
    run_module("fabric", "pst_frame_reassemble", parameters, sources=library.sources_of("pst_frame_reassemble"))
