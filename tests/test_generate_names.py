# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Packages in one project: names of their own, and a FuseSoC project that has two of them, with their waivers."""

import re
import subprocess
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.hardware import generate_block, renamed
from penstock.hardware.generate import generate
from penstock.paths import tool_environment

SMALL = "OPTIMISE=OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
DECLARED = re.compile(r"^\s*(?:module|package|interface)\s+(?:automatic\s+)?(\w+)", re.MULTILINE)


def declared(folder: Path) -> set[str]:
    """Return the names of modules and packages in a folder, benches among them."""
    return {name for path in folder.rglob("*.*v") for name in DECLARED.findall(path.read_text())}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two packages: an access edge with CoDel and one with PIE."""
    out = tmp_path_factory.mktemp("both")
    for aqm in ("codel", "pie"):
        generate(configs.load(f"tiny_{aqm}_16"), out / aqm, name=f"{aqm}_edge")
    return out


def test_two_packages_have_no_name_in_common(both: Path) -> None:
    names = [declared(both / aqm) for aqm in ("codel", "pie")]
    assert all(len(each) > 50 for each in names) and not names[0] & names[1]
    files = [{path.name for path in (both / aqm / "rtl").iterdir()} for aqm in ("codel", "pie")]
    assert not files[0] & files[1]
    for aqm in ("codel", "pie"):
        for path in (both / aqm).rglob("*"):
            if path.is_file() and path.relative_to(both / aqm).parts[0] != "regs":
                assert "pst_" not in path.name, path
                found = re.search(r"(?<![A-Za-z0-9])pst_\w+", path.read_text())
                assert not found, f"{path}: {found}"


def test_a_project_has_both(both: Path, tmp_path: Path) -> None:
    """FuseSoC brings both packages and their waivers: Verilator warns of nothing in them, and of no module that is there twice."""
    (tmp_path / "both.sv").write_text(
        "// verilator lint_off PINMISSING\nmodule both (input logic clk, input logic resetn);\n"
        + "".join(f"  {aqm}_edge_access_edge_tiny_{aqm}_16_axi u_{aqm} (.aclk(clk), .aresetn(resetn));\n" for aqm in ("codel", "pie"))
        + "endmodule\n"
    )
    (tmp_path / "both.core").write_text(
        """CAPI=2:
name: ::both:0
filesets:
  rtl:
    files: [both.sv]
    file_type: systemVerilogSource
    depend:
"""
        + "".join(f"      - penstock:access_edge:{aqm}_edge_access_edge_tiny_{aqm}_16\n" for aqm in ("codel", "pie"))
        + """targets:
  lint:
    filesets: [rtl]
    toplevel: both
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [--timing, -Wall, -Wno-fatal]
"""
    )
    roots = [f"--cores-root={folder}" for folder in (tmp_path, both / "codel", both / "pie")]
    done = subprocess.run(
        ["fusesoc", *roots, "run", "--target=lint", "both"],
        cwd=tmp_path,
        env=tool_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    warnings = [line for line in told.splitlines() if line.startswith("%Warning") and "both.sv" not in line]
    assert warnings == []


def test_a_block_has_a_name_of_its_own(tmp_path: Path) -> None:
    written = generate_block.generate("fifo", tmp_path / "fifo", prefix="mine")
    assert all(path.exists() for path in written)
    assert (tmp_path / "fifo" / "mine_fifo.core").exists() and "mine_fifo" in declared(tmp_path / "fifo")


def test_names_follow_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another setting, another module and another FuseSoC core; the same settings, the same names."""
    changes = [{}, {"queues": "32"}, {"queues": "64"}, {"memories.sram.pages": "64", "queues": "32"}]
    names = [renamed.of_settings("tiny_16", each) for each in changes]
    assert names[:3] == ["tiny_16", "tiny_16_queues_32", "tiny_16_queues_64"] and len(set(names)) == 4
    assert renamed.of_settings("tiny_16", dict(reversed(changes[3].items()))) == names[3]
    long = {f"memories.number{n}.pages": "1024" for n in range(6)}
    assert len(renamed.of_settings("tiny_16", long)) < 40 and renamed.of_settings("tiny_16", long) != renamed.of_settings(
        "tiny_16", long | {"queues": "32"}
    )
    assert main(["generate", "access_edge", "--config", "tiny_16", "--set", "queues=32", "--out", str(tmp_path / "other")]) == 0
    assert "pst_access_edge_tiny_16_queues_32" in capsys.readouterr().out
    assert (tmp_path / "other/rtl/pst_access_edge_tiny_16_queues_32.sv").exists()
    assert "--config tiny_16 --set queues=32" in (tmp_path / "other/README.md").read_text()


@pytest.mark.parametrize("name", ["Upper", "9th", "with-dash", "end_", "a" * 32])
def test_a_name_that_no_module_can_have(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "access_edge", "--config", "tiny_16", "--name", name, "--out", str(tmp_path / "out")]) == 2
    assert "a name begins with a small letter" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_package_with_a_name_passes_its_bench(both: Path) -> None:
    for aqm in ("codel", "pie"):
        done = subprocess.run(
            ["make", "-C", "sim", SMALL], cwd=both / aqm, env=tool_environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr
