# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`serve` as a service: configuration file, log, what it tells systemd, and the page that says so."""

import configparser
import logging
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line import service
from penstock.command_line.app import main
from penstock.command_line.service import ServiceFile
from penstock.errors import UserError
from penstock.paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "service.md").read_text()
SECONDS = 120.0
SCENARIO = (
    "device: { config: tree_64 }\nduration: 1 s\ndrain: false\n"
    "traffic:\n  - { poisson: { queues: 0-63, pick: random, rate: 10 Mbit/s, size: 500 } }\n"
)


def load(folder: Path, text: str) -> ServiceFile:
    path = folder / "serve.yaml"
    path.write_text(text)
    return ServiceFile.load(path)


def test_the_file_of_the_page(tmp_path: Path) -> None:
    """It is a right one; the table names each key; files are beside it."""
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    found = load(tmp_path, text)
    assert found.pcie and found.pcie.endswith("/resource0") and found.http == "127.0.0.1:8080" and found.log == "info"
    assert found.listen == ("unix:/run/penstock/control.sock", "0.0.0.0:7443")
    assert found.tls and found.tls.key == str(tmp_path / "server.key")
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `") and "--" in line]
    keys = set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert keys == set(ServiceFile.known_keys())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("scenaro: a.yaml", ":1: `scenaro` is not a known key; did you mean 'scenario'?"),
        ("scenario: a.yaml\npcie: /x", ":2: `pcie` cannot stand beside `scenario`: a server has one device"),
        ("log: loud", ":1: `log` must be"),
        ("engine: fast", ":1: `engine` must be"),
        ("listen: 5", ":1: `listen`"),
        ("set: [a=1]", ":1: `set` must be keys of the scenario with their values"),
        ("tls: { certificate: a, key: b }", "`tls.clients`"),
        ("http:", ":1: `http` is empty; give a value or leave it out"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, text + "\n")
    assert words in str(caught.value).replace(str(tmp_path / "serve.yaml"), ""), caught.value
    assert main(["serve", "--config", str(tmp_path / "serve.yaml")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such file"):
        ServiceFile.load(tmp_path / "serve.yaml")


def test_sockets_and_settings(tmp_path: Path) -> None:
    found = load(tmp_path, "scenario: s.yaml\nlisten: unix:run/c.sock\nset: { device.config: tree_64, seed: 3 }\nstore: kept/i.sqlite\n")
    assert found.listen == (f"unix:{tmp_path}/run/c.sock",) and found.set == ("device.config=tree_64", "seed=3")
    assert (found.scenario, found.store) == (str(tmp_path / "s.yaml"), str(tmp_path / "kept/i.sqlite"))


@pytest.mark.parametrize("given", [["--log", "loud"], []])
def test_what_is_missing(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *given]) == 2
    assert ("--log loud: must be debug, info, warning, error" if given else "--config") in capsys.readouterr().err


# ---- the log


def lines_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], level: str, journal: bool) -> list[str]:
    monkeypatch.delenv("JOURNAL_STREAM", raising=False)
    if journal:
        monkeypatch.setenv("JOURNAL_STREAM", "8:1")
    with service.logged(level):
        for each in (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR):
            logging.getLogger("penstock.control").log(each, "one\n line of %d", each)
    assert not logging.getLogger("penstock").handlers
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(("level", "lines"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_levels(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], level: str, lines: int) -> None:
    """A line has time and level, also where its words have more lines than one; below the level nothing is logged."""
    found = lines_of(monkeypatch, capsys, level, journal=False)
    assert len(found) == lines and found[-1].endswith("Z error: one line of 40")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warning|error): one line of \d\d", line) for line in found)


def test_the_journal_has_times_of_its_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert lines_of(monkeypatch, capsys, "info", journal=True) == ["<6>one line of 20", "<4>one line of 30", "<3>one line of 40"]


# ---- systemd


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool) -> None:
    name = f"\0penstock-{tmp_path.name}-{time.monotonic_ns()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as there:
        there.bind(name)
        there.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", name.replace("\0", "@"))
        service.notify("READY=1")
        assert there.recv(100) == b"READY=1"
    service.notify("STOPPING=1")  # it is gone: that is no reason to end
    monkeypatch.setenv("NOTIFY_SOCKET", "vsock:1:2")
    service.notify("READY=1")


def test_the_unit_of_the_page(tmp_path: Path) -> None:
    """It is one, by systemd's own check where there is one, and its command is ours."""
    (text,) = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)
    unit = configparser.ConfigParser(strict=True)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(text)
    assert unit["Service"]["Type"] == "notify"
    program, *words = shlex.split(unit["Service"]["ExecStart"])
    assert (Path(program).name, words[:2]) == ("penstock", ["serve", "--config"])
    if check := shutil.which("systemd-analyze"):
        made = tmp_path / "penstock.service"
        made.write_text(text.replace(program, "/bin/true").replace("User=penstock", "User=root"))
        said = subprocess.run([check, "verify", str(made)], capture_output=True, text=True, check=False)
        assert "penstock.service" not in said.stderr, said.stderr


def test_from_start_to_end(tmp_path: Path) -> None:
    """By its file alone: it is ready once a client can come, says so to the service manager and in its log, and ends with status 0."""
    (tmp_path / "s.yaml").write_text(SCENARIO)
    (tmp_path / "serve.yaml").write_text("scenario: s.yaml\nstore: i.sqlite\nlisten: unix:c.sock\nhttp: 127.0.0.1:0\nlog: debug\n")
    log: Any = tmp_path / "log"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(SECONDS)
        command = [sys.executable, "-P", "-m", "penstock", "serve", "--config", str(tmp_path / "serve.yaml")]
        environment = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
        with log.open("w") as out:
            server = subprocess.Popen(command, stdout=out, stderr=out, env=os.environ | environment)
        try:
            assert manager.recv(100) == b"READY=1"
            place = f"unix:{tmp_path / 'c.sock'}"
            assert main(["ctl", "--server", place, "subscriber", "add", "home-1", "--queue", "class=0"]) == 0
            server.send_signal(signal.SIGTERM)
            assert manager.recv(100) == b"STOPPING=1"
            assert server.wait(SECONDS) == 0
        finally:
            server.kill()
            server.wait()
    said = log.read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z (debug|info): ", line) for line in said), said
    text = "\n".join(said)
    assert "Ctrl-C ends it" in text and "Create OK" in text and "home-1" in text and said[-1].endswith("info: Ended by SIGTERM.")


# ---- the API


def test_the_page_of_the_api_is_fresh() -> None:
    """Modules and page are what the files of the protocol make."""
    command = [sys.executable, str(ROOT / "tools/generate_protocol.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs/api.md").read_text()
    for words in ("### Service Subscribers", "`Provision`", "stream of [ProvisionRequest](#provisionrequest)", "### Memory.Class"):
        assert words in page, words
    anchors = {re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.*)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= anchors


def test_files_of_the_protocol_have_their_old_names_too() -> None:
    from penstock.v1 import hierarchy_pb2, hierarchy_pb2_grpc, tree_pb2, tree_pb2_grpc

    assert tree_pb2.Node is hierarchy_pb2.Node and tree_pb2_grpc.NodesStub is hierarchy_pb2_grpc.NodesStub
