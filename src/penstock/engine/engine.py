"""The thin Python face of the engine: builds and loads its compiled parts when they are needed, and runs jobs on it.

`python -m penstock.engine.engine [FOLDER ...]` builds. docs/jobs.md has the keys of a job and of its result.
"""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from penstock.basics import children
from penstock.engine import parts
from penstock.engine.parts import ENGINE, EngineBuildError, Part, Report

Progress = Callable[[dict[str, Any]], bool | None]

__all__ = ["EngineBuildError", "build", "built_beside", "models", "module", "prepare", "run"]


def build(report: Report | None = None, *folders: str) -> None:
    """Build the engine proper and these parts, unless the cache has them (some milliseconds); `report` gets a line before that.

    Safe to call from several processes at once. Raises EngineBuildError. A module that this process has already loaded stays the old one.
    """
    parts.build([Part(ENGINE), *map(Part, folders)], report)


def module(folder: str = ENGINE) -> ModuleType:
    """Return a part of the engine, built if need be: the engine proper, or the one in a folder, such as designs/access_edge/bench.

    What this process has loaded it keeps, so only the first call looks.
    """
    found = parts.load(folder)
    if found is None:
        raise ValueError(f"{folder} is no part of the engine: it has no {parts.ROOM}")
    return found


def models(block: str) -> ModuleType:
    """Return the models of a block, such as `aqm/codel`, the yardstick of its RTL."""
    return module(f"blocks/{block}/model")


def prepare(job: dict[str, Any], report: Report | None = None) -> None:
    """Build and load what a job takes besides: the device of its design, its model. Raises ValueError for a device that makes no sense."""
    build(report, f"designs/{job['device']['design']}/model")
    with parts.reporting(report):
        module().prepare(job)


@contextmanager
def built_beside(job: dict[str, Any], report: Report | None = None) -> Iterator[None]:
    """Build what a job takes of the engine while its device is compiled in the `with`, which keeps one core busy. Raises as `build`."""
    with ThreadPoolExecutor(1) as worker:
        engine = worker.submit(build, report, f"designs/{job['device']['design']}/model")
        try:
            yield
        except BaseException:
            if engine.done() and (failed := engine.exception()):  # it has ended the compiler of the device
                raise failed from None
            children.end_all()
            worker.shutdown()
            children.begin_again()
            raise
        engine.result()


def run(job: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    """Run `job` and return its result (keys: docs/jobs.md).

    `progress` is called about ten times a second with {phase, cycles, duration_cycles, packets_in, packets_out, dropped, queued}; when
    it returns False, or at Ctrl-C, the run stops and its result says `interrupted`. Raises ValueError for a job that makes no sense,
    RuntimeError when the device breaks a protocol.
    """
    result: dict[str, Any] = module().run(job, progress)
    return result


if __name__ == "__main__":
    build(print, *(sys.argv[1:]))
