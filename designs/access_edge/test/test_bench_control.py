# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`bench control`: what its figures are of. How fast anything is depends on the machine, and no test asks for that."""

import json
import os
import struct
import threading
import time
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.bench import control
from penstock.engine import engine

DELAY_US = 20_000


def test_the_figures_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    """All kinds of calls, and none through the line is faster than the line there and back."""
    given = {"subscribers": 200, "unary": 10, "streams": 1, "traffic_mbps": 100, "delay_us": DELAY_US}
    assert main(["bench", "control", *(part for pair in given.items() for part in ("--set", "=".join(map(str, pair)))), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for key in ("calls_per_second", "queues_per_second"):
        assert list(found[key]) == ["raw", "unary", "batch", "stream", "remote"] and min(found[key].values()) > 0
    of_registers = found["register_calls"]
    assert list(of_registers) == ["in_process", "mapped"]
    for places in of_registers.values():
        assert list(places) == ["local", "remote"]
        for one in places.values():
            assert list(one) == ["grpc", "write", "read", "write_to_grpc", "read_to_grpc"] and min(one.values()) > 0
    through = [one["remote"][kind] for one in of_registers.values() for kind in ("grpc", "write", "read")]
    assert max(*through, found["calls_per_second"]["remote"]) <= 1e6 / (2 * DELAY_US)
    for spent in found["server_processor_us_per_call"].values():
        # Ten calls take less than a tick of the clock, and the device runs on while its time is read: either sign, below a second in all.
        assert list(spent) == ["grpc", "change"] and all(abs(one) < 1e5 for one in spent.values())
    assert list(found["unary_to_grpc"]) == list(found["unary_calls_per_second"]) == ["1", "8"]


def test_calls_for_a_register_reach_it(tmp_path: Path) -> None:
    """In a file of a card's shape the register that is written has the last value, and no other word has changed."""
    engine.build()
    file = control._file_of_a_card(tmp_path)
    with control._served(tmp_path, ["--pcie", str(file)]) as (address, _), control._callers(address, 1, 1) as callers:
        before = file.read_bytes()  # the start has read back where nodes hang
        assert callers.rate("write", range(5, 12)) > 0 and callers.rate("read", range(3)) > 0
    at = registers.address(control.REGISTER)
    after = file.read_bytes()
    assert struct.unpack_from("<I", after, at) == (11,)
    assert (after[:at], after[at + 4 :]) == (before[:at], before[at + 4 :])


def test_threads_that_have_ended_count() -> None:
    """A thread's processor time is the process's, before it has ended and after; what is left out is left out."""
    before, spent = control._processor_seconds(os.getpid()), 0.0

    def work() -> None:
        nonlocal spent
        while (spent := time.thread_time()) < 0.3:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    found = control._processor_seconds(os.getpid()) - before
    assert spent - 0.1 < found < spent + 0.5
    (name, _) = control._ticks(Path("/proc/self"))
    assert control._processor_seconds(os.getpid(), (name,)) < before + found


def test_ratios_are_of_a_round() -> None:
    """A machine that is slow for a while is so for all kinds of a round: it changes no ratio."""
    rounds = iter([(1, 0.9), (8, 0.9), (8, 0.9), (1, 0.2), (2, 0.2)])  # how slow the machine is, and what calls that read take

    class Callers:
        def made(self, calls: int) -> int:
            return calls

        def rate(self, kind: str, numbers: range) -> float:
            assert len(numbers) == 20
            if kind == "grpc":
                (slow, self.read), self.taken = next(rounds), numbers
                self.speed = 1000 / slow
            assert numbers == self.taken
            return self.speed * {"grpc": 1.0, "change": 0.25, "read": self.read}[kind]

    found = control._rounds(Callers(), 100, ("grpc", "change", "read"))  # type: ignore[arg-type]
    assert found == {"grpc": 500, "change": 125, "read": 112.5, "change_to_grpc": 0.25, "read_to_grpc": 0.9}


def test_processor_time_is_of_the_calls_that_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight clients make eight calls where two are asked for: the server's time is divided by all of them."""
    pipes = [object()] * 8
    spent = 0.0

    class Callers(control._Callers):
        def rate(self, kind: str, numbers: range) -> float:
            nonlocal spent
            spent += 1e-4 * 8 * -(-len(numbers) // 8)
            return 1.0

    monkeypatch.setattr(control, "_of_calls", lambda process: spent)
    for calls in (10, 100, 200):
        found = control._rounds(Callers(pipes), calls, ("grpc",), process=1)
        assert found["grpc_processor_us"] == pytest.approx(100), calls
