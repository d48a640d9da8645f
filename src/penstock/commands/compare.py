"""`compare`: several results beside each other."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app
from penstock.errors import UserError

PAGE = "comparison.html"


@app.command()
def compare(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR DIR...", help="Folders of results, two to eight.", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the page with the curves laid over each other.")] = Path("."),
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object: the table.")] = False,
) -> None:
    """Compare results: a table of what matters of the runs and of each queue that all have, and a page with their curves."""
    import json

    from penstock.command_line.console import working
    from penstock.reports.compare import comparison, text_lines, write_page

    if out.suffix == ".html":
        raise UserError(f"--out {out}: names a folder, in which {PAGE} is written")
    with working("Reading the results"):
        found = comparison(folders)
    page = out / PAGE
    with working("Writing the page"):
        write_page(found, page)
    if json_output:
        print(json.dumps(found.as_json()))
        return
    print("\n".join(text_lines(found)))
    print(f"\nReport   {page.resolve().as_uri()}")
