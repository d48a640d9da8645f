"""Register maps of a generated folder: HTML, C, Python and IP-XACT have the addresses and fields of the contract."""

import importlib.util
import json
import platform
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from penstock.hardware import register_maps
from penstock.paths import BUILD, DESIGNS

WITH_REGISTERS = ("access_edge", "deadline_port")
IPXACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"


@pytest.fixture(scope="module", params=WITH_REGISTERS)
def design(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(design: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("maps")
    assert all((out / name).exists() for name in register_maps.write(design, out))
    return out


@pytest.fixture(scope="module")
def table(design: str) -> dict[str, dict[str, Any]]:
    """What the workbench itself goes by."""
    return dict(json.loads((DESIGNS / design / "regs" / f"{design}.json").read_text())["registers"])


def test_python_has_them_and_packs(folder: Path, design: str, table: dict[str, dict[str, Any]]) -> None:
    spec = importlib.util.spec_from_file_location("maps", folder / f"{design}_registers.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["maps"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    assert {
        name: {"address": r.address, "bytes": r.bytes, "fields": {key: [f.low, f.width, f.reset] for key, f in r.fields.items()}}
        for name, r in module.REGISTERS.items()
    } == table
    version = module.VERSION
    assert version.unpack(version.pack()) == {"value": table["version"]["fields"]["value"][2]}
    several = next(r for r in module.REGISTERS.values() if len(r.fields) > 1)
    most = {name: (1 << field.width) - 1 for name, field in several.fields.items()}
    assert several.unpack(several.pack(**most)) == most
    with pytest.raises(ValueError, match="does not fit into 32 bits"):
        version.pack(value=1 << 32)
    with pytest.raises(ValueError, match="has no field valeu"):
        version.pack(valeu=1)


def test_c_header_has_them(folder: Path, design: str, table: dict[str, dict[str, Any]]) -> None:
    """Each offset, mask and named value, in strict C99 without an operating system, and in C++."""
    prefix, at = design.upper(), 0
    expected: dict[str, int] = {}
    for name, entry in table.items():
        expected[f"{prefix}_{name}".upper()] = entry["address"]
        for key, (low, width, reset) in entry["fields"].items():
            field = f"{prefix}_{name}".upper() + ("" if key == "value" else f"_{key.upper()}")
            expected |= {f"{field}_LSB": low, f"{field}_MASK": ((1 << width) - 1) << low}
            expected |= {} if reset is None else {f"{field}_RESET": reset}
    enums = json.loads((DESIGNS / design / "regs" / f"{design}.json").read_text())["enums"]
    for name in ("command", "refusal"):
        expected |= {f"{prefix}_{name}_{key}".upper(): value for key, value in enums[name].items()}
    lines = [f'#include "{design}_registers.h"']
    for at, (name, value) in enumerate(expected.items()):
        lines.append(f"extern int same_{at}[{name} == UINT64_C({value}) ? 1 : -1];")
    for compiler, standard, ending in (("cc", "c99", "c"), ("c++", "c++11", "cpp")):
        (folder / f"check.{ending}").write_text("\n".join(lines) + "\n")
        flags = [f"-std={standard}", "-ffreestanding", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
        done = subprocess.run(
            [compiler, *flags, "-fsyntax-only", f"check.{ending}"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert at > 100


STORE_OF_A_WORD = {"x86_64": r"\tmovl\t%\w+, \S*\(%", "riscv64": r"\tsw\ta", "thumb": r"\tstr\tr"}
ZIG = {"riscv64": ["-target", "riscv64-freestanding"], "thumb": ["-target", "thumb-freestanding", "-mcpu=cortex_m3"],
       "x86_64": ["-target", "x86_64-freestanding"]}  # fmt: skip


ZIG_VERSION = "0.14.1"  # a C compiler for all of them, 340 MB: too much to be part of what every test needs


@pytest.fixture(scope="session")
def zig() -> list[str]:
    """Return the command of the compiler; it is installed below build/ when it is needed first."""
    where = BUILD / f"zig-{ZIG_VERSION}"
    if not (where / "ziglang" / "zig").exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", where, f"ziglang=={ZIG_VERSION}"]
        subprocess.run([str(part) for part in pip], check=True)
    return [str(where / "ziglang" / "zig"), "cc"]


def stores(folder: Path, design: str, table: dict[str, dict[str, Any]], compiler: list[str], processor: str) -> None:
    """A write of the command is one store of a word, at its offset, and no other one."""
    name = next(name for name in table if name.endswith("command"))
    register = f"{design}_{name}".upper()
    (folder / "store.c").write_text(
        f'#include "{design}_registers.h"\n'
        f"void f(volatile void *at, uint32_t value);\n"
        f"void f(volatile void *at, uint32_t value) {{ {design}_write(at, {register}, value); }}\n"
    )
    command = [*compiler, "-std=c99", "-ffreestanding", "-fomit-frame-pointer", "-O1", "-S", "store.c", "-o", "store.s"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    body = (folder / "store.s").read_text().split("\nf:")[1]
    found = [line for line in body.splitlines() if re.match(r"\t(mov[bwlq]\t\S+, \S*\(|s[bhwd]\ta|str[bh]?\t)", line)]
    assert len(found) == 1 and re.match(STORE_OF_A_WORD[processor], found[0]), body
    assert str(table[name]["address"]) in found[0]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for instructions of x86-64")
def test_a_write_is_one_store(folder: Path, design: str, table: dict[str, dict[str, Any]]) -> None:
    stores(folder, design, table, ["cc"], "x86_64")


@pytest.mark.slow
@pytest.mark.parametrize("processor", ZIG)
def test_a_write_is_one_store_elsewhere(
    folder: Path, design: str, table: dict[str, dict[str, Any]], processor: str, zig: list[str]
) -> None:
    stores(folder, design, table, [*zig, *ZIG[processor]], processor)


def test_ip_xact_has_them(folder: Path, design: str, table: dict[str, dict[str, Any]]) -> None:
    root = ElementTree.parse(folder / f"{design}_registers.xml").getroot()

    def number(of: ElementTree.Element, tag: str) -> int:
        return int((of.findtext(IPXACT + tag) or "").replace("'h", "0x"), 0)

    found: dict[str, dict[str, Any]] = {}

    def walk(of: ElementTree.Element, names: tuple[str, ...], base: int) -> None:
        for each in of:
            if each.tag in (f"{IPXACT}register", f"{IPXACT}registerFile"):
                own, address = (*names, each.findtext(f"{IPXACT}name") or ""), base + number(each, "addressOffset")
                if each.tag == f"{IPXACT}registerFile":
                    walk(each, own, address)
                    continue
                fields = {f.findtext(f"{IPXACT}name"): [number(f, "bitOffset"), number(f, "bitWidth")] for f in each.iter(f"{IPXACT}field")}
                found["_".join(own)] = {"address": address, "bytes": number(each, "size") // 8, "fields": fields}

    walk(next(root.iter(f"{IPXACT}addressBlock")), (), 0)
    assert found == {name: {**entry, "fields": {key: value[:2] for key, value in entry["fields"].items()}} for name, entry in table.items()}


def test_html_has_them(folder: Path, table: dict[str, dict[str, Any]]) -> None:
    nodes = json.loads((folder / "html" / "data" / "ral-data-0.json").read_text())

    def place(node: dict[str, Any]) -> tuple[list[str], int]:
        if node["parent"] is None:
            return [], 0
        names, base = place(nodes[node["parent"]])
        return [*names, node["name"]], base + int(node["offset"], 16)

    places = {"_".join(names): address for names, address in (place(node) for node in nodes if "fields" in node)}
    assert places == {name: entry["address"] for name, entry in table.items()}
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 3e6


def test_a_design_without_registers_has_none(tmp_path: Path) -> None:
    assert register_maps.write("frame_switch", tmp_path) == [] and not list(tmp_path.iterdir())
