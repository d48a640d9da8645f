"""The line that says what a long command is doing, on standard error."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_line(name: str) -> Iterator[Callable[[str], None]]:
    """Give a function that shows its text beside `name` and the time that has gone by; silent when nobody watches."""
    started = time.monotonic()
    watched = sys.stderr.isatty()

    def show(text: str) -> None:
        if watched:
            print(f"\r\033[K{name}: {text}, {time.monotonic() - started:.0f} s", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if watched:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
