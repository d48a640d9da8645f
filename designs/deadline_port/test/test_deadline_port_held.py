# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A deadline port held open: frames by their bytes, classes that are set, what the device has counted; what is refused."""

import random
import sys
from typing import Any

import pytest

import penstock
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.testing.testkit import seed

sys.path.insert(0, str(ROOT / "tests"))  # its frames

from stand_in import frame

CLASSES = [
    {"name": "voice", "deadline": "25 us", "dscp": "ef"},
    {"name": "web", "deadline": "60 us", "dscp": ["af21", "20-22"]},
    {"name": "bulk", "deadline": "100 us"},
]
LINK = {"ingress": "10 Gbit/s", "egress": "100 Mbit/s"}


def marked(code: int, size: int = 100) -> bytes:
    """Return a frame of IPv4 with a DSCP."""
    data = bytearray(frame(size=size))
    data[15] = code << 2
    return bytes(data)


def opened(config: str = "tiny_deadline_3", **more: Any) -> Any:
    return penstock.open(config, **({"classes": CLASSES, "link": LINK} | more))


def test_frames_leave_in_the_order_of_their_deadlines() -> None:
    patient = [entry | {"deadline": wait} for entry, wait in zip(CLASSES, ("200 us", "250 us", "400 us"), strict=True)]
    with opened(classes=patient) as device:
        bulk = [device.send(marked(0)) for _ in range(25)]  # some of them are decided on before the others come
        web, voice = device.send(marked(18)), device.send(marked(46))
        assert device.drain()
        left = device.received()
        numbers, classes = left.columns["number"].tolist(), left.columns["traffic_class"].tolist()
        assert set(numbers) == {*bulk, web, voice} and classes.count(2) == 25
        assert [n for n in numbers if n in bulk] == bulk  # a class is a FIFO
        assert numbers.index(voice) < numbers.index(web) < numbers.index(bulk[-1])
        assert left[numbers.index(web)].data == marked(18)
        assert device.counters("voice") == {
            "in_packets": 1, "in_bytes": 100, "out_packets": 1, "out_bytes": 100, "missed_packets": 0, "missed_bytes": 0,
            "lost_packets": 0, "lost_bytes": 0, "no_page_packets": 0, "no_page_bytes": 0, "queued_packets": 0, "queued_bytes": 0,
        }  # fmt: skip
        assert device.counters(2)["out_packets"] == 25


def test_settings_hold_for_frames_that_come_later() -> None:
    with opened() as device:
        for _ in range(6):
            device.send(marked(46))
        assert device.drain()
        assert (len(device.received()), device.counters("voice")["missed_packets"]) == (4, 2)
        assert set(device.dropped().columns["reason"].tolist()) == {"missed"}
        device.set_class("voice", "90 us")
        for _ in range(6):
            device.send(marked(46))
        assert device.drain()
        assert len(device.received()) == 6
        device.set_dscp(["ef", 5], "web")
        device.set_dscp("none", 0)
        device.send(marked(46)), device.send(marked(5)), device.send(bytes(60))
        assert device.drain()
        assert sorted(device.received().columns["traffic_class"].tolist()) == [0, 1, 1]


def test_class_beside_the_frame() -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    with opened("tiny_deadline_16", classes=[{"name": "level", "count": 16, "deadline": "400 us"}]) as device:
        given = {}
        for _ in range(20):
            number = rng.randrange(16)
            given[device.send(marked(rng.randrange(64)), f"level{number}" if rng.random() < 0.5 else number)] = number
        assert device.drain()
        left = device.received()
        assert dict(zip(left.columns["number"].tolist(), left.columns["traffic_class"].tolist(), strict=True)) == given
        with pytest.raises(UserError, match="so send\\(\\) needs traffic_class"):
            device.send(marked(0))
        with pytest.raises(UserError, match="so DSCPs have none"):
            device.set_dscp(3, 1)


def test_all_classes_where_none_are_named() -> None:
    with penstock.open("tiny_deadline_16") as device:
        assert [row.name for row in device.settings.classes] == [f"class{n}" for n in range(16)]
        assert device.settings.classes[3].deadline_ps == 500 * 10**6


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda device: device.set_class("video", "10 us"), 'traffic_class: names class "video", which is not among `classes`'),
        (lambda device: device.set_class(3, "10 us"), "traffic_class: names class 3, but there are classes 0 to 2"),
        (lambda device: device.set_class("voice", "2 ms"), "deadline: must be at most what the configuration's longest_deadline_us says"),
        (lambda device: device.set_class("voice", "10"), "deadline: must be a time with one of the units"),
        (lambda device: device.set_dscp(64, "voice"), "dscp: must be a DSCP, a number from 0 to 63"),
        (lambda device: device.set_memory_limit("1 kB"), "size: must be"),
        (lambda device: device.counters("video"), 'traffic_class: names class "video"'),
        (lambda device: device.send(marked(0), "voice"), "so send() takes no traffic_class"),
        (lambda device: device.send(b""), "a frame has at least 1 byte"),
        (lambda device: device.read("nothing"), "the device has no register 'nothing'; docs/registers_deadline_port.md lists them"),
    ],
)
def test_errors_are_one_sentence(call: Any, says: str) -> None:
    with opened() as device, pytest.raises(UserError) as caught:
        call(device)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_memory_limit_and_plain_fifo() -> None:
    with opened(memory_limit="8192 byte") as device:
        for _ in range(60):
            device.send(marked(0, 1500))
        assert device.drain()
        dropped = device.counters("bulk")["no_page_packets"]
        assert dropped > 0 and set(device.dropped().columns["reason"].tolist()) <= {"no_page", "missed"}
        device.set_memory_limit(None)
    with opened("tiny_fifo_3") as device:
        sent = [device.send(marked(code)) for code in (0, 46, 18, 46)]
        assert device.drain()
        assert device.received().columns["number"].tolist() == sent
        with pytest.raises(UserError, match="plain FIFO"):
            device.set_class("voice", "10 us")
