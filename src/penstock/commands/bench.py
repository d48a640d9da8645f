"""`penstock bench`: throughput and latency of queue manager and scheduler."""

from typing import Annotated

import typer

from penstock.commands import app


@app.command()
def bench(
    name: Annotated[
        str,
        typer.Argument(
            help="queue, schedule, idle-latency, lateness, engine, fabric, fairness, priority, reconfigure or switch.", show_default=False
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
            "with levels=4 (lateness, too), and fairness, priority, reconfigure: queues_per_subscriber, nodes, ports, classes; "
            "schedule, levels=4: congested=subscriber|node|port; "
            "fairness, priority: congested_nodes, subscribers, overload, size=imix|mixed|BYTES, rate; "
            "fairness: mix=backlogged|siblings|random, weights=0|1, megabytes (of each subscriber); "
            "priority: packets; reconfigure: cycles; "
            "switch: config, pattern=uniform|permutation|hotspot, load=PERCENT, size=imix|BYTES, packets, engine.",
        ),
    ] = None,
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
    config = result["config"]
    print(f"{name}: {benches.summary(name)}")
    if name in benches.own():
        print("\n".join(f"  {line}" for line in benches.own()[name].lines(result)))
        return
    if name == "fabric":
        print(
            f"  {config['ports']} ports of {config['width']} bit, S = {config['stages']}, {config['fifo_depth']} cells a FIFO, seed {seed}"
        )
        print(f"  {result['cells_per_cycle_per_port']:.4f} cells per cycle and port, pipeline of {result['pipeline_cycles']} cycles")
        print("  latency in cycles: " + ", ".join(f"{key} {value:g}" for key, value in result["latency_cycles"].items()))
        cells = result["cells"]
        print(
            f"  {cells['in']:,} cells in, {cells['out']:,} out, {cells['dropped']:,} dropped at full FIFOs; none lost, changed or misrouted"
        )
        return
    if name == "engine":
        print(
            f"  {result['engine']}, {config['queues']:,} queues, {config['size']} at {config['load']} % of the line, seed {result['seed']}"
        )
        speed = f"{result['packets_per_cpu_second']:,} packets and {result['cycles_per_cpu_second']:,} cycles"
        print(f"  {speed} in a second of CPU time ({result['packets']:,} packets, {result['cpu_seconds']:g} s)")
        return
    if name in benches.TREE_BENCHES:
        from penstock.benches import bench_tree

        print("\n".join(f"  {line}" for line in bench_tree.lines(result)))
        return
    print(f"  {config['queues']:,} queues, {config['descriptors']:,} descriptors, {config['pattern']} queues, seed {result['seed']}")
    if "lateness_cycles" in result:
        print(f"  load {100 * result['link_load']:.1f} % of the link, measured {100 * result['measured_link_load']:.1f} %")
        for key in ("lateness_cycles", "after_earliest_departure_cycles", "ideal_link_cycles"):
            print(f"  {key.replace('_', ' ')}: " + ", ".join(f"{name} {value:g}" for name, value in result[key].items()))
    elif "latency_cycles" in result:
        print("  latency in cycles: " + ", ".join(f"{key} {value:g}" for key, value in result["latency_cycles"].items()))
    else:
        print(f"  {result['enqueues_per_cycle']:.3f} enqueues and {result['dequeues_per_cycle']:.3f} dequeues per cycle")
    if "marked" in result:
        print(f"  {config['aqm']} on every queue: {result['marked']:,} of {result['total_packets']:,} packets marked")
    print(f"  {result['packets']:,} packets in {result['cycles']:,} cycles, {result['wall_seconds']:g} s; none lost, changed or reordered")
