"""The recommendation among the solved strategies, its cost bridge from the runner-up, and the break-evens of owning."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from planner.finance.cashflow import Terms, present_cost, present_cost_by
from planner.finance.time_value import break_even, first_whole_period
from planner.optimization.solution import PlanningContext, purchase_payments
from planner.optimization.strategy import SolvedStrategy
from planner.request.assumptions import Assumptions
from planner.result import EXISTING_SUFFIX, BreakEven, Purchase, Recommendation, Strategy
from planner.result.financial_views import BridgeStep
from planner.result.message import Message, ParameterValue, message
from planner.result.risk import NegotiationTarget
from planner.result.uncertainty import LadderStep
from planner.supply import onprem
from planner.supply.onprem import OwnedNode
from planner.workloads.eligibility import is_stated_in_hours
from pricing.catalog.quotes import Quote

SIMPLEST_FIRST = ("cloud", "onprem", "hybrid")
COST_TOLERANCE = 1e-6
TERMS_NAMED_MAX = 2
"""Most commitments without a price that the sentence names."""
SHORT_USE_MONTHS = 12
"""Owned hardware that is used for less is named."""
Name = TypeVar("Name", bound=str)


def recommend(
    strategies: Sequence[Strategy], months: int, currency: str, materiality: float, preferred: str | None = None
) -> Recommendation:
    """The simplest strategy whose present cost is within `materiality` (a fraction) of the cheapest one's, or the one
    that is `preferred` over scenarios.

    Its runner-up is the cheapest plan with other decisions whose cost differs by more than either proof leaves open:
    below that, which of the two is cheaper is not known.
    """
    solved = [s for s in strategies if s.status != "infeasible"]
    if not solved:
        return Recommendation(None, message("no_plan_possible"), None, 0.0, 0.0)
    simplest = pick_simplest({s.name: s.present_cost for s in solved}, materiality)
    chosen = next(s for s in solved if s.name == (preferred or simplest))
    others = [s for s in solved if _list_decisions(s) != _list_decisions(chosen)]
    rivals = [s for s in others if abs(s.present_cost - chosen.present_cost) > _open_difference(s, chosen)]
    runner = min(rivals, key=lambda s: s.present_cost, default=None)
    saving = runner.present_cost - chosen.present_cost if runner else 0.0
    fraction = saving / abs(runner.present_cost) if runner and runner.present_cost else 0.0
    sentence = message(
        "recommended",
        strategy=chosen.name,
        existing=_uses_existing(chosen),
        rented=any(use.what in ("hourly", "commitment") for use in chosen.uses),
        owned=list_amounts(sum_purchases(p for p in chosen.purchases if p.what == "owned"), currency),
        committed=list_amounts(sum_purchases(p for p in chosen.purchases if p.what == "commitment"), currency),
        total_cost=chosen.total_cost,
        present_cost=chosen.present_cost,
        currency=currency,
        months=months,
        runner_up=runner.name if runner else None,
        saving=saving,
        saving_fraction=fraction,
        materiality_fraction=materiality,
        requested=len(strategies),
        strategies=len(solved),
        is_preferred=chosen.name != simplest,
        first_decisions=None,
        conditions=(),
    )
    alike = tuple(_describe_undecided(s, chosen, currency) for s in others if s not in rivals)
    return Recommendation(chosen.name, sentence, runner.name if runner else None, saving, fraction, alike)


def _describe_undecided(other: Strategy, chosen: Strategy, currency: str) -> Message:
    left_open = _open_difference(other, chosen)
    return message(
        "not_told_apart",
        strategy=other.name,
        difference=other.present_cost - chosen.present_cost,
        open_difference=left_open if math.isfinite(left_open) else None,
        currency=currency,
    )


def qualify_advice(
    advice: Recommendation,
    targets: Sequence[NegotiationTarget],
    solved: Sequence[SolvedStrategy],
    setting: PlanningContext,
) -> Recommendation:
    """The advice with what it rests on: in its sentence the commitments without a known price that could change it; in
    its reasons what is owed for commitments, what the hardware would have to cost, the resale that is counted, and
    hardware that stands idle or is used briefly."""
    if advice.strategy is None:
        return advice
    currency = advice.sentence.parameters["currency"]
    unpriced = [_describe_term(each, currency) for each in targets if each.kind == "term"][:TERMS_NAMED_MAX]
    parameters = {**advice.sentence.parameters, "conditions": tuple(unpriced)}
    chosen = next(each for each in solved if each.strategy.name == advice.strategy)
    reasons = [
        *_list_commitment_facts(chosen, setting.terms, currency),
        *_list_quote_facts(advice, targets, currency),
        *_list_ownership_facts(advice, chosen, setting, currency),
    ]
    return replace(
        advice, sentence=replace(advice.sentence, parameters=parameters), reasons=(*reasons, *advice.reasons)
    )


def _describe_term(target: NegotiationTarget, currency: ParameterValue) -> Message:
    return message(
        "term_price_unknown",
        strategy=target.paid_by,
        provider=target.provider,
        region=target.region,
        instance_type=target.name,
        purchase_option=target.purchase_option,
        on_demand_per_hour=target.price,
        flip_per_hour=target.flip_price,
        currency=currency,
    )


def _list_quote_facts(
    advice: Recommendation, targets: Sequence[NegotiationTarget], currency: ParameterValue
) -> Iterator[Message]:
    """What the hardware would have to cost for the choice to change."""
    for each in targets:
        if each.kind == "quote":
            yield message(
                "hardware_price_that_flips",
                strategy=advice.runner_up,
                systems=each.name,
                price=each.price,
                flip_price=each.flip_price,
                change_fraction=each.change_fraction,
                cost_without=_present_cost_of_runner_up(advice) - each.spend,
                cost_of_choice=advice.sentence.parameters["present_cost"],
                materiality_fraction=advice.sentence.parameters["materiality_fraction"],
                currency=currency,
            )


def _present_cost_of_runner_up(advice: Recommendation) -> float:
    chosen = advice.sentence.parameters["present_cost"]
    assert isinstance(chosen, float | int)
    return chosen + advice.worth


def _list_commitment_facts(chosen: SolvedStrategy, terms: Terms, currency: ParameterValue) -> Iterator[Message]:
    """The part of the cost that is owed for commitments whatever is used, and how long after the plan they last."""
    plan = chosen.strategy
    committed = math.fsum(row.amount for row in plan.cash if row.category == "commitment")
    if committed > 0 and plan.total_cost > 0:
        later = [p.usable_to for p in plan.purchases if p.what == "commitment" and p.usable_to > terms.months]
        yield message(
            "owed_whatever_is_used",
            committed=committed,
            total_cost=plan.total_cost,
            months_after_plan=max(later, default=terms.months) - terms.months,
            later_fees_counted=terms.charge_beyond_horizon,
            currency=currency,
        )


def _list_idle_nodes(chosen: SolvedStrategy, setting: PlanningContext, currency: ParameterValue) -> Iterator[Message]:
    """Existing nodes that no month needs even if all work on them fell into the same hours."""
    for order in chosen.decisions.bought:
        node, existing = order.resource.node, order.resource.held
        if node is None or existing is None:
            continue
        needed: dict[int, int] = defaultdict(int)
        for use in chosen.strategy.uses:
            if use.what == "owned" and use.name == order.resource.name:
                needed[use.month] += use.nodes_at_once
        idle = existing.count - max(needed.values(), default=0)
        if idle > 0:
            yield message(
                "existing_nodes_idle",
                name=node.name,
                idle=idle,
                count=existing.count,
                cost=math.fsum(p.amount for p in purchase_payments(setting, order)) * idle / existing.count,
                worth=onprem.resale_value(node, existing.age_months, setting.assumptions) * idle,
                currency=currency,
            )


def _describe_repair(chosen: SolvedStrategy, setting: PlanningContext) -> Iterator[Message]:
    """The hours of owned nodes that repair takes from work that is stated in hours; other work has them added."""
    used, down = 0.0, 0.0
    for share in chosen.decisions.shares:
        node = setting.market.resources[share.candidate.resource].node
        if node is not None and is_stated_in_hours(setting.demands.needs[share.candidate.need].workload):
            used += share.node_hours
            down += share.node_hours * (1 - onprem.node_availability(node, setting.assumptions))
    if down:
        yield message("repair_in_stated_hours", node_hours=used, down_hours=down)


def _list_ownership_facts(
    advice: Recommendation, chosen: SolvedStrategy, setting: PlanningContext, currency: ParameterValue
) -> Iterator[Message]:
    """The resale that the advice counts with, and whether it would change without; hardware that is used briefly."""
    rate, months = setting.terms.discount_rate_monthly, setting.terms.months
    cash = [row for row in chosen.strategy.cash if not row.what.endswith(EXISTING_SUFFIX)]
    there = [(o.resource.node, o.resource.held) for o in chosen.decisions.bought if o.resource.held is not None]
    values = [
        [
            onprem.resale_value(node, held.age_months + after, setting.assumptions) * held.count
            for after in (0, len(held.covers))
        ]
        for node, held in there
        if node is not None and held is not None
    ]
    if values:
        yield message(
            "existing_nodes_worth",
            now=math.fsum(now for now, _ in values),
            at_end=math.fsum(at_end for _, at_end in values),
            counted=any(held is not None and held.counts_value for _, held in there),
            currency=currency,
        )
    yield from _list_idle_nodes(chosen, setting, currency)
    yield from _describe_repair(chosen, setting)
    sold = -present_cost((row for row in cash if row.category == "resale" and row.amount < 0), rate)
    paid = math.fsum(row.amount for row in cash if row.category == "hardware")
    if sold > 0 and paid:
        yield message(
            "resale_counted",
            resale=sold,
            hardware_fraction=-math.fsum(row.amount for row in cash if row.category == "resale") / paid,
            advice_holds=advice.runner_up is None or advice.worth > sold,
            runner_up=advice.runner_up,
            currency=currency,
        )
    for purchase in chosen.strategy.purchases:
        used = min(purchase.usable_to, months) - purchase.usable_from + 1
        if purchase.what == "owned" and used < SHORT_USE_MONTHS:
            yield message(
                "owned_used_briefly",
                name=purchase.name,
                count=purchase.count,
                months=used,
                life_months=purchase.term_months,
            )


def list_reasons(strategies: Sequence[Strategy]) -> Iterator[Message]:
    """Why no strategy is possible: what holds for all of them, then the reasons of each by its name."""
    common = [reason for reason in strategies[0].reasons if all(reason in s.reasons for s in strategies)]
    yield from common
    for s in strategies:
        yield from (
            message("reason_of_strategy", strategy=s.name, reason=reason)
            for reason in s.reasons
            if reason not in common
        )


def _list_decisions(strategy: Strategy) -> tuple[object, ...]:
    """What is bought and what is used where, to six digits: equal for plans with the same decisions."""
    bought = ((p.month, p.name, p.provider, p.region, p.purchase_option, p.amount) for p in strategy.purchases)
    used = ((u.month, u.workload, u.name, u.provider, u.region, u.purchase_option, u.node_hours) for u in strategy.uses)
    return tuple((*row, format(amount, ".6g")) for *row, amount in (*bought, *used))


def _open_difference(one: Strategy, other: Strategy) -> float:
    """The difference in present cost up to which the proofs leave open which of two plans is cheaper; infinite where
    nothing bounds one of them."""
    rounding = COST_TOLERANCE * max(1.0, abs(other.present_cost))
    gaps = (math.inf if s.bound is None else s.present_cost - s.bound for s in (one, other))
    return max(*gaps, rounding)


def _uses_existing(strategy: Strategy) -> bool:
    """Whether it uses nodes that were owned before the plan."""
    bought = {purchase.name for purchase in strategy.purchases if purchase.what == "owned"}
    return any(use.what == "owned" and use.name not in bought for use in strategy.uses)


def pick_simplest(costs: Mapping[Name, float], allowed_fraction: float) -> Name:
    """The simplest strategy whose present cost is at most a fraction above the least; rounding is no difference."""
    least = min(costs.values())
    most = least + abs(least) * allowed_fraction + COST_TOLERANCE
    return min((name for name, cost in costs.items() if cost <= most), key=SIMPLEST_FIRST.index)


def build_cost_bridge(
    advice: Recommendation, strategies: Iterable[Strategy], rate_monthly: float
) -> tuple[BridgeStep, ...]:
    """From the runner-up to the recommended strategy by category, largest difference first; none without a runner-up.

    The differences add up to `advice.worth`.
    """
    present = {
        s.name: defaultdict(float, present_cost_by(((row.category, row) for row in s.cash), rate_monthly))
        for s in strategies
    }
    if advice.strategy is None or advice.runner_up is None:
        return ()
    before, after = present[advice.runner_up], present[advice.strategy]
    steps = [
        BridgeStep(category, before[category], after[category], before[category] - after[category])
        for category in sorted({*before, *after})
    ]
    return tuple(sorted(steps, key=lambda step: -abs(step.difference)))


def sum_purchases(purchases: Iterable[Purchase | LadderStep]) -> dict[tuple[str, str], float]:
    """The amounts of purchases, by name and unit."""
    amounts: dict[tuple[str, str], float] = defaultdict(float)
    for purchase in purchases:
        name = f"{purchase.name} {purchase.purchase_option}".removesuffix(" owned")
        amounts[name, purchase.unit] += purchase.amount
    return dict(sorted(amounts.items()))


def list_amounts(amounts: Mapping[tuple[str, str], float], currency: str) -> tuple[Message, ...]:
    """Purchases by name and unit, in words."""
    return tuple(
        message("purchase_amount", amount=amount, unit=unit, currency=currency, name=name)
        for (name, unit), amount in amounts.items()
    )


def find_break_evens(
    nodes: Iterable[OwnedNode], quotes: Iterable[Quote], assumptions: Assumptions, terms: Terms
) -> tuple[tuple[BreakEven, ...], tuple[Quote, ...]]:
    """For every owned node, against the cheapest on-demand price per hour of the same accelerator; with the quotes
    compared.

    Utilisation is own cost over rent: renting costs its price times the hours used, owning costs the same at any use.
    """
    cheapest: dict[str, Quote] = {}
    for quote in quotes:
        count = quote.offering.accelerator_count
        if quote.price.kind != "on_demand" or not count:
            continue
        best = cheapest.get(quote.offering.accelerator)
        if best is None or _price_per_accelerator(quote) < _price_per_accelerator(best):
            cheapest[quote.offering.accelerator] = quote
    rows, used = [], []
    for node in nodes:
        rented = cheapest.get(node.accelerator)
        if rented is None:
            continue
        used.append(rented)
        rows.append(_compare_owning_with_renting(node, rented, assumptions, terms))
    return tuple(rows), tuple(used)


def _price_per_accelerator(quote: Quote) -> float:
    return quote.price.price_per_hour / (quote.offering.accelerator_count or 1)


def _compare_owning_with_renting(node: OwnedNode, rented: Quote, assumptions: Assumptions, terms: Terms) -> BreakEven:
    cost = onprem.node_costs(node, assumptions, terms.hours_per_month, terms.discount_rate_monthly)
    life = round(assumptions["useful_life_months"].value)
    rent_per_month = _price_per_accelerator(rented) * node.accelerators * terms.hours_per_month
    level = onprem.cost_per_month_over_life(node, assumptions, terms)
    periods, utilisation = break_even(cost.capital, cost.per_month_at_work, rent_per_month, level)
    price = rented.price
    return BreakEven(
        system=node.name,
        rented=f"{price.provider} {price.region} {price.instance_type} {price.purchase_option}",
        month=first_whole_period(periods, life),
        utilisation=utilisation,
        own_cost_per_accelerator_hour=level / node.accelerators / terms.hours_per_month,
        rent_cost_per_accelerator_hour=_price_per_accelerator(rented),
        capital=cost.capital,
        own_per_month=cost.per_month_at_work,
        rent_per_month=rent_per_month,
        life_months=life,
        resale=onprem.value_after_life(node, assumptions),
    )
