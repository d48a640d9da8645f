# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Profiles of settings in the whole device: what is accepted, refused, shown and read back, on both engines, in the same cycles."""

import random
from pathlib import Path
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.bench.core import build_core
from penstock.designs.access_edge.config import Config
from penstock.designs.access_edge.settings.profiles import Kinds
from penstock.designs.access_edge.setup import Setup
from penstock.designs.access_edge.testing import compare, twins
from penstock.engine import engine
from penstock.errors import UserError
from penstock.hardware import verilate
from penstock.testing.testkit import seed

TIMING = {"read_latency": 44, "write_latency": 22, "gap_permille": 0}
SHOWN = ("rate", "burst", "limit_packets", "limit_bytes", "aqm", "aqm_target", "aqm_interval")
WIDTHS = (0, 28, 16, 24, 2, 18, 18)
RESET = [1, 0, registers.MAX_LIMIT_PACKETS, registers.MAX_LIMIT_BYTES, 0, 0, 0]
NO_ROOM = registers.refusal("no_room")
WRITE_NEXT = registers.contract()["enums"]["command"]["write_next"]


@pytest.fixture(scope="module")
def config() -> Config:
    found = configs.load("tiny_profiles_16")
    assert isinstance(found, Config)
    return found


@pytest.fixture(scope="module")
def library(config: Config) -> Path:
    return verilate.build_device(config, print)


def session(config: Config, where: Path | None) -> Any:
    found = engine.module().Session(
        {"device": twins.device(config, where, TIMING), "sources": [], "ingress_bps": 100e9, "egress_bps": 100e9}
    )
    found.start()
    return found


def read(device: Any, name: str) -> int:
    return int(device.read(registers.address(name)))


def test_settings_are_taken_while_there_are_profiles(config: Config, library: Path) -> None:
    """Random settings of many kinds: which are refused follows from what queues have; a refused one changes nothing and leaves the index;
    each queue reads back what it was given last. Both engines need the same cycles."""
    print(f"PENSTOCK_SEED={seed()}")
    found = []
    for where in (library, None):
        rng, device, kinds, cycles, refused, accepted = random.Random(seed()), session(config, where), Kinds(config), [], 0, 0
        pool = [[rng.choice([0, 1, 40_000]), *(rng.getrandbits(width) for width in WIDTHS[1:])] for _ in range(200)]
        has = dict.fromkeys(range(config.queues), RESET)
        assert read(device, "setting_profiles") == config.setting_profiles
        for number in range(400):
            queue = rng.randrange(config.queues)
            kind = rng.choice([RESET, *has.values()] if rng.random() < 0.15 else pool)
            command = rng.choice([registers.COMMAND_WRITE, WRITE_NEXT])
            writes = [(registers.address("queue_index"), queue)]
            writes += [(registers.address(f"queue_{name}"), value) for name, value in zip(SHOWN, kind, strict=True)]
            for address, value in [*writes, (registers.address("queue_command"), command)]:
                device.write(address, value)
            in_use = {tuple(RESET), *map(tuple, has.values())}
            alone = has[queue] != RESET and list(has.values()).count(has[queue]) == 1
            full = tuple(kind) not in in_use and len(in_use) - alone >= config.setting_profiles - 1
            assert (kinds.follow([*writes, (registers.address("queue_command"), registers.COMMAND_WRITE)]) is not None) == full
            while (status := read(device, "status")) & registers.STATUS_BUSY:
                pass
            assert bool(status & registers.STATUS_REFUSED) == full, (where, number)
            assert status >> 4 & 7 == (NO_ROOM if full else 0)
            assert read(device, "queue_index") == queue + (command == WRITE_NEXT and not full)
            if not full:
                has[queue] = kind
            refused, accepted = refused + full, accepted + (not full)
            assert read(device, "setting_profiles_used") == len({tuple(RESET), *map(tuple, has.values())})
            cycles.append(device.now)
            device.advance(device.now + rng.choice([1, 1, 40]))
        for queue, kind in has.items():
            device.write(registers.address("queue_index"), queue)
            device.write(registers.address("queue_command"), registers.COMMAND_READ_BACK)
            device.advance(device.now + 500)
            assert [read(device, f"now_{name}") for name in SHOWN] == kind, (where, queue)
        assert refused > 30 and accepted > 100
        found.append(cycles)
    assert found[0] == found[1]


def test_a_scenario_says_that_there_are_too_many_kinds() -> None:
    """Before anything runs, by the entry's key; and one queue at a time, by its index."""
    given: dict[str, Any] = {"device": {"config": "tiny_profiles_16"}}
    given["queues"] = [{"id": queue, "rate": f"{queue + 1} Mbit/s"} for queue in range(14)]
    edge = Setup(given)
    edge.first_writes()
    with pytest.raises(UserError, match=r"queues\[15\]: queue 15 would have settings of one more kind than the 15 that setting_profiles"):
        edge.writes("queue", 15, {"rate": "20 Mbit/s"})
    edge.writes("queue", 15, {"rate": "3 Mbit/s"})  # as queue 2 has it
    edge.writes("queue", 13, {"rate": "20 Mbit/s"})  # it gives its own back
    given["queues"] = [{"id": queue, "rate": f"{queue + 1} Mbit/s"} for queue in range(16)]
    with pytest.raises(UserError, match="`queues` do not fit: queue 14 would have settings of one more kind"):
        Setup(given).first_writes()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"setting_profiles": 12}, "setting_profiles is 12; allowed: 0, or a power of two from 4 to queues, 16"),
        ({"setting_profiles": 32}, "setting_profiles is 32; allowed: 0, or a power of two from 4 to queues, 16"),
        ({"aqm": "none", "shaping": False}, "setting_profiles is 16, which needs shaping: true and no flows"),
        ({"aqm": "pie"}, "setting_profiles is 16, but PIE has its settings by queue; it goes with aqm: codel or none"),
    ],
)
def test_what_profiles_do_not_go_with(config: Config, given: dict[str, Any], words: str) -> None:
    """One sentence that says what is allowed."""
    with pytest.raises(ValueError, match=words):
        Config.model_validate(config.model_dump(exclude={"pie", "codel"}) | given)


# As compare_core.cpp has them.
AQM = {"aqm": "codel", "TickShift": 2, "MaxPacketBytes": 100, "GuardCount": 12}
HIERARCHY = {"Hierarchy": 1, "QueuesPerSubscriber": 4, "Nodes": 4, "Ports": 2, "Classes": 4}
CORE_CYCLES = 750_000


@pytest.mark.parametrize(
    ("kind", "aqm", "profiles", "hierarchy"),
    [(1, None, 4, False), (2, AQM, 16, False), (3, AQM | {"AqmEstimate": 1}, 4, False), (7, AQM, 8, True)],
    ids=["shaped", "codel", "estimate", "hierarchy"],
)
def test_core_with_profiles_is_equal_in_every_cycle(kind: int, aqm: dict[str, object] | None, profiles: int, hierarchy: bool) -> None:
    """Settings by profile: what is read by way of a profile is in force in the cycle in which a queue's own setting would be, whichever
    profile is free, shared or given back; and the core tells which one the queue had."""
    sizes = HIERARCHY if hierarchy else None
    queues = 64 if sizes else 16
    library = build_core(queues, 256, True, print, aqm=aqm, hierarchy=sizes, tolerance=100, profiles=profiles)
    for number in range(seed(), seed() + 2):
        counts = compare.compared(
            compare.program(), library, queues, 256, kind, CORE_CYCLES, number, tolerance=100, hierarchy=sizes, profiles=profiles
        )
        assert counts[0] > 10_000 and counts[3] > 1000, counts
