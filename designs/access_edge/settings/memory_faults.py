"""Faults of packet memories: checked against the configuration, as keys of a job; and the time-out after which one is lost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, StrictStr, model_validator

from penstock.basics.models import Duration, Model
from penstock.basics.suggest import nearest
from penstock.basics.where import Fail, KeyPath
from penstock.designs.access_edge import registers
from penstock.scenarios.common import Time
from penstock.scenarios.traffic import MAX_CYCLES, cycles, reached_cycles

if TYPE_CHECKING:
    from penstock.designs.access_edge.config import Config

MOST_CYCLES = (1 << 32) - 1  # of the register


class MemoryFault(Model):
    """What is wrong with one of the memories, for a while or for ever."""

    memory: StrictStr = Field(description="Name of the memory; a channel of several has its number behind it: `ddr1`.")
    what: Literal["stall", "silent", "errors"] = Field(
        description="`stall`: takes and gives nothing. `silent`: takes requests and does not answer. `errors`: answers with errors."
    )
    from_: Time = Field(0, alias="from", description="When it begins, in time of the device.")
    for_: Duration | None = Field(None, alias="for", description="How long it lasts; for ever unless given.")

    @model_validator(mode="after")
    def _stall_ends(self) -> "MemoryFault":
        if self.what == "stall" and self.for_ is None:
            raise ValueError("is a stall without `for`; a memory that never answers again is `silent`")
        return self


def of_channels(faults: Sequence[MemoryFault], config: "Config", engine: str, fail: Fail) -> list[list[dict[str, Any]]]:
    """Return the faults of each memory (a channel each), as a job has them. `fail` raises UserError."""
    names = [memory.name for memory in config.memory_ports]
    found: list[list[dict[str, Any]]] = [[] for _ in names]
    clock = config.clock_hz
    for index, fault in enumerate(faults):
        where: KeyPath = ("device", "memory_faults", index)
        if fault.memory not in names:
            have = ", ".join(names)
            fail((*where, "memory"), f'is "{fault.memory}", but configuration {config.name} has {have}{nearest(fault.memory, names)}')
        if engine == "model" and fault.memory not in [memory.name for memory in config.channels]:
            fail((*where, "memory"), f'is "{fault.memory}", the memory of the counters, which the model has not; use engine rtl')
        begin = reached_cycles(fault.from_, clock, (*where, "from"), fail)
        until = {}
        if fault.for_ is not None:
            until["until"] = min(MAX_CYCLES, begin + max(1, reached_cycles(fault.for_, clock, (*where, "for"), fail)))
        found[names.index(fault.memory)].append({"what": fault.what, "from": begin, **until})
    return found[: len(config.channels)] if engine == "model" else found


def timeout_writes(timeout: int | None, config: "Config", fail: Fail) -> list[tuple[int, int]]:
    """Return the write of the time-out (picoseconds; 0: no memory is ever lost), None: what the device has after reset."""
    if timeout is None:
        return []
    count = cycles(timeout, config.clock_hz)
    if count > MOST_CYCLES or (timeout and not count):
        allowed = f"1 to {MOST_CYCLES:,} cycles of {config.clock_hz / 1e6:g} MHz"
        fail(("device", "memory_timeout"), f"must be 0 or {allowed}, not {count:,}")
    return [(registers.address("memory_timeout"), count)]
