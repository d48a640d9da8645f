# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Values, tables and plots of sweeps."""

import json
import math
import random
import re
import statistics
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from ruamel.yaml import YAML
from sweeping import GRID, SMALL, Calls, drawn, rows_of, sweep, write

from penstock.command_line.app import main
from penstock.sweeps import curves, spec, table
from penstock.sweeps.make import Request, make
from penstock.sweeps.point import scenario_word
from penstock.sweeps.values import MAX_RUNS, seeds, values
from penstock.testing.testkit import seed


@pytest.fixture
def done(calls: Calls, tmp_path: Path) -> Path:
    """The out folder of a sweep."""
    make(Request(write(tmp_path, GRID), out=tmp_path / "done"))
    return tmp_path / "done"


# ---- values


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (5, (5,)),
        ("imix", ("imix",)),
        ([64, "a", True, 2.5], (64, "a", True, 2.5)),
        ("1..3", (1, 2, 3)),
        ("0.1..0.4 step 0.1", (0.1, 0.2, 0.3, 0.4)),
        ("64..1000 factor 4", (64, 256)),
        ("5..20 Mbit/s step 5", ("5 Mbit/s", "10 Mbit/s", "15 Mbit/s", "20 Mbit/s")),
        (["1..2", 9, "1..3"], (1, 2, 9, 3)),
        ("-1..1", (-1, 0, 1)),
        ("1.5..3 %", ("1.5 %", "2.5 %")),
        ([1, 1.0, "1"], (1, 1.0, "1")),
        ("0-15", ("0-15",)),
        ([[1, 2], {"a": 1}], ([1, 2], {"a": 1})),
        ("10.0.0.1", ("10.0.0.1",)),
        ("5 .. 6", (5, 6)),
        ("../x.pcap", ("../x.pcap",)),
        ("./a..b", ("./a..b",)),
        ("a..b", ("a..b",)),
    ],
)
def test_values(given: Any, found: tuple[Any, ...]) -> None:
    assert [(type(value), value) for value in values(given)] == [(type(value), value) for value in found]


def test_ranges_are_exact_and_bounded() -> None:
    """Every number of a range is the decimal that stands there; one more than allowed is refused, at once."""
    found = values("0.01..1 step 0.01")
    assert found == tuple(n / 100 for n in range(1, 101))
    assert len(values(f"1..{MAX_RUNS}")) == MAX_RUNS
    for text in (f"0..{MAX_RUNS}", "0..999999999999999999", "0.000000000001..9 step 0.000000000001"):
        with pytest.raises(ValueError, match="at most 10,000 runs"):
            values(text)


def test_seeds() -> None:
    assert (
        seeds(3) == (3,)
        and seeds("1..4") == (1, 2, 3, 4)
        and seeds([1, "5..6", "9, 12"]) == (1, 5, 6, 9, 12)
        and seeds("7, 1..2") == (7, 1, 2)
    )


def test_what_a_scenario_reads_is_what_stood_in_the_file() -> None:
    """Words that YAML would take for numbers, flags or lists stay words; random ones, too."""
    print(f"PENSTOCK_SEED={seed()}")
    draw = random.Random(seed())
    words = [
        "5 ms",
        "5",
        "yes",
        "true",
        "null",
        "~",
        "1e3",
        "{a: b}",
        "[1",
        "a: b",
        "# x",
        "x # y",
        "'",
        " x ",
        "0x10",
        "2001-01-01",
        "*a",
        "-",
        "%",
    ]
    words += ["".join(draw.choice("ab 01.:,#'\"{}[]-*&!%@~\\") for _ in range(draw.randint(1, 8))) for _ in range(200)]
    for value in [*filter(str.strip, words), 5, 2.5, 1e-7, True, [1, "2"], {"a": [1, {"b": "5"}]}]:
        assert YAML(typ="safe", pure=True).load(scenario_word(value)) == value


# ---- the table


def text_of(value: Any) -> str:
    """A value of Parquet as a cell of CSV."""
    return "" if value is None else {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def test_csv_and_parquet_hold_the_same(tmp_path: Path) -> None:
    """All kinds of values, and columns that mix them."""
    result = {
        "schema": "x/1",
        "engine": "rtl",
        "seed": 3,
        "packets": {"in": 4, "dropped": {"aqm": 1}},
        "ok": True,
        "share": 0.1,
        "big": 2**63,
        "note": None,
        "queues": [{"name": 'a, "b"', "id": 1, "rate": 5, "latency_ns": {"mean": 1e-9, "p99": None}}],
        "description": "words",
        "scenario": {"x": 1},
        "ports": [{"id": 7, "out": 1}],
        "fmax_mhz": [1, 2],
        "twice": [{"name": "x"}, {"name": "x"}],
        "many": [{"name": f"n{n}"} for n in range(table.MAX_LISTED + 1)],
    }
    flat = table.flatten(result)
    assert set(flat) == {
        "schema",
        "engine",
        "seed",
        "packets.in",
        "packets.dropped.aqm",
        "ok",
        "share",
        "big",
        "note",
        'queues.a, "b".name',
        'queues.a, "b".id',
        'queues.a, "b".rate',
        'queues.a, "b".latency_ns.mean',
        'queues.a, "b".latency_ns.p99',
        "ports.7.id",
        "ports.7.out",
    }
    own = {"error": None, "sources": "abc", "file": "runs/x.json"}
    other = table.flatten({"packets": {"in": 9, "dropped": {}}, "share": 1, "ok": False, "mixed": "a"})
    found = table.build(
        [
            ({"engine": "rtl", "seed": 3, "packets.in": 64, "size": "imix"}, own, flat),
            ({"engine": "rtl", "seed": 4, "packets.in": 65, "size": 60}, own | {"error": "a\nb"}, other),
            ({"engine": "model", "seed": 4, "packets.in": 66, "size": True}, own, {"mixed": 5}),
        ]
    )
    assert found.columns[:8] == ["engine", "seed", "packets.in", "size", "error", "sources", "file", "schema"]
    assert [row.get("result.packets.in") for row in found.rows] == [4, 9, None]
    assert [row.get("packets.dropped.aqm") for row in found.rows] == [1, 0, None]  # reasons that did not occur are 0
    table.write_csv(tmp_path / "table.csv", found)
    table.write_parquet(tmp_path / "table.parquet", found)
    there = parquet.read_table(tmp_path / "table.parquet")
    types = {name: str(there.schema.field(name).type) for name in there.column_names}
    assert (types["seed"], types["share"], types["ok"], types["size"], types["big"], types["note"]) == (
        "int64",
        "double",
        "bool",
        "string",
        "double",
        "double",
    )
    assert types["error"] == "string" and list(types) == found.columns
    written = rows_of(tmp_path)
    assert len(written) == 3 and list(written[0]) == found.columns
    assert written == [{key: text_of(value) for key, value in row.items()} for row in there.to_pylist()]
    assert [row["size"] for row in there.to_pylist()] == ["imix", "60", "true"] and written[0]["share"] == "0.1"


def test_reasons_that_did_not_occur_are_nothing() -> None:
    """Of a queue as of all packets: a mean over seeds has the runs without a loss in it. A long run does not know its queues' reasons."""

    def run(lost: int, reasons: dict[str, int] | None) -> tuple[table.Row, table.Row, table.Row]:
        queue = {"id": 0, "name": "data", "in_packets": 40, "drop_packets": lost, **({"dropped": reasons} if reasons is not None else {})}
        return {"seed": 1}, {}, table.flatten({"packets": {"in": 40, "dropped": reasons or {}}, "queues": [queue]})

    found = table.build([run(0, {}), run(30, {"aqm": 30}), run(2, {"tail": 2}), run(2, None)])
    assert [row.get("queues.data.dropped.aqm") for row in found.rows] == [0, 30, 0, None]
    assert [row.get("queues.data.dropped.tail") for row in found.rows] == [0, 0, 2, None]
    assert [row.get("packets.dropped.aqm") for row in found.rows] == [0, 30, 0, 0]


def test_things_of_one_name_are_known_by_their_ids() -> None:
    flat = table.flatten({"queues": [{"id": 0, "name": "x", "out": 5}, {"id": 7, "name": "x", "out": 6}]})
    assert {key: value for key, value in flat.items() if key.endswith("out")} == {"queues.0.out": 5, "queues.7.out": 6}


def test_tables_of_a_sweep_agree(done: Path) -> None:
    there = parquet.read_table(done / "table.parquet").to_pylist()
    result = json.loads((done / "result.json").read_text())
    assert len(there) == 24 and [{key: value for key, value in row.items() if value is not None} for row in there] == result["rows"]
    assert (
        result["schema"] == "penstock.sweep/1"
        and result["seed"] == [1, 2]
        and result["config"]["set"]["algorithm"] == ["cprra", "islip", "pim"]
    )
    for row, text in zip(there, rows_of(done), strict=True):
        assert {key: text_of(value) for key, value in row.items()} == text


# ---- plots


def test_the_plot_holds_the_numbers_of_the_table(done: Path) -> None:
    """A curve for each algorithm; each point is the mean of its two seeds, with the textbook's interval: t(1) is 12.706."""
    (plot,) = drawn(done)
    rows = rows_of(done)
    assert [curve["name"] for curve in plot["curves"]] == ["cprra", "islip", "pim"] and plot["by"] == "algorithm"
    for curve in plot["curves"]:
        assert curve["x"] == [0.6, 0.7, 0.8, 0.9] and curve["runs"] == [2, 2, 2, 2]
        for rate, mean, error in zip(curve["x"], curve["y"], curve["y_error"], strict=True):
            own = [float(row["latency_slots.mean"]) for row in rows if (row["algorithm"], row["rate"]) == (curve["name"], str(rate))]
            assert len(own) == 2 and mean == pytest.approx(statistics.mean(own), rel=1e-12)
            assert error == pytest.approx(12.7062 * statistics.stdev(own) / math.sqrt(2), rel=1e-9)
    page = (done / "report.html").read_text()
    assert "24 runs, none failed" in page and "latency_slots.mean over rate" in page
    assert not re.search(r'(src|href)="(?!data:)', page.split("<script>")[0] + page.rsplit("<script>", 1)[1])  # nothing is loaded


def table_of(*rows: dict[str, Any], parameters: str) -> table.Table:
    names = parameters.split()
    return table.Table(names, list(dict.fromkeys([*names, *(key for row in rows for key in row)])), list(rows))


def shown(drawing: curves.Drawing) -> dict[str, list[tuple[Any, float, int]]]:
    return {curve.name: list(zip(curve.x, curve.y, curve.runs, strict=True)) for curve in drawing.curves}


def test_nothing_but_seeds_is_averaged() -> None:
    """Of a parameter that the plot does not name each value has its own curve; along a result there is one through all settings."""
    found = table_of(
        *(
            {"load": load, "aqm": aqm, "seed": number, "size": 9, "p99": 10 * load + number + (100 if aqm == "pie" else 0), "bps": 5 - load}
            for aqm in ("codel", "pie")
            for load in (2, 1)
            for number in (1, 3)
        ),
        parameters="seed load aqm size",
    )
    both = {"codel": [(1, 12.0, 2), (2, 22.0, 2)], "pie": [(1, 112.0, 2), (2, 122.0, 2)]}
    assert shown(curves.draw(found, spec.Plot(x="load", y="p99", by=("aqm",)))) == both
    assert shown(curves.draw(found, spec.Plot(x="load", y="p99"))) == both
    assert shown(curves.draw(found, spec.Plot(x="aqm", y="p99"))) == {
        "2": [("codel", 22.0, 2), ("pie", 122.0, 2)],
        "1": [("codel", 12.0, 2), ("pie", 112.0, 2)],
    }
    by_size = curves.draw(found, spec.Plot(x="load", y="p99", by=("size",)))
    assert list(shown(by_size)) == ["size=9, aqm=codel", "size=9, aqm=pie"]
    assert shown(curves.draw(found, spec.Plot(x="bps", y="p99", by=("aqm",)))) == {
        "codel": [(3, 22.0, 2), (4, 12.0, 2)],
        "pie": [(3, 122.0, 2), (4, 112.0, 2)],
    }
    one = curves.draw(found, spec.Plot(x="seed", y="p99", by=("aqm", "load"))).curves[0]
    assert (one.name, one.x, one.y, one.y_error, one.runs) == ("aqm=codel, load=2", [1, 3], [21.0, 23.0], [None, None], [1, 1])


def test_axes_know_units() -> None:
    """Quantities are numbers along an axis, and columns say their unit."""
    found = table_of(
        {
            "target": "5 ms",
            "rate": "1 Mbit/s",
            "size": "1 kB",
            "kind": "imix",
            "run.latency_ns.p99": 5,
            "throughput_bps": 7,
            "latency_ns.count": 3,
            "ok": True,
        },
        {
            "target": "1 s",
            "rate": "500 kbit/s",
            "size": "64",
            "kind": "60",
            "run.latency_ns.p99": None,
            "throughput_bps": 8,
            "latency_ns.count": 3,
            "ok": False,
        },
        parameters="target rate size kind",
    )
    given = {name: curves.axis(found, name) for name in found.columns}
    assert {name: (axis.values, axis.scale, axis.unit) for name, axis in given.items() if axis.numeric} == {
        "target": ([0.005, 1.0], 1, "s"),
        "rate": ([1e6, 5e5], 1, "bit/s"),
        "size": ([1000, 64], 1, "byte"),
        "run.latency_ns.p99": ([5, None], 1e-9, "s"),
        "throughput_bps": ([7, 8], 1, "bit/s"),
        "latency_ns.count": ([3, 3], 1, ""),
        "ok": ([True, False], 1, ""),
    }
    assert given["kind"].values == ["imix", "60"]
    drawing = curves.draw(found, spec.Plot(x="target", y="throughput_bps"))
    assert drawing.left_out == 0 and curves.draw(found, spec.Plot(x="target", y="run.latency_ns.p99")).left_out == 1


def test_a_plot_of_a_column_that_is_not_there(calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told at the first run, and at the end, when table and other plots are there."""
    text = SMALL + "plots:\n  - { x: rate, y: throughput }\n  - { x: rate, y: thruput }\n"
    file, out = write(tmp_path, text), tmp_path / "out"
    assert main(["sweep", str(file), "--out", str(out)]) == 2
    first, last = capsys.readouterr().err.splitlines()
    assert first == """penstock: after the first run a plot names "thruput", which is no column of the table; did you mean 'throughput'?"""
    assert last == f"""penstock: {file}:6: `plots.1.y` names "thruput", which is no column of the table; did you mean 'throughput'?"""
    assert len(rows_of(out)) == 8 and [plot["y"]["name"] for plot in drawn(out)] == ["throughput"]

    for words, options in (
        ('--plot: names "x", which is no column', ["--plot", "x", "throughput"]),
        ('--by: names "x"', ["--plot", "rate", "throughput", "--by", "x"]),
        ("holds words; y needs numbers", ["--plot", "rate", "algorithm"]),
        ("is empty in every row", ["--plot", "rate", "latency_slots.mean_ci95"]),
    ):
        assert main(["sweep", str(write(tmp_path, SMALL)), "--out", str(out), *options]) == 2
        said = capsys.readouterr().err.strip()
        assert words in said and said.count("\n") == 0
    assert len(calls.made) == 8


def test_a_plot_from_the_command_line(calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It comes first; without any, the page says what there is."""
    file, out = write(tmp_path, SMALL), tmp_path / "out"
    assert main(["sweep", str(file), "--out", str(out)]) == 0
    assert (
        drawn(out) == []
        and "No plot was asked for" in (out / "report.html").read_text()
        and "latency_slots.p99" in (out / "report.html").read_text()
    )
    file.write_text(SMALL + "plots: [{ x: rate, y: throughput }]\n")
    sweep(capsys, file, "--out", out, "--plot", "throughput", "latency_slots.p99", "--by", "algorithm", "--by", "rate", "--log", "y")
    first, second = drawn(out)
    assert (first["y"]["name"], first["y"]["log"], first["x"]["log"], second["y"]["log"]) == ("latency_slots.p99", True, False, False)
    assert first["by"] == "algorithm, rate" and len(first["curves"]) == 4 and len(calls.made) == 8
    assert first["y"]["ends"] == [min(y for c in first["curves"] for y in c["y"]), max(y for c in first["curves"] for y in c["y"])]


def test_names_in_the_page_are_no_html(calls: Calls, tmp_path: Path) -> None:
    text = 'description: "</script><b>"\nswitch-sim: { algorithm: oq }\nplots: [{ x: config.rate, y: throughput, title: "<i>" }]\n'
    make(Request(write(tmp_path, text), out=tmp_path / "out"))
    page = (tmp_path / "out/report.html").read_text()
    assert "<b>" not in page.split("<script>")[0] and "<i>" not in page.split("<script>")[0] and "&lt;i&gt;" in page
