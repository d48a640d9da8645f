"""What the folder of a generated access edge says and tries: the numbers of its test bench and of its README."""

from typing import Any

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.config import Config

DEVICE_TYPE = registers.table()["type"]["fields"]["value"][2]  # what register 0 reads as
INIT_SLACK_CYCLES = 10_000  # the test bench allows one cycle a queue and a descriptor for initialisation, and this much more
MOST_TOLERANCE_CYCLES = 4096  # up to which the test bench looks at a rate
BYTE_A_CYCLE_EXPONENT = 16  # with the least mantissa, 2^15: 2^16 units of 2^-16 cycles per byte


def numbers(config: Config) -> dict[str, tuple[str, str]]:
    """Return what its test bench must know of a configuration: type and value of each constant of the bench's package."""
    table = registers.table()

    def address(name: str) -> tuple[str, str]:
        return "logic [11:0]", f"12'h{table[name]['address']:03x}"

    ports = config.memory_ports
    sizes = ", ".join(f"64'd{memory.bytes}" for memory in reversed(ports))
    period = registers.MIN_MANTISSA | (BYTE_A_CYCLE_EXPONENT << table["queue_rate"]["fields"]["exponent"][0])
    # It is tried where it does not take too long.
    shaped = config.shaped and config.tolerance_cycles <= MOST_TOLERANCE_CYCLES and config.queues > 1
    return {
        "Queues": ("int unsigned", str(config.queues)),
        "Descriptors": ("int unsigned", str(config.descriptors)),
        "Memories": ("int unsigned", str(len(ports))),
        "AddrWidth": ("int unsigned", str(config.address_bits)),
        "MemBytes": (f"logic [{len(ports) - 1}:0][63:0]", f"{{{sizes}}}"),
        "MostReads": ("int unsigned", str(config.bursts[0])),
        "MostWrites": ("int unsigned", str(config.bursts[1])),
        "PrefixBytes": ("int unsigned", "4" if config.queue_id == "prefix" else "0"),
        "MinFrameBytes": ("int unsigned", str(config.min_frame_bytes)),
        "MaxFrameBytes": ("int unsigned", str(config.max_frame_bytes)),
        "InitCycles": ("int unsigned", str(config.queues + config.descriptors + INIT_SLACK_CYCLES)),
        "Shaped": ("bit", f"1'b{int(shaped)}"),
        "ToleranceCycles": ("int unsigned", str(config.tolerance_cycles)),
        "DeviceType": ("logic [31:0]", f"32'h{DEVICE_TYPE:08x}"),
        "ByteACycle": ("logic [31:0]", f"32'h{period:08x}"),
        "Headers": ("bit", f"1'b{int(config.headers is not None)}"),
        "FindProfiles": ("logic [31:0]", f"32'd{config.headers.profiles if config.headers else 0}"),
        "CommandFindMiss": ("logic [31:0]", f"32'd{registers.command('find_miss')}"),
        "AddrFindItem": address("find_item"),
        "AddrFindValue": address("find_value"),
        "CommandWrite": ("logic [31:0]", f"32'd{registers.COMMAND_WRITE}"),
        "AddrType": address("type"),
        "AddrQueueIndex": address("queue_index"),
        "AddrQueueRate": address("queue_rate"),
        "AddrQueueBurst": address("queue_burst"),
        "AddrQueueCommand": address("queue_command"),
        "AddrBadFrame": address("dropped_bad_frame_packets"),
        "AddrOversize": address("dropped_oversize_packets"),
        "AddrBadQueueId": address("dropped_bad_queue_id_packets"),
    }


def test_numbers(config: Config) -> dict[str, Any]:
    """Return what its cocotb test must know of a configuration."""
    return {
        "queues": config.queues,
        "queue_id": config.queue_id,
        "profiles": config.headers.profiles if config.headers else 0,
        "max_frame_bytes": config.max_frame_bytes,
        "memory_bytes": max(memory.bytes for memory in config.memory_ports),
        "init_cycles": config.queues + config.descriptors + INIT_SLACK_CYCLES,
    }


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
    if config.counter_memory:
        counters = config.counter_memory
        memories += f"\n| {len(config.channels)} | {counters.name}: the counters by queue | {counters.bytes:,} | | |"
    return f"""| | |
|---|---|
| queues | {config.queues:,} |
| descriptors (frames that can wait) | {config.descriptors:,} |
| frames, without queue id and FCS | {config.min_frame_bytes:,} to {config.max_frame_bytes:,} byte |
| clock | {config.clock_hz / 1e6:g} MHz (software computes rates from it; nothing in the hardware depends on it) |
| shaping | {_shaping(config)} |
| AQM | {config.aqm} |
{_hierarchy(config)}
Memories, one AXI4 port each (512 bit, INCR bursts of at most 64 beats, one id, answers in order):

| port | name | bytes | pages | bytes of a page |
|---|---|---|---|---|
{memories}
"""


def _hierarchy(config: Config) -> str:
    if config.hierarchy is None:
        return ""
    of = config.hierarchy
    return f"| above the queues | {config.queues // of.queues_per_subscriber:,} subscribers, {of.nodes:,} nodes, {of.ports:,} ports |\n"


def use(config: Config) -> str:
    """Return how its ports are used."""
    where = {
        "prefix": "The first four bytes of each frame at `s_axis` are the queue\nid, most significant byte first; they are stripped.",
        "tdest": "The queue id of a frame is `tdest` of\nits first beat at `s_axis`; at `m_axis` it is in `tdest` of every beat.",
        "headers": "The queue of a frame is found in its\nheaders; until registers say how, every frame is dropped.",
    }[config.queue_id]
    return f"""Frames are taken when `init_done_o` is high. {where} Registers are at `s_axil`; register 0 reads 0x{DEVICE_TYPE:08x}."""
