"""One line of the comparison between a paper's stated numbers and ours; docs/papers.md has its keys."""

from typing import Any


def entry(
    part: str, what: str, unit: str, paper: float | None, ours: float | None, ci95: float | None = None, *, note: str = ""
) -> dict[str, Any]:
    """Return one line of the comparison. `difference` is ours over the paper's, less one; None where one of them is missing or 0."""
    difference = None if ours is None or not paper else round(ours / paper - 1, 4)
    return {"part": part, "what": what, "unit": unit, "paper": paper, "ours": ours, "ci95": ci95, "difference": difference, "note": note}
