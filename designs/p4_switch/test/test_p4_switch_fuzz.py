"""Wrong programs and packets of any length: no traceback, no crash, no hang, no access out of bounds."""

import faulthandler
import os
import random
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import nanobind
import pytest

from penstock.basics import children
from penstock.designs.p4_switch import program as programs
from penstock.designs.p4_switch.testing import fuzz
from penstock.engine import engine
from penstock.errors import UserError
from penstock.paths import PACKAGE, ROOT

SEED = int(os.environ.get("PENSTOCK_SEED", "1"))
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
SECONDS = 300  # in which a test must end


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def machine() -> type:
    """Return what runs programs."""
    engine.build()
    return engine.module("designs/p4_switch/model").Machine


@pytest.mark.parametrize("path", fuzz.files(), ids=lambda path: path.stem)
def test_packets_of_any_length(path: Path, machine: type) -> None:
    """Through each program as it is: noise, cut off, empty, 9,600 byte; none is kept, and the deparser gives no more than it was given."""
    print(f"seed {SEED}")
    draw = random.Random(f"{SEED} {path.stem}")
    made = machine(programs.load(path).dictionary, SEED)
    sent = fuzz.packets(made, draw, fuzz.likely(path.stem), 300)
    print(f"{sent} frames left")


@pytest.mark.parametrize("path", fuzz.files(), ids=lambda path: path.stem)
def test_wrong_programs(path: Path, machine: type) -> None:
    """Each is loaded and runs, or is refused in a sentence."""
    print(f"seed {SEED}")
    loaded, refused = fuzz.run(machine, path, SEED, 6 if path.stat().st_size > 1 << 18 else 30)
    print(f"{loaded} loaded, {refused} refused")


@pytest.mark.slow
@pytest.mark.parametrize("path", fuzz.files(), ids=lambda path: path.stem)
def test_many_wrong_programs(path: Path, machine: type) -> None:
    """The same with more of them."""
    print(f"seed {SEED + 1}")
    loaded, refused = fuzz.run(machine, path, SEED + 1, 150 if path.stat().st_size > 1 << 18 else 1_000)
    print(f"{loaded} loaded, {refused} refused")
    assert loaded > 10 and refused > 10


def sanitized(folder: Path) -> None:
    """Build the interpreter alone, with sanitizers, as the module `_machine` of a folder."""
    source, include = (
        Path(nanobind.source_dir()),
        [nanobind.include_dir(), sysconfig.get_path("include"), str(ROOT), str(ROOT / "engine/include")],
    )
    flags = [
        "-std=c++20",
        "-O1",
        "-g",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-strict-aliasing",
        *SANITIZERS,
        *(f"-I{path}" for path in include),
    ]
    flags.append(f"-I{source.parent / 'ext' / 'robin_map' / 'include'}")
    parts = [source / "nb_combined.cpp", Path(__file__).with_name("machine_module.cpp")]
    parts += sorted((ROOT / "designs/p4_switch/model/machine").glob("*.cpp"))
    objects = []
    for part in parts:
        objects.append(str(folder / f"{part.stem}.o"))
        done = children.run(["g++", *flags, "-c", str(part), "-o", objects[-1]])
        assert done.returncode == 0, done.stderr[-3000:]
    done = children.run(["g++", "-shared", *SANITIZERS, *objects, "-o", str(folder / f"_machine{sysconfig.get_config_var('EXT_SUFFIX')}")])
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
def test_no_access_out_of_bounds(tmp_path: Path) -> None:
    """The same on an interpreter that ends at the first access out of bounds, overflow or shift that C++ leaves undefined."""
    faulthandler.cancel_dump_traceback_later()  # the build alone may take longer
    sanitized(tmp_path)
    library = children.run(["g++", "-print-file-name=libasan.so"]).stdout.strip()
    env = os.environ | {"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONPATH": str(PACKAGE.parent)}
    done = children.run([sys.executable, "-m", "penstock.designs.p4_switch.testing.fuzz", str(tmp_path), str(SEED), "60"], env=env)
    print(done.stdout)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def sentence(document: object) -> str:
    """Return why a program is refused."""
    with pytest.raises(UserError) as error:
        programs.parse(document, "program.json")
    return str(error.value)
