"""Gates for a pipeline: limits on the cost of a finished plan and on the age of its prices. A gate that cannot be
evaluated fails.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from planner.cli._tables import print_error
from planner.reports._content.number_format import format_percent, month_name
from planner.request.errors import InputProblem
from planner.result import Plan, PriceUsed, Strategy
from pricing.counted_nouns import format_count
from pricing.frozen_values import dataclass
from pricing.plain_text import plain_text

GATE_FAILED = 5
"""The exit code where a gate is not passed."""
WORKLOADS = "workloads"
PER_MONTH = "/month"
EXPECTED = f"an amount such as 250000, an amount each month such as 20000{PER_MONTH}, or {WORKLOADS}"
HALF_A_CENT = 0.005
"""Smaller excesses pass: amounts are printed to the cent, and budgets are set from printed amounts."""


@dataclass(frozen=True, slots=True)
class Gates:
    """Limits of a plan: total and monthly amounts in its currency, whether the budgets of workloads apply, and the
    maximal age of a price in days."""

    totals: tuple[float, ...] = ()
    monthly: tuple[float, ...] = ()
    workloads: bool = False
    max_price_age_days: int | None = None


GATE_OPTIONS = ("fail_over_budget", "max_price_age")
"""The options that are gates; they do not change the plan."""


def parse_gates(options: Mapping[str, object]) -> tuple[Gates, list[InputProblem]]:
    """The gates among the options of a command, and every value that is none."""
    budgets, age = (options.get(name) for name in GATE_OPTIONS)
    texts = tuple(map(str, budgets)) if isinstance(budgets, tuple) else ()
    complaints: list[InputProblem] = []
    totals: list[float] = []
    monthly: list[float] = []
    for text in texts:
        amount = _parse_amount(text.removesuffix(PER_MONTH))
        if text != WORKLOADS and amount is None:
            complaints.append(InputProblem("", "--fail-over-budget", "no budget", text, EXPECTED))
        elif amount is not None:
            (monthly if text.endswith(PER_MONTH) else totals).append(amount)
    days = int(str(age)) if re.fullmatch(r"[0-9]{1,6}", str(age)) else None
    if age is not None and days is None:
        complaints.append(InputProblem("", "--max-price-age", "no age", str(age), "a whole number of days"))
    return Gates(tuple(totals), tuple(monthly), WORKLOADS in texts, days), complaints


def _parse_amount(text: str) -> float | None:
    """Digits with a decimal point at most: 1,5 and 1.500,00 mean different things to different people."""
    return float(text) if re.fullmatch(r"[0-9]{1,15}(\.[0-9]+)?", text) else None


def find_gate_failures(plan: Plan, gates: Gates) -> list[str]:
    """One sentence per exceeded budget and per source of old prices; none if the plan recommends no strategy."""
    name = plan.recommendation.strategy
    if name is None:
        return []
    return [*_find_excesses(plan, gates, plan.strategy(name)), *_prices_too_old(plan, gates)]


def _find_excesses(plan: Plan, gates: Gates, chosen: Strategy) -> Iterator[str]:
    """Total and monthly limits, compared with cash payments, and workloads against the budgets that they state, by
    their mean cost a month, as reports show it."""
    months = f"over {format_count(plan.months, 'month')}"
    rows = [(f"{chosen.name} costs", chosen.total_cost, months, "the budget", budget, "") for budget in gates.totals]
    paid: dict[int, list[float]] = defaultdict(list)
    for row in chosen.cash:
        paid[row.month].append(row.amount)
    rows += [
        (
            f"{chosen.name} pays",
            math.fsum(paid[month]),
            f"in {month_name(plan, month)}",
            "the budget",
            budget,
            " a month",
        )
        for budget in gates.monthly
        for month in sorted(paid)
    ]
    budgets = {each.name: each.budget_per_month for each in plan.workloads if each.budget_per_month is not None}
    rows += [
        (f"{plain_text(each.workload)} costs", each.cost / plan.months, "a month on average", "its budget", budget, "")
        for each in (chosen.workloads if gates.workloads else ())
        if (budget := budgets.get(each.workload)) is not None
    ]
    for subject, amount, period, limit, budget, each_month in rows:
        if amount - budget >= HALF_A_CENT:
            share = f" ({format_percent(amount / budget - 1)})" if budget else ""
            excess = f"{_format_money(plan, amount - budget)}{share} over {limit} of {_format_money(plan, budget)}"
            yield f"{subject} {_format_money(plan, amount)} {period}, {excess}{each_month}"
    if gates.workloads and not budgets:
        yield "no workload has a budget to compare with"


def _prices_too_old(plan: Plan, gates: Gates) -> Iterator[str]:
    """Prices that are paid or compared, by source, the oldest first."""
    limit = gates.max_price_age_days
    if limit is None:
        return
    by_source: dict[str, list[PriceUsed]] = defaultdict(list)
    for price in sorted(plan.prices, key=lambda price: price.as_of):
        if (plan.as_of - price.as_of).days > limit:
            by_source[price.source_id].append(price)
    for source, prices in by_source.items():
        listed = []
        for price in prices:
            parts = (price.provider, price.region, price.instance_type, price.purchase_option)
            age = f"{price.as_of} ({format_count((plan.as_of - price.as_of).days, 'day')})"
            listed.append(f"{plain_text(' '.join(part for part in parts if part))} of {age}")
        counted = f"{len(prices)} price{'s' if len(prices) > 1 else ''} of {plain_text(source)}"
        yield f"{counted} older than {format_count(limit, 'day')}: {'; '.join(listed)}"


def _format_money(plan: Plan, amount: float) -> str:
    return f"{amount:,.2f} {plan.currency}"


def report_gate_failures(failures: Sequence[str]) -> int | None:
    """Print every failed gate on standard error; the exit code, or None if there are none."""
    if not failures:
        return None
    number = len(failures)
    print_error(f"the plan was written, but {number} gate{'s' if number > 1 else ''} failed", failures)
    return GATE_FAILED
