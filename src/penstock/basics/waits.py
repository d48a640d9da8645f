# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Waits are announced with their length: what it was here the last time, or what it usually is where it has not been done yet.

The lengths are small facts in the user's cache, which all clones share: a new clone on the same machine knows them.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock import cache

KIND = "waits"
LONGEST_SECONDS = 7 * 24 * 3600  # what claims to have taken longer is not believed


def announcement(doing: str, name: str, usual_seconds: float) -> str:
    """Return the line for a wait: `doing`, and how long `name` took here before, or what it usually takes on two cores.

    `name` stands for the work: what takes another time gets another name.
    """
    before = cache.remembered(KIND, _key(name))
    if isinstance(before, int | float) and not isinstance(before, bool) and 0 <= before < LONGEST_SECONDS:
        return f"{doing} (took {duration(before)} here before)"
    return f"{doing} (usually some {duration(usual_seconds)})"


def duration(seconds: float) -> str:
    """Return a length of time as a person says it: `8 s`, `4 min`."""
    return f"{max(1, round(seconds))} s" if seconds < 120 else f"{round(seconds / 60)} min"


@contextmanager
def measured(name: str) -> Iterator[None]:
    """Store how long the work inside took, unless it fails."""
    begin = time.monotonic()
    yield
    cache.remember(KIND, _key(name), round(time.monotonic() - begin, 1))


@contextmanager
def announced(report: Callable[[str], None] | None, doing: str, name: str, usual_seconds: float) -> Iterator[None]:
    """Announce the work inside through `report`, if there is one, and store how long it took."""
    if report:
        report(announcement(doing, name, usual_seconds))
    with measured(name):
        yield


def _key(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]
