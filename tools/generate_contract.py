"""Generates everything that follows from the contract files and the SystemRDL: RTL, C++ headers, data for software and the tables.

`python tools/generate_contract.py` writes it; with `--check` it writes nothing, says which committed file is not what the sources give,
and exits with status 1 when there is one. A source that is not sound is one sentence and status 2.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from penstock.contract import files  # noqa: E402
from penstock.errors import UserError  # noqa: E402


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when a committed file is not fresh")
    check = parser.parse_args().check
    try:
        found = files.stale(ROOT) if check else files.generate(ROOT, ROOT)
    except UserError as error:
        print(f"generate_contract: {error}", file=sys.stderr)
        return 2
    for path in found:
        print(f"{path} is not fresh: run tools/generate_contract.py" if check else path, file=sys.stderr if check else sys.stdout)
    return 1 if check and found else 0


if __name__ == "__main__":
    sys.exit(main())
