"""The process in which a run on bmv2 happens: `python -m penstock.designs.p4_switch.bmv2.stage FOLDER`.

It goes into network namespaces of its own, one for the hosts that send, one for those that receive, one for the switch; starts
simple_switch, fills its tables, and is itself the delay line between them all. FOLDER has `job.json` and `plan.npz` (`target.py` writes
them) and gets `raw.json` and `raw.npz`, or `error.json` with a sentence. Everything that it starts is in its process group, which its
parent ends.
"""

import contextlib
import ipaddress
import json
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from penstock.designs.p4_switch.bmv2 import ends
from penstock.network import spaces
from penstock.network.spaces import Space

THRIFT_PORT = 9090  # in the switch's namespace, where it is alone
START_SECONDS, CLI_SECONDS, CLOSE_SECONDS = 30, 300, 5
LEAD_NS = 200_000_000  # between the last command and the first frame
QUIET_NS = 500_000_000  # without anything coming out of the switch: it is empty
PROMPT = "RuntimeCmd: "
REFUSED = re.compile(r"^(Error|Invalid|\*\*\* |Unknown|Traceback)", re.MULTILINE)
COUNTER = re.compile(r"=\s*\((?:BmCounterValue\()?(?:(\d+) bytes, (\d+) packets|bytes=(\d+), packets=(\d+)|packets=(\d+), bytes=(\d+))")


class Failed(Exception):
    """A sentence: simple_switch or its CLI did not do what it should."""


class Switch:
    """A simple_switch that runs in the namespace of this thread."""

    def __init__(self, job: dict[str, Any], folder: Path) -> None:
        self.job = job
        self._log = (folder / "simple_switch.log").open("w+")
        interfaces = [part for port, number in enumerate(job["port_numbers"]) for part in ("-i", f"{number}@port{port}")]
        command = [
            job["simple_switch"],
            "--thrift-port",
            str(THRIFT_PORT),
            *job["options"],
            *interfaces,
            job["program"],
            *job["target_options"],
        ]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT, env=job["environment"], cwd=folder
        )
        self.cpu_seconds = 0.0
        end = time.monotonic() + START_SECONDS
        while True:
            self.check()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", THRIFT_PORT), timeout=1):
                return
            if time.monotonic() > end:
                raise Failed(f"simple_switch does not answer after {START_SECONDS} s{self._words()}")
            time.sleep(0.1)

    def running(self) -> bool:
        """Return whether it has not ended."""
        return self.process.poll() is None

    def check(self) -> None:
        """Raise Failed where it has ended."""
        if not self.running():
            raise Failed(f"simple_switch ended with status {self.process.returncode}{self._words()}")

    def _words(self) -> str:
        self._log.flush()
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read()[-2000:].splitlines() if line.strip()]
        return f": {'; '.join(lines[-4:])}" if lines else ""

    def tell(self, commands: list[str]) -> list[str]:
        """Give commands to the runtime CLI; return what it says to each. Raises Failed for one that it refuses."""
        if not commands:
            return []
        command = [self.job["simple_switch_CLI"], "--thrift-port", str(THRIFT_PORT)]
        try:
            done = subprocess.run(
                command, input="\n".join([*commands, ""]), capture_output=True, text=True, env=self.job["environment"], timeout=CLI_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"simple_switch_CLI does not come to an end with {len(commands):,} commands in {CLI_SECONDS} s") from None
        said = answers(done.stdout, len(commands))
        for command_line, words in zip(commands, said, strict=False):
            if REFUSED.search(words):
                raise Failed(f"simple_switch_CLI refuses `{command_line}`: {' '.join(words.split())}")
        if len(said) < len(commands) or done.returncode:
            self.check()
            raise Failed(f"simple_switch_CLI ended with status {done.returncode}: {' '.join((done.stderr or done.stdout).split())[-500:]}")
        return said

    def close(self) -> None:
        """End it, and read what it took."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.process.terminate()
        try:
            self.process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu_seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self._log.close()


def answers(out: str, count: int) -> list[str]:
    """Return what the CLI says to each of its commands: what stands between its prompts."""
    return [part.strip() for part in out.split(PROMPT)[1 : count + 1]]


def counter(words: str) -> tuple[int, int]:
    """Return packets and bytes from what the CLI says to `counter_read`. Raises Failed."""
    found = COUNTER.search(words)
    if found is None:
        raise Failed(f"simple_switch_CLI says of a counter: {words}")
    old_bytes, old_packets, bytes_, packets, first_packets, first_bytes = found.groups()
    return int(old_packets or packets or first_packets or 0), int(old_bytes or bytes_ or first_bytes or 0)


def hosts(name: str, job: dict[str, Any], own: str, other: str) -> int:
    """Make the TUN device of hosts in the namespace of this thread: their addresses are those of `own`; return its file."""
    flows = job["connections"]
    if not any(flow["version"] == 6 for flow in flows):
        spaces.quiet()
    spaces.setting("ipv4/tcp_ecn", int(any(flow["ecn"] for flow in flows)))
    for key, value in (("ipv4/tcp_no_metrics_save", 1), ("ipv4/conf/all/rp_filter", 0), ("ipv4/conf/default/rp_filter", 0)):
        with contextlib.suppress(OSError):
            spaces.setting(key, value)
    file, interface = spaces.tun(name)
    commands = [f"link set {interface} mtu {max(flow['mtu'] for flow in flows)} txqueuelen 10000 up"]
    for address in dict.fromkeys(flow[own] for flow in flows):
        six = ipaddress.ip_address(address).version == 6
        commands.append(f"address add {address}/{128 if six else 32} dev {interface}" + (" nodad" if six else ""))
    routes: dict[str, str] = {}
    for flow in flows:
        length = 32 if flow["version"] == 4 else 128
        timeout = max(1, flow["min_rto_ns"] // 1_000_000)
        routes.setdefault(
            flow[other], f"route add {flow[other]}/{length} dev {interface} initcwnd {flow['initial_segments']} rto_min {timeout}ms"
        )
    spaces.ip([*commands, *routes.values()])
    return file


def carry_out(folder: Path) -> None:
    """Carry a run out. Raises Failed, spaces.Refused, ends.Refused, OSError."""
    from penstock.engine import engine

    job = json.loads((folder / "job.json").read_text())
    plan = dict(np.load(folder / "plan.npz"))
    spaces.enter_own()
    senders = Space()
    files = {"senders": -1, "receivers": -1}
    if job["connections"]:
        files["senders"] = hosts("senders", job, "source", "destination")
    receivers = Space.new()
    if job["connections"]:
        files["receivers"] = hosts("receivers", job, "destination", "source")
    place = Space.new()
    spaces.quiet()
    ports = []
    for port in range(len(job["port_numbers"])):
        spaces.cable(f"port{port}", f"line{port}", job["mtu"])
        ports.append(spaces.packet_socket(f"line{port}"))
    spaces.show_interfaces()
    switch = Switch(job, folder)
    switch.tell(job["commands"])
    line = engine.module("designs/p4_switch/bench").DelayLine({
        "ports": [one.fileno() for one in ports],
        "ingress_bps": job["ingress_bps"],
        "overhead_bytes": job["overhead_bytes"],
        **files,
        "most_frames": job["most_frames"],
        "seed": job["seed"],
        "connections": [_line_connection(one) for one in job["connections"]],
        "fronts": plan.pop("fronts").tobytes(),
        "plan": plan,
    })  # fmt: skip
    both = ends.Ends(job["connections"], senders, receivers)
    begin = time.monotonic_ns() + LEAD_NS
    end = begin + job["duration_ns"]
    thread = threading.Thread(target=_run, args=(line, (begin, end, job["drain_ns"], QUIET_NS)))
    thread.start()
    try:
        both.run(begin, end, begin + job["after_ns"], lambda: switch.running() and thread.is_alive())
        place.enter()
        switch.check()
        thread.join()
        lost = sum(spaces.lost(one) for one in ports)
        raw = line.result()
        cells = [(one["name"], cell) for one in job["counters"] for cell in range(one["size"])]
        said = switch.tell([f"counter_read {name} {cell}" for name, cell in cells])
    finally:
        line.stop()
        thread.join()
        both.close()
        switch.close()
    counters: dict[str, dict[str, Any]] = {one["name"]: {} for one in job["counters"]}
    for (name, cell), words in zip(cells, said, strict=True):
        packets, size = counter(words)
        if packets or size:
            counters[name][str(cell)] = {"packets": packets, "bytes": size}
    arrays = {key: value for key, value in raw.items() if isinstance(value, np.ndarray)}
    np.savez(folder / "raw.npz", allow_pickle=True, **arrays)
    single = {key: value for key, value in raw.items() if key not in arrays}
    flows = [flow.result(begin) for flow in both.flows]
    found = {**single, "end_ns": end, "lost_at_lines": lost, "counters": counters, "flows": flows, "switch_cpu_seconds": switch.cpu_seconds}
    (folder / "raw.json").write_text(json.dumps(found))


def _line_connection(given: dict[str, Any]) -> dict[str, Any]:
    there = given["round_trip_ns"] // 2
    return {
        "ends": bytes.fromhex(given["ends"]),
        "input": given["input"],
        "flow": given["flow"],
        "front": bytes.fromhex(given["front"]),
        "there_ns": there,
        "back_ns": given["round_trip_ns"] - there,
    }


def _run(line: Any, times: tuple[int, int, int, int]) -> None:
    with contextlib.suppress(OSError):  # of this thread alone: it should be on time
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10)
    line.run(*times)


def main(folder: Path) -> int:
    """Carry a run out and return the exit status: 0; 2 where the machine or the kernel lacks something, 1 where simple_switch fails."""
    try:
        carry_out(folder)
        return 0
    except (spaces.Refused, ends.Refused) as error:
        kind, words = 2, str(error)
    except Failed as error:
        kind, words = 1, str(error)
    except OSError as error:
        kind, words = 1, f"{error.filename or 'the network'}: {error.strerror or error}"
    (folder / "error.json").write_text(json.dumps({"status": kind, "words": words}))
    return kind


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
