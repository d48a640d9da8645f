# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A queue of this machine's kernel between hosts of a live run: what its packets waited, and that it is the queue that was asked for."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from penstock.engine.run import RunError
from penstock.live import bulk, kernel_queue, kernel_router, stage
from penstock.network import spaces
from penstock.paths import ROOT

WITHOUT = spaces.problem()


def rows(*given: tuple[int, int, int, int]) -> np.ndarray:
    return np.array(list(given), dtype=kernel_router.ROW)


def test_what_came_and_left_is_matched() -> None:
    """By connection and number, in the order in which they left; a number comes again, and then the earlier packet is lost."""
    found = kernel_router.waits(
        rows(
            (7, 1514, 0, 100),
            (8, 1514, 0, 200),
            (7, 1514, 1, 350),
            (9, 300, 0, 400),
            (8, 1514, 1, 900),
            (7, 1514, 0, 1000),
            (5, 1514, 1, 1100),
            (7, 1514, 0, 1200),
            (9, 300, 1, 1300),
        )  # fmt: skip
    )
    assert found.left_ns.tolist() == [350, 900, 1300] and found.waited_ns.tolist() == [250, 700, 900]
    assert found.length.tolist() == [1514, 1514, 300] and found.lost == 2
    nothing = kernel_router.waits(rows())
    assert len(nothing.left_ns) == 0 and nothing.lost == 0


def test_times_are_those_of_the_run() -> None:
    """The kernel's clock begins anywhere; the first packet of data in the device, not the handshake, says where the run is."""
    device = bulk.Transfer({"name": "x"}, np.array([0.1, 0.3, 0.4]), np.zeros(3), np.array([74, 1514, 1514]), 1e6)
    waits = rows((1, 1514, 0, 10**15), (2, 1514, 0, 10**15 + 1), (1, 1514, 1, 10**15 + 10**6), (2, 900, 1, 10**15 + 10**8), (3, 900, 0, 5))
    found = kernel_queue.seen(device, waits, 0.39)
    assert found.time_s.tolist() == [0.3] and found.sojourn_ms.tolist() == [1.0] and found.length.tolist() == [1514]
    assert found.result["kernel_dropped"] == 1 and found.goodput_bps == 1e6
    assert kernel_queue.seen(device, waits, 1.0).time_s.tolist() == pytest.approx([0.3, 0.399])


def test_commands_below_a_path_with_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clone's path, and that of temporary files, may have blanks."""
    place = tmp_path / "a b"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr(kernel_queue, "PACKAGE", place / "src" / "penstock")
    seen: list[str] = []

    def refuse(_scenario: Path, settings: list[str], *_: object, **__: object) -> bulk.Transfer:
        seen.extend(settings)
        raise RunError("enough")

    monkeypatch.setattr(bulk, "run", refuse)
    with pytest.raises(RunError, match="enough"):
        kernel_queue.run("pfifo limit 10", 10**6, 1000, 1, 1, "cubic", 1.0)
    (service,) = json.loads(next(one for one in seen if "services" in one).split("=", 1)[1])
    words = shlex.split(service)
    assert words[:3] == ["env", f"PYTHONPATH={place / 'src'}", sys.executable] and len(words) == 9
    assert Path(words[7]).parent.parent == place and words[8].startswith("qdisc replace dev ")


def test_what_iperf3_says_is_kept_below_a_path_with_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a b"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "iperf3").write_text("#!/bin/sh\necho said\n")
    (place / "bin" / "iperf3").chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("PATH", f"{place / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(bulk, "END_SECONDS", 0)
    said: list[str] = []

    def play(live: stage.Live) -> int:
        subprocess.run(live.command, check=True, timeout=30)
        said.extend(path.read_text() for path in place.glob("*/iperf.json"))
        return 1

    monkeypatch.setattr(stage, "carry_out", play)
    with pytest.raises(RunError, match="ended with status 1"):
        bulk.run(ROOT / kernel_queue.SCENARIO, [], "model", 1, 1, "cubic", 1.0, server="server")
    assert said == ["said\n"]


@pytest.mark.skipif(WITHOUT is not None or shutil.which("tc") is None, reason=f"no namespaces here, or no tc: {WITHOUT}")
def test_a_queue_that_the_kernel_lacks_is_named() -> None:
    assert kernel_queue.missing("pfifo limit 10") is None
    why = kernel_queue.missing("nosuch limit 10")
    assert why is not None and why.startswith("the kernel of this machine has no queue `nosuch` (sch_nosuch; ") and "\n" not in why


@pytest.mark.slow
@pytest.mark.skipif(WITHOUT is not None or shutil.which("iperf3") is None, reason=f"no namespaces here, or no iperf3: {WITHOUT}")
def test_tail_drop_of_the_kernel() -> None:
    """200 places of 1,514 byte at 24 Mbit/s are 101 ms: so long a packet waits at most, and the link is full."""
    found = kernel_queue.run("pfifo limit 200", 24_000_000, 20_000, 1, 3, "cubic", 10.0)
    late = found.time_s > 4
    print(f"mean {found.sojourn_ms[late].mean():.1f} ms, longest {found.sojourn_ms.max():.1f} ms, {found.result['kernel_dropped']} dropped")
    assert 8e-6 * found.length[late].sum() / 6 == pytest.approx(24, rel=0.05)
    assert 50 < found.sojourn_ms[late].mean() < np.quantile(found.sojourn_ms, 0.99) < 110 and found.result["kernel_dropped"] > 0


@pytest.mark.skipif(WITHOUT is not None, reason=f"no namespaces here: {WITHOUT}")
def test_a_router_refuses_to_change_the_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there are other interfaces it is not on a host of a run, and leaves everything as it is."""
    monkeypatch.setattr(kernel_router.sys, "argv", ["router", "net0", "/dev/null", "qdisc", "show"])
    monkeypatch.setattr(kernel_router.socket, "if_nameindex", lambda: [(1, "lo"), (2, "eth0")])
    monkeypatch.setattr(kernel_router.subprocess, "run", None)
    assert kernel_router.main() == 2 and "there is more than net0 here" in capsys.readouterr().out
