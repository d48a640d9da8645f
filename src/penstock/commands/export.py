"""`export`: the tables and series of a result as CSV."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a result.", show_default=False)],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the files; DIR/csv unless given.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object: the files and their rows.")] = False,
) -> None:
    """Write every table of result.json and every series of series.npz as a CSV file with plain numbers, in the units of docs/result.md."""
    import json

    from penstock.command_line.console import working
    from penstock.reports.export import SCHEMA, write

    with working("Writing the files"):
        result, written = write(folder, out or folder / "csv")
    if json_output:
        files = {path.name: rows for path, rows in written}
        print(json.dumps({"schema": SCHEMA, "seed": result["seed"], "config": result["config"], "files": files}))
        return
    for path, rows in written:
        print(f"{path}  {rows:,} rows")
