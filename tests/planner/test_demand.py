"""Months, shapes and load blocks."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.application import plan
from planner.request.calendar import month_names
from planner.request.models import parse_request
from planner.workloads import load_levels
from planner.workloads.demand import WEEK, compute_demands
from planner.workloads.load_levels import EXCESS_MAX, LEVELS_MAX, group_levels

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


def demand_of(levels):
    return compute_demands(request_of({"requests_per_second": 3, "daily_shape": levels}, months=1), 730, RATES)


@given(st.lists(st.floats(0, 100), min_size=24, max_size=24).filter(lambda v: sum(v) > 1e-6))
def test_a_day_keeps_the_level_of_each_hour(levels):
    found = demand_of(levels)
    need, mean = found.needs[0], math.fsum(levels) / 24
    assert sum(found.block_hours) == pytest.approx(730)
    assert sorted(need.levels) == pytest.approx(sorted({level / mean for level in levels}))
    assert need.peaks == need.levels
    assert need.excess_fraction(found.block_hours) == 0.0


WEEKS = st.lists(st.floats(0, 100), min_size=WEEK, max_size=WEEK).filter(lambda v: sum(v) > 1e-6)


@given(WEEKS)
def test_the_work_of_a_week_is_exact_and_no_hour_is_short(levels):
    """Blocks add up to the month, nodes stand for the highest hour of each, and what that is too much is stated."""
    found = demand_of(levels)
    need, hours = found.needs[0], found.block_hours
    done = [need.block_units(0, block, hours) for block in range(len(hours))]
    ready = [need.ready_units(0, block, hours) for block in range(len(hours))]
    assert math.fsum(done) == pytest.approx(need.monthly[0], rel=1e-12)
    assert all(most >= due * (1 - 1e-12) for most, due in zip(ready, done, strict=True))
    stated = need.excess_fraction(hours)
    assert math.fsum(ready) == pytest.approx(need.monthly[0] * (1 + stated))
    assert stated <= EXCESS_MAX or len(hours) == LEVELS_MAX
    week = [level * WEEK / math.fsum(levels) for level in levels]
    asked = sorted(week)  # hours of the week in the order of their level, as the blocks are in the order of theirs
    stands = sorted(
        peak for peak, length in zip(need.peaks, hours, strict=True) for _ in range(round(length * WEEK / 730))
    )
    assert all(node >= hour * (1 - 1e-12) for node, hour in zip(stands, asked, strict=True))


def excess_of(week, raised):
    return sum(raised) / sum(week) - 1


@given(WEEKS)
def test_groups_never_lower_a_level(levels):
    week = tuple(levels)
    raised = group_levels(week)
    assert all(up >= level for up, level in zip(raised, week, strict=True))
    assert set(raised) <= set(week)
    assert excess_of(week, raised) <= EXCESS_MAX or len(set(raised)) == LEVELS_MAX


def test_two_groups_of_three_levels_by_hand():
    """Of 1, 2 and 10: 1 rises to 2, which is 1 too much of 13; not 2 to 10, which is 8."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_levels, "LEVELS_MAX", 2)
        assert load_levels._find_groups([1.0, 2.0, 10.0], [1, 1, 1]) == [0, 2]
        # twelve hours of 1 that rise by 1 are 12 too much; one hour of 2 that rises by 8 is 8
        assert load_levels._find_groups([1.0, 2.0, 10.0], [12, 1, 1]) == [0, 1]


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 5)), min_size=4, max_size=9, unique_by=lambda pair: pair[0])
)
def test_the_groups_are_the_best_of_all(pairs):
    """Every way to cut the levels into three groups is tried."""
    levels, hours = map(list, zip(*sorted(pairs), strict=True))

    def excess(cuts):
        bounds = (0, *cuts, len(levels))
        return sum(
            (levels[end - 1] - levels[number]) * hours[number]
            for start, end in itertools.pairwise(bounds)
            for number in range(start, end)
        )

    least = min(excess(cuts) for cuts in itertools.combinations(range(1, len(levels)), 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_levels, "LEVELS_MAX", 3)
        patch.setattr(load_levels, "EXCESS_MAX", 0.0)
        _, *cuts = load_levels._find_groups([float(level) for level in levels], hours)
    assert excess(cuts) == least


@given(st.sampled_from(["flat", "business_hours", "day_and_evening"]))
def test_named_shapes_keep_the_mean(shape):
    found = compute_demands(request_of({"requests_per_second": 3, "daily_shape": shape}, months=1), 730, RATES)
    need = found.needs[0]
    done = sum(need.block_units(0, block, found.block_hours) for block in range(len(found.block_hours)))
    assert done == pytest.approx(need.monthly[0])


def test_a_week_has_168_hours():
    assert WEEK == 168


def test_a_shape_of_a_day_with_a_limit_of_jobs_can_be_done(catalog, ask):
    demand = {"accelerator_hours_per_month": 1460, "accelerator": "L4", "daily_shape": list(range(1, 25))}
    job = {"name": "job", "kind": "batch", "demand": demand, "parallel_jobs": 100}
    assert plan(ask(job, months=2), catalog).status == "optimal"


def test_a_plan_says_how_many_more_nodes_stand_ready_than_an_irregular_week_needs(catalog, ask):
    """168 hours of 1 to 168 in 48 groups, 24 of three and 24 of four: those of three rise by 0 to 2, of four by 0 to 3,
    24 x 3 + 24 x 6 = 216 of 168 x 84.5 = 14,196 too much: 1.5 %. The work itself is exact."""
    demand = {"requests_per_second": 5, "daily_shape": list(range(1, 169))}
    measured = [{"accelerator": "L4", "units_per_second": 6, "per": "job", "count": 1}]
    job = {"name": "api", "kind": "inference", "demand": demand, "measurements": measured}
    found = plan(ask(job, months=1, strategies=["cloud"], regions=["us-east-1"]), catalog)
    (gap,) = (gap for gap in found.gaps if gap.effect.code == "levels_grouped")
    assert (gap.kind, gap.workload) == ("estimated", "api")
    assert gap.effect.parameters["excess_fraction"] == pytest.approx(216 / 14_196)
    assert sum(use.units for use in found.strategy("cloud").uses) == pytest.approx(5 * 3600 * 730, rel=1e-9)
    assert "1.5 %" in str(gap.effect)
