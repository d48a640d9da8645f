"""What the machine must have before something is compiled. The launcher of a checkout looks as well; an installation has none."""

import os
import shutil
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from penstock.basics import children
from penstock.errors import ToolError

_PACKAGES = {"a C++ compiler": "g++", "make": "make", "perl": "perl", "Python's headers": "python3-dev"}  # Debian's
_USES = {"engine": ("a C++ compiler", "Python's headers"), "device": ("a C++ compiler", "make", "perl"), "model": ("a C++ compiler",)}
_NEW_ENOUGH = "#include <compare>\n#include <span>\nint main() {}\n"


class MissingTools(ToolError):
    """The machine lacks what Penstock compiles with."""


def need(use: str, env: Mapping[str, str]) -> None:
    """Raise MissingTools, one sentence, unless all that compiling a `use` (engine, device, model) takes is found in `env`."""
    missing = [name for name in _USES[use] if not _has(name, env)]
    if missing:
        packages = " ".join(_PACKAGES[name] for name in missing)
        what = {"engine": "the engine", "device": "a device", "model": "a model"}[use]
        raise MissingTools(
            f"{what} cannot be compiled without {' and '.join(missing)}; on Debian or Ubuntu run: apt-get install {packages}"
        )
    if use == "engine" and not _knows_cpp20(env):  # it is built before the first device
        raise MissingTools(f"the C++ compiler {_compiler(env)} does not know C++20, which Penstock is written in; install a later one")


def _compiler(env: Mapping[str, str]) -> str | None:
    named = env.get("CXX", "").split()[:1]
    names = named or ["c++", "g++", "clang++"]
    return next((found for name in names if (found := shutil.which(name, path=env.get("PATH")))), None)


def _has(name: str, env: Mapping[str, str]) -> bool:
    if name == "a C++ compiler":
        return _compiler(env) is not None
    if name == "Python's headers":
        return Path(sysconfig.get_path("include"), "Python.h").exists()
    return shutil.which(name, path=env.get("PATH")) is not None


def _knows_cpp20(env: Mapping[str, str]) -> bool:
    """Try it on two headers. The source goes through a shell: children's standard input is empty."""
    script = 'printf "%s" "$2" | "$1" -std=c++20 -x c++ -fsyntax-only -'
    command = ["/bin/sh", "-c", script, "sh", _compiler(env) or "c++", _NEW_ENOUGH]
    return children.run(command, env={**os.environ, **env}).returncode == 0
