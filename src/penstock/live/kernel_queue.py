"""Bulk transfers through a queue of this machine's kernel (tc) instead of a device's, for papers that compare with it.

server -- delay -- router with the queue on its only interface -- device that holds nothing back -- client, and back by a delay.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from penstock.live import bulk, kernel_router
from penstock.live.hosts import INTERFACE
from penstock.paths import PACKAGE, ROOT

SCENARIO = Path("scenarios/paper/massive_qos_queueing/kernel_queue.yaml")
CODEL = "codel limit 1000 target 5ms interval 100ms noecn"
BURST = 3000  # bytes that the kernel's token bucket lets through at once, as the queues of a device here


def missing(queue: str = CODEL) -> str | None:
    """Return why there is no such queue, in words; tried in a namespace that ends at once."""
    command = f"from penstock.network import spaces; spaces.enter_own(); spaces.ip(['link set lo up']); import subprocess, sys; \
sys.exit(subprocess.run({['tc', 'qdisc', 'add', 'dev', 'lo', 'root', *queue.split()]!r}).returncode)"
    try:
        done = subprocess.run([sys.executable, "-P", "-c", command], env=_environment(), capture_output=True, text=True, timeout=60)
    except OSError as error:
        return f"tc cannot be started ({error.strerror})"
    if done.returncode == 0:
        return None
    kind = queue.split()[0]
    said = done.stderr.strip().splitlines()[-1:] or ["no word"]
    return f"the kernel of this machine has no queue `{kind}` (sch_{kind}; {said[0].removeprefix('Error: ').rstrip('.')})"


def _environment() -> dict[str, str]:
    import os

    return os.environ | {"PYTHONPATH": str(PACKAGE.parent)}


def run(queue: str, rate_bps: int, round_trip_us: int, seed: int, flows: int, algorithm: str, seconds: float) -> bulk.Transfer:
    """Send through `queue`, in tc's words, at a rate. Sojourn times are the kernel's own. Raises what `bulk.run` does."""
    with tempfile.TemporaryDirectory(prefix="penstock-kernel-") as name:
        out = Path(name) / "rows"
        commands = (
            f"qdisc replace dev {INTERFACE} root handle 1: tbf rate {rate_bps}bit burst {BURST} limit 100000000;"
            f"qdisc replace dev {INTERFACE} parent 1: handle 10: {queue}"
        )
        program = [sys.executable, "-P", "-m", "penstock.live.kernel_router", INTERFACE, str(out), commands]
        router = shlex.join(["env", f"PYTHONPATH={PACKAGE.parent}", *program])
        settings = [
            f"duration={round(1e6 * seconds)} us",
            f"network.ends.router.services={json.dumps([router])}",
            f"network.past.0.delay={round_trip_us * 500:g} ns",
            f"network.past.1.delay={round_trip_us * 500:g} ns",
        ]
        found = bulk.run(ROOT / SCENARIO, settings, "model", seed, flows, algorithm, seconds, server="server")
        rows = np.fromfile(out, dtype=kernel_router.ROW)
    return seen(found, rows, seconds)


def seen(found: bulk.Transfer, rows: "np.ndarray[tuple[int], np.dtype[np.void]]", seconds: float) -> bulk.Transfer:
    """Return the transfer with times and waits of the kernel's queue; the first packet of data there is the first in the device."""
    waits = kernel_router.waits(rows)
    first = found.time_s[found.length > kernel_router.DATA][0]
    time = first + (waits.left_ns - waits.left_ns[0]) / 1e9
    within = time < seconds
    result = found.result | {"kernel_dropped": waits.lost}
    return bulk.Transfer(result, time[within], waits.waited_ns[within] / 1e6, waits.length[within], found.goodput_bps)
