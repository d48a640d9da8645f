"""What is wrong with a value, in words of ours: the sentences for what pydantic finds."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from penstock.basics.units import describe

_BOUNDS = {"greater_than_equal": "at least", "less_than_equal": "at most", "greater_than": "more than", "less_than": "less than"}


def words(error: Mapping[str, Any]) -> str:
    """Return the sentence, without its subject, for one of `ValidationError.errors()`: "must be a number, not "x"."""
    kind: str = error["type"]
    context: Mapping[str, Any] = error.get("ctx") or {}
    shown = describe(error.get("input"))
    if kind == "value_error":  # of a validator of ours
        return str(context["error"])
    if kind == "missing":
        return "is missing"
    if kind in _BOUNDS:
        return f"must be {_BOUNDS[kind]} {number(next(iter(context.values())))}, not {shown}"
    if kind == "union_tag_invalid":  # kinds begin with "$" (scenarios/common.py)
        return f"has a key `{str(context['tag']).removeprefix('$')}`, a kind of traffic that this design does not have"
    if kind == "literal_error":
        return f"must be one of {context.get('expected', '')}, not {shown}"
    if kind == "string_pattern_mismatch":
        return f"must be a name of small letters, digits and _ that begins with a letter, not {shown}"
    if kind in ("too_long", "too_short"):
        most = context.get("max_length")
        return "must not be empty" if kind == "too_short" else f"must have at most {most} entries, not {context.get('actual_length')}"
    for kinds, wanted in (
        (("int",), "a whole number"),
        (("float", "finite", "decimal"), "a number"),
        (("string",), "text"),
        (("bool",), "true or false"),
        (("model", "dict", "mapping"), "keys with values"),
        (("list", "tuple"), "a list"),
    ):
        if kind.startswith(kinds):
            return f"must be {wanted}, not {shown}"
    return f"is not valid ({shown})"


def number(limit: float) -> str:
    """Return a limit as a user would write it: 1,000,000, 0.000001."""
    return f"{int(limit):,}" if limit == int(limit) else format(Decimal(repr(limit)), "f")
