"""Behind `planner template`: a workbook with the columns of the spreadsheet reader, drop-down lists and an example.

A test reads the workbook back with `planner.inputs`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from typing import Any

from planner.cli._exit_codes import DONE
from planner.cli._terminal import print_remark
from planner.inputs.cell_grid import column_letters
from planner.library.file_problems import unwritable_file
from planner.request.errors import InputProblem, InvalidRequest
from pricing.catalog.adjusted_prices import select_for_plan
from pricing.catalog.price_catalog import Catalog
from pricing.clock import today
from pricing.file_replacement import write_atomically
from pricing.frozen_values import dataclass

ROWS = 500
"""The rows that lists and formats reach to."""
MONTHS_MAX = 60
HEADER_ROW = 4
CREATED = datetime(2026, 1, 1)  # noqa: DTZ001  (equal input gives equal bytes; workbooks know no zones)
LIST_SHEET = "Lists"
HEAD = {"bold": True, "bg_color": "#1F3864", "font_color": "white", "border": 1}
YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class TemplateColumn:
    """A column of the template: title, note, example value, and the values that cells accept."""

    title: str
    note: str
    example: Any = ""
    choices: tuple[str, ...] = ()
    is_number: bool = False
    number_format: str = ""


def _number_column(title: str, note: str, example: float | str = "") -> TemplateColumn:
    return TemplateColumn(title, note, example, is_number=True, number_format="#,##0.###")


def template_columns(accelerators: tuple[str, ...]) -> tuple[TemplateColumn, ...]:
    """The columns, in their order."""
    return (
        TemplateColumn("Workload", "A unique name. Required.", "(example) Support chat model"),
        TemplateColumn("Team", "The team that requests it.", "Support"),
        TemplateColumn("Kind", "The kind of work.", "training", ("training", "batch", "inference", "interactive")),
        TemplateColumn(
            "GPU", "The accelerator that the hours or the measurement refer to.", "H100-80GB-SXM", accelerators
        ),
        _number_column("GPUs", "Number of GPUs that run at once.", 8),
        _number_column("Hours / month (per GPU)", "Demand, one way: hours of each GPU; 730 is around the clock.", 200),
        _number_column("GPU-hours / month", "Demand, another way: hours of all GPUs together."),
        TemplateColumn(
            "Work / month", "Demand, another way: work with its unit, such as 1.5B tokens. Needs a throughput."
        ),
        TemplateColumn("Total work", "Demand, another way: all work with its unit, done by the deadline."),
        TemplateColumn("Deadline (month)", "For total work: a month (2027-03) or its number in the plan."),
        _number_column("Requests / s (mean)", "Demand, another way: the mean of the month, not the peak."),
        TemplateColumn(
            "Traffic pattern", "How requests spread over the day.", "", ("flat", "business hours", "day and evening")
        ),
        TemplateColumn("Measured throughput", "A rate with its unit, such as 10,643 tokens/s."),
        TemplateColumn(
            "Throughput per", "Whether the throughput is of one GPU or of the whole job.", "", ("per GPU", "whole job")
        ),
        TemplateColumn("Source", "Where the throughput was measured."),
        TemplateColumn("Interruptible?", "Whether it may run on spot capacity.", "yes", YES_NO),
        _number_column("Checkpoint (min)", "Minutes between checkpoints.", 20),
        _number_column("GPUs per job", "GPUs of one job, where several jobs share the GPUs."),
        _number_column("Memory per GPU (GB)", "Accelerator memory required per GPU.", 70),
        TemplateColumn("May be owned", "Whether it may run on owned hardware.", "", YES_NO),
        TemplateColumn("Data location", "Countries (DE) or blocs (EU) where it may run; empty: anywhere."),
        TemplateColumn("Provider", "The only clouds allowed; empty: any."),
        TemplateColumn("Region", "The only regions allowed; empty: any."),
        TemplateColumn(
            "Disaster recovery",
            "Readiness of a second place.",
            "",
            ("none", "pilot light", "warm standby", "active in two places"),
        ),
        TemplateColumn("Recovery place", "Provider and region of the second place, such as aws eu-north-1."),
        _number_column("Storage (GB)", "Stored data.", 4000),
        _number_column("Egress (GB / month)", "Data that leaves the cloud."),
        TemplateColumn("Growth / month", "Growth of the demand each month.", "", is_number=True, number_format="0.0%"),
        _number_column("Budget (USD / month)", "Budget per month."),
        TemplateColumn("Notes", "Free text.", "This example row is ignored; overwrite it or leave it."),
    )


def write_template(path: str, start: str | None, months: str | None, *, force: bool) -> int:
    """Write the workbook and return the exit code."""
    faults: list[InputProblem] = []
    number = int(months) if months and months.isdigit() else 0
    if months and (not months.isdigit() or number > MONTHS_MAX):
        faults.append(InputProblem("", "--months", "not valid", months, f"a whole number from 0 to {MONTHS_MAX}"))
    if start and not re.fullmatch(r"20\d\d-(?:0[1-9]|1[0-2])", start):
        faults.append(InputProblem("", "--start", "not valid", start, "a month: 2027-01"))
    target = Path(path)
    if target.suffix.casefold() != ".xlsx":
        faults.append(InputProblem("", "-o", "not a workbook", path, "a name that ends in .xlsx"))
    if target.exists() and not force:
        faults.append(InputProblem("", "-o", "the file already exists", path, "another name, or --force to replace it"))
    if faults:
        raise InvalidRequest(tuple(faults))
    try:
        write_atomically(target, build_workbook(tuple(_month_dates(start, number))))
    except OSError as error:
        raise InvalidRequest((unwritable_file(path, error),)) from None
    print_remark(f"wrote {path}: fill in the sheet Plan, then run planner estimate {path}")
    return DONE


def build_workbook(months: tuple[date, ...] = ()) -> bytes:
    """The empty workbook; equal months and catalogue give equal bytes."""
    import xlsxwriter

    catalog = select_for_plan(Catalog.embedded(), ())
    accelerators = tuple(sorted({offering.accelerator for offering in catalog.priced}))
    target = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(target, options)
    book.set_properties({"title": "GPU workloads to plan", "created": CREATED})
    plan, assumptions = book.add_worksheet("Plan"), book.add_worksheet("Assumptions")
    guide, lists = book.add_worksheet("How to fill in"), book.add_worksheet(LIST_SHEET)
    columns = template_columns(accelerators)
    _plan_sheet(book, plan, lists, columns, months)
    _assumption_sheet(book, assumptions)
    _guide_sheet(book, guide, columns, months)
    book.close()
    return target.getvalue()


def _plan_sheet(
    book: Any, sheet: Any, lists: Any, columns: tuple[TemplateColumn, ...], months: tuple[date, ...]
) -> None:
    head = book.add_format(HEAD | {"text_wrap": True})
    quiet = {"italic": True, "font_color": "#7F7F7F", "bg_color": "#F2F2F2"}
    text = book.add_format({"font_color": "#595959"})
    sheet.write_string(0, 0, "GPU workloads to plan", book.add_format({"bold": True, "font_size": 14}))
    sheet.write_string(
        1, 0, "One row per workload: a name, and one kind of demand. The grey row is an example and is ignored.", text
    )
    for index, column in enumerate(columns):
        entry = book.add_format({"font_color": "#0000FF", "num_format": column.number_format or "General"})
        longest = max(len(column.title), len(str(column.example)), *(len(choice) for choice in column.choices or ("",)))
        sheet.set_column(index, index, max(11, min(36, longest + 2)), entry)
        sheet.write_string(HEADER_ROW - 1, index, column.title, head)
        sheet.write_comment(HEADER_ROW - 1, index, column.note)
        sheet.write(HEADER_ROW, index, column.example, book.add_format(quiet))  # an empty text is written as blank
        if rule := _validation_rule(lists, index, column):
            sheet.data_validation(HEADER_ROW, index, HEADER_ROW + ROWS, index, rule)
    head_month = book.add_format(HEAD | {"num_format": "mmm yyyy"})
    if months:
        note = "Demand by month, another way: GPU-hours of all GPUs together."
        sheet.write_string(HEADER_ROW - 2, len(columns), "GPU-hours", book.add_format({"bold": True}))
        for offset, month in enumerate(months):
            sheet.write_datetime(HEADER_ROW - 1, len(columns) + offset, month, head_month)
        sheet.write_comment(HEADER_ROW - 1, len(columns), note)
    sheet.set_row(HEADER_ROW - 1, 34)
    sheet.freeze_panes(HEADER_ROW, 1)
    sheet.set_landscape()
    sheet.set_paper(8)  # A3
    sheet.fit_to_pages(3, 0)
    sheet.repeat_columns(0)
    sheet.repeat_rows(HEADER_ROW - 1)


def _validation_rule(lists: Any, index: int, column: TemplateColumn) -> dict[str, Any] | None:
    """The validation rule of a column; long lists of choices are on a separate sheet."""
    if column.choices:
        lists.write_string(0, index, column.title)
        for row, choice in enumerate(column.choices, start=1):
            lists.write_string(row, index, choice)
        letters = column_letters(index)
        source = f"={LIST_SHEET}!${letters}$2:${letters}${len(column.choices) + 1}"
        error = {"error_type": "stop", "error_message": "Please choose from the list."}
        if column.title == "GPU":
            error = {"error_type": "warning", "error_message": "Other spellings are read too."}
        return {"validate": "list", "source": source, "error_title": column.title, **error}
    if column.is_number:
        error = {"error_title": column.title, "error_message": "Please give a number of 0 or more."}
        return {"validate": "decimal", "criteria": ">=", "value": 0, **error}
    return None


def _assumption_sheet(book: Any, sheet: Any) -> None:
    head = book.add_format(HEAD)
    for index, (title, width) in enumerate((("Assumption", 34), ("Value", 14), ("Unit", 18), ("Source", 40))):
        sheet.set_column(index, index, width)
        sheet.write_string(0, index, title, head)
    sheet.freeze_panes(1, 0)


def _guide_sheet(book: Any, sheet: Any, columns: Iterable[TemplateColumn], months: tuple[date, ...]) -> None:
    bold = book.add_format({"bold": True})
    wrap = book.add_format({"text_wrap": True, "valign": "top"})
    sheet.set_column(0, 0, 26)
    sheet.set_column(1, 1, 90, wrap)
    lines = [
        ("What to do", "One row per workload on the sheet Plan. A column may stay empty or be deleted."),
        ("Demand", "Exactly one kind in a row: GPUs with hours, GPU-hours, work, total work, requests, or months."),
        ("Totals, notes", "Allowed below the rows; they are not planned, and totals are checked."),
        ("Assumptions", "Names as `planner estimate` prints them (electricity_price_per_kwh), each with a value."),
        ("Check it", "planner estimate --explain-input FILE prints how every column and row is read."),
    ]
    if months:
        lines.append(("Months", "GPU-hours by month; every month of the plan needs a number; a dash is zero."))
    for row, (title, text) in enumerate([*lines, ("", ""), *((c.title, c.note) for c in columns)]):
        sheet.write_string(row, 0, title, bold)
        sheet.write_string(row, 1, text, wrap)


def _month_dates(start: str | None, number: int) -> Iterable[date]:
    first = date.fromisoformat(f"{start}-01") if start else today()
    offset = 0 if start else 1
    for step in range(offset, offset + number):
        year, month = divmod(first.year * 12 + first.month - 1 + step, 12)
        yield date(year, month + 1, 1)
