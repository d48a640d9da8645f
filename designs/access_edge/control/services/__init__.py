"""The services, a file for each noun. A method gets a request and returns an answer, or raises Problem; `calls` makes a status of that."""

import functools
import sqlite3
from collections.abc import Callable
from typing import Any

import grpc

from penstock.designs.access_edge.control.problems import Code, Problem
from penstock.driver.carrier import CarrierError


def calls(cls: type) -> type:
    """Let all public methods of a servicer end with a status where they raise Problem, or an error of device or store."""
    for name, method in list(vars(cls).items()):
        if callable(method) and not name.startswith("_"):
            setattr(cls, name, _streaming(method) if getattr(method, "streams", False) else _once(method))
    return cls


def streams(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method that yields its answers."""
    method.streams = True  # type: ignore[attr-defined]
    return method


def _once(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(self: Any, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(self, request, context)
        except (Problem, CarrierError, sqlite3.Error) as error:
            problem_of(error).abort(context)

    return wrapped


def _streaming(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapped(self: Any, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            yield from method(self, request, context)
        except (Problem, CarrierError, sqlite3.Error) as error:
            problem_of(error).abort(context)

    return wrapped


def problem_of(error: Exception) -> Problem:
    """Return what to say where device or store fail."""
    if isinstance(error, Problem):
        return error
    return Problem(Code.UNAVAILABLE, f"the store cannot be read ({error})" if isinstance(error, sqlite3.Error) else str(error))
