"""Programs of anyone on bmv2's simple_switch and on the P4 device, frame by frame: do both send the same bytes?

Each program runs twice: with the entries and frames of its .stf file (p4c's tests) or s1-runtime.json (p4lang's tutorials) and then frames
at random; and with entries and frames at random (`penstock.p4.guesses`).

What a program makes of the clock, of random() and of meters differs from run to run on simple_switch, and what it reads of headers that are
not valid is what earlier packets have left there. So further devices run with other clocks, gaps and seeds, and with anything in headers
that are not valid, one of them with what earlier packets have left; what differs between them is free, not compared: bytes, or, where
frames come or stay away, the whole answer to a frame.
"""

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from penstock.basics import children
from penstock.errors import ToolError, UserError
from penstock.p4 import guesses, simple_switch, stf
from penstock.p4.compiled import COMPILER, HOW_TO_GET_IT, OPTIONS

CLOCKS = tuple((1_000_000 + 77_000_123 * i**3, 1_000 + 977 * i, 1 + i) for i in range(10))  # start and gap in us, seed: of each device
DRAWS = {CLOCKS[1][2]: False, CLOCKS[2][2]: True}  # by seed: those whose random() gives the least of its range, or the most
OUTPUTS = 16  # ports whose output is looked at, beside those that a file names
SHOWN = 3  # differences of a run that are kept
REFUSALS = re.compile(r"^(Invalid|Error|\*\*\*|Unknown|Wrong|Too|Not|Could)", re.MULTILINE)

Answer = list[tuple[int, bytes]]


@dataclass
class Run:
    """One run of a program."""

    entries: str  # where they are from
    frames: int = 0
    planned: int = 0
    answered: int = 0  # frames to which simple_switch has sent something
    free: int = 0  # frames whose answers are not compared, or not all of their bytes
    differ: int = 0
    ended: str = ""  # why it has not come to its end
    commands: list[str] = field(default_factory=list)  # that only one of the two has taken
    shown: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Outcome:
    """What became of a program: agrees, differs, cut (agrees as far as it came: a run ended before its last frame), refused (by the
    device), bmv2 (it does not run it), compiler (it refuses it)."""

    program: str
    outcome: str
    words: str = ""
    runs: list[Run] = field(default_factory=list)


def need(paths: Iterable[Path]) -> None:
    """Raise UserError with how to get the tools, unless those that these programs need are there; compiled ones need no compiler."""
    if any(path.suffix == ".p4" for path in paths) and shutil.which(COMPILER) is None:
        raise UserError(HOW_TO_GET_IT)
    simple_switch.need()


def programs(given: Sequence[Path]) -> list[Path]:
    """Return the programs: .p4 and .json files, and of folders the .p4 files for v1model. Raises UserError."""
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            inside = [one for one in sorted(path.rglob("*.p4")) if "v1model.p4" in one.read_text(errors="replace")]
            if not inside:
                raise UserError(f"{path}: has no program (.p4) that includes v1model.p4")
            found += inside
        elif path.suffix in (".p4", ".json") and path.is_file():
            found.append(path)
        else:
            raise UserError(f"{path}: is no program (.p4, .json) and no folder")
    return found


def compare_all(paths: Sequence[Path], frames: int, seed: int, told: Callable[[Outcome], None]) -> list[Outcome]:
    """Compare programs one after the other; `told` hears each outcome."""
    need(paths)
    outcomes = []
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            outcomes.append(compare(path, Path(folder), frames, seed))
        told(outcomes[-1])
    return outcomes


def compare(path: Path, folder: Path, frames: int, seed: int) -> Outcome:
    """Compile a program and run it on both."""
    from penstock.designs.p4_switch import program as device

    compiled = path
    if path.suffix == ".p4":
        compiled = folder / f"{path.stem}.json"
        done = children.run([COMPILER, *OPTIONS, "-I", str(path.parent), "-o", str(compiled), str(path)])
        if done.returncode != 0 or not compiled.is_file():
            words = [line for line in (done.stdout + done.stderr).splitlines() if "error" in line.lower()]
            return Outcome(str(path), "compiler", words[0] if words else f"status {done.returncode}")
    try:
        loaded = device.load(compiled)
    except UserError as error:
        return Outcome(str(path), "refused", str(error).removeprefix(f"{compiled}: "))
    given = json.loads(compiled.read_text())
    outcome = Outcome(str(path), "agrees")
    try:
        for run, script in _scripts(path, given, frames, seed):
            outcome.runs.append(_run(loaded, compiled, run, script))
    except UserError as error:
        return Outcome(str(path), "refused", str(error), outcome.runs)
    except ToolError as error:
        return Outcome(str(path), "bmv2", str(error), outcome.runs)
    return _judged(outcome)


def _judged(outcome: Outcome) -> Outcome:
    """Say what the runs of a program amount to; agreement is that of all frames."""
    cut = [f"{run.entries}: cut short after {run.frames} of {run.planned} frames: {run.ended}" for run in outcome.runs if run.ended]
    outcome.words = "; ".join(cut)
    if any(run.differ for run in outcome.runs):
        outcome.outcome = "differs"
    elif cut:
        outcome.outcome = "cut" if any(run.frames for run in outcome.runs) else "bmv2"
    return outcome


def _scripts(path: Path, program: dict[str, Any], frames: int, seed: int) -> Iterable[tuple[Run, stf.Script]]:
    guess = guesses.Guesses(program, seed)
    script, entries = stf.Script(), "none"
    if (file := path.with_suffix(".stf")).is_file():
        script, entries = stf.read(file, program), file.name
    elif runtime := _runtime_of(path):
        script.after, entries = stf.runtime(runtime, program), runtime.name
    more = list(guess.steps(frames, script.steps))
    if more:
        more[0].commands += script.after
    yield Run(entries), stf.Script(script.steps + more, [], script.ignored, script.ports)
    guess = guesses.Guesses(program, seed + 1)
    made = list(guess.steps(frames, script.steps))
    if made:
        made[0].commands += guess.commands()
    yield Run("at random"), stf.Script(made, [], [], script.ports)


def _runtime_of(path: Path) -> Path | None:
    """Return the first switch's entries of a tutorial."""
    for folder in (path.parent, path.parent.parent):
        found = sorted((*folder.glob("s1-runtime.json"), *folder.glob("*-topo/s1-runtime.json")))
        if found:
            return found[0]
    return None


@cache
def _engine() -> Any:
    from penstock.engine import engine

    return engine.module("designs/p4_switch/model")


class _Device:
    """The P4 device, a frame at a time."""

    def __init__(self, program: Any, start_us: int, gap_us: int, seed: int, stale: bool = False):
        from penstock.designs.p4_switch import runtime_cli, tables

        self.machine = _engine().Machine(program.dictionary, seed)
        if stale:
            self.machine.keep_stale()
        elif seed != CLOCKS[0][2]:
            self.machine.blur(seed)
        if seed in DRAWS:
            self.machine.draw(most=DRAWS[seed])
        self.control = tables.Control(program)
        self.commands = runtime_cli.Commands(self.control)
        self.now, self.gap = start_us, gap_us

    def command(self, line: str) -> str:
        """Run a command; return why not, or nothing."""
        try:
            self.commands.run(line)
            self.machine.configure(self.control.dictionary())
        except (UserError, ValueError) as error:
            return str(error)
        finally:
            for changes in (self.control.entries, self.control.registers, self.control.meters, self.control.defaults):
                changes.clear()
        return ""

    def process(self, port: int, frame: bytes) -> Answer:
        self.now += self.gap
        return list(self.machine.process(port, frame, self.now, 0, self.gap // 100))


def _devices(program: Any) -> list[_Device]:
    """Return those that run side by side; the last one has, in headers that are not valid, what simple_switch has there."""
    return [*(_Device(program, *clock) for clock in CLOCKS[:-1]), _Device(program, *CLOCKS[-1], stale=True)]


def _run(program: Any, compiled: Path, run: Run, script: stf.Script) -> Run:
    frames = [(step.port, step.frame) for step in script.steps]
    ports = sorted({*range(OUTPUTS), *script.ports, *(port for port, _ in frames)})
    devices = _devices(program)
    run.planned = len(frames)
    with simple_switch.started(compiled, frames, ports) as switch:
        for number, step in enumerate(script.steps):
            if step.commands:
                _command(switch, devices, step.commands, run)
            try:
                theirs = switch.next()
            except ToolError as error:
                run.ended = f"frame {number}: {error}"
                break
            ours = [[one for one in device.process(step.port, step.frame) if one[0] in ports] for device in devices]
            run.frames += 1
            run.answered += bool(theirs)
            equal, free = same(theirs, [by_port(one) for one in ours])
            run.free += free
            if not equal:
                run.differ += 1
                if len(run.shown) < SHOWN:
                    run.shown.append(
                        {
                            "number": number,
                            "port": step.port,
                            "frame": step.frame.hex(),
                            "simple_switch": _shown(theirs),
                            "device": _shown(ours[0]),
                        }
                    )
    return run


def _command(switch: simple_switch.SimpleSwitch, devices: list[_Device], commands: list[str], run: Run) -> None:
    """Give commands to both; the device gets those that simple_switch has taken."""
    for line, said in zip(commands, switch.each(commands), strict=True):
        refused = "added with handle" not in said if line.startswith("table_add ") else bool(REFUSALS.search(said))
        here = ["" if refused else device.command(line) for device in devices]
        if refused:
            run.commands.append(f"simple_switch_CLI: {line}: {said.splitlines()[-1]}")
        elif here[0]:
            raise UserError(f"{line}: {here[0]}")


def by_port(answer: Answer) -> Answer:
    """Return it by ports; at a port the order stays."""
    return sorted(answer, key=lambda one: one[0])


def same(theirs: Answer, ours: Sequence[Answer]) -> tuple[bool, bool]:
    """Return whether an answer is that of the devices in all that is not free, and whether something is free."""
    shapes = [[(port, len(frame)) for port, frame in one] for one in (theirs, *ours)]
    free = any(one != ours[0] for one in ours)
    if any(shape != shapes[1] for shape in shapes[2:]):
        return True, True
    if shapes[0] != shapes[1]:
        return False, free
    for index, (_, wanted) in enumerate(theirs):
        for place, byte in enumerate(wanted):
            found = {one[index][1][place] for one in ours}
            if len(found) == 1 and byte not in found:
                return False, free
    return True, free


def _shown(answer: Answer) -> list[list[Any]]:
    return [[port, frame.hex()] for port, frame in answer]


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return counts, for --json and the table."""
    runs = [run for outcome in outcomes for run in outcome.runs]
    return {
        "programs": len(outcomes),
        **{name: Counter(one.outcome for one in outcomes)[name] for name in ("agrees", "differs", "cut", "refused", "bmv2", "compiler")},
        **{name: sum(getattr(run, name) for run in runs) for name in ("frames", "answered", "free", "differ")},
        "outcomes": [asdict(outcome) for outcome in outcomes],
    }
