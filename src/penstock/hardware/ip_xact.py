# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The wrapper with scalar ports as an IP-XACT component (IEEE 1685-2014): interfaces by AMBA's names, memory map, ports, sources.

Order and names of elements follow the schema of the standard, which a test holds against it.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from penstock import __version__
from penstock.designs.configs import Port
from penstock.designs.design import Configuration
from penstock.hardware import axi_wrapper
from penstock.hardware.axi_wrapper import Flat

SPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
# name, version and the name of clock and reset in the definitions of AMBA's buses, which come from amba.com, library AMBA4
_BUSES = {
    "axis": ("AXI4Stream", "r0p0_1"),
    "axi": ("AXI4", "r0p0_0"),
    "axil": ("AXI4-Lite", "r0p0_0"),
}
_FILES = {".sv": "systemVerilogSource", ".v": "verilogSource"}


def component(
    config: Configuration,
    ports: list[Port],
    crossings: Sequence[str],
    files: Sequence[str],
    registers: Path | None,
    choice: axi_wrapper.Choice = axi_wrapper.PLAIN,
) -> str:
    """Return the component; `files` are the sources in their order, from the package's folder, and `registers` is its map as IP-XACT."""
    ElementTree.register_namespace("ipxact", SPACE)
    found = axi_wrapper.flat(ports, choice)
    top = _of("component")
    for name, text in (
        ("vendor", "penstock"),
        ("library", config.design),
        ("name", axi_wrapper.name_of(config)),
        ("version", __version__),
    ):
        _of(name, top, text)
    interfaces = list(dict.fromkeys(each.interface for each in found if each.interface))
    memory_maps = _memory_maps(registers)
    buses = _of("busInterfaces", top)
    for interface in interfaces:
        _bus(buses, [each for each in found if each.interface == interface], crossings, _name_of(memory_maps))
    if any(each.name == axi_wrapper.INTERRUPT for each in found):
        _interrupt(buses)
    if memories := [name for name in interfaces if name.startswith("m_axi") and not name.startswith("m_axis")]:
        spaces = _of("addressSpaces", top)
        for interface in memories:
            bits = {each.signal: each.bits for each in found if each.interface == interface}
            space = _of("addressSpace", spaces)
            _of("name", space, interface)
            _of("range", space, str(1 << bits["awaddr"]))
            _of("width", space, str(bits["wdata"]))
    if memory_maps is not None:
        top.append(memory_maps)
    _model(_of("model", top), config, found, crossings)
    file_set = _of("fileSet", _of("fileSets", top))
    _of("name", file_set, "rtl")
    for file in files:
        entry = _of("file", file_set)
        _of("name", entry, file)
        _of("fileType", entry, _FILES[Path(file).suffix])
    _of("description", top, config.description)
    ElementTree.indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(top, encoding="unicode")}\n'


def _of(tag: str, parent: ElementTree.Element | None = None, text: str | None = None, /, **attributes: str) -> ElementTree.Element:
    element = ElementTree.Element(f"{{{SPACE}}}{tag}", attributes)
    element.text = text
    if parent is not None:
        parent.append(element)
    return element


def _memory_maps(registers: Path | None) -> ElementTree.Element | None:
    return None if registers is None else ElementTree.parse(registers).getroot().find(f"{{{SPACE}}}memoryMaps")


def _name_of(memory_maps: ElementTree.Element | None) -> str | None:
    return None if memory_maps is None else memory_maps.findtext(f"{{{SPACE}}}memoryMap/{{{SPACE}}}name")


def _bus(buses: ElementTree.Element, ports: list[Flat], crossings: Sequence[str], mapped: str | None) -> None:
    interface, kind = ports[0].interface, ports[0].of.name.split("_")[1]
    name, version = _BUSES[kind]
    reference = {"vendor": "amba.com", "library": "AMBA4", "version": version}
    bus = _of("busInterface", buses)
    _of("name", bus, interface)
    _of("busType", bus, name=name, **reference)
    abstraction = _of("abstractionType", _of("abstractionTypes", bus))
    _of("abstractionRef", abstraction, name=f"{name}_rtl", **reference)
    maps = _of("portMaps", abstraction)
    clock = axi_wrapper.clock_of(ports[0], crossings)
    pairs = [("ACLK", clock), ("ARESETn", clock.removesuffix("aclk") + "aresetn")]
    for logical, physical in [*pairs, *((each.signal.upper(), each.name) for each in ports)]:
        entry = _of("portMap", maps)
        _of("name", _of("logicalPort", entry), logical)
        _of("name", _of("physicalPort", entry), physical)
    role = _of("master" if interface.startswith("m_") else "slave", bus)
    if kind == "axi":
        _of("addressSpaceRef", role, addressSpaceRef=interface)
    elif kind == "axil" and mapped:
        _of("memoryMapRef", role, memoryMapRef=mapped)


def _interrupt(buses: ElementTree.Element) -> None:
    """Add the interrupt by Vivado's definition; the standard has none."""
    reference = {"vendor": "xilinx.com", "library": "signal", "version": "1.0"}
    bus = _of("busInterface", buses)
    _of("name", bus, axi_wrapper.INTERRUPT)
    _of("busType", bus, name="interrupt", **reference)
    abstraction = _of("abstractionType", _of("abstractionTypes", bus))
    _of("abstractionRef", abstraction, name="interrupt_rtl", **reference)
    entry = _of("portMap", _of("portMaps", abstraction))
    _of("name", _of("logicalPort", entry), "INTERRUPT")
    _of("name", _of("physicalPort", entry), axi_wrapper.INTERRUPT)
    _of("master", bus)
    parameter = _of("parameter", _of("parameters", bus), parameterId="SENSITIVITY")
    _of("name", parameter, "SENSITIVITY")
    _of("value", parameter, "LEVEL_HIGH")


def _model(model: ElementTree.Element, config: Configuration, found: list[Flat], crossings: Sequence[str]) -> None:
    view = _of("view", _of("views", model))
    _of("name", view, "rtl")
    _of("componentInstantiationRef", view, "rtl")
    instance = _of("componentInstantiation", _of("instantiations", model))
    _of("name", instance, "rtl")
    _of("language", instance, "Verilog")
    _of("moduleName", instance, axi_wrapper.name_of(config))
    _of("localName", _of("fileSetRef", instance), "rtl")
    listed = _of("ports", model)
    clocks = [("in", f"{name}_aclk", 1) for name in crossings] + [("out", f"{name}_aresetn", 1) for name in crossings]
    ways = {"input": "in", "output": "out"}
    for way, name, bits in [("in", "aclk", 1), ("in", "aresetn", 1), *clocks, *((ways[e.direction], e.name, e.bits) for e in found)]:
        port = _of("port", listed)
        _of("name", port, name)
        wire = _of("wire", port)
        _of("direction", wire, way)
        if bits > 1:
            vector = _of("vector", _of("vectors", wire))
            _of("left", vector, str(bits - 1))
            _of("right", vector, "0")
