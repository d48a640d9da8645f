"""Points on the workers of a Dask cluster. Each worker needs a clone with the same sources; `execute` looks at them before and after."""

import contextlib
import logging
import uuid
from collections.abc import Generator, Sequence
from typing import Any

from penstock.basics.children import Stopped
from penstock.basics.dask_cluster import connected
from penstock.errors import ToolError, UserError
from penstock.sweeps.execute import OtherFiles, OtherSources, Outcome, Task, execute


def outcomes(tasks: Sequence[Task], address: str) -> Generator[tuple[int, Outcome]]:
    """Yield the number of each task and what became of it, as they end. When the caller stops, or dies, the processes on the workers end.

    Raises UserError when there is no cluster at `address`, or its workers have other sources or files.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # a lost connection is told in a sentence of ours
    with connected(address) as client:
        from distributed import as_completed

        name = f"penstock-sweep-{uuid.uuid4().hex[:12]}"
        futures = client.map(work, tasks, key=[f"{name}-{number}" for number in range(len(tasks))], pure=False, retries=0)
        numbers = {future.key: number for number, future in enumerate(futures)}
        try:
            for future in as_completed(futures, loop=client.loop):
                yield numbers[future.key], _outcome(future, address)
                future.release()  # the scheduler need not keep the result
        finally:
            with contextlib.suppress(Exception):
                client.cancel(futures, force=True)


def work(task: Task) -> Outcome:
    """Run a point on a worker; end it when the scheduler does not want it any more: the sweep was stopped, or its machine is gone."""
    from distributed import get_worker

    worker: Any = get_worker()
    key = worker.get_current_task()

    def tick() -> None:
        state = worker.state.tasks.get(key)
        if state is None or state.state != "executing":
            raise Stopped("the sweep ends")

    return execute(task, tick)


def _outcome(future: Any, address: str) -> Outcome:
    if future.status == "finished":
        found: Outcome = future.result()
        return found
    error = future.exception() if future.status == "error" else None
    if isinstance(error, (OtherSources, OtherFiles)):
        raise UserError(f"--cluster {address}: on a worker {error}; bring all machines to the same state")
    if error is None:
        raise ToolError(f"--cluster {address}: the scheduler is gone; the same command goes on where this one was")
    return Outcome(None, f"a worker failed: {type(error).__name__}: {' '.join(str(error).split())}"[:300])
