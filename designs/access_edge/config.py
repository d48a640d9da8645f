"""Configurations of the access edge, and what hardware and model are told of them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from penstock.designs.access_edge import registers
from penstock.designs.design import NAME, Configuration

PAGE_UNIT_BYTES = 64  # one beat: page sizes are multiples of it
MEMORY_UNIT_BYTES = 4096  # no AXI4 burst crosses it, so memories are multiples of it
MAX_UPDATE_TICKS = (1 << 18) - 1
MAX_PIE_GAIN = (1 << 16) - 1  # in 2^-32 per tick
PIE_WALK_CYCLES = 16  # beside one for each queue: the pipeline of the update

Count = Annotated[int, Field(strict=True, ge=1)]


class Memory(BaseModel):
    """One packet memory: descriptors `base .. base + pages - 1` are its pages, one frame takes one page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=NAME, description="Name in reports.")
    bytes: Count = Field(description="Size of the memory in bytes, a multiple of 4,096.")
    pages: Count = Field(description="Number of pages.")
    page_bytes: Count = Field(description="Bytes of a page, a multiple of 64: the largest frame that it holds.")

    @model_validator(mode="after")
    def _check(self) -> "Memory":
        if self.page_bytes % PAGE_UNIT_BYTES:
            raise ValueError(f"memory {self.name} has pages of {self.page_bytes:,} bytes, which is not a multiple of {PAGE_UNIT_BYTES}")
        if self.bytes % MEMORY_UNIT_BYTES:
            raise ValueError(f"memory {self.name} has {self.bytes:,} bytes, which is not a multiple of {MEMORY_UNIT_BYTES:,}")
        needed = self.pages * self.page_bytes
        if needed > self.bytes:
            pages = f"{self.pages:,} pages of {self.page_bytes:,} bytes"
            raise ValueError(f"memory {self.name} has {self.bytes:,} bytes, but its {pages} need {needed:,}")
        return self


class Hierarchy(BaseModel):
    """What is above the queues: subscriber s has the queues from s * queues_per_subscriber on, subscribers have nodes, nodes have ports."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    queues_per_subscriber: Literal[1, 2, 4, 8] = Field(description="Queues of each subscriber.")
    nodes: Count = Field(description="Number of access nodes, a power of two, at least 2.")
    ports: Count = Field(description="Number of ports, a power of two, at least 2.")
    classes: int = Field(strict=True, ge=1, le=registers.MAX_CLASS + 1, description="Number of traffic classes; 0 goes first.")

    @model_validator(mode="after")
    def _check(self) -> "Hierarchy":
        for name in ("nodes", "ports"):
            count = getattr(self, name)
            if count < 2 or count & (count - 1):
                raise ValueError(f"{name} must be a power of two and at least 2, not {count:,}")
        return self


class Pie(BaseModel):
    """What all queues share of PIE; by default as RFC 8033 recommends (sections 4.2 and 5.1)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    update_us: Count = Field(15_000, description="T_UPDATE in microseconds: how often a queue's drop probability is calculated.")
    alpha: float = Field(0.125, gt=0, description="Gain in Hz: how much a delay off its target changes the probability.")
    beta: float = Field(1.25, gt=0, description="Gain in Hz: how much a delay that changes does.")


class Config(Configuration):
    """One configuration of the access edge. Limits are those of the hardware and of its registers."""

    design: str = Field("access_edge", pattern=NAME, description="Folder below `designs/`.")
    queues: int = Field(strict=True, ge=2, le=1 << 24, description="Number of queues.")
    max_frame_bytes: int = Field(strict=True, ge=1, le=registers.MAX_LENGTH, description="Largest frame in bytes, without prefix and FCS.")
    min_frame_bytes: int = Field(14, strict=True, ge=1, description="Smallest frame in bytes, without prefix and FCS.")
    shaping: bool = Field(True, strict=True, description="Queues have rates; false: backlogged queues take turns.")
    aqm: Literal["none", "codel", "pie"] = Field("none", description="Active queue management of each queue; needs `shaping`.")
    aqm_estimate: bool = Field(False, strict=True, description="The AQM's delay is backlog by rate, without a time stamp per frame.")
    pie: Pie = Field(Pie(), description="What all queues share of PIE; needs `aqm: pie`.")
    hierarchy: Hierarchy | None = Field(None, description="Subscribers, nodes and ports above the queues; needs `shaping`.")
    memories: tuple[Memory, ...] = Field(min_length=1, max_length=32, description="Where frames wait.")

    @field_validator("memories", mode="before")
    @classmethod
    def _as_list(cls, value: object) -> object:
        if not isinstance(value, (list, tuple)):
            raise ValueError("must be a list of memories, each with name, bytes, pages and page_bytes")
        return value

    @model_validator(mode="after")
    def _check(self) -> "Config":
        if self.min_frame_bytes > self.max_frame_bytes:
            raise ValueError(f"min_frame_bytes is {self.min_frame_bytes:,}, which is more than max_frame_bytes, {self.max_frame_bytes:,}")
        if self.aqm != "none" and not self.shaping:
            raise ValueError(f"aqm is {self.aqm}, which needs shaping: true")
        if self.aqm_estimate and self.aqm == "none":
            raise ValueError("aqm_estimate is true, but there is no aqm")
        if self.pie != Pie() and self.aqm != "pie":
            raise ValueError(f"pie is given, but aqm is {self.aqm}")
        if self.aqm == "pie":
            self._check_pie()
        if self.hierarchy:
            least = 2 * self.hierarchy.queues_per_subscriber
            if self.queues & (self.queues - 1) or self.queues < least:
                raise ValueError(f"queues is {self.queues:,}; with a hierarchy it must be a power of two and at least {least}")
            if not self.shaping:
                raise ValueError("there is a hierarchy, which needs shaping: true")
            if max(self.hierarchy.nodes, self.hierarchy.ports) > self.queues:
                raise ValueError(f"the hierarchy has more nodes or ports than there are queues, {self.queues:,}")
        names = [memory.name for memory in self.memories]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise ValueError(f"two memories are called {twice}")
        largest = max(memory.page_bytes for memory in self.memories)
        if largest < self.max_frame_bytes:
            sizes = f"max_frame_bytes is {self.max_frame_bytes:,}, the largest page has {largest:,}"
            raise ValueError(f"no memory has a page for the largest frame: {sizes}")
        if not 2 <= self.descriptors <= 1 << 24:
            raise ValueError(f"the memories have {self.descriptors:,} pages in all, allowed: 2 to {1 << 24:,}")
        return self

    def _check_pie(self) -> None:
        for name, value in self.pie_numbers.items():
            most = MAX_UPDATE_TICKS if name == "update_ticks" else MAX_PIE_GAIN
            if not 1 <= value <= most:
                key = "update_us" if name == "update_ticks" else name
                unit = "ticks" if name == "update_ticks" else "2^-32 per tick"
                raise ValueError(f"pie.{key} is {getattr(self.pie, key):,}: that is {value:,} {unit}, allowed: 1 to {most:,}")
        cycles = self.pie_numbers["update_ticks"] << self.tick_shift
        if cycles < self.queues + PIE_WALK_CYCLES:
            raise ValueError(f"pie.update_us is {self.pie.update_us:,}, which is too short to calculate {self.queues:,} queues one by one")

    @property
    def descriptors(self) -> int:
        """Number of descriptors: the pages of all memories."""
        return sum(memory.pages for memory in self.memories)

    @property
    def address_bits(self) -> int:
        """Bits of a byte address over all memories."""
        return max(1, (sum(memory.bytes for memory in self.memories) - 1).bit_length())

    @property
    def tick_shift(self) -> int:
        """The AQM's tick is 2^n cycles: between 1 and 2 us."""
        return (self.clock_hz // 1_000_000).bit_length()

    @property
    def pie_numbers(self) -> dict[str, int]:
        """PIE as the hardware has it: T_UPDATE in ticks, gains in 2^-32 per tick."""
        ticks_per_second = self.clock_hz / (1 << self.tick_shift)
        gain = (1 << 32) / ticks_per_second
        return {
            "update_ticks": round(self.pie.update_us * ticks_per_second / 1e6),
            "alpha": round(self.pie.alpha * gain),
            "beta": round(self.pie.beta * gain),
        }


def model_aqm(name: str, numbers: Mapping[str, int]) -> dict[str, Any] | None:
    """Return what a model has to be told of its AQM: which one it is, where it judges packets, and the numbers of its module."""
    if name == "none":
        return None
    sees = {"codel": "departures", "pie": "arrivals"}[name]
    return {"name": name, "sees": sees, "library": None, "numbers": dict(numbers)}


def model_settings(config: Config) -> dict[str, Any]:
    """Return what the model of the device has to be told (key `device.model` of a job)."""
    settings: dict[str, Any] = {
        "max_frame_bytes": config.max_frame_bytes,
        "min_frame_bytes": config.min_frame_bytes,
        "shaping": config.shaping,
        "aqm": model_aqm(config.aqm, config.pie_numbers if config.aqm == "pie" else {}),
        "aqm_estimate": config.aqm_estimate,
        "tick_shift": config.tick_shift,
    }
    return settings | ({"hierarchy": config.hierarchy.model_dump()} if config.hierarchy else {})


def device(config: Config, library: str | None, timing: Mapping[str, int]) -> dict[str, Any]:
    """Return key `device` of a job: the RTL in `library` (may be filled in later), None: the model. `timing` is that of every memory."""
    common = {"design": config.design, "clock_hz": config.clock_hz, "queues": config.queues}
    if library is not None:
        return common | {"library": library, "memories": [{"bytes": memory.bytes, **timing} for memory in config.memories]}
    pools = [{"bytes": memory.bytes, "pages": memory.pages, "page_bytes": memory.page_bytes, **timing} for memory in config.memories]
    return common | {"model": model_settings(config), "memories": pools}


def parameters(config: Config) -> dict[str, str]:
    """Return the parameters of pst_access_edge."""

    def packed(width: int, values: list[int]) -> str:
        return "{" + ", ".join(f"{width}'d{value}" for value in reversed(values)) + "}"

    return {
        "Queues": str(config.queues),
        "Memories": str(len(config.memories)),
        "MemPages": packed(32, [memory.pages for memory in config.memories]),
        "MemPageBytes": packed(32, [memory.page_bytes for memory in config.memories]),
        "MemBytes": packed(64, [memory.bytes for memory in config.memories]),
        "AddrWidth": str(config.address_bits),
        "MaxFrameBytes": str(config.max_frame_bytes),
        "MinFrameBytes": str(config.min_frame_bytes),
        "ClockHz": str(config.clock_hz),
        "Shaping": f"1'b{int(config.shaping)}",
        "Aqm": str(registers.AQM_CODES[config.aqm]),
        "AqmEstimate": f"1'b{int(config.aqm_estimate)}",
        "TickShift": str(config.tick_shift),
        **_pie_numbers(config),
        **_tree_numbers(config),
    }


def _pie_numbers(config: Config) -> dict[str, str]:
    """Return the parameters of PIE, where it is."""
    if config.aqm != "pie":
        return {}
    numbers = config.pie_numbers
    return {"UpdateTicks": str(numbers["update_ticks"]), "Alpha": str(numbers["alpha"]), "Beta": str(numbers["beta"])}


def _tree_numbers(config: Config) -> dict[str, str]:
    """Return the parameters of the hierarchy."""
    tree = config.hierarchy
    if tree is None:
        return {"Levels": "1"}
    return {
        "Levels": "4",
        "QueuesPerSubscriber": str(tree.queues_per_subscriber),
        "Nodes": str(tree.nodes),
        "Ports": str(tree.ports),
        "Classes": str(tree.classes),
    }
