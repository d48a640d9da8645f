"""`faults`: what it says of a fault that is seen, of one that is not and of one that no longer applies; what it keeps; how it is stopped.

The register here is that of a small project in a temporary folder. The project's own is only looked through; one of it is planted.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock import paths
from penstock.command_line.app import main
from penstock.errors import UserError
from penstock.faults import planting, progress, register
from penstock.faults.register import Fault
from penstock.faults.sessions import Sessions

PROJECT = """\
[tool.pytest.ini_options]
pythonpath = ["src"]
addopts = "--import-mode=importlib -m 'not slow'"
"""
SOURCE = """\
def add(a, b):
    return a + b


def double(a):
    return 2 * a
"""
TEST = """\
from arithmetic import add, double


def test_add():
    assert add(2, 3) == 5


def test_zero():
    assert double(0) == 0
"""
FAULT = {
    "name": "add-subtracts", "words": "the second number is subtracted", "file": "src/arithmetic.py",
    "replace": "a + b", "with": "a - b", "tests": ["tests/test_arithmetic.py::test_add"],
}  # fmt: skip


class House:
    """A project with one module, its test, and a register."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("pyproject.toml", PROJECT)
        self.write("src/arithmetic.py", SOURCE)
        self.write("tests/test_arithmetic.py", TEST)
        self.write("README.md", "Arithmetic.\n")

    def write(self, file: str, text: str) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def register(self, *faults: dict, place: str = "src") -> None:
        self.write(f"{place}/faults.yaml", json.dumps([FAULT | fault for fault in faults]))  # JSON is YAML

    def outcomes(self, again: bool = False) -> dict[str, str]:
        return {name: found.outcome for name, found in progress.tried(register.read(), again).items()}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.delenv("PENSTOCK_SEED", raising=False)
    for module in (register, planting):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(planting, "BUILD", tmp_path / "build")
    return House(tmp_path)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The tests of each run of pytest that the command makes."""
    seen: list[list[str]] = []
    call = Sessions.call

    def counted(sessions: Sessions, command: list[str], **keys: object) -> int:
        seen.append([word for word in command if word.startswith("tests/")])
        return call(sessions, command, **keys)

    monkeypatch.setattr(Sessions, "call", counted)
    return seen


UNSEEN = {
    "name": "double-squares", "words": "a number is squared", "replace": "2 * a", "with": "a * a",
    "tests": ["tests/test_arithmetic.py::test_zero"],
}  # fmt: skip
GONE = {"name": "gone", "words": "what was there is not there any more", "replace": "a / b"}


def test_killed_survived_and_stale(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.register({}, UNSEEN, GONE)
    house.register({"name": "other"}, place="tests")
    assert main(["faults", "--json"]) == 1
    shown = capsys.readouterr()
    result = json.loads(shown.out)
    assert result["schema"] == "penstock.faults/1" and result["seed"] is None and result["config"] == {"place": None}
    assert {name: result[name] for name in planting.OUTCOMES} == {"killed": 2, "survived": 1, "stale": 1, "broken": 0, "skipped": 0}
    assert result["areas"]["src"] == {"killed": 1, "survived": 1, "stale": 1, "broken": 0, "skipped": 0}
    assert result["areas"]["tests"] == {"killed": 1, "survived": 0, "stale": 0, "broken": 0, "skipped": 0}
    (survivor,) = result["survivors"]
    assert (survivor["place"], survivor["name"], survivor["tests"]) == ("src", "double-squares", UNSEEN["tests"])
    (stale,) = result["stale_faults"]
    assert stale["name"] == "gone" and "'a / b'" in stale["reason"]
    assert "src:add-subtracts" in shown.err
    # The project itself is as it was.
    assert (house.root / "src/arithmetic.py").read_text() == SOURCE


def test_exit_status_is_zero_when_all_are_killed(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.register({}, UNSEEN)
    assert main(["faults", "src:add-subtracts"]) == 0
    assert "1 killed" in capsys.readouterr().out
    assert main(["faults", "src"]) == 1
    assert "survived: src:double-squares: a number is squared" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "is there 5 times"),
        ("a ** b", "is there no time"),
    ],
)
def test_what_is_not_there_exactly_once_is_stale(house: House, text: str, words: str) -> None:
    house.register({"replace": text})
    (found,) = progress.tried(register.read()).values()
    assert found.outcome == "stale" and words in found.words


def test_a_fault_of_several_changes(house: House) -> None:
    """Each change alone would not be seen; the second replaces what the first one wrote."""
    changes = [
        {"file": "src/arithmetic.py", "replace": "a + b", "with": "a + c"},
        {"file": "src/arithmetic.py", "replace": "add(a, b)", "with": "add(a, b, c=0)"},
    ]
    fault = {key: value for key, value in FAULT.items() if key not in ("file", "replace", "with")} | {"changes": changes}
    house.write("src/faults.yaml", json.dumps([fault]))
    assert house.outcomes() == {"src:add-subtracts": "killed"}


def test_a_missing_test_is_stale(house: House) -> None:
    house.register({"tests": ["tests/test_arithmetic.py::test_subtract"]})
    (found,) = progress.tried(register.read()).values()
    assert found.outcome == "stale" and found.words == "tests/test_arithmetic.py has no test test_subtract"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"with": "a +"}, "SyntaxError"),  # does not compile
        ({"with": "a - c"}, "NameError"),
        ({"tests": ["tests/test_arithmetic.py::test_red"]}, "do not pass without it"),
        ({"tests": ["tests/test_arithmetic.py::test_zero[3]"]}, "do not pass without it"),  # no such parameter: nothing runs
    ],
)
def test_red_for_another_reason_is_broken(house: House, change: dict, words: str) -> None:
    house.write("tests/test_arithmetic.py", TEST + "\n\ndef test_red():\n    assert add(2, 3) == 6\n")
    house.register(change)
    (found,) = progress.tried(register.read()).values()
    assert found.outcome == "broken" and words in found.words


def test_tests_that_do_not_run_here_say_nothing(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    """The fault is neither killed nor survived; the next call tries again, for what was missing may be there."""
    skips = '@pytest.mark.skipif(not Path("here").exists(), reason="the tool is not here")\ndef test_add'
    house.write("tests/test_arithmetic.py", "import pytest\nfrom pathlib import Path\n" + TEST.replace("def test_add", skips))
    house.register({})
    assert main(["faults", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    (skipped,) = result["skipped_faults"]
    assert result["skipped"] == 1 and skipped["name"] == "add-subtracts" and "the tool is not here" in skipped["reason"]
    house.write("here", "")
    assert house.outcomes() == {"src:add-subtracts": "killed"}


def test_slow_tests_run_where_the_fault_says_so(house: House) -> None:
    house.write("tests/test_arithmetic.py", "import pytest\n" + TEST.replace("def test_add", "@pytest.mark.slow\ndef test_add"))
    house.register({"slow": True}, {"name": "not-said"})
    assert house.outcomes() == {"src:add-subtracts": "killed", "src:not-said": "broken"}


def test_outcomes_are_kept_until_something_changes_that_matters(house: House, runs: list[list[str]]) -> None:
    house.register({}, UNSEEN)
    first = house.outcomes()
    assert len(runs) == 4  # two tests without their faults, then with them
    assert house.outcomes() == first and len(runs) == 4
    assert house.outcomes(again=True) == first and len(runs) == 6  # that they are green without a fault is known
    house.write("README.md", "Something else.\n")
    house.write("tests/test_other.py", "def test_other():\n    assert True\n")
    assert house.outcomes() == first and len(runs) == 6
    house.register({"words": "other words"}, UNSEEN)
    assert house.outcomes() == first and len(runs) == 6
    house.register({"with": "a * b - 1 if b else a"}, UNSEEN)  # 5 as well: 2 * 3 - 1
    assert house.outcomes() == {"src:add-subtracts": "survived", "src:double-squares": "survived"} and len(runs) == 7
    house.write("tests/test_arithmetic.py", TEST.replace("double(0) == 0", "double(3) == 6"))
    assert house.outcomes() == {"src:add-subtracts": "survived", "src:double-squares": "killed"} and len(runs) == 11
    house.write("src/arithmetic.py", SOURCE + "\n\nTHREE = 3\n")
    assert house.outcomes()["src:double-squares"] == "killed" and len(runs) == 15


def test_another_seed_is_another_outcome(house: House, runs: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    house.register({})
    house.outcomes()
    monkeypatch.setenv("PENSTOCK_SEED", "7")
    assert house.outcomes() == {"src:add-subtracts": "killed"} and len(runs) == 4


@pytest.mark.parametrize("planted", [False, True])
def test_stopped_at_any_time_it_goes_on(house: House, runs: list[list[str]], monkeypatch: pytest.MonkeyPatch, planted: bool) -> None:
    """Ctrl-C in the second fault: the first one's outcome is kept, and what is still planted in the copy does not count."""
    house.register(UNSEEN, {})
    call = Sessions.call

    def interrupted(*arguments: object, **keys: object) -> int:
        if len(runs) == 2 + planted:
            raise KeyboardInterrupt
        return call(*arguments, **keys)

    monkeypatch.setattr(Sessions, "call", interrupted)
    assert main(["faults"]) == 130
    monkeypatch.setattr(Sessions, "call", call)
    assert ("a - b" in (house.root / "build/faults/1/copy/src/arithmetic.py").read_text()) == planted
    house.register({"name": "not-seen", "replace": "2 * a", "with": "a * 2"}, UNSEEN)
    assert house.outcomes() == {"src:not-seen": "survived", "src:double-squares": "survived"}
    # The outcome of the other is known; whether this one's test passes without a fault is, if it was planted.
    assert len(runs) == 4


MEETS = """\
import os, time
from pathlib import Path
from arithmetic import add, double


def meet(me, other):
    place = Path(os.environ["MEETING"])
    (place / me).write_text("")
    end = time.monotonic() + 60
    while not (place / other).exists():
        assert time.monotonic() < end, "alone"
        time.sleep(0.01)


def test_add():
    if add(2, 3) != 5:
        meet("add", "double")
        raise ValueError(f"doubled: {double(2)}")


def test_double():
    if double(2) != 4:
        meet("double", "add")
        raise ValueError(f"added: {add(2, 3)}")
"""


def test_several_at_a_time(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Two faults are planted at the same moment, and neither meets the other."""
    house.write("tests/test_arithmetic.py", MEETS)
    other = {"name": "double-triples", "replace": "2 * a", "with": "3 * a", "tests": ["tests/test_arithmetic.py::test_double"]}
    house.register({}, other)
    monkeypatch.setenv("MEETING", str(tmp_path / "build"))
    assert main(["faults", "--jobs", "2"]) == 0
    assert "2 faults: 2 killed" in capsys.readouterr().out
    kept = json.loads((house.root / "build/faults/results.json").read_text())["faults"]
    assert {name: found["words"] for name, found in kept.items()} == {
        "src:add-subtracts": "ValueError: doubled: 4",
        "src:double-triples": "ValueError: added: 5",
    }


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_jobs_that_there_cannot_be(house: House, jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    house.register({})
    assert main(["faults", "--jobs", jobs]) == 2
    assert "--jobs" in capsys.readouterr().err and not (house.root / "build").exists()


WAITS = """\
import os, subprocess
from pathlib import Path
from arithmetic import add


def test_add():
    if add(2, 3) != 5:
        other = subprocess.Popen(["sleep", "60"], process_group=0)  # in a group of its own, as compilers are started
        with Path(os.environ["STARTED"]).open("a") as started:
            started.write(f"{os.getpid()} {other.pid}\\n")
        other.wait()
"""


def test_what_tests_leave_behind_ends(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house.write("tests/test_arithmetic.py", WAITS.replace("other.wait()", "raise ValueError"))
    house.register({})
    monkeypatch.setenv("STARTED", str(tmp_path / "started"))
    assert house.outcomes() == {"src:add-subtracts": "killed"}
    _, other = (tmp_path / "started").read_text().split()
    with contextlib.suppress(FileNotFoundError):
        assert ") Z " in Path(f"/proc/{other}/stat").read_text()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_tests_too(house: House, number: signal.Signals, jobs: int, tmp_path: Path) -> None:
    house.write("tests/test_arithmetic.py", WAITS)
    house.register({}, {"name": "add-multiplies", "with": "a * b"})
    script = (
        "import sys; from pathlib import Path; from penstock.faults import planting, register; from penstock.command_line.app import main\n"
        f"register.ROOT = planting.ROOT = Path({str(tmp_path)!r}); planting.BUILD = register.ROOT / 'build'\n"
        f"sys.exit(main(['faults', '--jobs', '{jobs}']))"
    )
    started = tmp_path / "build" / "started"
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "src"), "STARTED": str(started)}
    call = subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not (started.exists() and started.read_text().count("\n") == jobs):
        assert call.poll() is None, call.stderr.read()
        time.sleep(0.05)
    call.send_signal(number)
    call.communicate(timeout=30)  # by itself it would take a minute
    assert call.returncode == 130
    assert '"outcome"' not in (tmp_path / "build/faults/results.json").read_text()
    for process in map(int, started.read_text().split()):
        with contextlib.suppress(FileNotFoundError):  # gone, or dead and waiting for whoever inherited it
            assert ") Z " in Path(f"/proc/{process}/stat").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "src/faults.yaml:1: not YAML"),
        ("name: x", "src/faults.yaml: must be a list of faults"),
        ("- 3", "src/faults.yaml: fault 1: must be a mapping"),
        ({"tets": []}, "src/faults.yaml: fault 'add-subtracts': there is no key 'tets'; did you mean 'tests'?"),
        ({"name": "Add"}, "src/faults.yaml: fault 'Add': a name is lower-case words joined by '-'"),
        ({"words": ""}, "words must be a text that is not empty"),
        ({"with": 3}, "with must be a text"),
        ({"with": "a + b"}, "replaces a text of src/arithmetic.py by itself"),
        ({"file": "/etc/passwd"}, "'/etc/passwd' must be a path from the root of the project"),
        ({"file": "../x"}, "'../x' must be a path from the root of the project"),
        ({"tests": []}, "tests must be a list of names of pytest"),
        ({"tests": ["tests/test_none.py"]}, "the test tests/test_none.py is in a file that does not exist"),
        ({"slow": "yes"}, "slow must be true or false"),
        ({"changes": []}, "has either file, replace and with, or changes"),
        ([{}, {}], "there are two faults 'add-subtracts'"),
        ("#" * (1 << 20) + "\n- x", "a file of faults has at most 1,048,576"),
    ],
)
def test_bad_input(house: House, text: object, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    if isinstance(text, str):
        house.write("src/faults.yaml", text)
    else:
        house.register(*(text if isinstance(text, list) else [text]))
    assert main(["faults"]) == 2
    shown = capsys.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1 and shown.out == ""


def test_an_unknown_place(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.register({})
    assert main(["faults", "scr"]) == 2
    assert "there are no faults of 'scr'; did you mean 'src'?" in capsys.readouterr().err


# --- the project's own register


def test_places(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "stream", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["schema"] == "penstock.faults/1" and "seed" in listed
    assert {fault["place"] for fault in listed["faults"]} == {"blocks/stream"}
    for fault in listed["faults"]:
        assert fault["name"] and fault["words"] and fault["tests"] and (paths.ROOT / fault["file"]).exists()
    faults = register.read()
    assert register.chosen(faults, "blocks/stream") == register.chosen(faults, "stream")
    assert {*register.chosen(faults, "blocks")} >= {*register.chosen(faults, "stream")}
    with pytest.raises(UserError, match="there are no faults of 'stram'"):
        register.chosen(faults, "stram")


def test_no_fault_is_stale() -> None:
    stale = {fault.id: reason for fault in register.read() if (reason := fault.stale(paths.ROOT))}
    assert stale == {}, "sources have changed below these faults: bring them up to date, or take them out with what they stand for"


def _planted(faults: list[Fault], again: bool = False) -> None:
    found = progress.tried(faults, again)
    assert {name: outcome for name, outcome in found.items() if outcome.outcome != "killed"} == {}


def test_the_machinery_works_here() -> None:
    """One fault of this project, planted in a copy of it; its tests are Python alone and take seconds."""
    _planted(register.chosen(register.read(), "src/penstock/faults:what-does-not-compile-is-killed"), again=True)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_all_are_killed() -> None:
    _planted(register.read())


@pytest.mark.slow
def test_faults_whose_tests_are_slow_say_so() -> None:
    """A fault with a test that the default suite leaves out would be tried by no test at all."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=600)
    names = {line.strip() for line in done.stdout.splitlines() if "::" in line}
    known = names | {name.partition("[")[0] for name in names} | {name.partition("::")[0] for name in names}
    assert len(names) > 3000
    assert [f"{fault.id}: {test}" for fault in register.read() if not fault.slow for test in fault.tests if test not in known] == []
