# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Names in a package of its own: two packages in one project have no module, package or file in common."""

import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from penstock.errors import UserError

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_OURS = re.compile(r"(?<![A-Za-z0-9])pst_")  # with which all modules, packages and files begin
_LONGEST = 40  # characters of settings in a name


def checked(name: str | None) -> str | None:
    """Return a name that `--name` gave. Raises UserError for one that no module can begin with."""
    if name is not None and (not _NAME.fullmatch(name) or name.endswith("_")):
        raise UserError(
            f"--name {name}: a name begins with a small letter; small letters, digits and inner _ follow, 31 characters at most"
        )
    return name


def of_settings(name: str, changes: Mapping[str, str]) -> str:
    """Return the name of a configuration with these settings: another one for other settings."""
    if not changes:
        return name
    told = "_".join(f"{key.rpartition('.')[2]}_{value}" for key, value in sorted(changes.items()))
    told = re.sub(r"[^a-z0-9]+", "_", told.lower()).strip("_")
    if len(told) > _LONGEST:
        told = f"{zlib.crc32(repr(sorted(changes.items())).encode()):08x}"
    return f"{name}_{told}"


def rename(folder: Path, name: str | None) -> None:
    """Let the names in a package begin with `name` in place of `pst`, in its files and of its files; register maps have none of them."""
    if name is None:
        return
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).parts[0] != "regs":
            path.write_text(new(path.read_text(), name))
            path.rename(path.with_name(new(path.name, name)))


def new(text: str, name: str | None) -> str:
    """Return a text with the names that it has in a package of this name."""
    return text if name is None else _OURS.sub(f"{name}_", text)
