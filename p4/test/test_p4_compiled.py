"""The committed JSON is of the sources beside it, and `p4 compile` says in one sentence what it lacks."""

import shutil
from pathlib import Path

import pytest

from penstock.command_line.app import main
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


def test_without_the_compiler(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["p4", "compile"]) == 2
    told = capsys.readouterr().err
    assert "p4c-bm2-ss is not on the PATH" in told and "p4lang" in told and told.count("\n") == 1
    assert main(["p4", "compile", "rooter"]) == 2
    assert "did you mean 'router'" in capsys.readouterr().err
    assert main(["p4", "compile", "nosuch.p4"]) == 2
    assert capsys.readouterr().err.count("router_codel") == 1
    assert main(["p4", "compile", "--check"]) == 0
