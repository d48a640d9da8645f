"""A page that shows files and commands, for the test that does what the page says.

A file is an indented block behind a line with nothing but its path in backquotes and a colon; a command is an indented line that begins
with `penstock`, or with a variable of its own and `python`.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from penstock.paths import ROOT

_FILE = re.compile(r"^`([\w./-]+)`:\n\n((?:    .*\n|\n)+)", re.MULTILINE)
_COMMAND = re.compile(r"^    ((?:[A-Z_]+=\S+ )*(?:penstock|python) .*)$", re.MULTILINE)


def write_files(page: Path, folder: Path) -> list[str]:
    """Write the files of a page into a folder as they stand there; return their paths in it."""
    found = _FILE.findall(page.read_text())
    for name, block in found:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line[4:] for line in block.rstrip("\n").split("\n")) + "\n")
    return [name for name, _ in found]


def commands(page: Path) -> list[str]:
    """Return the commands of a page, in their order."""
    return _COMMAND.findall(page.read_text())


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of a page in a folder, with the Penstock and the Python of this process."""
    *words, env = *shlex.split(command), dict(os.environ) | {"PYTHONPATH": str(ROOT / "src")}
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        env[name] = value
    first = [sys.executable, "-m", "penstock"] if words[0] == "penstock" else [sys.executable]
    return subprocess.run([*first, *words[1:]], cwd=folder, env=env, capture_output=True, text=True, check=False)
