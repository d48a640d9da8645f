"""`penstock generate`: one configuration as sources for another project."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def generate(
    design: Annotated[str, typer.Argument(help="A folder below designs/, such as access_edge.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write; made if it is not there.", show_default=False)],
    config: Annotated[str | None, typer.Option("--config", metavar="NAME", help="A named configuration; the first unless given.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty.")] = False,
) -> None:
    """Write sources, file list, FuseSoC core, stub test bench and README of one configuration into a folder of its own."""
    from penstock import configs
    from penstock.generate import generate as write

    chosen = configs.load(configs.names(design)[0] if config is None else config, design)
    written = write(chosen, out, force)
    print(f"{len(written)} files of {chosen.module} in {out}; {out / 'README.md'} says how to lint and simulate them")
