# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Devices and jobs for the tests of the engine."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import config as configuration
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.testing import teststand
from penstock.testing.testkit import seed

sys.path.insert(0, str(Path(__file__).parent))  # for switch_reference: pytest's importlib mode does not do it

Job = dict[str, Any]
CLOCK_HZ = 220_000_000
LINE_BPS = 100e9


@pytest.fixture(scope="session")
def stand_in() -> str:
    """The library of the stand-in device (stand_in.cpp)."""
    return teststand.library()


@pytest.fixture
def stand_in_job(stand_in: str) -> Callable[..., Job]:
    """Make a job for the stand-in: 16 queues, one memory that it does not use."""

    def make(sources: list[Job], fault: int = 0, parameter: int = 0, **keys: Any) -> Job:
        job: Job = {
            "device": {
                "design": "access_edge",
                "library": stand_in,
                "clock_hz": CLOCK_HZ,
                "queues": 16,
                "memories": [{"bytes": teststand.MEMORY_BYTES}],
            },
            "seed": seed(),
            "duration_cycles": 20_000,
            "drain": True,
            "max_cycles": 200_000,
            "quiet_cycles": 2_000,
            "ingress_bps": LINE_BPS,
            "egress_bps": LINE_BPS,
            "register_writes": [(0x804, parameter), (0x800, fault)],
            "sources": sources,
            "keep_departures": True,
        }
        return job | keys

    return make


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
            "ingress_bps": LINE_BPS,
            "egress_bps": LINE_BPS,
            "sources": sources,
            "sample_queues": list(range(config.queues)),
            "keep_departures": True,
        }
        return job | keys

    return make


@pytest.fixture(scope="session", autouse=True)
def built_engine() -> None:
    """The engine itself, up to date."""
    engine.build(print)
