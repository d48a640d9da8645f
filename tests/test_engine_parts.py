# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The engine's parts: each is compiled when it is first needed, once for all clones, and never from sources that it does not say."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.paths import ROOT
from penstock.testing import testkit

pytestmark = pytest.mark.build

NANOBIND = "#include <nanobind/nanobind.h>\n"
SOURCES = {
    "engine/src/module.cpp": NANOBIND + '#include "engine/src/width.hpp"\nNB_MODULE(_engine, m) { m.def("width", &penstock::width); }\n',
    "engine/src/width.hpp": "#pragma once\nnamespace penstock { int width(); int depth(); }\n",
    "engine/src/width.cpp": '#include "engine/src/width.hpp"\nint penstock::width() { return 512; }\nint penstock::depth() { return 7; }\n',
    "engine/src/shim_not_ours.cpp": "#error compiled with a device\n",
    "blocks/count/model/module.cpp": NANOBIND + '#include "engine/src/width.hpp"\n#include "blocks/common/model/twice.hpp"\n'
    'NB_MODULE(blocks_count_model, m) { m.def("sum", [] { return penstock::width() + twice(1); }); }\n',
    "blocks/common/model/twice.hpp": "#pragma once\nint twice(int);\n",
    "blocks/common/model/twice.cpp": '#include "blocks/common/model/twice.hpp"\nint twice(int x) { return 2 * x; }\n',
    "blocks/common/model/stranger.hpp": "#pragma once\n#error nobody includes this\n",
    "designs/one/model/module.cpp": NANOBIND + "NB_MODULE(designs_one_model, m) { (void)m; }\nint of_the_design() { return 30; }\n",
    "designs/one/model/core/module.cpp": NANOBIND + "int of_the_design();\n"
    'NB_MODULE(designs_one_model_core, m) { m.def("argument", [] { return of_the_design() + PENSTOCK_ARGUMENT; }); }\n',
}
ASK = """
import sys
from penstock.engine import parts
print(eval(sys.argv[1]))
"""
SUM = 'parts.load("blocks/count/model").sum()'
# Changes files in a random order and prints, after each change, the part's key as this process finds it and as one that has seen nothing.
WATCH = """
import json, random, sys
from pathlib import Path
from penstock.basics import keys
from penstock.engine import parts

rng, part = random.Random(int(sys.argv[1])), parts.Part("blocks/count/model")
files = [Path(name) for name in json.loads(sys.argv[2])]
for step in range(60):
    path = rng.choice(files)
    if path.exists() and rng.random() < 0.4:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// again\\n{rng.choice(['int x;', 'int y;', '#include <twice.hpp>'])}\\n")
    known, moment = part.key(), keys._here.moment
    keys._here.moment = None
    print(known, part.key(), path)
    keys._here.moment = moment
"""


class Clone:
    """A clone with a small engine, whose compiler counts its calls."""

    def __init__(self, place: Path, log: Path, cache: Path) -> None:
        self.place, self.log, self.cache = place, log, cache
        shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__", "_tree"))
        for name, text in SOURCES.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        compiler = log.with_name("compiler")  # without optimising: what is compiled hardly runs
        if not compiler.exists():
            real = shutil.which("c++")
            compiler.write_text(f'#!/bin/sh\ncase "$*" in *--version*) ;; *) echo "$*" >> "{log}" ;; esac\nexec {real} "$@" -O0\n')
            compiler.chmod(0o755)
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("CCACHE", "PENSTOCK", "CMAKE"))}
        self.env |= {"PYTHONPATH": str(place / "src"), "PENSTOCK_CACHE": str(cache), "CXX": str(compiler), "CCACHE_DISABLE": "1"}

    def start(self, what: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-P", "-c", ASK, what]
        return subprocess.Popen(command, env=self.env, cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ask(self, what: str = SUM) -> tuple[str, str]:
        """Return what a new process answers, and what it says besides."""
        process = self.start(what)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return out.strip(), err

    def compiled(self) -> int:
        """Return how many files were compiled since the last call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.write_text("")
        return sum(" -c " in line for line in lines)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "a clone", tmp_path / "log", tmp_path / "user's cache")


def test_what_is_compiled_once(clone: Clone, tmp_path: Path) -> None:
    """By whom and where it is asked for does not matter; what does is what sources say."""
    answer, said = clone.ask()
    assert answer == "514"
    assert said.startswith("penstock: Compiling the engine and blocks/count/model, once (usually some ") and said.count("\n") == 1
    assert clone.compiled() == 5  # engine: module, width, nanobind; the model: module, twice
    assert clone.ask() == ("514", "") and clone.compiled() == 0

    second = Clone(tmp_path / "second", clone.log, clone.cache)
    assert second.ask() == ("514", "") and second.compiled() == 0
    shutil.rmtree(second.place / "build", ignore_errors=True)
    second.place.rename(tmp_path / "moved")
    moved = Clone(tmp_path / "again", clone.log, clone.cache)
    shutil.rmtree(moved.place)
    (tmp_path / "moved").rename(moved.place)
    assert moved.ask() == ("514", "") and moved.compiled() == 0

    header = clone.place / "blocks/common/model/twice.hpp"
    header.write_text("// a comment\n" + header.read_text())
    (clone.place / "blocks/common/model/stranger.hpp").write_text("#error still nobody includes this\n")
    assert clone.ask() == ("514", "") and clone.compiled() == 0
    header.write_text("#pragma once\nint twice(int x = 0);\n")  # of the model alone
    answer, said = clone.ask()
    assert answer == "514" and clone.compiled() == 2
    assert "Compiling blocks/count/model, once (" in said
    (clone.place / "engine/src/width.cpp").write_text(SOURCES["engine/src/width.cpp"].replace("512", "64"))  # of the engine alone
    answer, said = clone.ask()
    assert answer == "66" and "Compiling the engine, once (" in said
    assert clone.compiled() == 3
    (clone.place / "engine/src/width.cpp").write_text(SOURCES["engine/src/width.cpp"])  # as on another branch
    assert clone.ask() == ("514", "") and clone.compiled() == 0


def test_each_argument_of_a_template_is_a_part(clone: Clone) -> None:
    """It is linked to the part above it."""
    load = 'parts.load("designs/one/model/core", "{}").argument()'
    assert clone.ask(load.format(5))[0] == "35"
    assert clone.compiled() == 5
    answer, said = clone.ask(load.format(6))
    assert answer == "36" and clone.compiled() == 1 and "Compiling designs/one/model/core (6), once (" in said
    assert clone.ask('[parts.load("designs/one/model/core", str(i)).argument() for i in (6, 5)]') == ("[36, 35]", "")
    assert clone.ask("[parts.load(name) for name in ('designs/two/model', '../engine/src', 'engine')]")[0] == "[None, None, None]"


def test_a_part_with_a_planted_fault(clone: Clone) -> None:
    """It has little optimisation, and its file is compiled by itself; the other parts stay as they are."""
    clone.ask()
    clone.compiled()
    (clone.place / "engine/src/unused.cpp").write_text("namespace penstock { int unused() { return 0; } }\n")
    clone.env["PENSTOCK_PLANTED"] = "engine/src/width.cpp:blocks/elsewhere.sv"
    for width in ("64", "65"):
        (clone.place / "engine/src/width.cpp").write_text(SOURCES["engine/src/width.cpp"].replace("512", width))
        answer, said = clone.ask()
        assert answer == str(int(width) + 2) and "Compiling the engine, once (" in said
        units = [line for line in clone.log.read_text().splitlines() if " -c " in line and "nb_combined" not in line]
        assert len(units) == 3 and all(" -O1 " in line for line in units), "module, unused, width"
        assert sum("_width-" in line for line in units) == 1
        clone.compiled()
    clone.env["PENSTOCK_PLANTED"] = "blocks/common/model/twice.hpp"
    (clone.place / "engine/src/unused.cpp").unlink()
    (clone.place / "engine/src/width.cpp").write_text(SOURCES["engine/src/width.cpp"])
    answer, said = clone.ask()
    assert answer == "514" and "Compiling blocks/count/model, once (" in said


def test_a_damaged_part_is_compiled_again(clone: Clone) -> None:
    assert clone.ask()[0] == "514"
    files = sorted(clone.cache.glob("*/engine/*/made/*.so"))
    assert len(files) == 2
    clone.compiled()
    os.truncate(files[0], files[0].stat().st_size // 2)
    assert clone.ask()[0] == "514" and clone.compiled() > 0
    shutil.rmtree(clone.cache)
    assert clone.ask()[0] == "514" and clone.compiled() == 5


def test_two_clones_at_once(clone: Clone, tmp_path: Path) -> None:
    second = Clone(tmp_path / "second", clone.log, clone.cache)
    both = [one.start(SUM) for one in (clone, second, clone)]
    assert [process.communicate(timeout=300)[0].strip() for process in both] == ["514"] * 3
    assert clone.compiled() == 5


def test_sources_that_change_meanwhile(clone: Clone) -> None:
    """What a process has loaded stays; a part for other sources is refused in a sentence, and compiled in the next process."""
    change = 'open("engine/src/width.hpp", "a").write("// no change\\n"), open("engine/src/width.hpp", "a").write("extern int more;\\n")'
    process = clone.start(f'[parts.load("engine/src").width(), {change}, parts.load("blocks/count/model")]')
    err = process.communicate(timeout=300)[1]
    assert process.returncode == 1
    assert err.splitlines()[-1].endswith("the sources of the engine have changed since this process has loaded it; start it again")


def test_a_process_that_lives_longer_sees_each_change(clone: Clone) -> None:
    """Sources that come, change and go; a source beside a header from elsewhere; a header that hides another; a part in a folder above."""
    names = [
        "blocks/count/model/more.cpp",
        "blocks/count/model/deep/down.cpp",
        "blocks/count/model/shim_other.cpp",
        "blocks/count/model/readme.md",
        "blocks/count/model/twice.hpp",
        "engine/include/twice.hpp",
        "engine/include/twice.cpp",
        "blocks/common/model/twice.cpp",
        "blocks/count/module.cpp",
        "blocks/count/model/deep/module.cpp",
    ]
    seed = testkit.seed()
    done = subprocess.run(
        [sys.executable, "-P", "-c", WATCH, str(seed), json.dumps(names)],
        env=clone.env, cwd=clone.place, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    found = [line.split() for line in done.stdout.splitlines()]
    assert len(found) == 60
    assert [(path, known) for known, _, path in found] == [(path, fresh) for _, fresh, path in found]
    assert len({known for known, _, _ in found}) > 5


def test_what_does_not_compile(clone: Clone) -> None:
    """The compiler's words, and nothing in the cache."""
    (clone.place / "blocks/common/model/twice.cpp").write_text("int twice(int x) { return 2 * y; }\n")
    process = clone.start(SUM)
    err = process.communicate(timeout=300)[1]
    assert process.returncode == 1 and "EngineBuildError: the engine does not compile:" in err and "twice.cpp" in err
    (clone.place / "blocks/common/model/twice.cpp").write_text(SOURCES["blocks/common/model/twice.cpp"])
    assert clone.ask()[0] == "514"


def test_an_unwritable_cache(clone: Clone, tmp_path: Path) -> None:
    """The clone keeps its own, and says so in one sentence."""
    clone.cache.write_text("a file")
    answer, said = clone.ask()
    assert answer == "514" and said.count("cannot be written") == 1
    clone.compiled()
    assert clone.ask()[0] == "514" and clone.compiled() == 0
    assert stat.S_ISREG(clone.cache.stat().st_mode)
