"""A development check: the same address traces through DRAMsim3, which others have written and checked against DRAM vendors' models.

Its crate carries its source; a program of ours (engine/test/dramsim3) feeds it. Timing is that of its own configurations, row and queues as
ours. What the two do alike must cost the same; where their controllers choose otherwise, docs/memories.md says why.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from penstock.engine import memories
from penstock.paths import BUILD, ROOT, alone_in, plain, tool_environment
from penstock.testing import dram
from penstock.testing.testkit import BuildError

PROGRAM = ROOT / "engine" / "test" / "dramsim3"
CONFIGURATIONS = {"ddr4_2400": "DDR4_8Gb_x8_2400", "ddr4_3200": "DDR4_8Gb_x8_3200"}
MAPPINGS = {"row bank group column": "rochrababgco", "row bank column group": "rochrabacobg"}
# 16 queues of 8 commands and one of 32 transactions there; one queue here. Both let four accesses overtake one that needs another row.
QUEUE, BATCH, HIT_LIMIT = 160, 32, 4


class Trace(NamedTuple):
    """Beats in order, and by how much the bandwidths may differ with each mapping; None: not compared."""

    name: str
    write: np.ndarray
    address: np.ndarray
    tolerance: dict[str, float | None]


def both(tolerance: float | None, other: float | None) -> dict[str, float | None]:
    return {"row bank group column": tolerance, "row bank column group": other}


def frames(beats: int) -> tuple[np.ndarray, np.ndarray]:
    """A frame written to a random page of 2 kB, one read from another, and so on."""
    count = dram.BEATS // beats // 2
    page = np.random.default_rng(beats).integers(0, 1 << 17, (count, 2))[:, :, None] * 2048
    return np.tile(np.repeat([1, 0], beats), count), (page + np.arange(beats) * 64).ravel()


def traces() -> Iterator[Trace]:
    count, kind = dram.BEATS, memories.dram_kinds()["ddr4_2400"]
    rng = np.random.default_rng(5)
    anywhere = rng.permutation(1 << 20)[:count] * kind.row_bytes + rng.integers(0, 128, count) * 64
    for write, words in ((0, "read"), (1, "written")):
        every = np.full(count, write)
        # In its bank queues DRAMsim3 sees 40 beats of a sequential stream: within a bank group it is bound by tCCD_L.
        yield Trace(f"sequential, {words}", every, np.arange(count) * 64, both(None, 0.02))
        yield Trace(f"every fourth beat, {words}", every, np.arange(count) * 256, both(0.02, 0.02))
        yield Trace(f"random, {words}", every, anywhere, both(0.03, 0.03))
        rows = np.arange(count) * kind.row_bytes * kind.bank_groups * kind.banks_per_group
        yield Trace(f"rows of one bank, {words}", every, rows, both(0.02, 0.02))
    yield Trace("random, half written", rng.integers(0, 2, count), anywhere, both(0.04, 0.04))
    for beats, tolerance in ((1, 0.12), (3, 0.12), (9, 0.12), (32, None)):
        yield Trace(f"frames of {beats}, half written", *frames(beats), both(tolerance, 0.14 if tolerance is None else tolerance))


@pytest.fixture(scope="module")
def simulator() -> tuple[Path, Path]:
    """Return our program, built, and DRAMsim3's folder of configurations."""
    cargo = shutil.which("cargo", path=os.pathsep.join([os.environ.get("PATH", ""), str(Path.home() / ".cargo" / "bin")]))
    if cargo is None:
        pytest.skip("there is no cargo here, which fetches and builds DRAMsim3")
    environment = tool_environment() | {"PATH": os.pathsep.join([str(Path(cargo).parent), tool_environment()["PATH"]])}
    folder = plain(BUILD / "dramsim3")
    manifest = ["--locked", "--manifest-path", str(PROGRAM / "Cargo.toml")]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([cargo, *arguments, *manifest], capture_output=True, text=True, env=environment)

    with alone_in(folder):
        if (fetched := run("fetch")).returncode:
            pytest.skip(f"cargo cannot fetch DRAMsim3: {fetched.stderr.strip().splitlines()[-1]}")
        if (built := run("build", "--release", "--jobs", "2", "--target-dir", str(folder))).returncode:
            raise BuildError(built.stderr)
        about = json.loads(run("metadata", "--format-version", "1").stdout)
    crate = next(Path(package["manifest_path"]).parent for package in about["packages"] if package["name"] == "dramsim3")
    return folder / "release" / "penstock-dramsim3", crate / "DRAMsim3" / "configs"


def configuration(found: Path, mapping: str) -> str:
    """Return a configuration of DRAMsim3 with one rank and this mapping."""
    text = found.read_text().split("[thermal]")[0]
    for key, value in {"channel_size": "8192", "address_mapping": MAPPINGS[mapping], "epoch_period": "1000000000"}.items():
        text = re.sub(rf"^{key} *=.*$", f"{key} = {value}", text, flags=re.MULTILINE)
    return text


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(CONFIGURATIONS))
def test_timing_is_theirs(kind: str, simulator: tuple[Path, Path]) -> None:
    """Both read the standard alike: every time that both have."""
    text = (simulator[1] / f"{CONFIGURATIONS[kind]}.ini").read_text()
    theirs = {key.lower(): int(value) for key, value in re.findall(r"^(t?[A-Z]+\w*) *= *(\d+)$", text, flags=re.MULTILINE)}
    ours = dram.channel(kind)["timing"]
    names = {"cl": "cl", "cwl": "cwl", "trcd": "rcd_read"} | {f"t{key}": key for key in ours}
    compared = {key: (theirs[key], ours[name]) for key, name in names.items() if key in theirs}
    assert len(compared) == 16
    assert {key: pair for key, pair in compared.items() if pair[0] != pair[1]} == {}


@pytest.mark.slow
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("kind", sorted(CONFIGURATIONS))
def test_bandwidth_is_theirs(kind: str, mapping: str, simulator: tuple[Path, Path], tmp_path: Path) -> None:
    program, found = simulator
    settings = tmp_path / "settings.ini"
    settings.write_text(configuration(found / f"{CONFIGURATIONS[kind]}.ini", mapping))
    compared = list(traces())
    lines = [" ".join("rw"[w] + str(a) for w, a in zip(trace.write, trace.address, strict=True)) for trace in compared]
    done = subprocess.run([program, settings, tmp_path], input="\n".join(lines), capture_output=True, text=True, check=True)
    cycles = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("cycles ")]
    outside = {}
    for trace, theirs in zip(compared, cycles, strict=True):
        ours = dram.trace(channel(kind, mapping), trace.write, trace.address)["cycles"]
        allowed = trace.tolerance[mapping]
        full = len(trace.address) * memories.dram_kinds()[kind].timing["burst"][0] * 100
        print(f"{kind}, {mapping}, {trace.name}: {full / ours:.1f} % of the peak, DRAMsim3 {full / theirs:.1f} %, allowed {allowed}")
        if allowed is not None and abs(theirs / ours - 1) > allowed:
            outside[trace.name] = (full / ours, full / theirs)
    assert outside == {}


def channel(kind: str, mapping: str) -> dict[str, Any]:
    """Return our channel, as near to theirs as its controller can be: a clock for both sides, nothing in front."""
    clock = memories.dram_kinds()[kind].clock_hz
    made = dram.channel(kind, clock, mapping=mapping, hash_groups=False, queue=QUEUE, batch=BATCH, forward=True)
    return made | {"hit_limit": HIT_LIMIT, "read_latency": 0, "write_latency": 1, "reorder_beats": 1024, "bursts": 32}
