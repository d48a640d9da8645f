"""router.p4 packet by packet: against a router written from the RFCs on random frames, against scapy, and its AQMs, queues and counters."""

import random
from collections import Counter

import pytest
from machine import P4Program, machine_of, registers
from router_bench import BADS, CONTROL, PUNTS, QUEUES, STATIONS, expected, is_right, mac, sum16, tables
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from penstock.testing.testkit import seed

CLONES = 9  # port of PIE's clone session

ADDRESSES4 = [
    *("10.0.0.9", "10.0.0.8", "10.1.0.77", "10.1.2.9", "10.1.2.3", "10.0.0.1", "10.1.0.1", "10.66.1.1", "11.0.0.1"),
    *("127.0.0.1", "0.0.0.0", "224.0.0.5", "239.1.1.1", "255.255.255.255", "10.255.255.255"),
]
ADDRESSES6 = [
    *("2001:db8::9", "2001:db8::8", "2001:db8:1::77", "2001:db8:1:2::9", "2001:db8::1", "2001:db9::1"),
    *("fe80::1", "ff02::1", "ff02::1:ff00:1", "ff0e::1", "::", "::1", "::2"),
]
OPTIONS = [
    *([], [], [], [IPOption(b"\x94\x04\x00\x00")], [IPOption(b"\x01" * 40)], [IPOption(b"\x07\x27" + bytes(37) + b"\x00")]),
    [IPOption(bytes([0x44, 12, 5, 0]) + bytes(8))],
]


def random_frame(rng: random.Random) -> bytes:
    """A frame of any kind, mostly sound: what is wrong is wrong in one way."""
    size = rng.choice([0, 1, 6, 18, 40, 500, 540, 600, 1400, 1480, 1500])
    dst = rng.choice(
        [*STATIONS.values(), *STATIONS.values(), "ff:ff:ff:ff:ff:ff", "33:33:00:00:00:01", "01:00:5e:00:00:05", "02:00:00:00:00:09"]
    )
    ether = Ether(dst=dst, src="02:cc:00:00:00:01")
    sports = {"sport": rng.randrange(65536), "dport": rng.randrange(65536)}
    inner = rng.choice([UDP(**sports), TCP(**sports, flags="S"), TCP(**sports, options=[("MSS", 1460), ("SAckOK", b"")]), ICMP(), Raw(b"")])
    tos = rng.randrange(256) if rng.random() < 0.5 else rng.choice(list(QUEUES)) << 2 | rng.randrange(4)
    kind = rng.random()
    if kind < 0.5:
        fragment = {"frag": rng.randrange(8192)} if rng.random() < 0.2 else {}
        ip = IP(
            src=rng.choice(ADDRESSES4[:2] * 6 + ADDRESSES4), dst=rng.choice(ADDRESSES4[:5] * 3 + ADDRESSES4), tos=tos,
            id=rng.randrange(65536),
            ttl=rng.choice([0, 1, 2, 64, 255]), flags=rng.randrange(8), options=rng.choice(OPTIONS), **fragment,
        )  # fmt: skip
        frame = bytearray(bytes(ether / ip / inner / Raw(rng.randbytes(size))))
        if rng.random() < 0.1:
            frame[14] = rng.randrange(256)
            header = (frame[14] & 15) * 4
            if rng.random() < 0.5 and 20 <= header <= len(frame) - 14:
                frame[24:26] = b"\0\0"
                frame[24:26] = sum16(bytes(frame[14 : 14 + header])).to_bytes(2, "big")
        elif rng.random() < 0.1:
            frame[rng.randrange(14, 34)] ^= 1 << rng.randrange(8)
        elif rng.random() < 0.1:
            frame[16:18] = rng.choice([0, 19, 20, len(frame) - 14, len(frame) - 13, len(frame) - 15, 65535]).to_bytes(2, "big")
            header = (frame[14] & 15) * 4
            frame[24:26] = b"\0\0"
            frame[24:26] = sum16(bytes(frame[14 : 14 + header])).to_bytes(2, "big")
    elif kind < 0.85:
        head = IPv6(
            src=rng.choice(ADDRESSES6[:2] * 6 + ADDRESSES6), dst=rng.choice(ADDRESSES6[:4] * 3 + ADDRESSES6), tc=tos,
            fl=rng.randrange(2**20),
            hlim=rng.choice([0, 1, 2, 64, 255]),
        )  # fmt: skip
        for extension in rng.sample(
            [IPv6ExtHdrHopByHop(), IPv6ExtHdrDestOpt(), IPv6ExtHdrRouting(), IPv6ExtHdrFragment()], rng.randrange(4)
        ):
            head = head / extension
        frame = bytearray(bytes(ether / head / inner / Raw(rng.randbytes(size))))
        if rng.random() < 0.05:
            frame[14] = rng.randrange(256)
        elif rng.random() < 0.1:
            frame[18:20] = rng.choice([0, len(frame) - 54, len(frame) - 53, 65535]).to_bytes(2, "big")
    elif kind < 0.9:
        frame = bytearray(bytes(ether / ARP(pdst="10.0.0.1")))
    else:
        frame = bytearray(
            mac(dst) + bytes(6) + rng.choice([b"\x81\x00", b"\x88\xb5", b"\x08\x00", b"\x86\xdd", b"\x00\x2e"]) + rng.randbytes(size)
        )
    if rng.random() < 0.1:
        frame = frame[: rng.randrange(len(frame) + 1)]
    elif rng.random() < 0.1:
        frame += bytes(rng.randrange(1, 46))  # padding
    if rng.random() < 0.15:
        note = mac("01:80:c2:00:00:00") + bytes(6) + b"\x88\xb5" + bytes(2)
        frame = bytearray(note + rng.choice([511, 511, 0, 2, 510, 512, 65535]).to_bytes(2, "big")) + frame
    return bytes(frame)


@pytest.mark.parametrize("name", ["router", "router_codel"])
def test_random_frames(name: str) -> None:
    """What goes out, where, byte by byte; what goes to the control port and why; what is dropped and why."""
    rng = random.Random(seed())
    router = machine_of(name, tables())
    outcomes: Counter[str] = Counter()
    for number in range(2_000):
        frame = random_frame(rng)
        port = CONTROL if frame[12:14] == b"\x88\xb5" and rng.random() < 0.7 else rng.choice([0, 0, 1, 2, 3, CONTROL])
        if rng.random() < 0.7 and port in STATIONS and frame[:1] == b"\x02":
            frame = mac(STATIONS[port]) + frame[6:]
        before = [router.counter(f"RouterIngress.{one}", i) for one in ("bad", "punted") for i in range(16)]
        got = router.process(port, frame, number * 1_000)
        kind, reason, out = expected(port, frame)
        outcomes[f"{kind} {(PUNTS if kind == 'punt' else BADS)[reason]}" if kind != "out" else "out"] += 1
        wanted = {"bad": [], "punt": [(CONTROL, out)], "out": [(reason, out)]}[kind]
        assert got == wanted, f"frame {number} of seed {seed()}, port {port}, {kind} {reason}: {frame[:90].hex()}"
        assert all(is_right(one) for _, one in got if kind == "out" and port != CONTROL)
        after = [router.counter(f"RouterIngress.{one}", i) for one in ("bad", "punted") for i in range(16)]
        counted = [i for i in range(32) if after[i] != before[i]]
        assert counted == {"bad": [reason], "punt": [16 + reason], "out": []}[kind]
    print(dict(sorted(outcomes.items())))
    for kind, names in (("punt", PUNTS[1:]), ("bad", BADS[1:-1])):
        for one in names:
            assert outcomes[f"{kind} {one}"] > 0, f"{kind} {one}"
    assert outcomes["out"] > 100


def test_without_a_control_port() -> None:
    state = tables()
    state["defaults"] = []
    router = machine_of("router", state)
    assert router.process(0, bytes(Ether(dst=STATIONS[0]) / IP(src="10.0.0.9", dst="10.0.0.1") / UDP()), 0) == []
    assert router.counter("RouterIngress.bad", BADS.index("control")) == 1


def packet(ecn: int = 0, dscp: int = 0, version: int = 4, size: int = 1000) -> bytes:
    """A frame through the router from port 0 to port 1."""
    tos = dscp << 2 | ecn
    ether = Ether(dst=STATIONS[0], src="02:cc:00:00:00:01")
    if version == 4:
        return bytes(ether / IP(src="10.0.0.9", dst="10.1.0.77", tos=tos, options=IPOption(b"\x01" * 4)) / UDP() / Raw(bytes(size)))
    return bytes(ether / IPv6(src="2001:db8::9", dst="2001:db8:1::77", tc=tos) / IPv6ExtHdrDestOpt() / UDP() / Raw(bytes(size)))


def overload(
    router: P4Program, frame: bytes, packets: int, start: int = 0, gap: int = 1_000, slow: int = 1_500
) -> list[tuple[int, bytes | None]]:
    """Send a frame every `gap` us to a link that takes one every `slow` us. Returns time and frame of each turn; None: dropped."""
    out, queue = [], (1, 0)
    events = [(start + i * gap, 0) for i in range(packets)] + [(start + i * slow, 1) for i in range(packets)]
    for now, leaves in sorted(events):
        if not leaves:
            router.machine.arrive(0, frame, now & 2**48 - 1)
        elif router.machine.waiting(*queue):
            out.append((now, router.machine.depart(*queue, now & 2**48 - 1)))
        while router.machine.waiting(CLONES, 0):
            assert router.machine.depart(CLONES, 0, now & 2**48 - 1) is None
    return out


def ecn_of(frame: bytes) -> int:
    return frame[15] & 3 if frame[12:14] == b"\x08\x00" else frame[15] >> 4 & 3


@pytest.mark.parametrize("version", [4, 6])
def test_queue_by_dscp(version: int) -> None:
    router = machine_of("router", tables())
    for dscp, queue in (*QUEUES.items(), (0, 0), (63, 0)):
        before = [router.counter("RouterEgress.sent", 8 + i) for i in range(8)]
        assert router.process(0, packet(dscp=dscp, version=version), 0)
        after = [router.counter("RouterEgress.sent", 8 + i) for i in range(8)]
        assert [i for i in range(8) if after[i] != before[i]] == [queue]


def test_measurement() -> None:
    """Sum, largest and histogram of the sojourn times of each queue."""
    rng = random.Random(seed())
    router = machine_of("router", tables())
    waits = [0, 1, 2, 3, 4, 2**30 - 1, 2**30, 2**31, 2**32 - 1] + [rng.randrange(2 ** rng.randrange(1, 31)) for _ in range(200)]
    for wait in waits:
        router.process(0, packet(dscp=46), 10**6, 0, wait)
    index = 1 * 8 + QUEUES[46]
    assert router.register("RouterEgress.measure.sojourn_sum", index) == sum(waits)
    assert router.register("RouterEgress.measure.sojourn_max", index) == max(waits)
    buckets = Counter(min(wait.bit_length(), 31) for wait in waits)
    assert [router.counter("RouterEgress.measure.histogram", index * 32 + i) for i in range(32)] == [buckets[i] for i in range(32)]
    assert router.register("RouterEgress.measure.sojourn_sum", index - 1) == 0


@pytest.mark.parametrize("start", [0, 2**32 - 300_000, 2**48 - 300_000])
@pytest.mark.parametrize("version", [4, 6])
def test_codel_marks_or_drops(version: int, start: int) -> None:
    """A queue that grows: after an interval above the target packets are marked if they may be, else dropped; checksums stay right."""
    for aqm, ecn, marks in (
        ("codel", 0, False),
        ("codel", 2, False),
        ("codel_ecn", 0, False),
        ("codel_ecn", 1, True),
        ("codel_ecn", 2, True),
    ):
        router = machine_of("router", tables(aqm, [5_000]))
        out = overload(router, packet(ecn, version=version), 400, start)
        sent = [frame for _, frame in out if frame is not None]
        marked, dropped = sum(ecn_of(frame) == 3 for frame in sent), len(out) - len(sent)
        first = next(now for now, frame in out if frame is None or ecn_of(frame) == 3) - start
        print(f"{aqm}, ECN {ecn}: {marked} marked, {dropped} dropped of {len(out)}, the first at {first} us")
        assert 110_000 <= first <= 125_000
        assert (marked > 4 and dropped == 0) if marks else (marked == 0 and dropped > 4)
        assert all(is_right(frame) for frame in sent)
        assert router.counter("RouterEgress.marked", 8) == marked and router.counter("RouterEgress.dropped", 8) == dropped
        assert router.counter("RouterEgress.sent", 8) == len(sent)


def test_no_aqm_lets_everything_pass() -> None:
    router = machine_of("router", tables("none"))
    assert all(frame for _, frame in overload(router, packet(), 400))


def test_the_guard_counts_bytes() -> None:
    """Twenty small packets are less than an MTU: not one of them is dropped, however long they wait."""
    router = machine_of("router", tables("codel", [5_000]))
    small = packet(size=0)
    for now in range(0, 2_000_000, 1_000):
        router.machine.arrive(0, small, now)
        if now >= 20_000:
            assert router.machine.depart(1, 0, now) is not None


def test_drops_in_ingress() -> None:
    """As many as egress would have made, none of them in egress; what is still wanted when the queue is short again is called off."""
    router, egress = machine_of("router", tables("codel_ingress", [5_000])), machine_of("router", tables("codel", [5_000]))
    out, other = overload(router, packet(), 600), overload(egress, packet(), 600)
    assert all(frame for _, frame in out)
    made = router.counter("RouterIngress.dropped", 8)
    print(f"{made} dropped in ingress, {sum(frame is None for _, frame in other)} in egress")
    assert made == router.register("codel_made", 8) > 4
    wanted = router.register("codel_wanted", 8)
    assert 0 <= wanted - made <= 1
    now = 10**7
    while router.machine.waiting(1, 0):
        router.machine.depart(1, 0, now)
    assert router.register("codel_wanted", 8) == made
    router.machine.arrive(0, packet(), now)
    assert router.machine.waiting(1, 0) == 1  # no drop of the last busy time is left


def test_pie_drops_what_egress_reports() -> None:
    """Probability and delay as RFC 8033 has them, from the clones' reports; a burst passes; an idle queue forgets."""
    state = tables("pie_drop", [15_000])
    state["mirrors"] = [{"session": 1, "port": CLONES}]
    router = machine_of("router_pie", state, seed() & 0xFFFF)
    before = overload(router, packet(), 250, 10**7)
    assert len(before) + router.machine.waiting(1, 0) == 250  # the burst allowance is 150 ms, and then the probability is small
    overload(router, packet(), 4_000, 2 * 10**7)
    probability = router.register("RouterIngress.pie.drop_prob", 8) / 2**32
    dropped = router.counter("RouterIngress.dropped", 8)
    print(f"probability {probability:.3f}, {dropped} of 4,250 dropped in ingress")
    assert 0.1 < probability < 0.9 and 200 < dropped < 3_000
    while router.machine.waiting(1, 0):
        router.machine.depart(1, 0, 3 * 10**7)
    while router.machine.waiting(CLONES, 0):
        router.machine.depart(CLONES, 0, 3 * 10**7)
    assert router.register("RouterIngress.pie.told", 8) == 1 << 32  # few bytes left, no delay
    router.machine.arrive(0, packet(), 5 * 10**7)
    assert router.register("RouterIngress.pie.drop_prob", 8) == 0


def test_a_clone_says_nothing_of_queues_beyond() -> None:
    """Reports and arrivals for ports that PIE has no state for touch no register."""
    state = tables("pie_drop", [15_000])
    state["mirrors"] = [{"session": 1, "port": CLONES}]
    for entry in state["entries"]:  # port 1 becomes 300
        if entry["table"].endswith(("neighbours4", "links")) and entry["match"][0] == 1:
            entry["match"][0] = 300
        if entry["table"].endswith("routes4") and entry["data"] and entry["data"][0] == 1:
            entry["data"][0] = 300
    router = machine_of("router", state)
    before = registers(router)
    for now in range(0, 10**6, 10**5):
        router.machine.arrive(0, packet(), now)
        assert router.machine.depart(300, 0, now + 50_000) is not None
    assert router.machine.waiting(CLONES, 0) == 0 and registers(router) == before
