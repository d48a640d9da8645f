"""Configurations of the P4 device, and what the model is told of them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, model_validator

from penstock.designs.design import NAME, Configuration

MOST_PORTS = 64
DROP_PORT = 511  # V1Switch::kDropPort: egress_spec has nine bits, and this is to drop
MOST_NUMBER = DROP_PORT - 1  # of a port


class ByPriority(BaseModel):
    """What the queues of a priority have, at each output."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    priority: StrictInt = Field(ge=0, le=63, description="Which; the highest number goes first.")
    queue_packets: StrictInt | None = Field(None, ge=1, le=1 << 24, description="Places of each queue; those of all unless given.")
    packets_per_second: StrictInt | None = Field(
        None, ge=1, le=10**12, description="Each queue sends no faster; lower priorities go meanwhile. Any unless given."
    )


class Config(Configuration):
    """One configuration of the P4 device, with its limits."""

    design: str = Field("p4_switch", pattern=NAME, description="Folder below `designs/`.")
    ports: int = Field(strict=True, ge=1, le=MOST_PORTS, description="Inputs, and as many outputs.")
    priorities: int = Field(strict=True, ge=1, le=64, description="Queues of each output; the highest number goes first.")
    queue_packets: int = Field(strict=True, ge=1, le=1 << 24, description="Places of each queue.")
    by_priority: tuple[ByPriority, ...] = Field((), description="Places and rate of single priorities.")
    queue_bytes: int = Field(0, strict=True, ge=0, le=1 << 40, description="Bytes of each queue; 0: as many as the packets have.")
    max_frame_bytes: int = Field(strict=True, ge=64, le=65_535, description="Longer frames are dropped at the input.")
    egress_drops: Literal["charged", "free"] = Field("charged", description="What a drop in egress costs on the link.")

    @model_validator(mode="after")
    def _priorities_that_there_are(self) -> "Config":
        given = [own.priority for own in self.by_priority]
        for place, priority in enumerate(given):
            if priority >= self.priorities:
                raise ValueError(f"by_priority[{place}].priority must be 0 to {self.priorities - 1}, not {priority}: `priorities` says so")
            if priority in given[:place]:
                raise ValueError(f"by_priority[{place}].priority is {priority} a second time")
        return self


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
        "by_priority": [own.model_dump(exclude_none=True) for own in config.by_priority],
        "queue_bytes": config.queue_bytes,
        "max_frame_bytes": config.max_frame_bytes,
        "egress_drops_charged": config.egress_drops == "charged",
        "clock_start_us": clock_start_us,
        "flows": flows,
        "port_numbers": None if port_numbers is None else list(port_numbers),
        "program": program,
        "state": state,
    }
