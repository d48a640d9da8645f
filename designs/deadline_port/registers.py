"""Registers of the deadline port for software: addresses by name, and settings as register writes.

Addresses, fields, commands and drop reasons come from `designs/deadline_port/regs/deadline_port.json`, which tools/generate_contract.py
makes from the SystemRDL and the contract files.
"""

import json
from functools import cache
from typing import Any

from penstock.paths import DESIGNS

Writes = list[tuple[int, int]]  # (address, value), in order


@cache
def contract() -> dict[str, dict[str, Any]]:
    """Return what hardware and software have agreed on: `registers`, `enums`, `reasons`, `settings`."""
    found: dict[str, dict[str, Any]] = json.loads((DESIGNS / "deadline_port" / "regs" / "deadline_port.json").read_text())
    return found


def table() -> dict[str, dict[str, Any]]:
    """Return each register's `address`, size in `bytes` and `fields`."""
    return contract()["registers"]


def address(name: str) -> int:
    """Return the byte address of a register; one of 8 bytes has its lower half there. Raises KeyError for an unknown name."""
    return int(table()[name]["address"])


def command(name: str) -> int:
    """Return the number of a command."""
    return int(contract()["enums"]["command"][name])


def drop_words() -> dict[str, str]:
    """Return words for drop reasons by name."""
    return {name: entry["words"] for name, entry in contract()["reasons"].items()}
