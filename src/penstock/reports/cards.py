"""A page of cards: plots and tables with words. Self-contained; nothing is loaded.

A card is {"title", "note", and either "plots": [{"traces", "x", "y"}] or "table": [[cell, ...], ...] with its head first}; traces are
those of plotly, with `colour`, a number, in place of colours. "words", if it has them, are [(head, text), ...] below.
"""

import json
from html import escape
from typing import Any

from penstock.reports.report import fill, library


def page(title: str, description: str, before: str, cards: list[dict[str, Any]], footer: str) -> str:
    """Return the page; `before`: what stands in front of the cards, `footer`: the last line, both HTML."""
    plots: list[dict[str, Any]] = []
    parts = {
        "TITLE": escape(title),
        "DESCRIPTION": escape(description),
        "CARDS": before + "".join(_card(card, plots) for card in cards),
        "FOOTER": footer,
        "DATA": json.dumps(plots, allow_nan=False, separators=(",", ":")).replace("</", "<\\/"),
        "PLOTLY": library(),
    }
    return fill("cards.html", parts)


def _card(card: dict[str, Any], plots: list[dict[str, Any]]) -> str:
    head = f"<h2>{escape(card['title'])}</h2><p>{escape(card['note'])}</p>"
    words = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in card.get("words", ()))
    below = f'<dl class="words">{words}</dl>' if words else ""
    if "table" in card:
        return f'<section class="card wide">{head}{table(card["table"])}{below}</section>'
    drawn = []
    for plot in card["plots"]:
        key = f"plot{len(plots)}"
        plots.append({"id": key, **{part: plot[part] for part in ("traces", "x", "y")}})
        size = "plot tall" if len(plot["traces"]) > 6 else "plot"  # room for the legend
        drawn.append(f'<div><p>{escape(plot.get("title", ""))}</p><div class="{size}" id="{key}"></div></div>')
    return f'<section class="card wide">{head}<div class="plots">{"".join(drawn)}</div>{below}</section>'


def table(rows: list[list[str]], prose: int | None = None) -> str:
    """Return a table, its head first. `prose`: the column that has sentences, which are broken into lines."""

    def line(tag: str, row: list[str]) -> str:
        kinds = [' class="prose"' if column == prose else "" for column in range(len(row))]
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"

    head, *lines = rows
    return "<table>" + line("th", head) + "".join(line("td", row) for row in lines) + "</table>"
