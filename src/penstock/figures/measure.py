"""Runs commands and keeps what they gave: each in a process of its own, several at a time where asked.

What was measured with the same sources is a fact of the user's cache, so an interrupted call goes on where it was, and another clone does
not measure again what is the same there. A result file has the sources of each result, so neither does another machine.
"""

import hashlib
import json
import platform
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from penstock import cache
from penstock.basics import children
from penstock.errors import ToolError, UserError
from penstock.figures import results, sources, templates
from penstock.figures.definitions import Row
from penstock.figures.results import Measured
from penstock.paths import BUILD

WRITING = BUILD / "figures"  # whoever writes results of this project holds it


class MeasureError(ToolError):
    """A command failed; the message has its words."""


@dataclass(frozen=True)
class Done:
    """A measurement that has ended."""

    row: Row
    measured: Measured | None
    failure: str = ""


Report = Callable[[str, Done | None], None]  # a command begins, or has ended


def run(row: Row) -> Measured:
    """Run one command and return what is kept of it. Raises MeasureError."""
    words = row.words()
    with tempfile.TemporaryDirectory(prefix="penstock-figures-") as folder:
        out = ["--out", folder] if words[0] in ("run", "paper") else []
        done = children.run([sys.executable, "-P", "-m", "penstock.figures.row", *words, *out])
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise MeasureError(said[-1] if said else f"ended with status {done.returncode}")
    found = json.loads(done.stdout)
    try:
        measured = results.kept(found["result"], row.keys, row.command)
    except UserError as error:
        raise MeasureError(str(error)) from None
    measured.cpu_seconds = float(f"{found['cpu_seconds']:.2g}")
    return measured


def _key(row: Row, digest: str) -> str:
    return hashlib.sha256(f"{row.command}\0{digest}".encode()).hexdigest()


def known(row: Row) -> Measured | None:
    """Return what was measured with these very sources, if it has all that is asked for."""
    digest = sources.digest(row.words())
    try:
        measured = Measured(**cache.remembered("figures", _key(row, digest)))
    except TypeError:  # there is none, or it is of another version of this
        return None
    measured.sources = sources.brief(digest)
    return measured if set(row.keys) == set(measured.values) and bool(row.rates) == bool(measured.ratios) else None


def recorded(row: Row, committed: Measured | None) -> Measured | None:
    """Return the result of a result file if it is of these very sources and has all keys. Rates, which are a machine's, never."""
    if committed is None or committed.sources is None or row.rates or not set(row.keys) <= set(committed.values):
        return None
    return committed if committed.sources == sources.brief(sources.digest(row.words())) else None


def _keep(row: Row, digest: str, measured: Measured) -> None:
    if sources.digest(row.words()) == digest:  # else edited meanwhile: whose number this is, nobody knows
        measured.sources = sources.brief(digest)
        cache.remember("figures", _key(row, digest), measured.as_json())


def with_references(rows: Iterable[Row], everything: dict[str, Row]) -> list[Row]:
    """Return rows and the references of their rates, which are measured in the same run."""
    found = {row.command: row for row in rows}
    for row in list(found.values()):
        if row.rates:
            reference = " ".join(row.rates.reference.split())
            found.setdefault(reference, everything[reference])
    return list(found.values())


def measure(rows: list[Row], jobs: int, report: Report, ended: dict[str, Done]) -> None:
    """Measure rows; what came out goes into `ended` by command, and is kept, at once. KeyboardInterrupt leaves what is done.

    Rates are measured last, one at a time, and get their ratios at the end.
    """
    digests: dict[str, str] = {}

    def call(row: Row) -> Done:
        report(row.command, None)
        digests[row.command] = sources.digest(row.words())
        try:
            done = Done(row, run(row))
        except MeasureError as error:
            done = Done(row, None, str(error))
        if done.measured and not row.rates:
            _keep(row, digests[row.command], done.measured)
        if not row.rates:
            ended[row.command] = done
        report(row.command, done)
        return done

    with ThreadPoolExecutor(jobs) as pool:
        calls = [pool.submit(call, row) for row in rows if not row.rates]
        try:
            for done in as_completed(calls):
                done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            children.end_all()
            raise
    rates = [row for row in rows if row.rates]
    alone = {row.command: call(row) for row in rates}
    for row in rates:
        ended[row.command] = rated = _with_ratios(alone[row.command], alone)
        if rated.measured:
            _keep(row, digests[row.command], rated.measured)


def _with_ratios(done: Done, ended: dict[str, Done]) -> Done:
    rates = done.row.rates
    assert rates is not None
    reference = ended[" ".join(rates.reference.split())].measured
    if not done.measured or not reference:
        return replace(done, measured=None, failure=done.failure or f"its reference failed: {rates.reference}")
    for key in rates.keys:
        if key in done.measured.values:
            done.measured.ratios[key] = float(f"{done.measured.values[key] / templates.find(reference.values, key):.3g}")
    done.measured.values = {key: float(f"{value:.3g}") if key in rates.keys else value for key, value in done.measured.values.items()}
    done.measured.machine = _machine()
    return done


def _machine() -> str:
    """Return the name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
