# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Jobs that make no sense: the engine refuses each with the key, and what a device of another design would need."""

from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.frame_switch.testing import twins_switch
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.testing.testjobs import constant

CONFIG = configs.load("switch_4")
GROUPS = [{"source": 0, "class": 0, "destinations": 0b1111}, {"source": 3, "class": 3, "destinations": 0b0001}]


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The engine, up to date."""
    engine.build(print)


def job(**changes: Any) -> dict[str, Any]:
    """A good job; `changes` of its device, None takes a key away."""
    device = twins_switch.device(CONFIG, None, [dict(group) for group in GROUPS]) | changes
    return {
        "device": {key: value for key, value in device.items() if value is not None},
        "duration_cycles": 1000,
        "sources": [constant([CONFIG.flows, CONFIG.flow(0, 1, 0)], input=0)],
    }


def refused(given: dict[str, Any]) -> str:
    with pytest.raises(ValueError) as error:
        engine.run(given)
    return str(error.value)


def test_the_good_job_is_good() -> None:
    """Every key that the tests below change or leave out, at both ends of what is allowed."""
    result = engine.run(job())
    assert result["findings"] == [] and result["packets"]["in"] > 20
    for changes in ({"groups": []}, {"classes": 64, "groups": [{"source": 3, "class": 63, "destinations": 15}]}, {"back_pressure": False}):
        assert engine.run(job(**changes))["findings"] == []


@pytest.mark.parametrize(
    "key", ["ports", "data_bytes", "classes", "max_frame_bytes", "room_cells", "fifo_depth", "stages", "iterations", "groups", "design"]
)
def test_missing_keys(key: str) -> None:
    assert refused(job(**{key: None})) == f"job: device.{key} is missing"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"library": "x.so"}, "device.library or device.model"),
        ({"model": None}, "device.library or device.model"),
        ({"model": False}, "device.model"),
        ({"model": None, "library": ""}, "device.library is empty"),
        ({"design": "frame_swich"}, "device.design: there is no design frame_swich"),
        ({"ports": 1}, "device.ports"),
        ({"ports": 33}, "device.ports"),
        ({"ports": "4"}, "device.ports"),
        ({"data_bytes": 0}, "device.data_bytes"),
        ({"data_bytes": 65}, "device.data_bytes"),
        ({"classes": 0}, "device.classes"),
        ({"classes": 65}, "device.classes"),
        ({"max_frame_bytes": 0}, "device.max_frame_bytes"),
        ({"room_cells": 1}, "device.room_cells"),
        ({"fifo_depth": 0}, "device.fifo_depth"),
        ({"stages": 5}, "device.stages"),
        ({"iterations": 0}, "device.iterations"),
        ({"back_pressure": 1}, "device.back_pressure"),
        ({"islip": "yes"}, "device.islip"),
        ({"queues": 64}, "device.queues"),
        ({"groups": 3}, "device.groups"),
        # What the hardware refuses when it is elaborated, of settings that are allowed one by one.
        ({"ports": 3, "groups": []}, "ports is 3"),
        ({"room_cells": 48}, "room_cells is 48"),
        ({"room_cells": 16}, "room_cells is 16"),
        ({"stages": 3}, "stages"),
    ],
)
def test_bad_devices(changes: dict[str, Any], words: str) -> None:
    assert words in refused(job(**changes))


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"source": 4}, "source"),
        ({"source": -1}, "source"),
        ({"class": 4}, "class"),
        ({"destinations": 0}, "destinations"),
        ({"destinations": 16}, "destinations"),
        ({"destinations": None}, "destinations"),
        ({"source": None}, "source"),
        ({"class": None}, "class"),
        ({"more": 1}, "more"),
    ],
)
def test_bad_groups(change: dict[str, Any], key: str) -> None:
    groups = [dict(group) for group in GROUPS]
    groups[1] = {name: value for name, value in (groups[1] | change).items() if value is not None}
    assert f"device.groups[1].{key}" in refused(job(groups=groups))


def test_there_is_no_such_input() -> None:
    for number in (4, -1):
        given = job()
        given["sources"][0]["input"] = number
        assert "sources[0].input" in refused(given)
    assert "series_queues: the device has no queue 64" in refused(job() | {"series_queues": [64], "interval_cycles": 10})


def test_a_library_of_another_device() -> None:
    """Its number of ports is compared with the job's."""
    library = str(verilate.build_device(CONFIG, print))
    eight = configs.load("switch_8")
    given = job() | {"device": twins_switch.device(eight, library, [])}
    given["sources"] = [constant([0], input=7)]
    assert "the device has 4 inputs, the job 8" in refused(given)
    given = job(model=None, library="/nowhere/at/all.so")
    with pytest.raises(RuntimeError, match="/nowhere/at/all.so"):
        engine.run(given)


@pytest.mark.parametrize("name", ["model", "rtl"])
def test_there_are_no_registers(name: str) -> None:

    library = str(verilate.build_device(CONFIG, print)) if name == "rtl" else None
    given = job() | {"device": twins_switch.device(CONFIG, library, GROUPS)}
    for key, write in (("register_writes", (0, 1)), ("timed_register_writes", (100, 0, 1))):
        assert refused(given | {key: [write]}) == "the device has no registers"
    held = engine.module().Session({"device": given["device"], "sources": []})
    for use in (lambda: held.read(0), lambda: held.write(0, 1)):
        with pytest.raises(ValueError, match="the device has no registers"):
            use()


def test_sessions_say_which_input() -> None:

    held = engine.module().Session({"device": job()["device"], "sources": []})
    held.start()
    with pytest.raises(ValueError, match="the device has no input 4: there are 4"):
        held.offer(0, 0, b"x" * 60, input=4)
    with pytest.raises(ValueError, match="the device has no input 9"):
        held.offer_many(np.array([0]), np.array([0], dtype=np.uint32), np.array([0, 60]), np.zeros(60, dtype=np.uint8), input=9)
    held.offer(0, CONFIG.flow(3, 2, 1), b"x" * 60, input=3)
    held.advance(500, until_empty=True)
    left = held.take_left()
    assert left["queue"].tolist() == [CONFIG.flow(3, 2, 1)] and left["latency"].tolist() == [14]
    assert held.end()["findings"] == []
