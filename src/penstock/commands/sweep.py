"""`penstock sweep`: a grid of runs into one table."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.command_line.parts import With
from penstock.commands import app

MAX_SHOWN = 5  # failed runs
INTERRUPTED = 130


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="What to run (YAML); docs/how-to/sweep.md describes it.", show_default=False)],
    cluster: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://host:8786.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Runs at a time on this machine; as many as it has cores unless given.")
    ] = None,
    _parts: With = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the result; results/sweeps/NAME unless given.")] = None,
    plot: Annotated[tuple[str, str] | None, typer.Option(metavar="X Y", help="Draw column Y against column X, too.")] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="One curve for each value of it. May be given more than once.")
    ] = None,
    log: Annotated[str | None, typer.Option(metavar="x|y|xy", help="Axes of --plot that are logarithmic.")] = None,
    any_sources: Annotated[bool, typer.Option("--any-sources", help="Take kept runs of other versions of the sources, too.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run every point of a grid and write table.csv, table.parquet and report.html.

    Ended in any way, the same command goes on where it was: finished runs are kept, and only what is new is run.
    Exit status: 0; 1 when a run failed (column error; the others are there); 2 for bad input; 130 when interrupted.
    """
    import json

    from penstock.basics import groups
    from penstock.command_line.console import console
    from penstock.errors import UserError
    from penstock.sweeps.make import Interrupted, Request, make
    from penstock.sweeps.page import parameters
    from penstock.sweeps.spec import Plot

    if (by or log) and not plot:
        raise UserError("--by and --log belong to --plot X Y")
    if log not in (None, "x", "y", "xy"):
        raise UserError(f"--log {log}: give x, y or xy")
    if cluster and workers:
        raise UserError("--workers is for this machine; the workers of a cluster are started there")
    groups.need("sweep", "sweep")
    plots = [Plot.model_validate({"x": plot[0], "y": plot[1]} | ({"by": by} if by else {}) | ({"log": log} if log else {}))] if plot else []
    try:
        result, folder = make(Request(file, cluster, out, workers, plots, any_sources))
    except Interrupted as stopped:
        console().print(str(stopped), markup=False)
        raise typer.Exit(INTERRUPTED) from None
    if json_output:
        print(json.dumps(result, allow_nan=False))
    else:
        kept = f", {result['kept']:,} of them from before" if result["kept"] else ""
        runs = f"{result['runs']:,} run{'' if result['runs'] == 1 else 's'}"
        print(f"{result['name']}: {runs}{kept}; {result['failed'] or 'none'} failed")
        for row in [row for row in result["rows"] if row.get("error")][:MAX_SHOWN]:
            print(f"  failed: {parameters(row, result['parameters'])}: {row['error']}")
        print(f"  {folder / 'table.csv'}, table.parquet: {len(result['columns']):,} columns")
        print(f"  {folder / 'report.html'}")
    if result["failed"]:
        raise typer.Exit(1)
