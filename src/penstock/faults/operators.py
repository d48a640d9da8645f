"""Operators: each makes mutants of a source, small changes as they happen by mistake.

| operator | makes |
|---|---|
| comparison | `<` of `<=`, `!=` of `==`, ... |
| off by one | one more and one less of a whole number; the other value of a bit or truth value |
| operation | `-` of `+`, `||` of `&&`, `max` of `min`, ... |
| dropped term | one side of `a && b`, `a + b`, `a \\| b`, ...; what a `!` negates |
| swapped operands | `b - a` of `a - b`, `b < a` of `a < b`; the other order of a choice |
| forward | one arm of a choice, whatever its condition |
| condition | an `if` that always or never holds |
| statement | an assignment or a call that is not there |
| stuck | a value that is always zero, false, all ones or true: a `ready` that is ignored among them |
| dropped element | a list, or a call's keywords, without one; Python's `x[a:b]` or `f(x)` as `x` |
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from penstock.faults.syntax import Language, language_of, nodes

_COMPARISONS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
    "in": "not in", "not in": "in", "is": "is not", "is not": "is",
}  # fmt: skip
_OPERATIONS = {
    "+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "&&": "||", "||": "&&", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
    "and": "or", "or": "and", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<=",
}  # fmt: skip
_TERMS = {"+", "-", "&&", "||", "&", "|", "^", "and", "or", "*", "%", "/", "//", "<<", ">>", ">>>"}
_ONLY_LEFT = {"-", "%", "/", "//", "<<", ">>", ">>>"}  # of which the right side alone would be nonsense
_ORDERED = {"-", "<", "<=", ">", ">=", "/", "//", "%"}
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "std::min": "std::max", "std::max": "std::min"}
_ASSIGNED = {"assignment_expression", "augmented_assignment", "blocking_assignment", "nonblocking_assignment"}


@dataclass(frozen=True)
class Mutant:
    """In `file`, `new` stands in place of the bytes from `start` to `end`."""

    file: str
    line: int
    operator: str
    start: int
    end: int
    old: str
    new: str

    def applied(self, source: bytes) -> bytes:
        """Return `source` with the mutant in it."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def mutants(file: str, source: bytes, lines: set[int] | None = None) -> list[Mutant]:
    """Return the mutants of `file` that begin in one of `lines` (all when None), in their order; none of a language that is not known."""
    language = language_of(file)
    if language is None:
        return []
    found: dict[tuple[int, int, str], Mutant] = {}
    for node in nodes(language, source):
        for operator, part, new in _of(language, node):
            line = part.start_point[0] + 1
            key = (part.start_byte, part.end_byte, new)
            old = _text(part)
            if (lines is None or line in lines) and old != new and key not in found:
                found[key] = Mutant(file, line, operator, part.start_byte, part.end_byte, old, new)
    return sorted(found.values(), key=lambda mutant: (mutant.start, mutant.end, mutant.new))


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _of(language: Language, node: Node) -> Iterator[tuple[str, Node, str]]:
    """Yield the operator, the node that is replaced and its new text for each mutant of `node` itself."""
    if node.type in language.binary:
        yield from _binary(node)
    if node.type in language.numbers:
        yield from (("off by one", node, new) for new in _neighbours(_text(node)))
    elif node.type in ("identifier", "qualified_identifier") and node.parent and node.parent.type in ("call", "call_expression"):
        if node == node.parent.children[0] and _text(node) in _FUNCTIONS:
            yield "operation", node, _FUNCTIONS[_text(node)]
    elif node.type == "conditional_expression" and len(node.children) == 5:
        yield from _choice(node)
    elif node.type in ("if_statement", "elif_clause", "conditional_statement"):
        yield from _condition(language, node)
    elif node.type in language.statements and _may_go(node):
        whole = node.parent if language.nothing == ";" and node.type.endswith("assignment") else node
        if whole is not None:
            yield "statement", whole, language.nothing
    elif len(node.children) == 2 and _text(node.children[0]) in ("!", "~", "not"):
        yield "dropped term", node, _text(node.children[1])
    yield from _stuck(language, node)
    yield from _elements(node)


def _binary(node: Node) -> Iterator[tuple[str, Node, str]]:
    if any(child.type in ("+", "/", "%") for child in node.children) and re.search(r"[\"']\s*$|[fr]?[\"]|(?<!\d)'", _text(node)):
        return  # words, or a path
    for child in node.children:
        if not child.is_named or child.type == "assignment_operator":
            if child.type in _COMPARISONS:
                yield "comparison", child, _COMPARISONS[child.type]
            elif child.type in _OPERATIONS:
                yield "operation", child, _OPERATIONS[child.type]
    if len(node.children) != 3 or node.type in _ASSIGNED:
        return
    left, operator, right = node.children
    name = operator.type
    if name in _TERMS:
        yield "dropped term", node, _text(left)
        chain = len(left.children) == 3 and left.children[1].type == name
        if name not in _ONLY_LEFT and not chain:
            yield "dropped term", node, _text(right)
    if name in _ORDERED and not (name == "-" and _neighbours(_text(right))):
        yield "swapped operands", node, f"{_text(right)} {_text(operator)} {_text(left)}"


def _choice(node: Node) -> Iterator[tuple[str, Node, str]]:
    one, between, two, last, three = node.children
    if between.type == "if":  # Python's
        arms, swapped = (one, three), f"{_text(three)} if {_text(two)} else {_text(one)}"
    elif between.type == "?":
        arms, swapped = (two, three), f"{_text(one)} ? {_text(three)} : {_text(two)}"
    else:
        return
    yield from (("forward", node, _text(arm)) for arm in arms)
    yield "swapped operands", node, swapped


def _condition(language: Language, node: Node) -> Iterator[tuple[str, Node, str]]:
    """An `if` without `else` that never holds is not there; of a chain, each condition is one."""
    conditions = [child for child in node.children if child.type in ("cond_predicate", "condition_clause")]
    if not conditions and (condition := node.child_by_field_name("condition")):
        conditions = [condition]
    others = any(child.type in ("else", "else_clause", "elif_clause") for child in node.children)
    for condition in conditions:
        if condition.type == "condition_clause":
            if len(condition.children) != 3:  # declares something
                continue
            condition = condition.children[1]
        yield "condition", condition, language.yes
        if others or node.type == "elif_clause":
            yield "condition", condition, language.no
        else:
            yield "condition", node, language.nothing


def _may_go(node: Node) -> bool:
    """Return whether a statement may be dropped: not a docstring, and not what gives a name of Python its first value."""
    if node.type != "expression_statement":
        return True
    if not node.named_children:
        return False
    inner = node.named_children[0]
    if inner.type == "call_expression" and _text(inner).startswith("assert("):
        return False
    if inner.type == "assignment":
        left = inner.child_by_field_name("left")
        return left is not None and left.type in ("attribute", "subscript") and inner.child_by_field_name("type") is None
    return inner.type not in ("string", "concatenated_string", "ellipsis", "identifier")


_NEVER_ZERO = {"string", "string_literal", "concatenated_string", "lambda"}
_TRUTHS = {"&&", "||", "and", "or", "not in", "in", "!"} | _COMPARISONS.keys()


def _stuck(language: Language, node: Node) -> Iterator[tuple[str, Node, str]]:
    """What is assigned, connected or returned is a constant."""
    children = node.children
    if node.type in ("net_assignment", "nonblocking_assignment", "operator_assignment") and len(children) == 3:
        values = [] if children[1].type == "assignment_operator" and _text(children[1]) != "=" else ["'0", "'1"]
    elif node.type == "named_port_connection" and len(children) == 5 and not _text(children[1]).endswith("_o"):
        children, values = children[:4], ["'0", "'1"]
    elif node.type == "return_statement" and len(children) > 1:
        children = children[:2]
        truth = any(child.type in _TRUTHS for child in children[1].children) or children[1].type == "not_operator"
        values = [language.yes, language.no] if truth else []
    elif node.type in ("assignment", "assignment_expression", "init_declarator") and len(children) == 3 and _text(children[1]) == "=":
        truth = any(child.type in _TRUTHS for child in children[2].children) or children[2].type == "not_operator"
        values = [language.yes, language.no] if truth else [] if children[2].type in _NEVER_ZERO else ["0"]
    else:
        return
    yield from (("stuck", children[-1], value) for value in values)


_LISTS = {"list", "tuple", "set", "dictionary", "argument_list"}  # Python's


def _elements(node: Node) -> Iterator[tuple[str, Node, str]]:
    if node.type == "subscript" and any(child.type == "slice" for child in node.children):
        yield "dropped element", node, _text(node.children[0])
    elif node.type == "call" and len(node.children) == 2 and node.children[0].type == "identifier":
        given = node.children[1].named_children
        if len(given) == 1 and given[0].type not in ("keyword_argument", "list_splat", "dictionary_splat"):
            yield "dropped element", node, _text(given[0])
    elif node.type in _LISTS and node.parent is not None and node.children and node.children[0].type in ("(", "[", "{"):
        elements = [child for child in node.named_children if child.type != "comment"]
        if node.type == "argument_list":
            elements = [child for child in elements if child.type in ("keyword_argument", "list_splat")]
        for element in elements if node.parent.type != "argument_list" or len(elements) > 1 or node.type == "argument_list" else []:
            text, at = _text(node), element.start_byte - node.start_byte
            raw = text.encode()
            before, after = raw[:at].decode(), raw[at + len(_text(element).encode()) :].decode()
            after, once = re.subn(r"^\s*,\s*", "", after)
            before = before if once else re.sub(r",\s*$", "", before)
            yield "dropped element", node, before + after


_SIZED = re.compile(r"(?P<size>\d*\s*'[sS]?)(?P<base>[bBoOdDhH])(?P<digits>[\da-fA-F_]+)$")
_WHOLE = re.compile(r"(?P<digits>0[xX][\da-fA-F_']+|0[bB][01_']+|\d[\d_']*)(?P<end>[uUlLzZ]*)$")
_BASES = {"b": 2, "o": 8, "d": 10, "h": 16}
_OTHER = {"'0": "'1", "'1": "'0", "true": "false", "false": "true", "True": "False", "False": "True"}


def _neighbours(text: str) -> list[str]:
    """Return one more and one less than the number `text`, written like it; of a value of one bit the other one."""
    if text in _OTHER:
        return [_OTHER[text]]
    if sized := _SIZED.match(text):
        base = _BASES[sized["base"].lower()]
        width = int(re.sub(r"\D", "", sized["size"]) or 32)
        value, most = int(sized["digits"].replace("_", ""), base), (1 << width) - 1
        letter = {2: "b", 8: "o", 10: "d", 16: "x"}[base]
        return [f"{sized['size']}{sized['base']}{near:{letter}}" for near in (value + 1, value - 1) if 0 <= near <= most]
    if whole := _WHOLE.match(text):
        digits = re.sub("[_']", "", whole["digits"])
        if len(digits) > 1 and digits.isdecimal() and digits[0] == "0":  # octal
            return []
        value = int(digits, 0)
        form = "#x" if digits[:2].lower() == "0x" else "#b" if digits[:2].lower() == "0b" else "d"
        return [f"{near:{form}}{whole['end']}" for near in (value + 1, value - 1) if near >= 0]
    return []
