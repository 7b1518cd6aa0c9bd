"""How a table was understood, column by column, for whoever asks; and whether all columns that were named are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from planner.inputs.sheet_options import IGNORE, SheetOptions, normalize_title
from planner.inputs.spreadsheet.column_meanings import RULE_USER_MAPPING, SheetColumn, match_meaning
from planner.inputs.spreadsheet.table_detection import SheetTable
from planner.inputs.spreadsheet.table_pivoting import RULE_MONTH_ROWS
from planner.request.errors import InputProblem

METRIC_LABELS = {"accelerator_hours": "accelerator-hours", "requests_per_second": "requests per second"}
CANCELLED_WORDS = frozenset(
    {"cancelled", "canceled", "rejected", "declined", "dropped", "on hold", "obsolete", "withdrawn"}
)
"""What a column that is not used may say of a row that nobody wants planned."""
SIZE_MEANINGS = ("memory", "storage", "egress")
METRIC_MEANINGS = frozenset({"month", "by_month", "amount", "hours", "units_per_month", "total_units", *METRIC_LABELS})


def describe_table(table: SheetTable, choices: SheetOptions, layout: str) -> TableInterpretation:
    """The columns of a table in their order, also those that are not used."""
    columns = [
        ColumnInterpretation(c.header.place, c.header.text, c.was or c.month or c.meaning, describe_unit(c), c.rule)
        for c in table.columns
        if c.rule != RULE_MONTH_ROWS
    ]
    columns += [
        ColumnInterpretation(c.place, c.text, "", "", _unused_reason(c.text, table, choices)) for c in table.passed_over
    ]
    order = {cell.place: index for index, cell in enumerate(table.header.cells)}
    columns.sort(key=lambda column: order.get(column.place, len(order)))
    return TableInterpretation(table.sheet.name, table.header.place, tuple(columns), layout)


def describe_unit(column: SheetColumn) -> str:
    """The unit that a column's header says, in words; empty where it says none."""
    metric = column.metric
    if column.meaning == "throughput":
        seconds = {1.0: "second", 60.0: "minute", 3600.0: "hour"}.get(parse_rate_seconds(column.words) or 0.0, "")
        rate = f"{parse_work_unit(column.words)} per {seconds}" if seconds else parse_work_unit(column.words)
        return ", ".join(
            part
            for part in (rate, f"per {parse_rate_basis(column.words)}" if parse_rate_basis(column.words) else "")
            if part
        )
    if column.meaning in SIZE_MEANINGS:
        wanted = parse_byte_unit(column.words)
        return next((name.upper().replace("I", "i") for name, size in BYTES.items() if size == wanted), "")
    if column.meaning.endswith("_minutes"):
        return {1.0: "minutes", 60.0: "hours", 1 / 60: "seconds"}.get(parse_minute_unit(column.words) or 0.0, "")
    if column.meaning == "budget":
        scale = parse_header_money_factor(column.words)
        shown = f"{scale:g} {column.currency}" if scale != 1 else column.currency
        return f"{shown} per {parse_period(column.words) or 'month'}".strip()
    if metric is None or column.meaning not in METRIC_MEANINGS:
        return ""
    text = metric.unit if metric.what == "units" else METRIC_LABELS.get(metric.what, metric.what)
    text = f"{metric.scale:g} {text}" if metric.scale != 1 and metric.what != "requests_per_second" else text
    return f"{text} per {metric.period}" if metric.period and metric.what != "requests_per_second" else text


def check_mapped_columns(tables: Sequence[TableInterpretation], choices: SheetOptions, ledger: ReadingLog) -> None:
    """A complaint for each column named by an option that is not in the file, a note for one of a mapping file."""
    titles = {normalize_title(column.title): column.title for table in tables for column in table.columns}
    for title, field in choices.columns.items():
        if title in titles:
            continue
        if place := choices.required.get(title, ""):
            ledger.complaints.append(_missing_column_problem(title, place, tuple(titles.values())))
        else:
            ledger.note(f"the mapping file has a column {title!r} ({field}), which is not in this file")


def _missing_column_problem(title: str, place: str, titles: Sequence[str]) -> InputProblem:
    from pricing.csv_tables import find_nearest_names

    close = find_nearest_names(title, titles) or tuple(titles)[:12]
    expected = f"one of {', '.join(repr(each) for each in close)}" if close else "a title of the file"
    return InputProblem("", place, "no column has this title", title, expected)


def _unused_reason(title: str, table: SheetTable, choices: SheetOptions) -> str:
    if choices.field_of(title) == IGNORE:
        return "left out: chosen"
    meaning = match_meaning(normalize_text(title))
    held = table.column(meaning) if meaning else None
    if held is not None and held.header.text != title:
        return f"not used: {held.header.text!r} is the {meaning}" + (
            " (chosen)" if held.rule == RULE_USER_MAPPING else ""
        )
    return "not used: its words mean nothing here" if not meaning else f"not used: no {meaning} fits this table"


def unused_column_notes(table: SheetTable) -> Iterator[str]:
    """A note for each column that is not used."""
    places = {cell.place: index for index, cell in enumerate(table.header.cells)}
    for cell in table.passed_over:
        yield f"column {cell.text!r} ({cell.place}) is not used"
        index = places.get(cell.place, -1)
        for row, reason in table.rows:
            status_cell = row.cell(index) if index >= 0 and not reason else None
            if status_cell is not None and status_cell.text.casefold() in CANCELLED_WORDS:
                yield (
                    f"{status_cell.place} reads {status_cell.text!r} under {cell.text!r}: its row is planned "
                    "all the same"
                )
