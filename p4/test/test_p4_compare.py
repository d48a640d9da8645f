"""`penstock p4 compare`: what it reads, makes and compares; with simple_switch itself where that is present."""

import json
import shutil
from pathlib import Path

import pytest

from penstock.command_line.app import main
from penstock.designs.p4_switch import program as device
from penstock.designs.p4_switch.testing.machine_programs import FOLDER as MACHINE_PROGRAMS
from penstock.errors import UserError
from penstock.p4 import FOLDER, compare, guesses, simple_switch, stf

ROUTER = json.loads((FOLDER / "router.json").read_text())
BMV2 = all(shutil.which(name) for name in ("simple_switch", "simple_switch_CLI"))
TOOLS = BMV2 and shutil.which("p4c-bm2-ss") is not None
STF = """
# entries, frames, and what simple_switch itself will answer
add routes4 ipv4.dst:0x0a01****   RouterIngress.forward4(port:1, next_hop:0x0a0100fe)
add RouterIngress.neighbours4 0 egress_spec:1 next_hop:0x0a0100fe neighbour_is(mac:0x02aa)
mirroring_add 1 5
packet 3 00 11 22
expect 4 0011**
setdefault control_port RouterIngress.control_port_is(port:7, queue:0)
"""


def program_with(keys: list[tuple[str, str]], kind: str) -> dict[str, object]:
    """A program with one table."""
    table = {
        "name": "c.t",
        "match_type": kind,
        "actions": ["c.a"],
        "key": [{"name": name, "match_type": one, "target": name.split(".")} for name, one in keys],
    }
    return {"pipelines": [{"tables": [table]}], "actions": [{"name": "c.a", "runtime_data": [{"name": "x", "bitwidth": 8}]}]}


def test_stf_becomes_commands_and_frames(tmp_path: Path) -> None:
    file = tmp_path / "router.stf"
    file.write_text(STF)
    script = stf.read(file, ROUTER)
    assert [(step.port, step.frame) for step in script.steps] == [(3, b"\x00\x11\x22")]
    assert script.steps[0].commands == [
        "table_add RouterIngress.routes4 RouterIngress.forward4 0x0a010000/16 => 1 0x0a0100fe",
        "table_add RouterIngress.neighbours4 RouterIngress.neighbour_is 1 0x0a0100fe => 0x02aa",
        "mirroring_add 1 5",
    ]
    assert script.after == ["table_set_default RouterIngress.control_port RouterIngress.control_port_is 7 0"]
    assert script.ports == {3, 4} and not script.ignored


@pytest.mark.parametrize(
    ("kind", "given", "key"),
    [
        ("ternary", "0x0202**", "0x020200&&&0xffff00"), ("ternary", "0b1*0", "0b100&&&0b101"), ("lpm", "0x0a**", "0x0a00/8"),
        ("lpm", "0x010a/16", "0x010a/16"), ("exact", "0x05", "0x05"),
    ],
)  # fmt: skip
def test_keys_of_stf(tmp_path: Path, kind: str, given: str, key: str) -> None:
    file = tmp_path / "t.stf"
    file.write_text(f"add t 100 h.f:{given} a(x:7)\npacket 0 00\n")
    ordered = " 9900" if kind == "ternary" else ""
    assert stf.read(file, program_with([("h.f", kind)], kind)).steps[0].commands == [f"table_add c.t c.a {key} => 7{ordered}"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("add nothing h.f:1 a(x:1)", "table 'nothing' is none"),
        ("add t h.g:1 a(x:1)", "no key 'h.g'"),
        ("add t h.f:1 a(y:1)", "has the parameters x"),
        ("packet 0 0g", "cannot be read"),
    ],
)
def test_what_a_stf_file_must_not_say(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "t.stf"
    file.write_text(f"# first\n{text}\n")
    with pytest.raises(UserError, match=rf"t\.stf:2: .*{words}"):
        stf.read(file, program_with([("h.f", "exact")], "exact"))


def test_entries_of_a_tutorial(tmp_path: Path) -> None:
    file = tmp_path / "s1-runtime.json"
    entries = [
        {"table": "c.t", "default_action": True, "action_name": "c.a", "action_params": {"x": 1}},
        {"table": "c.t", "match": {"h.f": ["10.0.0.0", 8]}, "action_name": "c.a", "action_params": {"x": 2}},
    ]
    groups = [{"multicast_group_id": 1, "replicas": [{"egress_port": 2, "instance": 1}, {"egress_port": 3, "instance": 1}]}]
    file.write_text(json.dumps({"table_entries": entries, "multicast_group_entries": groups}))
    assert stf.runtime(file, program_with([("h.f", "lpm")], "lpm")) == [
        *("table_set_default c.t c.a 1", "table_add c.t c.a 10.0.0.0/8 => 2", "mc_mgrp_create 1"),
        *("mc_node_create 1 2", "mc_node_associate 1 0", "mc_node_create 1 3", "mc_node_associate 1 1"),
    ]


def test_guesses_are_of_the_seed_and_reach_the_program() -> None:
    """The same seed makes the same; entries are taken; a good part of the frames gets through the parser."""
    one, again, other = (list(guesses.Guesses(ROUTER, seed).steps(300, [])) for seed in (1, 1, 2))
    assert one == again != other
    run = compare.Run("at random")
    loaded = device.load(FOLDER / "router.json")
    tried = compare._Device(loaded, *compare.CLOCKS[0])
    refused = [words for line in guesses.Guesses(ROUTER, 1).commands() if (words := tried.command(line))]
    assert all("same key" in words for words in refused), refused
    for step in one:
        tried.process(step.port, step.frame)
        run.frames += 1
    print(f"{tried.machine.parser_errors} of {run.frames} frames end the parser with an error")
    assert 0 < tried.machine.parser_errors < run.frames // 2


@pytest.mark.parametrize(
    ("theirs", "second", "equal", "free"),
    [
        ([(1, b"abc")], [(1, b"abc")], True, False),
        ([(1, b"abd")], [(1, b"abc")], False, False),
        ([(1, b"abd")], [(1, b"abx")], True, True),  # the last byte changes with the clock
        ([(1, b"xbd")], [(1, b"abx")], False, True),
        ([(2, b"abc")], [(1, b"abc")], False, False),
        ([], [(1, b"abc")], False, False),
        ([], [], True, True),  # whether it is sent changes with the clock
        ([(1, b"abc"), (1, b"d")], [(1, b"abc")], False, False),
    ],
)
def test_what_changes_with_the_clock_is_not_compared(theirs: compare.Answer, second: compare.Answer, equal: bool, free: bool) -> None:
    assert compare.same(theirs, [[(1, b"abc")], [(1, b"abc")], second]) == (equal, free)


@pytest.mark.parametrize(
    ("runs", "outcome", "words"),
    [
        ([(9, 9, 0, ""), (5, 5, 0, "")], "agrees", ""),
        ([(9, 9, 0, ""), (2, 5, 0, "stuck")], "cut", "second: cut short after 2 of 5 frames: stuck"),
        ([(0, 9, 0, "stuck"), (0, 5, 0, "stuck")], "bmv2", "first: cut short after 0 of 9 frames: stuck; second: cut short after 0 of 5"),
        ([(9, 9, 1, ""), (2, 5, 0, "stuck")], "differs", "second: cut short after 2 of 5 frames: stuck"),
    ],
)
def test_a_run_that_is_cut_short_is_no_agreement(runs: list[tuple[int, int, int, str]], outcome: str, words: str) -> None:
    names = ("first", "second")
    made = [
        compare.Run(name, frames, planned, differ=differ, ended=ended)
        for name, (frames, planned, differ, ended) in zip(names, runs, strict=True)
    ]
    found = compare._judged(compare.Outcome("a.p4", "agrees", runs=made))
    assert found.outcome == outcome and found.words.startswith(words) and bool(found.words) == bool(words)
    counts = compare.summary([found])
    assert [name for name in ("agrees", "differs", "cut", "refused", "bmv2", "compiler") if counts[name]] == [outcome]


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [(["agrees"], 0), (["agrees", "cut"], 1), (["cut"], 1), (["differs"], 1), (["refused", "bmv2", "compiler"], 0)],
)
def test_status_says_whether_all_that_was_compared_agrees(
    outcomes: list[str], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [compare.Outcome(f"{name}.p4", name) for name in outcomes]
    monkeypatch.setattr(compare, "need", lambda _: None)
    monkeypatch.setattr(compare, "compare_all", lambda *_: made)
    assert main(["p4", "compare", str(FOLDER / "router.json"), "--json"]) == status
    found, program = json.loads(capsys.readouterr().out), str(FOLDER / "router.json")
    assert found["programs"] == len(outcomes)
    assert (found["schema"], found["seed"]) == ("penstock.p4_compare/1", 1)
    assert found["config"] == {"programs": [program], "frames": 100}


def test_what_earlier_packets_have_left_is_not_compared() -> None:
    """A packet that is too short for its header: simple_switch finds the code of the one before, and adds a header; no chance hits that."""
    devices = compare._devices(device.load(MACHINE_PROGRAMS / "stale.json"))
    recorded = [("1234000001", "12340000abcd01"), ("ff", "abcdff"), ("00000000", "00000000"), ("ff", "ff")]
    found = []
    for frame, answer in recorded:
        ours = [one.process(0, bytes.fromhex(frame)) for one in devices]
        found.append(compare.same([(1, bytes.fromhex(answer))], ours))
    assert found == [(True, False), (True, True), (True, False), (True, False)]
    assert ours[0] == ours[-1] == [(1, b"\xff")]


def test_what_chance_decides_is_not_compared() -> None:
    """A packet is dropped by one draw of 65,536, and goes elsewhere by another one: simple_switch may have drawn either."""
    devices = compare._devices(device.load(MACHINE_PROGRAMS / "chance.json"))
    frame = bytes.fromhex("0102030405")
    for answer in ([(1, frame)], [], [(2, frame)]):
        assert compare.same(answer, [one.process(0, frame) for one in devices]) == (True, True), answer


def test_without_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UserError, match="p4c-bm2-ss is not on the PATH: .* install p4lang's own"):
        compare.need([Path("a.json"), Path("b.p4")])
    monkeypatch.setattr(shutil, "which", lambda name, **_: "/p4c" if name == "p4c-bm2-ss" else None)
    with pytest.raises(UserError, match="simple_switch and simple_switch_CLI are not both on the PATH"):
        compare.need([Path("b.p4")])


def test_a_compiled_program_needs_no_compiler(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **_: None if name == "p4c-bm2-ss" else f"/bin/{name}")
    compare.need([Path("a.json")])
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "/nonexistent")
    assert main(["p4", "compare", str(FOLDER / "port_codel.json")]) == 2
    assert "simple_switch and simple_switch_CLI are not both on the PATH" in capsys.readouterr().err


def test_commands_below_a_path_with_blanks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where temporary files are: the CLI reads the commands."""
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "simple_switch_CLI").write_text("#!/bin/sh\ncat\n")
    (folder / "simple_switch_CLI").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    switch = simple_switch.SimpleSwitch(folder, None, 1, {}, [])  # type: ignore[arg-type]
    assert switch.commands("table_add one\n# nothing") == "table_add one\n"


@pytest.mark.parametrize(
    ("help_", "options"), [("--priority-queues arg (default is 1)", ("--", "--priority-queues", "8")), ("--use-files arg", ())]
)
def test_each_port_of_simple_switch_has_all_priorities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, help_: str, options: tuple[str, ...]
) -> None:
    (tmp_path / "simple_switch").write_text(f"#!/bin/sh\necho '{help_}'\n")
    (tmp_path / "simple_switch").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert simple_switch._priorities.__wrapped__() == options


def test_transitions_without_a_type() -> None:
    """Compilers before 2017 wrote none."""
    old = json.loads(json.dumps(ROUTER))
    for parser in old["parsers"]:
        for state in parser["parse_states"]:
            for one in state["transitions"]:
                if one.pop("type") == "default":
                    one["value"] = "default"
    assert list(guesses.Guesses(old, 1).steps(30, [])) == list(guesses.Guesses(ROUTER, 1).steps(30, []))


def test_what_can_be_compared(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no program"):
        compare.programs([tmp_path])
    with pytest.raises(UserError, match=r"nothing\.txt: is no program"):
        compare.programs([tmp_path / "nothing.txt"])
    (tmp_path / "a.p4").write_text("#include <v1model.p4>\n")
    (tmp_path / "b.p4").write_text("#include <psa.p4>\n")
    assert compare.programs([tmp_path]) == [tmp_path / "a.p4"]


@pytest.mark.skipif(not TOOLS, reason="p4c-bm2-ss, simple_switch and simple_switch_CLI are not on the PATH")
def test_a_program_on_both(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["p4", "compare", str(FOLDER / "port_codel_ecn.p4"), "--frames", "40", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert status == 0 and found["agrees"] == 1 and found["frames"] == 80 and found["answered"] > 0


@pytest.mark.skipif(not BMV2, reason="simple_switch and simple_switch_CLI are not on the PATH")
def test_a_compiled_program_on_both(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["p4", "compare", str(FOLDER / "port_codel_ecn.json"), "--frames", "40", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert status == 0 and found["agrees"] == 1 and found["frames"] == 80 and found["answered"] > 0
