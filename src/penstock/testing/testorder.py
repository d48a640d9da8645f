"""In which order several processes run the tests: what takes longest first, so that no core idles at the end behind a long file.

A file's tests stay together, as they share fixtures and builds, but those of kinds that share neither go one by one. What a process has
found out of the kinds while it collected is in a file, as the one that hands out the tests collects none.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

ALONE = {"proof", "simulation"}  # kinds whose tests share nothing


class _Costliest(OrderedDict[str, Any]):
    """Work that is taken by its cost instead of its age."""

    cost: Callable[[Mapping[str, bool]], float]

    def popitem(self, last: bool = True) -> tuple[str, Any]:
        unit = max(self, key=lambda name: (self.cost(self[name]), name))
        return unit, self.pop(unit)


class LongestFirst(LoadScopeScheduling):
    """`kinds`: the file with each test's kind; `cost` of a test of a kind, in seconds. `cheapest`: the other way round."""

    def __init__(self, config: pytest.Config, log: Any, kinds: Path, cost: Callable[[str, str], float], cheapest: bool = False) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False
        self._file = kinds
        self._kinds: dict[str, str] = {}
        self.workqueue = _Costliest()
        sign = -1 if cheapest else 1
        self.workqueue.cost = lambda unit: sign * sum(cost(name, self._kinds.get(name, "software")) for name in unit)

    def schedule(self) -> None:
        """Hand out tests, the first time and whenever a process has few left."""
        if self.collection is None and self.collection_is_completed and self._file.exists():
            self._kinds = json.loads(self._file.read_text())
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return nodeid if self._kinds.get(nodeid) in ALONE else nodeid.split("::", 1)[0]
