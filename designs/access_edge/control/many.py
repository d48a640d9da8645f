"""Whole chunks of a stream at once, in columns: the same as changes one by one (plant.py), for what is as usual.

What is said of each subscriber is read by compiled code (scan.hpp), whose settings are numbers that were met before; those that are new are
translated one by one, like all others. Where anything is not as usual, above all where anything is wrong, nothing is done here: the chunk
goes one by one, and that says what is wrong with which.
"""

import itertools
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from penstock.designs.access_edge.control.codes import MAX_KEPT_BYTES
from penstock.designs.access_edge.control.plant import MAX_BYTES, MAX_NAME, Batch, Plant, Subscriber
from penstock.designs.access_edge.control.problems import Problem
from penstock.v1 import common_pb2


class Many:
    """Chunks of subscribers that are to be there as they are said."""

    def __init__(self, plant: Plant) -> None:
        from penstock.engine import engine

        self._plant, self._compiled = plant, engine.module("designs/access_edge/control")
        self._plans = self._compiled.Plans(MAX_KEPT_BYTES)

    def read(self, data: bytes) -> Any:
        """Return a message of a stream in columns; None where it is not plain (scan.hpp)."""
        message = self._compiled.Message(data, MAX_BYTES)
        return message if message.plain else None

    def put(self, messages: list[Any]) -> common_pb2.Applied | None:
        """Have all subscribers of some messages as they are said: all of them or none. Return what it has cost, or None where nothing was
        done because not all is as usual. Raises Problem where store or device do not do it."""
        plant = self._plant
        with plant.lock:
            names = _names(messages)
            found = names and self._numbers(messages)
            if not names or not found:
                return None
            codes, parents, nodes = found
            places = self._places(messages, names)
            if places is not None and plant.keys.of and not plant.keys.of.keys().isdisjoint(places.tolist()):
                return None  # they have matches, which go
            return None if places is None else self._do(messages, names, places, codes, parents, nodes)

    def _numbers(self, messages: list[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]] | None:
        """Return the numbers of all settings, and the nodes."""
        hierarchy, each = self._plant.facts.hierarchy, self._plant.facts.queues_per_subscriber
        nodes = np.concatenate([message.nodes() for message in messages])
        if hierarchy is None or nodes.max() >= hierarchy.nodes or max(message.most_queues for message in messages) > each:
            return None
        found = self._known(messages)
        if found is None and self._learn(messages):
            found = self._known(messages)
        return (*found, nodes.astype(np.int32)) if found else None

    def _known(self, messages: list[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """Return the numbers of all settings, if all were met before."""
        each, unknown = self._plant.facts.queues_per_subscriber, self._plans.UNKNOWN
        made = [message.codes(self._plans, each, self._plant.codes.drop_all) for message in messages]
        codes, numbers = (np.concatenate([pair[which] for pair in made]) for which in (0, 1))
        return None if (codes == unknown).any() or (numbers == unknown).any() else (codes, numbers)

    def _learn(self, messages: list[Any]) -> bool:
        """Translate settings that were not met before; return whether that went well."""
        plant = self._plant
        try:
            for message in messages:
                queues, parents = message.unknown(self._plans)
                for data, closed in queues:
                    settings = common_pb2.QueueSettings.FromString(data)
                    if _has_more(settings):
                        return False
                    self._plans.learn_queue(data, closed, plant.codes.queue(settings, closed))
                for parent in parents:
                    self._plans.learn_parent(*parent, plant.codes.parent(*parent))
        except (Problem, DecodeError):
            return False
        return True

    def _places(self, messages: list[Any], names: list[str]) -> NDArray[np.int64] | None:
        """Return where each one is or goes."""
        plant = self._plant
        known = np.fromiter(map(plant.index_of.get, names, itertools.repeat(-1)), dtype=np.int64, count=len(names))
        wanted = np.concatenate([message.indices() for message in messages])
        new, said = known < 0, wanted >= 0
        if not _may_be_new(list(itertools.compress(names, new))):
            return None
        if (wanted[said & ~new] != known[said & ~new]).any() or wanted.max() >= plant.facts.subscribers:
            return None
        taken = np.frombuffer(plant.taken, dtype=np.uint8)
        places = np.where(new, wanted, known)
        to_choose = new & ~said
        if (new & said).any():
            if to_choose.any() or taken[wanted[new & said]].any():
                return None
        elif to_choose.any():
            free = np.flatnonzero(taken == 0)[: int(to_choose.sum())]
            if len(free) < int(to_choose.sum()):
                return None
            places[to_choose] = free
        once = np.zeros(plant.facts.subscribers, dtype=np.bool_)
        once[places] = True
        return places if np.count_nonzero(once) == len(places) else None

    def _do(
        self,
        messages: list[Any],
        names: list[str],
        places: NDArray[np.int64],
        codes: NDArray[np.int32],
        parents: NDArray[np.int32],
        nodes: NDArray[np.int32],
    ) -> common_pb2.Applied:
        plant, first, begin = self._plant, self._plant.revision + 1, 0
        indices = places.tolist()
        old = {index: plant.intent.message(index) for index in indices if plant.taken[index]}
        blobs: list[bytes] = []
        for message in messages:
            blobs += message.placed(places[begin : begin + message.count].astype(np.uint32), first + begin)
            begin += message.count
        plant.store(indices, blobs, first + len(names) - 1)
        batch = Batch(first - 1, since=plant.since[places])
        applied = common_pb2.Applied()
        try:
            plant.name(names, places, first)
            plant.arrange(places, codes, parents, nodes)
            plant.write(places, applied)
        except Exception as error:
            batch.before = {index: Subscriber.FromString(old[index]) if index in old else None for index in indices}
            raise plant.take_back(batch, error) from None
        return applied


def _has_more(settings: common_pb2.QueueSettings) -> bool:
    """Return whether settings have fields that are not known: what can be read by itself may be nested too deep for a subscriber."""
    size = settings.ByteSize()
    settings.DiscardUnknownFields()
    return settings.ByteSize() != size


def _names(messages: list[Any]) -> list[str] | None:
    """Return the names of all; None where one is none."""
    found: list[str] = []
    for message in messages:
        some = message.names()
        if some is None:
            return None
        found += some
    return found


def _may_be_new(names: list[str]) -> bool:
    """Return whether subscribers may have these names that nobody has."""
    plain = all(map(str.isprintable, names)) and all(1 <= size <= MAX_NAME for size in set(map(len, names)))
    return plain and list(map(str.strip, names)) == names and len(set(names)) == len(names)
