"""One run from scenario file to result folder."""

import json
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from penstock.basics.growing import growing
from penstock.basics.suggest import nearest
from penstock.basics.units import describe
from penstock.command_line.console import working
from penstock.designs.design import ENGINES, AnyDesign, Configuration, Plan
from penstock.errors import UserError

if TYPE_CHECKING:
    from penstock.scenarios.common import CommonScenario
    from penstock.scenarios.network import Network
    from penstock.scenarios.scenario import Document

MAX_NAME_BYTES = 255  # of a file, on the file systems of Linux


class RunError(RuntimeError):
    """The run could not be carried out, and not for bad input: a build failed, or the device broke a protocol. Exit status 1."""


@dataclass
class Request:
    """What was asked for on the command line."""

    scenario: Path
    settings: list[str] = field(default_factory=list)
    seed: int | None = None
    out: Path | None = None
    engine: str | None = None  # the first one of the scenario's design
    packets: bool = False  # every packet is written, too


@dataclass(frozen=True)
class Prepared:
    """A scenario that was read and checked: what it says, the device that it names, and the plan of its run."""

    name: str
    described: "CommonScenario"
    document: "Document"
    design: AnyDesign
    config: Configuration
    plan: Plan

    @property
    def network(self) -> "Network":
        """The hosts around the device, which a run with live traffic has."""
        assert self.described.network is not None, "no live traffic"
        return self.described.network

    def summary(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return what is in `result.json` after a run."""
        from penstock.engine import result

        own = self.design.own_result(raw, self.config, self.plan)
        return result.summary(raw, self.described, self.document, self.config, self.plan, self.name, own)


def prepare(request: Request, live: bool = False) -> Prepared:
    """Read the scenario of a request; `live`: one with live traffic, and no other. Raises UserError."""
    from penstock.scenarios import network, scenario
    from penstock.scenarios.device import configuration, design_of
    from penstock.scenarios.traffic import MAX_KEPT_FRAMES

    if request.engine is not None:
        check_engine(request.engine)
    settings = request.settings + ([f"seed={request.seed}"] if request.seed is not None else [])
    with working(f"Reading {request.scenario.name}"):
        document = scenario.open_file(request.scenario, settings)
        design = design_of(document)
        engine = design.engine(request.engine)
        described = scenario.validated(design.scenario, document)
        if not live and (found := network.entries(described)):
            document.fail(("traffic", found[0][0], "live"), f"has frames of real programs: `./penstock live {request.scenario}` runs it")
        config = configuration(described, document)
    with working(f"Preparing {request.scenario.name}"):  # the model of an AQM of the user's own is compiled
        plan = design.plan(described, document, config, engine)
        if live:
            plan.job["wire"] = network.of_job(described, document, design.ports(config))
            plan.job["keep_most"] = MAX_KEPT_FRAMES
    return Prepared(described.name or request.scenario.stem, described, document, design, config, plan)


def carry_out(request: Request) -> tuple[dict[str, Any], Path]:
    """Run a scenario and write its result; return what is in `result.json` and the folder. Raises UserError, RunError."""
    from penstock.reports import packets, report

    if request.packets:
        packets.need()
    run = prepare(request)
    out = request.out or Path("results") / run.name
    with growing_result(run, out) as grown:
        raw = simulate(run.plan.job, run.config, request.scenario)
        with working("Writing the result"):
            if request.packets and (remark := packets.write(grown / packets.FILE, raw, run.config.clock_hz)):
                run.plan.notes.append(remark)
            found = run.summary(raw)
            series = run.design.plot_data(raw, run.config, run.plan)
            report.write_series(grown / "series.npz", series)
            report.write_html(grown / "report.html", found, series)
            write_json(grown / "result.json", found)
    return found, out


@contextmanager
def growing_result(run: Prepared, out: Path) -> Iterator[Path]:
    """Yield a folder in which the files of a result grow, and let the run write the capture there that the scenario asks for.

    Raises UserError for a capture that cannot be.
    """
    departures = output_pcap(run, out)
    with growing(out) as grown:
        capture = grown / "departures.pcap"
        run.plan.job["pcap_out"] = str(capture) if departures else None
        yield grown
        if departures:
            departures.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(capture, departures)


def check_engine(engine: str) -> None:
    """Raise UserError unless this engine exists."""
    if engine not in ENGINES:
        raise UserError(f"--engine {engine}: there is no such engine{nearest(engine, ENGINES)}")


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a result as JSON text."""
    path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")


def output_pcap(run: Prepared, out: Path) -> Path | None:
    """Return the file for the frames that leave, None when the scenario asks for none. Raises UserError for one that cannot be."""
    described, document = run.described, run.document
    file = document.path
    assert file is not None, "a run is of a file"
    given = described.output.pcap
    if given is None:
        return None
    path = out / given
    if "\0" in given or len(Path(given).name.encode()) > MAX_NAME_BYTES:
        document.fail(("output", "pcap"), f"must be the name of a file, not {describe(given)}")
    taken = path.name in ("result.json", "report.html", "series.npz", "packets.parquet")
    there = path.resolve()  # `out` need not be there yet, and `..` leads out of it
    if taken or (there.exists() and not there.is_file()) or Path(given).name in ("", ".."):
        document.fail(("output", "pcap"), f'must be the name of a capture file, not "{given}"')
    read = [file.name, *(source.pcap for source in described.traffic if hasattr(source, "pcap"))]
    if path.resolve() in [(file.parent / name).resolve() for name in read]:
        document.fail(("output", "pcap"), f'names "{given}", which this run reads')
    if any(parent.is_file() for parent in {*path.parents} - {out, *out.parents}):  # `out` itself is looked at later
        document.fail(("output", "pcap"), f'names "{given}", but one of its folders is a file')
    return path


def simulate(job: dict[str, Any], config: Configuration, scenario: Path, doing: str = "") -> dict[str, Any]:
    """Run the job of a scenario, build what it needs, and return the engine's result; progress is shown behind the words `doing`.

    Raises UserError for what only the engine can find, RunError.
    """
    from penstock.command_line.console import run_progress, spinner
    from penstock.engine import engine
    from penstock.hardware import verilate

    try:
        with spinner() as report:
            if "model" not in job["device"]:
                with engine.built_beside(job, report):
                    job["device"]["library"] = str(verilate.build_device(config, report))
            engine.prepare(job, report)
        with run_progress(job["duration_cycles"], doing) as show, _stop_on_signal() as stopped:

            def progress(now: dict[str, Any]) -> bool:
                show(now)
                return not stopped()

            return engine.run(job, progress)
    except ValueError as error:  # what cannot be and only the engine can know: the model of a part refuses its numbers
        raise UserError(f"{scenario}: {error}") from error
    except RuntimeError as error:
        raise RunError(str(error)) from error


@contextmanager
def _stop_on_signal() -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C (or SIGTERM, SIGHUP) into a flag, so that the run ends at a clean point; a second Ctrl-C stops at once."""
    seen = False

    def remember(_number: int, _frame: FrameType | None) -> None:
        nonlocal seen
        seen = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield lambda: seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
