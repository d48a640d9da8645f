"""Notes which files of the project a simulation's Python reads: its verdict depends on no others, but for the simulator.

The simulator imports this before the test file. At its end a list goes to the file that PENSTOCK_OBSERVED names: files that were opened,
modules that were imported, folders that were listed (their names with a / at the end). A simulation that starts a program, of which nothing
is known here, leaves none, nor does one that is killed.
"""

import atexit
import json
import os
import sys
from pathlib import Path

from penstock.paths import BUILD, CACHE, ROOT
from penstock.testing import pins

_LISTINGS = {"os.listdir", "os.scandir"}
_PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.spawn"}

_read: set[str] = set()
_started: list[str] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        _read.add(os.path.abspath(os.fsdecode(arguments[0])))
    elif event in _LISTINGS and isinstance(arguments[0], str | bytes | os.PathLike):
        # The import system lists the folders in which it looks: what it finds there is among the modules.
        if "importlib" not in sys._getframe(1).f_code.co_filename:
            _read.add(os.path.abspath(os.fsdecode(arguments[0])) + os.sep)
    elif event in _PROGRAMS:
        _started.append(event)


def of_the_project(names: set[str]) -> list[str]:
    """Return those of `names` that are sources of the project, as paths from its top."""
    made = (BUILD, CACHE, ROOT / ".venv", ROOT / ".git")
    paths = {Path(name): name.endswith(os.sep) for name in names if "__pycache__" not in name}
    ours = {path: listed for path, listed in paths.items() if path.is_relative_to(ROOT) and not any(map(path.is_relative_to, made))}
    return sorted(f"{path.relative_to(ROOT)}{os.sep if listed else ''}" for path, listed in ours.items())


def _write(place: str) -> None:
    modules = {os.path.abspath(file) for module in list(sys.modules.values()) if isinstance(file := getattr(module, "__file__", None), str)}
    if not _started:
        Path(place).write_text(json.dumps(of_the_project(_read | modules)))


if place := os.environ.get("PENSTOCK_OBSERVED"):
    sys.addaudithook(_note)
    atexit.register(_write, place)
    pins.make_quick()
