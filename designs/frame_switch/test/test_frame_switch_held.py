# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock.open` on a frame switch: the how-to as it stands there, random frames against arithmetic on both engines, and misuse."""

import random
import re
from typing import Any

import pytest

import penstock
from penstock.paths import ROOT
from penstock.testing.testkit import seed

HOW_TO = ROOT / "docs" / "how-to" / "python.md"


def test_the_how_to() -> None:
    """The test of the page runs as it stands there."""
    text = HOW_TO.read_text().split("## A frame switch")[1]
    lines = [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    ") or not line]
    program = "\n".join(lines)
    assert "def test_announcement" in program
    names: dict[str, Any] = {}
    exec(program, names)
    names["test_announcement"]()


@pytest.mark.parametrize("engine", ["model", "rtl"])
@pytest.mark.parametrize("config", ["switch_4", "islip_4"])
def test_every_copy_comes_to_its_output(config: str, engine: Any) -> None:
    """Random frames, destinations, classes and times; what is damaged or too long comes nowhere and is told with its reason."""
    number = seed()
    print(f"PENSTOCK_SEED={number}")
    rng = random.Random(number)
    expected: set[tuple[int, int, int, int, bytes]] = set()
    bad: dict[tuple[int, int], str] = {}
    with penstock.open(config, engine=engine, seed=number) as switch:
        for _ in range(300):
            source, outputs = rng.randrange(4), rng.sample(range(4), rng.choice([1, 1, 1, 2, 3, 4]))
            traffic_class, damaged, size = rng.randrange(4), rng.random() < 0.05, rng.choice([1, 60, 64, 65, 1522, 1536, 1537, 2000])
            data = rng.randbytes(size)
            sent = switch.send(data, source, outputs, traffic_class, at=switch.now_cycles + rng.randrange(2000), error=damaged)
            for output in outputs:
                if damaged or size > 1536:  # 24 beats of 64 byte
                    bad[sent, output] = "oversize" if size > 1536 else "bad_frame"
                else:
                    expected.add((sent, source, output, traffic_class, data))
            if rng.random() < 0.2:
                switch.advance(cycles=rng.randrange(500))
        assert switch.drain()
        received, dropped = switch.received(), switch.dropped()
    columns = received.columns
    where = zip(*(columns[name].tolist() for name in ("number", "input", "output", "traffic_class")), strict=True)
    assert {(*place, frame.data) for place, frame in zip(where, received, strict=True)} == expected and len(received) == len(expected)
    told = {(drop.number, drop.queue // 4 % 4): drop.reason for drop in dropped}
    assert told == bad and len(dropped) == len(bad)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"input": 4, "outputs": 0}, "input is 4, allowed: 0 to 3"),
        ({"input": 0, "outputs": [1, 7]}, "output is 7, allowed: 0 to 3"),
        ({"input": 0, "outputs": []}, "outputs is empty"),
        ({"input": 0, "outputs": 1, "traffic_class": 4}, "traffic_class is 4, allowed: 0 to 3"),
        ({"input": 0, "outputs": 1, "frame": b""}, "at least 1 byte"),
        ({"input": 0, "outputs": 1, "at": "1 parsec"}, "the time"),
        ({"input": 0, "outputs": 1, "frame": bytes(70_000)}, "at most 65,535 byte"),
    ],
)
def test_misuse_is_one_sentence(keys: dict[str, Any], words: str) -> None:
    with penstock.open("switch_4") as switch, pytest.raises(penstock.UserError, match=re.escape(words)) as caught:
        switch.send(**({"frame": b"frame"} | keys))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("setup", "words"),
    [({"queues": []}, "`queues` is not a known key"), ({"link": {"ingress": "200 Gbit/s"}}, "`link.ingress` must be at most")],
)
def test_bad_setup_is_refused(setup: dict[str, Any], words: str) -> None:
    with pytest.raises(penstock.UserError, match=re.escape(words)):
        penstock.open("switch_4", **setup)


def test_many_ports_have_no_groups() -> None:
    """All groups of 16 ports in four classes are four million: there a frame goes to one output."""
    config = {"config": "switch_8", "overrides": {"ports": 16, "classes": 4, "fifo_depth": 16}}
    with penstock.open(config) as switch:
        switch.send(b"frame", 3, 15)
        assert switch.drain() and switch.received().columns["output"].tolist() == [15]
        with pytest.raises(penstock.UserError, match="too many ports"):
            switch.send(b"frame", 0, [1, 2])
