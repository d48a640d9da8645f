# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Plans: what they say is what their subscribers have in the device, all of them or none, and still after a restart."""

import contextlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.plans import FIELDS, fill
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.problems import Problem
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, Mirror, fails, home, plant_of
from penstock.testing.testkit import seed
from penstock.v1 import common_pb2, plans_pb2
from penstock.v1.subscribers_pb2 import (
    CreateSubscriberRequest,
    DeleteSubscriberRequest,
    GetSubscriberRequest,
    Subscriber,
    UpdateSubscriberRequest,
)

LIMITS = 2  # of SETTINGS_OF_QUEUE: the column of the limit in packets


def plan_of(name: str, *limits: int, **fields: Any) -> plans_pb2.Plan:
    return plans_pb2.Plan(name=name, queues=[common_pb2.QueueSettings(limit_packets=limit) for limit in limits], **fields)


def limits_in(mirror: Mirror, place: int) -> list[int]:
    """The limits of a subscriber's queues, as the device has them."""
    return [mirror.queues[4 * place + n][LIMITS] for n in range(4)]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Mirror, Plant, Client, str]]:
    mirror = Mirror(configs.load(CONFIG))
    plant = plant_of(mirror, tmp_path / "i.sqlite")
    with contextlib.ExitStack() as stack:
        (place,) = stack.enter_context(serving(plant, Sweep(plant), [f"unix:{tmp_path / 'c.sock'}"]))
        yield mirror, plant, stack.enter_context(Client(place)), place
        plant.intent.close()


Served = tuple[Mirror, Plant, Client, str]


def test_a_plan_changes_its_subscribers(served: Served) -> None:
    mirror, plant, client, _ = served
    client.plans.Set(plan_of("gold", 10, 20, rate_bps=50_000_000))
    made = client.subscribers.Create(CreateSubscriberRequest(subscriber=Subscriber(name="a", plan="gold")))
    assert made.rate_bps == 50_000_000 and [queue.limit_packets for queue in made.queues] == [10, 20]
    client.provision([Subscriber(name=name, plan="gold", node=1) for name in "bc"] + [home("own")])
    assert [limits_in(mirror, place) for place in range(3)] == [[10, 20, 0, 0]] * 3
    own = mirror.queues[12]
    done = client.plans.Set(plan_of("gold", 11, 21, 31))
    assert done.applied.subscribers == 3 and done.plan.subscribers == 3 and done.plan.version > made.version
    assert [limits_in(mirror, place) for place in range(3)] == [[11, 21, 31, 0]] * 3 and mirror.queues[12] == own
    assert not plant.get("a").HasField("rate_bps") and plant.get("b").node == 1
    assert differences(plant) == []
    assert [line[2:] for line in plant.audited(1)] == [("/penstock.v1.Plans/Set", plant.audited(1)[0][3], "OK")]


def test_what_is_refused(served: Served) -> None:
    mirror, plant, client, _ = served
    client.plans.Set(plan_of("gold", 10))
    client.provision([Subscriber(name="a", plan="gold")])
    invalid, code = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode
    fails(code.NOT_FOUND, "there is no plan 'lead'", client.subscribers.Create,
          CreateSubscriberRequest(subscriber=Subscriber(name="x", plan="lead")))  # fmt: skip
    other = Subscriber(name="a", plan="gold", rate_bps=1_000_000)
    fails(invalid, "rate_bps: comes from plan 'gold': change the plan", client.subscribers.Update,
          UpdateSubscriberRequest(subscriber=other, update_mask={"paths": ["rate_bps"]}))  # fmt: skip
    fails(invalid, "queues: comes from plan 'gold'", client.subscribers.Create, CreateSubscriberRequest(subscriber=home("y", plan="gold")))
    fails(invalid, "queues[0].traffic_class", client.plans.Set,
          plans_pb2.Plan(name="lead", queues=[common_pb2.QueueSettings(traffic_class=7)]))  # fmt: skip
    fails(invalid, "the device has 4 a subscriber, not 5", client.plans.Set, plan_of("gold", 1, 2, 3, 4, 5))
    fails(invalid, "printable characters", client.plans.Set, plan_of(" lead", 1))
    fails(code.ABORTED, "has version", client.plans.Set, plan_of("gold", 1, version=99))
    fails(code.FAILED_PRECONDITION, "1 subscribers have plan 'gold'", client.plans.Delete, plans_pb2.DeletePlanRequest(name="gold"))
    fails(code.NOT_FOUND, "there is no plan", client.plans.Delete, plans_pb2.DeletePlanRequest(name="lead"))
    assert limits_in(mirror, 0) == [10, 0, 0, 0] and list(plant.plans.by_name) == ["gold"]
    client.subscribers.Delete(DeleteSubscriberRequest(name="a"))
    client.plans.Delete(plans_pb2.DeletePlanRequest(name="gold"))
    assert not plant.plans.by_name and not client.plans.List(plans_pb2.ListPlansRequest()).plans


def test_another_plan_and_none(served: Served) -> None:
    """Who leaves a plan keeps what it had, as its own; who gets another one has nothing of the first."""
    mirror, plant, client, _ = served
    client.plans.Set(plan_of("gold", 10, weight=2))
    client.plans.Set(plan_of("lead", 5, 6))
    client.provision([Subscriber(name="a", plan="gold"), home("b")])

    def update(name: str, plan: str) -> Subscriber:
        return client.subscribers.Update(
            UpdateSubscriberRequest(subscriber=Subscriber(name=name, plan=plan), update_mask={"paths": ["plan"]})
        )

    assert update("a", "lead").weight == 0 and limits_in(mirror, 0) == [5, 6, 0, 0]
    assert update("b", "lead").plan == "lead" and limits_in(mirror, 1) == [5, 6, 0, 0]
    assert [queue.limit_packets for queue in update("a", "").queues] == [5, 6]
    client.plans.Set(plan_of("lead", 7))
    assert limits_in(mirror, 0) == [5, 6, 0, 0] and limits_in(mirror, 1) == [7, 0, 0, 0]
    assert client.plans.Get(plans_pb2.GetPlanRequest(name="lead")).subscribers == 1 and plant.plans.subscribers("gold") == []


@pytest.mark.parametrize("count", [3, 15])
def test_where_the_device_refuses_nothing_is_changed(served: Served, count: int) -> None:
    mirror, plant, client, _ = served
    client.plans.Set(plan_of("gold", 10))
    client.provision([Subscriber(name=f"h{n}", plan="gold") for n in range(count)])
    mirror.refuses = 1
    with pytest.raises(Problem, match="refused"):
        plant.set_plan(plan_of("gold", 11))
    assert [queue.limit_packets for queue in plant.plans.by_name["gold"].queues] == [10] and differences(plant) == []
    mirror.refuses = 1
    assert [limits_in(mirror, n) for n in range(count)] == [[10, 0, 0, 0]] * count
    mirror.refuses = None
    plant.set_plan(plan_of("gold", 12))
    assert [limits_in(mirror, n) for n in range(count)] == [[12, 0, 0, 0]] * count


def test_plans_outlive_a_restart(tmp_path: Path) -> None:
    """Random plans, subscribers that come, change and go, and restarts: each has what its plan says."""
    number = seed()
    print(f"PENSTOCK_SEED={number}")
    rng, path = random.Random(number), tmp_path / "i.sqlite"
    plant = plant_of(Mirror(configs.load(CONFIG)), path)
    expected: dict[str, str] = {}
    plans: dict[str, plans_pb2.Plan] = {}
    for _ in range(150):
        step = rng.random()
        if step < 0.3 or not plans:
            wanted = plan_of(rng.choice(["gold", "lead", "iron"]), *(rng.randrange(1, 99) for _ in range(rng.randrange(5))))
            if rng.random() < 0.5:
                wanted.rate_bps = rng.randrange(1, 90) * 1_000_000
            plans[wanted.name] = plant.set_plan(wanted)[0]
        elif step < 0.75:
            name, plan = f"h{rng.randrange(12)}", rng.choice([*plans, ""])
            expected[name] = plan
            plant.change([lambda name=name, plan=plan: Subscriber(name=name, plan=plan)])
        elif step < 0.9 and expected:
            name = rng.choice(list(expected))
            del expected[name]
            plant.change([lambda name=name: name])
        else:
            plant.intent.close()
            plant = plant_of(Mirror(configs.load(CONFIG)), path)
        assert {plant.name_of[place]: plan for place, plan in plant.plans.of.items()} == {n: p for n, p in expected.items() if p}
    for name, plan in expected.items():
        there, wanted_one = plant.get(name), Subscriber()
        if plan:
            fill(wanted_one, plans[plan])
        assert [getattr(there, field) for field in FIELDS] == [getattr(wanted_one, field) for field in FIELDS], name
    assert {name: plan.version for name, plan in plant.plans.by_name.items()} == {name: plan.version for name, plan in plans.items()}
    assert differences(plant) == []
    plant.intent.close()


def test_plans_on_the_command_line(served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also in files, out and in again."""
    _, plant, client, place = served

    def ctl(*words: str) -> str:
        status, said = main(["ctl", "--server", place, *words]), capsys.readouterr()
        assert status == 0, said.err
        return said.out

    run: Callable[..., str] = ctl
    assert "gold" in run("plan", "set", "gold", "--rate", "20Mbit/s", "--queue", "limit_packets=30 class=1")
    run("subscriber", "add", "a", "--node", "1", "--plan", "gold")
    assert "a: plan gold" in run("subscriber", "show", "a")
    assert "1 subscribers changed" in run("plan", "set", "gold", "--queue", "limit_packets=31")
    row = run("plan", "list").splitlines()[1].split()
    assert row[0] == "gold" and row[-2] == "1"
    for end in ("csv", "yaml", "json"):
        file = str(tmp_path / f"homes.{end}")
        run("export", file)
        client.subscribers.Delete(DeleteSubscriberRequest(name="a"))
        run("import", file)
        found = client.subscribers.Get(GetSubscriberRequest(name="a"))
        assert (found.plan, found.node, [queue.limit_packets for queue in found.queues]) == ("gold", 1, [31])
    assert "31" in run("plan", "show", "gold")
    run("subscriber", "set", "a", "--plan", "none")
    run("plan", "delete", "gold")
    assert not plant.plans.by_name and registers.STATUS_REFUSED
