# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What Penstock reads of captures, compared with what tshark reads: random files, and a folder that PENSTOCK_CAPTURES names.

Slow tests: they need tshark (Debian's package of that name).
"""

import os
import random
import re
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from captures import pcapng
from stand_in import pcap_bytes

from penstock.basics.packages import need_program
from penstock.errors import UserError
from penstock.scenarios.capture_file import Source, unpacked
from penstock.scenarios.capture_records import records
from penstock.scenarios.frame_fields import Fields, fields_of
from penstock.testing.foreign_frames import drawn, packed
from penstock.testing.testkit import seed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

NEXT = {0: "ipv6.hopopts.nxt", 43: "ipv6.routing.nxt", 44: "ipv6.fraghdr.nxt", 51: "ah.next_header", 60: "ipv6.dstopts.nxt"}
COLUMNS = [
    "frame.time_epoch", "frame.len", "frame.cap_len", "frame.protocols", "eth.dst", "eth.src", "vlan.id", "mpls.label", "pppoe.session_id",
    "ip.version", "ip.hdr_len", "ip.dsfield.dscp", "ip.proto", "ip.src", "ip.dst", "ipv6.version", "ipv6.tclass.dscp", "ipv6.nxt",
    "ipv6.src", "ipv6.dst",
    *NEXT.values(), "tcp.srcport", "tcp.dstport", "udp.srcport", "udp.dstport", "sctp.srcport", "sctp.dstport", "dccp.srcport",
    "dccp.dstport",
]  # fmt: skip
BEFORE = frozenset(
    ("eth", "ethertype", "vlan", "ieee8021ad", "mpls", "pppoes", "pppoed", "ppp", "llc", "data", "arp", "sll", "raw", "null")
)
# Captures of tcpdump's tests with a second and more in the fraction of a second: tshark shows it behind the point as it is.
ODD_TIMES = {"timestamp_invalid_micro.pcap", "timestamp_invalid_nano.pcap"}
PORTS_OF = {6: "tcp", 17: "udp", 33: "dccp", 132: "sctp", 136: "udp"}


def read_by_tshark(path: Path) -> list[dict[str, list[str]]]:
    """Return of each record what tshark shows: the values of each column, those of the outer headers first."""
    command = [need_program("tshark", "tshark"), "-r", str(path), "-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-n"]
    for preference in ("ip.defragment:FALSE", "ipv6.defragment:FALSE"):
        command += ["-o", preference]
    command += [word for column in COLUMNS for word in ("-e", column)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [{name: text.split(",") if text else [] for name, text in zip(COLUMNS, row, strict=False)} for row in rows]


def _first(row: dict[str, list[str]], column: str) -> str | None:
    return row[column][0] if row[column] else None


def _number(text: str | None) -> int | None:
    return None if text is None else int(text, 0)


def shown(row: dict[str, list[str]]) -> Fields:
    """Return what tshark shows of the outermost headers."""
    layers = row["frame.protocols"][0].split(":") if row["frame.protocols"] else []
    network = next((layer for layer in layers if layer in ("ip", "ipv6")), None)
    before = layers[: layers.index(network)] if network else layers
    if not BEFORE.issuperset(before):
        return Fields()  # behind headers that rules do not look behind
    if network and _first(row, f"{network}.version") != {"ip": "4", "ipv6": "6"}[network]:
        network = None  # it was cut before its first byte, or is of another version than its EtherType says
    if network == "ip" and (_number(_first(row, "ip.hdr_len")) or 0) < 20:
        network = None  # a header shorter than any is none (RFC 791, 3.1); tshark shows its version all the same
    found: dict[str, object] = {}
    if network == "ip":
        found = {"version": 4, "dscp": _number(_first(row, "ip.dsfield.dscp")), "protocol": _number(_first(row, "ip.proto"))}
    elif network == "ipv6":
        kind = _number(_first(row, "ipv6.nxt"))
        while kind in NEXT and row[NEXT[kind]]:
            kind = _number(row[NEXT[kind]].pop(0))
        found = {"version": 6, "dscp": _number(_first(row, "ipv6.tclass.dscp")), "protocol": None if kind in NEXT else kind}
    for key, column in (("source", "src"), ("destination", "dst")):
        text = _first(row, f"{network}.{column}") if network else None
        found[key] = packed(text) if text else None
    above = PORTS_OF.get(found.get("protocol"))  # type: ignore[call-overload]
    if above and network and above in layers and "icmp" not in layers and "icmpv6" not in layers:
        found["source_port"], found["destination_port"] = (_number(_first(row, f"{above}.{column}")) for column in ("srcport", "dstport"))
    # The ids of IEEE 802.1ad have names of their own there, and the order is lost.
    found["vlans"] = tuple(int(text) for text in row["vlan.id"][: min(2, before.count("vlan"))]) if "ieee8021ad" not in layers else ()
    found["mpls"] = _number(_first(row, "mpls.label")) if "mpls" in before else None  # there are labels in UDP, too (RFC 7510)
    found["pppoe"] = _number(_first(row, "pppoe.session_id"))
    for key, column in (("source_mac", "eth.src"), ("destination_mac", "eth.dst")):
        text = _first(row, column)
        found[key] = bytes.fromhex(text.replace(":", "")) if text else None
    return Fields(**found)  # type: ignore[arg-type]


def differences(path: Path, ethernet: bool = True) -> Iterator[str]:
    """Yield where tshark and Penstock read a file differently; what tshark does not show, cut fields among it, may be seen by Penstock."""
    theirs = read_by_tshark(path)
    with path.open("rb") as file:
        ours = list(records(Source(path, unpacked(file))))
    if len(ours) != len(theirs):
        yield f"{path.name}: {len(ours)} records, {len(theirs)} in tshark"
        return
    for number, (record, row) in enumerate(zip(ours, theirs, strict=True), 1):
        time = _first(row, "frame.time_epoch")
        if path.name not in ODD_TIMES and record.time is not None and time is not None and abs(Decimal(time) * 10**9 - record.time) >= 1:
            yield f"{path.name}: record {number} at {record.time} ns, {time} s in tshark"
        if isinstance(record.found, str):
            continue
        seen, told = fields_of(record.found[1]), shown(row)
        if ethernet and (record.found[0], len(record.found[1])) != (int(row["frame.len"][0]), int(row["frame.cap_len"][0])):
            yield f"{path.name}: record {number} is of {record.found[0]} byte, {row['frame.len']} in tshark"
        for name, mine, other in zip(Fields._fields, seen, told, strict=True):
            mine = mine[: len(other)] if name == "vlans" else mine
            if other not in (None, ()) and mine != other and (ethernet or not name.endswith("_mac")):
                yield f"{path.name}: record {number}, {name}: {mine!r}, {other!r} in tshark ({record.found[1].hex()})"


def test_random_frames_whole_and_cut(tmp_path: Path) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    frames = [drawn(rng)[0] for _ in range(3000)]
    kept = [frame[: rng.choice((len(frame), rng.randrange(14, len(frame))))] for frame in frames]
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap_bytes([(index, frame) for index, frame in enumerate(kept)], [len(frame) for frame in frames]))
    rows = read_by_tshark(path)
    assert not list(differences(path))
    for name in Fields._fields:
        assert len({getattr(shown(row), name) for row in rows}) > 2, f"tshark shows no {name}"


def test_random_pcapng(tmp_path: Path) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    path = tmp_path / "x.pcapng"
    for _ in range(25):
        path.write_bytes(pcapng(rng).content)
        assert not list(differences(path))


CAPTURE = re.compile(r".*\.(pcap|pcapng|cap|dmp|pcap\.gz)", re.IGNORECASE)


@pytest.mark.skipif(not os.environ.get("PENSTOCK_CAPTURES"), reason="PENSTOCK_CAPTURES names no folder with captures")
def test_a_folder_of_captures() -> None:
    found, read, refused = [], 0, []
    for path in sorted(Path(os.environ["PENSTOCK_CAPTURES"]).rglob("*")):
        if not path.is_file() or not CAPTURE.fullmatch(path.name) or path.stat().st_size > 50_000_000:
            continue
        try:
            found += list(differences(path, _is_ethernet(path)))
            read += 1
        except UserError as error:
            refused.append(str(error))
    print(f"{read} captures compared, {len(refused)} refused:", *refused, sep="\n  ")
    assert read and not found, "\n".join([f"{len(found)} differences", *found[:40]])


def _is_ethernet(path: Path) -> bool:
    with path.open("rb") as file:
        head = unpacked(file).read(24)
    return head[:4] != b"\x0a\x0d\x0d\x0a" and 1 in (int.from_bytes(head[20:22], "little"), int.from_bytes(head[22:24], "big"))
