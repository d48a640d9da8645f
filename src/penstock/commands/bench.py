"""`penstock bench`: throughput and latency of queue manager and scheduler."""

from typing import Annotated

import typer

from penstock.command_line.parts import With
from penstock.commands import app


@app.command()
def bench(
    name: Annotated[
        str,
        typer.Argument(
            help="queue, schedule, idle-latency, lateness, engine, fabric, memory, loss-free, fairness, priority, reconfigure, "
            "provisioning, control, skipfifo, edfr, classify, flows, switch or p4.",
            show_default=False,
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="queues, descriptors, packets, pattern=random|same|neighbours, shaping=0|1, aqm=none|codel|pie, engine=rtl|model; "
            "lateness: queues, packets, pattern=backlogged|blocked, rates=mixed|equal, size=imix|BYTES, load=PERCENT; "
            "engine: queues, packets, size, load, engine; fabric: ports, stages, width, fifo_depth, classes, back_pressure=0|1, "
            "arbiter=0|1, pattern=uniform|permutation|hotspot, load=PERCENT, cells; "
            "memory: memory=ideal|sram|ddr4_2400|ddr4_3200|hbm2, channels, size=imix|BYTES, clock_mhz, page_bytes, pages, "
            "order=random|fifo, frames (that wait), packets, outstanding, write_fifo, read_fifo; "
            "of DRAM queue, batch, mapping, close_rows=0|1, hash_groups=0|1; "
            "loss-free: memory, channels, sram=0|1 (full or not), size, packets (of a probe), fifo (kB at the input), engine; "
            "with levels=4 (lateness, too), and fairness, priority, reconfigure: queues_per_subscriber, nodes, ports, classes; "
            "schedule, levels=4: congested=subscriber|node|port; "
            "fairness, priority: congested_nodes, subscribers, overload, size=imix|mixed|BYTES, rate; "
            "fairness: mix=backlogged|siblings|random, weights=0|1, megabytes (of each subscriber); "
            "priority: packets; reconfigure: cycles; "
            "classify: entries, load=PERCENT, inserts, clock_mhz; "
            "flows: queues, flows, lanes=1|2|4, active (queues with packets), each (flows of one), length, inside (packets), packets; "
            "switch: config, pattern=uniform|permutation|hotspot, load=PERCENT, size=imix|BYTES, packets, engine; "
            "p4: scenario, load=PERCENT, size=BYTES, packets, beside=simple_switch.",
        ),
    ] = None,
    _parts: With = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")] = 1,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure the queueing core: packets per cycle, latency in an idle system, lateness of shaped packets. Every packet is checked."""
    import json

    from penstock.benches import bench as benches
    from penstock.command_line.console import spinner
    from penstock.command_line.options import parse_settings
    from penstock.command_line.terminal import progress_bar

    options = benches.plan(name, parse_settings(settings), seed)
    try:
        with spinner() as building:
            benches.prepare(options, building)
        with progress_bar(name, options.get("work", options.get("packets", 1))) as progress:
            result = benches.run(options, progress)
    except benches.BenchError as error:
        typer.echo(f"penstock: bench {name} failed: {error} (seed {seed})", err=True)
        raise typer.Exit(1) from None
    if json_output:
        print(json.dumps(result))
        return
    found = benches.benches()[name]
    print("\n".join([f"{name}: {found.summary}", *(f"  {line}" for line in found.lines(result))]))
