"""report.html of a paper: the paper's numbers beside ours, conventions, and cards (`penstock.reports.cards`)."""

from html import escape
from typing import Any

from penstock import __version__
from penstock.reports import cards


def page(result: dict[str, Any], made: list[dict[str, Any]]) -> str:
    """Return the page."""
    config = result["config"]
    how = "everything (--full)" if config["full"] else "the short form; --full has everything"
    conventions = "".join(f"<p>{escape(text)}</p>" for text in result["conventions"])
    before = (
        '<section class="card wide"><h2>The paper\'s numbers beside ours</h2>'
        f"<p>What the paper states in words; its plots carry no numbers.</p>{stated_table(result['stated'])}</section>"
        f'<section class="card wide"><h2>How the numbers come about</h2>{conventions}</section>'
    )
    footer = f"<p>Seed {result['seed']}, {how}. Penstock {escape(__version__)}.</p>"
    return cards.page(result["title"], f"Made again: {', '.join(config['parts'])}.", before, made, footer)


def number(value: float | None) -> str:
    """Return a number for a table: three digits after the point below 10, none from 1,000 on."""
    if value is None:
        return "-"
    digits = 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def stated_rows(stated: list[dict[str, Any]]) -> list[list[str]]:
    """Return the comparison as cells, its head first."""
    rows = [["", "paper", "ours", "+- 95 %", "difference", "note"]]
    for line in stated:
        difference = "-" if line["difference"] is None else f"{100 * line['difference']:+.1f} %"
        rows.append([
            f"{line['what']} ({line['unit']})", number(line["paper"]), number(line["ours"]), number(line["ci95"]), difference, line["note"],
        ])  # fmt: skip
    return rows


def stated_table(stated: list[dict[str, Any]]) -> str:
    """Return the comparison as HTML."""
    return cards.table(stated_rows(stated), prose=5) if stated else "<p>The paper states no number for these parts.</p>"
