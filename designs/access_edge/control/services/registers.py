"""Registers, for experts."""

from typing import Any

import grpc

from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.problems import invalid
from penstock.designs.access_edge.control.services import calls
from penstock.driver import carrier
from penstock.v1 import registers_pb2, registers_pb2_grpc

MAX_ACCESSES = 10_000
SIZE = 4096  # bytes of the register space


@calls
class Registers(registers_pb2_grpc.RegistersServicer):
    """The service."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant

    def Read(self, request: Any, context: grpc.ServicerContext) -> registers_pb2.ReadRegistersResponse:
        """Read registers; one of 8 bytes is read lower half first."""
        _few(request.registers, "registers")
        places = [_place(name, f"registers[{number}]") for number, name in enumerate(request.registers)]
        words = iter(self._plant.carrier.run(carrier.reads(at + half for at, size in places for half in range(0, size, 4))).tolist())
        values = [sum(next(words) << 8 * half for half in range(0, size, 4)) for _, size in places]
        return registers_pb2.ReadRegistersResponse(values=values)

    def Write(self, request: Any, context: grpc.ServicerContext) -> registers_pb2.WriteRegistersResponse:
        """Write registers."""
        _few(request.writes, "writes")
        places = [_place(write.register, f"writes[{number}].register")[0] for number, write in enumerate(request.writes)]
        with self._plant.lock:
            self._plant.programs.forget()
            self._plant.carrier.run(carrier.writes((at, write.value) for at, write in zip(places, request.writes, strict=True)))
        return registers_pb2.WriteRegistersResponse()


def _few(what: Any, field: str) -> None:
    if len(what) > MAX_ACCESSES:
        raise invalid(f"has {len(what):,}, at most {MAX_ACCESSES:,} are allowed", field)


def _place(name: Any, field: str) -> tuple[int, int]:
    """Return address and bytes of a register. Raises Problem."""
    if name.WhichOneof("name") == "register":
        known = registers.table().get(name.register)
        if known is None:
            raise invalid(f"the device has no register {name.register[:40]!r}; docs/registers.md lists them", field)
        return int(known["address"]), int(known["bytes"])
    if name.WhichOneof("name") is None:
        raise invalid("names no register: its name or its address must be given", field)
    if name.address % 4 or name.address > SIZE - 4:
        raise invalid(f"an address is a multiple of 4 below {SIZE:,}, not {name.address:,}", field)
    return int(name.address), 4
