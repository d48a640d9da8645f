# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Scenarios of the deadline port on its engines: frames whose fates are worked out by hand, an exact EDFR in Python, and
the sums that must hold whatever comes."""

import heapq
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.engine import engine as native
from penstock.engine.run import Request, prepare
from penstock.paths import ROOT
from penstock.testing.testkit import seed

sys.path.insert(0, str(ROOT / "tests"))  # its captures

from stand_in import frame, pcap_bytes

ENGINES = ["rtl", "model"]
SLOTS = 992  # cycles that a frame of 100 byte takes at 100 Mbit/s and 100 MHz: (100 + 24) * 8
SETUP = """\
device: { config: tiny_deadline_3 }
duration: 200 us
link: { ingress: 10 Gbit/s, egress: 100 Mbit/s }
classes:
  - { name: voice, deadline: 25 us, dscp: ef }
  - { name: web, deadline: 60 us, dscp: [af21, 20-22] }
  - { name: bulk, deadline: 100 us }
traffic: [ { pcap: a.pcap } ]
"""


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The engine, up to date."""
    native.build(print)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with a scenario."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SETUP)
    return tmp_path


def marked(code: int, size: int = 100) -> bytes:
    """Return a frame of IPv4 with a DSCP."""
    data = bytearray(frame(size=size))
    data[15] = code << 2
    return bytes(data)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", "s.yaml", *arguments, "--out", "out", "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def frame_ns(result: dict[str, Any]) -> float:
    """Return how long the longest frame takes on the output's line."""
    rate, unit = result["scenario"]["link"]["egress"].split()
    return (1522 + 24) * 8e9 / (float(rate) * {"Mbit/s": 1e6, "Gbit/s": 1e9}[unit])


def check_sums(result: dict[str, Any]) -> None:
    """In = out + all drops + queued, in packets and bytes; by class and in all; nothing left late but from a FIFO."""
    assert result["findings"] == [] and result["conservation"]["ok"] and result["counter_mismatches"] == 0
    for what in ("packets", "bytes"):
        total = result[what]
        assert total["in"] == total["out"] + total["queued"] + sum(total["dropped"].values())
        rows = result["classes"]
        assert sum(row[f"out_{what}"] for row in rows) == total["out"]
        assert sum(row[f"in_{what}"] for row in rows) == total["in"]
        assert sum(row[f"drop_{what}"] for row in rows) == sum(total["dropped"].values())
    for row in result["classes"]:
        assert row["missed_packets"] + row["no_page_packets"] + row["read_error_packets"] <= row["drop_packets"]
        assert row["latency_ns"]["count"] == row["out_packets"]
        if result["discipline"] == "edfr":
            assert row["late_packets"] == 0 and (row["least_slack_ns"] is None or row["least_slack_ns"] >= 0)
            longest = row["latency_ns"]["max"] or 0  # the line takes the first beat when the frame before is through
            assert longest <= row["deadline_ns"] + frame_ns(result) or "deadline_changes" in row
    assert sum(row["missed_packets"] for row in result["classes"]) == result["packets"]["dropped"].get("missed", 0)
    if "missed" in result:
        assert [sum(counts) for counts in result["missed"]["packets"]] == [row["missed_packets"] for row in result["classes"]]


@pytest.mark.parametrize("engine", ENGINES)
def test_fates_worked_out_by_hand(place: Path, capsys: pytest.CaptureFixture[str], engine: str) -> None:
    """Six voice frames, two of web and one of bulk at once on a line that takes 9.92 us for each.

    A frame has begun when its first beat is offered, which is when the frame before it has begun on the line. So of voice, 25 us, those
    leave that are offered up to 19.84 us, which begin on the line at 0, 9.92, 19.84 and 29.76 us; the fifth is offered at 29.76 us, too
    late. Then come web at 39.68 and 49.6 us and bulk at 59.52 us. The exact EDFR looks at the line: it sends three of voice.
    """
    frames = [(0, marked(46))] * 6 + [(600, marked(18)), (700, marked(21)), (800, marked(0))]
    Path("a.pcap").write_bytes(pcap_bytes(frames))
    result = run(capsys, "--engine", engine)
    check_sums(result)
    voice, web, bulk = result["classes"]
    assert [[row[key] for key in ("in_packets", "out_packets", "missed_packets")] for row in (voice, web, bulk)] == [
        [6, 4, 2],
        [2, 2, 0],
        [1, 1, 0],
    ]
    assert [row["exact"]["missed_packets"] for row in (voice, web, bulk)] == [3, 0, 0]
    assert [row["exact"]["sent_bytes"] for row in (voice, web, bulk)] == [300, 200, 100]
    assert (result["missed_share"], result["exact_missed_share"]) == (0.222222, 0.333333)
    assert [row["missed_share"] for row in (voice, web, bulk)] == [0.333333, 0, 0]
    least = voice["latency_ns"]["min"]
    assert 0 < least < 1500  # through the device
    # Each came 99.2 ns behind the one before, and leaves 9.92 us behind it. A cycle is 10 ns.
    assert voice["latency_ns"]["max"] == pytest.approx(least + 3 * (9920 - 99.2), abs=300)
    assert web["latency_ns"]["min"] == pytest.approx(least + 4 * 9920 - 600, abs=10_000)
    assert bulk["latency_ns"]["max"] == pytest.approx(least + 6 * 9920 - 800, abs=10_300)  # some are decided on ahead
    least_slack = 100_000 - bulk["latency_ns"]["max"] - 80  # on the line; it was offered a frame or two before
    assert least_slack <= bulk["least_slack_ns"] <= least_slack + 2 * 9920


@pytest.mark.parametrize("engine", ENGINES)
def test_changes_in_mid_run(place: Path, capsys: pytest.CaptureFixture[str], engine: str) -> None:
    """A longer deadline lets all six leave; another class for the DSCP takes them to web."""
    late = [(50_000 + at, marked(46)) for at in range(6)]
    Path("a.pcap").write_bytes(pcap_bytes([(0, marked(46)), *late]))
    result = run(capsys, "--engine", engine, "--set", "changes=[{at: 40 us, classes: voice, deadline: 80 us}]")
    check_sums(result)
    assert (result["classes"][0]["out_packets"], result["classes"][0]["missed_packets"]) == (7, 0)
    result = run(capsys, "--engine", engine, "--set", "changes=[{at: 40 us, dscp: ef, to: web}]")
    check_sums(result)
    assert [row["out_packets"] for row in result["classes"]] == [1, 6, 0]


@pytest.mark.parametrize(
    "traffic",
    [
        "constant: { classes: voice, rate: 30 Mbit/s, size: 100 }",
        "poisson: { classes: [voice, bulk], pick: each, rate: 10 Mbit/s, size: imix }",
        "onoff: { classes: [voice, web], rate: 60 Mbit/s, size: 100, on: 50 us, off: 50 us }",
    ],
)
def test_classes_that_change_do_not_change_the_traffic(place: Path, traffic: str) -> None:
    """Frames come at the same times, whatever their class, or another one's, is called from some time on."""

    def come(changes: str) -> list[int]:
        settings = ["duration=2 ms", "link.egress=10 Gbit/s", f"traffic=[{{ {traffic} }}]", f"changes={changes}"]
        raw = native.run(prepare(Request(place / "s.yaml", settings, engine="model")).plan.job)
        assert raw["findings"] == [] and raw["packets"]["in"] == len(raw["departures"]["cycle"]) > 10
        return sorted((raw["departures"]["cycle"].astype(int) - raw["latency_cycles"].astype(int)).tolist())

    expected = come("[]")
    assert come("[{ at: 777 us, dscp: 21, to: bulk }, { at: 1111 us, dscp: 5, to: web }]") == expected
    assert come("[{ at: 777 us, dscp: ef, to: web }, { at: 1111 us, dscp: ef, to: bulk }]") == expected


def test_a_class_that_changes_at_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first frames come before the register is written, and have the class of before."""
    traffic = "traffic=[{ constant: { classes: [voice, web], rate: 20 Gbit/s, size: 60 } }]"
    line = ["--set", "link.ingress=50 Gbit/s", "--set", "link.egress=50 Gbit/s", "--set", "duration=10 us", "--set", traffic]
    result = run(capsys, "--engine", "model", *line, "--set", "changes=[{ at: 0 s, dscp: ef, to: web }]")
    check_sums(result)
    voice, web, _ = (row["in_packets"] for row in result["classes"])
    assert 0 < voice < 10 and voice + web == result["packets"]["in"] > 300


def test_the_shortest_tick(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With two cycles for each class all frames of a light load leave in time; a tick that is shorter is refused."""
    spec = {
        "device": {"config": "tiny_deadline_16", "overrides": {"classes": 64, "chunks": 1024, "tick_cycles": 128}},
        "duration": "400 us",
        "link": {"ingress": "10 Gbit/s", "egress": "20 Gbit/s"},
        "classes": [{"name": "all", "count": 64, "deadline": "50 us", "dscp": "0-63"}],
        "traffic": [{"constant": {"classes": "all", "rate": "9 Gbit/s", "size": 1000}}],
    }
    (tmp_path / "tick.yaml").write_text(json.dumps(spec))
    command = ["run", str(tmp_path / "tick.yaml"), "--engine", "model", "--out", str(tmp_path / "out"), "--json"]
    assert main(command) == 0
    packets = json.loads(capsys.readouterr().out)["packets"]
    assert packets["in"] == packets["out"] == 450
    assert main([*command, "--set", "device.overrides.tick_cycles=127"]) == 2
    assert "tick_cycles is 127; 64 classes need 128 at least" in capsys.readouterr().err


@pytest.mark.parametrize("engine", ENGINES)
def test_exact_edfr_beside_one_in_python(place: Path, capsys: pytest.CaptureFixture[str], engine: str) -> None:
    """Random arrivals of all classes, overloaded; the engine's shares are those of a sorted list, and the port's are near."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    codes, waits = (46, 18, 0), (2500, 6000, 10_000)
    arrivals = sorted((rng.randrange(1_500_000), rng.randrange(3), rng.randint(60, 400)) for _ in range(120))
    Path("a.pcap").write_bytes(pcap_bytes([(at, marked(codes[number], size)) for at, number, size in arrivals]))
    result = run(capsys, "--engine", engine, "--set", "duration=2 ms", "--set", "link.egress=100 Mbit/s")
    check_sums(result)
    waiting: list[tuple[float, int, int, int]] = []
    free, missed, index = 0.0, [0, 0, 0], 0
    came = [(at / 10 + size * 0.08, number, size) for at, number, size in arrivals]
    while waiting or index < len(came):
        free = max(free, came[index][0]) if not waiting else free
        while index < len(came) and came[index][0] <= free:
            at, number, size = came[index]
            heapq.heappush(waiting, (at + waits[number], index, number, size))
            index += 1
        deadline, _, number, size = heapq.heappop(waiting)
        if deadline < free:
            missed[number] += 1
        else:
            free += (size + 24) * 8
    exact = [row["exact"]["missed_packets"] for row in result["classes"]]
    assert abs(sum(exact) - sum(missed)) <= 2, (exact, missed)
    port = [row["missed_packets"] for row in result["classes"]]
    assert abs(sum(port) - sum(exact)) <= max(3, 0.1 * sum(exact)), (port, exact)


def test_the_exact_edfr_is_the_same_beside_a_fifo(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same arrivals have the same deadlines, whichever port stands there: large frames on a slow line, overloaded, short of memory."""
    traffic = """[ { poisson: { classes: voice, rate: 60 Mbit/s, size: [[60, 2], [1500, 1]] } },
      { onoff: { classes: [web, bulk], pick: each, rate: 90 Mbit/s, size: [[100, 1], [700, 1]], on: 200 us, off: 200 us } } ]"""
    line = ["--set", "link={ ingress: 100 Mbit/s, egress: 60 Mbit/s }", "--set", "duration=20 ms"]
    waits = [f"--set=classes.{name}.deadline={us} us" for name, us in (("voice", 400), ("web", 300), ("bulk", 1000))]
    sets = ["--engine", "model", *line, *waits, "--set", "traffic=" + " ".join(traffic.split()), "--set", "memory_limit=40 kB"]
    found = []
    for config in ("tiny_deadline_3", "tiny_fifo_3"):
        result = run(capsys, *sets, "--set", f"device.config={config}")
        check_sums(result)
        found.append([(row["in_packets"], row["exact"]["missed_packets"], row["exact"]["missed_bytes"]) for row in result["classes"]])
    assert found[0] == found[1] and min(missed for _, missed, _ in found[0]) > 5


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("config", ["tiny_deadline_3", "tiny_fifo_3", "tiny_deadline_16"])
def test_sums_hold_whatever_comes(place: Path, capsys: pytest.CaptureFixture[str], engine: str, config: str) -> None:
    """Generated traffic with headers of all kinds beyond what line and memory take."""
    traffic = """[ { poisson: { classes: voice, rate: 600 Mbit/s, size: imix } },
      { onoff: { classes: [web, bulk], pick: each, rate: 800 Mbit/s, size: [[100, 1], [700, 1]], on: 20 us, off: 20 us },
        headers: { ip: 6, vlan: 7 } } ]"""
    sets = ["--set", f"device.config={config}", "--set", "traffic=" + " ".join(traffic.split()), "--set", "memory_limit=40 kB"]
    result = run(capsys, "--engine", engine, *sets, "--set", "link.egress=700 Mbit/s")
    check_sums(result)
    assert result["packets"]["in"] > 50 and result["packets"]["out"] > 20
    if config == "tiny_fifo_3":
        assert result["packets"]["dropped"].get("missed", 0) == 0 and result["discipline"] == "fifo"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "scenarios").glob("deadline_*.yaml")))
def test_ready_scenarios_are_the_same_on_both_engines(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Each packet's fate, each cycle, each figure: all of the result but how long the run took."""
    results = []
    for engine in ENGINES:
        capsys.readouterr()
        scenario = str(ROOT / "scenarios" / f"{name}.yaml")
        assert main(["run", scenario, "--engine", engine, "--out", str(tmp_path / engine), "--json"]) == 0
        result = json.loads(capsys.readouterr().out)
        assert result.pop("engine") == engine
        for key in ("wall_seconds", "cycles_per_second"):
            result.pop(key)
        results.append(result)
        check_sums(result)
    assert results[0] == results[1]
    assert results[0]["packets"]["in"] > 5000 and sum(results[0]["packets"]["dropped"].values()) > 400
