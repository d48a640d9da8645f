# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`bench skipfifo`: its figures against arithmetic that knows nothing of the bench, what it finds in broken hardware, refusals in words."""

import ctypes
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.benches import bench, bench_skipfifo
from penstock.command_line.app import main
from penstock.hardware import library


def measure(seed: int = 1, **settings: Any) -> dict[str, Any]:
    return bench.run(bench.plan("skipfifo", {key: str(value) for key, value in {"packets": 8000, **settings}.items()}, seed))


def beats_of_a_frame(size: int, chunk_beats: int) -> float:
    """Beats of 64 byte that a frame takes in full chunks, by the layout in blocks/deadline/README.md: frames of one class, one after
    the other, units of 8 byte; meta and headers first, rounded up to beats, then data."""

    def used(frames: int, data: int) -> int:
        return -(-(1 + frames) // 8) + -(-data // 8)

    frames = data = chunks = beats = 0
    for _ in range(2000):
        left = -(-size // 8)
        if used(frames + 1, data + 1) > chunk_beats:
            chunks, beats, frames, data = chunks + 1, beats + used(frames, data), 0, 0
        frames += 1
        while left:
            if used(frames, data + 1) > chunk_beats:
                chunks, beats, frames, data = chunks + 1, beats + used(frames, data), 0, 0
            else:
                data, left = data + 1, left - 1
    return (beats + used(frames, data)) / 2000


@pytest.mark.parametrize("size", [60, 65, 600, 1514, 9600])
def test_frames_are_packed_as_the_layout_says(size: int) -> None:
    """On a channel of DDR4: bytes of frames by beats that the memory moved, and the share of its bandwidth that is wanted."""
    found = measure(packet_bytes=size)
    per_frame = found["write_beats_per_cycle"] * found["cycles"] * found["goodput_bps"] / found["input_bps"] / found["packets"]
    assert per_frame == pytest.approx(beats_of_a_frame(size, 64), rel=0.02)
    assert found["theoretical_bps"] == 19_200_000_000 * 8
    both = found["write_beats_per_cycle"] + found["read_beats_per_cycle"]
    assert found["efficiency"] == pytest.approx(both * 512 * 300e6 / found["theoretical_bps"], rel=1e-4)
    assert found["efficiency"] > 0.76, "the paper's share of the bandwidth, at any size"
    if size == 1514:
        assert found["goodput_bps"] > 60e9, "the paper's throughput of a DDR4 channel"


@pytest.mark.parametrize(("size", "least"), [(64, 0.99), (1536, 0.88)])
def test_every_frame_goes_through_memory(size: int, least: float) -> None:
    """On-chip memory behind the same pins: beats written and read are those of all frames, one in each cycle and direction where frames
    of a beat go to all classes in turn; where long ones come, a class may have both of its slots full, and the input waits. (Frames of
    whole beats, so that the port itself, with a beat for each begun 64 byte, is no narrower than the memory.)"""
    found = measure(memory="sram", packet_bytes=size)
    for way in ("write", "read"):
        assert least < found[f"{way}_beats_per_cycle"] <= 1.0
    assert found["frames_per_cycle"] == pytest.approx(found["read_beats_per_cycle"] / beats_of_a_frame(size, 64), rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("memory", "channels", "least"), [("hbm2", 1, 0.76), ("hbm2", 2, 0.76), ("ddr4_2400", 2, 0.74)])
def test_one_port_over_several_memories(memory: str, channels: int, least: float) -> None:
    for size in (64, 1514):
        found = measure(memory=memory, channels=channels, packet_bytes=size)
        assert found["efficiency"] > least
        assert all(channel["share"] == pytest.approx(1 / channels, rel=0.05) for channel in found["channels"])


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "chunk_bytes", "places"), [(2, 512, 16), (16, 2048, 4), (64, 4096, 4)])
def test_other_sizes_of_port(classes: int, chunk_bytes: int, places: int) -> None:
    """Shorter bursts carry less, and so many classes no less."""
    for size in ("imix", 1514):
        found = measure(classes=classes, chunk_bytes=chunk_bytes, places=places, packet_bytes=size)
        assert found["efficiency"] > (0.55 if chunk_bytes == 512 else 0.76)


def test_it_repeats_and_keeps_the_backlog() -> None:
    found, again, other = measure(seed=3, packet_bytes="imix"), measure(seed=3, packet_bytes="imix"), measure(seed=4, packet_bytes="imix")
    for result in (found, again, other):
        result.pop("wall_seconds")
    assert found == again != other
    assert found["schema"] == bench.SCHEMA and found["seed"] == 3 and found["config"]["packet_bytes"] == "imix"
    chunks = found["config"]["channels"] * bench_skipfifo.CHUNKS
    held = found["backlog"] * beats_of_a_frame(round((7 * 60 + 4 * 590 + 1514) / 12), 64)
    assert held > 64 * 3 * 10, "more than the chip holds: three classes, eight chunks on the way out and two on the way in"
    assert held < 64 * chunks


@pytest.mark.parametrize(
    ("module", "text", "instead"),
    [
        ("pst_deadline_sender", "s_frame_bank_i ^ start[3]", "s_frame_bank_i"),
        pytest.param("pst_deadline_lanes", "in_units[unit];", "in_units[unit ^ 3'd1];", marks=pytest.mark.slow),
    ],
)
def test_broken_hardware_is_found(module: str, text: str, instead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = library.sources_of
    (good,) = (path for path in plain("pst_edfr") if path.stem == module)
    assert good.read_text().count(text) == 1
    (tmp_path / good.name).write_text(good.read_text().replace(text, instead))
    monkeypatch.setattr(library, "sources_of", lambda name: [tmp_path / path.name if path == good else path for path in plain(name)])
    with pytest.raises(bench.BenchError, match="other bytes at the output"):
        measure(packet_bytes=600)


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [1, 0])
def test_two_columns_are_one_port(ordered: int) -> None:
    """A wide port of two columns: all frames in order and unchanged, and two columns carry what two memories do."""
    found = measure(memory="hbm2", channels=2, columns=2, ordered=ordered, run_frames=4, packet_bytes=600)
    assert found["port_bits"] == 1024 and found["packets"] == 8000
    assert found["efficiency"] > 0.7


@pytest.mark.slow
def test_broken_wide_port_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that end with a word: frames are in columns in which no token looks for them."""
    plain = library.sources_of
    (good,) = (path for path in plain("pst_edfr_wide") if path.stem == "pst_deal_assign")
    text = "column[i]  = column_t'(class_q[i]) + mine[i].round;"
    assert good.read_text().count(text) == 1
    (tmp_path / good.name).write_text(good.read_text().replace(text, text.replace("mine", "at")))
    monkeypatch.setattr(library, "sources_of", lambda name: [tmp_path / path.name if path == good else path for path in plain(name)])
    with pytest.raises(bench.BenchError, match="at the output|never came"):
        measure(memory="hbm2", channels=2, columns=2, run_frames=4, packet_bytes=64)


@pytest.mark.parametrize("name", ["Job", "Result"])
def test_a_struct_of_another_size_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bench_skipfifo.build(bench.plan("skipfifo", {}, 1))
    longer = type(name, (getattr(bench_skipfifo, name),), {"_fields_": [("more", ctypes.c_uint64)]})
    assert bench_skipfifo.load(path)
    monkeypatch.setattr(bench_skipfifo, name, longer)
    with pytest.raises(RuntimeError, match=f"pst_skipfifo_{name.lower()} has [0-9]+ bytes, penstock.benches.bench_skipfifo.{name} has"):
        bench_skipfifo.load(path)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"packet_bytes": "59"}, "packet_bytes"),
        ({"channels": "3"}, "channels=3: give a power of two"),
        ({"chunk_bytes": "3000"}, "chunk_bytes=3000: give a power of two"),
        ({"places": "5"}, "places=5: give a power of two"),
        ({"columns": "4", "channels": "2"}, "columns=4: give a power of two, at most as many as there are channels (2)"),
        ({"channels": "16", "run_frames": "12"}, "run_frames=12: give a power of two"),
        ({"run_frames": "16"}, "run_frames"),
        ({"memory": "ddr5"}, "ddr5"),
        ({"classes": "257"}, "classes"),
        ({"pages": "7"}, "pages"),
    ],
)
def test_what_it_does_not_take(settings: dict[str, str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    assert main(["bench", "skipfifo", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") <= 2


def test_both_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["bench", "skipfifo", "--set", "packets=2000"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["clock_hz"] == 300_000_000 and found["port_bits"] == 512 and found["packets"] == 2000
    assert main(arguments) == 0
    words = capsys.readouterr().out
    assert "Gbit/s of frames each way" in words and "none lost or changed" in words
