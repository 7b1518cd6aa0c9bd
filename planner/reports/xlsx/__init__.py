"""The plan as a workbook for a review: formulas all the way from assumptions and offers to totals.

The decisions of the solver are inputs (sheet Choices); every amount follows from them, from Assumptions and Offers.

Values from outside are written as numbers and strings only: no text becomes a formula or a link. Formulas are made of
addresses and our own names, and each is stored with its computed value. The same plan gives the same bytes.
"""

from __future__ import annotations

from planner.reports._content.repricing import LedgerRepricing
from planner.reports.xlsx import (
    alternatives_sheet,
    assumptions_sheet,
    break_even_sheet,
    bridge_and_unit_cost_sheets,
    cash_flow_sheet,
    changes_sheet,
    chargeback_sheet,
    checks_sheet,
    choices_sheet,
    contents_sheet,
    cost_centres_sheet,
    depreciation_sheet,
    effective_cost_sheet,
    list_sheets,
    offers_sheet,
    owning_sheet,
    payments_sheet,
    review_sheets,
    scenarios_sheet,
    sensitivity_sheet,
    sources_sheet,
    summary_sheet,
    workload_costs_sheet,
    workloads_sheet,
)
from planner.reports.xlsx.input_states import sum_counts
from planner.reports.xlsx.workbook import PlanWorkbook
from planner.result import Plan

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SUFFIX = ".xlsx"


def render(plan: Plan) -> bytes:
    """The workbook: Summary first, then costs, inputs and workings, and sources."""
    book = PlanWorkbook(plan.as_of)
    repricing = LedgerRepricing(plan)
    summary, contents = book.sheet("Summary"), book.sheet("Contents")
    rate, cells, of_figures = assumptions_sheet.write(book.sheet("Assumptions"), plan, repricing)
    prices, of_prices = offers_sheet.write(book.sheet("Offers"), plan)
    figures = cells | prices
    choices = choices_sheet.write(book.sheet("Choices"), plan)
    payments = payments_sheet.write(book.sheet("Payments"), plan, repricing, figures, rate, choices)
    cash = book.sheet("Cash flow")
    blocks = cash_flow_sheet.write(cash, plan, rate, payments)
    of_effective_costs = effective_cost_sheet.write(book, plan, payments, blocks)
    of_owning = owning_sheet.write(book, plan, rate, cash, blocks)
    of_bridge = bridge_and_unit_cost_sheets.write_bridge(book, plan, cash, blocks, rate)
    costs = workload_costs_sheet.write(book, plan, repricing, payments)
    of_scenarios, cheapest = scenarios_sheet.write(book, plan, repricing, blocks, figures)
    sensitivity_sheet.write(book, plan, repricing)
    charged = chargeback_sheet.write(book, plan, repricing, payments, costs)
    chosen = next((block for block in blocks if block.strategy.name == plan.recommendation.strategy), None)
    of_centres = list(cost_centres_sheet.write(book, plan, charged, chosen))
    review_sheets.write(book, plan, blocks)
    cost = workloads_sheet.write(book.sheet("Workloads"), plan, costs)
    bridge_and_unit_cost_sheets.write_unit_costs(book, plan, costs)
    of_taxes, of_parts = depreciation_sheet.write(book, plan, repricing, rate, payments)
    of_demand = workloads_sheet.write_demand(book.sheet("Demand"), plan)
    list_sheets.write(book, plan)
    break_even_sheet.write(book, plan)
    alternatives_sheet.write(book, plan)
    of_sources = sources_sheet.write(book.sheet("Sources"), plan)
    changes_sheet.write(book, plan, cash, blocks)
    of_strategies = checks_sheet.list_strategy_checks(plan, blocks, costs.sums, cost)
    checks = [*of_strategies, *of_scenarios, *of_effective_costs, *of_owning, *of_bridge, *of_taxes, *of_centres]
    inputs = sum_counts((of_figures, of_prices, choices.inputs, payments.inputs, *of_parts))
    failed = checks_sheet.write(book.sheet("Checks"), plan, [*checks, of_demand, of_sources], inputs)
    summary_sheet.write(summary, plan, blocks, failed, cheapest)
    contents_sheet.write(contents, book)
    return book.to_bytes(tuple(contents_sheet.SHEETS))
