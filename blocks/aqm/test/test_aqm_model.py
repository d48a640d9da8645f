# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The interface of AQM models: ours through it, others compiled against it, and what is refused."""

import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock.engine import engine
from penstock.errors import UserError
from penstock.hardware import part_model
from penstock.testing.own_aqm import STEP_AT, STEP_MARKER, OwnPart, write_part
from penstock.testing.testkit import seed

PASS, MARK, DROP = range(3)
DEVICE = {"tick_shift": 8, "max_packet_bytes": 1514, "estimate": 0, "time_width": 26}
PIE = {"update_ticks": 3, "alpha": 50_000, "beta": 50_000}  # so quick and steep that each update is seen


@pytest.fixture(scope="module")
def models() -> Any:
    return engine.models("aqm")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> OwnPart:
    """A step marker in a folder whose path has blanks."""
    return write_part(tmp_path_factory.mktemp("own parts") / "step_marker")


def load(models: Any, part: OwnPart, **numbers: int) -> Any:
    return models.AqmModel(part.name, str(part_model.library(part)), 8, {**DEVICE, **numbers})


@pytest.mark.parametrize("estimate", [0, 1])
def test_codel_through_the_interface(models: Any, estimate: int) -> None:
    """The same verdicts as the class itself gives, which the RFC judges: settings, times, backlogs and numbers reach it as they are."""
    print(f"PENSTOCK_SEED={seed()}")
    rng, queues = random.Random(seed()), 4
    largest = rng.choice([300, 1514])
    model = models.AqmModel("codel", "", queues, {**DEVICE, "estimate": estimate, "max_packet_bytes": largest})
    direct = engine.models("aqm/codel").Codel(queues, largest, bool(estimate), 26)
    counts, now = [0, 0, 0], 0
    for step in range(60_000):
        queue = rng.randrange(queues)
        if step % 10_000 == queue:
            enable, ecn, target, interval = rng.random() < 0.9, rng.random() < 0.5, rng.randrange(40), rng.randrange(1, 300)
            model.set(now << 8, queue, enable, ecn, target << 18 | interval)
            direct.set(queue, enable, ecn, target, interval)
        now += rng.choice([0, 0, 1, 5])
        short = now // 5000 % 3 == 0 or rng.random() < 0.01  # a delay above the target goes on for a time
        sojourn = min(rng.randrange(40) if short else rng.randrange(40, 400), now)
        left, ect = rng.choice([largest + 1, 9000]) if rng.random() < 0.99 else largest, rng.random() < 0.5
        verdict = model.departs((now << 8) + rng.randrange(256), now, sojourn, queue, left, 900, ect)
        assert verdict == direct.step(queue, now, sojourn if estimate else now - sojourn, left, ect), f"packet {step}"
        counts[verdict] += 1
    assert min(counts) > 100, counts


def test_pie_through_the_interface(models: Any) -> None:
    """Each queue is updated a cycle after its neighbour, every 3 ticks; departures, settings and updates count as late as in pst_pie."""
    print(f"PENSTOCK_SEED={seed()}")
    rng, queues, shift, late = random.Random(seed()), 4, 2, 7
    model = models.AqmModel("pie", "", queues, {**DEVICE, "tick_shift": shift, **PIE, "mean_packet_bytes": 500})
    pie = engine.models("aqm/pie")
    direct, draws = pie.Pie(queues, PIE["update_ticks"], PIE["alpha"], PIE["beta"], 500, 26), pie.PieRandom()
    # In cycles, what direct is to be told: a walk comes to queue q in cycle begun + q + 1, after what was written until then.
    begun = ((queues - 1) >> shift) + PIE["update_ticks"]
    changes: list[tuple[int, int, tuple[Any, ...]]] = []  # cycle of its writing, order, what is told
    counts = [0, 0, 0]
    for cycle in range(300_000):
        if cycle == begun << shift:
            changes += [(cycle + 1 + queue, 1, ("update", queue)) for queue in range(queues)]
            begun += PIE["update_ticks"]
        if rng.random() < 0.0001 or cycle < queues:
            queue, enable, ecn = rng.randrange(queues) if cycle >= queues else cycle, rng.random() < 0.95, rng.random() < 0.7
            target, burst = rng.randrange(1, 60), rng.randrange(200)
            model.set(cycle, queue, enable, ecn, target << 18 | burst)
            changes.append((cycle, 0, ("set", queue, enable, ecn, target, burst)))
        if rng.random() < 0.2:
            queue, left = rng.randrange(queues), rng.choice([0, 900]) if rng.random() < 0.01 else 5000
            delay = rng.randrange(60, 90) if cycle // 2000 % 2 else rng.randrange(30)  # above the target for a time
            model.departs(cycle, cycle >> shift, delay, queue, left, 700, False)
            changes.append((cycle + 1, 0, ("depart", queue, delay, left)))
        if rng.random() < 0.8:
            changes.sort(key=lambda change: change[:2])
            while changes and changes[0][0] + late <= cycle:
                what, *told = changes.pop(0)[2]
                getattr(direct, what)(*told)
            queue, backlog, ect = rng.randrange(queues), rng.choice([1000, 1001, 9999]), rng.random() < 0.5
            verdict = model.arrives(cycle, cycle >> shift, queue, backlog, ect)
            assert verdict == direct.arrive(queue, backlog, ect, draws.next()), f"cycle {cycle}"
            counts[verdict] += 1
    assert min(counts) > 20, counts


def test_a_step_marker_of_ones_own(models: Any, own: OwnPart) -> None:
    """Compiled outside of the tree: its verdicts are those of a line of arithmetic, for each queue with its setting."""
    print(f"PENSTOCK_SEED={seed()}")
    rng, model = random.Random(seed()), load(models, own)
    settings = dict.fromkeys(range(8), (False, False, 0))  # as after reset
    counts = [0, 0, 0]
    for cycle in range(20_000):
        queue = rng.randrange(8)
        if rng.random() < 0.01:
            enable, ecn, step, other = rng.random() < 0.8, rng.random() < 0.6, rng.choice([0, 1, 50, (1 << 18) - 1]), rng.randrange(1 << 18)
            model.set(cycle, queue, enable, ecn, step << STEP_AT | other)
            settings[queue] = (enable, ecn, step)
        enable, ecn, step = settings[queue]
        sojourn, ect = rng.choice([max(0, step - 1), step, step + 1, rng.randrange(1 << 20)]), rng.random() < 0.5
        expected = PASS if not enable or sojourn < step else MARK if ecn and ect else DROP
        assert model.departs(cycle, cycle >> 8, sojourn, queue, 3000, 1000, ect) == expected, f"packet {cycle}"
        assert model.arrives(cycle, cycle >> 8, queue, 1 << 20, ect) == PASS  # it does not judge them
        counts[expected] += 1
    assert min(counts) > 1000, counts


def test_it_is_compiled_once_and_again_when_something_changes(tmp_path: Path) -> None:
    told: list[str] = []
    # Another text in each call of the test, as other clones share what is compiled.
    part = write_part(tmp_path / "once", f'{STEP_MARKER}\nstatic const char kCall[] [[maybe_unused]] = "{tmp_path} {os.getpid()}";\n')
    first = part_model.library(part, told.append)
    assert first and first.is_file() and [line.partition(" (")[0] for line in told] == ["Compiling the model of once, once"]
    assert part_model.library(part, told.append) == first and len(told) == 1
    beside = part.folder / "model" / "more.hpp"  # whatever the header may include
    beside.write_text("// nothing\n")
    second = part_model.library(part, told.append)
    assert second not in (None, first) and len(told) == 2
    beside.unlink()
    assert part_model.library(part, told.append) == first and len(told) == 2


def test_sources_beside_the_header_are_compiled_too(models: Any, tmp_path: Path) -> None:
    """And a file of tests is not."""
    header = STEP_MARKER.replace("packet.sojourn < own.field(18, 18)", "packet.sojourn < limit(own)").replace(
        "class StepMarker", "std::int64_t limit(const AqmSetting& setting);\n\nclass StepMarker"
    )
    part = write_part(tmp_path / "two_files", header)
    text = '#include "model/two_files.hpp"\nstd::int64_t penstock::limit(const AqmSetting& setting) { return setting.field(0, 18); }\n'
    (part.folder / "model" / "limit.cpp").write_text(text)
    (part.folder / "model" / "test_limit.cpp").write_text("this is no C++\n")
    model = load(models, part)
    model.set(0, 3, True, True, 77)
    assert [model.departs(9, 0, sojourn, 3, 1, 60, True) for sojourn in (76, 77)] == [PASS, MARK]


def test_ours_need_no_library() -> None:
    """They are in the engine."""
    from penstock.paths import BLOCKS

    assert part_model.library(OwnPart(BLOCKS / "aqm" / "codel")) is None


@pytest.mark.parametrize(
    ("header", "model_class", "words"),
    [
        (STEP_MARKER.replace("own.enable", "own.enabled"), "penstock::StepMarker", r"model/bad\.hpp:1[0-9]:.*enabled.* \(all of it is in "),
        (STEP_MARKER, "penstock::Step", "Step.* is not a member of .penstock"),
        (STEP_MARKER.replace(": public AqmModel", "").replace(" override", ""), "penstock::StepMarker", "must be derived from"),
        (
            STEP_MARKER.replace("void set(", "void sets(").replace("setting) override", "setting)"),
            "penstock::StepMarker",
            r"define set\(\)",
        ),
        (STEP_MARKER.replace(", const AqmNumbers&)", ")"), "penstock::StepMarker", "needs a constructor"),
        ('#include "nowhere.hpp"\n', "penstock::StepMarker", r"model/bad\.hpp:1:10: .*nowhere\.hpp"),
    ],
    ids=["misspelt", "no such class", "not derived", "no set", "no constructor", "no such header"],
)
def test_what_does_not_compile_is_told_in_a_sentence(tmp_path: Path, header: str, model_class: str, words: str) -> None:
    part = write_part(tmp_path / "bad", header, model_class)
    with pytest.raises(UserError, match=f"^the model of bad does not compile: .*{words}") as error:
        part_model.library(part)
    assert "\n" not in str(error.value)
    with pytest.raises(UserError):  # nothing half done is taken for the library
        part_model.library(part)


def compiled(folder: Path, text: str) -> Path:
    """A shared library of this text, that no part was asked about."""
    source, library = folder / "odd.cpp", folder / "odd.so"
    source.write_text(text)
    includes = [f"-I{path}" for path in part_model.INCLUDES]
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fPIC", "-shared", *includes, source, "-o", library], check=True)
    return library


OTHER_VERSION = """
#include "blocks/aqm/model/aqm_model.hpp"
static penstock::AqmModel* make(std::uint32_t, const penstock::AqmNumber*, std::size_t, char*, std::size_t) { return nullptr; }
static const penstock::AqmFactory later{penstock::kAqmModelVersion + 1, &make, nullptr};
extern "C" const penstock::AqmFactory* pst_aqm_factory() { return &later; }
"""
PICKY = STEP_MARKER.replace("const AqmNumbers&) :", "const AqmNumbers& numbers) :").replace(
    "settings_(queues) {}", 'settings_(queues + numbers["grain"] - numbers["grain"]) {}'
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int nothing;", r"odd\.so is no model of an AQM: it has no function pst_aqm_factory$"),
        (OTHER_VERSION, r"odd\.so was made for version 4 of the AQM models' interface, the engine has 3: compile it against the present"),
        ('extern "C" const void* pst_aqm_factory() { return nullptr; }', r"odd\.so is no model of an AQM: its pst_aqm_factory gives none$"),
    ],
    ids=["no factory", "another version", "no model"],
)
def test_libraries_that_are_none_of_ours(models: Any, tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        models.AqmModel("odd", str(compiled(tmp_path, text)), 8, DEVICE)


def test_a_file_that_does_not_load(models: Any, tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_text("no library")
    with pytest.raises(ValueError, match=r"^the AQM's model does not load: .*text\.so"):
        models.AqmModel("text", str(path), 8, DEVICE)
    with pytest.raises(ValueError, match=r"^the AQM's model does not load: .*missing\.so"):
        models.AqmModel("text", str(tmp_path / "missing.so"), 8, DEVICE)
    with pytest.raises(
        ValueError, match=r"^the engine has no AQM red \(it has cobalt, codel, dualpi2, pie\): another one needs its library$"
    ):
        models.AqmModel("red", "", 8, DEVICE)


def test_a_model_may_refuse_its_numbers(models: Any, tmp_path: Path) -> None:
    part = write_part(tmp_path / "picky", PICKY)
    with pytest.raises(ValueError, match=r"^the AQM's model needs the number grain$"):
        load(models, part)
    assert load(models, part, grain=3).departs(0, 0, 9, 0, 0, 60, False) == PASS
    with pytest.raises(ValueError, match="update_ticks must be at least 1"):
        models.AqmModel("pie", "", 8, {**DEVICE, "update_ticks": 0})


def test_numbers_are_called_as_the_parameters_are() -> None:
    names = ["UpdateTicks", "Alpha", "MeanPacketBytes", "alreadyOdd2Name"]
    assert [part_model.parameter_number(name) for name in names] == ["update_ticks", "alpha", "mean_packet_bytes", "already_odd2_name"]


def test_what_a_job_says(own: OwnPart) -> None:
    said = part_model.told(own, {"GrainTicks": 7})
    library = str(part_model.library(own))
    assert said == {"name": "step_marker", "sees": "departures", "library": library, "numbers": {"grain_ticks": 7}}
