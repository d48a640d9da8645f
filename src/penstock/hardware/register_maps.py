"""The register map of a design in the forms that other software takes: HTML, C header, Python module, IP-XACT and SystemRDL.

All come from the SystemRDL of the design: HTML and XML by exporters of PeakRDL, Python and C by our own, which need no library.
"""

import re
import shutil
from pathlib import Path
from typing import Any

from penstock import __version__
from penstock.designs import design as designs
from penstock.hardware import c_header
from penstock.paths import DESIGNS

_KEPT_FONTS = ".woff2"  # every browser takes them; the others are 6 MB


def source(design: str) -> Path | None:
    """Return the SystemRDL of a design, None for one without registers."""
    path = DESIGNS / design / "regs" / f"{design}.rdl"
    return path if path.exists() else None


def write(design: str, folder: Path, pages: bool = True) -> list[str]:
    """Write all forms into `folder`, HTML only with `pages`, and return their names relative to it; none for a design without registers."""
    rdl_file = source(design)
    if rdl_file is None:
        return []
    from peakrdl_html import HTMLExporter
    from peakrdl_ipxact import IPXACTExporter

    from penstock.contract import rdl

    folder.mkdir(parents=True, exist_ok=True)
    top = rdl.compiled(rdl_file)
    name = f"{design}_registers"
    if pages:
        HTMLExporter().export(top, str(folder / "html"), title=f"Registers of {design}, Penstock {__version__}")
        _tidy(folder / "html")
    IPXACTExporter(vendor="penstock", library=design, version=__version__).export(top, str(folder / f"{name}.xml"))
    (folder / f"{name}.rdl").write_text(_whole(rdl_file))
    enums = {key: found for key, (_, found) in rdl.enums(top).items()}
    (folder / f"{name}.py").write_text(_module(design, rdl.addresses(top), enums))
    (folder / f"{name}.h").write_text(c_header.text(design, rdl.addresses(top), enums, __version__))
    software = designs.load(design).software()
    for file, text in software.items():
        (folder / file).write_text(text)
    return [*(["html/index.html"] if pages else []), f"{name}.h", f"{name}.xml", f"{name}.py", f"{name}.rdl", *software]


def _whole(path: Path) -> str:
    """Return the text of a SystemRDL file with what it includes, which is beside it."""
    include = re.compile(r'^[ \t]*`include "(\w+\.rdl)"[ \t]*\n', re.MULTILINE)
    return include.sub(lambda match: _whole(path.parent / match[1]), path.read_text())


def _tidy(folder: Path) -> None:
    """Remove what no browser of today needs."""
    for path in (*folder.glob("launcher-*"), *(path for path in folder.glob("fonts/*/*") if path.suffix != _KEPT_FONTS)):
        path.unlink() if path.is_file() else shutil.rmtree(path)


def _module(design: str, registers: dict[str, dict[str, Any]], enums: dict[str, dict[str, int]]) -> str:
    lines = [_HEAD.format(design=design, version=__version__)]
    for name, values in enums.items():
        members = "".join(f"    {key.upper()} = {value}\n" for key, value in values.items())
        lines.append(f"class {_camel(name)}(IntEnum):\n{members}\n")
    lines.append("")
    for name, entry in registers.items():
        fields = ", ".join(f'"{key}": Field({low}, {width}, {reset})' for key, (low, width, reset) in entry["fields"].items())
        lines.append(f'{name.upper()} = Register("{name}", 0x{entry["address"]:03x}, {entry["bytes"]}, {{{fields}}})')
    lines.append("\nREGISTERS = {found.name: found for found in list(globals().values()) if isinstance(found, Register)}")
    return "\n".join(lines) + "\n"


def _camel(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


_HEAD = '''# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Registers of {design}: addresses, fields, named values. Written by Penstock {version} from the SystemRDL; do not edit.

    import {design}_registers as regs
    bus.write(regs.QUEUE_INDEX.address, regs.QUEUE_INDEX.pack(value=3))
    regs.STATUS.unpack(bus.read(regs.STATUS.address))

A register of 8 bytes is read as two words, the lower one first.
"""

from dataclasses import dataclass
from enum import IntEnum


@dataclass(frozen=True)
class Field:
    """Bits `low` to `low + width - 1` of a register; `reset` is None where hardware gives the value."""

    low: int
    width: int
    reset: int | None


@dataclass(frozen=True)
class Register:
    """One register: byte address, size in bytes, fields by name."""

    name: str
    address: int
    bytes: int
    fields: dict[str, Field]

    def pack(self, **values: int) -> int:
        """Return the word with these fields; the others as after reset. Raises ValueError for what no field holds."""
        word = 0
        for name in values:
            if name not in self.fields:
                raise ValueError(f"{{self.name}} has no field {{name}}; it has {{', '.join(self.fields)}}")
        for name, field in self.fields.items():
            value = int(values.get(name, field.reset or 0))
            if not 0 <= value < 1 << field.width:
                raise ValueError(f"{{self.name}}.{{name}}: {{value}} does not fit into {{field.width}} bits")
            word |= value << field.low
        return word

    def unpack(self, word: int) -> dict[str, int]:
        """Return the fields of a word."""
        return {{name: word >> field.low & (1 << field.width) - 1 for name, field in self.fields.items()}}

'''
