"""Programs of Debian that a test asks for another opinion: on the PATH, or unpacked from their package, without an installation."""

import shutil
import subprocess
from pathlib import Path

from penstock.paths import BUILD, alone_in

SECONDS = 120


def unpacked(program: str, package: str) -> Path | None:
    """Return a program of a package; None where neither it nor apt-get is there, or the package cannot be had.

    The package is not installed: its daemons are not started, and it needs no rights. It must run without the packages that it depends on.
    """
    if found := shutil.which(program):
        return Path(found)
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return None
    folder = BUILD / "debian" / package
    with alone_in(folder):
        path = folder / "usr" / "bin" / program
        if not path.is_file():
            _unpack(package, folder)
        return path if path.is_file() else None


def _unpack(package: str, folder: Path) -> None:
    for command in (["apt-get", "download", package], ["apt-get", "update"], ["apt-get", "download", package]):
        try:  # without lists of packages the first fails, and the second gets them, if this user may
            done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return
        files = sorted(folder.glob(f"{package}_*.deb"))
        if command[1] == "download" and not done.returncode and files:
            subprocess.run(["dpkg-deb", "-x", str(files[-1]), str(folder)], check=False, capture_output=True, timeout=SECONDS)
            for file in files:
                file.unlink()
            return
