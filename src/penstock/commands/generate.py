"""`penstock generate`: one configuration as sources for another project, or the cell switch as one file of Verilog."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.command_line.parts import With
from penstock.commands import app


@app.command()
def generate(
    design: Annotated[str, typer.Argument(help="A design, a block or a module, fabric, or library.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write; made if it is not there.", show_default=False)],
    config: Annotated[str | None, typer.Option("--config", metavar="NAME", help="A named configuration; the first unless given.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A number of the configuration, or a parameter of the block: queues=512, aqm=codel; or of a design"
            " crossings=stream,memory,registers: which interfaces have clocks of their own.",
        ),
    ] = None,
    _parts: With = None,
    name: Annotated[
        str | None,
        typer.Option(help="Names of modules and files begin with it in place of pst, so that packages can share a project."),
    ] = None,
    common: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the modules that packages have in common, made if it is not there; this package has none of them in itself.",
            show_default=False,
        ),
    ] = None,
    mark_debug: Annotated[
        bool, typer.Option("--mark-debug", help="Mark the events of a design (ev_*) for the logic analyser of Vivado.")
    ] = False,
    memory_base: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS,..", help="Where each memory of a design begins on its bus: 0x8000_0000,0xc000_0000; unless given all at 0."
        ),
    ] = None,
    ptp_time: Annotated[
        int | None,
        typer.Option(
            metavar="BITS", help="Give a design's wrapper an input for a time of so many bits, which frames have in tuser; 64, 96."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty.")] = False,
    ports: Annotated[int | None, typer.Option(help="fabric: inputs and outputs; 2, 4, .. 64.")] = None,
    width: Annotated[int | None, typer.Option(help="fabric: bits of a cell.")] = None,
    stages: Annotated[int | None, typer.Option(help="fabric: the paper's S, a register in every S-th pipeline stage; 1, 2 or 4.")] = None,
    fifo_depth: Annotated[int | None, typer.Option(help="fabric: cells of each FIFO.")] = None,
    classes: Annotated[int | None, typer.Option(help="fabric: classes, sent by strict priority.")] = None,
    back_pressure: Annotated[
        int | None, typer.Option(help="fabric: 1: cells wait at the input; 0: they are dropped at full FIFOs.")
    ] = None,
    arbiter: Annotated[int | None, typer.Option(help="fabric: 0: rotating; 1: full.")] = None,
) -> None:
    """Write one configuration of a design as a folder of its own, or a block; or the cell switch `fabric` as one file of plain Verilog.

    The folder has sources, file list, FuseSoC core, a test bench, register maps and README. `library` writes all designs and blocks as a
    FuseSoC library.
    """
    from penstock.command_line.options import parse_settings
    from penstock.designs import design as designs
    from penstock.errors import UserError

    if mark_debug and design not in designs.names():
        raise UserError(f"--mark-debug: {design} is no design; it is for the wrapper of a design")
    if memory_base is not None and design not in designs.names():
        raise UserError(f"--memory-base {memory_base}: {design} is no design; it is for the wrapper of a design")
    if ptp_time is not None and design not in designs.names():
        raise UserError(f"--ptp-time {ptp_time}: {design} is no design; it is for the wrapper of a design")
    sizes = {
        "ports": ports, "width": width, "stages": stages, "fifo_depth": fifo_depth, "classes": classes, "back_pressure": back_pressure,
        "arbiter": arbiter,
    }  # fmt: skip
    given = {key: value for key, value in sizes.items() if value is not None}
    changes = parse_settings(settings)
    if design == "fabric":
        if name is not None:
            raise UserError(f"--name {name}: fabric is one module in one file; --name is for designs and blocks")
        if common is not None:
            raise UserError(f"--common {common}: fabric is one file, which shares no modules; --common is for designs")
        if changes:
            raise UserError("--set is for designs with configurations; fabric takes --ports, --width, --stages")
        if config is not None:
            raise UserError(f"--config {config}: fabric has no named configurations, it takes --ports, --width, --stages")
        _generate_fabric(given, out, force)
        return
    if design == "library":
        _generate_library({"--set": changes, "--config": config, "--name": name, "--common": common, **given}, out, force)
        return
    if given:
        raise UserError(f"--{next(iter(given)).replace('_', '-')} is an option of fabric; {design} takes --config")
    from penstock.basics import groups
    from penstock.designs import configs
    from penstock.hardware import crossings

    if design not in designs.names():
        if common is not None:
            raise UserError(f"--common {common}: {design} is no design; the common modules have all blocks")
        _generate_block(design, config, changes, out, force, name)
        return
    wanted = changes.pop(crossings.SETTING, None)
    chosen = configs.with_overrides(configs.load(configs.names(design)[0] if config is None else config, design), changes)
    designs.load(design).need_rtl(f"generate {design}")
    crossed = () if wanted is None else crossings.taken(wanted, design, configs.ports(chosen))
    groups.need("generate", "generate")
    from penstock.hardware import axi_wrapper, renamed
    from penstock.hardware.generate import generate as write

    bases = () if memory_base is None else axi_wrapper.bases_of(memory_base, chosen)
    ptp = 0 if ptp_time is None else axi_wrapper.ptp_time_of(ptp_time, chosen, configs.ports(chosen))
    choice = axi_wrapper.Choice(mark_debug, bases, ptp)

    written = write(chosen, out, force, changes, crossed, renamed.checked(name), common, choice)
    named = chosen.model_copy(update={"name": renamed.of_settings(chosen.name, changes)})
    top = renamed.Names(name).new(crossings.name_of(named, crossed))
    print(f"{len(written)} files of {top} in {out}; {out / 'README.md'} says how to lint and simulate them")


def _generate_block(name: str, config: str | None, changes: dict[str, str], out: Path, force: bool, prefix: str | None) -> None:
    from penstock.basics import groups
    from penstock.errors import UserError
    from penstock.hardware import crossings, library

    top = library.main_module(name)
    if crossings.SETTING in changes:
        raise UserError(
            f"--set {crossings.SETTING}={changes[crossings.SETTING]}: {name} is no design; only interfaces of a design can cross"
        )
    if config is not None:
        raise UserError(f"--config {config}: {name} is no design; its parameters are set by --set")
    groups.need("generate", "generate")
    from penstock.hardware import generate_block, renamed

    written = generate_block.generate(name, out, force, changes, renamed.checked(prefix))
    print(f"{len(written)} files of {renamed.Names(prefix).new(top)} in {out}; {out / 'README.md'} says how to lint and synthesise them")


def _generate_fabric(given: dict[str, int], out: Path, force: bool) -> None:
    from penstock.command_line.terminal import progress_line
    from penstock.hardware import fabric, generate_fabric
    from penstock.hardware.synth import SynthesisError

    values = fabric.complete(given)
    try:
        with progress_line("fabric") as line:
            file = generate_fabric.generate(values, out, force, line)
    except SynthesisError as error:
        typer.echo(f"penstock: fabric cannot be generated:\n{error}", err=True)
        raise typer.Exit(1) from None
    print(f"{file} ({file.stat().st_size / 1e6:.1f} MB), top module pst_fabric")


def _generate_library(given: dict[str, object], out: Path, force: bool) -> None:
    from penstock.basics import groups
    from penstock.command_line.console import working
    from penstock.errors import UserError

    if wrong := next((key for key, value in given.items() if value), None):
        wrong = wrong if wrong.startswith("--") else f"--{wrong.replace('_', '-')}"
        raise UserError(f"{wrong} is not for library, which has all blocks and all named configurations; it takes --out and --force")
    groups.need("generate", "generate")
    from penstock.hardware import generate_library

    with working("library") as show:
        blocks, devices = generate_library.write(out, force, show)
    print(f"{devices} devices and {blocks} blocks as a FuseSoC library in {out}; fusesoc library add penstock {out}")
