"""Numbers as reports print them: rounded here and nowhere else, so that printed lines add up to their total."""

from __future__ import annotations

import calendar
import math
from collections.abc import Sequence

from planner.result import Plan
from pricing.money import rounded_shares

NO_VALUE = "-"
"""In place of an amount of zero and of a missing value."""


def apportion(amounts: Sequence[float], total: float | None = None) -> list[int]:
    """The amounts in whole units that add up to the rounded `total` (default: their sum), each less than one unit off.

    >>> apportion([0.4, 0.4, 0.4])
    [1, 0, 0]
    """
    difference = 0.0 if total is None else total - math.fsum(amounts)  # of the last bit: it may decide a half
    return [int(share) for share in rounded_shares([*amounts, difference], 0)[:-1]]


def split_total(whole: int, amounts: Sequence[float]) -> list[int]:
    """The amounts in whole units that add up to `whole`, which is less than one unit from their sum; each at most one
    unit off.

    >>> split_total(2, [0.4, 0.4, 0.4])
    [1, 1, 0]
    """
    # largest remainders: round down, then give the missing units to the parts that lost most
    parts = [math.floor(amount) for amount in amounts]
    by_remainder = sorted(range(len(parts)), key=lambda index: (parts[index] - amounts[index], index))
    for index in by_remainder[: whole - sum(parts)]:
        parts[index] += 1
    return parts


def split_both_ways(
    row_totals: Sequence[int], column_totals: Sequence[int], amounts: Sequence[Sequence[float]]
) -> list[list[int]]:
    """Cells in whole units that add up to both totals, which have the same sum and are a few units from the amounts.

    >>> split_both_ways((1, 1), (1, 1), ((0.5, 0.5), (0.5, 0.5)))
    [[1, 0], [0, 1]]
    """
    cells: list[list[int]] = []
    carried = [0.0] * len(column_totals)
    for total, row in zip(row_totals[:-1], amounts, strict=False):
        carried = [before + amount for before, amount in zip(carried, row, strict=True)]
        off = (total - math.fsum(carried)) / len(carried)
        parts = split_total(total, [amount + off for amount in carried])
        carried = [amount - part for amount, part in zip(carried, parts, strict=True)]
        cells.append(parts)
    return [*cells, [total - sum(row[column] for row in cells) for column, total in enumerate(column_totals)]]


def format_money(amount: float) -> str:
    """Whole units of money with thousands separators; a dash for zero.

    >>> format_money(1234567.8), format_money(-0.2), format_money(-1500)
    ('1,234,568', '-', '-1,500')
    """
    whole = round(amount)
    return f"{whole:,d}" if whole else NO_VALUE


def format_signed(amount: float, decimals: int = 0) -> str:
    """An amount with its sign; a dash where it rounds to zero.

    >>> format_signed(12.345, 2), format_signed(-0.2), format_signed(-1500)
    ('+12.35', '-', '-1,500')
    """
    return f"{amount:+,.{decimals}f}" if round(amount, decimals) else NO_VALUE


def format_number(value: float, digits: int = 4) -> str:
    """About `digits` significant digits, thousands separators, no trailing zeros.

    >>> [format_number(each) for each in (2920.0, 0.000123456, 12.3456, 1234567.0)]
    ['2,920', '0.0001235', '12.35', '1,234,567']
    """
    if abs(value) < 1e-12:  # beyond the decimals shown
        return "0"
    # the position of the first significant digit decides how many decimals show `digits` of them
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{min(decimals, 12)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_quantity(value: float) -> str:
    """Work, in millions and more where it is large: four digits matter.

    >>> format_quantity(4.38e9), format_quantity(125000.0), format_quantity(1e13)
    ('4.38 billion', '125,000', '10 trillion')
    """
    for scale, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if abs(value) >= scale:
            return f"{format_number(value / scale)} {word}"
    return format_number(value)


def format_percent(fraction: float, decimals: int = 1) -> str:
    """
    >>> format_percent(0.1234), format_percent(0.5)
    ('12.3 %', '50 %')
    """
    text = f"{fraction * 100:,.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + " %"


def format_unit_cost(cost_per_unit: float, unit: str) -> str:
    """Cost per unit of work, per thousand or million units where one unit costs less than a cent.

    >>> format_unit_cost(0.00000025, "tokens"), format_unit_cost(2.5, "samples")
    ('0.25 per million tokens', '2.5 per samples')
    """
    scale, word = unit_cost_scale(cost_per_unit)
    return f"{format_number(cost_per_unit * scale)} per {word}{unit}"


def unit_cost_scale(cost_per_unit: float) -> tuple[float, str]:
    """How many units to quote a cost for, and the word for it: 1, 1,000 or a million, so that a cent is reached.

    A saving, which is negative, is quoted as a cost of its size is.
    """
    for scale, word in ((1.0, ""), (1e3, "thousand ")):
        if abs(cost_per_unit) * scale >= 0.01:
            return scale, word
    return 1e6, "million "


def in_words(name: str) -> str:
    """A name of the plan's vocabulary for a reader.

    >>> in_words("cloud_support")
    'cloud support'
    """
    return name.replace("_", " ")


def month_name(plan: Plan, month: int) -> str:
    """The calendar name of a month of the plan, also of months past its end (commitments that outlast it)."""
    if 1 <= month <= len(plan.month_names):
        return plan.month_names[month - 1]
    year, first = (int(part) for part in plan.start.split("-"))
    index = year * 12 + first - 1 + month - 1
    return f"{index // 12}-{index % 12 + 1:02d}"


def fiscal_start(plan: Plan) -> str:
    """The month in which the fiscal year starts, in words."""
    return calendar.month_name[plan.fiscal_year_starts]


def plan_year_name(plan: Plan, year: int) -> str:
    """The months of a year of the plan: 1 is its first twelve, the last may be shorter."""
    return month_range_name(plan, 12 * year - 11, min(12 * year, plan.months))


def month_range_name(plan: Plan, first: int, last: int) -> str:
    """2026-12, or 2026-12..2027-05 for several."""
    names = month_name(plan, first), month_name(plan, last)
    return names[0] if first == last else f"{names[0]}..{names[1]}"
