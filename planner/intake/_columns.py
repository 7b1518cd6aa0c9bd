"""What the columns of a sheet mean: their headers matched by meaning, with the units that the headers carry.

Knows words, not values: a header whose words fit nothing is left to be named as unused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from planner.intake._choices import IGNORE, NONE, Choices, month_field
from planner.intake._dates import doubt
from planner.intake._grid import Cell, Row
from planner.intake._meanings import MAY_BE_PRICED, MEANINGS, PRICED
from planner.intake._months import is_yearless, month_of, ordinal_of
from planner.intake._numbers import currency_of
from planner.intake._units import Metric, metric_of, plain, seconds_of, work_unit

BY_WORDS = "the words of its header"
BY_CHOICE = "chosen by --map or a mapping file"
A_MONTH = "a calendar month"
TITLE_MAX = 80
"""Signs of a title; what is longer is a text."""
_PRICED = re.compile(PRICED)
_PEAK = re.compile(r"\b(?:peak|max(?:imum)?|p9\d)\b")
PEAKS = frozenset({"requests_per_second", "gpus"})
"""What a column may state as a peak beside its mean; the mean is what is planned."""
BY_CONTENT = "what stands beneath it"
NAME_RANK = ("workload", "job", "name", "service", "application", "app", "model", "use case", "task", "project")
FIRST_WINS = frozenset({"name", "team", "kind", "notes", "region", "provider", "source"})
BY_MONTH = frozenset(
    {"accelerator_hours", "units_per_month", "total_units", "requests_per_second", "amount", "gpus", "hours", ""}
)
"""What may be stated for one month in its title."""
NEEDED = "GPU-hours, GPUs with hours, work per month (tokens/month), total work with a deadline, or requests per second"


@dataclass(frozen=True, slots=True)
class Column:
    """A column that means something. `month` is set for "month" columns ("2026-12" or "#3" for the plan's third month).

    `words` is the header in plain words; `metric` what a demand in it is counted in, as far as its headers say; `rule`
    how the meaning was found; `was` the meaning of a column whose figures were spread over months.
    """

    index: int
    meaning: str
    header: Cell
    words: str
    month: str = ""
    metric: Metric | None = None
    currency: str = ""
    rule: str = BY_WORDS
    was: str = ""


def columns_of(row: Row, above: Row | None = None, choices: Choices = NONE) -> tuple[Column, ...]:
    """The columns that a header row names, one or more for a meaning; `above` may hold the unit of month columns."""
    found: list[Column] = []
    over = ""
    for index, cell in enumerate(row.cells):
        text = above.cell(index).text if above else ""
        over = text or (over if found and found[-1].meaning == "month" else "")
        if column := _chosen(index, cell, over, choices) or _column(index, cell, over, choices):
            found.append(column)
    return tuple(found)


def unknown(row: Row, columns: tuple[Column, ...]) -> list[Cell]:
    """The header cells that mean nothing to us."""
    known = {column.index for column in columns}
    return [cell for index, cell in enumerate(row.cells) if not cell.is_blank and index not in known]


def settle(columns: tuple[Column, ...]) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """One column for each text meaning (the best name, else the first), and those that were passed over."""
    kept: dict[str, Column] = {}
    rest: list[Column] = []
    passed: list[Column] = []
    chosen = {column.meaning for column in columns if column.rule == BY_CHOICE and column.meaning != "month"}
    means = {c.meaning for c in columns if not _PEAK.search(c.words)}
    for column in columns:
        is_peak = column.meaning in means and column.meaning in PEAKS and _PEAK.search(column.words)
        if (column.meaning in chosen and column.rule != BY_CHOICE) or is_peak:
            passed.append(column)
            continue
        if column.meaning not in FIRST_WINS:
            rest.append(column)
            continue
        held = kept.get(column.meaning)
        if held is None or (column.meaning == "name" and _name_rank(column) < _name_rank(held)):
            kept[column.meaning] = column
            passed += [held] if held else []
        else:
            passed.append(column)
    return tuple(sorted([*kept.values(), *rest], key=lambda column: column.index)), tuple(passed)


def _chosen(index: int, cell: Cell, over: str, choices: Choices) -> Column | None:
    """The column as the asker said it is."""
    field = choices.field_of(cell.text)
    if not field or field == IGNORE:
        return None
    month = month_field(field)
    metric = metric_of(over) if month and over else metric_of(cell.text)
    currency = "" if month else currency_of(cell.text)
    return Column(index, "month" if month else field, cell, plain(cell.text), month, metric, currency, BY_CHOICE)


def _column(index: int, cell: Cell, over: str, choices: Choices) -> Column | None:
    if is_year(cell):
        return Column(index, "yearless", cell, cell.text)
    is_text = not (cell.is_blank or cell.fault or cell.is_number or isinstance(cell.value, bool))
    if not is_text or choices.field_of(cell.text) == IGNORE:
        return None
    if isinstance(cell.value, str) and len(cell.text) <= TITLE_MAX:
        found = _titled(cell.text)
    else:
        month = month_of(cell)
        found = Column(0, "month", cell, cell.text, month, rule=A_MONTH) if month else None
    if found is None:
        return None
    metric = found.metric if found.meaning != "month" or found.metric else metric_of(over) if over else None
    return replace(found, index=index, header=cell, metric=metric)


@lru_cache(maxsize=10_000)
def _titled(text: str) -> Column | None:
    """The column that a title makes, its place and the unit of a month aside; None for a text that means nothing."""
    cell = Cell("", text)
    has_digits = any(sign.isdigit() for sign in text)
    if has_digits and (month := month_of(cell)):
        return Column(0, "month", cell, text, month, rule=A_MONTH)
    if has_digits and (number := ordinal_of(cell)):
        return Column(0, "month", cell, text, f"#{number}", rule="a month of the plan by number")
    if is_yearless(cell) or (has_digits and doubt(cell)):
        return Column(0, "yearless", cell, text)
    words = plain(text)
    meaning = meaning_of(words)
    if has_digits and meaning in BY_MONTH and not _PRICED.search(words) and (found := _with_month(cell, words)):
        return found
    return Column(0, meaning, cell, words, "", metric_of(text), currency_of(text)) if meaning else None


def _with_month(cell: Cell, words: str) -> Column | None:
    """The column of "GPU-hours Jan-27", a month, and of "GPU-hours Q1 2027", which may be any three."""
    rest = [part for part in re.split(r"[()\[\]:]|\s[-–]\s|\s", cell.text) if part]
    for size in (1, 2):
        for at in range(len(rest) - size + 1):
            if month := month_of(Cell("", " ".join(rest[at : at + size]))):
                metric = metric_of(" ".join(rest[:at] + rest[at + size :]))
                return Column(0, "month", cell, words, month, metric, rule=A_MONTH) if metric else None
    return Column(0, "yearless", cell, cell.text) if re.search(r"\bq[1-4]\b", words) else None


def is_year(cell: Cell) -> bool:
    """Whether a cell is a year alone, as a number."""
    return cell.is_number and cell.text.isdigit() and 2020 <= int(cell.text) <= 2099


@lru_cache(maxsize=10_000)
def meaning_of(words: str) -> str:
    """What a header in plain words means, else empty."""
    meaning = next((meaning for meaning, pattern in _patterns() if pattern.search(words)), "")
    return "" if meaning not in MAY_BE_PRICED and _PRICED.search(words) else meaning


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each meaning with all of its patterns as one."""
    return tuple((meaning, re.compile("|".join(f"(?:{each})" for each in each_of))) for meaning, each_of in MEANINGS)


def rate_of(column: Column) -> tuple[str, float | None]:
    """The unit and the seconds of a throughput column, as its header says them."""
    return work_unit(column.words), seconds_of(column.words)


def _name_rank(column: Column) -> int:
    return next(
        (rank for rank, word in enumerate(NAME_RANK) if re.search(rf"\b{word}\b", column.words)), len(NAME_RANK)
    )
