"""A result in words and columns."""

from fractions import Fraction
from math import ceil, floor
from typing import Any


def table(result: dict[str, Any]) -> str:
    """Return the lines for the terminal."""
    config, latency, packets = result["config"], result["latency_slots"], result["packets"]
    iterations = f" with {config['iterations']} iterations" if "iterations" in config else ""
    depth = f"FIFOs of {config['depth']:,}" if config["depth"] else "FIFOs without limit"
    speed = f"{result['slots_per_second'] or 0:,} slots in a CPU second"
    extras = "".join(f", {key} {config[key]:g}" for key in ("rate", "burst", "hot") if key in config)
    lines = [
        f"{config['algorithm']}{iterations}, {config['ports']} x {config['ports']}, {depth}; {config['traffic']} traffic{extras}",
        f"  {config['seeds']:,} runs of {config['slots']:,} slots, seed {result['seed']}; {speed}",
        f"  {'latency, slots':<16} {'mean':>12} {'+- 95 %':>10}",
    ]
    for name, value, interval in (
        ("average", "mean", "mean_ci95"),
        ("p99", "p99", "p99_ci95"),
        ("worst of a run", "worst_mean", "worst_ci95"),
    ):
        lines.append(f"  {name:<16} {_number(latency[value]):>12} {_number(latency[interval]):>10}")
    # Rounded down and up: 100 % is all, and 0 is none.
    throughput, dropped = Fraction(str(result["throughput"])), Fraction(str(result["drop_share"]))
    lines += [
        f"  throughput {floor(10_000 * throughput) / 100:.2f} %, dropped {ceil(100_000 * dropped) / 1000:.3f} %",
        f"  {packets['arrived']:,} packets came, {packets['sent']:,} left, {packets['dropped']:,} dropped, {packets['queued']:,} wait",
    ]
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
