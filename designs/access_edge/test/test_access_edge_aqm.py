# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""AQM in the device: what it does to each queue is what RFC 8289 does to the same queue, and marks stand in the frames that come out."""

import random
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scapy.utils import RawPcapReader

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.registers import Aqm, rate_code
from penstock.designs.access_edge.testing import twins
from penstock.designs.access_edge.testing.testcore import TestCore
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.paths import BLOCKS
from penstock.testing.testjobs import assert_clean
from penstock.testing.testkit import seed

sys.path.insert(0, str(BLOCKS / "aqm" / "test"))
sys.path.insert(0, str(BLOCKS / "aqm" / "codel" / "test"))

import ecn_frames
from rfc8289 import DROP, MARK, PASS, CodelQueue, Packet

CLOCK_HZ = 220_000_000
TICK_SHIFT, MAX_PACKET = 2, 100
COMMIT_TO_VERDICT = {False: 5, True: 7}  # cycles from the dequeue's commit to ev_deq, by Estimate
TAKE_TO_VERDICT = 2  # cycles from the reading of the clock to ev_deq


@dataclass(frozen=True)
class Recorded(Packet):
    """A packet as the device has treated it: when it was taken from its queue (tick), and the bytes that it left behind."""

    taken: int = 0
    left: int = 0


class RecordedQueue(CodelQueue):
    """The RFC's queue whose packets come from a record: the bytes left behind are those that the device saw."""

    def dodequeue(self, now: int) -> tuple[Packet | None, bool]:
        if self.packets:
            self.bytes = self.packets[0].left + self.packets[0].length
        return super().dodequeue(now)

    def replay(self, records: list[Recorded]) -> list[tuple[int, int]]:
        """Ask for packets until none is left; the clock is read once for each, when the device took the first packet of the round."""
        self.packets = deque(records)
        while self.packets:
            self.dequeue(self.packets[0].taken)
        return self.verdicts


class Recorder:
    """Watches the core's ports: what was enqueued when, and what became of it. Backlogs are counted from the events alone."""

    def __init__(self, core: TestCore, estimate: bool) -> None:
        self.core, self.estimate = core, estimate
        self.offered: deque[tuple[int, int, int, bool]] = deque()  # queue, tick, length, ect: not decided
        self.waiting: dict[int, deque[tuple[int, int, int, bool]]] = defaultdict(deque)  # commit, tick, length, ect
        self.records: dict[int, list[Recorded]] = defaultdict(list)
        self.verdicts: dict[int, list[int]] = defaultdict(list)

    def cycle(self) -> None:
        pins = self.core.pins
        coming = (pins.s_enq_queue, pins.s_enq_len, bool(pins.s_enq_ect)) if pins.s_enq_valid else None
        self.core.cycle()
        if coming and not pins.s_enq_valid:
            self.offered.append((coming[0], pins.now >> TICK_SHIFT, *coming[1:]))
        if pins.ev_valid:
            queue, tick, length, ect = self.offered.popleft()
            assert (queue, length, 0) == (pins.ev_queue, pins.ev_len, pins.ev_reason)
            self.waiting[queue].append((pins.now - 1, tick, length, ect))
        if pins.ev_deq_valid:
            queue = pins.ev_deq_queue
            _, tick, length, ect = self.waiting[queue].popleft()
            commit = pins.now - COMMIT_TO_VERDICT[self.estimate]
            left = sum(other for when, _, other, _ in self.waiting[queue] if when < commit)
            number = len(self.records[queue])
            taken = (pins.now - TAKE_TO_VERDICT) >> TICK_SHIFT
            self.records[queue].append(Recorded(number, tick, length, ect, taken, left))
            self.verdicts[queue].append(DROP if pins.ev_deq_reason == 8 else MARK if pins.ev_deq_mark else PASS)


# A queue's rate, its AQM, and the load that it gets while it is loaded.
QUEUES = [
    (10**10, Aqm.of_halves(10, 60), 1.3),
    (10**10, Aqm.of_halves(10, 60, ecn=True), 1.3),
    (3 * 10**9, Aqm.of_halves(30, 300), 3.0),
    (25 * 10**9, Aqm.of_halves(5, 40, ecn=True), 1.1),
    (10**10, Aqm.of_halves(10, 60, enable=False), 1.2),
]


@pytest.mark.parametrize("estimate", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_codel_is_the_rfcs(estimate: bool) -> None:
    """Unresponsive overload with pauses: every drop and mark of every queue is the RFC's, several re-entries into dropping included."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    parameters = {"aqm": "codel", "AqmEstimate": int(estimate), "TickShift": TICK_SHIFT, "MaxPacketBytes": MAX_PACKET}
    core = TestCore(16, 1024, aqm=parameters)
    recorder = Recorder(core, estimate)
    for queue, (rate, aqm, _) in enumerate(QUEUES):
        core.configure(queue, *rate_code(rate, CLOCK_HZ), aqm=aqm)
    due = [0.0] * len(QUEUES)  # cycle of each queue's next packet
    pauses = [rng.randrange(8_000, 30_000) for _ in QUEUES]
    for step in range(250_000):
        recorder.cycle()
        for queue, (rate, _, load) in enumerate(QUEUES):
            if step > pauses[queue]:  # a pause, now and then so short that the next episode is a re-entry
                due[queue] = step + rng.choice([100, 400, 4_000])
                pauses[queue] = step + rng.randrange(4_000, 40_000)
            if step >= due[queue] and len(core.held[queue]) < 180:
                length = rng.choice([60, 200, 590])
                if core.offer(queue, length, ect=rng.random() < 0.6):
                    due[queue] += length * 8 * CLOCK_HZ / (rate * load * rng.uniform(0.7, 1.3))
    seen: Counter[int] = Counter()
    reentries = entries = 0
    for queue, (rate, aqm, _) in enumerate(QUEUES):
        assert len(recorder.records[queue]) > 1000
        if not aqm.enable:
            assert set(recorder.verdicts[queue]) == {PASS}
            continue
        mantissa, exponent = rate_code(rate, CLOCK_HZ)

        def by_rate(_now: int, packet: Packet, left: int, mantissa: int = mantissa, exponent: int = exponent) -> int:
            return (left + packet.length) * (mantissa << exponent) >> 31 + TICK_SHIFT

        reference = RecordedQueue(aqm.halves[0], aqm.halves[1], MAX_PACKET, aqm.ecn, by_rate if estimate else None)
        expected = [verdict for _, verdict in reference.replay(recorder.records[queue])]
        wrong = next((n for n, (a, b) in enumerate(zip(expected, recorder.verdicts[queue], strict=True)) if a != b), None)
        assert wrong is None, f"queue {queue}: packet {wrong}, {recorder.records[queue][wrong]}"
        seen.update(expected)
        entries, reentries = entries + reference.entries, reentries + reference.reentries
    assert seen[DROP] > 300 and seen[MARK] > 100, seen
    assert entries > 40 and reentries > 10, (entries, reentries)
    core.close()


# A rate for each queue at which its AQM acts, that AQM, how often all frames are sent, and the longest gap between two in cycles.
MARKING = {
    "tiny_codel_16": (3 * 10**9, Aqm.of_halves(2, 2, ecn=True), 1, 60),
    "tiny_pie_16": (5 * 10**8, Aqm.of_halves(5, 0, ecn=True), 8, 24),
}


@pytest.fixture(scope="module", params=["tiny_codel_16", pytest.param("tiny_pie_16", marks=pytest.mark.slow)])
def device(request: pytest.FixtureRequest) -> Iterator[tuple[configs.Configuration, Path]]:
    """The RTL of a configuration."""
    config = configs.load(request.param)
    yield config, verilate.build_device(config, print)


def test_marks_stand_in_the_frames(device: tuple[configs.Configuration, Path], tmp_path: Path) -> None:
    """IPv4 and IPv6 frames of scapy's: those that are marked come out as scapy marks them, checksum and all; all others as they came."""
    config, library = device
    rng = random.Random(seed())
    rate, aqm, times, gap = MARKING[config.name]
    sent = [
        made for made in (ecn_frames.frame(rng)[0] for _ in range(4000)) if config.min_frame_bytes <= len(made) <= config.max_frame_bytes
    ] * times
    source = {
        "kind": "frames",
        "cycles": np.cumsum([rng.randint(0, gap) for _ in sent]),
        "queues": np.array([rng.randrange(3) for _ in sent], dtype=np.uint32),
        "offsets": np.cumsum([0, *map(len, sent)])[:-1],
        "lengths": [len(frame) for frame in sent],
        "stored": [len(frame) for frame in sent],
        "data": np.frombuffer(b"".join(sent), dtype=np.uint8),
    }
    writes = [write for queue in range(3) for write in registers.queue_writes(queue, rate, 0, 65_535, 16_777_215, config.clock_hz, aqm)]
    # PIE marks only on its way to a probability of 0.1: it is turned off and on again, so that it goes there often.
    restarts = [] if config.aqm == "codel" else [
        (cycle + 1000 * on, *write)
        for cycle in range(40_000, gap // 2 * len(sent), 40_000)
        for on in (0, 1)
        for queue in range(3)
        for write in registers.queue_writes(queue, rate, 0, 65_535, 16_777_215, config.clock_hz, aqm if on else registers.NO_AQM)
    ]  # fmt: skip
    results = []
    for where in (library, None):
        found = engine.run({
            "device": twins.device(config, where, {"read_latency": 44, "write_latency": 22}),
            "duration_cycles": None,
            "drain": True,
            "register_writes": writes,
            "timed_register_writes": restarts,
            "sources": [source],
            "sample_queues": [0, 1, 2],
            "keep_departures": True,
            "pcap_out": str(tmp_path / "out.pcap"),
        })  # fmt: skip
        assert_clean(found)
        marked = Counter()
        known = set(sent)
        back = {ecn_frames.remarked(frame) for frame in sent if _ecn(frame) in (1, 2)}
        for data, _ in RawPcapReader(str(tmp_path / "out.pcap")):
            marked["as it came" if data in known else "marked" if data in back else "wrong"] += 1
        assert marked["wrong"] == 0 and marked["marked"] == found["marked_packets"] > (100 if config.aqm == "codel" else 20), marked
        assert found["marked_packets"] == found["queue"]["marked_packets"].sum()
        assert found["packets"]["dropped"]["aqm"] == found["queue"]["aqm_drop_packets"].sum() > 20
        results.append(found)
    assert twins.differences(*results) == []


def test_a_run_ends_while_frames_are_on_slow_lines(device: tuple[configs.Configuration, Path]) -> None:
    """A frame takes up to a million cycles on either line, longer than the device's way: its counters are what was seen all the same.

    The stages that mark frames hold some that the device has counted as sent.
    """
    print(f"PENSTOCK_SEED={seed()}")
    config, library = device
    rng = random.Random(f"{seed()} slow")
    for _ in range(5):
        size, slow = rng.choice([64, 300, 1514]), config.clock_hz * 10 ** rng.uniform(-2, 0)
        keys = {
            "duration_cycles": rng.randint(20_000, 60_000),
            "drain": False,
            "ingress_bps": rng.choice([0, slow, 100 * config.clock_hz]),
            "egress_bps": slow,
            "egress_buffer_bytes": rng.choice([0, 500]),
            "sources": [{"kind": "constant", "queues": range(3), "pick": "random", "bps": 20.0 * config.clock_hz, "sizes": [(size, 1)]}],
            "sample_queues": [0, 1, 2],
            "keep_departures": True,
        }
        print(keys)
        timing = {"read_latency": 44, "write_latency": 22}
        found = [engine.run({"device": twins.device(config, where, timing), **keys}) for where in (library, None)]
        for result in found:
            assert_clean(result)
        assert twins.differences(*found) == []


def _ecn(frame: bytes) -> int | None:
    """The ECN field as scapy sees it, for frames that it takes apart without a word."""
    packet = ecn_frames.Ether(frame)
    for layer in (ecn_frames.IP, ecn_frames.IPv6):
        if layer in packet:
            return (packet[layer].tos if layer is ecn_frames.IP else packet[layer].tc) & 3
    return None
