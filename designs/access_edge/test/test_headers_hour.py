# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A thousand subscribers a second come and go, for an hour of the device's time if asked to: no frame is lost, none is in a wrong queue.

    PENSTOCK_SECONDS=3600 ./penstock test --slow designs/access_edge/test/test_headers_hour.py -rP

30,000 subscribers of four queues are there at any moment. In each millisecond one comes, one goes, and every tenth one moves to other
queues, by the commands that software uses. Three frames come in each millisecond: one of a subscriber that stays, while keys come and go,
and behind that one of the subscriber that has come and one of the subscriber that has gone. A dictionary says where they belong.
"""

import os
import random
import time
from collections import deque
from typing import Any

import numpy as np
import pytest

import penstock
from penstock.designs.access_edge import find, matches, registers, subscribers
from penstock.designs.access_edge.scenario import HeaderSettings
from penstock.testing.testkit import seed

SECONDS = int(os.environ.get("PENSTOCK_SECONDS", "60"))
THERE, PLACES = 30_000, 32_768
BY_CLASS = {"class_of": "dscp", "classes": ["32-63", "16-31", "8-15", "0-7"], "kinds": ["pppoe", "two_tags"]}
VALUES = (32, 16, 8, 0)  # a DSCP of each class
SIZE = 64
A_SECOND = 1000  # ticks


class Population:
    """Who is there: subscribers with their key, their place and a frame of theirs."""

    def __init__(self, device: Any, rng: random.Random) -> None:
        self._session, self._rng = device._session, rng
        self._settings = HeaderSettings.model_validate(BY_CLASS)
        free = list(range(PLACES))
        rng.shuffle(free)
        self.free = deque(free)
        self.there: dict[int, tuple[int, int, bytes]] = {}  # by key: place, class, frame
        self.order: deque[int] = deque()  # keys, the one that came first in front

    def come(self) -> int:
        """Let one come; return its key."""
        rng = self._rng
        while True:
            pppoe = rng.random() < 0.5
            values = (
                (rng.randrange(1, 65_536), 0x025E << 32 | rng.getrandbits(16))
                if pppoe
                else (rng.randrange(1, 4095), rng.randrange(1, 4095))
            )
            match = matches.Match("pppoe" if pppoe else "two_tags", values)
            if (key := matches.key_of(match)) not in self.there:
                break
        place, number = self.free.popleft(), rng.randrange(4)
        head = subscribers.frame_head(subscribers.Found(1, None, match, 0, 3), VALUES[number], SIZE, self._settings)
        self.there[key] = (place, number, head[:SIZE].ljust(SIZE, b"\1"))
        self.order.append(key)
        self._write(find.insert(key, 4 * place, 3))
        return key

    def go(self) -> bytes:
        """Let the one go that came first; return a frame of it."""
        key = self.order.popleft()
        place, _, frame = self.there.pop(key)
        self.free.append(place)
        self._write(find.delete(key))
        return frame

    def move(self, key: int) -> None:
        """Let one move to other queues."""
        place, number, frame = self.there[key]
        self.free.append(place)
        self.there[key] = (self.free.popleft(), number, frame)
        self._write(find.insert(key, 4 * self.there[key][0], 3))

    def queue(self, key: int) -> int:
        """Return where its frame belongs."""
        place, number, _ = self.there[key]
        return 4 * place + number

    def _write(self, writes: list[find.Write]) -> None:
        for address, value in writes:
            self._session.write(address, value)


@pytest.mark.slow
@pytest.mark.timeout(max(900, 2 * SECONDS))
def test_subscribers_come_and_go() -> None:
    print(f"PENSTOCK_SEED={seed()}, {SECONDS:,} s of the device's time")
    rng = random.Random(seed())
    began = time.process_time()
    with penstock.open("headers_131072", seed=seed(), headers=BY_CLASS) as device:
        session, tick = device._session, device.config.clock_hz // A_SECOND
        device.advance(cycles=1)
        people = Population(device, rng)
        for number in range(THERE):
            people.come()
            if number % 64 == 0:
                device.advance(cycles=64_000)
        device.advance(cycles=tick)
        assert device.read("find_keys") == THERE
        came = gone = moved = sent = lost = 0
        for second in range(SECONDS):
            expected: list[int] = []
            first = sent
            for number in range(A_SECOND):
                begin = session.now
                one = people.come()
                frame = people.go()
                if number % 10 == 0:
                    people.move(people.order[rng.randrange(THERE // 2)])
                    moved += 1
                stays = people.order[rng.randrange(THERE // 2, THERE - 1)]
                session.offer(begin + rng.randrange(2_000), subscribers.ANY_QUEUE, people.there[stays][2], False, 0)
                session.offer(begin + 20_000, subscribers.ANY_QUEUE, people.there[one][2], False, 0)
                session.offer(begin + 20_000 + rng.randrange(10_000), subscribers.ANY_QUEUE, frame, False, 0)
                expected += (people.queue(stays), people.queue(one), subscribers.NO_QUEUE)
                session.advance(begin + tick)
            came, gone, sent = came + A_SECOND, gone + A_SECOND, sent + len(expected)
            left, dropped = session.take_left(), session.take_dropped()
            found = np.full(len(expected), -1, dtype=np.int64)
            found[left["number"] - first] = left["queue"]
            found[dropped["number"] - first] = dropped["queue"]
            wrong = np.flatnonzero(found != np.array(expected))
            assert not len(wrong), (second, [(int(at), int(found[at]), expected[at]) for at in wrong[:5]])
            assert len(left["number"]) == 2 * A_SECOND and set(dropped["reason"].tolist()) == {14}
            lost += len(dropped["number"])
        assert device.read("find_keys") == THERE and not device.read("status") & registers.STATUS_REFUSED
        counts = device.headers()
    hits, misses = (sum(row[name] for row in counts["profiles"]) for name in ("hits", "misses"))
    assert (hits, misses, counts["without_profile"]) == (sent - lost, lost, 0)
    print(f"{came:,} came, {gone:,} went, {moved:,} moved; {sent:,} frames, {hits:,} found, {lost:,} of those who had gone dropped")
    print(f"{time.process_time() - began:,.0f} s of this processor")
