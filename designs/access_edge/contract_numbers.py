# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What hardware and software of the access edge have agreed on, as tools/generate_contract.py writes it."""

import json
from functools import cache
from typing import Any

from penstock.paths import DESIGNS


@cache
def contract() -> dict[str, dict[str, Any]]:
    """Return what hardware and software have agreed on: `registers`, `enums`, `reasons`, `settings`, `rates`."""
    return json.loads((DESIGNS / "access_edge" / "regs" / "access_edge.json").read_text())
