# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What `penstock p4 bmv2` tells simple_switch, and what it says where that is missing. A run itself needs bmv2, and is not here."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from penstock.commands import p4
from penstock.designs.p4_switch import program, runtime_cli, tables
from penstock.designs.p4_switch.bmv2 import played, script, target
from penstock.engine.run import Request, prepare
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.testing.testkit import seed

VECTORS = ROOT / "p4" / "test" / "vectors"
CASES = [("router", ["router"]), ("router_codel", ["router", "router_codel"]), ("router_pie", ["router", "router_pie"])]


def said_again(name: str, files: list[Path], folder: Path) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return what tables hold by the files, what they hold by the commands for bmv2 that were made of these, and the commands."""
    read = program.load(ROOT / "p4" / f"{name}.json")
    first = script.Script(read)
    for file in files:
        runtime_cli.load(first, file)
    commands = first.commands()
    again = tables.Control(read)
    (folder / "again.txt").write_text("".join(f"{line}\n" for line in commands))
    runtime_cli.load(again, folder / "again.txt")
    return first.dictionary(), again.dictionary(), commands


@pytest.mark.parametrize(("name", "parts"), CASES, ids=[name for name, _ in CASES])
def test_the_commands_for_bmv2_say_what_the_files_say(name: str, parts: list[str], tmp_path: Path) -> None:
    wanted, found, commands = said_again(name, [VECTORS / f"{part}.commands" for part in parts], tmp_path)
    assert len(commands) >= 20 and wanted["entries"]
    assert found == wanted


def test_other_commands_are_said_again_too(tmp_path: Path) -> None:
    """Registers, a multicast group of two nodes, mirror sessions to a port and to a group; a table that was cleared stays so."""
    (tmp_path / "more.txt").write_text(
        "mc_mgrp_create 7\nmc_node_create 1 0 2\nmc_node_create 5 3\nmc_node_associate 7 0\nmc_node_associate 7 1\n"
        "mirroring_add 5 3\nmirroring_add_mc 6 7\n"
        "register_write RouterEgress.measure.sojourn_sum 3 4294967296\nregister_reset RouterEgress.measure.sojourn_max\n"
    )
    wanted, found, commands = said_again("router_codel", [tmp_path / "more.txt"], tmp_path)
    assert wanted["mirrors"] and wanted["groups"] and wanted["registers"]
    assert found == wanted
    assert "register_write RouterEgress.measure.sojourn_sum 3 4294967296" in commands


def test_what_was_modified_and_deleted_is_said_as_it_is(tmp_path: Path) -> None:
    """An entry that took the place of a deleted one, too."""
    lines = [f"table_add routes4 forward4 10.0.{n}.0/24 => {n} 0" for n in range(4)]
    more = ["table_delete routes4 1", "table_modify routes4 forward4 3 => 9 0", "table_add routes4 forward4 10.9.0.0/16 => 7 0"]
    (tmp_path / "changed.txt").write_text("\n".join([*lines, *more, "table_delete routes4 0"]))
    wanted, found, commands = said_again("router_codel", [tmp_path / "changed.txt"], tmp_path)
    assert found == wanted and len(wanted["entries"]) == 3
    added = [line for line in commands if line.startswith("table_add")]
    assert [line.partition("=> ")[2] for line in added] == ["0x2 0x0", "0x9 0x0", "0x7 0x0"]


@pytest.mark.parametrize("bps", [24_000_000, 1_000_000_000])
def test_a_line_is_so_many_packets_a_second(bps: int) -> None:
    """To the nearest packet, with what a packet costs on the line besides."""
    (queue,) = script.queues([9], [bps], 1514.0, 24, 64)
    assert abs(queue.packets_per_second * 8 * (1514 + 24) - bps) <= 8 * (1514 + 24) / 2
    assert script.queue_commands([queue]) == [f"set_queue_rate {queue.packets_per_second} 9", "set_queue_depth 64 9"]


def test_bursts_are_those_of_the_engine() -> None:
    """On for a quarter of the time, from the beginning: a frame a microsecond while on, bursts of 1 ms and of 1 us, watched for 0.1 ms."""
    print(f"PENSTOCK_SEED={seed()}")
    random, sizes = np.random.default_rng(seed()), np.full(400, 125)
    for on in (1000, 1):  # cycles, microseconds
        source = {"kind": "onoff", "bps": 1e9, "start_cycle": 50, "stop_cycle": 150, "on_cycles": on, "off_cycles": 3 * on}
        frames = [len(played.times(source, sizes, 1_000_000, random)) for _ in range(3000)]
        assert np.mean(frames) == pytest.approx(25, rel=0.15), on


def test_a_scenario_is_planned_without_bmv2() -> None:
    """The paper's setting: 24 Mbit/s are 1,951 packets of 1,514 byte a second, and its four connections have ends of their own."""
    made = target.plan(prepare(Request(ROOT / "scenarios" / "p4_codel.yaml", [])), None)
    assert [queue.packets_per_second for queue in made["queues"]] == [round(24e6 / 8 / (1514 + 24))] * 4
    assert len({one["ends"] for one in made["job"]["connections"]}) == 4
    assert {one["algorithm"] for one in made["job"]["connections"]} == {"cubic"}, "the kernel's name for it"
    assert any(line.startswith("table_add ") and "forward4" in line for line in made["job"]["commands"])


def test_without_simple_switch_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="simple_switch and simple_switch_CLI are not on the PATH: install p4lang's packages"):
        target.need()


def test_a_scenario_of_another_device_is_refused() -> None:
    told = CliRunner().invoke(p4.group, ["bmv2", str(ROOT / "scenarios" / "hello.yaml"), "--alone"])
    assert isinstance(told.exception, UserError) and "must be one of a P4 device" in str(told.exception)


def test_the_object_says_what_it_is_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As every JSON object does; simple_switch is a stand-in."""
    scenario = ROOT / "scenarios" / "p4_codel.yaml"
    run = prepare(Request(scenario))
    measured = {"seed": 5, "notes": []}
    stand_in = SimpleNamespace(run=lambda *_: dict(measured), compared=lambda *_: [], lines=lambda *_: [])
    monkeypatch.setattr(type(run.design), "targets", lambda _: {"bmv2": stand_in})
    told = CliRunner().invoke(p4.group, ["bmv2", str(scenario), "--alone", "--json", "--out", str(tmp_path)])
    found = json.loads(told.stdout)
    assert (found["schema"], found["seed"], found["config"]) == ("penstock.p4_bmv2/1", 5, run.config.name)
    assert found["bmv2"] == {**measured, "compared": []} and found["device"] is None
