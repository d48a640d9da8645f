"""Register words of many queues and parents, made into as few writes as it takes.

A register keeps what was written last, so a word is written only where it differs from the one before; and the last one of a queue goes to
the window that sets the queue with it and steps on (README of the design, "Many queues"). So a queue costs a write for each setting in which
it differs from the queue before it, and one at least.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.codes import PARENT_COLUMNS, QUEUE_COLUMNS
from penstock.designs.access_edge.control.facts import Facts
from penstock.driver.carrier import READ, WAIT, program, writes

Words = NDArray[np.uint32]
_COMMAND = registers.address("queue_command")
EXECUTE = registers.address("execute_queue_rate") - registers.address("queue_rate")  # there a setting is written, and what it is of is set


@dataclass(frozen=True)
class _Column:
    """Words of one register, one for each row."""

    name: str
    words: Words
    executes: bool = False  # written at EXECUTE it sets what it is of: the last one of a row is
    steps: bool = False  # the hardware adds one to it after each row

    @property
    def address(self) -> int:
        return registers.address(self.name)


class Programs:
    """Makes programs, and knows what the device's setting registers hold."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._held: dict[int, int] = {}  # by address: what was written last

    def forget(self) -> None:
        """Take nothing for known: something else has written registers."""
        self._held.clear()

    def queues(self, indices: Words, rows: Words) -> Words:
        """Return the program that gives queues `indices` the settings of `rows` (QUEUE_COLUMNS)."""
        own = dict(zip(QUEUE_COLUMNS, rows.T, strict=True))
        columns = [_Column("queue_index", indices, steps=True)]
        columns += [_Column(name, own[name], executes=True) for name in self._queue_registers()]
        return self._program(columns)

    def subscribers(self, indices: Words, rows: Words, nodes: Words) -> Words:
        """Return the program that gives subscribers the settings of `rows` (PARENT_COLUMNS) and their nodes."""
        own = dict(zip(PARENT_COLUMNS, rows.T, strict=True))
        columns = [
            _Column("tree_index", indices, steps=True),
            _Column("tree_class", own["tree_class"]),
            _Column("tree_rate", own["tree_rate"], executes=True),
            _Column("tree_burst", own["tree_burst"], executes=True),
            _Column("tree_parent", nodes, executes=True),
        ]
        return self._program(columns)

    def parent(self, level: str, index: int, row: Words, above: int) -> Words:
        """Return the program that gives a node or port the settings of `row` (PARENT_COLUMNS) and a node its port."""
        own = dict(zip(PARENT_COLUMNS, row.tolist(), strict=True))
        pairs = [("tree_rate", own["tree_rate"]), ("tree_burst", own["tree_burst"]), ("tree_parent", above), ("tree_index", index)]
        self.forget()
        return writes([*((registers.address(name), value) for name, value in pairs), (_COMMAND, registers.COMMAND_HIERARCHY[level])])

    def _queue_registers(self) -> list[str]:
        names = ["queue_rate", "queue_burst", "queue_limit_packets", "queue_limit_bytes"]
        names += ["queue_aqm", "queue_aqm_target", "queue_aqm_interval"] if self._facts.aqm != "none" else []
        names += ["queue_class"] if self._facts.admission else []
        return names + (["tree_class"] if self._facts.hierarchy else [])

    def _program(self, columns: list[_Column]) -> Words:
        values = np.stack([column.words for column in columns], axis=1).astype(np.uint32)
        if len(values) == 0:
            return np.zeros((0, 4), dtype=np.uint32)
        wanted = np.empty(values.shape, dtype=bool)
        for number, column in enumerate(columns):
            words, step = values[:, number], int(column.steps)
            wanted[1:, number] = words[1:] != words[:-1] + np.uint32(step)
            wanted[0, number] = step or self._held.get(column.address) != int(words[0])
            if not step:  # snapshots move it
                self._held[column.address] = int(words[-1])
        executes = np.array([column.executes for column in columns])
        last = self._last(wanted & executes, len(columns) - 1)
        rows = np.arange(len(values))
        wanted[rows, last] = True
        addresses = np.tile(np.array([column.address for column in columns], dtype=np.uint32), (len(values), 1))
        addresses[rows, last] += np.uint32(EXECUTE)
        made = np.zeros((int(wanted.sum()), 4), dtype=np.uint32)
        made[:, 1], made[:, 2] = addresses[wanted], values[wanted]
        return made

    @staticmethod
    def _last(wanted: NDArray[np.bool_], otherwise: int) -> NDArray[np.intp]:
        """Return the last column of each row that is wanted; `otherwise` where none is: it is written again, so that the row takes effect."""
        found: NDArray[np.intp] = wanted.shape[1] - 1 - np.argmax(wanted[:, ::-1], axis=1)
        return np.where(wanted.any(axis=1), found, otherwise)


def finished(index: str | None = None) -> Words:
    """Return the program that waits until the last command is done, and then reads the status and, if it is named, an index register.

    `refused` must be 0, and the index must have stepped over all that was set: it stands still at what was refused.
    """
    status = registers.address("status")
    reads = [status] if index is None else [status, registers.address(index)]
    return program([(WAIT, status, 0, registers.STATUS_BUSY), *((READ, address, 0, 0) for address in reads)])
