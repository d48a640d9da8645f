# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Live traffic without root: it works by a user namespace, or says what to do. Root plays such a user, in namespaces that end with it."""

import ctypes
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.network import spaces
from penstock.paths import ROOT

NOBODY = 65_534
USERS = "user/max_user_namespaces"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or spaces.problem() is not None, reason="needs root to play a user without, and namespaces"
)


def tun(mode: int | None) -> None:
    """Let this process have a /dev/net/tun of its own with such rights; None: there is none."""
    spaces.call("unshare", spaces.CLONE_NEWNS)
    spaces.call("mount", b"none", b"/", None, spaces.MS_REC | spaces.MS_PRIVATE, None)
    spaces.call("mount", b"tmpfs", b"/dev/net", b"tmpfs", 0, b"mode=755")
    if mode is not None:
        os.mknod(spaces.TUN, stat.S_IFCHR, os.makedev(10, 200))
        os.chmod(spaces.TUN, mode)


def no_user_namespaces() -> None:
    """Go into a user namespace in which there can be no more of them."""
    reading, writing = os.pipe()
    me = os.getpid()
    if (helper := os.fork()) == 0:
        os.close(writing)  # or it would wait for ever where the other end is gone
        if not os.read(reading, 1):
            os._exit(1)
        for kind in ("uid", "gid"):
            Path(f"/proc/{me}/{kind}_map").write_text(f"0 0 {NOBODY + 2}")
        os._exit(0)
    spaces.call("unshare", spaces.CLONE_NEWUSER)
    os.write(writing, b"1")
    assert os.waitpid(helper, 0)[1] == 0
    Path("/proc/sys", USERS).write_text("0")


def no_user_namespaces_but_a_device() -> None:
    tun(0o666)
    no_user_namespaces()


CASES: dict[str, Callable[[], None]] = {
    "works": lambda: tun(0o666),
    "closed": lambda: tun(0o600),
    "missing": lambda: tun(None),
    "no user namespaces": no_user_namespaces_but_a_device,
}


def be_user(case: str) -> str:
    """Return what a user without rights is told, after root has prepared a case in the same process."""
    CASES[case]()
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: /proc/self is its own again, as of a process that was begun by the user
    return str(spaces.problem())


def as_user(case: str) -> str:
    """Return the same of a process of its own: one with threads may not enter a user namespace, and libraries of other tests have some."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-P", __file__, case], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_user_namespace_does() -> None:
    if any(
        Path("/proc/sys", name).exists() and Path("/proc/sys", name).read_text().strip() == no for name, no, _ in spaces.USER_NAMESPACES
    ):
        pytest.skip("this machine does not let users make user namespaces")
    assert as_user("works") == "None"


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("closed", "this user may not open /dev/net/tun: run it as root (`sudo`), or `chmod 666 /dev/net/tun` as root lets all users"),
        ("missing", "/dev/net/tun is not there: `modprobe tun` as root makes it"),
    ],
)
def test_a_device_that_is_not_to_be_opened_is_said(case: str, words: str) -> None:
    assert as_user(case) == words


def test_a_kernel_that_gives_no_user_namespaces_is_said() -> None:
    said = as_user("no user namespaces")
    assert said.startswith("network namespaces need root (`sudo`), or user namespaces, which this user may not make (")
    assert said.endswith(": `sysctl user.max_user_namespaces=10000` as root lets it")


if __name__ == "__main__":
    sys.stdout.write(be_user(sys.argv[1]))
