"""pst_ecn_mark: marked frames are those that scapy writes with CE and a new checksum; all others pass byte by byte."""

import random

import cocotb

from penstock.testing.testkit import Stream, run_module, seed, start


def plan(rng: random.Random, count: int) -> tuple[list[dict], list[dict], int]:
    """Beats that go in, beats that must come out, and how many frames change."""
    from ecn_frames import ECT0, ECT1, beats, frame, remarked

    sent, expected, changed = [], [], 0
    for number in range(count):
        data, ecn = frame(rng)
        if len(data) >= 192:  # the third beat looks like the first of a frame that may be marked
            inner = next(inner for inner, field in iter(lambda: frame(rng), None) if field in (ECT0, ECT1) and len(inner) >= 64)
            data = data[:128] + inner[:64] + data[192:]
        mark = rng.random() < 0.6
        out = remarked(data) if mark and ecn in (ECT0, ECT1) else data
        assert len(out) == len(data)
        changed += out != data
        for i, ((beat, keep, last), (out_beat, _, _)) in enumerate(zip(beats(data), beats(out), strict=True)):
            # The mark counts with the first beat alone.
            sent.append({"data": beat, "keep": keep, "last": last, "user": number % 8, "mark": mark if i == 0 else rng.randrange(2)})
            expected.append({"data": out_beat, "keep": keep, "last": last, "user": number % 8})
    return sent, expected, changed


def streams(dut, rng: random.Random, source: float, sink: float) -> tuple[Stream, Stream]:
    names = {"data": "tdata", "keep": "tkeep", "last": "tlast", "user": "tuser"}
    inputs = {name: getattr(dut, f"s_axis_{port}_i") for name, port in names.items()} | {"mark": dut.s_mark_i}
    outputs = {name: getattr(dut, f"m_axis_{port}_o") for name, port in names.items()}
    return (
        Stream(dut.clk_i, dut.s_axis_tvalid_i, dut.s_axis_tready_o, inputs, source, rng),
        Stream(dut.clk_i, dut.m_axis_tvalid_o, dut.m_axis_tready_i, outputs, sink, rng),
    )


@cocotb.test()
async def marked_and_passed(dut) -> None:
    rng = random.Random(seed())
    dut.s_axis_tvalid_i.value = dut.m_axis_tready_i.value = 0
    await start(dut)
    for source_rate, sink_rate in [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5), (0.7, 0.7)]:
        sent, expected, changed = plan(rng, 300)
        assert changed > 20
        source, sink = streams(dut, rng, source_rate, sink_rate)
        received: list[dict] = []
        task = cocotb.start_soon(sink.receive(received, len(expected)))
        await source.send(sent)
        await task
        for i, (got, want) in enumerate(zip(received, expected, strict=True)):
            assert got == want, f"beat {i}, seed {seed()}"


@cocotb.test()
async def full_rate(dut) -> None:
    """A beat every cycle in and out, frames of one beat too."""
    from cocotb.triggers import FallingEdge, ReadOnly

    rng = random.Random(seed())
    dut.s_axis_tvalid_i.value = dut.m_axis_tready_i.value = 0
    await start(dut)
    sent, expected, _ = plan(rng, 150)
    dut.m_axis_tready_i.value = 1
    for cycle in range(len(sent) + 2):
        await FallingEdge(dut.clk_i)
        dut.s_axis_tvalid_i.value = int(cycle < len(sent))
        if cycle < len(sent):
            for name, port in (("data", "tdata"), ("keep", "tkeep"), ("last", "tlast"), ("user", "tuser")):
                getattr(dut, f"s_axis_{port}_i").value = sent[cycle][name]
            dut.s_mark_i.value = sent[cycle]["mark"]
        await ReadOnly()
        assert int(dut.s_axis_tready_o.value) == 1
        assert int(dut.m_axis_tvalid_o.value) == (cycle >= 2), "latency is two cycles, and then a beat comes every cycle"
        if cycle >= 2:
            assert int(dut.m_axis_tdata_o.value) == expected[cycle - 2]["data"]


def test_mark() -> None:
    run_module("aqm", "pst_ecn_mark", {"UserWidth": 3})
