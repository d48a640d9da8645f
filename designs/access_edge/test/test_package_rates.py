# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Encoders of rates and bursts in a package: C and Python give what the workbench gives, and that is the nearest code there is."""

import importlib.util
import os
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

from penstock.designs.access_edge import registers
from penstock.errors import UserError
from penstock.hardware import register_maps
from penstock.testing.testkit import seed

MAX_CLOCK_HZ = 1 << 29  # of the C header
REFUSED = "-"
FLAGS = ("-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover")
# One call a line: e rate clock | d word clock | b bytes rate clock. Prints the result, or '-' when it is refused and nothing was written.
MAIN = r"""
#include "access_edge_registers.h"
#include "access_edge_rates.h"
#include <inttypes.h>
#include <stdio.h>
int main(void) {
    char what;
    uint64_t a, b, c;
    while (scanf(" %c %" SCNu64 " %" SCNu64, &what, &a, &b) == 3) {
        uint32_t found = 0xdeadbeefu;
        int done;
        if (what == 'd') {
            printf("%" PRIu64 "\n", access_edge_rate_decode((uint32_t)a, (uint32_t)b));
            continue;
        }
        if (what == 'b' && scanf("%" SCNu64, &c) != 1) return 1;
        if (what == 'b') done = access_edge_burst_cycles((uint32_t)a, b, (uint32_t)c, &found);
        else done = access_edge_rate_encode(a, (uint32_t)b, &found);
        if (done == 1) printf("%" PRIu32 "\n", found);
        else puts(done == 0 && found == 0xdeadbeefu ? "-" : "wrong");
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rates")
    assert {"access_edge_rates.h", "access_edge_rates.py"} <= set(register_maps.write("access_edge", out, pages=False))
    return out


@pytest.fixture(scope="module")
def python(folder: Path) -> ModuleType:
    """Return the module as it is in a package; it imports nothing."""
    path = folder / "access_edge_rates.py"
    assert not re.search(r"^\s*(import|from)\b", path.read_text(), re.MULTILINE)
    spec = importlib.util.spec_from_file_location("package_rates", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", params=["c99", "c++11"])
def program(request: pytest.FixtureRequest, folder: Path) -> Path:
    standard = str(request.param)
    source, binary = folder / ("main.c" if standard == "c99" else "main.cpp"), folder / f"main_{standard}"
    source.write_text(MAIN)
    compiler = "cc" if standard == "c99" else "c++"
    command = [compiler, f"-std={standard}", *FLAGS, "-o", str(binary), source.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary


def answers(program: Path, lines: list[str]) -> list[str]:
    done = subprocess.run([str(program)], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    found = done.stdout.split()
    assert done.returncode == 0 and not done.stderr and len(found) == len(lines), done.stderr
    return found


def ours(bps: int, clock_hz: int) -> tuple[int, int] | None:
    """Return the code by which the workbench sets a rate; None: it refuses it."""
    try:
        return registers.rate_code(bps, clock_hz)
    except UserError:
        return None


def our_burst(burst_bytes: int, bps: int, clock_hz: int) -> int | None:
    try:
        return registers.burst_cycles(burst_bytes, bps, clock_hz)
    except UserError:
        return None


def nearest(bps: int, clock_hz: int) -> tuple[int, int] | None:
    """Return the code whose rate is nearest, of all that are near, in fractions; None: the rate is beyond the slowest or fastest code."""
    period = Fraction(8 * clock_hz << 31, bps)  # mantissa * 2^exponent
    codes = [(m, e) for e in range(64) for about in [int(period / (1 << e))] for m in range(about - 2, about + 3) if 1 << 15 <= m < 1 << 16]
    if not codes or not registers.MIN_RATE_BPS <= bps <= registers.MAX_RATE_BPS:
        return None
    return min(codes, key=lambda code: (abs(Fraction(8 * clock_hz << 31, code[0] << code[1]) - bps), code[1], code[0]))


def edges() -> list[tuple[int, int]]:
    low, high = registers.MIN_RATE_BPS, registers.MAX_RATE_BPS
    rates = [0, 1, low - 1, low, low + 1, high - 1, high, high + 1, (1 << 64) - 1]
    clocks = [1, 1000, 10**6, 125_000_000, 156_250_000, 220_000_000, MAX_CLOCK_HZ - 1, MAX_CLOCK_HZ]
    found = [(rate, clock) for rate in rates for clock in clocks]
    for clock in clocks:
        for shift in range(-10, 45):  # a power of two cycles per byte, and its neighbours
            rate = 8 * clock >> shift if shift >= 0 else 8 * clock << -shift
            found += [(rate + off, clock) for off in (-1, 0, 1) if rate + off >= 0]
    return found


def close(rng: random.Random, count: int) -> list[tuple[int, int]]:
    """Return rates that are just beyond the middle of two periods: the middle of the two rates is on the other side."""
    found = []
    for _ in range(count):
        clock, mantissa = rng.randint(1 << 28, MAX_CLOCK_HZ), rng.randrange(1 << 15, 1 << 16)
        period = (Fraction(2 * mantissa + 1, 2) - Fraction(1, 8 * mantissa)) * (1 << rng.randrange(11, 15))
        found.append((round((8 * clock << 31) / period), clock))
    return [each for each in found if each[0] <= registers.MAX_RATE_BPS]


def drawn(rng: random.Random, count: int) -> list[tuple[int, int]]:
    ratio = registers.MAX_RATE_BPS / registers.MIN_RATE_BPS
    found = []
    for _ in range(count):
        clock = min(MAX_CLOCK_HZ, round(1000 * (MAX_CLOCK_HZ / 1000) ** rng.random()))
        found.append((round(registers.MIN_RATE_BPS * ratio ** rng.uniform(-0.05, 1.05)), clock))
    return found


def test_rates_are_those_of_the_workbench(program: Path, python: ModuleType) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    pairs = edges() + drawn(rng, 5_000) + close(rng, 500)
    taken = 0
    for (bps, clock), found in zip(pairs, answers(program, [f"e {bps} {clock}" for bps, clock in pairs]), strict=True):
        code = ours(bps, clock)
        assert python.encode(bps, clock) == code, (bps, clock)
        assert found == (REFUSED if code is None else str(code[1] << 16 | code[0])), (bps, clock, code)
        if bps:
            best = nearest(bps, clock)
            near = best is not None and code is not None
            assert code == best or (code is None and not within(bps, clock)), (bps, clock, code, best)
            taken += near
    assert taken > 2_000


def within(bps: int, clock_hz: int) -> bool:
    """Return whether a rate is between the slowest and the fastest code."""
    period = Fraction(8 * clock_hz << 31, bps)
    return 1 << 15 <= period <= (1 << 16) - 1 << 63


def test_codes_mean_the_same(program: Path, python: ModuleType) -> None:
    rng = random.Random(seed())
    words = [0, 1, 1 << 16, 0x8000, 0xFFFF, 31 << 16 | 0x8000, 31 << 16 | 0xFFFF, 35 << 16 | 0x8000, 63 << 16 | 0xFFFF]
    words += [rng.randrange(64) << 16 | rng.randrange(1 << 15, 1 << 16) for _ in range(1_000)]
    pairs = [(word, rng.choice([1, 1000, 220_000_000, MAX_CLOCK_HZ, rng.randint(1, MAX_CLOCK_HZ)])) for word in words]
    for (word, clock), found in zip(pairs, answers(program, [f"d {word} {clock}" for word, clock in pairs]), strict=True):
        mantissa, exponent = word & 0xFFFF, word >> 16
        rate = registers.code_rate(mantissa, exponent, clock)
        assert python.decode(mantissa, exponent, clock) == rate
        exact = (1 << 64) - 1 if rate is None else (8 * clock << 31) // (mantissa << exponent) if mantissa else 0
        assert found == str(exact), (word, clock)


def test_bursts_are_those_of_the_workbench(program: Path, python: ModuleType) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    most = (1 << 32) - 1
    calls = [(0, 10**6, 10**8), (1500, 0, 10**8), (most, 1, MAX_CLOCK_HZ), (most, registers.MAX_RATE_BPS, MAX_CLOCK_HZ), (most, 0, 1)]
    calls += [(1, 16, 1), (1, 17, 1), (1, 15, 1), (1, 16, 3), (3, 16, 1)]  # half a cycle, less, more
    for bps, clock in drawn(rng, 3_000):
        top = registers.MAX_BURST_CYCLES * bps // (8 * clock)  # the longest, to within a byte
        calls += [(min(most, max(0, top + off)), bps, clock) for off in (-1, 0, 1)] + [(min(most, rng.randint(0, 2 * top + 1)), bps, clock)]
    refused = 0
    for call, found in zip(calls, answers(program, [f"b {n} {bps} {clock}" for n, bps, clock in calls]), strict=True):
        cycles = our_burst(*call)
        assert python.burst_cycles(*call) == cycles, call
        assert found == (REFUSED if cycles is None else str(cycles)), (call, cycles)
        refused += cycles is None
    assert 500 < refused < len(calls) - 500


def test_c_refuses_a_clock_that_does_not_fit(program: Path) -> None:
    """Products of larger clocks do not fit into 64 bits."""
    lines = [f"e 1000000 {MAX_CLOCK_HZ + 1}", f"b 1500 1000000 {MAX_CLOCK_HZ + 1}", "e 1000000 0", f"d 32768 {MAX_CLOCK_HZ + 1}"]
    assert answers(program, lines) == [REFUSED, REFUSED, REFUSED, "0"]


def test_the_examples_of_the_files_run(folder: Path, python: ModuleType) -> None:
    """The lines in their heads set a rate and a burst through the register map beside them."""
    head = (folder / "access_edge_rates.h").read_text().split("*/", 1)[0]
    example = "\n".join(line.removeprefix(" * ") for line in head.splitlines() if line.startswith(" *   "))
    body = "static uint32_t words[1024];\nint main(void) {\nvoid *const base = words;\n" + example + "\n"
    check = "return words[ACCESS_EDGE_QUEUE_RATE / 4] != %du || words[ACCESS_EDGE_QUEUE_BURST / 4] != %du;\n}\n"
    mantissa, exponent = registers.rate_code(50_000_000, 220_000_000)
    cycles = registers.burst_cycles(3_000, 50_000_000, 220_000_000)
    includes = '#include "access_edge_registers.h"\n#include "access_edge_rates.h"\n'
    (folder / "example.c").write_text(includes + body + check % (exponent << 16 | mantissa, cycles))
    flags = ["-std=c99", "-Wall", "-Werror", "-Wno-unused-function"]
    subprocess.run(["cc", *flags, "-o", "example", "example.c"], cwd=folder, check=True)
    subprocess.run(["./example"], cwd=folder, check=True)

    lines = "\n".join(line.removeprefix("    ") for line in (python.__doc__ or "").splitlines() if line.startswith("    "))
    names = "import access_edge_registers as regs\nfrom access_edge_rates import burst_cycles, encode\n"
    bus = "class bus:\n    write = print\n"
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", names + bus + lines]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    table = registers.contract()["registers"]
    expected = [table["queue_rate"]["address"], exponent << 16 | mantissa, table["queue_burst"]["address"], cycles]
    assert [int(word) for word in done.stdout.split()] == expected
