"""`--with` of the commands that build or run something: an AQM or a scheduler of the user's own, a folder or a file of Python."""

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
        metavar="DIR|FILE.py",
        is_eager=True,
        callback=_add,
        help="An AQM or a scheduler of your own: its folder (docs/how-to/own-aqm.md) or a file of Python (own-python.md); may be repeated.",
    ),
]
