# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Matches of subscribers as people see them: searched for, in files, from the command line, on the page, and their counters."""

import json
import time
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import http, metrics, tables
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.found import Found
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.keys import settings_of_plan
from penstock.designs.access_edge.control.plant import Plant, Subscriber
from penstock.designs.access_edge.control.problems import Problem
from penstock.designs.access_edge.control.search import searched
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.services.subscribers import Subscribers
from penstock.designs.access_edge.control.sweep import Sweep, snapshots
from penstock.designs.access_edge.testing.control import CONFIG, HeaderMirror, fails, plant_of
from penstock.driver.carrier import reads
from penstock.driver.in_process import InProcess
from penstock.engine.run import Request, prepare
from penstock.errors import UserError
from penstock.library.device import built
from penstock.v1 import subscribers_pb2 as pb

SEARCHED = [
    ("vlan 1", {"a", "b"}), ("vlan=1, 2", {"a"}), ("vlan 1.3", set()), ("pppoe 9", {"c"}), ("session 9", {"c"}), ("mpls 700", {"d"}),
    ("02:5e:00:00:00:01", {"c"}), ("10.0.0.7", {"d"}), ("10.0.0.0/24", {"d"}), ("2001:db8::/32", {"e"}), ("2001:db8:0:7::1", {"e"}),
    ("9", {"c"}), ("2", {"a"}), ("10.0.1.0/24", set()),
]  # fmt: skip


def served_plant() -> Any:
    """A plant with a subscriber of each kind."""
    plant = plant_of(HeaderMirror(configs.load(CONFIG)))
    for name, given in {
        "a": [pb.Match(vlan=[1, 2])],
        "b": [pb.Match(vlan=[1])],
        "c": [pb.Match(pppoe=9, mac="02:5e:00:00:00:01")],
        "d": [pb.Match(mpls=700), pb.Match(ipv4="10.0.0.7")],
        "e": [pb.Match(ipv6="2001:db8:0:7::/64")],
        "f": [],
    }.items():
        plant.change([lambda name=name, given=given: Subscriber(name=name, matches=given)])
    return plant


@pytest.mark.parametrize(("text", "names"), SEARCHED)
def test_search(text: str, names: set[str]) -> None:
    plant = served_plant()
    found = Subscribers(plant, Limits()).List(pb.ListSubscribersRequest(match=text), None)  # type: ignore[arg-type]
    assert {one.name for one in found.subscribers} == names
    site = http.Site(plant, Sweep(plant)).get["/api/search"]({"q": text})
    assert [one["name"] for one in site["subscribers"]][: len(names)] == sorted(names)


def test_search_by_name_goes_on() -> None:
    plant = served_plant()
    site = http.Site(plant, Sweep(plant))
    assert site.get["/api/search"]({"q": "f"})["subscribers"] == [{"name": "f", "node": 0, "gate_closed": False, "matches": []}]
    assert site.get["/api/subscriber"]({"name": "d"})["matches"] == ["mpls 700", "ipv4 10.0.0.7"]
    with pytest.raises(Problem, match='must be "vlan 100"'):
        searched("home")


CSV = """name,node,vlan,pppoe,mac,ipv4,ipv6,mpls,bypass,queue_rate
a,0,100.7 100.8,,,,,,,1 Mbit/s
a,,,,,,,,,2 Mbit/s
b,1,5,,,10.0.0.1 10.0.0.2,2001:db8:0:7::/64,,on,
c,1,,9 10,02:5e:00:00:00:01 02:5e:00:00:00:02,,,,,
d,1,,,02:5e:00:00:00:03,,,,,
e,1,,,,,,700,,
"""


def test_files(tmp_path: Path) -> None:
    """CSV, YAML and JSON say the same, there and back."""
    first = tmp_path / "s.csv"
    first.write_text(CSV)
    read = [one for _, one in tables.read(first)]
    assert [len(one.matches) for one in read] == [2, 4, 2, 1, 1]
    assert read[0].matches[1] == pb.Match(vlan=[100, 8]) and len(read[0].queues) == 2
    assert read[1].bypass and list(read[1].matches) == [
        pb.Match(vlan=[5]), pb.Match(ipv4="10.0.0.1"), pb.Match(ipv4="10.0.0.2"), pb.Match(ipv6="2001:db8:0:7::/64"),
    ]  # fmt: skip
    assert read[2].matches[1] == pb.Match(pppoe=10, mac="02:5e:00:00:00:02") and read[3].matches[0].mac == "02:5e:00:00:00:03"
    for end in (".csv", ".yaml", ".json"):
        path = tmp_path / f"t{end}"
        assert tables.write(path, read) == 5
        assert [one for _, one in tables.read(path)] == read, path.read_text()
    assert tables.is_own(tmp_path / "t.json")
    both = Subscriber(name="x", matches=[pb.Match(pppoe=1, mac="02:00:00:00:00:01"), pb.Match(mac="02:00:00:00:00:02")])
    with pytest.raises(UserError, match="which CSV cannot say"):
        tables.write(tmp_path / "u.csv", [both])
    tables.write(tmp_path / "u.json", [both])
    assert [one for _, one in tables.read(tmp_path / "u.json")] == [both]


@pytest.mark.parametrize(
    ("end", "text", "words"),
    [
        ("csv", "name,pppoe\na,9\n", "s.csv:2: has 1 pppoe and 0 mac; each session needs"),
        ("csv", "name,vlan\na,5000\n", "s.csv:2: match: vlan must be one VLAN id or two, 0 to 4,095"),
        ("csv", "name,vlan\na,x\n", "s.csv:2: match: vlan must be a whole number"),
        ("yaml", "subscribers: [{name: a, match: {vlam: 5}}]", r"subscribers\[0\]: match: vlam is nothing that is known here"),
        ("yaml", "subscribers: [{name: a, match: 5}]", r"subscribers\[0\]: match: must be keys with values"),
        ("json", '{"subscribers": [{"name": "a", "bypass": "maybe"}]}', r"bypass must be on or off"),
        ("json", "[", "s.json: is no JSON"),
    ],
)
def test_errors_of_files(tmp_path: Path, end: str, text: str, words: str) -> None:
    path = tmp_path / f"s.{end}"
    path.write_text(text)
    with pytest.raises(UserError, match=words):
        list(tables.read(path))


def test_a_stream_takes_matches_away() -> None:
    """What comes in columns has no matches: whom it replaces has none any more."""
    plant = plant_of(HeaderMirror(configs.load(CONFIG)))
    with serving(plant, Sweep(plant), ["127.0.0.1:0"]) as (address,), Client(address) as client:
        given = [Subscriber(name=f"h{n}", matches=[pb.Match(vlan=[1, n])]) for n in range(10)]
        assert client.provision(given, True).failed == 0
        assert len(plant.carrier.keys) == 10  # type: ignore[attr-defined]
        done = client.provision([Subscriber(name=f"h{n}") for n in range(5)])
        assert done.failed == 0 and len(plant.carrier.keys) == 5  # type: ignore[attr-defined]
        done = client.provision([Subscriber(name=f"h{n}", matches=[pb.Match(vlan=[1, 9])]) for n in range(3)])
        assert done.failed == 3 and "cannot have vlan 1, 9, which subscriber 'h9' has already" in done.failures[0].message
        words = "subscriber 'new' cannot have vlan 1, 9, which subscriber 'h9' has already"
        wanted = Subscriber(name="new", matches=[pb.Match(vlan=[1, 9])])
        fails(grpc.StatusCode.ALREADY_EXISTS, words, client.subscribers.Create, pb.CreateSubscriberRequest(subscriber=wanted))
        client.subscribers.Move(pb.MoveSubscriberRequest(name="h9", node=3))
        assert len(plant.carrier.keys) == 5 and plant.get("h9").matches[0].vlan == [1, 9]  # type: ignore[attr-defined]


SCENARIO = """
device: { config: tree_64, overrides: { queue_id: headers, headers: { profiles: 8, entries: 256 } } }
duration: 1 s
drain: false
headers: { class_of: dscp, classes: ["32-63", "0-31"] }
subscribers:
  - { ids: "0-1", match: { vlan: "5-6" } }
  - { id: 2, match: { ipv4: "10.0.0.1" } }
traffic: [ constant: { queues: [0, 4, 8], rate: 3 Mbit/s, size: 600 } ]
"""


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario's device with its traffic: what the scenario says of headers holds, until the server is told otherwise. A subscriber takes
    a key over that the scenario has given to a queue; counters and page show it."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    run = prepare(Request(tmp_path / "s.yaml", [], engine="model"))
    built(run.config, run.plan.engine, assertions=False)
    carrier = InProcess(run.plan.job, real_time=False)
    store, kept = tmp_path / "intent.sqlite", 0
    for again in (False, True):
        plant = Plant(carrier, ask(carrier), Intent(store), None, settings_of_plan(run.plan))
        plant.restore()
        sweep = Sweep(plant, 0.05)
        sweep.start()

        def ctl(*arguments: str, status: int = 0) -> Any:
            assert main(["ctl", "--server", address, *arguments]) == status
            return capsys.readouterr()

        with serving(plant, sweep, ["127.0.0.1:0"]) as (address,):
            if not again:
                assert "outer_tag, ipv4" in ctl("headers", "show").out
                ctl("subscriber", "add", "home", "--match", "vlan=5", "--match", "ipv4=10.0.0.9", "--queue", "rate=1Mbit/s", "--bypass")
                (tmp_path / "more.json").write_text('{"subscribers": [{"name": "more", "match": {"vlan": 7}, "queues": [{}]}]}')
                ctl("import", str(tmp_path / "more.json"))
            shown = ctl("subscriber", "show", "home").out
            assert "home: vlan=5; ipv4=10.0.0.9; bypass: its settings do not hold" in shown
            assert [one["name"] for one in json.loads(ctl("subscriber", "list", "--match", "vlan 7", "--json").out)["subscribers"]] == [
                "more"
            ]
            error = ctl("subscriber", "add", "b", "--match", "vlan=7", status=2).err
            assert "matches[0]: subscriber 'b' cannot have vlan 7, which subscriber 'more' has already" in error
            error = ctl("subscriber", "add", "b", "--match", "mpls=7", status=2).err
            assert "the list of kinds has outer_tag, ipv4, and not mpls" in error
            index = plant.index_of["home"]
            before, _, _ = snapshots(carrier, plant.facts, np.array([4 * index]))
            until = time.monotonic() + 60  # the sweep is a thread, and this machine may do other things
            while time.monotonic() < until:
                carrier.run(reads([registers.address("status")] * 50))
                if (snapshots(carrier, plant.facts, np.array([4 * index]))[0][0, 0] > before[0, 0] + 5) and sweep.whole > 3:
                    break
            else:
                pytest.fail("no frame was found for the subscriber")
            totals = json.loads(ctl("counters", "--json").out)["headers"]
            found = {row["match"]: row for row in totals["profiles"]}
            assert found["outer_tag"]["hits"] > 5 and found["ipv4"]["hits"] > 5 and totals["keys"] == 5
            done = {row["name"]: row["frames"] for row in totals["endings"]}["done"]
            counted = sum(row["hits"] + row["misses"] for row in totals["profiles"])
            assert done > 10 and abs(done - counted) <= 5, totals  # the counters of a reading are of some moments
            assert "outer_tag" in ctl("counters").out
            text = metrics.exposition(plant, sweep).decode()
            assert 'penstock_headers_hits_total{match="outer_tag"}' in text and 'malformed="true"' in text
            page = http.Site(plant, sweep).get["/api/totals"]({})
            assert [row["match"] for row in page["headers"]["profiles"]] == ["outer_tag", "ipv4"]
            hits = found["outer_tag"]["hits"]
            if again:
                assert hits >= kept
                ctl("headers", "set", "--kinds", "ipv4,outer_tag,mpls", "--unknown", "63")
                ctl("subscriber", "add", "b", "--match", "mpls=7")
                ctl("subscriber", "set", "home", "--match", "none", "--no-bypass")
                assert not plant.get("home").matches and not plant.get("home").bypass
                ctl("subscriber", "delete", "more")
                assert json.loads(ctl("headers", "show", "--json").out)["unknown_queue"] == 63
                error = ctl("headers", "set", "--kinds", "ipv4", status=2).err
                assert "the list of kinds has ipv4, and not mpls, which a subscriber's match is of" in error
            kept = hits
        sweep.stop()
        plant.intent.close()
    carrier.close()


def test_a_scenario_with_prefixes_is_not_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SCENARIO.replace("entries: 256", "entries: 256, prefix_levels: 3").replace("10.0.0.1", "10.0.0.0/30")
    (tmp_path / "s.yaml").write_text(text)
    store = tmp_path / "intent.sqlite"
    status = main(["serve", str(tmp_path / "s.yaml"), "--engine", "model", "--store", str(store), "--listen", "127.0.0.1:0"])
    error = capsys.readouterr().err
    assert (
        status == 2
        and "`subscribers.1.match` is a prefix, which `serve` cannot keep beside those of its clients" in error
        and not store.exists()
    )


def test_counters_survive_a_reset() -> None:
    found = Found()
    raw = np.zeros((4, 16), dtype=np.uint64)
    raw[0, 1], raw[1, 0], raw[2, 0], raw[3, 0] = 5, 3, 8, 2
    found.take(raw, 3, ["outer_tag", "ipv4"])
    raw = raw.copy()
    raw[0, 1] = 9
    found.take(raw, 3, ["outer_tag", "ipv4"])
    found.take(raw * 0 + np.uint64(1), 0, ["ipv4"])  # reset, and another profile
    assert found.profiles() == [("ipv4", 10, 1), ("outer_tag", 0, 3)] and found.without_profile == 3
    other = Found()
    other.load(found.arrays())
    assert other.hits.tolist() == found.hits.tolist() and other.without_profile == 3
