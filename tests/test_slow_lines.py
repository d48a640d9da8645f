# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Lines and shapers so slow that a frame takes longer than any time a program would choose to wait.

A run that ends in the middle of such frames is as right as any other, and a drain goes on until all of them have left. Right values are
those of a line: frame k of a backlog begins k times (its bytes and what the line adds) after the first.
"""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.engine import engine
from penstock.engine.run import Request, prepare
from penstock.testing.testjobs import assert_clean
from penstock.testing.testkit import seed

OVERHEAD = 24

# Devices, and where their traffic goes.
DEVICES = {
    "demo_64": "queues: 0-7",
    "demo_codel_64": "queues: 0-7",
    "demo_pie_64": "queues: 0-7",
    "tiny_codel_16": "queues: 0-7",
    "jumbo_1024": "queues: 0-7",
    "tree_64": "queues: 0-7",
    "tree_codel_64": "queues: 0-7",
    "live_deadline_4": "classes: [a, b]",
    "live_fifo_4": "classes: [a, b]",
    "switch_4": "outputs: 0-3",
    "lossy_4": "outputs: 0-3",
}


def run(tmp_path: Path, text: str) -> tuple[dict[str, Any], Any]:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    prepared = prepare(Request(path, engine="model"))
    raw = engine.run(prepared.plan.job)
    assert_clean(raw)
    return raw, prepared


def test_overload_without_a_drain(tmp_path: Path) -> None:
    """50 Mbit/s, offered 100: a frame comes each 121.12 us from 0 on, and one leaves each 246.08 us: 166 and 81 in 20 ms."""
    engine.build(print)
    raw, _ = run(
        tmp_path,
        "device: { config: demo_64 }\nduration: 20 ms\ndrain: false\nlink: { egress: 50 Mbit/s }\n"
        "traffic:\n  - constant: { queues: 0, rate: 100 Mbit/s, size: 1514 }\n",
    )
    assert (raw["packets"]["in"], raw["packets"]["out"], raw["packets"]["queued"]) == (166, 81, 85)


@pytest.mark.parametrize("name", DEVICES)
def test_a_run_ends_in_the_middle_of_frames(tmp_path: Path, name: str) -> None:
    """Whatever the lines' rates are, every frame is accounted for, and the device's counters are what was seen."""
    print(f"PENSTOCK_SEED={seed()}")
    engine.build(print)
    rng = random.Random(f"{seed()} {name}")
    for _ in range(12):
        slowest = 7 if "outputs" in DEVICES[name] else 5  # the model of a switch goes through every cycle in which a frame waits
        ingress, egress = (int(10 ** rng.uniform(slowest, 8)) for _ in range(2))
        fast = rng.random() < 0.5  # a fast input, so that many frames wait for the output
        ingress = 150_000_000 if fast else ingress
        size, buffer = rng.choice([64, 300, 1514]), rng.choice([0, 2000])
        offered = max(100_000, min(ingress, 10 * egress))
        duration = max(1, int(rng.uniform(3, 60) * 8 * size / offered * 1e6))
        classes = "classes:\n  - {name: a, deadline: 1 ms, dscp: 1}\n  - {name: b, deadline: 30 ms, dscp: 2}\n"
        text = (
            f"device: {{ config: {name} }}\nduration: {duration} us\ndrain: false\n"
            f"link: {{ ingress: {ingress} bit/s, egress: {egress} bit/s, egress_buffer: {buffer} }}\n"
            f"{classes if name.startswith('live_') else ''}"
            f"traffic:\n  - {'inputs: 0-3' if 'outputs' in DEVICES[name] else 'name: all'}\n"
            f"    constant: {{ {DEVICES[name]}, rate: {offered} bit/s, size: {size} }}\n"
        )
        print(text)
        raw, prepared = run(tmp_path, text)
        seconds = raw["cycles"] / prepared.config.clock_hz
        outputs = getattr(prepared.config, "ports", 1)
        most = egress * seconds / (8 * (size + OVERHEAD)) + buffer / size + 1
        assert raw["packets"]["out"] <= outputs * most
        assert raw["packets"]["in"] <= outputs * (ingress * seconds / (8 * (size + OVERHEAD)) + 1)


def departures(raw: dict[str, Any], clock_hz: int) -> Any:
    return np.sort(np.asarray(raw["departures"]["cycle"])) / clock_hz


def test_a_drain_ends_when_all_is_out(tmp_path: Path) -> None:
    """Six frames of 9,600 byte at 64 kbit/s, 1.2 s each."""
    engine.build(print)
    raw, prepared = run(
        tmp_path,
        "device: { config: jumbo_1024 }\nduration: 1 s\ndrain: 30 s\nqueues: [ { id: 0, rate: 64 kbit/s, burst: 0 } ]\n"
        "traffic:\n  - constant: { queues: 0, rate: 400 kbit/s, size: 9600 }\n",
    )
    assert raw["drained"] and raw["packets"]["out"] == 6
    left = departures(raw, prepared.config.clock_hz)
    assert left - left[0] == pytest.approx(1.2 * np.arange(6), abs=1e-4)


@pytest.mark.parametrize("who", ["queues", "subscribers", "nodes", "ports"])
def test_eight_kilobit_a_second(who: str, tmp_path: Path) -> None:
    """Five frames of 1,000 byte leave a second apart, whatever the rate is of."""
    engine.build(print)
    own = "queues: [ { id: 0, rate: 8 kbit/s, burst: 0 } ]" if who == "queues" else f"{who}: [ {{ id: 0, rate: 8 kbit/s, burst: 0 }} ]"
    raw, prepared = run(
        tmp_path,
        f"device: {{ config: tree_64 }}\nduration: 1 s\ndrain: 30 s\n{own}\n"
        "traffic:\n  - constant: { queues: 0, rate: 40 kbit/s, size: 1000 }\n",
    )
    assert raw["drained"] and raw["packets"]["out"] == 5
    left = departures(raw, prepared.config.clock_hz)
    assert left - left[0] == pytest.approx(np.arange(5), abs=3e-4)


@pytest.mark.parametrize(
    "config, who, size",
    [
        ("jumbo_1024", "queues", 9600),  # 220 MHz; a frame takes 9.6 s, some 2^31 cycles
        ("line_rate_2048", "queues", 9600),  # 300 MHz
        ("edge_2048", "queues", 1518),
        ("tree_2048", "subscribers", 1518),
        ("tree_2048", "nodes", 1518),
        ("tree_2048", "ports", 1518),
    ],
)
def test_eight_kilobit_a_second_at_fast_clocks(config: str, who: str, size: int, tmp_path: Path) -> None:
    engine.build(print)
    frames = 4
    raw, prepared = run(
        tmp_path,
        f"device: {{ config: {config} }}\nduration: 100 ms\ndrain: 60 s\n{who}: [ {{ id: 0, rate: 8 kbit/s, burst: 0 }} ]\n"
        f"traffic:\n  - constant: {{ queues: 0, rate: {frames * size * 80 - 1} bit/s, size: {size} }}\n",
    )
    assert prepared.config.clock_hz >= 220_000_000
    assert raw["drained"] and raw["packets"]["out"] == frames
    left = departures(raw, prepared.config.clock_hz)
    between = size / 1000  # s
    assert left - left[0] == pytest.approx(between * np.arange(frames), abs=between * frames * 2**-15 + 1e-5)


def test_a_drain_takes_as_long_as_lines_and_shapers_need(tmp_path: Path) -> None:
    """A burst of frames of one queue: its shaper, one above it, or its line decides when each of them leaves."""
    print(f"PENSTOCK_SEED={seed()}")
    engine.build(print)
    rng = random.Random(f"{seed()} drain")
    for config, size in [("jumbo_1024", 9600), ("tree_2048", 1518), ("edge_2048", 1518), ("demo_64", 1518)] * 3:
        frames = rng.randint(2, 9)
        known = configs.load(config)
        slow = int(10 ** rng.uniform(math.log10(registers.least_rate(known.clock_hz, known.max_frame_bytes)), 6)) + 1
        who = rng.choice(["queue", "line", *(["subscriber", "node"] if config.startswith("tree") else [])])
        per_byte = 8 / slow
        between = (size + (OVERHEAD if who == "line" else 0)) * per_byte
        above = {
            "subscriber": f"subscribers: [ {{ id: 0, rate: {slow} bit/s, burst: 0 }} ]\n",
            "node": f"nodes: [ {{ id: 0, rate: {slow} bit/s, burst: 0 }} ]\n",
        }
        text = (
            f"device: {{ config: {config} }}\nduration: 20 ms\ndrain: {2 * frames * between + 1:.3f} s\n"
            f"link: {{ egress: {slow if who == 'line' else 5_000_000_000} bit/s }}\n"
            f"queues: [ {{ id: 0, {f'rate: {slow} bit/s, burst: 0' if who == 'queue' else 'limit_packets: 1000'} }} ]\n"
            f"{above.get(who, '')}"
            f"traffic:\n  - constant: {{ queues: 0, rate: {frames * size * 8 * 50 - 1} bit/s, size: {size} }}\n"
        )
        print(text)
        raw, prepared = run(tmp_path, text)
        assert raw["drained"] and raw["packets"]["out"] == frames
        left = departures(raw, prepared.config.clock_hz)
        tolerance = max(between * 2**-14, 3e-4)
        assert left - left[0] == pytest.approx(between * np.arange(frames), abs=frames * tolerance)
