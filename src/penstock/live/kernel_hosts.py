"""Hosts of a live run whose interface has a queue of the Linux kernel's: routers, for comparisons with it.

Where this machine's kernel has the queue, it is that kernel's. Where it has not, a kernel of its own (`kernel_uml`) takes the host's place.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from penstock.engine.run import RunError
from penstock.errors import UserError
from penstock.live import kernel_router, kernel_uml
from penstock.live.hosts import INTERFACE, Host
from penstock.live.programs import start_on
from penstock.paths import PACKAGE
from penstock.scenarios.network import End

BURST = 3000  # bytes that the kernel's token bucket lets through at once, as the queues of a device here
LATE_SECONDS = 0.005  # that a kernel which is a process may be late
START_SECONDS = 90.0  # that a kernel may take to come up
LOOK_SECONDS = 0.05


def missing(queue: str) -> str | None:
    """Return why there is no such queue (in tc's words) of a Linux kernel, in words."""
    kind = queue.split()[0]
    own = _missing_here(queue)
    if own is None or (other := kernel_uml.missing(kind)) is None:
        return None
    return f"{own}, and {other}"


def words(queue: str) -> str:
    """Say whose queue it is."""
    kind = queue.split()[0]
    return f"{kind} of this machine's kernel" if _missing_here(queue) is None else f"{kind} of Linux {kernel_uml.release()}"


def _missing_here(queue: str) -> str | None:
    """Return why this machine's kernel has no such queue; tried in a namespace that ends at once."""
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


def need(ends: Sequence[End]) -> None:
    """Raise UserError where a queue that is asked for cannot be had."""
    for end in ends:
        if end.kernel_queue is None:
            continue
        if why := missing(end.kernel_queue.queue):
            raise UserError(f"live: {end.name} has no `kernel_queue` here: {why}")
        if end.mtu > kernel_uml.LONGEST:
            raise UserError(
                f"live: {end.name} has a `kernel_queue`, with which its mtu can be at most {kernel_uml.LONGEST:,}, not {end.mtu:,}"
            )


@dataclass
class Router:
    """A host with such a queue, at work."""

    name: str
    words: str
    queue: str
    process: "subprocess.Popen[bytes]"
    rows: Path
    log: Path
    folder: "tempfile.TemporaryDirectory[str]"


def commands(rate_bps: int | None, queue: str, burst: int = BURST) -> str:
    """Return what tc is told: the queue alone, or behind a token bucket with a rate."""
    if rate_bps is None:
        return f"qdisc replace dev {INTERFACE} root {queue}"
    return (
        f"qdisc replace dev {INTERFACE} root handle 1: tbf rate {rate_bps}bit burst {burst} limit 100000000;"
        f"qdisc replace dev {INTERFACE} parent 1: handle 10: {queue}"
    )


def start(hosts: Sequence[Host], ends: Sequence[End], folder: Path) -> list[Router]:
    """Start all of them, and wait until they forward. What they say goes to files in `folder`. Raises RunError."""
    routers = [_started(host, end, folder) for host, end in zip(hosts, ends, strict=True) if end.kernel_queue is not None]
    deadline = time.monotonic() + START_SECONDS
    for router in routers:
        while not router.rows.exists():
            if router.process.poll() is not None or time.monotonic() > deadline:
                said = router.log.read_text(errors="replace").strip().splitlines()
                raise RunError(f"{router.name}: {router.words} has not come up: {said[-1] if said else 'it has said nothing'}")
            time.sleep(LOOK_SECONDS)
    return routers


def _started(host: Host, end: End, folder: Path) -> Router:
    given = end.kernel_queue
    assert given is not None
    place = tempfile.TemporaryDirectory(prefix="penstock-kernel-", dir=kernel_uml.place())
    rows, log = Path(place.name) / "rows", folder / f"{host.name}_kernel.log"
    if _missing_here(given.queue) is None:
        told = commands(given.rate, given.queue)
        command: Sequence[str] = [sys.executable, "-P", "-m", "penstock.live.kernel_router", INTERFACE, str(rows), told]
        command = ["env", f"PYTHONPATH={PACKAGE.parent}", *command]
    else:
        told = commands(given.rate, given.queue, max(BURST, round((given.rate or 0) * LATE_SECONDS / 8)))
        command = kernel_uml.take_over(host, end, told, rows, Path(place.name))
    with log.open("w") as file:
        process = start_on(host, command, file, both=True)
    return Router(host.name, words(given.queue), given.queue, process, rows, log, place)


def finish(routers: Sequence[Router], folder: Path) -> dict[str, Any]:
    """End them; write the waits of each as `kernel_NAME.npz`, and return what is said of each by its name."""
    from penstock.engine.result import distribution

    told = {}
    for router in routers:
        router.process.kill()
        router.process.wait()
        found = kernel_router.waits(np.fromfile(router.rows, dtype=kernel_router.ROW))
        with (folder / f"kernel_{router.name}.npz").open("wb") as file:
            np.savez_compressed(file, left_ns=found.left_ns, waited_ns=found.waited_ns, length=found.length, lost=np.array(found.lost))
        told[router.name] = {
            "words": router.words,
            "queue": router.queue,
            "packets": len(found.left_ns),
            "bytes": int(found.length.sum()),
            "lost": found.lost,
            "sojourn_ms": distribution(found.waited_ns / 1e6),
        }
        router.folder.cleanup()
    return told


def of_folder(folder: Path, name: str) -> kernel_router.Waits | None:
    """Return the waits that a run has written of a host; None where it has none."""
    path = folder / f"kernel_{name}.npz"
    if not path.exists():
        return None
    with np.load(path) as kept:
        return kernel_router.Waits(kept["left_ns"], kept["waited_ns"], kept["length"], int(kept["lost"]))


def rows_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the distributions of waits by the host's name."""
    return {name: one["sojourn_ms"] for name, one in result.get("kernel_queues", {}).items()}
