"""Cash by quarter and year of the fiscal year, against sums by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.analysis.financial_views.effective_cost import sum_fiscal_quarters
from planner.application import plan
from planner.reports._content.report_outline import list_sections
from planner.reports.text import section_lines
from planner.request.calendar import month_index, name_fiscal_year, name_month, name_quarter
from planner.result import CashRow, Strategy
from planner.result.financial_views import EffectiveCost

T4 = ("aws", "us-east-1", "g4dn.xlarge")
BY_THE_HOUR = {(*T4, "on_demand"): 2.0}
BY_HAND = [
    ("FY26/27", 3, "2026-12", "2026-12", 20),
    ("FY26/27", 4, "2027-01", "2027-03", 180),
    ("FY27/28", 1, "2027-04", "2027-06", 360),
    ("FY27/28", 2, "2027-07", "2027-09", 540),
    ("FY27/28", 3, "2027-10", "2027-11", 460),
]
"""Month k costs 20 k: 20 | 40 + 60 + 80 | 100 + 120 + 140 | 160 + 180 + 200 | 220 + 240."""


def rising(ask, hours, **settings):
    """10 hours at 2 in the first month, 20 in the second ..., from 2026-12."""
    job = hours("T4", [10 * month for month in range(1, 13)])
    return ask(job, start="2026-12", strategies=["cloud"], regions=["us-east-1"], **settings)


def test_quarters_of_a_fiscal_year_from_april(priced, ask, hours):
    found = plan(rising(ask, hours, fiscal_year_starts=4), priced(BY_THE_HOUR))
    quarters = found.views.fiscal_quarters
    assert found.fiscal_year_starts == 4
    assert [(q.fiscal_year, q.quarter, q.first_month, q.last_month) for q in quarters] == [row[:4] for row in BY_HAND]
    assert [q.cash for q in quarters] == pytest.approx([row[4] for row in BY_HAND])
    assert [q.effective for q in quarters] == pytest.approx([row[4] for row in BY_HAND])


def test_the_report_has_them_with_their_years(priced, ask, hours):
    found = plan(rising(ask, hours, fiscal_year_starts=4), priced(BY_THE_HOUR))
    lines = [line.split() for section in list_sections(found, ["cash"]) for line in section_lines(section)]
    quarters = {f"{year}-Q{number}": amount for year, number, *_, amount in BY_HAND}
    for period, amount in {**quarters, "FY26/27": 200, "FY27/28": "1,360", "total": "1,560"}.items():
        assert any(line[:1] == [period] and str(amount) in line for line in lines), (period, lines)


def test_a_calendar_year_is_the_default(priced, ask, hours):
    """2026: 20; 2027: 1,540, of which the last quarter has October and November, 460."""
    quarters = plan(rising(ask, hours), priced(BY_THE_HOUR)).views.fiscal_quarters
    assert [(q.fiscal_year, q.quarter) for q in quarters] == [("2026", 4), *(("2027", n) for n in (1, 2, 3, 4))]
    assert [q.cash for q in quarters] == pytest.approx([20, 180, 360, 540, 460])


def test_the_month_it_starts_in_changes_no_decision(priced, ask, hours):
    first, second = (plan(rising(ask, hours, **more), priced(BY_THE_HOUR)) for more in ({}, {"fiscal_year_starts": 7}))
    assert first.strategies == second.strategies
    assert first.content_digest == second.content_digest


@given(st.integers(1, 12), st.integers(1, 12), st.integers(-30, 150))
def test_names_are_those_of_the_calendar_shifted(first: int, starts: int, month: int) -> None:
    """A fiscal year has twelve months from the month it starts in, and its quarters three each."""
    start = f"2026-{first:02d}"
    index = month_index(name_month(start, month))
    offset = (index - (starts - 1)) % 12
    year = (index - offset) // 12
    name = str(year) if starts == 1 else f"FY{year % 100:02d}/{(year + 1) % 100:02d}"
    assert name_fiscal_year(start, month, starts) == name
    assert name_quarter(start, month, starts) == f"{name}-Q{offset // 3 + 1}"


@given(st.integers(1, 12), st.lists(st.integers(0, 900), min_size=1, max_size=40))
def test_quarters_add_up(starts: int, amounts: list[int]) -> None:
    cash = tuple(CashRow(month, "end", "on_demand", "a node", amount) for month, amount in enumerate(amounts, start=1))
    effective = [EffectiveCost("cloud", row.month, "on_demand", row.amount) for row in cash]
    total = math.fsum(amounts)
    strategy = Strategy("cloud", "optimal", total, total, total, 0.0, cash=cash)
    quarters = sum_fiscal_quarters(strategy, effective, "2026-12", len(amounts), starts)
    assert math.fsum(q.cash for q in quarters) == math.fsum(amounts)
    assert len({(q.fiscal_year, q.quarter) for q in quarters}) == len(quarters)
