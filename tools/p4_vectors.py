#!/usr/bin/env python3
"""Records what bmv2's simple_switch sends for each packet vector of the router (p4/test/vectors.py): p4/test/vectors/router.jsonl.gz.

python tools/p4_vectors.py              # writes the file; needs simple_switch and simple_switch_CLI on the PATH, some minutes
python tools/p4_vectors.py --check      # records again, writes nothing, says what differs
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "p4" / "test")]

import vectors  # noqa: E402

from penstock.errors import ToolError, UserError  # noqa: E402
from penstock.p4 import FOLDER, simple_switch  # noqa: E402


def record(program: str, made: list[vectors.Vector]) -> tuple[list[list[tuple[int, bytes]]], dict[str, list[list[int]]]]:
    """Return what a program has sent for each vector, and its counters in the end."""
    frames = [(one.port, one.frame) for one in made]
    with simple_switch.started(FOLDER / f"{program}.json", frames, vectors.PORTS) as switch:
        said = switch.commands(vectors.commands(program))
        if re.search(r"Unknown|Error|Invalid|\*\*\*", said):
            raise ToolError(f"simple_switch_CLI refuses a command:\n{said}")
        answers = []
        for number in range(len(made)):
            answers.append(switch.next())
            if number % 500 == 0:
                print(f"{program}: {number} of {len(made)}", file=sys.stderr, flush=True)
        asked = [(name, index) for name, size in vectors.COUNTERS.items() for index in range(size)]
        said = switch.commands("\n".join(f"counter_read {name} {index}" for name, index in asked))
    found = [[int(packets), int(size)] for size, packets in re.findall(r"\((\d+) bytes, (\d+) packets\)", said)]
    if len(found) != len(asked):
        raise ToolError(f"simple_switch_CLI does not show the counters:\n{said}")
    counters: dict[str, list[list[int]]] = {name: [] for name in vectors.COUNTERS}
    for (name, _), cell in zip(asked, found, strict=True):
        counters[name].append(cell)
    return answers, counters


def main() -> int:
    """Record all programs."""
    parser = argparse.ArgumentParser(description="Records what bmv2's simple_switch sends for each packet vector of the router.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs from the file")
    options = parser.parse_args()
    made = vectors.vectors(options.seed)
    head = {"switch": simple_switch.version(), "seed": options.seed, "counters": {}}
    for program in vectors.COMMANDS:
        answers, head["counters"][program] = record(program, made)
        for one, answer in zip(made, answers, strict=True):
            if one.out is None:
                one.out = answer
            elif one.out != answer:
                one.other[program] = answer
    if not options.check:
        vectors.write(vectors.FILE, head, made)
        print(f"{vectors.FILE}: {len(made)} vectors, {vectors.FILE.stat().st_size} bytes")
        return 0
    old_head, old = vectors.read()
    differ = [new.why for new, before in zip(made, old, strict=False) if new != before]
    for why in differ[:20]:
        print(f"differs: {why}")
    counted = head["counters"] == old_head["counters"]
    print(f"{len(made)} vectors, {len(old)} in the file, {len(differ)} differ; counters {'equal' if counted else 'differ'}")
    return int(bool(differ) or len(made) != len(old) or not counted)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (UserError, ToolError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
