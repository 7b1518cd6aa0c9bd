"""The sheet Owning: what buying hardware saves and spends against cloud, time by time, from the sheet Cash flow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from planner.answer import Plan
from planner.answer.views import OwningReturn
from planner.reports._shared.views import break_even_level, paid_back, rates
from planner.reports.xlsx._assumptions import Rate
from planner.reports.xlsx._book import HEADER_ROW, Book, Cell, Formula, Sheet, along, at, pages_for, room_for
from planner.reports.xlsx._cash import FIRST as FIRST_MONTH
from planner.reports.xlsx._cash import Block

SUM, FIRST = 1, 2
HARDLY_A_RATE = 1e6
"""Where a rate of almost -100 % makes so many of 1 in the end, discounting leaves nothing but rounding: not shown."""
NOTE = (
    "Amounts are formulas over sheet Cash flow: time 0 is the start of the first month, time m the end of month m and "
    "the start of the next. Before tax. Positive: owning pays less."
)


@dataclass(frozen=True, slots=True)
class Worth:
    """Where the net present value of a strategy stands, and what the plan says it is."""

    strategy: str
    formula: Formula
    planned: float


def write(book: Book, plan: Plan, rate: Rate, cash: Sheet, blocks: Iterable[Block]) -> tuple[Worth, ...]:
    """Writes the sheet; none where no strategy buys hardware."""
    by_name: dict[str, Block] = {block.strategy.name: block for block in blocks}
    if not plan.views.owning or "cloud" not in by_name:
        return ()
    times = max(len(own.savings) for own in plan.views.owning)
    flows = [value for own in plan.views.owning for value in (*own.savings, *accumulate(own.savings))]
    sheet = book.sheet("Owning")
    width = room_for(flows)
    sheet.widths((46, max(26.0, width), *(width for _ in range(times))))
    sheet.pages_wide(pages_for(times, width))
    sheet.heading(f"Owning against renting, {plan.currency}", NOTE)
    sheet.header(("time, months from the start", "sum", *("" for _ in range(times))))
    for time in range(times):
        sheet.put(HEADER_ROW, FIRST + time, time, "header")
    sheet.freeze(HEADER_ROW + 1, FIRST)
    row, found = HEADER_ROW + 2, []
    for own in plan.views.owning:
        writer = _Writer(sheet, cash, rate, times)
        worth, row = writer.write(plan, own, by_name["cloud"], by_name[own.strategy], row)
        found.append(Worth(own.strategy, worth, own.net_present_value))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Line:
    row: int
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the block of one strategy, row by row."""

    sheet: Sheet
    cash: Sheet
    rate: Rate
    times: int

    def write(self, plan: Plan, own: OwningReturn, cloud: Block, block: Block, row: int) -> tuple[Formula, int]:
        """The address and value of the net present value, and the row where the next block may begin."""
        self.sheet.put(row, 0, f"{own.strategy} against cloud", "block")
        for column in range(1, FIRST + self.times):
            self.sheet.put(row, column, None, "block")
        paid = self._paid("cloud pays", cloud, row + 1)
        instead = self._paid(f"{own.strategy} pays", block, row + 2)
        texts = [f"={at(paid.row, c)}-{at(instead.row, c)}" for c in self._columns()]
        saved = self._line(row + 3, "saved", texts, [a - b for a, b in zip(paid.values, instead.values, strict=True)])
        self._cumulative("saved so far", saved, row + 4)
        present = self._discounted("saved, discounted (net present value)", saved, row + 5, None)
        self._cumulative("saved so far, discounted", present, row + 6)
        row += 7
        for internal in own.internal_rates_annual:
            if (1 + internal) ** (-self.times / 12) > HARDLY_A_RATE:
                continue
            self._discounted("discounted at an internal rate of return", saved, row + 1, internal)
            row += 2
        for label, cell in self._facts(plan, own):
            self.sheet.put(row, 0, label, "wrap")
            self.sheet.put(row, 1, cell, "right" if isinstance(cell, str) else "figure")
            row += 1
        return Formula(f"={self.sheet.address(present.row, SUM)}", sum(present.values)), row + 1

    def _facts(self, plan: Plan, own: OwningReturn) -> list[tuple[str, Cell]]:
        facts: list[tuple[str, Cell]] = [
            ("internal rate of return a year", rates(own)),
            ("paid back in", paid_back(plan, own.payback_month)),
            ("paid back in, discounted", paid_back(plan, own.discounted_payback_month)),
        ]
        for price in own.break_even_prices:
            facts.append((f"costs less than cloud {break_even_level(price)}", price.multiple))
            if price.price_per_accelerator_hour is not None:
                facts.append((f"that price, {plan.currency} per accelerator-hour", price.price_per_accelerator_hour))
        return facts

    def _columns(self) -> range:
        return range(FIRST, FIRST + self.times)

    def _paid(self, label: str, block: Block, row: int) -> _Line:
        """What is paid at the end of a month and at the start of the next, from the sheet Cash flow."""
        months = len(block.start.amounts)
        texts, values = [], []
        for time in range(self.times):
            parts, amount = [], 0.0
            if time < months:
                parts.append(self.cash.address(block.start.row, FIRST_MONTH + time))
                amount += block.start.amounts[time]
            if 0 < time <= months:
                parts.append(self.cash.address(block.end.row, FIRST_MONTH + time - 1))
                amount += block.end.amounts[time - 1]
            texts.append(f"={'+'.join(parts) or '0'}")
            values.append(amount)
        return self._line(row, label, texts, values)

    def _cumulative(self, label: str, line: _Line, row: int) -> None:
        self.sheet.put(row, 0, label)
        for column, value in zip(self._columns(), accumulate(line.values), strict=True):
            before = "" if column == FIRST else f"{at(row, column - 1)}+"
            self.sheet.put(row, column, Formula(f"={before}{at(line.row, column)}", value), "money")

    def _discounted(self, label: str, line: _Line, row: int, internal: float | None) -> _Line:
        """At the plan's monthly rate, which is live, or at a yearly rate that stands in the row above."""
        if internal is None:
            factor, growth = self.rate.monthly, 1 + self.rate.monthly_value
            texts = [f"={at(line.row, c)}/(1+{factor})^{at(HEADER_ROW, c)}" for c in self._columns()]
        else:
            self.sheet.put(row - 1, 0, "internal rate of return a year")
            self.sheet.put(row - 1, SUM, internal, "rate")
            growth, cell = (1 + internal) ** (1 / 12), at(row - 1, SUM)
            texts = [f"={at(line.row, c)}/(1+{cell})^({at(HEADER_ROW, c)}/12)" for c in self._columns()]
        return self._line(row, label, texts, [value / growth**time for time, value in enumerate(line.values)])

    def _line(self, row: int, label: str, texts: list[str], values: list[float]) -> _Line:
        self.sheet.put(row, 0, label)
        total = Formula(f"=ROUND(SUM({along(row, FIRST, FIRST + self.times - 1)}),6)", round(sum(values), 6) + 0.0)
        self.sheet.put(row, SUM, total, "money")
        for column, text, value in zip(self._columns(), texts, values, strict=True):
            self.sheet.put(row, column, Formula(text, value), "money")
        return _Line(row, tuple(values))
