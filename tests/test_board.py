# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock board`: bad input, what a board is, and (slow) its bitstream with timing met on all clocks by each of three seeds."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.commands import app
from penstock.errors import UserError
from penstock.hardware import board as boards


def test_an_unknown_board_is_one_sentence() -> None:
    with pytest.raises(UserError, match="`versa` is no board; there is versa_ecp5"):
        boards.find("versa")


@pytest.mark.parametrize("name", boards.BOARDS)
def test_every_port_has_a_pin_of_its_own(name: str) -> None:
    lines = (boards.find(name).folder / "pins.lpf").read_text().splitlines()
    ports = [line.split('"')[1] for line in lines if line.startswith("LOCATE")]
    sites = [line.split('"')[3] for line in lines if line.startswith("LOCATE")]
    assert len(ports) == len(set(ports)) == len(set(sites)) == 36


@pytest.mark.slow
@pytest.mark.synthesis
@pytest.mark.parametrize("name", boards.BOARDS)
def test_the_bitstream_meets_its_timing(name: str) -> None:
    result = CliRunner().invoke(app, ["board", name, "--build", "--seeds", "3", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [clock["required_mhz"] for clock in found["clocks"]] == [125, 125, 125]
    for clock in found["clocks"]:
        assert len(clock["achieved_mhz"]) == 3
        assert min(clock["achieved_mhz"]) >= 1.05 * clock["required_mhz"], clock
    bit, svf = Path(found["bitstream"]).read_bytes(), Path(found["svf"]).read_text()
    assert b"LFE5UM5G-45F" in bit[:200]
    assert "81112043" in svf.lower().replace("0x", "")
    assert 20 <= found["bram"] <= 24  # stores of 16 and 2 kB before, 2 and 2 kB behind the crossing, each way
