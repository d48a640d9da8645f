"""What the folder of a generated deadline port says and tries: its stub test bench, the numbers in its README."""

from penstock.designs.deadline_port import registers
from penstock.designs.deadline_port.config import Config
from penstock.designs.design import Stub
from penstock.designs.stubs import READ_REGISTER

DEVICE_TYPE = registers.table()["type"]["fields"]["value"][2]  # what register 0 reads as
INIT_SLACK_CYCLES = 10_000  # the stub test bench allows some rounds of all classes for initialisation, and this much more


def stub(config: Config) -> Stub:
    """Return the stub test bench: initialisation, and the first register."""
    patience = config.classes * config.classes + INIT_SLACK_CYCLES
    declarations = f"""  localparam int unsigned PatienceCycles = {patience};

{READ_REGISTER}
  logic [31:0] device_type;
"""
    body = f"""    for (int unsigned cycle = 0; !init_done_o; cycle++) begin
      if (cycle == PatienceCycles) $fatal(1, "init_done_o has not risen within %0d cycles", PatienceCycles);
      @(negedge clk_i);
    end
    $display("initialised");
    read_register(12'h000, device_type);
    if (device_type != 32'h{DEVICE_TYPE:08x}) $fatal(1, "register 0 reads %08h", device_type);
    $display("register 0 reads %08h: PASS", device_type);
    // Frames go into s_axis, memories answer at m_axi: here is the place for yours.
"""
    used = ("init_done_o", "s_axil_arready_o", "s_axil_rvalid_o", "s_axil_rdata_o", "s_axil_rresp_o")
    return Stub("resets it, waits for its initialisation and reads its first register", used, declarations, body)


def facts(config: Config) -> str:
    """Return the tables of its numbers."""
    found = "stands beside it, in `s_axis_tuser`" if config.class_from_user else "is that of its DSCP, by a table in registers"
    order = "all frames in one plain FIFO with tail drop" if config.fifo else "earliest deadline first; what has missed its own is dropped"
    channels = config.memory.channels
    return f"""| | |
|---|---|
| order | {order} |
| classes | {config.classes}; the class of a frame {found} |
| frames, without FCS | {config.min_frame_bytes:,} to {config.max_frame_bytes:,} byte |
| chunks | {config.chunks:,} of {config.chunk_bytes:,} byte |
| chunks of a class that are fetched ahead | {config.places} |
| longest deadline that time stamps are made for | {config.longest_deadline_us:,} us, {config.stamps:,} stamps of each class |
| tick between two time stamps of a class | {config.tick_cycles:,} cycles |
| clock | {config.clock_hz / 1e6:g} MHz (software computes deadlines from it; nothing in the hardware depends on it) |

Packet memories: {channels} of {config.memory_bytes:,} byte, one AXI4 port each (512 bit, INCR bursts of at most {config.chunk_beats} beats,
one id, answers in order). Chunk n lies in memory n modulo {channels}.
"""


def use(config: Config) -> str:
    """Return how its ports are used."""
    return f"""Frames are taken when `init_done_o` is high. `s_axis_tuser` is {{class (8 bit), 16 bits that come out with
the frame, damaged}}; `m_axis_tid` is the class. Registers are at `s_axil`; register 0 reads 0x{DEVICE_TYPE:08x}. After reset every
DSCP has class 0, and every class the longest deadline."""
