# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The modules that packages have in common, as a folder and a FuseSoC core of their own.

Only few sources differ between packages: the top modules, the files that say which AQM and which scheduler are in, parts of the user's own,
and all modules above these. A package beside the common modules has only those, and names for them that no other package has.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from penstock import __version__
from penstock.basics.growing import PARTIAL, growing
from penstock.errors import UserError
from penstock.hardware import library
from penstock.paths import ROOT, read_file_list

CORE = f"penstock:common:modules:{__version__}"
LIST = "modules.f"


@cache
def sources() -> list[Path]:
    """Return the sources of all blocks and designs, each behind what it needs."""
    return list(dict.fromkeys(path for listed in library.file_lists().values() for path in read_file_list(listed)))


def split(listed: Sequence[Path], own: Iterable[str]) -> tuple[list[Path], list[Path]]:
    """Return which of the sources of a package are common, and which are not: they use a module of `own`, directly or not."""
    texts = {path: _code(path) for path in listed}
    common, found = set(sources()), set(own)
    before = -1
    while before != len(found):
        before = len(found)
        for path in listed:
            if path.stem not in found and (path not in common or found & texts[path]):
                found.add(path.stem)
    return [path for path in listed if path.stem not in found], [path for path in listed if path.stem in found]


def _code(path: Path) -> set[str]:
    """Return the words of a source, without those of its comments."""
    return set(re.findall(r"\w+", re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)))


def names() -> frozenset[str]:
    """Return the names of the common modules and packages."""
    return frozenset(path.stem for path in sources())


def place(folder: Path, package: Path) -> str:
    """Return where a package finds the common modules."""
    return os.path.relpath(folder.resolve(), package.resolve())


def write(folder: Path, waivers: str) -> int:
    """Write the common modules into `folder`, or leave them there if they are the same ones; return how many there are.

    Raises UserError for a folder that has something else.
    """
    wanted = _texts(waivers)
    if folder.is_dir() and any(not path.name.startswith(PARTIAL) for path in folder.iterdir()):
        for name, text in wanted.items():
            if not (folder / name).is_file() or (folder / name).read_text() != text:
                raise UserError(f"--common {folder}: is not empty, and its {name} is not that of Penstock {__version__}; remove the folder")
        return len(sources())
    with growing(folder) as grown:
        (grown / "rtl").mkdir()
        for name, text in wanted.items():
            (grown / name).write_text(text)
    return len(sources())


def _texts(waivers: str) -> dict[str, str]:
    files = [f"rtl/{path.name}" for path in sources()]
    listed = "".join(f"      - {name}\n" for name in files)
    core = f"""CAPI=2:
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
name: {CORE}
description: Modules that the packages of Penstock have in common

filesets:
  rtl:
    files:
{listed}    file_type: systemVerilogSource
  waivers:
    files:
      - verilator.vlt
    file_type: vlt

targets:
  default:
    filesets: [waivers, rtl]
"""
    readme = f"""# Common modules

Written by Penstock {__version__}: the modules that its packages have in common, once. They have no top module; a package that was made with
`--common` lists those that it needs, and its FuseSoC core depends on `{CORE.rpartition(":")[0]}`.

`{LIST}` has all of them in the order of compilation, packages first.

Licence: Apache-2.0 WITH SHL-2.1, see LICENSE.
"""
    return {
        **{f"rtl/{path.name}": path.read_text() for path in sources()},
        LIST: "".join(f"{name}\n" for name in files),
        "modules.core": core,
        "verilator.vlt": waivers,
        "README.md": readme,
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }
