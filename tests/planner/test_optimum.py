"""The optimum against enumeration, and against the same market without pruning."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest

from planner.application import plan
from planner.finance.cashflow import Terms, present_cost
from planner.optimization.dominance import build_choice_set, full_choice_set
from planner.optimization.model import StrategyScope, build_program
from planner.optimization.solution import PlanningContext
from planner.optimization.solver import solve_program
from planner.request import assumptions as figures
from planner.supply import quotas
from planner.supply.candidates import build_market
from planner.supply.limits import LimitRules
from planner.supply.onprem import buyable_nodes
from planner.supply.payments import resource_payments
from planner.workloads.demand import compute_demands
from planner.workloads.eligibility import accelerator_hours_rate

TYPES = {"g4dn.xlarge": 1, "g4dn.12xlarge": 4, "g4dn.metal": 8}
COMMITMENTS = ("reserved_1y_no_upfront", "reserved_1y_all_upfront", "reserved_3y_no_upfront")
PLACE = ("aws", "us-east-1")


def some_prices(chance: random.Random) -> dict[tuple[str, str, str, str], float]:
    """On-demand prices near 0.5 a T4-hour, some commitments at a discount, sometimes spot."""
    prices = {}
    for name, count in TYPES.items():
        base = 0.5 * count * chance.uniform(0.8, 1.3)
        prices[*PLACE, name, "on_demand"] = base
        for option in COMMITMENTS:
            if chance.random() < 0.6:
                prices[*PLACE, name, option] = base * chance.uniform(0.3, 0.8)
        if chance.random() < 0.3:
            prices[*PLACE, name, "spot"] = base * chance.uniform(0.2, 0.9)
    return prices


def more_prices(chance: random.Random) -> dict[tuple[str, str, str, str], float]:
    """Those, a second region on demand, and the ways of paying that are not for nodes of a month or a year."""
    prices = some_prices(chance)
    for name, count in TYPES.items():
        base = prices[*PLACE, name, "on_demand"]
        if chance.random() < 0.5:
            prices["aws", "us-east-2", name, "on_demand"] = 0.5 * count * chance.uniform(0.8, 1.3)
        for option in ("savings_plan_1y_compute_no_upfront", "savings_plan_1y_instance_all_upfront"):
            if chance.random() < 0.4:
                prices[*PLACE, name, option] = base * chance.uniform(0.4, 0.9)
        if chance.random() < 0.3:
            prices[*PLACE, name, "capacity_block"] = base * chance.uniform(0.4, 0.95)
    return prices


def some_limits(chance: random.Random) -> dict[str, object]:
    """A few limits, some of which will be in the way."""
    found: dict[str, object] = {}
    if chance.random() < 0.4:
        found["spot_fraction_max"] = round(chance.random(), 2)
    if chance.random() < 0.4:
        found["opex_per_year"] = chance.uniform(1000, 60_000)
    if chance.random() < 0.3:
        found["capex_per_year"] = chance.uniform(0, 400_000)
    if chance.random() < 0.3:
        found["owned_power_kw"] = chance.uniform(1, 30)
    if chance.random() < 0.5:
        found["quotas"] = "hold"
    return found


def some_quota(chance: random.Random) -> dict[str, object]:
    return {
        "provider": "aws", "region": "us-east-1", "code": "L-1", "title": "nodes", "unit": "vcpu", "used": 0,
        "limit": chance.choice([4, 16, 48, 100, 400]), "types": "g4dn.*", "as_of": "2026-11-20", "source_id": "test",
        "kinds": chance.choice(["on_demand", "on_demand savings_plan reserved", "spot"]),
    }  # fmt: skip


def some_job(chance: random.Random, name: str, months: int) -> dict:
    kind = chance.choice(["hours", "gang", "service", "deadline", "night"])
    if kind in ("hours", "gang", "night"):
        per_month = [round(chance.uniform(0, 5000), 1) for _ in range(months - 1)] + [chance.uniform(1, 5000)]
        job = {
            "name": name,
            "kind": "interactive" if kind == "night" else "training",
            "demand": {"accelerator_hours_per_month": per_month, "accelerator": "T4"},
            "interruptible": chance.random() < 0.5,
        }
        if kind == "night":
            job["demand"]["daily_shape"] = chance.choice(["business_hours", "day_and_evening"])
        return {**job, "gang": chance.choice([2, 4, 8, 16])} if kind == "gang" else job
    measurement = {"accelerator": "T4", "units_per_second": 2.0, "per": "job", "count": chance.choice([1, 2])}
    if kind == "service":
        demand = {
            "requests_per_second": [chance.uniform(0.5, 20) for _ in range(months)],
            "daily_shape": chance.choice(["flat", "business_hours", "day_and_evening"]),
        }
        return {"name": name, "kind": "inference", "demand": demand, "measurements": [measurement]}
    due = chance.randint(1, months)
    demand = {"total_units": chance.uniform(0.1, 0.9) * due * 730 * 3600 * 2.0, "deadline_month": due}
    return {"name": name, "kind": "training", "demand": demand, "measurements": [measurement], "accelerators": ["T4"]}


def setting(request, catalog) -> PlanningContext:
    """Everything that the market holds, nothing left out."""
    assumed = figures.override_assumptions(figures.load_defaults(), request.assumptions, request.as_of)
    beyond = request.commitments_beyond_horizon == "full"
    changes = (assumed[f"{name}_price_change_annual"].value for name in ("cloud", "spot", "commitment"))
    of_list, of_spot, of_commitments = changes
    terms = Terms(request.months, 730.0, 0.08, of_list, 0.5, beyond, of_spot, of_commitments)
    rates = {w.name: accelerator_hours_rate(w, catalog.names) for w in request.workloads}
    needed = compute_demands(request, 730.0, rates)
    systems, _ = buyable_nodes(catalog, assumed, request)
    found = build_market(request, needed, catalog, systems, assumed)
    rules = LimitRules(request.limits, request.site, quotas.enforced_quotas(request))
    return PlanningContext(
        needed, found, full_choice_set(found, assumed, terms, len(needed.needs)), assumed, terms, rules
    )


def pruned(every: PlanningContext) -> PlanningContext:
    choice = build_choice_set(every.market, every.demands, every.assumptions, every.terms, every.rules)
    return replace(every, choice=choice)


def least(setting: PlanningContext):
    rules = StrategyScope(setting.choice.shared, tuple(setting.terms.months for _ in setting.demands.needs))
    return solve_program(build_program(setting, rules))


def check_pruned(every: PlanningContext) -> None:
    """What pruning leaves out never changes the optimum."""
    a, b = least(pruned(every)), least(every)
    assert a.status == b.status
    assert a.objective == pytest.approx(b.objective, rel=3e-6, abs=1e-6)


FOUND = 493
"""A seed on which an earlier rule dropped a commitment whose last hours saved whole nodes of a service."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "seed", [FOUND, *range(5), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 400))]
)
def test_pruning_never_changes_the_optimum(priced, ask, seed):
    chance = random.Random(seed)
    months = chance.choice([1, 3, 6, 12, 14])
    jobs = [some_job(chance, f"job {n}", months) for n in range(chance.choice([1, 1, 2, 3]))]
    beyond = chance.choice(["full", "pro_rata"])
    request = ask(*jobs, months=months, commitments_beyond_horizon=beyond, providers=["aws"])
    every = setting(request, priced(some_prices(chance)))
    check_pruned(every)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(s, marks=pytest.mark.slow) for s in range(10, 300))])
def test_pruning_never_changes_the_optimum_under_limits(priced, ask, seed):
    chance = random.Random(5000 + seed)
    months = chance.choice([1, 2, 4, 13])
    jobs = [some_job(chance, f"job {n}", months) for n in range(chance.choice([1, 1, 2]))]
    for job in jobs:
        if job["kind"] == "inference" and chance.random() < 0.5:
            job["spare_replicas"] = chance.choice([1, 2])
    changes = {name: chance.uniform(-0.3, 0.09) for name in ("cloud_price_change_annual", "spot_price_change_annual")}
    asked = {"limits": some_limits(chance), "quotas": [some_quota(chance)], "assumptions": changes}
    request = ask(*jobs, months=months, providers=["aws"], **asked)
    every = setting(request, priced(more_prices(chance)))
    check_pruned(every)


REGIONS = ("us-east-1", "us-east-2", "us-west-2", "eu-west-1")
"""Regions with prices of data that differ."""


def regional_prices(chance: random.Random) -> dict[tuple[str, str, str, str], float]:
    """The ways of paying of each region drawn apart, at one of two prices, so that many regions cost the same and some
    cost less in one way and more in another."""
    prices = {}
    for name, count in TYPES.items():
        for region in REGIONS:
            for option, level in (("on_demand", 1.0), ("spot", 0.4), *((each, 0.6) for each in COMMITMENTS[:2])):
                if option == "on_demand" or chance.random() < 0.4:
                    prices["aws", region, name, option] = 0.5 * count * level * chance.choice([1.0, 1.1])
    return prices


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(s, marks=pytest.mark.slow) for s in range(12, 300))])
def test_leaving_out_regions_never_changes_the_optimum(priced, ask, seed):
    chance = random.Random(9000 + seed)
    months = chance.choice([1, 2, 3, 12])
    jobs = [some_job(chance, f"job {n}", months) for n in range(chance.choice([1, 1, 2]))]
    for job in jobs:
        if chance.random() < 0.4:
            job |= {"storage_gb": 20_000, "egress_gb_per_month": 500}
        if chance.random() < 0.3:
            job["regions"] = sorted(chance.sample(REGIONS, 2))
        if chance.random() < 0.2:
            job["spot_fraction_max"] = 0.5
    request = ask(*jobs, months=months, providers=["aws"], strategies=["cloud"])
    every = setting(request, priced(regional_prices(chance)))
    check_pruned(every)


def enumerated(request, catalog) -> float:
    """The least present cost of one job of accelerator-hours by trying every number of nodes started in every month.

    Committed hours cost nothing more, so in each month the rest is rented at the cheapest price per accelerator-hour.
    """
    every = setting(request, catalog)
    found, assumed, terms = every.market, every.assumptions, every.terms
    (need,) = every.demands.needs
    monthly = terms.discount_rate_monthly
    offers, rents = [], []
    for candidate in found.candidates:
        resource = found.resources[candidate.resource]
        if resource.what == "hourly":
            rents.append(resource.quote.price.price_per_hour / candidate.units_per_node_hour)
            continue
        for start in range(1, terms.months + 1):
            paid = resource_payments(resource, start, 1, assumed, terms)
            covered = range(start, min(start + resource.quote.price.term_months, terms.months + 1))
            offers.append((present_cost(paid, monthly), candidate.units_per_node_hour * 730, covered))
    most = 2
    best = math.inf
    for counts in itertools.product(range(most + 1), repeat=len(offers)):
        cost = sum(count * offer[0] for count, offer in zip(counts, offers, strict=True))
        for month in range(1, terms.months + 1):
            covered = sum(n * units for n, (_, units, months) in zip(counts, offers, strict=True) if month in months)
            cost += max(0.0, need.monthly[month - 1] - covered) * min(rents) * (1 + monthly) ** -month
        best = min(best, cost)
    return best


@pytest.mark.one_in(5)
@pytest.mark.parametrize("seed", range(20))
def test_optimum_equals_enumeration(priced, ask, seed):
    """One job, up to three months, one type with one or two commitments: at most 3^6 plans, and no need for a third
    node."""
    chance = random.Random(1000 + seed)
    months = chance.choice([2, 3])
    chosen = chance.sample(COMMITMENTS, chance.choice([1, 2]))
    prices = {(*PLACE, "g4dn.xlarge", "on_demand"): 0.5}
    prices |= {(*PLACE, "g4dn.xlarge", option): chance.uniform(0.05, 0.5) for option in chosen}
    per_month = [chance.uniform(0, 1400) for _ in range(months)]
    job = {
        "name": "job",
        "kind": "training",
        "demand": {"accelerator_hours_per_month": per_month, "accelerator": "T4"},
        "may_be_owned": False,
    }
    request = ask(job, months=months, commitments_beyond_horizon="pro_rata", strategies=["cloud"])
    catalog = priced(prices)
    found = plan(request, catalog).strategy("cloud")
    assert found.present_cost == pytest.approx(enumerated(request, catalog), rel=1e-6, abs=1e-6)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(15))
def test_a_service_equals_enumeration(priced, ask, seed):
    """Whole nodes of one of three sizes by the hour: the cheapest that carries the load, found by trying all."""
    chance = random.Random(2000 + seed)
    prices = {(*PLACE, name, "on_demand"): 0.5 * count * chance.uniform(0.5, 1.1) for name, count in TYPES.items()}
    per_second = chance.uniform(0.5, 40)
    job = {
        "name": "api",
        "kind": "inference",
        "demand": {"requests_per_second": per_second},
        "measurements": [{"accelerator": "T4", "units_per_second": 2.0, "per": "job"}],
        "may_be_owned": False,
        "accelerators": ["T4"],
        "restart_minutes": 0,
    }
    request = ask(
        job,
        months=1,
        strategies=["cloud"],
        discount_rate_annual=0.0,
        assumptions={"failure_interval_accelerator_hours": 1e12},
    )
    found = plan(request, priced(prices)).strategy("cloud")
    best = min(
        730 * nodes * prices[*PLACE, name, "on_demand"]
        for name, size in TYPES.items()
        for nodes in range(30)
        if nodes * size * 2.0 >= per_second - 1e-9
    )
    assert found.total_cost == pytest.approx(best, rel=1e-6)
