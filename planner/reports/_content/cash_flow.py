"""Cash and effective cost of the recommended strategy, as sections of the readable report.

Every figure is a sum of the same rounded cells, so months, years, categories and both views agree to the unit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from planner.reports._content.number_format import (
    apportion,
    fiscal_start,
    format_money,
    in_words,
    month_name,
    month_range_name,
    split_total,
)
from planner.reports._content.sections import ReportTable, Section, make_table
from planner.request.calendar import name_fiscal_year, name_quarter
from planner.result import Plan, Strategy
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass

MONTHS_A_QUARTER, MONTHS_A_YEAR = 3, 12
LINE_WIDTH = 110
"""Characters for the periods of the first screen side by side."""
Cells = Mapping[tuple[int, str], int]
"""Whole units of money by month and category; 0 where there is none."""
NOTE = "Effective cost spreads commitments and hardware over the months they serve, payments after the plan included."


@dataclass(frozen=True, slots=True)
class CashViews:
    """Both views; `effective` is None where it equals the cash in every month, or is not in the plan.

    Payments after the plan's last month are in the month after it, which extends to `last`.
    """

    categories: tuple[str, ...]
    months: tuple[int, ...]
    last: int
    cash: Cells
    effective: Cells | None

    def line(self, cells: Cells, months: Iterable[int]) -> tuple[str, ...]:
        """The formatted total of some months, then of each category."""
        sums = [sum(cells[month, category] for month in months) for category in self.categories]
        return format_money(sum(sums)), *map(format_money, sums)


def cash_sections(plan: Plan, chosen: Strategy, *, in_full: bool) -> list[Section | None]:
    """Cash by month where the plan is a year or less, else both views by year; in full all of these that apply, and
    effective cost by month."""
    is_long = plan.months > MONTHS_A_YEAR
    by_month = monthly_cash_section(plan, chosen) if in_full or not is_long else None
    by_year = yearly_cash_section(plan, chosen) if is_long else None
    by_quarter = fiscal_quarters_section(plan, chosen)
    return [by_month, by_year, by_quarter, effective_cost_section(plan, chosen) if in_full else None]


def monthly_cash_section(plan: Plan, chosen: Strategy) -> Section:
    """Cash by category, with the effective cost in a second column where it differs."""
    flows = _cash_views(plan, chosen)
    rows = []
    for name, months in _month_rows(plan, flows):
        total, *categories = flows.line(flows.cash, months)
        effective_total = flows.line(flows.effective, months)[:1] if flows.effective else ()
        rows.append((name, total, *effective_total, *categories))
    titles = ("month", "total", *(["effective"] if flows.effective else []), *map(in_words, flows.categories))
    cash = make_table(titles, rows, range(1, len(titles)), has_total=True)
    return Section(_section_title("Cash by month", plan, chosen), (cash, NOTE) if flows.effective else (cash,))


def cash_periods_section(plan: Plan, chosen: Strategy) -> Section:
    """Both totals along the months of a plan of a year or less, else along the quarters of the fiscal years
    where they fit into a line, else along these years."""
    flows = _cash_views(plan, chosen)
    quarters, years = (_group_months(plan, flows, size) for size in (MONTHS_A_QUARTER, MONTHS_A_YEAR))
    periods = {_month_label(plan, flows, month): [month] for month in flows.months}
    title = "Cash by month"
    if plan.months > MONTHS_A_YEAR:
        fits = sum(len(name) + 2 for name in quarters) <= LINE_WIDTH
        periods, title = (quarters, "Cash by quarter") if fits else (years, "Cash by year")
    # without a label, twelve months fit side by side
    views = [("cash", flows.cash), ("effective", flows.effective)] if flows.effective else [("", flows.cash)]
    rows = [(name, *(flows.line(cells, months)[0] for months in periods.values())) for name, cells in views if cells]
    table = make_table(("", *periods), rows, range(1, len(periods) + 1))
    blocks: list[ReportTable | str] = [
        table,
        *([] if plan.fiscal_year_starts == 1 else [_fiscal_years_text(plan, flows, years)]),
    ]
    if title != "Cash by month":
        blocks.append("Each month: --section cash.")
    return Section(_section_title(title, plan, chosen), tuple(blocks))


def _fiscal_years_text(plan: Plan, flows: CashViews, years: Mapping[str, Sequence[int]]) -> str:
    """The cash of each fiscal year in a sentence, with its months in the plan where it has not all twelve."""
    parts = []
    for name, months in years.items():
        part = format_count(len(months), "month")
        missing = "" if len(months) == MONTHS_A_YEAR or "/" not in name else f" ({part})"
        parts.append(f"{name} {flows.line(flows.cash, months)[0]}{missing}")
    return f"Fiscal years from {fiscal_start(plan)}: {', '.join(parts)}."


def fiscal_quarters_section(plan: Plan, chosen: Strategy) -> Section:
    """Both totals by quarter and year of the fiscal year."""
    flows = _cash_views(plan, chosen)
    views = [flows.cash, *([flows.effective] if flows.effective else [])]

    def row(name: str, months: Sequence[int]) -> tuple[str, ...]:
        return name, str(len(months)), *(flows.line(cells, months)[0] for cells in views)

    quarters = _group_months(plan, flows, MONTHS_A_QUARTER)
    years = {name: its for name, its in _group_months(plan, flows, MONTHS_A_YEAR).items() if name not in quarters}
    rows = [row(name, months) for name, months in (*quarters.items(), *years.items())]
    rows.append(row("total", flows.months))
    titles = ("period", "months", "cash", *(["effective"] if flows.effective else []))
    starts = fiscal_start(plan)
    title = _section_title(f"Cash by fiscal quarter and year, from {starts}", plan, chosen)
    return Section(title, (make_table(titles, rows, range(1, len(titles)), has_total=True),))


def _group_months(plan: Plan, flows: CashViews, size: int) -> dict[str, list[int]]:
    """The months by name of their quarter or year; payments after the plan have their own."""
    name_period = name_quarter if size == MONTHS_A_QUARTER else name_fiscal_year
    periods: dict[str, list[int]] = {}
    for month in flows.months:
        is_after = month > plan.months
        name = _month_label(plan, flows, month) if is_after else name_period(plan.start, month, plan.fiscal_year_starts)
        periods.setdefault(name, []).append(month)
    return periods


def month_totals(plan: Plan, chosen: Strategy) -> tuple[dict[int, int], dict[int, int]]:
    """Cash and effective cost by month in whole units, as the tables have them; what is paid after the plan is in the
    month after it."""
    flows = _cash_views(plan, chosen)
    cash, effective = (
        {month: sum(cells[month, category] for category in flows.categories) for month in flows.months}
        for cells in (flows.cash, flows.effective or flows.cash)
    )
    return cash, effective


def yearly_cash_section(plan: Plan, chosen: Strategy) -> Section:
    """Both views by the fiscal year."""
    flows = _cash_views(plan, chosen)
    years = _group_months(plan, flows, MONTHS_A_YEAR)
    views = [("cash", flows.cash), *([("effective", flows.effective)] if flows.effective else [])]
    rows = [
        (name if view == "cash" else "", view, *flows.line(cells, months))
        for name, months in years.items()
        for view, cells in views
    ]
    rows.append(("total", "", *flows.line(flows.cash, flows.months)))
    titles = ("year", "view", "total", *map(in_words, flows.categories))
    both = make_table(titles, rows, range(2, len(titles)), has_total=True)
    same = "Effective cost is the same in every month: each month pays for its own use."
    notes = (NOTE,) if flows.effective else ((same,) if plan.views.effective else ())
    more = "The formats markdown, csv, json and xlsx have each month."
    return Section(_section_title("Cash and effective cost by year", plan, chosen), (both, " ".join([*notes, more])))


def effective_cost_section(plan: Plan, chosen: Strategy) -> Section | None:
    """Effective cost by category; None where it is the cash."""
    flows = _cash_views(plan, chosen)
    if flows.effective is None:
        return None
    rows = [(name, *flows.line(flows.effective, months)) for name, months in _month_rows(plan, flows)]
    titles = ("month", "total", *map(in_words, flows.categories))
    effective = make_table(titles, rows, range(1, len(titles)), has_total=True)
    return Section(_section_title("Effective cost by month", plan, chosen), (effective, NOTE))


def _month_rows(plan: Plan, flows: CashViews) -> list[tuple[str, Sequence[int]]]:
    """The months of each row: every month by its name, then all of them."""
    return [*((_month_label(plan, flows, month), (month,)) for month in flows.months), ("total", flows.months)]


def _cash_views(plan: Plan, chosen: Strategy) -> CashViews:
    after = plan.months + 1
    cash = [(min(row.month, after), row.category, row.amount) for row in chosen.cash]
    effective_rows = [
        (min(row.month, after), row.category, row.amount) for row in plan.views.effective if row.strategy == chosen.name
    ]
    categories = tuple(dict.fromkeys(str(category) for _, category, _ in cash))
    months = tuple(sorted({*range(1, after), *(month for month, _, _ in (*cash, *effective_rows))}))
    sums = [math.fsum(amount for _, its, amount in cash if its == category) for category in categories]
    # every cell below is a part of these, so that months, years and both views add up to the printed total
    wholes = dict(zip(categories, apportion(sums, chosen.total_cost), strict=True))
    starts = plan.fiscal_year_starts
    paid, effective = (
        _rounded_cells(rows, months, wholes, lambda month: name_fiscal_year(plan.start, month, starts))
        for rows in (cash, effective_rows)
    )
    return CashViews(
        categories,
        months,
        max([after, *(row.month for row in chosen.cash)]),
        paid,
        effective if effective_rows and effective != paid else None,
    )


def _rounded_cells(
    rows: Iterable[tuple[int, str, float]],
    months: tuple[int, ...],
    wholes: Mapping[str, int],
    year_of: Callable[[int], str],
) -> Cells:
    """Every month and category in whole units: the years of a category add up to its whole, and its months to them, so
    that a year too is less than a unit off."""
    sums: defaultdict[tuple[int, str], float] = defaultdict(float)
    for month, category, amount in rows:
        sums[month, category] += amount
    years = [tuple(its) for _, its in groupby(months, key=year_of)]
    cells: dict[tuple[int, str], int] = {}
    for category, whole in wholes.items():
        # first the years, then their months: rounding months alone would let a year drift by several units
        by_year = split_total(whole, [math.fsum(sums[month, category] for month in its) for its in years])
        for its, year in zip(years, by_year, strict=True):
            parts = split_total(year, [sums[month, category] for month in its])
            cells |= {(month, category): part for month, part in zip(its, parts, strict=True)}
    return cells


def _month_label(plan: Plan, flows: CashViews, month: int) -> str:
    return month_name(plan, month) if month <= plan.months else month_range_name(plan, month, flows.last)


def _section_title(title: str, plan: Plan, chosen: Strategy) -> str:
    return f"{title}, strategy {chosen.name}, {plan.currency}"
