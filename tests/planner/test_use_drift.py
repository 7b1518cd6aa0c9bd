"""Drift of use from a plan: hand sums of every cause, and the law that the parts add up to the whole difference."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.analysis.use_drift import CAUSES, UseCell, UseDrift, explain_drift


def cell(
    workload: str,
    hours: float,
    cost: float | None,
    option: str = "on_demand",
    place: str = "aws us-east-1",
    gpu: str = "L4",
) -> UseCell:
    return UseCell(workload, option, place, gpu, hours, cost)


def amounts(drift: UseDrift) -> dict[str, float]:
    return {step.cause: step.amount for step in drift.steps if step.amount}


PLANNED = [cell("chat", 100, 200.0), cell("chat", 100, 80.0, "spot"), cell("train", 50, 500.0, gpu="H100")]
"""Chat costs 2.00 an hour on demand and 0.80 on spot, 1.40 in the mean; train 10.00."""


def test_no_difference_has_no_cause() -> None:
    drift = explain_drift(PLANNED, PLANNED)
    assert (drift.planned, drift.actual, drift.share, amounts(drift)) == (780, 780, 0, {})


def test_more_hours_in_the_planned_mix_are_volume() -> None:
    actual = [cell("chat", 150, 300.0), cell("chat", 150, 120.0, "spot"), PLANNED[2]]
    drift = explain_drift(PLANNED, actual)
    assert amounts(drift) == pytest.approx({"volume": 140})  # 100 hours at 1.40
    assert drift.share == pytest.approx(140 / 780)


def test_a_workload_that_did_not_run_is_volume() -> None:
    assert amounts(explain_drift(PLANNED, PLANNED[:2])) == {"volume": -500}


def test_more_on_demand_than_planned_are_ways_of_paying() -> None:
    actual = [cell("chat", 200, 400.0), PLANNED[2]]
    assert amounts(explain_drift(PLANNED, actual)) == pytest.approx({"ways of paying": 120})  # 100 h at 1.20 more


def test_another_place_has_its_planned_rate_where_any_workload_was_planned_there() -> None:
    planned = [cell("a", 100, 200.0), cell("b", 100, 300.0, place="gcp europe-west4")]
    actual = [cell("a", 100, 310.0, place="gcp europe-west4"), planned[1]]
    # 100 hours at 3.00 instead of 2.00, and 0.10 more for each than planned there
    assert amounts(explain_drift(planned, actual)) == pytest.approx({"place": 100, "price": 10})


def test_a_place_that_nothing_was_planned_in_is_all_place() -> None:
    actual = [*PLANNED[:2], cell("train", 50, 650.0, place="aws eu-west-1", gpu="H100")]
    assert amounts(explain_drift(PLANNED, actual)) == pytest.approx({"place": 150})


def test_a_way_of_paying_that_was_not_planned_is_all_that_cause() -> None:
    actual = [*PLANNED[:2], cell("train", 50, 300.0, "commitment", gpu="H100")]
    assert amounts(explain_drift(PLANNED, actual)) == pytest.approx({"ways of paying": -200})


def test_another_rate_in_the_same_place_is_price() -> None:
    actual = [cell("chat", 100, 210.0), PLANNED[1], PLANNED[2]]
    assert amounts(explain_drift(PLANNED, actual)) == pytest.approx({"price": 10})


def test_unplanned_workloads_and_unused_commitments_are_their_cost() -> None:
    spare = UseCell("", "commitment", "", "", 0, 40.0)
    drift = explain_drift(
        [*PLANNED, UseCell("", "commitment", "", "", 0, 15.0)], [*PLANNED, cell("new", 9, 99.0), spare]
    )
    assert amounts(drift) == pytest.approx({"unplanned workloads": 99, "unused commitments": 25})


def test_hours_without_costs_are_valued_as_planned() -> None:
    actual = [UseCell("chat", "", "", "L4", 300, None), UseCell("new", "", "", "H100", 2, None)]
    drift = explain_drift(PLANNED, actual)
    assert amounts(drift) == pytest.approx({"unplanned workloads": 20, "volume": 140 - 500})
    unknown = explain_drift(PLANNED, [UseCell("new", "", "", "B200", 2, None)])
    assert unknown.unpriced == (("new", 2),)


def test_what_was_paid_before_the_plan_is_beside_the_difference() -> None:
    drift = explain_drift(
        PLANNED, [*PLANNED[:2], UseCell("train", "on_demand", "aws us-east-1", "H100", 50, 500.0, 900.0)]
    )
    assert (drift.sunk, drift.share) == (900, 0)


COSTS = st.floats(0, 1e6)
CELLS = st.lists(
    st.builds(
        UseCell,
        st.sampled_from(["a", "b", "c", ""]),
        st.sampled_from(["on_demand", "spot", "commitment", ""]),
        st.sampled_from(["aws us-east-1", "gcp us-central1", ""]),
        st.sampled_from(["L4", "H100"]),
        st.just(0.0) | st.floats(0.01, 1e5),
        COSTS,
    ),
    max_size=12,
)


@given(CELLS, CELLS)
def test_the_parts_add_up_to_the_whole_difference(planned: list[UseCell], actual: list[UseCell]) -> None:
    drift = explain_drift(planned, actual)
    total = math.fsum(each.cost or 0 for each in actual)
    assert [step.cause for step in drift.steps] == list(CAUSES)
    assert drift.planned == pytest.approx(math.fsum(each.cost or 0 for each in planned))
    assert drift.actual == pytest.approx(total, rel=1e-6, abs=1e-2)
    assert all(math.isfinite(part.amount) for step in drift.steps for part in step.parts)
