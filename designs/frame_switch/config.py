"""Configurations of the frame switch, and what hardware and model are told of them."""

from typing import Any, Literal

from pydantic import Field, model_validator

from penstock.designs.design import NAME, Configuration

PIPELINE = {  # cycles of pst_fabric by ports, for S = 1, 2, 4 (blocks/fabric/README.md, the paper's Table 1)
    2: (4, 2, 1),
    4: (7, 4, 2),
    8: (10, 5, 2),
    16: (14, 7, 4),
    32: (20, 10, 5),
}
STAGES = (1, 2, 4)


class Config(Configuration):
    """One configuration of the frame switch: the parameters of pst_frame_switch, with its limits."""

    design: str = Field("frame_switch", pattern=NAME, description="Folder below `designs/`.")
    ports: Literal[2, 4, 8, 16, 32] = Field(description="Inputs, and as many outputs.")
    data_bytes: int = Field(strict=True, ge=4, le=64, multiple_of=4, description="Bytes of a beat, which is a cell.")
    classes: int = Field(strict=True, ge=1, le=64, description="Traffic classes; 0 goes first.")
    max_frame_bytes: int = Field(strict=True, ge=1, le=16_383, description="Frames of more beats than this takes are dropped.")
    room_cells: int = Field(strict=True, ge=2, le=1 << 16, description="Beats of room for each source and class at an output.")
    back_pressure: bool = Field(strict=True, description="Nothing is lost, sources wait.")
    scheduler: Literal["cprra", "islip"] = Field("cprra", description="The cell switch.")
    fifo_depth: int = Field(strict=True, ge=1, le=1 << 14, description="Cells of the cell switch's FIFOs.")
    stages: Literal[1, 2, 4] = Field(1, description="Of cprra's pipeline.")
    iterations: int = Field(1, strict=True, ge=1, le=64, description="Of islip in a cycle.")

    @model_validator(mode="after")
    def _check(self) -> "Config":
        if self.room_cells & (self.room_cells - 1):
            raise ValueError(f"room_cells is {self.room_cells:,}; it must be a power of two")
        if self.back_pressure and self.room_cells < self.max_cells:
            beats = f"{self.max_cells:,} beats of a longest frame"
            raise ValueError(f"room_cells is {self.room_cells:,}; with back_pressure it must be at least the {beats}")
        if self.scheduler == "cprra":
            if self.iterations != 1:
                raise ValueError(f"iterations is {self.iterations}, which is a setting of scheduler: islip")
            least = self.pipeline_cycles + 2
            if self.back_pressure and self.fifo_depth < least:
                raise ValueError(f"fifo_depth is {self.fifo_depth:,}; with back_pressure it must be at least {least}, the pipeline and 2")
        elif self.stages != 1:
            raise ValueError(f"stages is {self.stages}, which is a setting of scheduler: cprra")
        return self

    @property
    def max_cells(self) -> int:
        """Beats of a longest frame."""
        return -(-self.max_frame_bytes // self.data_bytes)

    @property
    def pipeline_cycles(self) -> int:
        """Cycles of the cell switch's pipeline (cprra)."""
        return PIPELINE[self.ports][STAGES.index(self.stages)]

    @property
    def number_width(self) -> int:
        """Bits of frame numbers, as pst_frame_switch sets them unless told otherwise."""
        return 1 if self.back_pressure else 16

    @property
    def flows(self) -> int:
        """Pairs of source and destination, times classes."""
        return self.ports * self.ports * self.classes

    def flow(self, source: int, destination: int, traffic_class: int) -> int:
        """Return the number of a flow, which the engine calls a queue (designs/frame_switch/model/flows.hpp)."""
        return (source * self.ports + destination) * self.classes + traffic_class


def parameters(config: Config) -> dict[str, str]:
    """Return the parameters of pst_frame_switch."""
    return {
        "Ports": str(config.ports),
        "DataBytes": str(config.data_bytes),
        "Classes": str(config.classes),
        "MaxFrameBytes": str(config.max_frame_bytes),
        "RoomCells": str(config.room_cells),
        "BackPressure": f"1'b{int(config.back_pressure)}",
        "FifoDepth": str(config.fifo_depth),
        "Islip": f"1'b{int(config.scheduler == 'islip')}",
        "Stages": str(config.stages),
        "Iterations": str(config.iterations),
    }


def device(config: Config, library: str | None, groups: list[dict[str, int]]) -> dict[str, Any]:
    """Return key `device` of a job: the RTL in `library`, None: the model. `groups`: those of several destinations."""
    which = {"model": True} if library is None else {"library": library}
    return {
        "design": config.design,
        "clock_hz": config.clock_hz,
        **which,
        "ports": config.ports,
        "data_bytes": config.data_bytes,
        "classes": config.classes,
        "max_frame_bytes": config.max_frame_bytes,
        "room_cells": config.room_cells,
        "back_pressure": config.back_pressure,
        "fifo_depth": config.fifo_depth,
        "islip": config.scheduler == "islip",
        "stages": config.stages,
        "iterations": config.iterations,
        "groups": groups,
    }
