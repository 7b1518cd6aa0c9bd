"""Comparisons of plans whose workloads were renamed, or asked for otherwise: what stays the same, and why."""

from __future__ import annotations

import pytest

from planner.analysis.comparison import compare_costs, list_changes
from planner.analysis.comparison.renamed_workloads import match_renamed_workloads
from planner.application import plan

T4 = ("aws", "us-east-1", "g4dn.xlarge")
BASE = {(*T4, "on_demand"): 0.5}


@pytest.fixture
def cloud(priced, ask):
    """A plan for the cloud alone, at these prices, without interest."""

    def make(*jobs: dict, prices: dict | None = None):
        asked = ask(*jobs, strategies=["cloud"], months=3, discount_rate_annual=0.0)
        return plan(asked, priced(prices or BASE))

    return make


def costs_by_cause(old, new) -> dict[str, float]:
    """What each cause adds to the total, those that add nothing left out."""
    steps = compare_costs(old, new, "cloud", "cloud").steps
    return {step.cause: step.total for step in steps if abs(step.total) > 1e-4}


def parts_of(old, new, cause: str) -> list[tuple]:
    step = next(step for step in compare_costs(old, new, "cloud", "cloud").steps if step.cause == cause)
    return [(part.name, part.old, part.new, part.unit) for part in step.parts]


def test_what_was_asked_for_is_no_decision(cloud, hours):
    """Work that may be interrupted now goes to spot: what that saves was asked for, and nothing of it was decided."""
    prices = {**BASE, (*T4, "spot"): 0.2}
    old, new = (cloud(hours("T4", 1000, interruptible=asked), prices=prices) for asked in (False, True))
    saved = new.strategies[0].total_cost - old.strategies[0].total_cost
    assert saved < -600
    assert costs_by_cause(old, new) == pytest.approx({"requirement": saved})
    assert parts_of(old, new, "requirement") == [("job", "may not be interrupted", "may be interrupted", "")]


def test_a_renamed_workload_is_the_same(cloud, hours):
    """One with the same work under a new name, one with a similar name and half as much again: 3 x 50 x 0.5 more."""
    old = cloud(hours("T4", 1000, "nightly"), hours("T4", 100, "scoring of claims"))
    new = cloud(hours("T4", 1000, "batch 7"), hours("T4", 150, "Scoring of claim"))
    assert match_renamed_workloads(old, new) == {"nightly": "batch 7", "scoring of claims": "Scoring of claim"}
    assert costs_by_cause(old, new) == pytest.approx({"demand": 75})
    assert parts_of(old, new, "demand") == [("Scoring of claim", 300, 450, "accelerator-hours")]
    told = list_changes(old, new)
    assert [change.subject for change in told.of("workload")] == ["Scoring of claim"]
    assert "nightly is now batch 7" in str(next(note for note in told.notes if note.code == "workloads_renamed"))


def test_workloads_that_could_be_several_are_not_matched(cloud, hours):
    old = cloud(hours("T4", 1000, "first"), hours("T4", 1000, "second"))
    new = cloud(hours("T4", 1000, "alpha"), hours("T4", 1000, "omega"))
    assert match_renamed_workloads(old, new) == {}
    gone, kind = cloud(hours("T4", 1000, "first")), cloud({**hours("T4", 1000, "alpha"), "kind": "batch"})
    assert match_renamed_workloads(gone, kind) == {}
