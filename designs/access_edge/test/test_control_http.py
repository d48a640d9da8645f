# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Page and metrics of the control plane: a model device with traffic, over real sockets of the loopback interface."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from penstock.designs.access_edge.bench.control import subscriber
from penstock.designs.access_edge.control import http as site
from penstock.designs.access_edge.control import looks, metrics
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.client import _messages
from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.http import pages
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.services.counters import queue_counters
from penstock.designs.access_edge.control.services.subscribers import Subscribers
from penstock.designs.access_edge.control.sweep import DROP_P, LEVELS, OUT_P, Sweep
from penstock.designs.access_edge.control.waiting import Entry
from penstock.designs.access_edge.testing.control import plant_of
from penstock.driver.carrier import CarrierError
from penstock.driver.in_process import InProcess
from penstock.engine.run import Request, prepare
from penstock.errors import UserError
from penstock.paths import DESIGNS, ROOT
from penstock.v1 import hierarchy_pb2, subscribers_pb2

CONTROL = DESIGNS / "access_edge/control"
ODD = 'a "b" <i>\\'  # a name that needs care in labels, JSON and HTML
FULL = "large"
LINE = 24_000_000
SECONDS = 30.0


def _subscriber(name: str, index: int, node: int, traffic_class: int, queues: int = 4) -> subscribers_pb2.Subscriber:
    made = subscribers_pb2.Subscriber(name=name, index=index, node=node)
    for _ in range(queues):
        made.queues.add(limit_packets=25, traffic_class=traffic_class)
    return made


@contextlib.contextmanager
def _plant(config: str = "tree_64") -> Iterator[Plant]:
    """The scenario fair_shares, whose node 0 is offered three times its rate."""
    run = prepare(Request(ROOT / "scenarios/fair_shares.yaml", ["duration=1000 s", f"device.config={config}"], engine="model"))
    with contextlib.closing(InProcess(run.plan.job)) as carrier, contextlib.closing(Intent(None)) as intent:
        plant = Plant(carrier, ask(carrier), intent)
        plant.restore()
        plant.set_parent("node", hierarchy_pb2.Node(index=0, rate_bps=LINE, name="tower"))
        wanted = [
            _subscriber(FULL, 0, 0, 3),
            _subscriber(ODD, 1, 0, 3),
            _subscriber("gold", 3, 1, 2, queues=1),
            _subscriber("idle", 9, 2, 0),
        ]
        plant.change([lambda each=each: each for each in wanted])
        yield plant


@contextlib.contextmanager
def _sweeping(plant: Plant) -> Iterator[Sweep]:
    """A sweep with figures: something has left, is queued and was dropped."""
    sweep = Sweep(plant, pause_seconds=0.02)
    sweep.start()
    try:
        end = time.monotonic() + SECONDS
        while not (sweep.drops.any() and sweep.queued[:, 1].any() and sweep.rates.any() and sweep.sums("device")[0].rate_bps):
            assert time.monotonic() < end and not sweep.error, sweep.error
            time.sleep(0.02)
        yield sweep
    finally:
        sweep.stop()


class Served:
    """A device whose figures stand still, and its site."""

    def __init__(self, plant: Plant, sweep: Sweep, url: str) -> None:
        self.plant, self.sweep, self.port = plant, sweep, int(url.rpartition(":")[2])

    def request(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, str, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body), headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), {name.lower(): value for name, value in answer.getheaders()}

    def json(self, path: str) -> Any:
        status, text, _ = self.request("GET", path)
        assert status == 200, text
        return json.loads(text)

    def gate(self, body: Any, **headers: str) -> tuple[int, Any]:
        given = {"Content-Type": "application/json", "X-Penstock": "1"} | {name.replace("_", "-"): value for name, value in headers.items()}
        status, text, _ = self.request("POST", "/api/gate", body, {name: value for name, value in given.items() if value})
        return status, json.loads(text)

    def metrics(self, query: str = "") -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        status, text, headers = self.request("GET", f"/metrics{query}")
        assert status == 200 and headers["content-type"].startswith("text/plain"), text
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        found = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in samples}
        assert len(found) == len(samples), "a series is there twice"
        return found


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with _plant() as plant:
        with _sweeping(plant) as sweep:
            pass
        with pages(plant, sweep, "127.0.0.1:0") as url:
            yield Served(plant, sweep, url)


def _labels(**labels: str) -> frozenset[tuple[str, str]]:
    return frozenset(labels.items())


def test_metrics_are_the_sums(served: Served) -> None:
    """Each level has its sums, nodes only with traffic; reasons are the device's; and nothing is said of single queues."""
    found = served.metrics()
    for level in LEVELS:
        for index, sums in enumerate(served.sweep.sums(level)[:4]):
            values = metrics.values_of(sums)
            labels = {"device": {}, "class": {"class": str(index)}}.get(
                level, {level: str(index), "name": "tower" if (level, index) == ("node", 0) else ""}
            )
            for name in ("in_packets", "in_bytes", "out_packets", "out_bytes", "dropped_packets", "dropped_bytes", "marked_packets"):
                expected = values[name] if level != "node" or metrics.has_traffic(values) else None
                assert found.get((f"penstock_{level}_{name}_total", _labels(**labels))) == expected, (level, index, name)
    device = served.sweep.sums("device")[0]
    assert found["penstock_device_queued_bytes", _labels()] == device.queued_bytes > 0
    assert found["penstock_device_rate_bits_per_second", _labels()] == device.rate_bps > 0
    assert {dict(labels)["node"] for name, labels in found if name == "penstock_node_rate_bits_per_second"} == {"0", "1"}
    for reason, (packets, size) in served.sweep.reasons.items():
        assert found["penstock_reason_dropped_packets_total", _labels(reason=reason)] == packets
        assert found["penstock_reason_dropped_bytes_total", _labels(reason=reason)] == size
    assert found["penstock_up", _labels()] == 1 and found["penstock_subscribers", _labels()] == 4
    assert not [name for name, _ in found if name.startswith("penstock_queue_")]


def test_a_device_that_does_not_answer(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served.sweep, "error", "card: does not answer")
    found = served.metrics()
    assert found["penstock_up", _labels()] == 0
    assert found["penstock_figures_age_seconds", _labels()] > 0
    totals = served.json("/api/totals")
    assert not totals["up"] and totals["error"] == "card: does not answer" and totals["age_seconds"] > 0


def test_queues_on_demand(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    found = served.metrics("?subscriber=a%20%22b%22%20%3Ci%3E%5C")
    assert {name for name, _ in found} <= {name for name, _ in served.metrics("?node=0")}
    for position in range(4):
        labels = _labels(subscriber=ODD, position=str(position), queue=str(4 + position))
        assert found["penstock_queue_out_packets_total", labels] == served.sweep.counts[4 + position, OUT_P]
    assert sum(name == "penstock_queue_rate_bits_per_second" for name, _ in served.metrics("?node=0")) == 8
    monkeypatch.setattr(metrics, "MAX_QUEUES", 7)
    status, text, _ = served.request("GET", "/metrics?node=0")
    assert (status, json.loads(text)) == (400, {"error": "these are 8 queues, and one answer has at most 7"})
    assert len(served.metrics("?node=1")) > 0


def test_totals(served: Served) -> None:
    found = served.json("/api/totals")
    assert found["up"] and found["age_seconds"] > 0 and found["subscribers"] == 4
    assert found["device"] == metrics.values_of(served.sweep.sums("device")[0])
    assert [(node["index"], node["name"], node["port"]) for node in found["nodes"]] == [(0, "tower", 0), (1, "node 1", 0)]
    assert len(found["ports"]) == 2 and len(found["classes"]) == 4
    assert sum(node["in_packets"] for node in found["nodes"]) == found["device"]["in_packets"]
    assert {each["reason"]: each["packets"] for each in found["reasons"]} == {
        name: counts[0] for name, counts in served.sweep.reasons.items()
    }


@pytest.mark.parametrize("by", ["rate", "backlog", "drops"])
@pytest.mark.parametrize("most", [20, 2])
def test_top(served: Served, monkeypatch: pytest.MonkeyPatch, by: str, most: int) -> None:
    """The largest, largest first, and none with nothing."""
    monkeypatch.setattr(site, "TOP", most)
    values = {"rate": served.sweep.rates, "backlog": served.sweep.queued[:, 1], "drops": served.sweep.drops}[by]
    found = served.json(f"/api/top?by={by}")["queues"]
    positive = np.sort(values[values > 0])[::-1][:most]
    assert [values[each["queue"]] for each in found] == positive.tolist() and found
    assert all(each["subscriber"] == served.plant.name_of[each["queue"] // 4] for each in found)


def test_subscriber_and_search(served: Served) -> None:
    found = served.json("/api/subscriber?name=gold")
    assert (found["name"], found["index"], found["node"], found["gate_closed"]) == ("gold", 3, 1, False)
    assert [queue["queue"] for queue in found["queues"]] == [12, 13, 14, 15]
    assert found["queues"][0]["settings"] == {"limit_packets": 25, "traffic_class": 2}
    assert found["queues"][1]["settings"] == {"limit_packets": 0}  # not asked for: drops all
    assert found["queues"][0]["out_packets"] == served.sweep.counts[12, OUT_P]
    assert [each["name"] for each in served.json("/api/search?q=l")["subscribers"]] == ["gold", "idle", "large"]
    assert [each["name"] for each in served.json("/api/search?q=%3Ci%3E")["subscribers"]] == [ODD]
    assert served.json("/api/search?q=%25") == {"subscribers": [], "more": False}


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "/nothing", 404, "there is nothing at '/nothing'"),
        ("GET", "/../http.py", 404, "there is nothing"),
        ("GET", "/api/gate", 405, "/api/gate takes POST only"),
        ("PUT", "/api/gate", 501, "Unsupported method"),
        ("OPTIONS", "/api/gate", 501, "Unsupported method"),
        ("GET", "/api/top?by=size", 400, "by: must be rate, backlog, drops, not 'size'"),
        ("GET", "/api/top?which=1", 400, "there is no parameter 'which'; this path has by"),
        ("GET", "/api/top?" + "&".join(f"a{i}=" for i in range(9)), 400, "more than 8 parameters"),
        ("GET", "/api/subscriber", 400, "name: must be given"),
        ("GET", "/api/subscriber?name=nobody", 404, "name: there is no subscriber 'nobody'"),
        ("GET", "/metrics?subscriber=nobody", 404, "subscriber: there is no subscriber 'nobody'"),
        ("GET", "/metrics?node=4", 400, "node: must be 0 to 3, not '4'"),
        ("GET", "/metrics?node=-1", 400, "node: must be 0 to 3, not '-1'"),
        ("GET", "/metrics?node=1&subscriber=gold", 400, "either subscriber or node"),
        ("GET", "/metrics?queue=1", 400, "there is no parameter 'queue'"),
    ],
)
def test_errors_are_one_sentence(
    served: Served, capfd: pytest.CaptureFixture[str], method: str, path: str, status: int, words: str
) -> None:
    got, text, headers = served.request(method, path)
    assert (got, headers["content-type"]) == (status, "application/json")
    assert words in json.loads(text)["error"]
    assert "".join(capfd.readouterr()) == ""


def test_an_error_of_its_own(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served.sweep, "reasons", None)
    assert served.request("GET", "/api/totals")[0] == 500
    monkeypatch.undo()
    assert served.request("GET", "/api/totals")[0] == 200


@pytest.mark.parametrize("host", ["penstock.example", "127.0.0.1.example:80", "10.0.0.1", "[2001:db8::1]:80", "unix:1", "[", ""])
def test_other_hosts_are_refused(served: Served, host: str) -> None:
    """A name that another page's owner has let point here (DNS rebinding) gets nothing."""
    for method, path in (("GET", "/api/totals"), ("GET", "/metrics"), ("GET", "/"), ("POST", "/api/gate")):
        assert served.request(method, path, headers={"Host": host, "X-Penstock": "1"})[0] == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:9", "127.0.0.1:80", "[::1]:1"])
def test_local_hosts_are_let_in(served: Served, host: str) -> None:
    assert served.request("GET", "/api/totals", headers={"Host": host})[0] == 200


GOOD = {"subscriber": FULL, "closed": True}


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        (GOOD, {"X_Penstock": ""}, 403, "needs the header X-Penstock: 1"),
        (GOOD, {"X_Penstock": "2"}, 403, "needs the header X-Penstock: 1"),
        (GOOD, {"Origin": "http://penstock.example"}, 403, "own page only"),
        (GOOD, {"Origin": "null"}, 403, "own page only"),
        (GOOD, {"Origin": "http://127.0.0.1:1"}, 403, "own page only"),
        (GOOD, {"Content_Type": "text/plain"}, 415, "application/json"),
        (b"x" * 5000, {}, 413, "at most 4,096 bytes"),
        (b"{", {}, 400, "the body is no JSON"),
        (b"\xff", {}, 400, "the body is no JSON"),
        (b"[" * 4000, {}, 400, "the body is no JSON"),
        ([], {}, 400, "must be an object"),
        (GOOD | {"rate": 1}, {}, 400, "must be an object"),
        ({"closed": True}, {}, 400, "subscriber: must be the name"),
        (GOOD | {"closed": "yes"}, {}, 400, "closed: must be true or false"),
        (GOOD | {"version": True}, {}, 400, "version: must be a whole number"),
        (GOOD | {"version": 1_000_000}, {}, 409, "has version"),
        (GOOD | {"subscriber": "nobody"}, {}, 404, "there is no subscriber 'nobody'"),
        (GOOD | {"subscriber": "\ud800"}, {}, 404, "there is no subscriber"),
    ],
)
def test_changes_that_are_refused(served: Served, body: Any, headers: dict[str, str], status: int, words: str) -> None:
    before, revision = served.plant.get(FULL), served.plant.revision
    got, said = served.gate(body, **headers)
    assert got == status and words in said["error"]
    assert served.plant.get(FULL) == before and served.plant.revision == revision and not before.gate_closed


def _left(served: Served, index: int) -> int:
    queues = np.arange(4 * index, 4 * index + 4)
    served.sweep.look(queues)
    return int(served.sweep.counts[queues, OUT_P].sum())


def test_a_gate_is_closed_and_opened(served: Served) -> None:
    """The device itself holds the packets, and the log says that it was done from the page."""
    version = served.plant.get(FULL).version
    status, said = served.gate({"subscriber": FULL, "closed": True, "version": version}, Origin=f"http://127.0.0.1:{served.port}")
    assert status == 200 and said["gate_closed"] and said["version"] > version
    _, who, method, what, went = served.plant.audited(1)[0]
    assert (who, method, what, went) == ("web", "POST /api/gate", f"close {FULL!r}", "OK")
    assert served.json(f"/api/subscriber?name={FULL}")["gate_closed"]
    end, before = time.monotonic() + SECONDS, -1
    while (held := _left(served, 0)) != before:  # what was on its way when the gate closed still leaves
        before, dropped = held, int(served.sweep.counts[0, DROP_P])
        while served.sweep.counts[0, DROP_P] < dropped + 100:  # packets come meanwhile, and more than there is room for
            assert time.monotonic() < end, "packets leave a gate that is closed, or none come"
            _left(served, 0)
    assert served.gate({"subscriber": FULL, "closed": False, "version": version})[0] == 409  # it was changed meanwhile
    assert served.plant.audited(1)[0][1:] == ("web", "POST /api/gate", f"open {FULL!r}", "ABORTED")
    assert served.gate({"subscriber": FULL, "closed": False})[0] == 200
    end = time.monotonic() + SECONDS
    while _left(served, 0) == held:
        assert time.monotonic() < end, "nothing leaves a gate that was opened"
        time.sleep(0.05)


def test_sojourn_times() -> None:
    """Behind a closed gate the head of a queue is as old as the device's clock says; page, metrics and gRPC's messages tell the same."""
    with _plant("tree_codel_64") as plant:
        hz, tick = plant.facts.clock_hz, 1 << plant.facts.tick_shift
        with _sweeping(plant) as sweep:
            plant.change([lambda: _closed(plant.get(FULL))])
            end, before = time.monotonic() + SECONDS, -1
            while (left := _out(sweep)) != before or not sweep.queued[0, 0]:  # else no head changes any more
                assert time.monotonic() < end, "nothing is held behind the gate"
                before = left
                time.sleep(0.2)
        begin = plant.carrier.cycles()
        sweep.look(np.array([0, 16]))
        middle, first = plant.carrier.cycles(), int(sweep.sojourn[0])
        time.sleep(0.3)
        later = plant.carrier.cycles()
        sweep.look(np.array([0]))
        grown, last = (int(sweep.sojourn[0]) - first) * hz / 1e9, plant.carrier.cycles()
        assert later - middle - tick <= grown <= last - begin + tick, (begin, middle, later, last, grown)
        assert first * hz / 1e9 <= middle + tick
        assert sweep.queued[3, 0] or sweep.sojourn[3] == 0
        (said,) = queue_counters(sweep, [0])
        assert said.HasField("head_sojourn_ns") and said.head_sojourn_ns == sweep.sojourn[0]
        idle = queue_counters(sweep, [36])[0]
        assert idle.HasField("head_sojourn_ns") and idle.head_sojourn_ns == 0
        with pages(plant, sweep, "127.0.0.1:0") as url:
            told = Served(plant, sweep, url)
            found = told.json(f"/api/subscriber?name={FULL}")
            assert found["tells_sojourn"] and found["queues"][0]["head_sojourn_seconds"] == sweep.sojourn[0] / 1e9
            assert found["queues"][0]["age_seconds"] > 0
            metric = told.metrics(f"?subscriber={FULL}")
            labels = _labels(subscriber=FULL, position="0", queue="0")
            assert metric["penstock_queue_head_sojourn_seconds", labels] == sweep.sojourn[0] / 1e9


def test_a_device_without_time_stamps_tells_no_sojourn_times(served: Served) -> None:
    found = served.json(f"/api/subscriber?name={FULL}")
    assert not found["tells_sojourn"] and {queue["head_sojourn_seconds"] for queue in found["queues"]} == {None}
    assert not [name for name, _ in served.metrics(f"?subscriber={FULL}") if "sojourn" in name]
    assert not queue_counters(served.sweep, [0])[0].HasField("head_sojourn_ns")


def _closed(subscriber: subscribers_pb2.Subscriber) -> subscribers_pb2.Subscriber:
    subscriber.gate_closed = True
    return subscriber


def _out(sweep: Sweep) -> int:
    sweep.look(np.arange(4))
    return int(sweep.counts[:4, OUT_P].sum())


def test_who_has_changed_something(served: Served) -> None:
    """The log has the page's changes as the page's, those of a call under its own name, and of others nothing."""
    plant = served.plant
    with pages(plant, served.sweep, "127.0.0.1:0") as url:
        count = len(plant.audited(100))
        plant.change([lambda: plant.get("idle")])
        assert len(plant.audited(100)) == count
        assert Served(plant, served.sweep, url).gate({"subscriber": "idle", "closed": False})[0] == 200
        assert plant.audited(1)[0][1] == "web"
        with plant.noting(Entry("alice", "a call", "something"), lambda: "OK"):
            plant.change([lambda: plant.get("idle")])
    assert [line[1] for line in plant.audited(2)] == ["alice", "web"]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("8080", "must be HOST:PORT"),
        (":8080", "must be HOST:PORT"),
        ("localhost:http", "must be HOST:PORT"),
        ("localhost:65536", "must be HOST:PORT"),
        ("0.0.0.0:8080", "must be of the loopback interface"),
        ("[::]:8080", "must be of the loopback interface"),
        ("192.0.2.1:8080", "must be of the loopback interface"),
        ("unix:8080", "must be of the loopback interface"),
        ("penstock.example:8080", "must be of the loopback interface"),
    ],
)
def test_addresses(served: Served, address: str, words: str) -> None:
    with pytest.raises(UserError, match=f"^--http {re.escape(address)}: {words}"), pages(served.plant, served.sweep, address):
        pass


def test_a_port_that_is_taken(served: Served) -> None:
    with pytest.raises(UserError, match="cannot be listened at"), pages(served.plant, served.sweep, f"127.0.0.1:{served.port}"):
        pass


def test_connections_are_bounded(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """One too many takes the place of the one whose next request has been awaited longest."""
    monkeypatch.setattr(site, "MAX_CONNECTIONS", 3)
    monkeypatch.setattr(site, "WAY_SECONDS", SECONDS)  # however busy the machine is
    awaited, await_request = [], site._Server.await_request

    def noted(self: site._Server, connection: socket.socket) -> None:
        await_request(self, connection)
        awaited.append(connection)

    monkeypatch.setattr(site._Server, "await_request", noted)

    @contextlib.contextmanager
    def awaits_another() -> Iterator[None]:
        """Then the server awaits one request more: it orders connections by that moment, which may come after the answer."""
        before, end = len(awaited), time.monotonic() + SECONDS
        yield
        while len(awaited) == before:
            assert time.monotonic() < end, "no further request is awaited"
            time.sleep(0.01)

    with pages(served.plant, served.sweep, "127.0.0.1:0") as url, contextlib.ExitStack() as stack:
        other = Served(served.plant, served.sweep, url)
        silent = [http.client.HTTPConnection("127.0.0.1", other.port, timeout=SECONDS) for _ in range(3)]

        def ask(connection: http.client.HTTPConnection) -> None:
            with awaits_another():
                connection.request("GET", "/api/totals")
                assert connection.getresponse().read()

        for connection in silent:
            stack.enter_context(contextlib.closing(connection))
            with awaits_another():
                connection.connect()
            connection.auto_open = 0
            ask(connection)
        ask(silent[0])
        assert other.json("/api/totals")
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            ask(silent[1])
        ask(silent[0])
        ask(silent[2])


def test_slow_clients_do_not_keep_the_page_away(served: Served) -> None:
    """As many connections as there may be, each of which sends a byte now and then, for ever."""
    with pages(served.plant, served.sweep, "127.0.0.1:0") as url, contextlib.ExitStack() as stack:
        other = Served(served.plant, served.sweep, url)
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", other.port))) for _ in range(site.MAX_CONNECTIONS)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        for _ in range(10):
            for connection in slow:
                with contextlib.suppress(OSError):  # it has made way
                    connection.sendall(b"a")
            assert other.json("/api/totals")


@pytest.mark.parametrize(
    "begin", [b"", b"GET /", b"GET / HTTP/1.1\r\nX: ", b"POST /api/gate HTTP/1.1\r\nHost: localhost\r\nX-Penstock: 1\r\n"
              b"Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n"], ids=["nothing", "line", "header", "body"]
)  # fmt: skip
def test_a_request_comes_within_a_time(served: Served, monkeypatch: pytest.MonkeyPatch, begin: bytes) -> None:
    """Of all of it: a byte now and then does not make it longer."""
    monkeypatch.setattr(site._Handler, "timeout", 1.0)
    with pages(served.plant, served.sweep, "127.0.0.1:0") as url:
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as slow:
            slow.sendall(begin)
            slow.settimeout(0.1)
            found, since = b"", time.monotonic()
            while True:
                with contextlib.suppress(TimeoutError):
                    try:
                        if not (more := slow.recv(1000)):
                            break
                    except ConnectionError:
                        break
                    found += more
                assert time.monotonic() - since < SECONDS / 2, "it is waited for"
                if begin:
                    with contextlib.suppress(OSError):
                        slow.sendall(b"a")
        assert (b"a request must come within 1 s" in found) == begin.startswith(b"POST")


def test_dashboard_has_metrics_that_are_there(served: Served) -> None:
    dashboard = json.loads((CONTROL / "grafana.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = {name for expression in expressions for name in re.findall(r"penstock_\w+", expression)}
    exported = {name for name, _ in (served.metrics() | served.metrics(f"?subscriber={FULL}"))}
    assert len(named) > 10 and named - exported == set()


def test_alarms_are_on_metrics_that_are_there(served: Served) -> None:
    rules = yaml.safe_load((CONTROL / "alarms.yaml").read_text())["groups"][0]["rules"]
    named = {name for rule in rules for name in re.findall(r"penstock_\w+", rule["expr"])}
    families = re.findall(r"^# TYPE (\w+) (\w+)", served.request("GET", "/metrics")[1], re.MULTILINE)
    assert len(named) > 10 and named - {name for name, _ in families} == set() and len({rule["alert"] for rule in rules}) == len(rules)
    reasons = {dict(labels).get("reason") for _, labels in served.metrics()}
    assert set(re.findall(r"[a-z]+_[a-z]+", " ".join(re.findall(r'reason=~?"([^"]*)"', str(rules))))) <= reasons


def test_limits_of_ports_and_nodes(served: Served) -> None:
    """As the device has them, whoever has set them: node 0 has one, and is full; the fullest is first; metrics say the same."""
    found = served.json("/api/totals")
    tower, other = found["nodes"]
    assert tower["limit_bps"] == LINE and 0.8 < tower["share_of_limit"] < 1.1
    assert tower["share_of_limit"] == tower["rate_bps"] / LINE and tower["delay_seconds"] == 8 * tower["queued_bytes"] / tower["rate_bps"]
    assert other["limit_bps"] is None and other["share_of_limit"] is None
    metric = served.metrics()
    assert metric["penstock_node_limit_bits_per_second", _labels(node="0", name="tower")] == LINE
    assert not [labels for name, labels in metric if name == "penstock_node_limit_bits_per_second" and dict(labels)["node"] != "0"]
    assert found["delay_seconds"] > 0 and found["drops_per_second"] > 0
    assert found["drops_per_second"] == pytest.approx(sum(each["per_second"] for each in found["reasons"]))


def test_a_limit_of_the_scenario_is_read_back() -> None:
    run = prepare(Request(ROOT / "scenarios/fair_shares.yaml", ["duration=1000 s"], engine="model"))
    with contextlib.closing(InProcess(run.plan.job)) as carrier, contextlib.closing(Intent(None)) as intent:
        plant = Plant(carrier, ask(carrier), intent)
        plant.restore()
        limits = plant.limits_of["node"]
        assert limits[0] == pytest.approx(LINE, rel=1e-4) and metrics.limit_of(plant, "node", 3) is None
        plant.set_parent("node", hierarchy_pb2.Node(index=3, rate_bps=5_000_000))
        assert metrics.limit_of(plant, "node", 3) == 5_000_000 and metrics.limit_of(plant, "class", 0) is None


def test_how_long_packets_wait_is_told_of_nodes_with_subscribers() -> None:
    """Nobody knows what is queued elsewhere, though these nodes send."""
    run = prepare(Request(ROOT / "scenarios/fair_shares.yaml", ["duration=1000 s"], engine="model"))
    with contextlib.closing(InProcess(run.plan.job)) as carrier, contextlib.closing(Intent(None)) as intent:
        plant = Plant(carrier, ask(carrier), intent)
        plant.restore()
        sweep = Sweep(plant, 0.05)
        home = subscribers_pb2.Subscriber(name="home")
        home.queues.add()
        page = site.Site(plant, sweep).get["/api/totals"]
        sweep.start()
        for _ in range(500):
            if page({})["nodes"]:
                break
            time.sleep(0.02)

        def told() -> set[int]:
            totals = page({})
            ports = {each["index"] for each in totals["ports"] if each["delay_seconds"] is not None}
            nodes = {each["index"] for each in totals["nodes"] if each["delay_seconds"] is not None}
            assert totals["nodes"] and ports == {int(plant.port_of[node]) for node in nodes}
            return nodes

        try:
            assert told() == set()
            plant.change([lambda: home])
            assert told() == {0}
        finally:
            sweep.stop()


def test_the_open_subscriber_is_read_at_that_moment(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no sweep comes: its counters, rates and drops go on, however many ask; a device that is gone leaves the last figures."""
    monkeypatch.setattr(looks, "LOOK_SECONDS", 0.0)
    path = f"/api/subscriber?name={FULL}"
    first = served.json(path)["queues"][0]
    time.sleep(0.2)
    found = served.json(path)["queues"][0]
    assert found["out_packets"] > first["out_packets"] and found["age_seconds"] < 5
    assert found["rate_bps"] > 0 and found["drops_per_second"] > 0
    shares = [queue["rate_bps"] for queue in served.json(path)["queues"]]
    assert sum(shares) < 1.5 * LINE
    monkeypatch.setattr(looks, "LOOK_SECONDS", 60.0)
    assert served.json(path)["queues"][0]["out_packets"] == served.json(path)["queues"][0]["out_packets"]

    def gone(queues: Any, of_sweep: bool = False) -> Any:
        raise CarrierError("card: does not answer")

    monkeypatch.setattr(looks, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(served.sweep, "look", gone)
    last = served.json(path)["queues"][0]
    assert last["out_packets"] >= found["out_packets"] and last["drops_per_second"] is None


def test_the_icon_passes_the_policy(served: Served) -> None:
    status, text, headers = served.request("GET", "/icon.svg")
    assert status == 200 and headers["content-type"] == "image/svg+xml" and text.lstrip().startswith("<!--")
    assert "img-src 'self'" in headers["content-security-policy"]
    assert '<link rel="icon" href="/icon.svg"' in served.request("GET", "/")[1]


def test_the_page_stands_alone(served: Served) -> None:
    """It takes nothing from elsewhere, and its policy would not let it."""
    status, text, headers = served.request("GET", "/")
    assert status == 200 and headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in headers["content-security-policy"] and "frame-ancestors 'none'" in headers["content-security-policy"]
    assert set(re.findall(r"\w+://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|<script src|<link rel=\"stylesheet", text)


@contextlib.contextmanager
def browsing(url: str) -> Iterator[Any]:
    """Headless Chromium, driven by Playwright, with the page open. At the end nothing may have gone wrong there: no exception, and nothing
    that the page's policy has kept away."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    driver = pytest.importorskip("playwright.sync_api", reason="no Playwright is installed (group browser of requirements.txt)")
    wrong: list[str] = []
    with driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="light")
        page.set_default_timeout(SECONDS * 1000)
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(url)
        yield page
        browser.close()
    assert wrong == []


def until(page: Any, expression: str, seconds: float = SECONDS) -> None:
    """Wait until something is so on the page; it is asked from outside, as its policy lets nothing be evaluated within."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"{expression} does not come true: {page.inner_text('body')}"
        page.wait_for_timeout(100)


def pictures(page: Any, folder: Path, name: str) -> None:
    """Take pictures of the whole page at both widths, light and dark, while it goes on; nothing is wider than the window."""
    backgrounds = set()
    for width in (1400, 400):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(400)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"wider than {width} pixels"
            backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
            page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
    assert len(backgrounds) == 2


def folder_of_pictures(otherwise: Path) -> Path:
    return Path(os.environ.get("PENSTOCK_SCREENSHOTS", otherwise))


@pytest.mark.slow
def test_in_a_browser(tmp_path: Path) -> None:
    """Live figures, search, detail, and a gate that is closed only after the confirmation; usable at 400 pixels, dark and light.

    PENSTOCK_SCREENSHOTS names a folder for pictures.
    """
    with contextlib.ExitStack() as stack:
        plant = stack.enter_context(_plant("tree_codel_64"))
        url = stack.enter_context(pages(plant, stack.enter_context(_sweeping(plant)), "127.0.0.1:0"))
        page = stack.enter_context(browsing(url))
        until(page, "document.querySelector('#state')?.className.includes('good')")
        until(page, "document.querySelectorAll('#top tbody button').length >= 3")
        first = page.inner_text("#totals")
        until(page, f"document.querySelector('#totals').innerText !== {json.dumps(first)}")  # it goes on
        assert page.inner_text("#hierarchy").count("tower") == 1 and "tail_drop_packets" in page.inner_text("#reasons")
        assert page.evaluate("document.querySelector('#hierarchy tbody tr td.full').parentElement.cells[0].textContent") == "tower"
        figures = page.inner_text("#totals")
        assert "tower" in figures and "/s" in figures and "of 4,096 packets" in figures, figures
        assert page.evaluate("[...document.querySelectorAll('.plot .y')].every(one => one.children.length === 3)")
        page.fill("#q", "<i>")
        until(page, "!!document.querySelector('#found button')")
        assert page.text_content("#found button") == ODD
        page.click("#found button")
        until(page, "document.querySelector('#gate').textContent === 'gate open'")
        until(page, "document.querySelectorAll('#queues tbody tr').length === 4")
        assert page.evaluate("document.querySelectorAll('main i').length") == 0
        page.click("#change")
        assert page.evaluate("sure.open") and not plant.get(ODD).gate_closed
        page.click("#sure-no")
        page.wait_for_timeout(300)
        assert not page.evaluate("sure.open") and not plant.get(ODD).gate_closed
        page.click("#change")
        page.click("#sure-yes")
        until(page, "document.querySelector('#gate').textContent === 'gate closed' && !sure.open")
        assert plant.get(ODD).gate_closed and plant.audited(1)[0][1] == "web"
        assert "head waits" in page.inner_text("#queues thead")
        until(page, "/^[0-9.]+ s$/.test(document.querySelector('#queues tbody tr').cells[4].textContent)")  # more than a second by now
        until(page, "/Head waits: [0-9.]+ s/.test(document.querySelector('#history').innerText)")
        pictures(page, folder_of_pictures(tmp_path), "page")


@pytest.mark.slow
def test_an_operators_first_questions(tmp_path: Path) -> None:
    """Of the access node of 35,000 subscribers with its traffic: which nodes are congested, what is lost and why, how long packets wait,
    how full the memory is, and a subscriber's own figures. PENSTOCK_SCREENSHOTS names a folder for pictures."""
    with contextlib.ExitStack() as stack:
        carrier = InProcess(prepare(Request(ROOT / "scenarios/access_node.yaml", engine="model")).plan.job)
        stack.callback(carrier.close)
        plant = plant_of(carrier)
        heavy = subscribers_pb2.Subscriber(name="heavy", index=34_999, node=127, rate_bps=50_000_000, burst_bytes=300_000)
        for cls, limit in enumerate((20, 60, 60, 2_000)):
            heavy.queues.add(traffic_class=cls, limit_packets=limit)
        plant.change([lambda: heavy])
        sweep = Sweep(plant)
        sweep.start()
        stack.callback(sweep.stop)
        page = stack.enter_context(browsing(stack.enter_context(pages(plant, sweep, "127.0.0.1:0"))))
        until(page, "document.querySelectorAll('#hierarchy tbody td.full').length >= 5", 8 * SECONDS)
        names = page.evaluate(
            "[...document.querySelectorAll('#hierarchy tbody td.full')].map(one => one.parentElement.cells[0].textContent)"
        )
        assert all(112 <= int(name.removeprefix("node ")) <= 127 for name in names if name.startswith("node ")), names
        assert page.evaluate("document.querySelector('#hierarchy').innerText").count("500 Mbit/s") >= 5
        until(page, "/drops now\\s+[0-9.]+ ?k?\\/s/.test(document.querySelector('#totals').innerText)", 4 * SECONDS)
        assert "tail drop packets" in page.inner_text("#totals") and "of 131,072 packets" in page.inner_text("#totals")
        page.fill("#q", "heavy")
        page.click("#found button")
        until(page, "document.querySelectorAll('#queues tbody tr').length === 4")
        until(page, "/figures (0 s|[0-9]+ [mµ]s|[01]\\.[0-9] s) old/.test(document.querySelector('#what').textContent)")
        pictures(page, folder_of_pictures(tmp_path), "access_node")


@pytest.mark.slow
def test_in_a_browser_at_full_size(tmp_path: Path) -> None:
    """262,144 queues of 65,536 subscribers, all with traffic: the page goes on being live, finds one of them, and shows how old each figure
    is; what Prometheus reads does not grow with the queues. PENSTOCK_SCREENSHOTS names a folder for pictures."""
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "device: { config: tree_codel_262144 }\nduration: 1 s\ndrain: false\ntraffic:\n"
        "  - { name: all, poisson: { queues: 0-262143, pick: random, rate: 4 Gbit/s, size: imix } }\n"
        "  - { name: loud, poisson: { queues: 262140-262143, pick: random, rate: 1 Gbit/s, size: 1000 } }\n"
    )
    with contextlib.ExitStack() as stack:
        carrier = InProcess(prepare(Request(scenario, engine="model")).plan.job)
        stack.callback(carrier.close)
        plant = plant_of(carrier)
        sent = _messages((subscriber(number, 1) for number in range(65_536)), False)
        done: Any = Subscribers.Provision.__wrapped__(Subscribers(plant, Limits()), sent, None)  # type: ignore[attr-defined]
        assert done.applied.queues == 262_144 and not done.failed
        sweep = Sweep(plant)
        sweep.start()
        stack.callback(sweep.stop)
        url = stack.enter_context(pages(plant, sweep, "127.0.0.1:0"))
        served_page = Served(plant, sweep, url)
        page = stack.enter_context(browsing(url))
        until(page, "document.querySelectorAll('#top tbody button').length >= 3")
        first = page.inner_text("#totals")
        until(page, f"document.querySelector('#totals').innerText !== {json.dumps(first)}")
        until(page, "document.querySelector('#top').innerText.includes('home-65535')")  # the loud one, found by the device itself
        page.fill("#q", "home-6553")
        until(page, "document.querySelectorAll('#found button').length === 7")  # 6553 and 65530 to 65535
        page.evaluate("[...document.querySelectorAll('#found button')].find(one => one.textContent === 'home-65535').click()")
        until(page, "document.querySelectorAll('#queues tbody tr').length === 4")
        # Of the subscriber, read at that moment: a whole sweep may take longer.
        until(page, "/figures (0 s|[0-9]+ [mµ]s|[0-4]\\.[0-9] s) old/.test(document.querySelector('#what').textContent)")
        assert len(served_page.request("GET", "/metrics")[1]) < 2 << 20
        pictures(page, folder_of_pictures(tmp_path), "full")
