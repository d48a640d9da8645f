# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Runs the cocotb test of the package with Verilator: `make -C sim cocotb`. Status 0 when all tests pass."""

import json
import os
import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Build the wrapper with scalar ports and run the test on it."""
    numbers = json.loads((HERE / "numbers.json").read_text())
    top, package = f"{numbers['module']}_axi", HERE.parent
    sources = [package / name for name in (package / f"{top}.f").read_text().split()]
    os.environ["MAKEFLAGS"] = "CFG_CXXFLAGS_PCH_I=-include"
    optimise = ["-MAKEFLAGS", os.environ.get("OPTIMISE", "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1")]
    sys.path.append(str(package / "regs"))  # the simulator's Python takes our path
    build = HERE / "build" / "cocotb"
    runner = get_runner("verilator")
    runner.build(
        sources=[package / "verilator.vlt", *sources], hdl_toplevel=top, build_dir=build, build_args=["-Wno-fatal", *optimise], always=True
    )
    results = runner.test(
        hdl_toplevel=top, test_module=f"test_{numbers['module']}", build_dir=build, test_dir=HERE, results_xml=str(build / "results.xml")
    )
    count, failed = get_results(results)
    print(f"{count} tests, {failed} failed: {'PASS' if count and not failed else 'FAIL'}")
    return 0 if count and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
