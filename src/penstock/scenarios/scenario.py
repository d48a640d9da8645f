"""Reading a scenario: YAML with line numbers, `--set` on top, validation, and errors that say file, line and key."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from penstock.basics.files import read_text
from penstock.basics.suggest import nearest
from penstock.basics.units import describe
from penstock.basics.where import KeyPath, first_error, step
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.scenarios import quick_yaml
from penstock.scenarios.common import bounded_lists
from penstock.scenarios.values import MAX_NAME

Checked = TypeVar("Checked", bound=BaseModel)

MAX_FILE_BYTES = 2_000_000  # some 2 s to read, 20 where quick_yaml leaves it to ruamel.yaml
MAX_NODES = 1_000_000  # keys and values, counted again wherever an alias (`*name`) repeats them
_WITH_COMMAS = re.compile(r"\{.*:\s*[0-9]{1,3}(?:,[0-9]{3}){2,}")
_NUMBER = re.compile(r"[0-9]{1,9}")  # of an item in a list


@dataclass(frozen=True)
class Document:
    """A file as it was read, mostly a scenario: its data with the `--set` values in place, and where each key stands."""

    path: Path | None  # None: it is no file, but values given to a function
    data: dict[str, Any]
    places: Any  # of quick_yaml, or a tree of ruamel.yaml
    settings: dict[KeyPath, str]
    what: str = "scenario"

    def fail(self, key: KeyPath, message: str) -> NoReturn:
        """Raise the UserError `FILE:LINE: KEY message`; a key that came by `--set` names that instead of file and line."""
        for length in range(len(key), 0, -1):
            setting = self.settings.get(key[:length])
            if setting is not None:
                raise UserError(f"--set {setting}: {self.key_text(key)} {message}")
        if self.path is None:
            raise UserError(f"{self.key_text(key)} {message}")
        line = self._line(key)
        raise UserError(f"{self.path}{f':{line}' if line else ''}: {self.key_text(key)} {message}".replace("  ", " "))

    def key_text(self, key: KeyPath) -> str:
        """Return a key as `--set` takes it, list items by their name where they have one: `queues.bulk.rate`."""
        words: list[str] = []
        here: Any = self.data
        for part in key:
            here = step(here, part)
            name = here.get("name") if isinstance(part, int) and isinstance(here, dict) else None
            words.append(name if isinstance(name, str) and 0 < len(name) <= MAX_NAME else str(part))
        return "`" + ".".join(words) + "`" if words else f"the {self.what}"

    def _line(self, key: KeyPath) -> int | None:
        here, line = self.places, None
        for part in key:
            try:
                if isinstance(here, quick_yaml.Places):
                    line, here = here.at[part][0] + 1, here.at[part][1]
                    continue
                position = here.lc.key(part) if isinstance(here, CommentedMap) else here.lc.item(part)
                line, here = position[0] + 1, here[part]
            except (KeyError, IndexError, TypeError, AttributeError):
                break
        return line


def open_file(path: Path, settings: list[str] | None = None) -> Document:
    """Read a scenario; `settings` are `KEY=VALUE` texts applied in order. Raises UserError."""
    document = read(path, "scenario", "docs/scenario-access-edge.md", "duration: 20 ms")
    for setting in settings or []:
        _apply(document, setting)
    return document


def validated(model: type[Checked], document: Document) -> Checked:
    """Return what a document says as `model`. Raises UserError."""
    try:
        with bounded_lists():
            return model.model_validate(document.data)
    except ValidationError as error:
        explain(document, error)


def load(path: Path, settings: list[str] | None = None) -> tuple[Any, Document]:
    """Read a scenario and validate it as its design wants it. Raises UserError."""
    from penstock.scenarios.device import design_of

    document = open_file(path, settings)
    return validated(design_of(document).scenario, document), document


def located(name: str, scenario: Path | None) -> Path:
    """Return the file that a scenario names: beside it, or else in the folder of Penstock, as `p4/router.json`."""
    path = Path(name)
    beside = path if path.is_absolute() or scenario is None else scenario.parent / path
    return beside if beside.exists() or path.is_absolute() or not (ROOT / path).exists() else ROOT / path


def check(model: type[Checked], data: Mapping[str, Any]) -> tuple[Checked, Document]:
    """Validate what a scenario says in a part of it (`model`) without a file. Raises UserError."""
    document = Document(None, dict(data), None, {})
    return validated(model, document), document


def read(path: Path, what: str, page: str, example: str) -> Document:
    """Read a YAML file whose top level is keys with values. Raises UserError, in which `what` is what the file should be, `page` the
    document that describes it, and `example` one of its lines.
    """
    data, places = _read_yaml(path, what, page, example)
    try:
        return Document(path, _plain(data), places, {}, what)
    except _NotFinite as error:
        Document(path, error.data, places, {}, what).fail(error.key, str(error))
    except (ValueError, RecursionError) as error:  # a list may hold itself
        raise UserError(f"{path}: {error if isinstance(error, ValueError) else 'is nested too deep, or an alias holds itself'}") from None


def _read_yaml(path: Path, what: str, page: str, example: str) -> tuple[Any, Any]:
    """Return what a file says, and where its keys stand: a tree of ruamel.yaml, which is both, or that of quick_yaml."""
    try:
        text = read_text(path, f"a {what}", MAX_FILE_BYTES)
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file{_similar(path)}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not a text file; a {what} is a YAML file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        data, places = quick_yaml.read(text) or _slowly(text)
    except DuplicateKeyError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        found = re.search(r'duplicate key "([^"]*)"', str(error.problem))
        key = found[1] if found else "a key"
        if _WITH_COMMAS.search((text.splitlines() or [""])[line - 1]):
            raise UserError(
                f"{path}:{line}: has a number with commas, and {{ }} around it, where a comma ends a value: "
                "write it without commas, or in quotes"
            ) from None
        raise UserError(f"{path}:{line}: `{key}` stands there a second time") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UserError(f"{path}{f':{mark.line + 1}' if mark else ''}: is not valid YAML: {error.problem or error.context}") from None
    except RecursionError:
        raise UserError(f"{path}: is nested too deep for a {what}") from None
    except (YAMLError, ValueError) as error:
        raise UserError(f"{path}: is not valid YAML: {(str(error).splitlines() or ['no reason is given'])[0]}") from None
    if data is None:
        raise UserError(f"{path}: is empty; {page} says what a {what} holds")
    if not isinstance(data, dict):
        raise UserError(f"{path}: is not a {what}: its top level must be keys with values, such as `{example}`")
    return data, places


def _slowly(text: str) -> tuple[Any, Any]:
    commented = YAML(typ="rt").load(text)
    return commented, commented


def _similar(path: Path) -> str:
    try:
        names = [p.name for p in path.parent.iterdir() if p.suffix in (".yaml", ".yml")]
    except OSError:
        return ""
    return nearest(path.name, names) if names else ""


class _NotFinite(ValueError):
    """A number that is infinite or none: no key means one, and a result that repeats the scenario cannot hold it, as JSON has no such."""

    def __init__(self, value: float, key: KeyPath, data: Any) -> None:
        super().__init__(f"must be a finite number, not {describe(value)}")
        self.key, self.data = key, data


def _plain(node: Any) -> Any:
    """Return YAML data as plain dicts, lists and scalars (ruamel's round-trip scalars are subclasses that would leak into JSON).

    Raises ValueError for more than MAX_NODES of them: aliases of aliases become very many; and for a number that is not finite.
    """
    left = MAX_NODES
    root = node

    def copy(node: Any, key: KeyPath = ()) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise ValueError(f"it holds more than {MAX_NODES:,} keys and values, or aliases (`*name`) repeat them that often")
        if isinstance(node, Mapping):
            return {str(k) if not isinstance(k, (bool, type(None))) else describe(k): copy(v, (*key, k)) for k, v in node.items()}
        if isinstance(node, (list, CommentedSeq)):
            return [copy(item, (*key, index)) for index, item in enumerate(node)]
        if node is None or isinstance(node, bool):
            return node
        if isinstance(node, float) and not isfinite(node):
            raise _NotFinite(float(node), key, root)
        for kind in (int, float, str):
            if isinstance(node, kind):
                return kind(node)
        return str(node)  # dates and the like: validation then says what is expected

    return copy(node)


def _apply(document: Document, setting: str) -> None:
    key_text, equals, value_text = setting.partition("=")
    parts = [part.strip() for part in key_text.split(".")]
    if not equals or not all(parts):
        raise UserError(f'--set {setting}: must read KEY=VALUE, such as --set queues.bulk.rate="5 Mbit/s"')
    if not value_text.strip():
        raise UserError(f"--set {setting}: has no value; write KEY=VALUE")
    try:
        value = _plain(YAML(typ="safe", pure=True).load(value_text))
    except _NotFinite as error:
        raise UserError(f"--set {setting}: {error}") from None
    except (YAMLError, ValueError, RecursionError):  # a list may hold itself
        raise UserError(f"--set {setting}: the value is not valid YAML") from None
    here: Any = document.data
    key: list[str | int] = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if isinstance(here, list):
            key.append(_item(here, part, setting, key_text))
        elif isinstance(here, dict):
            key.append(part)
            if not last and here.get(part) is None:
                here[part] = {}
        else:
            raise UserError(f"--set {setting}: `{'.'.join(parts[:index])}` is a single value and has no key `{part}`")
        if last:
            here[key[-1]] = value
        else:
            here = here[key[-1]]
    document.settings[tuple(key)] = setting


def _item(items: list[Any], part: str, setting: str, key_text: str) -> int:
    names = [name for item in items if isinstance(item, dict) and isinstance(name := item.get("name"), str)]
    for index, item in enumerate(items):
        if isinstance(item, dict) and item.get("name") == part:
            return index
    if _NUMBER.fullmatch(part) and int(part) < len(items):
        return int(part)
    if _NUMBER.fullmatch(part) or not names:
        raise UserError(f"--set {setting}: there is no item `{part}` in {key_text}: the list has {len(items)}, counted from 0")
    raise UserError(f"--set {setting}: there is no item named `{part}` in {key_text}{nearest(part, names)}")


def explain(document: Document, error: ValidationError) -> NoReturn:
    """Raise the UserError for the first thing that is wrong."""
    document.fail(*first_error(error, document.data))
