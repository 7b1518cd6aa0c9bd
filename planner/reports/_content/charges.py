"""The cost of a strategy as the charges of a bill: cash and effective cost by month, use and purchase.

In each month the cash of all charges adds up to the strategy's cash, and their effective cost to its effective cost;
only the split of a category among charges is computed here: hourly cost and that of owned nodes by node-hours, a
commitment by each use of it and by its unused part.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from planner.reports._content.purchase_pools import (
    CAPITAL,
    COMMITMENT,
    OWN_SITE,
    PurchasePools,
    payment_title,
    split_by_weight,
    title_contains,
)
from planner.result import CashRow, Plan, Purchase, Strategy, Use
from pricing.frozen_values import dataclass

ChargeKind = Literal["use", "unused", "purchase", "running", "on_top"]
HOURLY_OPTIONS = ("on_demand", "spot")
SURCHARGES = ("cloud_support", "tax")
"""Shares of everything else on a cloud bill."""
ONE_TIME_CATEGORIES = frozenset({"hardware", "installation", "resale"})
SITE_CATEGORIES = frozenset({"power", "space", "staff", "support"})
"""The running costs of owned nodes."""
EffectiveCosts = Mapping[tuple[int, str], float]


@dataclass(frozen=True, slots=True)
class Charge:
    """One charge of a month; `category` as in the cash flow, `what` is the title of the resource or payment.

    `quantity` is in node-hours for a use and in the unit of its pool for an unused part; None where the plan does not
    have it. `committed` is the part of the commitment that is used, unused or paid for, in that unit. `line` is
    the use, or the purchase that a payment or an unused part belongs to. `once`: paid once, not every month.
    `effective` is None where the plan has no such view. `provider` is "" where there is no single one.
    """

    month: int
    kind: ChargeKind
    category: str
    what: str
    billed: float = 0.0
    effective: float | None = 0.0
    line: Use | Purchase | None = None
    quantity: float | None = None
    once: bool = False
    pool: str = ""
    provider: str = ""
    region: str = ""
    committed: float | None = None


def build_charges(plan: Plan, strategy: Strategy) -> tuple[Charge, ...]:
    """Every charge of the months up to the end of the plan, in order of time, without payments after it."""
    effective_rows = [row for row in plan.views.effective if row.strategy == strategy.name]
    effective_costs: dict[tuple[int, str], float] = defaultdict(float)
    for row in effective_rows:
        effective_costs[row.month, row.category] += row.amount
    pools = PurchasePools(plan, strategy)
    plan_charges: list[Charge] = []
    for month in range(min([1, *(row.month for row in strategy.cash)]), plan.months + 1):
        cash = [row for row in strategy.cash if row.month == month]
        uses = [use for use in strategy.uses if use.month == month]
        own = [
            *_hourly_charges(month, cash, uses, effective_costs),
            *_commitment_charges(month, cash, uses, effective_costs, pools),
            *_owned_charges(month, cash, uses, effective_costs, pools),
            *_running_charges(month, cash, uses, effective_costs),
        ]
        plan_charges += [*own, *_surcharge_charges(month, cash, own, effective_costs, pools)]
    return tuple(plan_charges) if effective_rows else tuple(replace(each, effective=None) for each in plan_charges)


def _hourly_category(use: Use) -> str:
    """The category in which a use by the hour is paid, "" for others: every way by the hour but spot is on demand."""
    if use.purchase_option in HOURLY_OPTIONS:
        return use.purchase_option
    return "on_demand" if use.what == "hourly" else ""


def _hourly_charges(
    month: int, cash: Sequence[CashRow], uses: Sequence[Use], effective_costs: EffectiveCosts
) -> Iterator[Charge]:
    """Uses paid by the hour, each with its share of the cost of its resource."""
    for category in HOURLY_OPTIONS:
        own = [use for use in uses if _hourly_category(use) == category]
        billed = [0.0] * len(own)
        loose = []
        for row in (row for row in cash if row.category == category):
            named = [i for i, use in enumerate(own) if title_contains(row.what, use.provider, use.region, use.name)]
            named = [i for i in named if own[i].purchase_option in row.what.split()] or named
            # a title that names no use (a sum of several) is shared by all uses of the category
            its = named or list(range(len(own)))
            for i, part in zip(its, split_by_weight(row.amount, [own[i].node_hours for i in its]), strict=True):
                billed[i] += part
            loose += [] if its else [Charge(month, "running", category, row.what, row.amount)]
        use_charges = [_use_charge(use, category, part) for use, part in zip(own, billed, strict=True)]
        yield from _assign_effective_cost([*use_charges, *loose], month, category, effective_costs)


def _use_charge(use: Use, category: str, billed: float = 0.0, pool: str = "") -> Charge:
    provider = OWN_SITE if use.what == "owned" else use.provider
    return Charge(
        use.month, "use", category, payment_title(use), billed, line=use, quantity=use.node_hours, pool=pool,
        provider=provider, region=use.region,
    )  # fmt: skip


def _assign_effective_cost(
    month_charges: list[Charge],
    month: int,
    category: str,
    effective_costs: EffectiveCosts,
    weights: Sequence[float] | None = None,
) -> list[Charge]:
    """The charges with their shares of the month's effective cost of the category: by `weights`, else by the billed
    amounts. Without charges, one with all of it."""
    amount = effective_costs.get((month, category), 0.0)
    if not month_charges:
        return [Charge(month, "running", category, category, 0.0, amount)] if amount else []
    parts = split_by_weight(amount, [each.billed for each in month_charges] if weights is None else weights)
    return [replace(each, effective=part) for each, part in zip(month_charges, parts, strict=True)]


def _commitment_charges(
    month: int, cash: Sequence[CashRow], uses: Sequence[Use], effective_costs: EffectiveCosts, pools: PurchasePools
) -> Iterator[Charge]:
    """Payments for commitments, at no effective cost, and the uses and unused parts, which share all effective cost."""
    yield from _payment_charges(cash, (COMMITMENT,), pools)
    pool_charges: list[Charge] = []
    weights: list[float] = []
    for pool, own in _uses_by_pool(month, uses, pools, owned=False).items():
        left, first = pools.left(month, pool, own), pools.first(pool)
        takes = [pools.drawn_quantity(use) for use in own]
        rows = [replace(_use_charge(u, COMMITMENT, pool=pool), committed=t) for u, t in zip(own, takes, strict=True)]
        if left or not own:
            place = pools.place(pool)
            rows.append(Charge(month, "unused", COMMITMENT, pool, 0.0, 0.0, first, left, False, pool, *place, left))
            takes.append(left or 0.0)
        pool_charges += rows
        weights += split_by_weight(pools.monthly_effective_cost(month, pool), takes)
    yield from _assign_effective_cost(pool_charges, month, COMMITMENT, effective_costs, weights)


def _uses_by_pool(month: int, uses: Sequence[Use], pools: PurchasePools, *, owned: bool) -> dict[str, list[Use]]:
    """The uses that draw on each pool of owned nodes, or of commitments; also pools without any in the month."""
    by_pool: dict[str, list[Use]] = {pool: [] for pool in pools.at(month, owned=owned)}
    for use in uses:
        if (use.what == "owned") == owned and not _hourly_category(use):
            by_pool.setdefault(pools.pool_of_use(use), []).append(use)
    return by_pool


def _payment_charges(cash: Iterable[CashRow], categories: Sequence[str], pools: PurchasePools) -> Iterator[Charge]:
    for row in cash:
        if row.category in categories:
            pool, once = pools.pool_of_payment(row), row.at == "start" or row.category in ONE_TIME_CATEGORIES
            place = pools.place(pool) if row.category == COMMITMENT else (OWN_SITE, "")
            quantity_ordered = pools.ordered(row.month, pool) if once else pools.there(row.month, pool)
            yield Charge(
                row.month, "purchase", row.category, row.what, row.amount, 0.0, pools.first(pool), None, once, pool,
                *place, quantity_ordered,
            )  # fmt: skip


def _owned_charges(
    month: int, cash: Sequence[CashRow], uses: Sequence[Use], effective_costs: EffectiveCosts, pools: PurchasePools
) -> Iterator[Charge]:
    """Payments for owned nodes, at no effective cost, and their uses, which share it all, idle hours included."""
    yield from _payment_charges(cash, CAPITAL, pools)
    pool_charges: list[Charge] = []
    weights: list[float] = []
    for pool, own in _uses_by_pool(month, uses, pools, owned=True).items():
        idle = Charge(month, "running", "hardware", pool, line=pools.first(pool), pool=pool, provider=OWN_SITE)
        pool_charges += [_use_charge(use, "hardware", pool=pool) for use in own] or [idle]
        weights += split_by_weight(pools.monthly_effective_cost(month, pool), [use.node_hours for use in own] or [1.0])
    amount = math.fsum(effective_costs.get((month, category), 0.0) for category in CAPITAL)
    yield from _assign_effective_cost(pool_charges, month, "hardware", {(month, "hardware"): amount}, weights)


def _running_charges(
    month: int, cash: Sequence[CashRow], uses: Sequence[Use], effective_costs: EffectiveCosts
) -> Iterator[Charge]:
    """Costs that are effective when they are paid: data, and the running costs of owned nodes."""
    separate_categories = {*HOURLY_OPTIONS, COMMITMENT, *CAPITAL, *SURCHARGES}
    paid = [row for row in cash if row.category not in separate_categories]
    categories = dict.fromkeys(
        [row.category for row in paid] + [c for m, c in effective_costs if m == month and c not in separate_categories]
    )
    nodes = {(use.provider, use.region, use.name) for use in uses}
    for category in categories:
        category_charges = []
        for row in (row for row in paid if row.category == category):
            named = [node for node in nodes if title_contains(row.what, *node)]
            named = named or [node for node in nodes if node[1] and title_contains(row.what, *node[:2])]
            places = {(provider or OWN_SITE, region) for provider, region, _ in named}
            at_home = (OWN_SITE, "") if category in SITE_CATEGORIES else ("", "")
            provider, region = places.pop() if len(places) == 1 else at_home
            charge = Charge(month, "running", category, row.what, row.amount, provider=provider, region=region)
            category_charges.append(charge)
        yield from _assign_effective_cost(category_charges, month, category, effective_costs)


def _surcharge_charges(
    month: int, cash: Sequence[CashRow], rest: Sequence[Charge], effective_costs: EffectiveCosts, pools: PurchasePools
) -> Iterator[Charge]:
    """Support and tax by provider: billed as paid, effective in proportion to the provider's effective cost.

    Payments for commitments from before the plan include their support and tax already.
    """
    # payments without a purchase in the plan are from before it, and have support and tax in them
    rest = [each for each in rest if not each.pool or pools.first(each.pool) is not None]
    providers = list(dict.fromkeys(each.provider for each in rest if each.provider not in ("", OWN_SITE)))
    base = [math.fsum(each.effective or 0.0 for each in rest if each.provider == name) for name in providers]
    for category in SURCHARGES:
        billed: dict[str, list[float]] = {name: [] for name in providers}
        for row in (row for row in cash if row.category == category):
            provider = next((name for name in providers if title_contains(row.what, name)), "")
            billed.setdefault(provider, []).append(row.amount)
        if not any(billed.values()) and not effective_costs.get((month, category)):
            continue
        provider_charges = [
            Charge(month, "on_top", category, f"{category.replace('_', ' ')} {name}".rstrip(), math.fsum(amounts),
                   provider=name)
            for name, amounts in billed.items()
        ]  # fmt: skip
        weights = [dict(zip(providers, base, strict=True)).get(each.provider, 0.0) for each in provider_charges]
        yield from _assign_effective_cost(provider_charges, month, category, effective_costs, weights)
