"""`synth` on a tiny module: known cells come out, settings arrive in the hardware, wrong names are said in one sentence."""

import dataclasses
import itertools
import json
import statistics
import threading
import time
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.errors import UserError
from penstock.hardware import expected, library, synth, timing_paths

CORE = "pst_access_edge_core"
EXPECTED = [(module, entry) for path in expected.files() for module, entries in expected.read(path).items() for entry in entries]


def area(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main(["synth", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_area_follows_the_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    small = area(capsys, "pst_skid_buffer", "--set", "width=8")
    large = area(capsys, "skid_buffer", "--set", "Width=72")
    # Two words and two flags; whatever the flags cost, 64 bits more are 128 flip-flops more.
    assert large["ff"] - small["ff"] == 128
    assert small["config"] == {"module": "pst_skid_buffer", "target": "xcup", "parameters": {"Width": 8}}
    assert small["schema"] == synth.SCHEMA
    assert small["fmax_mhz"] == [] and small["bram"] == small["uram"] == small["dsp"] == 0 and small["logic_levels"] >= 1


def test_size_and_units_are_always_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Also of a module of which nothing was set and nothing is expected, and of a design."""
    assert main(["synth", "pst_skid_buffer"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "pst_skid_buffer on xcup, size: Width 32"
    assert {line.split()[0]: line.split(maxsplit=2)[2] for line in said[1:5]} == {
        "LUT": "LUT6, 0 of these as memory", "FF": "flip-flops", "BRAM": "blocks of 36 Kbit", "URAM": "blocks of 288 Kbit",
    }  # fmt: skip
    _, config = synth.plan("access_edge", "xcup", {"config": "tiny_16", "queues": "32"}, [1])
    size = synth.size(config)
    assert (size["config"], size["queues"]) == ("tiny_16", "32") and "32 queues" in size["in all"]
    _, config = synth.plan(CORE, "ecp5", {"queues": "1024"}, [1])
    assert synth.size(config)["Queues"] == "1024" and synth.size(config)["Descriptors"] == "2048" and len(synth.size(config)) > 5


def test_sources_and_results_in_different_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tools see one folder only, and the sources of an installation are not in it: the figures are the same."""
    usual = area(capsys, "pst_skid_buffer", "--set", "width=8", "--target", "ecp5", "--seeds", "1")
    monkeypatch.setattr(synth, "BUILD", tmp_path / "a cache")
    monkeypatch.setattr(synth, "HERE", tmp_path / "a cache")
    assert area(capsys, "pst_skid_buffer", "--set", "width=8", "--target", "ecp5", "--seeds", "1") == usual
    assert list((tmp_path / "a cache").glob("synth/*/sources/blocks/common/rtl/pst_skid_buffer.sv"))
    assert list((tmp_path / "a cache").glob("synth/*/seed1.json"))


def test_place_and_route_gives_a_frequency_for_each_seed(capsys: pytest.CaptureFixture[str]) -> None:
    result = area(capsys, "pst_skid_buffer", "--set", "width=4", "--target", "ecp5", "--seeds", "2")
    assert len(result["fmax_mhz"]) == 2
    assert all(50 < speed < 1000 for speed in result["fmax_mhz"])


def test_seeds_are_placed_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its own speed, whichever ends first; one that fails ends the others and is told of."""
    both = threading.Barrier(2, timeout=30)

    def tool(command: list[str], *_: object) -> None:
        seed = int(command[command.index("--seed") + 1])
        both.wait()
        if seed == 4:
            raise synth.SynthesisError("nothing fits")
        time.sleep(0.3 / seed)
        (tmp_path / f"seed{seed}.json").write_text(json.dumps({"fmax": {"clk_i": {"achieved": 100.0 + seed}}}))

    monkeypatch.setattr(synth, "_tool", tool)
    monkeypatch.setattr(synth, "HERE", tmp_path)
    monkeypatch.setattr(synth.os, "sched_getaffinity", lambda _: {0, 1})
    job = synth.Job("pst_fifo", [], {}, "ecp5", [1, 2])
    assert synth._place(job, tmp_path, lambda _: None) == {"fmax_mhz": [101.0, 102.0]}
    with pytest.raises(synth.SynthesisError, match="nothing fits"):
        synth._place(dataclasses.replace(job, seeds=[3, 4]), tmp_path, lambda _: None)


def test_the_weight_of_time_is_that_of_what_is_expected(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless it is given."""
    jobs: list[synth.Job] = []
    found = {"lut": 1, "ff": 1, "bram": 1, "uram": 0, "dsp": 1, "fmax_mhz": [1.0], "logic_levels": 1, "lut_memory": 0}
    monkeypatch.setattr(synth, "run", lambda job, _: jobs.append(job) or found)
    entry = next(entry for module, entry in EXPECTED if module == CORE and entry.timing_weight)
    size = [word for key, value in entry.parameters.items() for word in ("--set", f"{key.lower()}={value}")]
    assert area(capsys, CORE, "--target", "ecp5", *size)["config"]["timing_weight"] == entry.timing_weight != synth.TIMING_WEIGHT
    assert area(capsys, CORE, "--target", "ecp5", *size, "--timing-weight", "77")["config"]["timing_weight"] == 77
    assert area(capsys, CORE, "--target", "ecp5", "--set", "queues=1024")["config"]["timing_weight"] == synth.TIMING_WEIGHT
    assert [job.timing_weight for job in jobs] == [entry.timing_weight, 77, synth.TIMING_WEIGHT]
    assert main(["synth", CORE, "--timing-weight", "30"]) == 2
    assert "only --target ecp5 is placed" in capsys.readouterr().err


def test_the_weight_of_time_arrives_at_the_placer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    commands: list[list[str]] = []
    tool = synth._tool
    monkeypatch.setattr(synth, "_tool", lambda command, *others: commands.append(list(command)) or tool(command, *others))
    area(capsys, "pst_skid_buffer", "--set", "width=4", "--target", "ecp5", "--seeds", "1", "--timing-weight", "77")
    assert ["--placer-heap-timingweight", "77"] in [list(pair) for pair in itertools.pairwise(commands[-1])]


@pytest.mark.parametrize("module", ["pst_fifo", pytest.param("pst_codel", marks=pytest.mark.slow)])
def test_longest_paths_are_as_long_as_the_clock_says(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Added up from the single delays they must come to the period that nextpnr has found by itself."""
    result = area(capsys, module, "--target", "ecp5", "--seeds", "2", "--paths", "5")
    for speed, groups in zip(result["fmax_mhz"], result["paths"], strict=True):
        assert groups[0]["ns"] == pytest.approx(1000 / speed, abs=0.02)
        assert [group["ns"] for group in groups] == sorted((group["ns"] for group in groups), reverse=True)
        assert all(0 < group["wires_ns"] < group["ns"] and group["levels"] >= 0 and group["paths"] >= 1 for group in groups)
        assert len({(group["start"], group["end"]) for group in groups}) == 5


@pytest.mark.parametrize("order", [1, -1])
def test_groups_of_paths(order: int, tmp_path: Path) -> None:
    """Two bits of a vector come from two others through a LUT, one through a carry, too; a third bit stands still. Cells stand in any
    order: the longer way to a pin is found first or last."""
    wires = [("a_TRELLIS_FF_Q/Q", "x/A", 500), ("a_TRELLIS_FF_Q_1/Q", "y/B", 300), ("x/F", "b_TRELLIS_FF_Q/DI", 100), ("y/FCO", "x/FCI", 0)]
    wires += [("y/F", "b_TRELLIS_FF_Q_1/M", 100)]
    cells = {
        **{f"{name}_TRELLIS_FF_Q{bit}": ["(IOPATH CLK Q (1:2:400) (1:2:400))"] for name in "ab" for bit in ("", "_1", "_2")},
        "x": ["(IOPATH A F (1:2:200) (1:2:150))", "(IOPATH FCI F (1:2:300) (1:2:300))"],
        "y": ["(IOPATH B FCO (1:2:350) (1:2:350))", "(IOPATH B F (1:2:200) (1:2:200))"],
    }
    pins = {"b_TRELLIS_FF_Q": "DI", "b_TRELLIS_FF_Q_1": "M", "b_TRELLIS_FF_Q_2": "DI"}
    lines = [f"(INTERCONNECT {a} {b} ({d}:{d}:{d}) ({d}:{d}:{d}))" for a, b, d in wires]
    for cell, arcs in list(cells.items())[::order]:
        lines += [f"(INSTANCE {cell})", *arcs]
        lines += [f"(SETUPHOLD (posedge {pins[cell]}) (posedge CLK) (0:0:50) (0:0:0))"] if cell in pins else []
    (tmp_path / "x.sdf").write_text("\n".join(lines))
    (group,) = timing_paths.longest(tmp_path / "x.sdf", 3)
    # 400 + 300 + 350 carry + 300 + 100 + 50; the other way into x is 400 + 500 + 200 + 100 + 50, the second bit 400 + 300 + 200 + 100 + 50.
    assert group == timing_paths.Group("a", "b", 1.5, 0.4, 0, 2)


def test_memories_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert area(capsys, "pst_ram_1r1w", "--set", "width=72", "--set", "depth=4096", "--set", "style=ultra")["uram"] == 1
    assert area(capsys, "pst_ram_1r1w", "--set", "width=36", "--set", "depth=1024", "--set", "style=block")["bram"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["skid_bufer"], "did you mean 'skid_buffer'"),
        (["pst_fifo", "--paths", "3"], "only --target ecp5 is placed and routed"),
        (["pst_fifo", "--set", "widht=4"], "did you mean 'width'"),
        (["pst_fifo", "--set", "width"], "KEY=VALUE"),
        (["pst_fifo", "--set", "width=four four"], "is no value for width"),
        (["pst_fifo", "--set", "width=x"], "is no value for width"),
        (["access_edge", "--set", "config=tiny_61"], "did you mean 'tiny_16'"),
    ],
)
def test_wrong_input_is_one_sentence_and_status_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_parameters_out_of_range_are_the_hardwares_to_refuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "pst_fifo", "--set", "depth=0"]) == 1
    assert "Depth" in capsys.readouterr().err


def test_names() -> None:
    assert library.main_module("schedule") == "pst_schedule"
    assert library.main_module("access_edge_core") == "pst_access_edge_core"
    assert library.main_module("pst_fifo") == "pst_fifo"
    assert library.sources_of("pst_access_edge_core")[0].stem == "pst_pkg"
    assert set(library.parameters_of("pst_fifo")) == {"Width", "Depth", "RegisterOutput", "ReadyOnPop", "Style"}
    with pytest.raises(UserError):
        library.main_module("nonsense")


def test_a_design_is_its_named_configuration() -> None:
    job, config = synth.plan("access_edge", "xcup", {"config": "tiny_16", "queues": "32"}, [1])
    assert job.top == "pst_access_edge_tiny_16"
    assert ".Queues       (32)" in job.sources[-1].read_text()
    assert config["name"] == "tiny_16" and config["parameters"] == {"queues": "32"}


def test_two_sizes_of_a_design_at_once() -> None:
    """What is synthesised is what was asked for, also when somebody has asked for another size meanwhile."""
    first, _ = synth.plan("access_edge", "xcup", {"config": "tiny_16", "queues": "32"}, [1])
    other, _ = synth.plan("access_edge", "xcup", {"config": "tiny_16", "queues": "64"}, [1])
    assert ".Queues       (32)" in first.sources[-1].read_text() and ".Queues       (64)" in other.sources[-1].read_text()
    assert first.folder() != other.folder()
    again, _ = synth.plan("access_edge", "xcup", {"config": "tiny_16", "queues": "32"}, [1])
    assert again.folder() == first.folder()


def test_sources_below_a_path_with_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that the tools see, and those that are copied to where they do."""
    home = tmp_path / "a clone"
    for name in ("my parts", "build/synth"):
        (home / name).mkdir(parents=True)
    skid = library.sources_of("pst_skid_buffer")
    inside, outside = home / "my parts" / "a skid buffer.sv", tmp_path / "out side" / skid[0].name
    outside.parent.mkdir()
    outside.write_text(skid[0].read_text())
    inside.write_text(skid[-1].read_text())
    monkeypatch.setattr(synth, "HERE", home)
    monkeypatch.setattr(synth, "BUILD", home / "build")
    job = synth.Job("pst_skid_buffer", [outside, *skid[1:-1], inside], {"Width": 8}, "xcup", [])
    assert synth.run(job)["ff"] > 16


def test_expectations_name_modules_and_parameters_that_exist() -> None:
    assert expected.files()
    for path in expected.files():
        for module, entries in expected.read(path).items():
            assert module in library.modules(), f"{path}: {module}"
            for entry in entries:
                if entry.config:
                    configs.with_overrides(configs.load(entry.config, module.removeprefix("pst_")), entry.parameters)
                else:
                    assert set(entry.parameters) <= set(library.parameters_of(module)), f"{path}: {module}"
                assert (entry.fmax_mhz is None) == (entry.target == "xcup"), f"{path}: {module}"
            sizes = [(entry.target, entry.config, str(entry.parameters)) for entry in entries]
            assert len(set(sizes)) == len(sizes), f"{path}: {module} has a size twice"


def test_the_first_entry_is_the_size_that_is_taken_by_default() -> None:
    job, config = synth.plan(CORE, "ecp5", {}, [1])
    assert config["parameters"] == job.parameters == {"Queues": 512, "Descriptors": 2048}
    assert synth.plan(CORE, "ecp5", {"queues": "1024"}, [1])[0].parameters == {"Queues": 1024, "Descriptors": 2048}
    assert expected.find(CORE, "ecp5", job.parameters) is not None
    assert expected.find(CORE, "ecp5", {"Queues": 1024, "Descriptors": 2048}) is None


def test_an_aqm_goes_by_its_name() -> None:
    """The module of the algorithm is in, not the file that lets everything pass; another one has other sources."""
    job, config = synth.plan(CORE, "xcup", {"aqm": "pie"}, [1])
    assert config["parameters"] == {"Queues": 2048, "Descriptors": 16384, "Aqm": "pie"}
    assert job.parameters == {"Queues": 2048, "Descriptors": 16384, "Aqm": 2, "AqmGuardBytes": 2048}
    names = [path.name for path in job.sources]
    assert "pst_pie.sv" in names and "pst_codel.sv" not in names and names.count("pst_aqm_algorithm.sv") == 1
    assert "pst_pie #(" in job.sources[-1].read_text() and expected.find(CORE, "xcup", config["parameters"]) is not None
    for name, words in (("3", "there is no AQM '3'"), ("cdel", "there is no AQM 'cdel'; did you mean 'codel'")):
        with pytest.raises(UserError, match=words):
            synth.plan(CORE, "xcup", {"aqm": name}, [1])


def test_what_parameters_were_called_goes_on_working() -> None:
    """`levels=4` is a core with a hierarchy, and AQMs went by numbers."""
    for former, now in (
        ({"levels": "4"}, {"hierarchy": "1"}), ({"levels": "1"}, {"hierarchy": "0"}), ({"aqm": "2"}, {"aqm": "pie"}), ({"aqm": "0"}, {}),
    ):  # fmt: skip
        jobs = [synth.plan(CORE, "xcup", settings, [1])[0] for settings in (former, now)]
        assert jobs[0] == jobs[1]
    with pytest.raises(UserError, match="'2' is no value for levels: give 1 or 4"):
        synth.plan(CORE, "xcup", {"levels": "2"}, [1])


def test_what_is_outside_the_tolerance_is_told_by_its_key() -> None:
    entry = expected.Expectation(target="ecp5", lut=1000, ff=100, bram=2.5, uram=0, dsp=1, fmax_mhz=130)
    same = {"lut": 1000, "ff": 100, "bram": 2.5, "uram": 0, "dsp": 1, "fmax_mhz": [100.0, 130.0, 131.0]}
    assert entry.outside(same) == []
    assert entry.outside({**same, "lut": 1050, "ff": 95, "fmax_mhz": [122.3, 122.3, 200.0]}) == []
    assert entry.outside({**same, "lut": 1051, "ff": 94}) == ["lut", "ff"]
    assert entry.outside({**same, "lut": 949, "bram": 3.0, "uram": 1, "dsp": 0}) == ["lut", "bram", "uram", "dsp"]
    assert entry.outside({**same, "fmax_mhz": [122.0, 122.0, 200.0]}) == ["fmax_mhz"]
    assert entry.outside({**same, "fmax_mhz": [122.0]}) == [], "one seed is luck"


def test_check_fails_on_what_is_not_expected(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["pst_skid_buffer", "--set", "width=8"]
    measured = synth.run(synth.plan(arguments[0], "xcup", {"width": "8"}, [])[0])  # once for all that is said of it
    found = {key: measured[key] for key in ("lut", "ff", "bram", "uram", "dsp")}

    def known(**changes: int) -> None:
        entry = expected.Expectation(target="xcup", parameters={"Width": 8}, **{**found, **changes})
        monkeypatch.setattr(expected, "entries", lambda module, target, config=None: [entry] if target == "xcup" else [])

    monkeypatch.setattr(synth, "run", lambda job, progress: measured)
    known()
    assert area(capsys, *arguments, "--check")["outside"] == []
    known(ff=found["ff"] + 2, uram=1)
    assert main(["synth", *arguments]) == 0
    assert "FF is more than 5% off" in capsys.readouterr().out
    assert main(["synth", *arguments, "--check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["outside"] == ["ff", "uram"]
    assert main(["synth", "pst_skid_buffer", "--set", "width=9", "--check"]) == 2
    assert "there is one for Width=8" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "must be a mapping"),
        ("a: [{target: xcup, lut: 1, ff: 1, bram: 0, luts: 2}]", "luts"),
        ("a: [", "not YAML"),
        ("a: [{target: xcup, lut: 1}]", "go together"),
    ],
)
def test_a_file_of_expectations_that_is_not_sound_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "expected.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=words):
        expected.read(path)


def test_what_was_measured_is_expected(tmp_path: Path) -> None:
    """expected.json has the numbers of an entry, by the command that measures it; one without them has none."""
    path = tmp_path / "expected.yaml"
    path.write_text("pst_a: [{target: ecp5, parameters: {Width: 8}, seeds: 4}, {target: xcup}]\npst_b: [{target: xcup, config: tiny}]\n")
    command = "synth pst_a --target ecp5 --set Width=8 --seeds 4"
    found = {"lut": 5, "lut_memory": 0, "ff": 6, "bram": 0.5, "uram": 0, "dsp": 1, "logic_levels": 2, "fmax_mhz": [90.0, 100.0, 80.0, 96.0]}
    path.with_suffix(".json").write_text(json.dumps({"rows": {command: {"values": found}}}))
    placed, plain = expected.read(path)["pst_a"]
    assert placed.figures() == {"lut": 5, "ff": 6, "bram": 0.5, "uram": 0, "dsp": 1, "fmax_mhz": 93.0} and plain.figures() == {}
    assert placed.command("pst_a") == command and plain.command("pst_a") == "synth pst_a --target xcup"
    assert expected.read(path)["pst_b"][0].command("pst_b") == "synth b --target xcup --set config=tiny"
    other = tmp_path / "other.yaml"
    other.write_text("pst_a: [{target: xcup}]")
    other.with_suffix(".json").write_text("{}")
    with pytest.raises(UserError, match=r"other\.json: is no file of results"):
        expected.read(other)


def test_the_core_of_2048_queues_is_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert area(capsys, CORE, "--check")["config"]["parameters"] == {"Queues": 2048, "Descriptors": 16384}


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="184 block RAMs: 16 say which stamps are frozen, 8 hold the sixth bit of exponents")
def test_the_core_of_262144_queues_needs_no_more_memory_than_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    result = area(capsys, CORE, "--set", "queues=262144", "--set", "descriptors=131072", "--check")
    assert result["uram"] <= 416 and result["bram"] <= 173


@pytest.mark.slow
def test_the_core_runs_at_120_mhz_on_ecp5(capsys: pytest.CaptureFixture[str]) -> None:
    result = area(capsys, CORE, "--target", "ecp5", "--seeds", "3", "--check")
    assert statistics.median(result["fmax_mhz"]) >= 120


@pytest.mark.slow
@pytest.mark.timeout(10_800)  # nine times some five minutes of one core
def test_the_core_with_codel_and_a_hierarchy_runs_at_110_mhz_on_ecp5(capsys: pytest.CaptureFixture[str]) -> None:
    settings = [word for setting in ("aqm=codel", "levels=4", "nodes=4") for word in ("--set", setting)]
    result = area(capsys, CORE, "--target", "ecp5", *settings, "--seeds", "9", "--check")
    assert statistics.median(result["fmax_mhz"]) >= 110


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted({module for module, entry in EXPECTED if not entry.config} - {CORE}))
def test_blocks_are_as_expected(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    area(capsys, module, "--check")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("design", "entry"),
    [pytest.param(module.removeprefix("pst_"), entry, id=entry.config) for module, entry in EXPECTED if entry.config],
)
def test_configurations_are_as_expected(design: str, entry: expected.Expectation, capsys: pytest.CaptureFixture[str]) -> None:
    changes = [f"{key}={value}" for key, value in entry.parameters.items()]
    area(capsys, design, *(word for change in [f"config={entry.config}", *changes] for word in ("--set", change)), "--check")
