"""Bulk transfers through a queue of the Linux kernel instead of a device's, for papers that compare with it.

server -- delay -- router with the queue on its only interface -- device that holds nothing back -- client, and back by a delay.
"""

import json
from dataclasses import replace
from pathlib import Path

from penstock.live import bulk, kernel_hosts, kernel_router
from penstock.paths import ROOT

SCENARIO = Path("scenarios/paper/massive_qos_queueing/kernel_queue.yaml")
CODEL = "codel limit 1000 target 5ms interval 100ms noecn"


def missing(queue: str = CODEL) -> str | None:
    """Return why there is no such queue, in words."""
    return kernel_hosts.missing(queue)


def run(queue: str, rate_bps: int, round_trip_us: int, seed: int, flows: int, algorithm: str, seconds: float) -> bulk.Transfer:
    """Send through `queue`, in tc's words, at a rate. Sojourn times are the kernel's own. Raises what `bulk.run` does."""
    settings = [
        f"duration={round(1e6 * seconds)} us",
        f"network.ends.router.kernel_queue={json.dumps({'queue': queue, 'rate': f'{rate_bps} bit/s'})}",
        f"network.past.0.delay={round_trip_us * 500:g} ns",
        f"network.past.1.delay={round_trip_us * 500:g} ns",
    ]
    found = bulk.run(ROOT / SCENARIO, settings, "model", seed, flows, algorithm, seconds, server="server")
    assert found.kernel is not None
    return seen(found, found.kernel, seconds)


def seen(found: bulk.Transfer, waits: kernel_router.Waits, seconds: float) -> bulk.Transfer:
    """Return the transfer with times and waits of the kernel's queue; the first packet of data there is the first in the device."""
    first = found.time_s[found.length > kernel_router.DATA][0]
    time = first + (waits.left_ns - waits.left_ns[0]) / 1e9
    within = time < seconds
    result = found.result | {"kernel_dropped": waits.lost}
    return replace(found, result=result, time_s=time[within], sojourn_ms=waits.waited_ns[within] / 1e6, length=waits.length[within])
