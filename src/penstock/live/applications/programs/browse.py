"""Clients of a web server: each loads a page, pauses, and loads the next."""

import contextlib
import http.client
import random
import threading
import time
from collections.abc import Mapping
from typing import Any

from penstock.live.applications.programs import job as jobs
from penstock.live.applications.programs.fetch import fetch

RETRY_SECONDS = 0.2


class Load:
    """What all clients have got so far."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self.job = job
        self.bytes = [0] * (job["clients"] * job["connections"])
        self.pages: list[tuple[int, int, int]] = []  # client, begin, end
        self.begun = 0
        self.failed = 0
        self.error = ""
        self.lock = threading.Lock()

    def client(self, number: int) -> None:
        """Load pages until it is over."""
        job, chosen = self.job, random.Random(f"{self.job['seed']} {number}")
        links: list[http.client.HTTPConnection | None] = [None] * min(job["connections"], job["objects"])
        left = job["pages"]
        while time.monotonic_ns() < job["stop_ns"] and left != 0:
            sizes = [chosen.choice(job["sizes"]) for _ in range(job["objects"])]
            begin = time.monotonic_ns()
            with self.lock:
                self.begun += 1
            bad: list[str] = []
            others = [threading.Thread(target=self._objects, args=(number, place, links, sizes, bad)) for place in range(1, len(links))]
            for other in others:
                other.daemon = True
                other.start()
            self._objects(number, 0, links, sizes, bad)
            for other in others:
                other.join()
            with self.lock:
                if bad:
                    self.failed, self.error = self.failed + 1, bad[0]
                else:
                    self.pages.append((number, begin, time.monotonic_ns()))
            if bad or not job["keep"]:
                for place, link in enumerate(links):
                    if link is not None:
                        link.close()
                    links[place] = None
            left -= 1 if left > 0 else 0
            time.sleep(max(job["pause_ns"] / jobs.NS, RETRY_SECONDS if bad else 0.0))

    def _objects(self, number: int, place: int, links: "list[http.client.HTTPConnection | None]", sizes: list[int], bad: list[str]) -> None:
        """Load every object that is this connection's turn."""
        at = number * self.job["connections"] + place

        def count(part: int) -> None:
            self.bytes[at] += part

        try:
            for size in sizes[place :: len(links)]:
                link = links[place]
                if link is None:
                    link = links[place] = http.client.HTTPConnection(self.job["to"], self.job["port"], timeout=self.job["timeout_s"])
                fetch(link, size, count)
        except (OSError, http.client.HTTPException) as error:
            bad.append(str(error) or type(error).__name__)


def main() -> None:
    job = jobs.taken()
    load = Load(job)
    over: list[tuple[int, int]] = []
    jobs.say(ready=True)
    with contextlib.suppress(jobs.Hurry):
        jobs.sleep_until(job["start_ns"])
        threads = [threading.Thread(target=load.client, args=(number,), daemon=True) for number in range(job["clients"])]
        for thread in threads:
            thread.start()
        at, before = job["start_ns"], 0
        while at < job["stop_ns"] and any(thread.is_alive() for thread in threads):
            at = min(at + job["step_ns"], job["stop_ns"])
            jobs.sleep_until(at)
            total = sum(load.bytes)
            over.append((at, total))
            jobs.say(now={"throughput_bps": 8 * (total - before) * jobs.NS // job["step_ns"], "pages": len(load.pages)})
            before = total
    total = sum(load.bytes)
    with load.lock:
        pages = [page for page in load.pages if page[2] <= job["stop_ns"]]
        result = {"pages": pages, "begun": load.begun, "failed": load.failed, "error": load.error}
    jobs.say(result={**result, "bytes": total, "over": over, "end_ns": min(time.monotonic_ns(), job["stop_ns"])})
    jobs.end()


if __name__ == "__main__":
    main()
