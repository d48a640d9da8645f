"""What the folder of a generated access edge says and tries: its stub test bench, the numbers in its README."""

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.config import Config
from penstock.designs.design import Stub
from penstock.designs.stubs import READ_REGISTER

DEVICE_TYPE = registers.table()["type"]["fields"]["value"][2]  # what register 0 reads as
INIT_SLACK_CYCLES = 10_000  # the stub test bench allows one cycle a queue and a descriptor for initialisation, and this much more


def stub(config: Config) -> Stub:
    """Return the stub test bench: initialisation, and the first register."""
    patience = config.queues + config.descriptors + INIT_SLACK_CYCLES
    declarations = f"""  localparam int unsigned PatienceCycles = {patience};

{READ_REGISTER}
  logic [31:0] device_type;
"""
    body = f"""    for (int unsigned cycle = 0; !init_done_o; cycle++) begin
      if (cycle == PatienceCycles) $fatal(1, "init_done_o has not risen within %0d cycles", PatienceCycles);
      @(negedge clk_i);
    end
    $display("initialised in cycle %0d", now_o);
    read_register(12'h000, device_type);
    if (device_type != 32'h{DEVICE_TYPE:08x}) $fatal(1, "register 0 reads %08h", device_type);
    $display("register 0 reads %08h: PASS", device_type);
    // Frames go into s_axis (queue id in the first four bytes), memories answer at m_axi: here is the place for yours.
"""
    used = ("init_done_o", "now_o", "s_axil_arready_o", "s_axil_rvalid_o", "s_axil_rdata_o", "s_axil_rresp_o")
    return Stub("resets it, waits for its initialisation and reads its first register", used, declarations, body)


def _shaping(config: Config) -> str:
    if config.own_scheduler:
        return f"none: {config.own_scheduler.shown} is the scheduler"
    return "each queue has its rate" if config.shaped else "none: backlogged queues take turns"


def facts(config: Config) -> str:
    """Return the tables of its numbers."""
    memories = "\n".join(
        f"| {index} | {memory.name} | {memory.bytes:,} | {memory.pages:,} | {memory.page_bytes:,} |"
        for index, memory in enumerate(config.channels)
    )
    return f"""| | |
|---|---|
| queues | {config.queues:,} |
| descriptors (frames that can wait) | {config.descriptors:,} |
| frames, without queue id and FCS | {config.min_frame_bytes:,} to {config.max_frame_bytes:,} byte |
| clock | {config.clock_hz / 1e6:g} MHz (software computes rates from it; nothing in the hardware depends on it) |
| shaping | {_shaping(config)} |

Packet memories, one AXI4 port each (512 bit, INCR bursts of at most 64 beats, one id, answers in order):

| port | name | bytes | pages | bytes of a page |
|---|---|---|---|---|
{memories}
"""


def use(config: Config) -> str:
    """Return how its ports are used."""
    return f"""Frames are taken when `init_done_o` is high. The first four bytes of each frame at `s_axis` are the queue
id, most significant byte first; they are stripped. Registers are at `s_axil`; register 0 reads 0x{DEVICE_TYPE:08x}."""
