"""Energy and carbon, disaster recovery, and build or call: the same figures in text, CSV and workbook."""

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

REQUEST = {
    "as_of": "2026-11-21", "start": "2026-12", "months": 2, "strategies": ["cloud"], "providers": ["aws"],
    "regions": ["us-east-1", "eu-north-1"], "limits": {"purchase_options": ["on_demand"]},
    "workloads": [{
        "name": "chat", "kind": "inference", "unit": "tokens", "gang": 8, "accelerators": ["H100"],
        "demand": {"accelerator_hours_per_month": 5_840, "accelerator": "H100"},
        "recovery": {"level": "warm_standby", "place": "aws eu-north-1"},
    }],
    "call_prices": [{
        "workload": "chat", "name": "a vendor", "input_per_million": 0, "output_per_million": 2,
        "output_tokens_per_unit": 9_000_000, "source": "quote 41", "as_of": "2026-11-18",
    }],
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return plan(parse_request(REQUEST), Catalog.embedded())


@pytest.fixture(scope="module")
def book(found):
    return openpyxl.load_workbook(io.BytesIO(xlsx.render(found)), data_only=True)


def rows_of(book, name: str) -> list[tuple]:
    """The rows of a list, below its header."""
    rows = [tuple(row) for row in book[name].iter_rows(values_only=True) if any(cell is not None for cell in row)]
    head = next(index for index, row in enumerate(rows) if len([cell for cell in row if cell]) > 2)
    return rows[head + 1 :]


def test_emissions_are_the_same_everywhere(found, book):
    """One node a place: 6,333.4362 kWh a month, 2,400.81 kg in us-east-1 and 55.73 kg in eu-north-1."""
    emitted = found.strategy("cloud").emissions
    assert [(row.month, row.region, round(row.carbon_kg, 2)) for row in emitted] == [
        (1, "eu-north-1", 55.73), (1, "us-east-1", 2400.81), (2, "eu-north-1", 55.73), (2, "us-east-1", 2400.81),
    ]  # fmt: skip
    table = csv.DictReader(io.StringIO(csv_report.render(found).decode("utf-8-sig")))
    written = [row for row in table if row["kind"] == "emission" and row["measure"] == "carbon_kg"]
    assert [float(row["value"]) for row in written] == pytest.approx([row.carbon_kg for row in emitted])
    assert {row["currency"] for row in written} == {""}
    sheet = rows_of(book, "Emissions")
    assert [row[7] for row in sheet] == pytest.approx([row.carbon_kg for row in emitted])
    assert "aws us-east-1" in text.render_sections(found).decode()


def test_levels_of_recovery_are_rows(found, book):
    sheet = rows_of(book, "Recovery")
    assert [(row[0], row[2], row[3], row[4]) for row in sheet] == [
        ("chat", "pilot light", "no", 0), ("chat", "warm standby", "yes", 1), ("chat", "active in two places", "no", 1),
    ]  # fmt: skip
    assert [row[5] for row in sheet] == pytest.approx([row.cost_added for row in found.recovery], abs=0.005)
    assert "warm standby *" in text.render_sections(found).decode()


def test_a_price_of_calls_is_a_row(found, book):
    """9,000,000 tokens for each of 5,840 accelerator-hours at 2 a million: 105,120 a month; own 40,179.20 + 42,991.74
    with the standby."""
    [row] = rows_of(book, "Build or call")
    assert row[:2] == ("chat", "a vendor")
    assert row[8] == pytest.approx(2 * 105_120)
    assert row[7] == pytest.approx(2 * 730 * (55.04 + 58.8928), abs=0.01)
    shown = text.render_sections(found).decode()
    assert "chat: running it costs less than calling (a vendor)" in " ".join(shown.split())
