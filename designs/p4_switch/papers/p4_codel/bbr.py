"""Senders that go by bandwidth and round trip and not by loss, around a device that is held open: BBR as draft-cardwell-iccrg-bbr-
congestion-control-00 (BBRv1) has it. Packets are the unit; time is in seconds.

Not there: the bytes of a stream (a lost packet is replaced by a new one), delayed acknowledgements, idle senders. A packet is lost when one
that was sent three packets later has arrived; without an acknowledgement for RTO_S all that is under way is.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.designs.p4_switch.papers.p4_codel.experiments import FULL, SCENARIOS, Run, Setting, System, settings
from penstock.designs.p4_switch.papers.p4_codel.stated import FRAME
from penstock.paths import ROOT
from penstock.scenarios import scenario

HIGH_GAIN = 2 / math.log(2)
CYCLE = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
BANDWIDTH_ROUNDS, ROUND_TRIP_S, PROBE_RTT_S, LEAST_WINDOW, INITIAL_WINDOW = 10, 10.0, 0.2, 4, 10
FULL_GROWTH, FULL_ROUNDS = 1.25, 3
REORDERED, RTO_S = 3, 0.2
TOP_BPS = ((1_200_000, 1), (24_000_000, 2))  # pacing rates below which so many packets go at once


@dataclass
class Packet:
    """A packet under way, with what a sample of the delivery rate needs."""

    number: int
    sent: float
    delivered: int
    delivered_at: float
    first_sent: float


class Sender:
    """One connection. `due()` says when it sends next, `send()` sends, `acknowledged()` hears of an arrival."""

    def __init__(self, start: float, phase: int) -> None:
        """`phase`: which part of the cycle of gains it begins with, 0 or 2 to 7."""
        self.now = self.next_send = start
        self.phase = phase
        self.under_way: deque[Packet] = deque()  # in order; what has arrived or is lost is no more in it
        self.sent = self.delivered = self.lost = 0
        self.delivered_at = self.first_sent = start
        self.rates: deque[tuple[int, float]] = deque()  # rounds and rates, falling: a windowed maximum
        self.rounds = self.next_round = 0
        self.round_trip, self.round_trip_at = math.inf, start
        self.state, self.pacing_gain, self.window_gain = "startup", HIGH_GAIN, HIGH_GAIN
        self.filled, self.full_rate, self.full_rounds = False, 0.0, 0
        self.window = float(INITIAL_WINDOW)
        self.pace = HIGH_GAIN * INITIAL_WINDOW / 1e-3
        self.cycle, self.cycle_at = 0, start
        self.probe_done: float | None = None
        self.probe_round = False
        self.saved_window = self.window
        self.recovery: int | None = None  # ends with the first packet from this number on
        self.conserve = False
        self.heard = start  # of anything, for the timeout

    # ---- sending

    def due(self) -> float:
        """Return when it sends next, infinity: not before it hears something."""
        return self.next_send if len(self.under_way) < int(self.window) else math.inf

    def timeout(self) -> float:
        """Return when all that is under way counts as lost."""
        return self.heard + max(RTO_S, 2 * (self.round_trip if self.round_trip < math.inf else 0)) if self.under_way else math.inf

    def send(self, now: float) -> Packet:
        """Send a packet now."""
        if not self.under_way:
            self.delivered_at = self.first_sent = self.heard = now
        packet = Packet(self.sent, now, self.delivered, self.delivered_at, self.first_sent)
        self.under_way.append(packet)
        self.sent += 1
        self.next_send = max(now, self.next_send) + 1 / self.pace
        return packet

    def times_out(self, now: float) -> None:
        """All that is under way is lost."""
        self.lost += len(self.under_way)
        self.under_way.clear()
        self.saved_window = max(self.window, self.saved_window) if self.recovery is not None else self.window
        self.window, self.recovery, self.conserve, self.heard = 1.0, self.sent, False, now
        self.next_send = now

    # ---- acknowledgements

    @property
    def bandwidth(self) -> float:
        """Packets per second: the most of the last rounds."""
        return self.rates[0][1] if self.rates else 0.0

    def product(self, gain: float) -> float:
        """Return the packets under way at `gain` times the bandwidth-delay product, with what goes out at once."""
        if self.round_trip == math.inf:
            return float(INITIAL_WINDOW)
        return gain * self.bandwidth * self.round_trip + 3 * self.quantum

    @property
    def quantum(self) -> int:
        bps = 8 * FRAME * self.pace
        return next((packets for top, packets in TOP_BPS if bps < top), max(1, min(int(self.pace * 1e-3), 65_536 // FRAME)))

    def acknowledged(self, packet: Packet, now: float) -> None:
        """A packet has arrived, and the sender hears of it now."""
        self.heard = now
        before, lost = len(self.under_way), 0
        while self.under_way and self.under_way[0].number <= packet.number - REORDERED:
            self.under_way.popleft()
            lost += 1
        known = len(self.under_way)
        self.under_way = deque(other for other in self.under_way if other.number != packet.number)
        if len(self.under_way) == known:  # it was given up before
            return
        self.lost += lost
        self.delivered += 1
        self.delivered_at = now
        span = max(packet.sent - packet.first_sent, now - packet.delivered_at)
        self.first_sent = packet.sent
        new_round = packet.delivered >= self.next_round
        if new_round:
            self.next_round = self.delivered
            self.rounds += 1
        self._rate((self.delivered - packet.delivered) / span if span > 0 else 0.0)
        self._cycle(now, before, lost)
        self._fills(new_round)
        if self.state == "drain" and len(self.under_way) <= self.product(1.0):
            self._probe_bandwidth(now)
        self._round_trip(packet, now, new_round)
        self.pace = max(self.pacing_gain * self.bandwidth, 1.0) if self.filled else max(self.pace, self.pacing_gain * self.bandwidth)
        self._window(packet, lost, new_round)

    def _rate(self, rate: float) -> None:
        while self.rates and self.rates[-1][1] <= rate:
            self.rates.pop()
        self.rates.append((self.rounds, rate))
        while self.rates[0][0] <= self.rounds - BANDWIDTH_ROUNDS:
            self.rates.popleft()

    def _cycle(self, now: float, under_way: int, lost: int) -> None:
        if self.state != "probe_bandwidth":
            return
        long = now - self.cycle_at > self.round_trip
        if self.pacing_gain > 1:
            over = long and (lost > 0 or under_way >= self.product(self.pacing_gain))
        elif self.pacing_gain < 1:
            over = long or under_way <= self.product(1.0)
        else:
            over = long
        if over:
            self.cycle, self.cycle_at = (self.cycle + 1) % len(CYCLE), now
            self.pacing_gain = CYCLE[self.cycle]

    def _fills(self, new_round: bool) -> None:
        if self.filled or not new_round:
            return
        if self.bandwidth >= FULL_GROWTH * self.full_rate:
            self.full_rate, self.full_rounds = self.bandwidth, 0
            return
        self.full_rounds += 1
        if self.full_rounds >= FULL_ROUNDS:
            self.filled = True
            self.state, self.pacing_gain, self.window_gain = "drain", 1 / HIGH_GAIN, HIGH_GAIN

    def _probe_bandwidth(self, now: float) -> None:
        self.state, self.window_gain = "probe_bandwidth", 2.0
        self.cycle, self.cycle_at = self.phase, now
        self.pacing_gain = CYCLE[self.cycle]

    def _round_trip(self, packet: Packet, now: float, new_round: bool) -> None:
        expired = now > self.round_trip_at + ROUND_TRIP_S
        if (trip := now - packet.sent) <= self.round_trip or expired:
            self.round_trip, self.round_trip_at = trip, now
        if expired and self.state != "probe_rtt":
            self.saved_window = max(self.window, self.saved_window) if self.recovery is not None else self.window
            self.state, self.pacing_gain, self.window_gain, self.probe_done = "probe_rtt", 1.0, 1.0, None
        if self.state != "probe_rtt":
            return
        if self.probe_done is None:
            if len(self.under_way) <= LEAST_WINDOW:
                self.probe_done, self.probe_round, self.next_round = now + PROBE_RTT_S, False, self.delivered
            return
        self.probe_round |= new_round
        if self.probe_round and now > self.probe_done:
            self.round_trip_at = now
            self.window = max(self.window, self.saved_window)
            if self.filled:
                self._probe_bandwidth(now)
            else:
                self.state, self.pacing_gain, self.window_gain = "startup", HIGH_GAIN, HIGH_GAIN

    def _window(self, packet: Packet, lost: int, new_round: bool) -> None:
        if self.recovery is not None:
            if packet.number >= self.recovery:
                self.recovery, self.conserve = None, False
                self.window = max(self.window, self.saved_window)
            elif new_round:
                self.conserve = False
        if lost and self.recovery is None:
            self.saved_window, self.recovery, self.conserve = self.window, self.sent, True
            self.window, self.next_round = len(self.under_way) + 1.0, self.delivered
        elif lost:
            self.window = max(self.window - lost, 1.0)
        target = self.product(self.window_gain)
        if self.conserve:
            self.window = max(self.window, len(self.under_way) + 1.0)
        else:
            if self.filled:
                self.window = min(self.window + 1, target)
            elif self.window < target or self.delivered < INITIAL_WINDOW:
                self.window += 1
            self.window = max(self.window, float(LEAST_WINDOW))
        if self.state == "probe_rtt":
            self.window = min(self.window, float(LEAST_WINDOW))


def frame(source: int, headers: dict[str, str]) -> bytes:
    """Return a frame from port `source`: Ethernet, IPv4 and UDP without its checksum, as nothing looks at payloads here."""
    import struct
    from ipaddress import IPv4Address

    def mac(text: str | None) -> bytes:
        return bytes.fromhex((text or "02:00:00:00:00:99").replace(":", ""))

    total = FRAME - 14
    addresses = IPv4Address(headers["src"]).packed + IPv4Address(headers["dst"]).packed
    plain = struct.pack(">BBHHHBBH", 0x45, 0, total, 0, 0, 64, 17, 0) + addresses
    total_sum = sum(struct.unpack(">10H", plain))
    check = 0xFFFF ^ ((total_sum & 0xFFFF) + (total_sum >> 16))
    ip = plain[:10] + struct.pack(">H", check) + plain[12:]
    udp = struct.pack(">HHHH", source, 443, total - 20, 0)
    return mac(headers.get("dst_mac")) + mac(headers.get("src_mac")) + b"\x08\x00" + ip + udp + bytes(FRAME - 14 - 28)


def run(system: System, flows: int, seed: int, seconds: float, setting: Setting, show: Callable[[str], None]) -> Run:
    """Run connections around a system's device. What leaves comes to its receiver, whole, and is heard of a round trip later.

    Time goes by a round trip at a step: nothing that leaves in a step is heard of before the next one, so no event is late.
    """
    import penstock

    document = scenario.open_file(ROOT / SCENARIOS / f"{system.scenario}.yaml", list(settings(system, None, setting, seconds)))
    keys = ("device", "link", "tables", "commands", "queues")
    given = {key: document.data[key] for key in keys if key in document.data} | {"seed": seed}
    trip, on_line = setting.round_trip_us / 1e6, 1 / setting.packets
    drawn = np.random.default_rng(seed)
    phases = (0, 2, 3, 4, 5, 6, 7)
    senders = [Sender(float(drawn.uniform(0, trip)), phases[int(drawn.integers(len(phases)))]) for _ in range(flows)]
    frames = [frame(5000 + number, system.headers) for number in range(flows)]
    heard: list[tuple[float, int, int, Packet]] = []
    owners: dict[int, tuple[int, Packet]] = {}
    times, delays = [], []
    device = given.pop("device")
    with penstock.open(device, **given) as held:
        clock = held.config.clock_hz
        step, steps = trip, math.ceil(seconds / trip)
        for number in range(steps):
            end = (number + 1) * step
            for at, flow, packet in sorted(_sends(senders, heard, end), key=lambda one: one[0]):
                cycle = max(round(at * clock), held.now_cycles)
                where: dict[str, Any] = {"input": system.input} if system.p4 else {"queue": 0}
                owners[held.send(frames[flow], at=cycle, **where)] = (flow, packet)
            held.advance(cycles=round(end * clock) - held.now_cycles)
            left = held.received().columns
            for name, time_ns, latency_ns in zip(*(left[key].tolist() for key in ("number", "time_ns", "latency_ns")), strict=True):
                flow, packet = owners.pop(name)
                times.append(time_ns / 1e9)
                delays.append(latency_ns / 1e6)
                heapq.heappush(heard, (time_ns / 1e9 + on_line + trip, flow, packet.number, packet))
            if number % 100 == 0:
                show(f"{system.words}: {min(end, seconds):.0f} of {seconds:g} s")
        dropped = held.totals()["packets"]["dropped"]
    order = np.argsort(times, kind="stable")
    full = sum(dropped.get(reason, 0) for reason in FULL)
    return Run(np.array(times)[order], np.array(delays)[order], seconds, sum(dropped.values()) - full, full)


def _sends(senders: list[Sender], heard: list[tuple[float, int, int, Packet]], end: float) -> list[tuple[float, int, Packet]]:
    """Let all senders live up to `end`; return what they send: time, sender, packet."""
    own: list[list[tuple[float, Packet]]] = [[] for _ in senders]
    while heard and heard[0][0] < end:
        at, flow, _, packet = heapq.heappop(heard)
        own[flow].append((at, packet))
    sent = []
    for flow, sender in enumerate(senders):
        waiting = deque(own[flow])
        while True:
            hears = waiting[0][0] if waiting else math.inf
            sends, gives_up = max(sender.due(), sender.now), sender.timeout()
            at = min(hears, sends, gives_up)
            if at >= end:
                break
            sender.now = at
            if at == hears:
                sender.acknowledged(waiting.popleft()[1], at)
            elif at == gives_up:
                sender.times_out(at)
            else:
                sent.append((at, flow, sender.send(at)))
    return sent
