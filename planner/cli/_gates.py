"""Gates of a pipeline: does a plan keep to a budget, and are its prices recent enough? Judges a plan that is made; it
changes nothing in it and reads nothing else. A gate that cannot be judged is not passed.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import click

from planner.answer import Plan, PriceUsed, Strategy
from planner.errors import Complaint
from planner.reports._shared.clean import for_log, plain
from planner.reports._shared.figures import month_name, percent

FAILED = 5
"""The exit code where a gate is not passed."""
WORKLOADS = "workloads"
A_MONTH = "/month"
EXPECTED = f"an amount such as 250000, an amount each month such as 20000{A_MONTH}, or {WORKLOADS}"
HALF_A_CENT = 0.005
"""What is over by less is not: amounts are shown to the cent, and a budget is set by what was shown."""


@dataclass(frozen=True, slots=True)
class Gates:
    """What a plan must keep to: most in all and in any month, in its currency; the budgets that workloads state; the
    age in days that no price may pass."""

    totals: tuple[float, ...] = ()
    monthly: tuple[float, ...] = ()
    workloads: bool = False
    max_price_age_days: int | None = None


LIMITS = ("fail_over_budget", "max_price_age")
"""The options that are gates: a plan is the same with and without them."""


def asked(options: Mapping[str, object]) -> tuple[Gates, list[Complaint]]:
    """The gates among the options of a command, and every value that is none."""
    budgets, age = (options.get(name) for name in LIMITS)
    texts = tuple(map(str, budgets)) if isinstance(budgets, tuple) else ()
    complaints: list[Complaint] = []
    totals: list[float] = []
    monthly: list[float] = []
    for text in texts:
        amount = _amount(text.removesuffix(A_MONTH))
        if text != WORKLOADS and amount is None:
            complaints.append(Complaint("", "--fail-over-budget", "no budget", text, EXPECTED))
        elif amount is not None:
            (monthly if text.endswith(A_MONTH) else totals).append(amount)
    days = int(str(age)) if re.fullmatch(r"[0-9]{1,6}", str(age)) else None
    if age is not None and days is None:
        complaints.append(Complaint("", "--max-price-age", "no age", str(age), "a whole number of days"))
    return Gates(tuple(totals), tuple(monthly), WORKLOADS in texts, days), complaints


def _amount(text: str) -> float | None:
    """Digits with a decimal point at most: 1,5 and 1.500,00 mean different things to different people."""
    return float(text) if re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", text) else None


def faults(plan: Plan, gates: Gates) -> list[str]:
    """A sentence for everything that is over a budget or too old; none where the plan passes or recommends nothing."""
    name = plan.recommendation.strategy
    if name is None:
        return []
    chosen = plan.strategy(name)
    return [*_over(plan, gates, chosen), *_over_own(plan, gates, chosen), *_too_old(plan, gates)]


def _over(plan: Plan, gates: Gates, chosen: Strategy) -> Iterator[str]:
    """The whole plan and its months, in cash: what is asked for then."""
    for budget in gates.totals:
        if _is_over(chosen.total_cost, budget):
            told = f"{chosen.name} costs {_money(plan, chosen.total_cost)} over {plan.months} months"
            yield f"{told}, {_more(plan, chosen.total_cost, budget)} the budget of {_money(plan, budget)}"
    paid: dict[int, list[float]] = defaultdict(list)
    for row in chosen.cash:
        paid[row.month].append(row.amount)
    for budget in gates.monthly:
        for month, amounts in sorted(paid.items()):
            amount = math.fsum(amounts)
            if _is_over(amount, budget):
                told = f"{chosen.name} pays {_money(plan, amount)} in {month_name(plan, month)}"
                yield f"{told}, {_more(plan, amount, budget)} the budget of {_money(plan, budget)} a month"


def _over_own(plan: Plan, gates: Gates, chosen: Strategy) -> Iterator[str]:
    """Workloads against the budgets that they state, by their mean cost a month, as reports show it."""
    if not gates.workloads:
        return
    budgets = {each.name: each.budget_per_month for each in plan.workloads if each.budget_per_month is not None}
    if not budgets:
        yield "no workload states a budget: nothing to hold the plan against"
    for each in chosen.workloads:
        budget, mean = budgets.get(each.workload), each.cost / plan.months
        if budget is not None and _is_over(mean, budget):
            told = f"{plain(each.workload)} costs {_money(plan, mean)} a month on average"
            yield f"{told}, {_more(plan, mean, budget)} its budget of {_money(plan, budget)}"


def _too_old(plan: Plan, gates: Gates) -> Iterator[str]:
    """Prices that are paid or compared, by source, the oldest first."""
    limit = gates.max_price_age_days
    if limit is None:
        return
    by_source: dict[str, list[PriceUsed]] = defaultdict(list)
    for price in sorted(plan.prices, key=lambda price: price.as_of):
        if (plan.as_of - price.as_of).days > limit:
            by_source[price.source_id].append(price)
    for source, prices in by_source.items():
        listed = "; ".join(_aged(plan, price) for price in prices)
        counted = f"{len(prices)} price{'s' if len(prices) > 1 else ''} of {plain(source)}"
        yield f"{counted} older than {limit:,d} days: {listed}"


def _aged(plan: Plan, price: PriceUsed) -> str:
    parts = (price.provider, price.region, price.instance_type, price.purchase_option)
    name = plain(" ".join(part for part in parts if part))
    return f"{name} of {price.as_of} ({(plan.as_of - price.as_of).days:,d} days)"


def _is_over(amount: float, budget: float) -> bool:
    return amount - budget >= HALF_A_CENT


def _more(plan: Plan, amount: float, budget: float) -> str:
    share = f" ({percent(amount / budget - 1)})" if budget else ""
    return f"{_money(plan, amount - budget)}{share} over"


def _money(plan: Plan, amount: float) -> str:
    return f"{amount:,.2f} {plan.currency}"


def judged(plan: Plan, gates: Gates) -> int | None:
    """Tell every fault on standard error; the exit code, None where the plan passes."""
    found = faults(plan, gates)
    if not found:
        return None
    number = len(found)
    click.echo(f"planner: the plan is made, but has {number} fault{'s' if number > 1 else ''} at its gates", err=True)
    for fault in found:
        click.echo(f"  {for_log(fault)}", err=True)
    return FAILED
