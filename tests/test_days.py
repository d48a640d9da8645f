# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A day of an operator and a day of a researcher: scripts of public commands (tests/days), run as they stand."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.parts import registry
from penstock.paths import DESIGNS, ROOT


@pytest.mark.slow
@pytest.mark.parametrize("who", ["operator", "researcher"])
def test_a_day(who: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != registry.VARIABLE} | {
        "PENSTOCK": f"{sys.executable} -m penstock",
        "PYTHON": sys.executable,
        "PORT": str(port),
        "ALARMS": str(DESIGNS / "access_edge" / "control" / "alarms.yaml"),
    }
    done = subprocess.run(
        ["bash", str(ROOT / "tests" / "days" / f"{who}.sh"), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    assert f"{who}: done" in done.stdout
