"""What a server that runs for long needs: its configuration file (`serve --config`), its log, and what it tells a service manager."""

import contextlib
import logging
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictStr, ValidationError

from penstock.basics.models import Model
from penstock.basics.units import describe
from penstock.scenarios.scenario import explain, read

LEVELS = ("debug", "info", "warning", "error")
LOG = "penstock"  # name of the logger above all others here
_PRIORITY = {logging.DEBUG: 7, logging.INFO: 6, logging.WARNING: 4, logging.ERROR: 3, logging.CRITICAL: 2}  # of syslog(3)


# ---- the configuration file


def _listed(given: Any) -> Any:
    return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else given


def _settings(given: Any) -> Any:
    if isinstance(given, Mapping):
        return tuple(f"{key}={value}" for key, value in given.items())
    raise ValueError(f"must be keys of the scenario with their values, such as {{ device.config: tree_2048 }}, not {describe(given)}")


class TlsFiles(Model):
    """Files of TLS."""

    certificate: StrictStr = Field(description="The server's certificate: `--tls-cert`.")
    key: StrictStr = Field(description="Its key: `--tls-key`.")
    clients: StrictStr = Field(description="Certificate of the authority that signs those of clients: `--tls-clients`.")
    revoked: StrictStr | None = Field(None, description="Its list of revoked certificates: `--tls-revoked`.")


class RadiusFile(Model):
    """Sessions by RADIUS."""

    listen: StrictStr = Field(description="Address: `--radius`.")
    secret: StrictStr = Field(description="The file of its secret: `--radius-secret`.")


class ServiceFile(Model):
    """The configuration file of `penstock serve`. Files are named relative to its own folder."""

    scenario: StrictStr | None = Field(None, description="A simulated device and the traffic that runs through it.")
    engine: Literal["rtl", "model"] | None = Field(None, description="Of the scenario: `model` or `rtl`.")
    set: Annotated[tuple[StrictStr, ...], BeforeValidator(_settings)] = Field((), description="Keys of the scenario: `--set`.")
    pcie: StrictStr | None = Field(None, description="A card: the file `resource0` of its PCIe device.")
    device: StrictStr | None = Field(None, description="The socket of a device in another process.")
    listen: Annotated[tuple[StrictStr, ...], BeforeValidator(_listed)] = Field((), description="An address, or a list of them.")
    store: StrictStr | None = Field(None, description="Where the intent is kept.")
    standby: bool = Field(False, description="Wait as long as another server has the store: `--standby`.")
    http: StrictStr | None = Field(None, description="Address of page and metrics.")
    tls: TlsFiles | None = Field(None, description="For addresses that are not local.")
    radius: RadiusFile | None = Field(None, description="Sessions by RADIUS.")
    log: Literal["debug", "info", "warning", "error"] | None = Field(None, description="Least level that is logged.")

    @staticmethod
    def load(path: Path) -> "ServiceFile":
        """Read the file; paths in it are then as seen from here. Raises UserError."""
        document = read(path, "configuration of a server", "docs/how-to/service.md", "scenario: access_node.yaml")
        try:
            found = ServiceFile.model_validate(document.data)
        except ValidationError as error:
            explain(document, error)
        devices = [name for name in ("scenario", "pcie", "device") if getattr(found, name) is not None]
        if len(devices) > 1:
            document.fail((devices[1],), f"cannot stand beside `{devices[0]}`: a server has one device")
        files = {name: getattr(found, name) for name in (*devices, "store")}
        near: dict[str, Any] = {name: str(path.parent / value) for name, value in files.items() if value is not None}
        near["listen"] = tuple(_near(path.parent, address) for address in found.listen)
        if found.tls:
            given = found.tls.model_dump(exclude_none=True)
            near["tls"] = TlsFiles(**{name: str(path.parent / value) for name, value in given.items()})
        if found.radius:
            near["radius"] = RadiusFile(listen=found.radius.listen, secret=str(path.parent / found.radius.secret))
        return found.model_copy(update=near)


def _near(folder: Path, address: str) -> str:
    """Return an address; the path of a Unix socket as seen from here."""
    return f"unix:{folder / address.removeprefix('unix:')}" if address.startswith("unix:") else address


# ---- the log


class _Lines(logging.Formatter):
    """A line for each record: time, level, words. The journal of a service manager has time and level of its own: it is told the level by a
    number in front (sd-daemon(3))."""

    def __init__(self, *, journal: bool) -> None:
        super().__init__()
        self._journal = journal

    def format(self, record: logging.LogRecord) -> str:
        words = " ".join(record.getMessage().split())
        if self._journal:
            return f"<{_PRIORITY.get(record.levelno, 5)}>{words}"
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        return f"{at}.{int(record.msecs):03}Z {record.levelname.lower()}: {words}"


@contextlib.contextmanager
def logged(level: str) -> Iterator[None]:
    """Log what is of a level (LEVELS) and above to standard error, inside of the `with`."""
    log = logging.getLogger(LOG)
    before = log.level, log.propagate
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(journal="JOURNAL_STREAM" in os.environ))
    log.addHandler(handler)
    log.setLevel(level.upper())
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before[0])
        log.propagate = before[1]


# ---- the service manager


def notify(words: str) -> None:
    """Tell the service manager that has started this process, if any, what it waits for: `READY=1`, `STOPPING=1` (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address or address[0] not in "/@":
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as there:
        try:
            there.connect("\0" + address[1:] if address[0] == "@" else address)
            there.sendall(words.encode())
        except OSError as error:
            logging.getLogger(LOG).warning("the service manager cannot be told %s (%s)", words, error.strerror)
