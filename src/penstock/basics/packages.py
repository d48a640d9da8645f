"""Programs that a command needs and that pip does not have: found, or installed as the launcher installs what it misses."""

import os
import shutil
import sys
import threading

from penstock.basics import children
from penstock.errors import UserError

NO_INSTALL = "PENSTOCK_NO_INSTALL"

_LOCK = threading.Lock()


def need_program(program: str, package: str) -> str:
    """Return the path of a program. If it is missing, root on Debian or Ubuntu installs its package, unless PENSTOCK_NO_INSTALL is set.

    Raises UserError, which says how to get it.
    """
    with _LOCK:
        found = shutil.which(program)
        if found is None and _may_install():
            _install(program, package)
            found = shutil.which(program)
    if found is None:
        raise UserError(f"{program} is not on the PATH: apt-get install {package} (Debian, Ubuntu), or your system's package of that name")
    return found


def _may_install() -> bool:
    return not os.environ.get(NO_INSTALL) and os.geteuid() == 0 and shutil.which("apt-get") is not None


def _install(program: str, package: str) -> None:
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", package]
    print(f"penstock: {program} is missing; running: {' '.join(command)}", file=sys.stderr, flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "-q"], command):
        done = children.run(step, env=environment)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        print(f"penstock: apt-get failed: {' '.join(last)}", file=sys.stderr, flush=True)
