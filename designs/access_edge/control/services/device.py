"""The device itself."""

from typing import Any

import grpc

from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.facts import MAJOR
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.services import calls
from penstock.v1 import device_pb2, device_pb2_grpc

MAX_SHOWN = 1_000


@calls
class Device(device_pb2_grpc.DeviceServicer):
    """The service."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def Get(self, request: Any, context: grpc.ServicerContext) -> device_pb2.DeviceInfo:
        """Return what the device says of itself."""
        facts, plant = self._plant.facts, self._plant
        hierarchy = facts.hierarchy
        return device_pb2.DeviceInfo(
            type="access_edge",
            version_major=MAJOR,
            version_minor=facts.minor,
            clock_hz=facts.clock_hz,
            queues=facts.queues,
            queues_per_subscriber=facts.queues_per_subscriber,
            nodes=hierarchy.nodes if hierarchy else 0,
            ports=hierarchy.ports if hierarchy else 0,
            classes=hierarchy.classes if hierarchy else 0,
            aqm=facts.aqm,
            shaped=facts.shaped,
            admission=facts.admission is not None,
            read_back=True,
            descriptors=facts.descriptors,
            max_frame_bytes=facts.max_frame_bytes,
            cycles=plant.carrier.cycles(),
            carrier=plant.carrier.name,
            revision=plant.revision,
            guarantees=bool(hierarchy and hierarchy.guarantees),
            header_profiles=facts.header_profiles,
            header_entries=facts.header_entries,
        )

    def Diff(self, request: Any, context: grpc.ServicerContext) -> device_pb2.DiffResponse:
        """Return what in the device is not as intended."""
        found = differences(self._plant)
        shown = [
            device_pb2.DiffResponse.Difference(name=one.name, field=one.field, intended=f"{one.intended:#x}", found=f"{one.found:#x}")
            for one in found[:MAX_SHOWN]
        ]
        return device_pb2.DiffResponse(differences=shown, count=len(found))
