"""`bench memory`: its figures against arithmetic that knows nothing of the bench, what it finds in broken hardware, refusals in words."""

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.benches import bench, bench_memory
from penstock.command_line.app import main
from penstock.engine import memories
from penstock.hardware import library


def measure(seed: int = 1, **settings: Any) -> dict[str, Any]:
    return bench.run(bench.plan("memory", {key: str(value) for key, value in {"packets": 20_000, **settings}.items()}, seed))


@pytest.mark.parametrize(("size", "beats"), [(1, 1), (64, 1), (65, 2), (1514, 24)])
def test_sram_moves_a_beat_per_cycle_each_way(size: int, beats: int) -> None:
    """512 bits in, 512 bits out, 300 MHz: a frame takes as many cycles as it has beats."""
    found = measure(memory="sram", size=size)
    assert found["theoretical_bps"] == 2 * 512 * 300_000_000
    assert 0.999 <= found["efficiency"] <= 1.0005
    assert found["cycles"] == pytest.approx(20_000 * beats, rel=1e-3)
    assert found["goodput_bps"] == pytest.approx(size * 8 * 300e6 / beats, rel=1e-3)
    assert found["input_bps"] == pytest.approx(found["goodput_bps"], rel=1e-2)


def test_ideal_memory_is_bound_by_what_is_under_way() -> None:
    """Eight frames in each round trip: 40 cycles of the memory, and the 4 + 2 + 2 + 1 of handler and fabric (blocks/memory/README.md)."""
    found = measure(memory="ideal", size=64, outstanding=8)
    assert found["read_beats_per_cycle"] == pytest.approx(8 / 49, rel=0.05)
    assert found["efficiency"] == pytest.approx((found["read_beats_per_cycle"] + found["write_beats_per_cycle"]) / 2, rel=1e-3)


@pytest.mark.parametrize(("memory", "size"), [("ddr4_2400", 64), ("ddr4_2400", 1514), ("ddr4_3200", "imix"), ("hbm2", 300)])
def test_dram_keeps_its_bounds(memory: str, size: int | str) -> None:
    """Refreshes, four activates in tFAW, and a turn of the bus after each batch take their time from the data."""
    kind = memories.dram_kinds()[memory]
    t = memories.timing(kind, kind.clock_hz)
    found = measure(memory=memory, size=size)
    dram, parts = found["dram"], 64 // kind.access_bytes
    ticks = found["cycles"] / 300e6 * kind.clock_hz
    assert found["theoretical_bps"] == kind.clock_hz * 2 * 64
    assert found["efficiency"] < 1 - t["rfc"] / t["refi"]
    assert abs(dram["refreshes"] - ticks / t["refi"]) <= 1
    assert dram["activates"] <= 4 * ticks / t["faw"] + 4
    accesses = dram["reads"] + dram["writes"]
    turns = t["rtw"] - t["burst"] + t["cwl"] + t["wtr_s"]  # of both directions
    busy = accesses * t["burst"] + dram["turns"] / 2 * turns + dram["refreshes"] * t["rfc"]
    assert busy <= ticks * 1.001
    moved = found["efficiency"] * found["theoretical_bps"] / 512 / 300e6 * found["cycles"] * parts
    assert accesses + dram["forwarded"] == pytest.approx(moved, abs=2 * 3 * kind.queue), "each beat is an access, or found in the queue"


def test_channels_share_the_load_and_add_up() -> None:
    one, two = (measure(channels=channels, size=1514) for channels in (1, 2))
    assert one["channels"] == [{"share": 1.0}]
    assert sum(channel["share"] for channel in two["channels"]) == pytest.approx(1, abs=1e-5)
    assert all(0.48 < channel["share"] < 0.52 for channel in two["channels"])
    assert 1.8 * one["goodput_bps"] < two["goodput_bps"] < 2.1 * one["goodput_bps"]


def test_pairs_share_the_memories() -> None:
    """Two streams of 512 bits to three memories on the chip; the pools give each a page a cycle, so single beats get as many."""
    settings = {"memory": "sram", "channels": 3, "pairs": 2, "pages": 1024}
    large, small = (measure(size=size, **settings) for size in (1514, 64))
    streams = 2 * 1514 * 8 * 300e6 / 24
    assert 0.97 * streams < large["goodput_bps"] <= 1.001 * streams
    assert large["read_beats_per_cycle"] == pytest.approx(large["write_beats_per_cycle"], rel=0.02)
    assert large["buffer_bps"] == pytest.approx(large["efficiency"] * large["theoretical_bps"], rel=1e-5)
    assert 1.85 < small["frames_per_second"] / 300e6 <= 2.001
    for found in (large, small):
        assert sum(pair["goodput_bps"] for pair in found["pairs"]) == pytest.approx(found["goodput_bps"], rel=1e-6)
        assert all(pair["goodput_bps"] == pytest.approx(found["goodput_bps"] / 2, rel=0.02) for pair in found["pairs"])
        assert all(0.3 < channel["share"] < 0.37 for channel in found["channels"])


def test_a_crossbar_costs_latency_near_and_bandwidth_far() -> None:
    """Eight ports: each with its own channel they lose nothing to latency, across two switches four share two links."""
    settings = {"memory": "hbm2", "channels": 8, "size": 1514, "pages": 512, "outstanding": 256, "read_fifo": 64}
    none, own, across, spread = (measure(crossbar=crossbar, **settings)["goodput_bps"] for crossbar in ("none", "own", "across", "spread"))
    assert 0.97 * none < own <= 1.01 * none
    assert across <= 1.01 * own and spread <= 1.01 * own


def test_it_repeats_and_keeps_the_backlog() -> None:
    settings = {"size": "imix", "frames": 5000, "order": "fifo"}
    found, again, other = measure(seed=3, **settings), measure(seed=3, **settings), measure(seed=4, **settings)
    for result in (found, again, other):
        result.pop("wall_seconds")
    assert found == again != other
    assert found["schema"] == bench.SCHEMA and found["seed"] == 3 and found["config"]["frames"] == 5000
    assert 5000 - 1 <= found["backlog"] <= 5000 + 4 * 64 + 64
    assert found["packets"] == 20_000


@pytest.mark.parametrize(
    ("module", "text", "instead", "words"),
    [
        ("pst_rx_handler", ".s_data_i({burst_end, s_data_i})", ".s_data_i({burst_end, s_data_i ^ 512'd4})", "other bytes at the output"),
        ("pst_tx_handler", "<= OffsetWidth'(frame.len - 1'b1)", "<= OffsetWidth'(frame.len)", "another length at the output"),
        ("pst_fabric_read", "turn_valid && turn_ready && beats[route].last", "turn_valid && turn_ready", "other bytes at the output"),
    ],
)  # fmt: skip
def test_broken_hardware_is_found(
    module: str, text: str, instead: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = library.sources_of("pst_memory_fabric")
    (at,) = (i for i, path in enumerate(sources) if path.stem == module)
    broken = tmp_path / sources[at].name
    assert sources[at].read_text().count(text) == 1
    broken.write_text(sources[at].read_text().replace(text, instead))
    monkeypatch.setattr(library, "sources_of", lambda _: [*sources[:at], broken, *sources[at + 1 :]])
    with pytest.raises(bench.BenchError, match=words):
        measure(memory="sram", size=300, channels=2)


@pytest.mark.parametrize("name", ["Job", "Result"])
def test_a_struct_of_another_size_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench_memory.build(bench.plan("memory", {"memory": "sram"}, 1))
    longer = type(name, (getattr(bench_memory, name),), {"_fields_": [("more", ctypes.c_uint64)]})
    assert bench_memory.load(path)
    monkeypatch.setattr(bench_memory, name, longer)
    with pytest.raises(RuntimeError, match=f"pst_memory_{name.lower()} has [0-9]+ bytes, penstock.benches.bench_memory.{name} has"):
        bench_memory.load(path)


def test_both_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["bench", "memory", "--set", "memory=sram", "--set", "size=128", "--set", "packets=2000"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"efficiency", "goodput_bps", "theoretical_bps", "cycles", "channels", "config", "seed"} <= set(found)
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "100.0% of 307.2 Gbit/s" in said and "153.60 Gbit/s of frames each way" in said and "300 MHz (assumed)" in said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["memory=ddr5"], "must be one of ideal, sram, ddr4_2400"),
        (["memory=foo"], "must be one of ideal, sram, ddr4_2400, ddr4_3200, hbm2, not 'foo'\n"),
        (["channels=33"], "channels=33: give 1 to 32"),
        (["size=0"], "size=0: give 1 to 9,600"),
        (["size=big"], "give a whole number"),
        (["frames=-1"], "frames=-1: give 1 to "),
        (["frames=--1"], "give a whole number"),
        (["size=3000", "page_bytes=2048"], "a multiple of 64 that holds the longest frame of 3,000 bytes"),
        (["page_bytes=2000"], "give a multiple of 64"),
        (["clock_mhz=0"], "give 50 to 1,000"),
        (["order=lifo"], "no such choice"),
        (["frames=7000"], "frames=7000: give 1 to 6,144"),
        (["pairs=17"], "give 1 to 16"),
        (["pairs=2", "read_fifo=32"], "read_fifo=32: give 64 to 1,024"),
        (["read_fifo=1"], "give 2 to 1,024"),
        (["outstanding=1"], "give 2 to 1,024"),
        (["batch=100"], "batch is 100, more than the 64 places of a queue"),
        (["mapping=row bank"], "mapping must have all bits"),
        (["crossbar=own"], "kind ddr4_2400 has no crossbar"),
        (["memory=hbm2", "crossbar=ownn"], "did you mean 'own'"),
        (["memory=sram", "queue=8"], "kind sram has no controller"),
        (["chanels=2"], "did you mean 'channels'"),
    ],
)
def test_wrong_settings_are_one_sentence_and_status_2(settings: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "memory", *(word for setting in settings for word in ("--set", setting))]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
