"""How every amount of a plan comes about: part of the answer.

An amount is a quantity that was decided times a rate. The rate is told as a formula over named figures (assumptions and
offers), so a reader can follow it, change a figure and see what the same decisions then cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class AuditLine:
    """Payments of one strategy that come about alike.

    In month m from `first` to `last` the amount is quantity x rate x (1 + growth)^((p - 1) / 12), p being
    `priced_in`, or m where that is None; without `growth` the last factor is 1. The quantity is that of month m where
    `by_month`, else the sum of all months.
    `rate` is a formula of figures by name, in the grammar of `planner.result.formulas`; `rate_value` is its value, in
    the plan's currency per `unit` in the first month's money.
    `choice` counts in Ledger.choices. `is_billed`: on a cloud bill, so that the support plan and tax come on top (they
    have no lines of their own). `borne_from` to `borne_to` are the months that bear it as effective cost, evenly; 0: as
    it is paid.
    """

    choice: int
    """Index of the decision in `choices`."""
    category: str
    """Cost category."""
    at: Literal["start", "end"]
    """Moment of payment: start or end of the month."""
    rate: str
    """Formula over named assumptions and offers."""
    rate_value: float
    """Value of the formula, in the plan's currency per unit, in prices of the first month."""
    growth: str
    """Name of the annual growth rate; empty: none."""
    priced_in: int | None
    """Month whose price level applies, from 1; null: that of each payment."""
    first: int
    """First month of payment, from 1."""
    last: int
    """Last month of payment, from 1."""
    by_month: bool
    """Whether the quantity is that of each month rather than the sum of all."""
    is_billed: bool
    """Whether it is on a cloud bill, so that the support plan and tax are added."""
    borne_from: int = 0
    """First month that bears it as effective cost; 0: as paid."""
    borne_to: int = 0
    """Last month that bears it as effective cost; 0: as paid."""


@dataclass(frozen=True, slots=True)
class AuditDecision:
    """What one strategy decided, by month of the plan in `unit`: an order or commitment in the month that it starts,
    else what is used in each month. `workload` is empty for what workloads share.

    `parts` are the parts of its cost that workloads bear, by name; empty where one workload bears it all, and where it
    goes by all other costs (operators, the support plan's least fee).
    """

    strategy: str
    """Strategy that decided it."""
    what: str
    """Resource."""
    workload: str
    """Workload; empty: shared."""
    unit: str
    """Unit of the quantities."""
    quantity: tuple[float, ...]
    """Quantity of each month, in `unit`."""
    parts: tuple[tuple[str, float], ...] = ()
    """Parts of its cost that workloads bear, as pairs of name and fraction."""
    idle: tuple[float, ...] = ()
    """Of a purchase: the unused fraction of its hours in each month; empty: all are used, or no purchase."""


@dataclass(frozen=True, slots=True)
class AuditTrail:
    """All that the strategies decided and every way in which that is paid. `offers` are the names of prices in rates,
    in the order of Plan.prices; other names are those of assumptions, and hours_per_month.

    On the amounts of billed lines come cloud_support_fraction, and on both cloud_tax_fraction, at the same moments.
    """

    choices: tuple[AuditDecision, ...] = ()
    """Decisions of all strategies."""
    lines: tuple[AuditLine, ...] = ()
    """Payments as formulas of the decisions."""
    offers: tuple[str, ...] = ()
    """Names of the prices in formulas, in the order of `prices`."""

    def amounts(self, line: AuditLine, rate: float, growth: float) -> Mapping[int, float]:
        """What a line pays by month, at a rate and a yearly growth that may be others than planned."""
        chosen = self.choices[line.choice]
        whole = math.fsum(chosen.quantity)
        return {
            month: (chosen.quantity[month - 1] if line.by_month else whole)
            * rate
            * (1 + growth) ** (((line.priced_in or month) - 1) / 12)
            for month in range(line.first, line.last + 1)
        }


def discount_factor(month: int, at: Literal["start", "end"], rate_monthly: float) -> float:
    """What one unit of money paid then is worth now: (1 + rate)^-(month - 1) at the start, ^-month at the end."""
    return float((1 + rate_monthly) ** -(month - 1 if at == "start" else month))
