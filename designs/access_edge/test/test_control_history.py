# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The last day of each subscriber: beside sums over all looks, across restarts, and within the memory that is stated."""

import errno
import os
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs.access_edge.control import history
from penstock.designs.access_edge.control.history import BYTES, INTERVAL_SECONDS, POINTS, History, Point
from penstock.designs.access_edge.control.http import pages
from penstock.designs.access_edge.testing.control import fails, home
from penstock.testing.testkit import seed
from penstock.v1 import counters_pb2, subscribers_pb2

PLACES, NONE = 7, -1


class Reference:
    """All looks, kept: what a day is follows from them."""

    def __init__(self) -> None:
        self.looks: list[tuple[float, float, list[int], list[tuple[int, int, int]]]] = []
        self.began = 0  # of `looks`: where the server was started last

    def of(self, place: int) -> list[Point]:
        """Return the points, from the looks since its subscriber came and since each start of the server."""
        now, since = int(self.looks[-1][0] // INTERVAL_SECONDS), self.looks[-1][2][place]
        if since == NONE:
            return []
        found: dict[int, Point] = {}
        starts = [0, *(n for n, look in enumerate(self.looks) if look is RESTART), len(self.looks)]
        for begin, end in zip(starts, starts[1:], strict=False):
            looks = [look for look in self.looks[begin:end] if look is not RESTART]
            base = start = None
            for number, (clock, monotonic, owners, values) in enumerate(looks):
                interval = int(clock // INTERVAL_SECONDS)
                sent, dropped, queued = values[place]
                new_interval = number == 0 or interval != int(looks[number - 1][0] // INTERVAL_SECONDS)
                came = number > 0 and owners[place] != looks[number - 1][2][place]
                if new_interval:
                    start, base, most = monotonic, (sent, dropped), 0
                elif came:
                    base, most = (0, 0), 0
                most = max(most, queued)
                if owners[place] != since or now - interval >= POINTS:
                    found.pop(interval, None)
                    continue
                last = number == len(looks) - 1 or int(looks[number + 1][0] // INTERVAL_SECONDS) != interval
                if last and (end == len(self.looks) and interval == now or number < len(looks) - 1) and monotonic > start:
                    # an interval is over at the first look of the next one, with what the last look of its own has seen
                    seconds = monotonic - start
                    found[interval] = Point(
                        interval * INTERVAL_SECONDS, round(8 * (sent - base[0]) / seconds), dropped - base[1], most
                    )  # fmt: skip
        return [found[interval] for interval in sorted(found)]


RESTART: Any = object()


def close(found: list[Point], expected: list[Point]) -> None:
    """Rates are kept in steps of 100 bit/s; all else is exact."""
    assert [(point.at, point.dropped_packets, point.most_queued_bytes) for point in found] == [
        (point.at, point.dropped_packets, point.most_queued_bytes) for point in expected
    ]
    for one, other in zip(found, expected, strict=True):
        assert abs(one.rate_bps - other.rate_bps) <= 51


@pytest.mark.parametrize("file", [True, False], ids=["file", "memory"])
def test_days_beside_all_looks(tmp_path: Path, file: bool) -> None:
    """Subscribers come, are replaced and go; looks come at any distance, also more than an interval apart; with a file restarts as well."""
    print(f"seed {seed()}")
    draw = random.Random(f"{seed()} {file}")
    path = tmp_path / "h" if file else None
    made, reference, clock, monotonic = History(PLACES, path, 11), Reference(), 1.7e9, 500.0
    owners, versions = [NONE] * PLACES, iter(range(1, 10**6))
    values = [[0, 0, 0] for _ in range(PLACES)]
    checked = 0
    for _ in range(1500):
        step = draw.choice([0.5, 7.0, 61.0, 299.0, 300.0, 301.0, 950.0]) if draw.random() < 0.995 else 90_000.0
        clock, monotonic = clock + step, monotonic + step
        for place in range(PLACES):
            if draw.random() < 0.01:
                owners[place] = NONE if owners[place] != NONE and draw.random() < 0.5 else next(versions)
                values[place] = [0, 0, 0]
            if owners[place] != NONE:
                values[place][0] += draw.randrange(10**9) if draw.random() < 0.7 else 0
                values[place][1] += draw.randrange(50) if draw.random() < 0.2 else 0
                values[place][2] = draw.randrange(1 << 24) if draw.random() < 0.5 else 0
        if file and draw.random() < 0.01:
            made = History(PLACES, path, 11)
            reference.looks.append(RESTART)
        arrays = np.array(values, dtype=np.uint64).T
        made.look(clock, monotonic, np.array(owners), (arrays[0], arrays[1], arrays[2].astype(np.int64)))
        reference.looks.append((clock, monotonic, list(owners), [(a, b, c) for a, b, c in values]))
        if draw.random() < 0.05:
            for place in range(PLACES):
                close(made.of(place), reference.of(place))
                checked += len(made.of(place))
    assert checked > 1000


def test_what_it_takes_is_bounded(tmp_path: Path) -> None:
    """BYTES for each place that has had a subscriber, in memory and on the disk, and little for all others, however long it goes on."""
    places, taken = 65_536, 400

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    since = np.full(places, NONE, dtype=np.int64)
    since[:taken] = 1
    counts, queued = np.zeros(places, dtype=np.uint64), np.zeros(places, dtype=np.int64)
    before = resident()
    made = History(places, tmp_path / "h")
    for interval in range(2 * POINTS):
        counts[:taken] += np.uint64(10**6)
        for at in (INTERVAL_SECONDS * interval, INTERVAL_SECONDS * interval + 100):
            made.look(1_700_000_100 + at, at, since, (counts, counts, queued))
        if interval == POINTS:
            once = (tmp_path / "h").stat()
    grown = resident() - before
    assert BYTES == 12 * 288
    blocks = 2 * 256
    assert grown < BYTES * blocks + 200 * places, f"{grown:,} byte for {taken} subscribers"
    assert (tmp_path / "h").stat().st_size == once.st_size == 8 * (4 + POINTS + 2 * places) + BYTES * blocks
    assert len(made.of(0)) == POINTS and made.of(taken) == []
    again = History(places, tmp_path / "h")
    again.look(1_700_000_100 + INTERVAL_SECONDS * 2 * POINTS, 5.0, since, (counts, counts, queued))
    assert again.of(3) == made.of(3)[1:-1]  # the one that was not over is lost


def test_a_file_of_another_store_begins_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    since, zeros = np.array([1, 1]), np.zeros(2, dtype=np.uint64)

    def days(path: Path, of_store: int, places: int = 2) -> int:
        made = History(places, path, of_store)
        for interval in range(3):
            of = (zeros[:places], zeros[:places], zeros[:places].astype(np.int64))
            for at in (INTERVAL_SECONDS * interval, INTERVAL_SECONDS * interval + 1):
                made.look(INTERVAL_SECONDS * 1000 + at, at, since[:places], of)
        return len(History(places, path, of_store)._interval_of.nonzero()[0])

    path = tmp_path / "h"
    days(path, 1)
    kept = path.read_bytes()
    for of_store, places in ((2, 2), (1, 1)):
        path.write_bytes(kept)
        assert History(places, path, of_store)._of.tolist() == [NONE] * places and not path.exists()
    path.write_bytes(kept[:100])
    assert History(2, path, 1)._of.tolist() == [NONE] * 2
    path.write_bytes(kept)
    assert History(2, path, 1)._of.tolist() == [1, 1]


def test_a_full_disk_is_logged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """And the history in memory goes on."""
    import logging

    logging.getLogger("penstock").propagate = True

    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(history.os, "pwrite", full)
    made, zeros = History(1, tmp_path / "h"), np.zeros(1, dtype=np.uint64)
    for interval in range(5):
        for at in (INTERVAL_SECONDS * interval, INTERVAL_SECONDS * interval + 1):
            made.look(at, at, np.array([1]), (zeros, zeros, np.array([interval])))
    assert [point.most_queued_bytes for point in made.of(0)] == [0, 1, 2, 3, 4]
    assert sum("the history cannot be written (no space left on device)" in record.getMessage() for record in caplog.records) == 1


def test_a_server_tells_a_day(served: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """By gRPC, on the page's path and from the command line: rates are those of the counters, and a place's next subscriber has none of
    what the one before it had."""
    import json
    import urllib.request

    client, plant, sweep, places = served
    clock = [time.time() // INTERVAL_SECONDS * INTERVAL_SECONDS]
    monkeypatch.setattr(sweep, "clock", lambda: clock[0])

    def whole() -> None:
        seen = sweep.whole
        deadline = time.monotonic() + 60
        while sweep.whole < seen + 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    client.provision([home("of a day", node=1)])
    request = counters_pb2.HistoryRequest(subscriber="of a day")
    for _ in range(3):
        time.sleep(0.3)
        whole()
        clock[0] += INTERVAL_SECONDS
        whole()
    found = client.counters.History(request)
    assert found.interval_seconds == INTERVAL_SECONDS and len(found.points) in (3, 4)
    ats = [point.at for point in found.points]
    assert ats == list(range(ats[0], ats[0] + INTERVAL_SECONDS * len(ats), INTERVAL_SECONDS))
    place = plant.index_of["of a day"]
    with sweep.done:
        left = int(sweep.counts[4 * place : 4 * place + 4, 3].sum())
    assert left > 0 and all(point.rate_bps > 0 for point in found.points[:-1])
    with pages(plant, sweep, "127.0.0.1:0") as url:
        place_of = f"{url.rstrip('/')}/api/history?name=of+a+day"
        answer = json.loads(urllib.request.urlopen(place_of).read())
    assert [point["at"] for point in answer["points"]] == ats and answer["interval_seconds"] == INTERVAL_SECONDS
    assert main(["ctl", "--server", places[0], "subscriber", "history", "of a day"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["from", "rate", "dropped", "most", "queued", "(byte)"] and len(lines) == 1 + len(ats)
    import grpc

    nobody = counters_pb2.HistoryRequest(subscriber="nobody")
    fails(grpc.StatusCode.NOT_FOUND, "there is no subscriber 'nobody'", client.counters.History, nobody)
    client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="of a day"))
    next_one = home("the next one", node=1)
    next_one.index = place
    client.provision([next_one])
    whole()
    assert len(client.counters.History(counters_pb2.HistoryRequest(subscriber="the next one")).points) <= 1
    client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="the next one"))
