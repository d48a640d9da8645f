# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Rate codes, bursts and register writes against exact fractions."""

import random
from fractions import Fraction

import pytest

from penstock.designs.access_edge import registers
from penstock.errors import UserError
from penstock.parts.registry import find
from penstock.testing.testkit import seed

LOW, HIGH = 8_000, 100 * 10**9


def code_to_rate(mantissa: int, exponent: int, clock_hz: int) -> Fraction:
    """Return the rate in bit/s of a code, as docs/hardware.md defines it."""
    period = Fraction(mantissa) * Fraction(2) ** (exponent - 15) / 2**16  # cycles per byte
    return 8 * clock_hz / period


def test_rate_codes_are_within_2_to_the_minus_16() -> None:
    rng = random.Random(seed())
    for _ in range(20_000):
        clock = rng.randint(10 * 10**6, 400 * 10**6)
        rate = rng.choice([LOW, HIGH, round(LOW * (HIGH / LOW) ** rng.random()), rng.randint(LOW, HIGH)])
        mantissa, exponent = registers.rate_code(rate, clock)
        assert 1 << 15 <= mantissa < 1 << 16 and 0 <= exponent < 64, (rate, clock)
        actual = code_to_rate(mantissa, exponent, clock)
        assert abs(actual / rate - 1) <= Fraction(1, 2**16), (rate, clock)
        assert registers.code_rate(mantissa, exponent, clock) == pytest.approx(float(actual), rel=1e-15)


def test_rate_code_is_the_nearest_one() -> None:
    """Neither neighbour of a code is nearer, at the ends of an octave of periods as well."""
    rng = random.Random(seed())
    for _ in range(3_000):
        clock, rate = rng.randint(10 * 10**6, 400 * 10**6), round(LOW * (HIGH / LOW) ** rng.random())
        mantissa, exponent = registers.rate_code(rate, clock)
        error = abs(code_to_rate(mantissa, exponent, clock) - rate)
        for step in (-1, 1):
            assert abs(code_to_rate(mantissa + step, exponent, clock) - rate) >= error, (rate, clock)


@pytest.mark.parametrize("clock", [220_000_000, 10_000_000])
def test_powers_of_two_are_exact(clock: int) -> None:
    for shift in range(2, 8):
        rate = 8 * clock >> shift  # 2^shift cycles per byte
        assert registers.rate_code(rate, clock) == (1 << 15, 16 + shift)


def test_closed_and_unshaped() -> None:
    assert registers.rate_code(0, 220_000_000) == (0, 0)
    assert registers.rate_code(None, 220_000_000) == (1, 0)
    assert registers.code_rate(0, 0, 220_000_000) == 0
    assert registers.code_rate(1, 0, 220_000_000) is None


@pytest.mark.parametrize("rate", [1, registers.MIN_RATE_BPS - 1, HIGH + 1, -5])
def test_rates_out_of_range_are_refused(rate: int) -> None:
    with pytest.raises(UserError, match=r"a queue's rate must be 8 kbit/s to 100 Gbit/s"):
        registers.rate_code(rate, 220_000_000)


def test_clock_too_fast_or_too_slow() -> None:
    """8 kbit/s can be coded at any clock; whether a frame's time is exact then is another question."""
    assert registers.rate_code(LOW, 10**9)[1] == 35
    with pytest.raises(UserError, match="cannot be set at a clock"):
        registers.rate_code(HIGH, 100_000)


def test_the_least_rate_is_the_lowest_that_is_exact() -> None:
    """A largest frame takes less than an eighth of the range of times at its code, which is 2^-16 off at most; a bit a second less is below
    8 kbit/s, or a largest frame takes as long, but for the error of a code."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(2_000):
        clock, frame = rng.randint(10**5, 900 * 10**6), rng.choice([64, 1522, 9600, rng.randint(64, 9600)])
        rate = registers.least_rate(clock, frame)
        mantissa, exponent = registers.rate_code(rate, clock)
        assert abs(code_to_rate(mantissa, exponent, clock) / rate - 1) <= Fraction(1, 2**16)
        longest = 1 << registers.time_width(frame) - 3  # cycles
        assert (frame * mantissa << exponent) >> 15 < (longest << 16) - 1, (clock, frame)  # in 2^-16 cycles
        if rate > registers.MIN_RATE_BPS:
            assert Fraction(8 * clock * frame, rate - 1) >= longest - (longest >> 15), (clock, frame)
        else:
            assert rate == registers.MIN_RATE_BPS


@pytest.mark.parametrize(
    "clock, frame, width, rate",
    [  # by hand
        (220_000_000, 1522, 32, 8_000),
        (300_000_000, 1522, 32, 8_000),
        (220_000_000, 9600, 35, 8_000),
        (300_000_000, 9600, 35, 8_000),
        (262_000_000, 4096, 33, 8_000),
        (600_000_000, 1522, 32, 13_608),  # 8 * 600e6 * 1522 / (2^29 - 2^13 - 1)
        (500_000_000, 9600, 35, 8_941),
    ],
)
def test_least_rates(clock: int, frame: int, width: int, rate: int) -> None:
    assert (registers.time_width(frame), registers.least_rate(clock, frame)) == (width, rate)


@pytest.mark.parametrize(
    "clock, codes",
    [
        (500_000, {27_000: (37926, 23), 64_000: (64000, 21), 20_000_000: (52429, 13), 10**9 + 1: (33554, 8), 10**11: (42950, 1)}),
        (10_000_000, {27_000: (47407, 27), 64_000: (40000, 26), 20_000_000: (32768, 18), 10**9 + 1: (41943, 12), 10**11: (53687, 5)}),
        (220_000_000, {27_000: (65185, 31), 64_000: (55000, 30), 20_000_000: (45056, 22), 10**9 + 1: (57672, 16), 10**11: (36910, 10)}),
        (300_000_000, {40_000: (60000, 31), 64_000: (37500, 31), 20_000_000: (61440, 22), 10**9 + 1: (39322, 17), 10**11: (50332, 10)}),
    ],
)
def test_codes_mean_what_they_meant(clock: int, codes: dict[int, tuple[int, int]]) -> None:
    """Exponents had five bits once; rates that had a code then have the same one."""
    assert {rate: registers.rate_code(rate, clock) for rate in codes} == codes
    for rate, code in codes.items():
        assert abs(code_to_rate(*code, clock) / rate - 1) <= Fraction(1, 2**16)


def test_bursts() -> None:
    rng = random.Random(seed())
    for _ in range(5_000):
        clock, rate = rng.randint(10 * 10**6, 400 * 10**6), round(LOW * (HIGH / LOW) ** rng.random())
        size = rng.randrange((1 << 28) * rate // (8 * clock) + 2)
        exact = Fraction(8 * size * clock, rate)
        if exact > registers.MAX_BURST_CYCLES + Fraction(1, 2):
            with pytest.raises(UserError, match="can have at most"):
                registers.burst_cycles(size, rate, clock)
        else:
            assert abs(registers.burst_cycles(size, rate, clock) - exact) <= Fraction(1, 2)
    assert registers.burst_cycles(10**9, None, 220_000_000) == registers.burst_cycles(10**9, 0, 220_000_000) == 0


def test_queue_writes() -> None:
    writes = registers.queue_writes(7, 100 * 10**6, 3000, 50, 1 << 24, 220_000_000)
    mantissa, exponent = registers.rate_code(100 * 10**6, 220_000_000)
    assert writes == [(0x40, 7), (0x44, exponent << 16 | mantissa), (0x48, 52_800), (0x4C, 50), (0x50, (1 << 24) - 1), (0x54, 1)]
    managed = registers.queue_writes(7, None, 0, 50, 100, 220_000_000, registers.Aqm.of_halves(5, 9, ecn=True))
    assert managed[:3] == [(0x58, 3), (0x5C, 5), (0x60, 9)] and managed[-1] == (0x54, 1)
    assert registers.queue_writes(0, None, 0, 10**6, 10**9, 220_000_000)[1:5] == [(0x44, 1), (0x48, 0), (0x4C, 65_535), (0x50, 16_777_215)]


def test_times_of_the_aqm() -> None:
    """5 and 100 ms in ticks of 256 cycles at 220 MHz, rounded; the longest time that fits, and one more."""
    target = find("aqm", "codel").settings[0]
    assert target.in_hardware(5 * 10**9, 220_000_000, 8) == 4297 and target.in_hardware(10**11, 220_000_000, 8) == 85_938
    assert target.in_hardware(1, 220_000_000, 8) == 1
    assert target.in_hardware((1 << 18) * 16 * 10**5 - 10**6, 10_000_000, 4) == (1 << 18) - 1
    with pytest.raises(ValueError, match=r"can be at most 419.4 ms at 10 MHz"):
        target.in_hardware((1 << 18) * 16 * 10**5, 10_000_000, 4)


def test_halves_of_a_setting_word() -> None:
    """Both registers together are the word of the part, whatever it has in it."""
    word = find("aqm", "pie").pack({"target": 0x2AAAA, "max_burst": 0x15555})
    aqm = registers.Aqm(word, ecn=True)
    assert aqm == registers.Aqm.of_halves(0x2AAAA, 0x15555, ecn=True) and aqm.halves == (0x2AAAA, 0x15555)
    assert aqm.code == 3 << 36 | word and registers.NO_AQM.code == 0


def test_addresses_are_those_of_the_architecture() -> None:
    expected = {
        "type": 0x000, "version": 0x004, "queues": 0x008, "descriptors": 0x00C, "memories": 0x010, "max_frame_bytes": 0x014,
        "clock_hz": 0x018, "features": 0x01C, "next": 0x020, "status": 0x024, "queue_index": 0x040, "queue_rate": 0x044,
        "queue_burst": 0x048, "queue_limit_packets": 0x04C, "queue_limit_bytes": 0x050, "queue_command": 0x054, "in_packets": 0x080,
        "in_bytes": 0x088, "out_packets": 0x090, "out_bytes": 0x098, "drop_packets": 0x0A0, "drop_bytes": 0x0A8,
        "queue_aqm": 0x058, "queue_aqm_target": 0x05C, "queue_aqm_interval": 0x060, "aqm_drop_packets": 0x0B0, "aqm_drop_bytes": 0x0B8,
        "mark_packets": 0x0C0, "marked_packets": 0x190, "queues_per_subscriber": 0x028, "nodes": 0x02C, "ports": 0x030, "classes": 0x034,
        "tree_index": 0x068, "tree_rate": 0x06C, "tree_burst": 0x070, "tree_parent": 0x074, "tree_class": 0x078,
        "share_classes": 0x038, "share_sizes": 0x03C, "queue_class": 0x064, "share_class": 0x0D0, "share_size": 0x0D4, "share_alpha": 0x0D8,
        "share_reserved": 0x0DC, "share_free": 0x0E0, "share_used": 0x0E4, "share_in_force": 0x0E8,
        "memory_timeout": 0x0EC, "memory_lost": 0x0F0, "head_sojourn": 0x07C, "backlog_packets": 0x0C8, "backlog_bytes": 0x0CC,
        "now_rate": 0x200, "now_burst": 0x204, "now_limit_packets": 0x208, "now_limit_bytes": 0x20C, "now_parent": 0x210,
        "now_class": 0x214, "now_share_class": 0x218, "now_aqm": 0x21C, "now_aqm_target": 0x220, "now_aqm_interval": 0x224,
        "busiest_places": 0x0F4, "busiest_place": 0x0F8, "busiest_status": 0x0FC, "busiest_queue": 0x228, "busiest_window": 0x22C,
        "busiest_bytes": 0x230, "node_index": 0x238, "node_class": 0x23C, "tree_guarantee": 0x240, "now_guarantee": 0x244,
        "drain": 0x248, "drained": 0x24C, "outstanding": 0x250,
        "irq_cause": 0x254, "irq_mask": 0x258, "irq_drops": 0x25C, "irq_lost": 0x260,
        "find_profiles": 0x264, "find_entries": 0x268, "find_keys": 0x26C,
        "find_item": 0x270, "find_value": 0x274, "find_key0": 0x278, "find_key1": 0x27C, "find_key2": 0x280, "find_moves": 0x284,
        "find_count": 0x288, "find_prefix_levels": 0x290, "find_read": 0x294,
            "flows": 0x298, "flow_packets": 0x29C, "flow_limit": 0x2A0, "queue_quantum": 0x2A4, "now_quantum": 0x2A8, "flow_hosts": 0x2B4,
            "setting_profiles": 0x2AC, "setting_profiles_used": 0x2B0,
    }  # fmt: skip
    assert {name: registers.address(name) for name in expected} == expected
    for code, reason in registers.DROP_REASONS.items():
        assert registers.drop_addresses(reason) == (0x100 + 16 * code, 0x108 + 16 * code)
    window = [name for name in registers.table() if name.startswith("execute_")]
    for name in window:
        setting = name.removeprefix("execute_")
        assert registers.executing(setting) == 0x800 + registers.address(setting) and registers.table()[setting]["address"] >= 0x044
    assert len(window) == 12
    assert len(registers.table()) == len(expected) + len(window) + 2 * len(registers.DROP_REASONS)


def test_counters_last_a_month() -> None:
    """At 100 Gbit/s, all of it for one queue: the smallest frames for the packets, the largest share of the line for the bytes."""
    month = 31 * 24 * 3600
    counters = [name for name, entry in registers.table().items() if entry["bytes"] == 8 and name != "busiest_bytes"]
    assert len(counters) == 2 * 4 + 1 + 2 * len(registers.DROP_REASONS) + 1 + 1  # of a queue, by reason, marks of both, and of headers
    for name in counters:
        ((_, width, _),) = registers.table()[name]["fields"].values()
        per_second = 100e9 / (84 * 8) if name.endswith(("packets", "count")) else 100e9 / 8
        assert 2**width > month * per_second, f"{name} has {width} bits"
