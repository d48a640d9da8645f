# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Fixtures of the workbench's tests."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for stand_in: pytest's importlib mode does not do it

import stand_in
import sweeping


@pytest.fixture
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Put the stand-in in the engine's place. The returned dict gets the `job`; its `change` may alter the raw result."""
    from penstock.engine import engine
    from penstock.hardware import verilate

    seen: dict[str, Any] = {}

    def run(job: dict[str, Any], progress: Any = None) -> dict[str, Any]:
        seen["job"] = job
        if job["pcap_out"]:
            Path(job["pcap_out"]).write_bytes(stand_in.pcap_bytes([]))
        raw = stand_in.simulate(job, progress)
        return seen["change"](raw) if "change" in seen else raw

    monkeypatch.setattr(engine, "prepare", lambda job, report=None: None)
    monkeypatch.setattr(engine, "run", run)
    monkeypatch.setattr(verilate, "build_device", lambda config, report=None: Path("device.so"), raising=False)
    return seen


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> sweeping.Calls:
    """Put a stand-in in the place of the processes of a sweep."""
    from penstock.engine import engine
    from penstock.sweeps import execute

    found = sweeping.Calls()
    monkeypatch.setattr(execute, "children", SimpleNamespace(run=found.run))
    monkeypatch.setattr(engine, "build", lambda report=None: None)
    return found
