# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Scenarios of the P4 device and the device held open: clocks that wrap, repeatability, CoDel and tail drop, a design without RTL."""

import json
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.designs import configs
from penstock.designs import design as designs
from penstock.designs.p4_switch import program, tables
from penstock.designs.p4_switch.testing import lab
from penstock.engine import engine
from penstock.engine.result import failures
from penstock.engine.run import Request, prepare
from penstock.errors import UserError
from penstock.hardware import generate, synth
from penstock.paths import ROOT

PROGRAMS = lab.PROGRAM.parent
ROUTE = "{table: routes4, match: [10.0.2.0/24], action: forward4, data: [1, 0]}"
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


@pytest.mark.parametrize("start", [0, 2**48 - 25_000])
def test_meters_fill_up_again_after_the_clock_has_wrapped(start: int) -> None:
    """A frame each 10 ms of a meter that allows one each millisecond: none is marked, before the wrap and after it."""
    given = {"design": "p4_switch", "program": str(PROGRAMS / "state.json"), "clock_start_us": start}
    meters = [{"meter": "packets", "rates": [[0.001, 2], [0.002, 4]]}]
    with penstock.open(given, tables={"meters": meters}) as device:
        for _ in range(12):
            device.send(bytes([7, 0, 0, 0, 1]) + bytes(60), input=0)
            device.advance("10 ms")
        assert [frame.data[11] for frame in device.received()] == [0] * 12


def run(path: Path, *settings: str) -> dict[str, Any]:
    engine.build()
    prepared = prepare(Request(path, list(settings)))
    raw = engine.run(prepared.plan.job)
    found = prepared.summary(raw)
    assert failures(found) == []
    return {"raw": raw, **found}


def scenario(path: Path, read: Path, first_bytes: str, *more: str) -> Path:
    """Write a scenario in which a packet of 200 byte comes each 10 us, with what the program reads in its first bytes."""
    path.write_text(
        "\n".join([
            "duration: 50 us",
            f"device: {{ design: p4_switch, program: {json.dumps(str(read))}, ports: 4, egress_drops: free }}",
            "link: { ingress: 1 Gbit/s, egress: 1 Gbit/s }",
            "traffic:",
            f"  - {{ inputs: 0, headers: {{ dst_mac: '{first_bytes}' }}, constant: {{ rate: 160 Mbit/s, size: 200 }} }}",
            *more,
        ])
    )  # fmt: skip
    return path


@pytest.mark.parametrize(("code", "length"), [("00", 200 + 31), ("06", 10)])
def test_a_program_may_change_the_length_of_a_frame(tmp_path: Path, code: str, length: int) -> None:
    """One header more, and a frame cut short: it is not the device that has lost bytes, or has more than came."""
    found = run(scenario(tmp_path / "s.yaml", PROGRAMS / "copies.json", f"{code}:01:00:00:00:00"))
    assert found["packets"]["in"] == found["packets"]["out"] == 5
    assert (found["bytes"]["in"], found["bytes"]["out"]) == (5 * 200, 5 * length)
    assert found["conservation"] == {"ok": True, "packets_missing": 0, "bytes_missing": 0}


def test_copies_of_dropped_packets_for_ever_end_with_the_run(tmp_path: Path) -> None:
    """A program that drops a packet in egress and sends a copy of it to the same output, at no cost: the device's time goes on."""
    engine.build()
    loop = json.loads((PROGRAMS / "copies.json").read_text())
    conditions = loop["pipelines"][1]["conditionals"]
    conditions[0]["expression"] = conditions[-1]["expression"]  # what is dropped is cloned first
    (tmp_path / "loop.json").write_text(json.dumps(loop))
    path = scenario(tmp_path / "s.yaml", tmp_path / "loop.json", "0e:01:00:00:00:00", "tables: { mirrors: [{ session: 2, port: 1 }] }")
    command = [sys.executable, "-P", "-m", "penstock", "run", str(path), "--out", str(tmp_path / "out"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and not found["drained"] and found["cycles"] == 2 * 10_000
    assert found["packets"]["queued"] == 5 and found["packets"]["out"] == 0


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
        ("tables.entries.1.data=5", "`tables.entries.1` action .* has 2 parameters .*, not 1"),
        ("tables.entries.1.data='30'", "`tables.entries.1` action .* has 2 parameters .*, not 1"),
        ("tables.entries.1.data={1: 2}", "`tables.entries.1` action .* has the parameters .*, not 1"),
        (
            f"tables.entries=[{ROUTE}, {ROUTE.replace('2.0', '2.7')}]",
            "`tables.entries.1` table 'RouterIngress.routes4' has an entry with the same",
        ),
        ("tables.mirrors=[{session: 5, port: 4294967297}]", "`tables.mirrors.0` mirror session 5: a port is 0 to 511, not 4294967297"),
        ("tables.mirrors=[{session: 5, group: 65536}]", "`tables.mirrors.0` mirror session 5: a multicast group is 1 to 65535, not 65536"),
        ("tables.multicast=[{group: 1, nodes: [{ports: [4294967297]}]}]", "`tables.multicast.0` multicast group 1: a port is 0 to 511"),
        ("tables.multicast=[{group: 1, nodes: [{ports: [-1]}]}]", "`tables.multicast.0` multicast group 1: a port is 0 to 511, not -1"),
        ("link.egress=[1 Gbit/s, 2 Gbit/s]", "`link.egress` has 2 rates"),
        ("traffic.0.inputs=7", "names input 7, but the device has inputs 0 to 3"),
    ],
)
def test_what_is_wrong_is_said(setting: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        prepare(Request(CODEL, [setting]))


def test_a_table_has_one_entry_for_a_key(tmp_path: Path) -> None:
    """Another one, in the scenario or in commands, is refused where it stands; a table that was cleared takes it again."""
    twice = "table_add routes4 forward4 10.0.2.0/24 => 1 0\n" * 2
    (tmp_path / "twice.txt").write_text(twice)
    with pytest.raises(UserError, match=r"twice.txt:2: table 'RouterIngress.routes4' has an entry with the same key already"):
        prepare(Request(CODEL, [f"commands={tmp_path / 'twice.txt'}", "tables.entries=[]"]))
    (tmp_path / "clear.txt").write_text(twice.replace("\n", "\ntable_clear routes4\n", 1))
    prepare(Request(CODEL, [f"commands={tmp_path / 'clear.txt'}", "tables.entries=[]"]))
    control = tables.Control(program.load(ROOT / "p4" / "router.json"))
    refused, law = (replace(control.table(name), constant_entries=False) for name in ("refused4", "law"))
    for priority in (1, 2):
        control.add(refused, [(0, 0), (7, 255)], control.action(refused, "refuse", []), priority)
    with pytest.raises(UserError, match="an entry with the same key and priority already"):
        control.add(refused, [(0, 0), (7, 255)], control.action(refused, "refuse", []), 2)
    assert [control.add(law, [(count, 16)], None) for count in range(law.size)] == list(range(2303))
    with pytest.raises(UserError, match="has room for 2303 entries"):
        control.add(law, [(2303, 16)], None)


def test_an_endless_burst_is_refused() -> None:
    """Files have no such numbers, but who calls from Python may."""
    meters = [{"meter": "packets", "rates": [[0.1, float("inf")], [0.2, 5]]}]
    with pytest.raises(UserError, match=r"tables.meters\[0\].rates: should be two pairs, \[rate for each microsecond, burst\]"):
        tables.state(program.load(PROGRAMS / "state.json"), {"meters": meters})


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


def test_a_frame_of_no_byte_leaves_as_one(tmp_path: Path) -> None:
    """A program that puts no header back: what is left of a frame is its payload, and be it nothing; in Python as in a run's count."""
    given = json.loads((Path(__file__).parent / "programs" / "state.json").read_text())
    given["deparsers"][0] |= {"order": [], "primitives": []}
    (tmp_path / "empty.json").write_text(json.dumps(given))
    payloads = [b"", b"xyz", b"", b"0123456789"]
    with penstock.open({"design": "p4_switch", "program": str(tmp_path / "empty.json")}) as device:
        for payload in payloads:
            device.send(bytes(12) + payload, input=0)
        device.advance("1 ms")
        assert [left.data for left in device.received()] == payloads
