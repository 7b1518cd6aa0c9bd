"""What the solved strategies come to, seen in other ways than as cash: part of the answer.

Money is in the plan's currency, undiscounted and before tax unless a field says otherwise; months and years of the plan
count from 1, and year 1 is months 1 to 12.
"""

from __future__ import annotations

from typing import Literal

from pricing.frozen_values import dataclass


@dataclass(frozen=True, slots=True)
class EffectiveCost:
    """What one month of a strategy bears of one category, however it is paid.

    All that a commitment owes (support and tax on it too) falls evenly into the months it covers inside the horizon, so
    its upfront and what is owed beyond the horizon do. Price, installation, financing and resale (negative) of owned
    nodes fall evenly into the months they work inside the horizon. Everything else stands as paid. A strategy's
    amounts add up to its total cost, and those of each category to its cash.
    """

    strategy: str
    """Strategy."""
    month: int
    """Month that bears the cost, from 1."""
    category: str
    """Cost category."""
    amount: float
    """Effective cost, in the plan's currency."""


@dataclass(frozen=True, slots=True)
class FiscalQuarter:
    """Both views of a strategy in one quarter of the fiscal year; those of all quarters add up to its total
    cost. The first and the last may have fewer than three months of the plan."""

    strategy: str
    """Strategy."""
    fiscal_year: str
    """Fiscal year by both its years (FY26/27); that of the calendar by one (2027)."""
    quarter: int
    """Quarter of the fiscal year, 1 to 4."""
    first_month: str
    """First month with an amount, or of the plan, in it, such as 2027-01."""
    last_month: str
    """Last such month."""
    cash: float
    """Amount paid in the quarter, in the plan's currency."""
    effective: float
    """Effective (amortised) cost of the quarter, in the plan's currency."""


@dataclass(frozen=True, slots=True)
class CostCentreMonth:
    """The charge of a cost centre (team) in a month of the recommended strategy.

    A workload is charged its own use, its part of purchases by the hours that it uses in the whole plan (of their idle
    hours too), and of overheads by its other cost: the parts of `WorkloadCost`. So cost centres add up to the cash of
    each month, to its effective cost, and to the cost of their workloads.
    """

    month: int
    """Month, from 1; 0 and less: paid before the plan."""
    team: str
    """Cost centre; empty: workloads without a team."""
    cash: float
    """Amount paid in the month, in the plan's currency."""
    effective: float
    """Amortised cost: purchases spread over the months they serve, in the plan's currency."""
    idle: float
    """Part of `effective` for unused hours of commitments and owned nodes, in the plan's currency."""
    shared: float
    """Part of `effective` for operators and the least fee of the support plan, in the plan's currency."""
    budget: float | None
    """Budgets of its workloads that state one, in the plan's currency per month; null: none does."""
    variance: float | None
    """Effective cost of these workloads less `budget`, in the plan's currency; positive: over it; null: no budget."""


@dataclass(frozen=True, slots=True)
class BreakEvenPrice:
    """The multiple of today's prices at which owning and renting have the same present cost, both plans kept.

    `prices`: hourly (all that is on demand or spot, in both plans) or cloud (commitments too). Owning costs less above
    `multiple` or below it, as `owning_is_cheaper` says; always or never where there is no such multiple (None).
    `paid_per_accelerator_hour` is what the cloud strategy pays at such prices per accelerator-hour used, with support
    and tax, undiscounted; `price_per_accelerator_hour` is that times the multiple. None where it pays nothing so.
    """

    prices: Literal["hourly", "cloud"]
    """Prices that are scaled: hourly (on demand and spot) or cloud (commitments too)."""
    multiple: float | None
    """Multiple of today's prices at which owning and renting cost the same; null: none."""
    owning_is_cheaper: Literal["above", "below", "always", "never"]
    """Where owning is cheaper: above, below, always or never."""
    paid_per_accelerator_hour: float | None
    """Cost of a cloud accelerator-hour in use, in the plan's currency; null: none is used."""
    price_per_accelerator_hour: float | None
    """That cost at the multiple, in the plan's currency; null: no multiple."""


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
    """Strategy that buys hardware."""
    savings: tuple[float, ...]
    """Cloud payments less those of the strategy, t months from the start, in the plan's currency."""
    net_present_value: float
    """Present value of the savings, in the plan's currency."""
    internal_rates_annual: tuple[float, ...]
    """All annual rates at which that value is 0, as fractions, rising."""
    payback_month: int | None
    """Months until the savings so far are no longer negative; 0: never negative; null: never recovered."""
    discounted_payback_month: int | None
    """The same for discounted savings."""
    break_even_prices: tuple[BreakEvenPrice, ...]
    """Cloud price levels at which both cost the same."""


@dataclass(frozen=True, slots=True)
class UnitCost:
    """What a workload's work costs in one strategy: `cost_each` and `present_cost_each` are per `per` units, in words
    `each` (million tokens, thousand requests, job). Units are not discounted. Shares of what workloads use together
    are as in WorkloadCost.
    """

    strategy: str
    """Strategy."""
    workload: str
    """Name of the workload."""
    team: str
    """Team of the workload."""
    units: float
    """Work units done over the horizon."""
    per: float
    """Number of work units in one `each`."""
    each: str
    """Name of the unit of cost: million tokens, thousand requests, job ..."""
    cost: float
    """Total cost of the workload, in the plan's currency."""
    present_cost: float
    """Present cost of the workload, in the plan's currency."""
    cost_each: float
    """Total cost of one `each`, in the plan's currency."""
    present_cost_each: float
    """Present cost of one `each`, in the plan's currency."""


@dataclass(frozen=True, slots=True)
class DepreciationYear:
    """One year of the plan: what is deducted, what is left in the books at its end (before a sale in it), and the
    income tax that the deduction saves."""

    year: int
    """Year of the plan, from 1."""
    deduction: float
    """Depreciation deducted, in the plan's currency."""
    book_value: float
    """Book value at the end of the year, in the plan's currency."""
    tax_saved: float
    """Income tax saved, in the plan's currency."""


@dataclass(frozen=True, slots=True)
class Depreciation:
    """The tax side of one purchase of hardware; the costs of a plan stay before tax.

    `cost` is everything paid for the hardware, `sold_in` the month at whose end it is sold, for `resale`. `gain` is
    resale less `adjusted_basis` (cost less deductions), negative for a loss; `tax_on_gain` follows it.
    `present_value` is what deductions save less the tax on the gain, each at the end of its year of the plan, at the
    plan's rate.
    """

    strategy: str
    """Strategy."""
    name: str
    """Owned system."""
    count: int
    """Number of nodes."""
    month: int
    """Month of the order, from 1."""
    in_use_from: int
    """First month of use, from 1."""
    sold_in: int
    """Month at whose end they are sold, from 1."""
    method: Literal["straight_line", "macrs"]
    """Depreciation method: straight_line or macrs."""
    tax_fraction: float
    """Income tax rate as a fraction."""
    cost: float
    """Amount paid for the hardware, in the plan's currency."""
    years: tuple[DepreciationYear, ...]
    """Deductions by year."""
    resale: float
    """Sale proceeds, in the plan's currency."""
    adjusted_basis: float
    """Cost less deductions, in the plan's currency."""
    gain: float
    """Gain of the sale: resale less adjusted basis, in the plan's currency; negative: loss."""
    tax_on_gain: float
    """Tax on the gain, in the plan's currency; negative: saved."""
    present_value: float
    """Present value of tax saved less tax on the gain, in the plan's currency."""


@dataclass(frozen=True, slots=True)
class BridgeStep:
    """Present cost of one category in the runner-up and in the recommended strategy; the differences (runner-up less
    recommended, so positive saves) add up to what the recommendation is worth."""

    category: str
    """Cost category."""
    runner_up: float
    """Present cost in the runner-up, in the plan's currency."""
    recommended: float
    """Present cost in the recommended strategy, in the plan's currency."""
    difference: float
    """`runner_up` - `recommended`, in the plan's currency; positive: saves."""


@dataclass(frozen=True, slots=True)
class FinancialViews:
    """The strategies seen in other ways; empty where a view was not asked for or has nothing to tell."""

    effective: tuple[EffectiveCost, ...] = ()
    """Effective cost by strategy, month and category."""
    owning: tuple[OwningReturn, ...] = ()
    """Return on owned hardware."""
    unit_costs: tuple[UnitCost, ...] = ()
    """Unit economics by workload and strategy."""
    depreciation: tuple[Depreciation, ...] = ()
    """Tax depreciation of purchases."""
    bridge: tuple[BridgeStep, ...] = ()
    """Present cost from the runner-up to the recommendation by category."""
    cost_centres: tuple[CostCentreMonth, ...] = ()
    """Cost of the recommended strategy by month and cost centre; empty without teams and budgets."""
    fiscal_quarters: tuple[FiscalQuarter, ...] = ()
    """Cash and effective cost by strategy and quarter of the fiscal year."""
