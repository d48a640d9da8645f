"""The crossbar between ports and pseudo channels of HBM2: beside what Shuhai and PG276 say of it, and what any crossbar must do."""

import random
from collections import defaultdict

import numpy as np
import pytest

from penstock.engine import memories
from penstock.testing import dram
from penstock.testing.testkit import seed

# Shuhai, FCCM 2020, table VI: cycles of 450 MHz from ports 0, 4, ... 28 to pseudo channel 0, row open; 48 with the switch off.
SHUHAI_CYCLES = (55, 56, 58, 60, 71, 73, 75, 77)
WITHOUT = 48


def test_latency_by_distance_is_the_measured_one() -> None:
    """What the crossbar adds, to the cycle; the whole to a cycle, as the pseudo channel's own latency is."""
    entry = dram.idle_latency("hbm2", dram.SHUHAI_MHZ * 10**6, dram.SHUHAI_CLOCK_HZ)[0]
    without = round(entry * dram.SHUHAI_MHZ / 1e3)
    for group, cycles in enumerate(SHUHAI_CYCLES):
        for port in (4 * group, 4 * group + 3):
            found = dram.crossbar_latency(port)
            assert found - without == cycles - WITHOUT, f"port {port}: {found} cycles"
            assert abs(found - cycles) <= 1


@pytest.mark.parametrize("write", [0, 1])
def test_one_port_has_a_whole_channel_at_any_distance(write: int) -> None:
    """Shuhai, section V: throughput does not depend on the distance, where nothing else is on the way."""
    for port in (0, 3, 12, 16, 31):
        assert dram.crossbar_bandwidth([(port, 0)], write) == pytest.approx(13.27, rel=0.02), f"port {port}"


def test_all_ports_on_their_own_channels() -> None:
    """Shuhai: 425 GB/s of 32 channels."""
    assert dram.crossbar_bandwidth([(p, p) for p in range(32)], 0, count=300) == pytest.approx(425, rel=0.01)


def test_lateral_links_are_shared() -> None:
    """PG276: two links for four ports, half of the bandwidth; two ports of different links have all of it, two of one link half."""
    port = 450e6 * 32 / 1e9
    assert dram.crossbar_bandwidth([(0, 4), (1, 5), (2, 6), (3, 7)], 0) == pytest.approx(2 * port, rel=0.01)
    assert dram.crossbar_bandwidth([(0, 4), (1, 5)], 0) == pytest.approx(port, rel=0.01)
    assert dram.crossbar_bandwidth([(0, 4), (2, 5)], 0) == pytest.approx(2 * 13.27, rel=0.02)
    assert dram.crossbar_bandwidth([(4, 0), (5, 1), (6, 2), (7, 3)], 0) == pytest.approx(2 * port, rel=0.01)


@pytest.mark.parametrize("beats", [1, 2, 8])
def test_writes_of_two_ports_lose_a_cycle_at_each_turn(beats: int) -> None:
    """PG276: a dead cycle where masters change on a lateral link, so short bursts lose the most."""
    expected = 450e6 * 64 * beats / (2 * beats + 1) / 1e9
    assert dram.crossbar_bandwidth([(0, 4), (1, 5)], 1, beats) == pytest.approx(expected, rel=0.02)


def test_one_id_waits_for_its_answers_at_each_change_of_channel() -> None:
    """PG310: with one id a master has something outstanding at one pseudo channel only."""
    rows = [(0, 0, n % 4, 512 * n, 8, 0) for n in range(200)]
    many, one = (dram.through_crossbar(rows, one_id=one_id)["cycles"] for one_id in (False, True))
    assert many < 200 * 16 * 1.2
    assert one >= 200 * (SHUHAI_CYCLES[0] + 7 * 2), "a round trip for each burst"


@pytest.mark.parametrize(("ports", "device_mhz"), [(32, 300), (5, 450), (1, 220)])
def test_every_burst_is_answered_once_in_its_ports_order(ports: int, device_mhz: int) -> None:
    """Random bursts to random channels; the least time is what a request and its data take."""
    for number in range(seed(), seed() + 4):
        print(f"seed {number}")
        rng = random.Random(number)
        rows = []
        for _ in range(400):
            beats = rng.choice((1, 1, 2, 5, 8, 9, 24, 64))
            where = rng.randrange(1 << 12) * 4096 + rng.randrange(65 - beats) * 64
            rows.append((rng.randrange(ports), rng.randrange(2), rng.randrange(ports), where, beats, rng.randrange(2000)))
        rows.sort(key=lambda row: row[5])
        one_id = rng.random() < 0.3
        found = dram.through_crossbar(rows, ports, one_id=one_id, device_hz=device_mhz * 10**6)
        assert (found["answered"] > found["offered"]).all() and (found["offered"] >= np.array(rows)[:, 5]).all()
        order = defaultdict(list)
        for row, answered in zip(rows, found["answered"], strict=True):
            order[row[:2]].append(answered)
        assert all(sorted(times) == times and len(set(times)) == len(times) for times in order.values())


def test_mappings_lose_no_address() -> None:
    """With `spread` blocks of 4 KiB take turns over the channels: a stream of one port is not bound to one channel."""
    rows = [(0, 0, 0, 512 * n, 8, 0) for n in range(2000)]
    cycles = {mapping: dram.through_crossbar(rows, 8, mapping)["cycles"] for mapping in ("own", "across", "spread")}
    bound = 2000 * 16  # of the port
    assert bound < cycles["spread"] < 1.02 * bound < cycles["own"]
    assert cycles["across"] == pytest.approx(cycles["own"], rel=0.01)


@pytest.mark.parametrize(
    ("kind", "crossbar", "words"),
    [
        ("hbm2", "all", "crossbar must be one of none, own, across, spread, spread_one_id, not 'all'"),
        ("ddr4_2400", "own", "kind ddr4_2400 has no crossbar: that is between pseudo channels of hbm2"),
        ("sram", "own", "kind sram has no controller"),
    ],
)
def test_what_a_crossbar_cannot_be(kind: str, crossbar: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        memories.check_controller(kind, memories.Controller(crossbar=crossbar))
