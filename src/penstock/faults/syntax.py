"""Syntax trees of the three languages (tree-sitter), and which parts of them operators may change.

Nothing is changed in comments, strings, assertions, elaboration checks, text that the preprocessor leaves out, types and imports.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter
import tree_sitter_cpp
import tree_sitter_python
import tree_sitter_systemverilog
from tree_sitter import Node


@dataclass(frozen=True)
class Language:
    """Names of the grammar. `yes`, `no`: constants of a condition; `nothing`: a statement that does nothing; `binary`: nodes with an
    operator between their operands; `statements`: those that may be dropped; `skipped`: nodes that are never looked into."""

    grammar: object
    yes: str
    no: str
    nothing: str
    binary: frozenset[str]
    statements: frozenset[str]
    skipped: frozenset[str]
    numbers: frozenset[str]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SYSTEMVERILOG = Language(
    tree_sitter_systemverilog, "1'b1", "1'b0", ";", _names("expression constant_expression constant_param_expression"),
    _names("blocking_assignment nonblocking_assignment"),
    _names(
        "comment string_literal severity_system_task packed_dimension unpacked_dimension attribute_instance initial_construct"
        " simple_immediate_assert_statement simple_immediate_assume_statement simple_immediate_cover_statement concurrent_assertion_item"
        " procedural_assertion_statement assertion_item deferred_immediate_assertion_item data_type parameter_port_list"
        " conditional_compilation_directive text_macro_definition include_compiler_directive"
    ),
    _names("integral_number unbased_unsized_literal"),
)  # fmt: skip
_CPP = Language(
    tree_sitter_cpp, "true", "false", ";", _names("binary_expression assignment_expression"),
    _names("expression_statement throw_statement break_statement continue_statement"),
    _names(
        "comment string_literal raw_string_literal char_literal static_assert_declaration preproc_include preproc_def preproc_function_def"
        " preproc_if preproc_ifdef template_argument_list template_parameter_list attribute_declaration concatenated_string"
    ),
    _names("number_literal true false"),
)  # fmt: skip
_PYTHON = Language(
    tree_sitter_python, "True", "False", "pass",
    _names("binary_operator boolean_operator comparison_operator augmented_assignment"),
    _names("expression_statement raise_statement break_statement continue_statement"),
    _names("comment string concatenated_string decorator type import_statement import_from_statement future_import_statement"
           " assert_statement"),
    _names("integer true false"),
)  # fmt: skip
_OF_SUFFIX = {".sv": _SYSTEMVERILOG, ".cpp": _CPP, ".hpp": _CPP, ".py": _PYTHON}


def language_of(file: str) -> Language | None:
    """Return the language of `file`, if operators know it."""
    return _OF_SUFFIX.get("." + file.rpartition(".")[2])


@cache
def _parser(language: Language) -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(language.grammar.language()))  # type: ignore[attr-defined]


def nodes(language: Language, source: bytes) -> Iterator[Node]:
    """Yield every node that may be changed, from the first on, parents before what is in them."""
    left_out = _left_out(source) if language is _SYSTEMVERILOG else []
    todo = [_parser(language).parse(source).root_node]
    while todo:
        node = todo.pop()
        if node.type in language.skipped or node.is_error or _is_check(node) or any(a <= node.start_byte < b for a, b in left_out):
            continue
        yield node
        todo += reversed(node.children)


def _is_check(node: Node) -> bool:
    """Return whether `node` checks and does nothing else."""
    if node.type == "if_generate_construct":  # at elaboration
        return not _has(node, _names("always_construct continuous_assign module_instantiation"))
    if node.type == "call_expression":
        return node.children[0].text == b"assert"
    return node.type == "if_statement" and node.children[1].text in (b"TYPE_CHECKING", b'__name__ == "__main__"')


def _has(node: Node, types: frozenset[str]) -> bool:
    return node.type in types or any(_has(child, types) for child in node.children)


def _left_out(source: bytes) -> list[tuple[int, int]]:
    """Return the ranges that synthesis leaves out: assertions and what simulators alone see."""
    found, stack, since = [], [], None
    for line in re.finditer(rb"^[ \t]*`(ifdef|ifndef|elsif|else|endif)\b[ \t]*(\w*)", source, re.MULTILINE):
        word, name = line[1], line[2]
        if word in (b"ifdef", b"ifndef"):
            stack.append((word == b"ifdef") == (name == b"SYNTHESIS"))
        elif word == b"endif":
            stack.pop()
        else:
            stack[-1] = not stack[-1]
        if not all(stack) and since is None:
            since = line.start()
        elif all(stack) and since is not None:
            found.append((since, line.end()))
            since = None
    return found
