"""Single queues, gates, and AQM of many queues."""

from collections.abc import Callable
from typing import Any

import grpc
import numpy as np

from penstock.designs.access_edge.control.plant import Plant, Subscriber
from penstock.designs.access_edge.control.problems import invalid, missing
from penstock.designs.access_edge.control.services import calls
from penstock.designs.access_edge.control.services.counters import queue_counters
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.control.waiting import Maker
from penstock.v1 import queues_pb2, queues_pb2_grpc

MAX_NAMES = 10_000


@calls
class Queues(queues_pb2_grpc.QueuesServicer):
    """The service of queues."""

    def __init__(self, plant: Plant, sweep: Sweep) -> None:
        self._plant, self._sweep = plant, sweep

    def Get(self, request: Any, context: grpc.ServicerContext) -> queues_pb2.Queue:
        """Return a queue: its settings, and its counters of this moment."""
        plant, each = self._plant, self._plant.facts.queues_per_subscriber
        name = request.queue
        if name.WhichOneof("name") is None:
            raise invalid("names no queue: its index, or a subscriber and a position, must be given", "queue")
        if name.WhichOneof("name") == "of":
            if name.of.position >= each:
                raise invalid(f"the device has {each} queues a subscriber, so 0 to {each - 1}, not {name.of.position}", "queue.of.position")
            index = plant.find(name.of.subscriber, "queue.of.subscriber") * each + name.of.position
        else:
            index = name.index
            if index >= plant.facts.queues:
                raise invalid(f"the device has queues 0 to {plant.facts.queues - 1:,}, not {index:,}", "queue.index")
        subscriber = plant.name_of.get(index // each)
        if subscriber is None:
            raise missing(f"queue {index:,} has no subscriber", "queue")
        message = plant.get(subscriber)
        position = index % each
        self._sweep.look(np.array([index]))
        settings = message.queues[position] if position < len(message.queues) else None
        return queues_pb2.Queue(
            index=index, subscriber=subscriber, position=position, settings=settings, counters=queue_counters(self._sweep, [index])[0]
        )


@calls
class Gates(queues_pb2_grpc.GatesServicer):
    """The service of gates."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def Close(self, request: Any, context: grpc.ServicerContext) -> queues_pb2.GateResponse:
        """Close the gates of some subscribers."""
        return self._set(request, True)

    def Open(self, request: Any, context: grpc.ServicerContext) -> queues_pb2.GateResponse:
        """Open them."""
        return self._set(request, False)

    def _set(self, request: Any, closed: bool) -> queues_pb2.GateResponse:
        check_names(request.subscribers)

        def change(subscriber: Subscriber) -> None:
            subscriber.gate_closed = closed

        done = self._plant.change(changed(self._plant, request.subscribers, change))
        return queues_pb2.GateResponse(applied=done.applied)


@calls
class AqmSettings(queues_pb2_grpc.AqmSettingsServicer):
    """The service of AQM."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def Set(self, request: Any, context: grpc.ServicerContext) -> queues_pb2.SetAqmResponse:
        """Set the AQM of all queues of some subscribers, or of all."""
        check_names(request.subscribers)

        def change(subscriber: Subscriber) -> None:
            for queue in subscriber.queues:
                if not request.HasField("traffic_class") or queue.traffic_class == request.traffic_class:
                    queue.ClearField("aqm")
                    if request.HasField("aqm"):
                        queue.aqm.CopyFrom(request.aqm)

        names = list(request.subscribers) or sorted(self._plant.index_of)
        done = self._plant.change(changed(self._plant, names, change))
        return queues_pb2.SetAqmResponse(applied=done.applied)


def check_names(names: Any) -> None:
    """Raise Problem for too many names."""
    if len(names) > MAX_NAMES:
        raise invalid(f"names {len(names):,}, at most {MAX_NAMES:,} are allowed", "subscribers")


def changed(plant: Plant, names: Any, change: Callable[[Subscriber], None]) -> list[Maker]:
    """Return makers that change subscribers that are there."""

    def maker(name: str) -> Maker:
        def make() -> Subscriber:
            there = plant.get(name)
            change(there)
            return there

        return make

    return [maker(name) for name in names]
