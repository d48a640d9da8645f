"""`penstock bench p4`: packets per second of CPU time of a program in the P4 device, all that a run does included."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.command_line.options import nothing_left, take_choice, take_number
from penstock.designs.design import Bench
from penstock.errors import UserError

if TYPE_CHECKING:
    from penstock.engine.run import Prepared

KEYS = ("engine", "scenario", "load", "size", "packets", "beside")
PACKETS = 500_000
PACKETS_BESIDE = 20_000  # through simple_switch
SCENARIO = "scenarios/p4_codel.yaml"


def plan(settings: dict[str, str], seed: int) -> dict[str, Any]:
    """Return the options. Raises UserError."""
    options: dict[str, Any] = {
        "engine": take_choice(settings, "engine", ("model",)),
        "scenario": settings.pop("scenario", SCENARIO),
        "load": take_number(settings, "load", 105, 1, 300),
        "size": take_number(settings, "size", 590, 64, 9600),
        "packets": take_number(settings, "packets", PACKETS, 1000, 4_000_000),
        "beside": take_choice(settings, "beside", ("none", "simple_switch")),
        "seed": seed,
    }
    nothing_left(settings, KEYS)
    if options["beside"] != "none":
        from penstock.p4 import simple_switch

        simple_switch.need()
    job(options)
    return options


def prepare(options: dict[str, Any], report: Callable[[str], None] | None) -> Path | None:
    """Build the engine; there is no library, as the device is a model."""
    from penstock.engine import engine

    engine.build(report, "designs/p4_switch/model")
    return None


def job(options: dict[str, Any]) -> dict[str, Any]:
    """Return the engine's job: device, program, tables and headers of a scenario, whose traffic is replaced by Poisson traffic at its first
    input that asks for `load` per cent of the slowest output's line. Raises UserError."""
    return {**prepared(options).plan.job, "keep_departures": False, "keep_all": False, "interval_cycles": 0}


def prepared(options: dict[str, Any]) -> "Prepared":
    """Return the scenario with that traffic, ready to run. Raises UserError."""
    from penstock.designs.p4_switch.job import SwitchPlan
    from penstock.engine.run import Request, prepare
    from penstock.paths import ROOT
    from penstock.scenarios import scenario

    path = Path(options["scenario"])
    path = path if path.exists() or not (ROOT / path).exists() else ROOT / path
    run = prepare(Request(path, [f"seed={options['seed']}"], engine="model"))
    plan = run.plan
    if not isinstance(plan, SwitchPlan):
        raise UserError(f"--set scenario={options['scenario']}: is one of {run.design.name}, the bench takes one of p4_switch")
    entry = next((entry for entry in scenario.open_file(path, []).data["traffic"] if "headers" in entry and "inputs" in entry), None)
    if entry is None:
        raise UserError(f"--set scenario={options['scenario']}: has no traffic with headers, which the bench takes")
    size, given = options["size"], run.plan.job
    rate = min(given["egress_bps"]) * options["load"] / 100 * size / (size + given["overhead_bytes"])
    first = plan.names[0]["input"]
    heads = {key: value for key, value in entry["headers"].items() if key != "ecn"}
    traffic = {"inputs": first, "headers": heads, "poisson": {"rate": f"{rate:.0f} bit/s", "size": size}}
    seconds = options["packets"] * 8 * size / rate
    settings = [
        f"seed={options['seed']}",
        f"traffic=[{json.dumps(traffic)}]",
        f"duration={seconds:.6f} s",
        "drain=false",
        "report.after=0 s",
    ]
    return prepare(Request(path, settings, engine="model"))


def run(options: dict[str, Any], _library: Path | None, progress: Callable[[int, int], None] | None) -> dict[str, Any]:
    """Return the figures. Raises RuntimeError when a packet is lost or counted wrong, UserError when none comes to a queue."""
    from penstock.engine import engine
    from penstock.engine.result import binned

    given = job(options)

    def show(now: dict[str, Any]) -> bool:
        if progress:
            progress(now["packets_in"], now["cycles"])
        return True

    raw = engine.run(given, show)
    if raw["findings"] or not raw["conservation_ok"]:
        raise RuntimeError("; ".join(raw["findings"][:3]) or "packets or bytes are not conserved")
    if not raw["p4"]["queues"]:
        raise UserError(
            f"--set size={options['size']}: the program of {options['scenario']} drops all packets of this size, none is queued"
        )
    scale = 1e9 / given["device"]["clock_hz"]
    found = {}
    if options["beside"] != "none":
        from penstock.designs.p4_switch.bench import beside

        found["simple_switch"] = beside.run(prepared(options), given, min(options["packets"], PACKETS_BESIDE), progress)
    waits = max((queue["waits"] for queue in raw["p4"]["queues"]), key=lambda waits: waits["count"])
    return {
        "packets": raw["packets"]["in"],
        "out": raw["packets"]["out"],
        "dropped": {reason: count for reason, count in raw["packets"]["dropped"].items() if count},
        "device_seconds": round(int(raw["cycles"]) * scale / 1e9, 6),
        "cpu_seconds": round(raw["run_cpu_seconds"], 4),
        "packets_per_cpu_second": round(raw["packets"]["in"] / raw["run_cpu_seconds"]),
        "sojourn_ns": binned(waits, scale),
        **found,
    }


def lines(result: dict[str, Any]) -> list[str]:
    """Return a result in words."""
    config, dropped = result["config"], sum(result["dropped"].values())
    found = []
    if (other := result.get("simple_switch")) is not None:
        times = result["packets_per_cpu_second"] / other["packets_per_cpu_second"]
        found.append(
            f"simple_switch {other['version']}: {other['packets_per_cpu_second']:,} packets per second of CPU time "
            f"({other['packets']:,} in "
            f"{other['cpu_seconds']:g} s; {other['packets_per_user_second']:,} without the system's part); here {times:.1f} times as many"
        )
    return [
        f"{config['scenario']} with {config['size']} byte at {config['load']} % of the output, seed {result['seed']}",
        f"{result['packets_per_cpu_second']:,} packets per second of CPU time ({result['packets']:,} in {result['cpu_seconds']:g} s), "
        f"{dropped:,} dropped",
        *found,
    ]


P4 = Bench("packets per second of CPU time through the P4 device", PACKETS, plan, prepare, run, lines)
