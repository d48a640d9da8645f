# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The contract: what is generated is fresh, all languages have the same numbers, another device has its own, and bad sources are told."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.contract import files, source
from penstock.designs.access_edge import registers
from penstock.errors import UserError
from penstock.paths import ROOT

TOOL = ROOT / "tools" / "generate_contract.py"
# Numbers are for ever: registers and results of years ago have them.
NAMES = [
    "", "runt", "oversize", "bad_queue_id", "bad_frame", "no_page", "tail_drop_packets", "tail_drop_bytes", "aqm", "", "no_share",
    "read_error", "", "write_error", "no_subscriber", "flow_overflow",
]  # fmt: skip
REASONS = {number: name for number, name in enumerate(NAMES) if name}
WIDTHS = {"length": 14, "mantissa": 16, "exponent": 6, "burst": 28, "limit_packets": 16, "limit_bytes": 24, "aqm_ticks": 18,
          "traffic_class": 3, "weight_less_one": 3, "alpha": 4}  # fmt: skip

SWITCH = """\
title: the switch
registers: docs/registers_switch.md
reasons: {oversize: [classify], bad_frame: [classify]}
own:
  - {number: 12, name: refused, words: refused, meaning: more destinations than ports, stages: [classify, enqueue]}
"""
SWITCH_RDL = """\
// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
`include "widths.rdl"
`define DROPS 0x200
`define DROPS_STRIDE 0x20
addrmap pst_switch_regs {
    default regwidth = 32; default accesswidth = 32; default sw = r; default hw = w;
    enum kind { ring = 5; star = 6; };
    regfile dropped_r { reg { field {} value[20]; } packets @ 0x0; reg { field {} value[`BURST_WIDTH]; } bytes @ 0x10; };
    reg { field { encode = kind; } what[7:4]; } shape @ 0x4;
    `include "drops.rdl"
};
"""


def test_everything_is_fresh() -> None:
    assert [str(path) for path in files.stale(ROOT)] == [], "run tools/generate_contract.py"


def project(folder: Path) -> Path:
    """Return a copy of the sources, and of what was made from them."""
    copied = [source.SHARED, *(str(path.relative_to(ROOT)) for path in ROOT.glob("designs/*/contract.yaml"))]
    copied += [str(path.relative_to(ROOT)) for path in ROOT.glob("designs/*/regs/*")]
    for name in copied:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the contract's sources with everything generated; not to be changed."""
    folder = project(tmp_path_factory.mktemp("made"))
    files.generate(folder, folder)
    return folder


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """The same, to be changed."""
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def test_each_file_that_is_not_fresh_is_named(root: Path) -> None:
    written = files.generate(root, root)
    assert len(written) == len(set(written)) >= 13 and files.stale(root) == []
    for name in written:
        head = "".join((root / name).read_text().splitlines(keepends=True)[:4])
        assert "enerated" in head and "generate_contract.py" in head, f"{name} does not say that it is generated"
    gone, changed = written[2], written[-1]
    (root / gone).unlink()
    (root / changed).write_text((root / changed).read_text() + "\n")
    assert files.stale(root) == [gone, changed]


def test_a_change_of_a_source_reaches_every_language(root: Path) -> None:
    """One width more: package, C++, SystemRDL, its RTL and the data for Python have it."""
    shared = root / source.SHARED
    shared.write_text(shared.read_text().replace("name: burst, width: 28", "name: burst, width: 29"))
    stale = {path.as_posix() for path in files.stale(root)}
    regs = "designs/access_edge/regs"
    wanted = ["blocks/common/rtl/pst_pkg.sv", "blocks/common/model/settings.hpp", f"{regs}/widths.rdl", f"{regs}/access_edge.json"]
    wanted += ["designs/access_edge/rtl/pst_access_edge_regs.sv", "designs/access_edge/model/access_edge.hpp", "docs/registers.md"]
    assert stale >= set(wanted)
    files.generate(root, root)
    assert json.loads((root / regs / "access_edge.json").read_text())["registers"]["queue_burst"]["fields"]["cycles"][1] == 29


def test_the_tool_names_what_is_not_fresh() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_numbers_are_kept() -> None:
    assert REASONS == registers.DROP_REASONS
    settings = registers.contract()["settings"]
    assert {name: entry["width"] for name, entry in settings.items()} == WIDTHS
    assert {name: entry["most"] for name, entry in settings.items()} == {name: 2**width - 1 for name, width in WIDTHS.items()}
    assert (settings["mantissa"]["least"], registers.MIN_RATE_BPS, registers.MAX_RATE_BPS) == (32_768, 8_000, 10**11)
    assert registers.contract()["enums"] == {
        "aqm_kind": {"none": 0, "codel": 1, "pie": 2, "other": 3},
        "refusal": {"accepted": 0, "no_command": 1, "bad_index": 2, "bad_parent": 3, "bad_class": 4, "under_way": 5}
        | {"no_room": 6, "bad_key": 7},
        "command": {"write": 1, "snapshot": 2, "write_next": 3}
        | {"tree_queue": 4, "tree_subscriber": 5, "tree_node": 6, "tree_port": 7, "share": 8, "provision": 9, "tree_subscriber_next": 10}
        | {"read_back": 12, "read_back_subscriber": 13, "read_back_node": 14, "read_back_port": 15, "scan": 16, "scan_backlog": 17}
        | {"snapshot_node": 18, "find_insert": 19, "find_delete": 20, "find_profile": 21, "find_class": 22, "find_miss": 23}
        | {"find_seed": 24, "find_mpls": 25, "find_separator": 26, "find_interval": 27, "find_bank": 28}
        | {"find_read": 29, "flow_word": 30},
    }  # fmt: skip


def camel(name: str) -> str:
    """Return `no_page` as `NoPage`."""
    return re.sub(r"(?:^|_)([a-z])", lambda match: match[1].upper(), name)


def test_drop_reasons_are_the_same_everywhere() -> None:
    wanted = {"None": 0} | {camel(name): number for number, name in REASONS.items()}
    for name in ("common/rtl", "queue/formal", "timing/formal"):
        package = (ROOT / "blocks" / name / "pst_pkg.sv").read_text()
        assert {key: int(number) for key, number in re.findall(r"Drop(\w+) += 4'd(\d+)", package)} == wanted
    header = (ROOT / "blocks/common/model/drop.hpp").read_text()
    assert {key: int(number) for key, number in re.findall(r"    (\w+) = (\d+),", header)} == wanted
    device = (ROOT / "designs/access_edge/model/access_edge.hpp").read_text()
    names = re.search(r"kDropNames = \{(.*?)\}", device, re.DOTALL)
    assert names is not None and json.loads(f"[{names[1]}]") == NAMES and "kDropReasons = 16;" in device


def test_engine_has_the_registers_of_the_data(made: Path) -> None:
    text = (made / "designs/access_edge/model/access_edge.hpp").read_text()
    fields = {key: (int(low), int(width)) for key, low, width in re.findall(r"Field k(\w+)\{(\d+), (\d+)\}", text)}
    part = text[text.index("namespace registers {") : text.index("// Where a field")]
    addresses = {key: int(value, 16) for key, value in re.findall(r"k(\w+) = (0x\w+);", part)}
    part = text[text.index("namespace resets {") : text.index("namespace values {")]
    resets = {key: int(value, 16) for key, value in re.findall(r"k(\w+) = (0x\w+);", part)}
    table = registers.table()
    assert addresses == {camel(name): entry["address"] for name, entry in table.items()}
    every = {camel(name) + camel(field): entry for name, found in table.items() for field, entry in found["fields"].items()}
    assert fields == {name: (low, width) for name, (low, width, _) in every.items()}
    assert resets == {name: reset for name, (_, _, reset) in every.items() if reset is not None}


def test_another_device_has_its_own(root: Path) -> None:
    """Reasons of its own beside shared ones, numbers with gaps, another place for its counters."""
    switch = root / "designs" / "switch"
    (switch / "regs").mkdir(parents=True)
    (switch / "contract.yaml").write_text(SWITCH)
    (switch / "regs" / "switch.rdl").write_text(SWITCH_RDL)
    before = {path: (root / path).read_text() for path in files.generate(project(root), root) if "switch" not in str(path)}
    data = json.loads((switch / "regs" / "switch.json").read_text())
    assert {name: entry["number"] for name, entry in data["reasons"].items()} == {"oversize": 2, "bad_frame": 4, "refused": 12}
    assert data["reasons"]["refused"]["stages"] == ["classify", "enqueue"]
    places = {name: entry["address"] for name, entry in data["registers"].items()}
    assert places == {"shape": 4} | {
        f"dropped_{reason}_{what}": 0x200 + 0x20 * number + offset
        for reason, number in (("oversize", 2), ("bad_frame", 4), ("refused", 12))
        for what, offset in (("packets", 0), ("bytes", 0x10))
    }
    assert data["registers"]["dropped_refused_bytes"]["fields"] == {"value": [0, 28, None]} and data["enums"] == {
        "kind": {"ring": 5, "star": 6}
    }
    package = (switch / "rtl" / "pst_switch_drop_pkg.sv").read_text()
    assert re.findall(r"(\w+) += 4'd(\d+)", package) == [
        ("DropNone", "0"),
        ("DropOversize", "2"),
        ("DropBadFrame", "4"),
        ("DropRefused", "12"),
    ]
    assert re.findall(r"(\w+) = 4'd(\d+)", (switch / "rtl" / "pst_switch_values_pkg.sv").read_text()) == [
        ("KindRing", "5"),
        ("KindStar", "6"),
    ]
    header = (root / "designs/switch/model/switch.hpp").read_text()
    assert "kDropReasons = 13;" in header and header.count('""') == 10 and header.count("{0, 0}") == 10
    assert "## In the switch" in (root / "docs/reasons.md").read_text() and "0x384" not in (root / "docs/registers_switch.md").read_text()
    for path, text in before.items():
        assert path.name == "reasons.md" or text == (ROOT / path).read_text(), f"{path} is another with a second device"


def replaced(old: str, new: str) -> Callable[[Path], None]:
    """Return a change of the first of both sources that has `old`."""

    def change(root: Path) -> None:
        for name in (source.SHARED, "designs/access_edge/contract.yaml"):
            text = (root / name).read_text()
            if old in text:
                (root / name).write_text(text.replace(old, new, 1))
                return
        raise AssertionError(f"no source has {old}")

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replaced("number: 2, name", "number: 1, name"), r"blocks/common/contract.yaml: the reasons runt and oversize both have number 1"),
        (replaced("name: oversize", "name: runt"), "contract.yaml: two reasons are called runt"),
        (replaced("number: 8", "number: 16"), "reasons.7.number: must be at most 15, not 16"),
        (replaced("number: 8", "number: 0"), "reasons.7.number: must be at least 1, not 0"),
        (replaced("name: burst, width: 28", "name: burst, width: 33"), "settings.3.width: must be at most 32, not 33"),
        (replaced("least: 32768", "least: 65536"), "settings.1: has a least value of 65,536, but its 16 bits hold 65,535 at most"),
        (replaced("limit_bytes: 3", "limit_byte: 3"), "has a width of limit_byte, which is no setting; did you mean 'limit_bytes'"),
        (replaced("file: blocks/queue", "file: ../blocks/queue"), "proofs.0.file: must be"),
        (replaced("no_page: [enqueue]", "no_pages: [enqueue]"), "reasons.no_pages: is not in blocks/.*; did you mean"),
        (replaced("no_page: [enqueue]", "no_page: [transmit]"), "reasons.no_page.0: must be one of"),
        (replaced("no_page: [enqueue]", "no_page: []"), "reasons.no_page: must not be empty"),
        (
            replaced("reasons:\n  runt", "own: [{number: 3, name: late, words: late, meaning: late, stages: [enqueue]}]\nreasons:\n  runt"),
            "own: the reasons bad_queue_id and late both have number 3",
        ),
        (replaced("settings:", "setings:"), "setings: is not valid|settings: is missing"),
        (replaced("rates: {", "rates: {{"), "is not valid YAML"),
        (lambda root: (root / source.SHARED).unlink(), "blocks/common/contract.yaml: cannot be read"),
    ],
)  # fmt: skip
def test_bad_sources_are_told(root: Path, change: Callable[[Path], None], message: str) -> None:
    before = {path: path.read_text() for path in root.rglob("*.sv")}
    change(root)
    with pytest.raises(UserError, match=message):
        files.generate(root, root)
    assert before == {path: path.read_text() for path in root.rglob("*.sv")}, "something was written"


def test_values_that_a_field_cannot_hold_are_refused() -> None:
    assert registers.word("queue_rate", mantissa=0x8001, exponent=63) == 0x3F8001
    assert registers.word("tree_class", cls=2, weight=7) == 0x702
    for values in ({"mantissa": 1 << 16}, {"exponent": 64}, {"exponent": -1}):
        with pytest.raises(ValueError, match="holds 0 to"):
            registers.word("queue_rate", **values)
