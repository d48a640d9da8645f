# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""When a process has come to rest (`penstock.p4.rest`): by what it has run, whatever the machine does besides. simple_switch is not needed.

The process here computes for a while for each byte that it is given, in a thread that another one wakes, and then writes the byte down.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ToolError
from penstock.p4 import rest

WORKS = 0.05  # s of CPU time for a byte
PROGRAM = f"""
import os, queue, sys, threading, time
todo = queue.SimpleQueue()
def work():
    with open(sys.argv[1], "ab", buffering=0) as out:
        while True:
            byte = todo.get()
            end = time.thread_time() + {WORKS}
            while time.thread_time() < end or byte == b"e":  # e: endless
                pass
            out.write(byte)
threading.Thread(target=work, daemon=True).start()
while byte := os.read(0, 1):
    if byte == b"q":
        sys.exit(3)
    todo.put(byte)
"""


@pytest.fixture
def worker(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path / "done")], stdin=subprocess.PIPE, text=True)
    while not (tmp_path / "done").exists():
        time.sleep(0.01)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def give(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stdin is not None
    os.write(process.stdin.fileno(), text.encode())


def test_it_has_done_all_when_it_rests(worker: "subprocess.Popen[str]", tmp_path: Path) -> None:
    rest.wait(worker, "worker", "at the beginning")
    for number in range(1, 6):
        before = rest.cpu_seconds(worker.pid)
        give(worker, "x")
        rest.wait(worker, "worker", f"after byte {number}")
        assert (tmp_path / "done").read_bytes() == b"x" * number
        assert WORKS <= rest.cpu_seconds(worker.pid) - before < 10 * WORKS


@pytest.mark.parametrize("stopped", [0.3, 1.0])
def test_one_that_does_not_get_to_run_is_waited_for(worker: "subprocess.Popen[str]", tmp_path: Path, stopped: float) -> None:
    """As on a machine with other work: it has something to do and no processor. Limits are of its own time, so none is passed."""
    rest.wait(worker, "worker", "at the beginning")
    os.kill(worker.pid, signal.SIGSTOP)
    give(worker, "x")
    going = threading.Timer(stopped, os.kill, (worker.pid, signal.SIGCONT))
    going.start()
    try:
        rest.wait(worker, "worker", "after byte 1", most=stopped / 2)
        assert (tmp_path / "done").read_bytes() == b"x"
    finally:
        going.join()


def test_what_goes_round_in_circles_is_told(worker: "subprocess.Popen[str]") -> None:
    rest.wait(worker, "worker", "at the beginning")
    give(worker, "e")
    with pytest.raises(ToolError, match=r"worker has not come to rest after 0\.2 s of CPU time after byte 1"):
        rest.wait(worker, "worker", "after byte 1", most=0.2)


def test_what_was_stopped_for_good_is_told(worker: "subprocess.Popen[str]") -> None:
    rest.wait(worker, "worker", "at the beginning")
    os.kill(worker.pid, signal.SIGSTOP)
    give(worker, "x")
    with pytest.raises(ToolError, match=r"worker is neither asleep nor has it run for 0\.3 s after byte 1"):
        rest.wait(worker, "worker", "after byte 1", still=0.3)


def test_what_has_ended_is_told(worker: "subprocess.Popen[str]") -> None:
    rest.wait(worker, "worker", "at the beginning")
    give(worker, "q")
    with pytest.raises(ToolError, match="worker has ended with status 3 after byte 1"):
        rest.wait(worker, "worker", "after byte 1")
        rest.wait(worker, "worker", "after byte 1")
