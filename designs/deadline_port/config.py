"""Configurations of the deadline port, and what hardware and model are told of them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from penstock.designs.design import NAME, Configuration
from penstock.engine import memories

BEAT_BYTES = memories.BEAT_BYTES
UNIT_BYTES = 8  # frames are packed in memory at any of these
MEMORY_UNIT_BYTES = 4096  # no AXI4 burst crosses it, so memories are multiples of it
MOST_WAIT_CYCLES = (1 << 30) - 1  # a deadline is that far ahead at most
MOST_STAMPS = (1 << 16) - 1
DSCPS = 64
MOST_CHUNKS = 1 << 20  # of a column
WIDE = ("run_frames", "deal_rows", "deal_lists", "deal_records", "gather_rows")  # powers of two of several columns alone
FIFO_CLASSES = 2  # of the port's inside when it is a plain FIFO: all frames are of the first one

Places = Annotated[int, Field(strict=True, ge=1, le=1024)]


class Memory(BaseModel):
    """The packet memory: channels of one kind and size, over which consecutive chunks are spread."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str = Field(memories.IDEAL, strict=True, description="`ideal`, `sram`, or a kind of DRAM (docs/memories.md).")
    channels: Literal[1, 2, 4, 8, 16, 32] = Field(
        1, description="Number of channels, each with an AXI4 port of its own: 1, 2 or 4 a column."
    )
    memory_clock_hz: Annotated[int, Field(strict=True, ge=10**8, le=4 * 10**9)] | None = Field(
        None, description="Clock of a DRAM, where it is not that of its kind."
    )
    mapping: str | None = Field(None, strict=True, description="Which bits of an address are row, bank, group and column of a DRAM.")
    hash_groups: bool = Field(True, strict=True, description="A DRAM's bank group is XORed with the address bits above it.")
    close_rows: bool = Field(False, strict=True, description="A DRAM's controller closes rows that no access needs.")
    queue: Places | None = Field(None, description="Accesses in each queue of a DRAM's controller, where it is not that of its kind.")
    batch: Places | None = Field(None, description="Accesses of a DRAM in one direction while the other one waits; likewise.")

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str) -> str:
        return memories.check_kind(value)

    @property
    def controller(self) -> memories.Controller:
        """What it says of a DRAM's controller."""
        return memories.Controller(self.memory_clock_hz, self.mapping, self.hash_groups, self.close_rows, self.queue, self.batch)

    @model_validator(mode="after")
    def _check(self) -> "Memory":
        memories.check_controller(self.kind, self.controller)
        return self


class Config(Configuration):
    """One configuration of the deadline port: the parameters of pst_deadline_port, with its limits."""

    design: str = Field("deadline_port", pattern=NAME, description="Folder below `designs/`.")
    classes: int = Field(strict=True, ge=2, le=256, description="Number of classes, each with its own deadline.")
    class_from_user: bool = Field(False, strict=True, description="The class stands beside the first beat (`tuser`); else DSCPs say it.")
    discipline: Literal["edfr", "fifo"] = Field(
        "edfr", description="Earliest deadline first with reneging; or one plain FIFO with tail drop, for comparison."
    )
    chunk_bytes: Literal[512, 1024, 2048, 4096] = Field(4096, description="Bytes of a chunk, which is a burst.")
    chunks: int = Field(strict=True, ge=4, le=1 << 23, description="Chunks in memory, those of all channels; a power of two.")
    places: Literal[2, 4, 8, 16] = Field(4, description="Chunks of a class that are fetched ahead; the longest frame fits.")
    lines: Literal[4, 8, 16, 32, 64] = Field(16, description="Headers of a class at hand.")
    reads: int = Field(16, strict=True, ge=2, le=64, description="Chunks on their way from memory at most.")
    writes: int = Field(16, strict=True, ge=2, le=64, description="Chunks on their way to memory at most.")
    decided: int = Field(4, strict=True, ge=2, le=64, description="Frames between decision and data at most.")
    min_frame_bytes: int = Field(60, strict=True, ge=UNIT_BYTES, description="Smallest frame in bytes, without FCS.")
    max_frame_bytes: int = Field(1522, strict=True, ge=BEAT_BYTES, le=16_383, description="Largest frame in bytes, without FCS.")
    store_beats: int = Field(512, strict=True, ge=2, le=1 << 14, description="Beats of frames whose end has not come; a power of two.")
    columns: Literal[1, 2, 4, 8] = Field(
        1, description="Beats of 64 byte per cycle: ports side by side, each with memories of its own, that are one at the pins."
    )
    run_frames: int = Field(16, strict=True, ge=2, le=256, description="Frames of a class in a column in a row; a power of two.")
    deal_rows: int = Field(4096, strict=True, ge=16, le=1 << 16, description="Words on their way to the columns; a power of two.")
    deal_lists: int = Field(1024, strict=True, ge=8, le=1 << 16, description="Of these those with beats for one column; a power of two.")
    deal_records: int = Field(512, strict=True, ge=8, le=1 << 16, description="Words that wait for a frame's end; a power of two.")
    gather_rows: int = Field(4096, strict=True, ge=16, le=1 << 16, description="Words between decision and output; a power of two.")
    gather_ahead: int = Field(
        256,
        strict=True,
        ge=0,
        le=1 << 16,
        description="Of these so many are decided ahead, from half of it on by deadline; 0: all, not so.",
    )
    tick_cycles: int = Field(strict=True, ge=3, le=1 << 24, description="Cycles between two time stamps of a class.")
    longest_deadline_us: int = Field(
        strict=True, ge=1, le=10**9, description="Longest deadline of any class that its time stamps are made for, in microseconds."
    )
    most_stamps: int = Field(
        MOST_STAMPS, strict=True, ge=2, le=MOST_STAMPS, description="Time stamps of a class at most, where so many as ticks are too many."
    )
    memory: Memory = Field(description="Where frames wait.")

    @model_validator(mode="after")
    def _check(self) -> "Config":
        if not self.class_from_user and self.classes > DSCPS:
            raise ValueError(f"classes is {self.classes}; DSCP has {DSCPS} values, so more need class_from_user: true")
        for name in ("chunks", "store_beats", *(WIDE if self.columns > 1 else ())):
            if (value := getattr(self, name)) & (value - 1):
                raise ValueError(f"{name} is {value:,}; it must be a power of two")
        if self.min_frame_bytes > self.max_frame_bytes:
            raise ValueError(f"min_frame_bytes is {self.min_frame_bytes:,}, which is more than max_frame_bytes, {self.max_frame_bytes:,}")
        if self.places < self.further + 1:
            frame = f"a frame of max_frame_bytes, {self.max_frame_bytes:,}, can lie in {self.further + 1} chunks"
            raise ValueError(f"places is {self.places}; {frame}, which places must hold")
        if self.store_beats * BEAT_BYTES < self.max_frame_bytes:
            raise ValueError(f"store_beats is {self.store_beats:,}, less than a frame of max_frame_bytes, {self.max_frame_bytes:,}, takes")
        if self.chunks > MOST_CHUNKS * self.columns:
            raise ValueError(f"chunks is {self.chunks:,}; a column has at most {MOST_CHUNKS:,}")
        self._check_columns()
        if self.chunks < self.least_chunks:
            raise ValueError(f"chunks is {self.chunks:,}; {self.classes} classes and the longest frame need {self.least_chunks:,} at least")
        if self.memory_bytes % MEMORY_UNIT_BYTES:
            raise ValueError(
                f"chunks is {self.chunks:,}: a channel has {self.memory_bytes:,} bytes, not a multiple of {MEMORY_UNIT_BYTES:,}"
            )
        if self.tick_cycles < 2 * self.classes:  # a look at each class, and as many cycles for chunks that go to the memory
            raise ValueError(f"tick_cycles is {self.tick_cycles:,}; {self.classes} classes need {2 * self.classes:,} at least")
        if self.longest_deadline_cycles > MOST_WAIT_CYCLES:
            most = MOST_WAIT_CYCLES * 10**6 // self.clock_hz
            raise ValueError(f"longest_deadline_us is {self.longest_deadline_us:,}; at this clock at most {most:,} can be counted")
        return self

    def _check_columns(self) -> None:
        """Check what several columns need."""
        if self.memory.channels % self.columns or self.memory.channels // self.columns > 4:
            allowed = ", ".join(str(each * self.columns) for each in (1, 2, 4))
            raise ValueError(f"memory.channels is {self.memory.channels}; with columns: {self.columns} it must be {allowed}")
        if self.columns == 1:
            return
        if self.fifo:
            raise ValueError(f"discipline is fifo, which has one column; columns is {self.columns}")
        if self.run_frames < self.columns:
            raise ValueError(f"run_frames is {self.run_frames}; it must be at least columns, {self.columns}")
        beats = -(-self.max_frame_bytes // BEAT_BYTES)
        if self.deal_records < 2 * beats:
            raise ValueError(f"deal_records is {self.deal_records:,}; two frames of max_frame_bytes need {2 * beats:,} at least")
        if self.deal_rows < self.deal_records:
            raise ValueError(f"deal_rows is {self.deal_rows:,}; it must be at least deal_records, {self.deal_records:,}")
        if self.gather_ahead > self.gather_rows:
            raise ValueError(f"gather_ahead is {self.gather_ahead:,}; it must be at most gather_rows, {self.gather_rows:,}")
        # What is decided when nothing further is, and a frame of each column (Margin in pst_edfr_positions).
        if self.gather_rows < (least := 6 * beats + 2):
            raise ValueError(f"gather_rows is {self.gather_rows:,}; frames of max_frame_bytes need {least:,} at least")

    @property
    def wide(self) -> bool:
        """Whether it is the port of several columns."""
        return self.columns > 1

    @property
    def fifo(self) -> bool:
        """Whether it is the plain FIFO."""
        return self.discipline == "fifo"

    @property
    def memory_sizes(self) -> tuple[int, ...]:
        """Bytes of each memory, in the order of the ports."""
        return (self.memory_bytes,) * self.memory.channels

    @property
    def bursts(self) -> tuple[int, int]:
        """Reads and writes that a memory has not answered, at most."""
        return self.reads, self.writes

    @property
    def chunk_beats(self) -> int:
        """Beats of a chunk."""
        return self.chunk_bytes // BEAT_BYTES

    @property
    def further(self) -> int:
        """Chunks that the longest frame can reach into, the one that it begins in not counted (pst_deadline_pkg::most_further)."""
        room = (self.chunk_bytes - BEAT_BYTES) // UNIT_BYTES
        units = -(-self.max_frame_bytes // UNIT_BYTES)
        return -(-units // room)

    @property
    def inner_classes(self) -> int:
        """Classes of the port's inside."""
        return FIFO_CLASSES if self.fifo else self.classes

    @property
    def least_chunks(self) -> int:
        """Chunks without which it does not work: each class may keep two that are empty.

        A column takes no frame unless there are chunks for all that may be on its way to it (Margin in pst_edfr_wide).
        """
        empty = 2 * self.inner_classes + 2 * (self.further + 1)
        if not self.wide:
            return max(4, empty)
        on_the_way = min(self.deal_lists, self.deal_rows) * self.columns + self.store_beats + 32
        return self.columns * (empty + 9 * on_the_way // (8 * (self.chunk_beats - 2)) + 2)

    @property
    def memory_bytes(self) -> int:
        """Bytes of a channel."""
        return self.chunks // self.memory.channels * self.chunk_bytes

    @property
    def address_bits(self) -> int:
        """Bits of a byte address over all channels of a column."""
        return (self.chunks // self.columns * self.chunk_bytes - 1).bit_length()

    @property
    def longest_deadline_cycles(self) -> int:
        """The longest deadline in cycles; that of each class after reset."""
        return -(-self.longest_deadline_us * self.clock_hz // 10**6)

    @property
    def stamps(self) -> int:
        """Time stamps of each class: one for each tick of the longest deadline, and two."""
        return min(self.most_stamps, MOST_STAMPS, -(-self.longest_deadline_cycles // self.tick_cycles) + 2)

    @property
    def class_width(self) -> int:
        """Bits of a class."""
        return max(1, (self.classes - 1).bit_length())


def parameters(config: Config) -> dict[str, str]:
    """Return the parameters of pst_deadline_port, or of pst_deadline_wide."""
    own = {
        "Columns": str(config.columns),
        "RunFrames": str(config.run_frames),
        "DealRows": str(config.deal_rows),
        "DealLists": str(config.deal_lists),
        "DealRecords": str(config.deal_records),
        "GatherRows": str(config.gather_rows),
        "GatherAhead": str(config.gather_ahead),
    }
    if not config.wide:
        own = {"PlainFifo": f"1'b{int(config.fifo)}", "Decided": str(config.decided)}
    return {
        "Classes": str(config.classes),
        "ClassFromUser": f"1'b{int(config.class_from_user)}",
        **own,
        "ChunkBeats": str(config.chunk_beats),
        "Memories": str(config.memory.channels),
        "Chunks": str(config.chunks // config.columns),
        "Places": str(config.places),
        "Lines": str(config.lines),
        "Reads": str(config.reads),
        "Writes": str(config.writes),
        "MinFrameBytes": str(config.min_frame_bytes),
        "MaxFrameBytes": str(config.max_frame_bytes),
        "StoreBeats": str(config.store_beats),
        "TickCycles": str(config.tick_cycles),
        "Stamps": str(config.stamps),
        "DefaultCycles": str(config.longest_deadline_cycles),
        "ClockHz": str(config.clock_hz),
    }


def device(config: Config, library: str | None, timing: Mapping[str, int], any_class: bool = False) -> dict[str, Any]:
    """Return key `device` of a job: the RTL in `library` (may be filled in later), None: the model. `timing` is that of ideal memories.

    `any_class`: a frame may be of another class than its source says; the device tells which. Else that is a finding.
    """
    which = {"model": True} if library is None else {"library": library}
    channel = {"bytes": config.memory_bytes, "page_bytes": config.chunk_bytes}
    return {
        "design": config.design,
        "clock_hz": config.clock_hz,
        **which,
        "classes": config.classes,
        "class_from_user": config.class_from_user,
        "fifo": config.fifo,
        "chunk_bytes": config.chunk_bytes,
        "chunks": config.chunks,
        "places": config.places,
        "lines": config.lines,
        "reads": config.reads,
        "writes": config.writes,
        "decided": config.decided,
        "min_frame_bytes": config.min_frame_bytes,
        "max_frame_bytes": config.max_frame_bytes,
        "store_beats": config.store_beats,
        "tick_cycles": config.tick_cycles,
        "stamps": config.stamps,
        "default_cycles": config.longest_deadline_cycles,
        "any_class": any_class,
        **({"columns": config.columns} | {name: getattr(config, name) for name in (*WIDE, "gather_ahead")} if config.wide else {}),
        "memories": [
            {**channel, **memories.in_job(config.memory.kind, config.memory.controller, config.clock_hz, index, timing)}
            for index in range(config.memory.channels)
        ],
    }
