"""Register words of many queues and parents, made into as few writes as it takes.

A register keeps what was written last, so a word is written only where it differs from the one before: subscribers of one plan cost little
more than their commands. Columns of a queue are written in their order, and then the command that takes them all at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.codes import PARENT_COLUMNS, QUEUE_COLUMNS
from penstock.designs.access_edge.control.facts import Facts
from penstock.driver.carrier import WAIT

Words = NDArray[np.uint32]
_COMMAND = registers.address("queue_command")


@dataclass(frozen=True)
class _Column:
    """Words of one register, one for each row; `always`: written in every row, for it starts something."""

    address: int
    words: Words
    always: bool = False
    steps: bool = False  # the hardware adds one to it after each row


class Programs:
    """Makes programs, and knows what the device's setting registers hold."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._held: dict[int, int] = {}  # by address: what was written last

    def forget(self) -> None:
        """Take nothing for known: somebody else has written registers."""
        self._held.clear()

    def queues(self, indices: Words, rows: Words) -> Words:
        """Return the program that gives queues `indices` the settings of `rows` (QUEUE_COLUMNS)."""
        own = dict(zip(QUEUE_COLUMNS, rows.T, strict=True))
        columns = [_Column(registers.address(name), own[name]) for name in self._queue_registers()]
        columns += [
            _Column(registers.address("queue_index"), indices, steps=True),
            _Column(_COMMAND, _all(indices, registers.COMMAND_WRITE_NEXT), always=True),
        ]
        if self._facts.hierarchy:
            columns += [
                _Column(registers.address("tree_index"), indices),
                _Column(registers.address("tree_class"), own["tree_class"]),
                _Column(_COMMAND, _all(indices, registers.COMMAND_HIERARCHY["queue"]), always=True),
            ]
        return self._program(columns)

    def parents(self, level: str, indices: Words, rows: Words, above: Words) -> Words:
        """Return the program that gives subscribers, nodes or ports the settings of `rows` (PARENT_COLUMNS) and what is above them."""
        own = dict(zip(PARENT_COLUMNS, rows.T, strict=True))
        columns = [_Column(registers.address(name), own[name]) for name in PARENT_COLUMNS if name != "tree_class" or level == "subscriber"]
        if level != "port":
            columns.append(_Column(registers.address("tree_parent"), above))
        columns += [
            _Column(registers.address("tree_index"), indices),
            _Column(_COMMAND, _all(indices, registers.COMMAND_HIERARCHY[level]), always=True),
        ]
        return self._program(columns)

    def _queue_registers(self) -> list[str]:
        names = ["queue_rate", "queue_burst", "queue_limit_packets", "queue_limit_bytes"]
        if self._facts.aqm != "none":
            names += ["queue_aqm", "queue_aqm_target", "queue_aqm_interval"]
        return names + (["queue_class"] if self._facts.admission else [])

    def _program(self, columns: list[_Column]) -> Words:
        count = len(columns[0].words)
        if count == 0:
            return np.zeros((0, 4), dtype=np.uint32)
        values = np.stack([column.words for column in columns], axis=1).astype(np.uint32)
        wanted = np.empty(values.shape, dtype=bool)
        for number, column in enumerate(columns):
            words = values[:, number]
            wanted[:, number] = True
            if not column.always:
                step = 1 if column.steps else 0
                wanted[1:, number] = words[1:] != words[:-1] + np.uint32(step)
                wanted[0, number] = step or self._held.get(column.address) != int(words[0])
                if not step:  # snapshots move it
                    self._held[column.address] = int(words[-1])
        addresses = np.broadcast_to(np.array([column.address for column in columns], dtype=np.uint32), values.shape)
        made = np.zeros((int(wanted.sum()), 4), dtype=np.uint32)
        made[:, 1], made[:, 2] = addresses[wanted], values[wanted]
        return made


def finished() -> Words:
    """Return the program that waits until the last command is done, and then reads the status: `refused` must be 0."""
    status = registers.address("status")
    return np.array([[WAIT, status, 0, registers.STATUS_BUSY], [1, status, 0, 0]], dtype=np.uint32)


def _all(like: Words, value: int) -> Words:
    return np.full(len(like), value, dtype=np.uint32)
