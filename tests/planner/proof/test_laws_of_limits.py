"""What holds whatever is asked, over every way of paying and every limit: more to choose from never costs more."""

from __future__ import annotations

import copy
import math
import random

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from planner.application import plan
from planner.request.models import parse_request

FEW = settings(max_examples=settings.default.max_examples // 4)
seeds = st.integers(0, 10**6)
NEAR = 3e-6
"""Each optimum is proven within a millionth."""


@pytest.fixture
def costs(priced):
    """The present cost of every strategy, infinite where it is impossible."""

    def of(prices: dict, asked: dict) -> dict[str, float]:
        found = plan(parse_request({"as_of": "2026-11-21", **asked}), priced(prices))
        return {s.name: math.inf if s.status == "infeasible" else s.present_cost for s in found.strategies}

    return of


def no_more(after: dict[str, float], before: dict[str, float]) -> None:
    for name, cost in before.items():
        assert math.isinf(cost) or after[name] <= cost + abs(cost) * NEAR + 1e-6, (name, cost, after[name])


@pytest.mark.slow
@FEW
@for_all(seed=seeds)
def test_an_extra_offer_never_raises_the_optimum(costs, instances, seed):
    prices, asked, _ = instances.question(seed)
    chance = random.Random(seed)
    place = chance.choice([instances.PLACE, instances.OTHER])
    name = chance.choice(sorted(instances.L40S))
    option = chance.choice(["on_demand", "spot", "capacity_block", *instances.COMMITMENTS, *instances.PLANS])
    key = (*place, name, option)
    price = instances.L40S[name] * chance.uniform(0.05, 1.0)
    extra = {**prices, key: min(price, prices.get(key, math.inf))}
    no_more(costs(extra, asked), costs(prices, asked))


@pytest.mark.slow
@FEW
@for_all(seed=seeds)
def test_a_dearer_offer_never_lowers_the_optimum(costs, instances, seed):
    prices, asked, _ = instances.question(seed)
    chance = random.Random(seed)
    key = chance.choice(sorted(prices))
    no_more(costs(prices, asked), costs({**prices, key: prices[key] * chance.uniform(1, 3)}, asked))


@FEW
@for_all(seed=seeds)
def test_a_tighter_limit_never_lowers_the_optimum(costs, instances, seed):
    prices, asked, _ = instances.question(seed)
    chance = random.Random(seed)
    tight, wide = copy.deepcopy(asked), copy.deepcopy(asked)
    which = chance.choice(["spot_fraction_max", "opex_per_year", "capex_per_year", "owned_power_kw", "quota", "spare"])
    if which == "quota":
        tight["limits"]["quotas"] = wide["limits"]["quotas"] = "hold"
        tight["quotas"][0]["limit"] = wide["quotas"][0]["limit"] * chance.random()
    elif which == "spare":
        for job in tight["workloads"]:
            if job["kind"] == "inference":
                job["spare_replicas"] += 1
    else:
        limit = {"spot_fraction_max": 0.8, "opex_per_year": 9000.0, "capex_per_year": 8000.0, "owned_power_kw": 6.0}
        wide["limits"][which] = limit[which]
        tight["limits"][which] = limit[which] * chance.uniform(0.1, 1)
    no_more(costs(prices, wide), costs(prices, tight))


@pytest.mark.slow
@FEW
@for_all(seed=seeds)
def test_what_is_there_already_never_raises_what_is_paid_for_the_rest(costs, instances, seed):
    """A commitment that runs already and owes nothing more; `fee_per_month` is added to every strategy alike."""
    prices, asked, _ = instances.question(seed)
    chance = random.Random(seed)
    asked.pop("existing", None)
    line = {**instances.commitment(chance), "fee_per_month": 0}
    no_more(costs(prices, {**asked, "existing": {"commitments": [line]}}), costs(prices, asked))


@FEW
@for_all(seed=seeds)
def test_nodes_that_are_owned_already_spare_what_is_bought_and_rented(priced, costs, instances, given, seed):
    """What they cost by themselves is owed whatever is decided; where nothing limits the site, the rest never rises."""
    prices, asked, _ = instances.question(seed)
    chance = random.Random(seed)
    asked = {key: value for key, value in asked.items() if key not in ("existing", "site", "limits")}
    line = {"system": "4x L40S server", "count": chance.choice([1, 3]), "bought": "2026-12"}
    after = {**asked, "existing": {"nodes": [line]}}
    question = given.read(parse_request({"as_of": "2026-11-21", **after}), priced(prices))
    owed = sum(question.worth(paid) * (s.fixed or 0) for s in question.sources for _, _, paid in s.starts)
    no_more({name: cost - owed for name, cost in costs(prices, after).items()}, costs(prices, asked))


@FEW
@for_all(seed=seeds)
def test_hybrid_is_never_dearer_and_order_is_irrelevant(costs, instances, seed):
    prices, asked, _ = instances.question(seed)
    found = costs(prices, asked)
    assert found["hybrid"] <= min(found.values())
    backwards = {**asked, "workloads": asked["workloads"][::-1]}
    assert costs(dict(reversed(prices.items())), backwards) == found


@pytest.mark.slow
@FEW
@for_all(seed=seeds)
def test_doubling_the_work_at_most_doubles_the_cost(costs, instances, seed):
    """Where no limit binds: none of the account, the site or the job, and no commitment that is there once only."""
    prices, asked, _ = instances.question(seed)
    asked = {**asked, "limits": {}, "existing": {}}
    twice = copy.deepcopy(asked)
    for one in twice["workloads"]:
        demand = one["demand"]
        instances.scale(demand, 2)
        if "deadline_month" in demand or "parallel_jobs" in one:
            at_once = one.get("parallel_jobs") or (1 if one["kind"] == "training" else None)
            if at_once is not None:
                one["parallel_jobs"] = 2 * at_once
        for name in ("storage_gb", "egress_gb_per_month"):
            one[name] = 2 * one.get(name, 0)
        one["spare_replicas"] = 0
    for one in asked["workloads"]:
        one["spare_replicas"] = 0
        if "deadline_month" in one["demand"] and one["kind"] == "training":
            one.setdefault("parallel_jobs", 1)
    once = costs(prices, asked)
    no_more(costs(prices, twice), {name: 2 * cost for name, cost in once.items()})
    no_more(once, costs(prices, twice))


@FEW
@for_all(seed=seeds)
def test_a_workload_costs_no_more_beside_others_than_alone(costs, instances, seed):
    """Where no limit binds all together and nothing is there already: a plan of all costs at most the plans of each
    alone, as all of them do together, and at least the dearest of these, as that is left of it without the others."""
    prices, asked, _ = instances.question(seed)
    asked = {**asked, "limits": {}, "existing": {}}
    together = costs(prices, asked)
    alone = [costs(prices, {**asked, "workloads": [one]}) for one in asked["workloads"]]
    no_more(together, {name: sum(each[name] for each in alone) for name in together})
    for each in alone:
        no_more(each, together)
