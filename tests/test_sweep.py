# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`sweep`: a sweep that was ended goes on, here and on a cluster; what is run again and what is not; the example of the guide.

Where processes matter they are started; elsewhere `sweeping.Calls` answers in their place, or the command runs in this process.
"""

import contextlib
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from sweeping import GRID, SMALL, TIMES, Calls, drawn, kept, rows_of, sweep, without_processes, without_times, write

from penstock.command_line.app import main
from penstock.designs.access_edge.bench import core
from penstock.engine import engine
from penstock.errors import UserError
from penstock.hardware import verilate
from penstock.parts import registry
from penstock.paths import ROOT
from penstock.sweeps import build, sources, spec, table
from penstock.sweeps.check import check
from penstock.sweeps.make import Request, make
from penstock.sweeps.point import Point, points
from penstock.testing.testkit import seed

LONG = "switch-sim: { algorithm: oq, ports: 8, slots: 1000000000000, seeds: 1 }\nseeds: 1..3\n"  # months each
MARK = "PENSTOCK_TEST_SWEEP"  # in the environment of all processes that a test starts


# ---- processes


@contextlib.contextmanager
def started(*arguments: object, mark: str = "") -> Iterator[subprocess.Popen[str]]:
    """Start `penstock sweep` as a user would; nothing is left of it afterwards."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONSAFEPATH": "1", MARK: mark}
    command = [sys.executable, "-P", "-m", "penstock", "sweep", *map(str, arguments)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def runs_of(mark: str) -> list[int]:
    """The processes of single runs that bear a mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"switch-sim" in words and f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def wait_for(what: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def workers() -> Iterator[SimpleNamespace]:
    """A Dask cluster of two workers on this machine, and the mark of their processes."""
    import distributed

    mark = uuid.uuid4().hex
    before = {name: os.environ.get(name) for name in (MARK, "PYTHONPATH")}
    os.environ.update({MARK: mark, "PYTHONPATH": str(ROOT / "src")})
    try:
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as found:
            yield SimpleNamespace(address=found.scheduler_address, mark=mark)
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="module")
def never_killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The out folder of the sweep that the others are compared with."""
    folder = tmp_path_factory.mktemp("never_killed")
    return without_processes(write(folder, GRID), folder / "out")


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_a_killed_sweep_goes_on(where: str, never_killed: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Killed in the middle, what was finished is not run again, and the table is that of a sweep that was never killed."""
    engine.build()
    on = ["--cluster", request.getfixturevalue("workers").address] if where == "cluster" else ["--workers", "2"]
    file, out = write(tmp_path, GRID), tmp_path / "out"
    with started(file, "--out", out, *on):
        wait_for(lambda: len(kept(out)) >= 8)
    before = kept(out)
    assert 8 <= len(before) < 24 and not (out / "table.csv").exists()

    with started(file, "--out", out, *on, "--json") as second:
        said, err = second.communicate()
    assert second.returncode == 0, err
    result = json.loads(said)
    assert (result["runs"], result["kept"], result["failed"]) == (24, len(before), 0)
    after = kept(out)
    assert len(after) == 24 and {name: after[name] for name in before} == before
    assert without_times(rows_of(out)) == without_times(rows_of(never_killed))
    assert not list(out.glob(".partial-*")) and not list((out / "runs").glob(".*"))
    assert not {row["error"] for row in rows_of(out)} - {""}


@pytest.mark.parametrize("where", ["here", "cluster"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_sweep_that_ends_ends_its_runs(where: str, number: signal.Signals, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Ctrl-C: all processes are gone when the command is (on a cluster a second later). A kill: a second or two later."""
    engine.build()
    if where == "cluster":
        found = request.getfixturevalue("workers")
        mark, on = found.mark, ["--cluster", found.address]
    else:
        mark, on = uuid.uuid4().hex, ["--workers", "2"]
    with started(write(tmp_path, LONG), "--out", tmp_path / "out", *on, mark=mark) as process:
        wait_for(lambda: len(runs_of(mark)) == 2)
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert f"Interrupted: 0 of 3 runs are kept in {tmp_path / 'out'}; the same command goes on." in err
        assert "Traceback" not in err
    if where == "cluster" or number == signal.SIGKILL:
        wait_for(lambda: not runs_of(mark), 15)
    assert not runs_of(mark)


def test_a_cluster_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.basics.dask_cluster.CONNECT_SECONDS", 0.5)
    assert main(["sweep", str(write(tmp_path, GRID)), "--out", str(tmp_path / "out"), "--cluster", "tcp://127.0.0.1:1"]) == 2
    assert "--cluster tcp://127.0.0.1:1: no Dask scheduler answers there" in capsys.readouterr().err


def test_workers_with_other_sources_are_refused(workers: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.sweeps.make.fingerprint", lambda: "f" * 12)
    with pytest.raises(UserError, match=r"on a worker the sources in .* are [0-9a-f]{12}, and the sweep's were f{12}.*same state"):
        make(Request(write(tmp_path, GRID), cluster=workers.address, out=tmp_path / "out"))
    assert not kept(tmp_path / "out")


COMPILES = """
import sys, time
from pathlib import Path
from penstock import cache
from penstock.designs.access_edge.bench.core import build_core
from penstock.hardware import verilate

cache.CACHE = Path(sys.argv[1])
def compile(what, work):
    with (cache.CACHE / "compiled").open("a") as file:
        file.write("once\\n")
    time.sleep(0.5)
    (work / "obj").mkdir()
    (work / "obj" / "device.so").write_text("")
verilate._compile = compile
print(build_core(64, 64))
"""


def test_two_processes_that_need_one_device_compile_it_once(tmp_path: Path) -> None:
    """So it is with workers of a cluster, which build their own: the second waits at the lock and takes what the first has made."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-P", "-c", COMPILES, str(tmp_path)]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    made = {process.communicate()[0] for process in both}
    assert len(made) == 1 and Path(made.pop().strip()).exists()
    assert (tmp_path / "compiled").read_text() == "once\n"


def test_devices_are_built_once_and_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two devices, each once, whatever the seeds; models need none. One that does not compile fails its own points."""
    built: list[str] = []

    def build_core(queues: int, *_: object, **__: object) -> Path:
        built.append(f"core of {queues}")
        if queues == 128:
            raise verilate.VerilateError("core_128 does not compile (build.log):\nand many words")
        return Path("core.so")

    monkeypatch.setattr(engine, "build", lambda report=None, *parts: built.append("engine"))
    monkeypatch.setattr(core, "build_core", build_core)
    text = "bench: queue\nengines: [rtl, model]\nseeds: 1..3\nset: { queues: [64, 128] }\n"
    sweep, _ = spec.load(write(tmp_path, text))
    (grid,) = points(sweep, tmp_path)
    failed = list(build.prepare(grid, lambda text: None))
    assert built[0] == "engine" and [name for name in built if name != "engine"] == ["core of 64", "core of 128"]
    assert [(point.engine, point.seed, dict(point.settings), why) for point, why in failed] == [
        ("rtl", number, {"queues": 128}, "core_128 does not compile (build.log):") for number in (1, 2, 3)
    ]


# ---- what is run again


def test_only_what_is_new_is_run(calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More seeds, another value: the rest is kept, also where the file was renamed, or keys stand in another order."""
    out = tmp_path / "out"
    assert sweep(capsys, write(tmp_path, SMALL), "--out", out)["kept"] == 0 and len(calls.made) == 8
    for change, new in (
        ("", 0),
        ("seeds: 1..3", 4),
        ("set: { rate: [0.5, 0.75], algorithm: [oq, pim] }", 0),
        ("set: { algorithm: [pim, oq, islip], rate: 0.75 }", 2),
        ("plots: [{ x: rate, y: throughput }]", 0),
        ("switch-sim: { ports: 8 }", 8),
    ):
        calls.made.clear()
        key = change.partition(":")[0]
        text = "\n".join([*(line for line in SMALL.splitlines() if not change or not line.startswith(f"{key}:")), change])
        result = sweep(capsys, write(tmp_path, text, f"{len(change)}.yaml"), "--out", out)
        assert (len(calls.made), result["kept"]) == (new, result["runs"] - new), change


def test_a_run_is_kept_as_soon_as_it_ends(calls: Calls, tmp_path: Path) -> None:
    """When the next one begins, or at once after that."""
    out = tmp_path / "out"
    calls.answer = lambda options: wait_for(lambda: len(kept(out)) >= len(calls.made) - 1, 5)
    make(Request(write(tmp_path, SMALL), out=out, workers=1))
    assert len(kept(out)) == len(calls.made) == 8


def test_each_point_runs_once(calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Grids may meet."""
    text = "switch-sim: { ports: 4 }\nset: { rate: 0.5 }\ngrids:\n- { algorithm: [oq, pim] }\n- { algorithm: [pim, islip], depth: [8] }\n"
    result = sweep(capsys, write(tmp_path, text + "- { algorithm: pim }\n"), "--out", tmp_path / "out")
    assert result["runs"] == len(calls.made) == len({" ".join(made) for made in calls.made}) == 4
    assert result["parameters"] == ["rate", "algorithm", "depth"]
    assert [(row["algorithm"], row["depth"]) for row in rows_of(tmp_path / "out")] == [
        ("oq", ""),
        ("pim", ""),
        ("pim", "8"),
        ("islip", "8"),
    ]


@pytest.mark.parametrize("number", range(5))
def test_whatever_is_lost_is_run_again_and_nothing_else(
    number: int, calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Random grids; random files of finished runs are removed, cut or filled with something else."""
    print(f"PENSTOCK_SEED={seed()}")
    draw = random.Random(f"{seed()} {number}")
    pools = {"rate": [0.1, 0.2, 0.5, 1.0], "depth": [1, 4, 9], "hot": [0, 0.5, 1]}
    keys = draw.sample(sorted(pools), draw.randint(1, 3))
    grid = {key: draw.sample(pools[key], draw.randint(1, 3)) for key in keys}
    text = f"switch-sim: {{ algorithm: oq }}\nseeds: 1..{draw.randint(1, 3)}\nset: {json.dumps(grid)}\n"
    file, out = write(tmp_path, text), tmp_path / "out"
    first = sweep(capsys, file, "--out", out)
    assert first["runs"] == len(calls.made) == math.prod(map(len, grid.values())) * len(first["seed"])
    table_then = rows_of(out)
    lost = draw.sample(sorted(kept(out)), draw.randint(0, first["runs"]))
    for name in lost:
        path = out / "runs" / name
        how = draw.randrange(4)
        if how == 0:
            path.unlink()
        else:
            path.write_bytes([path.read_bytes()[: draw.randrange(200)], b"", b'{"schema": "another/1"}'][how - 1])
    calls.made.clear()
    assert sweep(capsys, file, "--out", out)["kept"] == first["runs"] - len(lost)
    assert len(calls.made) == len(lost) and rows_of(out) == table_then


def test_a_bad_point_does_not_end_the_sweep(calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has its sentence in the table. A hardware fault is a result and kept; what gave no result is tried again."""
    answers = {
        "0.1": (2, "", "penstock: Reading ... 12 s\npenstock: --rate 0.1: is bad luck\n"),
        "0.2": (-9, "", ""),
        "0.3": (1, Calls.result({"rate": "0.3"}), "penstock: Running ... 3 s\nFAILED: 3 packets left out of order.\nFAILED: 1 is lost.\n"),
        "0.4": (1, "", "The run failed. core_64 does not compile (build.log):\nerror: many words\n"),
        "0.5": (0, "no JSON", ""),
        "0.6": (130, Calls.result({}) | {"interrupted": True}, ""),
        "0.7": (1, "", ""),
        "0.8": (1, Calls.result({}) | {"interrupted": True}, "penstock: interrupted"),
    }
    calls.answer = lambda options: answers.get(options["rate"])
    file, out = (
        write(tmp_path, "switch-sim: { algorithm: oq }\nset: { rate: 0.1..0.9 step 0.1 }\nplots: [{ x: rate, y: throughput }]\n"),
        tmp_path / "out",
    )
    result = sweep(capsys, file, "--out", out, status=1)
    assert (result["runs"], result["failed"]) == (9, 8)
    assert [row["error"] for row in rows_of(out)] == [
        "--rate 0.1: is bad luck",
        "ended by SIGKILL",
        "FAILED: 3 packets left out of order. FAILED: 1 is lost.",
        "The run failed. core_64 does not compile (build.log):",
        "printed something else than a result",
        "ended with status 130 and no word",
        "ended with status 1 and no word",
        "interrupted",
        "",
    ]
    assert [bool(row["throughput"]) for row in rows_of(out)] == [rate in ("0.3", "0.9") for rate in (f"0.{n}" for n in range(1, 10))]
    assert len(kept(out)) == 2
    page = (out / "report.html").read_text()
    assert "8 of 9 runs failed" in page and "rate=0.1: --rate 0.1: is bad luck" in page
    assert [curve["x"] for curve in drawn(out)[0]["curves"]] == [[0.9]]  # of a run that failed no figure is drawn

    calls.made.clear()
    del answers["0.1"]
    assert main(["sweep", str(file), "--out", str(out)]) == 1
    said = capsys.readouterr().out
    assert "sweep: 9 runs, 2 of them from before; 7 failed" in said and "failed: rate=0.2: ended by SIGKILL" in said
    assert len(calls.made) == 7 and rows_of(out)[0]["error"] == ""


def test_real_points_and_a_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Benches and scenarios, in processes: the table holds what the command prints."""
    engine.build()
    file = write(tmp_path, "bench: queue\nengines: model\nset: { queues: [64, 1], packets: 2000, shaping: true }\n")
    result = sweep(capsys, file, "--out", tmp_path / "bench", status=1)
    assert result["rows"][1]["error"] == "--set queues=1: give 2 to 4,194,304" and "error" not in result["rows"][0]
    capsys.readouterr()
    assert main(["bench", "queue", "--set", "engine=model", "--set", "queues=64", "--set", "packets=2000", "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    row = result["rows"][0]
    assert row["packets"] == 2000 and row["result.packets"] == alone["packets"] and row["cycles"] == alone["cycles"]
    assert row["config.pattern"] == "random" and row["shaping"] is True

    hello = {"run": str(ROOT / "scenarios/hello.yaml"), "engines": "model", "seeds": 7, "set": {"duration": "20 ms"}}
    result = sweep(capsys, write(tmp_path, json.dumps(hello)), "--out", tmp_path / "run")
    (row,) = result["rows"]
    assert (row["engine"], row["seed"], row["duration"], row["queues.slow.configured_rate_bps"]) == ("model", 7, "20 ms", 5_000_000)
    assert row["latency_ns.count"] == row["packets.out"] and not any("scenario" in column for column in row)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "plots.json",
        "report.html",
        "result.json",
        "runs",
        "table.csv",
        "table.parquet",
    ]
    assert json.loads((tmp_path / "run" / row["file"]).read_text())["result"]["queues_listed"] == 2


def test_one_sweep_at_a_time_in_a_folder(calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = write(tmp_path, SMALL), tmp_path / "out"
    told: list[int] = []

    def again(options: dict[str, str]) -> None:
        if not told:
            told.append(main(["sweep", str(file), "--out", str(out)]))

    calls.answer = again
    assert main(["sweep", str(file), "--out", str(out), "--workers", "1"]) == 0
    assert told == [2] and f"--out {out}: another sweep works there now" in capsys.readouterr().err


# ---- versions


def test_results_of_other_sources_are_not_mixed_in(
    calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stay, are told, and are taken where that is asked for; then a column says so."""
    version = "a" * 12
    for module in ("make", "execute"):
        monkeypatch.setattr(f"penstock.sweeps.{module}.fingerprint", lambda: version)
    out = tmp_path / "out"
    sweep(capsys, write(tmp_path, SMALL), "--out", out)
    old = kept(out)
    version = "b" * 12
    more = write(tmp_path, SMALL.replace("1..2", "1..3"))
    assert sweep(capsys, more, "--out", out, "--any-sources")["kept"] == 8 and len(calls.made) == 12
    assert [row["sources"][0] for row in rows_of(out)] == ["a", "a", "b"] * 4
    assert "Some rows are of other sources" in (out / "report.html").read_text()
    assert main(["sweep", str(more), "--out", str(out), "--json"]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert (result["kept"], result["runs_of_other_sources"]) == (4, 8) and len(calls.made) == 20
    assert "penstock: 8 finished runs are of other sources and not used; --any-sources would take them" in said.err
    assert {row["sources"] for row in rows_of(out)} == {"b" * 12} and old.items() <= kept(out).items()
    assert sweep(capsys, more, "--out", out, "--any-sources")["kept"] == 12 and {row["sources"] for row in rows_of(out)} == {"b" * 12}


@pytest.mark.parametrize("what", ["sources", "scenario"])
def test_what_changes_meanwhile_stops_the_sweep(
    what: str, calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that may have seen both is not kept."""
    version = "a" * 12
    for module in ("make", "execute"):
        monkeypatch.setattr(f"penstock.sweeps.{module}.fingerprint", lambda: version)
    hello = write(tmp_path, (ROOT / "scenarios/hello.yaml").read_text(), "hello.yaml")

    def change(options: dict[str, str]) -> None:
        nonlocal version
        if options["seed"] == "3" and what == "sources":
            version = "b" * 12
        elif options["seed"] == "3":
            hello.write_text(hello.read_text() + "\n# changed\n")

    calls.answer = change
    file, out = write(tmp_path, "run: hello.yaml\nengines: model\nseeds: 1..5\n"), tmp_path / "out"
    assert main(["sweep", str(file), "--out", str(out), "--workers", "1"]) == 1
    said = capsys.readouterr().err
    words = "the sweep's were aaaaaaaaaaaa when it began" if what == "sources" else "not the file that it was when the sweep began"
    assert words in said and "the same command goes on" in said and said.count("\n") == 1
    assert len(kept(out)) == 2
    calls.answer = lambda options: None
    assert sweep(capsys, file, "--out", out)["kept"] == 0


def test_the_fingerprint_knows_what_makes_a_figure(tmp_path: Path) -> None:
    """Hardware, models, engine, workbench, configurations and tools; no tests, documents or registers of faults."""
    for name in (
        "src/penstock/a.py",
        "blocks/x/rtl/x.sv",
        "blocks/x/rtl/x.f",
        "blocks/x/model/x.hpp",
        "engine/src/x.cpp",
        "blocks/x/test/t.py",
        "p4/x.json",
        "designs/d/configs.yaml",
        "requirements.txt",
        "blocks/x/README.md",
        "src/penstock/faults.yaml",
        "src/penstock/.x.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    first = sources.fingerprint(tmp_path)
    assert re.fullmatch(r"[0-9a-f]{12}", first)
    for path in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        path.write_text("22")
        counts = not {"test", "README.md", "faults.yaml", ".x.py"} & set(path.parts)
        assert (sources.fingerprint(tmp_path) != first) == counts, path
        path.write_text("1")
    assert sources.fingerprint(tmp_path) == first
    (tmp_path / "blocks/x/rtl/x.sv").rename(tmp_path / "blocks/x/rtl/y.sv")
    assert sources.fingerprint(tmp_path) != first
    assert sources.fingerprint() == sources.fingerprint()


def test_the_fingerprint_knows_parts_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the folders that `--with` names, but for their tests; not where they are."""
    monkeypatch.setenv(registry.VARIABLE, "")
    without = sources.fingerprint()
    for place in ("here", "there"):
        for name in ("part.yaml", "rtl/own.sv", "model/own.hpp", "test/test_own.py"):
            (tmp_path / place / "own" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / place / "own" / name).write_text("1")
    monkeypatch.setenv(registry.VARIABLE, str(tmp_path / "here" / "own"))
    first = sources.fingerprint()
    assert first != without
    for name in ("part.yaml", "rtl/own.sv", "model/own.hpp", "test/test_own.py"):
        path = tmp_path / "here" / "own" / name
        path.write_text("22")
        assert (sources.fingerprint() != first) == (path.parent.name != "test"), name
        path.write_text("1")
    monkeypatch.setenv(registry.VARIABLE, str(tmp_path / "there" / "own"))
    assert sources.fingerprint() == first


def test_programs_and_their_commands_count(tmp_path: Path) -> None:
    """Of a P4 device: those of the scenario, or in their place those of the grid; beside the scenario or in the folder of Penstock."""
    text = "device: { design: p4_switch, program: mine.json }\ncommands: mine.txt\nduration: 1 ms\ntraffic: []\n"
    target = sources.portable(write(tmp_path, text, "s.yaml"))
    points = {
        "plain": Point("run", target, "model", 1, ()),
        "key": Point("run", target, "model", 1, (("device.program", "other.json"),)),
        "mapping": Point("run", target, "model", 1, (("device", {"design": "p4_switch", "program": "other.json"}),)),
        "commands": Point("run", target, "model", 1, (("commands", "other.txt"),)),
    }
    names = ("mine.json", "mine.txt", "other.json", "other.txt")
    for name in names:
        write(tmp_path, "1", name)
    first = {of: point.key() for of, point in points.items()}
    assert len(set(first.values())) == 4
    for name, others in zip(names, ({"key", "mapping"}, {"commands"}, {"plain", "commands"}, {"plain", "key", "mapping"}), strict=True):
        before = points["key"].digests()
        write(tmp_path, "22", name)
        assert {of for of, point in points.items() if point.key() == first[of]} == others, name
        assert (points["key"].digests() == before) == ("key" in others)
        write(tmp_path, "1", name)
    ours = Point("run", target, "model", 1, (("device.program", "p4/router.json"),))
    assert "@/p4/router.json" in ours.files() and (ROOT / "p4/router.json").exists()


def test_what_is_in_the_files_counts_and_not_where_they_are(tmp_path: Path) -> None:
    """A scenario, the captures that it names or the grid in their place, and a trace."""
    text = (ROOT / "scenarios/first_light.yaml").read_text()
    captures = sorted(set(re.findall(r"pcap: ([^\s,}]+)", text)))
    assert captures

    def folder(name: str, **changed: str) -> dict[str, str]:
        here = tmp_path / name
        for capture in captures:
            (here / capture).parent.mkdir(parents=True, exist_ok=True)
            (here / capture).write_text(changed.get("capture", "1"))
        write(here, changed.get("scenario", text), "a.yaml")
        (here / "other.pcap").write_text(changed.get("other", "2"))
        target = sources.portable(here / "a.yaml")
        trace = (("trace", sources.portable(here / "other.pcap")),)
        return {
            "run": Point("run", target, "model", 1, ()).key(),
            "set": Point("run", target, "model", 1, (("traffic.0.pcap", "other.pcap"),)).key(),
            "deep": Point("run", target, "model", 1, (("traffic.0", {"pcap": "other.pcap"}),)).key(),
            "trace": Point("switch-sim", "", None, 1, (), trace).key(),
        }

    first = folder("first")
    assert len(set(first.values())) == 4 and folder("second") == first
    for changed, same in (("capture", {"set", "deep", "trace"}), ("scenario", {"trace"}), ("other", {"run"})):
        found = folder(changed, **{changed: text + "\n# more\n"})
        assert {key for key in first if found[key] == first[key]} == same, changed


def test_paths_go_to_other_machines() -> None:
    assert sources.portable(ROOT / "scenarios/hello.yaml") == "@/scenarios/hello.yaml"
    assert sources.resolved("@/scenarios/hello.yaml") == ROOT / "scenarios/hello.yaml"
    assert sources.resolved(sources.portable(Path("/elsewhere/x"))) == Path("/elsewhere/x")


# ---- the guide


def test_the_example_of_the_guide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It shows both files as they are; the sweep runs, its curves are as the page says, and a row is what the command gives."""
    guide = (ROOT / "docs/how-to/sweep.md").read_text()
    folder = ROOT / "scenarios/sweeps"
    for name in ("one_queue.yaml", "codel_target.yaml"):
        assert f"```yaml\n{(folder / name).read_text()}```" in guide
    other = write(tmp_path, re.findall(r"```yaml\n(bench: .*?)```", guide, re.DOTALL)[0])
    described, document = spec.load(other)
    check(described, points(described, tmp_path), document)
    out = without_processes(folder / "codel_target.yaml", tmp_path / "out")
    result = json.loads((out / "result.json").read_text())
    assert result["runs"] == 36 and result["failed"] == 0 and f"{result['runs']} runs" in guide
    delay, drops, through = drawn(out)
    assert (
        [curve["name"] for curve in delay["curves"]] == ["5 ms", "20 ms", "80 ms"]
        and delay["x"]["unit"] == "bit/s"
        and delay["y"]["unit"] == "s"
    )
    assert delay["curves"][0]["x"] == [8e6, 9e6, 10e6, 11e6]
    at_10 = [curve["y"][2] for curve in delay["curves"]]
    assert at_10 == sorted(at_10) and at_10[0] < at_10[2] / 1.5  # a lower target, a shorter delay
    assert [curve["y"][2] for curve in drops["curves"]] == sorted(
        (curve["y"][2] for curve in drops["curves"]), reverse=True
    )  # and more drops
    assert all(len(curve["x"]) == 4 for curve in through["curves"])

    row = next(
        row
        for row in result["rows"]
        if (row["seed"], row["traffic.0.poisson.rate"], row["queues.data.aqm.target"]) == (2, "11 Mbit/s", "20 ms")
    )
    settings = ["--set", "traffic.0.poisson.rate=11 Mbit/s", "--set", "queues.data.aqm.target=20 ms"]
    assert (
        main(
            ["run", str(folder / "one_queue.yaml"), "--engine", "model", "--seed", "2", *settings, "--out", str(tmp_path / "run"), "--json"]
        )
        == 0
    )
    alone = table.flatten(json.loads(capsys.readouterr().out))
    same = {key: value for key, value in alone.items() if key not in TIMES | {"engine", "seed"} and value is not None}
    assert {key: row.get(key) for key in same} == same and len(same) > 60
