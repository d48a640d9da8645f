"""What each test is about, and which tests are about a file or what uses it directly."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from penstock.graph.project import Project
from penstock.graph.python import Named, PythonFile
from penstock.graph.uses import Uses, is_border
from penstock.testing.testkinds import KINDS

_APP = "src/penstock/command_line/app.py"
_ENGINE = "src/penstock/engine/engine.py"


@dataclass(frozen=True)
class Test:
    """A test function, without its parameters. `own`: files of the tests that it needs; `subjects`: those that it is about."""

    name: str
    own: frozenset[str]
    subjects: frozenset[str]
    kind: str


class Graph:
    """The tests of the project below `root`."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self.uses = Uses(self.project)

    @cached_property
    def tests(self) -> dict[str, Test]:
        """All tests by name, in the order of their files."""
        files = [file for file in self.project.files if PurePosixPath(file).name.startswith("test_") and file.endswith(".py")]
        found = (self._test(file, name) for file in files for name in self.uses.python(file).tests)
        return {test.name: test for test in found}

    def near(self, changed: str) -> dict[str, int]:
        """Return the tests that a change of `changed` concerns: 0 for those about it, 1 for those about what uses it directly."""
        own = self.uses.unit(changed)
        users = set().union(*(self.uses.unit(user) for file in own for user in self.uses.users.get(file, ()))) - own
        found = {}
        for test in self.tests.values():
            if test.subjects & own or changed in test.own:
                found[test.name] = 0
            elif test.subjects & users:
                found[test.name] = 1
        return found

    def that_matter_to(self, tests: Iterable[str]) -> set[str]:
        """Return the files that tests (pytest's names) and what they are about consist of, and what that uses directly."""
        found: set[str] = set()
        for name in tests:
            for test in self.of(name):
                subjects = set().union(*(self.uses.unit(file) for file in test.subjects))
                found |= test.own | subjects.union(*(self.uses.unit(used) for file in subjects for used in self.uses.of(file)))
        return {file for file in found if not file.endswith(".md") and not file.startswith("lint/")}

    def of(self, name: str) -> list[Test]:
        """Return the tests that pytest's `name` means: one function, with or without parameters, or all of a file."""
        plain = name.partition("[")[0]
        if plain in self.tests:
            return [self.tests[plain]]
        return [test for test in self.tests.values() if test.name.startswith(f"{plain}::") or test.name == "::".join(plain.split("::")[:2])]

    # --- one test

    def _test(self, file: str, name: str) -> Test:
        own, subjects, named, bound = self._reached(file, name)
        python = self.uses.python(file)
        about: set[str] = set()
        if "run_proof" in named.names:
            about |= {self.uses.proofs[text] for text in named.strings & self.uses.proofs.keys()}
        about |= {self.uses.modules[text] for text in named.strings & self.uses.modules.keys()}
        about |= python.paths_in(named.strings)
        about |= {self.uses.parts[text] for text in named.strings & self.uses.parts.keys()}
        if _APP in subjects or {"-m", "penstock"} <= named.strings:
            commands = (f"src/penstock/commands/{text.replace('-', '_')}.py" for text in named.strings)
            about |= {path for path in commands if path in self.project.known}
        about |= bound
        if {"models", "module"} & named.names:
            about |= self.uses.parts_in(named.strings)
        for path in self._through_borders(about):
            (own if is_border(path) else subjects).add(path)
        if not subjects and file.startswith("blocks/"):  # its names are put together when it runs
            block = "/".join(file.split("/")[: file.split("/").index("test")])
            subjects = {path for path in self.project.files if path.startswith((f"{block}/rtl/", f"{block}/model/"))}
        words = named.names | named.strings
        kind = next((kind.name for kind in KINDS.values() if kind.calls & named.names or kind.says & words), "software")
        slow = "mark.slow" in python.facts.marks.get(name, "") + python.facts.marks.get("pytestmark", "")
        return Test(f"{file}::{name}", frozenset(own), frozenset(subjects), "slow" if slow else kind)

    def _through_borders(self, files: Iterable[str]) -> set[str]:
        found, todo = set(), list(files)
        while todo:
            file = todo.pop()
            if file not in found:
                found.add(file)
                if is_border(file):
                    todo += self.uses.of(file)
        return found

    def _reached(self, file: str, name: str) -> tuple[set[str], set[str], Named, set[str]]:
        """Return the files of tests that a definition reaches, all others that it imports, what is named on the way, and the files that
        bind what it takes from the compiled module."""
        own, subjects, named, bound = {file}, set(), Named(), set()
        seen: set[tuple[str, str]] = set()
        todo: list[tuple[str, str | None]] = [(file, name)]
        folders = [str(folder) for folder in PurePosixPath(file).parents if str(folder) != "."]
        fixtures = [path for folder in folders if (path := f"{folder}/conftest.py") in self.project.known]
        for place in (file, *fixtures):
            todo += [(place, fixture) for fixture in self.uses.python(place).decorated("autouse=True")]
        while todo:
            place, wanted = todo.pop()
            python = self.uses.python(place)
            names = [wanted] if wanted in python.definitions else [*python.definitions]
            for each in names:
                if each is None or (place, each) in seen:
                    continue
                seen.add((place, each))
                found = python.definitions[each]
                named.add(found)
                own.add(place)
                bound |= self._bound(python, found)
                todo += [(place, other) for other in found.plain if other in python.definitions]
                todo += [(path, other) for path in fixtures for other in found.plain if other in self.uses.python(path).definitions]
                if "run_module" in found.names:  # the simulator imports the file, too
                    todo += [(file, other) for other in self.uses.python(file).decorated("cocotb")]
                for other in found.plain & python.imports.keys() if place != _ENGINE else ():
                    for path, inner in python.imports[other]:
                        if not is_border(path):
                            subjects.add(path)
                        elif inner is not None:
                            todo.append((path, inner))
                        else:
                            own.add(path)
                            todo += [(path, asked) for asked in found.asked.get(other, ())]
        if bound or {"models", "module"} & named.names:
            bound |= {path for path in self.uses.binding(named.names) if file.startswith("engine/") or not path.startswith("engine/")}
        return own, subjects, named, bound

    def _bound(self, python: PythonFile, named: Named) -> set[str]:
        taken = named.names & python.compiled
        if taken == {"models"}:
            return {file for file in self.uses.binding(named.names) if not file.startswith("engine/")}
        if taken or "module" in (named.names if python.file == _ENGINE else named.asked.get("engine", ())):
            return self.uses.binding(named.names)
        return set()
