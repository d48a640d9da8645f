"""`penstock serve` for an access edge: store, device, counters and services together, until the end."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.http import pages
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.keys import settings_of_plan
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.server import Tls, serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.design import Serving
from penstock.driver.carrier import Carrier


def serve(carrier: Carrier, given: Serving, ready: Callable[[list[str]], None]) -> None:
    """Serve until Ctrl-C. The intent is brought to the device first; then `ready` is told the addresses. Raises UserError, CarrierError."""
    with _new_store_goes(given.store) as served, contextlib.closing(Intent(given.store)) as intent:
        plant = Plant(carrier, ask(carrier), intent, given.line_bps, settings_of_plan(given.plan))
        plant.restore()
        for words in plant.passed_over:
            print(f"penstock: {given.store}: {words}", file=sys.stderr, flush=True)
        sweep = Sweep(plant)
        sweep.start()
        try:
            with contextlib.ExitStack() as stack:
                places = stack.enter_context(serving(plant, sweep, list(given.listen), Tls(*given.tls) if given.tls else None))
                if given.http is not None:
                    places = [*places, stack.enter_context(pages(plant, sweep, given.http))]
                served.set()
                ready(places)
                threading.Event().wait()
        finally:
            sweep.stop()


@contextlib.contextmanager
def _new_store_goes(store: Path | None) -> Iterator[threading.Event]:
    """Remove a store that was made inside of the `with` and never served: what is yielded was not set."""
    served = threading.Event()
    new = store is not None and not store.exists()
    try:
        yield served
    finally:
        if new and store is not None and not served.is_set():
            for end in ("", "-wal", "-shm", "-journal"):
                Path(f"{store}{end}").unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # others may have something there
                store.parent.rmdir()
