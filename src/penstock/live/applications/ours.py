"""The applications whose programs are ours: web pages, a film, pings, a call."""

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from penstock.errors import UserError
from penstock.live.applications import kernel_tcp, speech
from penstock.live.applications.base import MS, NS, PS_PER_NS, Application, End, Speaker, seconds_until
from penstock.live.applications.iperf import interval

READY_SECONDS = 10.0  # that a program gets to begin on a busy machine
WORDS_SECONDS = 1.0
WEB_PORT, VOICE_PORT = 8000, 16384  # of the first entry
TIMEOUT_SECONDS = 30
VOICE_DRAIN_NS = NS
LATE_NS = 50_000_000  # that a program may begin late without a word


def distribution(values: Sequence[float]) -> dict[str, Any]:
    """Return the distribution, as of all results."""
    from penstock.engine import result

    return result.distribution(np.asarray(values, dtype=np.float64))


class Ours(Application):
    """One that has a program of ours in an end or in both; the first is there before the second begins."""

    seen = 0  # which of its programs tells what is seen now

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._speakers: list[Speaker] = []
        self._failure: str | None = None
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    def need(self) -> None:
        if getattr(self.given, "algorithm", None):
            kernel_tcp.need_control(self.given.algorithm)

    def start(self, ends: Mapping[str, End], begin_ns: int, folder: Path) -> None:
        self.set_ecn(ends)
        self._begin_ns = begin_ns
        sender, receiver, version = self.addresses(ends)
        times = {"version": version, "start_ns": begin_ns + self.start_ns, "stop_ns": begin_ns + self.stop_ns, "dscp": self.given.dscp}
        programs = [(ends[name], module, times | job) for name, module, job in self.programs(sender, receiver)]
        self._thread = threading.Thread(target=self._go, args=(programs, folder), name=self.name, daemon=True)
        self._thread.start()

    def _go(self, programs: Sequence[tuple[End, str, dict[str, Any]]], folder: Path) -> None:
        try:
            for number, (end, module, job) in enumerate(programs):
                if self._ending.is_set():
                    return
                self._speakers.append(Speaker(end, module, job, folder, self.file(f"{module}_{number}")))
                if not self._speakers[-1].await_ready(READY_SECONDS):
                    self._failure = f"its program {module} has not begun"
                    return
            late = time.monotonic_ns() - self._begin_ns - self.start_ns
            if late > LATE_NS:
                self._failure = f"it has begun {late / NS:.2f} s late, as its programs were not there before"
        except (OSError, UserError) as error:
            self._failure = str(error)

    def programs(self, sender: str, receiver: str) -> list[tuple[str, str, dict[str, Any]]]:
        """Return the end, the program and its job for each, by the addresses of the ends."""
        raise NotImplementedError

    def explained(self, said: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the results, by those of the programs."""
        raise NotImplementedError

    def sample(self) -> dict[str, Any]:
        speakers = self._speakers
        return dict(speakers[self.seen].now) if len(speakers) > self.seen and speakers[self.seen].result is None else {}

    def finish(self, deadline_ns: int) -> dict[str, Any]:
        self._ending.set()
        if self._thread is not None:
            self._thread.join(seconds_until(deadline_ns))
        said: list[dict[str, Any] | None] = []
        for speaker in reversed(self._speakers):  # those that ask, before those that serve
            words = None if speaker.serves else speaker.await_result(seconds_until(deadline_ns - round(WORDS_SECONDS * NS)))
            if words is None:
                speaker.hurry()
                words = speaker.await_result(WORDS_SECONDS)
            said.insert(0, words)
        last = [speaker.close() for speaker in self._speakers]
        results = self.head()
        if not said or len(said) < len(self.programs("", "")) or any(words is None for words in said):
            reason = next((line for line in last if line), "") or "it gives no reason"
            return results | {"flows": [], "over_time": None, "error": self._failure or f"a program of it has ended early: {reason}"}
        results |= self.explained([words for words in said if words is not None])
        results["error"] = results["error"] or self._failure
        return results

    def over(self, points: Sequence[Sequence[float]], begin_ns: int) -> dict[str, Any]:
        """Return payload over time, by (time, bytes so far)."""
        times = [begin_ns, *(point[0] for point in points)]
        sizes = [0, *(point[1] for point in points)]
        rates = [8 * NS * (size - before) / (at - then) for size, before, at, then in zip(sizes[1:], sizes, times[1:], times, strict=False)]
        return {
            "time_s": [round((at - self._begin_ns) / NS, 3) for at in times[1:]],
            "throughput_bps": [round(rate) for rate in rates],
        }

    def rate_of(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return payload of a program that loads, in all and over time."""
        begin = self._begin_ns + self.start_ns
        bps = round(8 * NS * said["bytes"] / max(1, said["end_ns"] - begin))
        row = {"name": self.name, "throughput_bps": bps, "bytes": said["bytes"]}
        return {"throughput_bps": bps, "bytes": said["bytes"], "flows": [row], "over_time": self.over(said["over"], begin)}

    def _web(self, sender: str) -> tuple[str, str, dict[str, Any]]:
        return self.sender, "serve", {"here": sender, "port": WEB_PORT + self.number, "algorithm": self.given.algorithm}

    def _loads(self, sender: str) -> dict[str, Any]:
        step = round(interval(self.stop_ns - self.start_ns) * NS)
        return {"to": sender, "port": WEB_PORT + self.number, "timeout_s": TIMEOUT_SECONDS, "step_ns": step, "dscp": 0}


class Http(Ours):
    """Web pages."""

    kind, seen = "http", 1

    def programs(self, sender: str, receiver: str) -> list[tuple[str, str, dict[str, Any]]]:
        given = self.given
        job = {
            "clients": given.clients,
            "connections": given.connections,
            "objects": given.objects,
            "sizes": given.size,
            "keep": given.keep,
            "pause_ns": given.pause // PS_PER_NS,
            "pages": given.pages or -1,
            "seed": f"{self.seed} {self.number}",
        }
        return [self._web(sender), (self.receiver, "browse", self._loads(sender) | job)]

    def explained(self, said: Sequence[dict[str, Any]]) -> dict[str, Any]:
        got = said[1]
        loads = [(end - begin) / MS for _, begin, end in got["pages"]]
        nothing = f"no page has come whole: {got['error']}" if got["failed"] and not loads else None
        return self.rate_of(got) | {
            "pages": len(loads),
            "unfinished": got["begun"] - len(loads) - got["failed"],
            "failed": got["failed"],
            "load_ms": distribution(loads),
            "loads": [[round((end - self._begin_ns) / NS, 3), round((end - begin) / MS, 3)] for _, begin, end in got["pages"]],
            "error": nothing,
        }


class Video(Ours):
    """A film."""

    kind, seen = "video", 1

    def programs(self, sender: str, receiver: str) -> list[tuple[str, str, dict[str, Any]]]:
        given = self.given
        job = {
            "rates": given.rates,
            "segment_s": given.segment / 1e12,
            "buffer_s": given.buffer / 1e12,
            "begin_s": (given.begin or given.segment) / 1e12,
        }
        return [self._web(sender), (self.receiver, "watch", self._loads(sender) | job)]

    def explained(self, said: Sequence[dict[str, Any]]) -> dict[str, Any]:
        got = said[1]
        result = self.rate_of(got)
        result["over_time"]["buffer_s"] = [point[2] for point in got["over"]]
        keys = ("startup_s", "stalls", "stalled_s", "rate_bps", "rate_changes")
        seconds = [[round((begin - self._begin_ns) / NS, 3), round((end - begin) / NS, 3), rate] for begin, end, _, rate in got["segments"]]
        nothing = f"no part of the film has come: {got['error'] or 'there was not time enough'}" if not seconds else None
        return result | {key: got[key] for key in keys} | {"segments": seconds, "error": nothing}


class Ping(Ours):
    """Round trips."""

    kind = "ping"

    def programs(self, sender: str, receiver: str) -> list[tuple[str, str, dict[str, Any]]]:
        given = self.given
        job = {
            "to": receiver,
            "ident": 0x5000 + self.number,
            "interval_ns": given.interval // PS_PER_NS,
            "size": given.size,
            "timeout_ns": given.timeout // PS_PER_NS,
        }
        return [(self.sender, "echo", job)]

    def explained(self, said: Sequence[dict[str, Any]]) -> dict[str, Any]:
        trips, refused = said[0]["trips"], said[0]["refused"]
        back = [trip / MS for _, trip in trips if trip is not None]
        return {
            "sent": len(trips),
            "received": len(back),
            "loss_share": round(1 - len(back) / len(trips), 6) if trips else None,
            "round_trip_ms": distribution(back),
            "flows": [],
            "over_time": {
                "time_s": [round((at - self._begin_ns) / NS, 3) for at, _ in trips],
                "delay_ms": [None if trip is None else round(trip / MS, 3) for _, trip in trips],
            },
            "error": None if back else f"nothing has come back{f', and {refused:,} requests were refused here' if refused else ''}",
        }


class Voice(Ours):
    """A call."""

    kind, seen = "voice", 1

    def programs(self, sender: str, receiver: str) -> list[tuple[str, str, dict[str, Any]]]:
        codec, port = speech.CODECS[self.given.codec], VOICE_PORT + 2 * self.number
        job = {"port": port, "interval_ns": codec.interval_ms * 1_000_000, "size": codec.size, "ticks": codec.ticks,
               "type": codec.payload, "drain_ns": VOICE_DRAIN_NS}  # fmt: skip
        both = ((self.sender, sender, receiver, True), (self.receiver, receiver, sender, self.given.both_ways))
        first = 2 * self.number + 1  # SSRC
        return [
            (name, "talk", job | {"here": here, "there": there, "speaks": speaks, "source": first + at, "expected": first + 1 - at})
            for at, (name, here, there, speaks) in enumerate(both)
        ]

    def explained(self, said: Sequence[dict[str, Any]]) -> dict[str, Any]:
        sides = ((0, 1), (1, 0)) if self.given.both_ways else ((0, 1),)
        ways = [self._way(said[speaks], said[hears], speaks) for speaks, hears in sides]
        heard = [way for way in ways if way["mos"] is not None]
        # What a call felt: the way on which it is worse.
        worst = min(heard, key=lambda way: way["mos"]) if len(heard) == len(ways) else {}
        dead = next((way for way in ways if way["mos"] is None), None)
        flows = [
            {"name": self.name if len(ways) == 1 else f"{self.name} to {way['to']}", "throughput_bps": way["throughput_bps"]}
            for way in ways
        ]
        return {
            **{key: worst.get(key) for key in ("delay_ms", "jitter_ms", "loss_share", "r", "mos")},
            "throughput_bps": sum(way["throughput_bps"] for way in ways),
            "ways": [{key: value for key, value in way.items() if key != "over_time"} for way in ways],
            "flows": flows,
            "over_time": (worst or ways[0])["over_time"],
            "error": f"nothing has come to {dead['to']}" if dead else None,
        }

    def _way(self, speaks: Mapping[str, Any], hears: Mapping[str, Any], number: int) -> dict[str, Any]:
        codec, (speaker, listener) = speech.CODECS[self.given.codec], (self.sender, self.receiver)[:: -1 if number else 1]
        first: dict[int, tuple[int, int]] = {}
        for seq, begun, came in hears["got"]:
            first.setdefault(seq, (begun, came))
        delays = [(first[seq][1] - first[seq][0]) / MS if seq in first else None for seq in range(speaks["sent"])]
        transits = [(came - begun) / MS for begun, came in first.values()]
        jitters = speech.jitter_ms(transits)
        waits, there = speech.playout(delays, max(1, round(speech.TALKSPURT_S * 1000 / codec.interval_ms)))
        lost = 1 - len(first) / len(delays) if delays else None
        way: dict[str, Any] = {"from": speaker, "to": listener, "sent": speaks["sent"], "received": len(first)}
        way |= {"loss_share": None if lost is None else round(lost, 6), "delay_ms": distribution(transits)}
        way |= {"jitter_ms": round(jitters[-1], 3) if jitters else None, "jitters_ms": distribution(jitters)}
        way["sender_late_ms"] = round(speaks["late_ns"] / MS, 3)
        seconds = max(1e-3, speaks["sent"] * codec.interval_ms / 1000)
        way["throughput_bps"] = round(8 * codec.size * len(first) / seconds)
        way |= {"mouth_to_ear_ms": None, "late_share": None, "burst_ratio": None, "r": None, "mos": None}
        if first:
            ear = codec.interval_ms + codec.ahead_ms + sum(waits) / len(waits)
            gone, burst = 100 * (1 - sum(there) / len(there)), speech.burst_ratio(there)
            r = speech.rating(codec, ear, gone, burst)
            way |= {"mouth_to_ear_ms": round(ear, 3), "late_share": round(gone / 100 - (lost or 0.0), 6), "burst_ratio": round(burst, 3)}
            way |= {"r": round(r, 2), "mos": round(speech.mos(r), 3)}
        began = self._begin_ns + self.start_ns
        times = [round((began + number * codec.interval_ms * 1_000_000 - self._begin_ns) / NS, 3) for number in range(len(delays))]
        way["over_time"] = {"time_s": times, "delay_ms": [None if delay is None else round(delay, 3) for delay in delays]}
        return way
