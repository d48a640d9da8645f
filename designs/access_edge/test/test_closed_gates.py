# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Gates of queues and their parents that close and open: burst, and rate while the gate was open, bound what leaves."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.scenarios import pcap
from penstock.testing.testkit import seed

ENGINES = ["model", pytest.param("rtl", marks=pytest.mark.slow)]
MS = 1_000_000  # ns
SIZE = 1000  # bytes of a frame
LEVELS = ["queue", "subscriber", "node", "port"]


def departures(
    tmp_path: Path, engine: str, level: str, rate: int, burst: int, end: int, switches: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return times (ns) and lengths of what leaves a backlogged queue. It, or its parent, has this rate, and a gate that closes and
    opens in turn at `switches` (ns)."""
    changes = "".join(
        f"  - {{ at: {at} ns, {level}s: 0, set: {{ rate: {'0' if number % 2 == 0 else f'{rate} bit/s'} }} }}\n"
        for number, at in enumerate(switches)
    )
    shaper = f"rate: {rate} bit/s, burst: {burst} B"
    parents = {"subscriber": "node: 0, ", "node": "port: 0, ", "port": ""}
    (tmp_path / "scenario.yaml").write_text(
        f"device: {{ config: {'demo_64' if level == 'queue' else 'tree_64'} }}\n"
        f"duration: {end} ns\n"
        "drain: false\n"
        f"queues: [ {{ id: 0, name: q{', ' + shaper if level == 'queue' else ''} }} ]\n"
        + (f"{level}s: [ {{ id: 0, {parents[level]}{shaper} }} ]\n" if level in parents else "")
        + "traffic:\n"
        f"  - constant: {{ queues: q, rate: {8 * rate} bit/s, size: {SIZE} }}\n"
        f"changes:\n{changes}"
        "output: { pcap: out.pcap }\n"
    )
    assert main(["run", str(tmp_path / "scenario.yaml"), "--engine", engine, "--out", str(tmp_path / "run"), "--json"]) == 0
    frames = pcap.read(tmp_path / "run" / "out.pcap")
    return frames.times_ns + frames.first_ns, frames.lengths.astype(np.int64)


def open_until(times: np.ndarray, switches: list[int]) -> np.ndarray:
    """Return for how long the gate was open until each of `times`."""
    found = np.zeros(len(times))
    for since, until in zip([0, *switches[1::2]], [*switches[::2], np.inf], strict=False):
        found += np.clip(times, since, until) - since
    return found


def check(times: np.ndarray, lengths: np.ndarray, rate: int, burst: int, end: int, switches: list[int]) -> None:
    """GCRA by arithmetic: in no window more than the burst, a frame, and the rate while the gate was open; nothing through a closed one."""
    allowed = rate / 8e9 * open_until(times, switches)
    ahead = np.cumsum(lengths) - allowed  # of what the rate alone lets go
    before = np.concatenate(([0.0], ahead[:-1]))
    slack = 2 * SIZE + rate / 8e9 * 20_000  # the frame that is sent, and 20 us from the decision to the line
    assert np.max(ahead - np.minimum.accumulate(before)) <= burst + slack
    for closed, opened in zip(switches[::2], [*switches[1::2], end], strict=False):
        assert not np.any((times > closed + 20_000) & (times < opened))
    # It is backlogged: all that the rate lets go while the gate is open goes.
    assert lengths.sum() >= rate / 8e9 * open_until(np.array([end]), switches)[0] - slack


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("level", LEVELS)
def test_a_gate_that_is_closed_most_of_the_time(engine: str, level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Open for 10 ms of each 100: 62.5 kB at the rate. With credit of the time in which it was closed these were 465 kB."""
    switches = [at * MS for at in (10, 100, 110, 200, 210, 300, 310, 400, 410)]
    times, lengths = departures(tmp_path, engine, level, 10_000_000, 100_000, 500 * MS, switches)
    check(times, lengths, 10_000_000, 100_000, 500 * MS, switches)
    assert 62_500 - SIZE <= lengths.sum() <= 62_500 + 2 * SIZE
    assert json.loads(capsys.readouterr().out)["queues"][0]["out_bytes"] == lengths.sum()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("number", range(4))
def test_random_gates(engine: str, level: str, number: int, tmp_path: Path) -> None:
    """Long and short times in which it is closed, some within a frame's time, some longer than the burst."""
    rng = random.Random(seed() + number)
    rate, burst, end = rng.choice([5, 20, 100]) * 1_000_000, rng.choice([2_000, 20_000, 200_000]), 60 * MS
    switches: list[int] = []
    at = 0
    while (at := at + rng.choice([2_000, 50_000, 1 * MS, 9 * MS]) + rng.randrange(1_000_000)) < end:
        switches.append(at)
    times, lengths = departures(tmp_path, engine, level, rate, burst, end, switches)
    check(times, lengths, rate, burst, end, switches)
