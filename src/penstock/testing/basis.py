"""What all that runs hardware for tests needs: the seed of the run, the error of what does not compile, options of Verilator."""

import os

from penstock.hardware import verilated_objects

OPTIONS = ("--assert", "-O3", "-Wno-fatal", "--x-initial", "unique", *verilated_objects.ONE_FILE)  # of every call of Verilator here

BEGAN = "PENSTOCK_TESTS_BEGAN"  # the variable that says when the command was started, in seconds since 1970


class BuildError(RuntimeError):
    """What a test runs on does not compile: no verdict on its behaviour, and so no test of it (`penstock faults` tells the two apart)."""


def seed() -> int:
    """Return the seed of this run: PENSTOCK_SEED, or 1. Print it in the test, so that a failure can be repeated."""
    return int(os.environ.get("PENSTOCK_SEED", "1"))
