# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`compare`, `export` and `configs`: figures of results are those of result.json and series.npz, and what is wrong is one sentence."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.reports import compare

SCENARIO = """\
name: both
device: {config: demo_64}
duration: 100 ms
queues:
  - {id: 0, name: bulk, rate: 5 Mbit/s, limit_packets: 20}
  - {id: 1, name: voice}
traffic:
  - {constant: {queues: bulk, rate: 20 Mbit/s, size: 1000}}
  - {constant: {queues: voice, rate: 1 Mbit/s, size: 200}}
"""


@pytest.fixture
def folders(tmp_path: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> list[Path]:
    """Return the folders of two results: at 5 and at 10 Mbit/s."""
    (tmp_path / "s.yaml").write_text(SCENARIO)

    def add_series(raw: dict[str, Any]) -> dict[str, Any]:
        raw["series"] = {"drops": {reason: np.full(100, n / 100) for reason, n in raw["packets"]["dropped"].items()}}
        return raw

    fake_engine["change"] = add_series
    found = [tmp_path / name for name in ("slow", "fast")]
    for folder, rate in zip(found, ("5 Mbit/s", "10 Mbit/s"), strict=True):
        assert main(["run", str(tmp_path / "s.yaml"), "--out", str(folder), "--set", f"queues.bulk.rate={rate}"]) == 0
    capsys.readouterr()
    return found


def results(folders: list[Path]) -> list[dict[str, Any]]:
    return [json.loads((folder / "result.json").read_text()) for folder in folders]


def test_compare(folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each figure of both, and how far the second is from the first."""
    page = tmp_path / "comparison.html"
    assert main(["compare", *map(str, folders), "--out", str(page.parent), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row["values"] for row in found["rows"]}
    both = results(folders)
    assert found["schema"] == "penstock.compare/1" and found["results"] == ["slow", "fast"]
    assert rows["dropped"] == [sum(of["packets"]["dropped"].values()) for of in both]
    assert rows["latency, p99"] == [of["latency_ns"]["p99"] for of in both]
    assert rows["bulk: rate"] == [next(q for q in of["queues"] if q["name"] == "bulk")["measured_rate_bps"] for of in both]
    assert main(["compare", *map(str, folders), "--out", str(page.parent)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if line.startswith("bulk: rate")]
    assert line.split() == ["bulk:", "rate", "5", "Mbit/s", "10", "Mbit/s", "+100.0", "%"]
    text = page.read_text()
    data = json.loads(re.search(r"const data = (\{.*\});\n", text)[1])  # type: ignore[index]
    rate, latency, drops = data["plots"]
    assert [curve["name"] for curve in rate["curves"]] == ["slow", "fast"]
    step = rate["curves"][0]["x"][1] - rate["curves"][0]["x"][0]
    for curve, of in zip(rate["curves"], both, strict=True):
        assert sum(curve["y"]) * step / 8 == pytest.approx(of["bytes"]["out"], rel=0.02)
    for curve, of in zip(latency["curves"], both, strict=True):
        assert np.interp(0.5, curve["y"], curve["x"]) == pytest.approx(of["latency_ns"]["p50"] / 1e9, rel=0.05)
    assert len(drops["curves"]) == 2 and not re.search(r"@[A-Z_]+@", text.split("<script>")[0])


def test_compare_says_what_was_lost_or_failed(folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Packets that a full FIFO at the input lost are a row; a failed and an interrupted run are named, in terminal, page and JSON."""
    page = tmp_path / "comparison.html"
    (slow, fast) = results(folders)
    assert main(["compare", *map(str, folders), "--out", str(page.parent), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["failures"] == [[], []] and found["interrupted"] == [False, False]
    assert "lost at the input" not in [row["name"] for row in found["rows"]] and 'class="failures"' not in page.read_text()

    slow |= {"ingress_lost": {"packets": 133_037, "bytes": 8_514_368}, "interrupted": True}
    fast |= {"lost": 3}
    for folder, result in zip(folders, (slow, fast), strict=True):
        (folder / "result.json").write_text(json.dumps(result))
    assert main(["compare", *map(str, folders), "--out", str(page.parent), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["name"]: row["values"] for row in found["rows"]}["lost at the input"] == [133_037, None]
    words = "3 packets never came out while younger ones of their queue did."
    assert found["failures"] == [[], [words]] and found["interrupted"] == [True, False]
    assert main(["compare", *map(str, folders), "--out", str(page.parent)]) == 0
    said = capsys.readouterr().out
    for text in (said, page.read_text()):
        assert f"fast: {words}" in text and "slow: It was interrupted: its figures are up to there." in text


def test_queues_of_one_name_are_both_there(tmp_path: Path, fake_engine: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """A given name that another queue goes by, too, has the id with it: in results, and in comparisons of older ones."""
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("name: bulk", "name: queue 1").replace(", name: voice", "").replace(
        "queues: bulk", "queues: 0").replace("queues: voice", "queues: 1"))  # fmt: skip
    out = tmp_path / "out"
    assert main(["run", str(tmp_path / "s.yaml"), "--out", str(out)]) == 0
    (result,) = results([out])
    assert [(row["id"], row["name"]) for row in result["queues"]] == [(0, "queue 1 (queue 0)"), (1, "queue 1")]

    result["queues"][0]["name"] = "queue 1"
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "result.json").write_text(json.dumps(result))
    (tmp_path / "older" / "series.npz").write_bytes((out / "series.npz").read_bytes())
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "older"), str(out), "--out", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["name"]: row["values"] for row in found["rows"]}
    assert rows["queue 1 (queue 0): dropped"] == [result["queues"][0]["drop_packets"]] * 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["slow"], "takes 2 to 8 folders of results, not 1"),
        (["slow", "slow"], "is there twice"),
        (["slow", "nowhere"], "there is no such folder"),
        (["slow"] * 9, "takes 2 to 8"),
    ],
)
def test_what_cannot_be_compared(folders: list[Path], given: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence and status 2."""
    assert main(["compare", *(str(folders[0].parent / name) for name in given)]) == 2
    captured = capsys.readouterr()
    assert words in captured.err and len(captured.err.splitlines()) == 1 and captured.out == ""


def test_compare_says_what_cannot_be_written(folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *map(str, folders), "--out", str(tmp_path / "no")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_export(folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every queue and every interval, in plain numbers."""
    assert main(["export", str(folders[0]), "--out", str(tmp_path / "csv"), "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    (result, _) = results(folders)

    def read(name: str) -> list[dict[str, str]]:
        with (tmp_path / "csv" / name).open(newline="") as file:
            return list(csv.DictReader(file))

    queues = read("queues.csv")
    assert files["queues.csv"] == len(queues) == len(result["queues"])
    for row, queue in zip(queues, result["queues"], strict=True):
        assert row["name"] == queue["name"] and float(row["latency_ns.p99"]) == queue["latency_ns"]["p99"]
        assert int(row["drop_packets"]) == queue["drop_packets"]
    over_time = read("over_time.csv")
    assert sum(int(row["bytes_out bulk"]) for row in over_time) == result["queues"][0]["out_bytes"]
    with np.load(folders[0] / "series.npz") as series:
        assert len(over_time) == files["over_time.csv"] == len(series["bytes_out"])
        assert float(over_time[1]["time_s"]) == pytest.approx(float(series["interval_ns"]) / 1e9)
        assert [float(row["cdf_ns all"]) for row in read("latency_cdf.csv")] == series["cdf_ns"][:, -1].tolist()
    summary = {row["key"]: row["value"] for row in read("summary.csv")}
    assert int(summary["packets.in"]) == result["packets"]["in"] and "scenario" not in summary


def test_export_has_the_curves_of_connections(folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They end with the traffic, before the device is empty: the last cells are empty, and what is there is exact."""
    with np.load(folders[0] / "series.npz") as series:
        arrays = dict(series)
    points = len(arrays["bytes_out"])
    arrays["tcp_names"], arrays["tcp_cwnd"] = np.array(["a", "b"]), np.arange(2 * (points - 3)).reshape(-1, 2)
    np.savez_compressed(folders[0] / "series.npz", **arrays)
    assert main(["export", str(folders[0]), "--out", str(tmp_path / "csv")]) == 0
    capsys.readouterr()
    with (tmp_path / "csv" / "over_time.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == points
    assert [row["tcp_cwnd b"] for row in rows] == [str(2 * n + 1) for n in range(points - 3)] + [""] * 3


def test_export_of_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path)]) == 2
    assert "holds no result.json" in capsys.readouterr().err


@pytest.mark.parametrize(("out", "words"), [("s.yaml", "is a file, not a folder"), ("s.yaml/csv", "cannot be written: not a directory")])
def test_export_where_nothing_can_be(folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str, words: str) -> None:
    assert main(["export", str(folders[0]), "--out", str(tmp_path / out)]) == 2
    assert capsys.readouterr().err.strip() == f"penstock: --out {tmp_path / out}: {words}"


@pytest.mark.parametrize("command", ["export", "compare", "report"])
def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    path = str(tmp_path / "none")
    assert main([command, *([path] * (1 + (command == "compare")))]) == 2
    assert capsys.readouterr().err.strip() == f"penstock: {path}: there is no such folder; give the folder of a result"


def test_configs(capsys: pytest.CaptureFixture[str]) -> None:
    """All there are, with their sizes; of one design its own."""
    assert main(["configs"]) == 0
    text = capsys.readouterr().out
    assert [name for name in configs.names() if not re.search(rf"^  {name} ", text, re.MULTILINE)] == []
    assert main(["configs", "access_edge", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["configs"]}
    assert list(rows) == configs.names("access_edge")
    assert rows["tree_64"]["sizes"].startswith("64 queues, 16 subscribers, 4 nodes, 2 ports, ")
    assert rows["tree_64"]["queues"] == 64 and rows["tree_64"]["engines"] == ["rtl", "model"]
    assert main(["configs", "acess_edge"]) == 2
    assert "did you mean 'access_edge'?" in capsys.readouterr().err


def test_long_curves_are_means_and_end_where_they_end() -> None:
    """Of 1,003 points which go up and down each time the curve shows the mean; what has been counted up to then is so at each point."""
    x = np.arange(1003.0)
    (means, last) = (compare._curve("one", x, y, means) for y, means in ((x % 2, True), (2 * x, False)))
    for curve in (means, last):
        assert compare.POINTS <= len(curve["x"]) == len(curve["y"]) <= 2 * compare.POINTS
    assert max(abs(value - 0.5) for value in means["y"][:-1]) <= 0.11 and means["x"][0] == 2
    assert last["x"][-1] == 1002 and all(b == 2 * a for a, b in zip(last["x"], last["y"], strict=True))
    gap = compare._curve("gap", x[:5], np.array([1, np.nan, 3, np.inf, 5]))
    assert (gap["x"], gap["y"]) == ([0, 2, 4], [1, 3, 5])
