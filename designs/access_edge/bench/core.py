"""The library of `pst_access_edge_core`, which benches and tests drive at its descriptor ports."""

from pathlib import Path

from penstock.hardware.verilate import Build, Report, build
from penstock.paths import DESIGNS, read_file_list


def build_core(
    queues: int,
    descriptors: int,
    shaping: bool = True,
    report: Report | None = None,
    assertions: bool = False,
    aqm: dict[str, int] | None = None,
    tree: dict[str, int] | None = None,
) -> Path:
    """Return the library of `pst_access_edge_core` (queue manager, scheduler, AQM, hierarchy) with the ABI of pins_core.h.

    `aqm`: its AQM's parameters (`Aqm`, `AqmEstimate`, `TickShift`, `MaxPacketBytes`), none without.
    `tree`: its hierarchy's parameters (`Levels`, `QueuesPerSubscriber`, `Nodes`, `Ports`, `Classes`), queues alone without.
    """
    return build(
        Build(
            name=f"core_{queues}",
            top="pst_access_edge_core",
            sources=read_file_list(DESIGNS / "access_edge" / "rtl" / "access_edge_core.f"),
            shim=DESIGNS / "access_edge" / "bench" / "shim_core.cpp",
            parameters={"Queues": str(queues), "Descriptors": str(descriptors), "Shaping": f"1'b{int(shaping)}"}
            | {name: str(value) for name, value in {**(aqm or {}), **(tree or {})}.items()},
            assertions=assertions,
        ),
        report,
    )
