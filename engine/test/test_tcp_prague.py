"""The scalable sender against RFC 8257, section 3.3, written down as it stands there; and what its receiver tells.

Times are microseconds, segments have 1,000 byte.
"""

import random
from dataclasses import dataclass
from typing import Any

import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed

MSS, TRIP = 1000, 20_000


@pytest.fixture(scope="module")
def parts() -> Any:
    return engine.module()


@dataclass
class Dctcp:
    """RFC 8257, 3.3: the sender's variables and the steps on each acknowledgement; growth of Reno, by bytes that were not marked."""

    cwnd: float
    alpha: float = 1.0
    window_end: int = 0
    bytes_acked: int = 0
    bytes_marked: int = 0
    reduced: int = 0  # "not more than once for every window of data"
    ssthresh: float = float("inf")
    g: float = 1 / 16

    def acknowledge(self, una: int, nxt: int, acked: int, marked: int) -> None:
        self.bytes_acked += acked  # 1, 2
        self.bytes_marked += marked  # 3
        if una > self.window_end:  # 4
            m = self.bytes_marked / self.bytes_acked  # 5
            self.alpha = self.alpha * (1 - self.g) + self.g * m  # 6
            self.window_end = nxt  # 7
            self.bytes_acked = self.bytes_marked = 0  # 8
        if marked and una > self.reduced:  # 9
            self.cwnd = self.ssthresh = max(self.cwnd * (1 - self.alpha / 2), 2 * MSS)
            self.reduced = nxt
        elif acked > marked:
            self.cwnd += min(acked - marked, MSS) if self.cwnd < self.ssthresh else MSS * (acked - marked) / self.cwnd


@pytest.mark.parametrize("share", [0.02, 0.2, 0.7, 1.0])
def test_alpha_and_window_are_the_rfcs(parts: Any, share: float) -> None:
    """Rounds of acknowledgements, one for each segment, of which a share tells of a mark; after each, alpha and window are compared."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    sender = parts.TcpSender(algorithm="prague", mss=MSS, initial_segments=40, ecn=True, rack=True)
    rfc, now, marks, una, nxt = Dctcp(40 * MSS), 0, 0, 0, 0
    for _ in range(2000):
        while (segment := sender.next(now)) is not None:
            assert segment[2] and not segment[3], "each is ECN-capable, and none says CWR"
            nxt = segment[1]
        now += TRIP // 40
        una += MSS
        marked = MSS if rng.random() < share else 0
        marks += marked
        sender.acknowledged(now, una, [], False, marks)
        rfc.acknowledge(una, nxt, MSS, marked)
        assert sender.alpha == pytest.approx(rfc.alpha, abs=1e-12)
        assert sender.cwnd == pytest.approx(rfc.cwnd, rel=1e-9)
    assert sender.ecn_reductions > 20 and sender.retransmits == 0
    assert rfc.alpha == pytest.approx(share, abs=0.35 if 0.1 < share < 0.9 else 0.1)


def test_a_loss_halves_what_is_under_way(parts: Any) -> None:
    """RFC 8257, 3.5: as Reno, whatever alpha is; and what is sent again is ECT(1), as everything of L4S."""
    sender = parts.TcpSender(algorithm="prague", mss=MSS, initial_segments=20, ecn=True)
    while sender.next(0) is not None:
        pass
    for number in range(2, 5):
        sender.acknowledged(TRIP + number, MSS, [(2 * MSS, (number + 1) * MSS)], False, 0)
    assert sender.state == "recovery" and sender.recoveries == 1
    assert sender.ssthresh == pytest.approx(19 * MSS / 2, abs=MSS)
    again = sender.next(TRIP + 5)
    assert again is not None and again[4] and again[2], "sent before, and ECN-capable"


def test_the_first_mark_ends_slow_start(parts: Any) -> None:
    sender = parts.TcpSender(algorithm="prague", mss=MSS, initial_segments=10, ecn=True)
    while sender.next(0) is not None:
        pass
    sender.acknowledged(TRIP, MSS, [], False, MSS)
    assert sender.alpha == 1.0  # the first window was marked whole
    assert sender.cwnd == 5 * MSS and sender.ssthresh == 5 * MSS


def test_a_receiver_counts_marked_bytes(parts: Any) -> None:
    """It answers at once when marks begin or end (RFC 8257, 3.2), and otherwise every second segment; it never says ECE."""
    receiver = parts.TcpReceiver(mss=MSS, delay=40_000, accurate=True)
    now, at_once = 0, []
    for number, ce in enumerate([False, False, False, True, True, True, False]):
        at_once.append(receiver.received(now, number * MSS, (number + 1) * MSS, ce))
        if at_once[-1]:
            receiver.acknowledge()
        assert not receiver.ece
    assert at_once == [False, True, False, True, False, True, True]
    assert receiver.ce_bytes == 3 * MSS


@pytest.mark.parametrize("version", [4, 6])
def test_segments_are_ect1(parts: Any, version: int) -> None:
    from penstock.scenarios import headers

    heads = headers.Headers(ip=version)
    made = headers.network(heads, 0, 0, 6, 20) + b"\x13\x89\x13\x89" + bytes(16)
    codes = {}
    for l4s in (False, True):
        frame = parts.tcp_segment(made, 14, 1, 500, True, False, 0, 1, l4s)
        codes[l4s] = frame[15] & 3 if version == 4 else frame[15] >> 4 & 3
        assert parts.parse_tcp_segment(frame, 14) is not None, "lengths and sums are right"
    assert codes == {False: 2, True: 1}
