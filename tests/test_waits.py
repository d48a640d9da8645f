# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What is announced before a wait."""

from pathlib import Path

import pytest

from penstock import cache
from penstock.basics import waits


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "root", lambda: tmp_path)


def test_usual_until_it_was_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each name has a length of its own, and the last time counts."""
    lines: list[str] = []
    clock = iter([100.0, 131.2, 200.0, 500.0])
    monkeypatch.setattr(waits.time, "monotonic", lambda: next(clock))
    for _ in range(2):
        with waits.announced(lines.append, "Compiling demo", "device demo", 40):
            pass
    assert lines == ["Compiling demo (usually some 40 s)", "Compiling demo (took 31 s here before)"]
    assert waits.announcement("Compiling demo", "device demo", 40) == "Compiling demo (took 5 min here before)"
    assert waits.announcement("Compiling demo", "device other", 0.2) == "Compiling demo (usually some 1 s)"


def test_what_fails_is_no_measure() -> None:
    with pytest.raises(KeyError), waits.announced(None, "Compiling", "x", 40):
        raise KeyError
    assert "usually" in waits.announcement("Compiling", "x", 40)


@pytest.mark.parametrize("damaged", ["soon", -1, 1e300, True, None, [3]])
def test_a_length_that_makes_no_sense_is_not_believed(damaged: object) -> None:
    with waits.measured("x"):
        pass
    assert "took 1 s here before" in waits.announcement("Compiling", "x", 40)
    cache.remember(waits.KIND, waits._key("x"), damaged)
    assert "usually some 40 s" in waits.announcement("Compiling", "x", 40)
