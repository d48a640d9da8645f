# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A server that stands by: it waits for the store of another one, and has all that was acknowledged when that one was killed."""

import contextlib
import threading
import time
from pathlib import Path

import grpc
import pytest

from penstock.command_line.app import main
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.testing.control import home, processes, small_device
from penstock.errors import UserError
from penstock.v1 import device_pb2, subscribers_pb2


def test_take_over_from_a_server_that_is_killed(tmp_path: Path) -> None:
    """Twice, in the middle of changes: the second takes over from the first, and the first, started again, from the second."""
    device, control, store = tmp_path / "d.sock", f"unix:{tmp_path / 'c.sock'}", tmp_path / "intent.sqlite"
    acknowledged: list[str] = []
    ended = threading.Event()

    def change() -> None:
        """Make one subscriber after the other, whoever serves."""
        for number in range(16):
            while not ended.is_set():
                with contextlib.suppress(UserError, grpc.RpcError), Client(control) as client:
                    wanted = home(f"home-{number}", node=number % 4)
                    request = subscribers_pb2.CreateSubscriberRequest(subscriber=wanted, request_id=f"make {number}")
                    client.subscribers.Create(request)
                    acknowledged.append(wanted.name)
                    break
            time.sleep(0.02)

    with processes(tmp_path) as start:
        start(str(small_device(tmp_path)), "--as-device", str(device))
        both = ("--device", str(device), "--store", str(store), "--listen", control, "--standby")
        serves, waits = start(*both), start(*both)
        assert "Standing by: another server has" in (tmp_path / "log-2").read_text()
        worker = threading.Thread(target=change)
        worker.start()
        try:
            for turn in range(2):
                log = tmp_path / f"log-{2 + turn}"
                before = len(acknowledged)
                while len(acknowledged) < min(before + 3, 16):
                    assert worker.is_alive()
                    time.sleep(0.01)
                began = time.monotonic()
                serves.kill()
                serves.wait()
                while "Serving" not in log.read_text():
                    assert waits.poll() is None, log.read_text()
                    time.sleep(0.01)
                print(f"took over within {time.monotonic() - began:.2f} s")
                serves, waits = waits, start(*both)
            worker.join(60)
            assert not worker.is_alive()
        finally:
            ended.set()
            worker.join()
        with Client(control) as client:
            there = [one.name for one in client.list()]
            assert len(acknowledged) == 16 and set(acknowledged) <= set(there) and len(there) == 16
            assert client.device.Diff(device_pb2.DiffRequest()).count == 0
        serves.terminate()  # an end as any other lets it in, too
        assert serves.wait() == 0
        with contextlib.closing(wait_for(control)) as client:
            assert [one.name for one in client.list()] == there


def wait_for(control: str) -> Client:
    """Return a client as soon as somebody serves."""
    while True:
        with contextlib.suppress(UserError):
            return Client(control)


def test_what_a_standby_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = str(small_device(tmp_path))
    for more in (("--standby",), ("--standby", "--store", str(tmp_path / "i.sqlite"), "--restore", str(tmp_path / "b"))):
        assert main(["serve", scenario, *more]) == 2
        assert "--standby needs --store, the file of the server that it stands by for" in " ".join(capsys.readouterr().err.split())
