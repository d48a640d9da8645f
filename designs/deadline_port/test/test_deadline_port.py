# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The RTL of the smallest configurations in the engine: a whole device, every byte, every deadline and every counter compared."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.deadline_port import registers
from penstock.designs.deadline_port.config import Config, device
from penstock.engine import engine
from penstock.hardware import verilate
from penstock.testing.testjobs import assert_clean, constant
from penstock.testing.testkit import seed

Job = dict[str, Any]

TIMING = {"read_latency": 40, "write_latency": 20, "gap_permille": 50}
COMMANDS = registers.contract()["enums"]["command"]
LENGTHS = (60, 64, 65, 127, 128, 300, 571, 1514, 1522)
BAD_LENGTHS = (1, 13, 59, 1523, 2000)


def library(name: str) -> tuple[Config, Path]:
    """Return a configuration and its device, with the assertions of its RTL."""
    config = configs.load(name, "deadline_port")
    return config, verilate.build_device(config, print, assertions=True)


def set_class(number: int, cycles: int) -> list[tuple[int, int]]:
    at = registers.address
    return [(at("class_index"), number), (at("class_deadline"), cycles), (at("command"), COMMANDS["write_class"])]


def set_dscp(dscp: int, number: int) -> list[tuple[int, int]]:
    at = registers.address
    return [(at("dscp_index"), dscp), (at("dscp_class"), number), (at("command"), COMMANDS["write_dscp"])]


def frames(rng: random.Random, config: Config, count: int, mean_gap: int, bad: float = 0.05, start: int = 0) -> Job:
    """A list of frames of all classes, whose DSCP says which: dscp % classes, 64 % classes where there is none."""
    heads, lengths, queues = [], [], []
    for _ in range(count):
        length = rng.choice(BAD_LENGTHS if rng.random() < bad else LENGTHS)
        dscp = rng.randrange(64)
        queue = dscp % config.classes
        if length >= 60 and rng.random() < 0.9:
            head = rng.randbytes(12) + rng.choice([b"", b"\x81\x00\x00\x05", b"\x88\xa8\x00\x05\x81\x00\x00\x06"])
            if rng.random() < 0.5:
                head += b"\x08\x00" + bytes([0x45, dscp << 2 | rng.randrange(4)])
            else:
                head += b"\x86\xdd" + bytes([0x60 | dscp >> 2, (dscp & 3) << 6 | rng.randrange(64)])
        else:
            head = rng.randbytes(12)[:length] + b"\x12\x34"[: max(0, length - 12)]
            if not config.class_from_user:
                queue = 64 % config.classes
        heads.append(head), lengths.append(length), queues.append(queue)
    return {
        "kind": "frames",
        "cycles": start + np.cumsum([rng.randint(0, 2 * mean_gap) for _ in range(count)]),
        "queues": np.array(queues, dtype=np.uint32),
        "offsets": np.cumsum([0, *map(len, heads)])[:-1],
        "lengths": lengths,
        "stored": [len(head) for head in heads],
        "data": np.frombuffer(b"".join(heads), dtype=np.uint8),
        "error": [int(rng.random() < bad / 2) for _ in range(count)],
    }


def job(config: Config, path: Path, sources: list[Job], deadlines: list[int], any_class: bool = False, **keys: Any) -> Job:
    writes = [write for number, cycles in enumerate(deadlines) for write in set_class(number, cycles)]
    if not config.class_from_user:
        writes += [write for dscp in range(65) for write in set_dscp(dscp, dscp % config.classes)]
    memory = keys.pop("memory", {})
    described = device(config, str(path), TIMING, any_class)
    described["memories"] = [{**entry, **memory} for entry in described["memories"]]
    return {
        "device": described,
        "seed": seed(),
        "duration_cycles": None,
        "drain": True,
        "max_cycles": 2_000_000,
        "quiet_cycles": 20_000,
        "ingress_bps": 0,
        "egress_bps": 5e9,
        "sources": sources,
        "register_writes": writes + keys.pop("more_writes", []),
        "sample_queues": list(range(config.classes)),
        **keys,
    }


def some(config: Config, *cycles: int) -> list[int]:
    return [cycles[number % len(cycles)] for number in range(config.classes)]


@pytest.mark.parametrize(
    ("name", "valid", "ready"),
    [("tiny_deadline_3", 1000, 1000), ("tiny_deadline_3", 700, 600), ("tiny_deadline_16", 1000, 1000), ("tiny_fifo_3", 800, 800)],
)
def test_overload(name: str, valid: int, ready: int) -> None:
    """More comes than leaves: deadlines are missed at the head, by skips and in the last check; bad frames are among them."""
    print(f"PENSTOCK_SEED={seed()}")
    config, path = library(name)
    rng = random.Random(seed())
    flood = frames(rng, config, 3000, 25)
    result = engine.run(job(config, path, [flood], some(config, 3000, 9000, 20_000), valid_permille=valid, ready_permille=ready))
    assert_clean(result)
    assert result["drained"]
    dropped = result["packets"]["dropped"]
    wanted = ("runt", "oversize", "bad_frame", "no_page" if config.fifo else "missed")
    assert all(dropped[reason] for reason in wanted), dropped
    assert bool(dropped.get("missed")) != config.fifo
    assert result["packets"]["out"] > 400
    assert len(np.flatnonzero(result["queue"]["out_packets"])) == config.classes


def test_settings_change_while_frames_wait() -> None:
    """Deadlines become shorter and longer and DSCPs change their class in the middle of all; each frame keeps what it came with."""
    print(f"PENSTOCK_SEED={seed()}")
    config, path = library("tiny_deadline_3")
    rng = random.Random(seed() + 1)
    timed = []
    for cycle in range(2000, 80_000, 700):
        writes = set_class(rng.randrange(3), rng.choice((500, 3000, 15_000, 90_000)))
        if rng.random() < 0.5:
            writes = set_dscp(rng.randrange(65), rng.randrange(3))
        timed += [(cycle + place, *write) for place, write in enumerate(writes)]
    flood = frames(rng, config, 3000, 25)
    result = engine.run(job(config, path, [flood], [3000, 9000, 40_000], any_class=True, timed_register_writes=timed))
    assert_clean(result)
    assert result["drained"] and result["packets"]["dropped"]["missed"] > 100 and result["packets"]["out"] > 400


def test_another_class_than_the_source_says_is_found() -> None:
    config, path = library("tiny_deadline_3")
    given = job(config, path, [frames(random.Random(seed()), config, 800, 60)], [9000] * 3, more_writes=set_dscp(8, 0))
    result = engine.run(given)
    assert not result["conservation_ok"] and result["event_errors"]


@pytest.mark.parametrize("name", ["tiny_deadline_3", "tiny_fifo_3"])
def test_memory_errors_and_stalls(name: str) -> None:
    """Memories that answer with errors, or not for a while: what is lost is counted as lost, all else comes out whole."""
    config, path = library(name)
    rng = random.Random(seed() + 2)
    faults = [
        {"what": "errors", "from": 8000, "until": 9000},
        {"what": "stall", "from": 12_000, "until": 14_000},
        {"what": "silent", "from": 20_000, "until": 21_000},
        {"what": "errors", "from": 30_000, "until": 31_000},
    ]
    flood = frames(rng, config, 3000, 25)
    result = engine.run(job(config, path, [flood], some(config, 9000, 20_000, 60_000), memory={"faults": faults}))
    assert_clean(result)
    assert result["drained"]
    assert result["packets"]["dropped"]["read_error"] > 10, result["packets"]["dropped"]


def test_memory_limit() -> None:
    """With a limit fewer chunks are in use, and what finds none is dropped; without one nothing is, as no deadline is over."""
    config, path = library("tiny_deadline_3")
    burst = constant(range(3), bps=40e9, size=500, stop_cycle=1500)
    found = {}
    for limit in (0, 60, 120):
        config_job = job(config, path, [burst], [90_000] * 3, any_class=True, duration_cycles=2000,
                         more_writes=[(registers.address("memory_limit"), limit)])  # fmt: skip
        result = engine.run(config_job)
        assert_clean(result)
        found[limit] = result["packets"]["dropped"]["no_page"]
    assert found[60] > found[120] > found[0] == 0, found


def test_chunks_in_use_reach_the_limit_and_no_more() -> None:
    config, path = library("tiny_deadline_3")
    given = job(config, path, [], [90_000] * 3, any_class=True, egress_bps=1e8, more_writes=[(registers.address("memory_limit"), 60)])
    for key in ("duration_cycles", "drain", "max_cycles", "quiet_cycles"):
        given.pop(key)
    session = engine.module().Session(given)
    session.start()
    rng = random.Random(seed())
    for number in range(200):
        session.offer(10 * number, 64 % 3, rng.randbytes(500))
    session.advance(3000)
    assert config.chunks - session.read(registers.address("free_chunks")) == 60
    session.advance(100_000, until_empty=True)
    result = session.end()
    assert_clean(result)
    assert result["packets"]["dropped"]["no_page"] > 0


def test_counters_hold_in_mid_traffic() -> None:
    """The run ends with frames inside: every counter of each class is what the engine has seen, to the byte."""
    config, path = library("tiny_deadline_16")
    flood = frames(random.Random(seed() + 3), config, 3000, 20)
    result = engine.run(job(config, path, [flood], some(config, 4000, 50_000), drain=False, duration_cycles=30_000))
    assert_clean(result)
    assert result["packets"]["queued"] > 20
