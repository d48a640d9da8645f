# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a wheel depends on, from requirements.txt, so that it is written once: hatchling calls this (pyproject.toml)."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

CORE = "core"


class Requirements(MetadataHookInterface):
    """The group `core` is what a wheel depends on; each other group becomes the extra of its name."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in `dependencies` and `optional-dependencies`."""
        groups: dict[str, list[str]] = {}
        for line in (Path(self.root) / "requirements.txt").read_text().splitlines():
            if head := re.match(r"# \[([a-z]+)\] ", line):
                pins = groups.setdefault(head[1], [])
            elif line and not line.startswith("#"):
                pins.append(line)
        metadata["dependencies"] = groups.pop(CORE)
        metadata["optional-dependencies"] = groups
