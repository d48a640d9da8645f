# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Loads the plugin that knows what kind each test is of, and which ones --quick runs; sees to it that signals reach what tests start."""

import os
import signal

from penstock.testing.testkinds import pytest_addoption, pytest_configure

__all__ = ["pytest_addoption", "pytest_configure"]

# A shell ignores SIGINT in what it runs in the background, nohup SIGHUP, and children inherit that: tests that end commands so would wait
# for ever.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# gRPC starts its threads again in a process that was forked. Tests of namespaces fork, and a process with threads may not enter all.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

# Most devices run for seconds in the tests: compiling them must not take longer (src/penstock/hardware/verilate.py).
os.environ.setdefault("PENSTOCK_OPTIMISE", "1")
