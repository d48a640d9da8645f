# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Captures in scenarios: which frames go to which queue and when, in the job that the engine gets. No engine is built."""

import struct
from pathlib import Path
from typing import Any

import pytest
from captures import pcapng
from stand_in import frame, pcap_bytes

from penstock.errors import UserError
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration, design_of

ETHERNET = bytes.fromhex("020000000002020000000001")
V6 = bytes.fromhex("20010db8000000000000000000000001" + "20010db8000000000000000000000002")
MS = 10**6


def planned(place: Path, traffic: list[dict[str, Any]], device: str = "demo_64", **more: Any) -> Any:
    """Return the plan of a scenario of one second."""
    text = {"device": {"config": device}, "duration": "1 s", "traffic": traffic, **more}
    document = scenario.Document(place / "x.yaml", text, None, {})
    design = design_of(document)
    described = scenario.validated(design.scenario, document)
    return design.plan(described, document, configuration(described, document), "model")


def queues(place: Path, frames: list[bytes], rules: list[dict[str, Any]], lengths: list[int] | None = None) -> list[int]:
    """Return the queue of each frame: the number of its rule from 1 on, 9: no rule's."""
    (place / "x.pcap").write_bytes(pcap_bytes([(index, data) for index, data in enumerate(frames)], lengths))
    rows = [{"match": match, "queue": number} for number, match in enumerate(rules, 1)]
    plan = planned(place, [{"pcap": "x.pcap", "map": rows, "unmatched": 9}])
    found: list[int] = plan.job["sources"][0]["queues"].tolist()
    return found


def test_esp_over_ipv6(tmp_path: Path) -> None:
    esp6 = ETHERNET + b"\x86\xdd" + struct.pack("!IHBB", 6 << 28, 48, 50, 64) + V6 + bytes(48)
    esp4 = frame(proto=50)
    assert queues(tmp_path, [esp6] * 3 + [esp4] * 3, [{"proto": "esp"}, {"src": "::/0"}]) == [1] * 6
    assert queues(tmp_path, [esp6] * 3 + [esp4] * 3, [{"src": "::/0"}]) == [1] * 3 + [9] * 3


def test_a_bad_first_frame_does_not_decide_for_its_flow(tmp_path: Path) -> None:
    good = frame(proto=6, dport=80)
    bad = good[:46] + b"\x00" + good[47:]  # data offset 0
    short = good[:16] + struct.pack("!H", 22) + good[18:]  # the packet ends before the destination port
    rules = [{"proto": "tcp", "dport": 80}, {"proto": "tcp"}]
    assert queues(tmp_path, [bad, good, good], rules) == [1, 1, 1]
    assert queues(tmp_path, [short, good, good, short], rules) == [2, 1, 1, 2]


def test_addresses_before_a_cut_extension_header(tmp_path: Path) -> None:
    cut = ETHERNET + struct.pack("!HHH", 0x8100, 5, 0x86DD) + struct.pack("!IHBB", 6 << 28, 76, 0, 64) + V6 + b"\x11\x00"
    assert queues(tmp_path, [cut] * 3, [{"src": "2001:db8::/32"}], [134] * 3) == [1] * 3
    assert queues(tmp_path, [cut] * 3, [{"sport": "0-65535"}, {"proto": "udp"}], [134] * 3) == [2] * 3


def test_an_interface_that_no_packet_uses(tmp_path: Path) -> None:
    import random

    written = pcapng(random.Random(5), 12)
    assert b"\x93\x00" in written.content or b"\x00\x93" in written.content  # of link type 147
    (tmp_path / "x.pcap").write_bytes(written.content)
    assert planned(tmp_path, [{"pcap": "x.pcap", "map": [{"match": {}, "queue": 1}], "time_scale": 0.0001}]).job["sources"]


def test_joined_captures_are_played_within_the_duration(tmp_path: Path) -> None:
    records = [(1_300_000_000 * 10**9 + at, frame()) for at in (0, MS, 2 * MS)] + [(1_500_000_000 * 10**9, frame())]
    (tmp_path / "x.pcap").write_bytes(pcap_bytes(records))
    plan = planned(tmp_path, [{"pcap": "x.pcap", "map": [{"match": {}, "queue": 1}]}])
    assert plan.job["sources"][0]["cycles"].tolist() == [0, 10_000, 20_000]
    assert "Record 4 of x.pcap is stamped 2,314 days after the one before; only what is before it was read." in plan.notes


@pytest.mark.parametrize(
    ("device", "more"),
    [
        ("jumbo_1024", {"map": [{"match": {}, "queue": 0}]}),
        ("jumbo_1024", {"prefixed": True}),
        ("deadline_ddr4_3", {}),
        ("switch_4", {"input": 0, "map": [{"match": {}, "outputs": 1}]}),
    ],
)
def test_only_frames_that_are_too_long(tmp_path: Path, device: str, more: dict[str, Any]) -> None:
    (tmp_path / "x.pcap").write_bytes(pcap_bytes([(0, frame()[:64])], [65_549]))
    classes = {"classes": [{"name": "all", "deadline": "1 ms"}]} if device.startswith("deadline") else {}
    with pytest.raises(UserError, match="`traffic.0.pcap` has no frame to play: none of the 1 frames of x.pcap has at most 65,535 byte"):
        planned(tmp_path, [{"pcap": "x.pcap", **more}], device, **classes)


def test_frames_cut_before_and_behind_the_dscp(tmp_path: Path) -> None:
    """A deadline port takes each frame of which the bytes that are kept say the class, or that it has no DSCP."""
    tagged = frame()[:12] + struct.pack("!HH", 0x8100, 1) + frame()[12:]
    arp = frame()[:12] + b"\x08\x06" + bytes(40)
    classes = {"classes": [{"name": "all", "deadline": "1 ms"}]}

    def taken(kept: list[bytes]) -> list[int]:
        (tmp_path / "x.pcap").write_bytes(
            pcap_bytes([(index, data) for index, data in enumerate(kept)], [200 + i for i in range(len(kept))])
        )
        plan = planned(tmp_path, [{"pcap": "x.pcap"}], "deadline_ddr4_3", **classes)
        return [length - 200 for length in plan.job["sources"][0]["lengths"].tolist()]

    cuts = [frame()[:16], frame()[:15], tagged[:20], tagged[:19], arp[:14], arp[:13], frame()[:14] + b"\x65", b""]
    assert taken(cuts) == [0, 2, 4, 6]
    with pytest.raises(UserError, match="has no frame to play: none of the 1 frames of x.pcap was recorded with its DSCP"):
        taken([frame()[:15]])


def test_several_captures_on_one_clock(tmp_path: Path) -> None:
    """Each frame comes at its distance from the earliest of all, which is in the middle of a file; `start` is added, scales are one."""
    for name, at in (("a", (5, 9)), ("b", (2, 1, 7)), ("c", (6,))):
        (tmp_path / f"{name}.pcap").write_bytes(pcap_bytes([(10**18 + ms * MS, frame()) for ms in at]))
    row = {"map": [{"match": {}, "queue": 1}], "clock": "shared"}
    plan = planned(tmp_path, [{**row, "pcap": "a.pcap"}, {**row, "pcap": "b.pcap"}, {**row, "pcap": "c.pcap", "start": "3 ms"}])
    assert [source["cycles"].tolist() for source in plan.job["sources"]] == [[40_000, 80_000], [0, 10_000, 60_000], [80_000]]
    slow = [{**row, "pcap": f"{name}.pcap", "time_scale": 2.0} for name in "ab"]
    assert planned(tmp_path, slow).job["sources"][0]["cycles"].tolist() == [80_000, 160_000]
    (tmp_path / "late.pcap").write_bytes(pcap_bytes([(10**18 + 5000 * MS, frame())]))
    for traffic, words in (
        ([slow[0], {**row, "pcap": "b.pcap"}], "`traffic.0.time_scale` must be the same for all captures on the shared clock"),
        ([{**row, "pcap": "a.pcap", "repeat": 2}], "has a `repeat`, but captures on one clock are played once"),
        (
            [{**row, "pcap": "a.pcap"}, {**row, "pcap": "late.pcap"}],
            "has its first frame at 4.995 s of the clock that is shared",
        ),
        ([{**row, "pcap": "a.pcap"}, {**row, "pcap": "none.pcap"}], "`traffic.1.pcap` names .* there is no such capture"),
    ):
        with pytest.raises(UserError, match=words):
            planned(tmp_path, traffic)


def test_up_to_where_it_is_cut(tmp_path: Path) -> None:
    (tmp_path / "x.pcap").write_bytes(pcap_bytes([(0, frame()), (MS, frame()), (2 * MS, frame())])[:-1])
    row = {"pcap": "x.pcap", "map": [{"match": {}, "queue": 1}]}
    with pytest.raises(UserError, match="is cut within record 3"):
        planned(tmp_path, [row])
    plan = planned(tmp_path, [{**row, "cut": "play"}])
    assert len(plan.job["sources"][0]["cycles"]) == 2
    assert "x.pcap is cut within record 3; what is before is played." in plan.notes


def test_records_that_are_no_frames_are_said(tmp_path: Path) -> None:
    """Raw IP beside what is none: the summary counts it, and an error names the record of the file."""
    (tmp_path / "x.pcap").write_bytes(pcap_bytes([(0, b"\x10" * 20), (1, frame()[14:]), (2, frame(proto=6)[14:])], None, 101))
    row = {"pcap": "x.pcap", "map": [{"match": {"proto": "udp"}, "queue": 1}]}
    plan = planned(tmp_path, [row])
    assert plan.job["sources"][0]["lengths"].tolist() == [100]
    assert "Left out were 1 records of x.pcap, which carry no IP." in plan.notes
    with pytest.raises(UserError, match="and frame 3 of x.pcap matches no rule"):
        planned(tmp_path, [{**row, "unmatched": "error"}])
