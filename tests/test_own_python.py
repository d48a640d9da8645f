# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""AQMs and schedulers in Python: docs/how-to/own-python.md with its commands, the same in C++ and hardware, speed, what is refused."""

import json
import os
import random
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock
from penstock.engine.run import Request, carry_out, prepare, simulate
from penstock.errors import UserError
from penstock.parts import registry
from penstock.paths import ROOT
from penstock.testing.testkit import seed

PAGES = {name: (ROOT / "docs" / "how-to" / f"{name}.md").read_text() for name in ("own-python", "own-aqm")}
COMMANDS = re.findall(r"^    (penstock .*)$", PAGES["own-python"], re.MULTILINE)
NAMED = ("engine", "wall_seconds", "cycles_per_second", "scenario", "device", "name", "description")


def files(page: str) -> list[tuple[str, str]]:
    blocks = re.findall(r"^`([\w/.]+)`:\n\n((?:(?:    .*)?\n)+)", PAGES[page], re.MULTILINE)
    return [(name, "\n".join(line[4:] for line in block.rstrip("\n").split("\n")) + "\n") for name, block in blocks]


@pytest.fixture
def no_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(registry.VARIABLE, "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page, and those of the page about AQMs with hardware."""
    here = tmp_path_factory.mktemp("own")
    for name, text in [*files("own-aqm"), *files("own-python")]:
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    (block,) = re.findall(r"^    (# test_step.py: (?:.*\n(?:    .*\n|\n)*))", PAGES["own-python"], re.MULTILINE)
    (here / "test_step.py").write_text("\n".join(line[4:] if line.startswith("    ") else line for line in block.split("\n")) + "\n")
    return here


def command(folder: Path, words: list[str], expect: int = 0) -> str:
    environment = {name: value for name, value in os.environ.items() if name != registry.VARIABLE}
    done = subprocess.run([sys.executable, "-m", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == expect, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def comparable(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in NAMED}


def test_the_page_in_python(folder: Path) -> None:
    """Its commands without C++ and hardware, and its test."""
    ours = [line for line in COMMANDS if ".py" in line]
    assert len(ours) == 4 and len(COMMANDS) == 6
    for line in ours:
        command(folder, shlex.split(line))
    steps, other = (json.loads((folder / name / "result.json").read_text()) for name in ("in_python", "other_step"))
    slow, fast = steps["queues"]
    assert slow["marked_packets"] > 5 and fast["aqm_drop_packets"] > 50 and fast["marked_packets"] == 0
    assert 0.5e6 < fast["latency_ns"]["max"] < 1.1e6  # nothing that was sent had waited for its step
    assert other["queues"][0] == slow and 1.5e6 < other["queues"][1]["latency_ns"]["max"] < 2.1e6
    table = (folder / "results" / "sweeps" / "compared" / "table.csv").read_text().splitlines()
    assert len(table) == 1 + 9 and sum(",step," in line or line.startswith("step,") for line in table) == 3
    longest = json.loads((folder / "longest_first" / "result.json").read_text())
    assert longest["conservation"]["ok"] and longest["packets"]["out"] > 500
    command(folder, ["pytest", "-q", "-p", "no:cacheprovider", "test_step.py"])


def random_scenario(folder: Path, name: str) -> Path:
    """Write a scenario whose rates, sizes and steps are random; queues of one may be marked, those of others not."""
    draw = random.Random(seed())
    queues, traffic = [], []
    for ident in range(6):
        rate = draw.choice([500, 1000, 4000, 9000])
        aqm = f"{{ step: {draw.choice([200, 1000, 3000, 9000])} us, ecn: {draw.choice(['true', 'false'])} }}"
        judged = f", aqm: {aqm}" if ident < 5 else ""
        queues.append(f"  - {{ id: {ident}, name: q{ident}, rate: {rate} kbit/s, limit_packets: 60{judged} }}")
        size = draw.choice(["imix", "60", "700", "1514"])
        source = f"poisson: {{ queues: q{ident}, rate: {round(rate * draw.uniform(0.7, 2))} kbit/s, size: {size} }}"
        traffic.append(f"  - {{ {source}" + ", headers: { ecn: 1 }" * (ident % 2) + " }")
    text = f"name: {name}\nseed: {seed() % 1000}\ndevice: {{ config: demo_64, aqm: {name} }}\nduration: 400 ms\ndrain: true\n"
    path = folder / f"{name}_random.yaml"
    path.write_text(text + "queues:\n" + "\n".join(queues) + "\ntraffic:\n" + "\n".join(traffic) + "\n")
    return path


def test_python_cpp_and_hardware_agree(folder: Path, no_parts: None) -> None:
    """Random traffic: every packet, its time and its fate."""
    print(f"PENSTOCK_SEED={seed()}")
    results = {}
    for name, part, engine in (("step", "step.py", "model"), ("step_cpp", "step_cpp", "model"), ("step_marker", "step_marker", "rtl")):
        registry.add_folder(folder / part)
        results[name] = carry_out(Request(random_scenario(folder, name), engine=engine, out=folder / f"random_{name}"))[0]
    first, *others = results.values()
    for other in others:
        assert comparable(other) == comparable(first)
    series = [dict(np.load(folder / f"random_{name}" / "series.npz")) for name in results]
    for other in series[1:]:
        for key, array in series[0].items():
            assert np.array_equal(array, other[key], equal_nan=array.dtype.kind == "f"), key
    rows = first["queues"]
    assert sum(row["aqm_drop_packets"] for row in rows[:5]) > 20 and rows[5]["aqm_drop_packets"] == 0


LIMIT = '''"""Drops what comes to more than so many bytes, and counts what leaves."""
settings = {"most": "3 kB"}
state = {"left": 0}

def on_enqueue(queue, packet):
    if packet.backlog > queue.most:
        return "mark"

def on_dequeue(queue, packet):
    queue.left += packet.length
'''
LIMIT_CPP = """#pragma once
#include "blocks/aqm/model/aqm_model.hpp"
#include <vector>
struct Limit : penstock::AqmModel {
    Limit(std::uint32_t queues, const penstock::AqmNumbers&) : settings(queues) {}
    void set(std::int64_t, std::uint32_t queue, const penstock::AqmSetting& setting) override { settings[queue] = setting; }
    penstock::AqmVerdict arrives(const penstock::AqmArrival& packet) override {
        const penstock::AqmSetting& own = settings[packet.queue];
        if (!own.enable || packet.backlog <= own.field(18, 18)) return penstock::AqmVerdict::Pass;
        return own.ecn && packet.ect ? penstock::AqmVerdict::Mark : penstock::AqmVerdict::Drop;
    }
    std::vector<penstock::AqmSetting> settings;
};
"""


def test_what_judges_arrivals_agrees_with_cpp(tmp_path: Path, no_parts: None) -> None:
    print(f"PENSTOCK_SEED={seed()}")
    (tmp_path / "limit.py").write_text(LIMIT)
    (tmp_path / "limit_cpp" / "model").mkdir(parents=True)
    (tmp_path / "limit_cpp" / "model" / "limit.hpp").write_text(LIMIT_CPP)
    (tmp_path / "limit_cpp" / "part.yaml").write_text(
        "kind: aqm\nwords: Drops.\nsees: arrivals\nmodel: { header: model/limit.hpp, class: Limit }\n"
        "settings:\n  - { name: most, unit: bytes, bits: 18, default: 3 kB, words: Most bytes. }\n"
    )
    results = []
    for name, part in (("limit", "limit.py"), ("limit_cpp", "limit_cpp")):
        registry.add_folder(tmp_path / part)
        path = random_scenario(tmp_path, name)
        path.write_text(re.sub(r"step: (\d+) us", lambda found: f"most: {found[1]} B", path.read_text()))
        results.append(carry_out(Request(path, engine="model", out=tmp_path / f"out_{name}"))[0])
    assert comparable(results[0]) == comparable(results[1])
    assert results[0]["packets"]["dropped"]["aqm"] > 20 and sum(row["marked_packets"] for row in results[0]["queues"]) > 5


PRIORITY = '''"""The lowest queue first; each packet is told."""
state = {"came": 0, "went": 0}

def on_enqueue(queue, packet):
    queue.came += packet.length

def on_dequeue(queue, packet):
    queue.went += packet.length
    assert queue.came - queue.went == packet.backlog == queue.backlog, (queue.came, queue.went, packet.backlog)

def choose(queues, now_ns):
    assert all(queue.backlog >= queue.head > 0 for queue in queues)
    return WAIT if now_ns < BEGIN else queues[0]
'''


@pytest.mark.parametrize("wait", ["None", "10_000", "1e6"])
def test_a_scheduler_chooses(tmp_path: Path, no_parts: None, wait: str) -> None:
    """Strict priority from the moment on in which it begins; one that sleeps without an end is woken by the next packet."""
    begin = 3e6
    (tmp_path / "priority.py").write_text(PRIORITY.replace("WAIT", wait).replace("BEGIN", str(begin)))
    print(f"PENSTOCK_SEED={seed()}")
    draw = random.Random(seed())
    given = {"config": "demo_64", "scheduler": "priority"}
    with penstock.open(given, parts=[tmp_path / "priority.py"], link={"egress": "20 Mbit/s"}) as device:
        order = [queue for queue in (3, 7, 11) for _ in range(20)]
        draw.shuffle(order)
        for queue in order:
            device.send(bytes(draw.randint(60, 1500)), queue=queue)
        device.send(bytes(100), queue=20, at="3100 us")
        device.advance("1 s")
        frames = list(device.received())
    assert [frame.queue for frame in frames if frame.queue != 20] == sorted(order)
    assert frames[0].time_ns >= begin and len(frames) == 61


DRAWS = '''"""Drops a tenth of all packets, whichever."""

def on_enqueue(queue, packet):
    if rng.random() < 0.1:
        return "drop"
'''


def test_random_numbers_follow_the_seed(tmp_path: Path, no_parts: None) -> None:
    """The same seed drops the same packets, another one others; by the scenario's `seed`, by `--seed`, and of a device held open."""
    (tmp_path / "draws.py").write_text(DRAWS)
    (tmp_path / "s.yaml").write_text(
        "name: s\ndevice: { config: demo_64, aqm: draws }\nduration: 20 ms\nseed: 5\n"
        "queues: [{ id: 0, name: all, aqm: {} }]\ntraffic: [{ constant: { queues: all, rate: 100 Mbit/s, size: 500 } }]\n"
    )

    def dropped(*more: str) -> list[float]:
        out = tmp_path / "out"
        words = ["penstock", "run", "s.yaml", "--with", "draws.py", "--engine", "model", "--packets", "--out", str(out)]
        command(tmp_path, [*words, *more])
        from pyarrow import parquet

        rows = parquet.read_table(out / "packets.parquet").to_pydict()
        assert json.loads((out / "result.json").read_text())["seed"] == (int(more[1]) if more else 5)
        return [time for time, fate in zip(rows["time_ns"], rows["fate"], strict=True) if fate == "aqm"]

    first = dropped()
    assert 25 < len(first) < 80 and dropped("--seed", "5") == first and dropped("--seed", "6") != first

    def held(number: int) -> list[int]:
        given = {"config": "demo_64", "aqm": "draws"}
        with penstock.open(given, parts=[tmp_path / "draws.py"], seed=number, queues=[{"id": 0, "aqm": {}}]) as device:
            for length in range(100, 300):
                device.send(bytes(length), queue=0)
            device.advance("10 ms")
            return [len(frame.data) for frame in device.received()]

    assert held(1) == held(1) != held(2) and 150 < len(held(1)) < 195


CODEL_LIKE = '''"""Drops what waited for a target for an interval."""
settings = {"target": "5 ms", "interval": "100 ms"}
state = {"above_since": None, "next_drop": 0.0, "count": 0}

def on_dequeue(queue, packet):
    if packet.sojourn_ns < queue.target or packet.backlog < 1514:
        queue.above_since, queue.count = None, 0
    elif queue.above_since is None:
        queue.above_since = packet.now_ns
        queue.next_drop = packet.now_ns + queue.interval
    elif packet.now_ns >= queue.next_drop:
        queue.count += 1
        queue.next_drop += queue.interval / queue.count ** 0.5
        return "mark"
'''


def _cpu_seconds(path: Path) -> tuple[float, int]:
    run = prepare(Request(path, engine="model"))
    simulate(run.plan.job | {"duration_cycles": 1000}, run.config, path)  # all is built and loaded
    begin = time.process_time()
    raw = simulate(run.plan.job, run.config, path)
    return time.process_time() - begin, int(raw["packets"]["in"])


def _call(one: object, two: object) -> None:
    return None


def test_speed(folder: Path, tmp_path: Path, no_parts: None, capsys: pytest.CaptureFixture[str]) -> None:
    """50,000 packets in a second of CPU time, on a machine that calls an empty function of Python 10 million times in it."""
    (tmp_path / "own_codel.py").write_text(CODEL_LIKE)
    registry.add_folder(tmp_path / "own_codel.py")
    registry.add_folder(folder / "longest.py")
    head = "duration: 2 s\nreport: { series: [0] }\n"
    traffic = "traffic: [{ poisson: { queues: all, pick: random, rate: 300 Mbit/s, size: 500 } }]\n"
    for name, device, queues in (
        ("aqm", "{ config: demo_64, aqm: own_codel }", '[{ ids: "0-31", name: all, rate: 8 Mbit/s, aqm: {} }]'),
        ("scheduler", "{ config: demo_64, scheduler: longest }", '[{ ids: "0-31", name: all }]'),
    ):
        path = tmp_path / f"{name}.yaml"
        path.write_text(f"device: {device}\nlink: {{ egress: 320 Mbit/s }}\n{head}queues: {queues}\n{traffic}")
        seconds, packets = min((_cpu_seconds(path) for _ in range(3)), key=lambda found: found[0])
        calls = []
        for _ in range(5):
            begin = time.process_time()
            for _ in range(200_000):
                _call(0, 0)
            calls.append((time.process_time() - begin) / 200_000)
        with capsys.disabled():
            print(f"\n{name}: {packets:,} packets, {packets / seconds:,.0f} in a CPU second; a call takes {1e9 * min(calls):.0f} ns")
        assert packets > 50_000
        assert seconds / packets < min(calls) * 10_000_000 / 50_000, name


WRONG = {
    "no_functions": ("x = 1\n", r"no_functions\.py: defines neither on_enqueue nor on_dequeue"),
    "no_python": ("def on_dequeue(queue packet): pass\n", r"no_python\.py:1: is not Python"),
    "raises_at_once": ("import no_such_module\n", r"raises_at_once\.py:1: raises ModuleNotFoundError: No module named 'no_such_module'"),
    "no_function": ("on_dequeue = 3\n", r"no_function\.py: on_dequeue must be a function, not 3"),
    "no_mapping": ("settings = 3\ndef on_dequeue(queue, packet): pass\n", r"no_mapping\.py: settings must be a mapping"),
    "no_unit": ('settings = {"x": "5 apples"}\ndef on_dequeue(queue, packet): pass\n', r"no_unit\.py: settings\.x must be a time such as"),
    "no_state": ("state = 3\ndef on_dequeue(queue, packet): pass\n", r"no_state\.py: state must be a mapping"),
    "wide": (
        'settings = {"a": "1 ms", "b": "1 ms", "c": 1}\ndef on_dequeue(queue, packet): pass\n',
        r"wide\.py: settings take 48 bits, but the setting word of a queue has 36",
    ),
    "misspelt": (
        "def on_dequeue(queue, packet):\n    return packet.sojurn\n",
        r"misspelt\.py:2: on_dequeue raises AttributeError: .*sojurn",
    ),
    "returns": ('def on_dequeue(queue, packet):\n    return "dorp"\n', r"returns\.py: on_dequeue returned 'dorp'; allowed are \"drop\""),
    "arguments": ("def on_dequeue(queue):\n    pass\n", r"on_dequeue\(\) takes 1 positional argument"),
    "both": (
        'def on_enqueue(queue, packet):\n    pass\ndef on_dequeue(queue, packet):\n    return "drop"\n',
        r"both\.py: on_dequeue returned 'drop'; beside on_enqueue it is told what leaves",
    ),
    "chooses": (
        "def choose(queues, now_ns):\n    return 'queue 3'\n",
        r"chooses\.py: choose returned 'queue 3'; allowed are one of the queues",
    ),
    "Capital": ("def on_dequeue(queue, packet): pass\n", r"a part's file is called as the part"),
    "codel": ("def on_dequeue(queue, packet): pass\n", r"codel\.py: there is another AQM called codel"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_sentence(name: str, tmp_path: Path, no_parts: None) -> None:
    text, words = WRONG[name]
    (tmp_path / f"{name}.py").write_text(text)
    key, queue = ("scheduler", "") if "choose" in text else ("aqm", ", rate: 1 Mbit/s, aqm: {}")
    path = tmp_path / "s.yaml"
    path.write_text(
        f"device: {{ config: demo_64, {key}: {name} }}\nduration: 10 ms\nqueues: [{{ id: 0{queue} }}]\n"
        "traffic: [{ constant: { queues: 0, rate: 4 Mbit/s, size: 500 } }]\n"
    )
    with pytest.raises(UserError, match=words) as caught:
        registry.add_folder(tmp_path / f"{name}.py")
        carry_out(Request(path, engine="model", out=tmp_path / "out"))
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["step.py", "step_cpp"])
def test_what_has_no_hardware_says_so(folder: Path, no_parts: None, name: str) -> None:
    why = "it is in Python" if name.endswith(".py") else "part.yaml has no rtl"
    words = f"AQM {name.removesuffix('.py')} has no hardware, as {why}: only --engine model runs it"
    aqm = name.removesuffix(".py")
    for words_of_command in (
        ["run", "steps.yaml", "--with", name, "--set", f"device.aqm={aqm}", "--engine", "rtl", "--out", "none"],
        ["generate", "access_edge", "--with", name, "--config", "demo_64", "--set", f"aqm={aqm}", "--out", "none"],
    ):
        assert words in " ".join(command(folder, ["penstock", *words_of_command], expect=2).split())


def test_which_device_key_is_wrong(tmp_path: Path, no_parts: None) -> None:
    path = tmp_path / "s.yaml"
    for device, words in (
        ("{ config: demo_64, aqm: red }", r"s\.yaml:1: `device\.aqm` cannot be used"),
        ("{ config: pass_2048, aqm: codel }", r"s\.yaml:1: `device\.aqm` cannot be used: .*shaping"),
        ("{ config: demo_64, aqm: codel, overrides: { aqm: pie } }", r"`device\.aqm` is given, and so is `device\.overrides\.aqm`"),
        ("{ config: demo_64, scheduler: none }", r"`device\.scheduler` cannot be used"),
    ):
        traffic = "traffic: [{ constant: { queues: 0, rate: 1 Mbit/s, size: 500 } }]"
        path.write_text(f"device: {device}\nduration: 1 ms\nqueues: [{{ id: 0 }}]\n{traffic}\n")
        with pytest.raises(UserError, match=words):
            prepare(Request(path, engine="model"))


def test_one_key_in_place_of_a_configuration(tmp_path: Path, no_parts: None) -> None:
    """`device.aqm` makes of demo_64 the device that demo_codel_64 is."""
    results = []
    for device in ("{ config: demo_64, aqm: codel }", "{ config: demo_codel_64 }"):
        path = tmp_path / "s.yaml"
        path.write_text(
            f"name: s\ndevice: {device}\nduration: 400 ms\nqueues: [{{ id: 0, rate: 2 Mbit/s, aqm: {{}} }}]\n"
            "traffic: [{ poisson: { queues: 0, rate: 4 Mbit/s, size: 500 } }]\n"
        )
        results.append(carry_out(Request(path, engine="model", out=tmp_path / "out"))[0])
    own = ("config", "device", "scenario", "wall_seconds", "cycles_per_second")
    assert {key: value for key, value in results[0].items() if key not in own} == {
        key: value for key, value in results[1].items() if key not in own
    }
    assert results[0]["packets"]["dropped"]["aqm"] > 3
