"""Where a value stands, and what is raised when it cannot be."""

from collections.abc import Callable
from typing import Any, NoReturn

from pydantic import ValidationError

from penstock.basics.wording import words
from penstock.errors import UserError

KeyPath = tuple[str | int, ...]
# Raises the UserError about a value: its path, and a sentence without its subject, "must be ...".
Fail = Callable[[KeyPath, str], NoReturn]


def path_text(key: KeyPath) -> str:
    """Return a path as a programmer writes it: `queues[3].rate`."""
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def fail(key: KeyPath, message: str) -> NoReturn:
    """Raise the UserError about a value that stands in no file: `queues[3].rate: must be ...`."""
    raise UserError(f"{path_text(key)}: {message}" if key else message)


def first_error(error: ValidationError, data: Any) -> tuple[KeyPath, str]:
    """Return path and sentence of the first thing that is wrong with `data`, which a model has refused."""
    found = error.errors()
    # A name that cannot be is wrong where it is given, not where it is used.
    first = next((one for one in found if one["loc"] and one["loc"][-1] == "name"), found[0])
    key: KeyPath = tuple(part for part in first["loc"] if not str(part).startswith("$"))
    # Below a single value there are no keys: what follows in the path are the members of a union.
    while len(key) > 1 and not isinstance(at(data, key[:-1]), (dict, list)):
        key = key[:-1]
    context = first.get("ctx") or {}
    if first["type"] == "unknown_key":
        return (*key, context["key"]), f"is not a known key{context['hint']}"
    if first["type"] == "empty_value":
        return (*key, context["key"]), f"is empty; {context['hint']}"
    return key, words(first)


def at(data: Any, key: KeyPath) -> Any:
    """Return what stands at a path, None where there is nothing."""
    for part in key:
        data = step(data, part)
    return data


def step(here: Any, part: str | int) -> Any:
    """Return what stands below, None where there is nothing."""
    try:
        return here[part]
    except (KeyError, IndexError, TypeError):
        return None
