"""Which tests that take long need not run, as nothing has changed at all that they could depend on: of devices, of synthesis, of builds.

What such a test reads is not known as exactly as for a proof or the simulation of a module, so its pass counts for one state of all code:
hardware, models, engine, workbench, scenarios, what tests share, its own file, tools, variables and seed. Comments, pages (unless the test
speaks of them), planted faults and other test files are no code.
"""

import contextlib
import functools
import hashlib
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from penstock import cache
from penstock.basics import tokens
from penstock.graph.project import files_of
from penstock.testing import basis, verdicts

KINDS = {"device", "synthesis", "build"}
LONG_SECONDS = 4.0  # of CPU: so does a test of software that took as long
_NO_CODE = (".md", "faults.yaml")
_TEXTS, _MOST_TEXTS = "texts", 8192


# Variables that decide what is run or kept, not how it ends.
_NO_MATTER = {basis.BEGAN, verdicts.AGAIN, "PENSTOCK_CACHE", "PENSTOCK_CACHE_LIMIT", "PENSTOCK_TRACEBACK"}


def _is_code(file: str) -> bool:
    name = PurePosixPath(file).name
    test = name.startswith("test_") and name.endswith(".py")
    return not test and not file.startswith((".ci/", "lint/")) and not file.endswith(_NO_CODE)


class State:
    """The code below `root` now, and what has passed with it."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._root = root
        variables = sorted(item for item in environment.items() if item[0].startswith("PENSTOCK_") and item[0] not in _NO_MATTER)
        self.files = {file for file in files_of(root) if _is_code(file)}
        with _texts_known():
            code = tokens.digest_of((root / file for file in self.files), root)
        self.key = verdicts.key(["tests", basis.seed(), variables, code, platform.release()])  # some tests are about the kernel, too

    def passed(self) -> dict[str, str]:
        """Return what has passed: the names of tests, each with what its file said; nothing when all are to run."""
        return {} if verdicts.asked_again() else self._kept()

    def _kept(self) -> dict[str, str]:
        found = cache.remembered(verdicts.KIND, self.key)
        return found if isinstance(found, dict) else {}

    def keep(self, tests: Iterable[str]) -> str:
        """Keep that these tests have passed, too, unless something has changed since this state was read: then return what."""
        new = {test: said(self._root, test) for test in tests}
        now = State(self._root, os.environ) if new else self
        if now.key != self.key:
            return ", ".join(sorted(now.files ^ self.files)) or "a file of the code"
        if new:
            verdicts.keep(self.key, {**self._kept(), **new})
        return ""


@contextlib.contextmanager
def _texts_known() -> Iterator[None]:
    """Keep what texts say from one call of the tests to the next: most are as they were. Another reader of texts begins anew."""
    reader = hashlib.sha256(Path(tokens.__file__).read_bytes() + platform.python_version().encode()).hexdigest()[:32]
    found = cache.remembered(_TEXTS, reader)
    before = dict(found) if isinstance(found, dict) else {}
    tokens.known.update(before)
    yield
    if tokens.known.keys() - before.keys():
        cache.remember(_TEXTS, reader, dict(list(tokens.known.items())[-_MOST_TEXTS:]))


def is_kept(kind: str, cpu_seconds: float) -> bool:
    """Return whether the pass of a test of this kind, which took so long, is kept."""
    return kind in KINDS or (kind == "software" and cpu_seconds >= LONG_SECONDS)


def said(root: Path, test: str) -> str:
    """Return what stands for the file of a test; the pages belong to it where it speaks of them."""
    return _said(root, test.split("::", 1)[0])


@functools.cache
def _said(root: Path, file: str) -> str:
    data = (root / file).read_bytes()
    found = hashlib.sha256(tokens.meaning(file, data)).hexdigest()
    if b".md" in data or b"docs" in data:
        found += tokens.digest_of((root / page for page in files_of(root) if page.endswith(".md")), root)
    return found
