"""docs/how-to/own-scheduler.md, done as it is written: its files in an empty folder, its commands one after the other."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge import config as configuration
from penstock.designs.access_edge.bench.core import build_core
from penstock.designs.access_edge.settings import plain
from penstock.designs.access_edge.testing import compare
from penstock.designs.access_edge.testing.testcore import TestCore
from penstock.errors import UserError
from penstock.hardware import part_model, plug_scheduler, synth
from penstock.parts import registry
from penstock.parts.manifest import Part
from penstock.paths import ROOT, tool_environment
from penstock.testing import page, testkit

PAGE = ROOT / "docs" / "how-to" / "own-scheduler.md"
NAME = "longest_queue_first"
FILES = {f"{NAME}/part.yaml", f"{NAME}/rtl/{NAME}.sv", f"{NAME}/model/{NAME}.hpp", f"{NAME}/test/test_{NAME}.py", "longest.yaml"}
TIMES = ("wall_seconds", "cycles_per_second", "engine")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page."""
    made = tmp_path_factory.mktemp("own")
    assert set(page.write_files(PAGE, made)) == FILES
    return made


@pytest.fixture
def part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Part]:
    monkeypatch.setenv(registry.VARIABLE, str(folder / NAME))
    yield registry.find("scheduler", NAME)


def done(number: int, start: str, folder: Path) -> str:
    """Run the command of this number, which begins so, and return what it prints."""
    command = page.commands(PAGE)[number]
    assert command.startswith(start), command
    ran = page.run(command, folder)
    assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def test_all_commands_are_tested() -> None:
    assert len(page.commands(PAGE)) == 7


def test_runs_are_equal_to_the_cycle(folder: Path) -> None:
    """The same packets leave in the same order at the same times, on both engines; and the bursts are cut down, not the weak queues."""
    done(0, "penstock run", folder)
    done(1, "penstock run", folder)
    rtl, model = (json.loads((folder / name / "result.json").read_text()) for name in ("on_rtl", "on_model"))
    assert rtl["packets"]["in"] > 500 and rtl["conservation"]
    assert {k: v for k, v in rtl.items() if k not in TIMES} == {k: v for k, v in model.items() if k not in TIMES}
    assert (folder / "on_rtl" / "series.npz").read_bytes() == (folder / "on_model" / "series.npz").read_bytes()


def test_benches(folder: Path) -> None:
    """A decision every three cycles, as the page says, on both engines."""
    for number in (2, 3):
        words = done(number, "penstock bench queue", folder)
        rate = re.search(r"and ([0-9.]+) dequeues per cycle", words)
        assert rate and abs(float(rate[1]) - 1 / 3) < 0.002, words


def test_package(folder: Path) -> None:
    """The package has the scheduler in it, and lints and runs with nothing but itself."""
    done(4, "penstock generate", folder)
    package = folder / "package"
    assert f"  {NAME} #(" in (package / "rtl" / "pst_schedule_own.sv").read_text()
    assert (package / "rtl" / f"{NAME}.sv").read_text() == (folder / NAME / "rtl" / f"{NAME}.sv").read_text()
    assert "longest queue first" in (package / "README.md").read_text()
    module = next(package.glob("*.core")).stem
    command = ["verilator", "--lint-only", "-Wall", "--top-module", module, "verilator.vlt", "-f", f"{module}.f"]
    ran = subprocess.run(command, cwd=package, env=tool_environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.slow
def test_synthesis(folder: Path) -> None:
    words = done(5, "penstock synth", folder)
    assert "lut" in words.lower(), words


def test_its_own_tests(folder: Path) -> None:
    assert "8 passed" in done(6, "PENSTOCK_WITH", folder)


# ---- hardware and model, at every port of the core in every cycle

FICKLE = ROOT / "designs" / "access_edge" / "test" / "fickle"
CYCLES = 600_000


@pytest.fixture(scope="module")
def program() -> Path:
    return compare.program()


def equal(program: Path, part: Part, queues: int, descriptors: int) -> list[int]:
    """Compare the core in both engines, with stalls, limits and settings in mid-traffic, and return the counts of the last run."""
    library = build_core(queues, descriptors, False, print, assertions=True, scheduler=part)
    model = part_model.library(part)
    counts: list[int] = []
    for number in range(testkit.seed(), testkit.seed() + 3):
        counts = compare.compared(program, library, queues, descriptors, compare.OWN, CYCLES, number, model)
    return counts


@pytest.mark.parametrize("queues, descriptors", [(16, 64), (64, 1000), (5, 40)])
def test_longest_queue_first_is_equal_in_every_cycle(program: Path, part: Part, queues: int, descriptors: int) -> None:
    taken, left, dropped = equal(program, part, queues, descriptors)[:3]
    assert taken > 30_000 and left > 30_000 and dropped > 1000


@pytest.mark.parametrize("queues, descriptors", [(16, 64), (3, 200)])
def test_everything_that_is_told_is_equal_in_every_cycle(
    program: Path, queues: int, descriptors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler whose decisions are a hash of everything that it was told: lengths, heads, backlogs, settings, and when."""
    monkeypatch.setenv(registry.VARIABLE, str(FICKLE))
    taken, left = equal(program, registry.find("scheduler", "fickle"), queues, descriptors)[:2]
    assert taken > 10_000 and left > 10_000


# ---- numbers, which all queues share

SEEDED = """
name: seeded
description: Queues that a scheduler serves by a hash.
device: {config: demo_64, overrides: {scheduler: fickle}}
link: {egress: 50 Mbit/s}
duration: 20 ms
queues:
  - {ids: "0-7", name: eight, limit_packets: 100}
traffic:
  - poisson: {queues: eight, pick: random, rate: 60 Mbit/s, size: imix}
"""


OTHER_SEED = "device.overrides.fickle.seed=99"


def seeded(tmp_path: Path, engine: str, *settings: str) -> Any:
    """Run it with these settings and return the latencies of each queue."""
    scenario = tmp_path / "seeded.yaml"
    scenario.write_text(SEEDED)
    out = tmp_path / "-".join([engine, *settings])
    given = [word for setting in settings for word in ("--set", setting)]
    assert main(["run", str(scenario), "--with", str(FICKLE), "--engine", engine, "--out", str(out), *given]) == 0
    return [queue["latency_ns"] for queue in json.loads((out / "result.json").read_text())["queues"]]


def test_numbers_reach_both_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its default and at another value hardware and model agree, and the two values give different decisions."""
    monkeypatch.setenv(registry.VARIABLE, "")
    usual, other = ([seeded(tmp_path, engine, *given) for engine in ("rtl", "model")] for given in ((), (OTHER_SEED,)))
    assert usual[0] == usual[1] and other[0] == other[1] and usual[0] != other[0]
    assert seeded(tmp_path, "model", OTHER_SEED.replace("99", "12345")) == usual[1]


@pytest.fixture
def fickle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(registry.VARIABLE, str(FICKLE))


@pytest.mark.usefixtures("fickle")
@pytest.mark.parametrize("given", [12345, 99])
def test_a_number_in_what_hardware_and_model_are_told(given: int, tmp_path: Path) -> None:
    """As text from a command line or as a number, of a run and of a synthesis; without it there is the default."""
    config = changed("demo_64", scheduler="fickle", **{"fickle.seed": str(given)})
    assert config.scheduler_numbers == {"seed": given}
    assert configuration.model_settings(config)["scheduler"]["numbers"] == {"seed": given}
    assert f".Seed({given})" in configs.write_generated(config, tmp_path)[0].read_text()
    again = configs.with_overrides(config, {"queues": 32})
    assert again.scheduler_numbers == {"seed": given}
    settings = {"config": "tiny_16", "scheduler": "fickle", "fickle.seed": str(given)}
    job, _ = synth.plan("access_edge", "xcup", settings, [1])
    assert f".Seed({given})" in next(path for path in job.sources if path.name == plug_scheduler.FRAME.name).read_text()
    assert changed("demo_64", scheduler="fickle").scheduler_numbers == {"seed": 12345}


# ---- what is refused


def changed(config: str, **changes: object) -> Any:
    return configs.with_overrides(configs.load(config), changes)


@pytest.mark.parametrize(
    "config, changes, words",
    [
        ("demo_64", {"scheduler": "longest_queue_fist"}, "there is no scheduler 'longest_queue_fist'; did you mean 'longest_queue_first'?"),
        ("demo_64", {"scheduler": "shapd"}, "there is no scheduler 'shapd'; did you mean 'shaped'?"),
        ("demo_64", {"scheduler": NAME, "aqm": "codel"}, f"scheduler is {NAME}, and aqm is codel: a scheduler of your own works without"),
        ("tree_64", {"scheduler": NAME}, f"scheduler is {NAME}, and there is a hierarchy: a scheduler of your own works without"),
        ("demo_64", {"scheduler": "shaped", "shaping": False}, "scheduler is shaped, but shaping is false; give one of the two"),
        ("demo_64", {"scheduler": NAME, "shaping": True}, f"scheduler is {NAME}, but shaping is true; give one of the two"),
        ("demo_codel_64", {"scheduler": "passthrough"}, "aqm is codel, which needs shaping: true"),
        ("demo_64", {"scheduler": "fickle", "fickle.seed": 1 << 32}, "fickle.seed can be at most 4,294,967,295, not 4,294,967,296"),
        ("demo_64", {"scheduler": "fickle", "fickle.seed": "much"}, 'fickle.seed: must be a whole number, not "much"'),
        ("demo_64", {"scheduler": "fickle", "fickle.sed": 3}, "fickle.sed: there is no such setting of a configuration; did you mean"),
        ("demo_64", {"scheduler": "fickle", "fickle": 3}, "fickle: must be keys with values, not 3"),
        ("demo_64", {"fickle.seed": 3}, "fickle is given, but scheduler is shaped"),
        ("demo_64", {"scheduler": NAME, "fickle.seed": 3}, f"fickle is given, but scheduler is {NAME}"),
    ],
)
def test_configurations_that_cannot_be(part: Part, config: str, changes: dict[str, object], words: str) -> None:
    registry.add_folder(FICKLE)
    with pytest.raises(UserError, match=re.escape(words)):
        changed(config, **changes)


def test_names_of_ours_and_shaping_are_the_same() -> None:
    def device(config: Any) -> dict[str, str]:
        return {key: value for key, value in configuration.parameters(config).items() if "Mem" not in key}

    assert device(changed("edge_2048", scheduler="passthrough")) == device(configs.load("pass_2048"))
    assert device(changed("pass_2048", scheduler="shaped")) == device(configs.load("edge_2048")) == device(changed("edge_2048"))
    assert device(changed("pass_2048", shaping=True)) == device(changed("edge_2048", scheduler="shaped"))


@pytest.mark.parametrize(
    "values, words",
    [
        ({"scheduler": {"wieght": 2}}, f"queues[3].scheduler.wieght: is no setting of scheduler {NAME}; did you mean 'weight'?"),
        ({"scheduler": {"weight": 0}}, "queues[3].scheduler.weight: must be at least 1, not 0"),
        ({"scheduler": {"weight": 8}}, "queues[3].scheduler: weight: can be at most 7, not 8"),
        ({"rate": "1 Mbit/s"}, "queues[3].rate: is 1 Mbit/s, but configuration demo_64 has no shapers"),
    ],
)
def test_settings_that_cannot_be(part: Part, values: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=re.escape(words)):
        plain.queue_writes(changed("demo_64", scheduler=NAME), 3, values)


def test_settings_without_a_scheduler_of_ones_own() -> None:
    with pytest.raises(UserError, match=r"queues\[3\].scheduler: is set, but configuration demo_64 has no scheduler of your own"):
        plain.queue_writes(configs.load("demo_64"), 3, {"scheduler": {"weight": 2}})


def test_the_setting_word(part: Part) -> None:
    """The weight is at the top of 50 bits: of the burst's 28, which stand in their own register; unless given it is 1."""
    from penstock.designs.access_edge import registers

    config = changed("demo_64", scheduler=NAME)
    burst, rate = registers.address("queue_burst"), registers.address("queue_rate")
    assert dict(plain.queue_writes(config, 3, {"scheduler": {"weight": 5}}))[burst] == 5 << 25
    usual = dict(plain.queue_writes(config, 3, {}))
    assert usual[burst] == 1 << 25 and usual[rate] == 0


MODULE = """module own_one import pst_pkg::*; #(parameter int Queues = 2, parameter int Gain = 3) (
    input  logic clk_i,
    input  logic s_enq_valid_i,
    output logic m_deq_valid_o,
    output logic [$clog2(Queues)-1:0] m_deq_queue_o,
    output logic watched_o
);
endmodule
"""


def own_one(folder: Path, module: str = MODULE, name: str = "own_one", **manifest: str) -> Part:
    made = folder / name
    made.mkdir()
    (made / "own_one.sv").write_text(module)
    (made / "own_one.hpp").write_text(manifest.get("model", ""))
    (made / "part.yaml").write_text(
        "kind: scheduler\nwords: Some.\nrtl: {module: own_one, files: [own_one.sv]}\nmodel: {header: own_one.hpp, class: OwnOne}\n"
    )
    registry.add_folder(made)
    return registry.find("scheduler", name)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(registry.VARIABLE, "")


@pytest.mark.usefixtures("alone")
def test_names_of_ours_are_taken(tmp_path: Path) -> None:
    own_one(tmp_path, name="shaped")
    with pytest.raises(UserError, match="shaped is the name of a scheduler of ours"):
        changed("demo_64", scheduler="shaped")


@pytest.mark.usefixtures("alone")
def test_a_module_with_what_it_needs(tmp_path: Path) -> None:
    """Ports that it has not are open, or say yes; parameters that it has not are left out."""
    text = plug_scheduler.text(own_one(tmp_path), {"Gain": 5})
    for line in ("      .Gain(5)", "      .watched_o()", "  assign m_deq_take_o = 1'b1;", "  assign s_active_ready_o = 1'b1;"):
        assert line in text, text
    assert ".Credits" not in text and "Credits != 0" in text


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "old, new, words",
    [
        ("s_enq_valid_i", "s_enq_vald_i", "has an input s_enq_vald_i, which nothing drives; did you mean 's_enq_valid_i'"),
        ("output logic m_deq_valid_o", "input logic m_deq_valid_o", "has an input m_deq_valid_o, which is an output of a scheduler"),
        ("m_deq_queue_o", "queue_o", "has no output m_deq_queue_o, so it decides nothing"),
        ("Gain", "Gian", "has no parameter Gain; did you mean 'Gian'"),
        ("module own_one", "module own_two", "none of its files has a module own_one"),
    ],
)
def test_modules_that_are_no_scheduler(tmp_path: Path, old: str, new: str, words: str) -> None:
    part = own_one(tmp_path, MODULE.replace(old, new, 1))
    with pytest.raises(UserError, match=re.escape(words)):
        plug_scheduler.text(part, {"Gain": 5})


@pytest.mark.usefixtures("alone")
def test_a_model_that_is_no_scheduler(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must be derived from penstock::SchedulerModel"):
        part_model.library(own_one(tmp_path, model='#include "blocks/schedule/model/scheduler_model.hpp"\nclass OwnOne {};\n'))


BAD = """#include "blocks/schedule/model/scheduler_model.hpp"
struct OwnOne : penstock::SchedulerModel {{
    OwnOne(std::uint32_t, const penstock::SchedulerNumbers&) {{}}
    penstock::SchedulerOutputs step(const penstock::SchedulerInputs& in) override {{
        penstock::SchedulerOutputs out;
        {body}
        return out;
    }}
    std::int64_t count = 0, at = -1;
}};
"""


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "body, words",
    [
        ("out.ask = 3;", "asks for queue 3, which is empty or not yet announced"),
        ("if (in.accepted) out.ask = 16;", "asks for queue 16 of 16"),
        (
            "if (in.accepted && ++count > 5) out.ask = in.accepted->queue + (at < 0 ? at = 0 : 0); else if (at == 0) out.ask = 0;",
            "less than two",
        ),
        ("if (in.active) at = in.now; if (in.now == at + 1 || in.taken) out.ask = -1; if (in.now == at + 2) out.ask = 0;", ""),
    ],
)
def test_models_that_break_the_rules(tmp_path: Path, body: str, words: str) -> None:
    """A question that must not be asked ends the run with a sentence; one as early as it may be does not."""
    part = own_one(tmp_path, model=BAD.format(body=body))

    def run() -> None:
        core = TestCore(16, 64, shaping=False, scheduler=part, engine="model")
        for _ in range(12):
            core.offer(0, 100)
            for _ in range(20):
                core.cycle()
        core.close()

    if not words:
        run()
        return
    with pytest.raises(RuntimeError, match=re.escape(words)) as caught:
        run()
    assert str(caught.value).startswith("scheduler own_one, its model, cycle ")


@pytest.mark.usefixtures("alone")
def test_no_more_packets_than_fit_downstream(tmp_path: Path) -> None:
    """Nothing is taken from the output, and the model takes no notice."""
    body = "if (in.accepted) out.ask = in.accepted->queue;"
    core = TestCore(64, 256, shaping=False, scheduler=own_one(tmp_path, model=BAD.format(body=body)), engine="model")
    core.pins.m_out_ready = 0
    with pytest.raises(RuntimeError, match="has taken more than the 32 packets that fit downstream"):
        for queue in range(64):
            core.offer(queue, 100)
            for _ in range(4):
                core.cycle()


def test_settings_of_every_queue_are_written(part: Part) -> None:
    """The hardware knows nothing of defaults: of a device with an own scheduler each queue is written, said of or not."""
    from penstock.designs.access_edge import registers
    from penstock.designs.access_edge.setup import Setup

    given = {"device": {"config": "demo_64", "overrides": {"scheduler": NAME}}, "queues": [{"id": 7, "scheduler": {"weight": 3}}]}
    writes = Setup(given).first_writes()
    words = [value >> 25 for address, value in writes if address == registers.address("queue_burst")]
    assert words == [3 if queue == 7 else 1 for queue in range(64)]
    assert not Setup({"device": {"config": "demo_64", "overrides": {"scheduler": "passthrough"}}}).first_writes()
