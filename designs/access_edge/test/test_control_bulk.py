# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Bulk changes: all subscribers that fit or none of them, in store and device; a dry run leaves both alone."""

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, HeaderMirror, fails, plant_of
from penstock.testing.testkit import seed
from penstock.v1 import common_pb2, plans_pb2
from penstock.v1.subscribers_pb2 import BulkUpdateRequest, GetSubscriberRequest, Match, Subscriber

CODE = grpc.StatusCode


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[HeaderMirror, Plant, Client, str]]:
    """Ten subscribers: of plan gold, at two nodes, with addresses."""
    mirror = HeaderMirror(configs.load(CONFIG))
    plant = plant_of(mirror, tmp_path / "i.sqlite")
    with contextlib.ExitStack() as stack:
        (place,) = stack.enter_context(serving(plant, Sweep(plant), [f"unix:{tmp_path / 'c.sock'}"]))
        client = stack.enter_context(Client(place))
        for name, limit in (("gold", 10), ("lead", 3)):
            client.plans.Set(plans_pb2.Plan(name=name, queues=[common_pb2.QueueSettings(limit_packets=limit)]))
        client.provision(
            Subscriber(
                name=f"{'home' if number % 2 else 'shop'}-{number}", node=number % 3, plan="gold" if number < 4 else "",
                queues=[common_pb2.QueueSettings(limit_packets=10 + (0 if number < 4 else number))],
                matches=[Match(ipv4=f"10.0.{number // 5}.{number}")],
            )
            for number in range(10)
        )  # fmt: skip
        yield mirror, plant, client, place
        plant.intent.close()


Served = tuple[HeaderMirror, Plant, Client, str]


def asked(*fields: str, dry_run: bool = False, request_id: str = "", **of: Any) -> BulkUpdateRequest:
    """Return a request: `of` has filters, and the fields' values."""
    fields_of = set(Subscriber.DESCRIPTOR.fields_by_name) - {"plan", "node"}
    own = {name.removeprefix("to_"): value for name, value in of.items() if name.startswith("to_") or name in fields_of}
    filters = {name: value for name, value in of.items() if not name.startswith("to_") and name not in fields_of}
    mask = {"paths": fields}
    return BulkUpdateRequest(subscriber=Subscriber(**own), update_mask=mask, dry_run=dry_run, request_id=request_id, **filters)


def test_those_that_fit_are_changed_and_no_others(served: Served) -> None:
    """Every mix of filters, beside a list of Python; one transaction each, with one line in the log."""
    print(f"seed {seed()}")
    draw = random.Random(seed())
    _, plant, client, _ = served
    for turn in range(40):
        there = {one.name: one for one in client.list()}
        of: dict[str, Any] = {}
        if draw.random() < 0.5:
            of["plan"] = draw.choice(["gold", "lead"])
        if draw.random() < 0.5:
            of["node"] = draw.randrange(4)
        if draw.random() < 0.4:
            of["name_contains"] = draw.choice(["home", "shop", "-1", "nobody"])
        if draw.random() < 0.3:
            of["match"] = draw.choice(["10.0.0.0/24", "10.0.1.0/24", "10.0.0.3"])
        if not of or draw.random() < 0.1:
            of["all"] = True
        fits = [
            one for one in there.values()
            if of.get("all") or (
                of.get("plan", one.plan) == one.plan and of.get("node", one.node) == one.node
                and of.get("name_contains", "") in one.name
                and one.matches[0].ipv4.startswith(of.get("match", "").removesuffix("0/24"))
                and ("/" in of.get("match", "/") or one.matches[0].ipv4 == of["match"])
            )
        ]  # fmt: skip
        kind, number = turn % 3, draw.randrange(8)
        request = (
            asked("weight", weight=1 + number, **of) if kind == 0 and not any(one.plan for one in fits)
            else asked("gate_closed", gate_closed=number % 2 == 1, **of) if kind == 1
            else asked("node", to_node=number % 3, **of)
        )  # fmt: skip
        revision, lines = plant.revision, len(plant.audited(1000))
        done = client.subscribers.BulkUpdate(request)
        assert (done.subscribers, list(done.names)) == (len(fits), sorted(one.name for one in fits)), of
        assert plant.revision == revision + len(fits) and len(plant.audited(1000)) == lines + 1
        (field,) = request.update_mask.paths
        for one in client.list():
            before = there[one.name]
            if one.name in done.names:
                assert getattr(one, field) == getattr(request.subscriber, field)
                setattr(before, field, getattr(one, field))
                before.version = one.version
            assert one == before
        assert differences(plant) == []


def test_all_or_none(served: Served) -> None:
    """One of them cannot be so: the error names it, and nothing has changed anywhere. Where the device refuses, all is taken back."""
    mirror, plant, client, _ = served
    before, queues, revision = list(client.list()), dict(mirror.queues), plant.revision
    for dry_run in (True, False):
        request = asked("rate_bps", rate_bps=10**7, all=True, dry_run=dry_run)  # of some the rate is their plan's
        words = "rate_bps: comes from plan 'gold': change the plan, or take the subscriber out of it (subscriber 'home-1')"
        fails(CODE.INVALID_ARGUMENT, words, client.subscribers.BulkUpdate, request)
        fails(CODE.INVALID_ARGUMENT, "node: the device has nodes 0 to", client.subscribers.BulkUpdate,
              asked("node", to_node=999, name_contains="home-1", dry_run=dry_run))  # fmt: skip
        assert list(client.list()) == before and mirror.queues == queues and plant.revision == revision
    mirror.refuses = 5
    fails(CODE.ABORTED, "all was taken back", client.subscribers.BulkUpdate, asked("gate_closed", gate_closed=True, all=True))
    assert list(client.list()) == before and differences(plant) == []


def test_a_dry_run_changes_nothing(served: Served) -> None:
    mirror, plant, client, _ = served
    before, writes, revision = list(client.list()), mirror.writes, plant.revision
    done = client.subscribers.BulkUpdate(asked("gate_closed", "plan", gate_closed=True, to_plan="lead", node=1, dry_run=True))
    assert list(done.names) == [one.name for one in before if one.node == 1] and done.applied.bus_writes == 0
    assert mirror.writes == writes and plant.revision == revision and list(client.list()) == before
    done = client.subscribers.BulkUpdate(asked("gate_closed", "plan", gate_closed=True, to_plan="lead", node=1))
    assert done.applied.bus_writes > 0 and mirror.writes > writes
    assert [one.name for one in client.list() if one.gate_closed and one.plan == "lead"] == list(done.names) and differences(plant) == []


def test_the_same_request_twice_is_one_change(served: Served) -> None:
    _, plant, client, _ = served
    request = asked("plan", to_plan="lead", plan="gold", request_id="once")
    first = client.subscribers.BulkUpdate(request)
    assert first.subscribers == 4
    revision = plant.revision
    again = client.subscribers.BulkUpdate(request)  # nobody has gold any more, and the answer is that of the first time
    assert list(again.names) == list(first.names) and plant.revision == revision
    assert client.subscribers.BulkUpdate(asked("plan", to_plan="lead", plan="gold")).subscribers == 0


def test_what_is_refused(served: Served) -> None:
    client = served[2]
    for request, code, words in (
        (asked("weight", weight=2), CODE.INVALID_ARGUMENT, "says of whom: give plan, node, name_contains, match, or all"),
        (asked(all=True), CODE.INVALID_ARGUMENT, "must name a field at least"),
        (asked("matches", all=True), CODE.INVALID_ARGUMENT, "not matches, which no two subscribers have alike"),
        (asked("cow", all=True), CODE.INVALID_ARGUMENT, "names 'cow'; a subscriber has node, rate_bps"),
        (asked("weight", weight=2, plan="silver"), CODE.NOT_FOUND, "there is no plan 'silver'"),
        (asked("weight", weight=2, match="?"), CODE.INVALID_ARGUMENT, "must be \"vlan 100\""),
        (asked("plan", to_plan="silver", all=True), CODE.NOT_FOUND, "there is no plan 'silver'"),
    ):  # fmt: skip
        fails(code, words, client.subscribers.BulkUpdate, request)


def test_by_the_command_line(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    _, plant, client, place = served

    def ctl(*words: str) -> tuple[int, str]:
        status = main(["ctl", "--server", place, "subscriber", "change", *words])
        said = capsys.readouterr()
        return status, " ".join((said.out + said.err).split())

    assert ctl("--of-plan", "gold", "--plan", "lead", "--dry-run") == (0, "home-1 home-3 shop-0 shop-2 4 subscribers would be changed")
    status, said = ctl("--of-node", "2", "--contains", "shop", "--gate", "closed")
    assert status == 0 and said.startswith("2 subscribers changed with ") and plant.get("shop-8").gate_closed
    assert ctl("--of-match", "10.0.1.0/24", "--rate", "30Mbit/s", "--queue", "class=1", "--queue", "class=2 limit_packets=7")[0] == 0
    found = client.subscribers.Get(GetSubscriberRequest(name="shop-6"))
    assert found.rate_bps == 30_000_000 and [queue.traffic_class for queue in found.queues] == [1, 2]
    assert ctl("--of-match", "10.0.1.0/24", "--rate", "none")[0] == 0 and not plant.get("shop-6").HasField("rate_bps")
    status, said = ctl("--all", "--gate", "open", "--json")
    assert status == 0 and json.loads(said)["subscribers"] == 10 and not plant.get("shop-8").gate_closed
    for words, wrong in (
        (("--all",), "says nothing to change"),
        (("--rate", "1Mbit/s"), "says of whom"),
        (("--all", "--gate", "ajar"), "gate must be open or closed, not 'ajar'"),
        (("--of-node", "-1", "--gate", "open"), "--of-node"),
        (("--of-plan", "silver", "--gate", "open"), "there is no plan 'silver'"),
    ):
        status, said = ctl(*words)
        assert status == 2 and wrong in said, said


def test_it_needs_the_role(served: Served) -> None:
    from penstock.designs.access_edge.control import access

    assert access.needed("/penstock.v1.Subscribers/BulkUpdate") == access.OPERATE
    assert access.needed("/penstock.v1.Counters/History") == access.READ
