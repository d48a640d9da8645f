"""What figures 4 to 7 have in common: distributions, means over runs, and verdicts on what the paper finds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.designs.deadline_port.papers.edfr_skip_fifo.tcp_runs import PORT, Case, Run
from penstock.switch_sim.measure import mean_and_ci95

Found = dict[str, Any]
Card = dict[str, Any]

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be judged"
STEPS = 100  # of a distribution


def distribution(values: Sequence[float]) -> dict[str, list[float]]:
    """Return the share of values up to each of their quantiles."""
    if not len(values):
        return {"ms": [], "share": []}
    shares = np.linspace(0, 1, STEPS + 1)
    return {"ms": np.quantile(values, shares).round(3).tolist(), "share": shares.round(4).tolist()}


def apart(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the largest difference between two distributions, 0 to 1 (Kolmogorov's)."""
    both = np.sort(np.concatenate([first, second]))
    shares = [np.searchsorted(np.sort(own), both, side="right") / len(own) for own in (first, second)]
    return round(float(np.abs(shares[0] - shares[1]).max()), 4)


def mean(values: Sequence[float]) -> list[float | None]:
    """Return the mean over runs and half its 95 % interval (None with one run)."""
    return [None if value is None else round(value, 4) for value in mean_and_ci95(list(values))]


def finding(claim: str, holds: bool | None, ours: str) -> Found:
    """Return a claim of the paper, whether it holds here (None: these runs do not say), and what came out."""
    return {"claim": claim, "verdict": OPEN if holds is None else HOLDS if holds else FAILS, "ours": ours}


def findings_card(number: int, found: Found, note: str, words: list[tuple[str, str]]) -> Card:
    """Return the card with the paper's findings beside ours."""
    said = []
    for one in found["findings"]:
        said += [("The paper", one["claim"]), ("Here", f"It {one['verdict']}. {one['ours']}")]
    return {"title": f"Figure {number}: the paper's findings", "note": note, "plots": [], "words": [*said, *words]}


def identity(case: Case, runs: Sequence[Run] = ()) -> Found:
    """Return what tells a case from the others, for result.json, and the clocks of its runs, where these are live."""
    deadlines = list(case.deadlines) if case.scheduler == PORT else None
    clocks = [run.clock for run in runs if run.clock]
    return {"experiment": case.experiment, "scheduler": case.scheduler, "words": case.words, "deadlines_ms": deadlines, "clocks": clocks}


def text(value: list[float | None], digits: int = 1) -> str:
    """Return a mean with its interval in words."""
    average, ci95 = value
    return "-" if average is None else f"{average:,.{digits}f}" + (f" +- {ci95:,.{digits}f}" if ci95 is not None else "")


def runs_of(found: Found) -> str:
    """Return how many runs a case has, in words."""
    return f"{found['runs']} run{'s' if found['runs'] > 1 else ''}"
