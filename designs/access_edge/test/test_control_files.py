# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Subscribers in files, and the command line that takes them: what is said is what is set, and what cannot be is said, with its place."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import openconfig, tables
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, Mirror, plant_of
from penstock.errors import UserError
from penstock.v1 import subscribers_pb2
from penstock.v1.common_pb2 import QueueSettings

DEFAULT = Limits()
Ctl = Callable[..., tuple[int, str, str]]


@pytest.fixture
def at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., tuple[Any, Ctl]]]:
    """What serves a device of which nothing is set: its plant, and `ctl` there, which returns status and both outputs."""
    with contextlib.ExitStack() as stack:

        def start(limits: Limits = DEFAULT, aqm: str = "none") -> tuple[Any, Ctl]:
            mirror = Mirror(configs.load(CONFIG))
            bits = registers.table()["features"]["fields"]
            for name, value in (("aqm", registers.AQM_CODES[aqm]), ("tick_shift", 8)):
                mirror.registers[registers.address("features")] |= value << bits[name][0]
            plant = plant_of(mirror)
            (place,) = stack.enter_context(serving(plant, Sweep(plant), [f"unix:{tmp_path / 'c.sock'}"], limits=limits))

            def ctl(*arguments: str) -> tuple[int, str, str]:
                status = main(["ctl", "--server", place, *arguments])
                return (status, *capsys.readouterr())

            return plant, ctl

        yield start


def read(path: Path, text: str) -> list[Any]:
    path.write_text(text)
    return [one for _, one in tables.read(path)]


def refused(path: Path, text: str) -> str:
    """What is said of a file that is wrong, behind its folder."""
    with pytest.raises(UserError) as caught:
        read(path, text)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_a_name_stands_once(tmp_path: Path) -> None:
    """A table that was sorted by another column, and a list with an entry twice: the second would take the place of the first."""
    head = "name,node,rate,queue_rate,queue_class\n"
    said = refused(tmp_path / "s.csv", f"{head}h1,3,1Mbit/s,200kbit/s,0\nh2,2,1Mbit/s,,\nh1,,,300kbit/s,1\n")
    assert said == "s.csv:4: h1 stands at s.csv:2, too: what is of one subscriber stands together"
    said = refused(tmp_path / "s.yaml", "subscribers: [{name: h1}, {name: h2}, {name: h1, node: 1}]\n")
    assert said.startswith("s.yaml: subscribers[2]: h1 stands at s.yaml: subscribers[0], too:")
    one, two = read(tmp_path / "s.csv", f"{head}h1,3,1Mbit/s,200kbit/s,0\nh1,,,300kbit/s,1\nh2,2,1Mbit/s,1Mbit/s,\n")
    assert (one.name, len(one.queues), two.name) == ("h1", 2, "h2")


@pytest.mark.parametrize("ending", ["csv", "yaml"])
def test_a_subscriber_without_queues_and_one_of_defaults(ending: str, tmp_path: Path) -> None:
    """One drops all, the other is open: an export says which, wherever the queue of defaults stands."""
    plain, shaped = QueueSettings(), QueueSettings(rate_bps=2_000_000)
    lists: list[list[Any]] = [[], [plain], [plain, plain], [plain, shaped], [shaped, plain], [shaped]]
    made = [subscribers_pb2.Subscriber(name=f"h{n}", node=1, queues=queues) for n, queues in enumerate(lists)]
    path = tmp_path / f"s.{ending}"
    assert tables.write(path, made) == len(lists)
    assert [one for _, one in tables.read(path)] == made
    if ending == "csv":  # of people: a row is a queue, but where there is nothing of one in all of a subscriber
        found = read(path, "name,node,queue_rate\na,1,\nb,,\nb,,\nc,,1Mbit/s\nc,,\n")
        assert [(one.name, len(one.queues)) for one in found] == [("a", 0), ("b", 2), ("c", 2)]


NO_AQM: tuple[dict[str, str], bool] | None = None
ON: tuple[dict[str, str], bool] | None = ({}, False)
MARKS: tuple[dict[str, str], bool] | None = ({}, True)


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ({}, NO_AQM), ({"aqm": "off"}, NO_AQM), ({"aqm": False}, NO_AQM), ({"aqm": "no", "ecn": "off"}, NO_AQM), ({"ecn": False}, NO_AQM),
        ({"aqm": "on"}, ON), ({"aqm": True}, ON), ({"aqm": {}}, ON), ({"aqm": "ON", "ecn": "0"}, ON), ({"aqm": "ecn=no"}, ON),
        ({"aqm": "on", "ecn": "on"}, MARKS), ({"aqm": "yes", "ecn": "ON"}, MARKS), ({"aqm": "1", "ecn": 1}, MARKS),
        ({"aqm": {"ecn": True}}, MARKS), ({"aqm": "ecn=true"}, MARKS), ({"aqm": {"ecn": "yes"}, "ecn": True}, MARKS),
        ({"aqm": {"target": "5 ms", "ecn": True}}, ({"target": "5 ms"}, True)),
        ({"aqm": "on target=5ms"}, ({"target": "5ms"}, False)),
        ({"aqm": "target=5ms interval=100ms"}, ({"target": "5ms", "interval": "100ms"}, False)),
    ],
)  # fmt: skip
def test_aqm_and_ecn_are_taken_by_their_words(values: dict[str, Any], meant: tuple[dict[str, str], bool] | None) -> None:
    """In all forms: a column beside, words, and the mapping of scenarios."""
    made = tables.queue_of(values, "q")
    assert ((dict(made.aqm.settings), made.aqm.ecn) if made.HasField("aqm") else None) == meant


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"aqm": "on", "ecn": "x"}, "q: ecn must be on or off (also true, yes, 1, false, no, 0), not 'x'"),
        ({"ecn": "true"}, "q: ecn says what an AQM does, so it needs aqm: on, or settings"),
        ({"aqm": "off", "ecn": "on"}, "q: ecn says what an AQM does, so it needs aqm: on, or settings"),
        ({"aqm": {"ecn": "perhaps"}}, "q: aqm: ecn must be on or off (also true, yes, 1, false, no, 0), not 'perhaps'"),
        ({"aqm": {"ecn": True}, "ecn": "no"}, "q: ecn is off, and on within aqm"),
        ({"aqm": "maybe"}, "q: aqm: must be on, off, or settings such as target=5ms interval=100ms, not 'maybe'"),
        ({"aqm": "off target=5ms"}, "q: aqm: must be on, off, or settings such as target=5ms interval=100ms, not 'off'"),
    ],
)
def test_aqm_and_ecn_that_are_no_words(values: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as caught:
        tables.queue_of(values, "q")
    assert str(caught.value) == words


def test_ecn_of_a_queue_that_is_set(at: Any, tmp_path: Path) -> None:
    """It is refused where there is no AQM, goes with it, and what is said last of it counts; what is not named of it stays."""
    plant, ctl = at(aqm="codel")
    assert ctl("subscriber", "add", "a", "--queue", "rate=1Mbit/s")[0] == 0
    status, _, said = ctl("queue", "set", "a", "0", "--ecn")
    assert (status, said) == (2, "penstock: queue 0 of a: ecn says what an AQM does, so it needs aqm: on, or settings\n")
    for words, meant in (
        (("--aqm", "on", "--ecn"), ({}, True)),
        (("--aqm", "target=6ms"), ({"target": "6ms"}, True)),
        (("--weight", "2"), ({"target": "6ms"}, True)),
        (("--aqm", "target=5ms ecn=off"), ({"target": "5ms"}, False)),
        (("--ecn",), ({"target": "5ms"}, True)),
        (("--no-ecn",), ({"target": "5ms"}, False)),
        (("--aqm", "ecn=on"), ({}, True)),
        (("--aqm", "off"), None),
    ):
        status, _, said = ctl("queue", "set", "a", "0", *words)
        (queue,) = plant.get("a").queues
        assert status == 0, said
        assert ((dict(queue.aqm.settings), queue.aqm.ecn) if queue.HasField("aqm") else None) == meant, words


def test_a_file_that_is_too_large_for_all_or_nothing(at: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused with what helps, and that helps."""
    monkeypatch.setattr("penstock.designs.access_edge.control.client.A_MESSAGE", 4)
    monkeypatch.setattr("penstock.designs.access_edge.control.services.subscribers.A_PIECE", 4)
    plant, ctl = at(Limits(held_bytes=6_000))  # of sixteen some 400 bytes each
    path = tmp_path / "s.csv"
    tables.write(path, [subscribers_pb2.Subscriber(name=f"h{n}", node=n % 4, queues=[QueueSettings(rate_bps=10**6)]) for n in range(16)])
    status, _, said = ctl("import", str(path))
    assert status == 1 and "all or nothing" in said and "`ctl import --no-all-or-nothing`" in said and not plant.index_of
    assert ctl("import", str(path), "--no-all-or-nothing")[0] == 0 and len(plant.index_of) == 16


def test_what_the_server_refuses_has_its_line(at: Any, tmp_path: Path) -> None:
    """Of a table, a list and OpenConfig; all or nothing, item by item, and of one entry alone, of which the server names no number."""
    plant, ctl = at()
    head, no_node = "name,node,queue_rate\n", "node: the device has nodes 0 to 3, not 900"
    table, entries, tree = tmp_path / "t.csv", tmp_path / "l.yaml", tmp_path / "q.json"
    table.write_text(f"{head}x1,1,1Mbit/s\nx1,,2Mbit/s\nx2,1,1Mbit/s\nx3,900,1Mbit/s\n")
    assert ctl("import", str(table)) == (2, "", f"penstock: {table}:5: x3: {no_node}\n")
    status, _, said = ctl("import", "--no-all-or-nothing", str(table))
    warning, line = said.splitlines(keepends=True)  # of queues without a limit the memory cannot hold as much as they may
    assert "penstock: warning: the limits of all queues add up to" in warning
    assert (status, line) == (1, f"penstock: {table}:5: x3: {no_node}\n") and sorted(plant.index_of) == ["x1", "x2"]
    status, _, said = ctl("gate", "close", "x1", "nobody")  # of no file
    assert status == 2 and "there is no subscriber 'nobody'" in said
    table.write_text(f"{head}x3,900,1Mbit/s\n")
    assert ctl("import", str(table)) == (2, "", f"penstock: {table}:2: x3: {no_node}\n")
    entries.write_text("subscribers: [{name: x1}, {name: x4, queues: [{}, {}, {}, {}, {}]}]\n")
    status, _, said = ctl("import", str(entries))
    assert status == 2 and said.startswith(f"penstock: {entries}: subscribers[1]: x4: queues: the device has 4 a subscriber, not 5"), said
    scheduler = {"sequence": 1, "one-rate-two-color": {"config": {"cir": "5"}}}
    policy = {"name": "slow", "schedulers": {"scheduler": [scheduler]}}
    interfaces = [{"interface-id": "a"}, {"interface-id": "b", "output": {"scheduler-policy": {"config": {"name": "slow"}}}}]
    qos = {"interfaces": {"interface": interfaces}, "scheduler-policies": {"scheduler-policy": [policy]}}
    tree.write_text(json.dumps({"openconfig-qos:qos": qos}))
    status, _, said = ctl("import", str(tree))
    assert status == 2 and said.splitlines()[-1].startswith(f"penstock: {tree}: interface: b: queues[0].rate_bps: must be"), said


WIDE, LONG = "4,294,967,295", "18,446,744,073,709,551,615"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("subscriber", "list", "--node", "-1"), f"--node must be 0 to {WIDE}, not -1"),
        (("subscriber", "add", "a", "--node", "-1"), f"subscriber a: node must be 0 to {WIDE}, not -1"),
        (("subscriber", "add", "a", "--weight", "5000000000"), f"subscriber a: weight must be 0 to {WIDE}, not 5000000000"),
        (("subscriber", "add", "a", "--queue", "rate=1e20bit/s"), f"subscriber a: queues[0]: rate must be 0 to {LONG} bit/s, not 1000"),
        (("subscriber", "set", "a", "--version", "-1", "--node", "1"), f"--version must be 0 to {LONG}, not -1"),
        (("subscriber", "delete", "a", "--version", "-1"), f"--version must be 0 to {LONG}, not -1"),
        (("subscriber", "show", "\udcff"), r"NAME must be text in UTF-8, not '\udcff'"),
        (("subscriber", "add", "\udcff"), r"NAME must be text in UTF-8, not '\udcff'"),
        (("subscriber", "add", "a", "--queue", "aqm=target=\udcff"), "subscriber a: queues[0]: aqm must be text in UTF-8"),
        (("subscriber", "list", "--contains", "\udcff"), r"--contains must be text in UTF-8, not '\udcff'"),
        (("queue", "list", "--node", "-1"), f"--node must be 0 to {WIDE}, not -1"),
        (("queue", "show", "a", "5000000000"), f"POSITION must be 0 to {WIDE}, not 5000000000"),
        (("queue", "set", "a", "0", "--rate", "1Mbit/s", "--version", "-1"), f"--version must be 0 to {LONG}, not -1"),
        (("node", "list", "--port", "-1"), f"--port must be 0 to {WIDE}, not -1"),
        (("node", "set", "5000000000"), f"INDEX must be 0 to {WIDE}, not 5000000000"),
        (("node", "set", "0", "--port", "5000000000"), f"--port must be 0 to {WIDE}, not 5000000000"),
        (("node", "set", "0", "--burst", "5GB"), f"--burst must be 0 to {WIDE} byte, not 5000000000"),
        (("node", "set", "0", "--rate", "1e20bit/s"), f"--rate must be 0 to {LONG} bit/s, not 100000000000000000000"),
        (("node", "set", "0", "--name", "\udcff"), r"--name must be text in UTF-8, not '\udcff'"),
        (("gate", "close", "a", "\udcff"), r"NAMES must be text in UTF-8, not '\udcff'"),
        (("audit", "--since", "999999d"), "--since 999999d: is before the year 1"),
        (("audit", "--who", "\udcff"), r"--who must be text in UTF-8, not '\udcff'"),
    ],
)
def test_what_no_field_can_hold(arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence with what is allowed, before anything is asked for: no server is there."""
    assert main(["ctl", "--server", "unix:/nowhere", *arguments]) == 2
    out, said = capsys.readouterr()
    assert out == "" and said.startswith(f"penstock: {words}") and said.count("\n") == 1, said


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("s.csv", 'name,node\na,1\nb,"' + "x\n" * 70_000, "s.csv:3: is no row of CSV (field larger than field limit (131072)); a quote"),
        ("s.csv", "name,index\na,5000000000\n", f"s.csv:2: index must be 0 to {WIDE}, not 5000000000"),
        ("s.csv", "name,queue_limit_bytes\na,5GB\n", f"s.csv:2: limit_bytes must be 0 to {WIDE} byte, not 5000000000"),
        ("s.yaml", r'subscribers: [{name: "\ud800"}]', r"s.yaml: subscribers[0]: name must be text in UTF-8, not '\ud800'"),
    ],
)  # fmt: skip
def test_files_that_no_field_can_hold(name: str, content: str, words: str, tmp_path: Path) -> None:
    assert refused(tmp_path / name, content).startswith(words)


SCHEDULER = "scheduler policy p, scheduler 1"
STRICT = {"priority": "STRICT"}


def tree(*schedulers: Any, **interface: Any) -> dict[str, Any]:
    """OpenConfig of one interface and one policy, whose last scheduler is a plain one of sequence 2."""
    policy = {"name": "p", "schedulers": {"scheduler": [*schedulers, {"sequence": 2}]}}
    entry = {"interface-id": "i", "output": {"scheduler-policy": {"config": {"name": "p"}}}} | interface
    return {"qos": {"interfaces": {"interface": [entry]}, "scheduler-policies": {"scheduler-policy": [policy]}}}


@pytest.mark.parametrize(
    ("scheduler", "left"),
    [
        ({"config": STRICT | {"sequence": 1, "type": "openconfig-qos-types:ONE_RATE_TWO_COLOR"}, "state": {"x": 1}}, []),
        ({}, ["is not STRICT, and goes before the ones behind it all the same"]),
        ({"config": STRICT | {"type": "X", "x": 1}}, ["x is not used", "type X is not used"]),
        ({"config": STRICT | {"type": "TWO_RATE_THREE_COLOR"}, "two-rate-three-color": {"config": {"cir": "64000", "bc": 3}}},
         ["two-rate-three-color: bc is not used"]),
        ({"config": STRICT | {"type": "TWO_RATE_THREE_COLOR"}, "one-rate-two-color": {"config": {"cir": "64000"}}},
         ["one-rate-two-color is not used"]),
        ({"config": STRICT, "output": {"config": {"output-type": "INTERFACE"}}}, []),
        ({"config": STRICT, "output": {"config": {"output-type": "CHILD_SCHEDULER", "child-scheduler": "q"}}},
         ["output: child-scheduler is not used", "output CHILD_SCHEDULER is not used: its queues are the interface's"]),
        ({"config": STRICT, "output": {"output-type": "FWD_GROUP"}}, ["output FWD_GROUP is not used: its queues are the interface's"]),
        ({"config": STRICT, "one-rate-two-color": {"config": {"cir": "64000", "cir-pct": 5}, "exceed-action": {"config": {"drop": True}}}},
         ["one-rate-two-color: cir-pct is not used", "one-rate-two-color: exceed-action is not used"]),
        ({"config": STRICT, "one-rate-two-color": {"config": {"cir": "64000", "bc": 30}}, "inputs": {"input": [{"id": "a"}, {"id": "b"}]}},
         ["cir, bc of its 2 inputs together is what each of their queues gets"]),
        ({"config": STRICT, "inputs": {"input": [{"id": "a", "config": {"input-type": "QUEUE", "queue": "a"}}, {"config": {"x": 1}}]}},
         ["input: x is not used"]),
        ({"config": STRICT, "inputs": {"input": [{"config": {"input-type": "SCHEDULER"}}]}}, ["input SCHEDULER is a queue of its own"]),
    ],
)  # fmt: skip
def test_openconfig_that_does_not_fit_is_said(scheduler: dict[str, Any], left: list[str], tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text("\ufeff" + json.dumps(tree({"sequence": 1} | scheduler)), encoding="utf-8")
    assert openconfig.read(path)[1] == [f"{SCHEDULER}: {words}" for words in left]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (tree(output=None), "interface i: output must be an object, not empty"),
        (tree(output={"scheduler-policy": []}), "interface i: scheduler-policy must be an object, not a list"),
        (tree(output={"scheduler-policy": {"config": None}}), "interface i: scheduler-policy: config must be an object, not empty"),
        (tree({"sequence": 1, "config": None}), "sequence: config must be an object, not empty"),
        (tree({"sequence": 1, "config": STRICT, "one-rate-two-color": 3}), f"{SCHEDULER}: one-rate-two-color must be an object, not 3"),
        (tree({"config": STRICT | {"sequence": 1}, "one-rate-two-color": {"config": {"max-queue-depth-packets": 5_000_000_000}}}),
         f"{SCHEDULER}: max-queue-depth-packets must be 0 to {WIDE}, not 5000000000"),
        (tree(**{"interface-id": "\ud800"}), r"interface-id must be text in UTF-8, not '\ud800'"),
        ({"qos": {"interfaces": {"interface": [{"interface-id": "i"}] * 2}}}, "interface: i stands at q.json: interface, too"),
        ({"qos": {"scheduler-policies": {"scheduler-policy": [{"name": "p"}] * 2}}}, "scheduler policy p is there twice"),
    ],
)  # fmt: skip
def test_openconfig_that_is_wrong(found: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps(found))
    with pytest.raises(UserError) as caught:
        openconfig.read(path)
    assert str(caught.value).replace(f"{tmp_path}/", "").startswith(f"q.json: {words}"), caught.value


@pytest.mark.parametrize("word", ["1001", "0123", "1e3", "true", "2026-01-31", "[a]"])
def test_a_name_is_text(word: str, tmp_path: Path) -> None:
    """YAML reads numbers by their value: what is no text is not what stands there. In quotes it is."""
    path = tmp_path / "s.yaml"
    assert refused(path, f"subscribers: [{{name: {word}}}]").startswith("s.yaml: subscribers[0]: name must be text, in quotes where")
    assert read(path, f'subscribers: [{{name: "{word}"}}]')[0].name == word


@pytest.mark.parametrize("count", [1, 16])
def test_blanks_at_the_ends_of_a_name(count: int, at: Any, tmp_path: Path) -> None:
    """New ones are refused, one by one and in columns, also of a table whose columns are aligned; one from before stays what it is."""
    plant, ctl = at()
    path = tmp_path / "s.csv"
    names = [f"h{n}" for n in range(count - 1)]
    for wrong in (" lead", "trail "):
        path.write_text("name,node,queue_rate\n" + "".join(f"{name}, 1 ,1Mbit/s\n" for name in (*names, wrong)))
        status, _, said = ctl("import", str(path))
        assert status == 2 and said.startswith(f"penstock: {path}:{count + 1}: ") and "no blanks" in said, said
        assert ctl("subscriber", "add", wrong)[0] == 2 and not plant.index_of
    before = subscribers_pb2.Subscriber(name="old ", node=1, queues=[QueueSettings(rate_bps=10**6)])
    tables.write(path, [before])
    assert [one for _, one in tables.read(path)] == [before]


def test_settings_of_a_queue_in_words(at: Any) -> None:
    """Values with blanks are quoted as for a shell; a key stands once, also within an AQM."""
    plant, ctl = at()
    assert ctl("subscriber", "add", "a", "--queue", "rate='2 Mbit/s' class=1", "--queue", 'aqm="" weight=2')[0] == 0
    first, second = plant.get("a").queues
    assert (first.rate_bps, first.traffic_class, second.weight, second.HasField("aqm")) == (2_000_000, 1, 2, False)
    must = "must be words KEY=VALUE, such as rate=20Mbit/s aqm='target=5ms interval=100ms'"
    for text, words in (
        ("rate=1Mbit/s rate=2Mbit/s", f"--queue rate=1Mbit/s rate=2Mbit/s: {must}, each of them once; rate is 1Mbit/s and 2Mbit/s"),
        ("rate", f"--queue rate: {must}, not 'rate'"),
        ("rate='1", "--queue rate='1: no closing quotation"),
        (
            "aqm='target=5ms target=6ms'",
            "subscriber b: queues[0]: aqm: must be on, off, or settings such as target=5ms interval=100ms, each",
        ),
    ):
        status, _, said = ctl("subscriber", "add", "b", "--queue", text)
        assert status == 2 and said.startswith(f"penstock: {words}"), said
    assert "b" not in plant.index_of
    # Of a device without AQM it comes as far as the device, with both settings.
    status, _, said = ctl("subscriber", "add", "b", "--queue", "aqm='target=5ms interval=100ms'")
    assert status == 2 and said.startswith("penstock: queues[0]."), said
