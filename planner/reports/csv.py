"""The plan as one tidy table: a row for each month, strategy and line. UTF-8 with a byte-order mark, for spreadsheets.

Three kinds of rows share the columns: `cash`, a row for each payment to one resource in a month (the only ones with an
`amount`, so that a strategy's amounts add up to its total cost), `purchase` and `use`, whose own money has
separate columns and is in the cash rows already. A resource has the same columns in all three.
Other views of the same money follow, a `value` of one `measure` each: `effective` (adds up to the total cost too),
`cost_centre` (of the recommended strategy, the team in `name`), `unit_cost`, `owning`, `bridge` (adds up to the saving
of the recommendation) and `depreciation`; and `emission`, energy and carbon of each month and place, where a value that
is not known has no row.
Where money was converted or negotiated, rows of no strategy follow: `exchange_rate` and `negotiated_price`, in words.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping

from planner.reports._content.evidence import list_price_notes
from planner.reports._content.number_format import month_name
from planner.reports._content.purchase_pools import payment_title
from planner.result import EXISTING_SUFFIX, CashRow, Plan, Purchase, Strategy, Use
from planner.result.financial_views import Depreciation, OwningReturn
from pricing.counted_nouns import format_count
from pricing.plain_text import spreadsheet_text

MEDIA_TYPE = "text/csv; charset=utf-8"
SUFFIX = ".csv"

COLUMNS = (
    "strategy", "status", "month", "month_name", "at", "kind", "category", "workload", "name", "provider", "region",
    "purchase_option", "accelerator", "accelerators_per_node", "nodes", "node_hours", "units", "usable_from",
    "usable_to", "upfront", "per_month", "use_cost", "amount", "currency", "measure", "value",
)  # fmt: skip

NON_MONEY_MEASURES = (
    "internal_rate_annual",
    "payback_month",
    "discounted_payback_month",
    "break_even_multiple",
    "energy_kwh",
    "carbon_kg",
)
"""A number of months, a rate, a multiple, energy or carbon; all others are amounts in the plan's currency."""

COST_CENTRE_MEASURES = ("cash", "effective", "idle", "shared", "budget", "variance")
"""Of a cost centre in a month; idle and shared are parts of effective."""

Row = dict[str, str | float]


def render(plan: Plan) -> bytes:
    """The table of all strategies; one that cannot serve the demand is one row with its reasons."""
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, restval="")
    writer.writeheader()
    of_strategies = (row for strategy in plan.strategies for row in _strategy_rows(plan, strategy))
    emitted = (row for strategy in plan.strategies for row in _emission_rows(plan, strategy))
    for row in (*of_strategies, *_measure_rows(plan), *emitted, *_price_note_rows(plan)):
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
    """Every value of the financial views; a missing value has no row. `name` is the purchase, the prices or the amount
    of work that is measured."""
    for cost in plan.views.effective:
        place = {"category": cost.category}
        yield _measure_row(plan, "effective", cost.strategy, "effective_cost", cost.amount, cost.month, **place)
    for row in plan.views.cost_centres:
        for measure in COST_CENTRE_MEASURES:
            value = getattr(row, measure)
            if value is not None:
                chosen, team = plan.recommendation.strategy or "", {"name": row.team}
                yield _measure_row(plan, "cost_centre", chosen, measure, value, row.month, **team)
    for unit in plan.views.unit_costs:
        work = {"workload": unit.workload, "name": unit.each}
        yield _measure_row(plan, "unit_cost", unit.strategy, "cost_each", unit.cost_each, 0, **work)
        yield _measure_row(plan, "unit_cost", unit.strategy, "present_cost_each", unit.present_cost_each, 0, **work)
    for own in plan.views.owning:
        for measure, value, name in _owning_measures(own):
            if value is not None:
                yield _measure_row(plan, "owning", own.strategy, measure, value, name=name)
    for step in plan.views.bridge:
        chosen = plan.recommendation.strategy or ""
        yield _measure_row(plan, "bridge", chosen, "present_cost_saved", step.difference, category=step.category)
    for bought in plan.views.depreciation:
        name = f"{bought.count} x {bought.name}, ordered in month {bought.month}"
        for measure, value, month in _depreciation_measures(plan, bought):
            yield _measure_row(plan, "depreciation", bought.strategy, measure, value, month, name=name)


def _emission_rows(plan: Plan, strategy: Strategy) -> Iterator[Row]:
    for row in strategy.emissions:
        place = {"provider": row.provider, "region": row.region}
        for measure, value in (("energy_kwh", row.energy_kwh), ("carbon_kg", row.carbon_kg)):
            if value is not None:
                yield _measure_row(plan, "emission", strategy.name, measure, value, row.month, **place)


def _measure_row(
    plan: Plan, kind: str, strategy: str, measure: str, value: float, month: int = 0, **subject: str
) -> Row:
    """A value of one measure of one thing; `month` is the last of its year for a value of a year, 0 without one."""
    when: Row = {"month": month, "month_name": month_name(plan, month)} if month else {}
    currency = "" if measure in NON_MONEY_MEASURES else plan.currency
    row: Row = {"strategy": strategy, "kind": kind, "measure": measure, "value": value, "currency": currency}
    return row | when | subject


def _owning_measures(own: OwningReturn) -> Iterator[tuple[str, float | None, str]]:
    for time, saved in enumerate(own.savings):
        yield "saved", saved, f"{format_count(time, 'month')} from the start"
    yield "net_present_value", own.net_present_value, ""
    for rate in own.internal_rates_annual:
        yield "internal_rate_annual", rate, ""
    yield "payback_month", own.payback_month, ""
    yield "discounted_payback_month", own.discounted_payback_month, ""
    for price in own.break_even_prices:
        yield "break_even_multiple", price.multiple, f"{price.prices} prices"
        yield "break_even_price_per_accelerator_hour", price.price_per_accelerator_hour, f"{price.prices} prices"


def _depreciation_measures(plan: Plan, each: Depreciation) -> Iterator[tuple[str, float, int]]:
    for year in each.years:
        last = min(12 * year.year, plan.months)
        yield "deduction", year.deduction, last
        yield "book_value", year.book_value, last
        yield "tax_saved", year.tax_saved, last
    yield "gain_at_resale", each.gain, each.sold_in
    yield "tax_on_gain", each.tax_on_gain, each.sold_in
    yield "present_value", each.present_value, each.sold_in


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
    nodes: Row = {"nodes": line.nodes_at_once, "node_hours": line.node_hours}
    work: Row = {"workload": line.workload, "units": line.units, "use_cost": line.cost}
    return {"kind": "use"} | _resource_columns(line) | nodes | work


def _cash_row(line: CashRow, known: Mapping[str, Purchase | Use]) -> Row:
    """A payment, with the resource that its title names; by its title where that is none of the strategy's."""
    resource = known.get(line.what.removesuffix(EXISTING_SUFFIX))
    resource_columns: Row = {"name": line.what} if resource is None else _resource_columns(resource)
    return resource_columns | {"kind": "cash", "at": line.at, "category": line.category, "amount": line.amount}


def _cell_text(value: str | float) -> str:
    """Numbers in full (a spreadsheet adds them up), texts harmless."""
    return spreadsheet_text(value) if isinstance(value, str) else repr(value)
