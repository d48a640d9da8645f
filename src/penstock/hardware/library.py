"""What hardware there is: blocks, designs and their modules, found through the file lists."""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.basics import groups
from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.paths import BLOCKS, DESIGNS, read_file_list

if TYPE_CHECKING:
    from pyslang import syntax


@cache
def file_lists() -> dict[str, Path]:
    """Return every file list of blocks and designs by its name (`queue`, ...)."""
    paths = (*BLOCKS.glob("*/rtl/*.f"), *BLOCKS.glob("*/*/rtl/*.f"), *DESIGNS.glob("*/rtl/*.f"))
    return {path.stem: path for path in sorted(paths)}


@cache
def modules() -> dict[str, Path]:
    """Return every module `pst_*` and the shortest file list that has it. A module has the name of its file; packages are left out."""
    found: dict[str, Path] = {}
    length: dict[str, int] = {}
    for file_list in file_lists().values():
        try:
            sources = read_file_list(file_list)
        except OSError:  # one list names another that is not there: `penstock lint` says so
            continue
        for path in sources:
            own = path.parent == file_list.parent and path.suffix == ".sv" and not path.stem.endswith("_pkg")
            if own and len(sources) < length.get(path.stem, len(sources) + 1):
                found[path.stem] = file_list
                length[path.stem] = len(sources)
    return found


def sources_of(module: str) -> list[Path]:
    """Return the sources that `module` needs (those of its file list, packages first)."""
    return read_file_list(modules()[module])


def main_module(name: str) -> str:
    """Return the module that `name` means: a module itself, `pst_<name>`, or a block's main one, which stands last in its file list.

    Raises UserError for a name that nothing has.
    """
    for candidate in (name, f"pst_{name}"):
        if candidate in modules():
            return candidate
    if name in file_lists():
        own = [path.stem for path in read_file_list(file_lists()[name]) if path.stem in modules()]
        if own:
            return own[-1]
    short = {module.removeprefix("pst_") for module in modules()}
    raise UserError(f"there is no block, design or module {name!r}{nearest(name, {*modules(), *file_lists(), *short})}")


def declarations(tree: "syntax.SyntaxTree") -> "list[syntax.ModuleDeclarationSyntax]":
    """Return the modules, packages and interfaces in a source; the tree must outlive them."""
    from pyslang import syntax

    root = tree.root
    members = root.members if isinstance(root, syntax.CompilationUnitSyntax) else [root]
    return [member for member in members if isinstance(member, syntax.ModuleDeclarationSyntax)]


def headers(tree: "syntax.SyntaxTree") -> "list[syntax.ModuleHeaderSyntax]":
    """Return their headers."""
    return [declaration.header for declaration in declarations(tree)]


def parameters_of(module: str) -> dict[str, str]:
    """Return the parameters of `module` that can be set, each with the text of its default."""
    groups.need("reading SystemVerilog", "generate")
    from pyslang import syntax

    path = next(path for path in sources_of(module) if path.stem == module)
    tree = syntax.SyntaxTree.fromFile(str(path))  # must outlive everything that is taken from it
    for header in headers(tree):
        if header.name.value != module or header.parameters is None:
            continue
        found = {}
        for declaration in header.parameters.declarations:
            if getattr(getattr(declaration, "keyword", None), "valueText", "") == "parameter":
                for declarator in getattr(declaration, "declarators", []):
                    if hasattr(declarator, "name"):
                        found[declarator.name.valueText] = str(declarator.initializer or "").lstrip(" =").strip()
        return found
    return {}


# Parameters that had another name: the present one, and what the values are now.
FORMER = {"levels": ("Hierarchy", {"1": "0", "4": "1"})}


def set_parameters(module: str, settings: dict[str, str]) -> dict[str, int | str]:
    """Return parameter values from `settings`, whose keys may be written as in the source or in snake case (`mem_pages`, `MemPages`).

    Raises UserError for a key that `module` does not have, or a value that is neither a number nor a literal; a word is one where the
    parameter's default is text.
    """
    defaults = parameters_of(module)
    known = {_plain(name): name for name in defaults}
    values: dict[str, int | str] = {}
    for key, text in settings.items():
        if key.lower() in FORMER and FORMER[key.lower()][0] in defaults:
            name, now = FORMER[key.lower()]
            if text not in now:
                raise UserError(f"{text!r} is no value for {key}: give {' or '.join(now)}")
            key, text = name, now[text]
        if _plain(key) not in known:
            snake = [re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in known.values()]
            raise UserError(f"{module} has no parameter {key!r}{nearest(key, snake)}")
        name, plain = known[_plain(key)], text.replace("_", "").replace(",", "")
        word = r"|[a-z]+" if defaults[name].startswith('"') else ""
        if re.fullmatch(r"[0-9]{1,1000}", plain):
            values[name] = int(plain)
        elif re.fullmatch(r"[0-9]*'s?[bdhBDH][0-9a-fA-F_]+" + word, text):
            values[name] = text
        else:
            raise UserError(f"{text!r} is no value for {key}: give a number or a literal like 64'h2000_0000{', or a word' if word else ''}")
    return values


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
