"""Months, shapes and load blocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan
from planner.request.calendar import month_names
from planner.request.models import parse_request
from planner.workloads.demand import WEEK, compute_demands

RATES: dict[str, float] = {}


def request_of(demand, kind="inference", **more):
    job = {"name": "job", "kind": kind, "demand": demand}
    return parse_request({"as_of": "2026-11-21", "workloads": [job], **more})


def test_the_plan_starts_in_the_month_after_its_date():
    names = month_names(request_of({"requests_per_second": 1}, months=14))
    assert (names[0], names[1], names[-1]) == ("2026-12", "2027-01", "2028-01")


def test_a_stated_start_wins():
    assert month_names(request_of({"requests_per_second": 1}, months=2, start="2027-06")) == ("2027-06", "2027-07")


def test_growth_multiplies_every_month():
    """100 at 10 % a month: 100, 110, 121."""
    found = compute_demands(
        request_of({"units_per_month": 100, "growth_per_month": 0.1}, "batch", months=3), 730, RATES
    )
    assert found.needs[0].monthly == pytest.approx((100, 110, 121))
    assert found.needs[0].levels is None


def test_requests_become_units_of_a_month():
    """2 a second x 3,600 x 730 h x 50 tokens = 262,800,000."""
    found = compute_demands(request_of({"requests_per_second": 2, "units_per_request": 50}, months=1), 730, RATES)
    assert found.needs[0].monthly == pytest.approx((262_800_000,))
    assert found.needs[0].serving


def test_business_hours_are_45_of_168():
    found = compute_demands(
        request_of({"requests_per_second": 1, "daily_shape": "business_hours"}, months=1), 730, RATES
    )
    by_level = dict(zip(found.needs[0].levels, found.block_hours, strict=True))
    assert by_level[0.0] == pytest.approx(730 * 123 / 168)
    assert max(by_level) == pytest.approx(168 / 45)
    assert by_level[max(by_level)] == pytest.approx(730 * 45 / 168)


def test_months_by_name_must_cover_the_plan():
    with pytest.raises(KeyError, match="2027-01"):
        compute_demands(request_of({"units_per_month": {"2026-12": 5}}, "batch", months=2), 730, RATES)


def test_a_deadline_puts_all_work_in_its_month():
    found = compute_demands(request_of({"total_units": 90, "deadline_month": 2}, "training", months=3), 730, RATES)
    assert found.needs[0].monthly == (0.0, 90, 0.0)
    assert found.needs[0].deadline == 2


@given(st.lists(st.floats(0, 100), min_size=24, max_size=24).filter(lambda v: sum(v) > 1e-6))
def test_blocks_cover_the_month_and_never_lose_work(levels):
    found = compute_demands(request_of({"requests_per_second": 3, "daily_shape": levels}, months=1), 730, RATES)
    assert sum(found.block_hours) == pytest.approx(730)
    need = found.needs[0]
    done = sum(need.block_units(0, block, found.block_hours) for block in range(len(found.block_hours)))
    assert done >= need.monthly[0] * (1 - 1e-9)
    assert len(found.block_hours) <= 12


@given(st.sampled_from(["flat", "business_hours", "day_and_evening"]))
def test_named_shapes_keep_the_mean(shape):
    found = compute_demands(request_of({"requests_per_second": 3, "daily_shape": shape}, months=1), 730, RATES)
    need = found.needs[0]
    done = sum(need.block_units(0, block, found.block_hours) for block in range(len(found.block_hours)))
    assert done == pytest.approx(need.monthly[0])


def test_a_week_has_168_hours():
    assert WEEK == 168


def test_a_limited_job_with_a_rounded_shape_can_be_done(catalog, ask):
    """24 levels are raised to 12, so the blocks add up to more than the month: a job limit must allow for that."""
    demand = {"accelerator_hours_per_month": 1460, "accelerator": "L4", "daily_shape": list(range(1, 25))}
    job = {"name": "job", "kind": "batch", "demand": demand, "parallel_jobs": 100}
    assert plan(ask(job, months=2), catalog).status == "optimal"
