"""The last review read back from its workbook: what stands in the visible cells of its sheets, as it was saved.

Sheets and columns are found by their names. Costs must be there; what another sheet would tell is left out where that
sheet is gone. Edits made in the workbook are read as they are: the cells are what was reviewed.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from planner.answer.changes import Topic
from planner.diff._record import NOT_POSSIBLE, RECOMMENDED, Fact, Record, bought, costs, gap_fact, recommended
from planner.intake._archive import Refused
from planner.intake._workbook import examine

HEADER_ROW = 3
ZIP = b"PK\x03\x04"
TITLE = "GPU capacity plan "
CHOSEN = " (recommended)"
BASE = "base"
LACKS = "save it in a spreadsheet program, or give plan.json"
DERIVED = frozenset({"hours_per_month", "discount_rate_monthly"})
"""Figures that stand in the sheet Assumptions and are none."""
_COST = re.compile(r"(?P<which>total|present) cost, (?P<currency>[A-Z]{3})")
_MONTH = re.compile(r"\d{4}-\d{2}")
Row = dict[str, Any]
Grids = Mapping[str, list[list[Any]]]


def is_workbook(data: bytes) -> bool:
    """Whether the bytes could be a workbook: no plan as JSON begins so."""
    return data.startswith(ZIP)


def record_of_workbook(data: bytes) -> Record:
    """What a review keeps, from its workbook. ValueError with the reason where it is none of ours or lacks costs."""
    grids = _grids(data)
    summary = grids.get("Summary", [])
    if not str(_cell(summary, 0, 0)).startswith(TITLE):
        raise Refused("is no workbook of a plan: it has no sheet Summary with one")
    facts, currency, chosen, as_of = _summary(summary)
    months, work = _demand(grids)
    facts += [Fact("frame", "currency", currency), Fact("frame", "date of the plan", as_of.isoformat())]
    if months:
        facts += [Fact("frame", "first month", months[0]), Fact("frame", "months planned", len(months), "months")]
        facts += _months(grids, chosen, months, currency)
    facts += [*_purchases(grids, chosen, currency), *_grounds(grids), *_gaps(grids)]
    told: dict[str, Topic] = {"Purchases": "purchase", "Gaps": "gap"}
    topics = {fact.topic for fact in facts} | {topic for name, topic in told.items() if name in grids}
    return Record(
        str(_labelled(grids.get("Sources", []), "plan", "")),
        as_of,
        months,
        currency,
        chosen,
        tuple(facts),
        work,
        frozenset(topics | ({"workload"} if work else set())),
        tuple(_scenario(grids.get("Assumptions", []))),
    )


def _grids(data: bytes) -> Grids:
    """The values of every visible sheet, once the guard has let the workbook pass."""
    import python_calamine

    examine(data)
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        seen = [meta.name for meta in book.sheets_metadata if meta.visible == python_calamine.SheetVisibleEnum.Visible]
        return {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in seen}
    except (python_calamine.CalamineError, ValueError, OSError, OverflowError) as error:
        raise Refused(f"is a damaged workbook ({error})") from None


def _summary(grid: list[list[Any]]) -> tuple[list[Fact], str, str, date]:
    """The costs and what is recommended, the currency, the recommended strategy and the date of the plan."""
    heads = grid[HEADER_ROW] if len(grid) > HEADER_ROW else []
    names = {column: str(name) for column, name in enumerate(heads) if column and name}
    rows = {found["which"]: (found["currency"], row) for row in grid if row and (found := _COST.fullmatch(str(row[0])))}
    as_of = _labelled(grid, "date of the plan", None)
    if not names or len(rows) < len(("total", "present")) or not isinstance(as_of, date):
        raise Refused("has no costs by strategy and no date in its sheet Summary")
    states = next((row for row in grid if row and row[0] == "status"), [])
    currency, chosen = rows["total"][0], ""
    facts: list[Fact] = []
    for column, name in names.items():
        strategy = name.removesuffix(CHOSEN)
        is_chosen = strategy != name
        chosen = strategy if is_chosen else chosen
        total, present = (rows[which][1][column] for which in ("total", "present"))
        if states[column : column + 1] == ["infeasible"]:
            total = present = NOT_POSSIBLE
        elif not _is_number(total) or not _is_number(present):
            raise Refused(f"has no cost of {strategy} in its sheet Summary, but {str(total)[:20]!r}: {LACKS}")
        facts += costs(strategy, total, present, currency, RECOMMENDED if is_chosen else "")
    if not chosen:
        raise Refused("is infeasible: it has no costs to set against those of another plan")
    strategies = ", ".join(sorted(name.removesuffix(CHOSEN) for name in names.values()))
    facts += [recommended(chosen, str(_cell(grid, 1, 0))), Fact("frame", "strategies", strategies)]
    return facts, currency, chosen, as_of.date() if isinstance(as_of, datetime) else as_of


def _demand(grids: Grids) -> tuple[tuple[str, ...], dict[str, tuple[str, tuple[float, ...]]]]:
    """The months of the plan and the work of each."""
    grid = grids.get("Demand", [])
    titles = [str(title) for title in grid[HEADER_ROW]] if len(grid) > HEADER_ROW else []
    months = tuple(title for title in titles if _MONTH.fullmatch(title))
    work = {}
    for row in _table(grid):
        values = [row[month] for month in months]
        if all(map(_is_number, values)):
            work[str(row.get("workload"))] = (str(row.get("unit", "")), tuple(map(float, values)))
    return months, work


def _months(grids: Grids, chosen: str, months: tuple[str, ...], currency: str) -> Iterator[Fact]:
    """What the recommended strategy pays: the first line called total in its block."""
    grid = grids.get("Cash flow", [])
    start = next((n for n, row in enumerate(grid) if row and str(row[0]).partition(":")[0] == chosen), len(grid))
    total = next((row for row in grid[start:] if row and row[0] == "total"), None)
    titles = [str(title) for title in grid[HEADER_ROW]] if total else []
    for column, title in enumerate(titles):
        if total and title in months and _is_number(total[column]):
            yield Fact("month", title, float(total[column]), currency)


def _purchases(grids: Grids, chosen: str, currency: str) -> Iterator[Fact]:
    """What the recommended strategy orders, rows of one node and month together."""
    sums: dict[tuple[str, tuple[str, str, str, str], str], list[float]] = {}
    for row in _table(grids.get("Purchases", [])):
        if row.get("strategy") == chosen and _is_number(row.get("amount")):
            node = _texts(row, "node", "provider", "region", "option")
            unit = str(row.get("unit", "")).replace("money", currency)
            sums.setdefault((str(row.get("order month", "")), node, unit), []).append(float(row["amount"]))
    for (month, node, unit), amounts in sums.items():
        yield bought(month, node, math.fsum(amounts), unit)


def _grounds(grids: Grids) -> Iterator[Fact]:
    for row in _table(grids.get("Assumptions", [])):
        value: Any = row.get("value in use", row.get("value"))
        if _is_number(value) and row.get("name") not in DERIVED:
            note = f"{row.get('source', '')}, as of {_day(row.get('as of'))}"
            yield Fact("assumption", str(row.get("name")), float(value), str(row.get("unit", "")), note)
    for row in _table(grids.get("Offers") or grids.get("Prices", [])):
        if _is_number(row.get("price per hour")):
            subject = " ".join(_texts(row, "provider", "region", "instance type", "option"))
            note = f"{row.get('source', '')}, as of {_day(row.get('as of'))}"
            yield Fact("price", subject, float(row["price per hour"]), f"{row.get('currency')} an hour", note)
    for row in _table(grids.get("Throughput", [])):
        if _is_number(row.get("units an hour")) and _is_number(gang := row.get("gang, accelerators")):
            subject = f"{row.get('workload')} on {row.get('accelerator')}, gang of {gang:g}"
            yield Fact("throughput", subject, float(row["units an hour"]), "units an hour", str(row.get("basis", "")))


def _scenario(grid: list[list[Any]]) -> Iterator[str]:
    """The scenario that the workbook was saved under, where it is not the plan's own."""
    found = next((str(row[2]) for row in grid[:HEADER_ROW] if str(row[0]).startswith("scenario")), BASE)
    if found != BASE:
        yield f"the workbook was saved under the scenario {found}: its costs then are those of that scenario"


def _gaps(grids: Grids) -> Iterator[Fact]:
    for row in _table(grids.get("Gaps", [])):
        kind, subject, effect, workload = _texts(
            row, "kind", "what is missing or estimated", "what follows", "workload"
        )
        yield gap_fact(kind, subject, effect, workload)


def _table(grid: list[list[Any]]) -> Iterator[Row]:
    """The rows under the column heads, up to the first without a value in the first column."""
    titles = [str(title) for title in grid[HEADER_ROW]] if len(grid) > HEADER_ROW else []
    for row in grid[HEADER_ROW + 1 :]:
        if not row or row[0] == "":
            return
        yield dict(zip(titles, row, strict=False))


def _labelled(grid: list[list[Any]], label: str, default: object) -> object:
    """What stands beside a label in the first column."""
    return next((row[1] for row in grid if len(row) > 1 and row[0] == label), default)


def _texts(row: Row, a: str, b: str, c: str, d: str) -> tuple[str, str, str, str]:
    return str(row.get(a, "")), str(row.get(b, "")), str(row.get(c, "")), str(row.get(d, ""))


def _cell(grid: list[list[Any]], row: int, column: int) -> object:
    return grid[row][column] if len(grid) > row and len(grid[row]) > column else ""


def _day(value: object) -> str:
    return value.isoformat()[:10] if isinstance(value, date) else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
