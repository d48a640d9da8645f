# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The interrupt of the deadline port: both engines show the same causes and lost frames."""

import random
from typing import Any

from test_deadline_port import job, library, some

from penstock.designs import configs
from penstock.designs.deadline_port import registers
from penstock.engine import engine
from penstock.testing.sessions import split
from penstock.testing.testkit import seed

NAMES = ("irq_cause", "irq_mask", "irq_drops", "irq_lost")


def session(config: Any, on_model: bool, deadlines: Any) -> Any:
    given = job(config, library(config.name)[1], [], deadlines, any_class=True, egress_bps=2e9, ingress_bps=0, seed=seed())
    if on_model:
        given["device"] = {**{key: value for key, value in given["device"].items() if key != "library"}, "model": True}
    made = engine.module().Session(split(given)[0])
    made.start()
    return made


def test_both_engines_show_the_same_causes() -> None:
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    config = configs.load("tiny_deadline_3", "deadline_port")
    deadlines = some(config, 300, 2000, 9000)
    both = [session(config, on_model, deadlines) for on_model in (False, True)]
    causes = []
    for _ in range(80):
        now = both[0].now
        assert both[1].now == now
        for _ in range(rng.choice([0, 5, 30])):
            frame = now + rng.randrange(300), rng.randrange(config.classes), bytes(rng.choice([8, 60, 590, 1514, 1523]))
            bad = rng.random() < 0.1
            for made in both:
                made.offer(*frame, error=bad)
        for made in both:
            made.advance(now + 600)
        found = [[made.read(registers.address(one)) for one in NAMES] for made in both]
        assert found[0] == found[1], (now, found)
        cause, _, _, lost = found[0]
        causes.append(cause)
        name, value = rng.choice([("irq_cause", cause), ("irq_cause", rng.getrandbits(5)), ("irq_mask", rng.getrandbits(32)),
                                  ("irq_drops", rng.choice([0, 1, lost, lost + 1, lost + 9]))])  # fmt: skip
        for made in both:
            made.write(registers.address(name), value)
    assert set(causes) == {0, 16}
