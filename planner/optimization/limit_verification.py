"""Verification of the limits of a request, of operators and the support fee that follow from them, and of the money."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from planner.finance.cashflow import Payment, present_cost
from planner.optimization.solution import (
    CandidateUse,
    ResourceOrder,
    committed_months,
    list_payments,
    overhead_payments,
    purchase_payments,
    use_payments,
)
from planner.optimization.verified_plan import ROUNDING, VerifiedPlan, Violation, active_units, exceeds
from planner.request.calendar import name_quarter
from planner.supply import onprem
from planner.supply.limits import CAPEX_CATEGORIES, SHARE_ROUNDING, budget_by_year, budget_year
from planner.supply.payments import covered_months, delivered_months
from planner.supply.quotas import count_in_busiest_block
from planner.supply.resources import Resource
from pricing.units import HOURS_PER_DAY

CENT = 0.01


def _check_spot_share(plan: VerifiedPlan) -> Iterator[Violation]:
    """No more of a workload's work on spot than its limit, of each month or, with a deadline, of all of it."""
    done: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for use in plan.decisions.shares:
        month = 0 if plan.need(use.candidate).deadline is not None else use.month
        sums = done[use.candidate.need, month]
        sums[0] += use.units if plan.resource(use.candidate).interrupts else 0.0
        sums[1] += use.units
    for (index, month), (spot, every) in done.items():
        need = plan.setting.demands.needs[index]
        share = plan.setting.rules.spot_share(need)
        if spot > every * share * (1 + ROUNDING) + ROUNDING * every:
            yield Violation("spot_share", need.workload.name, month, spot / every, share)


def _check_site(plan: VerifiedPlan) -> Iterator[Violation]:
    """The owned nodes that are on site keep within its power and racks, in each month from their delivery."""
    limits, assumed = plan.setting.rules.limits, plan.setting.assumptions
    power: dict[int, float] = defaultdict(float)
    racks: dict[int, float] = defaultdict(float)
    for order in plan.decisions.bought:
        node = order.resource.node
        if node is None:
            continue
        for month in delivered_months(order.resource, order.month, assumed, plan.setting.terms):
            power[month] += order.quantity * node.max_power_kw
            racks[month] += order.quantity * onprem.node_rack_fraction(node, assumed)
    for rule, used, most in (("power", power, limits.owned_power_kw), ("racks", racks, limits.owned_racks)):
        for month, amount in used.items():
            if most is not None and exceeds(amount, most):
                yield Violation(f"site_{rule}", rule, month, amount, most)


def _check_operators(plan: VerifiedPlan) -> Iterator[Violation]:
    """Where operators are hired whole, enough of them for all accelerators on site, and the least number for any."""
    if plan.setting.rules.site.staff != "whole":
        return
    assumed = plan.setting.assumptions
    there: dict[int, float] = defaultdict(float)
    for order in plan.decisions.bought:
        node = order.resource.node
        if node is not None:
            for month in delivered_months(order.resource, order.month, assumed, plan.setting.terms):
                there[month] += order.quantity * node.accelerators
    hired = {each.month: each.quantity for each in plan.decisions.overheads if each.kind == "staff"}
    for month, accelerators in there.items():
        needed = max(assumed["staff_minimum"].value, accelerators / assumed["accelerators_per_staff"].value)
        if exceeds(needed, hired.get(month, 0.0)):
            yield Violation("operators", "staff", month, hired.get(month, 0.0), needed)


def _check_support_fee(plan: VerifiedPlan) -> Iterator[Violation]:
    """The support plan costs at least its minimum fee in each month with a cloud bill, of data alone too, and in each
    in which a commitment is in effect, paid before or not."""
    least = plan.setting.assumptions["cloud_support_minimum_per_month"].value
    if not least:
        return
    decisions, setting = plan.decisions, plan.setting
    paid = [p for order in decisions.bought if order.resource.node is None for p in purchase_payments(setting, order)]
    paid += [
        p for use in decisions.shares if plan.resource(use.candidate).node is None for p in use_payments(setting, use)
    ]
    paid += [
        p for each in decisions.overheads if each.kind == "cloud_support" for p in overhead_payments(setting, each)
    ]
    billed: dict[int, float] = defaultdict(float)
    support: dict[int, float] = defaultdict(float)
    for payment in paid:
        billed[payment.month] += payment.amount
        support[payment.month] += payment.amount if payment.category == "cloud_support" else 0.0
    months = {month for month, amount in billed.items() if amount > CENT}
    for month in sorted(months.union(*(committed_months(setting, order) for order in decisions.bought))):
        if support[month] < least - CENT:
            yield Violation("support_fee", "cloud_support", month, support[month], least)


def _check_quotas(plan: VerifiedPlan) -> Iterator[Violation]:
    """No more nodes at once than each quota leaves, where quotas hold."""
    used: dict[tuple[tuple[str, str, str], int], float] = defaultdict(float)
    quotas = {quota.key: quota for quota in plan.setting.rules.quotas}
    if not quotas:
        return
    for (resource, month), nodes in _count_nodes_at_once(plan).items():
        for quota, each in plan.setting.rules.counted(resource):
            used[quota.key, month] += nodes * each
    for (quota_key, month), amount in used.items():
        quota = quotas[quota_key]
        free = max(quota.limit - (quota.used or 0.0), 0.0)
        if exceeds(amount, free):
            yield Violation("quota", " ".join(quota_key), month, amount, free)


def _count_nodes_at_once(plan: VerifiedPlan) -> dict[tuple[Resource, int], int]:
    """Whole nodes of each resource by month, as quotas count them: one at least for any work, however short."""
    nodes: dict[tuple[Resource, int], float] = defaultdict(float)
    pooled: dict[tuple[Resource, int], list[Sequence[float]]] = defaultdict(list)
    working: set[tuple[Resource, int]] = set()
    for use in plan.decisions.shares:
        at, need = (plan.resource(use.candidate), use.month), plan.need(use.candidate)
        if use.units > ROUNDING * max(need.monthly):
            working.add(at)
        if at[0].what in ("hourly", "covered") and need.workload.shares_nodes:
            pooled[at].append(_nodes_by_block(plan, use))
        elif at[0].what in ("hourly", "covered"):
            nodes[at] += use.nodes
    for at, uses in pooled.items():
        nodes[at] += count_in_busiest_block(uses)
    resources = {order.resource.key: order.resource for order in plan.decisions.bought}
    for (key, month), units in active_units(plan).items():
        resource = resources[key]
        if resource.held is None and resource.unit != "money":
            days = plan.setting.terms.hours_per_month / HOURS_PER_DAY
            nodes[resource, month] += units / (days if resource.unit == "node_day" else 1.0)
    return {at: max(math.ceil(number - ROUNDING), int(at in working)) for at, number in nodes.items()}


def _nodes_by_block(plan: VerifiedPlan, use: CandidateUse) -> tuple[float, ...]:
    """The nodes of a use in each load block; one number for work at any hour and for gangs that span nodes."""
    hours = {part.block: part.node_hours for part in use.blocks}
    if use.candidate.nodes_per_gang > 1 or min(hours, default=-1) < 0:
        return (use.nodes,)
    return tuple(hours.get(block, 0.0) / plan.hours(block) for block in range(len(plan.setting.demands.block_hours)))


def _check_budgets(plan: VerifiedPlan) -> Iterator[Violation]:
    """Hardware and everything else within the budget of each year."""
    limits, months = plan.setting.rules.limits, plan.setting.terms.months
    if not plan.setting.rules.budgets:
        return
    paid = [payment for _, payment in list_payments(plan.decisions, plan.setting)]
    for rule, yearly, of_hardware in (
        ("capex_per_year", limits.capex_per_year, True),
        ("opex_per_year", limits.opex_per_year, False),
    ):
        if yearly is None:
            continue
        for year, most in enumerate(budget_by_year(yearly, months), 1):
            spent = math.fsum(p.amount for p in paid if _counts(p, of_hardware) and budget_year(p.month) + 1 == year)
            if spent > most * (1 + ROUNDING) + CENT:
                yield Violation(rule, f"year {year}", 12 * year, spent, most)


def _check_carbon(plan: VerifiedPlan) -> Iterator[Violation]:
    """The emission of each year within its limit: the power of accelerators and grids as the catalogue and the request
    have them, for the hours that nodes are used; owned nodes for all hours from their delivery."""
    yearly, months = plan.setting.rules.limits.carbon_kg_per_year, plan.setting.terms.months
    if yearly is None:
        return
    grams: dict[int, float] = defaultdict(float)
    share = plan.setting.assumptions["idle_draw_fraction"].value
    for use in plan.decisions.shares:
        resource = plan.resource(use.candidate)
        of_work = 1.0 if resource.node is None else 1 - share
        grams[budget_year(use.month)] += of_work * use.node_hours * _grams_per_hour(plan, resource)
    for order in plan.decisions.bought:
        if order.resource.node is not None:
            idle = share * plan.setting.terms.hours_per_month * _grams_per_hour(plan, order.resource)
            for month in delivered_months(order.resource, order.month, plan.setting.assumptions, plan.setting.terms):
                grams[budget_year(month)] += order.quantity * idle
    for year, most in enumerate(budget_by_year(yearly, months)):
        if exceeds(grams[year] / 1000, most):
            yield Violation("carbon_kg_per_year", f"year {year + 1}", 12 * (year + 1), grams[year] / 1000, most)


def _grams_per_hour(plan: VerifiedPlan, resource: Resource) -> float:
    """Grams of CO2e of an hour of work of a node; infinite where a figure is unknown."""
    a, request = plan.setting.assumptions, plan.request
    if resource.node is not None:
        grid = request.site.grid_gco2e_per_kwh
        kw: float | None = resource.node.max_power_kw * a["pue"].value
    else:
        listed = plan.catalog.grid_carbon.get((resource.provider, resource.region))
        stated = request.grid_gco2e_per_kwh.get(f"{resource.provider} {resource.region}")
        grid = stated if stated is not None else listed.grid_gco2e_per_kwh if listed else None
        watts = plan.catalog.names.by_name[resource.accelerator].tdp_w
        of_accelerators = a["server_power_over_accelerator_power"].value * a["cloud_pue"].value
        kw = None if watts is None else watts / 1000 * resource.accelerators_per_node * of_accelerators
    return math.inf if grid is None or kw is None else grid * kw * a["server_power_fraction"].value


def _counts(payment: Payment, of_hardware: bool) -> bool:
    is_paid = payment.amount > 0 and payment.category != "resale"
    return is_paid and (payment.category in CAPEX_CATEGORIES) == of_hardware


def _check_commitment_targets(plan: VerifiedPlan) -> Iterator[Violation]:
    """Coverage, utilisation and ends by quarter of commitments for a term, counted from orders, uses and the prices of
    the catalogue."""
    targets = plan.setting.rules.commitment_targets
    if not targets:
        return
    made = [o for o in plan.decisions.bought if _is_term_commitment(o.resource) and o.resource.held is None]
    shares = {
        "commitment_coverage_min": _measure_coverage(plan),
        "commitment_utilisation_min": _measure_utilisation(plan, made),
        "commitment_ending_per_quarter_max": _measure_largest_end(plan, made),
    }
    for rule, target in targets.items():
        share = shares[rule]
        short = share > target + SHARE_ROUNDING if rule.endswith("_max") else exceeds(target, share)
        if short:
            yield Violation(rule, "commitments", 0, share, target)


def _is_term_commitment(resource: Resource) -> bool:
    return resource.quote is not None and resource.quote.price.term_months > 0


def _measure_coverage(plan: VerifiedPlan) -> float:
    """Of the cost on demand of use on demand and in commitments for a term; 1 without any."""
    covered = on_demand = 0.0
    for use in plan.decisions.shares:
        resource = plan.resource(use.candidate)
        if resource.quote is None:
            continue
        listed = plan.catalog.by_option(resource.quote.offering).get("on_demand", ())
        price = next((q.price.price_per_hour for q in listed if q.price.region == resource.region), 0.0)
        cost = use.node_hours * price * plan.setting.terms.price_factor(use.month, "on_demand")
        if _is_term_commitment(resource):
            covered += cost
        elif resource.quote.price.kind == "on_demand":
            on_demand += cost
    return covered / (covered + on_demand) if covered + on_demand else 1.0


def _measure_utilisation(plan: VerifiedPlan, made: Sequence[ResourceOrder]) -> float:
    """Of the cost of commitments within the plan; 1 without any."""
    keys = {order.resource.key for order in made}
    committed = used = 0.0
    for order in made:
        months = covered_months(order.resource, order.month, plan.setting.assumptions, plan.setting.terms)
        committed += order.quantity * _price_an_hour(order.resource) * plan.setting.terms.hours_per_month * len(months)
    for use in plan.decisions.shares:
        resource = plan.resource(use.candidate)
        if (resource.pool or resource.key) in keys:
            used += use.node_hours * _price_an_hour(resource)
    return used / committed if committed else 1.0


def _measure_largest_end(plan: VerifiedPlan, made: Sequence[ResourceOrder]) -> float:
    """The largest share, by cost an hour, that ends in one quarter; 0 without commitments."""
    ends: dict[str, float] = defaultdict(float)
    for order in made:
        assert order.resource.quote is not None
        last = order.month + order.resource.quote.price.term_months - 1
        quarter = name_quarter(plan.setting.demands.month_names[0], last)
        ends[quarter] += order.quantity * _price_an_hour(order.resource)
    return max(ends.values()) / math.fsum(ends.values()) if ends else 0.0


def _price_an_hour(resource: Resource) -> float:
    return 0.0 if resource.quote is None else resource.quote.price.price_per_hour


def _check_money(plan: VerifiedPlan) -> Iterator[Violation]:
    """The totals of the strategy are those of its payments, to the cent, as are its rows of cash."""
    paid = [payment for _, payment in list_payments(plan.decisions, plan.setting)]
    total = math.fsum(payment.amount for payment in paid)
    if abs(total - plan.strategy.total_cost) > CENT:
        yield Violation("total_cost", plan.strategy.name, 0, plan.strategy.total_cost, total)
    present = present_cost(paid, plan.setting.terms.discount_rate_monthly)
    if abs(present - plan.strategy.present_cost) > CENT:
        yield Violation("present_cost", plan.strategy.name, 0, plan.strategy.present_cost, present)
    cash = math.fsum(row.amount for row in plan.strategy.cash)
    if abs(cash - total) > CENT:
        yield Violation("cash", plan.strategy.name, 0, cash, total)


LIMIT_CHECKS = (
    _check_spot_share,
    _check_site,
    _check_operators,
    _check_support_fee,
    _check_quotas,
    _check_budgets,
    _check_commitment_targets,
    _check_carbon,
    _check_money,
)
