"""Reading long YAML files with libyaml, some twenty times as fast as with ruamel.yaml, whose parser is written in Python.

The values are those that ruamel.yaml gives (YAML 1.2, where PyYAML by itself would follow 1.1), and every key and item has its line. What
is rare in a long file (anchors, tags, directives, dates, numbers of other notations) and whatever is wrong with one is left to ruamel.yaml,
whose errors all files have.
"""

import re
from dataclasses import dataclass
from typing import Any

import yaml
from ruamel.yaml.resolver import implicit_resolvers

_SMALLEST = 16_384  # characters; ruamel.yaml reads so many in a tenth of a second or two
_LEFT = re.compile("[\t\ufeff\x85\u2028\u2029]|^%", re.MULTILINE)  # where the rules of the two readers differ
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
# What a scalar without quotes may be but a text, by its first character.
_KINDS = {
    first: [regexp for versions, _, regexp, firsts in implicit_resolvers if (1, 2) in versions and first in firsts]
    for first in {first for _, _, _, firsts in implicit_resolvers for first in firsts}
}
_MEANT: tuple[tuple[str, bool | None], ...] = (("true", True), ("false", False), ("null", None))
_WORDS: dict[str, bool | None] = {"": None, "~": None}
_WORDS |= {form: value for word, value in _MEANT for form in (word, word.capitalize(), word.upper())}


@dataclass(frozen=True)
class Places:
    """The lines, counted from 0, of a mapping's keys or a list's items, and the places in what stands there."""

    at: dict[Any, tuple[int, "Places | None"]]


class _Left(Exception):
    """This reader leaves the file to the other one."""


def read(text: str, smallest: int | None = None) -> tuple[Any, Places | None] | None:
    """Return the data of a YAML file, whose keys are still what they are there (numbers, say), and where it stands; None: it is shorter
    than `smallest`, or one that ruamel.yaml has to read.
    """
    if len(text) < (_SMALLEST if smallest is None else smallest) or _LEFT.search(text) or not yaml.__with_libyaml__:
        return None
    loader = yaml.CSafeLoader(text)
    try:
        return _document(loader)
    except (_Left, yaml.YAMLError, RecursionError, ValueError):
        return None
    finally:
        loader.dispose()


def _document(loader: yaml.CSafeLoader) -> tuple[Any, Places | None]:
    loader.get_event()  # the stream begins
    start = loader.get_event()
    if not isinstance(start, yaml.DocumentStartEvent) or start.version or start.tags:
        raise _Left
    data, places = _node(loader, loader.get_event())
    loader.get_event()  # the document ends
    if not isinstance(loader.get_event(), yaml.StreamEndEvent):
        raise _Left
    return data, places


def _node(loader: yaml.CSafeLoader, event: Any) -> tuple[Any, Places | None]:
    kind = type(event)
    if kind is yaml.AliasEvent or event.anchor is not None or event.tag is not None:
        raise _Left
    if kind is yaml.ScalarEvent:
        return (_plain(event.value) if event.style in (None, "") else event.value), None
    at: dict[Any, tuple[int, Places | None]] = {}
    next_event = loader.get_event
    if kind is yaml.SequenceStartEvent:
        items: list[Any] = []
        while type(event := next_event()) is not yaml.SequenceEndEvent:
            line = event.start_mark.line
            item, inner = _node(loader, event)
            at[len(items)] = line, inner
            items.append(item)
        return items, Places(at)
    data: dict[Any, Any] = {}
    while type(event := next_event()) is not yaml.MappingEndEvent:
        line = event.start_mark.line
        key, inner = _node(loader, event)
        if inner is not None or key in data or key == "<<":
            raise _Left
        data[key], inner = _node(loader, next_event())
        at[key] = line, inner
    return data, Places(at)


def _plain(text: str) -> Any:
    """Return what a scalar without quotes means."""
    if text in _WORDS:
        return _WORDS[text]
    if not any(kind.match(text) for kind in _KINDS.get(text[0], ())):
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    raise _Left
