"""Registers of a device: SystemRDL compiled, and its RTL, addresses and table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegNode

from penstock.contract.rtl import header
from penstock.contract.source import SHARED, Device, Shared

ADDRESS_BITS = 12


def widths(common: Shared) -> str:
    """Return what the SystemRDL includes: width and largest value of each setting."""
    lines = [f"`define {s.name.upper()}_WIDTH {s.width}\n`define {s.name.upper()}_MOST {s.most}\n" for s in common.settings]
    return header(SHARED) + "// Settings: bits, and the largest value.\n" + "".join(lines)


def counters(device: Device) -> str:
    """Return what the SystemRDL includes where the drop counters stand: one for each reason, by its number."""
    place = "`DROPS + {} * `DROPS_STRIDE"
    lines = [f"dropped_r dropped_{e.reason.name} @ {place.format(e.reason.number)};\n" for e in device.reasons]
    return header(f"designs/{device.design}/contract.yaml") + "".join(lines)


def compiled(source: Path, properties: Sequence[Any] = ()) -> AddrmapNode:
    """Return the elaborated address map of a device; `properties` of an exporter may stand in it besides those that it declares."""
    compiler = RDLCompiler()
    for udp in properties:
        compiler.register_udp(udp)
    compiler.compile_file(str(source))
    return compiler.elaborate().top


def registers(top: AddrmapNode) -> list[RegNode]:
    """Return all registers in the order of their addresses, arrays unrolled."""
    return sorted((node for node in top.descendants(unroll=True) if isinstance(node, RegNode)), key=lambda node: node.absolute_address)


def register_name(node: RegNode) -> str:
    """Return the flat name by which software calls a register: `in_packets`, `dropped_runt_bytes`."""
    return node.get_rel_path(node.owning_addrmap, hier_separator="_")


def rtl(top: AddrmapNode, source: str, folder: Path) -> list[Path]:
    """Write the register block's module and package into `folder` and return them."""
    from peakrdl_regblock import RegblockExporter
    from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif_flattened

    RegblockExporter().export(top, str(folder), cpuif_cls=AXI4Lite_Cpuif_flattened, address_width=ADDRESS_BITS, reuse_hwif_typedefs=False)
    files = [folder / f"{top.inst_name}_pkg.sv", folder / f"{top.inst_name}.sv"]
    for path in files:
        path.write_text(header(source) + "".join(f"{line.rstrip()}\n" for line in path.read_text().splitlines()))
    return files


def addresses(top: AddrmapNode) -> dict[str, dict[str, Any]]:
    """Return what software needs: address, size in bytes and fields (lowest bit, width, reset) of each register."""
    table = {}
    for node in registers(top):
        fields = {field.inst_name: [field.low, field.width, reset_value(field)] for field in node.fields()}
        table[register_name(node)] = {"address": node.absolute_address, "bytes": node.size, "fields": fields}
    return table


def enums(top: AddrmapNode) -> dict[str, tuple[int, dict[str, int]]]:
    """Return the named values of fields: {name of the enum: (bits of its field, {name: value})}."""
    found: dict[str, tuple[int, dict[str, int]]] = {}
    for node in registers(top):
        for field in node.fields():
            encode = field.get_property("encode", default=None)
            if encode is not None:
                found[encode.type_name] = field.width, {member.name: member.value for member in encode}
    return found


def reset_value(field: FieldNode) -> int | None:
    """Return the value after reset, or None where hardware gives it."""
    reset = field.get_property("reset")
    return reset if isinstance(reset, int) else None


def access(field: FieldNode) -> str:
    """Return what software may do: r, w or rw."""
    return ("r" if field.is_sw_readable else "") + ("w" if field.is_sw_writable else "")


def meaning(field: FieldNode, node: RegNode) -> list[str]:
    """Return what a field means: a text, and one more for each of its named values."""
    texts = [" ".join((field.get_property("desc", default=None) or node.get_property("desc") or "").split())]
    encode = field.get_property("encode", default=None)
    if encode is not None:
        texts += [f"{member.value}: {' '.join((member.rdl_desc or member.name).split())}" for member in encode]
    return texts
