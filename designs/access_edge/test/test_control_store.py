# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The store while the server goes on: a backup under load and its restoring; certificates that are renewed."""

import contextlib
import logging
import shutil
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.plant import Subscriber
from penstock.designs.access_edge.control.server import Tls, serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, Mirror, home, plant_of, processes, small_device
from penstock.paths import ROOT
from penstock.v1 import device_pb2, queues_pb2, subscribers_pb2

SECONDS = 60.0


def test_a_backup_under_load_is_restored(tmp_path: Path) -> None:
    """It is what was acknowledged up to its revision, no more and no less; the server that begins with it sets the device to it."""
    with processes(tmp_path) as start:
        scenario, store, place = str(small_device(tmp_path)), tmp_path / "i.sqlite", f"unix:{tmp_path / 'c.sock'}"
        first = start(scenario, "--store", str(store), "--listen", place)
        history: dict[int, tuple[str, bool]] = {}  # by version: whose, and whether its gate is closed
        ended = threading.Event()

        def change() -> None:
            with Client(place) as client:
                number = 0
                while not ended.is_set():
                    name = f"home-{number % 12}"
                    with contextlib.suppress(Exception):
                        client.subscribers.Create(subscribers_pb2.CreateSubscriberRequest(subscriber=home(name)))
                    closed = number // 12 % 2 == 0
                    (client.gates.Close if closed else client.gates.Open)(queues_pb2.GateRequest(subscribers=[name]))
                    found = client.subscribers.Get(subscribers_pb2.GetSubscriberRequest(name=name))
                    history[found.version] = name, closed
                    number += 1

        thread = threading.Thread(target=change)
        thread.start()
        try:
            end = time.monotonic() + SECONDS
            while len(history) < 40:
                assert time.monotonic() < end and thread.is_alive()
                time.sleep(0.01)
            with Client(place) as client:
                revision = client.backup(tmp_path / "backup")
            while max(history) <= revision + 30:
                assert time.monotonic() < end and thread.is_alive()
                time.sleep(0.01)
        finally:
            ended.set()
            thread.join()
        assert not list(tmp_path.glob(".backup*")) and (tmp_path / "backup").stat().st_size < 1 << 20
        first.terminate()
        assert first.wait(SECONDS) == 0
        start(scenario, "--store", str(store), "--listen", place, "--restore", str(tmp_path / "backup"))
        expected: dict[str, tuple[int, bool]] = {}
        for version, (name, closed) in sorted(history.items()):
            if version <= revision:
                expected[name] = version, closed
        with Client(place) as client:
            restored = {one.name: (one.version, one.gate_closed) for one in client.list()}
            late = {name for name, (version, _) in restored.items() if version not in history}  # made, and its gate not closed yet
            assert len(late) <= 1 and all(restored[name][0] <= revision for name in late)
            assert {name: one for name, one in restored.items() if name not in late} == {
                name: one for name, one in expected.items() if name not in late
            }
            assert client.device.Diff(device_pb2.DiffRequest()).count == 0
        (kept,) = tmp_path.glob("i.sqlite.2*Z")
        with contextlib.closing(Intent(kept)) as old:
            versions = [Subscriber.FromString(data).version for _, data in old.messages()]
            assert max(versions) > revision, "the store until then had more than the backup"


def test_a_backup_of_a_store_in_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plant = plant_of(Mirror(configs.load(CONFIG)))
    with serving(plant, Sweep(plant), [f"unix:{tmp_path / 'c.sock'}"]) as (place,), Client(place) as client:
        client.provision([home("a"), home("b")])
        assert main(["ctl", "--server", place, "backup", str(tmp_path / "b")]) == 0
        assert "the intent at revision 2," in capsys.readouterr().out
        assert main(["ctl", "--server", place, "backup", str(tmp_path / "no" / "b")]) == 2
        assert "there is no folder" in capsys.readouterr().err
    with contextlib.closing(Intent(tmp_path / "b")) as copy:
        assert len(list(copy.messages())) == 2 and len(copy.audited(10)) == 1


def test_what_cannot_be_restored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence, and the store is as it was."""
    scenario, store = str(small_device(tmp_path)), tmp_path / "i.sqlite"
    with contextlib.closing(Intent(store)) as held:
        (tmp_path / "none").write_text("no store at all " * 100)
        (tmp_path / "good").write_bytes(b"")
        given = ["serve", scenario, "--store", str(store), "--listen", f"unix:{tmp_path / 'c.sock'}", "--restore"]
        for name, words in (("missing", "there is no such file"), ("none", "is no store"), ("good", "another server has it")):
            assert main([*given, str(tmp_path / name)]) == 2
            said = capsys.readouterr().err
            assert words in said and "--restore" in said, said
        assert held.revision() == 0
    assert sorted(path.name for path in tmp_path.iterdir() if "sqlite" in path.name and "-" not in path.name) == ["i.sqlite"]


def test_certificates_are_renewed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """New files hold for new connections, without a new start; wrong ones are logged, and those before them go on to hold."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not there")
    page = (ROOT / "docs" / "how-to" / "certificates.md").read_text()
    script = "\n".join(line for line in page.split("URI:`")[0].splitlines() if line.startswith("    "))

    def make(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        subprocess.run(["sh", "-ec", script], cwd=folder, check=True, capture_output=True)

    def shown(place: str) -> str:
        host, _, port = place.rpartition(":")
        return ssl.get_server_certificate((host, int(port)))

    now, new = tmp_path / "now", tmp_path / "new"
    make(now)
    make(new)
    files = [now / name for name in ("alice.pem", "alice.key", "ca.pem")]
    plant = plant_of(Mirror(configs.load(CONFIG)))
    caplog.set_level(logging.INFO)
    logging.getLogger("penstock").propagate = True
    with serving(plant, Sweep(plant), ["127.0.0.1:0"], Tls(now / "server.pem", now / "server.key", now / "ca.pem")) as (place,):
        with Client(place, *files) as client:
            before = shown(place)
            shutil.copy(new / "server.pem", now)  # without its key: half of a change
            assert shown(place) == before and shown(place) == before
            assert sum("is not the key of" in record.getMessage() for record in caplog.records) == 1
            for name in ("server.key", "ca.pem"):
                shutil.copy(new / name, now)
            assert shown(place) != before and "The certificates were changed" in caplog.text
            assert client.device.Get(device_pb2.GetDeviceRequest()).queues == 64  # who is there stays
        with Client(place, *(new / name for name in ("alice.pem", "alice.key", "ca.pem"))) as other:
            assert other.device.Get(device_pb2.GetDeviceRequest()).queues == 64
