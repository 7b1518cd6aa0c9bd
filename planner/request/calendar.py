"""The months of a plan, and what a demand is in each of them."""

from __future__ import annotations

from calendar import monthrange
from functools import lru_cache

from planner.request.models import Demand, Request


def month_names(request: Request) -> tuple[str, ...]:
    """Calendar names of the plan's months: from `start`, by default the month after `as_of`."""
    first = month_index(request.start) if request.start else request.as_of.year * 12 + request.as_of.month
    return _list_months(first, request.months)


@lru_cache
def _list_months(first: int, months: int) -> tuple[str, ...]:
    return tuple(f"{index // 12}-{index % 12 + 1:02d}" for index in range(first, first + months))


def name_month(first: str, month: int) -> str:
    """The calendar name of a month counted from 1, the month `first`; 0 and less are before it.

    >>> name_month("2026-12", 2), name_month("2026-12", 0)
    ('2027-01', '2026-11')
    """
    index = month_index(first) + month - 1
    return f"{index // 12}-{index % 12 + 1:02d}"


def name_fiscal_year(first: str, month: int, starts: int = 1) -> str:
    """The fiscal year of a month counted from 1, the month `first`, by both its years: companies name it by either.

    >>> name_fiscal_year("2026-12", 1, starts=4), name_fiscal_year("2026-12", 1)
    ('FY26/27', '2026')
    """
    year = (month_index(first) + month - starts) // 12
    return str(year) if starts == 1 else f"FY{year % 100:02d}/{(year + 1) % 100:02d}"


def name_quarter(first: str, month: int, starts: int = 1) -> str:
    """The quarter of a month counted from 1, the month `first`, of the fiscal year that begins in the month `starts`.

    >>> name_quarter("2026-12", 12), name_quarter("2026-12", 1, starts=4)
    ('2027-Q4', 'FY26/27-Q3')
    """
    of_year = (month_index(first) + month - starts) % 12
    return f"{name_fiscal_year(first, month, starts)}-Q{of_year // 3 + 1}"


def order_ahead_months(request: Request) -> int:
    """The months between the first day of a month that is not before `as_of`, on which an order can go out, and the
    first month of the plan; below 0 where the plan starts before."""
    day = request.as_of
    next_first = day.year * 12 + day.month - (day.day == 1)
    return month_index(month_names(request)[0]) - next_first


def days_of_month(name: str) -> int:
    """The days of a month: 28 of 2027-02."""
    return monthrange(int(name[:4]), int(name[5:7]))[1]


def month_index(name: str) -> int:
    """A calendar month (2026-12) as a number that counts months."""
    year, month = name.split("-")
    return int(year) * 12 + int(month) - 1


def monthly_values(demand: Demand, names: tuple[str, ...]) -> tuple[float, ...]:
    """The stated value for every month of the plan. Raises KeyError with the months that have none."""
    value = demand.monthly
    if isinstance(value, dict):
        if missing := [name for name in names if name not in value]:
            raise KeyError(", ".join(missing))
        return tuple(value[name] for name in names)
    if isinstance(value, list):
        if len(value) < len(names):
            raise KeyError(", ".join(names[len(value) :]))
        return tuple(value[: len(names)])
    assert value is not None
    return tuple(value * (1 + demand.growth_per_month) ** index for index in range(len(names)))


def resolve_deadline(demand: Demand, names: tuple[str, ...]) -> int | None:
    """The month of the plan (from 1) by whose end total work is due; None where it is outside the plan."""
    deadline = demand.deadline_month
    if isinstance(deadline, str):
        return names.index(deadline) + 1 if deadline in names else None
    return deadline if deadline is not None and deadline <= len(names) else None
