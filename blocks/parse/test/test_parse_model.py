"""The model of pst_parse against what Scapy was told to build, against an independent reader, and against other readers on captures."""

import ipaddress
import os
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import parse_frames
import parse_reader
import pytest

from penstock.engine import engine
from penstock.scenarios.frame_fields import fields_of
from penstock.testing.testkit import seed

SIZES: list[dict[str, Any]] = [
    {"window_bytes": 128, "extension_headers": 4, "tunnels": True},
    {"window_bytes": 192, "extension_headers": 8, "tunnels": True},
    {"window_bytes": 64, "extension_headers": 1, "tunnels": False},
]
GROWING = ("ending", "ethertype", "protocol", "tags", "labels")  # what the last header says, and counts
REASONS = {"done", "unknown", "cut", "beyond", "deep", "bad version", "bad length", "bad PPPoE"}


@pytest.fixture(scope="module")
def parse():
    return engine.models("parse").parse


def seen(found: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in found.items() if value}


def test_fields_that_were_put_in_are_found(parse) -> None:
    """Valid frames: every field is what Scapy, or the test, has written. Where headers end behind the window is the other tests' affair."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    checked = Counter()
    for _ in range(1200):
        frame, mode, told = parse_frames.valid(rng)
        found = parse(frame, mpls=mode, window_bytes=192, extension_headers=8)
        assert found["ending"] == told.get("ending", 0) or found["ending"] == parse_reader.BEYOND, frame.hex()
        if found["ending"] == parse_reader.BEYOND:
            continue
        found = {name: value for name, value in found.items() if name not in ("network_at", "transport_at")}
        assert seen(found) == {name: value for name, value in told.items() if value}, frame.hex()
        checked.update(name for name, value in told.items() if value)
    assert min(checked[name] for name in ("tunnel_id", "label3", "session", "snap", "control_word", "inner_id", "fragment")) > 15, checked


def test_as_an_independent_reader(parse) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    reasons: Counter[int] = Counter()
    for _ in range(5000):
        frame, mode = parse_frames.odd(rng)
        for sizes in SIZES:
            found = parse(frame, mpls=mode, **sizes)
            assert seen(found) == parse_reader.read(frame, mode, **sizes), f"mpls={mode} {sizes} {frame.hex()}"
            reasons[found["ending"]] += 1
    assert len(reasons) == len(REASONS) and min(reasons.values()) > 10, reasons


def test_cut_at_every_byte(parse) -> None:
    """What is found never changes as more of a frame is there; only more is found."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(40):
        frame, mode = parse_frames.odd(rng)
        before: dict[str, int] = {}
        for length in range(1, min(len(frame), 140) + 1):
            found = seen(parse(frame[:length], mpls=mode))
            assert found == parse_reader.read(frame[:length], mode), f"mpls={mode} {frame[:length].hex()}"
            kept = {name: value for name, value in before.items() if name not in GROWING}
            assert kept.items() <= found.items(), f"{length}: {frame.hex()}"
            before = found


def compared_with_rules(frame: bytes, found: dict[str, int]) -> list[str]:
    """Return where the reader of scenario rules, which tests compare with tshark, sees something else in a frame.

    It looks behind more tags and labels, and into headers that are cut; so what both have seen is compared.
    """
    rules, differences = fields_of(frame), []

    def both(name: str, mine: object, theirs: object) -> None:
        if mine != theirs:
            differences.append(f"{name}: {mine!r}, {theirs!r} by the rules")

    if found["ethernet"]:
        both("destination MAC", found["destination_mac"].to_bytes(6, "big"), rules.destination_mac)
        both("source MAC", found["source_mac"].to_bytes(6, "big"), rules.source_mac)
    both("tags", (found["outer_id"], found["inner_id"])[: found["tags"]], rules.vlans[: found["tags"]])
    if found["pppoe"]:
        both("session", found["session"], rules.pppoe)
    if found["labels"]:
        both("label", found["label0"], rules.mpls)
    if found["ip"] and not found["inner_ethernet"]:
        both("version", found["ip"], rules.version)
        both("DSCP", found["dscp"], rules.dscp)
        for name, theirs in (("source", rules.source), ("destination", rules.destination)):
            address = (found[f"{name}_high"] << 64 | found[f"{name}_low"]).to_bytes(16, "big")
            both(name, address[-4:] if found["ip"] == 4 else address, theirs)
        if found["transport"]:
            both("protocol", found["protocol"], rules.protocol)
        if found["transport"] in (1, 2, 3):
            both("ports", (found["transport_word"] >> 16, found["transport_word"] & 0xFFFF), (rules.source_port, rules.destination_port))
    return differences


def test_as_the_rules_of_scenarios(parse) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(2000):
        frame, _ = parse_frames.odd(rng)
        assert not compared_with_rules(frame, parse(frame, mpls=1)), frame.hex()


CAPTURE = re.compile(r".*\.(pcap|cap|dmp)", re.IGNORECASE)


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("PENSTOCK_CAPTURES"), reason="PENSTOCK_CAPTURES names no folder with captures")
def test_a_folder_of_captures(parse) -> None:
    """All Ethernet frames of all captures: as the independent reader, as the rules of scenarios, and as dpkt where it reads the frame."""
    import dpkt

    frames, files, differences, ends = 0, 0, [], Counter()
    for path in sorted(Path(os.environ["PENSTOCK_CAPTURES"]).rglob("*")):
        if not path.is_file() or not CAPTURE.fullmatch(path.name) or path.stat().st_size > 50_000_000:
            continue
        with path.open("rb") as file:
            try:
                reader = dpkt.pcap.UniversalReader(file)
                records = [bytes(frame) for _, frame in reader]
            except (ValueError, dpkt.Error, OSError, EOFError):
                continue
        if reader.datalink() != dpkt.pcap.DLT_EN10MB:
            continue
        files += 1
        for record, frame in enumerate(records, 1):
            found = parse(frame, mpls=1)
            frames += 1
            ends[found["ending"]] += 1
            where = f"{path.name}, record {record}"
            if seen(found) != parse_reader.read(frame, 1):
                differences.append(f"{where}: {seen(found)}, {parse_reader.read(frame, 1)} by the independent reader")
            differences += [f"{where}: {words}" for words in compared_with_rules(frame, found)]
            differences += [f"{where}: {words}" for words in compared_with_dpkt(frame, found)]
    print(f"{frames} frames of {files} captures; endings {dict(ends)}")
    assert frames and not differences, "\n".join([f"{len(differences)} differences", *differences[:40]])


def compared_with_dpkt(frame: bytes, found: dict[str, int]) -> list[str]:
    """Return where dpkt reads another IP packet, of frames without MPLS and of whole headers."""
    import dpkt

    try:
        packet = dpkt.ethernet.Ethernet(frame).data
    except (dpkt.Error, ValueError, IndexError, TypeError):
        return []
    while isinstance(packet, (dpkt.pppoe.PPPoE, dpkt.ppp.PPP)):
        packet = packet.data
    if not found["ip"] or found["labels"] or not isinstance(packet, (dpkt.ip.IP, dpkt.ip6.IP6)):
        return []
    size = len(packet.src)
    mine = tuple((found[f"{name}_high"] << 64 | found[f"{name}_low"]).to_bytes(16, "big")[-size:] for name in ("source", "destination"))
    told = [] if mine == (packet.src, packet.dst) else [f"addresses {[str(ipaddress.ip_address(one)) for one in mine]} not as in dpkt"]
    upper = packet.data
    if isinstance(upper, (dpkt.tcp.TCP, dpkt.udp.UDP)) and found["transport"] in (1, 2):
        ports = upper.sport << 16 | upper.dport
        told += [] if ports == found["transport_word"] else [f"ports {found['transport_word']:08x}, {ports:08x} in dpkt"]
    return told
