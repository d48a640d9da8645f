"""Objects of Verilator's runtime are lent to the next build of their kind only, and look newer than anything that is written now."""

import subprocess
import time
from pathlib import Path

import pytest

from penstock import cache
from penstock.errors import UserError
from penstock.hardware import verilate, verilated_objects
from penstock.paths import tool_environment


def test_what_one_build_made_the_next_one_gets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CACHE", tmp_path / "cache")
    first, second, other = (tmp_path / name for name in ("first", "second", "other"))
    verilated_objects.lend(first, "soak")
    assert not list(first.iterdir())
    (first / "verilated.o").write_text("of the first")
    (first / "Vtop.o").write_text("of one module alone")
    verilated_objects.keep(first, "soak")
    verilated_objects.lend(second, "soak")
    verilated_objects.lend(other, "device")
    assert [path.name for path in second.iterdir()] == ["verilated.o"] and not list(other.iterdir())
    assert (second / "verilated.o").read_text() == "of the first" and (second / "verilated.o").stat().st_mtime > time.time() + 3600


def test_what_is_there_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that was built before keeps its own objects, and a second build does not replace what is kept."""
    monkeypatch.setattr(cache, "CACHE", tmp_path / "cache")
    for text in ("first", "second"):
        folder = tmp_path / text
        folder.mkdir()
        (folder / "verilated.o").write_text(text)
        verilated_objects.keep(folder, "soak")
    verilated_objects.lend(tmp_path / "second", "soak")
    assert (tmp_path / "second" / "verilated.o").read_text() == "second"
    verilated_objects.lend(tmp_path / "third", "soak")
    assert (tmp_path / "third" / "verilated.o").read_text() == "first"


def test_the_compiler_optimises_as_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device for a user is not the tests' one, which is compiled faster."""
    what = verilate.Build("x", "x", [Path(__file__)], Path(__file__))
    keys = set()
    for level in (None, "0", "1"):
        monkeypatch.delenv(verilate.OPTIMISE, raising=False)
        if level:
            monkeypatch.setenv(verilate.OPTIMISE, level)
        assert f"OPT_FAST=-O{level or 2}" in verilate._levels()
        keys.add(what.key())
    assert len(keys) == 3
    monkeypatch.setenv(verilate.OPTIMISE, "fast")
    with pytest.raises(UserError, match="must be 0, 1, 2 or 3"):
        what.key()


def test_the_compiler_takes_the_headers_that_were_compiled_for_it(tmp_path: Path) -> None:
    """It would read them as text, silently, if it was called otherwise than for what is precompiled."""
    begin = verilated_objects.precompiled("-O1")
    if not begin:
        pytest.skip("the compiler is not GCC")
    (tmp_path / "x.cpp").write_text("VerilatedContext context;\n")
    include = Path(tool_environment()["VERILATOR_ROOT"]) / "include"
    command = ["c++", "-I.", "-MMD", f"-I{include}", f"-I{include}/vltstd", *verilated_objects._DEFINES.split(), *begin.split()]
    for level, status in (("-O1", 0), ("-O2", 1)):
        done = subprocess.run([*command, "-Winvalid-pch", "-Werror", level, "-c", "x.cpp"], cwd=tmp_path, capture_output=True, text=True)
        assert bool(done.returncode) == bool(status), done.stderr


def test_another_compiler_gets_no_precompiled_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verilated_objects.keys, "compiler", lambda: "clang version 19")
    assert verilated_objects.precompiled("-O1") == ""


def test_nothing_else_goes_with_what_compares_structs(tmp_path: Path) -> None:
    """Of a struct in Verilator's words only `<` goes; what is left compiles."""
    less = "    bool operator<(const S& rhs) const {\n        return std::tie(__PVT__a)\n            <  std::tie(rhs.__PVT__a);\n    }\n"
    equal = "    bool operator==(const S& rhs) const {\n        return __PVT__a == rhs.__PVT__a;\n    }\n"
    (tmp_path / "Vtop.h").write_text(f"struct S {{\n    int __PVT__a;\n\n{equal}\n{less}}};\n")
    (tmp_path / "Vtop.cpp").write_text(less)
    subprocess.run(verilated_objects.SHORTEN, cwd=tmp_path, check=True)
    assert (tmp_path / "Vtop.h").read_text() == f"struct S {{\n    int __PVT__a;\n\n{equal}\n}};\n"
    assert (tmp_path / "Vtop.cpp").read_text() == less


def test_the_compiler_knows_what_it_need_not_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.cpp").write_text("int x;\n")
    command = ["c++", *verilated_objects.frugal().split(), "-Werror", "-O1", "-c", "x.cpp"]
    assert subprocess.run(command, cwd=tmp_path).returncode == 0
    monkeypatch.setattr(verilated_objects.keys, "compiler", lambda: "clang version 19")
    assert verilated_objects.frugal() == ""
