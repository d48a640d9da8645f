"""Runs simulations: a module that is driven from Python by cocotb."""

import hashlib
import inspect
import json
import os
import re
import shutil
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from penstock import cache
from penstock.basics import keys, tokens
from penstock.hardware import bundles, verilated_objects
from penstock.paths import BUILD, ROOT, block_file_list, plain, read_file_list, tool_environment
from penstock.testing import verdicts
from penstock.testing.basis import OPTIONS, BuildError, seed

# A test drives and reads ports. cocotb's runner makes all signals of all modules public, which doubles the C++ of a module and keeps
# Verilator from optimising. -O2 takes the compiler more than it saves, as most of the time goes to Python; so does -O0 in the run.
LEVEL = "-O1"
_PORTS = ("*_i", "*_ni", "*_o")
# cocotb lets pytest rewrite the assertions of all modules that are imported, and load conftest.py: more time than most simulations take.
_PYTEST = {"COCOTB_REWRITE_ASSERTION_FILES": "*/test/*.py */testing/*.py", "PYTEST_ADDOPTS": "--noconftest"}


def run_module(
    block: str,
    module: str,
    parameters: dict[str, object] | None = None,
    testcase: str | None = None,
    sources: list[Path] | None = None,
    inside: Sequence[str] = (),
) -> None:
    """Build `module` of `block` with `parameters` and run the calling file's cocotb tests on it (all, or `testcase`).

    The tests see its ports, flat where they are bundles (`penstock.hardware.bundles`), and signals `inside` of it (`<module>.<signal>`;
    where it has bundles it is `dut.u_dut`). What is built is keyed by module, parameters, sources and tools, so a second run does not
    compile again, in whichever clone; a pass is kept with what its Python has read, and not run again either.
    Raises AssertionError when a cocotb test fails, BuildError when the module does not compile.
    """
    test_file = Path(inspect.stack()[1].filename).resolve()
    files = [*(sources or read_file_list(block_file_list(block))), ROOT / "lint" / "verilator.vlt"]
    values = {name: str(value) for name, value in (parameters or {}).items()}
    top, text = bundles.outermost(module, files)
    flags = ["-Werror-USERERROR", "-Wno-WIDTH", *OPTIONS]
    shown = [*((top, port) for port in _PORTS), *(tuple(name.split(".")) for name in inside)]
    public = "`verilator_config\n" + "".join(f'public_flat_rw -module "{of}" -var "{name}"\n' for of, name in shown)
    build = keys.of_build(
        [top, *([text] if text else []), values, flags, public, LEVEL, verilated_objects.frugal()], files, packages=["verilator", "cocotb"]
    )
    test = str(test_file.relative_to(ROOT)) if test_file.is_relative_to(ROOT) else str(test_file)
    run = verdicts.key(["simulation", build, test, testcase, seed()])
    if _known(run):
        return
    program = cache.once("cocotb", build, lambda folder: _build(folder, top, text, values, files, flags, public))
    (BUILD / "cocotb").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{module}-", dir=BUILD / "cocotb") as folder:
        read = _run_tests(top, values, test_file, testcase, program, Path(folder))
    if read is not None:
        verdicts.keep(run, read)
        verdicts.keep(_with(run, read), "PASS")


def _known(run: str) -> bool:
    """Return whether this run has passed before, with all files that it then read as they are now."""
    read = None if verdicts.asked_again() else cache.remembered(verdicts.KIND, run)
    return isinstance(read, list) and verdicts.known(_with(run, read)) == "PASS"


def _with(run: str, read: Iterable[str]) -> str:
    """Return the key of a run that reads these files, as they are now."""
    total = hashlib.sha256(run.encode())
    for name in read:
        path, said = ROOT / name, b""
        if name.endswith(os.sep) and path.is_dir():
            said = "\0".join(sorted(other.name for other in path.iterdir() if other.name != "__pycache__")).encode()
        elif path.is_file():
            said = tokens.digest(path)
        total.update(f"{name}\0".encode() + hashlib.sha256(said).digest())
    return total.hexdigest()[:32]


def _runner() -> Any:
    from cocotb_tools.runner import Verilator

    class Runner(Verilator):
        """Takes paths that make can take, cocotb's own among them; one process a build, as tests run side by side."""

        def _build_command(self) -> list[list[str]]:
            verilate, make = [[word.replace(str(ROOT), str(plain(ROOT))) for word in command] for command in super()._build_command()]
            # Another clone has cocotb's libraries elsewhere: they are found when the program is started.
            verilate = [re.sub(r"-Wl,-rpath,\S+ ", "", word) for word in verilate if word != "--public-flat-rw"]
            # cocotb's main() is compiled with the module: the compiler takes longer to start than for it.
            [main] = [word for word in verilate if word.endswith("verilator.cpp")]
            verilate.remove(main)
            append = ["sh", "-c", 'echo "#include \\"$1\\"" >> Vtop.cpp', "sh", main]
            make = [re.sub(r"^\d+$", "1", word) for word in make]
            levels = [f"{name}={LEVEL}" for name in ("OPT_FAST", "OPT_GLOBAL", "OPT_SLOW")]
            # GCC takes one precompiled header, the first: Verilator's own, of modules that it writes into several files, is read as text.
            as_text = [f"VK_PCH_I_{speed}=-include Vtop__pch.h" for speed in ("FAST", "SLOW")]
            return [verilate, list(verilated_objects.SHORTEN), append, [*make, *levels, *as_text]]

    os.environ.update(tool_environment())  # the runner hands its own environment on
    return Runner()


def _build(
    folder: Path, module: str, text: str, parameters: dict[str, str], files: Sequence[Path], flags: Sequence[str], public: str
) -> None:
    with cache.workshop("cocotb") as work:
        verilated_objects.lend(work, "cocotb", [*OPTIONS, LEVEL])
        (work / "public.vlt").write_text(public)
        own = [plain(work / f"{module}.sv")] if text else []
        for path in own:
            path.write_text(text)
        frugal = verilated_objects.frugal()
        compiler = f"{verilated_objects.precompiled(f'{LEVEL} {frugal}')} {frugal}".strip()
        try:
            _runner().build(
                sources=[*(path for path in files if path.suffix in (".sv", ".v", ".vlt")), *own, plain(work / "public.vlt")],
                hdl_toplevel=module,
                parameters=parameters,
                build_dir=work,
                build_args=[*flags, *(["-CFLAGS", compiler] if compiler else [])],
                always=False,
                timescale=("1ns", "1ps"),
            )
        except Exception as error:
            raise BuildError(f"{module} {parameters} does not compile: {error}") from error
        verilated_objects.keep(work, "cocotb", [*OPTIONS, LEVEL])
        shutil.copy(work / module, folder / module)


def _run_tests(
    module: str, parameters: dict[str, str], test_file: Path, testcase: str | None, program: Path, folder: Path
) -> list[str] | None:
    """Run the cocotb tests of a file on a finished program, and return what of the project they have read, None where that is not known.

    What they leave goes to `folder`.
    """
    from cocotb_tools import config
    from cocotb_tools.runner import get_results

    results, observed, status = folder / "results.xml", folder / "observed.json", None
    try:
        _runner().test(
            hdl_toplevel=module,
            hdl_toplevel_lang="verilog",
            test_module=["penstock.testing.observe", test_file.stem],
            test_dir=test_file.parent,
            build_dir=program,
            results_xml=str(results),
            testcase=testcase,
            extra_env={
                "PYTHONPATH": os.pathsep.join([str(test_file.parent), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
                "LD_LIBRARY_PATH": os.pathsep.join([str(config.libs_dir), os.environ.get("LD_LIBRARY_PATH", "")]).strip(os.pathsep),
                "PENSTOCK_PARAMETERS": json.dumps(parameters),
                "PENSTOCK_OBSERVED": str(observed),
                **_PYTEST,
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
    try:
        return [str(name) for name in json.loads(observed.read_text())]
    except (OSError, ValueError):
        return None
