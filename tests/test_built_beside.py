# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The engine is compiled while the device is: one that fails ends the other, and the first one's words are heard."""

import threading
from typing import Any

import pytest

from penstock.basics import children
from penstock.engine import engine

JOB: dict[str, Any] = {"device": {"design": "access_edge"}}


def test_both_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither waits for the other to end."""
    begun, folders = threading.Barrier(2, timeout=20), []

    def build(_report: object, *asked: str) -> None:
        folders.extend(asked)
        begun.wait()

    monkeypatch.setattr(engine, "build", build)
    with engine.built_beside(JOB):
        begun.wait()
    assert folders == ["designs/access_edge/model"]


def test_an_engine_that_does_not_compile_is_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends the compiler of the device, whose own end is no news."""
    ended = threading.Event()

    def build(*_: object) -> None:
        ended.set()
        raise engine.EngineBuildError("no such type")

    monkeypatch.setattr(engine, "build", build)
    with pytest.raises(engine.EngineBuildError, match="no such type"), engine.built_beside(JOB):
        ended.wait(20)
        for thread in threading.enumerate():
            if thread.name.startswith("ThreadPool"):
                thread.join(0.2)
        raise children.Stopped("was ended")


@pytest.mark.parametrize("ends", [KeyboardInterrupt, RuntimeError])
def test_an_end_of_the_device_ends_the_compiler(ends: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C and errors do not wait until the engine is compiled, and children may be started afterwards."""
    running = threading.Event()
    stopped = []

    def build(*_: object) -> None:
        try:
            children.run(["sleep", "60"], tick=running.set)
        except children.Stopped:
            stopped.append(True)

    monkeypatch.setattr(engine, "build", build)
    with pytest.raises(ends), engine.built_beside(JOB):
        assert running.wait(20)
        raise ends
    assert stopped == [True]
    assert children.run(["true"]).returncode == 0
