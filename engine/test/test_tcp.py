"""The parts of a TCP connection against arithmetic by hand from their RFCs; and whole connections through paths that lose at random.

Times are microseconds here (a clock of 1 MHz), segments have 1,000 byte unless a test says otherwise.
"""

import heapq
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed

MSS = 1000
SECOND = 1_000_000


@pytest.fixture(scope="module")
def parts() -> Any:
    return engine.module()


def drain(sender: Any, now: int) -> list[tuple[int, int]]:
    """Return what the sender sends now: in segments, (number, whether again)."""
    found = []
    while (segment := sender.next(now)) is not None:
        found.append((segment[0] // MSS, segment[4]))
    return found


def fresh(*numbers: int) -> list[tuple[int, bool]]:
    return [(number, False) for number in numbers]


# ---- RFC 6298


def test_timeout_by_hand(parts: Any) -> None:
    """2.2: SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR. 2.3: RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R'|, SRTT = 7/8 SRTT + 1/8 R'."""
    rto = parts.RetransmissionTimeout(SECOND, 1000, 60 * SECOND)
    assert rto.timeout == SECOND  # 2.1
    rto.sample(100_000)
    assert (rto.srtt, rto.variation, rto.timeout) == (100_000, 50_000, 300_000)
    rto.sample(140_000)  # |100 - 140| = 40: 3/4 50 + 1/4 40 = 47.5; 7/8 100 + 1/8 140 = 105; 105 + 190
    assert (rto.srtt, rto.variation, rto.timeout) == (105_000, 47_500, 295_000)
    rto.sample(105_000)  # 3/4 47.5 = 35.625; 105 + 142.5
    assert (rto.srtt, rto.variation, rto.timeout) == (105_000, 35_625, 247_500)


@pytest.mark.parametrize(("least", "most"), [(SECOND, 60 * SECOND), (200_000, 3 * SECOND)])
def test_timeout_has_bounds_and_doubles(parts: Any, least: int, most: int) -> None:
    rto = parts.RetransmissionTimeout(SECOND, least, most)
    rto.sample(10_000)  # 10 + 20 = 30 ms
    assert rto.timeout == least
    for again in range(1, 10):
        rto.back_off()
        assert rto.timeout == min(least << again, most)
    rto.sample(10_000)  # a new sample ends the back-off
    assert rto.timeout == least


def test_timeouts_in_sequence(parts: Any) -> None:
    """Nothing is ever acknowledged: the first segment goes out at 0, 1, 3, 7, 15, 31, 63 and then each 60 s (RFC 6298, 5.5)."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS)
    assert drain(sender, 0) == fresh(*range(10))
    now, sent = 0, [0]
    for _ in range(8):
        now = sender.timer
        sender.expired(now)
        assert drain(sender, now) == [(0, True)]
        sent.append(now // SECOND)
    assert sent == [0, 1, 3, 7, 15, 31, 63, 123, 183]
    assert sender.cwnd == MSS and sender.ssthresh == 5 * MSS  # half of ten, once for all (RFC 5681, 3.1)


def test_a_segment_that_was_sent_twice_tells_no_round_trip(parts: Any) -> None:
    sender = parts.TcpSender(algorithm="reno", mss=MSS, initial_segments=1)
    drain(sender, 0)
    sender.expired(SECOND)
    drain(sender, SECOND)
    sender.acknowledged(SECOND + 50_000, MSS)
    assert sender.srtt == 0 and sender.timeout == 2 * SECOND  # Karn: it stays backed off
    drain(sender, SECOND + 50_000)
    sender.acknowledged(SECOND + 80_000, 2 * MSS)
    assert sender.srtt == 30_000 and sender.timeout == SECOND


# ---- windows


def test_slow_start_doubles(parts: Any) -> None:
    """An acknowledgement for each segment: 10, 20, 40, 80 segments; for every second one half as many more (RFC 5681, 3.1)."""
    for every, windows in ((1, [10, 20, 40, 80]), (2, [10, 15, 22, 33])):
        sender = parts.TcpSender(algorithm="reno", mss=MSS)
        flight = len(drain(sender, 0))
        heard = now = 0
        for window in windows:
            assert sender.cwnd == window * MSS and flight == window
            now += 10_000
            for _ in range(flight // every):
                heard += every
                sender.acknowledged(now, heard * MSS)
                flight += len(drain(sender, now)) - every
            flight = sender.flight // MSS


def test_reno_grows_by_a_segment_a_round_trip(parts: Any) -> None:
    congestion = parts.Congestion.make("reno", MSS, 20)
    congestion.reduce(0, 20 * MSS)
    congestion.cwnd = congestion.ssthresh
    assert congestion.cwnd == 10 * MSS and not congestion.slow_start
    for trip in range(20):
        window = 10 + trip
        for _ in range(window):
            assert congestion.cwnd == window * MSS
            congestion.acknowledged(trip, MSS)
        assert congestion.cwnd == (window + 1) * MSS
    congestion.reduce(0, 3 * MSS)
    assert congestion.ssthresh == 2 * MSS  # never less (equation 4 of RFC 5681)


@pytest.mark.parametrize(("mss", "trip"), [(1460, 0.1), (500, 0.05)])
def test_cubic_follows_its_curve(parts: Any, mss: int, trip: float) -> None:
    """From W_max = 100 the window is 70, then C (t - K)^3 + W_max with K = cbrt((100 - 70) / 0.4) = 4.217 s (RFC 9438, figures 1 and 2)."""
    congestion = parts.Congestion.make("cubic", mss, 100)
    congestion.reduce(0, 100 * mss)
    congestion.cwnd = congestion.ssthresh
    assert congestion.cwnd == pytest.approx(70 * mss)
    k = (30 / 0.4) ** (1 / 3)
    now = 0.0
    for _ in range(round(8 / trip)):
        # A window's worth of acknowledgements in each round trip, evenly spread; each brings it nearer to the curve a round trip ahead.
        count = round(congestion.cwnd / mss)
        for index in range(count):
            congestion.acknowledged(round((now + trip * index / count) * 1e6), mss, 0, round(trip * 1e6))
        now += trip
        curve = 0.4 * (now - k) ** 3 + 100
        # The Reno-friendly window, 0.53 segments a round trip and after 100 segments one, lies below it all the time with these round trips
        # but at the plateau's beginning; the larger one counts.
        friendly = 70 + 0.5294 * now / trip if 70 + 0.5294 * now / trip < 100 else 100 + (now / trip - 30 / 0.5294)
        assert congestion.cwnd / mss == pytest.approx(max(curve, friendly), rel=0.03), f"after {now:.2f} s"
    assert congestion.cwnd > 110 * mss


def test_cubic_converges_fast(parts: Any) -> None:
    """4.7: when the window at a loss is below the last W_max, the next plateau is at (1 + 0.7) / 2 of it; K tells which plateau it is."""
    congestion = parts.Congestion.make("cubic", MSS, 100)
    congestion.reduce(0, 100 * MSS)
    congestion.cwnd = 80 * MSS
    congestion.reduce(1, 80 * MSS)  # W_max = 80 * 0.85 = 68, and the window goes on from 56
    congestion.cwnd = congestion.ssthresh
    assert congestion.cwnd == pytest.approx(56 * MSS)
    k = ((68 - 56) / 0.4) ** (1 / 3)
    congestion.acknowledged(0, 0)  # the epoch begins
    congestion.acknowledged(SECOND, MSS, 0, round(k * 1e6) - SECOND)  # the target is the curve a round trip ahead: the plateau
    assert congestion.cwnd / MSS == pytest.approx(56 + (68 - 56) / 56, rel=1e-6)


def test_cubic_is_as_fast_as_reno_on_short_paths(parts: Any) -> None:
    """4.3: with a millisecond of round trip the curve is flat; the window grows by 0.53 segments a round trip until the old one, then 1."""
    congestion = parts.Congestion.make("cubic", MSS, 20)
    congestion.reduce(0, 20 * MSS)
    congestion.cwnd = congestion.ssthresh
    window, alpha = 14.0, 0.9 / 1.7
    for trip in range(40):
        for _ in range(20):
            congestion.acknowledged(trip * 1000, MSS, 0, 1000)
            window += (alpha if estimate_below(window, 20) else 1.0) / window
    assert congestion.cwnd / MSS == pytest.approx(window, rel=0.01)


@pytest.mark.parametrize(("algorithm", "step"), [("cubic", 1.0), ("cubic_linux", 0.9 / 1.7)])
def test_growth_above_the_last_window(parts: Any, algorithm: str, step: float) -> None:
    """4.3: above the window before the last reduction CUBIC should grow as Reno does; Linux does not."""
    congestion = parts.Congestion.make(algorithm, MSS, 10)
    congestion.reduce(0, 10 * MSS)
    congestion.cwnd = congestion.ssthresh
    heard = 0
    while congestion.cwnd < 10 * MSS:
        congestion.acknowledged(heard, MSS, 0, 1000)
        heard += 1
    before = congestion.cwnd
    for _ in range(10):
        congestion.acknowledged(heard, MSS, 0, 1000)
    assert (congestion.cwnd - before) / MSS == pytest.approx(step, rel=0.06)


def estimate_below(window: float, prior: float) -> bool:
    return window < prior


def test_a_timeout_sets_the_plateau(parts: Any) -> None:
    """4.8: the first congestion avoidance after a timeout begins with K = 0: target is C t^3 above the window."""
    congestion = parts.Congestion.make("cubic", MSS, 50)
    congestion.timeout(0, 50 * MSS)
    assert congestion.cwnd == MSS and congestion.ssthresh == pytest.approx(35 * MSS)
    congestion.cwnd = 40 * MSS
    congestion.acknowledged(0, 0)
    congestion.acknowledged(SECOND, MSS, 0, SECOND)  # a round trip ahead: 0.4 * 2^3 = 3.2 above 40
    assert congestion.cwnd / MSS == pytest.approx(40 + 3.2 / 40)


def test_hystart_leaves_slow_start(parts: Any) -> None:
    """RFC 9406: a round whose eight samples are an eighth above the last round's least: a quarter of the growth for five rounds."""
    congestion = parts.Congestion.make("reno", MSS, 10, hystart=True)
    una = 0

    def hear(count: int, round_trip: int) -> float:
        nonlocal una
        before = congestion.cwnd
        for _ in range(count):  # ten are under way all the time, so a round is ten
            una += MSS
            congestion.acknowledged(0, MSS, round_trip, round_trip, una, una + 10 * MSS)
        return float(congestion.cwnd - before) / MSS

    hear(11, 100_000)
    assert hear(10, 112_000) == 10  # an eighth of 100 ms is 12.5: not yet
    assert hear(10, 127_000) == 8 + 2 / 4  # 15 above 112, an eighth of which is 14: the eighth sample tells
    for _ in range(4):
        assert congestion.slow_start
        assert hear(10, 127_000) == 10 / 4
    assert not congestion.slow_start  # five rounds, the one in which it began counted


# ---- RFC 6675 and 9937


def test_one_loss_by_hand(parts: Any) -> None:
    """Ten segments, the first is lost. Limited transmit for two duplicates, then recovery, paced by what is delivered."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS)
    assert drain(sender, 0) == fresh(*range(10))
    sent = []
    for number in range(1, 10):  # 1 to 9 arrive
        sender.acknowledged(10_000 + number, 0, [(MSS, (number + 1) * MSS)])
        sent.append(drain(sender, 10_000 + number))
    # pipe is 9, 8 of a window of 10: a new segment each (RFC 3042). The third: more than two segments are sacked above 0.
    assert sent[0] == fresh(10) and sent[1] == fresh(11)
    assert sent[2] == [(0, True)]
    assert sender.state == "recovery" and sender.ssthresh == 5 * MSS  # 12 are under way, but limited transmit does not count
    # PRR: RecoverFS is 12 - 2 sacked before, so ceil(5 / 10 of what is delivered) may go: the first is sent at once, the next one when four
    # are delivered; then the pipe is 5, and for each one that leaves it another one goes.
    total = [sum(len(part) for part in sent[2 : index + 1]) for index in range(2, 9)]
    assert total == [1, 1, 1, 2, 2, 2, 3]
    assert [part for part in sent[3:] if part] == [fresh(12), fresh(13)]
    sender.acknowledged(20_000, 12 * MSS)
    assert sender.state == "open" and sender.cwnd == 5 * MSS
    assert sender.recoveries == 1 and sender.retransmits == 1


@pytest.mark.parametrize(("algorithm", "beta"), [("reno", 0.5), ("cubic", 0.7), ("cubic_linux", 0.7)])
@pytest.mark.parametrize("window", [4, 6, 10])
def test_limited_transmit_is_not_in_the_threshold(parts: Any, algorithm: str, beta: float, window: int) -> None:
    """RFC 5681, 3.2, step 2: what limited transmit has sent is no part of FlightSize; of a window of four it would be half."""
    sender = parts.TcpSender(algorithm=algorithm, mss=MSS, initial_segments=window)
    assert drain(sender, 0) == fresh(*range(window))
    for number in (1, 2, 3):
        sender.acknowledged(10_000, 0, [(MSS, (number + 1) * MSS)])
        if number < 3:
            assert drain(sender, 10_000) == fresh(window + number - 1)
    assert sender.state == "recovery" and sender.flight == (window + 2) * MSS
    assert sender.ssthresh == pytest.approx(max(2, beta * window) * MSS)


def test_what_recovery_sends_is_not_in_the_threshold_after_a_timeout(parts: Any) -> None:
    """What was sent again is lost too: recovery goes on with new segments, and none of it makes the threshold larger (RFC 5681, 3.1)."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS, initial_segments=10, least_timeout=200_000)
    drain(sender, 0)
    for number in range(1, 60):
        sender.acknowledged(10_000, 0, [(MSS, (number + 1) * MSS)])
        drain(sender, 10_000)
        if sender.flight <= (number + 1) * MSS:
            break
    assert sender.ssthresh == 5 * MSS and sender.flight > 10 * MSS
    sender.expired(sender.timer)
    assert sender.timeouts == 1 and sender.ssthresh <= 5 * MSS


def test_scoreboard_of_planted_losses(parts: Any) -> None:
    """0, 3 and 5 of twelve are lost. IsLost(): 0 with the third sacked segment, 3 and 5 when more than two segments lie above each."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS, initial_segments=12)
    drain(sender, 0)
    sent: list[tuple[int, bool]] = []

    def sacks(*ranges: tuple[int, int]) -> None:
        sender.acknowledged(10_000, 0, [(low * MSS, high * MSS) for low, high in ranges])

    sacks((1, 2))
    sacks((1, 3))
    assert sender.pipe == 10 * MSS and sender.state == "open"
    sacks((4, 5), (1, 3))  # three segments above 0
    assert sender.state == "recovery"
    assert sender.pipe == 8 * MSS  # 12 - 3 sacked - 1 lost
    sent += drain(sender, 10_000)
    assert sent == [(0, True)] and sender.pipe == 9 * MSS
    sacks((6, 7), (4, 5), (1, 3))  # two above 3
    assert sender.pipe == 8 * MSS
    sent += drain(sender, 10_000)
    sacks((6, 8), (4, 5), (1, 3))  # three above 3, two above 5: 3 is lost
    sent += drain(sender, 10_000)
    sacks((6, 9), (4, 5), (1, 3))  # and 5
    sent += drain(sender, 10_000)
    sacks((6, 10), (4, 5), (1, 3))
    sent += drain(sender, 10_000)
    sacks((6, 12), (4, 5), (1, 3))
    sent += drain(sender, 10_000)
    assert [number for number, again in sent if again] == [0, 3, 5]
    assert all(again for _, again in sent[:3])
    sender.acknowledged(20_000, 3 * MSS, [(4 * MSS, 5 * MSS), (6 * MSS, 12 * MSS)])
    assert sender.state == "recovery"  # partly
    sender.acknowledged(20_000, 5 * MSS, [(6 * MSS, 12 * MSS)])
    sender.acknowledged(20_000, 12 * MSS)
    assert sender.state == "open" and sender.retransmits == 3 and sender.cwnd == 6 * MSS


def test_a_lost_tail_has_one_rescue(parts: Any) -> None:
    """NextSeg() rule 4: with nothing new to send, the last segment that is outstanding goes out again, once."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS, bytes=10 * MSS)
    drain(sender, 0)
    sent: list[tuple[int, bool]] = []
    for number in range(1, 8):  # 0, 8 and 9 are lost
        sender.acknowledged(10_000, 0, [(MSS, (number + 1) * MSS)])
        sent += drain(sender, 10_000)
    assert sent == [(0, True), (9, True)]


# ---- RFC 8985


def test_a_segment_that_is_lost_twice_is_sent_a_third_time(parts: Any) -> None:
    """RACK: what is sent after the retransmission arrives and the retransmission does not. Without RACK that waits for the timeout."""
    for rack, again in ((True, [(0, True)]), (False, [])):
        sender = parts.TcpSender(algorithm="reno", mss=MSS, rack=rack)
        drain(sender, 0)
        for number in range(1, 10):
            sender.acknowledged(10_000 + number, 0, [(MSS, (number + 1) * MSS)])
            drain(sender, 10_000 + number)  # 0 again at 10,003, 12 and 13 later than that, 10 and 11 earlier
        assert sender.retransmits == 1
        sender.acknowledged(20_001, 0, [(MSS, 11 * MSS)])
        sender.acknowledged(20_002, 0, [(MSS, 12 * MSS)])
        assert [segment for segment in drain(sender, 20_002) if segment[1]] == []
        sender.acknowledged(20_006, 0, [(MSS, 13 * MSS)])
        assert [segment for segment in drain(sender, 20_006) if segment[1]] == again
        assert sender.recoveries == 1 and sender.timeouts == 0


def test_a_loss_that_one_segment_tells_of(parts: Any) -> None:
    """One duplicate comes. 6.2, step 4: the segment is lost a quarter of the least round trip later than its own."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS, initial_segments=1, rack=True, least_timeout=SECOND)
    drain(sender, 0)
    sender.acknowledged(10_000, MSS)  # a round trip of 10,000
    assert drain(sender, 10_000) == fresh(1, 2)
    sender.acknowledged(20_000, MSS, [(2 * MSS, 3 * MSS)])
    assert drain(sender, 20_000) == fresh(3)  # limited transmit
    assert sender.state == "open" and sender.timer == 10_000 + 10_000 + 2_500
    sender.expired(22_500)
    assert sender.state == "recovery" and drain(sender, 22_500) == [(1, True)]
    assert sender.ssthresh == 2 * MSS and sender.timeouts == 0


def test_what_comes_out_of_order_is_not_lost(parts: Any) -> None:
    sender = parts.TcpSender(algorithm="reno", mss=MSS, initial_segments=2, rack=True)
    drain(sender, 0)
    sender.acknowledged(10_000, 0, [(MSS, 2 * MSS)])
    drain(sender, 10_000)
    assert sender.timer == 12_500
    sender.acknowledged(12_000, 2 * MSS)
    drain(sender, 12_000)
    assert sender.state == "open" and sender.recoveries == 0 and sender.retransmits == 0
    assert sender.timer > 12_500


def test_a_lost_end_is_probed(parts: Any) -> None:
    """7.2: after two smoothed round trips the last segment goes again, and its SACK tells of the others; 200 ms more with one under way."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS, bytes=6 * MSS, rack=True, least_timeout=SECOND)
    assert drain(sender, 0) == fresh(*range(6))
    sender.acknowledged(10_000, 4 * MSS)
    assert sender.timer == 30_000
    sender.expired(30_000)
    assert drain(sender, 30_000) == [(5, True)] and sender.probes == 1
    assert sender.timer == 30_000 + SECOND  # one probe only; then the timeout, from then on
    sender.acknowledged(40_000, 4 * MSS, [(5 * MSS, 6 * MSS)])
    assert sender.state == "recovery" and drain(sender, 40_000) == [(4, True)]
    sender.acknowledged(50_000, 6 * MSS)
    assert sender.done and sender.timeouts == 0
    late = parts.TcpSender(algorithm="reno", mss=MSS, bytes=6 * MSS, rack=True, least_timeout=SECOND)
    drain(late, 0)
    late.acknowledged(10_000, 3 * MSS)
    late.expired(30_000)
    assert drain(late, 30_000) == [(5, True)]
    late.acknowledged(31_000, 4 * MSS)  # the probe is still under way
    assert late.timer == 31_000 + SECOND
    alone = parts.TcpSender(algorithm="reno", mss=MSS, bytes=6 * MSS, rack=True, least_timeout=SECOND)
    drain(alone, 0)
    alone.acknowledged(10_000, 5 * MSS)
    assert alone.timer == 10_000 + 20_000 + 200_000


def test_a_probe_may_be_new_and_larger_than_the_window(parts: Any) -> None:
    sender = parts.TcpSender(algorithm="reno", mss=MSS, initial_segments=4, rack=True)
    assert drain(sender, 0) == fresh(0, 1, 2, 3)
    assert sender.timer == SECOND  # no round trip is known
    sender.expired(SECOND)
    assert drain(sender, SECOND) == fresh(4) and sender.timer == 2 * SECOND


@pytest.mark.parametrize("needed", [True, False])
def test_a_probe_that_repairs_a_loss_counts_as_one(parts: Any, needed: bool) -> None:
    """7.4: D-SACK says that both copies have come, so nothing was lost; without it the window is reduced."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS, initial_segments=4, window=4 * MSS, rack=True)
    drain(sender, 0)
    sender.acknowledged(10_000, MSS)
    drain(sender, 10_000)
    sender.acknowledged(20_000, 3 * MSS)
    drain(sender, 20_000)
    sender.acknowledged(30_000, 6 * MSS)
    drain(sender, 30_000)
    before = sender.cwnd
    sender.expired(sender.timer)
    (probe,) = drain(sender, 60_000)
    assert probe == (9, True)
    receiver = parts.TcpReceiver(mss=MSS)
    for number in range(9 if needed else 10):
        receiver.received(0, number * MSS, (number + 1) * MSS)
        receiver.acknowledge()
    receiver.received(0, 9 * MSS, 10 * MSS)
    assert receiver.sacks == ([] if needed else [(9 * MSS, 10 * MSS)])  # RFC 2883
    sender.acknowledged(70_000, 10 * MSS, receiver.sacks)
    sender.next(70_000)
    sender.acknowledged(80_000, 11 * MSS)
    assert (sender.cwnd < before) == needed
    assert sender.recoveries == 0 and sender.timeouts == 0


def test_once_a_window(parts: Any) -> None:
    """RFC 3168, 6.1.2: marks reduce the window once in a window of data, and the next new segment says CWR."""
    sender = parts.TcpSender(algorithm="reno", mss=MSS, ecn=True, initial_segments=20)
    first = sender.next(0)
    assert first[2] and not first[3]
    drain(sender, 0)
    sender.acknowledged(10_000, MSS, [], True)
    assert sender.cwnd == 10 * MSS and sender.ecn_reductions == 1
    assert sender.next(10_000) is None  # 19 are under way
    for number in range(2, 11):
        sender.acknowledged(10_000, number * MSS, [], True)
    assert sender.cwnd == 10 * MSS and sender.ecn_reductions == 1
    sender.acknowledged(10_000, 11 * MSS, [], True)
    segment = sender.next(10_000)
    assert segment[2] and segment[3]
    sender.acknowledged(20_000, 20 * MSS, [], True)  # the window is over, but the receiver has not heard of the reduction
    assert sender.ecn_reductions == 1
    drain(sender, 20_000)
    assert sender.flight == 10 * MSS
    sender.acknowledged(30_000, 21 * MSS, [], True)
    assert sender.ecn_reductions == 2 and sender.ssthresh == 5 * MSS


# ---- receivers


def test_sack_blocks_by_hand(parts: Any) -> None:
    """RFC 2018, 4: the block that changed last comes first, then those that were told before; four fit."""
    receiver = parts.TcpReceiver(mss=MSS)
    told = []
    for number in (1, 3, 5, 7, 9, 3, 4):
        assert receiver.received(0, number * MSS, (number + 1) * MSS)  # out of order: at once
        receiver.acknowledge()
        told.append([(low // MSS, high // MSS) for low, high in receiver.sacks])
    assert told[0] == [(1, 2)]
    assert told[2] == [(5, 6), (3, 4), (1, 2)]
    assert told[4] == [(9, 10), (7, 8), (5, 6), (3, 4)]
    assert told[5] == [(3, 4), (9, 10), (7, 8), (5, 6)] and receiver.duplicate_bytes == MSS
    assert told[6] == [(3, 6), (9, 10), (7, 8), (1, 2)]
    assert receiver.received(0, 0, MSS)  # fills a gap
    assert receiver.next == 2 * MSS


@pytest.mark.parametrize("delay", [40_000, 200_000])
def test_delayed_acknowledgements(parts: Any, delay: int) -> None:
    receiver = parts.TcpReceiver(mss=MSS, delay=delay)
    assert not receiver.received(5, 0, MSS) and receiver.timer == 5 + delay
    assert receiver.received(6, MSS, 2 * MSS)  # every second one (RFC 5681, 4.2)
    receiver.acknowledge()
    assert receiver.timer is None
    assert not receiver.received(7, 2 * MSS, 3 * MSS)


def test_echo_until_the_window_is_reduced(parts: Any) -> None:
    receiver = parts.TcpReceiver(mss=MSS)
    receiver.received(0, 0, MSS, ce=True)
    receiver.received(0, MSS, 2 * MSS)
    assert receiver.ece
    receiver.received(0, 2 * MSS, 3 * MSS, ce=False, cwr=True)
    assert not receiver.ece
    receiver.received(0, 3 * MSS, 4 * MSS, ce=True, cwr=True)  # marked again on its way
    assert receiver.ece


def test_nothing_beyond_the_window(parts: Any) -> None:
    receiver = parts.TcpReceiver(mss=MSS, window=4 * MSS)
    assert receiver.received(0, 4 * MSS, 5 * MSS) and receiver.sacks == []
    assert receiver.received(0, 3 * MSS, 4 * MSS) and receiver.sacks == [(3 * MSS, 4 * MSS)]
    sender = parts.TcpSender(mss=MSS, window=4 * MSS)
    assert drain(sender, 0) == fresh(0, 1, 2, 3)


# ---- whole connections


def connect(
    parts: Any,
    draw: random.Random,
    lost: Callable[[int], bool],
    size: int,
    delay: int,
    marked: Callable[[], bool] = lambda: False,
    **keys: Any,
) -> Any:
    """Run a connection over a path that loses segments and acknowledgements, and swaps some; check each byte at the receiver."""
    sender, receiver = parts.TcpSender(mss=MSS, bytes=size, **keys), parts.TcpReceiver(mss=MSS, delay=delay)
    events: list[tuple[int, int, str, Any]] = []
    count = sent = 0
    have: set[int] = set()  # segments that have arrived

    def push(at: int, what: str, of: Any) -> None:
        nonlocal count
        count += 1
        heapq.heappush(events, (at, count, what, of))

    def send(now: int) -> None:
        nonlocal sent
        while (segment := sender.next(now)) is not None:
            assert segment[1] <= size and segment[0] % MSS == 0
            sent += 1
            assert sent < 100 * (size // MSS + 20), "it never ends"
            if not lost(sent):
                push(now + 5000 + draw.choice([0, 0, 0, 2000]), "segment", segment)
        if sender.timer is not None:
            push(sender.timer, "timer", None)

    def acknowledge(now: int) -> None:
        receiver.acknowledge()
        if draw.random() > 0.1 or size < 0:
            push(now + 5000, "acknowledgement", (receiver.next, receiver.sacks, receiver.ece))

    send(0)
    while events and not sender.done:
        now, _, what, of = heapq.heappop(events)
        if what == "segment":
            have.add(of[0] // MSS)
            if receiver.received(now, of[0], of[1], marked() and of[2], of[3]):
                acknowledge(now)
            elif receiver.timer is not None:
                push(receiver.timer, "delay", None)
            whole = next(number for number in range(len(have) + 1) if number not in have)
            assert receiver.next == min(whole * MSS, size), "bytes are in order, each once"
            beyond = {number for number in have if number * MSS > receiver.next}
            for low, high in receiver.sacks:
                assert all(number in beyond for number in range(low // MSS, -(-high // MSS))), "what is sacked has come"
        elif what == "acknowledgement":
            sender.acknowledged(now, *of)
        elif what == "timer":
            if sender.timer is not None and sender.timer <= now:
                sender.expired(now)
        elif what == "delay" and receiver.timer is not None and receiver.timer <= now:
            acknowledge(now)
        send(now)
        assert sender.pipe <= sender.flight * 2
    assert sender.done and receiver.next == size
    return sender


@pytest.mark.parametrize("algorithm", ["reno", "cubic"])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.05, 0.3])
def test_every_byte_arrives_once_and_in_order(parts: Any, algorithm: str, share: float) -> None:
    first = seed()
    print(f"seed {first}")
    for run in range(12):
        draw = random.Random(f"{first} {algorithm} {share} {run}")
        size = draw.choice([1, 999, 1000, 1001, 50_000, 300_017])
        connect(
            parts, draw, lambda _, draw=draw: draw.random() < share, size, draw.choice([0, 40_000]), lambda draw=draw: draw.random() < 0.05,
            algorithm=algorithm, ecn=draw.random() < 0.5, hystart=draw.random() < 0.5, least_timeout=200_000, rack=draw.random() < 0.5,
        )  # fmt: skip


@pytest.mark.parametrize("dead", [{1}, {1, 11}, {5, 6, 7}, {10}, {9, 10}, set(range(1, 11)), {1, 3, 5, 7, 9}, set(range(20, 40))])
@pytest.mark.parametrize("rack", [False, True])
def test_planted_losses(parts: Any, dead: set[int], rack: bool) -> None:
    """The n-th transmissions are lost. Recovery sends few segments more than were lost: a rescue, and a timeout's window."""
    draw = random.Random(str(dead))
    sender = connect(parts, draw, lambda number: number in dead, 100 * MSS, 0, algorithm="reno", least_timeout=200_000, rack=rack)
    assert sender.retransmits >= len(dead)
    assert sender.retransmits <= 3 * len(dead) + 15


# ---- bytes


def ethernet(version: int) -> tuple[bytes, int]:
    """Return a template by hand: Ethernet, IPv4 or IPv6, ports 5001 to 9."""
    if version == 4:
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 46 << 2, 0, 0, 0x4000, 64, 6, 0, bytes([198, 18, 0, 1]), bytes([198, 19, 0, 2]))
    else:
        ip = struct.pack("!IHBB16s16s", 6 << 28 | 46 << 22, 0, 6, 64, bytes(range(16)), bytes(range(16, 32)))
    front = bytes(12) + (b"\x08\x00" if version == 4 else b"\x86\xdd")
    return front + ip + struct.pack("!HH", 5001, 9) + bytes(16), len(front)


def ones_sum(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("payload", [1, 3, 5, 100, 1459, 1460])
def test_segments_are_right_to_the_bit(parts: Any, version: int, payload: int) -> None:
    template, ip_at = ethernet(version)
    frame = parts.tcp_segment(template, ip_at, 0xFFFF_FFF0, payload, True, True, 7)
    assert len(frame) == max(60, len(template) + payload)
    ip, tcp_at = frame[ip_at:], len(template) - 20
    if version == 4:
        assert struct.unpack("!H", ip[2:4])[0] == 40 + payload and ones_sum(ip[:20]) == 0xFFFF and ip[1] == 46 << 2 | 2
        addresses = ip[12:20]
    else:
        assert struct.unpack("!H", ip[4:6])[0] == 20 + payload and (ip[0] << 8 | ip[1]) >> 4 & 0xFF == 46 << 2 | 2
        addresses = ip[8:40]
    tcp = frame[tcp_at : tcp_at + 20 + payload]
    assert ones_sum(addresses + struct.pack("!HH", 6, len(tcp)) + tcp) == 0xFFFF
    assert struct.unpack("!HHI", tcp[:8]) == (5001, 9, 0xFFFF_FFF0) and tcp[12] == 0x50 and tcp[13] == 0x90
    assert parts.parse_tcp_segment(frame, ip_at) == (0xFFFF_FFF0, payload, True, False, True)
    for at in (ip_at + 9, ip_at + 16, tcp_at + 5, tcp_at + 20 + payload - 1):  # a bit is wrong
        broken = bytearray(frame)
        broken[at] ^= 1
        assert parts.parse_tcp_segment(bytes(broken), ip_at) is None
    assert parts.parse_tcp_segment(frame[:40], ip_at) is None


@pytest.mark.parametrize("payload", [1, 3, 100, 1460])
def test_pppoe_has_the_length_of_each_segment(parts: Any, payload: int) -> None:
    """RFC 2516, 4: PPPoE's length is that of all behind it, and does not count what fills a short frame up."""
    template, _ = ethernet(4)
    session = struct.pack("!HBBHHH", 0x8864, 0x11, 0, 77, 0, 0x0021)
    template = template[:12] + session + template[14:]
    frame = parts.tcp_segment(template, 22, 5, payload, length_at=18)
    assert frame[12:18] == session[:6] and frame[20:22] == session[8:]
    assert struct.unpack("!H", frame[18:20])[0] == 2 + 40 + payload
    assert parts.parse_tcp_segment(frame, 22) == (5, payload, False, False, False)
    for at in (21, 30, 200):  # where IP does not begin
        assert parts.parse_tcp_segment(frame, at) is None
