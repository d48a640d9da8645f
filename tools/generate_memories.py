"""Writes the tables of docs/memories.md: timing with its sources from engine/memories.yaml, bandwidths and latencies from the engine.

`python tools/generate_memories.py` writes them; with `--check` it writes nothing, says whether the committed page is what the sources
give, and exits with status 1 when it is not.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from penstock.engine import memory_page  # noqa: E402
from penstock.errors import UserError  # noqa: E402


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when the committed page is not fresh")
    check = parser.parse_args().check
    page = ROOT / memory_page.PAGE
    try:
        text = page.read_text()
        fresh = memory_page.updated(text)
    except (OSError, UserError) as error:
        print(f"generate_memories: {error}", file=sys.stderr)
        return 2
    if fresh == text:
        return 0
    if check:
        print(f"{memory_page.PAGE} is not fresh: run {memory_page.TOOL}", file=sys.stderr)
        return 1
    page.write_text(fresh)
    print(memory_page.PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
