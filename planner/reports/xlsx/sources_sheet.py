"""The sheet Sources: where the request, the prices, the rates and every other figure came from, with their dates.

Every refused row is listed, and the meaning of each column of a sheet; the sheet As read has the value of each cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date

from planner.reports._content.evidence import price_age_text
from planner.reports._content.number_format import in_words
from planner.reports.xlsx.checks_sheet import WorkbookCheck
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, Formula, WorkbookSheet
from planner.result import Plan

WIDTHS = (32, 18, 12, 12, 12, 64, 32)
_CELL = re.compile(r"(?P<sheet>.*!)(?P<column>[A-Z]{1,3})\d+|line \d+ (?P<counted>column \d+)")


def write(sheet: WorkbookSheet, plan: Plan) -> WorkbookCheck:
    """Writes the sheet; rows used + rows refused, as a formula over what is listed, against rows in."""
    inputs = plan.inputs
    sheet.widths(WIDTHS)
    sheet.heading("Sources", "Rows in = rows used + rows refused; every refused row is listed with its reason.")
    facts: list[tuple[str, Cell]] = [
        ("input", inputs.name),
        ("format", inputs.format),
        ("sha256", inputs.sha256),
        ("rows in", inputs.rows_in),
        ("rows used", inputs.rows_used),
        ("rows refused", len(inputs.rows_refused)),
        ("cells read", len(inputs.readings)),
        ("oldest price", price_age_text(plan)),
        ("catalogue digest", plan.catalog_digest),
        ("plan", plan.plan_id),
        ("content digest", plan.content_digest),
        ("schema version", plan.schema_version),
        *(
            (f"candidates, {s.name}", f"{s.candidates:,d}, of these {s.pruned:,d} pruned: proven to be dominated")
            for s in plan.strategies
        ),
    ]
    sheet.header(("what", "value"), stays=False)  # other lists with other heads follow below
    sheet.freeze(HEADER_ROW)
    for row, (label, value) in enumerate(facts, start=HEADER_ROW + 1):
        sheet.put(row, 0, label)
        sheet.put(row, 1, value, "text" if isinstance(value, str) else "count")
    used = HEADER_ROW + 1 + [label for label, _ in facts].index("rows used")
    row = HEADER_ROW + len(facts) + 1
    notes = [f"note: {note}" for note in inputs.notes]
    for text in (*notes, *(f"convention: {convention}" for convention in plan.conventions)):
        sheet.put_across(row, len(WIDTHS), text, "wrap")
        row += 1
    first, refused = row + 2, len(inputs.rows_refused)
    listed = f"+COUNT({sheet.column(0, first, first + refused - 1)})" if refused else ""
    accounted = Formula(f"={sheet.address(used, 1)}{listed}", inputs.rows_used + refused)
    row += 1
    tables = (_refused_row_table, _column_table, _price_table, _rate_table, _basis_table, _assumption_table)
    for heads, styles, rows in (make_table(plan) for make_table in tables):
        if not rows:
            continue
        for column, head in enumerate(heads):
            if head:
                sheet.put(row, column, head, "header")
        for line, cells in enumerate(rows, start=row + 1):
            sheet.put_row(line, cells, styles)
        row += len(rows) + 2
    return WorkbookCheck("rows used + rows refused = rows in", accounted, inputs.rows_in, 0)


SourceTable = tuple[Sequence[str], Sequence[str], Sequence[Sequence[Cell]]]
"""Heads, styles and rows of a list."""


def _refused_row_table(plan: Plan) -> SourceTable:
    """Number, place and reason, with the text that was read in the wide column between them."""
    heads = ("refused row", "place", "", "", "", "text read", "reason")
    rows = [
        (number, row.place, None, None, None, row.read, row.reason)
        for number, row in enumerate(plan.inputs.rows_refused, start=1)
    ]
    return heads, ("count", "wrap", "text", "text", "text", "wrap", "wrap"), rows


def _column_table(plan: Plan) -> SourceTable:
    """How the columns of a sheet were understood; a document has none."""
    cells: dict[str, Counter[str]] = {}
    for reading in plan.inputs.readings if plan.inputs.rows_in else ():
        if match := _CELL.fullmatch(reading.place):
            column = match["counted"] or f"{match['sheet']}{match['column']}"
            fields = cells.setdefault(column, Counter())
            fields[re.sub(r"\[\d+\]", "", reading.path).removeprefix("workloads.")] += 1
    rows = [
        (column, fields.total(), None, None, None, ", ".join(sorted(fields)), None)
        for column, fields in sorted(cells.items(), key=lambda item: _column_sort_key(item[0]))
    ]
    heads = ("column of the input", "cells read", "", "", "", "understood as", "")
    return heads, ("text", "count", "text", "text", "text", "wrap", "text"), rows


def _column_sort_key(column: str) -> tuple[str, int, str]:
    """Plan!B before Plan!AA, column 9 before column 10."""
    sheet, _, letters = column.rpartition("!")
    return (sheet, len(letters), letters)


def _price_table(plan: Plan) -> SourceTable:
    """By source: the prices used, and the number of offers compared whose least price is from it."""
    used: dict[str, list[date]] = {}
    words: dict[str, str] = {}
    for price in plan.prices:
        used.setdefault(price.source_id, []).append(price.as_of)
        words[price.source_id] = price.source
    offers = Counter(one.source_id for one in plan.considered if one.provider and one.source_id)
    compared: dict[str, list[date]] = {}
    for one in plan.considered:
        if one.provider and one.as_of is not None:
            compared.setdefault(one.source_id, []).append(one.as_of)
    rows = []
    for source in sorted({*used, *compared}, key=lambda source: (source not in used, source)):
        dates = used.get(source) or compared[source]
        cells = (source, len(used.get(source, ())), offers[source] or None, min(dates), max(dates))
        rows.append((*cells, words.get(source, "only offers compared, none used"), None))
    heads = ("source of prices", "prices used", "offers compared", "oldest", "newest", "description of the source", "")
    return heads, ("wrap", "count", "count", "date", "date", "wrap", "text"), rows


def _rate_table(plan: Plan) -> SourceTable:
    rows = [
        (f"{rate.from_currency} to {rate.to_currency}", rate.value, None, rate.as_of, None, rate.source, None)
        for rate in plan.exchange_rates
    ]
    heads = ("exchange rate", "rate", "", "of", "", "from", "")
    return heads, ("text", "rate", "text", "date", "text", "wrap", "text"), rows


def _basis_table(plan: Plan) -> SourceTable:
    """By basis, how many throughputs rest on it and for which workloads."""
    rows = []
    for basis in sorted({used.basis for used in plan.throughput}):
        its = [used for used in plan.throughput if used.basis == basis]
        workloads = sorted({used.workload for used in its})
        rows.append((in_words(basis), len(its), None, None, None, ", ".join(workloads), None))
    heads = ("basis of throughput", "throughputs", "", "", "", "for the workloads", "")
    return heads, ("wrap", "count", "text", "text", "text", "wrap", "text"), rows


def _assumption_table(plan: Plan) -> SourceTable:
    """By source, the assumptions that rest on it."""
    names: dict[str, list[str]] = {}
    dates: dict[str, list[date]] = {}
    for assumption in plan.assumptions:
        source = "given in the request" if assumption.overridden else assumption.source
        names.setdefault(source, []).append(assumption.name)
        dates.setdefault(source, []).append(assumption.as_of)
    rows = [
        (", ".join(its), len(its), None, min(dates[source]), max(dates[source]), source, None)
        for source, its in names.items()
    ]
    heads = ("assumptions", "how many", "", "oldest", "newest", "source", "")
    return heads, ("wrap", "count", "text", "date", "date", "wrap", "text"), rows
