# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Captures: what is read is what is in the file, and every cut or damage is found."""

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stand_in import frame, pcap_bytes

from penstock.errors import UserError
from penstock.scenarios import capture_file, pcap, rules
from penstock.scenarios.common import Match
from penstock.testing import testkit

RECORDS = [(1_000_000_000_000 + 1_500 * i, frame(size=60 + i)) for i in range(20)]


def block(kind: int, body: bytes) -> bytes:
    """Return a pcapng block."""
    body = body.ljust(-(-len(body) // 4) * 4, b"\0")
    return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


def pcapng_bytes(records: list[tuple[int, bytes]], link_type: int = 1) -> bytes:
    """Return a pcapng file with times in ns."""
    head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack("<HHIHHB3xHH", link_type, 0, 0, 9, 1, 9, 0, 0))
    packets = [block(6, struct.pack("<IIIII", 0, at >> 32, at & 0xFFFFFFFF, len(data), len(data)) + data) for at, data in records]
    return head + interface + b"".join(packets)


WRITERS: list[Any] = [pcap_bytes, pcapng_bytes]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("packed", [False, True])
def test_reads_what_was_written(tmp_path: Path, write: Any, packed: bool) -> None:
    """Times in ns from the first frame, lengths and bytes, also from a gzipped file."""
    path = tmp_path / "x.pcap"
    path.write_bytes(gzip.compress(write(RECORDS)) if packed else write(RECORDS))
    frames = pcap.read(path)
    assert frames.times_ns.tolist() == [at - RECORDS[0][0] for at, _ in RECORDS]
    assert [frames.frame(i) for i in range(len(frames))] == [data for _, data in RECORDS]
    assert frames.lengths.tolist() == [len(data) for _, data in RECORDS]


def test_microseconds_and_big_endian(tmp_path: Path) -> None:
    """The classic format of another machine."""
    data = frame()
    head = struct.pack(">IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    path = tmp_path / "x.pcap"
    path.write_bytes(head + b"".join(struct.pack(">IIII", 5, us, len(data), len(data)) + data for us in (10, 35)))
    assert pcap.read(path).times_ns.tolist() == [0, 25_000]


def test_snap_length(tmp_path: Path) -> None:
    """A frame that was cut keeps its length on the line."""
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap_bytes([(0, frame()[:64])], lengths=[1514]))
    frames = pcap.read(path)
    assert (frames.lengths.tolist(), len(frames.frame(0))) == ([1514], 64)


@pytest.mark.parametrize("kind", ["pcap", "bytes", "bits"])
def test_the_fcs_is_no_part_of_a_frame(tmp_path: Path, kind: str) -> None:
    """Where a file says that frames end with their FCS, it is in no length: of a whole frame, one cut within it, one cut before."""
    whole = frame(size=100)
    stored, lengths = [whole + b"FCS!", (whole + b"FCS!")[:102], whole[:64]], [104, 104, 104]
    records = [(1000 * index, data) for index, data in enumerate(stored)]
    path = tmp_path / "x.pcap"
    if kind == "pcap":
        path.write_bytes(pcap_bytes(records, lengths, 1 | 1 << 26 | 2 << 28))
    else:
        option = struct.pack("<HHB3xHH", 13, 1, {"bytes": 4, "bits": 32}[kind], 0, 0)
        packets = [block(6, struct.pack("<IIIII", 0, 0, at, len(data), 104) + data) for at, data in records]
        path.write_bytes(
            block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
            + block(1, struct.pack("<HHI", 1, 0, 0) + option)
            + b"".join(packets)
        )
    frames = pcap.read(path)
    assert frames.lengths.tolist() == [100] * 3
    assert [frames.frame(index) for index in range(3)] == [whole, whole, whole[:64]]

    if kind == "pcap":
        path.write_bytes(pcap_bytes([(0, b"FCS!")], [4], 1 | 1 << 26 | 2 << 28))
        with pytest.raises(UserError, match="is damaged: record 1 has 4 byte, and 4 of FCS among them"):
            pcap.read(path)
        path.write_bytes(pcap_bytes([(0, whole)], None, 1 | 2 << 28))  # a length that is not said to be there
        assert pcap.read(path).lengths.tolist() == [100]


def test_out_of_order_is_sorted(tmp_path: Path) -> None:
    """Frames of two interfaces may be written out of order."""
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap_bytes([(5_000, frame(size=70)), (1_000, frame(size=80))]))
    frames = pcap.read(path)
    assert (frames.times_ns.tolist(), frames.lengths.tolist()) == ([0, 4_000], [80, 70])


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("packed", [False, True])
def test_only_what_is_wanted_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any, packed: bool) -> None:
    """A second of a long capture: what comes later is not read (here it is damaged), and what is early but late in the file is."""
    monkeypatch.setattr(capture_file, "CHUNK_BYTES", 64)
    records = [(10**18 + at * 10**6, frame(size=60 + at % 7)) for at in (0, 400, 300, 999, 1000, 1001, 1500, 2000, 500, 2001, 3000)]
    whole = write(records) + b"damaged" * 100
    path = tmp_path / "x.pcap"
    path.write_bytes(gzip.compress(whole) if packed else whole)
    with pytest.raises(UserError):
        pcap.read(path)
    frames = pcap.read(path, 10**9)
    assert frames.times_ns.tolist() == [at * 10**6 for at in (0, 300, 400, 500, 999, 1000)] and not frames.whole
    assert [len(frames.frame(i)) for i in range(6)] == [60 + at % 7 for at in (0, 300, 400, 500, 999, 1000)]
    path.write_bytes(write(records[:5]))
    assert pcap.read(path, 10**9).whole and len(pcap.read(path, 10**9)) == 5
    assert not pcap.read(path, 10**9 - 1).whole


def test_disorder_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose time stands still just after the window is not read for ever."""
    monkeypatch.setattr(pcap, "DISORDER_FRAMES", 3)
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap_bytes([(0, frame()), *[(2000, frame())] * 4]) + b"damaged")
    frames = pcap.read(path, 1000)
    assert len(frames) == 1 and not frames.whole


@pytest.mark.parametrize(("limit", "value"), [("MAX_FRAMES", 10), ("MAX_BYTES", 1000)])
def test_a_capture_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    """A few packed bytes may be very many frames; the sentence says what to do."""
    monkeypatch.setattr(pcap, limit, value)
    path = tmp_path / "x.pcap"
    path.write_bytes(gzip.compress(pcap_bytes([(0, frame(size=60))] * 30)))
    with pytest.raises(UserError, match="holds more than .* frames or .* GB in the time that is played: take a shorter duration"):
        pcap.read(path, 10**9)


def test_packed_zeros_are_no_frames(tmp_path: Path) -> None:
    """Sixteen zeros would be the header of a record of no bytes: the first one is refused."""
    path = tmp_path / "x.pcap"
    for head, words in ((b"", "neither a pcap nor"), (pcap_bytes([]), "record 1 claims to store 0 of 0 byte")):
        path.write_bytes(gzip.compress(head + bytes(10_000_000)))
        with pytest.raises(UserError, match=words):
            pcap.read(path, 10**9)


def test_a_long_capture_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pcap, "REPORT_RECORDS", 8)
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap_bytes(RECORDS))
    heard: list[str] = []
    pcap.read(path, None, heard.append)
    assert heard == [f"Reading x.pcap: {count} frames, 0 MB" for count in (8, 16)]


@pytest.mark.parametrize(
    ("options", "nanoseconds"),
    [
        (b"", 1000),  # microseconds, unless it is said otherwise
        (struct.pack("<HHB3x", 9, 1, 3), 1_000_000),
        (struct.pack("<HHB3x", 9, 1, 0x80 | 10), 10**9 / 1024),
        (struct.pack("<HHB3xHHq", 9, 1, 9, 14, 8, 5), 1),
        (struct.pack("<HHHxx", 2, 2, 0x4141) + struct.pack("<HHB3x", 9, 1, 6) + struct.pack("<HH", 0, 0), 1000),
    ],
)
def test_units_of_time(tmp_path: Path, options: bytes, nanoseconds: float) -> None:
    """Each interface of a pcapng file has its own: options if_tsresol and if_tsoffset."""
    head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    plain, other = block(1, struct.pack("<HHIHHB3x", 1, 0, 0, 9, 1, 9)), block(1, struct.pack("<HHI", 1, 0, 0) + options)
    data = frame()

    def packet(interface: int, ticks: int) -> bytes:
        return block(6, struct.pack("<IIIII", interface, 0, ticks, len(data), len(data)) + data)

    offset = 5 * 10**9 if b"\x0e\0\x08\0" in options else 0
    path = tmp_path / "x.pcap"
    path.write_bytes(head + plain + other + packet(0, 0) + packet(1, 1024))
    assert pcap.read(path).times_ns.tolist() == [0, round(1024 * nanoseconds) + offset]
    path.write_bytes(head + plain + packet(1, 0))
    with pytest.raises(UserError, match="record 1 is not whole, or of an interface that is not described"):
        pcap.read(path)


def test_simple_packets(tmp_path: Path) -> None:
    """They have no time: they follow their predecessors at once; the interface's snap length says what is stored."""
    head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", 1, 0, 64))
    data = frame(size=100)
    path = tmp_path / "x.pcap"
    path.write_bytes(head + block(6, struct.pack("<IIIII", 0, 0, 7, 100, 100) + data) + block(3, struct.pack("<I", 100) + data[:64]))
    frames = pcap.read(path)
    assert (frames.times_ns.tolist(), frames.lengths.tolist(), frames.stored.tolist()) == ([0, 0], [100, 100], [100, 64])


@pytest.mark.parametrize("write", WRITERS)
def test_every_cut_is_found(tmp_path: Path, write: Any) -> None:
    """A file cut at any byte is refused with a sentence, except at the end of a record, where it is a shorter file."""
    records = RECORDS[:3]
    whole = write(records)
    ends = [len(write(records[:n])) for n in range(1, 4)]
    path = tmp_path / "x.pcap"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        if length in ends:
            assert len(pcap.read(path)) == ends.index(length) + 1
            continue
        with pytest.raises(UserError) as error:
            pcap.read(path)
        assert "x.pcap: " in str(error.value)
        if length > ends[0]:
            complete = sum(end < length for end in ends)
            assert f"record {complete + 1}" in str(error.value) or f"after record {complete}" in str(error.value)


@pytest.mark.parametrize("write", WRITERS)
def test_damage_never_raises_anything_else(tmp_path: Path, write: Any) -> None:
    """A file with random bytes changed is read or refused; nothing else happens."""
    rng = np.random.default_rng(testkit.seed())
    whole = np.frombuffer(write(RECORDS[:4]), dtype=np.uint8)
    path = tmp_path / "x.pcap"
    for _ in range(300):
        bad = whole.copy()
        bad[rng.integers(0, len(bad), rng.integers(1, 4))] = rng.integers(0, 256)
        path.write_bytes(bad.tobytes())
        try:
            frames = pcap.read(path)
        except UserError:
            continue
        rules.match_frames(frames, [Match.model_validate({"proto": "udp", "sport": 1})])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"hello world, no capture", "neither a pcap nor a pcapng"),
        (pcap_bytes([]), "holds no frames"),
        (pcapng_bytes([]), "holds no frames"),
        (pcap_bytes(RECORDS, link_type=189), "holds frames of link type 189; supported are Ethernet \\(1\\), "),
        (pcapng_bytes(RECORDS, link_type=220), "holds a frame \\(record 1\\) of link type 220"),
        (b"\x1f\x8b\x08junk", "cannot be read"),
        (gzip.compress(pcap_bytes(RECORDS), mtime=0)[:12] + b"\xff" * 50, "cannot be read"),
    ],
)
def test_no_capture(tmp_path: Path, content: bytes, words: str) -> None:
    """What is no capture of Ethernet frames is refused in words."""
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    with pytest.raises(UserError, match=words):
        pcap.read(path)


def test_missing_and_folder(tmp_path: Path) -> None:
    """No file, or a folder."""
    for path, words in ((tmp_path / "no.pcap", "no such capture"), (tmp_path, "is a folder")):
        with pytest.raises(UserError, match=words):
            pcap.read(path)


def frames_of(data: list[bytes]) -> pcap.Frames:
    """Return frames of one moment."""
    stored = np.array([len(one) for one in data], dtype=np.int32)
    offsets = np.cumsum([0, *stored[:-1]], dtype=np.int64)
    return pcap.Frames(np.zeros(len(data), dtype=np.int64), stored, offsets, stored, bytearray(b"".join(data)))


def vlan(data: bytes) -> bytes:
    """Return a frame with a VLAN tag."""
    return data[:12] + b"\x81\x00\x00\x07" + data[12:]


def ipv6(sport: int) -> bytes:
    """Return a UDP frame over IPv6 from 2001:db8::1."""
    source, destination = (bytes.fromhex("20010db8") + bytes(11) + bytes([n]) for n in (1, 2))
    return (
        bytes(12)
        + b"\x86\xdd"
        + struct.pack(">IHBB", 0x60000000, 12, 17, 64)
        + source
        + destination
        + struct.pack(">HHHHI", sport, 9, 12, 0, 0)
    )


@pytest.mark.parametrize(
    ("data", "rule", "hit"),
    [
        (frame(), {}, True),
        (frame(), {"proto": "udp", "src": "10.0.0.0/24", "dst": "10.0.0.2", "sport": 1000, "dport": "1999-2001"}, True),
        (frame(proto=6), {"proto": "udp"}, False),
        (frame(proto=6, sport=80), {"proto": "tcp", "sport": 80}, True),
        (frame(), {"src": "10.0.1.0/24"}, False),
        (frame(), {"dport": 2001}, False),
        (frame(), {"src": "::/0"}, False),
        (vlan(frame()), {"proto": 17, "dport": 2000}, True),
        (ipv6(53), {"proto": "udp", "src": "2001:db8::/32", "sport": 53}, True),
        (ipv6(54), {"sport": 53}, False),
        (frame()[:20], {"proto": "udp"}, False),
        (b"", {"proto": "udp"}, False),
        (b"", {}, True),
    ],
)
def test_match(data: bytes, rule: dict[str, Any], hit: bool) -> None:
    """Each field counts, VLAN tags and IPv6 are looked through, and what is cut does not match."""
    frames = frames_of([data, data])
    assert rules.match_frames(frames, [Match.model_validate(rule)]).tolist() == [0 if hit else -1] * 2


def test_first_rule_decides_and_memory_of_flows_is_right() -> None:
    """Random flows against random rules: remembering flows gives what parsing each frame gives."""
    rng = np.random.default_rng(testkit.seed())
    given = [
        Match.model_validate(r)
        for r in ({"sport": "1-3", "proto": "tcp"}, {"dst": "10.0.0.3"}, {"sport": 2}, {"proto": "udp", "dport": "4-9"})
    ]
    data = []
    for _ in range(2000):
        proto, sport, dport, host = int(rng.choice([6, 17])), *(int(n) for n in rng.integers(1, 6, 3))
        data.append(frame(proto, "10.0.0.1", f"10.0.0.{host}", sport, dport, int(rng.integers(60, 90))))
    frames = frames_of(data)
    found = rules.match_frames(frames, given)
    for one, index in zip(data, found.tolist(), strict=True):
        alone = frames_of([one])
        hits = [i for i, rule in enumerate(given) if rules.match_frames(alone, [rule])[0] == 0]
        assert index == (hits[0] if hits else -1)
    assert set(found.tolist()) == {-1, 0, 1, 2, 3}
