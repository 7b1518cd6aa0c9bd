"""The formulas of an audit trail: their grammar, and how they are read and computed. Part of the answer.

    sum      = product {("+" | "-") product}          function = "MAX(" sum "," sum ")"
    product  = signed {("*" | "/") signed}                     | "PV(" sum "," sum "," sum ")"
    signed   = "-" signed | power
    power    = operand {"^" operand}                  operand  = number | name | function | "(" sum ")"

Names are those of assumptions and offers, and hours_per_month. As in mathematics, -2 ^ 2 is -4; spreadsheets give 4.
PV(rate, periods, -1) is the annuity of one unit of money: its present value at the end of each period.
`planner.finance.symbolic` writes this grammar with the binding strengths below. A formula may come from a file, so
everything else is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from pricing.frozen_values import dataclass

SUM, PRODUCT, NEGATION, POWER, ATOM = 1, 2, 3, 4, 5
"""How tightly a text binds: one that binds less tightly than its place needs stands in brackets."""
OPERATOR_BINDING = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "^": POWER}
FUNCTIONS = {"MAX": 2, "PV": 3}
"""The number of arguments of each."""
TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][-+]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/^(),]))", re.ASCII)
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
    """The formula as a tree. Raises FormulaSyntaxError.

    >>> evaluate_formula(parse_formula("2 * (rate + 1) ^ 2"), {"rate": 0.5})
    4.5
    """
    reader = _FormulaReader(text)
    node = reader.expression(0, 0)
    if reader.at < len(reader.tokens):
        raise FormulaSyntaxError(text)
    return node


def referenced_names(node: FormulaNode) -> frozenset[str]:
    """The names that a formula reads."""
    if node.is_name:
        return frozenset((node.text,))
    return frozenset().union(*map(referenced_names, node.sides))


def evaluate_formula(
    node: FormulaNode, values: Mapping[str, Any], operations: Mapping[tuple[str, int], Callable[..., Any]] | None = None
) -> Any:
    """The value of a formula: a float; an array where `operations` are those of arrays and a value is one. Raises
    KeyError for a name without a value."""
    if node.number is not None:
        return node.number
    if node.is_name:
        return values[node.text]
    sides = [evaluate_formula(side, values, operations) for side in node.sides]
    return (operations or OPERATIONS)[node.text, len(sides)](*sides)


def _annuity_value(rate: float, periods: float, payment: float) -> float:
    """PV: the present value of a payment at the end of each period, with the opposite sign."""
    # expm1 and log1p keep the digits of a tiny rate, of which 1 - (1 + rate)^-n would lose all
    return -payment * (periods if rate == 0 else -math.expm1(-periods * math.log1p(rate)) / rate)


OPERATIONS: Mapping[tuple[str, int], Callable[..., float]] = {
    ("+", 2): lambda a, b: a + b,
    ("-", 2): lambda a, b: a - b,
    ("*", 2): lambda a, b: a * b,
    ("/", 2): lambda a, b: a / b,
    ("^", 2): lambda a, b: float(a**b),
    ("-", 1): lambda a: -a,
    ("MAX", 2): max,
    ("PV", 3): _annuity_value,
}
"""On numbers, by the sign or the function and how many sides it has."""


@dataclass(slots=True)
class _FormulaReader:
    """Reads a formula by precedence climbing: an operator takes what binds more tightly to its right."""

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
        """The expression from here to an operator that binds no tighter than `binds`."""
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
            return FormulaNode("-", (self.expression(NEGATION, depth + 1),))
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
        if FUNCTIONS.get(name) != len(arguments):
            raise FormulaSyntaxError(self.text)
        return FormulaNode(name, tuple(arguments))

    def _current_sign(self) -> str:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else ""

    def _expect_sign(self, sign: str) -> None:
        if self._current_sign() != sign:
            raise FormulaSyntaxError(self.text)
        self.at += 1
