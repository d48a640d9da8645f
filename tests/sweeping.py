# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What the tests of sweeps share: a grid, and a stand-in for the processes of its runs."""

import contextlib
import csv
import io
import json
import random
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.sweeps import execute, local
from penstock.sweeps.make import Request, make

GRID = """
switch-sim: { ports: 4, slots: 2000, seeds: 1 }
seeds: 1..2
set:
  algorithm: [cprra, islip, pim]
  rate: 0.6..0.9 step 0.1
plots:
  - { x: rate, y: latency_slots.mean, by: algorithm }
"""  # 24 runs
SMALL = "switch-sim: { ports: 4 }\nseeds: 1..2\nset: { algorithm: [oq, pim], rate: [0.5, 0.75] }\n"
TIMES = {"slots_per_second", "wall_seconds", "cycles_per_second"}  # of the machine, and never the same


def write(folder: Path, text: str, name: str = "sweep.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def rows_of(out: Path) -> list[dict[str, str]]:
    with (out / "table.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def without_times(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


def kept(out: Path) -> dict[str, tuple[int, bytes]]:
    """The finished runs, each with the time it was written and its content."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (out / "runs").glob("*.json") if path.name[0] != "."}


def drawn(out: Path) -> list[dict[str, Any]]:
    """The data of the plots of a page."""
    (text,) = re.findall(r"^const plots = (.*);$", (out / "report.html").read_text(), re.MULTILINE)
    found: list[dict[str, Any]] = json.loads(text)
    return found


def sweep(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 0) -> dict[str, Any]:
    """Run `penstock sweep ... --json` and return its object."""
    capsys.readouterr()
    assert main(["sweep", *map(str, arguments), "--json"]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def in_this_process(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
    """Carry out a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(command[4:])
    return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())


class Calls:
    """Answers commands with numbers that follow from their arguments, and notes them. `answer` may answer otherwise."""

    def __init__(self) -> None:
        self.made: list[list[str]] = []
        self.answer: Callable[[dict[str, str]], tuple[int, Any, str] | None] = lambda options: None
        self._lock = threading.Lock()

    def run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        arguments = command[4:]
        with self._lock:
            self.made.append(arguments)
        given = [argument.removeprefix("--").removeprefix("set=") for argument in arguments if "=" in argument]
        options = dict(argument.split("=", 1) for argument in given if not argument.startswith("out="))
        status, result, err = self.answer(options) or (0, self.result(options), "")
        return subprocess.CompletedProcess(command, status, result if isinstance(result, str) else json.dumps(result), err)

    @staticmethod
    def result(options: dict[str, str]) -> dict[str, Any]:
        draw = random.Random(json.dumps(sorted(options.items())))
        mean = draw.uniform(10, 100)
        return {
            "schema": "penstock.switch-sim/1", "seed": int(options.get("seed", 1)), "config": {"rate": float(options.get("rate", 1))},
            "latency_slots": {"mean": mean, "p99": draw.randrange(100, 200), "mean_ci95": None}, "throughput": draw.random(),
            "packets": {"in": 100, "dropped": {"aqm": 3} if draw.random() < 0.5 else {}}, "ok": True, "notes": ["words"],
        }  # fmt: skip


def in_order(tasks: list[execute.Task], workers: int, folder: Path) -> Iterator[tuple[int, execute.Outcome]]:
    """Carry out runs one after the other, in this thread: what penstock.sweeps.local has processes for."""
    for number, task in enumerate(tasks):
        yield number, execute.execute(task, lambda: None, folder)


def without_processes(file: Path, out: Path) -> Path:
    """Carry out a sweep in this process and return its out folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "children", SimpleNamespace(run=in_this_process))
        patch.setattr(local, "outcomes", in_order)
        make(Request(file, out=out))
    return out
