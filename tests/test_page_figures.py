# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`figures`: tables and numbers of pages from result files, and a check that is red for everything that has drifted.

Most tests have a project of their own, with one topic and one page, and measure with a stand-in; the last are about the project's own.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import cache
from penstock.command_line.app import main
from penstock.errors import UserError
from penstock.figures import check, definitions, measure, pages, results, sources, templates
from penstock.figures.definitions import Row
from penstock.figures.measure import Done
from penstock.figures.results import Measured
from penstock.figures.work import Work
from penstock.hardware import expected, synth, synth_flow

TOPIC = """
tables:
  speed:
    command: bench {bench} --set queues={queues}{more}
    rows:
      - {queues: [16, 2048]}
      - {queues: 4, more: " --set packets=9"}
    columns:
      - {head: queues, show: "{queues:,}"}
      - {head: in, with: {bench: queue}, show: "{rate.in:.2f}"}
      - {head: wait, command: "bench late --set queues={queues}", show: "{wait:,} to {most:k .1f}"}
    keys: [cycles]
    equal: {"bench queue --set queues=16 --set engine=rtl": bench queue --set queues=16}
values:
  changes: {command: "bench late --set queues=16", show: "{most:M .1f} million"}
"""
PAGE = """# Speed

Some <!-- figure small.changes -->4 million<!-- / --> of them.

<!-- figures small.speed -->
| old | table |
<!-- end -->

The end.
"""


def project(folder: Path, topic: str = TOPIC, page: str = PAGE) -> Path:
    (folder / "docs/figures").mkdir(parents=True)
    (folder / "docs/figures/small.yaml").write_text(topic)
    (folder / "docs/speed.md").write_text(page)
    return folder


class Bench:
    """Stands in for the commands: numbers that follow from the words of each."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.drift: dict[str, Any] = {}
        self.settings = {"seed": 1}
        self.engine = "model"

    def __call__(self, rows: list[Row], _costs: dict[str, float], ended: dict[str, Done]) -> None:
        for row in rows:
            self.ran.append(row.command)
            queues = int(row.command.split("queues=")[1].split()[0])
            found = {"rate": {"in": 1 / queues}, "wait": 1000 * queues, "most": 1_500_000, "cycles": queues, **self.drift}
            values = {key: templates.find(found, key) for key in row.keys}
            ended[row.command] = Done(row, Measured(values, 1, dict(self.settings), self.engine, {}, 2.0))


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "WRITING", tmp_path / "writing")
    monkeypatch.setattr(cache, "root", lambda: tmp_path / "cache")
    monkeypatch.setattr(sources, "digest", lambda words: "the same")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose numbers are measured and written."""
    folder = project(tmp_path / "project")
    Work(None, root=folder).write(Bench(), only_missing=False)
    return folder


def checked(root: Path, bench: Bench | None = None, slow: bool = True) -> dict[str, Any]:
    return Work(None, root=root).compare(bench or Bench(), slow)


def change(path: str, was: str, now: str) -> Callable[[Path], None]:
    def planted(root: Path) -> None:
        text = (root / path).read_text()
        assert was in text
        (root / path).write_text(text.replace(was, now, 1))

    return planted


def test_tables_and_numbers_of_sentences_are_written(root: Path) -> None:
    page = (root / "docs/speed.md").read_text()
    assert page == (
        "# Speed\n\nSome <!-- figure small.changes -->1.5 million<!-- / --> of them.\n\n<!-- figures small.speed -->\n\n"
        "| queues | in | wait |\n|---|---|---|\n| 16 | 0.06 | 16,000 to 1500.0 |\n| 2,048 | 0.00 | 2,048,000 to 1500.0 |\n"
        "| 4 | 0.25 | 4,000 to 1500.0 |\n\n<!-- end -->\n\nThe end.\n"
    )
    found = json.loads((root / "docs/figures/small.json").read_text())["rows"]
    assert found["bench queue --set queues=2048"] == {
        "values": {"rate.in": 1 / 2048, "cycles": 2048}, "seed": 1, "settings": {"seed": 1}, "engine": "model", "cpu_seconds": 2.0,
    }  # fmt: skip
    # One line a command, so that changes of different numbers merge.
    assert len((root / "docs/figures/small.json").read_text().splitlines()) == len(found) + 2 == 9


def test_what_was_not_measured_is_said(tmp_path: Path) -> None:
    folder = project(tmp_path)

    def two(rows: list[Row], costs: dict[str, float], ended: dict[str, Done]) -> None:
        Bench()(rows[:2], costs, ended)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Work(None, root=folder).write(two, only_missing=False)
    page = (folder / "docs/speed.md").read_text()
    assert "| 16 | 0.06 | 16,000 to 1500.0 |\n| 2,048 | not measured | not measured |" in page
    report = checked(folder)
    assert not report["red"] and len(report["not_measured"]) == 5
    bench = Bench()
    Work(None, root=folder).write(bench, only_missing=True)
    assert len(bench.ran) == 5 and not checked(folder)["not_measured"]


def test_what_changes_while_it_is_measured_is_not_undone(tmp_path: Path) -> None:
    """A call that takes hours writes into the definitions, results and pages of its end."""
    folder, bench = project(tmp_path), Bench()

    def meanwhile(rows: list[Row], costs: dict[str, float], ended: dict[str, Done]) -> None:
        bench(rows, costs, ended)
        change("docs/figures/small.yaml", "[16, 2048]", "[16, 32]")(folder)
        other = Bench()
        other.drift = {"wait": 3}
        Work("small.changes", again=True, root=folder).write(other, only_missing=False)
        change("docs/speed.md", "The end.", "The very end.")(folder)

    Work("small.speed", root=folder).write(meanwhile, only_missing=False)
    page = (folder / "docs/speed.md").read_text()
    assert "| 32 | not measured |" in page and "| 4 | 0.25 |" in page and "very end" in page and "2,048" not in page
    assert "2048" not in (folder / "docs/figures/small.json").read_text()


def test_a_number_in_a_sentence_may_go_over_the_end_of_a_line(root: Path) -> None:
    change("docs/speed.md", "1.5 million", "1.5\nmillion")(root)
    assert not checked(root)["red"]
    Work(None, root=root).write(Bench(), only_missing=True)
    assert "1.5\nmillion" in (root / "docs/speed.md").read_text()


def test_a_definition_may_wait_for_its_first_measurement(root: Path) -> None:
    """No page needs to show it until then."""
    change("docs/figures/small.yaml", "values:", "values:\n  later: {command: bench later --set queues=7, show: '{most}'}")(root)
    report = checked(root)
    assert not report["red"] and report["not_measured"] == ["bench later --set queues=7"]
    Work("small.later", root=root).write(Bench(), only_missing=False)
    assert checked(root)["findings"] == ["small.later: no page shows it"]


def test_nothing_has_drifted(root: Path) -> None:
    report = checked(root)
    assert not report["red"] and not report["left_out"] and len(report["measured"]) == 7


@pytest.mark.parametrize(
    ("planted", "words"),
    [
        (change("docs/speed.md", "| 2,048 | 0.00 |", "| 2,048 | 0.01 |"), "speed.md:5: small.speed is not what"),
        (change("docs/speed.md", "1.5 million", "1.6 million"), "speed.md:3: small.changes is not what"),
        (change("docs/speed.md", "\n| 4 | 0.25 | 4,000 to 1500.0 |", ""), "it has more or fewer lines"),
        (change("docs/speed.md", "figures small.speed", "figures small.sped"), "no table is called 'small.sped'"),
        (change("docs/speed.md", "<!-- end -->", ""), "2 marks of figures begin and 1 end"),
        (change("docs/speed.md", "figure small.changes", "fig"), "small.changes: no page shows it"),
        (change("docs/figures/small.json", '"cycles": 2048', '"cycles": 2047'), "cycles was 2047, is 2048"),
        (change("docs/figures/small.json", '{"seed": 1}', '{"seed": 1, "aqm": "pie"}'), "setting aqm was pie, is None"),
        (change("docs/figures/small.json", '"rate.in": 0.25, ', ""), "has no rate.in"),
        (change("docs/figures/small.yaml", "[16, 2048]", "[16]"), "no longer in small.yaml"),
        (change("docs/figures/small.yaml", "[cycles]", "[cycles, wait]"), "has no wait"),
        (change("docs/figures/small.json", '=16": {"values": {"rate.in": 0.0625', '=16": {"values": {"rate.in": 0.07'), "must be as with"),
    ],
)
def test_each_drift_is_found(planted: Callable[[Path], None], words: str, root: Path) -> None:
    """A number in a page or a result file, a setting, a row or a key too many or too few."""
    planted(root)
    report = checked(root)
    said = [*report["findings"], *(f"{entry['key']} was {entry['was']}, is {entry['is']}" for entry in report["different"])]
    assert report["red"] and any(words in sentence for sentence in said), said


@pytest.mark.parametrize("change_", ["value", "setting", "engine"])
def test_a_measurement_that_gives_something_else_is_found(change_: str, root: Path) -> None:
    bench = Bench()
    if change_ == "value":
        bench.drift = {"wait": 7}
    elif change_ == "setting":
        bench.settings = {"seed": 1, "queues": 5}
    else:
        bench.engine = "other"
    report = checked(root, bench)
    assert report["red"] and {entry["key"] for entry in report["different"]} == {
        "value": {"wait"}, "setting": {"setting queues"}, "engine": {"engine"},
    }[change_]  # fmt: skip


def test_the_cheapest_are_checked_without_slow() -> None:
    """As many as fit, each with the time of its process; never what compiles hardware, rates, or what was not measured."""
    rows = {name: Row(name, ["x"]) for name in ("a", "b", "c", "rtl", "rate", "new")}
    rows["rate"].rates = definitions.Rates(keys=["x"], reference="a", tolerance=0.1)
    took = {"a": 12.0, "b": 2.0, "c": 10.0, "rtl": 0.1, "rate": 0.1}
    measured = {name: Measured({}, engine="rtl" if name == "rtl" else "model", cpu_seconds=seconds) for name, seconds in took.items()}
    assert check.quick(rows, measured) == ["b", "c"]
    measured["a"].cpu_seconds = 11.0
    assert check.quick(rows, measured) == ["b", "c", "a"]


def test_rates_are_compared_by_their_ratio_alone() -> None:
    old = Measured({"speed": 100.0, "cycles": 5}, ratios={"speed": 0.5})
    assert results.differences(old, Measured({"speed": 250.0, "cycles": 5}, ratios={"speed": 0.45}), 0.2) == []
    assert [entry["key"] for entry in results.differences(old, Measured({"speed": 100.0, "cycles": 5}, ratios={"speed": 0.3}), 0.2)] == [
        "ratio.speed"
    ]
    assert [entry["key"] for entry in results.differences(old, Measured({"speed": 100.0, "cycles": 6}, ratios={"speed": 0.5}), 0.2)] == [
        "cycles"
    ]


def test_rates_have_the_reference_of_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it is not what was asked for."""
    rates = definitions.Rates(keys=["speed"], reference="bench a", tolerance=0.1)
    everything = {name: Row(name, ["speed"], rates) for name in ("bench a", "bench b")}
    speeds = {"bench a": 200.0, "bench b": 50.0}
    monkeypatch.setattr(measure, "run", lambda row: Measured({"speed": speeds[row.command]}))
    ended: dict[str, Done] = {}
    rows = measure.with_references([everything["bench b"]], everything)
    measure.measure(rows, 2, lambda command, done: None, ended)
    assert {command: done.measured.ratios for command, done in ended.items() if done.measured} == {
        "bench a": {"speed": 1.0}, "bench b": {"speed": 0.25},
    }  # fmt: skip
    assert measure.known(everything["bench b"]) == ended["bench b"].measured


def test_what_is_kept_is_known_until_a_source_or_a_key_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Row("bench a", ["speed"])
    monkeypatch.setattr(measure, "run", lambda row: Measured({"speed": 3}))
    assert measure.known(row) is None
    measure.measure([row], 1, lambda command, done: None, {})
    assert measure.known(row) == Measured({"speed": 3}, sources=sources.brief("the same"))
    assert measure.known(Row("bench a", ["speed", "more"])) is None
    monkeypatch.setattr(sources, "digest", lambda words: "another")
    assert measure.known(row) is None
    monkeypatch.setattr(sources, "digest", lambda words: "the same")
    next(cache.root().glob("facts/figures/*/*.json")).write_text("{")
    assert measure.known(row) is None


def test_a_result_of_the_same_sources_is_taken_as_it_is_on_any_machine(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the cheapest, which are measured each time; nor after a source changed; nor with --again."""
    work = Work(None, root=root)
    (file,) = work.files.values()
    for measured in file.values():
        measured.sources = sources.brief("the same")
    results.write(root / "docs/figures/small.json", file)
    cheap = check.quick(work.rows, file)
    assert len(cheap) == 7
    monkeypatch.setattr(check, "quick", lambda rows, measured: cheap[:2])

    bench = Bench()
    report = Work(None, root=root).compare(bench, slow=True)
    assert not report["red"] and sorted(bench.ran) == sorted(cheap[:2]) and len(report["known"]) == 5
    again = Bench()
    assert not Work(None, again=True, root=root).compare(again, slow=True)["red"] and len(again.ran) == 7
    monkeypatch.setattr(sources, "digest", lambda words: "another")
    drifted = Bench()
    drifted.drift = {"wait": 7}
    assert Work(None, root=root).compare(drifted, slow=True)["red"] and len(drifted.ran) == 7


def test_what_is_measured_while_a_source_is_edited_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    row, ended = Row("bench a", ["speed"]), {}

    def edited(row: Row) -> Measured:
        monkeypatch.setattr(sources, "digest", lambda words: "another")
        return Measured({"speed": 3})

    monkeypatch.setattr(measure, "run", edited)
    measure.measure([row], 1, lambda command, done: None, ended)
    assert ended["bench a"].measured == Measured({"speed": 3}) and measure.known(row) is None


def test_a_command_that_fails_is_a_failure_and_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    ended: dict[str, Done] = {}
    rows = [Row("bench queu", ["cycles"]), Row("bench queue --set queues=0 --set engine=model", ["cycles"])]
    measure.measure(rows, 1, lambda command, done: None, ended)
    assert "did you mean 'queue'" in ended["bench queu"].failure and "--set queues=0: give" in ended[rows[1].command].failure
    assert not list(cache.root().glob("facts/figures/*/*.json"))


def test_formats() -> None:
    values = {"a": {"b": [1000, 2]}, "s": [141.14, 136.5, 138.0], "share": 0.871, "n": 2_500_000}
    for text, words in (
        ("{a.b.0:,} {a.b.1}", "1,000 2"), ("{s:median .0f}", "138"), ("{s:of-list .1f}", "141.1, 136.5, 138.0"), ("{share:.1%}", "87.1 %"),
        ("{n:M .1f}", "2.5"), ("{share:inverse .2f}", "1.15"), ("{s:least} {s:most}", "136.5 141.14"),
    ):  # fmt: skip
        assert templates.filled(text, lambda key: templates.find(values, key)) == words
    for wanted in ("Q", "tons .1f"):
        with pytest.raises(UserError):
            templates.formatted(3, wanted)
    with pytest.raises(KeyError):
        templates.find(values, "a.b.2")


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("bench late --set queues={queues}", "bash late --set queues={queues}", "begins with none of bench, synth, run, paper"),
        ("{bench}", "{banch}", "no row has 'banch'"),
        ("show:", "shows:", "columns.0.show: Field required"),
        ("changes:", "speed:", "speed is a table and a value"),
        ("tables:", "tables: [", "not YAML"),
        (": bench queue --set queues=16}", ": bench queue}", "no command of the table"),
    ],
)
def test_wrong_definitions_name_the_file(was: str, now: str, words: str, tmp_path: Path) -> None:
    assert was in TOPIC
    with pytest.raises(UserError, match="small.yaml") as error:
        Work(None, root=project(tmp_path, TOPIC.replace(was, now)))
    assert words in str(error.value)


def test_a_wrong_name_suggests_the_nearest(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part, whole = Work("small.changes", root=root).rows, Work("small", root=root).rows
    assert part.keys() < whole.keys()
    assert all(part[command].keys == whole[command].keys for command in part), "the other table shows more of the same command"
    with pytest.raises(UserError, match=r"did you mean 'small\.speed'"):
        Work("small.sped", root=root)
    assert main(["figures", "cor"]) == 2
    assert "did you mean 'core'" in capsys.readouterr().err
    assert main(["figures", "--slow"]) == 2


def test_the_numbers_of_our_pages_still_hold(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Those that take seconds, measured again; and every page shows what the result files have."""
    monkeypatch.undo()
    status = main(["figures", "--check", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert not status, [*report["findings"], *report["different"], *report["failed"]]
    assert len(report["measured"]) + len(report["known"]) >= 10


@pytest.mark.slow
def test_all_numbers_of_our_pages_still_hold(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.undo()
    status = main(["figures", "--check", "--slow", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert not status, [*report["findings"], *report["different"], *report["failed"]]


def test_every_page_is_looked_at() -> None:
    """A page with marks that `pages` does not list would never be written."""
    listed = set(pages.pages())
    rooms = ("*.md", "docs/**/*.md", "blocks/**/*.md", "designs/**/*.md", "engine/**/*.md", "p4/**/*.md", "scenarios/**/*.md")
    every = [path for room in rooms for path in pages.ROOT.glob(room)]
    assert {path for path in every if "<!-- figure" in path.read_text(encoding="utf-8")} <= listed and len(every) > len(listed)


def test_a_command_depends_on_what_it_reaches() -> None:
    """What a hierarchy has in it changes nothing in the memory's figures or the deadline port's; a scenario, nothing in another's."""

    def reached(command: str) -> set[str]:
        return set(sources._rooms_of(sources._begin_of(command.split())))

    port = {f"blocks/{name}" for name in ("common", "count", "deadline", "memory", "stream")} | {"designs/deadline_port"}
    assert reached("bench memory") == {"blocks/memory", "blocks/common"}
    assert reached("bench skipfifo") == {"blocks/deadline", "blocks/memory", "blocks/stream", "blocks/common"}
    assert reached("run scenarios/deadline_64.yaml") == port | {"scenarios/deadline_64.yaml"}
    home = reached("run scenarios/first_light.yaml")
    assert {"blocks/hierarchy", "blocks/aqm", "designs/access_edge", "scenarios/captures/first_light.pcap"} <= home
    assert not {"blocks/deadline", "scenarios/deadline_64.yaml"} & home
    assert {"p4/router_codel.json", "designs/p4_switch", "scenarios/p4_codel.yaml"} <= reached("bench p4")
    assert reached("paper massive-qos-queueing") == reached("bench no-such") == set()  # all may count


def test_what_a_synthesis_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weight of its own entry, and what Yosys is told; not how a report looks."""
    monkeypatch.undo()
    words = ["synth", "pst_access_edge_core", "--target", "ecp5", "--set", "Queues=512", "--set", "Descriptors=2048", "--seeds", "3"]
    usual = sources.digest(words)
    find = expected.find
    monkeypatch.setattr(expected, "find", lambda *a: (entry := find(*a)) and entry.model_copy(update={"timing_weight": 77}))
    assert sources.digest(words) != usual
    monkeypatch.undo()
    monkeypatch.setattr(synth, "__file__", __file__)
    assert sources.digest(words) == usual
    monkeypatch.setattr(synth_flow, "__file__", __file__)
    assert sources.digest(words) != usual


def test_a_struct_that_nothing_names_changes_no_synthesis(tmp_path: Path) -> None:
    """One more in a package, or a member of it, is of other modules; one that is named counts, and so does all else."""
    package, module = tmp_path / "pst_a_pkg.sv", tmp_path / "pst_a.sv"
    module.write_text("module pst_a import pst_a_pkg::*; (input used_t s_i); endmodule\n")

    def digest(used: str = "logic a;", more: str = "", rest: str = "") -> str:
        package.write_text(f"package pst_a_pkg;\n  typedef struct packed {{ {used} }} used_t;\n{more}\n{rest}\nendpackage\n")
        sources._said.cache_clear()
        return sources._of_rtl([package, module])

    usual = digest()
    assert (
        digest(more="  typedef struct packed { logic b; } other_t;")
        == digest(more="typedef struct packed { logic [3:0] b; } other_t;")
        == usual
    )
    assert digest(used="logic [1:0] a;") != usual != digest(rest="typedef enum logic { A, B } letters_e;")
    both = "  typedef struct packed { used_t a; } other_t;\n typedef struct packed { other_t b; } third_t;"
    assert digest(more=both) != usual  # other_t is named, if only by one that is not
