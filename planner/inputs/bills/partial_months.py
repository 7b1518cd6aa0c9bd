"""What a bill has to be brought to before it is carried on: a month that it covers in part, and several currencies."""

from __future__ import annotations

from calendar import monthrange
from collections import Counter
from dataclasses import replace
from datetime import date

from planner.inputs.bills.bill import BilledUsageLine
from planner.inputs.bills.usage import Usage
from pricing.catalog.price_catalog import Catalog
from pricing.frozen_values import dataclass

DAYS_MIN = 7
"""Days of a month from which its mean is taken for that of the month: each day of the week is in them."""


@dataclass(frozen=True, slots=True)
class PartialMonth:
    """The days of a month that bills cover, both included."""

    month: str
    first: int
    last: int

    @property
    def hours(self) -> int:
        return (self.last - self.first + 1) * 24

    @property
    def note(self) -> str:
        """What is done with the part, for people."""
        return f"{self.month} is covered from day {self.first} to {self.last}: its hours are scaled up by days"


def find_partial_month(usage: Usage) -> PartialMonth | None:
    """The last month that is covered in part, for bills that cover no whole month and enough days of that one."""
    days = sorted(day for bill in usage.bills for day in bill.days)
    if usage.full_months or not days:
        return None
    month = days[-1][:7]
    own = [int(day[8:]) for day in days if day.startswith(month)]
    part = PartialMonth(month, own[0], own[-1])
    return part if part.last - part.first + 1 >= DAYS_MIN else None


def convert_currencies(usage: Usage, catalog: Catalog) -> tuple[Usage, list[str]]:
    """The usage with all amounts in the currency of most of its rows, and a note for each other one.

    At the rate of the last day of each month. Raises MissingExchangeRate.
    """
    if len(usage.currencies) < 2:
        return usage, []
    rows = Counter[str]()
    for line in usage.lines:
        rows[line.currency] += line.rows
    target = rows.most_common(1)[0][0]
    notes: dict[str, None] = {}

    def convert(line: BilledUsageLine) -> BilledUsageLine:
        if line.currency == target:
            return line
        year, month = int(line.month[:4]), int(line.month[5:])
        rate = catalog.exchange.rate(line.currency, target, date(year, month, monthrange(year, month)[1]))
        notes[f"amounts of {line.month} in {line.currency} are converted: {rate.words}"] = None
        return replace(
            line,
            currency=target,
            billed=None if line.billed is None else line.billed * rate.value,
            effective=None if line.effective is None else line.effective * rate.value,
        )

    bills = tuple(replace(bill, lines=tuple(map(convert, bill.lines))) for bill in usage.bills)
    return replace(usage, bills=bills), list(notes)
