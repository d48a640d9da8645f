"""The thin Python face of the engine: builds the C++ module when its sources changed, and runs jobs on it.

`python -m penstock.engine.engine` builds. docs/jobs.md has the keys of a job and of its result.
"""

import hashlib
import importlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import penstock
from penstock import cache
from penstock.basics import children, machine
from penstock.errors import ToolError
from penstock.paths import BLOCKS, BUILD, DESIGNS, INSTALLED, PACKAGE, ROOT, alone_in, tool_environment

BUILD_DIR = BUILD / "engine"
MODULE = "penstock._engine"

Progress = Callable[[dict[str, Any]], bool | None]


class EngineBuildError(ToolError):
    """The C++ module did not compile; the message ends with the compiler's words."""


def _sources() -> Iterator[Path]:
    yield ROOT / "CMakeLists.txt"
    yield from (ROOT / "engine/cmake/part_models.py", *sorted(BLOCKS.glob("*/*/part.yaml")))
    models = (*sorted(BLOCKS.glob("*/model")), *sorted(BLOCKS.glob("*/*/model")))
    of_designs = [folder for room in ("model", "bench", "control") for folder in sorted(DESIGNS.glob(f"*/{room}"))]
    for folder in (ROOT / "engine", *models, *of_designs):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".hpp", ".h", ".cpp", ".in") and not path.name.startswith(("test_", "shim")):
                yield path


def _stamp() -> str:
    digest = hashlib.sha256(f"{sys.version}\0{BUILD_DIR}".encode())
    for path in _sources():
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _folder(stamp: str) -> Path:
    """Return where it is built: in the user's cache each version of the sources, and each Python, has a folder of its own."""
    return BUILD_DIR / stamp[:16] if INSTALLED else BUILD_DIR


def _module_folder(stamp: str) -> Path:
    """Return where the module goes: into the package, but beside an installed one it would be a file that pip knows nothing of."""
    return _folder(stamp) if INSTALLED else PACKAGE


def _up_to_date(stamp: str) -> bool:
    file = _folder(stamp) / "stamp"
    if not (file.exists() and file.read_text() == stamp and any(_module_folder(stamp).glob("_engine*.so")) and cache.hold(file.parent)):
        return False
    if INSTALLED and str(file.parent) not in penstock.__path__:
        penstock.__path__.append(str(file.parent))
    return True


def _run(command: list[str]) -> None:
    done = children.run(command)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        raise EngineBuildError(f"{' '.join(command)} failed:\n" + "\n".join(lines[-60:]))


def _forget_another_place(folder: Path) -> None:
    """Remove what CMake has built for another folder: the repository was moved or copied, and CMake refuses to go on there."""
    known = folder / "CMakeCache.txt"
    if not known.exists():
        return
    text = known.read_text(errors="replace")
    places = {"CMAKE_HOME_DIRECTORY:INTERNAL": ROOT, "CMAKE_CACHEFILE_DIR:INTERNAL": folder}
    if all(f"{key}={place}\n" in text for key, place in places.items()):
        return
    _clear(folder)


def _clear(folder: Path, keep: str = "") -> None:
    """Remove what is in `folder` but for its lock and files that begin with `keep`."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != "lock" and not (keep and path.name.startswith(keep)):
            path.unlink()


def _tool(name: str) -> str:
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name, path=tool_environment()["PATH"])
    if not found:
        raise EngineBuildError(f"{name} is not installed; it is in requirements.txt")
    return found


def build(report: Callable[[str], None] | None = None) -> None:
    """Build `penstock._engine` unless it is up to date (a check of some milliseconds); `report` gets a line before the compiler starts.

    Safe to call from several processes at once. Raises EngineBuildError. A module that this process has already imported stays the old one.
    """
    stamp = _stamp()
    if _up_to_date(stamp):
        return
    folder = _folder(stamp)
    cache.limit()  # one that makes no sense is said before the compiler runs
    with alone_in(folder):
        stamp = _stamp()
        if _up_to_date(stamp):
            return
        machine.need("engine", os.environ)
        if report:
            report("Building the engine (some minutes, once)")
        _forget_another_place(folder)
        ninja = _tool("ninja")
        _run([
            _tool("cmake"), "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", f"-DPENSTOCK_MODULE_FOLDER={_module_folder(stamp)}",
            f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DPython_EXECUTABLE={sys.executable}",
        ])  # fmt: skip
        _run([_tool("cmake"), "--build", str(folder), "-j", str(min(2, os.cpu_count() or 1))])
        if INSTALLED:
            _clear(folder, keep="_engine")  # its sources never change: what CMake has made is of no use any more
        (folder / "stamp.new").write_text(stamp)
        (folder / "stamp.new").rename(folder / "stamp")
        importlib.invalidate_caches()
        _up_to_date(stamp)
    cache.tidy()


def module() -> ModuleType:
    """Return the module `penstock._engine`, built if need be; what this process has imported it keeps, so only the first call looks."""
    if (imported := sys.modules.get(MODULE)) is not None:
        return imported
    build()
    return importlib.import_module(MODULE)


def run(job: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    """Run `job` and return its result (keys: docs/jobs.md).

    `progress` is called about ten times a second with {phase, cycles, duration_cycles, packets_in, packets_out, dropped, queued}; when
    it returns False, or at Ctrl-C, the run stops and its result says `interrupted`. Raises ValueError for a job that makes no sense,
    RuntimeError when the device breaks a protocol.
    """
    result: dict[str, Any] = module().run(job, progress)
    return result


if __name__ == "__main__":
    build(print)
