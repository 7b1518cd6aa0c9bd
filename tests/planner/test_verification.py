"""Verification against planted defects: every kind is named; sound plans pass."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from planner import pipeline
from planner.application import plan
from planner.optimization.solution import BlockUse, Decisions, Overhead, ResourceOrder, support_top_ups
from planner.optimization.strategy import solve_strategy
from planner.optimization.verification import find_violations, verify_plan
from planner.optimization.verified_plan import VerifiedPlan
from planner.request.errors import InternalError
from planner.supply import onprem

PRICES = {
    ("aws", "us-east-1", "g4dn.xlarge", "on_demand"): 0.526,
    ("aws", "us-east-1", "g4dn.xlarge", "spot"): 0.20,
    ("aws", "us-east-1", "g4dn.12xlarge", "on_demand"): 3.912,
    ("aws", "us-east-1", "g4dn.12xlarge", "reserved_1y_no_upfront"): 1.2,
    ("aws", "us-east-1", "p5.48xlarge", "on_demand"): 55.04,
    ("aws", "us-east-1", "p5.48xlarge", "capacity_block"): 31.464,
}
SERVICE = {
    "name": "service",
    "kind": "inference",
    "demand": {"requests_per_second": 20, "daily_shape": "business_hours"},
    "measurements": [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}],
}
STEADY = {
    "name": "steady",
    "kind": "training",
    "demand": {"accelerator_hours_per_month": 20_000, "accelerator": "T4"},
    "interruptible": True,
    "spot_fraction_max": 0.1,
}
GANG = {
    "name": "gang",
    "kind": "training",
    "gang": 16,
    "demand": {"accelerator_hours_per_month": [480.0, 0.0, 0.0], "accelerator": "H100"},
}
DUE = {
    "name": "due",
    "kind": "training",
    "demand": {"total_units": 3_000_000, "deadline_month": 2},
    "measurements": [{"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": 1}],
}
LIMITS = {"opex_per_year": 1_000_000, "capex_per_year": 5_000_000, "owned_power_kw": 500, "quotas": "hold"}
QUOTA = {
    "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "G", "unit": "vcpu", "limit": 10_000, "used": 0,
    "types": "g4dn.*", "kinds": "on_demand", "as_of": "2026-11-20", "source_id": "test",
}  # fmt: skip


@pytest.fixture(scope="module")
def solved(priced_module) -> VerifiedPlan:
    return _solve(priced_module, "cloud", SERVICE, STEADY, GANG, DUE)


@pytest.fixture(scope="module")
def owning(priced_module) -> VerifiedPlan:
    """Two nodes of eight T4s that are there, and operators hired whole."""
    own = {"nodes": [{"system": "small-8xT4", "count": 2}]}
    system = {
        "name": "small-8xT4", "accelerator": "T4", "accelerators": 8, "price": 30_000, "max_power_kw": 2.0,
    }  # fmt: skip
    return _solve(priced_module, "hybrid", STEADY, existing=own, systems=[system], site={"staff": "whole"})


@pytest.fixture(scope="module")
def spread(priced_module) -> VerifiedPlan:
    """Ten replicas and a spare: three on nodes of one T4, eight on two nodes of four."""
    service = {**SERVICE, "demand": {"requests_per_second": 20}, "spread": True, "spare_replicas": 1}
    few = {**QUOTA, "unit": "node", "limit": 3, "types": "g4dn.xlarge"}
    return _solve(
        priced_module, "cloud", service, quotas=[few], limits={"quotas": "hold", "purchase_options": ["on_demand"]}
    )


@pytest.fixture(scope="module")
def priced_module(priced):
    return priced(PRICES)


def _solve(catalog, name: str, *workloads: dict, **settings) -> VerifiedPlan:
    from planner.request.models import parse_request

    whole = {"as_of": "2026-11-21", "months": 3, "limits": LIMITS, "quotas": [QUOTA], **settings}
    request = parse_request({**whole, "workloads": list(workloads)})
    basis = pipeline._prepare_basis(request, catalog)
    nodes, _ = onprem.buyable_nodes(basis.catalog, basis.assumptions, basis.request)
    context, _ = pipeline._build_context(basis.request, basis.catalog, basis.assumptions, nodes, {})
    result = solve_strategy(name, context)
    assert result.strategy.status == "optimal"
    return VerifiedPlan(result.strategy, result.decisions, context, basis.request, basis.catalog)


def _changed(plan: VerifiedPlan, **parts) -> VerifiedPlan:
    return replace(plan, decisions=replace(plan.decisions, **parts))


def _with_use(plan: VerifiedPlan, name: str, change, option: str = "") -> VerifiedPlan:
    """The plan with the first use of a workload (in one way of paying) changed."""
    uses = list(plan.decisions.shares)
    index = next(
        n
        for n, use in enumerate(uses)
        if plan.need(use.candidate).workload.name == name
        and (not option or plan.resource(use.candidate).purchase_option == option)
    )
    uses[index] = change(uses[index])
    return _changed(plan, shares=tuple(uses))


def _scaled(use, factor: float, *, units: bool = True, hours: bool = True):
    def part(each: BlockUse) -> BlockUse:
        more_hours = each.node_hours * (factor if hours else 1.0)
        return BlockUse(each.block, more_hours, each.units * (factor if units else 1.0))

    blocks = tuple(part(each) for each in use.blocks)
    return replace(
        use,
        blocks=blocks,
        node_hours=sum(each.node_hours for each in blocks),
        units=sum(each.units for each in blocks),
    )


def _without_orders(plan: VerifiedPlan) -> VerifiedPlan:
    return _changed(plan, bought=())


def _with_order(plan: VerifiedPlan, kind: str, **changes) -> VerifiedPlan:
    orders = list(plan.decisions.bought)
    index = next(n for n, order in enumerate(orders) if order.resource.purchase_option.startswith(kind))
    orders[index] = replace(orders[index], **changes)
    return _changed(plan, bought=tuple(orders))


def _with_reservation(plan: VerifiedPlan) -> VerifiedPlan:
    """A node committed to for a year, for nothing."""
    resources = plan.setting.market.resources
    reserved = next(each for each in resources if each.purchase_option.startswith("reserved"))
    return _changed(plan, bought=(*plan.decisions.bought, ResourceOrder(reserved, 1, 1.0)))


def _with_limits(plan: VerifiedPlan, **changes) -> VerifiedPlan:
    limits = plan.setting.rules.limits.model_copy(update=changes)
    rules = replace(plan.setting.rules, limits=limits)
    return replace(plan, setting=replace(plan.setting, rules=rules))


def _with_workload(plan: VerifiedPlan, name: str, **changes) -> VerifiedPlan:
    demands = plan.setting.demands
    needs = tuple(
        replace(n, workload=n.workload.model_copy(update=changes)) if n.workload.name == name else n
        for n in demands.needs
    )
    return replace(plan, setting=replace(plan.setting, demands=replace(demands, needs=needs)))


def _asked(plan: VerifiedPlan, **changes) -> VerifiedPlan:
    return replace(plan, request=plan.request.model_copy(update=changes))


def _totals(plan: VerifiedPlan, **changes) -> VerifiedPlan:
    return replace(plan, strategy=replace(plan.strategy, **changes))


def _with_terms(plan: VerifiedPlan, **changes) -> VerifiedPlan:
    """The plan with other terms of sale of everything it could rent."""
    resources = list(plan.setting.market.resources)
    for n, resource in enumerate(resources):
        if resource.quote is not None and resource.quote.sale is not None:
            sale = replace(resource.quote.sale, **changes)
            resources[n] = replace(resource, quote=replace(resource.quote, sale=sale))
    market = replace(plan.setting.market, resources=tuple(resources))
    return replace(plan, setting=replace(plan.setting, market=market))


def _wider_gang(plan: VerifiedPlan) -> VerifiedPlan:
    """The gang on nodes of a type that no fabric joins."""
    resources = plan.setting.market.resources
    alone = next(n for n, r in enumerate(resources) if (r.name, r.purchase_option) == ("g4dn.xlarge", "on_demand"))
    return _with_use(
        plan, "gang", lambda use: replace(use, candidate=use.candidate._replace(resource=alone, nodes_per_gang=16))
    )


def _with_higher_peaks(plan: VerifiedPlan) -> VerifiedPlan:
    """An hour in each block with twice the work of the mean of its block."""
    demands = plan.setting.demands
    needs = tuple(replace(need, peaks=tuple(2 * level for level in need.levels or ())) for need in demands.needs)
    return replace(plan, setting=replace(plan.setting, demands=replace(demands, needs=needs)))


def _with_later_orders(plan: VerifiedPlan) -> VerifiedPlan:
    """Every order of dated days 60 days later, its month and all else as planned."""
    purchases = tuple(
        replace(each, orders=tuple(replace(order, first_day=order.first_day + 60) for order in each.orders))
        for each in plan.strategy.purchases
    )
    return _totals(plan, purchases=purchases)


DEFECTS = {
    "less work than asked": (lambda p: _with_use(p, "steady", lambda u: _scaled(u, 0.9)), "work_done"),
    "more work than asked": (lambda p: _with_use(p, "steady", lambda u: _scaled(u, 1.1)), "work_done"),
    "work left out": (
        lambda p: _changed(
            p, shares=tuple(u for u in p.decisions.shares if p.need(u.candidate).workload.name != "due")
        ),
        "work_done",
    ),
    "a tiny service on nothing": (_without_orders, "hours_bought"),
    "work after its deadline": (lambda p: _with_use(p, "due", lambda u: replace(u, month=3)), "after_deadline"),
    "work in a month without demand": (
        lambda p: _with_use(p, "gang", lambda u: replace(u, month=2)),
        "work_done",
    ),
    "negative hours": (lambda p: _with_use(p, "steady", lambda u: replace(u, node_hours=-1.0)), "negative_use"),
    "hours that are in no block": (
        lambda p: _with_use(p, "steady", lambda u: replace(u, blocks=())),
        "hours_of_blocks",
    ),
    "a month beyond the plan": (lambda p: _with_use(p, "steady", lambda u: replace(u, month=4)), "outside_the_plan"),
    "half a day of a node": (lambda p: _with_order(p, "capacity_block", quantity=2.5), "whole_purchases"),
    "fewer days than used": (lambda p: _with_order(p, "capacity_block", quantity=1.0), "hours_bought"),
    "a day ordered too early": (lambda p: _with_order(p, "capacity_block", month=3), "ordered_too_early"),
    "a block that starts after the eighth week": (_with_later_orders, "order_starts_too_late"),
    "committed to in the past": (lambda p: _asked(p, start="2026-12", as_of=date(2027, 1, 15)), "ordered_in_the_past"),
    "less covered than asked": (
        lambda p: _with_limits(p, commitment_coverage_min=0.999),
        "commitment_coverage_min",
    ),
    "less used than asked": (
        lambda p: _with_limits(_with_reservation(p), commitment_utilisation_min=0.9),
        "commitment_utilisation_min",
    ),
    "all ending in one quarter": (
        lambda p: _with_limits(_with_reservation(p), commitment_ending_per_quarter_max=0.9),
        "commitment_ending_per_quarter_max",
    ),
    "fractions of a rented node": (
        lambda p: _with_use(p, "service", lambda u: _scaled(u, 1.05, units=False)),
        "whole_nodes",
    ),
    "too few nodes for the work": (
        lambda p: _with_use(p, "service", lambda u: _scaled(u, 0.5, units=False)),
        "hours_for_the_work",
    ),
    "too few nodes for the highest hour": (_with_higher_peaks, "spare_replicas"),
    "a gang that nothing joins": (_wider_gang, "gang_without_fabric"),
    "a gang on two blocks": (lambda p: _with_terms(p, max_nodes=1), "gang_larger_than_order"),
    "more jobs at once than allowed": (lambda p: _with_workload(p, "steady", parallel_jobs=1), "parallel_jobs"),
    "not sold in this way": (lambda p: _with_terms(p, sold=False), "not_sold"),
    "used after its type has ended": (lambda p: _with_terms(p, ends=date(2027, 1, 15)), "used_after_its_end"),
    "a service in a queue": (lambda p: _with_terms(p, queued=True), "not_for_this_work"),
    "spot under what may not be interrupted": (
        lambda p: _with_workload(p, "steady", interruptible=False),
        "interrupted",
    ),
    "more on spot than allowed": (lambda p: _with_workload(p, "steady", spot_fraction_max=0.01), "spot_share"),
    "in a region that is not allowed": (lambda p: _asked(p, regions=("us-west-2",)), "not_permitted_there"),
    "outside its residency": (lambda p: _with_workload(p, "service", residency=("DE",)), "not_permitted_there"),
    "above the budget": (lambda p: _with_limits(p, opex_per_year=1000.0), "opex_per_year"),
    "above the quota": (
        lambda p: replace(p, setting=replace(p.setting, rules=replace(p.setting.rules, quotas=_small_quotas(p)))),
        "quota",
    ),
    "a total that is not the payments": (lambda p: _totals(p, total_cost=p.strategy.total_cost - 1), "total_cost"),
    "a present cost that is not": (lambda p: _totals(p, present_cost=p.strategy.present_cost + 1), "present_cost"),
    "cash that is lost": (lambda p: _totals(p, cash=p.strategy.cash[1:]), "cash"),
}
OWNED_DEFECTS = {
    "more power than the site has": (lambda p: _with_limits(p, owned_power_kw=0.5), "site_power"),
    "more racks than the site has": (lambda p: _with_limits(p, owned_racks=0.01), "site_racks"),
    "nobody to run it": (lambda p: _changed(p, overheads=()), "operators"),
    "owned though it may not be": (lambda p: _with_workload(p, "steady", may_be_owned=False), "may_not_be_owned"),
    "fewer nodes than used": (lambda p: _with_order(p, "owned", quantity=1.0), "hours_bought"),
}


SPREAD_DEFECTS = {
    "parts of nodes in one of several places": (
        lambda p: _with_use(p, "service", lambda u: _scaled(u, 0.75, units=False)),
        "whole_nodes",
    ),
    "a node less in one of several places": (lambda p: _with_use(p, "service", _without_a_node), "spare_replicas"),
    "in several places unasked": (lambda p: _with_workload(p, "service", spread=False), "homes"),
}


def _without_a_node(use):
    return _scaled(use, 1 - 730 / use.node_hours, units=False)


def _small_quotas(plan: VerifiedPlan):
    return tuple(replace(quota, limit=1.0) for quota in plan.setting.rules.quotas)


def test_a_sound_plan_passes(solved, owning):
    assert find_violations(solved) == ()
    assert find_violations(owning) == ()


@pytest.mark.parametrize("kind", DEFECTS)
def test_a_planted_defect_is_found(solved, kind):
    plant, rule = DEFECTS[kind]
    assert rule in {violation.rule for violation in find_violations(plant(solved))}


@pytest.mark.parametrize("kind", OWNED_DEFECTS)
def test_a_planted_defect_of_owned_nodes_is_found(owning, kind):
    plant, rule = OWNED_DEFECTS[kind]
    assert rule in {violation.rule for violation in find_violations(plant(owning))}


@pytest.mark.parametrize("kind", SPREAD_DEFECTS)
def test_a_planted_defect_of_a_service_in_several_places_is_found(spread, kind):
    plant, rule = SPREAD_DEFECTS[kind]
    assert find_violations(spread) == ()
    assert rule in {violation.rule for violation in find_violations(plant(spread))}


def test_every_defect_at_once_is_told_in_natural_units(solved):
    with pytest.raises(InternalError, match=r"work_done: due, month 2: 0 against 3e\+06"):
        verify_plan(_changed(solved, shares=(), bought=()))
    with pytest.raises(InternalError, match=r"and [0-9]+ more"):
        verify_plan(replace(solved, decisions=Decisions(overheads=(Overhead("staff", 9, -1.0),))))


def test_a_bill_of_data_alone_needs_the_least_fee_of_support(priced_module):
    """Where the nodes cost nothing, storage is all that is on the bill."""
    stored = {**STEADY, "storage_gb": 1000}
    plan = _solve(priced_module, "cloud", stored, assumptions={"cloud_support_minimum_per_month": 200})
    assert not find_violations(plan)
    paid = {each.month: each.quantity for each in plan.decisions.overheads}
    assert paid == pytest.approx({1: 200, 2: 200, 3: 200})
    free = tuple(replace(r, quote=r.quote and replace(r.quote, price=replace(r.quote.price, price_per_hour=0.0)))
                 for r in plan.setting.market.resources)  # fmt: skip
    market = replace(plan.setting.market, resources=free)
    without = replace(
        plan, setting=replace(plan.setting, market=market), decisions=replace(plan.decisions, overheads=())
    )
    assert {(v.month, v.found) for v in find_violations(without) if v.rule == "support_fee"} == {(1, 0), (2, 0), (3, 0)}


def test_a_small_use_beside_a_large_one_is_paid(catalog):
    """300 requests a month need a node all month, however many nodes another job takes: 3 x 730 hours of the cheapest
    eight accelerators that do it, g4dn.metal at 7.824 USD an hour, are 17,134.56 USD. They cost 0 before."""
    from planner.request.models import parse_request

    small = {
        "name": "small",
        "kind": "inference",
        "gang": 8,
        "demand": {"units_per_month": 300},
        "measurements": [{"accelerator": "A100-80GB", "count": 8, "units_per_second": 74.76, "per": "job"}],
    }
    big = {
        "name": "big",
        "kind": "training",
        "gang": 16,
        "interruptible": True,
        "demand": {"units_per_month": 14_000},
        "measurements": [{"accelerator": "A100-80GB", "count": 16, "units_per_hour": 1, "per": "job"}],
    }
    settings = {"as_of": "2026-11-21", "months": 3, "strategies": ["cloud"]}
    of = {}
    for names in ((small,), (big,), (small, big)):
        request = parse_request({**settings, "workloads": list(names)})
        of[len(names), names[0]["name"]] = plan(request, catalog).strategies[0].total_cost
    assert of[1, "small"] == pytest.approx(3 * 730 * 7.824, abs=60)  # prices fall by 4 % a year in the assumptions
    assert of[2, "small"] == pytest.approx(of[1, "small"] + of[1, "big"], rel=1e-6)


def test_the_least_fee_of_support_is_reckoned_from_what_the_plan_pays(priced_module):
    """20,000 hours at 0.526 USD are 10,520 USD a month, 3 % of it 315.60; half of the hours 157.80. A search may leave
    idle nodes that the plan does not have: their bill lowers no top-up."""
    support = {"cloud_support_minimum_per_month": 1000, "cloud_support_fraction": 0.03}
    solved = _solve(priced_module, "cloud", STEADY | {"spot_fraction_max": 0}, assumptions=support)
    assert {each.month: each.quantity for each in solved.decisions.overheads} == pytest.approx(
        {1: 684.40, 2: 684.40, 3: 684.40}
    )
    less = [replace(use, node_hours=use.node_hours / use.month) for use in solved.decisions.shares if use.month < 3]
    fewer = support_top_ups(replace(solved.decisions, shares=tuple(less)), solved.setting)
    assert {each.month: each.quantity for each in fewer} == pytest.approx({1: 684.40, 2: 842.20})
