"""A live run from scenario to result folder: what happens before and in the namespaces."""

import contextlib
import ipaddress
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from penstock.basics.units import PS_PER_SECOND
from penstock.command_line.console import console, spinner, working
from penstock.engine.run import Prepared, Request, RunError, growing_result, output_pcap, prepare, write_json
from penstock.errors import UserError
from penstock.live import apart, hosts, kernel_hosts, real_time, result, rounds, uplink, view
from penstock.live.hosts import Host
from penstock.live.programs import END_SECONDS, Command, Programs, serve
from penstock.scenarios.network import Round

INTERRUPTED = 130
LEAD_SECONDS = 2.0  # that programs have to start
CALM_SECONDS = 1.0  # after a signal: a terminal, and the processes above, say it several times
USUAL_SECONDS = 12 * 3600  # at most, of a run that a command ends


@dataclass
class Live:
    """What was asked for on the command line."""

    request: Request
    command: Sequence[str] = ()  # that runs on a host
    at: str | None = None  # that host
    uplink: str | None = None  # interface of this machine through which hosts get out
    json_output: bool = False
    show: Callable[[dict[str, Any], Path], None] = field(default=lambda result, folder: None)  # for people, of the result and its folder
    keep_stdout: bool = False  # it is for JSON alone: what a command says goes to standard error


@dataclass(frozen=True)
class _Turn:
    """A run that is ready to begin."""

    live: Live
    run: Prepared
    applications: list[Any]
    place: int  # of the command
    out: Path  # the result's folder


def carry_out(live: Live) -> int:
    """Carry a live run out, or all rounds of its scenario, and return the exit status. Raises UserError, ToolError, RunError."""
    apart.need()
    first = _turn(live)
    given: Sequence[Round] = first.run.described.rounds
    if not given:
        _build([first])
        return _take(first)
    turns = [_turn(rounds.of(live, one, first.out)) for one in given]
    _build(turns)
    for one, turn in zip(given, turns, strict=True):
        console().print(f"Round: {one.name}", style="bold", markup=False)
        if status := _take(turn):
            return status
    return rounds.compared(first.run, given, first.out, live.json_output)


def _turn(live: Live) -> _Turn:
    """Read and check all of a run. Raises UserError."""
    run = prepare(live.request, live=True)
    out = live.request.out or Path("results") / run.name
    output_pcap(run, out)  # what is wrong with it is said before anything is built
    place = _place(run, live)
    kernel_hosts.need(run.network.ends)
    return _Turn(live, run, _applications(run), place, out)  # these may install programs, so they are last


def _build(turns: Sequence[_Turn]) -> None:
    from penstock.engine import engine
    from penstock.hardware import verilate

    with spinner() as report:
        for turn in turns:
            if "model" not in turn.run.plan.job["device"]:
                turn.run.plan.job["device"]["library"] = str(verilate.build_device(turn.run.config, report))
            engine.prepare(turn.run.plan.job, report)


def _take(turn: _Turn) -> int:
    with contextlib.ExitStack() as stack:
        up = _uplink(turn.run, turn.live, stack)
        return apart.run(lambda: _said(lambda: _inside(turn, up)))


def _applications(run: Prepared) -> list[Any]:
    """Return what runs on the hosts. Raises UserError for what this machine lacks."""
    from penstock.live import applications

    made: list[Any] = applications.make(run.described, run.document)
    for application in made:
        application.need()
    return made


def _place(run: Prepared, live: Live) -> int:
    """Return the host on which the command runs."""
    names = [end.name for end in run.network.ends]
    if live.at is not None:
        if live.at not in names:
            raise UserError(f"--at {live.at}: there is no such host, allowed: {', '.join(names)}")
        return names.index(live.at)
    source = next(source for source in run.plan.job["sources"] if source["kind"] == "wire")
    if source["to"] is not None:
        return int(source["to"])
    return next(number for number in range(len(names)) if number != source["from"])


@dataclass(frozen=True)
class _Way:
    """The way out: by which host, and for which network."""

    uplink: uplink.Uplink
    router: int
    inside: ipaddress.IPv4Network


def _uplink(run: Prepared, live: Live, stack: contextlib.ExitStack) -> _Way | None:
    """Return the way out of the hosts, set up on this machine until `stack` ends. Raises UserError."""
    if live.uplink is None:
        return None
    first = next(source for source in run.plan.job["sources"] if source["kind"] == "wire")
    router = run.network.ends[first["from"]]
    address = next((one for one in router.addresses if one.version == 4), None)
    if address is None:
        raise UserError(f"--uplink {live.uplink}: needs an IPv4 address of {router.name}, the host behind which the others get out")
    way = _Way(uplink.Uplink(live.uplink), first["from"], address.network)
    stack.enter_context(way.uplink.on())
    return way


def _said(work: Callable[[], int]) -> int:
    """Let something run in the process apart: bad input and failures are said there."""
    from penstock.errors import ToolError

    try:
        return work()
    except UserError as error:
        print(f"penstock: {error}", file=sys.stderr)
        return 2
    except RunError as error:
        console().print(f"The run failed. {error}", style="bold red", markup=False)
        return 1
    except ToolError as error:
        print(f"penstock: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # nothing reads the result
        return 1
    except OSError as error:
        print(f"penstock: {error.filename or 'the network'}: {error.strerror or error}", file=sys.stderr)
        return 1


def _inside(turn: _Turn, way: _Way | None) -> int:
    from penstock.engine.result import failures
    from penstock.reports import report

    live, run = turn.live, turn.run
    made = hosts.make(run.network)
    if way is not None:
        way.uplink.connect(made[way.router].space, way.inside)
        hosts.lead_out(made, run.network, way.router)
    with growing_result(run, turn.out) as grown:
        routers = kernel_hosts.start(made, run.network.ends, grown)
        try:
            raw, told = _run(turn, made, grown)
        finally:
            kernels = kernel_hosts.finish(routers, grown)
        with working("Writing the result"):
            found = result.own(run.summary(raw), raw, run, told)
            if kernels:
                found["kernel_queues"] = kernels
            result.write_departures(grown / "departures.npz", raw, run.config.clock_hz)
            series = run.design.plot_data(raw, run.config, run.plan)
            report.write_series(grown / "series.npz", series)
            report.write_html(grown / "report.html", found, series)
            write_json(grown / "result.json", found)
    if live.json_output:
        print(json.dumps(found, allow_nan=False), flush=True)
    else:
        live.show(found, turn.out)
    for sentence in failures(found):
        console().print(f"FAILED: {sentence}", style="bold red", markup=False)
    return 1 if failures(found) else INTERRUPTED if raw["interrupted"] and raw["wire"]["unplugged"] is None else 0


def _run(turn: _Turn, made: Sequence[Host], folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run device and programs; return the engine's result and what the applications tell."""
    from penstock.engine import engine

    live, run, applications = turn.live, turn.run, turn.applications
    job = run.plan.job
    job["wire"]["files"] = [host.file for host in made]
    by_name = {host.name: host for host in made}
    serve(made, run.network.ends, folder)
    programs = Programs(applications, by_name, folder)
    end = int(job["duration_cycles"])  # programs say their results to each other over the network, so that goes on for a while
    if applications or live.command:
        more = int((USUAL_SECONDS if live.command else END_SECONDS) * run.config.clock_hz)
        job["duration_cycles"] += more
        job["max_cycles"] += more
    by_itself = False
    with _stop_on_signal() as stopped, view.shown(run, applications, quiet=bool(live.command)) as seen:
        command = (
            Command(live.command, made[turn.place], sys.stderr if live.json_output or live.keep_stdout else None) if live.command else None
        )

        duration = None if live.command else run.described.duration / PS_PER_SECOND
        keeping = real_time.Keeping(run.name, duration, run.config.clock_hz, "model" in job["device"], seen.say)

        def progress(now: dict[str, Any]) -> bool:
            nonlocal by_itself
            if now["phase"] != "run":
                return not stopped()
            if now["cycles"] >= end:
                programs.end()
            by_itself = not command.goes_on() if command is not None else now["cycles"] >= end and programs.ended()
            keeping.look(now)
            seen.show(now)
            return not (stopped() or by_itself)

        try:
            if applications:  # their programs are there when the clock starts
                job["wire"]["begin_ns"] = time.monotonic_ns() + int(LEAD_SECONDS * 1e9)
                programs.start(job["wire"]["begin_ns"])
            with contextlib.suppress(OSError):  # of this thread alone: it should be on time
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10)
            raw = engine.run(job, progress)
        except ValueError as error:  # what cannot be and only the engine can know
            raise UserError(f"{live.request.scenario}: {error}") from error
        except RuntimeError as error:
            raise RunError(str(error)) from error
        finally:
            told = programs.finish()
            if command is not None:
                command.end()
    if by_itself:
        raw["interrupted"] = False
    raw["wire"]["fell_behind"] = keeping.fell_behind
    return raw, told


@contextlib.contextmanager
def _stop_on_signal() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C (or SIGTERM, SIGHUP) into a flag; a second one, a second later, stops at once."""
    first = 0.0

    def remember(_number: int, _frame: FrameType | None) -> None:
        nonlocal first
        now = time.monotonic()
        if first and now - first > CALM_SECONDS:
            raise KeyboardInterrupt
        first = first or now

    before = {number: signal.signal(number, remember) for number in apart.SIGNALS}
    try:
        yield lambda: first > 0
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
