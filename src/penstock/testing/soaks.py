"""Runs soaks: a module with a C++ bench around it, for more cycles than a simulation from Python could."""

import shutil
import subprocess
from pathlib import Path

from penstock import cache
from penstock.basics import keys
from penstock.hardware import bundles, verilated_objects
from penstock.paths import BLOCKS, ROOT, block_file_list, plain, read_file_list, tool_environment
from penstock.testing import verdicts
from penstock.testing.basis import OPTIONS, BuildError


def run_soak(
    bench: Path,
    block: str,
    module: str,
    parameters: dict[str, object],
    arguments: dict[str, int],
    sources: list[Path] | None = None,
    optimise: int = 1,
) -> dict[str, int]:
    """Compile `module` with the C++ bench `bench` around it, run it, and return the counts that it prints as `name=value`.

    The bench sees flat ports (`penstock.hardware.bundles`). Its main() takes `name=value` arguments, stops at the first fault with a
    message and status 1, and prints its counts.
    Assertions of the RTL are on. What is built is keyed by sources, parameters and tools, and so is a pass with its counts, which depend
    on nothing else but the arguments; `sources` stand in for the block's own.
    `optimise`: the compiler's -O for what runs in every cycle; 1 for modules that take minutes to compile.
    Raises AssertionError with the bench's output, BuildError when it does not compile.
    """
    top, text = bundles.outermost(module, sources or read_file_list(block_file_list(block)))
    level = f"-O{optimise}"  # of all: GCC takes precompiled headers at one level only
    files = [ROOT / "lint" / "verilator.vlt", *(sources or read_file_list(block_file_list(block))), bench]
    flags = [
        *OPTIONS,
        *(f"-G{name}={value}" for name, value in parameters.items()),
        f"OPT_FAST={level} OPT_GLOBAL={level} OPT_SLOW={level}",
    ]
    language = f"-std=c++20 {verilated_objects.frugal()}"
    build = keys.of_build([top, *([text] if text else []), flags, language], files, [BLOCKS], ["verilator"])
    verdict = verdicts.key(["soak", build, arguments])
    if (counts := verdicts.known(verdict)) is not None:
        return counts

    def make(folder: Path) -> None:
        with cache.workshop("soak") as work:
            compiler = f"{language} {verilated_objects.precompiled(f'{language} {level}')}-I{plain(BLOCKS)}"
            own = [plain(work / f"{top}.sv")] if text else []
            for path in own:
                path.write_text(text)
            command = [
                "verilator", "--cc", "--exe", "--build", *flags[:-1], "-j", "1",
                "--top-module", top, "--prefix", "Vtop", "-Mdir", str(plain(work)), "-o", "soak",
                "-CFLAGS", compiler, "-MAKEFLAGS", flags[-1], *(str(plain(path)) for path in (*files, *own)),
            ]  # fmt: skip
            verilated_objects.lend(work, "soak", [*OPTIONS, level])
            built = subprocess.run(command, env=tool_environment(), capture_output=True, text=True)
            if built.returncode:
                raise BuildError(f"{module} {parameters} with {bench.name} does not compile:\n{built.stdout}{built.stderr}")
            verilated_objects.keep(work, "soak", [*OPTIONS, level])
            shutil.copy(work / "soak", folder / "soak")

    program = cache.once("soak", build, make) / "soak"
    call = [str(program), *(f"{name}={value}" for name, value in arguments.items())]
    done = subprocess.run(call, capture_output=True, text=True)
    print(" ".join(call[1:]), done.stdout, done.stderr, sep="\n")
    assert done.returncode == 0, f"{module} {parameters} {arguments}: {done.stdout}{done.stderr}"
    counts = {name: int(value) for name, value in (word.split("=") for word in done.stdout.split())}
    verdicts.keep(verdict, counts)
    return counts
