# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Subscribers of the control plane that are found in headers: they come, move and go, judged by a dictionary; whatever fails in between."""

import random
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.designs import configs
from penstock.designs.access_edge import find, matches, registers, subscribers
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.keys import plain
from penstock.designs.access_edge.control.plant import Plant, Subscriber
from penstock.designs.access_edge.control.problems import Problem
from penstock.designs.access_edge.control.search import searched
from penstock.designs.access_edge.control.waiting import Done, Request
from penstock.designs.access_edge.scenario import HeaderSettings
from penstock.designs.access_edge.testing.control import CONFIG, HeaderMirror, Held, Mirror, RoutedMirror, plant_of
from penstock.driver.carrier import CarrierError
from penstock.testing.testkit import seed
from penstock.v1 import common_pb2, headers_pb2
from penstock.v1 import subscribers_pb2 as pb

HIERARCHY = {"config": CONFIG, "overrides": {"queue_id": "headers", "headers": {"profiles": 8, "entries": 256}}}


def drawn_match(rng: random.Random) -> pb.Match:
    """A match of some kind, from so few that they meet again."""
    mac = f"02:5e:00:00:00:{rng.randrange(4):02x}"
    return rng.choice((
        pb.Match(vlan=[rng.randrange(1, 4), rng.randrange(1, 5)]),
        pb.Match(vlan=[rng.randrange(1, 9)]),
        pb.Match(pppoe=rng.randrange(1, 4), mac=mac),
        pb.Match(mpls=rng.randrange(16, 24)),
        pb.Match(ipv4=f"10.0.0.{rng.randrange(8)}"),
        pb.Match(ipv6=f"2001:db8:0:{rng.randrange(8)}::/64"),
    ))  # fmt: skip


def drawn(rng: random.Random, name: str) -> Subscriber:
    """A subscriber with matches, or without."""
    queues = [common_pb2.QueueSettings(rate_bps=50_000_000, traffic_class=n) for n in range(rng.randint(0, 4))]
    made = Subscriber(name=name, node=rng.randrange(4), queues=queues, bypass=rng.random() < 0.2)
    made.matches.extend(drawn_match(rng) for _ in range(rng.choice((0, 1, 1, 2, 3))))
    return made


def keys_of(one: Subscriber) -> list[int]:
    return [matches.key_of(matches.match_of(plain(match), ())) for match in one.matches]


def values(there: dict[str, Subscriber], places: dict[str, int]) -> dict[int, int]:
    """The keys that the device is to have, and their values."""
    return {key: max(len(one.queues) - 1, 0) << 28 | 4 * places[name] for name, one in there.items() for key in keys_of(one)}


@pytest.mark.parametrize("number", range(6))
def test_random_changes_and_crashes(number: int, tmp_path: Path) -> None:
    """Batches of changes, of which some are wrong, some fail at a random write, and some meet a device that refuses; the server is begun
    anew now and then, the device is reset now and then. The device has the keys of what was acknowledged, and no other ones."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed() + number)
    mirror, store = HeaderMirror(configs.load(CONFIG)), tmp_path / "intent.sqlite"
    plant = plant_of(mirror, store)
    wanted: dict[str, Subscriber] = {}
    names = [f"home-{n}" for n in range(12)]
    conflicts = failed = 0
    for _ in range(80):
        makers: list[Any] = []
        after = dict(wanted)
        wrong = ""
        for name in rng.sample(names, rng.randint(1, 4)):
            if name in after and rng.random() < 0.3:
                makers.append(lambda name=name: name)
                del after[name]
                continue
            made = drawn(rng, name)
            makers.append(lambda made=made: made)
            keys = keys_of(made)
            owners = [other for other, one in after.items() if other != name and not set(keys).isdisjoint(keys_of(one))]
            if not wrong and len(set(keys)) < len(keys):
                wrong = "stands there twice"
            elif not wrong and owners:
                wrong = f"subscriber '{name}' cannot have .*, which subscriber '({'|'.join(owners)})' has already"
            after[name] = made
        mirror.fails_after = rng.randrange(60) if rng.random() < 0.25 else None
        mirror.refuses = rng.randrange(15) if mirror.fails_after is None and rng.random() < 0.2 else None
        mirror.crowded = {rng.choice([*keys_of(one), 0]) for one in after.values()} - set(mirror.keys) if rng.random() < 0.1 else set()
        hindered = mirror.fails_after is not None or mirror.refuses is not None or bool(mirror.crowded)
        if wrong:
            with pytest.raises(Problem, match=wrong):
                plant.change(makers)
            conflicts += 1
        else:
            try:
                plant.change(makers)
                wanted = after
            except Problem as problem:
                assert hindered, problem
                failed += 1
        mirror.fails_after = mirror.refuses = None
        mirror.crowded = set()
        if rng.random() < 0.1:
            mirror.reset()
            plant.doubt()
        if rng.random() < 0.3:  # as a kill and a new start
            plant.intent.close()
            plant = plant_of(mirror, store)
        elif plant.stale:
            plant.restore()
        stored = {message.name: message for message in plant.intent.subscribers()}
        assert stored.keys() == wanted.keys() == plant.index_of.keys()
        assert mirror.keys == values(stored, plant.index_of)
        assert not plant.keys._dirty  # what was refused leaves nothing behind
        used = {key >> 76 for key in mirror.keys}
        shown = [mirror.profiles.get(index, 0) for index in range(8)]
        assert [word >> 3 & 15 for word in shown if word >> 7 & 15] == sorted(used)
        assert differences(plant) == []
    assert conflicts > 10 and failed > 5, (conflicts, failed)
    plant.intent.close()


def routed_networks(rng: random.Random) -> list[str]:
    """Prefixes and addresses, some inside of others, from so few that they meet again."""
    found = [str(IPv4Network((0x0A000000 | rng.randrange(4) << 8, length), strict=False)) for length in (8, 22, 24, 30, 32)]
    return [*found, str(IPv6Network((0x20010DB8 << 96 | rng.randrange(4) << 64, rng.choice((32, 62, 64))), strict=False))]


@pytest.mark.parametrize("number", range(4))
def test_prefixes_come_and_go(number: int, tmp_path: Path) -> None:
    """Of a device with a tree of prefixes, whatever fails in between: Python's ipaddress says which prefix is the longest."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed() + number)
    mirror, store = RoutedMirror(configs.load(CONFIG)), tmp_path / "intent.sqlite"
    plant = plant_of(mirror, store)
    wanted: dict[str, list[str]] = {}
    failed = refused = 0
    for _ in range(60):
        name = f"home-{rng.randrange(8)}"
        after = dict(wanted)
        if name in wanted and rng.random() < 0.3:
            change: Any = name
            del after[name]
        else:
            given = rng.sample(routed_networks(rng), rng.randint(1, 3))
            matches_of = [pb.Match(**{"ipv6" if ":" in one else "ipv4": one}) for one in given]
            change = Subscriber(name=name, matches=[*matches_of, pb.Match(vlan=[1 + int(name[-1])])], queues=[{}])
            after[name] = given
        taken = {one for other, some in after.items() if other != name for one in some}
        mirror.fails_after = rng.randrange(200) if rng.random() < 0.3 else None
        try:
            plant.change([lambda change=change: change])
            assert taken.isdisjoint(after.get(name, ())) and len(set(after.get(name, ()))) == len(after.get(name, ()))
            wanted = after
        except Problem as problem:
            refused += "has already" in problem.message or "twice" in problem.message
            failed += mirror.fails_after is not None
            assert mirror.fails_after is not None or "has already" in problem.message or "twice" in problem.message, problem
        mirror.fails_after = None
        if rng.random() < 0.1:
            mirror.reset()
            plant.doubt()
        if rng.random() < 0.3:  # as a kill and a new start
            plant.intent.close()
            plant = plant_of(mirror, store)
        elif plant.stale:
            plant.restore()
        assert plant.index_of.keys() == wanted.keys() and not plant.keys._dirty and differences(plant) == []
        assert len(mirror.keys) == len(wanted)  # the VLANs
        looked_for = [word >> 7 & 15 for word in mirror.profiles.values()]
        assert (find.KINDS["routed_destination"] in looked_for) == bool(wanted)
        there = {ip_network(one): 4 * plant.index_of[of] for of, some in wanted.items() for one in some}
        for _ in range(30):
            address = rng.choice((IPv4Address(0x0A000000 | rng.getrandbits(11)), IPv6Address(0x20010DB8 << 96 | rng.getrandbits(3) << 64)))
            having = [one for one in there if one.version == address.version and address in one]
            value = mirror.find(find.prefix(ip_network(address))[0])
            assert value == (there[max(having, key=lambda one: one.prefixlen)] if having else None), address
    assert failed > 3 and refused > 3, (failed, refused)
    plant.intent.close()


def test_searching_prefixes() -> None:
    """An address finds whose prefix has it, a network whose prefix lies in it or around it."""
    for text, given, wanted in (
        ("10.1.2.3", {"ipv4": "10.1.0.0/22"}, True),
        ("10.1.4.0", {"ipv4": "10.1.0.0/22"}, False),
        ("10.0.0.0/8", {"ipv4": "10.1.0.0/22"}, True),
        ("2001:db8::1", {"ipv6": "2001:db8::/48"}, True),
        ("2001:db8:1::1", {"ipv6": "2001:db8::/48"}, False),
        ("10.1.2.3", {"ipv6": "2001:db8::/48"}, False),
    ):
        test = searched(text)
        assert test and test(matches.key_of(matches.read_match(given, prefixes=True))) == wanted, (text, given)


def test_room_for_prefixes() -> None:
    plant = plant_of(RoutedMirror(configs.load(CONFIG), levels=2))
    plant.change([lambda: Subscriber(name="a", matches=[pb.Match(ipv4=f"10.0.{n}.0/24") for n in range(7)])])
    with pytest.raises(Problem, match="the device has room for 7 prefixes, and all are taken"):
        plant.change([lambda: Subscriber(name="b", matches=[pb.Match(ipv4="10.1.0.1")])])
    plant.change([lambda: Subscriber(name="b", matches=[pb.Match(vlan=[5])])])
    with pytest.raises(Problem, match=r"cannot have ipv4 10.0.3.0/24, which subscriber 'a' has already"):
        plant.change([lambda: Subscriber(name="b", matches=[pb.Match(ipv4="10.0.3.0/24")])])


def test_a_kill_between_store_and_device(tmp_path: Path) -> None:
    """The store says that a key is gone, the device still has it: the next start takes it away, and the store forgets it then."""
    mirror, store = HeaderMirror(configs.load(CONFIG)), tmp_path / "intent.sqlite"
    plant = plant_of(mirror, store)
    plant.change([lambda: Subscriber(name="a", matches=[pb.Match(vlan=[5])])])
    plant.write = lambda *of: (_ for _ in ()).throw(KeyboardInterrupt)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        plant.change([lambda: "a"])
    assert len(mirror.keys) == 1
    plant.intent.close()
    plant = plant_of(mirror, store)
    assert mirror.keys == {} and plant.intent.gone_keys() != []
    plant.change([lambda: Subscriber(name="b")])
    assert plant.intent.gone_keys() == []
    plant.intent.close()


class Edge:
    """A control plane in front of a model, and frames that the test sends through it."""

    def __init__(self, device: Any, store: Path | None = None, headers: headers_pb2.HeaderSettings | None = None) -> None:
        self.device, self.carrier, self._store, self._headers = device, Held(device), store, headers
        self.begin()

    def begin(self) -> None:
        self.plant = Plant(self.carrier, ask(self.carrier), Intent(self._store), None, self._headers)
        self.plant.restore()

    def again(self) -> None:
        self.plant.intent.close()
        self.begin()


@pytest.mark.parametrize("unknown", [None, 63])
def test_frames_go_by_what_is_set(unknown: int | None, tmp_path: Path) -> None:
    """Each frame has the queue that a dictionary of subscribers says, through adds, moves of keys, removals and restarts."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    settings = HeaderSettings.model_validate({"class_of": "dscp", "classes": ["48-63", "32-47", "16-31", "0-15"]})
    given = headers_pb2.HeaderSettings(
        class_of="dscp", classes=["48-63", "32-47", "16-31", "0-15"], unknown_queue=unknown,
        kinds=["mpls", "pppoe", "two_tags", "outer_tag", "ipv4", "ipv6"],
    )  # fmt: skip
    expected: dict[int, int] = {}
    with penstock.open(HIERARCHY, seed=rng.getrandbits(30)) as device:
        edge = Edge(device, tmp_path / "intent.sqlite")
        edge.plant.set_headers(given)
        there: dict[str, Subscriber] = {}
        hits = 0
        for _ in range(120):
            name = f"home-{rng.randrange(12)}"
            if name in there and rng.random() < 0.3:
                edge.plant.change([lambda name=name: name])
                del there[name]
            else:
                made = drawn(rng, name)
                try:
                    edge.plant.change([lambda made=made: made])
                    there[name] = made
                except Problem:
                    pass
            if rng.random() < 0.1:
                edge.again()
            device.advance("50 us")
            owners = {key: name for name, one in there.items() for key in keys_of(one)}
            for _ in range(4):
                of = rng.choice([*there.values(), Subscriber(matches=[drawn_match(rng)])])
                if not of.matches:
                    continue
                match = matches.match_of(plain(rng.choice(of.matches)), ())
                number = rng.randrange(4)
                found = subscribers.Found(200, None, match, 0, 0)
                frame = subscribers.frame_head(found, (48, 32, 16, 0)[number], 120, settings).ljust(120, b"\1")
                owner = owners.get(matches.key_of(match))
                missed = subscribers.NO_QUEUE if unknown is None else unknown
                queue = missed
                if owner is not None:
                    named = len(there[owner].queues)
                    queue = 4 * edge.plant.index_of[owner] + min(number, max(named - 1, 0))
                    hits += named > 0
                expected[device.send(frame)] = queue
            device.advance("100 us")
        device.drain("10 s")
        left = {frame.number: frame.queue for frame in device.received()}
        dropped = {drop.number: (drop.queue, drop.reason) for drop in device.dropped()}
        for number, queue in expected.items():
            if number in left:
                assert left[number] == queue
            else:
                of, reason = dropped[number]
                assert of == queue and (reason == "no_subscriber") == (queue == subscribers.NO_QUEUE), (number, reason)
        assert len(left) >= hits > 50
        edge.plant.intent.close()


def test_bypass() -> None:
    """What holds a subscriber back is kept, and does not hold."""
    mirror = HeaderMirror(configs.load(CONFIG))
    plant = plant_of(mirror)
    slow = Subscriber(name="a", rate_bps=1_000_000, burst_bytes=2000, weight=3)
    slow.queues.add(rate_bps=1_000_000, limit_packets=3, traffic_class=2, weight=4)

    def with_bypass(bypass: bool) -> Subscriber:
        made = Subscriber()
        made.CopyFrom(slow)
        made.bypass = bypass
        return made

    plant.change([lambda: with_bypass(False)])
    before = mirror.queues[0], mirror.subscribers[0]
    plant.change([lambda: with_bypass(True)])
    free, own = mirror.queues[0], mirror.subscribers[0]
    unshaped = registers.rate_code(None, mirror.config.clock_hz)[0]
    assert free == (unshaped, 0, registers.MAX_LIMIT_PACKETS, registers.MAX_LIMIT_BYTES, 2 | 3 << 8)
    assert own[0] == unshaped and own[3] == before[1][3]
    assert plant.get("a").rate_bps == 1_000_000 and plant.get("a").queues[0].limit_packets == 3
    assert differences(plant) == []
    plant.change([lambda: with_bypass(False)])
    assert (mirror.queues[0], mirror.subscribers[0]) == before


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"vlan": [5000]}, "matches[0].vlan", "must be one VLAN or two"),
    ({"vlan": [1, 2, 3]}, "matches[0].vlan", "must be one VLAN or two"),
    ({"pppoe": 9}, "matches[0]", "has a `pppoe` without `mac`"),
    ({"pppoe": 70_000, "mac": "02:00:00:00:00:01"}, "matches[0].pppoe", "must be a PPPoE session"),
    ({"mac": "x"}, "matches[0].mac", "must be a MAC address"),
    ({"ipv4": "10.0.0.1/8"}, "matches[0].ipv4", "must be an IPv4 address"),
    ({"ipv6": "2001:db8::/48"}, "matches[0].ipv6", "must be an IPv6 prefix of 64 bits"),
    ({"mpls": 1 << 20}, "matches[0].mpls", "must be an MPLS label"),
    ({"mpls": 3, "ipv4": "10.0.0.1"}, "matches[0]", "needs exactly one of"),
    ({}, "matches[0]", "needs exactly one of"),
]


@pytest.mark.parametrize(("match", "field", "words"), WRONG)
def test_wrong_matches(match: dict[str, Any], field: str, words: str) -> None:
    plant = plant_of(HeaderMirror(configs.load(CONFIG)))
    with pytest.raises(Problem) as caught:
        plant.change([lambda: Subscriber(name="a", matches=[pb.Match(**match)])])
    assert caught.value.field == field and words in caught.value.message, (caught.value.field, caught.value.message)
    assert not plant.index_of


def test_other_errors(tmp_path: Path) -> None:
    plain_device = plant_of(Mirror(configs.load(CONFIG)))
    with pytest.raises(Problem, match="the device does not find queues in headers, so a subscriber has no matches"):
        plain_device.change([lambda: Subscriber(name="a", matches=[pb.Match(vlan=[5])])])
    with pytest.raises(Problem, match="does not find queues in headers"):
        plain_device.set_headers(headers_pb2.HeaderSettings())
    mirror = HeaderMirror(configs.load(CONFIG), profiles=2, entries=16)
    plant = plant_of(mirror)

    def put(name: str, *given: pb.Match) -> None:
        plant.change([lambda: Subscriber(name=name, matches=given)])

    put("a", pb.Match(vlan=[5]), pb.Match(ipv4="10.0.0.1"))
    with pytest.raises(Problem, match="subscribers have matches of 3 kinds .* but the device has 2 profiles"):
        put("b", pb.Match(mpls=5))
    with pytest.raises(Problem, match="subscriber 'b' cannot have vlan 5, which subscriber 'a' has already"):
        put("b", pb.Match(vlan=[5]))
    put("c", *(pb.Match(vlan=[100 + n]) for n in range(12)))
    with pytest.raises(Problem, match="room for 14 matches, and all are taken"):
        put("d", pb.Match(vlan=[7]))
    put("c")
    mirror.crowded = {matches.key_of(matches.Match("outer_tag", (9,)))}
    with pytest.raises(Problem, match="finds no place for vlan 9 among the other matches; all was taken back"):
        put("d", pb.Match(vlan=[9]))
    assert set(mirror.keys) == set(plant.keys.value_of) and "d" not in plant.index_of
    for wrong, words in (
        ({"kinds": ["ipv4"]}, "the list of kinds has ipv4, and not outer_tag, which a subscriber's match is of"),
        ({"kinds": ["ipv4", "ipv4"]}, "has one of `kinds` twice"),
        ({"kinds": ["ip"]}, "kinds"),
        ({"class_of": "dscp"}, "needs both `class_of` and `classes`"),
        ({"direction": "up"}, "direction"),
        ({"unknown_queue": 64}, "queues 0 to 63, not 64"),
        ({"version": 9}, "has version 0, not 9"),
    ):
        with pytest.raises(Problem) as caught:
            plant.set_headers(headers_pb2.HeaderSettings(**wrong))
        assert words in f"{caught.value.field} {caught.value.message}"
    assert find.KINDS["ipv4_destination"] in {word >> 7 & 15 for word in mirror.profiles.values()}
    plant.set_headers(headers_pb2.HeaderSettings(direction="from", unknown_queue=7))
    assert find.KINDS["ipv4_source"] in {word >> 7 & 15 for word in mirror.profiles.values()}
    assert set(mirror.missing.values()) == {7}


def test_a_device_without_a_hierarchy() -> None:
    """A subscriber is a queue there, whatever its class."""
    with penstock.open("headers_16", headers={"class_of": "dscp", "classes": ["32-63", "0-31"]}) as device:
        edge = Edge(device)
        for number in range(3):
            edge.plant.change([lambda n=number: Subscriber(name=f"h{n}", matches=[pb.Match(vlan=[5 + n])], queues=[{}])])
        edge.plant.change([lambda: "h1"])
        edge.plant.change([lambda: Subscriber(name="new", matches=[pb.Match(vlan=[6]), pb.Match(vlan=[9])], queues=[{}])])
        device.advance("10 us")
        for tag, place in ((5, 0), (6, 1), (7, 2), (9, 1)):
            device.send(bytes(12) + b"\x81\x00\x00" + bytes([tag]) + bytes(60), queue=place)
        device.drain()
        assert sorted(device.received().columns["queue"].tolist()) == [0, 1, 1, 2]
        assert differences(edge.plant) == []


def test_a_failure_between_two_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bus fails once, when one of two profiles is written: what was taken back is looked for no more."""
    mirror = HeaderMirror(configs.load(CONFIG))
    plant = plant_of(mirror)
    plant.change([lambda: Subscriber(name="a", matches=[pb.Match(ipv4="10.0.0.1")])])
    before = dict(mirror.profiles)
    command, seen = mirror._command, []

    def fails_once(number: int) -> None:
        seen.append(number)
        if seen.count(registers.command("find_profile")) == 2 and number == registers.command("find_profile"):
            raise CarrierError("mirror: the bus is gone for once")
        command(number)

    monkeypatch.setattr(mirror, "_command", fails_once)
    with pytest.raises(Problem, match="all was taken back"):
        plant.change([lambda: Subscriber(name="b", matches=[pb.Match(pppoe=9, mac="02:00:00:00:00:01")])])
    assert mirror.profiles == before and len(mirror.keys) == 1 and not plant.stale
    plant.change([lambda: Subscriber(name="b", matches=[pb.Match(pppoe=9, mac="02:00:00:00:00:01")])])
    assert [word >> 3 & 15 for word in mirror.profiles.values() if word >> 7 & 15] == [0, 4] and len(mirror.keys) == 2


def test_a_key_that_goes_and_comes_in_two_requests() -> None:
    """Who wants a match that a request of the same moment gives up waits until that one is done."""
    plant = plant_of(HeaderMirror(configs.load(CONFIG)))
    plant.change([lambda: Subscriber(name="a", matches=[pb.Match(vlan=[5])])])
    first, second = (
        Request([maker], True, Done()) for maker in (lambda: "a", lambda: Subscriber(name="b", index=3, matches=[pb.Match(vlan=[5])]))
    )
    assert plant._do([first, second]) == 1
    first.check()
    assert plant._do([second]) == 1
    second.check()
    assert plant.carrier.keys == {matches.key_of(matches.Match("outer_tag", (5,))): 12}  # type: ignore[attr-defined]


def test_a_kill_while_a_change_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device has a new key and refuses the rest; the server is killed before it has taken the key back. The next start does."""
    mirror, store = HeaderMirror(configs.load(CONFIG)), tmp_path / "intent.sqlite"
    plant = plant_of(mirror, store)
    write = plant.write
    calls: list[None] = []

    def once(*of: Any) -> None:
        calls.append(None)
        if len(calls) > 1:
            raise KeyboardInterrupt
        write(*of)
        raise CarrierError("mirror: the bus is gone")

    monkeypatch.setattr(plant, "write", once)
    with pytest.raises(KeyboardInterrupt):
        plant.change([lambda: Subscriber(name="a", matches=[pb.Match(vlan=[5])])])
    assert len(mirror.keys) == 1 and len(calls) == 2
    plant.intent.close()
    plant = plant_of(mirror, store)
    assert mirror.keys == {} and not plant.index_of
    plant.intent.close()


def test_keys_go_before_queues_change_and_come_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place gets another subscriber: no frame of the one before has queues of the new one, and the other way round."""
    mirror = HeaderMirror(configs.load(CONFIG))
    plant = plant_of(mirror)
    plant.change([lambda: Subscriber(name="a", matches=[pb.Match(vlan=[5])])])
    command, seen = mirror._command, []
    monkeypatch.setattr(mirror, "_command", lambda number: (seen.append(number), command(number)))
    plant.change([lambda: "a", lambda: Subscriber(name="b", matches=[pb.Match(vlan=[6])])])
    assert plant.index_of == {"b": 0} and len(mirror.keys) == 1
    went, came = (seen.index(registers.command(f"find_{name}")) for name in ("delete", "insert"))
    queues = [at for at, number in enumerate(seen) if number == registers.COMMAND_PROVISION]
    assert went < min(queues) <= max(queues) < came
