# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Reading scenarios: values, --set, and what becomes of them in a job."""

import functools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs import design as designs
from penstock.designs.access_edge import job, registers
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.scenarios import scenario, schema_docs, traffic
from penstock.scenarios.common import IMIX
from penstock.scenarios.device import configuration

BASE = """\
name: base
device: {config: demo_64}
duration: 2 ms
queues:
  - {id: 3, name: bulk, rate: 20 Mbit/s, burst: 3 kB}
  - {ids: "4-9, 12", name: others, rate: 1 Mbit/s}
  - {id: 20, name: gate, rate: 0}
defaults: {limit_packets: 100}
traffic:
  - name: first
    constant: {queues: "bulk, 0-2, others", rate: 1 Gbit/s, size: 64}
  - onoff: {queues: [gate, 5], pick: random, rate: 10 Mbit/s, size: imix, on: 10 us, off: 30 us}
    start: 1 us
"""


def plan(tmp_path: Path, text: str = BASE, settings: list[str] | None = None, engine: str = "rtl") -> job.Plan:
    """Return the plan of a scenario's text."""
    path = tmp_path / "base.yaml"
    path.write_text(text)
    read, document = scenario.load(path, settings)
    return job.build(read, document, configuration(read, document), engine)


def test_generated_sources(tmp_path: Path) -> None:
    """Names and ranges become ids, times become cycles of the configuration's clock (10 MHz)."""
    made = plan(tmp_path).job
    first, second = made["sources"]
    assert first["queues"].tolist() == [3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 12]
    assert (first["kind"], first["bps"], first["sizes"], first["stop_cycle"]) == ("constant", 10**9, [[64, 1]], 20_000)
    assert (second["kind"], second["on_cycles"], second["off_cycles"], second["start_cycle"]) == ("onoff", 100, 300, 10)
    assert [tuple(pair) for pair in second["sizes"]] == list(IMIX)
    assert (made["duration_cycles"], made["max_cycles"], made["seed"], made["drain"]) == (20_000, 40_000, 1, True)
    assert made["ingress_bps"] == 512 * 10_000_000, "the bus of a slow device is slower than the usual line"


def test_drawn_rates(tmp_path: Path) -> None:
    """Each queue of the group has its own rate, their sum is as given, and the seed decides."""
    text = BASE.replace(
        '"4-9, 12", name: others, rate: 1 Mbit/s', '"4-9, 12", name: others, rates: {least: 1 Mbit/s, most: 9 Mbit/s, sum: 30 Mbit/s}'
    )
    ids = [4, 5, 6, 7, 8, 9, 12]
    rates = [plan(tmp_path, text).settings.settings(queue).rate_bps for queue in ids]
    assert sum(rates) == pytest.approx(30e6, rel=1e-4) and len(set(rates)) == 7
    assert min(rates) >= 10**6 and max(rates) <= 9 * 10**6
    assert rates == [plan(tmp_path, text).settings.settings(queue).rate_bps for queue in ids]
    assert rates != [plan(tmp_path, text, ["seed=2"]).settings.settings(queue).rate_bps for queue in ids]
    writes = plan(tmp_path, text).job["register_writes"]
    codes = [value for address, value in writes if address == registers.address("queue_rate")]
    assert all(registers.shaper_code(rate, 0, 10_000_000) in codes for rate in rates)


def test_share_of_the_own_rate(tmp_path: Path) -> None:
    text = BASE.replace("rate: 1 Gbit/s, size: 64", "rate: 50.5 %, pick: each, size: 64").replace('"bulk, 0-2, others"', "[others, bulk]")
    source = plan(tmp_path, text).job["sources"][0]
    assert source["bps_each"].tolist() == [505_000.0] * 7 + [10_100_000.0] and "bps" not in source


def test_burst_as_a_time(tmp_path: Path) -> None:
    """A burst of 5 ms is 12,500 byte at 20 Mbit/s and 625 byte at 1 Mbit/s; it holds for `defaults` too."""
    found = plan(tmp_path, BASE.replace("burst: 3 kB", "burst: 5 ms").replace("limit_packets: 100", "burst: 5 ms")).settings
    assert [found.settings(queue).burst_bytes for queue in (3, 4, 20, 0)] == [12_500, 625, 0, 0]


def test_lateness_knows_the_shapers(tmp_path: Path) -> None:
    assert plan(tmp_path).job["lateness"] is None
    lateness = plan(tmp_path, settings=["report.lateness=1 ms"]).job["lateness"]
    assert lateness["from_cycle"] == 10_000
    assert lateness["shapers"][3] == registers.shaper_code(20_000_000, 3000, 10_000_000)
    assert lateness["shapers"][20] == 0 and lateness["shapers"][0] == 1


def test_register_writes(tmp_path: Path) -> None:
    """Every queue that traffic reaches and that differs from reset is written, with its own settings or the defaults."""
    writes = plan(tmp_path).job["register_writes"]
    names = {registers.address(name): name for name in registers.table()}
    settings: dict[int, dict[str, int]] = {}
    now: dict[str, int] = {}
    for address, value in writes:
        now[names[address]] = value
        if names[address] == "queue_command":
            settings[now["queue_index"]] = dict(now)
    assert sorted(settings) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 20]
    assert {s["queue_limit_packets"] for s in settings.values()} == {100}
    code = settings[3]["queue_rate"]
    assert registers.code_rate(code & 0xFFFF, code >> 16, 10_000_000) == pytest.approx(20e6, rel=2**-16)
    assert settings[3]["queue_burst"] == 3000 * 8 // 2
    assert settings[20]["queue_rate"] == 0
    assert settings[0]["queue_rate"] == 1


AQM_BASE = """\
device: {{config: demo_{algorithm}_64}}
duration: 1 ms
queues: [{{id: 0, name: one, rate: 10 Mbit/s, aqm: {{{keys}}}}}]
traffic: [{{constant: {{queues: one, rate: 1 Mbit/s, size: 64}}}}]
"""


@pytest.mark.parametrize(
    ("algorithm", "keys", "ticks"),
    [
        ("codel", "", (3125, 62_500)),  # 5 ms and 100 ms in ticks of 1.6 us
        ("codel", "algorithm: codel, target: 16 us, interval: 3.2 ms", (10, 2000)),
        ("pie", "", (9375, 93_750)),  # 15 ms and 150 ms
        ("pie", "target: 16 us, max_burst: 3.2 ms, ecn: true", (10, 2000)),
    ],
)
def test_times_of_the_aqm(algorithm: str, keys: str, ticks: tuple[int, int], tmp_path: Path) -> None:
    """The registers of both algorithms, with the defaults of their RFCs."""
    writes = dict(plan(tmp_path, AQM_BASE.format(algorithm=algorithm, keys=keys)).job["register_writes"])
    assert writes[registers.address("queue_aqm")] == (3 if "ecn" in keys else 1)
    assert (writes[registers.address("queue_aqm_target")], writes[registers.address("queue_aqm_interval")]) == ticks


@pytest.mark.parametrize(
    ("algorithm", "keys", "words"),
    [
        (
            "codel",
            "max_burst: 1 ms",
            "`queues.one.aqm.max_burst` is set, but configuration demo_codel_64 has CoDel, which has no such time",
        ),
        ("pie", "interval: 1 ms", "`queues.one.aqm.interval` is set, but configuration demo_pie_64 has PIE, which has no such time"),
        ("pie", "algorithm: codel", "`queues.one.aqm.algorithm` is codel, but configuration demo_pie_64 has PIE"),
        ("pie", "target: 500 ms", "`queues.one.aqm.target` cannot be: a time of the AQM can be at most 419"),
    ],
)
def test_keys_of_the_other_aqm_are_refused(algorithm: str, keys: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        plan(tmp_path, AQM_BASE.format(algorithm=algorithm, keys=keys))
    said = str(caught.value)
    assert words in said and "base.yaml:3" in said and "\n" not in said


def test_untouched_defaults_write_nothing(tmp_path: Path) -> None:
    """Queues that are as after reset cost no register write."""
    text = BASE.replace("defaults: {limit_packets: 100}\n", "").replace("bulk, 0-2, others", "0-2").replace("[gate, 5]", "1")
    assert plan(tmp_path, text).job["register_writes"] == []


@pytest.mark.parametrize(
    ("setting", "path", "value"),
    [
        ("seed=7", ("seed",), 7),
        ("queues.bulk.rate=5 Mbit/s", ("queues", 0, "rate"), "5 Mbit/s"),
        ("queues.1.burst=2 kB", ("queues", 1, "burst"), "2 kB"),
        ("traffic.first.constant.size=[[64, 7], [1518, 1]]", ("traffic", 0, "constant", "size"), [[64, 7], [1518, 1]]),
        ("link.egress=1 Gbit/s", ("link", "egress"), "1 Gbit/s"),
        ("drain=false", ("drain",), False),
    ],
)
def test_set(tmp_path: Path, setting: str, path: tuple[str | int, ...], value: Any) -> None:
    """--set reaches keys by dots, list items by name or number, and makes sections that the file does not have."""
    file = tmp_path / "base.yaml"
    file.write_text(BASE)
    _, document = scenario.load(file, [setting])
    here: Any = document.data
    for part in path:
        here = here[part]
    assert here == value


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ([], None),
        (
            ["traffic.0.constant.rate=4 Gbit/s"],
            "5.503 Gbit/s, but the ingress line carries 5.120 Gbit/s",
        ),  # 4 * 88/64, and some
        (["traffic.first.constant.pick=each"], "15.13 Gbit/s"),  # eleven sources
        (["traffic.first.constant.pick=each", "traffic.0.stop=500 us"], None),
        (["link.ingress=1 Gbit/s"], "carries 1 Gbit/s"),
        (["link.ingress=1 Gbit/s", "link.overhead_bytes=0", "traffic.0.constant.rate=990 Mbit/s"], None),
    ],
)
def test_more_than_the_line_carries_is_said(tmp_path: Path, settings: list[str], words: str | None) -> None:
    """Sources that together want more than the ingress link are allowed, and a note says so."""
    notes = plan(tmp_path, settings=settings).notes
    assert (notes == []) if words is None else (len(notes) == 1 and words in notes[0])


def test_a_file_without_a_size_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the kernel have size 0, and some have no end."""
    monkeypatch.setattr(scenario, "MAX_FILE_BYTES", 100)
    with pytest.raises(UserError, match="larger than"):
        scenario.load(Path("/proc/self/maps"))


def test_numbers_are_finite(tmp_path: Path) -> None:
    """Also where any value may stand: a result that repeats the scenario could not hold them."""
    line = BASE.count("\n") + 2
    for text, word in ((".inf", "inf"), ("-.inf", "-inf"), (".nan", "nan")):
        with pytest.raises(UserError) as raised:
            plan(tmp_path, f"{BASE}rounds:\n  - {{ name: a, set: {{ seed: {text} }} }}\n")
        assert str(raised.value) == f"{tmp_path / 'base.yaml'}:{line}: `rounds.a.set.seed` must be a finite number, not {word}"
        setting = f"rounds=[{{name: a, set: {{seed: {text}}}}}]"
        with pytest.raises(UserError) as raised:
            plan(tmp_path, settings=[setting])
        assert str(raised.value) == f"--set {setting}: must be a finite number, not {word}"


@pytest.mark.parametrize(
    "key",
    [
        "report.interval",
        "traffic.1.onoff.on",
        "traffic.1.onoff.off",
        "traffic.2.tcp.rtt",
        "traffic.2.tcp.spread",
        "traffic.2.tcp.delayed_ack",
        "traffic.2.tcp.min_rto",
        "device.memory_faults.0.from",
        "device.memory_faults.0.for",
    ],
)
def test_times_that_the_clock_does_not_reach(tmp_path: Path, key: str) -> None:
    """They are told by the key of the scenario, not by one of the engine's job; a little less is taken."""
    text = BASE + "  - tcp: {queues: bulk, rtt: 1 ms}\n"
    memory = configs.load("demo_64").memories[0].name
    text = text.replace("{config: demo_64}", f"{{config: demo_64, memory_faults: [{{memory: {memory}, what: silent, for: 1 us}}]}}")
    reached = traffic.MAX_CYCLES / configs.load("demo_64").clock_hz
    shown = key.replace("traffic.0", "traffic.first")
    with pytest.raises(UserError, match=rf"`{re.escape(shown)}` must be at most .* s at \d+ MHz, not "):
        plan(tmp_path, text, [f"{key}=1e12 s"])
    plan(tmp_path, text, [f"{key}={int(reached)} s"])


def test_groups_beyond_the_64th_are_named_in_a_note(tmp_path: Path) -> None:
    def notes(groups: int) -> list[str]:
        entries = "".join(f"  - {{ids: {2 * n}-{2 * n + 1}, name: g{n}}}\n" for n in range(groups))
        text = f"device: {{config: edge_2048}}\nduration: 20 us\nqueues:\n{entries}traffic:\n"
        return plan(tmp_path, f"{text}  - constant: {{queues: 0-131, rate: 1 Mbit/s, size: 64}}\n").notes

    assert notes(64) == []
    assert notes(66) == ["Only the first 64 of 66 groups of queues have rows of their own."]


def test_times_after_the_end(tmp_path: Path) -> None:
    """Lateness that would be measured after the run, points that would be too many, connections that would begin too late."""
    end = re.escape("which is not before the end of the run at 4 ms")
    with pytest.raises(UserError, match=f"`report.lateness` is 4 ms, {end}"):
        plan(tmp_path, settings=["report.lateness=4 ms"])
    plan(tmp_path, settings=["report.lateness=3.9 ms"])

    assert plan(tmp_path, settings=["report.interval=200 ns"]).notes == []
    (note,) = plan(tmp_path, settings=["report.interval=100 ns"]).notes
    assert note == "Points in time are 200 ns wide, not 100 ns: a run has at most 20,000 of them."

    connections = BASE + "  - {name: late, tcp: {queues: bulk, rtt: 1 ms, flows: 40, spread: 8 ms}}\n"
    found = plan(tmp_path, connections)
    never = int((found.job["sources"][2]["start_cycles"] >= found.job["duration_cycles"]).sum())
    assert 20 < never < 40
    assert found.notes == [f"{never} of 40 connections of late never begin: `spread` is longer than the time that they have."]


def test_later_set_wins(tmp_path: Path) -> None:
    """Values are applied in the order given."""
    assert plan(tmp_path, settings=["seed=2", "seed=3"]).job["seed"] == 3


def test_memory_timing(tmp_path: Path) -> None:
    """Latencies are given in ns, and at least one cycle."""
    made = plan(tmp_path, settings=["device.read_latency_ns=450", "device.write_latency_ns=0", "device.gap_permille=30"]).job
    assert [(m["read_latency"], m["write_latency"], m["gap_permille"]) for m in made["device"]["memories"]] == [(4, 1, 30)] * 2


def test_overrides(tmp_path: Path) -> None:
    """Numbers of the configuration can be changed; memories by name."""
    made = plan(tmp_path, settings=["device.overrides.queues=32", "device.overrides.memories.ddr.pages=1024"])
    assert made.job["device"]["queues"] == 32


def test_a_hierarchy_as_an_override(tmp_path: Path) -> None:
    """Above queues that have none, and changed where there is one."""
    settings = {"queues_per_subscriber": 2, "nodes": 4, "ports": 2, "classes": 3}
    made = plan(tmp_path, settings=[f"device.overrides.hierarchy={json.dumps(settings)}"], engine="model")
    assert made.job["device"]["model"]["hierarchy"] == settings
    made = plan(tmp_path, settings=[*(f"device.overrides.hierarchy.{key}={value}" for key, value in settings.items())], engine="model")
    assert made.job["device"]["model"]["hierarchy"] == settings


def test_lists_of_queues_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges are short to write; what they name together is bounded."""
    monkeypatch.setattr(job, "MAX_NAMED_QUEUES", 100)
    text = "device: {config: demo_64}\nduration: 2 ms\ntraffic:\n"
    source = "  - constant: {queues: 0-63, rate: 1 Mbit/s, size: 100}\n"
    assert plan(tmp_path, text + source).touched.size == 64
    with pytest.raises(UserError, match="more than 100 queues"):
        plan(tmp_path, text + source + source)


def test_many_queues_are_quick(tmp_path: Path) -> None:
    """A quarter of a million queues by one range."""
    source = "{queues: 0-262143, pick: random, rate: 50 Gbit/s, size: imix}"
    made = plan(tmp_path, f"device: {{config: edge_262144}}\nduration: 1 ms\ntraffic:\n  - poisson: {source}\n")
    assert np.array_equal(made.touched, np.arange(262_144))
    assert len(made.job["series_queues"]) == job.DEFAULT_SERIES


def test_series_by_name(tmp_path: Path) -> None:
    """Series may name queues, groups and ids; too many are refused."""
    assert plan(tmp_path, settings=["report.series=[gate, 7]"]).job["series_queues"] == [20, 7]
    with pytest.raises(UserError, match="at most 32"):
        plan(tmp_path, settings=["report.series=0-40"])


documented = functools.cache(schema_docs.pages)


@pytest.mark.parametrize("page", [*(designs.load(name).page for name in designs.names()), "docs/live.md"])
def test_scenario_reference_is_fresh(page: str) -> None:
    """The tables of each page are those of the models; `python -m penstock.scenarios.schema_docs` writes them."""
    assert documented()[page] == (ROOT / page).read_text()
