# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Ports, nodes and plans in files: what an export has, an import brings to another server, and its export is the same, byte by byte."""

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.parents import bare
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, Mirror, home, plant_of
from penstock.testing.testkit import seed
from penstock.v1 import common_pb2, hierarchy_pb2, plans_pb2, subscribers_pb2


@contextlib.contextmanager
def server(folder: Path, name: str) -> Iterator[tuple[Plant, Client, str]]:
    plant = plant_of(Mirror(configs.load(CONFIG)), folder / f"{name}.sqlite")
    with serving(plant, Sweep(plant), [f"unix:{folder / name}.sock"]) as (place,), Client(place) as client:
        yield plant, client, place
    plant.intent.close()


def ctl(place: str, *words: str) -> int:
    return main(["ctl", "--server", place, *words])


@pytest.mark.parametrize("end", ["yaml", "json"])
def test_there_and_back(tmp_path: Path, end: str) -> None:
    """Ports, nodes, plans and subscribers drawn at random."""
    print(f"seed {seed()}")
    draw = random.Random(f"{seed()} {end}")

    def maybe(**values: object) -> dict[str, object]:
        return {key: value for key, value in values.items() if draw.random() < 0.6}

    with server(tmp_path, "one") as (first, client, place), server(tmp_path, "two") as (second, _, other):
        hierarchy = first.facts.hierarchy
        assert hierarchy
        for index in draw.sample(range(hierarchy.ports), min(2, hierarchy.ports)):
            client.ports.Set(hierarchy_pb2.Port(index=index, **maybe(rate_bps=draw.randrange(10**6, 10**9), burst_bytes=9000, name="ö, p")))
        for index in draw.sample(range(hierarchy.nodes), 3):
            given = maybe(rate_bps=draw.randrange(10**6, 10**9), burst_bytes=20_000, name=f"node {index}", port=hierarchy.ports - 1)
            client.nodes.Set(hierarchy_pb2.Node(index=index, **given))
        for name in ("gold", "1e3", "none at all"):
            settings = [maybe(rate_bps=10**6, limit_packets=draw.randrange(99), traffic_class=1) for _ in range(2)]
            queues = [common_pb2.QueueSettings(**given) for given in settings]
            own = maybe(rate_bps=draw.randrange(10**6, 10**9), burst_bytes=3000, weight=draw.randrange(1, 9))
            client.plans.Set(plans_pb2.Plan(name=name, queues=queues if name != "none at all" else [], **own))
        people = [home("own", node=1), subscribers_pb2.Subscriber(name="planned", plan="gold", node=2, gate_closed=True)]
        client.provision(people)
        one, two = tmp_path / f"one.{end}", tmp_path / f"two.{end}"
        assert ctl(place, "export", str(one)) == 0 and ctl(other, "import", str(one)) == 0 and ctl(other, "export", str(two)) == 0
        assert one.read_bytes() == two.read_bytes()
        for index in range(hierarchy.nodes):
            assert bare(second.nodes[index]) == bare(first.nodes[index]) if index in first.nodes else index not in second.nodes
        assert {name: bare(plan) for name, plan in second.plans.by_name.items()} == {
            name: bare(plan) for name, plan in first.plans.by_name.items()
        }
        assert (first.port_of == second.port_of).all() and differences(second) == []
        assert first.limits_of["node"].tolist() == second.limits_of["node"].tolist()
        revision, versions = second.revision, {name: plan.version for name, plan in second.plans.by_name.items()}
        assert ctl(other, "import", str(one)) == 0  # what is so already is not set again
        assert {name: plan.version for name, plan in second.plans.by_name.items()} == versions
        assert second.revision == revision + len(people)


def test_a_plan_of_the_file_is_there_for_its_subscribers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(
        "ports: [{ index: 0, name: east, rate: 10 Gbit/s }]\nnodes: [{ index: 3, rate: 1 Gbit/s, port: 0 }]\n"
        "plans:\n  - { name: gold, rate: 100 Mbit/s, queues: [{ class: 1 }] }\n"
        "subscribers:\n  - { name: home-1, node: 3, plan: gold }\n"
    )
    with server(tmp_path, "s") as (plant, _, place):
        assert ctl(place, "import", str(file)) == 0
        assert "1 subscribers, 4 queues set with" in (said := capsys.readouterr().out) and "1 ports, 1 nodes, 1 plans" in said
        assert plant.get("home-1").rate_bps == 100_000_000 and plant.nodes[3].rate_bps == 10**9 and plant.ports[0].name == "east"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("node: []", "node is nothing that is known here; there are subscribers, ports, nodes, plans"),
        ("nodes: 3", "nodes must be a list of keys with values"),
        ("nodes: [{ name: a }]", "nodes[0]: has no index"),
        ("nodes: [{ index: 1 }, { index: 1 }]", "nodes[1]: 1 stands at"),
        ("nodes: [{ index: 1, weight: 2 }]", "nodes[0]: weight is nothing that is known here; there are index, name, rate, burst, port"),
        ("nodes: [{ index: 1, rate: fast }]", "nodes[0]: rate"),
        ("nodes: [{ index: 999 }]", "nodes[0]: index: the device has nodes 0 to"),
        ("plans: [{ rate: 1 Mbit/s }]", "plans[0]: has no name"),
        ("plans: [{ name: a, node: 1 }]", "plans[0]: node is nothing that is known here"),
        ("plans: [{ name: a, queues: [{ class: 99 }] }]", "plans[0]: queues[0].traffic_class"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(f"{text}\nsubscribers: []\n")
    assert YAML(typ="safe").load(file.read_text())
    with server(tmp_path, "s") as (plant, _, place):
        assert ctl(place, "import", str(file)) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert words in said and said.startswith(f"penstock: {file}: "), said
        assert plant.revision == 0
