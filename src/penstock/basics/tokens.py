"""What a source says to its compiler: its text without comments and layout.

Two texts with equal `meaning` compile to the same. What is built, proved or measured is keyed by it, so that an edit of a comment costs
nothing. It may call two texts different that are equal; never the other way round.
"""

import hashlib
import io
import re
import tokenize
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

# A literal or a comment, whichever begins first. C++ has raw strings, SystemVerilog has numbers such as 8'hff, whose quote opens nothing.
_SLASHED = re.compile(
    r"""(?P<raw>R"(?P<end>[^()\s\\]{0,16})\(.*?\)(?P=end)")|(?P<text>"(?:\\.|[^"\\\n])*")|(?P<char>(?<![\w'])'(?:\\.|[^'\\\n])')"""
    r"""|(?P<line>//(?:\\\r?\n|[^\n])*)|(?P<block>/\*.*?\*/)""",
    re.DOTALL,
)
_BLANKS = re.compile(r"[ \t\r\f\v]+")
_SLASHED_NAMES = {".sv", ".svh", ".v", ".vh", ".vlt", ".c", ".cc", ".cpp", ".h", ".hpp", ".p4", ".rdl"}


def meaning(name: str, data: bytes) -> bytes:
    """Return what the file `name` with the contents `data` says, without comments and layout; `data` itself where its kind is not known."""
    kind = Path(name.lower().removesuffix(".in")).suffix
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    if kind in _SLASHED_NAMES:
        return _without_slashed(text).encode()
    if kind in (".py", ".pyi"):
        return _python(text, data)
    if kind in (".yaml", ".yml"):
        return _yaml(text, data)
    return data


def _without_slashed(text: str) -> str:
    def keep(found: re.Match[str]) -> str:
        # A comment is a blank to the compiler, but tools read some of them: those are kept.
        if found["line"] is not None or found["block"] is not None:
            return found[0] if _is_read(found[0]) else "\n" if "\n" in found[0] and found["line"] is not None else " "
        return "\0" + found[0] + "\0"

    # Blanks inside of literals count: only what is between literals is laid out anew.
    parts = _SLASHED.sub(keep, text).split("\0")
    for number in range(0, len(parts), 2):
        lines = (_BLANKS.sub(" ", line).strip() for line in parts[number].split("\n"))
        parts[number] = "\n".join(line for line in lines if line)
    return "\0".join(parts)


def _is_read(comment: str) -> bool:
    """Return whether a tool reads this comment: a pragma of Verilator, of synthesis or of verible."""
    return re.match(r"/[/*]\s*(verilator|synopsys|synthesis|pragma|yosys|verilog_lint)\b", comment) is not None


def _python(text: str, data: bytes) -> bytes:
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING}
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return data
    return "\n".join(f"{token.type} {token.string}" for token in found if token.type not in skipped).encode()


def _yaml(text: str, data: bytes) -> bytes:
    """Whole lines of comment go, unless a block of text begins somewhere, in which they would be text."""
    if re.search(r"[|>][+-]?\d*\s*(#.*)?$", text, re.MULTILINE):
        return data
    return "\n".join(line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")).encode()


# What texts were found to say, by kind and text: to read a thousand sources of Python token by token takes seconds.
known: dict[str, str] = {}


@lru_cache(maxsize=8192)
def _digest(path: str, size: int, changed: int) -> bytes:
    data = Path(path).read_bytes()
    name = f"{Path(path).name.partition('.')[2].lower()} {hashlib.sha256(data).hexdigest()}"
    if name not in known:
        known[name] = hashlib.sha256(meaning(path, data)).hexdigest()
    return bytes.fromhex(known[name])


def digest(path: Path) -> bytes:
    """Return a hash of what the file at `path` says. One that was read by this process is read again only when it has changed."""
    status = path.stat()
    return _digest(str(path), status.st_size, status.st_mtime_ns)


def digest_of(paths: Iterable[Path], root: Path) -> str:
    """Return a hash of what several files say and how they are called from `root`, whatever their order."""
    total = hashlib.sha256()
    for path in sorted(set(paths)):
        name = path.relative_to(root) if path.is_relative_to(root) else path
        total.update(str(name).encode() + b"\0" + digest(path))
    return total.hexdigest()
