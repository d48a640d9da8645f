# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Small programs beside the engine: when one is made anew."""

import subprocess
from pathlib import Path

import pytest

from penstock.basics import programs


def test_a_program_follows_the_headers_of_its_headers(tmp_path: Path) -> None:
    """And not a comment in them; one that does not compile says so with the compiler's words."""
    source, header, inner = tmp_path / "told.cpp", tmp_path / "outer.hpp", tmp_path / "inner.hpp"
    source.write_text('#include <cstdio>\n#include "outer.hpp"\nint main() { std::printf("%d", number); }\n')
    header.write_text('#include "inner.hpp"\n')

    def told(text: str) -> tuple[Path, str]:
        inner.write_text(text)
        made = programs.built("told", [source], ["-O0"])
        return made, subprocess.run([made], capture_output=True, text=True, check=True).stdout

    first = told("const int number = 1;\n")
    assert first[1] == "1" and told("const int number = 1;  // the first\n") == first
    assert told("const int number = 2;\n")[1] == "2" and told("const int number = 1;\n") == first
    with pytest.raises(programs.CompileError, match=r"told.cpp does not compile:\n(.|\n)*number"):
        told("const int others = 1;\n")
