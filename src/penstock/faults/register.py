"""Reads and checks the files of the register, and says which faults no longer apply."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.graph.project import files_of
from penstock.paths import ROOT

FILE_NAME = "faults.yaml"
MAX_BYTES = 1 << 20  # of one file: the largest that is written by hand has some ten thousand
_CHANGE_KEYS = ("file", "replace", "with")
_KEYS = ("name", "words", *_CHANGE_KEYS, "changes", "tests", "slow", "equivalent")


@dataclass(frozen=True)
class Change:
    """In `file` (from the root of the project), `old` stands exactly once, or at character `at`; `new` takes its place.

    Layout and comments may be others than in `old`, where it is not there as it is written.
    """

    file: str
    old: str
    new: str
    at: int | None = None

    def place_in(self, text: str) -> tuple[int, int]:
        """Return where in `text` the change is. Raises Stale."""
        if self.at is not None:
            if not text.startswith(self.old, self.at):
                raise Stale(f"{self.file}: {self.old!r} has moved")
            return self.at, self.at + len(self.old)
        if text.count(self.old) == 1:
            start = text.index(self.old)
            return start, start + len(self.old)
        found = [] if self.old in text else list(_tolerant(self.old).finditer(text))
        if len(found) != 1:
            count, first = len(found) or text.count(self.old), self.old.strip().splitlines()[0]
            raise Stale(f"{self.file}: the text to replace ({first!r}) is there {count or 'no'} {'time' if count < 2 else 'times'}")
        return found[0].span()


_BETWEEN = r"(?:\s|//[^\n]*\n|/\*.*?\*/|\#[^\n]*\n)*"


def _tolerant(text: str) -> re.Pattern[str]:
    """Return a pattern for the tokens of `text`, however they are laid out."""
    tokens = re.findall(r"\w+|[^\w\s]", text)
    ends = [r"(?<!\w)" if tokens and tokens[0][0].isalnum() else "", r"(?!\w)" if tokens and tokens[-1][-1].isalnum() else ""]
    parts = [re.escape(token) for token in tokens]
    pattern = parts[0] if parts else "(?!)"
    for before, after, part in zip(tokens, tokens[1:], parts[1:], strict=False):
        words = before[-1].isalnum() and after[0].isalnum()
        pattern += (_BETWEEN.replace(")*", ")+") if words else _BETWEEN) + part
    return re.compile(ends[0] + pattern + ends[1], re.DOTALL)


@dataclass(frozen=True)
class Fault:
    """One fault. `tests` are pytest's names; one of them at least must fail when the fault is planted."""

    place: str
    name: str
    words: str
    changes: tuple[Change, ...]
    tests: tuple[str, ...]
    slow: bool = False
    equivalent: str = ""  # why no test can see it: such a mutant is not tried

    @property
    def id(self) -> str:
        """The fault's name in the whole register, as the command takes it."""
        return f"{self.place}:{self.name}"

    @property
    def is_mutant(self) -> bool:
        """Whether an operator made it."""
        return self.changes[0].at is not None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the fault changes, once each."""
        return tuple(dict.fromkeys(change.file for change in self.changes))

    def as_json(self) -> dict[str, Any]:
        """Return what `faults --list --json` shows of the fault."""
        keys = {"place": self.place, "name": self.name, "words": self.words}
        return keys | {"file": self.files[0], "files": list(self.files), "tests": list(self.tests), "slow": self.slow}

    def planted(self, root: Path) -> dict[str, str]:
        """Return the text of each changed file below `root` with the fault in it. Raises Stale when the fault does not apply."""
        texts: dict[str, str] = {}
        for change in self.changes:
            if change.file not in texts:
                try:
                    texts[change.file] = (root / change.file).read_text()
                except (OSError, UnicodeDecodeError):
                    raise Stale(f"there is no text file {change.file}") from None
            start, end = change.place_in(texts[change.file])
            texts[change.file] = texts[change.file][:start] + change.new + texts[change.file][end:]
        return texts

    def stale(self, root: Path) -> str | None:
        """Return why the fault no longer applies to the sources below `root`, or None."""
        try:
            self.planted(root)
        except Stale as error:
            return str(error)
        for test in self.tests:
            path, _, name = test.partition("::")
            if name and f"def {_function(name)}(" not in (root / path).read_text():
                return f"{path} has no test {_function(name)}"
        return None


class Stale(Exception):
    """A fault does not apply to the sources any more."""


def _function(name: str) -> str:
    """The function in the second half of a test's name: `Class::test_x[parameters]`."""
    return name.partition("[")[0].rpartition("::")[2]


def read() -> list[Fault]:
    """Return all faults of the project, by place, in the order of their files. Raises UserError."""
    paths = [path for path in files_of(ROOT) if PurePosixPath(path).name == FILE_NAME]
    return [fault for path in paths for fault in read_file(ROOT, path)]


def read_file(root: Path, path: str) -> list[Fault]:
    """Return the faults of one file (`path` from `root`). Raises UserError."""
    file = root / path
    if file.stat().st_size > MAX_BYTES:
        raise UserError(f"{path}: has {file.stat().st_size:,} bytes; a file of faults has at most {MAX_BYTES:,}")
    text = file.read_text(errors="replace")
    try:
        document = YAML(typ="safe").load(text)
    except MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UserError(f"{path}{line}: not YAML: {error.problem}") from None
    except YAMLError as error:
        raise UserError(f"{path}: not YAML: {error}") from None
    if not isinstance(document, list) or not document:
        raise UserError(f"{path}: must be a list of faults")
    place = str(PurePosixPath(path).parent)
    faults: dict[str, Fault] = {}
    for number, entry in enumerate(document, 1):
        fault = _fault(root, path, place, number, entry)
        if fault.name in faults:
            raise UserError(f"{path}: there are two faults {fault.name!r}")
        faults[fault.name] = fault
    return list(faults.values())


def _fault(root: Path, path: str, place: str, number: int, entry: Any) -> Fault:
    if not isinstance(entry, dict):
        raise UserError(f"{path}: fault {number}: must be a mapping with name, words, file, replace, with and tests")
    where = f"{path}: fault {entry.get('name', number)!r}"
    for key in entry:
        if key not in _KEYS:
            raise UserError(f"{where}: there is no key {key!r}{nearest(str(key), _KEYS)}")
    name, words = _text(where, entry, "name"), _text(where, entry, "words")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise UserError(f"{where}: a name is lower-case words joined by '-'")
    changes = entry.get("changes")
    if changes is None:
        changes = [{key: entry[key] for key in _CHANGE_KEYS if key in entry}]
    elif not isinstance(changes, list) or not changes or any(key in entry for key in _CHANGE_KEYS):
        raise UserError(f"{where}: has either file, replace and with, or changes, a list of such")
    equivalent = _text(where, entry, "equivalent") if "equivalent" in entry else ""
    tests = entry.get("tests")
    if equivalent and tests is None and len(changes) == 1:
        tests = []
    elif not isinstance(tests, list) or not tests or not all(isinstance(test, str) for test in tests):
        raise UserError(f"{where}: tests must be a list of names of pytest")
    for test in tests:
        file = _inside(where, test.partition("::")[0])
        if not (root / file).is_file():
            raise UserError(f"{where}: the test {test} is in a file that does not exist")
    return Fault(
        place=place,
        name=name,
        words=words,
        changes=tuple(_change(where, change) for change in changes),
        tests=tuple(tests),
        slow=_flag(where, entry, "slow"),
        equivalent=equivalent,
    )


def _change(where: str, change: Any) -> Change:
    if not isinstance(change, dict) or set(change) != set(_CHANGE_KEYS):
        raise UserError(f"{where}: a change has the keys file, replace and with, each once")
    file, old, new = (_text(where, change, key, empty=key == "with") for key in _CHANGE_KEYS)
    if old == new:
        raise UserError(f"{where}: replaces a text of {file} by itself")
    return Change(_inside(where, file), old, new)


def _inside(where: str, file: str) -> str:
    parts = PurePosixPath(file)
    if parts.is_absolute() or ".." in parts.parts or not file:
        raise UserError(f"{where}: {file!r} must be a path from the root of the project")
    return str(parts)


def _text(where: str, entry: dict[str, Any], key: str, empty: bool = False) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not (value or empty):
        raise UserError(f"{where}: {key} must be a text" + ("" if empty else " that is not empty"))
    return value


def _flag(where: str, entry: dict[str, Any], key: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise UserError(f"{where}: {key} must be true or false")
    return value


def chosen(faults: Sequence[Fault], place: str | None) -> list[Fault]:
    """Return the faults of `place`: a folder (`blocks/queue`, `blocks`), its last part (`queue`), or one fault (`blocks/queue:NAME`).

    Raises UserError when there are none.
    """
    if place is None:
        return list(faults)
    wanted = place.rstrip("/")
    found = [fault for fault in faults if wanted in _names_of(fault)]
    if not found:
        raise UserError(f"there are no faults of {place!r}{nearest(wanted, _all_names(faults))}")
    return found


def _names_of(fault: Fault) -> set[str]:
    folders = [str(folder) for folder in (PurePosixPath(fault.place), *PurePosixPath(fault.place).parents) if str(folder) != "."]
    last = PurePosixPath(fault.place).name
    return {*folders, last, fault.id, f"{last}:{fault.name}"}


def _all_names(faults: Iterable[Fault]) -> set[str]:
    return {fault.place for fault in faults}
