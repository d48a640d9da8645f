# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Scenarios of the P4 device and the device held open: clocks that wrap, repeatability, CoDel and tail drop, a design without RTL."""

import struct
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.designs import configs
from penstock.designs import design as designs
from penstock.designs.p4_switch.testing import lab
from penstock.engine import engine
from penstock.engine.run import Request, prepare
from penstock.errors import UserError
from penstock.hardware import generate, synth
from penstock.paths import ROOT

CODEL, TAIL_DROP = (ROOT / "scenarios" / f"{name}.yaml" for name in ("p4_codel", "p4_tail_drop"))


@pytest.mark.parametrize("start", [0, 2**32 - 40, 2**48 - 40])
def test_the_programs_clock_wraps(start: int) -> None:
    """Times of a packet are those of its last bit in and its first bit out, in microseconds: 48 bits, and 32 where v1model has no more."""
    given = {"design": "p4_switch", "program": str(lab.PROGRAM), "clock_start_us": start}
    with penstock.open(given, link={"ingress": "1 Gbit/s", "egress": "100 Mbit/s"}) as device:
        for packet in range(6):
            device.send(lab.Packet(0, 0, 1, length=200, flags=lab.STAMP).bytes, input=0, at=f"{10 + packet} us")
        device.drain()
        left = list(device.received())
    assert len(left) == 6 and {frame.output for frame in left} == {1}
    for number, frame in enumerate(left):
        ingress, egress, enqueued, waited, enq_depth, deq_depth, length, port, _ = struct.unpack_from(lab.STAMP_FORMAT, frame.data, 4)
        came, went = (start + int(round(time, 3) // 1000) for time in (frame.time_ns - frame.latency_ns, frame.time_ns))
        assert (int.from_bytes(ingress, "big"), int.from_bytes(egress, "big")) == (came % 2**48, went % 2**48)
        assert (enqueued, waited) == (came % 2**32, went - came)
        assert (length, port) == (200, 1)
        assert (enq_depth, deq_depth) == (max(0, number - 1), 5 - number if number else 0)


def run(path: Path, *settings: str) -> dict[str, Any]:
    engine.build()
    prepared = prepare(Request(path, list(settings)))
    raw = engine.run(prepared.plan.job)
    assert raw["conservation_ok"] and not raw["findings"]
    return {"raw": raw, **prepared.summary(raw)}


def test_a_seed_repeats_a_run_to_the_bit() -> None:
    runs = [run(CODEL, "duration=1 s", "report.after=0 s", f"seed={seed}")["raw"]["departures"] for seed in (5, 5, 6)]
    first, again, other = ([runs[n][key].tolist() for key in ("cycle", "length", "output")] for n in range(3))
    assert first == again != other


def test_codel_keeps_the_queue_short_where_tail_drop_does_not() -> None:
    """The same throughput, and a tenth of the delay."""
    codel, tail = (run(path, "duration=5 s") for path in (CODEL, TAIL_DROP))
    waits = [found["queues"][0]["sojourn_ns"]["p50"] for found in (codel, tail)]
    assert waits[0] < waits[1] / 10
    assert codel["packets"]["dropped"] == {"egress_program": codel["queues"][0]["egress_packets"]}
    assert set(tail["packets"]["dropped"]) == {"tail_drop_packets"}
    assert codel["outputs"][1]["line_share"] > 0.9 and tail["outputs"][1]["line_share"] > 0.99


def test_drops_that_are_free_leave_the_line_full() -> None:
    charged, free = (run(CODEL, "duration=5 s", f"device.egress_drops={word}")["outputs"][1] for word in ("charged", "free"))
    assert charged["lost_ns"] > 0 == free["lost_ns"]
    assert free["line_share"] > 0.995 > charged["line_share"]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("device.program=no.json", "`device.program` cannot be used: .*no.json"),
        ("device.port_numbers=[1, 2]", "`device.port_numbers` has 2 numbers, but there are 4 ports"),
        ("commands=no.txt", "`commands` cannot be used"),
        ("tables.entries.1.action=forwrd4", "`tables.entries.1` the program has no action"),
        ("link.egress=[1 Gbit/s, 2 Gbit/s]", "`link.egress` has 2 rates"),
        ("traffic.0.inputs=7", "names input 7, but the device has inputs 0 to 3"),
    ],
)
def test_what_is_wrong_is_said(setting: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        prepare(Request(CODEL, [setting]))


def test_there_is_no_rtl(tmp_path: Path) -> None:
    """It is said where it is asked for; all else does without."""
    assert "p4_switch" in designs.names() and "p4_switch" not in designs.with_rtl()
    config = configs.load("p4_4")
    assert configs.sources(config) == []
    assert prepare(Request(CODEL)).plan.engine == "model"
    for asked in (
        lambda: prepare(Request(CODEL, engine="rtl")),
        lambda: synth.plan("p4_switch", "xcup", {}, [1]),
        lambda: generate.generate(config, tmp_path / "out"),
        lambda: penstock.open("p4_4", engine="rtl"),
    ):
        with pytest.raises(UserError, match="p4_switch has no RTL"):
            asked()
