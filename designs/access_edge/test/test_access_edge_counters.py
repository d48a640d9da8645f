# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Counters in a memory of their own (`counter_memory`): read exactly under any load, with the memory slow, silent or wrong, and drained.

`test_model_engine.py` compares the device with the model, and `test_pst_access_edge_counters.py` each answer with a tally.
"""

import random
from collections import Counter
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.errors import UserError
from penstock.hardware import verilate
from penstock.testing.testkit import seed

NAME = "tiny_counters_16"
FAST = {"read_latency": 20, "write_latency": 10, "gap_permille": 0}
BOUND = 1024  # cycles of a command, without those in which it waits for the memory


def session(timing: dict[str, int] = FAST, faults: list[dict[str, Any]] | None = None) -> Any:
    """Return a session on the RTL; `faults` are those of the memory of the counters."""
    config = configs.load(NAME)
    device = twins.device(config, verilate.build_device(config, print, assertions=True), timing)
    *packets, counters = device["memories"]
    device["memories"] = [*packets, counters | {"faults": faults or []}]
    lines = {"ingress_bps": 0, "egress_bps": 50e9}
    job = {"device": device, "seed": seed(), "sources": [], "sample_queues": list(range(config.queues))}
    return engine.module().Session(job | lines)


def open_queues(made: Any, limit: int = 65_535) -> None:
    config = configs.load(NAME)
    for queue in range(config.queues):
        for address, value in registers.queue_writes(queue, None, 0, limit, 16_777_215, config.clock_hz):
            made.write(address, value)


def snapshot(made: Any, queue: int) -> tuple[dict[str, int], int]:
    """Return the counters of a queue, and the cycles until its snapshot had ended."""
    begun = made.now
    made.write(registers.address("queue_index"), queue)
    made.write(registers.address("queue_command"), registers.COMMAND_SNAPSHOT)
    while made.read(registers.address("status")) & registers.STATUS_BUSY:
        assert made.now < begun + 100_000, "the snapshot does not end"
        made.advance(made.now + 1)
    ended = made.now

    def long(name: str) -> int:
        low = made.read(registers.address(name))
        return low | made.read(registers.address(name) + 4) << 32

    return {name: long(name) for name in ("in_packets", "out_packets", "out_bytes", "drop_packets", "aqm_drop_packets")}, ended - begun


def wrong(made: Any) -> int:
    return made.read(registers.address("status")) >> registers.table()["status"]["fields"]["counters_wrong"][0] & 1


class Fates:
    """What the engine has seen of each queue's frames so far."""

    def __init__(self, made: Any) -> None:
        self.made = made
        self.left: Counter[int] = Counter()
        self.dropped: Counter[int] = Counter()

    def look(self) -> None:
        self.left.update(self.made.take_left()["queue"].tolist())
        self.dropped.update(self.made.take_dropped()["queue"].tolist())


@pytest.mark.parametrize("timing", [FAST, {"read_latency": 250, "write_latency": 150, "gap_permille": 300}], ids=["fast", "slow"])
def test_counters_are_read_exactly_under_load(timing: dict[str, int]) -> None:
    """A snapshot in mid-traffic has what was sent and lost before it began, and nothing that comes after it has ended."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    made, queues = session(timing), 16
    open_queues(made, limit=20)
    made.start()
    fates, offered, taken = Fates(made), made.now, []
    for _ in range(80):
        while offered < made.now + 4000:
            made.offer(offered, rng.choice([0, rng.randrange(queues)]), bytes(rng.choice([60, 60, 200, 1514])))
            offered += rng.choice([1, 1, 2, 30])
        made.advance(made.now + rng.randrange(1500))
        queue = rng.choice([0, rng.randrange(queues)])
        fates.look()
        before = fates.left[queue], fates.dropped[queue]
        found, cycles = snapshot(made, queue)
        taken.append(cycles)
        made.advance(made.now + 20)  # what has been counted is on its way to the line still
        fates.look()
        assert before[0] <= found["out_packets"] <= fates.left[queue]
        assert before[1] <= found["drop_packets"] <= fates.dropped[queue]
        assert found["out_packets"] <= found["in_packets"]
    print(f"cycles of a snapshot: {sorted(taken)[len(taken) // 2]}, {max(taken)} at most")
    assert max(taken) <= BOUND + 4 * (timing["read_latency"] + timing["write_latency"]) / (1 - timing["gap_permille"] / 1000)
    assert not wrong(made)
    made.advance(made.now + 2_000_000, until_empty=True)
    ended = made.end()
    assert sum(fates.dropped.values()) > 100 and ended["conservation_ok"] and not ended["findings"], ended["findings"]
    used = ended["memory"][-1]
    assert used["read_bursts"] > 50 and used["write_bursts"] > 100


def test_frames_in_every_cycle_are_counted() -> None:
    """Frames of one beat in every cycle for a queue that is full: the part on the chip would be full after 8,192 of them."""
    made = session()
    open_queues(made, limit=4)
    made.start()
    frames = 20_000
    for cycle in range(frames):
        made.offer(cycle, 3, bytes(60))
    made.advance(frames + 5000, until_empty=True)
    assert not wrong(made)
    found, _ = snapshot(made, 3)
    assert found["in_packets"] + found["drop_packets"] - found["aqm_drop_packets"] == frames
    assert found["drop_packets"] > 2 * 8192
    ended = made.end()
    assert ended["conservation_ok"] and not ended["findings"], ended["findings"]
    assert ended["memory"][-1]["write_bursts"] > frames // 512  # events took, some 256 packets each


@pytest.mark.parametrize("what", ["silent", "errors"])
def test_a_memory_of_counters_that_fails_is_told_and_stops_no_frame(what: str) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    made = session(faults=[{"what": what, "from": rng.randrange(3000)}])
    made.write(registers.address("memory_timeout"), 2000)
    open_queues(made)
    made.start()
    frames = 400
    for number in range(frames):
        made.offer(40 * number, rng.randrange(16), bytes(rng.choice([60, 590, 1514])))
    made.advance(40 * frames, until_empty=False)
    _, cycles = snapshot(made, 1)
    assert cycles <= BOUND + 3 * 2000
    made.advance(made.now + 500_000, until_empty=True)
    made.advance(made.now + 2500)  # until a write that is not answered is given up
    assert wrong(made)
    lost = made.read(registers.address("memory_lost"))
    assert lost == (4 if what == "silent" else 0)
    ended = made.end()
    assert ended["packets"]["out"] + sum(ended["packets"]["dropped"].values()) == frames
    # One that answers with errors has the right words all the same.
    assert (ended["counter_mismatches"] > 0) == (what == "silent"), ended["findings"]


def test_at_rest_nothing_is_counted_any_more() -> None:
    """Drained at random moments: no burst is under way at any memory, nor comes; and every frame counts in the end."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    made = session({"read_latency": 60, "write_latency": 30, "gap_permille": 300})
    open_queues(made)
    made.start()
    at = registers.address
    for _ in range(12):
        for _ in range(60):
            made.offer(made.now + rng.randrange(400), rng.randrange(16), bytes(rng.choice([60, 590, 1514])))
        made.advance(made.now + rng.randrange(20, 400))
        made.write(at("drain"), 1)
        begun = made.now
        while not made.read(at("drained")):
            assert made.now < begun + 5000, "it does not come to rest"
            made.advance(made.now + 3)
        for _ in range(20):
            assert (made.read(at("outstanding")), made.read(at("drained"))) == (0, 1)
            made.advance(made.now + rng.randrange(10))
        snapshot(made, rng.randrange(16))  # which asks the memory
        made.advance(made.now + 300)
        assert (made.read(at("outstanding")), made.read(at("drained"))) == (0, 1)
        made.write(at("drain"), 0)
        made.advance(made.now + rng.randrange(100, 1000))
    made.advance(made.now + 500_000, until_empty=True)
    ended = made.end()
    assert ended["conservation_ok"] and not ended["findings"], ended["findings"]


def test_scans_find_what_was_sent() -> None:
    """A scan reads each queue's counter from the memory; snapshots in between go first."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    made = session()
    open_queues(made)
    made.start()
    for number in range(600):
        made.offer(20 * number, rng.choice([2, 5, 5, rng.randrange(16)]), bytes(rng.choice([60, 590])))
    made.advance(14_000, until_empty=True)
    at = registers.address

    def scan() -> int:
        begun = made.now
        made.write(at("queue_command"), registers.contract()["enums"]["command"]["scan"])
        snapshot(made, 5)
        while made.read(at("busiest_status")) & 1:
            assert made.now < begun + 10_000, "the scan does not end"
        return made.now - begun

    without = scan()
    sent = {queue: snapshot(made, queue)[0]["out_bytes"] for queue in range(16)}
    places = []
    for place in range(4):
        made.write(at("busiest_place"), place)
        places.append((made.read(at("busiest_queue")), made.read(at("busiest_bytes")) | made.read(at("busiest_bytes") + 4) << 32))
    assert places == sorted(sent.items(), key=lambda item: (-item[1], item[0]))[:4]
    print(f"cycles of a scan of 16 queues and a snapshot in it: {without} without records in the memory, {scan()} with")


def test_what_a_configuration_may_say() -> None:
    config = configs.load(NAME)
    with pytest.raises(UserError, match=r"needs|counters of 128 queues need 8,192"):
        configs.with_overrides(config, {"queues": 128})
    with pytest.raises(UserError, match=r"not a multiple of 4,096"):
        configs.with_overrides(config, {"counter_memory.bytes": 5000})
    with pytest.raises(UserError, match="called ddr"):
        configs.with_overrides(configs.load("tiny_16"), {"counter_memory": {"name": "ddr", "bytes": 4096}})
    assert configs.with_overrides(config, {"counter_memory": False}).memory_ports == config.channels
    assert configs.with_overrides(configs.load("tiny_16"), {"counter_memory.bytes": 8192, "counter_memory.kind": "ddr4_2400"}).memory_ports
