"""One command of the workbench in a process of its own: prints its JSON object and the CPU time that it took.

`python -m penstock.figures.row COMMAND...`; the exit status is the command's.
"""

import contextlib
import io
import json
import sys

from penstock.command_line.app import main
from penstock.paths import building_seconds, cpu_seconds


def measured(words: list[str]) -> int:
    """Run the command and print `result` and `cpu_seconds`, without what was compiled for it; the time of a synthesis is all of it."""
    said = io.StringIO()
    begin = cpu_seconds()
    with contextlib.redirect_stdout(said):
        status = main([*words, "--json"])
    seconds = cpu_seconds() - begin - (0 if words[0] in ("synth", "board") else building_seconds())
    if not status:
        print(json.dumps({"result": json.loads(said.getvalue()), "cpu_seconds": seconds}))
    return status


if __name__ == "__main__":
    sys.exit(measured(sys.argv[1:]))
