"""The packet memory: how many of its pages packets have, by class where classes share it, and how many the limits of queues would let them
have. Each packet has a page, so packets and pages are counted alike."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.codes import QUEUE_COLUMNS
from penstock.designs.access_edge.control.facts import Facts
from penstock.designs.access_edge.control.plant import NONE, Plant
from penstock.driver.carrier import READ, WRITE, Carrier

_SHOWN = tuple(map(registers.address, ("share_free", "share_used", "share_in_force")))
_PACKETS, _BYTES = QUEUE_COLUMNS.index("queue_limit_packets"), QUEUE_COLUMNS.index("queue_limit_bytes")
LEAST_LIMIT = 8  # packets: a limit below says nothing to anybody
LEAST_FRAME = 60  # bytes, of Ethernet: a limit in bytes is one in packets of this size


@dataclass(frozen=True)
class OfClass:
    """Pages of a class: that its packets have, that are reserved for it, and that the limits of its queues add up to."""

    used: int
    reserved: int
    limits: int


@dataclass(frozen=True)
class Memory:
    """Pages in all, that packets have, and that the limits of all queues add up to; queues that may hold packets. `classes`: of a device
    that shares memory by class."""

    pages: int
    used: int
    limits: int
    queues: int
    classes: tuple[OfClass, ...]

    @property
    def warning(self) -> str:
        """What to tell an operator whose limits are more than memory holds; "" where they are not."""
        if self.limits <= self.pages:
            return ""
        sums = f"the limits of all queues add up to {self.limits:,} packets, and memory holds {self.pages:,}"
        if self.queues <= self.pages // LEAST_LIMIT:
            remedy = f"`limit_packets` of {self.pages // self.queues:,} on average would fit"
        else:
            remedy = f"there are {self.queues:,} queues, too many for a share each: lower `limit_packets` of those that may wait longest"
        if self.classes:
            return f"{sums}. When it is full, a class keeps what is reserved for it, and others lose packets (no_share); {remedy}"
        return f"{sums}. When it is full, all queues lose packets, those of class 0, too (no_page); {remedy}, or share it by class"


@dataclass(frozen=True)
class Shares:
    """What the device tells of pages by class: those that its packets have, and those that are reserved for it now, of all sizes."""

    used: NDArray[np.int64]
    reserved: NDArray[np.int64]


def read(carrier: Carrier, facts: Facts) -> Shares | None:
    """Return how the classes share memory now; None of a device in which they do not. Raises CarrierError."""
    if facts.admission is None:
        return None
    one = [[WRITE, registers.address("share_class"), 0, 0], [WRITE, registers.address("share_size"), 0, 0]]
    one += [[READ, at, 0, 0] for at in _SHOWN]
    classes, sizes = facts.admission.classes, facts.admission.sizes
    program = np.tile(np.array(one, dtype=np.uint32), (classes * sizes, 1)).reshape(classes, sizes, len(one), 4)
    program[:, :, 0, 2], program[:, :, 1, 2] = np.arange(classes)[:, None], np.arange(sizes)
    found = carrier.run(program.reshape(-1, 4)).reshape(classes, sizes, len(_SHOWN)).astype(np.int64)
    return Shares(found[:, :, 1].sum(axis=1), found[:, :, 2].sum(axis=1))


def limits(plant: Plant) -> tuple[NDArray[np.int64], int]:
    """Return how many packets the limits of all queues that are set here add up to, by class; and how many queues may hold packets."""
    counts = np.bincount(plant.queue_code[plant.queue_code != NONE])
    numbers = np.flatnonzero(counts).astype(np.int32)
    rows = plant.codes.queue_rows(numbers)
    most = np.minimum(rows[:, _PACKETS].astype(np.int64), -(-rows[:, _BYTES].astype(np.int64) // LEAST_FRAME))
    sums = np.bincount(plant.codes.classes(numbers), weights=counts[numbers] * most, minlength=registers.MAX_CLASS + 1)
    return sums.astype(np.int64), int(counts[numbers[most > 0]].sum())


def of(plant: Plant, shares: Shares | None, queued_packets: int) -> Memory:
    """Return the memory of a device, by its last reading; where classes do not share it, each packet that is queued has a page."""
    wanted, queues = limits(plant)
    if shares is None:
        return Memory(plant.facts.descriptors, max(0, queued_packets), int(wanted.sum()), queues, ())
    each = zip(shares.used.tolist(), shares.reserved.tolist(), wanted.tolist(), strict=False)
    classes = tuple(OfClass(*values) for values in each)
    return Memory(plant.facts.descriptors, int(shares.used.sum()), int(wanted.sum()), queues, classes)
