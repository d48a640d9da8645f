"""Small programs and libraries of C++ beside the engine, compiled once for all clones: of tests, and of papers on ns-3."""

from collections.abc import Sequence
from pathlib import Path

from penstock import cache
from penstock.basics import children, compilers, keys
from penstock.errors import ToolError
from penstock.paths import ROOT

STRICT = ("-Wall", "-Wextra", "-Werror")  # flags of ours, where no others' headers are
INCLUDES = (ROOT, ROOT / "engine" / "include")


class CompileError(ToolError):
    """A program does not compile; the text is what the compiler said."""


def built(name: str, sources: Sequence[Path], flags: Sequence[str] = ("-O1",), outside: Sequence[str] = ()) -> Path:
    """Return the file `name` that the compiler makes of `sources`, made unless the same is there.

    It is made anew when a source changes, a header that one of them includes, a flag, or the compiler. `outside` are flags and libraries
    with paths of this machine, which come last. Raises CompileError.
    """
    given = ["-std=c++20", *flags]
    key = keys.of_build([name, given, list(outside)], sources, INCLUDES)

    def make(folder: Path) -> None:
        includes = [f"-I{path}" for path in INCLUDES]
        done = children.run([*compilers.command(), *given, *includes, *map(str, sources), *outside, "-o", str(folder / name)])
        if done.returncode:
            raise CompileError(f"{sources[0].name} does not compile:\n{done.stderr[-2000:]}")

    return cache.once("programs", key, make) / name
