"""report.html of a paper: the paper's numbers beside ours, conventions, plots and tables. Self-contained; nothing is loaded.

A card is {"title", "note", and either "plots": [{"traces", "x", "y"}] or "table": [[cell, ...], ...] with its head first}; traces are
those of plotly, with `colour`, a number, in place of colours. "words", if it has them, are [(head, text), ...] below.
"""

import json
from html import escape
from typing import Any

from penstock import __version__
from penstock.reports.report import fill


def page(result: dict[str, Any], cards: list[dict[str, Any]]) -> str:
    """Return the page."""
    from plotly.offline import get_plotlyjs

    plots: list[dict[str, Any]] = []
    sections = "".join(_card(card, plots) for card in cards)
    config = result["config"]
    how = "everything (--full)" if config["full"] else "the short form; --full has everything"
    parts = {
        "TITLE": escape(result["title"]),
        "DESCRIPTION": escape(f"Made again: {', '.join(config['parts'])}."),
        "STATED": stated_table(result["stated"]),
        "CONVENTIONS": "".join(f"<p>{escape(text)}</p>" for text in result["conventions"]),
        "CARDS": sections,
        "FOOTER": f"<p>Seed {result['seed']}, {how}. Penstock {escape(__version__)}.</p>",
        "DATA": json.dumps(plots, allow_nan=False, separators=(",", ":")).replace("</", "<\\/"),
        "PLOTLY": get_plotlyjs().replace("</script", "<\\/script"),
    }
    return fill("paper.html", parts)


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
    return _table(stated_rows(stated), prose=5) if stated else "<p>The paper states no number for these parts.</p>"


def _card(card: dict[str, Any], plots: list[dict[str, Any]]) -> str:
    head = f"<h2>{escape(card['title'])}</h2><p>{escape(card['note'])}</p>"
    words = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in card.get("words", ()))
    below = f'<dl class="words">{words}</dl>' if words else ""
    if "table" in card:
        return f'<section class="card wide">{head}{_table(card["table"])}{below}</section>'
    drawn = []
    for plot in card["plots"]:
        key = f"plot{len(plots)}"
        plots.append({"id": key, **{part: plot[part] for part in ("traces", "x", "y")}})
        size = "plot tall" if len(plot["traces"]) > 6 else "plot"  # room for the legend
        drawn.append(f'<div><p>{escape(plot.get("title", ""))}</p><div class="{size}" id="{key}"></div></div>')
    return f'<section class="card wide">{head}<div class="plots">{"".join(drawn)}</div>{below}</section>'


def _table(rows: list[list[str]], prose: int | None = None) -> str:
    """`prose`: the column that has sentences, which are broken into lines."""

    def line(tag: str, row: list[str]) -> str:
        kinds = [' class="prose"' if column == prose else "" for column in range(len(row))]
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"

    head, *lines = rows
    return "<table>" + line("th", head) + "".join(line("td", row) for row in lines) + "</table>"
