"""The thin Python face of the engine: builds the C++ module when its sources changed, and runs jobs on it.

`python -m penstock.engine.engine` builds. docs/architecture.md ("The engine") has the keys of a job and of its result.
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

from penstock.basics import children
from penstock.errors import ToolError
from penstock.paths import BLOCKS, BUILD, DESIGNS, ROOT, alone_in

BUILD_DIR = BUILD / "engine"
PACKAGE = Path(__file__).resolve().parents[1]  # `penstock`, where the module `_engine` goes

Progress = Callable[[dict[str, Any]], bool | None]


class EngineBuildError(ToolError):
    """The C++ module did not compile; the message ends with the compiler's words."""


def _sources() -> Iterator[Path]:
    yield ROOT / "CMakeLists.txt"
    for folder in (ROOT / "engine", *sorted(BLOCKS.glob("*/model")), *sorted(DESIGNS.glob("*/model")), *sorted(DESIGNS.glob("*/bench"))):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".hpp", ".h", ".cpp", ".in") and not path.name.startswith(("test_", "shim")):
                yield path


def _stamp() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for path in _sources():
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _up_to_date(stamp: str) -> bool:
    file = BUILD_DIR / "stamp"
    return file.exists() and file.read_text() == stamp and any(PACKAGE.glob("_engine*.so"))


def _run(command: list[str]) -> None:
    done = children.run(command)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        raise EngineBuildError(f"{' '.join(command)} failed:\n" + "\n".join(lines[-60:]))


def _forget_another_place() -> None:
    """Remove what CMake has built for another folder: the repository was moved or copied, and CMake refuses to go on there."""
    cache = BUILD_DIR / "CMakeCache.txt"
    if not cache.exists():
        return
    text = cache.read_text(errors="replace")
    places = {"CMAKE_HOME_DIRECTORY:INTERNAL": ROOT, "CMAKE_CACHEFILE_DIR:INTERNAL": BUILD_DIR}
    if all(f"{key}={place}\n" in text for key, place in places.items()):
        return
    for path in BUILD_DIR.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != "lock":
            path.unlink()


def _tool(name: str) -> str:
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise EngineBuildError(f"{name} is not installed; it is in requirements.txt")
    return found


def build(report: Callable[[str], None] | None = None) -> None:
    """Build `penstock._engine` unless it is up to date (a check of some milliseconds); `report` gets a line before the compiler starts.

    Safe to call from several processes at once. Raises EngineBuildError. A module that this process has already imported stays the old one.
    """
    if _up_to_date(_stamp()):
        return
    with alone_in(BUILD_DIR):
        stamp = _stamp()
        if _up_to_date(stamp):
            return
        if report:
            report("Building the engine (about half a minute, once)")
        _forget_another_place()
        ninja = _tool("ninja")
        _run([
            _tool("cmake"), "-S", str(ROOT), "-B", str(BUILD_DIR), "-G", "Ninja",
            f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DPython_EXECUTABLE={sys.executable}",
        ])  # fmt: skip
        _run([_tool("cmake"), "--build", str(BUILD_DIR), "-j", str(min(2, os.cpu_count() or 1))])
        (BUILD_DIR / "stamp.new").write_text(stamp)
        (BUILD_DIR / "stamp.new").rename(BUILD_DIR / "stamp")
        importlib.invalidate_caches()


def module() -> ModuleType:
    """Return the up-to-date module `penstock._engine`, built if need be."""
    build()
    return importlib.import_module("penstock._engine")


def run(job: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    """Run `job` and return its result (keys: docs/architecture.md, "The engine").

    `progress` is called about ten times a second with {phase, cycles, duration_cycles, packets_in, packets_out, dropped, queued}; when
    it returns False, or at Ctrl-C, the run stops and its result says `interrupted`. Raises ValueError for a job that makes no sense,
    RuntimeError when the device breaks a protocol.
    """
    result: dict[str, Any] = module().run(job, progress)
    return result


if __name__ == "__main__":
    build(print)
