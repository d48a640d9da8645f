# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The skip-FIFO reference, packet by packet, against a program that does every tick by itself; and against exact EDFR."""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed

CASES = 200
BYTE = 8  # units a second for a link of 1 byte a unit at 64 bit/s


@dataclass(frozen=True)
class Arrival:
    time: int
    bytes: int
    traffic_class: int
    deadline: int  # absolute
    change: tuple[int, int] | None  # (class, its deadline) after this packet


@dataclass(frozen=True)
class Case:
    deadlines: list[int]
    tick: int
    depth: int
    check: bool
    limits: list[int]
    arrivals: list[Arrival] = field(repr=False)


def draw(number: int, *, changes: bool = True, room: bool = False) -> Case:
    """Random traffic around full load, 1 byte a unit; `room`: stamps and rings are never full."""
    dice = random.Random(seed() * 100_019 + number)
    classes = dice.choice([1, 2, 3, 7])
    deadlines = [dice.choice([0, 20, 60, 200]) + dice.randint(0, 40) for _ in range(classes)]
    current, arrivals, now = list(deadlines), [], 0
    for _ in range(dice.randint(1, 80)):
        now += dice.choice([0, 1, 5, dice.randint(0, 20), dice.randint(0, 400) if dice.random() < 0.1 else 3])
        which, change = dice.randrange(classes), None
        deadline = now + current[which]
        if changes and dice.random() < 0.1:
            change = (dice.randrange(classes), dice.choice([0, 20, 60, 200]) + dice.randint(0, 40))
            current[change[0]] = change[1]
        arrivals.append(Arrival(now, dice.randint(1, 16), which, deadline, change))
    limits = [] if room else [dice.choice([0, 0, 30, 100]) for _ in range(classes)]
    depth = 1000 if room else dice.choice([1, 2, 5, 1000])
    return Case(deadlines, dice.choice([1, 4, 13, 50]), depth, dice.random() < 0.5, limits, arrivals)


def naive(case: Case) -> dict[int, tuple[str, int]]:
    """Unit by unit: arrivals, then the link if it is free, then the tick. Skipped packets get the moment that their stamp had."""
    fates: dict[int, tuple[str, int]] = {}
    deadlines = list(case.deadlines)
    rings: list[list[tuple[int, int, int]]] = [[] for _ in deadlines]  # all packets ever: (number, deadline, bytes)
    read = [0] * len(deadlines)
    stamps: list[list[tuple[int, int]]] = [[] for _ in deadlines]  # (packets in front, moment)
    stamped, last = [0] * len(deadlines), [0] * len(deadlines)
    came, free, now = 0, 0, 0

    def skip(which: int) -> None:
        while stamps[which] and (stamps[which][0][0] <= read[which] or stamps[which][0][1] < now):
            write, moment = stamps[which].pop(0)
            for number, _, _ in rings[which][read[which] : write]:
                fates[number] = ("expired", moment)
            read[which] = max(read[which], write)

    while len(fates) < len(case.arrivals):
        for which in range(len(deadlines)):
            skip(which)
        while came < len(case.arrivals) and case.arrivals[came].time == now:
            packet = case.arrivals[came]
            which = packet.traffic_class
            held = sum(size for _, _, size in rings[which][read[which] :])
            limit = case.limits[which] if case.limits else 0
            if limit and held + packet.bytes > limit:
                fates[came] = ("tail_dropped", now)
            else:
                rings[which].append((came, packet.deadline, packet.bytes))
            if packet.change:
                deadlines[packet.change[0]] = packet.change[1]
            came += 1
        while free <= now:
            heads = [(rings[which][read[which]][1], which) for which in range(len(deadlines)) if read[which] < len(rings[which])]
            if not heads:
                break
            deadline, which = min(heads)
            number, _, size = rings[which][read[which]]
            read[which] += 1
            if deadline < now and case.check:
                fates[number] = ("expired_at_head", now)
                continue
            fates[number] = ("sent", now)
            free = now + size
        if now % case.tick == 0:
            for which in range(len(deadlines)):
                while stamps[which] and stamps[which][0][0] <= read[which]:
                    stamps[which].pop(0)
                if stamped[which] < len(rings[which]) and len(stamps[which]) < case.depth:
                    newest = max(deadline for _, deadline, _ in rings[which])
                    last[which] = max(now + deadlines[which], newest, last[which])
                    stamped[which] = len(rings[which])
                    stamps[which].append((stamped[which], last[which]))
        now += 1
    return fates


def ours(case: Case, **other: Any) -> dict[int, tuple[str, int]]:
    settings = {"deadlines": case.deadlines, "tick": case.tick, "depth": case.depth, "check": case.check, "limits": case.limits} | other
    reference = engine.models("deadline").SkipFifoReference(BYTE, 64, **settings)
    for packet in case.arrivals:
        reference.arrive(packet.time, packet.deadline, packet.bytes, packet.traffic_class)
        if packet.change:
            reference.set_deadline(*packet.change)
    reference.advance()
    assert reference.empty
    fates = reference.take()
    assert len(fates) == len(case.arrivals)
    return {number: (fate, time) for number, fate, time in fates}


def test_every_packet_as_in_the_naive_program() -> None:
    print(f"PENSTOCK_SEED={seed()}")
    seen = dict.fromkeys(("sent", "expired", "expired_at_head", "tail_dropped"), 0)
    for number in range(CASES):
        case = draw(number)
        found = ours(case)
        assert found == naive(case), f"case {number}: {case}"
        for fate, _ in found.values():
            seen[fate] += 1
    assert min(seen.values()) > CASES / 4, f"the cases try too little: {seen}"


def test_nothing_is_skipped_early_nor_sent_late() -> None:
    """Also when deadlines change while packets wait, when stamps find no room, and in rings that are full; in a class nothing overtakes."""
    print(f"PENSTOCK_SEED={seed()}")
    lates = 0
    for number in range(CASES):
        case = draw(number)
        found = ours(case)
        for which, packet in enumerate(case.arrivals):
            fate, time = found[which]
            if fate == "expired":
                assert time >= packet.deadline, f"case {number}, packet {which}: {case}"
            elif fate == "expired_at_head":
                assert time > packet.deadline and case.check
            elif fate == "sent":
                assert time >= packet.time
                lates += time > packet.deadline
                assert time <= packet.deadline or not case.check, f"case {number}, packet {which}: {case}"
        for which in range(len(case.deadlines)):
            starts = [found[n][1] for n, p in enumerate(case.arrivals) if p.traffic_class == which and found[n][0] == "sent"]
            assert starts == sorted(starts)
    assert lates > CASES / 10


def test_without_the_check_at_most_a_tick_late() -> None:
    """With room for stamps, and deadlines that stay."""
    worst: dict[int, int] = {}
    for number in range(CASES):
        case = draw(number, changes=False, room=True)
        for which, (fate, time) in ours(case, check=False).items():
            if fate == "sent":
                worst[case.tick] = max(worst.get(case.tick, 0), time - case.arrivals[which].deadline)
    assert all(late < tick for tick, late in worst.items()), worst
    assert worst[50] > 25 and worst[13] > 6  # it does come near


def test_with_the_check_it_is_exact_edfr() -> None:
    """Deadlines that stay: the same packets start at the same times, but for the order of equal deadlines, of which there are none here."""
    print(f"PENSTOCK_SEED={seed()}")
    models = engine.models("deadline")
    scale = 1024  # times in 1/1024 of a unit, packet n n of them later: no two deadlines are equal
    compared = expired = 0
    for number in range(CASES):
        case = draw(number, changes=False, room=True)
        exact = models.ExactEdfr(BYTE * scale, 64)
        skip = models.SkipFifoReference(BYTE * scale, 64, [d * scale for d in case.deadlines], case.tick * scale, case.depth)
        for place, packet in enumerate(case.arrivals):
            arrival, deadline = packet.time * scale + place, packet.deadline * scale + place
            exact.arrive(arrival, deadline, packet.bytes, packet.traffic_class)
            skip.arrive(arrival, deadline, packet.bytes, packet.traffic_class)
        exact.advance()
        skip.advance()
        wanted = {n: time for n, fate, time in exact.take() if fate == "sent"}
        assert wanted == {n: time for n, fate, time in skip.take() if fate == "sent"}, f"case {number}: {case}"
        compared += len(wanted)
        expired += len(case.arrivals) - len(wanted)
    assert compared > 10 * CASES and expired > CASES


def test_a_shorter_deadline_does_not_pull_the_skip_forward() -> None:
    """By hand: a packet with 100 waits, the class gets 10, the next tick's stamp covers both; the first may start up to 101."""
    for start, fate in ((101, "sent"), (102, "expired")):
        reference = engine.models("deadline").SkipFifoReference(BYTE, 64, [100, 200], 50)
        reference.arrive(0, 200, start, 1)  # the link is busy until `start`
        reference.arrive(1, 101, 5, 0)
        reference.set_deadline(0, 10)
        reference.arrive(20, 30, 5, 0)
        reference.advance()
        found = {number: (what, time) for number, what, time in reference.take()}
        assert found[1] == (fate, 101)
        assert found[2] == ("expired", 101)  # the short one stands behind it, and goes with the stamp of both


def test_a_skip_may_bring_the_earliest_deadline_to_the_head() -> None:
    """By hand, no check. Class 1 has got a shorter deadline: behind its packet of 50, which is skipped, stands one of 45. When the link is
    free at 52, class 0's head of 49 has expired but has no stamp that speaks yet; the one of 45 goes first."""
    reference = engine.models("deadline").SkipFifoReference(BYTE, 64, [39, 49, 1000], 20, check=False)
    reference.arrive(0, 1000, 52, 2)  # the link is busy until 52
    reference.arrive(1, 50, 1, 1)
    reference.set_deadline(1, 15)  # the stamp at 20 says 50
    reference.arrive(10, 49, 1, 0)  # the stamp at 20 says 59
    reference.arrive(30, 45, 1, 1)  # the stamp at 40 says 55
    reference.advance()
    assert reference.take() == [(0, "sent", 0), (1, "expired", 50), (3, "sent", 52), (2, "sent", 53)]


def test_stamps_without_room_skip_later() -> None:
    """Depth 1: the second tick's stamp waits for the first one's moment, so what it covers expires a tick later."""
    moments = {}
    for depth in (1, 2):
        reference = engine.models("deadline").SkipFifoReference(BYTE, 64, [95, 1000], 10, depth)
        reference.arrive(0, 1000, 500, 1)
        reference.arrive(5, 100, 1, 0)
        reference.arrive(15, 110, 1, 0)
        reference.advance()
        moments[depth] = {number: time for number, fate, time in reference.take() if fate == "expired"}
    assert moments[2] == {1: 105, 2: 115} and moments[1] == {1: 105, 2: 110 + 95}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (([], 1), "has a class at least"),
        (([5, -1], 1), "a class's deadline is from 0"),
        (([5], 0), "a skip tick is from 1"),
        (([5], 1, 0), "a FIFO of time stamps holds one at least"),
    ],
)
def test_impossible_settings_are_refused(settings: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        engine.models("deadline").SkipFifoReference(BYTE, 64, *settings)


def test_a_class_that_is_not_there_is_refused() -> None:
    reference = engine.models("deadline").SkipFifoReference(BYTE, 64, [5], 1)
    with pytest.raises(ValueError, match="there is no class 1"):
        reference.arrive(0, 5, 1, 1)
    with pytest.raises(ValueError, match="there is no class 7"):
        reference.set_deadline(7, 5)
