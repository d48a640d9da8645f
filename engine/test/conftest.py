# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Devices and jobs for the tests of the engine."""

import sys
from pathlib import Path

import pytest

from penstock.engine import engine
from penstock.testing import teststand
from penstock.testing.teststand import MakeJob

sys.path.insert(0, str(Path(__file__).parent))  # for switch_reference: pytest's importlib mode does not do it


@pytest.fixture(scope="session")
def stand_in() -> str:
    """The library of the stand-in device (stand_in.cpp)."""
    return teststand.library()


@pytest.fixture
def stand_in_job(stand_in: str) -> MakeJob:
    """Make a job for the stand-in: 16 queues, FIFO, which may mark."""
    return teststand.maker({"design": "stand_in", "library": stand_in, "clock_hz": 220_000_000, "payload": "ecn_mark"})


@pytest.fixture(scope="session", autouse=True)
def built_engine() -> None:
    """The engine itself, up to date."""
    engine.build(print)
