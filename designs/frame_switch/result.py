"""What a run of a frame switch says beyond what every run says: flows, outputs by class, inputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.designs.frame_switch.config import Config
from penstock.designs.frame_switch.job import SwitchPlan
from penstock.engine.result import Departures, distribution, measured_of

COUNTERS = ("in_packets", "in_bytes", "out_packets", "out_bytes", "drop_packets", "drop_bytes")


def own(raw: dict[str, Any], config: Config, plan: SwitchPlan) -> dict[str, Any]:
    """Return the keys of a frame switch; designs/frame_switch/README.md describes them.

    A frame with several destinations counts once for each of them, from its arrival on.
    """
    left = Departures.of(raw)
    flows = np.arange(config.flows)
    source, output, traffic_class = flows // config.classes // config.ports, flows // config.classes % config.ports, flows % config.classes

    def rows(number: NDArray[np.int64], names: list[dict[str, int]]) -> list[dict[str, Any]]:
        found = [name | _row(raw, left, config, plan, number, index, name.get("output")) for index, name in enumerate(names)]
        return [row for row in found if row["in_packets"]]

    classes = [{"output": n // config.classes, "traffic_class": n % config.classes} for n in range(config.ports * config.classes)]
    each = [{"input": int(source[n]), "output": int(output[n]), "traffic_class": int(traffic_class[n])} for n in flows]
    return {
        "measured_from_cycle": plan.after,
        "outputs": rows(output * config.classes + traffic_class, classes),
        "inputs": rows(source, [{"input": n} for n in range(config.ports)]),
        "flows": rows(flows, each),
    }


def _row(
    raw: dict[str, Any],
    left: Departures,
    config: Config,
    plan: SwitchPlan,
    number: NDArray[np.int64],
    index: int,
    output: int | None,
) -> dict[str, Any]:
    """Return what became of the frames of the flows whose `number` is `index`; `output`: which line they left by, None: several."""
    mine = np.flatnonzero(number == index)
    sums = {key: int(np.asarray(raw["queue"][key])[mine].sum()) for key in COUNTERS}
    measured = int(measured_of(raw)[mine].sum())
    chosen = left.only(np.flatnonzero(number[left.queue] == index)).if_all(measured)
    is_known = len(chosen.cycle) == measured
    window = (chosen.cycle >= plan.after) & (chosen.cycle < min(plan.end, int(raw["cycles"])))
    cycles = min(plan.end, int(raw["cycles"])) - plan.after
    size, frames = int(chosen.length[window].sum()), int(window.sum())
    on_line = size + plan.job["overhead_bytes"] * frames

    def rate(count: int) -> float:
        return 8 * count * config.clock_hz / cycles

    row = {**sums, "throughput_bps": round(rate(size), 3) if cycles > 0 and is_known else None}
    if output is not None:
        row["line_share"] = round(rate(on_line) / plan.job["egress_bps"][output], 6) if cycles > 0 and is_known else None
    return row | {"latency_ns": distribution(chosen.latency, 1e9 / config.clock_hz)}
