"""`compare`: several results beside each other."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def compare(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR DIR...", help="Folders of results, two to eight.", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page with the curves laid over each other.")] = Path("comparison.html"),
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object: the table.")] = False,
) -> None:
    """Compare results: a table of what matters of the runs and of each queue that all have, and a page with their curves."""
    import json

    from penstock.command_line.console import working
    from penstock.reports.compare import comparison, text_lines, write_page

    with working("Reading the results"):
        found = comparison(folders)
    with working("Writing the page"):
        write_page(found, out)
    if json_output:
        print(json.dumps(found.as_json()))
        return
    print("\n".join(text_lines(found)))
    print(f"\nReport   {out.resolve().as_uri()}")
