"""Figures that remember how they were computed: the functions that make payments write their own formulas.

A Traced is a float with the text of its formula over named figures. Whatever adds, multiplies or raises it gives a
Traced again; what rounds, compares or converts it takes the plain value, so lengths of time and choices stay as they
are. Knows no payments and no workbook.

Texts: names, numbers, + - * / ^ ( ), MAX(a, b) and PV(rate, periods, -1), the annuity of one unit of money.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

ATOM, POWER, PRODUCT, SUM = 4, 3, 2, 1
"""How tightly a text binds: what binds less than its place asks for stands in brackets."""


class Untraceable(ValueError):
    """Two growths in one figure: its formula has no single growth by month."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The yearly rate, by name, that a figure of `month` has grown by: (1 + rate)^((month - 1) / 12)."""

    rate: str
    month: int


class Traced(float):
    """A value with the formula it came from. `growth` is kept apart: the text is that of the figure in month 1.

    It is true even where it is 0: a payment of nothing now is one once its figures change.
    """

    __slots__ = ("binds", "growth", "text", "ungrown")
    text: str
    binds: int
    growth: Growth | None
    ungrown: float

    def __new__(
        cls, value: float, text: str, binds: int = ATOM, growth: Growth | None = None, ungrown: float | None = None
    ) -> Self:
        """`ungrown` is the value in month 1, `value` where nothing grows."""
        traced = super().__new__(cls, value)
        traced.text, traced.binds, traced.growth = text, binds, growth
        traced.ungrown = float(value) if ungrown is None else float(ungrown)
        return traced

    def __bool__(self) -> bool:
        return True

    def __add__(self, other: float) -> float:
        return self if _is(other, 0) else _sum(self, "+", other)

    def __radd__(self, other: float) -> float:
        return self if _is(other, 0) else _sum(other, "+", self)

    def __sub__(self, other: float) -> float:
        return self if _is(other, 0) else _sum(self, "-", other)

    def __rsub__(self, other: float) -> float:
        return _sum(other, "-", self)

    def __mul__(self, other: float) -> float:
        return self if _is(other, 1) else 0.0 if _is(other, 0) else _product(self, "*", other)

    def __rmul__(self, other: float) -> float:
        return self if _is(other, 1) else 0.0 if _is(other, 0) else _product(other, "*", self)

    def __truediv__(self, other: float) -> float:
        return self if _is(other, 1) else _product(self, "/", other)

    def __rtruediv__(self, other: float) -> float:
        return 0.0 if _is(other, 0) else _product(other, "/", self)

    def __neg__(self) -> float:
        return Traced(-float(self), f"-{_within(self, PRODUCT)}", PRODUCT, self.growth, -self.ungrown)

    def __pow__(self, exponent: float, _modulus: None = None) -> float:
        if self.growth is not None:
            raise Untraceable(self.text)
        return Traced(float(self) ** float(exponent), f"{_within(self, ATOM)} ^ {_within(exponent, ATOM)}", POWER)


def text_of(figure: float) -> str:
    """The formula of a figure; a number for one that has none."""
    return figure.text if isinstance(figure, Traced) else _number(figure)


def power(base: float, exponent: float) -> float:
    """base ^ exponent for a base above 0, traced where the base is."""
    raised: float = base**exponent
    return raised


def larger(one: float, other: float) -> float:
    """The larger of two, traced where one of them is: MAX keeps both sides."""
    if not isinstance(one, Traced) and not isinstance(other, Traced):
        return max(one, other)
    _no_growth(one, other)
    return Traced(max(float(one), float(other)), f"MAX({text_of(one)}, {text_of(other)})")


def grown(rate_annual: float, month: int) -> float:
    """What a figure of the first month is multiplied by in `month`: (1 + rate)^((month - 1) / 12)."""
    factor = float((1 + float(rate_annual)) ** ((month - 1) / 12))
    if isinstance(rate_annual, Traced):
        return Traced(factor, "1", ATOM, Growth(rate_annual.text, month), 1.0)
    return factor


def annuity(rate: float, periods: int) -> float:
    """Present worth of one unit of money at the end of each of `periods`: (1 - (1 + r)^-n) / r; n where r is 0."""
    # by expm1, of which a tiny r would else leave nothing
    value = float(periods) if rate == 0 else -math.expm1(-periods * math.log1p(rate)) / float(rate)
    if isinstance(rate, Traced):
        _no_growth(rate)
        return Traced(value, f"PV({rate.text}, {periods}, -1)")
    return value


def _is(figure: float, number: int) -> bool:
    return not isinstance(figure, Traced) and figure == number


def _number(figure: float) -> str:
    text = repr(int(figure)) if float(figure).is_integer() and abs(figure) < 1e15 else repr(float(figure))
    return f"({text})" if figure < 0 else text


def _within(figure: float, binds: int) -> str:
    return f"({figure.text})" if isinstance(figure, Traced) and figure.binds < binds else text_of(figure)


def _growth(figure: float) -> Growth | None:
    return figure.growth if isinstance(figure, Traced) else None


def _ungrown(figure: float) -> float:
    return figure.ungrown if isinstance(figure, Traced) else figure


def _no_growth(*figures: float) -> None:
    if any(_growth(figure) is not None for figure in figures):
        raise Untraceable(", ".join(map(text_of, figures)))


def _sum(left: float, sign: str, right: float) -> float:
    """Both sides must have grown alike."""
    if _growth(left) != _growth(right):
        raise Untraceable(f"{text_of(left)} {sign} {text_of(right)}")
    times = 1 if sign == "+" else -1
    text = f"{_within(left, SUM)} {sign} {_within(right, SUM if sign == '+' else PRODUCT)}"
    value, ungrown = float(left) + times * float(right), _ungrown(left) + times * _ungrown(right)
    return Traced(value, text, SUM, _growth(left), ungrown)


def _product(left: float, sign: str, right: float) -> float:
    """One side at most may have grown, and no divisor."""
    grows = _growth(left) or _growth(right)
    if (_growth(left) and _growth(right)) or (sign == "/" and _growth(right)):
        raise Untraceable(f"{text_of(left)} {sign} {text_of(right)}")
    if sign == "*":
        value, ungrown = float(left) * float(right), _ungrown(left) * _ungrown(right)
        if "1" in (texts := [text_of(left), text_of(right)]):  # the factor of growth, whose text is that of month 1
            other = right if texts[0] == "1" else left
            binds = other.binds if isinstance(other, Traced) else ATOM
            return Traced(value, text_of(other), binds, grows, ungrown)
        return Traced(value, f"{_within(left, PRODUCT)} * {_within(right, PRODUCT)}", PRODUCT, grows, ungrown)
    text = f"{_within(left, PRODUCT)} / {_within(right, POWER)}"
    return Traced(float(left) / float(right), text, PRODUCT, grows, _ungrown(left) / _ungrown(right))
