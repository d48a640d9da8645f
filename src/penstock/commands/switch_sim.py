"""`penstock switch-sim`: the slot simulator."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.commands import app


@app.command("switch-sim")
def switch_sim(
    algorithm: Annotated[str, typer.Option(help="cprra (the paper's switch), oq (ideal), pim, rrm, islip, drrm or edrrm.")],
    iterations: Annotated[int | None, typer.Option(help="Iterations of pim ... edrrm in a slot; log2(ports) unless given.")] = None,
    ports: Annotated[int, typer.Option(help="2, 4, 8, 16, 32 or 64.")] = 16,
    traffic: Annotated[str, typer.Option(help="uniform, bursty, nonuniform, diagonal, hotspot or trace.")] = "uniform",
    burst: Annotated[float, typer.Option(help="Mean packets of a burst (bursty).")] = 32.0,
    hot: Annotated[float, typer.Option(help="Share of an input's packets for its favoured output (nonuniform, hotspot).")] = 0.5,
    rate: Annotated[float, typer.Option(help="Packets a slot at each input, at most 1.")] = 1.0,
    slots: Annotated[int, typer.Option(help="Length of each run.")] = 25_000,
    depth: Annotated[int | None, typer.Option(help="Packets in each of the P x P FIFOs; without limit unless given.")] = None,
    trace: Annotated[Path | None, typer.Option(metavar="FILE", help="Packets to play (trace): lines slot,source,destination.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of runs.")] = 10,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")] = 1,
    cluster: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to run on, such as tcp://host:8786.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Simulate a P x P switch slot by slot: latency, throughput and drops of an algorithm under a traffic pattern.

    A packet that leaves in the slot in which it came has latency 0. Intervals are 95 % confidence intervals over the runs.
    """
    import json

    from penstock.command_line.console import spinner
    from penstock.command_line.terminal import slot_progress
    from penstock.engine import engine
    from penstock.switch_sim import Setting, simulate
    from penstock.switch_sim.table import table

    setting = Setting(algorithm, iterations, ports, traffic, rate, burst, hot, slots, depth, trace)
    with spinner() as building:
        engine.build(building, "engine/src/switch_sim")
    with slot_progress(algorithm) as progress:
        result = simulate(setting, seeds, seed, progress, cluster)
    print(json.dumps(result, allow_nan=False) if json_output else table(result))
