"""The last review read back from its workbook: the visible cells of its sheets, as it was saved.

Sheets and columns are identified by their titles. Costs must be there; the facts of a missing sheet are left out. Edits
made in the workbook are read as they are: the cells are what was reviewed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from planner.analysis.comparison.review_record import (
    NOT_POSSIBLE,
    RECOMMENDED,
    ReviewFact,
    ReviewRecord,
    build_cost_facts,
    build_gap_fact,
    build_purchase_fact,
    build_recommendation_fact,
)
from planner.result.comparison import Topic
from planner.result.message import Message, message

HEADER_ROW = 3
ZIP_SIGNATURE = b"PK\x03\x04"
TITLE = "GPU capacity plan "
RECOMMENDED_SUFFIX = " (recommended)"
BASE_SCENARIO = "base"
SAVE_ADVICE = "save it in a spreadsheet program, or give plan.json"
DERIVED_NAMES = frozenset({"hours_per_month", "discount_rate_monthly"})
"""Values in the sheet Assumptions that are no assumptions."""
_COST = re.compile(r"(?P<which>total|present) cost, (?P<currency>[A-Z]{3})")
_MONTH = re.compile(r"\d{4}-\d{2}")


class UnreadableReview(ValueError):
    """The sheets are not those of a plan's workbook, or lack its costs; the message goes on from the file's name."""


SheetRow = dict[str, Any]
SheetGrids = Mapping[str, list[list[Any]]]


def is_workbook(data: bytes) -> bool:
    """Whether the bytes could be a workbook: no plan as JSON begins so."""
    return data.startswith(ZIP_SIGNATURE)


def read_review_workbook(grids: SheetGrids) -> ReviewRecord:
    """The record of a review from the visible sheets of its workbook.

    UnreadableReview with the reason where it is no workbook of a plan or lacks costs."""
    summary = grids.get("Summary", [])
    if not str(_cell_value(summary, 0, 0)).startswith(TITLE):
        raise UnreadableReview("is no workbook of a plan: it has no sheet Summary with one")
    facts, currency, chosen, as_of = _read_summary(summary)
    months, work = _read_demand(grids)
    facts += [ReviewFact("frame", "currency", currency), ReviewFact("frame", "date of the plan", as_of.isoformat())]
    if months:
        facts += [
            ReviewFact("frame", "first month", months[0]),
            ReviewFact("frame", "months planned", len(months), "months"),
        ]
        facts += _read_month_facts(grids, chosen, months, currency)
    facts += [*_read_purchase_facts(grids, chosen, currency), *_read_evidence_facts(grids), *_read_gap_facts(grids)]
    topic_by_sheet: dict[str, Topic] = {"Purchases": "purchase", "Gaps": "gap"}
    topics = {fact.topic for fact in facts} | {topic for name, topic in topic_by_sheet.items() if name in grids}
    return ReviewRecord(
        str(_labelled_value(grids.get("Sources", []), "plan", "")),
        as_of,
        months,
        currency,
        chosen,
        tuple(facts),
        work,
        frozenset(topics | ({"workload"} if work else set())),
        tuple(_read_scenario_notes(grids.get("Assumptions", []))),
    )


def _read_summary(grid: list[list[Any]]) -> tuple[list[ReviewFact], str, str, date]:
    """The costs and the recommendation, the currency, the recommended strategy and the date of the plan."""
    heads = grid[HEADER_ROW] if len(grid) > HEADER_ROW else []
    names = {column: str(name) for column, name in enumerate(heads) if column and name}
    rows = {cost["which"]: (cost["currency"], row) for row in grid if row and (cost := _COST.fullmatch(str(row[0])))}
    as_of = _labelled_value(grid, "date of the plan", None)
    if not names or len(rows) < len(("total", "present")) or not isinstance(as_of, date):
        raise UnreadableReview("has no costs by strategy and no date in its sheet Summary")
    states = next((row for row in grid if row and row[0] == "status"), [])
    currency, chosen = rows["total"][0], ""
    facts: list[ReviewFact] = []
    for column, name in names.items():
        strategy = name.removesuffix(RECOMMENDED_SUFFIX)
        is_chosen = strategy != name
        chosen = strategy if is_chosen else chosen
        total, present = (rows[which][1][column] for which in ("total", "present"))
        if states[column : column + 1] == ["infeasible"]:
            total = present = NOT_POSSIBLE
        elif not _is_number(total) or not _is_number(present):
            raise UnreadableReview(
                f"has no cost of {strategy} in its sheet Summary, but {str(total)[:20]!r}: {SAVE_ADVICE}"
            )
        facts += build_cost_facts(strategy, total, present, currency, RECOMMENDED if is_chosen else "")
    if not chosen:
        raise UnreadableReview("is infeasible: it has no costs to set against those of another plan")
    strategies = ", ".join(sorted(name.removesuffix(RECOMMENDED_SUFFIX) for name in names.values()))
    facts += [
        build_recommendation_fact(chosen, str(_labelled_value(grid, "recommendation", _cell_value(grid, 1, 0)))),
        ReviewFact("frame", "strategies", strategies),
    ]
    return facts, currency, chosen, as_of.date() if isinstance(as_of, datetime) else as_of


def _read_demand(grids: SheetGrids) -> tuple[tuple[str, ...], dict[str, tuple[str, tuple[float, ...]]]]:
    """The months of the plan and the work of each."""
    grid = grids.get("Demand", [])
    titles = [str(title) for title in grid[HEADER_ROW]] if len(grid) > HEADER_ROW else []
    months = tuple(title for title in titles if _MONTH.fullmatch(title))
    work = {}
    for row in _read_table_rows(grid):
        values = [row[month] for month in months]
        if all(map(_is_number, values)):
            work[str(row.get("workload"))] = (str(row.get("unit", "")), tuple(map(float, values)))
    return months, work


def _read_month_facts(grids: SheetGrids, chosen: str, months: tuple[str, ...], currency: str) -> Iterator[ReviewFact]:
    """The payments of the recommended strategy: the first line called total in its block."""
    grid = grids.get("Cash flow", [])
    start = next((n for n, row in enumerate(grid) if row and str(row[0]).partition(":")[0] == chosen), len(grid))
    total = next((row for row in grid[start:] if row and row[0] == "total"), None)
    titles = [str(title) for title in grid[HEADER_ROW]] if total else []
    for column, title in enumerate(titles):
        if total and title in months and _is_number(total[column]):
            yield ReviewFact("month", title, float(total[column]), currency)


def _read_purchase_facts(grids: SheetGrids, chosen: str, currency: str) -> Iterator[ReviewFact]:
    """The orders of the recommended strategy, rows of one node and month together."""
    sums: dict[tuple[str, tuple[str, str, str, str], str], list[float]] = {}
    for row in _read_table_rows(grids.get("Purchases", [])):
        if row.get("strategy") == chosen and _is_number(row.get("amount")):
            node = _text_cells(row, "node", "provider", "region", "option")
            unit = str(row.get("unit", "")).replace("money", currency)
            sums.setdefault((str(row.get("order month", "")), node, unit), []).append(float(row["amount"]))
    for (month, node, unit), amounts in sums.items():
        yield build_purchase_fact(month, node, math.fsum(amounts), unit)


def _read_evidence_facts(grids: SheetGrids) -> Iterator[ReviewFact]:
    for row in _read_table_rows(grids.get("Assumptions", [])):
        value: Any = row.get("value in use", row.get("value"))
        if _is_number(value) and row.get("name") not in DERIVED_NAMES:
            note = f"{row.get('source', '')}, as of {_format_day(row.get('as of'))}"
            yield ReviewFact("assumption", str(row.get("name")), float(value), str(row.get("unit", "")), note)
    for row in _read_table_rows(grids.get("Offers") or grids.get("Prices", [])):
        if _is_number(row.get("price per hour")):
            subject = " ".join(_text_cells(row, "provider", "region", "instance type", "option"))
            note = f"{row.get('source', '')}, as of {_format_day(row.get('as of'))}"
            yield ReviewFact("price", subject, float(row["price per hour"]), f"{row.get('currency')} an hour", note)
    for row in _read_table_rows(grids.get("Throughput", [])):
        if _is_number(row.get("units an hour")) and _is_number(gang := row.get("gang, accelerators")):
            subject = f"{row.get('workload')} on {row.get('accelerator')}, gang of {gang:g}"
            yield ReviewFact(
                "throughput", subject, float(row["units an hour"]), "units an hour", str(row.get("basis", ""))
            )


def _read_scenario_notes(grid: list[list[Any]]) -> Iterator[Message]:
    """The scenario that the workbook was saved under, where it is not the plan's own."""
    scenario = next((str(row[2]) for row in grid[:HEADER_ROW] if str(row[0]).startswith("scenario")), BASE_SCENARIO)
    if scenario != BASE_SCENARIO:
        yield message("workbook_saved_under_scenario", scenario=scenario)


def _read_gap_facts(grids: SheetGrids) -> Iterator[ReviewFact]:
    for row in _read_table_rows(grids.get("Gaps", [])):
        kind, subject, effect, workload = _text_cells(
            row, "kind", "what is missing or estimated", "what follows", "workload"
        )
        yield build_gap_fact(kind, subject, effect, workload)


def _read_table_rows(grid: list[list[Any]]) -> Iterator[SheetRow]:
    """The rows under the column heads, up to the first without a value in the first column."""
    titles = [str(title) for title in grid[HEADER_ROW]] if len(grid) > HEADER_ROW else []
    for row in grid[HEADER_ROW + 1 :]:
        if not row or row[0] == "":
            return
        yield dict(zip(titles, row, strict=False))


def _labelled_value(grid: list[list[Any]], label: str, default: object) -> object:
    """The cell next to a label in the first column."""
    return next((row[1] for row in grid if len(row) > 1 and row[0] == label), default)


def _text_cells(row: SheetRow, a: str, b: str, c: str, d: str) -> tuple[str, str, str, str]:
    return str(row.get(a, "")), str(row.get(b, "")), str(row.get(c, "")), str(row.get(d, ""))


def _cell_value(grid: list[list[Any]], row: int, column: int) -> object:
    return grid[row][column] if len(grid) > row and len(grid[row]) > column else ""


def _format_day(value: object) -> str:
    return value.isoformat()[:10] if isinstance(value, date) else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
