"""ns-3, where it is there: the wheel `ns3` of PyPI, in an environment of its own and never in ours. PENSTOCK_NS3 names its folder.

Programs of papers are compiled with its headers and libraries.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from penstock.basics import programs
from penstock.engine.run import RunError

# What of ns-3 a program may use; not every version has all of them.
PARTS = ("core", "network", "internet", "point-to-point", "applications", "traffic-control", "bridge", "stats")


def missing() -> str | None:
    """Return why ns-3 cannot be used, in words; None: it can be."""
    given = os.environ.get("PENSTOCK_NS3")
    if not given:
        return "PENSTOCK_NS3 names no folder of the wheel ns3 (site-packages/ns3)"
    if not (Path(given) / "include").is_dir():
        return f"PENSTOCK_NS3={given} is no folder of the wheel ns3: it has no `include`"
    if _libraries(Path(given)) is None:
        return f"PENSTOCK_NS3={given} has no libraries of ns-3"
    return None


def _libraries(given: Path) -> Path | None:
    found = sorted(path.parent for name in ("lib", "lib64") for path in (given / name).glob("libns3*-core*.so*"))
    return found[0] if found else None


def environment() -> dict[str, str]:
    """Return what a program on ns-3 is started with: the wheel's libraries find their own dependencies by this path only."""
    return os.environ | {"LD_LIBRARY_PATH": str(_libraries(Path(os.environ["PENSTOCK_NS3"])))}


def build(name: str, sources: Sequence[Path], flags: Sequence[str] = ("-O1",)) -> Path:
    """Return the program of `sources`, built unless it is there. Raises RunError."""
    given = Path(os.environ["PENSTOCK_NS3"])
    libraries = _libraries(given)
    assert libraries is not None
    found = [sorted(libraries.glob(f"libns3*-{part}*.so*"), key=lambda path: len(path.name)) for part in PARTS]  # not internet-apps
    files = [str(named[0]) for named in found if named]
    outside = [f"-I{given}/include", *files, f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    try:
        return programs.built(name, sources, ["-rdynamic", *flags, "-Wno-deprecated-declarations"], outside)
    except programs.CompileError as error:
        raise RunError(f"with {given}, {error}") from None
