"""The paper's public program, unchanged, in the P4 device. It is not part of Penstock: PENSTOCK_P4_CODEL names a clone of its repository
(github.com/ralfkundel/p4-codel), which is compiled with p4c-bm2-ss.

Its tables come from its own file of commands, without `port_add`: ports are the device's.
"""

import os
import shutil
from pathlib import Path

from penstock.basics import children
from penstock.designs.p4_switch.papers.p4_codel.experiments import System
from penstock.engine.run import RunError
from penstock.paths import BUILD, alone_in

NAME, WORDS = "public", "the public program"
SOURCE, COMMANDS, COMPILER = Path("srcP4/router.p4"), Path("srcP4/commandsCodelRouter.txt"), "p4c-bm2-ss"
HEADERS = {"dst_mac": "00:00:00:00:01:fe", "src_mac": "00:00:00:00:01:01", "src": "10.0.1.1", "dst": "10.0.3.1"}
INPUT = 1  # CoDel is asked for packets of this port only


def missing() -> str | None:
    """Return why it cannot be run, in words; None: it can be."""
    given = os.environ.get("PENSTOCK_P4_CODEL")
    if not given:
        return "PENSTOCK_P4_CODEL names no clone of github.com/ralfkundel/p4-codel"
    absent = [str(name) for name in (SOURCE, COMMANDS) if not (Path(given) / name).is_file()]
    if absent:
        return f"PENSTOCK_P4_CODEL={given} has no {absent[0]}"
    if shutil.which(COMPILER) is None:
        return f"{COMPILER} is not on the PATH"
    return None


def system() -> System:
    """Return it as a way to manage the queue, compiled. Raises RunError."""
    clone = Path(os.environ["PENSTOCK_P4_CODEL"])
    folder = BUILD / "p4_codel_public"
    with alone_in(folder):
        program, commands = folder / "router.json", folder / "commands.txt"
        done = children.run([COMPILER, "--std", "p4-16", str((clone / SOURCE).resolve()), "-o", str(program)])
        if done.returncode:
            raise RunError(f"{COMPILER} does not take {clone / SOURCE}:\n{done.stderr[-2000:]}")
        lines = (clone / COMMANDS).read_text(encoding="utf-8").splitlines()
        commands.write_text("".join(f"{line}\n" for line in lines if not line.startswith("port_add")), encoding="utf-8")
    settings = (f"device.program={program}", f"commands={commands}", "tables={}", "device.ports=3")
    return System(NAME, WORDS, "p4_router", settings, INPUT, HEADERS)
