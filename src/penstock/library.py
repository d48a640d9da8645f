"""What hardware there is: blocks, designs and their modules, found through the file lists."""

from functools import cache
from pathlib import Path

from penstock.errors import UserError
from penstock.paths import BLOCKS, DESIGNS, read_file_list
from penstock.suggest import nearest


@cache
def file_lists() -> dict[str, Path]:
    """Return the file list of every block and every design by its name."""
    found = {}
    for folder in sorted((*BLOCKS.glob("*/rtl"), *DESIGNS.glob("*/rtl"))):
        name = folder.parent.name
        if (folder / f"{name}.f").exists():
            found[name] = folder / f"{name}.f"
    return found


@cache
def modules() -> dict[str, str]:
    """Return every module `pst_*` and the block or design whose it is. A module has the name of its file; packages are left out."""
    found = {}
    for owner, file_list in file_lists().items():
        try:
            sources = read_file_list(file_list)
        except OSError:  # one list names another that is not there: `penstock lint` says so
            continue
        for path in sources:
            if path.parent == file_list.parent and path.suffix == ".sv" and not path.stem.endswith("_pkg"):
                found[path.stem] = owner
    return found


def sources_of(module: str) -> list[Path]:
    """Return the sources that `module` needs (those of its block, packages first)."""
    return read_file_list(file_lists()[modules()[module]])


def main_module(name: str) -> str:
    """Return the module that `name` means: a module itself, `pst_<name>`, or a block's main one, which stands last in its file list.

    Raises UserError for a name that nothing has.
    """
    for candidate in (name, f"pst_{name}"):
        if candidate in modules():
            return candidate
    if name in file_lists():
        own = [module for module, owner in modules().items() if owner == name]
        if own:
            return own[-1]
    short = {module.removeprefix("pst_") for module in modules()}
    raise UserError(f"there is no block, design or module {name!r}{nearest(name, {*modules(), *file_lists(), *short})}")
