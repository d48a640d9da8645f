"""pst_fq_hash beside the sum of random words written down in Python, for header vectors of all kinds."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from penstock.testing import testkit

# Fields of headers_t from the low bits up, as pst_parse_pkg has them.
FIELDS = [
    ("tunnel_id", 32), ("tunnel_control", 1), ("tunnel", 2), ("transport_at", 8), ("transport_word", 32), ("transport", 3),
    ("network_at", 8), ("fragment", 2), ("destination", 128), ("source", 128), ("protocol", 8), ("ecn", 2), ("dscp", 6), ("ip", 3),
    ("inner_ethertype", 16), ("inner_source_mac", 48), ("inner_destination_mac", 48), ("inner_ethernet", 1), ("control_word", 1),
    ("label", 128), ("labels", 3), ("ppp", 16), ("session", 16), ("pppoe", 1), ("ethertype", 16), ("snap", 1), ("inner_tag", 18),
    ("outer_tag", 18), ("tags", 2), ("source_mac", 48), ("destination_mac", 48), ("ethernet", 1), ("ending", 3),
]  # fmt: skip
CHUNKS = 50


def packed(fields: dict[str, int]) -> int:
    value = at = 0
    for name, width in FIELDS:
        value |= fields[name] << at
        at += width
    return value


def bucket(words: list[list[int]], fields: dict[str, int]) -> int:
    """By definition: the key in chunks of six bits, each of which chooses a word."""
    if fields["ip"]:
        ports = fields["transport_word"] if fields["fragment"] == 0 and fields["transport"] in (1, 2, 3, 5) else 0
        key = fields["destination"] | fields["source"] << 128 | ports << 256 | fields["protocol"] << 288 | fields["ip"] << 296
    else:
        key = fields["destination_mac"] | fields["source_mac"] << 128 | fields["ethertype"] << 256
    found = 0
    for chunk in range(CHUNKS):
        found ^= words[chunk][key >> 6 * chunk & 63]
    return found


def hosts(words: list[list[int]], fields: dict[str, int]) -> tuple[int, int]:
    """By definition: the chunks that have bits of an address, with all other bits 0; of the source and of the destination."""
    mac = "" if fields["ip"] else "_mac"
    source, destination = fields[f"source{mac}"] << 128, fields[f"destination{mac}"]
    found = [0, 0]
    for chunk in range(21, 43):  # bits 126 to 257
        found[0] ^= words[chunk][source >> 6 * chunk & 63]
    for chunk in range(22):  # bits 0 to 131
        found[1] ^= words[chunk][destination >> 6 * chunk & 63]
    return found[0], found[1]


def drawn(rng: random.Random) -> dict[str, int]:
    fields = {name: rng.getrandbits(width) for name, width in FIELDS}
    fields["ip"] = rng.choice((0, 4, 6))
    fields["transport"] = rng.randrange(6)
    fields["fragment"] = rng.choice((0, 0, 0, 1, 2))
    return fields


@cocotb.test()
async def sums_of_words(dut) -> None:
    rng = random.Random(testkit.seed())
    print(f"PENSTOCK_SEED={testkit.seed()}")
    Clock(dut.clk_i, 10, unit="ns").start()
    words = [[rng.getrandbits(10) for _ in range(64)] for _ in range(CHUNKS)]
    dut.valid_i.value = 0
    for chunk in range(CHUNKS):
        for index in range(64):
            await FallingEdge(dut.clk_i)
            dut.seed_we_i.value, dut.seed_chunk_i.value, dut.seed_index_i.value = 1, chunk, index
            dut.seed_word_i.value = words[chunk][index]
    await FallingEdge(dut.clk_i)
    dut.seed_we_i.value = 0
    expected: list[tuple[int, int, int] | None] = [None] * 3
    fields = drawn(rng)
    for _ in range(1000):
        await FallingEdge(dut.clk_i)
        due = expected.pop(0)
        assert int(dut.valid_o.value) == (due is not None)
        if due is not None:
            hashes = int(dut.hashes_o.value)
            assert (hashes & 1023, hashes >> 10 & 1023, hashes >> 20) == due
        # Often the last vector with one field changed.
        changed = rng.choice(("source", "destination", "transport_word", "protocol", "ecn"))
        fields = drawn(rng) if rng.random() < 0.5 else {**fields, changed: rng.randrange(4)}
        dut.valid_i.value = valid = rng.random() < 0.8
        dut.headers_i.value = packed(fields)
        expected.append((bucket(words, fields), *hosts(words, fields)) if valid else None)


@pytest.mark.parametrize("parameters", [{}])
def test_pst_fq_hash(parameters: dict[str, int]) -> None:
    testkit.run_module("fq", "pst_fq_hash", parameters)


def test_flows_spread_as_with_a_good_hash() -> None:
    """200 flows that differ in a port alone: as many shared buckets as chance gives, and other words give others."""
    rng = random.Random(testkit.seed())
    print(f"PENSTOCK_SEED={testkit.seed()}")
    base = {name: 0 for name, _ in FIELDS} | {"ip": 4, "protocol": 17, "transport": 2, "source": 0x0A000001, "destination": 0x0A000002}
    shared = 0
    for _ in range(200):
        words = [[rng.getrandbits(10) for _ in range(64)] for _ in range(CHUNKS)]
        shared += 200 - len({bucket(words, base | {"transport_word": 5000 << 16 | port}) for port in range(200)})
    # Of 200 balls in 1,024 boxes 200 - 1024 * (1 - (1 - 1/1024)^200) = 18.2 fall on others, give or take 4.
    assert 200 * 16 < shared < 200 * 20.5
