"""Passes that are known: what a proof or a simulation shows is a function of its sources, tools, arguments and seed, so it is kept.

Only passes are kept; what has failed runs again. A verdict is found by a key of all that it depends on, in whichever clone; one that is
damaged or gone costs the run again. `PENSTOCK_AGAIN=1` (`./penstock test --again`) and a `PENSTOCK_SEED` use none: they run everything.
"""

import functools
import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from typing import Any

from penstock import cache
from penstock.basics import tokens

AGAIN = "PENSTOCK_AGAIN"
KIND = "verdicts"

_used = [0]


@functools.cache
def tools() -> str:
    """Return what stands for the interpreter and all packages that are installed: solvers, simulators and libraries are among them."""
    packages = sorted(f"{found.name} {found.version}" for found in importlib.metadata.distributions())
    return json.dumps([platform.python_implementation(), platform.python_version(), platform.machine(), packages])


def key(settings: object, files: Mapping[str, bytes] | None = None) -> str:
    """Return the key of a verdict: `settings`, as JSON has them, what `files` say, by their names, and the tools."""
    said = sorted((name, hashlib.sha256(tokens.meaning(name, data)).hexdigest()) for name, data in (files or {}).items())
    return hashlib.sha256(json.dumps([settings, said, tools()], sort_keys=True).encode()).hexdigest()[:32]


def asked_again() -> bool:
    """Return whether everything is to run."""
    return bool(os.environ.get(AGAIN) or os.environ.get("PENSTOCK_SEED"))


def known(key: str) -> Any:
    """Return what was kept for a key, None when nothing was, or when everything is to run."""
    found = None if asked_again() else cache.remembered(KIND, key)
    _used[0] += found is not None
    return found


def keep(key: str, found: Any) -> None:
    """Keep what a pass has found (JSON, not None) for a key."""
    cache.remember(KIND, key, found)


def used() -> int:
    """Return how many verdicts this process has used instead of a run."""
    return _used[0]
