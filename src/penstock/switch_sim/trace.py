"""Recorded traffic from a text file: one packet a line, `slot,source,destination`, slots ascending from 0, at most one packet for each
slot and source. A first line `slot,source,destination`, empty lines and what follows a `#` mean nothing.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from penstock.basics.files import read_text
from penstock.errors import UserError

HEADER = "slot,source,destination"
MAX_SLOT = 10**12
MAX_FILE_BYTES = 200_000_000


@lru_cache(maxsize=1)  # the runs of a setting play the same file
def read(path: Path, ports: int) -> NDArray[np.int64]:
    """Return the packets of a file, [packets, 3]: slot, source, destination. Raises UserError that names file and line."""
    packets: list[tuple[int, int, int]] = []
    sources: set[int] = set()  # of the packets in the slot of the line before
    try:
        text = read_text(path, "a trace", MAX_FILE_BYTES)
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not a text file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].strip()
        if not words or (not packets and words.replace(" ", "").lower() == HEADER):
            continue
        where = f"{path}:{number}"
        fields = words.split(",")
        if len(fields) != 3 or not all(field.strip().isdecimal() and len(field.strip()) < 16 for field in fields):
            raise UserError(f"{where}: give three whole numbers, {HEADER}, not {words[:60]!r}")
        slot, source, destination = map(int, fields)
        if slot >= MAX_SLOT:
            raise UserError(f"{where}: slot {slot} is too large, give less than {MAX_SLOT:,}")
        for name, port in (("source", source), ("destination", destination)):
            if port >= ports:
                raise UserError(f"{where}: {name} {port} is none of the {ports} ports, 0 to {ports - 1}")
        if packets and slot < packets[-1][0]:
            raise UserError(f"{where}: slot {slot} comes after slot {packets[-1][0]}, slots must ascend")
        if not packets or slot != packets[-1][0]:
            sources = set()
        if source in sources:
            raise UserError(f"{where}: source {source} has two packets in slot {slot}")
        sources.add(source)
        packets.append((slot, source, destination))
    if not packets:
        raise UserError(f"{path}: holds no packet; a line is {HEADER}")
    return np.array(packets, dtype=np.int64)
