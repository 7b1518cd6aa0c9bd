"""Symbolic values: floats with the formula that they were computed by, so that payments write their own formulas.

A SymbolicValue is a float with the text of its formula over named values. Adding, multiplying or raising it gives a
SymbolicValue again; rounding, comparing or converting it gives a plain number, so lengths of time and choices do not
become formulas. This module knows no payments and no workbook.

Texts: names, numbers, + - * / ^ ( ), MAX(a, b) and PV(rate, periods, -1), the annuity of one unit of money.
"""

from __future__ import annotations

import math
from typing import Self

from planner.result.formulas import ATOM, POWER, PRODUCT, SUM
from pricing.frozen_values import dataclass


class SymbolicError(ValueError):
    """Two growth rates in one value: its formula has no single growth by month."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The yearly growth rate, by name, of a value in `month`: (1 + rate)^((month - 1) / 12)."""

    rate: str
    month: int


class SymbolicValue(float):
    """A value with its formula. The text is the formula in month 1; `growth` has its growth until the value's month.

    It is true even where it is 0: a payment of 0 stays in the plan, as its inputs may be changed.
    """

    __slots__ = ("binds", "growth", "text", "ungrown")
    text: str
    binds: int
    growth: Growth | None
    ungrown: float

    def __new__(
        cls, value: float, text: str, binds: int = ATOM, growth: Growth | None = None, ungrown: float | None = None
    ) -> Self:
        """`ungrown` is the value in month 1; default: `value`."""
        symbolic = super().__new__(cls, value)
        symbolic.text, symbolic.binds, symbolic.growth = text, binds, growth
        symbolic.ungrown = float(value) if ungrown is None else float(ungrown)
        return symbolic

    def __bool__(self) -> bool:
        return True

    def __add__(self, other: float) -> float:
        return self if _equals_constant(other, 0) else _combine_sum(self, "+", other)

    def __radd__(self, other: float) -> float:
        return self if _equals_constant(other, 0) else _combine_sum(other, "+", self)

    def __sub__(self, other: float) -> float:
        return self if _equals_constant(other, 0) else _combine_sum(self, "-", other)

    def __rsub__(self, other: float) -> float:
        return _combine_sum(other, "-", self)

    def __mul__(self, other: float) -> float:
        return (
            self
            if _equals_constant(other, 1)
            else 0.0
            if _equals_constant(other, 0)
            else _combine_product(self, "*", other)
        )

    def __rmul__(self, other: float) -> float:
        return (
            self
            if _equals_constant(other, 1)
            else 0.0
            if _equals_constant(other, 0)
            else _combine_product(other, "*", self)
        )

    def __truediv__(self, other: float) -> float:
        return self if _equals_constant(other, 1) else _combine_product(self, "/", other)

    def __rtruediv__(self, other: float) -> float:
        return 0.0 if _equals_constant(other, 0) else _combine_product(other, "/", self)

    def __neg__(self) -> float:
        return SymbolicValue(-float(self), f"-{_bracket_operand(self, PRODUCT)}", PRODUCT, self.growth, -self.ungrown)

    def __pow__(self, exponent: float, _modulus: None = None) -> float:
        if self.growth is not None:
            raise SymbolicError(self.text)
        return SymbolicValue(
            float(self) ** float(exponent),
            f"{_bracket_operand(self, ATOM)} ^ {_bracket_operand(exponent, ATOM)}",
            POWER,
        )


def formula_text(figure: float) -> str:
    """The formula of a value; its number where it has none."""
    return figure.text if isinstance(figure, SymbolicValue) else _format_number(figure)


def power(base: float, exponent: float) -> float:
    """base ^ exponent for a base above 0, symbolic where the base is."""
    raised: float = base**exponent
    return raised


def larger_of(one: float, other: float) -> float:
    """The larger of two, symbolic where one of them is: MAX has both sides."""
    if not isinstance(one, SymbolicValue) and not isinstance(other, SymbolicValue):
        return max(one, other)
    _forbid_growth(one, other)
    return SymbolicValue(max(float(one), float(other)), f"MAX({formula_text(one)}, {formula_text(other)})")


def growth_factor(rate_annual: float, month: int) -> float:
    """The factor from the first month to `month`: (1 + rate)^((month - 1) / 12)."""
    factor = float((1 + float(rate_annual)) ** ((month - 1) / 12))
    if isinstance(rate_annual, SymbolicValue):
        return SymbolicValue(factor, "1", ATOM, Growth(rate_annual.text, month), 1.0)
    return factor


def annuity_factor(rate: float, periods: int) -> float:
    """Present value of one unit of money at the end of each of `periods`: (1 - (1 + r)^-n) / r; n where r is 0."""
    # expm1 and log1p: with a tiny rate, 1 - (1 + r)^-n would lose all its digits.
    value = float(periods) if rate == 0 else -math.expm1(-periods * math.log1p(rate)) / float(rate)
    if isinstance(rate, SymbolicValue):
        _forbid_growth(rate)
        return SymbolicValue(value, f"PV({rate.text}, {periods}, -1)")
    return value


def _equals_constant(figure: float, number: int) -> bool:
    return not isinstance(figure, SymbolicValue) and figure == number


def _format_number(figure: float) -> str:
    text = repr(int(figure)) if float(figure).is_integer() and abs(figure) < 1e15 else repr(float(figure))
    return f"({text})" if figure < 0 else text


def _bracket_operand(figure: float, binds: int) -> str:
    return f"({figure.text})" if isinstance(figure, SymbolicValue) and figure.binds < binds else formula_text(figure)


def _growth_of(figure: float) -> Growth | None:
    return figure.growth if isinstance(figure, SymbolicValue) else None


def _first_month_value(figure: float) -> float:
    return figure.ungrown if isinstance(figure, SymbolicValue) else figure


def _forbid_growth(*figures: float) -> None:
    if any(_growth_of(figure) is not None for figure in figures):
        raise SymbolicError(", ".join(map(formula_text, figures)))


def _combine_sum(left: float, sign: str, right: float) -> float:
    """Both sides must have the same growth."""
    if _growth_of(left) != _growth_of(right):
        raise SymbolicError(f"{formula_text(left)} {sign} {formula_text(right)}")
    times = 1 if sign == "+" else -1
    text = f"{_bracket_operand(left, SUM)} {sign} {_bracket_operand(right, SUM if sign == '+' else PRODUCT)}"
    value, ungrown = float(left) + times * float(right), _first_month_value(left) + times * _first_month_value(right)
    return SymbolicValue(value, text, SUM, _growth_of(left), ungrown)


def _combine_product(left: float, sign: str, right: float) -> float:
    """One side at most may have grown, and no divisor."""
    grows = _growth_of(left) or _growth_of(right)
    if (_growth_of(left) and _growth_of(right)) or (sign == "/" and _growth_of(right)):
        raise SymbolicError(f"{formula_text(left)} {sign} {formula_text(right)}")
    if sign == "*":
        value, ungrown = float(left) * float(right), _first_month_value(left) * _first_month_value(right)
        if "1" in (
            texts := [formula_text(left), formula_text(right)]
        ):  # the factor of growth, whose text is that of month 1
            other = right if texts[0] == "1" else left
            binds = other.binds if isinstance(other, SymbolicValue) else ATOM
            return SymbolicValue(value, formula_text(other), binds, grows, ungrown)
        return SymbolicValue(
            value, f"{_bracket_operand(left, PRODUCT)} * {_bracket_operand(right, PRODUCT)}", PRODUCT, grows, ungrown
        )
    text = f"{_bracket_operand(left, PRODUCT)} / {_bracket_operand(right, POWER)}"
    return SymbolicValue(
        float(left) / float(right), text, PRODUCT, grows, _first_month_value(left) / _first_month_value(right)
    )
