# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The P4 device around its program: pacing, priorities, limits, copies, drops that cost time or do not, against independent arithmetic."""

import random
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from scapy.utils import RawPcapReader

from penstock.designs.p4_switch.config import ByPriority
from penstock.designs.p4_switch.testing import lab
from penstock.designs.p4_switch.testing.lab import Packet
from penstock.engine import engine
from penstock.testing.testkit import seed

BYTE = Fraction(8 * lab.CLOCK_HZ, lab.LINE_BPS)  # cycles


def sent(raw: dict[str, Any], output: int) -> list[int]:
    """Return the cycles in which frames left an output."""
    return [cycle for cycle, port, _ in lab.departures(raw) if port == output]


@pytest.mark.parametrize("bps", [24_000_000, 800_000_000, 123_456_789])
def test_an_output_is_paced_to_the_cycle(bps: int) -> None:
    """The n-th of some frames that come at once begins when the line has sent the others, with what each costs besides its bytes. Links
    count in 2^-28 cycle, so what is due on the edge of a cycle may come in the one before."""
    lengths = [60, 1514, 100, 999, 64, 64, 1000, 61]
    packets = [Packet(100 + n, 0, 2, length=length) for n, length in enumerate(lengths)]
    found = sent(lab.run(packets, egress_bps=bps), 2)
    byte, free, due = Fraction(8 * lab.CLOCK_HZ, bps), Fraction(0), []
    for packet in packets:
        begin = max(Fraction(packet.cycle), free)
        due.append({begin // 1, (begin - Fraction(1, 10**6)) // 1})
        free = begin + (packet.length + lab.OVERHEAD) * byte
    assert len(found) == len(due) and all(cycle in cycles for cycle, cycles in zip(found, due, strict=True))


def test_the_highest_priority_goes_first() -> None:
    """A frame on the line is not interrupted; then the highest number, and of one priority the oldest."""
    packets = [Packet(10, 0, 1, 0), Packet(11, 0, 1, 1), Packet(12, 0, 1, 7), Packet(13, 0, 1, 1), Packet(14, 0, 1, 7), Packet(15, 0, 1, 3)]
    raw = lab.run([Packet(p.cycle, 0, 1, p.priority, 100 + n) for n, p in enumerate(packets)])
    assert [length - 100 for _, _, length in lab.departures(raw)] == [0, 2, 4, 5, 1, 3]


@pytest.mark.parametrize("places", [1, 5])
def test_a_queue_has_so_many_places(places: int) -> None:
    packets = [Packet(10 + n, 0, 1) for n in range(20)]
    raw = lab.run(packets, queue_packets=places)
    assert raw["packets"]["dropped"]["tail_drop_packets"] == 20 - places - 1  # one is on the line
    assert raw["packets"]["out"] == places + 1
    assert raw["p4"]["queues"][0]["most_packets"] == places


@pytest.mark.parametrize("room", [100, 750])
def test_a_queue_has_room_for_so_many_bytes(room: int) -> None:
    """A frame that does not fit is dropped, a shorter one behind it is not."""
    lengths = [100, 60, 400, 100, 300, 60, 60]
    packets = [Packet(10 + n, 0, 1, length=length) for n, length in enumerate(lengths)]
    raw = lab.run(packets, queue_bytes=room)
    held, kept = 0, [100]  # the first is on the line
    for length in lengths[1:]:
        if held + length <= room:
            held += length
            kept.append(length)
    assert [length for _, _, length in lab.departures(raw)] == kept
    assert raw["packets"]["dropped"]["tail_drop_bytes"] == len(lengths) - len(kept)
    assert raw["p4"]["queues"][0]["most_bytes"] == max(held, 100)


def test_outputs_without_a_frame_are_ready_in_each_cycle() -> None:
    raw = lab.run([Packet(10 + 7 * n, 0, 1, flags=lab.DROP_EGRESS) for n in range(20)], egress_drops="free")
    assert raw["bus"]["output_ready"] == 4 * raw["cycles"] and raw["bus"]["output_taken"] == 0


@pytest.mark.parametrize("egress_drops", ["charged", "free"])
def test_what_a_drop_in_egress_costs(egress_drops: str) -> None:
    """Its time on the line as if it had been sent, to the cycle, or nothing: the next one goes in the same cycle."""
    lengths = [100, 700, 300, 60, 200]
    packets = [Packet(10 + n, 0, 1, length=length, flags=lab.DROP_EGRESS if n in (1, 2) else 0) for n, length in enumerate(lengths)]
    raw = lab.run(packets, egress_drops=egress_drops)
    charged = egress_drops == "charged"
    first = 10 + (100 + lab.OVERHEAD) * BYTE
    lost = (700 + 300 + 2 * lab.OVERHEAD) * BYTE if charged else 0
    third = first + lost
    assert sent(raw, 1) == [10, third // 1, (third + (60 + lab.OVERHEAD) * BYTE) // 1]
    assert raw["p4"]["outputs"][1]["lost_cycles"] == pytest.approx(float(lost))
    assert raw["packets"]["dropped"]["egress_program"] == 2


@pytest.mark.parametrize("egress_drops", ["charged", "free"])
def test_what_a_recirculated_packet_costs(egress_drops: str) -> None:
    """The same; it comes to ingress in the next cycle, and has kept its number and its arrival."""
    packets = [Packet(10, 0, 1, length=500, flags=lab.RECIRCULATE, arg=2), Packet(11, 0, 1, length=60)]
    raw = lab.run(packets, egress_drops=egress_drops)
    wait = (500 + lab.OVERHEAD) * BYTE if egress_drops == "charged" else 0
    assert lab.departures(raw) == ([(11, 1, 60), (11, 2, 500)] if not wait else [(11, 2, 500), (10 + wait, 1, 60)])
    assert raw["p4"]["recirculated"] == 1 and raw["packets"]["in"] == 2


@pytest.mark.parametrize("egress_drops", ["charged", "free"])
@pytest.mark.parametrize(("places", "room", "priorities"), [(3, 0, 8), (1000, 0, 3), (50, 1500, 8)])
def test_random_packets_go_as_the_reference_says(egress_drops: str, places: int, room: int, priorities: int) -> None:
    """Copies of all kinds, drops everywhere, several priorities and full queues: each departure in its cycle, each drop with its reason,
    each time in a queue."""
    number = seed()
    print(f"PENSTOCK_SEED={number}")
    rng = random.Random(number)
    flags = [lab.DROP_INGRESS, lab.DROP_EGRESS, lab.CLONE_INGRESS, lab.MULTICAST, lab.RECIRCULATE, lab.CLONE_EGRESS]
    packets, now = [], 5
    for _ in range(700):
        now += rng.choice((0, 1, 20, 100, 250, 600))
        each = {port for port in range(4) if rng.random() < 0.4}
        for port in each:
            does = sum(flag for flag in flags if rng.random() < 0.12)
            packets.append(
                Packet(now, port, rng.choice((0, 1, 1, 1, 2, 3, 4, 77)), rng.randrange(8), rng.randint(60, 700), does, rng.randrange(7))
            )
        now += 1
    wanted = lab.expected(packets, 4, priorities, places, room, egress_drops == "charged")
    raw = lab.run(packets, egress_drops=egress_drops, queue_packets=places, queue_bytes=room, priorities=priorities)
    assert lab.departures(raw) == wanted.left
    assert {reason: count for reason, count in raw["packets"]["dropped"].items() if count} == wanted.dropped
    assert raw["packets"]["in"] == wanted.came
    waits = {(queue["output"], queue["priority"]): queue["waits"] for queue in raw["p4"]["queues"] if queue["waits"]["count"]}
    assert {key: (each["count"], each["sum"], each["min"]) for key, each in waits.items()} == {
        key: (len(each), sum(each), min(each)) for key, each in wanted.waits.items()
    }


@pytest.mark.parametrize("rounds", range(3))
def test_priorities_have_places_and_rates_of_their_own(rounds: int, tmp_path: Path) -> None:
    """Each departure in its cycle, each drop with its reason, and the depths that the program sees: those of the packet's own priority."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(f"{seed()} {rounds}")
    packets = [
        Packet(cycle, 0, rng.choice((1, 1, 1, 2)), rng.randrange(5), rng.randint(60, 300), lab.STAMP)
        for cycle in sorted(rng.sample(range(5, 60_000), 400))
    ]
    own = {p: (rng.randint(1, 12), rng.choice((0, 40_000, 100_000, 200_000))) for p in rng.sample(range(5), 3)}
    print(own)
    limits = tuple(ByPriority(priority=p, queue_packets=places, packets_per_second=pps or None) for p, (places, pps) in own.items())
    raw = lab.run(packets, by_priority=limits, queue_packets=20, priorities=5, pcap_out=str(tmp_path / "out.pcap"))
    periods = {p: (places, Fraction(lab.CLOCK_HZ, pps) if pps else Fraction(0)) for p, (places, pps) in own.items()}
    wanted = lab.expected(packets, 4, 5, 20, 0, True, periods)
    assert lab.departures(raw) == wanted.left
    assert {reason: count for reason, count in raw["packets"]["dropped"].items() if count} == wanted.dropped
    assert wanted.dropped["tail_drop_packets"] > 0
    found = [struct.unpack_from(lab.STAMP_FORMAT, data, 4)[4:6] for data, _ in RawPcapReader(str(tmp_path / "out.pcap"))]
    assert sorted(found) == sorted(wanted.depths)


def test_depths_are_those_of_the_packets_own_priority(tmp_path: Path) -> None:
    """Ten packets of priority 0 wait; one of priority 7 finds nobody in its queue, and leaves nobody there."""
    packets = [*(Packet(10 + n, 0, 1, 0, 1000, lab.STAMP) for n in range(10)), Packet(500, 0, 1, 7, 100, lab.STAMP)]
    lab.run(packets, pcap_out=str(tmp_path / "out.pcap"))
    frames = [data for data, _ in RawPcapReader(str(tmp_path / "out.pcap"))]
    depths = {len(data): struct.unpack_from(lab.STAMP_FORMAT, data, 4)[4:6] for data in frames[:2]}
    assert depths == {1000: (0, 0), 100: (0, 0)}
    assert [struct.unpack_from(lab.STAMP_FORMAT, data, 4)[4:6] for data in frames[2:]] == [(n, 8 - n) for n in range(9)]


@pytest.mark.parametrize(("egress_drops", "left"), [("charged", 10 + 500 + lab.OVERHEAD), ("free", 11)])
def test_a_copy_of_a_dropped_packet_to_its_own_output(egress_drops: str, left: int) -> None:
    """An output takes as many packets in a cycle as waited there: the copy is not one of them, and goes in the next one."""
    raw = lab.run([Packet(10, 0, 1, length=500, flags=lab.DROP_EGRESS | lab.CLONE_EGRESS, arg=1)], egress_drops=egress_drops)
    assert lab.departures(raw) == [(left, 1, 500)]


def test_drops_are_known_by_flow() -> None:
    """A flow of a test is an input."""
    packets = [Packet(10 + n, n % 3, 1, flags=(0, lab.DROP_EGRESS, lab.DROP_INGRESS)[n % 3]) for n in range(30)]
    drops = lab.run(packets)["p4"]["drops"]
    assert drops["egress_program"]["packets"].tolist()[:4] == [0, 10, 0, 0]
    assert drops["ingress_program"]["packets"].tolist()[:4] == [0, 0, 10, 0]
    assert drops["ingress_program"]["bytes"].tolist()[:4] == [0, 0, 1000, 0]


def test_a_long_backlog_is_not_searched() -> None:
    """Half of a flow's frames wait at a slow output while the others leave: each is found at once, however many wait."""
    slow = {
        "egress_bps": [lab.LINE_BPS, lab.LINE_BPS, 1000.0, lab.LINE_BPS],
        "queue_packets": 1_000_000,
        "drain": False,
        "keep_departures": False,
    }
    times = []
    for count in (2_000, 16_000):
        packets = [Packet(1_000 * at, 0, 1 + at % 2, length=60) for at in range(2 * count)]
        job = lab.job(packets, duration_cycles=2000 * count, **slow)
        found = [engine.run(job) for _ in range(2)]
        for raw in found:
            assert raw["findings"] == [] and raw["packets"]["queued"] >= count - 1 and raw["packets"]["out"] >= count
        times.append(min(raw["run_cpu_seconds"] for raw in found))
    assert times[1] < 3 * 8 * times[0], "eight times as many frames behind a backlog that is eight times as long"


def test_ports_have_the_numbers_that_they_are_given() -> None:
    raw = lab.run([Packet(10, 0, 200), Packet(12, 1, 0), Packet(14, 2, 1)], port_numbers=[1, 2, 200, 9])
    assert lab.departures(raw) == [(10, 2, 100), (14, 0, 100)]
    assert raw["packets"]["dropped"]["no_output"] == 1


def test_what_is_damaged_or_too_long_does_not_come_to_the_program() -> None:
    packets = [Packet(10, 0, 1, length=1000), Packet(12, 0, 1, length=1001), Packet(14, 0, 1)]
    job = lab.job(packets, max_frame_bytes=1000)
    job["sources"][0]["error"] = [0, 0, 1]
    raw = engine.run(job)
    assert raw["conservation_ok"] and raw["packets"]["out"] == 1
    assert {reason: count for reason, count in raw["packets"]["dropped"].items() if count} == {"oversize": 1, "bad_frame": 1}


def test_a_packet_that_recirculates_for_ever_ends_with_the_run() -> None:
    """Once a cycle where that costs no time; the run ends all the same, and the packet is still there."""
    raw = lab.run([Packet(10, 0, 1, flags=lab.RECIRCULATE, arg=lab.FOR_EVER)], egress_drops="free", duration_cycles=1000, drain=False)
    assert raw["packets"]["queued"] == 1
    assert 980 <= raw["p4"]["recirculated"] <= 990
