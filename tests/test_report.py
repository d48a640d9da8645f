# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Figures and pages: rates and distributions against closed form, and a report that stands alone."""

import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs.access_edge.report import rows
from penstock.designs.access_edge.report import sentences as observations
from penstock.designs.access_edge.result import rates
from penstock.designs.design import Table
from penstock.engine import run
from penstock.engine.result import Departures, distribution
from penstock.paths import ROOT
from penstock.reports import report
from penstock.reports.summary import MAX_ROWS, sentences
from penstock.testing import testkit

CLOCK = 10_000_000
EGRESS = 100_000_000

SCENARIO = """\
name: pages
description: Two queues & a <tag>.
device: {config: demo_64}
duration: 100 ms
queues:
  - {id: 0, name: bulk, rate: 5 Mbit/s, limit_packets: 20}
  - {id: 1, name: voice}
  - {id: 2, name: gate, rate: 0}
traffic:
  - {constant: {queues: bulk, rate: 20 Mbit/s, size: 1000}}
  - {constant: {queues: [voice, gate], rate: 1 Mbit/s, size: 200}}
"""


@pytest.fixture
def folder(tmp_path: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> Path:
    """Return the folder of a result."""
    (tmp_path / "s.yaml").write_text(SCENARIO)

    def add_series(raw: dict[str, Any]) -> dict[str, Any]:
        raw["series"] = {"drops": {reason: np.full(100, n / 100) for reason, n in raw["packets"]["dropped"].items()}}
        return raw

    fake_engine["change"] = add_series
    assert main(["run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    return tmp_path / "out"


def test_distribution() -> None:
    """Nearest rank: every percentile is a value that occurred."""
    values = np.arange(1, 1001)
    assert distribution(values, 2.0) == {"count": 1000, "min": 2, "mean": 1001, "p50": 1000, "p99": 1980, "p99_9": 1998, "max": 2000}
    assert distribution(np.array([7])) == {"count": 1, "min": 7, "mean": 7, "p50": 7, "p99": 7, "p99_9": 7, "max": 7}
    assert distribution(np.array([])) == {"count": 0, "min": None, "mean": None, "p50": None, "p99": None, "p99_9": None, "max": None}


def shaped(arrivals: list[float], lengths: list[int], rate: int, burst: float, rng: np.random.Generator) -> Departures:
    """Return the departures of a token bucket (bits, by its textbook definition) on a line of its own, with some cycles of jitter."""
    tokens, at, free = burst * 8.0, 0.0, 0.0
    cycle, latency = [], []
    for arrival, length in zip(arrivals, lengths, strict=True):
        start = max(arrival, free)
        tokens = min(burst * 8.0, tokens + (start - at) * rate / CLOCK)
        wait = max(0.0, (min(8 * length, burst * 8.0) - tokens) * CLOCK / rate)
        leave = start + wait
        tokens, at = tokens + wait * rate / CLOCK - 8 * length, leave
        free = leave + 8 * length * CLOCK / EGRESS
        cycle.append(int(leave) + 30 + int(rng.integers(0, 3)))
        latency.append(cycle[-1] - int(arrival))
    return Departures(*(np.array(x, dtype=np.int64) for x in (cycle, np.zeros(len(cycle)), lengths, latency)))


@pytest.mark.parametrize("rate", [1_000_000, 5_000_000, 40_000_000])
@pytest.mark.parametrize("burst", [1_600, 15_000])
def test_measured_rate_of_a_backlogged_queue(rate: int, burst: int) -> None:
    """Random sizes, offered at twice the rate: the measured rate is that of the bucket within 0.5 %, though the burst left at once."""
    rng = np.random.default_rng(testkit.seed())
    lengths = rng.integers(60, 1515, 600).tolist()
    arrivals = np.cumsum([8 * length * CLOCK / (2 * rate) for length in lengths]).tolist()
    left = shaped(arrivals, lengths, rate, burst, rng)
    found = rates(left, rate, burst, CLOCK, EGRESS, 30)
    assert found["measured_rate_bps"] == pytest.approx(rate, rel=0.005)
    assert found["backlogged_share"] > 0.9
    assert found["average_rate_bps"] >= found["measured_rate_bps"]


def test_measured_rate_with_pauses() -> None:
    """Bursts of load with idle time between them: only the backlogged time counts, when it is most of the time."""
    rng = np.random.default_rng(testkit.seed())
    arrivals = [block * 600_000.0 + n for block in range(10) for n in range(50)]  # 50 kB each 60 ms, which take 40 ms at 10 Mbit/s
    left = shaped(arrivals, [1000] * 500, 10_000_000, 2000, rng)
    found = rates(left, 10_000_000, 2000, CLOCK, EGRESS, 30)
    assert found["measured_rate_bps"] == pytest.approx(10_000_000, rel=0.005)
    assert 0.6 < found["backlogged_share"] < 0.72
    assert found["average_rate_bps"] == pytest.approx(50 * 8000 / 0.06, rel=0.05)


def test_short_backlogs_that_are_all_burst_do_not_count() -> None:
    """A queue that is backlogged by its line now and then and by its shaper once: what passes within the burst says nothing of the rate."""
    rng = np.random.default_rng(testkit.seed())
    short = [block * 200_000.0 + n for block in range(10) for n in range(8)]
    long = [2_000_000.0 + n for n in range(400)]
    left = shaped(short + long, [1000] * (len(short) + len(long)), 1_000_000, 15_000, rng)
    assert rates(left, 1_000_000, 15_000, CLOCK, EGRESS, 30)["measured_rate_bps"] == pytest.approx(1_000_000, rel=0.005)


def test_measured_rate_of_a_queue_that_is_not_backlogged() -> None:
    """It is what is offered, whatever is configured; and with no configured rate too."""
    rng = np.random.default_rng(testkit.seed())
    left = shaped([20_000.0 * n for n in range(100)], [250] * 100, 10_000_000, 3000, rng)
    for rate in (10_000_000, None):
        assert rates(left, rate, 3000, CLOCK, EGRESS, 30)["measured_rate_bps"] == pytest.approx(1_000_000, rel=0.001)


@pytest.mark.parametrize("count", [0, 1, 9])
def test_no_rate_of_a_few_frames(count: int) -> None:
    """A few departures have no rate."""
    arrays = [np.arange(count, dtype=np.int64)] * 4
    assert rates(Departures(*arrays), 10**6, 0, CLOCK, EGRESS, 0)["measured_rate_bps"] is None


def test_report_stands_alone(folder: Path) -> None:
    """No element loads anything, text from the scenario is escaped, and all placeholders are filled."""
    page = (folder / "report.html").read_text()
    own = page.split("<script>")[0] + page.split("</script>")[-2].split("<script>")[1]
    assert not re.search(r"(src|href)=\"(?!data:)", own) and "http" not in own
    assert "Two queues &amp; a &lt;tag&gt;." in page and not re.search(r"@[A-Z_]+@", own)
    assert page.count("</script>") == 2
    for words in (
        'Rate of each <span class="word">queue</span>',
        "Latency over time",
        "Latency distribution",
        "Drops by reason",
        "queue full (packets)",
        "bulk",
        "closed",
    ):
        assert words in own


def test_report_data(folder: Path) -> None:
    """The numbers behind the plots agree with the result."""
    page = (folder / "report.html").read_text()
    data = json.loads(re.search(r"const data = (\{.*\});\n", page)[1])  # type: ignore[index]
    result = json.loads((folder / "result.json").read_text())
    (queues,) = data["sets"]
    assert [q["name"] for q in queues["items"]] == ["bulk", "voice"]
    step = data["time"][1] - data["time"][0]
    for shown, queue in zip(queues["items"], result["queues"], strict=False):
        assert len(shown["rate"]) == len(data["time"])
        assert sum(shown["rate"]) * step / 8 == pytest.approx(queue["out_bytes"], rel=0.05)
        assert max(shown["points"]["y"]) == pytest.approx(queue["latency_ns"]["max"] / 1e9, rel=0.001)
        assert np.all(np.diff(shown["cdf"]) >= 0)
    assert np.interp(0.5, data["shares"], data["cdf"]) == pytest.approx(result["latency_ns"]["p50"] / 1e9, rel=0.02)
    assert data["drops"][0]["name"] == "queue full (packets)" and sum(data["drops"][0]["count"]) > 0


def test_subscribers_have_a_column(folder: Path) -> None:
    """When the queues have any: where there is no hierarchy nobody wonders about an empty column."""
    heads = [re.findall(r"<th(?: [^>]*)?>(.*?)</th>", (folder / "report.html").read_text())]
    path = folder / "result.json"
    result = json.loads(path.read_text())
    result["queues"][0]["subscriber"] = "house <7>"
    path.write_text(json.dumps(result))
    assert main(["report", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    heads.append(re.findall(r"<th(?: [^>]*)?>(.*?)</th>", page))
    assert heads[1] == ["queue", "subscriber", *heads[0][1:]] and heads[0][:2] == ["queue", "configured"]
    lines = [re.findall(r"<td[^>]*>(.*?)</td>", line) for line in re.findall(r"<tr>(<td>.*?)</tr>", page)]
    assert lines[0][1] == "house &lt;7&gt;" and {len(line) for line in lines} == {len(heads[1])}


def test_report_is_rebuilt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`report DIR` makes the same page from result.json and series.npz."""
    before = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    assert main(["report", str(folder)]) == 0
    assert (folder / "report.html").read_bytes() == before
    assert "bulk" in capsys.readouterr().out
    assert main(["report", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "pages"


def test_cards_follow_the_series(folder: Path, tmp_path: Path) -> None:
    """A card stands in the page if, and only if, the series have what it draws; all packets in the plot are not called chosen."""
    result, series = report.read_result(folder), report.read_series(folder)
    series = {key: array for key, array in series.items() if key not in ("late_ns", "late_share", "drops_of", "drops_of_ids", "frames")}
    late, drops_of, chosen = (re.compile(words) for words in ('id="lateness"', 'id="drops-of"', "evenly chosen"))

    def found(**changed: Any) -> list[bool]:
        page = tmp_path / "cards.html"
        report.write_html(page, result, {**series, **changed})
        return [bool(words.search(page.read_text())) for words in (late, drops_of, chosen)]

    shown = len(series["cloud"])
    none = np.zeros((0,))
    curve = {"late_ns": np.array([1.0, 2.0]), "late_share": np.array([1.0, 0.5])}
    lost = np.zeros((1, len(series["bytes_out"])))
    assert found() == [False, False, False]
    assert found(**curve) == [True, False, False]
    assert found(drops_of=lost, drops_of_ids=np.array([0])) == [False, True, False]
    assert found(drops_of=lost, drops_of_ids=np.array([0]), drop_reasons=none) == [False, False, False]
    assert found(frames=np.array([shown])) == [False, False, False]
    assert found(frames=np.array([shown, 1])) == [False, False, True]


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("result.json", b"{", "is not a result"),
        ("result.json", b"[]", "schema"),
        ("result.json", b'{"schema": "penstock.run/0"}', "penstock.run/1"),
        ("result.json", b"\xff\xfe", "is not a result"),
        ("result.json", b"[" * 100_000, "is not a result"),
        ("result.json", b'{"schema": "penstock.run/1"}', "not whole"),
        ("result.json", b'{"schema": "penstock.run/1", "conservation": 3}', "not whole"),
        ("series.npz", b"junk", "cannot be read"),
        ("series.npz", b"PK\x03\x04 a zip file that is cut", "cannot be read"),
        ("series.npz", None, "holds no series.npz"),
        ("result.json", None, "holds no result.json"),
    ],
)
def test_damaged_results(folder: Path, capsys: pytest.CaptureFixture[str], file: str, content: bytes | None, words: str) -> None:
    """A damaged folder gets one line and status 2, and its page stays."""
    before = (folder / "report.html").read_bytes()
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    assert main(["report", str(folder)]) == 2
    captured = capsys.readouterr()
    assert words in captured.err and len(captured.err.splitlines()) == 1 and captured.out == ""
    assert (folder / "report.html").read_bytes() == before


def test_packed_series_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A few kB that would be as many GB are refused before they are unpacked, and so is an array that claims to be large."""
    with (folder / "series.npz").open("wb") as file:
        np.savez_compressed(file, queues=np.zeros(10_000_000))
    assert (folder / "series.npz").stat().st_size < 200_000
    monkeypatch.setattr(report, "MAX_SERIES_BYTES", 50_000_000)
    assert main(["report", str(folder)]) == 2
    assert "it holds 80 MB, allowed: 50" in capsys.readouterr().err
    head = np.lib.format.magic(1, 0) + struct.pack("<H", 118)
    head += f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({10**14},), }}".ljust(117).encode() + b"\n"
    with zipfile.ZipFile(folder / "series.npz", "w") as packed:
        packed.writestr("queues.npy", head)
    assert main(["report", str(folder)]) == 2
    assert "series.npz: cannot be read: " in capsys.readouterr().err


def test_series_file(folder: Path) -> None:
    """The arrays are those that docs/result.md lists."""
    with np.load(folder / "series.npz", allow_pickle=False) as file:
        series = {key: file[key] for key in file.files}
    points, queues = series["bytes_out"].shape
    assert queues == len(series["queues"]) == len(series["names"]) == len(series["rates_bps"]) == 3
    assert series["latency_mean_ns"].shape == series["latency_max_ns"].shape == (points, queues)
    assert series["cdf_ns"].shape == (len(series["cdf_share"]), queues + 1)
    assert series["drops"].shape == (points, len(series["drop_reasons"])) and series["cloud"].shape[1] == 3
    assert series["rates_bps"].tolist() == [5_000_000, -1, 0]
    described = (ROOT / "docs" / "result.md").read_text()
    assert all(f"`{key}`" in described for key in series)


def test_every_key_is_described(folder: Path) -> None:
    """docs/result.md has each key of result.json and of its queues."""
    result = json.loads((folder / "result.json").read_text())
    described = (ROOT / "docs" / "result.md").read_text()
    assert [key for key in (*result, *result["queues"][0]) if f"`{key}`" not in described] == []


def test_words(folder: Path) -> None:
    """What was seen, in words."""
    result = json.loads((folder / "result.json").read_text())
    seen = observations(result)
    assert any("bulk was held to 5" in line for line in seen) and any("gate" in line for line in seen)
    assert any(line.startswith("Queued") for line in sentences(result)), "the closed gate holds packets"
    assert any("queue full" in line for line in sentences(result))


def test_words_of_many_queues(folder: Path) -> None:
    """What is said of the queues in the list is not said of all; one that waited for its rate is not one that passed by."""
    result = json.loads((folder / "result.json").read_text())
    bulk = next(q for q in result["queues"] if q["name"] == "bulk")
    free = bulk | {"configured_rate_bps": None, "backlogged_share": 0.0, "drop_packets": 0}
    few = bulk | {"out_packets": 9}
    result["queues"] = [kind | {"id": n} for n, kind in enumerate([bulk] * 5 + [free] * 3 + [few])]
    result["queues_listed"] = result["queues_with_traffic"] = 9
    shaped, others = observations(result)[:2]
    assert "5 queues were held" in shaped and "3 queues passed by" in others
    result["queues_with_traffic"] = 10_000
    shaped, others = observations(result)[:2]
    assert "5 of the 9 busiest queues were held" in shaped and "3 of the 9 busiest queues passed by" in others


def test_rows_of_many_queues(folder: Path) -> None:
    """Eleven fit; of more the ten busiest are shown."""
    result = json.loads((folder / "result.json").read_text())
    queue = result["queues"][0]
    result["queues"] = [queue | {"id": n, "in_bytes": n} for n in range(11)]
    assert [q["id"] for q in rows(result, MAX_ROWS)] == list(range(11))
    result["queues"] = [queue | {"id": n, "in_bytes": n} for n in range(12)]
    assert [q["id"] for q in rows(result, MAX_ROWS)] == list(range(11, 1, -1))


def test_what_is_long_breaks_and_names_do_not() -> None:
    """A cell of many words takes two lines, so that its table does not scroll; a name with hyphens takes one, also in the summary."""
    table = Table(
        "Levels", "", ("subscriber", "configured"), [("a-name-of-twenty-letters", "15 Mbit/s, then closed and others"), ("b", "1")]
    )
    cells = re.findall(r"<td( class=\"long\")?>", report.table_card(table))
    assert cells == ["", ' class="long"', "", ""]
    assert report._whole("most of ben-download (-5)") == 'most of <span class="whole">ben-download</span> (-5)'


def test_the_curve_of_all_packets_is_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a run is too long to keep each frame: then the frames of the queues with a series are kept, and these are faster."""
    spec = {
        "device": {"config": "demo_64"},
        "duration": "20 ms",
        "queues": [{"id": 0, "rate": "2 Mbit/s", "limit_packets": 50}, {"id": 1}],
        "traffic": [{"constant": {"queues": [0, 1], "rate": "8 Mbit/s", "size": 200}}],
        "report": {"series": [1]},
    }
    (tmp_path / "two.yaml").write_text(json.dumps(spec))
    found = []
    for most in (10**9, 10):
        monkeypatch.setattr("penstock.designs.access_edge.job.MAX_KEPT_FRAMES", most)
        run.carry_out(run.Request(tmp_path / "two.yaml", out=tmp_path / str(most), engine="model"))
        found.append(np.load(tmp_path / str(most) / "series.npz")["cdf_ns"])
    (exact, own), (binned, same) = ((cdf[:, -1], cdf[:, 0]) for cdf in found)
    assert np.array_equal(own, same) and exact[len(exact) // 2] > 10 * own.max()
    assert np.all(exact <= binned) and np.all(binned <= exact * (1 + 1 / 256) + 1e9 / 10e6)
