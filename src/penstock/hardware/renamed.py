# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Names in a package of its own: two packages in one project have no module, package or file in common."""

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.basics import groups
from penstock.errors import UserError
from penstock.hardware import library

_NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
_OURS = re.compile(r"(?<![A-Za-z0-9])pst_\w*")  # with which all modules, packages and files begin
_LONGEST = 40  # characters of settings in a name


def checked(name: str | None) -> str | None:
    """Return a name that `--name` gave. Raises UserError for one that no module can begin with."""
    if name is not None and (not _NAME.fullmatch(name) or name.endswith("_")):
        raise UserError(
            f"--name {name}: a name begins with a small letter; small letters, digits and inner _ follow, 31 characters at most"
        )
    return name


def of_settings(name: str, changes: Mapping[str, str]) -> str:
    """Return the name of a configuration with these settings: another one for other settings."""
    if not changes:
        return name
    told = "_".join(f"{key.rpartition('.')[2]}_{value}" for key, value in sorted(changes.items()))
    told = re.sub(r"[^a-z0-9]+", "_", told.lower()).strip("_")
    if len(told) > _LONGEST:
        told = f"{zlib.crc32(repr(sorted(changes.items())).encode()):08x}"
    return f"{name}_{told}"


@dataclass(frozen=True)
class Names:
    """How a package calls what is in it.

    `prefix` takes the place of `pst`, None: nothing is renamed. `kept` are names that stay: those of the common modules. `only`, if any,
    are the names that get the prefix, all others stay. `own` are the modules and packages of an AQM or a scheduler of the user's own, and
    `files` its files: they get the prefix and `own` in front, as one of ours may have the same name.
    """

    prefix: str | None = None
    kept: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()

    def new(self, text: str) -> str:
        """Return a text, or the path of a file, with the names that it has in the package."""
        if self.prefix is None:
            return text
        text = _OURS.sub(self._one, text)
        return _words(self.files).sub(lambda match: f"{self.prefix}_own_{match[0]}", text) if self.files else text

    def _one(self, match: re.Match[str]) -> str:
        word = match[0]
        if word in self.kept or (self.only and word not in self.only):
            return word
        return f"{self.prefix}_{word.removeprefix('pst_')}"

    def rename(self, folder: Path) -> None:
        """Rename in the files of a package, and the files; register maps have none of the names."""
        if self.prefix is None:
            return
        for path in sorted(folder.rglob("*")):
            if not path.is_file() or path.relative_to(folder).parts[0] == "regs":
                continue
            text = path.read_text()
            if self.own and path.suffix in (".sv", ".v", ".svh"):
                text = declarations_renamed(text, {name: f"{self.prefix}_own_{name}" for name in self.own})
            path.write_text(self.new(text))
            path.rename(path.with_name(self.new(path.name)))


def _words(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.])(?:{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})(?!\w)")


def declared(text: str) -> list[str]:
    """Return the names of modules, packages and interfaces that a source declares."""
    groups.need("reading SystemVerilog", "generate")
    from pyslang import syntax

    tree = syntax.SyntaxTree.fromText(text)
    return [header.name.valueText for header in library.headers(tree)]


def declarations_renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a source with other names for these modules and packages: where they are declared, instantiated, imported or read from.

    A signal, a port or an instance that has the same name keeps it.
    """
    groups.need("reading SystemVerilog", "generate")
    from pyslang import parsing, syntax

    tree = syntax.SyntaxTree.fromText(text)
    places: set[tuple[int, str]] = set()

    def take(token: object) -> None:
        if isinstance(token, parsing.Token) and token.valueText in names:
            places.add((token.location.offset, token.valueText))

    def visit(node: object) -> None:
        if isinstance(node, syntax.ModuleHeaderSyntax):
            take(node.name)
        elif isinstance(node, syntax.ModuleDeclarationSyntax):
            take(node.blockName.name if node.blockName else None)
        elif isinstance(node, syntax.HierarchyInstantiationSyntax):
            take(node.type)
        elif isinstance(node, syntax.PackageImportItemSyntax):
            take(node.package)
        elif isinstance(node, syntax.ScopedNameSyntax) and node.separator.valueText == "::":
            take(getattr(node.left, "identifier", None))
        elif isinstance(node, syntax.InterfacePortHeaderSyntax):
            take(node.nameOrKeyword)

    tree.root.visit(visit)
    data = text.encode()  # offsets are of bytes
    for offset, name in sorted(places, reverse=True):
        data = data[:offset] + names[name].encode() + data[offset + len(name.encode()) :]
    return data.decode()
