"""Hosts that share a queue first: each operation as CAKE's rule has it, and the shares of hosts and flows by arithmetic."""

import random

import pytest
from cake_hosts import HostShares
from fq_drive import Drive

from penstock.engine import engine
from penstock.testing.testkit import seed


@pytest.fixture(scope="module")
def fq():
    return engine.models("fq").Fq


def generator() -> random.Random:
    print(f"PENSTOCK_SEED={seed()}")
    return random.Random(seed())


@pytest.mark.parametrize("bits, lanes", [(1, 2), (4, 1)])
def test_every_operation_is_that_of_the_rule(fq, bits: int, lanes: int) -> None:
    """Flows that come and go, with drops, limits and quanta of all sizes; a queue for each choice of sides."""
    rng = generator()
    model = fq(queues=4, flows=1024, descriptors=512, lanes=lanes, age_cycles=2, host_bits=bits)
    settings = {0: (1514, 0xFFFF, 0xFFFFFF), 1: (300, 60, 0xFFFFFF), 2: (90, 0xFFFF, 60_000), 3: (1514, 100, 90_000)}
    hosts = {queue: HostShares(settings[queue][0], queue, bits) for queue in settings}
    drive = Drive(model, rng, 512, settings, hosts, lambda bucket: (bucket * 7 % 5, bucket % 11))
    for _ in range(12):
        offered, looks, drops = rng.choice((0.1, 0.5, 1.0)), rng.choice((0.05, 0.5, 1.0)), rng.choice((0.0, 0.3))
        for _ in range(1500):
            drive.cycle(
                lambda offered=offered: (rng.randrange(4), rng.randrange(rng.choice((3, 40, 1024))), rng.choice((64, 300, 1514)))
                if rng.random() < offered
                else None,
                looks=looks, drops=drops, stalls=rng.choice((0.0, 0.3)),
            )  # fmt: skip
    for _ in range(40):
        if model.total:
            drive.drain(5000)
    drive.drain(100)
    counts = drive.judge.counts
    print(counts)
    assert model.total == 0 and counts["rotated"] > 1000 and counts["removed"] > 50
    assert not any(shares.old for shares in hosts.values())


def shares_of(fq, flows: list[tuple[int, int]], sides: int, packets: int) -> list[int]:
    """Return the bytes that each flow has sent, of which some always wait; `flows` have a source and a destination each."""
    rng = generator()
    settings = dict.fromkeys((0, 1), (1514, 0xFFFF, 0xFFFFFF))
    hosts = {queue: HostShares(1514, sides, 6) for queue in settings}
    model = fq(queues=2, flows=1024, descriptors=1024, age_cycles=1000, host_bits=6)
    drive = Drive(model, rng, 1024, settings, hosts, lambda bucket: flows[bucket])
    lengths = [rng.choice((200, 700, 1514)) for _ in flows]  # of a flow: small packets must not make a difference
    waits = [0] * len(flows)
    seen, begin = [0] * len(flows), [0] * len(flows)

    def packet() -> tuple[int, int, int] | None:
        flow = min(range(len(flows)), key=waits.__getitem__)
        if waits[flow] >= 3:
            return None
        waits[flow] += 1
        return 0, flow, lengths[flow]

    while len(drive.left) < packets:
        drive.cycle(packet)
        for flow, before in enumerate(seen):
            seen[flow] = drive.judge.sent.get((0, flow), 0)
            waits[flow] -= (seen[flow] - before) // lengths[flow]
        if len(drive.left) == packets // 10:  # before that it has not settled
            begin = seen.copy()
    return [end - at for end, at in zip(seen, begin, strict=True)]


@pytest.mark.parametrize("number", range(4))
def test_hosts_get_the_same(fq, number: int) -> None:
    """Hosts with one to twelve flows each: alike among hosts, and among the flows of a host."""
    rng = random.Random(seed() + number)
    counts = [rng.randint(1, 12) for _ in range(rng.randint(2, 5))]
    side = number % 2
    flows = [(host, 40 + i) if side == 0 else (40 + i, host) for host, count in enumerate(counts) for i in range(count)]
    sent = shares_of(fq, flows, 1 << side, 6000)
    total = sum(sent)
    place = 0
    for host, count in enumerate(counts):
        of_host = sent[place : place + count]
        place += count
        assert sum(of_host) / total == pytest.approx(1 / len(counts), rel=0.03), (host, counts, sent)
        assert max(of_host) - min(of_host) <= 0.1 * sum(of_host) / count + 2 * 1514


def test_without_sides_flows_get_the_same(fq) -> None:
    sent = shares_of(fq, [(0, 0)] * 6 + [(1, 1)], 0, 3000)
    assert max(sent) - min(sent) <= 0.05 * max(sent) + 2 * 1514


def test_of_both_sides_the_one_with_more_flows_counts(fq) -> None:
    """CAKE's triple isolation: a flow's weight is one over the flows of its busier host."""
    flows = [(0, 10), (0, 11), (0, 12), (1, 13), (2, 14), (3, 14)]
    sent = shares_of(fq, flows, 3, 6000)
    weights = [1 / 3, 1 / 3, 1 / 3, 1, 1 / 2, 1 / 2]
    for bytes_, weight in zip(sent, weights, strict=True):
        assert bytes_ / sum(sent) == pytest.approx(weight / sum(weights), rel=0.05), sent
