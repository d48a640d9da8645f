"""Figures 4 to 7 with TCP of the kernel (`--live`): the port's RTL in real time, and FIFOs in its place, at a lower rate.

What comes out is put into the words of a run in ns-3, so that the same figures are made of both.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_findings import Found
from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_runs import (
    FIFO,
    FIFO_MS,
    FIFOS,
    PORT,
    SECOND_FIXED_MS,
    Case,
    Length,
    Place,
    Run,
)
from penstock.live import bulk
from penstock.live.played import Played, play
from penstock.paths import ROOT

SCENARIOS = Path("scenarios/paper/edfr_skip_fifo")
RATE = 24_000_000  # of the line
FRAME, LINE_FRAME = 1514, 1538  # bytes of a full frame, and of the line for it
HEADER = 14  # of a frame, before IP
CHUNK_BEATS = 8  # of the FIFO's memory; one of them has the headers of frames
LIVE = Place(RATE, f"CUBIC of this machine's kernel at {RATE / 1e6:g} Mbit/s")
TRIAL = Length(4, 1, 1)  # in which the RTL shows whether it keeps real time

# Of the scenarios: their names, and what holds a FIFO (ms of the line).
PLAYED = {"long": ("live_long", FIFO_MS), "http": ("live_web", FIFO_MS), "second": ("live_second", SECOND_FIXED_MS)}
TWO_FIFOS = "live_two_fifos"  # of `long`: another device
LEFT_MS, RIGHT_MS = (0, 12, 25), (2, 37, 75)
LINKS_MS = [2.0 * (a + b) for a in LEFT_MS for b in RIGHT_MS]  # of the nine pairs, both ways


def settings(case: Case, length: Length) -> list[str]:
    """Return what is changed in the case's scenario."""
    if case.scheduler == FIFOS:
        limits = (f"queues.{name}.limit_bytes={round(_fifo_bytes(FIFO_MS))}" for name in NAMES)
        return [f"duration={length.seconds:g} s", *limits]
    said = [
        f"duration={length.seconds:g} s",
        *(f"classes.{name}.deadline={ms:g} ms" for name, ms in zip(NAMES, case.deadlines, strict=True)),
    ]
    if case.scheduler == FIFO:
        _, holds_ms = PLAYED[case.experiment]
        said += ["device.config=live_fifo_4", f"memory_limit={round(_fifo_bytes(holds_ms) * CHUNK_BEATS / (CHUNK_BEATS - 1))} B"]
    if case.experiment == "second":
        said.append(f"applications.second.start={length.begins:g} s")
    return said


NAMES = ("first", "second")


def scenario(case: Case) -> Path:
    """Return the scenario that is played."""
    name = TWO_FIFOS if case.scheduler == FIFOS else PLAYED[case.experiment][0]
    return ROOT / SCENARIOS / f"{name}.yaml"


def _fifo_bytes(holds_ms: float) -> float:
    """Return the bytes of frames that the line carries in so many ms."""
    return RATE / 8e3 * holds_ms * FRAME / LINE_FRAME


def run_all(cases: Sequence[Case], length: Length, seed: int) -> list[list[Run]]:
    """Return the runs of each case, one after the other in real time. Raises UserError, ToolError, RunError, KeyboardInterrupt.

    The RTL plays; once it has not kept real time, in its trial or in a case, the model does, which is equal to it in every cycle. The
    device of the two FIFOs is another one, so what it does not keep the port may.
    """
    first = "rtl"
    found: list[list[Run]] = []
    if not _kept(_play(Case("long", PORT), TRIAL, seed, first)[1]):
        first = _goes_on()
    engines: dict[bool, str] = {}
    for case in cases:
        other = case.scheduler == FIFOS
        found.append([])
        while len(found[-1]) < length.runs:
            engine = engines.get(other, first)
            played, clock = _play(case, length, seed + len(found[-1]), engine)
            if engine == "rtl" and not _kept(clock):
                engines[other] = _goes_on()
            else:
                found[-1].append(told(played, case, length, clock))
    return found


def _play(case: Case, length: Length, seed: int, engine: str) -> tuple[Played, dict[str, Any]]:
    from penstock.command_line.console import console

    console().print(f"{case.words}, {engine}", style="bold", markup=False)
    played = play(scenario(case), settings(case, length), engine, seed)
    return played, clock_of(played.result, length.seconds, engine)


def _kept(clock: dict[str, Any]) -> bool:
    return bool(clock["stood_still"] <= bulk.STILL_SHARE)


def _goes_on() -> str:
    from penstock.command_line.console import console

    console().print("The RTL has not kept real time on this machine, so its model goes on.", markup=False)
    return "model"


def clock_of(result: dict[str, Any], seconds: float, engine: str) -> dict[str, Any]:
    """Return how far a run was from real time."""
    return {
        "engine": engine,
        "behind_p99_ms": result["behind_real_time_ms"]["p99"],
        "late_p99_ms": result["let_go_late_ms"]["p99"],
        "stood_still": round(result["stood_still_ms"] / (1e3 * seconds), 4),
        "failed": [f"{one['name']}: {one['error']}" for one in result["applications"] if one["error"] and not one["throughput_bps"]],
    }


def told(played: Played, case: Case, length: Length, clock: dict[str, Any]) -> Run:
    """Return a live run as one in ns-3 is told."""
    run = Run(length.begins, clock=clock)
    left, wholes = played.left, range(1, int(length.seconds) + 1)
    second = np.ceil(left["time_s"]).astype(int)
    for own in range(2):
        mine = left["queue"] == own
        sent = np.bincount(second[mine], minlength=len(wholes) + 2)
        bytes_ = np.bincount(second[mine], weights=left["length"][mine] - HEADER, minlength=len(wholes) + 2)
        dropped = _dropped(played.series, own, len(wholes) + 2)
        run.port[own] = [(float(s), int(sent[s] + dropped[s]), 0, int(sent[s]), int(bytes_[s]), int(dropped[s]), 0) for s in wholes]
        # Of the whole run, as the port's slack is; where nothing was sent, nothing has waited.
        if case.scheduler == PORT:  # from the first beat at its input; a burst waits for the input, too
            slack_ns = played.result["classes"][own]["least_slack_ns"]
            run.longest_ms[own] = 0.0 if slack_ns is None else case.deadlines[own] - slack_ns / 1e6
        else:
            waits = left["sojourn_ms"][mine & (left["time_s"] <= length.seconds)]
            run.longest_ms[own] = float(waits.max()) if len(waits) else 0.0
    applications = played.result["applications"]
    for flow, one in enumerate(applications):
        over = one.get("over_time") or {}
        run.delivered[flow] = []
        if case.experiment == "long":
            run.rtt[flow] = [(time, delay, LINKS_MS[flow % len(LINKS_MS)]) for time, delay in each_second(over)]
        elif case.experiment == "second" and over:
            run.grown[flow] = growth(over, one["start_s"], length.megabytes * 1e6)
    if case.experiment == "http":
        for own, name in enumerate(NAMES):
            loads = [ms for one in applications if one["name"].startswith(name) for at, ms in one.get("loads", ()) if at > length.begins]
            run.pages[own] = (len(loads), 0, sum(loads) / 1e3)
    return run


def _dropped(series: dict[str, Any], own: int, points: int) -> Any:
    """Return the packets of a class dropped in each second, by its number: 1 is the first."""
    if "drops_of" not in series or not len(series["drops_of"]):
        return np.zeros(points, dtype=int)
    drops = series["drops_of"][:, list(series["queues"]).index(own)]
    ends = (np.arange(len(drops)) + 1) * float(series["interval_ns"]) / 1e9
    return np.bincount(np.ceil(ends - 1e-6).astype(int), weights=drops, minlength=points).astype(int)


def each_second(over: dict[str, Any]) -> list[tuple[float, float]]:
    """Return a flow's smoothed round trip at each whole second."""
    found, due = [], 1.0
    for time, delay in zip(over.get("time_s", ()), over.get("delay_ms", ()), strict=False):
        if time >= due:
            due = np.floor(time) + 1
            if delay is not None:
                found.append((float(time), float(delay)))
    return found


def growth(over: dict[str, Any], start_s: float, whole: float) -> list[tuple[int, float]]:
    """Return when each sixtieth of the bytes had been delivered, in s from the connection's start; those that were not are left out."""
    times = np.array([start_s, *over["time_s"]], dtype=np.float64) - start_s
    bytes_ = np.concatenate([[0.0], np.cumsum(np.diff(times) * np.array(over["throughput_bps"], dtype=np.float64) / 8)])
    steps = np.linspace(whole / 60, whole, 60)
    return [(round(step), round(float(np.interp(step, bytes_, times)), 6)) for step in steps if step <= bytes_[-1]]


def words(found: Found) -> list[tuple[str, str]]:
    """Say which engine played, and what this machine has made of it; nothing of runs in ns-3."""
    clocks = [(case["words"], clock) for case in found["cases"] for clock in case["clocks"]]
    if not clocks:
        return []
    model = list(dict.fromkeys(name for name, clock in clocks if clock["engine"] != "rtl"))
    busy = "The machine was too busy for the RTL, so "
    if len(model) == len(found["cases"]):
        said = [f"{busy}the port's model, which is equal to it in every cycle, has played in real time."]
    else:
        said = ["On the RTL in real time." + (f" {busy}{', '.join(model)} are on its model." if model else "")]
    kept = [clock for _, clock in clocks if _kept(clock)]
    if kept:
        behind, late = (max(clock[key] for clock in kept) for key in ("behind_p99_ms", "late_p99_ms"))
        said.append(f"At 99 % of the time the device was at most {behind:.1f} ms behind, and frames were let go {late:.1f} ms late.")
    said += [f"{name}, {failed}." for name, clock in clocks for failed in clock["failed"]]
    said += [
        f"{name}: the device stood still for {100 * clock['stood_still']:.0f} % of the time, so these figures are this machine's."
        for name, clock in clocks
        if not _kept(clock)
    ]
    return [("This machine", " ".join(said))]
