# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock plot`: axes have units, curves differ and are seen where they coincide; every packet as Parquet; small pages; queue lengths."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.engine.result import Departures, in_device
from penstock.plots import draw, figure, sources
from penstock.plots.figure import Figure, Line

SCENARIO = """
name: {name}
device: {{ config: demo_64 }}
duration: 200 ms
drain: true
queues:
  - {{ id: 0, name: slow, rate: 2 Mbit/s, limit_packets: 20 }}
  - {{ id: 1, name: fast, rate: 20 Mbit/s }}
traffic:
  - {{ poisson: {{ queues: slow, rate: 4 Mbit/s, size: 500 }} }}
  - {{ poisson: {{ queues: fast, rate: {load} Mbit/s, size: 1000 }} }}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, `light` with every packet and `heavy`."""
    here = tmp_path_factory.mktemp("plots")
    for name, load, more in (("light", 10, ["--packets"]), ("heavy", 19, [])):
        (here / f"{name}.yaml").write_text(SCENARIO.format(name=name, load=load))
        assert main(["run", str(here / f"{name}.yaml"), "--engine", "model", "--out", str(here / name), *more]) == 0
    return here


def text_of(path: Path) -> str:
    """Return the words of an SVG file, in their order."""
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text()))


def test_figures_of_a_run(folder: Path, tmp_path: Path) -> None:
    assert main(["plot", str(folder / "light"), "--out", str(tmp_path / "a"), "--format", "svg,pdf"]) == 0
    names = {path.stem for path in (tmp_path / "a").glob("*.svg")}
    assert names == {"throughput", "delay", "delay_cdf", "queue_length", "utilisation", "drops"}
    assert {path.stem for path in (tmp_path / "a").glob("*.pdf")} == names
    for name, words in (
        ("throughput", ("Time (s)", "Throughput (Mbit/s)", "slow", "fast")),
        ("delay", ("Time (s)", "Delay (ms)", "slow", "fast")),
        ("delay_cdf", ("Share of packets", "all packets")),
        ("queue_length", ("Queue length (packets)",)),
        ("utilisation", ("Utilisation (%)",)),
        ("drops", ("Dropped in an interval (packets)",)),
    ):
        found = text_of(tmp_path / "a" / f"{name}.svg")
        assert all(word in found for word in words), (name, found)
    assert main(["plot", str(folder / "light"), "--out", str(tmp_path / "b")]) == 0
    for path in (tmp_path / "b").iterdir():
        assert path.read_bytes() == (tmp_path / "a" / path.name).read_bytes(), "the same numbers make the same bytes"


def test_figures_of_several_runs(folder: Path, tmp_path: Path) -> None:
    assert main(["plot", str(folder / "light"), str(folder / "heavy"), "--out", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"throughput.svg", "delay_cdf.svg"}
    for path in tmp_path.iterdir():
        assert "light" in text_of(path) and "heavy" in text_of(path)


def test_of_a_sweep_and_of_a_paper(folder: Path, tmp_path: Path) -> None:
    """Figures are kept beside the page: error bars, logarithmic axes, units in brackets, maps."""
    cards: list[dict[str, Any]] = [
        {"title": "Figure 7", "plots": [{
            "title": "(a) uniform", "x": {"title": "input rate"}, "y": {"title": "latency, us", "type": "log"},
            "traces": [{"type": "scatter", "mode": "lines+markers", "name": "this switch", "x": [0.1, 0.2], "y": [1.0, None]}],
        }]},
        {"title": "Figure 9", "plots": [{
            "x": {"title": "input rate"}, "y": {"title": "FIFO depth"},
            "traces": [{
                "type": "heatmap", "x": ["0.1", "0.2"], "y": ["1", "2"], "z": [[0, 1], [2, None]], "colorbar": {"title": {"text": "%"}},
            }],
        }]},
        {"title": "a table", "table": [["a"]]},
    ]  # fmt: skip
    figure.write(tmp_path / figure.FILE, figure.of_cards(cards))
    assert main(["plot", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"figure_7_a_uniform.svg", "figure_9.svg"}
    assert "latency (us)" in text_of(tmp_path / "out" / "figure_7_a_uniform.svg")
    assert "FIFO depth" in text_of(tmp_path / "out" / "figure_9.svg")
    (tmp_path / "sweep.yaml").write_text(
        f"run: {folder / 'light.yaml'}\nengines: model\nseeds: 1..2\nset: {{ traffic.1.poisson.rate: [5 Mbit/s, 15 Mbit/s] }}\n"
        "plots: [{ x: traffic.1.poisson.rate, y: queues.fast.latency_ns.p99, log: y }]\n"
    )
    assert main(["sweep", str(tmp_path / "sweep.yaml"), "--out", str(tmp_path / "swept")]) == 0
    (drawn,) = figure.read(tmp_path / "swept")
    assert (drawn.x, drawn.y, drawn.log) == ("traffic.1.poisson.rate (bit/s)", "queues.fast.latency_ns.p99 (s)", "y")
    (line,) = drawn.lines
    assert line.x == [5e6, 15e6] and line.error and all(half for half in line.error)
    table = (tmp_path / "swept" / "table.csv").read_text().splitlines()
    column = table[0].split(",").index("queues.fast.latency_ns.p99")
    assert line.y[0] == pytest.approx(sum(float(row.split(",")[column]) for row in table[1:3]) / 2 / 1e9)
    assert main(["plot", str(tmp_path / "swept")]) == 0 and len(list((tmp_path / "swept" / "plots").iterdir())) == 1


def test_curves_that_coincide_are_seen() -> None:
    """The first is drawn widest; those that only cross are drawn alike."""
    x = np.linspace(0, 1, 50)
    lines = [(x, 2 * x), (x, 2 * x + 0.001), (x, 1 - x), (x[:20], 2 * x[:20])]
    assert draw.coinciding(lines, False) == [1, 0, 0, 0]
    assert draw.coinciding([], False) == []


def test_an_own_figure_of_each_kind(tmp_path: Path) -> None:
    """Words at the axis, bars, points, gaps, nothing at all; what a log axis cannot show is left out."""
    pictures = [
        Figure("bars", "b", "Port", "Packets", [Line(name, ["a", "b", "c"], [1, None, 3], "bars") for name in "xy"]),
        Figure("points", "p", "Time (s)", "Delay (us)", [Line("p", [0, 1, 2], [0.0, 1.0, 10.0], "points", [0.1, None, 0.2])], "xy"),
        Figure("many", "m", "x (s)", "y (s)", [Line(f"curve {n}", [0, 1], [n, 1]) for n in range(10)]),
        Figure("halves", "h", "Queue", "s", [Line("mean", ["a", "b", "c"], [None, 2, 3], "bars", [None, 0.5, 0.25])]),
        Figure("labels", "l", "x (s)", "y (s)", [Line("P = 2", [1, 2, 3], [1, None, 3], labels=["S = 1", "S = 2", "S = 4"])], "y"),
        Figure("empty", "e", "x (s)", "y (s)", [Line("none", [0, 1], [None, None])]),
    ]
    files = draw.files(pictures, tmp_path, ["svg"])
    assert [path.name for path in files] == [f"{name}.svg" for name in ("bars", "points", "many", "halves", "labels", "empty")]
    found = text_of(files[2])
    assert all(f"curve {n}" in found for n in range(10))
    # Error bars are as high as they should be, at the bars that are there; so are words.
    paths = re.findall(r'<path d="([^"]*)" clip-path[^>]*style="fill: none; stroke: #333333', files[3].read_text())
    heights = [abs(float(a) - float(b)) for text in paths for a, b in [re.findall(r"[ML] [\d.]+ ([\d.]+)", text)]]
    assert len(heights) == 2 and heights[0] == pytest.approx(2 * heights[1], rel=0.01)
    assert "S = 1" in text_of(files[4]) and "S = 4" in text_of(files[4]) and "S = 2" not in text_of(files[4])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "there is no such folder"),
        (["light", "--format", "png"], "'png' is no format; there are svg, pdf"),
        (["light", "--width", "0.5"], "must be 2 to 20 inches"),
    ],
)
def test_what_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["plot", str(folder / arguments[0]), *arguments[1:]]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert words in said


def test_every_packet_as_parquet(folder: Path) -> None:
    from pyarrow import parquet

    table = parquet.read_table(folder / "light" / "packets.parquet").to_pydict()
    result = json.loads((folder / "light" / "result.json").read_text())
    fates = np.array(table["fate"])
    left = np.flatnonzero(fates == "left")
    assert len(left) == result["packets"]["out"] and sum(value or 0 for value in table["bytes"]) == result["bytes"]["out"]
    for reason, count in result["packets"]["dropped"].items():
        assert (fates == reason).sum() == count > 10
    assert np.all(np.diff(table["time_ns"]) >= 0)
    latencies = np.array([table["latency_ns"][row] for row in left])
    assert latencies.max() == pytest.approx(result["latency_ns"]["max"], abs=0.01)
    assert latencies.mean() == pytest.approx(result["latency_ns"]["mean"], abs=0.01)
    assert all(table["latency_ns"][row] is None for row in np.flatnonzero(fates != "left"))
    assert not (folder / "heavy" / "packets.parquet").exists()


def test_queue_lengths_are_counted() -> None:
    """Against a count in every cycle; the last interval ends with the run."""
    draws = np.random.default_rng(5)
    arrive = np.sort(draws.integers(0, 900, 200))
    leave = arrive + draws.integers(1, 80, 200)
    order = np.argsort(leave)
    left = Departures(leave[order], np.zeros(200, dtype=np.int64), np.ones(200, dtype=np.int64), (leave - arrive)[order])
    cycles, interval = 950, 100
    held = [int(((arrive <= at) & (leave > at)).sum()) for at in range(cycles)]
    expected = [np.mean(held[begin : begin + interval]) for begin in range(0, cycles, interval)]
    assert in_device(left, interval, cycles, 10) == pytest.approx(expected)


def test_mean_queue_lengths_obey_littles_law(folder: Path) -> None:
    (lengths,) = [of for of in sources.of_folders([folder / "light"]) if of.name == "queue_length"]
    result = json.loads((folder / "light" / "result.json").read_text())
    for line, row in zip(lengths.lines, result["queues"], strict=True):
        series = np.array(line.y, dtype=float)
        held = row["out_packets"] * row["latency_ns"]["mean"] / 1e9  # packet seconds
        assert series.mean() * result["device_seconds"] == pytest.approx(held, rel=0.02)


def test_lengths_and_use_are_in_the_report(folder: Path) -> None:
    """As curves, which are those of the figures, and as columns of the table of queues."""
    page = (folder / "light" / "report.html").read_text()
    data = json.loads(re.search(r"^const data = (.*);$", page, re.MULTILINE)[1])  # type: ignore[index]
    lengths, use = data["own"][-2:]
    (drawn,) = [of for of in sources.of_folders([folder / "light"]) if of.name == "queue_length"]
    assert [curve["name"] for curve in lengths["curves"]] == ["slow", "fast"] == [curve["name"] for curve in use["curves"]]
    for curve, line in zip(lengths["curves"], drawn.lines, strict=True):
        assert curve["y"] == pytest.approx(line.y, rel=1e-4)
    heads, slow, fast = (re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)[-3:])
    assert heads[-2:] == ["of its rate", "packets, mean"]
    mean = np.array(drawn.lines[0].y, dtype=float).mean()
    assert 95 < float(slow[-2].removesuffix(" %")) < 105 and float(slow[-1]) == pytest.approx(mean, rel=0.05)
    assert 40 < float(fast[-2].removesuffix(" %")) < 60


def test_small_pages_share_the_library(folder: Path) -> None:
    names = ("light", "heavy")
    large = [(folder / name / "report.html").stat().st_size for name in names]
    assert main(["report", *(str(folder / name) for name in names), "--small"]) == 0
    assert (folder / "plotly.js").stat().st_size > 1_000_000
    for name, before in zip(names, large, strict=True):
        text = (folder / name / "report.html").read_text()
        assert len(text) < 500_000 < before and 'script.src = "../plotly.js"' in text
    assert main(["report", *(str(folder / name) for name in names), "--json"]) == 2
    assert main(["report", str(folder / "light")]) == 0
    assert (folder / "light" / "report.html").stat().st_size == large[0]


def test_queues_as_a_table(folder: Path, tmp_path: Path) -> None:
    """Their mean length and use are columns; of more queues than the result lists each has a row with its counters."""
    assert main(["export", str(folder / "light"), "--out", str(tmp_path / "light")]) == 0
    rows = list(csv.DictReader((tmp_path / "light" / "queues.csv").open()))
    slow, fast = rows
    assert 0.95 < float(slow["utilisation"]) < 1.05 and 0.4 < float(fast["utilisation"]) < 0.6
    assert float(slow["mean_packets"]) > 5 > 1 > float(fast["mean_packets"])
    assert any(head.startswith("queue_packets ") for head in (tmp_path / "light" / "over_time.csv").open().readline().split(","))
    many = tmp_path / "many.yaml"
    many.write_text(
        "device: { config: edge_2048 }\nduration: 2 ms\n"
        'traffic: [{ constant: { queues: "0-1499", pick: round_robin, rate: 20 Gbit/s, size: 500 } }]\n'
    )
    assert main(["run", str(many), "--engine", "model", "--out", str(tmp_path / "many")]) == 0
    result = json.loads((tmp_path / "many" / "result.json").read_text())
    assert len(result["queues"]) == 1000 and result["queues_with_traffic"] == 1500
    assert main(["export", str(tmp_path / "many"), "--out", str(tmp_path / "csv")]) == 0
    rows = list(csv.DictReader((tmp_path / "csv" / "queues.csv").open()))
    assert [int(row["id"]) for row in rows] == list(range(1500))
    for key in ("in", "out", "drop"):
        total = result["packets"][key] if key != "drop" else sum(result["packets"]["dropped"].values())
        assert sum(int(row[f"{key}_packets"]) for row in rows) == total, key
