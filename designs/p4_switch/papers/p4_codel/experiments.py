"""The runs: senders in front of a bottleneck of 2,000 packets a second, whose queue is managed in one of several ways."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.p4_switch.papers.p4_codel.stated import FRAME, PACKETS, ROUND_TRIP_US, TARGET_MS
from penstock.engine.result import Departures, failures
from penstock.engine.run import Request, RunError, prepare, simulate
from penstock.paths import ROOT

SCENARIOS = Path("scenarios/paper/p4_codel")
ENGINE = "model"
P4_HEADERS = {"dst_mac": "02:00:00:00:00:10", "src_mac": "02:00:00:00:01:01", "src": "10.0.1.1", "dst": "10.0.3.1"}
FULL = ("tail_drop_packets", "tail_drop_bytes")  # drops that no AQM has decided


@dataclass(frozen=True)
class Senders:
    """Who sends: TCP connections, or (`flows` 0) a steady source that answers to nothing, of `load` times the link's rate."""

    name: str
    words: str
    flows: int = 0
    load: float = 0.0


SENDERS = (
    Senders("1 TCP", "one TCP connection", 1),
    Senders("4 TCP", "4 TCP connections", 4),
    Senders("16 TCP", "16 TCP connections", 16),
    Senders("UDP 1.1", "unresponsive, 1.1 times the rate", load=1.1),
)


@dataclass(frozen=True)
class Setting:
    """The bottleneck: packets of 1,514 byte in a second, round trip without it, what the program's clock shows at the beginning."""

    packets: float = PACKETS
    round_trip_us: int = ROUND_TRIP_US
    clock_start_us: int = 0


@dataclass(frozen=True)
class System:
    """A way to manage the queue: a scenario, what is changed in it, and the input and headers that its program wants."""

    name: str
    words: str
    scenario: str
    settings: tuple[str, ...] = ()
    input: int = 0
    headers: dict[str, str] = field(default_factory=lambda: dict(P4_HEADERS))

    @property
    def p4(self) -> bool:
        """Whether it is a P4 program."""
        return self.scenario == "p4_router"


def _aqm(action: str, *data: int) -> str:
    return "tables.defaults=" + json.dumps([{"table": "aqm", "action": action, "data": list(data)}])


_TARGET_US = round(1000 * TARGET_MS)
TAIL_DROP = System("tail_drop", "tail drop", "p4_router", (_aqm("none"),))
P4_CODEL = System("p4_codel", "P4-CoDel, drops charged", "p4_router", (_aqm("codel", _TARGET_US),))
P4_FREE = System("p4_free", "P4-CoDel, drops free", "p4_router", (_aqm("codel", _TARGET_US), "device.egress_drops=free"))
P4_INGRESS = System("p4_ingress", "P4-CoDel, drops in ingress", "p4_router", (_aqm("codel_ingress", _TARGET_US),))
RTL_CODEL = System("rtl_codel", "RTL-CoDel", "access_edge")
SYSTEMS = (TAIL_DROP, P4_CODEL, P4_INGRESS, RTL_CODEL)


@dataclass(frozen=True)
class Run:
    """What left: when the transmission of each packet began, in s, in order, and how long it had waited, in ms; what was dropped."""

    time_s: NDArray[np.float64]
    delay_ms: NDArray[np.float64]
    seconds: float
    dropped: int  # by the AQM
    full: int  # because the queue was full


def settings(system: System, senders: Senders | None, setting: Setting, seconds: float) -> tuple[str, ...]:
    """Return what is changed in a system's scenario, as KEY=VALUE."""
    bps = round(8 * FRAME * setting.packets)
    rate = "link.egress" if system.p4 else "queues.bottleneck.rate"
    changed = [*system.settings, f"{rate}={bps} bit/s", f"duration={round(1e6 * seconds)} us"]
    if system.p4:
        changed.append("report.after=0 s")  # what counts is chosen here
    if system.p4 and setting.clock_start_us:
        changed.append(f"device.clock_start_us={setting.clock_start_us}")
    if senders is not None:
        changed.append("traffic=" + json.dumps([_traffic(system, senders, setting)]))
    return tuple(changed)


def _traffic(system: System, senders: Senders, setting: Setting) -> dict[str, Any]:
    where: dict[str, Any] = {} if system.p4 else {"queues": "bottleneck"}
    if senders.flows:
        tcp = {
            "flows": senders.flows,
            "algorithm": "cubic_linux",
            "rtt": f"{setting.round_trip_us} us",
            "min_rto": "200 ms",
            "hystart": True,
        }
        entry: dict[str, Any] = {"tcp": where | tcp}
    else:
        bps = round(senders.load * setting.packets * 8 * FRAME)
        entry = {"constant": where | {"rate": f"{bps} bit/s", "size": FRAME}}
    return {"name": "senders", **({"inputs": system.input} if system.p4 else {}), "headers": system.headers, **entry}


def run(system: System, senders: Senders, seed: int, seconds: float, setting: Setting, doing: str) -> Run:
    """Run a system's scenario. Raises UserError, RunError, and KeyboardInterrupt when interrupted."""
    path = ROOT / SCENARIOS / f"{system.scenario}.yaml"
    prepared = prepare(Request(path, list(settings(system, senders, setting, seconds)), seed, engine=ENGINE))
    raw = simulate(prepared.plan.job, prepared.config, path, doing)
    result = prepared.summary(raw)
    if failed := failures(result):
        raise RunError(f"{doing}: {' '.join(failed)}")
    if result["interrupted"]:  # part of an experiment is none
        raise KeyboardInterrupt
    left, cycle_s = Departures.of(raw), 1 / result["clock_hz"]
    dropped = result["packets"]["dropped"]
    full = sum(dropped.get(reason, 0) for reason in FULL)
    return Run(left.cycle * cycle_s, left.latency * cycle_s * 1e3, seconds, sum(dropped.values()) - full, full)


def measured(found: Run, after: float, until: float | None = None) -> dict[str, float | None]:
    """Return what the packets show whose transmission began from `after` to `until`, in s; None where there are none."""
    until = found.seconds if until is None else until
    within = (found.time_s >= after) & (found.time_s < until)
    time, delay = found.time_s[within], found.delay_ms[within]
    rate = len(delay) / (until - after)
    if not len(delay):
        keys = ("mean_ms", "p50_ms", "p95_ms", "p99_ms", "longest_ms", "below_target_percent", "longest_above_s")
        return {**dict.fromkeys(keys), "packets_per_second": rate}
    p50, p95, p99 = np.percentile(delay, (50, 95, 99), method="inverted_cdf")
    return {
        "mean_ms": float(delay.mean()),
        "p50_ms": float(p50),
        "p95_ms": float(p95),
        "p99_ms": float(p99),
        "longest_ms": float(delay.max()),
        "below_target_percent": 100 * float((delay < TARGET_MS).mean()),
        "longest_above_s": longest_above(time, delay, after, until),
        "packets_per_second": rate,
    }


def longest_above(time_s: NDArray[np.float64], delay_ms: NDArray[np.float64], after: float, until: float) -> float:
    """Return the longest time from `after` to `until` in which no packet left that had waited less than the target."""
    edges = np.concatenate([[after], time_s[delay_ms < TARGET_MS], [until]])
    return float(np.diff(edges).max())


def burst(found: Run, within_s: float = 1.0) -> dict[str, float | None]:
    """Return the longest delay of the beginning, and when the delay was first below the target after that."""
    early = found.time_s < within_s
    if not early.any():
        return {"burst_ms": None, "burst_over_s": None}
    peak = int(found.delay_ms[early].argmax())
    below = found.time_s[peak:][found.delay_ms[peak:] < TARGET_MS]
    return {"burst_ms": float(found.delay_ms[peak]), "burst_over_s": float(below[0]) if len(below) else None}


def over_time(found: Run, width_s: float) -> dict[str, list[float | None]]:
    """Return mean delay and throughput of each `width_s`."""
    bins = round(found.seconds / width_s)
    place = np.minimum((found.time_s / width_s).astype(np.int64), bins - 1)
    count = np.bincount(place, minlength=bins)
    total = np.bincount(place, weights=found.delay_ms, minlength=bins)
    return {
        "time_s": [round((number + 0.5) * width_s, 6) for number in range(bins)],
        "delay_ms": [round(float(sum_) / int(n), 4) if n else None for sum_, n in zip(total, count, strict=True)],
        "packets_per_second": [round(int(n) / width_s, 3) for n in count],
    }


def least_throughput(found: Run, after: float, width_s: float = 0.1) -> float:
    """Return the packets per second in the emptiest `width_s` from `after` on."""
    rates = over_time(found, width_s)["packets_per_second"]
    return float(min(rate for number, rate in enumerate(rates) if rate is not None and number * width_s >= after - 1e-9))


def distribution(found: Run, after: float, points: int = 200) -> dict[str, list[float]]:
    """Return the delays that shares of the packets from `after` on do not exceed."""
    delays = np.sort(found.delay_ms[found.time_s >= after])
    if not len(delays):
        return {"delay_ms": [], "share": []}
    shares = np.unique(np.concatenate([np.linspace(0, 1, points + 1), 1 - np.logspace(-2, -4, 9)]))
    ranks = np.maximum(np.ceil(shares * len(delays)).astype(np.int64), 1) - 1
    return {"delay_ms": [round(float(delays[rank]), 4) for rank in ranks], "share": [round(float(share), 6) for share in shares]}
