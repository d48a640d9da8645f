"""Operators: exactly these mutants of small sources in each language, and none where nothing may be changed."""

import pytest

from penstock import paths
from penstock.faults import register
from penstock.faults.made import makes, operator_for
from penstock.faults.operators import mutants


def made(file: str, text: str, operator: str | None = None) -> set[str]:
    """The lines that differ, as the mutants write them."""
    source = text.encode()
    found = [mutant for mutant in mutants(file, source) if operator in (None, mutant.operator)]
    return {mutant.applied(source).decode() for mutant in found}


def of(file: str, frame: str, text: str, operator: str) -> set[str]:
    """What `operator` makes of `text` where `frame` has `@`."""
    before, after = frame.split("@")
    return {found.removeprefix(before).removesuffix(after) for found in made(file, before + text + after, operator)}


SV, CPP, PYTHON = "module m;\n  always_comb @\nendmodule\n", "int f() {\n  @\n}\n", "def f():\n    @\n"


@pytest.mark.parametrize(
    ("operator", "text", "expected"),
    [
        ("comparison", "y = a < b;", {"y = a <= b;"}),
        ("comparison", "y = a != b;", {"y = a == b;"}),
        ("off by one", "y = a + 4'd9;", {"y = a + 4'd10;", "y = a + 4'd8;"}),
        ("off by one", "y = 1'b1;", {"y = 1'b0;"}),
        ("off by one", "y = 8'hff;", {"y = 8'hfe;"}),
        ("off by one", "if (a == '0) y = b;", {"if (a == '1) y = b;"}),
        ("operation", "y = a && b;", {"y = a || b;"}),
        ("dropped term", "y = a && b && c;", {"y = a && b;", "y = a && c;", "y = b && c;"}),
        ("dropped term", "y = !a;", {"y = a;"}),
        ("dropped term", "y = a - b;", {"y = a;"}),
        ("swapped operands", "y = a - b;", {"y = b - a;"}),
        ("swapped operands", "y = a - 1;", set()),  # never positive: seen by anything
        ("forward", "y = hit ? ahead : memory;", {"y = ahead;", "y = memory;"}),
        ("swapped operands", "y = hit ? ahead : memory;", {"y = hit ? memory : ahead;"}),
        ("condition", "if (hit) y = a;", {"if (1'b1) y = a;", ";"}),
        ("condition", "if (hit) y = a; else y = b;", {"if (1'b1) y = a; else y = b;", "if (1'b0) y = a; else y = b;"}),
        ("statement", "y = a;", {";"}),
        ("stuck", "y = a;", {"y = '0;", "y = '1;"}),
    ],
)  # fmt: skip
def test_systemverilog(operator: str, text: str, expected: set[str]) -> None:
    assert of("m.sv", SV, text, operator) == expected


@pytest.mark.parametrize(
    ("operator", "text", "expected"),
    [
        ("comparison", "if (a <= b) g();", {"if (a < b) g();"}),
        ("off by one", "x = 0x1fU;", {"x = 0x20U;", "x = 0x1eU;"}),
        ("off by one", "x = 1'000;", {"x = 1001;", "x = 999;"}),
        ("off by one", "x = true;", {"x = false;"}),
        ("operation", "x = std::min(a, b);", {"x = std::max(a, b);"}),
        ("operation", "x += b;", {"x -= b;"}),
        ("dropped term", "x = a | b;", {"x = a;", "x = b;"}),
        ("swapped operands", "x = a / b;", {"x = b / a;"}),
        ("forward", "x = a ? b : c;", {"x = b;", "x = c;"}),
        ("condition", "if (a) g();", {"if (true) g();", ";"}),
        ("statement", "g(a);", {";"}),
        ("stuck", "return a && b;", {"return true;", "return false;"}),
        ("stuck", "x = a + b;", {"x = 0;"}),
    ],
)
def test_cpp(operator: str, text: str, expected: set[str]) -> None:
    assert of("m.cpp", CPP, text, operator) == expected


@pytest.mark.parametrize(
    ("operator", "text", "expected"),
    [
        ("comparison", "return a in b", {"return a not in b"}),
        ("comparison", "return a < b <= c", {"return a <= b <= c", "return a < b < c"}),
        ("off by one", "x = 0", {"x = 1"}),
        ("operation", "x = a and b", {"x = a or b"}),
        ("dropped term", "x = not a", {"x = a"}),
        ("dropped term", "x = a + b", {"x = a", "x = b"}),
        ("forward", "x = a if b else c", {"x = a", "x = c"}),
        ("condition", "if a: g()", {"if True: g()", "pass"}),
        ("statement", "g(a)", {"pass"}),
        ("statement", "x = a", set()),  # a name without a value is seen by anything
        ("statement", "self.x = a", {"pass"}),
        ("stuck", "return a == b", {"return True", "return False"}),
        ("dropped element", "x = [a, b]", {"x = [b]", "x = [a]"}),
        ("dropped element", "x = sorted(a, key=b)", {"x = sorted(a)"}),
        ("dropped element", "x = a[1:]", {"x = a"}),
        ("dropped element", "x = abs(a)", {"x = a"}),
    ],
)
def test_python(operator: str, text: str, expected: set[str]) -> None:
    assert of("m.py", PYTHON, text, operator) == expected


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("m.sv", "module m; // a < b\n/* x + 1 */\nendmodule\n"),
        ("m.sv", "module m;\n`ifndef SYNTHESIS\n  always_ff @(posedge clk_i) if (a < 1) a_x : assert (a && b);\n`endif\nendmodule\n"),
        ("m.sv", "module m;\n`ifdef OTHER\n  assign y = a && b;\n`endif\nendmodule\n"),
        ("m.sv", 'module m;\n  if (Width < 3) $error("%0d is too small", Width + 1);\nendmodule\n'),
        ("m.sv", "module m;\n  always_ff @(posedge clk_i) a_x : assert (a + 1 < b);\nendmodule\n"),
        ("m.sv", "module m;\n  logic [3:0] a [2:0];\nendmodule\n"),
        ("m.cpp", '#include <a/b.hpp>\n// a < b\nstatic_assert(a < b);\n#if 0\nint x = 1 + 2;\n#endif\nconst char* x = "1 + 2";\n'),
        ("m.cpp", "void f() { assert(a < b); }\n"),
        ("m.py", 'import a.b\n"""a < b"""\n# a + 1\nif TYPE_CHECKING:\n    from a import b\n\ndef f(x: list[int]):\n    assert x < 1\n'),
        ("m.md", "a < b"),
    ],
)
def test_nothing_to_change(file: str, text: str) -> None:
    assert made(file, text) == set()


def test_what_synthesis_sees_is_changed() -> None:
    text = "module m;\n`ifdef SYNTHESIS\n  assign y = a && b;\n`else\n  assign y = a || c;\n`endif\n  assign z = d < e;\nendmodule\n"
    assert {mutant.line for mutant in mutants("m.sv", text.encode())} == {3, 7}


def test_only_the_lines_that_are_asked_for() -> None:
    text = b"def f():\n    g(1)\n    g(2)\n    g(3)\n"
    assert {mutant.line for mutant in mutants("m.py", text, {3, 9})} == {3}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("(a && b)", "a", True),
        ("a && b", "b", True),
        ("y = (a && b) || c;", "y = c;", True),
        ("y = (a && b) || c;", "", True),
        ("a && b", "c", False),
        ("&& b", "&& !b", False),
    ],
)
def test_what_an_operator_makes_needs_no_entry(old: str, new: str, same: bool) -> None:
    source = SV.replace("@", "y = (a && b) || c;").encode()
    start = source.index(old.encode())
    assert any(makes(mutant, source, start, start + len(old), new) for mutant in mutants("m.sv", source)) == same


def test_no_fault_is_written_by_hand_that_an_operator_makes() -> None:
    """Entries that mark a mutant as equivalent must be what an operator makes, the others must not."""
    faults = register.read()
    source = {file: (paths.ROOT / file).read_bytes() for fault in faults for file in fault.files}
    made = {fault.id: operator_for(fault, source[fault.files[0]]) for fault in faults}
    assert [f"{fault.id}: {made[fault.id]}" for fault in faults if (made[fault.id] is None) == bool(fault.equivalent)] == []
