"""What a plan says of how its types are sold: ways that it cannot use, reservations, types that end. Sums by hand."""

from __future__ import annotations

import pytest

from planner.application import plan
from planner.reports._content.charges import build_charges

HERE = ("aws", "us-east-1")
COMMITTED = "reserved_1y_no_upfront"
A_PAGE = "a page,2026-11-01,vendor page"


def sold(
    instance_type: str, option: str = "", *, ends: str = "", successor: str = "", limits: str = ",,,,no,no"
) -> str:
    """A line of a provider's own table of sale; `limits` are its six columns between sold and ends."""
    return f"aws,{instance_type},{option},,,yes,{limits},{ends},{successor},{A_PAGE}"


@pytest.fixture
def solve(priced, ask, hours):
    """The plan of an hour's work a month on T4 from December 2026, by prices and terms of sale of two T4 types."""

    def solved(prices: dict[tuple[str, str], float], *terms: str, job: dict | None = None, months: int = 4, **settings):
        catalog = priced({(*HERE, *key): price for key, price in prices.items()}, terms=terms)
        settings = {"start": "2026-12", "strategies": ["cloud"], "providers": ["aws"], **settings}
        return plan(ask(hours("T4", 730, **(job or {})), months=months, **settings), catalog)

    return solved


def months(found, name: str) -> list[int]:
    return sorted({use.month for use in found.strategies[0].uses if use.name == name})


ENDS = [  # the end, and the months of December to March in which the cheaper type is planned
    ("2026-12-15", []),
    ("2026-12-31", []),
    ("2027-01-01", [1]),
    ("2027-02-15", [1, 2]),
    ("2027-03-31", [1, 2, 3]),
    ("2027-04-01", [1, 2, 3, 4]),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("ends", "planned"), ENDS)
def test_a_type_is_planned_to_the_last_month_that_is_over_before_its_end(solve, ends, planned):
    # g4dn.xlarge at 0.4, g4dn.2xlarge at 0.7 an hour, 730 hours a month
    prices = {("g4dn.xlarge", "on_demand"): 0.4, ("g4dn.2xlarge", "on_demand"): 0.7}
    found = solve(prices, sold("g4dn.xlarge", ends=ends, successor="g4dn.2xlarge"))
    assert months(found, "g4dn.xlarge") == planned
    count = len(planned)
    assert found.strategies[0].total_cost == pytest.approx(730 * (0.4 * count + 0.7 * (4 - count)))


def test_the_end_is_named_with_the_successor_and_its_price(solve):
    prices = {("g4dn.xlarge", "on_demand"): 0.4, ("g4dn.2xlarge", "on_demand"): 0.7}
    found = solve(prices, sold("g4dn.xlarge", ends="2027-02-15", successor="g4dn.2xlarge"))
    [gap] = [gap for gap in found.gaps if gap.kind == "sale_ends"]
    assert gap.subject == "aws us-east-1 g4dn.xlarge"
    assert gap.effect.text == (
        "ends on 2027-02-15: planned up to 2027-01, its last whole month;"
        " instead g4dn.2xlarge, from 0.7000 USD an hour on demand (us-east-1)"
    )


def test_a_commitment_starts_only_where_its_whole_term_is_over_before_the_end(solve):
    # committed for a year at 0.1 against 0.4 on demand, over 24 months; the type ends after 13 or after 11 whole months
    prices = {("g4dn.xlarge", "on_demand"): 0.4, ("g4dn.xlarge", COMMITTED): 0.1, ("g4dn.2xlarge", "on_demand"): 0.7}
    found = solve(prices, sold("g4dn.xlarge", ends="2028-01-10"), months=24)
    [bought] = found.strategies[0].purchases
    assert bought.month in (1, 2)
    # 12 committed months of 8,760 / 12 h at 0.1, one on demand at 0.4, eleven on the other type
    assert found.strategies[0].total_cost == pytest.approx(8760 * 0.1 + 730 * 0.4 + 11 * 730 * 0.7)
    found = solve(prices, sold("g4dn.xlarge", ends="2027-11-30"), months=24)
    assert not found.strategies[0].purchases
    assert found.strategies[0].total_cost == pytest.approx(730 * (11 * 0.4 + 13 * 0.7))
    refusals = [
        each.reason.code for one in found.considered if COMMITTED in one.purchase_options for each in one.refusals
    ]
    assert "sale_ends_within_term" in refusals


def test_a_service_moves_when_its_type_ends(solve):
    prices = {("g4dn.xlarge", "on_demand"): 0.4, ("g4dn.2xlarge", "on_demand"): 0.7}
    speed = {"accelerator": "T4", "count": 1, "units_per_second": 10, "per": "job"}
    job = {"kind": "inference", "unit": "requests", "demand": {"requests_per_second": 5}, "measurements": [speed]}
    found = solve(prices, sold("g4dn.xlarge", ends="2027-02-01"), job=job)
    assert (months(found, "g4dn.xlarge"), months(found, "g4dn.2xlarge")) == ([1, 2], [3, 4])


def test_existing_commitments_do_no_work_after_the_end_of_their_type(solve):
    held = {"provider": "aws", "region": "us-east-1", "instance_type": "g4dn.xlarge", "purchase_option": COMMITTED,
            "count": 1, "ends": "2027-03", "fee_per_month": 50}  # fmt: skip
    found = solve({("g4dn.2xlarge", "on_demand"): 0.7}, sold("g4dn.xlarge", ends="2027-02-01"),
                  existing={"commitments": [held]})  # fmt: skip
    assert months(found, "g4dn.xlarge") == [1, 2]
    assert months(found, "g4dn.2xlarge") == [3, 4]


def unused(found) -> dict[str, str]:
    """By way of paying, the code of the reason why it is not planned."""
    told = [gap.effect.parameters for gap in found.gaps if gap.effect.code == "way_not_planned"]
    return {each["purchase_option"]: each["reason"].code for each in told}


RUNS_OF_A_WEEK = ",7,,,no,yes"


def test_ways_in_which_a_type_is_sold_and_cannot_be_planned_are_named_one_by_one(solve):
    prices = {("g4dn.xlarge", "on_demand"): 0.4, ("g4dn.xlarge", "spot"): 0.2, ("g4dn.2xlarge", "on_demand"): 0.7}
    terms = [sold("g4dn.xlarge", way) for way in ("on_demand", "spot", "reserved_3y")]
    terms += [sold("g4dn.xlarge", "flex_start", limits=RUNS_OF_A_WEEK), sold("g4dn.2xlarge", "reserved_1y")]
    found = solve(prices, *terms)
    subjects = {gap.subject for gap in found.gaps if gap.effect.code == "way_not_planned"}
    named = {f"aws us-east-1 g4dn.xlarge {way}" for way in ("flex_start", "reserved_3y", "spot")}
    assert named <= subjects
    assert not [subject for subject in subjects if "g4dn.2xlarge" in subject], "of the type that it runs on alone"
    assert not [subject for subject in subjects if "on_demand" in subject]
    expected = {"flex_start": "way_unpriced", "reserved_3y": "way_unpriced", "spot": "option_may_be_interrupted"}
    assert {way: code for way, code in unused(found).items() if way in expected} == expected
    [named] = [gap.effect for gap in found.gaps if gap.subject.endswith("flex_start")]
    assert named.parameters["limits"] == "1 to 7 days; queued until there is capacity"
    assert named.text == "sold this way and not planned: no source has its price there"
    asked = solve(prices, *terms, limits={"purchase_options": ["on_demand"]})
    assert not unused(asked), "what the request excludes is not missing"


FLEX = {("g4dn.xlarge", "on_demand"): 0.4, ("g4dn.xlarge", "flex_start"): 0.2}
WAITING = [  # a job, and the reason why it cannot be paid for so; None: it is
    ({"interruptible": True}, None),
    ({}, "option_run_limited"),
    ({"kind": "inference", "interruptible": True}, "option_queued"),
]


@pytest.mark.parametrize(("job", "why"), WAITING)
def test_flex_start_is_for_work_that_may_wait_and_stop_after_a_week(solve, job, why):
    terms = [sold("g4dn.xlarge", "on_demand"), sold("g4dn.xlarge", "flex_start", limits=RUNS_OF_A_WEEK)]
    found = solve(FLEX, *terms, job=job)
    ways = {use.purchase_option for use in found.strategies[0].uses}
    assert ways == ({"flex_start"} if why is None else {"on_demand"})
    # 730 h in each of four months at 0.2, or at 0.4
    assert found.strategies[0].total_cost == pytest.approx(4 * 730 * (0.2 if why is None else 0.4))
    assert unused(found).get("flex_start") == why


def test_hours_of_flex_start_are_billed_as_used(solve):
    terms = [sold("g4dn.xlarge", "on_demand"), sold("g4dn.xlarge", "flex_start", limits=RUNS_OF_A_WEEK)]
    found = solve(FLEX, *terms, job={"interruptible": True}, months=1)
    charges = build_charges(found, found.strategies[0])
    assert [(each.kind, each.billed, each.line.purchase_option) for each in charges if each.line is not None] == [
        ("use", pytest.approx(146), "flex_start")  # 730 h at 0.2
    ]
    assert [each for each in charges if each.line is None and each.billed] == []


def test_a_commitment_that_needs_a_reservation_is_planned_and_named(catalog, ask, hours):
    found = plan(ask(hours("L4", 730, kind="inference"), providers=["gcp"], months=36, strategies=["cloud"]), catalog)
    bought = {
        f"{each.provider} {each.region} {each.name} {each.purchase_option}" for each in found.strategies[0].purchases
    }
    named = {gap.subject for gap in found.gaps if gap.effect.code == "reservation_attached"}
    assert named
    assert named == {each for each in bought if "committed_use" in each}
