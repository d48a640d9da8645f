"""iperf3: its client in the end that sends, its server in the other; what both say in JSON becomes the results."""

import contextlib
import json
import math
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.basics.packages import need_program
from penstock.errors import UserError
from penstock.live.applications import kernel_tcp
from penstock.live.applications.base import NS, Application, End, Program, seconds_until, start_in, within

PORT = 5201  # of the first entry
UDP_BYTES = 1200
POINTS = 1000  # of a series, about
CONNECT_MS = 5000
LISTEN_SECONDS = 5.0
SAMPLE_SECONDS = 0.2
LATE_SECONDS = 0.05  # that a client may begin late and still have its whole seconds
DRAIN_SECONDS = 2.0  # after its time, for what is in queues and for the exchange of results, before it is told to end
WORDS_SECONDS = 1.0  # from there to its last words


class Iperf(Application):
    """One server and one client with all flows."""

    kind = "iperf"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.port = PORT + self.number
        self._programs: list[Program] = []
        self._client: Program | None = None
        self._began_ns: int | None = None
        self._failure: str | None = None
        self._early = False
        self._marks: dict[int, int] = {}
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def need(self) -> None:
        need_program("iperf3", "iperf3")
        if self.given.algorithm:
            kernel_tcp.need_control(self.given.algorithm)

    def start(self, ends: Mapping[str, End], begin_ns: int, folder: Path) -> None:
        _, to, self._version = self.addresses(ends)
        self.set_ecn(ends)
        self._begin_ns = begin_ns
        self._files = {side: folder / f"{self.file(side)}.json" for side in ("server", "client")}
        self._step = interval(self.stop_ns - self.start_ns)
        self._run("server", ends[self.receiver], ["-s", "-1", "-B", to])
        self._thread = threading.Thread(target=self._go, args=(ends, to), name=self.name, daemon=True)
        self._thread.start()

    def _run(self, side: str, end: End, options: Sequence[str]) -> Program:
        command = ["iperf3", *options, "-p", str(self.port), "-J", "-i", str(self._step)]
        with self._files[side].open("w") as file:
            program = start_in(end, command, stdout=file, stderr=file)
        self._programs.append(program)
        return program

    def _go(self, ends: Mapping[str, End], to: str) -> None:
        try:
            with within(ends[self.receiver].space, kernel_tcp.diagnosis) as there:
                self._await_server(there)
            if self._ending.wait(seconds_until(self._begin_ns + self.start_ns)):
                return
            seconds = (self._begin_ns + self.stop_ns - time.monotonic_ns()) / NS
            if seconds < 0.1:
                self._failure = "it had no time left when it could begin"
                return
            self._began_ns = time.monotonic_ns()
            self._client = self._run("client", ends[self.sender], self._options(to, seconds))
            self._early = math.ceil(seconds - LATE_SECONDS) - seconds > LATE_SECONDS
            with within(ends[self.sender].space, kernel_tcp.diagnosis) as here:
                self._watch(here, self._client)
        except (OSError, UserError) as error:
            self._failure = self._failure or str(error)

    def _await_server(self, there: socket.socket) -> None:
        end = time.monotonic() + LISTEN_SECONDS
        while time.monotonic() < end and not self._ending.is_set() and not self._programs[0].wait(0.0):
            if any(kernel_tcp.listens(there, version, self.port) for version in (4, 6)):
                return
            time.sleep(0.02)

    def _options(self, to: str, seconds: float) -> list[str]:
        given = self.given
        whole = max(1, math.ceil(seconds - LATE_SECONDS))  # iperf3 takes no parts of a second: `_watch` tells it to end
        options = ["-c", to, "-t", str(whole), "-P", str(given.flows), "--connect-timeout", str(CONNECT_MS)]
        if given.dscp:
            options += ["-S", str(given.dscp << 2)]
        if given.rate is not None:
            options += ["-b", str(given.rate // given.flows)]
        if given.udp:
            return [*options, "-u", "-l", str(given.size or UDP_BYTES)]
        return [*options, *(["-C", given.algorithm] if given.algorithm else [])]

    def _watch(self, here: socket.socket, client: Program) -> None:
        """Look at the kernel's connections while it sends, for `sample` and for what iperf3 does not tell."""
        before, then = 0, time.monotonic()
        stop_ns = self._begin_ns + self.stop_ns
        while not client.wait(0.0):
            left = seconds_until(stop_ns) if self._early else SAMPLE_SECONDS
            if not left:
                client.process.terminate()
                break
            if self._ending.wait(min(left, SAMPLE_SECONDS)):
                break
            with contextlib.suppress(OSError):
                flows = kernel_tcp.connections(here, self._version, self.port)
                flows = sorted(flows, key=lambda flow: flow.acked)[-self.given.flows :]  # one more is iperf3's control connection
                now, total = time.monotonic(), sum(flow.acked for flow in flows)
                self._marks.update({flow.source: flow.marked for flow in flows})
                if flows and not self.given.udp:
                    self._sample = {
                        "throughput_bps": max(0, round(8 * (total - before) / (now - then))),
                        "delay_ns": round(1000 * sum(flow.rtt_us for flow in flows) / len(flows)),
                        "cwnd_segments": sum(flow.cwnd for flow in flows),
                        "retransmits": sum(flow.retransmits for flow in flows),
                    }
                before, then = total, now
        self._sample = {}

    def finish(self, deadline_ns: int) -> dict[str, Any]:
        result = self.head()
        if self._client is not None:
            last = self._begin_ns + self.stop_ns + round(DRAIN_SECONDS * NS)
            self._client.wait(seconds_until(min(last, deadline_ns - round(WORDS_SECONDS * NS))))
        self._ending.set()
        if self._thread is not None:
            self._thread.join(5.0)
        for program in reversed(self._programs):  # the client says what it knows, and lets the server go
            # A server of many flows writes its words for longer than the client waits for.
            left = seconds_until(deadline_ns) if program is self._programs[0] and self._client is not None else 0.0
            if not program.wait(left):
                with contextlib.suppress(OSError):
                    program.process.terminate()
                program.wait(WORDS_SECONDS)
        if len(self._programs) > 1:
            self._programs[0].wait(min(WORDS_SECONDS, seconds_until(deadline_ns)))
        for program in self._programs:
            program.close()
        if self._began_ns is None:
            return result | empty() | {"error": self._failure or "it was ended before it began"}
        result["start_s"] = round((self._began_ns - self._begin_ns) / NS, 6)
        said = {side: read(path) for side, path in self._files.items()}
        try:
            result |= results(said["client"], said["server"], self.name, self._marks if self.given.ecn else None, result["start_s"])
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError) as error:
            result |= empty() | {"error": f"iperf3 has said what is not understood: {type(error).__name__}: {error}"}
        if self._failure and not result["error"]:
            result["error"] = self._failure
        return result


def interval(length_ns: int) -> float:
    """Return seconds between two points of a series: a tenth at least, which is iperf3's least, and some POINTS points at most."""
    return min(60.0, max(1, -(-length_ns * 10 // (POINTS * NS))) / 10)


def jain(amounts: Sequence[int]) -> float | None:
    """Return Jain's index of fairness: 1 where all are equal, 1 / n where one of n has all; None of one alone, and of nothing."""
    squares = sum(one * one for one in amounts)
    return round(sum(amounts) ** 2 / (len(amounts) * squares), 4) if len(amounts) > 1 and squares else None


def empty() -> dict[str, Any]:
    """Return the results of one that has not sent."""
    return {"throughput_bps": None, "flows": [], "over_time": None}


def read(path: Path) -> dict[str, Any]:
    """Return what iperf3 has written; of what is not JSON its last line as `error`."""
    text = path.read_text(errors="replace").strip() if path.exists() else ""
    with contextlib.suppress(ValueError):
        data = json.loads(text)
        if isinstance(data, dict):
            return data
    return {"error": text.splitlines()[-1] if text else "it has said nothing"}


def results(
    client: Mapping[str, Any], server: Mapping[str, Any], name: str, marks: Mapping[int, int] | None = None, began_s: float = 0.0
) -> dict[str, Any]:
    """Return what client and server say, together. Payload counts where it arrives, over the time in which it arrives.

    `marks`: of ECN, by the client's port. A client that was told to end says "error", too; that is none.
    """
    connected = client.get("start", {}).get("connected", [])
    if not connected:
        return empty() | {"error": f"iperf3 has not begun: {_error(client) or _error(server) or 'it gives no reason'}"}
    sent, got = _intervals(client), _intervals(server)
    rows, total, longest = [], 0, 0.0
    of_server = server.get("start", {}).get("connected", [])
    ports = {stream["local_port"]: stream["socket"] for stream in connected}
    there = {stream["remote_port"]: stream["socket"] for stream in of_server}
    for number, (port, here) in enumerate(ports.items(), 1):
        arrived = _of(got, there.get(port))
        left = _of(sent, here)
        size, seconds = sum(part["bytes"] for part in arrived), sum(part["seconds"] for part in arrived)
        total, longest = total + size, max(longest, seconds)
        row: dict[str, Any] = {"name": f"{name} {number}" if len(ports) > 1 else name}
        row |= {"throughput_bps": round(8 * size / seconds) if seconds else 0, "bytes": size}
        if any("retransmits" in part for part in left):
            row |= {"retransmits": sum(part["retransmits"] for part in left), "rtt_ms": _rtt(left)}
        if marks is not None:
            row["ecn_marked"] = marks.get(port)
        if any("packets" in part for part in arrived):
            row |= {"packets": sum(part["packets"] for part in arrived), "lost": sum(part["lost_packets"] for part in arrived)}
            row["jitter_ms"] = round(arrived[-1]["jitter_ms"], 3)
        rows.append(row)
    return {
        "throughput_bps": round(8 * total / longest) if longest else 0,
        "bytes": total,
        "jain": jain([row["bytes"] for row in rows]),
        "algorithm": client.get("end", {}).get("sender_tcp_congestion"),
        "flows": rows,
        "over_time": _over_time(sent, got, began_s),
        "error": None if total else f"nothing has arrived: {_error(client) or _error(server) or 'iperf3 gives no reason'}",
    }


def _intervals(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the intervals, once each: iperf3 repeats the last one when it is told to end."""
    found: list[Mapping[str, Any]] = []
    for part in said.get("intervals", []):
        if not found or part["sum"]["start"] > found[-1]["sum"]["start"]:
            found.append(part)
    return found


def _error(said: Mapping[str, Any]) -> str:
    return str(said.get("error") or "").removeprefix("error - ").strip()


def _of(intervals: Sequence[Mapping[str, Any]], number: int | None) -> list[Mapping[str, Any]]:
    return [stream for part in intervals for stream in part["streams"] if stream["socket"] == number]


def _rtt(parts: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """Return TCP's smoothed round trips as they were at the ends of intervals."""
    values = sorted(part["rtt"] / 1000 for part in parts if part.get("rtt"))
    if not values:
        return None
    middle = values[-(-len(values) // 2) - 1]
    return {key: round(value, 3) for key, value in (
        ("min", values[0]), ("mean", sum(values) / len(values)), ("p50", middle), ("max", values[-1])
    )}  # fmt: skip


def _over_time(sent: Sequence[Mapping[str, Any]], got: Sequence[Mapping[str, Any]], began_s: float) -> dict[str, Any]:
    """Return what was seen at the ends of intervals, in seconds from the beginning of the run; `flows_*`: by flow."""
    over: dict[str, Any] = {
        "time_s": [round(began_s + part["sum"]["end"], 3) for part in got],
        "throughput_bps": [round(part["sum"]["bits_per_second"]) for part in got],
        "flows_bps": [[round(stream["bits_per_second"]) for stream in streams] for streams in _by_stream(got)],
    }
    trips = [[stream["rtt"] / 1000 for stream in part["streams"]] for part in sent if all(s.get("rtt") for s in part["streams"])]
    if trips and len(trips) == len(sent):
        means = [round(sum(each) / len(each), 3) for each in trips if each]
        over["delay_ms"] = (means + [None] * len(got))[: len(got)]
        over["flows_cwnd_bytes"] = [[stream["snd_cwnd"] for stream in streams] for streams in _by_stream(sent)]
    return over


def _by_stream(intervals: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    numbers = [stream["socket"] for stream in intervals[0]["streams"]] if intervals else []
    return [_of(intervals, number) for number in numbers]
