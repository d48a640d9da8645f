"""What a change touches: the lines of each file that differ from a commit, as git says."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from penstock.basics import tokens
from penstock.errors import UserError

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


@dataclass
class Changes:
    """`since`: words for what it is compared with; `lines`: the changed lines of each file, where something was removed the one after it;
    `alike`: files that differ in comments and layout alone; `gone`: files that are no more."""

    since: str
    lines: dict[str, set[int]] = field(default_factory=dict)
    alike: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-c", "core.quotepath=off", *arguments], cwd=root, capture_output=True, check=False)
    except FileNotFoundError:
        raise UserError("git is not installed, which says what has changed") from None
    if done.returncode:
        raise UserError(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip().splitlines()[0]}")
    return done.stdout.decode(errors="replace")


def _base(root: Path) -> tuple[str, str]:
    """Return the commit at which this branch left the main one, and words for it."""
    for main in ("origin/main", "main"):
        try:
            commit = _git(root, "merge-base", "HEAD", main).strip()
        except UserError:
            continue
        return commit, f"{commit[:8]}, the last commit that is also in {main}"
    return "HEAD", "the last commit"


def is_revision(root: Path, name: str) -> bool:
    """Return whether git knows a commit by `name`."""
    try:
        _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except (UserError, IndexError):
        return False
    return True


def since(root: Path, revision: str | None = None) -> Changes:
    """Return what differs from `revision`, committed or not; None: from where this branch left the main one. Raises UserError."""
    if revision is not None and not is_revision(root, revision):
        raise UserError(f"git knows no commit {revision!r}")
    commit, words = _base(root) if revision is None else (revision, revision)
    found = Changes(words)
    file = ""
    for line in _git(root, "diff", "--no-renames", "--no-ext-diff", "--no-color", "--relative", "-U0", commit, "--").splitlines():
        if line.startswith("--- a/"):
            old = line[6:]
        elif line.startswith("+++ "):
            file = line[6:] if line.startswith("+++ b/") else ""
            if file:
                found.lines[file] = set()
            else:
                found.gone.append(old)
        elif file and (hunk := _HUNK.match(line)):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.lines[file] |= set(range(first, first + count)) if count else {first, first + 1}
    for file in _git(root, "ls-files", "--others", "--exclude-standard").splitlines():
        found.lines[file] = set(range(1, (root / file).read_bytes().count(b"\n") + 2))
    for file in [*found.lines]:
        if _alike(root, commit, file):
            found.alike.append(file)
            del found.lines[file]
    return found


def _alike(root: Path, commit: str, file: str) -> bool:
    """Return whether `file` says the same as at `commit`."""
    done = subprocess.run(["git", "show", f"{commit}:./{file}"], cwd=root, capture_output=True, check=False)
    return done.returncode == 0 and tokens.meaning(file, done.stdout) == tokens.meaning(file, (root / file).read_bytes())
