"""`plot`: figures of results as SVG or PDF."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app
from penstock.errors import UserError

LEAST_WIDTH, MOST_WIDTH = 2.0, 20.0


@app.command()
def plot(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="A result: of a run, a sweep or a paper; or several of runs.", show_default=False)
    ],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the files; DIR/plots unless given.")] = None,
    formats: Annotated[str, typer.Option("--format", metavar="LIST", help="svg, pdf, or both: svg,pdf.")] = "svg",
    width: Annotated[float, typer.Option(metavar="INCHES", help="Width of a figure: 3.4 is a column, 7 a page.")] = 5.0,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object: the figures and their files.")] = False,
) -> None:
    """Draw the figures of results for a paper: axes with units, curves that differ in grey, too; one file each."""
    import json

    from penstock.command_line.console import working
    from penstock.plots import draw, sources

    kinds = draw.formats(formats)
    if not LEAST_WIDTH <= width <= MOST_WIDTH:
        raise UserError(f"--width {width:g}: must be {LEAST_WIDTH:g} to {MOST_WIDTH:g} inches")
    with working("Reading the results"):
        figures = sources.of_folders(folders)
    if not figures:
        raise UserError(f"{folders[0]}: has no figures")
    place = out or folders[0] / "plots"
    written = draw.into(place, figures, kinds, width)
    if json_output:
        found = [{"name": figure.name, "title": figure.title, "curves": [line.name for line in figure.lines]} for figure in figures]
        print(json.dumps({"schema": "penstock.plot/1", "figures": found, "files": [str(path) for path in written]}))
        return
    for path in written:
        print(path)
