# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What is compiled is stored by what it was made from: whole or not there, for all clones of a user, and never for other sources."""

import errno
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock import cache
from penstock.basics import keys
from penstock.errors import UserError
from penstock.paths import ROOT


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a user of this test's own, and a build/ of its own."""
    monkeypatch.setattr(cache, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(cache, "BUILD", tmp_path / "build")
    monkeypatch.setattr(cache, "_held", {})
    monkeypatch.setattr(cache, "_whole", {})
    return tmp_path / "cache"


class Made:
    """Makes an entry of two files, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, folder: Path) -> None:
        self.times += 1
        assert not list(folder.iterdir())
        (folder / "a.so").write_bytes(b"machine code" * 100)
        (folder / "a.so").chmod(0o755)
        (folder / "deep").mkdir()
        (folder / "deep" / "b").write_text("more")


def damages() -> dict[str, Callable[[Path], None]]:
    """Return what may happen to a finished entry on a disk."""

    def flip(made: Path) -> None:
        data = bytearray((made / "a.so").read_bytes())
        data[500] ^= 1
        (made / "a.so").write_bytes(data)

    return {
        "cut short": lambda made: os.truncate(made / "a.so", 100),
        "empty": lambda made: os.truncate(made / "a.so", 0),
        "a bit": flip,
        "a file is gone": lambda made: (made / "deep" / "b").unlink(),
        "a file more": lambda made: (made / "c").write_text("not ours"),
        "not a program any more": lambda made: (made / "a.so").chmod(0o644),
        "seal is empty": lambda made: os.truncate(made / "seal", 0),
        "seal is gone": lambda made: (made / "seal").unlink(),
        "seal of another": lambda made: (made / "seal").write_text(json.dumps({"a.so": [1, "x", True]})),
        "all is gone": shutil.rmtree,
    }


@pytest.mark.parametrize("damage", damages())
def test_what_is_damaged_is_made_again(store: Path, damage: str) -> None:
    make = Made()
    made = cache.once("devices", "k" * 32, make)
    assert cache.once("devices", "k" * 32, make) == made and make.times == 1
    damages()[damage](made)
    cache._whole.clear()  # as in another process
    assert cache.found("devices", "k" * 32) is None
    assert cache.once("devices", "k" * 32, make) == made and make.times == 2
    assert (made / "a.so").read_bytes() == b"machine code" * 100 and (made / "deep" / "b").read_text() == "more"
    assert cache.once("devices", "k" * 32, make) == made and make.times == 2
    assert sorted(path.name for path in made.parent.iterdir()) == ["lock", "made", "used"]


def test_half_an_entry_is_none(store: Path) -> None:
    """Of a make that fails, or of one that was killed, nothing is ever seen."""

    def fails(folder: Path) -> None:
        (folder / "a.so").write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cache.once("devices", "k", fails)
    assert cache.found("devices", "k") is None
    killed = store / "devices" / "k" / ".partial-killed"
    killed.mkdir()
    (killed / "a.so").write_text("half")
    make = Made()
    made = cache.once("devices", "k", make)
    assert make.times == 1 and sorted(path.name for path in made.parent.iterdir()) == ["lock", "made", "used"]


ASKS = """
import os, sys, time
from pathlib import Path
from penstock import cache

def make(folder):
    with Path(sys.argv[1]).open("a") as file:
        file.write("made\\n")
    for number in range(20):
        (folder / f"{number}.o").write_bytes(bytes(1000))
        time.sleep(0.02)

made = cache.once("devices", "k", make)
print(sorted((path.name, path.stat().st_size) for path in made.glob("*.o")) == sorted((f"{number}.o", 1000) for number in range(20)))
"""


def test_two_clones_that_ask_at_once(tmp_path: Path) -> None:
    """One makes it, the other waits and takes it; neither sees a half."""
    for name in ("one", "two with blanks"):
        shutil.copytree(ROOT / "src", tmp_path / name / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__", "_tree"))
    environment = os.environ | {"PENSTOCK_CACHE": str(tmp_path / "cache")}
    log = tmp_path / "log"
    both = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", ASKS, str(log)],
            env=environment | {"PYTHONPATH": str(tmp_path / name / "src")},
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two with blanks", "one")
    ]
    assert [process.communicate(timeout=60)[0] for process in both] == ["True\n"] * 3
    assert log.read_text() == "made\n"


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A checkout goes on in its build/, and says so once; an installation has no other place."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(cache, "CACHE", tmp_path / "file" / "cache")
    monkeypatch.setattr(cache, "BUILD", tmp_path / "build")
    make = Made()
    for _ in range(2):
        made = cache.once("devices", "k", make)
    assert made == tmp_path / "build" / "devices" / "k" / "made" and make.times == 1
    cache.remember("proofs", "k", "passed")
    assert cache.remembered("proofs", "k") == "passed"
    sentence = f"penstock: {tmp_path}/file/cache: cannot be written: not a directory; what is compiled goes to build/ and is not shared"
    assert capsys.readouterr().err == f"{sentence} with other clones\n"
    monkeypatch.setattr(cache, "INSTALLED", True)
    with pytest.raises(UserError, match="cannot be written"):
        cache.once("devices", "other", make)


def test_a_full_disk(store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    make = Made()

    def full(folder: Path) -> None:
        if folder.is_relative_to(store):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        make(folder)

    made = cache.once("devices", "k", full)
    assert made.is_relative_to(cache.BUILD) and cache.once("devices", "k", full) == made and make.times == 1
    assert "no space left on device; what is compiled goes to build/" in capsys.readouterr().err
    monkeypatch.setattr(cache, "BUILD", store)
    with pytest.raises(OSError, match="No space left"):
        cache.once("devices", "other", full)


def test_a_cache_that_is_only_read(store: Path) -> None:
    """What is whole in it is used."""
    make = Made()
    made = cache.once("devices", "k", make)
    cache._held.clear()
    cache._whole.clear()
    folder = made.parent
    for path in (folder / "used", folder / "lock"):
        path.unlink()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert cache.found("devices", "k") == made
    finally:
        folder.chmod(stat.S_IRWXU)


def test_facts(store: Path) -> None:
    """Each for its kind and key; what is damaged is not known, and there are not too many."""
    assert cache.remembered("proofs", "ab") is None
    cache.remember("proofs", "ab", {"status": "PASS", "s": 1.5})
    assert cache.remembered("proofs", "ab") == {"status": "PASS", "s": 1.5}
    assert cache.remembered("soaks", "ab") is None and cache.remembered("proofs", "ac") is None
    (file,) = store.rglob("ab.json")
    (file.parent / "abc.json").write_text(file.read_text())
    assert cache.remembered("proofs", "abc") is None  # of another key
    for words in ("", "{", "[]", "null", '{"fact": 1}', file.read_text().replace("PASS", "FAIL"), file.read_text()[:-1]):
        file.write_text(words)
        assert cache.remembered("proofs", "ab") is None, words
    for number in range(100):
        cache.remember("proofs", f"cd{number}", number)
    assert len(list((store / "facts" / "proofs" / "cd").iterdir())) <= 64
    assert cache.remembered("proofs", "cd99") == 99


def test_a_key_counts_what_is_included_and_no_comment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "ROOT", tmp_path)
    include, other = tmp_path / "include", tmp_path / "other"
    files = {
        include / "p" / "a.hpp": '#pragma once\n#include "b.hpp"\n#include <vector>\nint a();\n',
        include / "p" / "b.hpp": "# include <c.hpp>\nint b();\n",
        other / "c.hpp": "int c();\n",
        other / "stranger.hpp": "int stranger();\n",
        tmp_path / "src" / "x.cpp": '  #  include "p/a.hpp"  // why\n#include "y.hpp"\nint main() { return a(); }\n',
        tmp_path / "src" / "y.hpp": "int y;\n",
        tmp_path / "src" / "m.sv": '`include "m.svh"\nmodule m; endmodule\n',
        tmp_path / "src" / "m.svh": "`define WIDTH 3\n",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    sources = [tmp_path / "src" / "x.cpp", tmp_path / "src" / "m.sv"]

    def key(settings: object = ("-O2",), folder: Path = tmp_path) -> str:
        monkeypatch.setattr(keys, "ROOT", folder)
        return keys.of_build(settings, [folder / path.relative_to(tmp_path) for path in sources], [folder / "include", folder / "other"])

    found = keys.included(sources, [include, other])
    assert set(found) == set(files) - set(sources) - {other / "stranger.hpp"}
    first = key()
    copy = tmp_path.with_name(tmp_path.name + " moved")
    shutil.copytree(tmp_path, copy)
    assert key(folder=copy) == first
    assert key(["-O3"]) != first
    for path, text in files.items():
        path.write_text(f"// a comment\n\n{text.replace(';', '; /* one */')}")
        assert key() == first, path
        path.write_text(text + "int more;\n")
        assert (key() == first) == (path.name == "stranger.hpp"), path
        path.write_text(text)
    assert key() == first
    (include / "p" / "c.hpp").write_text("int c();\n")  # of angled includes the own folder is not searched
    assert key() == first
    (include / "c.hpp").write_text("int c();\n")
    assert key() != first


def test_headers_that_come_and_go(tmp_path: Path) -> None:
    """One process sees at the next moment which came nearer, in a folder that was not there, which changed, and which went."""
    near, far, source = tmp_path / "near", tmp_path / "far", tmp_path / "src" / "x.cpp"
    for path, text in ((far / "p" / "a.hpp", ""), (far / "b.hpp", ""), (source, "#include <p/a.hpp>\n")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def found() -> list[Path]:
        return keys.included([source], [near, far])

    assert found() == [far / "p" / "a.hpp"]
    with keys.at_one_moment():
        (near / "p").mkdir(parents=True)
        (near / "p" / "a.hpp").write_text("#include <b.hpp>\n")
        assert found() == [far / "p" / "a.hpp"]
    (tmp_path / "stranger").write_text("")
    assert found() == [near / "p" / "a.hpp", far / "b.hpp"]
    (near / "p" / "a.hpp").write_text("#include <c.hpp>\nint a;\n")
    assert found() == [near / "p" / "a.hpp"]
    (far / "c.hpp").write_text("")
    assert found() == [near / "p" / "a.hpp", far / "c.hpp"]
    (near / "p" / "a.hpp").unlink()
    assert found() == [far / "p" / "a.hpp"]


def test_a_key_counts_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    """It is asked once for its version, by whichever process, and again when it is another file."""
    log, program = tmp_path / "log", tmp_path / "own compiler"

    def write(version: str) -> None:
        program.write_text(f'#!/bin/sh\necho "$@" >> "{log}"\necho "g++ (Debian {version}) {version}"\n')
        program.chmod(0o755)
        os.utime(program, (float(len(version)), float(len(version))))
        keys._version.cache_clear()

    program = tmp_path / "cxx"
    monkeypatch.setenv("CXX", str(program))
    monkeypatch.setattr(keys, "ROOT", tmp_path)
    write("1")
    first = keys.of_build([], [])
    keys._version.cache_clear()
    assert keys.of_build([], []) == first and log.read_text() == "--version\n"
    write("12")
    assert keys.of_build([], []) != first and log.read_text() == "--version\n" * 2
    shutil.copy(program, tmp_path / "other")  # the same compiler by another name
    second = keys.of_build([], [])
    monkeypatch.setenv("CXX", str(tmp_path / "other"))
    assert keys.of_build([], []) == second
    monkeypatch.setenv("CXX", str(tmp_path / "none"))
    assert keys.of_build([], []) not in (first, second)
