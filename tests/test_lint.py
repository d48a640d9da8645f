"""`lint`: each check sees its own kind of fault (planted in copies), and says nothing about clean input."""

import shutil
import subprocess
from pathlib import Path

import pytest

from penstock import cache
from penstock.command_line.app import main
from penstock.hardware import assertions, library, lint

CLEAN = f"""// {lint.SPDX}
// A register.
module pst_planted (
    input  logic clk_i,
    input  logic d_i,
    output logic q_o
);

  always_ff @(posedge clk_i) q_o <= d_i;

endmodule
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small house with one block of one module, in place of the real one."""
    monkeypatch.setattr(cache, "root", lambda: tmp_path / "cache")
    rules = lint.RULES
    shutil.copytree(rules, tmp_path / "lint")
    rtl = tmp_path / "blocks" / "planted" / "rtl"
    rtl.mkdir(parents=True)
    (rtl / "planted.f").write_text("pst_planted.sv\n")
    (rtl / "pst_planted.sv").write_text(CLEAN)
    test = rtl.parent / "test" / "test_pst_planted.py"
    test.parent.mkdir()
    test.write_text('"""Nothing."""\n')
    for name in ("penstock", ".ci/run"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n# {lint.SPDX}\n")
    shutil.copy(rules.parent / "pyproject.toml", tmp_path)
    shutil.copy(rules.parent / ".clang-format", tmp_path)
    monkeypatch.setattr(lint, "ROOT", tmp_path)
    monkeypatch.setattr(lint, "RULES", tmp_path / "lint")
    monkeypatch.setattr(lint, "BUILD", tmp_path / "build")
    monkeypatch.setattr(library, "BLOCKS", tmp_path / "blocks")
    monkeypatch.setattr(library, "DESIGNS", tmp_path / "designs")
    monkeypatch.setattr("penstock.designs.configs.DESIGNS", tmp_path / "designs")
    monkeypatch.setattr("penstock.designs.design.DESIGNS", tmp_path / "designs")
    library.file_lists.cache_clear()
    library.modules.cache_clear()
    yield tmp_path
    library.file_lists.cache_clear()
    library.modules.cache_clear()


def module(house: Path) -> Path:
    return house / "blocks" / "planted" / "rtl" / "pst_planted.sv"


@pytest.mark.parametrize("check", lint.CHECKS)
def test_a_clean_house_passes(house: Path, check: str) -> None:
    assert lint.CHECKS[check]().findings == []


@pytest.mark.parametrize(
    ("check", "old", "new"),
    [
        ("licence", lint.SPDX, "no licence"),
        ("verible", "d_i", "dataIn"),
        ("verible", "d_i;", "d_i;  //" + " word" * 30),
        ("verilator", "input  logic d_i", "input  logic [1:0] d_i"),
        ("verilator", "output logic q_o", "output logic [3:0] q_o"),
        ("slang", "q_o <= d_i", "q_o <= e_i"),
    ],
)
def test_a_planted_fault_is_found(house: Path, check: str, old: str, new: str) -> None:
    assert old in CLEAN
    module(house).write_text(CLEAN.replace(old, new))
    assert lint.CHECKS[check]().findings


def test_types(house: Path) -> None:
    """A design is seen where Python finds it; what is found names the real file; a clean package says nothing."""
    package, design = house / "src" / "penstock", house / "designs" / "planted"
    (package / "designs").mkdir(parents=True)
    design.mkdir(parents=True)
    for path in (package / "__init__.py", package / "designs" / "__init__.py"):
        path.write_text("")
    (package / "uses.py").write_text("from penstock.designs.planted.numbers import double\n\nFOUR: int = double(2)\n")
    (design / "numbers.py").write_text("def double(of: int) -> int:\n    return 2 * of\n")
    assert lint.check_types().findings == []
    (package / "uses.py").write_text("from penstock.designs.planted.numbers import double\n\nFOUR: str = double(2)\n")
    (design / "numbers.py").write_text("def double(of: int) -> int:\n    return 2 * of\n\n\nSIX: int = '6'\n")
    found = lint.check_types().findings
    assert sorted(line.split(": ")[0] for line in found) == ["designs/planted/numbers.py:5", "src/penstock/uses.py:3"]
    (design / "numbers.py").unlink()
    assert any("src/penstock/uses.py:1: error: " in line and "numbers" in line for line in lint.check_types().findings)


@pytest.mark.parametrize("check", ["verilator", "slang"])
def test_what_was_clean_is_not_read_again(house: Path, monkeypatch: pytest.MonkeyPatch, check: str) -> None:
    """Not even with another comment is it the same text; what was found is found again."""
    asked: list[str] = []
    run = lint._run

    def counted(*command: str) -> subprocess.CompletedProcess[str]:
        asked.append(command[0])
        return run(*command)

    monkeypatch.setattr(lint, "_run", counted)
    for text, times in ((CLEAN, 1), (CLEAN, 1), (CLEAN + "// more\n", 2), (CLEAN, 2)):
        module(house).write_text(text)
        assert lint.CHECKS[check]().findings == [] and len(asked) == times
    for times in (3, 4):
        module(house).write_text(CLEAN.replace("q_o <= d_i", "q_o <= e_i"))
        assert lint.CHECKS[check]().findings and len(asked) == times


def test_lists(house: Path) -> None:
    (module(house).parent / "pst_forgotten.sv").write_text(CLEAN.replace("planted", "forgotten"))
    assert any("pst_forgotten.sv: stands in no file list" in line for line in lint.check_lists().findings)
    (house / "blocks" / "planted" / "test" / "test_pst_planted.py").unlink()
    assert any("has no test" in line for line in lint.check_lists().findings)
    (house / "lint" / "untested.txt").write_text("pst_planted  # planted\n")
    assert not any("has no test" in line for line in lint.check_lists().findings)
    module(house).unlink()
    assert any("does not exist" in line for line in lint.check_lists().findings)


def test_links(house: Path) -> None:
    (house / "page.md").write_text("[a](penstock) [b](lint/verible.rules#top) [c](https://example.org/x) [d](gone.md)\n")
    assert lint.check_links().findings == ["page.md:1: link to gone.md, which does not exist"]


def test_links_to_headings(house: Path) -> None:
    """Of this page or another; as GitHub names them: without marks, a number for the second of a name, none for what is code."""
    headings = ["# A `pst_x`: first, second (3)", "## Twice", "## [Twice](page.md)", "```", "# in code", "```", "    # indented", "#tag"]
    (house / "other.md").write_text("\n".join(headings) + "\n")
    good = ["other.md#a-pst_x-first-second-3", "other.md#twice", "other.md#twice-1", "#here", "other.md"]
    bad = ["other.md#twice-2", "other.md#in-code", "other.md#indented", "other.md#tag", "#twice", "other.md#Twice"]
    (house / "page.md").write_text("# Here\n" + "\n".join(f"[x]({target})" for target in [*good, *bad]) + "\n")
    found = [f"page.md:{number}: link to {target}, a heading that does not exist" for number, target in enumerate(bad, len(good) + 2)]
    assert lint.check_links().findings == found


def test_prose(house: Path) -> None:
    """Prose of one word too many is found, in an item as well; code and headings may be as wide as they like."""
    wide = "word " * 28  # 139 columns without the last blank
    longer = f"{wide}too wide"
    page = [wide + "a", "", longer, "", f"- {longer}", f"    {longer}", f"    | {longer} |", "```", longer, f"| {longer} |", "```"]
    (house / "page.md").write_text("\n".join([*page, f"# {longer}", "", longer]) + "\n")
    found = [finding.split(":")[1] for finding in lint.check_prose().findings]
    assert found == ["1", "3", "5", "14"] and "141 columns of prose, allowed: 140" in lint.check_prose().findings[0]


def test_cells(house: Path) -> None:
    """A cell of one character too many is found, wherever it stands; what a link leads to does not count, nor do the others of its row."""
    full, over = "x" * 120, "x" * 121
    link, bar = f"[{'x' * 117} y](https://example.org/{full})", f"{'x' * 119}\\|"
    rows = [f"| {full} | {full} |", f"| {over} | a |", f"| a | {over} |", f"| a | {over}", f"| {link}z |", f"| {link}zz |", f"| {bar} |"]
    (house / "page.md").write_text("\n".join([*rows, f"| {bar}x |", "", f"  | {over} |"]) + "\n")
    findings = lint.check_prose().findings
    assert [finding.split(":")[1] for finding in findings] == ["2", "3", "4", "6", "8", "10"]
    assert findings[0] == "page.md:2: 121 characters in a cell of a table, allowed: 120"


def test_messages_name_their_own_module(house: Path) -> None:
    """At elaboration, in every form; what an assertion says in simulation comes with its place."""
    text = CLEAN.replace("endmodule", '  if (D < 1) begin : g_bad\n    $error("pst_planted: D is %0d", D);\n  end\n\nendmodule')
    module(house).write_text(text.replace("q_o <= d_i;", 'begin\n    q_o <= d_i;\n    assert (d_i) else $error("no data");\n  end'))
    assert lint.check_messages() == lint.Result("1 messages")
    name = '"pst_planted: '
    for old, new in (
        (name, '"pst_plant: '),
        (name, '"'),
        (name, '"pst_planted '),
        (name + 'D is %0d", D', ""),
        (f"$error({name}", '$fatal(1, "'),
    ):
        assert old in text
        module(house).write_text(text.replace(old, new))
        assert lint.check_messages().findings == [
            "blocks/planted/rtl/pst_planted.sv:12: a message of pst_planted does not begin with `pst_planted: `"
        ], new


def test_assertions_have_names(house: Path) -> None:
    """Of every kind, in a loop and behind a condition, too; what a macro holds is named where it is used; words and comments are none."""
    text = CLEAN.replace("q_o <= d_i;", "begin\n    q_o <= d_i; // assert (d_i)\n    STATEMENT\n  end")
    for statement in (
        "a_data : assert (d_i);",
        'if (q_o) a_data : assert (d_i) else $error("assert (no data)");',
        "for (int i = 0; i < 2; i++) a_data : assert (d_i);",
        "m_data : assume (d_i);",
        "c_data : cover (d_i); /* cover (q_o) */",
    ):
        module(house).write_text(text.replace("STATEMENT", statement))
        assert lint.check_assertions() == lint.Result("1 assertions"), statement
        name = f"{statement[statement.index('_data') - 1]}_data : "
        for wrong in ("", "x_data : "):
            module(house).write_text(text.replace("STATEMENT", statement.replace(name, wrong)))
            (finding,) = lint.check_assertions().findings
            assert finding.startswith("blocks/planted/rtl/pst_planted.sv:11: ") and "has no name `" in finding, statement
    module(house).write_text(CLEAN.replace("endmodule", "`define HOLDS(what) assert (what)\n\nendmodule"))
    assert lint.check_assertions() == lint.Result("0 assertions")


def test_names_in_loops_are_not_for_yosys() -> None:
    """Only those in procedural loops go, whatever stands between loop and assertion; lines and columns stay."""
    source = """
for (genvar g = 0; g < 2; g++) begin : g_each
  always_ff @(posedge clk_i) begin
    a_kept : assert (x[g]);
    for (int i = 0; i < 2; i++) begin
      if (x[i]) a_one : assert (y[i]); // end
      else begin
        a_two : assert (z[i]) else $error("end %0d", i);
      end
      a_three : assert (x[i] || y[i]);
    end
    for (int i = 0; i < 2; i++) if (x[i]) c_three : cover (y[f(i, 1)]); else m_four : assume (z[i]);
    m_stays : assume (x == y);
  end
end
"""
    found = assertions.unnamed_in_loops(source)
    assert [entry.label for entry in assertions.assertions(found)] == ["a_kept", "", "", "", "", "", "m_stays"]
    assert [entry.at for entry in assertions.assertions(found)] == [entry.at for entry in assertions.assertions(source)]
    assert [entry.kind for entry in assertions.assertions(found)] == [*["assert"] * 4, "cover", "assume", "assume"]
    assert found.replace(" ", "") != source.replace(" ", "") and len(found) == len(source) and found.count("\n") == source.count("\n")


def test_python_and_cpp(house: Path) -> None:
    (house / "bad.py").write_text("import os\nx = {'a':1}\n")
    (house / "bad.cpp").write_text(f"// {lint.SPDX}\nint  f( ){{return 1;}}\n")
    assert any("F401" in line for line in lint.check_ruff().findings)
    assert lint.check_ruff_format().findings
    assert lint.check_clang_format().findings
    lint.fix()
    assert not lint.check_ruff().findings and not lint.check_ruff_format().findings and not lint.check_clang_format().findings


def test_status_and_summary(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--only", "licence", "--only", "lists"]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [["ok", "licence"], ["ok", "lists"]]
    module(house).write_text("module pst_planted; endmodule\n")
    assert main(["lint", "--only", "licence"]) == 1
    assert "FAIL licence" in capsys.readouterr().out
    assert main(["lint", "--only", "licens"]) == 2
    assert "did you mean 'licence'" in capsys.readouterr().err


def test_untracked_files_count_and_ignored_ones_do_not(house: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=house, check=True)
    (house / ".gitignore").write_text("ignored/\n")
    (house / "ignored").mkdir()
    (house / "ignored" / "x.sv").write_text("nothing")
    assert lint.check_licence().findings == []
    (house / "new.sv").write_text("nothing")
    assert len(lint.check_licence().findings) == 1
