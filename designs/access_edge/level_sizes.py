"""Sizes of what is above the queues of a device, and of the classes that share its memory."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from penstock.designs.access_edge import registers

Count = Annotated[int, Field(strict=True, ge=1)]


class Hierarchy(BaseModel):
    """What is above the queues: subscriber s has the queues from s * queues_per_subscriber on, subscribers have nodes, nodes have ports."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    queues_per_subscriber: Literal[1, 2, 4, 8] = Field(description="Queues of each subscriber.")
    nodes: Count = Field(description="Number of access nodes, a power of two, at least 2.")
    ports: Count = Field(description="Number of ports, a power of two, at least 2.")
    classes: int = Field(strict=True, ge=1, le=registers.MAX_CLASS + 1, description="Number of traffic classes; 0 goes first.")
    guarantees: bool = Field(False, strict=True, description="Queues and subscribers may have guaranteed rates.")

    @model_validator(mode="after")
    def _check(self) -> "Hierarchy":
        for name in ("nodes", "ports"):
            count = getattr(self, name)
            if count < 2 or count & (count - 1):
                raise ValueError(f"{name} must be a power of two and at least 2, not {count:,}")
        return self


class Admission(BaseModel):
    """Memory is shared by class: no queue starves the others of it (blocks/memory/README.md, "Who may have a page")."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    classes: int = Field(
        strict=True, ge=1, le=registers.MAX_CLASS + 1, description="Number of classes that share memory, at least those of the hierarchy."
    )
