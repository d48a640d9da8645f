"""Entry of `python -m penstock`."""

import sys


def _start() -> int:
    try:
        from penstock.cli import main  # inside, so that Ctrl-C is quiet from the first moment on

        return main()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(_start())
