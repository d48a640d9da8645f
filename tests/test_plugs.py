"""The file that says which AQM is in a device: what is in it, and modules that are refused."""

import os
import re
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.errors import UserError
from penstock.hardware import plugs
from penstock.parts import registry

MODULE = """module own_aqm
  import pst_pkg::*, pst_aqm_pkg::*;
#(parameter int unsigned Queues = 2, Gain = 3, parameter string RamStyle = "auto") (
    input  logic clk_i, rst_i,
    input  logic s_take_valid_i,
    output logic m_deq_verdict_valid_o,
    output logic [$clog2(Queues)-1:0] m_deq_verdict_queue_o,
    output verdict_e m_deq_verdict_o,
    output logic ev_own_o
);
endmodule
"""
MANIFEST = """kind: aqm
words: Judges
  nothing.
sees: SEES
rtl: {module: own_aqm, files: [rtl/own_aqm.sv]}
model: {header: own.hpp, class: own::Aqm}
numbers:
  - {name: gain, parameter: Gain, unit: count, bits: 8, default: 7, words: What it is.}
"""


@pytest.fixture(autouse=True)
def nothing_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(registry.VARIABLE, "")


def written(tmp_path: Path, module: str = MODULE, sees: str = "departures") -> Path:
    """Return the folder of an AQM with this module, which is found from now on."""
    folder = tmp_path / "own_aqm"
    (folder / "rtl").mkdir(parents=True)
    (folder / "own.hpp").touch()
    (folder / "rtl" / "own_aqm.sv").write_text(module)
    (folder / "part.yaml").write_text(MANIFEST.replace("SEES", sees))
    registry.add_folder(folder)
    return folder


def test_a_module_gets_what_it_has(tmp_path: Path) -> None:
    """Its ports and parameters and no others; an output of its own stays open, what it does not drive is driven, what it does not read is
    not forgotten."""
    written(tmp_path)
    text = plugs.aqm(registry.find("aqm", "own_aqm"), {"Gain": 7})
    instance = text.split("own_aqm #(")[1].split(");")[0]
    assert re.findall(r"\.(\w+)\((\w*)\)", instance.split(") u_algorithm (")[0]) == [
        ("Queues", "Queues"),
        ("RamStyle", "RamStyle"),
        ("Gain", "7"),
    ]
    pins = re.findall(r"\.(\w+)(\(\))?", instance.split(") u_algorithm (")[1])
    ports = ["clk_i", "rst_i", "s_take_valid_i", *(f"m_deq_verdict{end}_o" for end in ("_valid", "_queue", ""))]
    assert pins == [*((port, "") for port in ports), ("ev_own_o", "()")]
    rest = text.split("u_algorithm (")[1]
    assert "assign init_done_o = 1'b1;" in rest and "assign m_enq_verdict_o = VerdictPass;" in rest
    everything = plugs.header(plugs.AQM, plugs.AQM.stem)
    assert everything is not None
    code = re.sub("//.*", "", text)
    for port in everything.ports:
        assert len(re.findall(rf"\b{port}\b", code)) == 2, port
    assert text.splitlines()[1] == "// The AQM that is in: own_aqm. Judges nothing."


@pytest.mark.parametrize("name", ["cobalt", "codel", "dualpi2", "pie"])
def test_ours_are_in(name: str) -> None:
    part = registry.find("aqm", name)
    assert f"  {part.rtl.module} #(" in plugs.aqm(part, {})


TAKE, VERDICT = "input  logic s_take_valid_i", "output verdict_e m_deq_verdict_o"


@pytest.mark.parametrize(
    "old, new, sees, words",
    [
        (TAKE, "input  logic s_take_vald_i", "departures", "has an input s_take_vald_i, which nothing drives; did you mean"),
        (TAKE, "output logic s_take_valid_i", "departures", "has an output s_take_valid_i, which is an input of an AQM"),
        (VERDICT, "output logic [1:0] verdict_o", "departures", "has no output m_deq_verdict_o, so it judges no departures"),
        ("", "", "arrivals", "has no output m_enq_verdict_valid_o, so it judges no arrivals"),
        ("Gain = 3", "Gian = 3", "departures", "has no parameter Gain; did you mean 'Gian'"),
        ("module own_aqm", "module other_aqm", "departures", "none of its files has a module own_aqm"),
        ("module own_aqm", "mdule own_aqm", "departures", "none of its files has a module own_aqm"),
    ],
)
def test_modules_that_are_no_aqm(tmp_path: Path, old: str, new: str, sees: str, words: str) -> None:
    written(tmp_path, MODULE.replace(old, new, 1), sees)
    with pytest.raises(UserError, match=re.escape(words)) as caught:
        plugs.aqm(registry.find("aqm", "own_aqm"), {"Gain": 7})
    assert "\n" not in str(caught.value) and str(caught.value).startswith(str(tmp_path))


def test_a_command_says_it_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path, MODULE.replace("s_take_valid_i", "s_taken_i"))
    monkeypatch.setenv(registry.VARIABLE, "")
    arguments = ["generate", "access_edge", "--config", "demo_64", "--set", "aqm=own_aqm", "--out", str(tmp_path / "out")]
    assert main([*arguments, "--with", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "has an input s_taken_i, which nothing drives" in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_sources_of_a_device(tmp_path: Path) -> None:
    """A device has the files of its own AQM and of no other, and what is generated for it in place of the file without one."""
    folder = written(tmp_path)
    config = configs.with_overrides(configs.load("demo_64"), {"aqm": "own_aqm", "own_aqm.gain": 9})
    names = {path.name for path in configs.sources(config)}
    assert folder / "rtl" / "own_aqm.sv" in configs.sources(config) and not names & {"pst_codel.sv", "pst_pie.sv", plugs.AQM.name}
    plug, wrapper = configs.write_generated(config, tmp_path / "written")
    assert (plug.name, wrapper.stem) == (plugs.AQM.name, config.module)
    assert ".Gain(9)" in plug.read_text()
    assert re.search(r"\.Aqm +\(1\)", wrapper.read_text()) and re.search(r"\.AqmKind +\(3\)", wrapper.read_text())
    without = configs.load("demo_64")
    assert plugs.AQM in configs.sources(without) and len(configs.write_generated(without, tmp_path / "without")) == 1


def test_a_package_with_two_files_of_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path)
    os.rename(folder / "rtl" / "own_aqm.sv", folder / "rtl" / "pst_fifo.sv")
    (folder / "part.yaml").write_text(MANIFEST.replace("SEES", "departures").replace("rtl/own_aqm.sv", "rtl/pst_fifo.sv"))
    os.utime(folder / "part.yaml", ns=(1, 1))
    arguments = ["generate", "access_edge", "--config", "demo_64", "--set", "aqm=own_aqm", "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "have one name" in capsys.readouterr().err


@pytest.mark.parametrize(
    "overrides, words",
    [
        ({"own_aqm.gain": 300}, "own_aqm.gain can be at most 255, not 300"),
        ({"own_aqm.gain": "much"}, 'own_aqm.gain: must be a whole number, not "much"'),
        ({"own_aqm.gian": 3}, "own_aqm.gian: there is no such setting of a configuration; did you mean 'gain'"),
        ({"own_aqm": 3}, "own_aqm: must be keys with values, not 3"),
        ({"aqm": "pie", "own_aqm.gain": 3}, "own_aqm is given, but aqm is pie"),
        ({"aqm": "own_aq"}, "aqm: must be one of 'none', 'cobalt', 'codel', 'dualpi2', 'pie' or 'own_aqm', not \"own_aq\""),
        ({"aqm": 3}, "aqm: must be text, not 3"),
    ],
)
def test_numbers_that_cannot_be(tmp_path: Path, overrides: dict[str, object], words: str) -> None:
    written(tmp_path)
    with pytest.raises(UserError, match=re.escape(words)):
        configs.with_overrides(configs.load("demo_64"), {"aqm": "own_aqm", **overrides})


def test_numbers_stay_when_something_else_changes() -> None:
    config = configs.with_overrides(configs.load("demo_pie_64"), {"pie.update_us": 5000, "pie.alpha": 2})
    again = configs.with_overrides(config, {"queues": 32})
    assert again.aqm_numbers == config.aqm_numbers != configs.load("demo_pie_64").aqm_numbers
    assert configs.with_overrides(again, {"pie.update_us": 15_000, "pie.alpha": 0.125, "queues": 64}) == configs.load("demo_pie_64")
