"""What the folder of a generated frame switch says and tries: the numbers of its test bench and of its README."""

from typing import Any

from penstock.designs.frame_switch.config import Config


def numbers(config: Config) -> dict[str, tuple[str, str]]:
    """Return what its test bench must know of a configuration: type and value of each constant of the bench's package."""
    counts = {
        "Ports": config.ports,
        "DataBytes": config.data_bytes,
        "Classes": config.classes,
        "ClassWidth": max(1, (config.classes - 1).bit_length()),
        "PortWidth": max(1, (config.ports - 1).bit_length()),
        "MaxFrameBytes": config.max_frame_bytes,
    }
    sizes = {name: ("int unsigned", str(value)) for name, value in counts.items()}
    return {**sizes, "BackPressure": ("bit", f"1'b{int(config.back_pressure)}")}


def test_numbers(config: Config) -> dict[str, Any]:
    """Return what its cocotb test must know of a configuration."""
    return {"ports": config.ports, "classes": config.classes, "max_frame_bytes": config.max_frame_bytes}


def facts(config: Config) -> str:
    """Return the table of its numbers."""
    scheduler = f"cprra, S = {config.stages}" if config.scheduler == "cprra" else f"iSLIP, iterations in a cycle: {config.iterations}"
    return f"""| | |
|---|---|
| inputs, and as many outputs | {config.ports} |
| bytes of a beat | {config.data_bytes} |
| traffic classes | {config.classes} |
| longest frame | {config.max_cells:,} beats, {config.max_cells * config.data_bytes:,} byte; more are dropped |
| room at an output | {config.room_cells:,} beats for each source and class |
| losses | {"none: inputs wait" if config.back_pressure else "whole frames, where there is no room; inputs never wait"} |
| cell switch | {scheduler}; {config.fifo_depth} cells in a FIFO |
| clock | {config.clock_hz / 1e6:g} MHz in simulations; nothing in the hardware depends on it |
"""


def use(config: Config) -> str:
    """Return how its ports are used."""
    return """`s_axis_*` and `m_axis_*` are arrays of AXI4-Streams, one for each port; `tdest` has a bit for each
output and counts at a frame's first beat, `tuser` is {class at the first beat, error at the last}; at the outputs `tid` is the source
and `tuser` the class."""
