"""Chargeback by cost centre and month, against sums by hand."""

from __future__ import annotations

import math

import pytest

from planner.application import plan

T4 = ("aws", "us-east-1", "g4dn.xlarge")
ALL_UPFRONT = {(*T4, "reserved_1y_all_upfront"): 1.0}
BY_THE_HOUR = {(*T4, "on_demand"): 2.0}
SETTINGS = {"start": "2026-12", "strategies": ["cloud"], "regions": ["us-east-1"]}


def cost_centres(found):
    """The rows of each team, in order of time."""
    teams: dict[str, list] = {}
    for row in found.views.cost_centres:
        teams.setdefault(row.team, []).append(row)
    return teams


def test_a_commitment_of_two_teams_with_its_idle_part(priced, ask, hours):
    """One T4 for a year at 1 an hour, paid at once: 8,760. Red uses 219 hours a month and blue 365 of 730: 584, so 20 %
    are idle. Red bears 219 / 584 = 37.5 %: 3,285 in cash at the start, 273.75 a month, of which 54.75 idle. Its budget
    of 250 is passed by 23.75."""
    red, blue = hours("T4", 219, "red job", team="Red", budget_per_month=250), hours("T4", 365, "blue job", team="Blue")
    found = plan(ask(red, blue, **SETTINGS), priced(ALL_UPFRONT))
    teams = cost_centres(found)
    assert set(teams) == {"Red", "Blue"}
    assert [row.cash for row in teams["Red"]] == pytest.approx([3285] + 11 * [0.0])
    assert [row.cash for row in teams["Blue"]] == pytest.approx([5475] + 11 * [0.0])
    for row in teams["Red"]:
        assert (row.effective, row.idle, row.shared, row.budget) == pytest.approx((273.75, 54.75, 0.0, 250.0))
        assert row.variance == pytest.approx(23.75)
    for row in teams["Blue"]:
        assert (row.effective, row.idle) == pytest.approx((456.25, 91.25))
        assert (row.budget, row.variance) == (None, None)


def test_only_workloads_with_a_budget_count_against_it(priced, ask, hours):
    """Red's first job takes 100 hours at 2 (200 of a budget of 300), the second, 400, has none."""
    jobs = (
        hours("T4", 100, "first", team="Red", budget_per_month=300),
        hours("T4", 200, "second", team="Red"),
        hours("T4", 50, "third"),
    )
    teams = cost_centres(plan(ask(*jobs, **SETTINGS), priced(BY_THE_HOUR)))
    assert [row.effective for row in teams["Red"]] == pytest.approx(12 * [600])
    assert [row.variance for row in teams["Red"]] == pytest.approx(12 * [-100])
    assert [row.cash for row in teams[""]] == pytest.approx(12 * [100])


def test_operators_and_the_support_plan_are_shared(priced, ask, hours):
    """10 % support on a bill of 200 is part of what the work costs; the rest of the least fee of 100, 80 a month, is
    shared by cost, 1 : 3."""
    assumptions = {"cloud_support_fraction": 0.1, "cloud_support_minimum_per_month": 100}
    jobs = hours("T4", 25, "small", team="Red"), hours("T4", 75, "large", team="Blue")
    teams = cost_centres(plan(ask(*jobs, **SETTINGS, assumptions=assumptions), priced(BY_THE_HOUR)))
    assert [row.effective for row in teams["Red"]] == pytest.approx(12 * [55 + 20])
    assert [row.shared for row in teams["Red"]] == pytest.approx(12 * [20.0])
    assert [row.effective for row in teams["Blue"]] == pytest.approx(12 * [165 + 60])
    assert [row.shared for row in teams["Blue"]] == pytest.approx(12 * [60.0])


def test_cost_centres_add_up(catalog, ask, hours):
    """Cash by month and effective cost by month of the strategy, and the cost of each team's workloads."""
    assumptions = {"cloud_support_fraction": 0.03, "lead_time_months": 0}
    jobs = (
        hours("H100", 5000, "train", team="Red", gang=8),
        {"name": "serve", "team": "Blue", "kind": "inference",
         "demand": {"accelerator_hours_per_month": 1460, "accelerator": "L4"}},
    )  # fmt: skip
    found = plan(ask(*jobs, start="2026-12", strategies=["onprem"], assumptions=assumptions), catalog)
    chosen = found.strategy("onprem")
    rows = found.views.cost_centres
    for month in {row.month for row in rows}:
        cash = math.fsum(row.amount for row in chosen.cash if row.month == month)
        assert math.fsum(row.cash for row in rows if row.month == month) == pytest.approx(cash)
        effective = math.fsum(row.amount for row in found.views.effective if row.month == month)
        assert math.fsum(row.effective for row in rows if row.month == month) == pytest.approx(effective)
    for workload in chosen.workloads:
        its = [row for row in rows if row.team == workload.team]
        assert math.fsum(row.cash for row in its) == pytest.approx(workload.cost)
        assert math.fsum(row.effective for row in its) == pytest.approx(workload.cost)
