"""`synth` on a tiny module: known cells come out, settings arrive in the hardware, wrong names are said in one sentence."""

import json

import pytest

from penstock import library, synth
from penstock.cli import main
from penstock.errors import UserError


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


def test_place_and_route_gives_a_frequency_for_each_seed(capsys: pytest.CaptureFixture[str]) -> None:
    result = area(capsys, "pst_skid_buffer", "--set", "width=4", "--target", "ecp5", "--seeds", "2")
    assert len(result["fmax_mhz"]) == 2
    assert all(50 < speed < 1000 for speed in result["fmax_mhz"])


def test_memories_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert area(capsys, "pst_ram_1r1w", "--set", "width=72", "--set", "depth=4096", "--set", "style=ultra")["uram"] == 1
    assert area(capsys, "pst_ram_1r1w", "--set", "width=36", "--set", "depth=1024", "--set", "style=block")["bram"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["skid_bufer"], "did you mean 'skid_buffer'"),
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
    assert set(library.parameters_of("pst_fifo")) == {"Width", "Depth"}
    with pytest.raises(UserError):
        library.main_module("nonsense")


def test_a_design_is_its_named_configuration() -> None:
    job, config = synth.plan("access_edge", "xcup", {"config": "tiny_16", "queues": "32"}, [1])
    assert job.top == "pst_access_edge_tiny_16"
    assert ".Queues       (32)" in job.sources[-1].read_text()
    assert config["name"] == "tiny_16" and config["parameters"] == {"queues": "32"}
