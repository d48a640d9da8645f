"""Register words of many queues and parents, made into as few writes as it takes.

A register keeps what was written last, so a word is written only where it differs from the one before; and the last one of a queue goes to
the window that sets the queue with it and steps on (README of the design, "Many queues"). So a queue costs a write for each setting in
which it differs from the queue before it, and one at least.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.codes import PARENT_COLUMNS, QUEUE_COLUMNS
from penstock.designs.access_edge.control.facts import ONE_CLASS_SINCE, Facts
from penstock.driver.carrier import READ, WAIT, WRITE, program, writes

Words = NDArray[np.uint32]
NO_ROOM = registers.refusal("no_room")
_COMMAND = registers.address("queue_command")
_STATUS = registers.address("status")
# Waits until the last command is done, and reads how it went.
_END = program([(WAIT, _STATUS, 0, registers.STATUS_BUSY), (READ, _STATUS, 0, 0)])
_END_WORDS = _END.reshape(-1)
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
    writes: int  # of the accesses

    def then(self, other: "Program") -> "Program":
        """Return both as one, which the device does with nothing in between."""
        return Program(
            np.concatenate([self.accesses[: -len(_END)], other.accesses]),
            np.concatenate([self.reads, other.reads]),
            self.writes + other.writes,
        )

    def words(self, found: Words) -> str:
        """Return that something was refused."""
        status = int(found[-1])
        if status & registers.STATUS_REFUSED and status >> 4 & 7 == NO_ROOM:
            return "the device has no profile for one more kind of settings (register setting_profiles)"
        return f"the device has refused a command (status {status:#x})"

    def refused(self, found: Words) -> bool:
        """Return whether what was read says that something was refused."""
        *indices, status = found.tolist()
        return indices != self.reads.tolist() or bool(status & registers.STATUS_REFUSED)


def read_back(level: str, indices: Sequence[int], fields: Sequence[str]) -> Words:
    """Return the accesses that read back what the device has of each index of a level (queue, subscriber, node, port), `fields` (`rate`:
    `now_rate`) in this order."""
    command = registers.contract()["enums"]["command"]["read_back" if level == "queue" else f"read_back_{level}"]
    one = [
        (WRITE, registers.address("queue_index" if level == "queue" else "tree_index"), 0, 0),
        (WRITE, _COMMAND, command, 0),
        (WAIT, _STATUS, 0, registers.STATUS_BUSY),
        *((READ, registers.address(f"now_{field}"), 0, 0) for field in fields),
    ]
    accesses = np.tile(np.array(one, dtype=np.uint32), (len(indices), 1))
    accesses[:: len(one), 2] = indices
    return accesses


def _layout(index: str, plain: list[str], executes: list[str]) -> tuple[list[int], list[bool]]:
    """Return the registers of a row, and whether each executes. To the first one the hardware adds one after each row; the last ones,
    written at EXECUTE, set what it is of."""
    return [registers.address(name) for name in (index, *plain, *executes)], [False] * (1 + len(plain)) + [True] * len(executes)


class Programs:
    """Makes programs, and knows what the device's setting registers hold."""

    def __init__(self, facts: Facts) -> None:
        from penstock.engine import engine

        names = ["queue_rate", "queue_burst", "queue_limit_packets", "queue_limit_bytes"]
        names += ["queue_aqm", "queue_aqm_target", "queue_aqm_interval"] if facts.aqm != "none" else []
        # A device with a hierarchy takes one class for both; an older one has them in two registers.
        names += ["queue_class"] if facts.admission and not (facts.hierarchy and facts.minor >= ONE_CLASS_SINCE) else []
        names += ["tree_class"] if facts.hierarchy else []
        guarantee = ["tree_guarantee"] if facts.hierarchy and facts.hierarchy.guarantees else []
        self._each = facts.queues_per_subscriber
        self._columns = [QUEUE_COLUMNS.index(name) for name in guarantee + names]
        self._parent_columns = [PARENT_COLUMNS.index(name) for name in (*guarantee, "tree_class", "tree_rate", "tree_burst")]
        self._changes = engine.module("designs/access_edge/control").Changes(  # writes.hpp; it knows what was written last
            (*_layout("queue_index", guarantee, names), self._columns),
            (*_layout("tree_index", [*guarantee, "tree_class"], ["tree_rate", "tree_burst", "tree_parent"]), self._parent_columns),
            EXECUTE,
        )

    def forget(self) -> None:
        """Take nothing for known: something else has written registers."""
        self._changes.forget()

    def queues(self, indices: Words, rows: Words) -> Program:
        """Return the program that gives queues `indices` the settings of `rows` (QUEUE_COLUMNS)."""
        return self._program(True, np.column_stack([indices, rows[:, self._columns]]))

    def subscribers(self, indices: Words, rows: Words, nodes: Words) -> Program:
        """Return the program that gives subscribers the settings of `rows` (PARENT_COLUMNS) and their nodes."""
        return self._program(False, np.column_stack([indices, rows[:, self._parent_columns], nodes]))

    def parent(self, level: str, index: int, row: Words, above: int) -> Program:
        """Return the program that gives a node or port the settings of `row` (PARENT_COLUMNS) and a node its port."""
        own = dict(zip(PARENT_COLUMNS, row.tolist(), strict=True))
        pairs = [("tree_rate", own["tree_rate"]), ("tree_burst", own["tree_burst"]), ("tree_parent", above), ("tree_index", index)]
        self.forget()
        made = writes([*((registers.address(name), value) for name, value in pairs), (_COMMAND, registers.COMMAND_HIERARCHY[level])])
        return Program(np.concatenate([made, _END]), np.zeros(0, dtype=np.uint32), len(made))

    def change(
        self, places: Words, queues: NDArray[np.int32], subscribers: NDArray[np.int32], nodes: NDArray[np.int32], rows: tuple[Words, Words]
    ) -> Program:
        """Return the program that brings what is in force at some places, in their order, to the device: numbers of settings by queue and
        by subscriber (negative: it has none), and nodes; `rows`: the settings of queues and of subscribers by number."""
        return Program(*self._changes.of(places, self._each, queues, subscribers, nodes, *rows, _END_WORDS))

    def _program(self, of_queues: bool, values: Words) -> Program:
        """Return the program of some rows of words."""
        return Program(*self._changes.rows(of_queues, np.ascontiguousarray(values, dtype=np.uint32), _END_WORDS))
