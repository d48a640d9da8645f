"""Bulk transfers by iperf3 through a live scenario, for figures of papers: every frame that left, with its time in the device.

The scenario has an iperf3 server (`services`) on the host from which the first live traffic comes, or another one that is named; the client
is started where that traffic goes.
"""

import json
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.engine.result import failures
from penstock.engine.run import Request, RunError, prepare
from penstock.errors import UserError
from penstock.live import kernel_hosts, kernel_router, stage

START_SECONDS = 0.5  # until the server listens
END_SECONDS = 1.0  # of the run, after the transfer
STILL_SHARE = 0.01  # of a run, that the device may stand still while its figures are still those of the queue


@dataclass(frozen=True)
class Transfer:
    """What came out: `result.json`, and of each frame of the transfer's direction when it left (s from its beginning) and its sojourn."""

    result: dict[str, Any]
    time_s: NDArray[np.float64]
    sojourn_ms: NDArray[np.float64]
    length: NDArray[np.int64]
    goodput_bps: float  # of all connections, as the receiver saw it
    kernel: kernel_router.Waits | None = None  # of the server's way, where a router has a queue of the kernel's


def need() -> None:
    """Raise UserError where iperf3 is missing."""
    if shutil.which("iperf3") is None:
        raise UserError("live: iperf3 is not on the PATH: on Debian or Ubuntu `apt-get install iperf3`")


def run(
    scenario: Path,
    settings: list[str],
    engine: str | None,
    seed: int,
    flows: int,
    algorithm: str,
    seconds: float,
    server: str | None = None,
) -> Transfer:
    """Send with so many connections for so long. Raises UserError, ToolError, RunError, and KeyboardInterrupt when interrupted."""
    need()
    request = Request(scenario, settings, seed, engine=engine)
    checked = prepare(request, live=True)
    first = next(source for source in checked.plan.job["sources"] if source["kind"] == "wire")
    ends = checked.network.ends
    sends = next(end for number, end in enumerate(ends) if (end.name == server if server else number == first["from"]))
    address = sends.addresses[0].ip
    with tempfile.TemporaryDirectory(prefix="penstock-live-") as name:
        folder = Path(name)
        said = folder / "iperf.json"
        request.out = folder / "out"
        client = f"iperf3 -c {address} -R -C {algorithm} -P {flows} -t {seconds:g} -J > {shlex.quote(str(said))} 2>&1"
        command = ("sh", "-c", f"sleep {START_SECONDS}; {client}; sleep {END_SECONDS}")
        status = stage.carry_out(stage.Live(request, command))
        if status == stage.INTERRUPTED:
            raise KeyboardInterrupt
        if status:
            raise RunError(f"{scenario.name}: the live run ended with status {status}")
        result = json.loads((request.out / "result.json").read_text())
        left = dict(np.load(request.out / "departures.npz"))
        told = json.loads(said.read_text())
        kernel = kernel_hosts.of_folder(request.out, ends[first["from"]].name)
    if failed := failures(result):
        raise RunError(f"{scenario.name}: {' '.join(failed)}")
    if "error" in told:
        raise RunError(f"{scenario.name}: iperf3: {told['error']}")
    mine = np.isin(left["queue"], _queues(checked))
    time = left["time_s"][mine] - START_SECONDS
    within = (time >= 0) & (time < seconds)
    goodput = float(told["end"]["sum_received"]["bits_per_second"])
    return Transfer(result, time[within], left["sojourn_ms"][mine][within].astype(float), left["length"][mine][within], goodput, kernel)


def _queues(run: Any) -> list[int]:
    """Return the queues of the first live traffic."""
    source = next(source for source in run.plan.job["sources"] if source["kind"] == "wire")
    return [int(queue) for queue in source["queues"]]
