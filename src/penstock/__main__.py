"""Entry of `python -m penstock`, and of the command `penstock` of an installation."""

import os
import signal
import sys


def _take_signals() -> None:
    """Let Ctrl-C end the process without a word while it only loads; `penstock.command_line.app.main` takes it over for the command itself.

    The launcher ignores it until here, since Python answers one during its own start with a traceback.
    """
    started_by_launcher = os.environ.pop("PENSTOCK_TAKE_INTERRUPTS", None) is not None
    if started_by_launcher or signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _open_standard_files() -> None:
    """Put /dev/null where standard input, output or error is closed: else the next file opened is taken for it."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def _start() -> int:
    try:
        from penstock.command_line.app import main

        return main()
    except KeyboardInterrupt:
        return 130


def command() -> int:
    """Run the command line in a process of its own and return the exit status; what an installation's `penstock` calls."""
    _take_signals()
    _open_standard_files()
    status = _start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: Ctrl-C while the interpreter ends would only be a traceback
    return status


if __name__ == "__main__":
    sys.exit(command())
