# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Foreign captures: random pcapng files, packed, cut and joined ones, other link types, several on one clock."""

import bz2
import gzip
import lzma
import random
import struct
from pathlib import Path
from typing import Any

import pytest
import zstandard
from captures import pcapng
from scapy.layers.dot11 import Dot11, Dot11Beacon, Dot11QoS, RadioTap
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import LLC, SNAP, CookedLinux, CookedLinuxV2, Ether, Loopback
from scapy.layers.ppp import HDLC, PPP
from stand_in import frame, pcap_bytes

from penstock.errors import UserError
from penstock.scenarios import link_types, pcap
from penstock.scenarios.capture_file import Source
from penstock.scenarios.capture_records import records
from penstock.testing.testkit import seed

DAY = 86_400 * 10**9
RECORDS = [(1_300_000_000 * 10**9 + 1000 * index, frame(size=60 + index)) for index in range(20)]
PACKERS: dict[str, Any] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.pcap"


def test_random_pcapng(path: Path) -> None:
    """Each record of a random file has its time, its length and its bytes; what has no time follows the one before, or comes first."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(60):
        written = pcapng(rng)
        path.write_bytes(written.content)
        with path.open("rb") as file:
            found = list(records(Source(path, file)))
        assert [record.time for record in found] == written.times_ns
        assert [record.found for record in found] == list(zip(written.lengths, written.kept, strict=True))
        frames = pcap.read(path)
        times: list[int] = []
        timed = [time for time in written.times_ns if time is not None]
        for time in written.times_ns:
            times.append(time if time is not None else times[-1] if times else timed[0] if timed else 0)
        assert frames.times_ns.tolist() == sorted(time - min(times) for time in times)
        assert [written.kept[frames.record(index) - 1] for index in range(len(frames))] == [
            frames.frame(index) for index in range(len(frames))
        ]


def test_pcapng_that_cannot_be(path: Path) -> None:
    """Versions that are not known, blocks shorter than their kind, packets of interfaces that are not described."""
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    interface = struct.pack("<IIHHII", 1, 20, 1, 0, 0, 20)
    for content, words in (
        (section.replace(b"\x01\0\0\0\xff", b"\x02\0\0\0\xff"), "is of version 2.0 of pcapng; supported is 1.0"),
        (section + struct.pack("<III", 6, 12, 12), "record 1 claims a length of 12 byte"),
        (section + struct.pack("<IIII", 3, 16, 0, 16), "record 1 is not whole, or of an interface that is not described"),
        (section + interface + section + struct.pack("<IIII", 3, 16, 0, 16), "record 1 is not whole"),
        (section + interface + struct.pack("<IIII", 3, 16, 0, 16), "holds no frames: of its 1 records 1 have no bytes"),
        (section + struct.pack("<II", 0x0BAD, 1 << 30) + bytes(100), "is cut within block 2"),
    ):
        path.write_bytes(content)
        with pytest.raises(UserError, match=words):
            pcap.read(path)


def test_the_flags_of_a_packet_say_its_fcs(path: Path) -> None:
    data = frame(size=100)
    block = struct.pack("<IIIII", 0, 0, 0, 104, 104) + data + b"FCS!" + struct.pack("<HHI", 2, 4, 4 << 5)
    size = struct.pack("<I", 12 + len(block))
    section = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
    path.write_bytes(section + struct.pack("<IIHHII", 1, 20, 1, 0, 0, 20) + struct.pack("<I", 6) + size + block + size)
    frames = pcap.read(path)
    assert (frames.lengths.tolist(), frames.frame(0)) == ([100], data)


@pytest.mark.parametrize("kind", PACKERS)
def test_packed_whole_and_cut(path: Path, kind: str) -> None:
    """Each packer; a packed file that is cut is an error, or is played up to where it is cut."""
    rng = random.Random(seed())
    many = [(1000 * index, rng.randbytes(60 + index % 50)) for index in range(2000)]
    packed = PACKERS[kind](pcap_bytes(many))
    path.write_bytes(packed)
    assert len(pcap.read(path)) == 2000
    path.write_bytes(packed[: 2 * len(packed) // 3])
    with pytest.raises(UserError, match="is cut within|cannot be read: .*end"):
        pcap.read(path)
    if kind != "bz2":  # of bzip2 a block of 900 kB is there as a whole or not at all
        frames = pcap.read(path, up_to_cut=True)
        assert (
            0 < len(frames) < 2000
            and frames.cut
            and [frames.frame(i) for i in range(len(frames))] == [data for _, data in many[: len(frames)]]
        )
    if kind in ("gz", "zst"):  # as several files joined after packing
        path.write_bytes(PACKERS[kind](pcap_bytes(many)[:1000]) + PACKERS[kind](pcap_bytes(many)[1000:]))
        assert len(pcap.read(path)) == 2000


def test_zstd_that_is_cut_between_records(path: Path) -> None:
    """Behind a block that ends with a record nothing is missing but the end of the packed file."""
    packer = zstandard.ZstdCompressor().compressobj()
    path.write_bytes(packer.compress(pcap_bytes(RECORDS[:10])) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    with pytest.raises(UserError, match="cannot be read: it ends within a frame of zstd"):
        pcap.read(path)
    assert len(pcap.read(path, up_to_cut=True)) == 10


def test_up_to_a_cut(path: Path) -> None:
    whole = pcap_bytes(RECORDS)
    path.write_bytes(whole[:-5])
    with pytest.raises(UserError, match="is cut within record 20"):
        pcap.read(path)
    frames = pcap.read(path, up_to_cut=True)
    assert (len(frames), frames.cut) == (19, "is cut within record 20")
    path.write_bytes(whole[:30])
    with pytest.raises(UserError, match="is cut within the header of record 1"):
        pcap.read(path, up_to_cut=True)


def test_joined_by_their_bytes(path: Path) -> None:
    """`cat a.pcap b.pcap`: the header of the second file is none of a record, whatever its byte order and unit."""
    other = struct.pack(">IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    other += struct.pack(">IIII", 1_300_000_001, 7, 60, 60) + frame(size=60)
    path.write_bytes(pcap_bytes(RECORDS) + other + pcap_bytes([(RECORDS[-1][0] + 5, frame(size=99))]))
    frames = pcap.read(path)
    assert len(frames) == 22 and frames.times_ns[-1] == 10**9 + 7000 and frames.lengths[-2] == 99
    path.write_bytes(pcap_bytes(RECORDS) + other[:20])
    with pytest.raises(UserError, match="is cut within the file header after record 20"):
        pcap.read(path)


def test_times_that_jump(path: Path) -> None:
    """A part stamped years later is beyond the time that is played; one stamped years earlier is named."""
    path.write_bytes(pcap_bytes([*RECORDS[:3], (RECORDS[0][0] + 2314 * DAY, frame())]))
    frames = pcap.read(path, 10**9)
    assert (len(frames), frames.whole, frames.jump) == (3, False, (4, 2314 * DAY - 2000))
    with pytest.raises(UserError, match="is joined from several captures, or damaged: record 4 is stamped 2,314 days after the earliest"):
        pcap.read(path)
    path.write_bytes(pcap_bytes([*RECORDS[:3], (RECORDS[0][0] - 800 * DAY, frame())]))
    with pytest.raises(UserError, match="record 4 is stamped 800 days before the first one"):
        pcap.read(path, 10**9)


def test_modified_pcap(path: Path) -> None:
    """Kuznetzov's format: each record has an interface, a protocol and a type of packet behind its lengths."""
    data = frame(size=80)
    for order in "<>":
        head = struct.pack(order + "IHHIIII", 0xA1B2CD34, 2, 4, 0, 0, 65535, 1)
        record = struct.pack(order + "IIIIIHBx", 5, 10, 80, 80, 3, 0x0800, 0) + data
        path.write_bytes(head + record * 3)
        frames = pcap.read(path)
        assert len(frames) == 3 and frames.frame(2) == data


def _snap(packet: Any, code: int) -> Any:
    return LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0, code=code) / packet


def test_other_link_types(path: Path) -> None:
    """Frames that Scapy puts behind other headers come out as those behind an Ethernet header: bytes and lengths, whole and cut."""
    rng = random.Random(seed())
    a, b, c, d = ("02:00:00:00:00:0a", "02:00:00:00:00:0b", "02:00:00:00:00:0c", "02:00:00:00:00:0d")
    zero = "00:00:00:00:00:00"
    for _ in range(40):
        version = rng.choice((4, 6))
        packet = (IP() if version == 4 else IPv6()) / UDP(sport=rng.randrange(65536)) / rng.randbytes(rng.randrange(20, 60))
        code = {4: 0x0800, 6: 0x86DD}[version]
        source = bytes.fromhex(a.replace(":", "")) + b"\0\0"
        null = struct.pack(rng.choice("<>") + "I", {4: 2, 6: rng.choice((24, 28, 30))}[version]) + bytes(packet)
        ppp = PPP(proto={4: 0x0021, 6: 0x0057}[version]) / packet
        hdlc = HDLC() / ppp
        cisco = rng.choice((b"\x0f\0", b"\x8f\0")) + struct.pack("!H", code) + bytes(packet)
        flags = rng.choice((0, 1, 2, 3))
        macs = {0: (b, a), 1: (c, a), 2: (b, c), 3: (c, d)}[flags]  # destination, source
        air = Dot11(type=2, subtype=8, FCfield=flags, addr1=b, addr2=a, addr3=c, addr4=d) / Dot11QoS() / _snap(packet, code)
        plain = Dot11(type=2, subtype=0, FCfield=flags, addr1=b, addr2=a, addr3=c, addr4=d) / _snap(packet, code)
        tap = bytes(RadioTap(present="TSFT+Flags+Rate", mac_timestamp=5, Flags="FCS", Rate=2)) + bytes(plain) + b"FCS!"
        cases = (
            (101, bytes(packet), (zero, zero)), (12, bytes(packet), (zero, zero)), ({4: 228, 6: 229}[version], bytes(packet), (zero, zero)),
            (113, bytes(CookedLinux(proto=code, src=source, lladdrlen=6) / packet), (zero, a)),
            (276, bytes(CookedLinuxV2(proto=code, src=source, lladdrlen=6, lladdrtype=1) / packet), (zero, a)),
            (0, null, (zero, zero)), (108, bytes(Loopback(type={4: 2, 6: 24}[version]) / packet), (zero, zero)),
            (9, bytes(ppp), (zero, zero)), (9, bytes(hdlc), (zero, zero)), (9, bytes(hdlc)[:2] + bytes(hdlc)[3:], (zero, zero)),
            (50, bytes(hdlc), (zero, zero)), (50, cisco, (zero, zero)), (104, cisco, (zero, zero)),
            (105, bytes(air), macs), (105, bytes(plain), macs), (127, tap, macs),
        )  # fmt: skip
        for link, data, (destination, sender) in cases:
            if link == 108:
                data = struct.pack(">I", {4: 2, 6: 24}[version]) + bytes(packet)
            expected = bytes(Ether(dst=destination, src=sender, type=code) / packet)
            path.write_bytes(pcap_bytes([(0, data), (1, data[:-30])], [len(data), len(data)], link))
            frames = pcap.read(path)
            assert frames.frame(0) == expected, (link, flags)
            assert frames.lengths.tolist() == [len(expected)] * 2
            assert frames.frame(1) == expected[: int(frames.stored[1])] and frames.stored[1] >= len(expected) - 30


@pytest.mark.parametrize(
    ("link", "data", "why"),
    [
        (127, bytes(RadioTap() / Dot11() / Dot11Beacon()), link_types.NO_DATA),
        (105, bytes(Dot11(type=2, subtype=4)), link_types.NO_DATA),
        (105, bytes(Dot11(type=2, subtype=0, FCfield=0x40) / bytes(40)), link_types.ENCRYPTED),
        (105, bytes(Dot11(type=2, subtype=8)) + b"\x80\0" + bytes(40), link_types.AGGREGATED),
        (127, bytes(RadioTap(present="Flags", Flags="FCS+badFCS")) + bytes(80), link_types.BAD_FCS),
        (113, bytes(CookedLinux(proto=0x0800, lladdrtype=824)) + bytes(40), link_types.NO_NETWORK),
        (113, bytes(CookedLinux(proto=0x000C)) + bytes(40), link_types.NO_NETWORK),
        (113, bytes(10), link_types.CUT),
        (101, b"\x10" + bytes(40), link_types.NO_IP),
        (9, bytes(HDLC() / PPP(proto=0xC021)) + bytes(40), link_types.NO_IP),  # LCP
        (9, b"\xff\x03\0", link_types.CUT),
        (104, b"\x8f\0\x80\x35" + bytes(18), link_types.NO_IP),  # a keepalive
        (104, b"\x0f\0\x08", link_types.CUT),
        (0, struct.pack("<I", 7) + bytes(40), link_types.NO_IP),
    ],
)
def test_what_is_no_frame_is_counted(path: Path, link: int, data: bytes, why: str) -> None:
    path.write_bytes(pcap_bytes([(0, data)], None, link))
    with pytest.raises(UserError, match="holds no frames: of its 1 records 1 " + why.split("(")[0]):
        pcap.read(path)


def test_random_bytes_of_every_link_type_are_read(path: Path) -> None:
    """Whatever is in a record, it is a frame or is left out: no crash, and never more stored than there is."""
    rng = random.Random(seed() + 1)
    for link in link_types.SUPPORTED:
        for _ in range(300):
            data = rng.randbytes(rng.randrange(1, 80))
            length = len(data) + rng.choice((0, 0, 100))
            found = link_types.SUPPORTED[link][1](length, data)
            assert isinstance(found, str) or (0 < found[0] <= length + link_types.HEADER_BYTES and len(found[1]) <= found[0]), (link, data)
