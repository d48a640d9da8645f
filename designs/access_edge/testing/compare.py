"""The program that drives `pst_access_edge_core` and its model side by side (designs/access_edge/test/compare_core.cpp)."""

import subprocess
from pathlib import Path

from penstock.basics import programs
from penstock.designs.access_edge.config import DEFAULT_TOLERANCE_CYCLES
from penstock.paths import ROOT

OWN = 9  # the kind of core with a scheduler of the user's own


def program() -> Path:
    """Return the program, compiled if need be."""
    sources = [ROOT / "designs/access_edge/test/compare_core.cpp", ROOT / "blocks/schedule/model/scheduler_models.cpp"]
    return programs.built("compare_core", sources, ["-O2", *programs.STRICT], ["-ldl"])


def compared(
    program: Path,
    library: Path,
    queues: int,
    descriptors: int,
    kind: int,
    cycles: int,
    number: int,
    model: Path | None = None,
    tolerance: int = DEFAULT_TOLERANCE_CYCLES,
    hierarchy: dict[str, int] | None = None,
    busy: bool = False,
    flows: dict[str, int] | None = None,
    profiles: int = 0,
) -> list[int]:
    """Run it, which must find no difference in so many cycles, and return what it counted, in its order. `model`: of an own scheduler.
    `tolerance`, `hierarchy`, `flows`, `profiles`: what the core was built with. `busy`: of a hierarchy what has traffic changes, as fast as
    it may."""
    levels = ("QueuesPerSubscriber", "Nodes", "Ports", "Classes", "GuaranteeCycles")
    sizes = ",".join(str(hierarchy.get(key, 0)) for key in levels) if hierarchy else None
    if flows:
        keys = ("Flows", "FlowLanes", "FlowAgeCycles", "FlowHostBits")
        sizes = ",".join([sizes or "0,0,0,0,0", *(str(flows.get(key, 0)) for key in keys)])
    last = [each for each in (model, sizes, "busy" if busy else None, f"profiles={profiles}" if profiles else None) if each]
    command = [program, library, queues, descriptors, kind, cycles, number, tolerance, *last]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"{cycles} cycles equal" in done.stdout, done.stdout + done.stderr
    return [int(part.split()[0]) for part in done.stdout.split(": ")[1].split(", ")]
