"""How tables were understood, column by column; mapped columns that are missing; why a file has no workloads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.inputs.cell_grid import GridRow, InputSheet
from planner.inputs.notation.units import (
    BYTES,
    normalize_text,
    parse_byte_unit,
    parse_header_money_factor,
    parse_minute_unit,
    parse_period,
    parse_rate_basis,
    parse_rate_seconds,
    parse_work_unit,
)
from planner.inputs.parsed_file import ColumnInterpretation, TableInterpretation
from planner.inputs.reading_log import ReadingLog
from planner.inputs.sheet_options import IGNORE, SheetOptions, expected_names, normalize_title
from planner.inputs.spreadsheet.column_meanings import REQUIRED_DEMAND, RULE_USER_MAPPING, SheetColumn, match_meaning
from planner.inputs.spreadsheet.table_detection import SheetTable
from planner.inputs.spreadsheet.table_pivoting import RULE_MONTH_ROWS
from planner.request.errors import InputProblem

KNOWN_EXPORTS = (
    ("a FOCUS billing export", {"billedcost", "chargeperiodstart"}),
    ("an AWS cost and usage report", {"line_item_usage_start_date", "line_item_usage_type"}),
    ("an Azure cost export", {"metercategory", "costinbillingcurrency"}),
)
REQUIRED_NAME = "a name (workload, job)"
METRIC_LABELS = {"accelerator_hours": "accelerator-hours", "requests_per_second": "requests per second"}
CANCELLED_WORDS = frozenset(
    {"cancelled", "canceled", "rejected", "declined", "dropped", "on hold", "obsolete", "withdrawn"}
)
"""Values of an unused column that suggest that a row should not be planned."""
SIZE_MEANINGS = ("memory", "storage", "egress")
METRIC_MEANINGS = frozenset({"month", "by_month", "amount", "hours", "units_per_month", "total_units", *METRIC_LABELS})


def describe_table(table: SheetTable, options: SheetOptions, layout: str) -> TableInterpretation:
    """The columns of a table in their order, including the unused ones."""
    columns = [
        ColumnInterpretation(c.header.place, c.header.text, c.was or c.month or c.meaning, describe_unit(c), c.rule)
        for c in table.columns
        if c.rule != RULE_MONTH_ROWS
    ]
    columns += [
        ColumnInterpretation(c.place, c.text, "", "", _unused_reason(c.text, table, options)) for c in table.passed_over
    ]
    order = {cell.place: index for index, cell in enumerate(table.header.cells)}
    columns.sort(key=lambda column: order.get(column.place, len(order)))
    return TableInterpretation(table.sheet.name, table.header.place, tuple(columns), layout)


def describe_unit(column: SheetColumn) -> str:
    """The unit of a column, for people; empty where its header has none."""
    metric = column.metric
    if column.meaning == "throughput":
        seconds = {1.0: "second", 60.0: "minute", 3600.0: "hour"}.get(parse_rate_seconds(column.words) or 0.0, "")
        rate = f"{parse_work_unit(column.words)} per {seconds}" if seconds else parse_work_unit(column.words)
        basis = parse_rate_basis(column.words)
        return ", ".join(part for part in (rate, f"per {basis}" if basis else "") if part)
    if column.meaning in SIZE_MEANINGS:
        unit_bytes = parse_byte_unit(column.words)
        return next((name.upper().replace("I", "i") for name, size in BYTES.items() if size == unit_bytes), "")
    if column.meaning.endswith("_minutes"):
        return {1.0: "minutes", 60.0: "hours", 1 / 60: "seconds"}.get(parse_minute_unit(column.words) or 0.0, "")
    if column.meaning == "budget":
        scale = parse_header_money_factor(column.words)
        shown = f"{scale:g} {column.currency}" if scale != 1 else column.currency
        return f"{shown} per {parse_period(column.words) or 'month'}".strip()
    if metric is None or column.meaning not in METRIC_MEANINGS:
        return ""
    text = metric.unit if metric.kind == "units" else METRIC_LABELS.get(metric.kind, metric.kind)
    text = f"{metric.scale:g} {text}" if metric.scale != 1 and metric.kind != "requests_per_second" else text
    return f"{text} per {metric.period}" if metric.period and metric.kind != "requests_per_second" else text


def check_mapped_columns(tables: Sequence[TableInterpretation], options: SheetOptions, ledger: ReadingLog) -> None:
    """A problem for each column of an option that is not in the file; a note for one of a mapping file."""
    titles = {normalize_title(column.title): column.title for table in tables for column in table.columns}
    for title, field in options.columns.items():
        if title in titles:
            continue
        if place := options.required.get(title, ""):
            expected = expected_names(repr(title), map(repr, titles.values())) if titles else "a title of the file"
            ledger.complaints.append(InputProblem("", place, "no column has this title", title, expected))
        else:
            ledger.note(f"the mapping file has a column {title!r} ({field}), which is not in this file")


def _unused_reason(title: str, table: SheetTable, options: SheetOptions) -> str:
    if options.field_of(title) == IGNORE:
        return "ignored by --map or a mapping file"
    meaning = match_meaning(normalize_text(title))
    used = table.column(meaning) if meaning else None
    if used is not None and used.header.text != title:
        mapped = " (by --map or a mapping file)" if used.rule == RULE_USER_MAPPING else ""
        return f"not used: {used.header.text!r} is the {meaning}{mapped}"
    return "not used: its title is not known" if not meaning else f"not used: {meaning} does not fit this table"


def unused_column_notes(table: SheetTable) -> Iterator[str]:
    """A note for each unused column, and for each of its cells that suggests not to plan the row."""
    places = {cell.place: index for index, cell in enumerate(table.header.cells)}
    for cell in table.passed_over:
        yield f"column {cell.quoted} is not used"
        index = places.get(cell.place, -1)
        for row in table.workload_rows if index >= 0 else ():
            status = row.cell(index)
            if status.text.casefold() in CANCELLED_WORDS:
                yield f"{status.place} reads {status.text!r} under {cell.text!r}: its row is planned nevertheless"


def explain_missing_workloads(name: str, tables: Sequence[SheetTable], sheets: Sequence[InputSheet]) -> InputProblem:
    """The problem of a file without workloads: its actual kind, or the missing columns of its best header."""
    usable = next((table for table in tables if table.is_of_workloads), None)
    if usable is not None:
        header = usable.header
        return InputProblem(
            "", header.place, "no row beneath the header is a workload", header.shown, "at least one workload"
        )
    known, known_row = _known_export(sheets)
    best = max(tables, key=lambda table: len(table.meanings), default=None)
    message = f"this is {known}, which lists charges, not workloads" if known else "no table of workloads was found"
    if best is None and known_row is not None:
        return InputProblem("", known_row.place, message, known_row.shown, f"{REQUIRED_NAME} and {REQUIRED_DEMAND}")
    if best is None:
        expected = f"a row of column headers: {REQUIRED_NAME} and {REQUIRED_DEMAND}"
        return InputProblem("", name, f"{message}; no row is a header", "", expected)
    missing = [] if "name" in best.meanings else [REQUIRED_NAME]
    missing += [] if best.has_demand_columns else [REQUIRED_DEMAND]
    message = f"{message}; required columns are missing in this header"
    return InputProblem("", best.header.place, message, best.header.shown, "; and ".join(missing))


def _known_export(sheets: Sequence[InputSheet]) -> tuple[str, GridRow | None]:
    """The kind of billing export that one of the rows identifies, and that row."""
    for sheet in sheets:
        for row in sheet.rows:
            words = {cell.text.casefold() for cell in row.cells}
            if known := next((export for export, titles in KNOWN_EXPORTS if titles <= words), ""):
                return known, row
    return "", None
