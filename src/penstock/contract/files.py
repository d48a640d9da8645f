"""All generated files of the contract: what they hold, and which committed ones are not fresh."""

import json
import tempfile
from pathlib import Path
from typing import Any

from peakrdl_regblock.udps import ALL_UDPS

from penstock.contract import cpp, pages, rdl, rtl, source
from penstock.contract.source import Device, Shared


def generate(root: Path, into: Path) -> list[Path]:
    """Write everything that follows from the sources below `root` into `into`, laid out as the project, and return it, relative to it.

    Raises UserError for a source that is not sound; SystemRDL's compiler says itself what is wrong with that.
    """
    written: list[Path] = []

    def write(name: str, text: str) -> None:
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        written.append(Path(name))

    common = source.shared(root)
    devices = [source.device(root, design, common) for design in source.designs(root)]
    write("blocks/common/rtl/pst_pkg.sv", rtl.package(common))
    for proof in common.proofs:
        write(proof.file, rtl.package(common.with_widths(proof.widths), proof.words))
    write("blocks/common/model/drop.hpp", cpp.drop(common))
    write("blocks/common/model/settings.hpp", cpp.settings(common))
    write("docs/reasons.md", pages.reasons(devices))
    for device in [*devices, *source.mapped(root)]:
        folder = f"designs/{device.design}"
        if device.own:
            write(f"{folder}/rtl/pst_{device.design}_drop_pkg.sv", rtl.own_package(device))
        write(f"{folder}/regs/widths.rdl", rdl.widths(common))
        if device.reasons:
            write(f"{folder}/regs/drops.rdl", rdl.counters(device))
        registers = into / folder / "regs" / f"{device.design}.rdl"
        if root != into:  # it includes what was written just now
            registers.write_text((root / folder / "regs" / registers.name).read_text())
        top = rdl.compiled(registers, ALL_UDPS)
        (into / folder / "rtl").mkdir(parents=True, exist_ok=True)
        written += [path.relative_to(into) for path in rdl.rtl(top, registers.name, into / folder / "rtl")]
        table, named = rdl.addresses(top), rdl.enums(top)
        enums = {name: values for name, (_, values) in named.items()}
        write(f"{folder}/rtl/pst_{device.design}_values_pkg.sv", rtl.values(device, named))
        write(f"{folder}/regs/{device.design}.json", data(device, common, table, enums))
        if device.reasons:
            write(f"{folder}/model/{device.design}.hpp", cpp.device(device, table, enums))
        write(device.page, pages.registers(top, device, common))
    return written


def data(device: Device, common: Shared, table: dict[str, Any], enums: dict[str, Any]) -> str:
    """Return the JSON for software: registers, named values, drop reasons, settings and rates; a line for each entry."""
    reasons = {
        entry.reason.name: {"number": entry.reason.number, "stages": entry.stages, "words": entry.reason.words} for entry in device.reasons
    }
    settings = {setting.name: {"width": setting.width, "least": setting.least, "most": setting.most} for setting in common.settings}
    parts = {"registers": table, "enums": enums, "reasons": reasons, "settings": settings, "rates": common.rates.model_dump()}
    lines = [f'  "generated": "by {rtl.TOOL}; do not edit"']
    for name, entries in parts.items():
        if not entries:
            continue
        rows = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items())
        lines.append(f'  "{name}": {{\n{rows}\n  }}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def stale(root: Path) -> list[Path]:
    """Return the committed files below `root` that are missing or differ from what the sources give, relative to it."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = {path: (Path(folder) / path).read_text() for path in generate(root, Path(folder))}
    return [path for path, text in fresh.items() if not (root / path).exists() or (root / path).read_text() != text]
