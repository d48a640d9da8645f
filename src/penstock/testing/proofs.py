"""Runs proofs: `.sby` files in the blocks' `formal` folders, each task once for each meaning of its sources."""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from penstock.basics import children
from penstock.hardware import assertions
from penstock.paths import BLOCKS, BUILD, plain, tool_environment
from penstock.testing import verdicts
from penstock.testing.basis import BuildError

_SECTION = re.compile(r"^\[(\w+)\]\s*$", re.MULTILINE)


def run_proof(block: str, module: str, tasks: Sequence[str] | None = None, fault: tuple[str, str, str] | None = None) -> dict[str, str]:
    """Run `blocks/<block>/formal/<module>.sby` (all tasks or `tasks`) and return the status of each: PASS, FAIL or UNKNOWN.

    A proof ends with the first task that does not pass; those after it have no status. A task that is known to pass does not run.

    `fault` plants one: (source file under blocks/, text that stands there once, text instead). The proof runs on a copy of the
    RTL, so no other test sees the fault. A proof is worth something when it passes without its faults and fails with each.
    Raises BuildError when a proof cannot be run.
    """
    place = BLOCKS / block / "formal" / f"{module}.sby"
    script = "".join(line for line in place.read_text().splitlines(keepends=True) if not line.startswith("#"))
    sections = _sections(script)
    groups = {line.split()[0]: set(line.split()) for line in sections["tasks"]}
    if unknown := sorted(set(tasks or ()) - set(groups)):
        raise BuildError(f"{place.name} has no task {', '.join(unknown)}; it has {', '.join(groups)}")
    status: dict[str, str] = {}
    for task in tasks or groups:
        files = _files(place.parent, _lines_of(sections["files"], groups[task]), fault)
        key = verdicts.key(["proof", module, task, script], files)
        if verdicts.known(key) != "PASS":
            status[task] = _prove(module, script, files, task)
            if status[task] != "PASS":
                break
            verdicts.keep(key, "PASS")
        status[task] = "PASS"
    return status


def _sections(script: str) -> dict[str, list[str]]:
    """Return the lines of each section of a `.sby` file."""
    parts = _SECTION.split(script)[1:]
    return {name: [line for line in text.splitlines() if line.strip()] for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _lines_of(lines: Sequence[str], groups: set[str]) -> list[str]:
    """Return the lines that count for a task: those that name no task or group, and those that name one of its own."""
    parts = [re.match(r"(?:([\w ]+):\s)?\s*(.*)", line) for line in lines]
    return [part[2] for part in parts if part and (part[1] is None or groups & set(part[1].split()))]


def _files(folder: Path, listed: Sequence[str], fault: tuple[str, str, str] | None) -> dict[str, bytes]:
    """Return what a task reads, by name: its sources as Yosys can take them, and with the fault if it is in one of them."""
    files: dict[str, bytes] = {}
    for line in listed:
        path = (folder / line).resolve()
        text = path.read_text()
        if path.parent.name == "formal":
            text = assertions.unnamed_in_loops(text)
        if fault and path == (BLOCKS / fault[0]).resolve():
            assert text.count(fault[1]) == 1, f"{fault[0]}: the place for the fault, {fault[1]!r}, is there {text.count(fault[1])} times"
            text = text.replace(fault[1], fault[2])
        files[path.name] = text.encode()
    return files


def _prove(module: str, script: str, files: dict[str, bytes], task: str) -> str:
    """Run a task in a folder of its own, which stays when it does not pass. Raises BuildError."""
    folder = BUILD / "formal" / f"{module}-{hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:8]}-{task}-{os.getpid()}"
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    head, _, _ = script.partition("[files]")
    (folder / f"{module}.sby").write_text(head + "[files]\n" + "".join(f"{name}\n" for name in files))
    status, words = _status(module, task, folder)
    if status not in ("PASS", "FAIL", "UNKNOWN"):
        raise BuildError(f"{module}: the proof of {task} does not run: {status or 'no status'}\n{words}")
    if status == "PASS":
        shutil.rmtree(folder)
    return status


def _status(module: str, task: str, folder: Path) -> tuple[str, str]:
    """Run a task; return its status, empty when it had none, and all that was said."""
    tool = [str(plain(Path(sys.executable))), str(plain(Path(__file__).with_name("yosys_tool.py")))]
    command = [*tool, "sby", "--yosys", " ".join([*tool, "yosys"]), "--smtbmc", " ".join([*tool, "smtbmc"])]
    command += ["-f", "--prefix", module, f"{module}.sby", task]
    done = children.run(command, cwd=folder, env=tool_environment())
    ended = re.search(rf"\[{module}_{task}\] DONE \((\w+), ", done.stdout)
    return ended[1] if ended else "", done.stdout + done.stderr
