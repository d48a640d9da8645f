"""`--with DIR` of the commands that build or run something: an AQM or a scheduler from a folder of the user's own."""

from pathlib import Path
from typing import Annotated

import typer


def _add(folders: list[Path] | None) -> list[Path] | None:
    if folders:
        from penstock.parts import registry

        for folder in folders:
            registry.add_folder(folder)
    return folders


With = Annotated[
    list[Path] | None,
    typer.Option(
        "--with",
        metavar="DIR",
        is_eager=True,
        callback=_add,
        help="Folder of an AQM or a scheduler of your own (docs/how-to/own-aqm.md); may be given several times.",
    ),
]
