"""What all flow queues of a device share: how many packets they may hold, and the random words of the hash of flows."""

from penstock.basics.where import Fail
from penstock.designs.access_edge import find, registers
from penstock.designs.access_edge.config import Config

Writes = list[tuple[int, int]]


def start(descriptors: int, key: int, limit: int | None = None) -> Writes:
    """Return the register writes that a device with flow queues needs before its first frame; `key`: of the hash of flows.

    Unless a limit is given an eighth of the pages is left for frames that come in and go out. So a full memory costs the fattest flow of
    the queue that receives a packet, and not whoever comes next.
    """
    most = descriptors - descriptors // 8 if limit is None else limit
    return [(registers.address("flow_limit"), most), *find.flow_words(key)]


def writes(limit: int | None, config: Config, key: int, fail: Fail) -> Writes:
    """Return `start` of a device with flow queues, nothing without. Calls `fail` for a limit and no flows."""
    if config.flows is None:
        if limit is not None:
            fail(("device", "flow_limit"), f"is set, but configuration {config.name} has no flow queues")
        return []
    return start(config.descriptors, key, limit)
