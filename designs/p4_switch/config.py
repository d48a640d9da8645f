"""Configurations of the P4 device, and what the model is told of them."""

from typing import Any, Literal

from pydantic import Field

from penstock.designs.design import NAME, Configuration

MOST_PORTS = 64
DROP_PORT = 511  # V1Switch::kDropPort: egress_spec has nine bits, and this is to drop
MOST_NUMBER = DROP_PORT - 1  # of a port


class Config(Configuration):
    """One configuration of the P4 device, with its limits."""

    design: str = Field("p4_switch", pattern=NAME, description="Folder below `designs/`.")
    ports: int = Field(strict=True, ge=1, le=MOST_PORTS, description="Inputs, and as many outputs.")
    priorities: int = Field(strict=True, ge=1, le=64, description="Queues of each output; the highest number goes first.")
    queue_packets: int = Field(strict=True, ge=1, le=1 << 24, description="Places of each queue.")
    queue_bytes: int = Field(0, strict=True, ge=0, le=1 << 40, description="Bytes of each queue; 0: as many as the packets have.")
    max_frame_bytes: int = Field(strict=True, ge=64, le=65_535, description="Longer frames are dropped at the input.")
    egress_drops: Literal["charged", "free"] = Field("charged", description="What a drop in egress costs on the link.")


def device(
    config: Config, flows: int, program: dict[str, Any], state: dict[str, Any], clock_start_us: int, port_numbers: tuple[int, ...] | None
) -> dict[str, Any]:
    """Return key `device` of a job: a program, what its tables hold, and how many flows come to the inputs."""
    return {
        "design": config.design,
        "model": True,
        "clock_hz": config.clock_hz,
        "ports": config.ports,
        "priorities": config.priorities,
        "queue_packets": config.queue_packets,
        "queue_bytes": config.queue_bytes,
        "max_frame_bytes": config.max_frame_bytes,
        "egress_drops_charged": config.egress_drops == "charged",
        "clock_start_us": clock_start_us,
        "flows": flows,
        "port_numbers": None if port_numbers is None else list(port_numbers),
        "program": program,
        "state": state,
    }
