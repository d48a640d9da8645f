"""Configurations of the access edge, and what hardware and model are told of them."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, NoReturn

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from penstock.basics.suggest import nearest
from penstock.basics.units import describe
from penstock.designs.access_edge import registers, scheduler, setting_sizes
from penstock.designs.access_edge.counter_sizes import BURSTS, CounterMemory
from penstock.designs.access_edge.flow_sizes import Flows
from penstock.designs.access_edge.header_sizes import Headers
from penstock.designs.access_edge.level_sizes import Admission, Hierarchy
from penstock.designs.design import NAME, Configuration
from penstock.engine import memories
from penstock.errors import UserError
from penstock.hardware import part_model, plugs
from penstock.parts import registry as parts
from penstock.parts.manifest import Number, Part

PAGE_UNIT_BYTES = 64  # one beat: page sizes are multiples of it
DEFAULT_OUTSTANDING = 64  # covers the latency of one memory at full rate
MEMORY_UNIT_BYTES = 4096  # no AXI4 burst crosses it, so memories are multiples of it
NO_AQM = "none"
DEFAULT_TOLERANCE_CYCLES = 1024
MIN_TOLERANCE_CYCLES = 32  # a slot of the timing wheels: with less no queue would have its rate
MAX_TOLERANCE_CYCLES = (1 << 28) - 1  # 1/16 of what the hardware's times count (pst_schedule_shaped)

Count = Annotated[int, Field(strict=True, ge=1)]
Places = Annotated[int, Field(strict=True, ge=1, le=1024)]


class Memory(BaseModel):
    """A packet memory, or channels of one kind: descriptors `base .. base + pages - 1` are the pages of one, a frame takes one page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=NAME, description="Name in reports.")
    kind: str = Field(memories.IDEAL, strict=True, description="`ideal`, `sram`, or a kind of DRAM (docs/memories.md).")
    channels: int = Field(
        1, strict=True, ge=1, le=memories.MAX_CHANNELS, description="Number of channels, each with an AXI4 port of its own."
    )
    bytes: Count = Field(description="Size of a channel in bytes, a multiple of 4,096.")
    pages: Count = Field(description="Number of pages of a channel.")
    page_bytes: Count = Field(description="Bytes of a page, a multiple of 64: the largest frame that it holds.")
    memory_clock_hz: Annotated[int, Field(strict=True, ge=10**8, le=4 * 10**9)] | None = Field(
        None, description="Clock of a DRAM, where it is not that of its kind."
    )
    mapping: str | None = Field(None, strict=True, description="Which bits of an address are row, bank, group and column of a DRAM.")
    hash_groups: bool = Field(True, strict=True, description="A DRAM's bank group is XORed with the address bits above it.")
    close_rows: bool = Field(False, strict=True, description="A DRAM's controller closes rows that no access needs.")
    queue: Places | None = Field(None, description="Accesses in each queue of a DRAM's controller, where it is not that of its kind.")
    batch: Places | None = Field(None, description="Accesses of a DRAM in one direction while the other one waits; likewise.")
    crossbar: str = Field(
        memories.NO_CROSSBAR, strict=True, description="Between the ports and the pseudo channels of an HBM (docs/memories.md)."
    )

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str) -> str:
        return memories.check_kind(value)

    @property
    def controller(self) -> memories.Controller:
        """What it says of a DRAM's controller."""
        return memories.Controller(
            self.memory_clock_hz, self.mapping, self.hash_groups, self.close_rows, self.queue, self.batch, self.crossbar
        )

    def in_job(self, clock_hz: int, channel: int, ideal: Mapping[str, int], of: tuple[int, int]) -> dict[str, Any]:
        """Return the keys of a job; `channel` counts through all memories, `of` are the first one and the number of those of this name;
        `ideal` are the latencies of ideal ones."""
        keys = memories.in_job(self.kind, self.controller, clock_hz, channel, ideal, of)
        return {"bytes": self.bytes, "page_bytes": self.page_bytes, **keys}

    @model_validator(mode="after")
    def _check(self) -> "Memory":
        memories.check_controller(self.kind, self.controller)
        if self.page_bytes % PAGE_UNIT_BYTES:
            raise ValueError(f"memory {self.name} has pages of {self.page_bytes:,} bytes, which is not a multiple of {PAGE_UNIT_BYTES}")
        if self.bytes % MEMORY_UNIT_BYTES:
            raise ValueError(f"memory {self.name} has {self.bytes:,} bytes, which is not a multiple of {MEMORY_UNIT_BYTES:,}")
        needed = self.pages * self.page_bytes
        if needed > self.bytes:
            pages = f"{self.pages:,} pages of {self.page_bytes:,} bytes"
            raise ValueError(f"memory {self.name} has {self.bytes:,} bytes, but its {pages} need {needed:,}")
        return self


class Config(Configuration):
    """One configuration of the access edge. Limits are those of the hardware and of its registers.

    Numbers that all queues share of the AQM, or of an own scheduler, stand under its name: `pie: {update_us: 15000}`.
    """

    instead: ClassVar[Mapping[str, str]] = {"shaping": "scheduler", "scheduler": "shaping"}

    design: str = Field("access_edge", pattern=NAME, description="Folder below `designs/`.")
    queues: int = Field(strict=True, ge=2, le=1 << 24, description="Number of queues.")
    max_frame_bytes: int = Field(strict=True, ge=1, le=registers.MAX_LENGTH, description="Largest frame in bytes, without prefix and FCS.")
    min_frame_bytes: int = Field(14, strict=True, ge=1, description="Smallest frame in bytes, without prefix and FCS.")
    queue_id: Literal["prefix", "tdest", "headers"] = Field(
        "prefix",
        description="Where the queue id of a frame is: `prefix`, in its first 4 bytes; `tdest`; or `headers`, by which it is found.",
    )
    headers: Headers | None = Field(None, description="How queues are found in headers, with `queue_id: headers`.")
    shaping: bool | None = Field(
        None, strict=True, description="Queues have rates, which is so unless said; false: backlogged queues take turns."
    )
    scheduler: str | None = Field(
        None, strict=True, description="The same by name, `shaped` or `passthrough`, or one of your own (docs/how-to/own-scheduler.md)."
    )
    tolerance_cycles: int = Field(
        DEFAULT_TOLERANCE_CYCLES,
        strict=True,
        ge=MIN_TOLERANCE_CYCLES,
        le=MAX_TOLERANCE_CYCLES,
        description="Lateness that shapers make up for, in cycles: so much time's bytes may leave at once, if the burst is not more.",
    )
    aqm: str = Field(NO_AQM, strict=True, description="Active queue management of each queue: none or a part's name; needs `shaping`.")
    aqm_estimate: bool = Field(False, strict=True, description="The AQM's delay is backlog by rate, without a time stamp per frame.")
    hierarchy: Hierarchy | None = Field(None, description="Subscribers, nodes and ports above the queues; needs `shaping`.")
    busiest: int = Field(
        0, ge=0, le=64, description="Places of the table in which a scan leaves the busiest queues; 0: the device cannot scan."
    )
    node_counters: bool = Field(False, strict=True, description="The device counts by node and class, too; needs `hierarchy`.")
    setting_profiles: int = Field(0, strict=True, ge=0, le=65_536, description=setting_sizes.DESCRIPTION)
    flows: Flows | None = Field(None, description="Flow queues behind the queues, or false; they need `shaping`.")
    counter_memory: CounterMemory | None = Field(
        None, description="A memory for the counters by queue, but for a part of each on the chip; false or left out: all are on the chip."
    )
    admission: Admission | None = Field(None, description="Memory is shared by class; false or left out: one queue may take every page.")
    outstanding: int = Field(
        DEFAULT_OUTSTANDING,
        strict=True,
        ge=2,
        le=512,
        description="Frames, and bursts, under way at the memories in each direction. Small frames on several channels of DRAM want 256.",
    )
    memories: tuple[Memory, ...] = Field(min_length=1, max_length=32, description="Where frames wait.")

    _numbers: dict[str, dict[str, Any]] = PrivateAttr(default_factory=dict)  # of the parts that are in, by their names, as they were given

    @model_validator(mode="wrap")
    @classmethod
    def _with_numbers(cls, data: Any, handler: ModelWrapValidatorHandler["Config"]) -> "Config":
        if not isinstance(data, Mapping):
            return handler(data)
        known = parts.everything().keys() - cls.model_fields.keys()
        config = handler({key: value for key, value in data.items() if key not in known})
        config._set_numbers({key: value for key, value in data.items() if key in known})
        return config

    @model_serializer(mode="wrap")
    def _all(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The numbers of each part, those of the parts that are not in as they are unless given."""
        found: dict[str, Any] = handler(self)
        for part in parts.everything().values():
            if part.numbers:
                found[part.name] = {number.name: number.default for number in part.numbers} | self._numbers.get(part.name, {})
        return found

    @field_validator("aqm")
    @classmethod
    def _known(cls, value: str) -> str:
        *names, last = map(repr, (NO_AQM, *parts.parts("aqm")))
        if value != NO_AQM and value not in parts.parts("aqm"):
            raise PydanticCustomError("literal_error", "no AQM", {"expected": f"{', '.join(names)} or {last}"})
        return value

    @field_validator("admission", "flows", "counter_memory", mode="before")
    @classmethod
    def _none(cls, value: object) -> object:
        return None if value is False else value

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
        if (self.queue_id == "headers") != (self.headers is not None):
            given = "there is no headers" if self.headers is None else f"queue_id is {self.queue_id}"
            raise ValueError(f"headers goes with queue_id: headers, but {given}")
        scheduler.check_names()
        if own := self.own_scheduler:
            scheduler.check(own, self.aqm, self.hierarchy is not None)
        if self.aqm != NO_AQM and not self.shaped:
            raise ValueError(f"aqm is {self.aqm}, which needs shaping: true")
        if self.aqm_estimate and self.aqm == NO_AQM:
            raise ValueError("aqm_estimate is true, but there is no aqm")
        if self.flows:
            part = self.aqm_part
            self.flows.check(self.queues, self.shaped, part.shown if part and str(part.sees) != "departures" else None, self.aqm_estimate)
        if self.setting_profiles:
            setting_sizes.check(self.setting_profiles, self.queues, self.shaped and not self.flows, self.aqm_part)
        if self.node_counters and not self.hierarchy:
            raise ValueError("node_counters is true, which needs a hierarchy")
        if self.hierarchy:
            least = 2 * self.hierarchy.queues_per_subscriber
            if self.queues & (self.queues - 1) or self.queues < least:
                raise ValueError(f"queues is {self.queues:,}; with a hierarchy it must be a power of two and at least {least}")
            if not self.shaped:
                raise ValueError("there is a hierarchy, which needs shaping: true")
            if max(self.hierarchy.nodes, self.hierarchy.ports) > self.queues:
                raise ValueError(f"the hierarchy has more nodes or ports than there are queues, {self.queues:,}")
            if self.admission and self.admission.classes < self.hierarchy.classes:
                raise ValueError(f"admission has {self.admission.classes} classes, fewer than the hierarchy with {self.hierarchy.classes}")
        if self.counter_memory:
            self.counter_memory.check(self.queues)
        if len(self.memory_ports) > memories.MAX_CHANNELS:
            raise ValueError(f"the memories have {len(self.memory_ports)} channels in all, allowed: 1 to {memories.MAX_CHANNELS}")
        names = [memory.name for memory in self.memory_ports]
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

    def _set_numbers(self, given: Mapping[str, Any]) -> None:
        for name, values in given.items():
            part = parts.everything()[name]
            if not isinstance(values, Mapping):
                _fail((name,), f"must be keys with values, not {describe(values)}")
            for key in values:
                if key not in [number.name for number in part.numbers]:
                    _fail((name, key), f"is not a number of {part.shown}{nearest(str(key), [number.name for number in part.numbers])}")
            read = {number.name: _read(part, number, values.get(number.name, number.default)) for number in part.numbers}
            if part in self.parts:
                self._numbers[name] = dict(values)
            elif read != {number.name: number.read(number.default) for number in part.numbers}:
                raise ValueError(f"{name} is given, but {part.kind} is {self.aqm if part.kind == 'aqm' else self.scheduler_name}")
        for part in self.parts:
            own = self._numbers.setdefault(part.name, {})
            for number in part.numbers:
                own.setdefault(number.name, number.default)
                self._check_number(part, number)

    def _check_number(self, part: Part, number: Number) -> None:
        value = self._numbers[part.name][number.name]
        try:
            found = number.in_hardware(_read(part, number, value), self.clock_hz, self.tick_shift)
        except ValueError as error:
            raise ValueError(f"{part.name}.{number.name} {error}") from None
        if number.walk is not None and found << self.tick_shift < self.queues + number.walk:
            short = f"{value:,}" if isinstance(value, int) else str(value)
            short += f", which is too short to calculate {self.queues:,} queues one by one"
            raise ValueError(f"{part.name}.{number.name} is {short}")

    @property
    def memory_sizes(self) -> tuple[int, ...]:
        """Bytes of each memory, in the order of the ports."""
        return tuple(memory.bytes for memory in self.memory_ports)

    @property
    def bursts(self) -> tuple[int, int]:
        """Reads and writes that a memory has not answered, at most."""
        most = max(self.outstanding, BURSTS if self.counter_memory else 0)
        return most, most

    @property
    def scheduler_name(self) -> str:
        """The scheduler's name: shaped, passthrough, or that of an own one. Raises ValueError when the keys contradict each other."""
        return scheduler.name(self.scheduler, self.shaping)

    @property
    def shaped(self) -> bool:
        """Whether queues have rates."""
        return self.scheduler_name == scheduler.SHAPED

    @property
    def own_scheduler(self) -> Part | None:
        """The user's own scheduler, if it is one. Raises ValueError when there is none of its name."""
        try:
            return scheduler.own(self.scheduler_name)
        except UserError as error:
            raise ValueError(str(error)) from None

    @property
    def scheduler_numbers(self) -> dict[str, int]:
        """An own scheduler's numbers as the hardware has them, by name."""
        return self._in_hardware(self.own_scheduler)

    @property
    def channels(self) -> tuple[Memory, ...]:
        """The memories of packets as the hardware has them, one for each port; several channels of one have a number behind its name."""
        return tuple(
            memory if memory.channels == 1 else memory.model_copy(update={"name": f"{memory.name}{channel}", "channels": 1})
            for memory in self.memories
            for channel in range(memory.channels)
        )

    @property
    def memory_ports(self) -> tuple[Memory | CounterMemory, ...]:
        """What is at each AXI4 port: the memories of packets, and behind them that of the counters."""
        return (*self.channels, self.counter_memory) if self.counter_memory else self.channels

    @property
    def descriptors(self) -> int:
        """Number of descriptors: the pages of all memories."""
        return sum(memory.pages for memory in self.channels)

    @property
    def page_sizes(self) -> dict[int, int]:
        """Pages of all memories by their size in bytes, from the smallest on."""
        sizes = sorted({memory.page_bytes for memory in self.memories})
        return {size: sum(memory.pages for memory in self.channels if memory.page_bytes == size) for size in sizes}

    @property
    def address_bits(self) -> int:
        """Bits of a byte address over all memories of packets, and of the counters: more than those within 4,096 byte."""
        most = max(sum(memory.bytes for memory in self.channels), self.counter_memory.bytes if self.counter_memory else 0)
        return max(13, (most - 1).bit_length())

    @property
    def tick_shift(self) -> int:
        """The AQM's tick is 2^n cycles: between 1 and 2 us, below 1 MHz one cycle."""
        return (self.clock_hz // 1_000_000).bit_length()

    @property
    def aqm_part(self) -> Part | None:
        """The AQM that is built in."""
        return None if self.aqm == NO_AQM else parts.find("aqm", self.aqm)

    @property
    def aqm_numbers(self) -> dict[str, int]:
        """The AQM's numbers as the hardware has them, by name."""
        return self._in_hardware(self.aqm_part)

    @property
    def parts(self) -> list[Part]:
        """The AQM and the own scheduler, those that are in."""
        return [part for part in (self.aqm_part, self.own_scheduler) if part]

    def _in_hardware(self, part: Part | None) -> dict[str, int]:
        if part is None:
            return {}
        given = self._numbers[part.name]
        return {
            number.name: number.in_hardware(_read(part, number, given[number.name]), self.clock_hz, self.tick_shift)
            for number in part.numbers
        }


def _fail(where: tuple[str, ...], message: str) -> NoReturn:
    """Raise what pydantic raises for a value that cannot be, with its place."""
    error = PydanticCustomError("value_error", "{error}", {"error": message})
    raise ValidationError.from_exception_data("Config", [InitErrorDetails(type=error, loc=where, input=None)])


def _read(part: Part, number: Number, value: object) -> int | float:
    try:
        return number.read(float(value) if number.unit == "gain_hz" and type(value) is int else value)
    except ValueError as error:
        _fail((part.name, number.name), str(error))


def model_settings(config: Config) -> dict[str, Any]:
    """Return what the model of the device has to be told (key `device.model` of a job)."""
    part, times = config.aqm_part, (config.clock_hz, config.tick_shift)
    settings: dict[str, Any] = {
        "max_frame_bytes": config.max_frame_bytes,
        "min_frame_bytes": config.min_frame_bytes,
        "shaping": config.shaped,
        "tolerance_cycles": config.tolerance_cycles,
        "outstanding": config.outstanding,
        "aqm": part_model.told(part, part.module_parameters(config.aqm_numbers), times=times) if part else None,
        "aqm_estimate": config.aqm_estimate,
        "tick_shift": config.tick_shift,
    }
    if own := config.own_scheduler:
        settings["scheduler"] = scheduler.told(own, own.module_parameters(config.scheduler_numbers), times=times)
    if config.headers:
        settings["headers"] = config.headers.model_dump()
    if config.flows:
        settings["flows"] = config.flows.of_model(config.clock_hz)
    settings |= {name: value for name in ("busiest", "node_counters", "setting_profiles") if (value := getattr(config, name))}
    if config.counter_memory:
        settings["counter_memory"] = True
    if config.admission:
        settings["share_classes"] = config.admission.classes
    return settings | ({"hierarchy": _hierarchy_of_model(config)} if config.hierarchy else {})


def _hierarchy_of_model(config: Config) -> dict[str, Any]:
    assert config.hierarchy
    told = config.hierarchy.model_dump(exclude={"guarantees"})
    return told | ({"guarantee_cycles": guarantee_cycles(config)} if config.hierarchy.guarantees else {})


def guarantee_cycles(config: Config) -> int:
    """Return the lateness that guaranteed rates make up for: a sixteenth of a second, more than the rounds of a congested node take."""
    return max(config.clock_hz // 16, config.tolerance_cycles)


def device(config: Config, library: str | None, timing: Mapping[str, int]) -> dict[str, Any]:
    """Return key `device` of a job: the RTL in `library` (may be filled in later), None: the model. `timing` is that of ideal memories."""
    common = {"design": config.design, "clock_hz": config.clock_hz, "queues": config.queues, "queue_id": config.queue_id}
    common |= {"flows": True} if config.flows else {}
    groups = [(memory, memory.channels) for memory in config.memories]
    found = [
        memory.in_job(config.clock_hz, first + channel, timing, (first, count))
        for first, (memory, count) in zip([sum(count for _, count in groups[:g]) for g in range(len(groups))], groups, strict=True)
        for channel in range(count)
    ]
    if library is not None:
        [part.hardware for part in config.parts]  # says so where there is none
        if config.counter_memory:
            found.append(config.counter_memory.in_job(config.clock_hz, len(found), timing))
        return common | {"library": library, "memories": found}
    pools = [{**keys, "pages": memory.pages} for keys, memory in zip(found, config.channels, strict=True)]
    return common | {"model": model_settings(config), "memories": pools}


def parameters(config: Config) -> dict[str, str]:
    """Return the parameters of pst_access_edge."""

    def packed(width: int, values: list[int]) -> str:
        return "{" + ", ".join(f"{width}'d{value}" for value in reversed(values)) + "}"

    return {
        "Queues": str(config.queues),
        "Memories": str(len(config.channels)),
        "MemPages": packed(32, [memory.pages for memory in config.channels]),
        "MemPageBytes": packed(32, [memory.page_bytes for memory in config.channels]),
        "MemBytes": packed(64, [memory.bytes for memory in config.channels]),
        "AddrWidth": str(config.address_bits),
        "MaxFrameBytes": str(config.max_frame_bytes),
        "MinFrameBytes": str(config.min_frame_bytes),
        "ClockHz": str(config.clock_hz),
        "Shaping": f"1'b{int(config.shaped)}",
        **({"OwnScheduler": "1'b1"} if config.own_scheduler else {}),
        "ToleranceCycles": str(config.tolerance_cycles),
        **({"Prefix": "1'b0"} if config.queue_id != "prefix" else {}),
        **({"FindProfiles": str(config.headers.profiles), "FindEntries": str(config.headers.entries)} if config.headers else {}),
        **({"FindPrefixLevels": str(config.headers.prefix_levels)} if config.headers and config.headers.prefix_levels else {}),
        **(config.flows.parameters(config.clock_hz) if config.flows else {}),
        "MaxOutstanding": str(config.outstanding),
        "AqmEstimate": f"1'b{int(config.aqm_estimate)}",
        "TickShift": str(config.tick_shift),
        **_aqm_parameters(config.aqm_part),
        **_hierarchy_numbers(config),
        **({"Busiest": str(config.busiest)} if config.busiest else {}),
        **({"NodeCounters": "1'b1"} if config.node_counters else {}),
        **({"ShareClasses": str(config.admission.classes)} if config.admission else {}),
        **({"CounterMemory": "1'b1"} if config.counter_memory else {}),
        **({"SettingProfiles": str(config.setting_profiles)} if config.setting_profiles else {}),
    }


def _aqm_parameters(part: Part | None) -> dict[str, str]:
    """Return what the device has to know of its AQM."""
    if part is None:
        return {"Aqm": "0"}
    kind = str(registers.AQM_CODES.get(part.name, registers.AQM_CODES["other"]))
    return {"Aqm": str(plugs.JUDGES[str(part.sees)]), "AqmKind": kind, "AqmGuardBytes": str(part.guard_bytes or 0)}


def aqm_plug(part: Part | None, numbers: Mapping[str, int]) -> dict[str, str]:
    """Return the file that says which AQM is in, its text by its name; none without one."""
    return {} if part is None else {plugs.AQM.name: plugs.aqm(part, part.module_parameters(dict(numbers)))}


def _hierarchy_numbers(config: Config) -> dict[str, str]:
    """Return the parameters of the hierarchy."""
    hierarchy = config.hierarchy
    if hierarchy is None:
        return {"Hierarchy": "1'b0"}
    return {
        "Hierarchy": "1'b1",
        "QueuesPerSubscriber": str(hierarchy.queues_per_subscriber),
        "Nodes": str(hierarchy.nodes),
        "Ports": str(hierarchy.ports),
        "Classes": str(hierarchy.classes),
        **({"GuaranteeCycles": str(guarantee_cycles(config))} if hierarchy.guarantees else {}),
    }
