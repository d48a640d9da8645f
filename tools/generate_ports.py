"""Generates docs/ports.md, the ports and parameters of the modules that designs are made of, from the heads of these modules.

`python tools/generate_ports.py` writes it; with `--check` it writes nothing, says whether the committed page is what the heads give, and
exits with status 1 when it is not. A head that cannot be read is one sentence and status 2.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from penstock.errors import UserError  # noqa: E402
from penstock.hardware import ports  # noqa: E402


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when the committed page is not fresh")
    check = parser.parse_args().check
    try:
        stale = ports.stale()
        if stale and not check:
            (ROOT / ports.PAGE).write_text(ports.page())
    except UserError as error:
        print(f"generate_ports: {error}", file=sys.stderr)
        return 2
    if stale:
        print(f"{ports.PAGE} is not fresh: run {ports.TOOL}" if check else ports.PAGE, file=sys.stderr if check else sys.stdout)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
