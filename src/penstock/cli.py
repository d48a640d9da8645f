"""The command line: `python -m penstock`, and `./penstock` once the launcher has set everything up.

Exit status: 0 done; 1 the run, test or check failed; 2 bad input, said in one sentence on standard error; 130 interrupted.
"""

import errno
import importlib
import pkgutil
import sys
from typing import Annotated

import typer

from penstock import __version__, commands
from penstock.commands import app
from penstock.errors import UserError

# The order of the list of commands; what is not named here comes after, by name.
ORDER = ("demo", "run", "report", "test", "bench", "switch-sim", "paper", "lint", "synth", "generate")

# Errors of a path that the user gave; any other error of the system is not bad input.
PATH_ERRORS = (
    errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS,
)  # fmt: skip
MAX_SHOWN = 80  # characters of a path in a message


def _load_commands() -> None:
    names = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    for name in sorted(names, key=lambda n: (ORDER.index(n) if n in ORDER else len(ORDER), n)):
        importlib.import_module(f"{commands.__name__}.{name}")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


_load_commands()


def _shorten(path: object) -> str:
    text = str(path)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def _say(message: str) -> None:
    print(f"penstock: {' '.join(message.split())}", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status."""
    try:
        status = app(args=arguments, prog_name="penstock", standalone_mode=False)
    except UserError as error:
        _say(str(error))
        return 2
    except OSError as error:
        # What a command does not word itself: a name that is too long, a folder that may not be entered, a disk that is full.
        _say(f"{_shorten(error.filename)}: {error.strerror}" if error.filename else str(error))
        return 2 if error.errno in PATH_ERRORS else 1
    except typer.Abort:
        return 130
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return 2
        context = getattr(error, "ctx", None)
        hint = f" (see `{context.command_path} --help`)" if context else ""
        _say(error.format_message().rstrip(".") + hint + ".")
        return error.exit_code
    return status if isinstance(status, int) else 0
