"""What a search reports while it lasts, and the plan that the clock leaves of it."""

from __future__ import annotations

import pytest

from planner.application import plan_document
from planner.optimization import search_progress
from planner.optimization.search_progress import SearchProgress, follow_search
from planner.reports.json import loads, render
from pricing.catalog.price_catalog import Catalog


def portfolio(workloads: int, months: int) -> dict:
    kinds = ("H100", "L4", "A100-80GB")
    demands = [
        {"accelerator_hours_per_month": 1000 + 500 * index, "accelerator": kinds[index % 3]}
        for index in range(workloads)
    ]
    return {
        "as_of": "2026-11-21",
        "months": months,
        "workloads": [{"name": f"team {index}", "demand": demand} for index, demand in enumerate(demands)],
    }


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.embedded()


def test_a_plan_is_the_same_whoever_listens(catalog):
    alone = plan_document(portfolio(2, 6), catalog)
    seen: list[SearchProgress] = []
    with follow_search(seen.append, seconds=3600):
        followed = plan_document(portfolio(2, 6), catalog)
    assert followed == alone
    assert seen[-1].phase == "analysis"
    costs = {strategy.name: strategy.present_cost for strategy in alone.strategies}
    for event in seen[:-1]:
        assert event.phase in costs
        assert event.best is None or event.best >= costs[event.phase] * (1 - 1e-6)
        assert event.bound is None or event.bound <= costs[event.phase] * (1 + 1e-6)
    assert any(event.best is not None and event.bound is not None for event in seen)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("least", [1e-12, 1e-3, 3e-3, 1e-2])
def test_the_clock_leaves_a_plan_that_says_so_and_is_never_below_the_bound(catalog, monkeypatch, least):
    """How far a search comes depends on the machine; what its answer says of itself does not."""
    question = portfolio(8, 24)
    whole = {strategy.name: strategy for strategy in plan_document(question, catalog).strategies}
    monkeypatch.setattr(search_progress, "LEAST_SECONDS", least)
    with follow_search(lambda _: None, seconds=least) as clock:
        answer = plan_document(question, catalog)
    assert loads(render(answer)) == answer
    for strategy in answer.strategies:
        other = whole[strategy.name]
        if not strategy.cut_by_clock:
            assert strategy.present_cost == pytest.approx(other.present_cost, rel=1e-3)
        elif strategy.status != "infeasible":
            assert strategy.present_cost >= other.bound * (1 - 1e-9)
            assert strategy.bound is None or strategy.bound <= other.present_cost * (1 + 1e-9)
        else:
            [reason] = strategy.reasons
            assert (reason.code, reason.parameters) == ("solver_time_limit", {"limit_seconds": least})
    assert clock.has_cut or not any(strategy.cut_by_clock for strategy in answer.strategies)
    if least < 1e-9:
        assert all(strategy.cut_by_clock for strategy in answer.strategies)
