"""`penstock.open`: devices held open from Python. The how-to's test is run as it stands there."""

import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock.library.records import Received
from penstock.paths import ROOT
from penstock.testing.testkit import seed

HOW_TO = ROOT / "docs" / "how-to" / "python.md"


@pytest.mark.parametrize("name", ["test_mine.py", "test_who.py", "test_switch.py"])
def test_how_to(name: str, tmp_path: Path) -> None:
    """A user's file in a folder of their own, run with the project's Python."""
    blocks = re.findall(r"(?:^(?:    .*)?\n)+", HOW_TO.read_text(), re.MULTILINE)
    (code,) = [block for block in blocks if block.lstrip().startswith(f"# {name}: ")]
    text = re.sub(r"^    ", "", code, flags=re.MULTILINE).strip() + "\n"
    assert len(text.splitlines()) < 30
    (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("engine", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_rate_and_order(engine: Any) -> None:
    """A shaped queue lets 1,000 byte go every 1.6 ms; another one is in its way for nobody. Frames come out as they were."""
    with penstock.open("demo_64", engine=engine) as device:
        device.queue(3).set(rate="5 Mbit/s")
        sent = {device.send(bytes([i]) * 1000, queue=3): bytes([i]) * 1000 for i in range(12)}
        last = device.send(b"\7" * 100, queue=5, at="2 ms")
        device.advance("20 ms")
        frames = list(device.received())
        assert device.received().columns["number"].size == 0
        assert {frame.number: frame.data for frame in frames if frame.queue == 3} == sent
        times = [frame.time_ns for frame in frames if frame.queue == 3]
        assert times == sorted(times)
        # The tolerance of 1,024 cycles (at 10 MHz 102 us) is made up for once.
        assert np.diff(times) == pytest.approx(1.6e6, abs=110_000)
        assert (times[-1] - times[1]) / 10 == pytest.approx(1.6e6, rel=1e-3)
        assert [frame.data for frame in frames if frame.number == last] == [b"\7" * 100]
        assert device.queue(3).counters() == {
            "in_packets": 12, "in_bytes": 12_000, "out_packets": 12, "out_bytes": 12_000, "drop_packets": 0, "drop_bytes": 0
        }  # fmt: skip
    result = device.end()
    assert result["packets"]["out"] == 13
    assert result["conservation_ok"]


@pytest.mark.parametrize(("start_ms", "at_once"), [(0.0, 1), (1.6, 2), (4.8, 4), (48.0, 4)])
def test_credit_begins_with_the_clock(start_ms: float, at_once: int) -> None:
    """At 5 Mbit/s 1,000 byte take 1.6 ms, a burst of 3,000 byte 4.8 ms: what is saved since time 0, at most the burst, and one frame."""
    with penstock.open("demo_64", queues=[{"id": 3, "rate": "5 Mbit/s", "burst": 3000}]) as device:
        device.advance(f"{start_ms} ms")
        device.send_all([bytes(1000)] * 8, [3] * 8)
        device.advance("15 ms")
        times = [frame.time_ns / 1e6 - start_ms for frame in device.received()]
    assert times == pytest.approx([1.6 * max(0, number + 1 - at_once) for number in range(8)], abs=0.2)


def test_drops_have_their_reasons() -> None:
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    with penstock.open("demo_64", queues=[{"id": 7, "rate": 0, "limit_packets": 5}], seed=3) as device:
        want = {}
        for _ in range(30):
            kind = rng.choice(["runt", "oversize", "bad_queue_id", "bad_frame", "tail_drop_packets"])
            length = 10 if kind == "runt" else 1523 if kind == "oversize" else 60
            queue = 64 if kind == "bad_queue_id" else 7 if kind == "tail_drop_packets" else 1
            want[device.send(bytes(length), queue, error=kind == "bad_frame")] = kind
        device.advance("1 ms")
        held = [number for number, kind in want.items() if kind == "tail_drop_packets"][:5]
        dropped = device.dropped()
        assert {drop.number: drop.reason for drop in dropped} == {n: kind for n, kind in want.items() if n not in held}
        assert {drop.length for drop in dropped if drop.reason == "oversize"} <= {1523}
        assert dropped[-1] == list(dropped)[-1]
        assert device.totals()["packets"]["queued"] == len(held)
        device.queue(7).set(rate="unshaped")
        assert device.drain("10 ms")
        assert device.received().columns["number"].tolist() == held
        device.queue(7).set(limit_packets=3)


def test_what_is_not_named_keeps_its_setting() -> None:
    """The rate is changed, the limit of the change before stays; `defaults` hold for the others."""
    with penstock.open("demo_64", defaults={"limit_packets": 4}, queues=[{"id": 1, "rate": 0}, {"id": 2, "rate": 0}]) as device:
        device.queue(1).set(limit_packets=2)
        device.queue(1).set(burst="1 kB")
        device.send_all([bytes(100)] * 24, [1, 2, 3] * 8)
        device.advance("1 ms")
        assert [device.queue(queue).counters()["in_packets"] for queue in (1, 2)] == [2, 4]
        device.queue(1).set(rate="unshaped")
        device.queue(2).set(rate="unshaped")
        assert device.drain()


def test_parents_of_the_setup() -> None:
    nodes = [{"id": 1, "rate": "1 Mbit/s", "burst": "3 kB"}]
    with penstock.open("tree_64", nodes=nodes, subscribers=[{"id": 3, "node": 1}]) as device:
        device.send_all([bytes(1000)] * 50, [12] * 50)
        device.advance("200 ms")
        assert 20 <= len(device.received()) <= 30


def test_a_later_frame_may_be_sent_first() -> None:
    with penstock.open("demo_64") as device:
        late, early = device.send(bytes(60), 1, at="5 ms"), device.send(bytes(61), 1, at="1 ms")
        numbers = device.send_all([bytes(62), bytes(63)], [2, 2], [20_000, 20_000])
        device.advance("3 ms")
        assert device.received().columns["number"].tolist() == [early, *numbers]
        device.send(bytes(64), 1)
        device.advance("10 ms")
        assert device.received()[-1].number == late


def test_ecn_marks_are_in_the_bytes() -> None:
    """A queue with CoDel and ECN marks what may be marked; the frame that comes out has CE and a right checksum."""
    from scapy.layers.inet import IP, UDP
    from scapy.layers.l2 import Ether

    frame = Ether() / IP(src="10.0.0.1", dst="10.0.0.2", tos=2) / UDP() / bytes(500)
    aqm = {"target": "100 us", "interval": "1 ms", "ecn": True}
    with penstock.open("demo_codel_64", queues=[{"id": 1, "rate": "5 Mbit/s", "aqm": aqm}]) as device:
        device.send_all([frame] * 100, [1] * 100)
        assert device.drain()
        marked = [got for got in device.received() if got.marked]
        assert device.queue(1).counters()["mark_packets"] == len(marked) > 5
    for got in marked:
        ip = Ether(got.data)[IP]
        assert ip.tos & 3 == 3
        assert checksum(bytes(ip)[:20]) == 0


def checksum(header: bytes) -> int:
    """RFC 1071, over a header with its checksum in it: 0 when it is right."""
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def test_hierarchy_shares() -> None:
    """Two subscribers of equal weight and one of twice that below a node of 10 Mbit/s, all with more than they get."""
    with penstock.open("tree_64") as device:
        device.node(1).set(rate="10 Mbit/s", burst="20 kB")
        for subscriber in (1, 2, 3):
            device.subscriber(subscriber).set(node=1, weight=2 if subscriber == 3 else 1)
        queues = [4 * subscriber for subscriber in (1, 2, 3)]
        device.send_all([bytes(1000)] * 900, queues * 300)
        device.advance("100 ms")
        got = device.received().columns
        share = [got["length"][got["queue"] == queue].sum() * 8 / 0.1 for queue in queues]
        assert share == pytest.approx([2.5e6, 2.5e6, 5e6], rel=0.05)


MISUSE = {
    "a queue too many": (lambda d: d.queue(64), "has queues 0 to 63, and no queue 64"),
    "a negative queue": (lambda d: d.queue(-1), "no queue -1"),
    "a rate without a unit": (lambda d: d.queue(1).set(rate="5 Mbt/s"), "queues[1].rate: must be a rate"),
    "an unknown key": (lambda d: d.queue(1).set(rat=1), "queues[1].rat: is not a known key; did you mean 'rate'?"),
    "no key": (lambda d: d.queue(1).set(), "queues[1]: is empty"),
    "a key of others": (lambda d: d.queue(2).set(node=3), "queues[2].node: is not a known key"),
    "a node without a hierarchy": (lambda d: d.node(0), "no hierarchy"),
    "a rate above the line": (lambda d: d.queue(1).set(rate="1 Tbit/s"), "queues[1].rate: must be at most the egress link's"),
    "a burst too long": (lambda d: d.queue(1).set(rate="1 Mbit/s", burst="100 MB"), "queues[1].burst: must be at most"),
    "the past": (lambda d: d.advance("1 ms") or d.send(b"", 1, at="0.5 ms"), "cannot arrive at '0.5 ms'"),
    "a negative time": (lambda d: d.send(b"", 1, at="-3 ms"), "must not be negative"),
    "no time": (lambda d: d.advance(), "needs a time"),
    "time backwards": (lambda d: d.advance(cycles=-1), "time goes on"),
    "no such register": (lambda d: d.read("foo"), "no register 'foo'"),
    "a giant": (lambda d: d.send(bytes(65_536), 1), "at most 65,535 byte"),
    "a queue of 33 bits": (lambda d: d.send(bytes(60), 1 << 32), "32 bits"),
    "a queue by its name": (lambda d: d.queue("voice"), "queue() is a whole number, not 'voice'"),
    "a frame for a name": (lambda d: d.send(bytes(60), "voice"), "a frame's queue is a whole number, not 'voice'"),
    "frames for names": (lambda d: d.send_all([bytes(60)], ["voice"]), "queues are whole numbers"),
    "frames for no number of 64 bits": (lambda d: d.send_all([bytes(60)], [1 << 64]), "queues are whole numbers"),
    "a text as a frame": (lambda d: d.send("abc", 1), "a frame is bytes, or what bytes() makes such of, not str"),
    "a number as a frame": (lambda d: d.send(60, 1), "a frame is bytes, or what bytes() makes such of, not the number 60"),
    "a NumPy number as a frame": (lambda d: d.send(np.uint8(60), 1), "or what bytes() makes such of, not the number"),
    "texts as frames": (lambda d: d.send_all(["abc"], [1]), "a frame is bytes, or what bytes() makes such of, not str"),
    "a register of 33 bits": (lambda d: d.write("queue_rate", 1 << 32), "register queue_rate is a number of 32 bits, not 4,294,967,296"),
    "a register below 0": (lambda d: d.write("queue_rate", -1), "register queue_rate is a number of 32 bits, not -1"),
    "unequal lists": (lambda d: d.send_all([bytes(60)] * 3, [1, 2]), "3 frames, 2 queues"),
    "counters of a port": (lambda d: penstock.open("tree_64").port(0).counters(), "no counters"),
    "after the end": (lambda d: d.end() and d.send(bytes(60), 1), "has ended"),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_one_sentence(name: str) -> None:
    call, words = MISUSE[name]
    device = penstock.open("demo_64")
    with pytest.raises(penstock.UserError, match=re.escape(words)) as caught:
        call(device)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"engine": "vhdl"}, "no such engine"),
        ({"seed": -1}, "`seed` must be at least 0"),
        ({"queues": [{"id": 99}]}, "names queue 99"),
        ({"traffic": []}, "`traffic` is not a known key"),
        ({"link": {"egress": "1 Tbit/s"}}, "`link.egress` must be at most"),
        ({"subscribers": [{"id": 0}]}, "has no hierarchy"),
    ],
)
def test_bad_setup_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(penstock.UserError, match=re.escape(words)):
        penstock.open("demo_64", **keys)


def test_a_configuration_is_a_name() -> None:
    with pytest.raises(penstock.UserError, match="`device.config` must be"):
        penstock.open(5)  # type: ignore[arg-type]


def test_an_exception_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), penstock.open("demo_64") as device:
        device.send(bytes(60), 1)
        1 / 0  # noqa: B018


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"findings": ["frame 3 comes out changed"]}, "frame 3 comes out changed"), ({"conservation_ok": False}, "are not conserved")],
)
def test_a_fault_is_raised(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], words: str) -> None:
    """What the engine finds at the end is not kept quiet."""
    device = penstock.open("demo_64")
    ended = {"findings": [], "conservation_ok": True} | wrong
    monkeypatch.setattr(device, "_session", type("Ended", (), {"end": lambda self: ended})())
    with pytest.raises(penstock.Fault, match=words):
        device.end()


def test_columns_are_a_table() -> None:
    raw = {
        "number": np.array([4, 2]), "cycle": np.array([10, 20]), "queue": np.array([1, 3]), "latency": np.array([5, 7]),
        "marked": np.array([0, 1], dtype=np.uint8), "output": np.array([0, 2], dtype=np.uint16),
        "offsets": np.array([0, 2, 5]), "data": np.frombuffer(b"abcde", dtype=np.uint8),
    }  # fmt: skip
    table = Received(raw, 100_000_000)
    assert [(f.number, f.queue, f.data, f.time_ns, f.latency_ns, f.marked, f.output) for f in table] == [
        (4, 1, b"ab", 100.0, 50.0, False, 0), (2, 3, b"cde", 200.0, 70.0, True, 2)
    ]  # fmt: skip
    assert table[-1] == table[1]
    assert table.columns["length"].tolist() == [2, 3]
    for wrong in (2, -3):
        with pytest.raises(IndexError):
            table[wrong]
