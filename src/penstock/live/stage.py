"""A live run from scenario to result folder: what happens before and in the namespaces."""

import contextlib
import ipaddress
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from penstock.basics.growing import growing
from penstock.command_line.console import console, spinner, working
from penstock.engine.run import Prepared, Request, RunError, prepare, write_json
from penstock.errors import UserError
from penstock.live import apart, hosts, result, uplink, view
from penstock.live.hosts import Host

INTERRUPTED = 130
CALM_SECONDS = 1.0  # after a signal: a terminal, and the processes above, say it several times
END_SECONDS = 5.0  # that programs get to end by themselves, after the run's duration
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


def carry_out(live: Live) -> int:
    """Carry a live run out and return its exit status. Raises UserError, ToolError, RunError."""
    apart.need()
    run = prepare(live.request, live=True)
    applications = _applications(run)
    place = _place(run, live)
    with spinner() as report:
        from penstock.engine import engine
        from penstock.hardware import verilate

        engine.build(report)
        if "model" not in run.plan.job["device"]:
            run.plan.job["device"]["library"] = str(verilate.build_device(run.config, report))
    with contextlib.ExitStack() as stack:
        up = _uplink(run, live, stack)
        return apart.run(lambda: _said(lambda: _inside(live, run, applications, place, up)))


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
    router = run.described.network.ends[first["from"]]
    address = next((one for one in router.addresses if one.version == 4), None)
    if address is None:
        raise UserError(f"--uplink {live.uplink}: needs an IPv4 address of {router.name}, the host behind which the others get out")
    way = _Way(uplink.Uplink(live.uplink), first["from"], address.network)
    stack.enter_context(way.uplink.on())
    return way


def _applications(run: Prepared) -> list[Any]:
    """Return what runs on the hosts. Raises UserError for what this machine lacks."""
    from penstock.live import applications

    made: list[Any] = applications.make(run.described, run.document)
    for application in made:
        application.need()
    return made


def _place(run: Prepared, live: Live) -> int:
    """Return the host on which the command runs."""
    names = [end.name for end in run.described.network.ends]
    if live.at is not None:
        if live.at not in names:
            raise UserError(f"--at {live.at}: there is no such host, allowed: {', '.join(names)}")
        return names.index(live.at)
    source = next(source for source in run.plan.job["sources"] if source["kind"] == "wire")
    return int(source["to"] if source["to"] is not None else source["from"])


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
    except OSError as error:
        print(f"penstock: {error.filename or 'the network'}: {error.strerror or error}", file=sys.stderr)
        return 1


def _inside(live: Live, run: Prepared, applications: Sequence[Any], place: int, way: _Way | None) -> int:
    from penstock.engine.result import failures
    from penstock.reports import report

    made = hosts.make(run.described.network)
    if way is not None:
        way.uplink.connect(made[way.router].space, way.inside)
        hosts.lead_out(made, run.described.network, way.router)
    out = live.request.out or Path("results") / run.name
    with growing(out) as grown:
        raw, told = _run(live, run, made, applications, place, grown)
        with working("Writing the result"):
            found = result.own(run.summary(raw), raw, run, told)
            result.write_departures(grown / "departures.npz", raw, run.config.clock_hz)
            series = run.design.plot_data(raw, run.config, run.plan) | result.series(told)
            report.write_series(grown / "series.npz", series)
            report.write_html(grown / "report.html", found, series)
            write_json(grown / "result.json", found)
    if live.json_output:
        print(json.dumps(found, allow_nan=False), flush=True)
    else:
        live.show(found, out)
    for sentence in failures(found):
        console().print(f"FAILED: {sentence}", style="bold red", markup=False)
    return 1 if failures(found) else INTERRUPTED if raw["interrupted"] and raw["wire"]["unplugged"] is None else 0


def _run(
    live: Live, run: Prepared, made: Sequence[Host], applications: Sequence[Any], place: int, folder: Path
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run device and programs; return the engine's result and what the applications tell."""
    from penstock.engine import engine

    job = run.plan.job
    job["wire"]["files"] = [host.file for host in made]
    by_name = {host.name: host for host in made}
    programs = _Programs(applications, by_name, folder)
    end = int(job["duration_cycles"])  # programs say their results to each other over the network, so that goes on for a while
    if applications or live.command:
        job["duration_cycles"] += int((USUAL_SECONDS if live.command else END_SECONDS) * run.config.clock_hz)
    by_itself = False
    with _stop_on_signal() as stopped, view.shown(run, applications, quiet=bool(live.command)) as show:
        command = _Command(live.command, made[place], sys.stderr if live.json_output else None) if live.command else None

        def progress(now: dict[str, Any]) -> bool:
            nonlocal by_itself
            if now["phase"] != "run":
                return not stopped()
            programs.start(int(now["wire"]["begin_ns"]))
            if now["cycles"] >= end:
                programs.end()
            by_itself = not command.goes_on() if command is not None else now["cycles"] >= end and programs.ended()
            show(now)
            return not (stopped() or by_itself)

        try:
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
    return raw, told


class _Programs:
    """The applications of a scenario on their hosts."""

    def __init__(self, applications: Sequence[Any], by_name: Mapping[str, Host], folder: Path) -> None:
        self._applications, self._hosts, self._folder = applications, by_name, folder
        self._started = False
        self._told: list[dict[str, Any]] = []
        self._ending: threading.Thread | None = None

    def start(self, begin_ns: int) -> None:
        """Start them, once."""
        if self._started:
            return
        self._started = True
        for application in self._applications:
            application.start(self._hosts, begin_ns, self._folder)

    def end(self) -> None:
        """Begin to end them, once, while the network goes on."""
        if self._ending is None and self._started:
            self._ending = threading.Thread(target=self._end)
            self._ending.start()

    def _end(self) -> None:
        deadline = time.monotonic_ns() + int(END_SECONDS * 1e9)
        self._told = [application.finish(deadline) for application in self._applications]

    def ended(self) -> bool:
        """Return whether all have ended."""
        return self._ending is not None and not self._ending.is_alive()

    def finish(self) -> list[dict[str, Any]]:
        """End them and return what each tells."""
        self.end()
        if self._ending is not None:
            self._ending.join()
        return self._told


class _Command:
    """The user's own program on a host: it has the terminal, and the run ends with it."""

    def __init__(self, command: Sequence[str], host: Host, stdout: TextIO | None) -> None:
        """`stdout`: where it writes to; None: as this process does. Raises UserError."""
        self._process: subprocess.Popen[bytes] | None = None
        self._refused: OSError | None = None

        def start() -> None:
            host.space.enter()  # of this thread, and of what it starts
            try:
                self._process = subprocess.Popen(list(command), stdout=stdout)
            except OSError as error:
                self._refused = error

        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
        if self._refused is not None:
            raise UserError(f"live: {command[0]}: {self._refused.strerror}, so it cannot run on {host.name}")

    def goes_on(self) -> bool:
        """Return whether it has not ended."""
        assert self._process is not None
        return self._process.poll() is None

    def end(self) -> None:
        """End it, where it has not ended by itself."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)
            self._process.kill()
            self._process.wait()


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
