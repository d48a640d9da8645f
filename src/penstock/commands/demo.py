"""`demo`: the first thing to run."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def demo(
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the result; results/first_light unless given.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Send a real capture through the hardware and show what happened."""
    import sys

    from penstock.commands.run import execute
    from penstock.paths import COMMAND, INSTALLED, ROOT

    print(
        "A recorded capture (web, DNS, video, voice, a download) now passes through the SystemVerilog of a whole device.", file=sys.stderr
    )
    scenario = Path("scenarios") / "first_light.yaml"
    execute(ROOT / scenario, "rtl", [], None, out, json_output)
    if not json_output:
        shown = ROOT / scenario if INSTALLED else scenario
        print(f'Next: {COMMAND} run {shown} --set queues.anna-bulk.rate="12 Mbit/s"')
