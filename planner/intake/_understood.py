"""How a table was understood, column by column, for whoever asks; and whether all columns that were named are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.errors import Complaint
from planner.intake._choices import IGNORE, Choices, titled
from planner.intake._columns import BY_CHOICE, Column, meaning_of
from planner.intake._layout import BY_MONTH_ROWS
from planner.intake._ledger import Ledger
from planner.intake._read import ColumnRead, TableRead
from planner.intake._table import Table
from planner.intake._units import (
    BYTES,
    bytes_of,
    minutes_of,
    money_scale,
    per_of,
    period_of,
    plain,
    seconds_of,
    work_unit,
)

WORDS = {"accelerator_hours": "accelerator-hours", "requests_per_second": "requests per second"}
DROPPED = frozenset({"cancelled", "canceled", "rejected", "declined", "dropped", "on hold", "obsolete", "withdrawn"})
"""What a column that is not used may say of a row that nobody wants planned."""
SIZES = ("memory", "storage", "egress")
COUNTED = frozenset({"month", "by_month", "amount", "hours", "units_per_month", "total_units", *WORDS})


def understood(table: Table, choices: Choices, layout: str) -> TableRead:
    """The columns of a table in their order, also those that are not used."""
    columns = [
        ColumnRead(c.header.place, c.header.text, c.was or c.month or c.meaning, unit_of(c), c.rule)
        for c in table.columns
        if c.rule != BY_MONTH_ROWS
    ]
    columns += [ColumnRead(c.place, c.text, "", "", _why_not(c.text, table, choices)) for c in table.passed_over]
    order = {cell.place: index for index, cell in enumerate(table.header.cells)}
    columns.sort(key=lambda column: order.get(column.place, len(order)))
    return TableRead(table.sheet.name, table.header.place, tuple(columns), layout)


def unit_of(column: Column) -> str:
    """The unit that a column's header says, in words; empty where it says none."""
    metric = column.metric
    if column.meaning == "throughput":
        seconds = {1.0: "second", 60.0: "minute", 3600.0: "hour"}.get(seconds_of(column.words) or 0.0, "")
        rate = f"{work_unit(column.words)} per {seconds}" if seconds else work_unit(column.words)
        return ", ".join(part for part in (rate, f"per {per_of(column.words)}" if per_of(column.words) else "") if part)
    if column.meaning in SIZES:
        wanted = bytes_of(column.words)
        return next((name.upper().replace("I", "i") for name, size in BYTES.items() if size == wanted), "")
    if column.meaning.endswith("_minutes"):
        return {1.0: "minutes", 60.0: "hours", 1 / 60: "seconds"}.get(minutes_of(column.words) or 0.0, "")
    if column.meaning == "budget":
        scale = money_scale(column.words)
        shown = f"{scale:g} {column.currency}" if scale != 1 else column.currency
        return f"{shown} per {period_of(column.words) or 'month'}".strip()
    if metric is None or column.meaning not in COUNTED:
        return ""
    text = metric.unit if metric.what == "units" else WORDS.get(metric.what, metric.what)
    text = f"{metric.scale:g} {text}" if metric.scale != 1 and metric.what != "requests_per_second" else text
    return f"{text} per {metric.period}" if metric.period and metric.what != "requests_per_second" else text


def check_choices(tables: Sequence[TableRead], choices: Choices, ledger: Ledger) -> None:
    """A complaint for each column named by an option that is not in the file, a note for one of a mapping file."""
    titles = {titled(column.title): column.title for table in tables for column in table.columns}
    for title, field in choices.columns.items():
        if title in titles:
            continue
        if place := choices.required.get(title, ""):
            ledger.complaints.append(_missing(title, place, tuple(titles.values())))
        else:
            ledger.note(f"the mapping file has a column {title!r} ({field}), which is not in this file")


def _missing(title: str, place: str, titles: Sequence[str]) -> Complaint:
    from pricing.table import nearest

    close = nearest(title, titles) or tuple(titles)[:12]
    expected = f"one of {', '.join(repr(each) for each in close)}" if close else "a title of the file"
    return Complaint("", place, "no column has this title", title, expected)


def _why_not(title: str, table: Table, choices: Choices) -> str:
    if choices.field_of(title) == IGNORE:
        return "left out: chosen"
    meaning = meaning_of(plain(title))
    held = table.column(meaning) if meaning else None
    if held is not None and held.header.text != title:
        return f"not used: {held.header.text!r} is the {meaning}" + (" (chosen)" if held.rule == BY_CHOICE else "")
    return "not used: its words mean nothing here" if not meaning else f"not used: no {meaning} fits this table"


def notes_of(table: Table) -> Iterator[str]:
    """A note for each column that is not used."""
    places = {cell.place: index for index, cell in enumerate(table.header.cells)}
    for cell in table.passed_over:
        yield f"column {cell.text!r} ({cell.place}) is not used"
        index = places.get(cell.place, -1)
        for row, reason in table.rows:
            said = row.cell(index) if index >= 0 and not reason else None
            if said is not None and said.text.casefold() in DROPPED:
                yield f"{said.place} reads {said.text!r} under {cell.text!r}: its row is planned all the same"
