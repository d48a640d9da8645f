"""Tries faults, several at a time where asked, and shows how far it is: a bar on a terminal, a line for each fault in a log."""

import itertools
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from penstock.command_line.console import console
from penstock.faults import planting
from penstock.faults.planting import Laboratory, Outcome
from penstock.faults.register import Fault
from penstock.faults.sessions import Stopped


def tried(faults: Sequence[Fault], again: bool = False, jobs: int = 1) -> dict[str, Outcome]:
    """Return the outcome of each fault by its id: the kept one unless `again`, or a new one; `jobs` are tried at a time, each in a copy
    of its own. KeyboardInterrupt leaves what is done."""
    screen = console()
    with planting.opened(jobs, lambda: screen.print("penstock: another call is planting faults; waiting for it")) as laboratory:
        return tried_in(laboratory, faults, again, jobs)


def tried_in(
    laboratory: Laboratory, faults: Sequence[Fault], again: bool, jobs: int, quickly: bool = False, until: float | None = None
) -> dict[str, Outcome]:
    """Do the same in `laboratory`; `quickly` as there; those that have not ended at `until` (of time.monotonic()) have no outcome."""
    screen = console()
    outcomes: dict[str, Outcome] = {}
    known = {fault.id: laboratory.outcome_of(fault) for fault in faults}
    todo = []
    for fault in faults:
        kept = known[fault.id]
        if kept and (not again or kept.outcome == planting.STALE):
            outcomes[fault.id] = kept
        else:
            todo.append(fault)
    if not todo:
        return outcomes
    if outcomes:
        screen.print(f"penstock: {len(todo)} of {len(faults)} faults to try; the outcome of the others is known")
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        BarColumn(24),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
    )
    numbers = itertools.count(1)
    began = time.monotonic()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bar = progress.add_task("", total=len(todo))

        def begun(fault: Fault) -> Outcome:
            number = next(numbers)
            progress.update(bar, description=fault.id)
            if not screen.is_terminal:
                screen.print(f"penstock: {number} of {len(todo)}: {fault.id}", markup=False)
            return laboratory.try_fault(fault, quickly)

        alarm = threading.Timer(max(0.0, until - began), laboratory.stop) if until is not None else None
        if alarm:
            alarm.daemon = True
            alarm.start()
        done = 0
        with ThreadPoolExecutor(jobs) as pool:
            calls = {pool.submit(begun, fault): fault for fault in todo}
            try:
                for call in as_completed(calls):
                    try:
                        fault, found = calls[call], call.result()
                    except Stopped:
                        if until is None or time.monotonic() < until:
                            raise
                        continue
                    done += 1
                    outcomes[fault.id] = found
                    progress.advance(bar)
                    reason = f": {found.words}" if found.outcome != planting.KILLED else ""
                    left = (time.monotonic() - began) / done * (len(todo) - done)
                    left = left if until is None else min(left, until - time.monotonic())
                    rest = f"; {len(todo) - done} left, {_words(left)}" if until is not None and done < len(todo) else ""
                    screen.print(f"  {found.outcome} {fault.id} ({found.seconds:.0f} s{rest}){reason}", markup=False)
            except BaseException as error:
                pool.shutdown(wait=False, cancel_futures=True)
                laboratory.stop()
                if isinstance(error, KeyboardInterrupt):
                    done = sum(fault.id in outcomes for fault in todo)
                    screen.print(f"penstock: interrupted after {done} of {len(todo)} faults; the next call goes on")
                raise
            finally:
                if alarm:
                    alarm.cancel()
    return outcomes


def _words(seconds: float) -> str:
    return f"about {seconds / 60:.0f} min" if seconds > 90 else f"about {max(0.0, seconds):.0f} s"
