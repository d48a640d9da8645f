"""Plugs: the file that says which AQM is in a device.

`pst_aqm` has an instance of `pst_aqm_algorithm`. The block's file of that name is of a device without an AQM; `aqm` returns the text of one
with an algorithm in it: the same ports, one instance of the module that a `part.yaml` names, and its numbers. A module has those of the
ports and of the parameters that it needs; what it does not have is left out, what it has beside them stays open if it is an output.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.basics import groups
from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.hardware import library
from penstock.parts.manifest import Part
from penstock.paths import BLOCKS, shown

AQM = BLOCKS / "aqm" / "rtl" / "pst_aqm_algorithm.sv"
JUDGES = {"departures": 1, "arrivals": 2}  # pst_aqm's parameter Judges
VERDICTS = {side: tuple(f"m_{side}_verdict{end}_o" for end in ("_valid", "_queue", "")) for side in ("deq", "enq")}
PAGE = "docs/how-to/own-aqm.md has the ports"


@dataclass
class Header:
    """What a module shows: names of parameters, and of ports with their direction (`input`, `output`), in their order."""

    parameters: list[str] = field(default_factory=list)
    ports: dict[str, str] = field(default_factory=dict)


def header(path: Path, module: str) -> Header | None:
    """Return the header of a module, None if the file has no such module. Raises UserError for a file that is no SystemVerilog."""
    groups.need("reading SystemVerilog", "generate")
    from pyslang import syntax

    tree = syntax.SyntaxTree.fromText(path.read_text(errors="replace"))  # must outlive everything that is taken from it
    for found in library.headers(tree):
        if found.name.valueText != module:
            continue
        shape = Header()
        for declaration in found.parameters.declarations if found.parameters else ():
            if getattr(getattr(declaration, "keyword", None), "valueText", "") == "parameter":
                shape.parameters += [part.name.valueText for part in declaration.declarators if hasattr(part, "name")]
        direction = ""
        for port in getattr(found.ports, "ports", None) or ():
            if not hasattr(port, "declarator"):  # the comma between two
                continue
            direction = getattr(getattr(port.header, "direction", None), "valueText", "") or direction
            shape.ports[port.declarator.name.valueText] = direction
        return shape
    return None


def sources(listed: Iterable[Path], part: Part, plug: Path) -> list[Path]:
    """Return sources with an AQM in them: those of its module, and `plug` in the place of the file without one."""
    return list(dict.fromkeys([*(path for path in listed if path.name != AQM.name), *part.rtl_files, plug]))


def written(part: Part, parameters: Mapping[str, int], folder: Path) -> Path:
    """Write the file that says that this AQM is in, in a folder of its own below `folder`. Raises UserError as `aqm` does."""
    text = aqm(part, parameters)
    plug = folder / hashlib.sha256(text.encode()).hexdigest()[:16] / AQM.name
    plug.parent.mkdir(parents=True, exist_ok=True)
    if not plug.exists() or plug.read_text() != text:  # another process may read it
        plug.write_text(text)
    return plug


def has_port(part: Part, name: str) -> bool:
    """Return whether the module of an AQM has this port. Raises UserError for a part without its module."""
    return name in _module(part)[1].ports


def of_module(part: Part, known: Iterable[str]) -> dict[str, int]:
    """Return the parameters by which a module that has these is told of its AQM (`pst_aqm`, ...)."""
    judges = JUDGES[str(part.sees)]
    told = {"Aqm": judges, "Judges": judges, "AqmGuardBytes": part.guard_bytes or 0, "GuardBytes": part.guard_bytes or 0}
    return {name: value for name, value in told.items() if name in known}


def aqm(part: Part, parameters: Mapping[str, int]) -> str:
    """Return the text of pst_aqm_algorithm.sv with this AQM in it; `parameters` are those of its module that the device does not set.

    Raises UserError for a module that is no AQM: one that is not there, that has no verdict, or an input that nothing drives.
    """
    frame = header(AQM, AQM.stem)
    assert frame is not None
    path, module = _module(part)
    for name in parameters:
        if name not in module.parameters:
            raise UserError(f"{shown(path)}: module {part.hardware.module} has no parameter {name}{nearest(name, module.parameters)}")
    for name, direction in module.ports.items():
        if direction != frame.ports.get(name, "output"):
            what = (
                f"an {direction} {name}, which is an {frame.ports[name]} of an AQM"
                if name in frame.ports
                else f"an input {name}, which nothing drives"
            )
            close = "" if name in frame.ports else nearest(name, frame.ports)
            raise UserError(f"{shown(path)}: module {part.hardware.module} has {what}{close}; {PAGE}")
    side = "deq" if part.sees == "departures" else "enq"
    if missing := [name for name in VERDICTS[side] if name not in module.ports]:
        raise UserError(f"{shown(path)}: module {part.hardware.module} has no output {missing[0]}, so it judges no {part.sees}; {PAGE}")
    return _text(part, frame, module, parameters)


def _module(part: Part) -> tuple[Path, Header]:
    for path in part.rtl_files:
        found = header(path, part.hardware.module)
        if found:
            return path, found
    raise UserError(f"{shown(part.folder / 'part.yaml')}: none of its files has a module {part.hardware.module}")


def _text(part: Part, frame: Header, module: Header, parameters: Mapping[str, int]) -> str:
    before, body = AQM.read_text().split("module ", 1)
    ports = body.split("\n);\n", 1)[0]
    numbers = [f".{name}({name})" for name in frame.parameters if name in module.parameters]
    numbers += [f".{name}({value})" for name, value in parameters.items()]
    pins = [f".{name}" if name in frame.ports else f".{name}()" for name in module.ports]
    left = [name for name in frame.ports if name not in module.ports]
    idle = {name: "VerdictPass" if name.endswith("verdict_o") else "'0" for name in left}
    idle |= {"init_done_o": "1'b1", "m_read_valid_o": "s_read_valid_i"}  # what has no read-back answers 0
    driven = [name for name in left if frame.ports[name] == "output"]
    rest = [f"  assign {name} = {idle[name]};" for name in driven]
    ignored = [name for name in left if frame.ports[name] == "input" and name not in [idle[output] for output in driven]]
    if ignored:
        rest += ["", "  logic unused;", "  assign unused = ^{" + ",\n                    ".join(ignored) + "};"]
    return "\n".join(
        [
            before.splitlines()[0],
            f"// The AQM that is in: {part.shown}. {part.words}",
            "// Written by penstock.hardware.plugs; do not edit.",
            f"module {ports}",
            ");",
            "",
            f"  {part.hardware.module} #(",
            ",\n".join(f"      {number}" for number in numbers),
            "  ) u_algorithm (",
            ",\n".join(f"      {pin}" for pin in pins),
            "  );",
            "",
            *rest,
            "",
            "endmodule",
            "",
        ]
    )
