"""The store of the intent."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc

from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.services import calls, streams
from penstock.v1 import store_pb2, store_pb2_grpc

A_PART = 1 << 20  # bytes


@calls
class Store(store_pb2_grpc.StoreServicer):
    """The service."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    @streams
    def Backup(self, request: Any, context: grpc.ServicerContext) -> Iterator[store_pb2.BackupPart]:
        """Yield a copy of the store. Changes wait while it is made, not while it is sent."""
        path = self._plant.intent.path
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=path.parent if path else None) as folder:
            made = Path(folder) / "intent.sqlite"
            revision = self._plant.backup(made)
            with made.open("rb") as file:
                while data := file.read(A_PART):
                    yield store_pb2.BackupPart(data=data, revision=revision)
