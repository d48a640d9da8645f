# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Groups of packages, in an environment of the launcher's kind: pip installs wheels made here, from a folder, without a network."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.basics import groups
from penstock.paths import ROOT

REQUIREMENTS = """\
# [core] 1 MB, 1 s: all
pst-core==1.0
# [synth] 2 MB, 3 s: synthesis
pst-first==1.0
# [sweep] 4 MB, 5 s: sweeps
pst-second==1.0
"""
# Stands for a command: asks for groups and says what it can import then.
COMMAND = """
import importlib.util, sys
from penstock.basics import groups
from penstock.errors import UserError
try:
    groups.need("work", *sys.argv[1:])
except UserError as error:
    sys.exit(f"penstock: {error}")
print(*(name for name in ("pst_core", "pst_first", "pst_second") if importlib.util.find_spec(name)))
"""


def make_wheel(folder: Path, name: str) -> None:
    """Write a wheel with one module of this name."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": f"NAME = {name!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    hashes = {path: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode() for path, text in files.items()}
    record = "".join(f"{path},sha256={hashes[path]},{len(text)}\n" for path, text in files.items()) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(path, text)


class House:
    """A small checkout below a path with a space, whose .venv the launcher has made."""

    def __init__(self, folder: Path) -> None:
        self.root, self.wheels = folder / "house with a space", folder / "wheels"
        self.wheels.mkdir()
        for name in ("pst_core", "pst_first", "pst_second"):
            make_wheel(self.wheels, name)
        for part in ("__init__.py", "errors.py", "paths.py", "cache.py", "basics", "command_line"):
            source, target = ROOT / "src/penstock" / part, self.root / "src/penstock" / part
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        (self.root / "requirements.txt").write_text(REQUIREMENTS)
        venv = self.root / ".venv"
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", str(venv)], check=True)
        (self.site,) = venv.glob("lib/python3*/site-packages")
        # pip and what the command line needs are those of this environment.
        (self.site / "ours.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
        (venv / ".penstock-installed").write_text("")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_", "PENSTOCK"))}
        self.environment |= {"PYTHONPATH": str(self.root / "src"), "PENSTOCK_CACHE": str(folder / "cache")}
        self.environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "PIP_CONFIG_FILE": os.devnull}

    def start(self, *names: str) -> subprocess.Popen[str]:
        command = [str(self.root / ".venv/bin/python"), "-P", "-c", COMMAND, *names]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *names: str) -> tuple[int, str, str]:
        call = self.start(*names)
        out, err = call.communicate(timeout=120)
        return call.returncode, out.strip(), err


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("groups"))


@pytest.fixture
def house(made: House) -> Iterator[House]:
    """Return the checkout as the launcher leaves it: only the core is there."""
    for path in (*made.site.glob("pst_*"), *made.site.glob("__pycache__/pst_*"), *(made.root / ".venv").glob(".penstock-installing-*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    yield made


def test_a_group_is_installed_when_it_is_needed(house: House) -> None:
    """One line says what, how large and how long, and the second call says nothing; other groups stay away."""
    status, out, err = house.run("synth")
    assert (status, out) == (0, "pst_first"), err
    said = r"Installing packages for work, synth: 2 MB on disk, once \((usually some|took) \d+ s( here before)?\) \.\.\.\n"
    assert re.match(said, err), err
    assert house.run("synth") == (0, "pst_first", "")
    assert house.run("synth", "sweep")[:2] == (0, "pst_first pst_second")


def test_all_groups_at_once(house: House) -> None:
    status, out, err = house.run()
    assert (status, out) == (0, "pst_first pst_second"), err
    assert err.startswith("Installing packages for work, synth, sweep: 6 MB")


def test_two_commands_at_once(house: House) -> None:
    """One of them installs, the other waits for it."""
    calls = [house.start("synth") for _ in range(2)]
    said = [(*call.communicate(timeout=120), call.returncode) for call in calls]
    assert [status for _, _, status in said] == [0, 0], said
    assert sum("Installing packages" in err for _, err, _ in said) == 1


def test_no_network(house: House) -> None:
    """One sentence, exit status of bad input by UserError, and the next call tries again."""
    hidden = house.wheels.with_name("hidden")
    house.wheels.rename(hidden)
    try:
        status, _, err = house.run("sweep")
    finally:
        hidden.rename(house.wheels)
    (sentence,) = [line for line in err.splitlines() if "work needs packages (sweep) that could not be installed" in line]
    assert status == 1 and "pst-second" in sentence and "build/set-up.log" in sentence
    assert house.run("sweep")[:2] == (0, "pst_second")


def test_an_installation_that_was_ended_is_finished(house: House) -> None:
    """Half a package has its metadata, for which pip takes it as whole."""
    house.run("synth")
    (house.site / "pst_first.py").unlink()
    (house.site / "pst_first-1.0.dist-info/RECORD").unlink()
    assert house.run("synth") == (0, "", "")  # nobody can know
    (house.root / ".venv/.penstock-installing-synth").touch()
    status, out, err = house.run("synth")
    assert (status, out) == (0, "pst_first"), err


def test_other_pins_are_installed(house: House) -> None:
    """After a pull with another version; here one that is not to be had, which pip says."""
    house.run("synth")
    (house.root / "requirements.txt").write_text(REQUIREMENTS.replace("pst-first==1.0", "pst-first==2.0"))
    try:
        status, _, err = house.run("synth")
    finally:
        (house.root / "requirements.txt").write_text(REQUIREMENTS)
    assert status == 1 and "pst-first==2.0" in err


def test_another_python_gets_a_sentence(house: House) -> None:
    """Into an environment that is not the launcher's nothing is installed."""
    (house.root / ".venv/.penstock-installed").unlink()
    try:
        status, _, err = house.run("synth")
    finally:
        (house.root / ".venv/.penstock-installed").write_text("")
    assert status == 1 and err.startswith("penstock: work needs packages that are not installed (2 MB); run: ")
    assert err.count("\n") == 1 and "pip install -r requirements.txt" in err


def test_pins_of_the_project() -> None:
    """Each has a group, once, and what the groups are asked for under is there."""
    found = groups.read((ROOT / "requirements.txt").read_text())
    pins = [pin for group in found.values() for pin in group.pins]
    assert len(pins) == len({pin.partition("==")[0] for pin in pins}) and all(re.fullmatch(r"[a-z0-9.-]+==[a-z0-9.]+", pin) for pin in pins)
    assert list(found)[0] == groups.CORE and set(groups.MODULES) == set(found) - {groups.CORE}
    asked = set()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "designs").rglob("*.py")]:
        for names in re.findall(r"groups\.need\(\"[^\"]+\"((?:, \"[a-z]+\")*)\)", path.read_text()):
            asked |= set(re.findall(r"[a-z]+", names))
    assert asked == {"generate", "synth", "sweep", "control", "plots", "wrappers", "serial", "loader"}
    with pytest.raises(ValueError, match="is in no group"):
        groups.read("numpy==1.0\n")


CORE_MODULES = "import sys; from penstock.command_line.app import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"


def test_the_core_is_enough_for_a_run(tmp_path: Path) -> None:
    """A run and its report import nothing of another group."""
    arguments = ["run", str(ROOT / "scenarios/hello.yaml"), "--engine", "model", "--set", "duration=2 ms", "--out", str(tmp_path)]
    done = subprocess.run([sys.executable, "-P", "-c", CORE_MODULES, *arguments], capture_output=True, text=True, check=True)
    assert "hello: done" in done.stdout and (tmp_path / "report.html").exists()
    others = {name for names in groups.MODULES.values() for name in names}
    assert others & {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()} == set()
