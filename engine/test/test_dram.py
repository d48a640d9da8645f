"""The timing model of DRAM: every command judged by the rules of the standards, bandwidths and latencies by published measurements.

The judge below is written from the tables of JESD79-4 and JESD235 and knows nothing of the controller.
"""

import random
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from penstock.engine import engine, memories

MHZ = 300  # of the device: what the controller of DDR4-2400 gives to the logic around it
KINDS = tuple(memories.dram_kinds())


def channel(kind: str, device_hz: int = MHZ * 10**6, **given: Any) -> dict[str, Any]:
    return memories.in_job(kind, memories.Controller(**given), device_hz, 0, {})["dram"]


def trace(dram: dict[str, Any], write: Any, address: Any, start: Any = None, commands: bool = False) -> dict[str, Any]:
    address = np.asarray(address, dtype=np.uint64)
    start = np.zeros(len(address), dtype=np.int64) if start is None else start
    found = engine.module().dram_trace(dram, {"write": np.asarray(write, dtype=np.uint8), "address": address, "from": start}, commands)
    return {key: np.asarray(value) if key in ("offered", "answered") else value for key, value in found.items()}


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
    mapping = rng.choice((None, "row bank column group", "row bank group column", "row column bank group", "row group bank column", "row column:2 bank column group"))
    dram = channel(
        kind, rng.choice((220, 300, 322, 450)) * 10**6, queue=queue, batch=rng.randint(1, queue), close_rows=rng.random() < 0.5, mapping=mapping,
        hash_groups=rng.random() < 0.5,
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
    for key, number in wanted.items():
        assert made[key] <= number
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
