# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Subscribers in files, and the command line that takes them: what is said is what is set, and what cannot be is said, with its place."""

from pathlib import Path
from typing import Any

import pytest

from penstock.designs.access_edge.control import tables
from penstock.errors import UserError


def read(path: Path, text: str) -> list[Any]:
    path.write_text(text)
    return list(tables.read(path))


def refused(path: Path, text: str) -> str:
    """What is said of a file that is wrong, behind its folder."""
    with pytest.raises(UserError) as caught:
        read(path, text)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_a_name_stands_once(tmp_path: Path) -> None:
    """A table that was sorted by another column, and a list with an entry twice: the second would take the place of the first."""
    head = "name,node,rate,queue_rate,queue_class\n"
    said = refused(tmp_path / "s.csv", f"{head}h1,3,1Mbit/s,200kbit/s,0\nh2,2,1Mbit/s,,\nh1,,,300kbit/s,1\n")
    assert said == "s.csv:4: h1 stands at s.csv:2, too: what is of one subscriber stands together"
    said = refused(tmp_path / "s.yaml", "subscribers: [{name: h1}, {name: h2}, {name: h1, node: 1}]\n")
    assert said.startswith("s.yaml: subscribers[2]: h1 stands at s.yaml: subscribers[0], too:")
    one, two = read(tmp_path / "s.csv", f"{head}h1,3,1Mbit/s,200kbit/s,0\nh1,,,300kbit/s,1\nh2,2,1Mbit/s,1Mbit/s,\n")
    assert (one.name, len(one.queues), two.name) == ("h1", 2, "h2")
