"""Sheets made up: any separator, encoding and way to write numbers, workbooks with all that people put in them.

Whatever they hold, the answer is a Read that adds up; and what it holds is a request, or refused with words and places.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.application import process_document
from planner.inputs.file_reader import read
from planner.inputs.sheet_options import SheetOptions
from planner.request.errors import InvalidRequest
from planner.supply.validation import validate_request
from pricing.catalog.price_catalog import Catalog

HEADERS = (
    "Workload", "Job name", "Team", "Kind", "GPU", "GPUs", "GPU type", "Nodes", "GPUs per node", "Hours",
    "Hours per day", "GPU-hours", "GPU-hours / month", "Utilisation", "Utilisation (% of hours)", "Growth",
    "Tokens/s per GPU", "Per", "Unit", "Tokens (B)", "B tokens/month", "Requests per second", "Units per request",
    "Deadline", "Dec-26", "2027-01", "01/2027", "Month 1", "Month 2", "Jan", "Q1", "3/4/2027", "Memory per GPU (GB)",
    "Storage (TB)", "Budget (EUR)", "Max spend per month", "Interruptible", "Region", "Residency", "Precision",
    "Daily shape", "Notes", "Demand", "", "Month", "Checkpoint (min)",
)  # fmt: skip
CELLS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([

        "", "A", "b", "training", "inference", "H100", "8x H100", "A100 80GB", "L4:2", "TPU v5e", "1,234.5",
        "1.234,5", "1.234", "1 234", "1'234", "45%", "0.45", "$2,000.00", "€3", "CHF 4", "kr 5", "(300)", "24/7",
        "1.5B tokens", "20 GPU-hours/day", "yes", "no", "n/a", "-", "2027-03", "3/4/2027", "31.12.2026", "Dec-26",
        "per GPU", "whole job", "tokens", "GPU-hours", "Total", "Sum", "#REF!", "=1+1", "flat", "office hours",
        "eu-west-1", "EU", "bf16", "Included", "3-4", "\u00a0", "x" * 300,
    ]),
    st.integers(-3, 10_000), st.floats(allow_nan=False, allow_infinity=False, width=32), st.booleans(),
    st.dates(date(2025, 1, 1), date(2029, 1, 1)), st.text(max_size=6),
)  # fmt: skip
ROW = st.lists(CELLS, max_size=9)
HEADER = st.lists(st.sampled_from(HEADERS), min_size=1, max_size=9)
TITLES = st.lists(st.lists(st.sampled_from(["", "GPU plan 2027", "Draft", "EUR", "2026"]), max_size=3), max_size=3)
GRID = st.builds(
    lambda titles, over, header, rows: [*titles, *over, header, *rows],
    TITLES, st.lists(HEADER, max_size=1), HEADER, st.lists(ROW, max_size=7),
)  # fmt: skip
FORMULAS = st.sampled_from(
    ["=A1", "=SUM(A1:C9)", "=1/0", "=B2*C2", "=NOW()", "=-(1)", "=Other!A1", "={1,2}", "='[b.xlsx]S'!A1", "=((((1"]
)
STORED = st.sampled_from(["", 0, 5, "#N/A", "x", True])
NUMBER_FORMATS = ("0%", "[$€-407]#,##0", "mmm-yy", '"kr"0', "General")
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "utf-32"])
ENOUGH, MANY = settings.default.max_examples, 1_500
QUICK = settings(max_examples=ENOUGH)
THOROUGH = settings(QUICK, max_examples=MANY)


def text_sheet(rows: list[list[Any]], separator: str, encoding: str, end: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=end).writerows(rows)
    return text.getvalue().encode(encoding, "replace")


def workbook(data: st.DataObject) -> bytes:
    """A workbook with merged, hidden, formatted, wrong and computed cells."""
    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"in_memory": True, "nan_inf_to_errors": True}) as book:
        for number in range(data.draw(st.integers(1, 2), "sheets")):
            sheet = book.add_worksheet(
                data.draw(st.sampled_from(["", f"Plan {number}", f"Assumptions {number}"]), "name")
            )
            formats = [
                book.add_format({"num_format": each}) for each in ("0%", "[$€-407]#,##0", "mmm-yy", '"kr"0', "General")
            ]
            for row, cells in enumerate(data.draw(GRID, "grid")):
                for column, value in enumerate(cells):
                    style = data.draw(st.sampled_from(formats)) if not isinstance(value, str) else None
                    write = sheet.write_datetime if isinstance(value, date) else sheet.write
                    write(row, column, value, style)
            for _ in range(data.draw(st.integers(0, 2), "formulas")):
                where = data.draw(st.tuples(st.integers(0, 9), st.integers(0, 8)))
                sheet.write_formula(
                    *where, data.draw(FORMULAS), None, data.draw(st.sampled_from(["", 0, 5, "#N/A", "x", True]))
                )
            if data.draw(st.booleans(), "merged"):
                top, left = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5))
                sheet.merge_range(
                    top, left, top + data.draw(st.integers(1, 3)), left + 1, data.draw(st.sampled_from(HEADERS))
                )
            for row in data.draw(st.lists(st.integers(0, 9), max_size=2), "hidden"):
                sheet.set_row(row, None, None, {"hidden": True})
            if data.draw(st.booleans(), "column hidden"):
                sheet.set_column(1, 2, None, None, {"hidden": True})
            if number:
                sheet.hide()
    return target.getvalue()


def holds(data: bytes, name: str, choices: SheetOptions, catalog: Catalog) -> None:
    found = read(data, name, choices)
    inputs = found.inputs
    assert inputs.rows_used + len(inputs.rows_refused) == inputs.rows_in
    assert found.complaints or found.document["workloads"]
    assert all(row.reason and row.place for row in inputs.rows_refused)
    try:
        wrong = process_document(
            {"as_of": "2026-11-21", **found.document},
            catalog,
            lambda request: validate_request(request, catalog),
            found.complaints,
            found.places,
        )
    except InvalidRequest as refused:
        wrong = refused.complaints
    assert all(complaint.message and (complaint.place or complaint.path) for complaint in (*found.complaints, *wrong))


SEPARATORS, ENDS = st.sampled_from([",", ";", "\t", "|", "^"]), st.sampled_from(["\n", "\r\n", "\r"])
ORDERS = st.sampled_from(["", "dmy", "mdy"])


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.embedded()


def a_text_sheet(catalog: Catalog, rows: Any, separator: str, encoding: str, end: str, dates: str) -> None:
    holds(text_sheet(rows, separator, encoding, end), "x.csv", SheetOptions(dates=dates), catalog)


def a_document(catalog: Catalog, as_ods: Callable[..., bytes], rows: Any, dates: str) -> None:
    plain = [
        [cell if isinstance(cell, int | float) and not isinstance(cell, bool) else str(cell) for cell in row]
        for row in rows
    ]
    clean = [
        ["".join(c for c in cell if c.isprintable()) if isinstance(cell, str) else cell for cell in row]
        for row in plain
    ]
    holds(as_ods(clean), "x.ods", SheetOptions(dates=dates), catalog)


TEXT = given(rows=GRID, separator=SEPARATORS, encoding=ENCODINGS, end=ENDS, dates=ORDERS)
BOOK = given(data=st.data(), dates=ORDERS)
DOCUMENT = given(rows=GRID, dates=ORDERS)


@QUICK
@TEXT
def test_text_sheets(catalog: Catalog, rows: Any, separator: str, encoding: str, end: str, dates: str) -> None:
    a_text_sheet(catalog, rows, separator, encoding, end, dates)


@QUICK
@BOOK
def test_workbooks(catalog: Catalog, data: st.DataObject, dates: str) -> None:
    holds(workbook(data), "x.xlsx", SheetOptions(dates=dates), catalog)


@QUICK
@DOCUMENT
def test_documents(catalog: Catalog, as_ods: Callable[..., bytes], rows: Any, dates: str) -> None:
    a_document(catalog, as_ods, rows, dates)


@pytest.mark.slow
@THOROUGH
@TEXT
def test_many_text_sheets(catalog: Catalog, rows: Any, separator: str, encoding: str, end: str, dates: str) -> None:
    a_text_sheet(catalog, rows, separator, encoding, end, dates)


@pytest.mark.slow
@THOROUGH
@BOOK
def test_many_workbooks(catalog: Catalog, data: st.DataObject, dates: str) -> None:
    holds(workbook(data), "x.xlsx", SheetOptions(dates=dates), catalog)


@pytest.mark.slow
@THOROUGH
@DOCUMENT
def test_many_documents(catalog: Catalog, as_ods: Callable[..., bytes], rows: Any, dates: str) -> None:
    a_document(catalog, as_ods, rows, dates)
