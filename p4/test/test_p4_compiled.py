"""The committed JSON is of the sources beside it, and `p4 compile` says in one sentence what it lacks."""

import shutil
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs.p4_switch import program as programs
from penstock.errors import UserError
from penstock.p4 import FOLDER, compiled


def test_the_committed_json_is_of_its_sources() -> None:
    assert compiled.stale(compiled.PROGRAMS) == []
    assert set(compiled.record()["programs"]) == set(compiled.PROGRAMS)


def test_every_program_is_listed() -> None:
    """What has a `main` in p4/ is compiled; what a program includes is among its sources."""
    mains = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.p4") if "V1Switch(" in path.read_text()}
    assert mains <= set(compiled.PROGRAMS)
    assert compiled.sources("router_codel") == [
        *("backlog.p4", "codel.p4", "codel_ingress.p4", "codel_law.p4", "pie.p4", "router.p4", "router_codel.p4"),
    ]
    assert compiled.sources("test/codel_trace") == ["codel.p4", "codel_law.p4", "test/codel_trace.p4"]


@pytest.mark.parametrize("changed", ["codel.p4", "port_codel.json"])
def test_a_change_is_seen(changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FOLDER, tmp_path / "p4")
    monkeypatch.setattr(compiled, "FOLDER", tmp_path / "p4")
    assert compiled.stale(["port_codel"]) == []
    with (tmp_path / "p4" / changed).open("a") as file:
        file.write("\n")
    (told,) = compiled.stale(["port_codel"])
    assert "port_codel.json: is not " in told


COMPILER = """#!/bin/sh
echo "$@" >> "$CALLS"
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
grep -q wrong "$1" && { echo "$1(1): error: wrong" >&2; exit 1; }
cp "$COMPILED" "$out"
"""


def test_a_program_of_ones_own(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With what stands for the compiler: how it is called, where the JSON goes, and that it is one for scenarios."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / compiled.COMPILER).write_text(COMPILER)
    (tmp_path / "bin" / compiled.COMPILER).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("COMPILED", str(FOLDER / "port_codel.json"))
    own = tmp_path / "own.p4"
    own.write_text("// a program")
    with pytest.raises(UserError, match=r"own.p4: is the source of a program; \S*penstock p4 compile \S*own.p4 makes the JSON"):
        programs.load(own)
    assert main(["p4", "compile", str(own)]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "own.json")
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert call.startswith(f"{' '.join(compiled.OPTIONS)} -I {FOLDER} -o ") and call.endswith(f" {own}")
    assert programs.load(tmp_path / "own.json").tables.keys() == programs.load(FOLDER / "port_codel.json").tables.keys()
    assert main(["p4", "compile", str(own), "--out", str(tmp_path / "other.json")]) == 0 and (tmp_path / "other.json").is_file()
    assert main(["p4", "compile", str(own), "--out", str(tmp_path / "other")]) == 2
    own.write_text("wrong")
    assert main(["p4", "compile", str(own)]) == 2
    assert f"p4c-bm2-ss refuses {own}:" in capsys.readouterr().err


def test_without_the_compiler(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["p4", "compile"]) == 2
    told = capsys.readouterr().err
    assert "p4c-bm2-ss is not on the PATH" in told and "p4lang" in told and told.count("\n") == 1
    assert main(["p4", "compile", "rooter"]) == 2
    assert "did you mean 'router'" in capsys.readouterr().err
    assert main(["p4", "compile", "nosuch"]) == 2
    assert capsys.readouterr().err.count("router_codel") == 1
    own = tmp_path / "own.p4"
    own.write_text("// a program")
    for arguments, words in (
        (["nosuch.p4"], "nosuch.p4: there is no such file"),
        ([str(own)], "p4c-bm2-ss is not on the PATH: Debian, Ubuntu and PyPI have no package of it"),
        ([str(own), "router"], "takes files of yours alone"),
        ([str(own), "--check"], "without --check"),
        (["router", "--out", "router.json"], "--out router.json: is for a FILE.p4 of yours"),
    ):
        assert main(["p4", "compile", *arguments]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert words in told, told
    assert main(["p4", "compile", "--check"]) == 0
