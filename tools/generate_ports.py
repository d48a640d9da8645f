"""Generates docs/ports.md, the ports and parameters of the modules that designs are made of, from the heads of these modules; and what
follows from the packages of bundles: the shims' functions for AXI, and the package that proofs take.

`python tools/generate_ports.py` writes what is not fresh; with `--check` it writes nothing, says what is not, and exits with status 1 when
there is something. A head that cannot be read is one sentence and status 2.
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
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when something is not fresh")
    check = parser.parse_args().check
    try:
        stale, texts = ports.stale(), ports.files()
        for name in [] if check else stale:
            (ROOT / name).write_text(texts[name])
    except UserError as error:
        print(f"generate_ports: {error}", file=sys.stderr)
        return 2
    for name in stale:
        print(f"{name} is not fresh: run {ports.TOOL}" if check else name, file=sys.stderr if check else sys.stdout)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
