# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A device that finds queues in headers, held open from Python: subscribers come, move and go between frames, judged by a dictionary."""

import random
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

import penstock
from penstock.designs.access_edge import find, matches, subscribers
from penstock.designs.access_edge.scenario import HeaderSettings
from penstock.errors import UserError
from penstock.testing.testkit import seed

SMALL = {"config": "headers_16", "overrides": {"headers.profiles": 7, "headers.entries": 256}}
HIERARCHY = {"config": "tree_64", "overrides": {"queue_id": "headers", "headers": {"profiles": 8, "entries": 256}}}
BY_CLASS = {"class_of": "dscp", "classes": ["32-63", "16-31", "0-15"]}
GIVEN = ("outer_tag", "mpls", "pppoe", "two_tags", "ipv6", "ipv4")
VALUES = (46, 20, 3)  # a DSCP of each class
DROPPED = subscribers.NO_QUEUE


def drawn(rng: random.Random) -> dict[str, Any]:
    """A match of some kind, from so few that they meet again."""
    mac = f"02:5e:00:00:00:{rng.randrange(4):02x}"
    return rng.choice((
        {"vlan": [rng.randrange(1, 4), rng.randrange(1, 5)]},
        {"vlan": rng.randrange(1, 9)},
        {"pppoe": rng.randrange(1, 4), "mac": mac},
        {"mpls": rng.randrange(16, 24)},
        {"ipv4": f"10.0.0.{rng.randrange(8)}"},
        {"ipv6": f"2001:db8:0:{rng.randrange(8)}::/64"},
    ))  # fmt: skip


def frame(match: matches.Match, ident: int, value: int, settings: HeaderSettings) -> bytes:
    found = subscribers.Found(ident, None, match, 0, 0)
    return subscribers.frame_head(found, value, 100, settings).ljust(100, b"\xa5")


def expected(match: matches.Match, number: int, there: dict[matches.Match, tuple[int, int]], kinds: list[str], miss: int) -> int:
    """The queue of a frame with such headers: the first kind that is looked for and that its headers have decides alone."""
    has = {match.kind: match}
    if match.kind == "two_tags":
        has["outer_tag"] = matches.Match("outer_tag", match.values[:1])
    chosen = next((has[kind] for kind in kinds if kind in has), None)
    if chosen is None or chosen not in there:
        return miss
    base, last = there[chosen]
    return base + min(number, last)


@pytest.mark.parametrize(
    ("device", "unknown"), [(SMALL, "drop"), (SMALL, 15), (HIERARCHY, 63)], ids=["small", "small with a default", "with a hierarchy"]
)
@pytest.mark.parametrize("kinds", [(), GIVEN], ids=["kinds of subscribers", "given kinds"])
def test_random_changes(device: dict[str, Any], unknown: str | int, kinds: tuple[str, ...]) -> None:
    random_changes(device, unknown, kinds, "model", 200)


@pytest.mark.slow
def test_random_changes_of_the_hardware() -> None:
    random_changes(SMALL, 15, (), "rtl", 150)


def random_changes(device: dict[str, Any], unknown: str | int, kinds: tuple[str, ...], engine: Any, rounds: int) -> None:
    """Frames of each kind have an IPv4 address inside, which is looked for where no subscriber has that kind: it is one that nobody has."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    headers = BY_CLASS | {"unknown": unknown, "kinds": list(kinds)}
    settings = HeaderSettings.model_validate(headers)
    miss = DROPPED if unknown == "drop" else int(unknown)
    each = 4 if device is HIERARCHY else None
    of: dict[int, tuple[list[dict[str, Any]], int, int]] = {}  # by subscriber: matches, first queue, last class
    owner: dict[matches.Match, int] = {}
    refused = sent = found = 0
    wanted_of: dict[int, int] = {}  # by frame: its queue
    with penstock.open(device, engine=engine, seed=rng.getrandbits(32), headers=headers) as edge:
        for _ in range(rounds):
            ident = rng.randrange(12)
            if ident in of and rng.random() < 0.3:
                edge.subscriber(ident).remove()
                owner = {one: whose for one, whose in owner.items() if whose != ident}
                del of[ident]
            else:
                given = [drawn(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
                wanted = [matches.match_of(one, ()) for one in given]
                low = ident * each if each else rng.randrange(14)
                last = each - 1 if each else rng.randrange(min(3, 15 - low))
                queues = {} if each else {"queues": f"{low}-{low + last}"}
                others = {owner[one] for one in wanted if owner.get(one, ident) != ident}
                said: Any = given[0] if len(given) == 1 else given
                if others or len(set(wanted)) < len(wanted):
                    refused += 1
                    words = "twice" if not others else rf"subscriber {ident} .* which subscriber \d+ has already|twice"
                    with pytest.raises(UserError, match=words):
                        edge.subscriber(ident).set(match=said, **queues)
                else:
                    edge.subscriber(ident).set(match=said, **queues)
                    owner = {one: whose for one, whose in owner.items() if whose != ident} | dict.fromkeys(wanted, ident)
                    of[ident] = (given, low, last)
            edge.advance("20 us")  # frames before are through
            there = {one: of[whose][1:] for one, whose in owner.items()}
            used = {one.kind for one in owner}
            order = list(kinds) or [kind for kind in matches.KINDS if kind in used]
            assert edge.setup.kinds == order
            for _ in range(4):
                known = list(owner)
                match = rng.choice(known) if known and rng.random() < 0.7 else matches.match_of(drawn(rng), ())
                number = rng.randrange(3)
                queue = expected(match, number, there, order, miss)
                # The device must find it: a frame that leaves by another queue is a fault.
                at = edge.send(frame(match, 200, VALUES[number], settings), queue=queue)
                wanted_of[at] = queue
                sent, found = sent + 1, found + (queue != miss)
            edge.advance("20 us")
        assert edge.read("find_keys") == len(owner)
        for given, low, last in of.values():
            for one in given:
                assert edge.found_by(one) == (low, last)
        for one in (drawn(rng) for _ in range(20)):
            assert (edge.found_by(one) is not None) == (matches.match_of(one, ()) in owner)
        edge.drain()
        there_now = {one.number: one.queue for one in edge.received()} | {one.number: DROPPED for one in edge.dropped()}
        assert there_now == wanted_of
        counts = edge.headers()
        if kinds:  # else profiles come and go, and their counters are of a place
            assert sum(row["hits"] for row in counts["profiles"]) == found
            assert sum(row["misses"] for row in counts["profiles"]) + counts["without_profile"] == sent - found
        assert counts["reading_ended"]["done"] + counts["reading_ended"]["unknown"] == sent
    assert refused > 10 and found > rounds / 2 and sent - found > rounds / 4, (refused, found, sent)


@pytest.mark.parametrize("engine", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_prefixes_come_and_go(engine: Any) -> None:
    """Of a device with a tree of prefixes: Python's ipaddress says which of them is the longest of an address."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    of: dict[int, list[IPv4Network]] = {}
    sent: dict[int, int] = {}
    hits = refused = 0
    with penstock.open("routed_16", engine=engine, headers={"unknown": 15}) as edge:
        for _ in range(60):
            ident = rng.randrange(8)
            if ident in of and rng.random() < 0.3:
                edge.subscriber(ident).remove()
                del of[ident]
            else:
                lengths = rng.sample((8, 22, 24, 30, 32), rng.randint(1, 3))
                given = [IPv4Network((0x0A000000 | rng.randrange(4) << 8, length), strict=False) for length in lengths]
                taken = {one for other, some in of.items() if other != ident for one in some}
                call = edge.subscriber(ident).set
                said = [{"ipv4": str(one)} for one in given]
                if taken.isdisjoint(given):
                    call(match=said, queues=ident)
                    of[ident] = given
                else:
                    refused += 1
                    with pytest.raises(UserError, match="has already"):
                        call(match=said, queues=ident)
            edge.advance("20 us")
            assert edge.setup.kinds == (["prefix"] if of else [])
            for _ in range(4):
                address = IPv4Address(0x0A000000 | rng.getrandbits(11))
                having = [(one.prefixlen, ident) for ident, some in of.items() for one in some if address in one]
                queue = max(having)[1] if having else 15
                head = bytes.fromhex("08004500002800000000401100000a000001") + address.packed
                sent[edge.send((bytes(12) + head).ljust(80, b"\0"), queue=queue)] = queue
                hits += bool(having)
            edge.advance("20 us")
        edge.drain()
        assert {one.number: one.queue for one in edge.received()} == sent
    assert hits > 40 and refused > 3, (hits, refused)


def test_the_judge_sees_a_wrong_queue() -> None:
    with pytest.raises(penstock.Fault), penstock.open(SMALL) as edge:
        edge.subscriber(1).set(match={"vlan": 5}, queues=3)
        edge.send(bytes(12) + bytes.fromhex("810000050800") + bytes(60), queue=4)
        edge.drain()


def test_no_place_for_a_key() -> None:
    """A small table may be crowded before it is full: then the sentence says so, and the device is as before."""
    with penstock.open({"config": "headers_16", "overrides": {"headers.entries": 16}}) as edge:
        edge.advance("1 us")
        refused = 0
        for number in range(40):
            before = edge.read("find_keys")
            try:
                edge.subscriber(number).set(match={"vlan": [1, number]}, queues=number % 16)
            except UserError as error:
                refused += 1
                assert "no place" in str(error) or "all are taken" in str(error)
                assert edge.read("find_keys") == before and not edge.setup.matches(number)
        assert refused > 20
        edge.subscriber(0).set(match={"vlan": [2, 0]})  # one that goes makes room
        edge.send(bytes(12) + bytes.fromhex("88a8000281000000") + bytes(60), queue=0)
        edge.drain()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"match": {"vlan": 5000}, "queues": 1}, r"subscriber\(9\).match.vlan: must be one VLAN or two"),
    ({"match": {"vlan": "1-4"}, "queues": 1}, r"subscriber\(9\).match: has a `vlan` of 4 values for 1 subscriber"),
    ({"match": 3, "queues": 1}, r"subscriber\(9\).match: must be keys with values"),
    ({"match": [], "queues": 1}, r"subscriber\(9\).match: is empty; remove\(\) takes"),
    ({"match": {"pppoe": 3}, "queues": 1}, r"has a `pppoe` without `mac`"),
    ({"match": {"vlan": 6}}, r"subscriber\(9\): needs `queues`, as the device has no hierarchy"),
    ({"queues": 3}, r"subscriber\(9\): needs a `match`"),
    ({"rate": "1 Mbit/s"}, r"subscriber\(9\): has `match` and `queues`, as the device has no hierarchy, and not rate"),
    ({"match": {"vlan": 6}, "queues": "15-16"}, r"subscriber\(9\).queues: must be 1 to 16 queues in a row of 0 to 15, not 15 to 16"),
    ({"match": {"vlan": 5}, "queues": 1}, r"gives subscriber 9 vlan 5, which subscriber 1 \(mill\) has already"),
    ({"match": {"mac": "02:00:00:00:00:01"}, "queues": 1}, r"subscribers have matches by ipv4 and by mac"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "words"), WRONG)
def test_errors(settings: dict[str, Any], words: str) -> None:
    there = [{"id": 1, "name": "mill", "match": {"vlan": 5}, "queues": 0}, {"id": 2, "match": {"ipv4": "10.0.0.1"}, "queues": 1}]
    with penstock.open(SMALL, subscribers=there) as edge:
        with pytest.raises(UserError, match=words):
            edge.subscriber(9).set(**settings)
        edge.send(bytes(12) + bytes.fromhex("810000050800") + bytes(60), queue=0)
        edge.drain()


def test_errors_of_other_devices() -> None:
    with penstock.open("tiny_16") as edge:
        for call, words in (
            (lambda: edge.send(bytes(60)), "a frame needs its queue: configuration tiny_16"),
            (edge.headers, "does not find queues in headers"),
            (lambda: edge.queue(1).remove(), r"queue\(1\) cannot be removed"),
        ):
            with pytest.raises(UserError, match=words):
                call()
    with penstock.open(SMALL) as edge, pytest.raises(UserError, match=r"subscriber\(3\): has no match"):
        edge.subscriber(3).remove()
    assert find.counter("ending", 3) == 0x23
