"""What a file of Python, or one definition in it, names: imports, other definitions, strings. It is read, never run."""

import ast
import hashlib
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from penstock.graph.project import Project

_MOST_WORDS = 200  # a longer string names nothing


@dataclass
class Named:
    """`plain`: names that are no attributes; `names`: those, too; `asked`: the attributes that are asked of each name."""

    names: set[str] = field(default_factory=set)
    plain: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)
    asked: dict[str, set[str]] = field(default_factory=dict)

    def add(self, other: "Named") -> None:
        """Add what `other` names."""
        self.names |= other.names
        self.plain |= other.plain
        self.strings |= other.strings
        for name, attributes in other.asked.items():
            self.asked.setdefault(name, set()).update(attributes)


@dataclass
class Facts:
    """What one text says. `definitions`: what each name at the top level names, `marks` its decorators; `tests`: functions and classes
    that pytest collects; `imports`: module, name in it or None, and the name here; `rest`: what all other statements name."""

    definitions: dict[str, Named] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    tests: list[str] = field(default_factory=list)
    imports: list[tuple[str, str | None, str]] = field(default_factory=list)
    rest: Named = field(default_factory=Named)


def _facts(data: bytes) -> Facts:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return Facts()
    found = Facts()
    for node in tree.body:
        named = Named()
        _walk(node, named, found.imports)
        named.names |= named.plain
        defined = list(_defines(node))
        for name in defined:
            found.definitions.setdefault(name, Named()).add(named)
        if not defined:
            found.rest.add(named)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.marks[node.name] = " ".join(map(_without_parameters, node.decorator_list))
            if node.name.startswith("Test" if isinstance(node, ast.ClassDef) else "test_") and "cocotb" not in found.marks[node.name]:
                found.tests.append(node.name)
        elif defined == ["pytestmark"]:
            found.marks["pytestmark"] = ast.unparse(node)
    return found


def _walk(node: ast.AST, found: Named, imports: list[tuple[str, str | None, str]]) -> None:
    kind = type(node)
    if kind is ast.Name:
        found.plain.add(node.id)  # type: ignore[attr-defined]
        return
    if kind is ast.Constant:
        value = node.value  # type: ignore[attr-defined]
        if type(value) is str and len(value) < _MOST_WORDS:
            found.strings.add(value)
        return
    if kind is ast.arg:  # a fixture
        found.plain.add(node.arg)  # type: ignore[attr-defined]
    elif kind is ast.Attribute:
        found.names.add(node.attr)  # type: ignore[attr-defined]
        if type(node.value) is ast.Name:  # type: ignore[attr-defined]
            found.asked.setdefault(node.value.id, set()).add(node.attr)  # type: ignore[attr-defined]
    elif kind is ast.Import:
        for alias in node.names:  # type: ignore[attr-defined]
            imports.append((alias.name, None, alias.asname or alias.name.partition(".")[0]))
    elif kind is ast.ImportFrom:
        for alias in node.names:  # type: ignore[attr-defined]
            imports.append((node.module or "", alias.name, alias.asname or alias.name))  # type: ignore[attr-defined]
    elif kind is ast.If and type(node.test) is ast.Name and node.test.id == "TYPE_CHECKING":  # type: ignore[attr-defined]
        return  # it never runs
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            for item in value:
                if isinstance(item, ast.AST):
                    _walk(item, found, imports)
        elif isinstance(value, ast.AST) and name != "ctx":
            _walk(value, found, imports)


def _defines(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))


def _without_parameters(mark: ast.expr) -> str:
    """Return a decorator as text, but for a long list of parameters."""
    return ast.unparse(mark.func) if isinstance(mark, ast.Call) and len(mark.args) > 1 else ast.unparse(mark)


class PythonFile:
    """The facts of a file, and the files of the project that they mean.

    `imports`: what each imported name is, a file and a name in it or None; `compiled`: names that come from the compiled module.
    """

    def __init__(self, project: Project, file: str, facts: Facts) -> None:
        self.project, self.file, self.facts = project, file, facts
        self.folder = str(PurePosixPath(file).parent)
        self.definitions, self.tests = facts.definitions, facts.tests
        self.imports: dict[str, list[tuple[str, str | None]]] = {}
        self.compiled: set[str] = set()
        for module, inner, name in facts.imports:
            if module.startswith("penstock._engine") or (module == "penstock" and inner == "_engine"):
                self.compiled.add(name)
            elif found := self._target(module, inner):
                self.imports.setdefault(name, []).append(found)

    @cached_property
    def all(self) -> Named:
        """What the whole file names."""
        found = Named()
        for named in (self.facts.rest, *self.definitions.values()):
            found.add(named)
        return found

    @property
    def imported(self) -> set[str]:
        """The files that it imports."""
        return {file for targets in self.imports.values() for file, _ in targets}

    @cached_property
    def paths(self) -> set[str]:
        """The files that its strings name."""
        return self.paths_in(self.all.strings)

    def paths_in(self, strings: Iterable[str]) -> set[str]:
        """Return the files that `strings` name: a string that ends like a file and means just one."""
        found = (self.project.found(text.lstrip("./"), self.folder) for text in strings if "." in text and " " not in text)
        return {file for file in found if file and not file.endswith("__init__.py")}

    def decorated(self, word: str) -> list[str]:
        """Return the definitions with a decorator in which `word` stands."""
        return [name for name, marks in self.facts.marks.items() if word in marks]

    def _target(self, module: str, inner: str | None) -> tuple[str, str | None] | None:
        if inner is None:
            return (file, None) if (file := self._module(module)) else None
        if file := self._module(f"{module}.{inner}" if module else inner):
            return file, None
        return (file, inner) if module and (file := self._module(module)) else None

    def _module(self, name: str) -> str | None:
        """Return the file of module `name`: of the project, beside this file, or anywhere among the helpers of tests."""
        path = name.replace(".", "/")
        design = path.removeprefix("penstock/")  # designs/ is a package of the workbench
        for candidate in (f"src/{path}.py", f"{design}.py", f"src/{path}/__init__.py", f"{design}/__init__.py", f"{self.folder}/{path}.py"):
            if candidate in self.project.known:
                return candidate
        if "." in name:
            return None
        helpers = [file for file in self.project.named.get(f"{name}.py", ()) if {"test", "tests"} & set(file.split("/"))]
        return helpers[0] if len(helpers) == 1 else None


class Readers:
    """Reads files of Python, each text once: what it says is kept in the file `kept`."""

    def __init__(self, project: Project, kept: Path) -> None:
        self._project, self._kept = project, kept
        self._version = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
        self._facts: dict[bytes, Facts] = {}
        self._new = False
        try:
            version, facts = pickle.loads(kept.read_bytes())  # written by this class, in the project
            self._facts = facts if version == self._version else {}
        except Exception:  # whatever is in the file: it is made again
            pass
        self._used: dict[bytes, Facts] = {}

    def read(self, file: str) -> PythonFile:
        """Return what is known of `file`."""
        data = self._project.data.get(file, b"")
        key = hashlib.sha256(data).digest()
        if key not in self._facts:
            self._facts[key], self._new = _facts(data), True
        self._used[key] = self._facts[key]
        return PythonFile(self._project, file, self._facts[key])

    def keep(self) -> None:
        """Write what was read, if anything was new."""
        if not self._new:
            return
        self._kept.parent.mkdir(parents=True, exist_ok=True)
        part = self._kept.with_suffix(f".{hashlib.sha256(repr(id(self)).encode()).hexdigest()[:8]}")
        part.write_bytes(pickle.dumps((self._version, self._used)))
        part.replace(self._kept)
        self._new = False
