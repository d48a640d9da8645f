# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""docs/how-to/serve.md: its very commands, in their order, against the device that it serves; and what it says comes out."""

import json
import re
import shlex
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.paths import ROOT

PAGE = (ROOT / "docs" / "how-to" / "serve.md").read_text()
SECONDS = 60.0  # at most for anything that must come
HEAVY, BEST_EFFORT = "home-1", 3


def lines_of(page: str, section: str) -> list[list[str]]:
    """Return the commands of a section as words, without `./penstock`."""
    (text,) = re.findall(rf"^## \d\. {section}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    found = [shlex.split(line) for line in re.findall(r"^    (\S.*)$", text, re.MULTILINE)]
    assert found and all(words[0] == "./penstock" for words in found), section
    return [words[1:] for words in found]


class Terminals:
    """A folder in which the page's commands run, with a control socket of its own, and the server that its first command starts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        (folder / "scenarios").symlink_to(ROOT / "scenarios")
        (folder / "run").mkdir(mode=0o700)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
        monkeypatch.setenv("COLUMNS", "200")
        self._said = folder / "server.txt"
        self._server: subprocess.Popen[bytes] | None = None
        self.url = ""

    def serve(self, words: list[str]) -> None:
        """Start the server of the page, at any free port, and wait until it is ready."""
        assert words[0] == "serve" and words[-2:] == ["--http", "127.0.0.1:8080"]
        command = [sys.executable, "-P", "-m", "penstock", *words[:-1], "127.0.0.1:0"]
        with self._said.open("w") as log:
            self._server = subprocess.Popen(command, stdout=log, stderr=log)
        until(lambda: "Ctrl-C ends it" in self.server_says(), "the server is not ready")
        (self.url,) = re.findall(r"http://127\.0\.0\.1:\d+", self.server_says())

    def server_says(self) -> str:
        """Return what the server has printed; it must still be there."""
        assert self._server and self._server.poll() is None, self._said.read_text()
        return " ".join(self._said.read_text().split())

    def run(self, words: list[str]) -> str:
        """Return what a command prints, lines and single spaces; it must end well."""
        self._capsys.readouterr()
        status, said = main(words), self._capsys.readouterr()
        assert status == 0, (words, said.err)
        return "\n".join(" ".join(line.split()) for line in said.out.splitlines())

    def show(self, name: str = HEAVY) -> dict[str, int]:
        """Return the counters of a home, its queues added up, as `subscriber show` has them."""
        queues = json.loads(self.run(["ctl", "subscriber", "show", name, "--json"]))["counters"]
        return {key: sum(queue[key] for queue in queues) for key in ("in_packets", "out_packets", "queued_packets", "dropped_packets")}

    def web(self, path: str) -> Any:
        """Return what the page reads."""
        with urllib.request.urlopen(f"{self.url}{path}", timeout=SECONDS) as answer:
            return json.load(answer)

    def close(self) -> None:
        """End the server."""
        if self._server:
            self._server.terminate()
            self._server.wait(SECONDS)


def until(true: Callable[[], Any], otherwise: str) -> None:
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end, otherwise
        time.sleep(0.1)


@pytest.fixture
def terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Terminals]:
    made = Terminals(tmp_path, monkeypatch, capsys)
    try:
        yield made
    finally:
        made.close()


def test_the_page(terminals: Terminals) -> None:
    (serve,) = lines_of(PAGE, "Serve")
    (csv,) = re.findall(r"```csv\n(.*?)```", PAGE, re.DOTALL)
    terminals.serve(serve)
    (terminals.folder / "homes.csv").write_text(csv)

    imported, listed = [terminals.run(words) for words in lines_of(PAGE, "Provision")]
    (said,) = re.findall(r"The first says what it did, `(.*?)`", PAGE)
    assert imported.startswith(said)
    homes = [line.split()[0] for line in listed.splitlines() if line.startswith("home-")]
    assert homes == ["home-1", "home-2", "home-3"]

    before = terminals.show()
    until(lambda: terminals.show()["out_packets"] > before["out_packets"] + 50, "the counters of home-1 do not grow")
    until(lambda: len(terminals.web("/api/top?by=rate")["queues"]) >= 3, "the page has no rates")
    shown, top = [terminals.run(words) for words in lines_of(PAGE, "Watch")]
    assert f"{HEAVY} 34,999 0 100 Mbit/s - 1 4 open" in shown
    leaders = {line.split()[0] for line in [line for line in top.splitlines() if line.startswith("home-")][:2]}
    assert leaders == {"home-1", "home-2"}, top
    at_rest = terminals.show()["queued_packets"]

    close, show = lines_of(PAGE, "Close the gate")
    terminals.run(close)
    assert f"{HEAVY} 34,999 0 100 Mbit/s - 1 4 closed" in terminals.run(show)
    held = terminals.show()  # what was on its way when the gate closed has left
    other = terminals.show("home-2")
    until(lambda: terminals.show()["queued_packets"] > held["queued_packets"] + 50, "nothing is held behind the gate")
    now = terminals.show()
    assert now["out_packets"] == held["out_packets"], "packets leave a gate that is closed"
    assert now["queued_packets"] - held["queued_packets"] == now["in_packets"] - held["in_packets"] > 50
    until(lambda: terminals.show("home-2")["out_packets"] > other["out_packets"], "the other homes notice it")
    until(lambda: terminals.web(f"/api/subscriber?name={HEAVY}")["queues"][BEST_EFFORT]["queued_packets"] > at_rest + 50,
          "the page does not show what is held")  # fmt: skip

    opened, show = lines_of(PAGE, "Open it")[:2]
    terminals.run(opened)
    assert f"{HEAVY} 34,999 0 100 Mbit/s - 1 4 open" in terminals.run(show)
    until(lambda: terminals.show()["out_packets"] >= now["in_packets"], "what was held does not leave")
    until(lambda: terminals.show()["queued_packets"] <= at_rest + 5, "the queue does not drain")
    assert terminals.show()["dropped_packets"] == before["dropped_packets"]
    (differ,) = [terminals.run(words) for words in lines_of(PAGE, "Open it")[2:]]
    assert differ == "0 settings differ"
