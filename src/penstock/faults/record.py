"""Which faults were killed, for every checkout: docs/verification.json, which `penstock faults --record` writes.

To try all takes hours, and most of them do not change. So what one machine has found counts on others: of each killed fault the record has
its key, a hash of all that could change the outcome, tools among it. Where that is another, the fault is tried again.
"""

import json
from collections.abc import Mapping
from pathlib import Path

FILE = "docs/verification.json"
DIGITS = 16  # of a key that are kept


def read(root: Path) -> dict[str, str]:
    """Return the first digits of the key of each recorded fault, by its id; nothing where there is no record that can be read."""
    try:
        found = json.loads((root / FILE).read_text())
        return {str(name): str(key) for name, key in found["killed"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def write(root: Path, keys: Mapping[str, str]) -> None:
    """Record these faults, a line each in order, so that records of two branches merge like text."""
    part = root / f"{FILE}.part"
    part.parent.mkdir(exist_ok=True)
    part.write_text(json.dumps({"killed": {name: keys[name][:DIGITS] for name in sorted(keys)}}, indent=1) + "\n")
    part.rename(root / FILE)
