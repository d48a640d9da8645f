# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Scenarios of the deadline port become jobs: classes and DSCPs as the registers have them in the end, judged by arithmetic; what users may
write wrong is one sentence."""

import random
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.designs.deadline_port import registers
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.scenarios import scenario
from penstock.scenarios.device import configuration, design_of
from penstock.testing.testkit import seed

sys.path.insert(0, str(ROOT / "tests"))  # its captures

from stand_in import frame, pcap_bytes

SCENARIO = """\
device: { config: tiny_deadline_3 }
duration: 100 us
link: { ingress: 10 Gbit/s, egress: 1 Gbit/s }
classes:
  - { name: voice, deadline: 30 us, dscp: ef }
  - { name: web, deadline: 60 us, dscp: [af21, 20-22] }
  - { name: bulk, deadline: 100 us }
traffic:
  - { name: calls, constant: { classes: voice, rate: 200 Mbit/s, size: 214 } }
  - { name: pages, onoff: { classes: [voice, 1], pick: random, rate: 1 Gbit/s, size: imix, on: 5 us, off: 5 us } }
  - { name: rest, poisson: { classes: "0-2", pick: each, rate: 300 Mbit/s, size: [[64, 1], [1514, 2]] } }
changes:
  - { at: 50 us, classes: [voice, bulk], deadline: 20 us }
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder with a scenario."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SCENARIO)
    return tmp_path


def planned(text: str | None = None, *settings: str, engine: str = "model") -> Any:
    """Return the plan of a scenario, s.yaml unless `text` is given."""
    path = Path("s.yaml")
    if text is not None:
        path.write_text(text)
    document = scenario.open_file(path, list(settings))
    design = design_of(document)
    described = scenario.validated(design.scenario, document)
    return design.plan(described, document, configuration(described, document), engine)


class Registers:
    """What the device has been told: the commands of the register map, played on dictionaries."""

    def __init__(self) -> None:
        self.values = {entry["address"]: 0 for entry in registers.table().values()}
        self.deadlines: dict[int, int] = {}
        self.table = dict.fromkeys(range(65), 0)

    def value(self, name: str) -> int:
        return self.values[registers.table()[name]["address"]]

    def play(self, writes: list[tuple[int, int]]) -> "Registers":
        for address, value in writes:
            assert address in self.values and 0 <= value < 2**32
            self.values[address] = value
            if address == registers.table()["command"]["address"]:
                command = {number: name for name, number in registers.contract()["enums"]["command"].items()}[value]
                if command == "write_class":
                    self.deadlines[self.value("class_index")] = self.value("class_deadline")
                elif command == "write_dscp":
                    self.table[self.value("dscp_index")] = self.value("dscp_class")
        return self


def test_random_settings_reach_the_registers(place: Path) -> None:
    """Classes drawn at random, single ones and groups, in any units; deadlines rounded down to cycles, every DSCP with its class."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(30):
        clock = rng.choice((100_000_000, 37_000_000, 333_000_000))
        free, entries, names, deadlines, expected = list(range(64)), [], [], [], {}
        rng.shuffle(free)
        while len(names) < 64 and rng.random() < 0.9:
            count, nanoseconds, step = rng.choice((1, 1, 1, rng.randint(2, 9))), rng.randint(1_000, 9_000_000), 0
            count = min(count, 64 - len(names))
            codes = [free.pop() for _ in range(count if count > 1 else rng.randint(0, 4)) if free]
            given = len(codes) == count if count > 1 else bool(codes)
            entry = f"- {{ name: c{len(entries)}_, deadline: {nanoseconds} ns"
            if count > 1:
                step = rng.choice((0, rng.randint(1, 1_000_000)))
                entry += f", count: {count}" + (f", step: {step / 1000:.3f} us" if step else "")
            entry += f", dscp: {codes}" if given else ""
            for n in range(count):
                for code in ([codes[n]] if count > 1 else codes) if given else []:
                    expected[code] = len(names)
                names.append(f"c{len(entries)}_{n if count > 1 else ''}")
                deadlines.append((nanoseconds + n * step) * clock // 10**9)
            entries.append(entry + " }")
        if not names:
            continue
        default = rng.choice((None, rng.randrange(len(names))))
        limit = rng.choice((None, rng.randint(1_000_000, 10_000_000)))
        text = f"device: {{ config: deadline_ddr4, overrides: {{ clock_hz: {clock} }} }}\nduration: 1 ms\nclasses:\n"
        text += "".join(f"  {entry}\n" for entry in entries)
        text += "" if default is None else f"default_class: {names[default]}\n"
        text += "" if limit is None else f"memory_limit: {limit} byte\n"
        text += "traffic: [ { constant: { classes: 0, rate: 1 Mbit/s, size: 100 } } ]\n"
        try:
            plan = planned(text)
        except UserError as error:  # all DSCPs of other classes: class 0 then has none
            assert "has no DSCP" in str(error) and 0 not in expected.values() and default not in (0,)
            continue
        end = Registers().play(plan.job["register_writes"])
        assert end.deadlines == dict(enumerate(deadlines))
        otherwise = len(names) - 1 if default is None else default
        assert end.table == {code: expected.get(code, otherwise) for code in range(65)}
        assert end.value("memory_limit") == (0 if limit is None else limit // 4096)
        assert [row.name for row in plan.settings.classes] == names


def test_plain_fifo_is_told_of_no_deadline(place: Path) -> None:
    end = Registers().play(planned(None, "device.config=tiny_fifo_3", "changes=[]").job["register_writes"])
    assert end.deadlines == {} and end.table[46] == 0 and end.table[18] == 1 and end.table[64] == 2


def test_class_beside_the_frame_needs_no_table(place: Path) -> None:
    plan = planned(None, "device.config=tiny_deadline_16")
    end = Registers().play(plan.job["register_writes"])
    assert end.deadlines == {0: 3000, 1: 6000, 2: 10000} and set(end.table.values()) == {0}


def test_sources_carry_the_dscp_of_their_class(place: Path) -> None:
    """Sources by their classes; a byte of the headers has the DSCP, at its place in IPv4 and IPv6, behind tags."""
    plan = planned(
        None,
        "traffic.1.headers={ip: 6, vlan: [5]}",
        "traffic.1.onoff.size=[[66, 1], [67, 1], [1000, 1]]",
        "traffic.2.headers={dscp: 18}",
        "traffic.2.poisson.classes=web",
    )
    calls, pages, rest = plan.job["sources"]
    assert calls["queues"].tolist() == [0] and pages["queues"].tolist() == [0, 1] and rest["queues"].tolist() == [1]
    assert [source["pick"] for source in plan.job["sources"]] == ["round_robin", "random", "each"]

    def codes(source: dict[str, Any], at: int) -> list[int]:
        each = source["headers"]["each"]
        rows = source["headers"]["bytes"].reshape(-1, each)
        return [struct.unpack_from("!H", row.tobytes(), at)[0] >> (2 if at == 14 else 6) & 63 for row in rows]

    assert codes(calls, 14) == [46] and codes(pages, 18) == [46] * 3 + [18] * 3 and codes(rest, 14) == [18] * 2
    bulk = planned(None, "traffic.0.constant.classes=bulk").job["sources"][0]
    assert codes(bulk, 14) == [0]  # the first that no class names


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ("seed", [(1, ("seed", 1)), (7, ("seed", 7))]),
        ("duration", [("20 us", ("duration_cycles", 2000)), ("31.25 us", ("duration_cycles", 3125))]),
        ("drain", [("false", ("drain", False)), ("5 us", ("max_cycles", 10500))]),
        ("link.ingress", [("2 Gbit/s", ("ingress_bps", 2 * 10**9)), ("3 Gbit/s", ("ingress_bps", 3 * 10**9))]),
        ("link.egress", [("2 Gbit/s", ("egress_bps", 2 * 10**9)), ("5 Mbit/s", ("egress_bps", 5 * 10**6))]),
        ("link.overhead_bytes", [(0, ("overhead_bytes", 0)), (20, ("overhead_bytes", 20))]),
        ("link.ingress_fifo", [("5 kB", ("ingress_fifo_bytes", 5000)), (0, ("ingress_fifo_bytes", 0))]),
        ("link.egress_buffer", [("1 kB", ("egress_buffer_bytes", 1000)), (0, ("egress_buffer_bytes", 0))]),
        ("report.interval", [("1 us", ("interval_cycles", 100)), ("2.5 us", ("interval_cycles", 250))]),
        ("report.series", [("[voice, 2]", ("series_queues", [0, 2])), ("1", ("series_queues", [1]))]),
        ("memory_limit", [("100 kB", ("memory_limit", 195)), ("64 kB", ("memory_limit", 125))]),
        ("default_class", [("voice", ("table", 0)), ("web", ("table", 1))]),
        ("device.overrides.places", [(16, ("device.places", 16)), (8, ("device.places", 8))]),
        ("device.read_latency_ns", [(1000, ("memory.read_latency", 100)), (30, ("memory.read_latency", 3))]),
        ("device.write_latency_ns", [(500, ("memory.write_latency", 50)), (0, ("memory.write_latency", 1))]),
        ("device.gap_permille", [(100, ("memory.gap_permille", 100)), (0, ("memory.gap_permille", 0))]),
        ("traffic.0.start", [("2 us", ("source.start_cycle", 200)), ("0.5 us", ("source.start_cycle", 50))]),
        ("traffic.0.stop", [("2 us", ("source.stop_cycle", 200)), ("7 us", ("source.stop_cycle", 700))]),
        ("traffic.0.constant.rate", [("2 Mbit/s", ("source.bps", 2 * 10**6)), ("3 Gbit/s", ("source.bps", 3 * 10**9))]),
        ("traffic.0.constant.size", [("64", ("source.sizes", [[64, 1]])), ("imix", ("source.sizes", [[60, 7], [590, 4], [1514, 1]]))]),
        ("traffic.0.constant.pick", [("each", ("source.pick", "each")), ("random", ("source.pick", "random"))]),
        ("traffic.0.constant.classes", [("bulk", ("source.queues", [2])), ('"0-1"', ("source.queues", [0, 1]))]),
        ("traffic.1.onoff.on", [("1 us", ("burst.on_cycles", 100)), ("3 us", ("burst.on_cycles", 300))]),
        ("traffic.1.onoff.off", [("1 us", ("burst.off_cycles", 100)), ("3 us", ("burst.off_cycles", 300))]),
    ],
)
def test_every_key_at_two_values(place: Path, setting: str, values: list[tuple[Any, tuple[str, Any]]]) -> None:
    for value, (key, expected) in values:
        more = {"duration": ["changes=[]"], "default_class": ['traffic.2.poisson.classes="0-1"']}.get(setting, [])
        job = planned(None, f"{setting}={value}", *more).job
        where, _, name = key.rpartition(".")
        part = {
            "": job,
            "device": job["device"],
            "memory": job["device"]["memories"][0],
            "source": job["sources"][0],
            "burst": job["sources"][1],
        }
        if key == "table":
            assert Registers().play(job["register_writes"]).table[64] == expected
        elif key == "memory_limit":
            assert Registers().play(job["register_writes"]).value(key) == expected
        else:
            found = part[where][name]
            assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected
    if setting == "drain":
        assert planned(None, "duration=100 us").job["max_cycles"] == 20_000


def test_changes_are_timed_writes(place: Path) -> None:
    """In order of time, whatever their order in the file; a class has its deadlines, a DSCP its classes, one after the other."""
    changes = """[ { at: 70 us, dscp: [46, 1-2], to: bulk }, { at: 20 us, classes: 0-1, deadline: 10 us },
        { at: 40.001 us, memory_limit: 50 kB }, { at: 30 us, classes: web, deadline: 990 us } ]"""
    plan = planned(None, "changes=" + " ".join(changes.split()))
    timed = plan.job["timed_register_writes"]
    assert [at for at, _, _ in timed] == sorted(at for at, _, _ in timed)
    at_end: dict[int, Registers] = {}
    state = Registers().play(plan.job["register_writes"])
    for at in sorted({at for at, _, _ in timed}):
        state.play([(address, value) for when, address, value in timed if when == at])
        at_end[at] = (dict(state.deadlines), dict(state.table), state.value("memory_limit"))
    assert list(at_end) == [2000, 3000, 4000, 7000]
    assert at_end[2000][0] == {0: 1000, 1: 1000, 2: 10_000} and at_end[3000][0][1] == 99_000
    assert (at_end[3000][2], at_end[4000][2]) == (0, 97)
    before, after = at_end[4000][1], at_end[7000][1]
    assert {code for code in before if before[code] != after[code]} == {46} and after[46] == after[1] == 2
    assert plan.deadlines == [[(0, 3000), (2000, 1000)], [(0, 6000), (2000, 1000), (3000, 99_000)], [(0, 10_000)]]
    assert plan.job["device"]["any_class"] and not planned().job["device"]["any_class"]
    calls = [source for source in plan.job["sources"] if source.get("bps") == 200_000_000]
    spans = [(source["queues"].tolist(), source["start_cycle"], source["stop_cycle"]) for source in calls]
    assert spans == [([0], 0, 10_000)]  # one source all the time: the device says the classes


def test_classes_that_dscps_get_later_have_a_curve(place: Path) -> None:
    settings = ("traffic=[{constant: {classes: voice, rate: 200 Mbit/s, size: 214}}]", "changes=[{at: 50 us, dscp: ef, to: bulk}]")
    assert planned(None, *settings).job["series_queues"] == [0, 2]


def test_captures_have_the_class_of_their_dscp(place: Path) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    table = {46: 0, 18: 1, 20: 1, 21: 1, 22: 1}
    frames, expected = [], []
    for at in range(200):
        code = rng.choice((46, 18, 20, 21, 22, 0, 63, None))
        data = bytearray(frame(size=rng.randint(60, 300)))
        assert data[12:14] == b"\x08\x00"
        if code is None:
            data[12:14] = b"\x88\xb5"
        else:
            data[15] = code << 2 | rng.randrange(4)
        frames.append((400 * at, bytes(data)))
        expected.append(2 if code is None else table.get(code, 2))
    Path("a.pcap").write_bytes(pcap_bytes(frames))
    job = planned(None, "traffic=[{pcap: a.pcap}]", "changes=[]").job
    assert job["sources"][0]["queues"].tolist() == expected
    job = planned(None, "traffic=[{pcap: a.pcap}]", "changes=[{at: 50 us, dscp: ef, to: web}]").job
    source = job["sources"][0]
    moved = [1 if was == 0 and at >= 5000 else was for was, at in zip(expected, source["cycles"].tolist(), strict=True)]
    assert source["queues"].tolist() == moved and moved != expected


def test_series_are_some_of_many_classes(place: Path) -> None:
    many = """device: { config: deadline_ddr4 }
duration: 1 ms
classes: [ { name: level, count: 64, deadline: 1 ms, dscp: 0-63 } ]
traffic: [ { poisson: { classes: level, rate: 1 Gbit/s, size: imix } } ]
"""
    series = planned(many).job["series_queues"]
    assert len(series) == 12 and series[0] == 0 and series[-1] == 63 and series == sorted(set(series))


ERRORS = [
    ("device.config=deadline_dd4_3", "names"),
    ("classes=[]", "`classes` must not be empty"),
    ("classes.voice.deadline=0", "`classes.voice.deadline` must be more than 0, not 0"),
    ("classes.voice.deadline=1 ns", "`classes.voice.deadline` must be at least one clock cycle, 10 ns, not 1 ns"),
    (
        "classes.web.deadline=1.1 ms",
        "`classes.web.deadline` must be at most what the configuration's longest_deadline_us says, which is 1 ms in tiny_deadline_3",
    ),
    ("classes.voice.dscp=64", "`classes.voice.dscp` must be a DSCP, a number from 0 to 63 or a name such as ef, af41 or cs6, not 64"),
    ("classes.voice.dscp=9-3", "`classes.voice.dscp` must be DSCPs such as 46, ef or 0-7, not"),
    ("classes.voice.dscp=[]", "`classes.voice.dscp` must name at least one DSCP"),
    ("classes.voice.dscp=[1, 0-3]", "`classes.voice.dscp` names DSCP 1 twice"),
    ("classes.bulk.dscp=[46]", "`classes.bulk.dscp` names DSCP 46, which class voice has already"),
    ("classes.voice.dscp=eff", "did you mean 'ef'?"),
    ("classes.voice.count=2", "`classes.voice` has 1 DSCPs for 2 classes; several classes need one each"),
    ("classes.bulk.count=2", "`classes.bulk` makes it 4 classes, but tiny_deadline_3 has 3"),
    ("classes.bulk.count=257", "`classes.bulk.count` must be at most 256, not 257"),
    ("classes.bulk.step=1 us", "`classes.bulk` has a `step`, which needs a `count` of 2 or more"),
    ("classes.web.name=voice", 'is "voice", which another class has'),
    ("default_class=video", '`default_class` names class "video", which is not among `classes`'),
    ("memory_limit=4 kB", "`memory_limit` must be"),
    ("memory_limit=10 MB", "(16 to 256 chunks) in tiny_deadline_3, not 10 MB"),
    ("memory_limit=0", "`memory_limit` must be more than 0"),
    ("traffic.calls.constant.classes=video", '`traffic.calls.constant.classes` names class "video", which is not among `classes`'),
    ("traffic.calls.constant.classes=3", "`traffic.calls.constant.classes` names class 3, but there are classes 0 to 2"),
    ("traffic.calls.constant.rate=11 Gbit/s", "`traffic.calls.constant.rate` must be at most the ingress line's 10 Gbit/s, not 11 Gbit/s"),
    ("traffic.calls.headers={dscp: af21}", "`traffic.calls.headers.dscp` is 18, which is of class web, not of voice"),
    ("traffic.calls.constant.size=41", "`traffic.calls.headers` are 42 byte, but `size` has frames of 41 byte"),
    ("traffic.calls.start=100 us", "`traffic.calls.start` is 100 us, which is not before the end of the run at 100 us"),
    ("traffic.calls.stop=100 ps", "`traffic.calls.stop` leaves it 0 ns to 0.100 ns, which is less than a clock cycle at 100 MHz"),
    ("traffic.calls.queues=1", "`traffic.calls.queues` is not a known key"),
    ("traffic.calls.constant.classes=voice:", "not"),
    ("traffic=[{pcap: none.pcap}]", "there is no such capture"),
    (
        "changes=[{at: 100 us, classes: voice, deadline: 1 us}]",
        "`changes.0.at` is 100 us, which is not before the end of the run at 100 us",
    ),
    ("changes=[{at: 1 us, classes: voice}]", "`changes.0` needs `classes` and `deadline` together"),
    ("changes=[{at: 1 us, dscp: 1}]", "`changes.0` needs `dscp` and `to` together"),
    ("changes=[{at: 1 us}]", "`changes.0` needs exactly one of"),
    ("changes=[{at: 1 us, dscp: 1, to: web, memory_limit: 100 kB}]", "`changes.0` needs exactly one of"),
    ("changes=[{at: 1 us, dscp: 1, to: video}]", '`changes.0.to` names class "video"'),
    ("changes=[{at: 1 us, classes: voice, deadline: 2 ms}]", "`changes.0.deadline` must be at most"),
    ("changes=[{at: 1 us, memory_limit: 1 kB}]", "`changes.0.memory_limit` must be"),
    ("report.series=video", '`report.series` names class "video"'),
    ("link.ingress=60 Gbit/s", "`link.ingress` must be at most 51.20 Gbit/s, the 512 bit a cycle"),
    ("duration=1 h", "`duration` must be a time"),
    ("duration=100 s", "a deadline port takes 4,000,000 in a run"),
    ("device.read_latency_ns=-1", "`device.read_latency_ns` must be at least 0, not -1"),
    ("device.gap_permille=901", "`device.gap_permille` must be at most 900, not 901"),
    ("device.overrides.places=2", "places is 2; a frame of max_frame_bytes, 1,522, can lie in 5 chunks"),
]


@pytest.mark.parametrize(("setting", "says"), ERRORS, ids=[setting for setting, _ in ERRORS])
def test_errors_are_one_sentence(place: Path, setting: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        planned(None, setting)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_errors_of_other_configurations(place: Path) -> None:
    for settings, says in (
        (["device.config=tiny_fifo_3"], "changes a deadline, which tiny_fifo_3, a plain FIFO, does not look at"),
        (["device.config=tiny_deadline_16", "changes=[{at: 1 us, dscp: 3, to: web}]"], "gets the class beside the frame"),
        (["classes.0.dscp=0-63", "classes.1.dscp=[]"], "must name at least one DSCP"),
    ):
        with pytest.raises(UserError) as caught:
            planned(None, *settings)
        assert says in str(caught.value) and "\n" not in str(caught.value)


def test_class_without_a_dscp(place: Path) -> None:
    text = SCENARIO.replace("dscp: ef }", "dscp: 0-63 }").replace(", dscp: [af21, 20-22] }", " }")
    with pytest.raises(UserError, match="names class web, which has no DSCP: all 64 belong to other classes"):
        planned(text)


def test_file_and_line_are_named(place: Path) -> None:
    with pytest.raises(UserError) as caught:
        planned(SCENARIO.replace("name: web, deadline: 60 us", "name: web, deadline: 60 ms"))
    assert str(caught.value).startswith("s.yaml:6: `classes.web.deadline` must be at most")
