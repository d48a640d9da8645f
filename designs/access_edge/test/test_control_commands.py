# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Files of subscribers and the command line of the control plane."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from penstock.designs.access_edge.control import openconfig, tables
from penstock.designs.access_edge.testing.control_judge import drawn
from penstock.errors import UserError
from penstock.testing.testkit import seed
from penstock.v1 import subscribers_pb2


@pytest.mark.parametrize("ending", ["csv", "yaml"])
def test_files_of_subscribers(ending: str, tmp_path: Path) -> None:
    """What is written is read again, whatever the subscribers are."""
    rng = random.Random(seed())
    made = []
    for number in range(60):
        subscriber = drawn(rng, f'home {number}, "quoted"', guarantees=True)
        subscriber.index = number
        for queue in subscriber.queues:
            if rng.random() < 0.3:
                queue.aqm.settings["target"] = "5ms"
                queue.aqm.ecn = rng.random() < 0.5
        made.append(subscriber)
    path = tmp_path / f"s.{ending}"
    assert tables.write(path, made) == 60
    assert [one for _, one in tables.read(path)] == made


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nme\nx\n", "s.csv:1: must have the column name"),
        ("name,queue_rate\nx,5 Mbit\n", "s.csv:2: rate must be a rate with one of the units"),
        ("name,node\nx,-1\n", "s.csv:2: node must be 0 to 4,294,967,295, not -1"),
        ("name,node\nx,a\n", 's.csv:2: node must be a whole number, not "a"'),
        ("name,node\nx,1\nx,1\n", "s.csv:3: x has its own values in its first row"),
        ("name\nx,1,2\n", "s.csv:2: has more values than there are columns"),
        ("name,node,rate,node\nx,1,,2\n", "s.csv:1: must have each column once, but node is there twice"),
    ],
)
def test_files_that_are_wrong(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        list(tables.read(path))
    assert words in str(caught.value)


def test_openconfig(tmp_path: Path) -> None:
    """A policy of two strict schedulers, the second of two weighted inputs; what does not fit is said, each thing once."""
    policy = {
        "name": "home",
        "schedulers": {
            "openconfig-qos:scheduler": [
                {
                    "sequence": 10,
                    "inputs": {"input": [{"config": {"weight": "30"}}, {"config": {"weight": "10"}}]},
                    "two-rate-three-color": {},
                },
                {
                    "sequence": 2,
                    "config": {"priority": "STRICT"},
                    "one-rate-two-color": {"config": {"cir": "20000000", "bc": 3000, "max-queue-depth-packets": 50}},
                },
            ]
        },
    }
    interface = {"interface-id": "xe-0/0/1", "input": {}, "output": {"scheduler-policy": {"config": {"name": "home"}}}}
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"openconfig-qos:qos": {"interfaces": {"interface": [interface]}, "queues": {},
                                                       "scheduler-policies": {"scheduler-policy": [policy]}}}))  # fmt: skip
    ((where, made),), left = openconfig.read(path)
    assert (where, made.name) == (f"{path}: interface", "xe-0/0/1") and [queue.traffic_class for queue in made.queues] == [0, 1, 1]
    first, second, third = made.queues
    assert (first.rate_bps, first.burst_bytes, first.limit_packets) == (20_000_000, 3000, 50)
    assert (second.weight, third.weight) == (8, 3) and not second.HasField("rate_bps")
    assert [words.split(" is not used")[0] for words in left if "weights" not in words] == [
        "queues:", "interface xe-0/0/1: input", "scheduler policy home, scheduler 10: two-rate-three-color",
    ]  # fmt: skip
    assert any("weights 30, 10 become 8, 3" in words for words in left)
    for text, words in (("[]", "must have an object"), ("{", "is no JSON"), ('{"qos": {}}', "has no interfaces")):
        path.write_text(text)
        with pytest.raises(UserError, match=words):
            openconfig.read(path)


def test_the_command_line(served: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`ctl` as an operator uses it."""
    from penstock.command_line.app import main

    _, _, _, places = served

    def ctl(*arguments: str) -> tuple[int, str, str]:
        status = main(["ctl", "--server", places[0], *arguments])
        out, err = capsys.readouterr()
        return status, out, err

    status, out, err = ctl("subscriber", "add", "cli", "--node", "2", "--rate", "100 Mbit/s", "--queue", "rate=20Mbit/s class=1")
    assert status == 0 and "cli" in out and "100 Mbit/s" in out, err
    status, _, err = ctl("subscriber", "add", "cli")
    assert status == 2 and err == "penstock: name: there is a subscriber 'cli' already\n"
    assert ctl("subscriber", "set", "cli", "--rate", "none")[0] == 0
    status, out, _ = ctl("subscriber", "show", "cli")
    assert status == 0 and "20 Mbit/s" in out
    assert ctl("gate", "close", "cli")[0] == 0 and ctl("gate", "open", "cli")[0] == 0
    file = tmp_path / "all.csv"
    status, out, _ = ctl("export", str(file))
    assert status == 0 and "cli" in file.read_text()
    status, out, err = ctl("import", str(file))
    assert status == 0 and "subscribers" in out, err
    status, out, _ = ctl("counters", "--json")
    assert status == 0 and '"device"' in out
    status, out, _ = ctl("diff")  # of the model device, by its own read-back
    assert (status, out) == (0, "0 settings differ\n")
    assert ctl("top")[0] == 0 and ctl("device")[0] == 0 and ctl("node", "list")[0] == 0
    status, out, err = ctl("queue", "show", "cli", "0")
    assert status == 0 and "20 Mbit/s" in out and "waiting" in out, err
    status, out, err = ctl("queue", "set", "cli", "2", "--rate", "5Mbit/s", "--limit-packets", "100", "--class", "2", "--weight", "3")
    assert status == 0 and "5 Mbit/s" in out and "100" in out, err
    queues = served[0].subscribers.Get(subscribers_pb2.GetSubscriberRequest(name="cli")).queues
    assert len(queues) == 3 and (queues[2].rate_bps, queues[2].limit_packets, queues[2].weight) == (5_000_000, 100, 3)
    assert queues[0].rate_bps == 20_000_000 and (queues[1].limit_packets, queues[1].limit_bytes) == (0, 0)  # still drops all
    assert ctl("queue", "set", "cli", "2", "--rate", "none")[0] == 0
    status, out, _ = ctl("queue", "list", "cli", "--json")
    listed = json.loads(out)["queues"]
    assert [entry["position"] for entry in listed] == [0, 1, 2] and "rate_bps" not in listed[2]["settings"]
    assert listed[2]["settings"]["traffic_class"] == 2 and listed[2]["index"] % 4 == 2
    status, out, _ = ctl("queue", "list", "--node", "2")
    assert status == 0 and out.count("cli") == 3 and ctl("queue", "list", "--node", "1")[1].count("cli") == 0
    status, out, _ = ctl("queue", "show", "cli", "0", "--json")
    assert json.loads(out)["queues"][0]["counters"]["queue"] == listed[0]["index"]
    for wrong, words in (
        (("queue", "set", "cli", "2"), "says nothing to set"),
        (("queue", "set", "cli", "7", "--rate", "1Mbit/s"), "so 0 to 3, not 7"),
        (("queue", "set", "cli", "0", "--rate", "5 bit/s"), "queues[0].rate_bps"),
        (("queue", "set", "cli", "0", "--weight", "heavy"), "queue 0 of cli: weight must be a whole number"),
        (("queue", "set", "cli", "0", "--weight", "2", "--version", "1"), "it was changed meanwhile"),
        (("queue", "show", "cli", "4"), "so 0 to 3, not 4"),
        (("queue", "list", "nobody"), "no subscriber 'nobody'"),
    ):
        status, _, err = ctl(*wrong)
        assert status in (1, 2) and words in err, (wrong, err)
    assert ctl("subscriber", "delete", "cli")[0] == 0
    status, _, err = ctl("subscriber", "show", "cli")
    assert status == 2 and "no subscriber 'cli'" in err
