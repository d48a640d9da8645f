"""The timing model of DRAM: every command judged by the rules of the standards, bandwidths and latencies by published measurements.

The judge below is written from the tables of JESD79-4 and JESD235 and knows nothing of the controller.
"""

import random
import re
import time
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import yaml

from penstock.engine import memories, memory_page
from penstock.paths import ROOT
from penstock.testing.dram import KINDS, PEAK, channel, idle_latency, pages, random_beats, sequential, share, trace


def judge(dram: dict[str, Any], commands: list[tuple[int, str, int, int, int]]) -> dict[str, int]:
    """Hold every command against the ones before it; return how many of each there were."""
    t, group_of = dram["timing"], lambda bank: bank // dram["banks"]
    open_row: dict[int, int] = {}
    last: dict[tuple[str, int], int] = defaultdict(lambda: -(10**9))  # (what, bank)
    activates: list[int] = []
    columns: list[tuple[int, str, int]] = []  # tick, read or write, bank
    refreshed, count = -(10**9), defaultdict(int)
    data_free = -(10**9)
    row_ticks, column_ticks = [], []
    for tick, what, bank, row, _ in commands:
        count[what] += 1
        assert what == "refresh" or tick >= refreshed + t["rfc"] or what == "precharge_all", (tick, what, "in a refresh")
        (column_ticks if what.startswith(("read", "write")) else row_ticks).append(tick)
        if what == "activate":
            assert bank not in open_row, (tick, bank, "is open")
            assert tick >= last["precharge", bank] + t["rp"], (tick, bank, "tRP")
            assert tick >= last["activate", bank] + t["ras"] + t["rp"], (tick, bank, "tRC")
            for other in range(dram["groups"] * dram["banks"]):
                gap = t["rrd_l"] if group_of(other) == group_of(bank) else t["rrd_s"]
                assert other == bank or tick >= last["activate", other] + gap, (tick, bank, other, "tRRD")
            assert len(activates) < 4 or tick >= activates[-4] + t["faw"], (tick, "tFAW")
            activates.append(tick)
            open_row[bank] = row
            last["activate", bank] = tick
        elif what == "precharge":
            assert open_row.pop(bank) == row
            assert tick >= earliest_precharge(t, last, bank), (tick, bank, "precharge")
            last["precharge", bank] = tick
        elif what == "precharge_all":
            for each in list(open_row):
                assert tick >= earliest_precharge(t, last, each), (tick, each, "precharge")
                last["precharge", each] = tick
            open_row.clear()
        elif what == "refresh":
            assert not open_row, (tick, "refresh of open banks")
            assert all(tick >= last["precharge", each] + t["rp"] for each in range(dram["groups"] * dram["banks"])), (tick, "tRP")
            refreshed = tick
        else:
            direction = what.split("_")[0]
            assert open_row.get(bank) == row, (tick, bank, row, "is not open")
            assert tick >= last["activate", bank] + t["rcd_" + direction], (tick, bank, "tRCD")
            for before, of, other in columns[-16:]:
                same = group_of(other) == group_of(bank)
                if of == direction:
                    gap = t["ccd_l"] if same else t["ccd_s"]
                elif of == "read":
                    gap = t["rtw"]
                else:
                    gap = t["cwl"] + t["burst"] + (t["wtr_l"] if same else t["wtr_s"])
                assert tick >= before + gap, (tick, before, of, direction, same)
            columns.append((tick, direction, bank))
            data = tick + (t["cl"] if direction == "read" else t["cwl"])
            assert data >= data_free, (tick, "two on the data bus")
            data_free = data + t["burst"]
            last[direction, bank] = tick
            if what.endswith("precharge"):
                del open_row[bank]
                last["precharge", bank] = earliest_precharge(t, last, bank)
    if not dram["row_bus"]:
        assert len(set(row_ticks) & set(column_ticks)) == 0, "two commands in one tick"
    assert len(set(column_ticks)) == len(column_ticks)
    assert len(set(row_ticks)) == len(row_ticks)
    return dict(count)


def earliest_precharge(t: dict[str, int], last: dict[tuple[str, int], int], bank: int) -> int:
    write = last["write", bank] + t["cwl"] + t["burst"] + t["wr"]
    return max(last["activate", bank] + t["ras"], last["read", bank] + t["rtp"], write)


def place(dram: dict[str, Any], address: int) -> tuple[int, int, int]:
    """Bank, row and column of an address, bit by bit."""
    value, rest = defaultdict(list), address // dram["access_bytes"]
    for field in dram["mapping"]:
        for _ in range(field["bits"]):
            value[field["of"]].append(rest & 1)
            rest >>= 1
        above = rest
        while dram["hash_groups"] and field["of"] == "group" and above:
            value["group"] = [bit ^ (above >> i & 1) for i, bit in enumerate(value["group"])]
            above >>= field["bits"]
    number = {of: sum(bit << i for i, bit in enumerate(bits)) for of, bits in value.items()}
    return number["group"] * dram["banks"] + number["bank"], rest, number["column"]


@pytest.mark.parametrize("seed", range(24))
def test_every_command_keeps_the_rules(seed: int) -> None:
    """Random accesses of all mixes, through random controllers: each command is allowed, and each access is made once, where it belongs."""
    rng = random.Random(seed)
    print("seed", seed)
    kind = rng.choice(KINDS)
    queue = rng.choice((8, 32, 64, 200))
    mapping = rng.choice(
        (
            None,
            "row bank column group",
            "row bank group column",
            "row column bank group",
            "row group bank column",
            "row column:2 bank column group",
        )
    )
    dram = channel(
        kind,
        rng.choice((220, 300, 322, 450)) * 10**6,
        queue=queue,
        batch=rng.randint(1, queue),
        close_rows=rng.random() < 0.5,
        mapping=mapping,
        hash_groups=rng.random() < 0.5,
        forward=rng.random() < 0.5,
    )
    dram |= {"hit_limit": rng.choice((1, 4, 32)), "drain_from": rng.choice((1, 4)), "drain_after": rng.choice((1, 50, 400))}
    beats, span = 2000, rng.choice((1 << 14, 1 << 20, 1 << 30))
    address, at = [], 0
    for _ in range(beats):
        at = at + 64 if rng.random() < 0.6 else rng.randrange(span // 64) * 64
        address.append(at)
    write = [rng.random() < rng.choice((0.1, 0.5, 0.9)) for _ in address]
    start = np.cumsum([rng.choice((0, 0, 0, 1, 3, 200 if rng.random() < 0.05 else 0)) for _ in address])
    found = trace(dram, write, address, start, commands=True)
    count = judge(dram, found["commands"])
    parts = 64 // dram["access_bytes"]
    made: dict[tuple[str, int, int, int], int] = defaultdict(int)
    for _, what, bank, row, column in found["commands"]:
        if what.startswith(("read", "write")):
            made[what.split("_")[0], bank, row, column] += 1
    wanted: dict[tuple[str, int, int, int], int] = defaultdict(int)
    for a, w in zip(address, write, strict=True):
        for part in range(parts):
            wanted["write" if w else "read", *place(dram, a + part * dram["access_bytes"])] += 1
    forwarded = 0
    for key, number in list(wanted.items()):
        assert made[key] <= number
        assert made[key] == number or wanted["write", *key[1:]], "what nobody writes is read from the memory"
        if key[0] == "write":
            left = number - made[key]
            assert left <= number  # what is still in the queue at the end
        else:
            forwarded += number - made[key]
    assert forwarded == found["forwarded"]
    assert sum(made.values()) == found["reads"] + found["writes"]
    assert found["writes"] >= sum(write) * parts - queue, "the rest is in the write queue"
    assert count["refresh"] == found["refreshes"]
    ticks = found["cycles"] * dram["ticks"] / dram["per_cycles"]
    assert abs(found["refreshes"] - ticks / dram["timing"]["refi"]) <= 2, "a refresh every tREFI"
    assert (found["answered"] > found["offered"]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_those_of_the_data(kind: str) -> None:
    """Each beat is answered when the last of its data has come and those before it have been answered: to the cycle, in order."""
    dram = channel(kind, 322_265_625)
    address = np.random.default_rng(7).permutation(1 << 16)[:3000] * 64
    found = trace(dram, np.zeros(len(address)), address, commands=True)
    data_at = {}
    for tick, what, *at in found["commands"]:
        if what.startswith("read"):
            data_at[tuple(at)] = tick + dram["timing"]["cl"] + dram["timing"]["burst"]
    overtaken, earliest = 0, 0
    for one, answered in zip(address, found["answered"], strict=True):
        tick = max(data_at[place(dram, int(one) + part)] for part in range(0, 64, dram["access_bytes"]))
        came = -(-tick * dram["per_cycles"] // dram["ticks"]) + dram["read_latency"]
        overtaken += came < earliest
        earliest = max(earliest, came)
        assert answered == earliest
        earliest += 1
    assert overtaken > 100, "the memory reorders, the port does not"


def test_a_read_waits_for_the_write_before_it() -> None:
    """It is made after the write, which is made at once although it is alone; its neighbour, which comes later, waits for nothing."""
    dram = channel("ddr4_2400") | {"drain_from": 64, "drain_after": 10_000}
    start = dram["first_refresh"] * dram["per_cycles"] // dram["ticks"] + 400
    found = trace(dram, [1, 0, 0], [4096, 4096, 4096 + 64], start + np.array([0, 20, 21]), commands=True)
    assert found["forwarded"] == 0 and found["reads"] == 2
    made = [
        (what.split("_")[0], (bank, row, column)) for _, what, bank, row, column in found["commands"] if what.startswith(("read", "write"))
    ]
    assert made.index(("write", place(dram, 4096))) < made.index(("read", place(dram, 4096)))
    assert found["answered"][1] - found["offered"][1] < 60, "it does not wait until the write is old enough"


def test_reads_behind_writes_do_not_stop_the_others() -> None:
    """Reads of what has just been written, among reads of other rows of the same banks: all are answered, in the order of the rules."""
    rng = random.Random(7)
    dram = channel("ddr4_2400", queue=32, batch=16) | {"drain_from": 32, "drain_after": 100_000}
    write, address = [], []
    for _ in range(1500):
        one = rng.randrange(64) * (1 << 17)
        write += [1, 0, 0]
        address += [one, one, rng.randrange(64) * (1 << 17) + 64]
    found = trace(dram, write, address, np.repeat(np.arange(1500) * 30, 3), commands=True)
    judge(dram, found["commands"])
    assert (found["answered"] >= 0).all() and found["forwarded"] == 0


def test_a_read_finds_what_is_in_the_write_queue() -> None:
    """With `forward`: at once, without a command; its neighbour in the same row is read from the memory."""
    dram = channel("ddr4_2400", forward=True)
    found = trace(dram, [1, 0, 0], [4096, 4096, 4096 + 64], np.array([0, 20, 40]), commands=True)
    assert found["forwarded"] == 1 and found["reads"] == 1
    assert [command[2:] for command in found["commands"] if command[1] == "read"] == [place(dram, 4096 + 64)]


def test_a_write_is_confirmed_when_it_is_in_the_queue() -> None:
    """So many cycles after its last beat, which comes one after its address, although it is still to be written."""
    dram = channel("ddr4_2400") | {"drain_from": 4}
    found = trace(dram, [1], [4096], np.array([20]))
    assert found["answered"][0] - found["offered"][0] == 1 + dram["write_latency"] and found["writes"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_refreshes_of_an_idle_channel_are_passed_over(kind: str) -> None:
    """Bursts with long pauses: all is as where each refresh is made, and a pause a thousand times longer costs no more."""
    rng, dram = np.random.default_rng(5), channel(kind)
    write, address = rng.integers(0, 2, 400), rng.integers(0, 1 << 20, 400) * 64
    start = np.repeat(np.cumsum(rng.integers(1, 300_000, 40)), 10)
    each, passed = (trace(dram, write, address, start, commands=commands) for commands in (True, False))
    for key in ("offered", "answered"):
        assert np.array_equal(each[key], passed[key])
    assert passed["refreshes"] == each["refreshes"] > 500

    def seconds(pause: int) -> float:
        spent = []
        for _ in range(3):
            begin = time.process_time()
            found = trace(dram, [0, 0], [0, 0], np.array([0, pause]))
            spent.append(time.process_time() - begin)
            expected = pause * dram["ticks"] / dram["per_cycles"] / dram["timing"]["refi"]
            assert found["refreshes"] == pytest.approx(expected, abs=2)
        return min(spent)

    assert seconds(2**38) < 100 * seconds(2**28)


@pytest.mark.parametrize("limit", [1, 4, 32])
def test_a_row_is_not_held_for_ever(limit: int) -> None:
    """So many accesses to an open row pass an older one of its bank, not more."""
    dram = channel("ddr4_2400", hash_groups=False, mapping="row bank group column") | {"hit_limit": limit}
    address = [0, 8192 * 16, *(np.arange(1, 60) * 64)]
    found = trace(dram, np.zeros(len(address)), address, commands=True)
    rows = [row for _, what, _, row, _ in found["commands"] if what == "read"]
    assert rows.index(1) == 1 + limit


def test_a_reorder_buffer_of_one_beat_is_one_read_at_a_time() -> None:
    dram = channel("ddr4_2400") | {"reorder_beats": 1}
    found = trace(dram, np.zeros(500), np.arange(500) * 64)
    assert (found["answered"][1:] - found["answered"][:-1]).min() > dram["read_latency"]


# ---- published measurements


def test_ticks_are_those_of_the_tables() -> None:
    """JESD79-4B's tables in clocks, as data sheets print them (Micron MT40A1G8, -083 and -062E), against nanoseconds rounded here."""
    printed = {
        "ddr4_2400": {"cl": 17, "rcd_read": 17, "rp": 17, "ras": 39, "rrd_s": 4, "rrd_l": 6, "faw": 26, "ccd_l": 6, "wtr_s": 3, "wtr_l": 9}
        | {"rtp": 9, "wr": 18, "rfc": 420, "refi": 9360, "rtw": 11},
        "ddr4_3200": {"cl": 22, "rcd_read": 22, "rp": 22, "ras": 52, "rrd_s": 4, "rrd_l": 8, "faw": 34, "ccd_l": 8, "wtr_s": 4, "wtr_l": 12}
        | {"rtp": 12, "wr": 24, "rfc": 560, "refi": 12480, "rtw": 12},
    }
    for kind, expected in printed.items():
        found = channel(kind)["timing"]
        assert {key: found[key] for key in expected} == expected, kind


def test_every_time_has_its_source() -> None:
    for kind, entry in yaml.safe_load(memories.TABLE.read_text()).items():
        for key, (_, _, source) in entry["timing"].items():
            assert re.match(r"\w+", source)[0] in {*entry["sources"], "assumed"}, (kind, key)


def test_the_page_is_fresh() -> None:
    """`python tools/generate_memories.py` writes the tables of docs/memories.md."""
    page = ROOT / memory_page.PAGE
    assert memory_page.updated(page.read_text()) == page.read_text(), f"run {memory_page.TOOL}"


def test_peak_is_that_of_the_pins() -> None:
    assert PEAK == {"ddr4_2400": 19_200_000_000, "ddr4_3200": 25_600_000_000, "hbm2": 12_800_000_000}


@pytest.mark.parametrize(
    ("kind", "device_mhz", "clock_hz", "peak", "measured"),
    [
        ("ddr4_2400", 300, None, 19.2e9, 18.0e9),  # Shuhai, section VI: 36 GB/s of two channels
        ("hbm2", 450, 900_000_000, 14.4e9, 13.27e9),  # Shuhai, table V: 425 GB/s of 32 channels
    ],
)
def test_sequential_bandwidth_is_the_measured_one(kind: str, device_mhz: int, clock_hz: int | None, peak: float, measured: float) -> None:
    for write in (0, 1):
        found = share(kind, *sequential(write), device_mhz * 10**6, peak, clock_hz=clock_hz) * peak
        assert measured * 0.98 <= found <= measured * 1.03, f"{found / 1e9:.2f} GB/s"


@pytest.mark.parametrize(
    ("kind", "device_mhz", "clock_hz", "hit", "closed", "miss"),
    [
        ("ddr4_2400", 300, None, 73.3, 89.9, 106.6),
        ("hbm2", 450, 900_000_000, 106.7, 122.2, 137.8),
    ],
)
def test_idle_latency_is_the_measured_one(kind: str, device_mhz: int, clock_hz: int | None, hit: float, closed: float, miss: float) -> None:
    """Shuhai, table II, to a cycle of its clock: a row that is open, none, another one."""
    found = idle_latency(kind, device_mhz * 10**6, clock_hz)
    assert found == pytest.approx((hit, closed, miss), abs=1.05 * 1e3 / device_mhz)


def test_paper_bandwidth_both_ways() -> None:
    """The paper on massive queueing, III-B: a DDR4 memory takes 60 to 80 Gbit/s written and read at once, by the FPGA's configuration.

    80 each way would be 160 of the 153.6 Gbit/s of the pins; here large frames get 60 to 70.
    """
    for beats in (9, 16, 24, 32):
        each_way = share("ddr4_2400", *pages(beats, seed=beats)) * PEAK["ddr4_2400"] * 8 / 2 / 1e9
        assert 60 <= each_way <= 70, f"{beats} beats: {each_way:.1f} Gbit/s"


@pytest.mark.parametrize("kind", KINDS)
def test_random_beats_are_bound_by_activates(kind: str) -> None:
    """Single beats at random places need an activate each; four of them take tFAW, and HBM2 has enough banks that the bus is the limit."""
    t = channel(kind)["timing"]
    bound = min(1.0, 4 * t["burst"] * (64 // memories.dram_kinds()[kind].access_bytes) / t["faw"]) * (1 - t["rfc"] / t["refi"])
    found = share(kind, *random_beats(seed=1))
    assert 0.85 * bound <= found <= bound


@pytest.mark.parametrize("kind", KINDS)
def test_one_bank_is_bound_by_its_row_cycle(kind: str) -> None:
    """A stride that stays in one bank and takes a new row each time: a beat every tRC."""
    dram = channel(kind, hash_groups=False)
    row = memories.dram_kinds()[kind].row_bytes * 16
    found = trace(dram, np.zeros(2000), np.arange(2000) * row)
    t = dram["timing"]
    ticks = found["cycles"] * dram["ticks"] / dram["per_cycles"] * (1 - t["rfc"] / t["refi"])
    assert ticks / 2000 == pytest.approx(t["ras"] + t["rp"], rel=0.04)


def test_batches_pay_for_turns() -> None:
    """Longer batches turn the bus less often, and carry more."""
    write, address = pages(16, seed=3)
    found = [share("ddr4_2400", write, address, queue=128, batch=batch) for batch in (4, 16, 64)]
    assert found == sorted(found)
    assert found[2] - found[0] > 0.2


def test_bad_settings_are_named() -> None:
    with pytest.raises(ValueError, match="one of ideal, sram, ddr4_2400"):
        memories.check_kind("ddr5")
    for given, words in (
        ({"mapping": "bank row group column"}, "begin with `row`"),
        ({"mapping": "row bank column"}, "all bits"),
        ({"mapping": "row bank group:1 column group column"}, "all bits"),
        ({"mapping": "row bank group rank column"}, "made of row"),
        ({"batch": 100}, "more than the 64 places"),
    ):
        with pytest.raises(ValueError, match=words):
            memories.check_controller("ddr4_2400", memories.Controller(**given))
    with pytest.raises(ValueError, match="kind ideal has no controller"):
        memories.check_controller("ideal", memories.Controller(queue=8))
