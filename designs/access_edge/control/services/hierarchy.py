"""Access nodes and ports."""

from typing import Any

import grpc

from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.problems import Code, Problem, invalid
from penstock.designs.access_edge.control.services import calls
from penstock.v1 import hierarchy_pb2, hierarchy_pb2_grpc


@calls
class Nodes(hierarchy_pb2_grpc.NodesServicer):
    """The service of access nodes."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def Set(self, request: Any, context: grpc.ServicerContext) -> hierarchy_pb2.Node:
        """Set rate, burst and name of a node, and its port if that is named."""
        return self._plant.set_parent("node", request)

    def Get(self, request: Any, context: grpc.ServicerContext) -> hierarchy_pb2.Node:
        """Return a node."""
        return _get(self._plant, "node", request.index)

    def List(self, request: Any, context: grpc.ServicerContext) -> hierarchy_pb2.ListNodesResponse:
        """Return all nodes, or those of a port."""
        count = self._plant.facts.hierarchy.nodes if self._plant.facts.hierarchy else 0
        nodes = [_get(self._plant, "node", index) for index in range(count)]
        return hierarchy_pb2.ListNodesResponse(nodes=[node for node in nodes if not request.HasField("port") or node.port == request.port])


@calls
class Ports(hierarchy_pb2_grpc.PortsServicer):
    """The service of ports."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def Set(self, request: Any, context: grpc.ServicerContext) -> hierarchy_pb2.Port:
        """Set rate, burst and name of a port."""
        return self._plant.set_parent("port", request)

    def Get(self, request: Any, context: grpc.ServicerContext) -> hierarchy_pb2.Port:
        """Return a port."""
        return _get(self._plant, "port", request.index)

    def List(self, request: Any, context: grpc.ServicerContext) -> hierarchy_pb2.ListPortsResponse:
        """Return all ports."""
        count = self._plant.facts.hierarchy.ports if self._plant.facts.hierarchy else 0
        return hierarchy_pb2.ListPortsResponse(ports=[_get(self._plant, "port", index) for index in range(count)])


def _get(plant: Plant, level: str, index: int) -> Any:
    hierarchy = plant.facts.hierarchy
    if hierarchy is None:
        raise Problem(Code.FAILED_PRECONDITION, f"the device has no hierarchy, so there is no {level}")
    count = hierarchy.nodes if level == "node" else hierarchy.ports
    if index >= count:
        raise invalid(f"the device has {level}s 0 to {count - 1:,}, not {index:,}", "index")
    known: Any = (plant.nodes if level == "node" else plant.ports).get(index)
    return known or (
        hierarchy_pb2.Node(index=index, port=int(plant.port_of[index])) if level == "node" else hierarchy_pb2.Port(index=index)
    )
