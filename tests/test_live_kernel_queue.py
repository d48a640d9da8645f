# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A queue of this machine's kernel between hosts of a live run: what its packets waited, and that it is the queue that was asked for."""

import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from penstock.engine.run import RunError
from penstock.errors import UserError
from penstock.live import bulk, kernel_guest, kernel_hosts, kernel_queue, kernel_router, kernel_uml, stage
from penstock.network import spaces
from penstock.paths import ROOT
from penstock.scenarios import scenario

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


def test_rows_of_the_ring() -> None:
    """A packet of data is a row with its source port and number; acknowledgements, ARP, IPv6 and packets of other hosts are none."""

    def in_ring(kind: int, total: int = 1500, ether: int = 0x0800, first: int = 0x45) -> bytes:
        ip = struct.pack(">BBHHHBBH4s4s", first, 0, total, 0xABCD, 0, 64, 6, 0, bytes(4), bytes(4))
        frame = bytes(12) + struct.pack(">H", ether) + ip + struct.pack(">HH", 5201, 40_000)
        head = struct.pack("IIIHHII", 1, 14 + total, len(frame), 82, 96, 3, 7).ljust(kernel_guest.KIND) + bytes([kind])
        return (bytes(5) + head.ljust(82, b"\0") + frame).ljust(300)

    came = struct.pack(kernel_guest.ROW, 5201 << 16 | 0xABCD, 1514, 0, 3 * 10**9 + 7)
    assert kernel_guest.row(in_ring(0), 5) == came and struct.calcsize(kernel_guest.ROW) == kernel_router.ROW.itemsize
    left = np.frombuffer(kernel_guest.row(in_ring(4), 5), dtype=kernel_router.ROW)[0]
    assert (left["key"], left["bytes"], left["left"], left["ns"]) == (5201 << 16 | 0xABCD, 1514, 1, 3 * 10**9 + 7)
    for other in (in_ring(3), in_ring(0, total=52), in_ring(0, ether=0x0806), in_ring(0, ether=0x86DD), in_ring(0, first=0x46)):
        assert kernel_guest.row(other, 5) == b""


def test_times_are_those_of_the_run() -> None:
    """The kernel's clock begins anywhere; the first packet of data in the device, not the handshake, says where the run is."""
    device = bulk.Transfer({"name": "x"}, np.array([0.1, 0.3, 0.4]), np.zeros(3), np.array([74, 1514, 1514]), 1e6)
    waits = rows((1, 1514, 0, 10**15), (2, 1514, 0, 10**15 + 1), (1, 1514, 1, 10**15 + 10**6), (2, 900, 1, 10**15 + 10**8), (3, 900, 0, 5))
    found = kernel_queue.seen(device, kernel_router.waits(waits), 0.39)
    assert found.time_s.tolist() == [0.3] and found.sojourn_ms.tolist() == [1.0] and found.length.tolist() == [1514]
    assert found.result["kernel_dropped"] == 1 and found.goodput_bps == 1e6
    assert kernel_queue.seen(device, kernel_router.waits(waits), 1.0).time_s.tolist() == pytest.approx([0.3, 0.399])


def test_what_is_asked_of_the_router(monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue in words of tc behind a token bucket of the rate; CAKE, which has a rate itself, alone."""
    seen: list[str] = []

    def refuse(_scenario: Path, settings: list[str], *_: object, **__: object) -> bulk.Transfer:
        seen.extend(settings)
        raise RunError("enough")

    monkeypatch.setattr(bulk, "run", refuse)
    with pytest.raises(RunError, match="enough"):
        kernel_queue.run("pfifo limit 10", 10**6, 1000, 1, 1, "cubic", 1.0)
    document, *_ = scenario.load(ROOT / kernel_queue.SCENARIO, seen)
    asked = document.network.ends[1].kernel_queue
    assert (asked.queue, asked.rate) == ("pfifo limit 10", 10**6)
    assert kernel_hosts.commands(asked.rate, asked.queue) == (
        "qdisc replace dev net0 root handle 1: tbf rate 1000000bit burst 3000 limit 100000000;"
        "qdisc replace dev net0 parent 1: handle 10: pfifo limit 10"
    )
    assert kernel_hosts.commands(None, "cake bandwidth 1mbit") == "qdisc replace dev net0 root cake bandwidth 1mbit"


def test_words_that_are_no_queue_are_refused() -> None:
    with pytest.raises(UserError, match=r'kernel_queue\.queue` must be a queue in words of tc, such as "fq_codel limit 1000", not'):
        scenario.load(ROOT / kernel_queue.SCENARIO, ["network.ends.router.kernel_queue.queue=codel; reboot"])


def test_a_kernel_of_its_own_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the package, and with a package that has no such queue: one sentence, exit status 2."""
    monkeypatch.setattr(kernel_hosts, "_missing_here", lambda queue: "the kernel of this machine has no queue `codel`")
    monkeypatch.setattr(kernel_guest, "MODULES", str(tmp_path))
    ends = scenario.load(ROOT / kernel_queue.SCENARIO)[0].network.ends
    monkeypatch.setattr(kernel_uml, "PROGRAM", "linux.nowhere")
    with pytest.raises(UserError) as refused:
        kernel_hosts.need(ends)
    assert str(refused.value) == (
        "live: router has no `kernel_queue` here: the kernel of this machine has no queue `codel`, and linux.nowhere, a kernel that has "
        "it, is not on the PATH (Debian: `apt-get install user-mode-linux`)"
    )
    monkeypatch.setattr(kernel_uml, "PROGRAM", "sh")
    with pytest.raises(UserError, match="and sh has no queue `codel` either$"):
        kernel_hosts.need(ends)
    (tmp_path / "6.1/kernel/net/sched").mkdir(parents=True)
    (tmp_path / "6.1/kernel/net/sched/sch_codel.ko").write_text("")
    kernel_hosts.need(ends)
    assert kernel_uml.release() == "6.1"


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
    assert "linux.uml" in why


@pytest.mark.slow
@pytest.mark.skipif(WITHOUT is not None or shutil.which("iperf3") is None, reason=f"no namespaces here, or no iperf3: {WITHOUT}")
def test_tail_drop_of_the_kernel() -> None:
    """200 places of 1,514 byte at 24 Mbit/s are 101 ms: so long a packet waits at most, and the link is full."""
    found = kernel_queue.run("pfifo limit 200", 24_000_000, 20_000, 1, 3, "cubic", 10.0)
    late = found.time_s > 4
    print(f"mean {found.sojourn_ms[late].mean():.1f} ms, longest {found.sojourn_ms.max():.1f} ms, {found.result['kernel_dropped']} dropped")
    assert 8e-6 * found.length[late].sum() / 6 == pytest.approx(24, rel=0.05)
    assert 50 < found.sojourn_ms[late].mean() < np.quantile(found.sojourn_ms, 0.99) < 110 and found.result["kernel_dropped"] > 0


NO_CODEL = WITHOUT or kernel_queue.missing() or (None if shutil.which("iperf3") else "iperf3 is not on the PATH")


@pytest.mark.slow
@pytest.mark.skipif(NO_CODEL is not None, reason=f"no CoDel of the Linux kernel here: {NO_CODEL}")
def test_codel_of_the_kernel() -> None:
    """Three connections through 24 Mbit/s and 20 ms: the link is full, and packets wait some 5 to 15 ms, as ns-3 and the device say."""
    found = kernel_queue.run(kernel_queue.CODEL, 24_000_000, 20_000, 1, 3, "cubic", 12.0)
    late = found.time_s > 5
    mean, carried = found.sojourn_ms[late].mean(), 8e-6 * found.length[late].sum() / 7
    print(f"mean {mean:.1f} ms, longest {found.sojourn_ms.max():.1f} ms, {carried:.2f} Mbit/s, {found.result['kernel_dropped']} lost")
    assert carried == pytest.approx(24, rel=0.06) and 3 < mean < 16
    assert "codel" in found.result["kernel_queues"]["router"]["words"] and found.result["kernel_dropped"] > 5


@pytest.mark.skipif(WITHOUT is not None, reason=f"no namespaces here: {WITHOUT}")
def test_a_router_refuses_to_change_the_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there are other interfaces it is not on a host of a run, and leaves everything as it is."""
    monkeypatch.setattr(kernel_router.sys, "argv", ["router", "net0", "/dev/null", "qdisc", "show"])
    monkeypatch.setattr(kernel_router.socket, "if_nameindex", lambda: [(1, "lo"), (2, "eth0")])
    monkeypatch.setattr(kernel_guest.subprocess, "run", None)
    assert kernel_router.main() == 2 and "there is more than net0 here" in capsys.readouterr().out
