"""The sheet Owning: what buying hardware saves and spends against cloud, time by time, from the sheet Cash flow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from planner.answer import Plan
from planner.answer.views import OwningReturn
from planner.reports._shared.views import break_even_level, paid_back, rates
from planner.reports.xlsx._assumptions import Rate
from planner.reports.xlsx._book import HEADER_ROW, Book, Cell, Formula, Sheet, along, at, less, room_for, so_far
from planner.reports.xlsx._cash import FIRST as FIRST_MONTH
from planner.reports.xlsx._cash import MONTHS, Block

SUM, FIRST = 1, 2
HARDLY_A_RATE = 1e6
"""Where a rate of almost -100 % makes so many of 1 in the end, discounting leaves nothing but rounding: not shown."""
NOTE = (
    "Amounts are formulas over sheet Cash flow: time 0 is the start of the first month, time m the end of month m and "
    "the start of the next. Before tax. Positive: owning pays less. What says «as planned» does not follow changes."
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
    sheet.widths((38, max(20.0, width), *(width for _ in range(times))))
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
        both = zip(paid.values, instead.values, strict=True)
        pairs = zip(self._columns(), both, strict=True)
        found = [less(at(paid.row, c), at(instead.row, c), a - b, digits=6) for c, (a, b) in pairs]
        saved = self._line(row + 3, "saved", [one.text for one in found], [float(one.value) for one in found])
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
        return Formula(f"={self.sheet.address(present.row, SUM)}", round(sum(present.values), 2) + 0.0), row + 1

    def _facts(self, plan: Plan, own: OwningReturn) -> list[tuple[str, Cell]]:
        facts: list[tuple[str, Cell]] = [
            ("internal rate of return a year, as planned", rates(own)),
            ("paid back in, as planned", paid_back(plan, own.payback_month)),
            ("paid back in, discounted, as planned", paid_back(plan, own.discounted_payback_month)),
        ]
        for price in own.break_even_prices:
            facts.append((f"as planned costs less than cloud {break_even_level(price)}", price.multiple))
            if price.price_per_accelerator_hour is not None:
                facts.append((f"that price, {plan.currency} per accelerator-hour", price.price_per_accelerator_hour))
        return facts

    def _columns(self) -> range:
        return range(FIRST, FIRST + self.times)

    def _paid(self, label: str, block: Block, row: int) -> _Line:
        """What is paid at the end of a month and at the start of the next, from the sheet Cash flow."""
        months = self.cash.range(MONTHS, FIRST_MONTH, block.last_column)
        start, end = (self.cash.range(line.row, FIRST_MONTH, block.last_column) for line in (block.start, block.end))
        now = [at(HEADER_ROW, column, fixed_row=True) for column in self._columns()]
        texts = [f"=SUMIFS({start},{months},{time}+1)+SUMIFS({end},{months},{time})" for time in now]
        padded = [0.0] * self.times
        starts, ends = (*block.start.amounts, *padded), (0.0, *block.end.amounts, *padded)
        return self._line(row, label, texts, [a + b for a, b, _ in zip(starts, ends, padded, strict=False)])

    def _cumulative(self, label: str, line: _Line, row: int) -> None:
        self.sheet.put(row, 0, label)
        for column, value in zip(self._columns(), accumulate(line.values), strict=True):
            self.sheet.put(row, column, Formula(f"=SUM({so_far(line.row, FIRST, column)})", value), "money")

    def _discounted(self, label: str, line: _Line, row: int, internal: float | None) -> _Line:
        """At the plan's monthly rate, which is live, or at a yearly rate that stands in the row above."""
        if internal is None:
            factor, growth = self.rate.monthly, 1 + self.rate.monthly_value
            texts = [f"={at(line.row, c)}/(1+{factor})^{at(HEADER_ROW, c)}" for c in self._columns()]
        else:
            self.sheet.put(row - 1, 0, "internal rate of return a year, as planned")
            self.sheet.put(row - 1, SUM, internal, "percent_fine")
            growth, cell = (1 + internal) ** (1 / 12), at(row - 1, SUM, fixed_column=True)
            texts = [f"={at(line.row, c)}/(1+{cell})^({at(HEADER_ROW, c)}/12)" for c in self._columns()]
        return self._line(row, label, texts, [value / growth**time for time, value in enumerate(line.values)])

    def _line(self, row: int, label: str, texts: list[str], values: list[float]) -> _Line:
        self.sheet.put(row, 0, label)
        total = Formula(f"=ROUND(SUM({along(row, FIRST, FIRST + self.times - 1)}),2)", round(sum(values), 2) + 0.0)
        self.sheet.put(row, SUM, total, "money")
        for column, text, value in zip(self._columns(), texts, values, strict=True):
            self.sheet.put(row, column, Formula(text, value), "money")
        return _Line(row, tuple(values))
