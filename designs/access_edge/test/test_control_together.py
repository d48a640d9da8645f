# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Changes of many callers that share a transaction, and chunks of streams that go in columns: each is what it would be alone, one by one.

What a device has is judged by a mirror of its registers, which knows commands and nothing of the code that is tested.
"""

import contextlib
import gc
import itertools
import os
import random
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import DecodeError

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import codes
from penstock.designs.access_edge.control import intent as store
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.plant import MAX_BYTES, Plant, Subscriber, check_version
from penstock.designs.access_edge.control.problems import Code, Problem
from penstock.designs.access_edge.control.services import subscribers as streams
from penstock.designs.access_edge.control.services.queues import Gates
from penstock.designs.access_edge.control.services.subscribers import Subscribers
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.control.waiting import MOST_OF_ONE, Done, Entry, Once, Request, Waiting
from penstock.designs.access_edge.control.workers import Workers
from penstock.designs.access_edge.testing.control import CONFIG, GUARANTEED, CountingMirror, Mirror, home, memory, plant_of
from penstock.driver.carrier import CarrierError
from penstock.engine import engine
from penstock.errors import UserError
from penstock.testing.testkit import seed
from penstock.v1 import common_pb2, hierarchy_pb2, queues_pb2, subscribers_pb2


def drawn(rng: random.Random, name: str, wrong: float = 0.0, guarantees: bool = False) -> Subscriber:
    """A subscriber of few plans, as operators have them; now and then one that the device cannot have."""
    made = Subscriber(name=name, node=rng.randrange(4), gate_closed=rng.random() < 0.2)
    if rng.random() < 0.7:
        made.rate_bps = rng.choice([0, 64_000, 10**8])
    if rng.random() < 0.3:
        made.burst_bytes, made.weight = rng.choice([0, 3_000]), rng.randint(1, 8)
    for cls in range(rng.randint(0, 4)):
        queue = made.queues.add(traffic_class=cls)
        if rng.random() < 0.7:
            queue.rate_bps = rng.choice([0, 2_000_000, 50_000_000])
        if rng.random() < 0.3:
            queue.limit_packets, queue.weight = rng.choice([0, 100]), rng.randint(1, 8)
    for one in (made, *made.queues):
        if guarantees and rng.random() < 0.5 and one.rate_bps != 64_000:
            one.guarantee_bps = rng.choice([0, 64_000, 1_500_000])
    if rng.random() < wrong:
        rng.choice([
            lambda: made.queues.add(rate_bps=5), lambda: setattr(made, "node", 99), lambda: setattr(made, "weight", 9),
            lambda: setattr(made, "version", 10**9), lambda: setattr(made, "name", "a\nb"), lambda: setattr(made, "index", 1_000),
            lambda: made.queues.extend([common_pb2.QueueSettings()] * 5), lambda: setattr(made, "guarantee_bps", 1 << 63),
        ])()  # fmt: skip
    return made


def provision(service: Subscribers, sent: list[Subscriber], whole: bool, each: int = 1_000) -> subscribers_pb2.ProvisionResponse:
    """`each`: subscribers of a message."""
    some = [sent[begin : begin + each] for begin in range(0, len(sent), each)]
    requests = (subscribers_pb2.ProvisionRequest(subscribers=one, all_or_nothing=whole) for one in some)
    return provision_bytes(service, (request.SerializeToString() for request in requests))


def provision_bytes(service: Subscribers, messages: Iterable[bytes]) -> subscribers_pb2.ProvisionResponse:
    """Without gRPC, whose context makes a status of a Problem."""
    method: Any = Subscribers.Provision
    return method.__wrapped__(service, iter(messages), None)


def state(plant: Plant) -> tuple[Any, ...]:
    mirror: Any = plant.carrier
    assert differences(plant) == []
    assert plant.intent.came() == {index: plant.since[index] for index in plant.name_of}
    rows = plant.codes.queue_rows(plant.queue_code).tolist(), plant.codes.parent_rows(plant.parent_code).tolist()
    # Settings may be numbered in another order; what they say is the same.
    in_force = [
        [row if code >= 0 else None for row, code in zip(some, codes.tolist(), strict=True)]
        for some, codes in zip(rows, (plant.queue_code, plant.parent_code), strict=True)
    ]
    named = plant.index_of, plant.name_of, plant.version_of.tolist(), bytes(plant.taken), plant.revision
    where = plant.node_of.tolist(), plant.since.tolist()
    stored = list(plant.intent.subscribers()), plant.intent.retired()
    return *stored, mirror.queues, mirror.subscribers, mirror.guarantees, named, in_force, where


@pytest.mark.parametrize("number", range(4))
def test_a_stream_in_columns(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random streams, in pieces of any size, some of whose subscribers are wrong, some with places of their own, some twice, before a
    device that refuses now and then: in columns and one by one are the same, in answer, store, device and memory."""
    rng = random.Random(seed() + number)
    config = configs.load(GUARANTEED if number % 2 else CONFIG)
    plants = [plant_of(Mirror(config)) for _ in range(2)]
    services = [Subscribers(plant, Limits()) for plant in plants]
    put, in_columns = services[0]._many.put, 0
    monkeypatch.setattr(services[1]._many, "put", lambda messages: None)

    def counted(messages: Any) -> Any:
        nonlocal in_columns
        done = put(messages)
        in_columns += done is not None
        return done

    monkeypatch.setattr(services[0]._many, "put", counted)
    for _ in range(60):
        monkeypatch.setattr(streams, "A_PIECE", rng.randint(1, 9))
        each = rng.randint(1, 8)
        some = rng.sample(range(14), rng.randint(1, 8))
        sent = [drawn(rng, f"home-{n}", rng.choice([0, 0, 0.2]), config.hierarchy.guarantees) for n in some]
        if rng.random() < 0.2:
            sent.append(sent[0])
        for subscriber in sent:
            if rng.random() < 0.1:
                subscriber.index = rng.randrange(16)
        whole, fails_after, refuses = rng.random() < 0.5, None, None
        if rng.random() < 0.2:
            fails_after = rng.randrange(60)
        elif rng.random() < 0.2:
            refuses = rng.randrange(20)
        answers = []
        for service, plant in zip(services, plants, strict=True):
            mirror: Any = plant.carrier
            mirror.fails_after, mirror.refuses = fails_after, refuses
            try:
                answers.append(provision(service, sent, whole, each))
            except Problem as problem:
                answers.append((problem.code, problem.field))
            mirror.fails_after = mirror.refuses = None
            if plant.stale:
                plant.restore()
        assert answers[0] == answers[1]
        if rng.random() < 0.3:
            gone = rng.sample(sorted(plants[0].index_of), min(3, len(plants[0].index_of)))
            for plant in plants:
                plant.change([lambda name=name: name for name in gone])
        assert state(plants[0]) == state(plants[1])
    assert in_columns > 5


@pytest.mark.parametrize("whole", [True, False])
def test_what_is_refused_is_let_go(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream whose subscriber is wrong is held no longer than its answer: the next one, as large, is told the same, not that there is no
    room. No collector of cycles has run meanwhile."""
    monkeypatch.setattr(streams, "A_PIECE", 20)
    device = Mirror(configs.load(CONFIG))
    service = Subscribers(plant_of(device), Limits(held_bytes=30_000))
    told = list[Any]()
    gc.disable()
    try:
        for _ in range(4):
            sent = [home(f"a{n}", node=99 if whole and n == 39 else 0) for n in (*range(15), 39, *range(16))]
            device.refuses = None if whole else 0
            try:
                told.append(provision(service, sent, whole, 5))
            except Problem as problem:
                told.append((problem.code, problem.field))
    finally:
        gc.enable()
    assert told == [(Code.INVALID_ARGUMENT, "changes[15].node") if whole else (Code.ABORTED, "")] * 4


def test_messages_of_nothing_are_not_held() -> None:
    """However many messages of a stream name no subscriber."""
    service = Subscribers(plant_of(Mirror(configs.load(CONFIG))), Limits())
    nothing = subscribers_pb2.ProvisionRequest(all_or_nothing=True).SerializeToString()
    held: list[int] = []

    def sent() -> Iterator[bytes]:
        for number in range(200):
            yield one_each("a")[0] if number == 100 else nothing if number % 2 else b""
        held.append(alive())

    def alive() -> int:
        return sum(isinstance(one, streams._Some) for one in gc.get_objects())

    gc.collect()
    held.append(alive())
    assert provision_bytes(service, sent()).applied.subscribers == 1
    assert held[1] - held[0] <= 2  # that of the subscriber, and the last one


def test_settings_that_are_known_take_so_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of the same settings that differ in what is not known: they are found again, and so many bytes of them are kept, in Python
    and in compiled code; a setting that was forgotten has the number that it had."""
    monkeypatch.setattr(codes, "MAX_KEPT_BYTES", 20_000)
    plant = plant_of(Mirror(configs.load(CONFIG)))
    numbers: dict[bool, set[int]] = {False: set(), True: set()}
    for number in range(1_000):
        more = b"\x9a\x06\x64" + str(number).zfill(100).encode()
        settings = common_pb2.QueueSettings.FromString(common_pb2.QueueSettings(rate_bps=10**6).SerializeToString() + more)
        numbers[number % 2 == 0].add(plant.codes.queue(settings, number % 2 == 0))
        kept = [key for closed in (False, True) for key in plant.codes.known(closed)]
        assert sum(map(len, kept)) + codes.OF_KEY * len(kept) <= 20_000
        assert number < 20 or len(kept) > 0 and settings.SerializeToString() in kept
    assert [len(some) for some in numbers.values()] == [1, 1]
    most = 64 << 20
    plans, rest = engine.module("designs/access_edge/control").Plans(most), memory(os.getpid(), "VmRSS")
    for number in range(500_000):
        plans.learn_queue(str(number).zfill(200).encode(), number % 2 == 0, number)
        if number == 150_000:
            assert plans.bytes == 150_001 * (200 + 128)  # no less than what it takes
            taken = memory(os.getpid(), "VmRSS") - rest
    assert taken < 1.1 * most and plans.bytes < most and memory(os.getpid(), "VmRSS") - rest < 1.5 * most


def one_each(names: str) -> list[bytes]:
    return [subscribers_pb2.ProvisionRequest(subscribers=[home(name)]).SerializeToString() for name in names]


def test_a_stream_is_written_while_more_of_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that is slow with a piece does not keep the server from taking what comes after it; that is written behind it."""
    monkeypatch.setattr(streams, "A_PIECE", 2)
    more = threading.Event()

    class Slow(Mirror):
        def _run(self, program: Any) -> Any:
            if self.waits and not more.wait(20):
                raise CarrierError("nothing came meanwhile")
            return super()._run(program)

        waits = False

    device = Slow(configs.load(CONFIG))
    plant = plant_of(device)
    device.waits = True

    def sent() -> Iterator[bytes]:
        for number, message in enumerate(one_each("abcdefg")):
            if number == 3:
                more.set()  # two of the first piece, and one that came while they were written
            yield message

    answer = provision_bytes(Subscribers(plant, Limits()), sent())
    assert answer.applied.subscribers == 7 and not answer.failed and [plant.index_of[name] for name in "abcdefg"] == list(range(7))
    assert differences(plant) == []


def test_a_piece_that_is_refused_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a stream whose second piece the device refuses the first one is there and durable, and nothing that came behind; the stream is one
    line of the log, whichever thread has written it."""
    monkeypatch.setattr(streams, "A_PIECE", 2)
    device = Mirror(configs.load(CONFIG))
    plant = plant_of(device)
    service = Subscribers(plant, Limits())

    def sent() -> Iterator[bytes]:
        for number, message in enumerate(one_each("abcdefgh")):
            if number == 2:
                while len(device.queues) < 8:  # the first piece is there
                    time.sleep(0.001)
                device.refuses = 3
            yield message

    with pytest.raises(Problem, match="refused"), plant.noting(Entry("alice", "Provision", "a stream"), lambda: "ABORTED"):
        provision_bytes(service, sent())
    assert sorted(plant.index_of) == ["a", "b"] == sorted(one.name for one in plant.intent.subscribers())
    assert differences(plant) == [] and plant.calm.is_set()
    assert [(who, status) for _, who, _, _, status in plant.audited(9)] == [("alice", "OK")]


def test_sweeps_wait_for_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a stream sets many up no counters are read, but for a sweep that has waited for long enough."""
    plant = plant_of(CountingMirror(configs.load(CONFIG)))
    provision(Subscribers(plant, Limits()), [home("a")], False)
    sweep, reads = Sweep(plant), 0

    def look(*_: Any, **__: Any) -> None:
        nonlocal reads
        reads += 1

    monkeypatch.setattr(sweep, "look", look)
    monkeypatch.setattr("penstock.designs.access_edge.control.sweep.PATIENCE_SECONDS", 60.0)
    thread = threading.Thread(target=sweep._once)
    with plant.streaming():
        with plant.streaming():
            thread.start()
        thread.join(0.2)
        assert not reads  # one of two is over
    thread.join(20)
    assert reads == 1
    monkeypatch.setattr("penstock.designs.access_edge.control.sweep.PATIENCE_SECONDS", 0.05)
    with plant.streaming():
        sweep._once()
    assert reads == 2


def test_sweeps_wait_as_long_as_they_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that has read for long has as much patience with one more stream; and it has no more than that, however many parts it has."""
    plant = plant_of(CountingMirror(configs.load(CONFIG)))
    provision(Subscribers(plant, Limits()), [home(name) for name in "abcd"], False)
    sweep, steps = Sweep(plant), list[str]()
    monkeypatch.setattr("penstock.designs.access_edge.control.sweep.AT_ONCE", 4)
    monkeypatch.setattr("penstock.designs.access_edge.control.sweep.PATIENCE_SECONDS", 0.0)

    def look(*_: Any, **__: Any) -> None:
        steps.append("look")
        if len(steps) == 1:
            sweep._began -= 60.0  # so long it has read
            stream = contextlib.ExitStack()
            stream.enter_context(plant.streaming())
            threading.Timer(0.1, lambda: (steps.append("the stream ends"), stream.close())).start()

    monkeypatch.setattr(sweep, "look", look)
    sweep._once()
    assert steps == ["look", "the stream ends", *["look"] * 3]
    monkeypatch.setattr("penstock.designs.access_edge.control.sweep.PATIENCE_SECONDS", 0.3)
    with plant.streaming():
        sweep._once()
    assert 0.3 <= sweep._waited < 0.9


@pytest.mark.parametrize("each", [1, 1_000])
def test_too_many_queues_are_one_item(each: int) -> None:
    """In a stream whose items stand for themselves the others are made; all or nothing says whose they are before anything is held."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    service = Subscribers(plant, Limits())
    sent = [home("a"), Subscriber(name="five", queues=home("x").queues[:] + home("x").queues[:1]), home("b")]
    with pytest.raises(Problem, match="the device has 4 a subscriber, not 5") as caught:
        provision(service, sent, True, each)
    assert caught.value.field == "subscribers[1].queues" and not plant.index_of
    answer = provision(service, sent, False, each)
    assert [(one.item, one.message) for one in answer.failures] == [(1, "queues: the device has 4 a subscriber, not 5")]
    assert sorted(plant.index_of) == ["a", "b"] and differences(plant) == []


def test_the_log_says_how_much_of_it_was_done() -> None:
    """Of a batch and of a stream, whose line is there before its end is; of a stream that does nothing, too."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    service = Subscribers(plant, Limits())
    method: Any = Subscribers.Batch
    changes = [subscribers_pb2.Change(create=home("a")), subscribers_pb2.Change(create=home("b", node=900))]
    for some in (changes, changes[:1]):
        with plant.noting(Entry("alice", "Batch", "x" * 400), lambda: "OK"):
            method.__wrapped__(service, subscribers_pb2.BatchRequest(changes=some), None)
    for sent in ([home("c"), home("d", node=900), home("e")], []):
        with plant.noting(Entry("alice", "Provision", "a stream"), lambda: "OK"):
            provision(service, sent, False, 2)
    lines = [(method, what, status) for _, _, method, what, status in plant.audited(9)]
    assert lines == [
        ("Provision", "0 subscribers, 0 failed: a stream", "OK"), ("Provision", "3 subscribers, 1 failed: a stream", "OK"),
        ("Batch", f"1 of 1 failed: {'x' * 385}", "OK"), ("Batch", f"1 of 2 failed: {'x' * 385}", "OK"),
    ]  # fmt: skip


def test_columns_leave_places_and_versions() -> None:
    """A subscriber that names a place where another one is, or a version that is not in force, goes one by one, and is refused; what is
    there stays."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    service = Subscribers(plant, Limits())
    provision(service, [home("a", index=3)], False)
    before = state(plant)
    for sent, code in ((home("b", index=3), Code.ALREADY_EXISTS), (home("a", version=10**9), Code.ABORTED)):
        answer = provision(service, [sent], False)
        assert [failure.code for failure in answer.failures] == [code.value[0]] and state(plant) == before


def test_columns_hold_what_python_reads() -> None:
    """Whatever order and repetition the fields of a message have, what is stored is what protobuf reads of it."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    service = Subscribers(plant, Limits())
    first, second = home("a", node=1, rate_bps=10**8), Subscriber(node=2, weight=3, index=5)
    body = first.SerializeToString() + second.SerializeToString()  # of one that comes twice the last counts
    assert service._many.read(b"\x0a" + bytes([len(body)]) + body) is not None
    provision_bytes(service, [b"\x0a" + bytes([len(body)]) + body])
    stored, read = plant.get("a"), Subscriber.FromString(body)
    stored.ClearField("version")
    assert stored == read and (read.node, read.index, read.rate_bps) == (2, 5, 10**8)
    for data in (b"\x0a\x05abc", b"\x0a\x02\x0a\xff", b"\x0b", b"\xff" * 12, b"\x0a\x03\x0a\x01\xff"):
        with pytest.raises(Problem):
            provision_bytes(service, [data])


def field(number: int, body: bytes) -> bytes:
    """A field of bytes, the length of which has one byte, or two where it must."""
    size = len(body)
    return bytes([number << 3 | 2]) + (bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + body


@pytest.mark.parametrize(
    "body",
    [
        field(1, b"p") + b"\x98" + b"\x80" * 5 + b"\0\x01",
        b"\x0a\x81" + b"\x80" * 4 + b"\0p",
        field(1, b"p") + b"\x98\x80\x80\x80\x10\x01",
        field(1, b"p") + b"\x98\x80\x80\x80\0\x01",
        field(1, b"\xff") + field(1, b"p"),
        field(1, b"p") + field(7, b"\x0b" * 99 + b"\x0c" * 99),
    ],
    ids=[
        "a tag of seven bytes",
        "a length of six",
        "a tag of 33 bits",
        "a tag of five bytes",
        "a name that is no text, then one",
        "too deep",
    ],
)
def test_what_python_does_not_read_is_not_stored(body: bytes, tmp_path: Path) -> None:
    """What compiled code lets through goes into the store as it came: each row can be read, and the next start has it."""
    plant = plant_of(Mirror(configs.load(CONFIG)), tmp_path / "s")
    service = Subscribers(plant, Limits())
    for _ in range(2):  # settings that are new, and then known
        with contextlib.suppress(Problem):
            provision_bytes(service, [field(1, body)])
    plant.intent.close()
    stored = plant_of(plant.carrier, tmp_path / "s")
    read = [one.name for one in stored.intent.subscribers()]
    try:
        subscribers_pb2.ProvisionRequest.FromString(field(1, body))
    except DecodeError:
        assert read == []
    else:
        assert read == ["p"] and stored.get("p").node == 1
    stored.intent.close()


def test_what_a_start_finds_is_not_refused(tmp_path: Path) -> None:
    """A subscriber of as many bytes as one can have, one that is faster than the line is now, and one that cannot be read: the next start
    has what can be as it was acknowledged; the others drop all, are named, stay in the store, and can be replaced and deleted."""
    path, mirror = tmp_path / "s", Mirror(configs.load(CONFIG))

    def started(line_bps: int) -> Plant:
        plant = Plant(mirror, ask(mirror), Intent(path), line_bps)
        plant.restore()
        return plant

    plant = started(10**9)
    large = home("large")
    more = MAX_BYTES - large.ByteSize() - 4  # of a field that this version does not know: tag, length and this
    large.MergeFromString(b"\x9a\x06" + bytes([more & 127 | 128, more >> 7]) + b"x" * more)
    assert large.ByteSize() == MAX_BYTES
    fast = Subscriber(name="fast", node=1, queues=[common_pb2.QueueSettings(rate_bps=900_000_000)])
    plant.change([lambda: large, lambda: fast, lambda: home("other"), lambda: home("broken", index=9)])
    close = queues_pb2.GateRequest(subscribers=["large"])
    Gates(plant).Close(close, None)  # type: ignore[arg-type]
    with pytest.raises(Problem, match="is a message of 16,387 byte"):
        plant.change([lambda: Subscriber.FromString(large.SerializeToString() + b"\xa8\x06\0")])
    stored = plant.get("fast")
    plant.intent._db.execute("UPDATE subscriber SET intent = x'98' WHERE idx = 9")
    plant.intent.close()
    plant = started(500_000_000)
    fast_words, broken_words = plant.passed_over
    assert "subscriber 'fast' cannot be as it is intended (queues[0].rate_bps: must be at most" in fast_words
    assert "at place 9 of the store cannot be read" in broken_words and "drop all" in fast_words and "drop all" in broken_words
    assert sorted(plant.index_of) == ["fast", "large", "other"] and plant.get("fast") == stored and plant.get("large").gate_closed
    assert {mirror.queues[4 * place + n] for place in (stored.index, 9) for n in range(4)} == {(1, 0, 0, 0, 0)}
    assert differences(plant) == [] and not plant.stale
    mirror.refuses = 0  # a deletion that is taken back leaves it as it was
    with pytest.raises(Problem, match="refused"):
        plant.change([lambda: "fast"])
    assert plant.get("fast") == stored and differences(plant) == []
    plant.change([lambda: "fast", lambda: home("next", index=9), lambda: home("fast", node=1)])
    plant.intent.close()
    plant = started(500_000_000)
    assert plant.passed_over == [] and sorted(plant.index_of) == ["fast", "large", "next", "other"] and differences(plant) == []
    plant.intent.close()


def test_a_store_is_of_a_hierarchy(tmp_path: Path) -> None:
    """Of a device with another number of ports it is refused; one of the version before, which has not noted that, is not."""
    path, mirror = tmp_path / "s", Mirror(configs.load(CONFIG))
    plant = plant_of(mirror, path)
    (noted,) = plant.intent._db.execute("SELECT value FROM meta WHERE key = 'device'").fetchone()
    plant.intent._db.execute("UPDATE meta SET value = ? WHERE key = 'device'", (noted.rsplit(", ", 2)[0],))
    plant.intent.close()
    plant_of(mirror, path).intent.close()
    mirror.registers[registers.address("ports")] *= 2
    with pytest.raises(UserError, match="is the store of another device"):
        plant_of(mirror, path)


class Slow(Intent):
    """A store whose disk takes its time; `fails`: the next transaction cannot be written."""

    def __init__(self, path: Path | None, seconds: float) -> None:
        self.seconds, self.transactions, self.fails = 0.0, 0, False
        super().__init__(path)
        self.seconds = seconds

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        self.transactions += 1
        with super().transaction():
            yield
            time.sleep(self.seconds)
            if self.fails:
                self.fails = False
                raise sqlite3.OperationalError("disk full")


def at_once(count: int, do: Any) -> list[Any]:
    """Call `do` with 0 to `count` - 1 from as many threads; return what each has returned or raised."""
    found: list[Any] = [None] * count

    def call(number: int) -> None:
        try:
            found[number] = do(number)
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=call, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return found


def plant_with(intent: Intent) -> Plant:
    mirror = Mirror(configs.load(CONFIG))
    plant = Plant(mirror, ask(mirror), intent)
    plant.restore()
    return plant


@pytest.mark.parametrize("number", range(4))
def test_many_callers_at_once(number: int) -> None:
    """Fifteen callers, each with a subscriber of its own, before a device that refuses now and then and a disk that is full once: what was
    acknowledged is in store and device, what was not is in neither, and a transaction is shared by many."""
    rng, intent = random.Random(seed() + number), Slow(None, 0.05)
    plant = plant_with(intent)
    mirror: Any = plant.carrier
    known: list[Subscriber | None] = [None] * 15
    calls = failures = 0
    before = intent.transactions
    for turn in range(12):
        wanted = [None if old and rng.random() < 0.3 else drawn(rng, f"home-{n}") for n, old in enumerate(known)]
        mirror.refuses = rng.randrange(60) if rng.random() < 0.5 else None
        intent.fails = turn == 6

        def call(n: int, wanted: Any = wanted) -> Any:
            made = wanted[n]
            return plant.change([lambda: made if made is not None else f"home-{n}"])

        for n, answer in enumerate(at_once(15, call)):
            calls += 1
            if isinstance(answer, Exception):
                allowed = (Code.ABORTED, Code.UNAVAILABLE, Code.NOT_FOUND)
                assert isinstance(answer, Problem) and answer.code in allowed, answer
                failures += answer.code != Code.NOT_FOUND
            else:
                known[n] = wanted[n]
        mirror.refuses = None
        assert not plant.stale and differences(plant) == []
        assert set(plant.index_of) == {one.name for one in known if one}
        for stored in plant.intent.subscribers():
            one = known[int(stored.name.removeprefix("home-"))]
            assert one is not None
            one.index, one.version = stored.index, stored.version
            assert stored == one
            assert mirror.subscribers[stored.index][2] == one.node
    assert failures and intent.transactions - before < calls / 2


def test_two_of_one_name_at_once(tmp_path: Path) -> None:
    """Of ten that make the same subscriber one does; all others are told that it is there, once it is durable."""
    intent = Slow(tmp_path / "i.sqlite", 0.02)
    plant = plant_with(intent)
    rng = random.Random(seed())

    def create(number: int) -> Any:
        def make() -> Subscriber:
            if "same" in plant.index_of:
                raise Problem(Code.ALREADY_EXISTS, "there is one", "name")
            return drawn(rng, "same")

        return plant.change([make])

    answers = at_once(10, create)
    assert sum(not isinstance(answer, Exception) for answer in answers) == 1
    assert {answer.code for answer in answers if isinstance(answer, Problem)} == {Code.ALREADY_EXISTS}
    # Changes of one subscriber build upon each other, however they come together.
    versions = [done.subscribers[0].version for done in at_once(20, lambda n: plant.change([lambda: plant.get("same")]))]
    assert len(set(versions)) == 20 and plant.get("same").version == max(versions)

    # Who names no version replaces it whatever comes before, though it has to wait for that.
    def replace(number: int) -> Any:
        wanted = drawn(random.Random(number), "same")

        def make() -> Subscriber:
            check_version(wanted.version, plant.version_of[plant.index_of["same"]], "it")
            return wanted

        return plant.change([make])

    assert not [answer for answer in at_once(10, replace) if isinstance(answer, Exception)]


def test_one_request_id_at_once() -> None:
    """The same request from ten callers is one change, whose answer all get; where the device refuses it, it is done by the next one."""
    intent = Slow(None, 0.02)
    plant = plant_with(intent)
    mirror: Any = plant.carrier

    def call(ident: str) -> Any:
        done = plant.change([lambda: home("once")], once=Once(ident, b"digest", lambda done: done.subscribers[0]))
        return done.answer if done.answer is not None else done.subscribers[0].SerializeToString()

    assert len(set(at_once(10, lambda n: call("r1")))) == 1 and plant.version_of[plant.index_of["once"]] == 1
    mirror.refuses = 0
    answers = at_once(10, lambda n: call("r2"))
    problems = [answer for answer in answers if isinstance(answer, Exception)]
    assert len(problems) == 1 and isinstance(problems[0], Problem) and problems[0].code == Code.ABORTED, problems
    (answer,) = {answer for answer in answers if not isinstance(answer, Exception)}
    assert plant.get("once").SerializeToString() == answer and differences(plant) == []
    with pytest.raises(Problem, match="was used for another request"):
        plant.change([lambda: home("other")], once=Once("r1", b"another", lambda done: done.subscribers[0]))


def test_one_request_id_that_is_refused() -> None:
    """Ten of one id wait for the same transaction, and the device refuses the first: it alone is told so, the next one does it, and whoever
    is answered finds it done."""
    intent = Slow(None, 0.5)
    plant = plant_with(intent)
    mirror: Any = plant.carrier
    under_way = threading.Event()

    def before() -> Subscriber:
        mirror.refuses = 5  # after its subscriber and four queues: the first command of the next change
        under_way.set()
        return home("before")

    def call(number: int) -> Any:
        if number == 0:  # its transaction is under way when the others come
            plant.change([before])
            return b""
        assert under_way.wait(30)
        done = plant.change([lambda: home("once")], once=Once("r", b"digest", lambda done: done.subscribers[0]))
        return done.answer if done.answer is not None else done.subscribers[0].SerializeToString()

    _, *answers = at_once(11, call)
    problems = [answer for answer in answers if isinstance(answer, Exception)]
    assert len(problems) == 1 and isinstance(problems[0], Problem) and problems[0].code == Code.ABORTED, problems
    (answer,) = {answer for answer in answers if not isinstance(answer, Exception)}
    assert plant.get("once").SerializeToString() == answer and differences(plant) == []


def test_what_fails_beside_others_waits() -> None:
    """A subscriber is deleted, and moved by another caller; the device refuses the first. The other one is not told that there is none."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    mirror: Any = plant.carrier
    service = Subscribers(plant, Limits())
    move = subscribers_pb2.MoveSubscriberRequest(name="a", node=1)
    plant.change([lambda: home("a")])
    for whole in (True, False):
        gone = Request([lambda: "a"], True, Done())
        moved = Request([lambda: service._moved(move)], whole, Done())
        mirror.refuses = 0
        assert plant._do([gone, moved]) == 1 and isinstance(gone.problem, Problem) and gone.problem.code == Code.ABORTED
        assert plant._do([moved]) == 1 and not moved.problem and not moved.done.failures
        assert [one.node for one in moved.done.subscribers] == [1] and differences(plant) == []


def test_a_large_batch_is_one_change(tmp_path: Path) -> None:
    """Item by item, so large that it may go in parts: the device refuses near its end, and nothing is there; the server is killed near its
    end, and the same request does all of it."""
    path, mirror = tmp_path / "s", Mirror(configs.load(CONFIG))
    plant, items = plant_of(mirror, path), 16_500

    def batch(plant: Plant, at: int, then: Callable[[], None]) -> Any:
        def make(number: int) -> Subscriber:
            if number == at:
                then()
            if number < 12:
                return Subscribers(plant, Limits())._created(home(f"h{number}"))
            return Subscriber(name=f"h{number % 12}", node=number % 3)

        makers = [lambda number=number: make(number) for number in range(items)]
        return plant.change(makers, False, Once("r", b"digest", lambda done: common_pb2.Applied(subscribers=len(done.subscribers))))

    with pytest.raises(Problem, match="all was taken back"):
        batch(plant, items - 10, lambda: setattr(mirror, "refuses", 0))
    assert not plant.index_of and differences(plant) == []

    def killed() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch(plant, items - 10, killed)
    plant.intent.close()
    plant = plant_of(mirror, path)
    for _ in range(2):
        done = batch(plant, 0, lambda: None)
        assert not done.failures and len(plant.index_of) == 12
    assert common_pb2.Applied.FromString(done.answer).subscribers == items
    plant.intent.close()


class Odd(Mirror):
    """Which raises what no carrier should, so many times."""

    error: BaseException = MemoryError()
    times = 0

    def run(self, program: Any, step: int = 0) -> Any:
        if self.times:
            self.times -= 1
            raise self.error
        return super().run(program, step)


def test_whatever_goes_wrong_with_the_device() -> None:
    """An error that nobody expects is as one of the device: for once, and each change is done by itself; for longer, and none is intended
    any more; and where it ends the thread, nobody is told that it is done, and the device is set later."""
    mirror = Odd(configs.load(CONFIG))
    plant = plant_of(mirror)

    def three(names: str) -> list[Request]:
        return [Request([lambda name=name: home(name)], True, Done()) for name in names]

    mirror.times = 1
    group = three("abc")
    assert plant._do(group) == 3 and [one.problem for one in group] == [None] * 3 and not plant.stale and differences(plant) == []
    mirror.times = 7
    group = three("def")
    assert plant._do(group) == 3 and plant.stale and sorted(plant.index_of) == ["a", "b", "c"]
    assert {str(one.problem) for one in group} == {
        "MemoryError; nothing of it is intended any more, and the device is set when it answers again"
    }
    mirror.times = 0
    plant.restore()
    assert differences(plant) == []
    mirror.error, mirror.times = KeyboardInterrupt(), 1
    with pytest.raises(KeyboardInterrupt):
        plant._do(three("ghi"))
    assert plant.stale and plant.index_of["g"] not in mirror.subscribers
    plant.restore()
    assert not plant.stale and differences(plant) == [] and sorted(plant.index_of) == [*"abcghi"]


def test_a_group_whose_leader_ends() -> None:
    """Whatever ends the one that does it for others, they are told."""
    under_way, all_wait = threading.Event(), threading.Event()

    def do(group: list[Request]) -> int:
        under_way.set()
        assert all_wait.wait(30)
        if len(group) > 1:
            raise KeyboardInterrupt
        return 1

    waiting = Waiting(do)
    requests = [Request([], True, Done()) for _ in range(4)]

    def call(number: int) -> None:
        if number:
            under_way.wait(30)
        try:
            waiting.join(requests[number])
            requests[number].check()
        except KeyboardInterrupt:
            raise RuntimeError from None

    def let_go() -> None:
        while sum(map(len, waiting._requests.values())) < 3:
            time.sleep(0.001)
        all_wait.set()

    found = at_once(5, lambda number: call(number) if number < 4 else let_go())
    assert [type(one) for one in found] == [type(None), *[RuntimeError] * 3, type(None)]


@pytest.mark.parametrize("in_columns", [True, False])
def test_device_and_store_fail(in_columns: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the device refuses and the store cannot take back is intended, in memory as in the store; and the device is set to it."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    mirror: Any = plant.carrier
    service = Subscribers(plant, Limits())
    plant.change([lambda: home("old")])

    def full(indices: Any) -> None:
        raise sqlite3.OperationalError("disk full")

    mirror.refuses = 2
    with monkeypatch.context() as broken, pytest.raises(Problem, match="the store cannot take it back") as caught:
        broken.setattr(plant.intent, "delete", full)
        if in_columns:
            provision(service, [home("old", node=1), home("new")], False)
        else:
            plant.change([lambda: home("old", node=1), lambda: home("new")])
    assert caught.value.code == Code.UNAVAILABLE and plant.stale
    assert {one.name: one.index for one in plant.intent.subscribers()} == plant.index_of and set(plant.index_of) == {"old", "new"}
    plant.restore()
    assert not plant.stale and differences(plant) == [] and plant.get("old").node == 1
    plant.change([lambda: home("newer")])
    assert differences(plant) == [] and set(plant.index_of) == {"old", "new", "newer"}


def test_a_flooder_does_not_fill_the_group() -> None:
    """A client with a hundred changes waiting has eight more of them done before the only one of another client."""
    intent = Slow(None, 0.2)
    plant, order, arrived = plant_with(intent), list[str](), list[int]()

    def call(number: int) -> Any:
        client = "polite" if number == 99 else "flooder"
        if client == "polite":
            while len(order) < 16:  # the second transaction waits for its disk; all the others wait for the third
                time.sleep(0.002)
            time.sleep(0.05)
            arrived.append(len(order))
        with plant.noting(Entry(client, "a call", "", client), lambda: "OK"):

            def make() -> Subscriber:
                order.append(client)
                return home(f"home-{number % 15}")

            return plant.change([make])

    at_once(100, call)
    assert order.index("polite") - arrived[0] <= MOST_OF_ONE + 2, (order, arrived)


# ---- the log


def test_what_a_transaction_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are one statement at the end: what is asked for before it has them all the same, in whichever order statements of other
    kinds come, and of what was not written nothing stays, also not in memory."""
    rng, intent = random.Random(seed()), Intent(None)
    known: dict[int, bytes] = {}
    monkeypatch.setattr(store, "RECENT_BYTES", 900)
    for _ in range(300):
        wanted = dict(known)
        with contextlib.suppress(ZeroDivisionError), intent.transaction():
            for _ in range(rng.choice([0, 1, 1, 3, 200])):
                index, what = rng.randrange(40), rng.random()
                if what < 0.7:
                    wanted[index] = Subscriber(name=f"{index}-{rng.random()}", queues=[{}] * rng.randrange(9)).SerializeToString()
                    intent.put([index], [wanted[index]], [1])
                elif what < 0.75:
                    wanted.pop(index, None)
                    intent.delete([index])
                elif what < 0.8:
                    many = {at: bytes([0x0A, 1, rng.randrange(48, 58)]) for at in range(100, 300)}
                    wanted |= many
                    intent.put(list(many), list(many.values()), [1] * len(many))
                elif index in wanted:
                    assert intent.message(index) == wanted[index]
                intent.audit("who", "method", str(index), rng.choice(["OK", "ABORTED"]))
            if rng.random() < 0.3:
                raise ZeroDivisionError
            known = wanted
        assert intent._recent.items() <= known.items()
        assert {index: intent.message(index) for index in known} == known
        assert [one.SerializeToString() for one in intent.subscribers()] == [known[index] for index in sorted(known)]
    intent.close()


def test_what_is_replaced_need_not_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Messages that were written or read stay in memory, however often each is replaced, up to so many bytes of all."""
    messages = [Subscriber(name=f"home-{index}").SerializeToString() for index in range(500)]
    most = sum(map(len, messages))
    monkeypatch.setattr(store, "RECENT_BYTES", most)
    asked: list[str] = []

    def known(intent: Intent) -> bool:
        intent._db.set_trace_callback(asked.append)
        return [intent.message(index) for index in range(500)] == messages and not asked

    with contextlib.closing(Intent(tmp_path / "intent.sqlite")) as intent:
        for _ in range(10):
            with intent.transaction():
                intent.put(range(500), messages, [1] * 500)
        assert known(intent)
    with contextlib.closing(Intent(tmp_path / "intent.sqlite")) as intent:
        assert len(list(intent.subscribers())) == 500 and known(intent)
        for begin in range(0, 5_000, 500):
            with intent.transaction():
                intent.put(range(begin, begin + 500), messages, [1] * 500)
            assert sum(map(len, intent._recent.values())) <= most + store.MOST_TOGETHER * max(map(len, messages))


def test_the_log_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many of the last changes, so many of what was refused, which does not push out what was done; of the old ones only the last,
    whatever the clock says; and a line has a length."""
    monkeypatch.setattr(store, "KEPT_LINES", {"audit": 500, "refused": 100})
    monkeypatch.setattr(store, "LEAST_LINES", 50)
    true, shift = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: true() + shift[0])
    intent = Intent(None)
    for number in range(1_000):
        intent.audit("alice", "a", f"change {number}", "OK")
    for number in range(5_000):
        intent.audit("m" * 1_000, "a", f"{number} " + "é" * 1_000, "ABORTED")
    lines = intent.audited(10_000)
    done = [what for _, _, _, what, status in lines if status == "OK"]
    refused = [line for line in lines if line[4] == "ABORTED"]
    assert done[0] == "change 999" and 500 <= len(done) <= 500 + store.LOOK_LINES and 100 <= len(refused) <= 100 + store.LOOK_LINES
    assert refused[0][3].startswith("4999 ") and len(refused[0][3].encode()) <= 400 and len(refused[0][1]) == 128
    assert lines[0][3].startswith("4999 ")
    shift[0] = 2 * store.LOG_DAYS * store.DAY_SECONDS
    for number in range(store.LOOK_LINES):
        intent.audit("alice", "a", f"late {number}", "OK")
    done = [what for _, _, _, what, status in intent.audited(10_000) if status == "OK"]
    assert all(what.startswith("late") for what in done) and len(done) == store.LOOK_LINES
    assert 0 < len([1 for *_, status in intent.audited(10_000) if status == "ABORTED"]) <= 50


def test_the_log_holds_no_calls() -> None:
    """A line that waits to be logged keeps nothing of the call that it is of, nor of one that was done."""

    class Call:
        def is_active(self) -> bool:
            return True

    plant, held = plant_of(Mirror(configs.load(CONFIG))), []
    for node in (0, 99):  # the line of the last one is not written yet
        call = Call()
        held.append(weakref.ref(call))
        with contextlib.suppress(Problem), plant.noting(Entry("alice", "a call", "x", "alice", call.is_active), lambda: "NOT"):
            plant.change([lambda node=node: Subscriber(name="x", node=node)])
        del call
    assert [one() for one in held] == [None, None] and [line[4] for line in plant.audited(2)] == ["NOT", "OK"]


def test_a_store_of_the_version_before(tmp_path: Path) -> None:
    """Subscribers, places that are empty, answers and the log come over."""
    path = tmp_path / "old.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as old:
        for text in store._MIGRATIONS[:2]:
            old.executescript(text)
        old.execute("PRAGMA user_version=2")
        message = home("kept", index=3, version=7)
        old.execute("INSERT INTO subscriber VALUES (3, 'kept', 0, 7, ?)", (message.SerializeToString(),))
        old.execute("INSERT INTO retired VALUES (4)")
        old.execute("INSERT INTO meta VALUES ('revision', 7)")
        old.execute("INSERT INTO audit (at, who, method, what, status) VALUES ('2024-01-01T00:00:00Z', 'alice', 'a', 'b', 'OK')")
        old.commit()
    plant = plant_with(Intent(path))
    assert plant.get("kept") == message and plant.page("", 10, None, "") == [message] and plant.intent.retired() == [4]
    assert plant.revision == 7 and plant.audited(5)[0][1] == "alice"
    plant.change([lambda: home("new")])
    assert plant.get("new").version == 8 and len(plant.audited(5)) == 1
    plant.intent.close()


def test_pages_of_names() -> None:
    plant = plant_of(Mirror(configs.load(CONFIG)))
    names = [f"home-{n}" for n in range(12)]
    plant.change([lambda name=name: home(name, node=int(name[5:]) % 2) for name in names])
    ordered = sorted(names)
    assert [one.name for one in plant.page("", 5, None, "")] == ordered[:5]
    assert [one.name for one in plant.page(ordered[4], 100, None, "")] == ordered[5:]
    assert [one.name for one in plant.page("", 100, 1, "-1")] == [name for name in ordered if int(name[5:]) % 2 and "-1" in name]
    plant.change([lambda: "home-3", lambda: home("aaa")])
    assert [one.name for one in itertools.islice(plant.page("", 100, None, ""), 3)] == ["aaa", "home-0", "home-1"]
    assert "home-3" not in {one.name for one in plant.page("", 100, None, "")}


def test_provision_answers_are_added_up() -> None:
    """Chunks of a stream that go in columns and one that does not: failures are numbered through all."""
    plant = plant_of(Mirror(configs.load("tree_2048")))
    service = Subscribers(plant, Limits())
    sent = [Subscriber(name=f"h{n}", node=99 if n == 300 else 0) for n in range(400)]
    answer = provision(service, sent, False)
    assert [failure.item for failure in answer.failures] == [300] and answer.failed == 1
    assert answer.applied.subscribers == 399 and isinstance(answer, subscribers_pb2.ProvisionResponse)


def test_versions_go_on_after_a_restart(tmp_path: Path) -> None:
    """A version is given once, whatever had the last one before a restart, and whether or not that is still there."""
    path = tmp_path / "s.sqlite"
    steps: tuple[Callable[[Plant], Any], ...] = (
        lambda plant: plant.change([lambda: home("there")]),
        lambda plant: plant.change([lambda: home("gone")]),
        lambda plant: plant.change([lambda: "gone"]),
        lambda plant: plant.change([lambda: home("short"), lambda: "short"]),
        lambda plant: plant.set_parent("node", hierarchy_pb2.Node(index=1)),
        lambda plant: plant.set_parent("port", hierarchy_pb2.Port(index=1)),
    )
    plant = plant_with(Intent(path))
    for step in steps:
        step(plant)
        known = plant.revision
        plant.intent.close()
        plant = plant_with(Intent(path))
        assert plant.revision == known
    plant.intent.close()


# ---- threads


def switches(thread: int) -> int:
    """Return how often a thread has gone to sleep."""
    lines = Path(f"/proc/self/task/{thread}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("voluntary_ctxt_switches")))


def test_a_call_wakes_one_thread() -> None:
    """Calls at once have a thread each; calls one after the other have the same one, and the others sleep on; what fails says so."""
    pool, meet = Workers("call"), threading.Barrier(5)

    def all_idle() -> bool:
        end = time.monotonic() + 60
        while len(pool._idle) < 5 and time.monotonic() < end:
            time.sleep(0.001)
        return len(pool._idle) == 5

    try:
        together = [pool.submit(lambda: (meet.wait(60), threading.get_native_id())[1]) for _ in range(5)]
        threads = {one.result(60) for one in together}
        assert len(threads) == 5
        assert all_idle()
        before = {thread: switches(thread) for thread in threads}
        used = {pool.submit(threading.get_native_id).result(60) for _ in range(50) if all_idle()}
        assert len(used) == 1
        # One that said that it is idle may have been on its way to sleep; those that are woken up by each call go to sleep 50 times.
        assert all(switches(thread) - before[thread] < 10 for thread in threads - used)
        with pytest.raises(ZeroDivisionError):
            pool.submit(lambda: 1 // 0).result(60)
    finally:
        pool.shutdown()
    end = time.monotonic() + 60
    while any(thread.native_id in threads for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.001)
