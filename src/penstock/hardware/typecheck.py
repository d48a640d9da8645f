"""The type checker: mypy over the whole package, with the designs where Python finds them.

The package finds designs through `__path__`, which no type checker follows, so it looks at a copy in which they are folders.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from penstock import paths
from penstock.basics import children

OTHERS = {"test", "ns3", "__pycache__"}  # folders that are no part of the package


def copies(package: Path, designs: Path, into: Path) -> dict[Path, Path]:
    """Return what is to be copied where: the sources of the package, and those of designs in its folder of designs."""
    inner = into / package.name
    found = {inner / path.relative_to(package): path for path in _sources(package)}
    return found | {inner / designs.name / path.relative_to(designs): path for path in _sources(designs)}


def _sources(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in OTHERS]
        yield from (Path(where) / name for name in names if name.endswith((".py", ".pyi")))


def check(package: Path, designs: Path, config: Path, build: Path) -> subprocess.CompletedProcess[str]:
    """Check the package; what is said names the real files, relative to the folder of `config`."""
    with paths.alone_in(build / "types"):
        here = build / "types" / "tree"
        wanted = copies(package, designs, here)
        if any(path not in wanted for path in here.rglob("*.py*")):
            shutil.rmtree(here)  # folders, too: an empty one is a package
        for there, path in wanted.items():
            if not _same(there, path):
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, there)
        options = ["--config-file", str(config), "--cache-dir", str(build / "types" / "cache"), "--no-error-summary"]
        done = children.run([sys.executable, "-m", "mypy", *options, "-p", package.name], cwd=here)
    names = {os.path.relpath(there, here): os.path.relpath(path, config.parent) for there, path in wanted.items()}

    def real(line: str) -> str:
        path, colon, rest = line.partition(":")
        return names.get(path, path) + colon + rest

    done.stdout = "".join(f"{real(line)}\n" for line in done.stdout.splitlines())
    return done


def _same(there: Path, path: Path) -> bool:
    """Return whether a copy is there: as long, and of the same time, which a copy keeps."""
    if not there.exists():
        return False
    one, other = there.stat(), path.stat()
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
