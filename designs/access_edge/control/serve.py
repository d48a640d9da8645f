"""`penstock serve` for an access edge: store, device, counters and services together, until the end."""

import contextlib
import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.http import pages
from penstock.designs.access_edge.control.intent import Intent, TakenError
from penstock.designs.access_edge.control.keys import settings_of_plan
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.radius import sessions
from penstock.designs.access_edge.control.server import Tls, serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.design import Serving
from penstock.driver.carrier import Carrier
from penstock.errors import UserError

LOG = logging.getLogger("penstock.control")
STANDBY_SECONDS = 0.1  # from one look at the store to the next


def serve(carrier: Carrier, given: Serving, ready: Callable[[list[str]], None]) -> None:
    """Serve until Ctrl-C. The intent is brought to the device first; then `ready` is told the addresses. Raises UserError, CarrierError."""
    if given.restore and given.store:
        _restore(given.restore, given.store)
    with _new_store_goes(given.store) as served, contextlib.closing(_opened(given)) as intent:
        plant = Plant(carrier, ask(carrier), intent, given.line_bps, settings_of_plan(given.plan))
        plant.restore()
        LOG.info("%s: %s subscribers are set as they were intended", given.store, f"{len(plant.index_of):,}")
        for words in plant.passed_over:
            LOG.warning("%s: %s", given.store, words)
        sweep = Sweep(plant)
        sweep.start()
        try:
            with contextlib.ExitStack() as stack:
                tls = Tls(*given.tls, given.revoked) if given.tls else None
                places = stack.enter_context(serving(plant, sweep, list(given.listen), tls))
                if given.radius is not None:
                    places = [*places, stack.enter_context(sessions(plant, *given.radius))]
                if given.http is not None:
                    places = [*places, stack.enter_context(pages(plant, sweep, given.http))]
                served.set()
                ready(places)
                threading.Event().wait()
        finally:
            sweep.stop()


def _opened(given: Serving) -> Intent:
    """Return the store; a standby's when the server that has it has ended, however that came. Raises UserError."""
    if given.standby is None:
        return Intent(given.store)
    waited = False
    while True:
        try:
            found = Intent(given.store, patience_seconds=0)
        except TakenError:
            if not waited:
                waited = True
                given.standby()
            time.sleep(STANDBY_SECONDS)
        else:
            if waited:
                LOG.info("%s: the server that had it has ended; taking over", given.store)
            return found


def _restore(backup: Path, store: Path) -> None:
    """Put a backup in the place of the store; the store stays beside it under another name. Raises UserError."""
    half = store.with_name(f".{store.name}.restored")
    if not backup.is_file():
        raise UserError(f"--restore {backup}: there is no such file")
    try:
        shutil.copyfile(backup, half)
        Intent(half).close()  # it is one, and of a version that is understood
        if store.exists():
            Intent(store).close()  # no other server has it
            kept = store.with_name(f"{store.name}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
            store.rename(kept)
            LOG.info("%s: the store until now is %s", store, kept)
        half.replace(store)
        Path(f"{store}-history").unlink(missing_ok=True)  # it is of the store until now
    except OSError as error:
        raise UserError(f"--restore {backup}: cannot be put to {store} ({(error.strerror or str(error)).lower()})") from None
    except UserError as error:
        raise UserError(f"--restore {str(error).replace(str(half), str(backup))}") from None
    finally:
        for end in ("", "-wal", "-shm"):
            Path(f"{half}{end}").unlink(missing_ok=True)
    LOG.info("%s: restored from %s", store, backup)


@contextlib.contextmanager
def _new_store_goes(store: Path | None) -> Iterator[threading.Event]:
    """Remove a store that was made inside of the `with` and never served: what is yielded was not set."""
    served = threading.Event()
    new = store is not None and not store.exists()
    try:
        yield served
    finally:
        if new and store is not None and not served.is_set():
            for end in ("", "-wal", "-shm", "-journal", "-history"):
                Path(f"{store}{end}").unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # others may have something there
                store.parent.rmdir()
