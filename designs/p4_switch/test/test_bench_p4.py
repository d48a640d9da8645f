# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""`penstock bench p4`: its figures against arithmetic at the least and at more packets, and a size that the program drops."""

import json

import pytest

from penstock.command_line.app import main
from penstock.testing.testkit import seed


@pytest.mark.parametrize("packets", [1000, 20_000])
def test_the_packets_that_were_asked_for_come(packets: int, capsys: pytest.CaptureFixture[str]) -> None:
    """As a Poisson stream has them; each is out, dropped, or one of the few that the end finds in the device."""
    assert main(["bench", "p4", "--set", f"packets={packets}", "--seed", str(seed()), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["packets"] == pytest.approx(packets, abs=6 * packets**0.5)
    assert 0 <= found["packets"] - found["out"] - sum(found["dropped"].values()) <= 0.2 * packets
    assert found["sojourn_ns"]["count"] >= found["out"]


def test_a_size_that_the_program_drops(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "p4", "--set", "size=1600", "--set", "packets=1000"]) == 2
    error = capsys.readouterr().err
    assert "--set size=1600: the program of" in error and error.count("\n") == 1
