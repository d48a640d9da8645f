"""The bench's packets through bmv2's simple_switch: the same program, tables and headers, as fast as it takes them.

It gets them from a file, which costs it less than a network interface, and in portions: the next one when nothing of the last one runs any
more, so no packet is lost in front of a queue or in it. Its queues have no rate. What is counted is the time of its process, user and
system.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.designs.p4_switch import program, runtime_cli, tables
from penstock.designs.p4_switch.bmv2.script import Script
from penstock.errors import ToolError
from penstock.p4 import simple_switch
from penstock.scenarios.scenario import located

PORTION = 500  # packets
DEPTH = 100_000  # of its queues, far more
REFUSED = re.compile(r"Unknown|Error|Invalid|\*\*\*")


def cpu_seconds(process: int) -> tuple[float, float]:
    """Return the time that a process has had so far, as user and in the system."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return int(fields[11]) / ticks, int(fields[12]) / ticks


def frames(source: dict[str, Any], count: int) -> list[bytes]:
    """Return as many frames of a source of a job: its headers, zeros behind them, and UDP's checksum for those."""
    heads, size = source["headers"], source["sizes"][0][0]
    frame = bytearray(bytes(heads["bytes"][: heads["each"]]).ljust(size, b"\0"))
    at, start = heads["sum_at"], heads["sum_from"]
    total = sum(int.from_bytes(frame[place : place + 2].ljust(2, b"\0"), "big") for place in range(start, size, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    frame[at : at + 2] = (total if total == 0xFFFF else total ^ 0xFFFF).to_bytes(2, "big")
    return [bytes(frame)] * count


def commands(run: Any) -> list[str]:
    """Return what fills the tables of simple_switch as the scenario fills those of the device."""
    control = Script(program.load(run.plan.program))
    if run.described.commands is not None:
        runtime_cli.load(control, located(run.described.commands, run.document.path))
    tables.apply(control, run.described.tables.model_dump(by_alias=True))
    return control.commands()


def run(prepared: Any, job: dict[str, Any], count: int, progress: Callable[[int, int], None] | None) -> dict[str, Any]:
    """Return what simple_switch needs for `count` packets. Raises UserError where it is not on the PATH, ToolError."""
    simple_switch.need()
    numbers = prepared.plan.port_numbers
    source = job["sources"][0]
    port = numbers[source["input"]]
    given = [(port, frame) for frame in frames(source, count)]
    with simple_switch.started(prepared.plan.program, given, numbers) as switch:
        said = switch.commands("\n".join([f"set_queue_depth {DEPTH}", *commands(prepared)]))
        if REFUSED.search(said):
            raise ToolError(f"simple_switch_CLI refuses a command:\n{said[-2000:]}")
        first = switch.feed_ends(port)
        before = cpu_seconds(switch.process.pid)
        for begin in range(first, count, PORTION):
            switch.feed(port, min(PORTION, count - begin))
            if progress:
                progress(begin, 0)
        user, system = (after - first for after, first in zip(cpu_seconds(switch.process.pid), before, strict=True))
        sent = sum(len(answer.came()) for answer in switch.ports.values())
    return {
        "version": simple_switch.version(),
        "packets": count - first,
        "out": sent,
        "cpu_seconds": round(user + system, 2),
        "user_seconds": round(user, 2),
        "packets_per_cpu_second": round((count - first) / max(user + system, 0.01)),
        "packets_per_user_second": round((count - first) / max(user, 0.01)),
    }
