"""The table of the control law: its error by integers, at every count; that each count finds its entry; and the command."""

import json
import re
import subprocess
import sys
from math import isqrt
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.p4 import FOLDER, law
from penstock.paths import ROOT

COUNTS = range(1, 65_536)


def worst_by_squares(interval_us: int, steps: list[int]) -> float:
    """The largest share by which a step is off: a step s is above I / sqrt(n) by the share e when s^2 n = I^2 (1 + e)^2."""
    exact = interval_us << 16
    worst = 0.0
    for count in COUNTS:
        ratio = isqrt((steps[count] ** 2 * count << 128) // exact**2)  # (1 + e) 2^64
        worst = max(worst, abs(ratio / 2**64 - 1))
    return worst


@pytest.mark.parametrize(
    ("interval_us", "bits", "limit"), [(1_000, 8, 0.001), (100_000, 8, 0.001), (2**24 - 1, 8, 0.001), (7_777, 5, 0.01)]
)
def test_error_at_every_count(interval_us: int, bits: int, limit: float) -> None:
    made = law.law(interval_us, bits)
    worst = worst_by_squares(interval_us, law.steps(made.entries))
    assert worst < limit
    assert float(made.worst_error) == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("bits", [3, 8])
def test_every_count_matches_one_entry(bits: int) -> None:
    """Prefixes are aligned, do not overlap, and leave nothing out; small counts have an entry of their own."""
    entries = law.table(100_000, bits)
    assert entries[0].first == 1 and entries[-1].last == 65_535
    for before, entry in zip(entries, entries[1:], strict=False):
        assert entry.first == before.last + 1
        assert entry.first % 2 ** (16 - entry.prefix) == 0
    assert all(entry.first == entry.last for entry in entries[: 2 ** (bits + 1) - 1])
    assert entries[0].step == 100_000 << 16


def longest_prefix(entries: list[tuple[int, int, int]], count: int) -> int:
    """What a table of (value, prefix length, step) gives."""
    found = [entry for entry in entries if entry[0] >> 16 - entry[1] == count >> 16 - entry[1]]
    return max(found, key=lambda entry: entry[1])[2]


def test_the_committed_file_is_fresh(capsys: pytest.CaptureFixture[str]) -> None:
    assert law.stale() is None
    assert main(["p4", "law", "--check"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("program", ["port_codel", "router", "test/codel_trace"])
def test_the_compiled_table_is_the_law(program: str) -> None:
    """What the compiler made of it: keys, prefixes and values, read from the JSON."""
    document = json.loads((FOLDER / f"{program}.json").read_text())
    (table,) = [table for pipeline in document["pipelines"] for table in pipeline["tables"] if table["name"].endswith("law.law")]
    entries = []
    for entry in table["entries"]:
        (key,) = entry["match_key"]
        assert key["match_type"] == "lpm"
        entries.append((int(key["key"], 16), key["prefix_length"], int(entry["action_entry"]["action_data"][0], 16)))
    expected = law.table(100_000, 8)
    assert sorted(entries) == [(entry.first, entry.prefix, entry.step) for entry in expected]
    steps = law.steps(expected)
    for count in (1, 2, 255, 256, 511, 512, 1023, 4096, 32_767, 32_768, 65_535):
        assert longest_prefix(entries, count) == steps[count]


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["p4", "law", "--json", "--interval", "1ms", "--interval", "20 ms"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["schema"], result["seed"]) == ("penstock.p4_law/1", None)
    assert result["config"] == {"bits": 8, "intervals_us": [1_000, 20_000]}
    assert [table["interval_us"] for table in result["tables"]] == [1_000, 20_000]
    assert result["worst_error"] == max(table["worst_error"] for table in result["tables"]) < 0.001
    out = tmp_path / "law.p4"
    assert main(["p4", "law", "--interval", "20ms", "--bits", "5", "--out", str(out)]) == 0
    text = out.read_text()
    assert "#define CODEL_INTERVAL_US 20000" in text
    assert len(re.findall(r": is\(", text)) == len(law.table(20_000, 5))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--interval", "999us"], "--interval 999us: must be whole microseconds from 1 ms to 16,777,215 us"),
        (["--interval", "17s"], "--interval 17s: must be whole microseconds"),
        (["--interval", "1.0000001ms"], "must be whole microseconds"),
        (["--interval", "soon"], "--interval soon: must be a time"),
        (["--interval", "1ms", "--interval", "2ms", "--out", "x.p4"], "a file has one interval"),
        (["--check", "--interval", "1ms"], "--check: is about the committed file"),
        (["--out", "."], "is a folder"),
    ],
)
def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["p4", "law", *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


def test_the_command_is_quick_to_start() -> None:
    """Its help loads nothing heavy."""
    code = "import sys; from penstock.command_line import app; sys.exit('penstock.p4' in ' '.join(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={"PYTHONPATH": str(ROOT / "src")}, check=False).returncode == 0
