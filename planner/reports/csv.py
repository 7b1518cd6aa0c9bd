"""The plan as one tidy table: a row for each month, strategy and line. UTF-8 with a byte-order mark, for spreadsheets.

Three kinds of rows share the columns: `cash`, a row for each payment to one resource in a month (the only ones with an
`amount`, so that a strategy's amounts add up to its total cost), `purchase` and `use`, whose own money has
separate columns and is in the cash rows already. A resource has the same columns in all three.
Other views of the same money follow, a `value` of one `measure` each: `effective` (adds up to the total cost too),
`unit_cost`, `owning`, `bridge` (adds up to the saving of the recommendation) and `depreciation`.
Where money was converted or negotiated, rows of no strategy follow: `exchange_rate` and `negotiated_price`, in words.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from planner.reports._content.evidence import list_price_notes
from planner.reports._content.number_format import month_name
from planner.reports._content.purchase_pools import EXISTING_MARK, payment_title
from planner.reports._content.tidy_measures import list_measures
from planner.result import CashRow, Plan, Purchase, Strategy, Use
from pricing.plain_text import spreadsheet_text

MEDIA_TYPE = "text/csv; charset=utf-8"
SUFFIX = ".csv"

COLUMNS = (
    "strategy", "status", "month", "month_name", "at", "kind", "category", "workload", "name", "provider", "region",
    "purchase_option", "accelerator", "accelerators_per_node", "nodes", "node_hours", "units", "usable_from",
    "usable_to", "upfront", "per_month", "use_cost", "amount", "currency", "measure", "value",
)  # fmt: skip

Row = dict[str, str | float]


def render(plan: Plan) -> bytes:
    """The table of all strategies; one that cannot serve the demand is one row with its reasons."""
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, restval="")
    writer.writeheader()
    for strategy in plan.strategies:
        for row in _strategy_rows(plan, strategy):
            writer.writerow({key: _cell_text(value) for key, value in row.items()})
    for row in (*_measure_rows(plan), *_price_note_rows(plan)):
        writer.writerow({key: _cell_text(value) for key, value in row.items()})
    return table.getvalue().encode("utf-8-sig")


def _strategy_rows(plan: Plan, strategy: Strategy) -> Iterator[Row]:
    common: Row = {"strategy": strategy.name, "status": strategy.status, "currency": plan.currency}
    if strategy.status == "infeasible":
        yield common | {"kind": "infeasible", "name": "; ".join(map(str, strategy.reasons))}
    resources: tuple[Purchase | Use, ...] = (*strategy.uses, *strategy.purchases)
    known = {payment_title(line): line for line in resources}
    lines = [
        *((purchase.month, _purchase_row(purchase)) for purchase in strategy.purchases),
        *((use.month, _use_row(use)) for use in strategy.uses),
        *((cash.month, _cash_row(cash, known)) for cash in strategy.cash),
    ]
    for month, line in sorted(lines, key=lambda entry: entry[0]):
        yield common | {"month": month, "month_name": month_name(plan, month)} | line


def _measure_rows(plan: Plan) -> Iterator[Row]:
    for row in list_measures(plan):
        when: Row = {"month": row.month, "month_name": month_name(plan, row.month)} if row.month else {}
        subject: Row = {"category": row.category, "workload": row.workload, "name": row.name}
        value: Row = {"measure": row.measure, "value": row.value, "currency": plan.currency if row.is_money else ""}
        yield {"strategy": row.strategy, "kind": row.kind} | when | subject | value


def _price_note_rows(plan: Plan) -> Iterator[Row]:
    for rate in plan.exchange_rates:
        yield {"kind": "exchange_rate", "name": rate.words, "currency": rate.to_currency}
    for price in plan.prices:
        if price.adjustment:
            yield {
                "kind": "negotiated_price",
                "name": f"{price.instance_type}: {'; '.join(list_price_notes(price))}",
                "provider": price.provider,
                "region": price.region,
                "purchase_option": price.purchase_option,
                "currency": price.currency,
            }


def _resource_columns(line: Purchase | Use) -> Row:
    return {
        "category": line.what,
        "name": line.name,
        "provider": line.provider,
        "region": line.region,
        "purchase_option": line.purchase_option,
        "accelerator": line.accelerator,
        "accelerators_per_node": line.accelerators_per_node,
    }


def _purchase_row(line: Purchase) -> Row:
    own: Row = {"nodes": line.count} if line.unit == "node" else {"measure": line.unit, "value": line.amount}
    own |= {"usable_from": line.usable_from, "usable_to": line.usable_to}
    money: Row = {"upfront": line.upfront, "per_month": line.per_month}
    return {"kind": "purchase", "at": "start"} | _resource_columns(line) | own | money


def _use_row(line: Use) -> Row:
    work: Row = {"workload": line.workload, "nodes": line.nodes, "node_hours": line.node_hours, "units": line.units}
    return {"kind": "use"} | _resource_columns(line) | work | {"use_cost": line.cost}


def _cash_row(line: CashRow, known: Mapping[str, Purchase | Use]) -> Row:
    """A payment, with the resource that its title names; by its title where that is none of the strategy's."""
    resource = known.get(line.what.removesuffix(EXISTING_MARK).rstrip())
    resource_columns: Row = {"name": line.what} if resource is None else _resource_columns(resource)
    return resource_columns | {"kind": "cash", "at": line.at, "category": line.category, "amount": line.amount}


def _cell_text(value: str | float) -> str:
    """Numbers in full (a spreadsheet adds them up), texts harmless."""
    return spreadsheet_text(value) if isinstance(value, str) else repr(value)
