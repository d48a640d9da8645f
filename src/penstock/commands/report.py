"""`report`: the page of a result, made anew."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a result.", show_default=False)],
    json_output: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Rebuild report.html from result.json and series.npz, and show the summary."""
    import json

    from penstock.command_line.console import working
    from penstock.reports.report import rebuild
    from penstock.reports.summary import show

    with working("Writing the report"):
        result = rebuild(folder)
    if json_output:
        print(json.dumps(result, allow_nan=False))
    else:
        show(result, folder)
