# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The ready-made scenarios and captures: every file is valid, and what the documents say about them is true."""

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from penstock import pcap, scenario
from penstock.paths import ROOT
from penstock.schema import PcapTraffic, Scenario

SCENARIOS = ROOT / "scenarios"
FIRST_LIGHT = SCENARIOS / "first_light.yaml"
CAPTURE = SCENARIOS / "captures" / "first_light.pcap"


def tool(name: str) -> ModuleType:
    """Import tools/NAME.py."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load(path: Path, *settings: str) -> Scenario:
    """Read a scenario with `--set` values."""
    return scenario.load(path, list(settings))[0]


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_scenario_is_valid(path: Path) -> None:
    """Every scenario is valid, is called like its file, says what it is for, and its captures are there."""
    read = load(path)
    assert read.name == path.stem
    assert read.description
    for source in read.traffic:
        if isinstance(source, PcapTraffic):
            assert len(pcap.read(path.parent / source.pcap)) > 0


def test_capture_is_as_described() -> None:
    """The capture is small, in order of time, cut at the snap length only, and its README has its flow table."""
    recorder = tool("record_first_light")
    assert CAPTURE.stat().st_size < 1_000_000
    frames = pcap.read(CAPTURE)
    assert np.all(np.diff(frames.times_ns) >= 0)
    stored = np.array([len(data) for data in frames.data])
    assert np.array_equal(stored, np.minimum(frames.lengths, recorder.SNAP_BYTES))
    assert frames.lengths.max() == 1514, "offloads were on: these are not the frames of a line"
    assert recorder.table(CAPTURE) in (CAPTURE.parent / "README.md").read_text()


def test_first_light_maps_every_downstream_frame() -> None:
    """Each frame to a subscriber goes to a queue of that subscriber, and nothing that subscribers send does."""
    read = load(FIRST_LIGHT)
    source = read.traffic[0]
    assert isinstance(source, PcapTraffic)
    frames = pcap.read(CAPTURE)
    rules = pcap.match_frames(frames, [rule.match for rule in source.map])
    owner = {queue.name: queue.subscriber for queue in read.queues}
    names = {b"\xc6\x33\x64" + bytes([10 + n]): name for n, name in enumerate(["Anna", "Ben", "Cleo", "Dora"], start=1)}
    for data, rule in zip(frames.data, rules, strict=True):
        mapped = owner[source.map[rule].queue] if rule >= 0 else None
        assert mapped == names.get(data[30:34])


def test_bad_frames_capture_is_up_to_date() -> None:
    """The committed capture is what its script writes."""
    maker = tool("make_bad_frames")
    assert maker.capture() == maker.CAPTURE.read_bytes()
    assert Counter(fate for _, _, fate in maker.FRAMES) == {"passed": 40, "runt": 4, "oversize": 2, "bad_queue_id": 4}
