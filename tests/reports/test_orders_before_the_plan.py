"""Hardware that is ordered before the plan: its payment has a month and a column of its own in every report."""

from __future__ import annotations

import csv
import io

import openpyxl
import pytest

from planner.application import plan
from planner.reports import csv as csv_report
from planner.reports import text, xlsx
from planner.request.models import parse_request
from pricing.catalog.price_catalog import Catalog

BOX = {"name": "my box", "accelerator": "H100-80GB-SXM", "accelerators": 8, "price": 200_000, "max_power_kw": 10}
DEMAND = {"accelerator_hours_per_month": 5000, "accelerator": "H100"}
REQUEST = {
    "as_of": "2026-11-21", "start": "2031-01", "months": 30, "strategies": ["cloud", "onprem"], "systems": [BOX],
    "workloads": [{"name": "job", "kind": "training", "gang": 8, "demand": DEMAND}],
    "providers": ["aws"], "regions": ["us-east-1"], "assumptions": {"price_of_8x_h100_server": 10_000_000},
    "limits": {"purchase_options": ["on_demand"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def early():
    found = plan(parse_request(REQUEST), Catalog.embedded())
    assert found.recommendation.strategy == "onprem"
    return found


def test_the_workbook_computes_what_it_stores(early, sheets):
    """Eight months of lead time: the order of month -7, 2030-05, has its column, and every formula of the sheets that
    add it up gives the stored value."""
    data = xlsx.render(early)
    book, computed = openpyxl.load_workbook(io.BytesIO(data), data_only=True), sheets.Sheets(data)
    for name in ("Payments", "Cash flow", "Owning", "Effective cost", "Summary", "Checks"):
        numbers = 0
        for row in book[name].iter_rows():
            for cell in row:
                if isinstance(cell.value, int | float):
                    value = computed.value(name, cell.coordinate)
                    assert value == pytest.approx(cell.value, rel=1e-9, abs=1e-6), (name, cell.coordinate)
                    numbers += 1
        assert numbers > 5, name
    heads = [cell for row in book["Cash flow"].iter_rows(max_row=5, values_only=True) for cell in row]
    assert "2030-05" in heads
    assert -7 in heads


def test_the_report_and_the_table_name_the_month(early):
    printed = text.render(early).decode()
    assert "2030-05" in printed
    rows = list(csv.DictReader(io.StringIO(csv_report.render(early).decode())))
    (paid,) = [row for row in rows if row["kind"] == "cash" and row["category"] == "hardware"]
    assert (paid["month"], paid["month_name"]) == ("-7", "2030-05")
