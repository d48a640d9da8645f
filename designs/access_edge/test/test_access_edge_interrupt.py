# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The interrupt of the device: both engines show the same causes and lost frames, whatever happens, and whenever software clears them."""

import random
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.testing.testkit import seed

NAMES = ("irq_cause", "irq_mask", "irq_drops", "irq_lost")
BITS = {name: 1 << low for name, (low, _, _) in registers.table()["irq_cause"]["fields"].items()}


def session(config: Any, library: str | None, faults: list[list[dict[str, Any]]]) -> Any:
    timing = {"read_latency": 60, "write_latency": 30, "gap_permille": 200}
    device = twins.device(config, library, timing)
    memories = [memory | {"faults": own} for memory, own in zip(device["memories"], faults, strict=True)]
    job = {"device": device | {"memories": memories}, "sources": [], "seed": seed(), "ingress_bps": 0, "egress_bps": 10e9}
    made = engine.module().Session(job)
    made.write(registers.address("memory_timeout"), 400)
    made.start()
    return made


@pytest.mark.parametrize("name", ["tiny_16", *(pytest.param(one, marks=pytest.mark.slow) for one in ("tiny_share_16", "tiny_codel_16"))])
def test_both_engines_show_the_same_causes(name: str) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    config = configs.with_overrides(configs.load_as(Config, name), {"busiest": 4})
    memories = len(twins.device(config, None, {"read_latency": 60, "write_latency": 30})["memories"])
    faults: list[list[dict[str, Any]]] = [[] for _ in range(memories)]
    faults[rng.randrange(memories)] = [{"what": "silent", "from": 20_000, "until": 40_000}]
    both = [session(config, library, faults) for library in (str(verilate.build_device(config, print, assertions=True)), None)]
    seen = dict.fromkeys(("memory_lost", "scan_ended", "drops", "none"), 0)
    for _ in range(60):
        now = both[0].now
        assert both[1].now == now
        for _ in range(rng.choice([0, 5, 30])):
            frame = now + rng.randrange(300), rng.choice([0, 1, 2, config.queues]), bytes(rng.choice([8, 60, 590, 1514, 1523]))
            bad = rng.random() < 0.1
            for made in both:
                made.offer(*frame, error=bad)
        for made in both:
            made.advance(now + 600)
        found = [[made.read(registers.address(one)) for one in NAMES] for made in both]
        assert found[0] == found[1], (now, found)
        cause, _, _, lost = found[0]
        seen["none"] += not cause
        for one, bit in BITS.items():
            seen[one] = seen.get(one, 0) + bool(cause & bit)
        scan = registers.contract()["enums"]["command"]["scan"]
        name, value = rng.choice([("irq_cause", cause), ("queue_command", scan), ("irq_cause", rng.getrandbits(5)),
                                  ("irq_mask", rng.getrandbits(32)),
                                  ("irq_drops", rng.choice([0, 1, lost, lost + 1, lost + 9]))])  # fmt: skip
        for made in both:
            made.write(registers.address(name), value)
    assert min(seen[one] for one in ("memory_lost", "scan_ended", "drops", "none")) > 0, seen
    for made in both:
        assert not made.end()["findings"]
