# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Values as careless users write them: the error says where it is wrong and what to do."""

import time
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs import design
from penstock.designs.p4_switch.tables import value
from penstock.errors import UserError
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration

START = "device: { config: demo_64 }\nduration: 1 ms\n"
TRAFFIC = "traffic:\n  - constant: { queues: 0, rate: 1 Mbit/s, size: 100 }\n"


def said(place: Path, text: str) -> str:
    """Return the error of a scenario, without its file."""
    path = place / "x.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        described, document = scenario.load(path)
        design.load("access_edge").plan(described, document, configuration(described, document), "model")
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (START + "traffic:\n  - constant: { queues: 0, rate: 5,000,000, size: 100 }\n", ":4: has a number with commas, and { } around it"),
        (
            START + "traffic:\n  - constant: { queues: 0, rate: 5,000, size: 100 }\n",
            ":4: `traffic.0.constant.0` is not a known key; within { } a comma ends a value: write numbers without commas, or in quotes",
        ),
        (START + 'traffic:\n  - constant: { queues: 0, rate: "0,1", size: 100 }\n', "must be a rate"),
        (START + "traffic:\n  - constant: { queues: 0, rate: , size: 100 }\n", "`traffic.0.constant.rate` is empty; give a value"),
        (START + TRAFFIC + "seed:\n", "`seed` is empty; give a value or leave it out"),
        (
            START + "queues:\n  - { id: 0, name: a, rate: }\n" + TRAFFIC,
            '`queues.a.rate` is empty; give a value or leave it out or write "unshaped" for no limit',
        ),
        (
            START
            + 'traffic:\n  - constant: { queues: "a.b", rate: 1 Mbit/s, size: 100 }\nqueues:\n  - { id: 0, name: a.b, rate: 1 Mbit/s }\n',
            ":6: `queues.a.b.name` must be a name that begins with a letter",
        ),
        (
            START + "queues:\n  - { id: 0, name: " + "a" * 100_000 + " }\n" + TRAFFIC,
            "must be a name of at most 200 characters, not 100,000",
        ),
    ],
)
def test_says_what_to_do(tmp_path: Path, text: str, words: str) -> None:
    found = said(tmp_path, text)
    assert words in found and len(found) < 400, found
    if found.endswith("give a value"):
        assert "leave" not in found


def test_nodes_of_changes_are_checked_before_they_are_looked_up(tmp_path: Path) -> None:
    for kind, key, wrong, words in (
        ("subscribers", "node", 4, "`changes.0.set.node` is 4, but configuration tree_64 has nodes 0 to 3"),
        ("nodes", "port", 2, "`changes.0.set.port` is 2, but configuration tree_64 has ports 0 to 1"),
    ):
        text = START.replace("demo_64", "tree_64") + TRAFFIC + f"changes:\n  - {{ at: 500 us, {kind}: 0, set: {{ {key}: {wrong} }} }}\n"
        assert words in said(tmp_path, text)


def test_an_address_is_of_the_length_of_its_key() -> None:
    assert value("::1", 128, "x") == 1 and value("10.0.0.1", 32, "x") == 0x0A000001 and value("10.0.0.1", 128, "x") == 0x0A000001
    for text, bits in (("::", 32), ("::1", 48), ("0.0.0.1", 16)):
        with pytest.raises(UserError, match=f"is an address of (128|32) bits, not of {bits}"):
            value(text, bits, "x")


def test_many_entries_take_seconds(tmp_path: Path) -> None:
    """What is read, checked and planned grows with the entries, not with their square: eight times as many take no 20 times as long."""
    took = []
    for count in (100, 800):
        rows = "".join(f"  - constant: {{ queues: {number % 64}, rate: 1 kbit/s, size: 100 }}\n" for number in range(count))
        path = tmp_path / f"{count}.yaml"
        path.write_text(START + "traffic:\n" + rows)
        begin = time.process_time()
        described, document = scenario.load(path)
        design.load("access_edge").plan(described, document, configuration(described, document), "model")
        took.append(time.process_time() - begin)
    assert took[1] < 20 * took[0], took


def test_serve_that_is_refused_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An address that is not local without TLS, and a store in a folder that there is not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.yaml").write_text(START + TRAFFIC)
    store = tmp_path / "kept.sqlite"
    assert main(["serve", "x.yaml", "--listen", "192.0.2.1:7443", "--store", str(store)]) == 2
    assert "is not local, so it needs --tls-cert" in capsys.readouterr().err
    assert main(["serve", "x.yaml", "--listen", "192.0.2.1:7443"]) == 2
    assert main(["serve", "x.yaml", "--store", str(tmp_path / "nodir" / "x")]) == 2
    assert f"--store {tmp_path / 'nodir' / 'x'}: there is no folder" in capsys.readouterr().err.replace("\n", " ")
    assert sorted(path.name for path in tmp_path.rglob("*")) in (["x.yaml"], ["results", "x.yaml"])


def test_compare_wants_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(tmp_path), str(tmp_path), "--out", "page.html"]) == 2
    assert "--out page.html: names a folder, in which comparison.html is written" in capsys.readouterr().err
