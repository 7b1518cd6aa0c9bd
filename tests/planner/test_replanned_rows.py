"""Rows of a tornado whose change of cost the search alone may make: no larger than the gap of the plan to its bound."""

from __future__ import annotations

import dataclasses

import pytest

from planner.analysis.risk.tornado import list_within_gap
from planner.application import plan, plan_document
from planner.reports import load
from planner.reports.json import loads
from planner.result.risk import CostRange, TornadoRow
from pricing.catalog.price_catalog import Catalog

OWNED = {("aws", "us-east-1", "p5.48xlarge", "on_demand"): 55.04}


@pytest.fixture(scope="module")
def strategies():
    """Cloud 100,000 of which the search may be wrong by 2,000; hybrid 90,000, by 1,000; on-prem impossible."""
    job = {"name": "training", "demand": {"accelerator_hours_per_month": 730, "accelerator": "H100"}}
    answer = plan_document({"as_of": "2026-11-21", "months": 3, "workloads": [job]}, Catalog.embedded())
    cloud, onprem, hybrid = answer.strategies
    return [
        dataclasses.replace(cloud, status="within_gap", present_cost=100_000.0, bound=98_000.0),
        dataclasses.replace(onprem, status="infeasible"),
        dataclasses.replace(hybrid, status="within_gap", present_cost=90_000.0, bound=89_000.0),
    ]


def row(name: str, cloud, hybrid, onprem=(None, None), *, anew: bool = True) -> TornadoRow:
    ends = {"cloud": cloud, "onprem": onprem, "hybrid": hybrid}
    costs = tuple(CostRange(strategy, low, high) for strategy, (low, high) in ends.items())
    return TornadoRow(name, "", "", 0.0, 1.0, 2.0, costs, swing=0.0, flips=False, planned_anew=anew)


def test_a_row_is_named_where_no_cost_changes_by_more_than_its_gap(strategies):
    rows = [
        row("within", (101_500.0, 99_000.0), (90_900.0, 89_500.0)),
        row("at the gap", (102_000.0, 100_000.0), (90_000.0, 89_000.0)),
        row("hybrid beyond", (100_000.0, 100_000.0), (90_900.0, 88_900.0)),
        row("cloud beyond at its high", (100_000.0, 102_001.0), (90_000.0, 90_000.0)),
        row("same decisions", (100_001.0, 100_000.0), (90_001.0, 90_000.0), anew=False),
        row("hybrid becomes impossible", (100_000.0, 100_000.0), (90_000.0, None)),
        row("on-prem becomes possible", (100_000.0, 100_000.0), (90_000.0, 90_000.0), (None, 95_000.0)),
    ]
    assert list_within_gap(rows, strategies) == ["within", "at the gap"]


def test_without_a_bound_the_search_may_make_any_change(strategies):
    cloud = dataclasses.replace(strategies[0], bound=None)
    rows = [row("any", (300_000.0, 50_000.0), (90_500.0, 90_000.0))]
    assert list_within_gap(rows, [cloud, *strategies[1:]]) == ["any"]


def test_a_proven_plan_names_no_row_and_one_without_a_bound_above_zero_names_all(priced, ask, hours, monkeypatch):
    """The lead time changes what hardware can do: a search that shows no more than that nothing is free says little."""
    request = ask(
        hours("H100", 2 * 8 * 730, gang=8), months=12, risk={"draws": 100, "waits": []}, strategies=["cloud", "hybrid"]
    )
    proven = plan(request, priced(OWNED)).risk
    anew = [each.name for each in proven.tornado if each.planned_anew]
    assert "lead_time_months" in anew
    assert "replans_within_gap" not in {note.code for note in proven.notes}

    def loose(rows, strategies):
        return list_within_gap(rows, [dataclasses.replace(s, bound=0.0) for s in strategies])

    monkeypatch.setattr("planner.analysis.risk.tornado.list_within_gap", loose)
    answer = plan(request, priced(OWNED))
    [note] = [note for note in answer.risk.notes if note.code == "replans_within_gap"]
    assert set(note.parameters["assumptions"]) == set(anew)
    assert note.text.endswith(f"{', '.join(note.parameters['assumptions'])}.")
    assert loads(load("json").render(answer)) == answer
