"""`penstock paper`: the figures and tables of a paper, made again."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.basics import groups
from penstock.commands import app
from penstock.papers import papers


@app.command()
def paper(
    name: Annotated[str, typer.Argument(metavar="PAPER", help=", ".join(papers()) + ".", show_default=False)],
    figure: Annotated[list[int] | None, typer.Option(help="A figure of it; may be given more than once. All parts unless given.")] = None,
    table: Annotated[list[int] | None, typer.Option(help="A table of it.")] = None,
    section: Annotated[list[int] | None, typer.Option(help="A section whose claims are tried.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Every point, many runs or long ones, new synthesis: what takes longer.")] = False,
    live: Annotated[bool, typer.Option("--live", help="With programs and TCP of this machine, in real time: needs namespaces.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")] = 1,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the result; results/PAPER unless given.")] = None,
    cluster: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to simulate on, such as tcp://host:8786.")] = None,
    formats: Annotated[
        str | None,
        typer.Option("--format", metavar="LIST", help="Draw the figures, too, into DIR/plots: svg, pdf, or svg,pdf.", show_default=False),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Make the figures and tables of a paper again, beside the numbers that it states: result.json and report.html."""
    import json
    import textwrap

    from penstock.command_line.console import console, spinner
    from penstock.command_line.terminal import progress_line, slot_progress
    from penstock.engine import engine
    from penstock.engine.run import RunError
    from penstock.hardware.synth import SynthesisError
    from penstock.papers import Options, check_live, plan
    from penstock.papers.make import make, output_folder
    from penstock.papers.page import stated_rows
    from penstock.plots import draw
    from penstock.plots import figure as figure_files

    kinds = draw.formats(formats) if formats is not None else []
    if kinds:
        groups.need("paper --format", "plots")
    package, parts = plan(name, figure or [], table or [], section or [])
    if live:
        check_live(package, name, parts)
    if hasattr(package, "check"):
        package.check(parts, live)
    folder = output_folder(name, out)
    with spinner() as building:
        engine.build(building)
    try:
        result = make(name, package, parts, Options(seed, full, cluster, live), folder, slot_progress, progress_line)
    except SynthesisError as error:
        typer.echo(f"penstock: the hardware cannot be synthesised:\n{error}", err=True)
        raise typer.Exit(1) from None
    except RunError as error:
        console().print(f"The run failed. {error}", style="bold red", markup=False)
        raise typer.Exit(1) from None
    drawn = draw.into(folder / "plots", figure_files.read(folder), kinds) if kinds else []
    if json_output:
        print(json.dumps(result, allow_nan=False))
        return
    print(f"{name}: {', '.join(result['config']['parts'])}")
    rows = stated_rows(result["stated"])
    width = max(len(row[0]) for row in rows)
    for row in rows if len(rows) > 1 else []:
        print(f"  {row[0]:<{width}} {row[1]:>10} {row[2]:>10} {row[3]:>9} {row[4]:>10}  {row[5]}".rstrip())
    for text in result["conventions"]:
        print(textwrap.fill(text, 120, initial_indent="  ", subsequent_indent="    "))
    for path in (folder / "report.html", *drawn):
        print(f"  {path}")
