"""Programs with something wrong in them, and packets of any length: what is loaded runs, what is not is refused in a sentence.

`python -m penstock.designs.p4_switch.testing.fuzz FOLDER SEED COUNT` runs it on a module `_machine` of FOLDER, which
test_p4_switch_fuzz.py builds with the compiler's address and undefined-behaviour sanitizers.
"""

import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.designs.p4_switch import program as programs
from penstock.designs.p4_switch.testing import machine_programs, mutations
from penstock.errors import UserError
from penstock.paths import ROOT

PACKETS = 25  # of each program that is loaded
MOST_WORDS = 1_500  # of a sentence


def files() -> list[Path]:
    """Return all compiled programs."""
    return sorted([*(ROOT / "p4").glob("*.json"), *machine_programs.FOLDER.glob("*.json")])


def likely(program: str) -> list[bytes]:
    """Return packets that a program knows."""
    if program in machine_programs.COMMANDS:
        return machine_programs.packets(program, 1)
    return [bytes.fromhex(packet) for packet in ROUTED]


# Ethernet, IPv4 with and without options, IPv6, as the router's interface takes them.
ROUTED = (
    "0200000000100200000001010800450000200000400040119c7b0a0001010a0002010000000000000000",
    "0200000000100200000001010800460000240000400040115b760a0001010a000201010101000000000000000000",
    "02000000001002000000010186dd6000000000081140" + "20010db8" + "00" * 11 + "01" + "20010db8" + "00" * 11 + "02" + "0001000200080000",
)


def run(machine: Any, path: Path, seed: int, count: int) -> tuple[int, int]:
    """Load `count` programs made of one, and run packets through those that load. Return how many were loaded, and how many refused."""
    mutator = mutations.Mutator(json.loads(path.read_text()), f"{seed} {path.stem}")
    loaded = refused = 0
    for number in range(count):
        made, told = mutator.mutated()
        where = f"seed {seed}, {path.name}, program {number}: {'; '.join(told)}"
        try:
            found = programs.parse(made, "program.json")
        except UserError as error:
            sentence = str(error)
            assert sentence.startswith("program.json: ") and "\n" not in sentence and len(sentence) < MOST_WORDS, f"{where}: {sentence}"
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
        loaded += 1
        try:
            packets(machine(found.dictionary, seed), mutator.draw, likely(path.stem))
        except Exception as error:
            raise AssertionError(f"{where}: is loaded, but: {type(error).__name__}: {error}") from error
    return loaded, refused


def packets(made: Any, draw: Any, known: Sequence[bytes], count: int = PACKETS) -> int:
    """Run packets through a machine; return how many frames left it. None is kept."""
    sent = 0
    for number, packet in enumerate(mutations.packets(draw, list(known), count)):
        sent += len(made.process(draw.randrange(4), packet, number * 1_000, draw.choice((0, 3)), draw.choice((0, 20_000))))
    assert made.packets_out_of_pool == 0, f"{made.packets_out_of_pool} packets are forgotten"
    return sent


def main() -> None:
    """Run all programs on a module of a folder."""
    folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.path.insert(0, folder)
    machine = importlib.import_module("_machine").Machine
    for path in files():
        loaded, refused = run(machine, path, seed, count)
        print(f"{path.name}: {loaded} loaded, {refused} refused", flush=True)


if __name__ == "__main__":
    main()
