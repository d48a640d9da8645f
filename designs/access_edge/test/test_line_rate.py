"""100 Gbit/s on two channels of DDR4-2400 and SRAM: `scenarios/line_rate_ddr4.yaml` without a loss at every size, on both engines."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.engine.run import Request, prepare, simulate
from penstock.paths import ROOT

SCENARIO = ROOT / "scenarios" / "line_rate_ddr4.yaml"
LINE_BPS, OVERHEAD = 100e9, 24

# Just above a beat of 64 byte, with and without the queue id in front, and just above a burst of 4 KiB; each page's last size; usual ones.
SIZES = (
    60, 61, 62, 64, 65, 66, 80, 89, 90, 124, 125, 126, 128, 129, 146, 188, 189, 192, 193, 203, 252, 253, 256, 257, 260, 316, 317, 320,
    321, 448, 449, 509, 512, 513, 572, 573, 577, 640, 641, 764, 1021, 1025, 1280, 1474, 1514, 2049, 4092, 4096, 4097, 4161, 8192, 8193,
    9000, 9600,
)  # fmt: skip
IMIX_BYTES = (7 * 60 + 4 * 590 + 1514) / 12


def run(size: object, duration: str, engine: str = "model", *settings: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the result of the scenario with frames of `size`, and what the engine gave."""
    request = Request(SCENARIO, [f"traffic.0.poisson.size={size}", f"duration={duration}", *settings], engine=engine)
    prepared = prepare(request)
    raw = simulate(prepared.plan.job, prepared.config, Path(SCENARIO))
    return prepared.summary(raw), raw


def check_line_rate(size: float, result: dict[str, Any], microseconds: float, idle: float = 20) -> None:
    """Every frame that the line brings is taken and sent: none dropped, none lost at the input, none left.

    `idle`: frames that a full line would have brought beside these, at most, or a thousandth.
    """
    packets = result["packets"]
    assert packets["dropped"] == {} and result["ingress_lost"] == {"packets": 0, "bytes": 0}
    assert packets["in"] == packets["out"] + packets["queued"] and packets["queued"] <= 0.03 * packets["in"] + 4
    line = LINE_BPS * microseconds * 1e-6 / 8 / (size + OVERHEAD)
    assert packets["in"] == pytest.approx(line, rel=0.001, abs=idle), "the line is full, but for the first frames of a Poisson process"
    assert result["findings"] == [] and result["conservation"]["ok"]


@pytest.mark.parametrize("size", SIZES)
def test_no_loss_at_any_size(size: int) -> None:
    microseconds = 200 if size < 2000 else 600
    result, raw = run(size, f"{microseconds} us")
    check_line_rate(size, result, microseconds)
    share = {memory["name"]: memory["write_bursts"] for memory in result["memories"]}
    assert (share["sram"] > 0) == (size <= 512), "small frames go to SRAM, which is never full here"
    assert size <= 512 or abs(share["ddr0"] - share["ddr1"]) <= 0.02 * share["ddr0"] + 4, "channels take turns"
    left = np.asarray(raw["departures"]["cycle"])
    assert len(np.unique(np.diff(left))) > 3, "queues fill and drain"


def test_imix_uses_all_memories() -> None:
    result, _ = run("imix", "500 us")
    assert result["packets"]["dropped"] == {} and result["ingress_lost"]["packets"] == 0
    assert all(memory["write_bursts"] > 1000 for memory in result["memories"])


def test_without_sram_the_pins_are_the_limit() -> None:
    """A frame of 65 byte moves 128 each way: at the line rate 288 of the 307 Gbit/s of two channels, of which refresh takes 14."""
    no_sram = "device.overrides.memories.sram.pages=1"
    for size, loses in ((60, False), (65, True), (129, False), (512, False)):
        result, _ = run(size, "400 us", "model", no_sram)
        assert (result["ingress_lost"]["packets"] > 0) == loses, size
        assert result["packets"]["dropped"] == {}
        if loses:
            moved = 2 * 128 * 8 * result["packets"]["out"] / (result["cycles"] / result["clock_hz"])
            assert 0.75 < moved / 307.2e9 < 1 - 420 / 9360


@pytest.mark.parametrize("size", [65, pytest.param(61, marks=pytest.mark.slow), 1474, pytest.param(4097, marks=pytest.mark.slow), "imix"])
def test_engines_are_equal(size: object) -> None:
    duration = "60 us"
    (rtl, raw_rtl), (model, raw_model) = (run(size, duration, engine) for engine in ("rtl", "model"))
    for key in ("packets", "bytes", "ingress_lost", "latency_ns", "memories"):
        assert rtl[key] == model[key], key
    assert (np.asarray(raw_rtl["departures"]["cycle"]) == np.asarray(raw_model["departures"]["cycle"])).all()


@pytest.mark.slow
def test_engines_lose_the_same_frames() -> None:
    """Without SRAM, and with a small FIFO: frames are lost at the input, on both engines the same ones."""
    settings = ("device.overrides.memories.sram.pages=1", "link.ingress_fifo=1 kB")
    (rtl, raw_rtl), (model, raw_model) = (run(66, "200 us", engine, *settings) for engine in ("rtl", "model"))
    assert rtl["ingress_lost"] == model["ingress_lost"] and rtl["ingress_lost"]["packets"] > 50
    assert (np.asarray(raw_rtl["departures"]["queue"]) == np.asarray(raw_model["departures"]["queue"])).all()


def long_run(size: object, engine: str = "model") -> tuple[dict[str, Any], dict[str, Any]]:
    """200,000 packets and more, without a loss.

    100 Gbit/s of frames are OVERHEAD / size more than the line carries. Until some wait in front of it for good it stands idle for as long
    as half of size / OVERHEAD frames take, on average; five times that is allowed.
    """
    length = IMIX_BYTES if size == "imix" else float(str(size))
    microseconds = 202_000 * (length + OVERHEAD) * 8 / LINE_BPS * 1e6
    result, raw = run(size, f"{microseconds:.0f} us", engine)
    assert result["packets"]["in"] >= 200_000
    if size != "imix":
        check_line_rate(length, result, round(microseconds), 20 + 5 * length / (2 * OVERHEAD))
    assert result["packets"]["dropped"] == {} and result["ingress_lost"]["packets"] == 0
    return result, raw


@pytest.mark.slow
@pytest.mark.parametrize("size", [*SIZES, "imix"])
def test_long_runs(size: object) -> None:
    long_run(size)


@pytest.mark.slow
@pytest.mark.parametrize("size", [*SIZES[::5], "imix"])
def test_long_runs_on_the_rtl(size: object) -> None:
    """Every fifth size: each packet leaves in the same cycle as on the model engine."""
    (rtl, raw_rtl), (model, raw_model) = long_run(size, "rtl"), long_run(size)
    for key in ("packets", "bytes", "latency_ns", "memories"):
        assert rtl[key] == model[key], key
    for key in ("cycle", "queue"):
        assert (np.asarray(raw_rtl["departures"][key]) == np.asarray(raw_model["departures"][key])).all(), key
