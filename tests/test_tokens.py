# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a source says: comments and layout do not count, everything else does."""

import subprocess

import pytest

from penstock.basics.tokens import meaning
from penstock.paths import ROOT

EQUAL = [
    ("a.sv", "assign a = 8'hff; // all ones\n", "assign  a = 8'hff;\n\n"),
    ("a.sv", "/* a\n b */ wire x;", " wire x;"),
    ("a.sv", "x = y ? '0 : '1; // 'z'\n", "x = y ? '0 : '1;\n"),
    ("a.cpp", "int a = 1'000'000; // it's large\nint b;", "int a = 1'000'000;\nint b;"),
    ("a.hpp", "char c = '\"'; // \" opens nothing\nint d;", "char c = '\"';\nint d;"),
    ("a.cpp", "// one line \\\n goes on here\nint a;", "int a;"),
    ("a.py", "x = 1  # one\n\n\n# two\ny = 2\n", "x = 1\ny = 2\n"),
    ("a.yaml", "# head\na: 1\n\nb: 2\n", "a: 1\nb: 2\n"),
    ("bench.sv.in", "wire x; // @NAME@\n", "wire x;\n"),
]
DIFFERENT = [
    ("a.sv", "x <= y;", "x <= z;"),
    ("a.sv", "// verilator lint_off WIDTH\nx", "x"),
    ("a.sv", "(* keep *) wire x;", "wire x;"),
    ("a.sv", 'f = "a // b";', 'f = "a // c";'),
    ("a.cpp", 's = "a  b";', 's = "a b";'),
    ("a.cpp", 's = R"(// a)";', 's = R"(// b)";'),
    ("a.cpp", 's = R"x(")" // a)x";', 's = R"x(")" // b)x";'),
    ("a.cpp", "#define A 1\nint x;", "#define A 1 int x;"),
    ("a.py", "if a:\n    b\nc\n", "if a:\n    b\n    c\n"),
    ("a.py", "x = '# 1'\n", "x = '# 2'\n"),
    ("a.yaml", "a: |\n  # text\n  b\n", "a: |\n  b\n"),
    ("a.md", "# head\n", "head\n"),
    ("README.md.in", "see http://a\n", "see http://b\n"),
]


@pytest.mark.parametrize(("name", "one", "other"), EQUAL)
def test_comments_and_layout_do_not_count(name: str, one: str, other: str) -> None:
    """Texts that compile to the same."""
    assert meaning(name, one.encode()) == meaning(name, other.encode())


@pytest.mark.parametrize(("name", "one", "other"), DIFFERENT)
def test_all_else_counts(name: str, one: str, other: str) -> None:
    """Texts that do not."""
    assert meaning(name, one.encode()) != meaning(name, other.encode())


def test_the_compiler_agrees() -> None:
    """Every C++ header and source of the engine has the tokens that the compiler's own preprocessor finds, without its comments."""
    for path in sorted((ROOT / "engine").rglob("*.[ch]pp")):
        text = "\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("#"))
        command = ["c++", "-x", "c++", "-E", "-P", "-fpreprocessed", "-"]
        theirs = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
        ours = meaning(path.name, text.encode()).decode().replace("\0", "")
        assert ours.split() == theirs.split() or "".join(ours.split()) == "".join(theirs.split()), path
