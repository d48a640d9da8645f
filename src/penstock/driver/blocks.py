"""Self-describing register blocks: each begins with its type, the version of its map, and where the next one is.

Software that meets a device asks the device what it is, and refuses what it does not understand, by name and version.
"""

from dataclasses import dataclass

from penstock.driver.carrier import Carrier, CarrierError, reads

MARK = int.from_bytes(b"PST", "big")  # in the upper three bytes of a block's type
NEXT = 0x20
MAX_BLOCKS = 16


@dataclass(frozen=True)
class Block:
    """One register block of a device."""

    offset: int  # bytes
    kind: int  # the lowest byte of its type
    major: int
    minor: int


def blocks(carrier: Carrier) -> list[Block]:
    """Return the register blocks of a device, in their order. Raises CarrierError for what is none of Penstock's."""
    found: list[Block] = []
    offset = 0
    while not found or offset:
        kind, version, after = carrier.run(reads(offset + at for at in (0, 4, NEXT))).tolist()
        if kind >> 8 != MARK:
            where = "there" if not found else f"at {offset:#x}"
            raise CarrierError(f"{carrier.name}: no Penstock device is {where}: the type reads {kind:#010x}, not 0x505354..")
        found.append(Block(offset, kind & 0xFF, version >> 16, version & 0xFFFF))
        if after and after <= offset or len(found) > MAX_BLOCKS:
            raise CarrierError(f"{carrier.name}: the register blocks do not come to an end")
        offset = after
    return found


def find(carrier: Carrier, kind: int, name: str, major: int, minor: int) -> Block:
    """Return the block of a kind. Raises CarrierError unless it is there, with this major version and at least this minor one."""
    there = blocks(carrier)
    for block in there:
        if block.kind == kind:
            if block.major != major or block.minor < minor:
                raise CarrierError(
                    f"{carrier.name}: its {name} has register map {block.major}.{block.minor}, and this software needs {major}.{minor} "
                    f"or a later {major}.x"
                )
            return block
    kinds = ", ".join(str(block.kind) for block in there)
    raise CarrierError(f"{carrier.name}: has no {name} (kind {kind}); it has kinds {kinds}")
