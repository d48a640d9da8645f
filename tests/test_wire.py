"""Real frames through a device in real time, with sockets in the place of network interfaces: every frame is accounted for, whatever the
machine's load; times are only bounded from below, which no load can break."""

import contextlib
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import config as configuration
from penstock.designs.access_edge.settings import plain
from penstock.engine import engine
from penstock.testing.testkit import seed

CLOCK = 10_000_000
TIMING = {"read_latency": 2, "write_latency": 1, "gap_permille": 0}
SLACK_NS = 10_000_000_000  # more than a test takes: the device never stands still for the machine's load


class Wires:
    """Ends whose other sides the test holds."""

    def __init__(self, count: int) -> None:
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(count)]
        self.far, self.near = [far for far, _ in pairs], [near for _, near in pairs]
        for one in (*self.far, *self.near):
            one.setblocking(False)
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                one.setsockopt(socket.SOL_SOCKET, option, 8 << 20)

    def close(self) -> None:
        """Close what is still open."""
        for one in (*self.far, *self.near):
            one.close()

    def received(self, end: int) -> list[bytes]:
        """Return the frames that have come to an end."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while frame := self.far[end].recv(65_536):
                found.append(frame)
        return found


@pytest.fixture
def wires() -> Iterator[Wires]:
    """Two ends."""
    made = Wires(2)
    yield made
    made.close()


def frame(queue: int, number: int, length: int, rng: random.Random) -> bytes:
    """An IPv4 frame whose destination port says its queue."""
    udp = struct.pack("!HHHH", 1000, 5000 + queue, length - 34, 0)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 2, length - 14, 0, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    head = b"\x02\0\0\0\0\2\x02\0\0\0\0\1\x08\0" + ip + udp + struct.pack("!I", number)
    return head + rng.randbytes(length - len(head))


def job(wires: Wires, seconds: float, queues: int = 2, **more: Any) -> dict[str, Any]:
    """A run of demo_codel_64 between two ends: from 0 to 1 by queues that destination ports say, from 1 to 0 past it."""
    config = configs.load("demo_codel_64")
    rules = [{"protocol": 17, "destination_port": (5000 + queue, 5000 + queue)} for queue in range(queues)]
    source = {"kind": "wire", "from": 0, "to": 1, "delay_ns": 0, "rules": rules, "queues": list(range(queues))} | more.pop("source", {})
    line = {"from": 1, "to": 0, "bps": 0, "delay_ns": 0, "buffer_bytes": 0} | more.pop("line", {})
    return {
        "device": configuration.device(config, None, TIMING) | {"clock_hz": CLOCK},
        "duration_cycles": int(seconds * CLOCK),
        "drain": True,
        "max_cycles": int((seconds + 5) * CLOCK),
        "ingress_bps": 1e9,
        "egress_bps": 1e9,
        "sources": [source],
        "wire": {"files": [near.fileno() for near in wires.near], "end_of_output": [-1], "lines": [line], "slack_ns": SLACK_NS},
        "keep_departures": True,
        **more,
    }


def beside(job: dict[str, Any], play: Callable[[], None]) -> dict[str, Any]:
    """Run a job, and `play` from its beginning on in another thread; return the result."""
    began = threading.Event()

    def progress(now: dict[str, Any]) -> bool:
        if now["phase"] == "run":
            began.set()
        return True

    def player() -> None:
        began.wait(30)
        play()

    thread = threading.Thread(target=player)
    thread.start()
    result = engine.run(job, progress)
    began.set()
    thread.join()
    return result


def whole(result: dict[str, Any]) -> None:
    """Assert that the run says that nothing is wrong."""
    assert result["findings"] == [] and result["conservation_ok"], result["findings"]


def test_what_goes_in_comes_out(wires: Wires) -> None:
    """Bytes are the same, the order of a queue holds, and all counters add up."""
    rng = random.Random(seed())
    sent = [frame(rng.randrange(2), number, rng.randrange(60, 1515), rng) for number in range(400)]
    short, odd = b"\xff" * 6 + b"\x02" * 6 + b"\x08\x06" + bytes(28), frame(7, 1000, 100, rng)

    def play() -> None:
        for number, one in enumerate(sent):
            wires.far[0].send(one)
            if number % 20 == 0:
                time.sleep(0.002)
        wires.far[0].send(odd)  # no rule is for it
        wires.far[1].send(short)  # 42 byte, which a network card fills up

    result = beside(job(wires, 1.0), play)
    whole(result)
    came = wires.received(1)
    assert Counter(came) == Counter(sent)
    for queue in range(2):
        mine = [one for one in sent if one[37] == (5000 + queue) & 0xFF]
        assert [one for one in came if one[37] == (5000 + queue) & 0xFF] == mine
        counts = result["wire"]["queues"][queue]
        assert counts["in"] == counts["out"] == {"packets": len(mine), "bytes": sum(map(len, mine))}
        assert counts["sojourn_cycles"]["count"] == len(mine)
    first, second = result["wire"]["ends"]
    assert first["read"]["packets"] == 401 and first["unmatched"] == {"packets": 1, "bytes": 100}
    assert second["written"] == {"packets": 400, "bytes": sum(map(len, sent))}
    assert wires.received(0) == [short + bytes(18)] and second["read"] == {"packets": 1, "bytes": 60}
    assert not any(first[key]["packets"] + second[key]["packets"] for key in ("overrun", "failed", "pending"))


def test_the_rate_is_the_queue_s_by_its_clock(wires: Wires) -> None:
    """A burst leaves at the rate of its queue; what limits and CoDel drop is counted, and does not come out."""
    rng = random.Random(seed())
    size, rate, limit = 1000, 8_000_000, 100
    sent = [frame(0, number, size, rng) for number in range(300)]
    writes = plain.queue_writes(configs.load("demo_codel_64"), 0, {"rate": "8 Mbit/s", "burst": "3 kB", "limit_packets": limit})

    def play() -> None:
        for one in sent:
            wires.far[0].send(one)

    result = beside(job(wires, 1.0, queues=1, register_writes=writes), play)
    whole(result)
    counts = result["wire"]["queues"][0]
    assert counts["in"]["packets"] == 300 == counts["out"]["packets"] + counts["dropped"]["packets"]
    came = wires.received(1)
    assert len(came) == counts["out"]["packets"] and set(came) <= set(sent)
    assert limit <= counts["out"]["packets"] < 300
    # By the device's clock no machine can be late: between two frames that leave while the queue is full lies the time of one.
    cycles = result["departures"]["cycle"].astype(int)
    period = 8 * size * CLOCK / rate
    span = (cycles[-1] - cycles[10]) / (len(cycles) - 11)
    assert abs(span - period) < 0.01 * period


def test_delays_and_lines_past_the_device(wires: Wires) -> None:
    """No frame is early: the delay, and on a line its length and those before it."""
    rng = random.Random(seed())
    there, back, bps = 20_000_000, 30_000_000, 1_000_000
    times: dict[str, float] = {}
    sent = [frame(0, number, 1000, rng) for number in range(5)]

    def play() -> None:
        times["start"] = time.monotonic()
        wires.far[0].send(sent[0])
        for one in sent:
            wires.far[1].send(one)
        for end, count in ((1, 1), (0, 5)):
            seen = 0
            while seen < count and time.monotonic() < times["start"] + 5:
                seen += len(wires.received(end))
                time.sleep(0.0005)
            times[f"end{end}"] = time.monotonic() - times["start"]

    line = {"bps": bps, "delay_ns": back, "buffer_bytes": 10_000}
    result = beside(job(wires, 0.6, source={"delay_ns": there}, line=line, overhead_bytes=24), play)
    whole(result)
    assert there / 1e9 <= times["end1"] and back / 1e9 + 5 * 8 * 1024 / bps <= times["end0"]
    assert result["wire"]["late_ns"]["count"] == 6


def test_a_full_buffer_in_front_of_a_line_loses(wires: Wires) -> None:
    rng = random.Random(seed())
    sent = [frame(0, number, 1000, rng) for number in range(50)]

    def play() -> None:
        for one in sent:
            wires.far[1].send(one)

    result = beside(job(wires, 0.5, line={"bps": 1_000_000, "buffer_bytes": 10_000}), play)
    first, second = result["wire"]["ends"]
    carried = first["written"]["packets"] + first["pending"]["packets"]
    assert second["overrun"]["packets"] == 50 - carried and 8 <= carried <= 40
    came = wires.received(0)
    assert len(came) == first["written"]["packets"] and came == [one for one in sent if one in set(came)]


def test_what_waits_in_front_of_the_device_is_pending(wires: Wires) -> None:
    """A slow line to the device has not carried all when the run ends: what has not come to it is told by the end that sent it."""
    rng = random.Random(seed())
    sent = [frame(0, number, 1000, rng) for number in range(50)]

    def play() -> None:
        for one in sent:
            wires.far[0].send(one)

    result = beside(job(wires, 0.3, ingress_bps=1e6, drain=False), play)
    whole(result)
    first, second = result["wire"]["ends"]
    came = result["wire"]["queues"].get(0, {"in": {"packets": 0, "bytes": 0}})["in"]["packets"]
    assert first["read"] == {"packets": 50, "bytes": 50_000} and came < 45  # at 1 Mbit/s it takes 8 ms for each
    assert first["pending"] == {"packets": 50 - came, "bytes": 1000 * (50 - came)}
    assert second["pending"]["packets"] == 0 or second["written"]["packets"] < came


def test_an_end_that_goes_away_ends_the_run(wires: Wires) -> None:
    begun = time.monotonic()
    result = beside(job(wires, 20.0), lambda: wires.far[1].close())
    assert result["wire"]["unplugged"] == 1 and result["interrupted"] and time.monotonic() - begun < 15
    whole(result)


def test_marks_come_out_in_the_bytes(wires: Wires) -> None:
    """CoDel marks what is ECN-capable: the bytes that come out are those that went in, with CE and a right checksum."""
    rng = random.Random(seed())
    sent = [frame(0, number, 1000, rng) for number in range(300)]
    config = configs.load("demo_codel_64")
    aqm = {"target": "1 ms", "interval": "10 ms", "ecn": True}
    writes = plain.queue_writes(config, 0, {"rate": "8 Mbit/s", "burst": "3 kB", "aqm": aqm})

    def play() -> None:
        for one in sent:
            wires.far[0].send(one)

    result = beside(job(wires, 1.0, queues=1, register_writes=writes), play)
    whole(result)
    counts, came = result["wire"]["queues"][0], wires.received(1)
    marked = [one for one in came if one[15] & 3 == 3]
    written = result["wire"]["ends"][1]["written"]["packets"]
    assert len(came) == written == counts["out"]["packets"] and len(marked) == counts["marked"] > 3
    before = {one[42:46]: one for one in sent}
    for one in marked:
        assert one[:15] + b"\x02" + one[16:24] + one[26:] == before[one[42:46]][:24] + before[one[42:46]][26:]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"wire": {"files": [], "end_of_output": [-1], "lines": [], "slack_ns": 1}}, "1 to 64 ends"),
        ({"source": {"to": 2}}, "out of range"),
        ({"source": {"queues": [0]}}, "an element for each rule"),
        ({"duration_cycles": None}, "duration_cycles must end"),
    ],
)
def test_jobs_that_make_no_sense(wires: Wires, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        engine.run(job(wires, 0.1, **change))
