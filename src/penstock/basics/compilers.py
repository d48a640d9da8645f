"""The C++ compiler, and ccache before it where that is installed: a change of one header then compiles only what it touches.

ccache keeps its objects in the user's cache, of which it may have a part; its own variables (CCACHE_DIR, ...) are left as they are set.
"""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from penstock import cache
from penstock.paths import CACHE, ROOT, plain

_PART = 4  # of the cache's size, one in so many is ccache's


def command() -> list[str]:
    """Return the compiler's call: CXX, else c++."""
    return os.environ.get("CXX", "").split() or ["c++"]


def launcher() -> list[str]:
    """Return what stands before a compiler: ccache, or nothing."""
    folders = os.pathsep.join([str(Path(sys.executable).parent), sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    found = shutil.which("ccache", path=folders)
    return [str(plain(Path(found)))] if found else []


def environment(base: dict[str, str] | None = None) -> dict[str, str]:
    """Return the environment in which compilers run."""
    env = dict(os.environ if base is None else base)
    own = {
        "CCACHE_DIR": str(CACHE / "ccache"),
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_MAXSIZE": f"{cache.limit() // _PART // 1000}k",
        "CCACHE_SLOPPINESS": "pch_defines,time_macros",
        "CCACHE_COMPRESSLEVEL": "1",
    }
    if cache.root() != CACHE:
        own["CCACHE_DISABLE"] = "1"
    return own | env
