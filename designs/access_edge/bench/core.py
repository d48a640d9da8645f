"""The library of `pst_access_edge_core`, which benches and tests drive at its descriptor ports."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.hardware import bundles, plug_scheduler, plugs
from penstock.hardware.verilate import Build, Report, build
from penstock.parts.manifest import Part
from penstock.parts.registry import find
from penstock.paths import BUILD, DESIGNS, read_file_list

OF_THE_CORE = ("AqmEstimate", "TickShift", "MaxPacketBytes")  # what the core has to know of its AQM


def build_core(
    queues: int,
    descriptors: int,
    shaping: bool = True,
    report: Report | None = None,
    assertions: bool = False,
    aqm: Mapping[str, Any] | None = None,
    hierarchy: dict[str, int] | None = None,
    scheduler: Part | None = None,
    numbers: dict[str, int] | None = None,
    tolerance: int | None = None,
    flows: dict[str, int] | None = None,
    profiles: int = 0,
) -> Path:
    """Return the library of `pst_access_edge_core` (queue manager, scheduler, AQM, hierarchy) with the ABI of pins_core.h.

    `aqm`: the name of its AQM (key `aqm`), parameters of the core (`AqmEstimate`, `TickShift`, `MaxPacketBytes`) and of the AQM's own
    module (`UpdateTicks`, ...), none without. `scheduler`: one of the user's own, without shaping, and `numbers`, parameters of its module.
    `hierarchy`: its hierarchy's parameters (`Hierarchy`, `QueuesPerSubscriber`, `Nodes`, `Ports`, `Classes`), queues alone without.
    `tolerance`: of its shapers in cycles. `flows`: parameters of its flow queues (`Flows`, `FlowLanes`, `FlowAgeCycles`).
    `profiles`: of settings, which the caller gives to queues (`SettingProfiles`).
    Raises UserError for a part that cannot be built in.
    """
    given = dict(aqm or {})
    part = find("aqm", given.pop("aqm")) if given else None
    about = {name: given.pop(name) for name in OF_THE_CORE if name in given}
    sources = read_file_list(DESIGNS / "access_edge" / "rtl" / "access_edge_core.f")
    if part:
        about |= plugs.of_module(part, ("Aqm", "AqmGuardBytes"))
        sources = plugs.sources(sources, part, plugs.written(part, given, BUILD / "plugs"))
    if profiles:
        about |= {"SettingProfiles": profiles}
    if tolerance is not None:
        about |= {"ToleranceCycles": tolerance}
    generated: dict[str, str] = {}
    if scheduler:
        about |= {"OwnScheduler": "1'b1"}
        generated = {plug_scheduler.FRAME.name: plug_scheduler.text(scheduler, numbers or {})}
        sources = [path for path in sources if path != plug_scheduler.FRAME] + scheduler.rtl_files
    top, flat = bundles.flat_module(DESIGNS / "access_edge" / "rtl" / "pst_access_edge_core.sv")
    return build(
        Build(
            name=f"core_{queues}",
            top=top,
            sources=sources,
            generated={**generated, f"{top}.sv": flat},
            shim=DESIGNS / "access_edge" / "bench" / "shim_core.cpp",
            parameters={"Queues": str(queues), "Descriptors": str(descriptors), "Shaping": f"1'b{int(shaping)}"}
            | {name: str(value) for name, value in {**about, **(hierarchy or {}), **(flows or {})}.items()},
            assertions=assertions,
        ),
        report,
    )
