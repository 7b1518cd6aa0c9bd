"""What the solved strategies come to, seen in other ways than as cash: part of the answer.

Money is in the plan's currency, undiscounted and before tax unless a field says otherwise; months and years of the plan
count from 1, and year 1 is months 1 to 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class EffectiveCost:
    """What one month of a strategy bears of one category, however it is paid.

    All that a commitment owes (support and tax on it too) falls evenly into the months it covers inside the horizon, so
    its upfront and what is owed beyond the horizon do. Price, installation, financing and resale (negative) of owned
    nodes fall evenly into the months they work inside the horizon. Everything else stands as paid. A strategy's
    amounts add up to its total cost, and those of each category to its cash.
    """

    strategy: str
    month: int
    category: str
    amount: float


@dataclass(frozen=True, slots=True)
class BreakEvenPrice:
    """The multiple of today's prices at which owning and renting have the same present cost, both plans kept.

    `prices`: hourly (all that is on demand or spot, in both plans) or cloud (commitments too). Owning costs less above
    `multiple` or below it, as `owning_is_cheaper` says; always or never where there is no such multiple (None).
    `paid_per_accelerator_hour` is what the cloud strategy pays at such prices per accelerator-hour used, with support
    and tax, undiscounted; `price_per_accelerator_hour` is that times the multiple. None where it pays nothing so.
    """

    prices: Literal["hourly", "cloud"]
    multiple: float | None
    owning_is_cheaper: Literal["above", "below", "always", "never"]
    paid_per_accelerator_hour: float | None
    price_per_accelerator_hour: float | None


@dataclass(frozen=True, slots=True)
class OwningReturn:
    """What a strategy that buys hardware returns against the cloud strategy.

    `savings[t]` is what cloud pays less what the strategy pays, t months from the start of the plan: the start of
    month m is m - 1, its end m. `net_present_value` is at the plan's rate. `internal_rates_annual` are all rates at
    which it would be 0, rising: none where the savings have no such rate, several where they change sign more than
    once. The paybacks are the first t at which the savings so far are 0 or more again after they were less: 0 where
    they never are, None where they stay so.
    """

    strategy: str
    savings: tuple[float, ...]
    net_present_value: float
    internal_rates_annual: tuple[float, ...]
    payback_month: int | None
    discounted_payback_month: int | None
    break_even_prices: tuple[BreakEvenPrice, ...]


@dataclass(frozen=True, slots=True)
class UnitCost:
    """What a workload's work costs in one strategy: `cost_each` and `present_cost_each` are per `per` units, in words
    `each` (million tokens, thousand requests, job). Units are not discounted. Shares of what workloads use together
    are as in WorkloadCost.
    """

    strategy: str
    workload: str
    team: str
    units: float
    per: float
    each: str
    cost: float
    present_cost: float
    cost_each: float
    present_cost_each: float


@dataclass(frozen=True, slots=True)
class DepreciationYear:
    """One year of the plan: what is deducted, what is left in the books at its end (before a sale in it), and the
    income tax that the deduction saves."""

    year: int
    deduction: float
    book_value: float
    tax_saved: float


@dataclass(frozen=True, slots=True)
class Depreciation:
    """The tax side of one purchase of hardware; the costs of a plan stay before tax.

    `cost` is everything paid for the hardware, `sold_in` the month at whose end it is sold, for `resale`. `gain` is
    resale less `adjusted_basis` (cost less deductions), negative for a loss; `tax_on_gain` follows it.
    `present_value` is what deductions save less the tax on the gain, each at the end of its year of the plan, at the
    plan's rate.
    """

    strategy: str
    name: str
    count: int
    month: int
    in_use_from: int
    sold_in: int
    method: Literal["straight_line", "macrs"]
    tax_fraction: float
    cost: float
    years: tuple[DepreciationYear, ...]
    resale: float
    adjusted_basis: float
    gain: float
    tax_on_gain: float
    present_value: float


@dataclass(frozen=True, slots=True)
class BridgeStep:
    """Present cost of one category in the runner-up and in the recommended strategy; the differences (runner-up less
    recommended, so positive saves) add up to what the recommendation is worth."""

    category: str
    runner_up: float
    recommended: float
    difference: float


@dataclass(frozen=True, slots=True)
class FinancialViews:
    """The strategies seen in other ways; empty where a view was not asked for or has nothing to tell."""

    effective: tuple[EffectiveCost, ...] = ()
    owning: tuple[OwningReturn, ...] = ()
    unit_costs: tuple[UnitCost, ...] = ()
    depreciation: tuple[Depreciation, ...] = ()
    bridge: tuple[BridgeStep, ...] = ()
