"""Register words of many queues and parents, made into as few writes as it takes.

A register keeps what was written last, so a word is written only where it differs from the one before; and the last one of a queue goes to
the window that sets the queue with it and steps on (README of the design, "Many queues"). So a queue costs a write for each setting in
which it differs from the queue before it, and one at least.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.codes import PARENT_COLUMNS, QUEUE_COLUMNS
from penstock.designs.access_edge.control.facts import Facts
from penstock.driver.carrier import READ, WAIT, WRITE, program, writes

Words = NDArray[np.uint32]
_COMMAND = registers.address("queue_command")
_STATUS = registers.address("status")
# Waits until the last command is done, and reads how it went.
_END = program([(WAIT, _STATUS, 0, registers.STATUS_BUSY), (READ, _STATUS, 0, 0)])
# So far above its address a setting is written, and what it is of is set.
EXECUTE = registers.address("execute_queue_rate") - registers.address("queue_rate")


@dataclass(frozen=True)
class Program:
    """Accesses of a carrier, and what its reads must read where the device has refused nothing.

    A refused command leaves its index where it is: an index that has stepped over all of a run of neighbours says that all were set. It is
    read at the end of each run, and the status at the end of all.
    """

    accesses: Words
    reads: Words

    def then(self, other: "Program") -> "Program":
        """Return both as one, which the device does with nothing in between."""
        return Program(np.concatenate([self.accesses[: -len(_END)], other.accesses]), np.concatenate([self.reads, other.reads]))

    @property
    def writes(self) -> int:
        """How many of the accesses are writes."""
        return int((self.accesses[:, 0] == WRITE).sum())

    def refused(self, found: Words) -> bool:
        """Return whether what was read says that something was refused."""
        *indices, status = found.tolist()
        return indices != self.reads.tolist() or bool(status & registers.STATUS_REFUSED)


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

    def queues(self, indices: Words, rows: Words) -> Program:
        """Return the program that gives queues `indices` the settings of `rows` (QUEUE_COLUMNS)."""
        own = dict(zip(QUEUE_COLUMNS, rows.T, strict=True))
        columns = [_Column("queue_index", indices, steps=True)]
        columns += [_Column(name, own[name], executes=True) for name in self._queue_registers()]
        return self._program(columns)

    def subscribers(self, indices: Words, rows: Words, nodes: Words) -> Program:
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

    def parent(self, level: str, index: int, row: Words, above: int) -> Program:
        """Return the program that gives a node or port the settings of `row` (PARENT_COLUMNS) and a node its port."""
        own = dict(zip(PARENT_COLUMNS, row.tolist(), strict=True))
        pairs = [("tree_rate", own["tree_rate"]), ("tree_burst", own["tree_burst"]), ("tree_parent", above), ("tree_index", index)]
        self.forget()
        made = writes([*((registers.address(name), value) for name, value in pairs), (_COMMAND, registers.COMMAND_HIERARCHY[level])])
        return Program(np.concatenate([made, _END]), np.zeros(0, dtype=np.uint32))

    def _queue_registers(self) -> list[str]:
        names = ["queue_rate", "queue_burst", "queue_limit_packets", "queue_limit_bytes"]
        names += ["queue_aqm", "queue_aqm_target", "queue_aqm_interval"] if self._facts.aqm != "none" else []
        names += ["queue_class"] if self._facts.admission else []
        return names + (["tree_class"] if self._facts.hierarchy else [])

    def _program(self, columns: list[_Column]) -> Program:
        """Return the program of some rows; the first column steps."""
        values = np.stack([column.words for column in columns], axis=1).astype(np.uint32)
        if len(values) == 0:
            return Program(_END, np.zeros(0, dtype=np.uint32))
        wanted = np.empty(values.shape, dtype=bool)
        for number, column in enumerate(columns):
            words, step = values[:, number], int(column.steps)
            wanted[1:, number] = words[1:] != words[:-1] + np.uint32(step)
            wanted[0, number] = step or self._held.get(column.address) != int(words[0])
            if not step:  # snapshots move it
                self._held[column.address] = int(words[-1])
        last = self._last(wanted & np.array([column.executes for column in columns]), len(columns) - 1)
        rows = np.arange(len(values))
        wanted[rows, last] = True
        addresses = np.tile(np.array([column.address for column in columns], dtype=np.uint32), (len(values), 1))
        addresses[rows, last] += np.uint32(EXECUTE)
        made = np.zeros((int(wanted.sum()), 4), dtype=np.uint32)
        made[:, 1], made[:, 2] = addresses[wanted], values[wanted]
        runs = np.flatnonzero(wanted[1:, 0]) + 1  # rows with which a run of neighbours begins, but for the first
        before = np.concatenate([[0], np.cumsum(wanted.sum(axis=1))])[runs]  # how many writes there are before each
        read = (READ, columns[0].address, 0, 0)
        ends = np.concatenate([values[runs - 1, 0], values[-1:, 0]]) + np.uint32(1)
        return Program(np.concatenate([np.insert(made, before, read, axis=0), program([read]), _END]), ends)

    @staticmethod
    def _last(wanted: NDArray[np.bool_], otherwise: int) -> NDArray[np.intp]:
        """Return the last column of each row that is wanted; `otherwise` where none is: it is written again, so that the row counts."""
        found: NDArray[np.intp] = wanted.shape[1] - 1 - np.argmax(wanted[:, ::-1], axis=1)
        return np.where(wanted.any(axis=1), found, otherwise)
