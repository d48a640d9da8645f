# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The pictures in README.md and docs/tutorial.md show what the scenarios give now (tools/pictures.py), and each is there and small."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import UserError
from penstock.paths import ROOT

MOST_BYTES = 160_000  # of a picture


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "pictures.py"))


@pytest.fixture(scope="module")
def made(tool: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("pictures")
    return folder, tool["runs"](folder)


def test_pictures_are_fresh(tool: dict[str, Any], made: tuple[Path, str]) -> None:
    assert tool["stale"](*made) == [], f"run {tool['TOOL']}"


def test_a_figure_that_has_changed_is_seen(tool: dict[str, Any], made: tuple[Path, str], tmp_path: Path) -> None:
    """One digit in what the terminal says, or in a result."""
    folder, said = made
    assert tool["stale"](folder, said.replace("5,345", "5,346")) == ["terminal-light.svg", "terminal-dark.svg"]
    other = tmp_path / "first_light"
    other.mkdir()
    for path in (folder / "first_light").iterdir():
        (other / path.name).symlink_to(path)
    (tmp_path / "slower").symlink_to(folder / "slower")
    (other / "result.json").unlink()
    text = (folder / "first_light" / "result.json").read_text()
    assert text.count("3457") > 1
    (other / "result.json").write_text(text.replace("3457", "3458"))
    assert "report-light.png" in tool["stale"](tmp_path, said)


def test_pages_show_them(tool: dict[str, Any]) -> None:
    """Every picture is on a page, every one on a page is there, light and dark."""
    shown = set()
    for page in (ROOT / "README.md", ROOT / "docs" / "tutorial.md"):
        shown |= {(page.parent / path).resolve() for path in re.findall(r'(?:src|srcset)="([^"]+)"', page.read_text())}
    there = {path for path in tool["FOLDER"].iterdir() if path.suffix in (".svg", ".png")}
    assert shown == there and len(there) == 6
    assert max(path.stat().st_size for path in there) < MOST_BYTES
    assert not any("http" in url for path in there if path.suffix == ".svg" for url in re.findall(r"url\(([^)]*)\)", path.read_text()))


def test_without_a_browser(tool: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="there is no chromium, chromium-browser or google-chrome on the PATH to draw pages with"):
        tool["photograph"](tmp_path / "page.html", tmp_path / "picture.png", (10, 10), "light")
