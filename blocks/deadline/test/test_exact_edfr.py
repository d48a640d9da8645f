# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Exact EDFR and the FIFO with limited wait, packet by packet, against the plainest program that does the same."""

import random
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed

CASES = 250


@dataclass(frozen=True)
class Packet:
    number: int
    arrival: int
    deadline: int
    bytes: int
    traffic_class: int


@dataclass(frozen=True)
class Case:
    units_per_second: int
    rate_bps: int
    overhead: int
    packets: list[Packet] = field(repr=False)
    limits: list[int]

    def time(self, packet: Packet) -> Fraction:
        """How long a packet is on the line."""
        return Fraction((packet.bytes + self.overhead) * 8 * self.units_per_second, self.rate_bps)


def draw(number: int) -> Case:
    """Random traffic around full load: ties of all kinds, idle times, deadlines of no time at all, with and without limits."""
    dice = random.Random(seed() * 100_003 + number)
    units, rate = dice.choice([(10**12, 10**9), (250_000_000, 10**8), (1000, 3000), (10**9, 7_777_777), (10**12, 10**12)])
    most_bytes = dice.choice([1, 100, 1500])
    per_packet = 8 * most_bytes * units / rate / 2
    classes = dice.choice([1, 2, 3, 8])
    deadlines = [round(dice.choice([0, 1, 3, 10, 30]) * per_packet * dice.uniform(0.5, 1.5)) for _ in range(classes)]
    own = dice.random() < 0.3  # a deadline for each packet
    packets, now = [], 0
    for index in range(dice.randint(1, 60)):
        now += dice.choice([0, round(per_packet), round(dice.expovariate(1) * per_packet), round(dice.expovariate(0.7) * per_packet)])
        if dice.random() < 0.03:
            now += round(100 * per_packet)
        which = dice.randrange(classes)
        wait = dice.randint(0, round(20 * per_packet)) if own else deadlines[which]
        packets.append(Packet(index, now, now + wait, dice.randint(1, most_bytes), which))
    limits = [dice.choice([0, most_bytes, 3 * most_bytes, 8 * most_bytes]) for _ in range(dice.choice([0, classes]))]
    return Case(units, rate, dice.choice([0, 24]), packets, limits)


def naive(case: Case) -> dict[int, tuple[str, int]]:
    """Look at all packets again at each moment in which the link may start one."""
    fates: dict[int, tuple[str, int]] = {}
    came = 0
    accepted: list[Packet] = []
    free = Fraction(0)
    while True:
        now = floor(free)
        while came < len(case.packets) and case.packets[came].arrival <= now:
            packet = case.packets[came]
            came += 1
            beside = [p.bytes for p in accepted if p.traffic_class == packet.traffic_class and p.deadline >= packet.arrival]
            limit = case.limits[packet.traffic_class] if case.limits else 0
            if limit and sum(beside) + packet.bytes > limit:
                fates[packet.number] = ("tail_dropped", packet.arrival)
            else:
                accepted.append(packet)
        fates |= {p.number: ("expired", p.deadline) for p in accepted if p.deadline < now}
        accepted = [p for p in accepted if p.deadline >= now]
        if accepted:
            first = min(accepted, key=lambda p: (p.deadline, p.number))
            accepted.remove(first)
            fates[first.number] = ("sent", now)
            free += case.time(first)
        elif came < len(case.packets):
            free = Fraction(case.packets[came].arrival)
        else:
            return fates


def run(server: object, packets: list[Packet]) -> dict[int, tuple[str, int]]:
    for packet in packets:
        assert server.arrive(packet.arrival, packet.deadline, packet.bytes, packet.traffic_class) == packet.number
    server.advance()
    assert server.empty
    fates = server.take()
    assert len(fates) == len(packets) and not server.take()
    return {number: (fate, time) for number, fate, time in fates}


def exact(case: Case) -> dict[int, tuple[str, int]]:
    models = engine.models("deadline")
    return run(models.ExactEdfr(case.units_per_second, case.rate_bps, case.limits, case.overhead), case.packets)


def test_every_packet_as_in_the_naive_program() -> None:
    print(f"PENSTOCK_SEED={seed()}")
    seen = dict.fromkeys(("sent", "expired", "tail_dropped"), 0)
    for number in range(CASES):
        case = draw(number)
        ours, plain = exact(case), naive(case)
        assert ours == plain, f"case {number}: {case}"
        for fate, _ in ours.values():
            seen[fate] += 1
    assert min(seen.values()) > CASES, f"the cases try too little: {seen}"


def test_fates_are_legal() -> None:
    """Whatever the choice: no start after a deadline, none gone before, one packet at a time, no idle link beside a packet that may go."""
    for number in range(CASES):
        case = draw(number)
        fates = exact(case)
        assert set(fates) == {packet.number for packet in case.packets}
        sent = sorted((p for p in case.packets if fates[p.number][0] == "sent"), key=lambda p: (fates[p.number][1], p.number))
        end = 0
        for packet in sent:
            start = fates[packet.number][1]
            assert packet.arrival <= start <= packet.deadline
            assert end <= start
            if start > end + 1:  # idle, so nothing waited
                assert start == packet.arrival
            end = start + floor(case.time(packet))
        for packet in case.packets:
            fate, time = fates[packet.number]
            if fate == "expired":
                assert time == packet.deadline
            elif fate == "tail_dropped":
                assert time == packet.arrival and case.limits


def test_one_class_is_a_fifo_with_limited_wait() -> None:
    """Equal deadlines: the same packets start at the same times, and what a FIFO drops on arrival is what reneges."""
    print(f"PENSTOCK_SEED={seed()}")
    models = engine.models("deadline")
    dropped = 0
    for number in range(CASES):
        case = draw(number)
        wait = case.packets[0].deadline - case.packets[0].arrival
        packets = [Packet(p.number, p.arrival, p.arrival + wait, p.bytes, p.traffic_class) for p in case.packets]
        edfr = run(models.ExactEdfr(case.units_per_second, case.rate_bps, [], case.overhead), packets)
        fifo = run(models.LimitedFifo(case.units_per_second, case.rate_bps, wait, case.overhead), packets)
        for packet in packets:
            if fifo[packet.number][0] == "sent":
                assert edfr[packet.number] == fifo[packet.number]
            else:
                assert fifo[packet.number] == ("tail_dropped", packet.arrival)
                assert edfr[packet.number] == ("expired", packet.deadline)
                dropped += 1
    assert dropped > CASES


def test_by_hand() -> None:
    """One byte a unit. The long packet is not interrupted; the earliest deadline is next, equal ones as they came."""
    edfr = engine.models("deadline").ExactEdfr(8, 64)  # 8 units a second, 8 byte a second
    for arrival, deadline, size in ((0, 50, 10), (1, 40, 5), (2, 20, 5), (3, 20, 5), (4, 19, 6), (4, 9, 1), (4, 25, 1)):
        edfr.arrive(arrival, deadline, size)
    edfr.advance(16)
    assert edfr.take() == [(0, "sent", 0), (5, "expired", 9), (4, "sent", 10)] and not edfr.empty
    edfr.advance()
    assert edfr.take() == [(2, "sent", 16), (3, "expired", 20), (6, "sent", 21), (1, "sent", 22)]


def test_a_deadline_is_the_last_moment() -> None:
    for late, fate in ((0, "sent"), (1, "expired")):
        edfr = engine.models("deadline").ExactEdfr(8, 64)
        edfr.arrive(0, 0, 10)
        edfr.arrive(0, 10 - late, 1)
        edfr.advance()
        assert edfr.take()[1] == (1, fate, 10 - late)


def test_rounding_does_not_add_up() -> None:
    """Three bytes a unit and a bit: a thousand packets back to back end where one of their bytes together would."""
    edfr = engine.models("deadline").ExactEdfr(1000, 8 * 3001)
    for _ in range(1001):
        edfr.arrive(0, 10**6, 7)
    edfr.advance()
    assert [time for _, _, time in edfr.take()] == [n * 7 * 1000 // 3001 for n in range(1001)]


@pytest.mark.parametrize(
    ("packet", "words"),
    [
        ((5, 4, 100), "a deadline is from the packet's arrival on"),
        ((0, 2**62, 100), "a deadline is from the packet's arrival on up to 2^61"),
        ((5, 9, 0), "a packet has 1 to 1,048,576 bytes"),
        ((5, 9, 2**20 + 1), "a packet has 1 to 1,048,576 bytes"),
        ((-1, 9, 100), "a packet arrives at -1, but it is 0 already"),
    ],
)
def test_impossible_packets_are_refused(packet: tuple[int, int, int], words: str) -> None:
    models = engine.models("deadline")
    for server in (models.ExactEdfr(10**12, 10**9), models.LimitedFifo(10**12, 10**9, 5), models.SkipFifoReference(10**12, 10**9, [5], 1)):
        with pytest.raises(ValueError) as refused:
            server.arrive(*packet)
        assert words in str(refused.value)


def test_the_past_does_not_change() -> None:
    models = engine.models("deadline")
    for server in (models.ExactEdfr(8, 64), models.LimitedFifo(8, 64, 5), models.SkipFifoReference(8, 64, [5], 1)):
        server.arrive(7, 9, 1)
        for now in (7, 20):
            with pytest.raises(ValueError, match=f"a packet arrives at {now - 1}, but it is {now} already"):
                server.arrive(now - 1, 30, 1)
            server.advance(20)
        server.arrive(20, 30, 1)
        server.advance()
        assert [time for _, _, time in server.take()] == [7, 20]


def test_impossible_links_are_refused() -> None:
    models = engine.models("deadline")
    for arguments, words in (
        ((0, 10**9), "units per second"), ((10**13, 10**9), "units per second"), ((10**12, 0), "a link's rate"),
        ((10**12, 10**13), "a link's rate"), ((10**12, 10**9, [], 1025), "a line adds at most"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            models.ExactEdfr(*arguments)
    with pytest.raises(ValueError, match="the longest wait of a FIFO is not negative"):
        models.LimitedFifo(10**12, 10**9, -1)
