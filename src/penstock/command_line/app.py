"""The command line: `python -m penstock`, and `./penstock` once the launcher has set everything up.

Exit status: 0 done; 1 the run, test or check failed; 2 bad input, said in one sentence on standard error; 130 interrupted (Ctrl-C, SIGTERM,
SIGHUP).
"""

import contextlib
import errno
import importlib
import os
import pkgutil
import sys
import traceback
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main

from penstock import __version__, commands
from penstock.basics import groups
from penstock.command_line import signals
from penstock.commands import app
from penstock.commands.completion import VARIABLE
from penstock.errors import ToolError, UserError

# The order of the list of commands; what is not named here comes after, by name.
ORDER = (
    "demo",
    "run",
    "report",
    "compare",
    "export",
    "configs",
    "test",
    "bench",
    "switch-sim",
    "sweep",
    "serve",
    "ctl",
    "paper",
    "lint",
    "synth",
    "generate",
)

# Errors of a path that the user gave; any other error of the system is not bad input.
PATH_ERRORS = (
    errno.EACCES, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS,
)  # fmt: skip
MAX_SHOWN = 80  # characters of a path in a message
MAX_SENTENCE = 600  # characters of a message: what is longer is cut in the middle
INTERRUPTED = 130


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


@cache
def _command() -> Any:
    """Return all commands as the library runs them. Building that takes 30 ms, which a test that calls `main` 600 times would wait for."""
    return typer.main.get_command(app)


def _shorten(path: object) -> str:
    text = str(path)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def _say(message: str) -> None:
    text = " ".join(message.split())
    if len(text) > MAX_SENTENCE:
        text = f"{text[: MAX_SENTENCE // 2]} ... {text[-MAX_SENTENCE // 2 :]}"
    with contextlib.suppress(OSError):  # the terminal is gone
        print(f"penstock: {text}", file=sys.stderr)


def _refuse_empty(arguments: list[str]) -> None:
    """Raise UserError for an empty value, such as `--out ""`: a variable of the caller's script that is not set, never what is meant."""
    if arguments[:1] == ["test"]:  # what it gets is pytest's
        return
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if not argument.strip():
            raise UserError(f"{before + ' ' if before.startswith('-') else ''}'': is empty; give a value or leave it out")
        if argument.startswith("--") and argument.endswith("="):
            raise UserError(f"{argument}: has no value; give one or leave it out")


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit status. Nothing but that comes out: no exception, no traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        with signals.ending():
            status = _run(arguments)
            sys.stdout.flush()  # a full disk shows here
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return 1
    except OSError as error:
        # What a command does not word itself: a name that is too long, a folder that may not be entered, a disk that is full.
        _say(f"{_shorten(error.filename)}: {error.strerror}" if error.filename else str(error.strerror or error))
        return 2 if error.errno in PATH_ERRORS else 1
    except MemoryError:
        _say("there is not enough memory for this")
        return 1
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (sentence := groups.explanation(error)):
            _say(sentence)
            return 2
        if os.environ.get("PENSTOCK_TRACEBACK"):
            raise
        _say(_own_fault(error))
        return 1


def _own_fault(error: Exception) -> str:
    """Return the sentence about an error that was not foreseen; where it came from goes into a file."""
    from penstock.paths import BUILD

    name, text = type(error).__name__, "".join(traceback.format_exception(error))
    what = f"this should not happen: {name}: {(str(error).splitlines() or ['no words'])[0]}"
    for folder in (BUILD, Path(os.environ.get("TMPDIR", "/tmp"))):
        with contextlib.suppress(OSError):
            (folder / "error.log").write_text(text)
            return f"{what}; please report it with {folder / 'error.log'}"
    return f"{what}; please report it with what PENSTOCK_TRACEBACK=1 shows"


def _run(arguments: list[str]) -> int:
    try:
        if VARIABLE in os.environ:  # a shell asks for words (`completion`)
            from typer.completion import completion_init

            completion_init()
        _refuse_empty(arguments)
        status = _command()(args=arguments, prog_name="penstock", standalone_mode=False)
    except UserError as error:
        _say(str(error))
        return 2
    except ToolError as error:
        print(f"penstock: {error}", file=sys.stderr)
        return 1
    except typer.Abort:
        return INTERRUPTED
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return 2
        context = getattr(error, "ctx", None)
        hint = f" (see `{context.command_path} --help`)" if context else ""
        _say(error.format_message().rstrip(".") + hint + ".")
        return error.exit_code
    return status if isinstance(status, int) else 0
