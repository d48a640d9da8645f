"""`pst_access_edge_core` for tests: its library (designs/access_edge/bench/pins_core.h), driven cycle by cycle from Python and checked.

Half a million cycles per second at most; longer runs are for the benches.
"""

import ctypes
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.designs.access_edge.bench import core
from penstock.designs.access_edge.registers import BURST_AT, EXPONENT_AT, NO_AQM, Aqm
from penstock.parts.manifest import Part

U8, U16, U32, U64 = ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64
MOST_QUIET_CYCLES = 1_000_000
MOST_PACKETS, MOST_BYTES = 65_535, 16_777_215


class CorePins(ctypes.Structure):
    """struct pst_core_pins, by the one copy of it that is not C++. `CoreLibrary` compares the sizes: a struct too short is memory lost."""

    _fields_ = [
        ("s_enq_queue", U32), ("s_enq_desc", U32), ("s_enq_len", U16), ("s_enq_reason", U8), ("s_enq_valid", U8), ("s_enq_ready", U8),
        ("m_out_valid", U8), ("m_out_ready", U8), ("m_out_len", U16), ("m_out_queue", U32), ("m_out_desc", U32),
        ("m_drop_valid", U8), ("m_drop_ready", U8), ("ev_valid", U8), ("ev_reason", U8), ("ev_len", U16), ("ev_queue", U32),
        ("m_drop_desc", U32), ("s_cfg_shaper", U64), ("s_cfg_queue", U32), ("s_cfg_limit_bytes", U32), ("s_cfg_limit_packets", U16),
        ("s_cfg_valid", U8), ("s_cfg_ready", U8), ("rst", U8), ("init_done", U8), ("now", U32),
        ("s_cfg_aqm", U64), ("s_enq_ect", U8), ("m_out_mark", U8), ("m_drop_head_valid", U8), ("m_drop_head_ready", U8),
        ("m_drop_head_desc", U32), ("ev_deq_queue", U32), ("ev_deq_len", U16), ("ev_deq_valid", U8), ("ev_deq_reason", U8),
        ("ev_deq_mark", U8), ("s_hierarchy_cfg_shaper", U64), ("s_hierarchy_cfg_id", U32),
        ("s_hierarchy_cfg_parent", U32), ("s_hierarchy_cfg_guarantee", U32), ("s_hierarchy_cfg_what", U8),
        ("s_hierarchy_cfg_class", U8), ("s_hierarchy_cfg_weight", U8), ("s_hierarchy_cfg_valid", U8), ("s_hierarchy_cfg_ready", U8),
        ("s_enq_hashes", U32), ("s_cfg_quantum", U16), ("flow_limit", U32), ("flow_packets", U32),
        ("s_cfg_profile", U16), ("s_cfg_old", U16), ("s_cfg_fresh", U8), ("s_cfg_peek", U8),
    ]  # fmt: skip


class CoreModel:
    """The core's model, driven as `CoreLibrary` drives the RTL."""

    def __init__(self, queues: int, descriptors: int, shaping: bool, scheduler: Part | None) -> None:
        from penstock.designs.access_edge import scheduler as schedulers
        from penstock.engine import engine

        told = schedulers.told(scheduler, {}) if scheduler else None
        self._core = engine.module("designs/access_edge/bench").CoreModel(queues, descriptors, shaping, told)
        self.pins = CorePins.from_address(self._core.pins)

    def step(self) -> None:
        """Run one clock cycle."""
        self._core.step()

    def close(self) -> None:
        """Destroy the core, whose pins nobody may look at any more."""
        self.pins = CorePins()
        del self._core


class CoreLibrary:
    """A core out of its shared library, its pins, and one cycle at a time."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.pst_core_create.restype = self._library.pst_core_error.restype = ctypes.c_void_p
        self._library.pst_core_pins_bytes.restype = U32
        size = self._library.pst_core_pins_bytes()
        if size != ctypes.sizeof(CorePins):
            raise RuntimeError(f"{path}: pst_core_pins has {size} bytes, CorePins of testcore.py has {ctypes.sizeof(CorePins)}")
        self._core = ctypes.c_void_p(self._library.pst_core_create())
        self.pins = CorePins()

    def step(self) -> None:
        """Run one clock cycle. Fails with the text of the assertion that failed in the core."""
        failed = self._library.pst_core_step(self._core, ctypes.byref(self.pins))
        assert not failed, ctypes.string_at(self._library.pst_core_error(self._core))

    def close(self) -> None:
        """Destroy the core."""
        self._library.pst_core_destroy(self._core)


@dataclass(frozen=True)
class Departure:
    """A packet at the output: the cycle (the scheduler's clock, modulo 2^32), and what it is."""

    cycle: int
    queue: int
    length: int


class TestCore:
    """The core with a model of its queues: every packet that leaves is the oldest of its queue, unchanged, and nothing else leaves."""

    __test__ = False  # not a test of its own, whatever its name begins with

    def __init__(
        self,
        queues: int,
        descriptors: int,
        shaping: bool = True,
        aqm: dict[str, Any] | None = None,
        hierarchy: dict[str, int] | None = None,
        scheduler: Part | None = None,
        engine: str = "rtl",
    ) -> None:
        """`scheduler`: one of the user's own, without shaping; `engine`: rtl, or model, which has neither an AQM nor a hierarchy here."""
        self.queues, self.descriptors = queues, descriptors
        self.estimate = bool(aqm and aqm.get("AqmEstimate"))  # delays are estimated, not measured
        self._core: CoreLibrary | CoreModel
        if engine == "rtl":
            library = core.build_core(queues, descriptors, shaping, assertions=True, aqm=aqm, hierarchy=hierarchy, scheduler=scheduler)
            self._core = CoreLibrary(library)
        else:
            self._core = CoreModel(queues, descriptors, shaping, scheduler)
        self.pins = self._core.pins
        self.reset()

    def close(self) -> None:
        """Destroy the core."""
        self._core.close()

    def reset(self) -> None:
        """Reset the core, in mid-traffic too, and forget every packet, as the core must."""
        self.pins.s_enq_valid = self.pins.s_cfg_valid = self.pins.s_hierarchy_cfg_valid = 0
        self.pins.rst = 1
        for _ in range(2):
            self._core.step()
        self.pins.rst = 0
        self.pins.m_out_ready = self.pins.m_drop_ready = self.pins.m_drop_head_ready = 1
        self.held: dict[int, deque[tuple[int, int]]] = defaultdict(deque)
        self.free = deque(range(self.descriptors))
        self._decisions: deque[tuple[int, int, int]] = deque()
        self._given: dict[int, int] = defaultdict(int)  # packets of a queue that it has given away and that have not left yet
        self.accepted = self.dropped = 0
        for _ in range(10 * self.queues + 1000):
            self.cycle()
            if self.pins.init_done:
                return
        raise AssertionError("init_done does not rise")

    def cycle(self) -> Departure | None:
        """Run one clock cycle, check what comes out, and return the packet that left, if any."""
        self._core.step()
        pins, left = self.pins, None
        if pins.s_enq_valid and pins.s_enq_ready:
            self._decisions.append((pins.s_enq_queue, pins.s_enq_desc, pins.s_enq_len))
            pins.s_enq_valid = 0
        if pins.ev_valid:
            queue, descriptor, length = self._decisions.popleft()
            assert (pins.ev_queue, pins.ev_len) == (queue, length), "a decision about another packet"
            self.accepted, self.dropped = self.accepted + (pins.ev_reason == 0), self.dropped + (pins.ev_reason != 0)
            if pins.ev_reason == 0:
                self.held[queue].append((descriptor, length))
        if pins.m_drop_valid and pins.m_drop_ready:
            self.free.append(pins.m_drop_desc)
        if pins.m_drop_head_valid and pins.m_drop_head_ready:
            self.free.append(pins.m_drop_head_desc)
        if pins.ev_deq_valid:
            held, given = self.held[pins.ev_deq_queue], self._given[pins.ev_deq_queue]
            assert given < len(held) and held[given][1] == pins.ev_deq_len, f"queue {pins.ev_deq_queue} gives away what it does not have"
            if pins.ev_deq_reason:
                del held[given]
            else:
                self._given[pins.ev_deq_queue] += 1
        if pins.m_out_valid and pins.m_out_ready:
            assert self.held[pins.m_out_queue], f"queue {pins.m_out_queue} sent a packet that it does not have"
            assert (pins.m_out_desc, pins.m_out_len) == self.held[pins.m_out_queue].popleft(), (
                f"queue {pins.m_out_queue}: not its oldest packet"
            )
            self.free.append(pins.m_out_desc)
            self._given[pins.m_out_queue] = max(0, self._given[pins.m_out_queue] - 1)
            left = Departure(pins.now, pins.m_out_queue, pins.m_out_len)
        return left

    def configure(self, queue: int, mantissa: int, exponent: int, burst: int = 0, aqm: Aqm = NO_AQM) -> None:
        """Set the shaper of a queue (docs/architecture.md has the code) and its AQM, and no limits."""
        pins = self.pins
        pins.s_cfg_valid, pins.s_cfg_queue, pins.s_cfg_shaper = 1, queue, burst << BURST_AT | exponent << EXPONENT_AT | mantissa
        pins.s_cfg_limit_packets, pins.s_cfg_limit_bytes = MOST_PACKETS, MOST_BYTES
        pins.s_cfg_aqm = aqm.code
        self.cycle()
        while not pins.s_cfg_ready:
            self.cycle()
        pins.s_cfg_valid = 0

    def configure_parent(self, what: int, number: int, parent: int, mantissa: int, exponent: int, burst: int = 0) -> None:
        """Set shaper and parent of a subscriber (`what` 1), node (2) or port (3)."""
        pins = self.pins
        pins.s_hierarchy_cfg_valid, pins.s_hierarchy_cfg_what, pins.s_hierarchy_cfg_id, pins.s_hierarchy_cfg_parent = (
            1,
            what,
            number,
            parent,
        )
        pins.s_hierarchy_cfg_shaper = burst << BURST_AT | exponent << EXPONENT_AT | mantissa
        self.cycle()
        while not pins.s_hierarchy_cfg_ready:
            self.cycle()
        pins.s_hierarchy_cfg_valid = 0

    def offer(self, queue: int, length: int, ect: bool = False) -> bool:
        """Offer a packet unless one is still offered or no descriptor is free; return whether it was."""
        pins = self.pins
        if pins.s_enq_valid or not self.free:
            return False
        pins.s_enq_valid, pins.s_enq_queue, pins.s_enq_desc, pins.s_enq_len = 1, queue, self.free.popleft(), length
        pins.s_enq_ect = ect
        return True

    def backlog(self, queue: int, lengths: Iterator[int], packets: int, hold: int = 8) -> list[Departure]:
        """Keep `hold` packets in `queue` and return the next `packets` that leave it."""
        left: list[Departure] = []
        quiet = 0
        while len(left) < packets:
            if len(self.held[queue]) + len(self._decisions) < hold:
                self.offer(queue, next(lengths))
            departure = self.cycle()
            quiet = 0 if departure else quiet + 1
            assert quiet < MOST_QUIET_CYCLES, f"queue {queue} sends nothing"
            if departure:
                left.append(departure)
        return left
