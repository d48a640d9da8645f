"""Which tests a change concerns, and words for that."""

from pathlib import PurePosixPath

from penstock.graph.changes import Changes
from penstock.graph.tests import Graph

_FOR_ALL = {"conftest.py", "pyproject.toml", "requirements.txt"}  # on which every test depends


def selected(graph: Graph, changes: Changes) -> tuple[list[str], list[str]]:
    """Return the tests of the changed files and of what uses these directly, by their files' order, and lines that say so."""
    names: set[str] = set()
    without, for_all = [], []
    for file in [*changes.lines, *changes.gone]:
        found = graph.near(file)
        names |= found.keys()
        if file in _FOR_ALL:
            for_all.append(file)
        elif not found:
            without.append(file)
    chosen = [name for name in graph.tests if name in names]
    count = len(changes.lines) + len(changes.gone)
    if not count:
        reason = f"; {len(changes.alike)} differ in comments and layout alone" if changes.alike else ""
        return [], [f"No file says anything else than at {changes.since}{reason}: no test can break."]
    slow = sum(graph.tests[name].kind == "slow" for name in chosen)
    lines = [
        f"{count} files differ from {changes.since}: {len(chosen)} of {len(graph.tests)} test functions are about them or what uses them."
    ]
    if slow:
        lines.append(f"{slow} of these are slow and run with --slow.")
    if without:
        kinds = ", ".join(sorted({PurePosixPath(file).name for file in without})[:6])
        lines.append(f"No test names {len(without)} of the files ({kinds}{', ...' if len(without) > 6 else ''}).")
    if for_all:
        lines.append(f"All tests depend on {', '.join(for_all)}: run ./penstock test as well.")
    if chosen:
        lines.append("What uses the files through others is left to ./penstock test.")
    return chosen, lines
