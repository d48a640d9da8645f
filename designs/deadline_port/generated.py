"""What the folder of a generated deadline port says and tries: the numbers of its test bench and of its README."""

from typing import Any

from penstock.designs.deadline_port import registers
from penstock.designs.deadline_port.config import Config

DEVICE_TYPE = registers.table()["type"]["fields"]["value"][2]  # what register 0 reads as
INIT_SLACK_CYCLES = 10_000  # the test bench allows some rounds of all classes for initialisation, and this much more


def numbers(config: Config) -> dict[str, tuple[str, str]]:
    """Return what its test bench must know of a configuration: type and value of each constant of the bench's package."""
    table = registers.table()

    def address(name: str) -> tuple[str, str]:
        return "logic [11:0]", f"12'h{table[name]['address']:03x}"

    return {
        "Classes": ("int unsigned", str(config.classes)),
        "ClassFromUser": ("bit", f"1'b{int(config.class_from_user)}"),
        "PlainFifo": ("bit", f"1'b{int(config.fifo)}"),
        **({"Columns": ("int unsigned", str(config.columns))} if config.wide else {}),
        "Memories": ("int unsigned", str(config.memory.channels)),
        "AddrWidth": ("int unsigned", str(config.address_bits)),
        "MemBytes": ("longint unsigned", f"64'd{config.memory_bytes}"),
        "MostReads": ("int unsigned", str(config.bursts[0])),
        "MostWrites": ("int unsigned", str(config.bursts[1])),
        "MinFrameBytes": ("int unsigned", str(config.min_frame_bytes)),
        "MaxFrameBytes": ("int unsigned", str(config.max_frame_bytes)),
        "InitCycles": ("int unsigned", str(config.classes * config.classes + INIT_SLACK_CYCLES)),
        "DeviceType": ("logic [31:0]", f"32'h{DEVICE_TYPE:08x}"),
        "CommandWriteDscp": ("logic [31:0]", f"32'd{registers.command('write_dscp')}"),
        "AddrType": address("type"),
        "AddrDscpIndex": address("dscp_index"),
        "AddrDscpClass": address("dscp_class"),
        "AddrCommand": address("command"),
        "AddrBadFrame": address("dropped_bad_frame_packets"),
        "AddrOversize": address("dropped_oversize_packets"),
        "AddrMissed": address("dropped_missed_packets"),
    }


def test_numbers(config: Config) -> dict[str, Any]:
    """Return what its cocotb test must know of a configuration."""
    return {
        "classes": config.classes,
        "class_from_user": config.class_from_user,
        "columns": config.columns,
        "max_frame_bytes": config.max_frame_bytes,
        "memory_bytes": config.memory_bytes,
        "init_cycles": config.classes * config.classes + INIT_SLACK_CYCLES,
    }


def facts(config: Config) -> str:
    """Return the tables of its numbers."""
    found = "stands beside its first beat, in `s_axis_tuser`" if config.class_from_user else "is that of its DSCP, by a table in registers"
    order = "all frames in one plain FIFO with tail drop" if config.fifo else "earliest deadline first; what has missed its own is dropped"
    channels = config.memory.channels
    columns, where = "", f"Chunk n lies in memory n modulo {channels}."
    if config.wide:
        each = channels // config.columns
        columns = f"| columns | {config.columns}, {config.run_frames} frames of a class in each in a row |\n"
        where = f"Memories {each} x c to {each} x c + {each - 1} are those of column c; its chunk n lies in number n modulo {each} of them."
    return f"""| | |
|---|---|
| order | {order} |
| classes | {config.classes}; the class of a frame {found} |
| frames, without FCS | {config.min_frame_bytes:,} to {config.max_frame_bytes:,} byte |
{columns}| chunks | {config.chunks:,} of {config.chunk_bytes:,} byte |
| chunks of a class that are fetched ahead | {config.places} |
| longest deadline that time stamps are made for | {config.longest_deadline_us:,} us, {config.stamps:,} stamps of each class |
| tick between two time stamps of a class | {config.tick_cycles:,} cycles |
| clock | {config.clock_hz / 1e6:g} MHz (software computes deadlines from it; nothing in the hardware depends on it) |

Packet memories: {channels} of {config.memory_bytes:,} byte, one AXI4 port each (512 bit, INCR bursts of at most {config.chunk_beats} beats,
one id, answers in order). {where}
"""


def use(config: Config) -> str:
    """Return how its ports are used."""
    if config.wide:
        return f"""Frames are taken when `init_done_o` is high. A word of `s_axis` and `m_axis` has {config.columns} segments of 64 byte; a
segment is used when one of its bytes is in `tkeep`. The used segments of a frame follow each other in order, from word to word; frames
begin and end in any segment. `tuser` has 28 bits of each segment s, from bit 28 x s on: {{0, a frame begins here (out), class (8 bit),
16 bits that come out with the frame, damaged (in), the frame ends here}}. Class and the 16 bits are those at a frame's first segment,
damaged is at its last one. `tlast` is 1 out and is not looked at in. Registers are at `s_axil`; register 0 reads 0x{DEVICE_TYPE:08x}. After
reset every DSCP has class 0, and every class the longest deadline."""
    return f"""Frames are taken when `init_done_o` is high. `s_axis_tuser` is {{class (8 bit, at the first beat), 16 bits
that come out with the frame (at the last beat), damaged (at the last beat)}}; `m_axis_tid` is the class. Registers are
at `s_axil`; register 0 reads 0x{DEVICE_TYPE:08x}. After reset every DSCP has class 0, and every class the longest
deadline."""
