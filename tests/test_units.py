# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Quantities with units: exact, and nothing ambiguous is taken."""

import pytest

from penstock.basics import units


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("20 Mbit/s", 20_000_000),
        ("1.544Mbps", 1_544_000),
        ("64 kbit/s", 64_000),
        (5, 5),
        (1e9, 10**9),
        ("5 mbit/s", 5_000_000),
        ("1,000 bit/s", 1000),
        ("0.1 Gbit/s", 10**8),
        ("1e2 kbit/s", 100_000),
    ],
)
def test_rates(text: object, bps: int) -> None:
    """Decimal prefixes; a bare number is bit/s."""
    assert units.parse_rate(text) == bps


@pytest.mark.parametrize(
    ("text", "ps"), [("20 ms", 20 * 10**9), ("0.3 ns", 300), ("2.5 s", 25 * 10**11), ("7 µs", 7 * 10**6), (0, 0), ("1 min", 60 * 10**12)]
)
def test_times(text: object, ps: int) -> None:
    """Times are picoseconds, exactly."""
    assert units.parse_time(text) == ps


@pytest.mark.parametrize(("text", "size"), [("3 kB", 3000), (64, 64), ("1.5 kB", 1500), ("64 byte", 64), ("2 MB", 2_000_000)])
def test_sizes(text: object, size: int) -> None:
    """1 kB is 1,000 byte."""
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    "bad",
    ["20", "fast", "", "20 Mbit", "1,5 Mbit/s", "-3 Mbit/s", "nan", "20 MB", None, True, [], {}, float("inf"), float("nan"), "1e99 bit/s"],
)
def test_bad_rates(bad: object) -> None:
    """What is not clearly a rate is refused with a message; a decimal comma is not a thousands separator."""
    if bad == "20":
        assert units.parse_rate(bad) == 20
        return
    with pytest.raises(ValueError, match="must|too large"):
        units.parse_rate(bad)


@pytest.mark.parametrize("bad", [20, "20", "5 m", "3 MS", "0.0001 ns", "1 h"])
def test_bad_times(bad: object) -> None:
    """A time needs its unit."""
    with pytest.raises(ValueError, match="must"):
        units.parse_time(bad)


def test_fraction_of_a_byte() -> None:
    """Half a byte is no size."""
    with pytest.raises(ValueError, match="whole number of byte"):
        units.parse_size("0.5 byte")


@pytest.mark.parametrize(
    ("bps", "text"),
    [
        (0, "0 bit/s"),
        (64_000, "64 kbit/s"),
        (1_544_000, "1.544 Mbit/s"),
        (19_987_654, "19.99 Mbit/s"),
        (10**11, "100 Gbit/s"),
        (999_999, "1.000 Mbit/s"),
    ],
)
def test_format_rate(bps: float, text: str) -> None:
    """Three significant digits or more."""
    assert units.format_rate(bps) == text


@pytest.mark.parametrize(
    ("ns", "text"), [(0, "0 ns"), (4.5, "4.500 ns"), (850.2, "850.2 ns"), (12_345, "12.35 us"), (1.25e9, "1.250 s"), (2e9, "2 s")]
)
def test_format_time(ns: float, text: str) -> None:
    """The unit is chosen by size."""
    assert units.format_time_ns(ns) == text


def test_what_is_formatted_can_be_parsed() -> None:
    """Formatting and parsing agree on whole numbers."""
    for bps in (64_000, 10**6, 25 * 10**6, 10**11):
        assert units.parse_rate(units.format_rate(bps)) == bps


@pytest.mark.parametrize(
    ("rate", "shown"),
    [(3_412_000.0, "3.41 M cycles/s"), (100_000.0, "0.10 M cycles/s"), (99_000.0, "99.0 k cycles/s"), (52.0, "0.1 k cycles/s")],
)
def test_cycle_rates(rate: float, shown: str) -> None:
    """Slow hardware is not at 0.00."""
    assert units.format_cycle_rate(rate) == shown
