"""Parts: manifests read and refused, setting words, and units on their way to the hardware."""

import os
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from penstock.command_line.app import main
from penstock.errors import UserError
from penstock.hardware import part_model
from penstock.parts import registry
from penstock.parts.manifest import Part
from penstock.testing.testkit import seed

STEP = {"name": "step", "unit": "time", "bits": 18, "default": "5 ms", "words": "Waiting time from which packets are marked."}
GAIN = {"name": "gain", "parameter": "Gain", "unit": "gain_hz", "bits": 16, "default": 0.125, "words": "How fast it follows."}
SOUND = {
    "kind": "aqm",
    "words": "Marks what waited longer than a step.",
    "sees": "departures",
    "rtl": {"module": "own_aqm", "files": ["rtl/own_aqm.sv"]},
    "model": {"header": "model/own_aqm.hpp", "class": "own::Aqm"},
    "settings": [STEP],
    "numbers": [GAIN],
}


@pytest.fixture(autouse=True)
def nothing_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(registry.VARIABLE, "")


def written(folder: Path, **changes: Any) -> Path:
    """Return a folder with a manifest and the files that the sound one names."""
    for file in ("rtl/own_aqm.sv", "model/own_aqm.hpp"):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
    with (folder / registry.FILE).open("w") as file:
        YAML(typ="safe").dump({key: value for key, value in {**SOUND, **changes}.items() if value is not None}, file)
    return folder


def test_a_part_of_others_is_found(tmp_path: Path) -> None:
    ours = set(registry.parts("aqm"))
    registry.add_folder(written(tmp_path / "own_aqm"))
    part = registry.find("aqm", "own_aqm")
    assert set(registry.parts("aqm")) - ours == {"own_aqm"} and "own_aqm" not in registry.parts("scheduler")
    assert part.folder == tmp_path / "own_aqm" and part.rtl_files == [part.folder / "rtl/own_aqm.sv"]
    assert (part.model_class, part.rtl.module, part.shown) == ("own::Aqm", "own_aqm", "own_aqm")
    assert os.environ[registry.VARIABLE] == str(part.folder)
    registry.add_folder(part.folder)  # once more changes nothing
    assert os.environ[registry.VARIABLE] == str(part.folder)


def test_the_variable_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = written(tmp_path / "one"), written(tmp_path / "other")
    monkeypatch.setenv(registry.VARIABLE, f"{one}:{other}::{one}")
    assert {"one", "other"} <= set(registry.parts("aqm"))


def test_a_changed_manifest_is_read_again(tmp_path: Path) -> None:
    folder = written(tmp_path / "own_aqm")
    registry.add_folder(folder)
    written(folder, words="Something else.")
    os.utime(folder / registry.FILE, ns=(1, 1))
    assert registry.find("aqm", "own_aqm").words == "Something else."


def test_setting_words() -> None:
    """Settings stand from the top of the word down; drawn layouts, taken apart bit by bit."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(200):
        widths: list[int] = []
        while sum(widths) < 36 and rng.random() < 0.8:
            widths.append(rng.randint(1, min(32, 36 - sum(widths))))
        settings = [{**STEP, "name": f"s{i}", "unit": "count", "default": 0, "bits": width} for i, width in enumerate(widths)]
        part = Part.model_validate({**SOUND, "settings": settings})
        values = {f"s{i}": rng.choice([0, 1, 2**width - 1, rng.randrange(2**width)]) for i, width in enumerate(widths)}
        values = {name: min(value, 2**width - 1) for (name, value), width in zip(values.items(), widths, strict=True)}
        text = "".join(f"{values[f's{i}']:0{width}b}" for i, width in enumerate(widths)).ljust(36, "0")
        assert part.pack(values) == int(text, 2)
        if widths:
            with pytest.raises(ValueError, match=f"s0 holds 0 to {2 ** widths[0] - 1:,}, not"):
                part.pack({**values, "s0": 2 ** widths[0]})


@pytest.mark.parametrize(
    ("unit", "given", "hardware"),
    [
        ("time", "5 ms", lambda clock, shift: max(1, round(Fraction(5 * clock, 1000 << shift)))),
        ("time", "1 ps", lambda clock, shift: 1),
        ("us", 15_000, lambda clock, shift: max(1, round(Fraction(15 * clock, 1000 << shift)))),
        ("gain_hz", 0.125, lambda clock, shift: round(Fraction(2**32 << shift, 8 * clock))),
        ("fraction", 0.1, lambda clock, shift: round(0.1 * 2**20)),
        ("fraction", 1, lambda clock, shift: 2**20 - 1),
        ("bytes", "3 kB", lambda clock, shift: 3000),
        ("packets", 20, lambda clock, shift: 20),
        ("count", 0, lambda clock, shift: 0),
    ],
)
@pytest.mark.parametrize(("clock", "shift"), [(220_000_000, 8), (10_000_000, 4), (500_000_000, 9)])
def test_units(unit: str, given: object, hardware: Any, clock: int, shift: int) -> None:
    part = Part.model_validate({**SOUND, "settings": [{**STEP, "unit": unit, "default": given, "bits": 20}]})
    (setting,) = part.settings
    assert setting.in_hardware(setting.read(given), clock, shift) == hardware(clock, shift)


def test_ranges() -> None:
    (setting,) = Part.model_validate({**SOUND, "settings": [{**STEP, "least": "1 ms", "most": "1 s"}]}).settings
    assert setting.read("1 s") == 10**12
    for given, why in (
        ("999 us", "must be at least 1 ms"),
        ("1.1 s", "must be at most 1 s"),
        (5, "a time with one of the units"),
        (None, "empty"),
    ):
        with pytest.raises(ValueError, match=why):
            setting.read(given)
    with pytest.raises(ValueError, match=r"can be at most 305.0 ms at 220 MHz"):
        setting.in_hardware(setting.read("306 ms"), 220_000_000, 8)
    (number,) = Part.model_validate(SOUND).numbers
    assert number.in_hardware(number.read(0.01), 220_000_000, 8) == 50
    with pytest.raises(ValueError, match=r"allowed: 1 to 65,535"):
        number.in_hardware(number.read(1000.0), 220_000_000, 8)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kind": "shaper"}, "kind: must be one of 'aqm' or 'scheduler', not \"shaper\""),
        ({"words": None}, "words: is missing"),
        ({"sees": None}, "sees is missing: departures or arrivals"),
        ({"kind": "scheduler"}, "sees is given, which only an AQM has"),
        ({"guard_bytes": 2048}, "guard_bytes is given, which only an AQM that sees arrivals has"),
        ({"settigns": []}, "settigns: is not a known key; did you mean 'settings'?"),
        ({"rtl": {"module": "own_aqm", "files": []}}, "rtl.files: must not be empty"),
        ({"rtl": {"module": "own_aqm", "files": ["../x.sv"]}}, "must be a path below the part's folder"),
        ({"rtl": {"module": "own_aqm", "files": ["rtl/x.sv"]}}, "names rtl/x.sv, which is not there"),
        ({"model": {"header": "model/own_aqm.hpp"}}, "model.class: is missing"),
        ({"settings": [STEP, STEP]}, "two settings or numbers are called step"),
        ({"settings": [STEP, {**STEP, "name": "b"}, {**STEP, "name": "c", "bits": 1}]}, "settings take 37 bits, but the setting word"),
        ({"settings": [{**STEP, "name": "ecn"}]}, "settings[0]: name must not be ecn, which every part has"),
        ({"settings": [{**STEP, "default": 5}]}, "settings[0]: default must be a time"),
        ({"settings": [{**STEP, "least": "6 ms"}]}, "settings[0]: must be at least 6 ms, not 5 ms"),
        ({"settings": [{**STEP, "least": "2 s", "most": "1 s"}]}, "least is 2 s, which is more than most, 1 s"),
        ({"settings": [{**STEP, "unit": "furlong"}]}, "settings[0].unit: must be one of"),
        ({"numbers": [{**GAIN, "walk": 16}]}, "walk is given, but the unit is gain_hz, not a time"),
    ],
)
def test_unsound_manifests(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    folder = written(tmp_path / "own_aqm", **changes)
    with pytest.raises(UserError) as error:
        registry.add_folder(folder)
    assert why in str(error.value) and str(folder / "part.yaml") in str(error.value)
    assert os.environ[registry.VARIABLE] == ""


def test_folders_that_are_no_parts(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "list").mkdir()
    (tmp_path / "list" / "part.yaml").write_text("- 1\n")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "part.yaml").write_text("kind: [\n")
    for folder, why in (
        (tmp_path / "empty", "has no file part.yaml, so it is no part"),
        (tmp_path / "nowhere", "there is no such folder"),
        (tmp_path / "list", "must be a mapping"),
        (tmp_path / "text", "not YAML"),
        (written(tmp_path / "Step-Marker"), "a part's folder is called as the part"),
        (written(tmp_path / "none"), "a part's folder is called as the part"),
        (written(tmp_path / "a:b" / "own_aqm"), "has ':' in its path"),
    ):
        with pytest.raises(UserError, match=why):
            registry.add_folder(folder)


def test_one_name_for_two(tmp_path: Path) -> None:
    registry.add_folder(written(tmp_path / "own_aqm"))
    with pytest.raises(UserError, match="there is another AQM called own_aqm"):
        registry.add_folder(written(tmp_path / "b" / "own_aqm"))
    assert os.environ[registry.VARIABLE] == str(tmp_path / "own_aqm")


def test_one_name_for_two_of_different_kinds(tmp_path: Path) -> None:
    """A configuration has a part's numbers under its name, so an AQM and a scheduler cannot share one."""
    registry.add_folder(written(tmp_path / "own"))
    with pytest.raises(UserError, match="there is an AQM called own"):
        registry.add_folder(written(tmp_path / "b" / "own", kind="scheduler", sees=None))
    with pytest.raises(UserError, match="there is an AQM called codel"):
        registry.add_folder(written(tmp_path / "codel", kind="scheduler", sees=None))


REFUSING = """#include "blocks/INTERFACE"
namespace own {
struct Aqm : penstock::KINDModel {
    Aqm(std::uint32_t, const penstock::KINDNumbers& numbers) {
        if (numbers["gain"] < 5) throw std::invalid_argument("a gain of " + std::to_string(numbers["gain"]) + " is too small");
    }
    BODY
};
}
"""
KINDS = {
    "aqm": ("Aqm", "aqm/model/aqm_model.hpp", "void set(std::int64_t, std::uint32_t, const penstock::AqmSetting&) override {}"),
    "scheduler": (
        "Scheduler",
        "schedule/model/scheduler_model.hpp",
        "penstock::SchedulerOutputs step(const penstock::SchedulerInputs&) override { return {}; }",
    ),
}
SCENARIO = """
description: One queue.
device: {config: demo_64, overrides: {KIND: own_part}}
duration: 1 ms
traffic:
  - constant: {queues: [0], rate: 10 Mbit/s, size: 500}
"""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_model_that_refuses_its_numbers(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is the user's to mend: one sentence that says which part and why, and status 2; no folder with a result."""
    words, interface, body = KINDS[kind]
    gain = GAIN | {"unit": "count", "default": 4}
    folder = written(tmp_path / "own_part", kind=kind, sees="departures" if kind == "aqm" else None, numbers=[gain])
    model = REFUSING.replace("KIND", words).replace("INTERFACE", interface).replace("BODY", body)
    (folder / "model" / "own_aqm.hpp").write_text(model)
    scenario, out = tmp_path / "one.yaml", tmp_path / "out"
    scenario.write_text(SCENARIO.replace("KIND", kind))
    run = ["run", str(scenario), "--engine", "model", "--with", str(folder), "--out", str(out)]
    assert main(run) == 2
    said = capsys.readouterr()
    title = {"aqm": "AQM", "scheduler": "scheduler"}[kind]
    assert said.err.splitlines()[-1] == f"penstock: {scenario}: {title} own_part: a gain of 4 is too small"
    assert "Traceback" not in said.err and not said.out and not out.exists()
    assert main([*run, "--set", "device.overrides.own_part.gain=5"]) == 0


def test_a_model_is_compiled_anew_when_what_it_includes_changes(tmp_path: Path) -> None:
    """Whatever the file is called; what tools keep beside the sources is not one of them."""
    folder = written(tmp_path / "own_aqm")
    registry.add_folder(folder)
    part, keys = registry.find("aqm", "own_aqm"), []
    for name, text in (("steps.def", "1"), ("steps.def", "2"), ("model/steps.inl", "1"), ("model/steps.inl", "2")):
        (folder / name).write_text(text)
        keys.append(part_model._key(part))
    assert len(set(keys)) == 4
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/test_own_aqm.pyc").write_text("1")
    assert part_model._key(part) == keys[-1]


def test_the_command_line_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence and status 2, before anything is built."""
    wrong = ["--with", str(tmp_path / "nowhere")]
    for command in (
        ["run", "x.yaml"],
        ["bench", "queue"],
        ["synth", "aqm"],
        ["generate", "access_edge", "--out", "x"],
        ["sweep", "x.yaml"],
    ):
        assert main([*command, *wrong]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "nowhere: there is no such folder" in said
