# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Guaranteed rates that an operator sets: they are in the device, are shown everywhere, and the traffic goes by them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import openconfig
from penstock.designs.access_edge.control.answers import settings
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, GUARANTEED, Mirror, plant_of
from penstock.driver.carrier import READ, WAIT, WRITE
from penstock.driver.in_process import InProcess
from penstock.engine.run import Request, prepare
from penstock.library.device import built

MBIT = 1_000_000
# A new guarantee makes up for a sixteenth of a second first: of 12 Mbit/s that are 750 kbit, at some 6 Mbit/s more than it gets later.
SETTLES_MS = 160
Ctl = Callable[..., tuple[int, str, str]]

# Node 0 carries 24 Mbit/s and is offered 24 for each of three queues.
SCENARIO = """
device: { config: tree_guaranteed_64 }
duration: 1 s
drain: false
nodes: [ { id: 0, rate: 24 Mbit/s } ]
traffic: [ constant: { queues: [0, 1, 4], rate: 72 Mbit/s, size: 600 } ]
"""


@pytest.fixture
def ctl(capsys: pytest.CaptureFixture[str]) -> Any:
    """Yield what runs `ctl` against a server in front of a carrier."""

    def at(address: str) -> Ctl:
        def run(*arguments: str) -> tuple[int, str, str]:
            status = main(["ctl", "--server", address, *arguments])
            out, err = capsys.readouterr()
            return status, out, err

        return run

    return at


def sent(carrier: InProcess, queues: list[int], milliseconds: int) -> list[float]:
    """The rates at which queues send for a while of the device's clock, in Mbit/s."""

    def snapshot() -> tuple[int, list[int]]:
        """The device's clock, and what each queue has sent; again where the server's sweep let the clock go on between the queues."""
        while True:
            begin, found = carrier.cycles(), []
            for queue in queues:
                accesses = [
                    (WRITE, registers.address("queue_index"), queue, 0),
                    (WRITE, registers.address("queue_command"), registers.COMMAND_SNAPSHOT, 0),
                    (WAIT, registers.address("status"), 0, registers.STATUS_BUSY), (READ, registers.address("out_bytes"), 0, 0),
                ]  # fmt: skip
                found.append(int(carrier.run(np.array(accesses, dtype=np.uint32))[0]))
            if carrier.cycles() - begin < 10 * milliseconds:  # a thousandth of the time
                return begin, found

    begin, first = snapshot()
    now, last = begin, first
    while now < begin + 10_000 * milliseconds:
        now, last = snapshot()
    return [8 * (b - a) / ((now - begin) / 10e6) / MBIT for a, b in zip(first, last, strict=True)]


@pytest.mark.parametrize(("engine", "milliseconds"), [("model", 300), pytest.param("rtl", 60, marks=pytest.mark.slow)])
def test_traffic_goes_by_what_is_set(engine: str, milliseconds: int, ctl: Any, tmp_path: Path) -> None:
    """Below a node of 24 Mbit/s: shares by hand, of one weight at first, then as a subscriber, a queue of the other one, and none are
    guaranteed something."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    run = prepare(Request(tmp_path / "s.yaml", engine=engine))
    run.plan.job["device"]["library"] = built(run.config, engine, assertions=True)
    carrier = InProcess(run.plan.job, real_time=False)
    plant = plant_of(carrier, tmp_path / "intent.sqlite")
    with serving(plant, Sweep(plant, 1.0), [f"unix:{tmp_path / 'c.sock'}"]) as places:
        do = ctl(places[0])
        two = ("--queue", "limit_packets=25", "--queue", "limit_packets=25")
        assert do("subscriber", "add", "a", *two)[0] == 0 and do("subscriber", "add", "b", *two[:2])[0] == 0
        queues = [0, 1, 4]

        def shares(expected: list[float]) -> None:
            assert differences(plant) == []
            sent(carrier, queues, SETTLES_MS)
            # Two frames of 600 byte in the time that is measured, and a percent of the node.
            assert sent(carrier, queues, milliseconds) == pytest.approx(expected, abs=0.24 + 2 * 4.8 / milliseconds), expected

        shares([6, 6, 12])
        status, out, err = do("subscriber", "set", "b", "--guarantee", "12 Mbit/s")
        assert status == 0 and "12 Mbit/s" in out, err
        shares([3, 3, 18])
        status, out, err = do("queue", "set", "a", "0", "--guarantee", "4Mbit/s")
        assert status == 0 and "4 Mbit/s" in out, err
        shares([5, 1, 18])
        for none in (("subscriber", "set", "b"), ("queue", "set", "a", "0")):
            assert do(*none, "--guarantee", "none")[0] == 0
        shares([6, 6, 12])
    plant.intent.close()
    result = carrier.device.end()
    assert result["findings"] == [] and result["conservation_ok"]
    carrier.close()


def test_guarantees_are_shown(ctl: Any, tmp_path: Path) -> None:
    """In the tables and JSON of the commands, in files, by the page's API, by the device; and found where another has changed them."""
    mirror = Mirror(configs.load(GUARANTEED))
    plant = plant_of(mirror)
    with serving(plant, Sweep(plant, 1.0), [f"unix:{tmp_path / 'c.sock'}"]) as places:
        do = ctl(places[0])
        assert ["guarantees", "True"] in [line.split() for line in do("device")[1].splitlines()]
        words = ("--rate", "50Mbit/s", "--guarantee", "20Mbit/s", "--queue", "guarantee=2Mbit/s rate=5Mbit/s", "--queue", "class=1")
        status, out, err = do("subscriber", "add", "home", *words)
        assert status == 0 and "20 Mbit/s" in out, err
        found = json.loads(do("subscriber", "show", "home", "--json")[1])["subscribers"][0]
        assert (found["guarantee_bps"], found["queues"][0]["guarantee_bps"]) == (20 * MBIT, 2 * MBIT)
        assert "guarantee_bps" not in found["queues"][1]
        assert "2 Mbit/s" in do("queue", "list", "home")[1] and "2 Mbit/s" in do("queue", "show", "home", "0")[1]
        assert settings(plant.get("home").queues[0])["guarantee_bps"] == 2 * MBIT
        file = tmp_path / "all.csv"
        assert do("export", str(file))[0] == 0
        assert file.read_text().splitlines()[1].count("20 Mbit/s") == 1
        assert do("subscriber", "delete", "home")[0] == 0 and do("import", str(file))[0] == 0
        assert plant.get("home").guarantee_bps == 20 * MBIT
        mirror.guarantees["queue", 1] = mirror.guarantees["subscriber", 0]
        mirror.guarantees["subscriber", 0] = 0
        assert [(one.name, one.field) for one in differences(plant)] == [
            ("queue 1 (home, 1)", "guarantee"),
            ("subscriber 0 (home)", "guarantee"),
        ]
        for wrong, said in (
            (("subscriber", "set", "home", "--guarantee", "60Mbit/s"), "guarantee_bps: must be at most the rate, 50,000,000 bit/s"),
            (("queue", "set", "home", "0", "--guarantee", "6Mbit/s"), "queues[0].guarantee_bps: must be at most the rate, 5 Mbit/s"),
            (("subscriber", "set", "home", "--guarantee", "7 bit/s"), "guarantee_bps: must be 8,000 to 100,000,000,000 bit/s"),
            (("subscriber", "set", "home", "--guarantee", "7 Mbit"), "guarantee must be a rate with one of the units"),
            (("queue", "set", "home", "1", "--guarantee", "200Gbit/s"), "queues[1].guarantee_bps: must be at most 100 Gbit/s"),
        ):
            status, _, err = do(*wrong)
            assert status == 2 and said in err and err.count("\n") == 1, (wrong, err)


def test_a_device_without_guarantees(ctl: Any, tmp_path: Path) -> None:
    """It refuses them, takes 0, and OpenConfig's two rates without the lower one: each interface is named."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    schedulers = {"scheduler": [{"sequence": 1, "config": {"type": "TWO_RATE_THREE_COLOR"},
                                 "two-rate-three-color": {"config": {"cir": "2000000", "pir": "5000000", "be": 3000}}}]}  # fmt: skip
    interface = {"interface-id": "i", "output": {"scheduler-policy": {"config": {"name": "p"}}}}
    found = {"qos": {"interfaces": {"interface": [interface]},
                     "scheduler-policies": {"scheduler-policy": [{"name": "p", "schedulers": schedulers}]}}}  # fmt: skip
    file = tmp_path / "q.json"
    file.write_text(json.dumps(found))
    ((_, subscriber),), left = openconfig.read(file)
    (queue,) = subscriber.queues
    assert (queue.guarantee_bps, queue.rate_bps, queue.burst_bytes, left) == (2 * MBIT, 5 * MBIT, 3000, [])
    with serving(plant, Sweep(plant, 1.0), [f"unix:{tmp_path / 'c.sock'}"]) as places:
        do = ctl(places[0])
        status, _, err = do("subscriber", "add", "a", "--guarantee", "1Mbit/s")
        assert status == 2 and "guarantee_bps: is set, but the device has no guarantees" in err
        status, _, err = do("subscriber", "add", "a", "--queue", "guarantee=1Mbit/s")
        assert status == 2 and "queues[0].guarantee_bps: is set, but" in err and "has no guarantees" in err
        assert do("subscriber", "add", "a", "--guarantee", "0 bit/s", "--queue", "guarantee='0 bit/s'")[0] == 0
        status, _, err = do("import", str(file))
        assert status == 0 and "interface i: two-rate-three-color: cir is not used: the device has no guarantees\n" in err
        assert plant.get("i").queues[0].rate_bps == 5 * MBIT and not plant.get("i").queues[0].HasField("guarantee_bps")
