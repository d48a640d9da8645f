# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Generates the Python modules of the control plane's protocol, beside the files src/penstock/v1/*.proto that they are made from.

`python tools/generate_protocol.py` writes them; with `--check` it writes nothing, says which is not fresh, and exits with status 1.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "src" / "penstock" / "v1"


def generated() -> dict[Path, str]:
    """Return the texts by file."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [f"--{kind}_out={folder}" for kind in ("python", "pyi", "grpc_python")]
        files = sorted(map(str, FOLDER.glob("*.proto")))
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc", f"-I{ROOT / 'src'}", *outputs, *files], check=True)
        made = sorted(Path(folder).rglob("*.py*"))
        return {ROOT / "src" / path.relative_to(folder): path.read_text() for path in made}


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when a committed file is not fresh")
    check = parser.parse_args().check
    texts = generated()
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    stale += [path for path in FOLDER.glob("*_pb2*") if path not in texts]
    for path in stale:
        name = path.relative_to(ROOT)
        if check:
            print(f"{name} is not fresh: run tools/generate_protocol.py", file=sys.stderr)
        elif path in texts:
            path.write_text(texts[path])
            print(name)
        else:
            path.unlink()
            print(f"{name} is gone")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
