# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What is compiled stays below a stated size, and nothing that is in use goes."""

import fcntl
import os
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from penstock import cache, paths
from penstock.basics import machine
from penstock.errors import UserError
from penstock.testing.testkit import seed

HOLDER = """
import sys
from pathlib import Path
from penstock import cache
print(all([cache.hold_in_cache(Path(line)) for line in sys.argv[1:]]), flush=True)
sys.stdin.read()
"""


def make(root: Path, name: str, size: int, used: float, in_parts: bool = False) -> Path:
    """Make a folder as a build leaves it."""
    folder = root / name
    (folder / "deep").mkdir(parents=True)
    (folder / "lock").touch()
    (folder / "a.so").write_bytes(bytes(size - size // 3 if in_parts else size))
    if in_parts:
        (folder / "deep" / "b").write_bytes(bytes(size // 3))
    (folder / "used").touch()
    os.utime(folder / "used", (used, used))
    return folder


def expected(sizes: dict[Path, int], ages: dict[Path, float], in_use: set[Path], allowed: int) -> list[Path]:
    """Return what must go, oldest first: the shortest row of free folders from the oldest one after which the rest is small enough."""
    free = sorted(sizes.keys() - in_use, key=lambda path: -ages[path])
    for count in range(len(free) + 1):
        if sum(size for path, size in sizes.items() if path not in free[:count]) <= allowed:
            return free[:count]
    return free


@pytest.mark.parametrize("number", range(12))
def test_the_oldest_go_first_and_nothing_in_use(tmp_path: Path, number: int) -> None:
    """Random sizes and ages; some are used by another process, some by this one, some are being built."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(f"{seed()} {number}")
    now = time.time()
    names = [f"{rng.choice(cache.KINDS)}/{i:02}" for i in range(rng.randint(1, 30))]
    distinct = rng.sample(range(1, 10**6), len(names))
    ages = {tmp_path / name: age for name, age in zip(names, distinct, strict=True)}
    sizes = {path: rng.choice([0, 1, rng.randint(2, 200), rng.randint(200, 90_000)]) for path in ages}
    for path, age in ages.items():
        make(tmp_path, str(path.relative_to(tmp_path)), sizes[path], now - age, in_parts=rng.random() < 0.5)
    (tmp_path / "devices").mkdir(exist_ok=True)
    (tmp_path / "devices" / ".removed-of-a-killed-call").mkdir()
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "fact.json").write_bytes(bytes(5000))  # of no kind that is counted
    of_another, being_built, of_this = ({path for path in ages if rng.random() < 0.15} for _ in range(3))
    in_use = of_another | being_built | of_this
    allowed = rng.choice([0, sum(sizes.values()), rng.randint(0, sum(sizes.values())), sum(sizes.values()) // 2])
    with ExitStack() as open_files:
        for path in being_built:
            open_files.enter_context(paths.alone_in(path))
        for path in of_this:
            fcntl.flock(open_files.enter_context((path / "used").open()), fcntl.LOCK_SH)
        command = [sys.executable, "-c", HOLDER, *map(str, of_another)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout and other.stdin
            assert other.stdout.readline() == "True\n"
            gone = expected(sizes, ages, in_use, allowed)
            removed = cache.remove(tmp_path, allowed)
            assert [entry.path for entry in removed] == gone
            assert [entry.bytes for entry in removed] == [sizes[path] for path in gone]
            assert {path for path in ages if path.exists()} == ages.keys() - set(gone)
            assert cache.remove(tmp_path, allowed) == []
            other.stdin.close()
        left = {path for path in ages if path.exists()}
        cache.remove(tmp_path, -1)
        assert {path for path in left if path.exists()} == being_built | of_this
    assert not list(tmp_path.glob("*/.removed-*"))
    assert (tmp_path / "facts" / "fact.json").exists()
    cache.remove(tmp_path, -1)
    assert not any(path.exists() for path in ages)


def test_asking_for_something_makes_it_the_newest(tmp_path: Path) -> None:
    """And it stays as long as this process lives; another one may remove it afterwards."""
    old, newer = make(tmp_path, "devices/old", 1000, 1000.0), make(tmp_path, "devices/newer", 1000, 2000.0)
    command = [sys.executable, "-c", HOLDER, str(old)]
    assert subprocess.run(command, input="", capture_output=True, text=True, check=True).stdout == "True\n"
    assert [entry.path for entry in cache.remove(tmp_path, 1000)] == [newer]
    assert cache.hold_in_cache(old)
    os.utime(old / "used", (1.0, 1.0))
    assert cache.hold_in_cache(old) and (old / "used").stat().st_mtime > time.time() - 100  # the second time as well
    assert cache.remove(tmp_path, 0) == []
    assert not cache.hold_in_cache(newer) and not newer.exists()


def test_a_folder_that_goes_while_it_is_asked_for(tmp_path: Path) -> None:
    """Whoever waits for a lock of a folder that is just removed must not go on in what nobody sees any more."""
    folder = make(tmp_path, "devices/x", 10, 1000.0)
    answers: list[object] = []

    def build() -> None:
        with paths.alone_in(folder):
            answers.append(sorted(path.name for path in folder.iterdir()))

    with (folder / "lock").open() as lock, (folder / "used").open() as used:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.flock(used, fcntl.LOCK_EX)
        asking = threading.Thread(target=lambda: answers.append(cache.hold_in_cache(folder)))
        asking.start()
        time.sleep(0.2)
        assert answers == []
        folder.rename(tmp_path / "away")
        fcntl.flock(used, fcntl.LOCK_UN)
        asking.join(20)
        assert answers == [False]
        folder.mkdir()
        (tmp_path / "away" / "lock").rename(folder / "lock")
        building = threading.Thread(target=build)
        building.start()
        time.sleep(0.2)
        assert answers == [False]
        folder.rename(tmp_path / "away again")
    building.join(20)
    assert answers == [False, ["lock"]]


WORKER = """
import random, sys, time
from pathlib import Path
from penstock import cache

cache.CACHE = Path(sys.argv[1])

rng, used = random.Random(sys.argv[2]), []
for _ in range(8):
    key = rng.randrange(16)
    size = 1000 * (key + 1)

    def make(folder):
        time.sleep(0.01)
        (folder / "d.so").write_bytes(bytes(size))

    used.append((cache.once("devices", f"{key:016x}", make) / "d.so", size))
    time.sleep(0.01 * rng.random())
    for library, size in used:
        assert library.stat().st_size == size, library
"""


def test_what_is_built_within_a_build_counts_once(tmp_path: Path) -> None:
    """And what two threads build at the same time; what is built is never more than the process has used."""
    began, built = paths.cpu_seconds(), paths.building_seconds()

    def work(name: str) -> None:
        with paths.alone_in(tmp_path / name), paths.alone_in(tmp_path / f"{name} within"):
            sum(range(10_000_000))

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(work, ["one", "other"]))
    used, built = paths.cpu_seconds() - began, paths.building_seconds() - built
    assert 0.5 * used < built <= used


def test_processes_that_build_use_and_remove_at_once(tmp_path: Path) -> None:
    """Three at a time, each for a short while: whoever got a device keeps it, and in the end the cache has the size it may have."""
    print(f"PENSTOCK_SEED={seed()}")
    environment = os.environ | {cache.VARIABLE: "40 kB"}
    said = ""
    for turn in range(4):
        command = [sys.executable, "-c", WORKER, str(tmp_path)]
        workers = [
            subprocess.Popen([*command, f"{seed()} {turn} {number}"], env=environment, stderr=subprocess.PIPE, text=True)
            for number in range(3)
        ]
        for worker in workers:
            err = worker.communicate(timeout=120)[1]
            assert worker.returncode == 0, err
            said += err
    lines = said.splitlines()
    assert lines and all(line.startswith("penstock: removed ") and "40 kB" not in line for line in lines)
    assert all(line.endswith(f"({cache.VARIABLE})") for line in lines)
    cache.remove(tmp_path, 40_000)
    assert 0 < sum(path.stat().st_size for path in tmp_path.rglob("d.so")) <= 40_000
    assert not list(tmp_path.glob("*/.removed-*"))


def test_the_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What was removed, since when it was not used, and how to allow more."""
    noon = time.mktime((2026, 5, 17, 12, 0, 0, 0, 0, -1))
    for i in range(3):
        make(tmp_path, f"devices/{i}", 3_000_000, noon + 86400 * i)
    monkeypatch.setattr(cache, "CACHE", tmp_path)
    monkeypatch.setenv(cache.VARIABLE, "4 MB")
    cache.tidy()
    words = "removed 2 folders of what was built and not used since 2026-05-18 (6 MB): the cache may have 4 MB (PENSTOCK_CACHE_LIMIT)"
    assert capsys.readouterr().err == f"penstock: {words}\n"
    for wrong in ("much", "-1 GB", "4 GiB"):
        monkeypatch.setenv(cache.VARIABLE, wrong)
        with pytest.raises(UserError, match=f"^{cache.VARIABLE}: .*{wrong}"):
            cache.tidy()
    monkeypatch.delenv(cache.VARIABLE)
    assert cache.limit() == 4_000_000_000


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As the XDG base directory specification says; a variable of ours goes first. One folder for each kind of machine."""
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)
    for env, place in (
        ({}, "/home/me/.cache/penstock"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/penstock"),
        ({"XDG_CACHE_HOME": "x"}, "/home/me/.cache/penstock"),  # relative paths are to be ignored
        ({"XDG_CACHE_HOME": ""}, "/home/me/.cache/penstock"),
        ({"XDG_CACHE_HOME": "/x", "PENSTOCK_CACHE": "/y z"}, "/y z"),
        ({"PENSTOCK_CACHE": "y"}, str(tmp_path / "y")),
    ):
        found = paths.cache_folder(env)
        assert str(found.parent) == place
        assert found.name.startswith("linux-")


def test_a_machine_without_compiler(tmp_path: Path) -> None:
    """One sentence with what is missing and the command that installs it."""
    with pytest.raises(machine.MissingTools) as refused:
        machine.need("device", {"PATH": str(tmp_path)})
    words = "a device cannot be compiled without a C++ compiler and make and perl; on Debian or Ubuntu run: apt-get install g++ make perl"
    assert str(refused.value) == words
    for name, text in (("c++", "#!/bin/sh\nexit 1\n"), ("make", ""), ("perl", "")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    machine.need("device", {"PATH": str(tmp_path)})
    (tmp_path / "make").unlink()
    with pytest.raises(machine.MissingTools, match=r"^a device cannot be compiled without make; .* apt-get install make$"):
        machine.need("device", {"PATH": str(tmp_path)})
    with pytest.raises(machine.MissingTools, match=r"^the C\+\+ compiler .* does not know C\+\+20, .*$"):
        machine.need("engine", {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    machine.need("engine", os.environ)
