"""Tables of the documents that programs write: texts as cells that lint takes."""

import re
import textwrap

WIDTH = 116  # characters of a text in one cell: with its marks it stays within what lint allows


def cell(text: str) -> str:
    """Return the text as it stands in a cell."""
    return " ".join(text.split()).replace("|", "\\|")


def cells(text: str, mark: str = "") -> list[str]:
    """Return the text in as many cells as it needs, one below the other, each between `mark`; one empty cell for no text.

    Cells end with a sentence or its half where that leaves no cell too long.
    """
    parts: list[str] = []
    for sentence in re.split(r"(?<=[.;])\s+", " ".join(text.split())):
        if parts and len(parts[-1]) + 1 + len(sentence) <= WIDTH:
            parts[-1] += f" {sentence}"
        else:
            parts += textwrap.wrap(sentence, WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"{mark}{cell(part)}{mark}" for part in parts] or [""]
