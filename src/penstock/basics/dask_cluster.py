"""A Dask cluster that a command was given by its scheduler's address, `tcp://host:8786`."""

import contextlib
from collections.abc import Iterator
from typing import Any

from penstock.basics import groups
from penstock.errors import UserError

CONNECT_SECONDS = 10


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Yield a client of the cluster. Raises UserError when no scheduler answers at `address`, or when it has no workers."""
    groups.need("--cluster", "sweep")
    from distributed import Client

    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"--cluster {address}: no Dask scheduler answers there ({reason[:120]})") from None
    try:
        if not client.scheduler_info()["workers"]:
            raise UserError(f"--cluster {address}: the scheduler has no workers; start some with `dask worker {address}`")
        yield client
    finally:
        client.close()
