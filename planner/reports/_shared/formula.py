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
BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
NEGATION = 3
DEEPEST = 50


class NoFormula(ValueError):
    """The text is not of the grammar."""


@dataclass(frozen=True, slots=True)
class Node:
    """A number, a name, an operation on two sides (`-` on one is the opposite), or a function of its arguments."""

    text: str
    sides: tuple[Node, ...] = ()
    number: float | None = None

    @property
    def is_name(self) -> bool:
        return not self.sides and self.number is None


def parse(text: str) -> Node:
    """The formula as a tree. Raises NoFormula.

    >>> value(parse("2 * (rate + 1) ^ 2"), {"rate": 0.5})
    4.5
    """
    reader = _Reader(text)
    node = reader.expression(0, 0)
    if reader.at < len(reader.tokens):
        raise NoFormula(text)
    return node


def names(node: Node) -> frozenset[str]:
    """The figures that a formula reads."""
    if node.is_name:
        return frozenset((node.text,))
    return frozenset().union(*map(names, node.sides))


def value(node: Node, figures: Mapping[str, float]) -> float:
    """What the formula gives. Raises KeyError for a figure that is not there."""
    if node.number is not None:
        return node.number
    if node.is_name:
        return figures[node.text]
    sides = [value(side, figures) for side in node.sides]
    return _DOES[node.text, len(sides)](*sides)


def written(node: Node, cell: Callable[[str], str]) -> str:
    """The formula as spreadsheets write it, with `cell(name)` for each figure."""
    if node.is_name:
        return cell(node.text)
    sides = [written(side, cell) for side in node.sides]
    if not sides:
        return node.text
    if node.text in _FUNCTIONS:
        return f"{node.text}({','.join(sides)})"
    if len(sides) == 1:
        return f"(-{_within(node.sides[0], sides[0], BINDS['^'] + 1)})"
    binds = BINDS[node.text]
    left, right = node.sides
    tight = binds if node.text in "+*" else binds + 1  # a - (b - c), a / (b * c)
    return f"{_within(left, sides[0], binds)}{node.text}{_within(right, sides[1], tight)}"


def _within(side: Node, text: str, binds: int) -> str:
    is_operation = len(side.sides) == 2 and side.text in BINDS
    return f"({text})" if is_operation and BINDS[side.text] < binds else text


def _annuity(rate: float, periods: float, payment: float) -> float:
    """PV: worth now of a payment at the end of each period, with the sign turned."""
    return -payment * (periods if rate == 0 else -math.expm1(-periods * math.log1p(rate)) / rate)


_FUNCTIONS = {"MAX": 2, "PV": 3}
_DOES: dict[tuple[str, int], Callable[..., float]] = {
    ("+", 2): lambda a, b: a + b,
    ("-", 2): lambda a, b: a - b,
    ("*", 2): lambda a, b: a * b,
    ("/", 2): lambda a, b: a / b,
    ("^", 2): lambda a, b: float(a**b),
    ("-", 1): lambda a: -a,
    ("MAX", 2): max,
    ("PV", 3): _annuity,
}


@dataclass(slots=True)
class _Reader:
    """Reads by how tightly operators bind."""

    text: str
    at: int = 0
    tokens: list[tuple[str, str, str]] = field(init=False)

    def __post_init__(self) -> None:
        end, self.tokens, text = 0, [], self.text.rstrip()
        while end < len(text):
            match = TOKEN.match(text, end)
            if match is None:
                raise NoFormula(self.text)
            self.tokens.append((match[1] or "", match[2] or "", match[3] or ""))
            end = match.end()

    def expression(self, binds: int, depth: int) -> Node:
        """What stands here up to an operator that binds no tighter than `binds`."""
        if depth > DEEPEST:
            raise NoFormula(self.text)
        left = self._operand(depth)
        while (sign := self._sign()) in BINDS and BINDS[sign] > binds:
            self.at += 1
            left = Node(sign, (left, self.expression(BINDS[sign], depth + 1)))
        return left

    def _operand(self, depth: int) -> Node:
        number, name, sign = self.tokens[self.at] if self.at < len(self.tokens) else ("", "", "")
        self.at += 1
        if number and math.isfinite(float(number)):
            return Node(number, number=float(number))
        if name and self._sign() == "(":
            return self._call(name, depth)
        if name:
            return Node(name)
        if sign == "-":
            return Node("-", (self.expression(NEGATION, depth + 1),))
        if sign == "(":
            inner = self.expression(0, depth + 1)
            self._expect(")")
            return inner
        raise NoFormula(self.text)

    def _call(self, name: str, depth: int) -> Node:
        self.at += 1
        arguments = [self.expression(0, depth + 1)]
        while self._sign() == ",":
            self.at += 1
            arguments.append(self.expression(0, depth + 1))
        self._expect(")")
        if _FUNCTIONS.get(name) != len(arguments):
            raise NoFormula(self.text)
        return Node(name, tuple(arguments))

    def _sign(self) -> str:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else ""

    def _expect(self, sign: str) -> None:
        if self._sign() != sign:
            raise NoFormula(self.text)
        self.at += 1
