"""Synthesis with Yosys (slang front end), and place and route on ECP5 with nextpnr: area, speed and depth of one module.

Targets: `xcup` (Xilinx UltraScale+; area only, no open place and route) and `ecp5` (LFE5U-85F, speed grade 8, out of context).
"""

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import cache
from penstock.basics import children, groups
from penstock.errors import ToolError
from penstock.hardware import delay_estimate, synth_flow, timing_paths
from penstock.paths import BUILD, ROOT, alone_in, shown, tool_environment

if TYPE_CHECKING:
    from penstock.designs.configs import Configuration

SCHEMA = "penstock.synth/1"
AQM = "Aqm"  # key of the name of an AQM that is built into a module
NUMBERED = {"0": "none", "1": "codel", "2": "pie"}  # AQMs went by these numbers
HERE = ROOT if BUILD.is_relative_to(ROOT) else BUILD  # where the tools run: they see the current folder and what is below it
DEEP_YOSYS = [sys.executable, "-P", str(Path(__file__).with_name("deep_yosys.py"))]
TIMING_WEIGHT = 10  # what time counts against the length of all wires when cells are placed; nextpnr's own
MOST_AT_A_TIME = 4  # placements; each takes up to 0.7 GB of memory

# What each figure counts, by target.
UNITS = {
    "xcup": {"lut": "LUT6", "lut_memory": "LUT6", "ff": "flip-flops", "bram": "blocks of 36 Kbit", "uram": "blocks of 288 Kbit",
             "dsp": "DSP48E2", "logic_levels": "cells", "fmax_mhz": "MHz"},
    "ecp5": {"lut": "LUT4", "lut_memory": "LUT4", "ff": "flip-flops", "bram": "DP16KD of 18 Kbit", "uram": "(ECP5 has none)",
             "dsp": "MULT18X18D", "logic_levels": "cells", "fmax_mhz": "MHz"},
}  # fmt: skip

Progress = Callable[[str], None]


class SynthesisError(ToolError):
    """A tool refused the design; the message ends with its words."""


@dataclass
class Job:
    """What is synthesised: `top` of `sources` with `parameters`, for `target`, placed with each of `seeds` (ecp5)."""

    top: str
    sources: list[Path]
    parameters: dict[str, int | str]
    target: str
    seeds: list[int]
    paths: int = 0  # ecp5: so many groups of longest paths are told of each seed
    timing_weight: int = TIMING_WEIGHT  # ecp5

    def folder(self) -> Path:
        """Return where scripts, logs and netlists of this job are."""
        key = json.dumps([self.top, self.parameters, self.target, *map(str, self.sources)], sort_keys=True)
        return BUILD / "synth" / f"{self.top}-{self.target}-{hashlib.sha256(key.encode()).hexdigest()[:10]}"


def plan(what: str, target: str, settings: dict[str, str], seeds: list[int]) -> tuple[Job, dict[str, Any]]:
    """Return the job that `what` (a design, a block or a module) means with `settings`, and the `config` part of its report.

    A design takes `config=NAME`, one of its named configurations, and changes to it (`queues=512`, `memories.ddr.pages=1024`);
    everything else takes parameters of its module, in place of those of the first entry for `target` in `expected.yaml`. A module that has
    an AQM in it takes its name (`aqm=codel`, `none`); the numbers of that are those of its module. Raises UserError.
    """
    from penstock.designs import configs
    from penstock.designs import design as designs
    from penstock.hardware import expected, fabric, library, plugs

    if what in designs.names():
        designs.load(what).need_rtl(f"synth {what}")
        settings = dict(settings)
        config = configs.load(settings.pop("config", configs.names(what)[0]), what)
        config = configs.with_overrides(config, settings)
        job = Job(config.module, [*configs.sources(config), *_generated(config)], {}, target, seeds)
        return job, {"design": what, "name": config.name, "module": config.module, "target": target, "parameters": settings}
    top = library.main_module(what)
    usual = next((entry.parameters for entry in expected.entries(top, target)), {})
    settings, named = dict(settings), {}
    if any(path.name == plugs.AQM.name for path in library.sources_of(top)):
        named = {name: settings.pop(key) for key in list(settings) if (name := key.capitalize()) == AQM}
        named = {name: NUMBERED.get(value, value) for name, value in named.items()}
    parameters = {**usual, **library.set_parameters(top, settings), **named}
    if parameters.get(AQM) == "none":
        del parameters[AQM]
    if top == "pst_fabric":
        fabric.check(parameters)
    return _of_module(top, parameters, target, seeds), {"module": top, "target": target, "parameters": parameters}


def size(config: dict[str, Any]) -> dict[str, str]:
    """Return the size that is synthesised: every parameter of a module, set or not; of a design its configuration and how large that is."""
    from penstock.designs import configs
    from penstock.designs import design as designs
    from penstock.hardware import library

    if "design" in config:
        chosen = configs.with_overrides(configs.load(config["name"], config["design"]), config["parameters"])
        changes = {key: str(value) for key, value in config["parameters"].items()}
        return {"config": config["name"], **changes, "in all": designs.load(config["design"]).sizes(chosen)}
    return {**library.parameters_of(config["module"]), **{key: str(value) for key, value in config["parameters"].items()}}


def _generated(config: "Configuration") -> list[Path]:
    """Write what is generated for a configuration into a folder that is named by it: nobody who has other settings writes there."""
    from penstock.designs import configs

    with tempfile.TemporaryDirectory() as name:
        texts = "\0".join(f"{path.name}\0{path.read_text()}" for path in configs.write_generated(config, Path(name)))
    folder = BUILD / "synth" / f"{config.name}-{hashlib.sha256(texts.encode()).hexdigest()[:10]}"
    with alone_in(folder):
        generated = configs.write_generated(config, folder)
        cache.hold(folder)
    return generated


def _of_module(top: str, parameters: dict[str, int | str], target: str, seeds: list[int]) -> Job:
    """Return the job of a module; its AQM, if there is one among the parameters, goes by its name. Raises UserError."""
    from penstock.hardware import library, plugs
    from penstock.parts.registry import find

    sources, own = library.sources_of(top), dict(parameters)
    if AQM in own:
        part = find("aqm", str(own.pop(AQM)))
        sources = plugs.sources(sources, part, plugs.written(part, {}, BUILD / "synth" / "plugs"))
        own |= plugs.of_module(part, library.parameters_of(top))
    return Job(top, sources, own, target, seeds)


def run(job: Job, progress: Progress | None = None) -> dict[str, Any]:
    """Run `job` and return `lut`, `ff`, `bram`, `uram`, `dsp`, `fmax_mhz` (a number for each seed; empty for xcup), `logic_levels`.

    Of xcup also `estimate` (`delay_estimate.of_netlist`). With `job.paths` also `paths`: for each seed a list of `timing_paths.Group`.
    `lut` includes LUTs used as memory, which `lut_memory` gives alone. `bram` is in units of 36 Kbit (xcup, halves possible) or
    18 Kbit (ecp5). `logic_levels` is the longest path between registers or memories in cells: LUTs, wide multiplexers, and each
    carry element that a carry runs through. Raises SynthesisError.
    """
    groups.need("synthesis", "synth")
    folder = job.folder()
    with alone_in(folder):
        cells, levels = _synthesise(job, folder, progress or (lambda _: None))
        if job.target == "xcup":
            (progress or (lambda _: None))("estimate of delays")
            estimate = delay_estimate.of_netlist(folder / "netlist.json", job.top)
            (folder / "netlist.json").unlink()  # up to 100 MB
            found: dict[str, Any] = {**synth_flow.xcup_area(cells), "fmax_mhz": [], "logic_levels": levels, "estimate": estimate}
        else:
            found = {**synth_flow.ecp5_area(cells), **_place(job, folder, progress or (lambda _: None)), "logic_levels": levels}
    cache.tidy()
    return found


def within(folder: Path, sources: Iterable[Path]) -> str:
    """Return what makes read_slang read these sources: a list in `folder`, whose paths may have blanks.

    They are from HERE, as the tools see nothing else; what is not there is copied into `folder`.
    """
    found = []
    for path in sources:
        if not path.is_relative_to(HERE):
            own = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path("parts", path.relative_to(path.anchor))
            copy = folder / "sources" / own
            copy.parent.mkdir(parents=True, exist_ok=True)
            path = Path(shutil.copyfile(path, copy))
        found.append(str(path.relative_to(HERE)).replace("\\", "\\\\").replace('"', '\\"'))
    (folder / "sources.f").write_text("".join(f'"{path}"\n' for path in found))
    return f"-f {(folder / 'sources.f').relative_to(HERE)}"


def _synthesise(job: Job, folder: Path, progress: Progress) -> tuple[dict[str, int], int]:
    here = folder.relative_to(HERE)
    script = synth_flow.script(job.top, job.parameters, job.target, within(folder, job.sources), here)
    (folder / "run.ys").write_text("\n".join(script) + "\n")
    log = folder / "yosys.log"
    _tool([*DEEP_YOSYS, "-Q", "-q", "-l", str(here / "yosys.log"), "-s", str(here / "run.ys")], log, _yosys_stage, progress)
    cells = json.loads((folder / "area.json").read_text())["design"]["num_cells_by_type"]
    found = re.search(r"length=(-?[0-9]+)", (folder / "depth.txt").read_text())
    return cells, max(0, int(found[1])) if found else 0


def _place(job: Job, folder: Path, progress: Progress) -> dict[str, Any]:
    """Place and route with each seed, as many at a time as there are cores."""

    def one(seed: int) -> tuple[float, list[dict[str, Any]]]:
        report, delays = folder / f"seed{seed}.json", folder / f"seed{seed}.sdf"
        command = synth_flow.place(folder.relative_to(HERE), seed, job.timing_weight, delays.name if job.paths else None)
        _tool(command, folder / f"nextpnr{seed}.log", lambda _: "place and route", _before(f"seed {seed}: ", progress))
        speed = round(min(clock["achieved"] for clock in json.loads(report.read_text())["fmax"].values()), 1)
        if not job.paths:
            return speed, []
        progress(f"seed {seed}: longest paths")
        longest = [group.figures() for group in timing_paths.longest(delays, job.paths)]
        delays.unlink()  # as large as the netlist
        return speed, longest

    try:
        with ThreadPoolExecutor(min(MOST_AT_A_TIME, len(os.sched_getaffinity(0)))) as pool:
            calls = [pool.submit(one, seed) for seed in job.seeds]
            try:
                found = [call.result() for call in calls]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                children.end_all()
                raise
    finally:
        children.begin_again()
    return {"fmax_mhz": [speed for speed, _ in found], **({"paths": [longest for _, longest in found]} if job.paths else {})}


def _yosys_stage(log: str) -> str:
    passes = re.findall(r"^[0-9.]+ Executing ([A-Z0-9_]+)", log, re.MULTILINE)
    return f"synthesis, {passes[-1].lower()}" if passes else "reading"


def run_tool(command: list[str], log: Path, progress: Progress, stage: str | None = None) -> None:
    """Run one of the tools in HERE; `progress` hears `stage`, or what Yosys does. Raises SynthesisError."""
    groups.need("synthesis", "synth")
    _tool(command, log, (lambda _: stage) if stage else _yosys_stage, progress)


def _before(words: str, progress: Progress) -> Progress:
    return lambda text: progress(words + text)


def _tool(command: list[str], log: Path, stage: Callable[[str], str], progress: Progress) -> None:
    """Run one of the tools in HERE; say every half second where its log has come to."""
    log.unlink(missing_ok=True)
    env = tool_environment()
    command[0] = shutil.which(command[0], path=env["PATH"]) or command[0]
    done = children.run(command, cwd=HERE, env=env, tick=lambda: progress(stage(_tail(log))))
    name, words = "yosys" if command[1:3] == DEEP_YOSYS[1:] else Path(command[0]).name, done.stdout + done.stderr
    if done.returncode < 0 or "bad_alloc" in words:
        ended = "ran out of memory" if done.returncode >= 0 else f"was ended by signal {-done.returncode}; was there enough memory?"
        raise SynthesisError(f"{name} {ended}\nThe whole log is {shown(log)}")
    if done.returncode:
        errors = [line for line in words.splitlines() if "error" in line.lower()]
        raise SynthesisError("\n".join((errors or words.splitlines())[-20:]) + f"\nThe whole log is {shown(log)}")


def _tail(log: Path) -> str:
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        return file.read().decode(errors="replace")
