"""One configuration of a design as a folder that stands on its own: sources, file list, FuseSoC core, stub test bench, README."""

import re
import shutil
from pathlib import Path

from penstock import __version__
from penstock.basics.growing import PARTIAL, growing
from penstock.designs import configs, registers
from penstock.designs.access_edge.config import Config
from penstock.errors import UserError
from penstock.paths import ROOT

DEVICE_TYPE = {"access_edge": registers.table()["type"]["fields"]["value"][2]}  # what register 0 of each design reads as
INIT_SLACK_CYCLES = 10_000  # the stub test bench allows one cycle a queue and a descriptor for initialisation, and this much more


def generate(config: Config, folder: Path, force: bool = False) -> list[Path]:
    """Write everything into `folder` and return what was written. Raises UserError when the folder is not empty and `force` is not set."""
    check_folder(folder, force)
    with growing(folder) as grown:
        rtl = grown / "rtl"
        rtl.mkdir()
        sources = [Path(shutil.copyfile(path, rtl / path.name)) for path in configs.sources(config)]
        wrapper = configs.write_wrapper(config, rtl)
        names = [f"rtl/{path.name}" for path in (*sources, wrapper)]
        texts = {
            f"{config.module}.f": "".join(f"{name}\n" for name in names),
            f"{config.module}.core": _core_file(config, names),
            f"tb/{config.module}_tb.sv": _test_bench(config, wrapper.read_text()),
            "README.md": _readme(config),
            "verilator.vlt": (ROOT / "lint" / "verilator.vlt").read_text(),
            "LICENSE": (ROOT / "LICENSE").read_text(),
        }
        for name, text in texts.items():
            (grown / name).parent.mkdir(exist_ok=True)
            (grown / name).write_text(text)
    return [folder / name for name in (*names, *texts)]


def check_folder(folder: Path, force: bool) -> None:
    """Raise UserError unless a folder can be written: it is none, it is empty, or `force` is set."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; --out names a folder")
    if folder.exists() and not force and any(not path.name.startswith(PARTIAL) for path in folder.iterdir()):
        raise UserError(f"{folder} is not empty; give another --out, or --force to write over it")


def _core_file(config: Config, names: list[str]) -> str:
    files = "".join(f"      - {name}\n" for name in names)
    return f"""CAPI=2:
# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
name: penstock:{config.design}:{config.module}:{__version__}
description: {config.description}

filesets:
  rtl:
    files:
{files}    file_type: systemVerilogSource
  waivers:
    files:
      - verilator.vlt : {{file_type: vlt}}
  tb:
    files:
      - tb/{config.module}_tb.sv
    file_type: systemVerilogSource

targets:
  default: &default
    filesets: [rtl]
    toplevel: {config.module}
  lint:
    <<: *default
    filesets: [waivers, rtl]
    default_tool: verilator
    tools:
      verilator:
        mode: lint-only
        verilator_options: [-Wall]
  sim:
    filesets: [waivers, rtl, tb]
    toplevel: {config.module}_tb
    default_tool: verilator
    tools:
      verilator:
        mode: binary
        verilator_options: [--timing, -CFLAGS, -std=c++20]
"""


def _test_bench(config: Config, wrapper: str) -> str:
    ports = re.findall(r"^\s+(input|output)\s+(logic(?: *\[[^\]]*\])*)\s+(\w+),?$", wrapper, re.MULTILINE)
    width = max(len(kind) for _, kind, _ in ports)
    signals = "\n".join(f"  {kind:{width}} {name};" for _, kind, name in ports)
    pins = ",\n".join(f"      .{name}" for _, _, name in ports)
    inputs = "\n".join(f"    {name} = '0;" for direction, _, name in ports if direction == "input" and name not in ("clk_i", "rst_i"))
    used = ("init_done_o", "now_o", "s_axil_arready_o", "s_axil_rvalid_o", "s_axil_rdata_o", "s_axil_rresp_o")
    ignored = ", ".join(name for direction, _, name in ports if direction == "output" and name not in used)
    patience = config.queues + config.descriptors + INIT_SLACK_CYCLES
    return f"""// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Stub test bench of {config.module}: resets it, waits for its initialisation and reads its first register.
// Written by penstock generate; yours to go on from. README.md says how to run it.
module {config.module}_tb;

  localparam int unsigned PatienceCycles = {patience};

{signals}

  {config.module} u_dut (
{pins}
  );

  // Outputs that this stub does not look at.
  logic unused;
  assign unused = &{{1'b0, {ignored}}};

  initial clk_i = 1'b0;
  always #1 clk_i = ~clk_i;

  // Inputs change at the falling edge, so nothing races with the rising one.
  task automatic read_register(input logic [11:0] address, output logic [31:0] data);
    @(negedge clk_i);
    s_axil_araddr_i  = address;
    s_axil_arvalid_i = 1'b1;
    s_axil_rready_i  = 1'b1;
    do @(posedge clk_i); while (!s_axil_arready_o);
    @(negedge clk_i);
    s_axil_arvalid_i = 1'b0;
    while (!s_axil_rvalid_o) @(negedge clk_i);
    if (s_axil_rresp_o != 2'b00) $fatal(1, "register %03h: error response", address);
    data = s_axil_rdata_o;
    @(negedge clk_i);
    s_axil_rready_i = 1'b0;
  endtask

  logic [31:0] device_type;

  initial begin
    rst_i = 1'b1;
{inputs}
    repeat (8) @(negedge clk_i);
    rst_i = 1'b0;
    for (int unsigned cycle = 0; !init_done_o; cycle++) begin
      if (cycle == PatienceCycles) $fatal(1, "init_done_o has not risen within %0d cycles", PatienceCycles);
      @(negedge clk_i);
    end
    $display("initialised in cycle %0d", now_o);
    read_register(12'h000, device_type);
    if (device_type != 32'h{DEVICE_TYPE[config.design]:08x}) $fatal(1, "register 0 reads %08h", device_type);
    $display("register 0 reads %08h: PASS", device_type);
    // Frames go into s_axis (queue id in the first four bytes), memories answer at m_axi: here is the place for yours.
    $finish;
  end

endmodule
"""


def _readme(config: Config) -> str:
    memories = "\n".join(
        f"| {index} | {memory.name} | {memory.bytes:,} | {memory.pages:,} | {memory.page_bytes:,} |"
        for index, memory in enumerate(config.memories)
    )
    module = config.module
    return f"""# {module}

{config.description}. Written by Penstock {__version__} (`penstock generate {config.design} --config {config.name}`).

| | |
|---|---|
| queues | {config.queues:,} |
| descriptors (frames that can wait) | {config.descriptors:,} |
| frames, without queue id and FCS | {config.min_frame_bytes:,} to {config.max_frame_bytes:,} byte |
| clock | {config.clock_hz / 1e6:g} MHz (software computes rates from it; nothing in the hardware depends on it) |
| shaping | {"each queue has its rate" if config.shaping else "none: backlogged queues take turns"} |

Packet memories, one AXI4 port each (512 bit, INCR bursts of at most 64 beats, one id, answers in order):

| port | name | bytes | pages | bytes of a page |
|---|---|---|---|---|
{memories}

`rtl/` has all sources, flat; `{module}.f` lists them in the order of compilation; `{module}.core` is for FuseSoC. Start reading at
`rtl/{module}.sv`: the numbers of this configuration, and every port.

## Use

In this folder, with Verilator 5:

    verilator --lint-only -Wall --top-module {module} verilator.vlt -f {module}.f
    verilator --binary --timing -CFLAGS -std=c++20 --top-module {module}_tb verilator.vlt -f {module}.f tb/{module}_tb.sv
    ./obj_dir/V{module}_tb

With FuseSoC: `fusesoc --cores-root . run --target=sim penstock:{config.design}:{module}`.

Synchronous reset, active high. Frames are taken when `init_done_o` is high. The first four bytes of each frame at `s_axis` are the queue
id, most significant byte first; they are stripped. Registers are at `s_axil`; register 0 reads 0x{DEVICE_TYPE[config.design]:08x}.

Licence: Apache-2.0 WITH SHL-2.1, see LICENSE.
"""
