"""Register maps of a generated folder: HTML, C, Python and IP-XACT have the addresses and fields of the contract."""

import importlib.util
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from penstock.contract import rdl
from penstock.hardware import register_maps
from penstock.paths import DESIGNS

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


def test_c_header_compiles_with_these_offsets(folder: Path, design: str) -> None:
    top = rdl.compiled(register_maps.source(design))  # type: ignore[arg-type]
    prefix = top.inst_name.upper()
    lines = ["#include <stddef.h>", f'#include "{design}_registers.h"']
    for node in rdl.registers(top):
        path = node.get_rel_path(top)
        lines.append(f'_Static_assert(offsetof({top.inst_name}_t, {path}) == {node.absolute_address}, "{path}");')
        for field in node.fields():
            name = "__".join((prefix, *(step.upper() for step in path.split(".")), field.inst_name.upper()))
            lines.append(f'_Static_assert({name}_bp == {field.low} && {name}_bw == {field.width}, "{name}");')
    (folder / "check.c").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "check.c"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


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
