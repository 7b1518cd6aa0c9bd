"""Computes simple formulas where a workbook stores no value: arithmetic, references, sums. All others are rejected.

A text or a blank cell in arithmetic is rejected, not read as zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from planner.inputs.cell_grid import CellValue, column_letters, parse_reference

DEPTH_MAX = 60
CELLS_MAX = 20_000
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<ref>(?:'(?:[^']|'')+'!|[^\W\d][\w.]*!)?\$?[A-Z]{1,3}\$?\d{1,7}(?::\$?[A-Z]{1,3}\$?\d{1,7})?)(?![\w(])"
    r"|(?P<name>[A-Za-z][A-Za-z0-9.]*)\(|(?P<sign>[-+*/^%(),;]))"
)
_REF = re.compile(r"(?:(?P<sheet>'(?:[^']|'')+'|[^\W\d][\w.]*)!)?(?P<first>[^:!]+)(?::(?P<last>.+))?")


class UnsupportedFormula(ValueError):
    """A formula that is not simple, or that refers to cells without numbers; the message is the reason."""


@dataclass(slots=True)
class Formulas:
    """The formulas and values of a workbook, by sheet and reference ("C5"). `value` computes one cell."""

    formulas: Mapping[str, Mapping[str, str]]
    stored: Callable[[str, str], CellValue]
    known: dict[tuple[str, str], float] = field(default_factory=dict)
    open: set[tuple[str, str]] = field(default_factory=set)
    cells_read: int = 0

    def value(self, sheet: str, reference: str) -> float:
        """The number that the formula of a cell gives. Raises UnsupportedFormula."""
        key = (sheet, reference)
        if key in self.known:
            return self.known[key]
        if key in self.open or len(self.open) > DEPTH_MAX:
            raise UnsupportedFormula("it refers to itself" if key in self.open else "it is nested too deep")
        self.open.add(key)
        try:
            result = _FormulaParser(self, sheet, self.formulas[sheet][reference]).result()
        finally:
            self.open.discard(key)
        if not math.isfinite(result):
            raise UnsupportedFormula("its result is not a number")
        self.known[key] = result
        return result

    def number_at(self, sheet: str, reference: str) -> float | None:
        """The number in a cell; None for a blank cell."""
        self.cells_read += 1
        if self.cells_read > CELLS_MAX:
            raise UnsupportedFormula("it refers to too many cells")
        if sheet not in self.formulas:
            raise UnsupportedFormula(f"there is no sheet {sheet!r}")
        value = self.stored(sheet, reference)
        if reference in self.formulas[sheet] and (value is None or value == 0):
            return self.value(sheet, reference)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UnsupportedFormula(f"{reference} is not a number")
        return float(value)


class _FormulaParser:
    """Parses one formula by recursive descent and computes it while parsing."""

    def __init__(self, book: Formulas, sheet: str, text: str) -> None:
        self.book, self.sheet = book, sheet
        self.tokens = _split_tokens(text)
        self.at = 0

    def result(self) -> float:
        value = self._parse_sum()
        if self.at < len(self.tokens):
            raise UnsupportedFormula(f"{self.tokens[self.at][1]!r} in it is not supported")
        return value

    def _peek_token(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def _accept_token(self, *signs: str) -> str:
        if self._peek_token() in signs and self._peek_token():
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def _parse_sum(self) -> float:
        value = self._parse_product()
        while sign := self._accept_token("+", "-"):
            value = value + self._parse_product() if sign == "+" else value - self._parse_product()
        return value

    def _parse_product(self) -> float:
        value = self._parse_power()
        while sign := self._accept_token("*", "/"):
            other = self._parse_power()
            if sign == "/" and other == 0:
                raise UnsupportedFormula("it divides by 0")
            value = value * other if sign == "*" else value / other
        return value

    def _parse_power(self) -> float:
        value = self._parse_signed()
        while self._accept_token("^"):
            try:
                value = float(value ** self._parse_signed())
            except (OverflowError, ZeroDivisionError, TypeError, ValueError):
                raise UnsupportedFormula("its power is not a number") from None
        return value

    def _parse_signed(self) -> float:
        if sign := self._accept_token("-", "+"):
            return -self._parse_signed() if sign == "-" else self._parse_signed()
        value = self._parse_atom()
        while self._accept_token("%"):
            value /= 100
        return value

    def _parse_atom(self) -> float:
        if self.at >= len(self.tokens):
            raise UnsupportedFormula("it is incomplete")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return float(text)
        if kind == "ref":
            cells = self._read_cells(text)
            if len(cells) != 1 or cells[0] is None:
                raise UnsupportedFormula(f"{text} is blank" if len(cells) == 1 else f"{text} is more than one cell")
            return cells[0]
        if kind == "name":
            return self._parse_call(text)
        if text == "(":
            value = self._parse_sum()
            if not self._accept_token(")"):
                raise UnsupportedFormula("a bracket is not closed")
            return value
        raise UnsupportedFormula(f"{text!r} in it is not supported")

    def _parse_call(self, name: str) -> float:
        function = FUNCTIONS.get(name.upper())
        if function is None:
            raise UnsupportedFormula(f"the function {name.upper()} is not supported")
        arguments: list[float] = []
        while not self._accept_token(")"):
            if self.at < len(self.tokens) and self.tokens[self.at][0] == "ref" and self._ends_argument(self.at + 1):
                self.at += 1
                arguments += [value for value in self._read_cells(self.tokens[self.at - 1][1]) if value is not None]
            else:
                arguments.append(self._parse_sum())
            if not self._accept_token(",", ";") and self._peek_token() != ")":
                raise UnsupportedFormula("a bracket is not closed")
        try:
            return function(arguments)
        except (ValueError, ZeroDivisionError, IndexError, TypeError):
            raise UnsupportedFormula(f"{name.upper()} has no numbers to work on") from None

    def _ends_argument(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at][1] in (",", ";", ")")

    def _read_cells(self, text: str) -> list[float | None]:
        match = _REF.fullmatch(text)
        first = parse_reference(match["first"]) if match else None
        last = parse_reference(match["last"]) if match and match["last"] else first
        if match is None or first is None or last is None:
            raise UnsupportedFormula(f"{text} is not a reference")
        sheet = match["sheet"] or self.sheet
        sheet = sheet[1:-1].replace("''", "'") if sheet.startswith("'") else sheet
        (left, right), (top, bottom) = sorted((first[0], last[0])), sorted((first[1], last[1]))
        if (bottom - top + 1) * (right - left + 1) > CELLS_MAX:
            raise UnsupportedFormula("it refers to too many cells")
        return [
            self.book.number_at(sheet, f"{column_letters(column - 1)}{row}")
            for row in range(top, bottom + 1)
            for column in range(left, right + 1)
        ]


FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "SUM": math.fsum,
    "PRODUCT": math.prod,
    "MIN": min,
    "MAX": max,
    "AVERAGE": lambda values: math.fsum(values) / len(values),
    "COUNT": lambda values: float(len(values)),
    "ABS": lambda values: abs(values[0]),
    "ROUND": lambda values: math.copysign(
        math.floor(abs(values[0]) * 10 ** int(values[1]) + 0.5) / 10 ** int(values[1]), values[0]
    ),
}
"""The supported functions. ROUND rounds a half away from zero, as spreadsheets do."""


def _split_tokens(text: str) -> list[tuple[str, str]]:
    called = re.findall(r"([A-Z][A-Z0-9.]*)\(", text.upper())
    if unknown := next((name for name in called if name not in FUNCTIONS), ""):
        raise UnsupportedFormula(f"the function {unknown} is not supported")
    tokens = []
    at = 0
    text = text.strip().removeprefix("=")
    while at < len(text.rstrip()):
        token = _TOKEN.match(text, at)
        if not token or token.lastgroup is None:
            raise UnsupportedFormula(f"{text[at : at + 12]!r} in it is not supported")
        tokens.append((token.lastgroup, token[token.lastgroup]))
        at = token.end()
    return tokens
