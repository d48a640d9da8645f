# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Where the helpers of these tests are; devices and jobs."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import config as configuration
from penstock.hardware import verilate
from penstock.testing import teststand
from penstock.testing.testkit import seed
from penstock.testing.teststand import MakeJob

sys.path.insert(0, str(Path(__file__).parent))  # for mixes and fair_judge: pytest's importlib mode does not do it

Job = dict[str, Any]


@pytest.fixture
def stand_in_job() -> MakeJob:
    """Make a job for the stand-in (engine/test/stand_in.cpp), taken for an access edge: 16 queues, one memory that it does not use."""
    device = {"design": "access_edge", "library": teststand.library(), "clock_hz": 220_000_000, "queues": 16}
    return teststand.maker(device | {"memories": [{"bytes": teststand.MEMORY_BYTES}]})


@pytest.fixture(scope="session")
def tiny() -> tuple[configs.Configuration, str]:
    """The configuration tiny_16 and its library, assertions on."""
    config = configs.load("tiny_16")
    return config, str(verilate.build_device(config, print, assertions=True))


@pytest.fixture
def tiny_job(tiny: tuple[configs.Configuration, str]) -> Callable[..., Job]:
    """Make a job for the RTL in the configuration tiny_16."""
    config, library = tiny
    timing = {"read_latency": 40, "write_latency": 25, "gap_permille": 100}

    def make(sources: list[Job], **keys: Any) -> Job:
        job: Job = {
            "device": configuration.device(config, library, timing),
            "seed": seed(),
            "duration_cycles": 30_000,
            "drain": True,
            "max_cycles": 2_000_000,
            "ingress_bps": teststand.LINE_BPS,
            "egress_bps": teststand.LINE_BPS,
            "sources": sources,
            "sample_queues": list(range(config.queues)),
            "keep_departures": True,
        }
        return job | keys

    return make


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server with the model of a small device, to which traffic for all queues comes; yields client, plant and sweep."""
    from penstock.designs.access_edge.control.client import Client
    from penstock.designs.access_edge.control.server import serving
    from penstock.designs.access_edge.control.sweep import Sweep
    from penstock.designs.access_edge.testing.control import CONFIG, plant_of
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine
    from penstock.engine.run import Request, prepare

    engine.build()
    folder = tmp_path_factory.mktemp("served")
    scenario = folder / "s.yaml"
    scenario.write_text(
        f"device: {{ config: {CONFIG} }}\nduration: 1 s\ndrain: false\n"
        "traffic:\n  - { name: all, poisson: { queues: 0-63, pick: random, rate: 500 Mbit/s, size: 500 } }\n"
    )
    carrier = InProcess(prepare(Request(scenario, engine="model")).plan.job)
    plant = plant_of(carrier, folder / "intent.sqlite")
    sweep = Sweep(plant, 0.05)
    sweep.start()
    with serving(plant, sweep, [f"unix:{folder / 'c.sock'}", "127.0.0.1:0"]) as places, Client(places[0]) as client:
        yield client, plant, sweep, places
    sweep.stop()
    plant.intent.close()
    result = carrier.device.end()
    assert result["findings"] == [] and result["conservation_ok"]
    carrier.close()
