"""`serve`: a control plane over gRPC, in front of a simulated device or a card."""

import contextlib
import logging
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.basics import groups
from penstock.command_line.parts import With
from penstock.commands import app
from penstock.errors import UserError

LOG = logging.getLogger("penstock")

if TYPE_CHECKING:
    from penstock.driver.carrier import Carrier


@app.command()
def serve(
    scenario: Annotated[
        Path | None,
        typer.Argument(help="Scenario file (YAML): a simulated device and the traffic that runs through it.", show_default=False),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A configuration file (docs/how-to/service.md); options go before it.", show_default=False),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="model or rtl; model unless given.", show_default=False)] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change one value of the scenario, such as device.config=tree_2048."),
    ] = None,
    pcie: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A card: the file resource0 of a device below /sys/bus/pci/devices.", show_default=False),
    ] = None,
    device: Annotated[
        Path | None,
        typer.Option(metavar="SOCKET", help="A device that another process has (--as-device), which lives on.", show_default=False),
    ] = None,
    as_device: Annotated[
        Path | None,
        typer.Option(metavar="SOCKET", help="Be that process: run the scenario's device, without a control plane.", show_default=False),
    ] = None,
    listen: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="unix:PATH or HOST:PORT, several times if need be; unless given a socket that only this user may use. What is not local "
            "needs TLS.",
            show_default=False,
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the intent is kept; results/NAME/intent.sqlite unless given.", show_default=False),
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Begin with this backup (`ctl backup`) in place of the store.", show_default=False),
    ] = None,
    standby: Annotated[
        bool, typer.Option("--standby", help="Wait as long as another server has the store, and take over when that one has ended.")
    ] = False,
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Web page and Prometheus metrics; loopback only.", show_default=False)
    ] = None,
    radius: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="RADIUS: accounting, CoA and Disconnect requests (UDP).", show_default=False)
    ] = None,
    radius_secret: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The secret that its clients have, too.", show_default=False)
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="The server's certificate.", show_default=False)] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key.", show_default=False)] = None,
    tls_clients: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate of the authority that signs those of clients.", show_default=False)
    ] = None,
    tls_revoked: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="That authority's list of certificates that are not taken any more.", show_default=False),
    ] = None,
    log: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="debug, info, warning or error; info unless given.", show_default=False)
    ] = None,
    _parts: With = None,
) -> None:
    """Serve the control plane of a device: subscribers, queues, gates, counters (docs/control.md).

    The traffic of the scenario goes on for ever, in real time where the engine is fast enough. What was asked for survives a restart.
    Ctrl-C ends it, as does SIGTERM. Exit status: 0 at SIGTERM, 2 for bad input, 130 at Ctrl-C.
    """
    from penstock.command_line.service import LEVELS, ServiceFile, logged, notify

    file = ServiceFile.load(config) if config is not None else ServiceFile()
    if (scenario, pcie, device) == (None, None, None):  # a device on the command line takes the place of the one in the file
        scenario, pcie, device = (None if name is None else Path(name) for name in (file.scenario, file.pcie, file.device))
        settings = [*file.set, *(settings or [])]
    engine, http, listen = engine or file.engine or "model", http or file.http, listen or list(file.listen)
    store, standby = store or (Path(file.store) if file.store else None), standby or file.standby
    if file.tls:
        names = (file.tls.certificate, file.tls.key, file.tls.clients)
        tls_cert, tls_key, tls_clients = (given or Path(name) for given, name in zip((tls_cert, tls_key, tls_clients), names, strict=True))
        tls_revoked = tls_revoked or (Path(file.tls.revoked) if file.tls.revoked else None)
    if file.radius:
        radius, radius_secret = radius or file.radius.listen, radius_secret or Path(file.radius.secret)
    if (radius is None) != (radius_secret is None):
        raise UserError("--radius and --radius-secret are given together or not at all")
    level = log or file.log or "info"
    if level not in LEVELS:
        raise UserError(f"--log {level}: must be {', '.join(LEVELS)}")
    chosen = [name for name, value in (("SCENARIO", scenario), ("--pcie", pcie), ("--device", device)) if value is not None]
    if len(chosen) != 1:
        given = " and ".join(chosen) or "nothing"
        raise UserError(f"serve needs one device, and {given} was given: a SCENARIO, --pcie, --device or --config")
    if as_device is not None and scenario is None:
        raise UserError("--as-device runs the device of a SCENARIO")
    tls = (tls_cert, tls_key, tls_clients)
    if any(tls) and not all(tls):
        raise UserError("--tls-cert, --tls-key and --tls-clients are given together or not at all")
    if tls_revoked and not all(tls):
        raise UserError("--tls-revoked needs --tls-cert, --tls-key and --tls-clients")
    groups.need("serve", "control")
    with logged(level), _until_terminated(), contextlib.ExitStack() as stack:
        stack.callback(notify, "STOPPING=1")
        carrier, name, line_bps, control, plan = _open(stack, scenario, engine, settings or [], pcie, device)

        def ready(words: str) -> None:
            _say(words)
            notify("READY=1")

        if as_device is not None:
            _be_device(as_device, carrier, ready)
            return
        from penstock.designs.design import Serving
        from penstock.driver import places

        if standby and (store is None or restore is not None):
            raise UserError("--standby needs --store, the file of the server that it stands by for, and takes no --restore")
        if store is not None and not store.parent.is_dir():
            raise UserError(f"--store {store}: there is no folder {store.parent}")
        kept = store or Path("results") / name / "intent.sqlite"
        kept.parent.mkdir(parents=True, exist_ok=True)
        certificates: Any = tls if all(tls) else None
        by_radius = (radius, radius_secret) if radius and radius_secret else None
        waits = (lambda: ready(f"Standing by: another server has {kept}; Ctrl-C ends it.")) if standby else None
        at = tuple(listen or [places.control()])
        serving = Serving(at, kept, http, certificates, tls_revoked, line_bps, plan, restore, by_radius, waits)
        control.serve(carrier, serving, lambda at: ready(f"Serving {name} at {', '.join(at)}; Ctrl-C ends it."))


@contextlib.contextmanager
def _until_terminated() -> Iterator[None]:
    """Let SIGTERM, by which a service manager ends a server, be an end as any other; Ctrl-C stays an interruption."""
    from penstock.command_line.signals import first_signal

    try:
        yield
    except KeyboardInterrupt:
        if first_signal() != signal.SIGTERM:
            raise
        LOG.info("Ended by SIGTERM.")


def _open(
    stack: contextlib.ExitStack, scenario: Path | None, kind: str, settings: list[str], pcie: Path | None, device: Path | None
) -> "tuple[Carrier, str, int | None, Any, Any]":
    """Return a carrier to the device, what it is called, the rate of its line if known, its design's control plane, its scenario's plan."""
    from penstock.designs import design as designs
    from penstock.driver import blocks
    from penstock.driver.mapped import Mapped
    from penstock.driver.remote import Remote
    from penstock.engine import engine

    if scenario is not None:
        return _simulated(stack, scenario, kind, settings)
    engine.build(_say)  # of it the control plane has its compiled part
    carrier: Carrier = Mapped(pcie) if pcie is not None else Remote(device)  # type: ignore[arg-type]
    stack.callback(carrier.close)
    kinds = [block.kind for block in blocks.blocks(carrier)]
    found = [control for name in designs.names() if (control := designs.load(name).control()) and control.kind in kinds]
    if not found:
        raise UserError(f"{carrier.name}: no control plane knows a device of kind {', '.join(map(str, kinds))}")
    return carrier, _called(pcie, device), None, found[0], None


def _called(pcie: Path | None, device: Path | None) -> str:
    """Return what a device is called that no scenario names: by its address on the bus, or by its socket, for its store is kept under this
    name, and another one must not be set to what is intended for it."""
    from urllib.parse import quote

    if pcie is not None:
        return f"pcie-{pcie.resolve().parent.name}"
    assert device is not None
    return f"device-{quote(str(device.resolve()), safe='')}"


def _simulated(
    stack: contextlib.ExitStack, scenario: Path, engine: str, settings: list[str]
) -> "tuple[Carrier, str, int | None, Any, Any]":
    from penstock.driver.in_process import InProcess
    from penstock.engine.run import Request, prepare
    from penstock.library.device import built

    run = prepare(Request(scenario, settings, engine=engine))
    control = run.design.control()
    if control is None:
        raise UserError(f"{scenario}: design {run.design.name} has no control plane")
    library = built(run.config, run.plan.engine, assertions=False)
    if library:
        run.plan.job["device"]["library"] = library
    carrier = InProcess(run.plan.job)
    stack.callback(carrier.close)
    return carrier, run.name, int(run.plan.job["egress_bps"]) or None, control, run.plan


def _be_device(path: Path, carrier: "Carrier", ready: Callable[[str], None]) -> None:
    import threading

    from penstock.driver.remote import listening

    with listening(path, carrier):
        ready(f"A device is at {path}; Ctrl-C ends it.")
        threading.Event().wait()


def _say(text: str) -> None:
    LOG.info("%s", text)
