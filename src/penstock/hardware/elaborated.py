"""Whether a module elaborates with its parameters; where it does not, what it says of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.basics import children
from penstock.paths import tool_environment


def complaint(top: str, sources: Sequence[Path], parameters: Mapping[str, int | str]) -> str | None:
    """Return why `top` cannot be built with `parameters`, as the module says it or, for want of that, a module within or the tool; None: it
    can."""
    given = [f'-G{name}="{value}"' if isinstance(value, str) else f"-G{name}={value}" for name, value in parameters.items()]
    command = ["verilator", "--lint-only", "--timing", "-Wno-lint", "-Wno-fatal", "-Werror-USERERROR", "--top-module", top]
    done = children.run([*command, *given, *map(str, sources)], env=tool_environment())
    if not done.returncode:
        return None
    said = re.findall(r"^%Error(?:-\w+)?: (?:.*?:\d+:\d+: )?(.+)$", done.stdout + done.stderr, re.MULTILINE)
    own = [text for text in said if text.startswith(f"{top}: ")]
    return next(iter(own or said), f"Verilator ended with status {done.returncode}")
