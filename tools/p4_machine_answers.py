#!/usr/bin/env python3
"""Compiles the test programs of the P4 interpreter, and records what bmv2's simple_switch answers to their packets.

python tools/p4_machine_answers.py              # writes designs/p4_switch/test/programs/*.json and answers.jsonl.gz
python tools/p4_machine_answers.py --check      # writes nothing, says what differs

Needs p4c-bm2-ss, simple_switch and simple_switch_CLI on the PATH, some minutes.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

from penstock.designs.p4_switch.testing import machine_programs as programs  # noqa: E402
from penstock.errors import ToolError, UserError  # noqa: E402
from penstock.p4 import compiled, simple_switch  # noqa: E402


def answers(program: str, path: Path, seed: int) -> list[list[tuple[int, bytes]]]:
    """Return what a program has sent for each of its packets."""
    frames = [(0, frame) for frame in programs.packets(program, seed)]
    with simple_switch.started(path, frames, programs.PORTS) as switch:
        said = switch.commands(programs.COMMANDS[program]) if programs.COMMANDS[program] else ""
        if re.search(r"Unknown|Error|Invalid|\*\*\*", said):
            raise ToolError(f"simple_switch_CLI refuses a command:\n{said}")
        return [switch.next() for _ in frames]


def main() -> int:
    """Compile and record all programs."""
    parser = argparse.ArgumentParser(
        description="Records what bmv2's simple_switch answers to the packets of the interpreter's test programs."
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs from the files")
    options = parser.parse_args()
    found, texts = {}, {}
    with tempfile.TemporaryDirectory() as name:
        for program in programs.COMMANDS:
            texts[program] = compiled.laid_out(compiled.compiled(program, programs.FOLDER / f"{program}.p4"))
            path = Path(name) / f"{program}.json"
            path.write_text(texts[program])
            found[program] = answers(program, path, options.seed)
            print(f"{program}: {sum(map(bool, found[program]))} of {len(found[program])} packets are answered", file=sys.stderr)
    if not options.check:
        for program, text in texts.items():
            (programs.FOLDER / f"{program}.json").write_text(text)
        programs.write({"switch": simple_switch.version(), "seed": options.seed}, found)
        print(f"{programs.FILE}: {programs.FILE.stat().st_size} bytes")
        return 0
    _, before = programs.read()
    stale = [program for program, text in texts.items() if (programs.FOLDER / f"{program}.json").read_text() != text]
    differ = [
        program
        for program in found
        for packet, new, old in zip(programs.packets(program, options.seed), found[program], before[program], strict=True)
        if programs.compared(program, packet, new) != programs.compared(program, packet, old)
    ]
    print(f"other JSON: {', '.join(stale) or 'none'}; other answers: {', '.join(sorted(set(differ))) or 'none'}")
    return int(bool(stale or differ))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (UserError, ToolError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
