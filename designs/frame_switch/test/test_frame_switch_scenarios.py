# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Scenarios of the frame switch as a user meets them: what the result says, what is refused, captures, and the claims of those that are
in the project."""

import json
import sys
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.frame_switch import report
from penstock.engine import engine
from penstock.paths import ROOT
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration, design_of

sys.path.insert(0, str(ROOT / "tests"))  # its captures

from stand_in import frame, pcap_bytes

SUMS = ("in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes")
SCENARIO = """\
device: { config: switch_4 }
duration: 20 us
drain: true
link: { ingress: 80 Gbit/s, egress: 40 Gbit/s }
traffic:
  - name: all
    inputs: "0-2"
    poisson: { outputs: "0-3", traffic_class: 2, rate: 30 %, size: imix }
  - name: group
    inputs: [1, 3]
    constant: { outputs: [0, 3], multicast: true, rate: 2 Gbit/s, size: 200 }
report: { after: 5 us }
"""
CAPTURE = """\
device: { config: switch_4 }
duration: 20 us
drain: true
traffic:
  - pcap: a.pcap
    input: 0
    map:
      - { match: { proto: udp }, outputs: 2, traffic_class: 1 }
      - { match: { proto: tcp }, outputs: "1-3", multicast: true, traffic_class: 3 }
  - pcap: b.pcap
    input: 3
    map:
      - { match: {}, outputs: [0, 2], multicast: true }
"""


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The engine, up to date."""
    engine.build(print)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with two scenarios and two captures."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "c.yaml").write_text(CAPTURE)
    mixed = [(500 * at, frame(proto=17 if at % 3 else 6, size=100 + at)) for at in range(12)]
    (tmp_path / "a.pcap").write_bytes(pcap_bytes(mixed))
    (tmp_path / "b.pcap").write_bytes(pcap_bytes([(700 * at, frame(size=1000)) for at in range(5)]))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", *arguments, "--out", "out", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def on_model(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    return run(capsys, *arguments, "--engine", "model")


def sets(*settings: str) -> list[str]:
    return [word for each in settings for word in ("--set", each)]


def check_sums(result: dict[str, Any]) -> None:
    """Rows of outputs, inputs and flows are three views of the same frames; those with no destination are in none."""
    for key in SUMS:
        part, what = key.split("_")[0], key.split("_")[1]
        sums = [sum(row[key] for row in result[view]) for view in ("outputs", "inputs", "flows")]
        totals = result["packets" if what == "packets" else "bytes"]
        expected = totals[part] if part != "drop" else sum(totals["dropped"].values())
        assert sums == [expected] * 3, key
    for view, names in (("outputs", ("output", "traffic_class")), ("inputs", ("input",))):
        for row in result[view]:
            flows = [flow for flow in result["flows"] if all(flow[name] == row[name] for name in names)]
            for key in SUMS:
                assert row[key] == sum(flow[key] for flow in flows), (view, key)
            count = row["out_packets"] if "measured_from_s" not in result else sum(flow["latency_ns"]["count"] for flow in flows)
            assert row["latency_ns"]["count"] == count <= row["out_packets"]
            assert row["latency_ns"]["max"] == max(
                (flow["latency_ns"]["max"] for flow in flows if flow["latency_ns"]["count"]), default=None
            )
            assert row["throughput_bps"] == pytest.approx(sum(flow["throughput_bps"] for flow in flows), abs=1)
    names = ("input", "output", "traffic_class")
    assert len({tuple(flow[name] for name in names) for flow in result["flows"]}) == len(result["flows"])
    assert result["findings"] == [] and result["conservation"]["ok"]


def test_result(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = on_model(capsys, "s.yaml")
    assert result["latency_ns"]["count"] == sum(row["latency_ns"]["count"] for row in result["flows"]) < result["packets"]["out"]
    assert result == json.loads((place / "out" / "result.json").read_text())
    assert sorted(path.name for path in (place / "out").iterdir()) == ["report.html", "result.json", "series.npz"]
    assert (result["design"], result["config"], result["device"]["ports"]) == ("frame_switch", "switch_4", 4)
    check_sums(result)
    flows = {(row["input"], row["output"], row["traffic_class"]) for row in result["flows"]}
    assert flows == {(source, output, 2) for source in range(3) for output in range(4)} | {
        (source, output, 0) for source in (1, 3) for output in (0, 3)
    }
    assert [(row["output"], row["traffic_class"]) for row in result["outputs"]] == [(0, 0), (0, 2), (1, 2), (2, 2), (3, 0), (3, 2)]
    assert [row["input"] for row in result["inputs"]] == [0, 1, 2, 3]
    group = {(row["input"], row["output"]): row["in_packets"] for row in result["flows"] if row["traffic_class"] == 0}
    # 2 Gbit/s of 200 byte for 20 us are 25 frames, at each of both outputs.
    assert set(group.values()) <= {24, 25, 26} and group[1, 0] == group[1, 3] and group[3, 0] == group[3, 3]
    whole = on_model(capsys, "s.yaml", *sets("report.after=0 s"))
    check_sums(whole)
    assert whole["latency_ns"]["count"] == whole["packets"]["out"] == result["packets"]["out"]


def test_rates_are_of_the_time_that_was_asked_for(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Throughput and share of the line count the frames that began to leave from `after` on, until the traffic ended."""
    (place / "s.yaml").write_text(
        "device: { config: switch_4 }\nduration: 20 us\ndrain: true\nlink: { ingress: 80 Gbit/s, egress: 40 Gbit/s }\n"
        "traffic: [{ inputs: 0, start: 10 us, constant: { outputs: 1, rate: 20 Gbit/s, size: 500 } }]\n"
    )
    whole, late = on_model(capsys, "s.yaml"), on_model(capsys, "s.yaml", *sets("report.after=12 us"))
    assert (whole["measured_from_cycle"], late["measured_from_cycle"]) == (0, 2640)
    for result, rate in ((whole, 10e9), (late, 20e9)):
        row = result["outputs"][0]
        assert row["throughput_bps"] == pytest.approx(rate, rel=0.05)
        assert row["line_share"] == pytest.approx(row["throughput_bps"] / 40e9 * 524 / 500, abs=2e-6)
        assert row["out_packets"] == row["in_packets"] == 50


def test_overload_is_told_at_the_output(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Frames that leave after the traffic has ended do not make a line look fuller than it is."""
    result = on_model(capsys, "s.yaml", *sets("traffic.all.poisson.outputs=1", "traffic.all.poisson.rate=100 %"))
    check_sums(result)
    row = next(row for row in result["outputs"] if row["output"] == 1)
    assert 0.98 < row["line_share"] <= 1.001
    assert row["latency_ns"]["max"] > 10_000


def test_each_line_has_its_rate(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four inputs of their own rates to four outputs of theirs: the slower line of each pair is full."""
    ingress, egress = [100, 50, 25, 10], [10, 25, 80, 100]
    sources = [f"  - {{ inputs: {port}, constant: {{ outputs: {port}, rate: 100 %, size: 500 }} }}" for port in range(4)]
    rates = [", ".join(f"{rate} Gbit/s" for rate in side) for side in (ingress, egress)]
    head = f"device: {{ config: switch_4 }}\nlink: {{ ingress: [{rates[0]}], egress: [{rates[1]}] }}\n"
    times = "duration: 200 us\ndrain: false\nreport: { after: 40 us }\n"
    (place / "lines.yaml").write_text(head + times + "traffic:\n" + "\n".join(sources) + "\n")
    result = on_model(capsys, "lines.yaml")
    assert [row["output"] for row in result["outputs"]] == [0, 1, 2, 3]
    for row in result["outputs"]:
        port = row["output"]
        assert row["line_share"] == pytest.approx(min(ingress[port], egress[port]) / egress[port], rel=0.02), port
        assert row["line_share"] <= 1.001


def test_words_for_people(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "s.yaml", "--engine", "model", "--out", "out"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    shares: dict[int, float] = {}
    result = json.loads((place / "out" / "result.json").read_text())
    for row in result["outputs"]:
        shares[row["output"]] = shares.get(row["output"], 0) + row["line_share"]
    words = f"4 used, their lines were {100 * min(shares.values()):.1f} to {100 * max(shares.values()):.1f} % full while traffic came"
    assert words in text
    assert "4 ports, 4 classes, cprra" in text or "4 ports, 4 classes, cprra" in (place / "out" / "report.html").read_text()


def test_nothing_is_said_of_lines_that_were_not_measured() -> None:
    """The run was interrupted before `report.after`."""
    rows = [{"output": output, "line_share": share} for output, share in ((0, 0.25), (0, 0.5), (1, 0.125))]
    assert report.sentences({"outputs": rows}) == ["Outputs  2 used, their lines were 12.5 to 75.0 % full while traffic came"]
    assert report.sentences({"outputs": [row | {"line_share": None} for row in rows]}) == []


def test_series_has_a_curve_for_each_output(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = on_model(capsys, "s.yaml", *sets("traffic.all.poisson.outputs=[0, 2]", "report.after=0 s"))
    with np.load(place / "out" / "series.npz") as series:
        found = {key: series[key] for key in series.files}
    assert found["names"].tolist() == [f"output {port}" for port in range(4)]
    rows = [[row for row in result["outputs"] if row["output"] == port] for port in range(4)]
    assert found["frames"].tolist() == [sum(row["out_packets"] for row in of) for of in rows]
    assert found["bytes_out"].sum(axis=0).tolist() == [sum(row["out_bytes"] for row in of) for of in rows]
    assert found["frames"][1] == 0 < min(found["frames"][[0, 2, 3]])
    for port, of in enumerate(rows):
        if of:
            assert np.nanmax(found["latency_max_ns"][:, port]) == pytest.approx(max(row["latency_ns"]["max"] for row in of), abs=0.001)


# ---- captures


def test_captures_of_several_outputs_go_on_in_time(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A frame has the time of its first bit, also a long one on a slow line, which has left long after others that began later."""
    lines = sets("link.egress=[40 Gbit/s, 40 Gbit/s, 1 Gbit/s, 40 Gbit/s]", "output.pcap=departures.pcap")
    result = on_model(capsys, "s.yaml", *lines)
    with Path("out/departures.pcap").open("rb") as file:
        records = list(dpkt.pcap.Reader(file))
    times = np.array([float(at) for at, _ in records])
    assert len(records) == result["packets"]["out"] > 150 and np.diff(times).min() >= 0
    assert sum(int.from_bytes(data[2:6]) // 4 % 4 == 2 for _, data in records) > 3, "some of the slow line"


def test_captures_at_several_inputs(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = on_model(capsys, "c.yaml")
    check_sums(result)
    rows = {(row["input"], row["output"], row["traffic_class"]): (row["out_packets"], row["out_bytes"]) for row in result["flows"]}
    udp, tcp = [100 + at for at in range(12) if at % 3], [100 + at for at in range(12) if at % 3 == 0]
    assert rows == {
        (0, 2, 1): (8, sum(udp)),
        **{(0, output, 3): (4, sum(tcp)) for output in (1, 2, 3)},
        **{(3, output, 0): (5, 5000) for output in (0, 2)},
    }


def test_what_no_rule_matches(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "c.yaml").write_text(CAPTURE.replace("- { match: { proto: tcp }", "- { match: { proto: icmp }"))
    result = on_model(capsys, "c.yaml")
    assert result["packets"]["in"] == 8 + 10
    assert any("4 of 12 frames of a.pcap match no rule" in note for note in result["notes"])
    (place / "c.yaml").write_text(CAPTURE.replace("proto: tcp", "proto: icmp").replace("input: 0", "input: 0\n    unmatched: error"))
    assert main(["run", "c.yaml", "--engine", "model", "--out", "out"]) == 2
    assert "frame 1 of a.pcap matches no rule" in " ".join(capsys.readouterr().err.split())


# ---- which device


def test_design_and_configuration(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The design is known from the configuration; given, it is the same; and another configuration is another device."""
    one = on_model(capsys, "s.yaml")
    other = on_model(capsys, "s.yaml", *sets("device.design=frame_switch"))
    for result in (one, other):
        for key in ("scenario", "wall_seconds", "cycles_per_second"):
            result.pop(key)
    assert one == other
    rival = on_model(capsys, "s.yaml", *sets("device.config=islip_4"))
    assert (rival["config"], rival["device"]["scheduler"]) == ("islip_4", "islip")
    assert rival["packets"]["in"] == one["packets"]["in"] and rival["latency_ns"]["min"] < one["latency_ns"]["min"]
    changed = on_model(capsys, "s.yaml", *sets("device.overrides.stages=4"))
    assert changed["device"]["stages"] == 4 and changed["latency_ns"]["min"] < one["latency_ns"]["min"]


FILES = {"s.yaml": SCENARIO, "c.yaml": CAPTURE}


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "key", "words"),
    [
        ("s.yaml", '{ outputs: "0-3"', '{ outputs: "0-4"', 8, "traffic.all.poisson.outputs", "output 4, but switch_4 has outputs 0 to 3"),
        ("s.yaml", "[0, 3]", "[0, -1]", 11, "traffic.group.constant.outputs", "must be"),
        ("s.yaml", '"0-2"', "4", 7, "traffic.all.inputs", "names input 4, but switch_4 has inputs 0 to 3"),
        ("s.yaml", "traffic_class: 2", "traffic_class: 4", 8, "traffic.all.poisson.traffic_class", "is 4, but switch_4 has classes 0 to 3"),
        ("s.yaml", "traffic_class: 2", "traffic_class: -1", 8, "traffic.all.poisson.traffic_class", "must be"),
        ("s.yaml", "rate: 30 %", "rate: 81 Gbit/s", 8, "traffic.all.poisson.rate", "at most the 80 Gbit/s of input 0, not 81 Gbit/s"),
        ("s.yaml", "rate: 30 %, ", "", 8, "traffic.all.poisson.rate", "missing"),
        ("s.yaml", "ingress: 80 Gbit/s", "ingress: 200 Gbit/s", 4, "link.ingress", "must be at most 112.6"),
        ("s.yaml", "egress: 40 Gbit/s", "egress: 113 Gbit/s", 4, "link.egress", "must be at most 112.6"),
        ("s.yaml", "egress: 40 Gbit/s", "egress: [40 Gbit/s, 113 Gbit/s, 1 Gbit/s, 1 Gbit/s]", 4, "link.egress", "must be at most 112.6"),
        ("s.yaml", "egress: 40 Gbit/s", "egress: [40 Gbit/s, 1 Gbit/s]", 4, "link.egress", "has 2 rates; switch_4 has 4 ports, so give"),
        ("s.yaml", "egress: 40 Gbit/s", "egress: []", 4, "link.egress", "not an empty list"),
        ("s.yaml", "after: 5 us", "after: 20 us", 12, "report.after", "must be before the end of the traffic"),
        ("s.yaml", "duration: 20 us", "duration: 1 s", 2, "duration", "a frame switch takes 4,000,000 in a run"),
        ("s.yaml", "config: switch_4", "config: switch_5", 1, "device.config", "switch_5"),
        ("s.yaml", "config: switch_4", "design: x, config: switch_4", 1, "device.design", "are access_edge, deadline_port, frame_switch"),
        ("s.yaml", "config: switch_4", "design: frame_switch, config: tiny_16", 1, "device.config", "switch_4, islip_4, lossy_4"),
        ("s.yaml", "config: switch_4", "config: switch_4, overrides: { room_cells: 48 }", 1, "device.overrides", "must be a power of two"),
        ("s.yaml", "config: switch_4", "config: switch_4, overrides: { iterations: 2 }", 1, "device.overrides", "scheduler: islip"),
        ("s.yaml", "report:", "queues: [{ id: 0 }]\nreport:", 12, "queues", "is not a known key"),
        ("s.yaml", "multicast: true", "multicast: maybe", 11, "traffic.group.constant.multicast", "must be"),
        ("c.yaml", "input: 0", "input: 4", 6, "traffic.0.input", "names input 4, but switch_4 has inputs 0 to 3"),
        ("c.yaml", "outputs: 2", "outputs: 9", 8, "traffic.0.map.0.outputs", "names output 9"),
        ("c.yaml", "traffic_class: 3", "traffic_class: 7", 9, "traffic.0.map.1.traffic_class", "is 7"),
        ("c.yaml", "outputs: 2", 'outputs: "1-2"', 8, "traffic.0.map.0", "has several `outputs`, which needs `multicast: true`"),
        ("c.yaml", "b.pcap", "none.pcap", 10, "traffic.1.pcap", "none.pcap"),
        ("c.yaml", "      - { match: {}, outputs: [0, 2], multicast: true }\n", "", 12, "traffic.1.map", "is empty"),
        ("s.yaml", "config: switch_4", "config: tiny_16", 7, "traffic.all.inputs", "is not a known key"),
    ],
)  # fmt: skip
def test_bad_input(place: Path, capsys: pytest.CaptureFixture[str], file: str, old: str, new: str, line: int, key: str, words: str) -> None:
    """One sentence with file, line and key, and exit status 2."""
    text = FILES[file]
    assert old in text
    (place / file).write_text(text.replace(old, new, 1))
    assert main(["run", file, "--engine", "model", "--out", "out"]) == 2
    captured = capsys.readouterr()
    said = captured.err.strip().splitlines()
    assert len(said) == 1 and not captured.out, said
    assert said[0].startswith(f"penstock: {file}:{line}: `{key}"), said[0]
    assert words in said[0]
    assert not (place / "out").exists()


# ---- the scenarios of the project


def compared(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in ("engine", "wall_seconds", "cycles_per_second")}


@pytest.mark.parametrize("name", ["switch_uniform", "switch_hot_output", "switch_multicast"])
def test_scenarios_give_the_same_on_both_engines(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from penstock.hardware import verilate

    verilate.build_device(configs.load("switch_4"), print)
    monkeypatch.chdir(tmp_path)
    model, rtl = (run(capsys, str(ROOT / f"scenarios/{name}.yaml"), "--engine", which) for which in ("model", "rtl"))
    assert (model["engine"], rtl["engine"]) == ("model", "rtl")
    assert compared(model) == compared(rtl)
    assert model["packets"]["out"] > 5000
    check_sums(model)


def shipped(capsys: pytest.CaptureFixture[str], name: str, *settings: str) -> dict[str, Any]:
    result = on_model(capsys, str(ROOT / f"scenarios/{name}.yaml"), *sets(*settings))
    check_sums(result)
    return result


def test_uniform_traffic(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The cell switch that spreads keeps the lines fuller than the crossbar, and the frames wait less."""
    spread, crossbar = (shipped(capsys, "switch_uniform", f"device.config={name}") for name in ("switch_4", "islip_4"))
    shares = [[row["line_share"] for row in result["outputs"]] for result in (spread, crossbar)]
    assert [len(each) for each in shares] == [4, 4]
    assert min(shares[0]) > 0.82 and max(shares[1]) < 0.8
    assert spread["latency_ns"]["p50"] < 0.6 * crossbar["latency_ns"]["p50"]
    assert spread["packets"] == crossbar["packets"] and not sum(spread["packets"]["dropped"].values())


def test_hot_output(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Output 1 does not notice what output 0 suffers; nothing is lost with back-pressure, and much without."""
    alone = shipped(capsys, "switch_hot_output", "traffic.hot.poisson.outputs=3", "traffic.hot.poisson.rate=1 Mbit/s")
    for config, lossy in (("switch_4", False), ("islip_4", False), ("lossy_4", True)):
        result = shipped(capsys, "switch_hot_output", f"device.config={config}")
        hot, beside = result["outputs"]
        assert (hot["output"], beside["output"]) == (0, 1)
        reference = next(row for row in alone["outputs"] if row["output"] == 1)
        assert beside["line_share"] == pytest.approx(0.6, rel=0.03)  # as the file says, with what a frame costs on the line
        assert beside["out_packets"] == beside["in_packets"] and beside["drop_packets"] == 0
        assert beside["throughput_bps"] == pytest.approx(reference["throughput_bps"], rel=0.005)
        assert beside["latency_ns"]["max"] < reference["latency_ns"]["max"] + 50
        assert (hot["drop_packets"] > hot["in_packets"] / 2) == lossy
        assert hot["line_share"] < 0.3 if lossy else hot["line_share"] > 0.99
        assert result["packets"]["dropped"].get("lost_in_switch", 0) == hot["drop_packets"]
        # A drain finds out what has become of the last frames too.
        assert not lossy or (result["packets"]["queued"] == 0 and result["drained"])


def test_slow_lines_are_waited_for(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A frame takes longer on the line than a fast device is ever silent; it is not taken for lost."""
    text = (
        "device: { config: lossy_4 }\nduration: 20 us\ndrain: 20 ms\nlink: { egress: 10 Mbit/s }\n"
        "traffic: [{ inputs: 0, constant: { outputs: 1, rate: 1 Gbit/s, size: 1500 } }]\n"
    )
    (place / "s.yaml").write_text(text)
    result = on_model(capsys, "s.yaml")
    check_sums(result)
    assert result["packets"]["in"] == result["packets"]["out"] == result["outputs"][0]["out_packets"] > 0
    assert result["drained"] and not sum(result["packets"]["dropped"].values())


def test_multicast(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A copy of every frame at each output; class 0 waits far less than class 3 at each of them."""
    result = shipped(capsys, "switch_multicast")
    video = [row for row in result["outputs"] if row["traffic_class"] == 0]
    bulk = {row["output"]: row for row in result["outputs"] if row["traffic_class"] == 3}
    assert [row["output"] for row in video] == [1, 2, 3] and len({row["out_packets"] for row in video}) == 1
    for row in video:
        assert row["throughput_bps"] == pytest.approx(6e9, rel=0.02)
        assert row["latency_ns"]["max"] < 500 < bulk[row["output"]]["latency_ns"]["p50"] / 20


def test_the_design_is_found_from_the_file() -> None:
    for path in sorted((ROOT / "scenarios").glob("switch_*.yaml")):
        described, document = scenario.load(path, [])
        assert design_of(document).name == "frame_switch" and configuration(described, document).name == "switch_4"
