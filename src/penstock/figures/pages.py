"""Puts numbers into pages: tables between `<!-- figures TOPIC.TABLE -->` and `<!-- end -->`, numbers of sentences between
`<!-- figure TOPIC.VALUE -->` and `<!-- / -->`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.basics.tables import cell
from penstock.errors import UserError
from penstock.figures import templates
from penstock.figures.definitions import NOT_MEASURED, Shown, Topic, owners
from penstock.figures.results import Measured
from penstock.paths import ROOT

PAGES = ("README.md", "docs/*.md", "docs/how-to/*.md", "blocks/*/README.md", "blocks/*/*.md", "blocks/*/*/README.md", "designs/*/*.md")

# Not in an indented example, and not between backticks.
_TABLE = re.compile(r"^(<!-- figures (\S+) -->\n)(.*?)^(<!-- end -->)", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"(?<!`)(<!-- figure (\S+) -->)(.*?)(<!-- / -->)", re.DOTALL)
_MARKS = re.compile(r"^<!-- figures |(?<!`)<!-- figure ", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """Where a page shows something: the line, what is there and what should be."""

    page: Path
    line: int
    name: str
    was: str
    fresh: str


def pages(root: Path = ROOT) -> list[Path]:
    """Return every page that may have numbers."""
    return sorted({path for pattern in PAGES for path in root.glob(pattern)})


class Writer:
    """Writes the tables and values of some topics."""

    def __init__(self, topics: Mapping[str, Topic], measured: Mapping[str, Mapping[str, Measured]]) -> None:
        self._topics, self._measured = topics, measured
        self._owners = owners(topics)

    def table(self, topic: Topic, name: str) -> str:
        """Return a table as Markdown, between empty lines."""
        heads = topic.heads(name)
        rows = ([self._text(topic, shown) for shown in row] for row in topic.cells(name))
        lines = [f"| {' | '.join(map(cell, line))} |" for line in (heads, *rows)]
        return "\n".join(["", lines[0], f"|{'---|' * len(heads)}", *lines[1:], "", ""])

    def value(self, topic: Topic, name: str) -> str:
        """Return a number of a sentence."""
        return self._text(topic, topic.value(name))

    def _text(self, topic: Topic, shown: Shown) -> str:
        if shown.command is None:
            return shown.text
        found = self._measured[self._owners.get(shown.command, topic).name].get(shown.command)
        if found is None:
            return NOT_MEASURED
        try:
            return templates.filled(shown.text, found.find)
        except KeyError:  # a key that nobody has measured yet
            return NOT_MEASURED

    def places(self, page: Path) -> list[Place]:
        """Return everything that a page shows. Raises UserError for a name that is not known and a mark that does not end."""
        text = page.read_text(encoding="utf-8")
        found = []
        for match in [*_TABLE.finditer(text), *_VALUE.finditer(text)]:
            line = text.count("\n", 0, match.start()) + 1
            topic, _, name = match[2].partition(".")
            parts = (self._topics[topic].tables if match.re is _TABLE else self._topics[topic].values) if topic in self._topics else {}
            if name not in parts:
                what = "table" if match.re is _TABLE else "value"
                raise UserError(f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}:{line}: no {what} is called {match[2]!r}")
            write = self.table if match.re is _TABLE else self.value
            fresh = write(self._topics[topic], name)
            if match.re is _VALUE and match[3].split() == fresh.split():  # a line of the page may end within it
                fresh = match[3]
            found.append(Place(page, line, match[2], match[3], fresh))
        marks = len(_MARKS.findall(text))
        if marks != len(found):
            raise UserError(f"{page.name}: {marks} marks of figures begin and {len(found)} end: write <!-- end --> after a table")
        return found

    def updated(self, page: Path) -> str:
        """Return a page with all its numbers written anew."""
        fresh = {(place.name, place.was): place.fresh for place in self.places(page)}

        def put(match: re.Match[str]) -> str:
            return f"{match[1]}{fresh[match[2], match[3]]}{match[4]}"

        return _VALUE.sub(put, _TABLE.sub(put, page.read_text(encoding="utf-8")))


def not_shown(topics: Mapping[str, Topic], places: list[Place]) -> list[str]:
    """Return the tables and values that no page shows."""
    shown = {place.name for place in places}
    every = (f"{topic.name}.{part}" for topic in topics.values() for part in {**topic.tables, **topic.values})
    return [name for name in every if name not in shown]
