"""A player of a film: segment after segment over HTTP, each in the best rate that its network seems to carry."""

import contextlib
import http.client
import threading
import time
from typing import Any

from penstock.live.applications.programs import job as jobs
from penstock.live.applications.programs.fetch import fetch
from penstock.live.applications.programs.player import Player

RETRY_SECONDS = 0.2
SAY_NS = 200_000_000


class Stream:
    """The player and its connection."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.player = Player(job["rates"], job["segment_s"], job["buffer_s"], job["begin_s"])
        self.lock = threading.Lock()
        self.bytes = 0
        self.segments: list[tuple[int, int, int, int]] = []  # begin, end, bytes, rate
        self.error = ""

    def now_s(self) -> float:
        """Return the time since its beginning."""
        return (time.monotonic_ns() - self.job["start_ns"]) / jobs.NS

    def count(self, part: int) -> None:
        """Count payload."""
        self.bytes += part

    def go(self) -> None:
        """Load segments until it is over."""
        link: http.client.HTTPConnection | None = None
        while time.monotonic_ns() < self.job["stop_ns"]:
            with self.lock:
                wait, rate = self.player.wait_s(self.now_s()), self.player.choose()
            if wait > 0:
                time.sleep(wait)
                continue
            size, begin = max(1, round(rate * self.job["segment_s"] / 8)), time.monotonic_ns()
            try:
                if link is None:
                    link = http.client.HTTPConnection(self.job["to"], self.job["port"], timeout=self.job["timeout_s"])
                fetch(link, size, self.count)
            except (OSError, http.client.HTTPException) as error:
                self.error = str(error) or type(error).__name__
                if link is not None:
                    link.close()
                link = None
                time.sleep(RETRY_SECONDS)
                continue
            end = time.monotonic_ns()
            with self.lock:
                self.player.arrived(self.now_s(), rate, size, (end - begin) / jobs.NS)
                self.segments.append((begin, end, size, rate))


def main() -> None:
    job = jobs.taken()
    stream = Stream(job)
    over: list[tuple[int, int, float]] = []
    jobs.say(ready=True)
    with contextlib.suppress(jobs.Hurry):
        jobs.sleep_until(job["start_ns"])
        threading.Thread(target=stream.go, daemon=True).start()
        at, before = job["start_ns"], 0
        while at < job["stop_ns"]:
            at = min(at + job["step_ns"], job["stop_ns"])
            jobs.sleep_until(at)
            with stream.lock:
                level, total = stream.player.level(stream.now_s()), stream.bytes
            over.append((at, total, round(level, 3)))
            jobs.say(now={"throughput_bps": 8 * (total - before) * jobs.NS // job["step_ns"], "buffer_s": round(level, 1)})
            before = total
    with stream.lock:
        end = min(time.monotonic_ns(), job["stop_ns"])
        film = stream.player.summary((end - job["start_ns"]) / jobs.NS)
        jobs.say(result={**film, "segments": stream.segments, "bytes": stream.bytes, "over": over, "end_ns": end, "error": stream.error})
    jobs.end()


if __name__ == "__main__":
    main()
