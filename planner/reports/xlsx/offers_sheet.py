"""The sheet Offers: the prices that the plan pays, or that its cheapest alternative would pay. Formulas read them here,
so one that is changed is paid everywhere."""

from __future__ import annotations

from planner.reports._content.evidence import list_price_notes
from planner.reports._content.repricing import ledger_of
from planner.reports.xlsx.input_states import InputCounts, count_states, mark_states, state_formula
from planner.reports.xlsx.workbook import HEADER_ROW, Cell, WorkbookSheet, a1
from planner.result import Plan

PRICE, STATE = 5, 7
NOTE = "Of a node. Blue prices are inputs: change one and every payment at it follows. Purchases stay as decided."
COLUMNS = (
    ("name in formulas", 11, "text"), ("provider", 10, "text"), ("region", 16, "wrap"), ("instance type", 24, "wrap"),
    ("option", 18, "wrap"), ("price per hour", 14, "input"), ("currency", 9, "text"),
    ("state of the input", 12, "text"), ("as of", 12, "date"), ("source", 18, "wrap"),
    ("description of the source", 44, "wrap"), ("how it was read", 12, "wrap"),
)  # fmt: skip
ADJUSTED = (("list price per hour", 12, "figure"), ("currency of the list", 9, "text"), ("negotiated", 40, "wrap"))
PLANNED = ("as planned", 14, "figure")


def write(sheet: WorkbookSheet, plan: Plan) -> tuple[dict[str, str], InputCounts]:
    """Writes the sheet; by name of an offer the cell of its price, and the inputs."""
    names = ledger_of(plan).offers or tuple(f"offer_{number}" for number, _ in enumerate(plan.prices, start=1))
    rows: list[tuple[Cell, ...]] = [
        (name, p.provider, p.region, p.instance_type, p.purchase_option, p.price_per_hour, p.currency, None,
         p.as_of, p.source_id, p.source, p.method)
        for name, p in zip(names, plan.prices, strict=True)
    ]  # fmt: skip
    columns, note = list(COLUMNS), NOTE
    if any(map(list_price_notes, plan.prices)):
        columns += ADJUSTED
        list_prices = [(p.list_price_per_hour, p.list_currency, p.adjustment) for p in plan.prices]
        rows = [(*row, *more) for row, more in zip(rows, list_prices, strict=True)]
        note = " ".join([NOTE, *(f"Converted at {rate.words}." for rate in plan.exchange_rates)])
    columns.append(PLANNED)
    rows = [(*row, price.price_per_hour) for row, price in zip(rows, plan.prices, strict=True)]
    sheet.list("Offers", note, columns, rows)
    first, last = HEADER_ROW + 1, HEADER_ROW + max(len(rows), 1)
    for row in range(first, first + len(rows)):
        price = a1(row, PRICE)
        sheet.put(row, STATE, state_formula(price, a1(row, len(columns) - 1), f"{price}<0"))
    sheet.numbers((first, PRICE, last, PRICE))
    mark_states(sheet, first, last, STATE, a1(first, STATE))
    price_cells = {name: sheet.address(first + index, PRICE) for index, name in enumerate(names)}
    return price_cells, count_states(sheet.column(STATE, first, last))
