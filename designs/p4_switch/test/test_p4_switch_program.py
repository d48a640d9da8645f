# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Programs whose JSON says something twice or nothing that makes sense: one sentence says what."""

import json
from typing import Any

import pytest

from penstock.designs.p4_switch import program
from penstock.designs.p4_switch.testing import machine_programs
from penstock.errors import UserError
from penstock.paths import ROOT

WRONG: list[tuple[str, list[Any], Any, str]] = [
    ("version-of-text", ["__meta__", "version"], "2.0", "has the version '2.0' of the format; two numbers are wanted"),
    ("version-of-one", ["__meta__", "version"], [2], r"has the version \[2\] of the format; two numbers are wanted"),
    ("size-below-0", ["register_arrays", 0, "size"], -5, "register '.*' has a size below 0"),
    ("same-id", ["headers", 1, "id"], 0, "headers '.*' and '.*' have the same id, 0"),
]


def router() -> Any:
    return json.loads((ROOT / "p4" / "router_codel.json").read_text())


@pytest.mark.parametrize(("path", "value", "words"), [one[1:] for one in WRONG], ids=[one[0] for one in WRONG])
def test_what_is_wrong_is_named(path: list[Any], value: Any, words: str) -> None:
    given = router()
    inner = given
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(UserError, match=f"router.json: {words}"):
        program.parse(given, "router.json")


def test_a_table_that_is_declared_twice_is_refused() -> None:
    given = router()
    tables = given["pipelines"][0]["tables"]
    tables.append(tables[0])
    with pytest.raises(UserError, match="table '.*': is declared twice"):
        program.parse(given, "router.json")


def test_the_last_header_of_a_stack_as_a_whole_is_refused() -> None:
    """The compiler writes it as a field; simple_switch loads that, and ends at the first packet."""
    given = json.loads((machine_programs.FOLDER / "parse.json").read_text())
    stack = given["header_stacks"][0]["name"]
    value = {"type": "expression", "value": {"type": "stack_field", "value": [stack, "last"]}}
    assign = {"op": "assign_header", "parameters": [{"type": "header", "value": given["headers"][1]["name"]}, value]}
    given["parsers"][0]["parse_states"][0]["parser_ops"].append({"op": "primitive", "parameters": [assign]})
    with pytest.raises(UserError, match=rf"parser state '.*': .*the header {stack}\.last is used as a whole, which is not supported"):
        program.parse(given, "parse.json")
