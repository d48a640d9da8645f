# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock board`: bad input, what a board is, and (slow) its bitstream with timing met on all clocks by each of three seeds."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.commands import app
from penstock.errors import ToolError, UserError
from penstock.hardware import board as boards
from penstock.hardware import board_loader
from penstock.hardware import bridge_setting as setting


def test_an_unknown_board_is_one_sentence() -> None:
    with pytest.raises(UserError, match="`versa` is no board; there are colorlight_i9 and versa_ecp5"):
        boards.find("versa")


@pytest.mark.parametrize("name, count", [("colorlight_i9", 30), ("versa_ecp5", 38)])
def test_every_port_has_a_pin_of_its_own(name: str, count: int) -> None:
    lines = boards.find(name).constraints().splitlines()
    ports = [line.split('"')[1] for line in lines if line.startswith("LOCATE")]
    sites = [line.split('"')[3] for line in lines if line.startswith("LOCATE")]
    assert len(ports) == len(set(ports)) == len(set(sites)) == count
    assert {"rgmii_rx_data_i[7]", "rgmii_tx_data_o[7]", "rgmii_rx_clk_i[1]", "uart_rx_i", "rst_ni", "clk_i"} <= set(ports)


@pytest.mark.parametrize(
    "rates, words",
    [
        ("50", "--rates is `50`, must be two numbers of Mbit/s, to port 0 and to port 1: --rates 50,10"),
        ("50,ten", "--rates is `50,ten`, must be two numbers"),
        ("nan,1", "--rates is `nan,1`, must be two numbers"),
        ("50,0.5", "a rate is 0.5 Mbit/s, allowed: 1 to 1000"),
        ("1001,50", "a rate is 1001 Mbit/s, allowed: 1 to 1000"),
    ],
)
def test_bad_rates_are_one_sentence(rates: str, words: str) -> None:
    with pytest.raises(UserError) as error:
        boards.parameters(boards.find("versa_ecp5"), boards.rates_of(rates))
    assert words in str(error.value)


@pytest.mark.parametrize("bps", [1_000_000, 7_654_321, 50_000_000, 1_000_000_000])
def test_a_setting_stands_for_its_rate(bps: int) -> None:
    """Read back by places of pst_bridge_pkg: burst 28, exponent 6, mantissa 16, CoDel 1 + 1 + 18 + 18, quantum 14 bits from the top."""
    value = setting.value(bps, 62_500_000)
    assert value >> 102 == 0 and value & 16383 == 1514
    exponent, mantissa, burst = value >> 68 & 63, value >> 52 & 65535, value >> 74
    cycles_a_byte = mantissa * 2.0 ** (exponent - 15) / 65536
    assert abs(cycles_a_byte / (8 * 62.5e6 / bps) - 1) < 2**-15 and burst == 0
    tick_us = 64 / 62.5
    assert value >> 50 & 3 == 2, "CoDel drops and does not mark"
    assert [round((value >> place & (1 << 18) - 1) * tick_us) for place in (32, 14)] == [5_000, 100_000]


def test_each_direction_has_its_own_rate() -> None:
    board = boards.find("versa_ecp5")
    both = int(str(boards.parameters(board, boards.rates_of("50,10"))["Setting"]).split("'h")[1], 16)
    assert both >> 102 == setting.value(50_000_000, 62_500_000), "frames from port 1"
    assert both & (1 << 102) - 1 == setting.value(10_000_000, 62_500_000), "frames from port 0"


def test_a_clock_is_found_by_where_it_comes_from() -> None:
    """Yosys gives a net one of its names, and which one changes with the design."""
    nets = {"clk": [2], "u_send.clk_i": [2], "g_port[0].u_tally.clk_i": [3], "u_control.u_regs.clk": [3], "locked": [4], "led_o": [2, 3]}
    pll = {"type": "EHXPLLL", "connections": {"CLKOP": [2], "CLKOS": [3], "LOCK": [4]}}
    cells = {"other": {"type": "LUT4", "connections": {}}, "u_pll": pll}
    top = {"cells": cells, "netnames": {key: {"bits": bits} for key, bits in nets.items()}}
    assert boards.clock_names({"modules": {"bridge_board": top}}) == {
        "rgmii_rx_clk_i[0]": {"$glbnet$rgmii_rx_clk_i[0]$TRELLIS_IO_IN"},
        "rgmii_rx_clk_i[1]": {"$glbnet$rgmii_rx_clk_i[1]$TRELLIS_IO_IN"},
        "CLKOP": {"$glbnet$clk", "$glbnet$u_send.clk_i"},
        "CLKOS": {"$glbnet$g_port[0].u_tally.clk_i", "$glbnet$u_control.u_regs.clk"},
    }


@pytest.mark.slow
@pytest.mark.synthesis
@pytest.mark.parametrize("name, rates", [("versa_ecp5", None), ("versa_ecp5", "50,10"), ("colorlight_i9", None)])
def test_the_bitstream_meets_its_timing(name: str, rates: str | None) -> None:
    shaped = ["--rates", rates] if rates else []
    result = CliRunner().invoke(app, ["board", name, "--build", *shaped, "--seeds", "3", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [clock["required_mhz"] for clock in found["clocks"]] == [125, 125, 125, 62.5]
    for clock in found["clocks"]:
        assert len(clock["achieved_mhz"]) == 3
        assert min(clock["achieved_mhz"]) >= 1.05 * clock["required_mhz"], clock
    bit, svf = Path(found["bitstream"]).read_bytes(), Path(found["svf"]).read_text()
    chosen = boards.find(name)
    assert chosen.device.split("-")[0].encode() in bit[:200]
    assert chosen.idcode.removeprefix("0x") in svf.lower()
    if rates:
        assert found["rates_bps"] == [50_000_000, 10_000_000]
        assert 90 <= found["bram"] <= 100 and found["lut"] < 30_000
    else:
        assert 20 <= found["bram"] <= 24  # stores of 16 and 2 kB before, 2 and 2 kB behind the crossing, each way


@pytest.mark.parametrize(
    "said, status, words",
    [
        ("error while loading shared libraries: libusb-1.0.so.0: cannot open", 127, "libusb-1.0.so.0 is not installed (Debian, Ubuntu"),
        ("unable to open ftdi device: -3 (device not found)", 1, "no versa_ecp5 found at a USB socket, or this user may not open it"),
        ("Error: wrong IDCODE", 1, "openFPGALoader could not load here.bit:\nError: wrong IDCODE"),
        ("Done", 0, None),
    ],
)
def test_load_says_what_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, status: int, words: str | None) -> None:
    """The texts are those of openFPGALoader 1.1.1 without its library, and without a board."""
    bit, program, asked = tmp_path / "x.bit", tmp_path / "loader", tmp_path / "asked"
    bit.write_bytes(b"bits")
    program.write_text(f'#!/bin/sh\necho "$@" > {asked}\necho "{said}" >&2\nexit {status}\n')
    program.chmod(0o755)
    monkeypatch.setattr(board_loader, "program", lambda: program)
    lines: list[str] = []
    if words is None:
        board_loader.load("versa_ecp5", "ft2232", bit, "here.bit", lines.append)
        assert lines[1:] == ["versa_ecp5: loaded"]
    else:
        with pytest.raises((UserError, ToolError)) as error:
            board_loader.load("versa_ecp5", "ft2232", bit, "here.bit", lines.append)
        assert words in str(error.value)
    assert lines[0].startswith("versa_ecp5: here.bit goes into the device's SRAM over its USB socket")
    assert asked.read_text().split() == ["-c", "ft2232", "-m", str(bit)]


def test_nothing_to_load_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="x.bit: there is no such bitstream; build it first"):
        board_loader.load("versa_ecp5", "ft2232", tmp_path / "x.bit", "x.bit", print)
