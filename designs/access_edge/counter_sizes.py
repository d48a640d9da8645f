"""The memory that has the counters by queue, but for a narrow part of each on the chip (blocks/count/README.md)."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from penstock.designs.design import NAME
from penstock.engine import memories

RECORD_BYTES = 64  # the counters of a queue
BURSTS = 16  # under way at that memory in each direction, of one beat (pst_access_edge, CounterSlots)
UNIT_BYTES = 4096  # no AXI4 burst crosses it, so memories are multiples of it


class CounterMemory(BaseModel):
    """A memory at an AXI4 port of its own behind those of packets, with a record of 64 byte for each queue."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field("counters", pattern=NAME, description="Name in reports.")
    kind: str = Field(memories.IDEAL, strict=True, description="As of a memory of packets.")
    bytes: int = Field(strict=True, ge=1, description="Size in bytes, a multiple of 4,096: 64 for each queue at least.")

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str) -> str:
        return memories.check_kind(value)

    @model_validator(mode="after")
    def _check(self) -> "CounterMemory":
        if self.bytes % UNIT_BYTES:
            raise ValueError(f"memory {self.name} has {self.bytes:,} bytes, which is not a multiple of {UNIT_BYTES:,}")
        return self

    def check(self, queues: int) -> None:
        """Raise ValueError when it is too small for the counters of so many queues."""
        if self.bytes < queues * RECORD_BYTES:
            raise ValueError(
                f"memory {self.name} has {self.bytes:,} bytes, but the counters of {queues:,} queues need {queues * RECORD_BYTES:,}"
            )

    def in_job(self, clock_hz: int, channel: int, ideal: Mapping[str, int]) -> dict[str, Any]:
        """Return its keys of a job of the RTL; `channel` counts through all memories, `ideal` are the latencies of ideal ones."""
        plain = memories.Controller()
        return {"bytes": self.bytes, **memories.in_job(self.kind, plain, clock_hz, channel, ideal)}
