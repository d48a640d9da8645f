# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a wheel depends on, from requirements.txt, so that it is written once: hatchling calls this (pyproject.toml)."""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

EXTRA = "checks"


class Requirements(MetadataHookInterface):
    """What stands below the line `# checks` becomes the extra of that name."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in `dependencies` and `optional-dependencies`."""
        needed, separator, extra = (Path(self.root) / "requirements.txt").read_text().partition(f"\n# {EXTRA}\n")
        if not separator:
            raise ValueError(f"requirements.txt has no line `# {EXTRA}`")
        metadata["dependencies"] = _names(needed)
        metadata["optional-dependencies"] = {EXTRA: _names(extra)}


def _names(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
