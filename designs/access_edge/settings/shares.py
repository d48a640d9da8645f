"""Shares of memory by class: checked against the configuration, and written to registers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.basics.where import Fail, KeyPath
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.settings.given import MemoryShare

if TYPE_CHECKING:
    from penstock.designs.access_edge.config import Config

Writes = list[tuple[int, int]]


def default_reserved(pages: int, classes: int) -> int:
    """Return the pages of one size that are reserved for each class after reset."""
    return (pages >> registers.RESERVE_SHIFT) // classes


def writes(shares: Sequence[MemoryShare], config: "Config", fail: Fail, key: KeyPath = ("memory_shares",)) -> Writes:
    """Return the writes that give classes what is said of them; other classes keep what they have after reset. `fail` raises UserError."""
    if not shares:
        return []
    if config.admission is None:
        fail(key, f"is set, but configuration {config.name} has no admission")
    classes, sizes = config.admission.classes, config.page_sizes
    reserved = {size: [default_reserved(pages, classes)] * classes for size, pages in sizes.items()}
    seen: set[int] = set()
    for index, share in enumerate(shares):
        at: KeyPath = (*key, index)
        if share.traffic_class >= classes:
            fail((*at, "traffic_class"), f"must be 0 to {classes - 1} in configuration {config.name}, not {share.traffic_class}")
        if share.traffic_class in seen:
            fail((*at, "traffic_class"), f"is {share.traffic_class}, which another entry has already")
        seen.add(share.traffic_class)
        given = share.reserved
        for size, pages in (given if isinstance(given, dict) else {} if given is None else dict.fromkeys(sizes, given)).items():
            if size not in sizes:
                have = " and ".join(f"{known:,}" for known in sizes)
                fail((*at, "reserved"), f"names pages of {size:,} byte, but configuration {config.name} has pages of {have} byte")
            reserved[size][share.traffic_class] = pages
    for size, pages in sizes.items():
        if (total := sum(reserved[size])) > pages:
            most = f"{pages:,} pages of {size:,} byte"
            fail(key, f"makes {total:,} reserved pages of all classes, but configuration {config.name} has {most}")
    return [
        write
        for share in shares
        for rank, size in enumerate(sizes)
        for write in registers.share_writes(
            share.traffic_class,
            rank,
            registers.DEFAULT_ALPHA_CODE if share.alpha is None else share.alpha,
            reserved[size][share.traffic_class],
        )
    ]
