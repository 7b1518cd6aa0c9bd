"""The sheet Owning: savings of buying hardware against cloud by month, from the sheet Cash flow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from planner.reports._content.financial_views import break_even_price_text, internal_rates_text, payback_text
from planner.reports.xlsx.assumptions_sheet import DiscountRateCells
from planner.reports.xlsx.cash_flow_sheet import FIRST as FIRST_MONTH
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    MONTHS_ROW,
    Cell,
    Formula,
    PlanWorkbook,
    WorkbookSheet,
    a1,
    difference_formula,
    fitting_width,
    row_range,
)
from planner.result import Plan
from planner.result.financial_views import OwningReturn

SUM, FIRST = 1, 2
GROWTH_MAX = 1e6
"""A rate of almost -100 % with a larger discount factor at the end leaves only rounding errors: it is left out."""
NOTE = (
    "Amounts are formulas over sheet Cash flow: time 0 is the start of the first month, time m the end of month m and "
    "the start of the next. Before tax. Positive: owning pays less. Values marked «as planned» do not follow changes."
)


@dataclass(frozen=True, slots=True)
class NetPresentValueCell:
    """The cell of a strategy's net present value, and the value of the plan."""

    strategy: str
    formula: Formula
    planned: float


def write(
    book: PlanWorkbook, plan: Plan, rate: DiscountRateCells, cash: WorkbookSheet, blocks: Iterable[CashFlowBlock]
) -> tuple[NetPresentValueCell, ...]:
    """Writes the sheet; none where no strategy buys hardware."""
    by_name: dict[str, CashFlowBlock] = {block.strategy.name: block for block in blocks}
    if not plan.views.owning or "cloud" not in by_name:
        return ()
    times = max(len(own.savings) for own in plan.views.owning)
    flows = [value for own in plan.views.owning for value in (*own.savings, *accumulate(own.savings))]
    sheet = book.sheet("Owning")
    width = fitting_width(flows)
    sheet.widths((38, max(20.0, width), *(width for _ in range(times))))
    sheet.heading(f"Owning against renting, {plan.currency}", NOTE)
    sheet.header(("time, months from the start", "sum", *("" for _ in range(times))))
    for time in range(times):
        sheet.put(HEADER_ROW, FIRST + time, time, "header")
    sheet.freeze(HEADER_ROW + 1, FIRST)
    row, net_present_values = HEADER_ROW + 2, []
    for own in plan.views.owning:
        writer = _OwningWriter(sheet, cash, rate, times)
        value, row = writer.write(plan, own, by_name["cloud"], by_name[own.strategy], row)
        net_present_values.append(NetPresentValueCell(own.strategy, value, own.net_present_value))
    return tuple(net_present_values)


@dataclass(frozen=True, slots=True)
class _SavingsRow:
    row: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _OwningWriter:
    """Writes the block of one strategy, row by row."""

    sheet: WorkbookSheet
    cash: WorkbookSheet
    rate: DiscountRateCells
    times: int

    def write(
        self, plan: Plan, own: OwningReturn, cloud: CashFlowBlock, block: CashFlowBlock, row: int
    ) -> tuple[Formula, int]:
        """The address and value of the net present value, and the row where the next block may begin."""
        self.sheet.put_block_title(row, f"{own.strategy} against cloud", FIRST + self.times)
        paid = self._payment_row("cloud pays", cloud, row + 1)
        instead = self._payment_row(f"{own.strategy} pays", block, row + 2)
        both = zip(paid.values, instead.values, strict=True)
        pairs = zip(self._time_columns(), both, strict=True)
        differences = [difference_formula(a1(paid.row, c), a1(instead.row, c), a - b, digits=6) for c, (a, b) in pairs]
        saved = self._formula_row(
            row + 3, "saved", [one.text for one in differences], [float(one.value) for one in differences]
        )
        self.sheet.put_running_sums(row + 4, "saved so far", saved.row, FIRST, saved.values)
        present = self._discounted_row("saved, discounted (net present value)", saved, row + 5, None)
        self.sheet.put_running_sums(row + 6, "saved so far, discounted", present.row, FIRST, present.values)
        row += 7
        for internal in own.internal_rates_annual:
            if (1 + internal) ** (-self.times / 12) > GROWTH_MAX:
                continue
            self._discounted_row("discounted at an internal rate of return", saved, row + 1, internal)
            row += 2
        for label, cell in self._return_facts(plan, own):
            self.sheet.put(row, 0, label, "wrap")
            self.sheet.put(row, 1, cell, "right" if isinstance(cell, str) else "figure")
            row += 1
        return Formula(f"={self.sheet.address(present.row, SUM)}", round(sum(present.values), 2) + 0.0), row + 1

    def _return_facts(self, plan: Plan, own: OwningReturn) -> list[tuple[str, Cell]]:
        facts: list[tuple[str, Cell]] = [
            ("internal rate of return a year, as planned", internal_rates_text(own)),
            ("paid back in, as planned", payback_text(plan, own.payback_month)),
            ("paid back in, discounted, as planned", payback_text(plan, own.discounted_payback_month)),
        ]
        for price in own.break_even_prices:
            facts.append((f"as planned costs less than cloud {break_even_price_text(price)}", price.multiple))
            if price.price_per_accelerator_hour is not None:
                facts.append((f"that price, {plan.currency} per accelerator-hour", price.price_per_accelerator_hour))
        return facts

    def _time_columns(self) -> range:
        return range(FIRST, FIRST + self.times)

    def _payment_row(self, label: str, block: CashFlowBlock, row: int) -> _SavingsRow:
        """Payments at the end of a month and at the start of the next, from the sheet Cash flow."""
        months = self.cash.range(MONTHS_ROW, FIRST_MONTH, block.last_column)
        start, end = (self.cash.range(line.row, FIRST_MONTH, block.last_column) for line in (block.start, block.end))
        now = [a1(HEADER_ROW, column, fixed_row=True) for column in self._time_columns()]
        texts = [f"=SUMIFS({start},{months},{time}+1)+SUMIFS({end},{months},{time})" for time in now]
        padded = [0.0] * self.times
        # time m holds the end of month m and the start of month m + 1, hence the shift by one
        starts, ends = (*block.start.amounts, *padded), (0.0, *block.end.amounts, *padded)
        return self._formula_row(row, label, texts, [a + b for a, b, _ in zip(starts, ends, padded, strict=False)])

    def _discounted_row(self, label: str, line: _SavingsRow, row: int, internal: float | None) -> _SavingsRow:
        """At the plan's monthly rate, which is live, or at a yearly rate in the row above."""
        if internal is None:
            factor, growth = self.rate.monthly, 1 + self.rate.monthly_value
            texts = [f"={a1(line.row, c)}/(1+{factor})^{a1(HEADER_ROW, c)}" for c in self._time_columns()]
        else:
            self.sheet.put(row - 1, 0, "internal rate of return a year, as planned")
            self.sheet.put(row - 1, SUM, internal, "percent_fine")
            growth, cell = (1 + internal) ** (1 / 12), a1(row - 1, SUM, fixed_column=True)
            texts = [f"={a1(line.row, c)}/(1+{cell})^({a1(HEADER_ROW, c)}/12)" for c in self._time_columns()]
        return self._formula_row(row, label, texts, [value / growth**time for time, value in enumerate(line.values)])

    def _formula_row(self, row: int, label: str, texts: list[str], values: list[float]) -> _SavingsRow:
        pairs = zip(texts, values, strict=True)
        self.sheet.put_formulas(row, label, FIRST, [Formula(text, value) for text, value in pairs])
        total = Formula(f"=ROUND(SUM({row_range(row, FIRST, FIRST + self.times - 1)}),2)", round(sum(values), 2) + 0.0)
        self.sheet.put(row, SUM, total, "money")
        return _SavingsRow(row, tuple(values))
