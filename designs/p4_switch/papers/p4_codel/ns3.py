"""CoDel and senders that others have written: ns-3's, from the wheel `ns3` of PyPI. PENSTOCK_NS3 names its folder site-packages/ns3.

It never is in our environment. A program of ours (ns3/codel.cpp) is compiled with its headers and libraries.
"""

import os
from pathlib import Path

import numpy as np

from penstock.basics import children
from penstock.designs.p4_switch.papers.p4_codel.experiments import Run, Senders, Setting
from penstock.engine.run import RunError
from penstock.paths import BUILD, alone_in

NAME, WORDS = "ns3_codel", "ns-3's CoDel and senders"
SOURCE = Path(__file__).with_name("ns3") / "codel.cpp"
PARTS = ("core", "network", "internet", "point-to-point", "applications", "traffic-control", "bridge", "stats")
LIMIT = 10_000


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


def build() -> Path:
    """Return our program on ns-3, built unless it is there. Raises RunError."""
    given = Path(os.environ["PENSTOCK_NS3"])
    libraries = _libraries(given)
    assert libraries is not None
    folder = BUILD / "ns3_codel"
    with alone_in(folder):
        program, stamp = folder / "codel", folder / "stamp"
        state = f"{given}\n{SOURCE.read_text()}"
        if program.exists() and stamp.exists() and stamp.read_text() == state:
            return program
        found = [sorted(libraries.glob(f"libns3*-{part}*.so*"), key=lambda path: len(path.name)) for part in PARTS]  # not internet-apps
        files = [named[0] for named in found if named]
        flags = ["-std=c++20", "-O1", "-Wno-deprecated-declarations", f"-I{given}/include", f"-Wl,-rpath,{libraries}"]
        done = children.run([os.environ.get("CXX", "c++"), *flags, str(SOURCE), *map(str, files), f"-L{libraries}", "-o", str(program)])
        if done.returncode:
            raise RunError(f"ns3/codel.cpp does not compile with {given}:\n{done.stderr[-2000:]}")
        stamp.write_text(state)
    return program


def run(senders: Senders, seed: int, seconds: float, setting: Setting, algorithm: str = "TcpCubic") -> Run:
    """Run ns-3's senders in front of its CoDel. Raises RunError."""
    count = senders.flows or round(1000 * senders.load)
    kind = algorithm if senders.flows else "udp"
    words = [kind, count, setting.packets, setting.round_trip_us, LIMIT, seconds, seed]
    libraries = _libraries(Path(os.environ["PENSTOCK_NS3"]))
    # The wheel's libraries find their own dependencies by this path only.
    done = children.run([str(build()), *map(str, words)], env=os.environ | {"LD_LIBRARY_PATH": str(libraries)})
    if done.returncode:
        raise RunError(f"ns-3 failed: {done.stderr[-2000:]}")
    return read(done.stdout, seconds)


def read(text: str, seconds: float) -> Run:
    """Return what our program has printed: came and left of each packet in us, then the drops."""
    *lines, last = text.splitlines()
    word, dropped, full = last.split()
    assert word == "dropped"
    times = np.array([line.split() for line in lines], dtype=np.float64).reshape(-1, 2)
    return Run(times[:, 1] / 1e6, (times[:, 1] - times[:, 0]) / 1e3, seconds, int(dropped), int(full))
