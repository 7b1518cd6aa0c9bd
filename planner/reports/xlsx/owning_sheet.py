"""The sheet Owning: savings of buying hardware against cloud by month, from the sheet Cash flow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from planner.reports._content.financial_views import break_even_price_text, internal_rates_text, payback_text
from planner.reports.xlsx.assumptions_sheet import DiscountRateCells
from planner.reports.xlsx.cash_flow_sheet import FIRST as FIRST_MONTH
from planner.reports.xlsx.cash_flow_sheet import CashFlowBlock
from planner.reports.xlsx.checks_sheet import AS_PLANNED, WorkbookCheck
from planner.reports.xlsx.workbook import (
    HEADER_ROW,
    MONTHS_ROW,
    Cell,
    Formula,
    MonthlyRow,
    PlanWorkbook,
    WorkbookSheet,
    a1,
    difference_formula,
    fitting_width,
)
from planner.result import Plan
from planner.result.financial_views import OwningReturn
from pricing.frozen_values import dataclass

SUM, FIRST = 1, 2
GROWTH_MAX = 1e6
"""A rate of almost -100 % with a larger discount factor at the end leaves only rounding errors: it is left out."""
NOTE = (
    "Amounts are formulas over sheet Cash flow: time 0 is the start of the first month, time m the end of month m and "
    "the start of the next. Before tax. Positive: owning pays less. Values marked «as planned» do not follow changes."
)


def write(
    book: PlanWorkbook, plan: Plan, rate: DiscountRateCells, cash: WorkbookSheet, blocks: Iterable[CashFlowBlock]
) -> list[WorkbookCheck]:
    """Writes the sheet, none where no strategy buys hardware; its net present values against those of the plan."""
    by_name: dict[str, CashFlowBlock] = {block.strategy.name: block for block in blocks}
    if not plan.views.owning or "cloud" not in by_name:
        return []
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
    writer = _OwningWriter(sheet, cash, rate, range(FIRST, FIRST + times))
    row, checks = HEADER_ROW + 2, []
    for own in plan.views.owning:
        value, row = writer.write(plan, own, by_name["cloud"], by_name[own.strategy], row)
        name = f"{own.strategy}: net present value against cloud"
        checks.append(WorkbookCheck(name, value, own.net_present_value, holds=AS_PLANNED))
    return checks


@dataclass(frozen=True, slots=True)
class _OwningWriter:
    """Writes the block of one strategy, row by row; `columns` are those of the times."""

    sheet: WorkbookSheet
    cash: WorkbookSheet
    rate: DiscountRateCells
    columns: range

    def write(
        self, plan: Plan, own: OwningReturn, cloud: CashFlowBlock, block: CashFlowBlock, row: int
    ) -> tuple[Formula, int]:
        """The address and value of the net present value, and the row where the next block may begin."""
        self.sheet.put_block_title(row, f"{own.strategy} against cloud", self.columns.stop)
        paid = self._payment_row("cloud pays", cloud, row + 1)
        instead = self._payment_row(f"{own.strategy} pays", block, row + 2)
        pairs = zip(self.columns, paid.amounts, instead.amounts, strict=True)
        differences = [difference_formula(a1(row + 1, c), a1(row + 2, c), a - b, digits=6) for c, a, b in pairs]
        saved = self.sheet.put_series(row + 3, "saved", FIRST, differences, digits=2)
        self.sheet.put_running_sums(row + 4, "saved so far", saved.row, FIRST, saved.amounts)
        exponents = [f"(1+{self.rate.monthly})^{a1(HEADER_ROW, c)}" for c in self.columns]
        label = "saved, discounted (net present value)"
        present = self._discounted_row(label, saved, row + 5, exponents, 1 + self.rate.monthly_value)
        self.sheet.put_running_sums(row + 6, "saved so far, discounted", present.row, FIRST, present.amounts)
        row += 7
        for internal in own.internal_rates_annual:
            if (1 + internal) ** (-len(self.columns) / 12) > GROWTH_MAX:
                continue
            self.sheet.put(row, 0, "internal rate of return a year, as planned")
            self.sheet.put(row, SUM, internal, "percent_fine")
            cell = a1(row, SUM, fixed_column=True)
            exponents = [f"(1+{cell})^({a1(HEADER_ROW, c)}/12)" for c in self.columns]
            label = "discounted at an internal rate of return"
            self._discounted_row(label, saved, row + 1, exponents, (1 + internal) ** (1 / 12))
            row += 2
        for label, fact in self._return_facts(plan, own):
            self.sheet.put(row, 0, label, "wrap")
            self.sheet.put(row, 1, fact, "right" if isinstance(fact, str) else "figure")
            row += 1
        return Formula(f"={self.sheet.address(present.row, SUM)}", round(sum(present.amounts), 2) + 0.0), row + 1

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

    def _payment_row(self, label: str, block: CashFlowBlock, row: int) -> MonthlyRow:
        """Payments at the end of a month and at the start of the next, from the sheet Cash flow."""
        months = self.cash.range(MONTHS_ROW, FIRST_MONTH, block.last_column)
        start, end = (self.cash.range(line.row, FIRST_MONTH, block.last_column) for line in (block.start, block.end))
        now = [a1(HEADER_ROW, column, fixed_row=True) for column in self.columns]
        padded = [0.0] * len(self.columns)
        at_start, at_end = (dict(zip(block.months, each.amounts, strict=True)) for each in (block.start, block.end))
        # time m holds the end of month m and the start of month m + 1, hence the shift by one
        in_plan = range(1, block.months.stop)
        amounts = zip(
            now,
            (*(at_start[month] for month in in_plan), *padded),
            (at_end.get(0, 0.0), *(at_end[month] for month in in_plan), *padded),
            strict=False,
        )
        cells = [
            Formula(f"=SUMIFS({start},{months},{time}+1)+SUMIFS({end},{months},{time})", a + b)
            for time, a, b in amounts
        ]
        if block.months[0] < 1:  # paid before the plan: with interest until its start
            growth = f"(1+{self.rate.monthly})"
            before = f"SUMPRODUCT(({months}<1)*{start}*{growth}^(1-{months}))"
            before += f"+SUMPRODUCT(({months}<0)*{end}*{growth}^(-{months}))"
            rate = 1 + self.rate.monthly_value
            earlier = sum(at_start[month] * rate ** (1 - month) for month in range(block.months[0], 1))
            earlier += sum(at_end[month] * rate**-month for month in range(block.months[0], 0))
            cells[0] = Formula(f"{cells[0].text}+{before}", float(cells[0].value) + earlier)
        return self.sheet.put_series(row, label, FIRST, cells, digits=2)

    def _discounted_row(
        self, label: str, line: MonthlyRow, row: int, factors: Sequence[str], growth: float
    ) -> MonthlyRow:
        """The amounts of a row over `factors`, which grow by `growth` a month."""
        cells = [
            Formula(f"={a1(line.row, column)}/{factor}", value / growth**time)
            for time, (column, factor, value) in enumerate(zip(self.columns, factors, line.amounts, strict=True))
        ]
        return self.sheet.put_series(row, label, FIRST, cells, digits=2)
