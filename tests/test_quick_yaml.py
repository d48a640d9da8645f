# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Long YAML files: what the quick reader reads is what ruamel.yaml reads, line by line, and what is wrong with a file is said the same."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.scenarios import quick_yaml, scenario
from penstock.testing.testkit import seed

SCALARS = [
    "5 Mbit/s", "0", "-1", "17", "1.50", "0.001", "-0", "007", "0x1F", "0o17", "0b11", "1_000", "1e3", "1.5e-3", ".5", "5.", "+4", "1:30",
    "true", "False", "NULL", "null", "~", "", "yes", "off", "No", "y", "=", "<<", "10.0.0.0/8", "00:11:22:33:44:55", "2001:db8::1", "::/0",
    "2026-01-01", "2026-01-01 10:00:00", ".inf", ".nan", "a#b", "a #b", "a: b", "a:b", "[1, 2", "{a:1}", "*a", "&a b", "!!int 3", "?x", "-",
    "- x", "'it''s'", '"a\\tb\\u00e9"', '"a\n   b"', "'a\n\n   b'", "a\n   b", "é", "x, y", "100%", "%d", "@x", "`x", "| y", "> y", "\\n",
    "1,000", "12e03", "1.", "0.", "00", "-0.0", "+0.5", "1__0", "0_", "_1", "1.2.3", "9" * 30, "..", "...x", "---x", '""', "''", "é: ü",
    "a\tb", "\u2028", "\x85",
]  # fmt: skip
USUAL = ["5 Mbit/s", "0", "-1", "17", "1.50", "true", "'it''s'", '"a b"', "10.0.0.0/8", "q17", "1.5 kB"]
KEYS = ["a", "b", "rate", "5", "05", "true", "'q'", '"q"', "1.5", "x y", "k:k", "~", "", "a-b", "0x1", "é", "? q", "<<", "=", "[1]"]


def key_of(rng: random.Random) -> str:
    return rng.choice(KEYS[: rng.choice([3, 3, len(KEYS)])])


def scalar(rng: random.Random) -> str:
    return rng.choice(USUAL if rng.random() < 0.8 else SCALARS)


def written(rng: random.Random, depth: int, indent: int) -> str:
    """Return a random node as it stands behind `key:` or `-`, with its line break before it where it wants one."""
    pad, kind = "\n" + " " * indent, rng.random()
    comment = rng.choice(["", "", "", "  # a comment", "\n\n# another", "\n" + " " * indent + "# more"])
    if depth == 0 or kind < 0.4:
        return " " + scalar(rng) + comment
    if kind < 0.5:
        lines = rng.choice([["one", "two"], ["one", "", "  two", ""], [""], ["# no comment", "x: y"], ["a ", "b"]])
        return " " + rng.choice("|>") + rng.choice(["", "-", "+"]) + comment.split("\n")[0] + "".join(pad + line for line in lines)
    if kind < 0.6:
        return " [" + rng.choice([", ", ",", ",\n" + " " * indent]).join(scalar(rng) for _ in range(rng.randrange(4))) + "]" + comment
    if kind < 0.7:
        pairs = (key_of(rng) + rng.choice([": ", ": ", ": ", ":"]) + scalar(rng) for _ in range(rng.randrange(4)))
        return " {" + rng.choice([", ", ", ", ",", ",\n" + " " * indent]).join(pairs) + "}" + comment
    if kind < 0.85:
        return comment + "".join(pad + "-" + written(rng, depth - 1, indent + 2) for _ in range(rng.randint(1, 4)))
    return comment + "".join(pad + key_of(rng) + ":" + written(rng, depth - 1, indent + 2) for _ in range(rng.randint(1, 4)))


def lines_of(node: Any, key: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], int]:
    """Return the line of each key and item in a tree of ruamel.yaml."""
    if not isinstance(node, (dict, list)):
        return {}
    parts = list(node) if isinstance(node, dict) else list(range(len(node)))
    found = {(*key, part): (node.lc.key(part) if isinstance(node, CommentedMap) else node.lc.item(part))[0] for part in parts}
    for part in parts:
        found |= lines_of(node[part], (*key, part))
    return found


def places_of(places: quick_yaml.Places | None, key: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], int]:
    found = {}
    for part, (line, inner) in (places.at if places else {}).items():
        found[(*key, part)] = line
        found |= places_of(inner, (*key, part))
    return found


def kinds(data: Any) -> Any:
    """Return data with the type of each value."""
    if isinstance(data, dict):
        return [(key, kinds(value)) for key, value in data.items()]
    return [kinds(item) for item in data] if isinstance(data, list) else (type(data), data)


def same(text: str) -> bool:
    """Compare the readers on a text; return whether the quick one has read it."""
    quick = quick_yaml.read(text, 0)
    if quick is None:
        return False
    try:
        slow, _ = scenario._slowly(text)
    except (YAMLError, ValueError) as error:
        raise AssertionError(f"ruamel.yaml refuses what the quick reader reads: {error}\n{text!r}") from None
    assert kinds(scenario._plain(quick[0])) == kinds(scenario._plain(slow)), repr(text)
    assert places_of(quick[1]) == lines_of(slow), repr(text)
    return True


def test_random_files() -> None:
    """Of all styles, many of them broken; thousands must be read by the quick reader."""
    rng, read = random.Random(seed()), 0
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(3000):
        keys = rng.sample(KEYS[: rng.choice([3, len(KEYS)])], rng.randint(1, 3)) if rng.random() < 0.9 else KEYS[:2] * 2
        read += same("".join(key + ":" + written(rng, rng.randrange(4), 2) + "\n" for key in keys))
    assert read > 1000


@pytest.mark.parametrize("scalar", SCALARS)
def test_every_scalar(scalar: str) -> None:
    for text in (f"a: {scalar}\n", f"- {scalar}\n", f"a: [{scalar}, 1]\n", f"a: {{ b: {scalar} }}\n", f"{scalar}: 1\n"):
        same(text)


def test_all_files_of_the_project() -> None:
    files = [path for folder in ("scenarios", "designs", "docs", "blocks", "engine") for path in (ROOT / folder).rglob("*.yaml")]
    read = [same(path.read_text()) for path in files]
    assert len(read) > 50 and sum(read) > 0.8 * len(read), [path.name for path, quick in zip(files, read, strict=True) if not quick]


def long_file(path: Path, count: int, wrong: str = "") -> Path:
    entries = "".join(
        f"  - {{ id: {number}, name: q{number}, rate: {1 + number % 50} Mbit/s }}\n" if number % 2 else
        f"  - id: {number}\n    name: q{number}\n    rate: 2.5 Mbit/s\n    burst: 1.5 kB\n"
        for number in range(count)
    )  # fmt: skip
    path.write_text(f"device: {{ config: edge_262144 }}\nduration: 1 ms\nqueues:\n{entries}{wrong}")
    return path


def test_twenty_thousand_queues(tmp_path: Path) -> None:
    """They take no more CPU time than ruamel.yaml takes for a fifth of them (some twentieth of what it takes for all)."""

    def cpu(read: Callable[[], Any]) -> tuple[Any, float]:
        start = time.process_time()
        return read(), time.process_time() - start

    document, took = cpu(lambda: scenario.open_file(long_file(tmp_path / "long.yaml", 20_000)))
    assert len(document.data["queues"]) == 20_000 and document.data["queues"][6]["rate"] == "2.5 Mbit/s"
    short = long_file(tmp_path / "short.yaml", 4_000).read_text()
    _, slow = cpu(lambda: scenario._slowly(short))
    assert took < slow, f"{took:.2f} s of CPU time, ruamel.yaml {slow:.2f} for 4,000"


@pytest.mark.parametrize(
    "wrong",
    [
        "  - { id: 7, name: q7, rate: 5 Mbits }\n", "  - { id: 7, rat: 1 }\n", "  - { id: 7, id: 8 }\n", "  - { id: 7, rate: 5,000,000 }\n",
        "  - [\n", "  - { id: 7, rate: .inf }\n", "nonsense: 1\n", "duration: 2 ms\n", "  x\n", "traffic: yes\n", "\tx: 1\n",
        "  - { id: 0x7, name: q3 }\n", "  - &a { id: 7 }\n  - *a\n", "  - 'x\n", "traffic: [ { constant: { queues: q1, rate: fast } } ]\n",
    ],
)  # fmt: skip
def test_errors_are_the_same(wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = long_file(tmp_path / "wrong.yaml", 100, wrong)
    said = []
    for smallest in (0, 1 << 30):
        monkeypatch.setattr(quick_yaml, "_SMALLEST", smallest)
        with pytest.raises(UserError) as error:
            scenario.load(path)
        said.append(str(error.value))
    assert said[0] == said[1]
