"""How queues are found in headers."""

from typing import Any

import grpc

from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.problems import Code, Problem
from penstock.designs.access_edge.control.services import calls
from penstock.v1 import headers_pb2, headers_pb2_grpc


@calls
class Headers(headers_pb2_grpc.HeadersServicer):
    """The service."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def Get(self, request: Any, context: grpc.ServicerContext) -> headers_pb2.HeaderSettings:
        """Return the settings that hold."""
        if not self._plant.facts.header_profiles:
            raise Problem(Code.FAILED_PRECONDITION, "the device does not find queues in headers")
        return self._plant.keys.shown

    def Set(self, request: Any, context: grpc.ServicerContext) -> headers_pb2.HeaderSettings:
        """Set all of them anew."""
        return self._plant.set_headers(request)
