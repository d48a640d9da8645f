# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Sessions with the stand-in: a device held open gives what a run gives, whenever frames are offered; misuse is refused."""

import random
from typing import Any

import pytest

from penstock.engine import engine
from penstock.testing import teststand
from penstock.testing.sessions import assert_session_equals_run, drawn_frames
from penstock.testing.testkit import seed

REASONS = ("", "runt", "oversize", "bad_queue_id", "bad_frame", "no_page", "tail_drop_packets", "tail_drop_bytes", "aqm")


@pytest.fixture(scope="module")
def native() -> Any:
    """The module `penstock._engine`."""
    return engine.module()


@pytest.fixture
def settings(stand_in: str) -> dict[str, Any]:
    """Of a session with the stand-in."""
    return {"device": {"design": "stand_in", "library": stand_in, "clock_hz": 220_000_000, "payload": "ecn_mark"}, "sources": []}


@pytest.mark.parametrize("part", range(3))
def test_session_equals_run(stand_in_job: teststand.MakeJob, part: int) -> None:
    """Frames wait for a slow line, some are dropped by their queues, and at some times the device drops others than before."""
    print(f"PENSTOCK_SEED={seed()}")
    for number in range(seed() + 100 * part, seed() + 100 * part + 4):
        rng = random.Random(number)
        duration = rng.choice([20_000, 60_000])
        frames = drawn_frames(rng, 16, 1522, duration)
        orders = [*teststand.with_aqm()]
        for number_, frame in enumerate(frames, 1):
            verdict = rng.choice([teststand.SEND, teststand.SEND, teststand.DROP])
            reason = rng.choice([0, 0, 0, 6, 8]) if frame[1] < 16 else 0  # no other queue can drop it
            orders += teststand.dictate(number_, None, reason, verdict)
        timed = []
        for at in sorted(rng.sample(range(duration), 5)):
            timed += [(at, *write) for write in teststand.dictate(rng.randint(1, len(frames)), verdict=teststand.DROP)]
        keys = {"ingress_bps": rng.choice([0, 10e9, 100e9]), "egress_bps": rng.choice([0, 3e9, 100e9])}
        job = stand_in_job([], duration_cycles=duration, register_writes=orders, timed_register_writes=timed, **keys)
        found = assert_session_equals_run(job, frames, REASONS, rng)
        assert found["findings"] == [] and found["packets"]["dropped"]["aqm"] > 0 < found["packets"]["out"]


@pytest.mark.parametrize("reads", [False, True])
def test_frames_arrive_while_a_register_is_read(native: Any, settings: dict[str, Any], reads: bool) -> None:
    """A frame that is offered for the next cycle comes in it, although a read of some cycles begins before; it leaves 20 cycles later."""
    session = native.Session(settings)  # no line: the frame's one beat is there in the cycle of its arrival
    session.start()
    for at in range(100, 5000, 100):
        session.advance(at)
        session.offer(at + 1, 3, bytes(60))
        if reads:
            session.read(0x8)
        session.advance(at + 90)
        left = session.take_left()
        assert left["cycle"].tolist() == [at + 1 + 20], at
    assert session.end()["findings"] == []


def test_until_empty_returns_at_once(native: Any, settings: dict[str, Any]) -> None:
    session = native.Session(settings)
    session.start()
    assert session.advance(10**6, until_empty=True) == 0
    session.offer(500, 1, bytes(60))
    assert 500 < session.advance(10**6, until_empty=True) < 1000
    assert session.end()["packets"]["out"] == 1


def test_what_the_fifo_of_an_input_loses_is_forgotten(native: Any, settings: dict[str, Any]) -> None:
    """A device that takes a tenth of a line of frames: the bytes of the others are not kept, and a count says how many they were."""
    session = native.Session(settings | {"valid_permille": 100, "ingress_fifo_bytes": 4000, "ingress_bps": 100e9, "egress_bps": 0})
    session.start()
    offered = 0
    for _ in range(10):
        for _ in range(1000):
            session.offer(session.now, 3, bytes(500))
        offered += 1000
        session.advance(session.now + 20_000)
        totals = session.totals()
        lost, came = totals["ingress_lost"], totals["packets"]["in"]
        assert lost["packets"] + came == offered and lost["bytes"] == 500 * lost["packets"]
        assert lost["packets"] > offered / 2 and totals["packets"]["queued"] == 0
        assert session.kept <= 100, "of the frames that have had their fate some are kept"
    assert session.end()["ingress_lost"] == lost


def test_bytes_of_what_left_outlive_drops(native: Any, settings: dict[str, Any]) -> None:
    """The measurement compares with the frames that left last: their bytes are kept however many were dropped since."""
    orders = [order for frame in range(2, 102) for order in teststand.dictate(frame, reason=6)]
    session = native.Session(settings | {"register_writes": orders})
    session.start()
    for at in range(101):
        session.offer(20 * at, 3, bytes(60))
    session.advance(5000)
    assert session.take_left()["number"].tolist() == [0] and len(session.take_dropped()["number"]) == 100
    assert session.kept == 1 + 64
    assert session.end()["findings"] == []


def test_misuse_is_refused(native: Any, settings: dict[str, Any]) -> None:
    for wrong in ({"duration_cycles": 5}, {"drain": True}, {"timed_register_writes": [(0, 0x40, 1)]}):
        with pytest.raises(ValueError, match="a session has no sources"):
            native.Session(settings | wrong)
    session = native.Session(settings)
    for early in (lambda: session.advance(5), lambda: session.offer(0, 0, b"")):
        with pytest.raises(ValueError, match="has not started"):
            early()
    session.start()
    session.advance(100)
    with pytest.raises(ValueError, match="in the past"):
        session.offer(99, 0, bytes(60))
    with pytest.raises(ValueError, match="the clock goes on"):
        session.advance(99)
    with pytest.raises(ValueError, match="65,535"):
        session.offer(200, 0, bytes(65_536))
    with pytest.raises(ValueError, match="started already"):
        session.start()
    session.end()
    for late in (session.end, session.start, lambda: session.advance(200), lambda: session.read(0), lambda: session.write(0, 0)):
        with pytest.raises(ValueError, match="has ended"):
            late()


def test_ctrl_c_leaves_the_session_usable(native: Any, settings: dict[str, Any]) -> None:
    session = native.Session(settings)
    session.start()
    session.offer(0, 0, bytes(60))
    with pytest.raises(KeyboardInterrupt):
        session.advance(1 << 45, progress=lambda now: False)
    now = session.now
    session.offer(now, 0, bytes(60))
    session.advance(now + 1000)
    assert session.end()["packets"]["out"] == 2


def test_after_ctrl_c_a_frame_for_now_does_not_wait_for_later_ones(native: Any, settings: dict[str, Any]) -> None:
    """Sixteen frames are offered for much later; the clock is interrupted on its way there."""
    session = native.Session(settings)
    session.start()
    for at in range(16):
        session.offer((1 << 45) - 100_000 + 1000 * at, 0, bytes(60))
    with pytest.raises(KeyboardInterrupt):
        session.advance(1 << 45, progress=lambda now: False)
    now = session.now
    number = session.offer(now, 0, bytes(60))
    session.advance(now + 1000)
    assert now < 1 << 44 and session.take_left()["number"].tolist() == [number]
    session.end()
