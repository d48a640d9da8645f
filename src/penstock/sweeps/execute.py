"""One point in a process of its own: the command as a user would give it, with `--json`. The same here and on a worker of a cluster."""

import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.basics import children
from penstock.paths import PACKAGE, ROOT
from penstock.sweeps.point import Point
from penstock.sweeps.sources import fingerprint

MAX_ERROR = 300  # characters of a sentence in the table
_PROGRESS = re.compile(r" \.\.\. [0-9]+ s$")  # of a line that says what is being done
_SPEAKS = ("penstock: ", "The run failed. ")


class OtherSources(RuntimeError):
    """The sources here are not those that the sweep began with."""


class OtherFiles(RuntimeError):
    """An input file here is not the one that the sweep began with."""


@dataclass(frozen=True)
class Task:
    """A point to be run, and what it was when the sweep began: the sources' fingerprint, and each input file with its hash."""

    point: Point
    sources: str
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Outcome:
    """What became of a point. `result`: what the command printed, None when that is no result; `error`: a sentence, or nothing."""

    result: dict[str, Any] | None
    error: str = ""


def execute(task: Task, tick: Callable[[], None], folder: Path | None = None) -> Outcome:
    """Run a point to its end and return what became of it; `folder` (a temporary one unless given) gets what the command writes.

    `tick` is called twice a second and may raise what ends the run. Raises OtherSources and OtherFiles, before the run or after it.
    """
    _compare(task)
    with tempfile.TemporaryDirectory(prefix="penstock-sweep-", dir=folder, ignore_cleanup_errors=True) as out:
        arguments = task.point.arguments()
        written = [f"--out={out}"] if task.point.kind == "run" else []
        command = [sys.executable, "-P", "-m", "penstock", *arguments, *written]
        done = children.run(command, env=_environment(), tick=tick)
    _compare(task)
    return _outcome(done.returncode, done.stdout, done.stderr)


def _environment() -> dict[str, str]:
    own = {"PYTHONPATH": str(PACKAGE.parent), "PYTHONSAFEPATH": "1", "PYTHONUTF8": "1"}
    return {key: value for key, value in os.environ.items() if key != "PENSTOCK_TAKE_INTERRUPTS"} | own


def _compare(task: Task) -> None:
    found = fingerprint()
    if found != task.sources:
        raise OtherSources(f"the sources in {ROOT} are {found}, and the sweep's were {task.sources} when it began")
    for (name, now), (_, then) in zip(task.point.digests(), task.files, strict=False):
        if now != then:
            raise OtherFiles(f"{name} is {'not there' if now == 'missing' else 'not the file that it was when the sweep began'}")


def _outcome(status: int, out: str, err: str) -> Outcome:
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        return Outcome(None, f"ended by {name}")
    if status in (0, 1) and out.strip():
        try:
            result = json.loads(out)
        except ValueError:
            return Outcome(None, "printed something else than a result")
        if isinstance(result, dict) and not result.get("interrupted"):
            return Outcome(result, _said(err, status) if status else "")
    return Outcome(None, _said(err, status))


def _said(err: str, status: int) -> str:
    """Return the sentence with which a command has failed: what a device did wrong, or the last line that is not progress."""
    lines = [line.strip() for line in err.splitlines() if line.strip() and not _PROGRESS.search(line)]
    failed = [line for line in lines if line.startswith("FAILED: ")]
    spoken = [line for line in lines if line.startswith(_SPEAKS)]
    words = " ".join(failed) or (spoken or lines or [f"ended with status {status} and no word"])[-1]
    return words.removeprefix("penstock: ")[:MAX_ERROR]
