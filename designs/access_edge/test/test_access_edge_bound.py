# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The register bus under full load, a frame of one beat in every cycle: no access waits longer than 1,024 cycles."""

import random
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import find, registers
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.testing.testkit import seed

BOUND = 1024  # cycles, of pst_control_wait
CONFIGS = {
    "tiny_16": {},
    "pass": {"shaping": "false"},
    "tiny_codel_16": {},
    "tiny_counters_16": {},
    "tiny_share_16": {},
    "tree_64": {},
    "headers_16": {},
}
ANY_QUEUE = 0xFFFF_FFFE  # of a frame of which only the device says where it belongs


class Load:
    """A session into which a frame of 60 byte comes in every cycle, for all queues in turn."""

    AHEAD = 4 * BOUND  # cycles for which frames are there

    def __init__(self, config: Any, library: str) -> None:
        job = {"device": twins.device(config, library, {"read_latency": 20, "write_latency": 10, "gap_permille": 0})}
        self.session = engine.module().Session(job | {"seed": seed(), "sources": [], "ingress_bps": 0, "egress_bps": 0})
        self.queues, self.offered, self.headers = config.queues, 0, config.headers is not None

    def read(self, address: int) -> tuple[int, int]:
        """Return a register, and the cycles that it took to read it behind all writes."""
        while self.offered < self.session.now + self.AHEAD:
            self.session.offer(self.offered, ANY_QUEUE if self.headers else self.offered % self.queues, bytes(60))
            self.offered += 1
        begun = self.session.now
        value = self.session.read(address)
        return value, self.session.now - begun


def commands(config: Any, rng: random.Random) -> dict[str, list[tuple[int, int]]]:
    """Return the writes of every command that the device has, by name; the last write is the command."""
    names = registers.contract()["enums"]["command"]
    at = registers.address

    def command(name: str, *before: tuple[str, int]) -> list[tuple[int, int]]:
        return [*((at(register), value) for register, value in before), (at("queue_command"), names[name])]

    queue = ("queue_index", rng.randrange(config.queues))
    found = {name: command(name, queue) for name in ("write", "snapshot", "write_next", "provision", "read_back")}
    if config.admission:
        found["share"] = command("share", ("share_class", 0), ("share_size", 0), ("share_alpha", 7), ("share_reserved", 1))
    if config.hierarchy:
        levels = ("subscriber", "node", "port")
        found |= {f"tree_{level}": command(f"tree_{level}", ("tree_index", 0), ("tree_parent", 0)) for level in levels}
        found["tree_queue"] = command("tree_queue", ("tree_index", 0))
        found["tree_subscriber_next"] = command("tree_subscriber_next", ("tree_index", 0), ("tree_parent", 0))
        found |= {f"read_back_{level}": command(f"read_back_{level}", ("tree_index", 0)) for level in levels}
    if config.busiest:
        found |= {name: command(name) for name in ("scan", "scan_backlog")}
    if config.node_counters:
        found["snapshot_node"] = command("snapshot_node", ("node_index", 0), ("node_class", 0))
    if config.headers:
        found |= {
            "find_insert": find.insert(rng.randrange(2 * config.headers.entries), 0),
            "find_delete": find.delete(rng.randrange(2 * config.headers.entries)),
            "find_read": find.read(rng.randrange(2 * config.headers.entries)),
            "find_profile": find.profile(0, 2, 0),
            "find_class": list(find.classes(0, [0])),
            "find_miss": find.miss(config.headers.profiles, rng.randrange(config.queues)),
            "find_mpls": command("find_mpls", ("find_value", 0)),
        }
    return found


def crowd(load: Load, config: Any) -> None:
    """Send frames to queue 0, and fill the table of keys and its stash: keys are moved all the time."""
    writes = [*find.seed(config.headers.entries, seed()), *find.miss(config.headers.profiles, 0)]
    for write in [*writes, *(write for key in range(2 * config.headers.entries) for write in find.insert(key, 0))]:
        load.session.write(*write)
        load.read(registers.address("status"))  # frames go on coming
    assert load.read(registers.address("find_keys"))[0] > config.headers.entries


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name == "tiny_16" else [pytest.mark.slow]) for name in CONFIGS])
def test_no_access_waits_longer_than_its_bound(name: str) -> None:
    """Every register is read, and every command given with a read behind it, while a frame comes in every cycle."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    config = configs.with_overrides(configs.load("tiny_16" if name == "pass" else name), CONFIGS[name])
    load = Load(config, str(verilate.build_device(config, print, assertions=True)))
    session = load.session
    for queue in range(config.queues):
        for address, value in registers.queue_writes(queue, None, 0, 65_535, 16_777_215, config.clock_hz):
            session.write(address, value)
    session.start()
    for _ in range(300):
        load.read(registers.address("version"))
    if config.headers:
        crowd(load, config)
    before, since = session.totals(), session.now
    longest: dict[str, int] = {}

    def read(what: str, address: int) -> int:
        value, cycles = load.read(address)
        longest[what] = max(longest.get(what, 0), cycles)
        return value

    for _ in range(30 if config.headers else 3):
        for what, writes in commands(config, rng).items():
            for address, value in writes:
                session.write(address, value)
            begun = session.now
            read(f"the read behind {what}", registers.address("version"))
            read(f"the second read behind {what}", registers.address("queue_index"))
            # One behind it that waits until it has ended.
            session.write(registers.address("queue_command"), 0)
            status = read(f"the command behind {what}", registers.address("status"))
            assert not status & registers.STATUS_BUSY, what
            assert session.now - begun <= BOUND, f"{what} took {session.now - begun} cycles"
    for register, entry in registers.table().items():
        for offset in range(0, entry["bytes"], 4):
            read(register, entry["address"] + offset)
    print("cycles:", ", ".join(f"{what} {cycles}" for what, cycles in sorted(longest.items(), key=lambda item: -item[1])[:12]))
    assert max(longest.values()) <= BOUND, longest
    totals = session.totals()
    came = totals["packets"]["in"] - before["packets"]["in"]
    print(f"{came} packets came in {session.now - since} cycles")
    assert came > 0.75 * (session.now - since), "the load was not full"
    ended = session.end()
    assert ended["conservation_ok"] and not ended["findings"], ended["findings"]
