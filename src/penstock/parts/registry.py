"""Finds parts: ours below `blocks/`, and the folders of others, which `--with DIR` or the variable PENSTOCK_WITH name.

`--with` goes into the variable, so that whatever is started from here finds the same parts.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from penstock.basics.files import read_text
from penstock.basics.suggest import nearest
from penstock.basics.where import first_error, path_text
from penstock.errors import UserError
from penstock.parts import python
from penstock.parts.manifest import FILE, KIND_WORDS, NAME, RESERVED, Part
from penstock.paths import BLOCKS, shown

VARIABLE = "PENSTOCK_WITH"
MAX_BYTES = 1 << 20
HOMES = {"aqm": BLOCKS / "aqm", "scheduler": BLOCKS / "schedule"}  # of ours
ARTICLES = {"aqm": "an", "scheduler": "a"}


def add_folder(folder: Path) -> None:
    """Let the part of this folder, or file of Python, be found, here and in what this process starts. Raises UserError unless it is one."""
    path = folder.absolute()
    if os.pathsep in str(path):
        raise UserError(f"{folder}: has {os.pathsep!r} in its path, which {VARIABLE} takes for the end of a path; move it elsewhere")
    part = _load(path)
    known = others()
    if path in known:
        return
    if (other := everything().get(part.name)) is not None:
        raise UserError(_twice(part, other))
    os.environ[VARIABLE] = os.pathsep.join(map(str, [*known, path]))


def parts(kind: str) -> dict[str, Part]:
    """Return all parts of a kind ("aqm", "scheduler") by name, ours first. Raises UserError for a folder that is not a sound part."""
    return {name: part for name, part in everything().items() if part.kind == kind}


def everything() -> dict[str, Part]:
    """Return the parts of all kinds by name, ours first; a configuration has a part's numbers under its name, so that is one part's alone.

    Raises UserError for a folder that is not a sound part.
    """
    found: dict[str, Part] = {}
    for folder in [*(own for kind in HOMES for own in _own(kind)), *others()]:
        part = _load(folder)
        if part.name in found:
            raise UserError(_twice(part, found[part.name]))
        found[part.name] = part
    return found


def find(kind: str, name: str) -> Part:
    """Return the part of this name. Raises UserError when there is none."""
    known = parts(kind)
    if name not in known:
        raise UserError(f"there is no {KIND_WORDS[kind]} {name!r}{nearest(name, known)} (--with DIR or FILE.py adds one of your own)")
    return known[name]


def _twice(part: Part, other: Part) -> str:
    one = "another" if part.kind == other.kind else ARTICLES[other.kind]
    what = f"there is {one} {KIND_WORDS[other.kind]} called {part.name}, in {shown(other.python or other.folder)}"
    place = part.python or part.folder
    return f"{shown(place)}: {what}; the {'file' if part.python else 'folder'}'s name is the part's"


def _own(kind: str) -> list[Path]:
    return sorted(path.parent for path in HOMES[kind].glob(f"*/{FILE}"))


def others() -> list[Path]:
    """Return the folders of others, and their files of Python."""
    return [Path(entry).absolute() for entry in dict.fromkeys(os.environ.get(VARIABLE, "").split(os.pathsep)) if entry]


def _load(folder: Path) -> Part:
    if folder.suffix == python.SUFFIX:
        return _load_python(folder)
    path = folder / FILE
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        what = "has no file part.yaml, so it is no part" if folder.is_dir() else "there is no such folder"
        raise UserError(f"{shown(folder)}: {what}") from None


def _load_python(path: Path) -> Part:
    try:
        return _read_python(path, path.stat().st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{shown(path)}: there is no such file") from None


@cache
def _read_python(path: Path, _modified: int) -> Part:
    _check_name(path, path.stem, "file")
    return python.load(path)


def _check_name(path: Path, name: str, what: str) -> None:
    if not re.fullmatch(NAME, name) or name in RESERVED:
        raise UserError(f"{shown(path)}: a part's {what} is called as the part: small letters, digits and _, and not {', '.join(RESERVED)}")


@cache
def _read(path: Path, _modified: int) -> Part:
    folder = path.parent
    _check_name(folder, folder.name, "folder")
    try:
        document = YAML(typ="safe").load(read_text(path, "a part's manifest", MAX_BYTES))
    except MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UserError(f"{shown(path)}{line}: not YAML: {error.problem}") from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{shown(path)}: not YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(document, Mapping):
        raise UserError(f"{shown(path)}: must be a mapping with kind, words, rtl, model and so on")
    try:
        return Part.model_validate(document).placed(folder)
    except ValidationError as error:
        key, message = first_error(error, document)
        raise UserError(f"{shown(path)}: {path_text(key)}{': ' if key else ''}{message}") from None
