"""Plans."""

from typing import Any

import grpc
from google.protobuf import empty_pb2

from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.services import calls
from penstock.v1 import plans_pb2, plans_pb2_grpc


@calls
class Plans(plans_pb2_grpc.PlansServicer):
    """The service."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def Set(self, request: Any, context: grpc.ServicerContext) -> plans_pb2.SetPlanResponse:
        """Make a plan, or change it and its subscribers."""
        plan, applied = self._plant.set_plan(request)
        return plans_pb2.SetPlanResponse(plan=plan, applied=applied)

    def Get(self, request: Any, context: grpc.ServicerContext) -> plans_pb2.Plan:
        """Return a plan."""
        with self._plant.lock:
            return self._plant.plans.shown(self._plant.plans.find(request.name))

    def List(self, request: Any, context: grpc.ServicerContext) -> plans_pb2.ListPlansResponse:
        """Return all plans, by name."""
        with self._plant.lock:
            plans = self._plant.plans
            return plans_pb2.ListPlansResponse(plans=[plans.shown(plan) for _, plan in sorted(plans.by_name.items())])

    def Delete(self, request: Any, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Take a plan away that nobody has."""
        self._plant.delete_plan(request.name, request.version)
        return empty_pb2.Empty()
