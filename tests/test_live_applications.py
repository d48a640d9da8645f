# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Applications of live runs: what they report against the kernel's counters, and their arithmetic against what others have published."""

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from penstock.basics import packages
from penstock.engine.run import Request
from penstock.errors import UserError
from penstock.live import stage
from penstock.live.applications import entries, iperf, kernel_tcp, speech
from penstock.live.applications.programs.echo import answered, checksum, request
from penstock.live.applications.programs.player import Player
from penstock.network import spaces
from penstock.paths import PACKAGE, ROOT
from penstock.scenarios.scenario import Document

HERE = Path(__file__).parent
DOWN = {"from": "internet", "to": "home"}
SECONDS = 2.0
RUN: list[dict[str, Any]] = [
    {"name": "tcp", "iperf": {**DOWN, "flows": 2, "rate": "40 Mbit/s", "ecn": True, "algorithm": "cubic"}},
    {"name": "udp", "iperf": {**DOWN, "udp": True, "rate": "4 Mbit/s", "size": 1000, "version": 6}, "stop": "1 s"},
    {"name": "pages", "http": {**DOWN, "clients": 2, "objects": 3, "size": "50 kB", "pause": "200 ms"}},
    {"name": "ping", "ping": {"from": "home", "to": "internet", "interval": "50 ms", "version": 6}, "start": "500 ms"},
    {"name": "call", "voice": {**DOWN}},
    {"name": "film", "video": {**DOWN, "rates": ["1 Mbit/s", "3 Mbit/s"], "segment": "400 ms", "buffer": "1 s"}},
    {"name": "never", "ping": {**DOWN}, "start": "1.9 s"},
]
PROBLEM = spaces.problem() or (None if shutil.which("iperf3") else "iperf3 is not on the PATH")


def probe(folder: Path, seconds: float, given: list[dict[str, Any]], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the child."""
    command = [sys.executable, "-P", str(HERE / "live_applications_probe.py"), str(seconds), json.dumps(given), str(folder)]
    env = os.environ | {"PYTHONPATH": str(PACKAGE.parent)} | environment
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run all kinds side by side, each between two namespaces of its own."""
    if PROBLEM:
        pytest.skip(PROBLEM)
    done = probe(tmp_path_factory.mktemp("live"), SECONDS, RUN)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["left"] == []
    return {entry["name"]: one for entry, one in zip(RUN, said["found"], strict=True)}


def test_tcp_by_the_kernels_counters(told: dict[str, Any]) -> None:
    one = told["tcp"]
    result, (packets, size) = one["result"], one["counted"]["home"]
    assert result["error"] is None and result["algorithm"] == "cubic"
    # A packet has at least 14 + 20 + 32 byte of headers, and at most 64 kB of payload, as these cables have offloads.
    assert result["bytes"] <= size - 66 * result["bytes"] / 65536
    assert size - 80 * packets <= 1.1 * result["bytes"]  # the last interval may be cut off
    assert sum(row["bytes"] for row in result["flows"]) == result["bytes"]
    assert [row["name"] for row in result["flows"]] == ["tcp 1", "tcp 2"]
    for row in result["flows"]:
        assert row["throughput_bps"] == pytest.approx(20e6, rel=0.15)
        assert row["ecn_marked"] == 0 and 0 < row["rtt_ms"]["min"] <= row["rtt_ms"]["max"]
    assert any(sample.get("throughput_bps", 0) > 10e6 for sample in one["samples"])


def test_udp_by_the_kernels_counters(told: dict[str, Any]) -> None:
    result, (packets, _) = told["udp"]["result"], told["udp"]["counted"]["home"]
    (flow,) = result["flows"]
    assert result["error"] is None and flow["lost"] == 0
    assert flow["bytes"] == 1000 * flow["packets"]
    assert flow["packets"] <= packets <= flow["packets"] + 60  # besides them the control connection
    assert flow["throughput_bps"] == pytest.approx(4e6, rel=0.1)


def test_pages_by_the_kernels_counters(told: dict[str, Any]) -> None:
    result, (_, size) = told["pages"]["result"], told["pages"]["counted"]["home"]
    assert result["error"] is None and result["failed"] == 0
    assert result["pages"] >= 4 and result["load_ms"]["count"] == result["pages"]
    assert 150_000 * result["pages"] <= result["bytes"] <= 150_000 * (result["pages"] + result["unfinished"])
    assert result["bytes"] <= size <= 1.1 * result["bytes"] + 50_000
    over = result["over_time"]
    counted = sum(bps * step / 8 for bps, step in zip(over["throughput_bps"], steps(over["time_s"]), strict=True))
    assert counted == pytest.approx(result["bytes"], rel=0.02)


def steps(times: list[float]) -> list[float]:
    """Return the lengths between times, from 0 on."""
    return [at - before for at, before in zip(times, [0.0, *times], strict=False)]


def test_pings(told: dict[str, Any]) -> None:
    result, (packets, _) = told["ping"]["result"], told["ping"]["counted"]["home"]
    assert result["error"] is None and result["sent"] == result["received"] == 30 and result["loss_share"] == 0
    assert packets >= 30
    assert min(result["over_time"]["time_s"]) >= 0.5 and result["round_trip_ms"]["min"] > 0


def test_call(told: dict[str, Any]) -> None:
    result = told["call"]["result"]
    assert result["error"] is None and [way["to"] for way in result["ways"]] == ["home", "internet"]
    for way in result["ways"]:
        packets, size = told["call"]["counted"][way["to"]]
        assert way["sent"] == way["received"] == 100 and way["loss_share"] == 0  # 2 s of packets of 20 ms
        assert packets >= 100 and size >= 100 * (160 + 12 + 8 + 20 + 14)
        assert way["throughput_bps"] == 64_000
        assert 0 < way["delay_ms"]["min"] <= way["delay_ms"]["max"]
        assert 1 <= way["mos"] <= 4.41


def test_film(told: dict[str, Any]) -> None:
    result, (_, size) = told["film"]["result"], told["film"]["counted"]["home"]
    assert result["error"] is None and result["stalls"] == 0 and result["startup_s"] is not None
    rates = [rate for _, _, rate in result["segments"]]
    assert rates[0] == 1_000_000 and set(rates[1:]) <= {1_000_000, 3_000_000}
    assert sum(round(rate * 0.4 / 8) for rate in rates) == result["bytes"] <= size
    assert 0.4 * len(rates) <= SECONDS + 1.0 + 0.4  # what has been played, what is in the buffer, and a segment


def test_what_begins_late_says_no_more_than_it_has_seen(told: dict[str, Any]) -> None:
    assert told["never"]["result"]["sent"] == 1
    assert all(one["took_s"] < 4 for one in told.values())


def test_what_is_ended_before_it_began_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    if PROBLEM:
        pytest.skip(PROBLEM)
    given = [{"iperf": DOWN, "start": "300 ms"}, {"voice": DOWN}]
    done = probe(tmp_path, -1.4, given)  # a run that is over before its time 0
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["left"] == [] and all(one["took_s"] < 4 for one in said["found"])
    assert "before it began" in said["found"][0]["result"]["error"] or "no time" in said["found"][0]["result"]["error"]
    assert said["found"][1]["result"]["error"]


# ---- iperf3's words, recorded from iperf3 3.12 between two namespaces


def recorded(kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what its client and its server have said."""
    client, server = (json.loads((HERE / "live_iperf" / f"{kind}_{side}.json").read_text()) for side in ("client", "server"))
    return client, server


def test_recorded_tcp_that_was_told_to_end() -> None:
    client, server = recorded("tcp")
    starts = [part["sum"]["start"] for part in server["intervals"]]
    assert "error" in client and len(set(starts)) == len(starts) - 1  # it repeats its last interval
    own = server["intervals"][:-1]
    result = iperf.results(client, server, "bulk", began_s=3.0)
    assert result["error"] is None
    assert result["bytes"] == sum(part["sum"]["bytes"] for part in own)
    seconds = sum(part["streams"][0]["seconds"] for part in own)
    assert result["throughput_bps"] == pytest.approx(8 * result["bytes"] / seconds, rel=1e-3)
    assert [row["bytes"] for row in result["flows"]] == [sum(part["streams"][at]["bytes"] for part in own) for at in (0, 1)]
    assert result["over_time"]["time_s"] == [round(3 + part["sum"]["end"], 3) for part in own]


def test_recorded_udp() -> None:
    client, server = recorded("udp")
    result = iperf.results(client, server, "call")
    (row,) = result["flows"]
    assert row["bytes"] == 1200 * row["packets"] and row["lost"] == 0 and result["algorithm"] is None


def test_what_iperf3_says_of_a_server_that_is_not_there() -> None:
    result = iperf.results({"start": {"connected": []}, "error": "error - unable to connect to server: Connection refused"}, {}, "x")
    assert result["error"] == "iperf3 has not begun: unable to connect to server: Connection refused" and result["flows"] == []


# ---- calls


def test_e_model_against_its_recommendation() -> None:
    # ITU-T G.107, annex B: the default rating is 93.2, a MOS of 4.41; and the table of its categories.
    assert speech.rating(speech.CODECS["g711"], 0, 0) == pytest.approx(93.2)
    assert round(speech.mos(93.2), 2) == 4.41
    assert [round(speech.mos(r), 2) for r in (90, 80, 60, 50)] == [4.34, 4.02, 3.10, 2.58] or math.isclose(
        speech.mos(80), 4.03, abs_tol=0.01
    )
    assert speech.mos(-5) == speech.mos(3) == 1.0 and speech.mos(100) == speech.mos(120) == 4.5


def test_impairments_by_hand() -> None:
    assert speech.delay_impairment(100) == 0
    # Ta = 200 ms: X = 1, 25 (2^(1/6) - 3 (1 + 1/729)^(1/6) + 2)
    assert speech.delay_impairment(200) == pytest.approx(25 * (1.122462 - 3 * 1.0002285 + 2), abs=1e-3)
    assert speech.loss_impairment(speech.CODECS["g729"], 2) == pytest.approx(11 + 84 * 2 / 21)
    assert speech.loss_impairment(speech.CODECS["g711"], 25.1) == pytest.approx(95 / 2)
    assert speech.loss_impairment(speech.CODECS["g711"], 2, 2) > speech.loss_impairment(speech.CODECS["g711"], 2)


def test_jitter_of_rfc_3550() -> None:
    # D = 16, then -16, then 0: J = 1, 1 + 15/16, and that less a sixteenth.
    assert speech.jitter_ms([10, 26, 10, 10]) == pytest.approx([1.0, 1.9375, 1.9375 * 15 / 16])


def test_playout_and_bursts() -> None:
    delays, there = speech.playout([20.0] * 50 + [None] + [20.0] * 49, 50)
    assert delays == [20.0] * 100 and there.count(False) == 1
    # A step of the delay is late until the next talkspurt, and in time two later at the latest.
    delays, there = speech.playout([20.0] * 75 + [80.0] * 125, 50)
    assert there[:75] == [True] * 75 and there[75:100] == [False] * 25 and there[100:] == [True] * 100
    assert delays[100] >= 80
    assert speech.burst_ratio([True, False] * 50) == 1.0
    assert speech.burst_ratio([True] * 90 + [False] * 10) == pytest.approx(9.0)


# ---- a film, pings


def test_player_by_hand() -> None:
    player = Player([1_000_000, 2_000_000], 2.0, 8.0, 2.0)
    assert player.choose() == 1_000_000
    player.arrived(1.0, 1_000_000, 250_000, 1.0)  # begins to play at 1 s, with 2 s of film
    assert player.level(2.0) == pytest.approx(1.0)
    assert player.choose() == 1_000_000  # 0.85 x 2 Mbit/s is less than 2 Mbit/s
    assert player.level(3.5) == player.level(4.0) == 0
    player.arrived(4.5, 1_000_000, 250_000, 0.1)  # it stood still from 3 s on
    assert player.choose() == 2_000_000  # the harmonic mean of 2 and 20 Mbit/s is 3.6 Mbit/s
    said = player.summary(5.0)
    assert said["startup_s"] == 1.0 and said["stalls"] == 1 and said["stalled_s"] == pytest.approx(1.5)
    assert player.wait_s(5.0) == 0 and player.level(5.0) == pytest.approx(1.5)


def test_echo_messages() -> None:
    # RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 add up to ddf2.
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == ~0xDDF2 & 0xFFFF
    made = request(4, 0x5001, 70_000, 56)
    assert len(made) == 64 and checksum(made) == 0
    reply = bytes(1) + made[1:]
    assert answered(4, 0x5001, b"\x45" + bytes(19) + reply, raw=True) == 70_000
    assert answered(4, 0x5002, b"\x45" + bytes(19) + reply, raw=True) is None


# ---- keys


def validated(*given: dict[str, Any]) -> tuple[entries.Entry, ...]:
    """Return entries."""
    return TypeAdapter(entries.Entries).validate_python(list(given))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"iperf": DOWN, "ping": DOWN}, "exactly one of"),
        ({"iperf": {"from": "home", "to": "home"}}, "the same end"),
        ({"iperf": {**DOWN, "udp": True}}, "needs a `rate`"),
        ({"iperf": {**DOWN, "size": 1000}}, "that of UDP packets"),
        ({"ping": {**DOWN, "interval": "10 us"}}, "at least 1 ms"),
        ({"http": {**DOWN, "size": []}}, "a list of 1 to 10,000 sizes"),
        ({"video": {**DOWN, "rates": [2, 1]}}, "do not rise"),
        ({"ping": DOWN, "start": "2 s", "stop": "1 s"}, "not after its `start`"),
        ({"ping": {**DOWN, "flows": 2}}, "is not a known key"),
    ],
)
def test_what_is_wrong_is_said(entry: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as raised:
        validated(entry)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([{"ping": {"from": "home", "to": "internot"}}], "`applications.0.ping.to` is not an end of this network"),
        ([{"iperf": {**DOWN, "ecn": True}}, {"http": {**DOWN, "ecn": False}}], "is false but true in 'iperf 1'"),
        ([{"ping": DOWN, "name": "a"}, {"ping": DOWN, "name": "a"}], "as that of another entry"),
        ([{"ping": DOWN, "start": "5 s"}], "is not before the end of the run"),
    ],
)
def test_what_only_the_whole_shows(given: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(UserError, match="`applications") as raised:
        entries.check(validated(*given), ["internet", "home"], 5 * 10**12, Document(None, {"applications": given}, None, {}))
    assert words in str(raised.value)


def test_names() -> None:
    made = validated({"ping": DOWN}, {"ping": DOWN, "name": "ping 3"}, {"ping": DOWN}, {"voice": DOWN})
    assert entries.names(made) == ["ping 1", "ping 3", "ping 4", "voice 1"]


def test_what_the_machine_lacks_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(packages.NO_INSTALL, "1")
    with pytest.raises(UserError, match="iperf3 is not on the PATH: apt-get install iperf3"):
        packages.need_program("iperf3", "iperf3")
    with pytest.raises(UserError, match="congestion control nosuch, only .*reno"):
        kernel_tcp.need_control("nosuch")


def test_bad_input_is_refused_before_anything_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that does not exist, on a machine without iperf3 that would install it."""
    asked: list[str] = []
    monkeypatch.setattr(shutil, "which", lambda program: None)
    monkeypatch.setattr(packages, "_may_install", lambda: True)
    monkeypatch.setattr(packages, "_install", lambda program, package: asked.append(program))
    live = stage.Live(Request(ROOT / "scenarios" / "home.yaml", engine="model"), at="nosuch")
    with pytest.raises(UserError, match="--at nosuch: there is no such host"):
        stage._turn(live)
    assert asked == []
