"""The plan as a workbook for a review: formulas all the way from assumptions and offers to totals.

What the solver decided are inputs (sheet Choices); every amount follows from them, from Assumptions and from Offers.

Values from outside are written as numbers and strings only: no text becomes a formula or a link. Formulas are made of
addresses and our own names, and each is stored with its computed value. The same plan gives the same bytes.
"""

from __future__ import annotations

from planner.answer import Plan
from planner.reports._shared.again import Again
from planner.reports.xlsx import (
    _as_read,
    _assumptions,
    _bill,
    _break_even,
    _cash,
    _changes,
    _checks,
    _choices,
    _considered,
    _contents,
    _costs,
    _depreciation,
    _effective,
    _lists,
    _offers,
    _owning,
    _payments,
    _quotas,
    _scenarios,
    _sensitivity,
    _sources,
    _summary,
    _views,
    _workloads,
)
from planner.reports.xlsx._book import Book
from planner.reports.xlsx._figures import Figures
from planner.reports.xlsx._inputs import together

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SUFFIX = ".xlsx"


def render(plan: Plan) -> bytes:
    """The workbook: Summary first, then what it costs, inputs and workings, and what they rest on."""
    book = Book(plan.as_of)
    again = Again(plan)
    summary, contents = book.sheet("Summary"), book.sheet("Contents")
    rate, cells, of_figures = _assumptions.write(book.sheet("Assumptions"), plan, again)
    prices, of_prices = _offers.write(book.sheet("Offers"), plan)
    figures = Figures(cells | prices)
    choices = _choices.write(book.sheet("Choices"), plan)
    payments = _payments.write(book.sheet("Payments"), plan, again, figures, rate, choices)
    cash = book.sheet("Cash flow")
    blocks = _cash.write(cash, plan, rate, payments, figures.cells)
    borne = _effective.write(book, plan, payments, figures.cells)
    worths = _owning.write(book, plan, rate, cash, blocks)
    bridge = _views.write_bridge(book, plan, cash, blocks, rate)
    costs = _costs.write(book, plan, again, choices, payments, figures.cells)
    scenarios = _scenarios.write(book, plan, again, blocks, figures.cells)
    _sensitivity.write(book, plan, again)
    cost = _workloads.write(book.sheet("Workloads"), plan, costs)
    _views.write_unit_costs(book, plan, costs)
    taxes = _depreciation.write(book, plan, again, rate, choices, payments, figures.cells)
    months = _workloads.write_demand(book.sheet("Demand"), plan)
    _as_read.write(book, plan)
    _lists.write(book, plan)
    _break_even.write(book, plan)
    _considered.write(book, plan)
    _quotas.write(book, plan)
    _bill.write(book, plan)
    rows = _sources.write(book.sheet("Sources"), plan)
    _changes.write(book, plan, cash, blocks)
    inputs = together((of_figures, of_prices, choices.inputs, payments.inputs, *taxes.inputs))
    grounds = _checks.Grounds(
        blocks, cost, months, rows, borne, worths, bridge, taxes.worths, scenarios.of_strategies, costs.sums, inputs
    )
    failed = _checks.write(book.sheet("Checks"), plan, grounds)
    _summary.write(summary, plan, blocks, failed, scenarios.cheapest)
    _contents.write(contents, book)
    return book.to_bytes(tuple(_contents.SHEETS))
