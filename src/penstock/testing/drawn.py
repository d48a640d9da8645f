"""What the figures of a paper must be when they are drawn: one file each, axes that say what they are of."""

import re
from collections.abc import Iterable
from pathlib import Path

from penstock.plots import figure


def check(folder: Path, numbers: Iterable[int]) -> None:
    """Assert that `paper --format svg` has drawn each figure of these numbers into `folder`, and each with its axes."""
    plots = figure.read(folder)
    files = {path.stem: path.read_text(encoding="utf-8") for path in (folder / "plots").glob("*.svg")}
    assert set(files) == {plot.name for plot in plots}
    for number in numbers:
        assert [name for name in files if re.match(rf"figure_{number}(_|$)", name)], f"figure {number} is not drawn"
    for plot in plots:
        words = re.findall(r"<text[^>]*>([^<]*)</text>", files[plot.name])
        named = any(isinstance(value, str) for line in plot.lines for value in line.x)
        assert plot.y and (plot.x or named), f"{plot.name}: an axis has no title"
        said = " ".join(words)
        assert all(text.split()[0] in said for text in (plot.x, plot.y) if text), plot.name
        several = [line.name for line in plot.lines if any(value is not None for value in line.y)]
        assert len(several) < 2 or all(name.split()[0] in said for name in several if name), f"{plot.name}: a curve has no name"
