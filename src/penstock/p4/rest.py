"""When a process that answers to what it is given has come to rest, whatever else the machine does meanwhile.

It rests when all its threads sleep and none has run while they were looked at. On a machine with other work a thread that could run may
wait for long, so what counts against a limit is the time for which the process has run, and no clock on the wall: one that is due to run
and does not get to it is waited for.
"""

import os
import subprocess
import time

from penstock.errors import ToolError

CPU_SECONDS = 5.0  # for what it was given, some thousand times as much as anything takes
STILL_SECONDS = 300.0  # for which it does not run at all, but is not asleep: it was stopped, or waits for a disk
LOOK_SECONDS = 0.00005
ASLEEP = frozenset("SI")  # states of threads (proc(5)); not R, nor D and T


def cpu_seconds(pid: int) -> float:
    """Return for how long a process has run, all its threads, to the nanosecond. Raises OSError if there is none."""
    return time.clock_gettime(~pid << 3 | 2)  # what clock_getcpuclockid(3) makes of a process


def asleep(pid: int) -> bool:
    """Return whether all threads of a process sleep."""
    threads = f"/proc/{pid}/task"
    for thread in os.listdir(threads):
        with open(f"{threads}/{thread}/stat", "rb") as file:
            if chr(file.read().rpartition(b") ")[2][0]) not in ASLEEP:
                return False
    return True


def wait(process: "subprocess.Popen[str]", name: str, after: str, most: float = CPU_SECONDS, still: float = STILL_SECONDS) -> None:
    """Wait until a process rests. Raises ToolError if it ends, runs for longer than `most`, or does not get to run for `still` seconds."""
    try:
        began = before = cpu_seconds(process.pid)
        moved = time.monotonic()
        while process.poll() is None:
            time.sleep(LOOK_SECONDS)
            now = cpu_seconds(process.pid)
            if now == before:
                if asleep(process.pid) and cpu_seconds(process.pid) == now:
                    return
                if time.monotonic() - moved > still:
                    raise ToolError(f"{name} is neither asleep nor has it run for {still:g} s {after}")
                continue
            before, moved = now, time.monotonic()
            if now - began > most:
                raise ToolError(f"{name} has not come to rest after {most:g} s of CPU time {after}")
    except OSError:  # it has ended, or one of its threads has while all were looked at
        if process.poll() is None:
            return wait(process, name, after, most, still)
    raise ToolError(f"{name} has ended with status {process.returncode} {after}")
