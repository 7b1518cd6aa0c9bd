"""The formulas of a plan's ledger, taken apart: computed at other figures, or written in another notation.

A formula may come from a file, so nothing is taken for granted: what is not of the grammar of `answer.ledger` is no
formula. Knows no plan.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/^(),]))", re.ASCII)
OPERATOR_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
NEGATION_BINDING = 3
MAX_NESTING = 50


class FormulaSyntaxError(ValueError):
    """The text is not of the grammar."""


@dataclass(frozen=True, slots=True)
class FormulaNode:
    """A number, a name, an operation on two sides (`-` on one is the opposite), or a function of its arguments."""

    text: str
    sides: tuple[FormulaNode, ...] = ()
    number: float | None = None

    @property
    def is_name(self) -> bool:
        return not self.sides and self.number is None


def parse_formula(text: str) -> FormulaNode:
    """The formula as a tree. Raises NoFormula.

    >>> value(parse("2 * (rate + 1) ^ 2"), {"rate": 0.5})
    4.5
    """
    reader = _FormulaReader(text)
    node = reader.expression(0, 0)
    if reader.at < len(reader.tokens):
        raise FormulaSyntaxError(text)
    return node


def referenced_names(node: FormulaNode) -> frozenset[str]:
    """The figures that a formula reads."""
    if node.is_name:
        return frozenset((node.text,))
    return frozenset().union(*map(referenced_names, node.sides))


def evaluate_formula(node: FormulaNode, figures: Mapping[str, float]) -> float:
    """What the formula gives. Raises KeyError for a figure that is not there."""
    if node.number is not None:
        return node.number
    if node.is_name:
        return figures[node.text]
    sides = [evaluate_formula(side, figures) for side in node.sides]
    return _OPERATIONS[node.text, len(sides)](*sides)


def spreadsheet_formula(node: FormulaNode, cell: Callable[[str], str]) -> str:
    """The formula as spreadsheets write it, with `cell(name)` for each figure."""
    if node.is_name:
        return cell(node.text)
    sides = [spreadsheet_formula(side, cell) for side in node.sides]
    if not sides:
        return node.text
    if node.text in _FUNCTIONS:
        return f"{node.text}({','.join(sides)})"
    if len(sides) == 1:
        return f"(-{_parenthesize_side(node.sides[0], sides[0], OPERATOR_BINDING['^'] + 1)})"
    binds = OPERATOR_BINDING[node.text]
    left, right = node.sides
    tight = binds if node.text in "+*" else binds + 1  # a - (b - c), a / (b * c)
    return f"{_parenthesize_side(left, sides[0], binds)}{node.text}{_parenthesize_side(right, sides[1], tight)}"


def _parenthesize_side(side: FormulaNode, text: str, binds: int) -> str:
    is_operation = len(side.sides) == 2 and side.text in OPERATOR_BINDING
    return f"({text})" if is_operation and OPERATOR_BINDING[side.text] < binds else text


def _annuity_value(rate: float, periods: float, payment: float) -> float:
    """PV: worth now of a payment at the end of each period, with the sign turned."""
    return -payment * (periods if rate == 0 else -math.expm1(-periods * math.log1p(rate)) / rate)


_FUNCTIONS = {"MAX": 2, "PV": 3}
_OPERATIONS: dict[tuple[str, int], Callable[..., float]] = {
    ("+", 2): lambda a, b: a + b,
    ("-", 2): lambda a, b: a - b,
    ("*", 2): lambda a, b: a * b,
    ("/", 2): lambda a, b: a / b,
    ("^", 2): lambda a, b: float(a**b),
    ("-", 1): lambda a: -a,
    ("MAX", 2): max,
    ("PV", 3): _annuity_value,
}


@dataclass(slots=True)
class _FormulaReader:
    """Reads by how tightly operators bind."""

    text: str
    at: int = 0
    tokens: list[tuple[str, str, str]] = field(init=False)

    def __post_init__(self) -> None:
        end, self.tokens, text = 0, [], self.text.rstrip()
        while end < len(text):
            match = TOKEN.match(text, end)
            if match is None:
                raise FormulaSyntaxError(self.text)
            self.tokens.append((match[1] or "", match[2] or "", match[3] or ""))
            end = match.end()

    def expression(self, binds: int, depth: int) -> FormulaNode:
        """What stands here up to an operator that binds no tighter than `binds`."""
        if depth > MAX_NESTING:
            raise FormulaSyntaxError(self.text)
        left = self._read_operand(depth)
        while (sign := self._current_sign()) in OPERATOR_BINDING and OPERATOR_BINDING[sign] > binds:
            self.at += 1
            left = FormulaNode(sign, (left, self.expression(OPERATOR_BINDING[sign], depth + 1)))
        return left

    def _read_operand(self, depth: int) -> FormulaNode:
        number, name, sign = self.tokens[self.at] if self.at < len(self.tokens) else ("", "", "")
        self.at += 1
        if number and math.isfinite(float(number)):
            return FormulaNode(number, number=float(number))
        if name and self._current_sign() == "(":
            return self._read_call(name, depth)
        if name:
            return FormulaNode(name)
        if sign == "-":
            return FormulaNode("-", (self.expression(NEGATION_BINDING, depth + 1),))
        if sign == "(":
            inner = self.expression(0, depth + 1)
            self._expect_sign(")")
            return inner
        raise FormulaSyntaxError(self.text)

    def _read_call(self, name: str, depth: int) -> FormulaNode:
        self.at += 1
        arguments = [self.expression(0, depth + 1)]
        while self._current_sign() == ",":
            self.at += 1
            arguments.append(self.expression(0, depth + 1))
        self._expect_sign(")")
        if _FUNCTIONS.get(name) != len(arguments):
            raise FormulaSyntaxError(self.text)
        return FormulaNode(name, tuple(arguments))

    def _current_sign(self) -> str:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else ""

    def _expect_sign(self, sign: str) -> None:
        if self._current_sign() != sign:
            raise FormulaSyntaxError(self.text)
        self.at += 1
