"""The compiled parts of the engine: each is built, and loaded, when it is first needed.

A part is a folder with a `module.cpp`, which is a module of Python (nanobind). All sources below the folder are of it, except those of a
folder below that is a part itself, and those of headers that it includes from elsewhere (`x.cpp` beside `x.hpp`). It is linked to the
engine proper, ENGINE, and to the parts in the folders above it, which are loaded first. A part may be a template: its `argument` is the
macro PENSTOCK_ARGUMENT, and each argument gives a part of its own.

Sources of a folder are compiled together, since headers are most of what the compiler reads: those that only bind to Python with little
optimisation, the others with much. A part with a planted fault has little, too, and the file of the fault is compiled by itself: the next
fault in it costs that file. What is built goes to the user's cache (`penstock.cache`), and so do objects where there is a ccache.
"""

import contextlib
import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import penstock
from penstock import cache
from penstock.basics import children, compilers, keys, machine, waits
from penstock.errors import ToolError
from penstock.paths import BLOCKS, BUILD, DESIGNS, ROOT, alone_in, cannot_be_written

ENGINE = "engine/src"
INCLUDES = (ROOT, ROOT / "engine/include", ROOT / ENGINE)
UNITS, GENERATED = BUILD / "units", BUILD / "generated"  # under names of their contents, by which ccache knows what it has compiled
ROOM = "module.cpp"
# Files in which a fault is planted, from the top of the project, with ':' between them: the parts that have them run once.
PLANTED = "PENSTOCK_PLANTED"
_DEFINED = ("-DNDEBUG", "-DNB_SHARED", "-DNB_COMPACT_ASSERTIONS")
_FLAGS = (
    "-std=c++20", "-fPIC", "-Wall", "-Wextra", "-Wno-attributes", *_DEFINED,
    "-fno-strict-aliasing", "-fno-stack-protector",
    "-fno-semantic-interposition", "-fno-gnu-unique",  # parts see each other's symbols, and calls within one stay within it
)  # fmt: skip
_LINK = ("-shared", "-Wl,-Bsymbolic", "-Wl,-s")
_USUAL_SECONDS = 30

Report = Callable[[str], None]


class EngineBuildError(ToolError):
    """A part did not compile; the message ends with the compiler's words."""


@dataclass(frozen=True)
class Part:
    """One part: its folder from the top of the project, and the argument of a template."""

    folder: str
    argument: str = ""

    @property
    def name(self) -> str:
        """The name of its module, as its NB_MODULE says."""
        return "_engine" if self.folder == ENGINE else self.folder.replace("/", "_")

    @property
    def module(self) -> str:
        """The name under which Python knows it."""
        number = f"of_{hashlib.sha256(self.argument.encode()).hexdigest()[:8]}." if self.argument else ""
        return f"penstock.{number}{self.name}"

    @property
    def file(self) -> str:
        return f"{self.module}.so"

    @property
    def words(self) -> str:
        """What people are told that it is."""
        return "the engine" if self.folder == ENGINE else f"{self.folder} ({self.argument})" if self.argument else self.folder

    def above(self) -> list["Part"]:
        """Return the parts to which it is linked, those that are loaded first first."""
        if self.folder == ENGINE:
            return []
        with keys.at_one_moment() as moment:
            folders = [str(folder) for folder in reversed(Path(self.folder).parents) if moment.is_file(str(ROOT / folder / ROOM))]
        return [Part(ENGINE), *(Part(folder) for folder in folders if folder != ENGINE)]

    def sources(self) -> list[Path]:
        """Return its sources: those in its folder, and of headers from elsewhere those of the same name beside them."""
        with keys.at_one_moment() as moment:
            if self.folder not in moment.kept:
                moment.kept[self.folder] = list(_sources(self.folder))
            return list(moment.kept[self.folder])

    def units(self) -> list[tuple[str, int, str]]:
        """Return what is compiled at once: its name, how far it is optimised, and a text that includes sources."""
        groups: dict[tuple[str, int], list[str]] = {}
        planted = self._planted()
        for path in self.sources():
            level = 1 if planted or _only_binds(path) else 3
            name = str(path.relative_to(ROOT))
            # Benches are programs, each with classes of the same names.
            alone = path.parent.name == "bench" or name in planted
            together = name.removesuffix(".cpp") if alone else "bound" if _only_binds(path) else str(Path(name).parent)
            groups.setdefault((together.replace("/", "_"), level), []).append(name)
        begin = f"#define PENSTOCK_ARGUMENT {self.argument}\n" if self.argument else ""
        return [
            (f"{self.module}-{name}", level, begin + "".join(f'#include "{path}"\n' for path in paths))
            for (name, level), paths in groups.items()
        ]

    def _planted(self) -> set[str]:
        """Return those of its files, headers among them, in which a fault is planted."""
        named = set(filter(None, os.environ.get(PLANTED, "").split(":")))
        if not named:
            return named
        sources = self.sources()
        return named & {
            str(path.relative_to(ROOT)) for path in [*sources, *keys.included(sources, _folders())] if path.is_relative_to(ROOT)
        }

    def key(self) -> str:
        """Return the key of what is built. It is worked out once while no file changes, since each run of a job asks."""
        with keys.at_one_moment() as moment:
            asked = (self, os.environ.get(PLANTED), keys.compiler())
            if asked not in moment.kept:
                settings = [self.folder, _FLAGS, _LINK, self.units(), sysconfig.get_config_var("EXT_SUFFIX"), self.file]
                moment.kept[asked] = keys.of_build(settings, self.sources(), _folders(), ["nanobind"])
            return str(moment.kept[asked])


def _only_binds(path: Path) -> bool:
    """Return whether a source is read by the compiler for long and run for short: what hands values to Python and back."""
    return not path.is_relative_to(BLOCKS) and (path.name in (ROOM, "design.cpp") or path.name.startswith(("python_", "bind")))


def _sources(folder: str) -> Iterator[Path]:
    above = {path for part in Part(folder).above() for path in part.sources()}
    with keys.at_one_moment() as moment:
        waiting = list(_within(ROOT / folder, moment))
        known = set(waiting)
        while waiting:
            path = waiting.pop(0)
            yield path
            for header in sorted(keys.included([path], _folders())):
                beside = header.with_suffix(".cpp")
                if beside not in known and beside not in above and header.is_relative_to(ROOT) and moment.is_file(str(beside)):
                    known.add(beside)
                    waiting.append(beside)


def _within(folder: Path, moment: keys.Moment) -> Iterator[Path]:
    for name, is_folder in moment.listed(str(folder)):
        path = folder / name
        if is_folder and name not in ("test", "__pycache__"):
            if (ROOM, False) not in moment.listed(str(path)):
                yield from _within(path, moment)
        elif path.suffix == ".cpp" and not path.name.startswith(("shim", "test_")):
            yield path


def _folders() -> tuple[Path, ...]:
    """Return where headers are searched, with the list of our AQMs, each by the part.yaml in its folder, for aqm_models.cpp."""
    text = _generated()
    return (*INCLUDES, _written(GENERATED / hashlib.sha256(text.encode()).hexdigest()[:8] / "aqm_parts.hpp", text).parent)


def _written(path: Path, text: str) -> Path:
    """Write a file unless it is there; no other process sees a half. Raises UserError where its folder cannot be written."""
    if not path.exists() or path.read_text() != text:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}")
            part.write_text(text)
            part.rename(path)
        except OSError as error:
            raise cannot_be_written(path.parent, error) from None
    return path


@functools.cache
def _generated() -> str:
    from ruamel.yaml import YAML

    models = {path.parent: YAML(typ="safe").load(path.read_text())["model"] for path in sorted((BLOCKS / "aqm").glob("*/part.yaml"))}
    includes = "".join(f'#include "{(folder / model["header"]).relative_to(ROOT)}"\n' for folder, model in models.items())
    rows = "".join(f'    {{"{folder.name}", &AqmFactoryOf<{model["class"]}>::factory}},\n' for folder, model in models.items())
    return (
        "// Generated by penstock.engine.parts: the AQMs that are compiled in, each by the part.yaml in its folder below blocks/aqm.\n"
        f'#pragma once\n\n#include "blocks/aqm/model/aqm_model.hpp"\n{includes}\nnamespace penstock {{\n\n'
        "struct BuiltInAqm {\n    const char* name;\n    const AqmFactory* factory;\n};\n"
        f"inline constexpr BuiltInAqm kBuiltInAqms[] = {{\n{rows}}};\n\n}}  // namespace penstock\n"
    )


def names() -> list[str]:
    """Return the folders of all parts."""
    places = (ROOT / "engine", BLOCKS, DESIGNS)
    return sorted(str(path.parent.relative_to(ROOT)) for place in places for path in place.rglob(ROOM))


def build(parts: Sequence[Part], report: Report | None = None) -> dict[Part, Path]:
    """Return the file of each part and of those to which it is linked, built unless the cache has it; `report` gets a line before.

    Safe to call from several processes at once. Raises EngineBuildError.
    """
    wanted = list(dict.fromkeys(part for given in parts for part in (*given.above(), given)))
    with keys.at_one_moment():
        by_key = {part: part.key() for part in wanted}
    found = {part: folder for part, key in by_key.items() if (folder := cache.found("engine", key))}
    if len(found) < len(wanted):
        cache.limit()  # one that makes no sense is said before the compiler runs
        machine.need("engine", os.environ)
        first = next(by_key[part] for part in wanted if part not in found)
        with alone_in(cache.root() / "compiling" / first[0]):  # another process that needs the same waits; most others do not
            _build(wanted, by_key, found, report)
    return {part: found[part] / part.file for part in wanted}


def _build(wanted: Sequence[Part], by_key: dict[Part, str], found: dict[Part, Path], report: Report | None) -> None:
    """Build what is not found, and add it there."""
    found |= {part: folder for part in wanted if part not in found and (folder := cache.found("engine", by_key[part]))}
    missing = [part for part in wanted if part not in found]
    if not missing:  # another process has built them meanwhile
        return
    doing = f"Compiling {' and '.join(part.words for part in missing)}, once"
    with (
        waits.announced(report, doing, doing, _USUAL_SECONDS),
        cache.workshop("engine") as work,
        ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as workers,
    ):
        objects = {part: [workers.submit(_object, *unit, work) for unit in part.units()] for part in missing}
        if missing[0].folder == ENGINE:
            objects[missing[0]].append(workers.submit(_nanobind_object, work))
        try:
            for part in missing:
                linked = [found[other] / other.file for other in part.above()]

                def make(folder: Path, part: Part = part, linked: list[Path] = linked) -> None:
                    _link(part, [future.result() for future in objects[part]], linked, folder / part.file)
                    if part.key() != by_key[part]:
                        raise EngineBuildError(f"the sources of {part.words} have changed while they were compiled; start it again")

                found[part] = cache.once("engine", by_key[part], make)
        except BaseException:
            children.end_all()
            workers.shutdown(cancel_futures=True)
            children.begin_again()
            raise


def to_be_read() -> Iterator[tuple[list[str], list[Path]]]:
    """Yield what another reader of C++ needs for each unit of each part: its source with our flags, and all files of ours in it."""
    for part in map(Part, names()):
        for name, _, text in part.units():
            sources = [ROOT / line.split('"')[1] for line in text.splitlines()]
            own = {path for path in keys.included(sources, _folders()) if path.is_relative_to(ROOT)}
            yield [*_given(name, text), "-std=c++20", *_DEFINED], sorted({*sources, *own})


def _given(name: str, text: str) -> list[str]:
    """Return the source of a unit and where its headers are, from the top of the project, so that they are the same in each clone."""
    source = _written(UNITS / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.cpp", text)
    system = [word for folder in (_nanobind() / "include", Path(sysconfig.get_path("include"))) for word in ("-isystem", str(folder))]
    return [_told(source), *(f"-I{_told(folder)}" for folder in _folders()), *system]


def _object(name: str, level: int, text: str, work: Path) -> Path:
    """Compile one unit."""
    made = work / f"{name}.o"
    source, *folders = _given(name, text)
    _call([*compilers.launcher(), *compilers.command(), *_FLAGS, f"-O{level}", *folders, "-c", source, "-o", str(made)])
    return made


def _nanobind_object(work: Path) -> Path:
    """Compile nanobind itself, which the engine proper has in it for all parts."""
    made, flags = work / "nanobind.o", [*_FLAGS, "-DNB_BUILD", "-fvisibility=hidden", "-Os"]
    folders = [f"-I{_nanobind() / 'include'}", f"-I{_nanobind() / 'ext/robin_map/include'}", "-isystem", sysconfig.get_path("include")]
    source = str(_nanobind() / "src/nb_combined.cpp")
    _call([*compilers.launcher(), *compilers.command(), *flags, *folders, "-c", source, "-o", str(made)])
    return made


def _nanobind() -> Path:
    import nanobind

    return Path(nanobind.include_dir()).parent


def _link(part: Part, objects: Sequence[Path], linked: Sequence[Path], made: Path) -> None:
    words = [*compilers.command(), *_LINK, f"-Wl,-soname,{part.file}", *map(str, [*objects, *linked]), "-ldl", "-o", str(made)]
    _call(words)


def _told(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _call(command: list[str]) -> None:
    done = children.run(command, cwd=ROOT, env=compilers.environment())
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        first = next((number for number, line in enumerate(lines) if "error" in line), 0)
        raise EngineBuildError("the engine does not compile:\n" + "\n".join(lines[max(0, first - 3) : first + 40]))


_loading = threading.RLock()
_loaded: dict[Part, str] = {}  # with their keys


def _say(words: str) -> None:
    print(f"penstock: {words}", file=sys.stderr, flush=True)


_report: list[Report] = [_say]


@contextlib.contextmanager
def reporting(report: Report | None) -> Iterator[None]:
    """Say by `report` what is compiled meanwhile, also for the engine."""
    _report.append(report or _say)
    try:
        yield
    finally:
        _report.pop()


def load(folder: str, argument: str = "") -> ModuleType | None:
    """Return the module of a part, built and loaded if need be; None: there is no such part. The engine calls this, too.

    What is compiled is said in one line, on standard error unless `reporting` says otherwise. Raises EngineBuildError.
    """
    part = Part(folder, argument)
    if part in _loaded and (known := sys.modules.get(part.module)) is not None:
        return known
    if ".." in folder or not (ROOT / folder / ROOM).exists():
        return None
    with _loading:
        files = build([part], _report[-1])
        for each in files:
            _load(each, files[each])
    return sys.modules[part.module]


def _load(part: Part, file: Path) -> None:
    key = file.parent.parent.name
    if _loaded.setdefault(part, key) != key:
        raise EngineBuildError(f"the sources of {part.words} have changed since this process has loaded it; start it again")
    if part.module in sys.modules:
        return
    loader = importlib.machinery.ExtensionFileLoader(part.module, str(file))
    spec = importlib.util.spec_from_file_location(part.module, file, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[part.module] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[part.module]
        raise
    if part.folder == ENGINE:
        setattr(penstock, part.name, module)
