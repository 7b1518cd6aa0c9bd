"""Cash and effective cost of the recommended strategy, as sections of the readable report.

Every figure is a sum of the same rounded cells, so months, years, categories and both views agree to the unit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from planner.answer import Plan, Strategy
from planner.reports._shared.figures import apportion, money, month_name, months_named, parts_of, year_named
from planner.reports._shared.sections import Section, table

MONTHS_A_YEAR = 12
Cells = Mapping[tuple[int, str], int]
"""Whole units of money by month and category; 0 where there is none."""
NOTE = "Effective: what is committed to or owned stands in the months it serves, what is owed after the plan too."


@dataclass(frozen=True, slots=True)
class Shown:
    """Both views; `effective` is None where no month bears another cost than it pays, or the plan does not tell it.

    What falls due after the plan's last month stands in the month after it, which reaches to `last`.
    """

    categories: tuple[str, ...]
    months: tuple[int, ...]
    last: int
    cash: Cells
    effective: Cells | None

    def line(self, cells: Cells, months: Iterable[int]) -> tuple[str, ...]:
        """The total of some months and its categories, as shown."""
        sums = [sum(cells[month, category] for month in months) for category in self.categories]
        return money(sum(sums)), *map(money, sums)


def cash_in_short(plan: Plan, chosen: Strategy) -> Section:
    """By month where the plan is a year or less, else by year."""
    return cash_by_year(plan, chosen) if plan.months > MONTHS_A_YEAR else cash_by_month(plan, chosen)


def cash_in_full(plan: Plan, chosen: Strategy) -> list[Section]:
    """Cash by month, both views by year where there is more than one, and effective cost by month."""
    found = [cash_by_month(plan, chosen)]
    if plan.months > MONTHS_A_YEAR:
        found.append(cash_by_year(plan, chosen))
    effective = effective_by_month(plan, chosen)
    return [*found, effective] if effective is not None else found


def cash_by_month(plan: Plan, chosen: Strategy) -> Section:
    """Cash by category, with the effective cost beside it where it is another."""
    shown = _shown(plan, chosen)
    rows = []
    for name, months in (*((_named(plan, shown, month), (month,)) for month in shown.months), ("total", shown.months)):
        total, *categories = shown.line(shown.cash, months)
        beside = shown.line(shown.effective, months)[:1] if shown.effective else ()
        rows.append((name, total, *beside, *categories))
    titles = ("month", "total", *(["effective"] if shown.effective else []), *_words(shown.categories))
    cash = table(titles, rows, range(1, len(titles)), has_total=True)
    return Section(_title("Cash by month", plan, chosen), (cash, NOTE) if shown.effective else (cash,))


def cash_by_year(plan: Plan, chosen: Strategy) -> Section:
    """Both views by year of the plan."""
    shown = _shown(plan, chosen)
    years: dict[str, list[int]] = {}
    for month in shown.months:
        is_in_plan = month <= plan.months
        name = year_named(plan, _year(month)) if is_in_plan else _named(plan, shown, month)
        years.setdefault(name, []).append(month)
    views = [("cash", shown.cash), *([("effective", shown.effective)] if shown.effective else [])]
    rows = [
        (name if view == "cash" else "", view, *shown.line(cells, months))
        for name, months in years.items()
        for view, cells in views
    ]
    rows.append(("total", "", *shown.line(shown.cash, shown.months)))
    titles = ("year", "view", "total", *_words(shown.categories))
    both = table(titles, rows, range(2, len(titles)), has_total=True)
    same = "Effective cost is the same in every month: each pays for what it uses."
    notes = (NOTE,) if shown.effective else ((same,) if plan.views.effective else ())
    more = "Each month stands in markdown, csv, json and xlsx."
    return Section(_title("Cash and effective cost by year", plan, chosen), (both, " ".join([*notes, more])))


def effective_by_month(plan: Plan, chosen: Strategy) -> Section | None:
    """Effective cost by category; None where it is the cash."""
    shown = _shown(plan, chosen)
    if shown.effective is None:
        return None
    rows = [(_named(plan, shown, month), *shown.line(shown.effective, (month,))) for month in shown.months]
    rows.append(("total", *shown.line(shown.effective, shown.months)))
    titles = ("month", "total", *_words(shown.categories))
    effective = table(titles, rows, range(1, len(titles)), has_total=True)
    return Section(_title("Effective cost by month", plan, chosen), (effective, NOTE))


def _shown(plan: Plan, chosen: Strategy) -> Shown:
    after = plan.months + 1
    cash = [(min(row.month, after), row.category, row.amount) for row in chosen.cash]
    borne = [
        (min(row.month, after), row.category, row.amount) for row in plan.views.effective if row.strategy == chosen.name
    ]
    categories = tuple(dict.fromkeys(str(category) for _, category, _ in cash))
    months = tuple(sorted({*range(1, after), *(month for month, _, _ in (*cash, *borne))}))
    sums = [math.fsum(amount for _, its, amount in cash if its == category) for category in categories]
    wholes = dict(zip(categories, apportion(sums, chosen.total_cost), strict=True))
    paid, effective = _cells(cash, months, wholes), _cells(borne, months, wholes)
    return Shown(
        categories,
        months,
        max([after, *(row.month for row in chosen.cash)]),
        paid,
        effective if borne and effective != paid else None,
    )


def _cells(rows: Iterable[tuple[int, str, float]], months: tuple[int, ...], wholes: Mapping[str, int]) -> Cells:
    """Every month and category in whole units: the years of a category add up to its whole, and its months to them, so
    that a year too is less than a unit off."""
    sums: defaultdict[tuple[int, str], float] = defaultdict(float)
    for month, category, amount in rows:
        sums[month, category] += amount
    years = [tuple(its) for _, its in groupby(months, key=_year)]
    cells: dict[tuple[int, str], int] = {}
    for category, whole in wholes.items():
        by_year = parts_of(whole, [math.fsum(sums[month, category] for month in its) for its in years])
        for its, year in zip(years, by_year, strict=True):
            parts = parts_of(year, [sums[month, category] for month in its])
            cells |= {(month, category): part for month, part in zip(its, parts, strict=True)}
    return cells


def _year(month: int) -> int:
    """The year of the plan that a month lies in."""
    return (month - 1) // MONTHS_A_YEAR + 1


def _named(plan: Plan, shown: Shown, month: int) -> str:
    return month_name(plan, month) if month <= plan.months else months_named(plan, month, shown.last)


def _words(categories: Iterable[str]) -> list[str]:
    return [category.replace("_", " ") for category in categories]


def _title(title: str, plan: Plan, chosen: Strategy) -> str:
    return f"{title}, strategy {chosen.name}, {plan.currency}"
