"""What a stream has brought is written while more of it comes: by a thread of its own, a piece at a time, in order."""

import contextlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self


class Behind:
    """Does one thing at a time for the thread that gives it, which goes on meanwhile. What goes wrong is raised where the next one is
    given, or at the end: nothing that comes after it is done."""

    def __init__(self, inside: Callable[[], contextlib.AbstractContextManager[None]], pause: Callable[[], object]) -> None:
        """`inside`: what each is done inside of, there; `pause`: called where the giver is going to wait."""
        self._inside, self._pause = inside, pause
        self._thread: threading.Thread | None = None  # that does something
        self._wrong: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.wait()

    def give(self, do: Callable[[], None]) -> None:
        """Have it done when all before it is. Raises what that has raised."""
        self.wait()
        self._thread = threading.Thread(target=self._run, args=(do,), name="behind")
        self._thread.start()

    def wait(self) -> None:
        """Return when all is done. Raises what that has raised, once."""
        if self._thread:
            if self._thread.is_alive():
                self._pause()
            self._thread.join()
            self._thread = None
        wrong, self._wrong = self._wrong, None
        if wrong:
            try:
                raise wrong
            finally:
                del wrong  # it has this frame, and with it all that the stream holds

    def _run(self, do: Callable[[], None]) -> None:
        try:
            with self._inside():
                do()
        except BaseException as error:
            self._wrong = error
