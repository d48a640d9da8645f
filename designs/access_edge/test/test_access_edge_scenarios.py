# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The access edge's ready-made scenarios and captures: what the documents say about them is true."""

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from penstock.designs.access_edge import report
from penstock.designs.access_edge.scenario import PcapTraffic, Scenario
from penstock.paths import ROOT
from penstock.scenarios import pcap, rules, scenario

SCENARIOS = ROOT / "scenarios"
FIRST_LIGHT = SCENARIOS / "first_light.yaml"
VOICE_P99_NS = 1_000_000  # what a voice frame may wait beside a backlogged download: eight frames of 1,514 byte at 100 Mbit/s
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


def test_capture_is_as_described() -> None:
    """The capture is small, in order of time, cut at the snap length only, and its README has its flow table."""
    recorder = tool("record_first_light")
    assert CAPTURE.stat().st_size < 1_000_000
    frames = pcap.read(CAPTURE)
    assert np.all(np.diff(frames.times_ns) >= 0)
    stored = frames.stored
    assert np.array_equal(stored, np.minimum(frames.lengths, recorder.SNAP_BYTES))
    assert frames.lengths.max() == 1514, "offloads were on: these are not the frames of a line"
    assert recorder.table(CAPTURE) in (CAPTURE.parent / "README.md").read_text()


def test_first_light_maps_every_downstream_frame() -> None:
    """Each frame to a subscriber goes to a queue of that subscriber, and nothing that subscribers send does."""
    read = load(FIRST_LIGHT)
    source = read.traffic[0]
    assert isinstance(source, PcapTraffic)
    frames = pcap.read(CAPTURE)
    found = rules.match_frames(frames, [rule.match for rule in source.map])
    owner = {queue.name: queue.subscriber for queue in read.queues}
    names = {b"\xc6\x33\x64" + bytes([10 + n]): name for n, name in enumerate(["Anna", "Ben", "Cleo", "Dora"], start=1)}
    for data, rule in zip(map(frames.frame, range(len(frames.stored))), found, strict=True):
        mapped = owner[source.map[rule].queue] if rule >= 0 else None
        assert mapped == names.get(data[30:34])


def test_bad_frames_capture_is_up_to_date() -> None:
    """The committed capture is what its script writes."""
    maker = tool("make_bad_frames")
    assert maker.capture() == maker.CAPTURE.read_bytes()
    assert Counter(fate for _, _, fate in maker.FRAMES) == {"passed": 40, "runt": 4, "oversize": 2, "bad_queue_id": 4}


def run(path: Path, out: Path, *settings: str, engine: str = "rtl") -> dict[str, Any]:
    """Run a scenario as a user does and return its result."""
    options = [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-m", "penstock", "run", str(path), "--engine", engine, "--out", str(out), "--json", *options]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def environment() -> dict[str, str]:
    """Return the environment in which `python -m penstock` is found."""
    import os

    return os.environ | {"PYTHONPATH": str(ROOT / "src")}


def queue(result: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what a result says of one queue."""
    return next(queue for queue in result["queues"] if queue["name"] == name)


def departure_rate(capture: Path, match: dict[str, str], skip: int) -> float:
    """Return the rate in bit/s of the frames that match in a capture of the device's output, without the first `skip`."""
    from penstock.scenarios.common import Match

    frames = pcap.read(capture)
    mine = rules.match_frames(frames, [Match.model_validate(match)]) == 0
    times, lengths = frames.times_ns[mine][skip:], frames.lengths[mine][skip:]
    return 8e9 * float(lengths[:-1].sum()) / float(times[-1] - times[0])


def check_first_light(result: dict[str, Any], out: Path, rate: float) -> None:
    """Check that the download was held to `rate`, that nobody else was disturbed, and that the result agrees with the captured output."""
    bulk = queue(result, "anna-bulk")
    assert bulk["measured_rate_bps"] == pytest.approx(rate, rel=0.005)
    left = departure_rate(out / "departures.pcap", {"src": "192.0.2.20", "dst": "198.51.100.11"}, skip=100)
    assert left == pytest.approx(rate, rel=0.005)
    assert bulk["latency_ns"]["p99"] > 50e6, "there was no backlog: the test shows nothing"
    for name in ("anna-voice", "ben-voice"):
        assert queue(result, name)["latency_ns"]["p99"] < VOICE_P99_NS
        assert queue(result, name)["out_packets"] == queue(result, name)["in_packets"]
    assert result["packets"]["dropped"] == {}


@pytest.mark.parametrize(
    ("rate", "engine"), [pytest.param(25, "rtl", marks=pytest.mark.slow), pytest.param(12, "rtl", marks=pytest.mark.slow), (12, "model")]
)
def test_first_light_start(rate: int, engine: str, tmp_path: Path) -> None:
    """The first 0.9 seconds of the demo: the rate follows the number in the scenario, the telephones do not notice."""
    result = run(FIRST_LIGHT, tmp_path, "duration=0.9 s", "drain=false", f"queues.anna-bulk.rate={rate} Mbit/s", engine=engine)
    check_first_light(result, tmp_path, rate * 1e6)
    assert queue(result, "anna-bulk")["in_packets"] > queue(result, "anna-bulk")["out_packets"]


@pytest.mark.slow
def test_first_light(tmp_path: Path) -> None:
    """The whole demo: all that came leaves, at the rate of each queue."""
    result = run(FIRST_LIGHT, tmp_path)
    check_first_light(result, tmp_path, 25e6)
    assert result["packets"]["in"] == result["packets"]["out"] == 5345
    assert result["packets"]["queued"] == 0
    # Ben's pages pass as fast as if Anna did not download anything.
    alone = run(FIRST_LIGHT, tmp_path / "alone", "queues.anna-bulk.limit_packets=0")
    for name in ("ben-web", "cleo-video", "dora-web"):
        shared, free = (queue(r, name)["latency_ns"] for r in (result, alone))
        assert shared["mean"] < free["mean"] + VOICE_P99_NS
    # With a short queue the download loses frames, and only the download does.
    short = run(FIRST_LIGHT, tmp_path / "short", "queues.anna-bulk.limit_packets=200")
    assert short["packets"]["dropped"] == {"tail_drop_packets": queue(short, "anna-bulk")["drop_packets"]}


def test_hello(tmp_path: Path) -> None:
    """Both queues leave at their own rates."""
    result = run(SCENARIOS / "hello.yaml", tmp_path)
    for name, rate in (("slow", 5e6), ("fast", 20e6)):
        assert queue(result, name)["measured_rate_bps"] == pytest.approx(rate, rel=0.005)


def test_drawn_rates_of_a_group(tmp_path: Path) -> None:
    """A group whose rates are drawn has their mean, and is not taken for unshaped."""
    scenario = tmp_path / "drawn.yaml"
    scenario.write_text(
        "device: { config: demo_64 }\nduration: 20 ms\nqueues:\n"
        "  - { ids: 0-31, name: homes, rates: { least: 100 kbit/s, most: 2 Mbit/s, sum: 10 Mbit/s } }\n"
        "  - { ids: 32-35, name: others, rate: 1 Mbit/s }\n"
        "traffic:\n  - constant: { queues: 0-35, rate: 40 Mbit/s, size: 500 }\n"
    )
    result = run(scenario, tmp_path / "out", engine="model")
    homes, others = result["groups"]
    assert (homes["configured_rate_bps"], homes["drawn"]) == (312_500, True)
    assert others["configured_rate_bps"] == 1_000_000 and "drawn" not in others
    assert [report.configured_text(row) for row in (homes, others)] == ["312.5 kbit/s on average", "1 Mbit/s"]


def test_bad_frames(tmp_path: Path) -> None:
    """Every bad frame is counted under its reason, and every good one passes."""
    result = run(SCENARIOS / "bad_frames.yaml", tmp_path)
    fates = Counter(fate for _, _, fate in tool("make_bad_frames").FRAMES)
    assert result["packets"]["out"] == fates.pop("passed")
    assert result["packets"]["dropped"] == dict(fates)


@pytest.mark.slow
def test_jumbo(tmp_path: Path) -> None:
    """Frames of 9,600 byte are held to their rate, and those of other queues pass beside them."""
    result = run(SCENARIOS / "jumbo.yaml", tmp_path)
    assert queue(result, "backup")["measured_rate_bps"] == pytest.approx(5e9, rel=0.005)
    assert result["packets"]["dropped"] == {}
    assert result["packets"]["in"] == result["packets"]["out"]


@pytest.mark.slow
def test_line_rate(tmp_path: Path) -> None:
    """The device takes and gives smallest frames at 100 Gbit/s (71.4 Gbit/s without what the line adds), 148.8 million a second."""
    result = run(SCENARIOS / "line_rate_64.yaml", tmp_path)
    assert result["packets"]["dropped"] == {}
    assert result["throughput_bps"] > 71.4e9 * 0.98


@pytest.mark.slow
def test_imix_line_rate(tmp_path: Path) -> None:
    """IMIX at the line's rate through four shaped levels: nothing is lost, and what goes out is what the line brings."""
    result = run(SCENARIOS / "imix_line_rate.yaml", tmp_path)
    assert result["packets"]["dropped"] == {} and result["packets"]["in"] == result["packets"]["out"] > 30_000
    assert result["throughput_bps"] > 93.7e9 * 0.98
    assert result["latency_ns"]["max"] > 10_000, "no level ever let anybody wait: the test shows nothing"


@pytest.mark.parametrize("config", ["tree_codel_64", pytest.param("tree_codel_2048", marks=pytest.mark.slow)])
def test_household(config: str, tmp_path: Path) -> None:
    """CoDel below a full household: its download waits as CoDel wants, the one without CoDel as long as its buffer is."""
    settings = [f"device.config={config}"] + (["duration=6 s"] if config != "tree_codel_64" else [])
    result = run(SCENARIOS / "household.yaml", tmp_path, *settings, engine="model")
    for name in ("anna-call", "ben-call"):  # a packet of 1,500 byte takes 1.2 ms at 10 Mbit/s
        assert queue(result, name)["drop_packets"] == 0 and queue(result, name)["latency_ns"]["max"] < 2_500_000
    anna, ben = (queue(result, f"{name}-download") for name in ("anna", "ben"))
    assert result["packets"]["dropped"] == {"aqm": anna["drop_packets"], "tail_drop_packets": ben["drop_packets"]}
    assert ben["latency_ns"]["p99"] == pytest.approx(300 * 1500 * 8 / 9.5e6 * 1e9, rel=0.02)
    assert 5e6 < anna["latency_ns"]["p50"] < 0.15 * ben["latency_ns"]["p50"] and anna["latency_ns"]["max"] < 100e6
    for download in (anna, ben):  # what the call leaves, whole: CoDel costs no throughput
        assert download["measured_rate_bps"] == pytest.approx(9.5e6, rel=0.01)


def access_node_is_as_described(result: dict[str, Any], heavy: float) -> None:
    """What the scenario says is to be seen. heavy: by how much the shares of heavy subscribers and their neighbours may differ."""
    groups = {group["name"]: group for group in result["groups"]}
    for name in ("voice", "video", "business", "best effort", "congested voice", "congested video", "congested business"):
        assert groups[name]["drop_packets"] == 0, name
    assert groups["congested best effort"]["drop_packets"] > 0 and groups["heavy best effort"]["drop_packets"] > 0
    # A packet of 1,514 byte takes 24 us at a congested node; voice waits for what is being sent, and for other voice.
    assert groups["congested voice"]["latency_ns"]["mean"] < 24_224 and groups["congested voice"]["latency_ns"]["p99"] < 60_000
    assert groups["voice"]["latency_ns"]["p99"] < 5_000
    shares = [groups[name]["mean_rate_bps"] for name in ("heavy best effort", "congested best effort")]
    assert shares[0] == pytest.approx(shares[1], rel=heavy)
    congested = sum(group["out_bytes"] for name, group in groups.items() if name.startswith(("congested", "heavy")))
    assert congested * 8 / result["device_seconds"] == pytest.approx(16 * 500e6, rel=0.01)


SHORT_QUEUES = ["queues.congested best effort.limit_packets=2", "queues.heavy best effort.limit_packets=2"]


@pytest.mark.slow
def test_access_node(tmp_path: Path) -> None:
    """The paper's access node with 35,000 subscribers, 60 ms of it, with queues so short that they are full by then."""
    result = run(SCENARIOS / "access_node.yaml", tmp_path, "duration=60 ms", *SHORT_QUEUES, engine="model")
    access_node_is_as_described(result, heavy=0.3)
    assert result["queues_with_traffic"] > 120_000


@pytest.mark.slow
def test_access_node_for_a_second(tmp_path: Path) -> None:
    """As it stands in the file: 13 million packets."""
    access_node_is_as_described(run(SCENARIOS / "access_node.yaml", tmp_path, engine="model"), heavy=0.1)


@pytest.mark.slow
def test_random_262144(tmp_path: Path) -> None:
    """Every packet to 262,144 queues leaves, in order and unharmed (the run itself fails otherwise)."""
    result = run(SCENARIOS / "random_262144.yaml", tmp_path)
    assert result["packets"]["in"] == result["packets"]["out"] > 1_300_000
    assert result["queues_with_traffic"] > 258_000


def lateness_is_kept(result: dict[str, Any]) -> None:
    """At most 2 us at p99.9, nothing early, and the queues really are backlogged: they got more than they may send."""
    assert result["early"] == 0 and result["late_and_queued"] < 64
    assert result["lateness_ns"]["p99_9"] <= 2000
    assert result["bytes"]["in"] - result["bytes"]["out"] > 0.01 * result["bytes"]["in"]


@pytest.mark.slow
def test_lateness(tmp_path: Path) -> None:
    """The lateness scenario with 2,048 queues; the contract is the same."""
    few = ["device.config=edge_2048", "device.overrides={}", "queues.0.ids=0-2047", "duration=4 ms", "report.lateness=2 ms"]
    times = ["traffic.0.stop=1 ms", "traffic.1.start=1 ms", "report.series=0-3"]
    result = run(SCENARIOS / "lateness_262144.yaml", tmp_path, *few, *times)
    lateness_is_kept(result)
    assert result["lateness_ns"]["count"] > 50_000


@pytest.mark.slow
def test_lateness_262144(tmp_path: Path) -> None:
    """The lateness contract with 262,144 backlogged queues, in the whole device."""
    result = run(SCENARIOS / "lateness_262144.yaml", tmp_path)
    lateness_is_kept(result)
    assert result["lateness_ns"]["count"] > 700_000


def test_end_in_mid_traffic(tmp_path: Path) -> None:
    """A run that ends while frames wait in every queue and at the congested output still accounts for each (it fails otherwise)."""
    result = run(
        SCENARIOS / "hello.yaml",
        tmp_path,
        "drain=false",
        "link.egress=15 Mbit/s",
        "queues.fast.rate=15 Mbit/s",
        "duration=50 ms",
    )
    assert result["packets"]["queued"] > 100
