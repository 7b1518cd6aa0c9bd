"""The workbook as it is printed: pages of the five review sheets, and no amount that is wider than its column."""

from __future__ import annotations

import io
from datetime import date

import openpyxl
import pytest

from planner.application import plan
from planner.reports.xlsx import render
from planner.reports.xlsx.review_sheets import REVIEW_SHEETS
from planner.request.models import parse_request
from pricing.catalog.price_catalog import NO_RATE_CARD, Catalog
from pricing.exchange_rates import ExchangeRate, ExchangeRates

PAGES_MAX = 8


@pytest.fixture(scope="module")
def rupiah():
    """Three years of two teams in rupiah, 15,700 a dollar, with a server of one's own: amounts of ten digits."""
    base = Catalog.embedded()
    rates = ExchangeRates((ExchangeRate("USD", "IDR", 15_700, date(2026, 11, 20), "a bank"),))
    jobs = [
        {"name": "train", "team": "Research", "kind": "training", "gang": 8, "budget_per_month": 400_000_000,
         "demand": {"accelerator_hours_per_month": 5000, "accelerator": "H100"}},
        {"name": "serve", "team": "Recommendations", "kind": "inference",
         "demand": {"accelerator_hours_per_month": 1460, "accelerator": "L4"}},
    ]  # fmt: skip
    asked = {"as_of": "2026-11-21", "start": "2026-12", "months": 36, "currency": "IDR", "providers": ["aws"]}
    found = plan(parse_request({**asked, "workloads": jobs}), Catalog(base.layout, base._cache, rates, NO_RATE_CARD))
    return found, openpyxl.load_workbook(io.BytesIO(render(found)), data_only=True)


@pytest.mark.slow
def test_a_review_takes_eight_pages_at_most(rupiah):
    """Each review sheet is fitted to the pages that it may take, whatever is on it, and they come first."""
    _, book = rupiah
    assert tuple(book.sheetnames[: len(REVIEW_SHEETS)]) == REVIEW_SHEETS
    fits = [book[name].page_setup for name in REVIEW_SHEETS]
    assert all(book[name].sheet_properties.pageSetUpPr.fitToPage for name in REVIEW_SHEETS)
    pages = [[1 if side is None else int(side) for side in (fit.fitToWidth, fit.fitToHeight)] for fit in fits]
    assert all(across > 0 and down > 0 for across, down in pages)  # 0: as many as it takes
    assert sum(across * down for across, down in pages) <= PAGES_MAX
    assert all(book[name].print_area for name in REVIEW_SHEETS)


@pytest.mark.slow
def test_no_amount_is_wider_than_its_column(rupiah):
    """An amount of money has two decimals and room for a bracket: what does not fit is shown as ###."""
    found, book = rupiah
    assert found.strategy("cloud").total_cost > 1e9
    seen = 0
    for sheet in book:
        widths = {
            column: each.width
            for each in sheet.column_dimensions.values()
            for column in range(each.min or 1, (each.max or 1) + 1)
        }
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, int | float) and "#,##0.00_)" in cell.number_format:
                    assert len(f"{cell.value:,.2f}") + 1 <= widths[cell.column], (sheet.title, cell.coordinate)
                    seen += abs(cell.value) > 1e9
    assert seen > 100


@pytest.mark.slow
def test_shares_are_per_cent_and_machines_whole(rupiah):
    found, book = rupiah
    sheet = book["Assumptions"]
    formats = {row[0].value: row[2].number_format for row in sheet.iter_rows(min_row=5) if row[0].value}
    assert formats["discount_rate_annual"].endswith("%")
    assert not formats["lead_time_months"].endswith("%")
    orders = [row[1].value for row in book["Orders"].iter_rows(min_row=5) if row[0].value]
    assert any(f"{purchase.count} x {purchase.name}" in text for purchase in found.strategy(
        found.recommendation.strategy).purchases for text in orders)  # fmt: skip


def test_the_headline_is_told_as_the_workbook_stands(rupiah, sheets):
    """It costs what the inputs make of it, and says when the other strategy has become the cheaper one."""
    found, _ = rupiah
    book = sheets.Sheets(render(found))
    chosen = found.strategy(found.recommendation.strategy)
    told = book.value("Summary", "A2")
    assert f"Recommended as planned: {chosen.name}. It now costs {chosen.total_cost:,.0f} IDR" in told
    assert told.endswith(f"less than {found.recommendation.runner_up}.")
    rows = {row[0].value: row[0].row for row in book.book["Assumptions"].iter_rows(min_row=5)}
    price = next(f"C{rows[name]}" for name in rows if name and name.startswith("price_of_8x_h100"))
    book.edit("Assumptions", price, 20 * book.value("Assumptions", price))
    assert "Inputs are changed, choices are not." in book.value("Summary", "A2")
