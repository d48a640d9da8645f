"""A paper's parts into a folder: result.json, report.html, and plots.json, of which `penstock plot` makes figures."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.basics.growing import growing
from penstock.errors import UserError
from penstock.papers import SCHEMA, Options, Part
from penstock.papers.page import page
from penstock.plots import figure

RESULTS = Path("results")


def output_folder(paper: str, out: Path | None) -> Path:
    """Return the folder for the result of `paper`, made if need be. Raises UserError when it cannot be written."""
    folder = out or RESULTS / paper
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {folder}: cannot be made: {error.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise UserError(f"--out {folder}: cannot be written")
    return folder


def make(
    name: str, package: Any, parts: list[Part], options: Options, folder: Path, bar: Callable[[str], Any], line: Callable[[str], Any]
) -> dict[str, Any]:
    """Make `parts` of paper `name`, write the files, and return the result (docs/papers.md has its keys)."""
    made = package.make(parts, options, bar, line)
    result = {
        "schema": SCHEMA,
        "seed": options.seed,
        "config": {"paper": name, "parts": [str(part) for part in parts], "full": options.full},
        "title": package.TITLE,
        "stated": made.stated,
        "conventions": made.conventions,
        "parts": made.parts,
    }
    with growing(folder) as grown:
        (grown / "result.json").write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        (grown / "report.html").write_text(page(result, made.cards), encoding="utf-8")
        figure.write(grown / figure.FILE, figure.of_cards(made.cards))
    return result
