"""`report`: the page of a result, made anew."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app
from penstock.errors import UserError


@app.command()
def report(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folder of a result.", show_default=False)],
    small: Annotated[bool, typer.Option("--small", help="Small pages, which share the plot library in the folder above theirs.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Rebuild report.html from result.json and series.npz, and show the summary."""
    import json

    from penstock.command_line.console import working
    from penstock.reports.report import rebuild
    from penstock.reports.summary import show

    if json_output and len(folders) > 1:
        raise UserError(f"--json: prints one object, and there are {len(folders)} folders")
    for folder in folders:
        with working("Writing the report"):
            result = rebuild(folder, small)
        if json_output:
            print(json.dumps(result, allow_nan=False))
        else:
            show(result, folder)
