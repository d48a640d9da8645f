# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The server of the control plane: calls, deadlines, roles, certificates, sockets, limits, what is wrong with a message."""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from penstock.designs import configs
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.http import pages
from penstock.designs.access_edge.control.plant import Subscriber
from penstock.designs.access_edge.control.problems import Problem
from penstock.designs.access_edge.control.server import Tls, serving
from penstock.designs.access_edge.control.services.subscribers import Subscribers
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import (
    CONFIG,
    Mirror,
    fails,
    home,
    plant_of,
    small_device,
)
from penstock.designs.access_edge.testing.control_judge import drawn
from penstock.driver import places
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.testing.testkit import seed
from penstock.v1 import audit_pb2, common_pb2, counters_pb2, device_pb2, hierarchy_pb2, queues_pb2, registers_pb2, subscribers_pb2


def test_the_life_of_a_subscriber(served: Any) -> None:
    """Made, asked for again with the same request id, changed with the right version and with a stale one, moved, listed, deleted."""
    client, plant, _, _ = served
    request = subscribers_pb2.CreateSubscriberRequest(subscriber=home("life"), request_id="r1")
    made = client.subscribers.Create(request)
    assert client.subscribers.Create(request) == made
    other = subscribers_pb2.CreateSubscriberRequest(subscriber=home("other"), request_id="r1")
    fails(grpc.StatusCode.INVALID_ARGUMENT, "was used for another request", client.subscribers.Create, other)
    request.request_id = ""
    fails(grpc.StatusCode.ALREADY_EXISTS, "there is a subscriber 'life' already", client.subscribers.Create, request)
    update = subscribers_pb2.UpdateSubscriberRequest(subscriber=Subscriber(name="life", rate_bps=10**8, version=made.version))
    update.update_mask.paths.append("rate_bps")
    changed = client.subscribers.Update(update)
    assert changed.rate_bps == 10**8 and len(changed.queues) == 4 and changed.version > made.version
    fails(grpc.StatusCode.ABORTED, "it was changed meanwhile", client.subscribers.Update, update)
    moved = client.subscribers.Move(subscribers_pb2.MoveSubscriberRequest(name="life", node=1))
    assert moved.node == 1 and client.subscribers.Get(subscribers_pb2.GetSubscriberRequest(name="life")) == moved
    assert [entry.name for entry in client.list(node=1)] == ["life"] and not list(client.list(contains="nobody"))
    client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="life"))
    fails(grpc.StatusCode.NOT_FOUND, "no subscriber 'life'", client.subscribers.Get, subscribers_pb2.GetSubscriberRequest(name="life"))
    log = plant.audited(8)
    assert ("local user", "/penstock.v1.Subscribers/Delete") in {(who, method) for _, who, method, _, status in log if status == "OK"}
    assert any(status == "ABORTED" for *_, status in log)


def test_deadlines_and_cancellation(served: Any) -> None:
    """What is asked for with a deadline is not done after it, nor what was cancelled, nor a stream of which the end never came."""
    client, plant, _, _ = served
    stop = threading.Event()

    def endless() -> Iterator[subscribers_pb2.ProvisionRequest]:
        yield subscribers_pb2.ProvisionRequest(subscribers=[home("of a stream")], all_or_nothing=True)
        stop.wait(30)

    requests = [subscribers_pb2.CreateSubscriberRequest(subscriber=home(name)) for name in ("late", "cancelled", "in time")]
    with plant.lock:  # a change that takes long
        stream = client.subscribers.Provision.future(endless())
        late = client.subscribers.Create.future(requests[0], timeout=0.5)
        cancelled, in_time = client.subscribers.Create.future(requests[1]), client.subscribers.Create.future(requests[2], timeout=60)
        assert late.exception().code() == grpc.StatusCode.DEADLINE_EXCEEDED
        # One of them leads and waits for the lock; the others wait for it. Who reads that asks what the server knows of its callers.
        end = time.monotonic() + 60

        def behind() -> list[Any]:
            return [one.entry.waits for some in list(plant._waiting._requests.values()) for one in list(some)]

        while len(behind()) < 2:
            assert time.monotonic() < end, "they do not come"
            time.sleep(0.01)
        assert cancelled.cancel() and stream.cancel()
        while sum(waits() for waits in behind()) > 1:
            assert time.monotonic() < end, "it is not cancelled"
            time.sleep(0.01)
        time.sleep(0.5)  # the deadline of the first one is over for the server as well
    assert in_time.result().name == "in time"
    stop.set()
    assert not {"late", "cancelled", "of a stream"} & set(plant.index_of)
    while "CANCELLED" not in {line[4] for line in plant.audited(3)}:  # their threads may come to an end after the last answer
        assert time.monotonic() < end, "nothing says that they were cancelled"
        time.sleep(0.01)
    client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="in time"))


def test_what_is_wrong_names_its_field(served: Any) -> None:
    client = served[0]

    def create(**fields: Any) -> Any:
        return subscribers_pb2.CreateSubscriberRequest(subscriber=Subscriber(**fields))

    queue = common_pb2.QueueSettings
    for words, request in {
        "name: must be 1 to 128 printable characters": create(name="a\nb"),
        "node: the device has nodes 0 to ": create(name="x", node=5000),
        "index: the device has places 0 to 15, not 16": create(name="x", index=16),
        "queues: the device has 4 a subscriber, not 5": create(name="x", queues=[queue()] * 5),
        "queues[1].rate_bps: must be at least 8 kbit/s": create(name="x", queues=[queue(), queue(rate_bps=5)]),
        "queues[0].weight: must be at most 8": create(name="x", queues=[queue(weight=9)]),
        "queues[0].aqm: is set, but configuration of the device has no AQM": create(name="x", queues=[queue(aqm=common_pb2.Aqm())]),
        "weight: must be 1 to 8, not 12": create(name="x", weight=12),
        "rate_bps: must be 8,000 to 100,000,000,000 bit/s": create(name="x", rate_bps=1),
    }.items():
        fails(grpc.StatusCode.INVALID_ARGUMENT, words, client.subscribers.Create, request)
    # What is echoed is cut, by its bytes: a status that is larger than a client takes in its headers says nothing.
    for letter in ("k", "\U0001f4a9"):
        long = create(name="x", queues=[queue(aqm=common_pb2.Aqm(settings={letter * 3_000: "5 ms"}))])
        fails(grpc.StatusCode.INVALID_ARGUMENT, "queues[0].aqm", client.subscribers.Create, long)
        mask = subscribers_pb2.UpdateSubscriberRequest(subscriber=Subscriber(name="x"), update_mask={"paths": [letter * 3_000]})
        fails(grpc.StatusCode.INVALID_ARGUMENT, "update_mask: names ", client.subscribers.Update, mask)
        problem = Problem(grpc.StatusCode.INVALID_ARGUMENT, letter * 3_000, letter * 3_000).at("queues[0]")
        assert problem.field.startswith(f"queues[0].{letter}") and problem.field.endswith(letter)
        assert problem.status().ByteSize() < 2_000
    name, write = registers_pb2.RegisterName, registers_pb2.WriteRegistersRequest
    for call, words, asked in (
        (client.nodes.Set, "index: the device has nodes", hierarchy_pb2.Node(index=77)),
        (client.registers.Read, "registers[0]: the device has no register 'none'",
         registers_pb2.ReadRegistersRequest(registers=[name(register="none")])),
        (client.registers.Read, "registers[1]: names no register", registers_pb2.ReadRegistersRequest(registers=[name(address=0), name()])),
        (client.registers.Write, "writes[0].register: names no register", write(writes=[write.Write(value=5)])),
        (client.queues.Get, "queue: names no queue", queues_pb2.GetQueueRequest()),
        (client.audit.List, "noun: must be a noun", audit_pb2.ListAuditRequest(noun="a" * 100_000)),
    ):  # fmt: skip
        fails(grpc.StatusCode.INVALID_ARGUMENT, words, call, asked)


def test_a_store_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Is said as such, over gRPC and HTTP, and not as an error that nobody has thought of."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    plant.change([lambda: home("a")])

    def broken(*_: Any) -> Any:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(plant.intent, "message", broken)
    monkeypatch.setattr(plant.intent, "audited", broken)
    sweep = Sweep(plant)
    words = "the store cannot be read (disk I/O error)"
    with serving(plant, sweep, [f"unix:{tmp_path / 'c.sock'}"]) as (place,), Client(place) as client:
        for call, request in (
            (client.subscribers.Get, subscribers_pb2.GetSubscriberRequest(name="a")),
            (client.subscribers.List, subscribers_pb2.ListSubscribersRequest()),
            (client.audit.List, audit_pb2.ListAuditRequest()),
        ):
            fails(grpc.StatusCode.UNAVAILABLE, words, call, request)
    with pages(plant, sweep, "127.0.0.1:0") as url:
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{url}/api/subscriber?name=a", timeout=20)
        assert caught.value.code == 503 and json.loads(caught.value.read()) == {"error": words}


def test_an_answer_names_the_first_failures() -> None:
    """A batch of which nothing is right has an answer of a size that a client takes, and the same when it is asked for again."""
    service = Subscribers(plant_of(Mirror(configs.load(CONFIG))), Limits())
    request = subscribers_pb2.BatchRequest(changes=[subscribers_pb2.Change()] * 3_000, request_id="r")
    method: Any = Subscribers.Batch
    answer = method.__wrapped__(service, request, None)
    assert answer.failed == 3_000 and [failure.item for failure in answer.failures] == list(range(1_000))
    assert method.__wrapped__(service, request, None) == answer


def test_roles(served: Any) -> None:
    """Over loopback a client may operate, and not touch registers."""
    _, _, _, places = served
    with Client(places[1]) as client:
        assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64
        read = registers_pb2.ReadRegistersRequest(registers=[registers_pb2.RegisterName(address=0)])
        fails(grpc.StatusCode.PERMISSION_DENIED, "needs the role raw", client.registers.Read, read)
        refused = client.audit.List(audit_pb2.ListAuditRequest(count=1)).lines[0]
        assert (refused.method, refused.status) == ("/penstock.v1.Registers/Read", "PERMISSION_DENIED")
        assert refused.who.startswith("ip") and refused.what == "registers { address: 0 }"
        client.provision([home("by loopback")])


def test_the_audit_log_is_asked_for(served: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """By time, name and noun, in any mix; and what is asked for is not in the log itself."""
    from penstock.command_line.app import main

    client, plant, _, places = served
    with Client(places[1]) as other:
        for number, one in enumerate((client, other, client)):
            one.subscribers.Create(subscribers_pb2.CreateSubscriberRequest(subscriber=home(f"audited-{number}")))
        other.gates.Close(queues_pb2.GateRequest(subscribers=["audited-1"]))
        fails(grpc.StatusCode.NOT_FOUND, "'nobody'", other.gates.Close, queues_pb2.GateRequest(subscribers=["nobody"]))
        plant.flush()
        everything = client.audit.List(audit_pb2.ListAuditRequest(count=10_000)).lines
        said = [(line.at, line.who, line.method, line.what, line.status) for line in everything]
        assert said == [tuple(one) for one in plant.audited(10_000)]
        name = everything[0].who
        assert name != "local user" and everything[0].status == "NOT_FOUND"
        for who in ("", name, "local user", "nobody"):
            for noun, method in (("", ""), ("subscriber", "Subscribers/"), ("Gates", "Gates/"), ("node", "Nodes/")):
                for since in ("", everything[len(everything) // 2].at, "2099-01-01T00:00:00+02:00"):
                    for count in (0, 2):
                        expected = [line for line in everything if who in ("", line.who) and method in line.method and line.at >= since]
                        found = other.audit.List(audit_pb2.ListAuditRequest(who=who, noun=noun, since=since, count=count)).lines
                        assert list(found) == expected[: count or 100], (who, noun, since, count)
        for field, wrong in (("since", "yesterday"), ("since", "2026-01-31T12:00:00"), ("noun", "%"), ("count", 10_001)):
            fails(grpc.StatusCode.INVALID_ARGUMENT, f"{field}: must be", other.audit.List, audit_pb2.ListAuditRequest(**{field: wrong}))

    def ctl(*arguments: str) -> tuple[int, str, str]:
        status = main(["ctl", "--server", places[0], "audit", *arguments])
        return status, *capsys.readouterr()

    status, out, _ = ctl("--json", "--since", "1h", "--who", name, "--count", "2")
    lines = json.loads(out)["lines"]
    assert status == 0 and [line["method"] for line in lines] == ["/penstock.v1.Gates/Close"] * 2
    assert [line["status"] for line in lines] == ["OK", "NOT_FOUND"]
    status, out, _ = ctl("--noun", "gate", "--who", name)
    assert status == 0 and out.splitlines()[0].split() == ["time", "who", "call", "status", "what"]
    assert [line.split()[2:4] for line in out.splitlines()[1:]] == [["Gates.Close", "OK"], ["Gates.Close", "NOT_FOUND"]]
    assert ctl("--since", "2099-01-01T00:00:00Z")[1].count("\n") == 1
    assert ctl("--noun", "cow")[::2] == (
        2,
        "penstock: --noun cow: must be one of subscriber, plan, node, port, queue, gate, aqm, register\n",
    )
    for number in range(3):
        client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name=f"audited-{number}"))


def test_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of the how-to make certificates; a client has the role of its own, and without one of the authority's nothing is served:
    what may be wrong is said."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not there")
    page = (ROOT / "docs" / "how-to" / "certificates.md").read_text()
    script = "\n".join(line for line in page.split("URI:`")[0].splitlines() if line.startswith("    "))
    for role in ("operate", "read"):
        subprocess.run(["sh", "-ec", script.replace("penstock:operate", f"penstock:{role}")], cwd=tmp_path, check=True, capture_output=True)
        plant = plant_of(Mirror(configs.load(CONFIG)))
        tls = Tls(tmp_path / "server.pem", tmp_path / "server.key", tmp_path / "ca.pem")
        files = (tmp_path / name for name in ("alice.pem", "alice.key", "ca.pem"))
        with serving(plant, Sweep(plant), ["127.0.0.1:0"], tls) as (place,), Client(place, *files) as client:
            assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64
            request = subscribers_pb2.CreateSubscriberRequest(subscriber=home("by alice"))
            if role == "operate":
                client.subscribers.Create(request)
                assert plant.audited(1)[0][1:3] == ("alice", "/penstock.v1.Subscribers/Create")
            else:
                words = "needs the role operate, and alice has read"
                fails(grpc.StatusCode.PERMISSION_DENIED, words, client.subscribers.Create, request)
                fails(grpc.StatusCode.PERMISSION_DENIED, words, client.audit.List, audit_pb2.ListAuditRequest())
                with pytest.raises(grpc.RpcError, match=words):
                    client.provision([home("by alice")])
                long = subscribers_pb2.CreateSubscriberRequest(subscriber=home("long" * 10_000))
                fails(grpc.StatusCode.PERMISSION_DENIED, words, client.subscribers.Create, long)
                call = client.channel.unary_unary("/penstock.v1.Nodes/Set", request_serializer=bytes, response_deserializer=bytes)
                fails(grpc.StatusCode.PERMISSION_DENIED, words, call, b"\xff")
                lines = [(method.rpartition(".")[2], what[:29]) for _, who, method, what, status in plant.audited(9) if who == "alice"]
                assert lines == [
                    ("Nodes/Set", "no message of this method"), ("Subscribers/Create", f"{long.ByteSize():,} byte"),
                    ("Subscribers/Provision", "a stream"), ("Audit/List", ""), ("Subscribers/Create", 'subscriber { name: "by alice"'),
                ]  # fmt: skip
    # A role that there is not is no other role.
    subprocess.run(["sh", "-ec", script.replace("penstock:operate", "penstock:operat")], cwd=tmp_path, check=True, capture_output=True)
    files = (tmp_path / name for name in ("alice.pem", "alice.key", "ca.pem"))
    with serving(plant, Sweep(plant), ["127.0.0.1:0"], tls) as (place,), Client(place, *files) as client:
        words = "certificate of alice has the role 'operat', which there is not: roles are read, operate, raw"
        fails(grpc.StatusCode.PERMISSION_DENIED, words, client.device.Get, device_pb2.GetDeviceRequest())
    monkeypatch.setattr("penstock.designs.access_edge.control.client.CONNECT_SECONDS", 0.5)
    (tmp_path / "other").mkdir()
    subprocess.run(["sh", "-ec", script], cwd=tmp_path / "other", check=True, capture_output=True)
    own, others = ([folder / name for name in ("alice.pem", "alice.key", "ca.pem")] for folder in (tmp_path, tmp_path / "other"))
    plain = "is there, but none without TLS: .* needs --cert, --key"
    (tmp_path / "none.pem").write_text("no certificate")
    mistakes: list[tuple[list[Path], str]] = [
        ([], plain),
        ([*others[:2], own[2]], "the server does not take --cert: it is not signed by the authority of the server's --tls-clients"),
        ([*own[:2], others[2]], "the server's certificate is not signed by the authority of --server-ca"),
        ([own[0], others[1], own[2]], "--key .*: is not the key of --cert"),
        ([tmp_path / "none.pem", own[1], own[2]], "--cert .*none.pem: holds no certificate"),
        ([own[0], tmp_path / "none.pem", own[2]], "--key .*none.pem: holds no private key"),
        ([*own[:2], tmp_path / "none.pem"], "--server-ca .*none.pem: holds no certificate"),
        ([*own[:2], tmp_path / "gone.pem"], "--server-ca .*gone.pem: no such file"),
    ]
    with serving(plant, Sweep(plant), ["127.0.0.1:0"], tls) as (place,):
        for files, words in mistakes:
            with pytest.raises(UserError, match=words):
                Client(place, *files)
    wrong_name = r"the server's certificate is not for the name 127\.0\.0\.2"
    with serving(plant, Sweep(plant), ["127.0.0.2:0"], tls) as (place,), pytest.raises(UserError, match=wrong_name):
        Client(place, *own)
    with serving(plant, Sweep(plant), ["127.0.0.1:0"]) as (place,), pytest.raises(UserError, match="is there, but none with TLS"):
        Client(place, *own)
    for tls_files, words in (((own[0], others[1], own[2]), "--tls-key .*: is not the key of --tls-cert"),):
        with pytest.raises(UserError, match=words), serving(plant, Sweep(plant), ["127.0.0.1:0"], Tls(*tls_files)):
            pass
    with pytest.raises(UserError, match="no control plane answers there"):
        Client(place, *own)


def test_limits(tmp_path: Path) -> None:
    """One client too many that watches, a message too long, calls too often: each a status, and the others go on."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    limits = Limits(message_bytes=2_000, watchers=1, calls_per_second=30)
    with serving(plant, Sweep(plant), [f"unix:{tmp_path / 'c.sock'}"], limits=limits) as (place,), Client(place) as client:
        watching = client.counters.Watch(counters_pb2.WatchRequest())
        assert next(watching).snapshot
        with pytest.raises(grpc.RpcError, match="the server would have 2 calls that watch counters, at most 1 are allowed"):
            next(client.counters.Watch(counters_pb2.WatchRequest()))
        watching.cancel()
        long = subscribers_pb2.GetSubscriberRequest(name="x" * 3_000)
        fails(grpc.StatusCode.RESOURCE_EXHAUSTED, "larger than max", client.subscribers.Get, long)
        assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64
        with pytest.raises(grpc.RpcError, match="at most 30 calls a second"):
            for _ in range(1_000):
                client.device.Get(device_pb2.GetDeviceRequest())


def test_bytes_that_are_no_message(served: Any) -> None:
    """Random bytes for every method end in a status, and the server goes on."""
    client, _, _, _ = served
    rng = random.Random(seed())
    for method in ("Subscribers/Create", "Subscribers/Batch", "Nodes/Set", "Gates/Close", "Registers/Write", "Counters/Top", "No/Such"):
        call = client.channel.unary_unary(f"/penstock.v1.{method}", request_serializer=bytes, response_deserializer=bytes)
        for _ in range(40):
            try:
                call(rng.randbytes(rng.randrange(200)), timeout=20)
            except grpc.RpcError as error:
                assert error.code() != grpc.StatusCode.UNAVAILABLE, error
    assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64


def test_reflection_and_health(served: Any) -> None:
    """What a client of any language asks: which services there are, and whether they serve."""
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

    client = served[0]
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    (answer,) = reflection_pb2_grpc.ServerReflectionStub(client.channel).ServerReflectionInfo(iter([request]))
    names = {service.name for service in answer.list_services_response.service}
    nouns = ("Subscribers", "Nodes", "Ports", "Queues", "Gates", "AqmSettings", "Counters", "Registers", "Device")
    assert {f"penstock.v1.{noun}" for noun in nouns} < names
    health = health_pb2_grpc.HealthStub(client.channel).Check(health_pb2.HealthCheckRequest(service="penstock.v1.Subscribers"))
    assert health.status == health_pb2.HealthCheckResponse.SERVING


def test_conformance(served: Any) -> None:
    """The script that knows nothing but what reflection tells, in a process of its own; over loopback, where registers are refused, too.
    Subscribers that are there stay as they are, also one with the name that it once used."""
    client = served[0]
    client.subscribers.Create(subscribers_pb2.CreateSubscriberRequest(subscriber=home("conformance", node=2, rate_bps=10**8)))
    before = list(client.list())
    for place in served[3]:
        script = [sys.executable, str(ROOT / "tools/control_conformance.py"), place]
        done = subprocess.run(script, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0 and "FAILED" not in done.stdout and "ok     Device.Diff" in done.stdout, done.stdout + done.stderr
        assert list(client.list()) == before
    client.subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="conformance"))


def test_a_foreign_client(served: Any) -> None:
    """grpcurl, which is written in Go and knows what reflection tells: the examples of the page, as they stand there."""
    if not shutil.which("grpcurl"):
        pytest.skip("grpcurl is not on the PATH")
    path = served[3][0].removeprefix("unix:")
    page = (ROOT / "docs" / "control.md").read_text()
    lines = [line.strip() for line in page.replace("\\\n", "").splitlines() if line.startswith("    grpcurl ")]
    assert len(lines) >= 5
    said = []
    for line in lines:
        command = line.replace("$XDG_RUNTIME_DIR/penstock/control.sock", path)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, (command, done.stderr)
        said.append(done.stdout)
    text = "\n".join(said)
    for words in ("penstock.v1.Subscribers", '"queues": 64', "rpc Provision ( stream .penstock.v1.ProvisionRequest )", '"name": "home-17"'):
        assert words in text, text
    command = f'grpcurl -plaintext -unix -d \'{{"name": "nobody"}}\' {path} penstock.v1.Subscribers/Get'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0 and "NotFound" in done.stderr and "there is no subscriber 'nobody'" in done.stderr, done.stderr
    wrong = command.replace('"name": "nobody"', '"subscriber": {"name": "x", "queues": [{"rate_bps": 5}]}').replace("/Get", "/Create")
    done = subprocess.run(["sh", "-c", wrong], capture_output=True, text=True, timeout=60, check=False)
    assert "InvalidArgument" in done.stderr and "queues[0].rate_bps" in done.stderr and "BadRequest" in done.stderr, done.stderr
    served[0].subscribers.Delete(subscribers_pb2.DeleteSubscriberRequest(name="home-17"))


@pytest.mark.slow
def test_the_rtl_behind_the_server(tmp_path: Path) -> None:
    """The hardware itself takes the programs: random subscribers, and all of them read back as they were meant."""
    from penstock.driver.in_process import InProcess
    from penstock.engine.run import Request, prepare
    from penstock.library.device import built

    run = prepare(Request(small_device(tmp_path), engine="rtl"))
    run.plan.job["device"]["library"] = built(run.config, "rtl", assertions=True)
    carrier = InProcess(run.plan.job, real_time=False)
    plant, rng = plant_of(carrier), random.Random(seed())
    for _ in range(20):
        made = [drawn(rng, f"home-{number}") for number in rng.sample(range(16), 6)]
        plant.change([lambda one=one: one for one in made])
        assert differences(plant) == []
    carrier.close()


def test_sockets_are_their_users_alone(served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, _, (place, _) = served
    assert Path(place.removeprefix("unix:")).stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert places.control() == f"unix:{tmp_path}/penstock/control.sock"
    (tmp_path / "penstock").chmod(0o755)
    with pytest.raises(UserError, match="must be this user's alone"):
        places.control()


def test_what_serve_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from penstock.command_line.app import main

    for arguments, words in (
        ([], "serve needs one device, and nothing was given"),
        (["a.yaml", "--pcie", "b"], "SCENARIO and --pcie was given"),
        (["--pcie", str(tmp_path / "none")], "no such file"),
        (["--device", str(tmp_path / "none")], "no device answers there"),
        (["--as-device", "x", "--pcie", "y"], "--as-device runs the device of a SCENARIO"),
        (["--pcie", "x", "--tls-cert", "y"], "are given together or not at all"),
    ):
        assert main(["serve", *arguments]) == 2
        assert words in capsys.readouterr().err
    with pytest.raises(UserError, match=r"--listen 192\.0\.2\.1:5: is not local, so it needs"):
        plant = plant_of(Mirror(configs.load(CONFIG)))
        with serving(plant, Sweep(plant), ["192.0.2.1:5"]):
            pass


def test_each_card_has_its_own_store(tmp_path: Path) -> None:
    """Where none is named: two cards, or the devices of two sockets, are never set to what is intended for the other one. A card has the
    same one by whichever path it is named."""
    from penstock.commands.serve import _called

    cards = [tmp_path / "devices/pci0000:16" / address / "resource0" for address in ("0000:17:00.0", "0000:65:00.0")]
    link = tmp_path / "bus/0000:17:00.0"
    link.parent.mkdir()
    link.symlink_to(cards[0].parent)
    assert [_called(path, None) for path in (*cards, link / "resource0")] == [
        "pcie-0000:17:00.0", "pcie-0000:65:00.0", "pcie-0000:17:00.0"
    ]  # fmt: skip
    sockets = [tmp_path / path for path in ("a/b", "a-b", "a%2Fb", "c/b", "c/../a/b")]
    names = [_called(None, path) for path in sockets]
    assert len(set(names)) == 4 and names[0] == names[4] and all(name.startswith("device-") and "/" not in name for name in names)


MOST_OF_PATH = 107  # characters of a Unix socket's


def test_a_second_server_at_the_same_socket() -> None:
    """It is refused, and the first one goes on; nothing but the socket lies in its folder, and nothing when it has ended. Its path is as
    long as one may be."""
    with tempfile.TemporaryDirectory(prefix="p" * 60, dir="/tmp") as folder:
        name = "c" * (MOST_OF_PATH - len(folder) - 1)
        _check_a_second_server(Path(folder) / name)


def _check_a_second_server(path: Path) -> None:
    place = f"unix:{path}"
    first, second = plant_of(Mirror(configs.load(CONFIG))), plant_of(Mirror(configs.load(CONFIG)))
    with serving(first, Sweep(first), [place]):
        with pytest.raises(UserError, match="another server is there"), serving(second, Sweep(second), [place]):
            pass
        for _ in range(2):
            with Client(place) as client:
                assert client.device.Get(device_pb2.GetDeviceRequest(), timeout=20).queues == 64
        assert list(path.parent.iterdir()) == [path]
    assert not list(path.parent.iterdir())
