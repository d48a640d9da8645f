# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The commands run, report and demo as a user meets them: results, messages, exit status. The engine is a stand-in."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stand_in import frame, pcap_bytes

from penstock.command_line.app import main
from penstock.engine import engine
from penstock.paths import ROOT

SCENARIO = """\
device: {config: demo_64}
duration: 200 ms
link: {ingress: 1 Gbit/s, egress: 100 Mbit/s}
queues:
  - {id: 0, name: bulk, rate: 5 Mbit/s, burst: 3 kB, limit_packets: 50}
  - {id: 1, name: voice, rate: 1 Mbit/s}
traffic:
  - {name: flood, constant: {queues: bulk, rate: 20 Mbit/s, size: 1000}}
  - {name: calls, constant: {queues: voice, rate: 64 kbit/s, size: 100}}
"""

CAPTURE = """\
device: {config: demo_64}
duration: 10 ms
queues:
  - {id: 0, name: bulk}
traffic:
  - pcap: x.pcap
    map:
      - {match: {proto: udp}, queue: bulk}
"""

GOOD_PCAP = pcap_bytes([(1000 * i, frame()) for i in range(10)])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with two scenarios and a capture."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "c.yaml").write_text(CAPTURE)
    (tmp_path / "x.pcap").write_bytes(GOOD_PCAP)
    return tmp_path


def result_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run with --json and return the one object on standard output."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_run_writes_everything(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """The files are there, the JSON on standard output is that of the file, and it has the keys that others rely on."""
    shown = result_of(capsys, "run", "s.yaml", "--out", "out")
    assert shown == json.loads((place / "out" / "result.json").read_text())
    assert sorted(p.name for p in (place / "out").iterdir()) == ["report.html", "result.json", "series.npz"]
    for key in (
        "schema",
        "seed",
        "config",
        "engine",
        "cycles",
        "clock_hz",
        "interrupted",
        "throughput_bps",
        "order_errors",
        "payload_errors",
    ):
        assert key in shown
    for part in ("packets", "bytes"):
        totals = shown[part]
        assert totals["in"] == totals["out"] + totals["queued"] + sum(totals["dropped"].values())
    assert list(shown["latency_ns"]) == ["count", "min", "mean", "p50", "p99", "p99_9", "max"]
    assert shown["conservation"]["ok"] and shown["queues_with_traffic"] == 2
    assert shown["packets"]["dropped"].keys() == {"tail_drop_packets"}


@pytest.mark.parametrize("rate", ["2 Mbit/s", "5 Mbit/s", "12 Mbit/s"])
def test_measured_rate_follows(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str], rate: str) -> None:
    """The measured rate of a backlogged queue is what is configured; one that is not backlogged has the rate that is offered."""
    shown = result_of(capsys, "run", "s.yaml", "--set", f"queues.bulk.rate={rate}")
    bulk, voice = shown["queues"]
    assert bulk["measured_rate_bps"] == pytest.approx(bulk["configured_rate_bps"], rel=0.001)
    assert bulk["backlogged_share"] > 0.9
    assert voice["measured_rate_bps"] == pytest.approx(64_000, rel=0.01)
    assert voice["latency_ns"]["max"] == 4_000
    assert shown["scenario"]["queues"][0]["rate"] == rate


def test_default_folder_and_name(place: Path, fake_engine: dict[str, Any]) -> None:
    """Without --out the result is in results/NAME, where NAME is the file's unless the scenario has one."""
    assert main(["run", "s.yaml"]) == 0
    assert main(["run", "s.yaml", "--set", "name=other"]) == 0
    assert (place / "results" / "s" / "result.json").exists() and (place / "results" / "other" / "report.html").exists()


def test_seed(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """--seed wins over the scenario's."""
    assert result_of(capsys, "run", "s.yaml", "--seed", "77")["seed"] == 77
    assert fake_engine["job"]["seed"] == 77


def test_summary_fits_a_screen(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """At most 24 lines of 80 characters, with what happened in words and the path of the report; also with many queues."""
    queues = "\n".join(f"  - {{id: {n}, name: line-{n}, rate: 1 Mbit/s}}" for n in range(2, 40))
    (place / "many.yaml").write_text(
        SCENARIO.replace("traffic:", queues + "\ntraffic:") + "  - constant: {queues: 2-39, rate: 20 Mbit/s, size: 500}\n"
    )
    for file in ("s.yaml", "many.yaml"):
        assert main(["run", file, "--out", "out"]) == 0
        text = capsys.readouterr().out
        lines = text.splitlines()
        assert len(lines) <= 24 and max(map(len, lines[:-1])) <= 80
        assert lines[-1] == f"Report   {(place / 'out' / 'report.html').resolve().as_uri()}"
        assert "queue full (packets)" in text and "bulk" in text


def test_summary_with_everything_fits_a_screen(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Also when there is something to say of every kind; remarks that have no place are counted."""
    records = [(0, frame()), (1000, frame(proto=6)), (10**9, frame())]
    (place / "x.pcap").write_bytes(pcap_bytes(records))
    queues = "\n".join(f"  - {{id: {n}, name: line-{n}, rate: 1 Mbit/s}}" for n in range(2, 10))
    (place / "all.yaml").write_text(
        SCENARIO.replace("traffic:", f"{queues}\n  - {{id: 10, name: shut, rate: 0}}\ntraffic:")
        + "  - constant: {queues: 2-10, rate: 20 Mbit/s, size: 500}\n"
        + "  - {pcap: x.pcap, map: [{match: {proto: udp}, queue: 1}, {match: {proto: gre}, queue: 1}]}\n"
    )
    assert main(["run", "all.yaml", "--out", "out", "--set", "drain=false"]) == 0
    text = capsys.readouterr().out
    for word in ("Dropped", "Queued", "Latency", "Shaped", "Others", "Closed", "more queues", "There are 2 more remarks"):
        assert word in text
    assert len(text.splitlines()) == 24
    notes = json.loads((place / "out" / "result.json").read_text())["notes"]
    assert len(notes) == 3 and all(note in (place / "out" / "report.html").read_text() for note in notes)


def test_capture_notes(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Frames that no rule matches are left out and counted in a note; those after the end too."""
    records = [(1000 * i, frame(proto=17 if i % 2 else 6)) for i in range(10)] + [(10**9, frame())]
    (place / "x.pcap").write_bytes(pcap_bytes(records))
    shown = result_of(capsys, "run", "c.yaml")
    assert shown["packets"]["in"] == 5
    assert any("5 of 10 frames" in note for note in shown["notes"]) and any(
        "x.pcap goes on after the end of the run" in note for note in shown["notes"]
    )


def test_rules_of_frames_after_the_end(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """A rule whose frames come after the end is right: the note is on the time that is played, and on the file where all is played."""
    (place / "x.pcap").write_bytes(pcap_bytes([(0, frame()), (1000, frame(proto=50)), (20_000_000, frame(proto=6))]))
    (place / "c.yaml").write_text(CAPTURE + "      - {match: {proto: tcp}, queue: bulk}\n")
    notes = result_of(capsys, "run", "c.yaml")["notes"]
    assert "Rule `traffic.0.map.1` matches no frame of x.pcap in the time that is played." in notes
    assert "1 of 2 frames of x.pcap in the time that is played match no rule and were left out." in notes
    (place / "x.pcap").write_bytes(pcap_bytes([(0, frame()), (1000, frame(proto=50))]))
    notes = result_of(capsys, "run", "c.yaml")["notes"]
    assert "Rule `traffic.0.map.1` matches no frame of x.pcap." in notes
    assert "1 of 2 frames of x.pcap match no rule and were left out." in notes


def test_a_frame_before_the_first_is_said(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """A clock that stepped back moves all other frames; which frame did that is in a note."""
    second = 10**9
    (place / "x.pcap").write_bytes(pcap_bytes([(7 * second + at, frame()) for at in (0, 1000, -5 * second, -4 * second, 2000)]))
    assert [note for note in result_of(capsys, "run", "c.yaml")["notes"] if "stamped" in note] == [
        "Frame 3 of x.pcap is stamped 5 s before the first one; times count from it."
    ]
    assert fake_engine["job"]["sources"][0]["cycles"].tolist() == [0]
    (place / "x.pcap").write_bytes(pcap_bytes([(second, frame()), (second + 2000, frame()), (second + 1000, frame())]))
    assert not [note for note in result_of(capsys, "run", "c.yaml")["notes"] if "stamped" in note]


def test_capture_into_job(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Times are scaled and shifted, frames keep their length, cut ones are filled by the engine, and repetitions follow."""
    (place / "x.pcap").write_bytes(pcap_bytes([(0, frame()), (1_000_000, frame()[:60])], lengths=[100, 1514]))
    result_of(capsys, "run", "c.yaml", "--set", "traffic.0.time_scale=2", "--set", "traffic.0.start=100 us", "--set", "traffic.0.repeat=2")
    source = fake_engine["job"]["sources"][0]
    assert source["cycles"].tolist() == [1_000, 21_000, 41_000, 61_000]  # 10 MHz
    assert source["lengths"].tolist() == [100, 1514] * 2
    assert source["stored"].tolist() == [100, 60] * 2
    assert source["offsets"].tolist() == [0, 100] * 2
    assert source["data"].tobytes() == frame() + frame()[:60]
    assert [source[key].dtype.name for key in ("cycles", "queues", "offsets", "lengths", "stored", "data")] == [
        "int64", "uint32", "int64", "int32", "int32", "uint8",
    ]  # fmt: skip


def test_prefixed_capture(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Queue ids are taken off the frames; ids that the device does not have are its business, not bad input."""
    (place / "x.pcap").write_bytes(
        pcap_bytes([(i * 1000, queue.to_bytes(4, "big") + frame()) for i, queue in enumerate((3, 99, 2**32 - 1))])
    )
    (place / "p.yaml").write_text("device: {config: demo_64}\nduration: 1 ms\ntraffic:\n  - {pcap: x.pcap, prefixed: true}\n")
    shown = result_of(capsys, "run", "p.yaml")
    assert fake_engine["job"]["sources"][0]["queues"].tolist() == [3, 99, 2**32 - 1]
    assert set(fake_engine["job"]["sources"][0]["lengths"].tolist()) == {100}
    assert shown["packets"]["dropped"] == {"bad_queue_id": 2}


def test_output_pcap(place: Path, fake_engine: dict[str, Any]) -> None:
    """The capture of what left is moved into the output folder."""
    assert main(["run", "s.yaml", "--out", "out", "--set", "output.pcap=deep/left.pcap"]) == 0
    assert (place / "out" / "deep" / "left.pcap").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"conservation_ok": False}, "Conservation is broken"),
        ({"order_errors": 3}, "3 packets left their queue out of order"),
        ({"payload_errors": 1}, "other bytes"),
        ({"counter_mismatches": 2}, "counters"),
        ({"lost": 1}, "never came out"),
    ],
)
def test_failures_are_loud(
    place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str], change: dict[str, Any], words: str
) -> None:
    """What the hardware does wrong ends with status 1 and a message, and the result is written all the same."""
    fake_engine["change"] = lambda raw: raw | change
    assert main(["run", "s.yaml", "--out", "out"]) == 1
    assert words in capsys.readouterr().err
    assert (place / "out" / "result.json").exists()
    assert words.split()[0] in (place / "out" / "report.html").read_text()


def test_missing_packets_are_found_here_too(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """The sums are checked once more, whatever the engine says about them."""

    def lose_one(raw: dict[str, Any]) -> dict[str, Any]:
        raw["packets"]["out"] -= 1
        return raw

    fake_engine["change"] = lose_one
    assert main(["run", "s.yaml"]) == 1
    assert "1 packets and 0 byte" in capsys.readouterr().err


def test_interrupt(place: Path, fake_engine: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C in the run: the result up to there is written and marked, status 130."""
    import penstock.command_line.console

    original = penstock.command_line.console.run_progress

    def interrupted(total: int, doing: str) -> Any:
        from contextlib import contextmanager

        @contextmanager
        def wrapper() -> Any:
            with original(total, doing) as show:
                yield lambda now: (os.kill(os.getpid(), signal.SIGINT), show(now))

        return wrapper()

    monkeypatch.setattr(penstock.command_line.console, "run_progress", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    assert main(["run", "s.yaml", "--out", "out"]) == 130
    assert signal.getsignal(signal.SIGINT) is handler
    assert json.loads((place / "out" / "result.json").read_text())["interrupted"] is True
    assert "interrupted" in capsys.readouterr().out


def test_units_are_never_cut_off(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """On 80 columns names are shortened, and lines are broken; every number has its unit."""
    from penstock.reports import summary

    assert main(["run", "s.yaml", "--out", "out"]) == 0
    capsys.readouterr()
    result = json.loads((place / "out" / "result.json").read_text())
    result["name"] = "a name that is long " * 6
    result["notes"] = ["a remark of more than a line, with what may starve in its second one: " + "8 queues and " * 9 + "no more"]
    for queue in result["queues"]:
        queue |= {"name": "a queue whose name is long " * 4, "configured_rate_bps": 12_345_678, "measured_rate_bps": 12_345_678.9}
        queue |= {"out_packets": 123_456_789, "drop_packets": 98_765_432, "backlogged_share": 1.0}
        queue["latency_ns"] = dict.fromkeys(("min", "mean", "p50", "p99", "p99_9", "max"), 123_456.7) | {"count": 5}
    summary.show(result, place)
    lines = capsys.readouterr().out.splitlines()
    table = [line.split()[-9:] for line in lines if line.count("Mbit/s") == 2 and "123,456,789" in line]
    assert table == [["12.35", "Mbit/s", "12.35", "Mbit/s", "123,456,789", "98,765,432", "123.5", "us", "123.5", "us"][-9:]] * 2
    assert "M cycles/s" in lines[0] or "cycles in" in lines[0]
    assert "…" not in "".join(lines) and all(len(line) <= 80 for line in lines[:-1])
    assert result["notes"][0] in " ".join(lines) and len(lines) <= summary.MAX_LINES


def test_older_result_survives(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """A run that fails half way leaves the older result as it was, and no rubbish."""
    assert main(["run", "s.yaml", "--out", "out"]) == 0
    before = {p.name: p.read_bytes() for p in (place / "out").iterdir()}

    def fail(raw: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("an assertion of the device failed")

    fake_engine["change"] = fail
    assert main(["run", "s.yaml", "--out", "out", "--seed", "5"]) == 1
    assert "an assertion of the device failed" in capsys.readouterr().err
    assert {p.name: p.read_bytes() for p in (place / "out").iterdir()} == before


def test_demo(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """The demo fits one screen, and its download is held to its rate."""
    assert main(["demo", "--out", "out"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    bulk = next(q for q in json.loads((place / "out" / "result.json").read_text())["queues"] if q["name"] == "anna-bulk")
    assert bulk["measured_rate_bps"] == pytest.approx(bulk["configured_rate_bps"], rel=0.005)


def changed(old: str, new: str, text: str = SCENARIO) -> str:
    """Return a scenario with one thing changed."""
    assert old in text
    return text.replace(old, new)


# Each case: what stands in bad.yaml, further arguments, and the words that must be in the message (file or option, key, what is allowed).
# A kilobyte that would be 10^10 words.
BOMB = "a0: &a0 [" + "x, " * 10 + "x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))

BAD_SCENARIOS: list[tuple[str, str, list[str]]] = [
    ("unknown key", changed("duration:", "duratoin:"), ["bad.yaml:2", "`duratoin`", "did you mean 'duration'"]),
    ("unknown key deep", changed("burst", "bursts"), ["bad.yaml:5", "`queues.bulk.bursts`", "'burst'"]),
    ("missing key", changed("duration: 200 ms\n", ""), ["bad.yaml", "`duration`", "missing"]),
    ("twice", SCENARIO + "duration: 1 ms\n", ["bad.yaml:10", "`duration`", "second time"]),
    ("twice in one line", changed("burst: 3 kB", "burst: 3 kB, burst: 4 kB"), ["bad.yaml:5", "`burst`", "second time"]),
    (
        "override without a value",
        changed("demo_64}", "demo_64, overrides: {memories: {ddr: {pages: {}}}}}"),
        ["bad.yaml:1", "`device.overrides`", "pages"],
    ),
    ("not a rate", changed("5 Mbit/s", "fast"), ["bad.yaml:5", "`queues.bulk.rate`", "Mbit/s", '"fast"']),
    ("rate too small", changed("5 Mbit/s", "7 kbit/s"), ["bad.yaml:5", "`queues.bulk.rate`", "8 kbit/s"]),
    ("rate over link", changed("5 Mbit/s", "101 Mbit/s"), ["bad.yaml:5", "`queues.bulk.rate`", "100 Mbit/s"]),
    ("default rate over link", SCENARIO + "defaults: {rate: 1 Gbit/s}\n", ["bad.yaml:10", "`defaults.rate`", "100 Mbit/s"]),
    ("source over link", changed("20 Mbit/s", "2 Gbit/s"), ["bad.yaml:8", "`traffic.flood.constant.rate`", "1 Gbit/s"]),
    ("link over bus", changed("1 Gbit/s", "100 Gbit/s"), ["bad.yaml:3", "`link.ingress`", "5.120 Gbit/s"]),
    ("limit", changed("limit_packets: 50", "limit_packets: 65536"), ["bad.yaml:5", "`queues.bulk.limit_packets`", "65,535"]),
    ("limit bytes", changed("limit_packets: 50", "limit_bytes: 17 MB"), ["bad.yaml:5", "`queues.bulk.limit_bytes`", "16,777,215"]),
    ("burst", changed("burst: 3 kB", "burst: 1 GB"), ["bad.yaml:5", "`queues.bulk.burst`", "at most"]),
    ("queue id", changed("id: 1,", "id: 64,"), ["bad.yaml:6", "`queues.voice.id`", "0 to 63"]),
    ("queue id in traffic", changed("queues: voice", "queues: 60-70"), ["bad.yaml:9", "`traffic.calls.constant.queues`", "0 to 63"]),
    ("queue twice", changed("id: 1,", "ids: 0-1,"), ["bad.yaml:6", "`queues.voice.ids`", "queue 0"]),
    ("name twice", changed("name: voice", "name: bulk"), ["bad.yaml:6", "`queues.bulk.name`", "already"]),
    ("unknown name", changed("queues: voice", "queues: vioce"), ["bad.yaml:9", "`traffic.calls.constant.queues`", "did you mean 'voice'"]),
    ("unknown config", changed("demo_64", "demo_46"), ["bad.yaml:1", "`device.config`", "demo_64", "edge_262144"]),
    ("override unknown", changed("demo_64}", "demo_64, overrides: {quees: 3}}"), ["bad.yaml:1", "`device.overrides`", "'queues'"]),
    (
        "memory too small",
        changed("demo_64}", "demo_64, overrides: {memories: {ddr: {bytes: 4096}}}}"),
        ["bad.yaml:1", "`device.overrides`", "4,096 pages of 2,048 bytes need", "4,096"],
    ),
    ("no shapers", changed("demo_64", "pass_2048"), ["bad.yaml:5", "`queues.bulk.rate`", "no shapers"]),
    ("time without unit", changed("200 ms", "200"), ["bad.yaml:2", "`duration`", "ms"]),
    ("too long", changed("200 ms", "100000000 min"), ["bad.yaml:2", "`duration`", "at most"]),
    ("empty rate", changed("rate: 5 Mbit/s", "rate: null"), ["bad.yaml:5", "`queues.bulk.rate`", "is empty", '"unshaped"']),
    ("nothing as a rate", changed("rate: 5 Mbit/s", "rate: "), ["bad.yaml:5", "`queues.bulk.rate`", "is empty", '"unshaped"']),
    ("empty duration", changed("duration: 200 ms", "duration: ~"), ["bad.yaml:2", "`duration`", "is empty; give a value"]),
    ("empty aqm", changed("rate: 5 Mbit/s,", "aqm: ,"), ["bad.yaml:5", "`queues.bulk.aqm`", "is empty"]),
    ("empty override", changed("demo_64}", "demo_64, overrides: {queues: }}"), ["bad.yaml:1", "`device.overrides`", "queues: is empty"]),
    (
        "half a hierarchy",
        changed("demo_64}", "demo_64, overrides: {hierarchy: {nodes: 4, ports: 2}}}"),
        ["bad.yaml:1", "`device.overrides`", "hierarchy.queues_per_subscriber: is missing", "demo_64 has no hierarchy"],
    ),
    (
        "a hierarchy's wrong number",
        changed("demo_64}", "demo_64, overrides: {hierarchy: {nodes: 3, ports: 2, queues_per_subscriber: 2, classes: 2}}}"),
        ["bad.yaml:1", "`device.overrides`", "hierarchy: nodes must be a power of two and at least 2, not 3"],
    ),
    ("override of another kind", changed("demo_64}", "demo_64, overrides: {aqm: [1]}}"), ["bad.yaml:1", "aqm: must be text, not a list"]),
    ("aliases of aliases", BOMB, ["bad.yaml: ", "more than 1,000,000 keys and values", "aliases"]),
    ("an alias of itself", "a: &a [*a]\n", ["bad.yaml:1", "`a` is not a known key"]),
    ("deep", "a: " + "[" * 5000, ["bad.yaml", "nested too deep"]),
    (
        "ids one by one",
        changed("queues: voice", 'queues: "0-4194303/2"'),
        ["bad.yaml:9", "`traffic.calls.constant.queues`", "more than 1,048,576 ids one by one"],
    ),
    (
        "ids in many lists",
        changed("queues: voice", '["0-1048575/2", "0-1048575/2", "0-1048575/2"]').replace("{[", "{queues: ["),
        ["bad.yaml:9", "more than 1,048,576 ids one by one"],
    ),
    ("start after the end", changed("{name: calls,", "{name: calls, start: 1 s,"), ["bad.yaml:9", "`traffic.calls.start`", "200 ms"]),
    ("stop before start", changed("{name: calls,", "{name: calls, start: 2 ms, stop: 1 ms,"), ["bad.yaml:9", "`traffic.calls`", "`stop`"]),
    ("two kinds", changed("{name: calls,", "{name: calls, poisson: {queues: 1, rate: 1 Mbit/s, size: 64},"), ["bad.yaml:9", "exactly one"]),
    ("size", changed("size: 100}}", "size: 0}}"), ["bad.yaml:9", "`traffic.calls.constant.size`", "1 and 16,383"]),
    ("no traffic", SCENARIO.split("traffic:")[0] + "traffic: []\n", ["bad.yaml:7", "`traffic`", "empty"]),
    ("burst", changed("burst: 3 kB", "burst: 3 Mbit/s"), ["bad.yaml:5", "`queues.bulk.burst`", "kB", "5 ms"]),
    ("hosts", changed("id: 0,", "id: 0, hosts: both,"), ["bad.yaml:5", "`queues.bulk.hosts`", "tells no hosts apart"]),
    ("no such hosts", changed("id: 0,", "id: 0, hosts: all,"), ["bad.yaml:5", "`queues.bulk.hosts`", "'source'"]),
    ("burst as a time", changed("burst: 3 kB", "burst: 2 min"), ["bad.yaml:5", "`queues.bulk.burst`", "at most"]),
    ("rate and rates", changed("id: 0,", "id: 0, rates: {least: 1 Mbit/s, most: 2 Mbit/s, sum: 1 Mbit/s},"), ["bad.yaml:5", "not both"]),
    (
        "sum of rates",
        changed("rate: 5 Mbit/s,", "rates: {least: 1 Mbit/s, most: 2 Mbit/s, sum: 3 Mbit/s},"),
        ["bad.yaml:5", "`queues.bulk.rates.sum`", "1 queue of 2 Mbit/s is less than 3 Mbit/s"],
    ),
    (
        "least of rates",
        changed("rate: 5 Mbit/s,", "rates: {least: 1 kbit/s, most: 2 Mbit/s, sum: 1 Mbit/s},"),
        ["bad.yaml:5", "`queues.bulk.rates.least`", "8 kbit/s"],
    ),
    (
        "most of rates",
        changed("rate: 5 Mbit/s,", "rates: {least: 1 Mbit/s, most: 2 Gbit/s, sum: 2 Gbit/s},"),
        ["bad.yaml:5", "`queues.bulk.rates.most`", "100 Mbit/s"],
    ),
    ("share without each", changed("rate: 20 Mbit/s", "rate: 120 %"), ["bad.yaml:8", "`traffic.flood.constant`", "`pick: each`"]),
    (
        "share of an unshaped queue",
        changed("64 kbit/s,", "90 %, pick: each,").replace("rate: 1 Mbit/s}", "rate: unshaped}"),
        ["bad.yaml:9", "`traffic.calls.constant.rate`", "queue 1 is unshaped"],
    ),
    ("share of nothing", changed("rate: 20 Mbit/s", "rate: 0 %, pick: each"), ["bad.yaml:8", "`traffic.flood.constant.rate`", "0 %"]),
    ("lateness", SCENARIO + "report: {lateness: 3}\n", ["bad.yaml:10", "`report.lateness`", "ms"]),
    ("seed", SCENARIO + "seed: -1\n", ["bad.yaml:10", "`seed`", "at least 0"]),
    ("not YAML", "a: [1,", ["bad.yaml:1", "YAML"]),
    ("a list", "- a\n", ["bad.yaml", "top level"]),
    ("empty file", "", ["bad.yaml", "empty"]),
    ("binary", "\x00\x01\x02", ["bad.yaml", "YAML"]),
    ("output over the capture", CAPTURE + "output: {pcap: ../x.pcap}\n", ["bad.yaml:9", "`output.pcap`", "which this run reads"]),
    ("output over the scenario", SCENARIO + "output: {pcap: ../bad.yaml}\n", ["bad.yaml:10", "`output.pcap`", "which this run reads"]),
    ("output folder", SCENARIO + "output: {pcap: .}\n", ["bad.yaml:10", "`output.pcap`"]),
    ("capture missing", changed("x.pcap", "y.pcap", CAPTURE), ["bad.yaml:6", "`traffic.0.pcap`", "y.pcap", "no such capture"]),
    ("capture is a folder", changed("x.pcap", ".", CAPTURE), ["bad.yaml:6", "`traffic.0.pcap`", "folder"]),
    ("capture is empty", changed("x.pcap", "empty.pcap", CAPTURE), ["bad.yaml:6", "`traffic.0.pcap`", "empty file"]),
    ("capture without frames", changed("x.pcap", "none.pcap", CAPTURE), ["bad.yaml:6", "`traffic.0.pcap`", "no frames"]),
    ("capture is cut", changed("x.pcap", "cut.pcap", CAPTURE), ["bad.yaml:6", "`traffic.0.pcap`", "within record 10"]),
    ("capture is text", changed("x.pcap", "bad.yaml", CAPTURE), ["bad.yaml:6", "`traffic.0.pcap`", "neither"]),
    ("nothing matches", changed("udp", "tcp", CAPTURE), ["bad.yaml:7", "`traffic.0.map`", "none of the 10 frames"]),
    (
        "unmatched error",
        changed("udp}", "udp, sport: 1}", CAPTURE) + "    unmatched: error\n",
        ["bad.yaml:9", "`traffic.0.unmatched`", "frame 1"],
    ),
    ("queue of a rule", changed("queue: bulk", "queue: 64", CAPTURE), ["bad.yaml:8", "`traffic.0.map.0.queue`", "0 to 63"]),
    ("prefixed and map", CAPTURE + "    prefixed: true\n", ["bad.yaml:6", "`traffic.0`", "not both"]),
    ("network", changed("udp}", "udp, src: 10.0.0.300}", CAPTURE), ["bad.yaml:8", "`traffic.0.map.0.match.src`", "10.0.1.0/24"]),
    ("time scale", CAPTURE + "    time_scale: 0\n", ["bad.yaml:9", "`traffic.0.time_scale`", "at least 0.000001"]),
    ("time scale no number", CAPTURE + "    time_scale: true\n", ["bad.yaml:9", "`traffic.0.time_scale`", "a number"]),
    ("capture with a zero byte", changed("x.pcap", '"x\\0y"', CAPTURE), ["bad.yaml:6", "`traffic.0.pcap`", "cannot be read"]),
    ("capture with a long name", changed("x.pcap", "x" * 300, CAPTURE), ["bad.yaml:6", "`traffic.0.pcap`", "too long"]),
    ("output with a zero byte", SCENARIO + 'output: {pcap: "x\\0y"}\n', ["bad.yaml:10", "`output.pcap`", "name of a file"]),
    ("output with a long name", SCENARIO + f"output: {{pcap: {'x' * 300}}}\n", ["bad.yaml:10", "`output.pcap`", "name of a file"]),
    ("very long number", changed("{config: demo_64}", "0x" + "f" * 5000), ["bad.yaml:1", "`device`", "digits"]),
    (
        "name where none is known",
        changed("udp}, queue: bulk", "udp}, queue: nobody", CAPTURE).replace("name: bulk", "rate: 0"),
        ["this name\n"],
    ),
]

BAD_ARGUMENTS: list[tuple[list[str], list[str]]] = [
    (["run", "no.yaml"], ["no.yaml", "no such file"]),
    (["run", "t.yaml"], ["t.yaml", "did you mean 's.yaml'"]),
    (["run", "."], ["folder"]),
    (["run", "x.pcap"], ["x.pcap"]),
    (["run"], ["'scenario'"]),
    (["run", "s.yaml", "--bogus"], ["--bogus"]),
    (["run", "s.yaml", "--seed", "x"], ["--seed"]),
    (["run", "s.yaml", "--seed", "-3"], ["seed", "at least 0"]),
    (["run", "s.yaml", "--engine", "modle"], ["--engine modle", "no such engine", "model"]),
    (["run", "s.yaml", "--engine", "p4"], ["--engine p4", "there is no such engine"]),
    (["run", "s.yaml", "--engine", "rlt"], ["--engine rlt", "did you mean 'rtl'"]),
    (["run", "s.yaml", "--set", "queues.bulk.rtae=1 Mbit/s"], ["--set", "`queues.bulk.rtae`", "'rate'"]),
    (["run", "s.yaml", "--set", "queues.blk.rate=1 Mbit/s"], ["--set", "`blk`", "'bulk'"]),
    (["run", "s.yaml", "--set", "queues.9.rate=1 Mbit/s"], ["--set", "`9`", "the list has 2"]),
    (["run", "s.yaml", "--set", "queues.bulk.rate=1 bit/s"], ["--set", "`queues.bulk.rate`", "8 kbit/s"]),
    (["run", "s.yaml", "--set", "queues.bulk.rate=1 Tbit/s"], ["--set", "`queues.bulk.rate`", "100 Mbit/s"]),
    (["run", "s.yaml", "--set", "seed"], ["--set seed", "KEY=VALUE"]),
    (["run", "s.yaml", "--set", "queues.bulk.rate="], ["--set queues.bulk.rate=: has no value"]),
    (["run", "s.yaml", "--set", "queues.bulk.rate= "], ["has no value"]),
    (["run", "s.yaml", "--set", "queues.bulk.rate=null"], ["--set queues.bulk.rate=null: `queues.bulk.rate` is empty", '"unshaped"']),
    (["run", "s.yaml", "--set", "a=" + BOMB.replace("\n", ", ").join("{}")], ["not valid YAML"]),
    (["run", "c.yaml", "--set", "traffic.0.time_scale=1e-300"], ["`traffic.0.time_scale`", "must be at least 0.000001"]),
    (["run", "fifo"], ["fifo: is a pipe, not a scenario"]),
    (["run", "/dev/zero"], ["/dev/zero: is a device, not a scenario"]),
    (["run", "c.yaml", "--set", "traffic.0.pcap=fifo"], ["fifo: is a pipe, not a capture"]),
    (["run", "c.yaml", "--set", "traffic.0.pcap=/dev/zero"], ["/dev/zero: is a device, not a capture"]),
    (["run", "s.yaml", "--set", "output.pcap=../fifo", "--out", "o"], ["`output.pcap`", "must be the name of a capture file"]),
    (["switch-sim", "--algorithm", "oq", "--traffic", "trace", "--trace", "fifo", "--ports", "2"], ["fifo: is a pipe, not a trace"]),
    (["report", "odd"], ["odd/result.json: is a pipe, not a result"]),
    (["run", "s.yaml", "--set", "duration.x=1"], ["--set", "single value"]),
    (["run", "s.yaml", "--set", "queues.².rate=1 Mbit/s"], ["--set", "`²`"]),
    (["run", "s.yaml", "--set", "seed=&a [*a]"], ["--set", "not valid YAML"]),
    (["run", "s.yaml", "--set", "device.overrides.memories.ddr.pages=9999"], ["--set device.overrides.memories.ddr.pages=9999", "need"]),
    (["run", "s.yaml", "--out", "s.yaml"], ["--out s.yaml", "is a file"]),
    (["run", "s.yaml", "--out", "s.yaml/deeper"], ["--out s.yaml/deeper"]),
    (["run", "s.yaml", "--out", "/proc/no"], ["--out /proc/no", "cannot be written"]),
    (["run", "x" * 300], ["too long"]),
    (["run", "s.yaml", "--out", "x" * 300], ["--out", "too long"]),
    (["run", "s.yaml", "--out", "s.yaml", "--set", "output.pcap=left.pcap"], ["--out s.yaml", "is a file"]),
    (["report", "x" * 300], ["too long"]),
    (["report", "nothing"], ["nothing", "no such folder"]),
    (["report", "."], ["result.json"]),
    (["report", "s.yaml"], ["s.yaml", "is a file"]),
    (["rnu"], ["rnu"]),
]


def said(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Return what was said, without the lines that tell a log on a slow machine what is being done."""
    captured = capsys.readouterr()
    return captured.out, "".join(line for line in captured.err.splitlines(keepends=True) if not re.search(r" \.\.\. \d+ s$", line))


def check_bad(arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Run and expect exit status 2, nothing on standard output, and one line with the words on standard error."""
    assert main(arguments) == 2
    out, err = said(capsys)
    assert out == ""
    assert len(err.splitlines()) == 1, err
    for word in words:
        assert word in err


@pytest.mark.parametrize(("text", "words"), [case[1:] for case in BAD_SCENARIOS], ids=[case[0] for case in BAD_SCENARIOS])
def test_bad_scenario(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str], text: str, words: list[str]) -> None:
    """Each mistake in a file gets one line with file, line, key and what is allowed; nothing is run or written."""
    (place / "bad.yaml").write_text(text)
    (place / "empty.pcap").write_bytes(b"")
    (place / "none.pcap").write_bytes(pcap_bytes([]))
    (place / "cut.pcap").write_bytes(GOOD_PCAP[:-1])
    check_bad(["run", "bad.yaml", "--out", "out", "--json"], words, capsys)
    assert "job" not in fake_engine and not (place / "out").exists()


@pytest.fixture(scope="session")
def simulator() -> None:
    """The slot simulator, compiled: that takes a line of its own."""
    engine.build(print, "engine/src/switch_sim")


@pytest.mark.parametrize(("arguments", "words"), BAD_ARGUMENTS, ids=[" ".join(case[0]) for case in BAD_ARGUMENTS])
def test_bad_arguments(
    simulator: None, place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    """Each mistake on the command line gets one line that names it."""
    (place / "odd").mkdir()
    for name in ("fifo", "odd/result.json"):
        os.mkfifo(place / name)
    check_bad(arguments, words, capsys)
    assert "job" not in fake_engine


def test_a_reader_that_leaves_early(place: Path, fake_engine: dict[str, Any]) -> None:
    """`--json | head -1`: no traceback, neither from the command nor at the interpreter's end."""
    assert main(["run", "s.yaml", "--out", "out"]) == 0
    reading, writing = os.pipe()
    os.close(reading)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "penstock", "report", "out", "--json"]
    done = subprocess.run(command, env=environment, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writing)
    said = [line for line in done.stderr.splitlines() if not line.startswith("penstock: Writing the report ...")]  # of a slow machine
    assert (done.returncode, said) == (1, [])


def test_every_key_with_every_kind_of_value(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever stands at a key, what is wrong is said in our words, not in those of the library that finds it."""
    from penstock.designs.access_edge.scenario import Scenario

    foreign = ("input", "should be", "valid integer", "value error", "pydantic", "_error", "unable to", "traceback")
    values = [
        "null",
        "true",
        "-1",
        "3.5",
        "1e400",
        ".nan",
        "x",
        '""',
        "[]",
        "[1]",
        "{}",
        "{a: 1}",
        "[[1, 2]]",
        "2024-01-01",
        "0x" + "f" * 50,
    ]
    keys = [
        *Scenario.model_fields,
        *(f"queues.bulk.{key}" for key in ("id", "rate", "burst", "limit_packets", "limit_bytes", "aqm", "name")),
    ]
    keys += [
        f"device.overrides.{key}" for key in ("queues", "clock_hz", "aqm", "pie", "hierarchy", "memories", "memories.ddr.pages", "shaping")
    ]
    keys += [f"traffic.flood.constant.{key}" for key in ("queues", "pick", "rate", "size")] + [
        "device.config",
        "link.egress",
        "report.series",
    ]
    for key in keys:
        for value in values:
            status = main(["run", "s.yaml", "--out", "out", "--set", f"{key}={value}"])
            _, err = said(capsys)
            assert status in (0, 2), (key, value, err)
            if status:
                assert len(err.splitlines()) == 1 and not any(word in err.lower() for word in foreign), (key, value, err)


def test_random_damage_to_a_scenario_never_raises(place: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Scenarios with random characters changed either load or give one line and status 2."""
    from penstock.designs.access_edge import job
    from penstock.errors import UserError
    from penstock.scenarios import scenario
    from penstock.scenarios.device import configuration
    from penstock.testing import testkit

    rng = np.random.default_rng(testkit.seed())
    letters = list("abz019 :-{}[],.\"'\n\t#&*!|>%@é")
    for _ in range(150):
        text = list(rng.choice([SCENARIO, CAPTURE]))
        for _ in range(int(rng.integers(1, 4))):
            text[int(rng.integers(0, len(text)))] = str(rng.choice(letters))
        (place / "bad.yaml").write_text("".join(text))
        try:
            read, document = scenario.load(place / "bad.yaml")
            job.build(read, document, configuration(read, document))
        except UserError as error:
            assert str(error) and "Traceback" not in str(error)


def test_help_is_quick_and_heavy_libraries_stay_out() -> None:
    """--help loads none of the libraries that cost time."""
    code = (
        "import sys; from penstock.command_line.app import main; main(['--help']);"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'plotly', 'pydantic', 'scapy', 'ruamel.yaml', 'dpkt')))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "run" in done.stdout
